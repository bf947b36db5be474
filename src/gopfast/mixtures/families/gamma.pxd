"""Gamma components: a shape and a mean for each column."""

from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.search.types cimport real


# A cell of one column: the mean's, the line below its logarithm, and the spread's.
cdef struct GammaCell:
    real m0, m1             # outward
    real center, half       # of the mean
    real slope, level       # of the line below log m, and its value at the center, rounded down
    real v0, v1             # of the spread
    real chord              # slope of the cost, at most its chord's
    real base               # cost at v0, rounded down


cdef class GammaFamily(Family):
    cdef readonly int d             # the user's columns; the core's are these, then their logarithms
    cdef readonly real most         # largest shape
    cdef int[::1] log_at            # (d,) column of the logarithm of each
    cdef real[::1] low, high        # (d,) range of the samples, in units of the scale
    cdef real[::1] floor            # (1,) spread of the largest shape
    cdef real[::1] spread           # (d,) of all samples
    cdef real slack                 # by which spreads may be off, as logarithms are rounded
    # Largest spread of samples whose mean lies in [m0, m1] in a column: (log m) less the chord of the samples' range.
    cdef real largest_spread(self, int j, real m0, real m1) noexcept nogil
    cdef void open_cell(self, const real *low, const real *high, int j, GammaCell *cell) noexcept nogil
    # OUT: facets of column j of component k; returns the next.
    cdef Facet *bound_column(self, Facet *facet, int k, int j, const GammaCell *cell, real log_center) noexcept nogil
