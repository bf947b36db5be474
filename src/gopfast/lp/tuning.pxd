"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [lp] Linear programs in HiGHS.

    # of the simplex method, of a program that is not cycling: so many, and ITERATIONS_EACH for each row and column |
    # iterations | [1, inf) | not measured
    int FEW_ITERATIONS "1000"
    # for each row and column | iterations | [1, inf) | not measured
    int ITERATIONS_EACH "20"
    # by which costs of columns without an end are moved where rounding leaves the signs of reduced costs open |
    # relative to the cost, absolute below 1 | (1e-10, 1e-5) | argument: above the tolerance of duals of biconvex
    # programs, 1e-10
    real INSIDE "1e-9"
    # by which a Farkas ray is moved to where reduced costs of columns without an end have their signs, at least |
    # relative to the ray | (0, 1) | argument: rounding is 1e-16 of them; the ray loses what it is moved by
    real LEAST_STEP_INSIDE "1e-12"
    # from one such step to the next | factor | (1, inf) | not measured
    real NEXT_STEP_INSIDE "1e3"
    # of HiGHS, of ends and of reduced costs, where nobody sets another | absolute | [1e-10, 1e-3] | argument: HiGHS's
    # own
    real HIGHS_TOLERANCE "1e-7"
    # by which ends of columns are moved outward where a program is infeasible without a proof | HiGHS's tolerance,
    # relative to the end where that is above 1 | (1, 1e4) | docs/notebook/biconvex.md
    real OUTWARD "10.0"

    # [milp] Mixed-integer programs.

    # after which a program has a combination that is good enough | nodes | [1, inf) | not measured
    int MOST_NODES "100"

    # [program] Programs of nodes.

    # how far beyond the cutoff a solver goes on before it stops: so far that what its duals then prove is above the
    # cutoff | relative to the objective's size | (0, 1) | argument: HiGHS keeps duals feasible to 1e-7
    real BEYOND "1e-7"
