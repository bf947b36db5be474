"""What is known of the objective around an incumbent: its first three derivatives there."""

from gopfast.mixtures.incumbent.charts cimport Chart
from gopfast.mixtures.primal.em cimport MixturePrimal
from gopfast.mixtures.families.family cimport Family
from gopfast.search.arena cimport Arena
from gopfast.search.relaxation cimport Basin
from gopfast.search.types cimport index, real


cdef class Center(Basin):
    cdef Family family
    cdef MixturePrimal primal
    cdef Chart chart
    cdef int p, f, m                # coordinates of a component, with its log weight, and of all
    cdef real[::1] solution         # (2 n_solution,) the center, components ordered; then a copy for a step of EM
    cdef real[::1] cubes
    cdef Arena of_center            # of all that follows
    # m = K (1 + p): the log weight, then the coordinates, of each component
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
    cdef real rough                 # rounding of Hessian and third derivatives, in the scale of the components
    cdef real turning               # greatest third derivative, in that scale
    cdef real *matrix               # (m, m)
    cdef real *basis                # (m, m)
    cdef real *turned               # (m, m)
    cdef real *change               # (m, m)
    # of the sample at hand
    cdef real *u                    # (K, f) 1 and the statistics
    cdef real *score                # (K,)
    cdef real *r                    # (K,) responsibilities, and 1 - r
    cdef real *others
    cdef bint *possible             # (K,) whether the component has a density there
    cdef real *size                 # (K,)
    cdef real score_error

    cdef int reserve(self, MixturePrimal primal, Chart chart) except -1
    cdef bint arrange(self, const real *solution) noexcept nogil
    cdef real expand(self) noexcept nogil
    cdef void sample(self, index i) noexcept nogil
    cdef bint survey(self) noexcept nogil
    cdef void cumulate(self, real w) noexcept nogil
    cdef void finish_survey(self) noexcept nogil
    cdef void add_cubic(self, int a, int b, int c, real value) noexcept nogil
    cdef bint weights_follow(self) noexcept nogil
    cdef void follow_squares(self) noexcept nogil
    cdef bint turn(self) noexcept nogil


cdef void conjugate(int m, const real *A, const real *Z, real *work, real *out) noexcept nogil
