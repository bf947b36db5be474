"""What rounding can cost in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [certificate] Certificates of fits.

# width of an interval below which rounding decides and not the search | relative to 1 + the objective | thousands of u:
# what is open is said to be open (R1), (R4)
ROUNDING = 1e-12
