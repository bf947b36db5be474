"""A tree of groups of samples, with the moments and ranges of each."""

from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.search.types cimport index, real

cdef extern from "groups.h" nogil:
    enum:
        GROUPS_LANES
        GROUPS_WEIGHT
        GROUPS_KAPPA
        GROUPS_ALPHA
        GROUPS_MEAN_E
        GROUPS_LOW_E
        GROUPS_HIGH_E
        GROUPS_SIZE
        GROUPS_CENTER
    # What is known of y over some groups, the cut of one cell: (capacity,) each.
    ctypedef struct groups_cut:
        index n         # groups
        index *node
        real *weight
        real *mean
        real *variance
        real *low
        real *high
        real *most      # the mean of exp(y) is at most this,
        real *least     # and at least this
        real *lost      # scratch
        index n_blocks  # of GROUPS_LANES samples each, in the place of groups
        index *start
        real *sample_weight
        real *sample_y
        real *sample_u
    ctypedef struct groups_samples:
        const real *columns
        const real *weights
        const real *prices
        index stride
    int groups_n_rows(int d)

# Sorts samples from the first up to the last so far that the middle one parts them in their widest coordinate.
cdef void cut_widest(const real[:, ::1] points, index *order, index first, index last, index middle) noexcept nogil


cdef class SampleGroups:
    cdef readonly int n_columns, n_levels, n_rows
    cdef readonly int n_made            # levels so far
    cdef readonly int n_priced          # of which moments are known, at the prices that were set last
    cdef readonly bint product          # whether the third column is the product of the first two
    cdef object points                  # (n, d) while there are more to make
    cdef readonly index n_samples, n_nodes
    # (d, n + GROUPS_LANES), the weights and the prices, in the order of the groups made so far
    cdef real[:, ::1] ordered_columns
    cdef real[::1] ordered_weights
    cdef real[::1] ordered_prices
    cdef index[::1] order               # (n,) samples, those of every group one after the other
    cdef real[::1] rows                 # (n_nodes / 8, n_rows, 8): the children of the root, theirs, and so on
    cdef index[::1] begins              # (n_nodes + 1,) of each level: first block
    cdef int sort(self) except -1
    cdef int divide(self, const real[:, ::1] points, index[::1] order) except -1
    cdef real *row_of(self, int level, index g) noexcept nogil
    cdef void measure(self, int level, const real[:, ::1] columns, const real[::1] weights) noexcept nogil
    cdef real from_center(self, const real *at, const real[:, ::1] columns, int j, index i) noexcept nogil
    cdef void inherit(self, int level, index g, real *out) noexcept nogil
    cdef index first_of(self, int level) noexcept nogil
    cdef index end_of(self, int level, index i) noexcept nogil
    cdef int level_of(self, index node) noexcept nogil
    # First of the eight children of a node, -1: it has none.
    cdef index children(self, index node) noexcept nogil
    cdef groups_samples samples(self) noexcept nogil
    # Blocks of samples of a group of the last level.
    cdef index n_blocks_of(self, index node) noexcept nogil
    # OUT: adds these to a cut, at these costs.
    cdef void add_samples(
        self, index node, const pass_costs *costs, const pass_costs *rounding, groups_cut *cut
    ) noexcept nogil
    # OUT: adds the eight groups from this one on to a cut, at these costs.
    cdef void add(self, index node, const pass_costs *costs, const pass_costs *rounding, groups_cut *cut) noexcept nogil
