"""The solve of a k-means problem: presolve, search by pairs, report.

Theory: (K9) of docs/theory/kmeans.md.
"""

import heapq
import math
import time

import numpy as np

from gopfast.clustering import checkpoint
from gopfast.clustering.blocks import least_by_blocks
from gopfast.clustering.fits import read_centers
from gopfast.clustering.lloyd import nearest
from gopfast.clustering.margins import LIGHTEST
from gopfast.clustering.node import Entry, Node
from gopfast.clustering.proof import with_proof
from gopfast.clustering.result import Clustering, ClusteringResult
from gopfast.clustering.search import Pool, best_line
from gopfast.clustering.tuning import (
    FIRST_SHARE,
    KEPT,
    LEAST_COLUMNS,
    LOOK_EVERY,
    MOST_PRICED,
    REL_TOL,
    SOLVE_MOST_CELLS as MOST_CELLS,
    SOLVE_MOST_SECONDS as MOST_SECONDS,
)
from gopfast.errors import InputError
from gopfast.result import CLOSED_FORM, Status
from gopfast.roundoff import ROUND
from gopfast.search.memory import Memory
from gopfast.search.session import Session
from gopfast.search.stop import StopSignal

LEFT_OUT = "samples of less than 3e-39 of the greatest weight count nothing in the lower bound"
DYNAMIC = "dynamic programming"
COARSE = (
    f"more than {MOST_PRICED:,} distinct samples are priced by cells, and such prices prove no more: the least inertia "
    "lies between lower_bound and objective"
)


class Search:
    """
    Search of a k-means problem.

    Parameters
    ----------
    problem : KMeans
    options : Options
    start : ndarray of shape (K, d) or None
        Centers to start from, beside the own draws.
    proof : str, True or None
        Where a proof goes.
    stored : Stored or None
        A checkpoint of the same problem and options to go on from.
    """

    most_cells = MOST_CELLS  # of one proof
    arrays = checkpoint  # what its checkpoints hold

    def __init__(self, problem, options, start=None, proof=None, stored=None):
        self.proof, self.root, self.stored = proof, None, stored
        self.problem, self.options, self.start = problem, options, start
        self.session = Session(options, arrays=self.arrays)
        self.started = time.perf_counter()
        self.limit = math.inf if options.time_limit is None else options.time_limit
        self.stop = StopSignal(self.limit)
        self.rel_tol = REL_TOL if options.rel_tol is None and options.epsilon is None else options.rel_tol or 0.0
        self.epsilon = options.epsilon or 0.0
        self.upper, self.lower, self.centers = math.inf, 0.0, None
        self.n_nodes = self.n_cells = self.n_programs = self.serial = 0
        self.history, self.asked, self.before = [], False, 0.0
        self.memory, self.full, self.looked = Memory(options.memory_limit), False, -math.inf
        self.session.keep(lambda: self.arrays.header(problem, options, start))
        # open nodes, the one at hand, and the least bound of those that are not divided
        self.heap, self.current, self.closed = [], None, math.inf
        self.prepare()
        self.pool = self.make_pool()

    def prepare(self):
        """Distinct samples of positive weight, from one of them as the origin: differences are rounded once only."""
        problem = self.problem
        used = problem.sample_weight > 0.0
        X, inverse = np.unique(problem.X[used], axis=0, return_inverse=True)
        weights = np.bincount(inverse.reshape(-1), problem.sample_weight[used])
        self.heavy = weights >= LIGHTEST * weights.max()
        self.light = X[~self.heavy][np.argsort(-weights[~self.heavy], kind="stable")]
        X, self.weights = X[self.heavy], weights[self.heavy]
        if len(self.light):
            self.session.note(LEFT_OUT)
        # that the sample nearest to the mean is the origin keeps the sum of squares about it, and its rounding, small
        share, away = self.weights / self.weights.max(), X - X[self.weights.argmax()]
        away = away / (np.abs(away).max() or 1.0)
        nearest_to_mean = np.square(away - share @ away / share.sum()).sum(axis=1).argmin()
        self.distinct, self.origin = X, X[nearest_to_mean]
        X = X - self.origin
        # powers of two keep squares and their sums in range
        size = np.abs(X).max()
        self.unit = 2.0 ** math.floor(math.log2(size)) if size > 0.0 else 1.0
        self.mass = 2.0 ** math.floor(math.log2(self.weights.max()))
        self.X, self.weights = np.ascontiguousarray(X / self.unit), self.weights / self.mass
        self.scale = self.unit * self.unit * self.mass
        self.radius = math.sqrt(float(self.weights @ np.square(self.X).sum(axis=1)))

    def make_pool(self):
        """Make what searches for clusterings."""
        return Pool(self.X, self.weights, self.problem.n_clusters, self.options.seed)

    @property
    def tolerance(self):
        """Gap at which the search ends."""
        return max(self.epsilon, self.rel_tol * self.upper)

    def seconds(self):
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def elapsed(self):
        """Seconds of all runs."""
        return self.before + self.seconds()

    def look(self):
        """Between two programs: write a checkpoint if it is time, and stop where the memory is full or it is asked."""
        keeper = self.session.keeper
        if keeper is not None and keeper.begun and keeper(self):
            self.stop.caught(KeyboardInterrupt())
        if self.seconds() - self.looked > LOOK_EVERY:
            self.looked = self.seconds()
            if not self.memory.room(0):
                self.full = True
                self.stop.caught(KeyboardInterrupt())

    def found_meanwhile(self):
        """Yield clusters that the node at hand has found since it began, as samples."""
        node = self.current
        if node is not None and node.master is not None:
            for groups in node.master.columns:
                yield node.members(groups).astype(np.int32)

    def left(self):
        """Seconds left for a program: an interior-point method that needs more than a few minutes has lost its way."""
        self.look()
        return min(self.limit - self.seconds(), MOST_SECONDS)

    def in_users_units(self, inertia):
        """Return a bound in the core's units in the user's, less what the rounding of differences costs."""
        error = 4.0 * ROUND * self.radius
        loss = 2.0 * math.sqrt(max(inertia, 0.0)) * error + error * error
        bound = max(0.0, (inertia - loss) * (1.0 - 64 * ROUND)) * self.scale
        return math.nextafter(bound, 0.0)  # among the smallest numbers rounding is not relative

    def offer_scaled(self, centers):
        """Take the centers, in the core's units, if they are the best."""
        return self.offer(centers * self.unit + self.origin)

    def offer(self, centers):
        """Take the centers, in the user's units, if they are the best."""
        centers = np.ascontiguousarray(centers)
        objective = self.problem.objective(centers)
        if objective < self.upper:
            self.upper, self.centers = objective, centers
            return True
        return False

    def report(self, n_open=0, new=False):
        """Tell the monitor; whether to stop."""
        lower = min(self.lower, self.upper)
        self.history.append((self.elapsed(), self.n_nodes, lower, self.upper, n_open))
        if self.session.monitor(self.elapsed(), self.n_nodes, n_open, lower, self.upper, new):
            self.asked = True
        return self.asked

    def run(self):
        """Search; returns the result."""
        method = "pricing"
        if self.start is not None:
            self.offer(self.start)
        with self.session.on_termination():
            try:
                if self.proof is None or len(self.X) <= self.problem.n_clusters:
                    method = self.trivial() or method
                if method == "pricing":
                    self.tree()
            except KeyboardInterrupt:
                self.asked = True
                self.raise_lower()
            self.session.end(self, self.status())  # what ends the process waits for it
        if self.centers is None:
            self.offer_any()
        self.stop.reraise()
        result = self.result(method)
        return result if self.proof is None else self.proved(result)

    def proved(self, result):
        """Return the result with its proof."""
        return with_proof(self, result)

    def offer_any(self):
        """Take some clustering: there was no time for any."""
        self.offer(self.distinct[np.zeros(self.problem.n_clusters, dtype=int)])

    def trivial(self):
        """Solve what needs no search; the name of the method, None if there is none."""
        N, K = len(self.X), self.problem.n_clusters
        if N <= K:
            places = np.concatenate([self.distinct, self.light])
            self.offer(places[np.minimum(np.arange(K), len(places) - 1)])
            self.lower = 0.0
            method = CLOSED_FORM
        elif K == 1:
            mean = self.weights @ self.X / self.weights.sum()
            inertia = math.fsum(self.weights * np.square(self.X - mean).sum(axis=1))
            self.offer_scaled(mean[None])
            loss = 8 * (N + self.X.shape[1] + 8) * ROUND
            self.lower = self.in_users_units(inertia * (1.0 - loss) - (loss * self.radius) ** 2)
            method = CLOSED_FORM
        elif self.X.shape[1] == 1:
            labels, error = best_line(self.X[:, 0], self.weights, K)
            mass = np.bincount(labels, self.weights, K)
            centers = np.bincount(labels, self.weights * self.X[:, 0], K) / mass
            inertia = math.fsum(self.weights * np.square(self.X[:, 0] - centers[labels]))
            self.offer_scaled(centers[:, None])
            self.lower = self.in_users_units(inertia * (1.0 - 8 * (N + 9) * ROUND) - error)
            method = DYNAMIC
        else:
            return None
        self.report(new=True)
        return method

    def tree(self):
        """Branch and bound by pairs of samples."""
        if self.stored is None:
            self.begin()
            if self.stop.stopped:  # before the root is bounded: a checkpoint says that the search is to begin
                return
        else:
            self.stored.restore(self, arrays=self.arrays)
        if self.session.keeper is not None:
            self.session.keeper.begun = True  # from here on there are nodes to keep
        if not self.scale > 0.0:  # squares are below the smallest number: 0 is the bound
            return
        while self.heap and not self.stop.stopped and not self.asked:
            node = self.heap[0].node
            if self.in_users_units(node.lower) >= self.upper - self.tolerance:
                break
            most_nodes = self.options.max_nodes
            if most_nodes is not None and self.n_nodes >= most_nodes:
                break
            if not self.work(node):
                break
        self.raise_lower()

    def begin(self):
        """Find a clustering, and open the root."""
        share = self.limit * FIRST_SHARE
        start = None if self.start is None else (self.start - self.origin) / self.unit
        self.pool.fill(lambda: self.stop.stopped or self.seconds() > share, start)
        new = self.offer_scaled(self.pool.centers)
        K = self.problem.n_clusters
        self.root = Node(self.X, self.weights, K, lower=self.known_before(K))
        self.replace(None, [self.root])
        self.raise_lower()
        self.report(1, new)

    def replace(self, node, others):
        """Put others in the place of a node of the heap, all at once: Ctrl-C comes before or after."""
        self.serial += len(others)
        entries = [Entry(one.lower, self.serial - len(others) + i, one) for i, one in enumerate(others)]
        entries += [entry for entry in self.heap if entry.node is not node]
        heapq.heapify(entries)
        self.heap = entries

    def work(self, node):
        """Bound the first node of the heap, and divide it; False: stopped meanwhile."""
        pool, self.current = self.pool, node
        before = pool.inertia
        target = (self.upper - KEPT * self.tolerance) / self.scale
        branched = node.bound(pool, target, KEPT * self.tolerance / self.scale, self.stop, self.left, self.most_cells)
        self.n_nodes += 1
        self.n_cells += node.n_cells
        self.n_programs += node.n_programs
        new = pool.inertia < before and self.offer_scaled(pool.centers)
        if self.stop.stopped:
            return False
        if new:  # with more to prove
            self.replace(node, [node])
        elif branched:
            node.sons = node.children(self.X, self.weights)
            for child in node.sons:
                child.estimate = node.estimate
            self.replace(node, node.sons)
        else:
            self.closed = min(self.closed, node.lower)
            self.replace(node, [])
        self.current = None
        self.raise_lower()
        self.report(len(self.heap), new)
        self.look()
        return True

    def known_before(self, K):
        """Return what is known of all clusterings in many columns, where boxes may take longer than there is."""
        if self.proof is not None or self.X.shape[1] < LEAST_COLUMNS:
            return 0.0
        return least_by_blocks(self.X, self.weights, K, self.stop, self.left, self.options.seed)

    def raise_lower(self):
        """Take the bound of all open and closed nodes."""
        # an interrupt may come while a node is divided: then it counts beside its children
        divided = math.inf if self.current is None else self.current.lower
        least = min(self.closed, divided, min((entry.node.lower for entry in self.heap), default=math.inf))
        if least < math.inf:
            self.lower = max(self.lower, self.in_users_units(least))

    def status(self):
        """Return why the search stopped."""
        upper = self.upper
        if upper < math.inf and upper - min(self.lower, upper) <= self.tolerance + 2 * np.spacing(upper):
            return Status.OPTIMAL
        if self.full:
            return Status.MEMORY_LIMIT
        if self.asked or self.stop.stopped == Status.INTERRUPTED:
            return Status.INTERRUPTED
        if self.stop.stopped:
            return Status.TIME_LIMIT
        if self.options.max_nodes is not None and self.n_nodes >= self.options.max_nodes:
            return Status.NODE_LIMIT
        return Status.NUMERICAL

    def result(self, method):
        """Make the result."""
        upper, status = self.upper, self.status()
        if not self.history:
            self.history.append((self.elapsed(), self.n_nodes, min(self.lower, upper), upper, 0))
        lower = min(self.lower, upper)
        rounded = status == Status.NUMERICAL and method != "pricing"
        order = np.lexsort(self.centers.T[::-1])
        centers = self.centers[order]
        labels = nearest(self.problem.X, np.ascontiguousarray(centers))[0].astype(np.intp)
        return ClusteringResult(
            status=status, objective=upper, lower_bound=lower,
            solution=Clustering(centers, labels, upper), n_nodes=self.n_nodes, n_subproblems=self.n_cells,
            n_lps=self.n_programs, time=self.elapsed(), notes=self.session.notes, history=self.history,
            starts=self.pool.starts(self.scale) if self.pool.ends else None, relaxation=method,
            branching="pairs" if method == "pricing" else "",
            rounding_margin=upper - lower if rounded else 0.0,
            message=COARSE if status == Status.NUMERICAL and len(self.X) > MOST_PRICED else "",
        )  # fmt: skip


def check_options(options, kind="k-means"):
    """`InputError` for options that are for other problems than those of this kind."""
    if options.relaxation not in (None, "pricing"):
        raise InputError(f"relaxation={options.relaxation!r} is for mixtures; {kind} problems take 'pricing'")
    if options.branching is not None or options.partition != "joint" or options.subproblem != "enumerate":
        name = "branching" if options.branching is not None else "partition" if options.partition != "joint" else (
            "subproblem")  # fmt: skip
        raise InputError(f"{name} is for mixtures and biconvex problems: a {kind} problem has one way only")


def solve(problem, options, start=None, proof=None, stored=None):
    """
    Solve a k-means problem.

    `proof` and `stored` are as of `Search`, `start` centers, labels, a result or an estimator.
    """
    check_options(options)
    if proof is not None:
        options.refuse(("checkpoint",), "with a proof, whose nodes are kept in memory")
    if start is not None:
        start = read_centers(problem, start, "start")[0]
    search = Search(problem, options, start, proof, stored)
    with search.session.monitor.watching():
        result = search.run()
    search.session.monitor.finish(result)
    return result
