"""Proves two optima, draws the bounds closing in and checks the proofs: ``make demo``."""

import os
import tempfile

import datasets
import matplotlib
from matplotlib import pyplot

import gopfast
from gopfast import plot

FIGURE = "demo_bounds.png"


def prove(title, problem, epsilon):
    """Solve with the log switched on and print the result."""
    print(f"\n{title}\n{problem!r}, epsilon = {epsilon:g}\n")
    result = gopfast.solve(problem, epsilon=epsilon, log=True)
    print(f"\n{result}")
    return result


def check(title, problem, epsilon):
    """Prove once more, with a proof, and have it checked by a program that shares nothing with the solver."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "proof.npz")
        gopfast.solve(problem, epsilon=epsilon, proof=path)
        found = gopfast.check(path, problem.X, problem=problem)
    print(f"{title}: {found}")


def draw(results):
    """Draw one panel of bounds against time per result."""
    matplotlib.use("Agg")  # a demo must also run where there is no display
    figure, axes = pyplot.subplots(1, len(results), figsize=(5.2 * len(results), 3.8), layout="constrained")
    for ax, (title, result) in zip(axes, results.items(), strict=True):
        plot.bounds(result, ax=ax)
        ax.set_xscale("linear")  # on a logarithmic axis both bounds jump at its right end
        ax.set_xlim(left=0)
        ax.set_title(title, fontsize=11)
    figure.savefig(FIGURE, dpi=150)
    print(f"\nBounds against time: {FIGURE}")


def main():
    problems = {
        "Minimal data set, K=2, prior variance estimated": gopfast.GaussianMixture(
            datasets.minimal(), 2, prior="empirical"
        ),
        "Galaxies, K=4, variances estimated": gopfast.GaussianMixture(
            datasets.galaxies().reshape(-1, 1), 4, covariance="diag", variance_floor=0.09
        ),
    }
    results = {title: prove(title, problem, epsilon=0.01) for title, problem in problems.items()}
    draw(results)
    if not all(result.success for result in results.values()):
        raise SystemExit("an optimum was not proved")
    print()
    for title, problem in problems.items():
        check(title, problem, epsilon=0.01)


if __name__ == "__main__":
    main()
