"""Gaussian mixtures whose variances are estimated above a floor."""

import math

import numpy as np
import pytest
from support import datasets
from support.problems import COVARIANCES
from support.reference_em import em

import gopfast
from gopfast.errors import InputError
from gopfast.models import GaussianMixture

X = np.random.default_rng(0).normal(size=(20, 2)) * [1.0, 3.0] + 5.0 * (np.arange(20)[:, None] % 2)
every_covariance = pytest.mark.parametrize("covariance", COVARIANCES)


@every_covariance
@pytest.mark.parametrize("d", [1, 2])
def test_score_is_that_of_scikit_learn(covariance, d):
    mixture = pytest.importorskip("sklearn.mixture")
    kind = covariance.split("_")[0]
    fit = mixture.GaussianMixture(3, covariance_type=kind, random_state=0, reg_covar=0.1).fit(X[:, :d])
    if covariance in ("tied_diag", "tied_spherical"):
        # scikit-learn has neither.
        variances = np.diagonal(fit.covariances_) if covariance == "tied_diag" else np.full(d, fit.covariances_[0, 0])
        fit.covariances_, fit.precisions_cholesky_ = np.diag(variances), np.diag(1.0 / np.sqrt(variances))
    problem = GaussianMixture(X[:, :d], 3, covariance=covariance, variance_floor=0.05)
    state = {"weights": fit.weights_, "means": fit.means_, "covariances": fit.covariances_}
    assert problem.elbo(**state) == pytest.approx(20 * fit.score(X[:, :d]), rel=1e-12)
    assert problem.objective(**state) == -problem.elbo(**state)
    np.testing.assert_allclose(problem.responsibilities(**state), fit.predict_proba(X[:, :d]), atol=1e-12)
    parameters = fit._n_parameters()
    shared = {"tied_diag": d, "tied_spherical": 1}.get(covariance, d * (d + 1) // 2)
    assert problem.n_parameters == parameters - d * (d + 1) // 2 * (kind == "tied") + shared * (kind == "tied")


def test_in_one_dimension_all_kinds_of_a_variance_per_component_coincide():
    tau = np.random.default_rng(1).dirichlet(np.ones(3), 20)
    kinds = [GaussianMixture(X[:, 0], 3, covariance=kind) for kind in ("spherical", "diag", "full")]
    ends = [em(problem, tau, max_iter=300) for problem in kinds]
    for problem, (state, trace) in zip(kinds, ends, strict=True):
        assert np.ravel(problem.variance_floor) == pytest.approx(kinds[0].variance_floor, rel=1e-14)
        assert problem.n_parameters == kinds[0].n_parameters == 8
        np.testing.assert_allclose(np.ravel(state["covariances"]), ends[0][0]["covariances"], rtol=1e-9)
        np.testing.assert_allclose(trace, ends[0][1], rtol=1e-12)


@every_covariance
@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("given", [True, False])
def test_scaling_the_data_moves_the_log_likelihood_by_the_jacobian(covariance, factor, given):
    floor = {"variance_floor": 0.04} if given else {}
    scaled_floor = {"variance_floor": 0.04 * factor**2} if given else {}
    plain = GaussianMixture(X, 2, covariance=covariance, **floor)
    scaled = GaussianMixture(factor * X, 2, covariance=covariance, **scaled_floor)
    tau = np.random.default_rng(2).dirichlet(np.ones(2), 20)
    traces = [em(problem, tau, tol=0.0, max_iter=60)[1] for problem in (plain, scaled)]
    steps = min(map(len, traces))
    assert steps > 5
    jacobian = plain.total_weight * 2 * math.log(factor)
    np.testing.assert_allclose(traces[1][:steps] - traces[0][:steps], jacobian, rtol=1e-9)


@every_covariance
def test_a_component_on_one_point_sits_on_the_floor(covariance):
    data = np.array([[0.0, 0.0], [0.0, 0.0], [5.0, 9.0], [6.0, 7.0]])
    problem = GaussianMixture(data, 2, covariance=covariance, variance_floor=0.25)
    tau = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    found = problem.maximize(tau)["covariances"]
    assert np.asarray(found).shape == {"spherical": (2,), "full": (2, 2, 2)}.get(covariance, (2, 2))
    expected = {
        "spherical": 0.25, "diag": [0.25, 0.25], "full": 0.25 * np.eye(2),
        # 0.5 and 2 over 4 samples.
        "tied_diag": [0.25, 0.0],
        # 2.5 over 4 samples and 2 columns.
        "tied_spherical": [0.3125, 0.0],
        # The eigenvalue 0 of [[0.125, -0.25], [-0.25, 0.5]] raised to 0.25, along (2, 1) / sqrt(5).
        "tied": [0.325, -0.15],
    }[covariance]  # fmt: skip
    np.testing.assert_allclose(found[0], expected)


@every_covariance
def test_no_variance_falls_below_the_floor(covariance):
    problem = GaussianMixture(X, 2, covariance=covariance, variance_floor=100.0)
    found = problem.maximize(np.full((20, 2), 0.5))["covariances"]
    identity = 1.0 if covariance in ("spherical", "diag") else np.eye(2)
    np.testing.assert_allclose(found, 100.0 * np.broadcast_to(identity, found.shape), rtol=1e-12, atol=1e-12)


def test_full_covariances_at_the_floor_solve_the_constrained_problem():
    """A scatter that is small in one direction only, with a floor that is not isotropic."""
    rng = np.random.default_rng(3)
    line = rng.normal(size=(30, 1)) @ [[1.0, 2.0]] + 0.01 * rng.normal(size=(30, 2))
    floor = np.array([0.02, 0.05])
    problem = GaussianMixture(line, 1, covariance="full", variance_floor=floor)
    C = problem.maximize(np.ones((30, 1)))["covariances"][0]
    M = np.cov(line.T, bias=True)
    # Stationary and complementary: gradient C^-1 - C^-1 M C^-1 is PSD and orthogonal to C - floor.
    gradient = np.linalg.inv(C) @ (C - M) @ np.linalg.inv(C)
    slack = C - np.diag(floor)
    assert np.linalg.eigvalsh(gradient).min() > -1e-8
    assert np.linalg.eigvalsh(slack).min() > -1e-12
    assert np.linalg.eigvalsh(gradient).max() > 1.0
    assert abs(np.trace(gradient @ slack)) < 1e-8


def test_default_floor_follows_the_spread_of_the_columns():
    weight = np.arange(20.0)
    variances = np.cov(X.T, aweights=weight, bias=True).diagonal()
    for covariance in ("diag", "tied", "tied_diag", "full"):
        problem = GaussianMixture(X, 2, covariance=covariance, sample_weight=weight)
        np.testing.assert_allclose(problem.variance_floor, 0.0025 * variances, rtol=1e-12)
    for covariance in ("spherical", "tied_spherical"):
        problem = GaussianMixture(X, 2, covariance=covariance, sample_weight=weight)
        assert problem.variance_floor == pytest.approx(0.0025 * variances.min(), rel=1e-12)
    assert GaussianMixture(X, 2, covariance="known").variance_floor is None
    assert GaussianMixture(X, 2, covariance="diag").noise_variance is None


@every_covariance
@pytest.mark.parametrize(
    "bad", [0.0, -1.0, math.nan, math.inf, "1", True, [1.0], [1.0, 1.0, 1.0], [[1.0, 1.0]], [1.0, 0.0]]
)
def test_bad_floor_is_named(covariance, bad):
    with pytest.raises(InputError, match="^variance_floor must"):
        GaussianMixture(X, 2, covariance=covariance, variance_floor=bad)


@pytest.mark.parametrize("covariance", ["spherical", "tied_spherical"])
def test_a_floor_for_each_column_is_refused_where_columns_share_a_variance(covariance):
    with pytest.raises(InputError, match="^variance_floor must be a positive finite number"):
        GaussianMixture(X, 2, covariance=covariance, variance_floor=[1.0, 1.0])


@pytest.mark.parametrize("bad", ["Diag", "none", 1, True, ["diag"]])
def test_bad_covariance_is_named(bad):
    with pytest.raises(InputError, match="^covariance must be one of 'known', .*'tied_spherical', 'full'"):
        GaussianMixture(X, 2, covariance=bad)


@pytest.mark.parametrize("kind", ["known", *COVARIANCES])
def test_covariance_type_is_another_name_of_covariance(kind):
    one, other = GaussianMixture(X, 2, covariance=kind), GaussianMixture(X, 2, covariance_type=kind)
    assert repr(one) == repr(other)
    assert type(other.covariance) is str and other.covariance == kind
    assert type(GaussianMixture(X, 2, covariance="known").covariance) is str
    for given in (kind, "known", "diag"):
        with pytest.raises(InputError, match="covariance and covariance_type are two names of one argument: give one"):
            GaussianMixture(X, 2, covariance=given, covariance_type=kind)
    with pytest.raises(InputError, match="^covariance_type must be one of 'known'"):
        GaussianMixture(X, 2, covariance_type="round")


def test_components_are_selected_by_covariance_type_too():
    data = X[:, 0]
    one, other = (
        gopfast.select(data, [1, 2], **{name: "diag"}) for name in ("covariance", "covariance_type")
    )
    assert one.n_components == other.n_components
    assert one.result.objective == other.result.objective
    with pytest.raises(InputError, match="two names of one argument"):
        gopfast.select(data, [1, 2], covariance="diag", covariance_type="diag")


def test_floor_is_refused_with_known_variance():
    with pytest.raises(InputError, match="^variance_floor must be None with covariance='known'"):
        GaussianMixture(X, 2, variance_floor=1.0, covariance="known")


def test_floor_that_no_matrix_can_meet_in_floats_is_refused():
    with pytest.raises(InputError, match="^variance_floor must be at least"):
        GaussianMixture(X, 2, covariance="full", variance_floor=1e-14)
    assert GaussianMixture(X, 2, covariance="diag", variance_floor=1e-14)


@every_covariance
@pytest.mark.parametrize("magnitude", [1e200, 1e-200])
def test_data_out_of_range_are_refused(covariance, magnitude):
    with pytest.raises(InputError, match="^(X is too large|variance_floor must be given)"):
        GaussianMixture(magnitude * X, 2, covariance=covariance)


@every_covariance
def test_covariances_below_the_floor_or_of_a_wrong_shape_are_refused(covariance):
    problem = GaussianMixture(X, 2, covariance=covariance, variance_floor=0.5)
    state = problem.maximize(np.full((20, 2), 0.5))
    good = state["covariances"]
    identity = {"spherical": [1.0] * 2, "diag": np.ones((2, 2)), "full": [np.eye(2)] * 2}
    at_floor = 0.5 * np.asarray(identity.get(covariance, np.eye(2)))
    assert math.isfinite(problem.objective(**{**state, "covariances": (1.0 - 1e-12) * at_floor}))
    for bad, words in ((0.99 * at_floor, "not fall below variance_floor"), (good[..., None], "have shape")):
        with pytest.raises(InputError, match=f"^covariances must {words}"):
            problem.objective(**{**state, "covariances": bad})


def test_covariances_that_the_model_does_not_have_are_refused():
    means = np.zeros((2, 2))
    tied = GaussianMixture(X, 2, covariance="tied_spherical", variance_floor=0.1)
    for bad in (np.diag([1.0, 2.0]), [[1.0, 0.5], [0.5, 1.0]]):
        with pytest.raises(InputError, match="^covariances must be v I with one variance v"):
            tied.log_densities(means=means, covariances=bad)
    full = GaussianMixture(X, 2, covariance="full", variance_floor=0.1)
    shared = GaussianMixture(X, 2, covariance="tied", variance_floor=0.1)
    with pytest.raises(InputError, match="^covariances must be symmetric"):
        shared.log_densities(means=means, covariances=[[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(InputError, match="^covariances must be symmetric"):
        full.log_densities(means=means, covariances=[[[1.0, 0.5], [0.0, 1.0]]] * 2)
    with pytest.raises(InputError, match="^covariances must not fall below"):
        full.log_densities(means=means, covariances=[[[1.0, 2.0], [2.0, 1.0]]] * 2)


@pytest.mark.parametrize(
    ("name", "floor", "centres", "expected"),
    [
        ("galaxies", 0.09, [10, 22], 220.0580),
        ("galaxies", 0.09, [10, 21, 33], 203.1792),
        ("enzyme", 0.0025, [0.2, 1.25], 54.6400),
        ("enzyme", 0.0025, [0.2, 1.05, 1.6], 47.8268),
        ("acidity", 0.01, [4.3, 6.2], 184.6446),
        ("acidity", 0.01, [4.2, 4.75, 6.4], 178.7543),
    ],
)
def test_published_optima_are_reached_from_near(name, floor, centres, expected):
    data = getattr(datasets, name)()
    problem = GaussianMixture(data, len(centres), covariance="spherical", variance_floor=floor)
    _, trace = em(problem, np.eye(len(centres))[np.abs(data - centres).argmin(axis=1)])
    assert trace[-1] == pytest.approx(expected, abs=6e-5)
