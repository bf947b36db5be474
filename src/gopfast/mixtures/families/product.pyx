"""Components that are products of those of two families, of different columns.

Columns are independent within a component, so that its costs are sums: minorants, facets, parameters and constants of
the factors lie side by side. A factor sees its own columns and variables, copied to where it expects them; factors may
be products themselves. Components are ordered by the first variable of the first factor.

Theory: (Z1) of docs/theory/products.md.
"""

import numpy as np

from libc.math cimport fabs
from libc.stdlib cimport abort, calloc, free

from gopfast.mixtures.data.samples cimport Samples
from gopfast.search.rounding cimport ROUND


cdef int open_scratch(Scratch *scratch, Family family) noexcept nogil:
    """A few kilobytes; ends the process where there are none, as any allocation of the system may."""
    cdef size_t K = family.n_components, d = family.n_columns, F = family.n_statistics, n = family.n_connected
    cdef pass_costs *costs = &scratch.sub.minorant
    scratch.block = <real *> calloc(4 * n + 2 * K + K * F + K * (1 + F) + 3 * K * d, sizeof(real))
    if scratch.block == NULL:
        abort()
    scratch.low = scratch.block
    scratch.high = scratch.low + n
    scratch.point = scratch.high + n
    scratch.error = scratch.point + n
    scratch.mass = scratch.error + n
    scratch.moments = scratch.mass + K
    scratch.row = scratch.moments + K * F
    costs.offsets = scratch.row + K * (1 + F)
    costs.centers = costs.offsets + K
    costs.linear = costs.centers + K * d
    costs.quadratic = costs.linear + K * d
    scratch.sub.constant = scratch.sub.prior = scratch.sub.e_low = scratch.sub.e_high = 0
    scratch.sub.facets = NULL
    return 0


cdef void close_scratch(Scratch *scratch) noexcept nogil:
    free(scratch.block)


cdef class ProductFamily(Family):
    """Components that are products.

    Parameters
    ----------
    data : Samples
        Their columns are those of the first factor, then those of the second, as the factors' own samples have them;
        with squares if one of these has.
    first, second : Family
        Of the same number of components, without priors. Their own samples say no more than ranges and weights.
    decode, encode : callable, optional
        From a pair of the factors' parameters to the user's, a dict, and back; without them parameters are the pair.
    """

    def __init__(self, Samples data, Family first, Family second, decode=None, encode=None):
        cdef int K = first.n_components, d = first.n_columns + second.n_columns
        if second.n_components != K or data.n_columns != d or first.has_prior or second.has_prior:
            raise ValueError("factors must be of the same components, without priors, and have the data's columns")
        if first.n_more or second.n_more:
            raise ValueError("factors must have costs that are linear in their statistics")
        self.data, self.first, self.second = data, first, second
        self.decode, self.encode = decode, encode
        self.n_components, self.n_columns = K, d
        self.n_statistics = 2 * d if data.core.samples.squares else d
        self.n_cell, self.n_shared = first.n_cell + second.n_cell, first.n_shared + second.n_shared
        self.n_connected = K * self.n_cell + self.n_shared
        self.n_facets = first.n_facets + second.n_facets
        self.has_prior, self.e_power = False, 0.0
        self.divisible_cells = first.divisible_cells and second.divisible_cells
        self.constant = first.constant + second.constant
        self.constant_size = sum(max(abs(one.constant), one.constant_size) for one in (first, second))
        self.places[0] = Place(0, 0, 0, 0)
        self.places[1] = Place(first.n_columns, first.n_cell, first.n_shared, first.n_facets)

    cdef void take(self, Family factor, const Place *at, const real *whole, real *own) noexcept nogil:
        cdef int k, i, n = factor.n_cell, K = self.n_components
        for k in range(K):
            for i in range(n):
                own[k * n + i] = whole[k * self.n_cell + at.cell + i]
        for i in range(factor.n_shared):
            own[K * n + i] = whole[K * self.n_cell + at.shared + i]

    cdef void put(self, Family factor, const Place *at, const real *own, real *whole) noexcept nogil:
        cdef int k, i, n = factor.n_cell, K = self.n_components
        for k in range(K):
            for i in range(n):
                whole[k * self.n_cell + at.cell + i] = own[k * n + i]
        for i in range(factor.n_shared):
            whole[K * self.n_cell + at.shared + i] = own[K * n + i]

    cdef int statistic(self, Family factor, const Place *at, int s) noexcept nogil:
        if s == 0:
            return 0
        if s <= factor.n_columns:
            return at.column + s
        return self.n_columns + at.column + s - factor.n_columns

    cdef void take_moments(self, Family factor, const Place *at, const real *whole, real *own) noexcept nogil:
        cdef int k, s, F = factor.n_statistics
        for k in range(self.n_components):
            for s in range(F):
                own[k * F + s] = whole[k * self.n_statistics + self.statistic(factor, at, 1 + s) - 1]

    cdef void take_costs(self, Family factor, const Place *at, const pass_costs *whole, pass_costs *own) noexcept nogil:
        cdef int k, j, a, b, d = factor.n_columns
        for k in range(self.n_components):
            own.offsets[k] = 0
            for j in range(d):
                a, b = k * d + j, k * self.n_columns + at.column + j
                own.centers[a], own.linear[a], own.quadratic[a] = whole.centers[b], whole.linear[b], whole.quadratic[b]

    cdef void put_costs(self, Family factor, const Place *at, const pass_costs *own, pass_costs *whole) noexcept nogil:
        cdef int k, j, a, b, d = factor.n_columns
        for k in range(self.n_components):
            whole.offsets[k] += own.offsets[k]
            for j in range(d):
                a, b = k * d + j, k * self.n_columns + at.column + j
                whole.centers[b], whole.linear[b], whole.quadratic[b] = own.centers[a], own.linear[a], own.quadratic[a]

    cdef void root(self, real *low, real *high) noexcept nogil:
        self.root_of(self.first, &self.places[0], low, high)
        self.root_of(self.second, &self.places[1], low, high)

    cdef void root_of(self, Family factor, const Place *at, real *low, real *high) noexcept nogil:
        cdef Scratch own
        open_scratch(&own, factor)
        factor.root(own.low, own.high)
        self.put(factor, at, own.low, low)
        self.put(factor, at, own.high, high)
        close_scratch(&own)

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        """The first factor's order of components is that of the product; the second has none."""
        if not self.tighten_factor(self.first, &self.places[0], 0, low, high):
            return 0
        return self.tighten_factor(self.second, &self.places[1], 1, low, high)

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        if not self.tighten_factor(self.first, &self.places[0], 1, low, high):
            return 0
        return self.tighten_factor(self.second, &self.places[1], 1, low, high)

    cdef bint tighten_factor(self, Family factor, const Place *at, bint alone, real *low, real *high) noexcept nogil:
        cdef Scratch own
        cdef bint left
        open_scratch(&own, factor)
        self.take(factor, at, low, own.low)
        self.take(factor, at, high, own.high)
        left = factor.tighten_alone(own.low, own.high) if alone else factor.tighten(own.low, own.high)
        self.put(factor, at, own.low, low)
        self.put(factor, at, own.high, high)
        close_scratch(&own)
        return left

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k
        out.constant = out.prior = out.e_low = out.e_high = 0
        for k in range(self.n_components):
            out.minorant.offsets[k] = 0
        self.relax_factor(self.first, &self.places[0], low, high, out)
        self.relax_factor(self.second, &self.places[1], low, high, out)

    cdef void relax_factor(self, Family factor, const Place *at, const real *low, const real *high,
                           Subproblem *out) noexcept nogil:
        cdef Scratch own
        cdef int k, r
        open_scratch(&own, factor)
        self.take(factor, at, low, own.low)
        self.take(factor, at, high, own.high)
        own.sub.facets = out.facets + at.facet  # with room for more coefficients than the factor's
        factor.relax(own.low, own.high, &own.sub)
        for k in range(self.n_components):  # the sum of two offsets is rounded up, and the minorant down
            own.sub.minorant.offsets[k] += 4 * ROUND * (
                fabs(own.sub.minorant.offsets[k]) + fabs(out.minorant.offsets[k]))
        self.put_costs(factor, at, &own.sub.minorant, &out.minorant)
        out.constant += own.sub.constant - 4 * ROUND * (fabs(out.constant) + fabs(own.sub.constant))
        for r in range(factor.n_facets):
            self.spread(factor, at, &out.facets[at.facet + r], own.row)
        close_scratch(&own)

    cdef void spread(self, Family factor, const Place *at, Facet *facet, real *row) noexcept nogil:
        """A factor's coefficients to where the product has its statistics."""
        cdef int s, k, n = 1 + self.n_statistics, own = 1 + factor.n_statistics
        cdef int first = facet.first, count = facet.count, k0 = first // own, K = (first + count - 1) // own + 1 - k0
        for s in range(count):
            row[s] = facet.coefficients[s]
        facet.first, facet.count = k0 * n, K * n
        for s in range(K * n):
            facet.coefficients[s] = 0
        for s in range(count):
            k = (first + s) // own - k0
            facet.coefficients[k * n + self.statistic(factor, at, (first + s) % own)] = row[s]

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        self.split_factor(self.first, &self.places[0], low, high, sub, mass, moments, e, point, error)
        self.split_factor(self.second, &self.places[1], low, high, sub, mass, moments, e, point, error)

    cdef void split_factor(self, Family factor, const Place *at, const real *low, const real *high,
                           const Subproblem *sub, const real *mass, const real *moments, real e, real *point,
                           real *error) noexcept nogil:
        cdef Scratch own
        open_scratch(&own, factor)
        self.take(factor, at, low, own.low)
        self.take(factor, at, high, own.high)
        self.take_moments(factor, at, moments, own.moments)
        self.take_costs(factor, at, &sub.minorant, &own.sub.minorant)
        own.sub.facets = sub.facets + at.facet
        factor.split_points(own.low, own.high, &own.sub, mass, own.moments, e, own.point, own.error)
        self.put(factor, at, own.point, point)
        self.put(factor, at, own.error, error)
        close_scratch(&own)

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k
        for k in range(self.n_components):
            out.offsets[k] = 0
        self.costs_of(self.first, &self.places[0], point, out)
        self.costs_of(self.second, &self.places[1], point, out)

    cdef void costs_of(self, Family factor, const Place *at, const real *point, pass_costs *out) noexcept nogil:
        cdef Scratch own
        open_scratch(&own, factor)
        self.take(factor, at, point, own.point)
        factor.costs(own.point, &own.sub.minorant)
        self.put_costs(factor, at, &own.sub.minorant, out)
        close_scratch(&own)

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        self.maximise_factor(self.first, &self.places[0], mass, moments, e, costs, point)
        self.maximise_factor(self.second, &self.places[1], mass, moments, e, costs, point)

    cdef void maximise_factor(self, Family factor, const Place *at, const real *mass, const real *moments, real e,
                              const pass_costs *costs, real *point) noexcept nogil:
        cdef Scratch own
        open_scratch(&own, factor)
        self.take(factor, at, point, own.point)
        self.take_moments(factor, at, moments, own.moments)
        self.take_costs(factor, at, costs, &own.sub.minorant)
        factor.maximise(mass, own.moments, e, &own.sub.minorant, own.point)
        self.put(factor, at, own.point, point)
        close_scratch(&own)

    cdef void keep_shared(self, real *shared) noexcept nogil:
        self.first.keep_shared(shared + self.places[0].shared)
        self.second.keep_shared(shared + self.places[1].shared)

    cdef real prior_size(self, const real *point) noexcept nogil:
        """What rounding of the factors' costs is relative to, beside the costs themselves."""
        return self.size_of(self.first, &self.places[0], point) + self.size_of(self.second, &self.places[1], point)

    cdef real size_of(self, Family factor, const Place *at, const real *point) noexcept nogil:
        cdef Scratch own
        cdef real size
        open_scratch(&own, factor)
        self.take(factor, at, point, own.point)
        size = factor.prior_size(own.point)
        close_scratch(&own)
        return size

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        self.seed_factor(self.first, &self.places[0], centers, point)
        self.seed_factor(self.second, &self.places[1], centers, point)

    cdef void seed_factor(self, Family factor, const Place *at, const real *centers, real *point) noexcept nogil:
        cdef Scratch own
        cdef int k, j, d = factor.n_columns
        open_scratch(&own, factor)
        for k in range(self.n_components):
            for j in range(d):
                own.sub.minorant.centers[k * d + j] = centers[k * self.n_columns + at.column + j]
        factor.seed(own.sub.minorant.centers, own.point)
        self.put(factor, at, own.point, point)
        close_scratch(&own)

    def metric(self):
        """Weights (d,) of the coordinates: those of the factors."""
        return np.concatenate([self.first.metric(), self.second.metric()])

    @property
    def shifted(self):
        """Whether a factor's samples are in units that rounding moves them by."""
        return self.first.shifted or self.second.shifted

    @property
    def returns_rounded(self):
        """The value of the parameters that are returned is reported, with what their rounding moves it by."""
        return self.shifted

    @property
    def has_ends(self):
        """Whether a factor's parameters can reach an end that EM then does not leave."""
        return self.first.has_ends or self.second.has_ends

    def provable(self):
        """The product of the factors' provable families."""
        factors = [one.provable() for one in (self.first, self.second)]
        return None if None in factors else ProductFamily(self.data, *factors, self.decode, self.encode)

    def one_component(self, problem, data=None):
        """The product of the factors of one component; None where they share parameters."""
        factors = [one.one_component(problem) for one in (self.first, self.second)]
        if None in factors:
            return None
        return ProductFamily(self.data if data is None else data, *factors, self.decode, self.encode)

    def _own(self, int which, values):
        """A factor's part of parameters (n_connected,)."""
        cdef Family factor = self.second if which else self.first
        cdef real[::1] whole = np.array(values, dtype=float), own = np.zeros(factor.n_connected)
        self.take(factor, &self.places[which], &whole[0], &own[0])
        return np.asarray(own)

    def parameters(self, vector):
        """The user's parameters, or a pair of the factors'."""
        K, n = self.n_components, self.n_connected
        vector = np.asarray(vector, dtype=float)
        ends = vector[:K], vector[K + n:]
        found = tuple(
            one.parameters(np.concatenate([ends[0], self._own(which, vector[K:K + n]), ends[1]]))
            for which, one in enumerate((self.first, self.second))
        )
        return found if self.decode is None else self.decode(found)

    def pack(self, *pair, **parameters):
        """Connected variables (n_connected,) of the user's parameters, or of a pair of the factors'."""
        cdef real[::1] whole = np.zeros(self.n_connected), own
        cdef Family factor
        for which, given in enumerate(self.encode(parameters) if parameters else pair):
            one = factor = self.second if which else self.first
            own = np.ascontiguousarray(one.pack(*given) if isinstance(given, tuple) else one.pack(**given))
            self.put(factor, &self.places[which], &own[0], &whole[0])
        return np.asarray(whole)
