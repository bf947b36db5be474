"""Mixtures of regressions that share two coefficients: bounds against definitions, other means and brute force."""

import dataclasses
import math

import numpy as np
import pytest
from support import regressions, shared_coefficients as drawing
from support.settings import EVERY

import gopfast
from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.problems import shared_coefficients as sharing
from gopfast.mixtures.shared.coefficients import Loss, rounding_loss
from gopfast.mixtures.shared.far_coefficients import FarBound
from gopfast.mixtures.shared_coefficients import SharedCoefficientSearch
from gopfast.options import Options
from gopfast.search.session import UNLIMITED

OPTIONS = dict(log=False, n_threads=1, random_state=0)
SECONDS = 3.0 if EVERY == 1 else 1.0  # of searches that mostly end by a limit
families = pytest.mark.parametrize("family", drawing.FAMILIES)


def drawn(family, seed, **options):
    return drawing.drawn(family, seed, p=2 + (family == "poisson"), n_shared=2, **options)


def bound_of_fixed(case, value):
    """Lower bound of the mixture in which the first coefficient has a value."""
    try:
        search = SharedCoefficientSearch(sharing.fixed(case, value), Options.from_arguments(1e-2, **OPTIONS))
        return search.run(1.0, 2_000).lower_bound
    except gopfast.InputError:  # no digits left so far away
        return -math.inf


@pytest.mark.parametrize("family", ["normal", "known", "shared", "poisson", "binomial"])
def test_the_joint_step_is_the_best_for_its_responsibilities(family):
    """No other values of both shared coefficients cost less at the same responsibilities."""
    case, rng = drawn(family, 5, n=16, K=2)
    tau = drawing.shares(case, rng)
    state = case.maximize(tau)
    for _ in range(40):
        state = case.maximize(tau, **state)
    assert (np.ptp(case._rows_of_design(state)[:, case._all_shared], axis=0) == 0.0).all()
    best = case.objective(responsibilities=tau, **state)
    at = case._rows_of_design(state)[0, case._all_shared]
    for change in rng.normal(size=(6, 2)) * np.array([[0.01], [0.3]] * 3):
        first = sharing.fixed(case, float(at[0] + change[0]))
        both = sharing.fixed(first, float(at[1] + change[1]))
        other = both.maximize(tau)
        for _ in range(10):
            other = both.maximize(tau, **other)
        assert both.objective(responsibilities=tau, **other) >= best - 1e-6 * (1 + abs(best))


@families
@pytest.mark.parametrize("seed", range(2))
def test_what_is_attained_between_two_values_is_no_less_than_their_optima_say(family, seed):
    """The bounds of searches at two values, against what is attained between."""
    case, rng = drawn(family, seed, n=9, K=2, kind=regressions.DATA[2 * seed])
    loss, unit = Loss.of(case), FarBound(case, 0.0).unit
    one = case._with(n_components=1).maximize(np.ones((case.n_samples, 1)))
    a = float(case._rows_of_design(one)[0, case._shared_at]) + unit * rng.normal()
    b = a + unit * 10.0 ** rng.uniform(-1.5, 0.0)
    lower = [bound_of_fixed(case, value) for value in (a, b)]
    for s in (0.2, 0.5, 0.8):
        upper = drawing.best_of_em(sharing.fixed(case, (1.0 - s) * a + s * b), np.random.default_rng(0), 4)
        assert loss.between(a, b, *lower).bound <= upper + 1e-6 * (1.0 + abs(upper))


@families
@pytest.mark.parametrize("seed", range(3))
def test_far_values_are_ruled_out_rightly(family, seed):
    case, rng = drawn(family, seed + 20, n=16, K=2, kind=regressions.DATA[seed])
    far = FarBound(case, ceiling.least_objective(case))
    for _ in range(6):
        value = far.unit * rng.normal() * 10.0 ** rng.uniform(0, 3)
        fixed = sharing.fixed(case, float(value))
        best = drawing.best_of_em(fixed, rng, 3)
        slack = rounding_loss(case, value, best) + 1e-9 * (1.0 + abs(best))
        for low, high in ((value, value), (value - far.unit, value + far.unit), (-math.inf, value)):
            assert far.least(low, high) <= best + slack or math.isinf(slack)


@families
def test_solves_agree_with_em(family):
    case, rng = drawn(family, 41, n=20, K=2)
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
    case, rng = drawn(family, seed + 60, n=20, K=2, kind=regressions.DATA[seed])
    # or else the tolerance would be 0, the larger one of both
    options = dataclasses.replace(Options.from_arguments(0.01, **OPTIONS), epsilon=-1.0, rel_tol=-math.inf)
    search = SharedCoefficientSearch(case, options)
    result = search.run(SECONDS, UNLIMITED)
    best = min(drawing.best_of_em(case, rng, 3), search.upper)
    assert result.status not in ("OPTIMAL", "CUTOFF")
    assert search.lower <= best + 1e-7 * (1.0 + abs(best))


def test_hard_partitions_of_tiny_data_are_no_better_than_what_is_proved():
    """Enumerates all partitions, with the best shared slopes of each by EM from it."""
    rng = np.random.default_rng(8)
    X = np.column_stack([np.arange(9.0), rng.permutation(9) % 4])
    y = X @ [1.0, -0.7] + np.where(np.arange(9) < 5, 0.0, 5.0) + 0.1 * rng.normal(size=9)
    case = gopfast.RegressionMixture(X, y, 2, noise_variance=0.3, shared_coefficients=[0, 1])
    result = gopfast.solve(case, 0.001, **OPTIONS)
    assert result.status == "OPTIMAL"
    best = math.inf
    for bits in range(1, 256):
        labels = (bits >> np.arange(9)) & 1
        state = case.maximize(0.98 * np.eye(2)[labels] + 0.01)
        for _ in range(30):
            state = case.maximize(case.responsibilities(**state), **state)
        best = min(best, case.objective(**state))
    assert result.lower_bound <= best <= result.objective + 1e-6 <= best + 0.0011
