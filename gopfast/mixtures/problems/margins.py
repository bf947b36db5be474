"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.roundoff import ROUND

# [covariance] Covariance matrices and their floors.

# what rounding a matrix's entries moves its eigenvalues by, for each row | the largest entry | 90 u, where d roundings
# move them by d u (R1), (A6)
ENTRY_TOL = 1e-14

# [floors] The default floor (A6).

# of distances between equal numbers, of doubles | the largest number | 16 u of a few operations; it decides a default,
# which the result states (A6), (R1)
DOUBLE_NOISE = 16 * ROUND
# of distances between equal numbers, of single precision | the largest number | 16 units of single precision; it
# decides a default, which the result states (A6)
SINGLE_NOISE = 16 * 2.0**-24

# [closed_form, gaussian_closed_form, poisson] Exact sums, and the optimum of one component (F11).

# of a sum in blocks | the sum of the absolute values | u for each of at most 64 terms of a block, with 32 for what is
# made of the sums (R1), (F11)
ERROR = (64 + 32) * ROUND

# [gaussian_closed_form] Squares about the mean.

# of a sum of squares about the mean | that about the point near it, which Cauchy and Schwarz compare | four times that
# of a sum (R1), (F11)
SQUARES_ERROR = 4 * (64 + 32) * ROUND

# [exponential] Waiting times.

# of products: sums below it may have lost digits to underflow | none | errors of products above 2^-969, 2e-292, are
# doubles (R1)
LEAST_SUM = 1e-280

# [bernoulli] Probabilities.

# the largest probability below 1 | none | the float below 1 (R1)
MOST = 1.0 - ROUND

# [count_regression] Regressions of counts.

# of the cost at the best linear predictor | relative to the sizes of its terms | 16 u of a log Gamma and 8 u of a
# cumulant and its product, each taken from the other (JC3)
COUNT_CONSTANT = 32 * ROUND
