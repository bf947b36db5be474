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
    spherical             the same with the mean of the v_j in place of each: one q and one variance's cell for all j
    Bernoulli, label      h = -m log m - (1 - m) log(1 - m);  -m log m for each of a variable's labels
    Poisson               h = m - m log m
    exponential           h = 1 + log m: all concave in m, of the mean x itself and not of y

Where a variable's entries are missing, S is the mass of the samples that have one, whose labels' columns add up to 1.
Means of a variable's labels add up to 1, so that cells lose what leaves too little or too much for the others.

A conjugate prior adds pseudo-observations to S, T and Q (`priors`); m and v are then those of the sums. The root's
cells hold all m and v that there can be: means of samples, and of samples and what the prior adds, for 0 < S <= W;
variances up to the square of half the range (Popoviciu), of samples of mean m up to (m - min)(max - m) (Bhatia and
Davis). The parameters of a component of no mass are free: they can be chosen in the cells.
"""

import math

import numpy as np

from . import priors
from .errors import ProofError
from .rounding import ULPS, UNIT, Interval, down

LOG_2_PI = Interval(math.nextafter(math.log(2 * math.pi), 0.0), math.nextafter(math.log(2 * math.pi), 3.0))
WIDER = 1e-12  # relative: more than the rounding of the few operations that a root's cell takes
LABEL_SLACK = 1e-12  # more than the rounding of a sum of thousands of means of labels


class Known:
    """Gaussian components of known variances (d,); a prior of the means is a pseudo-observation at 0."""

    has_squares = False

    def __init__(self, problem, columns, weights):
        self.variances = problem.noise_variance
        self.n_columns = self.n_cell = len(columns)
        self.low, self.high = columns.min(axis=1), columns.max(axis=1)
        if problem.prior is not None:
            self.low, self.high = np.minimum(self.low, 0.0), np.maximum(self.high, 0.0)

    def tightened(self, low, high):
        """Cells (L, K, p) as they are."""
        return low, high

    def quadratic(self, slopes):
        """Coefficients of the squares, within 2 rounding errors: the model's, not the proof's."""
        return np.broadcast_to(0.5 / self.variances, slopes.shape[:-1] + (self.n_columns,))

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d) for cells (L, K, d) in the user's units."""
        half = Interval(0.5).over(self.variances)
        values = [-(m * m * half) - m * slopes for m in _shifted(low, high, reference)]
        return values[0].least(values[1]).low


class Diagonal:
    """Gaussian components of free variances, one per column or one for all, above a floor."""

    has_squares = True

    def __init__(self, problem, columns, weights):
        self.n_columns = d = len(columns)
        self.shared, self.floor = problem.family == "spherical", problem.floor
        self.first, self.last = columns.min(axis=1), columns.max(axis=1)
        self.most = np.square(0.5 * (self.last - self.first)) * (1 + WIDER)
        most = np.array([self.most.max()]) if self.shared else self.most
        self.n_cell = d + len(most)
        self.low, self.high = np.concatenate([self.first, np.zeros(len(most))]), np.concatenate([self.last, most])

    def tightened(self, low, high):
        """Cells (L, K, p) without variances that no samples have."""
        d = self.n_columns
        ends = [(side[..., :d] - self.first, self.last - side[..., :d]) for side in (low, high)]
        most = np.maximum(*(below * above for below, above in ends)) * (1 + WIDER)
        # the middle of the range is where (m - min)(max - m) is greatest; rounding keeps the order of differences
        has_middle = (ends[0][0] <= ends[0][1]) & (ends[1][0] >= ends[1][1])
        most = np.where(has_middle, self.most, most)
        if self.shared:
            most = most.mean(axis=-1, keepdims=True) * (1 + WIDER)
        return low, np.concatenate([high[..., :d], np.minimum(high[..., d:], most)], axis=-1)

    def quadratic(self, slopes):
        """Coefficients of the squares: the second half of the slopes."""
        q = slopes[..., self.n_columns :]
        if self.shared and (q != q[..., :1]).any():
            raise ProofError("slopes", "components of one variance have one coefficient of all squares")
        return q

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d) for cells (L, K, d + 1) or (L, K, 2 d)."""
        d = self.n_columns
        b, q = slopes[..., :d], self.quadratic(slopes)
        costs = [self._cost(side[..., d:]) - Interval(q) * side[..., d:] for side in (low, high)]
        first, last = _shifted(low[..., :d], high[..., :d], reference)
        values = [-(m * b) - m * m * q for m in (first, last)]
        with np.errstate(all="ignore"):
            place = -b / (2.0 * q)
            near = 1e-12 * (np.abs(place) + np.abs(first.low) + np.abs(last.high))
            inside = (q < 0) & (place > first.low - near) & (place < last.high + near)
            least = np.where(inside, -0.5 * np.abs(b * place) * (1 + 16 * UNIT), np.inf)
        return down(costs[0].least(costs[1]).low + np.minimum(values[0].least(values[1]).low, down(least)))

    def _cost(self, v):
        """g(v) of the variances of cells."""
        floored = np.maximum(v, self.floor)
        return (LOG_2_PI + Interval(floored).log()) * 0.5 + Interval(0.5 * v).over(floored)


class Exponential:
    """Products of Bernoulli, Poisson, exponential or label columns, with or without conjugate priors."""

    has_squares = False

    def __init__(self, problem, columns, weights):
        self.n_columns = self.n_cell = len(columns)
        self.kinds = {kind: np.array([k == kind for k in problem.kinds]) for kind in dict.fromkeys(problem.kinds)}
        numbers = np.array(problem.groups)
        self.groups = [np.flatnonzero(numbers == group) for group in sorted(set(problem.groups) - {-1})]
        low, high = columns.min(axis=1), columns.max(axis=1)
        W = np.full(len(columns), math.fsum(weights))
        for own in problem.partial:
            seen = columns[own].sum(axis=0) > 0
            found = columns[own][:, seen]
            low[own], high[own], W[own] = found.min(axis=1), found.max(axis=1), math.fsum(weights[seen])
        nu, chi = (part.high for part in priors.pseudo_observations(problem))
        # (T + chi) / (S + nu) goes one way from S = W to S = 0, where it is chi / nu
        with np.errstate(all="ignore"):
            empty = np.where(nu > 0, chi / nu, np.inf)
        pulled = (nu > 0) | (chi > 0)
        ends = [(end * W + chi) / (W + nu) for end in (low, high)]
        self.low = np.where(pulled, np.minimum(ends[0], empty) * (1 - WIDER), low)
        self.high = np.where(pulled, np.maximum(ends[1], empty) * (1 + WIDER), high)
        for kind, own in self.kinds.items():
            if kind in ("bernoulli", "label"):
                self.high[own] = np.minimum(self.high[own], 1.0)

    def tightened(self, low, high):
        """Cells (L, K, p) without means of labels that cannot add up to 1."""
        low, high = low.copy(), high.copy()
        for own in self.groups:
            least, most = low[..., own], high[..., own]
            low[..., own] = np.maximum(least, 1.0 - (most.sum(axis=-1, keepdims=True) - most) - LABEL_SLACK)
            high[..., own] = np.minimum(most, 1.0 - (least.sum(axis=-1, keepdims=True) - least) + LABEL_SLACK)
        return low, high

    def quadratic(self, slopes):
        """No squares."""
        return np.zeros(slopes.shape[:-1] + (self.n_columns,))

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d) for cells of the means; of one that is infinite only where the slope is not positive."""
        out = np.empty(slopes.shape)
        endless = np.isinf(high)  # h rises without end, of exponential columns
        high = np.where(endless, low, high)
        for kind, own in self.kinds.items():
            at = _shifted(low[..., own], high[..., own], reference[own])
            values = [_CONCAVE[kind](side[..., own]) - m * slopes[..., own]
                      for side, m in zip((low, high), at, strict=True)]  # fmt: skip
            out[..., own] = values[0].least(values[1]).low
        return np.where(endless & (slopes > 0), -np.inf, out)


def _x_log_x(m):
    """M log m of floats; 0 at 0."""
    value = np.where(m > 0, m * np.log(np.where(m > 0, m, 1.0)), 0.0)
    size = (2 * ULPS + 2) * np.spacing(np.abs(value))
    return Interval(value - size, value + size)


def _bernoulli(m):
    rest = 1.0 - m
    # 1 - m is rounded, by 2^-54 at most and not at all above 1/2: this moves r log r by |log r| + 1 < 2 times as much
    lost = np.where(m < 0.5, 2.0**-52, 0.0)
    return -_x_log_x(m) - _x_log_x(rest) - Interval(-lost, lost)


_CONCAVE = {
    "bernoulli": _bernoulli,
    "label": lambda m: -_x_log_x(m),
    "poisson": lambda m: Interval(m) - _x_log_x(m),
    "exponential": lambda m: Interval(m).log() + 1.0,
}
FAMILIES = {"known": Known, "diag": Diagonal, "spherical": Diagonal, **dict.fromkeys(
    ("bernoulli", "poisson", "exponential", "labels"), Exponential)}  # fmt: skip


def _shifted(low, high, reference):
    """Subtract the reference from the ends of cells of the mean."""
    return Interval(low) - reference, Interval(high) - reference
