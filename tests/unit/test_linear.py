"""The linear relaxed dual: it proves what a brute force finds, in few linear programs, and never more."""

import functools
import itertools

import numpy as np
import pytest
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.mixtures.relaxations.linear import LinearRelaxation
from gopfast.search.search import Search

import gopfast

MINIMAL = np.array([[-10.0], [-10.0], [5.0], [25.0]])
EMPIRICAL = (1e-6, 1e3)
OPTIMAL, NODE_LIMIT = 1, 3
PARTITIONS = pytest.mark.parametrize("paper_partition", [False, True], ids=["joint", "paper"])
BRANCHINGS = pytest.mark.parametrize(
    "orthant, milp", [(False, False), (True, False), (True, True)], ids=["bisect", "orthant", "milp"]
)


def mixture(X, K, prior=None, weights=None):
    """The core's mixture with unit noise."""
    weights = np.ones(len(X)) if weights is None else weights
    return GaussianFamily(Samples(X, weights, np.ones(X.shape[1])), K, prior)


def search(data, epsilon=0.01, relaxation=LinearRelaxation, options=(), **arguments):
    """A finished search and its summary."""
    run = Search(relaxation(data, **dict(options)), MixturePrimal(data), epsilon, **arguments)
    run.run()
    return run, run.summary()[0]


def em(X, w, means, weights, prior, n_iterations):
    """EM in NumPy on the user's coordinates, until it moves no more: (objective, weights, means)."""
    K, d = means.shape
    for _ in range(n_iterations):
        log_r = np.log(np.maximum(weights, 1e-300)) - ((X[:, None] - means) ** 2).sum(axis=2) / 2
        most = log_r.max(axis=1)
        log_p = most + np.log(np.exp(log_r - most[:, None]).sum(axis=1))
        half = (means**2).sum() / 2
        e = 0.0 if prior is None else np.clip(K * d / 2 / half if half > 0 else np.inf, *prior)
        objective = -(w @ log_p) + (0.0 if prior is None else e * half - K * d / 2 * np.log(e))
        answer = objective, weights, means
        tau = w[:, None] * np.exp(log_r - log_p[:, None])
        means = tau.T @ X / np.maximum(tau.sum(axis=0) + e, 1e-300)[:, None]
        weights = tau.sum(axis=0) / w.sum()
        moved = max(np.abs(means - answer[2]).max() / (1.0 + np.abs(means).max()), np.abs(weights - answer[1]).max())
        if moved < 1e-14:
            break
    return answer


def local_optima(X, w, K, prior, n_grid=12):
    """Distinct EM limits from a grid of means, best first: an independent brute force."""
    low, high = X.min(axis=0), X.max(axis=0)
    if prior is not None:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    axes = np.meshgrid(*np.linspace(low, high, n_grid).T)
    points = np.stack([axis.ravel() for axis in axes], axis=1)
    runs = [em(X, w, points[list(chosen)], np.arange(1, K + 1) / (K * (K + 1) / 2), prior, 150)
            for chosen in itertools.combinations(range(len(points)), K)]
    runs.sort(key=lambda run: run[0])
    distinct = []
    for objective, weights, means in runs:
        if not distinct or objective > distinct[-1][0] + 1e-3:
            distinct.append(em(X, w, means, weights, prior, 3000))
        if len(distinct) == 3:
            break
    return distinct


@functools.cache
def random_case(seed):
    """A small problem (X, w, prior) and its local optima."""
    rng = np.random.default_rng(seed)
    n = rng.integers(3, 7)
    X = rng.normal(size=(n, 1)) * rng.choice([1, 4, 15]) + rng.choice([0, 5])
    w = np.ones(n) if seed % 3 == 0 else rng.uniform(0.2, 3, n)
    prior = [None, EMPIRICAL, (0.01, 0.01), (1e-3, 1e1)][seed % 4]
    return X, w, prior, local_optima(X, w, 2, prior)


def known_point(data, weights, means, paper_partition):
    """A solution in the core's coordinates, components in the order that the search keeps."""
    core = data.data.from_user(means)
    order = np.argsort(core[:, 0])
    return np.concatenate([core[order].ravel(), weights[order] if paper_partition else []])


def just_above(value):
    """What brute force cannot tell from the optimum."""
    return value + 1e-8 * (1 + abs(value))


@pytest.mark.parametrize("epsilon", [1, 0.1, 0.01, 0.0001])
@PARTITIONS
@BRANCHINGS
@pytest.mark.parametrize("envelope", [False, True])
def test_minimal_data_set_is_proved_in_few_linear_programs(epsilon, paper_partition, orthant, milp, envelope):
    options = dict(paper_partition=paper_partition, envelope=envelope, milp=milp)
    run, out = search(mixture(MINIMAL, 2, EMPIRICAL), epsilon, options=options, orthant=orthant)
    assert run.reason == OPTIMAL
    assert out["objective"] == pytest.approx(84.03016, abs=1e-5)
    assert out["objective"] - epsilon <= out["lower_bound"] <= just_above(84.0301642)
    assert out["n_lps"] <= (150 if milp else 500 if paper_partition and orthant else 100)
    assert out["n_subproblems"] == out["n_nodes"]
    assert (0 < out["n_milps"] < out["n_nodes"]) if milp else out["n_milps"] == 0


@PARTITIONS
def test_minimal_data_set_without_prior(paper_partition):
    run, out = search(mixture(MINIMAL, 2), options=dict(paper_partition=paper_partition))
    assert run.reason == OPTIMAL
    assert out["objective"] == pytest.approx(77.24934, abs=1e-5)


@PARTITIONS
@BRANCHINGS
@pytest.mark.parametrize("envelope", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_at_every_optimum_of_a_brute_force(seed, paper_partition, orthant, milp, envelope):
    X, w, prior, optima = random_case(seed)
    options = dict(paper_partition=paper_partition, envelope=envelope, milp=milp)
    best = optima[0][0]
    for objective, weights, means in optima:
        data = mixture(X, 2, prior, w)
        known = known_point(data, weights, means, paper_partition), just_above(objective)
        run, out = search(data, options=options, orthant=orthant, known=known, max_nodes=100 if milp else 600)
        assert run.reason in (OPTIMAL, NODE_LIMIT)
        assert run.n_audit_failures == 0
        assert out["lower_bound"] <= just_above(best)
        assert just_above(out["objective"]) >= best
        assert (np.diff(out["history"][:, 2]) >= 0).all()
        if run.reason == OPTIMAL:
            assert out["objective"] <= best + 0.01


@PARTITIONS
@pytest.mark.parametrize("envelope", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_no_box_around_an_optimum_has_a_bound_above_it(seed, paper_partition, envelope):
    X, w, prior, optima = random_case(seed)
    rng = np.random.default_rng(seed)
    data = mixture(X, 2, prior, w)
    relaxed = LinearRelaxation(data, paper_partition=paper_partition, envelope=envelope)
    for objective, weights, means in optima:
        point = known_point(data, weights, means, paper_partition)
        for width in 10.0 ** rng.uniform(-4, 1, 30):
            # On a face, where Lagrange cuts and qualifying constraints are tight, or anywhere inside.
            part = rng.choice([0.0, 0.01, 1.0, rng.random()], len(point))
            low = point - part * width * rng.random(len(point)) - 1e-9
            high = point + (1 - part) * width * rng.random(len(point)) + 1e-9
            if paper_partition:
                low[2:], high[2:] = np.clip(low[2:], 0, 1), np.clip(high[2:], 0, 1)
            lower, split, branch = relaxed.bound_box(low, high, objective + 1)
            assert lower <= just_above(objective)
            assert (low <= split).all() and (split <= high).all()
            assert low[branch] < high[branch]


@PARTITIONS
@pytest.mark.parametrize("envelope", [False, True])
def test_a_box_shrunk_to_the_optimum_has_its_value_for_bound(paper_partition, envelope):
    X, w, prior, optima = random_case(1)
    objective, weights, means = optima[0]
    data = mixture(X, 2, prior, w)
    point = known_point(data, weights, means, paper_partition)
    relaxed = LinearRelaxation(data, paper_partition=paper_partition, envelope=envelope)
    lower = relaxed.bound_box(point - 1e-5, point + 1e-5, objective + 1e-4)[0]
    assert lower == pytest.approx(objective, abs=1e-3)


def test_a_box_that_holds_no_solution_is_proved_empty():
    relaxed = LinearRelaxation(mixture(MINIMAL, 2))
    # The core's data lie in [-17.5, 17.5]; two means above 10 cannot be those of all four samples.
    assert relaxed.bound_box([11.0, 11.0], [17.0, 17.0], 1e6)[0] == np.inf


@PARTITIONS
@pytest.mark.parametrize("prior", [None, EMPIRICAL])
@pytest.mark.parametrize("K", [1, 2, 3])
def test_two_coordinates_and_weights_agree_with_the_entropic_relaxed_dual(K, prior, paper_partition):
    X = np.array([[0, 0], [0.5, 0.3], [6, 5], [6.5, 5.2], [-3, 7]])
    w = np.array([1.0, 2.0, 0.5, 1.0, 0.7])
    run, out = search(mixture(X, K, prior, w), options=dict(paper_partition=paper_partition))
    reference = search(mixture(X, K, prior, w), relaxation=EntropicRelaxation)[1]
    assert run.reason == OPTIMAL
    assert out["lower_bound"] <= just_above(reference["objective"])
    assert reference["lower_bound"] <= just_above(out["objective"])
    assert out["objective"] == pytest.approx(reference["objective"], abs=0.01)


def test_integer_weights_count_as_copies():
    copies = search(mixture(np.repeat(MINIMAL, [1, 2, 1, 3], axis=0), 2, EMPIRICAL))[1]
    weighted = search(mixture(MINIMAL, 2, EMPIRICAL, np.array([1.0, 2.0, 1.0, 3.0])))[1]
    assert weighted["objective"] == pytest.approx(copies["objective"], abs=1e-6)
    assert weighted["lower_bound"] == pytest.approx(copies["lower_bound"], abs=0.01)


@PARTITIONS
@BRANCHINGS
def test_result_does_not_depend_on_the_number_of_threads(paper_partition, orthant, milp):
    X = np.random.default_rng(3).normal(size=(6, 1)) * 3
    options = dict(paper_partition=paper_partition, batch_size=8, milp=milp)
    one, *others = [search(mixture(X, 2, EMPIRICAL), options=options, orthant=orthant, n_threads=n_threads,
                           max_nodes=300)[1] for n_threads in (1, 2, 4)]
    for other in others:
        for name in ("objective", "lower_bound", "n_nodes", "n_lps", "n_milps"):
            assert one[name] == other[name], name
        np.testing.assert_array_equal(one["history"][:, 1:], other["history"][:, 1:])


@PARTITIONS
def test_the_envelope_only_helps(paper_partition):
    counts = [search(mixture(MINIMAL, 2, EMPIRICAL),
                     options=dict(paper_partition=paper_partition, envelope=envelope))[1]["n_lps"]
              for envelope in (False, True)]
    assert counts[1] < counts[0]


@pytest.mark.parametrize("few", [{"max_rounds": 1}, {"max_cuts": 1}, {"patience": 0.0}, {"batch_size": 1}])
def test_effort_options_change_counts_and_not_the_answer(few):
    run, out = search(mixture(MINIMAL, 2, EMPIRICAL), options=few)
    assert run.reason == OPTIMAL
    assert out["objective"] == pytest.approx(84.03016, abs=1e-5)


@PARTITIONS
@pytest.mark.parametrize("X", [np.ones((4, 1)), np.array([[3.0]]), np.array([[3.0], [3.0], [4.0]]),
                               MINIMAL * 1e-6, MINIMAL * 1e3 + 1e6],
                         ids=["equal", "one", "close", "tiny", "far"])
def test_extreme_data_are_proved_or_left_open_with_a_valid_bound(X, paper_partition):
    K = min(2, len(X))
    run, out = search(mixture(X, K), options=dict(paper_partition=paper_partition), max_nodes=2000)
    assert run.reason == OPTIMAL
    assert out["lower_bound"] <= local_optima(X, np.ones(len(X)), K, None)[0][0] * (1 + 1e-9) + 1e-9


@PARTITIONS
@BRANCHINGS
def test_a_time_limit_leaves_a_valid_bound(paper_partition, orthant, milp):
    X = np.random.default_rng(5).normal(size=(40, 1)) * 2
    options = dict(paper_partition=paper_partition, milp=milp)
    run, out = search(mixture(X, 3), 1e-6, options=options, orthant=orthant, time_limit=0.3)
    assert run.reason == 2
    assert out["lower_bound"] <= out["objective"]
    assert out["time"] < 0.6


@pytest.mark.parametrize("X", [[0.0, 1.0, 9.0], [1e6, 1e6 + 1.0, 1e6 + 3.0]])
def test_what_rounding_leaves_open_is_told(X):
    """A node that cannot be split any more lacks what rounding took, also where programs do not say how much."""
    problem = gopfast.GaussianMixture(X, 1, covariance="known", noise_variance=1.0)
    result = gopfast.solve(problem, 1e-14, relaxation="linear", log=False, n_threads=1, max_nodes=3000)
    assert result.status in ("NUMERICAL", "NODE_LIMIT")
    assert 0.0 < result.rounding_margin <= result.gap
