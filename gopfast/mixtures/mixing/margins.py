"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.roundoff import ROUND

# [nonparametric] The bound of all numbers of components.

# of the bound | relative to its terms | 64 u of the sum of its terms' magnitudes, as of all constants (R6)
ROUNDING = 64 * ROUND
