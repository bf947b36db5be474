"""Where solutions below the limit can lie, as far as it was learnt beside the tree, and a bound of all the rest."""

from gopfast.search.incumbent cimport Incumbent
from gopfast.search.relaxation cimport Basin, Effort, Reduction
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real

# What Domain.cut leaves of a node.
cdef enum Cut:
    NOTHING_LEFT = 0    # nothing in it lies below the limit
    CUT_LITTLE = 1
    CUT_DOWN = 2        # much less than it was: its bound is worth computing again
    UNCUT = 3           # about as much as it was


cdef class Domain:
    cdef index n_connected
    cdef Basin basin            # or None
    cdef Reduction reduction    # or None
    cdef index learn_from       # nodes after which learning begins
    cdef bint prepared          # the reduction, for this run
    cdef bint has_box           # the basin has a box
    cdef index passes_before    # on nodes before learning began, -1: it has not
    cdef Effort learning        # spent on it
    cdef index version          # of the reduction, as it was last seen,
    cdef index cut_from         # and the first node that was made since: nodes before it may be cut down further
    cdef index n_looked         # new nodes looked at to cut them down, since it was last decided whether that pays,
    cdef index n_gained         # of which so many were removed, or cut down
    cdef index pause, paused    # batches whose nodes are not looked at, since it did not pay; so many of them are over
    cdef real box_sought_at        # UBD when a basin was last looked for,
    cdef real covered_at        # UBD when a basin was last asked to cover the reduction's box,
    cdef real covered_width     # and the sum of that box's widths then
    cdef real[::1] start        # (2 * n_connected,): lower and upper corner of the box in which the tree began
    cdef real[:, ::1] before    # (n_threads, 2 * n_connected): the same of a node before a cut
    # A run begins.
    cdef void resume(self) noexcept nogil
    # The tree begins in this node's box.
    cdef void begin(self, Node *node) noexcept nogil
    # The tree begins again in what the reduction leaves.
    cdef void begin_again(self) noexcept nogil
    # Proved bound of all that `cut` removes, INFINITY while it removes nothing.
    cdef real removed(self) noexcept nogil
    # Proved bound of all solutions, -INFINITY: none.
    cdef real floor(self) noexcept nogil
    # Looks for a basin around a new incumbent, unless the present one holds it and is fathomed.
    cdef int find_basin(self, Incumbent incumbent, index n_nodes) except -1
    # Whether the new nodes of the next batch are to be cut down: not always where that is mostly in vain.
    cdef bint looks(self) noexcept nogil
    # What it led to, for so many of them.
    cdef void count(self, index n, const Cut *cuts) noexcept nogil
    # n_created: nodes so far. Nodes made from now on are cut down by all that is known.
    cdef void follow_version(self, index n_created) noexcept nogil
    # Learns while it has had less than its share of the passes; whether the tree should begin again in what is left.
    # lower: LBD, which it may raise.
    cdef bint learn(self, Incumbent incumbent, index n_nodes, index n_passes, StopSignal stop, real lower,
                    object report) except -1
    cdef void credit(self, real seconds, real gained) except *
    # A solution found beside the tree is so much better.
    cdef void credit_found(self, Incumbent incumbent, real gained) noexcept nogil
    # OUT: what a local search may start from, as the reduction has it.
    cdef bint start_of(self, real *point, real *weights) noexcept nogil
    # Whether `cut` may remove anything.
    cdef bint cuts(self) noexcept nogil
    # IN/OUT: cuts a node down to where solutions below the limit can lie, and raises its bound. On any worker's thread.
    # OUT by: what has emptied it, see Reduction.emptied.
    cdef Cut cut(self, Node *node, int worker, int *by) noexcept nogil
    # Counts nodes that cutting has looked at, and those that it has closed.
    cdef void tell_cut(self, index n, index looked, const Cut *cuts, const int *by) except *
    # IN/OUT: moves the split point to a face of the basin where the node reaches into it.
    cdef void branch_at_box(self, Node *parent) noexcept nogil
    # IN/OUT: raises the bound of a node inside the basin to the basin's.
    cdef void fathom(self, Node *node) noexcept nogil
    cdef bint in_basin(self, const real *low, const real *high) noexcept nogil
    cdef bint covered(self, Incumbent incumbent) noexcept nogil
    cdef bint shrunk(self) noexcept nogil
