"""
Searches of mixtures of known covariance, each of which bounds a mixture of one covariance matrix.

What they prove is told by `Vertex.beta`; simplices (`simplices`) and cells (`factors`) are made of it.

Theory: (T6) and (T8) of docs/theory/shared.md, (TF3) of docs/theory/factors.md.
"""

import math
from functools import partial

import numpy as np

from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.shared.margins import SIMPLICES_SLACK as SLACK, SUM
from gopfast.mixtures.shared.shared import FixedSearch
from gopfast.mixtures.shared.tuning import (
    EARLY,
    EXACT,
    LEAST_COST,
    MOST_FIRST_NODES,
    MOST_SAMPLES,
    MOST_VERTICES,
    N_STARTS,
    VERTEX_FIRST_NODES as FIRST_NODES,
    VERTEX_VAGUE as VAGUE,
)


class Vertex:
    """A matrix A, exact but for `error` per entry, a bound `beta` of H there, and the search behind it, or None."""

    def __init__(self, A, error, beta):
        self.A, self.error, self.beta = A, error, beta
        self.search, self.progress = None, 0.0  # of the search, when it last went on
        self.n_searches = 0  # that were begun
        self.means = self.back = None  # of its incumbent, in the coordinates z; the matrix to these
        self.estimate = None  # of its optimum, for its first search

    @property
    def missing(self):
        """How much higher beta can become, about."""
        if self.search is None:
            return 0.0
        return max(0.0, self.search.upper + self.search.shift + self.search.lost - self.beta)

    def can_go_on(self, rough):
        """Return whether the search behind it, or one that may lose so much less, has more to tell."""
        return self.search is not None and (not self.search.is_over or self.search.rough > rough)

    def promise(self):
        """Return what a node of the search raises beta by, if it goes on: as much again, or part of what is missing."""
        missing = self.missing
        if not missing > 0.0:
            return 0.0
        n = self.search.n_nodes
        expected = min(missing, max(2.0 * self.progress, missing * min(1.0, EARLY / n)))
        return expected / (n + LEAST_COST)


class KnownCovariances(Learner):
    """
    A bound that is made of what searches of mixtures of known covariance prove.

    Parameters
    ----------
    slices : MatrixSlices
    solution : ndarray
        An incumbent.
    limit : float
        What is to be proved.
    epsilon : float
        Of the whole search.
    plan : callable (family) -> MixturePlan
        As of `FixedSearch`.
    """

    def __init__(self, slices, solution, limit, epsilon, plan):
        self.slices, self.limit, self.epsilon = slices, limit, EXACT * epsilon
        self.plan = plan
        self.most = 0.5 * slices.total * (1.0 + slices.eta) * (1.0 + SLACK)  # H falls by less along minus I, per unit
        self.lower, self.n_passes = -math.inf, 0
        self.vertices = []
        self.waiting = []  # vertices whose search has not begun, or has told little
        self.means = slices.means_of(solution)

    @property
    def is_full(self):
        """Whether there are as many vertices as memory is for."""
        kept = sum(vertex.search.part for vertex in self.vertices if vertex.search is not None)
        return len(self.vertices) >= MOST_VERTICES or kept * len(self.slices.weights) >= MOST_SAMPLES

    def _add(self, A, error, beta=-math.inf):
        """Return the index of a new vertex."""
        values = np.linalg.eigvalsh(A)
        # R is not negative, and S at most W times the covariance of the samples
        beta = max(beta, -self.most * float(np.maximum(0.0, -values).sum() + A.size * error + SLACK * np.abs(A).sum()))
        self.vertices.append(Vertex(A, error, beta))
        if values[0] > SLACK * values[-1]:
            self.waiting.append(len(self.vertices) - 1)
        return len(self.vertices) - 1

    def _raised(self, index):
        """Take note that more is known of a vertex."""
        raise NotImplementedError

    def _go_on(self, index, deadline):
        """Go on with the search behind a vertex."""
        vertex = self.vertices[index]
        if vertex.search is None or vertex.search.is_over:
            vertex.search, vertex.n_searches = self._search(vertex), vertex.n_searches + 1
        search = vertex.search
        before = search.n_terms
        self.n_passes += search.go_on(deadline)
        self.n_terms += search.n_terms - before
        K, d = self.slices.n_components, len(vertex.A)
        vertex.means = search.solution[K : K + K * d].reshape(K, d) @ vertex.back.T
        self.means = vertex.means
        loss = self.slices.known_loss(vertex.A, self.most) + self.most * d * d * vertex.error
        beta = search.lower + search.shift - loss - SUM * (abs(search.lower) + abs(search.shift))
        vertex.progress = max(0.0, beta - vertex.beta)
        if beta > vertex.beta:
            vertex.beta = beta
            self._raised(index)
        vague = search.missing > VAGUE * self.slices.largest_rest and search.n_nodes < MOST_FIRST_NODES
        if index in self.waiting and (search.is_over or not vague):
            self.waiting.remove(index)
        if search.done and not search.lost:
            vertex.search = None  # its memory goes

    def _search(self, vertex, **asked):
        """Return the search of a vertex, which begins with the solution of another one; `asked` as of `_kind`."""
        family, B = self.slices.known(vertex.A)
        vertex.back = np.linalg.pinv(B)
        means = self.means if vertex.means is None else vertex.means
        starts = {"n_starts": N_STARTS, "start": means @ B.T, "thorough": False}
        made = self._kind(partial(FixedSearch, first_nodes=FIRST_NODES), **asked)
        return made(1.0, family, 0.0, self.epsilon, self.plan, **starts)

    def _kind(self, exact):
        """Return what makes searches at present: exact ones as given, unless subclasses have others."""
        return exact
