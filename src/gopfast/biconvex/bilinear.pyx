"""Linear relaxed dual of a biconvex problem: one linear program per node and round.

A node is a box [l, u] of all variables z. Its linear program is over (z, w, q), w_k standing for a product z_i z_j and
q_b for a convex form, and has

- the problem's rows;
- the four Lagrange cuts of each product whose multipliers are its bounds (McCormick's rows),

      w >= l_i z_j + l_j z_i - l_i l_j,   w >= u_i z_j + u_j z_i - u_i u_j,   w <= l_i z_j + u_j z_i - l_i u_j, ...;

- lifted rows: a linear row b + a'z >= 0 times z_j - l_j >= 0 or u_j - z_j >= 0, with w for the products; those that
  solutions of the root violate;
- tangents of the convex forms, added in rounds at the solution of the linear program; children begin with those that
  hold the parent's solution;
- of atoms f(z_u) a secant over the interval of z_u, and tangents as of forms;
- inequalities of cycles of products, in the node's box (`cycles`): those that solutions of the root violate;
- where most pairs of some variables are products: semidefinite cuts, v'(1 z'; z w) v >= 0 for eigenvectors v of
  negative eigenvalues, found in rounds at the root. They hold in every box, and nodes have those that the root needed.

The box is tightened first: from the rows (feasibility), from reduced costs, and by linear programs for
bounds: of all variables at the root, of a few in nodes, over a part of the rows. Every row is loosened by the rounding
error of its coefficients, so that what is proved about the linear program holds for the node. Where bound combinations
are selected, a mixed-integer program with the cuts of both halves of each interval does so. Tightening may use the
cutoff: what it removes has an objective above it, so a node's bound is never raised beyond the cutoff once there is
one.

Adjiman, Dallwig, Floudas & Neumaier 1998 (tightening); Sherali & Alameddine 1992 (lifted rows); Sherali & Fraticelli
2002 (semidefinite cuts).

Theory: (G1) of docs/theory/gop.md; (X1), (X6) of docs/theory/biconvex.md; (XF1) of docs/theory/functions.md.
"""

import numpy as np

from libc.math cimport INFINITY, isfinite

from gopfast.biconvex.bilinear_branching cimport BilinearBranching
from gopfast.biconvex.bilinear_tightening cimport are_worth_programs
from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.learnt_rows cimport LearntRows
from gopfast.biconvex.tangents cimport Tangents
from gopfast.lp.lp cimport LP_OPTIMAL, LpStatus
from gopfast.lp.program cimport ProgramRelaxation, ProgramWorker
from gopfast.search.meter cimport Meter, add_work
from gopfast.search.relaxation cimport N_STAGES, Effort, no_effort
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree, node_choice, node_high, node_low, node_point, node_warm
from gopfast.search.types cimport OK, index, real


cdef class BilinearWorker(BilinearBranching):
    """The linear programs of one thread."""

    def __init__(self, BilinearRelaxation owner, StopSignal stop, int number):
        self.owner, self.data, self.learnt, self.touching = owner, owner.data, owner.learnt, owner.touching
        self.root_low, self.root_high, self.n_warm = owner.low, owner.high, owner.n_warm
        self.bounds_in_nodes = owner.bounds_in_nodes
        self.reserve(stop, number, owner.selects)

    cdef void bound(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Tightens the box and solves its linear program, in turn while that shrinks the box."""
        cdef LpStatus status
        cdef int attempt
        cdef bint warm = node.parent >= 0
        effort.n_subproblems += 1
        if self.milp is not None:
            node_choice(node, self.data.n, self.n_warm)[0] = 0
        if not self.propagate(node, cutoff):
            self.raise_bound(node, INFINITY, cutoff)
            return
        self.place_middle(node)
        if self.open() != OK:
            return
        if node.parent < 0 and not self.learnt.chosen:
            self.learnt.forget()
        for attempt in range(self.owner.max_rounds):
            if self.load(node, warm or attempt > 0, True) != OK:
                return
            status = self.solve_with_tangents(node, cutoff, effort)
            if (node.parent < 0 and self.data.n_lifted > 0 and not self.learnt.chosen and status == LP_OPTIMAL
                    and node.lower < cutoff):
                status = self.lift(node, cutoff, effort)
            if (node.parent < 0 and self.learnt.most_cycles > 0 and self.owner.root_sweeps > 0
                    and not self.learnt.chosen and status == LP_OPTIMAL and node.lower < cutoff):
                status = self.separate_cycles(node, cutoff, effort)
            if (node.parent < 0 and attempt == 0 and self.data.n_moments > 0 and self.owner.root_sweeps > 0
                    and not self.learnt.chosen and status == LP_OPTIMAL and node.lower < cutoff):
                status = self.separate(node, cutoff, effort, False)
            if node.lower >= cutoff or status != LP_OPTIMAL or self.stop.poll(self.number):
                return
            self.choose_split(node)
            if node.parent < 0:
                self.note_needed()
                self.note_cuts()
                self.note_cycles()
            self.remember(node)
            self.store_basis(node)
            if not self.tighten_by_costs(node, cutoff):
                self.raise_bound(node, INFINITY, cutoff)
                return
            if node.parent < 0 and attempt == 0 and self.owner.root_sweeps > 0:
                if not self.tighten_by_programs(node, cutoff, self.owner.root_sweeps, effort):
                    self.raise_bound(node, INFINITY, cutoff)
                    return
            elif attempt == 0 and self.bounds_in_nodes and self.learnt.chosen and cutoff < INFINITY:
                if not self.tighten_in_node(node, cutoff, effort):
                    self.raise_bound(node, INFINITY, cutoff)
                    return
                if not self.has_shrunk(node):
                    break
            elif not self.has_shrunk(node):
                break
        if self.milp is not None and node.branch >= 0:
            self.select(node, effort)


cdef class BilinearRelaxation(ProgramRelaxation):
    """Lower bounds of a biconvex problem on boxes of all its variables; the first n_split may be split.

    Parameters
    ----------
    data : BiconvexData
    low, high : array (n,), optional
        The root box, within the data's.
    max_rounds : int
        Linear programs of a node while tightening goes on; tangents come on top.
    root_sweeps : int
        Rounds of linear programs for the root's bounds.
    milp : bool
        Selects one bound combination for each node by a mixed-integer program, for a partition into orthants.
    meters : sequence of Meter, optional
        Of lifted inequalities, of semidefinite cuts and of programs for bounds in nodes.
    bounds_in_nodes : bool
        Whether nodes have linear programs for bounds of a few variables, where that pays.
    """

    def __init__(self, BiconvexData data, low=None, high=None, int max_rounds=3, int root_sweeps=3,
                 bint milp=False, meters=(), bint bounds_in_nodes=True):
        self.data, self.selects = data, milp
        self.low = np.array(data.low if low is None else low)
        self.high = np.array(data.high if high is None else high)
        self.n_connected, self.n_split = data.n, data.n_split
        self.max_rounds, self.root_sweeps = max_rounds, root_sweeps
        self.learnt = LearntRows(data)
        self.touching = Tangents(data, data.n_rows + 4 * data.n_products + data.n_atoms + self.learnt.most())
        self.bounds_in_nodes = bounds_in_nodes and not milp and are_worth_programs(data)
        self.n_warm = self.touching.waits_from + (2 * data.n if self.bounds_in_nodes else 0)
        self.batch_size, self.parallel_from = 4, 2
        self.meters = (self.meters[0], *meters, *self.meters[1 + len(meters):])

    cdef ProgramWorker worker(self, StopSignal stop, int number):
        return BilinearWorker(self, stop, number)

    cdef void root(self, Node *node) noexcept nogil:
        cdef index i
        cdef int j
        for j in range(self.data.n):
            node_low(node)[j], node_high(node, self.data.n)[j] = self.low[j], self.high[j]
            node_point(node, self.data.n)[j] = middle(self.low[j], self.high[j])
        for i in range(self.touching.waits_from, self.n_warm):
            node_warm(node, self.data.n)[i] = 0
        node_warm(node, self.data.n)[0] = node_warm(node, self.data.n)[self.touching.kept_from] = 0

    cdef void calibrate(self, const real *solution) noexcept nogil:
        self.touching.touch(solution)

    cdef void merged(self) noexcept nogil:
        """After the root, which is a batch of its own."""
        self.learnt.choose()

    @property
    def n_cycles(self):
        """Cycles in use."""
        return self.learnt.n_cycles

    def state(self):
        """The rows and cuts that the root has chosen for all nodes."""
        return self.learnt.state()

    def restore(self, state):
        """Take what `state` returned."""
        self.learnt.restore(state)

    def cycle_row(self, products, signs, low, high):
        """Coefficients of the columns (n_cols,) and least value of the inequality of a cycle in a box, for tests."""
        cdef BilinearWorker worker
        cdef real[::1] a = np.array(low, dtype=np.float64), b = np.array(high, dtype=np.float64)
        cdef int k
        other = BilinearRelaxation(self.data)
        worker = BilinearWorker(other, StopSignal(), 0)
        other.learnt.add_cycle(products, signs)
        self.data.column_bounds(&a[0], &b[0], &worker.col_lower[0], &worker.col_upper[0])
        worker.cycle_row(0)
        row = np.zeros(self.data.n_cols)
        for k in range(worker.nnz):
            row[worker.col_index[k]] += worker.value[k]
        return row, worker.row_lower[0]

    def bound_box(self, low, high, real cutoff=INFINITY, int root_sweeps=0, StopSignal signal=None):
        """Bound a box from cold: its lower bound, the box tightened, the solution's point and the number of LPs.

        What a stop leaves is valid.
        """
        cdef Tree tree = Tree(self.n_connected, self.n_warm, self.n_split, self.selects)
        cdef Node *node = tree.new_node()
        cdef StopSignal stop = StopSignal() if signal is None else signal
        cdef Effort effort = no_effort()
        cdef int n = self.data.n, sweeps = self.root_sweeps, j
        if node == NULL:
            raise MemoryError
        try:
            self.root_sweeps = root_sweeps
            self.bound_alone(tree, node, low, high, cutoff, stop, &effort)
            for j in range(1, N_STAGES):
                add_work(&(<Meter> self.meters[j]).work, &effort.stages[j])
            return (node.lower, *(np.array([at[j] for j in range(n)]) for at in (
                <real[:n]> node_low(node), <real[:n]> node_high(node, n), <real[:n]> node_point(node, n))),
                effort.n_lps)
        finally:
            self.root_sweeps = sweeps
            tree.free_node(node)


cdef inline real middle(real low, real high) noexcept nogil:
    if isfinite(low) and isfinite(high):
        return low + 0.5 * (high - low)
    return low if isfinite(low) else high if isfinite(high) else 0
