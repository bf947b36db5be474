"""CVXPY problems: values come back, and what is outside the class is refused with the expression."""

import dataclasses

import numpy as np
import pytest

import gopfast
from gopfast import InputError, InputTypeError, Status
from gopfast.biconvex import cvxpy

cp = pytest.importorskip("cvxpy")


def test_bilinear_program_sets_values_status_and_objective():
    x, y = cp.Variable(name="x", bounds=[0, 5]), cp.Variable(name="y", bounds=[0, 5])
    problem = cp.Problem(cp.Minimize(-x - y + x * y), [-6 * x + 8 * y <= 3, 3 * x - y <= 3])
    result = gopfast.solve(problem, n_threads=1)
    assert result.status is Status.OPTIMAL and problem.status == cp.OPTIMAL
    assert problem.value == pytest.approx(-13 / 12, abs=2e-6)
    assert (x.value, y.value) == (pytest.approx(7 / 6, abs=1e-3), pytest.approx(0.5, abs=1e-3))
    assert problem.objective.value == pytest.approx(problem.value, abs=1e-6)


def test_statistics_are_those_of_the_search_and_there_are_no_duals():
    x, y = cp.Variable(bounds=[0, 5]), cp.Variable(bounds=[0, 5])
    rows = [x + y <= 4, x - y == 0.5]
    convex = cp.Problem(cp.Minimize((x - 3) ** 2 + y), rows)
    convex.solve()
    assert rows[1].dual_value is not None and convex.solution is not None
    problem = cp.Problem(cp.Minimize(-x - y + x * y), rows)
    for one in (problem, convex):  # the second has duals of another solver
        result = gopfast.solve(one, n_threads=1)
        stats = one.solver_stats
        assert (stats.solver_name, stats.solve_time, stats.num_iters) == ("gopfast", result.time, result.n_nodes)
        assert stats.extra_stats == {"bound": result.bound, "gap": result.gap, "n_lps": result.n_lps}
        assert [row.dual_value for row in rows] == [None, None]
        assert one.solution is None


def test_shapes_slices_and_affine_atoms_agree_with_cvxpys_own_value():
    rng = np.random.default_rng(0)
    X, y = cp.Variable((2, 3), bounds=[-1, 2]), cp.Variable(3, nonneg=True)
    parameter = cp.Parameter((3, 3), value=rng.standard_normal((3, 3)))
    objective = (
        cp.sum(cp.multiply(X[0], y)) + X[1, 1:] @ y[:2] + cp.trace(parameter @ cp.diag(y))
        + cp.sum(X.T @ np.ones((2, 1))) + cp.sum_squares(cp.reshape(X, (6,), order="F") - 1)
        + cp.quad_form(y, np.eye(3) + 1) / 2 - cp.hstack([y, y])[4] + cp.sum(cp.cumsum(y)) + cp.vec(X, order="F")[3] * 2
    )  # fmt: skip
    problem = cp.Problem(cp.Minimize(objective), [y <= 1, cp.vstack([X[0], y])[0, 2] == 0.5])
    result = gopfast.solve(problem, n_threads=1, rel_tol=1e-5)
    assert result.success
    assert float(np.squeeze(objective.value)) == pytest.approx(result.objective, rel=1e-6, abs=1e-6)
    assert X.value[0, 2] == pytest.approx(0.5) and (y.value <= 1 + 1e-6).all()


def test_k_means_of_separate_clusters():
    data = np.array([[0.0, 0.0], [0.4, 0.0], [3.0, 3.0], [3.0, 3.4]])
    centers = cp.Variable((2, 2), bounds=[-1, 4])
    member = cp.Variable((4, 2), nonneg=True)
    cost = sum(member[i, k] * cp.sum_squares(data[i] - centers[k]) for i in range(4) for k in range(2))
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(member, axis=1) == 1, member[0, 0] == 1])
    result = gopfast.solve(problem, n_threads=1, rel_tol=1e-2, time_limit=60)
    assert result.success
    # 2 * 0.2^2 per cluster
    assert problem.value == pytest.approx(0.16, rel=2e-2)
    assert result.bound <= 0.16 + 1e-9
    np.testing.assert_allclose(centers.value, [[0.2, 0.0], [3.0, 3.2]], atol=0.1)


def test_matrix_factorisation_reaches_the_singular_values():
    M = np.array([[2.0, 1.0], [1.0, 1.5]])
    u, v = cp.Variable((2, 1), bounds=[-2, 2]), cp.Variable((1, 2), bounds=[-2, 2])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(M - u @ v)), [u[0, 0] >= 0.5])
    result = gopfast.solve(problem, n_threads=1, rel_tol=1e-2, time_limit=60)
    best = np.linalg.svd(M)[1][1] ** 2
    assert result.success and problem.value == pytest.approx(best, rel=2e-2) and result.bound <= best + 1e-9


def nonnegative_factorisation(shape, rank, seed):
    rng = np.random.default_rng(seed)
    M = rng.uniform(0, 1, (shape[0], rank)) @ rng.uniform(0, 1, (rank, shape[1])) + 0.1 * rng.normal(size=shape)
    U, V = cp.Variable((shape[0], rank), bounds=[0, 1.5]), cp.Variable((rank, shape[1]), bounds=[0, 1.5])
    return cp.Problem(cp.Minimize(cp.sum_squares(np.round(M, 2) - U @ V)))


def test_dictionary_and_factorisations_of_rank_two_are_proved():
    rng = np.random.default_rng(0)
    Y = np.round(rng.normal(size=(2, 3)), 2)
    D, X = cp.Variable((2, 2), bounds=[-1, 1]), cp.Variable((2, 3), bounds=[-2, 2])
    dictionary = cp.Problem(cp.Minimize(cp.sum_squares(Y - D @ X) + 0.1 * cp.norm1(X)))
    for problem in (dictionary, nonnegative_factorisation((2, 2), 2, 0)):
        result = gopfast.solve(problem, n_threads=1, rel_tol=1e-4, time_limit=60)
        # an optimum of almost 0 is proved within the default share of the objective's terms
        assert result.success and result.gap <= 1e-4 * max(abs(result.objective), 0.1)
        assert problem.objective.value == pytest.approx(problem.value, rel=1e-5, abs=1e-7)


def test_k_means_on_a_line_is_proved_against_all_assignments():
    data = np.array([1.76, 0.4, 0.98, 5.24])
    centers, member = cp.Variable(2, bounds=[0, 6]), cp.Variable((4, 2), nonneg=True)
    cost = sum(member[i, k] * cp.square(data[i] - centers[k]) for i in range(4) for k in range(2))
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(member, axis=1) == 1, member[0, 0] == 1])
    result = gopfast.solve(problem, n_threads=1, rel_tol=1e-4, time_limit=60)
    best = min(
        sum(((data[sides == k] - data[sides == k].mean()) ** 2).sum() for k in (0, 1) if (sides == k).any())
        for sides in (np.array([s >> i & 1 for i in range(4)]) for s in range(16))
    )
    assert result.success and result.bound <= best + 1e-9
    assert problem.value == pytest.approx(best, rel=2e-4)


def test_epigraph_atoms_are_taken_where_they_are_convex():
    x = cp.Variable(2, bounds=[-2, 2])
    problem = cp.Problem(cp.Minimize(cp.norm1(x) + cp.max(x) + cp.pos(x[0]) + x[0] * x[1]))
    result = gopfast.solve(problem, n_threads=1)
    grid = np.stack(np.meshgrid(np.linspace(-2, 2, 401), np.linspace(-2, 2, 401)))
    reference = (abs(grid).sum(axis=0) + grid.max(axis=0) + np.maximum(grid[0], 0) + grid[0] * grid[1]).min()
    assert result.objective == pytest.approx(reference, abs=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: (x[0] * x[1]) * (x[0] * x[1]) - x[0] * x[1],
        lambda x: x[0] * cp.sum_squares(x) + x[1],
        lambda x: x[0] / (x[1] + 2) - (x[0] * x[1]) / (x[0] * x[1] - 3),
        lambda x: cp.power(x[0] + 1, 3) * x[1] - cp.power(x[1], 4) + cp.inv_pos(x[1] + 2),
        lambda x: cp.sqrt(x[0] * x[1] + 1.5) * x[1] - cp.quad_over_lin(x, x[1] + 2),
        lambda x: (x[0] * cp.sum_squares(x)) * (x[0] * cp.sum_squares(x)) * x[1],
        lambda x: x[0] * cp.abs(x[1]) - cp.abs(x[0] - 0.5 * x[1]) + 2 * cp.norm1(x) * x[1],
        lambda x: cp.minimum(x[0], x[1] * x[0], 0.5) * x[1] - cp.max(x) + cp.min(x) * x[0],
        lambda x: cp.maximum(cp.abs(x[0]), x[1] + 0.25) * (x[0] - x[1]) - cp.norm_inf(x),
        lambda x: -cp.maximum(cp.square(x[0]), x[0] + x[1], cp.abs(x[1])),
    ],
)  # fmt: skip
def test_products_of_products_quotients_and_roots_reach_what_a_grid_has(make):
    x = cp.Variable(2, name="x", bounds=[-1, 1])
    ends = []
    for sense in (cp.Minimize, cp.Maximize):
        problem = cp.Problem(sense(make(x)))
        result = gopfast.solve(problem, n_threads=1)
        assert result.status is Status.OPTIMAL
        assert float(np.squeeze(make(x).value)) == pytest.approx(problem.value, abs=1e-5)
        ends.append(result.bound)
    values = []
    for a in np.linspace(-1, 1, 17):
        for b in np.linspace(-1, 1, 17):
            x.value = np.array([a, b])
            values.append(float(np.squeeze(make(x).value)))
    assert ends[0] <= min(values) + 1e-9 and max(values) <= ends[1] + 1e-9
    # and no further than a grid of this width can miss
    assert min(values) - ends[0] <= 0.2 and ends[1] - max(values) <= 0.2


def test_infeasible_and_unbounded_reach_cvxpy():
    x, y = cp.Variable(bounds=[0, 1]), cp.Variable(bounds=[0, 1])
    infeasible = cp.Problem(cp.Minimize(x), [x * y >= 2])
    assert gopfast.solve(infeasible).status is Status.INFEASIBLE
    assert infeasible.status == cp.INFEASIBLE and x.value is None
    z = cp.Variable()
    unbounded = cp.Problem(cp.Maximize(z + x * y))
    assert gopfast.solve(unbounded, n_threads=1).status is Status.UNBOUNDED
    assert unbounded.status == cp.UNBOUNDED


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda x: cp.exp(x[0]), "exp"),
        (lambda x: cp.log(x[0]), "log"),
        (lambda x: cp.norm(x, 2), "norm"),
        (lambda x: x[0] ** 3, "power"),
        (lambda x: (3 + x[0]) ** 0.3, "power of 0.3"),
        (lambda x: cp.sqrt(x[0] - 2), "root"),
        (lambda x: x[0] / x[1], "division"),
    ],
)
def test_what_is_outside_the_class_is_refused_with_the_expression(make, shown):
    x = cp.Variable(2, name="x", bounds=[-1, 1])
    with pytest.raises(InputTypeError, match="gopfast cannot take the expression") as caught:
        gopfast.solve(cp.Problem(cp.Minimize(make(x))))
    assert shown in str(caught.value).lower()


def test_other_variables_constraints_and_missing_parameters_are_refused():
    with pytest.raises(InputTypeError, match="is boolean"):
        gopfast.solve(cp.Problem(cp.Minimize(cp.Variable(boolean=True))))
    x = cp.Variable((2, 2), bounds=[0, 1])
    with pytest.raises(InputTypeError, match="PSD"):
        gopfast.solve(cp.Problem(cp.Minimize(x[0, 0]), [x >> 0]))
    with pytest.raises(InputError, match="parameter without a value"):
        gopfast.solve(cp.Problem(cp.Minimize(cp.Parameter() * x[0, 0])))


def test_infinite_right_sides_and_huge_coefficients_are_named_or_no_constraint():
    x, y = cp.Variable(bounds=[0, 5]), cp.Variable(bounds=[0, 5])
    open_row = cp.Problem(cp.Minimize(x * y), [x + y <= np.inf, x + y >= 1])
    assert gopfast.solve(open_row, n_threads=1).status is Status.OPTIMAL
    for make, named in [
        (lambda: cp.Problem(cp.Minimize(1e308 * x * y)), "^Q must"),
        (lambda: cp.Problem(cp.Minimize(x * y), [x + y >= np.inf]), "^row_upper must"),
        (lambda: cp.Problem(cp.Minimize(x * y), [x + y == np.nan]), "^row_lower must"),
        (lambda: cp.Problem(cp.Minimize(x * y), [1e300 * x + y >= 1]), "^A must"),
    ]:
        with pytest.raises(gopfast.InputError, match=named):
            gopfast.solve(make(), n_threads=1)


def test_wide_bounds_reach_cvxpy_with_a_feasible_point():
    z = cp.Variable(2, bounds=[0, 1e6])
    problem = cp.Problem(cp.Minimize(z[0] + z[1]), [z[0] * z[1] == 1])
    gopfast.solve(problem, n_threads=1)
    assert problem.status == cp.OPTIMAL and problem.value == pytest.approx(2.0, rel=2e-6)
    assert problem.objective.value == pytest.approx(problem.value, rel=1e-15)
    assert abs(problem.constraints[0].violation()) <= 1e-8


def test_without_a_solution_the_status_is_no_optimum():
    z = cp.Variable(2, bounds=[0, 1])
    problem = cp.Problem(cp.Minimize(z[0] * z[1]))
    result = gopfast.solve(problem, n_threads=1)
    translation = cvxpy.Translation(problem)
    translation.store(dataclasses.replace(result, status=Status.NUMERICAL, solution=None, objective=np.inf))
    assert problem.status == cp.SOLVER_ERROR and z.value is None
    translation.store(dataclasses.replace(result, status=Status.NUMERICAL))
    assert problem.status == cp.OPTIMAL_INACCURATE


def test_convex_terms_are_taken_where_a_maximised_objective_is_concave():
    x, y = cp.Variable(bounds=[-1, 5]), cp.Variable(bounds=[0, 5])
    problem = cp.Problem(cp.Maximize(x - 2 * cp.abs(x - 1) + x * y), [x + y <= 3, -cp.abs(y - 1) >= -1])
    result = gopfast.solve(problem, n_threads=1)
    grid, rest = np.meshgrid(np.linspace(-1, 5, 1201), np.linspace(0, 5, 1001))
    feasible = (grid + rest <= 3 + 1e-12) & (abs(rest - 1) <= 1 + 1e-12)
    reference = np.where(feasible, grid - 2 * abs(grid - 1) + grid * rest, -np.inf).max()
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(reference, abs=1e-3)
    result = gopfast.solve(cp.Problem(cp.Maximize(cp.abs(x) + x * y)), n_threads=1)  # where it is convex, too
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(30)


def test_a_registered_method_of_cvxpy(capsys):
    import gopfast.cvxpy

    x, y = cp.Variable(bounds=[0, 5]), cp.Variable(bounds=[0, 5])
    problem = cp.Problem(cp.Minimize(x * y - x - y), [8 * y - 6 * x <= 3, 3 * x - y <= 3])
    # its own solvers are not asked: the problem is not convex
    with pytest.raises(cp.DCPError):
        problem.solve()
    assert problem.solve(method="gopfast", n_threads=1) == pytest.approx(-13 / 12, abs=1e-5)
    assert problem.status == "optimal" and problem.solver_stats.solver_name == "gopfast"
    assert x.value * y.value - x.value - y.value == pytest.approx(problem.value)
    assert capsys.readouterr().out == ""
    problem.solve(method=gopfast.cvxpy.METHOD, verbose=True, max_nodes=1)
    assert "global optimum" in capsys.readouterr().out
    with pytest.raises(gopfast.InputError, match="time_limit"):
        problem.solve(method="gopfast", time_limit=-1)
    with pytest.raises(TypeError, match="solver"):
        problem.solve(method="gopfast", solver="SCS")
    infeasible = cp.Problem(cp.Minimize(x * y), [x >= 3, y >= 3, x + y <= 5])
    assert infeasible.solve(method="gopfast") == np.inf and infeasible.status == "infeasible"
