"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [chunks, parts] Data that come in chunks.

# of a block: what is in memory as float64 at a time, whatever the chunks | rows | [1, inf) | not measured
ROWS = 65_536

# [chunks] Data that come in chunks.

# lengths of chunks that are kept | lengths | [0, inf) | argument: their memory, some 30 bytes each
MOST_LENGTHS = 1_000_000

# [parts] Passes of workers.

# of ROWS rows, in a part: some hundredths of a second | blocks | [1, inf) | not measured
BLOCKS = 16
# that say how data are opened: more are data | bytes | [1, inf) | not measured
MOST_SENT = 2**20

# [readers] Files that workers open.

# at each end of a range, by which a worker knows that it has opened the same file | rows | [1, inf) | not measured
EDGE = 16

# [squares] Sums of squares.

# that are squared at a time, below what OpenBLAS divides | numbers | [1, inf) | docs/notebook/small_problems.md
BLOCK = 8_192

# [summary] Grids that summarise the samples. Any grid gives a bound (I1).

# grid step | standard deviations of a component | (0, inf) | not measured
COARSEST = 0.5
# of data too wide for COARSEST: what a wider one loses makes it useless | standard deviations of a component |
# (0, inf) | not measured
WIDEST_STEP = 1.0
# from one level to the next, of the number of steps | factor | [2, 16] | not measured
REFINEMENT = 3
# by which a level must have fewer points than the samples | factor | [1, inf) | not measured
SMALLEST_SAVING = 2
# of any grid | cells | [1, 2**31) | argument: their memory, 12 bytes each
MOST_CELLS = 4_000_000
# of which there are grids: a cell has 2^d corners | columns | [1, 3] | argument: the kernel takes three
MOST_FEATURES = 3
# of which there is a summary | samples | [1, inf) | not measured
FEWEST_SAMPLES = 256

# [ties] Samples of one value.

# that a look for ties is worth | samples | [1, inf) | not measured
MOST_SAMPLES = 20_000
# of a column, and of whole rows | groups | [0, inf) | not measured
MOST_GROUPS = 6
# by which a group outweighs the average sample | factor | [1, inf) | not measured
LEAST_EXCESS = 2.0
