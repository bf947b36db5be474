"""Attacks on what the core claims of boxes: random ones that hold a known point, and bounds of whole problems.

For any responsibilities the best parameters are known (`definitions`), and their objective is attained. So tightening
must keep a box that holds these parameters, and the bound of the box must not exceed the objective.
"""

import math

import numpy as np
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.mixtures.relaxations.linear import LinearRelaxation
from gopfast.search.probe import probe, root_box

from gopfast.mixtures import engine
from gopfast.mixtures.closed_form import ceiling, single
from gopfast.mixtures.mixing.nonparametric import free_variance_bound, nonparametric_bound

from . import classes, clusters, generator, learning
from .definitions import LONG, define
from .failure import Failure, slack
from .surroundings import random_box

N_RESPONSIBILITIES = 5
N_BOXES = 24
MOST_PATH = 12
# In the core's units, where floors of variances are about 1: squares of smaller numbers underflow, and where they lie
# changes no cost by as much as a rounding error.
UNDERFLOW = 1e-150


def responsibilities(rng, definition, float_definition):
    """Soft, hard, contiguous, near a vertex, with an empty component, or near a local optimum of EM."""
    n, K = definition.n, definition.K
    kind = rng.integers(8)
    if kind == 0:
        tau = rng.dirichlet(np.full(K, 10.0 ** rng.uniform(-1.5, 1)), n)
    elif kind == 1:
        tau = np.eye(K)[rng.integers(K, size=n)]
    elif kind == 2:
        # clusters that are contiguous along a direction, as k-means makes them
        along = np.nan_to_num(definition.X) @ rng.standard_normal(definition.d)
        cuts = np.sort(rng.choice(along, K - 1)) if K > 1 else np.zeros(0)
        tau = np.eye(K)[np.searchsorted(cuts, along)]
    elif kind == 3:
        share = 10.0 ** rng.uniform(-12, -1)
        tau = (1 - share) * np.eye(K)[rng.integers(K, size=n)] + share / K
    elif kind == 4:
        tau = np.zeros((n, K))
        used = rng.choice(K, max(1, K - 1), replace=False)
        tau[:, used] = rng.dirichlet(np.full(len(used), 0.5), n)
    elif kind == 5:
        tau = np.broadcast_to(rng.dirichlet(np.ones(K)), (n, K)).copy()
    else:
        tau = rng.dirichlet(np.full(K, 0.3), n)
        tau = float_definition.em(0.98 * tau + 0.02 / K, int(rng.choice([1, 3, 10, 100])))
    tau = np.maximum(tau.astype(LONG), 0)
    return tau / tau.sum(axis=1, keepdims=True)


def place_empty(rng, cells, errors, S):
    """Components without samples may lie anywhere in the root: here at another component."""
    full = np.flatnonzero(S > 0)
    for k in np.flatnonzero(~(S > 0)) if full.size else ():
        at = rng.choice(full)
        cells[k], errors[k] = cells[at], errors[at]


class Target:
    """One state of a problem: its point in the core's coordinates, in label order, and its objective."""

    def __init__(self, definition, family, tau, rng):
        state = definition.best(tau)
        self.value, self.size = definition.value(state, tau)
        cells, errors, shared, shared_error = definition.point(state, family)
        cells, errors = np.array(cells), np.array(errors)
        S, K = state["S"], definition.K
        self.empty = int((~(S > 0)).sum())
        flat = definition.problem.prior in definition.problem._flat_priors or definition.problem.prior is None
        if flat and self.empty:
            own = definition.problem.n_components  # noise has no place
            place_empty(rng, cells[:own], errors[:own], S[:own])
        order = definition.order(cells)
        self.weights, self.S = state["weights"][order], S[order]
        self.point = np.concatenate([cells[order].ravel(), shared])
        self.error = np.concatenate([errors[order].ravel(), shared_error]).astype(float) + UNDERFLOW
        # an endless cell stands for all means beyond the root's end
        self.point = np.where(np.isposinf(self.point), LONG(np.finfo(float).max), self.point)
        self.state, self.n_cell, self.K = state, cells.shape[1], K

    def limit(self, W):
        """What no bound may exceed."""
        return float(self.value + slack(self.value, self.size, W))


def halved(rng, low, high, point, error):
    """The part of a box that holds the point, after a cut in one variable, often through the point itself."""
    low, high = low.copy(), high.copy()
    j = rng.choice(np.flatnonzero(high > low)) if (high > low).any() else 0
    at = point[j] if rng.random() < 0.3 else low[j] + rng.uniform(0.1, 0.9) * (high[j] - low[j])
    at = min(max(at, low[j]), high[j])
    if point[j] <= at:
        high[j] = min(high[j], max(at, point[j] + error[j]))
    else:
        low[j] = max(low[j], min(at, point[j] - error[j]))
    return low, high


def relaxations(name, family, rng):
    """The relaxations to attack."""
    if name in generator.LINEAR:
        return LinearRelaxation(family, name == "paper", max_rounds=int(rng.choice([1, 4, 20])))
    return EntropicRelaxation(family, n_split=int(rng.choice([0, 2, 2, 3])), patience=rng.choice([None, 0.01]))


def attack_box(relaxed, target, point, error, low, high, W, rng):
    """Tighten and bound one box that holds the target; what is left of it, or raises Failure."""
    limit = target.limit(W)
    # nodes are bounded best where the cutoff is just out of reach; far below it they are left after a few passes
    size = 1 + abs(limit)
    cutoff = limit + rng.choice([0.0, 0.0, 1e-9 * size, 1e-6 * size, 1e-3, 0.3 * size, -1.0, math.inf])
    found = probe(relaxed, low, high, cutoff)
    said = dict(low=low, high=high, point=point)
    if found is None:
        raise Failure("empty", said)
    least, most, lower = found
    # rounding of the point itself, and some ulps of the comparison
    loose = 2 * error + 2.0**-50 * (np.abs(least) + np.abs(most))
    off = np.maximum(least - point, point - most)
    if (off > loose).any():
        j = int(np.argmax(off / loose))
        raise Failure("cut off", dict(variable=j, by=off[j], error=error[j], **said, least=least, most=most))
    if lower > limit:
        raise Failure("bound", dict(lower=lower, value=target.value, by=lower - target.value, limit=limit, **said))
    return least, most


def attack_problem(name, problem, rng, n_responsibilities=N_RESPONSIBILITIES, n_boxes=N_BOXES):
    """Attack a problem's boxes and whole-problem bounds; returns how many were tried, raises Failure."""
    definition, fast = define(problem), define(problem, float)
    family = engine.family(problem)
    relaxed = relaxations(name, family, rng)
    low, high = root_box(relaxed)
    W = float(definition.W)
    if name in generator.LINEAR:
        n_responsibilities, n_boxes = 2, 6
    least = whole_bounds(problem, family, fast, rng)
    tried = len(least)
    for _ in range(n_responsibilities):
        tau = responsibilities(rng, definition, fast)
        if not np.isfinite(tau).all():
            continue
        target = Target(definition, family, tau, rng)
        if not np.isfinite(target.value):
            raise Failure("definition", dict(value=target.value))
        for what, bound in least.items():
            if bound > target.limit(W):
                raise Failure(what, dict(bound=bound, value=target.value, by=bound - target.value))
        point, error = target.point, target.error
        if name == "paper":
            point = np.concatenate([point, target.weights])
            error = np.concatenate([error, np.full(len(target.weights), 1e-15)])
        point = within_root(problem, point, error, low, high)
        done = 0
        while done < n_boxes:
            at = (low, high) if done == 0 else random_box(rng, point, error, low, high)
            for _ in range(int(rng.integers(1, MOST_PATH))):
                at = attack_box(relaxed, target, point, error, *at, W, rng)
                done += 1
                at = halved(rng, *at, point, error)
                if done >= n_boxes:
                    break
        tried += done
    tried += learning.attack(problem, definition, family, rng)
    return tried


def within_root(problem, point, error, low, high):
    """The point as floats within the root, which it may leave by rounding only."""
    slack = error + 2.0**-50 * np.maximum(np.abs(low), np.abs(high))
    # there cells that reach the root's end have no end
    endless = type(problem).__name__ == "ExponentialMixture" and problem.prior is not None and problem.prior[0] == 1.0
    if (point < low - slack).any() or (not endless and (point > high + slack).any()):
        raise Failure("root", dict(point=point, low=low, high=high, error=error))
    return np.minimum(np.maximum(point, low), high).astype(float)


def whole_bounds(problem, family, fast, rng):
    """Bounds of the whole problem that need no search, by name."""
    found = {"ceiling": ceiling.least_objective(problem), "saturated": ceiling.saturated_bound(problem, family)}
    if problem.n_components == 1:
        optimum = single.optimum(problem)
        if optimum is not None:
            found["single"] = optimum.lower_bound
    found["free variance"] = -math.inf
    samples, weights = family.data.arrays()
    if type(family).__name__ in ("NormalFamily", "LineFamily") and samples.shape[0] == 1 and np.ptp(samples) < 300:
        found["free variance"] = free_variance_bound(family)
    if type(family) is GaussianFamily and samples.shape[0] == 1 and not family.has_prior and np.ptp(samples) < 300:
        found["nonparametric"] = nonparametric_bound(samples[0], weights, 1e-3)
    return found


def run(name, seed, n_responsibilities=N_RESPONSIBILITIES, n_boxes=N_BOXES):
    """One case: (number tried, problem); raises Failure, or whatever the package raises."""
    rng = generator.stream("boxes", name, seed)
    problem = generator.drawn("boxes", name, seed, rng)
    if name in generator.CLASSES:
        attacks = clusters if name == "kmeans" else classes
        return attacks.attack_boxes(problem, rng), problem
    return attack_problem(name, problem, rng, n_responsibilities, n_boxes), problem
