"""The nonparametric bound, told to the nodes as hitting sets: searches without and with it, and what is left to gain.

Left to gain: of a node's box the nonparametric bound keeps the union of the intervals of its means. The tree of the
search with hitting sets is walked again; in every open node with intervals of at most 4 standard deviations it is asked
whether no mixing distribution on that union lies below the cutoff, and a node that this closes loses its subtree.
Writes bench/results/nonparametric.md.

Run: python bench/ablation_nonparametric.py     (two minutes)
"""

import time
from pathlib import Path

import datasets
import numpy as np
from gopfast.mixtures.incumbent.basin import MixtureBasin
from gopfast.mixtures.mixing.hitting import HittingSets
from gopfast.mixtures.mixing.mixing import MixingDistribution
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from speed_table import line

import gopfast
from gopfast.mixtures import engine

EPSILON = 0.01
TIME_LIMIT = 30.0
WIDTH = 4.0  # nodes with wider intervals are not asked
MOST_WALKED = 2000  # nodes
RESULT = Path(__file__).parent / "results" / "nonparametric.md"


def problems():
    """Problems by name."""
    galaxies = np.ravel(datasets.galaxies())
    for k in (3, 4, 5, 6, 8):
        yield f"galaxies {k}", gopfast.GaussianMixture(galaxies, k, covariance="known")
    for n, k, gap in (
        (200, 4, 3), (300, 7, 4), (1000, 5, 4), (1000, 7, 4), (1000, 8, 4), (1000, 8, 5), (500, 10, 6), (10**5, 6, 4)
    ):  # fmt: skip
        yield f"N={n}, K={k}, gap {gap}", gopfast.GaussianMixture(line(n, k, gap), k, covariance="known")


def closes(mixing, intervals, cutoff):
    """Whether no mixing distribution on the union of the intervals (K, 2) has a value below the cutoff."""
    apart = []
    for low, high in sorted(map(list, intervals)):
        if apart and low <= apart[-1][1]:
            apart[-1][1] = max(high, apart[-1][1])
        else:
            apart.append([low, high])
    return mixing.find(apart, [], cutoff) is not None


def finished(family, with_sets):
    """Counts, seconds and tree (serial, parent, bound, low, high of each node) of a search on one thread."""
    primal, trace = MixturePrimal(family), []
    search = Search(
        EntropicRelaxation(family), primal, EPSILON, basin=MixtureBasin(family, primal), time_limit=TIME_LIMIT,
        reduction=HittingSets(family) if with_sets else None, trace=trace,
    )  # fmt: skip
    started = time.perf_counter()
    search.run()
    return search.summary()[0], time.perf_counter() - started, trace


def walk(trace, cutoff, mixing):
    """Nodes that are left, how many of them were asked, and how many of those it closed."""
    children = {}
    for serial, parent, *_ in trace:
        children.setdefault(parent, []).append(serial)
    nodes = {serial: rest for serial, _, *rest in trace}
    stack, left, asked, closed = children[-1], 0, 0, 0
    while stack:
        serial = stack.pop()
        lower, low, high = nodes[serial]
        left += 1
        if lower >= cutoff:
            continue
        if serial in children and (high - low).max() <= WIDTH:
            asked += 1
            if closes(mixing, np.stack([low, high], axis=1), cutoff):
                closed += 1
                continue
        stack += children.get(serial, [])
    return left, asked, closed


def counts(fields, seconds):
    text = f"{fields['n_nodes']:,} / {fields['n_passes']:,} / {seconds * 1e3:.3g} ms"
    gap = fields["objective"] - fields["lower_bound"]
    return text if gap <= EPSILON * (1 + 1e-9) else f"{text}, gap {gap:.2g}"


def main():
    lines = [
        "# The nonparametric bound in the nodes", "",
        f"Nodes / data passes / time of the search, one thread, absolute gap {EPSILON}, without and with hitting sets",
        "(`_hitting`); their passes are counted in exponentials, over K. Last column: what asking the bound in each",
        "node besides would leave at best: nodes left / nodes asked / closed by it "
        f"(trees up to {MOST_WALKED} nodes, 1,000 samples).",
        "Made by `python bench/ablation_nonparametric.py`.", "",
        "| problem | without | with hitting sets | asked in nodes too, at best |",
        "| --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, problem in problems():
        family = engine.family(problem)
        before, after = finished(family, False), finished(family, True)
        fields, _, trace = after
        samples, weights = family.data.arrays()
        rest = "-"
        if fields["n_nodes"] <= MOST_WALKED and len(weights) <= 1000:
            mixing = MixingDistribution(family.data, family.constant)
            rest = " / ".join(map(str, walk(trace, fields["objective"] - EPSILON, mixing)))
        lines.append(f"| {name} | {counts(*before[:2])} | {counts(*after[:2])} | {rest} |")
        print(lines[-1], flush=True)
    RESULT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
