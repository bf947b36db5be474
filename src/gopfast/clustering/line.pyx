"""k-means in one column, exactly: dynamic programming over the sorted values.

Clusters of an optimum are stretches of the sorted values, and the best beginning of the last stretch never falls as its
end grows (the sums of squares have the Monge property), so each of the K rounds takes O(N log N) by halving:
Wang & Song, "Ckmeans.1d.dp", R Journal 3 (2011); Gronlund et al., arXiv 1701.07204.

A sum of squares within a stretch is a difference of running sums, each a pair of numbers, the second of which holds
what the first one's rounding lost, so that the difference of two has the precision of the stretch, however much heavier
the values before it are. `rounding` says what is left.

Theory: (K8) of docs/theory/kmeans.md.
"""

import numpy as np

from libc.math cimport INFINITY, log2
from libc.stdint cimport int32_t

from gopfast.search.types cimport index, real

cdef enum:
    DEPTH = 128  # of the halving; at most the binary logarithm of N, doubled for two children


cdef struct Running:
    # sums before a value: of weights, of weighted values and of weighted squares, each in two parts
    long double mass, mass_rest, sums, sums_rest, squares, squares_rest


cdef inline void add(long double term, long double *total, long double *rest) noexcept nogil:
    """Add a term to a sum in two parts: two-sum of Knuth, then the parts in order again."""
    cdef long double grown = total[0] + term, part = grown - total[0]
    rest[0] += (total[0] - (grown - part)) + (term - part)
    total[0] = grown + rest[0]
    rest[0] -= total[0] - grown


cdef inline long double squares_within(const Running *running, index begin, index end) noexcept nogil:
    """Sum of weighted squares about the mean of the values from `begin` to before `end`."""
    cdef const Running *a = &running[begin]
    cdef const Running *b = &running[end]
    cdef long double w = (b.mass - a.mass) + (b.mass_rest - a.mass_rest)
    cdef long double s = (b.sums - a.sums) + (b.sums_rest - a.sums_rest)
    if not w > 0:
        return 0
    return max((b.squares - a.squares) + (b.squares_rest - a.squares_rest) - s * s / w, <long double> 0)


cdef void fill_round(const Running *running, index n, int k, const long double *before, long double *after,
                     int32_t *begins) noexcept nogil:
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
            value = before[i] + squares_within(running, i, middle)
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
        Ascending; best centred, as sums of squares are those about 0 less those of the means.
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
    cdef long double[::1] before, after
    cdef int32_t[:, ::1] begins = np.zeros((n_clusters, n + 1), dtype=np.int32)
    cdef const real[::1] x = np.ascontiguousarray(values, dtype=np.float64)
    cdef const real[::1] w = np.ascontiguousarray(weights, dtype=np.float64)
    cdef long double[:, ::1] table = np.zeros((n + 1, 6), dtype=np.longdouble)
    cdef Running *running = <Running *> &table[0, 0]
    cdef Running *at
    before, after = np.zeros(n + 1, dtype=np.longdouble), np.zeros(n + 1, dtype=np.longdouble)
    with nogil:
        for end in range(n):
            at = &running[end + 1]
            at[0] = running[end]
            add(w[end], &at.mass, &at.mass_rest)
            add(<long double> w[end] * x[end], &at.sums, &at.sums_rest)
            add(<long double> w[end] * x[end] * x[end], &at.squares, &at.squares_rest)
        for end in range(n + 1):
            before[end] = squares_within(running, 0, end)
        for k in range(1, n_clusters):
            fill_round(running, n, k, &before[0], &after[0], &begins[k, 0])
            before[:] = after
    found, end = np.zeros(n_clusters, dtype=np.intp), n
    for k in range(n_clusters - 1, -1, -1):
        end = begins[k, end]
        found[k] = end
    return found


def rounding(values, weights, int n_clusters):
    """How far the sum of squares of the clusters found is above the least, at most, both found exactly.

    With u the unit of the arithmetic, a running sum of N terms errs by 2 N u^2 of all their magnitudes, and a stretch's
    own part by 2 u of its own ones. By Cauchy's inequality its sum of squares about the mean errs by 8 (u + t) of that
    about 0, t = 4 N u^2 W / w, W the total weight and w the least one, if t is small. Where a wrong choice at one value
    confines those of others, these lose no more than it did, by the Monge property: so much for each halving and round.

    Parameters
    ----------
    values, weights, n_clusters
        As of `best_stretches`; weights positive.

    Returns
    -------
    float
    """
    x, w = np.asarray(values), np.asarray(weights)
    unit = float(np.finfo(np.longdouble).eps)
    tail = 4 * len(x) * unit * unit * (w.sum() / w.min())
    if not tail < 1e-3:
        return INFINITY
    return 16 * n_clusters * (2 * log2(len(x)) + 4) * (unit + tail) * float(w @ np.square(x))
