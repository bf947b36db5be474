"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.roundoff import ROUND

# [node] The linear program of one box of pairs, by columns.

# of a sum of prices and savings, for each of N + 8 terms | their magnitudes | Every term to d + 8 roundings, and N of
# them added (K9)
NODE_ROUNDING = 64 * ROUND
# that are kept for what a bound loses by rounding, and for that of the supremum aimed at | margins | one for each, and
# one in a hundred for the rounding of the margin (K9)
MARGINS = 1.01

# [solve] The search.

# samples that are left out: without them the inertia is no larger, so that its bounds hold; that of a solution counts
# all | the greatest weight | what they cost is far below the rounding of the others, and their prices overflow (K9)
LIGHTEST = 2.0**-128

# [proof] Proofs.

# what the checker's arithmetic may lose | the objective | far above what it charges for itself (V7)
PROOF_ROUNDING = 1e-9
