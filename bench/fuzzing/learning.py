"""Attacks on what is learnt beside the tree: the box around an incumbent, and hitting sets of good mixtures."""

import math

import numpy as np
from gopfast.mixtures.bounds.basin import MixtureBasin
from gopfast.mixtures.bounds.em import MixturePrimal
from gopfast.mixtures.bounds.entropic import EntropicRelaxation
from gopfast.mixtures.bounds.hitting import HittingSets
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.search.search import Search

from .definitions import LONG
from .failure import Failure, slack

N_MIXTURES = 20
N_PASSES = 400
# Of a mean, in standard deviations: hitting sets are compared with rounded means.
NEAR = 1e-12


class Mixtures:
    """Mixtures of known variance near an incumbent, their means in the core's coordinates."""

    def __init__(self, problem, definition, family, vector):
        self.problem, self.definition, self.data = problem, definition, family.data
        K = problem.n_components
        means = vector[K:-1].reshape(K, -1)
        order = np.argsort(means[:, 0], kind="stable")
        self.means, self.weights = means[order], vector[:K][order]
        self.shift = self.data.center.astype(LONG) - definition.origin

    def value(self, core, share):
        """The objective after a few steps of the weights, at the best prior variance; its slack."""
        definition, problem = self.definition, self.problem
        means = np.empty(core.shape, LONG)
        means[:, self.data.order] = core
        state = {"means": means * self.data.scale.astype(LONG) + self.shift, "weights": share.astype(LONG)}
        if problem.prior is not None:
            gamma = LONG(0 if problem.prior == "empirical" else problem.prior)
            if problem.prior == "empirical":
                bounds = (LONG(bound) for bound in problem.prior_variance_bounds)
                gamma = np.clip(np.square(state["means"] + definition.origin).mean(), *bounds)
            state["precision"] = 1 / gamma
        for _ in range(3):
            state["weights"] = definition.w @ definition.e_step(state) / definition.W
        value, size = definition.value(state)
        return value, slack(value, size, definition.W)


def attack(problem, definition, family, rng):
    """Attack both at an incumbent of a few starts; returns how many mixtures were tried, raises Failure."""
    if type(family) is not GaussianFamily or family.n_ranges or rng.random() < 0.5:
        return 0
    primal = MixturePrimal(family, n_starts=3, seed=int(rng.integers(2**32)))
    search = Search(EntropicRelaxation(family), primal, 0.01, max_nodes=1)
    search.run()
    fields, vector = search.summary()
    mixtures = Mixtures(problem, definition, family, vector)
    return attack_basin(mixtures, family, vector, rng) + attack_sets(mixtures, family, vector, fields["objective"], rng)


def attack_basin(mixtures, family, vector, rng):
    """No mixture with means in the box around the incumbent lies below the box's bound."""
    K, tolerance = family.n_components, float(10.0 ** rng.uniform(-4, 0))
    basin = MixtureBasin(family, MixturePrimal(family))
    if not (vector[:K] > 0).all() or not basin.find(vector, tolerance):
        return 0
    report = basin.report()
    if report["lower"] == -math.inf:
        return 0
    low, high = report["low"].reshape(K, -1), report["high"].reshape(K, -1)
    for _ in range(N_MIXTURES):
        part = rng.random(low.shape) if rng.random() < 0.5 else rng.integers(0, 2, low.shape)
        means = low + part * (high - low)
        value, room = mixtures.value(means, mixtures.weights)
        if report["lower"] > value + room:
            said = dict(lower=report["lower"], value=value, means=means, vector=vector, tolerance=tolerance)
            raise Failure("basin", said)
    return N_MIXTURES


def attack_sets(mixtures, family, vector, best, rng):
    """Mixtures below the limit hit every set, and are not cut off."""
    if not HittingSets.applies(family):
        return 0
    sets = HittingSets(family)
    sets.learn(vector, best + float(rng.choice([0.01, 1.0, 10.0])), N_PASSES)
    parts, _, _ = sets.report()
    if not parts:
        return 0
    x = family.data.arrays()[0]
    for _ in range(N_MIXTURES):
        shape = mixtures.means.shape
        moved = 10.0 ** rng.uniform(-3, 1) * rng.standard_normal(shape) * (rng.random(shape) < 0.5)
        means = np.clip(np.sort(mixtures.means + moved, axis=0), x.min(), x.max())
        share = np.maximum(mixtures.weights * np.exp(rng.standard_normal(len(means)) * rng.integers(2)), 1e-12)
        value, room = mixtures.value(means, share / share.sum())
        if value + room >= sets.lower:
            continue
        flat = means[:, 0]
        hit = [((p[:, 0] - NEAR <= flat[:, None]) & (flat[:, None] <= p[:, 1] + NEAR)).any() for p in parts]
        if not all(hit) or sets.cut(flat - NEAR, flat + NEAR) is None:
            raise Failure("hitting", dict(limit=sets.lower, value=value, means=flat, vector=vector))
    return N_MIXTURES
