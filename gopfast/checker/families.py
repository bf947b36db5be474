"""Component families: the greatest constant that keeps an affine function below the costs in a cell.

A component of mass S takes statistics T_j = sum w tau y_j and Q_j = sum w tau y_j^2 of the samples y = x - reference.
Parameters that are the best ones for a component's statistics (those of an optimal mixture are) make it cost

    sum_i w_i tau_i c(x_i)  =  S sum_j h_j(m_j, v_j)  [ + quadratic_j Q_j ],      m_j = T_j / S,  v_j = Q_j / S - m_j^2.

A leaf says for each component a cell, which holds these m and v, and slopes b_j, q_j. Here is the greatest a_j with

    h_j(m, v)  >=  a_j + b_j m + q_j (v + m^2)      for every (m, v) of the cell,

rounded down, so that sum_ij w_i tau_i (a_j + b_j y_ij + q_j y_ij^2) bounds the component's cost from below:

    known variance s_j    h = -m^2 / (2 s_j), with the fixed quadratic 1 / (2 s_j): concave in m, an end of the cell
    diag                  h = g(v) = log(2 pi max(v, f)) / 2 + v / (2 max(v, f)), f the floor: concave and rising, so
                          that h - q v is least at an end of the variance's cell; -b m - q m^2 at an end of the mean's,
                          or if q < 0 at the place -b / (2 q) of its least value, where the cell has it
    spherical             the same with the mean of the v_j in place of each: one q and one cell of a variance for all j
    Bernoulli, label      h = -m log m - (1 - m) log(1 - m);  -m log m for each of a variable's labels
    Poisson               h = m - m log m
    exponential           h = 1 + log m: all concave in m
"""

import math

import numpy as np

from .errors import ProofError
from .rounding import ULPS, UNIT, Interval, down

LOG_2_PI = Interval(math.nextafter(math.log(2 * math.pi), 0.0), math.nextafter(math.log(2 * math.pi), 3.0))


class Known:
    """Gaussian components of known variances (d,)."""

    has_squares = False

    def __init__(self, record, columns):
        self.variances = np.array(record["noise_variance"], dtype=float)
        if self.variances.shape != (len(columns),) or not (self.variances > 0).all():
            raise ProofError("problem", "noise_variance must be one positive number per column")
        self.n_columns, self.n_cell = len(columns), len(columns)
        self.low, self.high = columns.min(axis=1), columns.max(axis=1)

    def tightened(self, low, high):
        """Cells (L, K, p) as they are."""
        return low, high

    def quadratic(self, slopes):
        """Coefficients of the squares, within 2 rounding errors: the model's, not the proof's."""
        return np.broadcast_to(0.5 / self.variances, slopes.shape[:-1] + (self.n_columns,))

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d) for cells (L, K, d) in the user's units."""
        half = Interval(0.5 * np.ones(self.n_columns)).over(self.variances)
        return _least_at_ends(low, high, reference, slopes, lambda m: -(m * m * half))


class Diagonal:
    """Gaussian components of free variances, one per column or one for all, above a floor."""

    has_squares = True

    def __init__(self, record, columns):
        self.n_columns = d = len(columns)
        self.shared = record["covariance"] == "spherical"
        self.floor = np.broadcast_to(np.array(record["variance_floor"], dtype=float), (d,))
        if not (self.floor > 0).all():
            raise ProofError("problem", "variance_floor must be positive")
        low, high = columns.min(axis=1), columns.max(axis=1)
        # a variance is at most the square of half the range
        most = np.square(0.5 * (high - low)) * (1 + 1e-12)
        most = np.array([most.max()]) if self.shared else most
        self.n_cell = d + len(most)
        self.low, self.high = np.concatenate([low, np.zeros(len(most))]), np.concatenate([high, most])

    def tightened(self, low, high):
        """Cells (L, K, p) without variances that no samples have: those of mean m have at most (m - min)(max - m)."""
        d = self.n_columns
        m = np.clip(0.5 * (self.low[:d] + self.high[:d]), low[..., :d], high[..., :d])
        most = (m - self.low[:d]) * (self.high[:d] - m) * (1 + 1e-12)
        if self.shared:
            most = most.mean(axis=-1, keepdims=True) * (1 + 1e-12)
        return low, np.concatenate([high[..., :d], np.minimum(high[..., d:], most)], axis=-1)

    def quadratic(self, slopes):
        """Coefficients of the squares: the second half of the slopes."""
        q = slopes[..., self.n_columns :]
        if self.shared and (q != q[..., :1]).any():
            raise ProofError("leaves", "components of one variance have one coefficient of all squares")
        return q

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d) for cells (L, K, d + 1) or (L, K, 2 d)."""
        d = self.n_columns
        b, q = slopes[..., :d], self.quadratic(slopes)
        first, last = low[..., d:], high[..., d:]
        costs = [self._cost(v) - interval_times(q, v) for v in (first, last)]
        least = costs[0].least(costs[1])
        ends = [_shifted(side[..., :d], reference) for side in (low, high)]
        values = [-(m * b) - m * m * q for m in ends]
        best = values[0].least(values[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            top = -b / (2.0 * q)
            far = 1e-12 * (np.abs(top) + np.abs(ends[0].low) + np.abs(ends[1].high))
            between = (q < 0) & (top > ends[0].low - far) & (top < ends[1].high + far)
            top = np.where(between, np.square(b) / (4.0 * q) * (1 + 16 * UNIT), np.inf)
        return down(least.low + np.minimum(best.low, top))

    def _cost(self, v):
        """g(v) of the variances of cells."""
        floored = np.maximum(v, self.floor)
        return (LOG_2_PI + Interval(floored).log()) * 0.5 + Interval(0.5 * v).over(floored)


class Exponential:
    """Products of Bernoulli, Poisson, exponential or label columns."""

    has_squares = False
    KINDS = ("bernoulli", "poisson", "exponential", "label")

    def __init__(self, record, columns):
        self.kinds = list(record["kinds"])
        self.n_columns = self.n_cell = len(columns)
        if len(self.kinds) != len(columns) or not set(self.kinds) <= set(self.KINDS):
            raise ProofError("problem", "kinds must name the family of every column")
        self.low, self.high = columns.min(axis=1), columns.max(axis=1)

    def tightened(self, low, high):
        """Cells (L, K, p) as they are."""
        return low, high

    def quadratic(self, slopes):
        """No squares."""
        return np.zeros(slopes.shape[:-1] + (self.n_columns,))

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d) for cells of the means."""
        parts = [
            _least_at_ends(low[..., [j]], high[..., [j]], reference[[j]], slopes[..., [j]], _CONCAVE[kind],
                           shifted=False)
            for j, kind in enumerate(self.kinds)
        ]  # fmt: skip
        return np.concatenate(parts, axis=-1)


def _x_log_x(m):
    """Bound m log m by its values at the interval's ends; 0 at 0 (its least value -1/e is never between them)."""
    with np.errstate(invalid="ignore"):
        value = np.nan_to_num(m.low * np.log(m.low), nan=0.0)
    size = (ULPS + 2) * np.spacing(np.abs(value)) + 1e-320
    return Interval(value - size, value + size)


def _bernoulli(m):
    rest = Interval(1.0 - m.low)
    # 1 - m is rounded: by u / 2 at most, which moves (1 - m) log(1 - m) by so much times |log(1 - m)| + 1
    with np.errstate(divide="ignore"):
        size = np.abs(np.log(np.where(rest.low > 0, rest.low, 1.0)))
        lost = np.where(rest.low > 0, 2.0**-53 * (2.0 + size), 2.0**-45)
    return -_x_log_x(m) - _x_log_x(rest) - Interval(-lost, lost)


_CONCAVE = {
    "bernoulli": _bernoulli,
    "label": lambda m: -_x_log_x(m),
    "poisson": lambda m: m - _x_log_x(m),
    "exponential": lambda m: m.log() + 1.0,
}
FAMILIES = {"known": Known, "diag": Diagonal, "spherical": Diagonal, "exponential_family": Exponential}


def interval_times(slope, value):
    """Product of floats."""
    return Interval(slope) * Interval(value)


def _shifted(ends, reference):
    return Interval(ends) - Interval(reference)


def _least_at_ends(low, high, reference, slopes, concave, shifted=True):
    """Least of h(m) - b (m - reference) at the ends of cells, rounded down; h of the shifted mean or of the mean."""
    values = []
    for ends in (low, high):
        m = _shifted(ends, reference)
        values.append(concave(m if shifted else Interval(ends)) - m * slopes)
    return values[0].least(values[1]).low
