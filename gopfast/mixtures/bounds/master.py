"""The master problem of the pricing bound: the best prices for some components, its atoms.

For prices lambda (N,) a component with costs c (N,) and prior cost P can save

    G = max over tau in [0, 1]^N of  sum_i w_i tau_i (lambda_i - c_i - log tau_i) + S log(S / W)  -  P,

and sum w lambda - sum_g n_g sup G over group g bounds every mixture with n_g components in group g. The master problem
maximises that over lambda for finitely many atoms, by a barrier method: its Newton matrix is diagonal plus a low rank.
Nothing here is trusted: any prices give a bound once the suprema are proved (`gopfast.mixtures.bounds.pricing`).
"""

import math
import time

import numpy as np

from gopfast.mixtures.bounds.price_columns import levels, solve_low_rank

N_STEPS = 40
LONGEST = 3.0  # of a step in any price, nats
SHRINK = 0.15  # of the barrier's weight
ENOUGH = 0.05  # Newton decrement, in units of the barrier's weight
AT_LAST = 1e-3
LEAST = 1e-3  # a search that ends below this part of a step has met a kink: the next weight, then
RIDGE = 1e-12
PULL = 1.0  # to the center, per nat squared, in units of the barrier's weight


class Master:
    """
    Prices for given atoms.

    Parameters
    ----------
    weights : ndarray, shape (N,)
    center : ndarray, shape (N,)
        Prices are drawn to it, ever more weakly: atoms may be too few for any optimum, and where clusters are apart
        the level of all prices is arbitrary, down to where every G has a kink at 0.
    pricing : object
        Its ``columns(prices, points)`` and ``values(prices, points)`` are those of `ComponentPricing`.
    """

    def __init__(self, weights, center, pricing):
        self.weights, self.center, self.pricing = weights, center, pricing

    def solve(self, prices, points, groups, counts, last, first=1.0, deadline=math.inf):
        """
        Maximise sum w lambda - sum_g n_g max over group g of G.

        Parameters
        ----------
        prices : ndarray, shape (N,)
            To start from.
        points : ndarray, shape (A, n)
            Parameters of the atoms.
        groups : ndarray of int, shape (A,)
        counts : ndarray, shape (G,)
        last, first : float
            Weights of the barrier, nats.
        deadline : float
            Of the monotonic clock; prices are then what they are.

        Returns
        -------
        prices : ndarray, shape (N,)
        sigma : ndarray, shape (G,)
            Largest G of every group.
        z : ndarray, shape (A,)
            Multipliers of the atoms: the fractional numbers of components like them.
        """
        weight = first
        while True:
            for _ in range(N_STEPS):
                mass, inner, values, saturated = self.pricing.columns(prices, points)
                sigma, _ = levels(values, counts, groups, weight)
                z = self._multipliers(values, sigma, groups, counts, weight)
                gradient, step = self._step(prices, mass, inner, saturated, z, groups, counts, weight)
                promised = gradient @ step
                if not promised > (ENOUGH if weight > last else AT_LAST) * weight:
                    break
                prices, moved = self._search(prices, step, promised, points, groups, counts, weight)
                if not moved or time.monotonic() > deadline:
                    break
            if weight <= last or time.monotonic() > deadline:
                break
            weight = max(last, SHRINK * weight)
        values = self.pricing.values(prices, points)
        sigma = np.array([values[groups == g].max(initial=-np.inf) for g in range(len(counts))])
        return prices, sigma, z

    def _multipliers(self, values, sigma, groups, counts, weight):
        z = weight / np.maximum(sigma[groups] - values, 1e-300)
        return np.where(np.asarray(counts)[groups] > 0, z, 0.0)

    def _value(self, prices, points, groups, counts, weight):
        sigma, log_gaps = levels(self.pricing.values(prices, points), counts, groups, weight)
        drawn = 0.5 * PULL * self.weights @ (prices - self.center) ** 2 / self.weights.sum()
        return self.weights @ prices - counts @ sigma + weight * (log_gaps - drawn)

    def _step(self, prices, mass, inner, saturated, z, groups, counts, weight):
        """Gradient and Newton step of the barrier function in the prices, sigma eliminated."""
        w = self.weights
        pull = weight * PULL * w / w.sum()
        gradient = w - z @ mass - pull * (prices - self.center)
        diagonal = z @ inner + pull + RIDGE * w
        step = solve_low_rank(diagonal, gradient, mass, inner, saturated, z, weight, groups, len(counts))
        if not gradient @ step > 0.0:
            step = gradient / diagonal
        return gradient, step

    def _search(self, prices, step, promised, *problem):
        """Backtracking; returns the prices and whether they moved."""
        length = min(1.0, LONGEST / max(np.abs(step).max(), 1e-300))
        before = self._value(prices, *problem)
        least = LEAST * length
        while length > least:
            trial = prices + length * step
            if self._value(trial, *problem) > before + 0.1 * length * promised:
                return trial, True
            length *= 0.4
        return prices, False
