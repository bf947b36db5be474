"""Linear relaxed dual of a Gaussian mixture with known variance: one linear program per node and round."""

from gopfast.lp.lp cimport LpStatus
from gopfast.lp.program cimport ProgramRelaxation, ProgramWorker
from gopfast.mixtures.families.gaussian cimport GaussianFamily, GaussianModel
from gopfast.search.arena cimport Arena
from gopfast.search.relaxation cimport Effort
from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real


cdef class CutPool:
    """Tangents of the entropy, valid on every node. Workers read it; it changes only between batches."""

    cdef readonly int n_samples, n_components, room
    cdef bint joint
    cdef index[::1] n_added             # (N,) the newest `room` of them are kept
    cdef real[::1] ratios               # (N, room, K) tau / pi where the tangent touches (paper's partition: tau)
    cdef int size(self, int i) noexcept nogil
    cdef const real *at(self, int i, int slot) noexcept nogil
    cdef real value(self, int i, const real *tau, const real *weights) noexcept nogil
    cdef void add(self, int i, const real *tau, const real *weights) noexcept nogil


cdef class LinearWorker(ProgramWorker):
    """The linear programs of one thread, and the tangent points that they found in this batch."""

    cdef GaussianFamily data
    cdef CutPool pool
    cdef int N, K, d, n_means, n_connected
    cdef bint joint, envelope
    cdef int max_rounds
    cdef real patience
    cdef Arena arena                    # of all that follows
    cdef int lay_out(self) except -1
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
    # Tangent points found: (serial, tolerance, tau (N, K), pi (K,)) each
    cdef real *found
    cdef index n_found, found_room

    cdef index stride(self) noexcept nogil
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

    cdef void select(self, Node *node, Effort *effort) noexcept nogil
    cdef void switch(self, int a, bint upper, real relax) noexcept nogil
    cdef void mean_halves(self, int a, real low, real at, real high) noexcept nogil
    cdef void weight_halves(self, int a, real low, real at, real high) noexcept nogil
    cdef real weight_excess(self, real p, real q, real low, real high) noexcept nogil
    cdef void order_row(self, int a, int b) noexcept nogil

    cdef void read_solution(self) noexcept nogil
    cdef real shortfall(self) noexcept nogil
    cdef void place(self, Node *node) noexcept nogil
    cdef void place_middle(self, Node *node) noexcept nogil
    cdef real split_mean(self, int a, real low, real high) noexcept nogil
    cdef real split_weight(self, int k, real low, real high) noexcept nogil
    cdef void soften(self, const real *means) noexcept nogil
    cdef void note(self, Node *node, real tolerance, const real *tau) noexcept nogil


cdef class LinearRelaxation(ProgramRelaxation):
    cdef GaussianFamily data
    cdef CutPool pool
    cdef readonly bint paper_partition, envelope
    cdef readonly int max_rounds, max_cuts
    cdef readonly real patience
    cdef real serial(self, int worker, index entry) noexcept nogil
    cdef void take_in(self, int worker, index entry) noexcept nogil
