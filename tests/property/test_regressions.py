"""Mixtures of regressions: boxes, bounds and prices against exact fits; searches against brute force."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from support import regressions
from support.attack import exact
from support.audit import assert_audited
from support.exhaustive import brute_force_optimum
from support.settings import EVERY, some

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.families import design
from gopfast.mixtures.plan import MixturePlan
from gopfast.options import Options
from gopfast.result import Status

# p, whether variances are known, whether there is an intercept
MODELS = [
    dict(p=1, known=True), dict(p=1, known=False), dict(p=1, known=False, fit_intercept=False),
    dict(p=2, known=True, fit_intercept=False), dict(p=2, known=False), dict(p=1, known=False, shared=True),
    dict(p=2, known=False, shared=True, fit_intercept=False), dict(p=1, known=False, grouped=True),
    dict(p=1, known=False, shared=True, grouped=True),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("kind", regressions.DATA)
def test_boxes_around_exact_fits_keep_them_and_are_bounded_below_their_objective(kind, model):
    tried = 0
    for seed in range(4):
        if EVERY > 1 and tried > 20:
            break
        try:
            failures, number = regressions.attacked(kind, seed, **model)
        except InputError:
            continue
        assert not failures
        tried += number
    assert tried > 20


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("kind", ["plain", "ties", "near ties", "lattice", "grouped"])
def test_no_multipliers_bound_one_component_below_what_it_saves(kind, known):
    """Prices, responsibilities and multipliers at random: a cell that holds the fit bounds what it saves."""
    kind, grouped = ("plain", True) if kind == "grouped" else (kind, False)
    for seed in some(range(6)):
        rng = np.random.default_rng(seed)
        case = regressions.problem(kind, rng, n=9, p=1 + seed % 2, known=known, grouped=grouped)
        first, of = np.unique(case._group_of, return_index=True)[1], case._group_of
        one = engine.family(case).one_component(case)
        pricing, (Z, y), w = ComponentPricing(one), regressions.design(case), exact(case.sample_weight)
        for _ in range(4):
            tau = (rng.random(case.n_samples) ** rng.choice([0.3, 1.0, 4.0]))[first][of]
            prices = (rng.normal(size=case.n_samples) * 3.0 + rng.choice([0.0, 5.0]))[first][of]
            mass = w * exact(tau)
            rows = mass * case._rows_of_group.tolist()
            found = regressions.fit(Z, y, rows)
            if found is None:
                continue
            b, v = found
            unit = Fraction(one.design.unit)
            point = [
                (sum(x * c for x, c in zip(place, b, strict=True)) - shift) / unit
                for place, shift in zip(one.design.places, one.design.values, strict=True)
            ] + [v / unit**2] * (not known)
            with mpmath.workdps(50):
                total, part = regressions.number(w.sum()), regressions.number(mass.sum())
                square = regressions.number(v / unit**2)
                top = mpmath.mpf(1) if known else max(square, mpmath.mpf(1))
                saved = part * mpmath.log(part / total)
                saved -= regressions.number(rows.sum()) * (mpmath.log(2 * mpmath.pi * top) + square / top) / 2
                for m, t, price in zip(mass, tau, prices, strict=True):
                    saved += regressions.number(m) * (mpmath.mpf(float(price)) - mpmath.log(mpmath.mpf(float(t))))
            pricing.set_prices(prices[first])
            root = pricing.root()
            for low, high in regressions.boxes(rng, point, *root, 6):
                multipliers = rng.exponential(size=one.n_facets) * 10.0 ** rng.uniform(-6, 1)
                multipliers *= rng.random(one.n_facets) < 0.6
                assert pricing.bound_cell(low, high, multipliers=multipliers) >= saved
                assert pricing.bound_cell(low, high) >= saved


@pytest.mark.parametrize("q", [1, 2, 3])
def test_the_box_of_fits_is_that_of_all_sets_of_as_many_samples(q):
    rng = np.random.default_rng(q)
    Z = np.rint(3 * rng.normal(size=(9, q)))
    Z = np.unique(Z, axis=0)
    y = rng.normal(size=len(Z))
    low, high = design.hull(Z, design.rational(Z), y, y)
    fits = []
    for rows in itertools.combinations(range(len(Z)), q):
        if abs(np.linalg.det(Z[list(rows)])) > 0.5:
            fits.append(np.linalg.solve(Z[list(rows)], y[list(rows)]))
    np.testing.assert_allclose(low, np.min(fits, axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(high, np.max(fits, axis=0), rtol=1e-9, atol=1e-9)
    assert (low <= np.min(fits, axis=0) + 1e-13).all() and (high >= np.max(fits, axis=0) - 1e-13).all()


@pytest.mark.parametrize("seed", range(30))
def test_neighbours_have_the_lines_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    rows, low, high = regressions.lines(rng, rng.integers(2, 12))
    z, ends = np.array([[float(x) for x in row] for row in rows]), [np.array(part, float) for part in (low, high)]
    regressions.assert_extremes(design.hull(z, rows, *ends), rows, low, high)
    pairs, n = design._neighbours(rows)
    assert len(list(pairs)) == n <= math.comb(len(rows), 2)


def test_as_many_rows_as_there_are_pairs_of_neighbours():
    """Twelve thousand have 80 million pairs, of which fits were refused."""
    x = np.arange(12_000.0)
    core = engine.family(gopfast.RegressionMixture(x, np.sin(x), 2)).design
    assert (core.low < core.high).all()


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_enclose_the_brute_force_optimum(model, seed):
    kind = ("plain", "lattice", "ties")[seed]
    case = regressions.problem(kind, np.random.default_rng(10 + seed), n=6, **model)
    reference = brute_force_optimum(case)
    result = gopfast.solve(case, 0.01, max_nodes=4000)
    assert result.lower_bound <= reference + 1e-9 * (1 + abs(reference))
    assert result.objective >= reference - 1e-6 * (1 + abs(reference))
    if result.success:
        assert result.objective <= reference + 0.01 + 1e-9 * (1 + abs(reference))
    value = case.objective(result.solution.weights, **result.solution.parameters)
    # rounded up, the more the steeper the regressions are
    assert value - 1e-9 * (1 + abs(value)) <= result.objective <= value + 1e-5


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_node_around_the_optimum_has_a_bound_above_it(model):
    for seed, kind in enumerate(("plain", "ties")):
        assert_audited(regressions.problem(kind, np.random.default_rng(seed), n=20, **model), 1500, 1500)


@pytest.mark.parametrize("seed", range(6))
def test_a_shared_variance_costs_phi_of_the_squares_and_the_rest(seed):
    """And the lines of fixed variances lie below the rest."""
    rng = np.random.default_rng(seed)
    case = regressions.problem(regressions.DATA[seed], rng, n=12, p=1 + seed % 2, shared=True)
    slices, w = engine.family(case).slices(), case.sample_weight
    least = {}
    for alpha in (1.0, 0.3, 0.02):
        family = slices.family(alpha)
        search = Search(EntropicRelaxation(family), MixturePrimal(family), 0.1, max_nodes=300)
        search.run()
        least[alpha] = search.summary()[0]["lower_bound"] + slices.shift(alpha) - slices.loss(alpha)
    for _ in range(20):
        tau = rng.dirichlet(np.full(2, rng.choice([0.05, 0.5, 3.0])), case.n_samples)
        state = case.maximize(tau)
        fitted = case.predict(case.regressors, state["coefficients"], state["intercepts"])
        squares = np.square(case.response[:, np.newaxis] - fitted)
        s = 0.5 * (w[:, np.newaxis] * tau * squares).sum() / case.variance_floor
        share = w @ tau / w.sum()
        R = float((w[:, np.newaxis] * tau * (np.log(np.maximum(tau, 1e-300)) - np.log(share))).sum())
        value = case.objective(responsibilities=tau, **state)
        assert slices.phi(s) + R == pytest.approx(value, rel=1e-9, abs=1e-6)
        for alpha, beta in least.items():
            assert beta <= R + alpha * s + 1e-9 * (1 + abs(beta) + s)


@pytest.mark.parametrize("known, shared", [(True, False), (False, False), (False, True)])
@pytest.mark.parametrize("relaxation", [None, "pricing"])
def test_nothing_better_than_the_optimum_is_proved(known, shared, relaxation):
    """A search that must prove one nat more than is true."""
    if shared and relaxation:
        pytest.skip("components that share a variance have no prices of their own")
    case = regressions.problem("plain", np.random.default_rng(3), n=14, known=known, shared=shared)
    family = engine.family(case)
    options = Options.from_arguments(1.0, relaxation=relaxation)
    reduction, reduce_from = MixturePlan(case, family, options).reduction()
    search = Search(
        EntropicRelaxation(family), MixturePrimal(family), -1.0, rel_tol=-1e300, reduction=reduction,
        reduce_from=reduce_from, max_nodes=2000,
    )  # fmt: skip
    assert Status(search.run()) not in (Status.OPTIMAL, Status.CUTOFF)


@pytest.mark.parametrize("known", [True, False])
def test_the_number_of_threads_changes_nothing(known):
    case = regressions.problem("plain", np.random.default_rng(5), n=40, known=known)
    results = [gopfast.solve(case, n_threads=n, max_nodes=2000) for n in (1, 2, 4)]
    for result in results[1:]:
        assert (result.n_nodes, result.n_passes, result.objective, result.lower_bound) == (
            results[0].n_nodes, results[0].n_passes, results[0].objective, results[0].lower_bound
        )  # fmt: skip
