"""Local fits of mixtures of regressions: EM from lines through random samples, and from splits by residuals."""

import functools

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures.problems.tuning import (
    LONG_STEPS,
    N_LONG,
    N_RANDOM,
    N_SPLIT,
    NEAREST_SHARE,
    REGRESSION_MOST_SAMPLES as MOST_SAMPLES,
    SHORT_STEPS,
)

SEED = 5


def best_fit(problem, n_random=N_RANDOM, n_split=N_SPLIT, n_long=N_LONG, family=None):
    """
    Return the best state, a dict by name, of EM from many starts.

    Parameters
    ----------
    problem : RegressionMixture
    n_random, n_split : int
        Starts from random lines, and from splits of residuals.
    n_long : int
        The best of them, that go on.
    family : Family or None
        Of the problem, where its steps are to be those of the core: a twentieth of the time for few samples.
    """
    climb = run if family is None else functools.partial(run_in_core, family)
    rng, K = np.random.default_rng(SEED), problem.n_components
    part = _part(problem, rng)
    starts = [lines(part, rng) for _ in range(n_random)] if K > 1 else []
    starts += [split(part, rng) for _ in range(n_split)] if K > 1 else [np.ones((part.n_samples, 1))]
    short = climb if part is problem else run
    fits = sorted((short(part, tau, SHORT_STEPS) for tau in starts), key=lambda pair: pair[0])
    fits = [climb(problem, problem.responsibilities(**state), LONG_STEPS) for _, state in fits[:n_long]]
    return min(fits, key=lambda pair: pair[0])[1]


def lines(problem, rng):
    """Return responsibilities (n, K) by the nearest of K regressions, each through a few random samples."""
    used, q = np.flatnonzero(problem.sample_weight > 0.0), problem._n_coefficients
    Z, away = problem._design(), []
    for _ in range(problem.n_components):
        rows = rng.choice(used, min(q, len(used)), replace=False)
        fitted = np.linalg.lstsq(Z[rows], problem._linear_response[rows], rcond=None)[0]
        away.append(np.abs(problem._linear_response - Z @ fitted))
    return _shares(np.argmin(away, axis=0), problem.n_components)


def split(problem, rng):
    """Return responsibilities (n, K) by the order of the residuals of a regression of random weights."""
    weights = rng.exponential(size=problem.n_samples) * problem.sample_weight
    one = problem._with(n_components=1, sample_weight=weights)
    state = one.maximize(np.ones((problem.n_samples, 1)))
    fitted = problem.predict(problem.regressors, state["coefficients"], state.get("intercepts"))[:, 0]
    order = np.argsort(np.argsort(problem._linear_response - fitted))
    ends = np.sort(rng.random(problem.n_components - 1))
    return _shares(np.searchsorted(ends, order / problem.n_samples), problem.n_components)


def run(problem, tau, n_steps):
    """Return the objective and the state after steps of EM from responsibilities; infinity where these fail."""
    state = problem.maximize(tau)
    for _ in range(n_steps):
        state = problem.maximize(problem.responsibilities(**state), **state)
    return problem.objective(**state), state


def run_in_core(family, problem, tau, n_steps):
    """Do the same by the core's steps."""
    from gopfast.mixtures.primal.em import MixturePrimal  # compiled, as problems are not

    state = problem.maximize(tau)
    weights = state.pop("weights")
    vector, trace, _ = MixturePrimal(family).em(weights, family.pack(**state), 0.0, n_steps)
    weights = vector[: problem.n_components]
    return trace[-1], {"weights": weights / weights.sum(), **family.parameters(vector)}


def _shares(nearest, n_components):
    shares = np.full((len(nearest), n_components), (1.0 - NEAREST_SHARE) / n_components)
    shares[np.arange(len(nearest)), nearest] += NEAREST_SHARE
    return shares


def _part(problem, rng):
    """Return the problem of some of its samples, where they are many and those determine the coefficients."""
    used = np.flatnonzero(problem.sample_weight > 0.0)
    if len(used) <= MOST_SAMPLES or problem.groups is not None:
        return problem
    rows = np.sort(rng.choice(used, MOST_SAMPLES, replace=False))
    part = problem._with(X=problem.X[rows], sample_weight=problem.sample_weight[rows])
    try:
        part._scaled_design()
    except InputError:
        return problem
    return part
