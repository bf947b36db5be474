"""Mixtures of regressions: the problem, its local fits, and what is reported of them."""

import numpy as np
import pytest
from scipy import stats
from support.reference_em import em
from support.settings import fewer

import gopfast
from gopfast import datasets
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures import engine
from gopfast.models import RegressionMixture

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2)) + 3.0
y = X @ [1.0, -2.0] * np.where(np.arange(30) % 2, 1.0, -0.5) + 0.2 * RNG.normal(size=30)
w = RNG.uniform(0.5, 2.0, 30)
MODELS = [{}, {"fit_intercept": False}, {"noise_variance": 0.1}, {"noise_variance": 0.1, "fit_intercept": False},
          {"variance": "shared"}]  # fmt: skip
every_model = pytest.mark.parametrize("model", MODELS, ids=str)


def random_state(problem, seed=0):
    rng = np.random.default_rng(seed)
    return problem.maximize(rng.dirichlet(np.ones(problem.n_components), problem.n_samples))


@every_model
def test_log_densities_are_those_of_normal_errors(model):
    problem = RegressionMixture(X, y, 3, **model)
    state = random_state(problem)
    state.pop("weights")
    fitted = X @ state["coefficients"].T + state.get("intercepts", 0.0)
    scale = np.sqrt(state.get("variances", np.full(3, state.get("variance", 0.1))))
    np.testing.assert_allclose(
        problem.log_densities(**state), stats.norm(fitted, scale).logpdf(y[:, np.newaxis]), rtol=1e-12
    )
    assert problem.n_parameters == 2 + sum(np.size(value) for value in state.values())


@every_model
def test_one_m_step_is_weighted_least_squares(model):
    problem = RegressionMixture(X, y, 2, sample_weight=w, **model)
    tau = np.random.default_rng(1).dirichlet(np.ones(2), 30)
    state = problem.maximize(tau)
    Z = X if not problem.fit_intercept else np.column_stack([X, np.ones(30)])
    squares = 0.0
    for k in range(2):
        mass = w * tau[:, k]
        expected = np.linalg.solve((Z.T * mass) @ Z, (Z.T * mass) @ y)
        found = [*state["coefficients"][k], *state.get("intercepts", np.zeros((2, 0)))[k : k + 1].ravel()]
        np.testing.assert_allclose(found[: len(expected)], expected, rtol=1e-8)
        squares += mass @ np.square(y - Z @ expected)
        if "variances" in state:
            variance = mass @ np.square(y - Z @ expected) / mass.sum()
            assert state["variances"][k] == pytest.approx(max(variance, problem.variance_floor), rel=1e-9)
    if "variance" in state:
        assert state["variance"] == pytest.approx(max(squares / w.sum(), problem.variance_floor), rel=1e-9)


@every_model
def test_the_core_does_the_same_steps_of_em(model):
    problem = RegressionMixture(X, y, 2, sample_weight=w, **model)
    state = random_state(problem, 3)
    found = gopfast.local.em(problem, state, tol=1e-10)
    last, trace = em(problem, problem.responsibilities(**state), tol=1e-12)
    assert found.objective == pytest.approx(trace[-1], abs=1e-6)
    assert (np.diff(found.trace) >= -1e-9).all()  # of the log-likelihood


def test_what_the_core_packs_comes_back():
    problem = RegressionMixture(X, y, 2)
    family, state = engine.family(problem), random_state(problem)
    weights = state.pop("weights")
    back = family.parameters(np.concatenate([weights, family.pack(**state), [0.0]]))
    for name, value in state.items():
        np.testing.assert_allclose(back[name], value, rtol=1e-12)


def test_a_component_on_tied_regressors_has_a_fit():
    problem = RegressionMixture([0.0, 0.0, 1.0, 2.0], [0.0, 1.0, 5.0, 9.0], 2, variance_floor=0.1)
    state = problem.maximize([[1, 0], [1, 0], [0, 1], [0, 1]])
    assert np.isfinite(problem.objective(**state))
    fitted = problem.predict([[0.0]], state["coefficients"], state["intercepts"])
    assert fitted[0, 0] == pytest.approx(0.5, abs=1e-6)


def test_rows_hold_regressors_and_response():
    problem = RegressionMixture(X, y, 2)
    np.testing.assert_array_equal(problem.X, np.column_stack([X, y]))
    np.testing.assert_array_equal(problem.regressors, X)
    np.testing.assert_array_equal(problem.response, y)
    again = RegressionMixture(problem.X, n_components=2)
    np.testing.assert_array_equal(again.X, problem.X)
    assert again.variance_floor == problem.variance_floor
    assert problem.column_names == ["x0", "x1", "y"]


def test_the_default_floor_is_a_share_of_the_residuals_of_one_regression():
    Z = np.column_stack([X, np.ones(30)])
    residuals = y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]
    assert RegressionMixture(X, y, 2).variance_floor == pytest.approx(0.05**2 * np.mean(residuals**2), rel=1e-10)


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(X=np.ones((30, 1)), y=y), "X must determine 2 coefficients"),
        (dict(X=np.column_stack([X, X.sum(axis=1)]), y=y), "depends on the others"),
        (dict(X=X, y=y[:-1]), "y must have shape"),
        (dict(X=X[:, :1]), "y must be given"),
        (dict(X=X, y=X.sum(axis=1)), "one regression fits all samples"),
        (dict(X=X, y=y, variance="equal"), "variance must be"),
        (dict(X=X, y=y, variance="shared", noise_variance=1.0), "variance must be 'free' with a noise_variance"),
        (dict(X=X, y=y, noise_variance=-1.0), "noise_variance"),
        (dict(X=X, y=y, noise_variance=1.0, variance_floor=1.0), "variance_floor must be None"),
        (dict(X=X, y=y, variance_floor=0.0), "variance_floor"),
        (dict(X=X, y=np.where(np.arange(30) == 3, np.nan, y)), "y"),
    ],
)
def test_bad_arguments_are_named(given, message):
    with pytest.raises(InputError, match=message):
        RegressionMixture(n_components=2, **given)


def test_fit_intercept_must_be_true_or_false():
    with pytest.raises(InputTypeError, match="fit_intercept"):
        RegressionMixture(X, y, 2, fit_intercept=2.0)


def test_too_many_sets_of_samples_are_refused():
    rng = np.random.default_rng(0)
    problem = RegressionMixture(rng.normal(size=(3000, 2)), rng.normal(size=3000), 2)
    with pytest.raises(InputError, match="sets of 3 rows"):
        gopfast.solve(problem)


@pytest.mark.parametrize(
    "name, columns, options, reference",
    [
        ("co2data", (0, 1), {}, 66.93977), ("co2data", (0, 1), {"noise_variance": 4.0}, 69.60472),
    ],
)  # fmt: skip
def test_reference_optima(name, columns, options, reference):
    """No better one in 200 runs of EM, apart from the core, from random responsibilities."""
    data = datasets.load(name)
    problem = RegressionMixture(data[:, columns[:-1]], data[:, columns[-1]], 2, **options)
    result = gopfast.solve(problem, time_limit=120)
    assert result.success
    assert result.objective == pytest.approx(reference, abs=1e-4)
    rng, best = np.random.default_rng(0), np.inf
    for _ in range(200):
        _, trace = em(problem, rng.dirichlet(np.full(2, 0.2), problem.n_samples), tol=1e-9, max_iter=200)
        best = min(best, trace[-1])
    assert result.lower_bound <= best + 1e-9
    assert result.objective <= best + 1e-6


def test_a_result_names_the_parameters_and_the_floor():
    result = gopfast.solve(RegressionMixture(*datasets.load("co2data").T, 2), time_limit=60)
    text = str(result)
    assert "coefficients" in text and "intercept" in text and "variance" in text
    assert "variance_floor" in text
    assert result.solution.coefficients.shape == (2, 1)
    assert result.to_dict()["solution"]["intercepts"] == result.solution.intercepts.tolist()


def test_standard_errors_of_one_component_are_those_of_least_squares():
    problem = RegressionMixture(X, y, 1, noise_variance=0.5)
    found = gopfast.solve(problem).summary().estimates
    Z = np.column_stack([X, np.ones(30)])
    errors = np.sqrt(0.5 * np.diag(np.linalg.inv(Z.T @ Z)))
    np.testing.assert_allclose([one.error for one in found[1:]], errors, rtol=1e-5)
    assert [(one.parameter, one.place) for one in found[1:]] == [
        ("coefficient", "x0"), ("coefficient", "x1"), ("intercept", "")
    ]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_one_component_is_solved_by_least_squares(model):
    problem = RegressionMixture(X, y, 1, sample_weight=w, **model)
    result = gopfast.solve(problem)
    assert result.success
    assert result.relaxation == "closed form"
    best = problem.maximize(np.ones((30, 1)))
    assert result.objective == pytest.approx(problem.objective(**best), rel=1e-12)
    assert result.gap < 1e-12 * (1 + abs(result.objective))
    np.testing.assert_allclose(result.solution.coefficients, best["coefficients"], rtol=1e-6)


def test_the_number_of_components_is_chosen_with_proof():
    rows = datasets.load("co2data")
    choice = gopfast.select(rows, [1, 2], model=lambda X, K: RegressionMixture(X, n_components=K))
    assert (choice.n_components, choice.status) == (2, "PROVED")


def test_a_search_goes_on_from_a_checkpoint(tmp_path):
    problem = RegressionMixture(*datasets.load("co2data").T, 2, noise_variance=4.0)
    gopfast.solve(problem, checkpoint=tmp_path / "file", max_nodes=50)
    again = gopfast.resume(tmp_path / "file", problem.X)
    assert again.success
    assert again.objective == pytest.approx(69.60472, abs=1e-4)


@pytest.mark.parametrize("options", [{}, {"noise_variance": 4.0}], ids=str)
def test_a_proof_is_written_and_checked(tmp_path, options):
    problem = RegressionMixture(*datasets.load("co2data").T, 2, **options)
    result = gopfast.solve(problem, proof=tmp_path / "proof")
    found = gopfast.check(tmp_path / "proof", problem.X, problem=problem)
    assert result.success
    assert found.gap <= 0.01
    assert found.lower_bound == result.lower_bound
    assert found.solution["coefficients"] == result.solution.coefficients.tolist()
    with pytest.raises(gopfast.checker.ProofError, match="n_components is 2, not 3"):
        gopfast.check(tmp_path / "proof", problem.X, problem=problem._with(n_components=3))


@pytest.mark.parametrize("options, reference", [({}, -141.19840), ({"noise_variance": 0.005}, -103.23393)])
def test_the_tone_data_are_proved(options, reference):
    problem = RegressionMixture(*datasets.load_tonedata().T, 2, **options)
    result = gopfast.solve(problem, time_limit=200)
    assert result.success
    assert result.objective == pytest.approx(reference, abs=1e-4)


@pytest.mark.parametrize("options, reference", [({}, 704.05468), ({"noise_variance": 3.0}, 1254.12863)])
def test_regressions_of_a_parabola_and_a_line_on_lines_are_proved(options, reference):
    data = datasets.load_npreg()
    result = gopfast.solve(RegressionMixture(data[:, 0], data[:, 1], 2, **options), time_limit=200)
    assert result.success
    assert result.objective == pytest.approx(reference, abs=1e-4)


@pytest.mark.parametrize(
    "name, reference", [("co2data", 69.42382), ("tonedata", -107.25670)]
)  # fmt: skip
def test_one_variance_for_all_is_proved(name, reference):
    """No better one in 100 runs of EM, apart from the core, from random responsibilities."""
    problem = RegressionMixture(*datasets.load(name).T, 2, variance="shared")
    result = gopfast.solve(problem, time_limit=200)
    assert result.success
    assert result.objective == pytest.approx(reference, abs=1e-4)
    rng, best = np.random.default_rng(0), np.inf
    for _ in range(fewer(100)):
        _, trace = em(problem, rng.dirichlet(np.full(2, 0.2), problem.n_samples), tol=1e-9, max_iter=200)
        best = min(best, trace[-1])
    assert result.lower_bound <= best + 1e-9
    assert result.objective <= best + 1e-6
    assert "variance of every component" in str(result)
    estimate = result.summary().estimates[-1]
    assert (estimate.parameter, estimate.value) == ("variance", result.solution.variance)
    assert estimate.error > 0


def test_a_shared_variance_is_one_parameter():
    free, shared = (RegressionMixture(X, y, 3, variance=name) for name in ("free", "shared"))
    assert (free.n_parameters, shared.n_parameters) == (14, 12)
    state = shared.maximize(np.random.default_rng(0).dirichlet(np.ones(3), 30))
    own = {name: value for name, value in state.items() if name != "variance"}
    same = free.objective(**own, variances=np.full(3, state["variance"]))
    assert shared.objective(**state) == pytest.approx(same, rel=1e-12)
    one = gopfast.solve(RegressionMixture(X, y, 1, variance="shared"), proof=True)
    assert one.objective == pytest.approx(gopfast.solve(RegressionMixture(X, y, 1)).objective, rel=1e-12)
    assert gopfast.check(one.proof, np.column_stack([X, y]), problem=one.solution.problem).gap < 1e-3
    found = gopfast.solve(shared, proof=True, max_nodes=100)
    assert gopfast.check(found.proof, np.column_stack([X, y]), problem=shared).lower_bound >= found.lower_bound
    with pytest.raises(gopfast.ProofError, match="problem: family is 'shared_regression', not 'regression'"):
        gopfast.check(found.proof, np.column_stack([X, y]), problem=free)


@pytest.mark.parametrize("model", [{}, {"noise_variance": 0.1}, {"variance": "shared"}], ids=str)
def test_rows_of_a_group_are_of_one_component(model):
    rng = np.random.default_rng(4)
    of = np.repeat(np.arange(8), [1, 2, 3, 4, 2, 2, 1, 3])
    x = rng.normal(size=18)
    y = np.where(of % 2, 1 - x, 1 + x) + 0.3 * rng.normal(size=18)
    problem = RegressionMixture(x, y, 2, groups=[f"patient {i}" for i in of], **model)
    result = gopfast.solve(problem)
    solution = result.solution
    assert result.success and problem.total_weight == pytest.approx(8.0)
    fitted = x[:, np.newaxis] * solution.coefficients[:, 0] + solution.intercepts
    scale = np.sqrt(problem._variances_of(solution.parameters))
    logs = stats.norm(fitted, scale).logpdf(y[:, np.newaxis])
    of_groups = np.array([logs[of == g].sum(axis=0) for g in range(8)])
    expected = -np.log(np.exp(of_groups) @ solution.weights).sum()
    assert result.objective == pytest.approx(expected, abs=1e-5)
    for g in range(8):
        assert np.ptp(solution.responsibilities[of == g], axis=0).max() == 0.0
    order = rng.permutation(18)
    moved = RegressionMixture(np.column_stack([x, of, y])[order], n_components=2, groups="2", **model)
    assert gopfast.solve(moved).objective == pytest.approx(result.objective, abs=0.01)
    proved = gopfast.solve(problem, proof=True, max_nodes=200, log=False)
    assert gopfast.check(proved.proof, problem.X, None, problem).lower_bound == proved.lower_bound
    one = RegressionMixture(x, y, 1, groups=of, **model)  # all rows are of one component: groups say nothing
    assert one.objective(**one.maximize(np.ones((18, 1)))) == pytest.approx(gopfast.solve(one).objective, abs=1e-6)
    assert gopfast.solve(one).objective == pytest.approx(
        gopfast.solve(RegressionMixture(x, y, 1, **model)).objective, rel=1e-12
    )


def test_one_component_has_one_variance_whatever_it_shares():
    """Searches and local methods name it alike, as the problem does: one number."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=30)
    y = 2.0 * x + rng.normal(size=30)
    problem = gopfast.RegressionMixture(x, y, 1, variance="shared", variance_floor=0.01)
    fit = gopfast.local.em(problem)
    found = gopfast.solve(problem, start=fit.solution, log=False)
    assert fit.objective == pytest.approx(found.objective, rel=1e-12)
    assert np.ndim(fit.solution.variance) == 0
    assert fit.solution.variance == pytest.approx(np.var(y - np.polyval(np.polyfit(x, y, 1), x)), rel=1e-9)
