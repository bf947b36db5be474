"""Bounds of a few variables by linear programs in nodes.

Theory: (X7) of docs/theory/biconvex.md.
"""

from gopfast.search.mechanism import Mechanism


class NodeBounds(Mechanism):
    """Linear programs for bounds of variables in nodes; a call is a node."""

    name, theory = "node_bounds", "(X7)"
    what = "bounds a few variables of biconvex nodes by linear programs over the rows that hold the node's solution"
    hands_over = ("bounds of nodes", "closed nodes")
    back_off = "where forms have tangents, where hardly more variables than those are in products, and without a cutoff"
    # a proof is written by a search of its own, of the problem as it is
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Return True: which forms and products there are is known once the core is made."""
        return True
