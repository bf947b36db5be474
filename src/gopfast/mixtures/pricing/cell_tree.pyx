"""Cells of one component in a binary tree of bounding boxes, so that what of them a box meets is found quickly.

Theory: (C2) of docs/theory/cells.md.
"""

import numpy as np

from gopfast.search import entries

from libc.math cimport INFINITY

from gopfast.mixtures.pricing.tuning cimport MOST_DEPTH


cdef void sort(index n, int *order, real *keys) noexcept nogil:
    """Shell sort of keys, and of what stands beside them."""
    cdef index gap = 1, i, j
    cdef real key
    cdef int at
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, at, j = keys[i], order[i], i
            while j >= gap and keys[j - gap] > key:
                keys[j], order[j] = keys[j - gap], order[j - gap]
                j -= gap
            keys[j], order[j] = key, at
        gap //= 3


cdef index depth_of(const int[::1] left):
    """Levels of a binary tree, whose neighbours come after the box that holds them, below its root."""
    cdef index[::1] depth = np.zeros(left.shape[0], dtype=np.intp)
    cdef index at, most = 0
    for at in range(left.shape[0]):
        most = max(most, depth[at])
        if left[at] >= 0:
            depth[left[at]] = depth[left[at] + 1] = depth[at] + 1
    return most


cdef class CellTree:
    """Cells (m, n), (m, n) with bounds (m,) in a binary tree of bounding boxes, at most about `most` of them leaves.

    Boxes that are no further apart than `slack` (n,) meet: for a proof, where rounding can make them touch.
    """

    def __init__(self, low, high, upper, index most=4000, slack=None):
        cdef index m = low.shape[0], n = low.shape[1], size = m // most + 1, made = 1, top = 0, begin, end, i, j, widest
        cdef real[:, ::1] cells_low = np.ascontiguousarray(low), cells_high = np.ascontiguousarray(high)
        cdef real[::1] cells_upper = np.ascontiguousarray(upper), keys = np.empty(m + 1)
        cdef int[::1] order = np.arange(m + 1, dtype=np.intc)
        cdef index[:, ::1] todo = np.zeros((256, 3), dtype=np.intp)
        cdef real least, most_center, spread, widest_spread, center
        cdef int at
        self.n_cell = n
        self.slack = np.zeros(n) if slack is None else np.array(slack, dtype=np.float64)
        self.low, self.high = np.full((2 * m + 1, n), np.inf), np.full((2 * m + 1, n), -np.inf)
        self.upper, self.left = np.full(2 * m + 1, -np.inf), np.full(2 * m + 1, -1, dtype=np.intc)
        self.n_boxes = 0
        if m == 0:
            return
        todo[0, 2] = m
        top = 1
        while top:
            top -= 1
            at, begin, end = <int> todo[top, 0], todo[top, 1], todo[top, 2]
            widest, widest_spread = 0, -1
            for j in range(n):
                least, most_center = INFINITY, -INFINITY
                for i in range(begin, end):
                    self.low[at, j] = min(self.low[at, j], cells_low[order[i], j])
                    self.high[at, j] = max(self.high[at, j], cells_high[order[i], j])
                    center = cells_low[order[i], j] + cells_high[order[i], j]
                    least, most_center = min(least, center), max(most_center, center)
                # relative to all cells, whose box is the first
                spread = (most_center - least) / max(self.high[0, j] - self.low[0, j], 1e-300)
                if spread > widest_spread:
                    widest, widest_spread = j, spread
            for i in range(begin, end):
                self.upper[at] = max(self.upper[at], cells_upper[order[i]])
            if end - begin <= size:
                continue
            for i in range(begin, end):
                keys[i] = cells_low[order[i], widest] + cells_high[order[i], widest]
            sort(end - begin, &order[begin], &keys[begin])
            self.left[at] = <int> made
            i = (begin + end) // 2
            todo[top, 0], todo[top, 1], todo[top, 2] = made, begin, i
            todo[top + 1, 0], todo[top + 1, 1], todo[top + 1, 2] = made + 1, i, end
            made, top = made + 2, top + 2
        self.n_boxes = made
        self.find_least()

    cdef int find_least(self) except -1:
        """The least bounds within, from the leaves up, which come last."""
        cdef index at
        self.least = np.array(self.upper)
        for at in range(self.n_boxes - 1, -1, -1):
            if self.left[at] >= 0:
                self.least[at] = min(self.least[self.left[at]], self.least[self.left[at] + 1])
        return 0

    cdef real meet(self, const real *low, const real *high, real threshold, real *out_low, real *out_high,
                   int root=0) noexcept nogil:
        cdef int stack[MOST_DEPTH]
        cdef int top = 1, at, j, first, n = self.n_cell
        cdef bint apart, known, within
        cdef real sup = -INFINITY
        cdef const real *least
        cdef const real *most
        for j in range(n):
            out_low[j], out_high[j] = INFINITY, -INFINITY
        if self.n_boxes == 0:
            return sup
        stack[0] = root
        while top:
            top -= 1
            at = stack[top]
            if self.upper[at] < threshold:
                continue
            # whether what the box meets is known already; whether all of the box lies within
            apart, known, within = False, self.upper[at] <= sup, self.least[at] >= threshold
            least, most = &self.low[at, 0], &self.high[at, 0]
            for j in range(n):
                if least[j] > high[j] + self.slack[j] or most[j] < low[j] - self.slack[j]:
                    apart = True
                    break
                if max(least[j], low[j]) < out_low[j] or min(most[j], high[j]) > out_high[j]:
                    known = False
                if least[j] < low[j] or most[j] > high[j]:
                    within = False
            if apart or known:
                continue
            if self.left[at] >= 0 and not within:
                # the one with the largest bound first, so that more of the others is known then
                first = self.upper[self.left[at]] > self.upper[self.left[at] + 1]
                stack[top], stack[top + 1] = self.left[at] + first, self.left[at] + 1 - first
                top += 2
                continue
            sup = max(sup, self.upper[at])
            for j in range(n):
                out_low[j] = min(out_low[j], min(high[j], max(least[j], low[j])))
                out_high[j] = max(out_high[j], max(low[j], min(most[j], high[j])))
        return sup

    cdef real largest(self, const real *low, const real *high, int root=0) noexcept nogil:
        cdef int stack[MOST_DEPTH]
        cdef int top = self.n_boxes > 0, at, j, first, n = self.n_cell
        cdef bint apart, within
        cdef real sup = -INFINITY
        cdef const real *least
        cdef const real *most
        stack[0] = root
        while top:
            top -= 1
            at = stack[top]
            if self.upper[at] <= sup:
                continue
            apart, within = False, True
            least, most = &self.low[at, 0], &self.high[at, 0]
            for j in range(n):
                if least[j] > high[j] + self.slack[j] or most[j] < low[j] - self.slack[j]:
                    apart = True
                    break
                if least[j] < low[j] or most[j] > high[j]:
                    within = False
            if apart:
                continue
            if within or self.left[at] < 0:
                sup = self.upper[at]
                continue
            # the one with the largest bound first
            first = self.upper[self.left[at]] > self.upper[self.left[at] + 1]
            stack[top], stack[top + 1] = self.left[at] + first, self.left[at] + 1 - first
            top += 2
        return sup

    def state(self):
        """The boxes, as arrays by name."""
        n = self.n_boxes
        return {"low": np.array(self.low[:n]), "high": np.array(self.high[:n]), "upper": np.array(self.upper[:n]),
                "left": np.array(self.left[:n])}

    def restore(self, state):
        """Take what `state` returned."""
        self.low, self.high = (np.array(entries.array(state, name, (None, None))) for name in ("low", "high"))
        self.upper = np.array(entries.array(state, "upper", (None,)))
        self.left = np.array(entries.array(state, "left", (None,), "i", -1, 1 << 30), dtype=np.intc)
        self.n_boxes, self.n_cell = self.low.shape[0], <int> self.low.shape[1]
        left = np.asarray(self.left)
        # neighbours come after the box that holds them, so that no look-up can go in a circle or out of the arrays
        alike = len(left) == self.n_boxes == self.upper.shape[0] and np.shape(self.high) == np.shape(self.low)
        if not alike or not ((left == -1) | ((left > np.arange(len(left))) & (left < len(left) - 1))).all():
            raise ValueError("cells of another kind")
        if depth_of(self.left) >= MOST_DEPTH:
            raise ValueError("cells of another kind: their tree is too deep")
        self.slack = np.zeros(self.n_cell)
        self.find_least()

    def meets(self, low, high, real threshold):
        """For tests: the largest bound of what a box meets, and its bounding box."""
        cdef real[::1] least = np.array(low, dtype=np.float64), most = np.array(high, dtype=np.float64)
        cdef real[::1] out_low = np.empty(self.n_cell), out_high = np.empty(self.n_cell)
        sup = self.meet(&least[0], &most[0], threshold, &out_low[0], &out_high[0])
        return sup, np.asarray(out_low), np.asarray(out_high)

    def largest_of(self, low, high):
        """For tests: the largest bound of what a box meets."""
        cdef real[::1] least = np.array(low, dtype=np.float64), most = np.array(high, dtype=np.float64)
        return self.largest(&least[0], &most[0])
