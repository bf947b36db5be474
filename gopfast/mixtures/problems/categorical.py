"""Mixtures of products of categorical distributions, for labels."""

import math
import numbers
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from gopfast import checks
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.problems import closed_form
from gopfast.mixtures.problems.base import log_zero
from gopfast.mixtures.problems.priors import DirichletPrior
from gopfast.mixtures.problems.separable import SeparableMixture

# Code of an entry that is missing (`LatentClass`): its column's factor leaves the product.
MISSING = -1


class CategoricalMixture(SeparableMixture):
    """
    Mixture of products of categorical distributions (latent class model).

    The objective is the negative log-likelihood, or with a prior the negative log posterior density, with all
    constants::

        p(x_i | p_k) = prod_j p_kj[x_ij],    p_kj ~ Dirichlet(alpha, ..., alpha)

    `gopfast.models.MixtureProblem` has the attributes that are not listed here.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, d)
        Labels: integers (also as whole floats), strings or booleans, one kind per column.
    n_components : int
        Number of components K, from 1 to n.
    categories : sequence of d sequences, optional
        The categories of each column, without repetition. By default those found, sorted.
    prior : None or float
        None: maximum likelihood. alpha: a symmetric Dirichlet prior of every distribution, alpha at least 1
        (below 1 its density is unbounded); the result is the maximum a posteriori estimate.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray of int, shape (n, d)
        Read-only codes: ``categories[j][X[i, j]]`` is the label.
    categories : tuple of d ndarrays
        Read-only; the j-th has shape (C_j,).
    n_categories : tuple of int
        The C_j.
    parameter_names : tuple of str
        "probabilities", a tuple of d arrays of shape (K, C_j) with rows on the simplex; entries of 0 are
        allowed, with ``0 log 0 = 0``.

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value, such as categories that lack a label of the data;
        `InputTypeError` if it is of a wrong kind, such as numbers that are no labels.

    Examples
    --------
    >>> from gopfast.models import CategoricalMixture
    >>> CategoricalMixture([["red", 1], ["blue", 3], ["red", 3]], 2)
    CategoricalMixture(n_samples=3, n_features=2, n_components=2, n_categories=(2, 2), prior=None)
    """

    parameter_names = ("probabilities",)
    prior: float | None
    categories: tuple[NDArray[np.int64 | np.str_], ...]
    _flat_priors = (None, 1.0)

    def __init__(
        self,
        X: ArrayLike | Sequence[object],
        n_components: int,
        *,
        categories: Sequence[ArrayLike | Sequence[object]] | None = None,
        prior: float | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        table = as_table(X)
        self._store_labels(
            table, np.ones(table.shape, dtype=bool), n_components, categories, prior, sample_weight,
            columns=checks.column_names(X),
        )  # fmt: skip

    def _column_as_given(self, j):
        codes = self.X[:, j]
        return np.where(codes == MISSING, None, self.categories[j].astype(object)[codes])

    def _rows_like(self, X):
        """Code labels, which must be among the categories."""
        checks.of_columns("X", as_table(np.ma.getdata(X) if np.ma.isMaskedArray(X) else X), self.n_features)
        return type(self)(X, 1, categories=list(self.categories)).X

    def _draw(self, rng, components, parameters):
        drawn = np.empty((len(components), self.n_features), dtype=object)
        for j, (labels, table) in enumerate(zip(self.categories, parameters["probabilities"], strict=True)):
            reached = np.cumsum(table[components], axis=1)
            # The last sum may be a little below 1.
            codes = (rng.random((len(components), 1)) * reached[:, -1:] >= reached).sum(axis=1)
            drawn[:, j] = labels[np.minimum(codes, len(labels) - 1)]
        kinds = {labels.dtype.kind for labels in self.categories}
        return drawn.astype(np.result_type(*self.categories)) if len(kinds) == 1 else drawn

    def _store_labels(self, table, observed, n_components, categories, prior, sample_weight, **others):
        """Code the labels of a table (n, d), of which those `observed` are given, and set every attribute."""
        d = table.shape[1]
        given = [None] * d if categories is None else _check_list(categories, d)
        found = [
            coded(f"X[:, {j}]", table[:, j], observed[:, j], given[j], f"categories[{j}]") for j in range(d)
        ]
        self._store(
            np.stack([codes for _, codes in found], axis=1),
            n_components,
            sample_weight,
            categories=tuple(labels for labels, _ in found),
            prior=DirichletPrior.checked(prior),
            **others,
        )

    def _model_names(self):
        return ("n_categories", "prior")

    @property
    def n_categories(self) -> tuple[int, ...]:
        """Number of categories of each column."""
        return tuple(len(labels) for labels in self.categories)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights and, for each component and column, C_j - 1 probabilities."""
        return self.n_components * (1 + sum(self.n_categories) - self.n_features) - 1

    @property
    def _n_columns_to_identify(self):
        return 3 if max(self.n_categories) > 2 else 2 * self.n_components - 1

    def _check_values(self, probabilities):
        arrays = []
        for j, value in enumerate(_check_list(probabilities, self.n_features, "probabilities")):
            name = f"probabilities[{j}]"
            array = checks.of_shape(
                name, checks.real_array(name, value), (self.n_components, self.n_categories[j])
            )
            arrays.append(checks.simplex(name, array))
        return (tuple(arrays),)

    def _log_kernel(self, parameters):
        pairs = zip(parameters["probabilities"], self.X.T, strict=True)
        return sum((_of_codes(log_zero(p).T, codes) for p, codes in pairs), np.zeros(1))

    @property
    def _prior_draws(self) -> list:
        """The Dirichlet prior of each column's probabilities."""
        if self.prior is None:
            return []
        return [(DirichletPrior(self.prior, n_labels), self.n_components) for n_labels in self.n_categories]

    def _m_step(self, mass, weights, former):
        counts = self._label_statistics(mass)
        before = former["probabilities"] if former else [None] * len(counts)
        return {"probabilities": tuple(map(shares, counts, before))}

    def _label_statistics(self, mass):
        """Return for each column the masses of the labels in each component, (K, C_j), the prior's own added."""
        arrays = []
        for codes, n_labels in zip(self.X.T, self.n_categories, strict=True):
            seen = codes != MISSING
            codes, own = (codes, mass) if seen.all() else (codes[seen], mass[seen])
            counts = np.stack([np.bincount(codes, m, minlength=n_labels) for m in own.T])
            arrays.append(counts + ((self.prior or 1.0) - 1.0))
        return arrays

    def _record_of_proof(self):
        """Name the labels of every column and the prior; None where no column has two, or one has no entry."""
        if max(self.n_categories) < 2 or (self.X[self.sample_weight > 0] == MISSING).all(axis=0).any():
            return None
        labels = [own.tolist() for own in self.categories]
        return {"family": "labels", "n_components": self.n_components, "prior": self.prior, "labels": labels}

    def _data_of_proof(self):
        """Return the labels; None where an entry is missing."""
        columns = [np.append(own.astype(object), None)[codes]  # MISSING is the last
                   for own, codes in zip(self.categories, self.X.T, strict=True)]  # fmt: skip
        return np.stack(columns, axis=1)

    def _coordinates(self, blocks):
        """Take the logarithms of the probabilities."""
        return {"probabilities": blocks.Labels(self)}

    def _points(self):
        """
        Take indicator columns, over the root of 2: the squared distance counts the labels that differ.

        A missing entry has the column's shares.
        """
        indicators = []
        for size, codes in zip(self.n_categories, self.X.T, strict=True):
            table, seen = np.eye(size)[codes], codes != MISSING
            if not seen.all():
                table[~seen] = table[seen].mean(axis=0) if seen.any() else 1.0 / size
            indicators.append(table)
        return np.hstack(indicators) / np.sqrt(2.0)

    def _inside(self, probabilities, most):
        if not any((p == 1.0).any() for p in probabilities):
            return probabilities
        return tuple(np.clip(p, 1.0 - most, most) if p.shape[1] == 2 else p for p in probabilities)

    def _closed_form(self, X, w):
        """Match the shares of the labels."""
        constants, sizes = ([pair[i] for pair in self._prior_constants()] for i in range(2))
        probabilities, terms, attained = [], list(constants), list(constants)
        for column, n in zip(X.T, self.n_categories, strict=True):
            seen = column != MISSING
            codes, own = column[seen], w[seen]
            ends = np.cumsum(np.bincount(codes, minlength=n))[:-1]
            groups = np.split(own[np.argsort(codes, kind="stable")], ends)
            counts = np.array([math.fsum(group) for group in groups]) + ((self.prior or 1.0) - 1.0)
            total = math.fsum(counts)
            if total == 0.0:  # nothing is known of it
                probabilities.append(np.full((1, n), 1.0 / n))
                continue
            probabilities.append((counts / total)[np.newaxis])
            # All but the largest are at most half of the total: nothing cancels.
            largest = counts.argmax()
            others = total - counts
            others[largest] = math.fsum(np.delete(counts, largest))
            terms += [*closed_form.shares(counts, others)]
            attained += [*-xlogy(counts, counts / total)]
        found = closed_form.settled({"probabilities": tuple(probabilities)}, terms, sizes)
        return closed_form.at_floats(found, attained, sizes)

    def _layouts(self):
        """Return for each variable the labels that have a column in the core, by the samples that have a weight."""
        X = self.X[self.sample_weight > 0.0]
        return [_layout(codes, n) for codes, n in zip(X.T, self.n_categories, strict=True)]

    def _statistics(self):
        """Return indicators of labels; where there is nothing to estimate but weights a column of zeros."""
        pairs = zip(self.X.T, self._layouts(), strict=True)
        columns = [codes == label for codes, layout in pairs for label in layout]
        return np.column_stack(columns or [np.zeros(self.n_samples)]).astype(float)

    def _family(self):
        """
        Make one column per label, 1 where the sample has it; of two labels one column is enough, of one none.

        Where entries are missing all columns of the variable are 0, and two labels have two. A variable without any
        entry has no columns, only the mode of its prior.
        """
        from gopfast.mixtures.families.columns import family, merged  # compiled, as problems are not

        K, alpha, used = self.n_components, self.prior or 1.0, self.sample_weight > 0.0
        X, weight, layouts = self.X[used], self.sample_weight[used], self._layouts()
        groups = [j for j, layout in enumerate(layouts) for _ in layout]
        kinds = ["label" if layouts[j][0] == 0 else "bernoulli" for j in groups]
        constants = self._prior_constants()
        constants += [
            (K * n * (alpha - 1.0) * math.log(n),) * 2
            for codes, n in zip(X.T, self.n_categories, strict=True)
            if (codes == MISSING).all()
        ]
        if not groups:
            kinds, groups = ["bernoulli"], [0]
            alpha = 1.0
        size = np.array([self.n_categories[j] for j in groups])
        ends = np.cumsum([len(layout) for layout in layouts])

        def decode(means):
            parts = np.split(means[:, : ends[-1]], ends[:-1], axis=1)
            return tuple(map(_whole, parts, self.n_categories))

        def encode(probabilities):
            parts = [p[:, list(layout)] for p, layout in zip(probabilities, layouts, strict=True)]
            return np.hstack(parts) if ends[-1] else np.zeros((K, 1))

        rows, w = merged(self._statistics()[used], weight)
        return family(
            self, rows, w, kinds, size * (alpha - 1.0), [alpha - 1.0] * len(kinds), groups=groups,
            constants=constants, decode=decode, encode=encode,
        )  # fmt: skip


def _layout(codes, n):
    """Return the labels of a variable that have a column in the core: all, the second of two, or none."""
    seen = codes != MISSING
    if n == 1 or not seen.any():
        return range(0)
    return range(1, 2) if n == 2 and seen.all() else range(n)


def _whole(part, n):
    """Return probabilities (K, n) of those that have columns in the core."""
    K, m = part.shape
    if m == n:
        return part
    return np.full((K, n), 1.0 / n) if m == 0 else np.column_stack([1.0 - part.sum(axis=1), part])


def _of_codes(rows, codes):
    """Rows (n, K) of a table of logarithms (C, K); 0 where the code is missing."""
    found, seen = rows[codes], codes != MISSING
    return found if seen.all() else np.where(seen[:, np.newaxis], found, 0.0)


def shares(counts, former):
    """Shares of counts (K, C); components that have none keep the former ones, or get those of all."""
    total = counts.sum(axis=1, keepdims=True)
    if (total > 0.0).all():
        return counts / total
    if former is None:
        pooled = counts.sum(axis=0) if total.any() else np.ones(counts.shape[1])
        former = np.broadcast_to(pooled / pooled.sum(), counts.shape)
    return np.where(total > 0.0, counts / np.where(total > 0.0, total, 1.0), former)


def as_table(X):
    """Return an array of shape (n, d) of labels; lists and data frames keep the kind of each entry."""
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise InputError("X must not have masked entries")
    try:
        table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    except ValueError as error:
        raise InputTypeError(f"X must be an array of labels; {error}") from None
    return checks.as_columns("X", table)


def _labels(name, column):
    """Return labels of one kind as an array of integers or strings."""
    kinds = {type(label) for label in column} if column.dtype.kind == "O" else {column.dtype.type}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return np.array(column.tolist())
    if kinds and all(issubclass(kind, (numbers.Real, np.bool_)) for kind in kinds):
        values = np.array(column.tolist(), dtype=float)
        # NaN and infinities are no whole numbers either; beyond 2^53 neighbours are the same float.
        if (np.abs(values) <= 2.0**53).all() and (values == np.floor(values)).all():
            return values.astype(np.int64)
    hint = "; missing entries are for LatentClass" if any(map(checks.says_missing, column)) else ""
    raise InputTypeError(f"{name} must hold labels of one kind, strings or integers{hint}")


def coded(name, column, seen, given, of_categories="categories"):
    """
    Code the labels of a column.

    Parameters
    ----------
    name : str
        The column's, for messages.
    column : ndarray of object, shape (n,)
    seen : ndarray of bool, shape (n,)
        Where it has an entry.
    given : sequence or None
        Its categories; by default those found, sorted.
    of_categories : str
        Name of `given`, for messages.

    Returns
    -------
    labels : ndarray, shape (C,)
    codes : ndarray of int, shape (n,)
        MISSING where none is seen.
    """
    codes = np.full(len(column), MISSING, dtype=np.intp)
    if not seen.any():
        return _given_labels(of_categories, given), codes
    values = _labels(name, column[seen])
    if given is None:
        labels, codes[seen] = np.unique(values, return_inverse=True)
    else:
        labels, codes[seen] = _encoded(name, of_categories, values, given)
    return labels, codes


def _given_labels(name, given):
    """Return given categories."""
    labels = _labels(name, checks.as_columns(name, np.asarray(given, dtype=object))[:, 0])
    if len(np.unique(labels)) != len(labels):
        raise InputError(f"{name} must not repeat a label")
    return labels


def _encoded(name, of_categories, column, given):
    """Return given categories and the codes of a column's labels."""
    labels = _given_labels(of_categories, given)
    place = {label: code for code, label in enumerate(labels.tolist())}
    found, inverse = np.unique(column, return_inverse=True)
    missing = [label for label in found.tolist() if label not in place]
    if missing:
        raise InputError(f"{of_categories} must have every label of {name}; {missing[0]!r} is missing")
    return labels, np.array([place[label] for label in found.tolist()], dtype=np.intp)[inverse]


def _check_list(value, length, name="categories"):
    """Return a sequence of one entry for each column as a list."""
    if isinstance(value, (list, tuple)) and len(value) == length:
        return list(value)
    raise InputTypeError(f"{name} must be a list with one entry for each of the {length} columns")
