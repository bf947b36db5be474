"""
A bound of mixtures of one covariance matrix, by cuts and cells of a Cholesky factor.

With the notation of `gopfast.mixtures.shared.simplices`, every search of a known covariance says R >= beta_v -
<A_v, S> / 2 of all responsibilities. With P, which is S / W and N but for eigenvalues far below the floor,

    f >= c + W d / 2 + W min over P of [log det P / 2 + max over v of (b_v - <A_v, P> / 2)],

a problem without samples: cells of the Cholesky factor of P bound it (`factor_cells`), or with two components cells of
the direction between them (`pair_cells`). Where the function itself is too low at the point of the least cell a search
is made at the inverse of that point, or goes on.

Theory: (TF1), (TF2) and (TF3) of docs/theory/factors.md, (TP1) of docs/theory/pairs.md.
"""

import math

import numpy as np

from gopfast.mixtures.families.scatter import least_along
from gopfast.mixtures.learning.learner import end_of_step
from gopfast.mixtures.shared.factor_cells import FactorCells
from gopfast.mixtures.shared.known_covariances import Vertex
from gopfast.mixtures.shared.margins import SLICES_SLACK as SLACK, SUM
from gopfast.mixtures.shared.noise import Noises
from gopfast.mixtures.shared.pair_cells import PairCells
from gopfast.mixtures.shared.rough_covariances import RoughCovariances, apart
from gopfast.mixtures.shared.rough_search import RoughSearch
from gopfast.mixtures.shared.shared import FixedSearch, SharedBound
from gopfast.mixtures.shared.tuning import (
    AIMED,
    ASKING,
    CELLS_A_DIRECTION,
    CELLS_A_SEARCH,
    DIRECTED_BY,
    EARLY,
    EXACTLY,
    FINE,
    FINER,
    FLATTER,
    LEAST_AIMED,
    LEAST_COST,
    MOST_AIMED,
    MOST_PAIRED,
    N_LINES,
    NARROWER,
    NARROWER_BY_FEW,
    NOISY,
    NOISY_APART,
    NOISY_FIRST,
    SAME_PRECISION,
    SHARPER,
    STALLED,
    STEEPEST,
)
from gopfast.roundoff import ROUND


class FactorBound(RoughCovariances):
    """
    Lower bound of a mixture of one covariance matrix; parameters as of `RoughCovariances`.

    Parameters
    ----------
    noise : Meter, optional
        Counts of cuts of samples with noise, None: there are none.
    """

    def __init__(self, slices, solution, limit, epsilon, plan, prices=None, noise=None):
        super().__init__(slices, solution, limit, epsilon, plan, prices)
        self.cells, self.cuts = None, {}  # cells' numbers of vertices
        self.matrices = ()  # of the vertices, their entries (n, d d)
        self.asked = None  # a matrix, and what is asked for there
        self.n_drawn = 0  # steps of lines
        self.skip = False  # there is no search to be made for the least cell
        self.share = slices.weights / slices.weights.sum()
        few = slice(None, None, len(slices.weights) // DIRECTED_BY)
        self.few = None  # of many samples some, by which directions are chosen
        if few.step > 1:
            share = slices.weights[few]
            self.few = np.ascontiguousarray(slices.columns[:, few]), share / share.sum()
        self.largest, self.off = np.abs(slices.columns).max(axis=1), slices.off.max(axis=1)
        self.steep = STEEPEST.index(EXACTLY)  # which of the steepest precisions the last search had
        self.n_told = 0  # cells at which cuts are asked for though the known ones say enough at their point
        self.noises, self.noise_meter = None, noise
        self.lines, self.drawn = None, []  # lines that become cuts
        if not slices.exact or len(slices.columns) > MOST_PAIRED:
            self.lines = SharedBound(slices, slices.first(solution), limit, epsilon, plan, self._line)

    def step(self, deadline):
        """Do one thing more, until `deadline` of the monotonic clock; whether there is more to do."""
        if self.lines is not None:
            self._draw(deadline)
        elif self.cells is None:
            self.slices.refine(deadline)
            self._begin()
        elif self.waiting:
            index = self.waiting[0]
            self._go_on(index, deadline)
            self.waiting = [i for i in self.waiting if i != index or self._is_cut_short(i)]
        else:
            before = self.cells.n_cells
            most = max(1, self.n_told - before)
            reason = self.cells.search(self._level(), most, ASKING, self.skip, end_of_step(deadline))
            self._count((self.cells.n_cells - before) * (self.cells.n_cuts + self.cells.n_directions))
            self.skip = False
            self.lower = self._in_nats(self.cells.lower)
            if reason in ("closed", "too many", "point"):
                return False
            if reason in ("low", "cells"):  # by so many cells a search costs no more than they do
                self._ask(deadline)
        return self.lower < self.limit

    def _draw(self, deadline):
        """Take a step of lines, whose searches are cuts, too; after some of them the cells begin."""
        lines, passes, terms = self.lines, self.lines.n_passes, self.lines.n_terms
        lines.limit = self.limit
        more, self.n_drawn = lines.step(deadline), self.n_drawn + 1
        self.n_passes, self.n_terms = self.n_passes + lines.n_passes - passes, self.n_terms + lines.n_terms - terms
        self.lower = max(self.lower, lines.lower)
        if self.lower >= self.limit or more and (self.slices.exact or self.n_drawn < N_LINES):
            return
        if self.slices.exact:
            self.drawn = [line for line in lines.lines() if line.alpha > 0.0]
        # from here on `lower` is what cells prove by themselves, so that it is seen how they get on
        self.lines, self.lower = None, -math.inf

    def _begin(self):
        """Find what eigenvalues P may have, and the axes of its factor; a first search is at the incumbent's."""
        slices = self.slices
        self.center = self._within_range(self.center)
        values, vectors = np.linalg.eigh(self.center)
        self.steepest = float(values[-1])
        self.axes = U = vectors  # from wide to narrow: the least precision first
        d = len(values)
        # how far U is from a rotation, of which the determinant and eigenvalues are told
        self.skew = float(np.abs(U.T @ U - np.eye(d)).sum()) + 8 * d * d * ROUND * float(np.square(np.abs(U)).sum())
        least, top = slices.within_range()
        self.top = top * (1.0 + SLACK)
        # the mixture's mean may be no matrix that there is; a little too wide it is what cells cannot rule out
        low, high = slices.precisions()
        kind = PairCells if slices.exact else FactorCells
        self.cells = kind(d, least * (1.0 - SLACK), self.top, (1.0 / high, 1.0 / (FLATTER * low)))
        self.added = np.diag(slices.added)
        if self.noise_meter is not None:
            incumbent = np.linalg.inv(self.center)
            self.noises = Noises(slices, incumbent)
            for factor in NOISY_FIRST:
                self._make_noise(factor * incumbent)
        constants = [*slices.fixed, 0.5 * slices.total * d, -2.0 * slices.total * self.skew]
        if slices.exact:  # all eigenvalues but one are about 1, and are taken for the largest (TP1)
            flattest = max(1.0 - slices.eta - SLACK, 1e-300)
            constants.append(-0.5 * slices.total * (d - 1) * math.log(self.top / flattest) * (1.0 + SLACK))
        self.offset, self.magnitude = math.fsum(constants), math.fsum(map(abs, constants))
        self._add(self.center, 0.0)
        for line in self.drawn:
            self._cut(line.alpha * np.eye(d), line.beta)

    def _within_range(self, A):
        """Return a matrix with the eigenvalues of a best precision, from one that may have others."""
        return self._clipped(A, math.inf)

    def _clipped(self, A, most, flatter=1.0):
        """Return the same with no eigenvalue above `most`: steeper cuts say little more, and take long."""
        low, high = self.slices.precisions()
        values, vectors = np.linalg.eigh(A)
        A = (vectors * np.clip(values, flatter * low, min(high, most))) @ vectors.T
        return 0.5 * (A + A.T)

    def _in_nats(self, value):
        """Return what cells prove, rounded down."""
        value = self.slices.total * value
        return value + self.offset - SUM * (abs(value) + self.magnitude)

    def _level(self):
        """Return the limit, as of cells."""
        return (self.limit - self.offset + 4 * SUM * (abs(self.limit) + self.magnitude)) / self.slices.total

    def _line(self, alpha, family, *rest):
        """Return the search behind a line, as `FixedSearch` is made."""
        search = None
        if self._gathers():
            search, _ = self._of_groups(self._estimate(alpha * np.eye(len(self.center)), self.means), alpha)
        return search or self._kind(FixedSearch)(alpha, family, *rest)

    def _asked_of(self, vertex):
        """Return what is asked for where the last search was."""
        return math.inf if self.asked is None else self._asked(vertex.A)

    def _asked(self, A):
        """Return the nats that a search at a precision has to prove, for the matrix it is asked for."""
        P, rest = self.asked
        return self.slices.total * (rest + 0.5 * float((A * (P - self.added)).sum()))

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
        cells, W = self.cells, self.slices.total
        # cells that do not close where enough is said are too large for that
        sharpen = self._rough() > 0.0 and cells.n_cells >= self.n_told
        P = self.axes @ (cells.mixed if sharpen else cells.point) @ self.axes.T
        if self._widen(P):
            self.n_told = cells.n_cells + CELLS_A_DIRECTION
            return
        self.n_told = cells.n_cells + CELLS_A_SEARCH
        told = self._told(P)
        rest = self._level() - np.linalg.slogdet(P)[1] / 2
        enough = told.max() >= rest
        if (enough and not sharpen) or self.is_full:
            self.skip = True
            return
        if self._cut_by_noise(P, max(rest, told.max() + (SHARPER if sharpen else 0.0))):
            return
        self.asked = P, max(rest, told.max())
        A = np.linalg.inv(P)
        A = 0.5 * (A + A.T)
        A, estimate = self._precision(A)
        if enough and estimate.value - self._asked(A) < SHARPER * W:
            self.skip = True
            return
        rough = self._rough() / FINER
        same = np.flatnonzero(self._apart(A) < SAME_PRECISION).tolist()
        # searches that may say enough there, if they end where their incumbents are
        able = [
            i for i, vertex in enumerate(self.vertices)
            if vertex.can_go_on(rough) and told[i] + vertex.missing / W >= rest and (i in same or self._is_vague(i))
            and (vertex.search.n_nodes < EARLY or vertex.progress > STALLED * vertex.missing)
        ]  # fmt: skip
        if able:
            self._go_on(max(able, key=lambda i: self._gain(i, told)), deadline)
        elif same:
            self.skip = True
        else:
            self.means = self.vertices[self._nearest(A)].means
            self.vertices[self._add(A, 0.0)].estimate = estimate

    def _cut_by_noise(self, P, asked):
        """Tell the cells of a cut of samples with noise that says so much at a matrix; whether there is one."""
        noises = self.noises
        if noises is None or not self._rough() > 0.0:
            return False
        noise, said = noises.best(P)
        if not said > asked and (not noises.known or apart(NOISY * P, noises.covariances).min() > NOISY_APART):
            self._make_noise(NOISY * P)
            noise, said = noises.best(P)
        if not said > asked:
            return False
        A, beta = noises.cut(noise, P)
        self._cut(A, beta)
        return True

    def _cut(self, A, beta):
        """Tell the cells of a cut that has no search behind it."""
        self.vertices.append(Vertex(A, 0.0, beta))
        self._raised(len(self.vertices) - 1)

    def _make_noise(self, covariance):
        """Make noise of about a covariance, and count that."""
        with self.noise_meter:
            self.noises.add(covariance)
        n, K = len(self.noises.places.weights), self.slices.n_components
        self.noise_meter.count(terms=n * K, calls=1)
        self._count(n * K)

    def _widen(self, P):
        """Tell the cells of directions along which a matrix is narrower than any that there is; whether it is."""
        slices, found = self.slices, False
        values, vectors = np.linalg.eigh(P)
        for value, direction in zip(values, vectors.T, strict=True):
            direction = np.ascontiguousarray(direction)
            if self.few is not None:    # what those tell is about the same
                columns, share = self.few
                least = least_along(direction, columns, share, slices.n_components, self.largest, self.off)
                if least < NARROWER_BY_FEW * NARROWER * value:
                    continue
            least = least_along(direction, slices.columns, self.share, slices.n_components, self.largest, self.off)
            if least > NARROWER * value:
                self.cells.widen(self.axes.T @ direction, least * (1.0 - SLACK))
                found = True
        self._count(P.shape[0] * len(self.share))
        return found

    def _precision(self, A):
        """
        Return the precision at which a search says enough where it is asked for, and an estimate of its optimum.

        Flat ones are searched sooner, steep ones say more: about `AIMED` of what is missing beyond what is asked for.
        """
        if not self._rough():
            return self._clipped(A, EXACTLY * self.steepest, FLATTER), None
        aimed = max(LEAST_AIMED * self.slices.total, AIMED * (self.limit - self.lower))
        tried = {}  # by the place in `STEEPEST`: precision, estimate, and how much that is above what is asked
        while self.steep not in tried:
            flat = self._clipped(A, STEEPEST[self.steep] * self.steepest, FLATTER)
            found = self._estimate(flat, self.vertices[self._nearest(flat)].means)
            more = found.value - self._asked(flat)
            tried[self.steep] = flat, found, more
            if more < aimed:
                self.steep = min(self.steep + 1, len(STEEPEST) - 1)
            elif more >= MOST_AIMED * aimed:
                self.steep = max(self.steep - 1, 0)
        flat, found, more = tried[self.steep]
        if more < aimed and self.steep + 1 in tried:
            self.steep += 1
            flat, found, _ = tried[self.steep]
        return flat, found

    def _told(self, P):
        """Return what the cuts, one of each vertex, say at a matrix, per unit of weight."""
        heights = np.array([vertex.beta for vertex in self.vertices])
        return heights / self.slices.total - 0.5 * self._matrices() @ (P - self.added).ravel()

    def _matrices(self):
        """Return the vertices' matrices, (n, d d)."""
        if len(self.matrices) < len(self.vertices):
            self.matrices = np.array([vertex.A.ravel() for vertex in self.vertices])
        return self.matrices

    def _gain(self, index, told):
        """Return by how much going on with a search raises the largest of what is told, a node; then what it tells."""
        vertex = self.vertices[index]
        nodes = vertex.search.n_nodes + LEAST_COST
        raised = told[index] + vertex.promise() * nodes / self.slices.total - told.max()
        return max(0.0, raised) / nodes, told[index]

    def _is_vague(self, index):
        """Whether what the search behind a vertex lacks is a good part of what all is missing, and was not spared."""
        vertex = self.vertices[index]
        return vertex.missing > FINE * (self.limit - self.lower) and not vertex.search.spared

    def _is_cut_short(self, index):
        """Whether the search behind a vertex has not come to its first bound by prices."""
        search = self.vertices[index].search
        return isinstance(search, RoughSearch) and search.bound is not None and not math.isfinite(search.bound.lower)

    def _apart(self, A):
        """Return how far each vertex is from A, relative to it."""
        return apart(A, self._matrices().reshape(-1, *A.shape))

    def _nearest(self, A):
        """Return the vertex whose means a search at A begins with."""
        known = [vertex.means is not None for vertex in self.vertices]  # not of lines
        return int(np.argmin(np.where(known, self._apart(A), math.inf)))
