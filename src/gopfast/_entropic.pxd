"""Entropic relaxed dual of a Gaussian mixture with known variance."""

from gopfast._mixture cimport Mixture, MixtureData
from gopfast._passes cimport pass_sums
from gopfast._relaxation cimport Effort, Relaxation
from gopfast._stop cimport StopSignal
from gopfast._tree cimport Node
from gopfast._types cimport index, real


# Workspace of one worker. K components, d coordinates, Q = 2Kd multipliers (low and high of each mean), m = K(1+d).
cdef struct Newton:
    real *weights       # (K,) pi
    real *slack         # (K,) of W - D >= 0
    real *residual      # (K,) W - D
    real *step          # (K,) d log pi
    real *step_s        # (K,) d slack
    real *rhs           # (K,)
    real *offsets       # (K,) c_ik = |x - center|^2 / 2 - offset
    real *q             # (Q,) multipliers of the qualifying constraints
    real *slack_q       # (Q,) of T - l S >= 0 and u S - T >= 0
    real *residual_q    # (Q,)
    real *step_q        # (Q,)
    real *step_t        # (Q,) d slack_q
    real *rhs_q         # (Q,)
    real *centers       # (K, d)
    real *features      # (m, m) covariance of the features (r_k, r_k z_k)
    real *A             # (K, K)
    real *B             # (Q, K)
    real *C             # (Q, Q)
    real e              # prior precision at the iterate
    real curvature      # of the prior term in its cost
    real excess         # what the bound loses to densities above W: W log max_k D_k / W
    real margin         # rounding margin of the bound
    real reach          # last step length
    real *divisible     # (K, d) 1 where the box has width, so that its constraints are active
    pass_sums sums
    real *scratch


cdef class EntropicRelaxation(Relaxation):
    cdef MixtureData data
    cdef StopSignal stop
    cdef Newton *workers
    # What a node is bounded on: summaries of the samples, coarse to fine, then the samples.
    cdef Mixture *levels
    cdef real *losses               # what a bound on the level typically loses
    cdef readonly int n_levels
    cdef list storage
    cdef readonly int max_passes
    cdef readonly real patience, split_pull, split_pull_most, split_wide
    cdef int coarsest(self, real missing) noexcept nogil
    cdef real evaluate(self, const Mixture *data, const real *low, const real *high, Newton *nt, Effort *effort) noexcept nogil
    cdef void assemble(self, const real *low, const real *high, Newton *nt) noexcept nogil
    cdef real pull(self, const real *low, const real *high, int row) noexcept nogil
    cdef void factor(self, Newton *nt) noexcept nogil
    cdef void direction(self, Newton *nt) noexcept nogil
    cdef real longest(self, Newton *nt) noexcept nogil
    cdef void newton(self, const real *low, const real *high, Newton *nt, real mu, int n) noexcept nogil
    cdef void center_slacks(self, Newton *nt, real mu) noexcept nogil
    cdef real complementarity(self, Newton *nt) noexcept nogil
    cdef void place(self, Node *node, Newton *nt) noexcept nogil
    cdef void retreat(self, Newton *nt, real keep) noexcept nogil
    cdef void halve(self, Node *node, Newton *nt) noexcept nogil
