"""
What cuts of a mixture's objective leave of the covariance matrix within components: cells of its Cholesky factor.

Let P = C C' with C lower triangular, with columns c_j, and cuts (A_v, b_v) be given. The least of

    log det P / 2 + max over v of (b_v - <A_v, P> / 2)
        =  sum of log C_jj + max over v of (b_v - sum over j of c_j'A_v c_j / 2)

is sought over all P with eigenvalues between `least` and `top`. For weights a of the cuts, which sum to one, each
column has a term of its own, concave in it, so that over a box of the entries of C the sum is least where each column
is at a corner of its box. The best weights are those of a linear program, the dual of which mixes corners: any weights
bound.

Theory: (TF1) and (TF2) of docs/theory/factors.md.
"""

import numpy as np

from cython cimport final
from libc.math cimport INFINITY, fabs, log, sqrt

from gopfast.mixtures.shared.cells import doubled

from gopfast.mixtures.families.matrix cimport jacobi
from gopfast.mixtures.shared.cells cimport (
    Basis, Cells, Head, amount_at, best_slack, empty_column, enter, slack_of, total_weight, variable_at, worth_a_step
)
from gopfast.mixtures.shared.margins cimport CELL_SUMS, OUTSIDE
from gopfast.mixtures.shared.tuning cimport (
    FLAT, MOST_PIVOTS, MOST_ROWS, N_SQUARES, N_TURNS, ROW_UNIT,
    SPLIT_WITHIN, TOO_NARROW, VIOLATED
)
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport clip, index, real

cdef enum:
    MOST_COLUMNS = 4
    MOST_ENTRIES = 10       # of C: d (d + 1) / 2
    MOST_CORNERS = 30       # of all columns: 2^(d + 1) - 2


cdef struct Cell:
    Head head
    real at             # where it is split
    int axis
    real low[MOST_ENTRIES]
    real high[MOST_ENTRIES]
    real point[MOST_ENTRIES]
    real mixed[MOST_ENTRIES]    # mean of the matrices of the mixture of corners, column by column


cdef struct Row:        # what is not positive of any P: in each column of C a linear or a concave function
    bint below          # 2 t'C'u - |t|^2 - top |u|^2, or what u'P u is at least, less |C'u|^2
    real u[MOST_COLUMNS]
    real t[MOST_COLUMNS]
    real constant


# The linear program of a cell. Rows: one of every corner, and the sum of the weights. Columns: cuts, rows, the least of
# each column, and slacks of corners.
cdef struct Program:
    int column[MOST_CORNERS]                            # whose corner it is
    real corner[MOST_CORNERS][MOST_COLUMNS]             # its entries, zeros above the diagonal
    real product[MOST_CORNERS][MOST_ENTRIES]            # of its entries
    real logs[MOST_CORNERS]                             # log of the entry on the diagonal
    Basis basis
    int n_rows
    Row rows[MOST_ROWS]


cdef inline real least_square(const Cell *cell, int e) noexcept nogil:
    """Of an entry, in the cell."""
    cdef real least = max(0.0, max(cell.low[e], -cell.high[e]))
    return least * least


cdef inline real says(real height, const real *form, const real *product, int n_entries) noexcept nogil:
    """What a cut says of a matrix, per unit of weight."""
    cdef real total = height
    cdef int e
    if n_entries == 6:      # of three columns, without a loop
        return (
            (height - form[0] * product[0] - form[1] * product[1])
            - ((form[2] * product[2] + form[3] * product[3]) + (form[4] * product[4] + form[5] * product[5]))
        )
    for e in range(n_entries):
        total -= form[e] * product[e]
    return total


@final
cdef class FactorCells(Cells):
    """
    Branch and bound of the least value, per unit of weight.

    Parameters
    ----------
    d : int
        Columns of the samples, 1 to 4.
    least, top : float
        No eigenvalue of P is less or more.
    asked : tuple of float, optional
        Eigenvalues between which cuts are asked for: a point with others is moved there.
    """

    cdef readonly int n_entries
    cdef real[:, ::1] forms             # (capacity, n_entries) of cuts: <A, P> / 2 in the entries of P
    cdef real[::1] heights, sizes       # (capacity,) b, and the sum of the form's magnitudes
    cdef real[:, ::1] squares           # (capacity, n_entries) of the same: u'P u in the entries of P
    cdef int first[MOST_COLUMNS]        # entry of C with which a column begins

    def __init__(self, int d, real least, real top, asked=(0.0, INFINITY)):
        cdef int j
        cdef Cell root
        if not 1 <= d <= MOST_COLUMNS:
            raise ValueError(f"d must be 1 to {MOST_COLUMNS}, got {d}")
        if not 0.0 < least <= top:
            raise ValueError(f"least must be positive and at most top, got {least} and {top}")
        super().__init__(d, least, top, asked)
        self.n_entries, self.size = d * (d + 1) // 2, sizeof(Cell)
        self.forms, self.heights, self.sizes = np.zeros((8, self.n_entries)), np.zeros(8), np.zeros(8)
        self.squares = np.zeros((8, self.n_entries))
        for j in range(d):
            self.first[j] = j * d - j * (j - 1) // 2
        self.whole(&root)
        self.begin_with(&root)

    def add(self, A, real b):
        """Add a cut, R >= b - <A, P> / 2; returns its number."""
        cdef int i, j
        cdef index v = self.n_cuts
        cdef const real[:, ::1] matrix = np.ascontiguousarray(A, dtype=np.float64)
        if v == self.forms.shape[0]:
            self.forms, self.heights, self.sizes = doubled(self.forms), doubled(self.heights), doubled(self.sizes)
        self.sizes[v] = 0.0
        for j in range(self.d):
            for i in range(j, self.d):
                self.forms[v, self.first[j] + i - j] = (
                    0.5 * matrix[j, j] if i == j else 0.5 * (matrix[i, j] + matrix[j, i])
                )
                self.sizes[v] += fabs(self.forms[v, self.first[j] + i - j])
        self.heights[v] = b
        self.n_cuts += 1
        self.version += 1
        return v

    def widen(self, u, real least):
        """Add a direction u, of length 1, along which no P is less than `least`; whether that says anything."""
        cdef int i, j
        cdef const real *along
        if not super().widen(u, least):
            return False
        if self.squares.shape[0] < self.directions.shape[0]:
            self.squares = doubled(self.squares)
        along = &self.directions[self.n_directions - 1, 0]
        for i in range(self.d):
            for j in range(i + 1):
                self.squares[self.n_directions - 1, self.first[j] + i - j] = (
                    (1.0 if i == j else 2.0) * along[i] * along[j]
                )
        return True

    def lift(self, index v, real b):
        """A cut is better known."""
        if b > self.heights[v]:
            self.heights[v] = b
            self.version += 1

    def value(self, C):
        """The function at a factor (d, d), not rounded down."""
        cdef real entries[MOST_ENTRIES]
        cdef int i, j
        for j in range(self.d):
            for i in range(j, self.d):
                entries[self.first[j] + i - j] = C[i, j]
        cdef real product[MOST_ENTRIES]
        self.multiply(entries, product)
        cdef real logs = 0.0
        for j in range(self.d):
            logs += log(entries[self.first[j]])
        return logs + self.told(product)

    def bound_of(self, low, high):
        """For tests: the bound over a box of the entries of C, (d, d) and (d, d)."""
        cdef Cell cell
        cdef int i, j, e
        for j in range(self.d):
            for i in range(j, self.d):
                e = self.first[j] + i - j
                cell.low[e], cell.high[e], cell.point[e] = low[i, j], high[i, j], 0.5 * (low[i, j] + high[i, j])
        cell.head.bound = -INFINITY
        self.bound(&cell, INFINITY)
        return cell.head.bound

    @property
    def point(self):
        """The matrix (d, d) near which the least cell's bound was found, and at which cuts are asked for, or None."""
        if not self.n_open:
            return None
        cdef real product[MOST_ENTRIES]
        self.asked(<const Cell *> self.lowest(), product)
        return self.matrix(product)

    @property
    def mixed(self):
        """The mean of the matrices of the mixture of corners there, which is wider."""
        if not self.n_open:
            return None
        cdef real product[MOST_ENTRIES]
        cdef int e
        for e in range(self.n_entries):
            product[e] = (<const Cell *> self.lowest()).mixed[e]
        self.fitted(product)
        return self.matrix(product)

    cdef matrix(self, const real *product):
        cdef int i, j
        P = np.zeros((self.d, self.d))
        for j in range(self.d):
            for i in range(j, self.d):
                P[i, j] = P[j, i] = product[self.first[j] + i - j]
        return P

    def boxes(self):
        """For tests: open cells, two arrays (n_open, n_entries), the entries column by column."""
        cdef const Cell *cell
        low, high = (np.empty((self.n_open, self.n_entries)) for _ in range(2))
        for i in range(self.n_open):
            cell = <const Cell *> self.open_cell(i)
            for j in range(self.n_entries):
                low[i, j], high[i, j] = cell.low[j], cell.high[j]
        return low, high

    cdef bint divide(self, const void *cell, void *halves) noexcept nogil:
        cdef const Cell *whole = <const Cell *> cell
        cdef Cell *half = <Cell *> halves
        if not whole.low[whole.axis] < whole.at < whole.high[whole.axis]:
            return False
        half[0] = half[1] = whole[0]
        half[0].high[whole.axis] = half[1].low[whole.axis] = whole.at
        return True

    # Bounds.

    cdef void whole(self, Cell *cell) noexcept nogil:
        """All factors: entries of the diagonal are no less than the root of the least eigenvalue."""
        cdef int i, j
        cdef real most = sqrt(self.top) * (1.0 + OUTSIDE)
        for j in range(self.d):
            for i in range(j, self.d):
                cell.low[self.first[j] + i - j] = -most
                cell.high[self.first[j] + i - j] = most
            cell.low[self.first[j]] = sqrt(self.least) * (1.0 - OUTSIDE)
        for j in range(self.n_entries):
            cell.mixed[j] = cell.point[j] = 0.5 * (cell.low[j] + cell.high[j])
        cell.head.bound = cell.head.value = -INFINITY
        cell.axis, cell.at, cell.head.version = 0, cell.point[0], -1

    cdef void multiply(self, const real *entries, real *product) noexcept nogil:
        """OUT: the entries of P, of a factor's."""
        cdef int i, j, k, e
        for e in range(self.n_entries):
            product[e] = 0.0
        for k in range(self.d):
            for j in range(k, self.d):
                for i in range(j, self.d):
                    product[self.first[j] + i - j] += entries[self.first[k] + i - k] * entries[self.first[k] + j - k]

    cdef real told(self, const real *product) noexcept nogil:
        """The largest cut at a matrix."""
        cdef const real *forms = &self.forms[0, 0]
        cdef const real *heights = &self.heights[0]
        cdef real best = -INFINITY
        cdef index v
        for v in range(self.n_cuts):
            best = max(best, says(heights[v], forms + v * self.n_entries, product, self.n_entries))
        return best

    cdef real asked(self, const Cell *cell, real *product) noexcept nogil:
        """OUT: entries of the matrix at which cuts are asked for of a cell; half the logarithm of its determinant."""
        self.multiply(cell.point, product)
        return self.fitted(product)

    cdef real fitted(self, real *product) noexcept nogil:
        """Make a matrix one that there may be; half the logarithm of its determinant."""
        cdef real ratio, length, logs = self.within(product)
        cdef const real *u
        cdef int _turn, i, j
        cdef index along
        for _turn in range(N_TURNS):
            along = self.narrowest(product, &ratio)
            if not ratio > TOO_NARROW:
                break
            u, length = &self.directions[along, 0], 0.0
            for i in range(self.d):
                length += u[i] * u[i]
            for j in range(self.d):
                for i in range(j, self.d):
                    product[self.first[j] + i - j] += (1.0 - 1.0 / ratio) / (length * length) * u[i] * u[j]
            logs = self.within(product)
        return logs

    cdef real within(self, real *product) noexcept nogil:
        """Move a matrix's eigenvalues to what is asked for; half the logarithm of its determinant."""
        cdef real A[MOST_COLUMNS * MOST_COLUMNS]
        cdef real V[MOST_COLUMNS * MOST_COLUMNS]
        cdef real value, logs = 0.0
        cdef int d = self.d, i, j, k
        cdef bint moved = False
        for j in range(d):
            for i in range(j, d):
                A[i * d + j] = A[j * d + i] = product[self.first[j] + i - j]
        jacobi(d, A, V)
        for k in range(d):
            value = clip(A[k * d + k], self.thinnest, self.widest)
            moved = moved or value != A[k * d + k]
            A[k * d + k] = value
            logs += 0.5 * log(value)
        if moved:
            for j in range(d):
                for i in range(j, d):
                    value = 0.0
                    for k in range(d):
                        value += V[i * d + k] * A[k * d + k] * V[j * d + k]
                    product[self.first[j] + i - j] = value
        return logs

    cdef void corners(self, const Cell *cell, Program *program) noexcept nogil:
        cdef int n = 0, i, j, l, mask
        for j in range(self.d):
            for mask in range(1 << (self.d - j)):
                program.column[n] = j
                for i in range(self.d):
                    program.corner[n][i] = 0.0
                for i in range(j, self.d):
                    l = self.first[j] + i - j
                    program.corner[n][i] = cell.high[l] if mask >> (i - j) & 1 else cell.low[l]
                program.logs[n] = log(program.corner[n][j])
                for l in range(self.d):
                    for i in range(l, self.d):
                        program.product[n][self.first[l] + i - l] = program.corner[n][i] * program.corner[n][l]
                n += 1
        program.basis.n = n

    cdef real of_corner(self, const Program *program, const real *form, int k) noexcept nogil:
        """<A, c c'> / 2 of a corner."""
        cdef real total = 0.0
        cdef int e
        for e in range(self.first[program.column[k]], self.n_entries):
            total += form[e] * program.product[k][e]
        return total

    cdef real of_row(self, const Program *program, const Row *row, int k) noexcept nogil:
        """What a corner adds to a row."""
        cdef real total = 0.0
        cdef int i
        for i in range(program.column[k], self.d):
            total += row.u[i] * program.corner[k][i]
        return -total * total if row.below else 2.0 * row.t[program.column[k]] * total

    cdef void bound(self, void *record, real limit) noexcept nogil:
        cdef Cell *cell = <Cell *> record
        cdef Program program
        cdef real form[MOST_ENTRIES]
        cdef real one
        cdef int _turn
        program.n_rows, program.basis.beyond, program.basis.amount = 0, -1, 0.0
        program.basis.n_free = MOST_COLUMNS
        cell.head.version = self.version
        if self.confine(cell):
            cell.head.bound = INFINITY
            return
        self.corners(cell, &program)
        self.begin(cell, &program)
        for _turn in range(N_TURNS):
            self.maximise(&program, cell.head.bound, limit)
            one = self.proved(&program, form)
            cell.head.bound = max(cell.head.bound, one)
            if cell.head.bound >= limit or program.basis.beyond >= 0 or not self.bend(&program):
                break
        if cell.head.bound < limit:
            self.choose(cell, &program, form)

    cdef bint confine(self, Cell *cell) noexcept nogil:
        """Cut the box down to where no row of C and no column is longer than the root of `top`; whether that is empty.

        P_ii is the square of row i, and c_j c_j' no larger than P.
        """
        cdef int i, j
        cdef real total
        for i in range(self.d):
            if not cell.high[self.first[i]] > 0.0:
                return True
        for i in range(self.d):
            total = 0.0
            for j in range(i + 1):
                total += least_square(cell, self.first[j] + i - j)
            if total > self.top * (1.0 + OUTSIDE):
                return True
            for j in range(i + 1):
                self.trim(cell, self.first[j] + i - j, total)
        for j in range(self.d):
            total = 0.0
            for i in range(j, self.d):
                total += least_square(cell, self.first[j] + i - j)
            if total > self.top * (1.0 + OUTSIDE):
                return True
            for i in range(j, self.d):
                self.trim(cell, self.first[j] + i - j, total)
        return False

    cdef void trim(self, Cell *cell, int e, real total) noexcept nogil:
        """Of an entry whose square, with those of others, is at most `top`; `total` is the least of their sum."""
        cdef real most = self.top * (1.0 + 4.0 * OUTSIDE) - (total - least_square(cell, e))
        most = sqrt(max(0.0, most)) * (1.0 + OUTSIDE)
        cell.low[e], cell.high[e] = max(cell.low[e], -most), min(cell.high[e], most)

    cdef void begin(self, const Cell *cell, Program *program) noexcept nogil:
        """A basis: the cut that says most at a point, each column's least there, and slacks of the other corners."""
        cdef const real *forms = &self.forms[0, 0]
        cdef const real *heights = &self.heights[0]
        cdef int k, i, n = program.basis.n, j
        cdef index v, best = 0
        cdef real least[MOST_COLUMNS]
        cdef real one, largest = -INFINITY, total
        cdef real cost[MOST_CORNERS]
        cdef real product[MOST_ENTRIES]
        cdef int at[MOST_COLUMNS]
        self.multiply(cell.point, product)
        for v in range(self.n_cuts):
            total = says(heights[v], forms + v * self.n_entries, product, self.n_entries)
            if total > largest:
                best, largest = v, total
        for j in range(self.d):
            least[j], at[j] = INFINITY, 0
        for k in range(n):
            cost[k] = self.of_corner(program, &self.forms[best, 0], k)
            one = program.logs[k] - cost[k]
            j = program.column[k]
            if one < least[j]:
                least[j], at[j] = one, k
        for k in range(n + 1):
            for i in range(n + 1):
                program.basis.inverse[k][i] = 0.0
        for k in range(n):
            j = program.column[k]
            program.basis.price[k] = 0.0
            if at[j] == k:      # y_j = r_k - cost_k r_n
                program.basis.basic[k], program.basis.level[k] = -1 - j, least[j]
                program.basis.inverse[k][k], program.basis.inverse[k][n] = 1.0, -cost[k]
                program.basis.price[k] = 1.0
            else:               # s_k = r_k - y_j - cost_k r_n
                program.basis.basic[k] = slack_of(&program.basis, k)
                program.basis.level[k] = program.logs[k] - cost[k] - least[j]
                program.basis.inverse[k][k], program.basis.inverse[k][at[j]] = 1.0, -1.0
                program.basis.inverse[k][n] = cost[at[j]] - cost[k]
        program.basis.basic[n], program.basis.level[n], program.basis.inverse[n][n] = best, 1.0, 1.0
        program.basis.price[n] = self.heights[best]
        for j in range(self.d):
            program.basis.price[n] -= cost[at[j]]

    cdef void maximise(self, Program *program, real known, real limit) noexcept nogil:
        """Pivots of the simplex method, from weights that are feasible and stay so."""
        cdef const real *forms = &self.forms[0, 0]
        cdef const real *heights = &self.heights[0]
        cdef int n = program.basis.n, _turn, k, i, e
        cdef index v, entering
        cdef real mixed[MOST_ENTRIES]
        cdef real profit, best, objective, enough
        for _turn in range(MOST_PIVOTS):
            objective = 0.0
            for k in range(n):
                objective += program.basis.price[k] * program.logs[k]
            objective += program.basis.price[n]
            if objective >= limit + fabs(limit) * FLAT:
                return
            for e in range(self.n_entries):
                mixed[e] = 0.0
            for k in range(n):
                for e in range(self.first[program.column[k]], self.n_entries):
                    mixed[e] += program.basis.price[k] * program.product[k][e]
            best = enough = worth_a_step(limit, objective)
            entering = -1
            for v in range(self.n_cuts):
                profit = says(heights[v], forms + v * self.n_entries, mixed, self.n_entries) - program.basis.price[n]
                if profit > best:
                    best, entering = profit, v
            for i in range(program.n_rows):
                profit = program.rows[i].constant
                for k in range(n):
                    profit += program.basis.price[k] * self.of_row(program, &program.rows[i], k)
                if profit > best:
                    best, entering = profit, self.n_cuts + i
            entering = best_slack(&program.basis, entering, &best)
            if best <= enough:
                return
            self.column(program, entering)
            if not enter(&program.basis, entering, best, limit - objective):
                return              # no P is in the cell
            self.n_pivots += 1

    cdef void column(self, Program *program, index entering) noexcept nogil:
        """What a unit of a variable counts in each row."""
        cdef int n = program.basis.n, k
        empty_column(&program.basis, entering)
        if entering >= self.n_cuts:
            for k in range(n):
                program.basis.entering[k] = -self.of_row(program, &program.rows[entering - self.n_cuts], k)
        elif entering >= 0:
            for k in range(n):
                program.basis.entering[k] = self.of_corner(program, &self.forms[entering, 0], k)
            program.basis.entering[n] = 1.0

    cdef real proved(self, const Program *program, real *form) noexcept nogil:
        """The bound of the weights that were found, whatever they are, rounded down; OUT: the form of their cut."""
        cdef int n = program.basis.n, k, e, i, j
        cdef index v
        cdef real share, total, height = 0.0, size = 0.0, value = 0.0, one, turn
        cdef real least[MOST_COLUMNS]
        cdef real logs[MOST_COLUMNS]
        total = total_weight(&program.basis, self.n_cuts)
        for e in range(self.n_entries):
            form[e] = 0.0
        if not 0.0 < total < INFINITY:
            return -INFINITY
        for k in range(n + 2):
            v = variable_at(&program.basis, k)
            if v < 0 or k > n and v < self.n_cuts:
                continue
            share = amount_at(&program.basis, k)
            if v >= self.n_cuts:
                one = program.rows[v - self.n_cuts].constant
                height += share * one
                size += 4.0 * share * fabs(one)     # |2 t'C'u| is no larger
                continue
            share /= total
            height += share * self.heights[v]
            size += share * (fabs(self.heights[v]) + self.d * self.top * self.sizes[v])
            for e in range(self.n_entries):
                form[e] += share * self.forms[v, e]
        for j in range(self.d):
            least[j], logs[j] = INFINITY, 0.0
        for k in range(n):
            j = program.column[k]
            one = program.logs[k] - self.of_corner(program, form, k)
            logs[j] = max(logs[j], fabs(program.logs[k]))
            for i in range(n + 2):
                v = variable_at(&program.basis, i)
                if v >= self.n_cuts:
                    turn = amount_at(&program.basis, i)
                    turn *= self.of_row(program, &program.rows[v - self.n_cuts], k)
                    one += turn
                    size += fabs(turn)
            least[j] = min(least[j], one)
        value = height
        for j in range(self.d):
            value += least[j]
            size += logs[j]
        value -= CELL_SUMS * size
        return value if value == value and value < INFINITY else -INFINITY

    cdef bint bend(self, Program *program) noexcept nogil:
        """Add rows by which the mixture's matrix is too large or too small in a direction, if it is.

        Directions are scaled so that multipliers of rows are about as large as those of cuts.
        """
        cdef real mean[MOST_COLUMNS][MOST_COLUMNS]
        cdef real P[MOST_COLUMNS][MOST_COLUMNS]
        cdef real u[MOST_COLUMNS]
        cdef real mixed[MOST_ENTRIES]
        cdef real value, share, unit = ROW_UNIT / sqrt(self.least)
        cdef int i, j, l, before = program.n_rows
        cdef index along
        cdef Row *row
        self.averages(program, mean)
        for i in range(self.d):
            for j in range(self.d):
                P[i][j] = 0.0
                for l in range(self.d):
                    P[i][j] += mean[l][i] * mean[l][j]
        value = self.largest(P, u)
        if program.n_rows < MOST_ROWS and value > self.top * (1.0 + VIOLATED):
            row = &program.rows[program.n_rows]
            program.n_rows += 1
            row.below, row.constant = False, 0.0
            for j in range(self.d):
                share = 0.0
                for i in range(self.d):
                    share += mean[j][i] * unit * u[i]
                row.t[j], row.u[j] = share, unit * u[j]
                row.constant -= share * share + self.top * row.u[j] * row.u[j]
        # of the mixture itself, whose spread a concave row counts
        self.mix(program, mixed)
        along = self.narrowest(mixed, &value)
        if program.n_rows < MOST_ROWS and value > 1.0 + VIOLATED:
            row = &program.rows[program.n_rows]
            program.n_rows += 1
            row.below, row.constant = True, ROW_UNIT * ROW_UNIT * (1.0 - 8.0 * ROUND)
            for j in range(self.d):
                row.t[j], row.u[j] = 0.0, ROW_UNIT * self.directions[along, j]
        for j in range(self.d):
            for i in range(j, self.d):
                P[i][j] = P[j][i] = mixed[self.first[j] + i - j]
        if program.n_rows < MOST_ROWS and self.invert(P):
            value = self.largest(P, u)
            if value * self.least * (1.0 - VIOLATED) > 1.0:
                row = &program.rows[program.n_rows]
                program.n_rows += 1
                row.below, row.constant = True, 0.0
                for j in range(self.d):
                    row.t[j], row.u[j] = 0.0, unit * u[j]
                    row.constant += self.least * row.u[j] * row.u[j]
        return program.n_rows > before

    cdef index narrowest(self, const real *product, real *ratio) noexcept nogil:
        """The direction along which a matrix is too narrow by the largest ratio, and OUT: that."""
        cdef const real *squares = &self.squares[0, 0]
        cdef real value, least = INFINITY
        cdef index t, found = -1
        for t in range(self.n_directions):
            value = -says(0.0, squares + t * self.n_entries, product, self.n_entries)
            if value < least:
                found, least = t, value
        ratio[0] = 1.0 / max(least, 1e-300) if found >= 0 else 0.0
        return found

    cdef real largest(self, real (*P)[MOST_COLUMNS], real *u) noexcept nogil:
        """The largest eigenvalue of a positive matrix, about, by its powers; OUT: its vector, of length 1, about."""
        cdef real power[MOST_COLUMNS][MOST_COLUMNS]
        cdef real square[MOST_COLUMNS][MOST_COLUMNS]
        cdef real trace, norm, value
        cdef int i, j, l, _turn, most = 0
        for i in range(self.d):
            for j in range(self.d):
                power[i][j] = P[i][j]
        for _turn in range(N_SQUARES):
            trace = 0.0
            for i in range(self.d):
                trace += power[i][i]
            if not 0.0 < trace < INFINITY:
                break
            for i in range(self.d):
                for j in range(self.d):
                    square[i][j] = 0.0
                    for l in range(self.d):
                        square[i][j] += power[i][l] * power[l][j] / (trace * trace)
            for i in range(self.d):
                for j in range(self.d):
                    power[i][j] = square[i][j]
        for i in range(self.d):
            if power[i][i] > power[most][most]:
                most = i
        norm = value = 0.0
        for i in range(self.d):
            norm += power[most][i] * power[most][i]
        for i in range(self.d):
            u[i] = power[most][i] / max(sqrt(norm), 1e-300)
        for i in range(self.d):
            for j in range(self.d):
                value += u[i] * P[i][j] * u[j]
        return value

    cdef bint invert(self, real (*P)[MOST_COLUMNS]) noexcept nogil:
        """In place; whether it is positive definite, about."""
        cdef real pivot, factor
        cdef int i, j, l
        for l in range(self.d):
            pivot = P[l][l]
            if not pivot > 0.0:
                return False
            P[l][l] = 1.0
            for j in range(self.d):
                P[l][j] /= pivot
            for i in range(self.d):
                if i != l:
                    factor = P[i][l]
                    P[i][l] = 0.0
                    for j in range(self.d):
                        P[i][j] -= factor * P[l][j]
        return True

    cdef void mix(self, const Program *program, real *mixed) noexcept nogil:
        """OUT: the mean of the matrices of the mixture of corners."""
        cdef int k, e
        for e in range(self.n_entries):
            mixed[e] = 0.0
        for k in range(program.basis.n):
            for e in range(self.first[program.column[k]], self.n_entries):
                mixed[e] += max(0.0, program.basis.price[k]) * program.product[k][e]

    cdef void averages(self, const Program *program, real (*mean)[MOST_COLUMNS]) noexcept nogil:
        """Mean (d, d) of the mixture of corners of each column."""
        cdef int i, j, k
        cdef real total[MOST_COLUMNS]
        cdef real share
        for j in range(self.d):
            total[j] = 0.0
            for i in range(self.d):
                mean[j][i] = 0.0
        for k in range(program.basis.n):
            share, j = max(0.0, program.basis.price[k]), program.column[k]
            total[j] += share
            for i in range(j, self.d):
                mean[j][i] += share * program.corner[k][i]
        for j in range(self.d):
            for i in range(j, self.d):
                mean[j][i] /= max(total[j], 1e-300)

    cdef void choose(self, Cell *cell, const Program *program, const real *form) noexcept nogil:
        """Where the mixture of corners is spread most, in nats, and the function at its mean."""
        cdef real mean[MOST_COLUMNS][MOST_COLUMNS]
        cdef real width, part, loss, most = -1.0, wide = -1.0, at
        cdef real product[MOST_ENTRIES]
        cdef real bends[MOST_COLUMNS]
        cdef const Row *row
        cdef index v
        cdef int i, j, k, e, widest = 0
        # of the cut, and of rows that are concave
        for i in range(self.d):
            bends[i] = max(0.0, form[self.first[i]])
        for k in range(program.basis.n + 2):
            v = variable_at(&program.basis, k)
            if v >= self.n_cuts and program.rows[v - self.n_cuts].below:
                row = &program.rows[v - self.n_cuts]
                part = amount_at(&program.basis, k)
                for i in range(self.d):
                    bends[i] += part * row.u[i] * row.u[i]
        self.averages(program, mean)
        self.mix(program, cell.mixed)
        for j in range(self.d):
            for i in range(j, self.d):
                e = self.first[j] + i - j
                width = cell.high[e] - cell.low[e]
                at = clip(mean[j][i], cell.low[e], cell.high[e])
                cell.point[e] = at
                part = (at - cell.low[e]) / max(width, 1e-300)
                loss = bends[i] * part * (1.0 - part) * width * width
                if i == j:
                    loss += log(at) - part * log(cell.high[e]) - (1.0 - part) * log(cell.low[e])
                if loss > most:
                    most, cell.axis, cell.at = loss, e, at
                if width > wide:
                    wide, widest = width, e
        if most <= FLAT:
            cell.axis = widest
        e = cell.axis
        width = cell.high[e] - cell.low[e]
        cell.at = clip(cell.point[e], cell.low[e] + SPLIT_WITHIN * width, cell.high[e] - SPLIT_WITHIN * width)
        cell.head.value = self.asked(cell, product)
        cell.head.value += self.told(product)
