"""Sets that a mean of every good mixture lies in."""

from gopfast.mixtures.families.gaussian cimport GaussianFamily
from gopfast.mixtures.mixing.mixing cimport Interval, MixingDistribution
from gopfast.mixtures.mixing.tuning cimport MOST_PARTS, MOST_SETS
from gopfast.search.relaxation cimport Reduction
from gopfast.search.types cimport real


cdef struct HittingSet:
    int n_parts
    Interval parts[MOST_PARTS]      # ascending

# At one component, in the order of the means.
cdef struct Attempt:
    real weight
    real radius     # of the interval around the mean that is taken next
    real caution    # how far from the mean its interval's ends are tried
    bint found      # one was
    bint done       # no smaller one can be


cdef class HittingSets(Reduction):
    cdef GaussianFamily family
    cdef MixingDistribution mixing
    cdef HittingSet *sets
    cdef int n_sets, n_chain, turn
    cdef int chain[MOST_SETS]       # disjoint sets, ascending
    cdef real[::1] center
    cdef Attempt *attempts
    cdef Interval *support          # scratch
    cdef Interval *spared
    cdef Interval *union_
    cdef bint idle, grown
    cdef real limit, missing        # what the best mixing distribution lacks to the limit
    cdef void begin(self, const real *solution, real limit) noexcept nogil
    cdef void next(self) noexcept nogil
    cdef bint own(self, int k) noexcept nogil
    cdef void around(self, int k) noexcept nogil
    cdef void at_end(self, int k, int side) noexcept nogil
    cdef bint attempt(self, real low, real high) noexcept nogil
    cdef real prior_bound(self) noexcept nogil
    cdef void add(self) noexcept nogil
    cdef HittingSet proved(self) noexcept nogil
    cdef void link(self) noexcept nogil
    cdef real total(self) noexcept nogil
