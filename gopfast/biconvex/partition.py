"""The groups x and y of a biconvex problem: two-colouring of its products, copies of variables where there is none.

Theory: (A1) of docs/theory/problem.md; (X8) of docs/theory/biconvex.md.
"""

from collections import defaultdict, deque
from typing import NamedTuple

from gopfast.errors import InputError


class Partition(NamedTuple):
    """
    Two groups such that every product has a factor in each.

    Attributes
    ----------
    side : dict
        0 or 1 for every variable in a product; of each connected set of products, side 0 has fewer variables.
    copies : dict
        Index of the variable that each added variable copies.
    products : dict
        Maps each product (i, j), i <= j, to its two factors, a copy in place of one where needed.
    """

    side: dict
    copies: dict
    products: dict


def find(products, n_variables, names, x=None, y=None):
    """
    Two-colour the products; break odd cycles and squares with copies of variables.

    Parameters
    ----------
    products : iterable of (int, int)
        Pairs i <= j.
    n_variables : int
        Copies are numbered from here on.
    names : sequence of str
        For messages.
    x, y : sequence of int, optional
        The groups, where the caller gives them.

    Returns
    -------
    Partition

    Raises
    ------
    InputError
        If both factors of a product are in `x`, or in `y`.
    """
    neighbours = defaultdict(list)
    for i, j in products:
        if i != j:
            neighbours[i].append(j)
            neighbours[j].append(i)
        else:
            neighbours[i]
    given = {i: colour for colour, group in enumerate((x, y)) for i in group or ()}
    for i, j in products:
        if i != j and i in given and given[i] == given.get(j):
            raise InputError(
                f"{'xy'[given[i]]} must not hold both factors of a product that is not convex; "
                f"it has {names[i]!r} and {names[j]!r}"
            )
    colour, components = two_colouring(neighbours, neighbours, given)
    copies, mapped = _break_conflicts(products, colour, n_variables)
    for copy, original in copies.items():
        colour[copy] = 1 - colour[original]
    side = {}
    owner = {i: number for number, component in enumerate(components) for i in component}
    groups = defaultdict(lambda: ([], []))
    for i, c in colour.items():
        groups[owner[copies.get(i, i)]][c].append(i)
    for first, second in groups.values():
        if len(second) < len(first):
            first, second = second, first
        side |= dict.fromkeys(first, 0) | dict.fromkeys(second, 1)
    return Partition(side, copies, mapped)


def two_colouring(members, neighbours, given):
    """
    Colour a graph breadth first, from what is given on; conflicts are left in.

    Parameters
    ----------
    members : iterable of int
        The nodes.
    neighbours : mapping of int to list of int
        Nodes that should have the other colour.
    given : dict
        0 or 1 for the nodes whose colour is given.

    Returns
    -------
    colour : dict
        0 or 1 for each node.
    components : list of list of int
        The connected nodes.
    """
    colour, components = {}, []
    for root in sorted(members, key=lambda i: i not in given):
        if root in colour:
            continue
        colour[root] = given.get(root, 0)
        queue, component = deque([root]), []
        while queue:
            i = queue.popleft()
            component.append(i)
            for j in neighbours[i]:
                if j not in colour:
                    colour[j] = given.get(j, 1 - colour[i])
                    queue.append(j)
        components.append(component)
    return colour, components


def _break_conflicts(products, colour, n_variables):
    """Make copies for one factor of every product whose factors have one colour, few of them."""
    conflicts = [(i, j) for i, j in products if colour[i] == colour[j]]
    count = defaultdict(int)
    for i, j in conflicts:
        count[i] += 1
        count[j] += 1
    copy_of, mapped = {}, {pair: pair for pair in products}
    for i, j in sorted(conflicts, key=lambda pair: pair[0] != pair[1]):
        if i in copy_of or (j not in copy_of and count[i] > count[j]):
            i, j = j, i
        copy = copy_of.setdefault(j, n_variables + len(copy_of))
        mapped[min(i, j), max(i, j)] = (i, copy)
    return {copy: original for original, copy in copy_of.items()}, mapped
