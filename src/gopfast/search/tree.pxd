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


# Whether a node comes before another, best bound first.
cdef inline bint before(const Node *a, const Node *b) noexcept nogil:
    return a.lower < b.lower or (a.lower == b.lower and a.serial < b.serial)


cdef class Tree:
    """Owner of all open nodes: a binary heap on (lower, serial), and a stack while it dives."""

    cdef readonly index n_connected, n_warm, n_split
    cdef index n_created            # serial of the next node
    cdef readonly index n_open      # nodes in the heap and on the stack,
    cdef readonly index n_stack     # of which these, the next one last
    cdef readonly index n_most      # most open nodes that there were
    cdef readonly bint selects
    cdef readonly bint diving       # new nodes go on the stack
    cdef Node **heap
    cdef Node **stack
    cdef index capacity, stack_capacity
    cdef size_t node_size(self) noexcept nogil
    cdef size_t size_of(self, index n_open) noexcept nogil     # bytes that so many nodes take
    cdef index n_heap(self) noexcept nogil
    cdef real least(self) noexcept nogil            # bound of all open nodes, INFINITY: there are none
    cdef const Node *next(self) noexcept nogil      # what `pop` gives; NULL: none is open
    cdef void dive(self) noexcept nogil             # depth first from here on,
    cdef int surface(self) except -1 nogil          # best first again
    cdef void order_stack(self, index first) noexcept nogil     # from there on, the best bound last
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
