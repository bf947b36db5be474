"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [crossed] Latent classes with a free variable.

# of all components (k, a): the Newton system is dense | statistics | [1, inf) | not measured
MOST_STATISTICS = 300
# of a class's parameters that the free variable has at least, for each class. With one item in seven boxes of three
# classes are hardly fewer, and the box around the incumbent, which is one of all parameters, closes more of them |
# part | (0, 1) | docs/notebook/latent_classes.md
CROSSED_LEAST_SHARE = 0.06
