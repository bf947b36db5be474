"""Mixtures of one covariance matrix to attack, and their bounds by cuts and cells."""

import math

import numpy as np
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.meter import Meter
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.mechanisms import RoughPrices
from gopfast.mixtures.shared.factors import FactorBound
from gopfast.mixtures.shared.rough_search import PriceMaker
from support.plans import plan_of


def problem_of(seed, n=None, d=None, K=3):
    """Samples in lines, clusters, constant or tied columns, with weights, offsets and floors."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 24)) if n is None else n
    d = 2 + seed % 2 if d is None else d
    return in_lines(rng, n, d, K, (seed // 2) % 6)


def in_lines(rng, n, d, K, kind):
    """A problem of n samples in lines or clusters: a column constant (0), or tied (1), rounded, far off, or weights."""
    X = rng.standard_normal((n, d)) * rng.choice([0.1, 1.0, 3.0], d)
    X += rng.integers(0, 3, (n, 1)) * rng.standard_normal(d) * rng.choice([0.0, 2.0, 6.0])
    if kind == 0:
        X[:, 1] = X[0, 1]
    elif kind == 1:
        X[:, 1] = 2.0 * X[:, 0]
    elif kind == 2:
        X = np.round(X)
    elif kind == 3:
        X += rng.choice([1e3, 1e6])
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], n)
    weight[:4] = 1.0
    weight *= rng.choice([1e-3, 1e4]) if kind == 4 else 1.0
    floor = {"variance_floor": 10.0 ** rng.uniform(-3, 0.5)} if rng.random() < 0.7 else {}
    return gopfast.GaussianMixture(X, K, covariance="tied", sample_weight=weight, **floor)


def bound_of(problem, raised=0.0, epsilon=1e-4, threads=1, is_rough=False):
    """A bound that seeks to prove `raised` more than the best objective known; that objective."""
    found = []
    for seed in range(2):
        primal = MixturePrimal(engine.family(problem), 40, seed=seed)
        search = Search(EntropicRelaxation(engine.family(problem)), primal, 1e-9, max_nodes=100)
        search.run()
        fields, vector = search.summary()
        found.append((fields["objective"], vector))
    best, vector = min(found, key=lambda pair: pair[0])
    plan = plan_of(problem, n_threads=threads) if threads > 1 else plan_of(problem)
    slices = engine.family(problem).slices()
    prices = PriceMaker(RoughPrices.learner, Meter()) if is_rough else None
    return FactorBound(slices, vector, best + raised, epsilon, plan.of_fixed(hasty=True), prices), best


def told(bound, steps, deadline=math.inf):
    """Bounds after each of so many steps, at most."""
    found = []
    for _ in range(steps):
        more = bound.step(deadline)
        found.append(bound.lower)
        if not more:
            break
    return found
