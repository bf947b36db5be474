"""
A bound of many samples in four and more columns: what blocks of columns that overlap prove, put together.

For responsibilities r the objective is f = I(r) + sum_a E_a(r): the mutual information of samples and components, and
what each column costs, both nonnegative in units of the floor. A block b of columns, each counted c_b times, has the
optimum F_b = min over r of I(r) + c_b (sum over its columns of E_a(r)). So for all weights alpha_b >= 0

    f  >=  sum_b alpha_b F_b,   where   sum_b alpha_b <= 1   and   sum over b with a in b of alpha_b c_b <= 1 for all a.

The best weights are a linear program, whatever has been proved of each block so far. Where blocks overlap, every column
is seen beside several others, and each counts fewer times than in blocks that share none: less is lost. Spherical
components have a variance of their own in each block.

What blocks leave of a component is where prices of all columns begin.

Theory: (I6) and (I7) of docs/theory/many.md.
"""

import math
import time
from itertools import combinations

import numpy as np

from gopfast.mixtures.learning.learner import Learner, end_of_step
from gopfast.mixtures.pricing.blocks import Partitions, work_of_pass
from gopfast.mixtures.pricing.confinement import touching
from gopfast.mixtures.pricing.grouped import GroupedBound
from gopfast.mixtures.pricing.margins import COVERED
from gopfast.mixtures.pricing.raised import RaisedBound, has_raised_prices
from gopfast.mixtures.pricing.tuning import (
    COVER_AT_ONCE as AT_ONCE,
    COVER_ENOUGH as ENOUGH,
    COVER_FEW as FEW,
    COVER_FEWEST as FEWEST,
    COVER_FEWEST_COLUMNS as FEWEST_COLUMNS,
    COVER_FEWEST_EACH as FEWEST_EACH,
    COVER_FIRST_LOOK as FIRST_LOOK,
    COVER_GAINED as GAINED,
    COVER_IN_VAIN as IN_VAIN,
    COVER_MANY as MANY,
    COVER_MOST_BOXES as MOST_BOXES,
    COVER_MOST_WHOLE as MOST_WHOLE,
    COVER_RAISED as RAISED,
    COVER_STILL as STILL,
    COVER_STILL_FOR as STILL_FOR,
    DRAWN,
    LAST_STEPS,
    LITTLE,
    MOST_BLOCKS,
    PARAMETERS,
    ROUGH,
    ROUGH_STEPS,
    UNUSED,
)
from gopfast.roundoff import ROUND


class CoverBound(Learner):
    """
    A lower bound of a mixture by those of blocks of its columns that overlap, each by groups of samples.

    Parameters
    ----------
    family : NormalFamily
        Of K components, no shared variance.
    solution : ndarray
        An incumbent, as the primal keeps it: weights (K,), parameters, prior weight.
    limit : float
        Solutions below it are sought.
    threads : int
    records : gopfast.mixtures.block_record.BlockRecords, optional
        For a proof: what keeps the blocks' cells.
    raised : bool
        Whether blocks may have prices as high as merging allows (U6), where these are of use.
    first_look : bool
        Whether the smallest blocks are all, and end soon, as another bound follows.
    problem : MixtureProblem, optional
        What the family was made from.

    Attributes
    ----------
    lower : float
        Proved, in nats.
    """

    at_work = -math.inf  # of the blocks at hand alone

    def __init__(self, family, solution, limit, threads=1, records=None, raised=True, first_look=False,
                 problem=None):  # fmt: skip
        self.family, self.limit, self.threads, self.lower = family, limit, threads, -math.inf
        self.records, self.raised = records, raised
        self.rng = np.random.default_rng(0)
        n = len(family.data.arrays()[1])
        drawn = np.sort(self.rng.choice(n, DRAWN, replace=False)) if n > DRAWN else np.arange(n)
        self.all, self.part = Partitions(family, solution), Partitions(family, solution, drawn)
        self.unit = n * family.n_components * work_of_pass(family) / LITTLE
        sizes = [n // 2 if family.per_column else n - 1 for n in PARAMETERS]
        self.sizes = [size for size in sizes if size < family.n_columns][: 1 if first_look else None]
        self.first_look = first_look
        may_follow = family.per_column and raised and records is None and not first_look
        self.is_followed = may_follow and has_raised_prices(family, most=MOST_WHOLE)  # by those of all columns
        self.blocks, self.done = [], []
        self.solution, self.problem = np.array(solution), problem
        self.whole, self.work = None, None  # the bound of all columns that follows; finding where its cells begin

    @property
    def n_terms(self):
        """Terms so far; a column less counts no less."""
        of_blocks = sum(block.n_terms for block in [*self.done, *self.blocks])
        whole = 0 if self.whole is None else self.whole.n_terms
        return of_blocks + self.all.n_terms + self.part.n_terms + whole

    @property
    def n_passes(self):
        """Passes over all columns so far, as many as those of blocks would have taken the time."""
        whole = 0 if self.whole is None else self.whole.n_terms * work_of_pass(self.family)
        return int((sum(block.n_terms * block.work for block in [*self.done, *self.blocks]) + whole) / self.unit)

    def step(self, deadline):
        """Next thing to learn, of the block of which most is missing; whether there is more."""
        if self.lower >= self.limit:
            return False
        if self.whole is not None:
            return self._step_whole(deadline)
        if self.work is not None:
            return self._step_confine(deadline)
        if not self.blocks:
            if not self.sizes:
                return False
            self._begin_next()
            return True
        todo = [block for block in self.blocks if block.more and block.weight > 0.0]
        missing = sum(block.weight * block.missing for block in todo)
        enough = FIRST_LOOK if self.first_look else ENOUGH if self.sizes or self.is_followed else 0.0
        if todo and missing > enough * self.loss and not (enough > 0.0 and self._stands_still(missing)):
            max(todo, key=lambda block: block.priority).step(deadline)
            self._count()
            return True
        if self._can_confine():
            self.work = self._confine()
            return True
        return self._end_last()

    def _stands_still(self, missing):
        """Whether the blocks at hand have come no nearer to what they can prove for long."""
        work = sum(block.n_terms * block.work for block in self.blocks)
        if missing < STILL * self.mark[1] or not math.isfinite(missing):
            self.mark = work, missing
        return work > STILL_FOR * self.mark[0]

    def _can_confine(self):
        """Whether the blocks, the last ones, can say where components of all columns lie; none is told to a proof."""
        if self.sizes or self.first_look or self.records is not None or not self.family.per_column:
            return False
        if not all(isinstance(block.bound, RaisedBound) and math.isfinite(block.lower) for block in self.blocks):
            return False
        limits = self._limits()
        if len({column for block, _ in limits for column in block.columns}) < self.family.n_columns:
            return False
        return all(block.bound.tells(limit) for block, limit in limits)

    def _step_confine(self, deadline):
        """Go on with finding where components lie."""
        end = end_of_step(deadline)
        if all(time.monotonic() <= end for _ in self.work):
            self.work = None
            return self._end_last()
        return True

    def _end_last(self):
        """Have the next blocks or, after the last, prices of all columns; whether there is more."""
        is_last = not self.sizes
        self._end()
        if is_last and self.whole is None and self.is_followed:
            self._begin_whole(None)
        return self.whole is not None or bool(self.sizes)

    def _begin_whole(self, boxes):
        """Begin with prices of all columns, in some boxes (m, n), (m, n) or, None, of all components."""
        boxes = None if boxes is None else (*boxes, None)
        self.whole = RaisedBound(self.family, self.problem, self.solution, self.limit, self.threads, boxes=boxes)

    def _confine(self):
        """Find boxes of all columns that hold all components of any solution below the limit, and yield."""
        d = self.family.n_columns
        boxes = np.full((1, 2 * d), -math.inf), np.full((1, 2 * d), math.inf)
        for block, limit in self._limits():
            yield from block.bound.confine(limit)
            boxes = together(*boxes, [*block.places, *(block.places + d)], *hulls(*block.bound.confined))
            if len(boxes[0]) > MOST_BOXES:
                return
        if not len(boxes[0]):  # no component, no solution
            self.lower = self.limit
            return
        self._begin_whole(boxes)

    def _limits(self):
        """Return the blocks at hand, and what mixtures below the limit cost less than in each of them (I7)."""
        lower = np.array([block.lower for block in self.blocks])
        weights, found = best_weights(lower, self._members(self.blocks)), []
        for b, block in enumerate(self.blocks):
            if weights[b] > UNUSED:
                rest = np.where(np.arange(len(lower)) == b, 0.0, weights * lower)
                terms = [self.limit, -self.family.constant, self.family.constant_error, *-rest]
                most = math.fsum(terms) + 8 * ROUND * math.fsum(np.abs(terms))
                found.append((block, (most + 8 * ROUND * abs(most)) / weights[b]))
        return found

    def _step_whole(self, deadline):
        """Next thing to learn of all columns, in the boxes that blocks have left."""
        more = self.whole.step(deadline)
        self.at_work = self.whole.at_work
        self.lower = max(self.lower, self.whole.lower)
        return more

    def _begin_next(self):
        """Begin with the next blocks, or at once with larger ones that lose far less."""
        self._begin(self.sizes.pop(0))
        if self.sizes and self.records is None and self.raised and has_raised_blocks(self.family, self.sizes[0]):
            smaller, loss = self.blocks, self.loss
            self._begin(self.sizes[0])
            if self.loss <= AT_ONCE * loss or len(self.blocks) <= FEW:
                self.sizes.pop(0)
            else:
                self.blocks, self.loss = smaller, loss

    def _begin(self, size):
        """Choose blocks of so many columns, and make them ready."""
        chosen, raised = self._chosen(size), self.raised and has_raised_blocks(self.family, size)
        self.blocks = [CoverBlock(self.all, *block, self.threads, self.records, raised) for block in chosen]
        self.at_work = -math.inf
        objectives = np.array([block.bound.limit for block in self.blocks])
        weights = best_weights(objectives, self._members(self.blocks))
        for block, weight in zip(self.blocks, weights, strict=True):
            block.weight = weight
        self.loss, self.mark = max(0.0, self.limit - self._added(weights, objectives)), (0, math.inf)

    def _end(self):
        """Keep what the blocks have proved, and nothing else of them."""
        if self.records is not None:
            self.records.settle()
        self.done += [ProvedBlock(block) for block in self.blocks]
        self.blocks = []

    def _chosen(self, size):
        """Return the blocks, columns and copies, whose optima would add up to the most, as far as EM knows them."""
        candidates = subsets(self.family.n_columns, size, self.part.order, self.rng)
        tried = [(columns, copies) for columns in candidates for copies in copies_of(self.family.n_columns, size)]
        values = []
        for columns, copies in tried:
            family, block = self.part.family_of(list(columns), copies)
            found = self.part.mixtures(family, block, self.part.starts, ROUGH, ROUGH_STEPS)
            values.append(min(value for _, value in found))
        weights = best_weights(np.array(values), members_of(tried, self.family.n_columns))
        return [one for one, weight in zip(tried, weights, strict=True) if weight > UNUSED]

    def _count(self):
        """Put together what has been proved."""
        self.at_work = self._together(self.blocks)
        self.lower = max(self.lower, self._together([*self.done, *self.blocks]) if self.done else self.at_work)

    def _together(self, blocks):
        """Return what some blocks prove together, at most the limit."""
        proved = [block for block in blocks if math.isfinite(block.lower)]
        if not proved:
            return -math.inf
        lower = np.array([block.lower for block in proved])
        return min(self._added(best_weights(lower, self._members(proved)), lower), self.limit)

    def _members(self, blocks):
        """Return the copies of each column in each block, (B, d)."""
        return members_of([(block.columns, block.copies) for block in blocks], self.family.n_columns)

    def _added(self, weights, values):
        """Return the weighted sum of values of blocks for the objective, rounded down."""
        terms = [*(weights * values), self.family.constant]
        return math.fsum(terms) - self.family.constant_error - 8 * ROUND * math.fsum(np.abs(terms))


class CoverBlock:
    """
    Some columns of a mixture, each of which counts several times, by groups of samples.

    Parameters
    ----------
    of : Partitions
    columns : sequence of int
    copies : int
        A power of 2.
    threads : int
    records : BlockRecords or None
    raised : bool
        Whether prices are as high as merging allows, unless none of these are of use.

    Attributes
    ----------
    weight : float
        Of its optimum in the objective's bound, about.
    work : int
        Multiplications for each term, about.
    more : bool
        Whether there is more to learn.
    """

    def __init__(self, of, columns, copies, threads, records=None, raised=False):
        self.columns, self.copies, self.weight, self.more = columns, copies, 0.0, True
        family, block = of.family_of(list(columns), copies)
        self.places = block  # of all columns, in the order of the family's
        solution, objective = min(of.mixtures(family, block, of.starts, ROUGH, LAST_STEPS), key=lambda one: one[1])
        record = None if records is None else records.of_block(family, block, copies)
        self.made_of, self.terms_before = (family, None, solution, objective, threads), 0
        kept = {"keeps": records is None} if raised else {}
        self.bound = (RaisedBound if raised else GroupedBound)(*self.made_of, record=record, **kept)
        self.work = work_of_pass(family)
        self.n_vain, self.before = 0, math.inf  # steps since less was missing, and what was missing then

    @property
    def n_terms(self):
        """Terms so far."""
        return self.terms_before + self.bound.n_terms

    @property
    def lower(self):
        """Proved of the block, in nats of all copies."""
        return self.bound.lower

    @property
    def missing(self):
        """How much higher the bound can become, in nats of all copies."""
        return self.bound.limit - self.bound.lower

    @property
    def priority(self):
        """What it may add to the bound of all; less if its last steps have gained nothing, as others may gain now.

        Sets of two columns take long for their first gain, all of them.
        """
        n_vain = self.n_vain if len(self.columns) >= RAISED else 0
        return self.weight * self.missing * IN_VAIN**n_vain

    def step(self, deadline):
        """Next thing to learn."""
        self.more = self.bound.step(deadline)
        gained = self.missing < GAINED * self.before
        self.n_vain, self.before = (0, self.missing) if gained else (self.n_vain + 1, self.before)
        if not self.more and isinstance(self.bound, RaisedBound) and not math.isfinite(self.lower):
            self.terms_before = self.bound.n_terms
            self.bound, self.more = GroupedBound(*self.made_of, record=self.bound.record), True


class ProvedBlock:
    """What has been proved of a block that is no longer at work."""

    def __init__(self, block):
        self.columns, self.copies, self.lower = block.columns, block.copies, block.lower
        self.n_terms, self.work = block.n_terms, block.work


def is_covered(family, is_recorded=False):
    """Whether the bound is for this family, for a proof or not: samples of four and more columns, free variances."""
    if not family.has_blocks or family.data.is_summary or family.has_prior or family.n_components < 2:
        return False
    fewest = MANY if is_recorded else min(MANY, max(FEWEST, FEWEST_EACH * family.n_components))
    return family.n_columns >= FEWEST_COLUMNS and family.data.n_samples >= fewest


def has_raised_blocks(family, size):
    """Return whether blocks of so many columns have prices as high as merging allows: diagonal, of many samples."""
    return family.per_column and size >= RAISED and has_raised_prices(family, size)


def best_weights(values, members):
    """
    Return weights (B,) >= 0 of the blocks: their sum and, times copies, those of every column are at most 1.

    Parameters
    ----------
    values : ndarray, shape (B,)
        Lower bounds of the blocks' optima; those below 0 have no weight.
    members : ndarray, shape (B, d)
        How many times each column counts in each block.
    """
    # Here and not above: it takes longer to import than most problems to solve.
    from scipy.optimize import linprog

    rows = np.column_stack([np.ones(len(values)), members]).T
    scale = max(np.abs(values).max(), 1e-300)
    found = linprog(-np.maximum(values, 0.0) / scale, A_ub=rows, b_ub=np.ones(len(rows)), method="highs")
    weights = np.zeros(len(values)) if found.x is None else np.where(values > 0.0, np.maximum(found.x, 0.0), 0.0)
    return weights / (max(1.0, (rows @ weights).max()) * (1.0 + COVERED))


def copies_of(n_columns, size):
    """Return how many times columns count in blocks of some size: the powers of 2 around the average."""
    share = math.log2(n_columns / size)
    return sorted({2 ** math.floor(share), 2 ** math.ceil(share)})


def hulls(low, high):
    """Return boxes (m, n), (m, n) around cells that touch, whichever way they do."""
    of = touching(low, high) if len(low) else np.zeros(0, dtype=int)
    groups = [of == group for group in range(of.max(initial=-1) + 1)]
    shape = len(groups), low.shape[1]
    least = np.array([low[own].min(axis=0) for own in groups]).reshape(shape)
    return least, np.array([high[own].max(axis=0) for own in groups]).reshape(shape)


def together(low, high, places, least, most):
    """Return what is left of boxes (m, n), (m, n) where their sides at some places lie in one of others."""
    pairs = [(i, j) for i in range(len(low)) for j in range(len(least))]
    one, other = np.array(pairs, dtype=int).reshape(-1, 2).T
    low, high = low[one], high[one]
    low[:, places] = np.maximum(low[:, places], least[other])
    high[:, places] = np.minimum(high[:, places], most[other])
    held = (low <= high).all(axis=1)
    return low[held], high[held]


def members_of(blocks, n_columns):
    """Return the copies of each column in each block, (B, d), of pairs of columns and copies."""
    members = np.zeros((len(blocks), n_columns))
    for row, (columns, copies) in zip(members, blocks, strict=True):
        row[list(columns)] = copies
    return members


def subsets(n_columns, size, order, rng):
    """Return sets of so many columns: all, or where these are too many random ones that have every column."""
    if math.comb(n_columns, size) <= MOST_BLOCKS:
        return list(combinations(range(n_columns), size))
    found = set()
    n_parts = -(-n_columns // size)
    while len(found) < MOST_BLOCKS:
        found.update(tuple(sorted(int(j) for j in part)) for part in np.array_split(order, n_parts))
        order = rng.permutation(n_columns)
    return sorted(found)
