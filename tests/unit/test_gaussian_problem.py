import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from support import datasets

import gopfast
from gopfast.errors import InputError
from gopfast.models import GaussianMixture


def em(problem, weights, means, n_steps=300):
    """Tiny (variational) EM, written apart from gopfast.mixtures.local."""
    prior_variance = problem.best_prior_variance(means)
    for _ in range(n_steps):
        tau = problem.responsibilities(weights, means) * problem.sample_weight[:, None]
        size = tau.sum(axis=0)
        weights = size / size.sum()
        precision = 0.0 if prior_variance is None else 1.0 / prior_variance
        # M-step of sum_i tau_ik (x_i - m_k)^2 / (2 v) + m_k^2 / (2 Gamma).
        means = (tau.T @ problem.X) / (size[:, None] + precision * problem.noise_variance)
        prior_variance = problem.best_prior_variance(means)
    return weights, means, prior_variance


# What is stored


@pytest.mark.parametrize(
    "X",
    [
        [-10, -10, 5, 25],
        (-10.0, -10.0, 5.0, 25.0),
        np.array([-10, -10, 5, 25], dtype=np.int8),
        np.array([[-10, -10, 5, 25]], dtype=np.float32).T,
        np.array([[-10, 0], [-10, 0], [5, 0], [25, 0]], order="F")[:, :1],
        np.ma.masked_array([-10, -10, 5, 25], mask=False),
    ],
)
def test_data_of_every_kind_become_one_read_only_array(X):
    problem = GaussianMixture(X, 2, covariance="known")
    np.testing.assert_array_equal(problem.X, [[-10], [-10], [5], [25]])
    assert problem.X.dtype == np.float64
    assert problem.X.flags.c_contiguous
    assert not problem.X.flags.writeable


def test_problem_keeps_its_own_copy():
    X, weight, variance = np.ones((3, 2)), np.ones(3), np.ones(2)
    problem = GaussianMixture(X, 1, sample_weight=weight, noise_variance=variance, covariance="known")
    for array in (X, weight, variance):
        array[:] = 7.0
    for array in (problem.X, problem.sample_weight, problem.noise_variance):
        assert (array == 1.0).all()
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2.0


def test_problem_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        GaussianMixture([1.0], 1, covariance="known").prior = "empirical"


def test_attributes():
    problem = GaussianMixture(
        np.zeros((5, 2)), np.int64(3), prior=2, noise_variance=(1, 4), sample_weight=[1, 2, 0, 0, 0.5]
    )
    assert (problem.n_samples, problem.n_features, problem.n_components) == (5, 2, 3)
    assert (problem.prior, problem.posterior, problem.prior_variance_bounds) == (2.0, "point", (1e-3, 1e6))
    assert problem.total_weight == 3.5
    np.testing.assert_array_equal(problem.noise_variance, [1.0, 4.0])
    assert repr(problem) == (
        "GaussianMixture(n_samples=5, n_features=2, n_components=3, prior=2.0, posterior='point')"
    )


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_copies_are_equal_and_read_only(duplicate):
    problem = GaussianMixture([1.0, 2.0], 2, prior="empirical", noise_variance=3)
    twin = duplicate(problem)
    assert repr(twin) == repr(problem)
    np.testing.assert_array_equal(twin.X, problem.X)
    assert not twin.X.flags.writeable
    assert not twin.noise_variance.flags.writeable


def test_equal_prior_variance_bounds_are_allowed():
    assert GaussianMixture([1.0], 1, prior_variance_bounds=[2, 2], covariance="known").prior_variance_bounds == (
        2.0,
        2.0,
    )


def test_data_frames_are_taken():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, 0.25, 0.0]})
    np.testing.assert_array_equal(GaussianMixture(frame, 2, covariance="known").X, frame.to_numpy())


# Bad input

GOOD = {"X": [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], "n_components": 2}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("X", bad)
            for bad in (
                [], np.empty((0, 2)), np.empty((3, 0)), np.zeros((2, 2, 2)), 3.0, [1.0, math.nan],
                [1.0, math.inf], [[1, 2], [3]], ["a", "b"], "data", None, [1.0, None], [1j, 2j],
                [True, False], {"a": 1}, object(),
                np.array(["2020-01-01"], dtype="datetime64[D]"), np.ma.masked_array([1.0, 2.0], mask=[0, 1]),
                np.array([1.0, 2.0], dtype=object), [1e200, 2e200],
            )
        ),
        *(("n_components", bad) for bad in (0, -1, 4, 2.0, True, "2", None, math.nan, [2])),
        *(("prior", bad) for bad in ("Empirical", "none", 0.0, -1, math.inf, math.nan, True, [1.0], 1j)),
        *(("posterior", bad) for bad in ("normal", None, 1)),
        *(
            ("noise_variance", bad)
            for bad in (0.0, -1, math.nan, math.inf, "1", True, [1.0], [1, 1, 1], [1, 0], [[1, 1]])
        ),
        *(
            ("sample_weight", bad)
            for bad in ([1, 1], [1, 1, -1], [0, 0, 0], [1, 1, math.nan], [1, 1, math.inf], "abc", 1.0,
                        [[1], [1], [1]], ["1", "1", "1"], [True, True, False])
        ),
        *(
            ("prior_variance_bounds", bad)
            for bad in ((2, 1), (0, 1), (-1, 1), (1, math.inf), (math.nan, 1), (1,), (1, 2, 3), 1.0, "ab")
        ),
    ],
)  # fmt: skip
def test_bad_value_is_named(name, value):
    arguments = {**GOOD, name: value}
    with pytest.raises(InputError, match=rf"^{name}(\[\d\])? (must|is too large)"):
        GaussianMixture(**arguments)


@pytest.mark.parametrize("covariance", ["spherical", "diag", "tied", "tied_spherical", "full"])
@pytest.mark.parametrize(
    ("name", "value"), [("noise_variance", 1.0), ("prior", 2.0), ("prior", "empirical"), ("posterior", "gaussian")]
)
def test_arguments_of_the_known_variance_model_are_refused_with_free_variances(covariance, name, value):
    with pytest.raises(InputError, match=f"^{name} must be .* with covariance='{covariance}': "):
        GaussianMixture(**GOOD, covariance=covariance, **{name: value})


def test_gaussian_posterior_needs_a_prior():
    with pytest.raises(InputError, match="^prior must be given with posterior='gaussian'"):
        GaussianMixture(**GOOD, posterior="gaussian")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("weights", bad) for bad in ([1.0], [0.5, 0.6], [1.5, -0.5], [math.nan, 1.0], "ab")),
        *(("means", bad) for bad in ([1, 2], np.zeros((3, 2)), np.zeros((2, 1)), [[math.inf, 0], [0, 0]])),
        *(("prior_variance", bad) for bad in (0.0, -1.0, math.nan, "1", 5.0)),
        *(("responsibilities", bad) for bad in ([[0.5, 0.5]] * 2, [[0.4, 0.4]] * 3, [[1.5, -0.5]] * 3)),
    ],
)
def test_bad_point_is_named(name, value):
    point = {"weights": [0.5, 0.5], "means": np.zeros((2, 2)), name: value}
    with pytest.raises(InputError, match=f"^{name} must"):
        GaussianMixture(**GOOD, covariance="known").objective(**point)


def test_fixed_prior_variance_may_be_repeated_but_not_changed():
    problem = GaussianMixture(**GOOD, prior=3.0)
    point = [0.5, 0.5], np.ones((2, 2))
    assert problem.objective(*point, prior_variance=1 / (1 / 3.0)) == problem.objective(*point)
    with pytest.raises(InputError, match="^prior_variance must"):
        problem.objective(*point, prior_variance=2.0)


# Values


@pytest.mark.parametrize("noise_variance", [1.0, 0.3, [0.5, 9.0]])
def test_elbo_without_prior_is_the_log_likelihood_of_scikit_learn(noise_variance):
    mixture = pytest.importorskip("sklearn.mixture")
    rng = np.random.default_rng(0)
    X, means, weights = rng.normal(size=(30, 2)), rng.normal(size=(3, 2)), rng.dirichlet(np.ones(3))
    problem = GaussianMixture(X, 3, noise_variance=noise_variance, covariance="known")
    reference = mixture.GaussianMixture(3, covariance_type="diag")
    reference.weights_, reference.means_ = weights, means
    reference.covariances_ = np.tile(problem.noise_variance, (3, 1))
    reference.precisions_cholesky_ = 1.0 / np.sqrt(reference.covariances_)
    log_likelihood = pytest.approx(30 * reference.score(X), rel=1e-12)
    assert problem.elbo(weights, means) == log_likelihood
    assert problem.elbo_constant - problem.objective(weights, means) == log_likelihood
    tau = problem.responsibilities(weights, means)
    np.testing.assert_allclose(tau, reference.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("prior", ["empirical", 2.5])
def test_prior_adds_the_log_density_of_the_means(prior):
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    X, means, weights = rng.normal(size=(9, 2)), rng.normal(size=(3, 2)), rng.dirichlet(np.ones(3))
    with_prior, without = (
        GaussianMixture(X, 3, prior=prior, covariance="known"),
        GaussianMixture(X, 3, covariance="known"),
    )
    log_density = stats.norm(scale=math.sqrt(2.5)).logpdf(means).sum()
    elbo = with_prior.elbo(weights, means, prior_variance=2.5)
    assert elbo == pytest.approx(without.elbo(weights, means) + log_density, rel=1e-12)


@pytest.mark.parametrize(
    ("prior", "start", "expected"),
    [
        (None, [-5.0, 25.0], 77.24934),  # {-10, -10, 5} and {25}: the global optimum
        ("empirical", [-5.0, 25.0], 84.03016),
        ("empirical", [-10.0, 15.0], 108.86),  # {-10, -10} and {5, 25}: the usual local optimum
    ],
)
def test_references_of_the_paper_on_the_minimal_data_set(prior, start, expected):
    problem = GaussianMixture(datasets.minimal(), 2, prior=prior, covariance="known")
    point = em(problem, np.array([0.5, 0.5]), np.array(start)[:, None])
    tolerance = 0.6 * 10.0 ** -len(str(expected).split(".")[1])
    assert problem.objective(*point) == pytest.approx(expected, abs=tolerance)
    assert problem.elbo_constant - problem.elbo(*point) == pytest.approx(expected, abs=tolerance)


def test_optimal_responsibilities_minimise_the_objective():
    rng = np.random.default_rng(2)
    problem = GaussianMixture(
        rng.normal(size=(8, 2)), 3, sample_weight=rng.random(8), noise_variance=[1, 2], covariance="known"
    )
    weights, means = rng.dirichlet(np.ones(3)), rng.normal(size=(3, 2))
    best = problem.objective(weights, means)
    tau = problem.responsibilities(weights, means)
    assert problem.objective(weights, means, responsibilities=tau) == pytest.approx(best, rel=1e-12)
    for _ in range(20):
        other = rng.dirichlet(np.ones(3), size=8)
        assert problem.objective(weights, means, responsibilities=other) > best


def test_sample_weights_act_as_repetitions():
    repeated = GaussianMixture([1.0, 1.0, 1.0, 4.0], 2, covariance="known")
    weighted = GaussianMixture([1.0, 4.0, 9.0], 2, sample_weight=[3, 1, 0], covariance="known")
    point = [0.25, 0.75], [0.5, 3.0]
    assert weighted.objective(*point) == pytest.approx(repeated.objective(*point), rel=1e-14)
    assert weighted.elbo_constant == pytest.approx(repeated.elbo_constant, rel=1e-14)


@pytest.mark.filterwarnings("error")
def test_component_without_weight_changes_nothing():
    X = [0.0, 1.0, 5.0]
    one, two = GaussianMixture(X, 1, covariance="known"), GaussianMixture(X, 2, covariance="known")
    expected = pytest.approx(one.objective([1.0], [2.0]), rel=1e-14)
    assert two.objective([1.0, 0.0], [2.0, 100.0]) == expected
    tau = two.responsibilities([1.0, 0.0], [2.0, 2.0])
    np.testing.assert_array_equal(tau, [[1.0, 0.0]] * 3)
    assert two.objective([1.0, 0.0], [2.0, 2.0], responsibilities=tau) == expected
    assert two.objective([1.0, 0.0], [2.0, 2.0], responsibilities=[[0.5, 0.5]] * 3) == math.inf


@pytest.mark.filterwarnings("error")
def test_far_components_do_not_underflow():
    problem = GaussianMixture([0.0], 1, covariance="known")
    assert problem.objective([1.0], [1e4]) == pytest.approx(0.5e8)
    np.testing.assert_array_equal(problem.responsibilities([1.0], [1e4]), [[1.0]])


def test_data_far_from_zero_lose_no_digits():
    X, means = np.array([0.0, 1.0, 2.5]), np.array([0.5, 2.0])
    near, far = GaussianMixture(X, 2, covariance="known"), GaussianMixture(X + 2.0**20, 2, covariance="known")
    assert far.objective([0.5, 0.5], means + 2.0**20) == near.objective([0.5, 0.5], means)


def test_best_prior_variance_minimises_the_objective_within_its_bounds():
    problem = GaussianMixture([0.0, 1.0], 2, prior="empirical", prior_variance_bounds=(0.5, 10.0))
    weights, means = [0.5, 0.5], [[1.0], [3.0]]
    assert problem.best_prior_variance(means) == pytest.approx(5.0)
    best = problem.objective(weights, means)
    for prior_variance in (0.5, 4.9, 5.1, 10.0):
        assert problem.objective(weights, means, prior_variance) > best
    assert problem.best_prior_variance([[0.0], [0.0]]) == 0.5
    assert problem.best_prior_variance([[90.0], [0.0]]) == 10.0


def test_names_may_come_from_an_array():
    kind = np.array(["diag", "spherical"])[0]
    result = gopfast.solve(gopfast.GaussianMixture([0.0, 1.0, 5.0, 6.0], 2, covariance=kind, variance_floor=0.2))
    assert result.success


@pytest.mark.parametrize(
    ("unit", "noted"), [(1.0, "the known variance is 1, but the samples'"), (1e-3, None), (1e-9, "the whole column")]
)
def test_a_known_variance_of_another_unit_is_noted(unit, noted):
    X = gopfast.datasets.load("galaxies") * unit
    for prior in None, 1e8:
        result = gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="known", prior=prior), max_nodes=1)
        assert [note for note in result.notes if "the known variance" in note] == [
            note for note in result.notes if noted and noted in note
        ]
        assert bool(noted) == any("give noise_variance" in note for note in result.notes)


def test_who_names_no_variance_gets_them_estimated():
    """One convention for all that choose a model: prior, posterior and known variance name the source's."""
    from gopfast.mixtures.problems.covariance import default_kind

    assert default_kind().name == default_kind(posterior="point").name == "diag"
    for stated in {"prior": 4.0}, {"prior": "empirical"}, {"posterior": "gaussian"}, {"noise_variance": 1.0}:
        assert default_kind(**stated).name == "known"
    X = [1.0, 2.0, 4.0, 9.0]
    assert GaussianMixture(X, 2).covariance == GaussianMixture(X, 2, variance_floor=0.1).covariance == "diag"
    assert GaussianMixture(X, 2, prior=4.0).covariance == "known"
    assert GaussianMixture(X, 2, noise_variance=1.0).covariance == "known"
    assert GaussianMixture(X, 2, prior=4.0, posterior="gaussian").covariance == "known"


def test_no_note_asks_for_the_responsibilities_of_data_in_a_sensible_unit():
    X = np.concatenate([np.zeros(20), np.full(20, 5.0)]) + np.linspace(-1.0, 1.0, 40)
    result = gopfast.solve(GaussianMixture(X, 2, covariance="known"))
    assert not result.notes
    assert "responsibilities" not in vars(result.solution)
    result = gopfast.solve(GaussianMixture(1000.0 * X, 2, covariance="known"))
    assert any("squared units of X" in note for note in result.notes)


def test_missing_entries_and_labels_are_told_where_to_go():
    with pytest.raises(InputError, match="1 NaN entries; gopfast.MixedMixture"):
        GaussianMixture([[0.0], [math.nan]], 1)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"age": [1.0, 5.0], "job": ["a", "b"]})
    with pytest.raises(InputError, match="in column 'job'$"):
        GaussianMixture(table, 1)
    counts = pandas.DataFrame({"visits": pandas.array([1, 7], dtype="Int64")})
    assert GaussianMixture(counts, 1).X.tolist() == [[1.0], [7.0]]
