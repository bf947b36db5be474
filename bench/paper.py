"""The experiments of the paper's sections 3.2 and 4.2 on this machine; writes bench/results/paper/.

Run: python bench/paper.py [restarts|bounds|table|families|threads ...]     (all of them: make paper)

Named sections are only printed, and their figures written; the whole run also writes report.md.
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

import paper_figures
import paper_runs as runs

import gopfast
from gopfast.mixtures.data import passes

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.histories import first_incumbent

OUT = Path(__file__).parent / "results" / "paper"
N_RUNS = 100
N_REPEATS = 25  # solves with each number of threads


def restarts(out):
    """Section 3.2: how often variational EM and GOP end in a local optimum."""
    problem = runs.minimal()
    proved = gopfast.solve(problem, 1e-4, time_limit=runs.TIME_LIMIT)
    ends = {kind: runs.variational_em(problem, kind, N_RUNS) for kind in runs.KINDS}
    rows = [
        (f"variational EM, {kind} start", f'em(problem, start(problem, "{kind}", random_state=seed))', results)
        for kind, results in ends.items()
    ]
    for name, options in (("GOP entropic", {}), ("GOP linear, the paper's partition", runs.PAPER)):
        rows.append((name, call(options, "random_state=seed"), runs.solves(problem, N_RUNS, **options)))
        found = runs.solves_from(problem, ends["dirichlet"], linear=bool(options))
        rows.append((f"{name}, only start: an end of variational EM (dirichlet)",
                     f"paper_runs.solve_from(problem, end, linear={bool(options)})", found))  # fmt: skip
    optimum = min(result.objective for _, _, results in rows for result in results)
    paper_figures.restarts(
        out / "restarts.png", {k: [run.objective for run in results] for k, results in ends.items()}, proved
    )
    lines = [
        "## Restarts (section 3.2)", "", command("restarts"),
        f"Minimal data set -10, -10, 5, 25, K=2, prior variance estimated; {N_RUNS} runs each, seeds 0 to "
        f"{N_RUNS - 1}. A run is in a local optimum if it ends more than {runs.EPSILON} nats above the optimum, "
        f"which lies in [{proved.lower_bound:.5f}, {proved.objective:.5f}] (proved). `em`, `start`: `gopfast.local`.",
        "By default `gopfast.solve` begins with a multi-start of EM, which alone finds the optimum here. The rows "
        '"only start" take that away: their first UBD is where variational EM ended, trapped or not, and the search '
        "itself finds the optimum. In the picture bars stand side by side, the first from the mean of its bin on.", "",
        "| method | first UBD trapped | ended in a local optimum | best | worst | proved | call |",
        "| --- " * 7 + "|",
    ]  # fmt: skip
    for name, text, results in rows:
        objectives = [result.objective for result in results]
        n_proved = f"{sum(r.success for r in results)} of {len(results)}" if hasattr(results[0], "success") else "-"
        lines.append(
            f"| {name} | {begun_trapped(results, optimum)} | {runs.missed(results, optimum)} of {len(results)} "
            f"| {min(objectives):.5f} | {max(objectives):.5f} | {n_proved} | `{text}` |"
        )
    return [*lines, "", "![Histogram of the local optima](restarts.png)", ""]


def begun_trapped(results, optimum):
    """How many searches started with a UBD in a local optimum; a dash for local methods, which have no UBD."""
    if not hasattr(results[0], "history"):
        return "-"
    return sum(first_incumbent(result.history)[3] > optimum + runs.EPSILON for result in results)


def bounds(out):
    """Figure 1: bounds against time and work, from two starts."""
    problem = runs.minimal()
    starts = runs.two_starts(problem, N_RUNS)
    lines = [
        "## Bounds against time and work (figure 1)", "", command("bounds"),
        "GOP from the ends of two runs of variational EM (dirichlet start), one trapped, one not, without starts of "
        "its own (`paper_runs.solve_from(problem, end, linear)`). Linear: the paper's partition and branching. Each "
        "linear program is one relaxed dual subproblem; the entropic relaxed dual has none, its work is passes over "
        "the data. First bounds below the picture are in the table. Times are of the fastest of 9 "
        "equal searches.", "",
        "| relaxed dual | seed | first UBD | first LBD | objective | lower bound | nodes | LPs | passes | time ms |",
        "| --- " * 10 + "|",
    ]  # fmt: skip
    panels = {}
    for name, work, linear in (("linear", "linear programs", True), ("entropic", "passes over the data", False)):
        curves = []
        for (seed, end), which in zip(starts, ("trapped", "at the optimum"), strict=True):
            run, curve = runs.bounds_by_work(problem, end, linear)
            curves.append((f"seed {seed} ({which})", curve))
            lines.append(
                f"| {name} | {seed} | {curve[0, 3]:.5f} | {curve[0, 2]:.5g} | {run.objective:.5f} "
                f"| {run.lower_bound:.5f} | {run.n_nodes} | {run.n_lps} | {run.n_passes} "
                f"| {1e3 * run.history[-1, 0]:.3g} |"
            )
        panels[f"GOP {name}"] = work, curves
    paper_figures.bounds(out / "bounds.png", panels)
    return [*lines, "", "![Bounds against time and against work](bounds.png)", ""]


def table(out):
    """Table 1: the methods side by side."""
    problem = runs.minimal()
    lines = [
        "## Methods side by side (table 1)", "", command("table"),
        f"Minimal data set, K=2, prior variance estimated, absolute gap {runs.EPSILON}, one thread. Time: least of 5 "
        "whole calls; variational EM: one start, and all 100, without the making of the starts. *Published* times are "
        "quoted for the same problem; they were not measured here, so machine and load differ. MILP: one mixed-integer "
        "program per node selects the bound combination instead of enumerating all (Visweswaran & Floudas 1996); more "
        "instances in [milp.md](../milp.md).", "",
        "| method | objective | ELBO | proved gap | nodes | LPs | MILPs | time s | call |",
        "| --- " * 9 + "|",
    ]  # fmt: skip
    for name, options, seconds, result in runs.table_1(problem):
        lines.append(
            f"| {name} | {result.objective:.5f} | {result.elbo:.5f} | {result.gap:.2g} | {result.n_nodes} "
            f"| {result.n_lps} | {result.n_milps} | {seconds:.2g} | `{call(options, 'n_threads=1')}` |"
        )
    starts = [gopfast.local.start(problem, "dirichlet", random_state=seed) for seed in range(N_RUNS)]
    for name, chosen in (("variational EM, seed 0", starts[:1]), (f"variational EM, best of {N_RUNS}", starts)):
        seconds, results = runs.timed(lambda chosen=chosen: [gopfast.local.em(problem, s) for s in chosen], 5)
        best = min(results, key=lambda result: result.objective)
        lines.append(
            f"| {name} | {best.objective:.5f} | {best.elbo:.5f} | none | - | - | - | {min(seconds):.2g} "
            '| `em(problem, start(problem, "dirichlet", random_state=seed))` |'
        )
    return [
        *lines,
        "| BARON (*published*) | | | | | | | 49 | the paper |",
        "| the paper's GOP (*published*) | | | | | | | 10.77 | the paper |", "",
    ]  # fmt: skip


def families(out):
    """Section 4.2: the optimal ELBO of the two variational families."""
    lines = [
        "## Two variational families (section 4.2)", "", command("families"),
        f"Optimum of each family, proved to {runs.EPSILON} nats, entropic relaxed dual, prior variance estimated. The "
        f"last columns: {N_RUNS} runs of variational EM (dirichlet start) on the same problem. The point family's "
        "objective leaves out the entropy of a point mass, minus infinity: the two rows of one problem are optima of "
        "two objectives, and the larger is not the better model.", "",
        "| data | K | posterior | objective | optimal ELBO | at most (proved) | status | nodes | passes | time ms "
        "| VEM missed | VEM best ELBO |",
        "| --- " * 12 + "|",
    ]  # fmt: skip
    for name, K, posterior, result, ends in runs.families(N_RUNS):
        lines.append(
            f"| {name} | {K} | {posterior} | {result.objective:.5f} | {result.elbo:.5f} | {result.elbo_bound:.5f} "
            f"| {result.status.name} | {result.n_nodes} | {result.n_passes} | {1e3 * result.time:.3g} "
            f"| {runs.missed(ends, result.objective)} of {len(ends)} | {max(end.elbo for end in ends):.5f} |"
        )
    problem = 'problem = gopfast.GaussianMixture(X, K, prior="empirical", posterior=...)'
    return [*lines, "", f"Each row: `{problem}; {call({}, 'n_threads=1')}`, solved once.", ""]


def threads(out):
    """Multi-threaded subproblems: one thread against two."""
    lines = [
        "## Multi-threaded subproblems", "", command("threads"),
        f"{N_REPEATS} solves with each number of threads, in turn, at a load of {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} processors before them: at a load above one the second thread has no processor of its own. "
        "So beside the wall times stands the processor time of the busiest thread (median), which counts only while "
        "the thread runs. No wall time can be below it: its ratio is what idle processors could give at best, not a "
        "measured gain. Nodes, LPs, passes and bounds must not depend on the threads. No prior. Data: "
        "`speed_table.line(N, K, distance of the means)`.", "",
        "| N, K, distance | relaxed dual | threads | wall s, least | wall s, median | busiest thread, processor s "
        "| nodes | LPs | passes | lower bound |",
        "| --- " * 10 + "|",
    ]  # fmt: skip
    notes = []
    for shape, options in runs.THREADED:
        measured = runs.threads(shape, options, N_REPEATS)
        name = ", ".join(map(str, shape))
        for n_threads, row in measured.items():
            result = row.result
            lines.append(
                f"| {name} | {result.relaxation}, {result.partition}, {result.branching} | {n_threads} "
                f"| {row.least:.3g} | {row.median:.3g} | {row.busiest:.3g} | {result.n_nodes} | {result.n_lps} "
                f"| {result.n_passes} | {result.lower_bound:.9g} |"
            )
        one, two = measured[1], measured[2]
        notes.append(
            f"- {name}: `{call(options, 'n_threads=...')}`; 1 thread to 2: {one.least / two.least:.2f} by the least "
            f"wall time, {one.median / two.median:.2f} by the median, {one.busiest / two.busiest:.2f} by the busiest "
            "thread."
        )
    return [*lines, "", *notes, ""]


SECTIONS = {section.__name__: section for section in (restarts, bounds, table, families, threads)}


def call(options, *more):
    """The call of a row, as a user would write it."""
    named = [f'{name}="{value}"' for name, value in options.items()]
    return f"gopfast.solve({', '.join(['problem', f'epsilon={runs.EPSILON}', *named, *more])})"


def command(section):
    return f"`python bench/paper.py {section}`\n"


def header():
    def git(*arguments):
        return subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=OUT.parents[1]).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "../gopfast", "../src", "*.py")
    return [
        "# The paper's experiments", "",
        "Saddiki, Trapp & Flaherty, \"A Deterministic Global Optimization Method for Variational Inference\", sections "
        "3.2 and 4.2, with gopfast. Made by `make paper` (`python bench/paper.py`); the command above each section "
        "repeats that section alone.", "",
        f"Commit {git('rev-parse', '--short', 'HEAD')}{' with changes' if changed else ''}. Machine: "
        f"{processor()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the start (times are as good as "
        f"the machine was idle; counts and bounds do not depend on it), kernel {passes.instruction_set()}, Python "
        f"{platform.python_version()}.", "",
        "Objectives are the paper's, to be minimised, in nats without the constant that it drops; the ELBO has all "
        "constants.", "",
    ]  # fmt: skip


def processor():
    """Name of the processor, where the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main(arguments):
    first, *rest = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(
        description=first, epilog="\n\n".join(rest), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", nargs="*", help=f"one or more of {', '.join(SECTIONS)}; all by default")
    names = parser.parse_args(arguments).section
    for name in names:
        if name not in SECTIONS:
            parser.error(f"unknown section {name!r}; choose from {', '.join(SECTIONS)}")
    OUT.mkdir(parents=True, exist_ok=True)
    lines = header()
    for name in names or SECTIONS:
        section = SECTIONS[name](OUT)
        print("\n".join(section), flush=True)
        lines += section
    if not names:
        (OUT / "report.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
