"""The box around an incumbent of any family on which the objective is proved to be no lower."""

from gopfast.mixtures.bounds.charts cimport Chart
from gopfast.mixtures.bounds.em cimport MixturePrimal
from gopfast.mixtures.families.family cimport Family
from gopfast.search.relaxation cimport Basin
from gopfast.search.arena cimport Arena
from gopfast.search.types cimport index, real


cdef class Neighbourhood(Basin):
    cdef Family family
    cdef MixturePrimal primal
    cdef Chart chart
    cdef int p, f, m                # coordinates of a component, with its log weight, and of all
    cdef real[::1] solution         # (2 n_solution,) the center, components ordered; then a copy for a step of EM
    cdef Arena arena                # of all that follows
    cdef real[::1] cubes
    # of the center; m = K (1 + p): the log weight, then the coordinates, of each component
    cdef real *log_weight           # (K,)
    cdef real *mass                 # (K,) W times the weight
    cdef real *gradient             # (m,), and a bound of its rounding error
    cdef real *gradient_error
    cdef real *hessian              # (m, m)
    cdef real *cubic                # (m, m, m) third derivatives
    cdef real *bent                 # (m, m, m) those along the best weights, in the basis at hand
    cdef real *squares              # (K, m, m) second derivatives of the best weights
    cdef real *slopes               # (K, m) how the best weights change with the coordinates
    cdef real *inverse              # (K, K) of the Hessian in the log weights
    cdef real tolerance, loss, lent, turning
    cdef index stride               # every so-manieth sample is looked at, for a guess; 1: all of them
    cdef real *radius               # (K,) of a box
    cdef bint beyond                # the last box reached too far beyond faces
    cdef real rough                 # rounding of Hessian and third derivatives, in the scale of the components
    # of a box
    cdef real *box_low              # (n_connected,)
    cdef real *box_high
    cdef real *down                 # (K, p) how far the coordinates reach
    cdef real *up
    cdef real *rest                 # (m, m) what fourth derivatives may take from the Hessian
    cdef real *face_need            # (K, d) gradient functions of the values beyond a face, the most in the box
    cdef real *beyond_second        # (K,) third order and more of the samples' part of the log weights' gradient
    cdef real *bent_reach           # (K,) the most that D becomes beyond the second order
    cdef real *log_radius           # (K,)
    cdef real *needed               # (K,) how far the best log weights may go from what they are to first order
    cdef real *loose                # (K,) what is assumed of that
    cdef real *reach                # (K,) the most that D becomes
    cdef real lost                  # rounding of `rest`, in the scale of the components
    cdef real *matrix               # (m, m)
    cdef real *basis                # (m, m)
    cdef real *turned               # (m, m)
    cdef real *change               # (m, m)
    cdef real *vector               # (m,)
    cdef real *other                # (m,)
    # of the sample at hand
    cdef real *u                    # (K, f) 1 and the statistics
    cdef real *score                # (K,)
    cdef real *r                    # (K,) responsibilities, and 1 - r
    cdef real *others
    cdef real *fall                 # (K,) how far a score may go in the box
    cdef real *rise
    cdef real *most                 # (K,) the most and the least that exp(score) becomes
    cdef real *least
    cdef real *size                 # (K,)
    cdef real *highest              # (K,) responsibilities, the most and the least
    cdef real *lowest
    cdef real *away                 # (K,) of a score from the mean, the most
    cdef real *fourth               # (K, K) factors of pairs' fourth cumulants
    cdef bint *possible             # (K,) whether the component has a density there
    cdef bint *counts               # (K,) whether its responsibility is worth a look
    cdef real score_error
    cdef bint hold_center(self, const real *solution, real tolerance, real reach, real *lower) noexcept nogil
    cdef void polish(self, real *solution, real tolerance) noexcept nogil
    cdef bint arrange(self, const real *solution) noexcept nogil
    cdef real expand(self) noexcept nogil
    cdef void add_cubic(self, int a, int b, int c, real value) noexcept nogil
    cdef bint turn(self) noexcept nogil
    cdef real widest_of(self, int a) noexcept nogil
    cdef real farthest(self) noexcept nogil
    cdef void sample(self, index i) noexcept nogil
    cdef bint survey(self) noexcept nogil
    cdef void cumulate(self, real w) noexcept nogil
    cdef void finish_survey(self) noexcept nogil
    cdef bint weights_follow(self) noexcept nogil
    cdef bint spread(self) noexcept nogil
    cdef bint move(self, index i, real w) noexcept nogil
    cdef void turn_apart(self, real w) noexcept nogil
    cdef real apart(self, int k, int l) noexcept nogil
    cdef void pair(self, real w, int k, int l, int best) noexcept nogil
    cdef void follow_squares(self) noexcept nogil
    cdef bint faces_hold(self) noexcept nogil
    cdef bint enclose(self) noexcept nogil
    cdef bint rises(self) noexcept nogil
    cdef bint one_sided(self, int k, int a) noexcept nogil
    cdef bint fits(self) noexcept nogil
    cdef bint reaches(self) noexcept nogil
    cdef bint cube(self, real radius) noexcept nogil
    cdef bint fits_radii(self) noexcept nogil
    cdef void lend(self) noexcept nogil
    cdef bint widest(self) noexcept nogil
    cdef bint look(self) noexcept nogil
    cdef void hold(self, real lower) noexcept nogil
