"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [confinement] Questions to prices.

# error of sums | relative to their terms | far above (K + N) u (R1), (C5)
CONFINEMENT_SUMMING = 1e-12

# [pricing_root] The root bound.

# error of a sum of few terms | relative to them | four roundings, u = 2^-53 each (R1)
SUMMED = 2.0**-51
