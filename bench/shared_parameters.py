"""Mixtures that share a parameter, by the tree alone and with it fixed; writes bench/results/shared_parameters.md.

Run: OMP_NUM_THREADS=1 python bench/shared_parameters.py [--seconds 10] [row ...]

Rows are "data model K", such as "iris tied 3", or part of one; rows that are named are printed and not written.
"""

import argparse
import time

import datasets
import machine
from envelope import standardised
from sklearn.datasets import load_iris, load_wine

import gopfast

COMPONENTS = {
    ("galaxies", "tied_spherical"): (3, 4, 5, 6),
    ("galaxies", "empirical prior"): (3, 4, 5),
    ("Old Faithful", "tied"): (2, 3, 4, 5),
    ("iris", "tied_spherical"): (2, 3),
    ("iris", "tied"): (2, 3, 4, 5),
    ("wine, 6 columns", "tied"): (2, 3),
    ("wine", "tied"): (2, 3),
}
DATA = {
    "galaxies": datasets.galaxies,  # in their own unit
    "Old Faithful": lambda: standardised(datasets.faithful()),
    "iris": lambda: standardised(load_iris().data),
    "wine": lambda: standardised(load_wine().data),
    "wine, 6 columns": lambda: standardised(load_wine().data[:, :6]),
}
RELAXATIONS = ("entropic", "pricing", None)
HEADER = ("problem", "objective", *(f"{name}: {what}" for name in ("tree alone", "fixed from the first node", "default")
                                    for what in ("gap", "nodes", "CPU s")))  # fmt: skip


def problem(data, model, K):
    """Make the problem of a row."""
    options = {"prior": "empirical"} if model == "empirical prior" else {"covariance": model}
    return gopfast.GaussianMixture(DATA[data](), K, **options)


def row(name, mixture, seconds):
    """One line of the table."""
    cells, best = [], float("inf")
    for relaxation in RELAXATIONS:
        began = time.process_time()
        result = gopfast.solve(mixture, relaxation=relaxation, n_threads=1, time_limit=seconds, log=False)
        spent = time.process_time() - began
        best = min(best, result.objective)
        cells += ["proved" if result.success else f"{result.gap:.4g}", f"{result.n_nodes:,}", f"{spent:.2f}"]
    return [name, f"{best:.4f}", *cells]


def main():
    """Run the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("rows", nargs="*")
    arguments = parser.parse_args()
    rows = []
    for (data, model), components in COMPONENTS.items():
        for K in components:
            name = f"{data} {model} {K}"
            if arguments.rows and not any(wanted in name for wanted in arguments.rows):
                continue
            rows.append(row(name, problem(data, model, K), arguments.seconds))
            print(*rows[-1], sep=" | ", flush=True)
    note = (
        f"At most {arguments.seconds:g} s each, one thread. Gaps in nats, where 0.01 was not reached. Nodes are those "
        "of the tree of all components; those of mixtures with the parameter fixed are not among them.\n"
    )
    text = "\n".join([machine.heading("Mixtures that share a parameter", "scipy"), note, machine.table(HEADER, rows)])
    machine.write(None if arguments.rows else "shared_parameters.md", text)


if __name__ == "__main__":
    main()
