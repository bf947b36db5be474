"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [slices] What is looked for in all directions.

# of the time, that making phi higher takes at most | part | (0, 1) | not measured
REFINING = 0.4

# [shared] A parameter that components share, fixed at a few values: lines.

# where phi is less than the cost, so that a proof is not to be expected | lines | [2, inf) | not measured
MOST_LINES = 60
# by which slopes differ there at least | relative | (0, 1) | not measured
APART = 0.05
# of a line's search | nodes | [1, inf) | not measured
LINE_FIRST_NODES = 128
# a line's search goes on where it lacks this part of what is missing, else there is a new line | part | (0, 1) |
# not measured
SOLVING = 0.5
# lines whose slopes differ by less are one | relative | (0, 1) | not measured
SAME = 1e-7
# a line's search goes on before there are others while it lacks this part of the most that R can be | part | (0, 1) |
# not measured
LINE_VAGUE = 0.1
# than the steepest line, a new one is no steeper by more | factor | (1, inf) | not measured
FARTHEST = 3.0

# [shared, known_covariances] Searches of mixtures in which the parameter is fixed.

# of the tolerance, to which mixtures of fixed parameter are solved | part | (0, 1) | not measured
EXACT = 0.125

# [shared, rough_search] The same.

# of the time that is left, which a search may take before another has its turn | part | (0, 1] | not measured
TURN = 0.2

# [known_covariances, estimates] Solutions of mixtures of known covariance.

# of EM, beside a known solution | starts | [0, inf) | not measured
N_STARTS = 2

# [known_covariances] Searches of mixtures of known covariance.

# of the search behind a vertex | nodes | [1, inf) | not measured
VERTEX_FIRST_NODES = 64
# it goes on at first while it lacks this part of the most that R can be | part | (0, 1) | not measured
VERTEX_VAGUE = 0.02
# and has not taken so many | nodes | [1, inf) | not measured
MOST_FIRST_NODES = 1024
# of all simplices | vertices | [4, inf) | argument: their searches take half a megabyte each where samples are few
MOST_VERTICES = 2_000
# of all vertices' searches | samples | [1, inf) | argument: their memory, more where samples are many
MOST_SAMPLES = 4_000_000

# [known_covariances, factors] Which of them goes on.

# that going on takes at least as long as | nodes | [1, inf) | not measured
LEAST_COST = 250
# by which a search has told a good part of what is missing, if it does not take many times as many | nodes | [1, inf) |
# not measured
EARLY = 1000

# [simplices] Values in simplices of matrices.

# of the polygon around the cone of matrices: a triangle, for few vertices | corners | [3, 64] | not measured
RING = 3
# a point is taken into a simplex where no barycentric coordinate is below | none | (0, 0.3) | not measured
WITHIN = 1e-3
# which take as long as a split: mostly for the search behind the new vertex | nodes | [1, inf) | not measured
NODES_OF_A_SPLIT = 5000
# of an edge, the least that a split leaves | part | (0, 0.5] | not measured
MIDDLE = 0.1

# [slices] Mixtures in which a parameter is fixed; bounds in all directions.

# from which on their searches have summaries | samples | [0, inf) | argument: fewer have prices of their own
SUMMARISED_FROM = 20_000
# of the least variance found, to which it is looked for | part | (0, 1) | not measured
CLOSER = 0.95
# by so many splits per column | splits | [0, inf) | not measured
MORE_DIRECTIONS = 3000
# in which the least variance over all directions is looked for | columns | [1, 32] | not measured
MOST_SCATTERED = 6
# of two columns, from which on a matrix has cells of its factor in place of simplices | samples | [1, inf) |
# docs/notebook/shared_parameters.md
FACTORED_FROM = 64
# of two components, from which on what is between them has cells in place of exact lines, by columns | samples |
# [1, inf) | docs/notebook/shared_parameters.md
PAIRED_FROM = {3: 200, 4: 3_000, 5: 3_000}
# with which it is looked for | samples | [1, inf) | argument: a direction takes a millisecond
MOST_REFINED = 20_000
# parts of so many samples, at most | parts | [1, inf) | argument: a part takes a seventh of a second in three columns
MOST_PARTS = 10

# [barycentric] Where a function is least in simplices, by Newton's method on a barrier; any place bounds (T7).

# of Newton's method | steps | [1, inf) | not measured
N_STEPS = 40
# weight of the barrier, at first | units of the function | (0, inf) | not measured
FIRST = 1.0
# the same at last | units of the function | (0, inf) | not measured
LAST = 1e-8
# from one weight to the next | factor | (0, 1) | not measured
SHRINK = 0.2
# of a step | steps | [1, inf) | not measured
N_HALVINGS = 12
# of a step that gains too little | factor | (0, 1) | not measured
HALVING = 0.4
# of the way to a face | part | (0, 1) | not measured
BOUNDARY = 0.95
# of the decrease that a step promises, the least that it must make | part | (0, 0.5) | not measured
DECREASE = 1e-4
# Newton decrement at which the weight falls | the barrier's weight | (0, inf) | not measured
ENOUGH = 0.5
# by which a step may seem to lose | units of the function | (0, 1) | argument: rounding of the function; nothing that
# is proved rests on it
ROUNDED = 1e-12
# of the middle in what is tried as a start, the rest is one vertex | part | (0, 1] | not measured
STARTS = (1.0, 0.5, 0.02)

# [factors] Cells of a Cholesky factor, and searches.

# of what the least cell lacks, that the function itself lacks where a search is asked for | part | (0, 1] |
# docs/notebook/shared_parameters.md
ASKING = 0.5
# searches whose precisions differ by less are one | relative | (0, 1) | not measured
SAME_PRECISION = 1e-6
# of all that is missing, the part from which on what a search lacks is worth more of it | part | (0, 1) | not measured
FINE = 0.25
# largest eigenvalues of precisions at which searches are made, the first that says enough | that of the incumbent's |
# (0, inf) | docs/notebook/shared_parameters.md
STEEPEST = (0.25, 0.5, 1.0, 2.0, 4.0)
# the same of searches that lose as little as may be | that of the incumbent's | [1, inf) | not measured
EXACTLY = 2.0
# by which a search is to say more than is asked for | part of what is missing | (0, inf) |
# docs/notebook/shared_parameters.md
AIMED = 0.5
# and at least | nats per unit of weight | (0, inf) | docs/notebook/shared_parameters.md
LEAST_AIMED = 0.5
# a flatter precision is tried where one says so much more | factor | (1, inf) | not measured
MOST_AIMED = 1.1
# after which a search is made where cells do not close, though enough is said at their point | cells | [1, inf) |
# argument: they take as long as a search
CELLS_A_SEARCH = 1_500
# after which directions are looked for along which a matrix is too narrow, where one was found | cells | [1, inf) |
# argument: they take as long as a direction of 100,000 samples
CELLS_A_DIRECTION = 30
# along a direction, than any matrix that there is, from where on cells are told | factor | (1, inf) |
# docs/notebook/shared_parameters.md
NARROWER = 1.3
# by which it is seen first whether a direction is worth a pass over all, about as many | samples | [1000, inf) |
# argument: a tenth of a millisecond each
DIRECTED_BY = 10_000
# what these must tell | part of what all must | (0, 1] | argument: they are a few percent off
NARROWER_BY_FEW = 0.95
# by which it is to say more there than is known | nats per unit of weight | (0, inf) |
# docs/notebook/shared_parameters.md
SHARPER = 0.25
# eigenvalue of a precision, at least, where a search is asked for | that of all samples' | (0, 1] | argument: cells
# rule out wider matrices up to a few thousandths
FLATTER = 0.9
# of searches of multiples of the unit matrix, before there are cells | steps | [1, inf) | not measured
N_LINES = 2
# of samples of two components, beyond which lines come before cells, and go on until they end | columns | [1, 8] |
# docs/notebook/shared_parameters.md
MOST_PAIRED = 4
# a search that has raised its bound by less, when it last went on, is left | part of what it lacks | (0, 1) |
# docs/notebook/shared_parameters.md
STALLED = 0.1

# [rough_covariances] Searches that may lose something.

# that a search may lose, of what is missing | part | (0, 1) | docs/notebook/shared_parameters.md
ROUGHLY = 0.02
# of that part, once it has turned out to be too much | factor | (0, 1) | not measured
SPARED_LESS = 0.25
# prices of all samples are carried over to a precision that differs by less | relative | (0, inf) |
# docs/notebook/shared_parameters.md
LIKE = 1.0
# what a mean of them is off by whatever their matrices are | part of what the nearest is away, squared | (0, inf) |
# docs/notebook/shared_parameters.md
LIFTED_AS_ONE = 0.1
# that are kept, of the last searches | prices of all samples | [1, inf) | docs/notebook/shared_parameters.md
N_LIFTED = 8
# nats, below which it may lose nothing | nats | (0, inf) | docs/notebook/shared_parameters.md
LEAST_ROUGH = 0.1

# [factors] Searches that may lose something.

# a search that may lose something begins anew where it might lose so much less | factor | (0, 1) | not measured
FINER = 0.25

# [estimates] Optima of some of the samples.

# about as many | samples | [100, inf) | not measured
ESTIMATED_BY = 2_000
# of EM, after a local search | steps | [1, inf) | not measured
REFITS = 3

# [rough_search] Prices alone of a mixture in which the parameter is fixed.

# that it counts as, where searches are compared | nodes | [1, inf) | argument: a search takes as long for its prices
AS_NODES = 64
# that prices may lose, whatever is asked for | nats per unit of weight | (0, inf) | docs/notebook/shared_parameters.md
MOST_LOST = 3.0
# above what is asked for, to which nothing is spared | nats per unit of weight | [0, inf) | argument: an optimum is
# estimated of 2,000 samples, which is off by a standard deviation of their costs over 45
VAGUELY = 0.05

# [rough_search, rough_covariances, gathered] What is asked of searches.

# of what an optimum is above what is asked for, that a search may lose | part | [0, 1) |
# docs/notebook/shared_parameters.md
SPARED = 0.2

# [rough_covariances, gathered, gathered_known] What gathering counts as.

# that gathering samples and the search of their groups counts as, beside its terms | passes | [0, inf) | argument: it
# takes some fifty milliseconds of 100,000 samples and 5,000 groups
AS_PASSES = 20

# [gathered] Groups of samples in place of samples.

# from which on they are gathered | samples | [1, inf) | not measured
GATHERED_FEWEST = 5_000
# up to which they are | samples | [1, inf) | argument: gathering takes half a second
GATHERED_LARGEST = 4_000_000
# groups of so many samples, at most | part | (0, 1] | not measured
GATHERED_MOST = 0.5
# of what a search may lose, what groups may | part | (0, 1) | not measured
GATHERED_SHARE = 0.5
# of a group, one after the other until one loses no more | units of the known covariance | (0, 1) | not measured
GATHERED_VARIANCES = (0.25, 0.15, 0.1, 0.07, 0.05, 0.035, 0.025, 0.017, 0.012, 0.008, 0.005, 0.003, 1e-3, 5e-4, 2e-4)
# from which on groups are made of smaller ones, which are made once | samples | [1, inf) | argument: of fewer there are
# not many samples in a small group
GATHERED_ONCE_FROM = 200_000
# of these | units of the incumbent's covariance | (0, 1) | docs/notebook/shared_parameters.md
GATHERED_ONCE_VARIANCE = 0.02
# that they may take of a group's variance | part | (0, 1) | not measured
GATHERED_ONCE_PART = 0.5
# of EM, by which it is estimated what is lost | steps | [1, inf) | not measured
GATHERED_STEPS = 8
# of a group's squared radius to its largest variance, up to which a factor is tabled | ratio | [1, inf) | argument:
# beyond it is taken for its value there
GATHERED_RATIO = 1e6
# of ratios | entries | [2, inf) | argument: steps of 3.5 %, which is what is lost at most
GATHERED_N_RATIOS = 400
# between which the factor's supremum is bounded, on intervals | exponents | (0, 700) | argument: outside it is in
# closed form, the first below 3
GATHERED_EXPONENTS = (0.01, 64.0)
# of intervals | exponents | [2, inf) | argument: of half a percent
GATHERED_N_EXPONENTS = 1800
# width of the first cells that are tried | root of the variance | (0, inf) | not measured
GATHERED_START = 4.8
# of the next ones | factor | (0, 1) | not measured
GATHERED_SHRINK = 0.62
# of cells that are tried | widths | [1, inf) | not measured
GATHERED_LEVELS = 6

# [gathered_known] Groups of samples in place of samples, of known variance.

# from which on there are, where | samples | [1, inf) | docs/notebook/many_columns.md
GATHERED_KNOWN_FROM = 200_000
# there are such groups, from so many to so many | columns | [1, 8] | docs/notebook/many_columns.md
GATHERED_KNOWN_COLUMNS = (4, 6)
# groups of so many samples, at most | part | (0, 1] | docs/notebook/many_columns.md
GATHERED_KNOWN_MOST = 0.1
# of a group, one after the other | units of the known variance | (0, 1) | docs/notebook/many_columns.md
GATHERED_KNOWN_VARIANCES = (0.3, 0.15, 0.07, 0.03, 0.015)
# of the tolerance, to which points are solved | part | (0, 1) | not measured
GATHERED_KNOWN_EXACT = 0.25
# smaller ones follow once a search lacks less of its optimum | part of what is missing | (0, 1) | not measured
GATHERED_KNOWN_ENOUGH = 0.05

# [noise] Entropies of samples with noise.

# from which on there is noise | samples | [1, inf) | docs/notebook/shared_parameters.md
NOISE_FROM = 50_000
# of its grid | corners | [1, inf) | argument: eight megabytes, some milliseconds
NOISE_MOST_NODES = 1_000_000
# steps of a finer grid, to whose corners samples are taken first, squared | units of the incumbent's covariance |
# (0, inf) | argument: a quarter of it is noise
NOISE_ONCE_VARIANCE = 0.06
# of a variance, in units of the grid: samples at corners have none | steps squared | (0, 1) | argument: more is no
# less true
NOISE_LEAST = 1e-3
# of the masses of its corners: without, the noise is far from normal where clusters are no wider than cells | times |
# [0, inf) | docs/notebook/shared_parameters.md
NOISE_SMOOTHINGS = 1

# [factors] Cuts of samples with noise.

# of the covariance of the matrix at which a cut is asked for, that of the noise is | factor | (0, inf) |
# docs/notebook/shared_parameters.md
NOISY = 0.5
# of the incumbent's, those that are tried first | factors | (0, inf) | not measured
NOISY_FIRST = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
# a noise like one that is known says nothing new | relative | (0, inf) | not measured
NOISY_APART = 0.5

# [labels] Labels of a solution, and samples with noise.

# from which on there is such a bound | samples | [100, inf) | not measured
LABELLED_FEWEST = 1_000
# the same of two components in three columns and more: of fewer lines say more | samples | [100, inf) |
# docs/notebook/shared_parameters.md
LABELLED_PAIRS_FROM = 20_000
# up to which there is | samples | [1, inf) | argument: a pass takes a second
LABELLED_LARGEST = 4_000_000
# eigenvalue of the covariance within labels, below which there is no such bound | the largest | (0, 1) | argument:
# units of it would be known to a millionth, and a floor is wider
LABELLED_FLATTEST = 1e-9
# of samples with noise in a grid | columns | [1, 6] | argument: beyond grids of that noise are too large
LABELLED_MOST_COLUMNS = 5
# of all labels' grids | corners | [1, inf) | argument: they take a second or two
LABELLED_MOST_NODES = 150_000_000
# the same | a sample | [1, inf) | argument: of few samples nothing narrower is of use
LABELLED_NODES_A_SAMPLE = 3_000
# of noise, one after the other | units of the covariance within labels | (0, inf) | docs/notebook/shared_parameters.md
LABELLED_VARIANCES = (0.3, 0.2, 0.14, 0.1, 0.07, 0.05, 0.035, 0.025, 0.018)
# of noise where a covariance is wide, at most, beside that of all directions | the same | (0, inf) | not measured
LABELLED_WIDE = (0.12, 0.25, 0.5, 1.0, 2.0, 4.0)
# noises in vain, after which narrower ones are not tried | noises | [1, inf) | not measured
LABELLED_IN_VAIN = 2
# times that masses of the best noise's corners are given to neighbours in finer grids | times | [1, inf) |
# docs/notebook/shared_parameters.md
LABELLED_SMOOTHER = (4, 8)
# from which on the least variance within components is looked for | samples | [1, inf) | argument: of fewer lines say
# more by then
LABELLED_LOOKED_FROM = 4_000
# per column and label, in which the least variance within components is looked for | directions | [0, inf) |
# docs/notebook/shared_parameters.md
LABELLED_MOST_DIRECTIONS = 2_000
# the same, samples times directions | terms | [0, inf) | argument: a second
LABELLED_MOST_TERMS = 40_000_000
# of an eigenvalue: what it is hoped to be found | units of the covariance within labels | (0, 1) | argument: half of
# the least variance within three groups of a normal cluster
LABELLED_NARROW = 0.1
# that such would gain, from where on it is looked for | part of what is missing | (0, 1) | not measured
LABELLED_WORTH = 0.1
# of components, for which it is | components | [1, inf) | argument: more cut a cluster so small that directions are too
# many
LABELLED_MOST_GROUPS = 4
# at a time, where labels are looked at | samples | [1, inf) | argument: some megabytes
LABELLED_CHUNK = 65_536
# by which slopes are chosen, about | samples | [100, inf) | argument: a mean over them is off by a hundredth of it
LABELLED_SAMPLE = 20_000
# of the labels' logarithms of shares given a sample with noise, that are tried | the normal distribution's | (0, inf) |
# not measured
LABELLED_SLOPES = (0.5, 0.7, 0.9, 1.1)

# [labels] Boxes of eigenvalues.

# missing, up to which they are of use | nats per unit of weight | (0, inf) | docs/notebook/shared_parameters.md
SPECTRA_FROM = 0.6
# that there are, at most | boxes | [1, inf) | docs/notebook/shared_parameters.md
SPECTRA_MOST_BOXES = 60_000

# [spectra] Boxes of eigenvalues.

# that are divided at once | boxes | [1, inf) | not measured
SPECTRA_AT_ONCE = 2_000

# [coefficients] Between two values of a coefficient that all components share.

# by which a slope is found that bounds best | halvings of its logarithm | [1, inf) | argument: any slope bounds (JS3),
# and a thousandth of the best one off loses a millionth
N_BISECTIONS = 20
# a slope that is tried | parts of the steepest | (0, 1) | argument: the loss of a billion standard deviations
FLATTEST = 1e-18

# [far_coefficients] Values of it that are ruled out without a search.

# of all blocks | sets of samples | [1, inf) | argument: a tenth of a second
MOST_CONTRASTS = 2_000
# of a set's multiplier, of the largest that there is: each gives a line below its cost | part | (0, 1) | not measured
MULTIPLIERS = (0.1, 0.4, 0.8, 0.99)
