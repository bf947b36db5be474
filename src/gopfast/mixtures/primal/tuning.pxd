"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport index, real

cdef enum:
    # [crossing] Solutions to cross.

    # that are kept | solutions | [2, 1000] | not measured
    MOST_KEPT = 10

cdef extern from *:
    # [em] Starts, and the shares of time that they take.

    # points of the finest summary that starts run on | points | [1, inf) | docs/notebook/small_problems.md
    index START_POINTS "5000L"
    # where there is none, samples | samples | [1, inf) | not measured
    index START_SAMPLES "20000L"
    # of a pass of the starts, components times statistics times samples, which may make them fewer | terms | (0, inf) |
    # not measured
    real START_TERMS "5e5"
    # but at least so many | samples | [1, inf) | not measured
    index FEWEST_START_SAMPLES "3000L"
    # of a pass from which on the starts from clusters, which are the best ones, come first: time may be short | terms |
    # (0, inf) | not measured
    real HEAVY_FROM "3e5"
    # of a time limit, for the starts before the long run on all samples | part | (0, 1) | not measured
    real STARTS_SHARE "(1.0 / 6)"
    # of starts that run on all samples: little is left to be done | part | (0, 1) | not measured
    real STARTS_SHARE_OF_ALL "(1.0 / 4)"
    # of a time limit, for both; the root bound needs the rest | part | (0, 1) | argument: what `gopfast.solve` promises
    # of `time_limit`
    real FIRST_SHARE "(1.0 / 3)"
    # of what is left, for each later local search | part | (0, 1) | not measured
    real LATER_SHARE "(1.0 / 16)"
    # from which on passes use all threads | samples | [1, inf) | not measured
    index PARTS_FROM "100000L"

    # [agreement] When starts agree, so that the first local search of clusters that are told apart goes no deeper.

    # independent starts, at least | starts | [1, inf) | docs/notebook/search.md
    int AGREED_STARTS "10"
    # of them that ended at the least end | part | (0, 1] | docs/notebook/search.md
    real AGREED_PART "0.3"

    # [em] What a first local search that starts end leaves.

    # that it takes otherwise, about: by so many what is learnt beside the tree may be ahead of it | passes | [0, inf) |
    # docs/notebook/search.md
    index SPARED "3000L"

    # [moves] Whether a solution has its components where they belong.

    # of what the cheapest merger loses, that the best split may gain | part | (0, 1] | docs/notebook/search.md
    real FIRM "0.25"

    # [em] Steps of EM.

    # from a start on the summary, at most | steps | [1, inf) | not measured
    int START_STEPS "20"
    # then from the best of them | steps | [1, inf) | not measured
    int FIRST_STEPS "500"
    # with what is held: the first objective is that of the start itself | steps | [1, inf) | not measured
    int HELD_STEPS "3"
    # of the first run on all samples between two objectives that a history has of it | steps | [1, inf) | not measured
    int NOTED_STEPS "8"
    # from a node | steps | [1, inf) | not measured
    int NODE_STEPS "100"
    # from tied samples | steps | [1, inf) | not measured
    int TIE_STEPS "50"
    # decrease left over to which an incumbent is polished, or the next | nats | (0, inf) | not measured
    real POLISHED "1e-9"
    # the same | relative to the objective | (0, 1) | not measured
    real POLISHED_RELATIVE "1e-13"
    # of polishing | steps | [1, inf) | not measured
    int POLISH_STEPS "1000"
    # rate of decreases, which fall geometrically, so that their sum is foreseen | factor | (0, 1) | not measured
    real SLOWEST "0.999"
    # a run above its target is given up where so many times that sum does not reach it | factor | [1, inf) |
    # not measured
    real DOUBT "4.0"
    # step from which on that is done | steps | [2, inf) | not measured
    index FORESEEN_FROM "4L"
    # weight of all other components below which they share theirs evenly, when one is moved onto tied samples | of the
    # total | (0, 1) | not measured
    real LEAST_OTHERS "1e-6"

    # [em] The first local search, where it goes deeper.

    # ends that differ by less are one, where starts agree | of what runs of EM leave | [1, inf) |
    # docs/notebook/search.md
    real SAME_END "10.0"

    # connected variables from which on it does; with fewer the tree takes no more time itself | variables | [1, inf) |
    # not measured
    index DEEP_FROM "5L"
    # starts from clusters of k-means | starts | [0, inf) | not measured
    int N_CLUSTERINGS "10"
    # the same where components have one parameter: the best clusters are known | starts | [0, inf) | not measured
    int FEW_CLUSTERINGS "2"
    # parameters of a component from which on there are more, as optima are many | parameters | [1, inf) | not measured
    int WIDE_FROM "14"
    # starts from clusters there, at most | starts | [0, inf) | docs/notebook/many_columns.md
    int MANY_CLUSTERINGS "40"
    # of sums of their short runs of EM, at most, where these are more than elsewhere | terms | (0, inf) | not measured
    real WIDE_TERMS "4e8"
    # of k-means | turns | [1, inf) | not measured
    int CLUSTER_TURNS "20"
    # clusters that are parted in two | clusters | [0, inf) | not measured
    int N_PARTED "4"
    # in which that can be done | ways | [1, inf) | not measured
    int N_WAYS "7"
    # after a move, if it promises to help | steps | [1, inf) | not measured
    int EM_LONG "100"
    # that one look for moves costs, about | passes | [1, inf) | not measured
    int LOOK_PASSES "16"
    # moves tried in vain before the search for them ends | moves | [1, inf) | not measured
    int MOST_TRIED "5"
    # turns of long runs from more clusters, moves at random, crossings; half of K more | turns | [0, inf) |
    # not measured
    int N_RESTARTS "40"
    # of all turns, at which the incumbent may have fallen last: else there are more | part | (0, 1] |
    # docs/notebook/search.md
    real PART_IN_VAIN "0.5"
    # turns in vain, one after the other, that end it where components have one parameter; two for any K leave K = 12
    # clusters, of which some fall together, 0.4 nats above | of the components | (0, inf) |
    # docs/notebook/small_problems.md
    real MOST_IN_VAIN "0.5"
    # components from which on these are mostly moves, below mostly runs from clusters | components | [1, inf) |
    # not measured
    int MANY "8"
    # their tolerance | of the others' | (0, 1] | not measured
    real FINE "0.03"
    # after which the first local search goes no deeper | passes | [0, inf) | not measured
    index DEEP_PASSES "10000L"
    # the same, for each component | passes | [0, inf) | docs/notebook/search.md
    index DEEP_PASSES_EACH "1000L"
    # but at most so many samples times components in all of them | terms | (0, inf) | not measured
    real DEEP_WORK "6e7"
    # calls of improve() before the first perturbation of its own | calls | [0, inf) | not measured
    int PERTURBATIONS_FROM "10"
    # that they may take of the passes since the first incumbent | part | (0, 1) | not measured
    real PERTURBATION_SHARE "0.04"
    # samples times components, of which responsibilities are kept | terms | (0, inf) | argument: their memory, 8 bytes
    # each
    real MOST_SHARES "4e6"

    # [chunked] Samples that are not in memory, by sweeps over them and EM on their summary.

    # over the samples, for one optimum of the summary | sweeps | [1, inf) | not measured
    int CHUNKED_MOST_SWEEPS "5"
    # of EM on the summary between two of them | steps | [1, inf) | not measured
    int CHUNKED_MOST_STEPS "2000"
    # change of a parameter at which these end | relative to its size | (0, 1) | not measured
    real CHUNKED_CLOSE "1e-12"
    # an optimum of the summary is refined if, there, it lies above the incumbent by no more than this part of what the
    # summary has lost of the incumbent | part | [0, inf) | not measured
    real DOUBTFUL "0.5"
    # optima of the summary are one where all parameters differ by less: another sweep would tell the same | standard
    # deviations | (0, 1) | not measured
    real SAME "1e-3"

    # [moves] Moves of components.

    # of 2-means that halve a component | turns | [1, inf) | not measured
    int MEAN_TURNS "4"
    # of EM with its two halves | turns | [1, inf) | not measured
    int EM_TURNS "6"
    # draws of a group, of which the one that gains most is taken | draws | [1, inf) | not measured
    int N_GROUPS "8"
    # of an interval that the radius of a group of samples lies in | halvings | [1, 52] | not measured
    int RADII "20"
    # weight of a group, at least | samples of the average weight | [0, inf) | not measured
    real FEWEST "2.0"
    # what a group leaves of a component, at least | of its mass | (0, 1) | not measured
    real LEFT "1e-3"
