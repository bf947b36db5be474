"""
A bound of mixtures of covariance matrices of each component's own, by the shares of labels that a component takes.

A component takes a part of each label's samples, those of one component of an incumbent. Each label has a price for all
of it, the same for all labels; what a component can save is bounded by the parts that it takes, whatever samples they
are, over boxes of parts: one number for each label, for any number of columns.

Theory: (OL1), (OL4) and (OL5) of docs/theory/shares.md.
"""

import itertools
import math
import time
from types import SimpleNamespace

import numpy as np

from gopfast.mixtures.learning.learner import Learner, end_of_step
from gopfast.mixtures.marginal import constant_beside, in_floors
from gopfast.mixtures.shared.slices import LOG_2_PI
from gopfast.mixtures.shares.box_search import BoxSearch, best_prices
from gopfast.mixtures.shares.margins import SLACK, SUM
from gopfast.mixtures.shares.parts import PARTS, Label
from gopfast.mixtures.shares.share_boxes import ShareBoxes
from gopfast.mixtures.shares.tuning import (
    ADDED,
    CLOSE,
    FEWEST,
    HOPELESS,
    IN_VAIN,
    LARGER,
    MOST_COLUMNS,
    MOST_LABELS,
    MOST_NODES,
    MOST_PROOFS,
    N_AGAIN,
    N_MOVED,
    N_SMOOTHED,
    PROVED_BY,
    SLOPES,
    SMALLER,
)
from gopfast.roundoff import ROUND


def has_shares(family, problem):
    """Return whether there is such a bound: of many samples in a few columns, of a few components."""
    n, d, K = family.data.n_samples, problem.n_features, problem.n_components
    return n >= FEWEST and d <= MOST_COLUMNS and K <= MOST_LABELS


class ShareBound(Learner):
    """
    Lower bound of a mixture of covariance matrices; it has a step for each label, each noise, and for boxes.

    Parameters
    ----------
    problem : MixtureProblem
    family : Family
    solution : ndarray
        An incumbent: components are labels.
    limit : float
        What is to be proved.
    """

    def __init__(self, problem, family, solution, limit):
        self.problem, self.family, self.solution, self.limit = problem, family, solution, limit
        self.shares = self.search = self.at = self.work = None
        self.begun = time.monotonic()
        # noises smaller and smaller, then from the first one larger and larger
        self.tried, self.in_vain = [list(SMALLER), list(LARGER)], 0
        self.known, self.n_proofs, self.where = [], 0, []  # what noises promise, and lists of parts that were the worst
        self.proved = -math.inf  # per unit of weight

    def step(self, deadline):
        """Take the next label, or the next noise, or at last divide boxes; whether there are more."""
        # some bound in time is worth more than the best noise
        if time.monotonic() - self.begun > PROVED_BY * (deadline - self.begun) and self.known:
            self.tried = []
        more = self._step(end_of_step(deadline))
        self.n_terms = self.shares.n_terms
        # as many as would have taken the time: a pass takes the products of all statistics
        products = self.family.n_statistics * (8 + self.family.n_statistics)
        self.n_passes = self.n_terms // (self.problem.n_components * self.shares.n * products)
        return more and self.lower < self.limit

    def _step(self, deadline):
        if self.shares is None:
            self.shares = Shares(self.problem, self.family, self.solution)
            return self.shares.K == self.problem.n_components
        if not self.shares.is_ready:
            return self.shares.take_label(deadline)
        if self.work is not None:
            if all(time.monotonic() <= deadline for _ in self.work):
                self.work = None
            return True
        if self.tried:
            if self.tried[0] and self.in_vain < IN_VAIN:
                self.work = self._try(self.tried[0].pop(0))
            else:
                self.tried.pop(0)
                self.in_vain = 0
            return bool(self.tried) or self._is_worth_it()
        return self._prove(deadline)

    def _is_worth_it(self):
        """Whether a noise promises to leave little."""
        shares = self.shares
        most = max((one.value for one in self.known), default=-math.inf)
        return self.limit - shares.constant - shares.total * most < HOPELESS * shares.total

    def _try(self, variance):
        """Guess what noise of a variance would prove, and yield after every part of the work."""
        noises = []
        for one in self.shares.each_noise(variance):
            noises.append(one)
            yield
        if None in noises:
            self.in_vain = IN_VAIN
            return
        found = Promise(noises, self.shares.boxes(noises))
        yield from found.guess(self.shares, self.where)
        is_better = all(found.value > one.value for one in self.known)
        self.in_vain = 0 if is_better else self.in_vain + 1
        self.known.append(found)

    def _prove(self, deadline):
        """Bound what a component saves over all boxes, by the noise that promises most; whether there is more."""
        shares = self.shares
        if self.search is None and (not self.known or self.n_proofs == MOST_PROOFS):
            return False
        if self.search is None:
            self.at = max(self.known, key=lambda one: one.value)
            self.known.remove(self.at)
            close = CLOSE * shares.lack(self.at.noises) / shares.K
            self.search = BoxSearch(self.at.boxes, self.at.price, close)
        search, before = self.search, self.search.n_boxes
        more = search.run(deadline)
        shares.n_looked_at += search.n_boxes - before
        self.lower = max(self.lower, shares.proved(self.at.noises, search.most))
        if not more:
            self.n_proofs += 1
            self.where.append(search.where)
            self.search = None
            self.proved = max(self.proved, shares.value(self.at.noises, search.most))
            self.work = self._guess_again()
        return True

    def _guess_again(self):
        """Keep noises that promise more than is proved, that at hand at another price among them, and yield."""
        promising = sorted(self._promising([self.at, *self.known]), key=lambda one: -one.value)[:N_AGAIN]
        for one in promising:
            yield from one.guess(self.shares, self.where)
        self.known = self._promising(promising)

    def _promising(self, noises):
        """Return those that promise more than is proved, and than boxes that end early lose."""
        return [one for one in noises if one.value > self.proved + 2.0 * CLOSE * self.shares.lack(one.noises)]


class Promise:
    """What noise of each label promises to prove, per unit of weight, and at which price."""

    def __init__(self, noises, boxes):
        self.noises, self.boxes = noises, boxes

    def guess(self, shares, where):
        """Look at some lists of parts, `where` among them, and yield after every price."""
        enough, before = CLOSE * shares.lack(self.noises) / shares.K, 0
        for found in best_prices(self.boxes, where, enough):
            self.price, excess, n_terms = found
            self.value = shares.value(self.noises, excess)
            shares.n_looked_at += n_terms - before
            before = n_terms
            yield


class Shares:
    """
    Samples by labels.

    Parameters
    ----------
    problem, family, solution
        As of `ShareBound`.
    """

    def __init__(self, problem, family, solution):
        rows, self.weights, means, covariances = in_floors(problem, family, solution)
        self.z, (self.n, self.d) = np.ascontiguousarray(rows.T), rows.shape
        self.total, self.n_looked_at = math.fsum(self.weights), 0  # lists of parts, and boxes
        self.constant = constant_beside(problem, rows, self.d)
        cost = []
        for weight, mean, covariance in zip(solution, means, covariances, strict=False):
            if not weight > 0.0:
                continue
            root = np.linalg.cholesky(covariance)
            apart = np.linalg.solve(root, self.z - mean[:, None])
            cost.append(0.5 * np.square(apart).sum(axis=0) + np.log(root.diagonal()).sum() - math.log(weight))
        own = np.argmin(cost, axis=0)
        self.places = [np.flatnonzero(own == k) for k in range(len(cost))]
        self.places = [place for place in self.places if len(place) > self.d]
        self.K = len(self.places) if sum(map(len, self.places)) == self.n else 0
        self.labels, self.told, self.ways, self.along = [], [], None, None

    @property
    def is_ready(self):
        """Whether all labels are taken, and what lies between them is known."""
        return self.along is not None

    @property
    def n_terms(self):
        """Terms so far."""
        return self.n_looked_at + sum(label.n_terms for label in self.labels)

    def take_label(self, deadline=math.inf):
        """Take the next label, then look along directions in the next one; whether that is possible."""
        if len(self.labels) < self.K:
            place = self.places[len(self.labels)]
            label = Label(np.ascontiguousarray(self.z[:, place]), self.weights[place], 4.0 * ROUND, deadline)
            if not label.is_flat:
                self.labels.append(label)
            return not label.is_flat
        if self.ways is None:
            self._begin_together()
        self.told.append(self.labels[len(self.told)].along(self.ways))
        if len(self.told) == self.K:
            self._together()
        return True

    def _begin_together(self):
        """Find directions in which labels are apart."""
        labels = self.labels
        self.shares = np.array([label.total for label in labels]) / self.total
        scales = math.fsum(self.shares * [label.log_det for label in labels])
        entropy = -math.fsum(self.shares * np.log(self.shares))
        self.height = math.fsum([0.5 * self.d * (1.0 + LOG_2_PI), entropy, -scales])
        self.ratio = np.array([
            [np.linalg.norm(b.B @ np.linalg.inv(a.B), 2) ** 2 * (1.0 + 1e-6) for b in labels] for a in labels
        ])
        self.ways, self.pairs = self._ways()

    def _together(self):
        """Look at what lies between labels."""
        places, tilted, displaced, roots = map(np.array, zip(*self.told, strict=True))
        self.told = []  # of five labels fifty megabytes
        # of each label along each direction: its place, and up, down and second moments of its parts
        found = (places, displaced[:, :, 0], displaced[:, :, 1], tilted[:, :, 0, 0])
        self.along = [np.ascontiguousarray(one) for one in found]
        self.moved, self.spread, self.pair, self.pair_ways = self._displaced(tilted, displaced, roots, self.pairs)
        self.trees = np.array(trees(self.K), dtype=np.intp).reshape(-1, self.K - 1, 2)
        self.floors = np.square(self.ways).sum(axis=1) * (1.0 + SLACK)

    def _ways(self):
        """Return directions (D, d) in which labels are apart, and where those of each pair are."""
        labels, K = self.labels, self.K
        means = [label.mean for label in labels]
        inside = [np.linalg.inv(label.B.T @ label.B) for label in labels]
        whole, ways, pairs = sum(inside), [], {}
        for a, b in itertools.combinations(range(K), 2):
            pairs[a, b] = range(len(ways), len(ways) + 3)
            ways += [np.linalg.solve(one, means[a] - means[b]) for one in (inside[a] + inside[b], inside[a], inside[b])]
        for a, b in itertools.combinations(range(K), 2):
            apart = means[a] - means[b]
            along = np.linalg.solve(whole, apart)
            for c in range(K):
                if c not in (a, b):
                    way = np.linalg.solve(whole, means[c] - 0.5 * (means[a] + means[b]))
                    ways.append(way - along * ((way @ apart) / (along @ apart)))
        ways = np.array(ways)
        norms = np.sqrt(np.einsum("ij,jk,ik->i", ways, whole, ways))
        return ways / np.where(norms > 0.0, norms, 1.0)[:, None], pairs

    def _displaced(self, tilted, displaced, roots, pairs):
        """Return how far parts of two labels are displaced towards each other, and their variance where they are."""
        K, P, R = self.K, len(PARTS), 3
        moved, spread = np.zeros((len(pairs), 2, R, P)), np.zeros((len(pairs), 2, R, P, N_MOVED + 1))
        number, ways = np.zeros((K, K), dtype=np.intp), np.zeros((len(pairs), R), dtype=np.intp)
        places = self.along[0]
        for p, ((a, b), own) in enumerate(pairs.items()):
            number[a, b] = number[b, a] = p
            ways[p] = own
            for r, u in enumerate(own):
                up = 0 if places[b, u] > places[a, u] else 1
                for side, (k, way) in enumerate(((a, up), (b, 1 - up))):
                    far, told, root = displaced[k, u, way], tilted[k, u, way], roots[k, u]
                    moved[p, side, r] = far
                    spread[p, side, r, :, 0] = told[0]
                    for i in range(N_MOVED):
                        left = far * (i / N_MOVED) * (1.0 - SLACK)
                        most = np.min(told - np.outer(SLOPES, left) * root, axis=0)
                        most += SLACK * (told[-1] + SLOPES[-1] * left * root)
                        spread[p, side, r, :, i + 1] = np.maximum(most - left * left, 0.0)
        return moved, spread, number, ways

    def each_noise(self, variance):
        """Yield the noise of each label in turn, in grids as fine for all as are not too large; None: there is none."""
        for n_smoothed in N_SMOOTHED:
            n_nodes = max(label.n_nodes(variance, n_smoothed) for label in self.labels)
            if n_nodes * (2 + n_smoothed) <= MOST_NODES / self.K:
                yield from (label.noise(variance, n_smoothed) for label in self.labels)
                return
        yield None

    def lack(self, noises):
        """Return what entropies lack, per unit of weight."""
        return math.fsum(share * one.lack for share, one in zip(self.shares, noises, strict=True))

    def boxes(self, noises):
        """Return the tables of parts."""
        labels = self.labels
        places, high, low, wide = self.along
        lost = np.stack([label.lost(one, ADDED) for label, one in zip(labels, noises, strict=True)], axis=1)
        thin = [label.thinnest(one) for label, one in zip(labels, noises, strict=True)]
        return ShareBoxes(
            SimpleNamespace(
                shares=self.shares, parts=PARTS, lost=lost, thin=np.array(thin), ratio=self.ratio,
                places=places, high=high, low=low, wide=wide,
                noise=noises[0].variance, floor_of=np.array([label.floor for label in labels]),
                added=np.array(ADDED), floors=self.floors, pair=self.pair, pair_ways=self.pair_ways, moved=self.moved,
                spread=self.spread, trees=self.trees,
            ),
            self.d,
        )  # fmt: skip

    def value(self, noises, excess):
        """Return about what noises prove, per unit of weight."""
        return self.height - self.lack(noises) - self.K * excess

    def proved(self, noises, excess):
        """Return what noises prove, in nats, rounded down."""
        size = abs(self.height) + self.K * (abs(excess) + 1.0) + 64.0
        value = math.fsum([self.height, -self.lack(noises), -self.K * excess, -SLACK * size])
        return self.constant + self.total * value - SUM * self.total * abs(value)


def trees(n):
    """Return all ways to merge n labels, two at a time: lists of pairs of bits."""
    found = {}

    def grow(masks, merged):
        if len(masks) == 1:
            found[frozenset(merged)] = merged
            return
        for a, b in itertools.combinations(masks, 2):
            grow([*(one for one in masks if one not in (a, b)), a | b], [*merged, (min(a, b), max(a, b))])

    grow([1 << k for k in range(n)], [])
    return list(found.values())
