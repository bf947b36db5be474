"""Node and pass counts with and without the box around the incumbent; writes bench/results/basin.md.

Run: python bench/ablation_basin.py     (about a minute)
"""

import time
from pathlib import Path

import numpy as np
from gopfast.mixtures.bounds.basin import MixtureBasin
from gopfast.mixtures.bounds.em import MixturePrimal
from gopfast.mixtures.bounds.entropic import EntropicRelaxation
from gopfast.mixtures.bounds.hitting import HittingSets
from gopfast.search.search import Search
from speed_table import ROWS

import gopfast
from gopfast.mixtures import engine

EPSILONS = (1e-2, 1e-6)
TIME_LIMIT = 20.0


def run(family, epsilon, with_basin):
    """Counts, seconds and gap of one search on one thread, and half the width of the box it found."""
    primal = MixturePrimal(family)
    basin = MixtureBasin(family, primal) if with_basin else None
    reduction = HittingSets(family) if HittingSets.applies(family) else None
    search = Search(
        EntropicRelaxation(family), primal, epsilon, time_limit=TIME_LIMIT, basin=basin, reduction=reduction
    )
    started = time.perf_counter()
    search.run()
    seconds = time.perf_counter() - started
    counts, _ = search.summary()
    gap = counts["objective"] - counts["lower_bound"]
    proved = gap <= epsilon * (1 + 1e-3)
    width = 0.0
    if with_basin:
        found = basin.report()
        width = 0.5 * (found["high"] - found["low"]).max()
    text = f"{counts['n_nodes']:,} / {counts['n_passes']:,} / {seconds:.3g} s"
    return (text if proved else f"gap {gap:.2g} after {seconds:.0f} s"), width


def main():
    lines = [
        "# The box around the incumbent",
        "",
        "Nodes / data passes / seconds of the search, one thread, without and with the box, at two absolute gaps, and",
        "half the width of the box found, in standard deviations (0: none); hitting sets are used in both.",
        "Made by `python bench/ablation_basin.py`.",
        "",
        "| problem | half width | " + " | ".join(f"{e:g}, without | {e:g}, with" for e in EPSILONS) + " |",
        "|" + " --- |" * (2 + 2 * len(EPSILONS)),
    ]
    for name, (make, n_components, prior, _, _) in ROWS.items():
        family = engine.family(
            gopfast.GaussianMixture(np.asarray(make(), dtype=float), n_components, prior=prior, covariance="known")
        )
        cells = [run(family, epsilon, on) for epsilon in EPSILONS for on in (False, True)]
        width = max(found for _, found in cells)
        lines.append(f"| {name} | {width:.3f} | " + " | ".join(text for text, _ in cells) + " |")
        print(lines[-1], flush=True)
    Path(__file__).parent.joinpath("results", "basin.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
