"""Mixtures of regressions of counts: boxes, bounds and prices against fits in many digits; searches by brute force."""

import itertools

import mpmath
import numpy as np
import pytest
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from support import counts
from support.attack import boxes, exact, holds
from support.audit import assert_audited
from support.exhaustive import brute_force_optimum

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.families import design
from gopfast.mixtures.plan import MixturePlan
from gopfast.options import Options
from gopfast.result import Status

FAMILIES = ("poisson", "binomial")
every_family = pytest.mark.parametrize("family", FAMILIES)


@every_family
def test_boxes_around_fits_keep_them_and_are_bounded_below_their_objective(family):
    tried = 0
    for seed, kind in enumerate(counts.DATA):
        failures, number = counts.attacked(
            kind, seed, n=7, n_points=2, n_boxes=10, p=1 + (seed == 2), family=family, fit_intercept=seed % 2 > 0,
            grouped=seed in (1, 4, 6),
        )  # fmt: skip
        assert not failures
        tried += number
    assert tried > 60


def test_fits_of_random_weights_lie_in_the_box():
    """Also of a few rows alone, which leave coefficients all but open."""
    tried = 0
    with mpmath.workdps(counts.DIGITS):
        for seed, kind in enumerate(counts.DATA):
            rng = np.random.default_rng(seed)
            case = counts.problem(kind, rng, n=9, family=FAMILIES[seed % 2])
            core = engine.family(case)
            for _ in range(2):
                mass = exact(10.0 ** rng.uniform(-rng.choice([1, 6, 12]), 0, case.n_samples))
                b = counts.fit(case, mass)
                if b is not None:
                    tried += 1
                    assert holds(core.design.low, core.design.high, counts.at_places(core, b)) < 0
    assert tried > 10


def test_blocks_have_the_box_of_all_their_rows():
    rng = np.random.default_rng(0)
    Z = np.zeros((9, 4))
    Z[:4, [0, 2]], Z[4:, [1, 3]] = np.rint(4 * rng.normal(size=(4, 2))), np.rint(4 * rng.normal(size=(5, 2)))
    y = rng.normal(size=9)
    assert design._blocks(Z) == [[0, 2], [1, 3]]
    low, high = design.hull(Z, design.rational(Z), y, y)
    fits = [
        np.linalg.solve(Z[list(some)], y[list(some)]) for some in itertools.combinations(range(9), 4)
        if abs(np.linalg.det(Z[list(some)])) > 0.5
    ]  # fmt: skip
    np.testing.assert_allclose(low, np.min(fits, axis=0), rtol=1e-9)
    np.testing.assert_allclose(high, np.max(fits, axis=0), rtol=1e-9)


@every_family
def test_no_component_costs_less_than_its_cell(family):
    """Prices and responsibilities at random: a cell that holds the fit bounds what it saves."""
    for seed, kind in enumerate(("plain", "zeros", "ends", "large")):
        rng = np.random.default_rng(seed)
        case = counts.problem(kind, rng, n=8, p=1 + seed % 2, family=family)
        one = engine.family(case).one_component(case)
        pricing, w = ComponentPricing(one), exact(case.sample_weight)
        for _ in range(3):
            tau = rng.random(case.n_samples) ** rng.choice([0.3, 1.0, 4.0])
            prices = rng.normal(size=case.n_samples) * 3.0 + rng.choice([0.0, 5.0])
            mass = w * exact(tau)
            with mpmath.workdps(counts.DIGITS):
                b = counts.fit(case, mass)
                if b is None:
                    continue
                point, (Z, y, _, offset) = counts.at_places(one, b), counts.rows(case)
                part = counts.number(mass.sum())
                saved = part * mpmath.log(part / counts.number(w.sum()))
                for i, m in enumerate(mass):
                    eta = offset[i] + sum(x * c for x, c in zip(Z[i], b, strict=True))
                    saved += counts.number(m) * (
                        mpmath.mpf(prices[i]) - mpmath.log(mpmath.mpf(tau[i])) - counts.cost(case, i, eta, y)
                    )
                # prices are of costs that begin at 0, with the constant apart
                constant, _ = case._rows.constants()
                saved += sum(counts.number(m) * mpmath.mpf(c) for m, c in zip(mass, constant, strict=True))
            pricing.set_prices(prices)
            for low, high in boxes(rng, point, *counts.near(pricing.root(), point), 6):
                assert pricing.bound_cell(low, high) >= saved - 1e-11 * (1 + abs(saved))


@every_family
@pytest.mark.parametrize("seed", range(2))
def test_bounds_enclose_the_brute_force_optimum(family, seed):
    case = counts.problem(("plain", "zeros")[seed], np.random.default_rng(10 + seed), n=5, family=family)
    reference = brute_force_optimum(case, n_kept=2, n_random=2)
    result = gopfast.solve(case, 0.01, max_nodes=4000)
    assert result.lower_bound <= reference + 1e-9 * (1 + abs(reference))
    if result.success:
        assert result.objective <= reference + 0.01 + 1e-9 * (1 + abs(reference))
    value = case.objective(result.solution.weights, **result.solution.parameters)
    assert value - 1e-9 * (1 + abs(value)) <= result.objective <= value + 1e-5


@every_family
def test_no_node_around_the_optimum_has_a_bound_above_it(family):
    assert_audited(counts.problem("plain", np.random.default_rng(2), n=20, family=family), 600, 600)


@every_family
@pytest.mark.parametrize("relaxation", [None, "pricing"])
def test_nothing_better_than_the_optimum_is_proved(family, relaxation):
    """A search that must prove one nat more than is true."""
    case = counts.problem("plain", np.random.default_rng(3), n=14, family=family)
    core = engine.family(case)
    reduction, reduce_from = MixturePlan(case, core, Options.from_arguments(1.0, relaxation=relaxation)).reduction()
    search = Search(
        EntropicRelaxation(core), MixturePrimal(core), -1.0, rel_tol=-1e300, reduction=reduction,
        reduce_from=reduce_from, max_nodes=1000,
    )  # fmt: skip
    assert Status(search.run()) not in (Status.OPTIMAL, Status.CUTOFF)


def test_the_number_of_threads_changes_nothing():
    case = counts.problem("plain", np.random.default_rng(5), n=30)
    results = [gopfast.solve(case, n_threads=n, max_nodes=600) for n in (1, 3)]
    one, other = ((r.n_nodes, r.n_passes, r.objective, r.lower_bound) for r in results)
    assert one == other
