"""Convex programs that are left of a biconvex problem where one side is fixed, or linearised at a point."""

from gopfast.biconvex.data cimport BiconvexData
from gopfast.lp.lp cimport LpStatus, LpWorker
from gopfast.search.relaxation cimport Effort, Primal
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport index, real

cdef real CANCELLED, FEASIBLE

cdef enum:
    FREE = 2                            # no side is fixed
    N_PROGRAM_KINDS = 6                 # two of each side, without and with violations; of none, or within a radius
    NO_BASIS = -1


cdef class ConvexPrograms(Primal):
    cdef readonly BiconvexData data
    cdef LpWorker lp
    cdef StopSignal stop
    cdef real row_scale                 # of the row last added
    cdef int[:, ::1] fixed              # (3, n) what is fixed: side 0, side 1, nothing
    cdef index work                     # entries of all programs
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
    cdef int[:, ::1] basis              # (N_PROGRAM_KINDS, columns and rows) HiGHS's statuses, of the last
    cdef int[::1] rows_of_basis         # (N_PROGRAM_KINDS,) NO_BASIS: there is none
    cdef real[::1] coefficient, term_size, gradient

    cdef int reserve(self, BiconvexData data) except -1
    cdef int open(self) noexcept nogil
    cdef LpStatus solve(self, int side, const real *z, real penalty, real radius, Effort *effort) noexcept nogil
    cdef LpStatus run_program(self, Effort *effort) noexcept nogil
    cdef LpStatus run_from_basis(self, int kind, Effort *effort) noexcept nogil
    cdef void forget_bases(self) noexcept nogil
    cdef LpStatus solve_quadratic(self, Effort *effort) noexcept nogil
    cdef int load(self, int side, const real *z, real penalty, real radius) noexcept nogil
    cdef bint has_form(self, int row) noexcept nogil
    cdef void set_columns(self, int side, const real *z, real penalty, real radius) noexcept nogil
    cdef real add_row(self, int row, int side, const real *z, bint is_cost) noexcept nogil
    cdef void add_term(self, int column, real value) noexcept nogil
    cdef void add_tangent(self, int block, const real *at) noexcept nogil
    cdef int add_tangents(self) noexcept nogil
    cdef int step_back(self) noexcept nogil
    cdef real excess(self, int row) noexcept nogil
    cdef bint ray_is_proof(self) noexcept nogil
    cdef bint is_ray(self, real *ray) noexcept nogil
    cdef void read_point(self, real *z) noexcept nogil
    cdef real merit(self, const real *z, real penalty) noexcept nogil
    cdef real value_of(self, const real *z) noexcept nogil
