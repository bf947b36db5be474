"""Latent class analysis: categorical mixtures of tables with missing entries, and their table of results."""

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import HasSolution
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.problems.categorical import MISSING, CategoricalMixture, as_table
from gopfast.mixtures.problems.latent_class_fit import LatentClassFit, statistics


class LatentClass(CategoricalMixture):
    """
    Latent class model: classes in which the items of a table are independent.

    A `CategoricalMixture` of a table in which entries may be missing. They are taken as missing at random: their
    factor leaves the product,

        p(x_i | p_k) = prod over the items j that are observed in row i of p_kj[x_ij].

    Equal rows are counted as one, so that cost depends on the number of different patterns.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, d), or DataFrame
        Responses, one row per subject and one column per item: integers (also as whole floats), strings or booleans,
        one kind per column. None, NaN, pandas' NA and masked entries are missing.
    n_classes : int
        Number of classes K, from 1 to n.
    missing : label or sequence of labels, optional
        Further codes of missing entries, such as 9 or "n/a".
    categories : sequence of d sequences, optional
        The levels of each item, without repetition. By default those found, sorted.
    prior : None or float
        As of `CategoricalMixture`: None for maximum likelihood.
    sample_weight : array_like of shape (n,), optional
        Frequencies of the rows, at least 0 and not all 0; 1 by default.
    columns : sequence of d str, optional
        Names of the items. By default those of the data frame, or "item 1", "item 2", ...

    Attributes
    ----------
    X : ndarray of int, shape (n, d)
        Read-only codes: ``categories[j][X[i, j]]`` is the label, -1 stands for a missing entry.
    columns : tuple of str
        Names of the items.
    left_out : tuple of str
        Names of columns without any entry and without given categories: they say nothing, and d does not count them.

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value; `InputTypeError` if it is of a wrong kind.

    Examples
    --------
    >>> import gopfast
    >>> X = [["yes", "no"], ["yes", "yes"], ["no", None], ["no", "no"], ["yes", "yes"]]
    >>> problem = gopfast.LatentClass(X, 2)
    >>> problem.n_categories
    (2, 2)
    >>> problem.X[2].tolist()
    [0, -1]
    """

    columns: tuple[str, ...]
    left_out: tuple[str, ...]

    def __init__(
        self,
        X: ArrayLike | Sequence[object],
        n_classes: int,
        *,
        missing: object = None,
        categories: Sequence[ArrayLike | Sequence[object]] | None = None,
        prior: float | None = None,
        sample_weight: ArrayLike | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        names = getattr(X, "columns", None) if columns is None else columns
        if isinstance(X, np.ma.MaskedArray):
            X = np.where(np.ma.getmaskarray(X), None, np.ma.getdata(X).astype(object))
        table = as_table(X).astype(object)
        observed = _observed(table, _missing_codes(missing))
        names = _names(names, table.shape[1])
        kept = observed.any(axis=0) if categories is None else np.ones(len(names), dtype=bool)
        if not kept.any():
            raise InputError("X must have an entry that is not missing")
        checks.whole_number("n_classes", n_classes, 1, len(table))
        self._store_labels(
            table[:, kept], observed[:, kept], n_classes, categories, prior, sample_weight,
            columns=tuple(name for name, keep in zip(names, kept, strict=True) if keep),
            left_out=tuple(name for name, keep in zip(names, kept, strict=True) if not keep),
        )  # fmt: skip

    def _drawn_rows(self, X, rng):
        """Leave out what is missing in rows of the data that are drawn beside."""
        codes = np.array(self._rows_like(X))
        rows = rng.choice(self.n_samples, len(codes), p=self.sample_weight / self.total_weight)
        codes[self.X[rows] == MISSING] = MISSING
        return codes

    def fit_statistics(self, fit: HasSolution) -> LatentClassFit:
        """
        Compute what is reported of a latent class model.

        Parameters
        ----------
        fit : Result, MixtureSolution, or anything with a ``solution``
            Of this problem: ``problem.fit_statistics(gopfast.solve(problem))``.

        Returns
        -------
        LatentClassFit

        Raises
        ------
        InputError
            If the fit has no parameters of this problem.
        """
        solution = getattr(fit, "solution", fit)
        if not hasattr(solution, "weights") or not hasattr(solution, "probabilities"):
            raise InputTypeError(f"fit must have class sizes and probabilities; got {type(fit).__name__}")
        return statistics(self, solution, getattr(fit, "lower_bound", -math.inf))


def _missing_codes(missing):
    """Return the codes of missing entries that a user gives."""
    if missing is None:
        return []
    if isinstance(missing, (list, tuple, set, frozenset, np.ndarray)):
        codes = list(missing)
    else:
        codes = [missing]
    if not all(isinstance(code, Hashable) for code in codes):
        raise InputTypeError("missing must be a label or a sequence of labels")
    return codes


def _observed(table, codes):
    """Return where a table of objects (n, d) has an entry."""
    known = {}

    def is_missing(entry):
        try:
            return known.setdefault(entry, checks.says_missing(entry) or entry in codes)
        except TypeError:  # not hashable, or NA has no truth value
            return checks.says_missing(entry)

    return ~np.array([[is_missing(entry) for entry in row] for row in table], dtype=bool)


def _names(names, n_columns):
    """Return the names of the items."""
    if names is None:
        return [f"item {j + 1}" for j in range(n_columns)]
    names = [str(name) for name in names]
    if len(names) != n_columns:
        raise InputError(f"columns must have one name for each of the {n_columns} columns; got {len(names)}")
    return names
