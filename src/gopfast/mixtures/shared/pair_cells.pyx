"""
What cuts of a mixture of two components leave of its covariance matrix: cells of the direction between the components.

With two components P = top (I - t u u') with a unit vector u, the direction in which they lie apart, and t, the part of
the variance along it that is between them. Let cuts (A_v, b_v) be given. The least of

    log det P / 2 + max over v of (b_v - <A_v, P> / 2)
        =  log (1 - t) / 2 + max over v of (b_v - top tr A_v / 2 + top t u'A_v u / 2), and a constant,

is sought over all t from 0 to 1 - `least` / `top` and all u. Cells are an interval of t and a cone of u. A_v less a
multiple of I is above its tangents in u, with which a cut is linear in t and t u; and the logarithm is concave, so that
for weights of the cuts the sum is least at a corner. The best weights are those of a linear program, the dual of which
mixes corners: any weights bound.

Theory: (TP1) of docs/theory/pairs.md.
"""

import numpy as np

from gopfast.mixtures.shared.cells import doubled

from cython cimport final
from libc.math cimport INFINITY, fabs, log1p, sqrt

from gopfast.mixtures.shared.cells cimport (
    Basis, Cells, Head, amount_at, best_slack, empty_column, enter, slack_of, total_weight, variable_at, worth_a_step
)
from gopfast.mixtures.shared.margins cimport CELL_SUMS, OUTSIDE
from gopfast.mixtures.shared.tuning cimport (
    BULGE, EDGE_EVEN, EDGE_SHORT, END_EVEN, FLAT, MOST_PIVOTS, MOST_ROWS, N_TURNS, ROW_UNIT, VIOLATED
)
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport clip, index, real

cdef enum:
    MOST_COLUMNS = 8        # of the samples
    MOST_CORNERS = 32       # of a cell: both ends of t, of each ray of the cone two points


cdef struct Cell:
    Head head
    int first, second   # rays of the cone between which it is divided; the same: t is
    real low, high      # of t
    real at             # the mean of t of the mixture of corners, and of t u, over that
    real mean[MOST_COLUMNS]
    real center[MOST_COLUMNS]               # about the middle of the cone, of length 1
    real ray[MOST_COLUMNS][MOST_COLUMNS]    # of any length


cdef struct Row:        # what is not positive of any P: t times a linear function of u, and a constant
    index along         # its direction
    real slope[MOST_COLUMNS]
    real rise
    real constant


# The linear program of a cell. Rows: one of every corner, and the sum of the weights. Columns: cuts, rows, the least of
# all corners, and slacks of corners.
cdef struct Program:
    Basis basis
    real unit[MOST_COLUMNS][MOST_COLUMNS]       # rays, of length 1
    real t[MOST_CORNERS]
    real cost[MOST_CORNERS]                     # log (1 - t) / 2
    real corner[MOST_CORNERS][MOST_COLUMNS]     # t u
    real touch[MOST_COLUMNS]                    # where tangents touch
    int n_rows
    Row rows[MOST_ROWS]


cdef inline real dot(const real *a, const real *b, int n) noexcept nogil:
    cdef real total = 0.0
    cdef int e
    for e in range(n):
        total += a[e] * b[e]
    return total


@final
cdef class PairCells(Cells):
    """
    Branch and bound of the least value, per unit of weight.

    Parameters
    ----------
    d : int
        Columns of the samples, 1 to 8.
    least, top : float
        No eigenvalue of P is less or more.
    asked : tuple of float, optional
        Eigenvalues between which cuts are asked for: a point with others is moved there.
    """

    cdef real most                      # t
    cdef real[:, ::1] forms             # (capacity, d d) of cuts: top A less a multiple of I
    cdef real[::1] parts, heights, sizes    # (capacity,) that multiple, b - top tr A / 2, sum of the form's magnitudes
    cdef real[::1] given                # (capacity,) b
    cdef real[:, ::1] gradients         # (capacity, d) of tangents
    cdef real[::1] bases                # (capacity,) what tangents are at u = 0, per unit of t

    def __init__(self, int d, real least, real top, asked=(0.0, INFINITY)):
        cdef Cell cell
        cdef int mask, i, e
        if not 1 <= d <= MOST_COLUMNS:
            raise ValueError(f"d must be 1 to {MOST_COLUMNS}, got {d}")
        if not 0.0 < least < top:
            raise ValueError(f"least must be positive and less than top, got {least} and {top}")
        super().__init__(d, least, top, asked)
        self.size = sizeof(Cell)
        self.most = 1.0 - least / top * (1.0 - OUTSIDE)
        self.forms, self.gradients = np.zeros((8, d * d)), np.zeros((8, d))
        self.parts, self.heights, self.sizes = np.zeros(8), np.zeros(8), np.zeros(8)
        self.given, self.bases = np.zeros(8), np.zeros(8)
        cell.low, cell.high = 0.0, self.most
        cell.head.bound = cell.head.value = -INFINITY
        cell.first, cell.second, cell.head.version, cell.at = 0, 0, -1, 0.5 * self.most
        for mask in range(1 << (d - 1)):    # u and - u are the same
            for i in range(d):
                for e in range(d):
                    cell.ray[i][e] = 0.0
                cell.ray[i][i] = -1.0 if i < d - 1 and mask >> i & 1 else 1.0
            self.center(&cell)
            self.begin_with(&cell)

    def add(self, A, real b):
        """Add a cut, R >= b - <A, P> / 2; returns its number."""
        cdef index v = self.n_cuts
        matrix = np.array(A, dtype=np.float64)
        matrix = 0.5 * self.top * (matrix + matrix.T)
        if v == self.forms.shape[0]:
            self.forms, self.gradients, self.bases = doubled(self.forms), doubled(self.gradients), doubled(self.bases)
            self.given, self.parts = doubled(self.given), doubled(self.parts)
            self.heights, self.sizes = doubled(self.heights), doubled(self.sizes)
        size = float(np.abs(matrix).sum())
        part = float(np.linalg.eigvalsh(matrix)[0]) - OUTSIDE * size
        np.asarray(self.forms)[v] = (matrix - part * np.eye(self.d)).ravel()
        self.given[v], self.parts[v] = b, part
        self.heights[v] = b - 0.5 * float(np.trace(matrix))
        self.sizes[v] = size + fabs(part)
        self.n_cuts += 1
        self.version += 1
        return v

    def lift(self, index v, real b):
        """A cut is better known."""
        if b > self.given[v]:
            self.heights[v] += b - self.given[v]
            self.given[v] = b
            self.version += 1

    def value(self, real t, u):
        """The function at t and u (d,), not rounded down."""
        cdef real x[MOST_COLUMNS]
        cdef int i
        length = sqrt(sum(one * one for one in u))
        for i in range(self.d):
            x[i] = u[i] / length
        return 0.5 * log1p(-t) + self.told(t, x)

    def bound_of(self, real low, real high, rays):
        """For tests: the bound over an interval of t and a cone of rays (d, d)."""
        cdef Cell cell
        cdef int i, e
        cell.low, cell.high, cell.at = low, high, 0.5 * (low + high)
        for i in range(self.d):
            for e in range(self.d):
                cell.ray[i][e] = rays[i][e]
        self.center(&cell)
        cell.head.bound = -INFINITY
        self.bound(&cell, INFINITY)
        return cell.head.bound

    @property
    def point(self):
        """The matrix (d, d) near which the least cell's bound was found, and at which cuts are asked for, or None."""
        if not self.n_open:
            return None
        cdef const Cell *cell = <const Cell *> self.lowest()
        cdef int i
        u = np.array([cell.mean[i] for i in range(self.d)])
        u /= max(1e-300, float(np.linalg.norm(u)))
        return self.top * (np.eye(self.d) - self.within(cell.at, cell.mean) * np.outer(u, u))

    @property
    def mixed(self):
        """The same."""
        return self.point

    def cones(self):
        """For tests: of open cells, ends of t (n_open, 2), and rays (n_open, d, d)."""
        cdef const Cell *cell
        ends, rays = np.empty((self.n_open, 2)), np.empty((self.n_open, self.d, self.d))
        for i in range(self.n_open):
            cell = <const Cell *> self.open_cell(i)
            ends[i] = cell.low, cell.high
            for j in range(self.d):
                for e in range(self.d):
                    rays[i, j, e] = cell.ray[j][e]
        return ends, rays

    cdef bint divide(self, const void *cell, void *halves) noexcept nogil:
        cdef const Cell *whole = <const Cell *> cell
        cdef Cell *half = <Cell *> halves
        cdef real a, b, t
        cdef int side, e, first = whole.first, second = whole.second
        half[0] = half[1] = whole[0]
        if first == second:     # in the middle of log (1 - t)
            t = 1.0 - sqrt((1.0 - whole.low) * (1.0 - whole.high))
            if not whole.low < t < whole.high:
                return False
            half[0].high = half[1].low = t
        else:                   # rays' middles are exact, so that the cones of both halves are the whole
            for e in range(self.d):
                a, b = whole.ray[first][e], whole.ray[second][e]
                t = a + b
                if t - a != b or t - b != a:
                    return False
                half[0].ray[first][e] = half[1].ray[second][e] = 0.5 * t
        for side in range(2):
            half[side].at = clip(half[side].at, half[side].low, half[side].high)
            self.center(&half[side])
        return True

    cdef void center(self, Cell *cell) noexcept nogil:
        """The middle of the cone as the place where tangents touch first."""
        cdef int i, e
        cdef real length
        for e in range(self.d):
            cell.mean[e] = 0.0
        for i in range(self.d):
            length = sqrt(dot(cell.ray[i], cell.ray[i], self.d))
            for e in range(self.d):
                cell.mean[e] += cell.ray[i][e] / length
        length = max(1e-300, sqrt(dot(cell.mean, cell.mean, self.d)))
        for e in range(self.d):
            cell.center[e] = cell.mean[e] = cell.mean[e] / length

    # Bounds.

    cdef real told(self, real t, const real *u) noexcept nogil:
        """The largest cut at t and a unit vector."""
        cdef real best = -INFINITY
        cdef real slope[MOST_COLUMNS]
        cdef index v
        for v in range(self.n_cuts):
            self.times(&self.forms[v, 0], u, slope)
            best = max(best, self.heights[v] + 0.5 * t * (self.parts[v] + dot(slope, u, self.d)))
        return best

    cdef real within(self, real t, const real *mean) noexcept nogil:
        """Of t what there may be along a direction, about."""
        cdef real length = sqrt(dot(mean, mean, self.d)), value, most = 1.0 - self.thinnest / self.top, length_squared
        cdef index k
        for k in range(self.n_directions):
            value = dot(&self.directions[k, 0], mean, self.d) / max(length, 1e-300)
            value *= value
            length_squared = dot(&self.directions[k, 0], &self.directions[k, 0], self.d)
            # of a direction of length 1 along which P is no less than 1 / length_squared
            if value * most > length_squared - 1.0 / self.top:
                most = max(0.0, (length_squared - 1.0 / self.top) / value)
        return clip(t, 0.0, most)

    cdef void times(self, const real *form, const real *u, real *slope) noexcept nogil:
        """OUT: the form times u."""
        cdef int i
        for i in range(self.d):
            slope[i] = dot(form + i * self.d, u, self.d)

    cdef void corners(self, const Cell *cell, Program *program) noexcept nogil:
        """Points whose convex hull holds all t u: a unit vector of the cone is a mean of rays' points, stretched."""
        cdef real length, near = INFINITY, t, reach
        cdef int i, e, end, side, n = 0, d = self.d
        for i in range(d):
            length = sqrt(dot(cell.ray[i], cell.ray[i], d))
            for e in range(d):
                program.unit[i][e] = cell.ray[i][e] / length
        # the mean of points of length 1, about, is no shorter than along any direction, and no longer than one
        for i in range(d):
            near = min(near, dot(program.unit[i], cell.center, d))
        for end in range(2):
            t = cell.low if end == 0 else cell.high
            for side in range(2):
                reach = t / (near * (1.0 - OUTSIDE)) if side else t / (1.0 + OUTSIDE)
                for i in range(d):
                    program.t[n], program.cost[n] = t, 0.5 * log1p(-t)
                    for e in range(d):
                        program.corner[n][e] = reach * program.unit[i][e]
                    n += 1
        program.basis.n = n

    cdef void touch(self, Program *program) noexcept nogil:
        """Tangents of all cuts."""
        cdef index v
        for v in range(self.n_cuts):
            self.times(&self.forms[v, 0], program.touch, &self.gradients[v, 0])
            self.bases[v] = 0.5 * (self.parts[v] - dot(&self.gradients[v, 0], program.touch, self.d))

    cdef real mix(self, const Program *program, real *mean) noexcept nogil:
        """The mean of t of the mixture of corners; OUT: that of t u."""
        cdef int i, e
        cdef real t = 0.0
        for e in range(self.d):
            mean[e] = 0.0
        for i in range(program.basis.n):
            if program.basis.price[i] != 0.0:
                t += program.basis.price[i] * program.t[i]
                for e in range(self.d):
                    mean[e] += program.basis.price[i] * program.corner[i][e]
        return t

    cdef void bound(self, void *record, real limit) noexcept nogil:
        cdef Cell *cell = <Cell *> record
        cdef Program program
        cdef real form[MOST_COLUMNS * MOST_COLUMNS]
        cdef real mean[MOST_COLUMNS]
        cdef real one, t
        cdef int _turn, e
        program.n_rows, program.basis.n_free = 0, 1
        cell.head.version = self.version
        self.corners(cell, &program)
        for e in range(self.d):
            program.touch[e] = cell.mean[e]
        for _turn in range(N_TURNS):
            program.basis.beyond, program.basis.amount = -1, 0.0
            self.touch(&program)
            self.begin(cell, &program)
            self.maximise(&program, limit)
            one = self.proved(&program, form)
            if _turn > 0 and not one > cell.head.bound and not program.n_rows:
                break
            cell.head.bound = max(cell.head.bound, one)
            if cell.head.bound >= limit or program.basis.beyond >= 0:
                break
            t = self.mix(&program, mean)
            if not t > 0.0:
                break
            for e in range(self.d):
                program.touch[e] = mean[e] / t
            self.bend(&program, t)
        if cell.head.bound < limit:
            self.choose(cell, &program, form)

    cdef real of_cut(self, const Program *program, index v, int i) noexcept nogil:
        """What a cut's tangent says at a corner."""
        return (
            self.heights[v] + self.bases[v] * program.t[i] + dot(&self.gradients[v, 0], program.corner[i], self.d)
        )

    cdef real of_row(self, const Program *program, const Row *row, int i) noexcept nogil:
        return row.constant + row.rise * program.t[i] + dot(row.slope, program.corner[i], self.d)

    cdef void begin(self, const Cell *cell, Program *program) noexcept nogil:
        """A basis: the cut that says most where tangents touch, its least there, and slacks of the other corners."""
        cdef int i, k, n = program.basis.n, at = 0
        cdef index v, best = 0
        cdef real one, largest = -INFINITY
        cdef real said[MOST_CORNERS]
        for v in range(self.n_cuts):
            one = self.heights[v] + cell.at * (self.bases[v] + dot(&self.gradients[v, 0], program.touch, self.d))
            if one > largest:
                best, largest = v, one
        for i in range(n):
            said[i] = self.of_cut(program, best, i)
            if program.cost[i] + said[i] < program.cost[at] + said[at]:
                at = i
        for k in range(n + 1):
            for i in range(n + 1):
                program.basis.inverse[k][i] = 0.0
            program.basis.price[k] = 0.0
        for i in range(n):      # rows: s - cut + slack = cost
            program.basis.inverse[i][i] = 1.0
            if i == at:
                program.basis.basic[i], program.basis.level[i] = -1, program.cost[i] + said[i]
                program.basis.inverse[i][n] = said[i]
            else:
                program.basis.basic[i] = slack_of(&program.basis, i)
                program.basis.level[i] = program.cost[i] + said[i] - program.cost[at] - said[at]
                program.basis.inverse[i][at], program.basis.inverse[i][n] = -1.0, said[i] - said[at]
        program.basis.basic[n], program.basis.level[n], program.basis.inverse[n][n] = best, 1.0, 1.0
        program.basis.price[at], program.basis.price[n] = 1.0, said[at]

    cdef void maximise(self, Program *program, real limit) noexcept nogil:
        """Pivots of the simplex method, from weights that are feasible and stay so."""
        cdef int n = program.basis.n, _turn, i
        cdef index v, entering
        cdef real mean[MOST_COLUMNS]
        cdef real profit, best, objective, enough, t
        for _turn in range(MOST_PIVOTS):
            objective = program.basis.price[n]
            for i in range(n):
                objective += program.basis.price[i] * program.cost[i]
            if objective >= limit + fabs(limit) * FLAT:
                return
            t = self.mix(program, mean)
            best = enough = worth_a_step(limit, objective)
            entering = -1
            for v in range(self.n_cuts):
                profit = self.heights[v] + self.bases[v] * t + dot(&self.gradients[v, 0], mean, self.d)
                profit -= program.basis.price[n]
                if profit > best:
                    best, entering = profit, v
            for i in range(program.n_rows):
                profit = program.rows[i].constant + program.rows[i].rise * t + dot(program.rows[i].slope, mean, self.d)
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
        cdef int n = program.basis.n, i
        empty_column(&program.basis, entering)
        if entering >= self.n_cuts:
            for i in range(n):
                program.basis.entering[i] = -self.of_row(program, &program.rows[entering - self.n_cuts], i)
        elif entering >= 0:
            for i in range(n):
                program.basis.entering[i] = -self.of_cut(program, entering, i)
            program.basis.entering[n] = 1.0

    cdef real proved(self, const Program *program, real *form) noexcept nogil:
        """The bound of the weights that were found, whatever they are, rounded down; OUT: the form of their cut."""
        cdef int n = program.basis.n, d = self.d, k, e, i
        cdef index v
        cdef real share, total, height = 0.0, size = 0.0, magnitude = 0.0, part = 0.0, least, one
        cdef real constant = 0.0, rise = 0.0
        cdef real slope[MOST_COLUMNS]
        cdef real gradient[MOST_COLUMNS]
        cdef real widest = dot(program.touch, program.touch, d)
        total = total_weight(&program.basis, self.n_cuts)
        for e in range(d * d):
            form[e] = 0.0
        for e in range(d):
            slope[e] = 0.0
        if not 0.0 < total < INFINITY:
            return -INFINITY
        for k in range(n + 2):
            v = variable_at(&program.basis, k)
            if v < 0 or k > n and v < self.n_cuts:
                continue
            share = amount_at(&program.basis, k)
            if v >= self.n_cuts:
                constant += share * program.rows[v - self.n_cuts].constant
                rise += share * program.rows[v - self.n_cuts].rise
                size += share * fabs(program.rows[v - self.n_cuts].constant)
                size += share * fabs(program.rows[v - self.n_cuts].rise)
                for e in range(d):
                    slope[e] += share * program.rows[v - self.n_cuts].slope[e]
                continue
            share /= total
            height += share * self.heights[v]
            part += share * self.parts[v]
            size += share * (fabs(self.given[v]) + self.d * self.sizes[v])
            magnitude += share * self.sizes[v]
            for e in range(d * d):
                form[e] += share * self.forms[v, e]
        self.times(form, program.touch, gradient)
        rise += 0.5 * (part - dot(gradient, program.touch, d))
        least = INFINITY
        for i in range(n):
            one = fabs(program.cost[i])
            for e in range(d):
                one += fabs(slope[e] * program.corner[i][e])
            widest = max(widest, dot(program.corner[i], program.corner[i], d))
            least = min(least, (
                program.cost[i] + rise * program.t[i] + dot(gradient, program.corner[i], d)
                + (constant + dot(slope, program.corner[i], d)) - CELL_SUMS * one
            ))
        one = height + least - CELL_SUMS * (size + 4.0 * magnitude * (1.0 + widest))
        return one if one == one and one < INFINITY else -INFINITY

    cdef void bend(self, Program *program, real t) noexcept nogil:
        """Add a row by which the mixture's mean is too narrow along a direction, if it is."""
        cdef real value, within, most = 0.0, length
        cdef index k, found = -1
        cdef int e
        cdef Row *row
        for k in range(self.n_directions):
            length = dot(&self.directions[k, 0], &self.directions[k, 0], self.d)
            value = dot(&self.directions[k, 0], program.touch, self.d)
            within = t * value * value - (length - 1.0 / self.top)
            if within > VIOLATED and within > most:
                found, most = k, within
        if found < 0 or program.n_rows >= MOST_ROWS:
            return
        # t (u'x)^2 <= |u|^2 - 1 / top, and the square is above its tangent
        row = &program.rows[program.n_rows]
        program.n_rows += 1
        value = dot(&self.directions[found, 0], program.touch, self.d)
        length = dot(&self.directions[found, 0], &self.directions[found, 0], self.d)
        for e in range(self.d):
            row.slope[e] = 2.0 * ROW_UNIT * ROW_UNIT * value * self.directions[found, e]
        row.along = found
        row.rise = -ROW_UNIT * ROW_UNIT * value * value
        row.constant = -ROW_UNIT * ROW_UNIT * (length - 1.0 / self.top * (1.0 - 8.0 * ROUND)) * (1.0 + 8.0 * ROUND)

    cdef void choose(self, Cell *cell, const Program *program, real *form) noexcept nogil:
        """Where the mixture of corners loses most, in nats, and the function at its mean; the form is used up."""
        cdef int i, k, e, d = self.d
        cdef index v
        cdef real total = 0.0, loss, most, length, low = 0.0, at, bulge
        cdef real share[MOST_COLUMNS]
        cdef real mean[MOST_COLUMNS]
        cdef real edge[MOST_COLUMNS]
        cdef real slope[MOST_COLUMNS]
        cdef real longest = 0.0
        for k in range(d):
            share[k] = 0.0
        for i in range(program.basis.n):
            loss = max(0.0, program.basis.price[i])
            total += loss
            share[i % d] += loss
            if i < program.basis.n // 2:
                low += loss
        total = max(total, 1e-300)
        cell.at = clip(self.mix(program, mean) / total, cell.low, cell.high)
        length = sqrt(dot(mean, mean, d))
        if length > 0.0:
            for e in range(d):
                cell.mean[e] = mean[e] / length
        low /= total
        cell.first = cell.second = 0
        # rows are tangents, too
        for i in range(program.basis.n + 2):
            v = variable_at(&program.basis, i)
            if v >= self.n_cuts:
                loss = amount_at(&program.basis, i)
                loss *= 2.0 * ROW_UNIT * ROW_UNIT
                v = program.rows[v - self.n_cuts].along
                for k in range(d):
                    for e in range(d):
                        form[k * d + e] += loss * self.directions[v, k] * self.directions[v, e]
        # a mixture of unit vectors is shorter than one, by which cuts say less
        self.times(form, cell.mean, slope)
        bulge = max(BULGE, dot(slope, cell.mean, d))
        most = 0.5 * log1p(-0.5 * (cell.low + cell.high)) - 0.25 * (log1p(-cell.low) + log1p(-cell.high))
        most *= 4.0 * (low * (1.0 - low) + END_EVEN)
        for i in range(d):
            for k in range(i):
                for e in range(d):
                    edge[e] = program.unit[i][e] - program.unit[k][e]
                longest = max(longest, dot(edge, edge, d))
        for i in range(d):
            for k in range(i):
                for e in range(d):
                    edge[e] = program.unit[i][e] - program.unit[k][e]
                length = dot(edge, edge, d)
                if length < EDGE_SHORT * EDGE_SHORT * longest:
                    continue
                self.times(form, edge, slope)
                loss = 0.125 * cell.high * (dot(slope, edge, d) + bulge * length)
                loss *= 4.0 * (share[i] * share[k] / (total * total) + EDGE_EVEN)
                if loss > most:
                    most, cell.first, cell.second = loss, i, k
        at = self.within(cell.at, cell.mean)
        cell.head.value = 0.5 * log1p(-at) + self.told(at, cell.mean)
