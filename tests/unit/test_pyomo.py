"""Pyomo models: translated term by term, solved, their variables filled, bad ones refused by name."""

import math

import numpy as np
import pytest

pyo = pytest.importorskip("pyomo.environ")

import gopfast  # noqa: E402
import gopfast.pyomo as plugin  # noqa: E402
from gopfast.errors import InputError  # noqa: E402


def model(sense=None):
    m = pyo.ConcreteModel("sample")
    m.x = pyo.Var(bounds=(0, 5))
    m.y = pyo.Var(bounds=(-4, 4))
    m.p = pyo.Param(initialize=2.0, mutable=True)
    m.fixed = pyo.Var(initialize=3.0)
    m.fixed.fix()
    m.goal = pyo.Objective(expr=-m.x - m.y + m.x * m.y + m.p * m.x**2 + m.fixed, sense=sense or pyo.minimize)
    m.line = pyo.Constraint(expr=-6 * m.x + 8 * m.y <= m.fixed)
    m.curve = pyo.Constraint(expr=pyo.inequality(-10, m.x * m.y - 3 * m.y**2 + 1, 7))
    m.off = pyo.Constraint(expr=m.x >= 4)
    m.off.deactivate()
    return m


def test_a_model_is_solved_and_its_variables_filled():
    m = model()
    solver = pyo.SolverFactory("gopfast")
    assert solver.available() and len(solver.version()) == 4
    record = solver.solve(m)
    pyo.assert_optimal_termination(record)
    same = gopfast.BiconvexProblem(
        [-1, -1], Q=[[2, 1], [0, 0]], A=[[-6, 8]], row_upper=3, constant=3, lower=[0, -4], upper=[5, 4],
        quadratic_rows=[([[0, 1], [0, -3]], None, -11, 6)],
    )  # fmt: skip
    expected = gopfast.solve(same)
    assert pyo.value(m.goal) == pytest.approx(expected.objective, abs=1e-6)
    assert [m.x.value, m.y.value] == pytest.approx(expected.solution.z.tolist(), abs=1e-4)
    assert record.problem.lower_bound <= expected.objective + 1e-9
    assert m.fixed.value == 3.0


def test_terms_are_those_of_the_model():
    problem = plugin._Translation(model(pyo.maximize)).problem
    assert problem.sense == "max" and problem.names == ("x", "y") and problem.constant == 3
    point = np.array([1.5, -0.25])
    assert problem.objective(point) == pytest.approx(-1.5 + 0.25 - 0.375 + 4.5 + 3)
    assert problem.row_values(point) == pytest.approx([-11.0, -0.375 - 0.1875])
    lower, upper = problem.row_bounds
    assert np.array_equal(lower, [-math.inf, -11]) and np.array_equal(upper, [3, 6])


def test_a_proof_is_checked_with_the_model_as_it_was_solved(tmp_path):
    """And with a file of it; of a polynomial model, too."""
    for k, power in enumerate((1, 3)):
        m = model()
        m.more = pyo.Constraint(expr=m.x**power * m.y >= -3)
        solver, path = pyo.SolverFactory("gopfast"), tmp_path / f"{k}.proof"
        assert solver.problem is None
        solver.solve(m, options={"proof": str(path), "rel_tol": 1e-4})
        checked = gopfast.check(path, solver.problem)
        assert checked.objective == pytest.approx(pyo.value(m.goal), abs=1e-6) and checked.gap < 1e-2
        solver.problem.to_json(tmp_path / f"{k}.json")
        kind = gopfast.BiconvexProblem if power == 1 else gopfast.PolynomialProblem
        assert gopfast.check(path, kind.read(tmp_path / f"{k}.json")).bound == checked.bound


def test_limits_and_infeasible_models_have_pyomos_conditions():
    m = model()
    m.no = pyo.Constraint(expr=m.x * m.y >= 30)
    record = pyo.SolverFactory("gopfast").solve(m)
    assert record.solver.termination_condition == pyo.TerminationCondition.infeasible
    assert m.x.value is None
    hard = pyo.ConcreteModel()
    n = range(12)
    hard.x = pyo.Var(n, bounds=(-1, 1))
    rng = np.random.default_rng(0)
    Q = rng.standard_normal((12, 12))
    hard.goal = pyo.Objective(expr=sum(Q[i, j] * hard.x[i] * hard.x[j] for i in n for j in n))
    solver = pyo.SolverFactory("gopfast", options={"max_nodes": 1})
    record = solver.solve(hard)
    assert solver.result.status is gopfast.Status.NODE_LIMIT
    assert record.solver.termination_condition == pyo.TerminationCondition.maxIterations
    assert record.problem.lower_bound <= pyo.value(hard.goal) + 1e-9


def test_what_is_outside_the_class_is_refused_by_name():
    m = model()
    m.sine = pyo.Constraint(expr=pyo.sin(m.x) <= 1)
    with pytest.raises(InputError, match="'sine' has a term"):
        pyo.SolverFactory("gopfast").solve(m)
    m = model()
    m.whole = pyo.Var(domain=pyo.Integers)
    m.use = pyo.Constraint(expr=m.whole + m.x <= 3)
    with pytest.raises(InputError, match="'whole' is not continuous"):
        pyo.SolverFactory("gopfast").solve(m)
    m = model()
    m.second = pyo.Objective(expr=m.x)
    with pytest.raises(InputError, match="one active objective"):
        pyo.SolverFactory("gopfast").solve(m)


def test_products_of_three_and_quotients_are_solved_in_the_models_variables():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2, 3], bounds=(1, 3))
    m.part = pyo.Expression(expr=m.x[1] * m.x[2] + 1)
    m.two = pyo.Param(initialize=2.0, mutable=True)
    m.goal = pyo.Objective(expr=m.part * m.x[3] / m.x[1] - (m.x[2] - m.x[3] ** 2) ** m.two + pyo.sqrt(m.x[3]) - m.x[2])
    m.row = pyo.Constraint(expr=pyo.inequality(-2, abs(m.x[1] - m.x[2]) - m.x[1] * m.x[2] * m.x[3], 0))
    problem = plugin._Translation(m).problem
    assert isinstance(problem, gopfast.PolynomialProblem) and problem.names == ("x[1]", "x[2]", "x[3]")
    for point in np.random.default_rng(0).uniform(1, 3, (5, 3)):
        for variable, number in zip(m.x.values(), point.tolist(), strict=True):
            variable.set_value(number)
        assert problem.objective(point) == pytest.approx(pyo.value(m.goal), rel=1e-12)
        assert (problem.violations(point)[0] > 0) == (not -2 <= pyo.value(m.row.body) <= 0)
    solver = pyo.SolverFactory("gopfast")
    pyo.assert_optimal_termination(solver.solve(m, options={"rel_tol": 1e-4}))
    assert pyo.value(m.goal) == pytest.approx(solver.result.objective, rel=1e-9)
    # x3 = 3, and the row holds x1 x2 x3 back
    assert -2 - 1e-6 <= pyo.value(m.row.body) <= 1e-6


def test_what_pyomo_writes_for_ampl_is_the_same_problem(tmp_path):
    m = model()
    m.cube = pyo.Constraint(expr=(m.x * m.y) ** 3 / (m.x + 1) - m.y / (m.x + 2) <= 40)
    m.write(str(tmp_path / "m.nl"), io_options={"symbolic_solver_labels": True})
    read, own = gopfast.PolynomialProblem.read(tmp_path / "m.nl"), plugin._Translation(m).problem
    order = [own.names.index(name) for name in read.names]
    for point in np.random.default_rng(1).uniform([0, -4], [5, 4], (5, 2)):
        assert read.objective(point[order]) == pytest.approx(own.objective(point), rel=1e-12)
        assert sorted(read.violations(point[order])) == pytest.approx(sorted(own.violations(point)), abs=1e-9)
