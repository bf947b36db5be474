"""Rows that the root's programs were found to need, for the programs of all nodes of a biconvex problem."""

from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.tuning cimport MOST_CUTS
from gopfast.search.types cimport index, real


cdef class LearntRows:
    cdef BiconvexData data
    cdef bint chosen                    # whether all of this is final
    cdef int[::1] kept                  # (n_lifted,) lifted rows in use: those that the root's programs needed
    cdef int[::1] needed                # (n_lifted,) found at the root
    cdef int n_cuts                     # semidefinite cuts in use
    cdef int[::1] cut_moment, cut_needed    # (MOST_CUTS,) the set of variables; whether the root's program needed it
    cdef real[:, ::1] cut_vector        # (MOST_CUTS, 1 + members)
    cdef int n_cycles, most_cycles
    cdef int[::1] cycle_start, cycle_product, cycle_sign    # products of each cycle; 1: of D, see `cycles`; -1
    cdef int[::1] cycle_needed          # (most_cycles,) whether the root's program needed it
    cdef object known_cycles            # set of those found
    cdef bint cycles_pay                # whether they raised the root's bound by enough

    cdef int most(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void choose(self) noexcept nogil
    cdef void keep_cuts(self) noexcept nogil
    cdef void keep_cycles(self) noexcept nogil
    cdef int find_cuts(self, const real *x) except -1
    cdef int find_cycles(self, const real *x, const real *low, const real *high) except -1
    cdef int add_cycle(self, products, signs) except -1


cdef object reals(index n)
cdef object ints(index n)
