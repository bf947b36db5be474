"""Mixtures of two regressions on the data sets of the literature; writes bench/results/regressions.md.

Run: python bench/regressions.py [--limit 60]     (about three minutes)
"""

import argparse
from pathlib import Path

import numpy as np

import gopfast
from gopfast import datasets

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


def row(name, X, y, options, limit):
    """Return a row of the table."""
    problem = gopfast.RegressionMixture(X, y, 2, **options)
    result = gopfast.solve(problem, time_limit=limit, log=False)
    variance = f"known, {problem.noise_variance:g}" if options else f"free above {problem.variance_floor:.3g}"
    return (
        f"| {name} | {variance} | {result.objective:.5f} | {result.gap:.3g} | {result.status.name} "
        f"| {result.n_nodes:,} | {result.n_passes:,} | {result.time:.1f} |"
    )


def main():
    """Solve all, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a search")
    limit = parser.parse_args().limit
    lines = [
        "# Mixtures of two regressions", "",
        f"`python bench/regressions.py --limit {limit:g}`; seconds of a machine that was shared with others.", "",
        "| data | variances | objective | gap, nats | status | nodes | passes | s |", "| --- " * 8 + "|",
    ]  # fmt: skip
    for case in cases():
        lines.append(row(*case, limit))
        print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
