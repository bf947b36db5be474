"""Products of three and more variables, by variables for products of two; what they may be in a box.

A problem's terms are taken apart here and not by what wrote the proof: each variable w that is added has the row
``w = a b``, so that at every point of the user's variables there are values of the others for which all rows hold, and
terms are what they were. Which products are made is no question of truth, but of how much a proof takes.

Theory: (XP1) of docs/theory/polynomials.md.
"""

import math
from collections import Counter
from fractions import Fraction


def taken_apart(monomials, n):
    """
    Return pairs (a, b) of the variables that are added, and of every longer monomial the two factors that are left.

    Parameters
    ----------
    monomials : iterable of tuple of int
        Factors by number, from 1; 0 stands for 1. Those of two stay.
    n : int
        The last variable's number.
    """
    left = {key: [i for i in sorted(key) if i] for key in set(monomials)}
    pairs = []
    while True:
        long = [key for key, factors in left.items() if len(factors) > 2]
        if not long:
            return pairs, {key: tuple(factors) for key, factors in left.items() if len(key) > 2}
        votes = Counter()
        for factors in left.values():
            votes.update(_pairs_in(factors))
        found = {pair for key in long for pair in _pairs_in(left[key])}
        a, b = min(found, key=lambda pair: (-votes[pair], pair[0] != pair[1], pair))
        pairs.append((a, b))
        for key in long:
            factors = left[key]
            for _ in range(_pairs_in(factors).get((a, b), 0)):
                factors.remove(a)
                factors.remove(b)
                factors.append(n + len(pairs))


def common_factor(terms):
    """
    Return a factor that a sum's terms have in common, and the affine function that it is multiplied with.

    Parameters
    ----------
    terms : dict
        Pairs i <= j of variables by number, from 1, and 0 for 1 -> coefficient.

    Returns
    -------
    (int, dict) or None
        None if there is none, and of one term. The function: variables, 0 for its constant -> coefficient.
    """
    pairs = [pair for pair, a in terms.items() if a != 0]
    shared = set.intersection(*map(set, pairs)) - {0} if len(pairs) > 1 else set()
    for factor in sorted(shared):
        return factor, {pair[0] if pair[1] == factor else pair[1]: terms[pair] for pair in pairs}
    return None


def range_of_sum(terms):
    """Least and greatest sum of multiples of numbers of intervals, ((low, high), coefficient) each, rounded outward."""
    ends = [Fraction(0), Fraction(0)]
    for interval, a in terms:
        products = [_product(x, a) for x in interval]
        ends = [_sum(end, own) for end, own in zip(ends, (min(products), max(products)), strict=True)]
    return rounded(ends[0], -math.inf), rounded(ends[1], math.inf)


def _sum(x, y):
    return x if isinstance(x, float) else y if isinstance(y, float) else x + y


def _pairs_in(factors):
    """How often each pair of factors can be taken out."""
    count = Counter(factors)
    found = {}
    for a in count:
        for b in count:
            if a < b:
                found[a, b] = min(count[a], count[b])
        if count[a] > 1:
            found[a, a] = count[a] // 2
    return found


def range_of(a, b, is_square):
    """Least and greatest product of numbers of two intervals, or square of one, rounded outward."""
    ends = [_product(x, y) for x, y in zip(a, a, strict=True)] if is_square else [_product(x, y) for x in a for y in b]
    if is_square and a[0] <= 0 <= a[1]:
        ends.append(Fraction(0))
    return rounded(min(ends), -math.inf), rounded(max(ends), math.inf)


def _product(x, y):
    if x == 0 or y == 0:
        return Fraction(0)
    return x * y if math.isinf(x) or math.isinf(y) else Fraction(x) * Fraction(y)


def rounded(exact, towards):
    """Round in a direction."""
    try:
        near = float(exact)
    except OverflowError:
        near = math.inf if exact > 0 else -math.inf
    return near if near == exact or (near < exact) == (towards < 0) else math.nextafter(near, towards)
