"""Primal problem of a mixture whose samples are read chunk by chunk."""

from gopfast.mixtures.primal.em cimport MixturePrimal
from gopfast.mixtures.data.samples cimport SampleSet
from gopfast.search.relaxation cimport Effort
from gopfast.search.types cimport real


cdef class ChunkedPrimal(MixturePrimal):
    cdef SampleSet exact            # stands for the samples: `sweep` reads them
    cdef real none[8]               # their curvature loss
    cdef object chunks              # callable: what a function makes of parts of the samples; None: a worker's
    cdef object frame               # how their rows become columns
    cdef object note                # callable or None: takes a line of text for each pass
    cdef list met                   # optima of the summary that were refined on the samples
    cdef readonly object failure    # what reading the samples raised
    cdef readonly int n_sweeps      # over the samples
    cdef real best, doubtful        # the least objective, and what the summary has of candidates
    cdef real[::1] after, model, kept
    cdef real[::1] low, high        # (n_connected,) of the root
    cdef int read(self, const real *weights) except -1
    cdef bint is_new(self, const real *solution) noexcept
    cdef real taken(self, real of_summary, real objective) noexcept nogil
    cdef real better_from_start(self, real objective, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real refine(self, real *solution, real tolerance, Effort *effort) noexcept nogil
    cdef real approach(self, real *solution, Effort *effort) noexcept nogil
