"""A node's bound with every cell divided into parts."""

from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.mixtures.data.passes cimport pass_costs, pass_sums
from gopfast.search.relaxation cimport Effort
from gopfast.mixtures.data.samples cimport SampleSet
from gopfast.search.arena cimport Arena
from gopfast.search.types cimport index, real
from gopfast.mixtures.bounds.weights cimport Weights


# Workspace of one worker. P parts: those of component k are k * n_parts, k * n_parts + 1, ...
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
    real *scratch


cdef class Refinement:
    cdef Family family
    cdef readonly int n_split, n_parts, n_total
    cdef Parts *workers
    cdef list arenas                # of the workers
    cdef real[::1] largest          # (d,) largest |x_j|
    cdef int prepare(self, int n_workers) except -1
    cdef int lay_out(self, Arena arena, Parts *at) except -1
    cdef real bound(self, int worker, const SampleSet *data, const real *low, const real *high, const real *point,
                    const real *error, const Subproblem *sub, const real *q, const real *weights, real cutoff,
                    Effort *effort) noexcept nogil
    cdef int divide(self, Parts *at, const real *low, const real *high, const real *point,
                    const real *error) noexcept nogil
    cdef void cell(self, Parts *at, const real *low, const real *high, int part) noexcept nogil
    cdef void combine(self, Parts *at, const Subproblem *sub, const real *q, int part) noexcept nogil
    cdef real evaluate(self, Parts *at, const SampleSet *data, real *most) noexcept nogil
