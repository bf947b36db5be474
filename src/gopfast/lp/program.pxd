"""The linear programs of a search's nodes, one worker per thread."""

from gopfast.lp.lp cimport LpStatus, LpWorker
from gopfast.lp.milp cimport MilpWorker
from gopfast.search.relaxation cimport Effort, Relaxation
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree
from gopfast.search.types cimport real


cdef class ProgramWorker:
    """Linear programs of one thread: opened at its first node, stopped with the search."""

    cdef LpWorker lp
    cdef MilpWorker milp                # None where combinations are not selected
    cdef StopSignal stop
    cdef int number                     # of the thread
    cdef real offset                    # what a node's objective is above the program's
    # Rows under construction: n_rows of max_rows, with nnz of max_nnz entries
    cdef int n_rows, nnz, max_rows, max_nnz
    cdef int[::1] start, col_index
    cdef real[::1] row_lower, row_upper, value
    # GIL held, once: n_choices < 0 where no combinations are selected.
    cdef int begin(self, StopSignal stop, int number, int max_rows, int max_nnz, int n_cols, int n_choices) except -1
    # Life, on the worker's own thread.
    cdef int open(self) noexcept nogil
    cdef void close(self) noexcept nogil
    # Settings of a solver just opened.
    cdef int configure(self) noexcept nogil
    # As of Relaxation.
    cdef void bound(self, Node *node, real cutoff, Effort *effort) noexcept nogil

    # Cold: the rows under construction with these columns. Then those from row `first` and entry `first_entry` on.
    cdef int load_rows(self, int n_cols, const real *cost, const real *lower, const real *upper) noexcept nogil
    cdef int append_rows(self, int first, int first_entry) noexcept nogil
    # One linear program; raises the node's bound by what its duals prove.
    cdef LpStatus solve(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    # The same program over a box that is wider by a trifle, after LP_UNKNOWN.
    cdef LpStatus run_wider(self, real cutoff, real slack, Effort *effort) noexcept nogil
    # The loaded program, until its bound is as good; counts of the last run.
    cdef LpStatus run(self, real bound, Effort *effort) noexcept nogil
    cdef void count(self, Effort *effort) noexcept nogil
    # Bound of the node by the last duals, rounding included; and what is done with one.
    cdef real proved(self) noexcept nogil
    cdef void raise_bound(self, Node *node, real proved, real cutoff) noexcept nogil
    # OUT choice, see node_choice: the combination of halves, whose rows are those under construction, with the least
    # bound; most important variables first, without those of importance < 0. Untouched where that fails.
    cdef void choose(self, const real *importance, int *choice, Effort *effort) noexcept nogil


cdef class ProgramRelaxation(Relaxation):
    """A relaxed dual whose bounds are linear programs."""

    cdef list workspaces
    cdef void **workers                 # the same ProgramWorkers, borrowed: indexed without the GIL
    cdef int n_workers
    cdef ProgramWorker worker(self, StopSignal stop, int number)
    # IN/OUT node: its box bounded from cold, on the caller's thread.
    cdef int bound_alone(self, Tree tree, Node *node, low, high, real cutoff, StopSignal stop,
                         Effort *effort) except -1
