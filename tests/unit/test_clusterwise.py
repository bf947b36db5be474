"""Clusterwise least squares: arguments, results, limits, cases in closed form and data of the literature."""

import os
import signal
import threading

import numpy as np
import pytest

import gopfast
from gopfast import ClusterwiseRegression, datasets

RNG = np.random.default_rng(5)
X = RNG.uniform(-1, 1, 40)
Y = np.where(RNG.random(40) < 0.5, 1 + X, 2 - 2 * X) + 0.1 * RNG.normal(size=40)
PROBLEM = ClusterwiseRegression(X, Y, 2)
# Two lines that overlap: a search of several nodes.
WIDE = ClusterwiseRegression(
    np.linspace(0, 5, 90), np.where(np.arange(90) % 3, np.linspace(0, 5, 90), 4 - np.linspace(0, 5, 90))
    + np.random.default_rng(0).normal(size=90), 3,
)  # fmt: skip


@pytest.mark.parametrize(
    "arguments, name",
    [
        (([1.0, 2.0], [1.0], 1), "y"),
        (([1.0, 2.0], [1.0, np.nan], 1), "y"),
        (([1.0, np.inf], [1.0, 2.0], 1), "X"),
        (([1.0, 2.0], [1.0, 1e120], 1), "y"),
        (([1.0, 2.0], [1.0, 2.0], 3), "n_clusters"),
        (([1.0, 2.0], [1.0, 2.0], 0), "n_clusters"),
        (([1.0, 2.0], [1.0, 2.0], 1, "yes"), "fit_intercept"),
        (([1.0, 2.0], [1.0, 2.0], 1, True, [0.0, 0.0]), "sample_weight"),
        (([1.0, 2.0], [1.0, 2.0], 1, True, [-1.0, 2.0]), "sample_weight"),
        (([3.0, 3.0], [1.0, 2.0], 1), "X"),  # constant
        (([0.0, 0.0], [1.0, 2.0], 1, False), "X"),
        (([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], [1.0, 2.0, 3.0], 1), "X"),  # dependent
        (([[1.0, 2.0], [2.0, 5.0]], [1.0, 2.0], 1), "X"),  # fewer samples than coefficients
        (([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 1, True, [1.0, 0.0, 0.0]), "X"),
    ],
)
def test_one_error_names_the_argument(arguments, name):
    with pytest.raises(gopfast.InputError, match=rf"^{name}\b"):
        ClusterwiseRegression(*arguments)


def test_the_error_of_too_few_samples_says_how_many():
    with pytest.raises(gopfast.InputError, match="2 samples of positive weight, 3 coefficients"):
        ClusterwiseRegression([[1.0, 2.0], [2.0, 5.0]], [1.0, 2.0], 1)


@pytest.mark.parametrize(
    "options, name",
    [
        ({"relaxation": "linear"}, "relaxation"),
        ({"branching": "bisect"}, "branching"),
        ({"partition": "paper"}, "partition"),
        ({"subproblem": "milp"}, "subproblem"),
        ({"spill": "."}, "spill"),
        ({"checkpoint": "file.npz", "proof": True}, "checkpoint"),
        ({"start": [0, 1]}, "start"),
        ({"start": np.full(40, 2)}, "start"),
        ({"start": np.zeros(40)}, "start"),
    ],
)
def test_options_for_other_problems_are_refused(options, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(gopfast.InputError, match=rf"\b{name}\b"):
        gopfast.solve(PROBLEM, **options)


@pytest.mark.parametrize("fit", [
    lambda result: result, lambda result: result.solution, lambda result: result.labels,
    lambda result: {"coefficients": result.coefficients, "intercepts": result.intercepts},
    lambda result: {"labels": result.labels},
    lambda result: gopfast.GlobalClusterwiseRegression(2).fit(PROBLEM.X, PROBLEM.y),
], ids=["result", "solution", "labels", "lines", "dict of labels", "estimator"])  # fmt: skip
def test_the_best_classes_are_certified_whatever_they_are_given_as(fit):
    result = gopfast.solve(PROBLEM, log=False)
    found = gopfast.certify(PROBLEM, fit(result), log=False)
    assert found.verdict == "PROVED" and found.lower_bound <= result.objective
    assert found.objective == pytest.approx(result.objective, rel=1e-9)


def test_worse_classes_are_beaten_and_what_are_none_are_refused():
    result = gopfast.solve(PROBLEM, log=False)
    worse = np.where(np.arange(PROBLEM.n_samples) < 9, 1 - result.labels, result.labels)
    found = gopfast.certify(PROBLEM, worse, log=False)
    assert found.verdict == "BEATEN" and found.better.sum_of_squares == found.upper_bound < found.objective
    for bad in (3, None, {"a": 1}, [0, 1], np.full(PROBLEM.n_samples, 2), np.zeros(PROBLEM.n_samples),
                {"coefficients": [[1.0]], "intercepts": [0.0]}):  # fmt: skip
        with pytest.raises(gopfast.InputError, match="^fit"):
            gopfast.certify(PROBLEM, bad)


def test_a_result_shows_status_and_bounds_on_one_line():
    text = repr(gopfast.solve(PROBLEM, log=False))
    assert text.startswith("ClusterwiseResult(status=OPTIMAL, objective=") and "lower_bound=" in text


def test_result_says_what_is_proved():
    result = gopfast.solve(PROBLEM, log=False)
    assert result.success and result.status == "OPTIMAL"
    assert result.lower_bound <= result.objective <= result.lower_bound * (1 + 1.1e-4)
    assert result.gap == result.objective - result.lower_bound and 0 <= result.rel_gap <= 1e-4
    assert result.labels.shape == (40,) and result.coefficients.shape == (2, 1) and result.intercepts.shape == (2,)
    assert (np.diff(result.intercepts) >= 0).all()
    residuals = Y[:, None] - PROBLEM.predict(X, result.coefficients, result.intercepts)
    assert np.square(residuals).min(axis=1).sum() == pytest.approx(result.objective, rel=1e-12)
    assert (np.abs(residuals).argmin(axis=1) == result.labels).all()
    assert PROBLEM.objective(result.labels) == result.objective
    record = result.to_dict(responsibilities=True)
    assert record["solution"]["labels"] == result.labels.tolist() and "log_likelihood" not in record
    assert "coefficients" in str(result.solution) and "lower bound" in str(result)
    assert result.starts.n_searches > 0


def test_equal_rows_count_as_weights():
    weights = np.arange(40) % 3
    many = ClusterwiseRegression(np.repeat(X, weights), np.repeat(Y, weights), 2)
    one, other = (gopfast.solve(p, log=False) for p in (ClusterwiseRegression(X, Y, 2, sample_weight=weights), many))
    assert one.objective == pytest.approx(other.objective, rel=1e-12) and one.success and other.success
    assert (np.repeat(one.labels, weights) == other.labels).all()
    fitted = PROBLEM.predict(X, one.coefficients, one.intercepts)
    assert (np.abs(Y[:, None] - fitted).argmin(axis=1) == one.labels).all()  # those of weight 0, too


@pytest.mark.parametrize(
    "arguments, objective",
    [
        (([0.0, 1.0, 2.0], [0.0, 1.0, 5.0], 3), 0.0),  # K = N
        (([0.0, 1.0, 2.0], [0.0, 1.0, 5.0], 2), 0.0),  # two samples to a line
        (([0.0, 1.0, 2.0], [0.0, 0.0, 3.0], 1), 1.5),
        (([0.0, 1.0, 1.0], [2.0, 1.0, 3.0], 2, False), 4.0),  # a regressor of 0: its response is a residual
        (([0.0, 1.0], [2.0, 1.0], 2, False), 4.0),
        (([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0], 2), 0.0),
        (([1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 3.0, 0.0], 2), 0.0),
    ],
)
def test_small_cases_are_exact(arguments, objective):
    result = gopfast.solve(ClusterwiseRegression(*arguments), log=False)
    assert result.objective == objective and result.success
    assert result.lower_bound == pytest.approx(objective, rel=1e-4)


def test_classes_without_weight_have_no_regression():
    problem = ClusterwiseRegression([0.0, 1.0, 2.0, 5.0], [0.0, 1.0, 3.0, 9.0], 2, sample_weight=[1.0, 1.0, 1.0, 0.0])
    coefficients, intercepts, objective = problem.fit([0, 0, 0, 1])
    assert (coefficients[1], intercepts[1]) == (0.0, 0.0) and objective == problem.objective([0, 0, 0, 0])
    assert objective == pytest.approx(1 / 6)


def test_numbers_of_any_size_are_fitted_as_they_are():
    X, y = np.array([0.0, 3e-300, 5e-300, 7e-300]), np.array([1.0, 4.0, 6.0, 8.5]) * 2.0**-40
    problem = ClusterwiseRegression(X, y, 1, sample_weight=np.full(4, 2.0**70))
    coefficients, intercepts, objective = problem.fit(np.zeros(4, dtype=int))
    moved = ClusterwiseRegression([0.0, 3.0, 5.0, 7.0], [1.0, 4.0, 6.0, 8.5], 1).fit(np.zeros(4, dtype=int))
    np.testing.assert_allclose(coefficients * 1e-300, moved[0] * 2.0**-40, rtol=1e-12)
    assert intercepts[0] == pytest.approx(moved[1][0] * 2.0**-40, rel=1e-10)
    assert objective == pytest.approx(moved[2] * 2.0**-10, rel=1e-10)
    with pytest.raises(gopfast.InputError, match="X and y: a coefficient is too large for a number; scale X"):
        gopfast.solve(ClusterwiseRegression(X, 1e40 * y, 1))


def test_squares_below_the_smallest_number_leave_the_bound_0():
    result = gopfast.solve(ClusterwiseRegression([0.0, 1.0, 2.0, 3.0, 4.0], 1e-170 * Y[:5], 2), log=False)
    assert 0.0 <= result.lower_bound <= result.objective < 1e-300


def test_shifts_and_scales_change_nothing_but_the_unit():
    result = gopfast.solve(PROBLEM, log=False)
    moved = ClusterwiseRegression(2.0**30 + 4 * X, 2.0**20 * Y, 2)
    other = gopfast.solve(moved, log=False)
    assert other.objective == pytest.approx(2.0**40 * result.objective, rel=1e-6) and other.success


@pytest.mark.parametrize("options", [{"time_limit": 0.05}, {"time_limit": 0.0}, {"callback": lambda state: True}])
def test_limits_leave_valid_bounds(options):
    result = gopfast.solve(WIDE, log=False, **options)
    assert result.status in (gopfast.Status.TIME_LIMIT, gopfast.Status.INTERRUPTED)
    assert 0.0 <= result.lower_bound < result.objective < np.inf
    assert result.objective == WIDE.objective(result.labels)


def test_a_node_limit_leaves_the_bound_of_the_root():
    result = gopfast.solve(WIDE, epsilon=1e-12, max_nodes=1, log=False)
    assert result.status == "NODE_LIMIT" and 0.0 < result.lower_bound < result.objective


def test_ctrl_c_ends_with_bounds():
    started = threading.Event()

    def see(state):
        started.set()

    def interrupt():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = gopfast.solve(WIDE, epsilon=1e-12, callback=see, log=False)
    thread.join()
    assert result.status == "INTERRUPTED" and 0.0 <= result.lower_bound <= result.objective


def test_starts_seeds_and_threads_change_nothing_that_is_proved():
    results = [
        gopfast.solve(PROBLEM, log=False, random_state=1, n_threads=2),
        gopfast.solve(PROBLEM, log=False, start=np.arange(40) % 2),
    ]
    results.append(gopfast.solve(PROBLEM, log=False, start=results[0]))
    assert len({result.objective for result in results}) == 1 and all(result.success for result in results)


def test_better_classes_that_a_node_finds_are_taken(monkeypatch):
    def one_class(self, late, start=None):
        self.offer(np.zeros((self.n_clusters, self.Z.shape[1])))

    best = gopfast.solve(WIDE, log=False, max_nodes=1).objective
    monkeypatch.setattr("gopfast.clusterwise.pool.Pool.fill", one_class)
    result = gopfast.solve(WIDE, log=False, max_nodes=2)
    assert result.objective < 1.2 * best and result.objective == WIDE.objective(result.labels)


def test_the_table_of_progress_is_written(capsys):
    gopfast.solve(PROBLEM, log=True)
    written = "".join(capsys.readouterr())
    assert "global optimum" in written


@pytest.mark.parametrize(
    "load, K, objective",
    [("tonedata", 2, 0.902889), ("tonedata", 3, 0.377854), ("co2data", 2, 79.1905), ("co2data", 3, 22.2244)],
)
def test_optima_of_data_of_the_literature(load, K, objective):
    table = getattr(datasets, f"load_{load}")()
    result = gopfast.solve(ClusterwiseRegression(table[:, :-1], table[:, -1], K), log=False)
    assert result.success and result.objective == pytest.approx(objective, rel=1e-5)
