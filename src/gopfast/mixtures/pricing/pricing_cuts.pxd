"""The pricing bound, told to the nodes of a tree of boxes of all components."""

from gopfast.mixtures.pricing.cell_tree cimport CellTree
from gopfast.mixtures.learning.stepwise cimport StepwiseReduction
from gopfast.search.types cimport index, real


cdef class PricingReduction(StepwiseReduction):
    cdef readonly CellTree tree         # None: nothing is known yet
    cdef object taken                   # cells of the bound that the tree was made of
    cdef readonly real total, limit
    cdef real[::1] slack                # (n_cell,) of the tree
    cdef int cut_cells(self, real *low, real *high, real *rest, real *sups, real *cell) noexcept nogil
