"""Regressions of counts of one component in as many digits as needed: fits with bounds of their errors.

The loss f(b) = sum of m_i (A_i(eta_i) - c_i eta_i), eta_i = z_i'b + o_i, of a Poisson response has A = exp, of a
binomial one of n trials A' = n / (1 + exp(-eta)); of both |A'''| <= A''. A fit is found by Newton's method, and its
error follows from the last step: with H the Hessian at b, nu^2 = g'H^-1 g of the gradient g, R^2 the largest
z_i'H^-1 z_i, and nu R <= 1/2, the minimiser lies within 2 nu of b in the norm of H. For v from b to it, L its length
and S = R L >= |z_i'v|, the slope at its end is 0 >= -nu L + L^2 (1 - exp(-S)) / S, so that S <= -log(1 - nu R) <=
2 nu R. Then p'b is within 2 nu (p'H^-1 p)^(1/2), for any p. Rounding and errors of offsets are those of the gradient.

Samples may leave directions open. Of the best fits the one that all samples' fits tend to is meant, in weights of the
others that go to 0: the best one for the others (JC1). Which directions are open is decided in fractions.
"""

from fractions import Fraction
from operator import mul
from typing import NamedTuple

import mpmath
import numpy as np
from mpmath import mpf

DIGITS = (40, 80, 160, 320, 640)
ENOUGH = 1e-22  # of the error of a sample's eta
ENOUGH_OF_VALUES = 2.0**-56  # of that of any value, relative to itself and 1
FIRST_STEPS = 20
NEAR = 1e-6  # of an eta to where its loss is least: the secant is the slope
MOST_STEPS = 100
LAST = 0.75  # power of a rounding error: where nu R is less no step follows
FURTHEST = 512  # of an eta in a step: where it lies far off all curvature is lost
MOST_ROUNDING = 1e-12  # of an inverse, relative


class UnresolvedError(Exception):
    """A fit that the digits do not determine."""


class DistantError(Exception):
    """A fit that Newton's method has not reached."""


class Row(NamedTuple):
    """Regressors (exact), offset, count, trials (None: Poisson) and weight of a sample; `off`: the offset's error."""

    z: tuple
    offset: mpf
    count: mpf
    trials: mpf | None
    weight: mpf
    off: mpf


def exact(x):
    """Any finite float, of extended precision too, as a fraction."""
    mantissa, exponent = np.frexp(np.longdouble(x))
    high = float(mantissa)
    value = Fraction(high) + Fraction(float(mantissa - np.longdouble(high)))
    return value * Fraction(2) ** int(exponent)


def number(x):
    """A fraction or integer as a number of the digits at hand."""
    return mpf(x.numerator) / x.denominator


def dot(x, y):
    return sum(map(mul, x, y))


def open_directions(rows, q):
    """Columns that determine the others in the rows' span, and a basis (q,) each of what is orthogonal to all rows."""
    reduced, pivots = [], []
    for row in rows:
        rest = list(row)
        for known, j in zip(reduced, pivots, strict=True):
            rest = [x - rest[j] * y for x, y in zip(rest, known, strict=True)]
        at = next((j for j in range(q) if rest[j]), None)
        if at is None:
            continue
        rest = [x / rest[at] for x in rest]
        reduced = [[x - known[at] * y for x, y in zip(known, rest, strict=True)] for known in reduced]
        reduced.append(rest)
        pivots.append(at)
        if len(pivots) == q:
            break
    free = [j for j in range(q) if j not in pivots]
    basis = []
    for j in free:
        direction = [Fraction(int(i == j)) for i in range(q)]
        for known, at in zip(reduced, pivots, strict=True):
            direction[at] = -known[j]
        basis.append(direction)
    return sorted(pivots), basis


def inverse(H):
    """Of a positive definite matrix, by elimination in units of its diagonal."""
    q = len(H)
    root = [mpmath.sqrt(H[i][i]) for i in range(q)]
    A = [[H[i][j] / (root[i] * root[j]) for j in range(q)] + [mpf(int(i == j)) for j in range(q)] for i in range(q)]
    for i in range(q):
        if not A[i][i] > 0:
            raise UnresolvedError
        A[i] = [x / A[i][i] for x in A[i]]
        for j in range(q):
            if j != i:
                A[j] = [x - A[j][i] * y for x, y in zip(A[j], A[i], strict=True)]
    # its trace bounds the greatest eigenvalue, that of the scaled matrix is at most q
    if not q * sum(A[i][q + i] for i in range(q)) * mpmath.mp.eps < MOST_ROUNDING:
        raise UnresolvedError
    return [[A[i][q + j] / (root[i] * root[j]) for j in range(q)] for i in range(q)]


def length(V, p):
    """(p' V p)^(1/2)"""
    return mpmath.sqrt(max(dot(p, [dot(row, p) for row in V]), 0))


class Newton(NamedTuple):
    """What Newton's method found: b, the inverse of the Hessian and nu, which bounds rounding and offsets too."""

    b: list
    V: list
    nu: mpf

    def error(self, p):
        """Bound of the error of p'b; twice the argument's, as the inverse is rounded."""
        return 4 * self.nu * length(self.V, p)


def mean_and_curve(row, eta):
    """A' and A''"""
    if row.trials is None:
        mean = mpmath.exp(eta)
        return mean, mean
    small = mpmath.exp(-abs(eta))
    return row.trials * (1 if eta >= 0 else small) / (1 + small), row.trials * small / (1 + small) ** 2


def started(rows, Z):
    """
    Where Newton's method begins: 0, or the best of some least-squares fits to where each sample's loss is least.

    Their weights are those of (JC1), slopes over distances: they never leave the box of all fits.
    """
    q = len(Z[0])
    targets = [mpmath.log(row.count if row.trials is None else row.count / (row.trials - row.count)) for row in rows]
    etas, best = targets, [mpf(0)] * q
    for _ in range(FIRST_STEPS):
        g, H = [mpf(0)] * q, [[mpf(0)] * q for _ in range(q)]
        for z, row, t, eta in zip(Z, rows, targets, etas, strict=True):
            mean, curve = mean_and_curve(row, eta)
            secant = (mean - row.count) / (eta - t) if abs(eta - t) > NEAR else curve
            own = [row.weight * secant * x for x in z]
            g = [x + y * (t - row.offset) for x, y in zip(g, own, strict=True)]
            H = [[x + y * other for x, other in zip(line, z, strict=True)] for line, y in zip(H, own, strict=True)]
        try:
            b = [dot(line, g) for line in inverse(H)]
        except UnresolvedError:
            break
        best = min(best, b, key=lambda b: loss(rows, Z, b))
        if best is not b:
            break
        etas = [dot(z, b) + row.offset for z, row in zip(Z, rows, strict=True)]
    return best


def loss(rows, Z, b):
    total = mpf(0)
    for z, row in zip(Z, rows, strict=True):
        eta = dot(z, b) + row.offset
        A = mpmath.exp(eta) if row.trials is None else row.trials * (max(eta, 0) + mpmath.log1p(mpmath.exp(-abs(eta))))
        total += row.weight * (A - row.count * eta)
    return total


def newton(rows):
    """Newton's method, with steps of which self-concordance says that they descend, or longer ones that do."""
    Z, eps = [[number(x) for x in row.z] for row in rows], mpmath.mp.eps
    b, q = started(rows, Z), len(Z[0])
    for _ in range(MOST_STEPS):
        etas = [dot(z, b) + row.offset for z, row in zip(Z, rows, strict=True)]
        g, H, sides = [mpf(0)] * q, [[mpf(0)] * q for _ in range(q)], []
        for z, row, eta in zip(Z, rows, etas, strict=True):
            mean, curve = mean_and_curve(row, eta)
            off = row.off + (q + 4) * eps * (dot(map(abs, z), map(abs, b)) + abs(row.offset))
            sides.append(row.weight * (2 * curve * off + 16 * eps * (mean + row.count)))
            m, s = row.weight * (mean - row.count), row.weight * curve
            g = [x + m * y for x, y in zip(g, z, strict=True)]
            for i in range(q):
                own = s * z[i]
                H[i] = [x + own * y for x, y in zip(H[i], z, strict=True)]
        V = inverse(H)
        reach = [length(V, z) for z in Z]
        nu, rounding, R = length(V, g), (len(rows) + 4) * dot(sides, reach), max(reach)
        if nu < rounding or nu * R < eps**LAST:
            if not (nu + rounding) * R < ENOUGH:
                raise UnresolvedError
            return Newton(b, V, nu + rounding)
        step = [-dot(row, g) for row in V]
        along = [dot(z, step) for z in Z]
        d = max(map(abs, along))
        t = mpmath.log1p(d) / d
        while d > 1 and 2 * t * d < FURTHEST and slope(rows, etas, along, 2 * t) < 0:
            t *= 2
        b = [x + t * y for x, y in zip(b, step, strict=True)]
    raise DistantError


def slope(rows, etas, along, t):
    """Of the loss, t steps on."""
    means = (mean_and_curve(row, eta + t * u)[0] for row, eta, u in zip(rows, etas, along, strict=True))
    return sum(row.weight * (mean - row.count) * u for row, mean, u in zip(rows, means, along, strict=True))


class Fit:
    """
    The best coefficients of a component, in the digits at hand.

    Parameters
    ----------
    rows : list of Row
    shares : list of mpf
        Weights of the rows in this component; those that have none count with their own where the others leave open.
    """

    def __init__(self, rows, shares):
        q, used = len(rows[0].z), [i for i, share in enumerate(shares) if share > 0]
        self.pivots, self.basis = open_directions([rows[i].z for i in used], q)
        own = [rows[i]._replace(z=tuple(rows[i].z[j] for j in self.pivots), weight=shares[i]) for i in used]
        self.found, self.rest = newton(own), None
        if self.basis:
            others = self.of_others(row for row, share in zip(rows, shares, strict=True) if not share > 0)
            self.rest = Fit(others, [row.weight for row in others])

    def of_others(self, rows):
        """Those rows that say what is open, with the offsets that are determined."""
        found = []
        for row in rows:
            z, p = tuple(dot(row.z, direction) for direction in self.basis), self.part(row.z)
            if any(z):
                size = dot(map(abs, p), map(abs, self.found.b)) + abs(row.offset)
                off = row.off + self.found.error(p) + 16 * mpmath.mp.eps * size
                if off > 0.5:
                    raise UnresolvedError  # `newton` takes the curvature to grow by less than 2 over it
                found.append(row._replace(z=z, offset=row.offset + dot(p, self.found.b), off=off))
        if not found:
            raise UnresolvedError  # all samples together leave it open
        return found

    def part(self, place):
        return [number(place[j]) for j in self.pivots]

    def value(self, place, shift=0):
        """place'b - shift, and a bound of its error."""
        p, shift = self.part(place), number(shift)
        value, error = dot(p, self.found.b) - shift, self.found.error(p)
        if self.rest is not None:
            more, off = self.rest.value([dot(place, direction) for direction in self.basis])
            value, error = value + more, error + off
        return value, error + 16 * mpmath.mp.eps * (dot(map(abs, p), map(abs, self.found.b)) + abs(shift) + abs(value))


def long(x):
    """A fraction, or a number of mpmath, in extended precision."""
    high = float(x)
    return np.longdouble(high) + np.longdouble(float(x - type(x)(high)))


class Best:
    """
    The best fit of a component, in as many digits as its values ask for.

    Samples are (z, offset, count, trials or None, weight) in fractions, their shares fractions.
    """

    def __init__(self, samples, shares):
        self.samples, self.shares, self.digits, self.fit = samples, shares, iter(DIGITS), None

    def values(self, places):
        """At places (p, shift) p'b - shift and bounds of the errors, in extended precision; None: undetermined."""
        while self.fit is None or not self.precise(places):
            self.digits_now = next(self.digits, None)
            if self.digits_now is None:
                return None
            with mpmath.workdps(self.digits_now):
                rows = [Row(z, *(None if x is None else number(x) for x in rest), mpf(0)) for z, *rest in self.samples]
                try:
                    self.fit = Fit(rows, [number(share) for share in self.shares])
                except UnresolvedError:
                    self.fit = None
                except DistantError:
                    self.fit, self.digits = None, iter(())
        return self.found

    def precise(self, places):
        """Whether the values there are known as well as floats are, and keep them."""
        with mpmath.workdps(self.digits_now):
            found = [self.fit.value(*place) for place in places]
            values, errors = (np.array([long(pair[i]) for pair in found]) for i in (0, 1))
        self.found = values, errors + 2.0**-60 * np.abs(values)
        return (errors <= ENOUGH_OF_VALUES * (1 + np.abs(values))).all()
