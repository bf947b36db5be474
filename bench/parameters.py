"""Node and pass counts for different settings of the entropic relaxed dual; writes bench/results/*.md.

Run: python bench/parameters.py
"""

from pathlib import Path

import datasets
import numpy as np
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine

SPLITS = [(0.0, 0.3, 12.0), (0.1, 0.3, 12.0), (0.2, 0.3, 12.0), (0.2, 0.3, 8.0), (0.2, 0.3, 1e9), (0.5, 1e9, 1e9)]
STARTS = [
    (0.2, 1.0, 1.0, 1.0), (0.2, 0.01, 1.0, 1.0), (0.2, 0.01, 0.2, 5.0), (0.5, 0.01, 0.2, 5.0), (0.5, 0.1, 0.2, 5.0),
    (0.5, 0.01, 0.03, 5.0), (0.8, 0.01, 0.2, 5.0), (0.05, 0.01, 0.2, 5.0),
]  # fmt: skip


def problems():
    """Problems by name, all of them solved in a second or so."""
    galaxies = np.ravel(datasets.galaxies())
    yield "minimal, empirical", gopfast.GaussianMixture(np.ravel(datasets.minimal()), 2, prior="empirical")
    for k in (3, 4, 5):
        yield f"galaxies {k}", gopfast.GaussianMixture(galaxies, k, covariance="known")
        yield f"galaxies {k}, empirical", gopfast.GaussianMixture(galaxies, k, prior="empirical")
    rng = np.random.default_rng(1)
    yield (
        "N=1000, K=5",
        gopfast.GaussianMixture(4 * rng.integers(5, size=1000) + rng.standard_normal(1000), 5, covariance="known"),
    )
    yield "galaxies 3, diag", gopfast.GaussianMixture(galaxies, 3, covariance="diag", variance_floor=0.09)


def counts(problem, split=None, start=()):
    """Nodes / data passes of one search, without the outer bound."""
    family = engine.family(problem)
    if split is not None and isinstance(family, GaussianFamily):
        family.split_pull, family.split_pull_most, family.split_wide = split
    names = ("patience", "warm_mix", "warm_least", "warm_most")
    relaxation = EntropicRelaxation(family, **dict(zip(names, start, strict=False)))
    search = Search(relaxation, MixturePrimal(family), 0.01)
    search.run()
    fields, _ = search.summary()
    return f"{fields['n_nodes']} / {fields['n_passes']}"


def table(name, title, columns, settings, option):
    """Write one table: a row per problem, a column per setting."""
    lines = [
        f"# {title}", "",
        f"Nodes / data passes at epsilon 0.01, without the outer bound. Columns: {columns}.",
        "Made by `python bench/parameters.py`.", "",
        "| problem | " + " | ".join(" / ".join(f"{x:g}" for x in setting) for setting in settings) + " |",
        "| --- |" + " --- |" * len(settings),
    ]  # fmt: skip
    for problem_name, problem in problems():
        cells = [counts(problem, **{option: setting}) for setting in settings]
        lines.append(f"| {problem_name} | " + " | ".join(cells) + " |")
    Path(__file__).parent.joinpath("results", f"{name}.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    table(
        "split_point", "Split point (known variance)", "split_pull / split_pull_most / split_wide", SPLITS, "split"
    )
    table("warm_start", "Warm start", "patience / warm_mix / warm_least / warm_most", STARTS, "start")
