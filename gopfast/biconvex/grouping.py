"""Groups of variables in each of which the quadratic forms of a problem are convex, where there are such groups.

Theory: (X3) of docs/theory/biconvex.md.
"""

import math
from collections import defaultdict

import numpy as np

from gopfast.biconvex.forms import dense, is_nearly_semidefinite
from gopfast.biconvex.interruption import check
from gopfast.biconvex.margins import EIGENVALUE_TOL
from gopfast.biconvex.partition import two_colouring
from gopfast.biconvex.tuning import MOST_EVALUATIONS, N_STARTS


def find(forms, products, given, stop=None):
    """
    Look for two groups such that each form is convex in each of them alone.

    Entries of a form that cannot lie in one group (a 2 x 2 minor is negative) and products join variables of
    different groups. What that leaves open is searched: sets of variables change sides while the least eigenvalues
    of the forms' blocks rise.

    Parameters
    ----------
    forms : list of dict
        (i, j), i <= j -> coefficient, none of them convex as a whole; diagonal entries nonnegative.
    products : iterable of (int, int)
        Products of the rows that take no convex forms.
    given : dict
        0 or 1 for the variables whose group is given.
    stop : StopSignal, optional

    Returns
    -------
    dict
        0 or 1 for each variable of the forms; blocks need not be convex where no groups were found.

    Raises
    ------
    Stopped
    """
    members = sorted({i for form in forms for pair in form for i in pair})
    apart, together = _edges(forms, products)
    units = _units(members, apart, given)
    blocks = [_Block(form, stop) for form in forms]
    rng = None
    left = [MOST_EVALUATIONS]
    best, least = None, math.inf
    for attempt in range(N_STARTS):
        if attempt == 1:
            rng = np.random.default_rng(0)
        colour = _start(units, together, given, attempt, rng)
        value = _descend(colour, units, blocks, given, left)
        if value < least:
            best, least = dict(colour), value
        if least == 0 or left[0] <= 0:
            break
    return {i: best[i] for i in members}


class _Block:
    """One form, for the least eigenvalues of its two blocks."""

    def __init__(self, form, stop):
        self.stop = stop
        self.members = sorted({i for pair in form for i in pair})
        self.dense = dense(form)
        self.size = abs(self.dense).max()

    def defect(self, colour):
        check(self.stop)
        total = 0.0
        for side in (0, 1):
            chosen = [k for k, i in enumerate(self.members) if colour[i] == side]
            # diagonal entries are nonnegative
            block = self.dense[np.ix_(chosen, chosen)]
            if len(chosen) > 1 and not is_nearly_semidefinite(block):
                least = np.linalg.eigvalsh(block)[0] / self.size
                total += max(0.0, -least) if least < -EIGENVALUE_TOL else 0.0
        return total


def _edges(forms, products):
    """Neighbours that must be apart, and those that may be together."""
    apart, together = defaultdict(list), defaultdict(list)
    for i, j in products:
        if i != j:
            apart[i].append(j)
            apart[j].append(i)
    for form in forms:
        for (i, j), value in form.items():
            if i != j:
                minor = form.get((i, i), 0.0) * form.get((j, j), 0.0) - 0.25 * value * value
                edges = apart if minor < 0 else together
                edges[i].append(j)
                edges[j].append(i)
    return apart, together


def _units(members, apart, given):
    """Return sets of variables tied to each other as lists of (variable, parity); conflicts are left in."""
    parity, components = two_colouring({*members, *apart}, apart, given)
    return [[(i, parity[i]) for i in component] for component in components]


def _start(units, together, given, attempt, rng):
    """Colours to start from: each unit on the side of most of its neighbours so far, then at random."""
    colour = {}
    for unit in units:
        flip = 0
        if not any(i in given for i, _ in unit):
            if attempt == 0:
                votes = sum(
                    1 if colour[j] == parity else -1 for i, parity in unit for j in together[i] if j in colour
                )
                flip = int(votes < 0)
            else:
                flip = int(rng.integers(2))
        for i, parity in unit:
            colour[i] = parity ^ flip
    return colour


def _descend(colour, units, blocks, given, left):
    """Flip the unit that helps most until none does. IN/OUT colour; returns the defect, 0: convex in each group."""
    free = [unit for unit in units if not any(i in given for i, _ in unit)]
    value = sum(block.defect(colour) for block in blocks)
    while value > 0 and left[0] > 0:
        best, least = None, value
        for unit in free:
            left[0] -= 1
            _flip(colour, unit)
            trial = sum(block.defect(colour) for block in blocks)
            _flip(colour, unit)
            if trial < least:
                best, least = unit, trial
        if best is None:
            break
        _flip(colour, best)
        value = least
    return value


def _flip(colour, unit):
    for i, _ in unit:
        colour[i] = 1 - colour[i]
