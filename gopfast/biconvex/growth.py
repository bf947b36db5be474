"""
Bounds of unbounded variables from rows that grow beyond their limits with them, whatever the other variables are.

With t or -t as the variable, a row reads h(z, t) = sum_j z_j (a_j + q_j t) + b t + s t^2 + r <= 0, r the least value of
its other terms. From T = max -a_j / q_j on no coefficient changes its sign, so that each z_j does least at one of its
bounds; where those exist, h >= s t^2 + b' t + r', and T is raised to the greatest root. This is what products with
affine factors whose signs are known say, x (a'z + b) = c, quotients x (a'z + b) = p'z + p0, and sums of nonnegative
products. Where bounds of z do not make a'z + b positive, linear rows may, times t and with the multipliers of a linear
program.

All is computed in rationals, and proved whatever the linear program returned.

Theory: (X11) of docs/theory/biconvex.md.
"""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

from gopfast.biconvex.interruption import check
from gopfast.biconvex.outward import above
from gopfast.biconvex.tuning import GROWTH_ROUNDS, HOPELESS, MOST_GROWTH_TERMS as MOST_TERMS, SIMPLE_MULTIPLIER, WIDEST
from gopfast.lp.lp import Lp


def tighten(lifting, low, high, propagate, upper=math.inf):
    """
    Bound unbounded variables, with propagation in between.

    Parameters
    ----------
    lifting : Lifting
    low, high : ndarray, shape (n,)
        The box in the user's units and order.
    propagate : callable
        ``propagate(low, high)`` tightens a box by the rows; None if it is empty.
    upper : float
        Greatest objective of the points to keep, minimised and without its constant, in the user's units.

    Returns
    -------
    (ndarray, ndarray) or None
        None if the box is empty.

    Raises
    ------
    Stopped
        If the lifting's signal says so.
    """
    rows = [(_Row(row, sign, limit), _members(row))
            for row, sign, limit in [(lifting.objective, 1, upper), *lifting.inequalities()]
            if math.isfinite(limit) and (row.products or row.forms)]  # fmt: skip
    with _LinearRows([row for row in lifting.rows if row.linear and not (row.products or row.forms)]) as linear:
        return _tighten(lifting, low, high, propagate, rows, linear)


def _tighten(lifting, low, high, propagate, rows, linear):
    """As `tighten`, by rows with their members, and linear rows."""
    n_terms = 0
    for _ in range(GROWTH_ROUNDS):
        low, high, improved = low.copy(), high.copy(), False
        linear.enter_box(low, high)
        for row, members in rows:
            for i in members:
                for direction, ends in ((1, high), (-1, low)):
                    if math.isfinite(ends[i]):
                        continue
                    check(lifting.stop)
                    n_terms += len(row.quadratic) + len(row.linear)
                    if n_terms > MOST_TERMS:
                        break
                    most = _most(row, i, direction, low, high, linear)
                    if most is not None and abs(most) < WIDEST:
                        ends[i], improved = direction * above(most), True
                        linear.enter_box(low, high)
        if not improved:
            break
        box = None if (low > high).any() else propagate(low, high)
        if box is None:
            return None
        low, high = box
    return low, high


def _members(row):
    return sorted({i for terms in (row.products, *row.forms) for pair in terms for i in pair})


class _Row:
    """
    ``sign (row) - limit <= 0`` in rationals.

    Attributes
    ----------
    linear, quadratic : dict
        i, and (i, j) with i <= j -> Fraction.
    constant : Fraction
    """

    def __init__(self, row, sign, limit):
        self.constant = -Fraction(limit)
        self.linear = {i: sign * Fraction(a) for i, a in row.linear.items()}
        self.quadratic = defaultdict(Fraction)
        for terms in (row.products, *row.forms):
            for pair, a in terms.items():
                self.quadratic[pair] += sign * Fraction(a)


def _most(row, t, direction, low, high, linear):
    """Return what direction times variable t is at most, or None."""
    slopes, square, rest = {}, Fraction(0), row.constant
    for (i, j), a in row.quadratic.items():
        if i == j == t:
            square = a
        elif t in (i, j):
            slopes[j if i == t else i] = direction * a
        else:
            least = _least_product(a, i, j, low, high)
            if least == -math.inf:
                return None
            rest += least
    if square < 0:
        return None
    offsets = {i: a for i, a in row.linear.items() if i != t}
    grows = direction * row.linear.get(t, Fraction(0))
    found = _exceeds(slopes, offsets, square, grows, rest, low, high)
    if found is None and slopes:
        # with a square less may do
        needed = -math.inf if square else float(-grows)
        combined = linear.combined(slopes, t, needed, 1.0 if rest <= 0 and not offsets else -1.0)
        if combined is not None:
            # the linear rows were multiplied by t, as if it were at least 0
            found = _exceeds(combined[0], offsets, square, grows + combined[1], rest, low, high)
            found = None if found is None else max(found, Fraction(0))
    return found


def _exceeds(slopes, offsets, square, grows, rest, low, high):
    """Return T so that sum_j z_j (offset_j + slope_j t) + square t^2 + grows t + rest > 0 for all t > T, or None."""
    starts, terms = [], []
    for j in slopes.keys() | offsets.keys():
        q, a = slopes.get(j, Fraction(0)), offsets.get(j, Fraction(0))
        if q == a == 0:
            continue
        end = low[j] if q > 0 or (q == 0 and a > 0) else high[j]
        if not math.isfinite(end):
            return None
        terms.append((q, a, end))
    if square == 0 and _falls([float(grows), *(float(q) * end for q, _, end in terms)]):
        return None
    for q, a, end in terms:
        if end != 0:
            end = Fraction(end)
            grows += end * q
            rest += end * a
        if q != 0:
            starts.append(-a / q)
    if grows > 0:
        starts.append(-rest / grows)
    elif square > 0:
        root = _root(square, grows, rest)
        if root is None:
            return None
        starts.append(root)
    elif grows < 0 or rest <= 0:
        return None
    return max(starts) if starts else None


def _falls(slopes):
    """Whether a sum of floats is below 0 whatever their rounding: rationals need not be added to see that."""
    return sum(slopes) < -HOPELESS * sum(map(abs, slopes))


def _root(square, grows, rest):
    """Return a number beyond which square t^2 + grows t + rest > 0, for square > 0 and grows <= 0, near the least."""
    half = -grows / (2 * square)
    inside = half * half - rest / square
    if inside < 0:
        return half
    try:
        root = math.nextafter(math.sqrt(above(inside)), math.inf)
    except OverflowError:
        return None
    return half + Fraction(root) if math.isfinite(root) and Fraction(root) ** 2 >= inside else None


def _least_product(a, i, j, low, high):
    """Least value of a z_i z_j over the box: a Fraction, or -inf."""
    if i == j:
        if a > 0:
            nearest = max(0.0, low[i], -high[i])
            return a * Fraction(nearest) ** 2
        corners = [_times(end, end) for end in (low[i], high[i])]
    else:
        corners = [_times(p, q) for p in (low[i], high[i]) for q in (low[j], high[j])]
    values = [math.copysign(math.inf, corner * (1 if a > 0 else -1)) if isinstance(corner, float) else a * corner
              for corner in corners]  # fmt: skip
    return min(values)


def _times(p, q):
    """Exact product; 0 times an infinite end is 0, and any other is a float."""
    if p == 0 or q == 0:
        return Fraction(0)
    if math.isfinite(p) and math.isfinite(q):
        return Fraction(p) * Fraction(q)
    return math.copysign(math.inf, p) * math.copysign(1.0, q)


class _LinearRows:
    """
    The linear rows, of which some may be taken times t >= 0.

    Attributes
    ----------
    program : Lp or None
        Once there was need of one.
    loaded : tuple or None
        Numbers of the program's rows, and its variables.
    known : dict
        The same -> points that meet these rows in the box at hand.
    """

    def __init__(self, rows):
        self.rows, self.program = rows, None

    def enter_box(self, low, high):
        """Go on in another box."""
        self.low, self.high, self.loaded, self.known = low, high, None, {}

    def combined(self, slopes, t, needed, sign):
        """
        Return slopes and a constant of sum_j slope_j z_j less multiples of linear rows that hold, or None.

        None, too, where a point shows that the sum is less than what is needed, or at least no more (sign: 1 in place
        of -1), so that no multiples would do.
        """
        numbers = tuple(k for k, row in enumerate(self.rows)
                        if not slopes.keys().isdisjoint(row.linear) and t not in row.linear)  # fmt: skip
        rows = [self.rows[k] for k in numbers]
        members = sorted({i for row in rows for i in row.linear} | slopes.keys())
        if not rows:
            return None
        cost = np.array([float(slopes.get(i, 0.0)) for i in members])
        key = (numbers, *members)
        points = self.known.setdefault(key, [])

        def is_hopeless(x):
            return needed > -math.inf and cost @ x < needed + sign * HOPELESS * (abs(cost) @ abs(x) + abs(needed))

        if any(map(is_hopeless, points)):
            return None
        if key == self.loaded:
            self.program.set_costs(cost)
        else:
            self._load(rows, members, cost)
            self.loaded = key
        if self.program.solve() != "optimal":
            return None
        multipliers = self.program.row_dual.tolist()
        points.append(self.program.x)
        if is_hopeless(points[-1]):
            return None
        slopes, constant = defaultdict(Fraction, slopes), Fraction(0)
        for row, y in zip(rows, multipliers, strict=True):
            y = Fraction(y).limit_denominator(SIMPLE_MULTIPLIER)
            end = row.lower if y > 0 else row.upper
            if y == 0 or not math.isfinite(end):
                continue
            constant += y * Fraction(end)
            for i, a in row.linear.items():
                slopes[i] -= y * Fraction(a)
        return slopes, constant

    def _load(self, rows, members, cost):
        """Make the program of the least costs."""
        place = {i: k for k, i in enumerate(members)}
        model = (
            cost, np.cumsum([0] + [len(row.linear) for row in rows])[:-1],
            [place[i] for row in rows for i in row.linear], [a for row in rows for a in row.linear.values()],
            [row.lower for row in rows], [row.upper for row in rows], self.low[members], self.high[members],
        )  # fmt: skip
        if self.program is None:
            self.program = Lp(*model)
        else:
            self.program.load(*model)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.program is not None:
            self.program.close()
