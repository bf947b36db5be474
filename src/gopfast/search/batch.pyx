"""The nodes that are bounded at a time: between the partition of their parents and the tree."""

from cython.parallel cimport prange, threadid
from libc.stdlib cimport calloc, free

from gopfast.search.domain cimport NOTHING_LEFT, UNCUT
from gopfast.search.meter cimport Work, add_work
from gopfast.search.relaxation cimport N_STAGES, no_effort
from gopfast.search.stop cimport clock
from gopfast.search.tuning cimport CUT_IN_PARALLEL_FROM


cdef class Batch:
    """Owner of the nodes between two merges, and of what bounding them took.

    Parameters
    ----------
    capacity : int
        Most nodes at a time.
    n_threads : int
    """

    def __cinit__(self, index capacity, int n_threads):
        self.n, self.n_parents, self.capacity, self.n_threads = 0, 0, capacity, n_threads
        self.nodes = <Node **> calloc(capacity, sizeof(Node *))
        self.parents = <Node **> calloc(capacity, sizeof(Node *))
        self.cuts = <Cut *> calloc(capacity, sizeof(Cut))
        self.efforts = <Effort *> calloc(capacity, sizeof(Effort))
        self.by = <int *> calloc(capacity, sizeof(int))
        if self.nodes == NULL or self.parents == NULL or self.cuts == NULL or self.efforts == NULL or self.by == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef index i
        for i in range(self.n):
            free(self.nodes[i])
        for i in range(self.n_parents):
            free(self.parents[i])
        free(self.nodes)
        free(self.parents)
        free(self.cuts)
        free(self.efforts)
        free(self.by)

    cdef Node *detach(self, index i) noexcept nogil:
        cdef Node *node = self.nodes[i]
        self.nodes[i] = NULL
        return node

    cdef Node *detach_parent(self, index i) noexcept nogil:
        cdef Node *node = self.parents[i]
        self.parents[i] = NULL
        return node

    cdef index cut(self, Node **nodes, index n, index before, Domain domain, Audit audit) noexcept nogil:
        cdef index i, n_cut = 0
        cdef int n_failed = 0
        cdef real begun
        for i in range(n):
            self.cuts[i] = UNCUT
            n_cut += nodes[i].serial < before
        if not domain.cuts() or n_cut == 0:
            return 0
        begun = clock()
        if self.n_threads == 1 or n_cut < CUT_IN_PARALLEL_FROM:
            for i in range(n):
                if nodes[i].serial < before:
                    n_failed += self.cut_one(i, nodes[i], domain, audit, 0)
        else:
            for i in prange(n, schedule="dynamic", chunksize=1, num_threads=self.n_threads):
                if nodes[i].serial < before:
                    n_failed += self.cut_one(i, nodes[i], domain, audit, threadid())
        audit.n_failures += n_failed
        domain.reduction.cutter.work.seconds += clock() - begun
        return n_cut

    cdef bint cut_one(self, index i, Node *node, Domain domain, Audit audit, int worker) noexcept nogil:
        """Whether the cut contradicts a known solution."""
        cdef bint held = audit.contradicts(node, domain.removed(), 0)
        self.cuts[i] = domain.cut(node, worker, &self.by[i])
        return audit.lost(held, self.cuts[i] != NOTHING_LEFT, node, 0)

    cdef void bound(self, Relaxation relaxation, real limit, StopSignal stop) noexcept nogil:
        cdef index i
        for i in range(self.n):
            self.efforts[i] = no_effort()
            self.efforts[i].last = self.nodes[i].branch < 0 and self.nodes[i].parent >= 0
        if self.n_threads == 1 or self.n < relaxation.parallel_from:
            for i in range(self.n):
                if self.nodes[i].lower < limit and not stop.poll(0):
                    self.bound_one(i, relaxation, limit, 0)
        else:
            for i in prange(self.n, schedule="dynamic", chunksize=1, num_threads=self.n_threads):
                if self.nodes[i].lower < limit and not stop.poll(threadid()):
                    self.bound_one(i, relaxation, limit, threadid())

    cdef void bound_one(self, index i, Relaxation relaxation, real limit, int worker) noexcept nogil:
        cdef Work *stages = self.efforts[i].stages
        cdef real begun = clock()
        cdef int stage
        relaxation.bound(self.nodes[i], limit, worker, &self.efforts[i])
        stages[0].calls += 1
        stages[0].closed = self.nodes[i].lower >= limit
        stages[0].seconds = clock() - begun
        for stage in range(1, N_STAGES):
            stages[0].closed -= stages[stage].closed
            stages[0].seconds -= stages[stage].seconds

    cdef Node *least(self) noexcept nogil:
        cdef Node *found = NULL
        cdef index i
        for i in range(self.n):
            if found == NULL or self.nodes[i].lower < found.lower:
                found = self.nodes[i]
        return found

    cdef Node *promising(self, real limit) noexcept nogil:
        cdef Node *found = NULL
        cdef index i
        for i in range(self.n):
            if self.efforts[i].estimate < limit:
                found, limit = self.nodes[i], self.efforts[i].estimate
        return found

    cdef void count(self, Effort *total) noexcept nogil:
        cdef index i
        cdef int stage
        for i in range(self.n):
            total.n_subproblems += self.efforts[i].n_subproblems
            total.n_lps += self.efforts[i].n_lps
            total.n_iterations += self.efforts[i].n_iterations
            total.n_milps += self.efforts[i].n_milps
            total.n_passes += self.efforts[i].n_passes
            for stage in range(N_STAGES):
                add_work(&total.stages[stage], &self.efforts[i].stages[stage])

    cdef void release(self, Relaxation relaxation) noexcept nogil:
        cdef int i
        if self.n_threads == 1:
            relaxation.release(0)
        else:
            for i in prange(self.n_threads, schedule="static", chunksize=1, num_threads=self.n_threads):
                relaxation.release(i)
