"""What tests ask of a search: that no bound and no cut contradicts a known solution, and which boxes it bounded.

Theory: (R6) of docs/theory/rounding.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs

from gopfast.search.tree cimport node_high, node_low


cdef class Audit:
    """A known solution against which bounds and cuts are checked, as HiGHS has its debug solution.

    Parameters
    ----------
    n_connected : int
        Dimension of the boxes.
    known : None or (point, objective)
    trace : None or list
    """

    def __init__(self, index n_connected, known=None, list trace=None):
        self.n_connected, self.value, self.trace = n_connected, INFINITY, trace
        if known is not None:
            self.point, self.value = np.ascontiguousarray(known[0], dtype=np.float64).ravel(), known[1]

    cdef bint contradicts(self, Node *node, real lower, real rounding) noexcept nogil:
        cdef index j, n = self.n_connected
        cdef real slack
        if not self.value < lower:
            return False
        for j in range(n):
            slack = rounding * (1 + fabs(self.point[j]))
            if not node_low(node)[j] - slack <= self.point[j] <= node_high(node, n)[j] + slack:
                return False
        return True

    cdef bint lost(self, bint held, bint left, Node *node, real rounding) noexcept nogil:
        return held and not (left and self.contradicts(node, INFINITY, rounding))

    cdef int check_bound(self, Node *node) except -1:
        cdef index n = self.n_connected
        self.n_failures += self.contradicts(node, node.lower, 0)
        if self.trace is not None:
            low = np.asarray(<real[:n]> node_low(node)).copy()
            high = np.asarray(<real[:n]> node_high(node, n)).copy()
            self.trace.append((node.serial, node.parent, node.lower, low, high))
        return 0
