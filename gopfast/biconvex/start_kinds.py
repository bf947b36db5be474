"""Kinds of starts of a biconvex problem's local searches, in the order of the compiled `start_kinds`."""

# Handed in; solutions of the relaxed dual of the whole box, and of its Lagrangians; the middle of the box; points drawn
# in it, independent of each other; points of parts of a wide box near 0; the best point known; nodes of the tree.
KINDS = ("given", "relaxed", "middle", "draws", "near 0", "best", "nodes")
GIVEN, RELAXED, MIDDLE, DRAWS, NEAR_ZERO, BEST, NODES = range(len(KINDS))
