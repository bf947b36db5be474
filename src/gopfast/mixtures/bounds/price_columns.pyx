"""Linear algebra of the pricing bound's master problem: compiled, but never trusted."""

import numpy as np

from libc.math cimport INFINITY, log, sqrt

from gopfast.search.types cimport index, real

cdef extern from "dense.h" nogil:
    int dense_factor(int n, double *a)
    void dense_forward(int n, const double *factor, int q, double *b)
    void dense_backward(int n, const double *factor, double *b)
    void dense_gram(int n, int q, const double *b, double *c)

cdef int MOST_TURNS = 60


def levels(const real[::1] values, const real[::1] counts, const long[::1] groups, real weight):
    """The barrier's sigma of every group: sum over its atoms of weight / (sigma - G) = n.

    Returns
    -------
    sigma : ndarray, shape (n_groups,)
    log_gaps : float
        Sum of log(sigma - G) over the atoms of groups that are used.
    """
    cdef index A = values.shape[0], n_groups = counts.shape[0], g, a
    cdef real[::1] sigma = np.empty(n_groups)
    cdef real top, gap, total, slope, step, log_gaps = 0
    cdef int _turn
    for g in range(n_groups):
        top = -INFINITY
        for a in range(A):
            if groups[a] == g:
                top = max(top, values[a])
        if not counts[g] > 0 or top == -INFINITY:
            sigma[g] = max(top, 0.0) + weight
            continue
        gap = weight / counts[g]
        for _turn in range(MOST_TURNS):  # Newton from the left: the sum is convex and falls
            total = slope = 0
            for a in range(A):
                if groups[a] == g:
                    step = weight / (gap + (top - values[a]))
                    total += step
                    slope += step * step
            step = (total - counts[g]) * weight / slope
            gap += step
            if step <= 1e-13 * gap:
                break
        sigma[g] = top + gap
        for a in range(A):
            if groups[a] == g:
                log_gaps += log(gap + (top - values[a]))
    return np.asarray(sigma), log_gaps


def solve_low_rank(const real[::1] diagonal, const real[::1] gradient, const real[:, ::1] mass,
                   const real[:, ::1] inner, const real[::1] saturated, const real[::1] z, real weight,
                   const long[::1] groups, int n_groups):
    """Newton step of the barrier function: solves (diagonal + sum of squares of 2 A rows) step = gradient.

    Atom a has the rows sqrt(z / saturated) inner, its own curvature, and z / sqrt(weight) (mass - mean of its group),
    the barrier's after the group's level has been eliminated; the mean is weighted by z^2.
    """
    cdef index N = diagonal.shape[0], A = mass.shape[0], R = 2 * A, a, i, r
    cdef real[:, ::1] rows = np.empty((R, N)), means = np.zeros((n_groups, N)), C, across
    cdef real[::1] totals = np.zeros(n_groups), step = np.empty(N), right
    cdef real factor
    with nogil:
        for a in range(A):
            totals[groups[a]] += z[a] * z[a]
            for i in range(N):
                means[groups[a], i] += z[a] * z[a] * mass[a, i]
        for a in range(A):
            factor = sqrt(z[a] / saturated[a]) if saturated[a] > 1e-12 else 0
            for i in range(N):
                rows[a, i] = factor * inner[a, i] / sqrt(diagonal[i])
            factor = z[a] / sqrt(weight)
            for i in range(N):
                rows[A + a, i] = factor / sqrt(diagonal[i]) * (
                    mass[a, i] - (means[groups[a], i] / totals[groups[a]] if totals[groups[a]] > 0 else 0))
    if R < N:
        across, C, right = np.ascontiguousarray(np.asarray(rows).T), np.eye(R), np.zeros(R)
        with nogil:
            # (I + B'B)^-1 = I - B' (I + B B')^-1 B in coordinates scaled by the diagonal's root
            dense_gram(<int> N, <int> R, &across[0, 0], &C[0, 0])
            for i in range(N):
                step[i] = gradient[i] / sqrt(diagonal[i])
                for r in range(R):
                    right[r] += across[i, r] * step[i]
            dense_factor(<int> R, &C[0, 0])
            dense_forward(<int> R, &C[0, 0], 1, &right[0])
            dense_backward(<int> R, &C[0, 0], &right[0])
            for i in range(N):
                for r in range(R):
                    step[i] -= across[i, r] * right[r]
                step[i] /= sqrt(diagonal[i])
    else:
        C = np.eye(N)
        with nogil:
            dense_gram(<int> R, <int> N, &rows[0, 0], &C[0, 0])
            for i in range(N):
                step[i] = gradient[i] / sqrt(diagonal[i])
            dense_factor(<int> N, &C[0, 0])
            dense_forward(<int> N, &C[0, 0], 1, &step[0])
            dense_backward(<int> N, &C[0, 0], &step[0])
            for i in range(N):
                step[i] /= sqrt(diagonal[i])
    return np.asarray(step)
