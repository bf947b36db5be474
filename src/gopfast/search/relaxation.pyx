"""What the search asks of a problem: lower bounds (Relaxation, Basin, Reduction) and upper bounds (Primal)."""

import numpy as np

from libc.math cimport INFINITY

from gopfast.search.tree cimport Tree, node_high, node_low


cdef class Relaxation:
    """Lower bounds of a problem on boxes of its connected variables. Subclasses override every method."""

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        raise NotImplementedError

    cdef void root(self, Node *node) noexcept nogil:
        pass

    cdef int tighten(self, Node *node) noexcept nogil:
        return 1

    cdef void bound(self, Node *node, real cutoff, int worker, Effort *effort) noexcept nogil:
        pass

    cdef bint weights(self, Node *node, real *out) noexcept nogil:
        return False

    cdef void calibrate(self, const real *solution) noexcept nogil:
        pass

    cdef void merged(self) noexcept nogil:
        pass

    cdef void release(self, int worker) noexcept nogil:
        pass

    def root_box(self):
        """The root's (low, high), shapes (n_connected,), for tests."""
        return self.probe(None, None, 0.0, False)[:2]

    def probe(self, low, high, real cutoff, bint bounded=True):
        """What a search makes of the box [low, high] of connected variables (None: the root), for tests.

        Returns
        -------
        None where tightening leaves nothing; else the tightened (low, high) and the bound, which may stop at `cutoff`
        and is that of a node without a parent. With `bounded` False neither is done.
        """
        cdef index n = self.n_connected, a
        cdef Tree tree = Tree(n, self.n_warm, self.n_split, self.selects)
        cdef real[::1] least, most
        cdef Effort effort
        cdef StopSignal stop = StopSignal(INFINITY)
        cdef Node *node = tree.new_node()
        if node == NULL:
            raise MemoryError
        try:
            self.root(node)
            node.lower = -INFINITY
            effort.n_subproblems = effort.n_lps = effort.n_milps = effort.n_passes = 0
            if low is not None:
                least, most = np.array(low, dtype=np.float64).ravel(), np.array(high, dtype=np.float64).ravel()
                for a in range(n):
                    node_low(node)[a], node_high(node, n)[a] = least[a], most[a]
            if bounded:
                if not self.tighten(node):
                    return None
                self.prepare(1, stop)
                self.bound(node, cutoff, 0, &effort)
                self.release(0)
            return (np.array([node_low(node)[a] for a in range(n)]),
                    np.array([node_high(node, n)[a] for a in range(n)]), node.lower)
        finally:
            tree.free_node(node)


cdef class Basin:
    """A box around an incumbent with a bound of its own. Subclasses override every method."""

    cdef bint settle(self, const real *solution, real tolerance) noexcept nogil:
        return False

    cdef bint cover(self, const real *solution, real tolerance, const real *low, const real *high) noexcept nogil:
        return False


cdef class Reduction:
    """What is learnt of all solutions below a limit, beside the tree. Subclasses override every method."""

    def __cinit__(self):
        self.lower, self.floor, self.rest = INFINITY, -INFINITY, -INFINITY

    cdef int prepare(self, StopSignal stop) except -1:
        raise NotImplementedError

    cdef bint work(self, const real *solution, real limit, Effort *effort) noexcept nogil:
        return False

    cdef int fit(self, real *low, real *high) noexcept nogil:
        return 1


cdef class Primal:
    """Upper bounds of a problem: its primal problem and local search. Subclasses override every method."""

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        raise NotImplementedError

    cdef real first(self, real tolerance, real *solution, Effort *effort) noexcept nogil:
        return INFINITY

    cdef real improve(self, const real *point, const real *weights, real target, real tolerance, real *solution,
                      Effort *effort) noexcept nogil:
        return INFINITY

    cdef real polish(self, real *solution, Effort *effort) noexcept nogil:
        return INFINITY
