"""Local methods: fast, and without any guarantee."""

from dataclasses import dataclass

import numpy as np

from gopfast import _checks, _engine
from gopfast._em import MixturePrimal
from gopfast.options import seed_from
from gopfast.result import MixtureSolution
from gopfast.solver import unpack


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalResult:
    """
    Result of a local method.

    Attributes
    ----------
    solution : MixtureSolution
        Parameters at the end.
    objective : float
        Objective at `solution`, in nats, without the constant that the paper drops.
    elbo : float
        ``problem.elbo_constant - objective``.
    trace : ndarray, shape (n_iter + 1,)
        ELBO before the first step and after each step.
    converged : bool
        Whether the last step gained at most `tol`.
    n_iter : int
        Steps taken.
    """

    solution: MixtureSolution
    objective: float
    elbo: float
    trace: np.ndarray
    converged: bool
    n_iter: int


def em(problem, start=None, tol=1e-8, max_iter=1000, random_state=0):
    """
    Run EM, or variational EM where the problem has a prior (algorithms 1 and 2 of the paper).

    One step sets the responsibilities ``tau_ik`` proportional to ``pi_k exp(-|x_i - m_k|^2 / 2)``, then
    ``pi_k = N_k / W``, ``m_k = sum_i w_i tau_ik x_i / (N_k + v / Gamma)`` and, with ``prior="empirical"``,
    ``Gamma = sum_k |m_k|^2 / (K d)`` within its bounds. The other families have their own densities and the
    M step of ``problem.maximize``. The ELBO never decreases.

    Parameters
    ----------
    problem : GaussianMixture or another mixture of `gopfast.models`
    start : array_like of shape (K, d), or a result or solution, optional
        Means, or what the model has in their place, to start from, in units of the data; a solution also gives its
        weights. By default, means drawn from the samples.
    tol : float, default 1e-8
        Stop when a step gains at most this, in nats.
    max_iter : int, default 1000
        Most steps.
    random_state : None, int, Generator or RandomState
        For the default start.

    Returns
    -------
    LocalResult

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.

    References
    ----------
    Saddiki, Trapp & Flaherty, appendix A.2 and B.3.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    >>> fit = gopfast.local.em(problem, start=[-5.0, 25.0])
    >>> fit.converged, round(fit.objective, 4)
    (True, 84.0302)
    """
    family = _engine.family(problem)
    tol = _checks.nonnegative_number("tol", tol)
    max_iter = _checks.whole_number("max_iter", max_iter, 1)
    point = _engine.start_parameters(problem, start)
    if point is None:
        point = family.seeded(np.random.default_rng(seed_from(random_state)))
    solution = getattr(start, "solution", start)
    weights = getattr(solution, "weights", np.full(problem.n_components, 1.0 / problem.n_components))
    vector, trace, converged = MixturePrimal(family).em(np.asarray(weights, dtype=float), point, tol, max_iter)
    objective = float(trace[-1])
    return LocalResult(
        solution=unpack(problem, family, vector),
        objective=objective,
        elbo=problem.elbo_constant - objective,
        trace=problem.elbo_constant - trace,
        converged=converged,
        n_iter=len(trace) - 1,
    )
