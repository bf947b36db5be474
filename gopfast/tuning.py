"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [arguments] The command's arguments.

# of the command, by default | seconds | (0, inf) | not measured
TIME_LIMIT = 60.0
# of a choice, from `-k 1:100` | numbers of components | [1, inf) | not measured
MOST_SIZES = 100
# of a choice, by default | nats | (0, inf) | argument: as of `gopfast.select`
SELECT_EPSILON = 1e-4

# [binary] Files that the command reads.

# of an array; more are read in chunks where that is possible | rows | [1, inf) | not measured
MOST_IN_MEMORY = 1_000_000

# [certificate, restart] Certificates.

# of epsilon that the search leaves open | part | (0, 1) | argument: a fit this close to the search's own best needs no
# second search
SEARCH_SHARE = 0.9

# [certificate] Certificates of fits.

# where the objective of k-means is 0, which proves itself | squared units of X | (0, 1e-200) | argument: the tolerance
# must be above 0
LEAST_EPSILON = 1e-300

# [checks] Arguments.

# by which weights on the simplex may miss their sum | none | (0, 1e-3) | argument: they are sums of n rounded terms,
# and anything further off is a mistake of the caller
SIMPLEX_TOL = 1e-8

# [cli] The command.

# between two lines of progress | seconds | (0, inf) | not measured
LIVE_INTERVAL = 0.1

# [data] Data in chunks.

# of a Parquet file's end that are read at first | bytes | [8, inf) | not measured
EDGE = 1 << 16

# [monitor] Progress.

# samples times columns times components from which the first local search, and a batch, may take seconds | numbers |
# [0, inf) | not measured
WATCHED_FROM = 100_000

# [options] Arguments of `gopfast.solve`.

# connected variables up to which all combinations of bounds are looked at | variables | [1, 30] | argument: 4096
# relaxed dual subproblems per node
MOST_ORTHANT_VARIABLES = 12
# that may be asked for | threads | [1, inf) | not measured
MOST_THREADS = 1024
# default of `checkpoint_every` | seconds | (0, inf) | not measured
CHECKPOINT_EVERY = 60.0

# [certificate] Defaults.

# default of `epsilon`, for mixtures | nats | (0, inf) | not measured
EPSILON = 0.01

# [outlook] When a search is ended before its limit.

# a search that takes less is never ended early | seconds | [0, inf) | argument: so long nobody minds to wait
FIRST = 10.0
# of the time limit, before which a search is not ended early, and of the time spent, which the pace is of | part |
# (0, 1) | not measured
SHARE = 0.5
# of the time since the first bound of what is learnt beside the tree, before its pace is looked at: blocks of columns
# gain one after the other | part | (0, 1) | docs/notebook/many_columns.md
LEARNT_SHARE = 0.25
# of the time limit, in which what is learnt beside the tree is to have a bound as good as the tree's | part | (0, 1) |
# docs/notebook/many_columns.md
FIRST_BOUND = 0.75
# than the gap of the search, from which on that of what is learnt is worse | relative | [0, inf) | argument: rounding
# of two differences of the same numbers
WIDER = 1e-9
# the same, in which that bound is to show a pace | part | (0, 1) | not measured
TRIAL = 0.1
# in that part: of fewer the next may tell more | reports | [2, inf) | not measured
FEWEST = 5
# the time limit, which the next factor of ten of the gap may take | times | [0, inf) | argument: who waits for so long
# sets a longer limit
PATIENCE = 10.0

# [parallel] Many independent tasks.

# that may be asked for | processes | [1, inf) | not measured
MOST_JOBS = 1024

# [classification, figures, plot] Figures.

# of last to first time, from which on the axis is logarithmic: a linear one hides the start | factor | (1, inf) | not
# measured
LOG_TIME_RATIO = 30.0
# shorter searches are drawn in milliseconds | seconds | (0, inf) | not measured
SHORT = 0.1
# of a figure | samples | [1, inf) | not measured
MOST_POINTS = 20_000
# of a density | points | [2, inf) | not measured
GRID_POINTS = 800
# components of less weight are not drawn: nothing of them would be seen | weight | [0, 1) | not measured
LEAST_WEIGHT = 1e-6
# below which an interval is drawn as one line | of the axis | [0, 1) | not measured
THIN = 0.005

# [classification] Figures of pairs.

# of a figure of all pairs | columns | [2, 6] | argument: of one there are none
FEWEST_COLUMNS = 2
# of the same | columns | [2, 12] | argument: more panels cannot be read on a page
MOST_COLUMNS = 6

# [report] Progress of searches.

# of the thread that watches searches | seconds | (0, inf) | not measured
LEAST_WAIT = 1e-3

# [restart] Restarts of local methods.

# of each process between two looks at whether there are enough | restarts | [1, inf) | not measured
RESTARTS_AT_ONCE = 4
