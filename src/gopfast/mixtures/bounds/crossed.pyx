"""Latent classes crossed with the levels of one variable, whose probabilities are then no parameters but weights.

A class k and a level a of a categorical variable have the joint probability omega_ka. With the probabilities of the
other variables fixed, the objective is convex in all omega at once, as it is in the weights of a mixture: sample i is
drawn from the "components" (k, a) of its own level a, those of one class sharing what the other variables say. So boxes
need not be divided in that variable. In the relaxed dual the components of other levels cost a sample FORBIDDEN nats,
which only loosens the bound, and facets of a class hold for its components' statistics together.

Of two variables one is left. Its probabilities span a simplex of profiles, in which every row of the table is a mixture
of the K classes' profiles; a profile can be moved away from another one until one of its probabilities is 0, and spans
no less. So boxes in which all probabilities of a class are positive hold no solution that others lack.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from gopfast.mixtures.bounds.entropic cimport EntropicRelaxation, Newton
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport SampleSet
from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.search.tree cimport Node
from gopfast.search.types cimport real

# Nats: a sample's share of components of another level is nothing beside rounding.
cdef real FORBIDDEN = 300.0
# A probability of 0 is one of at most this: an interval without width would have no facets.
cdef real NOTHING = 1e-7


def is_crossed(Family classes):
    """Whether the samples are a table of two variables, none of whose entries is missing, without a prior."""
    found = classes.free_variable()
    if found is None or classes.n_components < 2:
        return False
    rest = classes.data.arrays()[0][~found[0]]
    # one column for each label of one variable
    return len(rest) > 1 and bool(((rest == 0) | (rest == 1)).all()) and bool((rest.sum(axis=0) == 1).all())


cdef class CrossedFamily(Family):
    """The components (k, a) of classes that have a free variable and no prior, for the relaxed dual alone."""

    cdef Family classes
    cdef int n_levels
    cdef bint spanned                   # one variable is left: `tighten` may ask for a probability of 0
    cdef unsigned char[::1] chosen      # (d,) columns of the free variable
    cdef int[::1] level_column          # (n_levels,) column that tells a level, and what it is there
    cdef real[::1] level_value

    def __init__(self, Family classes):
        cdef int a
        chosen, levels = classes.free_variable()
        columns, _ = classes.data.arrays()
        self.classes, self.n_levels, self.data = classes, levels.max() + 1, classes.data
        self.chosen = np.asarray(chosen, dtype=np.uint8)
        self.level_column, self.level_value = np.zeros(self.n_levels, dtype=np.intc), np.zeros(self.n_levels)
        for a in range(self.n_levels):
            values = columns[chosen][:, levels == a][:, 0]
            # one column: 0 or 1; one for each level: where it is 1
            own = np.flatnonzero(chosen)[0 if len(values) == 1 else values.argmax()]
            self.level_column[a], self.level_value[a] = own, columns[own, levels == a][0]
        self.n_components = classes.n_components * self.n_levels
        self.n_columns, self.n_statistics = classes.n_columns, classes.n_statistics
        self.n_cell, self.n_shared, self.n_connected = classes.n_cell, 0, classes.n_connected
        self.n_facets, self.has_prior, self.divisible_cells = classes.n_facets, False, False
        self.e_power, self.constant, self.constant_size = 0, classes.constant, classes.constant_size
        self.spanned = is_crossed(classes)

    cdef void root(self, real *low, real *high) noexcept nogil:
        self.classes.root(low, high)

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        cdef int k, j, n_zero, zero = 0, d = self.n_columns
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
        cdef int K = self.classes.n_components, m = self.n_levels, d = self.n_columns, k, a, j, r, to
        cdef pass_costs *costs = &out.minorant
        cdef Facet *facet
        cdef real *box = <real *> malloc(2 * K * d * sizeof(real))
        if box == NULL:
            out.constant = -INFINITY
            return
        for j in range(K * d):
            box[j] = 0 if self.chosen[j % d] else low[j]
            box[K * d + j] = 1 if self.chosen[j % d] else high[j]
        self.classes.relax(box, box + K * d, out)
        free(box)
        for r in range(self.n_facets):
            facet = &out.facets[r]
            k, facet.first = facet.first // (1 + d), facet.first * m
            if self.chosen[(r // 2) % d]:
                facet.active = 0
            for a in range(1, m):
                memcpy(facet.coefficients + a * (1 + d), facet.coefficients, (1 + d) * sizeof(real))
            facet.count = m * (1 + d)
        for k in range(K - 1, -1, -1):
            for a in range(m - 1, -1, -1):
                to = k * m + a
                for j in range(d):
                    costs.centers[to * d + j] = 0 if self.chosen[j] else costs.centers[k * d + j]
                    costs.linear[to * d + j] = 0 if self.chosen[j] else costs.linear[k * d + j]
                    costs.quadratic[to * d + j] = 0
                costs.offsets[to] = costs.offsets[k]
        for to in range(K * m):
            j = self.level_column[to % m]
            if self.level_value[to % m] > 0:
                costs.offsets[to] -= FORBIDDEN
                costs.linear[to * d + j] = -FORBIDDEN
            else:
                costs.linear[to * d + j] = FORBIDDEN

    cdef void place(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                    const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int K = self.classes.n_components, m = self.n_levels, d = self.n_columns, k, a, j, own
        cdef Subproblem of_classes = sub[0]
        cdef real *room = <real *> malloc((K + 3 * K * d) * sizeof(real))
        cdef real *S = room
        cdef real *T = S + K
        if room == NULL:
            for j in range(K * d):
                point[j], error[j] = 0.5 * (low[j] + high[j]), high[j] - low[j]
            return
        of_classes.minorant.centers, of_classes.minorant.linear = T + K * d, T + 2 * K * d
        for k in range(K):
            S[k] = 0
            for a in range(m):
                S[k] += mass[k * m + a]
            for j in range(d):
                own = k * d + j
                T[own] = 0
                for a in range(m):
                    T[own] += moments[(k * m + a) * d + j]
                of_classes.minorant.centers[own] = sub.minorant.centers[k * m * d + j]
                of_classes.minorant.linear[own] = sub.minorant.linear[k * m * d + j]
        self.classes.place(low, high, &of_classes, S, T, e, point, error)
        for j in range(K * d):
            if self.chosen[j % d]:
                error[j] = 0
        free(room)


cdef class CrossedRelaxation(EntropicRelaxation):
    """Lower bounds of latent classes on boxes of all variables but the free one; options are those of its base."""

    cdef int n_classes, n_free          # K, levels of the free variable

    def __init__(self, Family classes, **options):
        EntropicRelaxation.__init__(self, CrossedFamily(classes), **options)
        self.n_classes = classes.n_components
        self.n_free = self.family.n_components // self.n_classes
        # never divided in the free variable
        np.asarray(self.widths)[np.tile(classes.free_variable()[0], classes.n_components)] = np.inf

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
