"""Proofs of columns of different kinds, of labels and of rows of counts, with prices of the samples and without.

Prints nodes, sizes and times.

Run: python bench/mixed_proofs.py [--limit 60]     (six minutes)

Gaps are of the search without a proof, of the proof without prices and of that with them; bytes and seconds of the two
proofs.
"""

import argparse
import time

import models
import numpy as np

import gopfast

HEAD = "| data | K | nodes without a proof | with one, no prices | with prices | gaps, nats | bytes | s | to check, s |"


def three(rng, n):
    """Return a problem of three components."""
    which = rng.integers(0, 3, n)
    columns = {
        "normal": rng.normal(size=n) + 4.0 * which, "exponential": rng.exponential(np.array([1.0, 4.0, 0.3])[which]),
        "binary": rng.random(n) < np.array([0.2, 0.8, 0.5])[which],
    }  # fmt: skip
    return gopfast.MixedMixture({kind: kind for kind in columns}, columns, 3)


def classes(n_components):
    """Return what makes problems of five questions, a tenth of whose answers are missing."""

    def made(rng, n):
        likely = rng.uniform(0.1, 0.9, (n_components, 5))[rng.integers(0, n_components, n)]
        answers = np.where(rng.random((n, 5)) < likely, "yes", "no").astype(object)
        answers[rng.random((n, 5)) < 0.1] = None
        return gopfast.LatentClass(answers, n_components)

    return made


def rows(n_components):
    """Return what makes problems of rows of one to eight counts of four kinds."""

    def made(rng, n):
        shares = rng.dirichlet(np.ones(4), n_components)[rng.integers(0, n_components, n)]
        return gopfast.MultinomialMixture([rng.multinomial(rng.integers(1, 9), own) for own in shares], n_components)

    return made


def missing(make, share):
    """Return what makes the same problems with a share of all entries missing."""

    def made(rng, n):
        problem = make(rng, n)
        table = problem._data_of_proof()
        table[rng.random(table.shape) < share] = None
        return gopfast.MixedMixture(problem.kinds, table, problem.n_components)

    return made


CASES = {
    "normal, poisson, binary": (models.mixed, 100), "the same of 400": (models.mixed, 400),
    "a tenth missing": (missing(models.mixed, 0.1), 100), "of 400, a tenth missing": (missing(models.mixed, 0.1), 400),
    "normal, exponential, binary": (three, 60), "the same, a tenth missing": (missing(three, 0.1), 60),
    "yes and no, a tenth missing": (classes(2), 100), "such classes of 60": (classes(3), 60),
    "rows of counts": (rows(2), 100), "such rows of 60": (rows(3), 60),
}  # fmt: skip


def proved(problem, limit, **switches):
    """Return a result and its proof, checked; seconds of both."""
    began = time.perf_counter()
    with gopfast.settings(**switches):
        result = gopfast.solve(problem, time_limit=limit, n_threads=1, log=False, proof=True)
    written = time.perf_counter()
    found = gopfast.check(result.proof, problem._data_of_proof(), problem=problem)
    return result, found, written - began, time.perf_counter() - written


def row(name, make, n, limit):
    """Return a row of the table."""
    problem = make(np.random.default_rng(0), n)
    plain = gopfast.solve(problem, time_limit=limit, n_threads=1, log=False)
    unpriced = proved(problem, limit, pricing=False)
    result, found, *seconds = proved(problem, limit)
    gaps = f"{plain.gap:.3g}, {unpriced[1].gap:.3g}, {found.gap:.3g}"
    nodes = f"{plain.n_nodes:,} | {unpriced[0].n_nodes:,} | {result.n_nodes:,}"
    return (
        f"| {name} | {problem.n_components} | {nodes} | {gaps} "
        f"| {unpriced[0].proof.size:,}, {result.proof.size:,} | {unpriced[2]:.1f}, {seconds[0]:.1f} "
        f"| {unpriced[3]:.1f}, {seconds[1]:.1f} |"
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a search")
    limit = parser.parse_args().limit
    print(HEAD)
    print("| --- " * 9 + "|")
    for name, case in CASES.items():
        print(row(name, *case, limit), flush=True)


if __name__ == "__main__":
    main()
