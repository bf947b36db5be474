"""Interior-point method for the weights of given components: a Newton step per data pass (PASS_WEIGHTS).

Theory: (E6) of docs/theory/entropic.md.
"""

from libc.math cimport fabs
from libc.string cimport memcpy

from gopfast.mixtures.dense cimport dense_backward, dense_factor, dense_forward
from gopfast.mixtures.mixing.tuning cimport (
    FIRST_LEAST_SLACK, FIRST_SLACK, LEAST_SLACK, LEAST_TARGET, LONGEST, REFLECTED, SHORT_OF_BOUND
)
from gopfast.search.arena cimport Arena
from gopfast.search.types cimport real


cdef int take_weights(Arena arena, Weights *at, size_t n) except -1:
    at.n = <int> n
    at.weights, at.slack, at.residual = arena.take(n), arena.take(n), arena.take(n)
    at.step, at.step_s, at.rhs = arena.take(n), arena.take(n), arena.take(n)
    at.A = arena.take(n * n)
    return 0


cdef void weights_start(Weights *at, real total) noexcept nogil:
    cdef int p
    for p in range(at.n):
        at.slack[p] = max(at.residual[p], FIRST_SLACK * fabs(at.residual[p]), FIRST_LEAST_SLACK * total)


cdef real weights_complementarity(const Weights *at) noexcept nogil:
    cdef int p
    cdef real total = 0
    for p in range(at.n):
        total += at.weights[p] * at.slack[p]
    return total


cdef real weights_complementarity_after(const Weights *at, real length) noexcept nogil:
    cdef int p
    cdef real total = 0
    for p in range(at.n):
        total += at.weights[p] * (1 + length * at.step[p]) * (at.slack[p] + length * at.step_s[p])
    return total


cdef real least_slack(real mu, real value) noexcept nogil:
    return LEAST_SLACK * mu / value


cdef real central_slack(real residual, real mu, real value) noexcept nogil:
    """Equal to the residual where that is positive, comparable where it is negative, off zero by mu.

    Then no Newton step multiplies a weight or a multiplier by more than a small factor, however far the exponentials
    saturate and the Jacobian vanishes.
    """
    return max(residual, -REFLECTED * residual, LEAST_SLACK * mu / value)


cdef void weights_center(Weights *at, real mu) noexcept nogil:
    cdef int p
    for p in range(at.n):
        at.slack[p] = central_slack(at.residual[p], mu, at.weights[p])


cdef void weights_predictor(Weights *at) noexcept nogil:
    cdef int p
    for p in range(at.n):
        at.rhs[p] = -at.weights[p] * at.residual[p]


cdef void weights_corrector(Weights *at, real target) noexcept nogil:
    cdef int p
    for p in range(at.n):
        at.rhs[p] = target - at.weights[p] * at.residual[p] - at.weights[p] * at.step[p] * at.step_s[p]


cdef real weights_longest(Weights *at) noexcept nogil:
    cdef int p
    cdef real most = LONGEST
    for p in range(at.n):
        at.step_s[p] = (at.rhs[p] + at.weights[p] * (at.residual[p] - at.slack[p])
                        - at.weights[p] * at.slack[p] * at.step[p]) / at.weights[p]
        if at.step[p] < 0:
            most = min(most, -1 / at.step[p])
        if at.step_s[p] < 0:
            most = min(most, -at.slack[p] / at.step_s[p])
    return most


cdef void weights_move(Weights *at, real length) noexcept nogil:
    cdef int p
    for p in range(at.n):
        at.weights[p] *= 1 + length * at.step[p]
        at.slack[p] += length * at.step_s[p]


cdef real centering(real affine, real mu, int n) noexcept nogil:
    cdef real part = affine / (n * mu)
    return max(part * part * part, LEAST_TARGET) * mu


cdef real damped(real longest) noexcept nogil:
    return min(1.0, SHORT_OF_BOUND * longest)


cdef void solve(Weights *at) noexcept nogil:
    """OUT step: A^-1 rhs, A factored."""
    memcpy(at.step, at.rhs, at.n * sizeof(real))
    dense_forward(at.n, at.A, 1, at.step)
    dense_backward(at.n, at.A, at.step)


cdef void weights_newton(Weights *at, const real *gram) noexcept nogil:
    cdef int P = at.n, p, q
    cdef real affine, mu
    weights_center(at, weights_complementarity(at) / P)
    mu = weights_complementarity(at) / P
    for p in range(P):
        for q in range(p, P):
            at.A[p * P + q] = at.weights[p] * at.weights[q] * gram[p * P + q]
        at.A[p * P + p] += at.weights[p] * at.slack[p]
    dense_factor(P, at.A)
    weights_predictor(at)
    solve(at)
    affine = weights_complementarity_after(at, min(1.0, weights_longest(at)))
    weights_corrector(at, centering(affine, mu, P))
    solve(at)
    weights_move(at, damped(weights_longest(at)))
