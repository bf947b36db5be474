"""Interior-point method for the weights of given components, and its parts for methods with further unknowns."""

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
    real *rhs           # (n,) of the Newton equations
    real *A             # (n, n) their matrix

# Layout of an iterate of up to n components.
cdef int take_weights(Arena arena, Weights *at, size_t n) except -1
# Slacks to begin with, at the residuals; `total` is W.
cdef void weights_start(Weights *at, real total) noexcept nogil
# One predictor-corrector step with the Hessian `gram` (upper triangle) at the residuals.
cdef void weights_newton(Weights *at, const real *gram) noexcept nogil

# The parts of a step. sum pi slack; the same after a part `length` of the step.
cdef real weights_complementarity(const Weights *at) noexcept nogil
cdef real weights_complementarity_after(const Weights *at, real length) noexcept nogil
# OUT slack: near the residuals, for a mean complementarity mu.
cdef void weights_center(Weights *at, real mu) noexcept nogil
# OUT rhs: of the step to complementarity 0, and after it of the step to `target`, with its second-order term.
cdef void weights_predictor(Weights *at) noexcept nogil
cdef void weights_corrector(Weights *at, real target) noexcept nogil
# Longest step that keeps weights and slacks positive; OUT step_s.
cdef real weights_longest(Weights *at) noexcept nogil
cdef void weights_move(Weights *at, real length) noexcept nogil

# Slack of a residual whose multiplier is `value`, for a mean complementarity mu; and the least that it is given.
cdef real central_slack(real residual, real mu, real value) noexcept nogil
cdef real least_slack(real mu, real value) noexcept nogil
# Mehrotra's target of n products with mean mu, of which the predictor would leave the sum `affine`.
cdef real centering(real affine, real mu, int n) noexcept nogil
# How far to go where `longest` is the longest step that stays positive.
cdef real damped(real longest) noexcept nogil
