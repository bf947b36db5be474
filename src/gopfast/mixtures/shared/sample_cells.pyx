"""
Samples in the cells of a grid, and the moments of those that share one; or spread over the corners of their cells.

Groups of samples are made of them (`gathered`), and entropies of samples with noise (`noise`).
A pass over many samples is made for every search of a known covariance, at coordinates of its own.

Theory: (TF4) and (TF5) of docs/theory/factors.md, (TL3) of docs/theory/labels.md.
"""

import numpy as np

from libc.math cimport INFINITY, ceil, fabs, floor, log
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc

from gopfast.search.types cimport index, real


NOTHING = np.empty(0)


cdef struct Place:
    int64_t key     # of a cell: its position along all lines, one number
    index cell


def cells_of(const real[:, ::1] y, const real[::1] low, real width):
    """
    Return the number of each sample's cell of a grid, (n,), and how many cells have samples.

    Parameters
    ----------
    y : ndarray, shape (d, n)
        Samples, no coordinate below that of `low`.
    low : ndarray, shape (d,)
        Where the grid begins.
    width : float
        Of a cell along every line.

    Returns
    -------
    cells : ndarray, shape (n,), or None
        In the order in which samples meet them; None where a cell's position is no integer of 62 bits.
    n_cells : int
    """
    cdef index d = y.shape[0], n = y.shape[1], i, j, found = 0
    cdef real most, product = 1.0
    cdef int64_t key
    cdef uint64_t mask = 1, at
    cdef Place *table
    sizes = np.empty(d)
    cdef real[::1] size = sizes
    for j in range(d):
        most = 0.0
        for i in range(n):
            most = max(most, y[j, i] - low[j])
        size[j] = floor(most / width) + 1.0
        product *= size[j]
    if not product < 2.0**62:
        return None, 0
    while mask < 2 * <uint64_t> n:
        mask *= 2
    table = <Place *> malloc(mask * sizeof(Place))
    if table == NULL:
        raise MemoryError("of cells of samples")
    cells = np.empty(n, dtype=np.intp)
    cdef index[::1] cell = cells
    with nogil:
        for at in range(mask):
            table[at].cell = -1     # free
        mask -= 1
        for i in range(n):
            key = 0
            for j in range(d):
                key = key * <int64_t> size[j] + <int64_t> floor((y[j, i] - low[j]) / width)
            at = <uint64_t> key * <uint64_t> 0x9E3779B97F4A7C15
            at = (at ^ (at >> 29)) & mask
            while table[at].cell >= 0 and table[at].key != key:
                at = (at + 1) & mask
            if table[at].cell < 0:
                table[at].key, table[at].cell = key, found
                found += 1
            cell[i] = table[at].cell
        free(table)
    return cells, found


def moments_of(const real[:, ::1] y, const real[::1] weights, const index[::1] cells, index n_cells):
    """
    Return what groups of samples are, each of one cell or more.

    Parameters
    ----------
    y : ndarray, shape (d, n)
    weights : ndarray, shape (n,)
        Positive.
    cells : ndarray, shape (n,)
        Which group a sample is of; none is empty.
    n_cells : int

    Returns
    -------
    mass : ndarray, shape (n_cells,)
        Sums of the weights.
    means : ndarray, shape (d, n_cells)
    squares : ndarray, shape (n_cells,)
        Of the largest distance of a sample from the mean.
    second : ndarray, shape (n_cells, d, d)
        Moments about the mean.
    """
    cdef index d = y.shape[0], n = y.shape[1], i, j, k, c
    cdef real one, far
    sums, centers = np.zeros(n_cells), np.zeros((n_cells, d))
    largest, products = np.zeros(n_cells), np.zeros((n_cells, d, d))
    off = np.empty(d)
    cdef real[::1] mass = sums, square = largest, z = off
    cdef real[:, ::1] mean = centers
    cdef real[:, :, ::1] second = products
    with nogil:
        for i in range(n):
            c = cells[i]
            mass[c] += weights[i]
            for j in range(d):
                mean[c, j] += weights[i] * y[j, i]
        for c in range(n_cells):
            for j in range(d):
                mean[c, j] /= mass[c]
        for i in range(n):
            c, far = cells[i], 0.0
            for j in range(d):
                z[j] = y[j, i] - mean[c, j]
                far += z[j] * z[j]
            square[c] = max(square[c], far)
            for j in range(d):
                one = weights[i] * z[j]
                for k in range(j + 1):
                    second[c, j, k] += one * z[k]
        for c in range(n_cells):
            for j in range(d):
                for k in range(j + 1):
                    second[c, j, k] /= mass[c]
                    second[c, k, j] = second[c, j, k]
    return sums, np.ascontiguousarray(centers.T), largest, products


cdef index corner_of(
    const real[:, ::1] y, index i, real weight, const real[::1] low, const index[::1] stride, index first, real[::1] t,
    real[::1] square,
) noexcept nogil:
    """The lowest corner of a sample's cell, by coordinates from `first` on.

    OUT t (d,): what parts of a step the sample lies beyond it. IN/OUT square (d,): variances of its corners are added.
    """
    cdef index j, place = 0
    cdef real part
    for j in range(y.shape[0]):
        part = y[j, i] - low[j]
        t[j] = part - floor(part)
        if j >= first:
            place += stride[j] * <index> floor(part)
        square[j] += weight * t[j] * (1.0 - t[j])
    return place


cdef void give_to_corners(
    real *mass, index place, real weight, const index[::1] stride, index first, const real[::1] t
) noexcept nogil:
    """Add a sample's weight to the corners of its cell in coordinates from `first` on, in proportion to how near."""
    cdef index d = t.shape[0], j, at
    cdef int mask
    cdef real part
    for mask in range(1 << (d - first)):
        part, at = weight, place
        for j in range(first, d):
            if mask >> (j - first) & 1:
                part, at = part * t[j], at + stride[j]
            else:
                part *= 1.0 - t[j]
        mass[at] += part


def spread_of(const real[:, ::1] y, const real[::1] weights, const real[::1] low, const index[::1] sizes):
    """
    Return what corners of a grid of unit cells have of the samples, each of which is their mean in its cell.

    Parameters
    ----------
    y : ndarray, shape (d, n)
        No coordinate below that of `low`, nor beyond the last cell.
    weights : ndarray, shape (n,)
    low : ndarray, shape (d,)
        Where the grid begins.
    sizes : ndarray, shape (d,)
        Corners along every line.

    Returns
    -------
    mass : ndarray, shape (product of the sizes,)
        The last coordinate's corners are neighbours.
    variances : ndarray, shape (d,)
        Sums over samples of the weight times the variance of the corner's coordinate.
    """
    cdef index d = y.shape[0], n = y.shape[1], i, j, place, total = 1
    for j in range(d):
        total *= sizes[j]
    masses, squares, parts, strides = np.zeros(total), np.zeros(d), np.empty(d), np.ones(d, dtype=np.intp)
    cdef real[::1] mass = masses, square = squares, t = parts
    cdef index[::1] stride = strides
    for j in range(d - 2, -1, -1):
        stride[j] = stride[j + 1] * sizes[j + 1]
    with nogil:
        for i in range(n):
            place = corner_of(y, i, weights[i], low, stride, 0, t, square)
            give_to_corners(&mass[0], place, weights[i], stride, 0, t)
    return masses, squares


cdef void take_to_neighbours(real *mass, const index *sizes, index d, index total, real *before) noexcept nogil:
    """Smooth masses of corners in place, of `total` of them; `before` is room for all but the corners of a line."""
    cdef index j, i, k, block, inner = total, outer
    cdef real own
    cdef real *row
    cdef real *after
    for j in range(d):
        inner //= sizes[j]
        outer = total // (inner * sizes[j])
        for block in range(outer):
            for k in range(inner):
                before[k] = 0.0
            for i in range(sizes[j]):
                row = &mass[(block * sizes[j] + i) * inner]
                after = row + inner
                if i + 1 < sizes[j]:
                    for k in range(inner):
                        own = row[k]
                        row[k] = 0.5 * own + 0.25 * before[k] + 0.25 * after[k]
                        before[k] = own
                else:
                    for k in range(inner):
                        row[k] = 0.5 * row[k] + 0.25 * before[k]


def smooth(real[::1] mass, const index[::1] sizes):
    """
    Give each line's neighbours a quarter of a corner's mass each, in place; none is to be at the ends.

    Parameters
    ----------
    mass : ndarray, shape (product of the sizes,)
        As of `spread_of`.
    sizes : ndarray, shape (d,)
    """
    befores = np.empty(mass.shape[0])
    cdef real[::1] before = befores
    if mass.shape[0]:
        with nogil:
            take_to_neighbours(&mass[0], &sizes[0], sizes.shape[0], mass.shape[0], &before[0])


def entropy_of(
    const real[:, ::1] y, const real[::1] weights, const real[::1] low, const index[::1] sizes, int n_smoothed,
    real total, const real[::1] planes_cost=NOTHING, const real[::1] first_cost=NOTHING, real[::1] found_at=NOTHING,
    real lowest=0.0, real n_each=1.0,
):
    """
    Return the entropy of the corners of a grid, of which samples are spread over those of their cells, and smoothed.

    There are never more masses at once than those of a few planes of the first coordinate.

    Parameters
    ----------
    y, weights, low, sizes
        As of `spread_of`; no mass is to come to the ends.
    n_smoothed : int
        Times, 1 or more, that neighbours are given masses as by `smooth`.
    total : float
        The weights' sum.
    planes_cost, first_cost : ndarray, shape (corners of a plane,) and (sizes[0],), optional
        A corner costs the sum of one of each, in nats.
    found_at : ndarray, shape (n_bins,), optional
        The parts of corners are added to the bins of log p and what they cost: of at most `lowest` to the first, of
        more in steps of 1 / `n_each`, of all that is beyond to the last.
    lowest, n_each : float

    Returns
    -------
    entropy : float
        The sum of -p log p, p the masses' parts of the total.
    size : float
        That of its terms' magnitudes.
    variances : ndarray, shape (d,)
        As of `spread_of`.
    largest : float
        Of log p and what a corner costs; minus infinity without costs.
    """
    cdef index d = y.shape[0], n = y.shape[1], i, j, k, s, place, done = 0, plane = 1, n_bins = found_at.shape[0]
    cdef int m, _m
    cdef real part, term, cost, found = 0.0, size = 0.0, largest = -INFINITY
    for j in range(1, d):
        plane *= sizes[j]
    squares, parts, strides = np.zeros(d), np.empty(d), np.ones(d, dtype=np.intp)
    orders = np.argsort(np.floor(np.asarray(y[0]) - low[0]), kind="stable")
    # the plane that samples are spread over, the next one, and two of each time that masses are smoothed
    kept, befores = np.zeros((2 + 2 * n_smoothed, plane)), np.empty(plane)
    cdef real[::1] square = squares, t = parts, before = befores
    cdef index[::1] stride = strides, order = orders
    cdef real[:, ::1] planes = kept
    cdef real *own = &planes[0, 0]
    cdef real *next_one = &planes[1, 0]
    cdef real *last
    cdef real *older
    for j in range(d - 2, 0, -1):
        stride[j] = stride[j + 1] * sizes[j + 1]
    with nogil:
        for s in range(sizes[0] + n_smoothed):
            while done < n and floor(y[0, order[done]] - low[0]) == s:
                i = order[done]
                place = corner_of(y, i, weights[i], low, stride, 1, t, square)
                give_to_corners(own, place, weights[i] * (1.0 - t[0]), stride, 1, t)
                give_to_corners(next_one, place, weights[i] * t[0], stride, 1, t)
                done += 1
            for _m in range(n_smoothed):
                if d > 1:
                    take_to_neighbours(own, &sizes[1], d - 1, plane, &before[0])
            for m in range(n_smoothed):     # along the first coordinate: of the last two planes and this one
                last, older = &planes[2 + 2 * m, 0], &planes[3 + 2 * m, 0]
                for k in range(plane):
                    part = own[k]
                    own[k] = 0.25 * older[k] + 0.5 * last[k] + 0.25 * part
                    older[k] = last[k]
                    last[k] = part
            for k in range(plane):
                if own[k] > 0.0:
                    part = own[k] / total
                    term = -part * log(part)
                    found += term
                    size += fabs(term)
                    if n_bins:
                        cost = planes_cost[k] + first_cost[s - n_smoothed] - term / part
                        largest = max(largest, cost)
                        found_at[<index> min(max(ceil((cost - lowest) * n_each), 0.0), n_bins - 1.0)] += part
                own[k] = 0.0
            own, next_one = next_one, own
    return found, size, squares, largest
