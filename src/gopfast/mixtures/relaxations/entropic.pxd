"""Entropic relaxed dual of a mixture."""

from gopfast.mixtures.families.family cimport Family, Subproblem
from gopfast.mixtures.relaxations.refinement cimport Refinement
from gopfast.mixtures.mixing.weights cimport Weights
from gopfast.search.relaxation cimport Effort, Relaxation
from gopfast.mixtures.data.samples cimport SampleSet
from gopfast.mixtures.data.passes cimport pass_costs, pass_sums
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real


# Workspace of one worker. K components, F statistics, m = K(1+F), Q facets with one multiplier each.
cdef struct Newton:
    Subproblem sub      # of the node
    pass_costs costs    # at the iterate
    pass_sums sums
    Weights iterate     # of the K weights; its A is the weights' block of the Newton matrix
    real *scale         # (K,) logarithm of what D_k gains from paired multipliers
    real *mass          # (K,) S
    real *q             # (Q,) multipliers of the facets
    real *slack_q       # (Q,) of the facets >= 0
    real *residual_q    # (Q,) the facets' values
    real *step_q        # (Q,) d q
    real *step_t        # (Q,) d slack_q
    real *rhs_q         # (Q,) of the Newton equations
    real *push          # (Q,) what complementarity wants slack_q to be
    real *push_y        # (Q,) and excess_q
    real *excess_q      # (Q,) slack of a capped multiplier's distance from its cap
    real *step_y        # (Q,) d excess_q
    real *minorant      # (m,) what the minorant subtracts per unit of each statistic
    real *coefficients  # (m,) the same with the facets times their multipliers
    real *size          # (m,) sum of the magnitudes of a coefficient's terms
    real *covariance    # (m, m) of the features (r_k, r_k phi)
    real *image         # (m,) covariance times a facet
    real *B             # (K, Q) blocks of the Newton matrix
    real *C             # (Q, Q)
    real *more          # (n_more,) slopes for proofs
    real *error         # (n_connected,) what the minorant loses by each connected variable
    real e              # prior weight at the iterate
    real curvature      # of min_e (e C - e_power log e) in C, the sign changed
    real excess         # what the bound loses to densities above W: W log max_k D_k / W
    real margin         # rounding margin of the bound, in nats
    real length         # of the last step, 1: a full Newton step
    real *scratch


cdef class EntropicRelaxation(Relaxation):
    cdef Family family
    cdef StopSignal stop
    cdef Newton *workers
    cdef Refinement refinement      # None: not for this family
    cdef readonly real refine_from
    # What a node is bounded on: summaries of the samples, coarse to fine, then the samples.
    cdef SampleSet *levels
    cdef real *losses               # what a bound on the level typically loses
    cdef readonly int n_levels
    cdef list arenas                # of the workers
    cdef real[::1] widths           # of the root box
    cdef real[::1] first, last      # (d,) range of the samples' columns
    cdef readonly int max_passes
    cdef bint provable              # nodes hand on what proved their bound, too,
    cdef int proof_at               # from this number on
    cdef bint short_warm            # what nodes hand on is kept in 16 bits
    cdef readonly real patience, warm_mix, warm_least, warm_most
    cdef int coarsest(self, real missing) noexcept nogil
    cdef void open_node(self, const real *low, const real *high, Newton *nt) noexcept nogil
    cdef void warm_start(self, Node *node, Newton *nt) noexcept nogil
    cdef void keep(self, Node *node, Newton *nt) noexcept nogil
    cdef void keep_proof(self, Node *node, Newton *nt) noexcept nogil
    cdef real kept(self, const Node *node, int i) noexcept nogil
    cdef void put(self, Node *node, int i, real x) noexcept nogil
    cdef real combine(self, Newton *nt, real *prior, real *constant, real *prior_size,
                      real *newton_prior) noexcept nogil
    cdef real run(self, const SampleSet *data, Newton *nt) noexcept nogil
    cdef real evaluate(self, const SampleSet *data, Newton *nt, Effort *effort) noexcept nogil
    cdef real margin(self, const SampleSet *data, int k, Newton *nt) noexcept nogil
    # Terms that a cost is summed of.
    cdef int n_terms(self) noexcept nogil
    cdef real farthest(self, int k, const Newton *nt, bint facets_alone) noexcept nogil
    cdef void residuals(self, Newton *nt) noexcept nogil
    cdef void assemble(self, Newton *nt) noexcept nogil
    cdef void factor(self, Newton *nt) noexcept nogil
    cdef void direction(self, Newton *nt) noexcept nogil
    cdef real longest(self, Newton *nt) noexcept nogil
    cdef void newton(self, Newton *nt, real mu, int n) noexcept nogil
    cdef void center_slacks(self, Newton *nt, real mu) noexcept nogil
    cdef real complementarity(self, Newton *nt) noexcept nogil
    cdef real choose_split(self, Node *node, Newton *nt) noexcept nogil
    cdef void retreat(self, Newton *nt, real keep) noexcept nogil
    cdef void refine(self, Node *node, real cutoff, int worker, int level, Effort *effort) noexcept nogil
    cdef void halve(self, Node *node) noexcept nogil
