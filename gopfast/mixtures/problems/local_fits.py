"""
How narrow the components of sound local fits are, from which the default floor of free variances follows.

A floor that binds such a fit makes the model worse than what any program for mixtures finds; one far below it leaves
spikes on a few samples, and bounds that are loose for nothing. The fits are a few runs of EM from k-means, on a sample
of the distinct rows (`row_sample`) where there are many: they need not be the best ones, only about as narrow.

Theory: (A6) of docs/theory/problem.md.
"""

import numpy as np

from gopfast.mixtures.problems.base import average, log_sum_exp, log_zero
from gopfast.mixtures.problems.tuning import (
    ABOVE_FLOOR,
    ABOVE_STEPS,
    GAIN,
    HELD,
    LEAST_ROWS,
    LEAST_SHARE,
    LEAST_WEIGHT,
    MOST_EM,
    MOST_LLOYD,
    MOST_VALUES,
    N_STARTS,
)

# Of half a step's square, what rounding adds to the variance in every direction (Sheppard): step^2 / 12.
ROUNDING = 1.0 / 3.0
SEED = 0
TINY = np.finfo(float).tiny


def below_fits(rows, weight, make_kind, unit, resolved):
    """
    Compute floors that no sound component of the local fits comes near.

    Parameters
    ----------
    rows : ndarray, shape (n, d)
        Distinct.
    weight : ndarray, shape (n,)
        Positive.
    make_kind : callable (least) -> CovarianceKind
        Makes the kind of covariance, of K components in d columns, with a floor of shape (d,).
    unit : ndarray, shape (d,)
        The largest floors.
    resolved : ndarray, shape (d,)
        Variances below which no component falls, whatever it gains: of columns with steps.

    Returns
    -------
    ndarray, shape (d,)
        `unit` divided by powers of 2, so that the least variances are at least `ABOVE_FLOOR` times as large: of each
        column, of kinds that pool the columns of all together; at least `resolved`. Of matrices divided again for the
        directions between the columns, in which the steps of correlated columns need not show.
    """
    counted = weight >= LEAST_WEIGHT * weight.max()
    if np.count_nonzero(counted) < LEAST_ROWS:
        return np.maximum(unit, resolved)  # no component is sound
    # so that sums neither under- nor overflow
    rows, weight = rows[counted], np.ldexp(weight[counted], -np.frexp(weight.max())[1])
    rows = rows - average(weight[:, np.newaxis], rows)  # squares of differences keep their digits
    spread = average(weight[:, np.newaxis], np.square(rows))[0]
    scaled = rows / np.sqrt(np.where(spread > 0.0, spread, 1.0))
    values = [np.unique(column, return_inverse=True)[1] for column in rows.T]
    kind, rng = make_kind(unit), np.random.default_rng(SEED)
    n_own = 1 if kind.shared else kind.n_components
    variances, matrices, sound = [], [], []
    for start in range(N_STARTS if kind.n_components > 1 else 1):
        # By turns in units of the columns' spread and in the user's: an outlier hides the clusters of its column.
        mass = nearest(rows if start % 2 else scaled, weight, kind.n_components, rng)
        least = ROUNDING if kind.free_form else 1.0
        fitted = make_kind(np.maximum(least * resolved, LEAST_SHARE * _within(rows, mass, spread)))
        _, covariances, tau = climb(fitted, rows, weight, mass)
        variances.append(kind.variances(covariances)[:n_own])
        matrices.append(kind.matrices(covariances)[:n_own])
        sound.append(_enough_rows(kind, tau)[:, np.newaxis] & _varied_columns(kind, tau, values))
    variances, matrices, sound = map(np.concatenate, (variances, matrices, sound))
    if not kind.floor_per_column:
        least = variances[sound.any(axis=1), :1].min(axis=0, initial=np.inf)
        return np.maximum(unit * _power_of_2(least / unit.min()), resolved)
    floors = unit * _power_of_2(np.where(sound, variances, np.inf).min(axis=0) / unit)
    if kind.free_form:
        floors = floors * _power_of_2(_least_ratio(matrices, sound, floors))
        ratio = _least_ratio(matrices, sound, np.maximum(floors, resolved))
        if ratio < ABOVE_STEPS:
            resolved = resolved * _power_of_2(ratio, ABOVE_STEPS)
    return np.maximum(floors, resolved)


def _power_of_2(ratio, above=ABOVE_FLOOR):
    """Return the largest power of 2, at most 1, by which a floor is so many times below a variance."""
    return np.exp2(np.floor(np.log2(np.minimum(ratio / above, 1.0))))


def _least_ratio(matrices, sound, floors):
    """Return the least eigenvalue in units of floors (d,), each matrix in the space of its sound columns."""
    return min(map(_least_eigenvalue, matrices / np.sqrt(np.outer(floors, floors)), sound))


def _least_eigenvalue(matrix, columns):
    """Return the least eigenvalue in the space of some columns, a mask; infinite of none."""
    return np.linalg.eigvalsh(matrix[columns][:, columns]).min(initial=np.inf)


def _within(rows, mass, spread):
    """Return the variances (d,) within clusters of masses (n, K); of columns that do not vary there those of all."""
    means = mass.T @ rows / np.maximum(mass.sum(axis=0), TINY)[:, np.newaxis]
    within = sum(one @ np.square(rows - mean) for one, mean in zip(mass.T, means, strict=True)) / mass.sum()
    return np.where(within > 0.0, within, spread)


def nearest(rows, weight, K, rng):
    """Return the masses (n, K) of clusters by k-means from a k-means++ start: each row's weight is with one."""
    centers = rows[[rng.choice(len(rows), p=weight / weight.sum())]]
    while len(centers) < K:
        away = weight * _squares(rows, centers).min(axis=1)
        if not away.sum() > 0.0:
            break  # fewer distinct rows than clusters
        centers = np.concatenate([centers, rows[[rng.choice(len(rows), p=away / away.sum())]]])
    for _ in range(MOST_LLOYD):
        mass = np.zeros((len(rows), K))
        mass[np.arange(len(rows)), _squares(rows, centers).argmin(axis=1)] = weight
        kept = mass.sum(axis=0)[: len(centers)] > 0.0
        centers[kept] = average(mass[:, : len(centers)][:, kept], rows)
    return mass


def _squares(rows, centers):
    return np.stack([np.square(rows - center).sum(axis=1) for center in centers], axis=1)


def climb(kind, rows, weight, mass, n_steps=MOST_EM):
    """Return log-likelihood, covariances and responsibilities (n, K) that EM comes to from masses (n, K)."""
    value = -np.inf
    for _ in range(n_steps):
        size = np.maximum(mass.sum(axis=0), TINY)
        shares = size / size.sum()
        means = mass.T @ rows / size[:, np.newaxis]
        covariances = kind.best(rows, np.maximum(mass, TINY), shares, means)
        scores = kind.log_densities(rows, means, covariances) + log_zero(shares)
        evidence = log_sum_exp(scores)
        tau = np.exp(scores - evidence[:, np.newaxis])
        mass = weight[:, np.newaxis] * tau
        former, value = value, float(weight @ evidence)
        if value - former <= GAIN * weight.sum():
            break
    return value, covariances, tau


def _enough_rows(kind, tau):
    """Whether each component has rows enough, (K,); of shared covariances all together."""
    n, least = n_rows(tau), least_rows(kind)
    return np.array([n.sum() >= least + kind.n_components]) if kind.shared else n >= least


def n_rows(tau):
    """Return how many rows share responsibilities (n, K) of each component, (K,): as many as were they equal."""
    return np.square(tau.sum(axis=0)) / np.maximum(np.square(tau).sum(axis=0), TINY)


def least_rows(kind):
    """Return the number of distinct rows from which on a component is sound."""
    return max(LEAST_ROWS, 2 * (kind.n_features + 1)) if kind.free_form else LEAST_ROWS


def _varied_columns(kind, tau, values):
    """Whether more than a few values of each column hold a component, (K, d); of shared covariances (1, d)."""
    held, total = np.empty((tau.shape[1], len(values))), tau.sum(axis=0)
    for j, column in enumerate(values):
        masses = np.stack([np.bincount(column, weights=one) for one in tau.T])
        few = min(MOST_VALUES, max(1, masses.shape[1] - 1))
        held[:, j] = np.sort(masses, axis=1)[:, -few:].sum(axis=1)
    if kind.shared:
        held, total = held.sum(axis=0, keepdims=True), total.sum(keepdims=True)
    return held < HELD * total[:, np.newaxis]
