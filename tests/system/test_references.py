"""Known optima are proved, with no more work than promised. Counts are exact, so that no clock is needed."""

import numpy as np
import pytest

import gopfast
from gopfast import local

MINIMAL = [-10.0, -10.0, 5.0, 25.0]
# Of `elbo - elbo_constant`: the source for the prior, design.md section 3 for both.
OPTIMUM = {None: -77.2493, "empirical": -84.0302}
TOLERANCES = [1.0, 0.1, 0.01, 0.0001]
GALAXY_NODES = {2: 60, 3: 150, 4: 400, 5: 2000}
PRIORS = [None, "empirical"]


def galaxies():
    return gopfast.datasets.load("galaxies") / 1000.0


def iris_petals():
    datasets = pytest.importorskip("sklearn.datasets")
    petals = datasets.load_iris().data[:, 2:]
    return 2.0 * petals / petals.std(axis=0)


def is_proved(result, optimum, epsilon):
    assert result.success
    assert result.gap <= epsilon
    assert round(result.elbo - result.elbo_constant, 4) == optimum
    assert result.lower_bound <= result.objective
    assert -result.lower_bound >= optimum - 5e-5
    return True


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("epsilon", TOLERANCES)
def test_the_minimal_data_set_is_proved(prior, epsilon):
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior=prior, covariance="known")
    assert is_proved(gopfast.solve(problem, epsilon), OPTIMUM[prior], epsilon)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("partition", ["joint", "paper"])
@pytest.mark.parametrize("epsilon", TOLERANCES)
def test_the_minimal_data_set_is_proved_by_linear_programs(prior, partition, epsilon):
    pytest.importorskip("gopfast.mixtures.relaxations.linear")
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior=prior, covariance="known")
    result = gopfast.solve(problem, epsilon, relaxation="linear", partition=partition)
    assert is_proved(result, OPTIMUM[prior], epsilon)


@pytest.mark.parametrize("branching", ["bisect", "orthant"])
@pytest.mark.parametrize("prior", PRIORS)
def test_both_partitions_of_a_node_prove_the_minimal_data_set(prior, branching):
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior=prior, covariance="known")
    result = gopfast.solve(problem, branching=branching)
    assert result.branching == branching
    assert is_proved(result, OPTIMUM[prior], 0.01)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_entropic_proof_of_the_minimal_data_set_takes_20_nodes(prior):
    result = gopfast.solve(gopfast.GaussianMixture(MINIMAL, 2, prior=prior, covariance="known"), 0.01)
    assert result.success
    assert 0 < result.n_nodes <= 20
    assert result.n_lps == 0


@pytest.mark.parametrize(("partition", "most"), [("paper", 3000), ("joint", 200)])
def test_the_linear_proof_of_the_minimal_data_set_takes_as_few_programs_as_promised(partition, most):
    pytest.importorskip("gopfast.mixtures.relaxations.linear")
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior="empirical")
    result = gopfast.solve(problem, 0.01, relaxation="linear", partition=partition)
    assert result.success
    assert 0 < result.n_lps <= most


def test_the_optimal_parameters_of_the_minimal_data_set():
    solution = gopfast.solve(gopfast.GaussianMixture(MINIMAL, 2, covariance="known"), 1e-4).solution
    assert solution.means.ravel() == pytest.approx([-5.0, 25.0], abs=1e-6)
    assert solution.weights == pytest.approx([0.75, 0.25], abs=1e-6)
    np.testing.assert_allclose(solution.responsibilities, [[1, 0], [1, 0], [1, 0], [0, 1]], atol=1e-12)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("K", GALAXY_NODES)
def test_galaxies_are_proved_within_the_promised_nodes(prior, K):
    result = gopfast.solve(gopfast.GaussianMixture(galaxies(), K, prior=prior, covariance="known"), 0.01)
    assert result.success
    assert result.gap <= 0.01
    assert result.n_nodes <= GALAXY_NODES[K]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("K", GALAXY_NODES)
def test_no_run_of_em_ends_below_a_proved_bound(prior, K):
    problem = gopfast.GaussianMixture(galaxies(), K, prior=prior, covariance="known")
    proved = gopfast.solve(problem, 0.01)
    runs = [local.em(problem, random_state=seed).objective for seed in range(60)]
    assert min(runs) >= proved.lower_bound
    assert proved.objective <= min(runs) + 0.01


def test_more_components_never_fit_worse():
    proved = [
        gopfast.solve(gopfast.GaussianMixture(galaxies(), K, covariance="known"), 0.01) for K in (1, *GALAXY_NODES)
    ]
    for fewer, more in zip(proved, proved[1:], strict=False):
        assert more.lower_bound <= fewer.objective


def test_iris_petals_are_proved():
    result = gopfast.solve(gopfast.GaussianMixture(iris_petals(), 3, covariance="known"), 0.01)
    assert result.success
    assert result.gap <= 0.01
    # Setosa, a third of the flowers, is far from the rest.
    assert result.solution.weights[0] == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.parametrize("prior", PRIORS)
def test_em_from_everywhere_ends_at_the_proved_optimum_or_above(prior):
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior=prior, covariance="known")
    proved = gopfast.solve(problem, 1e-4)
    grid = np.linspace(-12.0, 27.0, 14)
    ends = np.array(
        [local.em(problem, start=[a, b], tol=1e-10).objective for i, a in enumerate(grid) for b in grid[i:]]
    )
    assert ends.min() >= proved.lower_bound
    assert proved.objective <= ends.min() + 1e-7
    assert ends.min() == pytest.approx(-OPTIMUM[prior], abs=1e-4)
    assert ends.max() > proved.objective + 10.0  # local optima exist: a local method alone proves nothing


def test_em_finds_the_local_optimum_of_the_paper():
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior="empirical")
    fit = local.em(problem, start=[-10.0, 15.0])
    assert fit.converged
    assert fit.objective == pytest.approx(108.86, abs=0.005)
    assert fit.objective > gopfast.solve(problem).objective + 24.0


def test_a_local_optimum_as_start_does_not_deceive_the_solver():
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior="empirical")
    trapped = local.em(problem, start=[-10.0, 15.0])
    assert is_proved(gopfast.solve(problem, start=trapped), OPTIMUM["empirical"], 0.01)


def test_a_relative_tolerance_stops_as_early_as_the_absolute_one_it_equals():
    problem = gopfast.GaussianMixture(galaxies(), 4, covariance="known")
    optimum = gopfast.solve(problem).objective
    absolute = gopfast.solve(problem, 0.02 * optimum)
    relative = gopfast.solve(problem, 1e-9, rel_tol=0.02)
    assert relative.success and absolute.success
    assert relative.gap <= 0.02 * relative.objective
    assert relative.n_nodes < gopfast.solve(problem).n_nodes


@pytest.mark.parametrize(
    ("X", "K", "gamma"),
    [([0.0, 1.0], 2, 1.0), ([-2.0, -1.8, 1.7, 2.0], 3, 0.1)],
    ids=["two points", "four points"],
)
def test_an_optimum_with_an_empty_component_is_found(X, K, gamma):
    """Under a strong prior one cluster may be best; the other means then rest at 0, the prior's best."""
    problem = gopfast.GaussianMixture(X, K, prior=gamma, covariance="known")
    single = gopfast.GaussianMixture(X, 1, prior=gamma, covariance="known")
    # K - 1 means at 0 cost only the prior's constant each.
    empty = gopfast.solve(single, 1e-6).objective + (K - 1) * 0.5 * np.log(gamma)
    result = gopfast.solve(problem, 1e-3, max_nodes=3000)
    assert result.objective <= empty + 1e-3
    assert result.success
