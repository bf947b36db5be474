"""Proofs of clusterwise least squares: classes of samples with a regression each.

``problem`` in the header has ``n_clusters`` K and ``fit_intercept``; the data are the regressors, then the response.
``axes`` are q places and values, as of `regressions`, ``unit`` is a power of 2: samples are taken as z and
r = (y - z'values) / unit. ``claim`` has ``lower_bound``, ``objective`` and ``solution``: ``coefficients`` (K, p) and
``intercepts`` (K,). Samples are the N distinct ones of positive weight, in lexicographic order.

``splits`` (M, 2): nodes, each before all below it: a box of coefficients by its place among the node's boxes, and the
coefficient that divides it at ``points`` (M,), or (-1, -1) for a leaf. A box with the fits of m classes has m + 1
parts: 0, 1, ..., m of these below, the others above; the boxes of these come after all others. ``prices`` (L, N) of
every leaf, and ``limits`` (,): of all leaves' boxes what one class with its fit there saves at most.

With prices lambda, G(b) = sum_i w_i max(0, lambda_i - e_i(b)^2), and m_j classes with their fits in box j,

    f  >=  sum_i w_i lambda_i  -  sum_j m_j sup_j G,

and what a class saves in a box is bounded in smaller ones. There a residual t lies within s of e, that of the middle,
so that with T = |e| + s, n = max(0, |e| - s) a sample adds lambda - t^2 if T^2 <= lambda, nothing if n^2 >= lambda, and
else at most kappa (T^2 - t^2), kappa = (lambda - n^2) / (T^2 - n^2): a concave quadratic in b, whose tangent plane
anywhere bounds it. Classes whose own fit is in the box save at most sum_i w_i max(0, lambda_i - e_i^2 + s_i^2) as well.

Rounding: residuals from rounded z and r are off by at most delta, (2 q + 16) u of |r| + sum_j |z_j| (|c_j| + h_j), for
which roots of prices are raised: max(0, lambda - e^2) <= max(0, (sqrt(lambda) + delta)^2 - t^2) if |e - t| <= delta.
Roots, ends of strips and kappa are rounded so that the quadratic with these floats lies above; its sum is found to
8 (N + 8 q + 32) u of its terms' magnitudes.

Theory: (VF3) of docs/theory/proof_families.md.
"""

import math
from fractions import Fraction

import numpy as np

from .entries import item, number, numbers, reals
from .errors import ProofError
from .regressions import at_places, designs, enclosed, hull
from .rounding import TINY, UNIT, down, up
from .samples import Samples
from .tuning import (
    CLUSTERWISE_BOXES as MOST_BOXES,
    CLUSTERWISE_NODES as MOST_NODES,
    CLUSTERWISE_SWEEPS as SWEEPS,
    SAVINGS_NUMBERS as MOST_NUMBERS,
)


class Problem(Samples):
    """Distinct samples of positive weight, and the number of classes."""

    def __init__(self, record, X, sample_weight):
        if not isinstance(record, dict) or record.keys() != {"n_clusters", "fit_intercept"}:
            raise ProofError("problem", "must have n_clusters and fit_intercept")
        self.fit_intercept = record["fit_intercept"]
        if self.fit_intercept is not True and self.fit_intercept is not False:
            raise ProofError("problem", "fit_intercept must be true or false")
        X = reals(X, "X")
        if X.ndim != 2 or X.shape[1] < 2 or not X.size:
            raise ProofError("X", "must have regressors and a response")
        super().__init__(record, X, sample_weight)
        self.n_regressors = X.shape[1] - 1
        self.n_coefficients = self.n_regressors + self.fit_intercept

    def attained(self, coefficients, intercepts):
        """Return the sum of squared residuals of each sample's nearest regression, rounded up."""
        least = np.full(len(self.X), np.inf)
        rows, response = designs(self, self.X.T), [Fraction(y) for y in self.X[:, -1].tolist()]
        for own, constant in zip(coefficients.tolist(), intercepts.tolist(), strict=True):
            line = [Fraction(x) for x in (*own, *[constant] * self.fit_intercept)]
            squares = [float((y - sum(x * b for x, b in zip(row, line, strict=True))) ** 2)
                       for row, y in zip(rows, response, strict=True)]  # fmt: skip
            least = np.minimum(least, up(np.array(squares)))
        value = math.fsum(self.mass * least * (1 + 8 * UNIT))
        return float(up(value)) if value > 0 else 0.0


def verify(header, arrays, problem):
    """Check a proof; return the lower bound, the objective, the number of leaves and the solution."""
    claim = item(header, "claim", "header")
    lower, solution = number(claim, "lower_bound", "claim"), item(claim, "solution", "claim")
    K, p = problem.n_clusters, problem.X.shape[1] - 1
    coefficients = numbers(solution, "coefficients", "solution", (K, p))
    intercepts = numbers(solution, "intercepts", "solution", (K,))
    if not problem.fit_intercept and intercepts.any():
        raise ProofError("solution", "there are no intercepts")
    try:
        value = problem.attained(coefficients, intercepts)
    except OverflowError:
        raise ProofError("solution", "has residuals too large for numbers") from None
    if not value <= number(claim, "objective", "claim"):
        raise ProofError("solution", f"its objective is {value:.12g}, the proof claims {claim['objective']:.12g}")
    if lower <= 0:
        return lower, value, 0, solution
    axes = numbers(header, "axes", "header", (problem.n_coefficients, p + 1))
    samples = Samples(problem, axes, number(header, "unit", "header"))
    wanted = float(up(lower / samples.unit**2)) * (1 + 16 * UNIT)  # weights of equal samples are rounded once
    if not math.isfinite(wanted) or wanted < TINY:
        raise ProofError("unit", "is not that of the residuals")
    return lower, value, _check_leaves(samples, arrays, K, wanted), solution


def _check_leaves(samples, arrays, K, lower):
    """Check that all classes reach a bound; return how many leaves show it."""
    prices, limits = arrays["prices"], arrays["limits"]
    if prices.shape[1:] != (len(samples.r),) or not (prices >= 0).all() or not (limits >= 0).all():
        raise ProofError("prices", f"and limits must be at least 0, prices of {len(samples.r)} distinct samples")
    n_leaves = n_limits = 0
    for boxes in _leaves(arrays["splits"], arrays["points"], samples, K):
        if n_leaves == len(prices) or n_limits + len(boxes) > len(limits):
            raise ProofError("prices", "there are too few, or too few limits")
        own, most = prices[n_leaves], limits[n_limits : n_limits + len(boxes)]
        counts = [count for *_, count in boxes]
        saved = math.fsum(up(np.array(counts) * most))
        total = math.fsum(down(samples.mass * own))
        if not down(down(total) - up(saved)) >= lower:
            raise ProofError(f"leaf {n_leaves}", "its prices and limits add up to less than the bound that is claimed")
        for (low, high, _), limit in zip(boxes, most.tolist(), strict=True):
            if not samples.save_at_most(own, low, high, limit):
                raise ProofError(f"leaf {n_leaves}", f"a class may save more than {limit:.12g}")
        n_leaves, n_limits = n_leaves + 1, n_limits + len(boxes)
    if n_leaves != len(prices) or n_limits != len(limits):
        raise ProofError("prices", f"there are {len(prices)} and {len(limits)} limits for {n_leaves} leaves")
    return n_leaves


def _leaves(splits, points, samples, K):
    """Yield the boxes of every leaf: lower and upper ends (q,), and how many classes have their fits there."""
    if splits.shape != (len(points), 2):
        raise ProofError("splits", "must be two numbers for each of the points")
    stack = [[(*samples.box(), K)]]
    for node, ((b, j), at) in enumerate(zip(splits.tolist(), points.tolist(), strict=True)):
        if not stack:
            raise ProofError(f"node {node}", "the tree has ended before")
        boxes = stack.pop()
        if b == j == -1:
            yield boxes
            continue
        if not (0 <= b < len(boxes) and 0 <= j < samples.q):
            raise ProofError(f"node {node}", f"there is no box {b} with a coefficient {j}")
        low, high, count = boxes[b]
        if len(stack) + count >= MOST_NODES:
            raise ProofError(f"node {node}", "the tree is too deep")
        below, above = high.copy(), low.copy()
        below[j], above[j] = min(high[j], at), max(low[j], at)
        others = [*boxes[:b], *boxes[b + 1 :]]
        for m in range(count, -1, -1):
            halves = [(low, below, m)] * (m > 0) + [(above, high, count - m)] * (m < count)
            stack.append([*others, *halves])
    if stack:
        raise ProofError("tree", f"{len(stack)} of its parts are missing")


class Samples:
    """
    Samples in coordinates that a proof names.

    Parameters
    ----------
    problem : Problem
    axes : ndarray, shape (q, p + 1)
        Places: regressors, then a value.
    unit : float
    """

    def __init__(self, problem, axes, unit):
        if not (unit > 0 and math.frexp(unit)[0] == 0.5):
            raise ProofError("unit", "must be a power of 2")
        self.rows, fitted = at_places(designs(problem, problem.X.T), problem, axes)
        self.q, self.unit, self.mass = len(axes), unit, problem.mass
        try:
            self._set(fitted, problem)
        except OverflowError:
            raise ProofError("axes", "make samples too large for numbers") from None

    def _set(self, fitted, problem):
        unit = Fraction(self.unit)
        response = [(Fraction(y) - at) / unit for y, at in zip(problem.X[:, -1].tolist(), fitted, strict=True)]
        self.z = np.array([[float(x) for x in row] for row in self.rows])
        self.r, self.response = np.array([float(x) for x in response]), enclosed(response)
        self.products = (self.z[:, :, np.newaxis] * self.z[:, np.newaxis]).reshape(len(self.z), -1)

    def box(self):
        """Return the box of all fits."""
        return hull(self.rows, self.response)

    def save_at_most(self, prices, low, high, limit):
        """Whether it is shown that no class with its fit in a box saves more than a limit at prices (N,)."""
        if not (low <= high).all():  # no class has its fit there
            return True
        stack, n_boxes = [(low[np.newaxis], high[np.newaxis], np.flatnonzero(prices > 0))], 0
        roots = up(np.sqrt(prices))
        while stack:
            low, high, active = stack.pop()
            n_boxes += len(low)
            if n_boxes > MOST_BOXES:
                return False
            bound, attained, counts, doubt = self._bound(roots, low, high, active)
            open_ = ~(bound <= limit)
            if (open_ & (attained > limit)).any():  # then it is hardly so: no need to look closer
                return False
            if not open_.any():
                continue
            low, high, counts, doubt = low[open_], high[open_], counts[open_], doubt[open_]
            widest, rows = doubt.argmax(axis=1), np.arange(len(low))
            middle = low[rows, widest] + 0.5 * (high[rows, widest] - low[rows, widest])
            if not ((low[rows, widest] < middle) & (middle < high[rows, widest])).all():
                return False
            first, last = high.copy(), low.copy()
            first[rows, widest] = last[rows, widest] = middle
            # halves beside each other stay together: few samples count in them
            low, high = (np.stack(pair, axis=1).reshape(-1, self.q) for pair in ((low, last), (first, high)))
            counts = np.repeat(counts, 2, axis=0)
            step = max(1, MOST_NUMBERS // max(1, len(active) * self.q))
            for i in range(0, len(low), step):
                here = slice(i, i + step)
                stack.append((low[here], high[here], active[counts[here].any(axis=0)]))
        return True

    def _bound(self, roots, low, high, active):
        """
        Bound what classes save in boxes (C, q).

        Returns
        -------
        bound, attained : ndarray, shape (C,)
            At least what any saves, and about what the best does that is met.
        counts : ndarray of bool, shape (C, n)
            Which of the active samples may add to it.
        doubt : ndarray, shape (C, q)
            How much the width of each coefficient keeps open.
        """
        z, r, w, q = self.z[active], self.r[active], self.mass[active], self.q
        c = low + 0.5 * (high - low)
        h = up(np.maximum(high - c, c - low))
        size = np.abs(r) + (np.abs(c) + h) @ np.abs(z).T
        delta = (2 * q + 16) * UNIT * size * (1 + (4 * q + 32) * UNIT)
        delta += TINY * (1 + np.abs(c) + h).sum(axis=1, keepdims=True)
        e = r - c @ z.T
        s = (h @ np.abs(z).T) * (1 + (4 * q + 16) * UNIT) + TINY
        root = up(up(roots[active] + delta))
        far, near = up(np.abs(e) + s), np.maximum(down(np.abs(e) - s), 0.0)
        counts = near < root
        sure = far <= root
        with np.errstate(all="ignore"):
            kappa = (root - near) * (root + near) / ((far - near) * (far + near)) * (1 + 16 * UNIT)
        kappa = np.where(sure, 1.0, np.where(counts, kappa, 0.0)) * w
        top = np.where(sure, root, far)
        A0 = (kappa * (top * top - e * e)).sum(axis=1)
        A1 = 2.0 * (kappa * e) @ z
        A2 = (kappa @ self.products[active]).reshape(-1, q, q)
        x = self._highest(A1, A2, h)
        bent = (A2 * x[:, np.newaxis]).sum(axis=2)
        slope = A1 - 2.0 * bent
        found = A0 + ((A1 - bent) * x).sum(axis=1)
        found += np.where(slope > 0, slope * (h - x), -slope * (h + x)).sum(axis=1)
        rounding = 8 * (len(active) + 8 * q + 32) * UNIT
        found += rounding * (kappa * (top * top + 8.0 * far * far)).sum(axis=1)
        wide = root * root + (2.0 * delta + s) * s
        of_fits = (np.where(counts, np.maximum(wide - e * e, 0.0), 0.0) * w).sum(axis=1)
        of_fits += rounding * (np.where(counts, wide, 0.0) * w).sum(axis=1)
        at = np.square(r - (c + x) @ z.T)
        attained = (np.maximum(np.square(roots[active]) - at, 0.0) * w).sum(axis=1)
        doubt = (np.where(counts & ~sure, w * root, 0.0) @ np.abs(z)) * h
        bound = np.where(np.isnan(found), np.inf, np.minimum(found, of_fits))
        return bound, attained * (1 - 1e-12), counts, doubt + TINY * h

    def _highest(self, A1, A2, h):
        """Return about where A1'x - x'A2 x is largest within h: anywhere there will do."""
        x = np.zeros_like(A1)
        for _ in range(SWEEPS):
            for j in range(self.q):
                bend = A2[:, j, j]
                slope = A1[:, j] - 2.0 * ((A2[:, j] * x).sum(axis=1) - bend * x[:, j])
                new = np.where(bend > 0, 0.5 * slope / np.where(bend > 0, bend, 1.0), np.sign(slope) * h[:, j])
                x[:, j] = np.clip(new, -h[:, j], h[:, j])
        return x
