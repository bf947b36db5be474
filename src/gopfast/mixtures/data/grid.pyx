"""Spreads weighted points over the corners of a grid: the data pass that makes a summary (data.summary).

Theory: (I1) of docs/theory/many.md.
"""

import numpy as np

cdef enum:
    MOST_COLUMNS = 3    # a cell has 2^d corners


def spread(const double[:, ::1] columns, const double[::1] weights, const double[::1] low, const double[::1] width,
           const long long[::1] n_cells, total_before=None, carry=None):
    """Multilinear weights of all points on the corners of their cells.

    Parameters
    ----------
    columns : ndarray, shape (d, n), d <= 3
    weights : ndarray, shape (n,)
    low, width : ndarray, shape (d,)
        The grid's corner and extent; points lie inside but for rounding.
    n_cells : ndarray of int64, shape (d,)
    total_before, carry : ndarray, shape (prod(n_cells + 1),), optional
        Of points before these, which are added to in place: `total`, and what its rounding has lost. However many
        points there are, each sum of the two is then off by no more than 2 u and n u^2 of the sum.

    Returns
    -------
    total : ndarray, shape (prod(n_cells + 1),)
        Weight of every corner, last axis fastest.
    excess : ndarray, shape (d,)
        sum_i w_i (x_ij - left_ij)(right_ij - x_ij): by how much the corners' sum of squares exceeds the points', about
        any center.
    most : int
        Most points that one corner has taken a share of; 1 where what rounding loses is carried on.
    """
    cdef Py_ssize_t n = weights.shape[0], i, index
    cdef int d = columns.shape[0], j, corner
    cdef long long stride[MOST_COLUMNS]   # of a corner's index, along each axis
    cdef double step[MOST_COLUMNS]         # width of a cell
    cdef double share[MOST_COLUMNS]        # of a point's weight that the corner to its right takes
    cdef double excess[MOST_COLUMNS]
    cdef long long cell, flat
    cdef double x, left, right, part, before, after
    cdef bint carried = carry is not None
    if not 1 <= d <= MOST_COLUMNS:
        raise ValueError(f"columns must have 1 to {MOST_COLUMNS} rows")
    flat = 1
    for j in range(d - 1, -1, -1):
        excess[j] = 0
        stride[j] = flat
        flat *= n_cells[j] + 1
        step[j] = width[j] / n_cells[j]
    out = np.zeros(flat) if total_before is None else total_before
    n_takers = np.ones(1, dtype=np.int32) if carried else np.zeros(flat, dtype=np.int32)
    if len(out) != flat or (carried and len(carry) != flat):
        raise ValueError("total_before and carry must have an entry for each corner")
    cdef double[::1] total = out, lost = carry if carried else np.empty(0)
    cdef int[::1] takers = n_takers
    cdef const double *first = &columns[0, 0]
    with nogil:
        for i in range(n):
            flat = 0
            for j in range(d):
                share[j] = 0
                if step[j] > 0:
                    x = first[j * n + i]
                    cell = <long long> ((x - low[j]) / step[j])
                    cell = min(max(cell, 0), n_cells[j] - 1)
                    left, right = corner_at(low[j], step[j], cell), corner_at(low[j], step[j], cell + 1)
                    share[j] = min(max((x - left) / (right - left), 0.0), 1.0)
                    excess[j] += weights[i] * (x - left) * (right - x)
                    flat += cell * stride[j]
            for corner in range(1 << d):
                part = weights[i]
                index = flat
                for j in range(d):
                    if corner >> j & 1:
                        part *= share[j]
                        index += stride[j]
                    else:
                        part *= 1 - share[j]
                if not carried:
                    total[index] += part
                    takers[index] += 1
                    continue
                before = total[index]
                after = before + part
                lost[index] += (before - after) + part if before >= part else (part - after) + before
                total[index] = after
    return out, np.array([excess[j] for j in range(d)]), int(n_takers.max())


# Coordinate of the lower corner of a cell, in the columns' units; the same number wherever it is computed.
cdef inline double corner_at(double low, double step, long long cell) noexcept nogil:
    return low + step * cell


def corners(double low, double width, long long n_cells):
    """Coordinates of a grid's corners on one axis, shape (n_cells + 1,): the very numbers that `spread` uses."""
    out = np.empty(n_cells + 1)
    cdef double[::1] at = out
    cdef long long cell
    for cell in range(n_cells + 1):
        at[cell] = corner_at(low, width / n_cells, cell)
    return out
