"""Interior-point method for the weights of given components."""

from gopfast.search.arena cimport Arena
from gopfast.search.types cimport real


# Iterate of one worker for n components: min over pi of - sum_i w_i log p_i, by 0 <= pi_k  |  W - D_k >= 0.
cdef struct Weights:
    int n
    real *weights       # (n,) pi
    real *slack         # (n,) of W - D >= 0
    real *residual      # (n,) W - D
    real *step          # (n,) d log pi
    real *step_s        # (n,) d slack
    real *rhs           # (n,)
    real *A             # (n, n)

# Layout of an iterate of up to n components.
cdef int take_weights(Arena arena, Weights *at, size_t n) except -1
# Slacks to begin with, at the residuals; `total` is W.
cdef void weights_start(Weights *at, real total) noexcept nogil
# One predictor-corrector step with the Hessian `gram` (upper triangle) at the residuals.
cdef void weights_newton(Weights *at, const real *gram) noexcept nogil
