"""
A bound of mixtures whose components share a parameter, by mixtures in which it is fixed.

For responsibilities r with the best means let s be a statistic of them and R the rest of the objective, such that

    f = phi(s) + R,          H(alpha) = min over r of R + alpha s,

phi increasing, and H(alpha) the optimum of a mixture whose shared parameter is fixed: of Gaussian components of known
variance. Any lower bound beta of H(alpha) is a line below R, R >= beta - alpha s, so that

    f >= min over s of phi(s) + max over lines of (beta - alpha s):

a function of one number, concave between the lines' crossings, so that its least value is at one of those. A line is
added where that value lies, at alpha = phi'(s), or the search behind a line goes on.

Theory: (T2) and (T3) of docs/theory/shared.md.
"""

import math
import time
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.shared.margins import SUM
from gopfast.mixtures.shared.tuning import (
    APART,
    EXACT,
    FARTHEST,
    LINE_FIRST_NODES as FIRST_NODES,
    LINE_VAGUE as VAGUE,
    MOST_LINES,
    SAME,
    SOLVING,
    TURN,
)
from gopfast.result import Status
from gopfast.roundoff import ROUND
from gopfast.search.meter import total_terms


class Line(NamedTuple):
    """R >= beta - alpha s; `of` is the search behind it."""

    alpha: float
    beta: float
    of: "FixedSearch | None" = None

    def at(self, s):
        """Return the value at s, rounded down."""
        return self.beta - self.alpha * s - 4 * ROUND * (abs(self.beta) + self.alpha * s)


class Crossing(NamedTuple):
    """Where phi + R can be least: the bound there, s, and the line that it is of."""

    bound: float
    s: float
    line: Line


class FixedSearch:
    """
    Branch and bound of the mixture in which the shared parameter is fixed.

    Parameters
    ----------
    alpha : float
    family : Family
        Of that mixture.
    shift : float
        What H is more than its objective.
    epsilon : float
    plan : callable (family) -> MixturePlan
        What is at work in the search of a mixture.
    first_nodes : int
        Nodes at first, and at least so many more each time that it goes on.
    learns : bool
        Whether anything is learnt beside its tree.
    **primal
        Options of its `MixturePrimal`.

    Attributes
    ----------
    done : bool
        Whether its optimum is proved.
    is_over : bool
        Whether it can say no more.
    rough : float
        Nats that its bound may lose in the end.
    lost : float
        Nats, about, that its problem is less than the mixture.
    part : float
        Of the samples that its points are as many as: so much of a pass over them counts.
    spared : bool
        Whether it may lose more than others, as its optimum is far above what was asked for.
    """

    rough, lost, part, spared, is_over = 0.0, 0.0, 1.0, False, False

    def __init__(self, alpha, family, shift, epsilon, plan, first_nodes=FIRST_NODES, learns=True, **primal):
        self.alpha, self.shift, self.first_nodes = alpha, shift, first_nodes
        self.plan = plan(family)
        self.search = self.plan.search(epsilon, learns, **primal)
        self.lower, self.upper = -math.inf, math.inf
        self.n_nodes = self.n_passes = 0
        self.done = False

    def go_on(self, deadline):
        """Bound as many nodes again as before, in a part of the time until a deadline; returns passes that it took."""
        before, seconds = self.n_passes, max(0.0, TURN * (deadline - time.monotonic()))
        reason = self.search.resume(seconds, self.n_nodes + max(self.first_nodes, self.n_nodes))
        if reason == Status.INTERRUPTED:
            raise KeyboardInterrupt
        fields, self.solution = self.search.summary()
        self.n_nodes, self.n_passes = fields["n_nodes"], fields["n_passes"]
        self.lower = max(self.lower, fields["lower_bound"])
        self.upper = fields["objective"]
        self.done = reason not in (Status.NODE_LIMIT, Status.TIME_LIMIT)
        return self.n_passes - before

    @property
    def n_terms(self):
        """Terms so far."""
        return total_terms(self.plan.meters)

    def line(self, loss):
        """Return what it has proved so far, `loss` less."""
        beta = self.lower + self.shift
        return Line(self.alpha, beta - loss - SUM * (abs(self.lower) + abs(self.shift)), self)

    @property
    def missing(self):
        """How much higher a bound can become: its own, or that of a problem which loses nothing."""
        return self.lost + (0.0 if self.done else self.upper - self.lower)


class SharedBound(Learner):
    """
    Lower bound of a mixture whose components share a parameter.

    Parameters
    ----------
    slices : object
        What the shared parameter is, see `gopfast.mixtures.shared.slices`.
    alpha : float
        Where the first line is: the shared parameter of an incumbent.
    limit : float
        What is to be proved.
    epsilon : float
        Of the whole search.
    plan : callable (family) -> MixturePlan
        As of `FixedSearch`.
    search : callable
        What makes the searches behind lines, with the first parameters of `FixedSearch`.
    """

    def __init__(self, slices, alpha, limit, epsilon, plan, search=FixedSearch):
        slices.begin()
        self.slices, self.limit, self.epsilon = slices, limit, EXACT * epsilon
        self.plan, self.search = plan, search
        self.searches, self.rough = [], not slices.exact
        self.lower, self.n_passes = -math.inf, 0
        self.next = alpha

    def step(self, deadline):
        """Do one thing more, until `deadline` of the monotonic clock; whether there is more to do."""
        if self.rough:
            self.slices.refine(deadline)
            self.rough = False
        if self.next is not None:
            self.searches.append(self._search(self.next))
            chosen = self.searches[-1]
        elif self.chosen is not None:
            chosen = self.chosen
        else:
            return False
        before = chosen.n_terms
        self.n_passes += chosen.go_on(deadline)
        self.n_terms += chosen.n_terms - before
        least = self.least()
        self.lower = max(self.lower, least.bound)
        self.next, self.chosen = self._choose(least)
        if not self.slices.exact and len(self.searches) >= MOST_LINES:
            return False
        return self.next is not None or self.chosen is not None

    def _search(self, alpha):
        return self.search(alpha, self.slices.family(alpha), self.slices.shift(alpha), self.epsilon, self.plan)

    def lines(self):
        """Return the lines, the flattest first."""
        found = [search.line(self.slices.loss(search.alpha)) for search in self.searches]
        usable = [line for line in found if line.beta > -math.inf]
        return sorted([Line(0.0, 0.0), *usable], key=lambda line: (line.alpha, line.beta))

    def least(self):
        """Return the crossing of the least value."""
        lines = envelope(self.lines())
        low, high = self.slices.least, self.slices.most
        for line in lines[1:]:
            # R is at most the entropy of K equal parts
            low = max(low, (line.at(0.0) - self.slices.largest_rest) / line.alpha * (1 - 1e-12))
        low = min(low, high)
        knots = [cross(*pair) for pair in zip(lines, lines[1:], strict=False)]
        # the steepest line bounds the smallest s
        ends = np.clip([low, *knots[::-1], high], low, high)
        found = []
        for line, start, end in zip(lines[::-1], ends, ends[1:], strict=False):
            if not end > start:
                continue
            # beyond a finite end phi rises and the line is level
            inner = [s for s in self.slices.breaks if start < s < end]
            points = [float(start), *inner, *[float(end)] * math.isfinite(end)]
            found += [self._crossing(s, line) for s in points]
        if not found:  # one point is left
            line = max(lines, key=lambda line: line.at(low))
            found = [self._crossing(float(low), line)]
        return min(found, key=lambda crossing: crossing.bound)

    def _crossing(self, s, line):
        bound = self.slices.phi(s) + line.at(s)
        return Crossing(-math.inf if math.isnan(bound) else bound, s, line)  # what overflows proves nothing

    def _choose(self, least):
        """Return the slope of a new line, or a search that goes on, or neither."""
        if least.bound >= self.limit:
            return None, None
        lacks = self.limit - least.bound
        going = [search for search in self.searches if not (search.done or search.is_over)]
        vague = [search for search in going if search.missing > VAGUE * self.slices.largest_rest]
        if vague:  # better known, it rules out small s by itself
            return None, min(vague, key=lambda search: search.n_nodes)
        # which search would prove most at s, if it ended where its incumbent is
        best, reach = None, 0.0
        here = max(line.at(least.s) for line in self.lines())
        for search in going:
            value = search.upper + search.shift - search.alpha * least.s - here
            if value > reach:
                best, reach = search, value
        steepest = max(search.alpha for search in self.searches)
        wanted = [min(self.slices.slope(least.s), FARTHEST * steepest)]
        if not self.slices.exact:  # phi touches where no mixture is: its slope is not that of R
            wanted += beside(least.line.alpha or steepest, [search.alpha for search in self.searches])
        same = SAME if self.slices.exact else APART
        new = [alpha for alpha in wanted if all(abs(alpha - old.alpha) > same * alpha for old in self.searches)]
        if new and not reach > SOLVING * lacks:
            return new[0], None
        if best is None:
            best = max(going, key=lambda search: search.missing, default=None)
        return None, best


def beside(alpha, known):
    """Return slopes between alpha and its neighbours of those known, or beyond them: the steeper one first."""
    steeper, flatter = [a for a in known if a > alpha], [a for a in known if a < alpha]
    return [
        math.sqrt(alpha * min(steeper)) if steeper else 2.0 * alpha,
        math.sqrt(alpha * max(flatter)) if flatter else 0.5 * alpha,
    ]


def cross(flat, steep):
    """Return about where two lines cross."""
    return (steep.beta - flat.beta) / (steep.alpha - flat.alpha)


def envelope(lines):
    """Of lines by rising slope, return those that are the largest somewhere."""
    kept = []
    for line in lines:
        if kept and kept[-1].alpha == line.alpha:
            if kept[-1].beta >= line.beta:
                continue
            kept.pop()
        while len(kept) > 1 and cross(kept[-1], line) >= cross(kept[-2], kept[-1]):
            kept.pop()
        kept.append(line)
    return kept
