"""Cells of one component in a binary tree of bounding boxes."""

from gopfast.search.types cimport index, real


cdef class CellTree:
    cdef readonly index n_boxes
    cdef readonly int n_cell
    cdef real[:, ::1] low, high         # (n_boxes, n_cell)
    cdef real[::1] upper, least         # (n_boxes,) largest and least bound of G within
    cdef int[::1] left                  # the first of two neighbours, -1: a cell
    cdef real[::1] slack                # (n_cell,) boxes that are no further apart than this meet
    # OUT: bounding box of what of a box meets cells whose bound is not below the threshold; returns the largest bound
    # of those, -INFINITY: there are none. Within a box of the tree, its root as a rule.
    cdef real meet(self, const real *low, const real *high, real threshold, real *out_low, real *out_high,
                   int root=*) noexcept nogil
    # The largest bound of what a box meets, -INFINITY: it meets none.
    cdef real largest(self, const real *low, const real *high, int root=*) noexcept nogil
    cdef int find_least(self) except -1
