"""
Blocks of a chain of regressions: which directions and parts of the information lose little, and each block's bound.

What blocks lose is known from above only: their objectives at mixtures that EM finds, no proof of anything.

Theory: (N1) and (N5) of docs/theory/chains.md.
"""

import math
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.families.chain import ChainFamily
from gopfast.mixtures.pricing.chain_pricing import ChainPricing
from gopfast.mixtures.pricing.pricing_root import Phase, PricingBound
from gopfast.mixtures.pricing.tuning import (
    CHAIN_COARSE as COARSE,
    CHAIN_LOWER as LOWER,
    CHAIN_MIDDLE as MIDDLE,
    CHAIN_OPEN as MOST_OPEN,
    CHAIN_ORTHONORMAL as ORTHONORMAL,
    CHAIN_PARTS as PARTS,
    CHAIN_ROUGH as ROUGH,
    CHAIN_STARTS as N_STARTS,
    CHAIN_STEPS as STEPS,
    GRAIN,
    LONGEST_CHAIN,
    MOST_KNOWN,
    WORK_OF_CHAIN as WORK,
)
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.roundoff import ROUND


class Chosen(NamedTuple):
    """Directions (d, m) of a chain, parts (B,) of the information for its blocks, what their objectives add up to."""

    directions: np.ndarray
    parts: np.ndarray
    value: float


class Chains:
    """
    Chains of the directions of samples, and the mixtures of regressions that are their blocks.

    Parameters
    ----------
    rows : ndarray, shape (n, d)
        Samples in units of the floor.
    weights : ndarray, shape (n,)
    n_components : int
    shares, means, matrices : ndarray, shape (K,), (K, d) and (K, d, d)
        An incumbent, in these units.
    """

    def __init__(self, rows, weights, n_components, shares, means, matrices):
        self.rows, self.weights, self.n_components = rows, weights, n_components
        d = rows.shape[1]
        self.n_used = min(d, LONGEST_CHAIN)
        self.sizes = [2] + [1] * (self.n_used - 2)
        self.first = np.cumsum([0, *self.sizes])
        self.rng, self.n_terms, self.work = np.random.default_rng(0), 0, WORK
        self.within = np.einsum("k,kab->ab", shares, matrices)
        self.between = np.einsum("k,ka,kb->ab", shares, means - shares @ means, means - shares @ means)
        self.masses = [responsibilities(rows, weights, shares, means, matrices)]

    def candidates(self):
        """Return directions (d, m) to begin with: axes of what lies within components, of all, and the columns."""
        d, m = self.rows.shape[1], self.n_used
        axes = np.linalg.eigh(self.within)[1]
        spread = np.linalg.eigh(np.cov(self.rows.T, aweights=self.weights))[1]
        apart = np.linalg.solve(self.within, self.between)
        apart = np.linalg.eig(apart)[1].real
        order = np.argsort(-np.diag(self.between) / np.diag(self.within))
        found = [axes[:, ::-1], axes, spread[:, ::-1], np.eye(d)[:, order], np.eye(d)[:, order[::-1]], apart]
        return [np.linalg.qr(one)[0][:, :m] for one in found]

    def family(self, directions, block, part, n_components=None):
        """Return the family of a block of a chain at a part of the information."""
        columns = (self.rows @ directions).T[: self.first[block + 1]]
        # copies times the part are at most 1, whatever is rounded
        copies = (1 - 4 * ROUND) / part
        return ChainFamily(columns, self.weights, int(self.first[block]), n_components or self.n_components, copies)

    def value(self, directions, n_starts=0):
        """Return what blocks of a chain add up to at the best parts, as far as EM knows."""
        for b in range(len(self.sizes)):
            self.best(self.family(directions, b, MIDDLE), ROUGH, n_starts)
        table = np.array([
            [part * self.best(self.family(directions, b, part), ROUGH)[1] for part in PARTS]
            for b in range(len(self.sizes))
        ])  # fmt: skip
        return Chosen(directions, *divided(table))

    def value_at(self, directions, parts):
        """Return the same at given parts (B,)."""
        return math.fsum(
            part * self.best(self.family(directions, b, part), ROUGH, 1)[1] for b, part in enumerate(parts)
        )

    def best(self, family, tolerance, n_starts=0):
        """Return the best of the mixtures that EM finds from those known, and from some others: solution, objective.

        If it is one of the others it is known from then on.
        """
        primal, K, known = MixturePrimal(family), self.n_components, len(self.masses)
        best, least, of_known = None, math.inf, math.inf
        points = [family.fitted(mass) for mass in self.masses]
        points += [family.seeded(self.rng) for _ in range(n_starts)]
        for i, point in enumerate(points):
            shares = self.masses[i].sum(axis=1) / self.weights.sum() if i < known else np.full(K, 1.0 / K)
            solution, trace, _ = primal.em(shares, point, tolerance, STEPS)
            if i == known:
                of_known = least
            if trace[-1] < least:
                best, least = solution, trace[-1]
        self.n_terms += primal.meter.terms
        primal.meter.clear()
        if n_starts and least < of_known - LOWER:
            self.masses.append(family.masses(best, self.weights))
            if len(self.masses) > MOST_KNOWN:
                del self.masses[1]
        return best, least


class ChainBlock:
    """
    The bound of a block of a chain by prices of samples.

    Parameters
    ----------
    of : Chains
    directions : ndarray, shape (d, m)
    block : int
    share : float
        Its part of the information.
    threads : int

    Attributes
    ----------
    more : bool
        Whether there is more to learn.
    """

    def __init__(self, of, directions, block, share, threads):
        off = np.abs(directions.T @ directions - np.eye(directions.shape[1])).max()
        if off > ORTHONORMAL:
            raise ValueError("directions must be orthonormal")
        self.share, self.more = share, True
        family = of.family(directions, block, share)
        solution, objective = of.best(family, ROUGH * 1e-3, N_STARTS)
        one = family.one_component(None)
        self.bound = PricingBound(family, one, solution, objective, threads=threads, rounds=False, kind=ChainPricing)
        # a tolerance of the mixture's nats, not of those of its copies
        coarse = COARSE / share
        self.bound.coarse = self.bound.finest = coarse
        self.bound.tolerance = self.bound.aim = self.bound.first = coarse
        self.bound.most_open = MOST_OPEN
        # no cost is less than that of a residual of 0 at the floor, and no information below 0
        W = math.fsum(of.weights)
        self.least = 0.5 * math.log(2 * math.pi) * of.sizes[block] * W / share * (1 - 1e-8)

    @property
    def lower(self):
        """Proved of the block, in nats of all copies."""
        return max(self.bound.lower, min(self.least, self.bound.limit))

    @property
    def missing(self):
        """How much higher its part can become, in nats of the mixture."""
        return self.share * (self.bound.limit - self.lower)

    def step(self, deadline):
        """Next thing to learn."""
        self.more = self.bound.step(deadline) and self.bound.phase < Phase.CELLS  # its cells cut nothing


def divided(table):
    """
    Return parts (B,) of the information and the sum of the blocks' values there, the largest there is.

    Parameters
    ----------
    table : ndarray, shape (B, P)
        Values of the blocks at `PARTS`, concave in them up to what EM misses; between them they are taken as linear.
    """
    parts = np.full(len(table), PARTS[0])
    values = [np.interp(np.arange(PARTS[0], 1.0 + GRAIN, GRAIN), PARTS, row) for row in table]
    at = [0] * len(table)
    while parts.sum() + GRAIN <= 1.0 + 1e-9:
        gains = [row[i + 1] - row[i] if i + 1 < len(row) else -np.inf for row, i in zip(values, at, strict=True)]
        b = int(np.argmax(gains))
        at[b] += 1
        parts[b] += GRAIN
    total = sum(row[i] for row, i in zip(values, at, strict=True))
    return parts / (math.fsum(parts) * (1 + 4 * ROUND)), float(total)


def responsibilities(rows, weights, shares, means, matrices):
    """Return the masses (K, n) of samples in normal components."""
    logs = np.empty((len(shares), len(rows)))
    for k, (mean, matrix) in enumerate(zip(means, matrices, strict=True)):
        root = np.linalg.cholesky(matrix)
        away = np.linalg.solve(root, (rows - mean).T)
        with np.errstate(divide="ignore"):
            logs[k] = np.log(shares[k]) - np.log(np.diag(root)).sum() - 0.5 * np.square(away).sum(axis=0)
    mass = np.exp(logs - logs.max(axis=0))
    return mass * (weights / mass.sum(axis=0))
