"""Programs of a node in rounds: with the rows that the solution of the last one violates."""

from gopfast.biconvex.bilinear_rows cimport BilinearRows
from gopfast.lp.lp cimport LpStatus
from gopfast.search.relaxation cimport Effort
from gopfast.search.tree cimport Node
from gopfast.search.types cimport real

cdef enum:
    # Stages of bounding a node that are counted by themselves, see `relaxation.Effort`; cycles are the first one's.
    RELAXED = 0
    LIFTED = 1
    CUT = 2
    BOUNDED = 3


cdef class BilinearRounds(BilinearRows):
    cdef real[::1] weights              # (n_cols - n,) what products and forms cost in the Lagrangian
    cdef int[::1] weighs                # (n_rows,) whether a row counts there: 0 for one with products of its own

    cdef object points                  # ConvexPoints, or None where no large form is of the objective alone
    cdef real least                     # value at the last such point, or minus infinity
    cdef real[::1] nearest              # (n_cols,) the last such point
    cdef int[::1] of_objective          # (K,) whether a form is one of `points`

    cdef int find_points(self) except -1
    cdef void find_least(self) noexcept
    cdef int touch_nearest(self) noexcept nogil
    cdef LpStatus solve_with_tangents(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    cdef int add_tangents(self, real tolerance) noexcept nogil
    cdef real undercut(self, int atom) noexcept nogil
    cdef void weigh(self) noexcept nogil
    cdef bint forms_miss(self, real share) noexcept nogil
    cdef real lifted_excess(self, int t) noexcept nogil
    cdef LpStatus lift(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    cdef int take_violated(self) noexcept nogil
    cdef LpStatus separate(self, Node *node, real cutoff, Effort *effort, bint of_cycles) noexcept nogil
    cdef void find(self, bint of_cycles) noexcept
    cdef void note_cuts(self) noexcept nogil
    cdef LpStatus separate_cycles(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    cdef void note_cycles(self) noexcept nogil
