"""Polynomial models as biconvex problems: products of three and more variables by variables for products of two.

Each variable w that is made has the row ``w = a b``, a and b being variables of the model or made before. Which
products: while a monomial has more than two factors, the pair (a, b) that occurs most often, in monomials of two
factors too; of as many a square, then the pair of the variables that come first. It is replaced wherever a monomial of
more than two factors has it, so that subproducts are shared, and x^4 becomes the square of w = x x. Bounds of w are
those of the product, rounded outward. What has one or two factors stays as it is, a convex form among it.

Theory: (XP1) of docs/theory/polynomials.md.
"""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from gopfast.biconvex import intervals
from gopfast.biconvex.problem import LARGEST_NUMBER, BiconvexProblem


class Lifted(NamedTuple):
    """
    A biconvex problem that says what a polynomial model says.

    Attributes
    ----------
    problem : BiconvexProblem
        The model's variables come first, then the products.
    pairs : list of (int, int)
        The factors of each product.
    places : ndarray of int, shape (m,)
        Of the model's rows, in the problem's, where linear ones come first.
    """

    problem: BiconvexProblem
    pairs: list
    places: np.ndarray


def lifted(model):
    """
    Return the biconvex problem of a model.

    Parameters
    ----------
    model : gopfast.biconvex.composition.Model

    Returns
    -------
    Lifted
    """
    polynomials = [model.objective, *(row.polynomial for row in model.rows)]
    monomials = sorted({monomial for p in polynomials for monomial in p})
    pairs, short = shortened(monomials, len(model.names))
    bounds = list(zip(model.lower, model.upper, strict=True))
    bounds[model.n_own :] = map(_kept, bounds[model.n_own :])
    for a, b in pairs:
        bounds.append(_kept(intervals.square(bounds[a]) if a == b else intervals.times(bounds[a], bounds[b])))
    forms = [{short[monomial]: value for monomial, value in p.items()} for p in polynomials]
    rows = []
    for form, row in zip(forms[1:], model.rows, strict=True):
        shift = form.pop((), 0.0)
        rows.append((form, row.lower - shift, row.upper - shift))
    rows += [({(number,): 1.0, (a, b): -1.0}, 0.0, 0.0) for number, (a, b) in enumerate(pairs, len(model.names))]
    is_linear = np.array([max(map(len, form), default=0) < 2 for form, *_ in rows], bool)
    places = np.where(is_linear, np.cumsum(is_linear), is_linear.sum() + np.cumsum(~is_linear)) - 1
    problem = BiconvexProblem.of_polynomials(
        forms[0], rows, _names(model.names, pairs), bounds, sense=model.sense, name=model.name,
        functions=model.atoms,
    )  # fmt: skip
    return Lifted(problem, pairs, places[: len(model.rows)])


def shortened(monomials, n):
    """
    Return products of two by which monomials have two factors at most.

    Parameters
    ----------
    monomials : list of tuple
        Sorted numbers of variables, with repetition.
    n : int
        Of variables: the first product has this number.

    Returns
    -------
    list of (int, int), dict
        The pairs, and of each monomial what it is in these.
    """
    counts = {monomial: Counter(monomial) for monomial in monomials}
    pairs = []
    while any(own.total() > 2 for own in counts.values()):
        found = Counter()
        for own in counts.values():
            if own.total() > 1:
                found.update(_occurrences(own))
        # pairs that only monomials of two factors have shorten nothing
        useful = {pair for own in counts.values() if own.total() > 2 for pair in _occurrences(own)}
        a, b = min(useful, key=lambda pair: (-found[pair], pair[0] != pair[1], pair))
        number = n + len(pairs)
        pairs.append((a, b))
        for monomial, own in counts.items():
            if own.total() > 2:
                counts[monomial] = _replaced(own, a, b, number)
    return pairs, {monomial: tuple(sorted(own.elements())) for monomial, own in counts.items()}


def _occurrences(own):
    """How often each pair occurs in a monomial, disjointly."""
    factors = sorted(own)
    found = {(a, b): min(own[a], own[b]) for i, a in enumerate(factors) for b in factors[i + 1 :]}
    return found | {(a, a): own[a] // 2 for a in factors if own[a] > 1}


def _replaced(own, a, b, number):
    times = _occurrences(own).get((a, b), 0)
    left = own - Counter({a: 2 * times} if a == b else {a: times, b: times})
    return left + Counter({number: times})


def _kept(bounds):
    """Bounds of a size that a problem may have; beyond it there are none."""
    low, high = bounds
    return (low if abs(low) <= LARGEST_NUMBER else -math.inf), (high if abs(high) <= LARGEST_NUMBER else math.inf)


def _names(names, pairs):
    names = list(names)
    for a, b in pairs:
        name = f"{names[a]}*{names[b]}" if a != b else f"{names[a]}^2"
        while name in names:
            name += "_"
        names.append(name)
    return names
