"""What local searches may take of the programs of a tree.

Theory: (X9) of docs/theory/biconvex.md.
"""

from gopfast.search.mechanism import Mechanism


class LocalBudget(Mechanism):
    """The share of programs and simplex iterations that local searches have; a call is a search that is left out."""

    name, theory = "local_budget", "(X9)"
    what = "leaves out local searches of biconvex problems that would take more than a share of all simplex iterations"
    hands_over, back_off = ("incumbents",), "while there is no incumbent, and once nodes have taken as much again"
    # a proof is written by a search of its own, of the problem as it is
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Return True."""
        return True
