"""The samples of a mixture as the kernels see them."""

from gopfast.mixtures.data.passes cimport pass_costs, pass_data, pass_level, pass_sums
from gopfast.search.arena cimport Arena
from gopfast.search.types cimport index, real


# Pointers into the arrays that Samples owns.
cdef struct SampleSet:
    pass_data samples
    const real *curvature_loss  # (n_columns,) what a summary loses per unit of curvature; 0 for the samples themselves
    real rounding           # relative rounding error of a summary's weights
    index n_samples         # of positive weight
    real total_weight

# What is to be added to a pass's value over a summary so that it bounds the samples' from below.
cdef real summary_shift(const SampleSet *data, int n_components, const pass_costs *costs) noexcept nogil
# Mean size of the terms of component k's costs over its samples: scale of their rounding error.
cdef real cost_size(const SampleSet *data, int k, const pass_costs *costs, const pass_sums *sums,
                    real mass) noexcept nogil


cdef class Samples:
    cdef SampleSet core
    cdef real[:, ::1] columns       # (n_columns, n_padded): scaled, centred, widest coordinate first
    cdef real[::1] weights          # (n_padded,)
    cdef real[::1] curvature_loss
    cdef real[::1] reach            # (d,) how far a summary's points are from the samples they stand for
    cdef readonly object center, scale, order
    cdef readonly list levels       # of Samples: summaries, coarse to fine, of the same data
    cdef int fill(self, columns, weights, bint squares, curvature_loss, real rounding) except -1


# Layouts: the costs of n components of d columns, and of each of n_padded samples unless that is 0; what a pass of this
# level over F statistics puts out.
cdef int take_costs(Arena arena, pass_costs *costs, size_t n_components, size_t n_columns,
                    size_t n_padded=*) except -1
cdef int take_sums(Arena arena, pass_sums *sums, size_t n_components, size_t n_statistics, pass_level level) except -1


# The outputs and scratch of one worker's data passes, and the costs they run on.
cdef class PassBuffer:
    cdef Arena arena
    cdef pass_sums sums
    cdef pass_costs costs
    cdef real *scratch
