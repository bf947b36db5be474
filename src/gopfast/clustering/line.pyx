"""k-means in one column, exactly: dynamic programming over the sorted values.

Clusters of an optimum are stretches of the sorted values, and the best beginning of the last stretch never falls as its
end grows (the sums of squares have the Monge property), so each of the K rounds takes O(N log N) by halving:
Wang & Song, "Ckmeans.1d.dp", R Journal 3 (2011); Gronlund et al., arXiv 1701.07204.
"""

import numpy as np

from libc.stdint cimport int32_t

from gopfast.search.types cimport index

cdef enum:
    DEPTH = 128  # of the halving; at most the binary logarithm of N, doubled for two children


cdef inline long double squares_within(const long double *mass, const long double *sums, const long double *squares,
                                       index begin, index end) noexcept nogil:
    """Sum of weighted squares about the mean of the values from `begin` to before `end`."""
    cdef long double w = mass[end] - mass[begin], s = sums[end] - sums[begin]
    if not w > 0:
        return 0
    return max(squares[end] - squares[begin] - s * s / w, <long double> 0)


cdef void fill_round(const long double *mass, const long double *sums, const long double *squares, index n, int k,
                     const long double *before, long double *after, int32_t *begins) noexcept nogil:
    """Best cost `after` (n + 1,) of the first j values in k + 1 clusters; `begins`: where the last one begins."""
    cdef index stack[4 * DEPTH]
    cdef int top = 0
    cdef index low, high, first, last, middle, i, best_at
    cdef long double best, value
    stack[0], stack[1], stack[2], stack[3] = k + 1, n, k, n - 1
    top = 1
    while top:
        top -= 1
        low, high = stack[4 * top], stack[4 * top + 1]
        first, last = stack[4 * top + 2], stack[4 * top + 3]
        middle = (low + high) // 2
        best, best_at = -1, first
        for i in range(first, min(last, middle - 1) + 1):
            value = before[i] + squares_within(mass, sums, squares, i, middle)
            if best < 0 or value < best:
                best, best_at = value, i
        after[middle], begins[middle] = best, <int32_t> best_at
        if middle < high:
            stack[4 * top], stack[4 * top + 1] = middle + 1, high
            stack[4 * top + 2], stack[4 * top + 3] = best_at, last
            top += 1
        if middle > low:
            stack[4 * top], stack[4 * top + 1] = low, middle - 1
            stack[4 * top + 2], stack[4 * top + 3] = first, best_at
            top += 1


def best_stretches(values, weights, int n_clusters):
    """Beginnings of the clusters of an optimal k-means clustering of sorted values.

    Parameters
    ----------
    values : ndarray, shape (N,)
        Ascending; best centred, as sums of squares are differences of running sums, in extended precision.
    weights : ndarray, shape (N,)
        At least 0.
    n_clusters : int
        At least 1, at most N.

    Returns
    -------
    begins : ndarray of int, shape (n_clusters,)
        Index of the first value of every cluster, ascending.
    """
    cdef index n = len(values), end
    cdef int k
    cdef long double[::1] mass, sums, squares, before, after
    cdef int32_t[:, ::1] begins = np.zeros((n_clusters, n + 1), dtype=np.int32)
    w, x = np.asarray(weights, dtype=np.longdouble), np.asarray(values, dtype=np.longdouble)
    mass, sums, squares = (np.concatenate([[0], np.cumsum(terms)]).astype(np.longdouble)
                           for terms in (w, w * x, w * x * x))
    before, after = np.zeros(n + 1, dtype=np.longdouble), np.zeros(n + 1, dtype=np.longdouble)
    with nogil:
        for end in range(n + 1):
            before[end] = squares_within(&mass[0], &sums[0], &squares[0], 0, end)
        for k in range(1, n_clusters):
            fill_round(&mass[0], &sums[0], &squares[0], n, k, &before[0], &after[0], &begins[k, 0])
            before[:] = after
    found, end = np.zeros(n_clusters, dtype=np.intp), n
    for k in range(n_clusters - 1, -1, -1):
        end = begins[k, end]
        found[k] = end
    return found
