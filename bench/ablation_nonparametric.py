"""What the nonparametric bound would save in the nodes, beside its use at the root.

Of a node's box the nonparametric bound keeps one thing: the union of the intervals of its means. The value of the
best mixing distribution on a fine grid in that union is the most that it can prove there (a coarser grid only raises
it). The tree of a finished search is walked again, and a node that this closes loses its subtree. Writes
bench/results/nonparametric.md. Run: python bench/ablation_nonparametric.py     (about a minute)
"""

from pathlib import Path

import datasets
import numpy as np
from gopfast._basin import MixtureBasin
from gopfast._em import MixturePrimal
from gopfast._entropic import EntropicRelaxation
from gopfast._search import Search

import gopfast
from gopfast import _engine
from gopfast._nonparametric import NonparametricBound

EPSILON = 0.01
STEP = 0.05  # of the grid, in standard deviations
WIDTHS = (1.0, 2.0, 4.0)  # nodes with wider intervals are not asked
RESULT = Path(__file__).parent / "results" / "nonparametric.md"


def problems():
    """Problems by name."""
    galaxies = np.ravel(datasets.galaxies())
    for k in (3, 4, 5, 6):
        yield f"galaxies {k}", gopfast.GaussianMixture(galaxies, k)
    for n, k, gap in ((200, 4, 3), (300, 7, 4), (500, 8, 5)):
        rng = np.random.default_rng(1)
        samples = gap * rng.integers(k, size=n) + rng.standard_normal(n)
        yield f"N={n}, K={k}, gap {gap}", gopfast.GaussianMixture(samples, k)


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


def finished(problem):
    """Nodes (serial: bound, low, high) and children of a finished search, its counts, and the nonparametric bound."""
    family = _engine.family(problem)
    primal, trace = MixturePrimal(family), []
    search = Search(EntropicRelaxation(family), primal, EPSILON, basin=MixtureBasin(family, primal), trace=trace)
    search.run()
    children = {}
    for serial, parent, *_ in trace:
        children.setdefault(parent, []).append(serial)
    samples, weights = family.data.arrays()
    nodes = {serial: rest for serial, _, *rest in trace}
    return nodes, children, search.summary()[0], NonparametricBound(samples[0], weights)


def walk(nodes, children, cutoff, bound, width):
    """Nodes that are left, how many of them were asked, and how many of those it closed."""
    stack, left, asked, closed = [min(nodes)], 0, 0, 0
    while stack:
        serial = stack.pop()
        lower, low, high = nodes[serial]
        left += 1
        if lower >= cutoff:
            continue
        if serial in children and (high - low).max() <= width:
            asked += 1
            if best_value(bound, np.stack([low, high], axis=1)) >= cutoff:
                closed += 1
                continue
        stack += children.get(serial, [])
    return left, asked, closed


def main():
    lines = [
        "# Nonparametric bound in the nodes", "",
        "Nodes left / nodes asked / closed by it, and data passes saved per node asked, were it asked in every node",
        "with intervals up to a width (in standard deviations) that the relaxed dual leaves open: the most that it",
        "could do. A certificate costs about 50 passes even when compiled (an estimate: ten steps of EM to find its",
        "weights, and a supremum with two exponentials per sample and 0.2 standard deviations of every interval). So",
        "it is asked at the root only.",
        f"Absolute gap {EPSILON}, without the bound at the root. Made by `python bench/ablation_nonparametric.py`.", "",
        "| problem | nodes | passes per node | " + " | ".join(f"width {width:g}" for width in WIDTHS) + " |",
        "| --- | --- | --- |" + " --- |" * len(WIDTHS),
    ]  # fmt: skip
    for name, problem in problems():
        nodes, children, fields, bound = finished(problem)
        each, cells = fields["n_passes"] / fields["n_nodes"], []
        for width in WIDTHS:
            left, asked, closed = walk(nodes, children, fields["objective"] - EPSILON, bound, width)
            saved = (fields["n_nodes"] - left) * each / max(asked, 1)
            cells.append(f"{left} / {asked} / {closed}, {saved:.0f}")
        lines.append(f"| {name} | {fields['n_nodes']} | {each:.1f} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    RESULT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
