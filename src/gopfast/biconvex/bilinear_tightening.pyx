"""Tightening the box of a node by what its linear program proves, see `bilinear`.

Theory: (X7) of docs/theory/biconvex.md.
"""

from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memcpy

from gopfast.biconvex.tuning cimport (
    BOUNDED_IN_NODES, BOUND_WAITS, FAR_FROM_BOUND, HARDLY_MOVED, LEAST_REDUCED_COST, LEFT_WIDTH as NARROW, MOST_WORK,
    ON_BOUND, PRIMAL_SIMPLEX_BELOW, PROPAGATION_ROUNDS, WORTH_A_ROUND_AFTER,
    WORTH_A_ROUND_OF_PROGRAMS as WORTH_A_PROGRAM,
)
from gopfast.lp.lp cimport LP_INFEASIBLE, LP_OPTIMAL, LpStatus
from gopfast.search.relaxation cimport Effort
from gopfast.search.rounding cimport ROUND
from gopfast.search.meter cimport Work
from gopfast.search.stop cimport StopSignal, clock
from gopfast.search.tree cimport Node, node_high, node_low, node_point, node_warm
from gopfast.search.types cimport OK, real
from gopfast.biconvex.bilinear_rounds cimport BOUNDED, LIFTED, BilinearRounds
from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.learnt_rows cimport ints, reals


cdef int[::1] in_products(BiconvexData data):
    """(n,): whether a variable is in a product or an argument of an atom, so that its bounds are worth programs."""
    cdef int[::1] found = ints(data.n)
    cdef int k
    for k in range(data.n_products):
        found[data.first[k]] = found[data.second[k]] = 1
    for k in range(data.n_atoms):
        found[data.atom_argument[k]] = 1
    return found


cdef bint are_worth_programs(BiconvexData data):
    """Whether bounds are worth programs in nodes: not where tangents of forms are what bounds variables."""
    return data.n_blocks == 0 and sum(in_products(data)) > BOUNDED_IN_NODES


cdef class BilinearTightening(BilinearRounds):
    """By reduced costs in every node, by one linear program per bound at the root, and of a few variables in nodes."""

    cdef int reserve(self, StopSignal stop, int number, bint selects) except -1:
        cdef int n = self.data.n
        BilinearRounds.reserve(self, stop, number, selects)
        self.old_low, self.old_high = reals(n), reals(n)
        self.seen, self.ranked, self.wanted = ints(2 * n), ints(n), in_products(self.data)
        return 0

    cdef bint propagate(self, Node *node, real cutoff) noexcept nogil:
        """By the rows alone, as long as that shrinks the box; whether anything is left."""
        return self.data.propagate(node_low(node), node_high(node, self.data.n), cutoff, PROPAGATION_ROUNDS,
                                   &self.col_lower[0], &self.col_upper[0])

    cdef int tighten_by_costs(self, Node *node, real cutoff) noexcept nogil:
        """A variable that leaves its bound costs its reduced cost per unit: it stays within what the gap pays for.

        Then the rows again. 0: nothing is left.
        """
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.data.n)
        cdef real gap, d, room
        cdef int j
        if cutoff < INFINITY:
            # dual_bound leaves the reduced costs and their rounding errors behind.
            gap = cutoff - self.proved()
            gap += 8 * ROUND * (fabs(cutoff) + fabs(gap))
            for j in range(self.data.n):
                d = fabs(self.lp.reduced[j]) - 1.01 * self.lp.reduced_error[j]
                if not d > LEAST_REDUCED_COST or not isfinite(gap):
                    continue
                room = gap / d * (1 + 8 * ROUND)
                if not room < high[j] - low[j]:
                    continue
                if self.lp.reduced[j] > 0:
                    high[j] = min(high[j], low[j] + room + 4 * ROUND * (fabs(low[j]) + room))
                else:
                    low[j] = max(low[j], high[j] - room - 4 * ROUND * (fabs(high[j]) + room))
        return self.propagate(node, cutoff)

    cdef int tighten_by_programs(self, Node *node, real cutoff, int n_sweeps, Effort *effort) noexcept nogil:
        """One linear program per bound of a bilinear variable, while that pays. 0: nothing is left."""
        cdef int _sweep
        self.work = 0
        self.rank()
        for _sweep in range(n_sweeps):
            if self.work > MOST_WORK or self.stop.poll(self.number):
                break
            self.remember(node)
            if not self.sweep(node, cutoff, effort):
                return 0
            if not self.has_shrunk(node):
                break
        return 1

    cdef int tighten_in_node(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Programs for bounds of a few variables, over rows that hold the node's solution. 0: nothing is left."""
        cdef Work *stage = &effort.stages[BOUNDED]
        cdef real begun = clock()
        cdef int ok
        stage.calls += 1
        self.work = 0
        self.rank()
        self.n_ranked = min(self.n_ranked, <int> BOUNDED_IN_NODES)
        ok = self.sweep(node, cutoff, effort)
        stage.closed += not ok
        stage.seconds += clock() - begun
        return ok

    cdef void rank(self) noexcept nogil:
        """Variables to bound in the order of what their products and atoms miss: work may not do for all."""
        cdef const real *x = self.lp.x
        cdef real off
        cdef int j, k, at
        self.n_ranked = 0
        for j in range(self.data.n):
            self.gradient[j] = 0
        for k in range(self.data.n_products):
            off = fabs(x[self.data.n + k] - x[self.data.first[k]] * x[self.data.second[k]])
            self.gradient[self.data.first[k]] += off
            self.gradient[self.data.second[k]] += off
        for k in range(self.data.n_atoms):
            self.gradient[self.data.atom_argument[k]] += fabs(
                x[self.data.n_cols - self.data.n_atoms + k] - self.data.atom_at(k, x))
        for j in range(self.data.n):
            if not self.wanted[j]:
                continue
            at = self.n_ranked
            while at > 0 and self.gradient[self.ranked[at - 1]] < self.gradient[j]:
                self.ranked[at] = self.ranked[at - 1]
                at -= 1
            self.ranked[at] = j
            self.n_ranked += 1
        for j in range(self.data.n):
            self.gradient[j] = 0

    cdef float *waits(self, Node *node, int j, int side) noexcept nogil:
        """Levels of nodes for which programs for a bound are put off, in the node's warm start."""
        return node_warm(node, self.data.n) + self.touching.waits_from + 2 * j + side

    cdef bint puts_off(self, Node *node, int j, int side) noexcept nogil:
        """Whether a program for a bound is left to the children, as it is likely to move it by little.

        It hardly moved in a parent, or the node's solution is not far from it.
        """
        cdef float *left = self.waits(node, j, side)
        cdef real low = node_low(node)[j], high = node_high(node, self.data.n)[j], at = node_point(node, self.data.n)[j]
        # a node that was read from a file may hold anything
        if left[0] > 0:
            left[0] = min(left[0], <float> BOUND_WAITS) - 1
            return True
        return (at - low if side == 0 else high - at) <= FAR_FROM_BOUND * (high - low)

    cdef int sweep(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.data.n)
        cdef real bound, width
        cdef int j, r, side, ok = 1
        cdef LpStatus status
        cdef bint in_node = node.parent >= 0
        if (self.load_part(node) if in_node else self.load(node, False, False)) != OK:
            return 1
        for j in range(self.data.n_cols):
            self.lp.set_cost(j, 0)
        if cutoff < INFINITY:
            bound = cutoff - self.data.constant
            bound += 4 * ROUND * (fabs(cutoff) + fabs(self.data.constant))
            self.lp.set_row_bounds(self.data.n_rows - 1, -INFINITY, bound)
        for j in range(2 * self.data.n):
            self.seen[j] = 0
        self.lp.set_primal_simplex(in_node or self.n_rows < PRIMAL_SIMPLEX_BELOW)
        # Where the cutoff leaves next to nothing HiGHS may cycle
        self.lp.limit_iterations(500 + 2 * self.n_rows)
        for r in range(self.n_ranked):
            j = self.ranked[r]
            for side in range(2):
                width = high[j] - low[j]
                if self.work > MOST_WORK or width <= NARROW * max(1.0, fabs(low[j])):
                    continue
                if self.seen[2 * j + side] or (in_node and self.puts_off(node, j, side)):
                    continue
                self.lp.set_cost(j, 1 if side == 0 else -1)
                status = self.run(INFINITY, effort)
                self.work += <real> self.lp.n_iterations() * self.n_rows
                self.lp.set_cost(j, 0)
                if status == LP_INFEASIBLE:
                    ok = 0
                elif status == LP_OPTIMAL:
                    if not self.learnt.chosen and self.take_violated() > 0:
                        # for this bound, and for those that come
                        effort.stages[LIFTED].calls += 1
                        self.lp.set_cost(j, 1 if side == 0 else -1)
                        status = self.run(INFINITY, effort)
                        self.work += <real> self.lp.n_iterations() * self.n_rows
                        self.lp.set_cost(j, 0)
                        if status != LP_OPTIMAL:
                            continue
                    # the bound was of the costs before the last set_cost: row duals are its proof for these
                    self.lp.cost[j] = 1 if side == 0 else -1
                    bound = self.lp.safe_bound()
                    self.lp.cost[j] = 0
                    if side == 0 and bound > low[j]:
                        low[j] = bound
                    elif side == 1 and -bound < high[j]:
                        high[j] = -bound
                    self.mark_seen(low, high)
                    self.note_needed()
                    if in_node and high[j] - low[j] > (1 - HARDLY_MOVED) * width:
                        self.waits(node, j, side)[0] = BOUND_WAITS
                if low[j] > high[j]:
                    ok = 0
                if not ok or self.stop.poll(self.number):
                    break
            if not ok or self.stop.reason != 0:
                break
        self.lp.set_primal_simplex(False)
        self.limit_iterations()
        return ok and self.propagate(node, cutoff)

    cdef void mark_seen(self, const real *low, const real *high) noexcept nogil:
        """A solution on a variable's bound shows that this bound cannot be tightened."""
        cdef int j
        cdef real margin
        for j in range(self.data.n):
            margin = ON_BOUND * (high[j] - low[j])
            if self.lp.x[j] <= low[j] + margin:
                self.seen[2 * j] = 1
            if self.lp.x[j] >= high[j] - margin:
                self.seen[2 * j + 1] = 1

    cdef void note_needed(self) noexcept nogil:
        """Lifted rows that hold the solution of a program of the root."""
        cdef int t
        if self.learnt.chosen:
            return
        for t in range(self.data.n_lifted):
            if self.learnt.kept[t] and self.lp.row_dual[self.lifted_row_of[t]] != 0:
                self.learnt.needed[t] = 1

    cdef void remember(self, Node *node) noexcept nogil:
        memcpy(&self.old_low[0], node_low(node), self.data.n * sizeof(real))
        memcpy(&self.old_high[0], node_high(node, self.data.n), self.data.n * sizeof(real))

    cdef bint has_shrunk(self, Node *node) noexcept nogil:
        """Whether tightening has left so little of a bilinear variable's interval that it is worth another program."""
        cdef int j
        cdef real least = 1, width, now
        for j in range(self.data.n):
            width = self.old_high[j] - self.old_low[j]
            now = node_high(node, self.data.n)[j] - node_low(node)[j]
            if self.wanted[j] and width > NARROW:
                least = min(least, now / width if isfinite(width) else (0 if isfinite(now) else 1))
        return least <= (WORTH_A_ROUND_AFTER if self.bounds_in_nodes and node.parent >= 0 else WORTH_A_PROGRAM)
