"""Attacks on k-means: what one cluster can save, nodes of pairs, results, searches told too much, proofs.

References are sums of squares in rational numbers, at clusters that descents from random ones end in; the searches' and
results' are those of `classes`.
"""

from fractions import Fraction

import numpy as np
from gopfast.clustering.pricing import CenterSearch
from gopfast.search.stop import StopSignal

from gopfast.clustering.node import Node
from gopfast.clustering.solve import Search
from gopfast.options import Options

from .classes import N_LABELLINGS, SECONDS, Rows, check_bound, check_proof, check_solve, prove_too_much
from .failure import Failure

N_CLUSTERS = 6  # of each labelling
MOST_PAIRS = 3
N_ASCENTS = 4


class Points(Rows):
    """Samples (n, d) in rational numbers, with weights."""

    def fits(self, labels):
        """Exact center of every cluster, that of all samples where it is empty, and each cluster's sum of squares."""
        found = []
        for k in range(self.K):
            own = self.mass * (labels == k)
            center = self.mean(own if own.any() else self.mass)
            found.append((center, self.squares(labels == k, center)))
        return found

    def mean(self, mass):
        """Center of samples with these weights."""
        w = [Fraction(m) for m in mass.tolist()]
        return [sum(m * x for m, x in zip(w, column, strict=True)) / sum(w) for column in zip(*self.exact, strict=True)]

    def distances(self, center):
        """Squared distances of the samples from a center."""
        return [sum((x - c) ** 2 for x, c in zip(row, center, strict=True)) for row in self.exact]

    def squares(self, own, center):
        """Sum of squares of some samples about a center."""
        every = zip(self.weights, self.distances(center), own, strict=True)
        return sum((w * away for w, away, is_own in every if is_own), Fraction(0))

    def value(self, centers):
        """The objective, and the labels of the nearest centers."""
        away = [self.distances([Fraction(x) for x in center]) for center in centers]
        labels = np.array([min(range(self.K), key=lambda k, i=i: away[k][i]) for i in range(len(self.exact))])
        return sum(w * away[k][i] for i, (w, k) in enumerate(zip(self.weights, labels, strict=True))), labels

    def size(self):
        """Sum of the samples' squares."""
        return sum(w * sum(x * x for x in row) for w, row in zip(self.weights, self.exact, strict=True))


def points_of(problem):
    """The samples with weight."""
    used = problem.sample_weight > 0.0
    return Points(problem.X[used], problem.sample_weight[used], problem.n_clusters)


def attack_solve(problem, rng):
    """Solve a problem and check the result; returns (solves, status)."""
    points = points_of(problem)
    return check_solve(problem, rng, points, points.size(), lambda found: points.value(found.centers)[0])


def attack_negative(problem, rng, max_nodes=None):
    """A search that must prove a part more than is true; returns (nodes, status)."""
    return prove_too_much(Search, problem, rng, points_of(problem), max_nodes)


def attack_boxes(problem, rng):
    """Attack what single clusters save, and nodes; returns how many were tried."""
    search = Search(problem, Options.from_arguments(log=False, n_threads=1, random_state=int(rng.integers(2**31))))
    n, K = len(search.X), problem.n_clusters
    if n <= K:
        return 0
    search.pool.fill(lambda: False)
    points, tried = Points(search.X, search.weights, K), 0
    for _ in range(N_LABELLINGS):
        labels = rng.integers(0, K, n)
        labels = points.descend(labels)[1] if rng.random() < 0.6 else labels
        fits = points.fits(labels)
        pairs = [tuple(int(i) for i in rng.choice(n, 2, replace=False)) for _ in range(rng.integers(0, MOST_PAIRS + 1))]
        together = tuple(pair for pair in pairs if labels[pair[0]] == labels[pair[1]])
        apart = tuple(pair for pair in pairs if labels[pair[0]] != labels[pair[1]])
        for _ in range(N_CLUSTERS):
            tried += attack_cluster(search, points, fits[rng.integers(K)][0], apart, rng)
        total = sum(squares for _, squares in fits)
        node = Node(search.X, search.weights, K, together, apart)
        target = float(total) * float(rng.choice([0.9, 1.0 + 1e-9, 1.05, 2.0]))
        if total > 0:
            node.bound(search.pool, target, 0.01 * target, StopSignal(SECONDS), lambda: SECONDS, 2000)
            said = dict(target=target, total=float(total), together=together, apart=apart)
            check_bound("a node's bound is above the squares of clusters it holds", node.lower, total, said)
            tried += 1
    return tried


def attack_cluster(search, points, center, apart, rng):
    """No cluster of samples that are not apart saves more than is said; returns 1."""
    scale = float(np.quantile(np.square(search.X).sum(axis=1), rng.random())) * 10.0 ** rng.uniform(-2, 1)
    prices, partner = scale * rng.exponential(size=len(search.X)), np.full(len(search.X), -1, dtype=np.int32)
    for i, j in apart:
        if partner[i] < 0 and partner[j] < 0:
            partner[i], partner[j] = j, i
    saved = Fraction(0)
    for _ in range(N_ASCENTS):
        own = saving(points, prices, partner, center)
        if not own.any():
            break
        center = points.mean(points.mass * own)
        every = zip(points.weights, prices.tolist(), own, strict=True)
        saved = sum((w * Fraction(price) for w, price, is_own in every if is_own), -points.squares(own, center))
    limit = float(rng.choice([0.0, 0.9, 1.0 - 1e-9])) * max(float(saved), 0.0)
    pricing = CenterSearch(search.X, search.weights, StopSignal(np.inf), partner)
    sup, _ = pricing.search(prices, limit, int(rng.choice([1, 30, 1000])))
    if saved > Fraction(sup):
        raise Failure("a cluster saves more than is said", dict(sup=sup, saved=float(saved), prices=prices))
    return 1


def saving(points, prices, partner, center):
    """Which samples (n,) save at a center, of two that are apart the one that saves more."""
    gain = [w * (Fraction(price) - away) for w, price, away in
            zip(points.weights, prices.tolist(), points.distances(center), strict=True)]  # fmt: skip
    return np.array([g > 0 and (j < 0 or (g, -i) > (gain[j], -j)) for i, (g, j) in
                     enumerate(zip(gain, partner.tolist(), strict=True))])  # fmt: skip


def attack_proof(problem, rng, changes):
    """Write a proof, check it, and change it; returns (checks, status)."""
    points, data = points_of(problem), (problem.X, problem.sample_weight)
    return check_proof("clustering", problem, rng, changes, data, points, lambda found: points.value(found.centers)[0])
