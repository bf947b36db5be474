"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport index, real

cdef enum:
    # [convex_programs] Convex programs of one side.

    # from one problem to the next | tangents | [0, 400] | not measured
    N_KEPT = 50

    # [bilinear_rounds] Rounds of rows that solutions violate (X4).

    # of semidefinite cuts and cycles | rounds | [0, 2**20] | not measured
    MOST_CUT_ROUNDS = 60
    # that gain little, after which they end | rounds | [1, 2**20] | not measured
    MOST_IDLE_ROUNDS = 4
    # with which least points of forms are looked for | columns | [0, 2**20] | argument: 0.1 s for each, mostly its
    # matrices
    MOST_POINT_COLUMNS = 300

    # [learnt_rows] Rows that the root needed (X4).

    # of one set of variables, in a round | cuts | [1, 2**20] | not measured
    CUTS_A_ROUND = 12
    # the same, in all rounds | cuts | [1, 2**20] | not measured
    MOST_OF_A_SET = 300
    # in all | rows | [0, 2**20] | not measured
    MOST_CYCLES = 1000
    # for each product, on average | rows | [0, 2**20] | not measured
    CYCLES_EACH = 4

    # [learnt_rows, bilinear_rows] Semidefinite cuts.

    # in all | rows | [0, 2**20] | docs/notebook/biconvex.md
    MOST_CUTS = 1000

cdef extern from *:
    # [alternating] The primal (X9).

    # violation with which a point is settled | relative, as of `BiconvexProblem.violations` | (0, 1) | not measured
    real NEARLY_FEASIBLE "1e-6"
    # that a local search may take in any case, and SHARE_OF_LPS of the others beside | linear programs | [1, inf) | not
    # measured
    int FEW_LPS "300"
    # of the search's own programs, which local searches may take too | part | [0, inf) | not measured
    real SHARE_OF_LPS "0.5"
    # that a local search may take in any case, and SHARE_OF_ITERATIONS of the others beside | simplex iterations | [0,
    # inf) | docs/notebook/biconvex.md
    int FREE_ITERATIONS "2000"
    # of the search's own iterations, which local searches may take too | part | [0, inf) | docs/notebook/biconvex.md
    real SHARE_OF_ITERATIONS "0.25"
    # of the search's own, after each of which a nonlinear program starts from another drawn point | simplex iterations
    # | [1, inf) | docs/notebook/biconvex.md
    int DRAWN_EACH "4000"
    # of the way from a node's solution to a drawn point, where every second of these begins | part | [0, 1] |
    # docs/notebook/biconvex.md
    real NEAR_SHARE "0.2"
    # up to which DRAWN_EACH holds; beyond, its square is in proportion to it | variables and rows | [1, inf) | not
    # measured
    real SMALL_NONLINEAR "150.0"
    # of alternation between the sides | steps | [1, inf) | not measured
    int MOST_STEPS "40"
    # in both sides at once, in a trust region | steps | [0, inf) | not measured
    int MOST_LINEARISATIONS "40"
    # of the violations, which alternation must not leave: else it has come to its end | part | (0, 1] | not measured
    real HARDLY_LESS "0.999"
    # of the trust region | the core's units | (0, inf) | not measured
    real FIRST_RADIUS "0.25"
    # of the trust region, at which steps end | the core's units | (0, 1) | not measured
    real LEAST_RADIUS "1e-11"
    # radius after a step that helped, over the one before | factor | [1, inf) | not measured
    real WIDER "2.0"
    # radius after a step that did not help, over the one before | factor | (0, 1) | not measured
    real NARROWER "0.25"
    # of a violation | the scaled objective's units | (0, inf) | not measured
    real PENALTY "1e3"
    # of programs that a nonlinear one follows on; more where it has not helped | entries | [1, inf) | not measured
    index NONLINEAR_EACH "10000L"
    # without a feasible point, each followed by a nonlinear program; then every 2^k-th is | searches | [0, inf) | not
    # measured
    int FIRST_VAIN "4"

    # [convex_step] Convex quadratic programs.

    # of a normal's square, that active rows must leave of it, or it depends on them | part | (0, 1) | not measured
    real DEPENDENT "1e-20"
    # violation with which a row counts as met | relative to its terms or its length | (0, 1) | not measured
    real NEARLY_ACTIVE "1e-12"

    # [convex_programs] Convex programs of one side.

    # of HiGHS, of rows and of reduced costs | the core's units | [1e-10, 1e-3] | argument: HiGHS takes no smaller one
    real CONVEX_LP_TOLERANCE "1e-10"
    # by which a form may exceed its tangents in a solution | relative | (0, 1e-6] | not measured
    real TANGENT_TOLERANCE "1e-9"
    # violation of a row with forms, up to which it needs no further tangent | relative | (0, 1e-6] | not measured
    real LEFT_BY_TANGENTS "5e-9"
    # of tangents in one convex problem | rounds | [1, inf) | not measured
    int MOST_ROUNDS "60"
    # of a program | tangents | [1, inf) | not measured
    int CONVEX_N_TANGENTS "400"
    # of a solution that is not as feasible as asked for | repairs | [0, inf) | not measured
    int MOST_REPAIRS "5"
    # distance from a bound that is none | relative to the bound where that is above 1 | [0, 1e-6] | not measured
    real RAY_ON_BOUND "1e-10"
    # least fall of the costs along a ray | relative to its terms | (0, 1) | not measured
    real FALLING "1e-9"

    # [convex_programs, settling] Points that count.

    # greatest violation of a point that counts as feasible | relative, as of `BiconvexProblem.violations` | (0, 1e-8] |
    # argument: a fourth of what the documents promise, as sizes of terms are rounded here
    real FEASIBLE "0.25e-8"

    # [settling] Newton's steps until the user's rows hold (X9).

    # of Newton's method: where rows are tangent to each other they converge linearly | steps | [1, inf) | not measured
    int MOST_CORRECTIONS "40"
    # of the violation that a step must not leave | part | (0, 1) | not measured
    real WORTH_A_CORRECTION "0.7"
    # of a correction that does not help | halvings | [0, inf) | not measured
    int MOST_HALVINGS "5"

    # [bilinear_branching] Where a box is divided.

    # distance of a switch's sides from 0 at the solution, for it to be split | the core's units | [0, 1) | not measured
    real LEAST_OFF "1e-9"
    # by products at the solution, for the Lagrangian to rank variables | the core's units | [0, 1) | not measured
    real LEAST_MISS "1e-9"
    # multiplier that a row without one counts with where the solution's variables violate it | greatest multiplier of
    # rows with products | [0, 1] | docs/notebook/biconvex.md
    real SHARE_OF_VIOLATED "0.1"
    # of the root's widths, up to which a width counts in the scores of variables | factor | (0, inf) | not measured
    real WIDEST_SHARE "4.0"
    # what stands for 0 in a quotient | none | (0, 1e-100] | argument: above the least double, so that the quotient is
    # finite or infinite but no NaN
    real SMALLEST_DIVISOR "1e-300"

    # [bilinear_rows] The program of a node.

    # of HiGHS, of rows and of reduced costs | the core's units | [1e-10, 1e-3] | argument: HiGHS
    # takes no smaller one, and what it leaves keeps proofs from a gap of 1e-9
    real LP_TOLERANCE "1e-10"
    # of a node's program, beside those that it starts with | tangents | [0, inf) | not measured
    int N_TANGENTS "64"
    # the same for each form | tangents | [0, inf) | not measured
    int TANGENTS_EACH "2"
    # half-width of an interval from which on it has rows of cycles | relative to the middle where that is above 1 | (0,
    # 1) | not measured
    real NARROWEST_OF_CYCLES "1e-8"
    # greatest product of two half-widths over the least, up to which a cycle has a row | factor | [1, inf) | argument:
    # HiGHS drops entries below 1e-9
    real WIDEST_OF_CYCLES "1e9"

    # [bilinear_rounds] Rounds of rows that solutions violate (X4).

    # by which a form is undercut, for a tangent to be added | part of what the node lacks to the cutoff | (0, 1) | not
    # measured
    real TANGENT_SHARE "1e-3"
    # the same where there is no cutoff | the core's units | (0, 1) | not measured
    real TANGENT_WITHOUT_CUTOFF "1e-6"
    # the same at least: less shows only the tolerance of the program | the core's units | [0, 1) | not measured
    real LEAST_TANGENT "1e-10"
    # by which the bound may be below the value at the forms' least point, for no more tangents | part of what the node
    # lacks to the cutoff | (0, 1) | not measured
    real POINT_SHARE "0.05"
    # of what the parent lacks to the cutoff: nodes that gain less look for the least point of the objective's forms |
    # part | [0, 1] | docs/notebook/biconvex.md
    real HARDLY_RAISED "0.002"
    # of what products miss: where forms miss more, their least point is looked for | part | [0, inf) |
    # docs/notebook/biconvex.md
    real LEAST_FORMS_SHARE "0.1"
    # of tangents at solutions of programs, before the least point of the objective's forms is looked for | rounds | [0,
    # inf) | docs/notebook/biconvex.md
    int ROUNDS_BEFORE_POINT "8"
    # of what products miss: forms that miss less wait for the children | part | [0, inf) | not measured
    real FORMS_SHARE "0.5"
    # of lifted rows | rounds | [0, inf) | not measured
    int MOST_LIFTS "30"
    # by which a solution violates a lifted row that is taken | relative, as rows are scaled | (0, 1) | not measured
    real LEAST_EXCESS "1e-7"
    # the same, of what it violates the worst by | part | [0, 1] | not measured
    real EXCESS_SHARE "0.2"
    # what a round should gain | part of the gap, or of the bound where there is no incumbent | (0, 1) | not measured
    real CUT_PROGRESS "5e-3"
    # that cycles must close of the root's gap, for nodes to have them | part | [0, 1] | not measured
    real WORTH_OF_CYCLES "1e-2"

    # [bilinear_tightening] Tightening of a node's box (X7).

    # of propagation through the rows | rounds | [0, inf) | not measured
    int PROPAGATION_ROUNDS "10"
    # of the programs for a node's bounds | iterations times rows | [0, inf) | not measured
    real MOST_WORK "3e7"
    # below which programs are solved by the primal method; on large ones the dual method takes a quarter of the
    # iterations | rows | [0, inf) | not measured
    int PRIMAL_SIMPLEX_BELOW "300"
    # below it a reduced cost is no slope, beside the tolerance of the program | the core's units | (0, 1) | argument:
    # the tolerance to which HiGHS solves
    real LEAST_REDUCED_COST "1e-9"
    # whose bounds programs of a node tighten, those whose products miss most; where there are no more the programs cost
    # more than nodes | variables | [1, inf) | docs/notebook/biconvex.md
    int BOUNDED_IN_NODES "12"
    # whose programs for a bound are put off, after one that hardly moved it | levels of nodes | [0, 2**20] |
    # docs/notebook/biconvex.md
    int BOUND_WAITS "2"
    # of an interval's width by which a program must move its bound, or it hardly did | part | [0, 1] | not measured
    real HARDLY_MOVED "0.01"
    # of an interval's width, up to which the node's solution is too near to a bound for a program to move it far | part
    # | [0, 1] | docs/notebook/biconvex.md
    real FAR_FROM_BOUND "0.5"
    # of a box's width that they must leave for another round to stop | part | (0, 1) | docs/notebook/biconvex.md
    real WORTH_A_ROUND_AFTER "0.75"
    # of an interval that is left as it is | relative to its end where that is above 1 | [0, 1) | not measured
    real LEFT_WIDTH "1e-9"
    # of an interval's width within which a solution shows its bound to be needed | part | [0, 0.5) | not measured
    real ON_BOUND "1e-3"
    # of a box's width that tightening must leave for another round to stop | part | (0, 1) | not measured
    real WORTH_A_ROUND_OF_PROGRAMS "0.9"

    # [data] Propagation through rows (X7).

    # of an interval's width: smaller steps are not taken | part | (0, 1) | not measured
    real LEAST_CHANGE "1e-3"
    # of an interval's width: what lets the rounds go on | part | (0, 1) | not measured
    real WORTH_A_ROUND "0.05"
    # what a step of a half-line counts as: it could shrink for ever | part | (0, 1) | not measured
    real HALF_LINE_CHANGE "0.01"
    # of propagation, from Python | rounds | [1, inf) | not measured
    int BOX_ROUNDS "50"
    # that is derived: beyond, nothing can be computed | the core's units | [1, 1e100] | argument: u of it is 0.1 of a
    # unit
    real LARGEST_BOUND "1e15"

    # [learnt_rows] Rows that the root needed (X4).

    # in size, for a cut | those of a matrix with entries near 1 | (0, 1) | not measured
    real LEAST_EIGENVALUE "1e-6"
    # entries of a cut's vector are multiples of its inverse: products of two are exact, and none is so small that HiGHS
    # leaves it out | inverse of the grid's step | [2, 31622] | argument: HiGHS drops entries below 1e-9
    real CUT_GRID "16384.0"

    # [tangents] Tangents of forms (X3).

    # of a form, on average, that a child may begin with | tangents | [0, inf) | not measured
    int KEPT_EACH "4"
    # the same at least, for each of its variables | tangents | [0, 1] | docs/notebook/biconvex.md
    real KEPT_PER_VARIABLE "0.5"
    # of a node's memory for them | numbers | [0, inf) | argument: 32 KiB a node
    int MOST_KEPT_FLOATS "4096"
