"""
Rows that contradict each other: infeasibility shown in rationals, however wide the bounds.

All constraints are linear in the monomials z_i and z_i z_j: the rows, bounds of variables, McCormick's rows where
factors have bounds, squares and convex forms that are not negative. By Farkas' lemma they have no solution where
multipliers y >= 0 make their sum 0 >= b with b > 0. A linear program says which rows have multipliers; these alone are
then solved for in rationals, so that nothing rests on its tolerances, nor on the size of the box.
"""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

from gopfast.biconvex.forms import convexity_defect, dense
from gopfast.biconvex.interruption import check
from gopfast.biconvex.tuning import (
    CONTRADICTION_REACHES as REACHES,
    CONTRADICTION_TOLERANCE as TOLERANCE,
    DENOMINATOR,
    LEAST_MULTIPLIER,
    MOST_MEMBERS,
    MOST_ROWS,
)
from gopfast.lp.lp import Lp


def found(lifting, low, high):
    """
    Whether the constraints are shown to contradict each other.

    Parameters
    ----------
    lifting : Lifting
    low, high : ndarray, shape (n,)
        A box that holds all feasible points, in the user's units and order.

    Returns
    -------
    bool
        False: nothing was shown.

    Raises
    ------
    Stopped
    """
    before = None
    for reach in REACHES:
        check(lifting.stop)
        own_low, own_high = np.where(low < -reach, -np.inf, low), np.where(high > reach, np.inf, high)
        taken = np.isfinite(own_low).sum(), np.isfinite(own_high).sum()
        if taken == before:
            continue
        before = taken
        rows = _constraints(lifting, own_low, own_high, float)
        members = _members(rows, lifting.stop) if len(rows) <= MOST_ROWS else []
        if members:
            rows = _constraints(lifting, own_low, own_high, Fraction)
            if _is_contradiction([rows[k] for k in members]):
                return True
    return False


def _constraints(lifting, low, high, number):
    """
    All constraints as pairs (terms, b) of sum_m terms[m] m >= b; m is a variable or a pair of variables.

    In numbers of a class, Fraction or float, of which the first are exact and the last do for a linear program.
    """
    rows = []
    for row in lifting.rows:
        terms = defaultdict(number)
        for own in (row.linear, row.products, *row.forms):
            for monomial, a in own.items():
                terms[monomial] += number(a)
        for bound, sign in ((row.lower, 1), (row.upper, -1)):
            if math.isfinite(bound):
                rows.append(({m: sign * a for m, a in terms.items() if a}, sign * number(bound)))
        for form in row.forms:
            if convexity_defect(form) == 0:
                rows += [_tangent(form, {}, number), _tangent(form, _least_point(form, row.linear), number)]
    ends, low, high = {}, low.tolist(), high.tolist()
    for i in range(lifting.n):
        own = [(sign, number(end)) for sign, end in ((1, low[i]), (-1, high[i])) if math.isfinite(end)]
        ends[i] = [(sign, sign * end) for sign, end in own]  # sign z_i >= end
        rows += [({i: number(sign)}, end) for sign, end in ends[i]]
    monomials = {m for terms, _ in rows for m in terms if isinstance(m, tuple)}
    for i, j in sorted(monomials):
        if i == j:
            rows.append(({(i, i): number(1)}, number(0)))
        for s, a in ends[i]:
            for t, b in ends[j]:
                # (s z_i - a) (t z_j - b) >= 0
                terms = defaultdict(number, {(i, j): number(s * t)})
                terms[i] -= s * b
                terms[j] -= t * a
                rows.append(({m: x for m, x in terms.items() if x}, -a * b))
    return rows


def _least_point(form, linear):
    """Return where a form and the linear terms beside it are least, nearly, as simple fractions by variable."""
    members = sorted({i for pair in form for i in pair})
    slope = np.array([linear.get(i, 0.0) for i in members])
    point = np.linalg.lstsq(2.0 * dense(form), -slope, rcond=None)[0]
    if not np.isfinite(point).all():
        return {}
    return {i: Fraction(x).limit_denominator(DENOMINATOR) for i, x in zip(members, point.tolist(), strict=True)}


def _tangent(form, at, number):
    """Return z'Qz >= 2 t'Qz - t'Qt of a convex form; t is 0 where no value is given."""
    terms, constant = defaultdict(number), number(0)
    for (i, j), a in form.items():
        a, t, u = number(a), number(at.get(i, 0)), number(at.get(j, 0))
        terms[i, j] += a
        terms[i] -= a * u
        terms[j] -= a * t
        constant -= a * t * u
    return {m: a for m, a in terms.items() if a}, constant


def _members(rows, stop):
    """Return the numbers of the rows, in floats, to which a linear program gives multipliers."""
    sizes = [max(map(abs, terms.values()), default=1.0) for terms, _ in rows]
    by_monomial = defaultdict(list)
    for k, (terms, _) in enumerate(rows):
        for m, a in terms.items():
            by_monomial[m].append((k, a / sizes[k]))
    right = np.array([b / size for (_, b), size in zip(rows, sizes, strict=True)])
    greatest = abs(right).max(initial=0.0)
    if not 0 < greatest < math.inf or not (right > 0).any():
        return []
    entries = [*by_monomial.values(), [(k, 1.0) for k in range(len(rows))]]
    start = np.cumsum([0, *map(len, entries)])[:-1]
    index, value = (np.array([entry[side] for own in entries for entry in own]) for side in range(2))
    if not np.isfinite(value).all():
        return []
    upper = np.zeros(len(entries))
    upper[-1] = 1.0
    with Lp(-right / greatest, start, index, value, np.append(upper[:-1], -np.inf), upper, np.zeros(len(rows)),
            np.full(len(rows), np.inf)) as program:  # fmt: skip
        program.watch(stop)
        program.set_tolerance(TOLERANCE)
        status = program.solve()
        check(stop)
        y = program.x if status == "optimal" else np.zeros(len(rows))
    members = np.flatnonzero(y > LEAST_MULTIPLIER)
    return members.tolist() if len(members) <= MOST_MEMBERS else []


def _is_contradiction(rows):
    """Whether multipliers >= 0 of all these rows, the only ones but for a factor, make their sum 0 >= b > 0."""
    if not rows:
        return False
    y = _only_combination([terms for terms, _ in rows])
    if y is None:
        return False
    total = sum((a * b for a, (_, b) in zip(y, rows, strict=True)), Fraction(0))
    return total != 0 and all(a * total >= 0 for a in y)


def _only_combination(rows):
    """Return the y with sum_k y_k rows[k] = 0, of Fractions, where it is the only one but for a factor, or None."""
    reduced = []  # (pivot, row, combination), each without the pivots before
    kernel = []
    for k, terms in enumerate(rows):
        row, combination = dict(terms), {k: Fraction(1)}
        for pivot, other, made in reduced:
            factor = row.get(pivot)
            if factor:
                row = _less(row, factor, other)
                combination = _less(combination, factor, made)
        if row:
            pivot = min(row, key=str)
            scale = row[pivot]
            row, combination = ({m: a / scale for m, a in own.items()} for own in (row, combination))
            reduced.append((pivot, row, combination))
        else:
            kernel.append(combination)
    return [kernel[0].get(k, Fraction(0)) for k in range(len(rows))] if len(kernel) == 1 else None


def _less(row, factor, other):
    """Row less factor times another."""
    left = dict(row)
    for m, a in other.items():
        left[m] = left.get(m, Fraction(0)) - factor * a
    return {m: a for m, a in left.items() if a}
