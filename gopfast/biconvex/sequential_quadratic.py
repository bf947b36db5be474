"""
Local solutions of a nonlinear program by sequential quadratic programming (Kraft 1988, Powell 1978).

Each step is the solution of a convex quadratic program: the linearised rows, and a Hessian of the Lagrangian that is
updated from gradients and kept positive definite. It is shortened until a merit function falls, the objective and what
rows miss at the greatest multipliers so far. Where linearised rows contradict each other, one more variable takes back
a share of all at a price. The steps are those of SciPy's SLSQP, whose import takes longer than most searches.
"""

import math

import numpy as np

from gopfast.biconvex.convex_step import ConvexStep
from gopfast.biconvex.tuning import (
    FIRST_PRICE,
    LEAST_DAMPING,
    LEAST_DESCENT,
    MOST_PRICES,
    MOST_RESETS,
    MOST_SHORTENED,
    SHORTEST_CUT,
)


def minimize(values, slopes, x, low, high, n_equal, most_steps, tolerance):
    """
    Search from a point.

    Parameters
    ----------
    values, slopes : callable
        Objective and rows at a point, shape (1 + m,), and their gradients, (1 + m, n). Rows are 0, or at least 0.
    x, low, high : ndarray, shape (n,)
        The point and the bounds, which may be infinite; nothing is evaluated outside of them.
    n_equal : int
        The first rows, which are 0.
    most_steps : int
    tolerance : float
        Of the objective, or the length of a step, and of the sum of what rows miss.

    Returns
    -------
    ndarray, shape (n,)
        Where the search ended. It need not meet the rows.
    """
    return _Search(values, slopes, x, low, high, n_equal).run(most_steps, tolerance)


def one_sided(lower, upper):
    """
    Turn rows with two ends into rows that are 0, then rows that are at least 0.

    Parameters
    ----------
    lower, upper : ndarray, shape (m,)

    Returns
    -------
    rows, signs, ends : ndarray, shape (k,)
        Each is signs * (rows' value - ends).
    n_equal : int
        How many are 0.
    """
    equal = lower == upper
    below, above = (np.flatnonzero(~equal & np.isfinite(ends)) for ends in (upper, lower))
    equal = np.flatnonzero(equal)
    signs = np.repeat([1.0, -1.0, 1.0], [len(equal), len(below), len(above)])
    return (
        np.concatenate([equal, below, above]), signs,
        np.concatenate([lower[equal], upper[below], lower[above]]), len(equal),
    )  # fmt: skip


class _Search:
    def __init__(self, values, slopes, x, low, high, n_equal):
        self.values, self.slopes, self.low, self.high, self.n_equal = values, slopes, low, high, n_equal
        self.x = np.clip(x, low, high)
        self.now, self.slope = values(self.x), slopes(self.x)
        self.weights = np.zeros(len(self.now) - 1)
        self.n_resets = 0
        self.hessian = np.eye(len(x))

    def run(self, most_steps, tolerance):
        for _ in range(most_steps):
            found = self.step()
            if found is None:
                break
            step, multipliers, share = found
            descent = self.slope[0] @ step
            missed = self.missed(self.now)
            size = np.abs(multipliers)
            self.weights = np.maximum(size, 0.5 * (self.weights + size))
            left = abs(descent) + size @ np.abs(self.now[1:])
            if left < tolerance and missed.sum() < tolerance and share == 1.0 and math.isfinite(self.now[0]):
                break
            descent -= share * (self.weights @ missed)
            if not descent < 0.0:
                if self.n_resets == MOST_RESETS:
                    break
                self.n_resets += 1
                self.hessian = np.eye(len(self.x))
                continue
            before = self.now[0]
            lagrangian = self.slope[0] - multipliers @ self.slope[1:]
            step = self.along(step, descent)
            near = abs(self.now[0] - before) < tolerance or np.linalg.norm(step) < tolerance
            if near and self.missed(self.now).sum() < tolerance and share == 1.0 and math.isfinite(self.now[0]):
                break
            self.slope = self.slopes(self.x)
            self.update(step, self.slope[0] - multipliers @ self.slope[1:] - lagrangian)
        return self.x

    def missed(self, values):
        """Return what each row misses, at least 0."""
        rows = values[1:]
        found = np.maximum(-rows, 0.0)
        found[: self.n_equal] = np.abs(rows[: self.n_equal])
        return found

    def step(self):
        """Return a step, multipliers, and the share of what rows miss that it takes back; None: there is no step."""
        try:
            inverse = np.linalg.inv(np.linalg.cholesky(self.hessian))
        except np.linalg.LinAlgError:
            self.hessian = inverse = np.eye(len(self.x))
        rows, sides = self.slope[1:], -self.now[1:]
        low, high = self.low - self.x, self.high - self.x
        found = ConvexStep(inverse, self.slope[0], rows, sides, self.n_equal, low, high)
        if found.found:
            return found.step, found.multipliers, 1.0
        if not len(rows):
            return None  # of numbers too far apart
        # the last variable is the share that is left: 1 meets all rows without a step
        rest = np.maximum(sides, 0.0)
        rest[: self.n_equal] = sides[: self.n_equal]
        rows = np.column_stack([rows, rest])
        low, high = np.append(low, 0.0), np.append(high, 1.0)
        price = FIRST_PRICE
        for _ in range(MOST_PRICES):
            wide = np.zeros((len(rows[0]),) * 2)
            wide[:-1, :-1], wide[-1, -1] = inverse, price**-0.5
            found = ConvexStep(wide, np.append(self.slope[0], 0.0), rows, sides, self.n_equal, low, high)
            if found.found:
                return found.step[:-1], found.multipliers, 1.0 - found.step[-1]
            price *= 10.0
        return None

    def along(self, step, descent):
        """Go along a step, shortened until the merit falls enough; return what was made of it."""
        start, merit = self.x, self.now[0] + self.weights @ self.missed(self.now)
        for _ in range(MOST_SHORTENED):
            self.x = np.clip(start + step, self.low, self.high)
            self.now = self.values(self.x)
            change = self.now[0] + self.weights @ self.missed(self.now) - merit
            if change <= LEAST_DESCENT * descent:
                break
            share = 0.5 * descent / (descent - change)
            share = share if share > SHORTEST_CUT else SHORTEST_CUT
            step, descent = share * step, share * descent
        return step

    def update(self, step, change):
        """Update the Hessian (BFGS), damped so that it stays positive definite."""
        product = self.hessian @ step
        curvature, bend = step @ product, step @ change
        if not curvature > 0.0:
            return
        if bend < LEAST_DAMPING * curvature:
            share = (1.0 - LEAST_DAMPING) * curvature / (curvature - bend)
            change = share * change + (1.0 - share) * product
            bend = LEAST_DAMPING * curvature
        self.hessian = self.hessian + np.outer(change, change) / bend - np.outer(product, product) / curvature
