"""The rows of the linear program of a biconvex node, see `bilinear`, and the basis that children begin with.

A row is loosened by the rounding error of its coefficients: what is proved about the program holds for the node.

Theory: (X1), (X2) of docs/theory/biconvex.md; (XF1) of docs/theory/functions.md.
"""

import numpy as np

from gopfast.biconvex import cycles

from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memcpy

from gopfast.biconvex.atoms cimport is_convex, secant_over, tangent_at as tangent_of_atom
from gopfast.biconvex.margins cimport SUM_ROUNDING
from gopfast.biconvex.tuning cimport (
    LP_TOLERANCE, MOST_CUTS, NARROWEST_OF_CYCLES, N_TANGENTS, TANGENTS_EACH, WIDEST_OF_CYCLES,
)
from gopfast.lp.program cimport ProgramWorker
from gopfast.search.rounding cimport ROUND
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, node_point, node_warm
from gopfast.search.types cimport LP_FAILED, OK, real
from gopfast.biconvex.learnt_rows cimport ints, reals
from gopfast.biconvex.tangents cimport PACKED

cdef enum:
    AT_LOWER = 0                    # HiGHS's statuses
    BASIC = 1
    LAST_STATUS = 4


cdef class BilinearRows(ProgramWorker):
    """The rows of one thread's program."""

    cdef int reserve(self, StopSignal stop, int number, bint selects) except -1:
        cdef BiconvexData data = self.data
        cdef int P = data.n_products, widest = max(self.touching.widest(), 1), g, k
        cdef int n_touched = data.n_blocks + data.n_atoms
        cdef int max_rows = data.n_rows + 4 * P + data.n_atoms + data.n_lifted
        cdef int max_nnz = (data.row_start[data.n_rows] + 12 * P + 2 * data.n_atoms
                            + 2 * data.lift_start[data.n_lifted] + data.n_lifted)
        # those at ends of intervals, at the incumbent and the parent's solution; the parent's; and new ones
        self.most_new = N_TANGENTS + TANGENTS_EACH * n_touched
        self.most_tangents = 4 * n_touched + self.touching.n_kept_floats // 2 + self.most_new
        max_rows += self.most_tangents
        max_nnz += self.most_tangents * (widest + 1)
        self.offset = data.constant
        if data.n_moments > 0:
            max_rows += MOST_CUTS
            k = max(data.moment_start[g + 1] - data.moment_start[g] for g in range(data.n_moments))
            max_nnz += MOST_CUTS * (k + 1) * (k + 2) // 2
            self.cut_row_of = ints(MOST_CUTS)
        max_rows += self.learnt.most_cycles
        max_nnz += 2 * cycles.LONGEST * self.learnt.most_cycles
        self.cycle_row_of = ints(self.learnt.most_cycles)
        self.lifted_row_of = ints(data.n_lifted)
        if selects:
            max_rows, max_nnz = max(max_rows, 2 * data.n_split + 8 * P), max(max_nnz, 4 * data.n_split + 32 * P)
        self.begin(stop, number, max_rows, max_nnz, data.n_cols, data.n_split if selects else -1)
        self.col_lower, self.col_upper = reals(data.n_cols), reals(data.n_cols)
        self.gradient = reals(data.n)
        self.tangent_row_of, self.tangent_block = ints(self.most_tangents), ints(self.most_tangents)
        self.tangents = np.zeros((max(self.most_tangents, 1), widest), dtype=np.float32)
        self.at = reals(data.n)
        self.basis, self.part_basis = ints(data.n_cols + self.max_rows), ints(data.n_cols + self.max_rows)
        self.part_start, self.part_index, self.part_value = ints(self.max_rows), ints(max_nnz), reals(max_nnz)
        self.part_lower, self.part_upper = reals(self.max_rows), reals(self.max_rows)
        return 0

    cdef int configure(self) noexcept nogil:
        return LP_FAILED if self.lp.set_tolerance(LP_TOLERANCE) != OK else self.limit_iterations()

    cdef int limit_iterations(self) noexcept nogil:
        return self.lp.limit_iterations_by(self.data.n_cols + self.max_rows)

    # The linear program of a node

    cdef int load(self, Node *node, bint warm, bint with_cuts) noexcept nogil:
        self.write_rows(node, with_cuts)
        if self.load_rows(self.data.n_cols, &self.data.cost[0], &self.col_lower[0], &self.col_upper[0]) != OK:
            return LP_FAILED
        return self.lp.set_basis(&self.basis[0]) if warm and self.read_basis(node) else OK

    cdef int load_part(self, Node *node) noexcept nogil:
        """The problem's rows, tangents, and of the others those that are not basic in the node's basis.

        Less rows are a relaxation. LP_FAILED where the node has no basis.
        """
        cdef int row, size, nnz = 0, n = 0
        self.write_rows(node, True)
        if not self.read_basis(node):
            return LP_FAILED
        self.start[self.n_rows] = self.nnz
        memcpy(&self.part_basis[0], &self.basis[0], self.data.n_cols * sizeof(int))
        for row in range(self.n_rows):
            if self.data.n_rows <= row < self.n_base and self.basis[self.data.n_cols + row] == BASIC:
                continue
            size = self.start[row + 1] - self.start[row]
            self.part_start[n], self.part_lower[n], self.part_upper[n] = nnz, self.row_lower[row], self.row_upper[row]
            memcpy(&self.part_index[nnz], &self.col_index[self.start[row]], size * sizeof(int))
            memcpy(&self.part_value[nnz], &self.value[self.start[row]], size * sizeof(real))
            self.part_basis[self.data.n_cols + n] = self.basis[self.data.n_cols + row]
            n, nnz = n + 1, nnz + size
        if self.lp.load(
                self.data.n_cols, n, &self.data.cost[0], &self.col_lower[0], &self.col_upper[0], &self.part_lower[0],
                &self.part_upper[0], nnz, &self.part_start[0], &self.part_index[0], &self.part_value[0]) != OK:
            return LP_FAILED
        return self.lp.set_basis(&self.part_basis[0])

    cdef void write_rows(self, Node *node, bint with_cuts) noexcept nogil:
        cdef int t
        self.n_rows = self.nnz = self.n_tangents = self.n_new = 0
        self.fixed_rows()
        self.product_rows()
        self.secant_rows()
        self.lifted_rows()
        if with_cuts:
            for t in range(self.learnt.n_cuts):
                self.cut_row(t)
        for t in range(self.learnt.n_cycles):
            self.cycle_row(t)
        self.n_base, self.base_nnz = self.n_rows, self.nnz
        self.kept_rows(node)
        self.tangent_rows(node)

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

    cdef void secant_rows(self) noexcept nogil:
        """Of every atom, over the node's interval of its argument: above where it is convex, below where concave."""
        cdef int t, i
        cdef real slope, constant, error, scale, per
        for t in range(self.data.n_atoms):
            i, scale = self.data.atom_argument[t], self.data.atom_argument_scale[t]
            self.begin_row()
            if secant_over(self.data.atom_function[t], self.data.atom_exponent[t], scale * self.col_lower[i],
                           scale * self.col_upper[i], &slope, &constant, &error):
                per = 1 / self.data.atom_value_scale[t]
                self.term(self.data.n_cols - self.data.n_atoms + t, 1, 0)
                self.term(i, -slope * (scale * per), 0)
                self.slack += error * per
                constant *= per
                if is_convex(self.data.atom_function[t], self.data.atom_exponent[t]):
                    self.end_row(-INFINITY, constant)
                else:
                    self.end_row(constant, INFINITY)
            else:
                self.end_row(-INFINITY, INFINITY)

    cdef void atom_row(self, int atom, real at) noexcept nogil:
        """A tangent of an atom: below where it is convex, above where concave. Its place is kept where there is none.
        """
        cdef int i = self.data.atom_argument[atom]
        cdef real slope, constant, slope_error, error, scale = self.data.atom_argument_scale[atom]
        cdef real per = 1 / self.data.atom_value_scale[atom]
        self.begin_row()
        if not tangent_of_atom(self.data.atom_function[atom], self.data.atom_exponent[atom], scale * at, &slope,
                               &constant, &slope_error, &error):
            self.end_row(-INFINITY, INFINITY)
            return
        self.term(self.data.n_cols - self.data.n_atoms + atom, 1, 0)
        self.term(i, -slope * (scale * per), 0)
        self.slack += per * error
        if slope_error > 0:
            self.slack += per * slope_error * scale * max(fabs(self.col_lower[i]), fabs(self.col_upper[i]))
        constant *= per
        if is_convex(self.data.atom_function[atom], self.data.atom_exponent[atom]):
            self.end_row(constant, INFINITY)
        else:
            self.end_row(-INFINITY, constant)

    cdef void lifted_rows(self) noexcept nogil:
        cdef int t
        for t in range(self.data.n_lifted):
            if self.learnt.kept[t]:
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

    cdef void cut_row(self, int t) noexcept nogil:
        """(v0 + v'z)^2 >= 0 with w for the products; its coefficients are exact."""
        cdef int g = self.learnt.cut_moment[t], first = self.data.moment_start[g], p, q
        cdef int k = self.data.moment_start[g + 1] - first
        cdef const real *v = &self.learnt.cut_vector[t, 0]
        self.cut_row_of[t] = self.n_rows
        self.begin_row()
        for p in range(k):
            self.term(self.data.moment_variable[first + p], 2 * v[0] * v[1 + p], 0)
            for q in range(p, k):
                self.term(self.data.n + self.data.moment_product[self.data.moment_matrix[g] + p * k + q],
                          (1 if p == q else 2) * v[1 + p] * v[1 + q], 0)
        self.end_row(-v[0] * v[0], INFINITY)

    cdef void tangent_rows(self, Node *node) noexcept nogil:
        """Tangents of forms and atoms at the incumbent and the parent's solution, of squares and atoms at ends."""
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
            if self.touching.has_incumbent:
                self.tangent(b, &self.touching.incumbent[0])
        for b in range(self.data.n_blocks, self.data.n_blocks + self.data.n_atoms):
            i = self.data.atom_argument[b - self.data.n_blocks]
            self.tangent_at(b, i, self.col_lower[i])
            self.tangent_at(b, i, self.col_upper[i])
            self.tangent_at(b, i, node_point(node, self.data.n)[i])
            if self.touching.has_incumbent:
                self.tangent(b, &self.touching.incumbent[0])

    cdef void tangent_at(self, int block, int variable, real value) noexcept nogil:
        """Of a square or an atom, where its variable has a value."""
        if isfinite(value):
            self.at[variable] = value
            self.tangent(block, &self.at[0])

    cdef void tangent(self, int block, const real *at) noexcept nogil:
        """Adds a tangent, and notes where it touches: in single precision, as any point will do."""
        cdef int k, t = self.n_tangents, first = self.touching.member_start[block]
        if t == self.most_tangents:
            return
        self.tangent_row_of[t], self.tangent_block[t] = self.n_rows, block
        for k in range(first, self.touching.member_start[block + 1]):
            self.tangents[t, k - first] = <float> at[self.touching.member[k]]
        if block >= self.data.n_blocks:
            self.atom_row(block - self.data.n_blocks, at[self.touching.member[first]])
        elif self.data.is_square(block):
            self.square_row(block, at[self.touching.member[first]])
        else:
            self.tangent_row(block, at)
        self.n_tangents += 1

    cdef void kept_rows(self, Node *node) noexcept nogil:
        """The tangents that held the parent's solution: `n_kept`."""
        cdef const float *kept = node_warm(node, self.data.n) + self.touching.kept_from
        cdef int k, block, at = 1, n_blocks = <int> self.touching.member_start.shape[0] - 1
        while self.n_tangents < kept[0]:
            # a node that was read from a file may hold anything
            if at > self.touching.n_kept_floats or not (kept[at] >= 0 and kept[at] < n_blocks):
                break
            block = <int> kept[at]
            at += 1
            if at + self.touching.member_start[block + 1] - self.touching.member_start[block] > (
                    1 + self.touching.n_kept_floats):
                break
            for k in range(self.touching.member_start[block], self.touching.member_start[block + 1]):
                self.at[self.touching.member[k]] = kept[at]
                at += 1
            self.tangent(block, &self.at[0])
        self.n_kept = self.n_tangents

    cdef bint keep_tangents(self, Node *node) noexcept nogil:
        """Notes those that hold the last solution, which are not basic; whether there was room for all."""
        cdef float *kept = node_warm(node, self.data.n) + self.touching.kept_from
        cdef int t, k, block, size, at = 1, n = 0
        for t in range(self.n_tangents):
            block = self.tangent_block[t]
            size = self.touching.member_start[block + 1] - self.touching.member_start[block]
            if self.basis[self.data.n_cols + self.tangent_row_of[t]] == BASIC:
                continue
            if at + 1 + size > 1 + self.touching.n_kept_floats:
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

    # Cycles of products

    cdef void cycle_row(self, int t) noexcept nogil:
        """The inequality of a cycle, see `cycles`, in the node's box; none where that is too narrow."""
        cdef int e, f, v, j
        cdef real a, size, total = 0, magnitude = 0, middles
        cdef int first = self.learnt.cycle_start[t], end = self.learnt.cycle_start[t + 1]
        self.cycle_row_of[t] = self.n_rows
        self.begin_row()
        if not self.cycle_terms(t, &size):
            self.end_row(-INFINITY, INFINITY)
            return
        # size times: sum of +-(z_i - m_i)(z_j - m_j) / (h_i h_j) >= 2 - length, for middles m and half-widths h. What
        # is true of these m and h as they are holds with factors rounded, but for their relative error each.
        for e in range(first, end):
            f = self.learnt.cycle_product[e]
            a = self.half_width(self.data.first[f]) * self.half_width(self.data.second[f])
            a = self.learnt.cycle_sign[e] * size / a
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
                j = self.data.first[self.learnt.cycle_product[e]] if v == 0 else (
                    self.data.second[self.learnt.cycle_product[e]])
                if self.gradient[j] != 0:
                    self.term(j, self.gradient[j], 0)
                    self.gradient[j] = 0
        self.slack += 8 * ROUND * size * (end - first) + (end - first + 4) * ROUND * magnitude
        self.end_row(size * (2 - (end - first)) - total, INFINITY)

    cdef bint cycle_terms(self, int t, real *size) noexcept nogil:
        """OUT size: the least product of two half-widths of a cycle; whether its intervals make a row."""
        cdef int e, f, v, j
        cdef real least = INFINITY, most = 0, area
        for e in range(self.learnt.cycle_start[t], self.learnt.cycle_start[t + 1]):
            f = self.learnt.cycle_product[e]
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

    cdef bint read_basis(self, Node *node) noexcept nogil:
        """OUT basis: the parent's; whether there is one.

        Its tangents come first after the rows that the basis covers, and are not basic; the others are. A node
        that was read from a file may hold anything: what is no basis is passed over.
        """
        cdef const float *packed = node_warm(node, self.data.n)
        cdef int i, size = self.data.n_cols + self.n_base
        if packed[0] != size or packed[self.touching.kept_from] != self.n_kept:
            return False
        for i in range((size + PACKED - 1) // PACKED):
            if not (packed[1 + i] >= 0 and packed[1 + i] < 1 << (3 * PACKED)):
                return False
            unpack(<int> packed[1 + i], &self.basis[0] + PACKED * i, min(<int> PACKED, size - PACKED * i))
        for i in range(size):
            if self.basis[i] > LAST_STATUS:
                return False
        for i in range(size, self.data.n_cols + self.n_rows):
            self.basis[i] = AT_LOWER if i < size + self.n_kept else BASIC
        return True

    # Bounds

    cdef void raise_bound(self, Node *node, real proved, real cutoff) noexcept nogil:
        """Beyond the cutoff nothing is known: tightening has removed points from there."""
        node.lower = max(node.lower, min(proved, cutoff))

    cdef real proved(self) noexcept nogil:
        cdef real bound = self.lp.safe_bound(), total = bound + self.data.constant
        return total - 4 * ROUND * (fabs(bound) + fabs(self.data.constant))


cdef int pack(const int *statuses, int n) noexcept nogil:
    cdef int i, word = 0
    for i in range(n):
        word |= (statuses[i] & 7) << (3 * i)
    return word


cdef void unpack(int word, int *statuses, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        statuses[i] = (word >> (3 * i)) & 7
