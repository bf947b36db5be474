"""Branch and bound over cells, and the linear program of a cell; see `cells.pyx`."""

from libc.math cimport INFINITY

from gopfast.mixtures.shared.tuning cimport LEAST_PIVOT
from gopfast.search.types cimport index, real

cdef enum:
    MOST_ROWS_OF_BASIS = 33     # corners of a cell, 32 at most, and the sum of the weights


# A basis of a cell's linear program, which weighs cuts such that the least over corners is largest. Rows: one of every
# corner, and the sum of the weights. Codes of variables: 0 and up, cuts and then rows that keep matrices to those there
# are; -1 to -n_free, what is least over corners, which is free; below, slacks of corners.
cdef struct Basis:
    int n                                               # corners
    int n_free
    real inverse[MOST_ROWS_OF_BASIS][MOST_ROWS_OF_BASIS]
    index basic[MOST_ROWS_OF_BASIS]                     # code of the variable of each row of the inverse
    real level[MOST_ROWS_OF_BASIS]                      # and its value
    real price[MOST_ROWS_OF_BASIS]                      # of every row: the mixture of corners, and the objective's cut
    real entering[MOST_ROWS_OF_BASIS]                   # a variable's column
    real changes[MOST_ROWS_OF_BASIS]                    # what a unit of it takes of those in the basis
    index beyond                                        # a variable that may grow without end, -1: none
    real amount                                         # of it


cdef inline index slack_of(const Basis *basis, int corner) noexcept nogil:
    """The code of a corner's slack."""
    return -1 - basis.n_free - corner


cdef inline void take_column(Basis *basis) noexcept nogil:
    """What a unit of the entering variable takes of those in the basis."""
    cdef int i, k
    for k in range(basis.n + 1):
        basis.changes[k] = 0.0
        for i in range(basis.n + 1):
            basis.changes[k] += basis.inverse[k][i] * basis.entering[i]


cdef inline int leaving_of(const Basis *basis, real *ratio) noexcept nogil:
    """The row whose variable leaves for the entering one, -1: none; OUT: how much of that there may be."""
    cdef int k, leaving = -1
    ratio[0] = INFINITY
    for k in range(basis.n + 1):
        if -1 - basis.n_free < basis.basic[k] < 0:
            continue
        if basis.changes[k] > LEAST_PIVOT and basis.level[k] < ratio[0] * basis.changes[k]:
            leaving, ratio[0] = k, max(0.0, basis.level[k]) / basis.changes[k]
    return leaving


cdef inline void grow(Basis *basis, index entering, real amount) noexcept nogil:
    """Take so much of a variable that may grow without end: there is nothing in the cell."""
    cdef int k
    for k in range(basis.n + 1):
        basis.level[k] -= basis.changes[k] * amount
    basis.beyond, basis.amount = entering, amount


cdef inline void exchange(Basis *basis, int leaving, index entering, real ratio, real profit) noexcept nogil:
    """A step of the simplex method."""
    cdef int i, k
    cdef real step = basis.changes[leaving]
    for i in range(basis.n + 1):
        basis.inverse[leaving][i] /= step
        basis.price[i] += profit * basis.inverse[leaving][i]
    basis.level[leaving], basis.basic[leaving] = ratio, entering
    for k in range(basis.n + 1):
        if k != leaving and basis.changes[k] != 0.0:
            for i in range(basis.n + 1):
                basis.inverse[k][i] -= basis.changes[k] * basis.inverse[leaving][i]
            basis.level[k] -= basis.changes[k] * ratio


cdef class Cells:
    cdef readonly index n_cells, n_open, n_cuts, n_directions, n_pivots
    cdef int version                # of cuts and directions
    cdef real closed                # the least bound of what was left out
    cdef char *records              # of cells, of which the first entry is the bound
    cdef index *heap
    cdef index size                 # of a record, in bytes
    cdef index capacity, n_places   # of memory, and of cells that there have been

    cdef const void *lowest(self) noexcept nogil
    cdef int reserve(self, index n) noexcept nogil
    cdef void take(self, const void *cell) noexcept nogil
    cdef void replace(self, const void *cell, real limit) noexcept nogil
    cdef int split(self, real limit, real share, bint *skip) noexcept nogil
