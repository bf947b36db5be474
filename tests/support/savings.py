"""What a component saves at prices of the samples, by definition, and mixtures that are known."""

import numpy as np
from gopfast.mixtures.primal.em import MixturePrimal


def any_component(pricing, prices, weights, rng, best):
    """
    Draw a component that ascents may come to.

    Parameters
    ----------
    pricing : ComponentPricing
        At these prices.
    prices, weights : ndarray, shape (n,)
    rng : numpy.random.Generator
    best : callable (mass) -> ndarray
        Parameters of the component that is the best for masses (n,) of the samples.

    Returns
    -------
    (point, value) or None
        Its parameters and what it saves, in nats; None where it has no samples.
    """
    mass = pricing.columns(prices, pricing.climb(pricing.seeded(rng, 1), int(rng.integers(0, 8)))[1])[0][0]
    total = mass.sum()
    if not total > 0:
        return None
    point, tau = best(mass), mass / weights
    value = mass @ (prices - pricing.costs_at(point)[0] - np.log(np.where(tau > 0, tau, 1.0)))
    return point, value + total * np.log(total / weights.sum())


def best_of(kind, columns, mass):
    """Return mean and variances of a column, in the core's coordinates, of normal components of a kind."""
    mean = columns @ mass / mass.sum()
    if kind == "known":
        return mean
    variances = np.square(columns - mean[:, None]) @ mass / mass.sum()
    return np.concatenate([mean, np.maximum(1.0, variances if kind == "diag" else [variances.mean()])])


def saved_at(pricing, point, prices, weights):
    """Return what a component saves at prices (n,) by its closed form (P2), the scale found by halving."""
    logs, total = prices - pricing.costs_at(point)[0], weights.sum()
    if np.logaddexp.reduce(logs + np.log(weights)) <= np.log(total):
        return 0.0
    low, high = -1e4, 0.0  # of the logarithm of the scale; above the root less is taken than W times the scale
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        is_above = weights @ np.exp(np.minimum(0.0, middle + logs)) < total * np.exp(middle)
        low, high = (low, middle) if is_above else (middle, high)
    tau = np.exp(np.minimum(0.0, low + logs))
    mass = weights @ tau
    return weights @ (tau * (logs - np.log(np.maximum(tau, 1e-300)))) + mass * np.log(mass / total)


def best_known(family, seed=0, starts=20, tolerance=1e-8, most=1000):
    """Return the best mixture that EM comes to from so many starts, as a solution vector, and its objective."""
    primal, rng = MixturePrimal(family), np.random.default_rng(seed)
    even = np.full(family.n_components, 1.0 / family.n_components)
    found = [primal.em(even, family.seeded(rng), tolerance, most) for _ in range(starts)]
    solution, trace, _ = min(found, key=lambda one: one[1][-1])
    return solution, trace[-1]
