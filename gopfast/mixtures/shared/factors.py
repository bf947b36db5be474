"""
A bound of mixtures of one covariance matrix, by cuts and cells of a Cholesky factor.

With the notation of `gopfast.mixtures.shared.simplices`, every search of a known covariance says R >= beta_v -
<A_v, S> / 2 of all responsibilities. With P, which is S / W and N but for eigenvalues far below the floor,

    f >= c + W d / 2 + W min over P of [log det P / 2 + max over v of (b_v - <A_v, P> / 2)],

a problem without samples: cells of the Cholesky factor of P bound it (`factor_cells`). Where the function itself is
too low at the point of the least cell a search is made at the inverse of that point, or goes on.

Theory: (T9), (T10) and (T11) of docs/theory/shared.md.
"""

import math
import time

import numpy as np

from gopfast.mixtures.learning.learner import end_of_step
from gopfast.mixtures.shared.factor_cells import FactorCells
from gopfast.mixtures.shared.known_covariances import KnownCovariances
from gopfast.mixtures.shared.margins import SLICES_SLACK as SLACK, SUM
from gopfast.mixtures.shared.tuning import ASKING, CELLS_AT_ONCE, REFINING, SAME_PRECISION
from gopfast.roundoff import ROUND


class FactorBound(KnownCovariances):
    """Lower bound of a mixture of one covariance matrix; parameters as of `KnownCovariances`."""

    def __init__(self, slices, solution, limit, epsilon, plan):
        super().__init__(slices, solution, limit, epsilon, plan)
        self.cells, self.cuts = None, {}  # cells' numbers of vertices
        self.skip = False  # there is no search to be made for the least cell
        self.center = slices.precision_of(solution)

    def step(self, deadline):
        """Do one thing more, until `deadline` of the monotonic clock; whether there is more to do."""
        if self.cells is None:
            self._begin(deadline)
        elif self.waiting:
            self._go_on(self.waiting[0], deadline)
        else:
            before = self.cells.n_cells * self.cells.n_cuts
            reason = self.cells.search(self._level(), CELLS_AT_ONCE, ASKING, self.skip, end_of_step(deadline))
            self._count(self.cells.n_cells * self.cells.n_cuts - before)
            self.skip = False
            self.lower = max(self.lower, self._in_nats(self.cells.lower))
            if reason in ("closed", "full", "point"):
                return False
            if reason == "low":
                self._ask(deadline)
        return self.lower < self.limit

    def _begin(self, deadline):
        """Find what eigenvalues P may have, and the axes of its factor."""
        slices, now = self.slices, time.monotonic()
        slices.refine(now + REFINING * (deadline - now))
        self.center = self._within_range(self.center)
        values, vectors = np.linalg.eigh(self.center)
        self.axes = U = vectors  # from wide to narrow: the least precision first
        d = len(values)
        # how far U is from a rotation, of which the determinant and eigenvalues are told
        self.skew = float(np.abs(U.T @ U - np.eye(d)).sum()) + 8 * d * d * ROUND * float(np.square(np.abs(U)).sum())
        least, top = slices.within_range()
        self.top = top * (1.0 + SLACK)
        self.cells = FactorCells(d, least * (1.0 - SLACK), self.top)
        self.added = np.diag(slices.added)
        constants = [*slices.fixed, 0.5 * slices.total * d, -2.0 * slices.total * self.skew]
        self.offset, self.magnitude = math.fsum(constants), math.fsum(map(abs, constants))
        self._add(self.center, 0.0)

    def _within_range(self, A):
        """Return a matrix with the eigenvalues of a best precision, from one that may have others."""
        values, vectors = np.linalg.eigh(A)
        A = (vectors * np.clip(values, *self.slices.precisions())) @ vectors.T
        return 0.5 * (A + A.T)

    def _in_nats(self, value):
        """Return what cells prove, rounded down."""
        value = self.slices.total * value
        return value + self.offset - SUM * (abs(value) + self.magnitude)

    def _level(self):
        """Return the limit, as of cells."""
        return (self.limit - self.offset + 4 * SUM * (abs(self.limit) + self.magnitude)) / self.slices.total

    def _count(self, terms):
        """Count work of cells, as if it were passes."""
        self.n_terms += terms
        self.n_passes += terms // (len(self.slices.weights) * self.slices.n_components)

    def _raised(self, index):
        """Tell the cells of a cut."""
        vertex, W, U = self.vertices[index], self.slices.total, np.abs(self.axes)
        A = vertex.A
        form = self.axes.T @ A @ self.axes
        form = 0.5 * (form + form.T)
        size = float((U.T @ np.abs(A) @ U).sum())
        inner = 0.5 * float((A * self.added).sum())
        b = vertex.beta / W + inner - SUM * (abs(vertex.beta) / W + inner + 0.5 * self.top * A.size * size)
        if index in self.cuts:
            self.cells.lift(self.cuts[index], b)
        else:
            self.cuts[index] = self.cells.add(form, b)

    def _ask(self, deadline):
        """Make a search at the point of the least cell, or go on with one that may say more there."""
        C = self.axes @ self.cells.point
        A = self._within_range(np.linalg.pinv(C @ C.T))
        P, W = np.linalg.inv(A), self.slices.total  # the mixture's mean may be no matrix that there is
        rest = self._level() - np.linalg.slogdet(P)[1] / 2
        told = np.array([v.beta / W - 0.5 * float((v.A * (P - self.added)).sum()) for v in self.vertices])
        if told.max() >= rest or self.is_full:
            self.skip = True
            return
        reach = [one + vertex.missing / W for one, vertex in zip(told, self.vertices, strict=True)]
        best = int(np.argmax(reach))
        if self.vertices[best].missing > 0.0 and reach[best] >= rest:
            self._go_on(best, deadline)
        elif any(np.abs(np.linalg.solve(A, v.A) - np.eye(len(A))).max() < SAME_PRECISION for v in self.vertices):
            self.skip = True
        else:
            self.means = self.vertices[self._nearest(A)].means
            self._add(A, 0.0)

    def _nearest(self, A):
        """Return the vertex whose means a search at A begins with."""
        known = [i for i, vertex in enumerate(self.vertices) if vertex.means is not None]
        return min(known, key=lambda i: np.abs(np.linalg.solve(A, self.vertices[i].A) - np.eye(len(A))).sum())
