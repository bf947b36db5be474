"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport index, real

cdef enum:
    # [factor_cells] Cells of a Cholesky factor.

    # of a cell, that keep the matrix below that of the samples | rows | [0, 64] | not measured
    MOST_ROWS = 8

cdef extern from *:
    # [factor_cells] Cells of a Cholesky factor.

    # that are open at a time | cells | [2, inf) | argument: half a kilobyte each at most, 200 MB
    index MOST_OPEN "400000L"
    # after which the clock is looked at | cells | [1, inf) | argument: less than a millisecond
    index CLOCK_EVERY "32L"
    # turns of the linear program, each with a row more | turns | [1, inf) | not measured
    int N_TURNS "6"
    # of the simplex method, in a turn | pivots | [1, inf) | not measured
    int MOST_PIVOTS "80"
    # of what a bound lacks, a profit that is not worth a pivot | part | (0, 1) | not measured
    real PROFIT "1e-3"
    # what is no profit | nats per unit of weight | (0, 1) | not measured
    real FLAT "1e-11"
    # the least pivot | none | (0, 1) | not measured
    real LEAST_PIVOT "1e-10"
    # by which an eigenvalue must be too large to be worth a row | relative | (0, inf) | not measured
    real VIOLATED "1e-6"
    # of a row's direction | root of the least eigenvalue | (0, inf) | not measured
    real ROW_UNIT "3.0"
    # of a matrix, for the direction in which it is largest | squares | [1, 10] | argument: its 64th power
    int N_SQUARES "6"
    # of the width of a cell, the least that a split leaves | part | (0, 0.5] | not measured
    real SPLIT_WITHIN "0.1"
    # along a direction, by which a matrix is narrower than any that there is, where no cut is asked for | factor |
    # [1, inf) | docs/notebook/shared_parameters.md
    real TOO_NARROW "1.1"
