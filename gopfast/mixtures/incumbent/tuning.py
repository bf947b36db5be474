"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [basin] The box of known variances, to the second order.

# on which a radius is looked for | points | [1, inf) | not measured
ROUGH = 250
