"""The checker's rule of regressions, against fits in exact arithmetic and costs in mpmath."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from support import regressions as data
from support.attack import boxes, exact

from gopfast.checker import ProofError, objective, prices, regressions
from gopfast.checker.problem import Problem
from gopfast.checker.rounding import Interval
from gopfast.checker.verify import Bounds
from gopfast.errors import InputError
from tests.support import proofs

KINDS = ("plain", "ties", "near ties", "lattice", "offset", "scales")
MODELS = [
    dict(p=1, known=True), dict(p=1, known=False), dict(p=1, known=False, fit_intercept=False), dict(p=2, known=False),
    dict(p=2, known=True, fit_intercept=False),
]  # fmt: skip


def case_of(kind, seed, K=2, **model):
    """A problem as the user states it, and the checker's bounds of it; the places are random where they may be."""
    rng = np.random.default_rng([seed, len(kind)])
    try:
        case = data.problem(kind, rng, n=9, K=K, **model)
    except InputError:
        pytest.skip("data that determine no coefficients")
    stated = Problem(case._record_of_proof(), case.X, case.sample_weight)
    places = proofs.random_places(stated, rng)
    places[:, :-1] *= np.abs(case.regressors).max(axis=0)
    return rng, case, Bounds(stated, np.zeros(case.n_features), places), places


def fitted(case, bounds, places, counts):
    """The exact cell (p,) of the responsibilities counts / 64 of a component, S and its cost in mpmath; or None."""
    (Z, y), w = data.design(case), exact(case.sample_weight)
    mass = w * exact(counts / 64.0)
    found = data.fit(Z, y, mass) if mass.sum() else None
    if found is None:
        return None
    cell, cost = data.exact_cell(bounds, places, found, mass)
    return cell, mass, cost


def features(case, bounds, places):
    """What costs are linear in, exact: (n, F) Fractions for the user's samples."""
    rows, at = regressions.designs(bounds.problem, case.X.T), regressions.designs(bounds.problem, places.T)
    unit, inverse = Fraction(np.sqrt(bounds.problem.least_variance)), regressions.inverse_of(at)
    q = len(at)
    Z = [[sum(row[i] * inverse[i][j] for i in range(q)) for j in range(q)] for row in rows]
    out = []
    for row, y in zip(Z, case.response.tolist(), strict=True):
        r = (Fraction(y) - sum(z * Fraction(v) for z, v in zip(row, places[:, -1].tolist(), strict=True))) / unit
        products = [row[j] * row[k] for j in range(q) for k in range(j, q)]
        out.append([r * r, *(r * z for z in row), *products])
    more = bounds.rules.n_features - len(out[0])
    signs = [[(x > 0) - (x < 0) for x in column] for column in zip(*[line[1 + q :] for line in out], strict=True)]
    mixed = [e for e, own in enumerate(signs) if min(own) < 0 < max(own)]
    assert len(mixed) == more
    return np.array([[*line, *(abs(line[1 + q + e]) for e in mixed)] for line in out], dtype=object)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_root_holds_all_fits_and_slopes_lie_below_their_costs(kind, model, seed):
    rng, case, bounds, places = case_of(kind, seed, **model)
    phi, rules, tried = features(case, bounds, places), bounds.rules, 0
    with mpmath.workdps(60):
        log_unit = mpmath.log(mpmath.mpf(float(np.sqrt(bounds.problem.least_variance))))
        for _ in range(6):
            counts = np.rint(64 * rng.random(case.n_samples) ** rng.choice([0.3, 1.0, 6.0]))
            found = fitted(case, bounds, places, counts)
            if found is None:
                continue
            cell, mass, cost = found
            S = mass.sum()
            cost -= data.number(S) * log_unit  # in the core's units
            assert all(low <= x <= high for low, x, high in zip(rules.low, cell, rules.high, strict=True))
            for low, high in boxes(rng, cell, rules.low, rules.high, 4):
                tried += 1
                slopes = rng.normal(size=rules.n_slopes) * 10.0 ** rng.uniform(-4, 1)
                if rng.random() < 0.5:  # those of a parabola about the middle
                    middle = 0.5 * low[: rules.q] + 0.5 * high[: rules.q]
                    slopes[0] = abs(slopes[0]) * rng.choice([1.0, -1.0])
                    slopes[1 : 1 + rules.q] = -2 * slopes[0] * middle
                a = rules.intercepts(*(part[np.newaxis, np.newaxis] for part in (low, high, slopes)), None)[0, 0, 0]
                total = S * Fraction(a) + (mass[:, None] * phi * exact(slopes)).sum()
                assert data.number(total) <= cost
    assert tried >= 4


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_no_component_saves_more_than_its_cell(kind, model):
    rng, case, bounds, places = case_of(kind, 7, **model)
    rules, W = bounds.rules, float(case.sample_weight.sum())
    merged, of = np.unique(case.X, axis=0, return_inverse=True)
    if len(merged) == case.n_samples:  # as the checker has them
        merged, of = case.X, np.arange(case.n_samples)
    with mpmath.workdps(50):
        log_unit = mpmath.log(mpmath.mpf(float(np.sqrt(bounds.problem.least_variance))))
        for _ in range(12):
            counts = np.clip(np.rint(64 * rng.random(case.n_samples) ** rng.choice([0.3, 1.0, 6.0])), 1, 64)
            found = fitted(case, bounds, places, counts)
            if found is None:
                continue
            cell, mass, cost = found
            lam = rng.normal(size=len(merged)) * rng.choice([1.0, 5.0]) + rng.choice([0.0, 20.0])
            saved = data.number(mass.sum()) * (mpmath.log(data.number(mass.sum()) / W) + log_unit) - cost
            for m, count, price in zip(mass, counts, lam[of.ravel()], strict=True):
                saved += data.number(m) * (mpmath.mpf(float(price)) - mpmath.log(mpmath.mpf(float(count)) / 64))
            for low, high in boxes(rng, cell, rules.low, rules.high, 4):
                slopes = rng.normal(size=(1, rules.n_slopes)) * 10.0 ** rng.uniform(-4, 0)
                scales = rng.normal(size=1) * rng.choice([0.1, 3.0])
                most = prices.savings(bounds, lam, low[np.newaxis], high[np.newaxis], slopes, scales, np.zeros(1))[0]
                assert most >= saved


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("digits", [1, 9])
def test_the_box_of_fits_is_that_of_all_sets_of_as_many_samples(q, digits):
    rng = np.random.default_rng(q)
    Z = np.rint(3 * rng.normal(size=(9, q))) + 10.0**-digits * np.rint(3 * rng.normal(size=(9, q)))
    Z = np.vstack([Z, Z[:3]])
    y = rng.normal(size=len(Z))
    rows, response = [list(map(Fraction, row)) for row in Z.tolist()], list(map(Fraction, y.tolist()))
    low, high = regressions.hull(rows, regressions.enclosed(response))
    fits = []
    for at in itertools.combinations(range(len(Z)), q):
        inverse = regressions.inverse_of([rows[i] for i in at])
        if inverse is not None:
            fits.append([sum(w * response[i] for w, i in zip(line, at, strict=True)) for line in inverse])
    least, most = ([end(column) for column in zip(*fits, strict=True)] for end in (min, max))
    for j in range(q):
        assert Fraction(low[j]) <= least[j] and most[j] <= Fraction(high[j])
        width = most[j] - least[j]
        assert least[j] - Fraction(low[j]) <= Fraction(1, 100) * width
        assert Fraction(high[j]) - most[j] <= Fraction(1, 100) * width


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_cell_of_one_component_is_where_it_is(model):
    _, case, bounds, places = case_of("plain", 3, K=1, **model)
    cell, *_ = fitted(case, bounds, places, np.full(case.n_samples, 64.0))
    rules = bounds.rules
    for low, x, high in zip(rules.low, cell, rules.high, strict=True):
        assert low <= x <= high
        assert high - low <= 1e-15 * max(1.0, abs(low))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("known", [True, False])
def test_the_objective_is_not_rounded_down(kind, known):
    rng, case, bounds, _ = case_of(kind, 2, p=2, known=known)
    state = case.maximize(rng.dirichlet(np.ones(2), case.n_samples))
    solution = {name: value.tolist() for name, value in state.items()}
    found = objective.attained(bounds.problem, bounds.columns, bounds.weights, solution)
    with mpmath.workdps(50):
        value = mpmath.mpf(0)
        total = mpmath.fsum(state["weights"].tolist())
        for row, w in zip(case.X.tolist(), case.sample_weight.tolist(), strict=True):
            density = mpmath.mpf(0)
            for k in range(2):
                mean = mpmath.mpf(float(state["intercepts"][k]))
                mean += mpmath.fsum(mpmath.mpf(row[j]) * float(b) for j, b in enumerate(state["coefficients"][k]))
                v = mpmath.mpf(case.noise_variance if known else float(state["variances"][k]))
                density += mpmath.mpf(float(state["weights"][k])) / total * mpmath.npdf(row[-1], mean, mpmath.sqrt(v))
            value -= w * mpmath.log(density)
    assert value <= found <= value + 1e-6 * (1 + abs(value))


def test_what_is_no_proof_of_regressions_is_refused():
    record = {"family": "regression", "n_components": 2, "variance_floor": [0.1], "fit_intercept": True}
    X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 7.0]])
    stated = Problem(record, X, None)
    for axes in ([[0.0, 1.0], [0.0, 2.0]], [[1.0, 0.0], [1.0, 0.0]]):
        with pytest.raises(ProofError, match="axes: have no inverse"):
            Bounds(stated, np.zeros(2), np.array(axes))
    with pytest.raises(ProofError, match="axes: must be given"):
        Bounds(stated, np.zeros(2), None)
    with pytest.raises(ProofError, match="fit_intercept must be true or false"):
        Problem(record | {"fit_intercept": 1}, X, None)
    with pytest.raises(ProofError, match="must have regressors and a response"):
        Problem(record | {"fit_intercept": False}, X[:, :1], None)
    solution = {"weights": [0.5, 0.5], "coefficients": [[1.0], [0.0]], "intercepts": [0.0, 1.0]}
    solution["variances"] = [0.1, 0.09]
    with pytest.raises(ProofError, match="variances lie below the floor"):
        objective.attained(stated, X, np.ones(4), solution)
    with pytest.raises(ProofError, match="solution: coefficients"):
        objective.attained(stated, X, np.ones(4), solution | {"coefficients": [1.0, 0.0]})


def test_too_many_sets_of_samples_are_refused(monkeypatch):
    monkeypatch.setattr(regressions, "MOST_SETS", 3)
    rows = [[Fraction(i), Fraction(1)] for i in range(4)]
    with pytest.raises(ProofError, match="more than 3 sets of 2 rows"):
        regressions.hull(rows, regressions.enclosed(rows[0] * 2))
    monkeypatch.setattr(regressions, "MOST_SETS", 100)
    monkeypatch.setattr(regressions, "MOST_EXACT_SETS", 0)
    rows = [[Fraction(i), Fraction(i * i), Fraction(1)] for i in range(4)]
    with pytest.raises(ProofError, match="nearly dependent"):
        regressions.hull([[Fraction(2)] * 3] + rows, regressions.enclosed([Fraction(0)] * 5))


@pytest.mark.parametrize("seed", range(30))
def test_neighbours_have_the_lines_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    rows, low, high = data.lines(rng, rng.integers(2, 12))
    data.assert_extremes(regressions.hull(rows, Interval(np.array(low, float), np.array(high, float))), rows, low, high)
    pairs, n = regressions._of_neighbours(rows)
    assert len(list(pairs)) == n <= math.comb(len(rows), 2)
