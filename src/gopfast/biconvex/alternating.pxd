"""Primal problems of a biconvex problem: alternating minimisation, each half a linear program."""

from gopfast.biconvex.data cimport BiconvexData
from gopfast.lp.lp cimport LpStatus, LpWorker
from gopfast.search.relaxation cimport Effort, Primal
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport index, real


cdef class AlternatingPrimal(Primal):
    cdef readonly BiconvexData data
    cdef LpWorker lp
    cdef StopSignal stop
    cdef real row_scale                 # of the row last added
    cdef readonly bint unbounded        # proved: a feasible point and a checked ray from it
    cdef real[::1] given                # (n,) a feasible point known beforehand, NaN: none
    cdef readonly int n_lps             # linear programs made before the search
    cdef index n_improving, n_seen      # those of improve(); those of the whole search at its last call
    cdef real[:, ::1] starts
    cdef readonly int next_start                 # the first that has not been used
    cdef int[:, ::1] fixed              # (3, n) what is fixed: side 0, side 1, nothing
    cdef bint divided                   # whether no variable is on both sides
    cdef bint is_convex                 # whether there is no product, but convex forms in rows
    cdef object nonlinear               # callable: a local solution from a point (n,), or None; or None itself
    cdef index work, next_nonlinear     # entries of all programs; what they must amount to for the next such call
    cdef int n_vain                     # searches without a feasible point
    cdef int n_forms, n_own_rows        # columns q; rows without the objective
    cdef int n_cols, n_rows, nnz, max_rows
    cdef int[::1] start, col_index
    cdef int[::1] lp_row                # (m,) row of the last program, -1: none
    cdef real[::1] lp_scale             # (m,) its scale
    cdef real[::1] cost, col_lower, col_upper, row_lower, row_upper, value
    cdef int n_quadratic                # entries of the objective's forms, lower triangle by columns
    cdef int[::1] quadratic_start, quadratic_index, in_objective
    cdef real[::1] quadratic_value
    cdef real[:, ::1] kept              # (N_KEPT, n) points of tangents, the latest
    cdef int[::1] kept_form
    cdef int n_kept                     # ever
    cdef real[::1] coefficient, term_size, gradient, point, trial, nonlinear_point
    cdef real[::1] unit                 # (n,) of a correction of each variable, 0: it stays

    cdef int open(self) noexcept nogil
    cdef LpStatus solve(self, int side, const real *z, real penalty, real radius, Effort *effort) noexcept nogil
    cdef LpStatus solve_quadratic(self, Effort *effort) noexcept nogil
    cdef int load(self, int side, const real *z, real penalty, real radius) noexcept nogil
    cdef bint has_form(self, int row) noexcept nogil
    cdef void set_columns(self, int side, const real *z, real penalty, real radius) noexcept nogil
    cdef real add_row(self, int row, int side, const real *z, bint is_cost) noexcept nogil
    cdef void add_term(self, int column, real value) noexcept nogil
    cdef void add_tangent(self, int block, const real *at) noexcept nogil
    cdef int add_tangents(self) noexcept nogil
    cdef real alternate(self, real *z, int first, real tolerance, Effort *effort) noexcept nogil
    cdef real linearise(self, real *z, real tolerance, Effort *effort) noexcept nogil
    cdef real merit(self, const real *z, real penalty) noexcept nogil
    cdef real value_of(self, const real *z) noexcept nogil
    cdef void take(self, real *z) noexcept nogil
    cdef int step_back(self) noexcept nogil
    cdef real excess(self, int row) noexcept nogil
    cdef real settle(self, real *z, Effort *effort) noexcept nogil
    cdef int load_repair(self, const real *z, real *share) noexcept nogil
    cdef void set_units(self, const real *z) noexcept nogil
    cdef real step(self, real *z, real share, real violation) noexcept nogil
    cdef bint ray_is_proof(self) noexcept nogil
    cdef bint is_ray(self, real *ray) noexcept nogil
    cdef real search_nonlinear(self, const real *point, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef bint find_nonlinear(self, const real *point) noexcept
    cdef bint wants_nonlinear(self, bint found) noexcept nogil
    cdef real search(self, const real *point, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real foreseen(self, const real *z, real merit) noexcept nogil
