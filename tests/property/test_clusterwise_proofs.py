"""Proofs of clusterwise least squares: accepted, with bounds that no classes are below; changed ones are not."""

import functools
import itertools

import numpy as np
import pytest
from support.clusterwise_proofs import CHANGES

import gopfast
from gopfast.checker import ProofError, check, file
from gopfast.checker.clusterwise import Problem, Samples

SEEDS = range(12)


def random_problem(rng):
    """A few samples; ties, weights of 0, no intercept, offsets and two regressors among them."""
    n, p = int(rng.integers(5, 8)), int(rng.choice([1, 1, 2]))
    X = np.round(rng.normal(size=(n, p)), int(rng.integers(1, 4))) + rng.choice([0.0, 100.0])
    X[:3, 0] += [0.0, 1.0, 3.0]  # columns do not depend on each other
    X[:3, -1] += [0.0, 0.5, -1.0]
    y = np.round(rng.normal(size=n) * rng.choice([1e-4, 3.0]), 6) + rng.choice([0.0, 50.0])
    weights = None
    if rng.random() < 0.5:
        weights = rng.choice([0.0, 0.5, 1.0, 3.7], n)
        weights[:4] = 1.0
    if rng.random() < 0.3:
        X[-1], y[-1] = X[0], y[0]
    intercept = bool(rng.random() < 0.7)
    return gopfast.ClusterwiseRegression(X, y, int(rng.integers(1, 3)), intercept, weights)


def least(problem):
    """The least sum of squares, by all labellings, rounded up."""
    others = itertools.product(range(problem.n_clusters), repeat=problem.n_samples - 1)
    return min(problem.objective(np.array([0, *labels])) for labels in others)


def proved(problem, **options):
    return gopfast.solve(problem, proof=True, n_threads=1, log=False, **options)


@functools.cache
def of_tree():
    """A problem whose bound takes divided boxes, and its result."""
    rng = np.random.default_rng(1)
    problem = gopfast.ClusterwiseRegression(rng.uniform(0, 10, 18).round(2), rng.normal(size=18).round(3), 2)
    return problem, proved(problem, rel_tol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_classes_are_below_what_is_proved(seed):
    problem = random_problem(np.random.default_rng(seed))
    result, optimum = proved(problem, max_nodes=60), least(problem)
    found = check(result.proof, problem._data_of_proof(), problem.sample_weight, problem)
    assert found.lower_bound <= optimum and found.lower_bound == result.lower_bound
    assert found.objective == pytest.approx(result.objective, rel=1e-9, abs=1e-20)
    if result.success:
        assert found.lower_bound >= optimum * (1 - 1e-4) - 1e-20


def test_what_a_limit_leaves_is_proved():
    problem, _ = of_tree()
    for limit in ({"max_nodes": 2}, {"time_limit": 0.0}, {"callback": lambda state: True}):
        result = proved(problem, rel_tol=1e-9, **limit)
        found = check(result.proof, problem._data_of_proof(), problem=problem)
        assert not result.success and found.lower_bound <= result.objective


@pytest.mark.parametrize("seed", range(3))
def test_a_proof_where_residuals_are_rounding_is_accepted(seed):
    """Found by the fuzzer: the checker takes residuals for less exact than the search does, and refused the proof."""
    t = np.array([52.971628315027, 47.959510592997, 47.959510592997, 52.8510382413115, 47.959510592997, 48.797995915916,
                  47.959510592997, 48.797995915916, 46.7995252204887, 47.959510592997, 52.8510382413115,
                  53.9146508750327])  # fmt: skip
    y = [-0.0209496799, 0.0114599976, 0.0114599976, -0.0201699126, -0.0019782854, -0.0010423339, -0.0019782854,
         0.00603813, -0.0032731083, 0.0114599976, 0.003481837, -0.0270475129]  # fmt: skip
    weights = [3e-3, 2.6e-2, 46631.5, 10.0, 1.2e-2, 5e-4, 4.3e-3, 10237.9, 2388.7, 3.5e-6, 5.9, 1.5e-5]
    problem = gopfast.ClusterwiseRegression(2000.0 + t, 2.0**20 + np.array(y), 2, sample_weight=weights)
    result = proved(problem, rel_tol=5e-7, max_nodes=1, random_state=seed)
    found = check(result.proof, problem._data_of_proof(), problem.sample_weight, problem)
    assert 0.99 * result.objective < found.lower_bound <= result.objective


def test_a_tree_of_boxes_is_checked():
    problem, result = of_tree()
    found = check(result.proof, problem._data_of_proof(), problem=problem)
    assert result.success and found.gap <= 2e-6 * result.objective and found.n_leaves > 1
    # without its boxes the same prices prove less
    header, arrays = parts(result)
    for name, kept in (("splits", [[-1, -1]]), ("points", [0.0]), ("prices", arrays["prices"][:1]),
                       ("limits", arrays["limits"][:1])):  # fmt: skip
        arrays[name] = np.array(kept, arrays[name].dtype)
    with pytest.raises(ProofError, match="leaf 0"):
        check(file.pack("clusterwise", header, arrays), problem._data_of_proof())


def parts(result):
    header, arrays = file.read(result.proof.data)
    return {name: value for name, value in header.items() if name not in ("format", "version", "kind")}, arrays


@pytest.mark.parametrize("name", CHANGES)
def test_changed_proofs_are_refused(name):
    problem, result = of_tree()
    header, arrays = parts(result)
    CHANGES[name](header, arrays)
    with pytest.raises(ProofError):
        check(file.pack("clusterwise", header, arrays), problem._data_of_proof(), problem=problem)


def test_other_data_are_refused():
    problem, result = of_tree()
    data = problem._data_of_proof()
    for X, weights, message in [
        (data + 1e-9, None, "digest"), (data[:-1], None, "digest"), (data, np.arange(18.0), "digest"),
        (data, -np.ones(18), "sample_weight"), (data * np.nan, None, "X"), (data[:, :1], None, "X"),
    ]:  # fmt: skip
        with pytest.raises(ProofError, match=message):
            check(result.proof, X, weights)
    other = gopfast.ClusterwiseRegression(problem.X, problem.y, 3)
    with pytest.raises(ProofError, match="n_clusters"):
        check(result.proof, data, problem=other)


@pytest.mark.parametrize("seed", range(12))
def test_no_class_saves_more_than_is_shown(seed):
    """All classes by enumeration, whose fits are in a box or anywhere."""
    rng = np.random.default_rng([seed, 7])
    n = 8
    x, y = rng.normal(size=n).round(2) + rng.choice([0.0, 30.0]), rng.normal(size=n).round(2)
    x[-1], y[-1] = x[0], y[1]
    problem = Problem({"n_clusters": 2, "fit_intercept": True}, np.column_stack([x, y]), rng.choice([0.5, 1.0, 2.0], n))
    x, y, w = problem.X[:, 0], problem.X[:, 1], problem.mass
    samples = Samples(problem, np.array([[x.min(), 0.0], [x.max(), 0.5]]), 0.5)
    low, high = samples.box()
    prices = rng.exponential(size=n) * rng.choice([0.3, 3.0])
    saved = []
    for chosen in itertools.product([False, True], repeat=n):
        own = np.array(chosen)
        if len(set(x[own])) < 2:  # which others save more than, as a sample more can be fitted
            continue
        Z, r = samples.z[own], samples.r[own]
        fit = np.linalg.lstsq(np.sqrt(w[own])[:, None] * Z, np.sqrt(w[own]) * r, rcond=None)[0]
        assert (fit >= low - 1e-9).all() and (fit <= high + 1e-9).all()
        saved.append((float(w[own] @ (prices[own] - np.square(r - Z @ fit))), fit))
    most = max(value for value, _ in saved)
    assert not samples.save_at_most(prices, low, high, most * (1 - 1e-9) - 1e-9)
    assert samples.save_at_most(prices, low, high, most + 1e-3)
    middle = low + rng.random(2) * (high - low)
    inside = [value for value, fit in saved if (fit <= middle).all()]
    if inside:
        assert not samples.save_at_most(prices, low, middle, max(inside) * (1 - 1e-9) - 1e-9)
