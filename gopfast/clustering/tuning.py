"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [node] The linear program of one box of pairs, by columns.

# whose prices are found at once | samples | [1, inf) | docs/notebook/kmeans.md
FEW_PRICED = 400
# of a cluster, whose prices come before those of more | cells | [1, inf) | docs/notebook/kmeans.md
CELLS = (4, 16, 64, 256)
# whose prices are found | cells | [1, inf) | not measured
NODE_MOST_CELLS = 2000
# on average | samples | [1, inf) | not measured
LEAST_IN_CELL = 2
# above which ascents begin on some of them | samples | [1, inf) | not measured
NODE_SAMPLED = 20_000
# of ascents, beside the best centers | starts | [1, inf) | not measured
N_STARTS = 60
# known, at most, from whose centers ascents begin | clusters | [0, inf) | not measured
N_KNOWN = 60
# per round | clusters | [1, inf) | not measured
MOST_ADDED = 20
# per round, where few are wanted | clusters | [1, inf) | not measured
FEW_ADDED = 5
# of the tolerance, per cluster, below which a gain is none | part | (0, 1) | not measured
FINE = 0.1
# of what is missing, that wider limits of the prices must gain for even wider ones | part | (0, 1) | not measured
NODE_GAINED = 0.05
# tolerance | the inertia | (0, 1) | not measured
LEAST = 1e-8
# of the gap between a program's value and the best bound, to which it is solved | part | (0, 1) | not measured
INEXACT = 0.1
# to which it is solved at most | relative | (0, 1) | not measured
COARSEST = 1e-2
# after which a bound is proved, while prices improve | programs | [1, inf) | not measured
PROVED_EVERY = 8
# but for so much | the inertia | (0, 1) | not measured
COARSE = 1e-3
# with so many | boxes | [1, inf) | not measured
FEW_CELLS = 100_000
# by which a fraction is one or none | none | (0, 0.5) | argument: what is proved does not rest on it
WHOLE = 1e-6

# [node, solve] Samples that have prices.

# each of which may have a price of its own: one linear program's rows | samples | [1, inf) | docs/notebook/kmeans.md
MOST_PRICED = 5000

# [blocks] Blocks of columns.

# of a block | columns | [1, 32] | docs/notebook/kmeans.md
BLOCKS_MOST_COLUMNS = 7
# of a block | relative | (0, 1) | not measured
TOLERANCE = 1e-3
# of what is left, for each block | part | (0, 1) | not measured
SHARE_OF_TIME = 0.1
# boxes of a block times samples | terms | [1, inf) | not measured
BLOCKS_MOST_WORK = 50_000_000
# of a block, at least | boxes | [1, inf) | not measured
FEWEST_CELLS = 1_000

# [blocks, solve] Where blocks are used.

# from which on blocks of columns are worth their time | columns | [2, inf) | docs/notebook/kmeans.md
LEAST_COLUMNS = 11

# [solve] The search.

# tolerance by default | relative | (0, 1) | argument: what `gopfast.solve` says
REL_TOL = 1e-4
# of the tolerance that the search may leave open: the rest is for what rounding costs | part | (0, 1) | not measured
KEPT = 0.98
# of the time limit, for the first local search | part | (0, 1) | argument: what `gopfast.solve` promises of
# `time_limit`
FIRST_SHARE = 1.0 / 3
# of one proof | boxes | [1, inf) | not measured
SOLVE_MOST_CELLS = 20_000_000
# of one linear program | seconds | (0, inf) | not measured
SOLVE_MOST_SECONDS = 300.0
# between two looks at the memory | seconds | (0, inf) | not measured
LOOK_EVERY = 0.1

# [master] Columns of the linear program.

# fractions that an interior-point method leaves of 0 | none | (0, 0.5) | not measured
SMALL = 1e-5
# times as much farther as the last time a price may move if a limit keeps the bound down | factor | (1, inf) |
# not measured
WIDER = 3.0
# times | widenings | [0, inf) | not measured
MOST_WIDENED = 8

# [master, cells] Limits of prices.

# of a sample above its share of the inertia | the whole inertia | (0, inf) | not measured
MOST_WORTH = 2.0

# [program, master, cells, node] The interior-point method.

# tolerance of the interior-point method | relative | (0, 1) | argument: HiGHS's own default
FINEST = 1e-8

# [search] Local search.

# of centers to start from | draws | [1, inf) | not measured
N_DRAWS = 10
# in vain before the search ends, and as many more as five times the number of clusters | kicks | [0, inf) |
# not measured
N_KICKS = 60
# samples times columns times clusters times descents | terms | (0, inf) | not measured
SEARCH_MOST_WORK = 4e8
# by which a solution is better | relative | (0, 1) | argument: rounding
BETTER = 1e-9
# above which the search is one on some of them, and N_FULL descents on all | samples | [1, inf) | not measured
SEARCH_SAMPLED = 20_000
# on all samples | descents | [1, inf) | not measured
N_FULL = 3

# [checkpoint, search] Equal inertias.

# of the inertia: what evaluating it anew may change | relative | (0, 1) | argument: rounding of its sum
SAME = 1e-9

# [pricing] Centers, best first.

# above the limit after which a search ends | centers | [1, inf) | not measured
MOST_KEPT = 40
