"""Local search of k-means: k-means++ draws, Lloyd's and Hartigan's steps."""

import numpy as np

from libc.math cimport INFINITY

from gopfast.clustering.margins cimport LESS, MORE
from gopfast.search.types cimport index, real


cdef inline real squared(const real *x, const real *y, int d) noexcept nogil:
    cdef real total = 0, z
    cdef int j
    for j in range(d):
        z = x[j] - y[j]
        total += z * z
    return total


cdef real assign(const real[:, ::1] X, const real[::1] w, const real[:, ::1] centers, int[::1] labels,
                 real[::1] least) noexcept nogil:
    """OUT labels, least: nearest centers and squared distances; returns the inertia."""
    cdef index n = X.shape[0], i
    cdef int K = centers.shape[0], d = X.shape[1], k
    cdef real distance, total = 0
    for i in range(n):
        least[i] = INFINITY
        for k in range(K):
            distance = squared(&X[i, 0], &centers[k, 0], d)
            if distance < least[i]:
                least[i], labels[i] = distance, k
        total += w[i] * least[i]
    return total


cdef void update_centers(const real[:, ::1] X, const real[::1] w, const int[::1] labels, real[:, ::1] centers,
                         real[::1] mass) noexcept nogil:
    """OUT centers, mass: means and weights of the clusters; empty ones stay where they are."""
    cdef index n = X.shape[0], i
    cdef int K = centers.shape[0], d = X.shape[1], k, j
    mass[:] = 0
    for i in range(n):
        mass[labels[i]] += w[i]
    for k in range(K):
        if mass[k] > 0:
            for j in range(d):
                centers[k, j] = 0
    for i in range(n):
        for j in range(d):
            centers[labels[i], j] += w[i] * X[i, j]
    for k in range(K):
        if mass[k] > 0:
            for j in range(d):
                centers[k, j] /= mass[k]


cdef bint sweep(const real[:, ::1] X, const real[::1] w, int[::1] labels, real[:, ::1] centers, real[::1] mass,
                int[::1] sizes) noexcept nogil:
    """One round of Hartigan's moves, of one sample at a time to the cluster where the sum of squares falls most."""
    cdef index n = X.shape[0], i
    cdef int K = centers.shape[0], d = X.shape[1], k, j, own, best
    cdef real leaving, least, joining
    cdef bint moved = False
    for i in range(n):
        own = labels[i]
        if sizes[own] < 2 or not mass[own] > w[i] * MORE:
            continue
        leaving = mass[own] / (mass[own] - w[i]) * squared(&X[i, 0], &centers[own, 0], d)
        least, best = leaving * LESS, -1
        for k in range(K):
            if k == own:
                continue
            joining = mass[k] / (mass[k] + w[i]) * squared(&X[i, 0], &centers[k, 0], d)
            if joining < least:
                least, best = joining, k
        if best < 0:
            continue
        for j in range(d):
            centers[own, j] -= w[i] / (mass[own] - w[i]) * (X[i, j] - centers[own, j])
            centers[best, j] += w[i] / (mass[best] + w[i]) * (X[i, j] - centers[best, j])
        mass[own] -= w[i]
        mass[best] += w[i]
        sizes[own] -= 1
        sizes[best] += 1
        labels[i] = best
        moved = True
    return moved


def nearest(const real[:, ::1] X, const real[:, ::1] centers):
    """Nearest center of every row (n,) and its squared distance (n,)."""
    labels, least = np.zeros(len(X), dtype=np.intc), np.zeros(len(X))
    cdef int[::1] at = labels
    cdef real[::1] distance = least, ones = np.ones(len(X))
    with nogil:
        assign(X, ones, centers, at, distance)
    return labels, least


def nearest_two(const real[:, ::1] X, const real[:, ::1] centers):
    """Nearest center of every row (n,), and squared distances to it and to the next (n,): of one center this twice."""
    labels, first, second = np.zeros(len(X), dtype=np.intc), np.zeros(len(X)), np.zeros(len(X))
    cdef int[::1] at = labels
    cdef real[::1] least = first, next_least = second
    cdef index i
    cdef int k
    cdef real distance
    with nogil:
        for i in range(X.shape[0]):
            least[i] = next_least[i] = INFINITY
            for k in range(<int> centers.shape[0]):
                distance = squared(&X[i, 0], &centers[k, 0], <int> X.shape[1])
                if distance < least[i]:
                    next_least[i], least[i], at[i] = least[i], distance, k
                elif distance < next_least[i]:
                    next_least[i] = distance
            if centers.shape[0] == 1:
                next_least[i] = least[i]
    return labels, first, second


def descend(const real[:, ::1] X, const real[::1] w, centers, int max_iter=300):
    """A local optimum from given centers: Lloyd's steps, then Hartigan's, until neither moves a sample.

    Returns
    -------
    labels (n,), centers (K, d), inertia, and whether they have come to rest: else steps ran out
    """
    found, owners = np.array(centers, dtype=np.float64, order="C"), np.zeros(len(X), dtype=np.intc)
    cdef real[:, ::1] at = found
    cdef int[::1] labels = owners
    cdef real[::1] mass = np.zeros(len(found)), least = np.zeros(len(X))
    cdef int[::1] sizes
    cdef real before = INFINITY, total
    cdef int _turn
    cdef bint at_rest = False
    with nogil:
        for _turn in range(max_iter):
            total = assign(X, w, at, labels, least)
            update_centers(X, w, labels, at, mass)
            if not total < before * LESS:
                break
            before = total
    sizes = np.bincount(owners, minlength=len(found)).astype(np.intc)
    with nogil:
        for _turn in range(max_iter):
            if not sweep(X, w, labels, at, mass, sizes):
                at_rest = True
                break
            update_centers(X, w, labels, at, mass)
    with nogil:
        total = 0
        for turn in range(<int> X.shape[0]):
            total += w[turn] * squared(&X[turn, 0], &at[labels[turn], 0], <int> X.shape[1])
    return owners, found, total, at_rest


def draw(const real[:, ::1] X, const real[::1] w, int n_clusters, rng, centers=None):
    """Add k-means++ draws to given centers (m, d) until there are n_clusters."""
    cdef index n = X.shape[0], i
    cdef int d = X.shape[1]
    cdef real[::1] least = np.full(n, INFINITY)
    cdef real[::1] at
    rows = [] if centers is None else [np.asarray(center) for center in centers]
    for row in rows:
        at = np.ascontiguousarray(row)
        for i in range(n):
            least[i] = min(least[i], squared(&X[i, 0], &at[0], d))
    while len(rows) < n_clusters:
        share = np.asarray(w) * (np.asarray(least) if rows else 1.0)
        total = np.cumsum(share)
        if not total[n - 1] > 0:
            total = np.cumsum(w)
        chosen = min(int(np.searchsorted(total, rng.random() * total[n - 1], side="right")), n - 1)
        at = np.array(X[chosen])
        rows.append(np.asarray(at))
        for i in range(n):
            least[i] = min(least[i], squared(&X[i, 0], &at[0], d))
    return np.array(rows)
