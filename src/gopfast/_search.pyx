"""The GOP loop: select, partition, bound, improve, merge. Knows no model and no relaxation."""

import numpy as np

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from gopfast._relaxation cimport Basin, Effort, Primal, Relaxation
from gopfast._stop cimport StopSignal, clock
from gopfast._tree cimport Node, Tree, node_high, node_low, node_point
from gopfast._types cimport (
    NO_MEMORY, STOP_INFEASIBLE, STOP_INTERRUPTED, STOP_NODE_LIMIT, STOP_NONE, STOP_NUMERICAL, STOP_OPTIMAL,
    STOP_UNBOUNDED, index, real
)

# Problems solved in fewer nodes than this are done before a bound from outside the tree would be.
cdef int OUTER_BOUND_FROM = 128
# Splitting at a basin's faces pays where the nodes around the optimum are many.
cdef int BASIN_FROM = 64


cdef class Search:
    """One run of the branch-and-bound search.

    Parameters
    ----------
    relaxation : Relaxation
    primal : Primal
    epsilon, rel_tol : float
        Stop at UBD - LBD <= max(epsilon, rel_tol * |UBD|).
    orthant : bool
        Partition at the split point into all bound combinations, or bisect one variable.
    n_threads : int
    time_limit : float
    max_nodes : int
    monitor : None or callable (time, n_nodes, n_open, lower, upper, new_incumbent) -> stop
    outer_bound : None or callable (solution, upper, tolerance) -> lower bound of the whole problem
        Asked once, when the search has shown that it takes more than OUTER_BOUND_FROM nodes.
    basin : None or Basin
        Finds a box around an incumbent with a bound of its own; used where the partition is by bisection.
    known : None or (point, objective)
        A solution against which every bound is audited (n_audit_failures).
    trace : None or list
        For tests: takes (serial, parent, lower, low, high) of every node that was bounded.
    """

    cdef Relaxation relaxation
    cdef Primal primal
    cdef Tree tree
    cdef Basin basin
    cdef StopSignal stop
    cdef real epsilon, rel_tol, upper, closed, floor, known_value, sought
    cdef index max_nodes, n_batches, n_children, capacity, n_parents
    cdef int n_threads
    cdef bint orthant, new_incumbent, settled
    cdef Node **children
    cdef Effort *efforts
    cdef Effort effort
    cdef real[::1] solution, trial, known_point
    cdef object monitor, outer_bound
    cdef list rows, trace
    cdef readonly index n_nodes, n_audit_failures
    cdef readonly int reason

    def __init__(self, Relaxation relaxation, Primal primal, real epsilon, real rel_tol=0.0, bint orthant=False,
                 int n_threads=1, real time_limit=INFINITY, index max_nodes=1 << 62, monitor=None, outer_bound=None,
                 Basin basin=None, known=None, list trace=None):
        self.relaxation, self.primal = relaxation, primal
        self.epsilon, self.rel_tol, self.orthant = epsilon, rel_tol, orthant
        self.n_threads, self.max_nodes, self.monitor = n_threads, max_nodes, monitor
        self.stop = StopSignal(time_limit)
        self.tree = Tree(relaxation.n_connected, relaxation.n_warm, relaxation.n_split)
        self.capacity = relaxation.batch_size * ((<index> 1 << self.tree.n_split) if orthant else 2)
        self.children = <Node **> calloc(self.capacity, sizeof(Node *))
        self.efforts = <Effort *> calloc(self.capacity, sizeof(Effort))
        if self.children == NULL or self.efforts == NULL:
            raise MemoryError
        self.solution, self.trial = np.full(primal.n_solution, np.nan), np.empty(primal.n_solution)
        self.upper = self.closed = self.sought = INFINITY
        self.floor = -INFINITY
        self.outer_bound = outer_bound
        self.basin = None if orthant else basin
        self.rows = []
        self.trace = trace
        self.known_value = INFINITY
        if known is not None:
            self.known_point, self.known_value = np.ascontiguousarray(known[0], dtype=np.float64).ravel(), known[1]

    def __dealloc__(self):
        cdef index i
        for i in range(self.n_children):
            free(self.children[i])  # NULL where the tree has taken it
        free(self.children)
        free(self.efforts)

    def run(self):
        """Search until proved or stopped; returns the reason (a gopfast.result.Status value)."""
        self.relaxation.prepare(self.n_threads, self.stop)
        self.primal.prepare(self.n_threads, self.stop)
        try:
            with nogil:
                self.upper = self.primal.first(1e-3 * self.epsilon, &self.solution[0], &self.effort)
                self.relaxation.calibrate(&self.solution[0])
            self.new_incumbent = True
            self.open_root()
            while True:
                with nogil:
                    self.bound_children()
                    self.improve()
                self.merge()
                self.settle()
                self.bound_outside()
                self.report()
                if not self.select():
                    break
            if self.stop.reason <= STOP_OPTIMAL:
                with nogil:
                    self.polish()
        finally:
            with nogil:
                self.release()
        if self.stop.exception is not None:
            raise self.stop.exception
        least = min(self.closed, self.tree.heap[0].lower if self.tree.n_open else INFINITY)
        if isfinite(self.upper) and least > self.upper + 1e-12 * fabs(self.upper):
            # Every solution lies in some node, so the least bound cannot exceed an objective attained, but for the
            # rounding of an objective that an LP solver's point attains.
            raise RuntimeError("gopfast: a lower bound exceeds the incumbent; please report this problem")
        self.reason = self.stop.reason
        return self.reason

    cdef int open_root(self) except -1:
        self.children[0] = self.tree.new_node()
        if self.children[0] == NULL:
            raise MemoryError
        self.n_children = 1
        self.children[0].lower = -INFINITY
        self.relaxation.root(self.children[0])
        return self.relaxation.tighten(self.children[0])

    cdef inline real tolerance(self) noexcept nogil:
        # Without an incumbent a relative tolerance would be infinite.
        return max(self.epsilon, self.rel_tol * fabs(self.upper)) if isfinite(self.upper) else self.epsilon

    cdef real lower(self) noexcept nogil:
        """LBD: least bound over the open and the fathomed nodes, never above UBD."""
        cdef real least = self.closed
        if self.tree.n_open:
            least = min(least, self.tree.heap[0].lower)
        return min(self.upper, max(self.floor, least))

    cdef bint select(self) except -1:
        """Pops the best nodes and partitions them; False: proved, or stopped."""
        cdef Node *parent
        cdef index split = 0, limit
        cdef real cutoff = self.upper - self.tolerance()
        self.n_children = 0
        if self.stop.poll(0):
            return False
        while split < self.relaxation.batch_size and self.tree.n_open:
            if max(self.floor, self.tree.heap[0].lower) >= cutoff:
                break
            if self.n_nodes + self.n_children >= self.max_nodes:
                if split == 0:
                    self.stop.request(STOP_NODE_LIMIT)
                break
            parent = self.tree.pop()
            split += 1
            self.partition(parent)
        if split == 0 and self.stop.reason == STOP_NONE:
            self.stop.request(self.proved() if self.lower() >= cutoff else STOP_NUMERICAL)
        return split > 0

    cdef int settle(self) except -1:
        """Looks for a basin around a new incumbent, unless the present one holds it and is fathomed."""
        cdef real tolerance = self.tolerance()
        if self.basin is None or self.n_nodes < BASIN_FROM or not self.upper < self.sought:
            return 0
        self.sought = self.upper
        if self.basin.lower >= self.upper - tolerance:
            return 0
        with nogil:
            self.settled |= self.basin.settle(&self.solution[0], tolerance)
        return 0

    cdef void aim(self, Node *parent) noexcept nogil:
        """Moves the split point to a face of the basin where the node overlaps it: the part inside is done then."""
        cdef index n = self.tree.n_connected, j
        cdef real low, high, face, other, middle
        for j in range(n):
            if node_low(parent)[j] >= self.basin.high[j] or node_high(parent, n)[j] <= self.basin.low[j]:
                return
        j = parent.branch
        low, high = node_low(parent)[j], node_high(parent, n)[j]
        middle = 0.5 * (low + high)
        face, other = self.basin.low[j], self.basin.high[j]
        if fabs(other - middle) < fabs(face - middle):
            face = other
        if fabs(face - middle) < 0.4 * (high - low):
            node_point(parent, n)[j] = face

    cdef void fathom_inside(self, Node *node) noexcept nogil:
        cdef index n = self.tree.n_connected, j
        for j in range(n):
            if node_low(node)[j] < self.basin.low[j] or node_high(node, n)[j] > self.basin.high[j]:
                return
        node.lower = max(node.lower, self.basin.lower)

    cdef int proved(self) noexcept nogil:
        """What it means that nothing is open below the cutoff; a primal that finds a ray says -inf."""
        if self.upper == INFINITY:
            return STOP_INFEASIBLE
        return STOP_OPTIMAL if self.upper > -INFINITY else STOP_UNBOUNDED

    cdef int partition(self, Node *parent) except -1:
        """Adds the children of a node to the batch. A node too small to split keeps its bound for good."""
        cdef Node **children = self.children + self.n_children
        cdef int made = 0, kept = 0, i
        if parent.branch < 0:
            self.closed = min(self.closed, parent.lower)
        elif self.orthant:
            made = self.tree.orthants(parent, children, <int> (self.capacity - self.n_children))
        else:
            if self.settled:
                self.aim(parent)
            made = self.tree.bisect(parent, children)
        if made < 0:
            self.tree.push(parent)
            raise MemoryError("out of memory for nodes")
        self.tree.free_node(parent)
        for i in range(made):
            if self.relaxation.tighten(children[i]):
                if self.settled:
                    self.fathom_inside(children[i])
                children[kept] = children[i]
                kept += 1
            else:
                self.tree.free_node(children[i])
        self.n_children += kept
        return 0

    cdef void bound_children(self) noexcept nogil:
        """Relaxed dual subproblems of the batch. The result does not depend on the number of threads."""
        cdef index i
        cdef real cutoff = self.upper - self.tolerance()
        cdef Effort none
        none.n_subproblems = none.n_lps = none.n_passes = 0
        for i in range(self.n_children):
            self.efforts[i] = none
        if self.n_threads == 1 or self.n_children < self.relaxation.parallel_from:
            for i in range(self.n_children):
                if self.children[i].lower < cutoff and not self.stop.poll(0):
                    self.relaxation.bound(self.children[i], cutoff, 0, &self.efforts[i])
        else:
            for i in prange(self.n_children, schedule="dynamic", chunksize=1, num_threads=self.n_threads):
                if self.children[i].lower < cutoff and not self.stop.poll(threadid()):
                    self.relaxation.bound(self.children[i], cutoff, threadid(), &self.efforts[i])

    cdef void improve(self) noexcept nogil:
        """Local search from the most promising node of the batch: always at first, then now and then."""
        cdef Node *best = NULL
        cdef index i
        cdef real objective, tolerance = self.tolerance()
        self.n_batches += 1
        if self.n_batches > 8 and self.n_batches % 8:
            return
        for i in range(self.n_children):
            if best == NULL or self.children[i].lower < best.lower:
                best = self.children[i]
        if best == NULL or best.lower >= self.upper - tolerance or self.stop.poll(0):
            return
        objective = self.primal.improve(node_point(best, self.tree.n_connected), self.upper - 1e-3 * tolerance,
                                        1e-3 * tolerance, &self.trial[0], &self.effort)
        self.offer(objective)

    cdef void offer(self, real objective) noexcept nogil:
        """Takes `trial` as the incumbent if it is better."""
        if objective < self.upper:
            self.upper = objective
            self.new_incumbent = True
            memcpy(&self.solution[0], &self.trial[0], self.solution.shape[0] * sizeof(real))

    cdef int merge(self) except -1:
        """Takes the batch into the tree, in node order; fathoms what the incumbent allows."""
        cdef index i
        cdef real cutoff = self.upper - self.tolerance()
        cdef Node *node
        for i in range(self.n_children):
            node = self.children[i]
            self.n_nodes += 1
            self.effort.n_subproblems += self.efforts[i].n_subproblems
            self.effort.n_lps += self.efforts[i].n_lps
            self.effort.n_passes += self.efforts[i].n_passes
            if self.known_value < INFINITY:
                self.audit(node)
            if self.trace is not None:
                self.record(node)
            self.children[i] = NULL
            if node.lower >= cutoff:
                self.closed = min(self.closed, node.lower)
                self.tree.free_node(node)
            elif self.tree.push(node) == NO_MEMORY:
                self.closed = min(self.closed, node.lower)
                self.tree.free_node(node)
                raise MemoryError("out of memory for open nodes")
        self.n_children = 0
        self.relaxation.merged()
        return 0

    cdef int bound_outside(self) except -1:
        if self.outer_bound is not None and self.n_nodes >= OUTER_BOUND_FROM and self.tree.n_open:
            ask, self.outer_bound = self.outer_bound, None
            try:
                self.floor = ask(np.asarray(self.solution), self.upper, self.tolerance())
            except KeyboardInterrupt:
                self.stop.request(STOP_INTERRUPTED)
        return 0

    cdef void audit(self, Node *node) noexcept nogil:
        """A bound above a known solution inside the node's box is a bug."""
        cdef index j, n = self.tree.n_connected
        for j in range(n):
            if not node_low(node)[j] <= self.known_point[j] <= node_high(node, n)[j]:
                return
        if node.lower > self.known_value:
            self.n_audit_failures += 1

    cdef int record(self, Node *node) except -1:
        cdef index n = self.tree.n_connected
        low = np.asarray(<real[:n]> node_low(node)).copy()
        high = np.asarray(<real[:n]> node_high(node, n)).copy()
        self.trace.append((node.serial, node.parent, node.lower, low, high))
        return 0

    cdef int report(self) except -1:
        cdef real now = clock() - self.stop.started, lower = self.lower()
        if self.new_incumbent or not self.rows or lower > self.rows[-1][2] or not self.tree.n_open:
            self.rows.append((now, self.n_nodes, lower, self.upper, self.tree.n_open))
        if self.monitor is not None:
            try:
                if self.monitor(now, self.n_nodes, self.tree.n_open, lower, self.upper, self.new_incumbent):
                    self.stop.request(STOP_INTERRUPTED)
            except KeyboardInterrupt:  # Ctrl-C while the log or the user's callback runs
                self.stop.request(STOP_INTERRUPTED)
        self.new_incumbent = False
        return 0

    cdef void polish(self) noexcept nogil:
        memcpy(&self.trial[0], &self.solution[0], self.solution.shape[0] * sizeof(real))
        self.offer(self.primal.polish(&self.trial[0], &self.effort))

    cdef void release(self) noexcept nogil:
        cdef int i
        if self.n_threads == 1:
            self.relaxation.release(0)
        else:
            for i in prange(self.n_threads, schedule="static", chunksize=1, num_threads=self.n_threads):
                self.relaxation.release(i)

    def summary(self):
        """Bounds, counts, solution vector and history (time, nodes, lower, upper, open) of the run."""
        now = clock() - self.stop.started
        lower = self.lower()
        self.rows.append((now, self.n_nodes, lower, self.upper, self.tree.n_open))
        return dict(
            objective=self.upper, lower_bound=lower, n_nodes=self.n_nodes,
            n_subproblems=self.effort.n_subproblems, n_lps=self.effort.n_lps, n_passes=self.effort.n_passes,
            time=now, history=np.array(self.rows, dtype=np.float64),
        ), np.array(self.solution)
