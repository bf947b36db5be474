"""What one component can save at given prices of the samples: its supremum over cells, cell by cell."""

from gopfast.mixtures.pricing.price_cell cimport CellPricing, Pricing
from gopfast.mixtures.families.family cimport Family
from gopfast.mixtures.pricing.tuning cimport BATCH
from gopfast.search.ledger cimport Ledger
from gopfast.search.tree cimport Node, Tree
from gopfast.search.types cimport index, real


cdef class ComponentPricing(CellPricing):
    cdef Tree tree
    cdef Ledger ledger                  # for a proof, or None
    cdef Node *batch[BATCH]             # what is bounded at a time
    cdef int n_batch, n_starts
    cdef real[:, ::1] starts            # (BATCH, n_cell) of ascents beside it, and the values reached
    cdef real[::1] reached, best_point
    cdef readonly real attained         # largest value seen at parameters of a component
    cdef readonly index n_cells, n_dropped
    cdef public index ascend_every      # of so many cells one has an ascent from its split point
    cdef readonly bint covered          # cells were taken since the prices changed
    # What cells and ascents have cost so far, in terms.
    cdef index spent(self) noexcept nogil
    cdef int split(self, Node *cell) except -1
    cdef void task(self, Pricing *at, int i, real cutoff) noexcept nogil
    cdef int expand(self, real threshold, real cutoff) except -1
    cdef void offer(self, real value, const real *point) noexcept nogil
    cdef real column(self, Pricing *at, const real *point, real *mass, real *inner, real *saturated) noexcept nogil
    cdef int need_cells(self) except -1
    cdef int open(self, const real *low, const real *high, const float *warm) except -1
    cdef int drop(self, Node *cell) except -1
