"""Columns of statistics that the exponential families' compiled core runs on, from a problem object."""

import math

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.exponential import ExponentialFamily
from gopfast.mixtures.problems.log_gamma import gamma_prior, log_beta, log_dirichlet, poisson_cost

# Data of a wider range cannot be scaled to it: their squares, and what they are divided by, would be out of range.
MOST_DECADES = 140


def bernoulli(problem):
    """Take zeros and ones as they are."""
    K, d = problem.n_components, problem.n_features
    a, b = problem.prior or (1.0, 1.0)
    return _family(
        problem, *merged(problem.X, problem.sample_weight), ["bernoulli"] * d, [(a - 1.0) + (b - 1.0)] * d,
        [a - 1.0] * d,
        constants=[] if problem.prior is None else [_times(K * d, log_beta(a, b))], decode=np.array, encode=np.array,
    )  # fmt: skip


def poisson(problem):
    """
    Take counts as they are; costs are relative to those at the average rate, which makes large counts' small.

    The constant is then the cost of the samples, and of the prior, at that rate.
    """
    K, d = problem.n_components, problem.n_features
    X, w = merged(problem.X, problem.sample_weight)
    shape, rate = problem.prior or (1.0, 0.0)
    W, T = math.fsum(w), np.array([math.fsum(column * w) for column in X.T])
    average = (T + K * (shape - 1.0)) / (W + K * rate)
    reference = np.where(average > 0.0, average, 1.0)
    constants = [tuple(math.fsum((w[:, np.newaxis] * part).ravel()) for part in poisson_cost(X, reference))]
    if problem.prior is not None:
        constants += [_times(K, gamma_prior(shape, rate, at)) for at in reference]
    return _family(
        problem, X, w, ["poisson"] * d, [rate] * d, [shape - 1.0] * d,
        constants=constants, reference=reference, decode=np.array, encode=np.array,
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
    constants = [(term, abs(term)) for term in (W + K * (shape - 1.0)) * np.log(scale)]
    if problem.prior is not None:
        normaliser = [math.lgamma(shape), -shape * math.log(rate)]
        constants.append(_times(K * d, (math.fsum(normaliser), math.fsum(map(abs, normaliser)) + 1.0)))
    return _family(
        problem, *merged(X, w), ["exponential"] * d, [shape - 1.0] * d, rate / scale, scale=scale,
        constants=constants, decode=_inverse, encode=_inverse,
    )  # fmt: skip


def categorical(problem):
    """Make one column per label, 1 where the sample has it; of two labels one column is enough, of one none."""
    K, alpha = problem.n_components, problem.prior or 1.0
    sizes = problem.n_categories
    columns, kinds, groups, constants = [], [], [], []
    for j, (codes, n) in enumerate(zip(problem.X.T, sizes, strict=True)):
        if problem.prior is not None:
            constants.append(_times(K, log_dirichlet(alpha, n)))
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
        problem, *merged(np.column_stack(columns).astype(float), problem.sample_weight), kinds, size * (alpha - 1.0),
        [alpha - 1.0] * len(kinds), groups=groups, constants=constants, decode=decode, encode=encode,
    )  # fmt: skip


def _family(problem, X, weights, kinds, prior_mass, prior_moment, *, constants, decode, encode, scale=None,
            reference=None, groups=None):  # fmt: skip
    """Make the family; `constants` are pairs of a value and its size (see `_log_gamma`)."""
    d = X.shape[1]
    data = Samples(X, weights, np.ones(d) if scale is None else scale, np.zeros(d))
    values, sizes = ([pair[i] for pair in constants] for i in range(2))
    return ExponentialFamily(
        data, problem.n_components, kinds, prior_mass, prior_moment, np.ones(d) if reference is None else reference,
        np.zeros(d, dtype=int) if groups is None else groups, math.fsum(values), math.fsum(sizes),
        problem.parameter_names[0], decode, encode,
    )  # fmt: skip


def _times(factor, pair):
    value, size = pair
    return factor * value, factor * size


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


def _inverse(values):
    with np.errstate(divide="ignore"):
        return 1.0 / np.asarray(values, dtype=float)
