"""Latent classes crossed with the levels of one variable, whose probabilities are then no parameters but weights.

A class k and a level a of a categorical variable have the joint probability omega_ka. With the probabilities of the
other variables fixed, the objective is convex in all omega at once, as it is in the weights of a mixture: sample i is
drawn from the "components" (k, a) of its own level a, those of one class sharing what the other variables say. So boxes
need not be divided in that variable. The relaxed dual is one data pass of K components for each level, over its
samples; facets of a class hold for its components' statistics together.

In a table of two variables one is left. Its probabilities span a simplex of profiles, in which every row of the table
is a mixture of the K classes' profiles; a profile can be moved away from another one until one of its probabilities is
0, and spans no less. So boxes in which all probabilities of a class are positive hold no solution that others lack. Of
products over several variables this is not true.

Theory: (L1) and (L2) of docs/theory/latent_classes.md.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from gopfast.mixtures.relaxations.tuning import CROSSED_LEAST_SHARE as LEAST_SHARE, MOST_STATISTICS

from gopfast.mixtures.relaxations.entropic cimport EntropicRelaxation, Newton
from gopfast.mixtures.data.passes cimport PASS_HESSIAN, PASS_PAD, pass_costs, pass_data, pass_sums, run_pass
from gopfast.mixtures.data.samples cimport SampleSet, take_costs, take_sums
from gopfast.mixtures.families.exponential cimport LABEL, ExponentialFamily
from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.mixtures.relaxations.tuning cimport IMPLIED, NOTHING
from gopfast.search.arena cimport Arena
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node
from gopfast.search.types cimport real


def is_crossed(Family classes):
    """Whether the samples are labels, without a prior, and it pays to cross one of their variables with the classes."""
    found = classes.free_variable()
    if found is None or classes.n_components < 2:
        return False
    chosen, levels = found
    n_levels, n_left = levels.max() + 1, np.sum(~chosen)
    if n_levels - 1 < LEAST_SHARE * classes.n_components * (n_levels - 1 + n_parameters(classes, ~chosen)):
        return False
    return classes.n_components * n_levels * (1 + n_left) <= MOST_STATISTICS


def n_parameters(ExponentialFamily classes, left):
    """Parameters of a class in some of its columns: labels of a variable add up to 1."""
    kinds, groups = np.asarray(classes.kinds)[left], np.asarray(classes.groups)[left]
    return len(kinds) - len(np.unique(groups[kinds == LABEL]))


def is_spanned(Family classes):
    """Whether the samples are a table of two variables, none of whose entries is missing."""
    rest = classes.data.arrays()[0][~classes.free_variable()[0]]
    # one column for each label of one variable
    return len(rest) > 1 and bool(((rest == 0) | (rest == 1)).all()) and bool((rest.sum(axis=0) == 1).all())


cdef class CrossedFamily(Family):
    """The components (k, a) of classes that have a free variable and no prior, for the relaxed dual alone.

    Their columns are those of the other variables; boxes are those of the classes.
    """

    cdef ExponentialFamily classes
    cdef int n_levels
    cdef bint spanned                   # one variable is left: `tighten` may ask for a probability of 0
    cdef unsigned char[::1] chosen      # (d,) columns of the free variable
    cdef int[::1] left                  # (n_columns,) the others
    cdef real[:, ::1] level_columns     # (n_levels, d) what the chosen columns are at a level; 0: the others

    def __init__(self, ExponentialFamily classes):
        chosen, levels = classes.free_variable()
        columns, _ = classes.data.arrays()
        self.classes, self.n_levels, self.data = classes, levels.max() + 1, classes.data
        self.chosen = np.asarray(chosen, dtype=np.uint8)
        self.left = np.flatnonzero(~chosen).astype(np.intc)
        first = np.unique(levels, return_index=True)[1]
        self.level_columns = np.ascontiguousarray(np.where(chosen, columns[:, first].T, 0.0))
        self.n_components = classes.n_components * self.n_levels
        self.n_columns = self.n_statistics = self.left.shape[0]
        self.n_cell, self.n_shared, self.n_connected = classes.n_cell, 0, classes.n_connected
        self.n_facets, self.has_prior, self.divisible_cells = 2 * classes.n_components * self.n_columns, False, False
        self.e_power, self.constant, self.constant_size = 0, classes.constant, classes.constant_size
        self.spanned = is_spanned(classes)

    cdef void root(self, real *low, real *high) noexcept nogil:
        self.classes.root(low, high)

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        cdef int k, j, n_zero, zero = 0, d = self.classes.n_columns
        if not self.classes.tighten(low, high):
            return 0
        if not self.spanned:
            return 1
        for k in range(self.classes.n_components):
            n_zero = 0
            for j in range(d):
                if not self.chosen[j] and not low[k * d + j] > 0:
                    n_zero += 1
                    zero = k * d + j
            if n_zero == 0:
                return 0
            if n_zero == 1:
                high[zero] = min(high[zero], NOTHING)
        return 1

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int K = self.classes.n_components, d = self.classes.n_columns, Q = self.classes.n_facets, j, r
        cdef size_t one = K * (1 + d)
        cdef Subproblem sub
        cdef real *room = <real *> malloc((5 * K * d + K + Q * one) * sizeof(real) + Q * sizeof(Facet))
        cdef real *box = room + 3 * K * d + K
        if room == NULL:
            out.constant = -INFINITY
            return
        sub.minorant.centers, sub.minorant.linear, sub.minorant.quadratic = room, room + K * d, room + 2 * K * d
        sub.minorant.offsets = room + 3 * K * d
        sub.facets = <Facet *> (box + 2 * K * d + Q * one)
        for r in range(Q):
            sub.facets[r].coefficients = box + 2 * K * d + r * one
        for j in range(K * d):
            box[j] = 0 if self.chosen[j % d] else low[j]
            box[K * d + j] = 1 if self.chosen[j % d] else high[j]
        self.classes.relax(box, box + K * d, &sub)
        self.cross(box, box + K * d, &sub, out)
        free(room)

    cdef void cross(self, const real *low, const real *high, const Subproblem *sub, Subproblem *out) noexcept nogil:
        """The subproblem of the classes, as that of their components (k, a)."""
        cdef int K = self.classes.n_components, m = self.n_levels, d = self.classes.n_columns, D = self.n_columns
        cdef int k, a, j, i, side, own, to
        cdef const Facet *facet
        cdef Facet *copy
        cdef real *coefficients
        out.constant, out.prior, out.e_low, out.e_high = sub.constant, sub.prior, sub.e_low, sub.e_high
        for k in range(K):
            for a in range(m):
                out.minorant.offsets[k * m + a] = sub.minorant.offsets[k]
                for j in range(D):
                    own, to = k * d + self.left[j], (k * m + a) * D + j
                    out.minorant.centers[to] = sub.minorant.centers[own]
                    out.minorant.linear[to] = sub.minorant.linear[own]
                    out.minorant.quadratic[to] = 0
            for j in range(D):
                own = k * d + self.left[j]
                for side in range(2):
                    facet, copy = &sub.facets[2 * own + side], &out.facets[2 * (k * D + j) + side]
                    coefficients = copy.coefficients
                    copy[0] = facet[0]
                    copy.coefficients, copy.first, copy.count = coefficients, k * m * (1 + D), m * (1 + D)
                    coefficients[0] = facet.coefficients[0]
                    for i in range(D):
                        coefficients[1 + i] = facet.coefficients[1 + self.left[i]]
                    for a in range(1, m):
                        memcpy(coefficients + a * (1 + D), coefficients, (1 + D) * sizeof(real))
                    if self.implied(low + k * d, high + k * d, self.left[j], side):
                        copy.active = 0

    cdef bint implied(self, const real *low, const real *high, int j, int side) noexcept nogil:
        """Whether a limit of column j, the lower one or (side 1) the upper one, says no more than the others do."""
        cdef int l
        cdef real others = 0
        if side == 0:
            return low[j] <= 0
        if self.classes.kinds[j] == LABEL:
            for l in range(self.classes.n_columns):
                if l != j and self.classes.kinds[l] == LABEL and self.classes.groups[l] == self.classes.groups[j]:
                    others += low[l]
        return high[j] >= 1 - others - IMPLIED

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int K = self.classes.n_components, m = self.n_levels, d = self.classes.n_columns, D = self.n_columns
        cdef int k, a, j, own
        cdef Subproblem of_classes = sub[0]
        cdef real *room = <real *> calloc(K + 3 * K * d, sizeof(real))
        cdef real *S = room
        cdef real *T = S + K
        if room == NULL:
            for j in range(K * d):
                point[j], error[j] = 0.5 * (low[j] + high[j]), 0 if self.chosen[j % d] else high[j] - low[j]
            return
        of_classes.minorant.centers, of_classes.minorant.linear = T + K * d, T + 2 * K * d
        for k in range(K):
            for a in range(m):
                S[k] += mass[k * m + a]
                for j in range(d):
                    T[k * d + j] += mass[k * m + a] * self.level_columns[a, j]
            for j in range(D):
                own = k * d + self.left[j]
                for a in range(m):
                    T[own] += moments[(k * m + a) * D + j]
                of_classes.minorant.centers[own] = sub.minorant.centers[k * m * D + j]
                of_classes.minorant.linear[own] = sub.minorant.linear[k * m * D + j]
        self.classes.split_points(low, high, &of_classes, S, T, e, point, error)
        for j in range(K * d):
            if self.chosen[j % d]:
                error[j] = 0
        free(room)


cdef class CrossedRelaxation(EntropicRelaxation):
    """Lower bounds of latent classes on boxes of all variables but the free one; options are those of its base."""

    cdef int n_classes, n_free          # K, levels of the free variable
    cdef list kept_columns, kept_weights    # of the samples of each level, (n_columns, n_padded) and (n_padded,)
    cdef pass_data *of_level            # (n_free,) the same
    cdef list part_arenas               # of what follows, one for each worker
    cdef pass_sums *parts
    cdef pass_costs *class_costs
    cdef real **class_weights

    def __cinit__(self):
        self.parts, self.class_costs, self.class_weights, self.of_level = NULL, NULL, NULL, NULL

    def __init__(self, ExponentialFamily classes, **options):
        cdef int a
        cdef real[:, ::1] columns
        cdef real[::1] weights
        EntropicRelaxation.__init__(self, CrossedFamily(classes), **options)
        self.n_classes = classes.n_components
        self.n_free = self.family.n_components // self.n_classes
        chosen, levels = classes.free_variable()
        # never divided in the free variable
        np.asarray(self.widths)[np.tile(chosen, classes.n_components)] = np.inf
        self.of_level = <pass_data *> calloc(self.n_free, sizeof(pass_data))
        if self.of_level == NULL:
            raise MemoryError
        samples, masses = classes.data.arrays()
        self.kept_columns, self.kept_weights = [], []
        for a in range(self.n_free):
            own = levels == a
            beyond = -np.sum(own) % PASS_PAD
            columns = np.ascontiguousarray(np.pad(samples[~chosen][:, own], ((0, 0), (0, beyond)), mode="edge"))
            weights = np.pad(masses[own], (0, beyond))
            self.kept_columns.append(columns)
            self.kept_weights.append(weights)
            self.of_level[a].n_padded, self.of_level[a].n_columns = columns.shape[1], columns.shape[0]
            self.of_level[a].columns, self.of_level[a].weights = &columns[0, 0], &weights[0]

    def __dealloc__(self):
        free(self.parts)
        free(self.class_costs)
        free(self.class_weights)
        free(self.of_level)

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        cdef int worker
        cdef Arena arena
        EntropicRelaxation.prepare(self, n_workers, stop)
        free(self.parts)
        free(self.class_costs)
        free(self.class_weights)
        self.parts = <pass_sums *> calloc(n_workers, sizeof(pass_sums))
        self.class_costs = <pass_costs *> calloc(n_workers, sizeof(pass_costs))
        self.class_weights = <real **> calloc(n_workers, sizeof(real *))
        if self.parts == NULL or self.class_costs == NULL or self.class_weights == NULL:
            raise MemoryError
        self.part_arenas = []
        for worker in range(n_workers):
            arena = Arena()
            while arena.again():
                take_sums(arena, &self.parts[worker], self.n_classes, self.family.n_statistics, PASS_HESSIAN)
                take_costs(arena, &self.class_costs[worker], self.n_classes, self.family.n_columns)
                self.class_weights[worker] = arena.take(self.n_classes)
            self.part_arenas.append(arena)
        return 0

    cdef real run(self, const SampleSet *data, Newton *nt) noexcept nogil:
        """A pass of all classes over the samples of each level: the sums of components (k, a) and (l, b) are apart."""
        cdef int K = self.n_classes, m = self.n_free, D = self.family.n_columns, f = 1 + D, k, l, a, s
        cdef int worker = <int> (nt - self.workers)
        cdef pass_costs *costs = &self.class_costs[worker]
        cdef pass_sums *part = &self.parts[worker]
        cdef real *weights = self.class_weights[worker]
        for k in range(K):  # the same at every level
            costs.offsets[k] = nt.costs.offsets[k * m]
            memcpy(costs.centers + k * D, nt.costs.centers + k * m * D, D * sizeof(real))
            memcpy(costs.linear + k * D, nt.costs.linear + k * m * D, D * sizeof(real))
            memcpy(costs.quadratic + k * D, nt.costs.quadratic + k * m * D, D * sizeof(real))
        nt.sums.value = nt.sums.magnitude = 0
        for a in range(m):
            for k in range(K):
                weights[k] = nt.iterate.weights[k * m + a]
            run_pass(&self.of_level[a], K, costs, weights, PASS_HESSIAN, nt.scratch, part)
            nt.sums.value += part.value
            # the sum over the levels rounds once for each
            nt.sums.magnitude += part.magnitude * (1 + m / 32.0)
            for k in range(K):
                nt.sums.density[k * m + a] = part.density[k]
                memcpy(nt.sums.first + (k * m + a) * D, part.first + k * D, D * sizeof(real))
                memcpy(nt.sums.second + (k * m + a) * D * D, part.second + k * D * D, D * D * sizeof(real))
                for l in range(k, K):
                    for s in range(f):
                        memcpy(nt.sums.gram + ((k * m + a) * f + s) * self.family.n_components * f + (l * m + a) * f,
                               part.gram + (k * f + s) * K * f + l * f, f * sizeof(real))
        return 0

    cdef real margin(self, const SampleSet *data, int k, Newton *nt) noexcept nogil:
        """A component has the facets of its whole class."""
        return self.n_free * EntropicRelaxation.margin(self, data, k, nt)

    cdef bint weights(self, Node *node, real *out) noexcept nogil:
        cdef int k, a
        for k in range(self.n_classes):
            out[k] = 0
            for a in range(self.n_free):
                out[k] += self.kept(node, k * self.n_free + a)
        return True
