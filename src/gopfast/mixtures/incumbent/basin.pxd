"""The box around an incumbent on which a mixture's objective is proved to be no lower."""

from gopfast.mixtures.primal.em cimport MixturePrimal
from gopfast.mixtures.families.gaussian cimport GaussianFamily
from gopfast.search.arena cimport Arena
from gopfast.search.relaxation cimport Basin
from gopfast.mixtures.data.samples cimport Samples, SampleSet
from gopfast.search.types cimport index, real


cdef class MixtureBasin(Basin):
    cdef GaussianFamily family
    cdef MixturePrimal primal
    cdef SampleSet samples          # what the Hessian is bounded on: one of
    cdef SampleSet fine             # the samples or a fine summary of them
    cdef Samples some               # some of them, on which to look for a radius; None: there are few
    cdef real[::1] reach, none      # (d,) how far a sample is from the points of `fine` that carry it; 0
    cdef real *way                  # (d,) one of them
    cdef real[::1] solution         # (n_solution,) the center, components ordered; then a copy for a step of EM
    cdef Arena arena                # of all that follows
    # m = K (1 + d): the log weight and the mean of each component
    cdef real *hessian              # (m, m) at the center
    cdef real *variation            # (m, m) entrywise bound of |H(x) - H(center)| over the box
    cdef real *mean                 # (m, m) the same, its mean on rays from the center with weight 2 (1 - s)
    cdef real *even                 # (m, m) with weight 1
    cdef real *matrix               # (m, m)
    cdef real *inverse              # (K, K) of the Hessian in the log weights
    cdef real *radius               # (K, d) of the box
    cdef real *gradient             # (m,)
    cdef real *scale                # (m,) root of a component's total weight
    cdef real *vector               # (m,)
    cdef real *domination           # (m,)
    cdef real *moments              # (m,) sums of w r (1 + u_most^2), for the rounding
    cdef real *log_radius           # (K,) of the log weights
    cdef real *log_weight           # (K,) of the center
    cdef real part                  # of the radii, at hand
    cdef real rest                  # bound of the terms that are not computed
    # of the point at hand
    cdef real *u                    # (K, 1 + d) 1 and x - mean
    cdef real *u_most               # (K, 1 + d) the most that its absolute value can become
    cdef real *r                    # (K,) responsibilities, and their range
    cdef real *r_low
    cdef real *r_high
    cdef real *others               # (K,) 1 - r, and its range: others_low goes with r_high
    cdef real *others_low
    cdef real *others_high
    cdef real *up                   # (K,) r times the most, and the least, that exp of a change of score can be
    cdef real *down
    cdef real *held                 # (K,) log_radius of the box that is held
    cdef bint rising                # the last box tried
    cdef int lay_out(self) except -1
    cdef void begin(self) noexcept nogil
    cdef void look_at(self, bint rough) noexcept nogil
    cdef real shrunk(self, real radius, real tolerance) noexcept nogil
    cdef bint fits(self) noexcept nogil
    cdef real share(self) noexcept nogil
    cdef bint stationary(self, const real *solution, real tolerance, real *lower) noexcept nogil
    cdef void hold(self, real lower) noexcept nogil
    cdef bint arrange(self, const real *solution) noexcept nogil
    cdef int rank(self, const real *solution, int i) noexcept nogil
    cdef real expand(self, real *loss) noexcept nogil
    cdef bint survey(self) noexcept nogil
    cdef bint bound_changes(self) noexcept nogil
    cdef void responsibilities(self, index i) noexcept nogil
    cdef void accumulate(self, real w) noexcept nogil
    cdef real prior_curvature(self) noexcept nogil
    cdef void dominate(self) noexcept nogil
    cdef bint is_convex(self, real part) noexcept nogil
    cdef bint enclose(self, real *needed) noexcept nogil
