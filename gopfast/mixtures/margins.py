"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.roundoff import ROUND

# [large] Summaries of data that come in chunks. Any grid gives a bound (I1).

# by which the grid exceeds the data: the rounding of a corner leaves no sample outside | the range | far above the
# rounding of a product and a sum (R1), (I1)
PAD = 1e-12

# [marginal, chains] The marginal bound, and chains.

# of the marginal's floor, as B is orthonormal and X in units of the floor but for a few ulps | nats per sample | far
# above a few ulps of the squares (R1), (R6)
ROOM = 1e-9
# of a sum of few terms | relative to them | thousands of u (R1)
SUMMED = 1e-12

# [proof, statement] Cells in the user's units.

# by which boxes that do not meet may do so in other units | all values | 32 u, of the few operations between units (V7)
TOUCHING = 2.0**-48

# [recording, solve] What a search keeps back for a proof.

# by which bounds may differ where sums are rounded in another order | the objective and the total weight | thousands of
# u, far above what compensated sums leave (R1), (V7)
ROUNDING = 1e-11

# [representation, solve, shared_coefficients] The user's units.

# this much the margins of the core's own bounds hold besides what they were counted out for | W and the squares | part
# of the 64 u of (R4) and of (E8)
COUNTED = 16 * ROUND
# of a model's own formula | the magnitudes of its terms | 64 u (R4)
EVALUATION = 64 * ROUND
# more than the logarithms in a term amount to in each column | nats | numbers up to 1e308 and their squares have
# logarithms of 710 and 1,420 (R3), (R4)
LARGEST_LOGARITHM = 3000.0
# the largest probability below 1 | none | the float below 1 (R1)
MOST = 1.0 - ROUND

# [shared_coefficients] Regressions by their definition.

# of a prediction | the magnitudes of its terms | 16 u: up to eight products, their sum and the difference (R1), (JS5)
RESIDUAL = 16 * ROUND
