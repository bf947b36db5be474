"""What one component can save at given prices of the samples: its supremum over cells, cell by cell."""

from gopfast.mixtures.families.family cimport Family, Subproblem
from gopfast.mixtures.data.passes cimport pass_costs, price_sums
from gopfast.search.arena cimport Arena
from gopfast.search.tree cimport Node, Tree
from gopfast.search.types cimport index, real


# Workspace. F statistics, Q facets.
cdef struct Pricing:
    Subproblem sub
    pass_costs costs
    pass_costs rounding
    price_sums sums
    real *q             # (Q,) multipliers: the trial, and where the last step began
    real *base
    real *rhs           # (Q,)
    real *gradient      # (Q,) the facets' values
    real *step          # (Q,)
    real *curvature     # (Q, Q) of the free multipliers
    real *moments       # (1+F, 1+F) Hessian in the costs' coefficients
    real *image         # (1+F,)
    real *coefficients  # (1+F,) of the costs, and the magnitude of their terms
    real *size
    real *error         # (n_cell,)
    real *point         # (n_cell,)
    real *scratch


cdef class ComponentPricing:
    cdef readonly Family family
    cdef Tree tree
    cdef Pricing at
    cdef int *free
    cdef real[::1] prices, widths, best_point
    cdef Arena arena                    # of the workspace
    cdef int lay_out(self) except -1
    cdef readonly real attained         # largest value seen at parameters of a component
    cdef readonly index n_passes, n_cells, n_dropped
    cdef public int max_passes
    cdef public real patience
    cdef readonly bint covered          # cells were taken since the prices changed
    cdef real evaluate(self, const real *q) noexcept nogil
    cdef real price(self, const real *point) noexcept nogil
    cdef void gradient(self) noexcept nogil
    cdef real direction(self) noexcept nogil
    cdef void bound(self, Node *cell, real cutoff) noexcept nogil
    cdef void place(self, Node *cell) noexcept nogil
    cdef real ascend(self, real *point, int n_steps) noexcept nogil
    cdef int divide(self, Node *cell, real cutoff, real threshold) except -1
    cdef int need_cells(self) except -1
    cdef int open(self, const real *low, const real *high) except -1
