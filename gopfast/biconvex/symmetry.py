"""Symmetries of a problem: permutations and reflections of its variables, and rows that keep one image of each point.

A variable is the middle of its interval and a rest t; its *literals* are t and -t, numbers 2 i and 2 i + 1. A symmetry
permutes literals so that bounds, objective and the set of rows stay what they are, compared in rational numbers.
Symmetries are looked for by refining classes of literals by the terms that they are in, in two copies of the problem,
after a literal was told apart from all others in each; what this pairs is a guess, which counts if it is one. Where
fingerprints tell all literals apart (`fingerprints`) nothing is looked for.

Theory: (XL2) of docs/theory/linear_forms.md.
"""

import math
from collections import Counter
from fractions import Fraction

from gopfast.biconvex import fingerprints
from gopfast.biconvex.interruption import check
from gopfast.biconvex.outward import below
from gopfast.biconvex.problem import terms_of
from gopfast.biconvex.tuning import MOST_SYMMETRIC_TERMS, MOST_SYMMETRY_WORK
from gopfast.search.mechanism import Mechanism


class Symmetry(Mechanism):
    """Rows that one image of every point meets, under the symmetries of the problem."""

    name, theory = "symmetry", "(XL2)"
    what = "keeps one of the images of each point under permutations and reflections that a biconvex problem allows"
    hands_over, back_off = ("cuts",), "once"
    # a proof is written by a search of its own, of the problem as it is
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Where variables have bounds, with known middles, no partition is named, terms are few, and no functions."""
        problem = plan.problem
        is_bounded = bool((abs(problem.lower) < math.inf).all() and (abs(problem.upper) < math.inf).all())
        n_terms = problem.A.nnz + problem.Q.nnz + sum(row.Q.nnz for row in problem.quadratic_rows)
        return is_bounded and plan.is_free and n_terms <= MOST_SYMMETRIC_TERMS

    @staticmethod
    def make(plan, stop=None):
        """Return rows (coefficients, lower bound); none where there is no symmetry. Raises Stopped."""
        with plan.meter(Symmetry):
            check(stop)
            if fingerprints.all_differ(plan.problem):
                return []
            centred = Centred(plan.problem, stop)
            return centred.rows(centred.levels())


class Centred:
    """
    A problem in the distances of its variables from the middles of their intervals.

    Attributes
    ----------
    middles, radii : list of Fraction
    objective : dict
        Pairs i <= j of variables, -1 standing for 1, -> Fraction; minimised or maximised.
    slacks : list of dict
        Polynomials of the same kind that are not negative at feasible points; of an equation two.
    size : int
        Number of terms.
    """

    def __init__(self, problem, stop=None):
        self.stop = stop
        ends = list(zip(problem.lower.tolist(), problem.upper.tolist(), strict=True))
        self.n = problem.n_variables
        self.middles = [(Fraction(a) + Fraction(b)) / 2 for a, b in ends]
        self.radii = [(Fraction(b) - Fraction(a)) / 2 for a, b in ends]
        self.objective = self._centred(enumerate(problem.c.tolist()), _terms(problem.Q))
        self.slacks = []
        for r, bounds in enumerate(zip(problem.row_lower.tolist(), problem.row_upper.tolist(), strict=True)):
            part = slice(*problem.A.indptr[r : r + 2])
            linear = zip(problem.A.indices[part].tolist(), problem.A.data[part].tolist(), strict=True)
            self._add(self._centred(linear, []), *bounds)
        for row in problem.quadratic_rows:
            self._add(self._centred(enumerate(row.a.tolist()), _terms(row.Q)), row.lower, row.upper)
        self.known = Counter(frozenset(slack.items()) for slack in self.slacks)
        self.size = len(self.objective) + sum(map(len, self.slacks))
        self.work = 0

    def _centred(self, linear, products):
        check(self.stop)
        found = Counter()
        for i, a in linear:
            a = Fraction(a)
            found[-1, i] += a
            found[-1, -1] += a * self.middles[i]
        for i, j, a in products:
            a, x, y = Fraction(a), self.middles[i], self.middles[j]
            found[i, j] += a
            found[-1, i] += a * y
            found[-1, j] += a * x
            found[-1, -1] += a * x * y
        return {pair: a for pair, a in found.items() if a}

    def _add(self, polynomial, lower, upper):
        for sign, bound in ((1, lower), (-1, upper)):
            if math.isfinite(bound):
                slack = Counter({pair: sign * a for pair, a in polynomial.items()})
                slack[-1, -1] -= sign * Fraction(bound)
                self.slacks.append({pair: a for pair, a in slack.items() if a})

    def is_symmetry(self, images):
        """
        Whether moving literals to their images (2 n,) leaves the problem as it is.

        Checked in rational numbers: nothing else that is found here needs to be right.
        """
        if sorted(images) != list(range(2 * self.n)):
            return False
        if any(images[k ^ 1] != images[k] ^ 1 for k in range(2 * self.n)):
            return False
        if any(self.radii[i] != self.radii[images[2 * i] // 2] for i in range(self.n)):
            return False
        if self._moved(self.objective, images) != self.objective:
            return False
        return Counter(frozenset(self._moved(slack, images).items()) for slack in self.slacks) == self.known

    def _moved(self, polynomial, images):
        found = {}
        for (i, j), a in polynomial.items():
            places = []
            for k in (i, j):
                literal = -2 if k < 0 else images[2 * k]
                places.append(literal // 2)
                a = -a if k >= 0 and literal % 2 else a
            found[min(places), max(places)] = a
        return found

    # Classes of literals

    def levels(self):
        """
        Return base literals, one for each level, and symmetries found there, which leave all bases before as they are.

        Returns
        -------
        list of (int, list of list of int)
        """
        self._prepare()
        fixed, found = [], []
        while self.work < MOST_SYMMETRY_WORK:
            colours = self._refined(fixed)
            sizes = Counter(colours)
            base = max(range(2 * self.n), key=lambda k: (sizes[colours[k]] if k not in fixed else 0, -k))
            if sizes[colours[base]] == 1:
                break
            generators = []
            for other in (k for k in range(2 * self.n) if colours[k] == colours[base] and k != base):
                if self.work >= MOST_SYMMETRY_WORK:
                    break
                if other not in orbit(base, generators):
                    images = self._pairing([*fixed, base], [*fixed, other])
                    if images is not None and self.is_symmetry(images):
                        generators.append(images)
            found.append((base, generators))
            fixed.append(base)
        return found

    def _prepare(self):
        """Write coefficients as signed whole numbers, equal where they are, and name the terms of each literal."""
        values = sorted({abs(a) for p in (self.objective, *self.slacks) for a in p.values()})
        rank = {a: k + 1 for k, a in enumerate(values)} | {-a: -k - 1 for k, a in enumerate(values)}
        self.parts = []
        for kind, p in [(1, self.objective), *((0, slack) for slack in self.slacks)]:
            constant = rank.get(p.get((-1, -1)), 0)
            terms = [(i, j, rank[a]) for (i, j), a in p.items() if j >= 0]
            self.parts.append(((kind, constant), terms))
        radii = {radius: k for k, radius in enumerate(sorted(set(self.radii)))}
        self.first = [radii[self.radii[k // 2]] for k in range(2 * self.n)]
        self.numbers, self.refined = {}, {}

    def _refined(self, told_apart):
        """Colours (2 n,) of literals, of which some are told apart from all others in this order."""
        known = self.refined.get(tuple(told_apart))
        if known is not None:
            return known
        order = {k: place + 1 for place, k in enumerate(told_apart)}
        colours = [self._number(("first", self.first[k], order.get(k, 0))) for k in range(2 * self.n)]
        n_classes = 0
        while len(set(colours)) > n_classes:
            check(self.stop)
            n_classes = len(set(colours))
            self.work += self.size + self.n
            signs = [[] for _ in range(2 * self.n)]
            for head, terms in self.parts:
                seen = [(self._term(i, j, a, colours), i, j) for i, j, a in terms]
                colour = self._number((head, *sorted(own for own, _, _ in seen)))
                for (i, j, a), _ in zip(terms, seen, strict=True):
                    for k in {i, j} - {-1}:
                        other = j if k == i else i
                        for sign in range(2):
                            signs[2 * k + sign].append((colour, *self._beside(a, sign, k == i == j, other, colours)))
            colours = [self._number((colours[k], colours[k ^ 1], *sorted(signs[k]))) for k in range(2 * self.n)]
        self.refined[tuple(told_apart)] = colours
        return colours

    def _beside(self, a, sign, is_square, other, colours):
        """Return what a literal sees of a term: coefficient and other literal, or both with the other sign."""
        if is_square:
            return (0, a, 0)
        a = -a if sign else a
        return (1, a, 0) if other < 0 else (2, *min((a, colours[2 * other]), (-a, colours[2 * other + 1])))

    def _term(self, i, j, a, colours):
        if i == j:
            return (0, a, *sorted((colours[2 * i], colours[2 * i + 1])))
        own = [(a if not s else -a, colours[2 * j + s]) for s in range(2)]
        if i < 0:
            return (1, *min(own))
        signs = [(a * (1 - 2 * (s ^ t)), *sorted((colours[2 * i + s], colours[2 * j + t]))) for s in range(2)
                 for t in range(2)]  # fmt: skip
        return (2, *min(signs))

    def _number(self, key):
        return self.numbers.setdefault(key, len(self.numbers))

    def _pairing(self, ones, others):
        """Images (2 n,) that a refinement of two copies pairs, with literals told apart in each, or None."""
        ones, others = list(ones), list(others)
        while self.work < MOST_SYMMETRY_WORK:
            left, right = self._refined(ones), self._refined(others)
            sizes = Counter(left)
            if sizes != Counter(right):
                return None
            places = {}
            for k, colour in enumerate(right):
                places.setdefault(colour, []).append(k)
            shared = [k for k in range(2 * self.n) if sizes[left[k]] > 1]
            if not shared:
                return [places[colour][0] for colour in left]
            k = shared[0]
            alike = places[left[k]]
            ones.append(k)
            others.append(k if k in alike else alike[0])
        return None

    def rows(self, levels):
        """Return rows (coefficients, lower bound): the base of each level is the greatest of its orbit."""
        found = []
        for number, (base, _) in enumerate(levels):
            generators = [images for _, own in levels[number:] for images in own]
            for other in sorted(orbit(base, generators) - {base}):
                # s (z_i - m_i) >= r (z_j - m_j)
                row, bound = Counter(), Fraction(0)
                for literal, sign in ((base, 1), (other, -1)):
                    i, sign = literal // 2, -sign if literal % 2 else sign
                    row[i] += float(sign)
                    bound += sign * self.middles[i]
                found.append(({i: a for i, a in row.items() if a}, below(bound)))
        return found


def orbit(literal, generators):
    """Return the literals that symmetries move one to, in any order and number."""
    found, new = {literal}, [literal]
    while new:
        k = new.pop()
        for images in generators:
            if images[k] not in found:
                found.add(images[k])
                new.append(images[k])
    return found


def _terms(Q):
    return zip(*(part.tolist() for part in terms_of(Q)), strict=True)
