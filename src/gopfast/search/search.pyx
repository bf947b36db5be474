"""The GOP loop: select, partition, bound, improve, merge. Knows no model and no relaxation."""

import numpy as np

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from gopfast.search.relaxation cimport Basin, Effort, Primal, Reduction, Relaxation, no_effort
from gopfast.search.stop cimport StopSignal, clock
from gopfast.search.tree cimport Node, Tree, node_high, node_low, node_point
from gopfast.search.types cimport (
    NO_MEMORY, STOP_CUTOFF, STOP_INFEASIBLE, STOP_INTERRUPTED, STOP_NODE_LIMIT, STOP_NONE, STOP_NUMERICAL,
    STOP_OPTIMAL, STOP_UNBOUNDED, index, real
)

# Passes spent on learning: at first as many as on nodes until then, later this multiple of them.
cdef real SHARE = 8.0
cdef real SHRUNK = 0.85
cdef real MUCH_SMALLER = 1e-3   # volume of the box in which the tree begins again
# A node cut down to this part of a variable's interval is bounded again before it is split.
cdef real MUCH = 0.7
# A known solution is that of its responsibilities up to so much rounding, relative to 1 + |x|.
cdef real KNOWN_ROUNDING = 1e-9

cdef enum Cut:
    NOTHING_LEFT = 0    # nothing in the node lies below the limit
    CUT_LITTLE = 1
    CUT_DOWN = 2
# Splitting at a basin's faces pays where the nodes around the optimum are many.
cdef int BASIN_FROM = 64
# Local search from the best open node: in each of the first batches, then in every so many.
cdef int FIRST_BATCHES = 8
# Most batches that a local search from a promising node waits after others have been in vain.
cdef index LONGEST_WAIT = 1024


cdef class Search:
    """One run of the branch-and-bound search.

    Parameters
    ----------
    relaxation : Relaxation
    primal : Primal
    epsilon, rel_tol : float
        Stop at UBD - LBD <= max(epsilon, rel_tol * |UBD|).
    orthant : bool
        Partition at the split point into all bound combinations, or bisect one variable. A relaxation that selects
        a combination has that one split off, and the rest in one box per variable.
    n_threads : int
    time_limit : float
    max_nodes : int
    monitor : None or callable (time, n_nodes, n_open, lower, upper, new_incumbent) -> stop
    reduction : None or Reduction
        Learns what holds for all solutions below the limit.
    reduce_from : int
        Nodes after which it begins: problems solved in fewer are done before it would pay.
    basin : None or Basin
        Finds a box around an incumbent with a bound of its own; used where the partition is by bisection.
    least : float
        A lower bound known beforehand.
    stop : None or StopSignal
        That of the preparation, whose time counts then; instead of `time_limit`.
    known : None or (point, objective)
        A solution against which every bound is audited, and every box that is cut down (n_audit_failures). Of its
        copies with the components in another order, the one that tightening keeps: by first coordinate, equal ones in
        any order.
    trace : None or list
        For tests: takes (serial, parent, lower, low, high) of every node that was bounded.
    """

    cdef Relaxation relaxation
    cdef Primal primal
    cdef Tree tree
    cdef Basin basin
    cdef Reduction reduction
    cdef StopSignal stop
    cdef real epsilon, rel_tol, cutoff, upper, closed, floor, known_value, spent, sought, size, rounding
    cdef index reduce_from, effort_before, max_nodes, n_batches, n_children, capacity, n_parents, wait, waited
    cdef int n_threads
    cdef bint orthant, new_incumbent, settled, learns
    cdef Node **children
    cdef Effort *efforts
    cdef Effort effort, learning
    cdef real[::1] solution, trial, known_point, box, begun, relaxed_weights
    cdef object monitor
    cdef list rows, trace
    cdef readonly index n_nodes, n_audit_failures
    cdef readonly int reason

    def __init__(self, Relaxation relaxation, Primal primal, real epsilon, real rel_tol=0.0, bint orthant=False,
                 int n_threads=1, real time_limit=INFINITY, index max_nodes=1 << 62, monitor=None,
                 Reduction reduction=None, index reduce_from=256, Basin basin=None, real least=-INFINITY, known=None,
                 list trace=None, StopSignal stop=None):
        self.relaxation, self.primal = relaxation, primal
        self.epsilon, self.rel_tol, self.orthant = epsilon, rel_tol, orthant
        self.n_threads, self.max_nodes, self.monitor = n_threads, max_nodes, monitor
        self.stop = StopSignal(time_limit) if stop is None else stop
        self.tree = Tree(relaxation.n_connected, relaxation.n_warm, relaxation.n_split, relaxation.selects)
        self.capacity = relaxation.batch_size * self.tree.most_children(orthant)
        self.children = <Node **> calloc(self.capacity, sizeof(Node *))
        self.efforts = <Effort *> calloc(self.capacity, sizeof(Effort))
        if self.children == NULL or self.efforts == NULL:
            raise MemoryError
        self.solution, self.trial = np.full(primal.n_solution, np.nan), np.empty(primal.n_solution)
        self.upper = self.closed = self.cutoff = self.sought = self.size = INFINITY
        self.floor = least
        self.rounding = 0
        self.wait, self.waited = 1, 0
        self.relaxed_weights = np.empty(primal.n_solution)
        self.reduction, self.reduce_from = reduction, reduce_from
        self.effort_before = -1
        self.box, self.begun = np.empty(2 * relaxation.n_connected), np.empty(2 * relaxation.n_connected)
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

    def resume(self, real time_limit=INFINITY, index max_nodes=1 << 62, real cutoff=INFINITY):
        """Start, or go on where the search stopped, with new limits; returns the reason.

        Parameters
        ----------
        time_limit : float
            Seconds of this run.
        max_nodes : int
            Nodes of all runs.
        cutoff : float
            Stop also once LBD >= cutoff: nodes that cannot lie below are fathomed, whatever the incumbent. At most
            that of the run before.
        """
        self.spent = self.rows[len(self.rows) - 1][0] if self.rows else 0.0
        self.stop = StopSignal(time_limit)
        self.max_nodes, self.cutoff = max_nodes, min(self.cutoff, cutoff)
        return self.run()

    def run(self):
        """Search until proved or stopped; returns the reason (a gopfast.result.Status value)."""
        self.relaxation.prepare(self.n_threads, self.stop)
        self.primal.prepare(self.n_threads, self.stop)
        self.learns = False
        try:
            if self.n_batches == 0:
                self.open_root()
            while True:
                with nogil:
                    self.bound_children()
                    self.improve()
                self.merge()
                self.settle()
                self.reduce()
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
        least = self.least()
        if isfinite(self.upper) and least > self.upper + 1e-12 * fabs(self.upper) and not self.primal.has_tolerance:
            # Every solution lies in some node, so the least bound cannot exceed an objective attained. Where points
            # meet their constraints within a tolerance, who started the search compares with `least_bound`.
            raise RuntimeError("gopfast: a lower bound exceeds the incumbent; please report this problem")
        self.reason = self.stop.reason
        return self.reason

    cdef int open_root(self) except -1:
        with nogil:
            self.upper = self.primal.first(1e-3 * self.epsilon, &self.solution[0], &self.effort)
            if not self.stop.poll(0):
                self.relaxation.calibrate(&self.solution[0])
        self.new_incumbent = True
        self.children[0] = self.tree.new_node()
        if self.children[0] == NULL:
            raise MemoryError
        self.n_children = 1
        self.children[0].lower = -INFINITY
        self.relaxation.root(self.children[0])
        memcpy(&self.begun[0], node_low(self.children[0]), 2 * self.tree.n_connected * sizeof(real))
        return self.tighten(self.children[0])

    cdef inline real tolerance(self) noexcept nogil:
        # Without an incumbent a relative tolerance would be infinite.
        return max(self.epsilon, self.rel_tol * fabs(self.upper)) if isfinite(self.upper) else self.epsilon

    cdef inline real limit(self) noexcept nogil:
        """Nodes with at least this bound are fathomed."""
        return min(self.upper - self.tolerance(), self.cutoff)

    cdef real least(self) noexcept nogil:
        """Least bound over the open and the fathomed nodes and what was cut off them."""
        cdef real least = self.closed
        if self.tree.n_open:
            least = min(least, self.tree.heap[0].lower)
        return least if self.reduction is None else min(least, self.reduction.lower)

    cdef real lower(self) noexcept nogil:
        """LBD, never above UBD."""
        cdef real floor = self.floor
        if self.reduction is not None:
            floor = max(floor, min(self.reduction.floor, self.reduction.lower))
        return min(self.upper, max(floor, self.least()))

    cdef bint select(self) except -1:
        """Pops the best nodes and partitions them; False: proved, or stopped."""
        cdef Node *parent
        cdef index split = 0
        cdef real limit = self.limit()
        self.n_children = 0
        if self.stop.poll(0):
            return False
        while split < self.relaxation.batch_size and self.tree.n_open:
            if max(self.floor, self.tree.heap[0].lower) >= limit:
                break
            if self.n_nodes + self.n_children >= self.max_nodes:
                if split == 0:
                    self.stop.request(STOP_NODE_LIMIT)
                break
            parent = self.tree.pop()
            split += 1
            self.partition(parent)
        if split == 0 and self.stop.reason == STOP_NONE:
            self.stop.request(self.proved())
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
        if self.in_basin(node_low(node), node_high(node, self.tree.n_connected)):
            node.lower = max(node.lower, self.basin.lower)

    cdef bint in_basin(self, const real *low, const real *high) noexcept nogil:
        """Whether a box lies in the settled basin."""
        cdef index j
        for j in range(self.tree.n_connected):
            if low[j] < self.basin.low[j] or high[j] > self.basin.high[j]:
                return False
        return True

    cdef int proved(self) noexcept nogil:
        """What it means that nothing is open below the limit; a primal that finds a ray says -inf."""
        cdef real lower = self.lower()
        if not lower >= self.limit():
            return STOP_NUMERICAL
        if not lower >= self.upper - self.tolerance():
            return STOP_CUTOFF
        if self.upper == INFINITY:
            return STOP_INFEASIBLE
        return STOP_OPTIMAL if self.upper > -INFINITY else STOP_UNBOUNDED

    cdef int partition(self, Node *parent) except -1:
        """Adds the children of a node to the batch. A node that cannot be split is bounded anew, as its only child.

        Its bound was good enough against the limit of its time, which need not be that of today.
        """
        cdef Node **children = self.children + self.n_children
        cdef int made = 0, kept = 0, i
        cdef Cut cut = self.fit(parent)
        if cut == NOTHING_LEFT:
            made = 0
        elif cut == CUT_DOWN or parent.branch < 0:
            children[0] = self.tree.child(parent)
            made = 1 if children[0] != NULL else NO_MEMORY
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
            if self.tighten(children[i]) and self.fit(children[i]) != NOTHING_LEFT:
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
        cdef real limit = self.limit()
        for i in range(self.n_children):
            self.efforts[i] = no_effort()
            self.efforts[i].last = self.children[i].branch < 0 and self.children[i].parent >= 0
        if self.n_threads == 1 or self.n_children < self.relaxation.parallel_from:
            for i in range(self.n_children):
                if self.children[i].lower < limit and not self.stop.poll(0):
                    self.relaxation.bound(self.children[i], limit, 0, &self.efforts[i])
        else:
            for i in prange(self.n_children, schedule="dynamic", chunksize=1, num_threads=self.n_threads):
                if self.children[i].lower < limit and not self.stop.poll(threadid()):
                    self.relaxation.bound(self.children[i], limit, threadid(), &self.efforts[i])

    cdef void improve(self) noexcept nogil:
        """Local searches from nodes of the batch: the one with the least bound, always at first, then now and then.

        And the one whose relaxed solution would be the best, wherever it would beat the incumbent.
        """
        cdef Node *best = NULL
        cdef Node *promising = NULL
        cdef index i
        cdef real least = self.limit()
        self.n_batches += 1
        for i in range(self.n_children):
            if best == NULL or self.children[i].lower < best.lower:
                best = self.children[i]
            if self.efforts[i].estimate < least:
                promising, least = self.children[i], self.efforts[i].estimate
        if best != NULL and (self.n_batches <= FIRST_BATCHES or self.n_batches % FIRST_BATCHES == 0):
            self.improve_from(best)
        self.waited += 1
        if promising != NULL and self.waited >= self.wait:
            self.waited = 0
            self.wait = 1 if self.improve_from(promising) else min(2 * self.wait, LONGEST_WAIT)

    cdef bint improve_from(self, Node *node) noexcept nogil:
        """Local search from a node's point and relaxed weights; whether there is a new incumbent."""
        cdef real tolerance = self.tolerance(), before = self.upper
        cdef const real *weights = NULL
        if node.lower >= self.limit() or self.stop.poll(0):
            return False
        if self.relaxation.weights(node, &self.relaxed_weights[0]):
            weights = &self.relaxed_weights[0]
        self.offer(self.primal.improve(node_point(node, self.tree.n_connected), weights, self.upper - 1e-3 * tolerance,
                                       1e-3 * tolerance, &self.trial[0], &self.effort))
        if not self.upper < before:
            return False
        self.relaxation.calibrate(&self.solution[0])
        return True

    cdef void offer(self, real objective) noexcept nogil:
        """Takes `trial` as the incumbent if it is better."""
        if objective < self.upper:
            self.upper = objective
            self.new_incumbent = True
            self.size = INFINITY
            memcpy(&self.solution[0], &self.trial[0], self.solution.shape[0] * sizeof(real))

    cdef int merge(self) except -1:
        """Takes the batch into the tree, in node order; fathoms what the incumbent allows."""
        cdef index i
        cdef real limit = self.limit()
        cdef Node *node
        for i in range(self.n_children):
            node = self.children[i]
            self.n_nodes += 1
            self.effort.n_subproblems += self.efforts[i].n_subproblems
            self.effort.n_lps += self.efforts[i].n_lps
            self.effort.n_milps += self.efforts[i].n_milps
            self.effort.n_passes += self.efforts[i].n_passes
            if self.known_value < INFINITY:
                self.audit(node)
            if self.trace is not None:
                self.record(node)
            self.children[i] = NULL
            if node.lower >= limit:
                self.closed = min(self.closed, node.lower)
                self.tree.free_node(node)
            elif self.efforts[i].last and node.branch < 0 and self.stop.reason == STOP_NONE:
                self.closed = min(self.closed, node.lower)  # no more can be done about it
                self.rounding = max(self.rounding, self.efforts[i].margin)
                self.tree.free_node(node)
            elif self.tree.push(node) == NO_MEMORY:
                self.closed = min(self.closed, node.lower)
                self.tree.free_node(node)
                raise MemoryError("out of memory for open nodes")
        self.n_children = 0
        self.relaxation.merged()
        return 0

    cdef int reduce(self) except -1:
        """Learns what holds for all solutions below the limit."""
        cdef bint shrunk
        cdef real share
        if self.reduction is not None and self.n_nodes >= self.reduce_from and self.tree.n_open:
            if not self.learns:
                self.reduction.prepare(self.stop)
                self.learns = True
            with nogil:
                if self.effort_before < 0:
                    self.effort_before = self.effort.n_passes
                share = self.effort_before + SHARE * (self.effort.n_passes - self.effort_before)
                while self.learning.n_passes < share and not self.covered():
                    if self.stop.poll(0) or not self.reduction.work(&self.solution[0], self.limit(), &self.learning):
                        break
                shrunk = self.shrunk()
            # not once stopped: a node that is never bounded could not be split when the search goes on
            if shrunk and self.stop.reason == STOP_NONE:
                self.restart()
        return 0

    cdef bint shrunk(self) noexcept nogil:
        """Whether the box of all solutions below the limit is now much smaller than where the tree began."""
        cdef index j
        cdef real ratio = 1, width
        for j in range(self.tree.n_connected):
            width = self.begun[self.tree.n_connected + j] - self.begun[j]
            if width > 0:
                ratio *= (self.reduction.high[j] - self.reduction.low[j]) / width
        return ratio < MUCH_SMALLER

    cdef int restart(self) except -1:
        """Begins the tree again, in the box that the reduction leaves."""
        cdef index n = self.tree.n_connected, j
        cdef real lower = self.lower()
        cdef Node *node
        self.tree.clear()
        node = self.tree.new_node()
        if node == NULL:
            raise MemoryError
        self.children[0] = node
        self.relaxation.root(node)
        node.lower = lower
        for j in range(n):
            self.begun[j], self.begun[n + j] = self.reduction.low[j], self.reduction.high[j]
        if not self.tighten(node) or self.fit(node) == NOTHING_LEFT:
            self.children[0] = NULL
            self.tree.free_node(node)
            return 0
        if self.settled:
            self.fathom_inside(node)
        self.n_children = 1
        with nogil:
            self.bound_children()
        return self.merge()

    cdef bint covered(self) noexcept nogil:
        """Whether a basin holds all solutions below the limit; tries anew as their box shrinks."""
        cdef index j
        cdef real size = 0
        if self.basin is None:
            return False
        for j in range(self.tree.n_connected):
            size += self.reduction.high[j] - self.reduction.low[j]
        if size < SHRUNK * self.size:
            self.size = size
            self.settled |= self.basin.cover(&self.solution[0], self.tolerance(), &self.reduction.low[0],
                                             &self.reduction.high[0])
        return self.settled and self.in_basin(&self.reduction.low[0], &self.reduction.high[0])

    cdef Cut fit(self, Node *node) noexcept nogil:
        """Cuts a node down by what was learnt beside the tree."""
        cdef index n = self.tree.n_connected, j
        cdef Cut cut = CUT_LITTLE
        cdef bint held
        if self.reduction is None or self.reduction.lower == INFINITY:
            return cut
        memcpy(&self.box[0], node_low(node), 2 * n * sizeof(real))
        held = self.known_value < self.reduction.lower and self.holds_known(node)
        if self.reduction.fit(node_low(node), node_high(node, n)):
            for j in range(n):
                if node_high(node, n)[j] - node_low(node)[j] < MUCH * (self.box[n + j] - self.box[j]):
                    cut = CUT_DOWN
            node.lower = max(node.lower, self.reduction.rest)
            held = held and not self.holds_known(node)
        else:
            cut = NOTHING_LEFT
        self.n_audit_failures += held
        return cut

    cdef bint tighten(self, Node *node) noexcept nogil:
        """Removes what cannot hold a solution; a known one that is lost is a bug."""
        cdef bint held = self.known_value < INFINITY and self.holds_known(node)
        cdef bint left = self.relaxation.tighten(node)
        self.n_audit_failures += held and not (left and self.holds_known(node, KNOWN_ROUNDING))
        return left

    cdef void audit(self, Node *node) noexcept nogil:
        """A bound above a known solution inside the node's box is a bug."""
        if node.lower > self.known_value and self.holds_known(node):
            self.n_audit_failures += 1

    cdef bint holds_known(self, Node *node, real rounding=0.0) noexcept nogil:
        cdef index j, n = self.tree.n_connected
        cdef real slack
        for j in range(n):
            slack = rounding * (1 + fabs(self.known_point[j]))
            if not node_low(node)[j] - slack <= self.known_point[j] <= node_high(node, n)[j] + slack:
                return False
        return True

    cdef int record(self, Node *node) except -1:
        cdef index n = self.tree.n_connected
        low = np.asarray(<real[:n]> node_low(node)).copy()
        high = np.asarray(<real[:n]> node_high(node, n)).copy()
        self.trace.append((node.serial, node.parent, node.lower, low, high))
        return 0

    cdef int report(self) except -1:
        cdef real now = self.spent + clock() - self.stop.started, lower = self.lower()
        if self.new_incumbent or not self.rows or lower > self.rows[len(self.rows) - 1][2] or not self.tree.n_open:
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

    @property
    def least_bound(self):
        """LBD as it is proved, also where it exceeds UBD."""
        return max(self.floor, self.least())

    def summary(self):
        """Bounds, counts, solution vector and history (time, nodes, lower, upper, open) of the run."""
        now = self.spent + clock() - self.stop.started
        lower = self.lower()
        self.rows.append((now, self.n_nodes, lower, self.upper, self.tree.n_open))
        return dict(
            objective=self.upper, lower_bound=lower, n_nodes=self.n_nodes,
            n_subproblems=self.effort.n_subproblems, n_lps=self.effort.n_lps, n_milps=self.effort.n_milps,
            n_passes=self.effort.n_passes + self.learning.n_passes, time=now, rounding_margin=self.rounding,
            history=np.array(self.rows, dtype=np.float64),
        ), np.array(self.solution)
