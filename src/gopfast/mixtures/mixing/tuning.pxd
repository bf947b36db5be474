"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef enum:
    # [mixing] A mixing distribution, by adding atoms where D is largest. Lengths are in standard deviations of a
    # component.

    # points in one pass | points | [8, 4096] | not measured
    MOST_ASKED = 128

    # [hitting] Sets that a mean of every good mixture lies in. Lengths are in standard deviations of a component.

    # that are kept | sets | [2, 1024] | not measured
    MOST_SETS = 64
    # intervals of a set | intervals | [1, 64] | not measured
    MOST_PARTS = 4

cdef extern from *:
    # [mixing] A mixing distribution, by adding atoms where D is largest. Lengths are in standard deviations of a
    # component.

    # to which a bound of all mixtures is tried, each LOOSER times the last | gaps | [1, inf) | not measured
    int MOST_GAPS "4"
    # of the next gap | factor | (1, inf) | not measured
    real LOOSER "10.0"
    # between the atoms to start from | standard deviations | (0, inf) | not measured
    real GRID "0.4"
    # about so many, on a support of more than so many times GRID | atoms | [1, 160] | not measured
    int GRID_ATOMS "40"
    # of an atom to a sample, for a bound of all mixtures | standard deviations | (0, inf) | not measured
    real MIXING_NEAR "1.0"
    # an interval that is no longer has one atom | standard deviations | (0, 1) | not measured
    real POINT "1e-9"
    # between the atoms beside what is spared, N_BESIDE on each side | standard deviations | (0, inf) | not measured
    real BESIDE "0.3"
    # atoms on each side of what is spared | atoms | [1, 40] | not measured
    int N_BESIDE "4"
    # weight that all new atoms of a distribution get together | of the total | (0, 1) | not measured
    real FRESH "0.1"
    # to which part of what their value is above the limit the weights are found | part | (0, 1) | not measured
    real MIXING_CLOSE "0.05"
    # and to this | relative to the value | (0, 1) | not measured
    real SMALL "1e-10"
    # of Newton's method, with the same atoms | steps | [1, inf) | not measured
    int MIXING_MOST_STEPS "25"
    # a Newton step on P atoms costs P^3 over it | exponentials | (0, inf) | not measured
    real ALGEBRA "6.0"
    # in which atoms are added, to spare a set | rounds | [1, inf) | not measured
    int MOST_ROUNDS "12"
    # and for the distribution on all of the support, which later ones start from | rounds | [1, inf) | not measured
    int MOST_ROUNDS_WHOLE "40"
    # atoms are added where log D / W is above this part of what it may be | part | (0, 1) | not measured
    real WORTHY "0.1"
    # distance of atoms | standard deviations | (0, 1) | not measured
    real NEAREST "1e-6"
    # weight of atoms that are dropped | of the total | (0, 1) | not measured
    real UNUSED "1e-6"
    # in which D is bounded, to begin with | standard deviations | (0, inf) | not measured
    real WIDEST_CELL "0.5"
    # what compressed data may change log D / W by | nats | (0, 1) | not measured
    real COMPRESSION "1e-5"
    # cells of the spared set are divided no further | standard deviations | (0, inf) | not measured
    real SPARED_CELL "0.01"
    # of a cell at a time | parts | [2, 128] | not measured
    int MOST_DIVISIONS "8"
    # of dividing cells | turns | [1, inf) | not measured
    int MOST_TURNS "10"
    # ratio whose logarithm is taken where D underflows | none | (0, 1e-200] | argument: a floor of an upper bound
    # loosens it (H1)
    real SMALLEST "1e-300"
    # of log D / W that a certificate uses at most | nats | (0, 690] | argument: the kernel caps exponentials at 700
    real EXCESS "200.0"

    # [weights] The weights of given atoms, by an interior-point method. None of it decides what is proved.

    # where an iterate begins | of the size of a residual | (0, 1] | not measured
    real FIRST_SLACK "0.1"
    # the same, at least | of W | (0, 1) | not measured
    real FIRST_LEAST_SLACK "1e-3"
    # what complementarity wants a slack to be, at least | mu / pi | (0, 1] | not measured
    real LEAST_SLACK "0.1"
    # slack of a negative residual | over its size | (0, 1] | not measured
    real REFLECTED "0.5"
    # the corrector aims no lower, so that products stay near each other | of mu | (0, 1) | not measured
    real LEAST_TARGET "1e-6"
    # a step that meets no bound | factor | [1, inf) | argument: only its ratio to full steps counts, which are at most
    # 1
    real LONGEST "1e10"
    # of the step to the nearest bound that is gone | part | (0, 1) | not measured
    real SHORT_OF_BOUND "0.99"

    # [hitting] Sets that a mean of every good mixture lies in. Lengths are in standard deviations of a component.

    # of the interval around a mean that is spared first | standard deviations | (0, inf) | not measured
    real FIRST_RADIUS "1.5"
    # of the widest | standard deviations | (0, inf) | not measured
    real MOST_RADIUS "6.0"
    # of the next over that of one without a proof | factor | (1, inf) | not measured
    real WIDER "1.6"
    # and over that of one with a proof | factor | (0, 1) | not measured
    real SMALLER "0.6"
    # by which an end must move for an attempt to be worth it | standard deviations | (0, inf) | not measured
    real LEAST_STEP "0.005"
    # an end is tried as far as the missing value allows by its quadratic model, times a factor that adapts: the first |
    # factor | (0, inf) | not measured
    real FIRST_CAUTION "1.1"
    # the least such factor | factor | (0, inf) | not measured
    real LEAST_CAUTION "0.6"
    # the factor after an attempt in vain, over the one before | factor | (1, inf) | not measured
    real MORE "1.2"
    # and after one that found a set | factor | (0, 1) | not measured
    real LESS "0.9"
    # at one end in its turn | attempts | [1, inf) | not measured
    int MOST_TRIALS "5"
    # of the way from an end to the mean, the longest step that is tried | part | (0, 1) | not measured
    real ALL_BUT "0.95"
    # of a component, where steps are foreseen by its curvature | of the total | (0, 1) | not measured
    real LEAST_WEIGHT "1e-3"
    # by which part the intervals must become shorter for another round | part | (0, 1) | not measured
    real GROWN "0.005"
    # over the sets in cutting a box | rounds | [1, inf) | not measured
    int MOST_FITS "8"
