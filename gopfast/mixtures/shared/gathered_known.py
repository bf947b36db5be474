"""
A bound of mixtures of known variance, of many samples, by groups of them: points far fewer than samples.

The optimum of the points of groups (`gathered`) is a lower bound of that of the samples, and nothing is lost of groups
that are of one component. So the search of the points, which are a mixture of known variance, costs the same for any
number of samples; smaller groups follow where it is done, and says too little.

Theory: (TF4) of docs/theory/factors.md.
"""

import math

import numpy as np

from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.shared.estimates import family_of, posterior
from gopfast.mixtures.shared.gathered import are_gathered, groups_of, points_of
from gopfast.mixtures.shared.margins import SUM
from gopfast.mixtures.shared.shared import FixedSearch
from gopfast.mixtures.shared.tuning import (
    AS_PASSES,
    GATHERED_KNOWN_COLUMNS as COLUMNS,
    GATHERED_KNOWN_ENOUGH as ENOUGH,
    GATHERED_KNOWN_EXACT as EXACT,
    GATHERED_KNOWN_FROM as FROM,
    GATHERED_KNOWN_MOST as MOST,
    GATHERED_KNOWN_VARIANCES as VARIANCES,
)


def is_gathered(family):
    """Return whether there is such a bound: of known variances without a prior, of many samples in some columns."""
    if not isinstance(family, GaussianFamily) or family.n_ranges or family.has_prior or family.data.is_summary:
        return False
    is_many = family.data.n_samples >= FROM and are_gathered(family.data)
    return is_many and COLUMNS[0] <= family.n_columns <= COLUMNS[1]


class GatheredBound(Learner):
    """
    Lower bound of a mixture of known variance by groups of its samples.

    Parameters
    ----------
    family : GaussianFamily
    solution : ndarray
        An incumbent: weights (K,), means (K, d), ...
    limit : float
        What is to be proved.
    epsilon : float
        Of the whole search.
    plan : callable (family) -> MixturePlan
        As of `FixedSearch`.
    """

    def __init__(self, family, solution, limit, epsilon, plan):
        K, d = family.n_components, family.n_columns
        self.family, self.limit, self.epsilon, self.plan = family, limit, EXACT * epsilon, plan
        columns, self.weights = family.data.arrays()
        self.columns = np.ascontiguousarray(columns)
        self.shares, self.means = np.array(solution[:K]), np.array(solution[K : K + K * d]).reshape(K, d)
        self.left = list(VARIANCES)
        self.search, self.part = None, 1.0  # of points, and how many they are, as part of the samples

    def step(self, deadline):
        """Gather samples, or go on with the search of their points; whether there is more to do."""
        if self.search is None:
            return self._gather()
        search = self.search
        before, terms = self.n_passes, search.n_terms
        self.n_passes = before + int(self.part * search.go_on(deadline))
        self.n_terms += search.n_terms - terms
        value = search.line(0.0).beta + self.family.constant
        self.lower = max(self.lower, value - SUM * abs(value) - self.family.constant_error)
        if search.done or search.missing < ENOUGH * (self.limit - self.lower):
            self.search = None  # what is left is what its groups lose
        return self.lower < self.limit and (self.search is not None or bool(self.left))

    def _gather(self):
        """Begin the search of the next groups, which are smaller; whether they are few enough to be of use."""
        if not self.left:
            return False
        q, n = self.left.pop(0), len(self.weights)
        groups = groups_of(self.columns, self.weights, q, MOST * n)
        self.n_terms += AS_PASSES * n * self.family.n_components
        self.n_passes += AS_PASSES
        if groups is None:
            return False
        points, shift = points_of(groups, q, posterior(groups.means, self.means, self.shares))
        family = family_of(points, groups.weights, self.family.n_components)
        start = (math.sqrt(1.0 - q) * self.means)[:, family.data.order]
        self.search = FixedSearch(
            1.0, family, shift - SUM * abs(shift), self.epsilon, self.plan, n_starts=0, start=start, thorough=False,
        )  # fmt: skip
        self.part = len(groups.weights) / n
        return True
