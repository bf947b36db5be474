"""Primal problems of a biconvex problem: alternating minimisation, each half a convex program."""

from gopfast.biconvex.settling cimport Settling
from gopfast.search.endings cimport Endings
from gopfast.search.meter cimport Meter
from gopfast.search.relaxation cimport Effort
from gopfast.search.types cimport index, real


cdef class AlternatingPrimal(Settling):
    cdef readonly bint unbounded        # a feasible point and a ray from it, along which rows hold but for rounding
    cdef real[::1] direction            # (n,) that ray
    cdef real[::1] given                # (n,) a feasible point known beforehand, NaN: none
    cdef readonly int n_lps             # linear programs made before the search
    cdef index n_improving, n_seen      # those of improve(); those of the whole search at its last call
    cdef index n_iterations             # of the programs of improve()
    cdef Meter budget                   # of searches that are left out; None: none is
    cdef real[:, ::1] starts
    cdef signed char[::1] kinds         # (S,) of each start, `start_kinds`
    cdef readonly int next_start        # the first that has not been used
    cdef index[::1] drawn               # starts that are drawn points
    cdef int n_drawn                    # how many of these nonlinear programs have begun at, or near
    cdef real drawn_each                # iterations of the search for each of these
    cdef readonly Endings endings       # where local searches ended, in the core's units
    cdef bint is_cut                    # whether the search at work ran out of steps somewhere
    cdef bint divided                   # whether no variable is on both sides
    cdef bint has_linear_rows           # and no others
    cdef bint is_polyhedral             # whether it has, and no variable is on both sides
    cdef bint is_convex                 # whether there is no product, but convex forms in rows
    cdef object nonlinear               # callable: a local solution from a point (n,), or None; or None itself
    cdef object anywhere                # the same, but that need not be near the point
    cdef object complete                # callable: a point (n,) completed, or None; or None itself
    cdef index next_nonlinear           # what the programs' work must amount to for the next such call
    cdef int n_vain                     # searches without a feasible point
    cdef real[::1] trial, nonlinear_point   # (n,)

    cdef real alternate(self, real *z, int first, real tolerance, Effort *effort) noexcept nogil
    cdef real linearise(self, real *z, real tolerance, Effort *effort) noexcept nogil
    cdef real search_nonlinear(self, const real *point, bint near, real tolerance, real *solution,
                               Effort *effort) noexcept nogil
    cdef real complete_point(self, const real *point) noexcept nogil
    cdef bint find_by(self, function, const real *point) noexcept
    cdef bint wants_nonlinear(self, bint found) noexcept nogil
    cdef bint wants_drawn(self, real target, index n_iterations) noexcept nogil
    cdef real search_drawn(self, const real *point, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real search_next(self, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real search(self, const real *point, int kind, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef void count(self, int kind, real value) noexcept nogil
    cdef real search_from(self, const real *point, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real foreseen(self, const real *z, real merit) noexcept nogil
