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
- inequalities of cycles of products, in the node's box (`cycles`): those that solutions of the root violate;
- where most pairs of some variables are products: semidefinite cuts, v'(1 z'; z w) v >= 0 for eigenvectors v of
  negative eigenvalues, found in rounds at the root. They hold in every box, and nodes have those that the root needed.

The box is tightened first: from the rows (feasibility), from reduced costs, and at the root by one linear program per
bound. Every row is loosened by the rounding error of its coefficients, so that what is proved about the linear program
holds for the node. Where bound combinations are selected, a mixed-integer program with the cuts of both halves of each
interval does so. Tightening may use the cutoff: what it removes has an objective above it, so a node's bound is
never raised beyond the cutoff once there is one.

Adjiman, Dallwig, Floudas & Neumaier 1998 (tightening); Sherali & Alameddine 1992 (lifted rows); Sherali & Fraticelli
2002 (semidefinite cuts).
"""

import numpy as np

from gopfast.biconvex import cycles

from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memcpy

from gopfast.biconvex.data cimport BiconvexData
from gopfast.lp.lp cimport LP_INFEASIBLE, LP_OPTIMAL, LpStatus
from gopfast.lp.program cimport ProgramRelaxation, ProgramWorker
from gopfast.search.relaxation cimport Effort, no_effort
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree, divisible, inside, node_choice, node_high, node_low, node_point, node_warm
from gopfast.search.types cimport LP_FAILED, OK, index, real
from gopfast.search.rounding cimport ROUND

cdef real LP_TOLERANCE = 1e-9
cdef int PROPAGATION_ROUNDS = 10
cdef int N_TANGENTS = 64            # tangents of a node's program, beside those that it starts with; and for each form
cdef int TANGENTS_EACH = 2
cdef int KEPT_EACH = 4              # tangents of a form, on average, that a child may begin with,
cdef int MOST_KEPT_FLOATS = 4096    # in so much memory of a node
cdef enum:
    PACKED = 8                      # basis statuses, 3 bits each, in one float
    AT_LOWER = 0                    # HiGHS's statuses
    BASIC = 1
cdef real MOST_WORK = 3e7           # iterations times rows, of the programs for a node's bounds
cdef int PRIMAL_SIMPLEX_BELOW = 300  # rows; on large programs the dual method takes a quarter of the iterations
# A tangent is added where a form is undercut by this share of what the node lacks to the cutoff, or by so much where
# there is none; never where only LP_TOLERANCE shows.
cdef real TANGENT_SHARE = 1e-3
cdef real TANGENT_WITHOUT_CUTOFF = 1e-6
cdef real LEAST_TANGENT = 1e-10
cdef real FORMS_SHARE = 0.5         # of what products miss: forms that miss less wait for the children
cdef real LEAST_REDUCED_COST = 1e-9  # beside LP_TOLERANCE a smaller one is no slope
cdef real NARROW = 1e-9             # width of an interval, relative to its end where that is above 1, left as it is
cdef real ON_BOUND = 1e-3           # share of an interval's width within which a solution shows its bound to be needed
cdef real LEAST_OFF = 1e-9          # distance of a switch's sides from 0 at the solution, for it to be split
cdef real LEAST_MISS = 1e-9         # what products must miss at the solution for the Lagrangian to rank variables
cdef real WIDEST_SHARE = 4.0        # of the root's widths, for the scores of variables
cdef real SMALLEST = 1e-300         # stands for 0 in a quotient
cdef real SUM_ROUNDING = 1 + 1e-12  # covers the rounding of a sum of squares
cdef real PRODUCT_ROUNDING = 1 + 1e-9   # covers that of a product of widths, for rows that prove nothing
cdef int MOST_LIFTS = 30            # rounds of lifted rows
cdef real LEAST_EXCESS = 1e-7       # by which a solution violates a lifted row that is taken,
cdef real EXCESS_SHARE = 0.2        # and as a share of what it violates the worst by
cdef enum:
    MOST_CUTS = 300                 # semidefinite
    CUTS_A_ROUND = 12               # of one set of variables
    MOST_CUT_ROUNDS = 60
    MOST_IDLE_ROUNDS = 4            # that gain little
    MOST_CYCLES = 1000
    CYCLES_EACH = 4                 # for each product, on average
cdef real CUT_PROGRESS = 5e-3       # of the gap, or of the bound where there is no incumbent: what a round should gain
cdef real LEAST_EIGENVALUE = 1e-6   # in size, of a matrix with entries near 1
# Entries of a cut's vector are rounded to multiples of its inverse: products of two are exact, and none is so small
# that HiGHS leaves it out
cdef real CUT_GRID = 16384.0
cdef real WORTH_OF_CYCLES = 1e-2    # share of the root's gap that they must close, for nodes to have them
cdef real NARROWEST_OF_CYCLES = 1e-8    # half-width, relative to the middle where that is above 1
cdef real WIDEST_OF_CYCLES = 1e9    # greatest product of two half-widths over the least: HiGHS drops small entries
cdef real WORTH_A_PROGRAM = 0.9     # share of a box's width that tightening must leave for another round to stop


cdef class BilinearWorker(ProgramWorker):
    """The linear program of one thread."""

    def __init__(self, BilinearRelaxation owner, StopSignal stop, int number):
        cdef BiconvexData data = owner.data
        cdef int P = data.n_products, widest = max(owner.widest_block(), 1), g, k
        cdef int max_rows = data.n_rows + 4 * P + data.n_lifted
        cdef int max_nnz = (data.row_start[data.n_rows] + 12 * P + 2 * data.lift_start[data.n_lifted] + data.n_lifted)
        # those at ends of intervals, at the incumbent and the parent's solution; the parent's; and new ones
        self.most_new = N_TANGENTS + TANGENTS_EACH * <int> data.block_column.shape[0]
        self.most_tangents = 4 * <int> data.block_column.shape[0] + owner.n_kept_floats // 2 + self.most_new
        max_rows += self.most_tangents
        max_nnz += self.most_tangents * (widest + 1)
        self.owner, self.data, self.offset = owner, data, data.constant
        if data.n_moments > 0:
            max_rows += MOST_CUTS
            k = max(data.moment_start[g + 1] - data.moment_start[g] for g in range(data.n_moments))
            max_nnz += MOST_CUTS * (k + 1) * (k + 2) // 2
            self.cut_row_of = ints(MOST_CUTS)
        max_rows += owner.most_cycles
        max_nnz += 2 * cycles.LONGEST * owner.most_cycles
        self.cycle_row_of = ints(owner.most_cycles)
        self.lifted_row_of = ints(data.n_lifted)
        if owner.selects:
            max_rows, max_nnz = max(max_rows, 2 * data.n_split + 8 * P), max(max_nnz, 4 * data.n_split + 32 * P)
        self.begin(stop, number, max_rows, max_nnz, data.n_cols, data.n_split if owner.selects else -1)
        self.importance = reals(data.n_split)
        self.col_lower, self.col_upper = reals(data.n_cols), reals(data.n_cols)
        self.cost = reals(data.n_cols)
        self.old_low, self.old_high = reals(data.n), reals(data.n)
        self.gradient, self.weights = reals(data.n), reals(data.n_cols - data.n)
        self.tangent_row_of, self.tangent_block = ints(self.most_tangents), ints(self.most_tangents)
        self.tangents = np.zeros((max(self.most_tangents, 1), widest), dtype=np.float32)
        self.at = reals(data.n)
        self.basis = ints(data.n_cols + self.max_rows)
        self.seen, self.ranked = ints(2 * data.n), ints(data.n)

    cdef int configure(self) noexcept nogil:
        return LP_FAILED if self.lp.set_tolerance(LP_TOLERANCE) != OK else self.limit_iterations()

    cdef int limit_iterations(self) noexcept nogil:
        return self.lp.limit_iterations_by(self.data.n_cols + self.max_rows)

    # A node

    cdef void bound(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Tightens the box and solves its linear program, in turn while that shrinks the box."""
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.data.n)
        cdef LpStatus status
        cdef int attempt
        cdef bint warm = node.parent >= 0
        effort.n_subproblems += 1
        if self.milp is not None:
            node_choice(node, self.data.n, self.owner.n_warm)[0] = 0
        if not self.data.propagate(low, high, cutoff, PROPAGATION_ROUNDS, &self.col_lower[0], &self.col_upper[0]):
            self.raise_bound(node, INFINITY, cutoff)
            return
        self.place_middle(node)
        if self.open() != OK:
            return
        if node.parent < 0 and not self.owner.chosen:
            self.owner.forget_rows()
        for attempt in range(self.owner.max_rounds):
            if self.load(node, warm or attempt > 0, True) != OK:
                return
            status = self.solve_with_tangents(node, cutoff, effort)
            if node.parent < 0 and not self.owner.chosen and status == LP_OPTIMAL and node.lower < cutoff:
                status = self.lift(node, cutoff, effort)
            if (node.parent < 0 and self.owner.most_cycles > 0 and self.owner.root_sweeps > 0
                    and not self.owner.chosen and status == LP_OPTIMAL and node.lower < cutoff):
                status = self.separate_cycles(node, cutoff, effort)
            if (node.parent < 0 and attempt == 0 and self.owner.root_sweeps > 0 and not self.owner.chosen
                    and status == LP_OPTIMAL and node.lower < cutoff):
                status = self.separate(node, cutoff, effort, False)
            if node.lower >= cutoff or status != LP_OPTIMAL or self.stop.poll(self.number):
                return
            self.place(node)
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
            elif self.shrunk(node) > WORTH_A_PROGRAM:
                break
        if self.milp is not None and node.branch >= 0:
            self.select(node, effort)

    cdef LpStatus solve_with_tangents(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Linear programs until none of the convex forms is undercut by a share of the gap, or products miss more."""
        cdef LpStatus status = self.solve(node, cutoff, effort)
        while (status == LP_OPTIMAL and node.lower < cutoff and not self.stop.poll(self.number)
               and (node.parent < 0 or self.forms_miss_more())
               and self.add_tangents(TANGENT_SHARE * (cutoff - node.lower) if cutoff < INFINITY
                                     else TANGENT_WITHOUT_CUTOFF) > 0):
            status = self.solve(node, cutoff, effort)
        return status

    cdef void raise_bound(self, Node *node, real proved, real cutoff) noexcept nogil:
        """Beyond the cutoff nothing is known: tightening has removed points from there."""
        node.lower = max(node.lower, min(proved, cutoff))

    cdef real proved(self) noexcept nogil:
        cdef real bound = self.lp.safe_bound(), total = bound + self.data.constant
        return total - 4 * ROUND * (fabs(bound) + fabs(self.data.constant))

    # The linear program of a node

    cdef int load(self, Node *node, bint warm, bint with_cuts) noexcept nogil:
        cdef int t
        self.n_rows = self.nnz = self.n_tangents = self.n_new = 0
        self.fixed_rows()
        self.product_rows()
        self.lifted_rows()
        if with_cuts:
            for t in range(self.owner.n_cuts):
                self.cut_row(t)
        for t in range(self.owner.n_cycles):
            self.cycle_row(t)
        self.n_base = self.n_rows
        self.kept_rows(node)
        self.tangent_rows(node)
        if self.load_rows(self.data.n_cols, &self.data.cost[0], &self.col_lower[0], &self.col_upper[0]) != OK:
            return LP_FAILED
        if warm:
            self.restore_basis(node)
        return OK

    cdef void begin_row(self) noexcept nogil:
        self.slack = 0
        self.start[self.n_rows] = self.nnz

    cdef void term(self, int column, real value, real rounded) noexcept nogil:
        """Adds value * column to the open row; rounded: magnitude of what was rounded, once, in it."""
        if rounded > 0:
            self.slack += 2 * ROUND * rounded * max(fabs(self.col_lower[column]), fabs(self.col_upper[column]))
        if value != 0:
            self.col_index[self.nnz] = column
            self.value[self.nnz] = value
            self.nnz += 1

    cdef void end_row(self, real lower, real upper) noexcept nogil:
        """A row with an infinite coefficient or slack says nothing; its place is kept."""
        if not (isfinite(self.slack) and (isfinite(lower) or isfinite(upper))):
            self.nnz = self.start[self.n_rows]
            lower, upper, self.slack = -INFINITY, INFINITY, 0
        self.row_lower[self.n_rows] = lower - self.slack * (1 + 8 * ROUND) - 2 * ROUND * fabs(lower) \
            if lower > -INFINITY else lower
        self.row_upper[self.n_rows] = upper + self.slack * (1 + 8 * ROUND) + 2 * ROUND * fabs(upper) \
            if upper < INFINITY else upper
        self.n_rows += 1

    cdef void fixed_rows(self) noexcept nogil:
        cdef int k
        self.n_rows, self.nnz = self.data.n_rows, self.data.row_start[self.data.n_rows]
        memcpy(&self.start[0], &self.data.row_start[0], self.data.n_rows * sizeof(int))
        memcpy(&self.col_index[0], &self.data.row_index[0], self.nnz * sizeof(int))
        memcpy(&self.value[0], &self.data.row_value[0], self.nnz * sizeof(real))
        memcpy(&self.row_lower[0], &self.data.row_lower[0], self.data.n_rows * sizeof(real))
        memcpy(&self.row_upper[0], &self.data.row_upper[0], self.data.n_rows * sizeof(real))
        for k in range(self.data.n_switches):
            if self.col_upper[k] <= 0:
                self.vanish(2 * k)
            if self.col_lower[k] >= 0:
                self.vanish(2 * k + 1)

    cdef void vanish(self, int side) noexcept nogil:
        """The row of a switch's side takes its value in the whole node."""
        cdef int row = self.data.switch_row[side]
        if row >= 0:
            self.row_lower[row] = self.row_upper[row] = self.data.switch_value[side]

    cdef void product_rows(self) noexcept nogil:
        """(z_i - a)(z_j - b) >= 0 at the lower and at the upper corner, <= 0 at the other two."""
        cdef int k, corner, i, j
        cdef real a, b
        for k in range(self.data.n_products):
            i, j = self.data.first[k], self.data.second[k]
            for corner in range(4):
                if not (self.data.under[k] if corner < 2 else self.data.over[k]):
                    continue
                # A square has tangents from below, and one chord.
                if i == j and corner != 2:
                    continue
                a = self.col_lower[i] if corner == 0 or corner == 2 else self.col_upper[i]
                b = self.col_lower[j] if corner == 0 or corner == 3 else self.col_upper[j]
                self.begin_row()
                if isfinite(a) and isfinite(b):
                    self.term(self.data.n + k, 1, 0)
                    if i == j:
                        self.term(i, -(a + b), fabs(a + b))
                    else:
                        self.term(j, -a, 0)
                        self.term(i, -b, 0)
                    self.slack += 2 * ROUND * fabs(a * b)
                    self.end_row(-a * b if corner < 2 else -INFINITY, INFINITY if corner < 2 else -a * b)
                else:
                    self.end_row(-INFINITY, INFINITY)

    cdef void lifted_rows(self) noexcept nogil:
        cdef int t
        for t in range(self.data.n_lifted):
            if self.owner.kept[t]:
                self.lifted_row(t)

    cdef void lifted_row(self, int t) noexcept nogil:
        """(b + a'z) (z_j - l) >= 0 or (b + a'z) (u - z_j) >= 0."""
        cdef int e, j = self.data.lift_factor[t]
        cdef real b = self.data.lift_constant[t], share, rounded = 0
        cdef real at = self.col_lower[j] if self.data.lift_side[t] == 0 else self.col_upper[j]
        cdef real sign = 1 if self.data.lift_side[t] == 0 else -1
        cdef real own = sign * b
        self.lifted_row_of[t] = self.n_rows
        self.begin_row()
        for e in range(self.data.lift_start[t], self.data.lift_start[t + 1]):
            self.term(self.data.n + self.data.lift_product[e], sign * self.data.lift_value[e], 0)
            share = at * self.data.lift_value[e]
            if self.data.lift_variable[e] == j:
                own -= sign * share
                rounded = fabs(share) + fabs(own)
            else:
                self.term(self.data.lift_variable[e], -sign * share, fabs(share))
        self.term(j, own, rounded)
        self.slack += 2 * ROUND * fabs(b * at)
        self.end_row(sign * b * at, INFINITY)

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
        cdef int _round
        for _round in range(MOST_LIFTS):
            if self.take_violated() == 0:
                break
            status = self.solve_with_tangents(node, cutoff, effort)
            if status != LP_OPTIMAL or node.lower >= cutoff or self.stop.poll(self.number):
                break
        return status

    cdef int take_violated(self) noexcept nogil:
        """Adds the lifted rows that the last solution violates the worst; how many."""
        cdef int t, first = self.n_rows, first_entry = self.nnz
        cdef real worst = LEAST_EXCESS
        for t in range(self.data.n_lifted):
            if not self.owner.kept[t]:
                worst = max(worst, self.lifted_excess(t))
        if worst <= LEAST_EXCESS:
            return 0
        for t in range(self.data.n_lifted):
            if not self.owner.kept[t] and self.lifted_excess(t) > EXCESS_SHARE * worst:
                self.owner.kept[t] = 1
                self.lifted_row(t)
        return self.n_rows - first if self.append_rows(first, first_entry) == OK else 0

    cdef void cut_row(self, int t) noexcept nogil:
        """(v0 + v'z)^2 >= 0 with w for the products; its coefficients are exact."""
        cdef int g = self.owner.cut_moment[t], first = self.data.moment_start[g], p, q
        cdef int k = self.data.moment_start[g + 1] - first
        cdef const real *v = &self.owner.cut_vector[t, 0]
        self.cut_row_of[t] = self.n_rows
        self.begin_row()
        for p in range(k):
            self.term(self.data.moment_variable[first + p], 2 * v[0] * v[1 + p], 0)
            for q in range(p, k):
                self.term(self.data.n + self.data.moment_product[self.data.moment_matrix[g] + p * k + q],
                          (1 if p == q else 2) * v[1 + p] * v[1 + q], 0)
        self.end_row(-v[0] * v[0], INFINITY)

    cdef void tangent_rows(self, Node *node) noexcept nogil:
        """Tangents of the convex forms at the incumbent, at the parent's solution, and of squares at their ends."""
        cdef int b, i
        for b in range(self.data.block_column.shape[0]):
            if not self.data.presses(b):
                continue
            if self.data.is_square(b):
                i = self.data.block_i[self.data.block_start[b]]
                self.tangent_at(b, i, self.col_lower[i])
                self.tangent_at(b, i, self.col_upper[i])
                self.tangent_at(b, i, node_point(node, self.data.n)[i])
            else:
                self.tangent(b, node_point(node, self.data.n))
            if self.owner.has_incumbent:
                self.tangent(b, &self.owner.incumbent[0])

    cdef void tangent_at(self, int block, int variable, real value) noexcept nogil:
        """Of a square, where its variable has a value."""
        if isfinite(value):
            self.at[variable] = value
            self.tangent(block, &self.at[0])

    cdef void tangent(self, int block, const real *at) noexcept nogil:
        """Adds a tangent, and notes where it touches: in single precision, as any point will do."""
        cdef int k, t = self.n_tangents, first = self.owner.member_start[block]
        if t == self.most_tangents:
            return
        self.tangent_row_of[t], self.tangent_block[t] = self.n_rows, block
        for k in range(first, self.owner.member_start[block + 1]):
            self.tangents[t, k - first] = <float> at[self.owner.member[k]]
        if self.data.is_square(block):
            self.square_row(block, at[self.owner.member[first]])
        else:
            self.tangent_row(block, at)
        self.n_tangents += 1

    cdef void kept_rows(self, Node *node) noexcept nogil:
        """The tangents that held the parent's solution."""
        cdef const float *kept = node_warm(node, self.data.n) + self.owner.kept_from
        cdef int _kept, k, block, at = 1
        for _kept in range(<int> kept[0]):
            block = <int> kept[at]
            at += 1
            for k in range(self.owner.member_start[block], self.owner.member_start[block + 1]):
                self.at[self.owner.member[k]] = kept[at]
                at += 1
            self.tangent(block, &self.at[0])

    cdef bint keep_tangents(self, Node *node) noexcept nogil:
        """Notes those that hold the last solution, which are not basic; whether there was room for all."""
        cdef float *kept = node_warm(node, self.data.n) + self.owner.kept_from
        cdef int t, k, block, size, at = 1, n = 0
        for t in range(self.n_tangents):
            block = self.tangent_block[t]
            size = self.owner.member_start[block + 1] - self.owner.member_start[block]
            if self.basis[self.data.n_cols + self.tangent_row_of[t]] == BASIC:
                continue
            if at + 1 + size > 1 + self.owner.n_kept_floats:
                break
            kept[at] = <float> block
            for k in range(size):
                kept[at + 1 + k] = self.tangents[t, k]
            at += 1 + size
            n += 1
        else:
            kept[0] = <float> n
            return True
        kept[0] = <float> n
        return False

    cdef void square_row(self, int block, real at) noexcept nogil:
        """column >= v (2 t z - t^2)."""
        cdef int k = self.data.block_start[block]
        cdef real v = self.data.block_value[k]
        self.begin_row()
        self.term(self.data.block_column[block], 1, 0)
        self.term(self.data.block_i[k], -2 * v * at, fabs(2 * v * at))
        self.slack += 4 * ROUND * v * at * at
        self.end_row(-v * at * at, INFINITY)

    cdef void tangent_row(self, int block, const real *at) noexcept nogil:
        """column >= 2 (Q z0)'z - z0'Q z0, less what Q may fall short of convexity."""
        cdef int k, i, n_terms = self.data.block_start[block + 1] - self.data.block_start[block]
        cdef real value = self.data.block_at(block, at), squares = 0, size, step
        self.data.block_gradient(block, at, &self.gradient[0])
        size = self.data.block_size(block, at)
        self.begin_row()
        self.term(self.data.block_column[block], 1, 0)
        for k in range(self.data.block_start[block], self.data.block_start[block + 1]):
            i = self.data.block_i[k]
            # the rounding of a gradient's entry is at most that of its n_terms products
            self.slack += (n_terms + 2) * ROUND * 2 * fabs(self.data.block_value[k] * at[self.data.block_j[k]]) * max(
                fabs(self.col_lower[i]), fabs(self.col_upper[i]))
            if self.gradient[i] != 0:
                self.term(i, -self.gradient[i], 0)
                self.gradient[i] = 0
            if self.data.block_defect[block] > 0:
                step = max(fabs(self.col_upper[i] - at[i]), fabs(at[i] - self.col_lower[i]))
                squares += step * step
        self.slack += 2 * (n_terms + 2) * ROUND * size + self.data.block_defect[block] * squares * SUM_ROUNDING
        self.end_row(-value, INFINITY)

    # Tangents in rounds

    cdef int add_tangents(self, real tolerance) noexcept nogil:
        """Adds a tangent at the solution to each form that it undercuts by more than the tolerance; how many."""
        cdef int b, first = self.n_rows, first_entry = self.nnz
        for b in range(self.data.block_column.shape[0]):
            if self.n_new == self.most_new or self.n_tangents == self.most_tangents:
                break
            if not self.data.presses(b):
                continue
            if self.data.block_at(b, self.lp.x) - self.lp.x[self.data.block_column[b]] > max(tolerance, LEAST_TANGENT):
                self.tangent(b, self.lp.x)
                self.n_new += 1
        return self.n_rows - first if self.append_rows(first, first_entry) == OK else 0

    cdef void weigh(self) noexcept nogil:
        """OUT weights: what each product and each form costs in the Lagrangian of the problem's rows."""
        cdef int k, row, e, n = self.data.n
        for k in range(self.data.n_cols - n):
            self.weights[k] = self.data.cost[n + k]
        for row in range(self.data.n_rows):
            if self.lp.row_dual[row] == 0:
                continue
            for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
                if self.data.row_index[e] >= n:
                    self.weights[self.data.row_index[e] - n] -= self.lp.row_dual[row] * self.data.row_value[e]

    cdef bint forms_miss_more(self) noexcept nogil:
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
        return forms >= FORMS_SHARE * products

    # Semidefinite cuts

    cdef LpStatus separate(self, Node *node, real cutoff, Effort *effort, bint of_cycles) noexcept nogil:
        """Cuts or cycles that the solution of the last program violates, and programs with them, while the bound rises.

        At the root only, which the caller's thread bounds: it may take the GIL.
        """
        cdef LpStatus status = LP_OPTIMAL
        cdef int _round, t, known, now, first, first_entry, idle = 0
        cdef real before, gap
        for _round in range(MOST_CUT_ROUNDS):
            known = self.owner.n_cycles if of_cycles else self.owner.n_cuts
            first, first_entry, before = self.n_rows, self.nnz, node.lower
            with gil:
                self.find(of_cycles)
            now = self.owner.n_cycles if of_cycles else self.owner.n_cuts
            for t in range(known, now):
                if of_cycles:
                    self.cycle_row(t)
                else:
                    self.cut_row(t)
            if now == known or self.append_rows(first, first_entry) != OK:
                break
            status = self.solve_with_tangents(node, cutoff, effort)
            if status != LP_OPTIMAL or node.lower >= cutoff or self.stop.poll(self.number):
                break
            gap = cutoff - before if cutoff < INFINITY else fabs(before)
            idle = 0 if node.lower - before > CUT_PROGRESS * gap else idle + 1
            if idle == MOST_IDLE_ROUNDS:
                break
        return status

    cdef void find(self, bint of_cycles) noexcept:
        """Cycles or semidefinite cuts at the solution; what Python raises meanwhile ends the search."""
        try:
            if of_cycles:
                self.owner.find_cycles(self.lp.x, &self.col_lower[0], &self.col_upper[0])
            else:
                self.owner.find_cuts(self.lp.x)
        except BaseException as error:
            self.stop.caught(error)

    cdef void note_cuts(self) noexcept nogil:
        """Cuts that hold the solution of the root's program."""
        cdef int t
        if not self.owner.chosen:
            for t in range(self.owner.n_cuts):
                self.owner.cut_needed[t] = self.lp.row_dual[self.cut_row_of[t]] != 0

    # Cycles of products

    cdef void cycle_row(self, int t) noexcept nogil:
        """The inequality of a cycle, see `cycles`, in the node's box; none where that is too narrow."""
        cdef int e, f, v, j
        cdef real a, size, total = 0, magnitude = 0, middles
        cdef int first = self.owner.cycle_start[t], end = self.owner.cycle_start[t + 1]
        self.cycle_row_of[t] = self.n_rows
        self.begin_row()
        if not self.cycle_terms(t, &size):
            self.end_row(-INFINITY, INFINITY)
            return
        # size times: sum of +-(z_i - m_i)(z_j - m_j) / (h_i h_j) >= 2 - length, for middles m and half-widths h. What
        # is true of these m and h as they are holds with factors rounded, but for their relative error each.
        for e in range(first, end):
            f = self.owner.cycle_product[e]
            a = self.half_width(self.data.first[f]) * self.half_width(self.data.second[f])
            a = self.owner.cycle_sign[e] * size / a
            self.term(self.data.n + f, a, 0)
            middles = self.center_of(self.data.first[f]) * self.center_of(self.data.second[f])
            total += a * middles
            magnitude += fabs(a * middles)
            for v in range(2):
                j = self.data.second[f] if v == 0 else self.data.first[f]
                middles = a * self.center_of(self.data.first[f] if v == 0 else self.data.second[f])
                self.gradient[j] -= middles
                # one product and one sum, and the other product of the cycle with this variable
                self.slack += 4 * ROUND * fabs(middles) * max(fabs(self.col_lower[j]), fabs(self.col_upper[j]))
        for e in range(first, end):
            for v in range(2):
                j = self.data.first[self.owner.cycle_product[e]] if v == 0 else (
                    self.data.second[self.owner.cycle_product[e]])
                if self.gradient[j] != 0:
                    self.term(j, self.gradient[j], 0)
                    self.gradient[j] = 0
        self.slack += 8 * ROUND * size * (end - first) + (end - first + 4) * ROUND * magnitude
        self.end_row(size * (2 - (end - first)) - total, INFINITY)

    cdef bint cycle_terms(self, int t, real *size) noexcept nogil:
        """OUT size: the least product of two half-widths of a cycle; whether its intervals make a row."""
        cdef int e, f, v, j
        cdef real least = INFINITY, most = 0, area
        for e in range(self.owner.cycle_start[t], self.owner.cycle_start[t + 1]):
            f = self.owner.cycle_product[e]
            for v in range(2):
                j = self.data.first[f] if v == 0 else self.data.second[f]
                if not (isfinite(self.half_width(j))
                        and self.half_width(j) > NARROWEST_OF_CYCLES * max(1.0, fabs(self.center_of(j)))):
                    return False
            area = self.half_width(self.data.first[f]) * self.half_width(self.data.second[f])
            least, most = min(least, area), max(most, area)
        size[0] = least
        return most < WIDEST_OF_CYCLES * least

    cdef real center_of(self, int j) noexcept nogil:
        return 0.5 * (self.col_lower[j] + self.col_upper[j])

    cdef real half_width(self, int j) noexcept nogil:
        """At least the distance of both ends from the middle, rounded as it is."""
        return 0.5 * (self.col_upper[j] - self.col_lower[j]) + 4 * ROUND * (
            fabs(self.col_lower[j]) + fabs(self.col_upper[j]))

    cdef LpStatus separate_cycles(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Cycles at the root, and whether what they close of its gap is worth rows in all nodes."""
        cdef real start = node.lower, gap = cutoff - start if cutoff < INFINITY else fabs(start)
        cdef LpStatus status = self.separate(node, cutoff, effort, True)
        if node.lower - start > WORTH_OF_CYCLES * gap:
            self.owner.cycles_pay = True
        return status

    cdef void note_cycles(self) noexcept nogil:
        """Cycles that hold the solution of the root's program."""
        cdef int t
        if not self.owner.chosen:
            for t in range(self.owner.n_cycles):
                self.owner.cycle_needed[t] = self.lp.row_dual[self.cycle_row_of[t]] != 0

    # Warm starts: the parent's basis travels in the node, so that a bound depends on nothing else

    cdef void store_basis(self, Node *node) noexcept nogil:
        cdef float *packed = node_warm(node, self.data.n)
        cdef int i, word, size = self.data.n_cols + self.n_base
        packed[0] = 0
        if self.lp.get_basis(&self.basis[0]) != OK:
            return
        # without all of its tangents a basis has not as many members as rows
        if not self.keep_tangents(node):
            return
        for i in range((size + PACKED - 1) // PACKED):
            word = pack(&self.basis[0] + PACKED * i, min(<int> PACKED, size - PACKED * i))
            packed[1 + i] = <float> word
        packed[0] = <float> size

    cdef int restore_basis(self, Node *node) noexcept nogil:
        """The parent's tangents come first after the rows that the basis covers, and are not basic; the others are."""
        cdef const float *packed = node_warm(node, self.data.n)
        cdef int i, size = self.data.n_cols + self.n_base, n_kept = <int> packed[self.owner.kept_from]
        if packed[0] != size:
            return OK
        for i in range((size + PACKED - 1) // PACKED):
            unpack(<int> packed[1 + i], &self.basis[0] + PACKED * i, min(<int> PACKED, size - PACKED * i))
        for i in range(size, self.data.n_cols + self.n_rows):
            self.basis[i] = AT_LOWER if i < size + n_kept else BASIC
        return self.lp.set_basis(&self.basis[0])

    # Tightening by optimality

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
        return self.data.propagate(low, high, cutoff, PROPAGATION_ROUNDS, &self.col_lower[0], &self.col_upper[0])

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
            if self.shrunk(node) > WORTH_A_PROGRAM:
                break
        return 1

    cdef void rank(self) noexcept nogil:
        """Bilinear variables in the order of what their products miss at the solution: work may not do for all."""
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
        for j in range(self.data.n):
            if not self.owner.wanted[j]:
                continue
            at = self.n_ranked
            while at > 0 and self.gradient[self.ranked[at - 1]] < self.gradient[j]:
                self.ranked[at] = self.ranked[at - 1]
                at -= 1
            self.ranked[at] = j
            self.n_ranked += 1
        for j in range(self.data.n):
            self.gradient[j] = 0

    cdef int sweep(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.data.n)
        cdef real bound, width
        cdef int j, r, side, ok = 1
        cdef LpStatus status
        if self.load(node, False, False) != OK:
            return 1
        for j in range(self.data.n_cols):
            self.lp.set_cost(j, 0)
        if cutoff < INFINITY:
            bound = cutoff - self.data.constant
            bound += 4 * ROUND * (fabs(cutoff) + fabs(self.data.constant))
            self.lp.set_row_bounds(self.data.n_rows - 1, -INFINITY, bound)
        for j in range(2 * self.data.n):
            self.seen[j] = 0
        self.lp.set_primal_simplex(self.n_rows < PRIMAL_SIMPLEX_BELOW)
        # Where the cutoff leaves next to nothing HiGHS may cycle
        self.lp.limit_iterations(500 + 2 * self.n_rows)
        for r in range(self.n_ranked):
            j = self.ranked[r]
            for side in range(2):
                width = high[j] - low[j]
                if self.work > MOST_WORK or self.seen[2 * j + side] or width <= NARROW * max(1.0, fabs(low[j])):
                    continue
                self.lp.set_cost(j, 1 if side == 0 else -1)
                status = self.lp.solve(INFINITY)
                effort.n_lps += 1
                self.work += <real> self.lp.n_iterations() * self.n_rows
                self.lp.set_cost(j, 0)
                if status == LP_INFEASIBLE:
                    ok = 0
                elif status == LP_OPTIMAL:
                    if not self.owner.chosen and self.take_violated() > 0:
                        # for this bound, and for those that come
                        self.lp.set_cost(j, 1 if side == 0 else -1)
                        status = self.lp.solve(INFINITY)
                        effort.n_lps += 1
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
                if low[j] > high[j]:
                    ok = 0
                if not ok or self.stop.poll(self.number):
                    break
            if not ok or self.stop.reason != 0:
                break
        self.lp.set_primal_simplex(False)
        self.limit_iterations()
        return ok and self.data.propagate(low, high, cutoff, PROPAGATION_ROUNDS, &self.col_lower[0], &self.col_upper[0])

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
        if self.owner.chosen:
            return
        for t in range(self.data.n_lifted):
            if self.owner.kept[t] and self.lp.row_dual[self.lifted_row_of[t]] != 0:
                self.owner.needed[t] = 1

    cdef void remember(self, Node *node) noexcept nogil:
        memcpy(&self.old_low[0], node_low(node), self.data.n * sizeof(real))
        memcpy(&self.old_high[0], node_high(node, self.data.n), self.data.n * sizeof(real))

    cdef real shrunk(self, Node *node) noexcept nogil:
        """Least share of its width that tightening has left of a bilinear variable's interval."""
        cdef int j
        cdef real least = 1, width, now
        for j in range(self.data.n):
            width = self.old_high[j] - self.old_low[j]
            now = node_high(node, self.data.n)[j] - node_low(node)[j]
            if self.owner.wanted[j] and width > NARROW:
                least = min(least, now / width if isfinite(width) else (0 if isfinite(now) else 1))
        return least

    # The combination of halves with the least bound. Only its order of division is used, so nothing here is a proof.

    cdef void select(self, Node *node, Effort *effort) noexcept nogil:
        """Selects a bound combination by a mixed-integer program; the node is left with none where that fails."""
        cdef const real *low = node_low(node)
        cdef const real *high = node_high(node, self.data.n)
        cdef int j, k, side
        self.n_rows = self.nnz = 0
        for j in range(self.data.n_split):
            if divisible(low[j], high[j]):
                self.halves(j, inside(low[j], high[j], node_point(node, self.data.n)[j]))
            else:
                self.importance[j] = -1
        for k in range(self.data.n_products):
            for side in range(2):
                j = self.data.first[k] if side == 0 else self.data.second[k]
                if j < self.data.n_split and self.importance[j] >= 0:
                    self.product_halves(k, j, inside(low[j], high[j], node_point(node, self.data.n)[j]))
        self.choose(&self.importance[0], node_choice(node, self.data.n, self.owner.n_warm), effort)

    cdef void halves(self, int j, real at) noexcept nogil:
        """l + (at - l) delta <= z_j <= at + (u - at) delta, in the box that the linear program had."""
        cdef int half
        cdef real end
        for half in range(2):
            end = self.lp.col_upper[j] if half == 0 else self.lp.col_lower[j]
            self.begin_row()
            self.term(j, 1, 0)
            self.term(self.data.n_cols + j, at - end if half == 0 else end - at, 0)
            self.end_row(-INFINITY if half == 0 else end, at if half == 0 else INFINITY)

    cdef void product_halves(self, int k, int j, real at) noexcept nogil:
        """(z_j - at) (z_i - b) >= 0 or <= 0 in each half, relaxed to what the rows of the node leave them.

        b: the bound of z_i for which this holds.
        """
        cdef int i = self.data.second[k] if j == self.data.first[k] else self.data.first[k]
        cdef int half, over
        cdef real a = self.lp.col_lower[i], b = self.lp.col_upper[i], end, bound, relax, side
        if not (isfinite(a) and isfinite(b)):
            return
        for half in range(2):
            end = self.lp.col_upper[j] if half == 0 else self.lp.col_lower[j]  # of the other half
            for over in range(2):
                if not (self.data.over[k] if over else self.data.under[k]):
                    continue
                bound = b if half == over else a
                relax = (-1 if over else 1) * fabs(end - at) * (b - a) * PRODUCT_ROUNDING
                side = -at * bound - (relax if half else 0.0)
                self.begin_row()
                self.term(self.data.n + k, 1, 0)
                if i == j:
                    self.term(j, -bound - at, 0)
                else:
                    self.term(j, -bound, 0)
                    self.term(i, -at, 0)
                self.term(self.data.n_cols + j, -relax if half else relax, 0)
                self.end_row(-INFINITY if over else side, side if over else INFINITY)

    # Where to split

    cdef void place(self, Node *node) noexcept nogil:
        """At the solution; the variable whose products are furthest off, weighted with what they cost."""
        cdef real *point = node_point(node, self.data.n)
        cdef const real *low = node_low(node)
        cdef const real *high = node_high(node, self.data.n)
        cdef const real *x = self.lp.x
        cdef int j, k, e, attempt, branch = -1
        cdef real best, off, share
        for j in range(self.data.n):
            if isfinite(x[j]):
                point[j] = min(high[j], max(low[j], x[j]))
        self.weigh()
        for attempt in range(2):
            best = 0
            for j in range(self.data.n_split):
                self.cost[j] = 0
            for k in range(self.data.n_products):
                if not self.data.own[k]:
                    continue
                off = fabs(x[self.data.n + k] - x[self.data.first[k]] * x[self.data.second[k]])
                for e in range(2):
                    j = self.data.first[k] if e == 0 else self.data.second[k]
                    # a square once: splitting takes away what it misses, as of a product
                    if j < self.data.n_split and (e == 0 or self.data.first[k] != j):
                        self.cost[j] += off * (fabs(self.weights[k]) if attempt == 0 else 1)
            for j in range(self.data.n_split):
                share = min(max(self.owner.high[j] - self.owner.low[j], SMALLEST), WIDEST_SHARE)
                share = self.cost[j] * (high[j] - low[j]) / share
                self.importance[j] = share
                if share > best and divisible(low[j], high[j]):
                    best, branch = share, j
            if best > LEAST_MISS:
                break
        if branch >= 0:
            node.branch = branch
        self.place_switch(node)

    cdef void place_switch(self, Node *node) noexcept nogil:
        """Where both sides of a switch are off 0 at the solution it is split, before any variable: by the nearer side.

        Without a solution the first one that is open.
        """
        cdef const real *low = node_low(node)
        cdef const real *high = node_high(node, self.data.n)
        cdef int k
        cdef real best = LEAST_OFF, off
        for k in range(self.data.n_switches):
            node_point(node, self.data.n)[k] = 0
            if low[k] < 0 < high[k]:
                off = min(self.side_off(2 * k), self.side_off(2 * k + 1))
                if off > best:
                    best, node.branch = off, k

    cdef real side_off(self, int side) noexcept nogil:
        """How far a switch's side is from 0 at the solution."""
        cdef int row = self.data.switch_row[side], e
        cdef real total
        if row < 0:
            return fabs(self.lp.x[self.data.switch_variable[side]])
        total = -self.data.switch_value[side]
        for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
            total += self.data.row_value[e] * self.lp.x[self.data.row_index[e]]
        return fabs(total)

    cdef void place_middle(self, Node *node) noexcept nogil:
        """The widest interval, at its middle: what is done where no linear program says better."""
        cdef int j
        cdef const real *low = node_low(node)
        cdef const real *high = node_high(node, self.data.n)
        cdef real widest = 0
        node.branch = -1
        for j in range(self.data.n):
            if j < self.data.n_split and high[j] - low[j] > widest and divisible(low[j], high[j]):
                node.branch, widest = j, high[j] - low[j]
            node_point(node, self.data.n)[j] = min(high[j], max(low[j], node_point(node, self.data.n)[j]))
        for j in range(self.data.n_switches):
            if low[j] < 0 < high[j]:
                # an interval that is not split yet
                node.branch, node_point(node, self.data.n)[j] = j, 0
                break


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
    """

    def __init__(self, BiconvexData data, low=None, high=None, int max_rounds=3, int root_sweeps=3,
                 bint milp=False):
        self.data, self.selects = data, milp
        self.low = np.array(data.low if low is None else low)
        self.high = np.array(data.high if high is None else high)
        self.n_connected, self.n_split = data.n, data.n_split
        self.max_rounds, self.root_sweeps = max_rounds, root_sweeps
        self.known_cycles, self.cycle_start = set(), ints(1)
        own = [(data.first[k], data.second[k]) for k in range(data.n_products) if data.own[k]]
        if cycles.has_any(own):
            self.most_cycles = min(<int> MOST_CYCLES, CYCLES_EACH * <int> len(own))
            self.cycle_start = ints(self.most_cycles + 1)
            self.cycle_product = ints(cycles.LONGEST * self.most_cycles)
            self.cycle_sign = ints(cycles.LONGEST * self.most_cycles)
        self.cycle_needed = ints(self.most_cycles)
        self.kept_from = 2 + (data.n_cols + data.n_rows + 4 * data.n_products + data.n_lifted
                              + (<int> MOST_CUTS if data.n_moments else 0) + self.most_cycles) // PACKED
        self.find_members()
        self.n_warm = self.kept_from + 1 + self.n_kept_floats
        self.cut_moment, self.cut_needed = ints(MOST_CUTS), ints(MOST_CUTS)
        widest = np.diff(np.asarray(data.moment_start)).max() if data.n_moments else 0
        self.cut_vector = np.zeros((MOST_CUTS, 1 + widest))
        self.batch_size, self.parallel_from = 4, 2
        self.kept, self.needed = ints(data.n_lifted) , ints(data.n_lifted)
        self.incumbent = reals(data.n)
        self.wanted = ints(data.n)
        for k in range(data.n_products):
            self.wanted[data.first[k]] = self.wanted[data.second[k]] = 1

    cdef int find_members(self) except -1:
        """Variables of each form, and room for tangents."""
        cdef int b, e, n = <int> self.data.block_column.shape[0], wanted = 0
        members, start = [], [0]
        for b in range(n):
            own = sorted({self.data.block_i[e] for e in range(self.data.block_start[b], self.data.block_start[b + 1])})
            members += own
            start.append(len(members))
            if self.data.presses(b):
                wanted += KEPT_EACH * (1 + len(own))
        self.member = np.array(members + [0], dtype=np.intc)
        self.member_start = np.array(start, dtype=np.intc)
        self.n_kept_floats = min(wanted, MOST_KEPT_FLOATS)
        return 0

    cdef int widest_block(self) noexcept nogil:
        cdef int b, widest = 0
        for b in range(<int> self.data.block_column.shape[0]):
            widest = max(widest, self.member_start[b + 1] - self.member_start[b])
        return widest

    cdef ProgramWorker worker(self, StopSignal stop, int number):
        return BilinearWorker(self, stop, number)

    cdef void root(self, Node *node) noexcept nogil:
        cdef int j
        for j in range(self.data.n):
            node_low(node)[j], node_high(node, self.data.n)[j] = self.low[j], self.high[j]
            node_point(node, self.data.n)[j] = middle(self.low[j], self.high[j])
        node_warm(node, self.data.n)[0] = node_warm(node, self.data.n)[self.kept_from] = 0

    cdef void calibrate(self, const real *solution) noexcept nogil:
        cdef int j
        self.has_incumbent = True
        for j in range(self.data.n):
            self.incumbent[j] = solution[j]
            if not isfinite(solution[j]):
                self.has_incumbent = False

    cdef void merged(self) noexcept nogil:
        """After the root, which is a batch of its own: the lifted rows that it did not need are dropped."""
        cdef int t
        if not self.chosen:
            self.chosen = True
            for t in range(self.data.n_lifted):
                self.kept[t] = self.needed[t]
            self.keep_cuts()
            self.keep_cycles()

    def state(self):
        """The rows and cuts that the root has chosen for all nodes."""
        cdef index n = self.n_cuts, n_entries = self.cycle_start[self.n_cycles]
        product = sign = np.zeros(0, dtype=np.intc)
        if self.n_cycles > 0:
            product, sign = np.array(self.cycle_product[:n_entries]), np.array(self.cycle_sign[:n_entries])
        return {
            "chosen": self.chosen, "kept": np.array(self.kept), "cut_moment": np.array(self.cut_moment[:n]),
            "cut_vector": np.array(self.cut_vector[:n]),
            "cycle_start": np.array(self.cycle_start[:self.n_cycles + 1]), "cycle_product": product, "cycle_sign": sign,
        }

    def restore(self, state):
        """Take what `state` returned."""
        self.chosen, self.n_cuts = bool(state["chosen"]), len(state["cut_moment"])
        np.asarray(self.kept)[:] = state["kept"]
        np.asarray(self.cut_moment)[:self.n_cuts] = state["cut_moment"]
        np.asarray(self.cut_vector)[:self.n_cuts] = state["cut_vector"]
        start, self.n_cycles = state["cycle_start"].tolist(), 0
        if len(start) - 1 > self.most_cycles:
            raise ValueError("cycles of another problem")
        for t in range(len(start) - 1):
            part = slice(start[t], start[t + 1])
            self.add_cycle(state["cycle_product"][part].tolist(), state["cycle_sign"][part].tolist())

    cdef void forget_rows(self) noexcept nogil:
        """No lifted row: the root's programs take those that they violate."""
        cdef int t
        for t in range(self.data.n_lifted):
            self.kept[t] = 0

    cdef void keep_cuts(self) noexcept nogil:
        """Drops the cuts that the root did not need."""
        cdef int t, n = 0
        for t in range(self.n_cuts):
            if self.cut_needed[t]:
                self.cut_moment[n] = self.cut_moment[t]
                memcpy(&self.cut_vector[n, 0], &self.cut_vector[t, 0], self.cut_vector.shape[1] * sizeof(real))
                n += 1
        self.n_cuts = n

    cdef int find_cuts(self, const real *x) except -1:
        """Adds cuts for the eigenvectors of negative eigenvalues of the moment matrices at x (n_cols,)."""
        columns = np.array(<real[:self.data.n_cols]> <real *> x)
        for g in range(self.data.n_moments):
            matrix = self.data.moment_matrix_at(g, columns)
            if not np.isfinite(matrix).all():
                continue
            eigenvalues, vectors = np.linalg.eigh(matrix)
            for e in range(min(len(matrix), CUTS_A_ROUND)):
                if self.n_cuts == MOST_CUTS or eigenvalues[e] > -LEAST_EIGENVALUE:
                    break
                v = np.round(vectors[:, e] * CUT_GRID) / CUT_GRID
                if v @ matrix @ v < -0.5 * LEAST_EIGENVALUE:
                    self.cut_moment[self.n_cuts], self.cut_needed[self.n_cuts] = g, 1
                    np.asarray(self.cut_vector)[self.n_cuts, : len(v)] = v
                    self.n_cuts += 1
        return 0

    cdef int find_cycles(self, const real *x, const real *low, const real *high) except -1:
        """Adds cycles that the solution x (n_cols,) of a program over a box violates."""
        cdef int n = self.data.n, P = self.data.n_products
        columns = np.array(<real[:self.data.n_cols]> <real *> x)
        box = np.array(<real[:n]> <real *> low), np.array(<real[:n]> <real *> high)
        if np.isfinite(columns[:n]).all():
            # products that are there for other rows alone have not all of McCormick's, and take any value
            w = np.where(np.asarray(self.data.own)[:P] != 0, columns[n : n + P], np.nan)
            for products, signs in cycles.violated(
                    np.asarray(self.data.first)[:P], np.asarray(self.data.second)[:P], *box, columns[:n], w,
                    self.known_cycles):
                if self.n_cycles == self.most_cycles:
                    break
                self.add_cycle(products, signs)
        return 0

    cdef int add_cycle(self, products, signs) except -1:
        cdef int at = self.cycle_start[self.n_cycles]
        for product, sign in zip(products, signs):
            self.cycle_product[at], self.cycle_sign[at] = product, sign
            at += 1
        self.cycle_needed[self.n_cycles] = 1
        self.n_cycles += 1
        self.cycle_start[self.n_cycles] = at
        return 0

    cdef void keep_cycles(self) noexcept nogil:
        """Drops the cycles that the root did not need, and all where they hardly raised its bound."""
        cdef int t, e, at = 0, n = 0
        for t in range(self.n_cycles):
            if self.cycles_pay and self.cycle_needed[t]:
                for e in range(self.cycle_start[t], self.cycle_start[t + 1]):
                    self.cycle_product[at], self.cycle_sign[at] = self.cycle_product[e], self.cycle_sign[e]
                    at += 1
                n += 1
                # behind what is read next: cycles move forward only
                self.cycle_needed[n - 1] = at
        for t in range(n):
            self.cycle_start[t + 1] = self.cycle_needed[t]
        self.n_cycles = n

    def cycle_row(self, products, signs, low, high):
        """Coefficients of the columns (n_cols,) and least value of the inequality of a cycle in a box, for tests."""
        cdef BilinearWorker worker
        cdef real[::1] a = np.array(low, dtype=np.float64), b = np.array(high, dtype=np.float64)
        cdef int k
        other = BilinearRelaxation(self.data)
        worker = BilinearWorker(other, StopSignal(), 0)
        other.add_cycle(products, signs)
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
        cdef int n = self.data.n, sweeps = self.root_sweeps
        if node == NULL:
            raise MemoryError
        try:
            self.root_sweeps = root_sweeps
            self.bound_alone(tree, node, low, high, cutoff, stop, &effort)
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


cdef int pack(const int *statuses, int n) noexcept nogil:
    cdef int i, word = 0
    for i in range(n):
        word |= (statuses[i] & 7) << (3 * i)
    return word


cdef void unpack(int word, int *statuses, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        statuses[i] = (word >> (3 * i)) & 7


cdef object reals(index n):
    return np.zeros(max(n, 1))


cdef object ints(index n):
    return np.zeros(max(n, 1), dtype=np.intc)
