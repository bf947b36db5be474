"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [biconvex] Biconvex problems (V9).

# of a proof's tree | boxes that wait | [1, inf) | not measured
BICONVEX_DEPTH = 100_000
# of a solution; searches keep to 1e-8 | relative | (0, 1e-6] | not measured
MOST_VIOLATION = 1e-6

# [biconvex, certificate, hyperbolas] What multipliers prove (V9), and tangents (V11).

# of a table of factors, or of the boxes that wait | numbers | [1, inf) | argument: half a gigabyte of memory
TABLE_NUMBERS = 2**26

# [certificate] What multipliers prove (V9).

# of the factors that one certificate multiplies | numbers | [1, inf) | argument: a gigabyte of memory
CERTIFICATE_NUMBERS = 2**24

# [hyperbolas] Tangents (V11).

# of a proof | tangents | [1, inf) | argument: some seconds
MOST_TANGENTS = 2**16

# [file] The format (V1).

# of a proof's arrays | bytes | [1, inf) | argument: memory; a small archive may hold many zeros
MOST_BYTES = 2**30

# [functions] Functions of one variable (XF3).

# of values, and of extremes beside lines, that are not computed again | entries | [0, inf) | not measured
REMEMBERED = 2**16
# of the decimals that enclose what is computed | digits | [20, inf) | argument: some more than the 17 of doubles, to
# which ends are rounded outward
DIGITS = 28

# [problem] Gamma columns (VF6).

# of a proof's problem | none | (0, 1e100) | argument: far above one over the square of any coefficient of variation
LARGEST_SHAPE = 1e10
# of which there are logarithms and quotients | the user's | [1e-300, 1) | argument: as in the models
LEAST_AMOUNT = 1e-300

# of counts and of trials in a regression (JC4) | none | [1, 2**53] | argument: their differences are exact
LARGEST_COUNT = 2.0**53

# [gamma] Shapes (VF6).

# from which on there is Stirling's series | shape | [1, 100] | argument: five terms leave less than a rounding error
STIRLING = 16.0
# to the best shape of a spread | steps | [1, 100] | argument: each leaves at most a fifth of the error
SHAPE_STEPS = 14
# of a shape's inverse, up to which a derivative says something | part | (0, 1/8) | argument: (O3)
NEAR = 0.12

# [clustering] k-means (V10).

# of a proof's tree | boxes that wait | [1, inf) | not measured
CLUSTERING_DEPTH = 10_000

# [clusterwise] Clusterwise least squares (VF3).

# of a proof's tree | nodes that wait | [1, inf) | not measured
CLUSTERWISE_NODES = 100_000
# of one search | boxes | [1, inf) | not measured
CLUSTERWISE_BOXES = 20_000_000
# through the coefficients, for the top of a quadratic | sweeps | [0, inf) | not measured
CLUSTERWISE_SWEEPS = 4

# [savings, clusterwise] The most that one cluster saves (V10), (VF3).

# of one search | boxes | [1, inf) | not measured
MOST_BOXES = 20_000_000
# boxes times groups times columns at a time | numbers | [1, inf) | not measured
SAVINGS_NUMBERS = 1_000_000

# [matrices] Boxes of matrices (V3).

# of a box of matrices, up to which its corners are looked at one by one | entries | [1, 20] | argument: there are two
# to their number
MOST_VERTICES = 6

# [covariance] Costs of covariance matrices (V3).

# up to which the corners of a box of means are looked at one by one | columns | [1, 20] | argument: there are two to
# their number
MOST_CORNERS = 6
# of margins, each twice the one before, for a factor that must be large enough | tries | [1, inf) | not measured
MOST_TRIES = 40

# [blocks] Blocks of columns (VB1).

# that a column counts in a block, at most | times | [1, 2**30] | argument: more would be of no use
MOST_COPIES = 2**20

# [families] Cells of families (V3).

# of `Posterior.tightened`, at most | sweeps | [0, inf) | not measured
POSTERIOR_SWEEPS = 40

# [matrices] Cells of matrices (V3).

# what is added to a variance of a second column | F_11 | (0, inf) | argument: any positive number would do
RIDGE = 0.1
# of steps that cut a cell, each by what the others left | sweeps | [0, inf) | not measured
CELL_SWEEPS = 4

# [leaf, objective] Sums of costs (V4), (V6).

# of one sample's cost: beyond, errors of logarithms are not proportional to it | nats | (0, 0.5] | argument: what is
# derived for errors of logarithms holds up to here
LARGEST_ERROR = 0.5

# [leaf] What a leaf's functions bound (V4).

# leaves times samples times components in one piece of work | numbers | [1, inf) | argument: what a cache holds
LEAF_NUMBERS = 100_000
# whose terms are summed in one go | samples | [1, inf) | not measured
BLOCK = 4096

# [prices] What prices prove (V5).

# cells times samples in one piece of work | numbers | [1, inf) | not measured
PRICES_NUMBERS = 400_000
# looked up together: neighbours meet the same cells | leaves | [1, inf) | not measured
LEAVES = 32
# of cutting: what one component loses lets the others lose more | turns | [0, inf) | not measured
MOST_TURNS = 40
# of a proof's scales, in size | nats | (0, inf) | not measured
MOST_SCALE = 1e4

# [regressions] The box of all fits, and cells (J5).

# sets of as many samples as there are coefficients, of which fits are made | sets | [1, inf) | argument: some minutes
MOST_SETS = 20_000_000
# of those that need fractions | sets | [1, inf) | argument: some 10 s
MOST_EXACT_SETS = 200_000
# at a time | sets | [1, inf) | not measured
SETS = 20_000
# cells times regressors in one piece of work | numbers | [1, inf) | not measured
REGRESSION_NUMBERS = 200_000

# [counts] Regressions of counts (JC4).

# of which there is an exponential | linear predictor | (0, 700] | argument: the largest is e^709
LARGEST_PREDICTOR = 690.0
# cells times rows in one piece of work | numbers | [1, inf) | not measured
COUNT_NUMBERS = 200_000

# [shared_ranges, shared_counts] Blocks of samples that rule out values of a coefficient (JS4).

# of all blocks | sets of samples | [1, inf) | argument: some seconds
MOST_CONTRASTS = 20_000
# of a set's multiplier, of the largest that there is: each gives a line below its cost | part | (0, 1) | not measured
MULTIPLIERS = (0.1, 0.4, 0.8, 0.99)

# [verify] The check of a proof (V6).

# to which logarithms of probabilities are cut, and their negatives | nats | [-700, 0) | argument: their exponentials
# are normal doubles
LEAST_LOG_WEIGHT = -600.0
# whose bounds are worked out at a time | leaves | [1, inf) | not measured
MOST_LEAVES = 4096

# [within] The least variance within K groups (V3).

# along each side of a face, by columns; of more there are too many directions | boxes | [1, inf) | not measured
BOXES = {2: 128, 3: 16}
# of a direction | bins | [2, inf) | not measured
N_BINS = 64
# in one piece of work | numbers | [1, inf) | not measured
WITHIN_NUMBERS = 2_000_000

# [hull, hull_bounds, hull_cells, hull_corners] Components in the hull of their means (VH1).

# of the scale of a bound | turns | [1, 100] | not measured
HULL_TURNS = 5
# of a turn, that what is missing may be: else no other follows | times what it has gained | (0, inf) | not measured
SLOW_TURNS = 1.0
# squares of a matrix, for its largest eigenvalue | squares | [1, 30] | argument: of 64 columns 1 % above it at most
SQUARINGS = 8
# of the masses of samples that are in, that others may differ by in a shell | part | (0, 1) | not measured
LARGEST_SHIFT = 0.5
# in which the bend of precisions is told | parts of a range | [10, inf) | argument: each has a bound (Y7)
BENDS = 400
# of the first shell | standard deviations | (0, inf) | not measured
LEAST_RADIUS = 1e-5
# of the largest | standard deviations | (0, inf) | not measured
MOST_RADIUS = 8.0
# ratio of the radii of a shell, at most | factor | (1, inf) | not measured
WIDEST = 1.5
# of the ratio's logarithm, after a shell that has succeeded | factor | [1, 2] | not measured
WIDENED = 1.4
# at least | factor | (1, inf) | not measured
THINNEST = 1.01
# of the way to the nearest other mean, that shells are followed | part | (0, 1) | not measured
PART_OF_THE_WAY = 0.75
# ranges of log s to begin with | of the precision's logarithm | (0, inf) | not measured
RANGE = 0.4
# shells and ranges that are not divided any more | standard deviations of a component's samples | (0, inf) | not
# measured
THIN = 0.4
# of tables, up to eight standard deviations and beyond | shells | [1, inf) | not measured
SHELLS = (24, 8)
# that are bounded at a time | cells | [2, inf) | not measured
HULL_BATCH = 512
# of one check | cells | [1, inf) | not measured
MOST_HULL_CELLS = 1_000_000
# of one check | samples in cells | [1, inf) | argument: a quarter of an hour
MOST_HULL_TERMS = 2_000_000_000
# what is asked for, times that: a bound above it is not improved | factor | (1, inf) | not measured
HOPELESS = 3.0
# y of samples that count as of minus that in masses | nats below 0 | (0, inf) | not measured
OUT = 20.0
# of tables, at most 0 | logarithms | (-700, 0] | not measured
LOG_SCALES = (-10.0, -7.0, -5.0, -4.0, -3.5, -3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0)
# that prices are raised by at the corners of a cell, at most, which is bounded by these | nats | [0, inf) | not
# measured
MOST_RAISED = 1.6
# of which a draft consists, that says whether all samples are asked about a cell | samples | [1, inf) | not measured
OF_DRAFT = 2_000
# what is asked for, times that: of a cell whose draft says more they are not | factor | (0, inf) | argument: a draft's
# sums are off by a few of a hundred
DRAFTED = 1.1
# that take as long as what does not depend on their number | samples of a cell | [0, inf) | not measured
CALL = 5_000
