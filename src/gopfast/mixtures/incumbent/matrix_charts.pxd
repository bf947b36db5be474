"""Natural parameters of Gaussian components with a covariance matrix each, around a solution."""

from gopfast.mixtures.incumbent.charts cimport Chart
from gopfast.mixtures.families.affine cimport AffineFamily
from gopfast.mixtures.families.full cimport FullFamily
from gopfast.mixtures.families.matrices cimport MatrixFamily
from gopfast.mixtures.families.matrix cimport FlooredCost
from gopfast.search.types cimport real


# Coordinates of a component: a (d,), then the entries of T, packed as in families.matrix.
cdef class MatrixChart(Chart):
    cdef AffineFamily affine
    cdef FlooredCost cost
    cdef int d, n                       # coordinates of a sample, entries of a matrix
    cdef real[::1] mean, packed         # (K d,), (K n,) covariances of the center
    cdef real[::1] root, whiten         # (K d d,) R and R^-1
    cdef real[::1] least                # (K,) least eigenvalue of the covariance in units of the floor
    # The covariance (n,) at a component's connected variables.
    cdef void covariance(self, const real *point, real *out) noexcept nogil
    # OUT: where the entries (n,) of E, R (I + E) R' a covariance of the cell, lie, rounding of a few ulps included.
    cdef void deviations(self, int k, const real *low, const real *high, real *least, real *most) noexcept nogil
    cdef bint factorise(self, int k) noexcept nogil
    cdef real falls(self, int k, const real *down, const real *up, real *most) noexcept nogil


cdef class FactorsChart(MatrixChart):
    cdef FullFamily full


cdef class EntriesChart(MatrixChart):
    cdef MatrixFamily matrices
