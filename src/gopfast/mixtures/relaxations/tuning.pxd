"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport index, real

cdef enum:
    # [corners] Mixtures of corners, by columns.

    # of a table | variables | [1, 64] | not measured
    MOST_VARIABLES = 64
    # of a variable | levels | [2, 16] | not measured
    MOST_LEVELS = 8

cdef extern from *:
    # [entropic] The relaxed dual, by a primal-dual interior-point method. Any multipliers give a bound (E2).

    # of the weights, where an iterate begins | of W | (0, 1) | not measured
    real FIRST_SLACK "0.1"
    # by which a capped multiplier begins inside its range, so that a Newton step can move it either way | part of the
    # range | (0, 0.5) | not measured
    real INSIDE_CAP "0.05"
    # a summary is fine enough if what the parent's bound misses is so many times the summary's loss | factor |
    # (1, inf) | not measured
    real LOSSES "4.0"
    # a step after which the gap is so many times the last one is taken back | factor | (1, inf) | not measured
    real WORSE "2.0"
    # to which part of it | part | (0, 1) | not measured
    real BACK "0.25"
    # of a node | steps | [0, inf) | not measured
    int MOST_RETREATS "4"
    # gap to which a node is solved | relative to the bound | (0, 1) | argument: double precision lets it be no smaller
    real SOLVED "1e-12"
    # errors of variables that differ by less are tied, as those of components that were not split yet | relative |
    # (0, 1) | not measured
    real TIE "1e-9"
    # diagonal of an absent facet, so that its multiplier stays where it is | none | [1e100, 1e300] | argument: its
    # reciprocal times any gradient is far below a multiplier's spacing
    real FIXED "1e200"
    # density ratio whose logarithm is taken where D_k underflows | none | (0, 1e-200] | argument: a floor only loosens
    # the bound (E3)
    real ENTROPIC_SMALLEST "1e-300"
    # a node is given up if its minorants lose less, so that splitting it would not help, and its bound misses no more
    # than MOST_MARGINS | of its rounding margin | (0, 1) | not measured
    real HOPELESS "1e-3"
    # what rounding can be the reason for | rounding margins | [1, inf) | not measured
    real MOST_MARGINS "4.0"
    # to which the bound of such a node is known before it is given up | of its rounding margin | (0, 1) | not measured
    real EARNED "0.1"
    # of what a bound misses, that solving a node on may gain | part | (0, 1) | bench/parameters.py
    real ENTROPIC_PATIENCE "0.5"
    # the same where multipliers serve the parts of the cells too, and are worth more passes | part | (0, 1) |
    # not measured
    real REFINED_PATIENCE "0.25"
    # numbers that nodes hand on in full; more are kept in half as many bits | numbers | [0, inf) | argument: a million
    # nodes fit in 1 GB
    int MOST_FLOATS "48"

    # [refinement] Divided cells.

    # padded samples, at most, whose exponentials are kept from one pass to the next, where only weights change |
    # samples | [0, inf) | not measured
    index MOST_KEPT "2048L"
    # of one node, for each division of its cells | passes | [1, inf) | not measured
    int MOST_PASSES "10"
    # parts that lose at least this share of the mean part's loss are divided again | part | (0, inf) |
    # docs/notebook/divided_cells.md
    real REFINEMENT_LEAST_SHARE "0.6"
    # up to so many parts of a node | parts | [2, 4096] | not measured
    int MOST_PARTS "64"
    # and so many times as many as there were at first | factor | [1, inf) | not measured
    int MOST_DIVIDED "8"
    # not if what the bound misses is more than so many times what the last division gained | factor | (0, inf) |
    # not measured
    real HOPE "2.0"
    # what each division keeps of the node's multipliers | part | [0, 1] | docs/notebook/divided_cells.md
    real KEPT "0.7"
    # weight of a component that its parts begin with at least | of the total | (0, 1) | not measured
    real LEAST_START "1e-6"
    # density ratio whose logarithm is taken where D underflows | none | (0, 1e-200] | argument: a floor only loosens
    # the bound (D5)
    real REFINEMENT_SMALLEST "1e-300"
    # of its cell in the variable divided, that a part is at least | part | [0, 0.5) | not measured
    real SPLIT_MARGIN "0.1"

    # [crossed] Latent classes with a free variable.

    # probability below which a label is nothing, in a table that is spanned | probability | (0, 1) | not measured
    real NOTHING "1e-7"
    # a label's limit that those of the others imply, but for so much, is no facet of its own | probability | (0, 1) |
    # argument: leaving out a facet only loosens the bound
    real IMPLIED "1e-9"

    # [corners] Mixtures of corners, by columns.

    # of a table on its way from levels to corners | entries | [2, inf) | argument: their memory, 8 bytes each, fits in
    # a cache
    index MOST_ENTRIES "16384L"
    # patterns times K^2, beyond which the same time does more in the relaxed dual alone (by random tables) | terms |
    # [1, inf) | docs/notebook/latent_classes.md
    index CORNERS_MOST_WORK "600L"
    # levels of a label, below MOST_LEVELS: its intervals have up to m 2^(m - 1) corners | levels | [2, 7] |
    # not measured
    int MOST_LABELS "5"
    # of columns for one node | rounds | [1, inf) | not measured
    int MOST_ROUNDS "40"
    # of Newton's method for one round | steps | [1, inf) | not measured
    int MOST_STEPS "6"
    # beyond one for each pattern | columns | [0, inf) | not measured
    int SPARE_COLUMNS "24"
    # by which D of a corner exceeds W that is worth a column | relative | (0, 1) | not measured
    real ABOVE "1e-7"
    # of a new column | of the total | (0, 1) | not measured
    real NEW_WEIGHT "1e-3"
    # of a column that stays | of the total | (0, 1) | not measured
    real CORNERS_LEAST_WEIGHT "1e-12"
    # of the Newton matrix | relative to its diagonal and W | (0, 1) | not measured
    real RIDGE "1e-9"
    # of a pattern | none | (0, 1e-200] | argument: its reciprocal is finite; any positive densities bound (L3)
    real LEAST_DENSITY "1e-250"
    # a node that is not to be closed is left once its bound is known to this part of what it lacks | part | (0, 1) |
    # not measured
    real CORNERS_PATIENCE "0.5"
    # or to so much | nats | (0, inf) | not measured
    real NEAR "1e-4"
    # of a split point from the mean of the corners to the middle, as those of relaxed duals | part | [0, 1] |
    # not measured
    real PULL "0.4"
    # of the interval that a split point keeps to its ends | part | (0, 0.5) | not measured
    real INSIDE "0.2"
    # of the variance of a probability near 0 or 1 | probability squared | (0, 0.25) | not measured
    real SPREAD_ROOM "0.02"

    # [cut_pool] Tangents of the entropy. Any ratio gives a valid one (G7).

    # of tau to the weight at which a tangent touches | factor | (1, 1e12] | argument: coefficients that HiGHS takes
    real GREATEST_RATIO "1e6"

    # [cut_pool, linear_branching] Tangents of the entropy. Any ratio gives a valid one (G7).

    # of tau to the weight at which a tangent touches | factor | [1e-12, 1) | argument: coefficients that HiGHS takes
    real LEAST_RATIO "1e-8"

    # [linear] The paper's relaxed dual.

    # of what a bound misses, that tangents of all samples may miss | part | (0, 1) | not measured
    real TANGENT_SHARE "0.01"
    # tangents that the pool keeps per sample at least | tangents | [1, inf) | not measured
    int LEAST_ROOM "4"

    # [linear_rows] Rows of the linear programs.

    # tangents of -(Kd/2) log e that a node starts with | tangents | [1, inf) | not measured
    int N_PRECISION_CUTS "6"
    # width of a range of e that one tangent serves | relative | (0, 1) | argument: any tangent is valid (G7)
    real ONE_POINT "1e-9"

    # [linear_rows, linear_branching] Rows of the linear programs.

    # below it a weight's Lagrange cut from its lower end has coefficients too large to be of use | of the total |
    # (0, 1) | argument: leaving out a row only loosens the bound
    real ROWS_LEAST_WEIGHT "1e-6"
