"""Components of one column in which entries are missing."""

from gopfast.mixtures.families.family cimport Facet, Family
from gopfast.mixtures.families.product cimport Scratch
from gopfast.search.types cimport real


cdef class PartialFamily(Family):
    cdef readonly Family inner      # of the samples that have an entry
    cdef readonly real reach        # largest magnitude of an entry, in the core's units
    cdef real average               # of the entries
    # OUT own: the inner family's masses and moments about centers (K,), of moments (K, F) about 0.
    cdef void take_moments(self, const real *moments, const real *centers, Scratch *own) noexcept nogil
    # A facet's coefficients to those of an entry's presence and powers.
    cdef void spread(self, Facet *facet, const real *centers, real *row) noexcept nogil
