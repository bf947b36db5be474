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
    tied_spherical        and the components' average, W d v = sum_j (sum_i w_i y_ij^2 - sum_k S_k m_kj^2): one for all
    tied_diag             the components' average of each column, W v_j = sum_i w_i y_ij^2 - sum_k S_k m_kj^2
    posterior             known variance, with a Gaussian posterior of the mean, of precision t_j / s_j, t_j = S + e s_j
                          (`priors`), which costs log(t_j / s_j) / 2 more: concave in t_j, so that for a slope r_j of
                          the leaf alpha_j + r_j t_j lies below it, alpha_j by an end of t_j's cell; r_j is added to a_j
    Bernoulli, label      h = -m log m - (1 - m) log(1 - m);  -m log m for each of a variable's labels
    Poisson               h = m - m log m
    exponential           h = 1 + log m: all concave in m, of the mean x itself and not of y

Where a variable's entries are missing, S is the mass of the samples that have one, whose labels' columns add up to 1.
Of rows of counts S is the mass of all that is counted: each row counts as often as its columns add up to.
Means of a variable's labels add up to 1, so that cells lose what leaves too little or too much for the others.

A conjugate prior adds pseudo-observations to S, T and Q (`priors`); m and v are then those of the sums. The root's
cells hold all m and v that there can be: means of samples, and of samples and what the prior adds, for 0 < S <= W (of
one component, without noise, S = W, and m and v are known: its cell is no larger than their rounding);
variances up to the square of half the range (Popoviciu), of samples of mean m up to (m - min)(max - m) (Bhatia and
Davis). The parameters of a component of no mass are free: they can be chosen in the cells.

Theory: (V2) and (V3) of docs/theory/proofs.md, (VF1) of docs/theory/proof_families.md.
"""

import math

import numpy as np

from . import priors
from .errors import ProofError
from .margins import LABEL_SLACK, WIDER
from .rounding import ULPS, UNIT, Interval, averages, down
from .tuning import POSTERIOR_SWEEPS as SWEEPS

LOG_2_PI = Interval(math.nextafter(math.log(2 * math.pi), 0.0), math.nextafter(math.log(2 * math.pi), 3.0))


class Rules:
    """
    What families of columns have in common.

    Attributes
    ----------
    n_columns, n_features : int
        Columns, and what costs are linear in: the columns, but for covariance matrices.
    n_slopes : int
        Numbers of a leaf and component.
    n_cell, n_shared : int
        Variables of each component, and of all together.
    low, high : ndarray, shape (n_cell + n_shared,)
        The root's cell.
    has_squares, tied : bool
        Whether slopes have coefficients of squares, the same for all components.
    has_sample_costs : bool
        Whether costs are those of each sample in a cell, which `costs` finds, and no affine functions.
    constant : Interval
        What leaves' bounds have beside all that they say.
    """

    has_squares, tied, has_sample_costs, n_shared, constant = False, False, False, 0, Interval(0.0)

    def features(self, columns, reference):
        """Return what costs are linear in (N, F), and numbers (F,) in whose 4 rounding errors each of them is."""
        y = columns - reference
        return y, np.abs(y).max(axis=0)

    def tightened(self, low, high):
        """Cells (L, K, p) as they are."""
        return low, high

    def posterior_terms(self, low, high, slopes):
        """Return what posteriors add to leaves (L,), and the range of e there (L,), or None: all of it."""
        return 0.0, None

    def _set_columns(self, columns, weights, n_components):
        """Ranges of the columns' means: those of one component are known, unless there is noise beside it."""
        self.n_columns = self.n_features = self.n_slopes = self.n_cell = len(columns)
        self.first, self.last = columns.min(axis=1), columns.max(axis=1)
        if n_components == 1:
            middle = 0.5 * self.first + 0.5 * self.last
            y = columns.T - middle
            means = averages(y, np.abs(y).max(axis=0), weights) + middle
            self.first, self.last = np.maximum(self.first, means.low), np.minimum(self.last, means.high)


class Known(Rules):
    """Gaussian components of known variances (d,); a prior of the means is a pseudo-observation at 0."""

    def __init__(self, problem, columns, weights):
        self._set_columns(columns, weights, problem.n_weights)
        self.variances, W = problem.noise_variance, math.fsum(weights)
        self.low, self.high = self.first, self.last
        if problem.prior is not None and problem.n_components > 1:
            self.low, self.high = np.minimum(self.low, 0.0), np.maximum(self.high, 0.0)
        elif problem.prior is not None:
            shares = [W / (W + e * self.variances) for e in priors.precisions(problem)]
            ends = [side * share for side in (self.first, self.last) for share in shares]
            self.low, self.high = np.minimum.reduce(ends), np.maximum.reduce(ends)
            slack = WIDER * np.maximum(np.abs(self.low), np.abs(self.high))
            self.low, self.high = self.low - slack, self.high + slack

    def quadratic(self, slopes):
        """Coefficients of the squares, within 2 rounding errors: the model's, not the proof's."""
        return np.broadcast_to(0.5 / self.variances, slopes.shape[:-1] + (self.n_columns,))

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d) for cells (L, K, d) in the user's units."""
        half = Interval(0.5).over(self.variances)
        values = [-(m * m * half) - m * slopes for m in _shifted(low, high, reference)]
        return values[0].least(values[1]).low


class Posterior(Known):
    """Known variances with Gaussian posteriors; cells have their t_j too, one where all variances are the same."""

    def __init__(self, problem, columns, weights):
        super().__init__(problem, columns, weights)
        v, W = self.variances, math.fsum(weights)
        self.total, self.precisions = W, priors.precisions(problem)
        self.own = v[:1] if (v == v[0]).all() else v
        self.n_cell, self.n_slopes = self.n_columns + len(self.own), 2 * self.n_columns
        (first, last), least = self.precisions, W if problem.n_components == 1 else 0.0
        self.low = np.concatenate([self.low, (least + first * self.own) * (1 - WIDER)])
        self.high = np.concatenate([self.high, (W + last * self.own) * (1 + WIDER)])

    def _range(self, low, high):
        """
        Range of e in cells: the best is K d / sum_kj (m_kj^2 + s_j / t_kj), put into the range of the prior.

        s_j / t_kj is the posterior's variance.
        """
        d, (first, last) = self.n_columns, self.precisions
        power, ends = low.shape[1] * d, [low[..., :d], high[..., :d]]
        squares = [np.square(side) for side in ends]
        most = (np.maximum(*squares) + self.variances / low[..., d:]).sum(axis=(1, 2))
        least = np.where((ends[0] > 0) | (ends[1] < 0), np.minimum(*squares), 0.0)
        least = (least + self.variances / high[..., d:]).sum(axis=(1, 2))
        e = power / most * (1 - WIDER * power), power / least * (1 + WIDER * power)
        return tuple(np.clip(np.nan_to_num(side), first, last) for side in e)

    def tightened(self, low, high):
        """
        Cells without precisions that the masses, which are not negative and add up to W, do not leave.

        Steps are repeated, as precisions bound e, and e bounds precisions.
        """
        for _ in range(SWEEPS):
            before = low, high
            low, high = self._tightened(low, high)
            if np.array_equal(low, before[0]) and np.array_equal(high, before[1]):
                break
        return low, high

    def _tightened(self, low, high):
        d, K = self.n_columns, low.shape[1]
        first, last = (e[:, np.newaxis, np.newaxis] * self.own for e in self._range(low, high))
        t0, t1 = np.maximum(low[..., d:], first), np.minimum(high[..., d:], (self.total + last) * (1 + WIDER))
        slack = WIDER * (self.total + K * last)
        least = self.total + K * first - (t1.sum(axis=1, keepdims=True) - t1) - slack
        most = self.total + K * last - (t0.sum(axis=1, keepdims=True) - t0) + slack
        t0, t1 = np.maximum(t0, least), np.minimum(t1, most)
        return np.concatenate([low[..., :d], t0], axis=-1), np.concatenate([high[..., :d], t1], axis=-1)

    def quadratic(self, slopes):
        """Coefficients of the squares, as of known variances."""
        return super().quadratic(slopes[..., : self.n_columns])

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d), of which the slopes r of t are part."""
        d = self.n_columns
        return down(super().intercepts(low[..., :d], high[..., :d], slopes[..., :d], reference) + slopes[..., d:])

    def posterior_terms(self, low, high, slopes):
        """Return the sum of alpha, less what posteriors' logarithms have beside t, and the range of e."""
        d, r = self.n_columns, slopes[..., self.n_columns :]
        ends = [Interval(t[..., d:]).log() * 0.5 - Interval(r) * t[..., d:] for t in (low, high)]
        logs = (Interval(self.variances).log() + LOG_2_PI) * 0.5
        return (ends[0].least(ends[1]) - logs).sum(axis=(1, 2)).low, self._range(low, high)


class Diagonal(Rules):
    """Gaussian components of free variances, above a floor: columns may be `shared`, and components `tied`."""

    has_squares = True

    def __init__(self, problem, columns, weights):
        self._set_columns(columns, weights, problem.n_weights)
        d, self.floor = self.n_columns, problem.floor
        self.shared = problem.family in ("spherical", "tied_spherical")
        self.tied = problem.family in ("tied_diag", "tied_spherical")
        self.first, self.last = columns.min(axis=1), columns.max(axis=1)
        middle = 0.5 * self.first + 0.5 * self.last
        y = columns.T - middle
        reach = np.abs(y).max(axis=0)
        means, squares = averages(y, reach, weights), averages(np.square(y), 3.0 * np.square(reach), weights)
        of_all = squares - means * means
        if self.shared:
            of_all = of_all.sum(axis=0).over(float(d))
            of_all = Interval(of_all.low.reshape(1), of_all.high.reshape(1))
        self.most = np.square(0.5 * (self.last - self.first)) * (1 + WIDER)
        most = of_all.high if self.tied else np.array([self.most.max()]) if self.shared else self.most
        least, low, high = np.zeros(len(most)), self.first, self.last
        if problem.n_weights == 1:
            middle = means + middle
            low, high, least, most = middle.low, middle.high, np.maximum(of_all.low, 0.0), of_all.high
        self.n_cell, self.n_shared = (d, len(most)) if self.tied else (d + len(most), 0)
        self.n_slopes = 2 * d
        self.low, self.high = np.concatenate([low, least]), np.concatenate([high, most])

    def tightened(self, low, high):
        """Cells (L, K, p) without variances that no samples have."""
        if self.tied:
            return low, high
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
        if self.shared and (q != q[..., :1]).any() or self.tied and (q != q[:, :1]).any():
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


class Exponential(Rules):
    """Products of Bernoulli, Poisson, exponential or label columns, with or without conjugate priors."""

    def __init__(self, problem, columns, weights):
        self._set_columns(columns, weights, problem.n_components)
        self.kinds = {kind: np.array([k == kind for k in problem.kinds]) for kind in dict.fromkeys(problem.kinds)}
        numbers = np.array(problem.groups)
        self.groups = [np.flatnonzero(numbers == group) for group in sorted(set(problem.groups) - {-1})]
        low, high = self.first, self.last
        W = np.full(len(columns), math.fsum(weights))
        for own in problem.partial:
            trials = columns[own].sum(axis=0)
            seen, mass = trials > 0, trials * weights
            found = columns[own][:, seen] / trials[seen]
            # shares of several trials are rounded
            wider = WIDER if (trials > 1).any() else 0.0
            low[own], high[own] = found.min(axis=1) * (1 - wider), found.max(axis=1) * (1 + wider)
            W[own] = math.fsum(mass[seen])
            if problem.n_components == 1:
                part = averages(found.T, np.ones(len(own)), mass[seen])
                low[own], high[own] = np.maximum(low[own], part.low), np.minimum(high[own], part.high)
        nu, chi = (part.high for part in priors.pseudo_observations(problem))
        # (T + chi) / (S + nu) goes one way from S = W to S = 0, where it is chi / nu
        with np.errstate(all="ignore"):
            empty = np.where(nu > 0, chi / nu, np.inf)
        pulled = (nu > 0) | (chi > 0)
        ends = [(end * W + chi) / (W + nu) for end in (low, high)]
        if problem.n_components == 1:
            empty = ends[0]
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
FAMILIES = {
    "known": Known, "posterior": Posterior,
    **dict.fromkeys(("diag", "spherical", "tied_diag", "tied_spherical"), Diagonal),
    **dict.fromkeys(("bernoulli", "poisson", "exponential", "labels", "multinomial"), Exponential),
}  # fmt: skip


def cost_of_noise(problem):
    """Return what a sample costs in the component of constant density, less what objectives leave out."""
    cost = -Interval(problem.noise).log()
    if problem.family == "known":
        cost = cost - ((Interval(problem.noise_variance).log() + LOG_2_PI) * 0.5).sum(axis=0)
    return cost


def _shifted(low, high, reference):
    """Subtract the reference from the ends of cells of the mean."""
    return Interval(low) - reference, Interval(high) - reference
