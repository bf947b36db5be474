"""Nodes, the best-first queue and the partition of a node's box.

Theory: (G2), (G4), (G5) and (G6) of docs/theory/gop.md; (S1) of docs/theory/search.md.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from gopfast.search.tuning cimport SPLIT_MARGIN
from gopfast.search.types cimport NO_MEMORY, OK, index, real

# What the allocator takes for itself of a block, and what it rounds blocks up to, in bytes (glibc; others are alike).
cdef size_t BLOCK_HEAD = 8
cdef size_t BLOCK_STEP = 16


cdef real inside(real low, real high, real point) noexcept nogil:
    cdef real margin = SPLIT_MARGIN * (high - low)
    if not point > low + margin:  # also NaN
        return low + margin
    if point > high - margin:
        return high - margin
    return point


cdef Node **grown(Node **nodes, index *capacity) noexcept nogil:
    """Twice the room; NULL: out of memory, and nothing has changed."""
    cdef Node **found = <Node **> realloc(nodes, 2 * capacity[0] * sizeof(Node *))
    if found != NULL:
        capacity[0] *= 2
    return found


cdef class Tree:
    """Owner of all open nodes: a binary heap on (lower, serial), and a stack while it dives.

    A dive keeps memory as it is: new nodes go on the stack, whose last node is the next, and only where the stack is
    empty the heap gives its best.

    Parameters
    ----------
    n_connected : number of connected variables (dimension of the boxes)
    n_warm : number of single-precision warm-start values that a node hands to its children
    n_split : number of variables, the first ones, that orthants() splits; all by default
    selects : whether nodes carry a bound combination that the relaxation has selected
    """

    def __cinit__(self, index n_connected, index n_warm, index n_split=0, bint selects=False):
        self.n_connected = n_connected
        self.n_warm = n_warm
        self.n_split = n_split or n_connected
        self.selects = selects
        self.n_open = self.n_stack = self.n_most = self.n_created = 0
        self.capacity = self.stack_capacity = 64
        self.heap = <Node **> malloc(self.capacity * sizeof(Node *))
        self.stack = <Node **> malloc(self.stack_capacity * sizeof(Node *))
        if self.heap == NULL or self.stack == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self.heap != NULL and self.stack != NULL:
            self.clear()
        free(self.heap)
        free(self.stack)

    @property
    def node_bytes(self):
        """Memory that one open node takes, in bytes, its heap entry included."""
        return self.size_of(1)

    cdef size_t size_of(self, index n_open) noexcept nogil:
        cdef size_t block = (self.node_size() + BLOCK_HEAD + BLOCK_STEP - 1) // BLOCK_STEP * BLOCK_STEP
        return n_open * (block + sizeof(Node *))

    cdef index n_heap(self) noexcept nogil:
        return self.n_open - self.n_stack

    cdef size_t node_size(self) noexcept nogil:
        cdef size_t choice = self.n_split * sizeof(int) if self.selects else 0
        return sizeof(Node) + 3 * self.n_connected * sizeof(real) + self.n_warm * sizeof(float) + choice

    cdef Node *new_node(self) noexcept nogil:
        cdef Node *node = <Node *> malloc(self.node_size())
        if node != NULL:
            node.serial = self.n_created
            node.parent = -1
            node.depth = 0
            node.branch = -1
            self.n_created += 1
        return node

    cdef void free_node(self, Node *node) noexcept nogil:
        free(node)

    cdef int push(self, Node *node) noexcept nogil:
        cdef Node **room
        cdef index i = self.n_heap(), up
        if self.diving:
            if self.n_stack == self.stack_capacity:
                room = grown(self.stack, &self.stack_capacity)
                if room == NULL:
                    return NO_MEMORY
                self.stack = room
            self.stack[self.n_stack] = node
            self.n_stack += 1
        elif i == self.capacity:
            room = grown(self.heap, &self.capacity)
            if room == NULL:
                return NO_MEMORY
            self.heap = room
        self.n_open += 1
        self.n_most = max(self.n_most, self.n_open)
        if self.diving:
            return OK
        while i > 0:
            up = (i - 1) // 2
            if not before(node, self.heap[up]):
                break
            self.heap[i] = self.heap[up]
            i = up
        self.heap[i] = node
        return OK

    cdef Node *pop(self) noexcept nogil:
        cdef Node *top
        cdef Node *last
        cdef index i = 0, down, n
        if self.n_open == 0:
            return NULL
        self.n_open -= 1
        if self.n_stack:
            self.n_stack -= 1
            return self.stack[self.n_stack]
        top, n = self.heap[0], self.n_open
        last = self.heap[n]
        while True:
            down = 2 * i + 1
            if down >= n:
                break
            if down + 1 < n and before(self.heap[down + 1], self.heap[down]):
                down += 1
            if not before(self.heap[down], last):
                break
            self.heap[i] = self.heap[down]
            i = down
        self.heap[i] = last
        return top

    cdef const Node *next(self) noexcept nogil:
        if self.n_stack:
            return self.stack[self.n_stack - 1]
        return self.heap[0] if self.n_open else NULL

    cdef real least(self) noexcept nogil:
        cdef real lower = self.heap[0].lower if self.n_heap() else INFINITY
        cdef index i
        for i in range(self.n_stack):
            lower = min(lower, self.stack[i].lower)
        return lower

    cdef void dive(self) noexcept nogil:
        self.diving = True

    cdef int surface(self) except -1 nogil:
        cdef Node *node
        self.diving = False
        while self.n_stack:
            node = self.pop()
            if self.push(node) == NO_MEMORY:
                self.n_stack, self.n_open = self.n_stack + 1, self.n_open + 1  # it is still there
                with gil:
                    raise MemoryError("out of memory for open nodes")
        return 0

    cdef void order_stack(self, index first) noexcept nogil:
        cdef index i, k
        cdef Node *node
        for i in range(first + 1, self.n_stack):  # by insertion: a batch is small
            node, k = self.stack[i], i
            while k > first and before(self.stack[k - 1], node):
                self.stack[k] = self.stack[k - 1]
                k -= 1
            self.stack[k] = node

    cdef void clear(self) noexcept nogil:
        cdef index i
        for i in range(self.n_heap()):
            self.free_node(self.heap[i])
        for i in range(self.n_stack):
            self.free_node(self.stack[i])
        self.n_open = self.n_stack = 0
        self.diving = False

    cdef Node *child(self, const Node *parent) noexcept nogil:
        cdef Node *node = self.new_node()
        cdef index serial
        if node != NULL:
            serial = node.serial
            memcpy(node, parent, self.node_size())
            node.serial = serial
            node.parent = parent.serial
            node.depth = parent.depth + 1
        return node

    cdef int bisect(self, Node *parent, Node **children) noexcept nogil:
        """Two children that share the face at the split point of the branching variable."""
        cdef index n = self.n_connected, j = parent.branch, side
        cdef real at = inside(node_low(parent)[j], node_high(parent, n)[j], node_point(parent, n)[j])
        for side in range(2):
            children[side] = self.child(parent)
            if children[side] == NULL:
                if side == 1:
                    free(children[0])
                return NO_MEMORY
        node_high(children[0], n)[j] = at
        node_low(children[1])[j] = at
        return 2

    cdef int n_orthants(self, Node *parent) noexcept nogil:
        """Two for each variable that can be split, multiplied."""
        cdef index j, n = self.n_connected
        cdef int count = 1
        for j in range(self.n_split):
            if divisible(node_low(parent)[j], node_high(parent, n)[j]):
                count *= 2
        return count

    cdef index most_children(self, bint orthant) noexcept nogil:
        """Of one node."""
        if not orthant:
            return 2
        return self.n_split + 1 if self.selects else <index> 1 << self.n_split

    cdef list combination(self, Node *node):
        """The bound combination of a node, as node_choice() has it."""
        cdef list choice = []
        cdef int selected
        while self.selects and len(choice) < self.n_split:
            selected = node_choice(node, self.n_connected, self.n_warm)[len(choice)]
            if selected == 0:
                break
            choice.append(selected)
        return choice

    cdef int selected(self, Node *parent, Node **children) noexcept nogil:
        """The orthant of the bound combination selected, and what it leaves of the box in one child per variable.

        These children share faces and cover the parent: in the order of the combination, each takes the other half of
        one variable, with the variables before it on the selected side and those after it undivided.
        """
        cdef index n = self.n_connected, j
        cdef const int *choice = node_choice(parent, n, self.n_warm)
        cdef int count = 0, made, decided, position
        cdef real at
        while count < self.n_split and choice[count] != 0:
            count += 1
        for made in range(count + 1):
            children[made] = self.child(parent)
            if children[made] == NULL:
                for position in range(made):
                    free(children[position])
                return NO_MEMORY
            decided = count - made  # the orthant itself comes first
            for position in range(min(decided + 1, count)):
                j = abs(choice[position]) - 1
                at = inside(node_low(parent)[j], node_high(parent, n)[j], node_point(parent, n)[j])
                if (choice[position] > 0) == (position < decided):
                    node_low(children[made])[j] = at
                else:
                    node_high(children[made], n)[j] = at
        return count + 1

    cdef int orthants(self, Node *parent, Node **children, int n_max) noexcept nogil:
        """One child per bound combination: the orthants of the box around the split point.

        Where the relaxation selects combinations, the one that it selected and the rest; two halves where it has none.
        """
        cdef index n = self.n_connected, j
        cdef int count = self.n_orthants(parent), combination, bit, i
        cdef real at
        if self.selects:
            return (self.selected(parent, children) if node_choice(parent, n, self.n_warm)[0] != 0
                    else self.bisect(parent, children))
        if count > n_max:
            return NO_MEMORY
        for combination in range(count):
            children[combination] = self.child(parent)
            if children[combination] == NULL:
                for i in range(combination):
                    free(children[i])
                return NO_MEMORY
            bit = 1
            for j in range(self.n_split):
                if not divisible(node_low(parent)[j], node_high(parent, n)[j]):
                    continue
                at = inside(node_low(parent)[j], node_high(parent, n)[j], node_point(parent, n)[j])
                if combination & bit:
                    node_low(children[combination])[j] = at
                else:
                    node_high(children[combination], n)[j] = at
                bit *= 2
        return count
