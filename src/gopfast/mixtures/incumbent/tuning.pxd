"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport index, real

cdef extern from *:
    # [basin] The box of known variances, to the second order.

    # of a cube, at first | standard deviations | (0, 1] | not measured
    real BASIN_FIRST_RADIUS "0.25"
    # of a box that is given | standard deviations | (0, inf) | not measured
    real MOST_RADIUS "1.0"
    # the cube tried first, of the one found on some of the samples | factor | (0, 1) | not measured
    real BASIN_NARROWER "0.85"
    # of a box; the curvature is bounded on each | shells | [1, inf) | not measured
    int BASIN_N_SHELLS "3"
    # of radii of the cube, and of the log weights in one | tries | [1, inf) | not measured
    int BASIN_MOST_TRIES "10"
    # of a log weight, which nothing scales | nats | (0, inf) | not measured
    real FIRST_LOG_RADIUS "0.05"
    # of a log weight: beyond, bounds of the curvature are of no use | nats | (0, inf) | not measured
    real BASIN_MOST_LOG_RADIUS "1.0"
    # curvature to be proved | that of separate components | (0, 1) | not measured
    real BASIN_LEAST "0.02"
    # entry of a matrix that is factored | the scale of the components | (0, 1e4] | argument: `ROUNDING` is of such
    # entries
    real BASIN_LARGEST "1e4"
    # responsibilities below it are bounded, not computed | none | (0, 1e-6) | argument: what they may be counts in the
    # change of the Hessian (B3)
    real BASIN_NEGLIGIBLE "1e-13"
    # of a component of an incumbent that a box is looked for around | of the total | (0, 1) | not measured
    real BASIN_SMALLEST_WEIGHT "1e-6"
    # how far a summary's points may be from their samples | standard deviations | (0, inf) | not measured
    real FINE "0.02"
    # entry of the power iteration's vector | relative to the largest | (0, 1) | argument: any p > 0 bounds (B3)
    real LEAST_VECTOR "1e-3"
    # between two looks at the stop signal | points | [1, inf) | not measured
    index BASIN_POLL_EVERY "4096L"

    # [neighbourhood] The box of any family, to the fourth order.

    # of a box, at first | standard deviations | (0, inf) | not measured
    real NEIGHBOURHOOD_FIRST_RADIUS "0.5"
    # of a box | standard deviations | (0, 0.5) | not measured
    real LEAST_RADIUS "1e-3"
    # from one radius to the next | factor | (0, 1) | not measured
    real NEIGHBOURHOOD_NARROWER "0.6"
    # of the ratio between a radius that fits and one that does not | halvings | [0, inf) | not measured
    int N_HALVINGS "4"
    # on which radii are looked for | samples | [1, inf) | not measured
    index NEIGHBOURHOOD_ROUGH "1000L"
    # on all samples | attempts | [0, inf) | not measured
    int N_SHRINKINGS "8"
    # on all samples | factor | (0, 1) | not measured
    real SHRINKING "0.9"
    # for each component | attempts | [0, inf) | not measured
    int N_WIDENINGS "5"
    # at first; its root once that is too much | factor | (1, inf) | not measured
    real WIDER "1.4"
    # of the log weights' radius | tries | [1, inf) | not measured
    int NEIGHBOURHOOD_MOST_TRIES "8"
    # of a log weight | nats | (0, inf) | not measured
    real NEIGHBOURHOOD_MOST_LOG_RADIUS "1.0"
    # curvature to be proved | that of separate components | (0, 1) | not measured
    real NEIGHBOURHOOD_LEAST "0.003"
    # of the tolerance that the objective may fall in the box | part | (0, 1) | not measured
    real LENT "0.8"
    # of one survey | operations | [1, inf) | not measured
    index MOST_WORK "1000000000L"
    # of what is taken to be on a face, at first | probability or rate | (0, 1) | not measured
    real FACE_REACH "1e-3"
    # of a probability or rate whose center is 0 | probability or rate | (0, inf) | not measured
    real WIDEST_FACE "1.0"
    # the same, at least | probability or rate | (0, 1) | not measured
    real NARROWEST_FACE "1e-3"
    # of EM, before the box is looked for | steps | [0, inf) | not measured
    int POLISHING "500"

    # [box_change] How far the derivatives change in a box.

    # that a score may go | nats | (0, 600] | argument: exponentials of sums of such scores are finite
    real BOX_FARTHEST "150.0"
    # of a box; what changes is bounded on each | shells | [1, inf) | not measured
    int BOX_N_SHELLS "4"

    # [center] The derivatives at the incumbent.

    # responsibilities below it are bounded, not computed | none | (0, 1e-6) | argument: the bound is part of the
    # derivatives' rounding (W7)
    real CENTER_NEGLIGIBLE "1e-16"
    # of a component of an incumbent that a box is looked for around | of the total | (0, 1) | not measured
    real CENTER_SMALLEST_WEIGHT "1e-6"
    # of Jacobi's method to the eigenbasis | sweeps | [1, inf) | argument: any basis serves, the eigenbasis gives the
    # widest box (Q5)
    int MOST_SWEEPS "12"

    # [center, neighbourhood] The derivatives at the incumbent.

    # of all components, log weights included | coordinates | [2, 1000] | argument: third derivatives take m^3 numbers
    int MOST_COORDINATES "80"
    # entry of the Hessian | the scale of the components | (0, 10] | argument: `ROUNDING` is of such entries
    real CENTER_LARGEST "10.0"

    # [center, box_change] Passes over the samples.

    # between two looks at the stop signal | samples | [1, inf) | not measured
    index CENTER_POLL_EVERY "1024L"

    # [charts] Coordinates of a family.

    # of a precision, downward | part | (0, 1) | argument: a precision stays positive (Q1)
    real LARGEST_CHANGE "0.9"
    # of a log rate or logit | nats | (0, inf) | not measured
    real LARGEST_LOG "3.0"
    # of a mean alone | standard deviations | (0, inf) | not measured
    real LARGEST_STEP "3.0"
    # of labels' probabilities | per standard deviation of the radius | (0, 1) | not measured
    real FACE_WIDTH "0.2"
    # rate or probability below which there is no chart | none | (0, 1e-100] | argument: it is divided by, with its root
    real TINIEST "1e-250"

    # [matrix_charts] Coordinates of covariance matrices.

    # of a precision | part | (0, 1) | argument: a precision stays positive definite (W5)
    real LARGEST_FALL "0.9"
    # rounding of the coordinates with which there is a box | none | (0, 1) | argument: it is part of every bound (W6)
    real LARGEST_BLUR "1e-7"
