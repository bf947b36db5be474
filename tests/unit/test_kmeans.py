"""gopfast.KMeans: its checks, results and certificates, and the known optima of the literature."""

import itertools
import json
import pickle
import signal
import threading
from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast.checker import check

LINE = [0.0, 1.0, 9.0, 10.0, 20.0]


def clusters(n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return 6.0 * rng.integers(3, size=(n, d)) + rng.standard_normal((n, d))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (([[1.0, np.nan]], 1), "X"), ((["a"], 1), "X"), (([], 1), "X"), ((np.zeros((2, 2, 2)), 1), "X"),
        (([1e200], 1), "X"), ((LINE, 0), "n_clusters"),
        ((LINE, 6), "n_clusters"), ((LINE, 10**9), "n_clusters"), ((LINE, 2.0), "n_clusters"),
        ((LINE, True), "n_clusters"),
        ((LINE, 2, [1.0]), "sample_weight"), ((LINE, 2, [-1.0, 1, 1, 1, 1]), "sample_weight"),
        ((LINE, 2, np.zeros(5)), "sample_weight"), (([[1e149], [-1e149]], 1, [1e140, 1.0]), "X and sample_weight"),
    ],
)  # fmt: skip
def test_one_error_names_the_argument(arguments, name):
    with pytest.raises(gopfast.InputError, match=f"^{name}"):
        gopfast.KMeans(*arguments)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"start": [[0.0, 1.0]]}, "start"), ({"relaxation": "linear"}, "relaxation"), ({"epsilon": -1.0}, "epsilon"),
        ({"branching": "bisect"}, "branching"), ({"partition": "paper"}, "partition"), ({"rel_tol": -1}, "rel_tol"),
        ({"subproblem": "milp"}, "subproblem"),
    ],
)  # fmt: skip
def test_options_for_other_problems_are_refused(options, name):
    with pytest.raises(gopfast.InputError, match=name):
        gopfast.solve(gopfast.KMeans(clusters(), 3), **options)


def test_result_says_what_is_proved():
    problem = gopfast.KMeans(clusters(), 4)
    result = gopfast.solve(problem)
    assert result.success and result.status == "OPTIMAL" and result.rel_gap <= 1e-4
    assert result.lower_bound <= result.inertia == result.objective == problem.objective(result.centers)
    np.testing.assert_array_equal(result.labels, problem.assign(result.centers))
    assert (np.diff(result.centers[:, 0]) >= 0).all()
    np.testing.assert_allclose(result.centers, problem.centers_of(result.labels), atol=1e-12)
    record = json.loads(result.to_json())
    assert record["objective"] == result.inertia and record["status"] == "OPTIMAL"
    assert str(result).startswith("OPTIMAL") and "sample" in str(result)
    assert pickle.loads(pickle.dumps(result)).inertia == result.inertia


def test_equal_rows_count_as_weights():
    X = clusters(30)
    many = gopfast.solve(gopfast.KMeans(np.concatenate([X, X, X[:10]]), 3), rel_tol=1e-9)
    weight = np.where(np.arange(30) < 10, 3.0, 2.0)
    weighted = gopfast.solve(gopfast.KMeans(X, 3, sample_weight=weight), rel_tol=1e-9)
    assert many.inertia == pytest.approx(weighted.inertia, rel=1e-12)
    np.testing.assert_allclose(many.centers, weighted.centers)


def test_samples_of_no_weight_are_labelled_only():
    X, w = clusters(30), np.ones(30)
    w[::3] = 0.0
    result = gopfast.solve(gopfast.KMeans(X, 3, sample_weight=w))
    assert result.inertia == pytest.approx(gopfast.solve(gopfast.KMeans(X[w > 0], 3)).inertia)
    assert len(result.labels) == 30


SMALL = [(LINE, 3, 1.0), (LINE, 5, 0.0), ([2.0, 2.0], 1, 0.0), ([2.0, 2.0], 2, 0.0), (LINE, 1, 262.0)]


@pytest.mark.parametrize(("X", "K", "inertia"), SMALL)
def test_small_cases_are_exact(X, K, inertia):
    result = gopfast.solve(gopfast.KMeans(X, K))
    assert result.success and result.inertia == pytest.approx(inertia)
    assert result.lower_bound == pytest.approx(inertia, rel=1e-10) and result.centers.shape == (K, 1)


@pytest.mark.parametrize("weight", [1.0, 1e-200])
def test_squares_below_the_smallest_number_leave_the_bound_0(weight):
    X = clusters(20) * (1e-310 if weight == 1.0 else 1e-100)
    result = gopfast.solve(gopfast.KMeans(X, 3, sample_weight=np.full(20, weight)))
    assert result.lower_bound == 0.0 and result.objective < 1e-300


SMALLEST = 5e-324
EXTREME = [[5e-324, 5e-324, 1e150, 1e150, 1.0], [1e-300, 1e-40, 1.0, 1.0, 1.0], [1e150] * 5, [5e-324] * 5]


@pytest.mark.parametrize("weight", EXTREME)
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("K", range(1, 6))
def test_weights_of_extreme_ratios_leave_a_bound(weight, columns, K):
    X = np.array([[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 9.0]])[:, :columns]
    result = gopfast.solve(gopfast.KMeans(X, K, sample_weight=weight), proof=True)
    known = least_inertia(X, weight, K)
    assert 0.0 <= result.lower_bound <= known
    assert result.objective >= known * (1 - 1e-9) - 10 * SMALLEST  # among the smallest numbers rounding is absolute
    assert np.isfinite(result.centers).all()
    if result.proof is None:
        assert any(note.startswith("no proof was written: ") for note in result.notes)
    else:
        check(result.proof, X, weight, problem=gopfast.KMeans(X, K, sample_weight=weight))
    light = min(weight) < 2.0**-128 * max(weight)
    assert light == any("of the greatest weight count nothing" in note for note in result.notes)
    if max(weight) > 1.0:
        assert result.success or light or result.rounding_margin > 0.0
    if result.success and not light:
        assert result.objective == pytest.approx(float(known), rel=1e-3, abs=10 * SMALLEST)


def least_inertia(X, weight, K):
    """The least inertia by all partitions, in exact arithmetic."""
    X, weight = [[Fraction(x) for x in row] for row in X.tolist()], [Fraction(w) for w in weight]
    least = None
    for labels in itertools.product(range(K), repeat=len(X)):
        total = Fraction(0)
        for k in range(K):
            own = [i for i, label in enumerate(labels) if label == k]
            for column in range(len(X[0])):
                mass = sum(weight[i] for i in own)
                mean = sum(weight[i] * X[i][column] for i in own) / mass if own else 0
                total += sum(weight[i] * (X[i][column] - mean) ** 2 for i in own)
        least = total if least is None else min(least, total)
    return least


def test_optima_of_iris_in_the_literature():
    datasets = pytest.importorskip("sklearn.datasets")
    X = datasets.load_iris().data
    for K, known in {2: 152.347952, 3: 78.851441, 6: 39.039987, 10: 25.834055}.items():
        result = gopfast.solve(gopfast.KMeans(X, K), rel_tol=1e-6)
        assert result.success and result.inertia == pytest.approx(known, abs=1e-6)


# a case in which the best prices leave a gap
PAIRS_NEEDED = gopfast.KMeans(np.random.default_rng(12).random((40, 2)), 5)


def test_a_gap_at_the_root_is_closed_by_pairs():
    result = gopfast.solve(PAIRS_NEEDED, rel_tol=1e-6)
    assert result.success and result.n_nodes > 1


def test_certificates_of_labels_centers_and_estimators():
    cluster = pytest.importorskip("sklearn.cluster")
    X = clusters(80)
    problem = gopfast.KMeans(X, 9)
    best = gopfast.solve(problem)
    for fit in (best, best.solution, best.labels, best.centers):
        certificate = gopfast.certify(problem, fit)
        assert certificate.verdict.name == "PROVED" and certificate.lower_bound <= best.inertia
        assert certificate.objective == pytest.approx(best.inertia)
    model = cluster.KMeans(9, init=X[:9], n_init=1).fit(X)
    certificate = gopfast.certify(problem, model)
    assert certificate.objective == pytest.approx(model.inertia_)
    assert (certificate.verdict.name == "PROVED") == (model.inertia_ <= best.inertia * (1 + 1e-4))
    worse = np.arange(80) % 9
    certificate = gopfast.certify(problem, worse)
    assert certificate.verdict.name == "BEATEN" and certificate.upper_bound < certificate.objective
    assert certificate.objective > 5 * best.inertia  # of the labels themselves, not of their centers
    with pytest.raises(gopfast.InputError, match="fit"):
        gopfast.certify(problem, np.full(80, 9))


@pytest.mark.parametrize("options", [{"time_limit": 0.05}, {"time_limit": 0.0}, {"callback": lambda state: True}])
def test_limits_leave_valid_bounds(options):
    result = gopfast.solve(gopfast.KMeans(np.random.default_rng(0).standard_normal((300, 3)), 12), **options)
    assert not result.success and 0.0 <= result.lower_bound <= result.inertia < np.inf
    assert result.status.name in ("TIME_LIMIT", "INTERRUPTED")


def test_a_node_limit_leaves_the_bound_of_the_root():
    result = gopfast.solve(PAIRS_NEEDED, rel_tol=1e-6, max_nodes=1)
    assert result.status.name == "NODE_LIMIT" and result.n_nodes == 1
    assert 0.9 * result.inertia < result.lower_bound < result.inertia


def test_a_limit_amid_the_prices_leaves_a_bound(monkeypatch):
    from gopfast.clustering.node import Node

    stopped = Node._prove_meanwhile

    def prove_and_stop(node, *arguments):
        stopped(node, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Node, "_prove_meanwhile", prove_and_stop)
    monkeypatch.setattr("gopfast.clustering.node.PROVED_EVERY", 2)
    result = gopfast.solve(gopfast.KMeans(np.random.default_rng(0).random((150, 2)), 8))
    assert result.status.name == "INTERRUPTED" and 0.0 < result.lower_bound < result.inertia


def test_many_samples_are_priced_by_cells():
    rng = np.random.default_rng(0)
    X = np.array([[0.0, 0.0], [3.0, 0.0], [1.5, 2.6]])[rng.integers(3, size=30_000)] + rng.standard_normal((30_000, 2))
    result = gopfast.solve(gopfast.KMeans(X, 3))
    assert result.success and result.n_nodes == 1 and result.rel_gap <= 1e-4


def test_where_cells_leave_a_gap_the_message_says_so(monkeypatch):
    from gopfast.clustering import node, solve

    monkeypatch.setattr(node, "MOST_PRICED", 30)
    monkeypatch.setattr(node, "FEW_PRICED", 30)
    monkeypatch.setattr(solve, "MOST_PRICED", 30)
    result = gopfast.solve(PAIRS_NEEDED, rel_tol=1e-6)
    assert result.status.name == "NUMERICAL" and "cells" in result.message
    assert 0.5 * result.inertia < result.lower_bound < result.inertia


def test_ctrl_c_ends_with_bounds():
    problem = gopfast.KMeans(np.random.default_rng(0).standard_normal((2000, 6)), 30)
    timer = threading.Timer(1.0, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    result = gopfast.solve(problem, time_limit=60.0)
    assert result.status.name == "INTERRUPTED" and 0.0 <= result.lower_bound <= result.inertia < np.inf


def test_starts_and_seeds_change_nothing_that_is_proved():
    problem = gopfast.KMeans(clusters(50), 5)
    first = gopfast.solve(problem, rel_tol=1e-7)
    for options in ({"random_state": 5}, {"start": first.centers[::-1]}, {"n_threads": 2}):
        other = gopfast.solve(problem, rel_tol=1e-7, **options)
        assert other.inertia == pytest.approx(first.inertia, rel=1e-7) and other.success


class TestEstimator:
    def test_agrees_with_scikit_learns_interface(self):
        cluster = pytest.importorskip("sklearn.cluster")
        X = clusters()
        ours = gopfast.GlobalKMeans(4).fit(X)
        theirs = cluster.KMeans(4, init=ours.cluster_centers_, n_init=1).fit(X)
        assert ours.inertia_ == pytest.approx(theirs.inertia_)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-9)
        assert ours.score(X) == pytest.approx(theirs.score(X))
        assert ours.inertia_bound_ <= ours.inertia_ and ours.converged_
        assert list(ours.get_feature_names_out()) == [f"globalkmeans{k}" for k in range(4)]

    def test_warns_where_the_limit_stops_it(self):
        exceptions = pytest.importorskip("sklearn.exceptions")
        X = np.random.default_rng(0).standard_normal((300, 3))
        with pytest.warns(exceptions.ConvergenceWarning, match="time_limit"):
            model = gopfast.GlobalKMeans(12, time_limit=0.01).fit(X)
        assert not model.converged_ and model.inertia_bound_ <= model.inertia_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_checks():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    checks.check_estimator(gopfast.GlobalKMeans(3, time_limit=0.5), on_skip=None)
