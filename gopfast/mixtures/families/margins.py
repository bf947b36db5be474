"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.roundoff import ROUND

# [axes] Coordinates of covariance matrices.

# of error bounds | relative | far above their own rounding, which a few operations leave (R5)
AXES_SLACK = 1e-6

# [scatter] The least variance within K groups, in all directions.

# of sums of squares, and of what is made of them | the range squared | far above N u (M8), (R1)
SCATTER_ROUNDING = 1e-9
# of bins, which are summed sample after sample, for each sample | the range squared | a few u for each addition (M8),
# (R1)
BIN_ROUNDING = 16.0 * ROUND

# [design] Coordinates of regressions.

# a determinant that is less is computed in fractions | times its rounding error | so that the relative error of others
# is a thousandth, which the box of fits is widened by (J1)
CERTAIN = 1000.0
# of bounds that a few operations derive from others | relative | 9,000 u (J1), (R1)
DESIGN_SLACK = 1e-12
