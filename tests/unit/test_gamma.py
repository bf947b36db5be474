"""Gamma mixtures: log Gamma and its derivatives, densities, steps of EM, bounds of boxes, edges."""

import itertools

import mpmath
import numpy as np
import pytest
from gopfast.mixtures.families.shape import shape_values
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import box_bound
from scipy import stats

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form.ceiling import least_objective
from gopfast.mixtures.problems.gamma import shape_cost, shape_of

pytestmark = pytest.mark.filterwarnings("error")


def data(seed, n, d=1, K=2):
    rng = np.random.default_rng(seed)
    group = rng.integers(K, size=n)
    return rng.gamma(np.array([2.0, 9.0, 30.0])[group][:, None], np.array([1.0, 1.5, 0.3])[group][:, None], (n, d))


def after_em(problem, tau, n_steps):
    state = problem.maximize(tau)
    for _ in range(n_steps):
        state = problem.maximize(problem.responsibilities(**state), **state)
    return state


@pytest.mark.parametrize("most", [0.01, 400.0, 1e8])
def test_shapes_and_their_costs_are_those_of_mpmath(most):
    """Errors are bounded, the cost of a spread is below its true one, and by little; NumPy's own agree."""
    spreads = np.concatenate([10.0 ** np.random.default_rng(0).uniform(-10, 2.5, 40), [0.0, -1e-9]])
    with mpmath.workdps(40):
        last = mpmath.log(most) - mpmath.digamma(most)
        for v, (a, found, cost, cost_error, spread, error) in zip(spreads, shape_values(spreads, most), strict=True):
            x = mpmath.mpf(a)
            assert abs(mpmath.loggamma(x) - x * mpmath.log(x) + x - cost) <= cost_error
            assert abs(mpmath.log(x) - mpmath.digamma(x) - spread) <= error
            best = mpmath.mpf(most)
            if v > last:
                best = mpmath.exp(mpmath.findroot(lambda t, v=v: t - mpmath.digamma(mpmath.exp(t)) - v, mpmath.log(x)))
            true = mpmath.loggamma(best) - best * mpmath.log(best) + best + best * mpmath.mpf(v)
            assert 0 <= true - found <= 1e-11 * (1 + abs(true))
            assert abs(best - a) <= 1e-9 * best
    np.testing.assert_allclose(shape_of(spreads, most), [row[0] for row in shape_values(spreads, most)], rtol=1e-6)
    np.testing.assert_allclose(
        shape_cost([row[0] for row in shape_values(spreads, most)]),
        [row[2] for row in shape_values(spreads, most)], rtol=1e-9, atol=1e-9,
    )  # fmt: skip


def test_densities_are_scipys():
    X, rng = data(0, 30, d=2), np.random.default_rng(0)
    problem = gopfast.GammaMixture(X, 2)
    rates, shapes = rng.uniform(0.1, 9.0, (2, 2)), rng.uniform(0.1, 390.0, (2, 2))
    expected = [stats.gamma(a, scale=1.0 / r).logpdf(X).sum(axis=1) for a, r in zip(shapes, rates, strict=True)]
    np.testing.assert_allclose(problem.log_densities(rates, shapes), np.transpose(expected), rtol=1e-11, atol=1e-11)


def test_no_other_parameters_are_better_than_those_of_the_m_step():
    rng, X = np.random.default_rng(1), data(1, 25, d=2)
    problem = gopfast.GammaMixture(X, 2, sample_weight=rng.integers(0, 4, 25))
    tau = rng.dirichlet(np.ones(2), 25)
    best = problem.maximize(tau)
    value = problem.objective(**best, responsibilities=tau)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            moved = {name: best[name] * np.exp(size * rng.normal(size=(2, 2))) for name in ("rates", "shapes")}
            moved["shapes"] = np.minimum(moved["shapes"], problem.largest_shape)
            assert problem.objective(best["weights"], **moved, responsibilities=tau) >= value


def test_the_core_evaluates_the_problems_objective_and_returns_its_parameters():
    problem = gopfast.GammaMixture(data(2, 20, d=3), 3)
    state = problem.maximize(np.random.default_rng(2).dirichlet(np.ones(3), 20))
    family, weights = engine.family(problem), state.pop("weights")
    back = family.parameters(np.concatenate([weights, family.pack(**state), [1.0]]))
    for name, value in state.items():
        np.testing.assert_allclose(back[name], value, rtol=1e-8)


@pytest.mark.parametrize("floor", [0.05, 0.7])
def test_boxes_around_fits_are_bounded_below_their_objective(floor):
    """Boxes of any width around the best parameters of random responsibilities, from below and within."""
    rng = np.random.default_rng(3)
    X = data(3, 12, d=2)
    X[:4] = X[0]
    problem = gopfast.GammaMixture(X, 2, cv_floor=floor)
    family = engine.family(problem)
    order, scale = np.asarray(family.data.order)[:2], np.asarray(family.data.scale)[:2]
    gaps = []
    for _ in range(150):
        tau = rng.dirichlet(np.full(2, 10.0 ** rng.uniform(-2, 0.5)), 12)
        mass = tau.sum(axis=0)
        means = tau.T @ X / mass[:, None]
        spreads = np.log(means) - tau.T @ np.log(X) / mass[:, None]
        cells = np.hstack([np.log(means / scale)[:, order], np.maximum(spreads, 0.0)[:, order]])
        cells = cells[np.argsort(cells[:, 0])].ravel()
        width = 10.0 ** rng.uniform(-11, 0.5)
        low, high = (cells + side * width * rng.random(8) - side * -1e-12 for side in (-1.0, 1.0))
        value = problem.objective(**problem.maximize(tau), responsibilities=tau)
        bound = box_bound(EntropicRelaxation(family), low, high)
        assert bound <= value + 1e-9 * (1 + abs(value))
        if width < 1e-4:
            gaps.append(problem.objective(**problem.maximize(tau)) - bound)
    assert min(gaps) < 0.5  # otherwise nothing is attacked: small boxes hold little more than the parameters


@pytest.mark.parametrize(("K", "n"), [(2, 7), (3, 5)])
def test_the_optimum_is_that_of_all_groupings(K, n):
    """EM from every grouping of a few samples, and at most the tolerance below it."""
    problem = gopfast.GammaMixture(data(4, n), K, cv_floor=0.3)
    best = np.inf
    for labels in itertools.product(range(K), repeat=n - 1):
        tau = 0.97 * np.eye(K)[[0, *labels]] + 0.03 / K
        best = min(best, problem.objective(**after_em(problem, tau, 12)))
    result = gopfast.solve(problem, 1e-3, max_nodes=20_000, n_threads=1)
    assert result.success
    assert result.lower_bound <= best and result.objective <= best + 1e-3
    density = stats.gamma(result.solution.shapes[:, 0], scale=1.0 / result.solution.rates[:, 0]).pdf(problem.X)
    assert result.objective == pytest.approx(-np.log(density @ result.solution.weights).sum(), abs=1e-8)


def test_a_search_told_to_prove_too_much_proves_nothing():
    from gopfast.mixtures.primal.em import MixturePrimal
    from gopfast.search.search import Search

    problem = gopfast.GammaMixture(data(5, 15), 2, cv_floor=0.2)
    best = gopfast.solve(problem, 1e-4, n_threads=1).objective
    family = engine.family(problem)
    search = Search(EntropicRelaxation(family), MixturePrimal(family, seed=1), -0.5, max_nodes=600)
    search.run()
    assert search.summary()[0]["lower_bound"] <= best


def test_one_component_is_the_maximum_of_the_likelihood():
    X = data(6, 40)[:, 0]
    result = gopfast.solve(gopfast.GammaMixture(X, 1), 1e-6)
    a, _, scale = stats.gamma.fit(X, floc=0.0)
    assert result.success
    np.testing.assert_allclose(result.solution.shapes, [[a]], rtol=1e-3)
    assert result.objective == pytest.approx(-stats.gamma(a, scale=scale).logpdf(X).sum(), abs=1e-5)


def test_components_on_equal_samples_have_the_largest_shape_and_say_so():
    X = np.concatenate([np.full(6, 2.0), [11.0, 17.0, 29.0, 40.0]])
    result = gopfast.solve(gopfast.GammaMixture(X, 2, cv_floor=0.1))
    assert result.success and result.solution.shapes.max() == pytest.approx(100.0)
    assert "on cv_floor: a shape of component" in result.notes[0]
    assert least_objective(result.solution.problem) <= result.lower_bound


def test_other_units_move_the_objective_by_the_jacobian():
    X = data(7, 25)
    one, other = (gopfast.solve(gopfast.GammaMixture(unit * X, 2), 1e-4) for unit in (1.0, 1e6))
    assert one.success and other.success
    assert other.objective - one.objective == pytest.approx(25 * np.log(1e6), abs=2e-4)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        ([0.0, 1.0], {}, "X must be at least 1e-300"),
        ([1.0, 2.0], {"cv_floor": 0.0}, "cv_floor must be"),
        ([1.0, 2.0], {"cv_floor": 1e-6}, "cv_floor must lie within"),
        ([1e-200, 1.0], {}, "X spans more than 140 decades in column 0"),
    ],
)
def test_bad_input_is_named(X, options, words):
    with pytest.raises(InputError, match=f"^{words}"):
        gopfast.GammaMixture(X, 1, **options)
