"""The checker's functions of one variable against mpmath: enclosures, lines beside them and ranges; what it refuses."""

import math

import mpmath
import numpy as np
import pytest

from gopfast.checker import ProofError, functions
from gopfast.checker.functions import Function
from tests.unit.test_atoms import FUNCTIONS, digits, exact, inside, intervals, numbers  # noqa: F401

OWN = [Function(name, exponent, 0, 1) for name, exponent in FUNCTIONS]
IDS = [f"{name} {exponent}" for name, exponent in FUNCTIONS]


def mp(number):
    return mpmath.mpf(str(number)) if number.is_finite() else mpmath.inf


@pytest.mark.parametrize("own", OWN, ids=IDS)
def test_values_are_enclosed(own):
    for u in numbers(own.name, 1, 20):
        least, most = own.value_at(u)
        value = exact(own.name, own.exponent, u)
        assert mp(least) <= value <= mp(most)
        if 1e-200 < abs(value) < 1e200:
            assert mp(most) - mp(least) <= 1e-20 * abs(value)
        assert own.off(u, 1.0) >= abs(value - 1)


def slopes(own, low, high):
    """Those between ends and at ends, and others."""
    ends = [exact(own.name, own.exponent, u) for u in (low, high)]
    found = [float((ends[1] - ends[0]) / (mpmath.mpf(high) - low))] if high > low else []
    found += [float(mpmath.diff(lambda u: exact(own.name, own.exponent, u), u)) for u in (low, high) if 1e-3 < u < 50]
    return [s for s in [*found, 0.0, 1.0, -1.0, 1e-9, -2e3] if math.isfinite(s)]


@pytest.mark.parametrize("own", OWN, ids=IDS)
def test_no_line_crosses_its_function(own):
    found = 0
    for low, high in intervals(own.name, 2)[::5]:
        for s in slopes(own, low, high):
            least, most = own.beside(s, low, high)
            values = [exact(own.name, own.exponent, u) - mpmath.mpf(s) * u for u in inside(low, high)]
            assert least <= min(values) and max(values) <= most, (low, high, s)
            size = max(abs(exact(own.name, own.exponent, u)) + abs(s * u) for u in (low, high))
            # one of both ends is that of the interval, and so exact but for rounding to a double
            if 1e-200 < size < 1e200:
                touched = (max(values), most) if own.is_convex else (min(values), least)
                assert abs(touched[0] - touched[1]) <= 1e-15 * size
                found += 1
    assert found >= 40


@pytest.mark.parametrize("own", OWN, ids=IDS)
def test_lines_touch_where_the_slope_is_the_functions(own):
    for u in (0.03, 0.7, 2.5, 30.0):
        s = float(mpmath.diff(lambda u: exact(own.name, own.exponent, u), u))
        least, most = own.beside(s, 0.5 * u, 2.0 * u)
        value = exact(own.name, own.exponent, u) - mpmath.mpf(s) * u
        size = abs(exact(own.name, own.exponent, u)) + abs(s * u)
        assert abs(value - (least if own.is_convex else most)) <= 1e-13 * size
        # whatever the interval is: that of the domain has the same extreme
        ends = (-math.inf if own.name == "exp" else 0.0, math.inf)
        assert own.beside(s, *ends)[0 if own.is_convex else 1] == pytest.approx(float(value), rel=1e-9, abs=1e-12)
        assert math.isinf(own.beside(s, *ends)[1 if own.is_convex else 0])


@pytest.mark.parametrize("own", OWN, ids=IDS)
def test_ranges_lose_no_point(own):
    reach = -math.inf if own.name == "exp" else 0.0
    for low, high in intervals(own.name, 3)[::4]:
        found = own.ranges((low, high), (-math.inf, math.inf))
        assert found is not None
        for u in inside(low, high):
            value = exact(own.name, own.exponent, u)
            assert found[1][0] <= value <= found[1][1] and found[0][0] <= u <= found[0][1]
            if not 1e-300 < abs(value) < 1e300:
                continue
            # of a value the argument is left, and of a function that is monotone little more
            near = functions.Decimal(str(value))
            left = own.ranges((reach, math.inf), (functions.below(near), functions.above(near)))
            assert left is not None and left[0][0] <= u <= left[0][1]
            if own.name != "entropy" and 1e-3 < u < 1e3 and own.exponent < 10:
                assert left[0][1] - left[0][0] <= 1e-8 * max(1, u)
    assert own.ranges((1.0, 2.0), (1e9, 2e9)) is None or own.exponent > 10
    assert own.ranges((reach, math.inf), (-9.0, -8.0)) is None


def test_what_is_0_or_1_exactly_has_no_margin():
    assert Function("entropy", 0.0, 0, 1).ranges((1.0, 1.0), (-9.0, 9.0)) == ((1.0, 1.0), (0.0, 0.0))
    assert Function("power", 0.37, 0, 1).ranges((0.0, 1.0), (-9.0, 9.0)) == ((0.0, 1.0), (0.0, 1.0))
    assert Function("exp", 0.0, 0, 1).ranges((-math.inf, 0.0), (-1.0, 9.0)) == ((-math.inf, 0.0), (0.0, 1.0))


def test_slopes_of_any_size_have_lines():
    for own in OWN:
        for slope in (1e3, 1e8, 1e300, -1e8, -1e300, 5e-324):
            least, most = own.beside(slope, 0.5, 2.0)
            assert least <= most
            assert own.beside(slope, 0.0 if own.name == "exp" or own.exponent >= 0 else 1e-300, math.inf)


def test_a_box_is_narrowed_by_one_function_after_the_other():
    own = [Function("exp", 0.0, 0, 1), Function("power", -0.5, 1, 2)]
    low, high = functions.narrowed(own, np.array([0.0, -9.0, -9.0]), np.array([1.0, 9.0, 0.7]))
    assert low[1] == pytest.approx(0.7**-2) and high[1] == pytest.approx(math.e) and low[0] == 0.0
    assert low[2] == pytest.approx(math.exp(-0.5)) and high[2] == 0.7
    low, high = functions.narrowed(own, np.array([0.0, -9.0, -9.0]), np.array([1.0, 0.9, 0.7]))
    assert (low > high).any()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("exp", "must be"),
        (["exp", "x", "y"], "must be"),
        (["sin", "x", "y", 0.0], "none of exp, entropy, power"),
        (["exp", "x", "x", 0.0], "two variables"),
        (["exp", "x", "w", 0.0], "two variables"),
        (["power", "x", "y", 1.0], "neither 0 nor 1"),
        (["power", "x", "y", math.inf], "no number"),
        (["entropy", "y", "x", 0.0], "lower bound of at least 0"),
        (["power", "y", "x", 0.5], "lower bound of at least 0"),
    ],
)
def test_a_bad_function_is_refused(entry, message):
    with pytest.raises(ProofError, match=message):
        functions.read([entry], {"x": 1, "y": 2}, np.array([0.0, -1.0]))
    with pytest.raises(ProofError, match="must be a list"):
        functions.read("exp", {}, np.zeros(0))
