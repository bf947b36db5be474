"""The solution of every model."""

import json
import pickle

import numpy as np
import pytest
from support import problems
from support.problems import KINDS, rows

import gopfast
from gopfast import MixtureSolution

every_kind = pytest.mark.parametrize("kind", KINDS)
PARAMETERS = ("means", "covariances", "probabilities", "rates", "posterior_variances", "prior_variance")


def solution_of(kind, **sizes):
    problem = problems.make(kind, **sizes)
    return MixtureSolution.canonical(problem, **problems.random_state(problem, np.random.default_rng(1)))


@every_kind
def test_holds_the_parameters_of_its_model_and_no_others(kind):
    solution = solution_of(kind)
    for name in PARAMETERS:
        if name not in solution.problem.parameter_names:
            assert getattr(solution, name) is None
    assert solution.parameters.keys() == set(solution.problem.parameter_names)
    first = rows(getattr(solution, solution.problem.parameter_names[0]))
    assert first.tolist() == sorted(first.tolist())


@every_kind
def test_responsibilities_follow_from_the_parameters(kind):
    solution = solution_of(kind)
    expected = solution.problem.responsibilities(solution.weights, **solution.parameters)
    np.testing.assert_array_equal(solution.responsibilities, expected)
    assert solution.responsibilities is solution.responsibilities


@every_kind
def test_pickles(kind):
    solution = solution_of(kind)
    twin = pickle.loads(pickle.dumps(solution))
    assert twin.to_dict(responsibilities=True) == solution.to_dict(responsibilities=True)
    assert str(twin) == str(solution)


@every_kind
def test_dict_is_json_and_leads_back_to_the_objective(kind):
    solution = solution_of(kind)
    record = json.loads(json.dumps(solution.to_dict(), allow_nan=False))
    assert list(record) == ["weights", *solution.problem.parameter_names]
    again = solution.problem.objective(**record)
    assert again == solution.problem.objective(solution.weights, **solution.parameters)
    tau = solution.to_dict(responsibilities=True)["responsibilities"]
    assert np.shape(tau) == (12, 2)


@every_kind
def test_repr_and_text_leave_out_the_data(kind):
    solution = solution_of(kind, n=500)
    assert len(repr(solution)) < 600
    lines = str(solution).splitlines()
    assert lines[0].split()[0] == "weight"
    assert lines[1].split()[0] == f"{solution.weights[0]:.4f}"
    first = rows(getattr(solution, solution.problem.parameter_names[0]))
    assert f"{first[1, 0]:.6g}" in lines[2]


@every_kind
def test_text_of_a_large_solution_stays_short(kind):
    lines = str(solution_of(kind, n=60, K=50, d=9)).splitlines()
    assert "  ... 38 more components" in lines
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 140
    assert "  ..." in lines[1]


def test_text_by_example():
    problem = gopfast.GaussianMixture([[0.0, 1.0], [2.0, 3.0]], 2, covariance="tied_spherical", variance_floor=0.5)
    solution = MixtureSolution.canonical(problem, [0.25, 0.75], [[2.0, 3.5], [-1.0, 0.0]], 0.5 * np.eye(2))
    assert str(solution).splitlines() == [
        "    weight    mean",
        "    0.7500    -1  0",
        "    0.2500    2  3.5",
        "  variance 0.5",
    ]
    problem = gopfast.CategoricalMixture([["a", 1], ["b", 2]], 1)
    solution = MixtureSolution.canonical(problem, [1.0], ([[0.25, 0.75]], [[0.5, 0.5]]))
    assert str(solution).splitlines() == ["    weight    probability", "    1.0000    0.25  0.75 | 0.5  0.5"]
    problem = gopfast.GaussianMixture([1.0, 2.0], 1, covariance="full", variance_floor=0.5)
    solution = MixtureSolution.canonical(problem, [1.0], [[1.5]], [[[0.5]]])
    assert str(solution).splitlines() == ["    weight    mean    variance", "    1.0000    1.5     0.5"]


X = np.random.default_rng(0).normal(size=(20, 6))


def test_a_shared_matrix_is_printed_whole():
    problem = gopfast.GaussianMixture(X[:, :2], 2, covariance="tied", variance_floor=0.1)
    solution = MixtureSolution.canonical(problem, [0.25, 0.75], [[2.0, 3.5], [-1.0, 0.0]], [[4.0, -1.25], [-1.25, 9.0]])
    assert str(solution).splitlines() == [
        "    weight    mean",
        "    0.7500    -1  0",
        "    0.2500    2  3.5",
        "  covariance of every component",
        "        4  -1.25",
        "    -1.25      9",
    ]


def test_matrices_of_components_are_printed_whole_in_the_components_order():
    problem = gopfast.GaussianMixture(X[:, :2], 2, covariance="full", variance_floor=0.1)
    matrices = [[[4.0, -1.25], [-1.25, 9.0]], [[1.0, 1e-17], [1e-17, 1.0]]]
    solution = MixtureSolution.canonical(problem, [0.25, 0.75], [[2.0, 3.5], [-1.0, 0.0]], matrices)
    assert str(solution).splitlines()[3:] == [
        "  covariance of component 0",
        "    1  0",
        "    0  1",
        "  covariance of component 1",
        "        4  -1.25",
        "    -1.25      9",
    ]


@pytest.mark.parametrize("covariance", ["tied", "full"])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_every_entry_of_a_matrix_is_printed_and_lines_stay_readable(covariance, d):
    problem = gopfast.GaussianMixture(X[:, :d], 2, covariance=covariance, variance_floor=1e-3)
    tau = np.random.default_rng(1).dirichlet(np.ones(2), 20)
    solution = MixtureSolution.canonical(problem, **problem.maximize(tau))
    text = str(solution)
    for number in solution.covariances.ravel():
        assert f"{number:.6g}" in text
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    first = next(k for k, line in enumerate(lines) if "covariance" in line)
    assert len({len(line) for line in lines[first + 1 : first + 1 + d]}) == 1


def test_one_number_says_all_of_a_round_covariance():
    problem = gopfast.GaussianMixture(X[:, :3], 2, covariance="tied_spherical", variance_floor=0.1)
    solution = MixtureSolution.canonical(problem, **problem.maximize(np.full((20, 2), 0.5)))
    assert str(solution).splitlines()[-1] == f"  variance {solution.covariances[0, 0]:.6g}"
