"""Quasi-Newton method."""

import contextlib
import functools

import numpy as np

from gopfast.annotations import Seed, StartLike
from gopfast.mixtures.local._driver import fit, in_coordinates
from gopfast.mixtures.local._result import LocalResult
from gopfast.mixtures.local.tuning import FLAT, MEMORY
from gopfast.mixtures.problems import MixtureProblem

OUT_OF_STEPS, NO_LOWER_POINT = 1, 2  # SciPy's status


def quasi_newton(
    problem: MixtureProblem, start: StartLike = None, *, tol: float = 1e-8, max_iter: int = 1000, random_state: Seed = 0
) -> LocalResult:
    """
    Run L-BFGS-B, by SciPy, on the objective as a function of the weights and the parameters.

    The responsibilities, and an estimated prior variance, are at their optimum throughout. Weights are a softmax,
    variances and rates are exponentials, probabilities logistic functions of the coordinates; variances stop at
    their floor. Gradients are analytic for every family. The ELBO never decreases.

    Parameters
    ----------
    problem : MixtureProblem
        Any mixture of `gopfast.models`.
    start : array_like, dict, or anything with a solution, optional
        As `gopfast.local.em`; weights, probabilities and rates of 0 are raised by 1e-12 (rates in units of the
        data's), and full covariances on the floor by 1e-4 floors, because the gradient vanishes there.
    tol, max_iter, random_state
        As of `gopfast.local.em`; a step is one line search.

    Returns
    -------
    LocalResult
        Its `n_iter` counts line searches.

    Raises
    ------
    InputError
        As `gopfast.local.em`.

    Notes
    -----
    Where threadpoolctl is installed (scikit-learn brings it), BLAS runs on one thread meanwhile: since SciPy 1.15
    L-BFGS-B may otherwise spend most of its time on waking threads (SciPy issue 22438).

    References
    ----------
    Byrd, Lu, Nocedal & Zhu, "A limited memory algorithm for bound constrained optimization" (1995).

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    >>> round(gopfast.local.quasi_newton(problem, start=[-5.0, 25.0]).objective, 4)
    84.0302
    """
    return fit(problem, start, _run, tol, max_iter, random_state)


@in_coordinates
def _run(coordinates, vector, tol, max_iter):
    """L-BFGS-B from a point; it converges where a step, or the slope, is as good as nothing."""
    # Here and not above: scipy.optimize takes longer to import than most problems to solve.
    from scipy.optimize import Bounds, minimize

    objectives = [coordinates.evaluate(vector)[0]]

    def watch(intermediate_result):
        objectives.append(float(intermediate_result.fun))
        if objectives[-2] - objectives[-1] <= tol:
            raise StopIteration

    with _one_blas_thread():
        found = minimize(
            coordinates.evaluate,
            vector,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(coordinates.low, coordinates.high),
            callback=watch,
            options={"maxiter": max_iter, "maxfun": 30 * max_iter, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0},
        )
    vector = np.asarray(found.x)
    converged = found.status != OUT_OF_STEPS
    if found.status == NO_LOWER_POINT:
        # At an optimum rounding hides the gain; elsewhere the line search has failed.
        slope = coordinates.evaluate(vector)[1]
        moved = np.clip(vector - slope, coordinates.low, coordinates.high) - vector
        converged = np.abs(moved).max() <= FLAT * (coordinates.problem.total_weight + abs(found.fun))
    return vector, objectives, converged


def _one_blas_thread():
    """Context in which BLAS uses one thread, where that can be asked for."""
    controller = _thread_pools()
    return contextlib.nullcontext() if controller is None else controller.limit(limits=1, user_api="blas")


@functools.cache
def _thread_pools():
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
