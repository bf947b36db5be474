"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [covariance] Covariance matrices and their floors.

# by which a given covariance may be below the floor, or not symmetric, or its kind's matrices not equal | relative |
# (0, 1e-3) | argument: users' fits are rounded
FLOOR_TOL = 1e-9
# range of a column over the root of its floor beyond which a full matrix may have no Cholesky factor in floats | factor
# | [1, 1e7] | argument: u times its square is 1e-4
MOST_FLOORS = 1e6
# excess over the floor of the variances of columns in a matrix, whose directions need not be those of the columns,
# which counts as on it | relative | [0, 1] | not measured
NEAR_FLOOR = 0.05
# up to which matrices are solved for | columns | [1, 32] | argument: `families/matrix` takes no more
MOST_COLUMNS_OF_MATRICES = 32

# [gamma] Gamma components.

# least coefficient of variation of a component, unless the user says otherwise | standard deviations over means |
# [1e-4, 1e4] | argument: that of measurements with an error of 5 percent
CV_FLOOR = 0.05
# of Newton's method for shapes, which starts within 2 percent | steps | [4, inf) | argument: digits double
NEWTON_STEPS = 12

# [multinomial] Rows of counts.

# of a sparse matrix that is made dense | numbers | [1, inf) | argument: 80 MB, of which a search holds a few copies
MOST_DENSE_ENTRIES = 10_000_000

# [covariance, gamma, gaussian_notes, regression] Variances on their floor.

# excess over the floor that rounding may leave of a variance on it | relative | (0, 1e-2) | not measured
ON_FLOOR = 1e-6

# [floors] The default floor (A6).

# of a column's standard deviation below which no component's may fall, unless the user says otherwise or local fits
# come near it | part | (0, 1) | argument: what it costs is measured by bench/floors.py
FLOOR_SHARE = 0.05
# where all columns are constant | squared units of X | (0, inf) | argument: what scikit-learn adds to every variance
CONSTANT_FLOOR = 1e-6
# from which equal distances show a resolution: those of three are equal too easily | distinct values | [3, inf) | not
# measured
FEWEST_VALUES = 4
# of the noise, for a resolution | factor | [1, inf) | not measured
LEAST_STEP = 1000.0
# that distances may be away from multiples of a resolution | part of it | (0, 0.5) | not measured
OFF_STEP = 0.05
# of the standard deviation, up to which steps do not matter, whatever local fits come to | part | (0, 1) | not measured
LEAST_STEP_SHARE = 1e-4
# that mostly tell already that the resolution is too fine to matter | values | [1, inf) | not measured
SAMPLE = 2000

# [local_fits, floors] How narrow sound local fits are (A6).

# times the floor is the least variance of a sound component, or more | factor | [1, inf) | argument: what it costs is
# measured by bench/floors.py
ABOVE_FLOOR = 4.0

# [local_fits] Local fits.

# the same where the steps of columns make the floor | factor | [1, inf) | not measured
ABOVE_STEPS = 2.0
# of k-means and EM | starts | [1, inf) | not measured
N_STARTS = 4
# of k-means from each start | steps | [0, inf) | not measured
MOST_LLOYD = 10
# of EM from each start | steps | [1, inf) | not measured
MOST_EM = 60
# that a step of EM gains at least, unless it is the last | nats per unit of weight | (0, 1) | argument: scikit-learn's
# `tol`
GAIN = 1e-3
# variances that a run of EM may reach | those within the clusters that it starts from | (0, 1) | not measured
LEAST_SHARE = 1e-6
# rows that have less take no part | of the greatest weight | [0, 1) | not measured
LEAST_WEIGHT = 2.0**-128
# that a component's responsibilities amount to, if it is sound: on fewer its variances are those of the choice of its
# rows; of a matrix in d columns twice the d + 1 that it needs to be regular | distinct rows | [1, inf) | not measured
LEAST_ROWS = 6
# of one column that hold HELD of a component make it a spike there, however many rows have them | values | [1, inf) |
# not measured
MOST_VALUES = 3
# of a component, by MOST_VALUES values of one column | part | (0, 1] | not measured
HELD = 0.99

# [row_sample] Rows that local fits are made of.

# in a sample | distinct rows | [1, inf) | not measured
MOST_ROWS = 2048
# that are looked at together | rows | [1, inf) | not measured
ROWS_AT_ONCE = 65_536

# [gaussian] Gaussian mixtures.

# below it variances have too few digits, or none, once a posterior's or a product is formed | squared units of X |
# [1e-307, 1) | argument: the least normal double is 2e-308
LEAST_VARIANCE = 1e-300

# [gaussian_closed_form] One Gaussian component (F11).

# errors of eigenvalues from which on a covariance may be below the floor | units of the floor | (0, 1e-9) | argument:
# half of `FLOOR_TOL`
LOOSEST = 5e-10
# the same where no eigenvalue is near the floor | units of the floor | (0, 1) | argument: the least eigenvalue is twice
# the floor then
LOOSEST_ABOVE = 1e-3

# [gaussian_notes] What a reader of a result should know.

# in a note | columns | [1, inf) | not measured
MOST_COLUMNS_SHOWN = 5
# ratio of the squares about the fitted means to a known variance, or its inverse, from which a note asks for the unit |
# factor | (1, inf) | argument: clusters of 30 standard deviations are not what anybody calls components
MOST_SPREAD = 1000.0
# distance of an estimate from its bound at which it counts as on it | relative to the bound | [0, 1) | not measured
ON_BOUND = 1e-9
# beyond which the bounds of one matrix for each component seldom close | columns | [0, inf) | not measured
MOST_COLUMNS_CLOSED = 2

# [large] Data in chunks.

# of a grid, which summarises them | columns | [1, 3] | argument: cells of a grid in more columns hold few samples each
MOST_GRID_COLUMNS = 3

# [latent_class_fit] What is reported.

# in a result's text | items | [1, inf) | not measured
MOST_ITEMS_SHOWN = 20

# [closed_form] Exact sums.

# summed at a time; the blocks are summed exactly | rows | [1, 64] | argument: `ERROR` counts out 64 of them
BLOCK = 64

# [exponential, gamma] Positive amounts.

# one over a smaller number is out of range | the unit of X | [1e-307, 1) | argument: the greatest double is 2e308
LEAST = 1e-300
# of data: those of a wider range cannot be scaled to it | decades | [1, 150] | argument: their squares, and what they
# are divided by, would be out of range
MOST_DECADES = 140

# [exponential] Waiting times.

# in a figure | relative to the largest | (0, 1) | not measured
LEAST_DRAWN = 1e-6

# [log_gamma] Normalisers (R6).

# from which on the series of `_rest` ends below 1e-17, and up to which log Gamma is below 28 | its argument | [16, inf)
# | argument: the series' first term that is left out
LARGE = 16.0
# below which a deviance is summed as a series: the ratio of its terms is the square of this | relative difference | (0,
# 0.3] | argument: 0.3^2 to the power 16 is below u
NEAR = 0.3
# of the series | terms | [16, inf) | argument: 0.3^2 to the power 16 is below u
N_TERMS = 16

# [regression] Regressions.

# share of the residual standard deviation of one regression below which no component's may fall by default | part |
# (0, 1) | argument: as of Gaussian mixtures, (A6)
REGRESSION_FLOOR_SHARE = 0.05
# residuals of one regression that are rounding | relative to the largest response | (0, 1) | argument: far above u
REGRESSION_EXACT = 1e-10
# singular values of the scaled regressors from which on they count as independent | relative to the largest | (0, 1) |
# argument: of less, coefficients would have lost ten digits
DEPENDENT = 1e-10

# [regression_starts] Starts of regressions.

# short runs of EM from random lines | runs | [1, inf) | not measured
N_RANDOM = 24
# from splits of a fit's residuals | runs | [0, inf) | not measured
N_SPLIT = 12
# that go on | runs | [1, inf) | not measured
N_LONG = 3
# of a short run | steps | [1, inf) | not measured
SHORT_STEPS = 12
# of a long one | steps | [1, inf) | not measured
LONG_STEPS = 100
# of which these are made, at most | samples | [2, inf) | not measured
REGRESSION_MOST_SAMPLES = 2000
# of the nearest regression in a sample's responsibilities at the start | part | (0, 1] | not measured
NEAREST_SHARE = 0.9

# [count_fits, regression, shared_coefficients] Regressions of all kinds.

# weight of all samples in a component's fit: coefficients that its own leave open are determined | of its own |
# (0, 1) | argument: any positive weight does, (J1)
REGRESSION_RIDGE = 1e-12

# [shared_coefficients, regression] A coefficient that all components share.

# of coefficients and variances in turn, in one step of EM | turns | [1, inf) | argument: EM goes on anyway
JOINT_CYCLES = 3
# by which components may differ in what they share | relative | (0, 1) | argument: far above a rounding
SAME_COEFFICIENT = 1e-9

# [count_regression] Regressions of counts.

# what a count of 0 is taken to be by default | counts | (0, 0.5) | argument: changes a likelihood by a millionth of the
# linear predictors of zeros, and leaves the box of all fits small
LEAST_COUNT = 1e-6
# of a sample's linear predictor from that of its count, where nothing but the least count holds it | nats | (0, inf) |
# not measured
HELD_BELOW = 2.0

# [count_fits] Their fits.

# of Newton's method for a fit | steps | [1, inf) | argument: each halves what is missing far from the optimum
COUNT_STEPS = 50
# of a step | halvings | [1, 1000] | argument: from then on a step is rounding
COUNT_HALVINGS = 40
# of what the quadratic model promises, that a step must gain | part | (0, 0.5) | argument: Armijo's rule
COUNT_GAIN = 1e-4
# what a step must promise to be taken | nats per unit of mass | (0, 1) | argument: below what rounding costs
COUNT_SOLVED = 1e-13
