"""
Branch and bound over cells, the least bound first, of whatever kind they are: their heap, and the loop.

Subclasses say how a cell is bounded and divided. What their linear programs share is in `cells.pxd`.

Theory: (TF3) of docs/theory/factors.md.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from gopfast.mixtures.shared.tuning cimport CLOCK_EVERY
from gopfast.search.stop cimport clock
from gopfast.search.types cimport index, real


cdef class Cells:
    """
    Open cells and the least bound of those that were closed.

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
        self.records, self.heap, self.capacity, self.n_places = NULL, NULL, 0, 0
        self.closed = INFINITY

    def __dealloc__(self):
        free(self.records)
        free(self.heap)

    @property
    def lower(self):
        """What is proved."""
        return min(self.closed, (<const real *> self.lowest())[0]) if self.n_open else self.closed

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
        return 1

    # The heap. Entries beyond the open cells are places in memory that are free.

    cdef const void *lowest(self) noexcept nogil:
        """The cell of the least bound; there is one."""
        return self.records + self.heap[0] * self.size

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
        cdef real bound = (<const real *> cell)[0]
        if self.n_open == self.n_places:
            self.heap[self.n_places] = self.n_places
            self.n_places += 1
        place = self.heap[at]
        memcpy(self.records + place * self.size, cell, self.size)
        while at > 0:
            parent = (at - 1) // 2
            if (<const real *> (self.records + self.heap[parent] * self.size))[0] <= bound:
                break
            self.heap[at] = self.heap[parent]
            at = parent
        self.heap[at] = place
        self.n_open += 1

    cdef void replace(self, const void *cell, real limit) noexcept nogil:
        """In place of the least one, or nothing where it is closed."""
        cdef index at = 0, child, place = self.heap[0]
        cdef real bound = (<const real *> cell)[0], one, other
        if bound < limit:
            memcpy(self.records + place * self.size, cell, self.size)
        else:
            self.closed = min(self.closed, bound)
            self.n_open -= 1
            self.heap[0], self.heap[self.n_open] = self.heap[self.n_open], place
            if self.n_open == 0:
                return
            place = self.heap[0]
            bound = (<const real *> (self.records + place * self.size))[0]
        while True:
            child = 2 * at + 1
            if child >= self.n_open:
                break
            one = (<const real *> (self.records + self.heap[child] * self.size))[0]
            if child + 1 < self.n_open:
                other = (<const real *> (self.records + self.heap[child + 1] * self.size))[0]
                if other < one:
                    child, one = child + 1, other
            if one >= bound:
                break
            self.heap[at] = self.heap[child]
            at = child
        self.heap[at] = place
