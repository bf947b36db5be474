"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.roundoff import ROUND

# [node] The bound of one node.

# of a sum of prices and savings, for each of N + K + 16 terms | their magnitudes | A rounding each, and N of them added
# (JL6)
OF_BOUND = 4 * ROUND

# [proof] Proofs.

# what the checker's arithmetic may lose | the objective | far above what it charges for itself (VF3)
PROOF_ROUNDING = 1e-9
# of a residual, what the checker takes its rounding for beyond what the search does | |y| and |z b| added up | the
# checker's 2 q + 16 roundings and those of its strips, less the search's 16; what it refuses claims nothing (VF3)
CHECKED_RESIDUAL = 32 * ROUND

# [solve] The search.

# samples that are left out: without them the sum of squares is no larger, so that its bounds hold; that of a solution
# counts all | the greatest weight | what they cost is far below the rounding of the others (JL6)
LIGHTEST = 2.0**-128
# of weights of equal samples, that are added, for each of N + 16 samples | the bound | one rounding each (JL6)
OF_WEIGHTS = 4 * ROUND
# a residual's mean square at which only rounding is left, and no bound but 0 is sought | the largest response, less one
# regression of all, squared | what prices are raised by is then a part of them (JL6); it decides about no bound
EXACT = 1e-12
