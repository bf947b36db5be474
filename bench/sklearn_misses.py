"""How often scikit-learn misses the proved optimum on real data; writes bench/results/sklearn_misses.md.

Run: OMP_NUM_THREADS=1 python bench/sklearn_misses.py [--seeds 100] [--jobs 2] [row ...]     (about 8 minutes)

Rows are those of real_table.py; rows that are named are printed and not written.
"""

import argparse
import warnings

import machine
import numpy as np
from real_table import EPSILON, ROWS
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture

import gopfast
from gopfast.parallel import outcomes

INITS = ("kmeans", "k-means++", "random", "random_from_data")
MISS = 0.01  # nats above the optimum
TIME_LIMIT = 180.0  # seconds of one proof: what is asked here is not how long it takes
POLISH = {"tol": 1e-8, "max_iter": 10_000}


def raised(covariances, floor):
    """Variances (or matrices) raised to the floor, which scikit-learn does not know."""
    if covariances.ndim < 3:
        return np.maximum(covariances, floor)
    root = np.sqrt(floor)
    values, vectors = np.linalg.eigh(covariances / np.outer(root, root))
    return (vectors * np.maximum(values, 1.0)[:, np.newaxis]) @ vectors.transpose(0, 2, 1) * np.outer(root, root)


def ends(problem, init, seeds):
    """Objectives of scikit-learn's fits after polishing, and how many fits are below the floor or unconverged."""
    found, below, unfinished = [], 0, 0
    for seed in range(seeds):
        fit = SklearnMixture(
            problem.n_components, covariance_type=problem.covariance, init_params=init, random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit.fit(problem.X)
        covariances = raised(fit.covariances_, problem.variance_floor)
        below += not np.allclose(covariances, fit.covariances_, rtol=1e-6)
        start = {"weights": fit.weights_, "means": fit.means_, "covariances": covariances}
        polished = gopfast.local.em(problem, start, **POLISH)
        unfinished += not polished.converged
        found.append(polished.objective)
    return np.array(found), below, unfinished


def misses(task):
    """One line of the table, and how many fits needed the floor or more steps than were allowed."""
    name, seeds = task
    row = ROWS[name]
    problem = row.problem()
    result = gopfast.solve(problem, EPSILON, n_threads=row.threads, time_limit=TIME_LIMIT)
    runs = {init: ends(problem, init, seeds) for init in INITS}
    lowest = result.objective
    if not result.success:
        lowest = min([lowest, *(found.min() for found, _, _ in runs.values())])
    cells = []
    for found, _, _ in runs.values():
        missed = found > lowest + MISS
        cells.append(f"{missed.sum()} ({found.max() - lowest:.2f})" if missed.any() else "0")
    below, unfinished = (sum(run[which] for run in runs.values()) for which in (1, 2))
    known = "proved" if result.success else f"best known (gap {lowest - result.lower_bound:.2f})"
    return [name, f"{lowest:.4f}", known, *cells, below], unfinished


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--jobs", type=int, help="rows at a time, by joblib")
    parser.add_argument("rows", nargs="*")
    arguments = parser.parse_args()
    head = machine.heading("How often scikit-learn misses the optimum", "scikit-learn")
    rows, unfinished = [], 0
    names = arguments.rows or [name for name, row in ROWS.items() if row.model is gopfast.GaussianMixture]
    for line, late in outcomes(misses, [(name, arguments.seeds) for name in names], arguments.jobs):
        rows.append(line)
        unfinished += late
        print(line, flush=True)
    seeds, fits = arguments.seeds, arguments.seeds * len(INITS)
    text = head + f"""
`sklearn.mixture.GaussianMixture` with its defaults (`n_init=1`, `tol=1e-3`, `max_iter=100`, `reg_covar=1e-6`), the
`covariance_type` of the row ("diag" with one column, where all kinds are the same), each `init_params`, and
`random_state` 0 to {seeds - 1}. A cell says how many of the {seeds} fits miss, that is end more than {MISS} nats above
the optimum, which is proved to {EPSILON}; in brackets the excess of the worst, in nats.

A fit that only stopped early is not counted. Each is polished first: its variances are raised to the row's floor,
which scikit-learn does not have, and `gopfast.local.em` goes on from there with the floor until a step gains less
than {POLISH["tol"]:g} nats ({unfinished} runs had not after {POLISH["max_iter"]:,} steps). This counts in
scikit-learn's favour: what its users get is no better. *Below the floor*: how many of the {fits} fits had to be raised,
because a component was narrower than the model allows. Where the optimum is not proved, the lowest objective known
stands for it.

{machine.table(("problem", "optimum", "known", *INITS, "below the floor"), rows)}"""
    machine.write(None if arguments.rows else "sklearn_misses.md", text)


if __name__ == "__main__":
    main()
