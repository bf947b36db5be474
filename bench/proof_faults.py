"""Wrong signs and dropped terms, compiled into the core's bounds one after the other; what the checker says of them.

Run: python bench/proof_faults.py FOLDER     (about 10 minutes: FOLDER takes a copy of the source tree, built in place)

Prints a table for bench/results/proofs.md.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parents[1]
FAMILIES, BOUNDS = "src/gopfast/mixtures/families/", "src/gopfast/mixtures/bounds/"
# What is wrong, where, the text and what it becomes, and the problem that shows it.
FAULTS = (
    ("none", FAMILIES + "gaussian.pyx", "", "", "known"),
    ("known variance: the cell's half width with the wrong sign", FAMILIES + "gaussian.pyx",
     "costs.offsets[k] += CURVATURE * half * half * (1 + 8 * ROUND)",
     "costs.offsets[k] -= CURVATURE * half * half * (1 + 8 * ROUND)", "known"),
    ("known variance: a thousandth of it dropped", FAMILIES + "gaussian.pyx",
     "costs.offsets[k] += CURVATURE * half * half * (1 + 8 * ROUND)",
     "costs.offsets[k] += CURVATURE * half * half * 0.999", "known"),
    ("free variance: a hundredth of the half width dropped from omega", FAMILIES + "normal.pyx",
     "inner = slope * (v0 + half * half)", "inner = slope * (v0 + 0.99 * half * half)", "diag"),
    ("free variance: the half width dropped from omega", FAMILIES + "normal.pyx",
     "inner = slope * (v0 + half * half)", "inner = slope * v0", "diag"),
    ("counts: the chord's upper end in place of the lower", FAMILIES + "exponential.pyx",
     "level = min(h0 + slope * (center - m0), h1 - slope * (m1 - center))", "level = h1", "poisson"),
    ("Jensen's term dropped", BOUNDS + "entropic.pyx", "bound = sums.value + shift - W * worst +",
     "bound = sums.value + shift +", "known"),
    ("facets: the sign of their multipliers", BOUNDS + "entropic.pyx", "row[facet.first + s] -= added",
     "row[facet.first + s] += added", "diag"),
    ("order of the components: boxes said to be empty that are not", FAMILIES + "family.pyx",
     "        if low[k * n_cell] > high[k * n_cell]:", "        if low[k * n_cell] > high[k * n_cell] - 0.5:", "known"),
)  # fmt: skip
CHILD = """
import json, sys, numpy as np, gopfast
from tests.support import proofs
kind, path = sys.argv[1:]
galaxies = gopfast.datasets.load("galaxies") / 1000
problem = {
    "known": lambda: gopfast.GaussianMixture(galaxies, 3),
    "diag": lambda: gopfast.GaussianMixture(galaxies, 2, covariance="diag", variance_floor=0.09),
    "poisson": lambda: gopfast.PoissonMixture(np.random.default_rng(1).poisson(np.repeat([2.0, 10.0], 40)), 2),
}[kind]()
record = {"plain": "no answer", "proof": "", "verdict": ""}
try:
    record["plain"] = gopfast.solve(problem, n_threads=1, log=False, max_nodes=20000, relaxation="entropic").status.name
except RuntimeError as error:
    record["plain"] = f"RuntimeError: {error}"
try:
    result = gopfast.solve(problem, n_threads=1, log=False, max_nodes=20000, proof=path)
    record["proof"] = f"{result.status.name}, gap {result.gap:.3g}"
    header, arrays = proofs.parts(path)
    # what the search believed
    header["claim"]["lower_bound"] = max(header["claim"]["lower_bound"], result.objective - 0.01 * (1 + 1e-6))
    proofs.put(path, header, arrays)
    gopfast.check(path, problem.X)
    record["verdict"] = "accepted"
except (RuntimeError, gopfast.ProofError) as error:
    record["verdict"] = f"refused: {error}"
print(json.dumps(record))
"""


def main(folder, *wanted):
    """Print the table; of the faults whose names begin with one of `wanted`, if there are any."""
    tree = Path(folder) / "tree"
    ignored = shutil.ignore_patterns(".git", ".hypothesis", "*.log", "__pycache__")
    shutil.copytree(ROOT, tree, ignore=ignored, dirs_exist_ok=True)
    (tree / "child.py").write_text(CHILD)
    rows = []
    for name, file, old, new, kind in FAULTS:
        if wanted and not name.startswith(wanted):
            continue
        path = tree / file
        text = path.read_text()
        if old not in text:
            raise SystemExit(f"{file} has no {old!r}")
        path.write_text(text.replace(old, new, 1) if old else text)
        command = [sys.executable, "setup.py", "build_ext", "--inplace"]
        subprocess.run(command, cwd=tree, check=True, capture_output=True)
        done = subprocess.run([sys.executable, "child.py", kind, "p.npz"], cwd=tree, capture_output=True, text=True,
                              timeout=600)  # fmt: skip
        path.write_text(text)
        path.touch()
        last = done.stdout.strip().splitlines()[-1:] or ["{}"]
        found = json.loads(last[0]) if not done.returncode else {"verdict": done.stderr.strip()[-200:]}
        rows.append([name, kind, *(found.get(key, "") for key in ("plain", "proof", "verdict"))])
        print(rows[-1], flush=True)
    print(machine.table(("fault", "problem", "search without a proof", "with a proof", "its own claim, checked"), rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
