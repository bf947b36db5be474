"""Terms of variables without ends, bounded by squares: against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.settings import examples

from gopfast.checker import squares
from gopfast.checker.biconvex import BiconvexProblem
from gopfast.checker.certificate import Certificates, Rest


def draw(rng, k):
    """Squares, linear terms and products of very different sizes, whose squares mostly suffice."""
    root = 10.0 ** rng.integers(-6, 7, k) * rng.uniform(0.5, 2.0, k)
    between = rng.uniform(0, 2.2 / k, (k, k)) * np.outer(root, root) * (rng.random((k, k)) < 0.7)
    linear = root * rng.uniform(0, 3, k) * (rng.random(k) < 0.7)
    return root * root, linear, np.triu(between, 1) + np.triu(between, 1).T


@examples(300)
@given(st.integers(0, 10**9))
def test_no_point_is_below(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 6))
    q, c, b = draw(rng, k)
    bound = squares.least(q, c, b)
    if bound == -np.inf:
        return
    r, c = b * rng.choice([-1.0, 1.0], (k, k)), c * rng.choice([-1.0, 1.0], k)
    # the least point of the function itself, and points around it
    H = np.diag(q) + 0.5 * (np.triu(r, 1) + np.triu(r, 1).T)
    for point in [np.linalg.solve(H, -0.5 * c), *(rng.normal(size=(5, k)) * 3 / np.sqrt(q))]:
        z = [Fraction(x) for x in point.tolist()]
        value = sum(Fraction(q[i]) * z[i] ** 2 + Fraction(c[i]) * z[i] for i in range(k))
        value += sum(Fraction(r[i, j]) * z[i] * z[j] for i in range(k) for j in range(i + 1, k))
        assert value >= Fraction(bound)


def test_bounds_are_attained():
    """Of one variable, and of two where both shares are used up."""
    assert squares.least(np.array([2.0]), np.array([4.0]), np.zeros((1, 1))) == pytest.approx(-2.0, rel=1e-14)
    # z0^2 + z1^2 - z0 z1 - z0 - z1, least at (1, 1)
    b = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert squares.least(np.ones(2), np.ones(2), b) == pytest.approx(-1.0, rel=1e-14)
    # of q z0^2 + z1^2 / q - z0 z1 nothing is lost, whatever q is
    q = 2.0**40
    assert squares.least(np.array([q, 1 / q]), np.zeros(2), b) == pytest.approx(0.0, abs=1e-290)


@pytest.mark.parametrize(("q", "c", "b"), [
    ([0.0, 1.0], [0, 0], 0.0), ([-1.0, 1.0], [0, 0], 0.0), ([np.nan, 1.0], [0, 0], 0.0), ([1.0, 1.0], [0, 0], 2.0),
    ([1.0, 1.0], [np.nan, 0], 0.0), ([1.0, 1.0], [0, np.inf], 0.0), ([1.0, 1.0], [0, 0], np.inf),
    ([1.0, 1.0], [0, 0], np.nan), ([np.inf, 1.0], [0, 0], 0.5), ([1e-320, 1.0], [1.0, 0], 0.0),
])  # fmt: skip
@np.errstate(all="ignore")
def test_squares_that_are_too_small_prove_nothing(q, c, b):
    bound = squares.least(np.array(q), np.array(c, float), np.array([[0.0, b], [b, 0.0]]))
    assert not bound > -1e300


def points(rng, low, high, least):
    """Points of all sizes within bounds, and those around a least one."""
    for size in (0.1, 1.0, 30.0, 1e4):
        yield np.clip(rng.normal(size=len(low)) * size, low, high)
    for size in (0.0, 1e-3, 0.1, 1.0):
        yield np.clip(least + rng.normal(size=len(low)) * size, low, high)
    corner = np.where(np.isfinite(high - low), np.where(rng.random(len(low)) < 0.5, low, high), least)
    yield np.clip(corner, low, high)


def record_of(rng, n, low, high):
    """A problem with a convex objective, an equation and a row, and all their terms."""
    x = [f"x{i}" for i in range(n)]
    G = rng.integers(-3, 4, (n + 1, n)) / 4.0
    Q = G.T @ G / 2 + 0.75 * np.eye(n)
    quad = [[x[i], x[j], float(Q[i, j]) * (2 - (i == j))] for i in range(n) for j in range(i, n) if Q[i, j]]
    linear = [dict(zip(x, (rng.integers(-9, 10, n) / 2.0).tolist(), strict=True)) for _ in range(3)]
    return {
        "variables": {name: [end if np.isfinite(end) else None for end in ends]
                      for name, ends in zip(x, zip(low.tolist(), high.tolist(), strict=True), strict=True)},
        "objective": {"const": 0.0, "lin": linear[0], "quad": quad},
        "constraints": [
            {"sense": "==", "rhs": 1.5, "const": 0.0, "lin": linear[1], "quad": []},
            {"sense": "<=", "rhs": 2.5, "const": 0.0, "lin": linear[2], "quad": [[x[0], x[0], 0.5]]},
        ],
    }  # fmt: skip


def value(part, z):
    """Exact value of an objective, or of a row's terms."""
    terms = [Fraction(a) * z[int(i[1:])] for i, a in part["lin"].items()]
    return sum(terms) + sum(Fraction(a) * z[int(i[1:])] * z[int(j[1:])] for i, j, a in part["quad"])


def test_the_rest_is_nowhere_below_in_all_of_space():
    """Of an objective, an equation, a row and squares, as a certificate has them."""
    n_finite, seeds = 0, range(120)
    for seed in seeds:
        rng = np.random.default_rng([seed, 12])
        n = int(rng.integers(1, 5))
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
        for j in range(1, n):
            low[j], high[j] = [(-np.inf, np.inf), (-2.0, 3.0), (1.0, np.inf), (-np.inf, -1.0)][rng.integers(4)]
        record = record_of(rng, n, low, high)
        vectors = rng.normal(size=(2, n + 1)) * rng.choice([0.05, 0.3])
        rule, cutoff = Certificates(BiconvexProblem(record), vectors, -1.25), 2 * n + 3
        first, second = np.array([cutoff - 2, cutoff - 1, cutoff, cutoff + 1, cutoff + 2]), np.zeros(5, int)
        second[3:] = first[3:]
        multipliers = np.array([rng.normal(), rng.exponential() * rng.integers(2), 1.0, *rng.uniform(0, 1, 2)])
        target = (int(rng.integers(n)), float(rng.normal()), float(rng.normal())) if seed % 2 else None
        rest = rule.rest(first, second, multipliers, low, high)
        least = rest.least(target)
        n_finite += np.isfinite(least)
        y, (equation, row) = [Fraction(v) for v in multipliers.tolist()], record["constraints"]
        H, c = 0.5 * (rest.coefficients + rest.coefficients.T)[1:, 1:], rest.coefficients[0, 1:].copy()
        if target is not None:
            c[target[0]] += target[1]
        for point in points(rng, low, high, np.linalg.lstsq(2 * H, -c, rcond=None)[0]):
            z = [Fraction(v) for v in point.tolist()]
            Z = y[0] * (value(equation, z) - Fraction(3, 2)) + y[1] * (Fraction(5, 2) - value(row, z))
            Z += Fraction(-5, 4) - value(record["objective"], z)
            for own, v in zip(y[3:], vectors.tolist(), strict=True):
                Z += own * sum(Fraction(a) * b for a, b in zip(v, [1, *z], strict=True)) ** 2
            t = 0 if target is None else Fraction(target[1]) * (z[target[0]] - Fraction(target[2]))
            assert least == -np.inf or t - Z >= Fraction(least)
    assert n_finite > 0.5 * len(seeds)


def test_a_square_loses_nothing():
    """z^2 - z of all numbers, and with a share of z w for w in [-1, 2]."""
    record = {"variables": {"z": [None, None], "w": [-1.0, 2.0]}, "constraints": [],
              "objective": {"const": 0.0, "lin": {"z": -1.0}, "quad": [["z", "z", 1.0]]}}  # fmt: skip
    problem = BiconvexProblem(record)
    rule = Certificates(problem, np.zeros((0, 3)), 0.0)
    own = np.array([5]), np.array([0]), np.array([1.0]), problem.low, problem.high
    assert rule.least(*own)[0] == pytest.approx(-0.25, rel=1e-14)
    record["objective"]["quad"].append(["z", "w", 0.5])
    rule = Certificates(BiconvexProblem(record), np.zeros((0, 3)), 0.0)
    assert rule.least(*own)[0] == pytest.approx(-1.0, rel=1e-14)


@pytest.mark.parametrize("n", [1, 2])
def test_squares_that_are_rounding_alone_do_not_count(n):
    """A form less 30 squares that are it but for rounding: far away what is left may have either sign."""
    x, n_squares, n_finite = ["x0", "x1"][:n], 30, 0
    for seed in range(300):
        rng = np.random.default_rng([seed, n])
        V = np.column_stack([np.zeros(n_squares), rng.normal(size=(n_squares, n))])
        exact = [[sum(Fraction(a) * Fraction(b) for a, b in zip(*pair, strict=True)) for pair in
                  ((V[:, 1 + i].tolist(), V[:, 1 + j].tolist()) for j in range(n))] for i in range(n)]  # fmt: skip
        Q = np.array(exact, float) + rng.choice([-1, 1, 300, 5000]) * 2.0**-50 * np.eye(n)
        quad = [[x[i], x[j], float(Q[i, j]) * (2 - (i == j))] for i in range(n) for j in range(i, n)]
        record = {"variables": {name: [None, None] for name in x}, "constraints": [],
                  "objective": {"const": 0.0, "lin": {}, "quad": quad}}  # fmt: skip
        problem = BiconvexProblem(record)
        rule, cutoff = Certificates(problem, V, -1.0), 2 * n + 1
        first = np.arange(cutoff, cutoff + 1 + n_squares)
        second = np.append(0, first[1:])
        least, _ = rule.least(first, second, np.ones(1 + n_squares), problem.low, problem.high)
        n_finite += np.isfinite(least)
        left = [[Fraction(Q[i, j]) - exact[i][j] for j in range(n)] for i in range(n)]
        for axis in np.linalg.eigh(np.array(left, float))[1].T:
            z = [Fraction(a) * 10**12 for a in axis.tolist()]
            rest = 1 + sum(left[i][j] * z[i] * z[j] for i in range(n) for j in range(n))
            assert least == -np.inf or rest >= Fraction(least)
    assert n_finite > 50


@pytest.mark.parametrize("coefficient, top", [(-1e300, 1e20), (-np.inf, 1.0), (-np.inf, 0.0)])
def test_a_term_that_is_too_large_for_a_double_is_no_term_without_an_end(coefficient, top):
    """1 - 1e300 z^2 with z^2 in [0, 1e20]: what has ends is not left to squares, which would drop it."""
    coefficients = np.array([[1.0, 0.0], [0.0, coefficient]])
    ranges = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, top], [0.0, top]])
    with np.errstate(all="ignore"):
        assert not Rest(coefficients, 1e-15 * np.abs(coefficients), 1e-15, ranges, None, 0.0).least() > -np.inf
