"""Components of one column in which entries are missing at random.

A sample without an entry has a factor of 1 in all densities. Let o be 1 where there is an entry and 0 elsewhere, and x
the entry, 0 where there is none. The costs of a component are those of the samples that have an entry, a function of

    S_o = sum w tau o,    T = sum w tau o x,    Q = sum w tau o x^2,

which are statistics of the two columns (x, o): what the inner family says of S, T and Q about its centers c, minorants
and facets, is here written about the center 0, with S_o in the place of S:

    a S + b sum w tau (x - c) + q sum w tau (x - c)^2  =  (a - b c + q c^2) S_o + (b - 2 q c) T + q Q .

The two roundings of each coefficient are at most those of its terms' magnitudes times 4 u, and |T| <= reach S_o.

Theory: (Z2) of docs/theory/products.md.
"""

import numpy as np

from libc.math cimport fabs

from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.mixtures.families.family cimport Subproblem
from gopfast.mixtures.families.product cimport close_scratch, open_scratch
from gopfast.search.rounding cimport ROUND

# The columns of a sample.
cdef enum:
    ENTRY = 0
    PRESENCE = 1


cdef class PartialFamily(Family):
    """Components of one column in which entries are missing.

    Parameters
    ----------
    data : Samples
        Two columns: the entries, as the inner family's samples have them and 0 where there is none, and their presence,
        0 or 1; with squares if those have.
    inner : Family
        Of one column, the samples that have an entry; without a prior.
    """

    def __init__(self, Samples data, Family inner):
        cdef int K = inner.n_components
        if inner.n_columns != 1 or data.n_columns != 2 or inner.has_prior or inner.n_more:
            raise ValueError("the inner family must have one column and no prior")
        self.data, self.inner = data, inner
        self.n_components, self.n_columns, self.n_statistics = K, 2, 2 * inner.n_statistics
        self.n_cell, self.n_shared = inner.n_cell, inner.n_shared
        self.n_connected, self.n_facets = inner.n_connected, inner.n_facets
        self.has_prior, self.e_power, self.divisible_cells = False, 0.0, inner.divisible_cells
        self.constant, self.constant_size = inner.constant, inner.constant_size
        columns, weights = inner.data.arrays()
        self.reach = np.abs(columns).max() * (1 + 4 * ROUND)
        self.average = np.average(columns[0], weights=weights)

    cdef void root(self, real *low, real *high) noexcept nogil:
        self.inner.root(low, high)

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        """What samples' averages say of masses that add up to W does not hold of those that have an entry."""
        return self.inner.tighten_alone(low, high)

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        return Family.tighten(self, low, high) and self.inner.tighten_alone(low, high)

    cdef void take_moments(self, const real *moments, const real *centers, Scratch *own) noexcept nogil:
        cdef int k, F = self.n_statistics, n = self.inner.n_statistics
        cdef real s, t, c
        for k in range(self.n_components):
            s, t, c = moments[k * F + PRESENCE], moments[k * F + ENTRY], centers[k]
            own.mass[k] = s
            own.moments[k * n] = t - c * s
            if n == 2:
                own.moments[k * n + 1] = moments[k * F + 2 + ENTRY] - 2 * c * t + c * c * s

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, r
        cdef real a, b, c, q, size, slope
        cdef Scratch own
        cdef pass_costs *costs = &own.sub.minorant
        open_scratch(&own, self.inner)
        own.sub.facets = out.facets
        self.inner.relax(low, high, &own.sub)
        out.constant, out.prior, out.e_low, out.e_high = own.sub.constant, 0, 0, 0
        for k in range(self.n_components):
            a, b, c, q = -costs.offsets[k], costs.linear[k], costs.centers[k], costs.quadratic[k]
            slope = fabs(b) + fabs(2 * q * c)
            size = fabs(a) + fabs(b * c) + fabs(q * c * c) + slope * self.reach
            out.minorant.offsets[k] = 0
            out.minorant.centers[2 * k + ENTRY] = out.minorant.centers[2 * k + PRESENCE] = 0
            out.minorant.linear[2 * k + ENTRY] = b - 2 * q * c
            out.minorant.linear[2 * k + PRESENCE] = a - b * c + q * c * c - 8 * ROUND * size
            out.minorant.quadratic[2 * k + ENTRY], out.minorant.quadratic[2 * k + PRESENCE] = q, 0
        for r in range(self.n_facets):
            self.spread(&out.facets[r], costs.centers, own.row)
        close_scratch(&own)

    cdef void spread(self, Facet *facet, const real *centers, real *row) noexcept nogil:
        """Rounded outward: presences are at least 0."""
        cdef int s, k, n = 1 + self.n_statistics, own = 1 + self.inner.n_statistics
        cdef int k0 = facet.first // own, K = (facet.count + own - 1) // own
        cdef real f, g, q, c, size
        cdef real *to
        for s in range(facet.count):
            row[s] = facet.coefficients[s]
        facet.first, facet.count, facet.paired = k0 * n, K * n, 0
        for s in range(K * n):
            facet.coefficients[s] = 0
        for k in range(K):
            f, g, q, c = row[k * own], row[k * own + 1], row[k * own + 2] if own == 3 else 0, centers[k0 + k]
            to = facet.coefficients + k * n
            size = fabs(f) + fabs(g * c) + fabs(q * c * c) + (fabs(g) + fabs(2 * q * c)) * self.reach
            to[1 + ENTRY] = g - 2 * q * c
            to[1 + PRESENCE] = f - g * c + q * c * c + 8 * ROUND * size
            if own == 3:
                to[3 + ENTRY] = q

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k
        cdef Scratch own
        cdef pass_costs *costs = &own.sub.minorant
        open_scratch(&own, self.inner)  # centers of 0
        for k in range(self.n_components):
            costs.linear[k] = sub.minorant.linear[2 * k + ENTRY]
            costs.quadratic[k] = sub.minorant.quadratic[2 * k + ENTRY]
        self.take_moments(moments, costs.centers, &own)
        own.sub.facets = sub.facets
        self.inner.split_points(low, high, &own.sub, own.mass, own.moments, e, point, error)
        close_scratch(&own)

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k
        cdef real b, c, q
        cdef Scratch own
        cdef pass_costs *costs = &own.sub.minorant
        open_scratch(&own, self.inner)
        self.inner.costs(point, costs)
        for k in range(self.n_components):
            b, c, q = costs.linear[k], costs.centers[k], costs.quadratic[k]
            out.offsets[k] = 0
            out.centers[2 * k + ENTRY] = out.centers[2 * k + PRESENCE] = 0
            out.linear[2 * k + ENTRY], out.quadratic[2 * k + ENTRY] = b - 2 * q * c, q
            out.linear[2 * k + PRESENCE] = -costs.offsets[k] - b * c + q * c * c
            out.quadratic[2 * k + PRESENCE] = 0
        close_scratch(&own)

    cdef real prior_size(self, const real *point) noexcept nogil:
        """No prior: the largest magnitude of the terms of a cost, which cancel about the center 0, times the weight."""
        cdef int k
        cdef real b, c, q, size = 0
        cdef Scratch own
        cdef pass_costs *costs = &own.sub.minorant
        open_scratch(&own, self.inner)
        self.inner.costs(point, costs)
        for k in range(self.n_components):
            b, c, q = fabs(costs.linear[k]), fabs(costs.centers[k]), fabs(costs.quadratic[k])
            size = max(size, fabs(costs.offsets[k]) + b * (c + self.reach) + q * (c + self.reach) * (c + self.reach))
        close_scratch(&own)
        return size * self.inner.data.core.total_weight

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        """The inner family's step is from its own centers, those of the costs at the parameters."""
        cdef Scratch own
        open_scratch(&own, self.inner)
        self.inner.costs(point, &own.sub.minorant)
        self.take_moments(moments, own.sub.minorant.centers, &own)
        self.inner.maximise(own.mass, own.moments, e, &own.sub.minorant, point)
        close_scratch(&own)

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        """Around the average where a sample has no entry."""
        cdef int k
        cdef Scratch own
        open_scratch(&own, self.inner)
        for k in range(self.n_components):
            own.mass[k] = centers[2 * k + ENTRY] if centers[2 * k + PRESENCE] > 0 else self.average
        self.inner.seed(own.mass, point)
        close_scratch(&own)

    def metric(self):
        """The inner family's weight of the entries; presence tells no clusters apart."""
        return np.append(self.inner.metric(), 0.0)

    @property
    def shifted(self):
        """As the inner family."""
        return self.inner.shifted

    @property
    def has_ends(self):
        """As the inner family."""
        return self.inner.has_ends

    def provable(self):
        """Of the inner family's."""
        inner = self.inner.provable()
        return None if inner is None else PartialFamily(self.data, inner)

    def one_component(self, problem, data=None):
        """The same of one component."""
        inner = self.inner.one_component(problem)
        return None if inner is None else PartialFamily(self.data if data is None else data, inner)

    def parameters(self, vector):
        """The inner family's."""
        return self.inner.parameters(vector)

    def pack(self, **parameters):
        """The inner family's."""
        return self.inner.pack(**parameters)
