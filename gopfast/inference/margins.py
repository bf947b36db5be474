"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [likelihood_ratio, selection] Choice of the number of components.

# of the bound of all numbers of components, and of the cutoff of a search | the size of its terms | 8 u of a sum of few
# terms (R1), (R4)
ROUNDING = 2.0**-50
