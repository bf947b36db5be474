"""Components that regress a response on some columns: what affine functions lie below their costs in a cell.

Regressors x, with a constant where there is an intercept, are taken as z = x P^-1, P the q *places* that the proof
names (`axes`: each a row of regressors and a value), and the response as r = (y - z'values) / s, s the square root of
the floor or of the known variance. Any P with an inverse will do, as all fits are the same in other coordinates; z and
r are computed in fractions, and rounded once.

A component of mass S with responsibilities tau_i, whose fit m minimises Q(b) = sum_i w_i tau_i (r_i - z_i'b)^2, costs
S g(v) with v = Q(m) / S at its best parameters, g of the variance as in `families`. By the normal equations
sum_i w_i tau_i z_i (r_i - z_i'm) = 0 the sums of r^2 and of r z are S v + sum w tau (z'm)^2 and sum w tau z (z'm), so
that for slopes alpha of r^2, beta_j of r z_j, and others of z_j z_k and |z_j z_k|, which add up to c_i at sample i,

    sum of all of these  =  S alpha v + sum_i w_i tau_i P_i(z_i'm),        P_i(t) = alpha t^2 + (beta'z_i) t + c_i.

With m and v in a cell, z_i'm lies in an interval of its own, so that the cost is at least a S plus these sums if

    a  <=  min over v of g(v) - alpha v   -   max over i and t of P_i(t):

the first at an end of the cell, as g is concave; the second at an end of the interval or, for alpha < 0, where the
parabola's top lies in it.

Where all components share a variance it is the mean of the Q_k(m_k) over all samples, v W = sum_k S_k v_k, and all
together cost W g(v): the same a_k with this v, and one slope alpha for all, bound the sum of their costs.

The root holds all fits: each is a convex combination of the fits through q samples whose regressors are independent
(Jacobi, with squared determinants as weights), in any coordinates; and variances up to the square of half the range of
r, or of its largest magnitude where there is no constant.

Theory: (J5) of docs/theory/regression.md, (JC4) of docs/theory/counts.md, (VF7) of docs/theory/proof_families.md.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from .entries import numbers
from .errors import ProofError
from .families import LOG_2_PI, Rules
from .margins import CERTAIN_DETERMINANT, WIDER
from .rounding import UNIT, Interval, averages, down, up
from .tuning import MOST_EXACT_SETS, MOST_SETS, REGRESSION_NUMBERS as MOST_NUMBERS, SETS

FAMILIES = ("regression", "known_regression", "shared_regression")


class Regressions(Rules):
    """
    The rule of mixtures of regressions.

    Parameters
    ----------
    problem : Problem
    columns, weights : ndarray, shape (d, N) and (n,)
        Regressors, then the response, with that of groups before it; weights are those of the samples.
    axes : ndarray, shape (q, p + 1)
        Places: regressors, then a value.
    """

    def __init__(self, problem, columns, weights, axes):
        self.begins, self.has_sample_costs = problem.begins_of(columns.T), problem.place_of_groups is not None
        sizes = np.diff(np.append(self.begins, columns.shape[1]))
        self.n_rows, weights = sizes, np.repeat(weights, sizes)
        self.free, level = problem.family != "known_regression", problem.least_variance
        self.tied = problem.family == "shared_regression"
        unit = Fraction(math.sqrt(level))
        ratio = Fraction(level) / unit**2  # 1, but for rounding
        self.floor = enclosed([ratio])[0]
        log = Interval(float(unit)).log()
        W = math.fsum(weights)
        self.constant = log * Interval(down(W), up(W))
        rows, fitted = at_places(designs(problem, columns), problem, axes)
        q = len(axes)
        found = [(Fraction(y) - at) / unit for y, at in zip(columns[-1].tolist(), fitted, strict=True)]
        self.z, self.r = np.array([[float(x) for x in row] for row in rows]), np.array([float(x) for x in found])
        self.first, self.second = np.triu_indices(q)
        products = self.z[:, self.first] * self.z[:, self.second]
        signs = [np.sign(products[:, e]) for e in range(len(self.first))]
        mixed = [e for e, own in enumerate(signs) if own.min() < 0 < own.max()]
        self.y = np.column_stack([
            np.square(self.r), self.r[:, np.newaxis] * self.z, products, np.abs(products[:, mixed])
        ])  # fmt: skip
        self.reach = np.abs(self.y).max(axis=0)
        self.n_columns = self.n_features = self.n_slopes = self.y.shape[1]
        self.q, self.n_shared = q, int(self.tied)
        self.n_cell = q + (self.free and not self.tied)
        distinct = np.unique(self.z, axis=0, return_index=True)[1]
        self.distinct, self.of_z = self.z[distinct], self.y[distinct][:, 1 + q :]
        size = np.abs(self.r).max()
        half = 0.5 * np.ptp(self.r) + 2 * UNIT * size if problem.fit_intercept else size
        self.most = float(half * half * (1 + WIDER))
        if self.tied:  # at the best fits squares are no more than those about the places' values
            self.most = min(self.most, float(averages(self.y[:, :1], self.reach[:1], weights).high[0]))
            self.most = max(1.0, self.most * (1 + WIDER))
        if problem.n_components == 1:
            self.low, self.high = self._one(rows, found, weights)
        else:
            self.low, self.high = hull(rows, enclosed(found))
        if self.free and problem.n_components > 1:
            self.low, self.high = np.append(self.low, 0.0), np.append(self.high, self.most)

    def costs(self, low, high, slopes):
        """
        Return what samples of several rows cost at least in cells, (..., n).

        Parameters
        ----------
        low, high : ndarray, shape (..., p)
        slopes : ndarray, shape (..., F)
        """
        if slopes.ndim > 2:
            self.quadratic(slopes)
        a, terms = self.intercepts(low, high, slopes, None), len(self.reach) + 16
        rows = a + slopes @ self.y.T
        rows -= terms * UNIT * (np.abs(a) + (np.abs(slopes) @ self.reach)[..., np.newaxis])
        total, size = (np.add.reduceat(part, self.begins, axis=-1) for part in (rows, np.abs(rows)))
        return down(total - (self.n_rows + 2) * UNIT * size)

    def features(self, columns, reference):
        """Return what costs are linear in (N, F), and numbers (F,) in whose 4 rounding errors each of them is."""
        return self.y, self.reach

    def quadratic(self, slopes):
        """No squares beside the products; a variance that all share has one slope."""
        if self.tied and (slopes[..., 0] != slopes[:, :1, 0]).any():
            raise ProofError("slopes", "components of one variance have one coefficient of all squares")
        return np.zeros(slopes.shape[:-1] + (self.n_features,))

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, 1) for cells (L, K, p) and slopes (L, K, F)."""
        shape, q = slopes.shape[:-1], self.q
        low, high, slopes = (part.reshape(-1, part.shape[-1]) for part in (low, high, slopes))
        least = down(self._least_cost(low, high, slopes[:, :1])[:, 0] - self._most(low[:, :q], high[:, :q], slopes))
        return least.reshape(*shape, 1)

    def _least_cost(self, low, high, alpha):
        """Return a lower bound of g(v) - alpha v over cells (C, p), for alpha (C, 1): (C, 1)."""
        q = self.q
        ends = (low[:, q:], high[:, q:]) if self.free else (np.zeros((1, 1)), np.full((1, 1), self.most))
        floor, found = self.floor, []
        for v in ends:
            top = np.maximum(v, floor.low) if self.free else floor.low
            cost = (LOG_2_PI + Interval(top).log()) * 0.5
            cost = cost + Interval(0.5 * v).over(Interval(top, np.maximum(top, floor.high) if not self.free else top))
            found.append((cost - Interval(alpha) * v).low)
        return np.minimum(*np.broadcast_arrays(*found))

    def _most(self, low, high, slopes):
        """Return an upper bound of P_i(t) over samples and cells (C, q), (C,)."""
        step, parts = max(1, MOST_NUMBERS // len(self.distinct)), [np.zeros(0)]
        for i in range(0, len(slopes), step):
            here = slice(i, i + step)
            parts.append(self._most_of(low[here], high[here], slopes[here]))
        return np.concatenate(parts)

    def _most_of(self, low, high, slopes):
        z, q = self.distinct, self.q
        alpha, beta, rest = slopes[:, :1], slopes[:, 1 : 1 + q], slopes[:, 1 + q :]
        center = 0.5 * low + 0.5 * high
        half = np.maximum(high - center, center - low)
        size_z = np.abs(z).T
        reach = (np.abs(center) + half) @ size_z
        middle, width = center @ z.T, half @ size_z
        width = width * (1 + WIDER) + (4 * q + 16) * UNIT * reach  # of exact z, whose rounding counts too
        b, c = beta @ z.T, rest @ self.of_z.T
        ends = middle - width, middle + width
        most = np.maximum(*((alpha * t + b) * t for t in ends))
        with np.errstate(all="ignore"):
            top = -0.5 * b / alpha
            slack = WIDER * (np.abs(top) + np.abs(middle) + width)
            inside = (alpha < 0) & (top > ends[0] - slack) & (top < ends[1] + slack)
            most = np.where(inside, np.maximum(most, -0.25 * b * b / alpha), most)
        far = reach * (1 + WIDER) + width
        sizes = np.abs(alpha) * far * far + (np.abs(beta) @ size_z) * far + np.abs(rest) @ np.abs(self.of_z).T
        # the top of the parabola is off by b's error, and b = -2 alpha t there, so that |alpha| t^2 counts that as well
        return (most + c + (8 * self.n_features + 64) * UNIT * sizes).max(axis=1)

    def _one(self, rows, response, weights):
        """Return the cell of all samples' fit."""
        w = [Fraction(x) for x in weights.tolist()]
        q = range(self.q)
        M = [[sum(x * row[j] * row[k] for x, row in zip(w, rows, strict=True)) for k in q] for j in q]
        inverse = inverse_of(M)
        if inverse is None:
            raise ProofError("X", "does not determine the coefficients")
        right = [sum(x * row[j] * y for x, row, y in zip(w, rows, response, strict=True)) for j in q]
        fitted = [sum(inverse[j][k] * right[k] for k in q) for j in q]
        square = sum(x * y * y for x, y in zip(w, response, strict=True))
        variance = (square - sum(b * y for b, y in zip(fitted, right, strict=True))) / sum(w)
        box = enclosed([*fitted, variance] if self.free else fitted)
        return box.low, box.high


def designs(problem, columns):
    """Return regressors as rows of Fractions, with a constant last where there is an intercept; columns (d, N)."""
    one = [Fraction(1)] * problem.fit_intercept
    return [[*map(Fraction, row), *one] for row in columns[: problem.n_regressors].T.tolist()]


def at_places(exact, problem, axes):
    """
    Return regressors z in coordinates of places, as rows of Fractions, and the regression by the places' values.

    Parameters
    ----------
    exact : list of list of Fraction
        Regressors, as `designs` has them.
    problem : Problem
    axes : ndarray, shape (q, p + 1)
        Places: regressors, then a value.

    Returns
    -------
    rows : list of list of Fraction
    fitted : list of Fraction
    """
    inverse = inverse_of(designs(problem, axes.T))
    if inverse is None:
        raise ProofError("axes", "have no inverse")
    values = [Fraction(x) for x in axes[:, -1].tolist()]
    rows = [[sum(x * inverse[i][j] for i, x in enumerate(row)) for j in range(len(inverse))] for row in exact]
    return rows, [sum(z * v for z, v in zip(row, values, strict=True)) for row in rows]


def hull(rows, response):
    """
    Return the box (q,), (q,) of all fits through q samples of independent regressors, rounded outward.

    Parameters
    ----------
    rows : list of list of Fraction
        Regressors.
    response : Interval (N,)
    """
    blocks = _blocks(rows)
    if len(blocks) > 1:  # whose normal equations are their own
        least, most = np.empty(len(rows[0])), np.empty(len(rows[0]))
        for own in blocks:
            used = [i for i, row in enumerate(rows) if any(row[j] for j in own)]
            least[own], most[own] = hull([[rows[i][j] for j in own] for i in used], response[used])
        return least, most
    ranges = {}
    for row, low, high in zip(map(tuple, rows), response.low.tolist(), response.high.tolist(), strict=True):
        least, most = ranges.get(row, (low, high))
        ranges[row] = min(least, low), max(most, high)
    exact, q = list(ranges), len(rows[0])
    sets = itertools.combinations(range(len(exact)), q)
    n_sets = math.comb(len(exact), q)
    if q == 2:
        sets, n_sets = _of_neighbours(exact)
    if n_sets > MOST_SETS:
        raise ProofError("X", f"has more than {MOST_SETS:,} sets of {q} rows, whose fits would have to be tried")
    y = Interval(*np.array(list(ranges.values())).T)
    z = [enclosed([row[j] for row in exact]) for j in range(q)]
    least, most, n_exact = np.full(q, np.inf), np.full(q, -np.inf), 0
    while len(some := np.array(list(itertools.islice(sets, SETS)), dtype=int).reshape(-1, q)):
        parts = [[z[j][some[:, i]] for j in range(q)] for i in range(q)]
        det = _determinant(parts)
        size = np.minimum(np.abs(det.low), np.abs(det.high))
        sure = (np.sign(det.low) == np.sign(det.high)) & (size > CERTAIN_DETERMINANT * (det.high - det.low))
        n_exact += int((~sure).sum())
        if n_exact > MOST_EXACT_SETS:
            raise ProofError("X", f"has more than {MOST_EXACT_SETS:,} sets of {q} rows that are nearly dependent")
        found = [_fits([[x[sure] for x in row] for row in parts], det[sure], y, some[sure])] if sure.any() else []
        found += [fits for own in some[~sure] if (fits := _exact_fits([exact[i] for i in own], y[own])) is not None]
        for fits in found:
            least = np.minimum(least, [np.min(fit.low) for fit in fits])
            most = np.maximum(most, [np.max(fit.high) for fit in fits])
    if not (least <= most).all():  # an empty box would prove anything
        raise ProofError("X", "does not determine the coefficients")
    return least, most


def _of_neighbours(rows):
    """
    Return pairs of rows of two Fractions, and how many there are, between whose fits those of all pairs lie.

    Rows (a, b) with b not 0 are points (a / b, y / b) of the plane, and the first coefficient of the fit through two of
    them is the slope of their chord, which lies between those of the chords of its parts: neighbours suffice, and for
    rows (a, 0), whose fits have the first coefficient y / a, any partner. With a and b exchanged the order of a / b is
    turned round and cut at 0 in place of infinity, so that its neighbours are those on the closed line, too.
    """
    rows_at, level = {}, []
    for i, (a, b) in enumerate(rows):
        if b:
            rows_at.setdefault(a / b, []).append(i)
        elif a:
            level.append(i)
    circle = [rows_at[x] for x in sorted(rows_at)] + [level] * bool(level)
    joined = [(circle[i - 1], circle[i]) for i in range(1, len(circle))]
    if len(circle) > 2:
        joined.append((circle[-1], circle[0]))
    return (pair for own in joined for pair in itertools.product(*own)), sum(len(a) * len(b) for a, b in joined)


def _blocks(rows):
    """Return the columns of rows in blocks: no row has entries beside 0 in two of them."""
    patterns, blocks = {tuple(j for j, x in enumerate(row) if x) for row in rows}, []
    for j in range(len(rows[0])):
        linked = [block for block in blocks if any(j in own and block & set(own) for own in patterns)]
        blocks = [block for block in blocks if block not in linked] + [set().union({j}, *linked)]
    return sorted(sorted(block) for block in blocks)


def _fits(parts, det, y, some):
    """Return fits, of each coefficient an Interval (c,), through sets of rows whose determinants are not 0."""
    q, sign = len(parts), np.sign(det.low)
    size = Interval(np.minimum(np.abs(det.low), np.abs(det.high)), np.maximum(np.abs(det.low), np.abs(det.high)))
    fits = []
    for j in range(q):
        terms = []
        for i in range(q):
            others = [row[:j] + row[j + 1 :] for k, row in enumerate(parts) if k != i]
            minor = _determinant(others) * ((-1.0) ** (i + j) * sign)
            terms.append(minor.over(size) * y[some[:, i]])
        fits.append(_sum(terms))
    return fits


def _exact_fits(rows, y):
    """Return the same of rows of Fractions and their responses, an Interval (q,); None where they are dependent."""
    inverse = inverse_of(rows)
    if inverse is None:
        return None
    return [_sum([weights[i] * y[i] for i in range(len(rows))]) for weights in map(enclosed, inverse)]


def _determinant(parts):
    """Return the determinant of a square matrix, as nested lists of Intervals."""
    if not parts:
        return Interval(1.0)
    if len(parts) == 1:
        return parts[0][0]
    terms = []
    for j, x in enumerate(parts[0]):
        term = x * _determinant([row[:j] + row[j + 1 :] for row in parts[1:]])
        terms.append(-term if j % 2 else term)
    return _sum(terms)


def _sum(terms):
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def inverse_of(rows):
    """Return the inverse of a square matrix of Fractions, by elimination; None where there is none."""
    n = len(rows)
    work = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(rows)]
    for i in range(n):
        at = next((j for j in range(i, n) if work[j][i]), None)
        if at is None:
            return None
        work[i], work[at] = work[at], work[i]
        work[i] = [x / work[i][i] for x in work[i]]
        for j, row in enumerate(work):
            if j != i and row[i]:
                work[j] = [x - row[i] * y for x, y in zip(row, work[i], strict=True)]
    return [row[n:] for row in work]


def enclosed(numbers):
    """Return Fractions as an Interval (n,): the floats that they are, or its neighbours'."""
    rounded = np.array([float(x) for x in numbers])
    same = np.array([Fraction(x) == y for x, y in zip(rounded.tolist(), numbers, strict=True)], dtype=bool)
    return Interval(np.where(same, rounded, down(rounded)), np.where(same, rounded, up(rounded)))


def costs(problem, X, solution):
    """
    Return costs (n, K) of the components of a solution, and sizes of their errors.

    Parameters
    ----------
    problem : Problem
    X : ndarray, shape (N, d)
        Merged rows.
    solution : dict
        "coefficients" (K, p), with an intercept "intercepts" (K,), of free variances "variances" (K,), the same where
        all share one.

    Residuals are computed in fractions, and rounded once.
    """
    K, p = problem.n_components, problem.n_regressors
    b = numbers(solution, "coefficients", "solution", (K, p))
    if problem.fit_intercept:
        b = np.column_stack([b, numbers(solution, "intercepts", "solution", (K,))])
    variances = np.full(K, problem.least_variance)
    if problem.family != "known_regression":
        variances = numbers(solution, "variances", "solution", (K,), 0.0)
        if (variances < problem.least_variance * (1 - 1e-9)).any():
            raise ProofError("solution", "variances lie below the floor")
        if problem.family == "shared_regression" and (variances != variances[0]).any():
            raise ProofError("solution", "all components have the same variance")
        variances = np.maximum(variances, problem.least_variance)
    rows, lines = designs(problem, X.T), [list(map(Fraction, line)) for line in b.tolist()]
    residuals = np.array([
        [float(Fraction(y) - sum(x * c for x, c in zip(row, line, strict=True))) for line in lines]
        for row, y in zip(rows, X[:, -1].tolist(), strict=True)
    ])  # fmt: skip
    squares, logs = np.square(residuals) / (2.0 * variances), np.log(variances)
    found = squares + 0.5 * (LOG_2_PI.high + logs), squares + np.abs(logs) + 2
    if problem.place_of_groups is None:
        return found
    begins = problem.begins_of(X)
    n = np.diff(np.append(begins, len(X)))[:, np.newaxis]
    cost, sizes = (np.add.reduceat(part, begins, axis=0) for part in found)
    return cost, sizes * (1.0 + n / 16)
