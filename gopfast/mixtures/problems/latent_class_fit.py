"""What is reported of a latent class model: fit statistics, class sizes, item-response tables."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from gopfast.annotations import FloatArray
from gopfast.mixtures.problems.base import log_sum_exp, log_zero
from gopfast.mixtures.problems.tuning import MOST_ITEMS_SHOWN

if TYPE_CHECKING:
    from gopfast.annotations import DataFrame


@dataclass(frozen=True, eq=False, kw_only=True)
class LatentClassFit:
    """
    Statistics of a latent class model at given parameters.

    G^2 and X^2 compare the counts of the rows without missing entries with those expected (as poLCA does).

    Attributes
    ----------
    n_samples : float
        Sum of the frequencies of all rows.
    n_complete : float
        The same of the rows without missing entries.
    n_patterns : int
        Number of different rows.
    n_parameters : int
        K - 1 class sizes, and C_j - 1 probabilities for each class and item.
    degrees_of_freedom : int
        Of the residuals: the lesser of the number of rows and that of the cells of the table less 1, less
        `n_parameters`. Negative where the model has more parameters than the table can determine.
    log_likelihood : float
        In nats, without any prior.
    log_likelihood_bound : float
        What no parameters exceed, as proved; inf where nothing is, as with a prior.
    aic, bic : float
        ``-2 log_likelihood + 2 n_parameters`` and ``-2 log_likelihood + n_parameters log(n_samples)``.
    g_squared, x_squared : float
        Likelihood ratio and Pearson's statistic; NaN without complete rows.
    relative_entropy : float
        1 where every row belongs to one class for certain, 0 where nothing is known; 1 for one class.
    class_sizes : ndarray, shape (K,)
        Mixture weights.
    probabilities : tuple of d ndarrays, shape (K, C_j)
        Of the levels of each item in each class.
    columns : tuple of str
        Names of the items.
    categories : tuple of d ndarrays, shape (C_j,)
        Their levels.
    bivariate_residuals : ndarray, shape (d, d)
        Pearson's statistic of the table of two items, over (C_j - 1)(C_l - 1): about 1 or less where the classes
        explain how they depend on each other. NaN on the diagonal, and where an item has one level.
    pattern_codes : ndarray of int, shape (m, d)
        The different rows without missing entries, as codes of the levels.
    observed_counts, expected_counts : ndarray, shape (m,)
        Of these rows.
    """

    n_samples: float
    n_complete: float
    n_patterns: int
    n_parameters: int
    degrees_of_freedom: int
    log_likelihood: float
    log_likelihood_bound: float
    aic: float
    bic: float
    g_squared: float
    x_squared: float
    relative_entropy: float
    class_sizes: FloatArray
    probabilities: tuple[FloatArray, ...] = field(repr=False)
    columns: tuple[str, ...] = field(repr=False)
    categories: tuple[NDArray[np.int64 | np.str_], ...] = field(repr=False)
    bivariate_residuals: FloatArray = field(repr=False)
    pattern_codes: NDArray[np.intp] = field(repr=False)
    observed_counts: FloatArray = field(repr=False)
    expected_counts: FloatArray = field(repr=False)

    @property
    def class_names(self) -> list[str]:
        """The names "class 1", "class 2", ... that the tables have."""
        return [f"class {k + 1}" for k in range(len(self.class_sizes))]

    def item_responses(self) -> "DataFrame":
        """
        Tabulate the probabilities of the levels in the classes.

        Returns
        -------
        pandas.DataFrame
            One row for each item and level, one column for each class.
        """
        import pandas

        pairs = [
            (name, level) for name, levels in zip(self.columns, self.categories, strict=True) for level in levels
        ]
        index = pandas.MultiIndex.from_tuples(pairs, names=["item", "level"])
        return pandas.DataFrame(np.hstack(self.probabilities).T, index=index, columns=self.class_names)

    def residuals(self) -> "DataFrame":
        """
        Tabulate the bivariate residuals.

        Returns
        -------
        pandas.DataFrame
            Items by items.
        """
        import pandas

        return pandas.DataFrame(self.bivariate_residuals, index=list(self.columns), columns=list(self.columns))

    def patterns(self) -> "DataFrame":
        """
        Tabulate the different rows without missing entries.

        Returns
        -------
        pandas.DataFrame
            One column for each item, "observed" and "expected"; the most frequent row first.
        """
        import pandas

        table = {
            name: levels[codes]
            for name, levels, codes in zip(self.columns, self.categories, self.pattern_codes.T, strict=True)
        }
        frame = pandas.DataFrame({**table, "observed": self.observed_counts, "expected": self.expected_counts})
        return frame.sort_values("observed", ascending=False, kind="stable", ignore_index=True)

    def __str__(self) -> str:
        """Print the statistics, the class sizes and one row for each item and level."""
        proved = f" (at most {self.log_likelihood_bound:.6g})" * math.isfinite(self.log_likelihood_bound)
        missing = f", {self.n_complete:g} of them complete" * (self.n_complete < self.n_samples)
        lines = [
            f"Latent class model: {len(self.class_sizes)} classes, {len(self.columns)} items",
            f"  samples {self.n_samples:g}{missing} ({self.n_patterns} patterns)",
            f"  log-likelihood {self.log_likelihood:.6g}{proved}",
            f"  free parameters {self.n_parameters}, residual degrees of freedom {self.degrees_of_freedom}",
            f"  AIC {self.aic:.6g}, BIC {self.bic:.6g}, G^2 {self.g_squared:.6g}, X^2 {self.x_squared:.6g}, "
            f"relative entropy {self.relative_entropy:.4g}",
        ]
        rows = [["", *self.class_names], ["size", *(f"{size:.4f}" for size in self.class_sizes)]]
        for name, levels, table in list(zip(self.columns, self.categories, self.probabilities, strict=True))[
            :MOST_ITEMS_SHOWN
        ]:
            rows += [[f"{name} = {level}", *(f"{p:.4f}" for p in table[:, c])] for c, level in enumerate(levels)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines += [
            "  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
        ]
        if len(self.columns) > MOST_ITEMS_SHOWN:
            lines.append(f"  ... {len(self.columns) - MOST_ITEMS_SHOWN} more items")
        return "\n".join(lines)


def statistics(problem, solution, lower_bound):
    """
    Make the LatentClassFit of a solution.

    Parameters
    ----------
    problem : LatentClass
    solution : MixtureSolution
    lower_bound : float
        Of the objective, as proved.
    """
    checked = problem.check_parameters(solution.probabilities)
    sizes, tables = problem._check_weights(solution.weights), checked["probabilities"]
    used = problem.sample_weight > 0.0
    weight = problem.sample_weight[used]
    scores = (log_zero(sizes) + problem._log_kernel(checked))[used]
    log_rows = log_sum_exp(scores)
    value, N = float(weight @ log_rows), float(weight.sum())
    patterns, first, index = np.unique(problem.X[used], axis=0, return_index=True, return_inverse=True)
    complete = (patterns >= 0).all(axis=1)
    counts = np.bincount(index.reshape(-1), weight)[complete]
    expected = counts.sum() * np.exp(log_rows[first][complete])
    some = bool(complete.any())
    cells = math.prod(problem.n_categories)
    n_parameters = problem.n_parameters
    return LatentClassFit(
        n_samples=N,
        n_complete=float(counts.sum()),
        n_patterns=len(patterns),
        n_parameters=n_parameters,
        degrees_of_freedom=int(min(N, cells - 1)) - n_parameters,
        log_likelihood=value,
        log_likelihood_bound=-float(lower_bound) if problem.prior is None else math.inf,
        aic=-2.0 * value + 2.0 * n_parameters,
        bic=-2.0 * value + math.log(N) * n_parameters,
        g_squared=2.0 * float(xlogy(counts, counts / expected).sum()) if some else math.nan,
        x_squared=float((np.square(counts - expected) / expected).sum() + counts.sum() - expected.sum())
        if some
        else math.nan,
        relative_entropy=_relative_entropy(scores - log_rows[:, np.newaxis], weight),
        class_sizes=sizes,
        probabilities=tables,
        columns=problem.columns,
        categories=problem.categories,
        bivariate_residuals=_bivariate_residuals(problem.X[used], weight, sizes, tables),
        pattern_codes=patterns[complete],
        observed_counts=counts,
        expected_counts=expected,
    )


def _relative_entropy(log_tau, weight):
    """One less the entropy of the responsibilities over its largest value."""
    tau, K = np.exp(log_tau), log_tau.shape[1]
    if K == 1:
        return 1.0
    return 1.0 + float(weight @ xlogy(tau, tau).sum(axis=1)) / (weight.sum() * math.log(K))


def _bivariate_residuals(X, weight, sizes, tables):
    """Pearson's statistic of each pair of items over its degrees of freedom, (d, d), of the rows that have both."""
    d = X.shape[1]
    found = np.full((d, d), math.nan)
    for j in range(d):
        for other in range(j):
            C, D = tables[j].shape[1], tables[other].shape[1]
            seen = (X[:, j] >= 0) & (X[:, other] >= 0)
            if C < 2 or D < 2 or not seen.any():
                continue
            cells = np.bincount(X[seen, j] * D + X[seen, other], weight[seen], minlength=C * D)
            expected = weight[seen].sum() * ((sizes[:, np.newaxis] * tables[j]).T @ tables[other]).ravel()
            possible = expected > 0.0
            statistic = np.square(cells - expected)[possible] / expected[possible]
            found[j, other] = found[other, j] = statistic.sum() / ((C - 1) * (D - 1))
    return found
