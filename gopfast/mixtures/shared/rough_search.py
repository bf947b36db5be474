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
from gopfast.mixtures.shared.tuning import AS_NODES
from gopfast.search.meter import Meter


class PriceMaker(NamedTuple):
    """What makes a Learner of a plan, a solution, its objective and nats that may be lost; and its counts."""

    learner: Callable
    meter: Meter


class RoughSearch(FixedSearch):
    """
    Prices of the mixture in which the shared parameter is fixed; parameters as of `FixedSearch`.

    Parameters
    ----------
    rough : float
        Nats that the bound may lose.
    prices : PriceMaker
    """

    def __init__(self, alpha, family, shift, epsilon, plan, rough, prices, **primal):
        super().__init__(alpha, family, shift, epsilon, plan, 0, learns=False, **primal)
        self.rough, self.prices, self.bound = rough, prices, None

    def go_on(self, seconds):
        """Go on with prices, first of all find the solution that they begin with; returns the passes that this took."""
        end, passes = time.monotonic() + seconds, 0
        if self.bound is None:
            passes = super().go_on(seconds)
            if self.done or not math.isfinite(self.upper):
                return passes
            self.n_nodes = AS_NODES
            self.bound = self.prices.learner(self.plan, self.solution, self.upper, self.rough - self.lost)
        bound = self.bound
        before, terms = bound.n_passes, bound.n_terms
        with self.prices.meter:
            more = True
            while more and self.missing > self.rough and time.monotonic() < end:
                more = bound.step(end)
                self.lower = max(self.lower, bound.lower)
        self.prices.meter.count(terms=bound.n_terms - terms)
        self.is_over = not more or not self.missing > self.rough
        if self.is_over:
            self.bound = self.search = None  # their memory goes
        return passes + bound.n_passes - before
