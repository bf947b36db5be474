"""
Lagrangians of a biconvex problem: with the multipliers of a local solution they may be convex in what is unbounded.

    L(z) = f(z) - sum_r y_r (g_r(z) - b_r),    y_r >= 0 where b_r is the row's lower bound alone, <= 0 the upper,

is at most f at every feasible point, so that its least value is a bound of the objective, and what is better than a
known point lies where L is below its value: in an ellipsoid, see `ellipsoid`. The multipliers are rounded to simple
rationals, for coefficients of what is unbounded must cancel exactly, and everything is proved of those.

Theory: (X11) of docs/theory/biconvex.md.
"""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

from gopfast.biconvex.interruption import check
from gopfast.biconvex.tuning import ACTIVE, ALMOST, LAGRANGIAN_ROUNDS as MOST_ROUNDS, MOST_ENTRIES, SIMPLE, SMALLEST


class Lagrangian:
    """
    Terms as those of a `lifting.Row`, of Fractions; minimised and without the objective's constant.

    Parameters
    ----------
    lifting : Lifting
    multipliers : dict
        Number of a row -> Fraction.
    """

    def __init__(self, lifting, multipliers):
        self.linear, self.products = defaultdict(Fraction), defaultdict(Fraction)
        self.forms, self.constant, self.multipliers = [], Fraction(0), multipliers
        self._add(lifting.objective, Fraction(1))
        for number, y in multipliers.items():
            row = lifting.rows[number]
            check(lifting.stop)
            self._add(row, -y)
            self.constant += y * Fraction(row.lower if y > 0 else row.upper)
        self.linear = {i: a for i, a in self.linear.items() if a}
        self.products = {pair: a for pair, a in self.products.items() if a}

    def _add(self, row, factor):
        for i, a in row.linear.items():
            self.linear[i] += factor * Fraction(a)
        for terms in (row.products, *row.forms):
            for pair, a in terms.items():
                self.products[pair] += factor * Fraction(a)


def at(lifting, point, simple=True):
    """
    Return Lagrangians to try: without multipliers, and with those of a point where it has some.

    Parameters
    ----------
    lifting : Lifting
    point : ndarray, shape (n,), or None
        In the user's units.
    simple : bool
        Whether multipliers are rounded to simple rationals, so that coefficients of what is unbounded cancel.

    Returns
    -------
    list of Lagrangian
    """
    found = [Lagrangian(lifting, {})]
    multipliers = {} if point is None else _multipliers(lifting, point, simple)
    return [Lagrangian(lifting, multipliers), *found] if multipliers else found


def _multipliers(lifting, point, simple=True):
    """Multipliers that leave little of the objective's gradient: least squares, without those of the wrong sign."""
    rows = [number for number, row in enumerate(lifting.rows) if _is_active(row, point)]
    if not rows or len(rows) * len(point) > MOST_ENTRIES:
        return {}
    size = np.maximum(np.abs(point), 1.0)
    target = _gradient(lifting.objective, point) * size
    columns = np.array([_gradient(lifting.rows[number], point) for number in rows]) * size
    # what bounds of variables that the point is on may take
    on_low, on_high = (np.flatnonzero(np.abs(point - ends) <= ACTIVE * size) for ends in (lifting.low, lifting.high))
    unit = np.eye(len(point))
    matrix = np.vstack([columns, unit[on_low], -unit[on_high]]).T
    least = [-math.inf if lifting.rows[number].upper < math.inf else 0.0 for number in rows]
    most = [math.inf if lifting.rows[number].lower > -math.inf else 0.0 for number in rows]
    n_ends = len(on_low) + len(on_high)
    scale = np.abs(matrix).max(axis=0)
    scale[scale == 0] = 1.0
    if not np.isfinite(matrix).all() or not np.isfinite(target).all():
        return {}
    check(lifting.stop)
    least, most = np.append(least, np.zeros(n_ends)), np.append(most, np.full(n_ends, math.inf))
    y, kept = np.zeros(len(scale)), np.arange(len(scale))
    for _ in range(MOST_ROUNDS):
        y[:] = 0.0
        y[kept] = np.linalg.lstsq((matrix / scale)[:, kept], target, rcond=None)[0]
        right = (y[kept] >= least[kept]) & (y[kept] <= most[kept])
        if right.all():
            break
        kept = kept[right]
    y = np.clip(y, least, most)[: len(rows)] / scale[: len(rows)]
    taken = np.abs(y) * scale[: len(rows)] > SMALLEST * np.abs(target).max(initial=0.0)
    found = {}
    for number, value, is_taken in zip(rows, y.tolist(), taken.tolist(), strict=True):
        row = lifting.rows[number]
        if is_taken and math.isfinite(value) and math.isfinite(row.lower if value > 0 else row.upper):
            found[number] = _simple(value) if simple else Fraction(value)
    return found


def _simple(value):
    near = Fraction(value).limit_denominator(SIMPLE)
    return near if near and abs(float(near) - value) <= ALMOST * max(1.0, abs(value)) else Fraction(value)


def _is_active(row, point):
    value, size = 0.0, 0.0
    for i, a in row.linear.items():
        value += a * point[i]
        size = max(size, abs(a * point[i]))
    for terms in (row.products, *row.forms):
        for (i, j), a in terms.items():
            value += a * point[i] * point[j]
            size = max(size, abs(a * point[i] * point[j]))
    return any(abs(value - end) <= ACTIVE * max(size, abs(end), 1.0) for end in (row.lower, row.upper))


def _gradient(row, point):
    gradient = np.zeros(len(point))
    for i, a in row.linear.items():
        gradient[i] += a
    for terms in (row.products, *row.forms):
        for (i, j), a in terms.items():
            gradient[i] += a * point[j]
            gradient[j] += a * point[i]
    return gradient
