"""What prices of the samples prove: which cells the components of better mixtures lie in, whatever their number.

Responsibilities r of an optimal mixture, S_k = sum_i w_i r_ik, cost

    f  =  sum_ik w_i r_ik (c_i(theta_k) + log r_ik - log(S_k / W)) + priors
       =  sum_i w_i lambda_i - sum_k g_k,      for any prices lambda_i, as sum_k r_ik = 1, with

    g_k = sum_i w_i r_ik (lambda_i - c_i(theta_k) - log r_ik) + S_k log(S_k / W) - prior of k.

In a cell that holds theta_k, with costs c_i = a + b . y_i + q . y_i^2 below (`families`), t_i = lambda_i - c_i: the sum
is concave and homogeneous in r_k, so that it is below its tangent at tau_i = min(1, s e^t_i), for any s > 0:

    g_k  <=  U  =  sum_i w_i max(0, t_i + log s)  +  W max(0, log(sigma / s))  - prior,
                                                                       sigma = sum_i (w_i / W) min(1, s e^t_i).

A component without samples has g = 0 and any parameters, with a prior those that cost least. So with T = sum_i w_i
lambda_i a mixture below L has sum_k g_k > T - L, and each of its components lies in a cell with
U > T - L - (K - 1) max U: the others go. In a leaf component k meets some of the cells that are left, and lies in the
box around those of them that have U > T - L - (the largest U of every other component); where these largest add up to
no more than T - L, or nothing is left, all mixtures of the leaf cost at least L. Splits of cells share points, as those
of nodes do, so that the cells cover the root's.

Of columns of different families y has those of all, 0 without an entry, and those that say which entries there are.

Theory: (V5) of docs/theory/proofs.md, (VF5) of docs/theory/proof_families.md, (JC4) of
docs/theory/counts.md.
"""

import math

import numpy as np

from . import priors, tree
from .entries import numbers
from .errors import ProofError
from .leaf import sum_from_below
from .rounding import TINY, ULPS, UNIT, down, up
from .tuning import LEAVES, MOST_SCALE, MOST_TURNS, PRICES_NUMBERS as MOST_NUMBERS


class Prices:
    """
    Cells of one component in which those of mixtures below a bound lie.

    Parameters
    ----------
    bounds : Bounds
        Of the problem.
    arrays : dict
        Of the proof.
    reference : ndarray, shape (d,)
    order : int
    lower : float
        The bound.
    """

    def __init__(self, bounds, arrays, reference, order, lower):
        problem, rules = bounds.problem, bounds.rules
        if problem.noise is not None:
            raise ProofError("prices", "are of components of one kind: there is noise beside them")
        if rules.n_shared or problem.family == "posterior":
            raise ProofError("prices", "are of components that share no parameters, without posteriors")
        if problem.family == "known" and problem.prior is not None and problem.prior[0] != problem.prior[1]:
            raise ProofError("prices", "components share the variance of the prior")
        self.rules, self.order, self.lower = rules, order, lower
        prices = numbers(arrays, "prices", "file", (len(bounds.weights),))
        names = "cells", "cell_points", "cell_leaves", "cell_slopes", "cell_scales"
        low, high, slopes, scales = cells(bounds, *(arrays[name] for name in names))
        most = savings(bounds, prices, low, high, slopes, scales, reference)
        self.total = float(down(sum_from_below(bounds.weights, prices[:, np.newaxis])[0] + bounds.of_leaves.low))
        others = (problem.n_components - 1) * most.max(initial=-math.inf)
        kept = most > self._left(np.where(np.isfinite(others), others, 0.0), lower)
        self.low, self.high, self.most = low[kept], high[kept], most[kept]

    def _left(self, saved, lower=0.0):
        """T - L less what components save, rounded down."""
        value = self.total - lower - saved
        return value - 4 * UNIT * (abs(self.total) + abs(lower) + np.abs(saved))

    def floor(self, n_components):
        """Return what the prices say of all mixtures, without a tree: T less K times the largest U."""
        return float(self._left(n_components * self.most.max(initial=-math.inf))) if len(self.most) else self.lower

    def cut(self, low, high):
        """
        Cut the boxes of leaves down.

        Parameters
        ----------
        low, high : ndarray, shape (L, K, p)

        Returns
        -------
        low, high : ndarray, shape (L, K, p)
            What mixtures below the bound may lie in.
        closed : ndarray of bool, shape (L,)
            There are none.
        """
        low, high, closed = low.copy(), high.copy(), np.zeros(len(low), bool)
        for i in range(0, len(low), LEAVES):
            here = np.arange(i, min(i + LEAVES, len(low)))
            sups = np.full((len(here), low.shape[1]), math.inf)
            for _ in range(MOST_TURNS):
                before = low[here], high[here]
                left, found, *now = self._turn(*before, sups)
                low[here], high[here], closed[here] = *now, ~left
                changed = ((now[0] > before[0]) | (now[1] < before[1])).any(axis=(1, 2)) | (found < sups).any(axis=1)
                here, sups = here[left & changed], found[left & changed]
                if not len(here):
                    break
        return low, high, closed

    def _turn(self, low, high, sups):
        """Cut every component's boxes once, by the cells that it meets; which leaves are left, and its largest U."""
        K, low, high, sups = low.shape[1], low.copy(), high.copy(), sups.copy()
        for k in range(K):
            others = np.delete(sups, k, axis=1)
            least = np.where(np.isinf(others).any(axis=1), -math.inf, self._left(others.sum(axis=1), self.lower)
                             - 2 * K * UNIT * np.abs(others).sum(axis=1))  # fmt: skip
            near = np.flatnonzero((self.low <= high[:, k].max(axis=0)).all(axis=1)
                                  & (self.high >= low[:, k].min(axis=0)).all(axis=1)
                                  & (self.most > least.min()))  # fmt: skip
            cells_low, cells_high, most = self.low[near], self.high[near], self.most[near]
            meets = most > least[:, np.newaxis]
            for j in range(low.shape[2]):
                meets &= (cells_low[:, j] <= high[:, k, j, np.newaxis]) & (cells_high[:, j] >= low[:, k, j, np.newaxis])
            sups[:, k] = np.where(meets, most, -math.inf).max(axis=1, initial=-math.inf)
            for j in range(low.shape[2]):
                first = np.where(meets, cells_low[:, j], math.inf).min(axis=1, initial=math.inf)
                last = np.where(meets, cells_high[:, j], -math.inf).max(axis=1, initial=-math.inf)
                low[:, k, j], high[:, k, j] = np.maximum(low[:, k, j], first), np.minimum(high[:, k, j], last)
        saved = sups.sum(axis=1)
        enough = np.isfinite(saved) & (self._left(saved) - 2 * K * UNIT * np.abs(sups).sum(axis=1) >= self.lower)
        low, high, empty = tree.ordered(low, high, self.rules, self.order)
        return ~(enough | empty | (sups == -math.inf).any(axis=1)), sups, low, high


def cells(bounds, splits, points, labels, slopes, scales):
    """
    Find the cells of one component, and their entries.

    Parameters
    ----------
    bounds : Bounds
    splits, points : ndarray
        See `tree.boxes`.
    labels : ndarray of int, shape (E,)
        Of cells that have an entry; the others have nothing in them.
    slopes, scales : ndarray, shape (E, n_slopes) and (E,)

    Returns
    -------
    low, high : ndarray, shape (C, p)
        They cover the root's cell.
    slopes, scales : ndarray, shape (C, n_slopes) and (C,)
    """
    if slopes.shape != (len(labels), bounds.n_slopes) or scales.shape != slopes.shape[:1]:
        raise ProofError("cell_slopes", "there must be slopes and a scale for each of the cells")
    rules = bounds.rules
    found, low, high = tree.boxes(splits, points, rules.low, rules.high)
    low, high = (part[:, 0] for part in rules.tightened(low[:, np.newaxis], high[:, np.newaxis]))
    left = ~(low > high).any(axis=1)
    entry = tree.entries(labels, found[left], "cell")
    if (entry == tree.NONE).any():
        raise ProofError(f"cell {found[left][entry == tree.NONE][0]}", "nothing bounds what it saves")
    return low[left], high[left], slopes[entry], scales[entry]


def savings(bounds, prices, low, high, slopes, scales, reference, copies=1):
    """
    Bound what a component saves in cells.

    Parameters
    ----------
    bounds : Bounds
    prices : ndarray, shape (N,)
    low, high : ndarray, shape (C, p)
    slopes : ndarray, shape (C, d or 2 d)
    scales : ndarray, shape (C,)
        log s; the best are the ones at which sigma = s.
    reference : ndarray, shape (d,)
    copies : int
        A power of 2: how many times what a component costs counts, of families without priors.

    Returns
    -------
    ndarray, shape (C,)
        U, rounded up; infinite where the arithmetic says nothing.
    """
    if not (np.abs(scales) <= MOST_SCALE).all():
        raise ProofError("cell_scales", "are out of range")
    step, parts = max(1, MOST_NUMBERS // len(prices)), [np.zeros(0)]
    if bounds.rules.has_sample_costs:
        for i in range(0, len(low), step):
            here = slice(i, i + step)
            costs = bounds.rules.costs(low[here], high[here], slopes[here])
            parts.append(_savings_of_costs(bounds.weights, prices, costs.T, scales[here]))
        return np.concatenate(parts)
    y, reach = bounds.rules.features(bounds.columns, reference)
    for i in range(0, len(low), step):
        here = slice(i, i + step)
        own = slopes[here, np.newaxis]
        a = bounds.intercepts(low[here, np.newaxis], high[here, np.newaxis], own, reference)
        b = own[..., : bounds.rules.n_features]
        constants, tilted = (part[:, 0] for part in bounds.folded(a, b))
        quadratic = bounds.rules.quadratic(own)[:, 0]
        costs = (part * copies for part in (constants, tilted, quadratic))  # exact
        most = _savings(y, reach, bounds.weights, prices, *costs, scales[here])
        parts.append(up(most - priors.leaf_terms(bounds.problem, a, b, reference)))
    found = np.concatenate(parts)
    return np.where(np.isnan(found), math.inf, found)


def _savings(y, reach, weights, prices, constants, slopes, quadratic, scales):
    squares = bool(np.any(quadratic))
    columns = np.hstack([np.ones((len(y), 1)), y, np.square(y)] if squares else [np.ones((len(y), 1)), y])
    parts = [scales[:, np.newaxis] - constants[:, np.newaxis], -slopes, *([-quadratic] if squares else [])]
    coefficients = np.concatenate(parts, axis=1).T  # (columns, C)
    sizes = np.abs(coefficients)
    sizes[0] = np.abs(scales) + np.abs(constants)
    largest = np.concatenate([[1.0], reach, np.square(reach)] if squares else [[1.0], reach])
    error = largest @ sizes + np.abs(prices).max()
    t = columns @ coefficients + prices[:, np.newaxis] + error * (columns.shape[1] + 20) * UNIT
    return _saved(t, weights, scales)


def _savings_of_costs(weights, prices, costs, scales):
    """Do the same by costs (N, C) of every sample."""
    paid = prices[:, np.newaxis]
    t = up(paid - costs + scales + 8 * UNIT * (np.abs(paid) + np.abs(costs) + np.abs(scales)))
    return np.where(np.isnan(t).any(axis=0), math.inf, _saved(t, weights, scales))


def _saved(t, weights, scales):
    """Bound U (C,) by t_i + log s (N, C), rounded up."""
    W = math.fsum(weights)
    saved = -sum_from_below(weights, -np.maximum(t, 0.0))
    # underflow loses less than TINY of every term
    mass = -sum_from_below(weights, -np.exp(np.minimum(t, 0.0))) * (1 + 4 * ULPS * UNIT) + W * TINY
    log_sigma = np.log(mass / W)
    rest = np.maximum(0.0, log_sigma - scales + 16 * ULPS * UNIT * (1 + np.abs(log_sigma) + np.abs(scales)))
    return (saved + W * rest) * (1 + 16 * UNIT)
