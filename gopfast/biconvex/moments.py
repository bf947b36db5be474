"""
Sets of variables whose products are bounded together, as positive semidefinite matrices.

Where most pairs of some variables are products the set is all of them. Where few are, all together bound little in many
cuts, and products that are added for it cost more: sets are the cliques of a chordal graph around that of the products
(Fukuda et al. 2001), found by taking out variables of least degree, if these are small; and pairs, whose cuts have five
terms.

Theory: (X4) of docs/theory/biconvex.md.
"""

from gopfast.biconvex.tuning import LEAST_DENSITY, MOST_IN_CLIQUES, MOST_IN_MOMENTS
from gopfast.search.mechanism import Mechanism


class SemidefiniteCuts(Mechanism):
    """Semidefinite cuts of sets of variables; a call is a round of them at the root."""

    name, theory = "semidefinite_cuts", "(X4)"
    what = "cuts the root of a biconvex problem by eigenvectors of matrices of products, which nodes keep if they hold"
    hands_over = ("cuts",)
    back_off = "at the root alone, while rounds raise its bound; none where linear inequalities hold the variables"
    # a proof is written by a search of its own, of the problem as it is
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Return True: whether there are sets of variables is known once the core is made."""
        return True


def sets_of(members, products):
    """
    Find sets of variables that products connect.

    Parameters
    ----------
    members : list of int
    products : iterable of (int, int)
        i <= j; of all these variables.

    Returns
    -------
    (list of list of int, list of list of int)
        Sets all of whose products are to have columns, and pairs besides, of use where both squares have.
    """
    k, pairs = len(members), sorted([i, j] for i, j in products if i != j)
    if 2 <= k <= MOST_IN_MOMENTS and len(pairs) >= LEAST_DENSITY * k * (k - 1) / 2:
        return [members], []
    cliques = [own for own in _cliques(members, pairs) if len(own) > 1]
    return cliques, [pair for pair in pairs if pair not in cliques]


def _cliques(members, pairs):
    """Return the maximal cliques of a chordal graph with these edges; none where one of them is large."""
    beside = {i: set() for i in members}
    for i, j in pairs:
        beside[i].add(j)
        beside[j].add(i)
    found = []
    while beside:
        i = min(beside, key=lambda i: (len(beside[i]), i))
        around = beside.pop(i)
        own = around | {i}
        if len(own) > MOST_IN_CLIQUES:
            return []
        if not any(own <= other for other in found):
            found.append(own)
        for j in around:
            beside[j] |= around
            beside[j] -= {i, j}
    return [sorted(own) for own in found]
