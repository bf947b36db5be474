"""Components of Gamma columns: a shape a and a mean m each, the rate being a / m, and shapes up to A.

With statistics S, T = sum w tau x, L = sum w tau log x, m = T / S and the spread v = log m - L / S >= 0 a column costs
at its best parameters, per unit of mass,

    log m - v + phi(v),    phi(v) = min over 0 < a <= A of psi0(a) + a v,    psi0(a) = log Gamma(a) - a log a + a.

A cell has the ends of m and v, and a leaf slopes b of x - reference and q of log x. With s = 1 - q the greatest
constant that keeps the affine function below is what

    s log m - b (m - reference)    and    phi(v) - s v

are at least. phi is concave, so that ends of the cell of v are enough; so is s log m for s >= 0, and for s < 0 it is
at least the same of a tangent of the logarithm, best where s log m - b m is least. phi(v) from below takes any shape a:
with |f'(a)| <= r and r a <= 1/8 of f(a) = psi0(a) + a v it is at least f(a) - 3 r^2 a^2, and f(A) if a = A and
f'(A) <= 0 (O3).

log Gamma and its derivative are Stirling's series at shapes of at least `STIRLING`, whose remainder is between 0 and
the first term left out; smaller shapes are moved there by log Gamma(a) = log Gamma(a + n) - sum log(a + i).

Theory: (VF6) of docs/theory/proof_families.md, (O1) to (O3) of docs/theory/gamma.md.
"""

import numpy as np

from .entries import numbers
from .errors import ProofError
from .families import LOG_2_PI, Rules
from .rounding import UNIT, Interval, averages, down
from .tuning import NEAR, SHAPE_STEPS, STIRLING


class Gammas(Rules):
    """
    Products of Gamma columns.

    Parameters
    ----------
    problem : Problem
    columns : ndarray, shape (d, N)
    weights : ndarray, shape (N,)
    """

    def __init__(self, problem, columns, weights):
        self._set_columns(columns, weights, problem.n_components)
        d, self.most = self.n_columns, problem.largest_shape
        self.n_features = self.n_slopes = self.n_cell = 2 * d
        self.least_x, self.most_x = columns.min(axis=1), columns.max(axis=1)
        spreads = np.zeros(d), self._largest_spread(self.first, self.last)
        if problem.n_components == 1:
            y, reach = self.features(columns.T, np.zeros(d))
            own = Interval(self.first, self.last).log() - averages(y[:, d:], reach[d:], weights)
            spreads = np.maximum(own.low, 0.0), np.maximum(own.high, 0.0)
        self.low, self.high = np.concatenate([self.first, spreads[0]]), np.concatenate([self.last, spreads[1]])

    def features(self, columns, reference):
        """Return columns less the reference, and their logarithms (N, 2 d): 8 ulps are 4 rounding errors of 4 logs."""
        y, logs = columns - reference, np.log(columns)
        return np.hstack([y, logs]), np.concatenate([np.abs(y).max(axis=0), 4.0 * np.abs(logs).max(axis=0)])

    def _largest_spread(self, low, high):
        """Bound log m less the mean of samples' logarithms, at least those of the chord, for m of cells (..., d)."""
        least, most = Interval(self.least_x), Interval(self.most_x)
        width = most - least
        wide = self.most_x > self.least_x
        width = Interval(np.where(wide, width.low, 1.0), np.where(wide, width.high, 1.0))
        slope = (most.log() - least.log()).over(width)
        with np.errstate(all="ignore"):
            best = 2.0 / (slope.low + slope.high)
        t = np.clip(np.where(best > 0, best, 1.0), low, np.maximum(low, high))  # of any tangent
        base = Interval(t).log() - 1.0 - least.log()
        ends = [(base + Interval(m).over(t) - slope * (Interval(m) - least)).high for m in (low, high)]
        return np.where(wide, np.maximum(np.maximum(*ends), 0.0), 0.0)

    def tightened(self, low, high):
        """Cells (L, K, 2 d) without spreads that no samples of such means have."""
        d = self.n_columns
        most = np.minimum(high[..., d:], self._largest_spread(low[..., :d], high[..., :d]))
        return low, np.concatenate([high[..., :d], most], axis=-1)

    def quadratic(self, slopes):
        """No squares."""
        return np.zeros(slopes.shape[:-1] + (self.n_features,))

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d) for cells (L, K, 2 d)."""
        d = self.n_columns
        b, q = slopes[..., :d], slopes[..., d:]
        s = Interval(1.0) - q
        with np.errstate(all="ignore"):
            place = np.where(b < 0, (1.0 - q) / b, np.inf)  # where s log m - b m is least, for s < 0
        place = np.clip(place, low[..., :d], np.maximum(low[..., :d], high[..., :d]))
        tangent = Interval(place).log() - 1.0
        of_means = []
        for m in (low[..., :d], high[..., :d]):
            own, line = Interval(m).log(), tangent + Interval(m).over(place)
            log_m = Interval(np.where(q <= 1.0, own.low, line.low), np.where(q <= 1.0, own.high, line.high))
            of_means.append((s * log_m - (Interval(m) - reference) * b).low)
        of_spreads = [(Interval(least_cost(v, self.most)) - s * v).low for v in (low[..., d:], high[..., d:])]
        return down(np.minimum(*of_means) + np.minimum(*of_spreads))


def least_cost(v, most):
    """Bound phi from below at spreads of any shape, at least 0, for shapes up to `most`."""
    found, place = np.unique(v, return_inverse=True)
    v = np.maximum(found, 0.5 / most)  # the best shape lies within 1 / (2 v) and 1 / v
    a = np.minimum(0.75 / v, most)
    for _ in range(SHAPE_STEPS):
        spread = spread_of(a)
        a = np.minimum(np.clip(a * 0.5 * (spread.low + spread.high), 0.5, 1.0) / v, most)
    value = shape_cost(a) + Interval(a) * found
    slope = Interval(found) - spread_of(a)
    steep = np.where((a >= most) & (slope.high <= 0.0), 0.0, np.maximum(np.abs(slope.low), np.abs(slope.high)))
    lost = 3.0 * np.square(steep * a) * (1 + 8 * UNIT)
    return np.where(steep * a <= NEAR, down(value.low - lost), -np.inf)[place.reshape(-1)].reshape(np.shape(place))


def shape_cost(a):
    """Enclose psi0 of shapes (M,)."""
    return _moved(a, _cost_from_far, _cost_moved)


def spread_of(a):
    """Enclose log a - psi(a), psi the logarithmic derivative of Gamma, of shapes (M,)."""
    return _moved(a, _spread_from_far, _spread_moved)


def _moved(a, from_far, moved):
    """Evaluate a function at shapes, small ones by larger ones."""
    far = a >= STIRLING
    value = from_far(Interval(np.where(far, a, STIRLING)))
    if far.all():
        return value
    near = moved(a[~far])
    value.low[~far], value.high[~far] = near.low, near.high
    return value


def _series(z, divisors, left_out):
    """
    Enclose an alternating sum of powers of z > 0 over divisors, the first one positive.

    What is left out, of five terms, lies between 0 and minus the quotient of two numbers times the next power.
    """
    total = Interval(-Interval(left_out[0]).over(left_out[1]).high, 0.0)
    for i in range(len(divisors) - 1, -1, -1):
        total = total * z + Interval((-1.0) ** i).over(divisors[i])
    return total


def _cost_from_far(a):
    y = Interval(1.0).over(a)
    return (LOG_2_PI + y.log()) * 0.5 + y * _series(y * y, (12.0, 360.0, 1260.0, 1680.0, 1188.0), (691.0, 360360.0))


def _spread_from_far(a):
    y = Interval(1.0).over(a)
    z = y * y
    return y * 0.5 + z * _series(z, (12.0, 120.0, 252.0, 240.0, 132.0), (691.0, 32760.0))


def _cost_moved(a):
    b, a = Interval(a) + STIRLING, Interval(a)
    value = _cost_from_far(b) + b * (b.log() - 1.0) - a * (a.log() - 1.0)
    for i in range(int(STIRLING)):
        value = value - (a + float(i)).log()
    return value


def _spread_moved(a):
    b, a = Interval(a) + STIRLING, Interval(a)
    value = _spread_from_far(b) - (b.log() - a.log())
    for i in range(int(STIRLING)):
        value = value + Interval(1.0).over(a + float(i))
    return value


def costs(problem, X, solution):
    """Return costs (N, K) of the rates and shapes that a proof claims, and sizes of their errors."""
    shape = problem.n_components, X.shape[1]
    rates, shapes = (numbers(solution, name, "solution", shape, 1e-100) for name in ("rates", "shapes"))
    if (shapes > problem.largest_shape).any():
        raise ProofError("solution", "has a shape above the largest")
    own = shape_cost(shapes.ravel())
    middle, width = (part.reshape(shape) for part in (0.5 * (own.low + own.high), own.high - own.low))
    logs, cost, size = np.log(X), *np.zeros((2, len(X), len(rates)))
    for j in range(X.shape[1]):
        a, r = shapes[:, j], rates[:, j]
        # log Gamma(a) = psi0(a) + a log a - a
        terms = [middle[:, j] - a + a * (np.log(a) - np.log(r)), X[:, [j]] * r, -(a - 1.0) * logs[:, [j]]]
        sizes = np.abs(middle[:, j]) + a * (1.0 + np.abs(np.log(a)) + np.abs(np.log(r))), *terms[1:]
        for term, own in zip(terms, sizes, strict=True):
            cost, size = cost + term, size + 2.0 * np.abs(own) + 1.0
        size = size + width[:, j] / (16 * UNIT)
    return cost, size
