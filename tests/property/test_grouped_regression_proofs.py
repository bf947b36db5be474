"""Rows of normal errors that belong together in the checker (J7): against exact fits; proofs, true and forged."""


import mpmath
import numpy as np
import pytest
from support import regressions as data
from support.attack import boxes, exact

import gopfast
from gopfast.checker import ProofError, check, objective, prices
from gopfast.checker.problem import Problem
from gopfast.checker.verify import Bounds
from gopfast.errors import InputError
from tests.support import proofs

KINDS = ("plain", "ties", "near ties", "lattice", "offset", "scales")
MODELS = [
    dict(p=1, known=True), dict(p=1, known=False), dict(p=1, known=False, fit_intercept=False), dict(p=2, known=False),
    dict(p=2, known=True, fit_intercept=False),
]  # fmt: skip
every_model = pytest.mark.parametrize("model", MODELS, ids=str)
every_kind = pytest.mark.parametrize("kind", KINDS)


def case_of(kind, seed, K=2, known=False, shared=False, **model):
    """A problem whose rows belong together in no order, and the checker's bounds of it at places at random."""
    rng = np.random.default_rng([seed, len(kind)])
    try:
        plain = data.problem(kind, rng, n=10, K=K, known=known, **model)
        groups = rng.permutation(np.arange(10) % 5)
        weights = 10.0 ** rng.uniform(-2, 2, 5) if rng.random() < 0.4 else rng.choice([0.5, 1.0, 3.7], 5)
        level = {"noise_variance": plain.noise_variance} if known else {"variance_floor": plain.variance_floor}
        case = gopfast.RegressionMixture(
            plain.regressors, plain.response, K, fit_intercept=plain.fit_intercept, groups=groups,
            sample_weight=weights[groups], variance="shared" if shared else None if known else "free", **level,
        )  # fmt: skip
    except InputError:
        pytest.skip("data that determine no coefficients")
    stated = Problem(case._record_of_proof(), *proofs.arguments(case))
    places = proofs.random_places(stated, rng)
    places[:, :-1] *= np.abs(case.regressors).max(axis=0)
    return rng, case, Bounds(stated, np.zeros(case.n_features), places), places


def fitted(case, bounds, places, counts):
    """The exact cell (p,) of the responsibilities counts / 64 of the groups, and its cost in mpmath; or None."""
    Z, y = data.design(case)
    of = case.X[:, -2].astype(int)
    tau = exact(counts / 64.0)
    mass = exact(bounds.weights)[of] * tau[of]
    found = data.fit(Z, y, mass) if mass.sum() else None
    if found is None:
        return None
    cell, cost = data.exact_cell(bounds, places, found, mass)
    return cell, cost - data.number(mass.sum()) * mpmath.log(mpmath.mpf(float(np.sqrt(bounds.problem.least_variance))))


def responsibilities(rng):
    return np.clip(np.rint(64 * rng.random(5) ** rng.choice([0.3, 1.0, 6.0])), 1, 64)


def slopes_of(rng, rules, low, high):
    """Any, or those of a parabola about the middle."""
    slopes = rng.normal(size=rules.n_slopes) * 10.0 ** rng.uniform(-4, 1)
    if rng.random() < 0.5:
        slopes[0] = abs(slopes[0]) * rng.choice([1.0, -1.0])
        slopes[1 : 1 + rules.q] = -slopes[0] * (low[: rules.q] + high[: rules.q])
    return slopes


@every_model
@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_the_root_holds_all_fits_and_samples_cost_less_in_their_cells(kind, model, seed):
    rng, case, bounds, places = case_of(kind, seed, **model)
    rules, tried = bounds.rules, 0
    with mpmath.workdps(60):
        for _ in range(6):
            counts = responsibilities(rng)
            found = fitted(case, bounds, places, counts)
            if found is None:
                continue
            cell, cost = found
            assert all(low <= x <= high for low, x, high in zip(rules.low, cell, rules.high, strict=True))
            mass = exact(bounds.weights) * exact(counts / 64.0)
            for low, high in boxes(rng, cell, rules.low, rules.high, 4):
                tried += 1
                slopes = slopes_of(rng, rules, low, high)
                least = rules.costs(*(part[np.newaxis] for part in (low, high, slopes)))[0]
                assert data.number((mass * exact(least)).sum()) <= cost
    assert tried >= 4


@every_model
@every_kind
def test_no_component_saves_more_than_its_cell_and_smaller_cells_save_no_more(kind, model):
    rng, case, bounds, places = case_of(kind, 7, **model)
    rules, W = bounds.rules, data.number(exact(bounds.weights).sum())
    with mpmath.workdps(50):
        for _ in range(8):
            counts = responsibilities(rng)
            found = fitted(case, bounds, places, counts)
            if found is None:
                continue
            cell, cost = found
            mass = [data.number(m) for m in exact(bounds.weights) * exact(counts / 64.0)]
            lam = rng.normal(size=5) * rng.choice([1.0, 5.0]) + rng.choice([0.0, 20.0])
            saved = sum(mass) * mpmath.log(sum(mass) / W) - cost
            for m, count, price in zip(mass, counts.tolist(), lam.tolist(), strict=True):
                saved += m * (mpmath.mpf(price) - mpmath.log(mpmath.mpf(count) / 64))
            for low, high in boxes(rng, cell, rules.low, rules.high, 4):
                slopes, scales = slopes_of(rng, rules, low, high), rng.normal(size=1) * rng.choice([0.1, 3.0])
                given = slopes[np.newaxis], scales, None
                most = prices.savings(bounds, lam, low[np.newaxis], high[np.newaxis], *given)[0]
                assert most >= saved
                inner = low + rng.random(len(low)) * 0.3 * (high - low), high - 0.3 * rng.random() * (high - low)
                less = prices.savings(bounds, lam, *(part[np.newaxis] for part in inner), *given)[0]
                assert less <= most + 1e-9 * (1 + abs(most)) or most == np.inf


@every_kind
@pytest.mark.parametrize("known", [True, False])
def test_the_objective_is_not_rounded_down(kind, known):
    rng, case, bounds, _ = case_of(kind, 2, p=2, known=known)
    state = case.maximize(rng.dirichlet(np.ones(2), 5)[case.X[:, -2].astype(int)])
    found = objective.attained(
        bounds.problem, bounds.columns, bounds.weights, {name: value.tolist() for name, value in state.items()}
    )
    with mpmath.workdps(50):
        value, total = mpmath.mpf(0), mpmath.fsum(state["weights"].tolist())
        begins = bounds.rules.begins.tolist()
        for first, end, w in zip(begins, [*begins[1:], len(bounds.columns)], bounds.weights.tolist(), strict=True):
            density = mpmath.mpf(0)
            for k in range(2):
                term = mpmath.mpf(float(state["weights"][k])) / total
                v = mpmath.mpf(case.noise_variance if known else float(state["variances"][k]))
                for row in bounds.columns[first:end].tolist():
                    mean = mpmath.mpf(float(state["intercepts"][k]))
                    mean += mpmath.fsum(mpmath.mpf(row[j]) * float(b) for j, b in enumerate(state["coefficients"][k]))
                    term *= mpmath.npdf(row[-1], mean, mpmath.sqrt(v))
                density += term
            value -= w * mpmath.log(density)
    assert value <= found <= value + 1e-6 * (1 + abs(value))


@every_model
@pytest.mark.parametrize("seed", range(4))
def test_no_mixture_is_below_what_is_proved(model, seed):
    _, case, _, _ = case_of(KINDS[seed], seed, K=1 + seed % 3, **model)
    options = {"relaxation": "pricing"} if seed % 2 else {}
    result = gopfast.solve(case, 0.05, proof=True, n_threads=1, max_nodes=2000, log=False, **options)
    found = check(result.proof, *proofs.arguments(case), case)
    assert result.lower_bound <= found.lower_bound <= found.objective
    value = case.objective(result.solution.weights, **result.solution.parameters)
    assert value <= found.objective + 1e-9 * (1 + abs(value)) and found.objective <= value + 1e-6 * (1 + abs(value))
    for start in range(6):
        other = gopfast.local.em(case, random_state=start).objective
        assert found.lower_bound <= other + 1e-9 * (1 + abs(other))


def proved(**given):
    """Two lines of seven groups of weight 1.1 each, which no sum of parts of a tenth is."""
    rng = np.random.default_rng(5)
    X, groups = rng.normal(size=24), np.arange(24) % 7
    y = np.where(groups % 2, 1.0 + 2.0 * X, -X) + 0.5 * rng.normal(size=24)
    case = gopfast.RegressionMixture(X, y, 2, groups=groups, sample_weight=np.full(24, 1.1), **given)
    return case, gopfast.solve(case, proof=True, n_threads=1, log=False, max_nodes=20_000)


@pytest.mark.parametrize("given", [{}, {"noise_variance": 0.3}], ids=str)
def test_weights_are_those_of_the_groups(given):
    case, result = proved(**given)
    assert result.success
    assert check(result.proof, case.X, np.full(24, 1.1), case).gap <= 0.01
    with pytest.raises(ProofError, match="other data"):
        check(result.proof, case.X, case.sample_weight, case)
    weights = np.full(24, 1.1)
    weights[0] = 2.0
    with pytest.raises(ProofError, match="one number for all rows of a group"):
        check(result.proof, case.X, weights, case)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variance_floor": [1e-9]}, "claims|floor|proves|leaf"),
        ({"fit_intercept": False}, "axes"),
        ({"groups": 0}, "groups must be a whole number"),
        ({"groups": None}, "groups must be a whole number"),
        ({"family": "known_regression"}, "must have"),
        ({"family": "poisson_regression"}, "must have"),
        ({"n_components": 3}, "."),
        ("groups", "axes|must have"),
    ],
    ids=str,
)
def test_a_proof_of_another_problem_is_refused(change, message):
    case, result = proved()
    header, arrays = proofs.parts(result.proof.data)
    if isinstance(change, str):
        del header["problem"][change]
    else:
        header["problem"].update(change)
    with pytest.raises(ProofError, match=message):
        check(proofs.packed(header, arrays), *proofs.arguments(case))
    with pytest.raises(ProofError):
        check(proofs.packed(header, arrays), *proofs.arguments(case), case)


def test_changed_entries_prove_no_more():
    """What a leaf or cell says is valid whatever it is, and mostly proves too little."""
    assert proofs.refused_changes(*proved()) > 30


def test_components_of_one_variance_have_one_slope_of_squares():
    _, _, bounds, _ = case_of("plain", 1, p=1, shared=True)
    rules = bounds.rules
    cells = [np.tile(side[: rules.n_cell], (1, 2, 1)) for side in (rules.low, rules.high)]
    slopes = np.ones((1, 2, rules.n_slopes))
    slopes[0, 1, 0] = 2.0
    with pytest.raises(ProofError, match="one coefficient of all squares"):
        rules.costs(*cells, slopes)
