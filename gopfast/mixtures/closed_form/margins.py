"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.roundoff import ROUND

# [ceiling] Bounds without a search.

# of sums of few terms | relative to their magnitudes | far above the u of each operation, far below what these bounds
# miss (R1)
ROUNDING = 1e-12
# of an entropy's terms, for each | relative to its magnitude | as of all constants (R6), (F9)
ENTROPY_ROUNDING = 64 * ROUND
