"""Gaussian components with one covariance matrix each, two coordinates."""

from gopfast.mixtures.families.affine cimport AffineFamily
from gopfast.mixtures.families.family cimport Facet, Subproblem
from gopfast.mixtures.families.normal cimport NormalFamily
from gopfast.search.types cimport real


# Places of a component's connected variables.
cdef enum:
    MEAN = 0                # (2,)
    VARIANCE = 2            # of the first coordinate
    SLOPE = 3               # of the second given the first
    RESIDUAL = 4            # variance of the second given the first
    N_CELL = 5

# Columns, and a component's statistics of them: mass, sums, sums of squares.
cdef enum:
    N_COLUMNS = 3           # x, y, x y
    OF_MASS = 0
    OF_X = 1
    OF_Y = 2
    OF_XY = 3
    OF_XX = 4
    OF_YY = 5
    OF_XY_SQUARED = 6
    N_STATISTICS = 6        # without the mass

# A component's facets, in this order, and how many there are of a kind.
cdef enum:
    MEAN_BOX = 0            # 2 per coordinate
    VARIANCE_MOST = 4
    VARIANCE_LEAST = 5      # 3 tangents
    SLOPE_LEAST = 8         # 2 planes
    SLOPE_MOST = 10         # 2 planes
    RESIDUAL_MOST = 12
    RESIDUAL_LEAST = 13     # 3 slopes, then 2 tangents at the middle slope
    N_FACETS = 18


# A symmetric matrix of order 2, packed; a covariance is in squared units of the core's coordinates.
cdef struct Matrix:
    real xx, xy, yy

# The factors of a covariance: variance v, slope b, residual u.
cdef struct Factors:
    real v, b, u


cdef class FullFamily(AffineFamily):
    cdef Matrix floor, data_covariance  # of the samples
    cdef real conditional_floor         # of the second coordinate given the first
    cdef real log_floor                 # log det of the floor
    cdef real whiten_x, whiten_xy, whiten_y     # lower triangle of the floor's inverse Cholesky factor
    cdef readonly real ridge            # r, added to the first variance in the regression coefficient
    cdef real size_x, size_y            # bounds of |x|, |y| of samples about any center: scale of their rounding errors
    # Largest |slope| of covariances with factors v in [v0, v1] and u in [u0, u1], and C_yy at most `most`.
    cdef real steepest(self, real v0, real v1, real u0, real u1, real most) noexcept nogil
    cdef Matrix matrix(self, Factors f) noexcept nogil
    cdef Factors factors(self, Matrix C) noexcept nogil
    # OUT: the factors of C among a component's connected variables (N_CELL,).
    cdef void put(self, Matrix C, real *variables) noexcept nogil
    # G(C) in nats per unit of mass. OUT size: the scale of its rounding error.
    cdef real cost(self, Matrix C, real *size) noexcept nogil
    # The best covariance at or above the floor.
    cdef Matrix floored(self, Matrix C) noexcept nogil
    # G, or the sum of the costs of variance and residual that bounds it up to a constant, at factors of C.
    cdef real cell_cost(self, bint exact, Factors f) noexcept nogil
    # Slopes P of a trial minorant over a cell: of G for kind 0; of its sum over factors for kind 1, and for kind 2
    # without the residual's.
    cdef Matrix slopes(self, int kind, Factors low, Factors high) noexcept nogil
    # A lower bound of G - <P, C> over a cell: the constant of a minorant of slopes P.
    cdef real constant_at(self, Factors low, Factors high, Matrix P) noexcept nogil
    # What the minorant of component k lacks at factors of the cell, in nats per unit of mass.
    cdef real lost_at(self, const Subproblem *sub, int k, const real *low, const real *high, Factors f) noexcept nogil
    # The constant of the best minorant of a cell at hand. OUT: its slopes, in nats per squared unit and unit of mass.
    cdef real minorant(self, Factors low, Factors high, Matrix *P) noexcept nogil
    # OUT: mean (2,) and covariance of statistics, moments (N_STATISTICS,) about a center (N_COLUMNS,).
    cdef void moments_of(self, real mass, const real *moments, const real *center, real *mean, Matrix *C) noexcept nogil
    # OUT: facet constant + x z_x + y z_y + xx z_x^2 + xy z_x z_y + yy z_y^2 >= 0 of component k per unit of mass, z the
    # distance from the center (2,); loosened by its rounding.
    cdef void set_facet(self, Facet *facet, int k, const real *center, bint active, real xx, real xy, real yy, real x,
                        real y, real constant) noexcept nogil
    # OUT: a component's `facets` but those of its mean; half (2,) of the mean's intervals, P the minorant's slopes.
    cdef void bound_cell(self, Facet *facets, int k, Factors low, Factors high, const real *center, const real *half,
                         Matrix P) noexcept nogil


cdef class LineFamily(NormalFamily):
    pass
