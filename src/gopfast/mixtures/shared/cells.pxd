"""Branch and bound over cells, and the linear program of a cell; see `cells.pyx`."""

from libc.math cimport INFINITY

from gopfast.mixtures.shared.tuning cimport FLAT, LEAST_PIVOT, PROFIT
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


cdef inline index variable_at(const Basis *basis, int place) noexcept nogil:
    """The code of the variable at a place, 0 to n + 1: those of the basis, and one that may grow without end."""
    return basis.basic[place] if place <= basis.n else basis.beyond


cdef inline real amount_at(const Basis *basis, int place) noexcept nogil:
    """How much there is of it."""
    return max(0.0, basis.level[place]) if place <= basis.n else basis.amount


cdef inline real total_weight(const Basis *basis, index n_cuts) noexcept nogil:
    """What the weights of cuts sum to, 1 but for rounding."""
    cdef int k
    cdef real total = 0.0
    for k in range(basis.n + 1):
        if 0 <= basis.basic[k] < n_cuts:
            total += amount_at(basis, k)
    return total


cdef inline real worth_a_step(real limit, real objective) noexcept nogil:
    """The profit that is."""
    return max(FLAT, PROFIT * (limit - objective)) if limit < INFINITY else FLAT


cdef inline index best_slack(const Basis *basis, index entering, real *best) noexcept nogil:
    """The slack of more profit than `best`, or `entering`; OUT: its profit.

    It is without a unit: what a slack brings is its profit times the corner's value.
    """
    cdef int k
    for k in range(basis.n):
        if -basis.price[k] > FLAT and -basis.price[k] > best[0]:
            best[0], entering = -basis.price[k], slack_of(basis, k)
    return entering


cdef inline void empty_column(Basis *basis, index entering) noexcept nogil:
    """Of a variable whose entries are still to be told, or of a slack, which is told by that."""
    cdef int k
    for k in range(basis.n + 1):
        basis.entering[k] = 0.0
    if entering < 0:
        basis.entering[-1 - basis.n_free - entering] = 1.0


cdef inline bint enter(Basis *basis, index entering, real profit, real lacks) noexcept nogil:
    """A step of the simplex method, the column of the entering variable being told; whether it ended in a basis.

    If not, there is nothing in the cell: so much of the variable is taken that the bound is twice what it lacks higher.
    """
    cdef int i, k, leaving = -1
    cdef real ratio = INFINITY, step
    for k in range(basis.n + 1):
        basis.changes[k] = 0.0
        for i in range(basis.n + 1):
            basis.changes[k] += basis.inverse[k][i] * basis.entering[i]
    for k in range(basis.n + 1):
        if -1 - basis.n_free < basis.basic[k] < 0:
            continue
        if basis.changes[k] > LEAST_PIVOT and basis.level[k] < ratio * basis.changes[k]:
            leaving, ratio = k, max(0.0, basis.level[k]) / basis.changes[k]
    if leaving < 0:
        basis.beyond, basis.amount = entering, 2.0 * lacks / profit if lacks < INFINITY else 1.0
        for k in range(basis.n + 1):
            basis.level[k] -= basis.changes[k] * basis.amount
        return False
    step = basis.changes[leaving]
    for i in range(basis.n + 1):
        basis.inverse[leaving][i] /= step
        basis.price[i] += profit * basis.inverse[leaving][i]
    basis.level[leaving], basis.basic[leaving] = ratio, entering
    for k in range(basis.n + 1):
        if k != leaving and basis.changes[k] != 0.0:
            for i in range(basis.n + 1):
                basis.inverse[k][i] -= basis.changes[k] * basis.inverse[leaving][i]
            basis.level[k] -= basis.changes[k] * ratio
    return True


cdef struct Head:       # what records of cells begin with
    real bound
    real value          # of the function at the mean of the mixture of corners, or at the matrix asked for in its place
    int version         # of the cuts


cdef class Cells:
    cdef readonly int d
    cdef readonly real least, top
    cdef readonly index n_cells, n_open, n_cuts, n_directions, n_pivots
    cdef real thinnest, widest      # eigenvalues of matrices at which cuts are asked for
    cdef real[:, ::1] directions    # (capacity, d): u'P u is no less than 1 for any P
    cdef int version                # of cuts and directions
    cdef real closed                # the least bound of what was left out
    cdef char *records              # of cells
    cdef char *scratch              # of two
    cdef index *heap
    cdef index size                 # of a record, in bytes
    cdef index capacity, n_places   # of memory, and of cells that there have been

    cdef void bound(self, void *cell, real limit) noexcept nogil
    cdef bint divide(self, const void *cell, void *halves) noexcept nogil
    cdef const void *lowest(self) noexcept nogil
    cdef const void *open_cell(self, index i) noexcept nogil
    cdef int begin_with(self, const void *cell) except -1
    cdef int reserve(self, index n) noexcept nogil
    cdef void take(self, const void *cell) noexcept nogil
    cdef void replace(self, const void *cell, real limit) noexcept nogil
    cdef int split(self, real limit, real share, bint *skip) noexcept nogil
