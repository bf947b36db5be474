"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [pricing_root] Prices of the samples and the cells that they leave.

# of the first prices: at the incumbent's own every G has a kink | nats | (0, inf) | not measured
SHIFT = 2.0
# of prices for ascents that find nothing otherwise | nats | (0, inf) | not measured
LIFT = 0.1
# from which on there is a bound by the first prices, before better ones are found | samples | [1, inf) | not measured
LOOKED_AT_FROM = 1_000
# for that bound | cells | [1, inf) | not measured
FIRST_CELLS = 1_000
# starts of ascents before the first master problem, and in each later round | starts | [1, inf) | not measured
N_DRAWS = 60
# the same in haste | starts | [1, inf) | not measured
FEW_DRAWS = 20
# parameters of a component up to which cells find what draws would | parameters | [0, inf) |
# docs/notebook/small_problems.md
SMALL = 2
# starts where components have so few | starts | [1, inf) | docs/notebook/small_problems.md
DRAWS_OF_SMALL = 10
# of what suprema may lose that ascents may | part | (0, 1] | docs/notebook/small_problems.md
CLIMBED = 0.1
# ascents from cells whose values are looked at | ascents | [1, inf) | docs/notebook/small_problems.md
MOST_CLIMBED = 24
# atoms per round | atoms | [1, inf) | not measured
ROOT_MOST_ADDED = 12
# multipliers of atoms that go | weight of the samples | [0, 1) | not measured
ROOT_IDLE = 1e-6
# of prices, at most | rounds | [1, inf) | not measured
ROOT_N_ROUNDS = 25
# of the time that is left | part | (0, 1] | not measured
PART_FOR_PRICES = 0.4
# columns that differ by less are one atom | of their mass | [0, 1) | not measured
ROOT_ALIKE = 0.03
# of an ascent | steps | [1, inf) | not measured
N_ASCENT = 40
# weight of the barrier where prices are nearly known | nats | (0, inf) | not measured
LATER = 0.05
# ends of ascents, and cells, that are looked at for atoms | points | [1, inf) | not measured
MOST_LOOKED_AT = 200
# what prices and suprema may lose in all, at first | nats | (0, inf) | docs/notebook/prices.md
COARSE = 0.05
# the same in haste | nats | (0, inf) | not measured
HASTY = 0.5
# and in the end, where the bound by prices is that near to the limit | nats | (0, inf) | not measured
FINEST = 5e-4
# of what a rough bound may lose, to which prices are found at the least | part | (0, 1] | not measured
ROUGH_FINEST = 0.1
# Newton decrement at which prices of a rough bound are good enough | the barrier's weight | (0, inf) |
# docs/notebook/shared_parameters.md
ROUGH_ACCURACY = 0.5
# that prices carried over may lose, of what a rough bound may, so that none are looked for | part | (0, 1) |
# docs/notebook/shared_parameters.md
LIFTED = 0.5
# starts of ascents for a rough bound: cells find what they miss | starts | [1, inf) |
# docs/notebook/shared_parameters.md
ROUGH_DRAWS = 8
# that they may lose, of how far the bound by prices is from the limit | part | (0, 1) | docs/notebook/prices.md
SHARE_OF_GAP = 0.25
# that suprema may lose, of how far the bound by prices is above the limit | part | (0, 1) |
# docs/notebook/small_problems.md
SHARE_OF_EXCESS = 0.5
# that they may lose, of what a summary of the samples loses | part | (0, 1) | not measured
SHARE_OF_LOSS = 0.1
# from one tolerance of the prices to the next, at least | factor | (0, 1) | docs/notebook/small_problems.md
LEAST_FINER = 0.2
# from one tolerance of the suprema to the next | factor | (0, 1) | not measured
FINER = 0.5
# cells until then that are few enough to go on to a finer tolerance: so many, and FINE_FACTOR times those of the coarse
# one | cells | [0, inf) | not measured
FINE_CELLS = 4_000
# the factor; where parameters are many a finer tolerance costs many times as much | factor | [0, inf) | not measured
FINE_FACTOR = 1.5
# terms of the tree before questions are asked, for each of the prices | factor | [0, inf) |
# docs/notebook/confinement.md
QUESTIONS_WAIT = 2.5
# but at most so many: what questions to so costly prices save is as much | terms | [0, inf) |
# docs/notebook/confinement.md
LONGEST_WAIT = 6_000_000
# of each step | cells | [1, inf) | not measured
MORE_CELLS = 4_000
# of new prices once there are cells | turns | [0, inf) | not measured
ROOT_MOST_TURNS = 20
# points whose prices are improved; the prices of more, once they are known from a coarser summary, stay | points |
# [0, inf) | not measured
MOST_IMPROVED = 12_000
# samples of which questions are asked: every one asks for prices of its own | samples | [0, inf) | not measured
MOST_CONFINED = 5_000
# memory of those that are open at a time, 0.2 to 2 kB each | bytes | [1, inf) | docs/notebook/regressions.md
MOST_OPEN_BYTES = 250_000_000
# cells bounded to drop more of them, once the supremum is known | cells | [0, inf) | not measured
MOST_SHAVED = 30_000
# for it | passes | [0, inf) | not measured
MOST_PASSES = 80_000

# [pricing_levels] Prices of summaries.

# points of the first summary | points | [1, inf) | not measured
LEVELS_FEWEST = 300
# stands for 0 in a divisor | none | (0, 1e-100] | argument: weights that it stands for have no points
TINY = 1e-300

# [confinement] Questions to prices.

# of prices for one question | rounds | [1, inf) | not measured
CONFINEMENT_N_ROUNDS = 12
# weight of the barrier for prices far from the root's | nats | (0, inf) | not measured
FIRST = 1.0
# for prices near the root's | nats | (0, inf) | not measured
NEAR = 0.005
# that the barrier may lose at first | nats | (0, inf) | not measured
LOSS = 1.0
# at first where prices are near the root's | nats | (0, inf) | not measured
NEAR_LOSS = 0.1
# and at least | nats | (0, inf) | not measured
LEAST_LOSS = 1e-3
# of what there is to spare that it may lose | part | (0, 1) | not measured
SHARE = 0.1
# atoms of a class in a round | atoms | [1, inf) | not measured
CONFINEMENT_MOST_ADDED = 4
# below the best atom of a class that others start from | nats | (0, inf) | not measured
ALONE = 1.0
# of what there is to spare that suprema may use | part | (0, 1) | not measured
WITHIN = 0.99
# of a step: so many, and as many as there are | cells | [1, inf) | not measured
CELLS_AT_ONCE = 500
# for one class of a question | cells | [1, inf) | not measured
CONFINEMENT_MOST_CELLS = 10_000
# of the components that are left free by questions about all sides at once: then single sides are in vain | part |
# [0, 1] | not measured
WORTH = 0.5
# cells to look for groups in | cells | [0, inf) | docs/notebook/confinement.md
MOST_GROUPED = 30_000
# of cells that are compared at a time | pairs | [1, inf) | argument: some 30 MB
PAIRS = 1_000_000
# multipliers of atoms that go | weight of the samples | [0, 1) | not measured
CONFINEMENT_IDLE = 1e-6

# [grouped] Prices of many samples, suprema by groups of them.

# samples, at most, that prices are found of: first, and once their atoms are known | samples | [1, inf) |
# docs/notebook/groups.md
PARTS = (2_000, 10_000)
# that prices may lose, from coarse to fine. The barrier's weight falls with it, and with that what a component saves at
# its best: suprema are the easier to find the larger that is | nats per sample | [0, inf) | docs/notebook/groups.md
TOLERANCES = (5e-3, 5e-4, 5e-5, 5e-6, 0.0)
# of them, where prices of all samples follow | tolerances | [0, 5] | docs/notebook/groups.md
BEFORE_OTHERS = 3
# part of it that suprema may lose | part | (0, 1) | not measured
SEARCHED = 0.3
# of a tolerance of all samples | nats | (0, inf) | not measured
LEAST_TOLERANCE = 5e-3
# that it is for: of fewer prices of them all are as soon found | samples | [1, inf) | docs/notebook/groups.md
GROUPED_FEWEST = 5_000
# the same | columns | [2, 16] | docs/notebook/groups.md
MOST_COLUMNS = 3
# of more samples there are neither prices nor summaries: what groups say is little, but all there is | samples |
# [1, inf) | argument: one more than the most that prices are for
MANY = 20_001
# of which many samples may have so many | columns | [2, 16] | docs/notebook/groups.md
MANY_COLUMNS = 8
# of a step | cells | [1, inf) | not measured
CELLS = 2_000
# of a step | groups | [1, inf) | not measured
GROUPS = 1_000_000
# at prices of a few samples, before those of more are found | groups | [1, inf) | docs/notebook/groups.md
FIRST_LOOK = 2_000_000
# that suffices there as a supremum, of what the atoms save | factor | (1, inf) | not measured
GOOD_LOOK = 2.0
# of what cells lack, that components may save more than the master problem knows until prices are found anew | part |
# (0, 1) | docs/notebook/groups.md
PART_LOST = 0.25
# of ascents by groups | steps | [1, inf) | not measured
N_CLIMBS = 20
# and then of the best of them by samples | steps | [0, inf) | not measured
N_LAST = 6
# of ascents | starts | [1, inf) | not measured
GROUPED_N_STARTS = 24
# ascents whose value is that of all samples | ascents | [1, inf) | not measured
N_EXACT = 12
# ascents that ended in the same place: in value | relative | (0, 1) | not measured
GROUPED_ALIKE = 1e-4
# and in parameters | of the range of all | (0, 1) | docs/notebook/groups.md
ALIKE_PLACES = 1e-3
# of new prices at one tolerance | turns | [0, inf) | not measured
GROUPED_MOST_TURNS = 8
# at one set of prices | cells | [1, inf) | not measured
GROUPED_MOST_CELLS = 400_000
# no progress: this part of what is missing is left after PATIENCE groups or as many more | part | (0, 1) | not measured
SLOW = 0.6
# of groups without progress | groups | [1, inf) | not measured
PATIENCE = 4_000_000
# in all | groups | [1, inf) | not measured
MOST_GROUPS = 1_000_000_000
# of what cells cost that ascents by samples from the best of them may cost | part | (0, inf) | not measured
LOOKS = 0.5
# what a group costs, in samples of a pass over them all | samples | [1, inf) | docs/notebook/groups.md
SAMPLES_OF_A_GROUP = 12
# of making the atoms' values equal | turns | [1, inf) | not measured
N_EQUAL = 2

# [sample_groups] Moments of groups.

# of the tree of groups: 262,144 in the last, whose samples take the place of those that lose too much | levels |
# [1, 10] | not measured
MOST_LEVELS = 6
# samples in a group of the last level, at least | samples | [1, inf) | docs/notebook/groups.md
FEWEST_OF_A_LEVEL = 4
# of the regression of prices on a group's statistics, on the diagonal: it is never singular | of a unit diagonal |
# (0, 1) | not measured
GROUPS_RIDGE = 1e-9
# times its coefficients a regression has samples; of fewer the group above has a better one | factor | [1, inf) |
# not measured
MOST_SLOPES = 4

# [blocks] Blocks of columns.

# of a component, which cells are divided in with success | parameters | [1, inf) | not measured
FEW_PARAMETERS = 8
# of a block, and of a whole component that is priced as well | parameters | [1, inf) | not measured
MOST_PARAMETERS = 12
# of EM | nats | (0, inf) | not measured
EM_TOLERANCE = 1e-8
# of EM | steps | [1, inf) | not measured
EM_STEPS = 2000
# ways to divide columns that are tried | partitions | [1, inf) | not measured
N_PARTITIONS = 24
# samples times these, at most | samples | [1, inf) | not measured
MOST_TRIED = 100_000
# in how many partitions better mixtures are sought in the blocks | partitions | [1, inf) | not measured
N_CHECKED = 6
# by how many starts | starts | [1, inf) | not measured
BLOCKS_N_STARTS = 12
# by which a mixture is better | nats | (0, inf) | not measured
LOWER = 0.1
# of what is open that cells of the blocks leave open, from which on blocks are too large | part | (0, 1) |
# not measured
STUCK = 0.3
# of what is left, for the prices of all blocks | part | (0, 1] | not measured
PART_OF_TIME = 0.5

# [blocks, cover] The choice of blocks, and the time for them.

# of EM that compares partitions | nats | (0, inf) | not measured
ROUGH = 1e-4
# the same | steps | [1, inf) | not measured
ROUGH_STEPS = 300
# what a pass counts where a tree of so many parameters has little to tell | passes | (0, 1] | not measured
LITTLE = 0.25

# [hull, hull_atoms, hull_balls, hull_confined, hull_corners, hull_drafts, hull_reaches] Components in the hull.

# prices that are tried, over what a component's samples need to save most at its own parameters | factor | [1, inf) |
# docs/notebook/groups.md
HULL_HEIGHTS = (2.5, 2.5, 2.5, 2.0, 1.6, 1.6, 1.3)
# that a sample of several components may lose by each | nats | [0, inf) | docs/notebook/groups.md
HULL_AMBIGUOUS = (3e-2, 1e-2, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5)
# of a cluster's price, at least, with all its samples; else these may lose more | part | (0, 1) |
# docs/notebook/groups.md
HULL_REACHED = (0.85, 0.85, 0.85, 0.5, 0.5, 0.5, 0.5)
# that prices may lose more than those that lose least | nats a sample | (0, inf) | docs/notebook/groups.md
HULL_LOSS = 8e-5
# of what a component saves, that prices may lose where cells then say where a better solution's components are | part |
# [0, 1) | docs/notebook/many_columns.md
HULL_LOST = 0.002
# of what a component of known variance saves, the most that one in place of two may; lower prices are tried first |
# part | (0, inf) | docs/notebook/many_columns.md
HULL_MERGED = 0.4
# that tell which of them are of use, at most | samples | [1, inf) | not measured
HULL_DRAWN = 20_000
# that are tried with all samples, until one loses no more than it did with some | prices | [1, inf) | not measured
HULL_MOST_TRIED = 3
# of a cluster's mass, at least, that is taken to follow its price | part | (0, 1) | not measured
FOLLOW = 0.2
# most that the other components may have of a cluster's sample | responsibility | (0, 1) | docs/notebook/groups.md
CLEAR = 0.03
# of the least ball | standard deviations | (0, inf) | docs/notebook/groups.md
LEAST_RADIUS = 2e-5
# of the largest | standard deviations | (0, inf) | not measured
MOST_RADIUS = 6.0
# ratio of the radii of a shell, at most | factor | (1, inf) | not measured
WIDEST = 1.5
# at least | factor | (1, inf) | not measured
THINNEST = 1.02
# nor anything outside one that then still exceeds what components save by this | factor | [1, inf) | not measured
OVER = 1.0003
# in which what a ball's curvature lacks is told | parts of a range | [10, inf) | argument: each has a bound (Y7)
N_STEPS_OF_BEND = 400
# balls end, and shells are not divided, where they exceed that by this | factor | (1, inf) | not measured
HULL_WORTH = 1.1
# y below which a block of samples counts as out, of balls | nats below 0 | [0, inf) | not measured
SKIP_BALLS = 14.0
# the same of cells | nats below 0 | [0, inf) | not measured
SKIP_CELLS = 8.0
# that are bounded at a time | shells of balls | [1, inf) | not measured
SHELLS = 10
# for each component and column, that say whether all samples are asked about a cell | samples | [1, inf) |
# docs/notebook/many_columns.md
HULL_DRAFT = 250
# these are less than all by this, at least | factor | [1, inf) | docs/notebook/many_columns.md
HULL_DRAFTED = 5
# all are asked if these find no more than this, over what is asked for | factor | [1, inf) |
# docs/notebook/many_columns.md
HULL_DRAFT_MARGIN = 1.05
# of what is known of a cell, what some of the samples find of it where all are asked besides | part | [0, 1) |
# docs/notebook/many_columns.md
HULL_DRAFT_GAIN = 0.8
# that are bounded at a time | cells | [2, inf) | not measured
HULL_BATCH = 256
# of a step | batches | [1, inf) | not measured
HULL_BATCHES = 2
# at most | cells | [1, inf) | not measured
HULL_MOST_CELLS = 300_000
# of what is missing that is left where there is no progress | part | (0, 1) | not measured
HULL_SLOW = 0.9
# after so many, or twice as many as there were | cells | [1, inf) | not measured
HULL_PATIENCE = 30_000
# of what prices leave open: cells that leave less gain little | part | [0, 1] | docs/notebook/many_columns.md
HULL_OF_PRICES = 0.1
# second moments of K components of F statistics, F K a sample, that take as long as a term of the hull | products |
# (0, inf) | docs/notebook/many_columns.md
HULL_OF_MOMENTS = 250.0
# of ascents in each turn of making what components save equal | steps | [0, inf) | not measured
HULL_N_CLIMBS = 4
# and at the last prices | steps | [0, inf) | not measured
HULL_N_LAST = 20
# of making what the incumbent's components save equal, at most | turns | [0, inf) | not measured
HULL_N_EQUAL = 10
# what these may then differ by | nats a sample | [0, inf) | not measured
HULL_SAME = 1e-7
# that suprema may lose | nats a sample | (0, inf) | not measured
HULL_TOLERANCE = 1e-7
# that prices are raised by at the corners of a cell, at most, which is bounded by these | nats | [0, inf) |
# docs/notebook/many_columns.md
HULL_RAISED = 0.3
# that prices would be raised by at the corners of a cell, at most, of which the room that they leave is looked at |
# nats | [0, inf) | docs/notebook/many_columns.md
HULL_ROOMY = 6.0
# of a cell, at most, for that; where there are more, those of small cells alone | corners | [2, inf) |
# docs/notebook/many_columns.md
HULL_MANY_CORNERS = 64
# from which on: of fewer few share a corner | cells | [0, inf) | docs/notebook/many_columns.md
HULL_ROOMY_FROM = 1_000
# where the search of a room begins of which nothing is known | log scale | (-600, 0] | argument: any gives a room
HULL_FIRST_SCALE = -3.0
# room that is of no more use | nats | (0, inf) | not measured
HULL_MOST_ROOM = 12.0
# of finding the point of a cell about which corners need least | turns | [1, inf) | argument: any point will do
HULL_MOVES = 12
# from the axes up to which corners have a bound of all directions, right to the second order, too | standard deviations
# | [0, inf) | docs/notebook/many_columns.md
HULL_ACROSS = 0.75
# of which what they save is kept, at most | corners | [1, inf) | not measured
HULL_MOST_CORNERS = 500_000
# cells to begin with | of the precision's logarithm | (0, inf) | not measured
HULL_ROOT_RANGE = 0.5
# of the way to the nearest other component, that shells around one are followed | part | (0, 1) | not measured
HULL_PART_OF_THE_WAY = 0.75
# and at most, of the component or of the wider one that saves | standard deviations | (0, inf) | not measured
REACH_NEEDED = 7.0
# ranges of the precision's logarithm to begin with | of its logarithm | (0, inf) | not measured
REACH_RANGE = 0.25
# first shells | standard deviations | (0, inf) | not measured
REACH_STEP = 1.0
# shells and ranges that are not divided any more | standard deviations of a component's samples | (0, inf) |
# docs/notebook/many_columns.md
REACH_THINNEST = 0.2
# that prices may lose, of what a component saves, so that cells say where all of a better solution's are | part |
# [0, 1) | not measured
HULL_CONFINING = 0.2
# prices above -log p, over what a component's samples need, that are then tried | quotient | [1, inf) | not measured
HULL_CONFINED_HEIGHTS = (1.6, 1.3, 1.1)
# that a sample of several components may lose by each | nats | [0, inf) | not measured
HULL_CONFINED_AMBIGUOUS = (3e-5, 1e-5, 1e-5)
# of a cluster's price, at least, with all its samples | part | (0, 1) | not measured
HULL_CONFINED_REACHED = (0.85, 0.85, 0.85)
# of fewer prices of them all are as soon found | samples | [1, inf) | docs/notebook/many_columns.md
HULL_FEWEST = 300
# of fewer cells are for clusters that are apart: where they say where a better solution's components lie | samples |
# [0, inf) | docs/notebook/groups.md
HULL_FEW = 5_000
# the same where variances are free | samples | [0, inf) | docs/notebook/groups.md
HULL_FEW_FREE = 2_000
# or where cells of all columns are hopeless | columns | [4, inf) | docs/notebook/many_columns.md
HULL_MANY_COLUMNS = 10
# and prices of the hull lose no more than this | nats per unit of weight | [0, inf) | docs/notebook/many_columns.md
HULL_MOST_LOST = 0.01
# of fewer cells of all coordinates do | columns | [2, inf) | not measured
FEWEST_COLUMNS = 4
# at most | columns | [4, inf) | not measured
HULL_MOST_COLUMNS = 64
# at most; cells are divided in as many coordinates | components | [2, inf) | not measured
MOST_COMPONENTS = 10

# [hull_tables] Tables of what clusters can save, by distance and precision.

# that a cluster's samples are divided into by their lengths, about | bins | [8, inf) | docs/notebook/groups.md
N_BINS = 128
# samples of a bin, at least | samples | [1, inf) | not measured
LEAST_OF_A_BIN = 2
# samples whose prices differ by more are in other bins | nats | (0, inf) | not measured
PRICE_STEP = 0.3
# numbers g of fourth powers (c + g)^4, at most 8 | cosine | (0, inf) | not measured
SHIFTS = (0.1, 0.25, 0.5)
# logarithms of scales, ascending to 0 | nats | (-36, 0] | not measured
SCALES = (-14.0, -10.0, -8.0, -6.0, -5.0, -4.0, -3.5, -3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0)
# distances that are near a cluster | standard deviations of its component | (0, inf) | not measured
HULL_NEAR = 8.0
# of these | shells | [1, inf) | not measured
N_NEAR = 80
# and of those beyond | shells | [1, inf) | not measured
N_FAR = 20
# ranges of the precision with tables of their own, at most, but for those of the first cells | ranges | [1, inf) |
# docs/notebook/many_columns.md
MOST_TABLES = 12

# [hull_frame] The frame, and blocks of samples.

# singular values that are not along, below this part of the largest | part | (0, 1) | not measured
HULL_SMALL = 1e-7

# [cover] Blocks of columns that overlap.

# of a component in a block: the fewer first, which are sooner done | parameters | [2, 7] |
# docs/notebook/many_columns.md
PARAMETERS = (4, 6)
# samples that blocks are chosen by | samples | [1, inf) | not measured
DRAWN = 2_000
# of EM in a chosen block, from the incumbent, of all samples | steps | [1, inf) | not measured
LAST_STEPS = 50
# sets of columns that are compared | sets | [2, inf) | not measured
MOST_BLOCKS = 60
# of a block that is left out | weight | (0, 1) | not measured
UNUSED = 1e-6
# of what blocks of a size lose when all are known, what is still missing of them where larger ones follow | part |
# (0, 1) | not measured
COVER_ENOUGH = 0.1
# the same where a bound of all columns follows | part | (0, inf) | docs/notebook/many_columns.md
COVER_FIRST_LOOK = 1.0
# of what a block missed, what it misses at most after steps that have gained something | part | (0, 1) | not measured
COVER_GAINED = 0.98
# by which a block's turn comes later for each step that has gained nothing | factor | (0, 1] |
# docs/notebook/many_columns.md
COVER_IN_VAIN = 0.8
# no progress of all blocks, where others follow: more than this part of what was missing is missing | part | (0, 1) |
# not measured
COVER_STILL = 0.9
# after so much work, over what there was | factor | (1, inf) | docs/notebook/many_columns.md
COVER_STILL_FOR = 1.3
# of what blocks lose, what larger ones lose if they come at once | part | (0, 1) | docs/notebook/groups.md
COVER_AT_ONCE = 0.02
# so few come at once, too, where their prices are as high as merging allows | blocks | [0, inf) |
# docs/notebook/groups.md
COVER_FEW = 5
# of diagonal components of all columns that follow where blocks do not say where these lie, at most | columns |
# [0, inf) | docs/notebook/groups.md
COVER_MOST_WHOLE = 5
# boxes of all columns that blocks leave, at most | boxes | [1, inf) | not measured
COVER_MOST_BOXES = 64
# of a block whose prices are as high as merging allows; clusters are less apart in fewer | columns | [2, inf) |
# docs/notebook/many_columns.md
COVER_RAISED = 3
# of fewer samples `blocks` knows the prices of all | samples | [1, inf) | docs/notebook/many_columns.md
COVER_FEWEST = 1_500
# of fewer samples for each component, too, up to COVER_MANY | samples | [0, inf) | docs/notebook/many_columns.md
COVER_FEWEST_EACH = 500
# of which there are sets of columns in any case; for a proof of no fewer | samples | [1, inf) | not measured
COVER_MANY = 5_000
# of fewer the columns are no more than a block has | columns | [4, inf) | docs/notebook/many_columns.md
COVER_FEWEST_COLUMNS = 4

# [raised_prices] Prices of clusters that are apart.

# of making what the solution's components save equal | turns | [1, inf) | docs/notebook/groups.md
RAISED_N_EQUAL = 10
# the same with all samples, once a part of them has told | turns | [1, inf) | not measured
RAISED_N_LAST_EQUAL = 3
# sum of what they save less than the one that saves most, that is equal enough | part of the most | (0, 1) |
# not measured
RAISED_EQUAL = 1e-5
# of a component whose prices rise when it saves too little, at least | part of its mass | (0, 1) | not measured
RAISED_LEAST_FREE = 0.1

# [raised] Covariance matrices where clusters are apart.

# prices above -log p that are tried, of the largest component's samples, on average | nats a sample | (0, inf) |
# docs/notebook/groups.md
RAISED_HEIGHTS = (3.0, 2.5, 2.0, 1.6, 1.3, 1.0, 0.8, 0.6, 0.5, 0.4, 0.32, 0.25, 0.2, 0.16, 0.12, 0.09, 0.06, 0.04, 0.03)
# the same before these, of clusters far apart and of columns that count several times | nats a sample | (0, inf) |
# docs/notebook/groups.md
RAISED_HIGHEST = (13.0, 10.0, 8.0, 6.5, 5.0, 4.0)
# of a height between them, of the one that merging allows by the one before, and the least change | factor | (0, 1) |
# not measured
RAISED_LOWER = 0.98
# that a sample of several components may lose by its price, one after the other | nats | [0, inf) |
# docs/notebook/groups.md
RAISED_AMBIGUOUS = (1e-3, 1e-4, 1e-5)
# the same of matrices, whose heights end at what merging allows | nats | [0, inf) | docs/notebook/groups.md
RAISED_AMBIGUOUS_FULL = (1e-4, 1e-5, 1e-6)
# of what the prices before lose, that the next ones may lose at most | part | (0, 1) | not measured
RAISED_BETTER = 0.5
# most that prices may lose | nats a sample | (0, inf) | not measured
RAISED_LOSS = 0.004
# most that a component on two clusters may save, of what one on one does | part | (0, 1) | docs/notebook/groups.md
RAISED_MERGED = 0.95
# the same of known variances, which lose less by lower prices than by cells about two clusters | part | (0, 1) |
# docs/notebook/groups.md
RAISED_MERGED_KNOWN = 0.7
# by which a value is above that of the solution's components | part | (0, 1) | not measured
RAISED_SLACK = 1e-3
# that tell which heights are of use, at most | samples | [1, inf) | not measured
RAISED_DRAWN = 20_000
# ascents by groups that go on exactly | ascents | [1, inf) | not measured
RAISED_N_EXACT = 4
# of diagonal components, at most | columns | [2, inf) | docs/notebook/groups.md
RAISED_MOST_DIAGONAL = 4
# of spherical components, at most | columns | [2, inf) | docs/notebook/groups.md
RAISED_MOST_SPHERICAL = 6
# of known variances, of fewer summaries tell more | columns | [2, inf) | not measured
RAISED_FEWEST_KNOWN = 4
# of more cells are too many | columns | [2, inf) | docs/notebook/groups.md
RAISED_MOST_KNOWN = 5
# of what prices lose, that suprema lose beside it when better prices are found | part | (0, inf) |
# docs/notebook/groups.md
RAISED_TOLD = 0.5
# of an ascent | steps | [1, inf) | not measured
RAISED_N_CLIMBS = 25
# of so many cells one has an ascent from its split point: what components save most is known | cells | [1, inf) |
# docs/notebook/groups.md
RAISED_ASCEND_EVERY = 64
# of ascents around samples | starts | [1, inf) | not measured
RAISED_N_STARTS = 24
# boxes that are bounded between two looks at the clock | boxes | [1, inf) | argument: as many as a batch of cells
RAISED_AT_ONCE = 64
# suprema may lose, one after the other | nats a sample | (0, inf) | not measured
RAISED_TOLERANCES = (3e-3, 3e-4, 3e-5, 2e-6)
# of a component that is large: few of its cells are closed | parameters | [1, inf) | docs/notebook/groups.md
RAISED_MANY_PARAMETERS = 10
# of `CellPricing`: cells are divided sooner than bounded well; of small components, and of large ones, of which a pass
# is to promise twice what is missing | part | (0, inf) | docs/notebook/groups.md
RAISED_PATIENCE = (1.2, 2.0)
# the same of known variances | part | (0, 1) | docs/notebook/groups.md
RAISED_PATIENCE_KNOWN = 0.1
# of a step | cells | [1, inf) | not measured
RAISED_CELLS = 2_000
# the same in groups | groups | [1, inf) | not measured
RAISED_GROUPS = 2_000_000
# that are divided, at most, to tell where components lie | cells | [1, inf) | not measured
RAISED_CONFINED_CELLS = 40_000
# that prices may lose for that, of what a component saves: more leaves too many cells | part | (0, 1) | not measured
RAISED_CONFINED_LOSS = 0.1
# half sides of cells that are small enough for that | standard deviations of a component | (0, inf) | not measured
RAISED_CONFINED_WIDTH = 0.15
# before progress is looked at, and at most | cells | [1, inf) | not measured
RAISED_MOST_CELLS = (16_000, 1_000_000)
# no progress: this part of what is missing is left after twice the cells | part | (0, 1) | not measured
RAISED_SLOW = 0.8
# of fewer prices of them all are as soon found | samples | [1, inf) | docs/notebook/groups.md
RAISED_FEWEST = 1_000
# of fewer passes are over the samples, of covariance matrices | samples | [1, inf) | docs/notebook/groups.md
RAISED_GROUPED_FULL = 8_000
# the same of other components, which have no such prices then | samples | [1, inf) | docs/notebook/groups.md
RAISED_GROUPED = 10_000
# the same of free variances in so many columns at most | samples | [1, inf) | docs/notebook/groups.md
RAISED_GROUPED_SMALL = 3_000
# of free variances for that | columns | [1, inf) | docs/notebook/groups.md
RAISED_SMALL = 5
# the same of diagonal components of so many columns that prices of all samples are of no use | samples | [1, inf) |
# docs/notebook/many_columns.md
RAISED_GROUPED_DIAGONAL = 1_000
# of small components, and of large ones: of fewer a pass has eight groups or all samples, as groups lose more than they
# spare | samples | [0, inf) | docs/notebook/groups.md
RAISED_EXACT_BELOW = (8_000, 15_000)
# of blocks, as columns that count several times are as hard, and of all | columns | [2, inf) | docs/notebook/groups.md
RAISED_MANY_DIAGONAL = (3, 4)

# [chain_blocks] Chains of regressions.

# directions of a chain; others count as if they were constant | directions | [2, 6] | docs/notebook/chains.md
LONGEST_CHAIN = 4
# parts of the information at which blocks are looked at | parts | (0, 1) | not measured
CHAIN_PARTS = (0.2, 0.3, 0.45, 0.7)
# at which mixtures of blocks are looked for | part | (0, 1) | not measured
CHAIN_MIDDLE = 0.3
# mixtures that EM begins with, the last ones found | mixtures | [1, inf) | not measured
MOST_KNOWN = 10
# in which it is divided | parts | (0, 0.1] | not measured
GRAIN = 0.01
# of EM while directions are looked at | nats | (0, inf) | not measured
CHAIN_ROUGH = 0.05
# the same | steps | [1, inf) | not measured
CHAIN_STEPS = 200
# of EM for a block that is priced, beside those from mixtures that are known | starts | [0, inf) | not measured
CHAIN_STARTS = 20
# tolerance of prices and suprema of a block | nats of the mixture | (0, inf) | not measured
CHAIN_COARSE = 0.5
# cells of a block that may be left | cells | [1, inf) | argument: their memory, 0.2 kB each
CHAIN_OPEN = 1_000_000
# by which directions may miss being orthonormal | none | (0, 1e-10] | argument: what (N4) has room for
CHAIN_ORTHONORMAL = 1e-12
# multiplications of a term, about | multiplications | (0, inf) | argument: an exponential and two sums
WORK_OF_CHAIN = 20.0
# by which a mixture of a block is better than those known | nats | (0, inf) | not measured
CHAIN_LOWER = 0.1
