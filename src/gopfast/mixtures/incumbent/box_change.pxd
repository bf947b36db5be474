"""How far the derivatives of the objective change in a box around a center."""

from gopfast.mixtures.incumbent.center cimport Center
from gopfast.search.arena cimport Arena
from gopfast.search.types cimport index, real


cdef class BoxChange(Center):
    cdef index stride               # every so-manieth sample is looked at, for a guess; 1: all of them
    cdef Arena of_box               # of all that follows
    cdef real *down                 # (K, p) how far the coordinates reach
    cdef real *up
    cdef real *log_radius           # (K,)
    cdef real *rest                 # (m, m) what fourth derivatives may take from the Hessian
    cdef real *face_need            # (K, d) gradient functions of the values beyond a face, the most in the box
    cdef real *beyond_second        # (K,) third order and more of the samples' part of the log weights' gradient
    cdef real *skew                 # (K, K, 2 f, 2 f) quadratic forms of k > l that bound the latter, lower triangles
    cdef real lost                  # rounding of `rest`, in the scale of the components
    # of the sample at hand
    cdef real *fall                 # (K,) how far a score may go in the box
    cdef real *rise
    cdef real *most                 # (K,) the most and the least that exp(score) becomes
    cdef real *least
    cdef real *highest              # (K,) responsibilities, the most and the least
    cdef real *lowest
    cdef real *away                 # (K,) of a score from the mean, the most
    cdef real *fourth               # (K, K) factors of pairs' fourth cumulants
    cdef real *third                # (K, K) and of the third order of their responsibilities
    cdef bint *counts               # (K,) whether its responsibility is worth a look

    cdef void add_skews(self) noexcept nogil
    cdef real reach_of(self, int k, int a) noexcept nogil
    cdef void add_skew(self, real value, int k, int l) noexcept nogil
    cdef real widest_of(self, int a) noexcept nogil
    cdef bint spread(self) noexcept nogil
    cdef bint add_sample(self, index i, real w) noexcept nogil
    cdef real apart(self, int k, int l) noexcept nogil
    cdef void bound_fourth_cumulants(self, real w) noexcept nogil
    cdef void add_third_of_pair(self, int k, int l, real size, bint own) noexcept nogil
    cdef void add_fourth_of_pair(self, real w, int k, int l, int best) noexcept nogil
