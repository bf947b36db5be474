"""Whether the nonparametric bound would close nodes that the entropic relaxed dual has to split.

Of a node's box the nonparametric bound keeps one thing: the union of the intervals of its means. The value of the
best mixing distribution on a fine grid in that union is the most that it can prove there (a coarser grid only raises
it); where that lies below the cutoff, no certificate of a supremum can close the node. Writes
bench/results/nonparametric.md. Run: python bench/ablation_nonparametric.py
"""

from pathlib import Path

import datasets
import numpy as np
from gopfast._em import MixturePrimal
from gopfast._entropic import EntropicRelaxation
from gopfast._search import Search

import gopfast
from gopfast import _engine
from gopfast._nonparametric import NonparametricBound

EPSILON = 0.01
STEP = 0.03  # of the grid, in standard deviations
MOST_NODES = 150
RESULT = Path(__file__).parent / "results" / "nonparametric.md"


def problems():
    """Problems by name."""
    galaxies = np.ravel(datasets.galaxies())
    for k in (3, 4, 5, 6):
        yield f"galaxies {k}", gopfast.GaussianMixture(galaxies, k)
    rng = np.random.default_rng(1)
    yield "N=200, K=4, gap 3", gopfast.GaussianMixture(3 * rng.integers(4, size=200) + rng.standard_normal(200), 4)


def best_value(bound, intervals):
    """Least negative log-likelihood over mixing distributions on a grid in the union of the intervals (K, 2)."""
    atoms = np.unique(np.concatenate([np.append(np.arange(low, high, STEP), high) for low, high in intervals]))
    share, value = np.full(len(atoms), 1.0 / len(atoms)), np.inf
    for _ in range(60):
        before, value = value, bound.value(*bound.mixture(atoms, share))
        if before - value < 1e-7:
            break
        atoms, share = bound.newton(atoms, share, value)
    return value


def main():
    lines = [
        "# Nonparametric bound in the nodes", "",
        "Of the nodes that the search splits (a random sample of at most "
        f"{MOST_NODES}), how many the nonparametric bound on the union of the node's intervals could close at best, "
        f"and where. Absolute gap {EPSILON}; the bound at the root is switched off. "
        "Made by `python bench/ablation_nonparametric.py`.", "",
        "| problem | nodes | split | looked at | could be closed | of them within the first 64 nodes |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, problem in problems():
        family = _engine.family(problem)
        trace = []
        search = Search(EntropicRelaxation(family), MixturePrimal(family), EPSILON, trace=trace)
        search.run()
        fields, _ = search.summary()
        samples, weights = family.data.arrays()
        bound = NonparametricBound(samples[0], weights)
        parents = {parent for _, parent, _, _, _ in trace}
        split = [node for node in trace if node[0] in parents]
        rng = np.random.default_rng(0)
        looked = [split[i] for i in rng.choice(len(split), min(MOST_NODES, len(split)), replace=False)]
        cutoff = fields["objective"] - EPSILON
        closed = [
            serial for serial, _, _, low, high in looked
            if best_value(bound, np.stack([low, high], axis=1)) >= cutoff
        ]  # fmt: skip
        lines.append(
            f"| {name} | {fields['n_nodes']} | {len(split)} | {len(looked)} | {len(closed)} | "
            f"{sum(serial < 64 for serial in closed)} |"
        )
        print(lines[-1], flush=True)
    RESULT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
