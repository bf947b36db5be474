"""What the search asks of a problem: lower bounds (Relaxation, Basin, Reduction) and upper bounds (Primal)."""

from libc.math cimport INFINITY

from gopfast.search.meter cimport Meter, Work


cdef class Relaxation:
    """Lower bounds of a problem on boxes of its connected variables. Subclasses override every method."""

    def __cinit__(self):
        self.meters = tuple([Meter() for _ in range(N_STAGES)])

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

    def state(self):
        """What earlier nodes have left behind, as arrays by name."""
        return {}

    def restore(self, state):
        """Take what `state` returned, of a relaxation of the same problem."""


cdef class Basin:
    """A box around an incumbent with a bound of its own. Subclasses override what they can do."""

    def __cinit__(self):
        self.meter = Meter()

    cdef bint find_box(self, const real *solution, real tolerance) noexcept nogil:
        return False

    cdef bint find_box_over(self, const real *solution, real tolerance, const real *low,
                            const real *high) noexcept nogil:
        return False


cdef class Reduction:
    """What is learnt of all solutions below a limit, beside the tree. Subclasses override every method."""

    def __cinit__(self):
        self.lower, self.floor = INFINITY, -INFINITY
        self.meter = self.cutter = Meter()

    cdef Meter worker(self):
        return self.meter

    cdef Meter emptied(self, int by):
        return self.cutter

    cdef int prepare(self, StopSignal stop) except -1:
        raise NotImplementedError

    cdef bint work(self, const real *solution, real limit, Effort *effort) noexcept nogil:
        return False

    cdef int contract(self, real *low, real *high, real *rest) noexcept nogil:
        rest[0] = -INFINITY
        return 1

    cdef bint start(self, real *point, real *weights) noexcept nogil:
        return False

    @property
    def learnt(self):
        """The bound of what is being learnt, -inf before its first one; None: nothing is."""

    def state(self, bint learning=True):
        """What was learnt, and with `learning` where the learning stands, as arrays by name."""
        raise NotImplementedError

    def restore(self, state):
        """Take what `state` returned, of a reduction of the same problem."""
        raise NotImplementedError


cdef class Primal:
    """Upper bounds of a problem: its primal problem and local search. Subclasses override every method."""

    def __cinit__(self):
        self.meter, self.improvements = Meter(), Improvements()

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        raise NotImplementedError

    cdef Work *finder(self) noexcept nogil:
        return &self.meter.work

    cdef real first(self, real tolerance, real *solution, Effort *effort) noexcept nogil:
        return INFINITY

    cdef real improve(self, const real *point, const real *weights, real target, real tolerance, real *solution,
                      Effort *effort) noexcept nogil:
        return INFINITY

    cdef real polish(self, real *solution, Effort *effort) noexcept nogil:
        return INFINITY

    def state(self):
        """What earlier local searches have left behind, as arrays by name."""
        return {}

    def restore(self, state):
        """Take what `state` returned, of a primal of the same problem."""
