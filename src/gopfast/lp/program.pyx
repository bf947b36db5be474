"""The linear programs of a search's nodes, one worker per thread.

A relaxed dual in linear programs subclasses both: its worker writes the rows of a node and calls `load_rows` and
`solve`, its relaxation makes the workers. A worker's solver lives on one thread, see `LpWorker`.

Theory: (R2) of docs/theory/rounding.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdlib cimport calloc, free

from gopfast.lp.lp cimport LP_BOUND_REACHED, LP_ERROR, LP_INFEASIBLE, LP_OPTIMAL, LP_UNKNOWN, LpStatus, LpWorker
from gopfast.lp.milp cimport MilpWorker
from gopfast.lp.tuning cimport BEYOND
from gopfast.search.relaxation cimport Effort, Relaxation
from gopfast.search.stop cimport StopSignal, clock
from gopfast.search.tree cimport Node, Tree, node_high, node_low
from gopfast.search.types cimport LP_FAILED, OK, real


cdef class ProgramWorker:

    cdef int begin(self, StopSignal stop, int number, int max_rows, int max_nnz, int n_cols, int n_choices) except -1:
        self.stop, self.number = stop, number
        self.lp = LpWorker()
        self.lp.watch(stop, number)
        self.milp = MilpWorker(n_cols, n_choices) if n_choices >= 0 else None
        self.max_rows, self.max_nnz = max_rows, max_nnz
        self.start, self.col_index = np.zeros(max_rows + 1, np.intc), np.zeros(max(max_nnz, 1), np.intc)
        self.row_lower, self.row_upper = np.zeros(max(max_rows, 1)), np.zeros(max(max_rows, 1))
        self.value = np.zeros(max(max_nnz, 1))
        return 0

    cdef int open(self) noexcept nogil:
        if self.lp.solver != NULL:
            return OK
        if (self.lp.open() != OK or self.configure() != OK
                or (self.milp is not None and self.milp.open(self.lp) != OK)):
            self.lp.close()
            return LP_FAILED
        return OK

    cdef void close(self) noexcept nogil:
        self.lp.close()
        if self.milp is not None:
            self.milp.close()

    cdef int configure(self) noexcept nogil:
        return OK

    cdef void bound(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        pass

    cdef int load_rows(self, int n_cols, const real *cost, const real *lower, const real *upper) noexcept nogil:
        return self.lp.load(n_cols, self.n_rows, cost, lower, upper, &self.row_lower[0], &self.row_upper[0], self.nnz,
                            &self.start[0], &self.col_index[0], &self.value[0])

    cdef int append_rows(self, int first, int first_entry) noexcept nogil:
        cdef int i
        if self.n_rows == first:
            return OK
        for i in range(first, self.n_rows):
            self.start[i] -= first_entry
        return self.lp.add_rows(
            self.n_rows - first, &self.row_lower[first], &self.row_upper[first], self.nnz - first_entry,
            &self.start[first], &self.col_index[first_entry], &self.value[first_entry])

    cdef LpStatus solve(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        cdef real slack = BEYOND * (1 + fabs(cutoff) + fabs(self.offset))
        cdef real proved
        cdef LpStatus status = self.run(cutoff - self.offset + slack, effort)
        if status == LP_BOUND_REACHED and self.proved() < cutoff:
            status = self.run(INFINITY, effort)
        if status == LP_UNKNOWN and self.lp.lacks_proof():
            status = self.run_wider(cutoff, slack, effort)
        if status == LP_UNKNOWN and self.lp.forget_basis() == OK:
            status = self.run(INFINITY, effort)
        if status == LP_INFEASIBLE:
            self.raise_bound(node, INFINITY, cutoff)
        elif status != LP_ERROR:
            proved = self.proved()
            # in deeper nodes it is not worth a program
            if status == LP_OPTIMAL and self.lp.is_endless and node.parent < 0:
                status = self.lp.solve_inside()
                self.count(effort)
                proved = max(proved, self.proved())
            self.raise_bound(node, proved, cutoff)
        return status

    cdef LpStatus run_wider(self, real cutoff, real slack, Effort *effort) noexcept nogil:
        """Again over a box that is wider by a trifle: of a program that only just has no point a ray may prove nothing.

        The box was cut by the cutoff then, and the wider program's duals mostly prove a bound above it.
        """
        cdef LpStatus status = LP_UNKNOWN
        if self.lp.move_ends(True) == OK:
            status = self.run(cutoff - self.offset + slack, effort)
            if status == LP_BOUND_REACHED and self.proved() < cutoff:
                status = self.run(INFINITY, effort)
            if status == LP_OPTIMAL:
                self.lp.clip()
        return status if self.lp.move_ends(False) == OK else LP_ERROR

    cdef LpStatus run(self, real bound, Effort *effort) noexcept nogil:
        cdef LpStatus status = self.lp.solve(bound)
        self.count(effort)
        return status

    cdef void count(self, Effort *effort) noexcept nogil:
        effort.n_lps += 1
        effort.n_iterations += self.lp.n_iterations()

    cdef real proved(self) noexcept nogil:
        return -INFINITY

    cdef void raise_bound(self, Node *node, real proved, real cutoff) noexcept nogil:
        node.lower = max(node.lower, proved)

    cdef void choose(self, const real *importance, int *choice, Effort *effort) noexcept nogil:
        if self.milp.load(self.lp) != OK or self.milp.add_rows(
                self.n_rows, &self.row_lower[0], &self.row_upper[0], self.nnz, &self.start[0], &self.col_index[0],
                &self.value[0]) != OK:
            return
        effort.n_milps += 1
        if self.milp.solve(self.stop.deadline - clock()) == OK:
            self.milp.selection(importance, choice)


cdef class ProgramRelaxation(Relaxation):

    def __dealloc__(self):
        free(self.workers)

    cdef ProgramWorker worker(self, StopSignal stop, int number):
        raise NotImplementedError

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        cdef int number
        free(self.workers)
        self.workers = <void **> calloc(n_workers, sizeof(void *))
        if self.workers == NULL:
            raise MemoryError
        self.workspaces = [self.worker(stop, number) for number in range(n_workers)]
        self.n_workers = n_workers
        for number in range(n_workers):
            self.workers[number] = <void *> self.workspaces[number]
        return 0

    cdef void bound(self, Node *node, real cutoff, int worker, Effort *effort) noexcept nogil:
        (<ProgramWorker> self.workers[worker]).bound(node, cutoff, effort)

    cdef void release(self, int worker) noexcept nogil:
        (<ProgramWorker> self.workers[worker]).close()

    cdef int bound_alone(self, Tree tree, Node *node, low, high, real cutoff, StopSignal stop,
                         Effort *effort) except -1:
        cdef int a
        self.prepare(1, stop)
        self.root(node)
        node.lower = -INFINITY
        for a in range(self.n_connected):
            node_low(node)[a], node_high(node, self.n_connected)[a] = low[a], high[a]
        with nogil:
            self.bound(node, cutoff, 0, effort)
            self.release(0)
        stop.reraise()
        self.choice = tree.combination(node)
        return 0
