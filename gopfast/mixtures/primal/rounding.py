"""
Solutions from the atoms of the master problem.

Its multipliers are fractional numbers of components; what they are fractions of are the components of good solutions,
of several as a rule. So K of the atoms are drawn, each by its multiplier and by what it takes of the samples that are
left by those before, and EM goes on from there. That has led to optima which hundreds of random starts miss.

Theory: (P8) of docs/theory/prices.md.
"""

import numpy as np

from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.primal.tuning import (
    APART,
    FEWEST_DRAWN,
    MOST_DRAWN,
    N_LONG,
    ROUNDING_LEAST_WEIGHT as LEAST_WEIGHT,
    ROUNDING_LONG as LONG,
    ROUNDING_SMALLEST as SMALLEST,
    SETTLED,
    SHORT,
    TERMS,
)


class Rounding:
    """
    Draws of K atoms, and EM from each.

    Parameters
    ----------
    family : Family
        Of K components.
    weights : ndarray, shape (N,)
    points : ndarray, shape (A, n)
        Parameters of the atoms.
    mass : ndarray, shape (A, N)
        Their columns, times the weights.
    multipliers : ndarray, shape (A,)
    rng : numpy.random.Generator

    Attributes
    ----------
    n_passes : int
        Data passes of one component.
    """

    def __init__(self, family, weights, points, mass, multipliers, rng):
        self.family, self.weights, self.rng = family, weights, rng
        self.points, self.mass, self.multipliers = points, mass, multipliers
        self.primal, self.n_passes = MixturePrimal(family), 0

    @staticmethod
    def terms_of(family):
        """Return about the terms of it, of short runs and long ones."""
        n = family.data.n_samples * family.n_components
        return n * SHORT * (N_LONG + min(MOST_DRAWN, int(TERMS / (n * family.n_statistics * SHORT))))

    def best(self, limit):
        """Return the best solution below a limit, as the primal keeps it, or None."""
        K, family = self.family.n_components, self.family
        n = int(min(MOST_DRAWN, TERMS / (len(self.weights) * K * family.n_statistics * SHORT)))
        if n < FEWEST_DRAWN:
            return None
        runs = sorted((self._run(*self._draw(), SHORT) for _ in range(n)), key=lambda run: run[0])
        values = np.array([value for value, _ in runs])
        first = np.flatnonzero(np.diff(values, prepend=-np.inf) > APART)[:N_LONG]
        found = [self._run(runs[i][1][:K], runs[i][1][K:-1], LONG) for i in first]
        value, solution = min(found, key=lambda run: run[0])
        return solution if value < limit else None

    def _draw(self):
        """Weights (K,) and parameters (K, n) of drawn atoms, in the tree's order."""
        left, chosen = self.weights.copy(), []
        for _ in range(self.family.n_components):
            share = np.maximum(np.minimum(self.mass, left).sum(axis=1) / self.weights.sum(), SMALLEST)
            odds = np.maximum(self.multipliers, 0.0) * share**2
            chosen.append(self.rng.choice(len(odds), p=odds / odds.sum()))
            left = np.maximum(0.0, left - self.mass[chosen[-1]])
        chosen = sorted(chosen, key=lambda a: self.points[a, 0])
        weights = np.maximum(self.mass[chosen].sum(axis=1) / self.weights.sum(), LEAST_WEIGHT)
        return weights / weights.sum(), self.points[chosen]

    def _run(self, weights, point, n_steps):
        """Objective and solution after so many steps."""
        solution, trace, _ = self.primal.em(weights, np.ascontiguousarray(point), SETTLED, n_steps)
        self.n_passes += len(trace) * self.family.n_components
        return trace[-1], solution

    @property
    def n_terms(self):
        """Terms so far."""
        return self.primal.meter.terms
