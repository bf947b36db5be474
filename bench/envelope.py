"""What is proved of the fits that people run, beside ten scikit-learn restarts; writes bench/results/envelope.md.

Run: OMP_NUM_THREADS=1 python bench/envelope.py [--seconds 60] [row ...]     (up to 100 minutes; 16 with --seconds 10)

Rows are "data covariance K", such as "iris diag 3", or part of one; rows that are named are printed and not written.
On two processors: `--part 1/2 --save a.json` and `--part 2/2 --save b.json` at the same time, then
`--merge a.json b.json` with the same --seconds.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import datasets
import machine
import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture

import gopfast
from gopfast.errors import InputError

DATA = {
    "galaxies": datasets.galaxies,
    "acidity": datasets.acidity,
    "enzyme": datasets.enzyme,
    "Old Faithful": datasets.faithful,
    "iris": lambda: load_iris().data,
    "wine": lambda: load_wine().data,
}
COVARIANCES = ("spherical", "diag", "tied", "full")
COMPONENTS = (2, 3, 4, 5)
RESTARTS = 10
MISS = 0.01  # nats above the best known
POLISH = {"tol": 1e-8, "max_iter": 10_000}
HEADER = (
    "problem", "status", "objective", "gap", "time s", "nodes", "scikit-learn s", "restarts that miss", "best of ten",
)  # fmt: skip


def standardised(X):
    """Columns of mean 0 and variance 1."""
    X = X.reshape(len(X), -1)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def raised(covariances, floor):
    """Covariances of a fit, whichever their shape, raised to the floor, which scikit-learn does not know."""
    if covariances.ndim < 2 or floor.shape != covariances.shape[-1:] or covariances.shape[-2:] != floor.shape * 2:
        return np.maximum(covariances, floor.mean() if covariances.ndim < 2 else floor)
    root = np.sqrt(floor)
    values, vectors = np.linalg.eigh(covariances / np.outer(root, root))
    return (vectors * np.maximum(values, 1.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2) * np.outer(root, root)


def restarts(problem):
    """Objectives of scikit-learn's fits (RESTARTS,), polished above the floor, and the seconds of the fits alone."""
    found, spent = [], 0.0
    floor = np.broadcast_to(problem.variance_floor, problem.n_features)
    for seed in range(RESTARTS):
        fit = SklearnMixture(problem.n_components, covariance_type=problem.covariance, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            began = time.perf_counter()
            fit.fit(problem.X)
            spent += time.perf_counter() - began
        start = {"weights": fit.weights_, "means": fit.means_, "covariances": raised(fit.covariances_, floor)}
        found.append(gopfast.local.em(problem, start, **POLISH).objective)
    return np.array(found), spent


def row(name, problem, seconds):
    """One line of the table."""
    try:
        found, spent = restarts(problem)
        result = gopfast.solve(problem, n_threads=1, time_limit=seconds, log=False)
    except InputError as error:
        return [name, f"refused: {str(error).split(';')[0]}", *"-------"]
    lowest = min(result.objective, found.min())
    missed = int((found > lowest + MISS).sum())
    best = found.min() - lowest
    return [
        name, "proved" if result.success else result.status.name, f"{result.objective:.4f}", f"{result.gap:.3g}",
        f"{result.time:.2f}", f"{result.n_nodes:,}", f"{spent:.2f}", f"{missed} of {RESTARTS}",
        f"misses by {best:.3g}" if best > MISS else "found",
    ]  # fmt: skip


def names():
    """Every row of the table: its name, data, covariance and number of components."""
    return [(f"{data} {kind} {K}", data, kind, K) for data in DATA for kind in COVARIANCES for K in COMPONENTS]


def chosen(arguments):
    """Of these the rows that the arguments ask for."""
    wanted = [one for one in names() if not arguments.rows or any(part in one[0] for part in arguments.rows)]
    part, parts = map(int, arguments.part.split("/"))
    return wanted[part - 1 :: parts]


def run(arguments):
    """Lines of the table for the rows that are asked for, in their order."""
    found = []
    for name, data, covariance, K in chosen(arguments):
        problem = gopfast.GaussianMixture(standardised(DATA[data]()), K, covariance=covariance)
        found.append(row(name, problem, arguments.seconds))
        print(*found[-1], sep=" | ", flush=True)
    return found


def merged(paths):
    """Lines that several runs have saved, in the order of the table."""
    lines = [line for path in paths for line in json.loads(Path(path).read_text(encoding="utf-8"))]
    order = [name for name, *_ in names()]
    return sorted(lines, key=lambda line: order.index(line[0]))


def main():
    """Run the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--part", default="1/1", metavar="I/N")
    parser.add_argument("--save", metavar="FILE", help="keep the lines there in place of the table")
    parser.add_argument("--merge", nargs="+", default=[], metavar="FILE")
    parser.add_argument("rows", nargs="*")
    arguments = parser.parse_args()
    rows = merged(arguments.merge) if arguments.merge else run(arguments)
    if arguments.save:
        Path(arguments.save).write_text(json.dumps(rows), encoding="utf-8")
        return
    n_proved = sum(line[1] == "proved" for line in rows)
    head = machine.heading("Fits that people run", "scipy", "scikit-learn")
    note = (
        f"Standardised data, default floor, {arguments.seconds:g} s and one thread; beside {RESTARTS} runs of "
        f"scikit-learn, polished by `gopfast.local.em` above the floor. {n_proved} of {len(rows)} fits are proved to "
        "0.01 nats. A restart misses where it ends more than 0.01 nats above the best objective known.\n"
    )
    text = "\n".join([head, note, machine.table(HEADER, rows)])
    machine.write(None if arguments.rows else "envelope.md", text)


if __name__ == "__main__":
    main()
