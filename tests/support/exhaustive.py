"""Global optimum of a tiny mixture of any family by search from everywhere; no code of the compiled solver.

The objective is the problem's own, plain NumPy, which tests/unit compares with SciPy's densities.
"""

import itertools

import numpy as np
from scipy.optimize import minimize

SOFTNESS = (0.0, 0.05, 0.5)
MOST_GROUPINGS = 400
LOOK = 5  # steps of EM between two objectives


def brute_force_optimum(problem, n_kept=3, n_random=8, seed=0):
    """
    Return the best objective found for a tiny problem (n to about 8, K = 2 or 3).

    EM starts from all assignments of the samples to K groups (up to label copies; a random choice if there are
    more than 400), hard and softened, since EM never leaves a zero again, and from random responsibilities. The
    most promising are polished by quasi-Newton steps and EM to 1e-12. Every value is attained, so that this is an
    upper bound of the optimum, and in practice the optimum.
    """
    rng = np.random.default_rng(seed)
    n, K = problem.n_samples, problem.n_components
    starts = [
        (1.0 - softness) * np.eye(K)[labels] + softness / K
        for labels in _groupings(n, K, rng)
        for softness in SOFTNESS
    ]
    # Equal rows everywhere are a fixed point of EM; a nudge leaves it.
    starts = [0.98 * tau + 0.02 * rng.dirichlet(np.ones(K), n) if tau.max() < 1.0 else tau for tau in starts]
    starts += list(rng.dirichlet(np.ones(K), (n_random, n)))
    found = [_begun(problem, tau, 3) for tau in starts]
    found = [_run(problem, None, 25, state) for _, state in _best(found, 6 * n_kept)]
    found = [_polished(problem, state) for _, state in _best(found, n_kept)]
    return min(value for value, _ in found)


def _run(problem, tau, n_steps, state=None):
    """Return objective and state after some steps of EM, from responsibilities or from a state."""
    state = problem.maximize(problem.responsibilities(**state) if tau is None else tau, **(state or {}))
    value = problem.objective(**state)
    for step in range(1, n_steps + 1):
        state = problem.maximize(problem.responsibilities(**state), **state)
        if step % LOOK == 0 or step == n_steps:
            last, value = value, problem.objective(**state)
            if last - value <= 1e-12 * (1.0 + abs(value)):
                break
    return value, state


def _begun(problem, tau, n_steps):
    """Return objective and state after so many steps of EM, without the objectives between, half of the time."""
    state = problem.maximize(tau)
    for _ in range(n_steps - 1):
        state = problem.maximize(problem.responsibilities(**state), **state)
    return problem.objective(**state), state


def _best(found, most):
    """The pairs (value, state) of the least values, one of each to 1e-7."""
    kept = {}
    for value, state in sorted(found, key=lambda pair: pair[0]):
        kept.setdefault(round(value, 7), (value, state))
    return list(kept.values())[:most]


def _polished(problem, state):
    """Quasi-Newton steps over the logits of the responsibilities, the M step in each; EM before and after."""
    value, state = _run(problem, None, 300, state)
    shape = problem.n_samples, problem.n_components

    def step(logits):
        tau = np.exp(logits.reshape(shape) - logits.reshape(shape).max(axis=1, keepdims=True))
        return problem.maximize(tau / tau.sum(axis=1, keepdims=True), **state)

    logits = np.log(np.maximum(problem.responsibilities(**state), 1e-9)).ravel()
    end = minimize(lambda z: problem.objective(**step(z)), logits, method="L-BFGS-B", options={"maxiter": 30})
    ends = [(value, state), _run(problem, None, 2000, step(end.x)), _run(problem, None, 2000, state)]
    return min(ends, key=lambda pair: pair[0])


def _groupings(n, K, rng):
    """All assignments of n samples to at most K groups, one of each set of label copies; or random ones."""
    if K**n <= 20 * MOST_GROUPINGS:
        every = np.array(list(itertools.product(range(K), repeat=n)))
        # A new label is always the least one not yet used.
        highest = np.maximum.accumulate(every, axis=1)
        every = every[(every[:, 0] == 0) & (np.diff(highest, axis=1) <= 1).all(axis=1)]
        if len(every) <= MOST_GROUPINGS:
            return every
    return rng.integers(0, K, (MOST_GROUPINGS, n))
