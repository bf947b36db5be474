"""
Branch and bound over cells, the least bound first, of whatever kind they are: their heap, and the loop.

Subclasses say how a cell is bounded and divided. What their linear programs share is in `cells.pxd`.

Theory: (TF3) of docs/theory/factors.md.
"""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from gopfast.mixtures.shared.tuning cimport CLOCK_EVERY, MOST_OPEN
from gopfast.search.rounding cimport ROUND
from gopfast.search.stop cimport clock
from gopfast.search.types cimport index, real


def doubled(array):
    """Return an array with as many rows again, of zeros."""
    return np.concatenate([array, np.zeros_like(array)])


cdef class Cells:
    """
    Open cells and the least bound of those that were closed.

    Parameters
    ----------
    d : int
        Columns of the samples.
    least, top : float
        No eigenvalue of P is less or more.
    asked : tuple of float, optional
        Eigenvalues between which cuts are asked for: a point with others is moved there.

    Attributes
    ----------
    n_cells : int
        That were bounded.
    n_open : int
    n_cuts, n_directions : int
        What they know.
    n_pivots : int
        Of their linear programs.
    """

    def __cinit__(self):
        self.records, self.scratch, self.heap, self.capacity, self.n_places = NULL, NULL, NULL, 0, 0
        self.closed = INFINITY

    def __init__(self, int d, real least, real top, asked=(0.0, INFINITY)):
        self.d, self.least, self.top = d, least, top
        self.thinnest, self.widest = asked
        self.directions = np.zeros((8, d))
        self.n_cuts = 1                 # R >= 0

    def __dealloc__(self):
        free(self.records)
        free(self.scratch)
        free(self.heap)

    @property
    def lower(self):
        """What is proved."""
        return min(self.closed, (<const Head *> self.lowest()).bound) if self.n_open else self.closed

    @property
    def here(self):
        """The function near where the least cell's bound was found."""
        return (<const Head *> self.lowest()).value if self.n_open else INFINITY

    def widen(self, u, real least):
        """Add a direction u, of length 1, along which no P is less than `least`; whether that says anything."""
        cdef int i
        # what rounding of u, here and where it was made, changes u'P u by
        least -= 64 * self.d * self.d * ROUND * self.top
        if not least > 0.0:
            return False
        if self.n_directions == self.directions.shape[0]:
            self.directions = doubled(self.directions)
        for i in range(self.d):
            self.directions[self.n_directions, i] = u[i] / sqrt(least)
        self.n_directions += 1
        self.version += 1
        return True

    def search(self, real limit, index most, real share, bint skip=False, real deadline=INFINITY):
        """
        Split cells below `limit`, the least first.

        Parameters
        ----------
        limit : float
        most : int
            Cells, at most.
        share : float
            It ends where the function itself lacks this part of what the least cell's bound lacks.
        skip : bool
            Not for the first cell.
        deadline : float
            Of the monotonic clock.

        Returns
        -------
        str
            Why it ended: "closed", "cells", "low", "too many" (of open cells), "time", "point" (the
            least cell is no wider than what rounds).
        """
        cdef index end = self.n_cells + most
        cdef int reason = 0
        with nogil:
            while reason == 0:
                reason = self.split(limit, share, &skip)
                if reason == 0 and self.n_cells >= end:
                    reason = 2
                if reason == 0 and self.n_cells % CLOCK_EVERY == 0 and clock() > deadline:
                    reason = 5
        if reason < 0:
            raise MemoryError("of cells of a covariance matrix")
        return (None, "closed", "cells", "low", "too many", "time", "point")[reason]

    cdef int split(self, real limit, real share, bint *skip) noexcept nogil:
        """One cell of the least bound; 0: go on, negative: no memory, else the reason's place in that of `search`."""
        cdef const Head *head
        cdef char *half
        cdef int side
        if self.n_open == 0:
            return 1
        head = <const Head *> self.lowest()
        if head.bound >= limit:
            return 1
        if head.version < self.version:
            memcpy(self.scratch, head, self.size)
            self.bound(self.scratch, limit)
            self.replace(self.scratch, limit)
            self.n_cells += 1
            return 0
        if not skip[0] and limit - head.value >= share * (limit - head.bound):
            return 3
        if self.n_open >= MOST_OPEN:
            return 4
        if not self.divide(head, self.scratch):
            return 6
        if self.reserve(self.n_open + 1) < 0:
            return -1
        skip[0] = False
        for side in range(2):
            half = self.scratch + side * self.size
            self.bound(half, limit)
            if side == 0:
                self.replace(half, limit)
            elif (<const Head *> half).bound < limit:
                self.take(half)
            else:
                self.closed = min(self.closed, (<const Head *> half).bound)
        self.n_cells += 2
        return 0

    cdef void bound(self, void *cell, real limit) noexcept nogil:
        """Raise the cell's bound; say where it is split."""

    cdef bint divide(self, const void *cell, void *halves) noexcept nogil:
        """OUT: the two halves of a cell; whether it is wider than what rounds."""
        return False

    # The heap. Entries beyond the open cells are places in memory that are free.

    cdef const void *lowest(self) noexcept nogil:
        """The cell of the least bound; there is one."""
        return self.open_cell(0)

    cdef const void *open_cell(self, index i) noexcept nogil:
        return self.records + self.heap[i] * self.size

    cdef int begin_with(self, const void *cell) except -1:
        """Take a first cell."""
        if self.scratch == NULL:
            self.scratch = <char *> malloc(2 * self.size)
        if self.scratch == NULL or self.reserve(self.n_open + 1) < 0:
            raise MemoryError("of cells of a covariance matrix")
        self.take(cell)
        return 0

    cdef int reserve(self, index n) noexcept nogil:
        cdef index capacity = self.capacity
        cdef void *block
        if n <= capacity:
            return 0
        capacity = max(64, 2 * capacity)
        block = realloc(self.records, capacity * self.size)
        if block == NULL:
            return -1
        self.records = <char *> block
        block = realloc(self.heap, capacity * sizeof(index))
        if block == NULL:
            return -1
        self.heap, self.capacity = <index *> block, capacity
        return 0

    cdef void take(self, const void *cell) noexcept nogil:
        """There is room for it."""
        cdef index at = self.n_open, parent, place
        cdef real bound = (<const Head *> cell).bound
        if self.n_open == self.n_places:
            self.heap[self.n_places] = self.n_places
            self.n_places += 1
        place = self.heap[at]
        memcpy(self.records + place * self.size, cell, self.size)
        while at > 0:
            parent = (at - 1) // 2
            if (<const Head *> self.open_cell(parent)).bound <= bound:
                break
            self.heap[at] = self.heap[parent]
            at = parent
        self.heap[at] = place
        self.n_open += 1

    cdef void replace(self, const void *cell, real limit) noexcept nogil:
        """In place of the least one, or nothing where it is closed."""
        cdef index at = 0, child, place = self.heap[0]
        cdef real bound = (<const Head *> cell).bound, one, other
        if bound < limit:
            memcpy(self.records + place * self.size, cell, self.size)
        else:
            self.closed = min(self.closed, bound)
            self.n_open -= 1
            self.heap[0], self.heap[self.n_open] = self.heap[self.n_open], place
            if self.n_open == 0:
                return
            place = self.heap[0]
            bound = (<const Head *> (self.records + place * self.size)).bound
        while True:
            child = 2 * at + 1
            if child >= self.n_open:
                break
            one = (<const Head *> self.open_cell(child)).bound
            if child + 1 < self.n_open:
                other = (<const Head *> self.open_cell(child + 1)).bound
                if other < one:
                    child, one = child + 1, other
            if one >= bound:
                break
            self.heap[at] = self.heap[child]
            at = child
        self.heap[at] = place
