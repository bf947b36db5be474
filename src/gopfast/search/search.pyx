"""The GOP loop: select, partition, bound, improve, merge. Knows no model and no relaxation.

Theory: (G3) of docs/theory/gop.md; (S1), (S2) and (S3) of docs/theory/search.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memset

from gopfast.search.audit cimport Audit
from gopfast.search.batch cimport Batch
from gopfast.search.domain cimport CUT_DOWN, NOTHING_LEFT, Cut, Domain
from gopfast.search.history cimport History
from gopfast.search.incumbent cimport Incumbent
from gopfast.search.ledger cimport Ledger
from gopfast.search.margins cimport KNOWN_ROUNDING, UPPER_ROUNDING
from gopfast.search.meter cimport Meter, Work, add_work
from gopfast.search.relaxation cimport N_STAGES, Basin, Primal, Reduction, Relaxation, no_effort
from gopfast.search.node_memory cimport NodeMemory
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree, node_point, node_warm
from gopfast.search.tuning cimport FIRST_BATCHES, LONGEST_WAIT
from gopfast.search.types cimport (
    NO_MEMORY, STOP_CUTOFF, STOP_INFEASIBLE, STOP_INTERRUPTED, STOP_MEMORY_LIMIT, STOP_NODE_LIMIT, STOP_NONE,
    STOP_NUMERICAL, STOP_OPTIMAL, STOP_UNBOUNDED, index, real
)


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
    proof : None or object
        What splits and leaves are told to, for a proof: see `gopfast.search.ledger`.
    memory : None or object with room(taken) -> bytes, and unasked
        What the open nodes may take; it is told what they have taken at most, once they take more than `unasked`
        bytes. See `gopfast.search.memory`.
    spill : None or object with write(arrays) -> name, read(name) -> arrays, remove(name), failed(error)
        Keeps on disk what does not fit. See `gopfast.search.files`.
    keeper : None or callable (search) -> stop
        Called between batches, where the whole state is in the search's arrays (`gopfast.search.snapshot`); from the
        first batch on that nothing has cut short, as its attribute `begun` says once that is bounded.
    meters : sequence of Meter
        Those of all mechanisms that are at work in the search: states and what others do have their counts.
    """

    def __init__(self, Relaxation relaxation, Primal primal, real epsilon, real rel_tol=0.0, bint orthant=False,
                 int n_threads=1, real time_limit=INFINITY, index max_nodes=1 << 62, monitor=None,
                 Reduction reduction=None, index reduce_from=256, Basin basin=None, real least=-INFINITY, known=None,
                 list trace=None, proof=None, StopSignal stop=None, memory=None, spill=None, keeper=None, meters=()):
        self.relaxation, self.orthant, self.n_threads, self.max_nodes = relaxation, orthant, n_threads, max_nodes
        self.stop = StopSignal(time_limit) if stop is None else stop
        self.tree = Tree(relaxation.n_connected, relaxation.n_warm, relaxation.n_split, relaxation.selects)
        self.batch = Batch(relaxation.batch_size * self.tree.most_children(orthant), n_threads)
        self.node_memory = NodeMemory(self.tree, memory, spill)
        self.keeper = keeper
        self.elsewhere, self.n_elsewhere = INFINITY, 0
        self.incumbent = Incumbent(primal, epsilon, rel_tol)
        self.domain = Domain(relaxation.n_connected, None if orthant else basin, reduction, reduce_from, n_threads)
        self.audit = Audit(relaxation.n_connected, known, trace)
        self.ledger = None if proof is None else Ledger(relaxation.n_connected, relaxation.n_warm, proof)
        self.history = History(monitor)
        self.given, self.closed, self.rounding = least, INFINITY, 0
        self.wait, self.waited = 1, 0
        self.relaxed_weights, self.start = np.empty(primal.n_solution), np.empty(relaxation.n_connected)
        self.effort = no_effort()
        self.meters, self.told = list(meters), -INFINITY

    def resume(self, real time_limit=INFINITY, index max_nodes=1 << 62, real cutoff=INFINITY, int reason=STOP_NONE,
               StopSignal stop=None):
        """Start, or go on where the search stopped, with new limits; returns the reason.

        Parameters
        ----------
        time_limit : float
            Seconds of this run.
        max_nodes : int
            Nodes of all runs; 0: the first local search alone.
        cutoff : float
            Stop also once LBD >= cutoff: nodes that cannot lie below are fathomed, whatever the incumbent. At most
            that of the run before.
        reason : int
            Stops at once for this reason; 0: for none.
        stop : StopSignal or None
            What others look at too, which has the time limit then.
        """
        self.history.resume()
        self.stop = StopSignal(time_limit) if stop is None else stop
        self.stop.request(reason)
        self.max_nodes = max_nodes
        self.incumbent.cutoff = min(self.incumbent.cutoff, cutoff)
        return self.run()

    def run(self):
        """Search until proved or stopped; returns the reason (a gopfast.result.Status value)."""
        if self.keeper is not None and self.begun:
            self.keeper.begun = True
        self.prepare()
        try:
            if self.n_batches == 0:
                self.find()
                self.tell_found()
                if self.max_nodes > 0:
                    self.open_root()
                    self.work()
            if self.unopened:
                self.stop.request(STOP_NODE_LIMIT)
            while not self.unopened and self.select():
                self.work()
            if self.stop.reason <= STOP_OPTIMAL and not self.is_part:
                with nogil:
                    self.incumbent.polish(&self.effort)
        finally:
            with nogil:
                self.batch.release(self.relaxation)
        self.check()
        self.reason = self.stop.reason
        return self.reason

    cdef int prepare(self) except -1:
        self.relaxation.prepare(self.n_threads, self.stop)
        self.incumbent.primal.prepare(self.n_threads, self.stop)
        self.domain.resume()
        if self.restored:
            self.restored = False
            self.relaxation.calibrate(&self.incumbent.solution[0])
        return 0

    cdef int work(self) except -1:
        """One batch: bounded, searched locally, merged, learnt from and reported."""
        with nogil:
            self.batch.bound(self.relaxation, self.incumbent.limit(), self.stop)
            self.improve()
        # of a first batch that was cut short nothing is kept: what the root chooses for all nodes, it has chosen badly
        self.begun = self.begun or self.stop.reason == STOP_NONE
        if self.keeper is not None and self.begun:
            self.keeper.begun = True
        self.merge()
        self.learn()
        self.report()
        try:
            if self.keeper is not None and self.begun and self.keeper(self):
                self.stop.request(STOP_INTERRUPTED)
        except KeyboardInterrupt:  # Ctrl-C while it writes
            self.stop.request(STOP_INTERRUPTED)
        return 0

    cdef int check(self) except -1:
        """Raises what stopped the search, or says that a bound is wrong."""
        cdef real upper = self.incumbent.upper
        self.stop.reraise()
        if (isfinite(upper) and not self.is_part and self.least() > upper + UPPER_ROUNDING * fabs(upper)
                and not self.incumbent.primal.has_tolerance):
            # Every solution lies in some node, so the least bound cannot exceed an objective attained. Where points
            # meet their constraints within a tolerance, who started the search compares with `least_bound`.
            raise RuntimeError("gopfast: a lower bound exceeds the incumbent; please report this problem")
        return 0

    # The bounds of the search

    cdef real least(self) noexcept nogil:
        """Least bound over the open and the fathomed nodes and what was cut off them, wherever they are."""
        if self.unopened:
            return -INFINITY
        cdef real least = min(self.closed, self.domain.removed())
        return min(min(least, self.tree.least()), min(self.node_memory.lower, self.elsewhere))

    cdef real lower(self) noexcept nogil:
        """LBD, never above UBD."""
        return min(self.incumbent.upper, max(self.given, max(self.domain.floor(), self.least())))

    cdef int proved(self) noexcept nogil:
        """What it means that nothing is open below the limit; a primal that finds a ray says -inf."""
        cdef real lower = self.lower(), upper = self.incumbent.upper
        if not lower >= self.incumbent.limit():
            return STOP_NUMERICAL
        if not lower >= upper - self.incumbent.tolerance():
            return STOP_CUTOFF
        if upper == INFINITY:
            return STOP_INFEASIBLE
        return STOP_OPTIMAL if upper > -INFINITY else STOP_UNBOUNDED

    # The steps of the loop

    cdef void find(self) noexcept nogil:
        """The first incumbent, unless a run before has found it."""
        self.unopened = True
        if self.incumbent.upper == INFINITY:
            self.incumbent.find(&self.effort)

    cdef int tell_found(self) except -1:
        """Rows of when the first local search found what, which a batch that learns may come long after.

        Not where nothing is known below it.
        """
        cdef real lower = self.lower(), upper = self.incumbent.upper
        if self.history.rows or not (isfinite(upper) and isfinite(lower)):
            return 0
        for at, value in self.incumbent.primal.improvements.rows():
            if value > upper:
                self.history.add(self.history.spent + at - self.stop.started, 0, 0, lower, value)
        self.history.add(self.history.now(self.stop), 0, 0, lower, upper)
        return 0

    cdef int open_root(self) except -1:
        """The root as the batch."""
        with nogil:
            if not self.stop.poll(0):
                self.relaxation.calibrate(&self.incumbent.solution[0])
        self.stop.check_signals()  # Ctrl-C meanwhile: what records the root for a proof is Python, and would raise it
        self.root(-INFINITY)
        self.unopened = False
        self.domain.begin(self.batch.nodes[0])
        self.tighten(self.batch.nodes[0])
        return 0

    cdef int root(self, real lower) except -1:
        """The root's box with a proved bound, alone in the batch."""
        cdef Node *node = self.tree.new_node()
        if node == NULL:
            raise MemoryError
        memset(node_warm(node, self.tree.n_connected), 0, self.tree.n_warm * sizeof(float))
        self.relaxation.root(node)
        node.lower = lower
        self.batch.nodes[0], self.batch.n = node, 1
        if self.ledger is not None:
            self.ledger.begin(node)
        return 0

    cdef bint select(self) except -1:
        """Pops the best nodes and partitions them; False: proved, or stopped."""
        cdef index split = 0, most, taken
        cdef bint looks
        if self.stop.poll(0):
            return False
        most = self.node_memory.make(self.relaxation.batch_size, self.tree.most_children(self.orthant), self.stop)
        if self.stop.reason != STOP_NONE:
            return False
        self.node_memory.fetch(self.stop)
        looks = self.domain.looks()
        while split < max(most, 1) and self.stop.reason == STOP_NONE:
            taken = self.take_parents(most - split, split == 0)
            if taken == 0:
                break
            split += taken
            self.divide(looks)
        if split == 0 and self.stop.reason == STOP_NONE:
            self.stop.request(self.proved())
        return split > 0

    cdef index take_parents(self, index most, bint first) except -1:
        """Pops nodes to be split, the best ones; those that the incumbent allows are closed. Returns their number.

        One at a time where the nodes left to be bounded are so few that it matters how many children there will be.
        """
        cdef real limit = self.incumbent.limit()
        cdef index n_children = self.tree.most_children(self.orthant)
        cdef index left = self.max_nodes - self.n_nodes - self.batch.n
        if left <= most * n_children:
            most = min(most, 1)
        while self.tree.n_open and self.stop.reason == STOP_NONE and (self.batch.n_parents < most or most == 0):
            if max(self.given, self.tree.next().lower) >= limit:
                if self.tree.n_stack == 0:
                    break
                self.close(self.tree.pop())
                continue
            if most == 0:
                self.stop.request(STOP_MEMORY_LIMIT)
                break
            if left <= 0:
                if first:
                    self.stop.request(STOP_NODE_LIMIT)
                break
            self.batch.parents[self.batch.n_parents] = self.tree.pop()
            self.batch.n_parents += 1
            self.node_memory.fetch(self.stop)
        return self.batch.n_parents

    cdef int divide(self, bint looks) except -1:
        """Partitions the parents: their children join the batch, with `looks` as small as is known before bounding."""
        cdef index first = self.batch.n, i, looked
        with nogil:
            looked = self.batch.cut(self.batch.parents, self.batch.n_parents, self.domain.cut_from, self.domain,
                                    self.audit)
        self.domain.tell_cut(self.batch.n_parents, looked, self.batch.cuts, self.batch.by)
        try:
            for i in range(self.batch.n_parents):
                self.partition(self.batch.detach_parent(i), self.batch.cuts[i])
        finally:
            for i in range(self.batch.n_parents):
                if self.batch.parents[i] != NULL:  # out of memory: the others are open again
                    self.put_back(self.batch.detach_parent(i))
            self.batch.n_parents = 0
        self.contract_batch(first, looks)
        return 0

    cdef int contract_batch(self, index first, bint looks) except -1:
        """Makes new nodes of the batch as small, and their bounds as high, as is known before bounding."""
        cdef index kept = first, i, looked
        cdef Node **nodes = self.batch.nodes
        with nogil:
            looked = self.batch.cut(nodes + first, self.batch.n - first, self.tree.n_created if looks else 0,
                                    self.domain, self.audit)
            if looks:
                self.domain.count(self.batch.n - first, self.batch.cuts)
        self.domain.tell_cut(self.batch.n - first, looked, self.batch.cuts, self.batch.by)
        for i in range(first, self.batch.n):
            if self.batch.cuts[i - first] == NOTHING_LEFT:
                self.tree.free_node(nodes[i])
            else:
                self.domain.fathom(nodes[i])
                nodes[kept] = nodes[i]
                kept += 1
        self.batch.n = kept
        return 0

    cdef int put_back(self, Node *parent) except -1:
        if self.tree.push(parent) == NO_MEMORY:
            self.close(parent)
        return 0

    cdef int partition(self, Node *parent, Cut cut) except -1:
        """Adds the children of a node to the batch. A node that cannot be split is bounded anew, as its only child.

        Its bound was good enough against the limit of its time, which need not be that of today.
        """
        cdef Node **children = self.batch.nodes + self.batch.n
        cdef int made = 0, kept = 0, i
        if cut == NOTHING_LEFT:
            made = 0
        elif cut == CUT_DOWN or parent.branch < 0:
            children[0] = self.tree.child(parent)
            made = 1 if children[0] != NULL else NO_MEMORY
        elif self.orthant:
            made = self.tree.orthants(parent, children, <int> (self.batch.capacity - self.batch.n))
        else:
            self.domain.branch_at_box(parent)
            made = self.tree.bisect(parent, children)
        if made < 0:
            self.put_back(parent)
            raise MemoryError("out of memory for nodes")
        if self.ledger is not None and made:
            self.ledger.divided(parent, children, made)
        self.tree.free_node(parent)
        for i in range(made):
            if self.tighten(children[i]):
                children[kept] = children[i]
                kept += 1
            else:
                self.tree.free_node(children[i])
        self.batch.n += kept
        return 0

    cdef bint tighten(self, Node *node) except -1:
        """Removes what cannot hold a solution from a new node's box; False: it is empty."""
        cdef bint held = self.audit.contradicts(node, INFINITY, 0), left
        if self.ledger is not None:
            self.ledger.remember(node)
        left = self.relaxation.tighten(node)
        self.audit.n_failures += self.audit.lost(held, left, node, KNOWN_ROUNDING)
        if not left and self.ledger is not None:
            self.ledger.emptied(node)
        return left

    cdef void improve(self) noexcept nogil:
        """Local searches from nodes of the batch: the one with the least bound, always at first, then now and then.

        And the one whose relaxed solution would be the best, wherever it would beat the incumbent.
        """
        cdef Node *best = self.batch.least()
        cdef Node *promising = self.batch.promising(self.incumbent.limit())
        self.n_batches += 1
        if best != NULL and (self.n_batches <= FIRST_BATCHES or self.n_batches % FIRST_BATCHES == 0):
            self.improve_from(best)
        self.waited += 1
        if promising != NULL and self.waited >= self.wait:
            self.waited = 0
            self.wait = 1 if self.improve_from(promising) else min(2 * self.wait, LONGEST_WAIT)

    cdef bint improve_from(self, Node *node) noexcept nogil:
        """Local search from a node's point and relaxed weights; whether there is a new incumbent."""
        cdef const real *weights = NULL
        if node.lower >= self.incumbent.limit() or self.stop.poll(0):
            return False
        if self.relaxation.weights(node, &self.relaxed_weights[0]):
            weights = &self.relaxed_weights[0]
        if not self.incumbent.improve(node_point(node, self.tree.n_connected), weights, &self.effort):
            return False
        self.relaxation.calibrate(&self.incumbent.solution[0])
        return True

    cdef int merge(self) except -1:
        """Takes the batch into the tree, in node order; fathoms what the incumbent allows."""
        cdef index i, n_stack = self.tree.n_stack
        cdef real limit = self.incumbent.limit(), margin
        cdef Node *node
        self.batch.count(&self.effort)
        self.tell_work()
        for i in range(self.batch.n):
            self.n_nodes += 1
            self.audit.check_bound(self.batch.nodes[i])
            node = self.batch.detach(i)
            if node.lower >= limit:
                self.close(node)
            elif self.batch.efforts[i].last and node.branch < 0 and self.stop.reason == STOP_NONE:
                # no more can be done about it: what it lacks is rounding, where a bound does not say how much
                margin = self.batch.efforts[i].margin
                margin = margin if margin > 0 else limit - node.lower
                self.rounding = max(self.rounding, margin if isfinite(margin) else 0)
                self.close(node)
            elif self.tree.push(node) == NO_MEMORY:
                self.close(node)
                raise MemoryError("out of memory for open nodes")
        self.batch.n = 0
        self.tree.order_stack(n_stack)
        self.relaxation.merged()
        self.tell_gain()
        return 0

    cdef int tell_work(self) except -1:
        """Takes the work of bounding nodes to the meters of its stages."""
        cdef int stage
        for stage in range(N_STAGES):
            add_work(&(<Meter> self.relaxation.meters[stage]).work, &self.effort.stages[stage])
            memset(&self.effort.stages[stage], 0, sizeof(Work))
        return 0

    cdef int tell_gain(self) except -1:
        """Credits what LBD has risen by, since this was last asked and but for what was learnt, to the relaxed dual."""
        cdef real lower = self.lower()
        if lower > self.told and isfinite(self.told):
            (<Meter> self.relaxation.meters[0]).work.gained += lower - self.told
        self.told = max(self.told, lower)
        return 0

    cdef int close(self, Node *node) except -1:
        """Frees a node whose bound LBD counts for good."""
        self.closed = min(self.closed, node.lower)
        try:
            if self.ledger is not None:
                self.ledger.leaf(node)
        finally:
            self.tree.free_node(node)
        return 0

    def tell_open(self):
        """Tell a proof of the nodes that are open, as leaves: the search is not to go on."""
        cdef index i
        for i in range(self.tree.n_heap()):
            self.ledger.leaf(self.tree.heap[i])
        for i in range(self.tree.n_stack):
            self.ledger.leaf(self.tree.stack[i])
        self.ledger.flush()

    cdef int learn(self) except -1:
        """Looks for a basin; learns what holds for all solutions below the limit."""
        cdef bint again
        self.domain.find_basin(self.incumbent, self.n_nodes)
        try:
            again = self.n_open() and self.domain.learn(self.incumbent, self.n_nodes, self.effort.n_passes, self.stop,
                                                        self.told, self._tell)
            self.told = max(self.told, self.lower())
            with nogil:
                self.improve_by_learning()
            if again:
                self.restart()
            self.domain.follow_version(self.tree.n_created)
        except KeyboardInterrupt:  # Ctrl-C that waited for the next line of Python
            self.stop.request(STOP_INTERRUPTED)
        return 0

    cdef void improve_by_learning(self) noexcept nogil:
        """A local search from what was found beside the tree."""
        cdef real before = self.incumbent.upper
        if self.domain.start_of(&self.start[0], &self.relaxed_weights[0]) and not self.stop.poll(0) and (
                self.incumbent.improve(&self.start[0], &self.relaxed_weights[0], &self.effort)):
            self.relaxation.calibrate(&self.incumbent.solution[0])
            self.domain.credit_found(self.incumbent, before - self.incumbent.upper)

    cdef int restart(self) except -1:
        """Begins the tree again, in the box that the reduction leaves."""
        # a proof is of the new tree alone; what was learnt beside it says nothing of how good its nodes' bounds are
        cdef real lower = -INFINITY
        if self.ledger is None:
            lower = min(self.incumbent.upper, max(self.given, self.least()))
        self.tree.clear()
        self.node_memory.clear(self.stop)
        self.n_restarts += 1
        self.root(lower)
        self.domain.begin_again()
        if not self.tighten(self.batch.nodes[0]):
            self.tree.free_node(self.batch.detach(0))
            self.batch.n = 0
        self.contract_batch(0, True)
        with nogil:
            self.batch.bound(self.relaxation, self.incumbent.limit(), self.stop)
        return self.merge()

    def _tell(self):
        """Tell the bounds while something is learnt."""
        self.report()

    cdef int report(self) except -1:
        if self.history.report(self.history.now(self.stop), self.n_nodes, self.n_open(), self.lower(),
                               self.incumbent.upper, self.incumbent.is_new):
            self.stop.request(STOP_INTERRUPTED)
        self.incumbent.is_new = False
        return 0

    cdef index n_open(self) noexcept nogil:
        """Open nodes, here, on disk and with others."""
        return self.tree.n_open + self.node_memory.n_spilled + self.n_elsewhere

    # What the search found

    @property
    def n_audit_failures(self):
        """Bounds and cuts that contradict the known solution."""
        return self.audit.n_failures

    @property
    def n_dives(self):
        """How often open nodes filled the memory, so that the search went depth first."""
        return self.node_memory.n_dives

    @property
    def n_blocks(self):
        """Blocks of open nodes that were written to disk."""
        return self.node_memory.n_blocks

    @property
    def least_bound(self):
        """LBD as it is proved, also where it exceeds UBD."""
        return max(self.given, self.least())

    def summary(self):
        """Bounds, counts, solution vector and history (time, nodes, lower, upper, open) of the run."""
        now, lower, upper = self.history.now(self.stop), self.lower(), self.incumbent.upper
        self.history.add(now, self.n_nodes, self.n_open(), lower, upper)
        return dict(
            objective=upper, lower_bound=lower, n_nodes=self.n_nodes,
            n_subproblems=self.effort.n_subproblems, n_lps=self.effort.n_lps, n_iterations=self.effort.n_iterations,
            n_milps=self.effort.n_milps,
            n_passes=self.effort.n_passes + self.domain.learning.n_passes, time=now, rounding_margin=self.rounding,
            history=self.history.table(),
        ), np.array(self.incumbent.solution)
