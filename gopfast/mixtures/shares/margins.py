"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.roundoff import ROUND

# [parts, shares] Sums, and what few operations derive.

# of a sum of few terms | relative to their magnitudes | far above the u of each of its operations (R1)
SUM = 64 * ROUND

# of what a few operations derive, and of sums over samples | relative | far above their rounding, some N u (R1)
SLACK = 1e-9
