"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [pricing] Fits, depth first.

# above the limit after which a search ends | fits | [1, inf) | not measured
MOST_KEPT = 40

# [pool] Local search.

# of draws, at least, and per class | descents | [1, inf) | not measured
N_DRAWS = 60
# in vain before the search ends, per class | moves | [0, inf) | not measured
N_MOVES = 60
# samples times coefficients times classes times descents | terms | (0, inf) | not measured
MOST_WORK = 2e7
# by which a solution is better | relative | (0, 1) | argument: rounding
BETTER = 1e-9
# what evaluating a sum of squares anew may change | relative | (0, 1) | argument: rounding of its sum
SAME = 1e-9

# [node] The linear program of one node, by columns.

# of ascents at random, in each box | starts | [1, inf) | not measured
N_STARTS = 40
# known, at most, from which ascents begin, in each box | fits | [0, inf) | not measured
N_KNOWN = 60
# per round and box | classes | [1, inf) | not measured
MOST_ADDED = 15
# that a node hands to its children | classes | [1, inf) | not measured
MOST_HANDED = 400
# of the tolerance, per class, below which a gain is none | part | (0, 1) | not measured
FINE = 0.1
# of what is missing, that a bound may leave, or that wider limits must gain for even wider ones | part | (0, 1) |
# docs/notebook/regressions.md
COARSE = 0.1
# of the gap between a program's value and the best bound, to which it is solved | part | (0, 1) | not measured
INEXACT = 0.1
# to which a program is solved at most | relative | (0, 1) | not measured
COARSEST = 1e-2
# and at least | relative | (0, 1) | argument: HiGHS's own default
FINEST = 1e-8
# tolerance at least | the sum of squares | (0, 1) | not measured
LEAST = 1e-8
# of boxes, after which the linear program begins anew | rounds | [1, inf) | not measured
MOST_SHRUNK = 3
# by which a fraction is one or none | none | (0, 0.5) | argument: what is proved does not rest on it
WHOLE = 1e-4

# [solve] The search.

# of one proof | boxes | [1, inf) | not measured
MOST_CELLS = 2_000_000
