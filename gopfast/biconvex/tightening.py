"""Bounds of a problem's variables before the search: from its rows, from linear programs, from the cutoff.

All bounds are proved: linear programs count by their duals, and where a variable is unbounded a box of one's own making
is put around and then shown not to matter.

Theory: (X7) of docs/theory/biconvex.md.
"""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

from gopfast.biconvex import lagrangian
from gopfast.biconvex.interruption import check
from gopfast.biconvex.outward import below
from gopfast.biconvex.tuning import TRIAL_LIMITS, TRIAL_REACHES, WIDEST
from gopfast.lp.lp import Lp


def tighten(lifting, stop):
    """
    Bound all variables by the constraints.

    Parameters
    ----------
    lifting : Lifting
    stop : StopSignal

    Returns
    -------
    (ndarray, ndarray) or None
        Bounds in the user's units and order, None if no point is feasible.

    Raises
    ------
    Stopped
    """
    low, high = lifting.low, lifting.high
    empty = [row for row in lifting.rows if not (row.linear or row.products or row.forms)]
    if (low > high).any() or any(not row.lower <= 0 <= row.upper for row in empty):
        return None
    box = _propagate(lifting, low, high)
    if box is None or lifting.unbounded(*box) is None:
        return box
    low, high = bound_by_linear_rows(lifting, *box, stop)
    box = None if (low > high).any() else _propagate(lifting, low, high)
    if box is None or lifting.unbounded(*box) is None:
        return box
    # Here and not above, as below: first solves of a process mostly have bounds of all variables.
    from gopfast.biconvex import ellipsoid, growth

    # ellipsoids first: they bound only what is unbounded, and closer
    for by_rows in (ellipsoid.tighten, growth.tighten, ellipsoid.tighten):
        box = by_rows(lifting, *box, lambda low, high: _propagate(lifting, low, high))
        if box is None or lifting.unbounded(*box) is None:
            break
    return box


def tighten_by_objective(lifting, low, high, value, point=None):
    """
    Bound what is unbounded by an objective that is asked for.

    Parameters
    ----------
    lifting : Lifting
    low, high : ndarray, shape (n,)
        The box in the user's units and order.
    value : float
        Greatest objective of the points to keep, minimised, in the user's units.
    point : ndarray, shape (n,), optional
        A local solution, for multipliers.

    Returns
    -------
    (ndarray, ndarray) or None
        None if no point is that good.
    """
    from gopfast.biconvex import ellipsoid, growth

    upper = math.nextafter(value - lifting.sign * lifting.problem.constant, math.inf)
    for multiplied in (None, point):
        box = ellipsoid.tighten(
            lifting, low, high, lambda low, high: _propagate(lifting, low, high, value), upper,
            lagrangian.at(lifting, multiplied),
        )  # fmt: skip
        if box is None or point is None or not lifting.has_free_curves(*box):
            break
        low, high = box
    if box is not None and lifting.unbounded(*box) is not None:
        box = growth.tighten(lifting, *box, lambda low, high: _propagate(lifting, low, high, value), upper)
    return box


def bound_objective(lifting, low, high, point=None):
    """
    Bound the objective over a box that may be unbounded, by Lagrangians.

    Parameters
    ----------
    lifting : Lifting
    low, high : ndarray, shape (n,)
        A box that holds all feasible points, in the user's units and order.
    point : ndarray, shape (n,), optional
        A local solution, for multipliers.

    Returns
    -------
    float
        Minimised, in the user's units; -inf where no bound is found.
    """
    from gopfast.biconvex import ellipsoid

    bounds = [ellipsoid.least(lifting, row, low, high) for row in lagrangian.at(lifting, point)]
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return -math.inf
    return below(max(known) + lifting.sign * Fraction(lifting.problem.constant))


def unbounded_factor(lifting, low, high):
    """
    Return the name of a variable of a product that neither has a bounded factor nor is bounded itself, or None.

    A product with both can do without bounds of its other factor: away from 0 the first one bounds it.
    """
    if lifting.unbounded(low, high) is None:
        return None
    data, _, _ = lifting.data(low, high, lifted=False)
    product_low, product_high = data.product_bounds()
    for k, (i, j) in enumerate(lifting.products):
        free = [v for v in (i, j) if not (math.isfinite(low[v]) and math.isfinite(high[v]))]
        if len(free) == 2 or (free and not (math.isfinite(product_low[k]) and math.isfinite(product_high[k]))):
            return lifting.problem.names[free[0]]
    return None


def _propagate(lifting, low, high, value=math.inf):
    data, scale, unit = lifting.data(low, high, lifted=False)
    box = data.tighten_box(*data.box, value / unit)
    return None if box is None else lifting.to_user(box, scale)


def bound_by_linear_rows(lifting, low, high, stop):
    """
    Bound unbounded variables by all linear rows together; in the user's units and order.

    A box is put around. Where each of its faces is shown, by linear programs, to be out of reach within it, the
    polyhedron lies inside: a segment to a point outside would cross a face. Rows of variables that do reach theirs are
    left out for the others, which only loosens.
    """
    low, high = low.copy(), high.copy()
    dropped = set()
    while True:
        rows = [
            row for row in lifting.rows
            if row.linear and not row.products and not row.forms and not dropped & row.linear.keys()
        ]
        reaching = set()
        for members, own_rows in _components(rows):
            free = [i for i in members if not (math.isfinite(low[i]) and math.isfinite(high[i]))]
            if not free:
                continue
            for reach in TRIAL_REACHES:
                found = _bound_component(members, own_rows, free, low, high, reach, stop)
                if isinstance(found, dict):
                    for i, (a, b) in found.items():
                        low[i], high[i] = max(low[i], a), min(high[i], b)
                    break
            else:
                reaching |= found
        if not reaching:
            return low, high
        dropped |= reaching


def _components(rows):
    """Split rows into sets that share no variable: (variables, rows) of each."""
    parent = {i: i for row in rows for i in row.linear}

    def root(i):
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    for row in rows:
        first = root(next(iter(row.linear)))
        for i in row.linear:
            parent[root(i)] = first
    members, own_rows = defaultdict(list), defaultdict(list)
    for i in parent:
        members[root(i)].append(i)
    for row in rows:
        own_rows[root(next(iter(row.linear)))].append(row)
    return [(members[key], own_rows[key]) for key in members]


def _bound_component(members, rows, free, low, high, reach, stop):
    """Return bounds of the free variables, or the set of those that reach the box put around."""
    place = {i: k for k, i in enumerate(members)}
    known = [abs(b) for row in rows for b in (row.lower, row.upper) if math.isfinite(b)]
    known += [abs(b) for i in members for b in (low[i], high[i]) if math.isfinite(b)]
    size = reach * max([1.0, *known])
    a = np.array([low[i] if math.isfinite(low[i]) else min(-size, high[i] - size) for i in members])
    b = np.array([high[i] if math.isfinite(high[i]) else max(size, low[i] + size) for i in members])
    if max(np.abs(a).max(), np.abs(b).max()) > WIDEST:
        # programs take such numbers for none, and refuse a box that ends at one
        return set(free)
    start = np.cumsum([0] + [len(row.linear) for row in rows])[:-1]
    index = [place[i] for row in rows for i in row.linear]
    value = [coefficient for row in rows for coefficient in row.linear.values()]
    lower, upper = [row.lower for row in rows], [row.upper for row in rows]
    bounds, reaching = {i: [-math.inf, math.inf] for i in free}, set()
    with Lp(np.zeros(len(members)), start, index, value, lower, upper, a, b) as program:
        program.watch(stop)
        for i in free:
            for side, sign, edge in ((0, 1.0, a), (1, -1.0, b)):
                if math.isfinite((low, high)[side][i]):
                    continue
                check(stop)
                program.set_cost(place[i], sign)
                status = program.solve()
                bound = sign * program.safe_bound
                program.set_cost(place[i], 0.0)
                inside = abs(bound) < 0.99 * abs(edge[place[i]])
                if status != "optimal" or not inside:
                    reaching.add(i)
                    break
                bounds[i][side] = bound
    return reaching or bounds


def limit_by_cutoff(relaxed, low, high, wanted, cutoff, stop):
    """
    Bound variables by showing that nothing beyond a limit is better than a known point.

    Parameters
    ----------
    relaxed : BilinearRelaxation
    low, high : ndarray, shape (n,)
        Core's box; changed in place.
    wanted : sequence of int
        Variables to bound.
    cutoff : float
        Objective of the point.
    stop : StopSignal
        Ends it early.
    """
    for j in wanted:
        for side in range(2):
            if math.isfinite((low, high)[side][j]):
                continue
            sign = -1.0 if side == 0 else 1.0
            for limit in TRIAL_LIMITS:
                if stop.stopped:
                    return
                beyond_low, beyond_high = low.copy(), high.copy()
                (beyond_high if side == 0 else beyond_low)[j] = sign * limit
                crossed = beyond_low[j] > beyond_high[j]
                if crossed or relaxed.bound_box(beyond_low, beyond_high, cutoff, signal=stop)[0] >= cutoff:
                    (low, high)[side][j] = sign * limit
                    break
