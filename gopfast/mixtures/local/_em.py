"""Expectation maximisation."""

import numpy as np

from gopfast.annotations import Seed, StartLike
from gopfast.errors import InputTypeError
from gopfast.mixtures import engine
from gopfast.mixtures.local._driver import fit
from gopfast.mixtures.local._result import LocalResult
from gopfast.mixtures.local._state import climb
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.problems import MixtureProblem


def em(
    problem: MixtureProblem, start: StartLike = None, *, tol: float = 1e-8, max_iter: int = 1000, random_state: Seed = 0
) -> LocalResult:
    """
    Run EM, or variational EM where the problem has a prior (algorithms 1 and 2 of the paper).

    One step sets the responsibilities ``tau_ik`` proportional to ``pi_k p(x_i | theta_k)``, then the weights to
    ``pi_k = N_k / W`` with ``N_k = sum_i w_i tau_ik``, and the parameters to the best for these responsibilities.
    For a Gaussian mixture of known variance v these are::

        m_k = sum_i w_i tau_ik x_i / (N_k + v / Gamma)        [ s_k = 1 / (N_k / v + 1 / Gamma) ]
        Gamma = sum_kj (m_kj^2 [ + s_kj ]) / (K d)             within its bounds, with prior="empirical"

    with the posterior variances s of ``posterior="gaussian"`` in brackets. The ELBO never decreases.

    Parameters
    ----------
    problem : MixtureProblem
        Any mixture of `gopfast.models`.
    start : array_like, dict, or anything with a solution, optional
        The first parameter (the means (K, d) of a Gaussian mixture, in units of the data), a state by name, or
        a result or solution; see `gopfast.local.start`. Weights that are not given are equal; the prior variance
        is always the best for the means, whatever the start has. By default around samples drawn at random.
    tol : float, default 1e-8
        Stop when a step gains at most this, in nats.
    max_iter : int, default 1000
        Most steps.
    random_state : None, int, Generator or RandomState
        For the default start.

    Returns
    -------
    LocalResult
        Its `trace` never falls, but for rounding.

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.

    Notes
    -----
    Runs in the compiled core for the families that it has, else in NumPy; the steps are the same.

    References
    ----------
    Dempster, Laird & Rubin, "Maximum likelihood from incomplete data via the EM algorithm" (1977); Saddiki, Trapp &
    Flaherty, appendices A.2, B.3 and C.2.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    >>> fit = gopfast.local.em(problem, start=[-5.0, 25.0])
    >>> fit.converged, round(fit.objective, 4)
    (True, 84.0302)
    """
    return fit(problem, start, run, tol, max_iter, random_state)


def run(problem, state, tol, max_iter):
    """EM from a state; returns the last state, the objectives before and after each step, and `converged`."""
    return run_compiled(problem, state, tol, max_iter) or run_numpy(problem, state, tol, max_iter)


def run_numpy(problem, state, tol, max_iter):
    """EM by the problem's own E and M steps."""

    def step(state):
        return problem.maximize(problem.responsibilities(**state), **state)

    return climb(problem, step, state, tol, max_iter)


def run_compiled(problem, state, tol, max_iter):
    """EM in the compiled core; None if it does not have the family, or cannot hold the state."""
    try:
        family = engine.family(problem)
    except (NotImplementedError, InputTypeError):
        return None
    parameters = {name: state[name] for name in problem.parameter_names}
    point = np.ravel(family.pack(**parameters))
    if not engine.holds(problem, state["weights"], point, parameters):
        return None
    vector, trace, converged = MixturePrimal(family).em(state["weights"], point, tol, max_iter)
    weights = vector[: problem.n_weights]
    found = problem.check_parameters(**family.parameters(vector))
    return {"weights": weights / weights.sum(), **found}, trace, converged
