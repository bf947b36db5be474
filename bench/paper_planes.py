"""The relaxed dual's planes at the paper's four samples, step by step; writes docs/planes.png and planes_paper.png.

Run: python bench/paper_planes.py     needs matplotlib

Boxes are those of a search (linear relaxed dual, bisection), which is stopped after so many nodes; above, what they say
along one line: sample 5 goes from one component to the other, the other responsibilities stay as they are. The second
picture has the boxes of the same search in the paper's own partition, where the weights are connected variables too.
docs/paper.md explains both.
"""

from pathlib import Path

import datasets
import matplotlib
import numpy as np
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.linear import LinearRelaxation
from gopfast.search.search import Search
from matplotlib import pyplot
from matplotlib.patches import Rectangle

import gopfast
from gopfast.mixtures import engine
from gopfast.plot import LOWER_COLOUR, UPPER_COLOUR

DOCS = Path(__file__).parent.parent / "docs"
OUT, OUT_PAPER = DOCS / "planes.png", DOCS / "planes_paper.png"
STEPS = (1, 5, 11, 23)  # nodes after which the search is stopped
STEPS_PAPER = (1, 11, 21, 37)
EPSILON = 0.01
LEAST_SHOWN = -500.0  # nats
N_POINTS = 2001


def minimal():
    """The four samples of the paper, known variance 1 and no prior: only the means are connected variables."""
    return gopfast.GaussianMixture(datasets.minimal(), 2, covariance="known")


def leaves(problem, n_nodes, paper_partition=False):
    """Boxes of the means, then of weights, (leaves, 2 ends, K or 2 K), bounds in nats, LBD, after so many nodes."""
    family, trace = engine.family(problem), []
    relaxation, primal = LinearRelaxation(family, paper_partition), MixturePrimal(family, seed=1)
    search = Search(relaxation, primal, EPSILON, max_nodes=n_nodes, trace=trace)
    search.run()
    parents = {node[1] for node in trace}
    found = [node for node in trace if node[0] not in parents]
    boxes = np.array([[np.ravel(node[3]), np.ravel(node[4])] for node in found])
    boxes[:, :, : problem.n_components] += np.ravel(family.data.center)  # of the core's coordinates
    return boxes, np.array([node[2] for node in found]), search.summary()[0]["lower_bound"]


def responsibilities(share):
    """Of -10, -10, 5, 25 (4, 2) where sample 5 belongs to the first component by this share."""
    return np.array([[1.0, 0.0], [1.0, 0.0], [share, 1.0 - share], [0.0, 1.0]])


def entropy(tau):
    """The convex rest of (A3), the weights being the best ones."""
    shares = np.broadcast_to(tau.mean(axis=0), tau.shape)
    return np.sum(tau * np.log(np.divide(tau, shares, out=np.ones_like(tau), where=tau > 0.0)))


def primal_value(X, tau):
    """What the primal problem attains: the best means for these responsibilities."""
    means = tau.T @ X / tau.sum(axis=0)
    return 0.5 * np.sum(tau * (X[:, None] - means) ** 2) + entropy(tau)


def planes(X, tau, low, high):
    """(G7) for each component (rows) and each end of its interval: two functions that are linear in tau."""
    loss = (high - low) ** 2
    return np.array([
        [0.5 * np.sum(tau[:, k] * ((X - end) ** 2 - loss[k])) for end in (low[k], high[k])] for k in range(len(low))
    ])  # fmt: skip


def relaxed_value(X, tau, low, high):
    """The relaxed dual of a box, and its planes alone, which may be negative; infinite where its means cannot be."""
    mass, total = tau.sum(axis=0), tau.T @ X
    if np.any(total < low * mass) or np.any(total > high * mass):
        return np.inf, np.inf
    higher = planes(X, tau, low, high).max(axis=1)
    return np.sum(np.maximum(higher, 0.0)) + entropy(tau), np.sum(higher) + entropy(tau)


def draw_line(ax, X, boxes, lower):
    """Above: the primal problem's value along the line, the boxes' relaxed duals below it, and LBD."""
    shares = np.linspace(0.0, 1.0, N_POINTS)
    values = [primal_value(X, responsibilities(share)) for share in shares]
    ax.plot(shares, values, color=UPPER_COLOUR, linewidth=2, label="primal problem")
    for low, high in boxes:
        values, alone = np.array([relaxed_value(X, responsibilities(share), low, high) for share in shares]).T
        held = np.isfinite(values)
        if held.any():
            ax.plot(shares[held], alone[held], ":", color=LOWER_COLOUR, linewidth=1, label="planes alone")
            ax.plot(shares[held], values[held], color=LOWER_COLOUR, linewidth=2, label="relaxed dual")
            for end in (np.flatnonzero(held)[0], np.flatnonzero(held)[-1]):
                ax.axvline(shares[end], color="0.85", linewidth=0.8, zorder=0)
    ax.axhline(max(lower, LEAST_SHOWN), color="0.3", linewidth=1, linestyle="--", label="LBD")
    ax.set_xlim(0, 1)
    ax.set_ylim(LEAST_SHOWN - 15, 130)
    ax.set_xlabel("share of sample 5 at mean -10")


def draw_boxes(ax, problem, boxes, bounds, limit):
    """Below: the boxes in the plane of both means over the objective; those that can hold nothing better are grey."""
    ticks = np.linspace(-12.0, 27.0, 79)
    grid = np.array([[problem.objective([0.5, 0.5], [[x], [y]]) for x in ticks] for y in ticks])
    levels = grid.min() + np.array([1, 20, 60, 150, 400])
    ax.contour(ticks, ticks, grid, levels=levels, colors="0.6", linewidths=0.7)
    draw_rectangles(ax, boxes, bounds, limit)
    ax.set_xlim(ticks[0], ticks[-1])
    ax.set_ylim(ticks[0], ticks[-1])
    ax.set_aspect("equal")
    ax.set_xlabel("first mean")


def draw_rectangles(ax, boxes, bounds, limit):
    """Boxes in a plane; those that can hold nothing better are grey."""
    for (low, high), bound in zip(boxes, bounds, strict=True):
        closed = bound >= limit
        ax.add_patch(Rectangle(low, *(high - low), facecolor="0.88" if closed else "none", edgecolor="0.5", zorder=0))
        if not closed:
            ax.add_patch(Rectangle(low, *(high - low), facecolor="none", edgecolor=LOWER_COLOUR, linewidth=1.6))


def draw_paper(out, problem, proved):
    """Boxes of means and weights in the paper's partition, of which each plane shows two coordinates."""
    limit = proved.objective - EPSILON
    figure, axes = pyplot.subplots(2, len(STEPS_PAPER), figsize=(13, 6.6), layout="constrained", sharey="row")
    for (above, below), n_nodes in zip(axes.T, STEPS_PAPER, strict=True):
        boxes, bounds, lower = leaves(problem, n_nodes, True)
        draw_boxes(above, problem, boxes[:, :, :2], bounds, limit)
        draw_rectangles(below, boxes[:, :, [0, 2]], bounds, limit)
        n_open = int(np.sum(bounds < limit))
        above.set_title(f"{n_nodes} node{'s' * (n_nodes > 1)}: LBD {lower:.4g}, {n_open} open", fontsize=10)
        for ax, at in ((above, proved.solution.means.ravel()), (below, [proved.solution.means[0, 0],
                                                                        proved.solution.weights[0]])):  # fmt: skip
            ax.plot(*at, "o", color=UPPER_COLOUR, markersize=5)
        below.set_xlim(above.get_xlim())
        below.set_ylim(-0.04, 1.04)
        below.set_xlabel("first mean")
        print("paper's partition,", n_nodes, "nodes:", len(boxes), "leaves,", n_open, "open, LBD", lower)
    axes[0, 0].set_ylabel("second mean")
    axes[1, 0].set_ylabel("weight of the first component")
    figure.savefig(out, dpi=110)


def main(out=OUT, out_paper=OUT_PAPER):
    matplotlib.use("Agg")
    problem = minimal()
    X, proved = np.ravel(problem.X), gopfast.solve(problem, EPSILON)
    draw_paper(out_paper, problem, proved)
    constant = problem.objective(**vars_of(proved)) - primal_value(X, proved.solution.responsibilities)
    figure, axes = pyplot.subplots(2, len(STEPS), figsize=(13, 6.6), layout="constrained", sharey="row")
    for (above, below), n_nodes in zip(axes.T, STEPS, strict=True):
        boxes, bounds, lower = leaves(problem, n_nodes)
        draw_line(above, X, boxes, lower - constant)
        n_open = int(np.sum(bounds < proved.objective - EPSILON))
        above.set_title(f"{n_nodes} node{'s' * (n_nodes > 1)}: LBD {lower:.4g}, {n_open} open", fontsize=10)
        draw_boxes(below, problem, boxes, bounds, proved.objective - EPSILON)
        print(n_nodes, "nodes:", len(boxes), "leaves,", n_open, "open, LBD", lower, "optimum", proved.objective)
    axes[0, 0].set_ylabel("nats")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    axes[0, 0].legend(handles, labels, frameon=False, fontsize=9, loc="center left")
    axes[1, 0].set_ylabel("second mean")
    figure.savefig(out, dpi=110)


def vars_of(result):
    return {"weights": result.solution.weights, "means": result.solution.means}


if __name__ == "__main__":
    main()
