"""Linear inequalities times the distances of variables from their bounds, as rows between products.

Theory: (X4) of docs/theory/biconvex.md.
"""

from gopfast.biconvex.tuning import MOST_NEW
from gopfast.search.mechanism import Mechanism


class LiftedInequalities(Mechanism):
    """Lifted inequalities; a call is a round of those that a program of the root violates."""

    name, theory = "lifted_inequalities", "(X4)"
    what = "multiplies linear inequalities of biconvex problems by distances from bounds, where that adds few products"
    hands_over = ("cuts",)
    back_off = "at the root alone, in rounds of what its programs violate; nodes have the rows that it needed"
    # a proof is written by a search of its own, of the problem as it is
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Return True: which inequalities there are is known once the core is made."""
        return True


def is_worth(n_new, n_terms, is_mixed):
    """
    Whether an inequality times a variable closes more than it costs.

    Parameters
    ----------
    n_new : int
        Of its products, those that the problem has not.
    n_terms : int
    is_mixed : bool
        Whether the variable is connected with one that is on both sides: products make no two groups there.
    """
    return not is_mixed and n_new <= MOST_NEW * n_terms
