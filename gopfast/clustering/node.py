"""A node of the search: pairs of samples that share a cluster, pairs that do not, and the bound by prices.

Theory: (K1) and (K7) of docs/theory/kmeans.md.
"""

import math

import numpy as np

from gopfast.clustering.cells import CellMaster
from gopfast.clustering.lloyd import nearest_two
from gopfast.clustering.margins import MARGINS, NODE_ROUNDING as ROUNDING
from gopfast.clustering.master import Master
from gopfast.clustering.pricing import CenterSearch
from gopfast.clustering.tuning import (
    CELLS,
    COARSE,
    COARSEST,
    FEW_ADDED,
    FEW_CELLS,
    FEW_PRICED,
    FINE,
    FINEST,
    INEXACT,
    LEAST,
    LEAST_IN_CELL,
    MOST_ADDED,
    MOST_PRICED,
    N_KNOWN,
    N_STARTS,
    NODE_GAINED as GAINED,
    NODE_MOST_CELLS as MOST_CELLS,
    NODE_SAMPLED as SAMPLED,
    PROVED_EVERY,
    WHOLE,
)
from gopfast.roundoff import ROUND


class Node:
    """
    Samples merged as the pairs say, with the bound that holds for all clusterings of these.

    Parameters
    ----------
    X : ndarray, shape (N, d)
        Distinct samples.
    weights : ndarray, shape (N,)
    n_clusters : int
    together, apart : tuple of (int, int)
        Pairs of samples.
    lower : float
        Bound known before.
    """

    def __init__(self, X, weights, n_clusters, together=(), apart=(), lower=0.0):
        self.together, self.apart, self.lower = together, apart, lower
        self.n_clusters, self.size = n_clusters, float(weights.sum())
        self.estimate = lower
        self.prices, self.sons = None, ()  # that prove `lower`, by group; what the search made of the pair
        self.master = None  # the linear program at hand, while `bound` runs
        self.group = _groups(len(X), together)
        self.feasible = all(self.group[i] != self.group[j] for i, j in apart)
        self.merge(X, weights)
        self.partner = self._partners()

    def merge(self, X, weights):
        """Put the mean of every group in its place; what the groups scatter is a constant."""
        if not self.together:
            self.X, self.weights, self.scatter, self.blur = X, weights, 0.0, 0.0
            return
        n = self.group.max() + 1
        first = np.zeros(n, dtype=np.intp)
        first[self.group[::-1]] = np.arange(len(X))[::-1]
        away = X - X[first[self.group]]
        self.weights = np.bincount(self.group, weights, n)
        moved = np.stack([np.bincount(self.group, weights * column, n) for column in away.T], axis=1)
        moved /= self.weights[:, None]
        self.X = np.ascontiguousarray(X[first] + moved)
        self.scatter = float(weights @ np.square(away - moved[self.group]).sum(axis=1))
        # how far a mean is from its rounded place, per unit of distance to a center; each center may have all means
        many = np.bincount(self.group, minlength=n) > 1
        far = 8 * ROUND * len(X) * math.sqrt(X.shape[1]) * np.abs(X).max()
        self.blur = self.n_clusters * far * float(self.weights[many].sum())

    def _partners(self):
        """Pairs of groups that are apart, each group in one at most: the others are left out, which only loosens."""
        partner = np.full(len(self.X), -1, dtype=np.int32)
        for i, j in self.apart:
            a, b = self.group[i], self.group[j]
            if partner[a] < 0 and partner[b] < 0:
                partner[a], partner[b] = b, a
        return partner

    def columns(self, known):
        """Clusters of samples as clusters of groups: those that break no pair."""
        if not self.together and not self.apart:
            yield from known
            return
        sizes = np.bincount(self.group)
        for own in known:
            groups, counts = np.unique(self.group[own], return_counts=True)
            mates = self.partner[groups]
            if (counts == sizes[groups]).all() and not np.isin(mates[mates >= 0], groups).any():
                yield groups

    def members(self, groups):
        """Return the samples of given groups."""
        return np.flatnonzero(np.isin(self.group, groups)) if self.together else np.asarray(groups)

    def bound(self, pool, target, tolerance, stop, left, most_cells):
        """
        Raise `lower` to the target, or to what prices prove; otherwise find the pair to branch on.

        Parameters
        ----------
        pool : Pool
            Clusters known; takes better clusterings that come up.
        target : float
            A bound that is enough.
        tolerance : float
            Differences that do not matter, in units of the inertia.
        stop : StopSignal
        left : callable
            Seconds left.
        most_cells : int
            Of one proof.

        Returns
        -------
        bool
            Whether there is a pair, in `pair`.
        """
        self.pair, self.n_cells, self.n_programs = None, 0, 0
        self.target, self.best, self.stop = target, -math.inf, stop
        search = CenterSearch(self.X, self.weights, stop, self.partner)
        fine = FINE * max(abs(tolerance), LEAST * pool.inertia) / self.n_clusters
        columns, master = list(self.columns(pool.columns.values())), None
        labels, low, high = nearest_two(self.X, pool.centers)
        for n_cells in (*self.levels(), 0):
            if n_cells:
                master = CellMaster(self.X, self.weights, self.n_clusters, pool.inertia, low, high, labels, n_cells)
            elif len(self.X) <= MOST_PRICED:
                master = Master(self.X, self.weights, self.n_clusters, pool.inertia, low, high)
            else:
                break
            self.master = master
            for groups in columns:
                master.add(groups)
            self._generate(master, search, pool, tolerance, fine, left, most_cells)
            columns = master.columns
            if stop.stopped or self.lower >= self.target:
                break
        self.estimate, self.master = max(self.lower, self.best), None
        for groups in columns:
            own = self.members(groups).astype(np.int32)
            pool.columns.setdefault(own.tobytes(), own)
        # a last program without a solution, for want of time, has no fractions to branch on
        if stop.stopped or self.lower >= self.target or not isinstance(master, Master) or master.values is None:
            return False
        self.pair = self._choose(master)
        return self.pair is not None

    def levels(self):
        """Numbers of cells that come before a price for every sample."""
        n = len(self.X)
        if n <= FEW_PRICED:
            return []
        numbers = sorted({min(each * self.n_clusters, MOST_CELLS) for each in CELLS})
        return [number for number in numbers if number * LEAST_IN_CELL <= n]

    def _generate(self, master, search, pool, tolerance, fine, left, most_cells):
        """Raise `lower` by what prices of a master problem prove; add the clusters that these lack."""
        last = len(self.X) <= MOST_PRICED and isinstance(master, Master)
        best, widened, inexact = -math.inf, -math.inf, COARSEST
        while not self.stop.stopped:
            prices, sigma = master.solve(left(), inexact)
            self.n_programs += 1
            if prices is None:
                return
            reached = float(self.weights @ prices) - self.n_clusters * sigma + self.scatter
            added = self._ascend(master, search, prices, sigma + fine, pool)
            if 0 < added < FEW_ADDED and len(self.X) > FEW_PRICED:  # boxes may tell of more, and programs are slow
                centers = self._prove(search, prices, self.most + fine, FEW_CELLS)
                added += self._add_clusters(master, search, prices, centers, sigma + fine)
            best = max(best, reached - self.n_clusters * max(self.most - sigma, 0.0))
            lacking = (pool.inertia - reached) / pool.inertia
            if not last and reached < self.target and reached - best < lacking * pool.inertia:
                if inexact <= max(INEXACT * lacking, FINEST):  # not for want of precision
                    self._prove_meanwhile(search, prices, pool)
                    return
                inexact = max(INEXACT * lacking, FINEST)
                continue
            if added:
                inexact = min(max(INEXACT * (reached - best) / pool.inertia, FINEST), COARSEST)
                if self.n_programs % PROVED_EVERY == 0:
                    self._prove_meanwhile(search, prices, pool)
                continue
            if reached < self.target and inexact > FINEST:
                inexact = FINEST
                continue
            self.best = max(self.best, reached)
            if reached < self.target and reached - widened > GAINED * (self.target - reached) and master.limited():
                self._prove_meanwhile(search, prices, pool)
                widened = reached
                master.widen()
                continue
            if reached < self.target and last and self.round(master, pool):
                self.target = max(self.target, pool.inertia - tolerance)
            centers = self._prove(search, prices, max(self._enough(prices), sigma + fine), most_cells)
            if self.lower >= self.target or self.stop.stopped or not len(centers):
                return
            if not self._add_clusters(master, search, prices, centers, sigma + fine):
                return

    def margin(self, prices, sup=0.0):
        """Return what rounding may cost the bound at given prices."""
        size = float(self.weights @ prices) + self.n_clusters * sup + self.scatter
        return ROUNDING * (len(prices) + 8) * size + self.blur * math.sqrt(float(prices.max(initial=0.0)))

    def _ascend(self, master, search, prices, least, pool):
        """Add clusters that save more than `least`; how many were new."""
        starts = np.concatenate(
            [pool.centers, master.best_centers(N_KNOWN), self.X[pool.rng.integers(len(self.X), size=N_STARTS)]]
        )
        if len(self.X) > SAMPLED:
            starts = self._ascend_on_some(prices, starts, pool)
        values, centers = search.ascend(prices, starts)
        order = np.argsort(-values)
        self.most = values.max()
        best = centers[order[values[order] > least]][:MOST_ADDED]
        return self._add_clusters(master, search, prices, best, least, False)

    def _ascend_on_some(self, prices, starts, pool):
        """Return the best centers on some of the samples, each once."""
        rows = np.sort(pool.rng.choice(len(self.X), SAMPLED, replace=False))
        some = CenterSearch(np.ascontiguousarray(self.X[rows]), self.weights[rows], self.stop)
        values, centers = some.ascend(prices[rows], starts)
        _, first = np.unique(np.round(values / max(values.max(), 1e-300), 6), return_index=True)
        return centers[first[::-1][:MOST_ADDED]]

    def _enough(self, prices):
        """Return the supremum by which given prices prove the target."""
        spare = float(self.weights @ prices) + self.scatter - self.target
        margin = self.margin(prices, max(spare, 0.0) / self.n_clusters)
        return (spare - MARGINS * margin) / self.n_clusters

    def _prove(self, search, prices, limit, most_cells):
        """Raise `lower` by a supremum, found no finer than the limit; returns centers that exceed this."""
        sup, centers = search.search(prices, limit, most_cells)
        self.n_cells += search.cells
        total = float(self.weights @ prices) + self.scatter
        proved = total - self.n_clusters * sup - self.margin(prices, sup)
        if proved > self.lower:
            self.lower, self.prices = proved, prices
        return centers

    def _prove_meanwhile(self, search, prices, pool):
        """Raise the bound by prices that are not yet the best: a limit may come before those are found."""
        self._prove(search, prices, self.most + COARSE * pool.inertia / self.n_clusters, FEW_CELLS)

    def _add_clusters(self, master, search, prices, centers, least, climb=True):
        """Add the clusters of given centers, or of where ascents from these end; how many were new."""
        if climb and len(centers):
            values, centers = search.ascend(prices, centers)
        added = 0
        for center in centers:
            added += master.add(search.members(prices, center))
        return added

    def round(self, master, pool):
        """Descend from the centers of the largest fractions."""
        shares = master.fractions()
        chosen = [master.columns[a] for a in np.argsort(-shares)[: self.n_clusters]]
        centers = [self.weights[own] @ self.X[own] / self.weights[own].sum() for own in chosen]
        if len(centers) == self.n_clusters:
            return pool.offer(np.array(centers))
        return False

    def _choose(self, master):
        """Pair of samples, of groups that are about half together in the master's solution; None: it is whole."""
        shares = master.fractions()
        used = [a for a in np.flatnonzero(shares > WHOLE) if shares[a] < 1.0 - WHOLE]
        self.fractions = shares
        if not used:
            return None
        incidence = np.zeros((len(used), len(self.X)))
        for row, a in enumerate(used):
            incidence[row, master.columns[a]] = 1.0
        split = np.flatnonzero(incidence.any(axis=0))
        if len(split) > 1500:
            split = split[np.argsort(-self.weights[split])[:1500]]
        incidence = incidence[:, split]
        together = incidence.T @ (shares[used][:, None] * incidence)
        np.fill_diagonal(together, 0.0)
        free = self.partner[split] < 0
        together[~free] = 0.0
        together[:, ~free] = 0.0
        score = np.minimum(together, 1.0 - together)
        score[together <= WHOLE] = 0.0
        # the heavier the pair and the farther apart, the more either side must pay
        weight = np.sqrt(self.weights[split])
        distance = np.sqrt(np.square(self.X[split][:, None] - self.X[split][None]).sum(axis=2))
        score *= distance * np.minimum(weight[:, None], weight)
        i, j = np.unravel_index(score.argmax(), score.shape)
        if score[i, j] <= 0.0:
            return None
        first = [int(np.flatnonzero(self.group == split[g])[0]) for g in (i, j)]
        return first[0], first[1]

    def children(self, X, weights):
        """Return the nodes with the pair together and apart."""
        return [
            node
            for node in (
                Node(X, weights, self.n_clusters, (*self.together, self.pair), self.apart, self.lower),
                Node(X, weights, self.n_clusters, self.together, (*self.apart, self.pair), self.lower),
            )
            if node.feasible
        ]


class Entry:
    """A node in the heap, by bound and age."""

    def __init__(self, lower, serial, node):
        self.lower, self.serial, self.node = lower, serial, node

    def __lt__(self, other):
        """Compare by bound, then by estimate, then by age."""
        return (self.lower, self.node.estimate, self.serial) < (other.lower, other.node.estimate, other.serial)


def _groups(n, pairs):
    """Return the number of every sample's group, in order of their first samples."""
    group = np.arange(n)
    for i, j in pairs:
        group[group == max(group[i], group[j])] = min(group[i], group[j])
    return np.unique(group, return_inverse=True)[1].reshape(-1)

