"""Mixtures of regressions of counts: the problem, its local fits, and what is reported of them."""

import mpmath
import numpy as np
import pytest
from gopfast.mixtures.pricing.pricing import ComponentPricing
from scipy import stats
from support import counts
from support.reference_em import em

import gopfast
from gopfast import datasets
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.models import CountRegressionMixture, RegressionMixture

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
ETA = 0.5 + X @ [0.5, -0.3] * np.where(np.arange(30) % 2, 1.0, -1.0)
POISSON = dict(y=RNG.poisson(np.exp(ETA)), family="poisson", offset=0.3 * RNG.normal(size=30))
TRIALS = RNG.integers(1, 20, 30)
BINOMIAL = dict(y=RNG.binomial(TRIALS, 1 / (1 + np.exp(-ETA))), family="binomial", n_trials=TRIALS)
every_model = pytest.mark.parametrize("model", [POISSON, BINOMIAL], ids=["poisson", "binomial"])
fabric = datasets.load_fabricfault()


def random_state(problem, seed=0):
    rng = np.random.default_rng(seed)
    return problem.maximize(rng.dirichlet(np.ones(problem.n_components), problem.n_samples))


@every_model
def test_densities_are_those_of_the_definition(model):
    problem = RegressionMixture(X, n_components=3, **model)
    assert isinstance(problem, CountRegressionMixture)
    state = random_state(problem)
    state.pop("weights")
    mean = problem.predict_mean(X, **state, offset=problem.offsets, n_trials=problem.trials)
    y = model["y"][:, np.newaxis]
    law, n = stats.poisson(mean), TRIALS[:, np.newaxis]
    if problem.family == "binomial":
        law = stats.binom(n, mean / n)
    # a count of 0 is 1e-6 in the likelihood
    np.testing.assert_allclose(problem.log_densities(**state), law.logpmf(y), rtol=1e-10, atol=2e-5)
    assert problem.n_parameters == 2 + 9
    small = RegressionMixture(X, n_components=3, **model, least_count=1e-13)
    np.testing.assert_allclose(small.log_densities(**state), law.logpmf(y), rtol=1e-10, atol=1e-11)


@every_model
def test_costs_of_the_core_enclose_those_of_mpmath(model):
    """Of parameters rounded up; the constants with them."""
    problem = RegressionMixture(X, n_components=1, **model)
    family = engine.family(problem)
    pricing = ComponentPricing(family)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        b = family.pack(coefficients=rng.normal(size=(1, 2)), intercepts=rng.normal(size=1))
        found, _ = pricing.costs_at(b)
        user = family.parameters(np.concatenate([[1.0], b, [0.0]]))
        with mpmath.workdps(40):
            Z, y, _, offset = counts.rows(problem)
            own = [*user["coefficients"][0], *user["intercepts"]]
            exact = [
                o + sum(mpmath.mpf(c) * x for c, x in zip(own, row, strict=True))
                for o, row in zip(offset, Z, strict=True)
            ]
            cost = [counts.cost(problem, i, eta, y) for i, eta in enumerate(exact)]
            total = sum(cost) - mpmath.mpf(family.constant)
            assert 0 <= sum(map(mpmath.mpf, found)) - total + mpmath.mpf(family.constant_error) < 1e-9
            bound = family.subproblem(b, b)["each"][0, :30]
            assert sum(map(mpmath.mpf, bound)) <= total + mpmath.mpf(family.constant_error)
            assert total - sum(map(mpmath.mpf, bound)) < 1e-9


@every_model
def test_one_m_step_solves_the_score_equations(model):
    w = RNG.uniform(0.5, 2.0, 30)
    problem = RegressionMixture(X, n_components=2, sample_weight=w, **model)
    tau = np.random.default_rng(1).dirichlet(np.ones(2), 30)
    state = problem.maximize(tau)
    state.pop("weights")
    mean = problem.predict_mean(X, **state, offset=problem.offsets, n_trials=problem.trials)
    score = np.column_stack([X, np.ones(30)]).T @ (w[:, np.newaxis] * tau * (model["y"][:, np.newaxis] - mean))
    np.testing.assert_allclose(score, 0.0, atol=1e-4)  # of least counts; of sums near 100


@every_model
def test_the_core_does_the_same_steps_of_em(model):
    problem = RegressionMixture(X, n_components=2, **model)
    state = random_state(problem)
    found = gopfast.local.em(problem, state, tol=1e-10)
    _, trace = em(problem, problem.responsibilities(**state), tol=1e-12)
    assert found.objective == pytest.approx(trace[-1], abs=1e-6)
    assert (np.diff(found.trace) >= -1e-9).all()  # of the log-likelihood


def test_what_the_core_packs_comes_back():
    problem = RegressionMixture(X, n_components=2, **POISSON)
    family, state = engine.family(problem), random_state(problem)
    weights = state.pop("weights")
    back = family.parameters(np.concatenate([weights, family.pack(**state), [0.0]]))
    for name, value in state.items():
        np.testing.assert_allclose(back[name], value, rtol=1e-12)


def test_trials_and_offsets_may_be_columns():
    table = np.column_stack([POISSON["offset"], X, POISSON["y"]])
    by_place = RegressionMixture(table, n_components=2, family="poisson", offset="1")
    np.testing.assert_array_equal(by_place.X, RegressionMixture(X, n_components=2, **POISSON).X)
    assert (by_place.offset, by_place.n_trials, by_place.regressors.shape) == ("3", None, (30, 2))
    np.testing.assert_array_equal(by_place.offsets, POISSON["offset"])
    again = RegressionMixture(by_place.X, n_components=2, family="poisson", offset=by_place.offset)
    np.testing.assert_array_equal(again.X, by_place.X)
    assert by_place.column_names == ["x0", "x1", "offset", "y"]


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(y=[0, 1, 2.5]), "y must hold counts, whole numbers of at least 0; got 2.5"),
        (dict(y=[0, -1, 2]), "y must hold counts.*got -1"),
        (dict(family="gamma"), "family must be"),
        (dict(n_trials=3), "n_trials must be None with family='poisson'"),
        (dict(family="binomial"), "n_trials must be given with family='binomial'"),
        (dict(family="binomial", n_trials=2), "y must be at most n_trials; sample 2 has 3 of 2"),
        (dict(family="binomial", n_trials=[3, 3, 3.5]), "n_trials must hold whole numbers of at least 1; got 3.5"),
        (dict(offset=[1, 2]), "offset must have shape"),
        (dict(offset="2"), "offset must be a regressor's column of X, by its name or its place; got '2'"),
        (dict(least_count=0.5), "least_count must be below 0.5; got 0.5"),
        (dict(noise_variance=1.0), "noise_variance must be None with family='poisson'"),
        (dict(family="normal", offset=[1, 2, 3]), "offset must be None with family='normal'"),
        (dict(X=[1, 1, 1]), "X must determine 2 coefficients"),
    ],
)
def test_bad_arguments_are_named(given, message):
    given = {"X": [1.0, 2.0, 4.0], "y": [0, 1, 3], "n_components": 1, "family": "poisson", **given}
    with pytest.raises(InputError, match=message):
        RegressionMixture(**given)


def test_rows_that_are_all_but_dependent_are_refused():
    x = [0.0, 1e-16, 1.0]
    with pytest.raises(InputError, match="X"):
        gopfast.solve(RegressionMixture(x, [0, 9, 4], 2, family="poisson", least_count=1e-300))


PATENT = datasets.load_patent()
BETA = datasets.load_betablocker()


@pytest.mark.parametrize(
    "args, options, reference",
    [
        ((np.log(fabric[:, 0]), fabric[:, 1]), {"family": "poisson"}, 84.888200),
        ((BETA[:, 3], BETA[:, 0]), {"family": "binomial", "n_trials": BETA[:, 1]}, 187.898396),
    ],
    ids=["fabricfault", "betablocker"],
)
def test_reference_optima(args, options, reference):
    """Of 500 starts of EM, by bench/regressions.py."""
    result = gopfast.solve(RegressionMixture(*args, 2, **options))
    assert result.success
    assert result.objective == pytest.approx(reference, abs=1e-4)


def test_without_regressors_it_is_a_mixture_of_poisson_distributions():
    packages, stores = datasets.load_candy().T
    problem = RegressionMixture(
        np.ones(21), packages, 3, family="poisson", fit_intercept=False, sample_weight=stores, least_count=1e-9
    )
    result, other = gopfast.solve(problem), gopfast.solve(gopfast.PoissonMixture(packages, 3, sample_weight=stores))
    assert result.success and other.success
    assert result.objective == pytest.approx(other.objective, abs=1e-5)
    np.testing.assert_allclose(np.exp(result.solution.coefficients), other.solution.rates, rtol=1e-3)


def test_an_offset_is_an_exposure():
    exposure = RNG.uniform(0.5, 4.0, 30)
    y = RNG.poisson(exposure)
    problem = RegressionMixture(np.ones(30), y, 1, family="poisson", offset=np.log(exposure), fit_intercept=False)
    result = gopfast.solve(problem)
    assert np.exp(result.solution.coefficients[0, 0]) == pytest.approx(y.sum() / exposure.sum(), rel=1e-5)


def test_counts_of_zero_are_told_and_hold_a_component():
    x = np.arange(12.0)
    y = np.where(x % 2, 0, 30 + x)
    problem = RegressionMixture(x, y, 2, family="poisson")
    result = gopfast.solve(problem)
    note = " ".join(result.notes)
    assert "counts of 0 are taken to be 1e-06" in note and "nothing else holds the coefficients of component 0" in note
    assert problem.predict_mean([[5.0]], result.solution.coefficients, result.solution.intercepts)[0, 0] < 1e-6


def grouped(n_components=3, **more):
    deaths, total, center, treated = BETA.T
    return RegressionMixture(
        treated, deaths, n_components, family="binomial", n_trials=total, groups=center, **more
    )  # fmt: skip


def test_rows_of_a_group_are_of_one_component():
    problem = grouped()
    result = gopfast.solve(problem)
    solution = result.solution
    assert result.success
    logs = stats.binom(BETA[:, 1:2], 1 / (1 + np.exp(-problem.predict(BETA[:, 3:], **solution.parameters)))).logpmf(
        BETA[:, :1]
    )
    of_centers = logs[:22] + logs[22:]
    expected = -np.log(np.exp(of_centers) @ solution.weights).sum()
    assert result.objective == pytest.approx(expected, abs=1e-4) and expected == pytest.approx(158.30948, abs=1e-4)
    np.testing.assert_array_equal(solution.responsibilities[:22], solution.responsibilities[22:])
    assert problem.total_weight == 22.0
    order = np.random.default_rng(0).permutation(44)  # rows in any order
    moved = RegressionMixture(
        BETA[order, 3], BETA[order, 0], 3, family="binomial", n_trials=BETA[order, 1],
        groups=[f"center {c:g}" for c in BETA[order, 2]],
    )  # fmt: skip
    assert gopfast.solve(moved).objective == pytest.approx(result.objective, abs=1e-4)


def test_weights_are_those_of_groups():
    weights = np.tile(np.random.default_rng(0).uniform(0.5, 2.0, 22), 2)
    problem = grouped(2, sample_weight=weights)
    state = random_state(problem)
    value = problem.objective(**state)
    cost = problem._with(sample_weight=np.eye(44)[0])  # of one center, by its first row
    assert problem.total_weight == pytest.approx(weights[:22].sum())
    single = sum(
        weights[i] * cost._with(sample_weight=np.eye(44)[i]).objective(**state) for i in range(22)
    )  # fmt: skip
    assert value == pytest.approx(single, rel=1e-12)
    with pytest.raises(InputError, match="sample_weight must be one number for all rows of a group"):
        grouped(2, sample_weight=np.arange(44) + 1.0)
    with pytest.raises(InputError, match="n_components must be at most the number of groups, 22"):
        grouped(23)
    with pytest.raises(InputError, match="groups must be labels"):
        RegressionMixture(X, n_components=2, **{**POISSON, "groups": [[1]]})
    with pytest.raises(InputError, match="groups must be None: samples are drawn row by row"):
        gopfast.bootstrap(problem, n_resamples=2, log=False)


def test_a_search_goes_on_from_a_checkpoint(tmp_path):
    problem = RegressionMixture(np.log(fabric[:, 0]), fabric[:, 1], 2, family="poisson", offset=np.zeros(32))
    gopfast.solve(problem, checkpoint=tmp_path / "file", max_nodes=50)
    again = gopfast.resume(tmp_path / "file", problem.X)
    assert again.success and again.objective == pytest.approx(84.888200, abs=1e-4)


def test_draws_keep_trials_and_offsets():
    for model in (POISSON, BINOMIAL):
        problem = RegressionMixture(X, n_components=2, **model)
        solution = gopfast.MixtureSolution.canonical(problem, **random_state(problem))
        rows, _ = solution.sample(500, random_state=0)
        drawn = problem._with(X=rows, sample_weight=np.ones(500))
        drawn._check_counts()
        assert {tuple(row) for row in rows[:, :-1]} <= {tuple(row) for row in problem.X[:, :-1]}
        mean = problem.predict_mean(
            drawn.regressors, solution.coefficients, solution.intercepts, offset=drawn.offsets, n_trials=drawn.trials
        )
        assert rows[:, -1].mean() == pytest.approx((mean @ solution.weights).mean(), rel=0.15)


def test_standard_errors_of_one_component_are_those_of_a_generalised_linear_model():
    problem = RegressionMixture(X, n_components=1, **BINOMIAL)
    result = gopfast.solve(problem)
    solution = result.solution
    mean = problem.predict_mean(X, solution.coefficients, solution.intercepts, n_trials=TRIALS)[:, 0]
    Z = np.column_stack([X, np.ones(30)])
    errors = np.sqrt(np.diag(np.linalg.inv((Z.T * (mean * (1 - mean / TRIALS))) @ Z)))
    found = result.summary().estimates
    np.testing.assert_allclose([one.error for one in found[1:]], errors, rtol=1e-3)


def test_the_estimator_predicts_means_of_counts():
    x, y = np.log(fabric[:, :1]), fabric[:, 1]
    model = gopfast.GlobalRegressionMixture(2, family="poisson", epsilon=1.0).fit(x, y, offset=np.zeros(32))
    rows = model.predict_component(x, offset=np.ones(32))
    np.testing.assert_allclose(rows, np.exp(x @ model.coefficients_.T + model.intercepts_ + 1.0))
    np.testing.assert_allclose(model.predict(x), rows @ model.weights_ / np.e)
    np.testing.assert_allclose(
        model.predict_proba(x, y, offset=np.zeros(32)), model.result_.solution.responsibilities, atol=1e-12
    )
    assert model.classify(x, y, offset=np.zeros(32)).shape == (32,)
    with pytest.raises(InputError, match="offset must be given: the fit had some"):
        model.predict_proba(x, y)
