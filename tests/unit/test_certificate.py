"""Certificates, and restarts until one is earned: verdicts checked against independently proved optima."""

import json

import numpy as np
import pytest

import gopfast
from gopfast import Verdict, certify, local

MINIMAL = [-10.0, -10.0, 5.0, 25.0]
OPTIMUM = 84.03015887  # of the minimal data set, K = 2, empirical prior


def minimal(**changes):
    return gopfast.GaussianMixture(MINIMAL, 2, **{"prior": "empirical", **changes})


def test_a_hundred_fits_of_the_minimal_data_set_are_sorted_correctly():
    problem, verdicts = minimal(), []
    for seed in range(100):
        fit = local.em(problem, random_state=seed)
        found = certify(problem, fit)
        verdicts.append(found.verdict)
        assert found.verdict is (Verdict.PROVED if fit.objective < OPTIMUM + 0.01 else Verdict.BEATEN)
        assert found.lower_bound <= OPTIMUM + 1e-7
        assert found.upper_bound >= OPTIMUM - 1e-7
        assert found.objective == pytest.approx(fit.objective, abs=1e-9)
        assert found.gap == found.objective - found.lower_bound
    assert 10 < verdicts.count(Verdict.PROVED) < 90


def test_a_beaten_fit_comes_with_a_better_one():
    problem = minimal()
    found = certify(problem, local.em(problem, start=[-10, 15]))
    assert found.verdict is Verdict.BEATEN
    better = problem.objective(found.better.weights, **found.better.parameters)
    assert better == pytest.approx(found.upper_bound, abs=1e-9)
    assert better < found.objective - found.epsilon
    assert found.excess == found.objective - found.upper_bound
    text = str(found)
    assert text.startswith("BEATEN")
    assert f"a better fit {found.upper_bound:.8g}" in text
    assert f"lower by {found.excess:.6g}" in text
    assert f"proved bound {found.lower_bound:.8g}" in text
    # How far the bound was when the search stopped says nothing about the fit.
    assert f"{found.gap:.3g} above" not in text


@pytest.mark.parametrize(("share", "verdict"), [(0.5, "PROVED"), (0.97, "PROVED"), (1.03, "BEATEN"), (3.0, "BEATEN")])
@pytest.mark.parametrize("epsilon", [0.3, 0.01])
def test_a_fit_slightly_off_the_optimum_is_told_apart_at_epsilon(share, verdict, epsilon):
    """The means are moved until the objective exceeds the optimum by the share of epsilon."""
    problem = minimal()
    best = gopfast.solve(problem, 1e-7).solution
    low, high = 0.0, 100.0
    for _ in range(200):
        step = 0.5 * (low + high)
        moved = problem.objective(best.weights, best.means + step)
        low, high = (step, high) if moved < OPTIMUM + share * epsilon else (low, step)
    found = certify(problem, (best.weights, best.means + low), epsilon)
    assert found.objective == pytest.approx(OPTIMUM + share * epsilon, abs=1e-6)
    assert found.verdict.name == verdict


def test_the_search_stops_as_soon_as_the_answer_is_known():
    problem = gopfast.GaussianMixture(np.linspace(0.0, 30.0, 80), 4, covariance="known")
    whole = gopfast.solve(problem, 0.5)
    loose = certify(problem, whole, epsilon=20.0)
    assert loose.verdict is Verdict.PROVED
    assert loose.n_nodes < whole.n_nodes
    beaten = certify(problem, ([0.25] * 4, [1.0, 2.0, 3.0, 4.0]))
    assert beaten.verdict is Verdict.BEATEN
    assert beaten.n_nodes == 1


def test_a_limit_leaves_a_fit_undecided_with_its_bounds():
    X = np.random.default_rng(0).standard_normal((80, 3))
    problem = gopfast.GaussianMixture(X, 3, covariance="known")
    best = gopfast.solve(problem, start=gopfast.solve(problem, max_nodes=2000), max_nodes=2000)
    for limit in ({"time_limit": 0.0}, {"max_nodes": 3}, {"callback": lambda state: True}):
        found = certify(problem, best, **limit)
        assert found.verdict is Verdict.UNDECIDED
        assert found.lower_bound <= found.upper_bound <= found.objective
        assert "UNDECIDED" in str(found)



@pytest.mark.parametrize(
    "problem",
    [
        gopfast.PoissonMixture([0, 1, 1, 2, 2, 9, 10, 12], 2),
        gopfast.ExponentialMixture([0.1, 0.2, 0.2, 5.0, 9.0, 14.0], 2),
        gopfast.BernoulliMixture([[0, 0], [0, 0], [1, 1], [1, 1], [1, 0]], 2),
        gopfast.CategoricalMixture([["a", 1], ["a", 1], ["b", 2], ["b", 3]], 2),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_other_families_are_certified_too(problem):
    best = gopfast.solve(problem)
    for fit in (best, best.to_dict()):
        assert certify(problem, fit).verdict is Verdict.PROVED
    pooled = problem.maximize(np.full((problem.n_samples, 2), 0.5))
    assert certify(problem, pooled).verdict is Verdict.BEATEN


def test_a_fit_that_makes_a_sample_impossible_is_beaten():
    problem = gopfast.BernoulliMixture([[0, 1], [1, 1], [1, 0], [0, 0]], 2)
    found = certify(problem, ([1.0, 0.0], [[0.0, 0.0], [0.5, 0.5]]))
    assert found.objective == np.inf
    assert found.verdict is Verdict.BEATEN


@pytest.mark.parametrize("kind", ["solution", "result", "local", "tuple", "dict", "record", "json", "estimator"])
@pytest.mark.parametrize("covariance", ["known", "diag"])
def test_every_form_of_a_fit_is_read_alike(kind, covariance):
    floor = None if covariance == "known" else 1.0
    problem = gopfast.GaussianMixture(MINIMAL, 2, covariance=covariance, variance_floor=floor)
    result = gopfast.solve(problem)
    solution = result.solution
    values = [value for name, value in solution.parameters.items() if name != "prior_variance"]
    fit = {
        "solution": solution,
        "result": result,
        "local": local.em(problem, solution),
        "tuple": (solution.weights, *values),
        "dict": {"weights": solution.weights, **solution.parameters},
        "record": result.to_dict(responsibilities=True),
        "json": json.loads(result.to_json()),
    }.get(kind)
    if kind == "estimator":
        pytest.importorskip("sklearn")
        fit = gopfast.GlobalGaussianMixture(2, covariance=covariance, variance_floor=problem.variance_floor)
        fit.fit(problem.X)
    found = certify(problem, fit)
    assert found.verdict is Verdict.PROVED
    assert found.objective == pytest.approx(result.objective, abs=1e-7)


@pytest.mark.parametrize("kind", ["spherical", "diag", "tied", "full"])
def test_fits_of_scikit_learn_are_read_whatever_their_covariance_type(kind):
    mixture = pytest.importorskip("sklearn.mixture")
    X = np.array([-3.0, -2.5, -2.0, -1.0, 2.0, 2.5, 3.5, 4.0])[:, None]
    fit = mixture.GaussianMixture(2, covariance_type=kind, random_state=0, tol=1e-9).fit(X)
    covariance = "tied" if kind == "tied" else "diag"
    problem = gopfast.GaussianMixture(X, 2, covariance=covariance, variance_floor=0.05)
    found = certify(problem, fit, epsilon=0.1)
    assert -found.objective / len(X) == pytest.approx(fit.score(X), rel=1e-9)
    assert found.verdict is not Verdict.UNDECIDED


def test_covariances_that_the_model_does_not_have_are_refused():
    mixture = pytest.importorskip("sklearn.mixture")
    X = np.random.default_rng(0).standard_normal((40, 2)) @ [[2.0, 1.0], [0.0, 1.0]]
    full = mixture.GaussianMixture(2, random_state=0).fit(X)
    for covariance in ("diag", "spherical", "tied", "tied_spherical"):
        with pytest.raises(gopfast.InputError, match="fit: its covariances are not of the problem's kind"):
            certify(gopfast.GaussianMixture(X, 2, covariance=covariance), full)
    with pytest.raises(gopfast.InputError, match="noise_variance"):
        certify(gopfast.GaussianMixture(X, 2, covariance="known"), full)
    with pytest.raises(gopfast.InputError, match="variance_floor"):
        certify(gopfast.GaussianMixture(X, 2, covariance="full", variance_floor=50.0), full)
    with pytest.raises(gopfast.InputError, match="PoissonMixture"):
        certify(gopfast.PoissonMixture([1, 2], 1), full)


@pytest.mark.parametrize(
    ("fit", "named"),
    [
        (None, "NoneType"),
        ({"weights": [1.0]}, "means"),
        ({"means": [0.0, 1.0]}, "weights"),
        ({"weights": [0.5, 0.5], "means": [0.0, 1.0], "rates": [1.0, 1.0]}, "rates"),
        ({"weights": [0.5, 0.6], "means": [0.0, 1.0]}, "sum to 1"),
        (([0.2, 0.3, 0.5], [0.0, 1.0, 2.0]), "shape"),
        (([0.5, 0.5], [0.0, np.nan]), "means"),
        ({"solution": [1, 2]}, "dict"),
    ],
    ids=str,
)
def test_what_is_no_fit_is_refused(fit, named):
    with pytest.raises(gopfast.InputError, match=f"^fit: .*{named}"):
        certify(minimal(), fit)


def test_bad_options_are_refused():
    fit = local.em(minimal())
    with pytest.raises(gopfast.InputTypeError, match="^problem"):
        certify(MINIMAL, fit)
    with pytest.raises(gopfast.InputError, match="epsilon"):
        certify(minimal(), fit, epsilon=0.0)
    with pytest.raises(gopfast.InputError, match="time_limit"):
        certify(minimal(), fit, time_limit=-1)
    with pytest.raises(TypeError, match="rel_tol"):
        certify(minimal(), fit, rel_tol=0.5)


# Restarts


def test_restarts_end_with_the_first_fit_in_the_proved_interval():
    problem, trapped = minimal(), 0
    for seed in range(8):
        found = local.restart_until_certified(problem, random_state=seed)
        assert found.certified
        assert found.objectives[-1] == found.fit.objective <= found.result.lower_bound + 0.01
        assert (found.objectives[:-1] > found.result.lower_bound + 0.01).all()
        assert len(found.objectives) == found.n_restarts
        assert found.gap == found.fit.objective - found.result.lower_bound
        trapped += found.n_restarts > 1
    assert trapped > 0


def test_restarts_that_never_get_there_end_at_their_limits_and_say_so():
    problem = minimal()

    def stuck(problem, start, random_state, depth):
        return local.em(problem, [-10, 15], max_iter=depth)

    found = local.restart_until_certified(problem, stuck, max_restarts=5, depth=50)
    assert not found.certified
    assert found.n_restarts == 5
    assert found.fit.objective == pytest.approx(108.86, abs=0.005)
    assert local.restart_until_certified(problem, stuck, time_limit=0.0, depth=50).n_restarts == 1


@pytest.mark.parametrize("start", ["samples", "dirichlet"])
def test_restarts_draw_their_starts_by_strategy(start):
    found = local.restart_until_certified(minimal(), local.quasi_newton, start=start)
    assert found.certified
    seed = np.random.SeedSequence(0).generate_state(1, np.uint64)[0]
    first = local.quasi_newton(minimal(), local.start(minimal(), start, seed))
    assert found.objectives[0] == first.objective


def test_restarts_use_the_given_starts():
    def start(problem, random_state):
        return [-5.0, 25.0]

    found = local.restart_until_certified(minimal(), local.em, start=start)
    assert found.n_restarts == 1
    assert found.certified


@pytest.mark.parametrize(
    "changed", [{"method": "em"}, {"start": 3}, {"start": "best"}, {"epsilon": 0}, {"max_restarts": 0}], ids=str
)
def test_a_bad_argument_of_the_restarts_is_named(changed):
    with pytest.raises(gopfast.InputError, match=next(iter(changed))):
        local.restart_until_certified(minimal(), **changed)
