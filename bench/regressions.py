"""Mixtures of two regressions on the data sets of the literature; writes bench/results/regressions.md.

Run: python bench/regressions.py [--limit 60] [--starts 500]     (about five minutes)

Beside each the runs of EM, from lines through random samples, that end within 0.01 nats of the best objective known.
"""

import argparse
from pathlib import Path

import numpy as np

import gopfast
from gopfast import datasets
from gopfast.mixtures.problems import regression_starts

TOLERANCE = 0.01  # nats
RESULTS = Path(__file__).parent / "results" / "regressions.md"


def cases():
    """Yield a name, regressors, responses and the arguments of the model."""
    tone, co2, npreg = datasets.load_tonedata(), datasets.load_co2data(), datasets.load_npreg()
    parabola = np.column_stack([npreg[:, 0], npreg[:, 0] ** 2])
    for name, X, y, known in (
        ("tonedata", tone[:, 0], tone[:, 1], 0.005), ("co2data", co2[:, 0], co2[:, 1], 4.0),
        ("npreg on x", npreg[:, 0], npreg[:, 1], 3.0), ("npreg on x and its square", parabola, npreg[:, 1], 3.0),
    ):  # fmt: skip
        yield name, X, y, {}
        yield name, X, y, {"noise_variance": known}
        yield name, X, y, {"variance": "shared"}


def reached(problem, best, n_starts):
    """Return how many runs of EM end at the best objective."""
    rng, found = np.random.default_rng(0), []
    for _ in range(n_starts):
        state = problem.maximize(regression_starts.lines(problem, rng))
        found.append(gopfast.local.em(problem, state, tol=1e-9).objective)
    assert min(found) >= best - TOLERANCE, "EM has found a better one than the search"
    return sum(value <= best + TOLERANCE for value in found)


def variances_of(problem):
    """Say what is known of the variances."""
    if problem.noise_variance is not None:
        return f"known, {problem.noise_variance:g}"
    return f"{problem.variance} above {problem.variance_floor:.3g}"


def row(name, X, y, options, limit, n_starts):
    """Return a row of the table."""
    problem = gopfast.RegressionMixture(X, y, 2, **options)
    result = gopfast.solve(problem, time_limit=limit, log=False)
    return (
        f"| {name} | {variances_of(problem)} | {result.objective:.5f} | {result.gap:.3g} | {result.status.name} "
        f"| {result.n_nodes:,} | {result.n_passes:,} | {result.time:.1f} "
        f"| {reached(problem, result.objective, n_starts)} |"
    )


def main():
    """Solve all, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a search")
    parser.add_argument("--starts", type=int, default=500, help="runs of EM")
    options = parser.parse_args()
    limit, n_starts = options.limit, options.starts
    lines = [
        "# Mixtures of two regressions", "",
        f"`python bench/regressions.py --limit {limit:g} --starts {n_starts}`; seconds of a machine that was shared.",
        "",
        f"| data | variances | objective | gap, nats | status | nodes | passes | s | EM, of {n_starts} |",
        "| --- " * 9 + "|",
    ]  # fmt: skip
    for case in cases():
        lines.append(row(*case, limit, n_starts))
        print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
