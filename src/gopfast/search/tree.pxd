"""Nodes, the best-first queue and the partition of a node's box."""

from gopfast.search.types cimport index, real

# A node is a box in the space of the connected variables, its bound and where to split it.
# Tail of `data`: lower corner (n), upper corner (n), split point (n), n_warm floats, and where the relaxation selects
# a bound combination n_split ints: j + 1 for the upper half of variable j, -(j + 1) for the lower, in the order in
# which they are decided; a 0 ends them.
cdef struct Node:
    real lower      # proved lower bound over the box
    index serial    # order of creation: breaks ties, so that runs repeat
    index parent    # serial of the parent, -1 for the root
    int depth
    int branch      # connected variable to bisect, -1: none can be split
    real data[1]

cdef inline real *node_low(Node *node) noexcept nogil:
    return node.data

cdef inline real *node_high(Node *node, index n) noexcept nogil:
    return node.data + n

cdef inline real *node_point(Node *node, index n) noexcept nogil:
    return node.data + 2 * n

cdef extern from *:
    """
    /* An interval narrower than this part of its ends' sizes is not split: its halves would differ by rounding only. */
    #define GOPFAST_NARROWEST 1e-13
    """
    const real NARROWEST "GOPFAST_NARROWEST"

# Whether an interval has an inner point to split at, beyond rounding.
cdef inline bint divisible(real low, real high) noexcept nogil:
    cdef real middle = low + 0.5 * (high - low)
    return low < middle < high and high - low > NARROWEST * (abs(low) + abs(high))

# The point pulled into the middle part of its interval, where the interval is split.
cdef real inside(real low, real high, real point) noexcept nogil

cdef inline float *node_warm(Node *node, index n) noexcept nogil:
    return <float *> (node.data + 3 * n)

cdef inline int *node_choice(Node *node, index n, index n_warm) noexcept nogil:
    return <int *> (node_warm(node, n) + n_warm)


cdef class Tree:
    """Owner of all open nodes: a binary heap on (lower, serial)."""

    cdef readonly index n_connected, n_warm, n_split, n_open, n_created
    cdef readonly bint selects
    cdef Node **heap
    cdef index capacity
    cdef size_t node_size(self) noexcept nogil
    cdef Node *new_node(self) noexcept nogil       # NULL: out of memory
    cdef void free_node(self, Node *node) noexcept nogil
    cdef int push(self, Node *node) noexcept nogil  # takes ownership unless it fails
    cdef Node *pop(self) noexcept nogil             # gives ownership; NULL: empty
    cdef void clear(self) noexcept nogil           # frees all open nodes
    cdef Node *child(self, const Node *parent) noexcept nogil  # a copy with its own serial; NULL: out of memory
    # OUT children: a partition of the parent, which keeps its owner. Their number, or NO_MEMORY and none is made.
    cdef int bisect(self, Node *parent, Node **children) noexcept nogil
    cdef int orthants(self, Node *parent, Node **children, int n_max) noexcept nogil
    cdef int n_orthants(self, Node *parent) noexcept nogil
    cdef int selected(self, Node *parent, Node **children) noexcept nogil
    cdef index most_children(self, bint orthant) noexcept nogil
    cdef list combination(self, Node *node)
