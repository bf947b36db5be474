"""A start is read alike by the solver and by local methods, whatever form it has."""

import numpy as np
import pytest

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.fits import start_values
from gopfast.mixtures.local._state import given_state

X = np.array([[-3.0, 1.0], [-2.0, 0.0], [2.0, 1.0], [3.0, -1.0], [2.5, 0.5]])


def forms(problem):
    """One fit in every form that a start can have."""
    fit = gopfast.local.em(problem)
    values = {"weights": fit.solution.weights, **fit.solution.parameters}
    found = {"local result": fit, "solution": fit.solution, "values": values}
    record = {"solution": fit.solution.to_dict()}
    return {**found, "dict": fit.solution.to_dict(responsibilities=True), "record": record}


@pytest.mark.parametrize("covariance", ["known", "spherical", "tied", "full"])
def test_every_form_of_a_start_is_read_alike(covariance):
    problem = gopfast.GaussianMixture(X, 2, covariance=covariance)
    found = forms(problem)
    state, point = given_state(problem, found["solution"]), engine.start_solution(problem, found["solution"])[0]
    for start in found.values():
        other = given_state(problem, start)
        assert state.keys() == other.keys()
        assert all(np.array_equal(state[name], other[name]) for name in state if state[name] is not None)
        assert np.array_equal(engine.start_solution(problem, start)[0], point)
        assert gopfast.solve(problem, start=start, max_nodes=1, n_threads=1, log=False).objective < np.inf


def test_a_fit_of_another_model_gives_what_the_problem_has():
    problem = gopfast.GaussianMixture(X, 2, covariance="diag")
    other = gopfast.local.em(gopfast.GaussianMixture(X, 2, prior=2.0))
    assert start_values(problem, other).keys() == {"weights", "means"}
    assert start_values(other.solution.problem, gopfast.local.em(problem)).keys() == {"weights", "means"}


def test_a_start_of_a_search_may_lie_below_the_floor():
    low, high = (gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=floor) for floor in (0.01, 0.5))
    assert np.isfinite(gopfast.solve(high, start=gopfast.local.em(low), max_nodes=1, n_threads=1, log=False).objective)


@pytest.mark.parametrize(
    ("start", "named"),
    [
        ({"means": X[:2], "rates": X[:2]}, "^start: 'rates' is not among"),
        ({"weights": [0.5, 0.5]}, "^start must have means"),
        ({"means": X[:2], "covariances": np.ones(2)}, "covariances; covariances must have shape"),
        ({"solution": [1, 2]}, "^start: the solution must be a dict"),
        (X[:, :1], "^start must hold means; means must have shape"),
        ("means", "^start must hold means; means must be an array"),
    ],
    ids=str,
)  # fmt: skip
def test_a_bad_start_is_named(start, named):
    problem = gopfast.GaussianMixture(X, 2, covariance="diag")
    with pytest.raises(gopfast.InputError, match=named):
        gopfast.solve(problem, start=start)


def test_a_fit_of_another_family_is_no_start():
    with pytest.raises(gopfast.InputError, match="^start must have means"):
        gopfast.solve(
            gopfast.GaussianMixture(X, 2, covariance="known"),
            start=gopfast.local.em(gopfast.PoissonMixture([0, 3, 9], 2)),
        )
