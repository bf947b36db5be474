"""Gaussian components with covariance matrices: what families of them share."""

from gopfast.mixtures.families.balance cimport Balance
from gopfast.mixtures.families.family cimport Family
from gopfast.search.types cimport real

cdef class AffineFamily(Family):
    cdef readonly object axes, center       # core coordinates axes @ (x - center): (d, d), and (d,) in the user's units
    cdef readonly int d                     # coordinates; a family may have more columns: their products
    cdef real[::1] low, high                # (d,) range of the samples
    cdef real[::1] average, average_error   # (d,) of the samples as they are in floats, and its error bound
    cdef Balance balance
    cdef object suggestion                  # weights (K,) and parameters of a fit that is known, or None
    # Python: columns of the core and what its rounding costs (axes.Coordinates), and weights (n,), of used samples.
    cdef object set_up(self, X, sample_weight, int n_components, floor, axes, bint about_average)
    # Python: the family's columns (n_columns, n), the coordinates first.
    cdef object fill(self, columns, weights, bint squares)
    # Largest variance of samples along coordinate j whose mean lies in [low, high], in its unit squared, rounded up.
    cdef real largest_variance(self, int j, real low, real high) noexcept nogil
    # IN/OUT: a box's intervals of coordinate j of the means, by the samples' average; 0: nothing is left.
    cdef bint balance_means(self, int j, real *low, real *high) noexcept nogil
