"""The GOP loop; what `snapshot` reads and writes of it."""

from gopfast.search.audit cimport Audit
from gopfast.search.batch cimport Batch
from gopfast.search.domain cimport Cut, Domain
from gopfast.search.history cimport History
from gopfast.search.incumbent cimport Incumbent
from gopfast.search.ledger cimport Ledger
from gopfast.search.relaxation cimport Effort, Relaxation
from gopfast.search.node_memory cimport NodeMemory
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree
from gopfast.search.types cimport index, real


cdef class Search:
    cdef Relaxation relaxation
    cdef Tree tree
    cdef Batch batch
    cdef NodeMemory node_memory                  # for the open nodes
    cdef Incumbent incumbent
    cdef Domain domain
    cdef Audit audit
    cdef History history
    cdef Ledger ledger              # for a proof, or None
    cdef StopSignal stop
    cdef object keeper              # called between batches, or None
    cdef bint orthant
    cdef int n_threads
    cdef index max_nodes
    cdef index n_batches
    cdef index wait, waited         # batches between local searches from promising nodes, and since the last
    cdef real given                 # the lower bound known beforehand
    cdef real closed                # least bound of the fathomed nodes and of those that nothing more can be done about
    cdef real rounding              # largest rounding margin of the latter
    cdef real elsewhere             # least bound of the nodes that others work on; INFINITY: there are none
    cdef index n_elsewhere
    cdef bint unopened              # there is no root yet, and no bound but the given one
    cdef bint restored              # from arrays, since the last run
    cdef bint begun                 # some batch was not cut short
    cdef bint is_part               # of another search: it need not hold a solution
    cdef index n_restarts           # of the tree
    cdef real[::1] start            # (n_connected,) of a local search
    cdef real[::1] relaxed_weights  # (n_solution,), of which the components' weights are used
    cdef Effort effort
    cdef readonly list meters       # of all that is at work in the search
    cdef real told                  # LBD when what has raised it was last told; -INFINITY: never
    cdef readonly index n_nodes
    cdef readonly int reason
    cdef int prepare(self) except -1
    cdef int work(self) except -1
    cdef int check(self) except -1
    cdef real least(self) noexcept nogil
    cdef real lower(self) noexcept nogil
    cdef int proved(self) noexcept nogil
    cdef void find(self) noexcept nogil
    cdef int tell_found(self) except -1
    cdef int open_root(self) except -1
    cdef int root(self, real lower) except -1
    cdef bint select(self) except -1
    cdef index take_parents(self, index most, bint first) except -1
    cdef int divide(self, bint looks) except -1
    cdef int contract_batch(self, index first, bint looks) except -1
    cdef int put_back(self, Node *parent) except -1
    cdef int partition(self, Node *parent, Cut cut) except -1
    cdef bint tighten(self, Node *node) except -1
    cdef void improve(self) noexcept nogil
    cdef bint improve_from(self, Node *node) noexcept nogil
    cdef int merge(self) except -1
    cdef int tell_work(self) except -1
    cdef int tell_gain(self) except -1
    cdef int close(self, Node *node) except -1
    cdef int learn(self) except -1
    cdef void improve_by_learning(self) noexcept nogil
    cdef int restart(self) except -1
    cdef int report(self) except -1
    cdef index n_open(self) noexcept nogil
