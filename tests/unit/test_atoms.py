"""Values, ranges, tangents and secants of univariate functions against mpmath, on random numbers and extreme ones."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from gopfast.biconvex import atoms

FUNCTIONS = [("exp", 0.0), ("entropy", 0.0), *(("power", a) for a in (2.6, 1.0000001, 0.37, 0.999, -0.7, -3.0, 40.5))]
EXTREME = [0.0, 5e-324, 1e-300, 1e-17, 0.3678, 0.3679, 1 - 1e-16, 1.0, 1 + 1e-15, 3.0, 700.0, 745.2, 1e15, 1e120]


def exact(name, exponent, u):
    u = mpmath.mpf(u)
    if name == "exp":
        return mpmath.exp(u)
    if name == "entropy":
        return u * mpmath.log(u) if u else mpmath.mpf(0)
    if not u and exponent < 0:
        return mpmath.inf
    return u ** mpmath.mpf(exponent)


def numbers(name, seed, count=40):
    rng = np.random.default_rng(seed)
    found = [*EXTREME, *(10.0 ** rng.uniform(-12, 3, count)).tolist()]
    return found + ([-u for u in found] if name == "exp" else [])


def intervals(name, seed):
    rng = np.random.default_rng(1000 + seed)
    points = numbers(name, seed)
    pairs = [tuple(sorted(rng.choice(points, 2).tolist())) for _ in range(120)]
    # narrow ones, whose ends differ by some units in the last place
    pairs += [(u, u * (1 + k * 2.0**-52)) for u in (0.3, 0.36787944117144233, 1.0, 12.0) for k in (0, 1, 3, 100)]
    return pairs


def inside(low, high):
    """Ends of an interval and points between, mpmath's numbers."""
    low, high = mpmath.mpf(low), mpmath.mpf(high)
    return [low, high, *(low + (high - low) * mpmath.mpf(k) / 7 for k in range(1, 7))]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(60):
        yield


@pytest.mark.parametrize(("name", "exponent"), FUNCTIONS)
def test_no_value_is_outside_the_range(name, exponent):
    number = atoms.NAMES.index(name)
    for low, high in intervals(name, 1):
        least, most = atoms.range_of(number, exponent, low, high)
        values = [exact(name, exponent, u) for u in inside(low, high)]
        assert least <= min(values) and max(values) <= most, (low, high)
        if low == high and 1e-200 < abs(values[0]) < 1e200:
            assert most - least <= 1e-14 * abs(values[0])


@pytest.mark.parametrize(("name", "exponent"), FUNCTIONS)
def test_no_argument_is_outside_that_of_its_value(name, exponent):
    number = atoms.NAMES.index(name)
    for low, high in intervals(name, 2):
        found = atoms.arguments(number, exponent, *atoms.range_of(number, exponent, low, high))
        assert found is not None and found[0] <= low and high <= found[1], (low, high)
    if name != "entropy":
        assert atoms.arguments(number, exponent, -2.0, -1.0) is None
        low, high = atoms.arguments(number, exponent, 2.0, 2.0)
        assert high - low <= 1e-12 * max(1.0, high) or abs(exponent) < 1e-3


@pytest.mark.parametrize(("name", "exponent"), FUNCTIONS)
def test_no_tangent_crosses_its_function(name, exponent):
    number = atoms.NAMES.index(name)
    sign = 1 if atoms.convex(number, exponent) else -1
    points, found = numbers(name, 3), 0
    for at in points:
        line = atoms.tangent(number, exponent, at)
        if line is None:
            continue
        found += 1
        slope, constant, slope_error, error = map(mpmath.mpf, line)
        for u in [*points, at * (1 + 1e-9), at * (1 - 1e-9)]:
            u = mpmath.mpf(u)
            loss = sign * (exact(name, exponent, u) - slope * u - constant)
            assert loss >= -error - slope_error * abs(u), (at, float(u))
        u = mpmath.mpf(at)
        # and it touches
        size = abs(exact(name, exponent, u)) + abs(slope * u) + abs(constant) + mpmath.mpf(1e-290)
        assert abs(exact(name, exponent, u) - slope * u - constant) <= 1e-13 * size
    assert found >= 30


@pytest.mark.parametrize(("name", "exponent"), FUNCTIONS)
def test_no_secant_crosses_its_function(name, exponent):
    number = atoms.NAMES.index(name)
    sign = 1 if atoms.convex(number, exponent) else -1
    found = 0
    for low, high in intervals(name, 4):
        line = atoms.secant(number, exponent, low, high)
        if line is None:
            continue
        found += 1
        slope, constant, error = map(mpmath.mpf, line)
        for u in inside(low, high):
            assert sign * (slope * u + constant - exact(name, exponent, u)) >= -error, (low, high, float(u))
    assert found >= 80


@pytest.mark.parametrize(("name", "exponent"), FUNCTIONS)
def test_derivatives_agree_with_differences(name, exponent):
    number = atoms.NAMES.index(name)
    for u in (0.2, 0.9, 3.7):
        value, slope, bend = atoms.derivatives(number, exponent, u)
        step = mpmath.mpf("1e-12")
        before, after = (exact(name, exponent, u + s * step) for s in (-1, 1))
        now = exact(name, exponent, u)
        assert value == pytest.approx(float(now), rel=1e-14)
        assert slope == pytest.approx(float((after - before) / (2 * step)), rel=1e-9)
        assert bend == pytest.approx(float((after - 2 * now + before) / step**2), rel=1e-6)


def test_ends_of_intervals_may_be_infinite():
    for name, exponent in FUNCTIONS:
        number = atoms.NAMES.index(name)
        ends = [0.5, math.inf] + ([-math.inf] if name == "exp" else [0.0])
        for low, high in itertools.combinations(sorted(ends), 2):
            least, most = atoms.range_of(number, exponent, low, high)
            values = [exact(name, exponent, u) for u in (0.25, 0.5, 30.0) if low <= u <= high]
            assert least <= min(values) and max(values) <= most
        assert atoms.secant(number, exponent, 0.5, math.inf) is None
    assert atoms.range_of(0, 0.0, -math.inf, 0.0)[0] == 0.0 and atoms.range_of(2, -1.5, 0.0, 2.0)[1] == math.inf


def test_what_is_0_exactly_has_no_margin():
    """A margin of 1e-300 beside an optimum of 0 would be a gap beyond every relative tolerance."""
    assert atoms.range_of(1, 0.0, 1.0, 1.0) == (0.0, 0.0) and atoms.range_of(2, 0.37, 0.0, 0.0) == (0.0, 0.0)
    assert atoms.arguments(0, 0.0, 1.0, 1.0) == (0.0, 0.0)
    # but what has underflowed has one
    assert atoms.range_of(0, 0.0, -800.0, -800.0)[1] > 0.0
