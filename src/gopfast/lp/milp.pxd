"""The bound combination with the least bound, selected by one mixed-integer program in HiGHS."""

from gopfast.lp.lp cimport LpWorker
from gopfast.search.types cimport real


cdef class MilpWorker:
    """Used by exactly one thread. Methods that can fail return OK or LP_FAILED of ``_types``."""

    cdef void *solver
    cdef readonly int n_cols, n_choices
    cdef real[::1] cost, col_lower, col_upper, x    # (n_cols + n_choices,)
    cdef int[::1] integrality
    # Stops with the linear programs' worker, which has a signal.
    cdef int open(self, LpWorker lp) noexcept nogil
    cdef void close(self) noexcept nogil
    # The model of a linear program, as it is now, with one binary column for each choice behind its columns.
    cdef int load(self, LpWorker lp) noexcept nogil
    cdef int add_rows(self, int n, const real *lower, const real *upper, int nnz, const int *start,
                      const int *col_index, const real *value) noexcept nogil
    cdef int solve(self, real seconds) noexcept nogil
    # OUT (n_choices,): as node_choice() of ``_tree``; most important first, without those of importance < 0.
    cdef void selection(self, const real *importance, int *choice) noexcept nogil
