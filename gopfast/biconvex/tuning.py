"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

import math

# [contradiction] Rows that contradict each other.

# of those of a program, which add up to 1 | none | (0, 1) | not measured
LEAST_MULTIPLIER = 1e-9
# with multipliers: elimination in rationals grows with their cube, and more | rows | [1, inf) | not measured
MOST_MEMBERS = 40
# of the program | rows | [1, inf) | not measured
MOST_ROWS = 5000
# magnitudes up to which bounds are taken along: large ones hide small contradictions from the program | the core's
# units | [0, inf] | not measured
CONTRADICTION_REACHES = (0.0, 1e3, math.inf)
# of the program | the core's units | [1e-10, 1e-3] | argument: HiGHS takes no smaller one
CONTRADICTION_TOLERANCE = 1e-10
# of the points of tangents | none | [1, inf) | not measured
DENOMINATOR = 1000

# [convex_dual] Bounds by convex Lagrangians (X12).

# of forms and products, in all rows | terms | [0, inf) | argument: rationals take about 3 microseconds each
MOST_DUAL_TERMS = 20_000
# of a matrix whose semidefiniteness is decided in rationals | variables | [0, inf) | argument: some 0.1 s
MOST_EXACT = 24
# of Newton's method onto the box | steps | [1, inf) | not measured
PROJECTED_STEPS = 20
# in which a multiplier is quadrupled | steps | [1, inf) | not measured
DUAL_STEPS = 40
# of where the multiplier lies | halvings | [1, inf) | argument: the bits of a double
SECULAR_STEPS = 60

# [convex_points] Least points of convex forms in nodes (X3).

# of slacks at the start | relative to the row's end | (0, 1) | not measured
FIRST_SLACK = 1e-2
# at which a point is given up | part of a step | (0, 1) | not measured
LEAST_POINT_STEP = 1e-8
# of the interior point | steps | [1, inf) | not measured
MOST_POINT_STEPS = 40
# between a row's ends, for an equation | relative to the end | (0, 1) | not measured
NARROW_ROW = 1e-9
# of the way to the nearest bound, which a step may go | part | (0, 1) | not measured
POINT_BOUNDARY = 0.99
# of products of slacks and multipliers, at which a point is good enough | relative to the value | (0, 1) | not measured
POINT_GAP = 1e-9
# the same of the Lagrangian's slope | relative to the costs | (0, 1) | not measured
POINT_SLOPE = 1e-7

# [cycles] Cycles of products (X5).

# by which a cycle's length must be below 2, for its inequality to count as violated | length | (0, 2) | not measured
CYCLE_VIOLATION = 1e-4
# of a cycle | products | [3, inf) | not measured
LONGEST = 8
# whose shortest cycles are sought, those whose products miss most | variables | [1, inf) | not measured
MOST_SOURCES = 60
# narrower intervals have no cycles | relative to the middle where that is above 1 | (0, 1) | not measured
LEAST_HALF_WIDTH = 1e-7

# [ellipsoid] Bounds by convex rows (X11).

# that nothing bounds, of a row | variables | [1, inf) | not measured
MOST_FREE = 200
# over all rows | rounds | [1, inf) | not measured
ELLIPSOID_ROUNDS = 20
# of all rows and rounds | terms | [1, inf) | argument: rationals take about 30 microseconds each
MOST_TERMS = 30_000

# [ellipsoid, convex_dual, convex_certificates, directed_proofs] What counts as definite (X11), (X12), (VL2), (VL3).

# less is none | eigenvalues of a matrix with ones on its diagonal | (0, 1) | not measured
LEAST_CURVATURE = 1e-9

# [ellipsoid, growth, nonlinear, tightening] Beyond what nothing is computed: bounds (X7), (X11), local solutions.

# beyond this bounds and points are none: nothing can be computed with them | the user's units | [1, 1e100] | argument:
# u of it is 0.1 of a unit
WIDEST = 1e15

# [files] Problems in files.

# that reading a file may take | seconds | [0, inf) | not measured
LIMIT = 60.0
# the same for each of its bytes beside | seconds | [0, inf) | not measured
LIMIT_EACH = 1e-4

# [forms] Convexity of forms (X3).

# of a form whose convexity is decided in rationals | variables | [0, inf) | not measured
EXACT_UP_TO = 12

# [grouping] Groups in which forms are convex.

# of the search for groups | starts | [1, inf) | not measured
N_STARTS = 8
# of groupings | evaluations | [1, inf) | not measured
MOST_EVALUATIONS = 400

# [moments] Sets for semidefinite cuts (X4).

# of a set of all variables that products connect | variables | [0, inf) | not measured
MOST_IN_MOMENTS = 50
# of such a set's pairs, which must be products of the problem, for the others are added | part | [0, 1] |
# docs/notebook/biconvex.md
LEAST_DENSITY = 0.7
# of the sets that are taken elsewhere | variables | [0, inf) | docs/notebook/biconvex.md
MOST_IN_CLIQUES = 12

# [lifted_inequalities] Inequalities times distances from bounds (X4).

# of a lifted inequality's products, which the problem need not have | part | [0, 1] | docs/notebook/biconvex.md
MOST_NEW = 0.6

# [growth] Bounds by rows that grow (X11).

# over all rows | rounds | [1, inf) | not measured
GROWTH_ROUNDS = 5
# by which a sum that linear rows are to keep above what is needed may miss that at a point before no multiples of them
# would do | relative to its terms | (0, 1) | argument: beyond the rounding of sums, and no bound of use lies in between
HOPELESS = 1e-9
# of all rows and rounds | terms | [1, inf) | argument: rationals take about 3 microseconds each
MOST_GROWTH_TERMS = 100_000
# denominators of linear rows' multipliers | none | [1, 2**53] | argument: coefficients that cancel must cancel exactly
SIMPLE_MULTIPLIER = 10_000

# [lagrangian] Bounds by Lagrangians (X11).

# violation of a bound, or distance from it, of a row that may have a multiplier | relative to its terms | (0, 1) | not
# measured
ACTIVE = 1e-6
# of a multiplier that is taken for a simple fraction | denominator | [1, inf) | not measured
SIMPLE = 1000
# where it is as near as this | relative to 1 or to the multiplier | (0, 1) | not measured
ALMOST = 1e-6
# of least squares | rounds | [1, inf) | not measured
LAGRANGIAN_ROUNDS = 5
# of the matrix of gradients | numbers | [1, inf) | not measured
MOST_ENTRIES = 250_000
# of the objective's gradient that a row must take to have a multiplier | part | (0, 1) | not measured
SMALLEST = 1e-9

# [lifting] The core's form (X3), (X8).

# of inequalities, times a variable or its distance from a bound | rows | [0, inf) | not measured
MOST_LIFTED_ROWS = 600
# of lifted rows of equations | entries | [0, inf) | not measured
MOST_LIFTED_ENTRIES = 30_000
# of a row that is lifted, which the problem has in no product: rows with more make programs large and trees hardly
# smaller | variables | [0, inf) | docs/notebook/biconvex.md
MOST_ALONE = 1
# that lifted rows add | products | [0, inf) | not measured
MOST_ADDED_PRODUCTS = 150
# of a set where products that are added have all of their Lagrange cuts | variables | [0, inf) | not measured
MOST_WITH_ALL_ROWS = 30
# of a variable, up or down | factor | [1, 1e100] | argument: a coefficient (up to 1e100) of a product of two still is a
# number
LARGEST_SCALE = 1e60
# of what violations are relative to | the core's units | (0, 1) | argument: nothing is divided by 0
LEAST_FLOOR = 1e-200

# [interior] Local solutions by an interior point.

# at the start | the scaled objective's units | (0, inf) | not measured
FIRST_BARRIER = 0.1
# of the barrier parameter from one problem to the next, at least | part | (0, 1) | argument: as Ipopt has it
BARRIER_FALL = 0.2
# the same: the power that it falls with in the end | none | (1, 2) | argument: as Ipopt has it
BARRIER_POWER = 1.5
# of the conditions of a barrier problem, to which it is solved | barrier parameters | (0, inf) | argument: as Ipopt
# has it
INNER_TOLERANCE = 10.0
# of the distance from a bound that a step may take | part | (0, 1) | argument: as Ipopt has it
FRACTION_TO_BOUNDARY = 0.99
# of a start from its bounds | of the bound where it is above 1, and of the interval | (0, 0.5) | argument: as Ipopt
# has it
PUSH = 1e-2
# of a Hessian that bends down along a step, at first | the scaled program's units | (0, inf) | not measured
FIRST_SHIFT = 1e-4
# the same at most: beyond, there is no step | the scaled program's units | (0, inf) | not measured
LARGEST_SHIFT = 1e10
# of a Hessian along a step, less is none | the scaled program's units | (0, inf) | not measured
LEAST_BEND = 1e-8
# of a row at the start, else all are 0 | the scaled program's units | (0, inf) | argument: as Ipopt has it
LARGEST_MULTIPLIER = 1e3
# by which the product of a bound's multiplier and the distance from it may be off the barrier parameter | factor | (1,
# inf) | argument: as Ipopt has it
SPREAD = 1e10
# of the barrier function, which steps may lose | relative | (0, 1) | not measured
BARRIER_ROUNDING = 1e-13
# of rows, so that dependent ones have a solution | the scaled rows' units | (0, 1) | not measured
ROW_SHIFT = 1e-9
# of the same in a step towards rows alone | the scaled rows' units, squared | (0, 1) | not measured
RESTORING_SHIFT = 1e-8
# of the slope that a step must gain | part | (0, 0.5) | argument: as Armijo's rule is used
SUFFICIENT = 1e-4
# at which halving ends | part of a step | (0, 1) | not measured
LEAST_STEP = 1e-6
# of rows, up to which the barrier function alone decides about a step | the scaled rows' units | (0, 1) | not measured
NEARLY_MET = 1e-4
# in vain, one after the other, after which a search ends | steps | [1, inf) | not measured
MOST_STALLED = 5
# of a system that is solved as a dense one | variables and rows | [0, inf) | not measured
MOST_IN_DENSE = 400

# [interior, nonlinear] Local solutions.

# of Ipopt, sequential quadratic programming or the interior point | iterations | [1, inf) | not measured
MOST_ITERATIONS = 200
# of optimality and rows, which are scaled | none | (0, 1) | not measured
NONLINEAR_TOLERANCE = 1e-9

# [nonlinear, preparation] What programs are small.

# that sequential quadratic programming takes: steps grow with the cube of them | variables and rows | [0, inf) | not
# measured
MOST_DENSE = 160

# [nonlinear] Local solutions.

# beside the end of an interior point, which may be a saddle, where quadratic programs begin | of the variable where
# that is above 1 | (0, 1) | docs/notebook/biconvex.md
SADDLE_STEP = 1e-3
# Ipopt's first barrier parameter | the scaled objective's units | (0, inf) | not measured
BARRIER_START = 1e-2
# distance within which a row or a bound holds a point | units of a scaled row or variable | (0, 1) | not measured
HELD_WITHIN = 1e-6
# onto what holds a point, after the program | steps | [0, inf) | not measured
NEWTON_STEPS = 3
# of functions where they have none, at the end of their domain | the user's units | [1, 1e300] | not measured
LARGEST_DERIVATIVE = 1e12

# [reduction] Local searches in the user's variables (XF2).

# of sequential quadratic programming | steps | [1, inf) | not measured
MOST_REDUCED_STEPS = 100
# of the objective, which is scaled, from step to step | none | (0, 1) | not measured
REDUCED_TOLERANCE = 1e-9
# from which on functions have slopes there | the user's units | (0, 1) | not measured
SMALLEST_ARGUMENT = 1e-12

# [sequential_quadratic] Local solutions.

# of the share of all rows that one step leaves as they are: its second derivative; ten times as much where there is no
# step | the scaled objective's units | (0, inf) | argument: Kraft's (1988), as the next six
FIRST_PRICE = 100.0
# of that price | programs | [1, inf) | argument: Kraft's
MOST_PRICES = 6
# of the Hessian, where no step descends | resets | [0, inf) | argument: Kraft's
MOST_RESETS = 5
# of a step | cuts | [1, inf) | argument: Kraft's
MOST_SHORTENED = 11
# of a step that is cut | part of the one before | (0, 1) | argument: Kraft's
SHORTEST_CUT = 0.1
# of the descent foreseen, which must come | part | (0, 1) | argument: Kraft's
LEAST_DESCENT = 0.1
# of the Hessian's curvature along a step, which its update leaves | part | (0, 1) | argument: Powell's (1978)
LEAST_DAMPING = 0.2

# [outcome, preparation, solve] What a search ends with.

# default of `rel_tol` | relative to the objective | (0, 1) | not measured
REL_TOL = 1e-6

# [outcome] Notes.

# in a note | variables | [1, inf) | not measured
MOST_SHOWN = 5
# by which ends of local searches differ, and more, that are different optima | relative, and at least so much |
# (0, 1) | not measured
SAME_END = 1e-6
# that the solution gains by the feasibility tolerance, from which on it has a note | relative to the objective | (0, 1)
# | not measured
NOTEWORTHY = 1e-9

# [preparation] What comes before the search.

# default of the absolute tolerance, which an optimum of 0 needs, at most | what the objective's terms amount to where
# variables are 1, or as near to it as their bounds let them be | (0, 1) | not measured
EPSILON_SHARE = 1e-8
# the same at least | the same | (0, 1) | not measured
LEAST_SHARE = 1e-12
# of local searches | starts | [0, inf) | not measured
N_RANDOM_STARTS = 20
# from which nonlinear programs begin before the root, where it takes long | starts | [0, 20] |
# docs/notebook/biconvex.md
FIRST_DRAWN = 10
# of these starts, all together | variables and rows | [0, inf) | docs/notebook/biconvex.md
ALL_DRAWN = 1500
# of the way from the relaxed dual's solution to a drawn point, where every second of these begins | part | [0, 1] |
# docs/notebook/biconvex.md
NEAR_SHARE = 0.2
# from which on the root takes long, where rows have products | products | [0, inf) | docs/notebook/biconvex.md
MANY_PRODUCTS = 200
# bounds beyond which local searches are made near 0 too: tolerances of programs are shares of a box | the core's units
# | [1, inf) | not measured
WIDE = 1e4
# powers of a bound to search within | none | [0, 1) | not measured
NEAR = (0.0, 0.5)
# of these local searches | starts | [0, inf) | not measured
N_NEAR_STARTS = 6
# where the cutoff leaves this part of a variable's range, everything is scaled anew | inverse of the part | (1, inf) |
# not measured
MUCH_NARROWER = 8.0
# of all boxes, before the search | times | [0, inf) | not measured
MOST_NARROWINGS = 4

# [outcome, preparation] Violations.

# greatest violation of a solution | relative, as of `BiconvexProblem.violations` | (0, 1e-6] | not measured
FEASIBILITY_TOL = 1e-8

# [domain_ends] Points at the ends of functions' domains (XF4).

# in definitions, up to which solutions are evaluated in rationals | terms | [0, inf) | argument: microseconds each
MOST_EXACT_TERMS = 30_000
# an argument that is taken to be 0 at a solution | its greatest term, at least 1 | [1e-8, 1) | argument: a
# point that meets rows to the tolerance may be as far outside
NEARLY_AT_END = 2e-8
# of variables in such arguments, one trial after the other | bits | [1, 53] | argument: more move a point less, fewer
# leave sums exact
BITS_KEPT = (44, 38, 33, 28)
# less has no more bits behind the point | a variable's unit | (0, 1] | not measured
LEAST_SIZE = 2.0**-10

# [program] Linear programs of proofs (V9).

# of lifted rows | rows times bounds | [0, inf) | not measured
MOST_LIFTED = 600
# that lifted rows add | products | [0, inf) | not measured
ADDED_IN_PROOFS = 150
# in all | rows | [0, inf) | not measured
MOST_SQUARES = 400
# of one program | rows | [1, inf) | not measured
SQUARES_A_ROUND = 12
# a multiplier that is left out | the program's scale | [0, 1) | not measured
TOO_SMALL = 1e-11
# of a square that is taken | the program's scale | (0, 1) | not measured
SQUARE_VIOLATION = 1e-7
# of a set whose products are bounded together | variables | [0, inf) | not measured
IN_MOMENTS_OF_PROOFS = 30
# of HiGHS, of rows and of reduced costs | the program's scale | [1e-10, 1e-3] | not measured
PROGRAM_TOLERANCE = 1e-9

# [cuts] Bounds by single rows (V9).

# of an interval that is left by a cut of a row with products | part | (0, 1) | not measured
WORTH_BY_PRODUCTS = 0.8

# [lines, program] Lines beside functions, in the programs of proofs (XF3).

# at solutions, of each function | rows | [0, inf) | not measured
TANGENTS_OF_A_FUNCTION = 4
# by which a solution is beyond a function for a tangent there | of the value's size | [0, 1) | not measured
LEAST_TOUCH = 1e-9
# what a tangent may raise the bound by, if it is added | part of what the bound lacks | [0, 1) | not
# measured
WORTH_A_TOUCH = 0.05
# from an end where a function is too steep to the place of a tangent | part of the interval | (0, 1) | not measured
NEAR_END = 1e-3

# [proof, directed_proofs] Proofs (V9), (VL3).

# both variables of a product that is 0 at a solution: more is in neither case | their scale | (0, 1) | not measured
NEARLY_A_CASE = 1e-6
# for each that the search took | nodes | [1, inf) | not measured
MOST_NODES_EACH = 5
# beside those | nodes | [0, inf) | not measured
MOST_NODES_BESIDE = 1000
# of tangents in a node, and of programs for a smaller box | rounds | [1, inf) | not measured
PROOF_ROUNDS = 12
# the same of the root | rounds | [1, inf) | not measured
MOST_ROOT_ROUNDS = 40
# of an interval that is left by a cut worth an entry | part | (0, 1) | not measured
WORTH_A_CUT = 0.9
# the same by one worth another program | part | (0, 1) | not measured
WORTH_A_PROGRAM = 0.8
# of the rows for a node's box, and of linear programs for the root's | sweeps | [1, inf) | not measured
SWEEPS = 3
# of an interval that is left on either side of a split | part | (0, 0.5] | not measured
MIDDLE = 0.1
# multipliers that are multiples of their inverses | inverse of the grid's step | [1, 2**52] | not measured
GRIDS = (2.0**8, 2.0**20, 2.0**30)
# of an interval that is not split | relative | [0, 1) | not measured
NARROW = 1e-9
# of the gap, or of the tolerance, that a proof may give away of a bound that a limit left | part | (0, 1) | not
# measured
SHARE = 1e-3
# that a proof of an optimum keeps to | certificates' margin | (1, inf) | argument: the part of it that is left beside
# `SHARE` must be more than the margin
LEAST_TOLERANCE = 4.0

# [recession] Rays along which a problem is unbounded (X11).

# half-widths of the box around the point | the numbers of the problem | (0, inf) | not measured
RAY_REACHES = (10.0, 1e3)
# of a search for a ray | nodes | [1, inf) | not measured
MOST_NODES = 64
# the same | seconds | (0, inf) | not measured
MOST_SECONDS = 5.0
# of the objective along a ray with entries up to 1 | none | (0, 1) | not measured
LEAST_FALL = 1e-6
# of the rationals that a ray's entries are taken for | none | [1, inf) | not measured
DENOMINATORS = (1, 2, 10, 1000, 10**6)
# entries of a ray that are taken for 0, and slopes of rows | none | (0, 1) | not measured
SMALL = 1e-7
# violation of a point | as of `BiconvexProblem.violations` | (0, 1e-6] | not measured
RAY_FEASIBLE = 1e-9

# [result] What a result shows.

# in its text | variables | [1, inf) | not measured
MAX_VARIABLES_SHOWN = 20

# [solve] The global solve.

# of variables that nothing bounds: boxes to search, while the larger ones hold better points | the core's units | (0,
# inf) | not measured
REACHES = (1e2, 1e4, 1e6, 1e8)
# of a checkpoint's objective: what evaluating it anew may change | the core's units | (0, 1) | not measured
SAME = 1e-5
# of a search without ends, before boxes are put around what nothing bounds | nodes | [0, inf) |
# bench/biconvex_unbounded.py
WHOLE_NODES = 300
# gain by a box | relative to the objective | (0, 1) | not measured
WORTH_GROWING = 1e-6

# [outward] Floats on a side of a rational number.

# of an objective that is derived | the user's units | [1, 1e308] | not measured
LARGEST_OBJECTIVE = 1e300

# [tightening] Bounds before the search (X7).

# half-widths of the boxes put around variables that nothing bounds | the magnitudes in their rows | (0, inf) | not
# measured
TRIAL_REACHES = (1e3, 1e6)
# beyond which a variable is tried to be excluded | the core's units | (0, inf) | not measured
TRIAL_LIMITS = (4.0, 64.0, 1e3, 1e5, 1e7)

# [composition, cvxpy, nl, polynomial] Polynomials (XP1).

# of a product of variables, with repetition | factors | [2, inf) | argument: x^64 has 6 variables and ranges that mean
# little
MOST_DEGREE = 64
# of exponents that are any numbers | none | (64, 1e6) | argument: beyond it powers of 1.1 are infinite or 0 as doubles
MOST_EXPONENT = 1e4
# of a product whose factors are remembered, for logarithms among them (XF2) | terms | [1, inf) | not measured
MOST_REMEMBERED = 12
# of exponents that are fractions | their denominator, and numerator | [2, inf) | argument: roots are powers of this
# degree (XP1)
MOST_ROOT = 6

# [nl] What files may have.

# variables, or rows, of a file's head | none | [1, inf) | argument: beyond what can be solved; a head that lies asks
# for no more memory than that
MOST_IN_FILE = 1_000_000

# [hyperbolas] Tangents of hyperbolas (X13).

# of a point's distances from the asymptotes | one to the other | (0, 1) | not measured
FLATTEST = 1e-6
# of a point at which a tangent is made, and of its root: below 0, for the best point meets its rows | relative | (-inf,
# 1) | not measured
LEAST_TANGENT_VIOLATION = -1e-7

# [preparation] Tangents of hyperbolas (X13).

# in which tangents at the programs' solutions are added at the root | rounds | [0, inf) | not measured
TANGENT_ROUNDS = 30
# by which a round must raise the bound not to be idle | of the gap | (0, 1) | not measured
WORTH_A_TANGENT = 0.02
# one after the other, after which there is no more | rounds | [1, inf) | not measured
MOST_IDLE_TANGENTS = 2

# [squared_forms] Variables for linear forms whose squares are concave terms (XL1).

# of a problem | forms | [0, inf) | argument: each has a column and an equation in every program
MOST_SQUARED = 500
# of such a variable, in notes | characters | [4, inf) | argument: a line holds it
LONGEST_NAME = 60

# [concave_directions] Variables for the directions in which forms are concave (XL3).

# of a problem | directions | [0, inf) | docs/notebook/biconvex.md
MOST_DIRECTIONS = 10
# of a form, for each of its directions | variables | [2, inf) | docs/notebook/biconvex.md
VARIABLES_EACH = 3
# of a square beyond what takes its direction's curvature away | part | (0, 1) | argument: what is left is convex,
# whatever rounding does
EXCESS_OF_SQUARES = 1 / 32
# of a problem's forms | terms | [0, inf) | argument: rationals take microseconds each
MOST_DIRECTED_ENTRIES = 100_000

# [symmetry] Permutations and reflections (XL2).

# of a problem in which symmetries are looked for | entries of its matrices | [0, inf) | not measured
MOST_SYMMETRIC_TERMS = 5_000
# of the refinements, of terms and variables in each round | terms | [0, inf) | argument: 4 microseconds each
MOST_SYMMETRY_WORK = 60_000
