"""What chains of regressions prove of covariance matrices of three columns and more, beside the marginal.

Standardised columns, default floors, from the best of a few local searches. For each: nats open by the marginal in two
directions at its end; what the blocks' mixtures by EM lose, no proof; what prices add to that; nats open after so many
processor seconds of one thread, and the cells of each block.

Usage: python bench/chains.py [--seconds 60] [--rows "iris 2" "iris 3" "wine 2 0,6,9" ...]
       [--no-file]: without it bench/results/chains.md is written
"""

import argparse
import time

import machine
import numpy as np
from sklearn.datasets import load_iris, load_wine

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.chains import ChainsBound
from gopfast.mixtures.marginal import MarginalBound

ROWS = ["iris 2", "iris 3", "wine 2 0,6,9", "wine 3 0,6,9", "wine 2 0,6,9,10,12"]
HEADER = ("data, K, columns", "open, marginal", "blocks lose", "prices lose", "open, chain", "cells", "processor s")
DATA = {"iris": load_iris, "wine": load_wine}


def problem(row):
    """Return the mixture of a row: name, number of components, columns."""
    name, K, *columns = row.split()
    X = DATA[name]().data
    if columns:
        X = X[:, [int(j) for j in columns[0].split(",")]]
    return gopfast.GaussianMixture((X - X.mean(axis=0)) / X.std(axis=0), int(K), covariance="full")


def incumbent(mixture):
    """Return the core's family, a solution and its objective."""
    result = gopfast.solve(mixture, 0.01, max_nodes=1, time_limit=10, log=False)
    family, found = engine.family(mixture), result.solution
    point = family.pack(means=found.means, covariances=found.covariances)
    return family, np.concatenate([found.weights, point, [0.0]]), result.objective


def measured(row, seconds):
    """Return the row of the table."""
    mixture = problem(row)
    family, vector, objective = incumbent(mixture)
    marginal = MarginalBound(mixture, family, vector, objective)
    while marginal.step(time.monotonic() + seconds):
        pass
    bound, begun = ChainsBound(mixture, family, vector, objective), time.process_time()
    while time.process_time() - begun < seconds:
        # steps take a tenth of what is left of the clock
        if not bound.step(time.monotonic() + seconds):
            break
    spent = time.process_time() - begun
    lost = objective - bound.constant - sum(block.share * block.bound.limit for block in bound.blocks)
    priced = sum(
        block.share * (block.bound.limit - block.bound.total + mixture.n_components * block.bound.sigma)
        for block in bound.blocks
    )
    cells = ", ".join(f"{block.bound.pricing.n_cells:,}" for block in bound.blocks)
    opened = [objective - marginal.lower, lost, priced, objective - bound.lower]
    return [row, *(f"{nats:,.1f}" for nats in opened), cells, f"{spent:.0f}"]


def main():
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rows", nargs="*", default=ROWS)
    parser.add_argument("--no-file", action="store_true")
    options = parser.parse_args()
    rows = []
    for row in options.rows:
        rows.append(measured(row, options.seconds))
        print(*rows[-1], sep=" | ", flush=True)
    report = machine.heading("Chains of regressions", "scikit-learn") + "\n" + machine.table(HEADER, rows)
    machine.write(None if options.no_file else "chains.md", report)


if __name__ == "__main__":
    main()
