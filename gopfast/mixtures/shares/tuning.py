"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [shares] Which mixtures, and which noise.

# from which on there is such a bound | samples | [100, inf) | docs/notebook/shares.md
FEWEST = 1_000
# up to which there is | columns | [3, 5] | docs/notebook/shares.md
MOST_COLUMNS = 4
# the same | components | [2, 5] | argument: trees of five labels are 105
MOST_LABELS = 5
# of noise, one after the other, while they promise more | units of the covariance within labels | (0, inf) |
# docs/notebook/shares.md
SMALLER = (0.035, 0.022, 0.014, 0.009, 0.006, 0.004)
# the same after these, from the first one on | the same | (0, inf) | docs/notebook/shares.md
LARGER = (0.07, 0.14, 0.28)
# noises that promise no more, after which none beyond is tried | noises | [1, inf) | not measured
IN_VAIN = 1
# times that masses of corners are given to neighbours, the first for which grids are not too large | times | [1, inf) |
# docs/notebook/shares.md
N_SMOOTHED = (8, 4, 2, 1)
# of all labels' grids, times the times that they are looked at | corners | [1, inf) | argument: they take a second
MOST_NODES = 400_000_000
# parts of the floor that are added to covariances | part | [0, 1] | not measured
ADDED = (0.0, 0.01, 0.05, 0.2)
# promised to be left open, from which on boxes are not looked at | nats a sample | (0, inf) | not measured
HOPELESS = 3.0
# of the time from the first step to the limit, after which boxes are looked at with what noise there is | part |
# (0, 1) | not measured
PROVED_BY = 0.4
# noises of which all boxes are looked at | noises | [1, inf) | not measured
MOST_PROOFS = 3
# noises that are looked at again after each | noises | [1, inf) | not measured
N_AGAIN = 3
# displacements of a list | displacements | [1, inf) | not measured
N_MOVED = 10

# [parts] Samples of a label.

# eigenvalue of the covariance within a label, below which there is no such bound | the largest | (0, 1) | argument:
# units of it would be known to a millionth, and a floor is wider
FLATTEST = 1e-8
# up to which slabs are counted | columns | [2, 4] | docs/notebook/shares.md
SLAB_COLUMNS = 3
# samples and intervals that slabs of a label look at, at most | terms | [0, inf) | docs/notebook/shares.md
SLAB_TERMS = 2.5e9
# of these, about | terms a second | (0, inf) | argument: measured, for the time that a step may take
TERMS_A_SECOND = 2e9
# cells of a face of directions along each coordinate, at most | cells | [3, inf) | not measured
MOST_EACH = 100
# half of slabs' thicknesses | units of the label | (0, inf) | not measured
SLAB_HALVES = (0.02, 0.04, 0.07, 0.1, 0.14, 0.18, 0.23, 0.29, 0.36, 0.45, 0.6, 0.8)
# of the intervals in which samples of a slab are counted | the same | (0, inf) | not measured
SLAB_WIDTH = 0.01
# shells of samples by their norms | part of the label, up to each | (0, 1] | not measured
SHELLS = (0.4, 0.8, 1.0)
# bins of the excess of a density over a normal one | bins | [2, inf) | not measured
N_BINS = 1025
# the first one's end | nats | (-inf, inf) | not measured
LEAST_EXCESS = -2.0
# bins of a nat | 1 / nat | (0, inf) | argument: a hundredth of a nat is added to what is told
N_EACH_NAT = 64.0
# variances of which divergences are known | variances | [2, inf) | argument: hundredths of a percent
CELLS = 4_000
# equal shares of what a part may diverge by | shares | [1, inf) | not measured
N_BUDGETS = 96
# intervals of places along a direction | intervals | [2, inf) | not measured
N_PLACES = 1024

# parts of a label of which tables are made, the smallest in equal ratios | first, last, number | (0, inf) |
# docs/notebook/shares.md
SMALL_PARTS = (1e-6, 0.01, 180)
# the next ones, likewise | the same | (0, inf) | docs/notebook/shares.md
MIDDLE_PARTS = (0.01, 0.5, 640)
# the next ones, in equal steps | the same | (0, inf) | docs/notebook/shares.md
LARGE_PARTS = (0.5, 0.98, 320)
# what the last ones leave out, in equal ratios | the same | (0, inf) | docs/notebook/shares.md
LAST_PARTS = (0.02, 5e-4, 80)

# [parts, shares] Second moments of tilted parts.

# slopes, the first one 0 | root mean squares of the label | [0, inf) | not measured
SLOPES = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0)

# [shares, box_search] Boxes of parts.

# of what entropies lack: boxes end at so much more than is attained | part | (0, 1) | docs/notebook/shares.md
CLOSE = 0.03

# [box_search] The search of boxes, and of prices.

# the same at least | nats per unit of weight | (0, inf) | not measured
LEAST_CLOSE = 1e-5
# at most | boxes | [1, inf) | argument: half a minute
MOST_BOXES = 3_000_000
# between two looks at the clock | boxes | [1, inf) | argument: a tenth of a second
AT_A_TIME = 20_000
# trees of labels of a box | trees | [1, inf) | docs/notebook/shares.md
MOST_TRIED = 4
# the same of a list of parts | trees | [1, inf) | argument: all of four labels
MOST_LOOKED_AT = 15
# middles of boxes that are looked at in a round | lists of parts | [1, inf) | not measured
N_LOOKED_AT = 200
# lists of parts by which a price is chosen | lists | [20, inf) | not measured
N_POINTS = 800
# how far they are moved, again and again | places in the table of parts | [1, inf) | not measured
MOVES = (60, 20, 7, 2)
# prices of the smallest label, from the first to the last | nats a sample | (0, inf) | not measured
PRICES = (0.3, 2.4)
# between them, in equal ratios | prices | [2, inf) | not measured
N_PRICES = 6
# times that two more are looked at, nearer and nearer to the best one | times | [0, inf) | docs/notebook/shares.md
N_FINER = 3
