"""Bound combinations selected by mixed-integer programs beside enumeration and bisection; writes bench/results/milp.md.

Run: python bench/milp.py      (about two minutes; one thread, except where a table says otherwise)
"""

import math
import os
import platform
import subprocess
import time
from pathlib import Path

import datasets
import numpy as np
import speed_table

import gopfast

OUT = Path(__file__).parent / "results" / "milp.md"
TIME_LIMIT = 20.0
METHODS = {
    "bisect": {"branching": "bisect"},
    "orthant, enumerated": {"branching": "orthant"},
    "orthant, milp": {"subproblem": "milp"},
}
HEAD = (
    "| problem | epsilon | partition of a node | status | nodes | LPs | MILPs | lower bound "
    "| gap | time s |"
)


def minimal():
    """The paper's problem, in both partitions and at three tolerances."""
    problem = gopfast.GaussianMixture(datasets.minimal(), 2, prior="empirical")
    for partition, n_connected in (("joint", 2), ("paper", 4)):
        for epsilon in (1.0, 0.1, 0.01):
            yield f"{partition}, {n_connected}", problem, {"epsilon": epsilon, "partition": partition}


def mixtures():
    """More components: `speed_table.line(N, K, distance)`."""
    for shape, partition, epsilon in (((6, 3, 4), "joint", 1.0), ((6, 3, 4), "paper", 1.0), ((8, 4, 6), "paper", 1.0)):
        problem = gopfast.GaussianMixture(speed_table.line(*shape), shape[1], covariance="known")
        n_connected = shape[1] * (2 if partition == "paper" else 1)
        yield f"{shape}, {partition}, {n_connected}", problem, {"epsilon": epsilon, "partition": partition}


def bilinear(n_x, n_y, seed):
    """Random bilinear objective over two polytopes within the unit cubes."""
    rng = np.random.default_rng(seed)
    Q = np.zeros((n_x + n_y, n_x + n_y))
    Q[:n_x, n_x:] = rng.integers(-5, 6, (n_x, n_y))
    A = np.zeros((6, n_x + n_y))
    A[:3, :n_x] = rng.integers(0, 4, (3, n_x))
    A[3:, n_x:] = rng.integers(0, 4, (3, n_y))
    costs = rng.integers(-5, 6, n_x + n_y)
    return gopfast.BiconvexProblem(costs, Q=Q, A=A, row_upper=0.5 * A.sum(axis=1), lower=0, upper=1)


def pooling():
    """Haverly's pooling problem with its second set of data (ex5_2_2, case 2)."""
    names = ["sulphur", "to_x", "to_y", "add_x", "add_y", "buy_a", "buy_b", "buy_c", "x", "y"]
    at = {name: i for i, name in enumerate(names)}

    def row(**terms):
        return np.array([terms.get(name, 0.0) for name in names])

    def product(first, second, factor=1.0):
        Q = np.zeros((len(names), len(names)))
        Q[at[first], at[second]] = factor
        return Q

    quality = product("sulphur", "to_x") + product("sulphur", "to_y")
    return gopfast.BiconvexProblem(
        row(buy_a=6, buy_b=16, buy_c=10, x=-9, y=-15),
        A=[row(buy_a=1, buy_b=1, to_x=-1, to_y=-1), row(buy_c=1, add_x=-1, add_y=-1),
           row(to_x=1, add_x=1, x=-1), row(to_y=1, add_y=1, y=-1)],
        row_lower=np.zeros(4), row_upper=np.zeros(4),
        quadratic_rows=[(quality, row(buy_a=-3, buy_b=-1), 0, 0),
                        (product("sulphur", "to_x"), row(add_x=2, x=-2.5), None, 0),
                        (product("sulphur", "to_y"), row(add_y=2, y=-1.5), None, 0)],
        lower=np.zeros(10), upper=[3, 600, 600, 600, 600, 600, 600, 600, 600, 200], names=names,
    )  # fmt: skip


def biconvex():
    """Split variables: the smaller side of the products in orthants, both sides when bisecting."""
    yield "pooling, Haverly", pooling(), {}
    for n_x, n_y, seed in ((6, 8, 7), (8, 10, 6), (10, 12, 10), (10, 12, 5)):
        yield f"random bilinear, {n_x} x {n_y}, seed {seed}", bilinear(n_x, n_y, seed), {}


def timed(problem, repeats, **options):
    """Least seconds of several calls, and a result; one call where that takes long."""
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = gopfast.solve(problem, relaxation="linear", time_limit=TIME_LIMIT, **options)
        seconds.append(time.perf_counter() - started)
        if seconds[0] > 1.0:
            break
    return min(seconds), result


def table(title, instances):
    lines = [f"## {title}", "", HEAD, "| --- " * HEAD.count(" |") + "|"]
    work = {method: [] for method in METHODS}
    for name, problem, options in instances:
        for method, chosen in METHODS.items():
            seconds, result = timed(problem, 5, n_threads=1, **options, **chosen)
            work[method].append((result.n_lps, seconds) if result.success else None)
            lines.append(
                f"| {name} | {options.get('epsilon', 'default')} | {method} | {result.status.name} | {result.n_nodes} "
                f"| {result.n_lps} | {result.n_milps} | {result.lower_bound:.5f} | {result.gap:.2g} | {seconds:.2g} |"
            )
            print(lines[-1], flush=True)
    *others, selected = work
    return [*lines, "", *(compared(work[selected], work[other], other) for other in others), ""]


def compared(selected, other, name):
    """A sentence with the ratios of LPs and seconds, geometric means where both methods proved the optimum."""
    pairs = [pair for pair in zip(selected, other, strict=True) if None not in pair]
    if not pairs:
        return f"- milp to {name}: no problem proved by both."
    lps, seconds = (math.exp(sum(math.log(a[i] / b[i]) for a, b in pairs) / len(pairs)) for i in range(2))
    return f"- milp to {name}, {len(pairs)} proved by both, geometric means: {lps:.2f} LPs, {seconds:.2f} time."


def threads():
    """The same selection by one thread and by two, in turn."""
    problem = gopfast.GaussianMixture(speed_table.line(6, 3, 4), 3, covariance="known")
    lines = [
        "## Threads", "", "(6, 3, 4), joint, epsilon 1, milp: least of 5 solves. Counts and bounds must be equal.", "",
        "| threads | nodes | LPs | MILPs | lower bound | time s |", "| --- " * 6 + "|",
    ]  # fmt: skip
    for n_threads in (1, 2):
        seconds, result = timed(problem, 5, epsilon=1.0, n_threads=n_threads, subproblem="milp")
        lines.append(
            f"| {n_threads} | {result.n_nodes} | {result.n_lps} | {result.n_milps} | {result.lower_bound:.9g} "
            f"| {seconds:.2g} |"
        )
        print(lines[-1], flush=True)
    return [*lines, ""]


def main():
    here = Path(__file__).parent
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=here).stdout
    lines = [
        "# Selection of bound combinations by mixed-integer programs", "",
        f"Made by `python bench/milp.py` at commit {commit.strip()}, {os.cpu_count()} processors ("
        f"{platform.machine()}), load {os.getloadavg()[0]:.1f} at the start, one thread. Counts and bounds of "
        "what was proved repeat exactly, times do not.", "",
        'Linear relaxed dual. "orthant, enumerated": a node has 2^|I_c| children, one linear program each. '
        '"orthant, milp" (`subproblem="milp"`; Visweswaran & Floudas 1996): one mixed-integer program in HiGHS selects '
        "the combination with the least bound, which is split off, and the rest of the node goes into one box per "
        "connected variable. Every bound is an LP's, proved. "
        f"Time limit {TIME_LIMIT:g} s; time is the least of 5 calls, of one where it is above 1 s.", "",
    ]  # fmt: skip
    lines += table("The paper's minimal data set (partition, connected variables)", minimal())
    lines += table(
        "Mixtures with more connected variables (N, K, distance; partition, connected variables)", mixtures()
    )
    lines += table("Biconvex problems", biconvex())
    lines += threads()
    OUT.write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
