"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [refinement] Divided cells.

    # of sum_ks pi_ks D_ks = W, of far fewer than 10^6 terms | factor | far above 10^6 u (D5), (R1)
    real MEAN_ROUNDING "(1 + 1e-9)"

    # [corners] Mixtures of corners, by columns.

    # of an interval, by which the rest of a label's probabilities may be outside | probability | sums of at most 8
    # probabilities, far above 8 u (L5), (R1)
    real OUTSIDE "1e-12"

    # [entropic] The relaxed dual.

    # of a sample's cost, by rounding of facets' terms, beyond which the worst error counts and not the mean | nats |
    # means are of first order: e^(1/32) is within the terms counted (E8)
    real MOST_MOVED "0.015625"
    # of the error of the farthest cost, by facets, beyond which the worst error proves nothing either | fraction |
    # facets are as exact as their coefficients, which says little of multipliers that the rest does not hold (E8)
    real MOST_OF_FACETS "0.9375"

    # [linear_branching] The choice of bound combinations.

    # of a product of widths | factor | for rows that prove nothing: every box is bounded by a program of its own (G6)
    real SWITCH_ROUNDING "(1 + 1e-9)"

    # [linear_rows] Rows of the linear programs.

    # of the range of e, a quotient of sums of a few squares | relative | far above some u (R1), (R2)
    real OUTWARD "1e-12"
