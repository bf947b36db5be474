"""Names of the kinds of starts of a mixture's local searches, in the order of the compiled `start_kinds`."""

# Handed in; known to the family; short runs that the first long one is chosen from; draws of k-means++ and clusters of
# k-means, independent of each other; samples that are tied; components split, merged and moved; solutions crossed;
# nodes of the tree and what was learnt beside it.
KINDS = ("given", "suggested", "trials", "draws", "clusters", "ties", "moves", "crossings", "nodes")
