"""Binary data, counts, waiting times and labels in the compiled core: parameters, EM, solve, notes, edges."""

import math

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from scipy.stats import poisson
from support import problems
from support.columns import KINDS
from support.problems import random_state, rows
from support.reference_em import em

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.families.columns import merged

pytestmark = pytest.mark.filterwarnings("error")
every_kind = pytest.mark.parametrize("kind", KINDS)


def attained(result):
    return result.solution.problem.objective(result.solution.weights, **result.solution.parameters)


def proved(problem, epsilon=0.01, **options):
    result = gopfast.solve(problem, epsilon, max_nodes=50_000, **options)
    assert result.success, result
    assert result.objective == pytest.approx(attained(result), abs=1e-9)
    return result


# Parameters


@every_kind
@pytest.mark.parametrize("d", [1, 3])
def test_parameters_survive_the_way_to_the_core_and_back(kind, d):
    problem = problems.make(kind, 3, n=20, d=d, K=3)
    family = engine.family(problem)
    state = random_state(problem, np.random.default_rng(3))
    weights = state.pop("weights")
    back = family.parameters(np.concatenate([weights, family.pack(**state), [1.0]]))
    assert back.keys() == state.keys()
    for name, value in state.items():
        np.testing.assert_allclose(rows(back[name]), rows(value), rtol=1e-13, atol=1e-16)
    problem.check_parameters(**back)


@every_kind
def test_the_core_evaluates_the_problems_objective(kind):
    for seed in range(5):
        problem = problems.make(kind, seed, n=20, d=3, K=3)
        state = random_state(problem, np.random.default_rng(seed))
        weights = state.pop("weights")
        point = engine.family(problem).pack(**state)
        _, trace, _ = MixturePrimal(engine.family(problem)).em(weights, point, 0.0, 1)
        assert trace[0] == pytest.approx(problem.objective(weights, **state), rel=1e-12, abs=1e-12)


@every_kind
def test_em_takes_the_steps_of_the_reference(kind):
    problem = problems.make(kind, 5, n=25, d=2, K=2)
    state, trace = em(problem, np.random.default_rng(5).dirichlet(np.ones(2), 25), max_iter=8)
    start = problem.maximize(np.random.default_rng(5).dirichlet(np.ones(2), 25))
    weights = start.pop("weights")
    point = engine.family(problem).pack(**start)
    vector, found, _ = MixturePrimal(engine.family(problem)).em(weights, point, -1.0, 8)
    np.testing.assert_allclose(found[: len(trace)], trace, rtol=1e-11, atol=1e-11)
    end = engine.family(problem).parameters(vector)
    np.testing.assert_allclose(rows(end.popitem()[1]), rows(state[problem.parameter_names[0]]), rtol=1e-6, atol=1e-9)


@every_kind
def test_local_em_never_loses_and_starts_from_a_solution(kind):
    problem = problems.make(kind, 6, n=25, d=2, K=2)
    fit = gopfast.local.em(problem, random_state=1)
    assert (np.diff(fit.trace) >= -1e-10).all()
    result = proved(problem, start=fit)
    assert result.objective <= fit.objective + 1e-4  # of a polish that stops at 1e-6 per step
    again = gopfast.local.em(problem, start=result)
    assert again.objective <= result.objective + 1e-9


@pytest.mark.parametrize(
    ("kind", "start", "words"),
    [
        ("Poisson", [[1.0, 2.0]], "rates; rates must have shape"),
        ("Poisson", [[1.0, -2.0], [1.0, 1.0]], "rates; rates must be at least 0"),
        ("Bernoulli", [[0.5, 2.0], [0.1, 0.1]], "probabilities; probabilities must be at most 1"),
        ("categorical", [[0.5, 0.5]], "probabilities; probabilities must be a list"),
    ],
)
def test_a_bad_start_is_named(kind, start, words):
    with pytest.raises(InputError, match=f"^start must hold {words}"):
        gopfast.solve(problems.make(kind), start=start)


# Data


def test_equal_rows_are_merged_and_their_weights_summed():
    X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
    found, weights = merged(X, np.array([0.1, 1.0, 0.2, 0.3, 0.0]))
    assert found.tolist() == [[0.0, 1.0], [1.0, 2.0]]
    assert weights.tolist() == [1.0, math.fsum([0.1, 0.2, 0.3])]
    problem = gopfast.BernoulliMixture(np.random.default_rng(0).random((500, 3)) < 0.5, 2)
    columns, weights = engine.family(problem).data.arrays()
    assert columns.shape == (3, 8)
    assert weights.sum() == 500


def test_different_rows_stay_in_place():
    X, weights = np.array([[3.0], [1.0]]), np.array([1.0, 2.0])
    found = merged(X, weights)
    assert found[0] is X and found[1] is weights


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_waiting_times_in_other_units_move_the_objective_by_the_jacobian(unit):
    X = np.random.default_rng(2).exponential(np.repeat([1.0, 8.0], 15))
    one, other = proved(gopfast.ExponentialMixture(X, 2), 1e-4), proved(gopfast.ExponentialMixture(unit * X, 2), 1e-4)
    assert other.objective - one.objective == pytest.approx(30 * math.log(unit), abs=1e-4)


def test_waiting_times_of_too_wide_a_range_are_refused():
    with pytest.raises(InputError, match="^X spans more than 140 decades in column 0"):
        gopfast.solve(gopfast.ExponentialMixture([1e-200, 1.0], 2))


def test_large_counts_keep_their_digits():
    X = np.array([10.0**6 + 500, 10.0**6, 10.0**6 - 800, 10.0**6 + 90, 2.0e6, 2.0e6 + 400])
    result = gopfast.solve(gopfast.PoissonMixture(X, 2), 1e-6)
    assert result.success
    # The objective in plain NumPy sums terms of 1e7.
    assert result.objective == pytest.approx(attained(result), abs=1e-7)
    assert sorted(np.round(result.solution.rates[:, 0], 3)) == [999947.5, 2000200.0]


# Known values and edges


def test_counts_of_the_issue():
    rng = np.random.default_rng(1)
    x = rng.poisson(np.array([2.0, 10.0])[rng.integers(2, size=200)])
    result = proved(gopfast.PoissonMixture(x, 2))
    assert result.objective == pytest.approx(541.0428, abs=5e-5)


def test_one_component_takes_no_nodes():
    x = np.array([0.0, 3.0, 7.0, 1.0])
    result = proved(gopfast.PoissonMixture(x, 1), 1e-9)
    assert result.n_nodes == 0
    assert result.objective == pytest.approx(-poisson.logpmf(x, 2.75).sum(), abs=1e-9)
    table = gopfast.CategoricalMixture([["a", "x"], ["b", "x"], ["c", "y"], ["a", "y"]], 1)
    expected = -(2 * math.log(0.5) + 2 * math.log(0.25)) + 4 * math.log(2.0)
    assert proved(table, 1e-9).objective == pytest.approx(expected, abs=1e-9)


def test_constant_columns_and_saturated_probabilities_are_exact():
    X = np.array([[0, 1, 1, 0, 0]] * 3 + [[0, 1, 0, 1, 1]] * 2)
    result = proved(gopfast.BernoulliMixture(X, 2))
    assert result.objective == pytest.approx(-(3 * math.log(0.6) + 2 * math.log(0.4)), abs=1e-9)
    probabilities = result.solution.probabilities
    assert probabilities.tolist() == [[0.0, 1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 0.0, 0.0]]


def test_zero_counts_are_exact():
    nothing = proved(gopfast.PoissonMixture(np.zeros((4, 2)), 2))
    assert nothing.objective == pytest.approx(0.0, abs=1e-12)
    assert nothing.solution.rates.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    column = proved(gopfast.PoissonMixture([[0, 0], [0, 30], [0, 30], [0, 0]], 2))
    expected = 4 * math.log(2.0) - 2 * poisson.logpmf(30, 30)
    assert column.objective == pytest.approx(expected, abs=1e-6)
    assert (column.solution.rates[:, 0] == 0.0).all()
    with_prior = proved(gopfast.PoissonMixture([0, 0, 0], 2, prior=(2.0, 1.0)))
    assert np.isfinite(with_prior.objective)


def test_labels_that_never_occur_have_probability_0_or_the_priors():
    X, names = ["a", "b", "a", "b"], [["a", "b", "c"]]
    bare = proved(gopfast.CategoricalMixture(X, 2, categories=names))
    assert bare.objective == pytest.approx(4 * math.log(2.0), abs=0.01)
    assert (bare.solution.probabilities[0][:, 2] == 0.0).all()
    prior = proved(gopfast.CategoricalMixture(X, 2, categories=names, prior=2.0))
    assert (prior.solution.probabilities[0][:, 2] > 0.1).all()


def test_one_label_alone_leaves_nothing_to_estimate():
    for prior in (None, 2.0):
        result = proved(gopfast.CategoricalMixture(["a", "a"], 2, categories=[["a"]], prior=prior))
        assert result.objective == pytest.approx(0.0, abs=1e-12)
        assert result.solution.probabilities[0].tolist() == [[1.0], [1.0]]


def test_an_unused_component_of_a_flat_rate_prior_has_rate_0():
    result = proved(gopfast.ExponentialMixture([1.0, 2.0, 3.0, 4.0], 2, prior=(1.0, 1.0)))
    assert result.solution.rates.tolist() == [[0.0], [pytest.approx(4 / 11)]]
    assert "a component has no weight: its rates are the prior's alone" in result.notes[0]


def test_exact_zeros_with_a_prior():
    result = proved(gopfast.ExponentialMixture([0.0, 0.0, 5.0, 9.0], 2, prior=(2.0, 0.1)))
    assert result.solution.rates.max() > 5.0


# Notes


def test_columns_too_few_to_identify_are_proved_by_the_shares_of_the_rows():
    X = [[0, 1], [1, 1], [0, 0], [1, 0], [1, 1], [0, 0]]
    result = proved(gopfast.BernoulliMixture(X, 2))
    shares = np.array([1, 2, 2, 1]) / 6.0
    assert result.objective == pytest.approx(-(6 * shares * np.log(shares)).sum(), abs=0.01)
    assert any("fewer than 3 columns that vary: the probabilities need not be unique" in note for note in result.notes)
    identified = proved(gopfast.BernoulliMixture(np.random.default_rng(1).random((8, 3)) < 0.5, 2), 0.1)
    assert not any("columns" in note for note in identified.notes)


def test_equal_components_are_noted():
    result = proved(gopfast.PoissonMixture([1, 2, 3, 2, 1, 2, 3], 2))
    assert any(note.startswith("components are equal") for note in result.notes)
    apart = proved(gopfast.PoissonMixture([0, 1, 0, 20, 22], 2))
    assert apart.notes == ()
