"""A biconvex problem as the core holds it, and bounds of its variables from its rows.

    min constant + cost'(z, w, q)   s.t.  row_lower <= A (z, w, q) <= row_upper,  low <= z <= high,
                                          w_k = z_i z_j,  q_b >= z'Q_b z convex,  f_t = f(z_u)

Variables to branch on come first. Whatever is derived here from a box holds for every point of it: results of
rounded arithmetic are moved outward by a bound on the rounding error.

Theory: (X7) of docs/theory/biconvex.md; (XF1) of docs/theory/functions.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, fma, isfinite, isinf, sqrt

from gopfast.biconvex.atoms cimport arguments_of, range_over, slope_at, value_at
from gopfast.biconvex.margins cimport FUNCTION_ROUNDING, IMPRECISE as BLUR, TINY, UNDERFLOW
from gopfast.biconvex.tuning cimport BOX_ROUNDS, HALF_LINE_CHANGE, LARGEST_BOUND, LEAST_CHANGE, WORTH_A_ROUND
from gopfast.search.types cimport real
from gopfast.search.rounding cimport ROUND


cdef inline real product(real a, real b) noexcept nogil:
    """a b, where 0 times an infinite bound is 0."""
    return 0 if a == 0 or b == 0 else a * b


cdef void add_term(real a, real x, real y, real *high, real *low, real *size) noexcept nogil:
    """high + low += a x y, and size += its magnitude, but for an error of second order."""
    # fma also for products themselves: a compiler may fuse a plain one into a sum
    cdef real p = fma(a, x, 0.0), q = fma(p, y, 0.0)
    cdef real rest = fma(p, y, -q) + fma(a, x, -p) * y
    cdef real total = high[0] + q, part = total - high[0]
    low[0] += ((high[0] - (total - part)) + (q - part)) + rest
    high[0] = total
    size[0] += fabs(q)


cdef inline bint lost(real a, real b, real p) noexcept nogil:
    """Whether the product p of a and b has an error that its size does not bound: it may have underflowed."""
    return a != 0 and b != 0 and fabs(p) < UNDERFLOW


cdef inline real below(real x) noexcept nogil:
    """x, the result of one rounded operation, moved down by four times its rounding error."""
    return x - 2 * ROUND * fabs(x)


cdef inline real above(real x) noexcept nogil:
    """The same upwards."""
    return x + 2 * ROUND * fabs(x)


cdef void product_bounds(real a, real b, real c, real d, real *low, real *high) noexcept nogil:
    """[a, b] times [c, d], rounded outward."""
    cdef real p = product(a, c), q = product(a, d), r = product(b, c), s = product(b, d)
    low[0] = below(min(min(p, q), min(r, s)))
    high[0] = above(max(max(p, q), max(r, s)))
    if lost(a, c, p) or lost(a, d, q) or lost(b, c, r) or lost(b, d, s):
        low[0] -= UNDERFLOW
        high[0] += UNDERFLOW


cdef class BiconvexData:
    """Made by `gopfast.biconvex.lifting`; see the module's head. Never changes, but for its box `low`, `high`.

    Parameters
    ----------
    record : dict of arrays
        One for each attribute of the same name.
    """

    def __init__(self, dict record):
        self.low, self.high = reals(record["low"]), reals(record["high"])
        self.n = <int> self.low.shape[0]
        self.n_own_rows = record["n_own_rows"]
        self.n_split = record["n_split"]
        self.constant = record["constant"]
        self.first, self.second = ints(record["first"]), ints(record["second"])
        self.under, self.over = ints(record["under"]), ints(record["over"])
        self.own = ints(record["own"])
        self.n_products = <int> self.first.shape[0]
        self.cost = reals(record["cost"])
        self.n_cols = <int> self.cost.shape[0]
        self.n_blocks = <int> len(record["block_column"])
        self.atom_function, self.atom_argument = ints(record["atom_function"]), ints(record["atom_argument"])
        self.atom_exponent = reals(record["atom_exponent"])
        self.atom_argument_scale = reals(record["atom_argument_scale"])
        self.atom_value_scale = reals(record["atom_value_scale"])
        self.n_atoms = <int> self.atom_function.shape[0]
        self.n_forms = self.n_cols - self.n - self.n_products - self.n_atoms
        self.row_start, self.row_index = ints(record["row_start"]), ints(record["row_index"])
        self.row_value = reals(record["row_value"])
        self.row_lower, self.row_upper = reals(record["row_lower"]), reals(record["row_upper"])
        self.row_floor, self.fixed = reals(record["row_floor"]), ints(record["fixed"])
        self.most_below, self.most_above = reals(record["most_below"]), reals(record["most_above"])
        self.n_rows = <int> self.row_lower.shape[0]
        self.block_column, self.block_start = ints(record["block_column"]), ints(record["block_start"])
        self.block_i, self.block_j = ints(record["block_i"]), ints(record["block_j"])
        self.block_value, self.block_defect = reals(record["block_value"]), reals(record["block_defect"])
        self.lift_start, self.lift_variable = ints(record["lift_start"]), ints(record["lift_variable"])
        self.lift_product, self.lift_factor = ints(record["lift_product"]), ints(record["lift_factor"])
        self.lift_side = ints(record["lift_side"])
        self.lift_value, self.lift_constant = reals(record["lift_value"]), reals(record["lift_constant"])
        self.n_lifted = <int> self.lift_factor.shape[0]
        self.switch_variable, self.switch_row = ints(record["switch_variable"]), ints(record["switch_row"])
        self.switch_value = reals(record["switch_value"])
        self.n_switches = <int> (self.switch_variable.shape[0] // 2)
        self.moment_start, self.moment_variable = ints(record["moment_start"]), ints(record["moment_variable"])
        self.moment_matrix, self.moment_product = ints(record["moment_matrix"]), ints(record["moment_product"])
        self.n_moments = <int> self.moment_start.shape[0] - 1

    # Values at a point z (n,) of the variables, in the core's units

    cdef real objective(self, const real *z) noexcept nogil:
        """The objective, its constant included."""
        return self.constant + self.row_activity(self.n_rows - 1, z, NULL)

    cdef real objective_error(self, const real *z) noexcept nogil:
        """At most this is the rounding error of objective(), in its unit."""
        cdef real size
        self.row_activity(self.n_rows - 1, z, &size)
        return (self.row_start[self.n_rows] - self.row_start[self.n_rows - 1] + 8) * ROUND * (
            size + fabs(self.constant))

    cdef real row_activity(self, int row, const real *z, real *size) noexcept nogil:
        """Value of a row at z, products and forms taken at z. OUT size (or NULL): sum of the terms' magnitudes."""
        cdef real total = 0, magnitude = 0, term
        cdef int k, column, p
        for k in range(self.row_start[row], self.row_start[row + 1]):
            column = self.row_index[k]
            if column < self.n:
                term = self.row_value[k] * z[column]
            elif column < self.n + self.n_products:
                p = column - self.n
                term = self.row_value[k] * z[self.first[p]] * z[self.second[p]]
            elif self.atom_of(column) >= 0:
                term = self.row_value[k] * self.atom_at(self.atom_of(column), z)
            else:
                term = self.row_value[k] * self.block_at(self.own_block(column), z)
                magnitude += self.block_size(self.own_block(column), z) * fabs(self.row_value[k])
            total += term
            magnitude += fabs(term)
        if size != NULL:
            size[0] = magnitude
        return total

    cdef inline int own_block(self, int column) noexcept nogil:
        """The block whose column this is; blocks of squares come last and share a product's column."""
        return column - self.n - self.n_products

    cdef inline int atom_of(self, int column) noexcept nogil:
        """The atom whose column this is, the last ones; negative where it is none's."""
        return column - self.n - self.n_products - self.n_forms

    cdef real greatest_term(self, int row, const real *z) noexcept nogil:
        """Largest magnitude of a row's terms; of a form, of its entries' terms."""
        cdef real greatest = 0, entry
        cdef int k, e, column, p, b
        for k in range(self.row_start[row], self.row_start[row + 1]):
            column = self.row_index[k]
            if column < self.n:
                greatest = max(greatest, fabs(self.row_value[k] * z[column]))
            elif column < self.n + self.n_products:
                p = column - self.n
                greatest = max(greatest, fabs(self.row_value[k] * z[self.first[p]] * z[self.second[p]]))
            elif self.atom_of(column) >= 0:
                greatest = max(greatest, fabs(self.row_value[k] * self.atom_at(self.atom_of(column), z)))
            else:
                b = self.own_block(column)
                for e in range(self.block_start[b], self.block_start[b + 1]):
                    entry = self.block_value[e] * z[self.block_i[e]] * z[self.block_j[e]]
                    greatest = max(greatest, fabs(self.row_value[k] * entry))
        return greatest

    cdef real row_size(self, int row, const real *z) noexcept nogil:
        """What a violation of one of the problem's own rows is relative to: as `BiconvexProblem.violations`.

        Of a row with two bounds the smaller: they are equal, or one of them is far.
        """
        cdef real most = INFINITY
        if self.row_lower[row] > -INFINITY:
            most = self.most_below[row]
        if self.row_upper[row] < INFINITY:
            most = min(most, self.most_above[row])
        return min(max(self.row_floor[row], self.greatest_term(row, z)), most)

    cdef real row_excess(self, int row, const real *z) noexcept nogil:
        """By how much a row is violated, at least 0; where rounding would show, at most."""
        cdef real size, error = 0, activity = self.row_activity(row, z, &size)
        cdef real rounding = (self.row_start[row + 1] - self.row_start[row] + 8) * ROUND * size
        if not rounding <= BLUR * min(self.most_below[row], self.most_above[row]):
            activity = self.precise_activity(row, z, &error)
            if not (isfinite(activity) and isfinite(error)):
                return INFINITY
        return max(0.0, max(self.row_lower[row] - activity, activity - self.row_upper[row]) + error)

    cdef real precise_activity(self, int row, const real *z, real *error) noexcept nogil:
        """row_activity() of a point far out, in twice the precision. OUT error: what it can be off."""
        cdef real high = 0, low = 0, size = 0, off = 0, value
        cdef int k, e, column, p, b, n_terms = 0
        for k in range(self.row_start[row], self.row_start[row + 1]):
            column = self.row_index[k]
            if column < self.n:
                add_term(self.row_value[k], z[column], 1, &high, &low, &size)
                n_terms += 1
            elif column < self.n + self.n_products:
                p = column - self.n
                add_term(self.row_value[k], z[self.first[p]], z[self.second[p]], &high, &low, &size)
                n_terms += 1
            elif self.atom_of(column) >= 0:
                value = self.atom_at(self.atom_of(column), z)
                add_term(self.row_value[k], value, 1, &high, &low, &size)
                off += FUNCTION_ROUNDING * fabs(self.row_value[k] * value)
                n_terms += 1
            else:
                b = self.own_block(column)
                for e in range(self.block_start[b], self.block_start[b + 1]):
                    # a row's coefficient of a form is a power of two
                    add_term(self.row_value[k] * self.block_value[e], z[self.block_i[e]], z[self.block_j[e]], &high,
                             &low, &size)
                    n_terms += 1
        # of the low parts and their sum, and where a high part was rounded to the result
        error[0] = (n_terms + 8) * (n_terms + 8) * ROUND * ROUND * 4 * size + 2 * ROUND * fabs(high + low) + off
        return high + low

    cdef real violation(self, const real *z) noexcept nogil:
        """Greatest violation of a row, relative as in `BiconvexProblem.violations`; bounds must hold as they are.

        Rows and sizes are those of the user times one power of two, so that the ratio is the user's.
        """
        cdef real worst = 0, excess
        cdef int row, j
        for j in range(self.n):
            if not self.low[j] <= z[j] <= self.high[j]:
                return INFINITY
        for row in range(self.n_own_rows):
            excess = self.row_excess(row, z)
            if not excess <= 0:
                worst = max(worst, excess / self.row_size(row, z))
            if excess != excess:
                return INFINITY
        return worst

    cdef real excess_of_terms(self, const real *z) noexcept nogil:
        """Greatest violation of a row relative to its terms at the point, however large: what is rounding of these."""
        cdef real worst = 0
        cdef int row
        for row in range(self.n_own_rows):
            worst = max(worst, self.row_excess(row, z) / max(self.row_floor[row], self.greatest_term(row, z)))
        return worst

    cdef void clip(self, real *z) noexcept nogil:
        """Moves a point into the bounds."""
        cdef int j
        for j in range(self.n):
            z[j] = min(self.high[j], max(self.low[j], z[j]))

    cdef real add_gradient(self, int row, const real *z, real *gradient) noexcept nogil:
        """Adds the gradient of a row to gradient (n,); returns the row's value."""
        cdef int k, e, column, p, b
        cdef real a
        for k in range(self.row_start[row], self.row_start[row + 1]):
            column, a = self.row_index[k], self.row_value[k]
            if column < self.n:
                gradient[column] += a
            elif column < self.n + self.n_products:
                p = column - self.n
                gradient[self.first[p]] += a * z[self.second[p]]
                gradient[self.second[p]] += a * z[self.first[p]]
            elif self.atom_of(column) >= 0:
                gradient[self.atom_argument[self.atom_of(column)]] += a * self.atom_slope(self.atom_of(column), z)
            else:
                b = self.own_block(column)
                for e in range(self.block_start[b], self.block_start[b + 1]):
                    gradient[self.block_i[e]] += 2 * a * self.block_value[e] * z[self.block_j[e]]
        return self.row_activity(row, z, NULL)

    cdef real block_at(self, int block, const real *z) noexcept nogil:
        """z'Q z of a block."""
        cdef real total = 0
        cdef int k
        for k in range(self.block_start[block], self.block_start[block + 1]):
            total += self.block_value[k] * z[self.block_i[k]] * z[self.block_j[k]]
        return total

    cdef real block_size(self, int block, const real *z) noexcept nogil:
        """Sum of the magnitudes of the terms of z'Q z, times their number, as rounding errors grow with it."""
        cdef real total = 0
        cdef int k
        for k in range(self.block_start[block], self.block_start[block + 1]):
            total += fabs(self.block_value[k] * z[self.block_i[k]] * z[self.block_j[k]])
        return total * (self.block_start[block + 1] - self.block_start[block])

    cdef void block_gradient(self, int block, const real *z, real *gradient) noexcept nogil:
        """Adds 2 Q z to gradient (n,), of which a block has its own entries only."""
        cdef int k
        for k in range(self.block_start[block], self.block_start[block + 1]):
            gradient[self.block_i[k]] += 2 * self.block_value[k] * z[self.block_j[k]]

    cdef real atom_at(self, int atom, const real *z) noexcept nogil:
        """Value of an atom's column."""
        cdef real u = self.atom_argument_scale[atom] * z[self.atom_argument[atom]]
        return value_at(self.atom_function[atom], self.atom_exponent[atom], u) / self.atom_value_scale[atom]

    cdef real atom_slope(self, int atom, const real *z) noexcept nogil:
        """Derivative of an atom's column with respect to its argument."""
        cdef real u = self.atom_argument_scale[atom] * z[self.atom_argument[atom]]
        cdef real slope = slope_at(self.atom_function[atom], self.atom_exponent[atom], u)
        return slope * (self.atom_argument_scale[atom] / self.atom_value_scale[atom])

    cdef void atom_range(self, int atom, real low, real high, real *least, real *most) noexcept nogil:
        """OUT: an interval that holds the values of an atom's column over one of its argument."""
        cdef real scale = self.atom_argument_scale[atom]
        range_over(self.atom_function[atom], self.atom_exponent[atom], scale * low, scale * high, least, most)
        least[0] /= self.atom_value_scale[atom]
        most[0] /= self.atom_value_scale[atom]

    # Bounds of columns (n_cols,): col_low and col_high are tightened in place; `change` is raised to the largest share
    # of its width that an interval has lost

    cdef void column_bounds(self, const real *low, const real *high, real *col_low, real *col_high) noexcept nogil:
        """OUT (n_cols,): bounds of all columns over a box of the variables."""
        cdef int j, k, b, e, i, column
        cdef real least, most, a, c
        for j in range(self.n):
            col_low[j], col_high[j] = low[j], high[j]
        for k in range(self.n_products):
            i, j = self.first[k], self.second[k]
            product_bounds(low[i], high[i], low[j], high[j], &col_low[self.n + k], &col_high[self.n + k])
            if i == j:
                col_low[self.n + k] = max(col_low[self.n + k], 0.0)
        for b in range(self.n_blocks):
            column = self.block_column[b]
            if column < self.n + self.n_products:
                continue
            least = most = c = 0
            for e in range(self.block_start[b], self.block_start[b + 1]):
                i, j = self.block_i[e], self.block_j[e]
                a = max(fabs(low[i]), fabs(high[i])) * max(fabs(low[j]), fabs(high[j])) * fabs(self.block_value[e])
                most += a
                c += max(low[i] * low[i], high[i] * high[i])
            # q is free to exceed the form; at an optimum it need not.
            col_low[column] = -self.block_defect[b] * c if self.block_defect[b] > 0 else 0
            col_high[column] = most * (1 + 8 * (self.block_start[b + 1] - self.block_start[b]) * ROUND) + UNDERFLOW
            if not col_high[column] >= 0:
                col_high[column] = INFINITY
            if self.is_square(b):
                i = self.block_i[self.block_start[b]]
                a = max(0.0, max(low[i], -high[i]))
                col_low[column] = below(below(self.block_value[self.block_start[b]] * a * a))

        for k in range(self.n_atoms):
            column = self.n_cols - self.n_atoms + k
            i = self.atom_argument[k]
            self.atom_range(k, low[i], high[i], &col_low[column], &col_high[column])

    cdef inline bint is_square(self, int block) noexcept nogil:
        """Whether a block is a single v z_i^2, v > 0."""
        return (self.block_start[block + 1] - self.block_start[block] == 1
                and self.block_i[self.block_start[block]] == self.block_j[self.block_start[block]])

    cdef inline bint presses(self, int block) noexcept nogil:
        """Whether the dual needs a form's column bounded from below: of squares that are products it may not."""
        cdef int k = self.block_column[block] - self.n
        return k >= self.n_products or self.under[k] != 0

    cdef int propagate_block(self, int block, real *col_low, real *col_high, real *change) noexcept nogil:
        """v z_i^2 <= q: |z_i| is bounded; 0: empty."""
        cdef int i = self.block_i[self.block_start[block]]
        cdef real most = col_high[self.block_column[block]], largest
        if not self.is_square(block) or isinf(most):
            return 1
        if most < 0:
            return 0
        largest = above(sqrt(above(most / self.block_value[self.block_start[block]])))
        return (move(i, largest, True, col_low, col_high, change)
                and move(i, -largest, False, col_low, col_high, change))

    cdef int propagate(self, real *low, real *high, real cutoff, int n_rounds, real *col_low,
                       real *col_high) noexcept nogil:
        """Feasibility-based tightening of a box, in place. 0: no point of it is feasible with objective <= cutoff.

        OUT col_low, col_high (n_cols,): bounds of all columns.
        """
        cdef int _round, row, k, j, last = self.n_rows - 1
        cdef real change, upper
        self.column_bounds(low, high, col_low, col_high)
        for _round in range(n_rounds):
            change = 0
            for k in range(self.n_switches):
                if not self.propagate_switch(k, col_low, col_high, &change):
                    return 0
            for row in range(self.n_rows):
                upper = self.row_upper[row]
                if row == last:
                    if isinf(cutoff):
                        continue
                    upper = above(cutoff - self.constant) + 4 * ROUND * fabs(self.constant)
                if not self.propagate_row(row, self.row_lower[row], upper, col_low, col_high, &change):
                    return 0
            for k in range(self.n_products):
                if not self.propagate_product(k, col_low, col_high, &change):
                    return 0
            for k in range(self.n_blocks):
                if not self.propagate_block(k, col_low, col_high, &change):
                    return 0
            for k in range(self.n_atoms):
                if not self.propagate_atom(k, col_low, col_high, &change):
                    return 0
            if change < WORTH_A_ROUND:
                break
        for j in range(self.n):
            low[j], high[j] = col_low[j], col_high[j]
        return 1

    cdef int propagate_switch(self, int k, real *col_low, real *col_high, real *change) noexcept nogil:
        """The side that a switch selects vanishes, and where one side cannot the other is selected; 0: empty."""
        if not self.can_vanish(2 * k, col_low, col_high):
            col_low[k] = max(col_low[k], 0.0)
        if not self.can_vanish(2 * k + 1, col_low, col_high):
            col_high[k] = min(col_high[k], 0.0)
        return ((col_high[k] > 0 or self.vanish(2 * k, col_low, col_high, change))
                and (col_low[k] < 0 or self.vanish(2 * k + 1, col_low, col_high, change)))

    cdef bint can_vanish(self, int side, const real *col_low, const real *col_high) noexcept nogil:
        """Whether it may, as far as a variable's bounds say."""
        cdef int j = self.switch_variable[side]
        return j < 0 or col_low[j] <= 0 <= col_high[j]

    cdef int vanish(self, int side, real *col_low, real *col_high, real *change) noexcept nogil:
        cdef int j = self.switch_variable[side]
        if j < 0:
            return self.propagate_row(self.switch_row[side], self.switch_value[side], self.switch_value[side],
                                      col_low, col_high, change)
        if not col_low[j] <= 0 <= col_high[j]:
            return 0
        if col_low[j] < col_high[j]:
            col_low[j] = col_high[j] = 0
            change[0] = 1
        return 1

    cdef int propagate_row(self, int row, real row_lower, real row_upper, real *col_low, real *col_high,
                           real *change) noexcept nogil:
        """Bounds of each column from the rest of its row; 0: the row cannot hold."""
        cdef int start = self.row_start[row], end = self.row_start[row + 1], k, column
        cdef int low_open = 0, high_open = 0        # infinite terms in the least and in the greatest value
        cdef real least = 0, most = 0, size = 0, a, low, high, error, rest
        for k in range(start, end):
            a, column = self.row_value[k], self.row_index[k]
            low = a * (col_low[column] if a > 0 else col_high[column])
            high = a * (col_high[column] if a > 0 else col_low[column])
            if isinf(low):
                low_open += 1
            else:
                least += low
                size += fabs(low)
            if isinf(high):
                high_open += 1
            else:
                most += high
                size += fabs(high)
        error = (end - start + 8) * 2 * ROUND * size
        if 0 < size < TINY:
            error += UNDERFLOW
        if low_open == 0 and least - error > row_upper:
            return 0
        if high_open == 0 and most + error < row_lower:
            return 0
        if row_upper < INFINITY and low_open <= 1:
            for k in range(start, end):
                a, column = self.row_value[k], self.row_index[k]
                low = a * (col_low[column] if a > 0 else col_high[column])
                if low_open == 1 and not isinf(low):
                    continue
                rest = row_upper - (least if isinf(low) else least - low)
                rest += error + 4 * ROUND * (fabs(row_upper) + size)
                if not move(column, rest / a, a > 0, col_low, col_high, change):
                    return 0
        if row_lower > -INFINITY and high_open <= 1:
            for k in range(start, end):
                a, column = self.row_value[k], self.row_index[k]
                # the loop above may have moved this column: its old value would be subtracted otherwise
                high = a * (col_high[column] if a > 0 else col_low[column])
                if high_open == 1 and not isinf(high):
                    continue
                rest = row_lower - (most if isinf(high) else most - high)
                rest -= error + 4 * ROUND * (fabs(row_lower) + size)
                if not move(column, rest / a, a < 0, col_low, col_high, change):
                    return 0
        return 1

    cdef int propagate_product(self, int k, real *col_low, real *col_high, real *change) noexcept nogil:
        """w_k from its factors and each factor from the rest; 0: empty."""
        cdef int i = self.first[k], j = self.second[k], w = self.n + k
        cdef real low, high
        product_bounds(col_low[i], col_high[i], col_low[j], col_high[j], &low, &high)
        col_low[w] = max(col_low[w], low)
        col_high[w] = min(col_high[w], high)
        if i == j:
            col_low[w] = max(col_low[w], 0.0)
        if col_low[w] > col_high[w]:
            return 0
        if i == j:
            return root(i, w, col_low, col_high, change)
        return (divide(i, j, w, col_low, col_high, change) and divide(j, i, w, col_low, col_high, change))

    cdef int propagate_atom(self, int atom, real *col_low, real *col_high, real *change) noexcept nogil:
        """An atom's column from its argument, and the argument from the column; 0: empty."""
        cdef int i = self.atom_argument[atom], column = self.n_cols - self.n_atoms + atom
        cdef real least, most, low = -INFINITY, high = INFINITY, scale = self.atom_value_scale[atom]
        self.atom_range(atom, col_low[i], col_high[i], &least, &most)
        col_low[column], col_high[column] = max(col_low[column], least), min(col_high[column], most)
        if col_low[column] > col_high[column]:
            return 0
        if not arguments_of(self.atom_function[atom], self.atom_exponent[atom], scale * col_low[column],
                            scale * col_high[column], &low, &high):
            return 0
        scale = self.atom_argument_scale[atom]
        return (move(i, high / scale, True, col_low, col_high, change)
                and move(i, low / scale, False, col_low, col_high, change))

    # For Python

    def tighten(self):
        """Bounds (low, high) that the rows imply, or None if no point is feasible."""
        return self.tighten_box(self.low, self.high)

    def tighten_box(self, low, high, real cutoff=INFINITY, int n_rounds=BOX_ROUNDS):
        """As tighten(), for a box and for points with an objective up to the cutoff."""
        low, high = np.array(low), np.array(high)
        cdef real[::1] a = low, b = high, c = np.empty(self.n_cols), d = np.empty(self.n_cols)
        return (low, high) if self.propagate(&a[0], &b[0], cutoff, n_rounds, &c[0], &d[0]) else None

    @property
    def box(self):
        """The box (low, high), in the core's units."""
        return np.array(self.low), np.array(self.high)

    def product_bounds(self):
        """Bounds of the products over the box, from factors and rows."""
        low, high = np.array(self.low), np.array(self.high)
        cdef real[::1] a = low, b = high, c = np.empty(self.n_cols), d = np.empty(self.n_cols)
        if not self.propagate(&a[0], &b[0], INFINITY, BOX_ROUNDS, &c[0], &d[0]):
            c, d = np.zeros(self.n_cols), np.zeros(self.n_cols)
        own = slice(self.n, self.n + self.n_products)
        return np.array(c)[own], np.array(d)[own]

    def objective_range(self, reach=None):
        """Sum of what each term of the objective can be away from 0; unbounded terms are left out.

        reach (n,): magnitudes that the variables are taken to have at most, inf: no such limit.
        """
        cdef real[::1] own_low = np.array(self.low), own_high = np.array(self.high)
        if reach is not None:
            own_low, own_high = np.maximum(self.low, -reach), np.minimum(self.high, reach)
        cdef real[::1] low = np.empty(self.n_cols), high = np.empty(self.n_cols)
        cdef real total = 0, term
        cdef int j
        self.column_bounds(&own_low[0], &own_high[0], &low[0], &high[0])
        for j in range(self.n_cols):
            term = fabs(self.cost[j]) * max(fabs(low[j]), fabs(high[j])) if self.cost[j] != 0 else 0
            total += term if isfinite(term) else 0
        return total

    def objective_hessian(self, int n_cols):
        """The objective's forms as the H of 0.5 x'Hx in n_cols columns, for a quadratic program.

        Returns start, row and value of its lower triangle by columns, and (n_forms,) which forms are in it.
        """
        cdef int e, b, k
        n_forms = self.n_forms
        entries, inside = {}, np.zeros(max(n_forms, 1), np.intc)
        for e in range(self.row_start[self.n_rows - 1], self.row_start[self.n_rows]):
            if self.row_index[e] < self.n + self.n_products:
                continue
            b = self.own_block(self.row_index[e])
            inside[b] = 1
            for k in range(self.block_start[b], self.block_start[b + 1]):
                if self.block_i[k] >= self.block_j[k]:
                    key = self.block_j[k], self.block_i[k]
                    entries[key] = entries.get(key, 0.0) + 2 * self.row_value[e] * self.block_value[k]
        keys = sorted(entries)
        start = np.searchsorted([column for column, _ in keys], np.arange(n_cols)).astype(np.intc)
        return start, ints([row for _, row in keys]), reals([entries[key] for key in keys]), inside

    def moment_matrix_at(self, int number, const real[::1] columns):
        """The moment matrix (1, z; z', w) of a set of variables at a solution (n_cols,) of the relaxed dual."""
        cdef int k = self.moment_start[number + 1] - self.moment_start[number]
        x = np.asarray(columns)
        members = np.asarray(self.moment_variable)[self.moment_start[number] : self.moment_start[number + 1]]
        products = np.asarray(self.moment_product)[self.moment_matrix[number] : self.moment_matrix[number + 1]]
        matrix = np.ones((k + 1, k + 1))
        matrix[0, 1:] = matrix[1:, 0] = x[members]
        matrix[1:, 1:] = x[self.n + products].reshape(k, k)
        return matrix

    def evaluate(self, point):
        """Objective and greatest violation at a point, in the core's units."""
        cdef real[::1] z = reals(point)
        return self.objective(&z[0]), self.violation(&z[0])

    def relative_to_terms(self, point):
        """Greatest violation of a row relative to its terms at a point."""
        cdef real[::1] z = reals(point)
        return self.excess_of_terms(&z[0])


cdef int move(int column, real bound, bint is_upper, real *col_low, real *col_high, real *change) noexcept nogil:
    """Takes a bound, rounded outward already, if it is better by enough; 0: the interval is empty."""
    cdef real width = col_high[column] - col_low[column], step, least
    # NaN: an infinite bound met another
    if not fabs(bound) < LARGEST_BOUND:
        return 1
    if is_upper:
        bound = above(bound)
        step = col_high[column] - bound
        if bound < col_low[column]:
            return 0
    else:
        bound = below(bound)
        step = bound - col_low[column]
        if bound > col_high[column]:
            return 0
    least = LEAST_CHANGE * (width if isfinite(width) else max(1.0, fabs(bound)))
    if not step > least:
        return 1
    if is_upper:
        col_high[column] = bound
    else:
        col_low[column] = bound
    change[0] = max(change[0], 1.0 if isinf(step) else (step / width if isfinite(width) else HALF_LINE_CHANGE))
    return 1


cdef int divide(int i, int j, int w, real *col_low, real *col_high, real *change) noexcept nogil:
    """z_i from w = z_i z_j where z_j keeps off 0; 0: empty."""
    cdef real a = col_low[j], b = col_high[j], low, high
    if not (a > 0 or b < 0):
        return 1
    product_bounds(col_low[w], col_high[w], below(1 / b), above(1 / a), &low, &high)
    return (move(i, high, True, col_low, col_high, change) and move(i, low, False, col_low, col_high, change))


cdef int root(int i, int w, real *col_low, real *col_high, real *change) noexcept nogil:
    """z_i from w = z_i^2: no farther from 0 than w lets it be, and off 0 on the only side left; 0: empty."""
    cdef real least = below(sqrt(below(col_low[w]))) if col_low[w] > 0 else 0
    cdef real most = above(sqrt(above(col_high[w])))
    if least > 0:
        if col_low[i] > -least and not move(i, least, False, col_low, col_high, change):
            return 0
        if col_high[i] < least and not move(i, -least, True, col_low, col_high, change):
            return 0
    return (move(i, most, True, col_low, col_high, change) and move(i, -most, False, col_low, col_high, change))


cdef object reals(values):
    return np.ascontiguousarray(values, dtype=np.float64)


cdef object ints(values):
    return np.ascontiguousarray(values, dtype=np.intc)
