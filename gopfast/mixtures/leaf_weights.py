"""The best weights of a proof's leaves, for the costs that the checker finds in its own boxes.

Theory: (VF5) of docs/theory/proof_families.md.
"""

import numpy as np

from gopfast.mixtures.tuning import (
    LARGEST_FALL,
    LARGEST_RISE,
    LEAST_CURVATURE,
    LEAST_LOG_WEIGHT,
    MOST_COSTS,
    WEIGHTS_STEPS as STEPS,
)


def best_weights(bounds, low, high, slopes, logs, reference):
    """
    Newton's steps from the weights at hand, for the likelihood of mixtures of known costs: not a proof of anything.

    Parameters
    ----------
    bounds : gopfast.checker.verify.Bounds
    low, high : ndarray, shape (L, K, p)
    slopes : ndarray, shape (L, K, n_slopes)
    logs : ndarray, shape (L, n_weights)
        Finite; as `Bounds.of` takes them, and what is returned.
    reference : ndarray, shape (d,)
    """
    step = max(1, MOST_COSTS // (len(bounds.weights) * logs.shape[1]))
    parts = [slice(i, i + step) for i in range(0, len(logs), step)]
    return np.concatenate([
        _best(bounds, low[own], high[own], slopes[own], logs[own], reference) for own in parts
    ])  # fmt: skip


def _costs(bounds, low, high, slopes, reference):
    """Return constants (L, K), and what samples cost beside (L, K, N)."""
    rules = bounds.rules
    if rules.has_sample_costs:
        return np.zeros(low.shape[:2]), rules.costs(low, high, slopes)
    y, _ = rules.features(bounds.columns, reference)
    a = bounds.intercepts(low, high, slopes, reference)
    total, tilted = bounds.folded(a, slopes[..., : rules.n_features])
    total, tilted, quadratic = bounds.with_noise(total, tilted, rules.quadratic(slopes))
    return total, tilted @ y.T + quadratic @ np.square(y).T


def _best(bounds, low, high, slopes, logs, reference):
    weights, W = bounds.weights, bounds.weights.sum()
    total, costs = _costs(bounds, low, high, slopes, reference)
    log_p, least = logs + total, LEAST_CURVATURE * np.eye(logs.shape[1])
    for _ in range(STEPS):
        log_p -= log_p.max(axis=1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
        scores = (log_p - total)[..., np.newaxis] - costs
        tau = np.exp(scores - scores.max(axis=1, keepdims=True))
        tau /= tau.sum(axis=1, keepdims=True)
        # of sum_i w_i log s_i - W sum_k p_k, relative to p
        slope = (tau @ weights) / W - np.exp(log_p)
        curvature = (tau * weights) @ tau.transpose(0, 2, 1) / W
        change = np.linalg.solve(curvature + least, slope[..., np.newaxis])[..., 0]
        log_p = np.maximum(log_p + np.log1p(np.clip(change, -LARGEST_FALL, LARGEST_RISE)), LEAST_LOG_WEIGHT)
    return np.maximum(log_p - log_p.max(axis=1, keepdims=True), LEAST_LOG_WEIGHT) - total
