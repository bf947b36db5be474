"""
The most that slabs of samples weigh, in all directions.

Theory: (OL3) of docs/theory/shares.md.
"""

import numpy as np

from libc.math cimport ceil, sqrt
from libc.string cimport memset

from gopfast.search.types cimport index, real


def most_in_slabs(
    const real[:, ::1] x, const real[::1] weights, const index[::1] shells, const real[::1] radii,
    const real[::1] halves, index n_each, real width, real room,
):
    """
    Return the most that a slab weighs, of several thicknesses, in any direction and at any place.

    Directions are those of the faces of a cube in cells of equal size: what is between them is counted by slabs that
    are as much thicker as a sample can have moved.

    Parameters
    ----------
    x : ndarray, shape (d, n)
    weights : ndarray, shape (n,)
    shells : ndarray, shape (n_shells + 1,)
        Samples are in the order of shells; this is where each begins, and the end.
    radii : ndarray, shape (n_shells,)
        At least the norms of the samples of a shell.
    halves : ndarray, shape (m,)
        Half the thicknesses.
    n_each : int
        Cells of a face along each coordinate.
    width : float
        Of the intervals into which places along a direction are divided.
    room : float
        How far places may be off by rounding.

    Returns
    -------
    most : ndarray, shape (m,)
        Sums of weights, not rounded up.
    """
    cdef index d = x.shape[0], m = halves.shape[0], n_shells = shells.shape[0] - 1
    cdef index face, j, i, k, s, t, at, rest, n_cells = 1, n_places, most_at, cell, most_samples = 0
    cdef real norm, off, far = 0.0, cut, best, scale
    for s in range(n_shells):
        far = max(far, radii[s])
        most_samples = max(most_samples, shells[s + 1] - shells[s])
    for _ in range(d - 1):
        n_cells *= n_each
    # places from -far to far along a unit vector; beyond them sums are those of the ends
    n_places = 2 * <index> ceil(far / width) + 4
    off, cut = sqrt(d - 1.0) / n_each, 0.0
    for t in range(m):
        cut = max(cut, halves[t])
    most_at = <index> ceil((cut * (1.0 + off) + off * far + room) / width) + 1
    founds, ways, totals, ats = np.zeros(m), np.zeros(d), np.zeros(n_places), np.zeros(most_samples)
    befores, places = np.zeros((n_shells, n_places + 2 * most_at + 1)), np.zeros(n_places)
    cdef real[::1] found = founds, way = ways, total = totals, place = places, along = ats
    cdef real[:, ::1] before = befores
    cdef real *below
    cdef real *above
    with nogil:
        for face in range(d):
            for cell in range(n_cells):
                rest, norm = cell, 1.0
                for j in range(d):
                    if j == face:
                        way[j] = 1.0
                    else:
                        way[j] = (2.0 * (rest % n_each) + 1.0) / n_each - 1.0
                        norm += way[j] * way[j]
                        rest //= n_each
                norm = sqrt(norm)
                # a direction of the cell, in the same units, differs by a vector of at most this norm
                off = sqrt(d - 1.0) / (n_each * norm)
                for s in range(n_shells):
                    memset(&place[0], 0, n_places * sizeof(real))
                    for i in range(shells[s + 1] - shells[s]):
                        along[i] = n_places // 2
                    for j in range(d):
                        scale = way[j] / (norm * width)
                        for i in range(shells[s + 1] - shells[s]):
                            along[i] += scale * x[j, shells[s] + i]
                    for i in range(shells[s + 1] - shells[s]):
                        place[<index> along[i]] += weights[shells[s] + i]
                    for k in range(n_places):
                        before[s, most_at + k + 1] = before[s, most_at + k] + place[k]
                    for k in range(most_at + n_places + 1, n_places + 2 * most_at + 1):
                        before[s, k] = before[s, most_at + n_places]
                for t in range(m):
                    # half a slab of any direction of the cell, which is a little longer as a vector
                    cut = halves[t] * (1.0 + off)
                    memset(&total[0], 0, n_places * sizeof(real))
                    for s in range(n_shells):
                        at = <index> ceil((cut + off * radii[s] + room) / width)
                        below, above = &before[s, most_at - at], &before[s, most_at + at + 1]
                        for k in range(n_places):
                            total[k] += above[k] - below[k]
                    best = found[t]
                    for k in range(n_places):
                        best = max(best, total[k])
                    found[t] = best
    return founds
