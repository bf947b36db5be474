"""Figures of how a fit divides the samples: pairs of columns, uncertainty, entropy, profiles; needs matplotlib."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from gopfast import drawing
from gopfast.annotations import Fit, HasSolution
from gopfast.errors import InputError, InputTypeError
from gopfast.tuning import FEWEST_COLUMNS, MOST_COLUMNS, MOST_POINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _solution_of(fit):
    solution = getattr(fit, "solution", fit)
    if not hasattr(solution, "responsibilities"):
        raise InputTypeError(f"fit must be a fit of a mixture; got {type(fit).__name__}")
    return solution


def _uncertainty(tau):
    """Probability that a sample is of another component than its most probable one."""
    return 1.0 - tau.max(axis=1)


def pairs(fit: Fit | HasSolution, columns: "list[int] | None" = None) -> "Axes":
    """
    Draw every pair of columns, samples coloured by their most probable component, as mclust's "classification".

    Parameters
    ----------
    fit : Result, LocalResult or MixtureSolution
        Of a mixture of numbers in at least two columns.
    columns : sequence of int, optional
        Two to six columns, from 0; all by default.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (d, d)
        On the diagonal a histogram of each column.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    InputError
        If there are fewer than two columns, or more than six.
    """
    solution = _solution_of(fit)
    problem = solution.problem
    columns = list(range(problem.n_features)) if columns is None else list(columns)
    if not FEWEST_COLUMNS <= len(columns) <= MOST_COLUMNS or not set(columns) <= set(range(problem.n_features)):
        raise InputError(
            f"columns must be {FEWEST_COLUMNS} to {MOST_COLUMNS} of the {problem.n_features} of the data; got {columns}"
        )
    d, step = len(columns), -(-problem.n_samples // MOST_POINTS)
    X, component = np.asarray(problem.X)[::step][:, columns], solution.predict()[::step]
    used = np.unique(component)
    figure = drawing.pyplot().figure(figsize=(1.0 + 1.7 * d, 0.8 + 1.7 * d), layout="constrained")
    axes = figure.subplots(d, d, sharex="col", squeeze=False)
    for i in range(d):
        for j in range(d):
            ax = axes[i, j]
            if i == j:
                # its own scale: counts are no values of the column
                stacks = [X[component == k, j] for k in used]
                ax.hist(stacks, 20, stacked=True, color=[drawing.colour(k) for k in used], linewidth=0)
                ax.set_yticks([])
            else:
                for k in used:
                    ax.scatter(
                        *X[component == k][:, [j, i]].T, s=6, alpha=0.6, linewidth=0, color=drawing.colour(k),
                        marker=drawing.of(drawing.MARKERS, k), label=f"component {k}" if (i, j) == (0, 1) else None,
                    )  # fmt: skip
            if i == d - 1:
                ax.set_xlabel(problem.column_names[columns[j]])
            if j == 0 and (i > 0 or d == 1):
                ax.set_ylabel(problem.column_names[columns[i]])
            drawing.finish(ax, legend=False)
    axes[0, 0].set_ylabel(problem.column_names[columns[0]])
    figure.align_ylabels(axes[:, 0])
    figure.legend(loc="outside upper center", ncols=min(len(used), 4), frameon=False, fontsize="small", markerscale=2)
    return axes


def uncertainty(fit: Fit | HasSolution, ax: "Axes | None" = None) -> "Axes":
    """
    Draw how uncertain the classification of each sample is, as mclust's "uncertainty".

    In two columns larger points are more uncertain; in other numbers of columns the samples are sorted by their
    uncertainty, one curve for all.

    Parameters
    ----------
    fit : Result, LocalResult or MixtureSolution
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The uncertainty is the probability that a sample is of another component than its most probable one.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    solution = _solution_of(fit)
    problem, tau = solution.problem, solution.responsibilities
    doubt = _uncertainty(tau)
    if problem.n_features != 2 or getattr(problem, "_most_columns_drawn", 0) < 2:
        return _sorted(doubt, solution, "uncertainty", drawing.axes(ax))
    ax, step = drawing.axes(ax, height=4.4), -(-problem.n_samples // MOST_POINTS)
    X, component = problem.X[::step], solution.predict()[::step]
    size = 4.0 + 90.0 * doubt[::step] / max(doubt.max(), 1e-300)
    for k in np.unique(component):
        mine = component == k
        ax.scatter(
            *X[mine].T, s=size[mine], alpha=0.6, linewidth=0, color=drawing.colour(k),
            marker=drawing.of(drawing.MARKERS, k),
        )  # fmt: skip
        ax.plot([], [], drawing.of(drawing.MARKERS, k), color=drawing.colour(k), markersize=5, label=f"component {k}")
    ax.set_xlabel(problem.column_names[0])
    ax.set_ylabel(problem.column_names[1])
    ax.set_title(f"area: probability of another component, at most {doubt.max():.2g}", fontsize="medium")
    return drawing.finish(ax, fontsize="small")


def entropy(fit: Fit | HasSolution, ax: "Axes | None" = None) -> "Axes":
    """
    Draw the entropy of each sample's responsibilities, sorted; their sum is what ICL adds to BIC, twice.

    Parameters
    ----------
    fit : Result, LocalResult or MixtureSolution
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    solution = _solution_of(fit)
    tau = solution.responsibilities
    each = -xlogy(tau, tau).sum(axis=1)
    ax = _sorted(each, solution, "entropy (nats)", drawing.axes(ax))
    total = float(solution.problem.sample_weight @ each)
    ax.set_title(f"sum over the samples: {total:.4g} nats, in ICL twice", fontsize="medium")
    return ax


def _sorted(values, solution, name, ax):
    """Draw values of samples in increasing order, coloured by the most probable component."""
    order = np.argsort(values, kind="stable")
    place, component = np.empty(len(values)), solution.predict()
    place[order] = np.arange(1, len(values) + 1)
    for k in np.unique(component):
        mine = component == k
        ax.vlines(place[mine], 0.0, values[mine], color=drawing.colour(k), linewidth=0.8, label=f"component {k}")
    ax.plot(np.arange(1, len(values) + 1), values[order], color="black", linewidth=1.0)
    ax.set_xlabel(f"samples, by their {name.split(' (')[0]}")
    ax.set_ylabel(name)
    ax.set_ylim(bottom=0.0)
    return drawing.finish(ax, fontsize="small")


def classes(fit: Fit | HasSolution, ax: "Axes | None" = None) -> "Axes":
    """
    Draw the profiles of latent classes, as poLCA does: for each item the probabilities of its levels in each class.

    Parameters
    ----------
    fit : Result, LocalResult or MixtureSolution
        Of a `gopfast.LatentClass`, a `gopfast.CategoricalMixture` or a `gopfast.BernoulliMixture`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Of items with two levels each a line for each class: the probability of the second. Else a bar for each class
        of each item, divided by the levels in their order, the first one at the bottom.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    InputTypeError
        If the fit is of another model.
    """
    solution = _solution_of(fit)
    given = solution.parameters.get("probabilities")
    if given is None:
        raise InputTypeError(f"fit must be one of labels or binary items; got one of {type(solution.problem).__name__}")
    problem, K = solution.problem, solution.problem.n_components
    tables = list(given) if isinstance(given, tuple) else [np.stack([1.0 - p, p], axis=1) for p in np.asarray(given).T]
    names = [problem.column_names[j] for j in problem._columns_of("probabilities")]
    at = np.arange(len(tables))
    ax = drawing.axes(ax, width=max(5.5, 1.2 + 0.55 * len(tables)))
    sizes = [f"class {k} ({share:.0%})" for k, share in enumerate(solution.weights)]
    if all(table.shape[1] <= 2 for table in tables):
        for k in range(K):
            ax.plot(
                at, [table[k, -1] for table in tables], color=drawing.colour(k), label=sizes[k],
                marker=drawing.of(drawing.MARKERS, k), linestyle=drawing.of(drawing.DASHES, k),
            )  # fmt: skip
        levels = {str(labels[-1]) for labels in problem.categories} if hasattr(problem, "categories") else {"1"}
        ax.set_ylabel(f"probability of {levels.pop()}" if len(levels) == 1 else "probability of the last level")
        ax.grid(alpha=0.25, linewidth=0.6)
    else:
        width = 0.8 / K
        for k in range(K):
            for j, table in enumerate(tables):
                bottom = 0.0
                for level, share in enumerate(table[k]):
                    depth = 0.25 + 0.75 * level / max(table.shape[1] - 1, 1)
                    ax.bar(
                        j + (k - 0.5 * (K - 1)) * width, share, 0.92 * width, bottom, color=drawing.colour(k),
                        alpha=depth, linewidth=0, label=sizes[k] if j == 0 and level == table.shape[1] - 1 else None,
                    )  # fmt: skip
                    bottom += share
        ax.set_ylabel("probability; darker: later levels")
    ax.set_ylim(0.0, 1.02)
    ax.set_xticks(at, names, rotation=0 if sum(map(len, names)) < 10 * len(names) and len(names) < 12 else 60)
    drawing.finish(ax, legend=False)
    ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(K, 4))
    return ax
