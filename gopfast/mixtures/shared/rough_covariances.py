"""
Searches of known covariances that prove no more than is asked for, of groups of samples where these say as much.

Cells of a factor (`factors`) are made of what they prove.

Theory: (TF3) and (TF4) of docs/theory/factors.md.
"""

from collections import deque
from functools import partial

import numpy as np

from gopfast.mixtures.shared.estimates import Estimates
from gopfast.mixtures.shared.gathered import Gathering
from gopfast.mixtures.shared.known_covariances import KnownCovariances
from gopfast.mixtures.shared.margins import SLICES_SLACK as SLACK
from gopfast.mixtures.shared.rough_search import RoughSearch
from gopfast.mixtures.shared.tuning import (
    AS_PASSES,
    LEAST_ROUGH,
    LIFTED_AS_ONE,
    LIKE,
    N_LIFTED,
    ROUGHLY,
    SPARED,
    SPARED_LESS,
)


class RoughCovariances(KnownCovariances):
    """
    What is made of such searches; parameters as of `KnownCovariances`.

    Parameters
    ----------
    prices : PriceMaker or None
        What bounds mixtures of known covariance as exactly as what is missing asks for; None: searches lose nothing.
    """

    def __init__(self, slices, solution, limit, epsilon, plan, prices):
        super().__init__(slices, solution, limit, epsilon, plan)
        self.prices = prices
        self.center = slices.precision_of(solution)
        gathers = prices is not None and prices.gathered is not None
        self.gathering = Gathering(slices, self.epsilon, plan, prices, self.center) if gathers else None
        self.estimates = Estimates(slices, self.epsilon, plan)
        self.lifted = deque(maxlen=N_LIFTED)  # matrices, and what prices of samples were above -log p there

    def _rough(self):
        """Return the nats that a search may lose at present, little of what is missing; 0: as few as may be."""
        if self.prices is None:
            return 0.0
        rough = ROUGHLY * min(self.limit - self.lower, self.slices.total)
        return rough if rough > LEAST_ROUGH else 0.0

    def _kind(self, exact, **asked):
        """Return what makes searches at present: such as may lose something, or exact ones as given."""
        rough = self._rough()
        return partial(RoughSearch, rough=rough, prices=self.prices, **asked) if rough else exact

    def _gathers(self):
        """Whether groups may be in place of samples, at present."""
        return self.gathering is not None and self._rough() > 0.0

    def _asked_of(self, vertex):
        """Return the nats that the search of a vertex has to prove, infinite where it may lose `_rough` and no more."""
        raise NotImplementedError

    def _search(self, vertex):
        """Return the search of a vertex: of groups of samples, where they say as much as is asked for."""
        asked = {"asked": self._asked_of(vertex), "spared": SPARED * SPARED_LESS**vertex.n_searches}
        if self._rough():
            asked["lift"] = self._lift(vertex.A)
        if self._gathers():
            means = self.means if vertex.means is None else vertex.means
            search, B = self._of_groups(vertex.estimate or self._estimate(vertex.A, means), **asked)
            vertex.estimate = None  # its memory goes
            if search is not None:
                vertex.back = np.linalg.pinv(B)
                return search
        return super()._search(vertex, **asked)

    def _go_on(self, index, deadline):
        """Go on with the search behind a vertex, and keep the prices of all samples that it has come to."""
        super()._go_on(index, deadline)
        vertex = self.vertices[index]
        if isinstance(vertex.search, RoughSearch) and vertex.search.is_over:
            if vertex.search.lift is not None:
                self.lifted.append((vertex.A, vertex.search.lift))
            vertex.search.lift = None

    def _lift(self, A):
        """
        Return what prices of the samples are above -log p at a precision, about, or None where none like it is known.

        They are a mean of those known, whose matrices' mean is about A: what is lost is of second order.
        """
        away = [apart(A, B) for B, _ in self.lifted]
        near = [known for known, far in zip(self.lifted, away, strict=True) if far < LIKE]
        if not near:
            return None
        ways = np.array([np.linalg.solve(A, B).ravel() for B, _ in near]) - np.eye(len(A)).ravel()
        products = ways @ ways.T
        least = LIFTED_AS_ONE * products.diagonal().min() + SLACK
        parts = np.linalg.solve(products + least * np.eye(len(near)), np.ones(len(near)))
        parts /= parts.sum()
        return sum(part * lift for part, (_, lift) in zip(parts, near, strict=True))

    def _of_groups(self, estimate, alpha=1.0, **asked):
        """Return a search of groups and the matrix to its coordinates, or None."""
        self._count(AS_PASSES * len(self.slices.weights) * self.slices.n_components)
        return self.gathering.search(estimate, self._rough(), alpha, **asked)

    def _count(self, terms):
        """Count work that is not of samples in components, as if it were passes."""
        self.n_terms += terms
        self.n_passes += terms // (len(self.slices.weights) * self.slices.n_components)

    def _estimate(self, A, means):
        """Return what the optimum of a precision is about, by means (K, d) near it; that is counted."""
        before = self.estimates.n_terms
        found = self.estimates.at(A, means)
        self.n_terms += self.estimates.n_terms - before
        return found


def apart(A, others):
    """Return how far matrices (..., d, d) are from one (d, d), relative to it."""
    return np.abs(np.linalg.solve(A, others) - np.eye(len(A))).max(axis=(-2, -1))
