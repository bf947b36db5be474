"""Expectation-conjugate-gradient method."""

import math

import numpy as np

from gopfast.annotations import Seed, StartLike
from gopfast.mixtures.local._driver import fit, in_coordinates
from gopfast.mixtures.local._result import LocalResult
from gopfast.mixtures.local.tuning import ARMIJO, CURVATURE, MOST_TRIALS
from gopfast.mixtures.problems import MixtureProblem


def conjugate_gradient(
    problem: MixtureProblem, start: StartLike = None, *, tol: float = 1e-8, max_iter: int = 1000, random_state: Seed = 0
) -> LocalResult:
    """
    Run the expectation-conjugate-gradient method (ECG).

    The E step's responsibilities give the exact gradient of the log-likelihood in the coordinates of
    `gopfast.local.quasi_newton`, and a nonlinear conjugate-gradient step (Polak & Ribiere, restarted along the
    gradient where it must be) takes the place of the M step. Variances that reach their floor stay on it while
    the gradient holds them there. The ELBO never decreases.

    Parameters
    ----------
    problem, start, max_iter, random_state
        As of `gopfast.local.quasi_newton`.
    tol : float, default 1e-8
        Stop when a step along the gradient gains at most this, in nats.

    Returns
    -------
    LocalResult
        `trace` has one entry per line search.

    Raises
    ------
    InputError
        If the problem is no mixture, the start is none of it, or `tol`, `max_iter` or `random_state` is invalid.

    References
    ----------
    Salakhutdinov, Roweis & Ghahramani, "Optimization with EM and expectation-conjugate-gradient", ICML 2003.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    >>> fit = gopfast.local.conjugate_gradient(problem, start=[-5.0, 25.0])
    >>> round(fit.objective, 4)
    84.0302
    """
    return fit(problem, start, in_coordinates(_minimize), tol, max_iter, random_state)


def _minimize(coordinates, vector, tol, max_iter):
    return minimize(coordinates.evaluate, vector, coordinates.low, coordinates.high, tol, max_iter)


def minimize(evaluate, point, low, high, tol, max_iter):
    """
    Minimise a smooth function over a box by projected conjugate gradients.

    Parameters
    ----------
    evaluate : callable
        From a point to the value and the gradient.
    point : ndarray, shape (n,)
        In the box.
    low, high : ndarray, shape (n,)
    tol : float
        Stop when a step along the gradient gains at most this.
    max_iter : int

    Returns
    -------
    point : ndarray, shape (n,)
    values : list of float
        Before the first step and after each step, never rising.
    converged : bool
    """
    value, gradient = evaluate(point)
    values, direction, former, length = [value], None, None, None
    while len(values) <= max_iter:
        # Coordinates that their bound holds do not move.
        free = ~(((point <= low) & (gradient > 0.0)) | ((point >= high) & (gradient < 0.0)))
        slope = np.where(free, gradient, 0.0)
        steepest, size = True, math.sqrt(slope @ slope)
        # The square may underflow, which is as good as 0.
        if size == 0.0:
            return point, values, True
        if former is not None:
            momentum = max(0.0, slope @ (slope - former) / (former @ former))
            conjugate = np.where(free, momentum * direction - slope, 0.0)
            # Nearly at a right angle to the gradient a direction is worth nothing.
            steepest = momentum == 0.0 or slope @ conjugate >= -0.01 * size * math.sqrt(conjugate @ conjugate)
        direction = -slope if steepest else conjugate
        descent = float(slope @ direction)
        guess = 1.0 / size if length is None else length / -descent
        found = _line_search(evaluate, point, value, descent, direction, low, high, guess)
        gain = 0.0
        if found is not None:
            gain = value - found[2]
            step, point, value, gradient = found
            values.append(value)
            former, length = slope, -descent * step
        if gain <= tol:
            if steepest:
                return point, values, True
            former = None
    return point, values, False


def _line_search(evaluate, point, value, descent, direction, low, high, step):
    """
    Search along a direction, projected on the box, for a point that lies lower and where the descent has eased.

    Returns (step, point, value, gradient) of the best trial, or None if none lies lower.
    """
    shortest, longest, best = 0.0, math.inf, None
    for _ in range(MOST_TRIALS):
        moved = np.clip(point + step * direction, low, high)
        if (moved == point).all():
            break
        reached, gradient = evaluate(moved)
        if not reached <= value + ARMIJO * step * descent or not reached < value:
            longest = step
            # The minimum of the parabola through both values, with the descent at the first.
            rise = reached - value - step * descent
            step = -0.5 * descent * step * step / rise if 0.0 < rise < math.inf else 0.0
        else:
            if best is None or reached < best[2]:
                best = step, moved, reached, gradient
            inside = (moved > low) & (moved < high)
            slope = float(np.where(inside, gradient, 0.0) @ direction)
            if slope >= CURVATURE * descent:
                if slope <= -CURVATURE * descent:
                    break
                longest = step
            else:
                shortest = step
            # Where the descent would end if it changed evenly.
            step = step * descent / (descent - slope) if slope > descent else 4.0 * step
        if longest == math.inf:
            step = min(max(step, 1.5 * shortest), 10.0 * shortest)
        else:
            margin = 0.1 * (longest - shortest)
            step = min(max(step, shortest + margin), longest - margin)
    return best
