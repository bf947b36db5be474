"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [confinement, raised] Questions to prices, and floors of cells.

# error of sums | relative to their terms | far above (K + N) u (R1), (C5)
CONFINEMENT_SUMMING = 1e-12

# [cover] Blocks of columns that overlap.

# of sums of their weights | relative | far above (B + 2) u of any number B of blocks, (I6) and (R1)
COVERED = 1e-12

# [hull_frame, hull_tables] Moments of clusters.

# error of moments that are sums of squares | relative to the sum | far above N u of the most samples, (Y6) and (R1)
HULL_MARGIN = 1e-11

# [pricing_root] The root bound.

# error of a sum of few terms | relative to them | four roundings, u = 2^-53 each (R1)
SUMMED = 2.0**-51
