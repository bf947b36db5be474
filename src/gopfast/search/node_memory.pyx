"""Memory for the open nodes: what happens when it runs out.

Nodes with the worst bounds go to disk, where there is a folder for them, and come back in their turn: the search visits
the same nodes in the same order. Without a folder, or where the disk is full, the search dives: it goes depth first, so
that the open nodes hardly grow in number, until half of the memory is free again. LBD counts them all. Nodes that do
not come back from the disk end the search: LBD cannot rise above theirs.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc

from gopfast.search.nodes cimport nodes_to_arrays, push_arrays
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node
from gopfast.search.tuning cimport (
    ASK_EVERY, DEPTH, FEWEST_IN_BLOCK, FEWEST_SPILLED, N_BLOCKS, RESERVE, RESERVED, SPACIOUS, SPILLED, TRY_AGAIN
)
from gopfast.search.types cimport STOP_INTERRUPTED, STOP_MEMORY_LIMIT, STOP_NONE


cdef class NodeMemory:
    """What the open nodes may take, and where they are.

    Parameters
    ----------
    tree : Tree
    memory : None or object with room(taken) -> bytes, and unasked
        What they may take, told what they have taken at most; and the bytes below which it need not be asked.
    spill : None or object with write(arrays) -> name, read(name) -> arrays, remove(name), failed(error)
        `write` returns None where it could not; `failed` is told what `read` has raised.
    """

    def __init__(self, Tree tree, memory=None, spill=None):
        self.tree, self.memory, self.spill = tree, memory, spill
        self.blocks, self.turn, self.n_dives, self.n_blocks = [], 0, 0, 0
        self.spill_from = 0
        self.unasked = 0 if memory is None else memory.unasked
        self.follow()

    cdef index make(self, index n_parents, index n_children, StopSignal stop) except -1:
        cdef index fitting, reserve
        if self.memory is None:
            return n_parents
        if self.tree.size_of(self.tree.n_open + n_parents * n_children) <= self.unasked and not self.tree.diving:
            return n_parents
        self.unasked = 0
        if self.turn % ASK_EVERY == 0:
            try:
                self.most = <size_t> max(0, self.memory.room(self.tree.size_of(self.tree.n_most)))
            except KeyboardInterrupt:  # a Ctrl-C that waited for the next line of Python
                stop.request(STOP_INTERRUPTED)
                return 0
        self.turn += 1
        fitting = self.nodes_in(self.most)
        reserve = max(<index> (RESERVE * fitting), min(RESERVED, fitting // 2))
        if self.tree.n_open + n_parents * n_children <= fitting - reserve:
            if self.tree.diving and self.tree.n_open < SPACIOUS * fitting:
                self.tree.surface()
            if not self.tree.diving:
                return n_parents
        elif self.spill is not None and self.turn > self.spill_from and self.tree.n_heap() >= FEWEST_SPILLED:
            if self.spill_worst(stop):
                return n_parents
            self.spill_from = self.turn + TRY_AGAIN
        if not self.tree.diving:
            self.n_dives += 1
            self.tree.dive()
        # a parent goes, its children come
        return max(0, min(n_parents, max(min(1, (fitting - self.tree.n_open) // (n_children - 1)),
                                         (fitting - self.tree.n_open) // (DEPTH * (n_children - 1)))))

    cdef index nodes_in(self, size_t room) noexcept nogil:
        return <index> (room // self.tree.size_of(1))

    cdef int follow(self) except -1:
        """Keeps what LBD needs to know of the blocks."""
        self.blocks.sort()
        self.lower = self.blocks[0][0] if self.blocks else INFINITY
        self.n_spilled = sum([n for _, _, n, _ in self.blocks])
        return 0

    cdef bint spill_worst(self, StopSignal stop) except -1:
        """Writes the nodes of the heap with the worst bounds; False: they could not be written."""
        try:
            return self.write_worst()
        except KeyboardInterrupt:  # while Python writes: what is on disk by then is in the list, all else in the heap
            stop.request(STOP_INTERRUPTED)
            return True
        except MemoryError:  # to write takes some
            return False

    cdef bint write_worst(self) except -1:
        cdef index n = self.tree.n_heap(), i, first, end
        cdef Node **sorted_nodes
        cdef Node **heap = self.tree.heap
        lower, serial = np.empty(n), np.empty(n, dtype=np.intp)
        cdef real[::1] lowers = lower
        cdef index[::1] serials = serial
        for i in range(n):
            lowers[i], serials[i] = heap[i].lower, heap[i].serial
        cdef const index[::1] order = np.lexsort((serial, lower))
        sorted_nodes = <Node **> malloc(n * sizeof(Node *))
        if sorted_nodes == NULL:
            return False
        for i in range(n):
            sorted_nodes[i] = heap[order[i]]
        for i in range(n):  # in this order, too, it is a heap
            heap[i] = sorted_nodes[i]
        free(sorted_nodes)
        i = <index> (SPILLED * n)
        bounds = np.linspace(n - i, n, 1 + max(1, min(N_BLOCKS, i // FEWEST_IN_BLOCK))).astype(np.intp)
        for first, end in zip(bounds[-2::-1], bounds[:0:-1]):  # the worst first, so that the rest stays a heap
            name = self.spill.write(nodes_to_arrays(self.tree, heap + first, end - first))
            if name is None:
                return end < n
            self.blocks.append((heap[first].lower, heap[first].serial, end - first, name))
            self.n_blocks += 1
            for i in range(first, end):
                self.tree.free_node(heap[i])
            self.tree.n_open -= end - first
            self.follow()
        return True

    cdef int fetch(self, StopSignal stop) except -1:
        if stop.reason != STOP_NONE:
            return 0
        try:
            return self.read_next()
        # a block is in the list, whose bounds count, until its nodes are in the heap
        except KeyboardInterrupt:
            stop.request(STOP_INTERRUPTED)
            return 0
        except (OSError, ValueError, KeyError, MemoryError) as error:
            self.spill.failed(error)
            stop.request(STOP_MEMORY_LIMIT)
            return 0

    cdef int read_next(self) except -1:
        cdef const Node *best
        if self.n_spilled == 0 or self.tree.n_stack:
            return 0
        while self.blocks:
            best = self.tree.next()
            if best != NULL and (self.lower, self.blocks[0][1]) > (best.lower, best.serial):
                break
            _, _, _, name = self.blocks[0]
            push_arrays(self.tree, self.spill.read(name), False)
            del self.blocks[0]
            self.follow()
            self.spill.remove(name)
        return 0

    cdef int clear(self, StopSignal stop) except -1:
        cdef list blocks = self.blocks
        self.blocks = []
        self.follow()
        try:
            for _, _, _, name in blocks:
                self.spill.remove(name)
        except KeyboardInterrupt:
            stop.request(STOP_INTERRUPTED)
        return 0
