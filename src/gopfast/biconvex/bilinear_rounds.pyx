"""Programs of a node in rounds: with the rows that the solution of the last one violates, see `bilinear`.

Theory: (X4) of docs/theory/biconvex.md.
"""

import numpy as np

from gopfast.biconvex.convex_points import ConvexPoints

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy

from gopfast.biconvex.atoms cimport is_convex
from gopfast.biconvex.tuning cimport (
    CUT_PROGRESS, EXCESS_SHARE, FORMS_SHARE, HARDLY_RAISED, LEAST_EXCESS, LEAST_FORMS_SHARE, LEAST_TANGENT,
    MOST_CUT_ROUNDS, MOST_IDLE_ROUNDS, MOST_LIFTS, MOST_POINT_COLUMNS, POINT_SHARE, ROUNDS_BEFORE_POINT, TANGENT_SHARE,
    TANGENT_WITHOUT_CUTOFF, WORTH_OF_CYCLES,
)
from gopfast.lp.lp cimport LP_OPTIMAL, LpStatus
from gopfast.search.meter cimport Work
from gopfast.search.relaxation cimport Effort
from gopfast.search.stop cimport StopSignal, clock
from gopfast.search.tree cimport Node
from gopfast.search.types cimport OK, real
from gopfast.biconvex.bilinear_rows cimport BilinearRows
from gopfast.biconvex.learnt_rows cimport ints, reals


cdef class BilinearRounds(BilinearRows):
    """Tangents in every node; lifted rows, cycles and semidefinite cuts at the root."""

    cdef int reserve(self, StopSignal stop, int number, bint selects) except -1:
        cdef int row, e, k
        BilinearRows.reserve(self, stop, number, selects)
        self.weights, self.weighs = reals(self.data.n_cols - self.data.n), ints(self.data.n_rows)
        for row in range(self.data.n_rows):
            self.weighs[row] = 1
            if row < self.data.n_own_rows:
                continue
            for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
                k = self.data.row_index[e] - self.data.n
                if 0 <= k < self.data.n_products and not self.data.own[k]:
                    self.weighs[row] = 0
        self.find_points()
        return 0

    cdef int find_points(self) except -1:
        """OUT points, of_objective: forms that no row has, if one of them is no square."""
        cdef int b, k, e, column
        cdef bint any_form = False
        cdef list blocks = []
        self.points = None
        if not self.data.n_blocks or self.data.n_atoms or self.data.n_cols > MOST_POINT_COLUMNS:
            return 0
        in_rows = {self.data.row_index[e] for e in range(self.data.row_start[self.data.n_own_rows])}
        self.nearest, self.of_objective = reals(self.data.n_cols), ints(self.data.n_blocks)
        for b in range(self.data.n_blocks):
            column = self.data.block_column[b]
            if column in in_rows or not (self.data.cost[column] > 0 and self.data.presses(b)):
                continue
            self.of_objective[b], any_form = 1, any_form or not self.data.is_square(b)
            blocks.append((column, [(self.data.block_i[k], self.data.block_j[k], self.data.block_value[k])
                                    for k in range(self.data.block_start[b], self.data.block_start[b + 1])]))
        if any_form:
            self.points = ConvexPoints(np.array(self.data.cost), blocks)
        return 0

    cdef void find_least(self) noexcept:
        """OUT least, nearest: over the rows that every node has, with the objective's forms."""
        cdef int j, n = self.n_base
        self.least = -INFINITY
        try:
            start = np.append(np.asarray(self.start)[:n], self.base_nnz)
            nnz = start[n]
            found = self.points.least(
                start, np.asarray(self.col_index)[:nnz], np.asarray(self.value)[:nnz], np.asarray(self.row_lower)[:n],
                np.asarray(self.row_upper)[:n], np.asarray(self.col_lower), np.asarray(self.col_upper))
            if found is not None:
                self.least = found[1] + self.offset
                for j in range(self.data.n_cols):
                    self.nearest[j] = found[0][j]
        except BaseException as error:
            self.stop.caught(error)

    # Tangents in rounds

    cdef LpStatus solve_with_tangents(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Linear programs until none of the convex forms is undercut by a share of the gap, or products miss more."""
        cdef real before = node.lower
        cdef LpStatus status = self.solve(node, cutoff, effort)
        cdef int n_rounds = 0
        cdef bint may_touch = node.parent >= 0 and self.points is not None, misses
        while status == LP_OPTIMAL and node.lower < cutoff and not self.stop.poll(self.number):
            misses = node.parent < 0 or self.forms_miss(FORMS_SHARE)
            if may_touch and (n_rounds == ROUNDS_BEFORE_POINT if misses else
                              node.lower - before < HARDLY_RAISED * (cutoff - before)
                              and self.forms_miss(LEAST_FORMS_SHARE)):
                may_touch = False
                with gil:
                    self.find_least()
                if self.least > -INFINITY and self.touch_nearest() > 0:
                    status = self.solve(node, cutoff, effort)
                    if status != LP_OPTIMAL or node.lower >= cutoff:
                        break
                    if node.lower >= self.least - POINT_SHARE * (cutoff - node.lower):
                        # what the program's own solution misses of the forms says nothing any more
                        memcpy(self.lp.x, &self.nearest[0], self.data.n_cols * sizeof(real))
                        break
                    continue
            if not misses or self.add_tangents(TANGENT_SHARE * (cutoff - node.lower) if cutoff < INFINITY
                                               else TANGENT_WITHOUT_CUTOFF) == 0:
                break
            n_rounds += 1
            status = self.solve(node, cutoff, effort)
        return status

    cdef int touch_nearest(self) noexcept nogil:
        """Adds tangents of the objective's forms at their least point, and gives it their values; how many."""
        cdef int b, first = self.n_rows, first_entry = self.nnz
        for b in range(self.data.n_blocks):
            if self.of_objective[b]:
                self.tangent(b, &self.nearest[0])
                self.nearest[self.data.block_column[b]] = self.data.block_at(b, &self.nearest[0])
        return self.n_rows - first if self.append_rows(first, first_entry) == OK else 0

    cdef int add_tangents(self, real tolerance) noexcept nogil:
        """Adds a tangent at the solution to each form or atom that it undercuts by more than tolerated; how many."""
        cdef int b, first = self.n_rows, first_entry = self.nnz
        for b in range(self.data.block_column.shape[0]):
            if self.n_new == self.most_new or self.n_tangents == self.most_tangents:
                break
            if not self.data.presses(b):
                continue
            if self.data.block_at(b, self.lp.x) - self.lp.x[self.data.block_column[b]] > max(tolerance, LEAST_TANGENT):
                self.tangent(b, self.lp.x)
                self.n_new += 1
        for b in range(self.data.n_atoms):
            if self.n_new == self.most_new or self.n_tangents == self.most_tangents:
                break
            if self.undercut(b) > max(tolerance, LEAST_TANGENT):
                self.tangent(self.data.n_blocks + b, self.lp.x)
                self.n_new += 1
        return self.n_rows - first if self.append_rows(first, first_entry) == OK else 0

    cdef real undercut(self, int atom) noexcept nogil:
        """By how much the last solution is beyond an atom on the side of its tangents; negative: on the secant's."""
        cdef real off = self.data.atom_at(atom, self.lp.x) - self.lp.x[self.data.n_cols - self.data.n_atoms + atom]
        return off if is_convex(self.data.atom_function[atom], self.data.atom_exponent[atom]) else -off

    cdef void weigh(self) noexcept nogil:
        """OUT weights: products and forms in the Lagrangian of rows that have no products of their own."""
        cdef int k, row, e, n = self.data.n
        for k in range(self.data.n_cols - n):
            self.weights[k] = self.data.cost[n + k]
        for row in range(self.data.n_rows):
            if self.lp.row_dual[row] == 0 or not self.weighs[row]:
                continue
            for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
                if self.data.row_index[e] >= n:
                    self.weights[self.data.row_index[e] - n] -= self.lp.row_dual[row] * self.data.row_value[e]

    cdef bint forms_miss(self, real share) noexcept nogil:
        """Whether tangents are worth a program: splitting does nothing for forms, but children keep them."""
        cdef const real *x = self.lp.x
        cdef int b, k, n = self.data.n
        cdef real forms = 0, products = 0, off
        self.weigh()
        for b in range(self.data.block_column.shape[0]):
            if self.data.presses(b):
                off = self.data.block_at(b, x) - x[self.data.block_column[b]]
                forms += max(off, 0.0) * fabs(self.weights[self.data.block_column[b] - n])
        for k in range(self.data.n_products):
            off = x[n + k] - x[self.data.first[k]] * x[self.data.second[k]]
            # a square from below is a form
            if self.data.own[k] and (off > 0 or self.data.first[k] != self.data.second[k]):
                products += fabs(off * self.weights[k])
        for k in range(self.data.n_atoms):
            off = self.undercut(k)
            if off > 0:
                forms += off * fabs(self.weights[self.data.n_cols - self.data.n_atoms + k - n])
            else:
                products -= off * fabs(self.weights[self.data.n_cols - self.data.n_atoms + k - n])
        return forms >= share * products

    # Lifted rows

    cdef real lifted_excess(self, int t) noexcept nogil:
        """By how much the last solution violates a lifted row; at most 0 where it does not."""
        cdef const real *x = self.lp.x
        cdef int e, j = self.data.lift_factor[t]
        cdef real at = self.col_lower[j] if self.data.lift_side[t] == 0 else self.col_upper[j]
        cdef real total = self.data.lift_constant[t] * (x[j] - at)
        for e in range(self.data.lift_start[t], self.data.lift_start[t + 1]):
            total += self.data.lift_value[e] * (
                x[self.data.n + self.data.lift_product[e]] - at * x[self.data.lift_variable[e]])
        return -total if self.data.lift_side[t] == 0 else total

    cdef LpStatus lift(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Programs with the lifted rows that their solutions violate."""
        cdef LpStatus status = LP_OPTIMAL
        cdef Work *stage = &effort.stages[LIFTED]
        cdef real begun = clock()
        cdef int _round
        for _round in range(MOST_LIFTS):
            if self.take_violated() == 0:
                break
            stage.calls += 1
            status = self.solve_with_tangents(node, cutoff, effort)
            if status != LP_OPTIMAL or node.lower >= cutoff or self.stop.poll(self.number):
                break
        stage.closed += node.lower >= cutoff
        stage.seconds += clock() - begun
        return status

    cdef int take_violated(self) noexcept nogil:
        """Adds the lifted rows that the last solution violates the worst; how many."""
        cdef int t, first = self.n_rows, first_entry = self.nnz
        cdef real worst = LEAST_EXCESS
        for t in range(self.data.n_lifted):
            if not self.learnt.kept[t]:
                worst = max(worst, self.lifted_excess(t))
        if worst <= LEAST_EXCESS:
            return 0
        for t in range(self.data.n_lifted):
            if not self.learnt.kept[t] and self.lifted_excess(t) > EXCESS_SHARE * worst:
                self.learnt.kept[t] = 1
                self.lifted_row(t)
        return self.n_rows - first if self.append_rows(first, first_entry) == OK else 0

    # Semidefinite cuts

    cdef LpStatus separate(self, Node *node, real cutoff, Effort *effort, bint of_cycles) noexcept nogil:
        """Cuts or cycles that the solution of the last program violates, and programs with them, while the bound rises.

        At the root only, which the caller's thread bounds: it may take the GIL.
        """
        cdef LpStatus status = LP_OPTIMAL
        cdef Work *stage = &effort.stages[RELAXED if of_cycles else CUT]
        cdef int _round, t, known, now, first, first_entry, idle = 0
        cdef real before, gap, begun = clock()
        for _round in range(MOST_CUT_ROUNDS):
            known = self.learnt.n_cycles if of_cycles else self.learnt.n_cuts
            first, first_entry, before = self.n_rows, self.nnz, node.lower
            with gil:
                self.find(of_cycles)
            now = self.learnt.n_cycles if of_cycles else self.learnt.n_cuts
            for t in range(known, now):
                if of_cycles:
                    self.cycle_row(t)
                else:
                    self.cut_row(t)
            if now == known or self.append_rows(first, first_entry) != OK:
                break
            stage.calls += not of_cycles
            status = self.solve_with_tangents(node, cutoff, effort)
            if status != LP_OPTIMAL or node.lower >= cutoff or self.stop.poll(self.number):
                break
            gap = cutoff - before if cutoff < INFINITY else fabs(before)
            idle = 0 if node.lower - before > CUT_PROGRESS * gap else idle + 1
            if idle == MOST_IDLE_ROUNDS:
                break
        if not of_cycles:
            stage.closed += node.lower >= cutoff
            stage.seconds += clock() - begun
        return status

    cdef void find(self, bint of_cycles) noexcept:
        """Cycles or semidefinite cuts at the solution; what Python raises meanwhile ends the search."""
        try:
            if of_cycles:
                self.learnt.find_cycles(self.lp.x, &self.col_lower[0], &self.col_upper[0])
            else:
                self.learnt.find_cuts(self.lp.x)
        except BaseException as error:
            self.stop.caught(error)

    cdef void note_cuts(self) noexcept nogil:
        """Cuts that hold the solution of the root's program."""
        cdef int t
        if not self.learnt.chosen:
            for t in range(self.learnt.n_cuts):
                self.learnt.cut_needed[t] = self.lp.row_dual[self.cut_row_of[t]] != 0

    cdef LpStatus separate_cycles(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Cycles at the root, and whether what they close of its gap is worth rows in all nodes."""
        cdef real start = node.lower, gap = cutoff - start if cutoff < INFINITY else fabs(start)
        cdef LpStatus status = self.separate(node, cutoff, effort, True)
        if node.lower - start > WORTH_OF_CYCLES * gap:
            self.learnt.cycles_pay = True
        return status

    cdef void note_cycles(self) noexcept nogil:
        """Cycles that hold the solution of the root's program."""
        cdef int t
        if not self.learnt.chosen:
            for t in range(self.learnt.n_cycles):
                self.learnt.cycle_needed[t] = self.lp.row_dual[self.cycle_row_of[t]] != 0
