"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [landscape] All local optima within a distance of the best.

# sides of a box that is as small as wanted | of the distance at which the objective has grown by `within` | (0, 1] |
# not measured
FINENESS = 0.25
# of local searches from the middle of a region's boxes | starts | [1, inf) | not measured
STARTS_PER_REGION = 40
# of local searches from samples | starts | [0, inf) | not measured
STARTS = 60
# of one local search, at most | steps of EM | [1, inf) | not measured
EM_STEPS = 5000
# gain of a step at which a local search ends | nats | (0, 1) | not measured
EM_TOLERANCE = 1e-10
# ends of local searches nearer than this are one optimum | of the distance at which the objective has grown by `within`
# | (0, 1) | not measured
SAME = 0.02
# with which a local search leaves a saddle point, in a random direction | of the same distance | (0, 1) | not measured
SADDLE_STEP = 0.05
# that shows that its end was one | nats | (0, 1) | not measured
SADDLE_GAIN = 1e-6
# of EM for the weights of a mixture whose components are given | steps | [1, inf) | not measured
WEIGHT_STEPS = 300
# change of weights at which they end | probability | (0, 1) | not measured
WEIGHT_TOLERANCE = 1e-6

# [profiles] Figures.

# of a landscape along each axis, and of a path | points | [2, inf) | not measured
GRID = 60
# of a landscape | lines | [1, inf) | not measured
CONTOURS = 12
# of a choice, whose criteria the axis spans | models | [2, inf) | argument: those that a choice is between
BEST_SHOWN = 5
# of the kinds of covariance of one number of components, from one to the next | components | [0, 0.1] | argument: five
# kinds must not reach the next number
APART = 0.06
# how far a path goes on beyond its optima | their distance | (0, 0.5) | not measured
AROUND = 0.25

# [likelihood_ratio, resampling, selection] The bootstrap, and limits.

# default tolerance of each search | nats | (0, inf) | argument: as of `gopfast.solve`
EPSILON = 0.01
# default of each search, and of all searches of a choice | seconds | (0, inf) | not measured
TIME_LIMIT = 60.0
# that may be asked for | resamples | [1, inf) | argument: their results must fit into memory
MOST_RESAMPLES = 10**7

# [selection] Choice of the number of components.

# of each model's first turn | nodes | [1, inf) | not measured
FIRST_NODES = 64
# how many times as many nodes a model has had after each further turn | factor | [2, inf) | not measured
GROWTH = 2
# from which on all numbers of components are bounded at once, which takes about as long | nodes | [0, inf) | argument:
# the time that it takes
OUTER_BOUND_FROM = 4096
# of the time limit that the first fits of all models may take together | part | (0, 1) | not measured
FITS_SHARE = 0.5
# of the time of one search that its first fit may take | part | (0, 1] | argument: as `gopfast.mixtures.primal.em` has
# it
FIRST_FIT_SHARE = 1.0 / 3.0
# of the time limit that a turn gets at least | part | (0, 1) | not measured
LEAST_TURN_SHARE = 0.02
