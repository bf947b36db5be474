"""Where a node of a biconvex problem is divided, see `bilinear`. Nothing here is a proof."""

from libc.math cimport INFINITY, fabs, isfinite

from gopfast.biconvex.margins cimport PRODUCT_ROUNDING
from gopfast.biconvex.tuning cimport (
    LEAST_MISS, LEAST_OFF, SHARE_OF_VIOLATED, SMALLEST_DIVISOR as SMALLEST, WIDEST_SHARE,
)
from gopfast.search.relaxation cimport Effort
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, divisible, inside, node_choice, node_high, node_low, node_point
from gopfast.search.types cimport real
from gopfast.biconvex.bilinear_tightening cimport BilinearTightening
from gopfast.biconvex.learnt_rows cimport ints, reals


cdef class BilinearBranching(BilinearTightening):
    """A variable and a point, or one combination of halves of all intervals."""

    cdef int reserve(self, StopSignal stop, int number, bint selects) except -1:
        BilinearTightening.reserve(self, stop, number, selects)
        cdef int row, e
        self.importance, self.cost = reals(self.data.n_split), reals(self.data.n_cols)
        self.has_products = ints(self.data.n_own_rows)
        for row in range(self.data.n_own_rows):
            for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
                if 0 <= self.data.row_index[e] - self.data.n < self.data.n_products:
                    self.has_products[row] = 1
        return 0

    cdef void choose_split(self, Node *node) noexcept nogil:
        """At the solution; the variable whose products and atoms are furthest off, weighted with what they cost."""
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
        self.weigh_violated()
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
            for k in range(self.data.n_atoms):
                j, e = self.data.atom_argument[k], self.data.n_cols - self.data.n_atoms + k
                if j < self.data.n_split:
                    off = fabs(x[e] - self.data.atom_at(k, x))
                    self.cost[j] += off * (fabs(self.weights[e - self.data.n]) if attempt == 0 else 1)
            for j in range(self.data.n_split):
                share = min(max(self.root_high[j] - self.root_low[j], SMALLEST), WIDEST_SHARE)
                share = self.cost[j] * (high[j] - low[j]) / share
                self.importance[j] = share
                if share > best and divisible(low[j], high[j]):
                    best, branch = share, j
            if best > LEAST_MISS:
                break
        if branch >= 0:
            node.branch = branch
        self.place_switch(node)

    cdef void weigh_violated(self) noexcept nogil:
        """Products without a weight get one where the solution's variables violate their row, as of a small multiplier.

        The row has none since others hold the solution for now. By those alone a tree divides what can raise its bound
        a little, over and over, before it comes to what must be divided in any case.
        """
        cdef const real *x = self.lp.x
        cdef int row, e, k, n = self.data.n
        cdef real most = 0, value
        for row in range(self.data.n_own_rows):
            if self.has_products[row]:
                most = max(most, fabs(self.lp.row_dual[row]))
        for row in range(self.data.n_own_rows):
            if not (most > 0 and self.has_products[row]):
                continue
            value = self.data.row_activity(row, x, NULL)
            if self.data.row_lower[row] - LEAST_MISS <= value <= self.data.row_upper[row] + LEAST_MISS:
                continue
            for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
                k = self.data.row_index[e] - n
                if 0 <= k < self.data.n_products and self.weights[k] == 0:
                    self.weights[k] = SHARE_OF_VIOLATED * most * fabs(self.data.row_value[e])

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

    # The combination of halves with the least bound; only its order of division is used

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
        self.choose(&self.importance[0], node_choice(node, self.data.n, self.n_warm), effort)

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
