"""Random mixtures of regressions that share a coefficient, and what other means find of them."""

import contextlib
import math

import numpy as np

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures.problems import regression_starts
from support import regressions

FAMILIES = ("normal", "known", "shared", "poisson", "binomial")


def problem(family, rng, n=10, K=2, p=1, kind="plain", grouped=False, n_shared=1, **given):
    """A mixture of awkward data (`regressions.DATA`), whose shared coefficients are drawn."""
    intercept = family == "poisson" or p == 1 or bool(rng.random() < 0.8)
    if family in ("normal", "known", "shared"):
        X, y = regressions.awkward(kind, rng, n, p)
        variance = float((rng.choice([1e-3, 0.05, 0.3, 1.0]) * (float(y.std()) or 1.0)) ** 2)
        given |= {"noise_variance": variance} if family == "known" else {"variance_floor": variance}
        given |= {"variance": "shared"} if family == "shared" else {}
    else:
        X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-1, 1, p)
        X = np.rint(2 * X) if kind == "lattice" else X
        eta = rng.uniform(-2, 3) + rng.normal(size=n)
        given |= {"family": family, "least_count": float(rng.choice([1e-6, 0.1]))}
        if family == "poisson":
            y = rng.poisson(np.exp(np.minimum(eta, 6.0)))
        else:
            given["n_trials"] = rng.integers(1, rng.choice([2, 20]) + 1, n)
            y = rng.binomial(given["n_trials"], 1.0 / (1.0 + np.exp(-eta)))
        if rng.random() < 0.3:
            given["offset"] = rng.normal(size=n)
    weights = rng.choice([0.5, 1.0, 3.0], n)
    if grouped:
        given["groups"] = rng.permutation(np.arange(n) % (K + 1 + n // 3))
        weights = weights[given["groups"]]
    names = [*range(p), *["intercept"] * (intercept and family != "poisson")]
    shared = [names[i] for i in rng.permutation(len(names))[:n_shared]]
    return gopfast.RegressionMixture(
        X, y, K, fit_intercept=intercept, sample_weight=weights, shared_coefficients=shared, **given
    )


def drawn(family, seed, **options):
    """A mixture of the first seed, from this one on, whose regressors do not depend on each other; and a generator."""
    for more in range(100):
        rng = np.random.default_rng([seed, more])
        try:
            return problem(family, rng, **options), rng
        except InputError:
            continue
    raise AssertionError("no such problem")


def shares(case, rng):
    """Random responsibilities (n, K), the same for all rows of a group."""
    tau = rng.dirichlet(np.full(case.n_components, 10.0 ** rng.uniform(-1.0, 0.5)), case.n_samples)
    return tau[np.unique(case._group_of, return_index=True)[1]][case._group_of]


def best_of_em(case, rng, n_starts=6, n_steps=60):
    """The least objective that EM attains."""
    best = math.inf
    for start in range(n_starts):
        tau = regression_starts.lines(case, rng) if start % 2 else shares(case, rng)
        tau = tau[np.unique(case._group_of, return_index=True)[1]][case._group_of]
        best = min(best, attained(case, tau, n_steps))
    return best


def attained(case, tau, n_steps):
    """The objective, by its definition, after steps of EM: those of the core, if it has the mixture."""
    if case._shared_at is None:
        with contextlib.suppress(InputError):  # no digits left so far away
            found = gopfast.local.em(case, case.maximize(tau), tol=1e-13, max_iter=n_steps).solution
            return case.objective(found.weights, **found.parameters)
    state = case.maximize(tau)
    for _ in range(n_steps):
        former, state = state, case.maximize(case.responsibilities(**state), **state)
        if np.abs(state["weights"] - former["weights"]).max() < 1e-12:
            break
    return case.objective(**state)
