"""Bounds of latent classes by mixtures of their boxes' corners.

With the other variables' probabilities given, the density of a class is linear in those of each variable. So a class of
a box is a mixture of products of corners, one corner of each variable's interval (of labels: of the part of the simplex
that their intervals leave), and with the weights of all classes free

    f >= min over mixtures omega of the corners of all classes of  - sum_i w_i log sum_s omega_s q_s(x_i).

That is the objective's minimum over the convex hull of all densities of the box: no relaxation that is convex in the
density is tighter. For any z > 0, by Jensen's inequality,

    - sum_i w_i log p_i >= sum_i w_i log (z_i / w_i) - W log (max_s D_s / W),     D_s = sum_i z_i q_s(x_i),

where the samples are patterns in a table of all combinations of levels: D is it, each axis multiplied by the corners of
one variable. z = w / p of the best mixture makes both sides equal; it comes from columns that are added where D is
largest, and Newton steps for their weights. What the best mixture spreads over a class's corners is what a box loses:
it is split there.

The relaxed dual knows what this does not: that probabilities are the averages of what their class holds. It loses by
the entropy of an interval, this by what the samples still depend on each other within a class.

Theory: (L3), (L4) and (L5) of docs/theory/latent_classes.md.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, isfinite, log, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from gopfast.mixtures.dense cimport dense_backward, dense_factor, dense_forward, dense_gram
from gopfast.mixtures.relaxations.entropic cimport EntropicRelaxation
from gopfast.mixtures.families.exponential cimport BERNOULLI, LABEL, ExponentialFamily
from gopfast.mixtures.families.family cimport Family
from gopfast.mixtures.relaxations.margins cimport OUTSIDE
from gopfast.mixtures.relaxations.tuning cimport (
    ABOVE, CORNERS_LEAST_WEIGHT as LEAST_WEIGHT, CORNERS_MOST_WORK as MOST_WORK, CORNERS_PATIENCE as PATIENCE, INSIDE,
    LEAST_DENSITY, MOST_ENTRIES, MOST_LABELS, MOST_LEVELS, MOST_ROUNDS, MOST_STEPS, MOST_VARIABLES, NEAR, NEW_WEIGHT,
    PULL, RIDGE, SPARE_COLUMNS, SPREAD_ROOM
)
from gopfast.search.arena cimport Arena
from gopfast.search.relaxation cimport Effort, no_effort
from gopfast.search.rounding cimport ROUND
from gopfast.search.stop cimport StopSignal, clock
from gopfast.search.tree cimport Node, Tree, node_high, node_low, node_point, node_warm
from gopfast.search.types cimport clip, index, real


# Workspace of one worker. K classes, V variables, n patterns, A columns (corners with a weight) at most.
cdef struct Hull:
    real *corners       # (K, n_rows) of the classes' variables: one value for each level
    int *n_corners      # (K, V)
    real *low           # (MOST_LEVELS,) of one variable's labels
    real *high
    real *table         # (MOST_ENTRIES,) z by combinations of levels, then D by those of corners
    real *other
    real *log_z         # (n,)
    real *z
    real *p             # (n,) densities
    real *step_p
    real *root          # (n,) of the weights, over p
    real *scaled        # (n, A) densities times it
    real *density       # (A, n) of the columns
    real *weight        # (A,)
    real *gradient      # (A,) W - D
    real *step
    real *matrix        # (A, A)
    int *owner          # (A,) class of a column
    int *place          # (A,) its number among the corners of the class; -1: the middle of the box
    int *free           # (A,) the columns that move
    int *found          # (K,) the corner of the largest D
    real *found_D       # (K,)


def has_corners(Family family):
    """Whether the samples are 0s, 1s and labels without a prior, in so few combinations that corners pay."""
    return isinstance(family, ExponentialFamily) and family.n_components > 1 and layout_of(family) is not None


def layout_of(ExponentialFamily family):
    """Levels of the variables as (columns (V, MOST_LEVELS), sizes (V,), codes (V, n)); None: they are not, or too many.

    A column of 0s and 1s is a variable of two levels, the second its own; a label's column is anywhere. A missing
    entry has the code after the last.
    """
    kinds, groups = np.asarray(family.kinds), np.asarray(family.groups)
    columns, masses = family.data.arrays()
    if family.has_prior or family.has_many_trials or not np.isin(kinds, (BERNOULLI, LABEL)).all():
        return None
    if columns.shape[1] * family.n_components ** 2 > MOST_WORK:
        return None
    variables, sizes, codes, n_entries, n_corners = [], [], [], 1, 1
    for j in range(len(kinds)):
        own = np.flatnonzero((kinds == LABEL) & (groups == groups[j])) if kinds[j] == LABEL else np.array([j, j])
        if own[0] < j:
            continue
        size, seen = len(own), columns[own] > 0
        if size > MOST_LABELS:
            return None
        variables.append(np.pad(own, (0, MOST_LEVELS - size)))
        sizes.append(size)
        codes.append(np.where(seen.any(axis=0), seen.argmax(axis=0), size) if kinds[j] == LABEL else seen[0])
        n_entries *= size + (kinds[j] == LABEL and not seen.any(axis=0).all())
        n_corners *= max(1, size * (size - 1))
    if max(n_entries, n_corners) > MOST_ENTRIES or len(sizes) > MOST_VARIABLES:
        return None
    if not (np.isin(columns, (0.0, 1.0)).all() and (masses > 0).all()):
        return None
    return np.array(variables, np.intc), np.array(sizes, np.intc), np.array(codes, np.intc)


cdef enum:
    CORNERS = 1     # stage of bounding a node


cdef class CornerRelaxation(EntropicRelaxation):
    """The relaxed dual, and where that does not close a node mixtures of its corners; options are those of the base."""

    cdef int n_variables, n_patterns, n_rows, n_columns_most
    cdef index n_entries                # of the table of levels
    cdef index z_at                     # where log z begins in what nodes hand on
    cdef int[:, ::1] variables          # (V, MOST_LEVELS) the levels' columns
    cdef int[::1] sizes                 # (V,) its levels
    cdef int[::1] widths_of_rows        # (V,) with the one for missing values
    cdef int[::1] row_at                # (V,) where its corners begin, in those of a class
    cdef int[::1] most_corners          # (V,)
    cdef unsigned char[::1] is_label    # (V,)
    cdef int[:, ::1] codes              # (V, n)
    cdef index[::1] entry               # (n,) of a pattern in the table
    cdef real[::1] masses               # (n,)
    cdef real entropy, entropy_size     # sum w log w, and of its terms' magnitudes
    cdef Hull *hulls
    cdef list hull_arenas

    def __cinit__(self):
        self.hulls = NULL

    def __init__(self, Family family, **options):
        cdef int v, i
        EntropicRelaxation.__init__(self, family, **options)
        variables, sizes, codes = layout_of(family)
        _, masses = family.data.arrays()
        self.variables, self.sizes, self.codes = variables, sizes, codes
        self.masses = np.ascontiguousarray(masses)
        self.n_variables, self.n_patterns = len(sizes), len(masses)
        self.is_label = np.asarray((<ExponentialFamily> family).kinds)[variables[:, 0]] == LABEL
        missing = (codes == sizes[:, None]).any(axis=1)
        rows = sizes + missing
        self.widths_of_rows = rows.astype(np.intc)
        most = np.where(self.is_label, sizes * 2 ** (sizes - 1), 2)
        self.most_corners = most.astype(np.intc)
        self.row_at = (np.cumsum(most * rows) - most * rows).astype(np.intc)
        self.n_rows = int(np.sum(most * rows))
        self.n_entries = int(np.prod(rows))
        self.entry = np.zeros(self.n_patterns, dtype=np.intp)
        for v in range(self.n_variables):
            for i in range(self.n_patterns):
                self.entry[i] = self.entry[i] * self.widths_of_rows[v] + self.codes[v, i]
        self.n_columns_most = self.n_patterns + SPARE_COLUMNS + 2 * family.n_components
        terms = masses * np.log(masses)
        self.entropy, self.entropy_size = float(np.sum(terms)), float(np.sum(np.abs(terms)))
        self.z_at, self.n_warm = self.n_warm, self.n_warm + self.n_patterns

    def __dealloc__(self):
        free(self.hulls)

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        cdef int worker
        EntropicRelaxation.prepare(self, n_workers, stop)
        free(self.hulls)
        self.hulls = <Hull *> calloc(n_workers, sizeof(Hull))
        if self.hulls == NULL:
            raise MemoryError
        self.hull_arenas = [Arena() for _worker in range(n_workers)]
        for worker in range(n_workers):
            self.lay_out(self.hull_arenas[worker], &self.hulls[worker])
        return 0

    cdef int lay_out(self, Arena arena, Hull *at) except -1:
        """OUT: the arrays of a workspace."""
        cdef size_t K = self.family.n_components, n = self.n_patterns, A = self.n_columns_most
        while arena.again():
            at.corners = arena.take(K * self.n_rows)
            at.n_corners = <int *> arena.take_bytes(K * self.n_variables * sizeof(int))
            at.low, at.high = arena.take(MOST_LEVELS), arena.take(MOST_LEVELS)
            at.table, at.other = arena.take(MOST_ENTRIES), arena.take(MOST_ENTRIES)
            at.log_z, at.z, at.p, at.step_p = arena.take(n), arena.take(n), arena.take(n), arena.take(n)
            at.root, at.scaled, at.density = arena.take(n), arena.take(A * n), arena.take(A * n)
            at.matrix = arena.take(A * A)
            at.weight, at.gradient, at.step = arena.take(A), arena.take(A), arena.take(A)
            at.owner = <int *> arena.take_bytes(A * sizeof(int))
            at.place = <int *> arena.take_bytes(A * sizeof(int))
            at.free = <int *> arena.take_bytes(A * sizeof(int))
            at.found = <int *> arena.take_bytes(K * sizeof(int))
            at.found_D = arena.take(K)
        return 0

    cdef void bound(self, Node *node, real cutoff, int worker, Effort *effort) noexcept nogil:
        cdef real begun
        EntropicRelaxation.bound(self, node, cutoff, worker, effort)
        if node.lower < cutoff and not self.stop.poll(worker):
            begun = clock()
            self.bound_by_corners(node, cutoff, &self.hulls[worker], effort)
            effort.stages[CORNERS].calls += 1
            effort.stages[CORNERS].seconds += clock() - begun
            effort.stages[CORNERS].closed += node.lower >= cutoff

    def corner_bound(self, low, high, real cutoff):
        """The bound of a box (n_connected,) by its corners alone, of a node without a parent; for tests."""
        cdef index a, n = self.n_connected
        cdef Tree tree = Tree(n, self.n_warm, self.n_split, self.selects)
        cdef real[::1] least = np.array(low, dtype=np.float64).ravel(), most = np.array(high, dtype=np.float64).ravel()
        cdef Effort effort = no_effort()
        cdef Node *node = tree.new_node()
        if node == NULL:
            raise MemoryError
        self.prepare(1, StopSignal(INFINITY))
        for a in range(n):
            node_low(node)[a], node_high(node, n)[a] = least[a], most[a]
        node.lower, node.branch = -INFINITY, -1
        self.bound_by_corners(node, cutoff, &self.hulls[0], &effort)
        found = node.lower
        tree.free_node(node)
        return found

    # Corners

    cdef bint set_corners(self, const real *low, const real *high, Hull *at) noexcept nogil:
        """OUT: the corners of all classes' variables; False: there are too many, or a variable has none."""
        cdef int K = self.family.n_components, d = self.family.n_columns, V = self.n_variables, k, v, n, l
        cdef index entries
        cdef real *rows
        for k in range(K):
            entries = self.n_entries
            for v in range(V - 1, -1, -1):
                rows = at.corners + k * self.n_rows + self.row_at[v]
                if self.is_label[v]:
                    for l in range(self.sizes[v]):
                        at.low[l], at.high[l] = low[k * d + self.variables[v, l]], high[k * d + self.variables[v, l]]
                    n = self.corners_of_labels(v, at.low, at.high, rows)
                else:
                    n = self.corners_of_interval(v, low[k * d + self.variables[v, 1]],
                                                 high[k * d + self.variables[v, 1]], rows)
                at.n_corners[k * V + v] = n
                entries = entries // self.widths_of_rows[v] * n
                if n == 0 or entries > MOST_ENTRIES:
                    return False
        return True

    cdef int corners_of_interval(self, int v, real low, real high, real *rows) noexcept nogil:
        cdef int size = self.widths_of_rows[v], n = 1 + (high > low), c
        for c in range(n):
            rows[c * size + 1] = high if c else low
            rows[c * size] = 1 - rows[c * size + 1]
            if size > 2:
                rows[c * size + 2] = 1
        return n

    cdef int corners_of_labels(self, int v, const real *low, const real *high, real *rows) noexcept nogil:
        """Of {low <= m <= high, sum m = 1}: all but one label at an end; that one rounded up, as D rises with it."""
        cdef int m = self.sizes[v], size = self.widths_of_rows[v], n = 0, l, last, choice, bit, c
        cdef real left
        cdef real *row
        cdef bint seen
        for last in range(m):
            for choice in range(1 << (m - 1)):
                row = rows + n * size
                left, bit = 1, 0
                for l in range(m):
                    if l != last:
                        row[l] = high[l] if choice >> bit & 1 else low[l]
                        left -= row[l]
                        bit += 1
                if left < low[last] - OUTSIDE or left > high[last] + OUTSIDE:
                    continue
                row[last] = min(high[last], max(low[last], left + 4 * m * ROUND))
                seen = False
                for c in range(n):
                    l = 0
                    while l < m and rows[c * size + l] == row[l]:
                        l += 1
                    if l == m:
                        seen = True
                        break
                if seen:
                    continue
                if size > m:
                    row[m] = 1
                n += 1
        return n

    cdef void corner_of(self, int k, int place, Hull *at, int *which) noexcept nogil:
        """OUT which (V,): each variable's corner."""
        cdef int V = self.n_variables, v
        for v in range(V - 1, -1, -1):
            which[v] = place % at.n_corners[k * V + v]
            place //= at.n_corners[k * V + v]

    # Bounds

    cdef real largest(self, int k, Hull *at, int *best) noexcept nogil:
        """The largest D of class k's corners at `z`; OUT best: which."""
        cdef int V = self.n_variables, v, c, a, nc, m
        cdef index size = self.n_entries, rest, r, i
        cdef real *table = at.table
        cdef real *other = at.other
        cdef const real *row
        cdef real x, y, most
        for i in range(size):
            table[i] = 0
        for i in range(self.n_patterns):
            table[self.entry[i]] += at.z[i]
        for v in range(V - 1, -1, -1):
            nc, m = at.n_corners[k * V + v], self.widths_of_rows[v]
            rest = size // m
            for c in range(nc):
                row = at.corners + k * self.n_rows + self.row_at[v] + c * m
                if m == 2:
                    x, y = row[0], row[1]
                    for r in range(rest):
                        other[c * rest + r] = x * table[2 * r] + y * table[2 * r + 1]
                else:
                    for r in range(rest):
                        x = 0
                        for a in range(m):
                            x += row[a] * table[r * m + a]
                        other[c * rest + r] = x
            table, other = other, table
            size = nc * rest
        most, best[0] = -1, 0
        for i in range(size):
            if table[i] > most:
                most, best[0] = table[i], <int> i
        return most

    cdef real evaluate_corners(self, Hull *at) noexcept nogil:
        """What z proves; OUT found, found_D."""
        cdef int K = self.family.n_components, k, i
        cdef real W = self.family.data.core.total_weight, most = 0, value = -self.entropy, size = self.entropy_size
        cdef real term, margin
        for i in range(self.n_patterns):
            at.z[i] = exp(at.log_z[i])
            term = self.masses[i] * at.log_z[i]
            value += term
            size += fabs(term)
        for k in range(K):
            at.found_D[k] = self.largest(k, at, &at.found[k])
            most = max(most, at.found_D[k])
        # D's terms are positive: relative errors of the exponential, of the products and of the sums add up
        term = log(most / W)
        margin = W * ROUND * (8 * (self.n_patterns + self.n_rows) + 64 + 16 * fabs(term))
        margin += ROUND * (2 * self.n_patterns + 32) * (size + W * fabs(term))
        value -= W * term + margin
        value += self.family.constant - self.family.constant_margin() - 4 * ROUND * fabs(value)
        return value if isfinite(value) else -INFINITY

    cdef void add(self, int k, int place, real weight, Hull *at, int *n_columns) noexcept nogil:
        """A corner of class k as a column, if it is none yet; -1: the middle of its corners."""
        cdef int V = self.n_variables, v, c, i, l, n = self.n_patterns, A = n_columns[0], m, nc
        cdef int which[MOST_VARIABLES]
        cdef real middle[MOST_LEVELS]
        cdef const real *row
        for c in range(A):
            if at.owner[c] == k and at.place[c] == place:
                return
        if A >= self.n_columns_most:
            return
        for i in range(n):
            at.density[A * n + i] = 1
        if place >= 0:
            self.corner_of(k, place, at, which)
        for v in range(V):
            m, nc = self.widths_of_rows[v], at.n_corners[k * V + v]
            row = at.corners + k * self.n_rows + self.row_at[v]
            if place >= 0:
                row += which[v] * m
            else:
                for l in range(m):
                    middle[l] = 0
                    for c in range(nc):
                        middle[l] += row[c * m + l] / nc
                row = middle
            for i in range(n):
                at.density[A * n + i] *= row[self.codes[v, i]]
        at.owner[A], at.place[A], at.weight[A] = k, place, weight
        n_columns[0] += 1

    cdef real mix(self, Hull *at, int A) noexcept nogil:
        """Densities of the mixture; returns its objective, without the constant."""
        cdef int n = self.n_patterns, a, i
        cdef real value = 0
        for i in range(n):
            at.p[i] = 0
        for a in range(A):
            if at.weight[a] > 0:
                for i in range(n):
                    at.p[i] += at.weight[a] * at.density[a * n + i]
        for i in range(n):
            at.p[i] = max(at.p[i], LEAST_DENSITY)
            value -= self.masses[i] * log(at.p[i])
        return value

    cdef bint improve(self, Hull *at, int A, real enough, bint more) noexcept nogil:
        """One Newton step for the columns' weights, their sum free at the price W; False: it is not worth another."""
        cdef int n = self.n_patterns, a, i, f = 0, hit = -1, kept
        cdef real W = self.family.data.core.total_weight, total, missed = 0, length = 1, full, before, after, sum_step
        cdef const real *x
        before = self.mix(at, A)
        for i in range(n):
            at.z[i] = self.masses[i] / at.p[i]
            at.root[i] = sqrt(self.masses[i]) / at.p[i]
        for a in range(A):
            total = 0
            x = at.density + a * n
            for i in range(n):
                total += at.z[i] * x[i]
            at.gradient[a] = W - total
            if at.weight[a] > 0 or at.gradient[a] < 0:
                at.free[f] = a
                f += 1
            missed += at.weight[a] * fabs(at.gradient[a]) if at.weight[a] > 0 else 0.01 * max(0.0, -at.gradient[a])
            before += W * at.weight[a]
        if missed < 1e-6 or (more and missed < enough):
            return False
        while f:
            for a in range(f):
                x = at.density + at.free[a] * n
                for i in range(n):
                    at.scaled[i * f + a] = at.root[i] * x[i]
            memset(at.matrix, 0, f * f * sizeof(real))
            dense_gram(n, f, at.scaled, at.matrix)
            for a in range(f):
                at.matrix[a * f + a] += RIDGE * (W + at.matrix[a * f + a])
                at.step[a] = -at.gradient[at.free[a]]
            dense_factor(f, at.matrix)
            dense_forward(f, at.matrix, 1, at.step)
            dense_backward(f, at.matrix, at.step)
            kept = 0
            for a in range(f):  # those at 0 that would leave the simplex stay
                if at.weight[at.free[a]] > 0 or at.step[a] >= 0:
                    at.free[kept] = at.free[a]
                    at.step[kept] = at.step[a]
                    kept += 1
            if kept == f:
                break
            f = kept
        if f == 0:
            return False
        sum_step = 0
        for i in range(n):
            at.step_p[i] = 0
        for a in range(f):
            sum_step += at.step[a]
            if at.step[a] < 0 and -at.weight[at.free[a]] / at.step[a] < length:
                length, hit = -at.weight[at.free[a]] / at.step[a], at.free[a]
            for i in range(n):
                at.step_p[i] += at.step[a] * at.density[at.free[a] * n + i]
        total = before
        for i in range(n):
            total += self.masses[i] * log(at.p[i])  # W times the sum of the weights
        full = length
        for _turn in range(30):
            after = total + W * length * sum_step
            for i in range(n):
                if not at.p[i] + length * at.step_p[i] > 0:
                    after = INFINITY
                    break
                after -= self.masses[i] * log(at.p[i] + length * at.step_p[i])
            if after <= before + 1e-12 * fabs(before):
                break
            length *= 0.5
        else:
            return False
        for a in range(f):
            at.weight[at.free[a]] = max(0.0, at.weight[at.free[a]] + length * at.step[a])
        if hit >= 0 and length == full:
            at.weight[hit] = 0
        return True

    cdef int settle_weights(self, Hull *at, int A) noexcept nogil:
        """Weights that add up to 1, without columns of none; returns how many are left."""
        cdef int n = self.n_patterns, a, kept = 0
        cdef real total = 0
        for a in range(A):
            total += at.weight[a]
        for a in range(A):
            if not at.weight[a] > LEAST_WEIGHT * total:
                continue
            if kept < a:
                memcpy(at.density + kept * n, at.density + a * n, n * sizeof(real))
            at.owner[kept], at.place[kept], at.weight[kept] = at.owner[a], at.place[a], at.weight[a] / total
            kept += 1
        return kept

    cdef void bound_by_corners(self, Node *node, real cutoff, Hull *at, Effort *effort) noexcept nogil:
        """Raises a node's bound by the mixtures of its corners; where that is not enough, says where to split it."""
        cdef index n_connected = self.n_connected
        cdef int K = self.family.n_components, n = self.n_patterns, k, i, A = 0, turn, step
        cdef real W = self.family.data.core.total_weight
        cdef real best = -INFINITY, value = INFINITY, proved, enough
        cdef float *warm = node_warm(node, n_connected) + self.z_at
        if not self.set_corners(node_low(node), node_high(node, n_connected), at):
            return
        for i in range(n):
            at.log_z[i] = warm[i] if node.parent >= 0 else log(self.masses[i])
        effort.n_passes += 1  # for all rounds: they take no exponentials of the samples' costs
        for turn in range(MOST_ROUNDS):
            proved = self.evaluate_corners(at)
            effort.stages[CORNERS].terms += n * K
            if proved > best:
                best = proved
                for i in range(n):
                    warm[i] = <float> at.log_z[i]
            if best >= cutoff or not isfinite(proved):
                break
            if turn > 0 and (value - best < 1e-5 or (
                    value < cutoff and value - best < PATIENCE * (cutoff - value) + NEAR)):
                break
            for k in range(K):
                if turn == 0:
                    self.add(k, -1, 1, at, &A)
                if turn == 0 or at.found_D[k] > W * (1 + ABOVE):
                    self.add(k, at.found[k], 1 if turn == 0 else NEW_WEIGHT, at, &A)
            if turn == 0:
                for i in range(A):
                    at.weight[i] = 1.0 / A
            enough = 0.02 * (cutoff - best)
            for step in range(MOST_STEPS):
                effort.stages[CORNERS].terms += n * A
                if not self.improve(at, A, enough, step > 2):
                    break
            A = self.settle_weights(at, A)
            value = self.mix(at, A) + self.family.constant
            effort.stages[CORNERS].terms += n * A
            for i in range(n):
                at.log_z[i] = log(self.masses[i] / at.p[i])
        node.lower = max(node.lower, best)
        if node.lower < cutoff and node.branch >= 0:
            self.split_spread(node, at, A)

    cdef void split_spread(self, Node *node, Hull *at, int A) noexcept nogil:
        """Splits a node where its mixture is spread most over the corners of a class, relative to a sample's."""
        cdef index n_connected = self.n_connected
        cdef int K = self.family.n_components, V = self.n_variables, d = self.family.n_columns, k, v, l, a, m, c
        cdef int which[MOST_VARIABLES]
        cdef const real *row
        cdef const real *low = node_low(node)
        cdef const real *high = node_high(node, n_connected)
        cdef real mass, first, second, x, mean, score, most = 0
        cdef index at_variable
        for k in range(K):
            for v in range(V):
                m = self.sizes[v]
                row = at.corners + k * self.n_rows + self.row_at[v]
                for l in range(0 if self.is_label[v] else 1, m):
                    at_variable = k * d + self.variables[v, l]
                    if not high[at_variable] > low[at_variable]:
                        continue
                    mass = first = second = 0
                    for a in range(A):
                        if at.owner[a] != k or at.place[a] < 0:
                            continue
                        self.corner_of(k, at.place[a], at, which)
                        x = row[which[v] * self.widths_of_rows[v] + l]
                        mass += at.weight[a]
                        first += at.weight[a] * x
                        second += at.weight[a] * x * x
                    if not mass > 0:
                        continue
                    mean = first / mass
                    score = (second - mass * mean * mean) / (mean * (1 - mean) + SPREAD_ROOM)
                    if score > most:
                        most = score
                        node.branch = <int> at_variable
                        c = <int> at_variable
                        x = (mean - low[c]) / (high[c] - low[c])
                        node_point(node, n_connected)[c] = low[c] + (high[c] - low[c]) * clip(
                            (1 - PULL) * x + 0.5 * PULL, INSIDE, 1 - INSIDE)
