"""The pricing bound, told to the nodes of a tree of boxes of all components.

Every solution below a limit has all its components in the cells that `pricing` has left. So each component's cell of a
node is cut down to where it meets them, and a node is closed where the largest bounds of G over what is left of its
cells add up to no more than the prices less the limit: K look-ups, before any data pass.

Theory: (C2) of docs/theory/cells.md.
"""

import numpy as np

from gopfast.search import entries

from libc.math cimport INFINITY, fabs
from libc.stdlib cimport free, malloc

from gopfast.mixtures.families.family cimport Family, order_components
from gopfast.mixtures.pricing.margins cimport SUMMING
from gopfast.mixtures.pricing.tuning cimport MOST_TURNS


cdef class PricingReduction(StepwiseReduction):
    """Cells of one component outside which no solution below a limit has any.

    Parameters
    ----------
    family : Family
        Of K components.
    make : callable (solution, limit) -> PricingBound
    slack : ndarray, shape (n_cell,), optional
        See `CellTree`.
    """

    def __init__(self, Family family, make, slack=None):
        super().__init__(family, make)
        self.passes_of_one = family.n_components
        self.slack = np.zeros(family.n_cell) if slack is None else np.array(slack, dtype=np.float64)
        self.limit = INFINITY

    cdef int take_limit(self, real limit) except -1:
        StepwiseReduction.take_limit(self, limit)
        if limit < self.limit:
            self.limit = limit
            self.version += 1
            if self.tree is not None:
                self.lower = limit
        return 0

    cdef real proved(self) except? -1.0:
        # a proof has no entry of a bound whose cells are still searched
        return self.bound.lower if not self.bound.is_recorded or self.bound.cells is not None else -INFINITY

    cdef bint adopt(self, real limit) except -1:
        cdef real rest
        if self.bound.cells is None:
            return True
        if self.bound.cells is not self.taken:
            self.taken = self.bound.cells
            self.tree, self.total = CellTree(*self.taken, slack=self.slack), self.bound.table_total
            self.version += 1
        self.lower = self.limit
        return self.contract(&self.low[0], &self.high[0], &rest) > 0

    cdef int contract(self, real *low, real *high, real *rest) noexcept nogil:
        cdef int K = self.family.n_components, left
        cdef real *memory
        rest[0] = -INFINITY
        if self.tree is None:
            return 1
        memory = <real *> malloc((K + 2 * self.family.n_cell) * sizeof(real))
        if memory == NULL:
            return 1
        left = self.cut_cells(low, high, rest, memory, memory + K)
        free(memory)
        return left

    cdef int cut_cells(self, real *low, real *high, real *rest, real *sups, real *cell) noexcept nogil:
        """As `contract`; workspaces are the largest bounds (K,) of what the components meet, and a cell's corners."""
        cdef int K = self.family.n_components, k, j, n = self.family.n_cell, _turn
        cdef real sum_sup, lost, size = SUMMING * (fabs(self.total) + fabs(self.limit)), first_low, first_high
        cdef real *cut_low = cell
        cdef real *cut_high = cell + n
        if not order_components(K, n, low, high):
            return 0
        for _turn in range(MOST_TURNS):
            sum_sup = 0
            for k in range(K):
                sups[k] = self.tree.largest(low + k * n, high + k * n)
                sum_sup += sups[k]
            lost = size + SUMMING * fabs(sum_sup)
            # the box's bound is total - sum of G, at least the limit
            if not sum_sup + lost > self.total - self.limit:
                return 0
            rest[0] = max(rest[0], self.total - sum_sup - lost)
            for k in range(K):
                if self.tree.meet(low + k * n, high + k * n, self.total - self.limit - (sum_sup - sups[k]) - lost,
                                  cut_low, cut_high) == -INFINITY:
                    return 0
                for j in range(n):
                    low[k * n + j] = max(low[k * n + j], cut_low[j])
                    high[k * n + j] = min(high[k * n + j], cut_high[j])
            # what is met of these boxes is met of no others: only their order can leave less
            first_low = first_high = 0
            for k in range(K):
                first_low, first_high = first_low + low[k * n], first_high + high[k * n]
            if not order_components(K, n, low, high):
                return 0
            for k in range(K):
                first_low, first_high = first_low - low[k * n], first_high - high[k * n]
            if first_low == 0 and first_high == 0:
                break
        # solutions that were cut off cost at least the limit
        rest[0] = min(rest[0], self.limit)
        return 1

    def known(self):
        """The cells and bounds."""
        found = {
            "low": np.array(self.low), "high": np.array(self.high),
            "bounds": np.array([self.lower, self.floor, self.limit, self.total]),
        }
        if self.tree is not None:
            found |= {f"cells_{name}": value for name, value in self.tree.state().items()}
        return found

    def take_known(self, state):
        """Take what `known` returned."""
        for name, own in (("low", self.low), ("high", self.high)):
            np.asarray(own)[:] = entries.array(state, name, np.shape(own))
        self.lower, self.floor, self.limit, self.total = entries.array(state, "bounds", (4,)).tolist()
        self.tree = None
        cells = {name[6:]: value for name, value in state.items() if name.startswith("cells_")}
        if cells:
            self.tree = CellTree.__new__(CellTree)
            with entries.owner("cells"):
                self.tree.restore(cells)
            if self.tree.n_cell != self.family.n_cell:
                raise ValueError("cells of another problem")

    def cut(self, low, high):
        """For tests: what is left of a box and the bound of that, or None."""
        cdef real[::1] least = np.array(low, dtype=np.float64), most = np.array(high, dtype=np.float64)
        cdef real rest
        return (np.asarray(least), np.asarray(most), rest) if self.contract(&least[0], &most[0], &rest) > 0 else None
