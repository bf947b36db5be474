"""What the entropic relaxed dual and EM ask of a component family."""

import numpy as np

from libc.math cimport INFINITY, fabs

# Relative slack of what `balance` derives; it takes a few operations.
cdef real ROUNDING = 1e-12
# Of the sum of a constant's terms, each within 16 u of its magnitude.
cdef real CONSTANT_ROUNDING = 64 * 2.0 ** -53


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


cdef bint balance(int n_components, real total, real nu, real average, real *low, real *high, real *mass_low,
                  real *mass_high) noexcept nogil:
    """Masses M_l = S_l + nu add up to the total and M_l (mean_l - average) to 0.

    So component k balances the others, M_k x + (total - M_k) y = 0, x its deviation from the average and y some number
    between the least and the largest of the others': bounds of M_k, then of x.
    """
    cdef int k, l, K = n_components
    cdef real p, q, x, y, a, b, sum_low = 0, sum_high = 0, free = total - K * nu
    # what adding nu to a mass, or taking it off, may round away
    cdef real lost = 2.0 ** -50 * total
    if K == 1:
        mass_low[0] = max(mass_low[0], free * (1 - 1e-12) - lost)
    for k in range(K):
        sum_low += mass_low[k]
        sum_high += mass_high[k]
    for k in range(K):
        a, b = free - (sum_high - mass_high[k]), free - (sum_low - mass_low[k])
        mass_low[k] = max(mass_low[k], a - ROUNDING * (free + sum_high))
        mass_high[k] = min(mass_high[k], b + ROUNDING * (free + sum_low))
    for k in range(K):
        if not mass_high[k] + nu > 0:
            continue
        p, q = INFINITY, -INFINITY
        if K == 1:
            p = q = 0
        for l in range(K):
            if l != k:
                p = min(p, low[l] - average - ROUNDING * (fabs(low[l]) + fabs(average)))
                q = max(q, high[l] - average + ROUNDING * (fabs(high[l]) + fabs(average)))
        x = low[k] - average - ROUNDING * (fabs(low[k]) + fabs(average))
        y = high[k] - average + ROUNDING * (fabs(high[k]) + fabs(average))
        if (p > 0 and x > 0) or (q < 0 and y < 0):
            return 0
        # M y + (total - M) q >= 0 and M x + (total - M) p <= 0
        a, b = mass_low[k] + nu - lost, mass_high[k] + nu + lost
        if q < 0:
            a = max(a, total * q / (q - y) * (1 - ROUNDING))
        elif y < 0:
            b = min(b, total * q / (q - y) * (1 + ROUNDING))
        if p > 0:
            a = max(a, total * p / (p - x) * (1 - ROUNDING))
        elif x > 0:
            b = min(b, total * p / (p - x) * (1 + ROUNDING))
        if a > b or not b > 0:
            return 0
        mass_low[k], mass_high[k] = max(mass_low[k], a - nu - lost), min(mass_high[k], b - nu + lost)
        # x = -(total - M) / M y
        a = max(0.0, total / a * (1 + ROUNDING) - 1) if a > 0 else INFINITY
        b = max(0.0, total / b * (1 - ROUNDING) - 1)
        if p >= 0 or a < INFINITY:
            y = min(y, -p * (a if p < 0 else b))
        if q <= 0 or a < INFINITY:
            x = max(x, -q * (a if q > 0 else b))
        low[k] = max(low[k], average + x - ROUNDING * (fabs(x) + fabs(average)))
        high[k] = min(high[k], average + y + ROUNDING * (fabs(y) + fabs(average)))
        if low[k] > high[k]:
            return 0
    return 1


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

    cdef void place(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                    const real *moments, real e, real *point, real *error) noexcept nogil:
        pass

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        pass

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
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
        """Set the constant, and let its margin hold an error bound of what else it stands for."""
        self.constant = constant
        self.constant_size = fabs(constant) + error / CONSTANT_ROUNDING

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        pass

    cdef void vacate(self, int k, real *point) noexcept nogil:
        pass

    def metric(self):
        """Weights (d,) of the coordinates in the squared distance that starts are drawn by."""
        columns, weights = self.data.arrays()
        variance = np.average(np.square(columns - np.average(columns, axis=1, weights=weights)[:, None]), axis=1,
                              weights=weights)
        return 1.0 / np.maximum(variance, 1e-12)

    def seeded(self, rng):
        """Parameters (n_connected,) to start a local search from, around samples that `rng` draws."""
        cdef real[::1] point = np.empty(self.n_connected), centers
        columns, _ = self.data.arrays()
        K, n = self.n_components, columns.shape[1]
        centers = columns[:, rng.choice(n, K, replace=n < K)].T.ravel()
        self.seed(&centers[0], &point[0])
        return np.asarray(point)

    def root_box(self):
        """The root cells (low, high), shapes (n_connected,), for tests."""
        cdef real[::1] low = np.empty(self.n_connected), high = np.empty(self.n_connected)
        self.root(&low[0], &high[0])
        return np.asarray(low), np.asarray(high)

    def tightened(self, low, high):
        """What `tighten` leaves of a box, (low, high), or None, for tests."""
        cdef real[::1] least = np.array(low, dtype=float).ravel(), most = np.array(high, dtype=float).ravel()
        return (np.asarray(least), np.asarray(most)) if self.tighten(&least[0], &most[0]) else None

    def subproblem(self, low, high):
        """Minorant and facets of the cells [low, high], for tests.

        Returns
        -------
        dict with centers (K, d), minorant (K, 1 + F) and facets (R, K(1 + F)), coefficients of the statistics about
        the centers, and the prior's and the constant part of each: minorant_rest (2,), facet_rest (R, 2); the largest
        multipliers, caps (R,).
        """
        cdef int K = self.n_components, d = self.n_columns, F = self.n_statistics, m = K * (1 + F), r, s
        cdef real[::1] least = np.array(low, dtype=float).ravel(), most = np.array(high, dtype=float).ravel()
        cdef real[:, ::1] costs = np.zeros((3, K * d)), coefficients = np.zeros((self.n_facets, m))
        cdef real[::1] offsets = np.zeros(K)
        cdef unsigned char[::1] block = np.zeros(self.n_facets * sizeof(Facet), dtype=np.uint8)
        cdef Subproblem sub
        sub.facets = <Facet *> &block[0]
        sub.minorant.centers, sub.minorant.linear, sub.minorant.quadratic = &costs[0, 0], &costs[1, 0], &costs[2, 0]
        sub.minorant.offsets = &offsets[0]
        for r in range(self.n_facets):
            sub.facets[r].coefficients = &coefficients[r, 0]
        self.relax(&least[0], &most[0], &sub)
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
            minorant_rest=np.array([sub.prior, sub.constant]), facets=np.reshape(facets, (-1, m)),
            facet_rest=np.reshape(rest, (-1, 2)), caps=np.array(caps),
        )

    # What only some families have

    @property
    def shifted(self):
        """Whether the samples are in units that rounding moves them by."""
        return False

    @property
    def discrete(self):
        """Whether samples have probabilities, not densities."""
        return False

    def basin(self, primal):
        """What finds a box around an incumbent of `primal` with a bound of its own; None."""
        return None

    def reduction(self):
        """What is learnt beside the tree unasked; None."""
        return None

    def linear_dual(self, paper_partition=False, milp=False):
        """The paper's relaxed dual as linear programs; None."""
        return None

    def one_component(self, problem):
        """The family of one component that is one of any number, of the same columns; None where they share parameters.

        problem : MixtureProblem
            What this family was made from.
        """
        return None

    def normal_components(self, point):
        """Means (K,) and variances (K,) of normal components in one column, at parameters (n_connected,); None."""
        return None

    def parameters(self, vector):
        """The user's parameters, a dict, from the core's solution: weights (K,), parameters, prior weight e."""
        raise NotImplementedError

    def pack(self, **parameters):
        """The core's parameters (n_connected,) from the user's; the first one is enough."""
        raise NotImplementedError
