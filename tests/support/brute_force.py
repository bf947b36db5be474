"""Reference optima of small mixtures in plain NumPy and SciPy; shares no code with the solver.

The objective is the negative ELBO of appendix A and equations (24) and (28), minimised over responsibilities
and prior variance in closed form, and over weights and means by a search from everywhere. A problem is
anything with the attributes of ``gopfast.GaussianMixture``.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize


class Reference(NamedTuple):
    """The best point found."""

    value: float
    weights: np.ndarray  # (K,)
    means: np.ndarray  # (K, d), user's units


def objective(problem, weights, means):
    """Objective of S points at once: weights (S, K), means (S, K, d); returns (S,)."""
    value, _ = _value_and_responsibilities(problem, np.asarray(weights), np.asarray(means))
    return value


def em(problem, weights, means, n_steps, tol=0.0):
    """EM of S points at once; returns objectives (S,), weights and means of the best iterate of each."""
    weights, means = np.array(weights, dtype=float), np.array(means, dtype=float)
    value, tau = _value_and_responsibilities(problem, weights, means)
    for _ in range(n_steps):
        new_weights, new_means = _m_step(problem, means, tau)
        new_value, tau = _value_and_responsibilities(problem, new_weights, new_means)
        better = new_value < value
        weights[better], means[better] = new_weights[better], new_means[better]
        decrease = (value - new_value).max()
        value = np.minimum(value, new_value)
        if decrease <= tol:
            break
        if not better.all():
            weights, means = new_weights, new_means
    return value, weights, means


def global_optimum(problem, seed=0, n_random=200, n_grid=7, max_partitions=1500, n_polished=20):
    """Search from all hard assignments (of few samples), grid means and random means; polish the best."""
    weights, means = _starts(problem, np.random.default_rng(seed), n_random, n_grid, max_partitions)
    value, weights, means = em(problem, weights, means, 60)
    # EM rests at saddle points and creeps along valleys: the best so far need not lead to the optimum.
    different = _distinct(problem, value, weights, means)[:n_polished]
    ends = [_polish(problem, 0.98 * weights[i] + 0.02 / problem.n_components, means[i]) for i in different]
    ends += [_polish(problem, weights[i], means[i]) for i in different[:3]]
    best = min(ends, key=lambda found: found.value)
    value, weights, means = em(problem, best.weights[None], best.means[None], 2000)
    return _polish(problem, weights[0], means[0])


def _distinct(problem, value, weights, means):
    """Indices by rising value, one for each place, to a quarter of a standard deviation."""
    found = {}
    for i in np.argsort(value):
        rows = np.column_stack([4.0 * means[i] / np.sqrt(problem.noise_variance), 8.0 * weights[i]])
        found.setdefault(tuple(sorted(map(tuple, np.round(rows)))), i)
    return list(found.values())


def best_local_optimum(problem, n_starts=200, seed=0, n_steps=400):
    """Best of many EM runs, for problems too large for `global_optimum`."""
    rng = np.random.default_rng(seed)
    n, K = problem.X.shape[0], problem.n_components
    likely = problem.sample_weight > 0.0
    rows = np.flatnonzero(likely)
    picks = np.array([rng.choice(rows, K, replace=len(rows) < K) for _ in range(n_starts)])
    assert n >= K
    value, weights, means = em(problem, np.full((n_starts, K), 1.0 / K), problem.X[picks], n_steps, tol=1e-10)
    best = int(np.argmin(value))
    return _polish(problem, weights[best], means[best])


def box_optimum(problem, low, high, seed=0, n_starts=6, near=None):
    """Least objective found with the means in the box [low, high] (each (K, d), user's units)."""
    rng = np.random.default_rng(seed)
    K = problem.n_components
    starts = [0.5 * (low + high), low, high]
    starts += [low + rng.random(low.shape) * (high - low) for _ in range(n_starts)]
    if near is not None:
        starts.append(np.clip(near, low, high))
    starts = np.array(starts)
    value, weights, means = _projected_em(problem, np.full((len(starts), K), 1.0 / K), starts, low, high, 60)
    best = np.argsort(value)[:3]
    return min(
        (_polish(problem, weights[i], means[i], low, high) for i in best), key=lambda found: found.value
    )


def _value_and_responsibilities(problem, weights, means):
    X, w, v = problem.X, problem.sample_weight, problem.noise_variance
    difference = X[None, :, None, :] - means[:, None, :, :]
    with np.errstate(divide="ignore"):
        score = np.log(weights)[:, None, :] - 0.5 * (difference**2 / v).sum(axis=3)
    largest = score.max(axis=2, keepdims=True)
    tau = np.exp(score - largest)
    total = tau.sum(axis=2, keepdims=True)
    log_p = largest[:, :, 0] + np.log(total[:, :, 0])
    return -log_p @ w + prior_cost(problem, means), tau / total


def prior_cost(problem, means):
    """``e/2 sum m^2 - (K d / 2) log e`` at the best admissible e, for means (S, K, d)."""
    if problem.prior is None:
        return np.zeros(len(means))
    e = _precision(problem, means)
    half_kd = 0.5 * means.shape[1] * means.shape[2]
    return 0.5 * e * (means**2).sum(axis=(1, 2)) - half_kd * np.log(e)


def _precision(problem, means):
    if problem.prior is None:
        return np.zeros(len(means))
    if problem.prior != "empirical":
        return np.full(len(means), 1.0 / problem.prior)
    return 1.0 / np.clip((means**2).mean(axis=(1, 2)), *problem.prior_variance_bounds)


def _m_step(problem, means, tau):
    mass = problem.sample_weight[None, :, None] * tau
    count = mass.sum(axis=1)
    pull = _precision(problem, means)[:, None, None] * problem.noise_variance  # (S, 1, d)
    denominator = count[:, :, None] + pull
    # Around the old mean: no cancellation for data far from zero.
    difference = problem.X[None, :, None, :] - means[:, None, :, :]
    step = (mass[:, :, :, None] * difference).sum(axis=1) - pull * means
    step = np.divide(step, denominator, out=np.zeros_like(step), where=denominator > 0.0)
    return count / count.sum(axis=1, keepdims=True), means + step


def _projected_em(problem, weights, means, low, high, n_steps):
    for _ in range(n_steps):
        _, tau = _value_and_responsibilities(problem, weights, means)
        weights, means = _m_step(problem, means, tau)
        means = np.clip(means, low, high)
    return objective(problem, weights, means), weights, means


def _polish(problem, weights, means, low=None, high=None):
    """L-BFGS-B over logits and means, in units of the noise; keeps the better of start and end."""
    K, d = means.shape
    scale = np.sqrt(problem.noise_variance)
    shift = means / scale
    start = Reference(float(objective(problem, weights[None], means[None])[0]), weights, means)

    def unpack(z):
        logits = z[:K] - z[:K].max()
        pi = np.exp(logits)
        return pi / pi.sum(), (z[K:].reshape(K, d) + shift) * scale

    def function(z):
        pi, nu = unpack(z)
        value, tau = _value_and_responsibilities(problem, pi[None], nu[None])
        mass = problem.sample_weight[:, None] * tau[0]
        difference = problem.X[:, None, :] - nu[None]
        gradient = -(mass[:, :, None] * difference / problem.noise_variance).sum(axis=0)
        gradient += _precision(problem, nu[None])[0] * nu
        by_logit = problem.sample_weight.sum() * pi - mass.sum(axis=0)
        return value[0], np.concatenate([by_logit, (gradient * scale).ravel()])

    z = np.concatenate([np.log(np.maximum(weights, 1e-30)), np.zeros(K * d)])
    bounds = None
    if low is not None:
        bounds = [(None, None)] * K + list(
            zip((low / scale - shift).ravel(), (high / scale - shift).ravel(), strict=True)
        )
    found = minimize(
        function,
        z,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 400, "ftol": 1e-15, "gtol": 1e-10},
    )
    pi, nu = unpack(found.x)
    if low is not None:
        nu = np.clip(nu, low, high)
    value = float(objective(problem, pi[None], nu[None])[0])
    return Reference(value, pi, nu) if value < start.value else start


def _starts(problem, rng, n_random, n_grid, max_partitions):
    """Weights (S, K) and means (S, K, d)."""
    X, w, K = problem.X, problem.sample_weight, problem.n_components
    n, d = X.shape
    groups = [_centroids(X, w, labels, K) for labels in _assignments(n, K, max_partitions, rng)]
    low, high = X.min(axis=0), X.max(axis=0)
    if problem.prior is not None:
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    axes = [np.linspace(low[j], high[j], n_grid if d == 1 else 4) for j in range(d)]
    points = np.array(list(itertools.product(*axes)))
    grid = list(itertools.combinations_with_replacement(range(len(points)), K))
    if len(grid) > 1000:
        grid = [grid[i] for i in rng.choice(len(grid), 1000, replace=False)]
    means = np.concatenate(
        [
            np.reshape(groups, (-1, K, d)),
            points[np.array(grid)],
            low + rng.random((n_random, K, d)) * (high - low),
            np.zeros((1, K, d)),
        ]
    )
    weights = np.full((len(means), K), 1.0 / K)
    if problem.prior is None or K == 1:
        return weights, means
    # With a prior an empty component has one best place, its mean at 0, and EM does not always get there.
    parked = [(_park(weights, m, 0.0), _park(means, m, 0.0)) for m in range(1, K)]
    weights = np.concatenate([weights] + [w / w.sum(axis=1, keepdims=True) for w, _ in parked])
    return weights, np.concatenate([means] + [m for _, m in parked])


def _park(values, n_parked, value):
    values = values.copy()
    values[:, :n_parked] = value
    return values


def _assignments(n, K, most, rng):
    """Hard assignments, labels in order of first appearance: all of them, or random ones if too many."""
    if K**n <= 3 * math.factorial(K) * most:
        for labels in itertools.product(range(K), repeat=n):
            seen = list(dict.fromkeys(labels))
            if seen == sorted(seen) and seen == list(range(len(seen))):
                yield np.array(labels)
    else:
        yield from rng.integers(0, K, (most, n))


def _centroids(X, w, labels, K):
    """Weighted means of the groups; an empty or weightless group takes the overall mean."""
    everything = (w @ X) / w.sum()
    return np.array(
        [
            (w[labels == k] @ X[labels == k]) / w[labels == k].sum()
            if w[labels == k].sum() > 0.0
            else everything
            for k in range(K)
        ]
    )
