"""A node's bound with every cell divided into parts."""

from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.mixtures.data.passes cimport pass_costs, pass_sums
from gopfast.search.meter cimport Work
from gopfast.search.relaxation cimport Effort
from gopfast.search.stop cimport StopSignal
from gopfast.mixtures.data.samples cimport SampleSet
from gopfast.search.arena cimport Arena
from gopfast.search.types cimport index, real
from gopfast.mixtures.mixing.weights cimport Weights


# Workspace of one worker. P parts: those of component k are first[k], ..., first[k + 1] - 1.
cdef struct Parts:
    Subproblem sub          # of one choice of parts
    pass_costs costs        # of all parts
    pass_sums sums
    real *low               # (n_connected,) of one choice of parts
    real *high
    real *split             # (K, n_split) where components are divided
    index *variable         # (K, n_split) in which connected variable; -1: none
    real *size              # (P, 1+F) magnitude of the costs' terms
    Weights iterate         # of the parts' weights
    int *first              # (K+1,)
    real *cells             # (P, 2, n_cell) the parts' corners
    real *divided           # (P, 2, n_cell) the same, while they are divided again,
    real *weights           # (P,) and their weights
    real *mass              # (K,) statistics of one part of each component
    real *moments           # (K, F)
    real *point             # (n_connected,) where to divide it,
    real *error             # (n_connected,) and what that saves
    int *side               # (P,) the variable of its cell in which a part is divided, -1: none
    real *place             # (P,) where
    real *loss              # (P,) what its minorant loses in that variable
    real *scratch


cdef class Refinement:
    cdef Family family
    cdef StopSignal stop
    cdef readonly int n_split, n_parts, n_again, most_parts
    cdef readonly real again_below
    cdef Py_ssize_t most_kept       # samples, padded, whose exponentials are kept; 0: of none
    cdef Parts *workers
    cdef list arenas                # of the workers
    cdef real[::1] largest          # (d,) largest |x_j|
    cdef int prepare(self, int n_workers, StopSignal stop) except -1
    cdef int lay_out(self, Arena arena, Parts *at) except -1
    cdef real bound(self, int worker, const SampleSet *data, const real *low, const real *high, const real *point,
                    const real *error, const Subproblem *sub, const real *q, const real *weights, real cutoff,
                    Effort *effort) noexcept nogil
    cdef int divide(self, Parts *at, const real *low, const real *high, const real *point,
                    const real *error) noexcept nogil
    cdef void begin(self, Parts *at, const real *low, const real *high, const real *weights) noexcept nogil
    cdef bint choose(self, Parts *at, int number) noexcept nogil
    cdef real examine(self, Parts *at, const SampleSet *data) noexcept nogil
    cdef bint divide_again(self, Parts *at, real least) noexcept nogil
    cdef void load(self, Parts *at, const Subproblem *sub, const real *q, real kept) noexcept nogil
    cdef void combine(self, Parts *at, const Subproblem *sub, const real *q, real kept, int number) noexcept nogil
    cdef real weigh(self, int worker, const SampleSet *data, real cutoff, real *most, Effort *effort,
                    Work *stage) noexcept nogil
    cdef int kept_of(self, const SampleSet *data, bint first) noexcept nogil
    cdef real evaluate(self, Parts *at, const SampleSet *data, bint first, real *most) noexcept nogil
