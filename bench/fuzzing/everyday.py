"""Attacks on bounds of many samples and columns: whole searches that must prove a part of a nat a sample too much.

Problems of the other families have few samples, below where groups, hulls, sets of columns, labels and shares begin.
Here clusters of up to some ten thousand samples are rounded, doubled, shifted, in other units, weighted and skewed; now
and then mechanisms that would say most are switched off, so that what others say is compared.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

import gopfast
from gopfast.mixtures.solve import MixtureSearch
from gopfast.options import Options
from gopfast.result import Status

from .definitions import define
from .failure import Failure, slack

KINDS = ("known", "spherical", "diag", "tied", "full")
COLUMNS = {"known": (2, 9), "spherical": (2, 9), "diag": (2, 6), "tied": (2, 5), "full": (2, 5)}  # from, below
SAMPLES = (1_000, 2_500, 6_000, 15_000, 40_000)
MOST_NUMBERS = 250_000  # samples times columns times components
APART = (2.0, 4.0, 6.0, 8.0, 8.0, 12.0)  # standard deviations between the nearest clusters
# Bounds of many samples, of which some are switched off in a part of the cases.
SWITCHED = (
    "raised", "gathered_known", "hull", "cover", "groups", "labels", "shares", "pricing", "blocks", "shared_parameters",
    "factors", "rough_prices", "gathered", "noise", "simplices", "chains", "marginal", "summaries", "price_levels",
)  # fmt: skip
LIMITED = 0.3  # part of the cases with some switched off
EXCESS = (1e-3, 1e-2, 0.1)  # nats a sample that are to be proved beyond what is attained
SECONDS = 4.0


class Part(NamedTuple):
    """Which bounds took part in a search, and how near it came to what is attained, in nats a sample."""

    names: tuple[str, ...]
    nearest: float


def clusters(rng, n, d, K):
    """Return samples (n, d) of clusters of unequal shapes and shares, some with heavy tails."""
    means = rng.standard_normal((K, d))
    nearest = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(K, 1)].min()
    label = rng.choice(K, n, p=rng.dirichlet(np.full(K, rng.choice([1.0, 5.0]))))
    Z = rng.standard_normal((n, d))
    if rng.random() < 0.1:
        Z /= np.sqrt(rng.chisquare(4, (n, 1)) / 4)
    for k in range(K):
        turn = np.eye(d) + rng.choice([0.0, 0.0, 0.3]) * rng.standard_normal((d, d))
        Z[label == k] = Z[label == k] @ turn * rng.uniform(0.7, 1.3, d)
    return means[label] * rng.choice(APART) / nearest + Z


def spoiled(rng, X):
    """Return samples as they come: rounded, in pairs, with dependent or constant columns, skewed, in other units."""
    n, d = X.shape
    kind = rng.integers(10)
    if kind == 0:
        X = np.round(X, rng.integers(0, 2))
    elif kind == 1:
        X[:, -1] = 3.0
    elif kind == 2:
        X[:, -1] = X[:, 0] - X[:, 1]
    elif kind == 3:
        X[: n // 2] = X[n // 2 : n // 2 * 2]
    elif kind == 4:
        X[:, 0] = np.exp(0.3 * X[:, 0])
    elif kind == 5:
        X[:, 0] = rng.integers(0, 2, n)
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.uniform(-6, 6, 1 if rng.random() < 0.5 else d)
    if rng.random() < 0.3:
        X = X + rng.choice([-1.0, 1.0]) * 2.0 ** rng.integers(0, 31)
    return X


def weights(rng, n):
    """Return counts or weights (n,), or None."""
    kind = rng.integers(8)
    if kind == 0:
        return np.full(n, 10.0 ** rng.uniform(-6, 9))
    if kind == 1:
        return rng.choice([1e-3, 1.0, 50.0], n)
    return rng.integers(0, 4, n).astype(float) if kind == 2 else None


def stream(covariance, seed):
    """Return the random numbers of a case."""
    return np.random.default_rng([15, KINDS.index(covariance), seed])


def problem(covariance, seed, rng=None):
    """Return the problem of a case; InputError where the package refuses it."""
    rng = stream(covariance, seed) if rng is None else rng
    d, K = int(rng.integers(*COLUMNS[covariance])), int(rng.choice([2, 2, 2, 3, 3, 4, 5, 8]))
    most = MOST_NUMBERS // (d * K)
    n = int(rng.choice([size for size in SAMPLES if size <= most] or SAMPLES[:1]))
    X = spoiled(rng, clusters(rng, n, d, K))
    given, spread = {}, np.where(np.ptp(X, axis=0) > 0, X.var(axis=0), 1.0)
    if covariance == "known":
        given["noise_variance"] = spread * (10.0 ** rng.uniform(-2, 0) if rng.random() < 0.7 else 1.0)
    elif rng.random() < 0.4 or not (np.ptp(X, axis=0) > 0).all():
        floor = spread * 10.0 ** rng.uniform(-5, -1)
        given["variance_floor"] = float(floor.min()) if covariance == "spherical" else floor
    return gopfast.GaussianMixture(X, K, covariance=covariance, sample_weight=weights(rng, n), **given)


def attack(attacked, rng):
    """Run a search that must prove too much; returns (1, Part)."""
    definition = define(attacked)
    W = float(definition.W)
    off = rng.choice(SWITCHED, int(rng.integers(1, 6)), replace=False) if rng.random() < LIMITED else ()
    options = dataclasses.replace(
        Options.from_arguments(1.0, n_threads=1, log=False, random_state=int(rng.integers(2**31))),
        epsilon=-float(rng.choice(EXCESS)) * W, rel_tol=0.0,
    )  # fmt: skip
    with gopfast.settings(**dict.fromkeys(map(str, off), False)):
        search = MixtureSearch(attacked, options)
        result = search.run(time_limit=SECONDS)
    lower = search.search.least_bound  # also where it is above the objective, which a result's is not
    lower -= search.representation.loss(lower)
    value, size = definition.value(definition.read(result.solution))
    said = dict(status=result.status.name, lower=lower, objective=result.objective, value=float(value),
                weight=W, epsilon=options.epsilon, off=list(off))  # fmt: skip
    if result.status in (Status.OPTIMAL, Status.CUTOFF):
        raise Failure("proved what is false", said)
    if lower > value + slack(value, size, W):
        raise Failure("lower bound above an attained objective", said)
    names = tuple(name for name in SWITCHED if result.profile[name].calls)
    return 1, Part(names, float(value - lower) / W)


def run(covariance, seed):
    """Run one case: (number tried, Part), problem; raises Failure, or whatever the package raises."""
    rng = stream(covariance, seed)
    found = problem(covariance, seed, rng)
    return attack(found, rng), found
