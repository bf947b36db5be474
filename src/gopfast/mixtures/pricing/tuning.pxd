"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport index, real

cdef enum:
    # [pricing] The queue of cells.

    # cells that are bounded at a time, whatever the number of threads | cells | [2, 4096] | not measured
    BATCH = 64

    # [cell_tree] Look-ups.

    # boxes that wait while a tree of cells is searched | boxes | [64, 1024] | argument: one for each level, and each
    # level halves the cells, of which there are fewer than 2^63
    MOST_DEPTH = 128

cdef extern from *:
    # [pricing] The queue of cells.

    # of so many cells one has an ascent from its split point | cells | [1, inf) | not measured
    index ASCEND_EVERY "8L"
    # steps of such an ascent | passes | [1, inf) | not measured
    int ASCENT "5"
    # samples times tasks from which threads pay | samples | [1, inf) | not measured
    index PRICING_PARALLEL_FROM "2000L"

    # [pricing_cuts] Nodes of a tree cut by cells.

    # turns of cutting: what one component loses lets the others lose more | turns | [1, inf) | not measured
    int MOST_TURNS "3"

    # [price_cell] The supremum over one cell, by a projected Newton method.

    # curvature in each coordinate that prices of summaries allow for | 1 / least variance | [0.5, inf) | argument: half
    # is what a concave cost may exceed the chord of a cell of the grid by, (P7)
    real MOST_CURVED "0.5"
    # what a step must promise to be worth a pass | relative to the bound | (0, 1) | not measured
    real SETTLED "1e-10"
    # an error of the minorant below this says nothing of where to split | relative to the bound | (0, 1) | not measured
    real NO_ERROR "1e-12"
    # by which the diagonal of a Hessian that may be singular is raised | factor | [1, 2] | not measured
    real DAMPED "(1 + 1e-8)"
    # stands for 0 in a divisor | none | (0, 1e-100] | argument: its reciprocal is finite
    real SMALLEST "1e-280"
    # steps of multipliers are damped so that they exceed typical values by no more than about so much | factor |
    # (1, inf) | not measured
    real CELL_LONGEST "30.0"
    # halvings of a step that gains nothing | passes | [0, inf) | not measured
    int MOST_RETREATS "4"
    # passes after which a cell that has made little progress begins again without its parent's multipliers | passes |
    # [1, inf) | not measured
    int AFRESH "5"
    # what a step is to promise at most where a cell has made so little | part of what is missing | (0, 1) |
    # docs/notebook/groups.md
    real MOST_PATIENT "0.4"
    # what little progress is: the part by which the bound is nearer to the cutoff than the parent's | part | (0, 1) |
    # not measured
    real PROGRESS "0.05"
    # gains of an ascent fall about geometrically, so that their sum is foreseen from this step on | steps | [3, inf) |
    # docs/notebook/small_problems.md
    int FORESEEN_FROM "3"
    # at no slower a rate than this | factor from gain to gain | (0, 1) | docs/notebook/small_problems.md
    real SLOWEST "0.98"
    # an ascent is given up that so many times the foreseen sum would not bring to the least value of interest |
    # factor | [1, inf) | docs/notebook/small_problems.md
    real DOUBT "4.0"
    # levels of a variable from which on it is left free, so that no cell divides it | levels | [2, inf) |
    # docs/notebook/prices.md
    int FEWEST_LEVELS "3"

    # samples from which on passes leave out blocks of them | samples | [1, inf) | docs/notebook/prices.md
    index BLOCKED_FROM "1000L"
    # and up to which: of more most passes are over groups, and blocks take long to make | samples | [1, inf) |
    # docs/notebook/shared_parameters.md
    index BLOCKED_TO "200000L"
    # columns up to which that is done | columns | [1, 16] | argument: squares of as many numbers are known of a block
    index MOST_BLOCKED "16L"

    # [sample_blocks] Blocks of samples that a component takes nothing of.

    # of a block | samples | [8, 128] | docs/notebook/prices.md
    index SAMPLES_OF_A_BLOCK "64L"

    # [master] The master problem, by Newton's method on a barrier. Any prices give a bound, whatever these are (P6).

    # steps of one call | steps | [1, inf) | not measured
    int N_STEPS "100"
    # of a step in any price | nats | (0, inf) | not measured
    real MASTER_LONGEST "3.0"
    # of the barrier's weight | factor | (0, 1) | not measured
    real SHRINK "0.15"
    # Newton decrement at which the weight falls | the barrier's weight | (0, inf) | not measured
    real ENOUGH "0.5"
    # the same at the last weight | the barrier's weight | (0, inf) | docs/notebook/prices.md
    real AT_LAST "1e-3"
    # part of a step below which a search is given up: the next weight, then | part | (0, 1) | not measured
    real LEAST "1e-3"
    # of the next step that a search tries | factor | (0, 1) | not measured
    real SHORTER "0.4"
    # part of the slope that a step must gain (Armijo) | part | (0, 0.5) | not measured
    real ARMIJO "0.1"
    # added to the diagonal of the Newton matrix | weight of the samples | (0, 1) | not measured
    real RIDGE "1e-12"
    # to the center | the barrier's weight per nat squared | [0, inf) | not measured
    real PULL "1.0"
    # of what all rows that are left out add to the identity, each at most its share | none | [0, 1) | not measured
    real LEFT_OUT "0.3"
    # saturated weight that has no curvature | of the total | [0, 1) | not measured
    real NO_MASS "1e-12"
    # of dual multipliers from primal ones | factor | (1, inf) | not measured
    real FARTHEST "1e3"
    # of the way to a dual multiplier of 0 | part | (0, 1) | not measured
    real NEARLY "0.99"
    # no price is ever this large | nats | (1e6, inf) | argument: finite, and above all that are met
    real LARGEST "1e300"
    # to which exponents of prices are clipped | none | (0, 700] | argument: exp(700) is finite
    real MASTER_LARGEST_EXPONENT "600.0"
    # Newton's steps to the levels sigma of given prices | steps | [1, inf) | not measured
    int LEVEL_STEPS "60"
    # samples times atoms from which threads pay | terms | [1, inf) | not measured
    index MASTER_PARALLEL_FROM "50000L"

    # [group_pricing] Cells over groups of samples.

    # level of the groups that every cell begins with | level | [0, 6] | not measured
    int FIRST_LEVEL "0"
    # what groups may lose of what a cell's bound exceeds the cutoff by: they are divided until then | part | (0, 1) |
    # docs/notebook/groups.md
    real SHARE_LOST "0.8"
    # the same of known variances, whose cells are split where the minorant errs alone | part | (0, 1) |
    # docs/notebook/groups.md
    real SHARE_LOST_KNOWN "0.3"
    # the same, at least | relative to the bound | (0, 1) | not measured
    real LEAST_LOST "1e-7"
    # the same of an ascent | relative to its value | (0, 1) | not measured
    real SHARE_OF_ASCENTS "0.03"
    # a cell is split by the minorant's error if that is more than this part of what is missing | part | (0, 1) |
    # docs/notebook/groups.md
    real TOLD "0.25"
    # of what a minorant errs by at most for means in a cell, beside what it does at the column, where a cell is split |
    # part | [0, inf) | docs/notebook/groups.md
    real MEAN_BESIDE "0.3"
    # the same for variances | part | [0, inf) | docs/notebook/groups.md
    real VARIANCE_BESIDE "0.35"
    # groups from which on a pass may end though these lose more | groups | [64, inf) | docs/notebook/groups.md
    index MANY_OF_A_PASS "500L"
    # if that is no more than this part of what the minorant loses of the cell that its cell is a half of | part |
    # [0, inf) | docs/notebook/groups.md
    real BEARABLE "0.5"
    # of dividing groups for one pass | rounds | [1, inf) | not measured
    int MOST_ROUNDS "24"
    # what a group costs, in samples of a pass over them all; `grouped` has the same | samples | [1, inf) |
    # docs/notebook/groups.md
    index SAMPLES_OF_A_GROUP "12L"
    # what a sample in the place of a group costs, in samples of a pass over them all | samples | [1, inf) |
    # docs/notebook/groups.md
    index SAMPLES_OF_ONE "4L"
    # of Newton's method to the scale s of a column | steps | [1, inf) | argument: any s gives a bound (U2)
    int MOST_ROOT_STEPS "50"
    # at which these end | relative change of s | (0, 1) | argument: any s gives a bound (U2)
    real ROOT_TOLERANCE "1e-6"
    # below it s is taken to be 1 | none | (0, 1e-100] | argument: its logarithm and reciprocal are finite
    real LEAST_SCALE "1e-290"

    # [sample_groups] Moments of groups.

    # exponents are cut off here | none | (0, 700] | argument: exp(700) is finite
    real GROUPS_LARGEST_EXPONENT "690.0"
    # and raised to this | none | (-700, 0) | argument: products of smaller exponentials are subnormal, and slow
    real GROUPS_LEAST_EXPONENT "(-200.0)"
    # a mean of exp(y) up to so far above its mean is bounded by the variance | nats | (0, 690] | not measured
    real GROUPS_NEAR "2.4"

    # [scales] Scales of columns, about.

    # of Newton's method to the scale of a column | steps | [1, inf) | argument: any prices give a bound (P1)
    int SCALES_STEPS "30"
    # at which these end | relative change of the scale | (0, 1) | argument: any prices give a bound (P1)
    real SCALES_CLOSE "1e-7"
    # gains are cut off here | nats | (0, 700] | argument: exp(700) is finite
    real SCALES_LARGEST "600.0"

    # [hull_distances] Masses of samples.

    # exponents below which exponentials are not computed one by one | nats | (-700, 0) | not measured
    real LEAST_LOG "-36.0"
    # largest y of samples below which their masses are bounded by it alone | nats | (-700, 0) |
    # docs/notebook/groups.md
    real NOTHING "-20.0"

    # [hull_cells, hull_shells] Cells and balls in the hull of the means.

    # of a range of precisions, each with a bound by moments of its own | parts | [1, inf) | not measured
    int N_PARTS "8"
    # of an interval in which a multiplier is sought | halvings | [1, inf) | argument: any of them gives a bound (Y2)
    int N_HALVINGS "30"
    # of finding a quadratic form and its largest value anew | turns | [1, inf) | argument: any gives a bound (Y2)
    int HULL_MOST_TURNS "5"
    # most that masses may exceed what is wanted by in a shell, of what is surely in | part | (0, 1) | not measured
    real MOST_CHANGE "0.5"
    # most that log scale may differ by direction in a ball | nats | [0, inf) | not measured
    real MOST_SHIFT "0.25"
    # of a block's weight: what its masses bend by, if that is less, counts with its worst direction | part | (0, 1) |
    # not measured
    real SLIGHT "1e-3"
    # of a turn more, over what the one before asked for | factor | [1, inf) | not measured
    real MORE_SHIFT "1.05"
    # a cell whose bound is so many times what would do is not looked at in earnest | factor | [1, inf) | not measured
    real HOPELESS "1.5"
    # a cell whose bound without directions is so many times what would do has no other | factor | [1, inf) |
    # not measured
    real TOO_FAR "8.0"
    # a scale that changes by less is kept | relative | (0, 1) | not measured
    real SAME_SCALE "3e-7"
    # log scale may differ by so much from the one blocks were left out at | nats | (0, 8) | not measured
    real FARTHEST_SCALE "3.0"
    # of a block's weight: masses that are less count with their worst direction | part | (0, 1) | not measured
    real LIGHT "0.01"
    # of finding a room | turns | [1, inf) | argument: any gives a room
    int ROOM_TURNS "8"
    # of what is asked for, that is to be saved where the room is taken; its square is enough | part | (0, 1) |
    # docs/notebook/many_columns.md
    real ROOM_SAVED "0.82"
    # the same where there is little room | part | (0, 1) | not measured
    real ROOM_CLOSELY "0.99"
    # up to which it is little | nats | [0, inf) | not measured
    real ROOM_LITTLE "0.5"
    # of the logarithm of what is saved, by log scale, about | quotient | [1, inf) | not measured
    real ROOM_SLOPE "1.4"
    # least log scale | nats | (-700, 0) | argument: exp of it is a normal number
    real LEAST_LOG_SCALE "-600.0"

    # [chain_pricing] Cells of regressions.

    # square of a strip from which on tangents of squares are those of its near side | least variances | (0, inf) |
    # docs/notebook/chains.md
    real STRIP "9.0"
    # what a sample loses by a side of a cell, at most | nats | (0, inf) | docs/notebook/chains.md
    real FLAT "30.0"
    # half a range of scales that is divided first | relative to its middle | (0, 1) | docs/notebook/chains.md
    real SCALE_FIRST "0.6"
    # multiplier of the mean of squares, at most | nats | [0, 0.5] | argument: at half squares have no cost left
    real MOST_MULTIPLIER "0.45"
