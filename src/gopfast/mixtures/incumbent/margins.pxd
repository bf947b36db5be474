"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [basin] The box of known variances, to the second order.

    # of a given box's radii | factor | far above the rounding of one subtraction (R1)
    real BASIN_OUTWARD "(1 + 1e-9)"
    # of the factorisation of a matrix with entries up to `LARGEST`, and of weights of points | diagonal of the matrix |
    # far above (K + K d) u of entries of at most 1e4, for the factorisation that decides (B3), (R1)
    real BASIN_ROUNDING "1e-8"
    # of a score, for each of its d + 2 terms | relative to its size | nine times u, the error of one rounded operation
    # (R1)
    real SCORE_ROUNDING "1e-15"
    # of a log weight's radius that its best value may use | part | what is left covers the rounding of `enclose` (B4)
    real WITHIN "0.99"

    # [neighbourhood] The box of any family, to the fourth order.

    # of matrix products and the factorisation, beside entries of at most `LARGEST` | diagonal of the matrix | far above
    # the rounding of products of at most 80 coordinates with entries of at most 10 (W7)
    real NEIGHBOURHOOD_ROUNDING "1e-7"

    # [box_change, neighbourhood] How far the derivatives change in a box.

    # of the sums and products that a bound is made of | factor | N u of N terms of one sign, for N up to 9 million
    # (R1), (W7)
    real BOX_OUTWARD "(1 + 1e-9)"
    # of a few operations | factor | far above some u (W7), (R1)
    real BOX_UPWARD "(1 + 1e-12)"

    # [charts] Coordinates of a family.

    # of a coordinate's reach | relative | a few operations, with room (Q1), (R1)
    real CHARTS_OUTWARD "1e-13"

    # [matrix_charts] Coordinates of covariance matrices.

    # of a reach | relative to its terms | far above d^2 u, the rounding of sums over a matrix (R1), (W6)
    real MATRIX_OUTWARD "1e-12"
