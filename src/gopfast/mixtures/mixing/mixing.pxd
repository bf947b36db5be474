"""The best mixing distribution of the mean on a part of the line, and where it proves that means must lie."""

from gopfast.mixtures.data.passes cimport pass_costs, pass_sums
from gopfast.mixtures.data.samples cimport SampleSet, Samples
from gopfast.search.arena cimport Arena
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport index, real
from gopfast.mixtures.mixing.weights cimport Weights

cdef struct Interval:
    real low, high

# Part of an interval between two points.
cdef struct Cell:
    int left, right
    bint spared     # may stay uncertified


cdef class MixingDistribution:
    cdef Samples samples
    cdef Samples few                # where the distribution is looked for: they need not bound
    cdef StopSignal stop
    cdef readonly real value        # what the distribution's value is at least
    cdef readonly real estimate     # the least value seen of a distribution on the support
    cdef readonly real work         # what was spent, in exponentials per sample,
    cdef readonly index terms       # and costs of points of a summary in atoms, and in components asked for
    cdef readonly real shift        # what a summary's value is to be lowered by, `summary_shift`
    cdef real constant              # of the objective
    cdef real largest               # largest magnitude of a sample
    cdef real part                  # points of `few` per sample
    cdef bint thorough              # atoms are also added where D was asked
    cdef readonly int n_set
    cdef int most_atoms, most_points    # for which there is room
    cdef Arena arena                # of the arrays that follow
    cdef Interval *out              # (n_set,) the set that was proved, ascending
    cdef Cell *cells                # of the support and of what is spared
    cdef int *before                # (most_points,) scratch: a point's neighbours in the support, -1: none
    cdef int *after
    cdef int n_cells, n_atoms, n_points, n_kept
    cdef Weights iterate
    cdef pass_costs costs           # of the atoms, then of the points asked
    cdef pass_sums sums
    cdef real *scratch
    cdef real *points               # (most_points,) where D was asked
    cdef real *logs                 # (most_points,) upper bounds of log(D / W) there
    cdef real *kept                 # (2, most_atoms) atoms and weights of a distribution kept
    cdef int lay_out(self) except -1
    cdef bint prove(self, const Interval *support, int n_support, const Interval *spared, int n_spared,
                    real limit) noexcept nogil
    cdef bint place_evenly(self, const Interval *support, int n_support) noexcept nogil
    cdef void keep(self) noexcept nogil
    cdef void resume(self, const Interval *support, int n_support, const Interval *spared, int n_spared) noexcept nogil
    cdef void mix(self, int n) noexcept nogil
    cdef real bound(self, const real[::1] ascending, real gap) noexcept nogil
    cdef bint spread_atoms(self, const real[::1] ascending) noexcept nogil
    cdef bint optimise(self, real limit, bint fully, real gap) noexcept nogil
    cdef int lay(self, const Interval *parts, int n, bint spared) noexcept nogil
    cdef bint gradient(self, const SampleSet *data, int begin) noexcept nogil
    cdef real rounding(self, real center) noexcept nogil
    cdef real most_in(self, const Cell *cell) noexcept nogil
    cdef int certify_all(self, const Interval *support, int n_support, const Interval *spared, int n_spared,
                         real limit) noexcept nogil
    cdef int certify(self, const SampleSet *data, real limit) noexcept nogil
    cdef bint exceeded(self, real most) noexcept nogil
    cdef bint extend(self, real most) noexcept nogil
    cdef void add(self, real place) noexcept nogil
    cdef bint divide(self, real most) noexcept nogil
    cdef void gather(self, real most) noexcept nogil
