"""Coordinate ascent variational inference."""

import numpy as np

from gopfast import checks
from gopfast.annotations import Seed, StartLike
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.local._driver import fit
from gopfast.mixtures.local._result import LocalResult
from gopfast.mixtures.local._state import check_problem, climb
from gopfast.mixtures.problems import GaussianMixture


def cavi(
    problem: GaussianMixture,
    start: StartLike = None,
    *,
    prior_variance: float | None = None,
    tol: float = 1e-8, max_iter: int = 1000, random_state: Seed = 0,
) -> LocalResult:  # fmt: skip
    """
    Run coordinate ascent variational inference (CAVI) for the Bayesian mixture of Gaussians.

    The model has no weights to estimate: with sigma^2 the prior variance and v the known variance (1 in the source)::

        mu_k ~ N(0, sigma^2 I),    c_i ~ Categorical(1/K, ..., 1/K),    x_i | c_i = k, mu ~ N(mu_k, diag(v))

    The posterior is sought among ``q(mu_k) = N(m_k, diag(s_k))`` and ``q(c_i) = Categorical(phi_i)``. One step is::

        phi_ik proportional to exp( - sum_j [ (x_ij - m_kj)^2 + s_kj ] / (2 v_j) )
        s_kj = 1 / (1 / sigma^2 + sum_i w_i phi_ik / v_j),    m_kj = s_kj sum_i w_i phi_ik x_ij / v_j

    (with v = 1 the variances of a component are equal, as in the source). What
    it maximises is ``problem.elbo`` with the weights held at 1/K and the prior variance at sigma^2; the ELBO never
    decreases. Its optimum lies at or below that of `gopfast.solve`, which may choose the weights.

    Parameters
    ----------
    problem : GaussianMixture
        Of known variance, with a prior and ``posterior="gaussian"``.
    start : array_like, dict, or anything with a solution, optional
        As `gopfast.local.em`; weights and prior variance of a start are not used.
    prior_variance : float, optional
        sigma^2, in squared units of X. By default ``problem.prior`` if that is a number; needed with
        ``prior="empirical"``, as this method holds it fixed.
    tol, max_iter, random_state
        As of `gopfast.local.em`.

    Returns
    -------
    LocalResult
        Its weights are 1/K.

    Raises
    ------
    InputError
        If the problem is another model, or an argument is invalid; the message names it.

    References
    ----------
    Blei, Kucukelbir & McAuliffe, "Variational inference: a review for statisticians", JASA 112 (2017), algorithm 2.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior=100.0, posterior="gaussian")
    >>> fit = gopfast.local.cavi(problem, start=[-5.0, 25.0])
    >>> fit.solution.weights
    array([0.5, 0.5])
    """
    prior_variance = _check_model(problem, prior_variance)
    # A given sigma^2 takes the place of the estimated one in every state.
    fixed = {"weights": np.full(problem.n_components, 1.0 / problem.n_components), "prior_variance": prior_variance}

    def step(state):
        return {**problem.maximize(problem.responsibilities(**state), **state), **fixed}

    def run(problem, state, tol, max_iter):
        return climb(problem, step, {**state, **fixed}, tol, max_iter)

    return fit(problem, start, run, tol, max_iter, random_state)


def _check_model(problem, prior_variance):
    """Return sigma^2 after checking that the problem has this method's model."""
    check_problem(problem)
    if not isinstance(problem, GaussianMixture):
        raise InputTypeError(f"problem must be a GaussianMixture; got {type(problem).__name__}")
    if problem.posterior != "gaussian":
        raise InputError("problem must have posterior='gaussian', of which this method finds the parameters")
    if problem.prior != "empirical":
        if prior_variance is not None and checks.positive_number("prior_variance", prior_variance) != problem.prior:
            raise InputError(f"prior_variance must be None or agree with prior={problem.prior!r}")
        return problem.prior
    if prior_variance is None:
        raise InputError("prior_variance must be given with prior='empirical': this method holds it fixed")
    return checks.positive_number("prior_variance", prior_variance)
