"""How soon what is learnt beside the tree has a bound: processor seconds from a given solution, no clock in between.

Usage: OMP_NUM_THREADS=1 python bench/first_bounds.py [--seconds 8] [--rows "60000 2 3 0 diag" ...]

Of each row (samples, columns, components, standard deviations apart, kind) the first early learner that applies takes
steps without a deadline, on one thread, from the best of a few runs of EM: processor seconds and steps until a bound
that is above the ceiling, which needs no search, and until so many nats a sample are open. Nothing is written.
"""

import argparse
import time

import numpy as np
from everyday_cases import clusters
from gopfast.mixtures.primal.em import MixturePrimal

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form.ceiling import least_objective
from gopfast.mixtures.mechanisms import EARLY
from gopfast.mixtures.plan import MixturePlan
from gopfast.options import Options

ROWS = (
    "60000 2 3 0 diag", "5000 3 4 6 diag", "20000 3 4 6 diag", "20000 2 3 3.5 diag", "60000 2 3 8 diag",
    "100000 2 4 4 diag", "100000 3 3 6 spherical", "1000000 2 3 6 diag", "20000 8 3 6 diag", "20000 10 4 8 spherical",
    "2000 2 3 6 full",
)  # fmt: skip
OPEN = (5.0, 1.0, 0.1, 0.01)  # nats a sample
N_RUNS, MOST_STEPS, TOLERANCE, SEED = 8, 200, 1e-6, 0  # of EM


def samples(n, d, K, apart, kind):
    """Return clusters (n, d) that are so far apart; one cloud where that is 0."""
    if apart == 0.0:
        return np.random.default_rng(5).normal(size=(n, d)) * np.linspace(1.0, 2.0, d)
    return clusters(n, d, K, apart, "spherical" if kind == "known" else kind, SEED)


def measured(n, d, K, apart, kind, seconds):
    """Return the learner's name and, by what was reached, processor seconds and steps until then."""
    problem = gopfast.GaussianMixture(samples(n, d, K, apart, kind), K, covariance=kind)
    plan = MixturePlan(problem, engine.family(problem), Options())
    mechanism = next((one for one in EARLY if plan.has(one)), None)
    if mechanism is None:
        return "none", {}
    runs = [
        MixturePrimal(plan.family).em(
            np.full(K, 1.0 / K), plan.family.seeded(np.random.default_rng(seed)), TOLERANCE, MOST_STEPS
        )
        for seed in range(N_RUNS)
    ]
    solution, trace, _ = min(runs, key=lambda run: run[1][-1])
    learner, ceiling, reached = mechanism.learner(plan, solution, trace[-1]), least_objective(problem), {}
    begun, more, step = time.process_time(), True, 0
    while more and time.process_time() - begun < seconds:
        more, step = learner.step(np.inf), step + 1
        spent, gap = time.process_time() - begun, trace[-1] - learner.lower
        for part in OPEN:
            if gap <= part * n:
                reached.setdefault(f"{part:g}", (spent, step))
        if learner.lower > ceiling:
            reached.setdefault("a bound", (spent, step))
    reached["in the end"] = spent, step
    return f"{mechanism.name}, {gap / n:.2g} open", reached


def main():
    """Print a line for each row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, help="of the processor, for each row")
    parser.add_argument("--rows", nargs="+", default=ROWS)
    arguments = parser.parse_args()
    for text in arguments.rows:
        n, d, K, apart, kind = text.split()
        name, reached = measured(int(n), int(d), int(K), float(apart), kind, arguments.seconds)
        told = ", ".join(f"{what}: {spent:.2f} s ({step})" for what, (spent, step) in reached.items())
        print(f"{text}: {name}; {told}", flush=True)


if __name__ == "__main__":
    main()
