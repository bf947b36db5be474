"""Problems from the files of other software: what SCIP reads is the problem that was written."""

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import files
from gopfast.errors import InputError

pyscipopt = pytest.importorskip("pyscipopt")

LP = """\\ two squares and a product
{sense}
 obj: {objective}
Subject To
 line: - 6 x + 8 y <= 3
 curve: x + [ x * y - 3 y ^ 2 ] >= -10
Bounds
 0 <= x <= 5
 y free
End
"""
OBJECTIVE = "- x - y + [ 2 x * y + 4 x ^ 2 ] / 2"


def write(folder, text, name="problem.lp"):
    path = folder / name
    path.write_text(text)
    return path


def test_an_lp_file_becomes_the_problem_that_it_says(tmp_path):
    problem = BiconvexProblem.read(write(tmp_path, LP.format(sense="Minimize", objective=OBJECTIVE)))
    assert problem.names == ("x", "y") and problem.sense == "min" and problem.name == "problem"
    assert np.array_equal(problem.c, [-1, -1]) and np.array_equal(problem.Q.toarray(), [[2, 0.5], [0.5, 0]])
    assert np.array_equal(problem.A.toarray(), [[-6, 8]])
    assert problem.row_upper[0] == 3 and problem.row_lower[0] == -np.inf
    (row,) = problem.quadratic_rows
    assert np.array_equal(row.Q.toarray(), [[0, 0.5], [0.5, -3]]) and np.array_equal(row.a, [1, 0])
    assert (row.lower, row.upper) == (-10, np.inf)
    assert np.array_equal(problem.lower, [0, -np.inf]) and np.array_equal(problem.upper, [5, np.inf])


def test_a_maximised_form_keeps_its_sign_and_sense(tmp_path):
    problem = BiconvexProblem.read(write(tmp_path, LP.format(sense="Maximize", objective=OBJECTIVE)))
    assert problem.sense == "max" and np.array_equal(problem.c, [-1, -1])
    assert np.array_equal(problem.Q.toarray(), [[2, 0.5], [0.5, 0]])


def random_model(rng):
    """A SCIP model with a quadratic objective, a linear and two quadratic rows, and a function of the same values."""
    n, sense = 4, ("minimize", "maximize")[rng.integers(2)]
    model = pyscipopt.Model("random")
    model.hideOutput()
    z = [model.addVar(f"z{i}", lb=float(low), ub=float(low + 2)) for i, low in enumerate(rng.integers(-3, 3, n))]
    forms = np.round(rng.standard_normal((3, n, n)), 3)
    lines = np.round(rng.standard_normal((4, n)), 3)
    values = [sum(Q[i, j] * z[i] * z[j] for i in range(n) for j in range(n)) for Q in forms]
    rows = [values[r] + sum(lines[r, i] * z[i] for i in range(n)) for r in range(2)]
    model.addCons(rows[0] <= 1.5, "first")
    model.addCons(rows[1] >= -2.25, "second")
    model.addCons(sum(lines[2, i] * z[i] for i in range(n)) == 0.125, "line")
    t = model.addVar("quadobjvar", lb=None, ub=None)
    goal = values[2] + sum(lines[3, i] * z[i] for i in range(n)) + 0.75
    model.addCons(goal <= t if sense == "minimize" else goal >= t, "objective")
    model.setObjective(t, sense)
    return model, sense, forms, lines


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
@pytest.mark.parametrize("seed", range(6))
def test_files_of_scip_itself_come_back_term_by_term(tmp_path, suffix, seed):
    rng = np.random.default_rng(seed)
    model, sense, forms, lines = random_model(rng)
    path = tmp_path / f"problem{suffix}"
    model.writeProblem(str(path), verbose=False)
    problem = BiconvexProblem.read(path)
    assert problem.sense == sense[:3] and problem.n_variables == 4
    order = [problem.names.index(f"z{i}") for i in range(4)]
    for point in rng.uniform(-2, 2, (5, 4)):
        z = np.empty(4)
        z[order] = point
        linear = lines @ point
        quadratic = np.einsum("rij,i,j->r", forms, point, point)
        assert problem.objective(z) == pytest.approx(quadratic[2] + linear[3] + 0.75, abs=1e-9)
        rows = problem.row_values(z)
        assert rows[0] == pytest.approx(linear[2], abs=1e-9)
        assert sorted(rows[1:]) == pytest.approx(sorted(quadratic[:2] + linear[:2]), abs=1e-9)
    lower, upper = problem.row_bounds
    assert (lower[0], upper[0]) == (0.125, 0.125)
    assert {(-np.inf, 1.5), (-2.25, np.inf)} == set(zip(lower[1:], upper[1:], strict=True))


def test_an_nl_file_has_the_optimum_of_its_lp_file(tmp_path):
    # min x y - x - y + 2 x^2 + 3 as AMPL writes it: x in [0, 5], y free, -6 x + 8 y <= 3, x y - 3 y^2 >= -10
    nl = """g3 1 1 0	# problem unknown
 2 2 1 0 0 	# vars, constraints, objectives, ranges, eqns
 1 1 0 0 0 0	# nonlinear constrs, objs; ccons: lin, nonlin, nd, nzlb
 0 0	# network constraints: nonlinear, linear
 2 2 2 	# nonlinear vars in constraints, objectives, both
 0 0 0 1	# linear network variables; functions; arith, flags
 0 0 0 0 0 	# discrete variables: binary, integer, nonlinear (b,c,o)
 4 2 	# nonzeros in Jacobian, obj. gradient
 0 0	# max name lengths: constraints, variables
 0 0 0 0 0	# common exprs: b,c,o,c1,o1
C0
o0
o2
v0
v1
o2
n-3
o5
v1
n2
C1
n0
O0 0
o54
3
o2
v0
v1
o2
n2
o5
v0
n2
n3
x0
r
2 -10
1 3
b
0 0 5
3
k1
2
J0 2
0 0
1 0
J1 2
0 -6
1 8
G0 2
0 -1
1 -1
"""
    result = gopfast.solve(BiconvexProblem.read(write(tmp_path, nl, "problem.nl")))
    lp = LP.format(sense="Minimize", objective=OBJECTIVE).replace("curve: x +", "curve:")
    other = gopfast.solve(BiconvexProblem.read(write(tmp_path, lp)))
    assert result.status is other.status is gopfast.Status.OPTIMAL
    assert result.objective == pytest.approx(other.objective + 3, abs=1e-6)


@pytest.mark.parametrize(
    "text, name, message",
    [
        (LP.format(sense="Minimize", objective="x").replace("End", "General\n y\nEnd"), "a.lp", "'y' is integer"),
        (LP.format(sense="Minimize", objective="x").replace("3 y ^ 2", "3 y ^ 3"), "a.lp", "cannot read"),
        ("no model at all", "a.lp", "no variables"),
        ("", "a.txt", "are read from .json, .qplib, .lp, .mps, .nl files"),
    ],
)  # fmt: skip
def test_what_is_no_problem_of_this_class_is_refused_with_the_files_name(tmp_path, text, name, message):
    path = write(tmp_path, text, name)
    with pytest.raises(InputError, match=message) as error:
        BiconvexProblem.read(path)
    assert str(path) in str(error.value)


def test_a_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        BiconvexProblem.read(tmp_path / "none.lp")


def test_json_is_read_as_before(tmp_path):
    problem = BiconvexProblem([1.0, 2.0], Q=[[0, 1], [0, 0]], lower=0, upper=1, names=["a", "b"])
    problem.to_json(tmp_path / "p.json")
    assert BiconvexProblem.read(tmp_path / "p.json").names == ("a", "b")


NL = """g3 1 1 0
 {variables} 1 1 0 0
 {nonlinear} {nonlinear}
 0 0
 2 0 0
 0 0 0 1
 0 0 0 0 0
 2 2
 0 0
 0 0 0 0 0
C0
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # a sum of sums of sums
        (NL.format(variables=2, nonlinear=1) + "o0\n" * 100_000, "is no .nl file"),
        (NL.format(variables=10**9, nonlinear=0) + "n0\n", "has 1000000000 variables"),
        ("b3 1 1 0\n 1000000000 1 1 0 0\n", "SCIP cannot read this file"),  # the binary form
    ],
    ids=["nested without end", "a thousand million variables", "binary"],
)
def test_a_file_on_which_the_reader_breaks_down_is_refused(tmp_path, text, message):
    path = write(tmp_path, text, "a.nl")
    with pytest.raises(InputError, match=message) as error:
        BiconvexProblem.read(path)
    assert str(path) in str(error.value)


def test_a_row_type_that_there_is_not_is_refused(tmp_path):
    text = "NAME x\nROWS\n N obj\n Q c1\nCOLUMNS\n x obj 1 c1 1\nRHS\n rhs c1 1\nENDATA\n"
    with pytest.raises(InputError, match="SCIP cannot read this file"):
        BiconvexProblem.read(write(tmp_path, text, "a.mps"))


def test_reading_ends_by_its_limit(tmp_path, monkeypatch):
    path = write(tmp_path, LP.format(sense="Minimize", objective="x"))
    monkeypatch.setattr(files, "LIMIT", 0.0)
    monkeypatch.setattr(files, "LIMIT_EACH", 1e-6)
    with pytest.raises(InputError, match="did not come to an end within"):
        BiconvexProblem.read(path)


def test_the_reader_does_not_take_modules_from_the_folder(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise RuntimeError")
    monkeypatch.chdir(tmp_path)
    assert BiconvexProblem.read(write(tmp_path, LP.format(sense="Minimize", objective="x"))).n_variables == 2
