"""The least variance within K groups of samples on a line that are gathered in bins."""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy

from gopfast.search.types cimport index, real

# Bins at most.
cdef enum:
    MOST_BINS = 128


def within_groups(const real[::1] x, const real[::1] share, real low, real width, int n_groups, int n_bins=MOST_BINS):
    """
    Gather samples in bins of equal width, each at the mean of its own, and compute their least variance within groups.

    The groups are stretches of the bins: the optimum of k-means on a line, by dynamic programming.

    Parameters
    ----------
    x : ndarray, shape (n,)
    share : ndarray, shape (n,)
        Shares of the total weight, positive.
    low, width : float
        The least of x, and its positive range.
    n_groups, n_bins : int

    Returns
    -------
    variance : float
        Within the groups, of the bins; its rounding is that of sums of n squares and at most `MOST_BINS` differences.
    lost : float
        Average square of the samples' distance from the means of their bins.
    """
    cdef index n = x.shape[0], i
    cdef int m = 0, a, b, _group
    cdef real factor = n_bins / width, z, size, lost = 0, best, value
    cdef real mass[MOST_BINS]
    cdef real mean[MOST_BINS]
    cdef real total[MOST_BINS + 1]
    cdef real after[MOST_BINS + 1]
    cdef real zero[MOST_BINS + 1]
    cdef real one[MOST_BINS + 1]
    cdef real two[MOST_BINS + 1]
    cdef real[:, ::1] cost
    if not 0 < n_bins <= MOST_BINS:
        raise ValueError(f"n_bins must be from 1 to {MOST_BINS}")
    cost = np.zeros((n_bins + 1, n_bins + 1))
    with nogil:
        for b in range(n_bins):
            mass[b] = mean[b] = 0
        for i in range(n):
            z = x[i] - low
            b = min(<int> (z * factor), n_bins - 1)
            mass[b] += share[i]
            mean[b] += share[i] * z
        for b in range(n_bins):
            if mass[b] > 0:
                mean[b] /= mass[b]
        for i in range(n):
            z = x[i] - low
            z -= mean[min(<int> (z * factor), n_bins - 1)]
            lost += share[i] * z * z
        zero[0] = one[0] = two[0] = 0
        for b in range(n_bins):
            if mass[b] > 0:
                zero[m + 1] = zero[m] + mass[b]
                one[m + 1] = one[m] + mass[b] * mean[b]
                two[m + 1] = two[m] + mass[b] * mean[b] * mean[b]
                m += 1
        # cost[a, b]: bins a, ..., b - 1 as one group
        for a in range(m):
            for b in range(a + 1, m + 1):
                size, z = zero[b] - zero[a], one[b] - one[a]
                cost[a, b] = two[b] - two[a] - z * z / size if size > 0 else 0.0
        memcpy(total, &cost[0, 0], (m + 1) * sizeof(real))
        for _group in range(n_groups - 1):
            for b in range(m + 1):
                best = INFINITY
                for a in range(b + 1):
                    value = total[a] + cost[a, b]
                    if value < best:
                        best = value
                after[b] = best
            memcpy(total, after, (m + 1) * sizeof(real))
    return total[m], lost
