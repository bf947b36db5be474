"""Deterministic anti-annealing EM."""

from collections.abc import Sequence

import numpy as np

from gopfast import checks
from gopfast.annotations import Seed, StartLike
from gopfast.errors import InputError
from gopfast.mixtures.local import _em
from gopfast.mixtures.local._coordinates import softmax
from gopfast.mixtures.local._driver import fit
from gopfast.mixtures.local._result import LocalResult
from gopfast.mixtures.local._state import climb
from gopfast.mixtures.local.tuning import SCHEDULE
from gopfast.mixtures.problems.base import MixtureProblem, log_sum_exp, log_zero


def anneal(
    problem: MixtureProblem,
    start: StartLike = None,
    *,
    schedule: Sequence[float] = SCHEDULE,
    tol: float = 1e-8, max_iter: int = 1000, random_state: Seed = 0,
) -> LocalResult:  # fmt: skip
    """
    Run deterministic anti-annealing EM: EM with responsibilities raised to beta, along a schedule of beta.

    Stage by stage, until a step gains at most `tol`, the E step sets ``tau_ik`` proportional to
    ``(pi_k p(x_i | theta_k))^beta``; the M step is that of EM. A stage lowers::

        F_beta = - 1/beta sum_i w_i log sum_k (pi_k p(x_i | theta_k))^beta  [ - log prior density of theta ]

    which for beta = 1 is the objective. beta < 1 flattens the responsibilities (annealing), beta > 1 sharpens them
    (anti-annealing), which speeds up EM for clusters of unequal weight. The ELBO never decreases within a stage of
    beta = 1, and so at the end; between and in other stages it may. If the last stage ends below a start that was
    given, the method returns to that, as a last step.

    Parameters
    ----------
    problem : MixtureProblem
        Any mixture of `gopfast.models`.
    start : array_like, dict, or anything with a solution, optional
        As `gopfast.local.em`.
    schedule : sequence of float, default (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.0)
        The betas, positive; the last one must be 1.
    tol : float, default 1e-8
        End a stage when a step lowers F_beta by at most this, in nats.
    max_iter : int, default 1000
        Most steps of a stage.
    random_state
        As of `gopfast.local.em`.

    Returns
    -------
    LocalResult
        `trace` and `n_iter` are over all stages, `converged` is that of the last.

    Raises
    ------
    InputError
        If `schedule` does not end with 1, or another argument is invalid; the message names it.

    References
    ----------
    Naim & Gildea, "Convergence of the EM algorithm for Gaussian mixtures with unbalanced mixing coefficients", ICML
    2012; Ueda & Nakano, "Deterministic annealing EM algorithm", Neural Networks 11 (1998).

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    >>> fit = gopfast.local.anneal(problem, start=[-5.0, 25.0], schedule=[0.5, 1.0])
    >>> round(fit.objective, 4)
    84.0302
    """
    schedule = _check_schedule(schedule)

    def run(problem, state, tol, max_iter):
        objectives = [problem.objective(**state)]
        for beta in schedule:
            state, trace, converged = stage(problem, state, beta, tol, max_iter)[:3]
            objectives.extend(trace[1:])
        return state, objectives, converged

    return fit(problem, start, run, tol, max_iter, random_state)


def stage(problem, state, beta, tol, max_iter):
    """Run one stage; returns the state, the objectives, `converged`, and the values of F_beta."""
    if beta == 1.0:
        state, objectives, converged = _em.run(problem, state, tol, max_iter)
        return state, objectives, converged, objectives
    objectives = []

    def value(state):
        objectives.append(problem.objective(**state))
        return tempered_objective(problem, state, beta, objectives[-1])

    def step(state):
        return problem.maximize(tempered_responsibilities(problem, state, beta), **state)

    state, values, converged = climb(problem, step, state, tol, max_iter, value)
    return state, objectives, converged, values


def tempered_responsibilities(problem, state, beta):
    """Responsibilities of the E step at beta, shape (n, K)."""
    scores = beta * _scores(problem, state)
    possible = scores.max(axis=1) > -np.inf
    # What no component can produce gets the weights, as in `MixtureProblem.responsibilities`.
    tau = np.tile(state["weights"], (problem.n_samples, 1))
    tau[possible] = softmax(scores[possible])
    return tau


def tempered_objective(problem, state, beta, objective):
    """F_beta, up to a constant, of a state with this objective."""
    used = problem.sample_weight > 0.0
    scores = _scores(problem, state)[used]
    shift = log_sum_exp(scores) - log_sum_exp(beta * scores) / beta
    return objective + float(problem.sample_weight[used] @ shift)


def _scores(problem, state):
    """``log pi_k p(x_i | theta_k)``, shape (n, K)."""
    parameters = {name: state[name] for name in problem.parameter_names}
    return log_zero(state["weights"]) + problem.log_densities(**parameters)


def _check_schedule(schedule):
    betas = np.atleast_1d(checks.real_array("schedule", schedule))
    if betas.ndim != 1 or betas.size == 0:
        raise InputError(f"schedule must be a sequence of numbers; got shape {betas.shape}")
    checks.positive_array("schedule", betas)
    if betas[-1] != 1.0:
        raise InputError(f"schedule must end with 1, the model's own responsibilities; got {betas[-1]:g}")
    return betas.tolist()
