"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport index, real

cdef enum:
    # [factor_cells, pair_cells] Linear programs of cells.

    # of a cell, that keep the matrix below that of the samples | rows | [0, 64] | not measured
    MOST_ROWS = 8

cdef extern from *:
    # [cells, factor_cells, pair_cells] Linear programs of cells.

    # what is no profit | nats per unit of weight | (0, 1) | not measured
    real FLAT "1e-11"

    # [cells] Branch and bound over cells.

    # that are open at a time | cells | [2, inf) | argument: three quarters of a kilobyte each at most, 300 MB
    index MOST_OPEN "400000L"
    # of what a bound lacks, a profit that is not worth a pivot | part | (0, 1) | not measured
    real PROFIT "1e-3"
    # after which the clock is looked at | cells | [1, inf) | argument: less than a millisecond
    index CLOCK_EVERY "32L"
    # the least pivot | none | (0, 1) | not measured
    real LEAST_PIVOT "1e-10"

    # [factor_cells, pair_cells] Cells of a covariance matrix, and their linear programs.

    # turns of the linear program, each with a row more | turns | [1, inf) | not measured
    int N_TURNS "6"
    # of the simplex method, in a turn | pivots | [1, inf) | not measured
    int MOST_PIVOTS "80"
    # by which an eigenvalue must be too large to be worth a row | relative | (0, inf) | not measured
    real VIOLATED "1e-6"
    # of a row's direction | root of the least eigenvalue | (0, inf) | not measured
    real ROW_UNIT "3.0"

    # [factor_cells] Cells of a Cholesky factor.

    # of a matrix, for the direction in which it is largest | squares | [1, 10] | argument: its 64th power
    int N_SQUARES "6"
    # of the width of a cell, the least that a split leaves | part | (0, 0.5] | not measured
    real SPLIT_WITHIN "0.1"
    # along a direction, by which a matrix is narrower than any that there is, where no cut is asked for | factor |
    # [1, inf) | docs/notebook/shared_parameters.md
    real TOO_NARROW "1.1"

    # [pair_cells] Cells of the direction between two components.

    # that a mixture of unit vectors is shorter than one counts as the mean cut along it, at least | relative to I |
    # (0, inf) | not measured
    real BULGE "0.05"
    # part of the mixture that both ends of an edge are taken to have beside their own | squared part |
    # (0, inf) | docs/notebook/shared_parameters.md
    real EDGE_EVEN "0.2"
    # the same of the ends of the interval | squared part | (0, inf) | not measured
    real END_EVEN "0.02"
    # of a cone's longest edge, that is divided | part | (0, 1] | docs/notebook/shared_parameters.md
    real EDGE_SHORT "0.5"
