"""Proofs of counts that share a coefficient: ranges of it against definitions, forged files, searches for too much."""

import contextlib
import dataclasses
import functools
import itertools
import json
import math
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from support import counts, proofs, shared_coefficients as cases, shared_proofs
from support.proofs import arguments
from support.sharing import parts, proved, refute, stated, stopped

import gopfast
from gopfast.checker import ProofError, check, file
from gopfast.checker.counts import Rows
from gopfast.checker.shared_coefficients import Problem, ranges_of
from gopfast.mixtures import shared_proof
from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.problems import regression_starts, shared_coefficients as sharing
from gopfast.mixtures.shared.coefficients import Loss
from gopfast.mixtures.shared.far_coefficients import FarBound
from gopfast.mixtures.shared_coefficients import SharedCoefficientSearch
from gopfast.options import Options

FAMILIES = ("poisson", "binomial")
KINDS = [(family, grouped) for family in FAMILIES for grouped in (False, True)]
families = pytest.mark.parametrize("family", FAMILIES)
kinds = pytest.mark.parametrize(("family", "grouped"), KINDS)


def without_blocks(case, direction=None):
    """The checker's ranges of a problem, without blocks, by the search's direction."""
    own = stated(case)
    return ranges_of(own, shared_proof._direction(case) if direction is None else direction, np.zeros((0, 0), int))


@functools.cache
def of_many_values(family, grouped=False, epsilon=0.01):
    """A problem with an offset, whose bound takes blocks and several values of the coefficient, and its result."""
    seed = {"poisson": 4 - grouped, "binomial": 2}[family]
    case, _ = cases.drawn(family, seed, grouped=grouped, offset=np.linspace(-0.5, 0.5, 10))
    return case, proved(case, epsilon=epsilon)


# Accepted proofs


@kinds
@pytest.mark.parametrize("seed", range(6))
def test_no_mixture_is_below_what_is_proved(family, grouped, seed):
    refute(family, grouped, seed, max_nodes=2_000, time_limit=4.0)


@kinds
def test_a_proof_is_as_good_as_the_search(family, grouped):
    case, result = of_many_values(family, grouped)
    found = check(result.proof, *arguments(case), case)
    arrays = parts(result)[1]
    assert result.success and found.gap <= 0.01 and len(arrays["values"]) > 2 and len(arrays["blocks"])
    assert case.offset is not None
    plain = gopfast.solve(case, n_threads=1, log=False)
    assert result.objective == pytest.approx(plain.objective, abs=1e-9)


def test_a_shared_intercept_has_proofs():
    rng = np.random.default_rng(4)
    x = rng.normal(size=14)
    y = rng.binomial(9, 1.0 / (1.0 + np.exp(-np.where(np.arange(14) % 2, 1.5, -1.5) * x)))
    case = gopfast.RegressionMixture(x, y, 2, family="binomial", n_trials=9, shared_coefficients="intercept")
    result = proved(case)
    assert result.success and check(result.proof, *arguments(case), case).gap <= 0.01


@pytest.mark.parametrize("limit", [{"time_limit": 0.0}, {"max_nodes": 300}, {"callback": lambda state: True}])
def test_what_a_limit_leaves_is_proved(limit):
    case, _ = of_many_values("poisson")
    assert stopped(case, **limit).lower_bound >= ceiling.least_objective(case) - 1e-6


@kinds
def test_a_search_told_to_prove_too_much_proves_nothing_false(family, grouped):
    """A nat more than is true: the writer asks its proofs at values for more than there is, too."""
    case, rng = cases.drawn(family, [2, 7], n=8, grouped=grouped)
    options = dataclasses.replace(Options.from_arguments(0.01, n_threads=1, log=False), time_limit=3.0)
    search = SharedCoefficientSearch(case, dataclasses.replace(options, epsilon=-1.0, rel_tol=-math.inf))
    assert search.tolerance == -1.0 and search.inner.epsilon < 0.0
    result = shared_proof.solve(search, options, True, time.perf_counter())
    best = min(cases.best_of_em(case, rng, 4), result.objective)
    assert result.status not in ("OPTIMAL", "CUTOFF")
    found = check(result.proof, *arguments(case), case)
    assert found.lower_bound <= best + 1e-9 * (1 + abs(best))


def test_proofs_that_the_time_was_too_short_for_have_a_second_turn(monkeypatch):
    case, plain = of_many_values("binomial")
    turns = {}

    class Hurried(shared_proof.MixtureSearch):
        """At every value no time at first."""

        def run(self, seconds=None, *limits):
            name = self.problem.offsets.tobytes()
            turns[name] = turns.get(name, 0) + 1
            return super().run(0.0 if turns[name] == 1 else seconds, *limits)

    monkeypatch.setattr(shared_proof, "MixtureSearch", Hurried)
    result = proved(case)
    assert result.success and result.lower_bound == pytest.approx(plain.lower_bound, abs=1e-3)
    assert set(turns.values()) <= {1, 2} and max(turns.values()) == 2
    assert check(result.proof, *arguments(case), case).gap <= 0.01


# Ranges of the coefficient


@families
@pytest.mark.parametrize("seed", range(8))
def test_slopes_of_the_loss_are_those_of_the_definition(family, seed):
    """In fractions, by any direction; that of the search is as good as its own loss says."""
    case, rng = cases.drawn(family, [seed, 4], p=1 + seed % 2, grouped=seed % 3 == 2)
    loss, q = Loss.of(case), case._n_coefficients - 1
    Z = case._design()
    x, own = Z[:, case._shared_at], np.delete(Z, case._shared_at, axis=1)
    w, y, n = case._row_weight, case._rows.counts, case.trials
    for direction in (shared_proof._direction(case), rng.normal(size=q)):
        ranges, left = without_blocks(case, direction), x - own @ direction
        if family == "poisson":
            Y, R = w @ y, np.ptp(left)
            quadratic, linear = Y * R**2 / 8, 2 * Y * R
        else:
            quadratic, linear = (w * n) @ left**2 / 8, 2 * (w * n) @ np.abs(left)
        for width in 10.0 ** rng.uniform(-3, 3, 5):
            slope, beyond = ranges._slope(Fraction(width), Fraction(1))
            assert float(slope) == pytest.approx(min(quadratic, linear / width), rel=1e-9) and beyond == 0
    assert float(without_blocks(case).steepest) == pytest.approx(loss.quadratic, rel=1e-6)
    assert float(without_blocks(case).linear) == pytest.approx(loss.linear, rel=1e-6)


@families
@pytest.mark.parametrize("seed", range(8))
def test_bounds_between_values_are_those_of_a_fine_grid(family, seed):
    """Whatever slope the file says: it is that of the loss."""
    case, rng = cases.drawn(family, [seed, 4], p=1 + seed % 2)
    ranges = without_blocks(case)
    a = rng.normal()
    width = 10.0 ** rng.uniform(-3, 2) / math.sqrt(float(ranges.steepest))
    b = a + width
    lowers = sorted(rng.normal(size=2) * 10.0 ** rng.uniform(-2, 2), reverse=bool(rng.random() < 0.5))
    m = min(float(ranges.steepest), float(ranges.linear) / (b - a))
    s = np.linspace(0.0, 1.0, 2001)
    exact = ((1 - s) * lowers[0] + s * lowers[1] - m * s * (1 - s) * (b - a) ** 2).min()
    for slope in 10.0 ** rng.uniform(-30, 10, 5):
        found = float(ranges.between(a, b, *map(Fraction, lowers), slope))
        assert found == pytest.approx(exact, rel=1e-6, abs=1e-6 * (1 + np.abs(lowers).max()))
        assert found <= exact + 1e-9 * (1 + np.abs(lowers).max())


@families
@pytest.mark.parametrize("seed", range(8))
def test_no_mixture_between_two_values_costs_less(family, seed):
    """Mixtures at random, and those EM makes of them, against what proofs at the two values say of all between."""
    case, rng = cases.drawn(family, [seed, 9], n=8, p=1 + seed % 2, grouped=seed % 2 == 1)
    ranges, unit = without_blocks(case), FarBound(case, 0.0).unit
    a = float(rng.normal()) * unit
    b = a + unit * 10.0 ** rng.uniform(-1.5, 0.5)
    lowers = []
    for value in (a, b):
        fixed = sharing.fixed(case, value)
        result = gopfast.solve(fixed, 0.05, proof=True, n_threads=1, log=False, max_nodes=600)
        record, X = ranges.problem.fixed(value)
        found = check(result.proof, X, arguments(case)[1], record)
        lowers.append(Fraction(found.lower_bound) - ranges.lost(value, found.lower_bound))
    bound = float(ranges.between(a, b, *lowers, 1.0))
    for s in np.linspace(0.05, 0.95, 5):
        fixed = sharing.fixed(case, (1 - s) * a + s * b)
        for steps in (1, 40):
            attained = regression_starts.run(fixed, cases.shares(fixed, rng), steps)[0]
            assert bound <= attained + 1e-9 * (1 + abs(attained))


def test_the_loss_is_all_that_is_lost_where_it_can_be():
    """Counts of a logit of 0 at x = -1 and 1: between two values as far from 0 the loss is the whole difference."""
    x = np.tile([-1.0, 1.0], 8)
    for family, more in (("poisson", {}), ("binomial", {"n_trials": 20})):
        case = gopfast.RegressionMixture(x, np.full(16, 10), 2, family=family, shared_coefficients=0, **more)
        ranges, attained = without_blocks(case), []
        width = 0.1 / math.sqrt(float(ranges.steepest))
        for value in (-0.5 * width, 0.0, 0.5 * width):
            fixed = sharing.fixed(case, value)
            attained.append(regression_starts.run(fixed, np.full((16, 2), 0.5), 100)[0])
        ends = [Fraction(attained[0]), Fraction(attained[2])]
        bound = float(ranges.between(-0.5 * width, 0.5 * width, *ends, 1.0))
        assert attained[1] - 1e-5 <= bound <= attained[1] + 1e-9
        assert ends[0] - Fraction(attained[1]) > 1e-3


def blocks_of(case, rng):
    """Rows at random, several of a group or at an end of the counts' range among them."""
    n, size = case.n_samples, case.n_components * (case._n_coefficients - 1) + 1
    return rng.permutation(n)[: n // size * size].reshape(-1, size)


@families
@pytest.mark.parametrize("seed", range(8))
def test_no_mixture_of_a_far_coefficient_costs_less(family, seed):
    """The search's blocks, whose bound is its own, and blocks of any rows."""
    case, rng = cases.drawn(family, [seed, 5], n=14, p=1 + seed % 2, kind=("plain", "lattice")[seed % 2],
                            grouped=seed % 4 > 1)  # fmt: skip
    core = FarBound(case, ceiling.least_objective(case))
    own, some = stated(case), []
    for blocks in (np.array(core.blocks), blocks_of(case, rng)):
        if len(blocks):
            some.append(ranges_of(own, np.zeros(own.n_own), blocks))
    for _ in range(10):
        value = float(rng.normal() * core.unit * 10.0 ** rng.uniform(-1, 1.5))
        fixed, attained = sharing.fixed(case, value), math.inf
        with contextlib.suppress(np.linalg.LinAlgError):  # means so far away have no digits left
            attained = regression_starts.run(fixed, cases.shares(fixed, rng), 40)[0]
        low, high = value - core.unit * rng.exponential(), value + core.unit * rng.exponential()
        for ranges in some:
            far = ranges.far(value, value)
            if ranges is some[0] and core.blocks:
                assert far == pytest.approx(core.least(value, value), rel=1e-6, abs=1e-6)
            assert far <= attained + 1e-9 * (1 + abs(attained)) or math.isnan(attained)
            for ends in ((low, high), (low, math.inf), (-math.inf, high), (-math.inf, math.inf)):
                assert ranges.floor <= ranges.far(*ends) <= far


@families
def test_far_values_are_ruled_out_at_all(family):
    rng = np.random.default_rng(3)
    x = np.repeat(np.arange(8.0), 4)
    eta = np.tile([1.0, -1.0], 16) + 0.1 * x
    if family == "poisson":
        y, more = rng.poisson(np.exp(2.0 + eta)), {}
    else:
        y, more = rng.binomial(30, 1.0 / (1.0 + np.exp(-eta))), {"n_trials": 30}
    case = gopfast.RegressionMixture(x, y, 2, family=family, shared_coefficients=0, **more)
    core = FarBound(case, ceiling.least_objective(case))
    own, upper = stated(case), cases.best_of_em(case, rng)
    ranges = ranges_of(own, np.zeros(1), np.array(core.blocks))
    assert ranges.far(20.0 * core.unit, math.inf) > upper < ranges.far(-math.inf, -20.0 * core.unit)
    assert ranges.far(0.0, 0.2) < upper


@families
@pytest.mark.parametrize("seed", range(4))
def test_lines_lie_below_what_sets_of_rows_cost(family, seed):
    """By (JS4)'s definition in many digits: rows of one component at random coefficients, and at their best ones."""
    case, rng = cases.drawn(family, [seed, 10], n=9, p=1 + seed % 2)
    own, blocks = stated(case), blocks_of(case, rng)
    ranges = ranges_of(own, np.zeros(own.n_own), blocks)
    sets = [some for block in blocks for some in itertools.combinations(block.tolist(), own.n_own + 1)]
    Z, y, n, offset = counts.rows(case)
    z = [row[: own.place] + row[own.place + 1 :] for row in Z]
    tight = 0.0
    with mpmath.workdps(40):
        least = [conjugate(family, y[i], n[i]) for i in range(len(y))]
        for place, some in enumerate(sets):
            value = float(rng.normal() * 10.0 ** rng.uniform(-1, 1))
            lines = [Fraction(h) + min(Fraction(lo) * Fraction(value), Fraction(hi) * Fraction(value))
                     for h, lo, hi in zip(ranges.heights[:, place].tolist(), ranges.steps.low[:, place].tolist(),
                                          ranges.steps.high[:, place].tolist(), strict=True)
                     if math.isfinite(h)]  # fmt: skip
            bound = max(float(line) for line in lines)
            known = [offset[i] + Z[i][own.place] * mpmath.mpf(value) for i in some]
            best = [least_squares(z, y, n, known, some, family), rng.normal(size=own.n_own).tolist()]
            for b in best:
                total = mpmath.mpf(0)
                for i, o in zip(some, known, strict=True):
                    eta = o + sum(mpmath.mpf(c) * t for c, t in zip(b, z[i], strict=True))
                    cumulant = mpmath.exp(eta) if family == "poisson" else n[i] * mpmath.log1p(mpmath.exp(eta))
                    total += mpmath.mpf(case._row_weight[i]) * (cumulant - y[i] * eta + least[i])
                assert bound <= total * (1 + mpmath.mpf(10) ** -12) + mpmath.mpf(10) ** -14
            tight = max(tight, bound)
    assert tight > 0.0


def conjugate(family, mean, trials):
    """A* by its definition."""
    if family == "poisson":
        return mean * mpmath.log(mean) - mean
    rest = trials - mean
    return mean * mpmath.log(mean) + rest * mpmath.log(rest) - trials * mpmath.log(trials)


def least_squares(z, y, n, known, some, family):
    """Coefficients that go near the rows' counts."""
    link = [float(mpmath.log(y[i]) if family == "poisson" else mpmath.log(y[i] / (n[i] - y[i]))) for i in some]
    rows = np.array([[float(t) for t in z[i]] for i in some])
    return np.linalg.lstsq(rows, np.array(link) - [float(o) for o in known], rcond=None)[0].tolist()


@kinds
@pytest.mark.parametrize("seed", range(6))
def test_rounded_offsets_cost_no_more_than_is_taken_off(family, grouped, seed):
    """Costs by their definition in many digits, of offsets and parts so large that their rounding counts."""
    case, rng = cases.drawn(family, [seed, 6], grouped=grouped)
    x, value = case._design()[:, case._shared_at], float(rng.normal() * 1e9)
    given = {"n_trials": case.trials} if family == "binomial" else {}
    groups = {} if case.groups is None else {"groups": case._group_of}
    far = value * x if family == "poisson" or rng.random() < 0.5 else rng.normal(size=len(x))
    case = gopfast.RegressionMixture(
        case.regressors, case.response, case.n_components, family=family, least_count=case.least_count,
        fit_intercept=case.fit_intercept, sample_weight=arguments(case)[1], offset=rng.normal(size=len(x)) - far,
        shared_coefficients=case.shared_coefficients, **given, **groups,
    )  # fmt: skip
    ranges = without_blocks(case, np.zeros(case._n_coefficients - 1))
    record, X = ranges.problem.fixed(value)
    rounded = X[:, record["offset"]].tolist()
    exact = [Fraction(o) + Fraction(value) * Fraction(t)
             for o, t in zip(case.offsets.tolist(), x.tolist(), strict=True)]  # fmt: skip
    moved = any(Fraction(a) != b for a, b in zip(rounded, exact, strict=True))
    assert moved or case._shared_at == case._n_regressors  # an intercept's part and the offset cancel without rounding
    lost = ranges.lost(value, 0.0)
    tau = cases.shares(case, rng)
    lines = rng.normal(size=(len(x), case.n_components))  # any own part of the linear predictors
    _, y, n, _ = counts.rows(case)
    with mpmath.workdps(50):
        change = mpmath.mpf(0)
        for k in range(case.n_components):
            mass = [mpmath.mpf(w) * t for w, t in zip(case._row_weight.tolist(), tau[:, k].tolist(), strict=True)]
            of_exact = [number(o) + c for o, c in zip(exact, lines[:, k].tolist(), strict=True)]
            if family == "poisson":  # means add up to counts, as those of the best constant do
                more = mpmath.log(dot(mass, y) / dot(mass, map(mpmath.exp, of_exact)))
                of_exact = [eta + more for eta in of_exact]
            for m, eta, i in zip(mass, of_exact, range(len(y)), strict=True):
                other = eta + number(Fraction(rounded[i]) - exact[i])
                cost = [mpmath.exp(e) if family == "poisson" else n[i] * mpmath.log1p(mpmath.exp(e))
                        for e in (other, eta)]  # fmt: skip
                change += m * (cost[0] - cost[1] - y[i] * (other - eta))
        assert change <= number(lost)
        assert -change <= number(lost)
    assert moved == (lost > 0) and lost < 1e-3 * (1 + abs(ranges.floor))


def number(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def dot(first, second):
    return sum(a * b for a, b in zip(first, second, strict=True))


def test_offsets_without_digits_prove_nothing():
    case, _ = of_many_values("poisson")
    with pytest.raises(ProofError, match="without digits"):
        without_blocks(case).lost(1e20, 0.0)
    assert stated(case).fixed(1e20)[1].shape == case.X[:, 1:].shape


@kinds
@pytest.mark.parametrize("seed", range(3))
def test_the_floor_is_what_rows_cost_at_least(family, grouped, seed):
    case, _ = cases.drawn(family, [seed, 11], grouped=grouped)
    ranges = without_blocks(case)
    _, y, n, _ = counts.rows(case)
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for i, w in enumerate(case._row_weight.tolist()):
            eta = mpmath.log(y[i]) if family == "poisson" else mpmath.log(y[i] / (n[i] - y[i]))
            total += mpmath.mpf(w) * counts.cost(case, i, eta, y)
        assert ranges.floor <= total <= ranges.floor + 1e-9 * (1 + abs(ranges.floor))
    assert ranges.floor == pytest.approx(ceiling.least_objective(case), rel=1e-9, abs=1e-9)


@kinds
@pytest.mark.parametrize("seed", range(3))
def test_all_fits_lie_within_the_ends(family, grouped, seed):
    """Those of single components through sets of rows, by the definition, and those of random responsibilities."""
    offset = np.random.default_rng(seed).normal(size=10)
    case, rng = cases.drawn(family, [seed, 12], p=1 + seed % 2, grouped=grouped, offset=offset)
    (low, high), Z = without_blocks(case).ends(), case._design()
    response, room = case._rows.saturated() - case.offsets, 1e-6 * (high - low)
    sets = [list(some) for some in itertools.combinations(range(10), Z.shape[1])]
    fits = [np.linalg.solve(Z[some], response[some])[case._shared_at] for some in sets if np.linalg.det(Z[some])]
    assert low == pytest.approx(min(fits), abs=room) and high == pytest.approx(max(fits), abs=room)
    for _ in range(4):
        tau = cases.shares(case, rng)
        state = case.maximize(tau)
        for _ in range(10):
            state = case.maximize(tau, **state)
        value = sharing.narrowed(case, {k: v for k, v in state.items() if k != "weights"})[0]
        assert low - room <= value <= high + room


def test_counts_of_the_likelihood_are_those_of_the_checker():
    case, _ = cases.drawn("binomial", [1, 13])
    rows = Rows(stated(case).mixture, case.X)
    np.testing.assert_array_equal(rows.counts, case._rows.counts)


# Forged files


@kinds
@pytest.mark.parametrize("name", shared_proofs.COUNT_CHANGES)
def test_changed_proofs_are_refused(name, family, grouped):
    case, result = of_many_values(family, grouped)
    header, arrays = parts(result)
    shared_proofs.COUNT_CHANGES[name](header, arrays)
    data = file.pack("shared_coefficients", header, arrays)
    if name in shared_proofs.MAY_BE_TRUE[family]:
        assert proofs.verdict(data, case, *arguments(case), result.objective) in ("refused", "true")
        return
    with pytest.raises(ProofError):
        check(data, *arguments(case))


def numbers_in(entry, path=()):
    """Paths of all numbers of an object of JSON."""
    if isinstance(entry, bool) or not isinstance(entry, (int, float, list, dict)):
        return
    if isinstance(entry, (int, float)):
        yield path
        return
    for key, value in entry.items() if isinstance(entry, dict) else enumerate(entry):
        yield from numbers_in(value, (*path, key))


def changed(entry, path, by):
    """An object of JSON with another number at a path."""
    found = json.loads(json.dumps(entry))
    at = functools.reduce(lambda one, key: one[key], path[:-1], found)
    at[path[-1]] = at[path[-1]] + by
    return found


@kinds
def test_no_number_of_a_file_can_be_changed_to_prove_what_is_false(family, grouped):
    """Each in turn: refused, or what it says is true still."""
    case, result = of_many_values(family, grouped, 0.5)
    header, arrays = parts(result)
    refused, accepted = set(), set()

    def verdict(name, header, arrays):
        data = file.pack("shared_coefficients", header, arrays)
        found = proofs.verdict(data, case, *arguments(case), result.objective)
        assert found in ("refused", "true"), (name, found)
        (refused if found == "refused" else accepted).add(name)

    for path in numbers_in(header):
        # a bound that is larger by 1 is above the objective
        for by in (1, -1) if path[0] == "problem" or path[-1] == "lower_bound" else (1e-4, -1e-4):
            verdict(f"{path[:2]} {by > 0}", changed(header, path, by), arrays)
    for name in ("values", "slopes", "sizes", "blocks"):
        for i in range(0, arrays[name].size, 4 if name in ("slopes", "sizes") else 1):
            for by in (1, -1):
                other = arrays[name].copy()
                other.reshape(-1)[i] += by * (1 if other.dtype.kind == "i" else 1e-3 * (1 + abs(other.reshape(-1)[i])))
                verdict(name, header, {**arrays, name: other})
    assert {"values", "sizes", "('claim', 'lower_bound') True", "('claim', 'objective') False"} <= refused
    assert {"('problem', 'shared_coefficient') True", "('problem', 'n_components') True"} <= refused
    assert "('claim', 'lower_bound') False" in accepted  # what claims less is true


@families
def test_no_number_of_the_proofs_within_can_be_changed_to_prove_what_is_false(family):
    case, result = of_many_values(family, epsilon=0.5)
    n_refused = 0
    for at in np.argsort(parts(result)[1]["sizes"])[-2:].tolist():
        header, arrays = shared_proofs.within(parts(result)[1], at)
        for path in numbers_in(header):
            by = 1 if path[0] in ("problem", "order") else 1e-3
            n_refused += forged(case, result, at, lambda h, a, path=path, by=by: (changed(h, path, by), a))
        for name, array in arrays.items():
            for i in np.unique(np.linspace(0, array.size - 1, min(array.size, 3)).astype(int)):

                def change(h, a, name=name, i=i):
                    other = a[name].copy()
                    other.reshape(-1)[i] += 1 if other.dtype.kind == "i" else 0.5
                    return h, {**a, name: other}

                n_refused += forged(case, result, at, change)
    assert n_refused > 10


def forged(case, result, at, change):
    """Whether a file whose proof at a value is changed is refused; else it says nothing false."""
    header, arrays = parts(result)
    try:
        shared_proofs.inner(header, arrays, lambda *read: file.pack("mixture", *change(*read)), at)
        data = file.pack("shared_coefficients", header, arrays)
    except ProofError:
        return True
    found = proofs.verdict(data, case, *arguments(case), result.objective)
    assert found in ("refused", "true")
    return found == "refused"


def test_poisson_components_that_have_no_intercept_of_their_own_are_refused():
    """(JS2) needs it."""
    case, _ = cases.drawn("poisson", [0, 14], p=2)
    record = case._record_of_proof()
    for change in ({"fit_intercept": False, "shared_coefficient": 0}, {"shared_coefficient": 2}):
        with pytest.raises(ProofError, match="intercepts of their own"):
            Problem({**record, **change}, *arguments(case))


def test_regressors_of_no_use_are_refused():
    """A shared regressor that the others and the constant make: its range is 0."""
    case, _ = cases.drawn("poisson", [0, 15], p=2, kind="lattice")
    X, weights = case.X.copy(), arguments(case)[1]
    X[:, case._shared_at] = 2.0 * X[:, 1 - case._shared_at] + 3.0
    for direction in ([2.0, 3.0], [2.0, 0.0]):
        with pytest.raises(ProofError, match="depends on the others"):
            ranges_of(Problem(case._record_of_proof(), X, weights), np.array(direction), np.zeros((0, 0), int))


@pytest.mark.parametrize("change", ["another group", "groups apart", "no groups"])
def test_proofs_are_of_their_groups(change):
    case, result = of_many_values("binomial", True)
    header, arrays = parts(result)
    X, weights = (part.copy() for part in arguments(case))
    at = header["problem"]["groups"]
    if change == "no groups":
        header["problem"]["groups"] = None
    elif change == "another group":
        header["problem"]["groups"] = 0
    else:
        X[:, at] = np.arange(len(X))
    header["digest"] = file.digest(X, weights)
    with pytest.raises(ProofError):
        check(file.pack("shared_coefficients", header, arrays), X, weights)


def test_other_data_are_refused():
    case, result = of_many_values("poisson")
    X, w = arguments(case)
    for data, weights in ((X + np.eye(1, X.shape[1]) * 1e-9, w), (X, 2 * w), (X[:-1], w[:-1])):
        with pytest.raises(ProofError, match="digest"):
            check(result.proof, data, weights)
