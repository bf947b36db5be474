"""A Gaussian mixture as the core stores it, and its primal problem (EM)."""

from gopfast._passes cimport N_PARTS, pass_data, pass_sums
from gopfast._relaxation cimport Effort, Primal
from gopfast._stop cimport StopSignal
from gopfast._types cimport index, real


# A mixture as the kernels see it: pointers into the arrays that MixtureData owns.
# Prior: a pseudo-observation at prior_point with weight e * prior_scale per component, e in [e_low, e_high].
cdef struct Mixture:
    pass_data samples
    real shift              # constant of a summary; 0 for the samples themselves
    real rounding           # relative rounding error of a summary's weights
    index n_samples         # of positive weight
    int n_components
    int n_features
    bint has_prior
    real total_weight
    real e_low
    real e_high
    const real *prior_point  # (d,)
    const real *prior_scale  # (d,)
    const real *low          # (d,) root box of a mean
    const real *high

# One of the K! label copies: components ordered by their first coordinate; 0: the box is empty.
cdef bint order_components(const Mixture *data, real *low, real *high) noexcept nogil
cdef real prior_cost(const Mixture *data, const real *means, real *e) noexcept nogil


cdef class MixtureData:
    cdef Mixture core
    cdef real[:, ::1] columns       # (d, n_padded): scaled, centred, widest coordinate first
    cdef real[::1] weights          # (n_padded,)
    cdef real[::1] prior_point, prior_scale, low, high
    cdef readonly object center, scale, order
    cdef readonly list levels       # of MixtureData: summaries, coarse to fine, of the same problem


cdef class SumsBuffer:
    cdef real[::1] storage
    cdef pass_sums sums
    cdef real *scratch


cdef class MixturePrimal(Primal):
    cdef MixtureData data
    cdef Mixture coarse             # the summary that starts run on; the samples where there is none
    cdef SumsBuffer buffer
    cdef list part_buffers          # of SumsBuffer, for passes over many samples
    cdef double *part_scratch[N_PARTS]
    cdef pass_sums part_sums[N_PARTS]
    cdef int n_threads
    cdef real coarse_loss           # objective on the samples less that on the summary, at the first incumbent
    cdef StopSignal stop
    cdef real[::1] zeros, trial, candidate, given
    cdef readonly int n_starts
    cdef unsigned long long seed
    cdef object start
    cdef void sweep(self, const Mixture *data, real *solution) noexcept nogil
    cdef real step(self, const Mixture *data, real *solution) noexcept nogil
    cdef real run(self, const Mixture *data, real *solution, real target, real tolerance, int max_iter, Effort *effort) noexcept nogil
    cdef void start_from(self, int attempt, real *solution) noexcept nogil
    cdef void scatter(self, real *solution) noexcept nogil
