"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [mechanisms] When each mechanism begins, by counts of nodes and terms.

# samples of which there are prices, one for each | samples | [0, inf) | docs/notebook/groups.md
MOST_PRICED = 20_000
# the same where the bound may lose something, and no tree looks cells up | samples | [0, inf) |
# docs/notebook/shared_parameters.md
MOST_PRICED_ROUGHLY = 200_000
# samples of which there are chains: a cell takes passes over all of them | samples | [0, inf) | docs/notebook/chains.md
MOST_CHAINED = 1_500
# of their summaries, where there are more | points | [0, inf) | not measured
MOST_POINTS = 50_000
# from which on hitting sets are sought | nodes | [0, inf) | not measured
REDUCED_FROM = 256
# from which on prices are asked for, where the terms say so too | nodes | [0, inf) | docs/notebook/prices.md
ASKED_FROM = 1
# of the tree, before prices begin, for each sample: about half of what prices cost | terms | [0, inf) |
# docs/notebook/confinement.md
TERMS_OF_A_PRICE = 8_000
# but at most so many | terms | [0, inf) | not measured
MOST_BEFORE_PRICES = 8_000_000
# times as much where the tree itself closes most problems | factor | [1, inf) | docs/notebook/small_problems.md
CLOSED_PATIENCE = 5.0
# the same at most | terms | [0, inf) | docs/notebook/small_problems.md
MOST_BEFORE_CLOSED = 300_000_000
# which it does where all means but one are of so few numbers, known variances | (K - 1) d | [0, inf) |
# docs/notebook/small_problems.md
CLOSED_BY_TREE = 4
# times as many where corners, hitting sets or the tree itself close most problems, and for what shared parameters are
# fixed at | factor | [0, inf) | not measured
PATIENCE = 2.5
# that a node has beside those of each sample, component and statistic | terms | [0, inf) | not measured
TERMS_OF_A_NODE = 350
# what a node whose corners are mixed costs | times the relaxed dual alone | [1, inf) | not measured
CORNERS_COST = 6
# at least; fewer while the tree is small | nodes | [1, inf) | not measured
NODES_OF_A_BATCH = 8
# that prices of all of them are learnt of at once, without the hull or sets of columns before | samples | [0, inf) |
# docs/notebook/many_columns.md
MOST_AT_ONCE = 10_000
# of a component, for that, where the hull would come before | parameters | [0, inf) | docs/notebook/many_columns.md
BEFORE_HULL = 6
# the same of sets of columns | parameters | [0, inf) | docs/notebook/many_columns.md
BEFORE_COVER = 8
# from which on other bounds are of no use for a proof: they have no time then | columns | [2, inf) |
# docs/notebook/many_columns.md
HULL_ALONE = 7

# [third_step, distal, covariates] Three-step analyses.

# singular value of the table of classification errors, for its inverse to say something | probability | (0, 1) | not
# measured
LEAST_APART = 1e-3
# eigenvalue of a correlation matrix below which a direction is that of others | relative | (0, 1) | not measured
DEPENDENT = 1e-8
# of differences, for derivatives | relative to 1 and the parameter | (0, 1) | argument: the root of the root of u
THIRD_STEP = 1e-4
# probability from which on it counts as one at the end of its range | probability | (0, 0.5) | not measured
LEAST_SHARE = 1e-6
# of EM, of a likelihood with classification errors | steps | [1, inf) | not measured
MOST_THIRD_STEPS = 5000
# gain of a step at which that ends | relative | (0, 1) | not measured
THIRD_TOL = 1e-14
# of differences of a gradient | relative to 1 and the parameter | (0, 1) | argument: the third root of u
GRADIENT_STEP = 1e-5
# slope that is left where an optimum has been found | nats a sample | (0, 1) | not measured
THIRD_SLOPE = 1e-5

# [large] Summaries of data that come in chunks. Any grid gives a bound (I1).

# of the tolerance, that the summary may lose where so many cells are enough | part | (0, 1) | not measured
LOSS = 0.1
# of the grid, by columns | cells | [1, 2**31) | argument: their memory, 16 bytes each, and about 170 where samples lie
MOST_CELLS = {1: 2_000_000, 2: 1_000_000, 3: 2_000_000}
# of the grid, by columns | cells | [1, 2**31) | not measured
FEWEST_CELLS = {1: 1000, 2: 1000, 3: 8000}
# of the column's standard deviation, over K, that components of free variance are taken to be wide | part | (0, inf) |
# not measured
TYPICAL_WIDTH = 0.5
# that parts of the data are spread over before they are added | grids | [1, inf) | not measured
MOST_GRIDS = 16
# of a column, of which a resolution is looked for | values | [1, inf) | not measured
MOST_DISTINCT = 100_000

# [marginal] The marginal bound.

# that it is looked for in | directions | [1, 32] | not measured
N_DIRECTIONS = 2
# of EM | nats | (0, inf) | not measured
EM_TOLERANCE = 1e-8
# of EM | steps | [1, inf) | not measured
EM_STEPS = 2000
# samples times components times steps: the next look at the time comes after them | terms | [1, inf) | not measured
EM_TERMS = 20_000_000

# [chains] Directions of a chain of regressions.

# others that are looked at, one after another | directions | [0, inf) | docs/notebook/chains.md
N_TURNS = 400
# terms of EM after which no others are looked at | terms | [0, inf) | argument: a few seconds
CHOICE_TERMS = 100_000_000
# terms of the marginal, which is quick to say something, before the chain has its turn | terms | [0, inf) |
# docs/notebook/chains.md
MARGINAL_TERMS = 30_000_000
# the same of a sample, where they are many | terms | [0, inf) | docs/notebook/chains.md
MARGINAL_TERMS_OF_A_SAMPLE = 150_000
# starts of EM for each block of the first of them | starts | [0, inf) | not measured
N_TRIED = 8
# by which they are turned at first | radians, about | (0, inf) | docs/notebook/chains.md
TURN_WIDEST = 0.8
# the same, at least | radians | (0, inf) | docs/notebook/chains.md
TURN_LEAST = 0.05
# what a turn that helps makes the next ones longer by | factor | [1, inf) | not measured
TURN_LONGER = 1.3
# what one that does not makes them shorter by | factor | (0, 1] | not measured
TURN_SHORTER = 0.93

# [floor_components] Components on the floor.

# the value of a spike and its neighbours | values | [1, inf) | not measured
MOST_VALUES = 3
# of a component's samples that lie on them | part | (0, 1] | not measured
SHARE = 0.9
# by which values differ that are one | the floor's root | (0, 1) | not measured
EQUAL = 1e-6
# components that a note names | components | [1, inf) | argument: what fits on a line
MOST_SHOWN = 3
# times is the floor smaller, of which it is told what it would give | factor | (1, inf) | not measured
SMALLER = 16
# samples times components times columns times steps of EM that are taken to find out | terms | [0, inf) | not measured
FLOOR_MOST_TERMS = 20_000_000

# [information] Standard errors, by differences.

# of one component, beyond which differences of pairs take too long | coordinates | [1, inf) | not measured
MOST_COORDINATES = 60
# eigenvalue of the information below which a direction is not determined by the data | its diagonal | (0, 1) |
# argument: the root of the error of differences
SINGULAR = 1e-8
# below which a component has none | weight | (0, 1) | not measured
NO_WEIGHT = 1e-8

# [coordinates] Coordinates in which standard errors are taken.

# probabilities nearer to 0 or 1 are on the bound: what a fit that goes there reaches within its tolerance |
# probability | (0, 0.1) | not measured
NEAR_BOUND = 1e-6
# of differences | the scale of the coordinate | (0, 0.1) | not measured
STEP = 1e-3

# [engine] Units.

# difference of parameters that the core's and the user's units may make | relative | (0, 1) | argument: far above their
# rounding
ENGINE_SAME = 1e-9

# [fits] Solutions that are handed in.

# slack when covariances of one kind are read as another: fits are rounded | relative | (0, 1) | not measured
SAME_TOL = 1e-9

# [notes] What is told of a solution.

# components of less are called unused | weight | (0, 1) | not measured
UNUSED = 1e-9
# components whose parameters differ by less are called the same | relative to the largest | (0, 1) | not measured
NOTES_SAME = 1e-6

# [summary, solution] What is printed.

# of a summary | rows | [1, inf) | argument: a page
MOST_ROWS_SHOWN = 80
# of a solution | rows | [1, inf) | argument: a screen
MAX_ROWS_SHOWN = 12
# of a solution | columns | [1, inf) | argument: a line
MAX_COORDINATES_SHOWN = 6
# below which a covariance is shown as none | correlation | (0, 1) | argument: rounding
ZERO_CORRELATION = 1e-12

# [result] What is said of a bound.

# gap that tells that no other fit is of use, although the tolerance is not reached | nats a sample | (0, 1) |
# argument: what a likelihood-ratio statistic of a few units is in tens of thousands of samples
TIGHT = 1e-4

# [solve] Checkpoints, and what has no search.

# of a checkpoint's objective: what evaluating it anew may change | relative | (0, 1) | argument: another machine's
# exponentials differ by less
SOLVE_SAME = 1e-6

# [solve, shared_coefficients] How a search ends.

# by which a gap may exceed the tolerance | floats | [0, 1024] | argument: the bounds' own rounding to floats
SPACINGS = 2

# [proof, recording, leaf_weights] Proofs of bounds by prices, in the user's units.

# of one component relative to the others | nats | (-700, 0) | argument: inside what the checker takes
LEAST_LOG_WEIGHT = -500.0
# variance of the component by which prices are put into the user's units | the floor | [1, inf) | not measured
SPREAD = 2.0
# of `unfolded` | steps between the places where its function bends | (1, inf) | argument: any prices are a proof
FURTHEST = 100.0
# of an unused component, in place of infinity | the user's | [1e20, 1e150) | argument: its square is finite
LARGEST_MEAN = 1e99

# [leaf_weights] Weights of a proof's leaves that are found again.

# Newton's: 11 brought all leaves that lacked something to their bounds | steps | [1, inf) | docs/notebook/prices.md
WEIGHTS_STEPS = 16
# by which a weight may fall in a step | part | (0, 1) | not measured
LARGEST_FALL = 0.8
# by which it may rise | part | (0, inf) | not measured
LARGEST_RISE = 2.0
# added to the squares of responsibilities | of a sample | (0, 1) | argument: far below any that counts
LEAST_CURVATURE = 1e-9
# at a time | costs | [1, inf) | argument: 16 MB
MOST_COSTS = 2**21

# [cell_record] Where a search for a proof does without prices.

# what rounding may add to what a component saves, if it is more than the tolerance | nats | (0, inf) | argument: of
# columns with 10^10 deviations of the floor it is thousands, of others far below
MOST_LOST = 1.0

# [recording, solve] What a search keeps back for a proof.

# of a logarithm of a weight | nats | (0, 700) | argument: its exponential is finite
MOST_GAINED = 100.0
# of its tolerance that a search keeps back for the checker's margins | part | (0, 1) | not measured
RECORDING_RESERVE = 1e-3

# [representation, solve] The user's units.

# margin of the core's value from which on the model's own formula is asked as well | relative | (0, 1) | not measured
DOUBTFUL = 1e-10
# of a tolerance that a search may be asked to prove more than the user wants, to make up for the loss | part | (0, 1) |
# not measured
MOST_OF_TOLERANCE = 0.5
# that is always kept in reserve where there is any loss: bounds may meet the tolerance to the last digit | part |
# (0, 1) | not measured
REPRESENTATION_RESERVE = 1e-3
# at a time, so that what is made of them stays in the cache | points | [1, inf) | not measured
BLOCK = 8192

# [plan] Mixtures in which a shared parameter is fixed.

# of mixtures in which a shared parameter is fixed, unless groups are in place of samples | samples | [1, inf) |
# argument: 60 searches keep a copy of them each
MOST_SLICED = 200_000
# the same where lines lose nothing, so that a few of them are enough | samples | [1, inf) |
# docs/notebook/shared_parameters.md
MOST_SLICED_EXACTLY = 4_000_000

# [shared_coefficients] A coefficient that components share: intervals of it.

# of the tolerance, to which mixtures of a fixed coefficient are solved | part | (0, 1) | argument: below
# COEFFICIENT_RESERVE
COEFFICIENT_EXACT = 0.125
# of the tolerance, by which what is attained at the ends must prove more than the limit, else the interval is divided |
# part | (0.125, 1) | argument: above COEFFICIENT_EXACT
COEFFICIENT_RESERVE = 0.25
# of what is attained at the lower end more than the limit, that this must be | part | [0, 1) | not measured
COEFFICIENT_SPARE = 0.25
# than others on the average, a search may take more | factor | (1, inf) | not measured
COEFFICIENT_PATIENCE = 8.0
# of what is proved more than the limit so, that a search at an end may leave open | part | (0, 1) | not measured
COEFFICIENT_WANTED = 0.5
# from where on far values are ruled out is looked for from this much below a unit to as much above | doublings |
# [1, 100] | argument: a factor of 1e6 each
COEFFICIENT_DOUBLINGS = 20
# of an interval, the least that a split leaves | part | (0, 0.5] | not measured
COEFFICIENT_EDGE = 0.1
# of EM, from lines through samples and as many from residuals | starts | [1, inf) | argument: mixtures of fixed
# coefficients are starts, too
COEFFICIENT_STARTS = 4
# of EM at a fixed coefficient, from the nearest other one's mixture | steps | [1, inf) | not measured
COEFFICIENT_STEPS = 30
# of EM for an incumbent, at most | steps | [1, inf) | not measured
COEFFICIENT_POLISHED = 1500
# of a search at a fixed coefficient, before others have their turn | nodes | [1, inf) | not measured
COEFFICIENT_FIRST_NODES = 256

# [shared_proof] Proofs of such mixtures.

# of its tolerance that the search keeps back | part | (0, 1) | argument: above COEFFICIENT_PROOF_LACK
COEFFICIENT_PROOF_RESERVE = 0.05
# of the tolerance, that a proof at a fixed coefficient may lack of what the search has proved there | part |
# (0, 0.05) | not measured
COEFFICIENT_PROOF_LACK = 0.02
# values that a proof may leave out one after the other | values | [1, inf) | not measured
COEFFICIENT_PROOF_REACH = 16
# of the time, for the search; the rest is for proofs | part | (0, 1) | not measured
COEFFICIENT_PROOF_SHARE = 0.5
# at proofs that the time was too short for, each with an equal part of what is left | turns | [1, inf) | not measured
COEFFICIENT_PROOF_TURNS = 2

# [hull_record] Limits of proofs in the hull of means (VH1).

# that the first prices lose, by which a component may save more than the incumbent's, tried one after the other | part
# | (0, 1) | not measured
HULL_OF_LOST = (0.05, 0.3)
# of the time that is left, for the search there | part | (0, 1) | not measured
HULL_ALONE_FOR_SEARCH = 0.5
# of the time that is left, for the search | part | (0, 1) | not measured
HULL_FOR_SEARCH = 0.3
# until what nothing else proves is to have been shown, maybe after the time limit | part of the time that is left |
# [1, 2) | argument: a quarter of the time limit more, for all that the search has found
HULL_LATEST = 1.25
# and until the checker's arithmetic is to have shown what was found, where that is not all: others have the rest | part
# | (0, 1) | not measured
HULL_UNTIL_SHOWN = 0.6
# above what shells show | relative | (0, 1) | argument: shells of other radii differ by less, and by rounding
HULL_MORE = 1e-9
