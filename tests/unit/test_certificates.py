"""Certificates of many fits: those of one problem share a search, those of many go through joblib."""

import numpy as np
import pytest

import gopfast
from gopfast import InputError, InputTypeError, Verdict, certify_all, local

OPTIMUM = 84.03015887  # of the minimal data set, K = 2, empirical prior


def minimal():
    return gopfast.GaussianMixture([-10.0, -10.0, 5.0, 25.0], 2, prior="empirical")


def columns(seed):
    rng = np.random.default_rng(seed)
    X = 4.0 * rng.integers(0, 2, 60) + rng.normal(size=60)
    return gopfast.GaussianMixture(X, 2, covariance="known")


def test_fits_of_one_problem_share_a_search():
    problem = minimal()
    fits = [local.em(problem, random_state=seed) for seed in range(30)]
    found = certify_all(problem, fits)
    for fit, certificate in zip(fits, found, strict=True):
        assert certificate.objective == pytest.approx(fit.objective, abs=1e-9)
        assert certificate.verdict is (Verdict.PROVED if fit.objective < OPTIMUM + 0.01 else Verdict.BEATEN)
        assert certificate.lower_bound <= OPTIMUM + 1e-7 <= certificate.upper_bound + 2e-7
        assert certificate.verdict is Verdict.PROVED or certificate.better is not None
        alone = gopfast.certify(problem, fit)
        assert (certificate.verdict, certificate.epsilon) == (alone.verdict, alone.epsilon)
    assert {one.verdict for one in found} == {Verdict.PROVED, Verdict.BEATEN}
    assert sum(one.n_nodes > 0 for one in found) <= 2


def test_a_better_fit_than_all_beats_them():
    problem = columns(0)
    fits = [([0.5, 0.5], [[0.0], [1.0]]), {"weights": [0.2, 0.8], "means": [0.0, 2.0]}]
    for certificate in certify_all(problem, fits):
        assert certificate.verdict == "BEATEN"
        value = problem.objective(certificate.better.weights, **certificate.better.parameters)
        assert value == pytest.approx(certificate.upper_bound, abs=1e-9)
        assert value < certificate.objective - certificate.epsilon


def test_a_fit_within_epsilon_of_the_best_is_searched_for_where_bounds_do_not_tell():
    """The first search may leave more open than a worse fit has to spare."""
    problem = columns(1)
    best = gopfast.solve(problem, 1e-9, log=False)
    shifts = np.linspace(0.0, 0.05, 12)
    fits = [(best.solution.weights, best.solution.means + shift) for shift in shifts]
    for certificate in certify_all(problem, fits, 0.02):
        excess = certificate.objective - best.objective
        assert abs(excess - 0.02) < 1e-6 or certificate.verdict == ("PROVED" if excess < 0.02 else "BEATEN")


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_many_problems_go_through_joblib(backend):
    joblib = pytest.importorskip("joblib")
    problems = [columns(seed) for seed in range(4)]
    fits = [local.em(problem, random_state=0) for problem in problems]
    alone = certify_all(problems, fits)
    with joblib.parallel_config(backend, n_jobs=2):
        together = certify_all(problems, fits)  # n_jobs is that of the context
    for one, other in zip(alone, together, strict=True):
        assert (one.verdict, one.objective, one.lower_bound, one.n_nodes) == (
            other.verdict, other.objective, other.lower_bound, other.n_nodes
        )  # fmt: skip
    assert [one.verdict for one in certify_all(problems, fits, n_jobs=2)] == [one.verdict for one in alone]


def test_kmeans_is_certified_too():
    problem = gopfast.KMeans(np.random.default_rng(0).normal(size=(40, 2)), 3)
    best = gopfast.solve(problem, log=False)
    found = certify_all(problem, [best, np.arange(40) % 3], log=False)
    assert [one.verdict for one in found] == ["PROVED", "BEATEN"]


def test_bad_input_is_named():
    problem = minimal()
    good = local.em(problem, random_state=0)
    with pytest.raises(InputError, match=r"fits must be one for each problem, 2; got 1"):
        certify_all([problem, problem], [good])
    with pytest.raises(InputTypeError, match=r"problem\[1\] must be a mixture or a KMeans; got int"):
        certify_all([problem, 3], [good, good])
    with pytest.raises(InputError, match=r"fits\[1\]: fit: "):
        certify_all(problem, [good, ([0.5, 0.6], [[0.0], [1.0]])])
    with pytest.raises(InputError, match="epsilon must be"):
        certify_all(problem, [good], -1.0)
    with pytest.raises(InputTypeError, match="fit must be one fit; gopfast.certify_all takes many"):
        gopfast.certify(problem, [good, good])
    assert certify_all(problem, []) == ()
