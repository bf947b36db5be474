"""Rows X Y >= K + squares: what is found, tangents against rational arithmetic, problems that they close."""

import json
from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import hyperbolas, proof
from gopfast.biconvex.lifting import Lifting
from gopfast.checker import ProofError, biconvex, file, hyperbolas as checker


def problem(q, linear, squares, limit, low, high, upper=np.inf):
    """``q x y + linear - squares >= limit`` in variables x, y and those of the squares."""
    n = 2 + len(squares)
    Q = np.zeros((n, n))
    Q[0, 1] = q
    Q[np.arange(2, n), np.arange(2, n)] = -np.array(squares)
    a = np.zeros(n)
    a[:2] = linear
    return BiconvexProblem(np.ones(n), quadratic_rows=[(Q, a, limit, upper)], lower=low, upper=high)


def found(one):
    return hyperbolas.find(Lifting(one), one.lower, one.upper)


@pytest.mark.parametrize("seed", range(40))
def test_no_feasible_point_is_cut_off_in_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    side, n_squares = rng.choice([-1, 1]), rng.integers(3)
    squares, linear = rng.uniform(0.1, 3, n_squares), rng.uniform(-2, 2, 2) * (seed % 3 > 0)
    q = float(rng.uniform(0.2, 3))
    shifts = -linear[::-1] / q  # of x and of y
    constant = 0.0 if seed % 4 == 0 else float(rng.uniform(0.01, 5))
    # (x - x0) (y - y0) >= K / q; with K = 0 the corner's numbers are exact if there are no linear terms
    linear = np.zeros(2) if constant == 0 else linear
    shifts = shifts if constant else np.zeros(2)
    limit = constant - float(np.prod(shifts)) * q
    # one float into the set: where K is positive the sign of one factor is enough
    ends = (np.append(np.nextafter(shifts, side * np.inf), np.full(n_squares, -np.inf)),
            np.full(2 + n_squares, np.inf))  # fmt: skip
    low, high = ends if side > 0 else (np.full(2 + n_squares, -np.inf), np.append(ends[0][:2], ends[1][2:]))
    one = problem(q, linear, squares, limit, low, high)
    (hyperbola,) = found(one)
    assert hyperbola.sign == side
    point = np.append(shifts + side * rng.exponential(2, 2), rng.normal(0, 2, n_squares))
    tangent = hyperbola.tangent(point)
    if tangent is None:
        assert constant == 0 and n_squares == 0
        return
    row, bound = tangent
    row = {i: Fraction(a) for i, a in row.items()}
    nearest = None
    for _ in range(60):
        # points on the boundary and beyond: x from the others, by rationals, rounded to the inside
        near = rng.random() < 0.7
        z = [Fraction(float(v)) for v in point[2:] * (1 + (1e-3 if near else 1) * rng.normal(size=n_squares))]
        Y = Fraction(float(abs(point[1] - shifts[1]) * np.exp((0.01 if near else 2) * rng.normal())))
        rest = hyperbola.constant + sum((e * v * v for e, v in zip(hyperbola.squares.values(), z, strict=True)),
                                        Fraction(0))  # fmt: skip
        X = rest / Y
        values = [hyperbola.x_shift + side * X, hyperbola.y_shift + side * Y, *z]
        slack = sum(a * values[i] for i, a in row.items()) - Fraction(bound)
        assert slack >= 0
        nearest = slack if nearest is None else min(nearest, slack)
    size = sum(abs(float(a)) for a in row.values())
    # it touches: where the ray through the point meets the boundary
    X, Y, rest = hyperbola._values(point)
    t = np.sqrt(rest / (X * Y))
    touching = [float(hyperbola.x_shift) + side * X * t, float(hyperbola.y_shift) + side * Y * t, *point[2:]]
    assert sum(float(a) * touching[i] for i, a in row.items()) - bound <= 1e-9 * size * (1 + np.abs(touching).max())


@pytest.mark.parametrize(
    "one",
    [
        problem(-1.0, [0, 0], [], 1.0, 0, np.inf),  # x y <= -1
        problem(1.0, [0, 0], [], -1.0, 0, np.inf),  # x y >= -1
        problem(1.0, [0, 0], [], 1.0, -np.inf, np.inf),  # both branches
        problem(1.0, [0, 0], [-1.0], 1.0, 0, np.inf),  # a square on the other side
        problem(1.0, [0, 0], [1.0], 0.0, [0, -1, -1], np.inf),  # K = 0, and the sign of one factor alone
        BiconvexProblem([1, 1, 1], quadratic_rows=[([[0, 1, 0], [0, 0, 0], [0, 0, 0]], [0, 0, 1], 1, np.inf)], lower=0),
        BiconvexProblem([1, 1, 1], quadratic_rows=[([[0, 1, 1], [0, 0, 0], [0, 0, 0]], None, 1, np.inf)], lower=0),
        BiconvexProblem([1, 1], quadratic_rows=[([[1, 0], [0, 0]], None, 1, np.inf)], lower=0),
    ],
)
def test_other_rows_are_none(one):
    assert found(one) == []


def test_either_side_of_an_equation_may_be_one():
    assert len(found(problem(1.0, [0, 0], [], 2.0, 0, 9, upper=2.0))) == 1
    assert len(found(problem(-1.0, [0, 0], [], -2.0, 0, 9, upper=-2.0))) == 1


def ring(rng, n):
    """Least c'x over x_i x_(i+1) >= k along a ring: convex."""
    rows = []
    for i in range(n):
        Q = np.zeros((n, n))
        Q[i, (i + 1) % n] = 1
        rows.append((Q, None, float(rng.integers(1, 30)), np.inf))
    return BiconvexProblem(rng.integers(1, 9, n).astype(float), quadratic_rows=rows, lower=0)


@pytest.mark.parametrize("n", [5, 10])
def test_a_ring_of_hyperbolas_is_proved_at_the_root(n):
    one = ring(np.random.default_rng(n), n)
    result = gopfast.solve(one, rel_tol=1e-6, n_threads=1, log=False)
    assert result.status is gopfast.Status.OPTIMAL and result.n_nodes == 1
    # the dual of the convex problem in log x at the solution: gradient of c'x as multiples of the active rows' ones
    x = result.solution.z
    rows = one.row_values(x) - one.row_bounds[0]
    gradients = np.array([row.Q.toarray() @ x * 2 for row in one.quadratic_rows])[np.abs(rows) < 1e-6 * x.max()]
    multipliers, left, *_ = np.linalg.lstsq(gradients.T, one.c, rcond=None)
    assert (multipliers > -1e-4).all() and np.allclose(gradients.T @ multipliers, one.c, atol=1e-2)


def test_a_tree_with_tangents_ends_as_one_without(monkeypatch):
    """Hyperbolas beside products of the other kind: proved bounds agree, whoever searches."""
    rng = np.random.default_rng(3)
    one = ring(rng, 5)
    Q = np.triu(rng.integers(-4, 5, (5, 5)), 1)
    mixed = BiconvexProblem(one.c, Q=Q, quadratic_rows=one.quadratic_rows, lower=0, upper=12)
    with_tangents = gopfast.solve(mixed, rel_tol=1e-5, n_threads=1, log=False)
    monkeypatch.setattr(hyperbolas, "find", lambda *_: [])
    without = gopfast.solve(mixed, rel_tol=1e-5, n_threads=1, log=False)
    assert with_tangents.status is without.status is gopfast.Status.OPTIMAL
    assert with_tangents.objective == pytest.approx(without.objective, rel=2e-5)
    assert with_tangents.lower_bound <= without.objective + 1e-9 * abs(without.objective)


def checked(one):
    """What the checker of proofs makes of a problem."""
    return biconvex.BiconvexProblem(json.loads(one.to_json()))


@pytest.mark.parametrize("seed", range(30))
def test_what_the_checker_takes_for_a_tangent_cuts_off_no_feasible_point(seed):
    """Its own reading of a row, and random changes of a tangent: accepted ones hold in exact arithmetic."""
    rng = np.random.default_rng([9, seed])
    side, n_squares, constant = rng.choice([-1, 1]), rng.integers(3), float(rng.uniform(0.01, 5)) * (seed % 3 > 0)
    shifts = np.round(rng.uniform(-2, 2, 2) * 8) / 8 * (seed % 2)
    q, squares = float(rng.choice([0.5, 1.0, 2.0])), rng.uniform(0.1, 3, n_squares)
    limit = q * (constant - float(np.prod(shifts)))
    ends = np.append(shifts, np.full(n_squares, -np.inf)), np.full(2 + n_squares, np.inf)
    low, high = ends if side > 0 else (np.full(2 + n_squares, -np.inf), np.append(shifts, ends[1][2:]))
    one = problem(q, -q * shifts[::-1], squares, limit, low, high)
    own = checker.hyperbola(checked(one), 0)
    (mine,) = found(one)
    assert own == (*mine[:6], mine.squares)
    accepted = 0
    for k in range(40):
        point = np.append(shifts + side * rng.exponential(2, 2), rng.normal(0, 2, n_squares))
        tangent = mine.tangent(point)
        if tangent is None:
            continue
        vector = np.zeros(3 + n_squares)
        vector[0] = -tangent[1]
        for i, a in tangent[0].items():
            vector[1 + i] = a
        if k == 0:
            own.check(vector)
            vector[0] -= 1e-9 * np.abs(vector).max()
            with pytest.raises(ValueError, match="cuts off|too small"):
                own.check(vector)
            continue
        vector *= 1 + rng.choice([0, 1e-12, 1e-3, 1], len(vector)) * rng.normal(size=len(vector))
        try:
            own.check(vector)
        except ValueError:
            continue
        accepted += 1
        exact = [Fraction(v) for v in vector.tolist()]
        for _ in range(10):
            near = 1e-3 * rng.normal(size=2 + n_squares) * rng.choice([0, 1])
            z = [Fraction(float(v)) for v in point[2:] * (1 + near[2:])]
            Y = Fraction(float(abs(point[1] - shifts[1]) * np.exp(near[1])))
            X = (own.constant + sum((e * v * v for e, v in zip(own.squares.values(), z, strict=True)), Fraction(0))) / Y
            values = [1, own.x_shift + side * X, own.y_shift + side * Y, *z]
            assert sum(a * v for a, v in zip(exact, values, strict=True)) >= 0
    assert accepted or constant == 0


@pytest.mark.parametrize("most", [np.inf, 40.0])
def test_a_ring_has_a_proof_and_wrong_tangents_are_refused(most):
    one = ring(np.random.default_rng(5), 5)
    one = BiconvexProblem(one.c, quadratic_rows=one.quadratic_rows, lower=0, upper=most)
    result = gopfast.solve(one, rel_tol=1e-6, n_threads=1, log=False, proof=True)
    accepted = gopfast.check(result.proof, one)
    assert accepted.n_leaves == 1 and accepted.gap <= 2e-6 * accepted.objective
    header, arrays = file.read(result.proof.data)
    header = {name: value for name, value in header.items() if name not in ("format", "version", "kind")}
    vectors, rows = arrays["tangents"], arrays["hyperbolas"]
    assert len(rows) > 1
    raised = vectors.copy()
    raised[0, 0] -= 1e-9
    for changes, message in (
        ({"tangents": raised}, "cuts off points"),
        ({"tangents": -vectors}, "a slope has the wrong sign"),
        ({"tangents": vectors + np.eye(6)[1:2] * 9.0, "hyperbolas": rows}, "has a variable|wrong sign"),
        ({"hyperbolas": np.roll(rows, 1)}, "has a variable that the row has no square of"),
        ({"hyperbolas": rows + 5}, "row 5 has none"),
        ({"hyperbolas": rows - 9}, "has none"),
        ({"hyperbolas": rows[1:]}, "a row of the problem each"),
        ({"tangents": vectors[:, 1:]}, "must have 6 columns"),
        ({"hyperbolas": rows[:0], "tangents": vectors[:0]}, "node"),
    ):
        with pytest.raises(ProofError, match=message):
            gopfast.check(file.pack("biconvex", header, arrays | changes), one)


def test_rows_whose_sign_the_checker_does_not_know_have_no_tangents():
    """Bounds that other rows imply are none of the user's."""
    one = ring(np.random.default_rng(5), 5)
    free = BiconvexProblem(one.c, A=np.eye(5), row_lower=0, quadratic_rows=one.quadratic_rows, lower=-np.inf)
    assert all(checker.hyperbola(checked(free), row) is None for row in range(10))
    assert sum(checker.hyperbola(checked(one), row) is not None for row in range(5)) == 5


def test_without_tangents_a_proof_says_what_nothing_bounds(monkeypatch):
    monkeypatch.setattr(proof, "hyperbola", lambda *_: None)
    # (x - y)^2 + x with x y >= 1
    rows = [(np.array([[0.0, 1.0], [0.0, 0.0]]), np.zeros(2), 1.0, np.inf)]
    one = BiconvexProblem([1.0, 0.0], Q=[[1.0, -2.0], [0.0, 1.0]], quadratic_rows=rows, lower=0)
    result = gopfast.solve(one, n_threads=1, log=False, proof=True, max_nodes=50)
    assert result.proof is None and result.notes[-1].startswith("no proof was written: nothing in a proof bounds z")
