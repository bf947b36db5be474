"""The rows of the linear program of a node of a Gaussian mixture with known variance."""

from gopfast.lp.program cimport ProgramWorker
from gopfast.mixtures.relaxations.cut_pool cimport CutPool
from gopfast.mixtures.families.gaussian cimport GaussianFamily
from gopfast.search.arena cimport Arena
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node
from gopfast.search.types cimport real


cdef inline real square(real x) noexcept nogil:
    return x * x


cdef class LinearRows(ProgramWorker):
    cdef GaussianFamily data
    cdef CutPool pool
    cdef int N, K, d, n_means, n_connected
    cdef bint joint, envelope
    cdef Arena arena                    # of all that follows
    # First column of each block; e is followed by its cost.
    cdef int col_tau, col_pi, col_theta, col_omega, col_e, n_cols
    cdef real *cost                     # (n_cols,)
    cdef real *col_lower
    cdef real *col_upper
    cdef real constant, magnitude       # of the open row
    cdef real *coefficient              # (N,) of tau_ik in the open row, without the weight
    cdef real *size                     # (N,) magnitude of what was rounded in it
    cdef int switch_column              # binary variable that switches rows on, -1: none
    cdef bint switch_upper              # on at 1, else at 0
    cdef real switch_relax              # what a row is relaxed by where it is off
    # The solution of the last linear program
    cdef real *tau                      # (N, K)
    cdef real *weights                  # (K,) pi
    cdef real *counts                   # (K,) N_k
    cdef real *error                    # (n_connected,) what the Lagrange cuts miss
    cdef real *short_of                 # (N,) what the tangents miss
    cdef real *ratio                    # (K,)
    cdef real *soft                     # (N, K) responsibilities of an E-step
    cdef real e, e_short

    # GIL held, once. selects: combinations of halves are chosen, in programs of more rows
    cdef int reserve(self, StopSignal stop, int number, bint selects) except -1
    cdef int lay_out(self) except -1
    cdef int load(self, Node *node) noexcept nogil
    cdef void set_columns(self, const real *low, const real *high) noexcept nogil
    cdef void set_precision(self, const real *low, const real *high) noexcept nogil
    cdef void clear_rows(self) noexcept nogil
    cdef void begin_row(self) noexcept nogil
    cdef void term(self, int column, real value, real size) noexcept nogil
    cdef void samples(self, int k, real sign) noexcept nogil
    cdef void end_row(self, real lower, real upper) noexcept nogil
    cdef void simplex_rows(self) noexcept nogil
    cdef void qualifying_row(self, int a, real bound, real sign) noexcept nogil
    cdef void mean_row(self, int a, real center, real offset) noexcept nogil
    cdef void mean_rows(self, const real *low, const real *high) noexcept nogil
    cdef void weight_row(self, int k, real lower, real upper) noexcept nogil
    cdef void weight_cut(self, int k, real p, real q) noexcept nogil
    cdef void weight_chord(self, int k, real low, real high) noexcept nogil
    cdef void weight_rows(self, const real *low, const real *high) noexcept nogil
    cdef void precision_cut(self, real at) noexcept nogil
    cdef void precision_rows(self) noexcept nogil
    cdef void entropy_row(self, int i, const real *ratio) noexcept nogil
    cdef void pool_rows(self) noexcept nogil
    cdef int add_tangents(self, real tolerance) noexcept nogil
