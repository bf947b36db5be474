"""What is proved of a coefficient that regressions of counts share between values of it, and beyond them.

A row costs its deviance l, see `counts`, with the linear predictor o + x u + z'b. Between two values the loss is linear
in V (JS2), with a slope that is known in fractions and depends on how far apart they are. With nu'z = 0 rows J of one
component cost for any mu at least

    mu (nu'o + u nu'x) - sum over J of w (A*(y + mu nu / w) - A*(y))

more than the least that they can, a line in u (JS4). Lines are found for a few mu of either sign, parts of the largest
that leaves all y + mu nu / w means, in intervals.

Theory: (VC1) of docs/theory/proof_counts.md.
"""

import math
from fractions import Fraction

import numpy as np

from .counts import Rows
from .entries import LARGEST
from .errors import ProofError
from .regressions import enclosed
from .rounding import Interval, down
from .shared_ranges import Ranges
from .tuning import MULTIPLIERS


class CountRanges(Ranges):
    """The same of counts, whose rows have linear predictors with offsets in the place of responses."""

    def _take(self, columns, left):
        mixture = self.problem.mixture
        self.counts = Rows(mixture, columns)
        self.is_binomial, self.known = self.counts.is_binomial, [Fraction(o) for o in self.counts.offsets.tolist()]
        of_rows = self.counts.trials if self.is_binomial else self.counts.counts
        masses = [w * Fraction(y) for w, y in zip(self.weights, of_rows.tolist(), strict=True)]
        self.total = sum(masses)  # of trials, or of counts as the likelihood has them
        if self.is_binomial:
            self.steepest = sum(m * e * e for m, e in zip(masses, left, strict=True)) / 8
            self.linear = 2 * sum(m * abs(e) for m, e in zip(masses, left, strict=True))
        else:
            spread = max(left) - min(left)
            self.steepest, self.linear = self.total * spread**2 / 8, 2 * self.total * spread
        self.masses = masses
        least = (Interval(mixture.weights[self.used]) * Interval(self.counts.least)).sum(axis=0)
        self.floor = float((mixture.constant() + least).low)

    def lost(self, value, lower):
        """Bound what the rounded offsets of a known coefficient cost more than the exact ones: a Fraction."""
        record, X = self.problem.fixed(value)
        offsets, value = X[self.used, record["offset"]].tolist(), Fraction(value)
        moved = [abs(Fraction(rounded) - (o + x * value))
                 for x, o, rounded in zip(self.x, self.known, offsets, strict=True)]  # fmt: skip
        if self.is_binomial:
            return sum(m * d for m, d in zip(self.masses, moved, strict=True))
        if max(moved) > Fraction(1, 2):
            raise ProofError("values", f"that of {float(value):g} makes offsets without digits")
        return 3 * self.total * max(moved)

    def _slope(self, width, slope):
        return min(self.steepest, self.linear / width), 0

    def _take_sets(self, sets, contrasts, slopes, values):
        at, counts = np.array(sets), self.counts
        y, n, w = counts.counts[at], counts.trials[at], Interval(self.problem.mixture.weights[self.used][at])
        flat = enclosed([c for nu in contrasts for c in nu])
        nu = Interval(flat.low.reshape(at.shape), flat.high.reshape(at.shape))
        slope, value = enclosed(slopes), enclosed(values)
        least, heights, steps = self._conjugate(Interval(y), n), [], []
        for multiplier in self._multipliers(nu.low, y, n, w.low):
            means = (nu * multiplier[:, np.newaxis]).over(w) + y
            cost = (w * (self._conjugate(means, n) - least)).sum(axis=1)
            height = (value * multiplier - cost).low
            inside = (means.low > 0.0) & ((means.high < n) | (not self.is_binomial))
            heights.append(np.where(inside.all(axis=1) & (height > -np.inf), height, -np.inf))
            steps.append(slope * multiplier)
        self.heights = np.array(heights)
        self.steps = Interval(np.array([step.low for step in steps]), np.array([step.high for step in steps]))

    def _multipliers(self, nu, y, n, w):
        """Yield numbers mu of sets (S,), whatever rounding does to them: parts of the largest that leaves means."""
        size = np.where(nu == 0.0, 1.0, np.abs(nu))
        for sign in (1.0, -1.0):
            room = np.where(sign * nu < 0.0, w * y / size, np.inf)
            if self.is_binomial:
                room = np.minimum(room, np.where(sign * nu > 0.0, w * (n - y) / size, np.inf))
            room = room.min(axis=1)
            for part in MULTIPLIERS:
                yield sign * part * np.where(room < np.inf, room, 0.0)

    def _conjugate(self, mean, trials):
        """Return A* of means, an Interval, of binomial ones but for what their trials determine."""
        if not self.is_binomial:
            return mean * mean.log() - mean
        rest = Interval(trials) - mean
        return mean * mean.log() + rest * rest.log()

    def _more(self, low, high):
        lines = down(self.heights + (self.steps * Interval(low, high)).low)
        costs = np.where(lines > 0.0, np.minimum(lines, LARGEST), 0.0).max(axis=0)
        return math.fsum(self._of_blocks(costs))

    def _fitted(self):
        return self.counts.best - self.counts.offsets
