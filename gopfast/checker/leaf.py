"""What an affine function below the costs bounds: all mixtures whose components lie in a leaf's cells.

With costs c_ik = a_k + b_k . y_i + q_k . y_i^2 below the components' (`gopfast.checker.families`) and any p_k > 0 let
s_i = sum_k p_k exp(-c_ik), tau_ik = p_k exp(-c_ik) / s_i and D_k = sum_i w_i tau_ik / p_k. Then every
mixture with components in the cells, whatever its weights r, costs at least

    - sum_i w_i log sum_k r_k exp(-c_ik)
        =   - sum_i w_i log s_i  -  sum_i w_i log sum_k r_k exp(-c_ik) / s_i
        >=  - sum_i w_i log s_i  -  W log max_k D_k / W                                (Jensen; sum_k r_k D_k <= max D).

Rounding: a cost is a sum of n products, of error at most n + 12 u times the sum of their magnitudes (4 of a factor, 9
of its square); e_k is the most that
this is for any of the samples, and e the greatest of them. Errors e <= 1/2 of costs move -log s_i by at most 2 e, and
tau_ik by a factor of at most 1 + 4 (e_k + e); exponentials and logarithms (`ULPS`), quotients and sums over components
add (2 K + 64) u, sums over samples as many u of their terms as are added one after the other. Where tau_ik underflows
it is below 1e-300, which is added to D_k.

Theory: (V4) and (V7) of docs/theory/proofs.md, (JC4) of docs/theory/counts.md.
"""

import math

import numpy as np

from .rounding import UNIT, up
from .tuning import BLOCK, LARGEST_ERROR, LEAF_NUMBERS as MOST_NUMBERS


def bounds(y, weights, intercepts, slopes, quadratic, log_weights, reach=None):
    """
    Bound the objective over leaves from below.

    Parameters
    ----------
    y : ndarray, shape (N, d)
        Samples less the reference, or what else costs are linear in; rounded.
    weights : ndarray, shape (N,)
    intercepts : ndarray, shape (L, K)
        Sums over the columns, rounded down.
    slopes, quadratic : ndarray, shape (L, K, d)
    log_weights : ndarray, shape (L, K)
        log p_k.
    reach : ndarray, shape (d,), optional
        At least the magnitudes of y, which are within 4 rounding errors of this much; by default the largest.

    Returns
    -------
    ndarray, shape (L,)
        -inf where the arithmetic is not exact enough to say anything.
    """
    reach = np.abs(y).max(axis=0) if reach is None else reach
    n_leaves, n_components = intercepts.shape
    step = max(1, MOST_NUMBERS // (len(y) * n_components))
    parts = [
        _bounds(y, reach, weights, intercepts[i : i + step], slopes[i : i + step], quadratic[i : i + step],
                log_weights[i : i + step])
        for i in range(0, n_leaves, step)
    ]  # fmt: skip
    return np.concatenate(parts) if parts else np.zeros(0)


def _bounds(y, reach, weights, intercepts, slopes, quadratic, log_p):
    N, K = len(y), intercepts.shape[1]
    squares = bool(np.any(quadratic))
    columns = np.hstack([np.ones((N, 1)), y, np.square(y)] if squares else [np.ones((N, 1)), y])
    parts = [(log_p - intercepts)[..., np.newaxis], -slopes, *([-quadratic] if squares else [])]
    coefficients = np.ascontiguousarray(np.concatenate(parts, axis=2).transpose(1, 2, 0))  # (K, columns, L)
    sizes = np.abs(coefficients)
    sizes[:, 0] = (np.abs(log_p) + np.abs(intercepts)).T
    t = columns @ coefficients  # (K, N, L)
    largest = np.concatenate([[1.0], reach, np.square(reach)] if squares else [[1.0], reach])
    return _of_scores(t, (largest @ sizes) * (columns.shape[1] + K + 12) * UNIT, weights, log_p)


def bounds_of_costs(costs, weights, log_weights):
    """
    Bound the objective over leaves from below, by costs of every sample that are below the components'.

    Parameters
    ----------
    costs : ndarray, shape (L, K, N)
    weights : ndarray, shape (N,)
    log_weights : ndarray, shape (L, K)
        log p_k.

    Returns
    -------
    ndarray, shape (L,)
    """
    step, parts = max(1, MOST_NUMBERS // costs[0].size) if len(costs) else 1, [np.zeros(0)]
    for i in range(0, len(costs), step):
        own, log_p = costs[i : i + step].transpose(1, 2, 0), log_weights[i : i + step]
        scores = log_p.T[:, np.newaxis]
        # what is rounded in t is less than this, so that t is log p less costs that are below these
        t = up(scores - own + 4 * UNIT * (np.abs(scores) + np.abs(own)))
        parts.append(_of_scores(t, np.zeros((t.shape[0], t.shape[2])), weights, log_p))
    return np.concatenate(parts)


def _of_scores(t, error, weights, log_p):
    """Bound leaves by log p_k - c_ik (K, N, L), which are overwritten, and their errors (K, L)."""
    K, W = len(t), math.fsum(weights)
    worst = error.max(axis=0)
    top = t.max(axis=0)
    t -= top
    tau = np.exp(t, out=t)
    s = tau.sum(axis=0)
    log_s = top + np.log(s)
    rest = (2 * K + 64) * UNIT
    value = sum_from_below(weights, -log_s - rest * (1.0 + np.abs(log_s)))
    with np.errstate(all="ignore"):
        share = weights[:, np.newaxis] / s
        density = np.stack([-_sum_of_products_from_below(-share, own) for own in tau], axis=1)
        density *= 1.0 + rest + 4.0 * (error + worst).T
        density = (density + W * 1e-300) / np.exp(log_p) * (1.0 + 2.0 * rest)
        tilt = np.log(density.max(axis=1) / W)
        value = value - W * (tilt + 2.0 * worst + rest * (1.0 + np.abs(tilt) + worst))
        value -= 8 * UNIT * np.abs(value)
    return np.where((worst <= LARGEST_ERROR) & np.isfinite(value), value, -np.inf)


def _sum_of_products_from_below(shares, terms):
    """Sum a_il b_il over i, of the same sign, rounded down, for (N, L): in blocks, then their sums."""
    parts = [slice(i, i + BLOCK) for i in range(0, len(terms), BLOCK)]
    value = sum(np.einsum("nl,nl->l", shares[part], terms[part]) for part in parts)
    return value - (min(BLOCK, len(terms)) + len(parts) + 8) * UNIT * np.abs(value)


def sum_from_below(weights, terms):
    """Sum w_i terms_il over i, rounded down, for terms (N, L): in blocks, then their sums."""
    parts = [slice(i, i + BLOCK) for i in range(0, len(weights), BLOCK)]
    value = sum(weights[part] @ terms[part] for part in parts)
    size = sum(weights[part] @ np.abs(terms[part]) for part in parts)
    return value - (min(BLOCK, len(weights)) + len(parts) + 8) * UNIT * size
