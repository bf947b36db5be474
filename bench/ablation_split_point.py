"""Node and pass counts for different split points; writes bench/results/split_point.md.

Run: python bench/ablation_split_point.py
"""

from pathlib import Path

import datasets
import numpy as np
from gopfast._em import MixturePrimal
from gopfast._entropic import EntropicRelaxation
from gopfast._search import Search

import gopfast
from gopfast import _engine

SETTINGS = [(0.0, 0.3, 16.0), (0.15, 0.3, 8.0), (0.15, 0.3, 16.0), (0.15, 0.3, 1e9), (0.3, 0.1, 1e9), (0.5, 1e9, 1e9)]


def problems():
    galaxies = np.ravel(datasets.galaxies())
    yield "minimal, empirical", gopfast.GaussianMixture(np.ravel(datasets.minimal()), 2, prior="empirical")
    for k in (2, 3, 4, 5):
        yield f"galaxies {k}", gopfast.GaussianMixture(galaxies, k)
        yield f"galaxies {k}, empirical", gopfast.GaussianMixture(galaxies, k, prior="empirical")


def main():
    header = [f"{pull:g} / {most:g} / {wide:g}" for pull, most, wide in SETTINGS]
    lines = [
        "# Split point of the entropic relaxed dual",
        "",
        "Nodes / data passes at epsilon 0.01, without the outer bound. Columns: split_pull / split_pull_most /",
        "split_wide. Made by `python bench/ablation_split_point.py`.",
        "",
        "| problem | " + " | ".join(header) + " |",
        "| --- |" + " --- |" * len(header),
    ]
    for name, problem in problems():
        cells = []
        for pull, most, wide in SETTINGS:
            family = _engine.family(problem)
            family.split_pull, family.split_pull_most, family.split_wide = pull, most, wide
            search = Search(EntropicRelaxation(family), MixturePrimal(family), 0.01)
            search.run()
            counts, _ = search.summary()
            cells.append(f"{counts['n_nodes']} / {counts['n_passes']}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    Path(__file__).parent.joinpath("results", "split_point.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
