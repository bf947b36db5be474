"""The rule of biconvex certificates against rational arithmetic, and what it refuses."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast.checker import ProofError
from gopfast.checker.biconvex import BiconvexProblem
from gopfast.checker.certificate import Certificates

RECORD = {
    "variables": {"x": [-1.0, 2.0], "y": [0.5, 3.0], "z": [-4.0, 1.0]},
    "objective": {"const": 0.7, "lin": {"x": 1.3}, "quad": [["x", "y", -2.1], ["z", "z", 0.3]]},
    "constraints": [
        {"sense": "<=", "rhs": 3.3, "const": 0.1, "lin": {"x": 1.1, "y": -0.3}, "quad": []},
        {"sense": ">=", "rhs": -5.5, "lin": {"z": 0.7}, "quad": [["x", "z", 1.9], ["y", "y", 0.2]]},
        {"sense": "==", "rhs": 0.25, "lin": {"x": 0.9, "z": 0.4}, "quad": []},
    ],
}
VECTORS = np.array([[0.3, -1.0, 0.5, 0.0], [1.0, 0.0, 0.0, -0.7]])
BOUND = -7.3
N_LOW, N_ROWS, CUTOFF, FIRST_VECTOR = 1, 7, 10, 11


def rule(bound=BOUND, record=RECORD):
    problem = BiconvexProblem(record)
    return Certificates(problem, VECTORS, bound)


def slacks(z, low, high):
    """Exact values of all factors at a point."""
    x, y, w = z
    f = Fraction(0.7) + Fraction(1.3) * x - Fraction(2.1) * x * y + Fraction(0.3) * w * w
    rows = [
        Fraction(3.3) - Fraction(0.1) - Fraction(1.1) * x - Fraction(-0.3) * y,
        Fraction(0.7) * w + Fraction(1.9) * x * w + Fraction(0.2) * y * y + Fraction(5.5),
        Fraction(0.9) * x + Fraction(0.4) * w - Fraction(0.25),
    ]
    vectors = [sum(Fraction(a) * b for a, b in zip(v.tolist(), [1, *z], strict=True)) for v in VECTORS]
    below = [a - Fraction(b) for a, b in zip(z, low.tolist(), strict=True)]
    above = [Fraction(b) - a for a, b in zip(z, high.tolist(), strict=True)]
    return [Fraction(1), *below, *above, *rows, Fraction(BOUND) - f, *vectors]


def random_certificate(rng, n_terms):
    """Products of affine factors, rows alone and squares."""
    terms = []
    for _ in range(n_terms):
        kind = rng.integers(4)
        if kind == 0:
            first, second = rng.choice([1, 2, 3, 4, 5, 6, 7, 9], 2)
        elif kind == 1:
            first, second = rng.choice([7, 8, 9, 10]), 0
        elif kind == 2:
            first = second = rng.choice([11, 12])
        else:
            first, second = rng.choice([1, 2, 3, 4, 5, 6]), 0
        sign = rng.choice([-1.0, 1.0]) if 9 in (first, second) else 1.0
        terms.append((first, second, sign * rng.exponential() * rng.choice([1e-3, 1.0, 30.0])))
    return [np.array(part) for part in zip(*terms, strict=True)]


@pytest.mark.parametrize("seed", range(30))
def test_the_rest_is_nowhere_in_the_box_below_what_is_said(seed):
    rng = np.random.default_rng(seed)
    first, second, multipliers = random_certificate(rng, rng.integers(1, 9))
    ends = np.sort(rng.uniform([-1.0, 0.5, -4.0], [2.0, 3.0, 1.0], (2, 3)), axis=0)
    target = (int(rng.integers(3)), rng.normal(), rng.normal()) if seed % 2 else None
    least, _ = rule().least(first, second, multipliers, *ends, target)
    assert np.isfinite(least)
    values = []
    for _ in range(60):
        share = rng.choice([0.0, 1.0, rng.random()], 3)
        z = [Fraction(a) + Fraction(s) * (Fraction(b) - Fraction(a)) for a, b, s in zip(*ends.tolist(), share.tolist(),
                                                                                        strict=True)]  # fmt: skip
        own = slacks(z, *ends)
        total = Fraction(0)
        if target is not None:
            total = Fraction(target[1]) * (z[target[0]] - Fraction(target[2]))
        total -= sum(Fraction(m) * own[a] * own[b] for a, b, m in zip(first, second, multipliers.tolist(), strict=True))
        values.append(total)
    assert min(values) >= Fraction(least)


@pytest.mark.parametrize("seed", range(60))
def test_in_a_box_of_one_point_the_rest_is_its_value_rounded_down(seed):
    rng = np.random.default_rng([seed, 1])
    first, second, multipliers = random_certificate(rng, 12)
    z = rng.uniform([-1.0, 0.5, -4.0], [2.0, 3.0, 1.0])
    least, _ = rule().least(first, second, multipliers, z, z)
    own = slacks([Fraction(x) for x in z.tolist()], z, z)
    terms = [Fraction(m) * own[a] * own[b] for a, b, m in zip(first, second, multipliers.tolist(), strict=True)]
    size = float(sum(map(abs, terms))) + 100 * multipliers.sum()
    assert -sum(terms) - Fraction(1e-11 * (1 + abs(size))) <= Fraction(least) <= -sum(terms)


@pytest.mark.parametrize("seed", range(30))
def test_what_cancels_leaves_its_rounding(seed):
    """An equation times x - l, times u - x, and times l - u: what is left is linear, and mostly rounding."""
    rng = np.random.default_rng([seed, 2])
    low, high = np.sort(rng.uniform([-1.0, 0.5, -4.0], [2.0, 3.0, 1.0], (2, 3)), axis=0)
    M = 1e6 * rng.random()
    multipliers = np.array([M, M, -M * (high[0] - low[0])])
    least, _ = rule().least(np.array([9, 9, 9]), np.array([1, 4, 0]), multipliers, low, high)
    values = []
    for corner in itertools.product(*zip(low.tolist(), high.tolist(), strict=True)):
        own = slacks([Fraction(x) for x in corner], low, high)
        m = [Fraction(x) for x in multipliers.tolist()]
        values.append(-own[9] * (m[0] * own[1] + m[1] * own[4] + m[2]))
    assert Fraction(least) <= min(values) <= Fraction(least) + Fraction(1e-5)


def test_monomials_lie_in_their_ranges_and_reach_their_ends():
    low, high = np.array([-1.0, 0.5, -4.0]), np.array([2.0, 3.0, -1.0])
    least, most = rule()._monomials(low, high)
    assert least[0].tolist() == [1.0, *low] and most[0].tolist() == [1.0, *high]
    expected = {(1, 1): (0.0, 4.0), (2, 2): (0.25, 9.0), (3, 3): (1.0, 16.0), (1, 2): (-3.0, 6.0), (1, 3): (-8.0, 4.0),
                (2, 3): (-12.0, -0.5)}  # fmt: skip
    for place, (a, b) in expected.items():
        assert least[place] <= a <= least[place] + 1e-14 and most[place] >= b >= most[place] - 1e-14


def test_a_rest_without_products_is_bounded_at_a_corner():
    # (x + 1) + (3 - y) + 2: least where x is least and y greatest, with the other sign
    least, of_cutoff = rule().least(np.array([1, 5]), np.array([0, 0]), np.array([1.0, 1.0]), *BOX)
    assert least == pytest.approx(-(3.0 + 2.5), abs=1e-12) and of_cutoff == 0.0


BOX = np.array([-1.0, 0.5, -4.0]), np.array([2.0, 3.0, 1.0])


def test_a_bound_of_a_variable_is_proved_by_a_row_and_not_a_little_more():
    # 1.1 x <= 3.2 + 0.3 y <= 3.2 + 0.9
    own = rule()
    row = np.array([7]), np.array([0]), np.array([1.0])
    most = (3.3 - 0.1 + 0.3 * 3.0) / 1.1
    high = np.array([10.0, 3.0, 1.0])
    assert own.least(*row, BOX[0], high, (0, -1.1, most + 1e-9))[0] >= 0
    assert own.least(*row, BOX[0], high, (0, -1.1, most - 1e-9))[0] < 0


@pytest.mark.parametrize(("first", "second", "multiplier", "message"), [
    (1, 0, -1.0, "negative"), (7, 0, -1.0, "negative"), (7, 1, -1.0, "negative"), (11, 11, -1.0, "negative"),
    (10, 0, -1.0, "negative"), (11, 0, 1.0, "neither"), (11, 12, 1.0, "neither"), (8, 1, 1.0, "neither"),
    (1, 8, 1.0, "neither"), (10, 1, 1.0, "neither"), (10, 10, 1.0, "neither"), (1, 11, 1.0, "neither"),
    (0, 0, 1.0, "no such"), (13, 0, 1.0, "no such"), (1, -1, 1.0, "no such"), (-1, 0, 1.0, "no such"),
])  # fmt: skip
def test_what_may_be_negative_is_refused(first, second, multiplier, message):
    with pytest.raises(ValueError, match=message):
        rule().least(np.array([first]), np.array([second]), np.array([multiplier]), *BOX)


def test_an_equation_has_multipliers_of_either_sign():
    for second in (0, 1, 4, 7):
        for multiplier in (-1.0, 1.0):
            assert np.isfinite(rule().least(np.array([9]), np.array([second]), np.array([multiplier]), *BOX)[0])


def test_without_a_claim_there_is_no_cutoff():
    with pytest.raises(ValueError, match="where none is claimed"):
        rule(None).least(np.array([10]), np.array([0]), np.array([1.0]), *BOX)


def test_infinite_bounds_are_no_factors_and_need_exact_coefficients():
    low, high = BOX[0].copy(), BOX[1].copy()
    high[0] = np.inf
    with pytest.raises(ValueError, match="infinite"):
        rule().least(np.array([4]), np.array([0]), np.array([1.0]), low, high)
    one = np.array([9]), np.array([0])
    # 0.9 x + 0.4 z - 0.25 = 0 with z >= -4 bounds x from above; with another slope nothing is left of it
    most = (0.25 + 1.6) / 0.9
    assert rule().least(*one, np.array([-1.0]), low, high, (0, -0.9, most + 1e-9))[0] >= 0
    assert rule().least(*one, np.array([-1.0]), low, high, (0, -0.8, most + 1e9))[0] >= 0
    assert rule().least(*one, np.array([-1.0]), low, high, (0, -1.0, most + 1e9))[0] == -np.inf
    low[0] = -np.inf
    end = (0.25 - 0.4) / 0.9
    assert rule().least(*one, np.array([1.0]), low, high, (0, 0.9, end - 1e-9))[0] >= 0
    assert rule().least(*one, np.array([1.0]), low, high, (0, 0.9, end + 1e-9))[0] < 0
    assert rule().least(*one, np.array([1.0]), low, high, (0, np.nextafter(0.9, 1), end - 1e9))[0] == -np.inf


def test_multipliers_too_large_for_doubles_prove_nothing():
    """Of a variable without ends coefficients are fractions."""
    low, high = BOX[0].copy(), BOX[1].copy()
    low[0], high[0] = -np.inf, np.inf
    certificate = np.array([9, 11]), np.array([0, 11]), np.array([1e300, 1e308])
    own = Certificates(BiconvexProblem(RECORD), VECTORS * 1e60, BOUND)
    with np.errstate(all="ignore"):
        assert not own.least(*certificate, low, high)[0] > -1e300


@pytest.mark.parametrize(("change", "message"), [
    ({"variables": []}, "variables"), ({"variables": {}}, "variables"), ({"variables": {"x": [0.0]}}, "no number"),
    ({"variables": {"x": ["0", 1.0]}}, "no number"), ({"variables": {"x": [0.0, 1e101]}}, "no number"),
    ({"sense": "least"}, "sense"), ({"constraints": {}}, ""), ({"constraints": {"a": 1}}, "list"),
    ({"constraints": [{"sense": "<", "rhs": 1.0}]}, "sense"), ({"constraints": [{"sense": "<="}]}, "rhs"),
    ({"objective": {"lin": {"none": 1.0}}}, "none"), ({"objective": {"quad": [["x", "y"]]}}, "quad"),
    ({"objective": {"lin": {"x": True}}}, "no number"), ({"objective": {"lin": {"x": float("nan")}}}, "no number"),
    ({"objective": {"quad": [["x", "y", 0.1], ["y", "x", 0.2]]}}, "double"),
    ({"constraints": [{"sense": "==", "rhs": 0.3, "const": 1e20, "lin": {"x": 1.0}}]}, "double"),
])  # fmt: skip
def test_problems_that_are_none_are_refused(change, message):
    if message:
        with pytest.raises(ProofError, match=message):
            BiconvexProblem(RECORD | change)
    else:
        assert BiconvexProblem(RECORD | change).forms.shape[0] == 1


def test_constants_are_rounded_to_the_safe_side():
    problem = BiconvexProblem(RECORD)
    assert Fraction(problem.forms[0, 0]) >= Fraction(3.3) - Fraction(0.1)
    up = {"sense": ">=", "rhs": 0.3, "const": 0.1, "lin": {"x": 1.0}}
    assert Fraction(BiconvexProblem(RECORD | {"constraints": [up]}).forms[0, 0]) >= Fraction(0.1) - Fraction(0.3)


def test_a_violation_is_that_of_the_package():
    rng = np.random.default_rng(3)
    Q = rng.normal(size=(3, 3))
    problem = gopfast.BiconvexProblem(rng.normal(size=3), Q=Q, A=rng.normal(size=(2, 3)) * 100, row_upper=[1.0, 2e-3],
                                      quadratic_rows=[(Q.T @ Q, None, -np.inf, 0.5), (Q, rng.normal(size=3), 1.0, 1.0)],
                                      lower=-1, upper=2)  # fmt: skip
    own = BiconvexProblem(json.loads(problem.to_json()))
    for _ in range(20):
        z = rng.uniform(-1.5, 2.5, 3)
        assert own.violation(z) == pytest.approx(problem.violations(z).max(), rel=1e-9, abs=1e-13)
        assert own.objective(z) == pytest.approx(problem.objective(z), rel=1e-12, abs=1e-12)
        assert Fraction(own.objective(z)) >= problem.exact(z)[0]
