"""Regressions of counts in the checker (JC4): against fits and costs in many digits; proofs, true and forged."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from support import counts
from support.attack import boxes, exact

import gopfast
from gopfast.checker import ProofError, check, prices, regressions
from gopfast.checker.problem import Problem
from gopfast.checker.verify import Bounds
from tests.support import proofs

MODELS = [
    dict(family="poisson"), dict(family="binomial"), dict(family="poisson", fit_intercept=False),
    dict(family="poisson", grouped=True), dict(family="binomial", grouped=True), dict(family="binomial", p=2),
]  # fmt: skip
every_model = pytest.mark.parametrize("model", MODELS, ids=str)
every_kind = pytest.mark.parametrize("kind", counts.DATA)


def stated(case):
    return Problem(case._record_of_proof(), *proofs.arguments(case))


def case_of(kind, seed, n=8, **model):
    """A problem, the checker's bounds of it at places at random, these, and the sample (n,) of each of its rows."""
    rng = np.random.default_rng([seed, len(kind)])
    case = counts.problem(kind, rng, n=n, **model)
    own = stated(case)
    places = proofs.random_places(own, rng)
    places[:, :-1] *= np.abs(case.regressors).max(axis=0)
    merged, of = np.unique(case.X, axis=0, return_inverse=True)
    of = case._group_of if case.groups or len(merged) == case.n_samples else of.ravel()
    return rng, case, Bounds(own, np.zeros(case.n_features), places), places, of


def fitted(case, bounds, places, of, tau):
    """The cell (q,) of responsibilities (n,) of the samples, and what each costs there, beside what all do; or None."""
    weight = exact(case._weights_of_proof())
    mass = weight * exact(tau)[of]
    b = counts.fit(case, mass)
    if b is None:
        return None
    cell = [
        sum(x * counts.fraction(c) for x, c in zip(row, b, strict=True)) - Fraction(value)
        for row, value in zip(regressions.designs(bounds.problem, places.T), places[:, -1].tolist(), strict=True)
    ]  # fmt: skip
    cost = [mpmath.mpf(0)] * len(bounds.weights)
    Z, y, n, offset = counts.rows(case)
    least = dict(zip(map(tuple, bounds.columns.tolist()), bounds.rules.rows.least.tolist(), strict=True))
    seen = set()
    for i, (row, line) in enumerate(zip(Z, map(tuple, case.X.tolist()), strict=True)):
        if case.groups is None and of[i] in seen:  # the same row once more
            continue
        seen.add(of[i])
        eta = offset[i] + sum(x * c for x, c in zip(row, b, strict=True))
        cumulant = mpmath.exp(eta) if case.family == "poisson" else n[i] * mpmath.log1p(mpmath.exp(eta))
        cost[of[i]] += cumulant - y[i] * eta - least[line]
    return cell, cost


def taus(rng, bounds):
    """Responsibilities of a component: some samples have next to none."""
    n = len(bounds.weights)
    return np.clip(np.rint(64 * rng.random(n) ** rng.choice([0.3, 1.0, 6.0])), 1, 64) / 64


def slopes_of(rng, bounds, low, high):
    """Points that tangents are valued at, in the cell and anywhere, and both kinds of bounds."""
    middle, q = 0.5 * low + 0.5 * high, len(low)
    points = middle, low + rng.random(q) * (high - low), middle + rng.normal(size=q) * rng.choice([0.1, 3.0])
    return [np.append(point, sign) for point in points for sign in (1.0, -1.0)]


@every_model
@every_kind
def test_the_root_holds_all_fits_and_samples_cost_less_in_their_cells(kind, model):
    """Both bounds, of tangents at any point; the sum over samples is what counts."""
    rng, case, bounds, places, of = case_of(kind, 1, **model)
    rules, tried = bounds.rules, 0
    with mpmath.workdps(counts.DIGITS):
        for _ in range(3):
            tau = taus(rng, bounds)
            found = fitted(case, bounds, places, of, tau)
            if found is None:
                continue
            cell, cost = found
            assert all(low <= x <= high for low, x, high in zip(rules.low, cell, rules.high, strict=True))
            mass = [mpmath.mpf(w) * t for w, t in zip(bounds.weights.tolist(), tau.tolist(), strict=True)]
            true = sum(m * c for m, c in zip(mass, cost, strict=True))
            for low, high in boxes(rng, cell, *counts.near((rules.low, rules.high), cell), 4):
                for slopes in slopes_of(rng, bounds, low, high):
                    tried += 1
                    least = rules.costs(low[np.newaxis], high[np.newaxis], slopes[np.newaxis])[0]
                    assert sum(m * mpmath.mpf(c) for m, c in zip(mass, least.tolist(), strict=True)) <= true
                    if slopes[-1] < 0:
                        assert all(mpmath.mpf(a) <= b for a, b in zip(least.tolist(), cost, strict=True))
    assert tried > 20


@every_model
def test_in_a_cell_of_one_point_both_bounds_are_the_cost(model):
    for kind in ("plain", "zeros", "ends"):
        rng, case, bounds, places, of = case_of(kind, 2, **model)
        with mpmath.workdps(counts.DIGITS):
            cell, cost = fitted(case, bounds, places, of, taus(rng, bounds))
        point, cost = np.array([[float(x) for x in cell]]), np.array([float(c) for c in cost])
        for sign in (1.0, -1.0):
            found = bounds.rules.costs(point, point, np.append(point, [[sign]], axis=1))[0]
            np.testing.assert_allclose(found, cost, rtol=1e-9, atol=1e-9)


@every_model
def test_no_component_saves_more_than_its_cell_and_smaller_cells_save_no_more(model):
    rng, case, bounds, places, of = case_of("plain", 3, **model)
    rules, W = bounds.rules, float(bounds.weights.sum())
    with mpmath.workdps(counts.DIGITS):
        for _ in range(4):
            tau = taus(rng, bounds)
            found = fitted(case, bounds, places, of, tau)
            if found is None:
                continue
            cell, cost = found
            lam = rng.normal(size=len(tau)) * rng.choice([1.0, 5.0]) + rng.choice([0.0, 5.0])
            mass = [mpmath.mpf(w) * t for w, t in zip(bounds.weights.tolist(), tau.tolist(), strict=True)]
            saved = sum(mass) * mpmath.log(sum(mass) / W) + sum(
                m * (mpmath.mpf(price) - mpmath.log(t) - c)
                for m, price, t, c in zip(mass, lam.tolist(), tau.tolist(), cost, strict=True)
            )  # fmt: skip
            for low, high in boxes(rng, cell, *counts.near((rules.low, rules.high), cell), 4):
                for slopes in slopes_of(rng, bounds, low, high):
                    scale = rng.normal(size=1) * rng.choice([0.1, 3.0])
                    given = slopes[np.newaxis], scale, None
                    most = prices.savings(bounds, lam, low[np.newaxis], high[np.newaxis], *given)[0]
                    assert most >= saved
                    inner = low + rng.random(len(low)) * 0.3 * (high - low), high - 0.3 * rng.random() * (high - low)
                    less = prices.savings(bounds, lam, *(part[np.newaxis] for part in inner), *given)[0]
                    assert less <= most + 1e-9 * (1 + abs(most)) or most == np.inf


@every_model
@pytest.mark.parametrize("seed", range(4))
def test_no_mixture_is_below_what_is_proved(model, seed):
    rng = np.random.default_rng(seed)
    case = counts.problem(counts.DATA[seed], rng, n=9, K=1 + seed % 3, **model)
    options = {"relaxation": "pricing"} if seed % 2 else {}
    result = gopfast.solve(case, 0.05, proof=True, n_threads=1, max_nodes=3000, log=False, **options)
    found = check(result.proof, *proofs.arguments(case), case)
    assert result.lower_bound <= found.lower_bound <= found.objective
    value = case.objective(result.solution.weights, **result.solution.parameters)
    assert value <= found.objective + 1e-9 * (1 + abs(value)) and found.objective <= value + 1e-6 * (1 + abs(value))
    if result.success:
        assert found.gap <= 0.05 * (1 + 1e-9)
    for start in range(6):
        other = gopfast.local.em(case, random_state=start).objective
        assert found.lower_bound <= other + 1e-9 * (1 + abs(other))


def proved():
    """Counts in two groups of weight 1.1 each, which no sum of parts of a tenth is."""
    rng = np.random.default_rng(5)
    X, groups = rng.normal(size=24), np.arange(24) % 7
    y = rng.poisson(np.exp(1.0 + np.where(groups % 2, 1.0, -1.0) * X))
    case = gopfast.RegressionMixture(
        X, y, 2, family="poisson", offset=0.1 * X, groups=groups, sample_weight=np.full(24, 1.1)
    )
    return case, gopfast.solve(case, proof=True, n_threads=1, log=False)


def test_weights_are_those_of_the_groups():
    case, result = proved()
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
        ({"least_count": 0.4}, "claims"),
        ({"least_count": 0.0}, "least_count must be above 0"),
        ({"least_count": 0.5}, "least_count must be above 0"),
        ({"fit_intercept": False}, "axes"),
        ({"fit_intercept": 1}, "true or false"),
        ({"groups": None}, "regressors|axes"),
        ({"groups": 1}, "regressors must be the first columns"),
        ({"groups": 3}, "groups must be a whole number from 0 to 2"),
        ({"offset": 0}, "regressors must be the first columns"),
        ({"family": "binomial_regression"}, "n_trials"),
        ({"n_trials": 0}, "binomial counts have n_trials"),
        ({"n_components": 3}, "."),
    ],
)
def test_a_proof_of_another_problem_is_refused(change, message):
    case, result = proved()
    header, arrays = proofs.parts(result.proof.data)
    header["problem"].update(change)
    with pytest.raises(ProofError, match=message):
        check(proofs.packed(header, arrays), *proofs.arguments(case))
    with pytest.raises(ProofError):
        check(proofs.packed(header, arrays), *proofs.arguments(case), case)


def test_changed_entries_prove_no_more():
    """What a leaf or cell says is valid whatever it is, and mostly proves too little."""
    assert proofs.refused_changes(*proved()) > 40


def test_what_is_no_count_or_determines_no_coefficients_is_refused():
    record = {
        "family": "binomial_regression", "n_components": 2, "fit_intercept": True, "least_count": 1e-6, "n_trials": 1,
        "offset": None, "groups": None,
    }  # fmt: skip
    X = np.array([[0.0, 4, 1], [1.0, 4, 4], [2.0, 3, 0], [0.0, 2, 1]])
    assert Problem(record, X, None).n_regressors == 1
    for column, value, message in ((2, 0.5, "counts in its last"), (2, 5.0, "at most as many"), (1, 0.0, "trials"),
                                   (1, 2.0**60, "trials")):  # fmt: skip
        wrong = X.copy()
        wrong[0, column] = value
        with pytest.raises(ProofError, match=message):
            Problem(record, wrong, None)
    X[:, 0] = 3.0  # no box of fits, which would be empty, and prove anything
    with pytest.raises(ProofError, match="does not determine the coefficients"):
        Bounds(Problem(record, X, None), np.zeros(3), np.array([[0.0, 0.1], [1.0, 0.2]]))
    for family in ("regression", "known_regression"):
        name = "noise_variance" if family == "known_regression" else "variance_floor"
        own = {"family": family, "n_components": 2, "fit_intercept": True, name: [0.5]}
        with pytest.raises(ProofError, match="does not determine the coefficients"):
            Bounds(Problem(own, X[:, [0, 2]], None), np.zeros(2), np.array([[0.0, 0.1], [1.0, 0.2]]))


@pytest.mark.parametrize("data", ["fabricfault", "betablocker"])
def test_published_data_are_proved_and_checked(data):
    if data == "fabricfault":
        length, faults = gopfast.datasets.load_fabricfault().T
        case = gopfast.RegressionMixture(np.log(length), faults, 2, family="poisson")
        published = 84.8882
    else:
        deaths, total, centers, treated = gopfast.datasets.load_betablocker().T
        case = gopfast.RegressionMixture(treated, deaths, 3, family="binomial", n_trials=total, groups=centers)
        published = 158.3095
    result = gopfast.solve(case, proof=True, n_threads=1, log=False)
    found = check(result.proof, *proofs.arguments(case), case)
    assert result.success and found.gap <= 0.01 and found.objective == pytest.approx(published, abs=1e-4)
