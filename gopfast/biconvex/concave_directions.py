"""Directions in which forms are concave: variables for them, where they are few; what is left is convex.

A form of n variables with k negative eigenvalues is a convex form less k squares of linear forms. As n (n + 1) / 2
products each of them is bounded by itself, and all n variables may have to be divided; with a variable d_k = w_k'z for
each square the products are those squares, and k variables are divided.

For a direction u with u'Qu < 0 and w = Q u the matrix Q + mu w w' has one negative eigenvalue less from mu = 1 / |u'Qu|
on, be Q singular or not. u is the eigenvector of the least eigenvalue; any near it does. Coefficients are rounded, and
what that may change over the box loosens the objective or the row.

Pardalos & Rosen 1987 (few concave directions); Fampa, Lee & Melo 2017 (splittings by eigenvectors compared).

Theory: (XL3) of docs/theory/linear_forms.md.
"""

from fractions import Fraction

import numpy as np

from gopfast.biconvex.forms import components, dense, is_convex, is_nearly_semidefinite
from gopfast.biconvex.margins import EIGENVALUE_TOL, RESIDUE
from gopfast.biconvex.partition import find
from gopfast.biconvex.squared_forms import expressions_of, with_variables
from gopfast.biconvex.tuning import EXCESS_OF_SQUARES, MOST_DIRECTED_ENTRIES, MOST_DIRECTIONS, VARIABLES_EACH
from gopfast.search.mechanism import Mechanism


class ConcaveDirections(Mechanism):
    """Variables for the few directions in which forms are concave."""

    name, theory = "concave_directions", "(XL3)"
    what = "gives the directions in which forms of biconvex problems are concave, where they are few, a variable each"
    hands_over, back_off = ("bounds of nodes",), "once"
    # a proof is written by a search of its own, of the problem as it is
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Where variables have bounds, the groups of them are the search's to choose, and none is a function."""
        problem = plan.problem
        is_bounded = bool(np.isfinite(problem.lower).all() and np.isfinite(problem.upper).all())
        return is_bounded and plan.is_free and problem.x is None and problem.y is None

    @staticmethod
    def make(plan):
        """Return the problem with such variables, or None where there are none, or too many."""
        with plan.meter(ConcaveDirections):
            return divided(plan.problem)


def divided(problem):
    """
    Return a problem with variables for its concave directions.

    All that is not convex must have such directions: products beside them, of the same variables, would be bounded
    apart from them. No row may be convex and not linear: the dual that it has may be exact. Nor may products of a form
    make two groups: such a form is bilinear, and convex in either.

    Parameters
    ----------
    problem : BiconvexProblem
        With bounds of all variables.

    Returns
    -------
    SquaredProblem or None
        None where it is convex, has a convex row, a bilinear form or too many directions.
    """
    n, expressions = problem.n_variables, expressions_of(problem)
    if sum(len(expression.terms) for expression in expressions) > MOST_DIRECTED_ENTRIES:
        return None
    largest = [Fraction(a) for a in np.maximum(abs(problem.lower), abs(problem.upper)).tolist()]
    terms, losses, forms = [], [], []
    for number, expression in enumerate(expressions):
        own, loss = {}, Fraction(0)
        for part in components(expression.terms):
            sign = -1 if expression.rises else 1
            signed = {pair: sign * float(a) for pair, a in part.items()}
            if (both := expression.rises and expression.falls) or not is_convex(signed):
                members = sorted({i for pair in part for i in pair})
                is_bilinear = not find(part, n, ()).copies
                found = None if both or is_bilinear else directions(dense(signed))
                if not found or len(forms) + len(found) > MOST_DIRECTIONS:
                    return None
                signed, off = _without(part, sign, members, found, largest)
                loss += off
                if not all(map(is_convex, components(signed))):
                    return None
                for w, mu in found:
                    signed[n + len(forms), n + len(forms)] = -mu
                    forms.append({i: a for i, a in zip(members, w.tolist(), strict=True) if a})
            elif number > 0:
                # with the multiplier of a convex row the problem as it is may be convex (X12)
                return None
            own |= {pair: Fraction(sign * a) for pair, a in signed.items() if a}
        terms.append(own)
        losses.append(loss)
    return with_variables(problem, terms, forms, losses) if forms else None


def directions(Q):
    """
    Return forms and factors whose squares make a matrix positive semidefinite.

    Parameters
    ----------
    Q : ndarray, shape (n, n)

    Returns
    -------
    list of (ndarray, float) or None
        w and mu, Q + sum mu w w' having no negative eigenvalue but for rounding; None: they are too many.
    """
    found, most = [], min(len(Q) // VARIABLES_EACH, MOST_DIRECTIONS)
    while not is_nearly_semidefinite(Q):
        values, vectors = np.linalg.eigh(Q)
        if len(found) == most or (values < EIGENVALUE_TOL * values[0]).sum() > most - len(found):
            return None
        u = vectors[:, 0]
        w = Q @ u
        # a power of two, so that coefficients are near 1
        size = 2.0 ** np.round(np.log2(abs(w).max()))
        w = np.where(abs(w) < RESIDUE * size, 0.0, w / size)
        mu = float((1 + EXCESS_OF_SQUARES) * size / abs(u @ w))
        found.append((w, mu))
        Q = Q + mu * np.outer(w, w)
    return found


def _without(part, sign, members, found, largest):
    """
    Return a form with the squares of forms added, rounded, and what rounding may change in the box.

    Parameters
    ----------
    part : dict
        (i, j), i <= j -> Fraction.
    sign : int
        Of the form that is wanted.
    members : list of int
        Variables of the form, in order.
    found : list of (ndarray, float)
        Forms, and factors of their squares.
    largest : list of Fraction
        Magnitudes of all variables.

    Returns
    -------
    dict, Fraction
        The form is at most so far off.
    """
    exact = {pair: sign * a for pair, a in part.items()}
    for w, mu in found:
        terms = [(i, Fraction(a)) for i, a in zip(members, w.tolist(), strict=True) if a]
        for k, (i, a) in enumerate(terms):
            scaled = Fraction(mu) * a
            exact[i, i] = exact.get((i, i), 0) + scaled * a
            for j, b in terms[k + 1 :]:
                exact[i, j] = exact.get((i, j), 0) + 2 * scaled * b
    least = RESIDUE * max(abs(float(a)) for a in exact.values())
    rounded = {pair: float(a) if abs(a) > least else 0.0 for pair, a in exact.items()}
    loss = sum((abs(a - Fraction(rounded[i, j])) * largest[i] * largest[j] for (i, j), a in exact.items()), Fraction(0))
    return {pair: a for pair, a in rounded.items() if a}, loss
