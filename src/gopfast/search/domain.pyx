"""Where solutions below the limit can lie, as far as it was learnt beside the tree, and a bound of all the rest.

Two things are learnt. A basin is a box around the incumbent with a bound of its own: parents that reach into it are
split at its faces, and children inside need no relaxed dual. A reduction holds for all solutions below the limit: nodes
are cut down by it, and what is cut off has the reduction's bound.

Theory: (S5), (S6) and (S7) of docs/theory/search.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memcpy

from gopfast.search.meter cimport Meter
from gopfast.search.relaxation cimport no_effort
from gopfast.search.stop cimport StopSignal, clock
from gopfast.search.tree cimport node_high, node_low, node_point
from gopfast.search.tuning cimport (
    COVER_AGAIN_BELOW, FACE_REACH, FEW_SIDES, LEARNING_SHARE, LONGEST_PAUSE, LONGEST_SILENCE, LOOKED_AT, PAYS,
    REBOUND_BELOW, RESTART_BELOW, SETTLE_FROM, SHORTEST_PAUSE, UNCUT_ABOVE
)
from gopfast.search.types cimport STOP_NONE


cdef class Domain:
    """What was learnt beside the tree.

    Parameters
    ----------
    n_connected : int
        Dimension of the boxes.
    basin : None or Basin
    reduction : None or Reduction
    learn_from : int
        Nodes after which learning begins.
    n_threads : int
        On which nodes are cut down.
    """

    def __init__(self, index n_connected, Basin basin, Reduction reduction, index learn_from, int n_threads):
        self.n_connected, self.basin, self.reduction, self.learn_from = n_connected, basin, reduction, learn_from
        self.passes_before = -1
        self.learning = no_effort()
        self.box_sought_at = self.covered_at = self.covered_width = INFINITY
        self.start, self.before = np.zeros(2 * n_connected), np.empty((n_threads, 2 * n_connected))

    cdef void resume(self) noexcept nogil:
        self.prepared = False

    cdef void begin(self, Node *node) noexcept nogil:
        memcpy(&self.start[0], node_low(node), 2 * self.n_connected * sizeof(real))

    cdef void begin_again(self) noexcept nogil:
        memcpy(&self.start[0], &self.reduction.low[0], self.n_connected * sizeof(real))
        memcpy(&self.start[self.n_connected], &self.reduction.high[0], self.n_connected * sizeof(real))

    cdef real removed(self) noexcept nogil:
        return INFINITY if self.reduction is None else self.reduction.lower

    cdef real floor(self) noexcept nogil:
        return -INFINITY if self.reduction is None else min(self.reduction.floor, self.reduction.lower)

    # The basin

    cdef int find_basin(self, Incumbent incumbent, index n_nodes) except -1:
        cdef real tolerance = incumbent.tolerance()
        if self.basin is None:
            return 0
        if n_nodes >= SETTLE_FROM and incumbent.upper < self.box_sought_at:
            self.box_sought_at = incumbent.upper
            if not self.basin.lower >= incumbent.upper - tolerance:
                with nogil:
                    self.basin.meter.begin()
                    self.has_box |= self.basin.find_box(&incumbent.solution[0], tolerance)
                    self.basin.meter.end()
        return 0

    cdef void branch_at_box(self, Node *parent) noexcept nogil:
        cdef index n = self.n_connected, j, n_sides = 0, widest = -1
        cdef real low, high, below, above, face = 0, other, middle, most = 0
        if not self.has_box:
            return
        for j in range(n):
            low, high = node_low(parent)[j], node_high(parent, n)[j]
            if low >= self.basin.high[j] or high <= self.basin.low[j]:
                return
            if not high > low:
                continue
            below, above = (self.basin.low[j] - low) / (high - low), (high - self.basin.high[j]) / (high - low)
            n_sides += (below > 0) + (above > 0)
            if max(below, above) > most:
                most, widest = max(below, above), j
                face = self.basin.low[j] if below > above else self.basin.high[j]
        if widest >= 0 and n_sides <= FEW_SIDES * n:
            parent.branch = <int> widest
            node_point(parent, n)[widest] = face
            return
        j = parent.branch
        low, high = node_low(parent)[j], node_high(parent, n)[j]
        middle = 0.5 * (low + high)
        face, other = self.basin.low[j], self.basin.high[j]
        if fabs(other - middle) < fabs(face - middle):
            face = other
        if fabs(face - middle) < FACE_REACH * (high - low):
            node_point(parent, n)[j] = face

    cdef void fathom(self, Node *node) noexcept nogil:
        if self.has_box and self.in_basin(node_low(node), node_high(node, self.n_connected)):
            self.basin.meter.work.closed += node.lower < self.basin.lower
            node.lower = max(node.lower, self.basin.lower)

    cdef bint in_basin(self, const real *low, const real *high) noexcept nogil:
        """Whether the box [low, high], n_connected values each, lies in the basin's box."""
        cdef index j
        for j in range(self.n_connected):
            if low[j] < self.basin.low[j] or high[j] > self.basin.high[j]:
                return False
        return True

    # The reduction

    cdef bint learn(self, Incumbent incumbent, index n_nodes, index n_passes, StopSignal stop, real lower,
                    object report) except -1:
        cdef real share, begun, before, told = clock()
        cdef bint more
        if self.reduction is None or n_nodes < self.learn_from:
            return False
        if not self.prepared:
            self.reduction.prepare(stop)
            self.prepared = True
        with nogil:
            if self.passes_before < 0:
                self.passes_before = n_passes
            # what the first local search took, or was spared, is ahead of all nodes
            share = incumbent.primal.spared + self.passes_before + LEARNING_SHARE * (n_passes - self.passes_before)
            # not of the root's whole box, before a node is closed: that takes seconds where samples are many
            while self.learning.n_passes < share and not (
                    (n_nodes >= SETTLE_FROM or self.reduction.version > 0) and self.covered(incumbent)):
                if stop.poll(0):
                    break
                begun, before = clock(), max(lower, self.floor())
                more = self.reduction.work(&incumbent.solution[0], incumbent.limit(), &self.learning)
                with gil:
                    self.credit(clock() - begun, max(before, self.floor()) - before)
                    if clock() - told > LONGEST_SILENCE:
                        report()
                        told = clock()
                if not more:
                    break
            # not once stopped: a root that is never bounded could not be split when the search goes on
            return self.shrunk() and stop.reason == STOP_NONE

    cdef void credit(self, real seconds, real gained) except *:
        """Counts what a step of the reduction has taken and raised the lower bound by."""
        cdef Meter worker = self.reduction.worker()
        worker.work.seconds += seconds
        if isfinite(gained):
            worker.work.gained += gained

    cdef void credit_found(self, Incumbent incumbent, real gained) noexcept nogil:
        """What has found the start has done it, not the local search from there."""
        if self.reduction.finder is not None and isfinite(gained):
            self.reduction.finder.work.gained += gained
            incumbent.primal.meter.work.gained -= gained

    cdef void tell_cut(self, index n, index looked, const Cut *cuts, const int *by) except *:
        cdef index i
        cdef Meter closer
        if looked == 0:
            return
        self.reduction.cutter.work.calls += looked
        for i in range(n):
            if cuts[i] == NOTHING_LEFT:
                closer = self.reduction.emptied(by[i])
                closer.work.closed += 1

    cdef void follow_version(self, index n_created) noexcept nogil:
        if self.reduction is not None and self.reduction.version != self.version:
            self.version, self.cut_from = self.reduction.version, n_created
            self.n_looked = self.n_gained = self.pause = self.paused = 0

    cdef bint looks(self) noexcept nogil:
        if not self.cuts():
            return False
        if self.n_looked >= LOOKED_AT:
            self.pause = 0 if self.n_gained >= PAYS * self.n_looked else max(
                SHORTEST_PAUSE, min(2 * self.pause, LONGEST_PAUSE))
            self.paused = self.n_looked = self.n_gained = 0
        if self.paused == self.pause:
            return True
        self.paused += 1
        return False

    cdef void count(self, index n, const Cut *cuts) noexcept nogil:
        cdef index i
        self.n_looked += n
        for i in range(n):
            self.n_gained += cuts[i] != UNCUT

    cdef bint covered(self, Incumbent incumbent) noexcept nogil:
        """Whether a basin holds all solutions below the limit; tries anew as their box shrinks."""
        cdef index j
        cdef real width = 0
        if self.basin is None:
            return False
        if incumbent.upper < self.covered_at:
            self.covered_at, self.covered_width = incumbent.upper, INFINITY
        for j in range(self.n_connected):
            width += self.reduction.high[j] - self.reduction.low[j]
        if width < COVER_AGAIN_BELOW * self.covered_width:
            self.covered_width = width
            self.basin.meter.begin()
            self.has_box |= self.basin.find_box_over(&incumbent.solution[0], incumbent.tolerance(),
                                                     &self.reduction.low[0], &self.reduction.high[0])
            self.basin.meter.end()
        return self.has_box and self.in_basin(&self.reduction.low[0], &self.reduction.high[0])

    cdef bint shrunk(self) noexcept nogil:
        """Whether the box of all solutions below the limit is now much smaller than where the tree began."""
        cdef index j
        cdef real ratio = 1, width
        for j in range(self.n_connected):
            width = self.start[self.n_connected + j] - self.start[j]
            if width > 0:
                ratio *= (self.reduction.high[j] - self.reduction.low[j]) / width
        return ratio < RESTART_BELOW

    cdef bint start_of(self, real *point, real *weights) noexcept nogil:
        return self.reduction is not None and self.reduction.start(point, weights)

    cdef bint cuts(self) noexcept nogil:
        return self.reduction is not None and self.reduction.lower < INFINITY

    cdef Cut cut(self, Node *node, int worker, int *by) noexcept nogil:
        cdef index n = self.n_connected, j
        cdef Cut made = UNCUT
        cdef real rest, width
        cdef real *before = &self.before[worker, 0]
        if not self.cuts():
            return UNCUT
        memcpy(before, node_low(node), 2 * n * sizeof(real))
        by[0] = self.reduction.contract(node_low(node), node_high(node, n), &rest)
        if by[0] <= 0:
            return NOTHING_LEFT
        for j in range(n):
            width = before[n + j] - before[j]
            if node_high(node, n)[j] - node_low(node)[j] < REBOUND_BELOW * width:
                made = CUT_DOWN
            elif made == UNCUT and node_high(node, n)[j] - node_low(node)[j] < UNCUT_ABOVE * width:
                made = CUT_LITTLE
        node.lower = max(node.lower, rest)
        return made
