"""What the entropic relaxed dual and EM ask of a component family."""

import numpy as np


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


cdef class Family:
    """A component family: minorant and facets of a cell, root, split, optimum.

    Subclasses set the sizes, override the methods, and convert between the core's parameters (`n_connected` values,
    one row of `n_cell` per component, then the shared ones) and the user's.
    """

    cdef void root(self, real *low, real *high) noexcept nogil:
        pass

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        return order_components(self.n_components, self.n_cell, low, high)

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

    def parameters(self, vector):
        """The user's parameters, a dict, from the core's solution: weights (K,), parameters, prior weight e."""
        raise NotImplementedError

    def pack(self, **parameters):
        """The core's parameters (n_connected,) from the user's; the first one is enough."""
        raise NotImplementedError
