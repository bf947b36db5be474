"""
Search by counts: nodes say how many components lie in which cells, with prices of their own.

What prices at the root leave of one component's cells is divided into disjoint groups, and a node has a number of
components for each. Its bound is sum w lambda - sum over its groups of n sup G, for the best lambda of *these* numbers.
A node is divided where the master problem's numbers are fractional: one group becomes two, with 0 ... n of its
components in the first. Components have no names, so that there is no K!.

Theory: (N1), (N2) and (N3) of docs/theory/counts.md.
"""

import math
import time

import numpy as np

from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.pricing.cell_tree import CellTree
from gopfast.mixtures.pricing.pricing_root import SUMMED, total_of, unlike
from gopfast.search.meter import Meter

N_ROUNDS = 10  # of column generation in a node
N_TURNS = 3  # of dividing cells, and of prices after that
MOST_ADDED = 3  # atoms of a group and round
MOST_LOOKED_AT = 30
MOST_SAMPLED = 600  # cells of a group whose points are looked at between looks at all
IDLE = 1e-4  # multipliers of atoms that go
FIRST, LATER = 0.3, 0.05  # weights of the barrier, nats
SHARE_OF_GAP = 0.25  # that prices may lose, and that suprema may, of what the parent's bound lacks
COARSEST, FINEST = 0.1, 0.005  # nats, of both
WHOLE = 1e-3  # how little whole numbers of atoms that differ tell
CLEAR = 1e-3  # nats by which atoms alone must exceed the limit for prices to be good enough
MOST_CELLS = 20_000  # to begin with; more are put together, and divided again where they matter
MOST_DIVIDED = 400  # cells of a turn
MOST_NODES = 400
MOST_OPEN = 64  # nodes that are told to the labelled tree
WINDOW = 32  # nodes in which a search must
GAIN = 0.1  # make up for this part of what its bound lacks
PASSES_OF_AN_ATOM = 100  # of the master problem, one with another


class CountNode:
    """
    Numbers of components in groups of cells.

    Attributes
    ----------
    groups : list of ndarray of int
        Indices of cells.
    counts : ndarray, shape (G,)
    prices : ndarray, shape (N,)
    atoms : list of ndarray of int
        Of every group, the cells whose points its atoms are,
    shares : list of ndarray
        and their multipliers, which add up to the group's count.
    upper : list of ndarray
        What G exceeds in none of the cells, at the prices.
    total, lower : float
        At most sum w lambda plus the constant; a bound of all its mixtures.
    """

    def __init__(self, groups, counts, prices, atoms, lower):
        self.groups, self.counts, self.prices, self.atoms, self.lower = groups, counts, prices, atoms, lower
        self.shares = [np.ones(len(cells)) for cells in atoms]
        self.upper, self.total = None, -math.inf

    def take(self, g, cells):
        """Take the points of cells as atoms of a group, unless they are."""
        new = cells[~np.isin(cells, self.atoms[g])]
        self.atoms[g] = np.concatenate([self.atoms[g], new])
        self.shares[g] = np.concatenate([self.shares[g], np.zeros(len(new))])


class CountSearch:
    """
    Best-first search of numbers of components in groups of cells.

    Parameters
    ----------
    bound : PricingBound
        Of the root, once it has cells.
    """

    def __init__(self, bound):
        self.bound, self.pricing, self.master = bound, bound.pricing, bound.master
        self.weights, self.n_components = bound.weights, bound.n_components
        low, high, upper = bound.cells
        if len(low) > MOST_CELLS:
            boxes = CellTree(low, high, upper, MOST_CELLS // 2).state()
            low, high = (boxes[name][boxes["left"] < 0] for name in ("low", "high"))
        self.low, self.high = np.array(low), np.array(high)
        self.points = 0.5 * (self.low + self.high)
        held = ((bound.points[:, None] >= low) & (bound.points[:, None] <= high)).all(axis=2)
        for atom in np.flatnonzero(held.any(axis=1)):
            self.points[held[atom].argmax()] = bound.points[atom]
        cells, K = np.arange(len(low)), self.n_components
        atoms = held[held.any(axis=1)].argmax(axis=1) if held.any() else cells[:1]
        self.branch, self.at = np.full(len(low), -1), np.array(self.points)
        self.warm = np.zeros((len(low), self.pricing.n_warm), dtype=np.float32)
        root = CountNode([cells], np.array([float(K)]), bound.prices, [np.unique(atoms)], bound.lower)
        self.stuck, self.n_nodes, self.n_closed = [], 0, 0
        self.looked_at, self.lacked, self.n_passes = 0, math.inf, 0
        self.scales = np.maximum(self.high.max(axis=0) - self.low.min(axis=0), 1e-300)
        self.open = self._bound(root)

    @property
    def limit(self):
        """Solutions below it are sought."""
        return self.bound.limit

    @property
    def lower(self):
        """What is proved of all solutions below the limit, at most the limit."""
        return min([self.limit, *(node.lower for node in self.open + self.stuck)])

    @property
    def n_left(self):
        """Nodes that are not closed."""
        return len(self.open) + len(self.stuck)

    def step(self, deadline=math.inf):
        """Divide the node of the least bound; whether there is more to do."""
        left = [node for node in self.open if node.lower < self.limit]
        if not left:
            self.open = left
            return False
        node = min(left, key=lambda node: node.lower)
        split = self._split(node)
        children = [] if split is None else self._divide(node, *split, deadline)
        if time.monotonic() > deadline:
            return True
        if split is None:
            self.stuck = [*self.stuck, node]
        # what is open is never less than what is left, wherever Ctrl-C comes
        self.open = [other for other in left if other is not node] + children
        return bool(self.open) and self.n_nodes < MOST_NODES and self._gains()

    def _gains(self):
        """Whether the bound still rises, and the nodes are not too many to be told."""
        if self.n_nodes >= self.looked_at + WINDOW:
            lacks = self.limit - self.lower
            if lacks > (1.0 - GAIN) * self.lacked:
                return False
            self.looked_at, self.lacked = self.n_nodes, lacks
        return self.n_left <= MOST_OPEN

    def leaves(self):
        """Return what `CountCuts` takes: (total, groups) of every node that is left."""
        return [
            (node.total, [
                (self.low[cells], self.high[cells], upper, int(n))
                for cells, upper, n in zip(node.groups, node.upper, node.counts, strict=True)
            ])
            for node in self.open + self.stuck if node.lower < self.limit
        ]  # fmt: skip

    # One node

    def _bound(self, node, deadline=math.inf):
        """Find prices of a node, suprema, and the cells that they leave; returns [node], or [] if it is closed."""
        self.n_nodes += 1
        lacking = max(self.limit - node.lower, 0.0) if math.isfinite(node.lower) else math.inf
        tolerance = min(COARSEST, max(FINEST, SHARE_OF_GAP * lacking))
        before = node.lower
        for _ in range(N_TURNS):
            self._price(node, tolerance, deadline)
            if not self._prove(node, tolerance):
                break
        node.lower = max(before, node.lower)
        if node.lower >= self.limit or not self._eliminate(node):
            self.n_closed += 1
            return []
        return [node]

    def _price(self, node, tolerance, deadline):
        """Column generation over the points of the node's cells."""
        K, best = self.n_components, -math.inf
        prices, kept = node.prices, node.prices
        looked_at, turn = node.groups, 0
        while turn < N_ROUNDS:
            # between looks at all cells, those that had the most
            every = looked_at is node.groups
            values = self._values(prices, looked_at)
            tops = np.array([part.max() for part in values])
            found = total_of(self.weights, prices, self.bound.family.constant) - node.counts @ tops
            if every and found > best:
                best, kept, node.tops = found, prices, tops
            if best > self.limit + CLEAR or time.monotonic() > deadline:
                break
            clear = not every and found > self.limit + CLEAR
            if clear or (not self._add(node, looked_at, prices, values, tolerance / K) and turn):
                if every:
                    break
                looked_at = node.groups
                continue
            if every:
                looked_at = [
                    np.union1d(cells[np.argpartition(-part, min(MOST_SAMPLED, len(cells)) - 1)[:MOST_SAMPLED]], atoms)
                    for cells, part, atoms in zip(node.groups, values, node.atoms, strict=True)
                ]
            atoms = np.concatenate([self.points[cells] for cells in node.atoms])
            groups = np.repeat(np.arange(len(node.groups)), [len(cells) for cells in node.atoms])
            last = tolerance / len(atoms)
            self.n_passes += PASSES_OF_AN_ATOM * len(atoms)
            prices, _, z = self.master.solve(
                prices, atoms, groups, node.counts, last, max(last, LATER if turn else FIRST), deadline
            )
            self._drop_idle(node, z, groups)
            turn += 1
        node.prices = kept

    def _values(self, prices, groups):
        """G at the points of groups of cells."""
        cells = np.concatenate(groups)
        self.n_passes += len(cells)
        values = self.pricing.values(prices, self.points[cells])
        return np.split(values, np.cumsum([len(part) for part in groups])[:-1])

    def _add(self, node, looked_at, prices, values, tolerance):
        """Take points of the largest values as atoms; whether there were any."""
        added = False
        for g, (cells, value) in enumerate(zip(looked_at, values, strict=True)):
            order = np.argsort(-value, kind="stable")[:MOST_LOOKED_AT]
            if len(node.atoms[g]):
                have = value[np.isin(cells, node.atoms[g])].max(initial=-np.inf)
                order = order[value[order] > have + tolerance]
            if len(order):
                new = cells[order[unlike(self.pricing.columns(prices, self.points[cells[order]])[0], MOST_ADDED)]]
                node.take(g, new)
                added = True
        return added

    def _drop_idle(self, node, z, groups):
        node.shares = []
        for g in range(len(node.groups)):
            part = z[groups == g]
            keep = part > min(IDLE, part.max())
            if not keep.any():
                keep[part.argmax()] = True
            node.atoms[g], part = node.atoms[g][keep], part[keep]
            node.shares.append(part * (node.counts[g] / part.sum()) if part.sum() > 0 else part)

    def _prove(self, node, tolerance):
        """Bounds of all cells at the node's prices, divided where they exceed what points attain; whether to go on.

        To go on is to find prices again: points of new cells have more than those of the old ones.
        """
        K, limit = self.n_components, self.limit
        node.total = self.bound.total_at(node.prices)
        values = [self.pricing.values(node.prices, self.points[cells]) for cells in node.groups]
        tops = np.array([value.max() for value in values])
        upper = [np.full(len(cells), np.inf) for cells in node.groups]
        for _ in range(N_TURNS):
            aim = node.total - node.counts @ tops
            spare = max(limit - aim, 0.0)
            share = max(FINEST / K, 0.5 * (aim - limit) / K) if aim > limit else tolerance / K
            self._bound_cells(node, upper, tops - spare)
            sups = np.array([part.max() for part in upper])
            node.lower = self._lower(node.total, node.counts, sups)
            if node.lower >= limit:
                break
            divided = False
            for g in range(len(node.groups)):
                order = np.argsort(-upper[g], kind="stable")[:MOST_DIVIDED]
                cells = node.groups[g][order]
                order = order[(upper[g][order] > tops[g] + share) & (self.branch[cells] >= 0)]
                if len(order):
                    divided = True
                    old = node.groups[g][order]
                    fresh, heirs = self._halve(old)
                    heir_of = dict(zip(old.tolist(), heirs.tolist(), strict=True))
                    node.atoms[g] = np.array([heir_of.get(cell, cell) for cell in node.atoms[g].tolist()], dtype=int)
                    kept = np.delete(np.arange(len(upper[g])), order)
                    node.groups[g] = np.concatenate([node.groups[g][kept], fresh])
                    upper[g] = np.concatenate([upper[g][kept], np.full(len(fresh), np.inf)])
                    tops[g] = max(tops[g], self.pricing.values(node.prices, self.points[fresh]).max())
            if not divided:
                break
        self._bound_cells(node, upper, tops - spare)  # of the last turn
        node.upper = upper
        sups = np.array([part.max() for part in upper])
        node.lower = self._lower(node.total, node.counts, sups)
        if node.lower >= limit or not node.counts @ (tops - node.tops) > tolerance:
            return False
        for g, cells in enumerate(node.groups):
            value = self.pricing.values(node.prices, self.points[cells])
            if value.max() > node.tops[g]:
                node.take(g, cells[[value.argmax()]])
        return True

    def _bound_cells(self, node, upper, cutoffs):
        """Bound cells of which nothing is known yet; what they are below a cutoff does not matter."""
        for g, cells in enumerate(node.groups):
            todo = np.flatnonzero(np.isposinf(upper[g]))
            if len(todo):
                cells = cells[todo]
                *_, upper[g][todo], branch, at, warm = self.pricing.bounds_of(
                    node.prices, self.low[cells], self.high[cells], np.full(len(cells), cutoffs[g]), self.warm[cells]
                )
                self.branch[cells], self.at[cells], self.warm[cells] = branch, at, warm

    def _lower(self, total, counts, sups):
        """Return a bound from the suprema of groups."""
        if not np.isfinite(sups).all():
            return math.inf if np.isneginf(sups).any() else -math.inf
        return total - counts @ sups - SUMMED * self.n_components * (abs(total) + counts @ np.abs(sups))

    def _halve(self, cells):
        """Divide cells; returns the indices of the new ones, and of those that have the points of the old."""
        n = np.arange(len(cells))
        low, high, branch = self.low[cells], self.high[cells], self.branch[cells]
        middle = 0.5 * (low + high)
        split = np.where(np.isfinite(self.at[cells]), self.at[cells], middle)[n, branch]
        margin = 0.1 * (high - low)[n, branch]
        split = np.clip(split, low[n, branch] + margin, high[n, branch] - margin)
        left, right = np.array(high), np.array(low)
        left[n, branch] = right[n, branch] = split
        new_low, new_high = np.concatenate([low, right]), np.concatenate([left, high])
        points = 0.5 * (new_low + new_high)
        old = self.points[cells]
        first = len(self.low)
        heirs = n + np.where(old[n, branch] <= split, 0, len(cells))  # the halves that hold the points keep them
        points[heirs] = old
        grown = {
            name: np.concatenate([getattr(self, name), new])
            for name, new in (("low", new_low), ("high", new_high), ("points", points), ("at", points),
                              ("branch", np.full(len(points), -1)), ("warm", self.warm[np.tile(cells, 2)]))
        }  # fmt: skip
        self.__dict__.update(grown)  # all at once, wherever Ctrl-C comes
        return np.arange(first, len(self.low)), first + heirs

    def _eliminate(self, node):
        """Drop cells that hold no component of any solution below the limit; whether every group has some left."""
        sups = np.array([part.max() for part in node.upper])
        if not np.isfinite(sups).all():  # nothing was proved
            return True
        saved = node.counts @ sups
        lost = SUMMED * self.n_components * (abs(node.total) + abs(self.limit) + node.counts @ np.abs(sups))
        for g, upper in enumerate(node.upper):
            keep = upper >= node.total - self.limit - (saved - sups[g]) - lost
            if not keep.any():
                return False
            node.groups[g], node.upper[g] = node.groups[g][keep], upper[keep]
            self._keep_atoms(node, g)
        return True

    def _keep_atoms(self, node, g):
        """Drop a group's atoms whose cells are gone."""
        kept = np.isin(node.atoms[g], node.groups[g])
        node.atoms[g], node.shares[g] = node.atoms[g][kept], node.shares[g][kept]
        if not node.shares[g].sum() > 0.0:
            node.atoms[g], node.shares[g] = node.groups[g][[node.upper[g].argmax()]], np.ones(1)
        node.shares[g] = node.shares[g] * (node.counts[g] / node.shares[g].sum())

    # Where nodes are divided

    def _split(self, node):
        """Return group, coordinate and value that tell atoms of fractional numbers apart; None: there are none."""
        most, found = 0.0, None
        for g, (cells, share) in enumerate(zip(node.atoms, node.shares, strict=True)):
            if len(cells) < 2:
                continue
            points = self.points[cells]
            mass = share[:, None] * self.pricing.columns(node.prices, points)[0]
            for j in range(points.shape[1]):
                order = np.argsort(points[:, j], kind="stable")
                x = points[order, j]
                before = np.cumsum(share[order])[:-1]
                sums = np.cumsum(mass[order], axis=0)
                for i in np.flatnonzero((np.diff(x) > 1e-9 * self.scales[j]) & (before > IDLE)):
                    part = abs(before[i] - round(before[i]))
                    left, right = sums[i] / before[i], (sums[-1] - sums[i]) / max(node.counts[g] - before[i], 1e-9)
                    score = (part + WHOLE) * np.abs(left - right).sum()
                    if score > most:
                        most, found = score, (g, j, 0.5 * (x[i] + x[i + 1]))
        return found

    def _divide(self, node, g, j, value, deadline):
        """Return the nodes with 0 ... n of a group's components below a value of a coordinate, unless time is up."""
        cells, n = node.groups[g], int(node.counts[g])
        below = self.points[cells, j] <= value
        sides = cells[below], cells[~below]
        made = []
        for first in range(n + 1):
            parts = [(side, count) for side, count in zip(sides, (first, n - first), strict=True) if count]
            others = [h for h in range(len(node.groups)) if h != g]
            groups = [node.groups[h] for h in others] + [side for side, _ in parts]
            counts = np.array([*node.counts[others], *(float(count) for _, count in parts)])
            atoms = [node.atoms[h] for h in others]
            for side, _ in parts:
                inside = node.atoms[g][np.isin(node.atoms[g], side)]
                atoms.append(inside)
            made += self._bound(CountNode(groups, counts, node.prices, atoms, node.lower), deadline)
            if time.monotonic() > deadline:
                break
        return made


class CountsBound(Learner):
    """
    Prices at the root, and then a search by counts in what they leave, told as `PricingBound` tells its own.

    Parameters
    ----------
    bound : PricingBound
    begun : callable (str)
        Told when the search by counts begins.
    wait : int
        Batches of nodes until the search by counts begins: where the tree does not close soon.
    meter : Meter, optional
        Where to count what the search by counts takes.

    Attributes
    ----------
    rest : int
        Batches of nodes until the next step.
    """

    def __init__(self, bound, begun=lambda what: None, wait=0, meter=None):
        self.begun, self.meter, self.terms_of_search = begun, Meter() if meter is None else meter, 0
        self.at, self.search, self.leaves, self.told = bound, None, None, 0
        self.lower, self.wait, self.rest, self.more = -math.inf, wait, 0, True

    @property
    def limit(self):
        """Solutions below it are sought."""
        return self.at.limit

    @limit.setter
    def limit(self, limit):
        self.at.limit = limit

    @property
    def found(self):
        """A better solution, or None."""
        return self.at.found

    @found.setter
    def found(self, found):
        self.at.found = found

    @property
    def cells(self):
        """Cells that the root's prices leave."""
        return self.at.cells

    @property
    def table_total(self):
        """Of these prices."""
        return self.at.table_total

    @property
    def n_passes(self):
        """Data passes of one component so far, and what takes the time of some."""
        return self.at.n_passes + (0 if self.search is None else self.search.n_passes)

    @property
    def n_terms(self):
        """Terms of the root's prices so far: those of the search by counts, at the same workspaces, are its own."""
        return self.at.n_terms - self.terms_of_search

    def _has_groups(self):
        """Whether there are cells, and solutions below the limit in them."""
        return self.at.cells is not None and len(self.at.cells[0]) > 0 and self.at.lower < self.limit

    def step(self, deadline):
        """Next thing to learn; whether there is more."""
        if self.more:
            self.more = self.at.step(deadline)
            self.lower = max(self.lower, self.at.lower)
            if self.more or not self._has_groups():
                return self.more
            self.rest = self.wait
            return True
        self.rest = 0
        if self.search is None:
            self.begun("numbers of components in groups of cells are searched")
            before = self.at.n_terms
            with self.meter:
                self.search = CountSearch(self.at)
            self.meter.count(terms=self.at.n_terms - before)
            self.terms_of_search += self.at.n_terms - before
            return self._has_groups()
        before = self.at.n_terms
        with self.meter:
            more = self.search.step(deadline)
        self.meter.count(terms=self.at.n_terms - before)
        self.terms_of_search += self.at.n_terms - before
        self.lower = max(self.lower, self.search.lower)
        if (not more or self.search.n_nodes >= 2 * self.told) and self.search.n_left <= MOST_OPEN:
            self.told, self.leaves = self.search.n_nodes, self.search.leaves()
        return more
