"""What a search knows, as plain arrays by name: to go on with it later, or to have others work on a part of it.

Names have a part for each owner, such as "tree.lower" or "reduction.low". A search is read between two batches, where
all its nodes are in its tree (and on disk, which `Room.blocks` tells).
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc

from gopfast.search.domain cimport Domain
from gopfast.search.incumbent cimport Incumbent
from gopfast.search.nodes cimport nodes_to_arrays, push_arrays
from gopfast.search.relaxation cimport Basin, no_effort
from gopfast.search.search cimport Search
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree
from gopfast.search.types cimport NO_MEMORY, STOP_INTERRUPTED, index, real

cdef index NEVER = 1 << 62      # nodes after which learning begins


def state(Search search, bint finished=False):
    """All that the search needs to go on as if it had not been stopped, but the open nodes: `slabs` and `blocks`.

    `finished`: with their bound among those that count for good, so that they are not needed.
    """
    if finished:
        search.closed = search.least()
    return {**progress(search), **knowledge(search, True), **named("primal", search.incumbent.primal.state())}


def slabs(Search search, index size=20_000):
    """The open nodes in memory, some at a time: they need not fit into memory twice."""
    cdef Tree tree = search.tree
    cdef index n = tree.n_heap(), first
    for first in range(0, n, size):
        yield nodes_to_arrays(tree, tree.heap + first, min(size, n - first))
    if tree.diving:
        yield nodes_to_arrays(tree, tree.stack, tree.n_stack)


def blocks(Search search):
    """The open nodes on disk: (lower, serial, number of nodes, name) of each block."""
    return list(search.room.blocks)


def restore(Search search, state, nodes, blocks=()):
    """Take what `state`, `slabs` and `blocks` returned, of a search of the same problem with the same options.

    Parameters
    ----------
    search : Search
    state : mapping from names to arrays
    nodes : iterable of mappings from names to arrays
    blocks : sequence of (lower, serial, number of nodes, name)

    Raises
    ------
    ValueError
        If the arrays are not of such a search.
    """
    try:
        take_progress(search, state)
        take_knowledge(search, state)
        search.incumbent.primal.restore(part("primal", state))
        replace_nodes(search, nodes, number(state, "search.dives"))
    except (KeyError, TypeError, IndexError, OverflowError) as error:
        raise ValueError(f"arrays of another search: {error!r}") from None
    search.tree.n_created = number(state, "search.n_created")
    search.room.blocks = [tuple(block) for block in blocks]
    search.room.follow()
    search.restored = True


def named(owner, arrays):
    """Names with their owner."""
    return {f"{owner}.{name}": np.asarray(value) for name, value in arrays.items()}


def part(owner, state):
    """An owner's arrays, without its name."""
    return {name.partition(".")[2]: value for name, value in state.items() if name.startswith(f"{owner}.")}


cdef number(state, name):
    """A scalar."""
    return np.asarray(state[name])[()]


cdef fill(real[::1] out, value):
    """Numbers of the same shape."""
    cdef const real[::1] values = np.ascontiguousarray(value, dtype=np.float64)
    if values.shape[0] != out.shape[0]:
        raise ValueError(f"arrays of another search: {values.shape[0]} numbers in place of {out.shape[0]}")
    out[:] = values


# The open nodes

def replace_nodes(Search search, nodes, bint dives=False):
    """These are the open nodes; of a search that dives the last arrays are the stack, in its order."""
    cdef Tree tree = search.tree
    cdef list arrays = list(nodes) if dives else []
    tree.clear()
    if dives:
        nodes = arrays[:len(arrays) - 1]
    for some in nodes:
        push_arrays(tree, some, False)
    if dives:
        tree.dive()
        push_arrays(tree, arrays[len(arrays) - 1], False)


# Bounds and counts

def progress(Search search):
    """Bounds, counts and their history."""
    return {
        "search.n_nodes": np.asarray(search.n_nodes), "search.n_batches": np.asarray(search.n_batches),
        "search.wait": np.asarray(search.wait), "search.waited": np.asarray(search.waited),
        "search.closed": np.asarray(search.closed), "search.rounding": np.asarray(search.rounding),
        "search.n_created": np.asarray(search.tree.n_created), "search.dives": np.asarray(search.tree.diving),
        "search.effort": np.array(counts(search)),
        "search.time": np.asarray(search.history.now(search.stop)), "search.history": search.history.table(),
    }


def counts(Search search):
    """Subproblems, linear programs, mixed-integer programs and passes of the nodes and local searches."""
    return (search.effort.n_subproblems, search.effort.n_lps, search.effort.n_milps, search.effort.n_passes)


cdef take_progress(Search search, state):
    search.n_nodes, search.n_batches = number(state, "search.n_nodes"), number(state, "search.n_batches")
    search.wait, search.waited = number(state, "search.wait"), number(state, "search.waited")
    search.closed, search.rounding = number(state, "search.closed"), number(state, "search.rounding")
    search.effort = no_effort()
    (search.effort.n_subproblems, search.effort.n_lps, search.effort.n_milps,
     search.effort.n_passes) = [int(count) for count in state["search.effort"]]
    search.history.rows = [tuple(row) for row in state["search.history"].reshape(-1, 5).tolist()]
    search.history.spent = number(state, "search.time")


# What bounds follow from: the incumbent, and what was learnt

def knowledge(Search search, bint learning):
    """The incumbent, the basin and the reduction, with where its learning stands or for those who learn nothing.

    And what the relaxation has chosen for all nodes.
    """
    cdef Incumbent incumbent = search.incumbent
    cdef Domain domain = search.domain
    found = {"incumbent.upper": np.asarray(incumbent.upper), "incumbent.solution": np.array(incumbent.solution)}
    found |= named("relaxation", search.relaxation.state())
    found |= named("domain", {
        "passes_before": domain.passes_before, "n_passes": domain.learning.n_passes, "settled": domain.settled,
        "settled_at": domain.settled_at, "widened_at": domain.widened_at, "covered_at": domain.covered_at,
        "covered_width": domain.covered_width, "start": np.array(domain.start), "cut_from": domain.cut_from,
        "looks": np.array([domain.n_looked, domain.n_gained, domain.pause, domain.paused]),
    })
    if domain.settled:
        found |= named("basin", {"low": np.array(domain.basin.low), "high": np.array(domain.basin.high),
                                 "lower": domain.basin.lower})
    if domain.reduction is not None:
        found |= named("reduction", domain.reduction.state(learning))
    return found


cdef take_knowledge(Search search, state):
    cdef Incumbent incumbent = search.incumbent
    cdef Domain domain = search.domain
    cdef Basin basin = domain.basin
    learnt = part("domain", state)
    search.relaxation.restore(part("relaxation", state))
    incumbent.upper = number(state, "incumbent.upper")
    fill(incumbent.solution, state["incumbent.solution"])
    domain.passes_before, domain.learning.n_passes = number(learnt, "passes_before"), number(learnt, "n_passes")
    domain.settled_at, domain.widened_at = number(learnt, "settled_at"), number(learnt, "widened_at")
    domain.covered_at, domain.covered_width = number(learnt, "covered_at"), number(learnt, "covered_width")
    fill(domain.start, learnt["start"])
    domain.settled = number(learnt, "settled")
    if domain.settled:
        if basin is None:
            raise ValueError("arrays of another search: it has a box around its incumbent")
        fill(basin.low, state["basin.low"])
        fill(basin.high, state["basin.high"])
        basin.lower = number(state, "basin.lower")
    if domain.reduction is not None:
        domain.reduction.restore(part("reduction", state))
        domain.version = domain.reduction.version
    domain.cut_from = number(learnt, "cut_from")
    domain.n_looked, domain.n_gained, domain.pause, domain.paused = [int(count) for count in learnt["looks"]]


# Work for others

def hand_out(Search search, index n, dict away, number):
    """Up to n of the best open nodes, for others to work on: away[number] is (arrays, their least bound).

    False: nothing is open below the limit, and there is no such entry. That it is made here leaves no line of Python
    before which Ctrl-C could lose the nodes; where something is raised they are open again. Their bounds count for LBD
    until `take_back`; see `away`.
    """
    cdef Tree tree = search.tree
    cdef Node **chosen = <Node **> malloc(max(n, 1) * sizeof(Node *))
    cdef real limit = search.incumbent.limit(), lower = INFINITY
    cdef index count = 0, i
    cdef bint handed_out = False
    if chosen == NULL:
        raise MemoryError
    try:
        while count < n and tree.n_open and max(search.given, tree.next().lower) < limit:
            chosen[count] = tree.pop()
            lower = min(lower, chosen[count].lower)
            count += 1
            search.room.fetch(search.stop)
        if count:
            away[number] = nodes_to_arrays(tree, chosen, count), lower
            handed_out = True
        return handed_out
    finally:
        for i in range(count):
            if handed_out:
                tree.free_node(chosen[i])
            elif tree.push(chosen[i]) == NO_MEMORY:  # which is hardly possible: it was there a moment ago
                search.closed = min(search.closed, chosen[i].lower)
                tree.free_node(chosen[i])
        free(chosen)


def take_back(Search search, arrays):
    """Nodes that others have not finished, or not begun."""
    push_arrays(search.tree, arrays, True)


def away(Search search, index n, real lower):
    """Others work on so many nodes, of which this is the least bound."""
    search.n_elsewhere, search.elsewhere = n, lower


def n_open(Search search):
    """Open nodes that are not with others."""
    return search.n_open() - search.n_elsewhere


def n_restarts(Search search):
    """How often the tree has begun again."""
    return search.n_restarts


def set_keeper(Search search, keeper):
    """Who is called between batches."""
    search.keeper = keeper


def begin_run(Search search, real time_limit):
    """A run begins in which others bound the nodes."""
    search.history.resume()
    search.stop = StopSignal(time_limit)
    search.room.unasked = 0
    search.prepare()


def make_room(Search search):
    """See to it that what others bring back fits; False: it does not."""
    cdef index n_children = search.tree.most_children(search.orthant)
    cdef index most = search.room.make(search.relaxation.batch_size, n_children, search.stop)
    if search.stop.reason == STOP_INTERRUPTED:
        raise KeyboardInterrupt
    return most > 0


def spare_nodes(Search search):
    """How many more open nodes the memory holds; a number beyond all where it has no limit."""
    if search.room.memory is None:
        return NEVER
    return max(0, <index> (search.room.most // search.tree.size_of(1)) - search.tree.n_open)


class Nodes:
    """Memory for so many nodes, the `memory` of a part."""

    def __init__(self, Search search, index n_nodes):
        self.bytes = min(n_nodes, NEVER // search.tree.size_of(1)) * search.tree.size_of(1)

    def room(self, taken):
        """As `gopfast.search.memory.Memory.room`."""
        return self.bytes


def begin_part(Search search, arrays, shared, index most_open):
    """Work on these nodes alone, with what is known and nothing learnt beside the tree; counts begin at 0.

    `most_open`: open nodes that it may have: beyond, it goes depth first.
    """
    search.is_part = True
    take_knowledge(search, shared)
    replace_nodes(search, [arrays])
    search.room.memory, search.room.turn, search.room.unasked = Nodes(search, most_open), 0, 0
    search.tree.n_created = int(np.max(arrays["serial"], initial=0)) + 1
    search.domain.learn_from, search.domain.cut_from = NEVER, search.tree.n_created
    search.history.rows = []
    search.n_nodes, search.n_batches, search.wait, search.waited = 0, 1 << 20, 1, 0
    search.closed, search.rounding, search.effort = INFINITY, 0, no_effort()
    search.domain.learning = no_effort()
    search.restored = True


def end_part(Search search):
    """What `begin_part` led to: bounds and counts, the incumbent, and the nodes that are left, as arrays by name."""
    return {
        "closed": min(search.closed, search.domain.removed()), "rounding": search.rounding,
        "n_nodes": search.n_nodes, "effort": counts(search), "upper": search.incumbent.upper,
        "solution": np.array(search.incumbent.solution), "nodes": list(slabs(search)),
    }


def take_part(Search search, found):
    """What others have found of nodes that were handed out; True: they have a better incumbent."""
    cdef Incumbent incumbent = search.incumbent
    cdef long long[::1] counted = np.array(found["effort"], dtype=np.int64)
    search.closed = min(search.closed, <real> found["closed"])
    search.rounding = max(search.rounding, <real> found["rounding"])
    search.n_nodes += found["n_nodes"]
    search.effort.n_subproblems += counted[0]
    search.effort.n_lps += counted[1]
    search.effort.n_milps += counted[2]
    search.effort.n_passes += counted[3]
    for arrays in found["nodes"]:
        take_back(search, arrays)
    fill(incumbent.trial, found["solution"])
    return incumbent.offer(found["upper"])


def learn_and_report(Search search):
    """What a batch ends with; the reason to stop, or 0."""
    search.learn()
    search.report()
    search.stop.poll(0)
    return search.stop.reason
