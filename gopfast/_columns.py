"""Columns of statistics that the exponential families' compiled core runs on, from a problem object."""

import math

import numpy as np
from scipy.special import betaln, gammaln

from gopfast._exponential import ExponentialFamily
from gopfast._samples import Samples
from gopfast.errors import InputError

# Data of a wider range cannot be scaled to it: their squares, and what they are divided by, would be out of range.
MOST_DECADES = 140


def bernoulli(problem):
    """Take zeros and ones as they are."""
    X, K, d = problem.X, problem.n_components, problem.n_features
    a, b = problem.prior or (1.0, 1.0)
    return _family(
        problem, X, ["bernoulli"] * d, [a + b - 2.0] * d, [a - 1.0] * d,
        constant=K * d * betaln(a, b), decode=np.array, encode=np.array,
    )  # fmt: skip


def poisson(problem):
    """Take counts as they are; rates are relative to the average, which keeps the terms of large counts small."""
    X, w, K = problem.X, problem.sample_weight, problem.n_components
    shape, rate = problem.prior or (1.0, 0.0)
    W, T = math.fsum(w), np.array([math.fsum(column * w) for column in X.T])
    average = (T + K * (shape - 1.0)) / (W + K * rate)
    reference = np.where(average > 0.0, average, 1.0)
    shift = np.concatenate([
        (w[:, np.newaxis] * gammaln(X + 1.0)).ravel(),
        (W + K * rate) * reference,
        -(T + K * (shape - 1.0)) * np.log(reference),
    ])  # fmt: skip
    return _family(
        problem, X, ["poisson"] * X.shape[1], [rate] * X.shape[1], [shape - 1.0] * X.shape[1],
        constant=math.fsum(shift) + _gamma_constant(problem), reference=reference, decode=np.array, encode=np.array,
    )  # fmt: skip


def exponential(problem):
    """Take waiting times in units near their average, powers of 2: nothing is rounded."""
    X, w, K, d = problem.X, problem.sample_weight, problem.n_components, problem.n_features
    shape, rate = problem.prior or (1.0, 0.0)
    W = math.fsum(w)
    average = np.array([math.fsum(column * w / W) for column in X.T])
    scale = 2.0 ** np.floor(np.log2(np.where(average > 0.0, average, 1.0)))
    for j, column in enumerate((X / scale)[w > 0.0].T):
        least = column[column > 0.0].min(initial=1.0)
        if max(column.max(initial=1.0), 1.0 / least, rate / scale[j]) > 10.0**MOST_DECADES:
            raise InputError(f"X spans more than {MOST_DECADES} decades in column {j}")
    constant = (W + K * (shape - 1.0)) * float(np.log(scale).sum()) + _gamma_constant(problem)
    return _family(
        problem, X, ["exponential"] * d, [shape - 1.0] * d, rate / scale, scale=scale, constant=constant,
        decode=_inverse, encode=_inverse,
    )  # fmt: skip


def categorical(problem):
    """Make one column per label, 1 where the sample has it; of two labels one column is enough, of one none."""
    K, alpha = problem.n_components, problem.prior or 1.0
    sizes = problem.n_categories
    columns, kinds, groups = [], [], []
    constant = 0.0
    for j, (codes, n) in enumerate(zip(problem.X.T, sizes, strict=True)):
        if problem.prior is not None:
            constant += K * (n * math.lgamma(alpha) - math.lgamma(n * alpha))
        labels = range(n) if n > 2 else range(1, n)
        columns += [codes == label for label in labels]
        kinds += ["label" if n > 2 else "bernoulli"] * len(labels)
        groups += [j] * len(labels)
    if not columns:  # nothing to estimate but weights: a column of zeros
        columns, kinds, groups = [np.zeros(problem.n_samples)], ["bernoulli"], [0]
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

    return _family(
        problem, np.column_stack(columns).astype(float), kinds, size * (alpha - 1.0), [alpha - 1.0] * len(kinds),
        groups=groups, constant=constant, decode=decode, encode=encode,
    )  # fmt: skip


def _family(problem, X, kinds, prior_mass, prior_moment, *, constant, decode, encode, scale=None, reference=None,
            groups=None):  # fmt: skip
    d = X.shape[1]
    data = Samples(*merged(X, problem.sample_weight), np.ones(d) if scale is None else scale, np.zeros(d))
    return ExponentialFamily(
        data, problem.n_components, kinds, prior_mass, prior_moment, np.ones(d) if reference is None else reference,
        np.zeros(d, dtype=int) if groups is None else groups, constant, problem.parameter_names[0], decode, encode,
    )  # fmt: skip


def merged(X, weights):
    """
    Merge equal rows.

    Returns
    -------
    X : ndarray, shape (m, d)
        The different rows.
    weights : ndarray, shape (m,)
        Their summed weights, rounded once.
    """
    rows, index = np.unique(X, axis=0, return_inverse=True)
    if len(rows) == len(X):
        return X, weights
    index = index.reshape(-1)
    groups = np.split(weights[np.argsort(index, kind="stable")], np.cumsum(np.bincount(index))[:-1])
    return rows, np.array([math.fsum(group) for group in groups])


def _gamma_constant(problem):
    """Negative logarithm of the Gamma priors' normalisers, of all rates."""
    if problem.prior is None:
        return 0.0
    shape, rate = problem.prior
    return problem.n_components * problem.n_features * (math.lgamma(shape) - shape * math.log(rate))


def _inverse(values):
    with np.errstate(divide="ignore"):
        return 1.0 / np.asarray(values, dtype=float)
