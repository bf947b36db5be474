"""What prices prove in the hull of a mixture's means, kept for a proof, with limits that the checker can show.

Theory: (VH1) of docs/theory/proof_hull.md.
"""

import math

import numpy as np

from gopfast.checker import ProofError, hull
from gopfast.checker.tuning import LEAST_RADIUS
from gopfast.mixtures.tuning import HULL_MORE, HULL_OF_LOST as OF_LOST


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
    """

    def __init__(self, statement):
        self.statement, self.lower, self.stages, self.most = statement, -math.inf, [], math.inf

    def keep(self, lower, most, *stages):
        """Keep stages in place of others that prove less."""
        if lower > self.lower:
            self.lower, self.most, self.stages = lower, most, stages

    def nothing(self):
        """Return the proof's arrays without an entry."""
        n, d = self.statement.bounds.columns.shape
        shapes = (0, n), (0, 1, d), (0, 1), (0,)
        return dict(zip(hull.ARRAYS, map(np.zeros, shapes), strict=True))

    def proved(self):
        """Return the proof's arrays, and what the checker finds that they prove: -inf if it is nothing."""
        for limits in self._limits() if self.stages else ():
            arrays = self._arrays(limits)
            try:
                return arrays, hull.bound(*self._data(), arrays, self.statement.reference)[0]
            except ProofError:
                continue
        return self.nothing(), -math.inf

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

    def _limits(self):
        """Yield limits of the stages that may be shown, the best first."""
        K = self.statement.n_components
        arrays = self._arrays(np.zeros(len(self.stages)))
        stages, totals, _ = hull.stages_of(*self._data(), arrays, self.statement.reference)
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
                inner, _ = ball.radii(limit, cut)
                needed = hull.needed_radius(first, second, k, inner)
                if not needed < math.inf:
                    break
                most = max(most, balls[1][k].most_within(needed * (1 + 1e-6)))
            else:
                yield limit, most * (1 + HULL_MORE)
        yield least[0] * (1 + HULL_MORE),
