"""Linear relaxed dual of a Gaussian mixture with known variance: one linear program per node and round.

A node is a box [l, u] of the connected variables, the means nu, and in the paper's own partition also the weights
pi. Its linear program is over the rest, b = (tau, e) and in the joint partition pi, and has

- the node's qualifying constraints, l S <= T <= u S for a mean, W l <= N <= W u for a weight;
- its Lagrange cuts, linearised at one end of the interval and evaluated at the other, one row per bound combination
  of each connected variable. With Steiner's identity they read, for p = l and p = u,

      theta_kj >= 1/2 sum_i w_i tau_ik [(x_ij - p)^2 - (u - l)^2] + the same of the prior's pseudo-observation;

- tangents of the convex rest: entropy, one epigraph variable omega_i per sample, and -(Kd/2) log e.

tau_iK = 1 - sum of the others is eliminated. Tangents are added in rounds at the solution of the linear program.
Where bound combinations are selected, a mixed-integer program with the cuts of both halves of each interval does so.
Every row is loosened by the rounding error of its own coefficients, so that what is proved about the linear program,
its bound or its infeasibility, holds for the node.

Theory: (A3) of docs/theory/problem.md; (G1), (G2) and (G7) of docs/theory/gop.md.
"""
from libc.math cimport INFINITY
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from gopfast.lp.lp cimport LP_OPTIMAL, LpStatus
from gopfast.lp.program cimport ProgramRelaxation, ProgramWorker
from gopfast.mixtures.relaxations.cut_pool cimport CutPool, tangent_value
from gopfast.mixtures.relaxations.linear_branching cimport LinearBranching
from gopfast.mixtures.families.family cimport order_components
from gopfast.mixtures.families.gaussian cimport GaussianFamily, GaussianModel
from gopfast.mixtures.relaxations.tuning cimport LEAST_ROOM, TANGENT_SHARE
from gopfast.search.relaxation cimport Effort, no_effort
from gopfast.search.rounding cimport ROUND
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree, node_choice, node_high, node_low, node_point
from gopfast.search.types cimport OK, index, real


cdef class LinearWorker(LinearBranching):
    """The linear programs of one thread, and the tangent points that they found in this batch."""

    def __cinit__(self):
        self.found = NULL

    def __dealloc__(self):
        free(self.found)

    def __init__(self, LinearRelaxation relaxation, StopSignal stop, int number):
        self.data, self.pool, self.n_connected = relaxation.data, relaxation.pool, <int> relaxation.n_connected
        self.joint, self.envelope = not relaxation.paper_partition, relaxation.envelope
        self.max_rounds, self.patience = relaxation.max_rounds, relaxation.patience
        self.reserve(stop, number, relaxation.selects)

    cdef void bound(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Linear programs of a node until it is fathomed, or tangents are no longer what keeps it open."""
        cdef real missing, short_of, tolerance = 0
        cdef LpStatus status
        cdef int attempt
        effort.n_subproblems += 1
        if self.milp is not None:
            node_choice(node, self.n_connected, 0)[0] = 0
        self.place_middle(node)
        if self.open() != OK or self.load(node) != OK:
            return
        for attempt in range(self.max_rounds):
            status = self.solve(node, cutoff, effort)
            if node.lower >= cutoff or status != LP_OPTIMAL:
                return
            self.read_solution()
            short_of = self.shortfall()
            self.choose_split(node)
            missing = cutoff - node.lower
            tolerance = TANGENT_SHARE * missing / self.data.core.total_weight
            # With exact tangents the bound would stay below lower + short_of.
            if ((short_of < missing and short_of < self.patience * missing)
                    or attempt + 1 == self.max_rounds or self.stop.poll(self.number)):
                break
            self.soften(node_point(node, self.n_connected))
            if self.add_tangents(tolerance) != OK:
                break
        self.soften(node_point(node, self.n_connected))
        self.note(node, tolerance, self.tau)
        self.note(node, tolerance, self.soft)
        if self.milp is not None and node.branch >= 0:
            self.select(node, effort)

    # Tangent points for the pool

    cdef index stride(self) noexcept nogil:
        """Doubles of a tangent point."""
        return 2 + self.N * self.K + self.K

    cdef void note(self, Node *node, real tolerance, const real *tau) noexcept nogil:
        """A tangent point for the pool: responsibilities (N, K), with the weights of the solution."""
        cdef index stride = self.stride()
        cdef real *grown
        if self.n_found == self.found_room:
            grown = <real *> realloc(self.found, 2 * (self.found_room + 8) * stride * sizeof(real))
            if grown == NULL:
                return
            self.found = grown
            self.found_room = 2 * (self.found_room + 8)
        grown = self.found + self.n_found * stride
        grown[0], grown[1] = node.serial, tolerance
        memcpy(grown + 2, tau, self.N * self.K * sizeof(real))
        memcpy(grown + 2 + self.N * self.K, self.weights, self.K * sizeof(real))
        self.n_found += 1


cdef class LinearRelaxation(ProgramRelaxation):
    """Lower bounds of a Gaussian mixture by linear programs: the paper's relaxed dual.

    Parameters
    ----------
    data : GaussianFamily
        With point masses as posterior.
    paper_partition : bool
        Connected variables are means and weights, as in the paper; otherwise the means alone.
    envelope : bool
        Adds the envelope of each connected variable's cost, which the paper does not have.
    batch_size : int
        Nodes partitioned between two exchanges of tangents.
    max_rounds : int
        Linear programs that one node may take.
    patience : float
        A node that tangents cannot fathom is left once they miss less than this fraction of what it lacks.
    max_cuts : int
        Tangents that the pool keeps.
    milp : bool
        Selects one bound combination for each node by a mixed-integer program, for a partition into orthants.
    """

    def __init__(self, GaussianFamily data, bint paper_partition=False, bint envelope=False, int batch_size=4,
                 int max_rounds=20, real patience=0.5, int max_cuts=1000, bint milp=False):
        cdef int K = data.core.n_components
        self.data = data
        self.paper_partition, self.envelope, self.selects = paper_partition, envelope, milp
        self.parallel_from = 2
        self.batch_size, self.max_rounds, self.patience, self.max_cuts = batch_size, max_rounds, patience, max_cuts
        self.n_connected = K * data.core.n_features + (K if paper_partition else 0)
        self.n_warm = 0
        self.workspaces = []

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        cdef int N = <int> self.data.core.n_samples
        self.pool = CutPool(N, self.data.core.n_components, max(LEAST_ROOM, self.max_cuts // N),
                            not self.paper_partition)
        return ProgramRelaxation.prepare(self, n_workers, stop)

    cdef ProgramWorker worker(self, StopSignal stop, int number):
        return LinearWorker(self, stop, number)

    cdef void root(self, Node *node) noexcept nogil:
        cdef const GaussianModel *data = &self.data.core
        cdef int a, n_means = data.n_components * data.n_features
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.n_connected)
        for a in range(self.n_connected):
            low[a] = data.low[a % data.n_features] if a < n_means else 0
            high[a] = data.high[a % data.n_features] if a < n_means else 1
            node_point(node, self.n_connected)[a] = low[a] + 0.5 * (high[a] - low[a])

    cdef int tighten(self, Node *node) noexcept nogil:
        """Components in order; weights within what the others leave them."""
        cdef int n_means = self.data.core.n_components * self.data.core.n_features
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.n_connected)
        if not order_components(self.data.core.n_components, self.data.core.n_features, low, high):
            return 0
        return tighten_simplex(self.data.core.n_components, low + n_means, high + n_means) \
            if self.paper_partition else 1

    cdef void merged(self) noexcept nogil:
        """Takes the batch's tangent points into the pool, in node order, where the pool falls short of them."""
        cdef int worker, owner
        cdef index entry, at
        cdef real serial, last = -1
        while True:
            # A worker's points of one node stand together: one node at a time, oldest first.
            owner, at, serial = -1, 0, INFINITY
            for worker in range(self.n_workers):
                for entry in range((<LinearWorker> self.workers[worker]).n_found):
                    if last < self.serial(worker, entry) < serial:
                        owner, at, serial = worker, entry, self.serial(worker, entry)
            if owner < 0:
                break
            last = serial
            while at < (<LinearWorker> self.workers[owner]).n_found and self.serial(owner, at) == serial:
                self.take_in(owner, at)
                at += 1
        for worker in range(self.n_workers):
            (<LinearWorker> self.workers[worker]).n_found = 0

    def bound_box(self, low, high, real cutoff):
        """Lower bound, split point and branching variable of one box from cold, for tests."""
        cdef Tree tree = Tree(self.n_connected, self.n_warm, 0, self.selects)
        cdef Node *node = tree.new_node()
        cdef Effort effort = no_effort()
        cdef int a
        if node == NULL:
            raise MemoryError
        try:
            self.bound_alone(tree, node, low, high, cutoff, StopSignal(), &effort)
            return node.lower, [node_point(node, self.n_connected)[a] for a in range(self.n_connected)], node.branch
        finally:
            tree.free_node(node)

    cdef real serial(self, int worker, index entry) noexcept nogil:
        """Of the node that a worker's tangent point comes from."""
        return (<LinearWorker> self.workers[worker]).found[entry * (<LinearWorker> self.workers[worker]).stride()]

    cdef void take_in(self, int worker, index entry) noexcept nogil:
        """One tangent point, the tangents of those samples for which the pool falls short by its tolerance."""
        cdef int i, K = self.data.core.n_components, N = <int> self.data.core.n_samples
        cdef const real *point = (<LinearWorker> self.workers[worker]).found + entry * (
            <LinearWorker> self.workers[worker]).stride()
        cdef const real *tau = point + 2
        cdef const real *weights = tau + N * K
        cdef bint joint = not self.paper_partition
        for i in range(N):
            if tangent_value(K, tau + i * K, weights, joint) - self.pool.value(i, tau + i * K, weights) > point[1]:
                self.pool.add(i, tau + i * K, weights)


cdef bint tighten_simplex(int K, real *low, real *high) noexcept nogil:
    """Weights sum to 1: cuts each interval to what the others leave, rounded outward; 0: nothing is left."""
    cdef int k
    cdef real all_low = 0, all_high = 0, least, most, margin = 4 * (K + 2) * ROUND
    for k in range(K):
        all_low += low[k]
        all_high += high[k]
    if all_low > 1 + margin or all_high < 1 - margin:
        return 0
    for k in range(K):
        least = 1 - (all_high - high[k]) - margin * (1 + all_high)
        most = 1 - (all_low - low[k]) + margin * (1 + all_low)
        low[k], high[k] = max(low[k], least), min(high[k], most)
        if low[k] > high[k]:
            return 0
    return 1
