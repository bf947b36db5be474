"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.rounding cimport ROUND  # its text in C
from gopfast.search.types cimport real

cdef extern from *:
    # [exponential] Counts, waiting times and labels.

    # by which root cells are wider | relative | 90 u, the rounding of the few operations and the logarithm that make
    # them (R1)
    real ROOT_SLACK "1e-14"
    # of sums of labels' means, which are at most 1, per label | none | 900 u (R1), (F10)
    real LABEL_SLACK "1e-13"

    # [family] What all families share.

    # of the sum of a constant's terms | relative to their magnitudes | each within 16 u of its magnitude (R6)
    real CONSTANT_ROUNDING "(64 * GOPFAST_ROUND)"

    # [gaussian] Known variances.

    # range of S that is so narrow that the chord of log S is its tangent | relative | the slope would be mostly
    # rounding: u over it is 1e-7; any tangent of a concave function bounds it (F7), (R1)
    real GAUSSIAN_NARROW "1e-9"

    # [matrix] The cost of a covariance matrix in a box of entries.

    # of eigenvalues and of what is built from them | ROUND times the matrices' size | counted out for up to six
    # columns; the size of more has a factor d^2 / 36 (M5), (R1)
    real EIGEN_ROUNDING "512.0"
    # of a pivot of Cholesky's method, below which it is taken for rounding | of the diagonal entry | far above d u; a
    # matrix that is refused has the weaker bound (M5)
    real LEAST_PIVOT "1e-3"
    # of the bound of the curvature | relative | far above the rounding of its sums (M5), (R1)
    real CURVATURE_SLACK "1e-8"
    # of a spectral radius in it | relative | far above the rounding of its sums (M5), (R1)
    real RADIUS_SLACK "1e-9"
    # of a chord's constant, beside the relative one | nats per unit of mass | 900 u of terms near 1 (M5), (R1)
    real CHORD_SLACK "1e-13"

    # [family, affine, balance, exponential, full, gamma, gaussian, matrices, matrix, normal, regression, tied] All.

    # half width of a range that is rounding: it has no facets | of the magnitude of its ends | 900 u; leaving out a
    # facet only loosens the bound (R1)
    real NEGLIGIBLE_WIDTH "1e-13"
    # of bounds that a few operations derive from others | relative | thousands of times their rounding (R1), (R6)
    real DERIVED_SLACK "1e-12"
    # of a total weight, a compensated sum | relative | 900 u, where 2 u is its error (R1)
    real TOTAL_SLACK "1e-13"

    # [shape] Gamma components.

    # of the terms of log Gamma and its derivatives | relative to the sum of their magnitudes | at most 32 operations of
    # an ulp or two each, and the remainder of Stirling's series (O2)
    real SHAPE_ROUNDING "(128 * GOPFAST_ROUND)"

    # [shape, gamma] Costs of spreads.

    # below which there is no lower bound of a cost | nats per unit of mass | far below all costs: where Newton's method
    # should fail (O3)
    real UNKNOWN "-1e200"

    # [gamma] Cells of shapes.

    # of a slope at a shape that Newton's method has found | relative | a million times what rounding leaves of it (O3)
    real SHAPE_SLACK "1e-9"

    # [regression] Regressions.

    # of a sum of products of the columns | relative to the square of the most a sample's terms are | each product is
    # rounded twice, its coefficient four times, and there are at most 1 + 2 * 8 + 2 * 36 of them (J4)
    real SQUARES "(256 * GOPFAST_ROUND)"
    # of a residual | relative to the most a sample's terms are | columns and coefficients are rounded once or twice
    # each (J4)
    real MOVED "(8 * GOPFAST_ROUND)"

    # [counts] Regressions of counts.

    # of a linear predictor | relative to the most a row's terms are | a sum of at most nine terms, each made of three
    # rounded numbers, and of four at coefficients 0 (JC3)
    real COUNT_MOVED "(32 * GOPFAST_ROUND)"

    # [affine, tied] Sums of products over the samples.

    # of a sum of products over the samples | relative to its terms' sizes | sums are pairwise, so whatever the number
    # of samples: its logarithm times u, with room (R1)
    real SUM_ROUNDING "(128 * GOPFAST_ROUND)"

    # [chain] Chains of regressions.

    # by which the domain of regressions is wider | relative | axes that are orthonormal but for 1e-10 and a few
    # operations, as (N1) and (N4) ask for
    real DOMAIN_SLACK "1e-9"
