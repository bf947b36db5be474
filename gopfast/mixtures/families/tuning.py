"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [family, exponential] What all families share.

# of columns in the distance that starts are drawn by: a constant column counts for nothing | squared units of the
# core | (0, 1) | argument: a divisor
LEAST_VARIANCE = 1e-12

# [tied] One matrix for all components.

# samples times directions in which the least variance is looked for, of a family, which is made before there is any
# limit of time; of more than about a thousand samples in five columns what more of them finds is mostly still nothing |
# terms | [1, inf) | argument: a tenth of a second
MOST_WORK_OF_FAMILY = 2_500_000

# [axes] Coordinates of covariance matrices.

# what a coordinate system may cost before a safer one is tried | nats per unit of weight | (0, inf) | not measured
SAFE = 1e-9

# [scatter] The least variance within K groups, in all directions.

# in which samples along a direction are gathered: what that loses is subtracted | bins | [2, 128] | not measured
N_BINS = 128
# of the ratio of a direction that was found, at which splitting ends: more would hardly raise the floor | part |
# (0, 1) | not measured
CLOSE = 0.8
# per column | directions | [1, inf) | argument: some seconds at the worst
MOST_DIRECTIONS = 400
# samples times directions | terms | [1, inf) | argument: some seconds at the worst
MOST_WORK = 10_000_000

# [design] Coordinates of regressions.

# sets of q samples of which fits are made | sets | [1, inf) | argument: some 10 s
MOST_FITS = 20_000_000
# of those that need fractions | sets | [1, inf) | argument: some 10 s
MOST_EXACT = 200_000
# at a time | sets | [1, inf) | not measured
CHUNK = 20_000
# of exchanges that the choice of places takes at most | sweeps | [0, inf) | not measured
MOST_EXCHANGES = 100
# by which an exchange must enlarge the determinant | factor | (1, inf) | not measured
GAIN = 1.001
