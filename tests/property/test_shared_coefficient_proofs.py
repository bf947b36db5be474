"""Proofs of regressions that share a coefficient: accepted, with bounds that no mixture is below; changed ones not."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from support import shared_coefficients as cases, shared_proofs
from support.proofs import arguments
from support.sharing import parts, proved, refute, stated, stopped

import gopfast
from gopfast.checker import ProofError, check, file
from gopfast.checker.shared_coefficients import ranges_of
from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.problems import regression_starts, shared_coefficients as sharing
from gopfast.mixtures.shared.coefficients import Loss
from gopfast.mixtures.shared.far_coefficients import FarBound

FAMILIES = ("known", "normal", "shared")
KINDS = [(family, grouped) for family in FAMILIES for grouped in (False, True)]


@functools.cache
def of_many_values(family="normal", grouped=False):
    """A problem whose bound takes several values of the coefficient, and its result."""
    case, _ = cases.drawn(family, 2 * grouped, grouped=grouped)
    return case, proved(case)


@pytest.mark.parametrize(("family", "grouped"), KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_no_mixture_is_below_what_is_proved(family, grouped, seed):
    refute(family, grouped, seed, max_nodes=4_000, time_limit=20.0)


@pytest.mark.parametrize(("family", "grouped"), KINDS)
def test_a_proof_is_as_good_as_the_search(family, grouped):
    case, result = of_many_values(family, grouped)
    found = check(result.proof, *arguments(case), case)
    assert result.success and found.gap <= 0.01 and len(parts(result)[1]["values"]) > 2
    plain = gopfast.solve(case, n_threads=1, log=False)
    assert result.objective == pytest.approx(plain.objective, abs=1e-9)


@pytest.mark.parametrize("limit", [{"time_limit": 0.0}, {"max_nodes": 300}, {"callback": lambda state: True}])
def test_what_a_limit_leaves_is_proved(limit):
    case, _ = of_many_values()
    assert stopped(case, **limit).lower_bound >= ceiling.least_objective(case) - 1e-6


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(8))
def test_bounds_between_values_hold_for_every_slope(family, seed):
    """Against the loss on a fine grid, and mixtures that EM finds at known coefficients."""
    case, rng = cases.drawn(family, [seed, 4], p=1 + seed % 2)
    ranges = ranges_of(stated(case), rng.normal(size=case._n_coefficients - 1), np.zeros((0, 0), int))
    loss, W = Loss.of(case), float(case._row_weight.sum())
    m = float(ranges.steepest)
    assert m >= loss.quadratic * (1 - 1e-6)  # whose direction is the best
    a, width = rng.normal(), 10.0 ** rng.uniform(-3, 1) / math.sqrt(m)
    b = a + width
    lowers = sorted(rng.normal(size=2) * 10.0 ** rng.uniform(-2, 2), reverse=bool(rng.random() < 0.5))
    s = np.linspace(0.0, 1.0, 2001)
    V = s * (1 - s) * width**2
    if family == "known":
        lost = m * V
    else:
        t = 2 * m * V / W
        lost = 0.5 * W * np.where(t <= 1, t, 1 + np.log(np.maximum(t, 1.0)))
    exact = ((1 - s) * lowers[0] + s * lowers[1] - lost).min()
    found = [
        float(ranges.between(a, b, *map(Fraction, lowers), slope))
        for slope in m * np.exp(np.concatenate([[0.0, 5.0], -30 * rng.random(200)]))
    ]
    assert max(found) <= exact + 1e-6 * (1 + abs(exact))  # the grid's own error, of second order
    best = loss._replace(quadratic=m).between(a, b, *lowers)
    of_best = float(ranges.between(a, b, *map(Fraction, lowers), best.slope))
    assert of_best == pytest.approx(best.bound, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(8))
def test_no_mixture_of_a_far_coefficient_costs_less(family, seed):
    case, rng = cases.drawn(family, [seed, 5], n=12, p=1 + seed % 2, kind=("plain", "lattice")[seed % 2])
    core = FarBound(case, ceiling.least_objective(case))
    if not core.blocks:
        pytest.skip("no blocks")
    own = stated(case)
    ranges = ranges_of(own, np.zeros(own.n_own), np.array(core.blocks))
    for _ in range(10):
        value = float(rng.normal() * core.unit * 10.0 ** rng.uniform(-1, 2))
        far = ranges.far(value, value)
        assert far == pytest.approx(core.least(value, value), rel=1e-6, abs=1e-6)
        fixed = sharing.fixed(case, value)
        tau = regression_starts.lines(fixed, rng)
        attained = regression_starts.run(fixed, tau, 40)[0]
        assert far <= attained + 1e-9 * (1 + abs(attained))
        low, high = value - core.unit * rng.exponential(), value + core.unit * rng.exponential()
        for ends in ((low, high), (low, math.inf), (-math.inf, high)):
            assert np.nextafter(ranges.floor, -np.inf) <= ranges.far(*ends) <= far


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(6))
def test_rounded_responses_cost_no_more_than_is_taken_off(family, seed):
    """With responses of so large parts that their rounding counts."""
    case, rng = cases.drawn(family, [seed, 6])
    own, value = stated(case), float(rng.normal() * 1e9)
    ranges = ranges_of(own, np.zeros(own.n_own), np.zeros((0, 0), int))
    rounded = own.fixed(value)[1][:, -1]
    exact = [Fraction(y) - Fraction(value) * Fraction(x)
             for y, x in zip(case.response.tolist(), own.shared_regressor().tolist(), strict=True)]  # fmt: skip
    w, K = case._row_weight, case.n_components
    line = np.array([rng.normal(size=len(w)) for _ in range(K)]).T + rounded[:, np.newaxis]  # any predictions
    off = np.array([float(Fraction(r) - e) for r, e in zip(rounded.tolist(), exact, strict=True)])
    tau = rng.dirichlet(np.ones(K), len(w))
    residuals = rounded[:, np.newaxis] - line
    level = own.mixture.least_variance

    def cost(residuals):
        squares, mass = (w[:, np.newaxis] * tau * residuals**2).sum(axis=0), w @ tau
        if family == "known":
            return 0.5 * squares.sum() / level + 0.5 * w.sum() * math.log(2 * math.pi * level)
        if family == "shared":
            squares, mass = squares.sum(), w.sum()
        v = np.maximum(squares / mass, level)
        return float(np.sum(mass * 0.5 * np.log(2 * np.pi * v) + 0.5 * squares / v))

    lower = cost(residuals)
    lost = float(ranges.lost(value, lower))
    assert off.any() and cost(residuals + off[:, np.newaxis]) >= lower - lost - 1e-12 * abs(lower)
    assert cost(residuals - off[:, np.newaxis]) <= lower + lost * (1 + 1e-6) + 1e-12 * abs(lower)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(8))
def test_blocks_of_any_rows_of_groups_cost_no_more_than_mixtures(family, seed):
    """Rows at random, several of a group among them."""
    case, rng = cases.drawn(family, [seed, 7], n=12, p=1 + seed % 2, grouped=True)
    own, q = stated(case), case._n_coefficients - 1
    size = case.n_components * q + 1
    blocks = rng.permutation(12)[: 12 // size * size].reshape(-1, size)
    ranges = ranges_of(own, np.zeros(q), blocks)
    for _ in range(10):
        value = float(rng.normal() * 10.0 ** rng.uniform(-2, 3))
        fixed = sharing.fixed(case, value)
        attained = regression_starts.run(fixed, cases.shares(fixed, rng), 40)[0]
        assert ranges.far(value, value) <= attained + 1e-9 * (1 + abs(attained))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", shared_proofs.CHANGES)
def test_changed_proofs_are_refused(name, grouped):
    case, result = of_many_values(grouped=grouped)
    header, arrays = parts(result)
    shared_proofs.CHANGES[name](header, arrays)
    with pytest.raises(ProofError):
        check(file.pack("shared_coefficients", header, arrays), *arguments(case))


@pytest.mark.parametrize("change", ["another group", "groups apart", "no groups", "one group more"])
def test_proofs_are_of_their_groups(change):
    case, result = of_many_values(grouped=True)
    header, arrays = parts(result)
    X, weights = (part.copy() for part in arguments(case))
    if change == "no groups":
        del header["problem"]["groups"]
    elif change == "another group":
        header["problem"]["groups"] = 0
    elif change == "groups apart":
        X[:, -2] = np.arange(len(X))
    else:
        X[X[:, -2] == X[0, -2], -2] = X[X[:, -2] != X[0, -2], -2][0]
    header["digest"] = file.digest(X, weights)
    with pytest.raises(ProofError):
        check(file.pack("shared_coefficients", header, arrays), X, weights)


def test_blocks_of_equal_regressors_need_them():
    """K + 1 samples have two of one component, but only where their regressors are the same do these cost."""
    case, _ = cases.drawn("normal", [0, 8], p=2, n=12)
    own = stated(case)
    with pytest.raises(ProofError, match="have the same regressors"):
        ranges_of(own, np.zeros(own.n_own), np.arange(3).reshape(1, 3))


def test_other_data_are_refused():
    case, result = of_many_values()
    X, w = case._data_of_proof(), case.sample_weight
    for data, weights in ((X + 1e-9, w), (X, 2 * w), (X[:-1], w[:-1]), (X[:, ::-1], w)):
        with pytest.raises(ProofError, match="digest"):
            check(result.proof, data, weights)


def test_what_has_no_entry_is_refused_before_any_work():
    rng = np.random.default_rng(0)
    x, y, owner = rng.normal(size=12), rng.normal(size=12), np.repeat(np.arange(4), 3)
    several = gopfast.RegressionMixture(np.column_stack([x, x**2]), y, 2, groups=owner, shared_coefficients=[0, 1])
    counts = gopfast.RegressionMixture(
        np.column_stack([x, x**2]), rng.poisson(3.0, 12), 2, family="poisson", shared_coefficients=[0, 1]
    )
    for problem in (several, counts):
        with pytest.raises(gopfast.InputError, match="proof must be None: proofs have no entry yet"):
            gopfast.solve(problem, proof=True)
