"""Interior-point method for the weights of given components: a Newton step per data pass (PASS_WEIGHTS)."""

from libc.math cimport fabs

from gopfast.search.arena cimport Arena
from gopfast.search.types cimport real

cdef extern from "dense.h" nogil:
    int dense_factor(int n, double *a)
    void dense_forward(int n, const double *factor, int q, double *b)
    void dense_backward(int n, const double *factor, double *b)


cdef int take_weights(Arena arena, Weights *at, size_t n) except -1:
    at.n = <int> n
    at.weights, at.slack, at.residual = arena.take(n), arena.take(n), arena.take(n)
    at.step, at.step_s, at.rhs = arena.take(n), arena.take(n), arena.take(n)
    at.A = arena.take(n * n)
    return 0


cdef void weights_start(Weights *at, real total) noexcept nogil:
    cdef int p
    for p in range(at.n):
        at.slack[p] = max(at.residual[p], 0.1 * fabs(at.residual[p]), 1e-3 * total)


cdef real complementarity(Weights *at) noexcept nogil:
    cdef int p
    cdef real mu = 0
    for p in range(at.n):
        mu += at.weights[p] * at.slack[p]
    return mu / at.n


cdef void direction(Weights *at) noexcept nogil:
    cdef int p
    for p in range(at.n):
        at.step[p] = at.rhs[p]
    dense_forward(at.n, at.A, 1, at.step)
    dense_backward(at.n, at.A, at.step)


cdef real longest(Weights *at) noexcept nogil:
    """Longest step that keeps weights and slacks positive; also fills the slacks' steps."""
    cdef int p
    cdef real most = 1e10
    for p in range(at.n):
        at.step_s[p] = (at.rhs[p] + at.weights[p] * (at.residual[p] - at.slack[p])
                        - at.weights[p] * at.slack[p] * at.step[p]) / at.weights[p]
        if at.step[p] < 0:
            most = min(most, -1 / at.step[p])
        if at.step_s[p] < 0:
            most = min(most, -at.slack[p] / at.step_s[p])
    return most


cdef void weights_newton(Weights *at, const real *gram) noexcept nogil:
    cdef int P = at.n, p, q
    cdef real reach, affine = 0, target, mu = complementarity(at)
    for p in range(P):  # slacks follow the residuals, off zero by mu
        at.slack[p] = max(at.residual[p], -0.5 * at.residual[p], 0.1 * mu / at.weights[p])
    mu = complementarity(at)
    for p in range(P):
        for q in range(p, P):
            at.A[p * P + q] = at.weights[p] * at.weights[q] * gram[p * P + q]
        at.A[p * P + p] += at.weights[p] * at.slack[p]
        at.rhs[p] = -at.weights[p] * at.residual[p]
    dense_factor(P, at.A)
    direction(at)
    reach = min(1.0, longest(at))
    for p in range(P):
        affine += at.weights[p] * (1 + reach * at.step[p]) * (at.slack[p] + reach * at.step_s[p])
    target = affine / (P * mu)
    target = max(target * target * target, 1e-6) * mu
    for p in range(P):
        at.rhs[p] = target - at.weights[p] * at.residual[p] - at.weights[p] * at.step[p] * at.step_s[p]
    direction(at)
    reach = min(1.0, 0.99 * longest(at))
    for p in range(P):
        at.weights[p] *= 1 + reach * at.step[p]
        at.slack[p] += reach * at.step_s[p]
