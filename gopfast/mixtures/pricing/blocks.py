"""
A bound of diagonal and spherical mixtures in many columns: the sum of those of blocks of columns.

For responsibilities r the objective is f = I(r) + sum_b E_b(r): the mutual information I of samples and components, and
what each block of columns costs. With parts alpha_b of the information that add up to 1,

    f  >=  sum_b  min over r of  alpha_b I(r) + E_b(r)  =  sum_b alpha_b F_b,

F_b the optimum of the block alone in which every column counts 1 / alpha_b times (`families.replicated`). Each F_b is
bounded by prices of samples: cells of so few parameters are no obstacle. What is lost is that every block may choose
responsibilities of its own.

Theory: (I3) and (I4) of docs/theory/many.md.
"""

import math
import time
from functools import cached_property

import numpy as np

from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.replicated import ReplicatedFamily
from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.pricing.pricing_root import Phase, PricingBound
from gopfast.mixtures.pricing.tuning import (
    BLOCKS_N_STARTS as N_STARTS,
    EM_STEPS,
    EM_TOLERANCE,
    FEW_PARAMETERS,
    LITTLE,
    LOWER,
    MOST_PARAMETERS,
    MOST_TRIED,
    N_CHECKED,
    N_PARTITIONS,
    PART_OF_TIME,
    ROUGH,
    ROUGH_STEPS,
    STUCK,
)
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.roundoff import ROUND


class BlocksBound(Learner):
    """
    A lower bound of a mixture by those of blocks of its columns, told as `PricingBound` tells its own.

    Parameters
    ----------
    family : NormalFamily
        Of K components, no shared variance.
    one : Family
        The same of one component.
    solution : ndarray
        An incumbent, as the primal keeps it: weights (K,), parameters, prior weight.
    limit : float
        Solutions below it are sought.
    threads : int

    Attributes
    ----------
    lower : float
        Proved, in nats.
    """

    def __init__(self, family, one, solution, limit, threads=1):
        self.family, self.limit, self.threads = family, limit, threads
        self.lower, self.blocks, self.spent, self.terms_of_blocks = -math.inf, [], 0.0, 0
        self.partitions = Partitions(family, np.array(solution))
        self.n_blocks = fewest_blocks(family, FEW_PARAMETERS)
        self.way = 0  # to larger blocks, -1, or to smaller ones
        self.whole, self.unit = None, work_of_pass(one)
        if family.n_cell <= MOST_PARAMETERS:
            self.whole = PricingBound(family, one, solution, limit, threads=threads, rounds=False)

    @property
    def n_passes(self):
        """Passes over all columns so far, as many as those of blocks would have taken the time."""
        whole = 0 if self.whole is None else self.whole.n_passes
        return whole + int((LITTLE if self.whole is None else 1.0) * self.spent / self.unit)

    @property
    def n_terms(self):
        """Terms so far; a column less counts no less."""
        whole = 0 if self.whole is None else self.whole.n_terms
        return whole + self.terms_of_blocks + self.partitions.n_terms

    @property
    def cells(self):
        """Cells of a whole component that are left, once they are known."""
        return None if self.whole is None else self.whole.cells

    @property
    def table_total(self):
        """The total that their bounds belong to."""
        return self.whole.table_total

    def step(self, deadline):
        """Next thing to learn, of the whole or of the blocks, whichever has cost less; whether there is more."""
        open_whole = self.whole is not None and not self.whole.has_cells
        if open_whole and (not self.n_blocks or self.whole.n_passes * self.unit <= self.spent):
            self.whole.limit = self.limit
            self.whole.step(deadline)
            self.lower = max(self.lower, self.whole.lower)
        elif self.n_blocks:
            self._divide(deadline)
        return self.lower < self.limit and (self.n_blocks > 0 or (self.whole is not None and not self.whole.has_cells))

    def _divide(self, deadline):
        """Next thing to learn of the blocks; once they have no more to tell there are others."""
        if not self.blocks:
            self.blocks = [
                Block(self.partitions, columns, copies, self.threads)
                for columns, copies in zip(
                    self.partitions.best(self.n_blocks, deadline), parts(self.n_blocks), strict=True
                )
            ]
        todo = [block for block in self.blocks if block.more]
        if todo and self.lower < self._added([block.bound.limit for block in self.blocks]):
            block = max(todo, key=lambda one: one.missing / one.copies)
            before, terms = block.work, block.bound.n_terms
            block.step(deadline, len(todo))
            self.spent += block.work - before
            self.terms_of_blocks += block.bound.n_terms - terms
            self._count()
        else:
            self._next_partition(bool(todo))

    def _next_partition(self, is_beaten):
        """Have fewer and larger blocks next or, where cells were too many for these, smaller ones."""
        lost = math.fsum(block.missing / block.copies for block in self.blocks)
        is_stuck = not is_beaten and (math.isinf(lost) or lost > STUCK * (self.limit - self.lower))
        self.blocks, self.way = [], self.way or (1 if is_stuck else -1)
        self.n_blocks += self.way
        if self.way < 0 and self.n_blocks < max(2, fewest_blocks(self.family, MOST_PARAMETERS)):
            self.n_blocks = 0
        elif self.way > 0 and (not is_stuck or self.n_blocks > self.family.n_columns):
            self.n_blocks = 0

    def _count(self):
        """Add the blocks' bounds up."""
        lower = [block.lower for block in self.blocks]
        if math.isfinite(min(lower)):
            self.lower = max(self.lower, min(self._added(lower), self.limit))

    def _added(self, values):
        """Return the sum of values of the blocks for all columns, rounded down."""
        terms = [value / block.copies for value, block in zip(values, self.blocks, strict=True)]
        terms.append(self.family.constant)
        return math.fsum(terms) - self.family.constant_error - 8 * ROUND * math.fsum(np.abs(terms))


class Partitions:
    """
    Ways to divide the columns into blocks, and what their bounds can add up to at most.

    That is the sum of the blocks' objectives at mixtures which EM finds from the best ones known, no proof of anything.

    Parameters
    ----------
    family : NormalFamily
    solution : ndarray
        An incumbent.
    drawn : ndarray of int, optional
        Samples that stand for all.
    """

    def __init__(self, family, solution, drawn=None):
        self.family, self.rng, self.n_terms = family, np.random.default_rng(0), 0
        self.columns, self.weights = family.data.arrays()
        if drawn is not None:
            self.columns, self.weights = self.columns[:, drawn], self.weights[drawn]
        K, d = family.n_components, family.n_columns
        cells = solution[K:-1].reshape(K, -1)
        self.starts = [(solution[:K], cells[:, :d], np.broadcast_to(cells[:, d:], (K, d)))]

    @cached_property
    def order(self):
        """Columns in the order in which they tell the incumbent's components apart."""
        return by_separation(self.columns, *self.starts[0])

    def best(self, n_blocks, deadline=math.inf):
        """Return the columns of each block; none is sought after the deadline, of the monotonic clock."""
        d, copies = len(self.order), parts(n_blocks)
        tried = [[self.order[b::n_blocks] for b in range(n_blocks)]]
        tried += [[np.arange(d)[b::n_blocks] for b in range(n_blocks)]]
        n = max(2, min(N_PARTITIONS, MOST_TRIED // len(self.weights)))
        tried += [np.array_split(self.rng.permutation(d), n_blocks) for _ in range(n - len(tried))]
        found = np.array([self._leasts(blocks, copies, self.starts) for blocks in tried])
        for _ in range(N_CHECKED):
            if time.monotonic() > deadline:
                break
            best = (found / copies).sum(axis=1).argmax()
            known = len(self.starts)
            for block, copy in zip(tried[best], copies, strict=True):
                self._look_for_starts(block, copy)
            if len(self.starts) == known:
                break
            for blocks, least in zip(tried, found, strict=True):
                np.minimum(least, self._leasts(blocks, copies, self.starts[known:]), out=least)
        return tried[(found / copies).sum(axis=1).argmax()]

    def family_of(self, block, copies):
        """Return the family of a block, and its columns in the order of the family's."""
        data = Samples(self.columns[block].T, self.weights, np.ones(len(block)), np.zeros(len(block)), squares=True)
        made = ReplicatedFamily(data, self.family.n_components, self.family.per_column, copies)
        return made, np.asarray(block)[data.order]

    def mixtures(self, family, block, starts, tolerance=EM_TOLERANCE, most=EM_STEPS):
        """Yield what EM finds in a block from mixtures of all columns: solution and objective."""
        primal = MixturePrimal(family)
        for shares, means, variances in starts:
            variances = variances[:, block]
            if not family.per_column:
                variances = variances.mean(axis=1, keepdims=True)
            point = np.concatenate([means[:, block], variances], axis=1).ravel()
            solution, trace, _ = primal.em(shares, point, tolerance, most)
            self.n_terms += primal.meter.terms
            primal.meter.clear()
            yield solution, trace[-1]

    def _leasts(self, blocks, copies, starts):
        """Return the least objective that EM finds in each block."""
        found = []
        for columns, copy in zip(blocks, copies, strict=True):
            family, block = self.family_of(columns, copy)
            found.append(min(value for _, value in self.mixtures(family, block, starts, ROUGH, ROUGH_STEPS)))
        return found

    def _look_for_starts(self, block, copies):
        """Add a mixture from which EM ends lower in a block than from those known, if one is found."""
        family, block = self.family_of(block, copies)
        least = min(value for _, value in self.mixtures(family, block, self.starts))
        primal, K = MixturePrimal(family), family.n_components
        n = max(1, min(N_STARTS, MOST_TRIED // (8 * len(self.weights))))
        found = [primal.em(np.full(K, 1.0 / K), family.seeded(self.rng), ROUGH, ROUGH_STEPS) for _ in range(n)]
        self.n_terms += primal.meter.terms
        solution, trace, _ = min(found, key=lambda one: one[1][-1])
        if trace[-1] < least - LOWER:
            self.starts.append(self._of_all_columns(family, block, solution))

    def _of_all_columns(self, family, block, solution):
        """Return the mixture of all columns that has the responsibilities of one of a block."""
        K, d = family.n_components, len(block)
        cells = solution[K:-1].reshape(K, -1)
        costs = family.copies * costs_of(self.columns[block], cells[:, :d], np.broadcast_to(cells[:, d:], (K, d)))
        with np.errstate(divide="ignore"):
            logs = np.log(solution[:K])[:, None] - costs.sum(axis=1)
        mass = np.exp(logs - logs.max(axis=0))
        mass *= self.weights / mass.sum(axis=0)
        total = np.maximum(mass.sum(axis=1), 1e-300)[:, None]
        means = mass @ self.columns.T / total
        spread = np.square(self.columns - means[:, :, None])
        return total.ravel() / total.sum(), means, np.maximum(np.einsum("kn,kdn->kd", mass, spread) / total, 1.0)


class Block:
    """
    Some columns of a mixture, each of which counts several times.

    Parameters
    ----------
    of : Partitions
    columns : ndarray of int
    copies : int
        A power of 2.
    threads : int
    """

    def __init__(self, of, columns, copies, threads):
        self.copies = copies
        block, columns = of.family_of(columns, copies)
        solution, objective = min(of.mixtures(block, columns, of.starts), key=lambda one: one[1])
        one = block.one_component(None)
        self.bound = PricingBound(block, one, solution, objective, threads=threads, rounds=False)
        self.unit, self.more = work_of_pass(one), True

    @property
    def lower(self):
        """Proved of the block, in nats of all copies."""
        return self.bound.lower

    @property
    def missing(self):
        """How much higher the bound can become, in nats of all copies."""
        return self.bound.limit - self.bound.lower

    @property
    def work(self):
        """Operations so far, about."""
        return self.bound.n_passes * self.unit

    def step(self, deadline, n_open):
        """Next thing to learn; with so many blocks at work none has all the time."""
        if self.bound.phase is Phase.PRICES:
            now = time.monotonic()
            deadline = now + PART_OF_TIME / n_open * max(0.0, deadline - now)
        self.more = self.bound.step(deadline) and not self.bound.has_suprema  # its cells cut nothing


def is_divided(family):
    """Whether a family's components have too many parameters for cells, and blocks of its columns have not."""
    return family.has_blocks and family.n_cell > FEW_PARAMETERS and fewest_blocks(family, FEW_PARAMETERS) > 1


def fewest_blocks(family, most):
    """Return the number of blocks of whose components none has more parameters than that."""
    return -(-family.n_columns // (most // 2 if family.per_column else most - 1))


def parts(n_blocks):
    """Return the copies of the columns of each block, powers of 2 whose reciprocals add up to 1."""
    least = 2 ** int(math.log2(n_blocks))
    return [least] * (2 * least - n_blocks) + [2 * least] * (2 * (n_blocks - least))


def costs_of(columns, means, variances):
    """Return the costs (K, d, n) of samples in each component and column, without constants."""
    variances = np.maximum(variances, 1.0)[:, :, None]
    return 0.5 * np.log(variances) + np.square(columns - means[:, :, None]) / (2 * variances)


def by_separation(columns, shares, means, variances):
    """Return the columns in the order in which they tell an incumbent's components apart, the best first."""
    costs = costs_of(columns, means, variances)
    with np.errstate(divide="ignore"):
        own = (np.log(shares)[:, None] - costs.sum(axis=1)).argmax(axis=0)
    index = np.arange(columns.shape[1])
    away = (costs - costs[own, :, index].T).swapaxes(0, 1)  # (d, K, n)
    away[:, own, index] = np.inf
    return np.argsort(-away.min(axis=1).mean(axis=1), kind="stable")


def work_of_pass(family):
    """Multiplications per sample and component, about."""
    F = family.n_statistics
    return F * (8 + F)
