"""A resample of the likelihood-ratio test is proved as far as its comparison needs, and no further."""

import numpy as np
import pytest
from support.datasets import galaxies

import gopfast
from gopfast.inference.likelihood_ratio import _Resample, _Side, _Statistic
from gopfast.inference.resampling import simulated

GALAXIES = galaxies() / 1000


def problem(K):
    return gopfast.GaussianMixture(GALAXIES, K, covariance="diag", variance_floor=0.09)


def exact(solution, seed):
    """The statistic of the resample of a seed within 1e-3, by solving both sides to their ends."""
    drawn = simulated(solution, np.random.default_rng(seed))
    sizes = drawn.n_components, drawn.n_components + 1
    one, two = (gopfast.solve(drawn._with(n_components=K), 1e-4, log=False) for K in sizes)
    assert one.success and two.success
    return 2.0 * (one.objective - two.objective)


@pytest.mark.parametrize("K", [1, 2])
def test_the_bounds_of_a_resample_hold_its_statistic_wherever_the_observed_one_lies(K):
    solution = gopfast.solve(problem(K), log=False).solution
    for seed in range(3):
        truth = exact(solution, seed)
        # no statistic is below 0, and none nearer than the tolerance can be told from another
        levels = (0.0, 0.5 * truth, truth - 0.3, truth + 0.3, 2.0 * truth + 5.0, 60.0)
        for observed in (level for level in levels if level >= 0.0 and abs(level - truth) > 0.1):
            asked = _Statistic(observed, observed, observed)
            found = _Resample(solution, 0.01, 60.0, asked)(seed)
            assert found.low - 1e-3 <= truth <= found.high + 1e-3
            assert found.low <= found.value <= found.high
            assert found.is_settled(asked)
            assert (found.high < observed) == (truth < observed)


def test_what_lies_within_the_bounds_of_the_observed_one_is_solved_to_its_end():
    solution = gopfast.solve(problem(2), log=False).solution
    truth = exact(solution, 0)
    found = _Resample(solution, 0.01, 60.0, _Statistic(truth, truth - 0.5, truth + 0.5))(0)
    assert not found.is_settled(_Statistic(truth, truth - 0.5, truth + 0.5))
    assert found.high - found.low <= 4.0 * 0.01 + 1e-9


def test_less_is_proved_where_less_is_needed():
    solution = gopfast.solve(problem(2), log=False).solution
    drawn = simulated(solution, np.random.default_rng(0))
    side = _Side(drawn._with(n_components=3), 0.01, None, np.random.default_rng(0))
    objective = side.result.objective
    assert side.result.n_nodes == 0
    assert side.bound(objective - 20.0)
    assert side.result.status == "CUTOFF" and side.result.lower_bound >= objective - 20.0
    few, whole = side.result.n_nodes, gopfast.solve(drawn._with(n_components=3), log=False).n_nodes
    assert few < 0.5 * whole


def test_without_time_nothing_is_claimed():
    test = gopfast.lrt(problem(2), 3, time_limit=0.0)
    assert not test.proved.any() and (test.resampled_bounds[:, 0] == 0.0).all()
    low, high = test.p_value_bounds
    assert (low, high) == (0.25, 1.0) and "comparison proved of   0 resamples" in str(test)
