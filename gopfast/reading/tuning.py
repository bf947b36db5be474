"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [numbers] What a field stands for.

# of a field, in an error | characters | [1, inf) | not measured
LONGEST_SHOWN = 40

# [table] Numbers of a file.

# in an error | names | [1, inf) | not measured
MAX_NAMES_SHOWN = 12
# from which a column that counts them is no chance | rows | [2, inf) | argument: a column of four whole numbers may be
# 1, 2, 3, 4 by chance
LEAST_COUNTED = 5
