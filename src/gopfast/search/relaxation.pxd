"""What the search asks of a problem: lower bounds (Relaxation, Basin) and upper bounds (Primal)."""

from libc.math cimport INFINITY
from libc.string cimport memset

from gopfast.search.improvements cimport Improvements
from gopfast.search.meter cimport Meter, Work
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real

cdef enum:
    N_STAGES = 4    # at most, of bounding a node: its relaxed dual, what raises the bound from there, and summaries

# Of one call of bound(): the counts of work done, which the search sums in node order, and what it learns of the node.
cdef struct Effort:
    index n_subproblems
    index n_lps
    index n_iterations  # of the simplex method, in the last of each linear program's runs
    index n_milps
    index n_passes
    bint last       # IN: the node could not be split and is bounded for the last time, as well as can be
    real margin     # OUT: what the bound lost for rounding; 0 where that is not known
    # OUT: about the objective that the relaxed solution attains with its best parameters; INFINITY where not known
    real estimate
    # Of each stage; calls and seconds of the first, and the node if none has closed it, are the search's to count.
    Work stages[N_STAGES]

cdef inline Effort no_effort() noexcept nogil:
    cdef Effort effort
    effort.n_subproblems = effort.n_lps = effort.n_iterations = effort.n_milps = effort.n_passes = 0
    effort.last, effort.margin, effort.estimate = False, 0, INFINITY
    memset(effort.stages, 0, N_STAGES * sizeof(Work))
    return effort


cdef class Relaxation:
    cdef readonly index n_connected, n_warm
    cdef readonly index n_split     # the first of the box's variables, which may be split; 0: all
    cdef readonly bint selects      # nodes carry the bound combination that bound() selects, see tree.Node
    cdef public tuple meters        # (N_STAGES,) of the stages of bound()
    cdef readonly list choice       # the combination selected for the last box that a test asked for
    cdef readonly int batch_size    # nodes split between two merges, whatever the number of threads
    cdef readonly int parallel_from  # smaller batches are bounded faster on the caller's thread alone
    # GIL held, before the search: one workspace per worker.
    cdef int prepare(self, int n_workers, StopSignal stop) except -1
    # OUT: the root box, warm start and bound -inf.
    cdef void root(self, Node *node) noexcept nogil
    # IN/OUT: removes symmetric copies and what cannot hold a solution; 0: the box is empty.
    cdef int tighten(self, Node *node) noexcept nogil
    # IN/OUT: raises node.lower (never lowers it), chooses node.branch, the split point, and the combination.
    # May stop early once node.lower >= cutoff.
    cdef void bound(self, Node *node, real cutoff, int worker, Effort *effort) noexcept nogil
    # OUT: weights of the components in the node's relaxed solution, to start a local search from; False: it has none.
    cdef bint weights(self, Node *node, real *out) noexcept nogil
    # A good solution (the primal's vector): scales what a bound may lose before it matters.
    cdef void calibrate(self, const real *solution) noexcept nogil
    # Between batches, on the caller's thread: shared state (cut pools) may change only here.
    cdef void merged(self) noexcept nogil
    # On the worker's own thread, after the search.
    cdef void release(self, int worker) noexcept nogil


# A box of connected variables with a bound that needs no relaxed dual: the neighbourhood of an incumbent.
cdef class Basin:
    cdef readonly index n_connected
    cdef real[::1] low, high
    cdef readonly real lower        # proved bound over the box, -inf before there is one
    cdef public Meter meter         # of what has found the box
    # Looks for a box around a solution (the primal's vector); False: none, and the old one is kept.
    cdef bint find_box(self, const real *solution, real tolerance) noexcept nogil
    # The same for one that holds [low, high].
    cdef bint find_box_over(self, const real *solution, real tolerance, const real *low,
                            const real *high) noexcept nogil


# What is learnt beside the tree and holds for all solutions below a limit.
cdef class Reduction:
    cdef readonly index n_connected
    cdef readonly real lower        # proved bound of all that `contract` cuts off, INFINITY while it cuts nothing
    cdef readonly real floor        # proved bound of all solutions below the limit, -INFINITY: none
    cdef readonly index version     # how often `contract` has come to cut more than before
    cdef public Meter meter         # of what learns, and
    cdef public Meter cutter        # of what cuts boxes down
    # What the last step was of, and what empties a box.
    cdef public Meter finder        # of what has found the last `start`; None: what learns
    cdef Meter worker(self)
    cdef Meter emptied(self, int by)
    # GIL held, before the first step of a run.
    cdef int prepare(self, StopSignal stop) except -1
    cdef real[::1] low, high        # a box that holds all solutions below the limit
    # Between batches, on the caller's thread: one step, with a solution at hand; False: there is no more to learn.
    cdef bint work(self, const real *solution, real limit, Effort *effort) noexcept nogil
    # IN/OUT: cuts from a box what holds no solution below the limit. 1: something is left, else the box is empty:
    # `emptied` tells by what. OUT: proved bound of what is left of it, -INFINITY: none. Between steps, on any thread.
    cdef int contract(self, real *low, real *high, real *rest) noexcept nogil
    # OUT: what a local search may start from, connected variables and weights, each once; False: there is none.
    cdef bint start(self, real *point, real *weights) noexcept nogil


cdef class Primal:
    cdef readonly index n_solution
    cdef public Meter meter             # of local searches
    cdef readonly Improvements improvements     # of the first one
    cdef readonly index spared          # passes that it was allowed and did not need
    # Of what has found the solution that was returned last.
    cdef Work *finder(self) noexcept nogil
    cdef readonly bint has_tolerance    # points meet constraints within it: an objective may lie below the optimum
    cdef int prepare(self, int n_workers, StopSignal stop) except -1
    # First incumbent from multi-start. OUT solution (n_solution,), returns its objective.
    cdef real first(self, real tolerance, real *solution, Effort *effort) noexcept nogil
    # Local search from a point of the box, with the relaxed solution's weights or NULL; gives up where it cannot end
    # below target.
    cdef real improve(self, const real *point, const real *weights, real target, real tolerance, real *solution,
                      Effort *effort) noexcept nogil
    # Polishes an incumbent in place to high accuracy, returns its objective.
    cdef real polish(self, real *solution, Effort *effort) noexcept nogil
