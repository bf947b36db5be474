"""What a search knows, as plain arrays by name: to go on with it later, or to have others work on a part of it.

Names have a part for each owner, such as "tree.lower" or "reduction.low". A search is read between two batches, where
all its nodes are in its tree (and on disk, which `NodeMemory.blocks` tells).
"""

import numpy as np

from gopfast.search import entries

from libc.math cimport INFINITY, fabs, isfinite
from libc.stdlib cimport free, malloc

from gopfast.search.domain cimport Domain
from gopfast.search.incumbent cimport Incumbent
from gopfast.search.nodes cimport nodes_to_arrays, push_arrays
from gopfast.search.relaxation cimport Basin, no_effort
from gopfast.search.search cimport Search
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree
from gopfast.search.tuning cimport LEAST_ABOVE
from gopfast.search.types cimport NO_MEMORY, STOP_INTERRUPTED, index, real

cdef index NEVER = 1 << 62      # nodes after which learning begins
cdef real MOST_WORK = 2.0 ** 53   # counts of work are kept as floats
cdef real MOST_FINITE = np.finfo(np.float64).max
cdef real MOST_SECONDS = 1e12    # of all runs


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
    return list(search.node_memory.blocks)


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
    take_progress(search, state)
    take_knowledge(search, state)
    replace_work(search, state)
    with entries.owner("primal"):
        search.incumbent.primal.restore(part("primal", state))
    with entries.owner("nodes"):
        replace_nodes(search, nodes, entries.flag(state, "search.dives"))
    search.unopened = search.n_batches == 0
    if search.unopened and (search.tree.n_open or blocks):
        raise entries.EntryError("search.n_batches is 0, but there are nodes")
    # that of every open node is smaller
    search.tree.n_created = entries.count(state, "search.n_created", search.tree.n_created)
    search.node_memory.blocks = [tuple(block) for block in blocks]
    search.node_memory.follow()
    if search.incumbent.upper < INFINITY and (
            search.least_bound > search.incumbent.upper + LEAST_ABOVE * (1 + fabs(search.incumbent.upper))
            and min(search.closed, search.tree.least()) < INFINITY):
        raise entries.EntryError("search.closed, or the bounds of the nodes, exceed incumbent.upper")
    search.restored = True
    search.begun = not search.unopened


def best(Search search):
    """The incumbent's objective, and its solution vector."""
    return search.incumbent.upper, np.array(search.incumbent.solution)


def named(owner, arrays):
    """Names with their owner."""
    return {f"{owner}.{name}": np.asarray(value) for name, value in arrays.items()}


def part(owner, state):
    """An owner's arrays, without its name."""
    return {name.partition(".")[2]: value for name, value in state.items() if name.startswith(f"{owner}.")}


cdef fill(real[::1] out, state, name, bint nan=False):
    """Numbers of the same shape."""
    np.asarray(out)[:] = entries.array(state, name, (out.shape[0],), nan=nan)


cdef fill_finite(real[::1] out, state, name):
    """Finite numbers of the same shape."""
    np.asarray(out)[:] = entries.array(state, name, (out.shape[0],), "f", -MOST_FINITE, MOST_FINITE)


# The open nodes

def replace_nodes(Search search, nodes, bint dives=False):
    """These are the open nodes; of a search that dives the last arrays are the stack, in its order."""
    cdef Tree tree = search.tree
    cdef list arrays = list(nodes) if dives else []
    tree.clear()
    if dives and not arrays:
        raise entries.EntryError("of a search that dives are missing")
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
        "search.effort": np.array(counts(search)), "search.work": np.array(work(search)),
        "search.time": np.asarray(search.history.now(search.stop)), "search.history": search.history.table(),
    }


def counts(Search search):
    """Subproblems, linear programs, iterations, mixed-integer programs and passes of the nodes and local searches."""
    return (search.effort.n_subproblems, search.effort.n_lps, search.effort.n_iterations, search.effort.n_milps,
            search.effort.n_passes)


def work(Search search):
    """Calls, terms, nodes closed and gap closed by every mechanism, (n_meters, 4). Their seconds are not kept."""
    return np.array([meter.row()[:4] for meter in search.meters], dtype=np.float64).reshape(-1, 4)


def replace_work(Search search, state):
    """Take the entry that `work` made in place of what was counted so far: what was being learnt was learnt again."""
    rows = entries.array(state, "search.work", (len(search.meters), 4))
    if not ((rows[:, :3] >= 0) & (rows[:, :3] < MOST_WORK)).all():
        raise entries.EntryError("search.work must hold counts")
    for meter in search.meters:
        meter.clear()
    add_work(search, rows)


def add_work(Search search, rows):
    """Add what `work` returned."""
    for meter, row in zip(search.meters, np.asarray(rows).tolist()):
        meter.add((*map(int, row[:3]), row[3], 0.0))


cdef take_progress(Search search, state):
    search.n_nodes = entries.count(state, "search.n_nodes")
    search.n_batches = entries.count(state, "search.n_batches")  # 0: stopped before the root
    search.wait, search.waited = entries.count(state, "search.wait", 1), entries.count(state, "search.waited")
    search.closed = entries.number(state, "search.closed")
    search.rounding = entries.number(state, "search.rounding", 0)
    search.effort = no_effort()
    (search.effort.n_subproblems, search.effort.n_lps, search.effort.n_iterations, search.effort.n_milps,
     search.effort.n_passes) = entries.array(state, "search.effort", (5,), "iu", 0, entries.LARGEST).tolist()
    search.history.rows = [tuple(row) for row in entries.array(state, "search.history", (None, 5), nan=True).tolist()]
    search.history.spent = entries.number(state, "search.time", 0, MOST_SECONDS)


# What bounds follow from: the incumbent, and what was learnt

def knowledge(Search search, bint learning):
    """The incumbent, the basin and the reduction, with where its learning stands or for those who learn nothing.

    And what the relaxation has chosen for all nodes.
    """
    cdef Incumbent incumbent = search.incumbent
    cdef Domain domain = search.domain
    found = {"incumbent.upper": np.asarray(incumbent.upper), "incumbent.solution": np.array(incumbent.solution),
             "incumbent.polished": np.asarray(incumbent.polished)}
    found |= named("relaxation", search.relaxation.state())
    found |= named("domain", {
        "passes_before": domain.passes_before, "n_passes": domain.learning.n_passes, "has_box": domain.has_box,
        "box_sought_at": domain.box_sought_at, "covered_at": domain.covered_at,
        "covered_width": domain.covered_width, "start": np.array(domain.start), "cut_from": domain.cut_from,
        "looks": np.array([domain.n_looked, domain.n_gained, domain.pause, domain.paused]),
    })
    if domain.has_box:
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
    with entries.owner("relaxation"):
        search.relaxation.restore(part("relaxation", state))
    incumbent.upper = entries.number(state, "incumbent.upper")
    incumbent.polished = entries.flag(state, "incumbent.polished")
    if isfinite(incumbent.upper):
        fill_finite(incumbent.solution, state, "incumbent.solution")
    else:
        fill(incumbent.solution, state, "incumbent.solution", True)
    with entries.owner("domain"):
        domain.passes_before = entries.count(learnt, "passes_before", -1)
        domain.learning.n_passes = entries.count(learnt, "n_passes")
        domain.box_sought_at = entries.number(learnt, "box_sought_at")
        domain.covered_at = entries.number(learnt, "covered_at")
        domain.covered_width = entries.number(learnt, "covered_width", 0)
        fill(domain.start, learnt, "start")
        domain.has_box = entries.flag(learnt, "has_box")
        domain.cut_from = entries.count(learnt, "cut_from")
        domain.n_looked, domain.n_gained, domain.pause, domain.paused = entries.array(
            learnt, "looks", (4,), "iu", 0, entries.LARGEST).tolist()
    if domain.has_box:
        if basin is None:
            raise entries.EntryError("domain.has_box: this search has no box around its incumbent")
        fill(basin.low, state, "basin.low")
        fill(basin.high, state, "basin.high")
        entries.ordered("basin", np.asarray(basin.low), np.asarray(basin.high))
        basin.lower = entries.number(state, "basin.lower")
    if domain.reduction is not None:
        with entries.owner("reduction"):
            domain.reduction.restore(part("reduction", state))
        domain.version = domain.reduction.version


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
            search.node_memory.fetch(search.stop)
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
    search.node_memory.unasked = 0
    search.prepare()


def make_room(Search search):
    """See to it that what others bring back fits; False: it does not."""
    cdef index n_children = search.tree.most_children(search.orthant)
    cdef index most = search.node_memory.make(search.relaxation.batch_size, n_children, search.stop)
    if search.stop.reason == STOP_INTERRUPTED:
        raise KeyboardInterrupt
    return most > 0


def spare_nodes(Search search):
    """How many more open nodes the memory holds; a number beyond all where it has no limit."""
    if search.node_memory.memory is None:
        return NEVER
    return max(0, <index> (search.node_memory.most // search.tree.size_of(1)) - search.tree.n_open)


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
    search.node_memory.memory, search.node_memory.turn, search.node_memory.unasked = Nodes(search, most_open), 0, 0
    search.tree.n_created = int(np.max(arrays["serial"], initial=0)) + 1
    search.domain.learn_from, search.domain.cut_from = NEVER, search.tree.n_created
    search.history.rows = []
    search.n_nodes, search.n_batches, search.wait, search.waited = 0, 1 << 20, 1, 0
    search.closed, search.rounding, search.effort = INFINITY, 0, no_effort()
    search.domain.learning = no_effort()
    for meter in search.meters:
        meter.clear()
    search.told = INFINITY  # LBD is of all nodes: of a part nothing is told
    search.restored = True


def end_part(Search search):
    """What `begin_part` led to: bounds and counts, the incumbent, and the nodes that are left, as arrays by name.

    And where the incumbent is a ray, the primal's, which has it.
    """
    ray = named("primal", search.incumbent.primal.state()) if search.incumbent.upper == -INFINITY else {}
    return {
        **ray,
        "closed": min(search.closed, search.domain.removed()), "rounding": search.rounding,
        "n_nodes": search.n_nodes, "effort": counts(search), "work": work(search), "upper": search.incumbent.upper,
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
    search.effort.n_iterations += counted[2]
    search.effort.n_milps += counted[3]
    search.effort.n_passes += counted[4]
    add_work(search, found["work"])
    for arrays in found["nodes"]:
        take_back(search, arrays)
    fill(incumbent.trial, found, "solution", True)
    if not incumbent.offer(found["upper"]):
        return False
    if incumbent.upper == -INFINITY:
        with entries.owner("primal"):
            incumbent.primal.restore(part("primal", found))
    return True


def learn_and_report(Search search):
    """What a batch ends with; the reason to stop, or 0."""
    search.tell_gain()
    search.learn()
    search.report()
    search.stop.poll(0)
    return search.stop.reason
