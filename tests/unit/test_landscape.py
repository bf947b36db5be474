"""All local optima: those that searches from everywhere find lie in the boxes, and are among those returned."""

import numpy as np
import pytest
from support.datasets import galaxies

import gopfast
from gopfast.inference.landscape import profile

RNG = np.random.default_rng(0)
PROBLEMS = {
    "known": (lambda: gopfast.GaussianMixture(galaxies(), 3, covariance="known", noise_variance=9.0), 12.0),
    "prior": (lambda: gopfast.GaussianMixture(galaxies() - 20.0, 2, prior="empirical", noise_variance=4.0), 60.0),
    "diag": (lambda: gopfast.GaussianMixture(galaxies()[::2], 2, covariance="diag", variance_floor=0.09), 3.0),
    "two columns": (lambda: gopfast.GaussianMixture(pairs(), 2, covariance="known"), 40.0),
    "poisson": (lambda: gopfast.PoissonMixture([0, 1, 2, 1, 8, 9, 7, 20, 3, 25], 3), 3.0),
    "exponential": (lambda: gopfast.ExponentialMixture([0.1, 0.2, 0.3, 5.0, 7.0, 40.0], 2), 1.0),
    "bernoulli": (lambda: gopfast.BernoulliMixture([[0, 1], [1, 1], [0, 0], [1, 0], [1, 1]], 2, prior=(2, 2)), 1.0),
}


def pairs():
    corners = np.array([[0.0, 0.0], [0.0, 5.0], [6.0, 0.0], [6.0, 5.0]])
    return np.repeat(corners, 6, axis=0) + 0.3 * np.random.default_rng(1).normal(size=(24, 2))


@pytest.fixture(scope="module", params=PROBLEMS)
def case(request):
    make, within = PROBLEMS[request.param]
    problem = make()
    return problem, gopfast.optima(problem, within, max_nodes=3000)


def test_where_em_ends_below_the_limit_there_is_a_box_and_an_optimum(case):
    """From forty random starts each of the package's EM, which knows nothing of boxes."""
    problem, found = case
    n_below = 0
    for seed in range(40):
        start = gopfast.local.starts.samples(problem, np.random.default_rng(seed))
        fit = gopfast.local.em(problem, start, tol=1e-12, max_iter=20_000)
        if not fit.objective < found.limit - 1e-6:
            continue
        n_below += 1
        assert found.holds(fit)
        nearest = min(abs(fit.objective - one.objective) for one in found.optima)
        assert nearest <= 1e-4
    assert n_below > 0


def test_the_optima_are_stationary_and_lie_in_their_regions(case):
    problem, found = case
    assert found.optima[0].excess <= 0.01 and found.problem is problem
    for one in found.optima:
        assert one.region >= 0 and found.holds(one.solution) and one.objective < found.limit
        state = {"weights": one.solution.weights, **one.solution.parameters}
        again = problem.objective(**problem.maximize(problem.responsibilities(**state), **state))
        assert again == pytest.approx(one.objective, abs=1e-6)
        for name, (low, high) in found.extent(one.region).items():
            values = np.sort(one.solution.parameters[name], axis=0)
            slack = 1e-6 * (1.0 + np.abs(values))
            assert (np.sort(low, axis=0) - slack <= values).all() and (values <= np.sort(high, axis=0) + slack).all()


def test_boxes_of_different_regions_do_not_touch(case):
    _, found = case
    assert (found.low <= found.high).all() and found.regions.min() == 0
    assert len(found.low) == len(found.high) == len(found.regions)
    rows = np.random.default_rng(0).permutation(len(found.low))[:200]
    for i in rows:
        touching = ((found.low <= found.high[i]) & (found.low[i] <= found.high)).all(axis=1)
        assert (found.regions[touching] == found.regions[i]).all()


def test_two_optima_of_the_galaxies_are_told_apart():
    problem = gopfast.GaussianMixture(galaxies(), 2, covariance="diag", variance_floor=0.09)
    found = gopfast.optima(problem, 0.5, max_nodes=2000)
    assert [round(one.excess, 4) for one in found.optima] == [0.0, 0.1853]
    assert "2 local optima" in str(found) and not found.complete
    worse = gopfast.MixtureSolution.canonical(problem, [0.5, 0.5], means=[[12.0], [30.0]], covariances=[[1.0], [1.0]])
    assert not found.holds(worse)


def test_a_finer_search_keeps_what_a_coarse_one_proved():
    problem = gopfast.GaussianMixture(galaxies(), 2, covariance="known", noise_variance=4.0)
    coarse, fine = (gopfast.optima(problem, 5.0, max_nodes=n) for n in (20, 2000))
    assert fine.complete and not coarse.complete
    volume = [np.prod(one.high - one.low, axis=1).sum() for one in (coarse, fine)]
    assert volume[1] < volume[0]
    assert coarse.holds(fine.best) and fine.holds(coarse.best)


def test_the_profile_is_the_objective_at_the_best_weights(case):
    problem, found = case
    one = found.optima[0]
    assert profile(found, found.point(one)[np.newaxis])[0] == pytest.approx(one.objective, abs=1e-3)


def test_the_landscape_is_drawn(case):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, found = case
    ax = found.plot()
    ax.figure.canvas.draw()
    assert ax.get_legend() is not None
    pyplot.close("all")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"problem": gopfast.KMeans([[0.0], [1.0]], 1)}, "problem"),
        ({"problem": gopfast.GaussianMixture(np.eye(4)[:, :2], 2, covariance="full", variance_floor=0.1)}, "problem"),
        ({"within": 0.0}, "within"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"time_limit": -1.0}, "time_limit"),
    ],
)
def test_a_bad_argument_is_named(changed, named):
    arguments = {"problem": gopfast.GaussianMixture([0.0, 1.0, 9.0], 2, covariance="known"), **changed}
    with pytest.raises(gopfast.InputError, match=named):
        gopfast.optima(**arguments)
