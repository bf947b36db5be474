import dataclasses
import json
import math
import pickle

import numpy as np
import pytest
from support import datasets

import gopfast
from gopfast import MixtureSolution, Result, Status
from gopfast.models import GaussianMixture

HISTORY = [[0.0, 1, -math.inf, 90.0, 1], [0.001, 9, 84.0251, 84.0302, 3]]


def make_solution(prior="empirical", means=((15.0,), (-10.0,))):
    problem = GaussianMixture(datasets.minimal(), 2, prior=prior, covariance="known")
    gamma = problem.best_prior_variance(means)
    return MixtureSolution.canonical(problem, [0.4, 0.6], means, gamma)


def make_result(**changes):
    arguments = {
        "status": Status.OPTIMAL, "objective": 84.0302, "lower_bound": 84.0251, "solution": make_solution(),
        "elbo_constant": -5.5, "n_nodes": 9, "n_subproblems": 18, "n_lps": 0, "n_passes": 98, "time": 0.0012,
        "history": HISTORY, "relaxation": "entropic", "partition": "joint", "branching": "bisect",
    }  # fmt: skip
    return Result(**{**arguments, **changes})


def test_status_numbers_are_those_of_the_core():
    names = [
        "OPTIMAL", "TIME_LIMIT", "NODE_LIMIT", "INTERRUPTED", "NUMERICAL", "INFEASIBLE", "UNBOUNDED", "CUTOFF",
        "MEMORY_LIMIT",
    ]  # fmt: skip
    assert [(status.name, status.value) for status in Status] == list(zip(names, range(1, 10), strict=True))


@pytest.mark.parametrize("status", list(Status))
def test_every_status_says_what_is_proved(status):
    result = make_result(status=int(status))
    assert result.status is status
    assert result.message == status.meaning
    assert "optim" in result.message
    assert result.success is (status is Status.OPTIMAL)


def test_derived_values():
    result = make_result()
    assert result.gap == pytest.approx(0.0051)
    assert result.elbo == pytest.approx(-89.5302)
    assert result.elbo_bound == pytest.approx(-89.5251)
    assert make_result(elbo_constant=None).elbo is None
    assert make_result(elbo_constant=None).elbo_bound is None
    assert result.history.shape == (2, len(Result.history_columns))
    assert make_result(history=[]).history.shape == (0, 5)


@pytest.mark.parametrize(
    ("problem", "label"),
    [
        (GaussianMixture(datasets.minimal(), 2, covariance="known"), "log-likelihood"),
        (GaussianMixture(datasets.minimal(), 2, covariance="diag"), "log-likelihood"),
        (GaussianMixture(datasets.minimal(), 1, covariance="diag"), "log-likelihood"),
        (gopfast.PoissonMixture([1, 2, 9], 2), "log-likelihood"),
        (GaussianMixture(datasets.minimal(), 2, prior="empirical"), "ELBO"),
        (GaussianMixture(datasets.minimal(), 2, prior=4.0, posterior="gaussian"), "ELBO"),
        (gopfast.BernoulliMixture([[0, 1], [1, 1], [0, 0]], 2, prior=(2.0, 2.0)), "ELBO"),
    ],
    ids=repr,
)
def test_only_with_a_prior_the_value_is_called_an_elbo(problem, label):
    result = gopfast.solve(problem)
    words = {"log-likelihood", "ELBO"}
    shown = {line.split()[0] for line in str(result).splitlines()}
    assert shown & words == {label}
    record = result.to_dict()
    if label == "ELBO":
        assert result.log_likelihood is None and result.log_likelihood_bound is None
    else:
        assert result.log_likelihood == result.elbo
        assert result.log_likelihood_bound == result.elbo_bound
        densities = problem.log_densities(**result.solution.parameters) + np.log(result.solution.weights)
        by_definition = problem.sample_weight @ np.logaddexp.reduce(densities, axis=1)
        assert result.log_likelihood == pytest.approx(by_definition, rel=1e-9)
    assert (record["log_likelihood"], record["log_likelihood_bound"]) == (
        result.log_likelihood, result.log_likelihood_bound,
    )  # fmt: skip
    fit = gopfast.local.em(problem, random_state=0)
    assert fit.log_likelihood == (fit.elbo if label == "log-likelihood" else None)


def test_a_biconvex_problem_has_no_likelihood():
    result = gopfast.solve(gopfast.BiconvexProblem([1.0], lower=0, upper=1))
    assert result.log_likelihood is None and "likelihood" not in str(result) and "ELBO" not in str(result)


def test_result_and_solution_cannot_be_changed():
    result = make_result()
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.objective = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.solution.weights = None


def test_canonical_order_is_by_mean_first_coordinate_first():
    problem = GaussianMixture(np.zeros((4, 2)), 4, covariance="known")
    means = [[1.0, 0.0], [0.0, 9.0], [1.0, -1.0], [0.0, 9.0]]
    solution = MixtureSolution.canonical(problem, [0.1, 0.4, 0.3, 0.2], means)
    np.testing.assert_array_equal(solution.means, [[0, 9], [0, 9], [1, -1], [1, 0]])
    np.testing.assert_array_equal(solution.weights, [0.2, 0.4, 0.3, 0.1])


def test_responsibilities_follow_from_the_parameters():
    solution = make_solution()
    problem = GaussianMixture(datasets.minimal(), 2, covariance="known")
    np.testing.assert_array_equal(
        solution.responsibilities, problem.responsibilities(solution.weights, solution.means)
    )
    assert solution.responsibilities is solution.responsibilities


def test_summary_reads_well():
    text = str(make_result(notes=["prior_variance sits on its lower bound"]))
    for part in ("OPTIMAL", "84.0302", "84.0251", "0.0051", "9 nodes", "98 data passes", "entropic", "-10"):
        assert part in text
    assert "note           prior_variance sits on its lower bound" in text
    assert "LPs" not in text
    assert max(map(len, text.splitlines())) <= 110
    assert repr(make_result()) == (
        "Result(status=OPTIMAL, objective=84.0302, lower_bound=84.0251, gap=0.0051, n_nodes=9, time=0.0012)"
    )


def test_summary_of_a_large_solution_stays_short():
    problem = GaussianMixture(np.zeros((50, 20)), 50, covariance="known")
    solution = MixtureSolution.canonical(problem, np.full(50, 0.02), np.zeros((50, 20)))
    text = str(make_result(solution=solution))
    assert "38 more components" in text
    assert len(text.splitlines()) < 25


def test_pickle_round_trip():
    result = make_result()
    twin = pickle.loads(pickle.dumps(result))
    assert twin.to_dict(responsibilities=True) == result.to_dict(responsibilities=True)
    assert twin.status is Status.OPTIMAL
    assert str(twin) == str(result)


def test_json_round_trip(tmp_path):
    result = make_result(objective=np.float64(84.0302), n_nodes=np.int64(9), time=math.nan)
    text = result.to_json(tmp_path / "result.json")
    record = json.loads(text)
    assert json.loads((tmp_path / "result.json").read_text()) == record == result.to_dict()
    assert record["status"] == "OPTIMAL"
    assert record["success"] is True
    assert record["time"] is None
    assert record["history"] == [[0.0, 1.0, None, 90.0, 1.0], HISTORY[1]]
    assert record["history_columns"] == ["time", "n_nodes", "lower", "upper", "n_open"]
    assert record["solution"]["means"] == [[-10.0], [15.0]]
    assert "X" not in record["solution"]
    assert np.shape(result.to_dict(responsibilities=True)["solution"]["responsibilities"]) == (4, 2)


def test_dict_has_every_field():
    fields = {field.name for field in dataclasses.fields(Result)}
    assert fields <= make_result().to_dict().keys()


@pytest.mark.parametrize("status, why", [(Status.TIME_LIMIT, "time limit reached"),
                                         (Status.INTERRUPTED, "stopped by Ctrl-C or a callback")])  # fmt: skip
def test_a_gap_that_is_small_for_so_many_samples_is_told_in_the_first_line(status, why):
    # four samples: 1e-4 nats a sample are 4e-4
    result = make_result(status=status, objective=84.03, lower_bound=84.03 - 2.4e-4)
    assert result.gap_per_sample == pytest.approx(6e-5)
    assert str(result).splitlines()[0] == (
        f"{status.name}: {why}, but it is proved that no mixture of 2 components is better by more than 0.00024 nats "
        "in 4 samples (6e-05 a sample)"
    )
    assert not result.success
    wide = make_result(status=status, objective=84.03, lower_bound=84.03 - 5e-4)
    assert str(wide).splitlines()[0] == f"{status.name}: {status.meaning}"


def test_criteria_are_those_of_the_summary_and_of_scikit_learn():
    mixture = pytest.importorskip("sklearn.mixture")
    X = np.random.default_rng(0).standard_normal((40, 1)) + np.repeat([[0.0], [9.0]], 20, axis=0)
    result = gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="diag"))
    told = result.summary()
    assert (result.aic, result.bic, result.icl, result.n_parameters) == (told.aic, told.bic, told.icl, 5)
    peer = mixture.GaussianMixture(2, covariance_type="diag", means_init=result.solution.means, tol=1e-10).fit(X)
    assert (result.aic, result.bic) == (pytest.approx(peer.aic(X), abs=1e-3), pytest.approx(peer.bic(X), abs=1e-3))
    with_prior = gopfast.solve(gopfast.GaussianMixture(X, 2, prior="empirical"))
    assert (with_prior.aic, with_prior.bic, with_prior.icl) == (None, None, None)


def test_a_small_gap_changes_nothing_of_what_is_proved_or_said_otherwise():
    for status in (Status.OPTIMAL, Status.CUTOFF):
        assert make_result(status=status, objective=84.03, lower_bound=84.03 - 3e-4).message == status.meaning


def test_result_without_a_finite_bound_is_still_printable():
    result = make_result(status=Status.INTERRUPTED, lower_bound=-math.inf, history=[], solution=None)
    assert "INTERRUPTED" in str(result)
    record = result.to_dict()
    assert record["lower_bound"] is None
    assert record["gap"] is None
    assert record["solution"] is None
