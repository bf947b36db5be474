"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [regression] Regressions.

# floor of the variances where one regression fits all samples | mean square of the responses | (0, 1) | argument: a
# floor must be above 0
FLOOR_OF_EXACT_FITS = 1e-12

# [telling] What estimators tell.

# between two lines of verbose=1 | seconds | (0, inf) | not measured
EVERY = 5.0
# a gap that is wider tells nothing of a fit | nats a sample | (0, inf) | not measured
USEFUL = 0.1
