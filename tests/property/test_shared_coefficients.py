"""Mixtures of regressions that share a coefficient: bounds against definitions, other means and brute force."""

import dataclasses
import math

import numpy as np
import pytest
from support import regressions, shared_coefficients as drawing
from support.settings import EVERY

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.problems import shared_coefficients as sharing
from gopfast.mixtures.shared.coefficients import Loss, least_and_most, rounding_loss
from gopfast.mixtures.shared.far_coefficients import FarBound
from gopfast.mixtures.shared_coefficients import SharedCoefficientSearch
from gopfast.mixtures.solve import MixtureSearch
from gopfast.options import Options
from gopfast.search.session import UNLIMITED

OPTIONS = dict(log=False, n_threads=1, random_state=0)
SECONDS = 3.0 if EVERY == 1 else 1.0  # of searches that mostly end by a limit
families = pytest.mark.parametrize("family", drawing.FAMILIES)


def of_fixed(case, value, epsilon=1e-4):
    """Lower bound and objective of the mixture of a fixed coefficient."""
    fixed = sharing.fixed(case, value)
    try:
        result = MixtureSearch(fixed, Options.from_arguments(epsilon, **OPTIONS)).run(2.0, 2_000)
    except gopfast.InputError:  # no digits left so far away
        return -math.inf, math.inf
    return result.lower_bound, result.objective


def spread(case, rng):
    """Two values of the coefficient, near or far, about that of one regression."""
    one = case._with(n_components=1).maximize(np.ones((case.n_samples, 1)))
    at = one["intercepts"][0] if case._shared_at == case._n_regressors else one["coefficients"][0, case._shared_at]
    unit = FarBound(case, 0.0).unit
    a = float(at) + unit * rng.normal()
    return a, a + unit * 10.0 ** rng.uniform(-1.5, 0.5)


@families
@pytest.mark.parametrize("seed", range(3))
def test_fits_of_random_weights_lie_in_the_range(family, seed):
    """Of responsibilities the best shared coefficient lies in the range of fits through q + 1 rows."""
    case, rng = drawing.drawn(family, seed, K=int(2 + seed % 2), p=1 + seed % 2, kind=regressions.DATA[seed])
    low, high = least_and_most(case)
    for _ in range(4):
        state = case.maximize(drawing.shares(case, rng))
        for _ in range(3):
            state = case.maximize(drawing.shares(case, rng), **state)
        value = sharing.narrowed(case, {k: v for k, v in state.items() if k != "weights"})[0]
        room = 1e-6 * (high - low)
        assert low - room <= value <= high + room


@pytest.mark.parametrize("family", ["normal", "poisson", "binomial"])
def test_the_joint_step_is_the_best_for_its_responsibilities(family):
    """No other shared coefficient, with the best of all else, costs less at the same responsibilities."""
    case, rng = drawing.drawn(family, 5, n=14, K=2, p=2)
    tau = drawing.shares(case, rng)
    state = case.maximize(tau)
    for _ in range(40):
        state = case.maximize(tau, **state)
    best = case.objective(responsibilities=tau, **state)
    value, _ = sharing.narrowed(case, {k: v for k, v in state.items() if k != "weights"})
    for other in value + np.array([-0.3, -0.01, 0.01, 0.3]):
        fixed = sharing.fixed(case, float(other))
        assert fixed.objective(responsibilities=tau, **fixed.maximize(tau)) >= best - 1e-6 * (1 + abs(best))


@families
@pytest.mark.parametrize("seed", range(2))
def test_what_is_attained_between_two_values_is_no_less_than_their_optima_say(family, seed):
    """Mixtures that EM finds between two values, and their own optima, against (JS2)."""
    case, rng = drawing.drawn(family, seed, n=8, K=2, p=1 + seed % 2, kind=regressions.DATA[2 * seed])
    loss = Loss.of(case)
    a, b = spread(case, rng)
    lower = [of_fixed(case, value)[0] for value in (a, b)]
    for s in (0.1, 0.5, 0.8):
        upper = of_fixed(case, (1.0 - s) * a + s * b)[1]
        bound = loss.between(a, b, *lower)
        assert bound.bound <= upper + 1e-3
        # of the sharpest: the average, less the loss there
        loss_there = _loss(loss, s * (1.0 - s) * (b - a) ** 2, b - a)
        assert (1.0 - s) * lower[0] + s * lower[1] - loss_there <= upper + 1e-3



def tight(family):
    """A mixture where what F lacks between two values is all that the statement allows, and the value in the middle."""
    x = np.tile([-1.0, 1.0], 8)
    y = np.repeat([0.0, 50.0], 8) + 0.5 * x
    if family == "known":
        return gopfast.RegressionMixture(x, y, 2, noise_variance=1.0, shared_coefficients=0), 0.5
    if family in ("normal", "shared"):
        kind = {"variance": "shared"} if family == "shared" else {}
        return gopfast.RegressionMixture(x, y, 2, variance_floor=1.0, shared_coefficients=0, **kind), 0.5
    more = {"n_trials": 20} if family == "binomial" else {}
    return gopfast.RegressionMixture(x, np.full(16, 10), 2, family=family, shared_coefficients=0, **more), 0.0


@families
def test_the_loss_between_two_values_is_attained_where_it_can_be(family):
    case, middle = tight(family)
    loss = Loss.of(case)
    width = math.sqrt(1.0 / loss.quadratic)  # at which it is a quarter of a nat, far below the saturation
    lower = [of_fixed(case, middle + side * 0.5 * width)[0] for side in (-1.0, 1.0)]
    bound = loss.between(middle - 0.5 * width, middle + 0.5 * width, *lower).bound
    attained = of_fixed(case, middle)[1]
    assert attained - 0.02 <= bound <= attained + 1e-9 * abs(attained)
    assert min(lower) > attained + 0.2


def _loss(loss, squared, width):
    """The loss by its definition (JS2)."""
    steepest = min(loss.quadratic, loss.linear / width)
    if loss.saturation == math.inf or steepest * squared <= loss.saturation:
        return steepest * squared
    return loss.saturation * (1.0 + math.log(steepest * squared / loss.saturation))


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_between_two_values_is_that_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    quadratic, linear, saturation = 10.0 ** rng.uniform(-3, 5, 3)
    loss = [Loss(quadratic), Loss(quadratic, linear), Loss(quadratic, saturation=saturation)][seed % 3]
    a = rng.normal()
    b, lower = a + 10.0 ** rng.uniform(-3, 2), rng.normal(size=2) * 10.0 ** rng.uniform(-1, 3)
    found = loss.between(a, b, *lower)
    s = np.linspace(0.0, 1.0, 4001)
    values = (1 - s) * lower[0] + s * lower[1] - np.array([_loss(loss, t * (1 - t) * (b - a) ** 2, b - a) for t in s])
    size = np.abs(lower).max() + values.max() - values.min()
    assert found.bound <= values.min() + 1e-9 * size
    assert found.bound >= values.min() - 1e-3 * size
    assert loss.between(a, b, -math.inf, 1.0).bound == -math.inf


@families
@pytest.mark.parametrize("seed", range(3))
def test_far_values_are_ruled_out_rightly(family, seed):
    """No mixture of a known coefficient costs less than what is said of all values around."""
    case, rng = drawing.drawn(family, seed + 20, n=12, K=2, p=1 + seed % 2, kind=regressions.DATA[seed % 5],
                              grouped=seed == 2)  # fmt: skip
    far = FarBound(case, ceiling.least_objective(case))
    said = []
    for _ in range(4):
        value = far.unit * rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-1.0, 2.0)
        upper = min(of_fixed(case, value)[1], sharing.fixed(case, value).objective(
            **sharing.fixed(case, value).maximize(drawing.shares(case, rng))))  # fmt: skip
        for ends in ((value, value), (-math.inf, value), (value, math.inf), (value - 1.0, value + far.unit)):
            said.append(far.least(*ends))
            assert said[-1] <= upper + 1e-7 * (1.0 + abs(upper))
    assert min(said) >= far.floor - 1e-6 * abs(far.floor)


def test_far_values_are_ruled_out_at_all():
    rng = np.random.default_rng(3)
    x = rng.uniform(0.0, 10.0, 60)
    y = x + rng.choice([0.0, 5.0], 60) + 0.5 * rng.normal(size=60)
    case = gopfast.RegressionMixture(x, y, 2, variance_floor=0.01, shared_coefficients="x")
    far = FarBound(case, ceiling.least_objective(case))
    upper = drawing.best_of_em(case, rng)
    assert far.least(20.0 * far.unit, math.inf) > upper < far.least(-math.inf, -20.0 * far.unit)
    assert far.least(0.9, 1.1) < upper


@families
def test_mixtures_of_a_fixed_coefficient_cost_no_less_by_rounding(family):
    """The objective of the same mixture, fixed by rounded data and as it is, in extended precision."""
    case, rng = drawing.drawn(family, 2, n=12, K=2, p=2)
    for value in (1e-3, 1.0, 1e3) if family != "poisson" else (1e-3, 0.1, 1.0):
        fixed = sharing.fixed(case, value)
        state = fixed.maximize(drawing.shares(case, rng))
        given = {name: one for name, one in state.items() if name != "weights"}
        mine = case.objective(state["weights"], **sharing.widened(case, value, given))
        other = fixed.objective(**state)
        loss = rounding_loss(case, value, other)
        assert 0.0 <= loss <= 1e-6 * (1.0 + abs(other))
        assert abs(other - mine) <= loss + 1e-9 * (1.0 + abs(other))


@families
@pytest.mark.parametrize("seed", range(3))
def test_solves_agree_with_em(family, seed):
    case, rng = drawing.drawn(family, seed + 40, n=9, K=2, kind=regressions.DATA[seed], grouped=seed == 2)
    result = gopfast.solve(case, 0.05, time_limit=SECONDS, **OPTIONS)
    best = drawing.best_of_em(case, rng)
    assert result.lower_bound <= best + 1e-7 * (1.0 + abs(best))
    attained = case.objective(result.solution.weights, **result.solution.parameters)
    assert 0.0 <= result.objective - attained <= 1e-6 * (1.0 + abs(attained))
    if result.status == "OPTIMAL":
        assert result.objective <= best + 0.05 + 1e-7 * (1.0 + abs(best))


@families
@pytest.mark.parametrize("seed", range(2))
def test_nothing_better_than_the_optimum_is_proved(family, seed):
    """A search that is to prove a nat more than is true ends by a limit, with a bound below what EM attains."""
    case, rng = drawing.drawn(family, seed + 60, n=8, K=2, kind=regressions.DATA[seed])
    # or else the tolerance would be 0, the larger one of both
    options = dataclasses.replace(Options.from_arguments(0.01, **OPTIONS), epsilon=-1.0, rel_tol=-math.inf)
    search = SharedCoefficientSearch(case, options)
    result = search.run(SECONDS, UNLIMITED)
    best = min(drawing.best_of_em(case, rng, 3), search.upper)
    assert result.status not in ("OPTIMAL", "CUTOFF")
    assert search.lower <= best + 1e-7 * (1.0 + abs(best))


def test_hard_partitions_of_tiny_data_are_no_better_than_what_is_proved():
    """Enumerates all partitions, with the best shared slope of each by EM from it."""
    rng = np.random.default_rng(8)
    x, y = np.arange(6.0), np.array([0.1, 1.0, 2.2, 8.0, 9.1, 9.9]) + 0.1 * rng.normal(size=6)
    case = gopfast.RegressionMixture(x, y, 2, noise_variance=0.3, shared_coefficients=0)
    result = gopfast.solve(case, 0.001, **OPTIONS)
    assert result.status == "OPTIMAL"
    best = math.inf
    for bits in range(1, 32):
        labels = (bits >> np.arange(6)) & 1
        state = case.maximize(0.98 * np.eye(2)[labels] + 0.01)
        for _ in range(60):
            state = case.maximize(case.responsibilities(**state), **state)
        best = min(best, case.objective(**state))
    assert result.lower_bound <= best <= result.objective + 1e-6 <= best + 0.0011


def test_the_engine_has_no_family_of_such_components():
    case, _ = drawing.drawn("normal", 0)
    with pytest.raises(gopfast.InputError, match="no shared_coefficients"):
        engine.family(case)
