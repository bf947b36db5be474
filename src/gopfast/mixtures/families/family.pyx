"""What the entropic relaxed dual and EM ask of a component family.

Theory: (A4) of docs/theory/problem.md; (G4) of docs/theory/gop.md; (E2) and (E7) of docs/theory/entropic.md; (S4) of
docs/theory/search.md; (V8) of docs/theory/proofs.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs

from gopfast.mixtures.families.tuning import LEAST_VARIANCE

from gopfast.mixtures.families.margins cimport CONSTANT_ROUNDING, NEGLIGIBLE_WIDTH
from gopfast.mixtures.families.tuning cimport TYPICAL_SLACK
from gopfast.search.rounding cimport ROUND


cdef bint order_components(int n_components, int n_cell, real *low, real *high) noexcept nogil:
    cdef int k, K = n_components
    for k in range(1, K):
        low[k * n_cell] = max(low[k * n_cell], low[(k - 1) * n_cell])
    for k in range(K - 2, -1, -1):
        high[k * n_cell] = min(high[k * n_cell], high[(k + 1) * n_cell])
    for k in range(K):
        if low[k * n_cell] > high[k * n_cell]:
            return 0
    return 1


cdef real half_width(real low, real high, real middle) noexcept nogil:
    """The minorant and the facets of a wider cell hold for the cell too."""
    return max(high - middle, middle - low) * (1 + 8 * ROUND) + ROUND * fabs(middle)


cdef bint has_width(real half, real low, real high) noexcept nogil:
    return half > NEGLIGIBLE_WIDTH * (fabs(low) + fabs(high))


cdef void clear(Facet *facet, bint active, int first, int count) noexcept nogil:
    cdef int s
    facet.active, facet.paired = active, 0
    facet.first, facet.count = first, count
    facet.constant = facet.prior = 0
    facet.cap = INFINITY
    for s in range(count):
        facet.coefficients[s] = 0


cdef Facet *bound_mean(Facet *facet, bint active, int first, int count, int j, real half, real mass,
                       real multiplier) noexcept nogil:
    cdef int side
    for side in range(2):
        clear(facet, active, first, count)
        facet.paired = side == 0
        facet.multiplier, facet.slack = multiplier, TYPICAL_SLACK * half * mass
        facet.coefficients[0], facet.coefficients[1 + j] = half, 1 if side == 0 else -1
        facet += 1
    return facet


cdef class Family:
    """A component family: minorant and facets of a cell, root, split, optimum.

    Subclasses set the sizes, override the methods, and convert between the core's parameters (`n_connected` values,
    one row of `n_cell` per component, then the shared ones) and the user's.
    """

    cdef void root(self, real *low, real *high) noexcept nogil:
        pass

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        return order_components(self.n_components, self.n_cell, low, high)

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        return 1

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        pass

    cdef void more_slopes(self, const real *low, const real *high, const Subproblem *sub, const real *q,
                          real *out) noexcept nogil:
        pass

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        pass

    cdef bint least_costs(self, const real *low, const real *high, real *out) noexcept nogil:
        return 1

    cdef void lost_by_samples(self, const real *low, const real *high, const real *shares, real *error) noexcept nogil:
        pass

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        pass

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        pass

    cdef void maximise_shares(self, const real *shares, const real *mass, real *point) noexcept nogil:
        pass

    cdef real prior_cost(self, const real *point, real *e) noexcept nogil:
        e[0] = 0
        return 0

    cdef real prior_size(self, const real *point) noexcept nogil:
        cdef real e
        return fabs(self.prior_cost(point, &e))

    cdef real constant_margin(self) noexcept nogil:
        return CONSTANT_ROUNDING * max(fabs(self.constant), self.constant_size)

    @property
    def constant_error(self):
        """Bound of the rounding error of the constant, in nats."""
        return self.constant_margin()

    def set_constant(self, real constant, real error):
        """Set the constant, and let its margin hold an error bound of what else it stands for; both in nats."""
        self.constant = constant
        self.constant_size = fabs(constant) + error / CONSTANT_ROUNDING

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        pass

    cdef void vacate(self, int k, real *point) noexcept nogil:
        pass

    cdef void keep_shared(self, real *shared) noexcept nogil:
        pass

    def metric(self):
        """Weights (d,) of the coordinates in the squared distance that starts are drawn by: 1 / their variances."""
        columns, weights = self.data.arrays()
        variance = np.average(np.square(columns - np.average(columns, axis=1, weights=weights)[:, None]), axis=1,
                              weights=weights)
        return 1.0 / np.maximum(variance, LEAST_VARIANCE)

    def places(self, columns, weights):
        """Coordinates (d, n) of the samples of some columns (n_columns, n) whose distances tell clusters apart."""
        return np.sqrt(self.metric())[:, np.newaxis] * columns

    def suggested(self):
        """Weights (K,) and parameters (n_connected,) of a fit that is known, in one array, or None."""
        return None

    def seeded(self, rng):
        """Parameters (n_connected,) to start a local search from, around samples that `rng` draws."""
        cdef real[::1] point = np.empty(self.n_connected), centers
        columns, _ = self.data.arrays()
        K, n = self.n_components, columns.shape[1]
        centers = columns[:, rng.choice(n, K, replace=n < K)].T.ravel()
        self.seed(&centers[0], &point[0])
        return np.asarray(point)

    def subproblem(self, low, high):
        """Minorant and facets of the cells [low, high], for tests.

        Returns
        -------
        dict with centers (K, d), minorant (K, 1 + F) and facets (R, K(1 + F)), coefficients of the statistics about
        the centers, and the prior's and the constant part of each: minorant_rest (2,), facet_rest (R, 2); each
        (K, n_each), what samples cost by themselves; the largest multipliers, caps (R,).
        """
        cdef int K = self.n_components, d = self.n_columns, F = self.n_statistics, m = K * (1 + F), r, s
        cdef real[::1] lower = np.array(low, dtype=float).ravel(), upper = np.array(high, dtype=float).ravel()
        cdef real[:, ::1] costs = np.zeros((3, K * d)), coefficients = np.zeros((self.n_facets, m))
        cdef real[:, ::1] each = np.zeros((K, max(self.n_each, 1)))
        cdef real[::1] offsets = np.zeros(K)
        cdef unsigned char[::1] block = np.zeros(max(self.n_facets, 1) * sizeof(Facet), dtype=np.uint8)
        cdef Subproblem sub
        sub.facets = <Facet *> &block[0]
        sub.minorant.centers, sub.minorant.linear, sub.minorant.quadratic = &costs[0, 0], &costs[1, 0], &costs[2, 0]
        sub.minorant.offsets, sub.minorant.each = &offsets[0], &each[0, 0]
        for r in range(self.n_facets):
            sub.facets[r].coefficients = &coefficients[r, 0]
        self.relax(&lower[0], &upper[0], &sub)
        centers, linear, quadratic = np.asarray(costs).reshape(3, K, d)
        facets, rest, caps = [], [], []
        for r in range(self.n_facets):
            if sub.facets[r].active:
                row = np.zeros(m)
                for s in range(sub.facets[r].count):
                    row[sub.facets[r].first + s] = sub.facets[r].coefficients[s]
                facets.append(row)
                caps.append(sub.facets[r].cap)
                rest.append((sub.facets[r].prior, sub.facets[r].constant))
        return dict(
            centers=centers, minorant=np.hstack([-np.asarray(offsets)[:, None], linear, quadratic])[:, :1 + F],
            each=np.asarray(each)[:, :self.n_each], minorant_rest=np.array([sub.prior, sub.constant]),
            facets=np.reshape(facets, (-1, m)), facet_rest=np.reshape(rest, (-1, 2)), caps=np.array(caps),
        )

    # What only some families have

    @property
    def shifted(self):
        """Whether the samples are in units that rounding moves them by."""
        return False

    @property
    def returns_rounded(self):
        """Whether parameters in the user's units are rounded more than the samples' shift and scale say."""
        return self.frame is not None

    @property
    def discrete(self):
        """Whether samples have probabilities, not densities."""
        return False

    def missing_patterns(self):
        """Number (n,) of the pattern of missing entries of each sample; None where no entry is missing."""
        return None

    # Bounds are built on families: those that follow load what they name when they are called.

    def chart(self):
        """Natural parameters of the components around a solution, for a box around it; None."""
        return None

    def provable(self):
        """The family with boxes that `gopfast.checker` cuts as well; None where it has no entry."""
        return None

    def one_component(self, problem, data=None):
        """The family of one component that is one of any number, of the same columns; None where they share parameters.

        problem : MixtureProblem
            What this family was made from.
        data : Samples, optional
            A summary in place of the samples: its corners hold them.
        """
        return None

    def free_variable(self):
        """A categorical variable whose probabilities need not be divided, as they follow from masses; None.

        Returns
        -------
        columns : ndarray of bool, shape (n_cell,)
            Its coordinates in a component's cell.
        levels : ndarray of int, shape (n,)
            The samples' values, 0 to m - 1.
        """
        return None

    def slices(self):
        """What components share, as a parameter that can be fixed (see `shared.slices`), or None."""
        return None

    @property
    def has_marginals(self):
        """Whether two columns of a mixture are a mixture of the same model that can be priced, and this one cannot."""
        return False

    @property
    def has_blocks(self):
        """Whether components are products over columns of normal ones of free variance: see `pricing.blocks`."""
        return False

    @property
    def has_ends(self):
        """Whether parameters can reach an end that EM then does not leave, such as a probability of 0."""
        return False

    @property
    def frame(self):
        """Axes of the core's coordinates, (d, d), of families that choose them from the data; None."""
        return None

    @property
    def normal_on_a_line(self):
        """Whether components are normal, of free variances above 1, in one column."""
        return False

    def parameters(self, vector):
        """The user's parameters, a dict, from the core's solution: weights (K,), parameters, prior weight e."""
        raise NotImplementedError

    def pack(self, **parameters):
        """The core's parameters (n_connected,) from the user's; the first one is enough."""
        raise NotImplementedError
