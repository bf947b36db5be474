"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [history] The rows of a search's history.

# beyond, every other row goes: a search of hours must not spend its memory on them | rows | [2, inf) | argument: their
# memory
MOST_ROWS = 20_000

# [distributed] Parts of a search that workers take.

# before the first part is handed out, at least: small problems are done by then | seconds | [0, inf) | not measured
ALONE = 0.5
# of work in a part | seconds | (0, inf) | not measured
PART = 1.0
# the same where there are few open nodes | seconds | (0, inf) | not measured
SHORT_PART = 0.25
# of its time that one process may spend on handing out: where it would take more, parts are longer | part | (0, 1) |
# not measured
BUSY = 0.5
# handed out at a time for each worker | parts | [1, inf) | not measured
PARTS = 2
# open nodes from which many workers do more than one: they make those for each other | nodes | [1, inf) | not measured
FIRST = 64
# most in a part | nodes | [1, inf) | not measured
NODES = 256
# for which a part has room, however little there is | nodes | [1, inf) | not measured
FEWEST_OPEN = 128
# and however much: with as many it goes depth first, so that not too many travel back | nodes | [1, inf) | not measured
MOST_OPEN = 1024
# between two looks at how many workers there are: some join late | seconds | [0, inf) | not measured
RECOUNT = 5.0
# of what was learnt that go with every part | bytes | [0, inf) | not measured
SMALL = 2**16

# [distributed, task_pool] Workers.

# between two looks at limits and signals | seconds | [0, 1] | not measured
POLL = 0.05
# of parts one after another, for each worker, before the search goes on alone | failures | [0, inf) | not measured
MOST_FAILURES = 3

# [interrupts] Ctrl-C.

# after one that ended a solve another one ends the program, in whichever solve it comes | seconds | [0, inf) |
# argument: as quickly as who means it presses
AGAIN = 1.0

# [memory] The memory that a search may take.

# of what is free when it is first asked for, by default | part | (0, 1) | argument: what `gopfast.solve` promises of
# `memory_limit`
SHARE = 0.8
# of open nodes, below which nobody looks for the default: it takes longer than small searches | bytes | [0, inf) |
# not measured
UNASKED = 2**20
# taken to be free where the system does not tell (Windows) | bytes | (0, inf) | argument: few machines have less
UNTOLD = 2**31

# [task_pool] Tasks of workers.

# handed out, for each worker: what is not yet taken stays in memory | tasks | [1, inf) | not measured
AHEAD = 2
