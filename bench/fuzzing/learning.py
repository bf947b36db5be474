"""Attacks on what is learnt beside the tree: boxes around an incumbent, and hitting sets of good mixtures."""

import math

import numpy as np
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.incumbent.basin import MixtureBasin
from gopfast.mixtures.incumbent.neighbourhood import Neighbourhood
from gopfast.mixtures.mixing.hitting import HittingSets
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import root_box
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures.representation import Representation
from gopfast.mixtures.solve import unpack

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
    """Attack what there is at an incumbent of a few starts; returns how many mixtures were tried, raises Failure."""
    chart = family.chart()
    if chart is not None:
        return attack_neighbourhood(problem, definition, family, chart, rng)
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


def attack_neighbourhood(problem, definition, family, chart, rng):
    """No mixture with parameters in the box around an incumbent lies below the box's bound, whatever its weights."""
    primal = MixturePrimal(family, n_starts=3, seed=int(rng.integers(2**32)))
    search = Search(EntropicRelaxation(family), primal, 0.01, max_nodes=int(rng.choice([1, 100])))
    search.run()
    vector, K = search.summary()[1], family.n_components
    tolerance, basin = float(10.0 ** rng.uniform(-6, 1)), Neighbourhood(MixturePrimal(family), chart)
    order = np.argsort(vector[K:-1].reshape(K, -1)[:, 0], kind="stable")
    point = vector[K:-1].reshape(K, -1)[order].ravel()
    root = root_box(EntropicRelaxation(family))
    if rng.random() < 0.5:
        found = basin.find(vector, tolerance)
    else:
        size = 10.0 ** rng.uniform(-4, 0) * 10.0 ** rng.uniform(-1, 0, (2, len(point))) * (1 + np.abs(point))
        low, high = np.maximum(point - size[0], root[0]), np.minimum(point + size[1], root[1])
        found = basin.finds_box_over(vector, tolerance, low, high)
    if not found:
        return 0
    report = basin.report()
    low, high = np.maximum(report["low"], root[0]), np.minimum(report["high"], root[1])
    center = report["center"][K:-1]
    for _ in range(N_MIXTURES):
        part = rng.random(low.shape) if rng.random() < 0.5 else rng.integers(0, 2, low.shape)
        near = 10.0 ** rng.uniform(-2, 0) if rng.random() < 0.5 else 1.0
        at = labels_fitted(problem, family, center + near * (low + part * (high - low) - center), low, high)
        if at is None:
            continue
        solution = unpack(problem, family, np.concatenate([report["center"][:K], at, [0.0]]))
        state = definition.read(solution)
        for _ in range(20):
            state["weights"] = definition.w @ definition.e_step(state) / definition.W
        value, size = definition.value(state)
        room = slack(value, size, definition.W) + 2 * Representation(problem, family).loss(report["lower"])
        if report["lower"] > value + room:
            said = dict(lower=report["lower"], value=value, point=at, vector=vector, tolerance=tolerance)
            raise Failure("neighbourhood", said)
    return N_MIXTURES


def labels_fitted(problem, family, point, low, high):
    """The point, or where labels have to add up to 1 one nearby that has them so; None: there is none in the box."""
    counted = isinstance(problem, gopfast.MultinomialMixture)  # two categories have two columns, too
    sizes = [n for n in getattr(problem, "n_categories", ()) if n > 2 or counted]
    if not sizes:
        return point
    K, d = problem.n_components, family.n_columns
    column = np.argsort(family.data.order)  # the core's place of each of the user's columns
    ends = np.cumsum([0, *(n if n > 2 or counted else max(n - 1, 0) for n in problem.n_categories)])
    for k in range(K):
        for a, b in zip(ends, ends[1:], strict=False):
            own = k * d + column[a:b]
            if b - a < 3 and not counted:
                continue
            for _ in range(40):
                point[own] = np.clip(point[own], low[own], high[own])
                point[own] /= point[own].sum()
            if (point[own] < low[own]).any() or (point[own] > high[own]).any():
                return None
    return point


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
