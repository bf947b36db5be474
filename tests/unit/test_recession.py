"""Unbounded bilinear problems: a ray that is checked in rationals, or a clear refusal."""

from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem, Status
from gopfast.biconvex import recession
from gopfast.biconvex.tuning import WHOLE_NODES

PRODUCT = np.array([[0.0, 1.0], [0.0, 0.0]])
INF = np.inf


def random_problem(seed):
    """Random data, an equation among them, so that no ray of short numbers keeps all rows."""
    rng = np.random.default_rng(seed)
    return BiconvexProblem(
        rng.normal(size=4), Q=np.triu(rng.normal(size=(4, 4)), 1), A=rng.normal(size=(2, 4)), row_lower=[-INF, 1.0],
        row_upper=[2.0, 1.0], lower=[-INF, 0, 0, -INF], sense=["min", "max"][seed % 2],
    )  # fmt: skip


UNBOUNDED = {
    "a product": BiconvexProblem([0, 0], Q=PRODUCT),
    "a product, maximised": BiconvexProblem([0, 0], Q=PRODUCT, lower=0, sense="max"),
    "one factor bounded": BiconvexProblem([0, 0], Q=PRODUCT, lower=[-1, 0], upper=[1, INF]),
    "a cost that the product does not stop": BiconvexProblem([-1, 0], Q=PRODUCT, lower=0),
    "on a line": BiconvexProblem([0, 0], Q=PRODUCT, A=[[1, 1]], row_lower=1, row_upper=1),
    "beside a bilinear row": BiconvexProblem([1, 1], quadratic_rows=[(PRODUCT, None, 1.0, INF)]),
    "beside a convex row": BiconvexProblem(
        [0, 0, 0], Q=[[0, 1, 0], [0, 0, 0], [0, 0, 0]], quadratic_rows=[(np.diag([0.0, 0, 1.0]), None, -INF, 4.0)]
    ),
    **{f"random, seed {seed}": random_problem(seed) for seed in range(2, 12)},
}
BOUNDED = {
    "a product of nonnegative variables": BiconvexProblem([0, 0], Q=PRODUCT, lower=0),
    "a hyperbola": BiconvexProblem([1, 1], quadratic_rows=[(PRODUCT, None, 1.0, 1.0)], lower=0),
    "unbounded along a curve, but along no ray": BiconvexProblem(
        [1, -1], quadratic_rows=[(PRODUCT, None, 1.0, 1.0)], lower=0
    ),
}
COPOSITIVE = {f"random, seed {seed}": random_problem(seed) for seed in range(2)}


def least_curvature(problem):
    """Least d'Qd over many directions in which the rows and the variables may go, by chance."""
    sign = 1.0 if problem.sense == "min" else -1.0
    along, across = np.linalg.svd(problem.A.toarray()[1:])[2][1:], problem.A.toarray()[0]
    d = np.random.default_rng(0).normal(size=(100_000, 3)) @ along
    d = d[(d @ across <= 0) & (d[:, 1] >= 0) & (d[:, 2] >= 0)]
    d /= np.abs(d).max(axis=1, keepdims=True)
    assert len(d) > 100
    return (sign * np.einsum("ni,ij,nj->n", d, problem.Q.toarray(), d)).min()


def test_random_problems_are_of_the_kind_that_they_stand_for():
    for name, problem in {**UNBOUNDED, **COPOSITIVE}.items():
        if name.startswith("random"):
            assert bool(least_curvature(problem) < -0.1) is (name in UNBOUNDED)


@pytest.mark.parametrize("name", UNBOUNDED)
def test_an_unbounded_problem_is_told_with_a_feasible_point_and_a_ray(name):
    problem = UNBOUNDED[name]
    best = -INF if problem.sense == "min" else INF
    result = gopfast.solve(problem, n_threads=1)
    assert result.status == "UNBOUNDED" and result.objective == result.bound == best and result.gap == 0
    assert result.solution.max_violation <= 1e-9
    (note,) = result.notes
    assert note.startswith("unbounded as t grows along ")
    # The ray as the note gives it, to six digits: far along it the point stays feasible and the objective falls.
    point, ray = recession.find(problem, gopfast.biconvex.solve.solve, gopfast.options.Options.from_arguments())
    moved = note.removeprefix("unbounded as t grows along ").split(", ")
    assert [part.split()[0] for part in moved] == [f"z{i}" for i, step in enumerate(ray) if step]
    sign = 1.0 if problem.sense == "min" else -1.0
    values = []
    for t in (0.0, 1e2, 1e4, 1e6):
        far = point + t * np.array([float(step) for step in ray])
        assert problem.violations(far).max() <= 1e-9
        values.append(sign * problem.objective(far))
    assert values[1] > values[2] > values[3] and values[3] < -1e4


def test_what_the_best_points_objective_bounds_is_proved():
    for name, optimum in (("a product of nonnegative variables", 0.0), ("a hyperbola", 2.0)):
        result = gopfast.solve(BOUNDED[name], n_threads=1)
        assert result.status == "OPTIMAL" and not any("unbounded" in note for note in result.notes)
        assert result.bound <= optimum <= result.objective + 1e-9
        assert result.objective == pytest.approx(optimum, abs=1e-5)


@pytest.mark.parametrize("name", ["unbounded along a curve, but along no ray", *COPOSITIVE])
def test_without_a_ray_and_bounds_a_part_is_searched_and_nothing_claimed(name):
    problem = {**BOUNDED, **COPOSITIVE}[name]
    result = gopfast.solve(problem, n_threads=1, max_nodes=WHOLE_NODES + 50)  # first without ends
    assert result.status in ("NUMERICAL", "NODE_LIMIT") and abs(result.bound) == INF
    assert (result.bound < 0) == (problem.sense == "min")
    assert result.solution.max_violation <= 1e-8
    assert any("searched up to" in note and "no bound is proved of all values" in note for note in result.notes)


def test_complementarity_with_free_multipliers_is_solved():
    # min x - 2 y over y = argmin {-y : y + x <= 3, y <= 2 + x, y >= 0}: multipliers m have no bounds
    A = [[1.0, 1, 0, 0, 0], [-1.0, 1, 0, 0, 0], [0.0, 0, 1, 1, -1]]
    quadratic = []
    for multiplier, row, bound in ((2, [1.0, 1], 3.0), (3, [-1.0, 1], 2.0), (4, [0.0, -1], 0.0)):
        Q, a = np.zeros((5, 5)), np.zeros(5)
        Q[multiplier, :2], a[multiplier] = np.negative(row), bound
        quadratic.append((Q, a, 0.0, 0.0))
    problem = BiconvexProblem(
        [1, -2, 0, 0, 0], A=A, row_lower=[-INF, -INF, 1], row_upper=[3, 2, 1], quadratic_rows=quadratic, lower=0,
        upper=[10, INF, INF, INF, INF],
    )  # fmt: skip
    result = gopfast.solve(problem, n_threads=1)
    # y = min(3 - x, 2 + x): the least of x - 2 y is at x = 1/2
    assert result.objective == pytest.approx(-4.5, abs=1e-5) and result.bound <= -4.5 + 1e-6


@pytest.mark.parametrize("name", BOUNDED)
def test_random_rays_prove_nothing_of_a_bounded_problem(name):
    problem, rng = BOUNDED[name], np.random.default_rng(0)
    points = [[1.0, 1.0], [0.5, 2.0]]
    for _ in range(500):
        ray = [Fraction(int(x), int(y)) for x, y in zip(rng.integers(-3, 4, 2), rng.integers(1, 4, 2), strict=True)]
        assert not any(recession.is_proof(problem, np.array(point), ray) for point in points)


def test_a_proof_is_exact():
    """A ray that is off by less than any tolerance is none."""
    line = UNBOUNDED["on a line"]
    point, tiny = np.array([0.0, 1.0]), Fraction(1, 10**30)
    assert recession.is_proof(line, point, [Fraction(1), Fraction(-1)])
    assert not recession.is_proof(line, point, [Fraction(1), Fraction(-1) + tiny])
    product = UNBOUNDED["one factor bounded"]
    assert recession.is_proof(product, np.array([-1.0, 0.0]), [Fraction(0), Fraction(1)])
    assert not recession.is_proof(product, np.array([-1.0, 0.0]), [tiny, Fraction(1)])
    assert not recession.is_proof(product, np.array([0.0, 0.0]), [Fraction(0), Fraction(1)])  # the objective stays
    assert not recession.is_proof(product, np.array([-1.0, 0.0]), [Fraction(0), Fraction(0)])


def test_a_problem_without_a_feasible_point_is_not_called_unbounded():
    # x + y = 1 and x + y >= 2: the linear rows contradict each other, the product has a ray
    problem = BiconvexProblem([0, 0], Q=PRODUCT, A=[[1, 1], [1, 1]], row_lower=[1, 2], row_upper=[1, INF])
    assert gopfast.solve(problem, n_threads=1).status != "UNBOUNDED"


def test_ctrl_c_while_a_ray_is_looked_for_is_raised():
    class Stopped:
        status, objective, solution = gopfast.Status.INTERRUPTED, 0.0, None

    options = gopfast.options.Options.from_arguments()
    with pytest.raises(KeyboardInterrupt):
        recession.find(UNBOUNDED["a product"], lambda *arguments: Stopped(), options)


def test_options_of_the_solve_do_not_get_in_the_way():
    paper = {"partition": "paper", "relaxation": "linear"}
    for options in ({"max_nodes": 1}, paper, {"rel_tol": 0.5, "epsilon": 100.0}):
        assert gopfast.solve(UNBOUNDED["a product"], n_threads=1, **options).status == "UNBOUNDED"
    called = []
    gopfast.solve(UNBOUNDED["a product"], n_threads=1, callback=called.append)
    assert all(state.upper == -INF for state in called)


def test_cvxpy_is_told():
    cp = pytest.importorskip("cvxpy")
    x, y = cp.Variable(), cp.Variable()
    problem = cp.Problem(cp.Minimize(x * y), [x + y == 1])
    gopfast.solve(problem, n_threads=1)
    assert problem.status == cp.UNBOUNDED and problem.value == -INF
    assert x.value + y.value == pytest.approx(1.0)


@pytest.mark.parametrize("slope", [4.5e-16, 1e-15, 2e-14])
def test_a_ray_but_for_rounding_proves_nothing(slope):
    # x = y, (1 + slope) x - y <= 1: x goes up to 1 / slope
    problem = BiconvexProblem([-1, 0], A=[[1, -1], [1 + slope, -1]], row_lower=[0, -np.inf], row_upper=[0, 1], lower=0)
    result = gopfast.solve(problem, n_threads=1, max_nodes=20)
    far = 0.5 / slope
    value, feasible = problem.exact([far, far])
    assert feasible and value == -far
    assert result.status is not Status.UNBOUNDED and result.bound <= -far


def test_rays_of_linear_programs_are_proved():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 5))
        d = rng.integers(-2, 3, n).astype(float)
        d[0] = 1.0
        A = rng.integers(-4, 5, (2, n)) / 8.0
        A *= np.where(A @ d > 0, -1.0, 1.0)[:, np.newaxis]
        problem = BiconvexProblem(-d, A=A, row_upper=rng.integers(0, 4, 2))
        result = gopfast.solve(problem, n_threads=1)
        assert result.status is Status.UNBOUNDED and problem.violations(result.solution.z).max() <= 1e-8
