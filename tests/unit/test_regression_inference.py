"""What is asked of many fits, asked of mixtures of regressions."""

import numpy as np
import pytest

import gopfast
from gopfast import datasets
from gopfast.models import RegressionMixture

MODELS = [{}, {"variance": "shared"}, {"noise_variance": 4.0}]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)


def problem_of(model, n_components=2):
    return RegressionMixture(*datasets.load_co2data().T, n_components, **model)


@every_model
def test_a_bootstrap_has_errors_of_every_parameter(model):
    problem = problem_of(model)
    found = gopfast.bootstrap(problem, n_resamples=3, epsilon=1.0, log=False)
    assert found.n_proved == 3
    for name in problem.parameter_names:
        assert np.isfinite(found.standard_errors[name]).all()
        assert np.shape(found.standard_errors[name]) == np.shape(getattr(found.fit.solution, name))


@every_model
def test_a_likelihood_ratio_is_compared_with_draws_of_responses(model):
    found = gopfast.lrt(problem_of(model, 1), n_resamples=3, epsilon=1.0, log=False)
    one, two = (gopfast.solve(problem_of(model, K), 1.0, log=False).objective for K in (1, 2))
    assert found.statistic == pytest.approx(2 * (one - two), abs=1e-6)
    assert len(found.resampled) == 3


@every_model
def test_optima_and_a_certificate_of_the_best(model):
    problem = problem_of(model)
    found = gopfast.optima(problem, 0.5, max_nodes=2000)
    best = gopfast.solve(problem, log=False)
    assert found.optima[0].objective == pytest.approx(best.objective, abs=1e-6)
    assert gopfast.certify(problem, best.solution).verdict is gopfast.Verdict.PROVED
    state = best.solution.parameters
    state["coefficients"] = state["coefficients"] + 0.05
    beaten = gopfast.certify(problem, {"weights": best.solution.weights, **state})
    assert beaten.verdict is gopfast.Verdict.BEATEN
