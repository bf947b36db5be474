"""Columns of statistics of the exponential families, from a problem object, apart from the solver's."""

import numpy as np

import gopfast

KINDS = [
    "Bernoulli", "Bernoulli, prior", "Bernoulli, flat prior", "Poisson", "Poisson, prior", "exponential",
    "exponential, prior", "exponential, flat shape", "categorical", "categorical, prior",
    "categorical, missing", "categorical, missing, prior", "multinomial", "multinomial, prior",
]  # fmt: skip


def statistics(problem):
    """Columns (n, c), and the prior's part (c,) of masses and moments, of a problem as the family sees it."""
    X = problem.X
    if isinstance(problem, gopfast.CategoricalMixture):
        alpha = problem.prior or 1.0
        columns, mass = [], []
        for codes, n in zip(X.T, problem.n_categories, strict=True):
            labels = _columns_of(codes[problem.sample_weight > 0], n)
            columns += [codes == label for label in labels]
            mass += [n * (alpha - 1.0)] * len(labels)
        if not columns:  # no item has an entry
            return np.zeros((len(X), 1)), np.zeros(1), np.zeros(1)
        return np.column_stack(columns).astype(float), np.array(mass), np.full(len(mass), alpha - 1.0)
    d = problem.n_features
    if problem.prior is None:
        return X, np.zeros(d), np.zeros(d)
    if isinstance(problem, gopfast.MultinomialMixture):
        return X, np.full(d, d * (problem.prior - 1.0)), np.full(d, problem.prior - 1.0)
    a, b = problem.prior
    if isinstance(problem, gopfast.BernoulliMixture):
        mass, moment = a + b - 2.0, a - 1.0
    elif isinstance(problem, gopfast.PoissonMixture):
        mass, moment = b, a - 1.0
    else:
        mass, moment = a - 1.0, b
    return X, np.full(d, mass), np.full(d, moment)


def _columns_of(codes, n):
    """Labels that have a column: of two one is enough where no entry is missing (-1), of one or no entry none."""
    if n == 1 or (codes < 0).all():
        return []
    return [1] if n == 2 and (codes >= 0).all() else range(n)


def observed(problem):
    """How often samples count in each column of `statistics`, (n, c): not where they have no entry."""
    if isinstance(problem, gopfast.MultinomialMixture):
        return np.broadcast_to(problem.X.sum(axis=1, keepdims=True), problem.X.shape)
    if not isinstance(problem, gopfast.CategoricalMixture):
        return np.ones(statistics(problem)[0].shape)
    X, w = problem.X, problem.sample_weight
    if all(n == 1 or (codes[w > 0] < 0).all() for codes, n in zip(X.T, problem.n_categories, strict=True)):
        return np.ones((len(X), 1))
    seen = [
        np.outer(codes >= 0, np.ones(len(_columns_of(codes[w > 0], n))))
        for codes, n in zip(X.T, problem.n_categories, strict=True)
    ]
    return np.hstack(seen)


def masses_and_moments(problem, tau):
    """S (K,) and T (K, c) of responsibilities, and the means (T + chi) / (S + nu) that are best for them.

    Of a column with missing entries the S in its mean is that of the samples that have one, of rows of counts that of
    all that is counted.
    """
    columns, nu, chi = statistics(problem)
    mass = problem.sample_weight[:, None] * tau
    S, T = mass.sum(axis=0), mass.T @ columns
    return S, T, (T + chi) / (mass.T @ observed(problem) + nu)


def coordinates(problem, family, means):
    """Connected variables (K, c) of means in the user's columns, components in any order."""
    core = family.data.from_user(means)
    return np.log(core) if isinstance(problem, gopfast.ExponentialMixture) else core
