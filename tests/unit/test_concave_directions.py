"""Few concave directions: which forms have them, that bounds are the problem's own, and what the tree makes of them."""

from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex.concave_directions import directions, divided
from gopfast.biconvex.tuning import MOST_DIRECTIONS, VARIABLES_EACH
from gopfast.profile import Activity


def indefinite(rng, n, k, rank):
    """An integer form with k negative eigenvalues, and `rank` that are not 0."""
    negative, positive = rng.integers(-3, 4, (k, n)), rng.integers(-3, 4, (rank - k, n))
    return (positive.T @ positive - 3 * negative.T @ negative).astype(float)


def programme(rng, n, k, sense="min", digits=None):
    """A quadratic program over a box and two rows, of which the middle of the box is feasible."""
    low = rng.integers(-3, 1, n).astype(float)
    high = low + rng.integers(1, 4, n)
    A = rng.integers(-3, 4, (2, n)).astype(float)
    Q = indefinite(rng, n, k, n) * (1.0 if digits is None else rng.random())
    return BiconvexProblem(
        rng.integers(-9, 10, n).astype(float), Q=Q if sense == "min" else -Q, A=A,
        row_upper=A @ (low + high) / 2 + 1.0, lower=low, upper=high, sense=sense, constant=0.1,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_as_many_squares_as_negative_eigenvalues_leave_a_convex_form(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 16))
    k = int(rng.integers(1, n // VARIABLES_EACH + 1))
    Q = indefinite(rng, n, k, int(rng.integers(k + 1, n + 1)))
    values = np.linalg.eigvalsh(Q)
    negative = int((values < 1e-9 * values[0]).sum())
    found = directions(Q)
    assert len(found) == negative
    left = Q + sum(mu * np.outer(w, w) for w, mu in found)
    assert np.linalg.eigvalsh(left)[0] >= -1e-11 * abs(Q).max()
    assert directions(left) == []


def test_none_where_they_are_many():
    assert directions(-np.eye(VARIABLES_EACH * 2)) is None
    n = VARIABLES_EACH * (MOST_DIRECTIONS + 2)
    assert directions(np.diag(np.where(np.arange(n) <= MOST_DIRECTIONS, -1.0, 1.0))) is None
    assert directions(np.array([[0.0, 1.0], [1.0, 0.0]])) is None
    products = BiconvexProblem([0.0] * 2, Q=[[0.0, 1.0], [1.0, 0.0]], lower=[0.0] * 2, upper=[1.0] * 2)
    assert divided(products) is None


def test_none_of_equations_and_none_that_are_convex():
    rng = np.random.default_rng(0)
    Q = indefinite(rng, 6, 1, 6)
    box = {"lower": np.zeros(6), "upper": np.ones(6)}
    assert divided(BiconvexProblem(np.ones(6), quadratic_rows=[(Q, np.ones(6), 1.0, 1.0)], **box)) is None
    assert divided(BiconvexProblem(np.ones(6), Q=np.eye(6), **box)) is None
    assert divided(BiconvexProblem(np.ones(6), Q=Q, quadratic_rows=[(np.eye(6), np.ones(6), None, 1.0)], **box)) is None
    # what is not convex beside it stays a product, and then all of it does
    other = [(-np.eye(6), np.ones(6), None, 1.0)]
    assert divided(BiconvexProblem(np.ones(6), Q=Q, quadratic_rows=other, **box)) is None
    assert len(divided(BiconvexProblem(np.ones(6), quadratic_rows=[(-Q, np.ones(6), 1.0, None)], **box)).forms) == 1


@pytest.mark.parametrize("seed", range(16))
def test_no_point_of_the_box_is_worth_less_than_it_seems_in_exact_numbers(seed):
    """With d = w'z in rationals: the objective lies below the problem's, by the loss at most, and rows are looser."""
    rng = np.random.default_rng(seed)
    n, sense = int(rng.integers(6, 9)), str(rng.choice(["min", "max"]))
    sign = 1 if sense == "min" else -1
    one = programme(rng, n, 2, sense, digits=True)
    row = indefinite(rng, n, 1, n) * rng.random()
    is_upper = rng.random() < 0.5
    one = BiconvexProblem(
        one.c, Q=one.Q, lower=one.lower, upper=one.upper, sense=sense, constant=one.constant,
        quadratic_rows=[(row, one.c, None, 0.3) if is_upper else (-row, one.c, -0.3, None)],
    )  # fmt: skip
    found = divided(one)
    assert found.forms and 0 < found.loss < 1e-10
    limit = Fraction(found.quadratic_rows[0].upper if is_upper else -found.quadratic_rows[0].lower)
    for _ in range(30):
        z = one.lower + (one.upper - one.lower) * rng.integers(0, 9, n) / 8
        exact = [Fraction(x) for x in z.tolist()]
        whole = exact + [sum(Fraction(a) * exact[i] for i, a in form.items()) for form in found.forms.values()]
        assert all(low <= d <= high for low, d, high in
                   zip(found.lower.tolist(), whole, found.upper.tolist(), strict=True))  # fmt: skip
        less = sign * (value(one.Q, one.c, one.constant, exact) - value(found.Q, found.c, found.constant, whole))
        assert 0 <= less <= Fraction(found.loss)
        own, other = one.quadratic_rows[0], found.quadratic_rows[0]
        factor = 1 if is_upper else -1
        assert factor * value(other.Q, other.a, 0.0, whole) - limit <= (
            factor * value(own.Q, own.a, 0.0, exact) - Fraction(own.upper if is_upper else -own.lower))


def value(Q, c, constant, z):
    Q = Q.tocoo()
    total = Fraction(constant) + sum(Fraction(a) * x for a, x in zip(c.tolist(), z, strict=True))
    return total + sum(Fraction(a) * z[i] * z[j] for i, j, a in
                       zip(Q.row.tolist(), Q.col.tolist(), Q.data.tolist(), strict=True))  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_no_feasible_point_is_below_the_bound_and_the_optimum_is_the_same(seed):
    rng = np.random.default_rng(seed)
    sense = str(rng.choice(["min", "max"]))
    one = programme(rng, int(rng.integers(5, 9)), 1 + seed % 2, sense)
    sign = 1.0 if sense == "min" else -1.0
    found = gopfast.solve(one, log=False, n_threads=1)
    with gopfast.settings(concave_directions=False):
        plain = gopfast.solve(one, log=False, n_threads=1)
    assert found.success and plain.success and found.profile["concave_directions"].calls == 1
    assert plain.profile["concave_directions"] == Activity()
    assert found.solution.z.shape == (one.n_variables,)
    assert found.objective == pytest.approx(plain.objective, rel=1e-5, abs=1e-5)
    assert sign * found.bound <= sign * plain.objective + 1e-9 and sign * plain.bound <= sign * found.objective + 1e-9
    low, high = one.lower, one.upper
    for z in low + (high - low) * rng.integers(0, 9, (500, one.n_variables)) / 8:
        worth, feasible = one.exact(z)
        assert not feasible or worth >= sign * found.bound - 1e-12


def test_a_program_with_two_concave_directions_of_thirty_variables_is_proved_in_few_nodes():
    rng = np.random.default_rng(1)
    n = 30
    one = BiconvexProblem(rng.integers(-9, 10, n).astype(float), Q=indefinite(rng, n, 2, n), lower=np.zeros(n),
                          upper=np.ones(n))  # fmt: skip
    found = gopfast.solve(one, log=False, n_threads=1, epsilon=1e-6, rel_tol=1e-6, max_nodes=300)
    assert found.success and found.gap <= 1e-6 * max(1.0, abs(found.objective))


def test_a_loss_that_is_no_small_part_of_the_tolerance_leaves_no_false_proof():
    """Terms of 1e12 whose objective is near 0: the loss exceeds the tolerance that is asked for."""
    rng = np.random.default_rng(2)
    Q = indefinite(rng, 6, 1, 6) * 1e12 / 3
    one = BiconvexProblem(np.zeros(6), Q=Q, lower=-np.ones(6), upper=np.ones(6))
    found = gopfast.solve(one, log=False, n_threads=1, epsilon=1e-6, rel_tol=0.0, max_nodes=200)
    assert divided(one).loss > 1e-6
    assert not found.success or found.gap <= 1e-6


def test_bilinear_forms_have_no_directions():
    """Pooling: a star of products has one negative eigenvalue, and is convex in either group."""
    one = gopfast.PolynomialProblem(
        "x - 3*y", ["3*q*x + 3*p*x - 2*x <= y", "q + p == 1", "x + y <= 100"],
        {"q": (0, 1), "p": (0, 1), "x": (0, 100), "y": (0, 100)},
    )  # fmt: skip
    found = gopfast.solve(one, log=False, n_threads=1)
    assert found.success and found.profile["concave_directions"].calls <= 1
    Q = np.zeros((4, 4))
    Q[0, 2:] = Q[2:, 0] = [1.0, -2.0]  # z_0 (z_2 - 2 z_3)
    assert divided(BiconvexProblem(np.ones(4), Q=Q, lower=np.zeros(4), upper=np.ones(4))) is None
    Q[1, 1] = -1.0  # a part of its own
    assert divided(BiconvexProblem(np.ones(4), Q=Q, lower=np.zeros(4), upper=np.ones(4))) is None
