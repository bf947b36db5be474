"""Node, pass, term and LP counts of a few solves, which are exact on one machine and do not depend on its speed.

Terms are the work of all mechanisms together (`gopfast.profile`).

python bench/compare_counts.py            compare with results/counts-*.json; fails where a count grew by 10 %
python bench/compare_counts.py --write    accept the present counts
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

import gopfast
from gopfast.mixtures.data import passes

sys.path.insert(0, str(Path(__file__).resolve().parent))
import datasets

RESULTS = Path(__file__).resolve().parent / "results"
COUNTS = ("n_nodes", "n_subproblems", "n_lps", "n_milps", "n_passes")
MOST_GROWTH = 0.10
SLACK = 2  # a few nodes more are not a regression

# Data set, number of components, prior, options of solve.
CASES = {
    "minimal": ("minimal", 2, None, {}),
    "minimal, empirical prior": ("minimal", 2, "empirical", {}),
    "minimal, empirical prior, 1e-4": ("minimal", 2, "empirical", {"epsilon": 1e-4}),
    "galaxies 3": ("galaxies", 3, None, {}),
    "galaxies 3, empirical prior": ("galaxies", 3, "empirical", {}),
    "galaxies 4": ("galaxies", 4, None, {}),
    "galaxies 4, empirical prior": ("galaxies", 4, "empirical", {}),
    "galaxies 5": ("galaxies", 5, None, {}),
    "galaxies 7": ("galaxies", 7, None, {}),
    "seven clusters": ("clusters", 7, None, {}),
}
if importlib.util.find_spec("gopfast.mixtures.relaxations.linear") is not None:
    CASES |= {
        "minimal, linear joint": ("minimal", 2, "empirical", {"relaxation": "linear", "partition": "joint"}),
        "minimal, linear paper": ("minimal", 2, "empirical", {"relaxation": "linear", "partition": "paper"}),
        "minimal, linear paper, milp": (
            "minimal", 2, "empirical", {"relaxation": "linear", "partition": "paper", "subproblem": "milp"}
        ),
    }


def build(name):
    """Return the problem of a case and the options to solve it with."""
    data, n_components, prior, options = CASES[name]
    problem = gopfast.GaussianMixture(getattr(datasets, data)(), n_components, prior=prior, covariance="known")
    return problem, {"epsilon": 0.01, **options}


def counts(result):
    """Return the counts of a result by name."""
    return {name: getattr(result, name) for name in COUNTS} | {"n_terms": result.profile.n_terms}


def measure():
    """Solve every case and return its counts; a case that is not proved has None."""
    measured = {}
    for name in CASES:
        problem, options = build(name)
        result = gopfast.solve(problem, **options)
        measured[name] = counts(result) if result.success else None
    return measured


def file():
    """Return the file of the instruction set in use: rounding differs, and long searches take other paths."""
    return RESULTS / f"counts-{passes.instruction_set()}.json"


def read():
    """Return the committed counts."""
    return json.loads(file().read_text(encoding="utf-8"))


def regressions(measured, committed):
    """Return one line for every case that is no longer proved or whose counts grew."""
    lines = []
    for name, now in measured.items():
        if now is None:
            lines.append(f"{name}: not proved")
            continue
        for count, value in now.items():
            before = committed.get(name, {}).get(count)
            if before is not None and value > before * (1.0 + MOST_GROWTH) + SLACK:
                lines.append(f"{name}: {count} grew from {before:,} to {value:,}")
    return lines


def write(measured):
    """Accept the present counts."""
    if None in measured.values():
        raise SystemExit("not written: a case was not proved")
    # Counts of cases that this build cannot run are kept.
    committed = read() if file().exists() else {}
    file().write_text(json.dumps(committed | measured, indent=2) + "\n", encoding="utf-8")


def compare(measured):
    """Print the changes and return what grew."""
    committed = read()
    for name, now in measured.items():
        before = committed.get(name, {})
        changes = ", ".join(f"{count} {before.get(count, '-')} -> {value}" for count, value in (now or {}).items())
        print(f"{name}: {changes or 'not proved'}")
    return regressions(measured, committed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="accept the present counts")
    accept, grown = parser.parse_args().write, []
    for name in passes.instruction_sets():
        passes.use_instruction_set(name)
        print(f"-- {name}")
        if accept:
            write(measure())
        else:
            grown += [f"{name}, {line}" for line in compare(measure())]
    if grown:
        raise SystemExit("\n".join(["", "grown:", *grown]))


if __name__ == "__main__":
    main()
