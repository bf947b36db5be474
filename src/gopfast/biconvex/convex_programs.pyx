"""Convex programs that are left of a biconvex problem where one side is fixed, or linearised at a point.

Arguments of atoms are fixed on both sides; where nothing is, atoms are linearised as products are.

Linear but for convex forms. Those of the objective make a program a quadratic one for HiGHS; where its active set
method fails, and for those of rows, tangents at the solutions approach them in rounds.
"""

import numpy as np

from libc.math cimport INFINITY, exp2, fabs, floor, isfinite, log2
from libc.string cimport memcpy

from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.margins cimport CANCELLED, RAY_ROUNDING, RAY_SUM_ROUNDING as ROUNDING
from gopfast.biconvex.tuning cimport (
    CONVEX_LP_TOLERANCE as LP_TOLERANCE, CONVEX_N_TANGENTS as N_TANGENTS, FALLING, FEASIBLE, LEFT_BY_TANGENTS,
    MOST_REPAIRS, MOST_ROUNDS, N_KEPT, RAY_ON_BOUND as ON_BOUND, TANGENT_TOLERANCE,
)
from gopfast.lp.lp cimport LP_ERROR, LP_OPTIMAL, LP_UNKNOWN, LpStatus, LpWorker
from gopfast.search.relaxation cimport Effort, Primal
from gopfast.search.types cimport LP_FAILED, OK, real


cdef class ConvexPrograms(Primal):
    """One program at a time, in one solver."""

    cdef int reserve(self, BiconvexData data) except -1:
        """Memory for the programs of a problem."""
        cdef int k, m = data.n_own_rows, n_forms = data.n_forms
        self.data = data
        self.lp = LpWorker()
        self.n_forms, self.n_own_rows = n_forms, m
        self.fixed = np.zeros((3, data.n), np.intc)
        for k in range(data.n):
            self.fixed[0, k], self.fixed[1, k] = data.fixed[0, k], data.fixed[1, k]
        self.n_cols = data.n + n_forms + 2 * m
        self.max_rows = rows = m + n_forms + N_KEPT + N_TANGENTS
        nnz = 2 * data.row_start[data.n_rows] + 2 * m + (n_forms + N_KEPT + N_TANGENTS) * (data.n + 1)
        nnz = max(nnz, 2 * sum_of_supports(data))
        self.start, self.col_index = np.zeros(rows + 1, np.intc), np.zeros(nnz, np.intc)
        self.value, self.row_lower, self.row_upper = np.zeros(nnz), np.zeros(rows), np.zeros(rows)
        wide = max(self.n_cols, 2 * data.n)
        self.cost, self.col_lower, self.col_upper = np.zeros(wide), np.zeros(wide), np.zeros(wide)
        self.coefficient, self.term_size = np.zeros(data.n + n_forms), np.zeros(data.n + n_forms)
        self.gradient = np.zeros(data.n)
        self.lp_row, self.lp_scale = np.zeros(m + 1, np.intc), np.zeros(m + 1)
        self.kept, self.kept_form = np.zeros((N_KEPT, data.n)), np.zeros(N_KEPT, np.intc)
        start, rows, value, blocks = data.objective_hessian(self.n_cols)
        self.n_quadratic = <int> len(value)
        self.quadratic_start, self.quadratic_index, self.quadratic_value = start, rows, value
        self.in_objective = blocks
        self.basis = np.zeros((N_PROGRAM_KINDS, self.n_cols + self.max_rows), np.intc)
        self.rows_of_basis = np.full(N_PROGRAM_KINDS, NO_BASIS, np.intc)
        return 0

    cdef int open(self) noexcept nogil:
        if self.lp.solver != NULL:
            return OK
        # Unscaled, so that rows hold to the tolerance as they stand
        if (self.lp.open() != OK or self.lp.set_tolerance(LP_TOLERANCE) != OK or self.lp.forbid_scaling() != OK
                or self.lp.limit_iterations_by(self.n_cols + self.max_rows) != OK):
            self.lp.close()
            return LP_FAILED
        return OK

    cdef LpStatus solve(self, int side, const real *z, real penalty, real radius, Effort *effort) noexcept nogil:
        """One side fixed at z (or products linearised there); penalty > 0 lets rows be violated for it.

        Without a radius the penalised problem is that of feasibility, which has no other costs.
        """
        cdef LpStatus status
        cdef int _attempt, kind = 2 * side + (radius < INFINITY if side == FREE else penalty > 0)
        if self.load(side, z, penalty, radius) != OK:
            return LP_ERROR
        self.work += self.nnz
        if self.n_quadratic > 0 and side != FREE and penalty == 0:
            status = self.solve_quadratic(effort)
            if status == LP_OPTIMAL:
                return status
            if self.load(side, z, penalty, radius) != OK:
                return LP_ERROR
        status = self.run_from_basis(kind, effort)
        # Linearised, the forms are, too: by their tangents at z.
        if side != FREE and self.n_forms > 0:
            for _attempt in range(MOST_ROUNDS):
                if status != LP_OPTIMAL or self.add_tangents() == 0 or self.stop.poll(0):
                    break
                status = self.run_program(effort)
        if side != FREE and penalty == 0:
            for _attempt in range(MOST_REPAIRS):
                if status != LP_OPTIMAL or self.step_back() == 0:
                    break
                status = self.run_program(effort)
        return status

    cdef LpStatus run_program(self, Effort *effort) noexcept nogil:
        """The loaded program."""
        cdef LpStatus status = self.lp.solve_or_restart(INFINITY)
        effort.n_lps += 1
        effort.n_iterations += self.lp.n_iterations()
        return status

    cdef LpStatus run_from_basis(self, int kind, Effort *effort) noexcept nogil:
        """The loaded program, from where the last one of its kind in this local search ended."""
        cdef LpStatus status
        if self.rows_of_basis[kind] == self.n_rows:
            self.lp.set_basis(&self.basis[kind, 0])
        status = self.run_program(effort)
        if status == LP_OPTIMAL:
            self.rows_of_basis[kind] = self.n_rows if self.lp.get_basis(&self.basis[kind, 0]) == OK else NO_BASIS
        return status

    cdef void forget_bases(self) noexcept nogil:
        """What a local search finds depends on where it starts alone."""
        cdef int kind
        for kind in range(N_PROGRAM_KINDS):
            self.rows_of_basis[kind] = NO_BASIS

    cdef LpStatus solve_quadratic(self, Effort *effort) noexcept nogil:
        """The loaded problem with the objective's forms as they are; other than LP_OPTIMAL: tangents must do.

        HiGHS's active set method can fail on a singular form, and need not keep to rows as closely as is asked for.
        """
        cdef LpStatus status
        cdef int b, _attempt, i
        for b in range(self.n_forms):
            if self.in_objective[b]:
                self.lp.set_cost(self.data.n + b, 0)
                # its tangents say nothing then
                self.lp.set_col_bounds(self.data.n + b, -INFINITY, INFINITY)
        for _attempt in range(MOST_ROUNDS):
            status = self.lp.solve_quadratic(
                self.n_quadratic, &self.quadratic_start[0], &self.quadratic_index[0], &self.quadratic_value[0],
                100 + 5 * (self.n_cols + self.n_rows))
            effort.n_lps += 1
            if status != LP_OPTIMAL:
                return status
            for b in range(self.n_forms):
                if self.in_objective[b]:
                    self.lp.x[self.data.n + b] = self.data.block_at(b, self.lp.x)
            if self.add_tangents() == 0 or self.stop.poll(0):
                break
        for i in range(self.n_rows):
            if fabs(self.excess(i)) > 2 * LP_TOLERANCE:
                return LP_UNKNOWN
        return LP_OPTIMAL

    cdef int step_back(self) noexcept nogil:
        """Moves the bounds of rows that HiGHS's solution violates, beyond its tolerance at times; how many."""
        cdef int i, moved = 0
        cdef real over
        for i in range(self.n_rows):
            over = self.excess(i)
            if fabs(over) <= 2 * LP_TOLERANCE:
                continue
            moved += 1
            if self.row_lower[i] == self.row_upper[i]:
                self.lp.set_row_bounds(i, self.lp.row_lower[i] - over, self.lp.row_upper[i] - over)
            elif over > 0:
                self.lp.set_row_bounds(i, min(self.lp.row_lower[i], self.lp.row_upper[i] - 2 * over),
                                       self.lp.row_upper[i] - 2 * over)
            else:
                self.lp.set_row_bounds(i, self.lp.row_lower[i] - 2 * over,
                                       max(self.lp.row_upper[i], self.lp.row_lower[i] - 2 * over))
        return moved

    cdef real excess(self, int row) noexcept nogil:
        """By how much the solution is above a row's upper bound (below its lower: negative), 0 within."""
        cdef real activity = 0
        cdef int k
        for k in range(self.start[row], self.start[row + 1]):
            activity += self.value[k] * self.lp.x[self.col_index[k]]
        return max(0.0, activity - self.row_upper[row]) - max(0.0, self.row_lower[row] - activity)

    cdef int load(self, int side, const real *z, real penalty, real radius) noexcept nogil:
        cdef int row, t
        cdef real constant, size
        self.n_rows = self.nnz = 0
        self.set_columns(side, z, penalty, radius)
        for row in range(self.n_own_rows):
            constant = self.add_row(row, side, z, False)
            self.lp_row[row], self.lp_scale[row] = self.n_rows, self.row_scale
            if self.nnz == self.start[self.n_rows]:
                # nothing of the row is left: it holds or not whatever this problem does
                size = FEASIBLE * self.data.row_size(row, z)
                if penalty == 0 and (self.data.row_lower[row] > constant + size
                                     or self.data.row_upper[row] < constant - size):
                    return LP_FAILED
                self.lp_row[row] = -1
                continue
            # What tangents left of the last solution's violation must not make this problem infeasible
            size = self.data.row_excess(row, z) if penalty == 0 and self.has_form(row) else 0
            if not size <= LEFT_BY_TANGENTS:
                size = 0
            self.row_lower[self.n_rows] = (self.data.row_lower[row] - constant - size) * self.row_scale
            self.row_upper[self.n_rows] = (self.data.row_upper[row] - constant + size) * self.row_scale
            if penalty > 0:
                for t in range(2):
                    self.col_index[self.nnz] = self.data.n + self.n_forms + 2 * row + t
                    self.value[self.nnz] = self.row_scale if t == 0 else -self.row_scale
                    self.nnz += 1
            self.n_rows += 1
        if penalty == 0 or radius < INFINITY:
            self.add_row(self.data.n_rows - 1, side, z, True)
        for t in range(self.n_forms):
            self.add_tangent(t, z)
        if side != FREE:
            for t in range(min(self.n_kept, <int> N_KEPT)):
                self.add_tangent(self.kept_form[t], &self.kept[t, 0])
        self.start[self.n_rows] = self.nnz
        return self.lp.load(self.n_cols, self.n_rows, &self.cost[0], &self.col_lower[0], &self.col_upper[0],
                            &self.row_lower[0], &self.row_upper[0], self.nnz, &self.start[0], &self.col_index[0],
                            &self.value[0])

    cdef bint has_form(self, int row) noexcept nogil:
        cdef int e
        for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
            if self.data.row_index[e] >= self.data.n + self.data.n_products and (
                    self.data.atom_of(self.data.row_index[e]) < 0):
                return True
        return False

    cdef void set_columns(self, int side, const real *z, real penalty, real radius) noexcept nogil:
        cdef int j
        for j in range(self.n_cols):
            self.cost[j] = self.col_lower[j] = 0
            self.col_upper[j] = INFINITY
        for j in range(self.data.n):
            self.col_lower[j], self.col_upper[j] = self.data.low[j], self.data.high[j]
            if self.fixed[side, j]:
                self.col_lower[j] = self.col_upper[j] = min(self.data.high[j], max(self.data.low[j], z[j]))
            elif radius < INFINITY:
                self.col_lower[j] = min(self.data.high[j], max(self.data.low[j], z[j] - radius))
                self.col_upper[j] = max(self.data.low[j], min(self.data.high[j], z[j] + radius))
        for j in range(2 * self.n_own_rows):
            if penalty > 0:
                self.cost[self.data.n + self.n_forms + j] = penalty if radius < INFINITY else 1
            else:
                self.col_upper[self.data.n + self.n_forms + j] = 0

    cdef real add_row(self, int row, int side, const real *z, bint is_cost) noexcept nogil:
        """Adds a row with products evaluated; returns its constant. Scaled anew: what is left may be tiny."""
        cdef int e, column, i, j
        cdef real a, constant = 0, greatest = 0, x
        for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
            column, a = self.data.row_index[e], self.data.row_value[e]
            if column < self.data.n:
                self.add_term(column, a)
            elif self.data.atom_of(column) >= 0:
                # fixed on both sides, and linearised where all is free
                i = self.data.atom_argument[self.data.atom_of(column)]
                constant += a * self.data.atom_at(self.data.atom_of(column), z)
                if not self.fixed[side, i]:
                    x = a * self.data.atom_slope(self.data.atom_of(column), z)
                    if isfinite(x):
                        self.add_term(i, x)
                        constant -= x * z[i]
            elif column >= self.data.n + self.data.n_products:
                self.add_term(column - self.data.n_products, a)
            else:
                i, j = self.data.first[column - self.data.n], self.data.second[column - self.data.n]
                if self.fixed[side, i]:
                    self.add_term(j, a * self.col_lower[i])
                elif self.fixed[side, j]:
                    self.add_term(i, a * self.col_lower[j])
                else:
                    self.add_term(i, a * z[j])
                    self.add_term(j, a * z[i])
                    constant -= a * z[i] * z[j]
        # Entries in the order of the row: each column once, as its coefficient is taken away
        self.start[self.n_rows] = self.nnz
        for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
            column = self.data.row_index[e]
            if self.data.n <= column < self.data.n + self.data.n_products:
                i, j = self.data.first[column - self.data.n], self.data.second[column - self.data.n]
            elif self.data.atom_of(column) >= 0:
                i = j = self.data.atom_argument[self.data.atom_of(column)]
            else:
                i = j = column if column < self.data.n else column - self.data.n_products
            for column in range(2):
                if column == 1:
                    if i == j:
                        break
                    i = j
                x = self.coefficient[i]
                # what terms leave that cancel is rounding, and would fill the row once scaled
                if fabs(x) <= CANCELLED * self.term_size[i]:
                    x = 0
                self.coefficient[i] = self.term_size[i] = 0
                if x == 0:
                    continue
                if is_cost:
                    self.cost[i] += x
                elif self.col_lower[i] == self.col_upper[i]:
                    constant += x * self.col_lower[i]
                else:
                    self.col_index[self.nnz], self.value[self.nnz] = i, x
                    self.nnz += 1
                    greatest = max(greatest, fabs(x))
        self.row_scale = exp2(-floor(log2(greatest))) if greatest > 0 else 1
        for e in range(self.start[self.n_rows], self.nnz):
            self.value[e] *= self.row_scale
        return constant

    cdef inline void add_term(self, int column, real value) noexcept nogil:
        self.coefficient[column] += value
        self.term_size[column] += fabs(value)

    cdef void add_tangent(self, int block, const real *at) noexcept nogil:
        cdef int k, i
        self.data.block_gradient(block, at, &self.gradient[0])
        self.start[self.n_rows] = self.nnz
        self.col_index[self.nnz], self.value[self.nnz] = self.data.n + block, 1
        self.nnz += 1
        for k in range(self.data.block_start[block], self.data.block_start[block + 1]):
            i = self.data.block_i[k]
            if self.gradient[i] != 0:
                self.col_index[self.nnz], self.value[self.nnz] = i, -self.gradient[i]
                self.nnz += 1
                self.gradient[i] = 0
        self.row_lower[self.n_rows], self.row_upper[self.n_rows] = -self.data.block_at(block, at), INFINITY
        self.n_rows += 1

    cdef int add_tangents(self) noexcept nogil:
        """Adds a tangent at the solution to every form that it undercuts; how many."""
        cdef int b, i, first = self.n_rows, first_entry = self.nnz, n
        for b in range(self.n_forms):
            if self.n_rows == self.max_rows:
                break
            if self.data.block_at(b, self.lp.x) - self.lp.x[self.data.n + b] > TANGENT_TOLERANCE:
                self.add_tangent(b, self.lp.x)
                # The next problems differ little: they start with the latest
                self.kept_form[self.n_kept % N_KEPT] = b
                memcpy(&self.kept[self.n_kept % N_KEPT, 0], self.lp.x, self.data.n * sizeof(real))
                self.n_kept += 1
        n = self.n_rows - first
        if n == 0:
            return 0
        for i in range(n):
            self.start[first + i] -= first_entry
        i = self.lp.add_rows(n, &self.row_lower[first], &self.row_upper[first], self.nnz - first_entry,
                             &self.start[first], &self.col_index[first_entry], &self.value[first_entry])
        for i in range(first, self.n_rows):
            self.start[i] += first_entry
        self.start[self.n_rows] = self.nnz
        self.work += self.nnz
        return n

    cdef bint ray_is_proof(self) noexcept nogil:
        """Whether the last program's ray, or one along an axis, is one of the problem: rows hold and costs fall."""
        cdef int j, k
        cdef real *ray = self.lp.x
        if self.lp.unbounded_ray():
            return self.is_ray(ray)
        # HiGHS gives no ray where there are no rows
        for j in range(self.data.n):
            if self.cost[j] == 0:
                continue
            for k in range(self.n_cols):
                ray[k] = 0
            ray[j] = -1 if self.cost[j] > 0 else 1
            if self.is_ray(ray):
                return True
        return False

    cdef bint is_ray(self, real *ray) noexcept nogil:
        """Whether rows hold along a ray, but for rounding, and costs fall. IN/OUT ray: what is rounding becomes 0."""
        cdef int i, k, j
        cdef real along, size, fall = 0, magnitude = 0, greatest = 0
        for j in range(self.n_cols):
            greatest = max(greatest, fabs(ray[j]))
        for j in range(self.n_cols):
            if fabs(ray[j]) <= RAY_ROUNDING * greatest:
                ray[j] = 0
            # forms and violations must not grow: then the tangents' rows say nothing about the forms
            if j >= self.data.n and ray[j] != 0:
                return False
            if (ray[j] < 0 and isfinite(self.col_lower[j])) or (ray[j] > 0 and isfinite(self.col_upper[j])):
                return False
            fall += self.cost[j] * ray[j]
            magnitude += fabs(self.cost[j] * ray[j])
        for j in range(self.n_forms):
            if fabs(self.data.block_at(j, ray)) > ROUNDING * self.data.block_size(j, ray):
                return False
        for i in range(self.n_rows):
            along = size = 0
            for k in range(self.start[i], self.start[i + 1]):
                along += self.value[k] * ray[self.col_index[k]]
                size += fabs(self.value[k] * ray[self.col_index[k]])
            if ((along > ROUNDING * size and isfinite(self.row_upper[i]))
                    or (along < -ROUNDING * size and isfinite(self.row_lower[i]))):
                return False
        return fall < -FALLING * magnitude

    # Points

    cdef void read_point(self, real *z) noexcept nogil:
        """The solution of the last program, on a bound where it is as good as there."""
        cdef int j
        cdef real low, high, x
        for j in range(self.data.n):
            low, high, x = self.data.low[j], self.data.high[j], self.lp.x[j]
            if x < low + ON_BOUND * max(1.0, fabs(low)):
                x = low
            if x > high - ON_BOUND * max(1.0, fabs(high)):
                x = high
            z[j] = self.lp.x[j] = x

    cdef real merit(self, const real *z, real penalty) noexcept nogil:
        """Objective and penalised violations; violations alone for penalty 1."""
        cdef real total = 0
        cdef int row
        for row in range(self.n_own_rows):
            total += self.data.row_excess(row, z)
        return total if penalty == 1 else self.data.objective(z) + penalty * total

    cdef real value_of(self, const real *z) noexcept nogil:
        """Objective of a feasible point, rounded up."""
        if not self.data.violation(z) <= FEASIBLE:
            return INFINITY
        return self.data.objective(z) + self.data.objective_error(z)


cdef int sum_of_supports(BiconvexData data):
    """At least the number of entries of all rows' gradients."""
    cdef int row, e, b, total = 0
    for row in range(data.n_own_rows):
        for e in range(data.row_start[row], data.row_start[row + 1]):
            total += 2
            if data.row_index[e] >= data.n + data.n_products and data.atom_of(data.row_index[e]) < 0:
                b = data.own_block(data.row_index[e])
                total += data.block_start[b + 1] - data.block_start[b]
    return total
