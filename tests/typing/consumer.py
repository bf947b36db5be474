"""
What a type checker sees of the public interface: ``make lint`` checks this file in strict mode; nothing runs it.

A misspelt name or option, a wrong kind of argument and a return value of another type are errors here, as in a user's
editor. Lines marked ``type: ignore`` must be errors: an ignore that is not needed is one too.
"""

import json
import sys

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import gopfast
from gopfast import comparison, plot
from gopfast.annotations import Json, State
from gopfast.comparison import Comparison
from gopfast.local import LocalResult, RestartResult
from gopfast.models import MixtureProblem
from gopfast.report import Progress

X = np.array([-10.0, -10.0, 5.0, 25.0])


def watch(state: Progress) -> bool:
    """Stop early."""
    assert_type(state.gap, float)
    return state.n_nodes > 100


# Mixtures
problem = gopfast.GaussianMixture(X, 2, prior="empirical", posterior="point")
result = gopfast.solve(problem, 0.01, time_limit=1.0, relaxation="linear", callback=watch, log=sys.stderr)
assert_type(result, gopfast.Result)
assert_type(result.solution, gopfast.MixtureSolution)
assert_type(result.status, gopfast.Status)
assert_type(result.objective, float)
assert_type(result.history, NDArray[np.float64])
assert_type(result.elbo, float | None)
assert_type(result.success, bool)
assert_type(result.to_dict(), dict[str, Json])
assert_type(result.solution.weights, NDArray[np.float64])
assert_type(result.solution.means, NDArray[np.float64] | None)
assert_type(result.solution.problem, MixtureProblem)
json.dumps(result.to_dict())
gopfast.solve(problem, relaxation="quadratic")  # type: ignore[call-overload]
gopfast.solve(problem, time_limt=1.0)  # type: ignore[call-overload]
gopfast.solve([1.0, 2.0])  # type: ignore[call-overload]
print(gopfast.slove)  # type: ignore[attr-defined]
print(result.solution.weigths)  # type: ignore[attr-defined]

gopfast.BernoulliMixture([[0, 1], [1, 1]], 2, prior=(1.0, 2.0))
gopfast.PoissonMixture([0, 3, 4], 2)
gopfast.ExponentialMixture([0.5, 3, 4], 2, sample_weight=[1, 1, 2])
assert_type(gopfast.CategoricalMixture([["red", 1], ["blue", 3]], 2).n_categories, tuple[int, ...])

# A state goes round in EM
tau = problem.responsibilities(result.solution.weights, **result.solution.parameters)
assert_type(tau, NDArray[np.float64])
state = problem.maximize(tau)
assert_type(state, State)
assert_type(problem.objective(**state), float)
assert_type(problem.reordered([1, 0], **state)["weights"], NDArray[np.float64])

# Local methods
fit = gopfast.local.em(problem, start=[-5.0, 25.0])
assert_type(fit, LocalResult)
assert_type(gopfast.local.quasi_newton(problem, fit, tol=1e-6), LocalResult)
assert_type(gopfast.local.start(problem, "samples", random_state=1), gopfast.MixtureSolution)
assert_type(gopfast.local.restart_until_certified(problem, gopfast.local.anneal), RestartResult)
gopfast.local.em(problem, tolerance=1e-6)  # type: ignore[call-arg]

# What is proved of a fit
certificate = gopfast.certify(problem, fit, 0.01, max_nodes=1000)
assert_type(certificate.verdict, gopfast.Verdict)
assert_type(certificate.better, gopfast.MixtureSolution | None)
gopfast.certify(problem, ([0.5, 0.5], [[0.0], [1.0]]))
gopfast.certify(problem, {"weights": [0.5, 0.5], "means": [0.0, 1.0]})
gopfast.certify(problem, fit, max_node=1000)  # type: ignore[call-arg]

choice = gopfast.select(X, range(1, 4), "aic", covariance="diag")
assert_type(choice.best.lower, float)
assert_type(choice.result, gopfast.Result)
assert_type(comparison.compare(problem, 5, n_threads=1), Comparison)

# Biconvex problems
program = gopfast.BiconvexProblem([-1, -1], Q=[[0, 1], [0, 0]], A=[[-6, 8], [3, -1]], row_upper=3, lower=0, upper=5)
optimum = gopfast.solve(program, rel_tol=1e-6)
assert_type(optimum, gopfast.BiconvexResult)
assert_type(optimum.bound, float)
if optimum.solution is not None:
    assert_type(optimum.solution.z, NDArray[np.float64])
    assert_type(optimum.solution["z0"], float)
assert_type(program.to_json(), str)

# Estimator, data, figures
model = gopfast.GlobalGaussianMixture(2, covariance="full", random_state=0).fit(X.reshape(-1, 1))
assert_type(model, gopfast.GlobalGaussianMixture)
assert_type(model.means_, NDArray[np.float64])
assert_type(model.gap_, float)
classes = gopfast.GlobalClusterwiseRegression(2).fit(X.reshape(-1, 1), X)
assert_type(classes.sum_of_squares_bound_, float)
assert_type(classes.result_, gopfast.ClusterwiseResult)
assert_type(classes.result_.rel_gap, float)
regressions = gopfast.GlobalRegressionMixture(2).fit(X.reshape(-1, 1), X, groups=["a", "a", "b", "c"])
assert_type(regressions.classify(X.reshape(-1, 1), X, groups=[1, 1, 2, 2]), NDArray[np.int64])
assert_type(gopfast.datasets.load("galaxies"), NDArray[np.float64])
assert_type(gopfast.datasets.load_problem("haverly"), gopfast.BiconvexProblem)
assert_type(gopfast.datasets.names(), list[str])
axes = plot.bounds(result, elbo=True)
plot.density(fit, columns=[0], ax=axes)
result.plot("density", bins=20)

try:
    gopfast.solve(problem, -1.0)
except gopfast.InputError as error:
    assert_type(error, gopfast.InputError)
