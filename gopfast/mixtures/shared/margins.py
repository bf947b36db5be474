"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.roundoff import ROUND

# [shared, simplices, known_covariances, factors, gathered, gathered_known, noise, labels, spectra, coefficients] Sums.

# of a sum of few terms | relative to their magnitudes | far above the u of each of its operations (R1), (T8)
SUM = 64 * ROUND

# [simplices, known_covariances] Values in simplices of matrices.

# of a few operations | relative | thousands of u (R1), (T8)
SIMPLICES_SLACK = 1e-12

# [slices, factors, rough_covariances, gathered, noise, noise_grids, labels] Bounds in all directions, of eigenvalues.

# of what a few operations derive | relative | far above their rounding, which is some N u (R1), (T8)
SLICES_SLACK = 1e-9

# [barycentric] Where a function is least in simplices, by Newton's method on a barrier; any place bounds (T7).

# least eigenvalue below which there is no inverse | relative to the largest | 64 spacings: the error of an eigenvalue
# of a matrix of so few rows (R1), (T8)
SINGULAR = 128 * ROUND

# [coefficients, far_coefficients] A coefficient that all components share.

# of sums of squares that are rounded up | relative | above n u for a million rows (R1), (JS5)
COEFFICIENT_SLACK = 1e-9
