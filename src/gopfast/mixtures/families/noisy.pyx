"""Components of a family and one more of constant density, for outliers.

The last component has no parameters: its costs are one number, minus the logarithm of its density, for all samples, so
that its minorant is exact and it has no facets. Its variables in a box are 0 and stay so. The others come first, so
that what is theirs, in boxes, statistics and costs, is where their own family expects it.

Theory: (Z4) of docs/theory/products.md.
"""

import numpy as np

from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.families.family cimport Family, Subproblem
from gopfast.search.types cimport real


cdef class NoisyFamily(Family):
    """Components of a family and one of constant density.

    Parameters
    ----------
    inner : Family
        Of the other components, which share no parameters, without a prior; what it says of a cell holds whatever the
        masses add up to, which those of its components do not to the samples'.
    log_density : float
        In the units of the user.
    """

    cdef readonly Family inner
    cdef readonly real log_density

    def __init__(self, Family inner, real log_density):
        cdef int K = inner.n_components
        if inner.n_shared or inner.has_prior or inner.n_more:
            raise ValueError("the other components must share no parameters and have no prior")
        self.data, self.inner, self.log_density = inner.data, inner, log_density
        self.n_components, self.n_columns, self.n_statistics = K + 1, inner.n_columns, inner.n_statistics
        self.n_cell, self.n_shared = inner.n_cell, 0
        self.n_connected, self.n_facets = (K + 1) * inner.n_cell, inner.n_facets
        self.has_prior, self.e_power, self.divisible_cells = False, 0.0, inner.divisible_cells
        self.constant = inner.constant
        self.constant_size = max(abs(inner.constant), inner.constant_size) + self.data.total_weight * abs(log_density)

    cdef void settle(self, real *values) noexcept nogil:
        """OUT: 0 for the last component's variables (n_cell,) of a box or of parameters."""
        cdef int i
        for i in range(self.n_cell):
            values[self.inner.n_connected + i] = 0

    cdef void add_costs(self, pass_costs *costs) noexcept nogil:
        """OUT: costs of the last component; the constant counts for all samples and is taken out."""
        cdef int j, a
        costs.offsets[self.inner.n_components] = (
            self.log_density + self.inner.constant / self.data.core.total_weight)
        for j in range(self.n_columns):
            a = self.inner.n_components * self.n_columns + j
            costs.centers[a] = costs.linear[a] = costs.quadratic[a] = 0

    cdef void root(self, real *low, real *high) noexcept nogil:
        self.inner.root(low, high)
        self.settle(low)
        self.settle(high)

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        return self.inner.tighten(low, high)

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        return self.inner.tighten_alone(low, high)

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        self.inner.relax(low, high, out)
        self.add_costs(&out.minorant)

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        self.inner.split_points(low, high, sub, mass, moments, e, point, error)
        self.settle(point)
        self.settle(error)

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        self.inner.costs(point, out)
        self.add_costs(out)

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        self.inner.maximise(mass, moments, e, costs, point)
        self.settle(point)

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        self.inner.seed(centers, point)
        self.settle(point)

    def metric(self):
        """The inner family's."""
        return self.inner.metric()

    def provable(self):
        """With the others' provable family."""
        inner = self.inner.provable()
        return None if inner is None else NoisyFamily(inner, self.log_density)

    @property
    def shifted(self):
        """As the inner family."""
        return self.inner.shifted

    @property
    def has_ends(self):
        """A weight of 0 of the last component is one that EM does not leave."""
        return self.inner.has_ends

    def parameters(self, vector):
        """Those of the components that have any."""
        K, n = self.inner.n_components, self.inner.n_connected
        vector = np.asarray(vector, dtype=float)
        begin = self.n_components
        return self.inner.parameters(np.concatenate([vector[:K], vector[begin:begin + n], vector[-1:]]))

    def pack(self, **parameters):
        """Connected variables (n_connected,) of the components' parameters."""
        return np.concatenate([np.ravel(self.inner.pack(**parameters)), np.zeros(self.n_cell)])
