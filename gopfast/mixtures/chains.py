"""
A bound of mixtures with covariance matrices: their components as chains of regressions, block by block.

In units of the floor every covariance is at least the unit matrix. For orthonormal directions A, in blocks y_1, ...,
y_B, a normal density is a product of regressions of y_b on the directions before it, whose variances are at least 1. So
with the mutual information I(r) of samples and components, and the least cost E_b(r) of block b's regressions,

    f  >=  I(r) + sum_b E_b(r)  >=  sum_b alpha_b F_b,     F_b = min over r of I(r) + E_b(r) / alpha_b,

for parts alpha_b of the information that add up to 1: every F_b is the optimum of a mixture of regressions whose costs
count 1 / alpha_b times, and is bounded by prices of samples. What is lost is that every block may choose
responsibilities of its own. Directions, blocks and parts are chosen for the least loss that EM finds. Directions beside
the chain count as if they were constant.

Theory: (N1) and (N5) of docs/theory/chains.md.
"""

import math

import numpy as np

from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.marginal import MarginalBound, constant_beside, in_floors
from gopfast.mixtures.margins import SUMMED
from gopfast.mixtures.pricing.chain_blocks import ChainBlock, Chains
from gopfast.mixtures.tuning import (
    CHOICE_TERMS,
    MARGINAL_TERMS,
    MARGINAL_TERMS_OF_A_SAMPLE,
    N_TRIED,
    N_TURNS,
    TURN_LEAST,
    TURN_LONGER,
    TURN_SHORTER,
    TURN_WIDEST,
)
from gopfast.roundoff import ROUND


class ChainsBound(Learner):
    """
    A lower bound of a mixture by blocks of a chain of regressions, told as `PricingBound` tells its own.

    Parameters
    ----------
    problem : MixtureProblem
        Of covariance matrices and three columns or more.
    family : Family
        The core's copy of it.
    solution : ndarray
        An incumbent, as the primal keeps it: weights (K,), parameters, prior weight. Directions are taken from it.
    limit : float
        Solutions below it are sought.
    threads : int
    marginal : Meter, optional
        Where to count what the marginal in two directions takes, which comes first; without one it is left out.

    Attributes
    ----------
    lower : float
        Proved, in nats.
    """

    def __init__(self, problem, family, solution, limit, threads=1, marginal=None):
        self.limit, self.threads, self.lower, self.rng = limit, threads, -math.inf, np.random.default_rng(0)
        self.meter, self.marginal = marginal, None
        if marginal is not None:
            self.marginal = MarginalBound(problem, family, solution, limit)
        self.rows, weights, means, covariances = in_floors(problem, family, solution)
        K = problem.n_components
        self.chains = Chains(self.rows, weights, K, solution[:K], means, covariances)
        self.constant = constant_beside(problem, self.rows, self.chains.n_used)
        self.unit = family.n_statistics * (8 + family.n_statistics) / self.chains.work
        self.n_turns, self.width, self.best, self.blocks = 0, TURN_WIDEST, None, []
        self.passes_of_marginal = 0
        self.waiting = self.chains.candidates()[::-1]

    @property
    def n_passes(self):
        """Passes over the blocks so far, as many as of all columns would have taken the time."""
        return self.passes_of_marginal + int(self.n_terms / (len(self.rows) * self.unit))

    @property
    def n_terms(self):
        """Terms so far, but for those of the marginal."""
        return self.chains.n_terms + sum(block.bound.n_terms for block in self.blocks)

    def step(self, deadline):
        """Next thing to learn: other directions, or the block of which most is missing for what it has cost."""
        if self.marginal is not None:
            self._step_marginal(deadline)
            return True
        if not self.blocks:
            self._turn()
            return True
        todo = [block for block in self.blocks if block.more]
        if not todo or self.lower >= self.limit:
            return False
        # what is missing falls about as a power of what was spent
        max(todo, key=lambda block: block.missing / (1 + block.bound.n_terms)).step(deadline)
        self._count()
        return True

    def _step_marginal(self, deadline):
        """Next thing to learn of the marginal, up to its end or to a number of terms."""
        before = self.marginal.n_terms
        with self.meter:
            more = self.marginal.step(deadline)
        self.meter.count(terms=self.marginal.n_terms - before)
        self.lower = max(self.lower, min(self.marginal.lower, self.limit))
        self.passes_of_marginal = self.marginal.n_passes
        most = max(MARGINAL_TERMS, MARGINAL_TERMS_OF_A_SAMPLE * len(self.rows))
        if not more or self.marginal.n_terms > most:
            self.marginal = None

    def _turn(self):
        """Look at other directions; after a number of turns begin with the best ones."""
        if self.waiting and (self.best is None or self.chains.n_terms < CHOICE_TERMS):
            found = self.chains.value(self.waiting.pop(), N_TRIED)
            if self.best is None or found.value > self.best.value:
                self.best = found
        elif self.n_turns < N_TURNS and self.chains.n_terms < CHOICE_TERMS:
            self.n_turns += 1
            other = turned(self.best.directions, self.width, self.rng)
            if self.chains.value_at(other, self.best.parts) > self.best.value:
                found = self.chains.value(other)
                if found.value > self.best.value:
                    self.best, self.width = found, min(TURN_WIDEST, TURN_LONGER * self.width)
                    return
            self.width = max(TURN_LEAST, TURN_SHORTER * self.width)
        else:
            self.blocks = [
                ChainBlock(self.chains, self.best.directions, b, part, self.threads)
                for b, part in enumerate(self.best.parts)
            ]

    def _count(self):
        """Add the blocks' bounds up."""
        terms = [*(block.share * block.lower for block in self.blocks), self.constant]
        if math.isfinite(math.fsum(terms)):
            total = math.fsum(terms) - (8 * ROUND + SUMMED) * math.fsum(np.abs(terms))
            self.lower = max(self.lower, min(total, self.limit))


def turned(directions, width, rng):
    """Return other orthonormal directions (d, m), turned by about so many radians."""
    d = len(directions)
    return np.linalg.qr(directions + width / math.sqrt(d) * rng.standard_normal(directions.shape))[0]
