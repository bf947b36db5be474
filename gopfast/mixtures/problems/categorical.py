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
        columns = [_labels(f"X[:, {j}]", column) for j, column in enumerate(_as_table(X).T)]
        if categories is None:
            found = [np.unique(column, return_inverse=True) for column in columns]
        else:
            found = [
                _encoded(j, column, given)
                for j, (column, given) in enumerate(zip(columns, _check_list(categories, len(columns)), strict=True))
            ]
        self._store(
            np.stack([codes for _, codes in found], axis=1),
            n_components,
            sample_weight,
            categories=tuple(labels for labels, _ in found),
            prior=DirichletPrior.checked(prior),
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
        return sum(log_zero(p).T[codes] for p, codes in zip(parameters["probabilities"], self.X.T, strict=True))

    @property
    def _prior_draws(self) -> list:
        """The Dirichlet prior of each column's probabilities."""
        if self.prior is None:
            return []
        return [(DirichletPrior(self.prior, n_labels), self.n_components) for n_labels in self.n_categories]

    def _m_step(self, mass, weights, former):
        counts = self._label_statistics(mass)
        return {"probabilities": tuple(array / array.sum(axis=1, keepdims=True) for array in counts)}

    def _label_statistics(self, mass):
        """Return for each column the masses of the labels in each component, (K, C_j), the prior's own added."""
        arrays = []
        for codes, n_labels in zip(self.X.T, self.n_categories, strict=True):
            counts = np.stack([np.bincount(codes, m, minlength=n_labels) for m in mass.T])
            arrays.append(counts + ((self.prior or 1.0) - 1.0))
        return arrays

    def _record_of_proof(self):
        """Name the labels of every column and the prior; None where no column has two."""
        if max(self.n_categories) < 2:
            return None
        labels = [own.tolist() for own in self.categories]
        return {"family": "labels", "n_components": self.n_components, "prior": self.prior, "labels": labels}

    def _data_of_proof(self):
        """Return the labels."""
        columns = [own.astype(object)[codes] for own, codes in zip(self.categories, self.X.T, strict=True)]
        return np.stack(columns, axis=1)

    def _coordinates(self, blocks):
        """Take the logarithms of the probabilities."""
        return {"probabilities": blocks.Labels(self)}

    def _points(self):
        """Take indicator columns, over the root of 2: the squared distance counts the labels that differ."""
        indicators = [np.eye(size)[codes] for size, codes in zip(self.n_categories, self.X.T, strict=True)]
        return np.hstack(indicators) / np.sqrt(2.0)

    def _inside(self, probabilities, most):
        if not any((p == 1.0).any() for p in probabilities):
            return probabilities
        return tuple(np.clip(p, 1.0 - most, most) if p.shape[1] == 2 else p for p in probabilities)

    def _closed_form(self, X, w):
        """Match the shares of the labels."""
        constants, sizes = ([pair[i] for pair in self._prior_constants()] for i in range(2))
        probabilities, terms, attained = [], list(constants), list(constants)
        for codes, n in zip(X.T, self.n_categories, strict=True):
            ends = np.cumsum(np.bincount(codes, minlength=n))[:-1]
            groups = np.split(w[np.argsort(codes, kind="stable")], ends)
            counts = np.array([math.fsum(group) for group in groups]) + ((self.prior or 1.0) - 1.0)
            total = math.fsum(counts)
            probabilities.append((counts / total)[np.newaxis])
            # All but the largest are at most half of the total: nothing cancels.
            largest = counts.argmax()
            others = total - counts
            others[largest] = math.fsum(np.delete(counts, largest))
            terms += [*closed_form.shares(counts, others)]
            attained += [*-xlogy(counts, counts / total)]
        found = closed_form.settled({"probabilities": tuple(probabilities)}, terms, sizes)
        return closed_form.at_floats(found, attained, sizes)

    def _family(self, core):
        """Make one column per label, 1 where the sample has it; of two labels one column is enough, of one none."""
        K, alpha, sizes = self.n_components, self.prior or 1.0, self.n_categories
        columns, kinds, groups = [], [], []
        for j, (codes, n) in enumerate(zip(self.X.T, sizes, strict=True)):
            labels = range(n) if n > 2 else range(1, n)
            columns += [codes == label for label in labels]
            kinds += ["label" if n > 2 else "bernoulli"] * len(labels)
            groups += [j] * len(labels)
        if not columns:  # nothing to estimate but weights: a column of zeros
            columns, kinds, groups = [np.zeros(self.n_samples)], ["bernoulli"], [0]
            alpha = 1.0
        size = np.array([sizes[j] for j in groups])
        ends = np.cumsum([max(n - 1, 0) if n <= 2 else n for n in sizes])

        def decode(means):
            parts = np.split(means[:, : ends[-1]], ends[:-1], axis=1)
            return tuple(
                np.column_stack([1.0 - part.sum(axis=1), part]) if n <= 2 else part
                for part, n in zip(parts, sizes, strict=True)
            )

        def encode(probabilities):
            parts = [p[:, 1:] if n <= 2 else p for p, n in zip(probabilities, sizes, strict=True)]
            return np.hstack(parts) if ends[-1] else np.zeros((K, 1))

        X, w = core.columns.merged(np.column_stack(columns).astype(float), self.sample_weight)
        return core.columns.family(
            self, X, w, kinds, size * (alpha - 1.0), [alpha - 1.0] * len(kinds), groups=groups,
            constants=self._prior_constants(), decode=decode, encode=encode,
        )  # fmt: skip


def _as_table(X):
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
    raise InputTypeError(f"{name} must hold labels of one kind, strings or integers")


def _encoded(j, column, given):
    """Return the given categories of column j and the codes of its labels."""
    labels = _labels(f"categories[{j}]", checks.as_columns(f"categories[{j}]", np.asarray(given, dtype=object))[:, 0])
    if len(np.unique(labels)) != len(labels):
        raise InputError(f"categories[{j}] must not repeat a label")
    place = {label: code for code, label in enumerate(labels.tolist())}
    found, inverse = np.unique(column, return_inverse=True)
    missing = [label for label in found.tolist() if label not in place]
    if missing:
        raise InputError(f"categories[{j}] must have every label of column {j} of X; {missing[0]!r} is missing")
    return labels, np.array([place[label] for label in found.tolist()], dtype=np.intp)[inverse]


def _check_list(value, length, name="categories"):
    """Return a sequence of one entry for each column as a list."""
    if isinstance(value, (list, tuple)) and len(value) == length:
        return list(value)
    raise InputTypeError(f"{name} must be a list with one entry for each of the {length} columns")
