"""Data without shape and searches cut short: a proved result, or an honest one; never a wrong bound."""

import functools
import math
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from support import brute_force

import gopfast
from gopfast import Status

EPSILON = 0.01
SECONDS = 5.0


def clusters(n, K, separation, d=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 0] += separation * np.repeat(np.arange(K), -(-n // K))[:n]
    return X


SMALL = clusters(12, 2, 4.0)
FLAT = clusters(12, 2, 4.0, d=2)
PLAIN = {
    "constant data": (np.full(6, 3.7), 2, {}),
    "constant data at 0": (np.zeros(5), 3, {}),
    "constant data in 2-D": (np.full((6, 2), -2.5), 2, {}),
    "one constant column": (np.column_stack([SMALL, np.full(12, 4.0)]), 2, {}),
    "duplicates": (np.repeat([1.0, 2.0, 9.0], 5), 3, {}),
    "two places": (np.repeat([0.0, 8.0], 10), 2, {}),
    "more components than places": (np.repeat([0.0, 8.0], 3), 3, {}),
    "one point": ([4.0], 1, {}),
    "one point in 3-D": ([[4.0, -1.0, 0.0]], 1, {}),
    "one component": (SMALL, 1, {}),
    "one component in 2-D": (FLAT, 1, {}),
    "a component per sample": ([0.0, 3.0, 10.0], 3, {}),
    "a component per sample, near": ([0.0, 0.5, 1.0], 3, {}),
    "a component per sample in 2-D": ([[0.0, 0.0], [5.0, 1.0]], 2, {}),
    "far from zero": (1e6 + SMALL, 2, {}),
    "far from zero in 2-D": (1e6 + FLAT, 2, {}),
    "tiny data": (1e-6 * SMALL, 2, {}),
    "tiny data and noise": (1e-6 * SMALL, 2, {"noise_variance": 1e-12}),
    "huge data": (1e6 * SMALL, 2, {}),
    "million-fold range": (FLAT * [1e3, 1e-3], 2, {}),
    "million-fold range, noise to match": (FLAT * [1e3, 1e-3], 2, {"noise_variance": [1e6, 1e-6]}),
    "uneven weights": (SMALL, 2, {"sample_weight": np.logspace(-6, 6, 12)}),
    "weights of 0": (SMALL, 2, {"sample_weight": np.arange(12) % 2}),
    "one sample of weight": (SMALL, 2, {"sample_weight": np.eye(12)[3]}),
    "tiny weights": (SMALL, 2, {"sample_weight": np.full(12, 1e-9)}),
    "huge noise": (SMALL, 2, {"noise_variance": 1e8}),
    "small noise": (SMALL, 2, {"noise_variance": 1e-4}),
    "minute noise": (SMALL, 2, {"noise_variance": 1e-10}),
    "one outlier": (np.append(SMALL, 1e5), 2, {}),
}
PRIORS = {
    "no prior": {"prior": None, "covariance": "known"},
    "empirical prior": {"prior": "empirical"},
    "unit prior": {"prior": 1.0},
}
STRONG = {
    "tiny prior": (SMALL, 2, {"prior": 1e-6}),
    "huge prior": (SMALL, 2, {"prior": 1e8}),
    "tiny prior far from zero": (1e3 + SMALL, 2, {"prior": 1e-3}),
    "prior variance held at one value": (
        SMALL,
        2,
        {"prior": "empirical", "prior_variance_bounds": (2.0, 2.0)},
    ),
    "prior variance at its lower bound": (
        SMALL * 0.1,
        2,
        {"prior": "empirical", "prior_variance_bounds": (5.0, 9.0)},
    ),
    "prior variance at its upper bound": (
        SMALL * 10,
        2,
        {"prior": "empirical", "prior_variance_bounds": (0.1, 0.2)},
    ),
    "symmetric about 0": ([-3.0, -1.0, 1.0, 3.0], 2, {"prior": "empirical"}),
}
CASES = {
    f"{name}, {prior}": (X, K, options | PRIORS[prior])
    for name, (X, K, options) in PLAIN.items()
    for prior in PRIORS
} | STRONG


@functools.cache
def reference(problem):
    if problem.n_samples <= 6:
        return brute_force.global_optimum(problem).value
    return brute_force.best_local_optimum(problem, n_starts=60).value


def assert_honest(result, problem, epsilon=EPSILON, rel_tol=0.0):
    """The bounds hold whatever the status says, and the status says what they are worth."""
    attained = problem.objective(
        result.solution.weights, result.solution.means, result.solution.prior_variance
    )
    size = 1.0 + abs(attained)
    assert result.objective == pytest.approx(attained, rel=1e-9, abs=1e-9)
    assert result.lower_bound <= result.objective
    assert not math.isnan(result.lower_bound)
    assert result.lower_bound <= reference(problem) + 1e-9 * size
    assert result.success == (result.status is Status.OPTIMAL)
    assert result.success == (result.gap <= max(epsilon, rel_tol * abs(result.objective)))


# Objectives go up to 10^13 here, and an absolute tolerance of 0.01 is then less than their rounding errors.
REL_TOL = 1e-12


@pytest.mark.parametrize("name", CASES)
def test_degenerate_data_are_proved(name):
    X, K, options = CASES[name]
    problem = gopfast.GaussianMixture(X, K, **options)
    result = gopfast.solve(problem, EPSILON, rel_tol=REL_TOL, time_limit=SECONDS, max_nodes=20_000)
    assert_honest(result, problem, rel_tol=REL_TOL)
    # Nothing better than the incumbent: otherwise the gap could not close.
    assert result.objective <= reference(problem) + max(EPSILON, REL_TOL * abs(result.objective))
    assert result.success, result


@pytest.mark.parametrize("prior", PRIORS)
def test_a_tolerance_below_the_rounding_errors_is_not_claimed(prior):
    problem = gopfast.GaussianMixture(1e6 * SMALL, 2, **PRIORS[prior])
    result = gopfast.solve(problem, 1e-6, time_limit=0.5)
    assert not result.success
    assert_honest(result, problem, 1e-6)
    assert result.gap <= 1e-10 * result.objective  # but the bound is as good as rounding allows


HARD = gopfast.GaussianMixture(clusters(150, 6, 2.0), 6, covariance="known")


def slow():
    return gopfast.solve(HARD, 1e-6, time_limit=0.3)


def test_a_time_limit_of_0_gives_a_valid_result():
    result = gopfast.solve(HARD, time_limit=0)
    assert result.status is Status.TIME_LIMIT
    assert_honest(result, HARD)


@pytest.mark.parametrize("seconds", [1e-9, 1e-3, 0.05])
def test_a_time_limit_gives_valid_bounds(seconds):
    result = gopfast.solve(HARD, 1e-6, time_limit=seconds)
    assert result.status is Status.TIME_LIMIT
    assert "time limit" in result.message
    assert_honest(result, HARD, 1e-6)


def test_the_bounds_of_a_longer_search_are_tighter():
    short, long = (gopfast.solve(HARD, 1e-6, max_nodes=n) for n in (50, 2000))
    assert short.lower_bound < long.lower_bound
    assert short.objective >= long.objective


@pytest.mark.parametrize("most", [1, 2, 17])
def test_a_node_limit_gives_valid_bounds(most):
    result = gopfast.solve(HARD, max_nodes=most)
    assert result.status is Status.NODE_LIMIT
    # A node is partitioned whole: the last one may exceed the limit by a child.
    assert result.n_nodes <= most + 1
    assert math.isfinite(result.lower_bound)
    assert_honest(result, HARD)


def test_a_callback_stops_the_search():
    seen = []

    def stop_at_third(progress):
        seen.append(progress)
        return len(seen) == 3

    result = gopfast.solve(HARD, callback=stop_at_third)
    assert result.status is Status.INTERRUPTED
    assert len(seen) == 3
    assert_honest(result, HARD)
    assert seen[-1].lower <= result.lower_bound
    assert result.objective <= seen[-1].upper


def test_only_true_stops_the_search():
    problem = gopfast.GaussianMixture(SMALL, 2, covariance="known")
    assert gopfast.solve(problem, callback=lambda progress: None).success
    assert gopfast.solve(problem, callback=lambda progress: 0).success


def test_an_exception_in_the_callback_reaches_the_caller_and_leaves_the_solver_usable():
    class Refused(Exception):
        pass

    def refuse(progress):
        raise Refused("no more")

    with pytest.raises(Refused, match="no more"):
        gopfast.solve(HARD, callback=refuse)
    assert gopfast.solve(gopfast.GaussianMixture(SMALL, 2, covariance="known")).success


def test_the_progress_of_the_callback_is_that_of_the_history():
    seen = []
    result = gopfast.solve(gopfast.GaussianMixture(SMALL, 2, covariance="known"), callback=seen.append)
    lower, upper = np.array([(state.lower, state.upper) for state in seen]).T
    assert (np.diff(lower) >= 0).all() and (np.diff(upper) <= 0).all()
    assert seen[-1].n_nodes == result.n_nodes
    assert seen[0].new_incumbent


def interrupt_once_running(code, folder, after=0.5):
    """Run code that prints a line before it solves, send Ctrl-C, return its output."""
    # In a folder without sources: `python -c` puts the working folder first on sys.path.
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(after)
            child.send_signal(signal.SIGINT)
            out, errors = child.communicate()
        finally:
            child.kill()
    return out, errors


LONG_SOLVE = """
    import numpy as np, gopfast
    rng = np.random.default_rng(0)
    problem = gopfast.GaussianMixture(rng.uniform(0, 40, 500), 8, prior={prior!r}, covariance="known")
    print("ready", flush=True)
    result = gopfast.solve(problem, 1e-9, n_threads={threads}, callback={callback})
    fits = result.objective - problem.objective(result.solution.weights, result.solution.means)
    print(result.status.name, result.lower_bound, result.objective, fits, result.n_nodes)
    best = gopfast.solve(gopfast.GaussianMixture([0.0, 9.0], 2, covariance="known"))
    print(best.success)
"""


# The second callback is where nearly every Ctrl-C arrives.
@pytest.mark.parametrize(
    "callback", [None, "lambda progress: __import__('time').sleep(0.2)"], ids=["plain", "callback"]
)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("prior", [None, "empirical"])
def test_ctrl_c_returns_the_bounds_reached(threads, prior, callback, tmp_path):
    code = LONG_SOLVE.format(threads=threads, prior=prior, callback=callback)
    out, errors = interrupt_once_running(code, tmp_path)
    assert errors == ""
    first, again = out.splitlines()
    status, *numbers = first.split()
    lower, objective, fits, n_nodes = map(float, numbers)
    assert status == "INTERRUPTED"
    assert lower <= objective
    assert n_nodes > 0
    assert abs(fits) <= 1e-9 * (1.0 + abs(objective))
    assert again == "True"  # and the process can go on


def test_ctrl_c_in_a_callback_ends_the_search_at_once():
    seen = []

    def interrupt_at_the_third(progress):
        seen.append(progress.n_nodes)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)

    result = gopfast.solve(HARD, callback=interrupt_at_the_third)
    assert result.status is Status.INTERRUPTED
    assert len(seen) == 3 and result.n_nodes == seen[-1]


def test_ctrl_c_ends_a_mixed_integer_program(tmp_path):
    # Each one takes a second or more here, and the search little else.
    code = """
        import numpy as np, gopfast
        rng = np.random.default_rng(0)
        X = rng.standard_normal(300) + 4.0 * rng.integers(0, 3, 300)
        problem = gopfast.GaussianMixture(X, 3, covariance="known")
        print("ready", flush=True)
        result = gopfast.solve(problem, relaxation="linear", subproblem="milp", n_threads={threads})
        print(result.status.name, result.lower_bound, result.objective, result.n_milps)
    """
    for threads in (1, 2):
        out, errors = interrupt_once_running(code.format(threads=threads), tmp_path, after=1.5)
        assert errors == ""
        status, lower, objective, n_milps = out.split()
        assert status == "INTERRUPTED"
        assert float(lower) <= float(objective)
        assert int(n_milps) > 0


def test_a_result_survives_pickling():
    for result in (slow(), gopfast.solve(gopfast.GaussianMixture(FLAT, 2, prior="empirical"))):
        copy = pickle.loads(pickle.dumps(result))
        assert copy.status is result.status
        assert copy.to_dict() == result.to_dict()
        assert str(copy) == str(result)
        np.testing.assert_array_equal(copy.solution.responsibilities, result.solution.responsibilities)


def test_a_problem_survives_pickling():
    problem = gopfast.GaussianMixture(FLAT, 2, prior="empirical", noise_variance=[1.0, 2.0])
    copy = pickle.loads(pickle.dumps(problem))
    assert gopfast.solve(copy).objective == gopfast.solve(problem).objective


def solve_in_child(queue, problem, n_threads):
    result = gopfast.solve(problem, n_threads=n_threads)
    queue.put((result.objective, result.lower_bound, result.n_nodes))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("n_threads", [None, 1, 2])
def test_a_forked_child_solves_after_a_threaded_solve_in_the_parent(n_threads):
    problem = gopfast.GaussianMixture(clusters(200, 3, 2.5), 3, covariance="known")
    here = gopfast.solve(problem, n_threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=solve_in_child, args=(queue, problem, n_threads))
    child.start()
    try:
        there = queue.get(timeout=60)
        child.join(60)
        assert child.exitcode == 0
    finally:
        child.kill()
        child.join()
    assert there == (here.objective, here.lower_bound, here.n_nodes)
