"""
What prices alone prove of a mixture in which the shared parameter is fixed, no more exactly than is asked for.

A cut of many is to be had soon, and may lose a little of what all is missing: there is no tree, only a local search,
and prices lose what is allowed in place of as little as may be.

Theory: (TF3) of docs/theory/factors.md, (P1) of docs/theory/prices.md.
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from gopfast.mixtures.shared.shared import FixedSearch
from gopfast.mixtures.shared.tuning import AS_NODES, MOST_LOST, SPARED, TURN, VAGUELY
from gopfast.search.meter import Meter


class PriceMaker(NamedTuple):
    """What makes a Learner of a plan, a solution, its objective and nats that may be lost; and its counts.

    `gathered` are those of groups in place of samples, None where samples stay what they are.
    """

    learner: Callable
    meter: Meter
    gathered: Meter | None = None


class RoughSearch(FixedSearch):
    """
    Prices of the mixture in which the shared parameter is fixed; parameters as of `FixedSearch`.

    Parameters
    ----------
    rough : float
        Nats that the bound may lose.
    prices : PriceMaker
    asked : float
        What it is asked to prove, in nats, if there is anything.
    spared : float
        Part that it may lose of what its optimum is above that.
    lost, part : float
        As of `FixedSearch`.
    lift : ndarray, shape (m,), optional
        What prices of a mixture like it were above -log p of its points.
    labels : ndarray, shape (n,), optional
        The point in whose place each sample is, where points are groups.

    Attributes
    ----------
    lift : ndarray or None
        The same of its own prices, of all samples, once it is over.
    """

    def __init__(
        self, alpha, family, shift, epsilon, plan, rough, prices, asked=math.inf, spared=SPARED, lost=0.0, part=1.0,
        lift=None, labels=None, **primal,
    ):  # fmt: skip
        super().__init__(alpha, family, shift, epsilon, plan, 0, learns=False, **primal)
        self.rough, self.prices, self.asked, self.sparing, self.lost = rough, prices, asked, spared, lost
        self.part, self.lift, self.labels = part, lift, labels
        self.bound = None

    def go_on(self, deadline):
        """Go on with prices, first of all find the solution that they begin with; returns the passes that this took."""
        now, passes = time.monotonic(), 0
        end = now + TURN * (deadline - now)
        if self.bound is None:
            passes = super().go_on(deadline)
            self.is_over = self.done  # of groups, samples may still say more
            if self.done or not math.isfinite(self.upper):
                return int(self.part * passes)
            self.n_nodes = AS_NODES
            before, optimum = self.rough, self.upper + self.shift + self.lost
            self.rough = allowed(before, optimum, self.asked, self.sparing, self._total())
            self.spared = self.rough > before
            self.bound = self.prices.learner(self.plan, self.solution, self.upper, self._tolerance(), self.lift)
        bound = self.bound
        before, terms = bound.n_passes, bound.n_terms
        with self.prices.meter:
            more = True
            while more and self.missing > self.rough and time.monotonic() < end:
                more = bound.step(deadline)  # what it does not come to in its turn it does in the next
                self.lower = max(self.lower, bound.lower)
        self.prices.meter.count(terms=bound.n_terms - terms)
        self.is_over = not more or not self.missing > self.rough
        if self.is_over:
            self.lift = getattr(bound, "lift", None)
            if self.lift is not None and self.labels is not None:
                self.lift = self.lift[self.labels]
            self.labels = None
            self.bound = self.search = None  # their memory goes
        return int(self.part * (passes + bound.n_passes - before))

    def _total(self):
        return math.fsum(self.plan.family.data.arrays()[1])

    def _tolerance(self):
        """Return the nats that prices may lose."""
        return min(max(self.rough - self.lost, 0.5 * self.rough), MOST_LOST * self._total())


def allowed(rough, optimum, asked, spared, total):
    """Return the nats that a bound may lose of an optimum: also part of what that is above what is asked for.

    As optima are estimates, that is counted from a little above it, of a weight `total`.
    """
    return max(rough, spared * (optimum - asked - VAGUELY * total)) if math.isfinite(asked) else rough
