"""What prices prove in the hull of a mixture's means, kept for a proof, with limits that the checker can show.

Theory: (VH1) of docs/theory/proof_hull.md.
"""

import math
import time

import numpy as np

from gopfast.checker import ProofError, hull
from gopfast.checker.tuning import LEAST_RADIUS
from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.tuning import (
    HULL_ALONE_FOR_SEARCH as ALONE_FOR_SEARCH,
    HULL_FOR_SEARCH as FOR_SEARCH,
    HULL_LATEST as LATEST,
    HULL_MORE,
    HULL_OF_LOST as OF_LOST,
    HULL_UNTIL_SHOWN as UNTIL_SHOWN,
)


class HullRecord:
    """
    Prices that have proved the most, and the components that save most at them.

    Parameters
    ----------
    statement : Statement
        Of all columns.

    Attributes
    ----------
    lower : float
        What they prove by the core's arithmetic, in its units.
    stages : list of tuple (prices (n,), means (J, d), precisions (J,))
        One, or two where the first shows where the components of better mixtures are; in the core's units.
    most : float
        What no component saves more than at the last of these.
    shown : (arrays, float)
        The proof's arrays, and what the checker has found that they prove: -inf if it is nothing.
    """

    def __init__(self, statement):
        self.statement, self.lower, self.stages, self.most = statement, -math.inf, [], math.inf
        self.shown = self.nothing(), -math.inf

    def keep(self, lower, most, *stages):
        """Keep stages in place of others that prove less."""
        if lower > self.lower:
            self.lower, self.most, self.stages = lower, most, stages

    def nothing(self):
        """Return the proof's arrays without an entry."""
        n, d = self.statement.bounds.columns.shape
        shapes = (0, n), (0, 1, d), (0, 1), (0,)
        return dict(zip(hull.ARRAYS, map(np.zeros, shapes), strict=True))

    def show(self, until=math.inf):
        """Have the checker show what was kept, until then of the monotonic clock; return what it proves."""

        def is_over():
            return time.monotonic() > until

        try:
            for limits in self._limits(is_over) if self.stages else ():
                arrays = self._arrays(limits)
                try:
                    self.shown = arrays, hull.bound(*self._data(), arrays, self.statement.reference, is_over)[0]
                    break
                except ProofError:
                    continue
        except ProofError:  # no time to find limits
            pass
        return self.shown[1]

    def _data(self):
        bounds = self.statement.bounds
        return bounds.problem, bounds.columns, bounds.weights

    def _arrays(self, limits):
        """Return the first stages, as many as there are limits, as the checker takes them."""
        statement = self.statement
        shift = ((statement.center - statement.reference) / statement.scale)[np.newaxis]
        prices, means, precisions = zip(*self.stages[: len(limits)], strict=True)
        return dict(zip(hull.ARRAYS, (
            np.array([statement.prices(part) for part in prices]),
            np.array([part[:, statement.user] + shift for part in means]), np.array(precisions), np.array(limits),
        ), strict=True))  # fmt: skip

    def _limits(self, is_over):
        """Yield limits of the stages that may be shown, the best first."""
        K = self.statement.n_components
        arrays = self._arrays(np.zeros(len(self.stages)))
        stages, totals, _ = hull.stages_of(*self._data(), arrays, self.statement.reference, is_over)
        balls = [[hull.Ball(stage, k) for k in range(len(stage.means))] for stage in stages]
        least = [max(ball.bound(0.0, LEAST_RADIUS, -math.inf) for ball in part) for part in balls]
        if len(stages) == 1:
            yield max(least[0], self.most) * (1 + HULL_MORE),
            return
        first, second = stages
        lower = totals[1] - K * least[1]
        lost = lower - (totals[0] - K * least[0])
        for part in OF_LOST if lost > 0.0 else ():
            limit = least[0] + part * lost / K + HULL_MORE * least[0]
            cut = hull.left(totals[0], (K - 1) * limit, lower)
            most = 0.0
            for k, ball in enumerate(balls[0]):
                inner, _ = ball.radii(limit, cut, is_first=True)
                needed = hull.needed_radius(first, second, k, inner)
                if not needed < math.inf:
                    break
                most = max(most, balls[1][k].most_within(needed * (1 + 1e-6)))
            else:
                yield limit, most * (1 + HULL_MORE)
        yield least[0] * (1 + HULL_MORE),


class ShownHull(Learner):
    """
    The bound of the hull, for a proof: it counts once the checker has shown it, in a part of the search's time.

    Parameters
    ----------
    bound : HullBound
        Which tells the record.
    record : HullRecord
    is_alone : bool
        Whether no other bound is of use, so that there is no one to leave time for.
    """

    def __init__(self, bound, record, is_alone=False):
        self.bound, self.record, self.limit, self.is_alone = bound, record, bound.limit, is_alone
        self.until = None

    @property
    def n_terms(self):
        """Samples that were looked at so far, each in one component."""
        return self.bound.n_terms

    @property
    def n_passes(self):
        """Passes of the tree that would have cost as much."""
        return self.bound.n_passes

    def step(self, deadline):
        """Take a step of the bound, or have what it has come to shown; return whether there are more."""
        self.bound.limit = self.limit
        if self.until is None:
            now, first = time.monotonic(), ALONE_FOR_SEARCH if self.is_alone else FOR_SEARCH
            self.until, self.last, self.late = (now + part * (deadline - now) for part in (first, UNTIL_SHOWN, LATEST))
        if time.monotonic() < self.until and self.bound.step(min(deadline, self.until)):
            return True
        # what nothing else can prove, or what is all there is to prove, may be shown a little late
        is_late = self.is_alone or self.bound.lower >= self.limit
        self.lower = min(self.record.show(self.late if is_late else self.last), self.bound.lower)
        return False
