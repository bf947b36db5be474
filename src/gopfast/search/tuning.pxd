"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport index, real

cdef enum:
    # [ledger] What a proof is told of.

    # splits, and leaves, that are told at a time | entries | [1, 2**20] | not measured
    BLOCK = 1024

    # [improvements] What the first local search found, and when.

    # that are kept; of more the last place has the last | solutions | [2, 1000] | not measured
    MOST_IMPROVEMENTS = 100

cdef extern from *:
    # [search] The loop over batches.

    # in each of which there is a local search from the best node; then in every so many | batches | [0, inf) |
    # not measured
    int FIRST_BATCHES "8"
    # that a local search from a promising node waits, at most, after others have been in vain | batches | [1, inf) |
    # not measured
    index LONGEST_WAIT "1024L"

    # [batch] Nodes that are cut and bounded at a time.

    # from which on threads cut them; fewer are cut faster on the caller's alone | nodes | [1, inf) | not measured
    index CUT_IN_PARALLEL_FROM "4L"

    # [domain] What is learnt beside the tree, and where that leaves.

    # from which on a basin is looked for: splitting at its faces pays where the nodes around the optimum are many |
    # nodes | [0, inf) | docs/notebook/incumbent_boxes.md
    int SETTLE_FROM "64"
    # of learning after which the bounds are told again, before nodes are bounded | seconds | (0, inf) | not measured
    real LONGEST_SILENCE "0.25"
    # spent on learning for each spent on nodes since it began: a reduction helps all nodes to come | passes |
    # (0, inf) | not measured
    real LEARNING_SHARE "8.0"
    # of what its widths summed up to, at which a basin is asked to cover the reduction's box again | part | (0, 1) |
    # not measured
    real COVER_AGAIN_BELOW "0.85"
    # of the volume where it began, at which the tree begins again in the reduction's box | part | (0, 1) | not measured
    real RESTART_BELOW "1e-3"
    # of its width that an interval must keep; else the node is bounded again before it is split | part | (0, 1) |
    # not measured
    real REBOUND_BELOW "0.7"
    # of its width above which an interval counts as uncut | part | (0, 1) | not measured
    real UNCUT_ABOVE "0.98"
    # new nodes of which some must be removed or cut down for looking to pay | nodes | [1, inf) |
    # docs/notebook/prices.md
    index LOOKED_AT "256L"
    # of these: so many | part | (0, 1) | docs/notebook/prices.md
    real PAYS "0.02"
    # in which new nodes are not looked at where that does not pay; twice as many each time | batches | [1, inf) |
    # not measured
    index SHORTEST_PAUSE "4L"
    # the same, at most | batches | [1, inf) | not measured
    index LONGEST_PAUSE "256L"
    # part of the width, from the middle, up to which a parent is split at a basin's face: one further out would be
    # moved (`SPLIT_MARGIN`) | part | (0, 0.4] | argument: 0.5 less `SPLIT_MARGIN`
    real FACE_REACH "0.4"
    # sides per variable on which a node leaves the basin that is cut down to it: its widest part outside is split off,
    # whatever the variable that its bound is worst in | sides | [0, 2] | not measured
    real FEW_SIDES "0.75"

    # [incumbent] Upper bounds.

    # of the tolerance, to which local searches go, and by which a new incumbent must be better: it then costs the proof
    # nothing | part | (0, 1) | not measured
    real LOCAL_TOLERANCE "1e-3"

    # [endings] Where local searches ended.

    # that are kept, each with its objective; later ones are counted only | searches | [1, inf) | argument: ten bytes
    # each
    index MOST_ENDINGS "2000L"

    # [node_memory] Open nodes and the memory that they take.

    # between two looks at what the whole process takes | batches | [1, inf) | not measured
    index ASK_EVERY "256L"
    # after which a disk is tried again that could not be written to | batches | [1, inf) | not measured
    index TRY_AGAIN "4096L"
    # of what the nodes may take, or RESERVED, that is kept for a dive; half of all where that is less | part |
    # (0, 0.5] | not measured
    real RESERVE "0.1"
    # nodes, or RESERVE | nodes | [1, inf) | not measured
    index RESERVED "256L"
    # of what they may take, at which a dive ends | part | (0, 1) | not measured
    real SPACIOUS "0.4"
    # open ones that each node split at a time in a dive leaves on its way down, about | nodes | [1, inf) | not measured
    index DEPTH "64L"
    # of the open nodes, that goes to disk at a time | part | (0, 1) | not measured
    real SPILLED "0.5"
    # in so many; one comes back as a whole | blocks | [1, inf) | not measured
    index N_BLOCKS "8L"
    # of a block | nodes | [1, inf) | not measured
    index FEWEST_IN_BLOCK "256L"
    # below which a folder is of no use | nodes | [1, inf) | not measured
    index FEWEST_SPILLED "64L"

    # [snapshot] Numbers that a checkpoint may say.

    # of a bound that exceeds the incumbent by no rounding | relative | (0, 1) | argument: far above `UPPER_ROUNDING`
    real LEAST_ABOVE "1e-3"

    # [stop] Signals.

    # between two questions to the interpreter for signals; a Ctrl-C waits no longer than this and one pass | seconds |
    # (0, 1) | not measured
    real POLL_INTERVAL "0.02"

    # [tree] Where nodes are split.

    # of its width that is left on either side of a split point: a child that equals its parent stalls the bound |
    # part | [0, 0.5) | not measured
    real SPLIT_MARGIN "0.1"
