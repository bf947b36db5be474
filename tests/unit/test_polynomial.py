"""Polynomial problems: formulas, what is made of them, results in the user's variables, files."""

import itertools
import json
import math

import numpy as np
import pytest

import gopfast
from gopfast import PolynomialProblem
from gopfast.biconvex import polynomial
from gopfast.biconvex.products import shortened
from gopfast.errors import InputError, InputTypeError

BOX = {"x": (0.5, 2), "y": (-1, 3), "z": (-2, -1)}
# problem, optimum: Hock and Schittkowski's number 71; Rosenbrock's valley
PUBLISHED = {
    "hs71": (
        PolynomialProblem(
            "a*d*(a + b + c) + c", ["a*b*c*d >= 25", "a^2 + b^2 + c^2 + d^2 == 40"], dict.fromkeys("abcd", (1, 5))
        ),
        17.0140173,
    ),
    "rosenbrock": (PolynomialProblem("(1 - x)^2 + 100*(y - x^2)^2", [], {"x": (-2, 2), "y": (-2, 2)}), 0.0),
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "x*y*z", "x^3*y**2*z - 4*x", "(y - x^2)^2", "(x + y)*(y + z)*(x - z)", "-(x*y)^3/7", "1/x", "y/(x*z)",
        "(x + y)/(x + 3)", "3*y/x + 5*y/x", "z^-3", "sqrt(x + 2*y + 3)", "x^(1/3) + x^-1.5", "abs(y) + abs(x) + abs(z)",
        "x*y - x*y + z", "2^3*x + (x*y*z)^0", "y^2/x*(x + y^2)", "- - x", "1e2*x", "(x*x - y)*(x*x - y)*(y*z + 1)",
    ],
)  # fmt: skip
def test_formulas_have_their_values(text):
    problem = PolynomialProblem(text, [f"{text} <= 1.5"], BOX)
    rng = np.random.default_rng(len(text))
    for _ in range(20):
        point = rng.uniform(problem.lower, problem.upper)
        names = dict(zip(BOX, point.tolist(), strict=True))
        value = eval(text.replace("^", "**"), {"sqrt": math.sqrt, "abs": abs}, names)
        assert problem.objective(point) == pytest.approx(value, rel=1e-9, abs=1e-9)
        completed = problem.completed(point)
        assert (completed >= problem.lifted.lower - 1e-9).all() and (completed <= problem.lifted.upper + 1e-9).all()
        assert (problem.violations(point)[0] > 0) == (value > 1.5)
        assert problem.lifted.violations(completed)[problem.n_rows + 0 :].max() <= max(1e-9, value - 1.5)


def test_equal_parts_are_made_once():
    problem = PolynomialProblem("x*y*z + (x*y*z)^2 + 2*x/y + 3*x/y", ["x*y*z*z <= 4"], dict.fromkeys("xyz", (1, 2)))
    assert problem.lifted.names[3:] == ("quotient0", "x*y", "z*x*y")
    pairs, short = shortened([(0, 0, 0, 0, 0, 0), (0, 1, 1), (0, 1)], 2)
    # x x, its square, and their product; x y is there already
    assert pairs == [(0, 0), (0, 1), (2, 2)] and short[0, 0, 0, 0, 0, 0] == (2, 4) and short[0, 1, 1] == (1, 3)


def test_rows_keep_their_order_in_what_is_told():
    problem = PolynomialProblem("x", ["x*y*z <= 1", "x + y <= 0", "sqrt(y - 1) <= 9", "1 <= x*y <= 2"], BOX)
    assert problem.n_rows == 6  # of the chain two, and one of the root
    violated = problem.violations([2.0, 0.25, -1.0]) > 0
    assert violated.tolist() == [False, True, False, True, False, True, False, False, False]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_optima_are_proved_in_the_users_variables(name):
    problem, optimum = PUBLISHED[name]
    result = gopfast.solve(problem, epsilon=1e-2, rel_tol=0.0, proof=True, n_threads=1, log=False)
    assert result.status is gopfast.Status.OPTIMAL and result.solution.names == problem.names
    assert result.bound - 1e-6 <= optimum <= result.objective + 1e-6
    assert result.solution.z.shape == (problem.n_variables,)
    assert result.objective == problem.objective(result.solution.z)
    found = gopfast.check(result.proof, problem)
    assert found.bound == result.bound and set(problem.names) <= set(found.solution)


def test_a_start_and_a_maximum():
    problem = PolynomialProblem("x*y/z", ["x + y + z == 3"], dict.fromkeys("xyz", (0.5, 2)), sense="max")
    result = gopfast.solve(problem, start=[1, 1.5, 0.5], max_nodes=1, log=False, n_threads=1)
    assert result.objective >= 3.0 - 1e-9 and result.upper_bound >= 3.125 - 1e-9
    assert gopfast.solve(problem, log=False).objective == pytest.approx(3.125, abs=1e-4)


def test_infeasible_and_where_a_quotient_is_not_defined():
    problem = PolynomialProblem("x", ["x*y*z >= 1"], BOX | {"y": (0, 3)})
    assert gopfast.solve(problem, log=False).status is gopfast.Status.INFEASIBLE
    # 1 / x is not defined at 0, and t x = 1 has no such point
    problem = PolynomialProblem("x", ["y == 1/x", "y <= 4"], {"x": (0, 9), "y": (0, None)})
    assert gopfast.solve(problem, log=False).objective == pytest.approx(0.25, abs=1e-6)
    with np.errstate(all="raise"):
        assert problem.violations([0.0, 1.0]).max() == math.inf


@pytest.mark.parametrize(
    ("objective", "constraints", "message"),
    [
        ("sin(x)", [], r"objective: sin\(x\) is no formula"),
        ("x", ["x <= 1", "y*tan(x) <= 1"], r"constraints\[1\]: tan\(x\) is no formula"),
        ("y^65", [], "degrees may be up to 64"),
        ("(x*y)^33*z^2", [], "degrees may be up to 64"),
        ("x/y", [], "keep the denominator away from 0|not defined"),
        ("x/(y - y)", [], "a division by 0"),
        ("0*x/y", [], "a quotient of 0"),
        ("sqrt(z)", [], "a root of what is negative"),
        ("x + q", [], "'q' is no variable"),
        ("x +", [], "objective must be a formula"),
        ("x if y else z", [], "is no formula"),
        ("__import__('os')", [], "is no formula"),
        ("x % y", [], "is none of"),
        ("1e200*x*1e200", [], "not finite"),
        ("10^400*x", [], "not finite"),
        ("x", ["x + y"], r"constraints\[0\] must compare"),
        ("x", ["x < y"], r"constraints\[0\] must compare"),
        ("(" * 5000 + "x" + ")" * 5000, [], "must be a formula|nested too deeply"),
        ("-" * 5000 + "x", [], "must be a formula|nested too deeply"),
    ],
)  # fmt: skip
def test_what_is_outside_is_refused_by_name(objective, constraints, message):
    box = {"x": (0, 2), "y": (-1, 3), "z": (-2, -1)}
    with pytest.raises(InputError, match=message):
        PolynomialProblem(objective, constraints, box)


def test_arguments_of_a_wrong_kind_are_named():
    with pytest.raises(InputTypeError, match="objective must be text"):
        PolynomialProblem(3, [], BOX)
    with pytest.raises(InputTypeError, match="constraints must be a sequence"):
        PolynomialProblem("x", "x <= 3", BOX)
    with pytest.raises(InputError, match="variables: 'x y' is no name"):
        PolynomialProblem("x", [], {"x y": (0, 1)})
    with pytest.raises(InputTypeError, match=r"variables\['x'\] must be a pair"):
        PolynomialProblem("x", [], {"x": 3})
    with pytest.raises(InputError, match="sense"):
        PolynomialProblem("x", [], BOX, sense="up")
    with pytest.raises(InputError, match="point must have shape"):
        PUBLISHED["hs71"][0].objective([1.0])


def test_json_comes_back_and_other_readers_say_where_it_belongs(tmp_path):
    problem = PolynomialProblem("x*y*z - x/z", ["x*y^3 <= 4", "x + y >= 1"], BOX, sense="max", name="sample")
    path = tmp_path / "p.json"
    problem.to_json(path)
    again = PolynomialProblem.read(path)
    assert again.names == (*problem.names, "quotient0") and again.sense == "max" and again.name == "sample"
    point = [1.0, 2.0, -1.5]
    assert again.objective(problem.stated(point)) == problem.objective(point)
    assert again.lifted.to_json() == problem.lifted.to_json()
    assert isinstance(polynomial.read(path), PolynomialProblem)
    with pytest.raises(InputError, match=r"p\.json: .*PolynomialProblem\.read"):
        gopfast.BiconvexProblem.read(path)
    record = json.loads(problem.to_json())
    record["objective"]["terms"][0][0][0] = "q"
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"p\.json: 'q' is no variable"):
        PolynomialProblem.read(path)


NL = """g3 1 1 0	# problem unknown
 3 2 1 0 1 	# vars, constraints, objectives, ranges, eqns
 2 1 0 0 0 0	# nonlinear constrs, objs; ccons: lin, nonlin, nd, nzlb
 0 0	# network constraints: nonlinear, linear
 3 3 3 	# nonlinear vars in constraints, objectives, both
 0 0 0 1	# linear network variables; functions; arith, flags
 {integers} 0 0 0 0 	# discrete variables: binary, integer, nonlinear (b,c,o)
 6 3 	# nonzeros in Jacobian, obj. gradient
 0 0	# max name lengths: constraints, variables
 0 1 0 0 0	# common exprs: b,c,o,c1,o1
V3 1 0	#e
0 2
o2	#*
v0
v1
C0
o2
v3
v2
C1
o{code}	#sqrt
v2
O0 1
o0	#+
o3
v3
v2
o5
v1
n3
x1
0 0.5
r
1 30
4 1.5
b
0 0.5 2
0 -1 3
0 1 4
k2
2
4
J0 3
0 0
1 -1
2 0
J1 1
2 0
G0 1
2 -0.5
"""


def test_a_text_nl_file_is_the_problem_that_it_says(tmp_path):
    path = tmp_path / "model.nl"
    path.write_text(NL.format(integers=0, code=39))
    (tmp_path / "model.col").write_text("a\nb\nc\n")
    problem = PolynomialProblem.read(path)
    assert problem.names == ("a", "b", "c") and problem.sense == "max" and problem.name == "model"
    a, b, c = point = [1.5, -0.5, 2.25]
    shared = 2 * a + a * b
    assert problem.objective(point) == pytest.approx(shared / c + b**3 - 0.5 * c, rel=1e-14)
    assert problem.violations(point).max() == 0  # shared c - b <= 30, root of c = 1.5
    assert problem.violations([a, b, 2.5])[1] > 0 and problem.violations([2.0, 3.0, 2.25])[0] == 0
    result = gopfast.solve(problem, log=False, rel_tol=1e-5)
    assert result.success and result.solution["c"] == pytest.approx(2.25, abs=1e-6)
    with pytest.raises(InputError, match=r"model\.nl: has more than products of two"):
        gopfast.BiconvexProblem.read(path)


@pytest.mark.parametrize(
    ("integers", "code", "message"),
    [(0, 41, "row 1 has sin, which is outside"), (1, 39, "integer variables"), (0, 99, "operation 99")],
)
def test_nl_files_of_other_problems_are_refused(tmp_path, integers, code, message):
    path = tmp_path / "model.nl"
    path.write_text(NL.format(integers=integers, code=code))
    with pytest.raises(InputError, match=message):
        PolynomialProblem.read(path)


@pytest.mark.parametrize(("code", "which"), [(11, min), (12, max)])
def test_nl_files_have_the_least_and_the_greatest_of_several(tmp_path, code, which):
    path = tmp_path / "model.nl"
    # in place of the root of v2: of v2, v0 and 2.125
    path.write_text(NL.format(integers=0, code=f"{code}\n3").replace("#sqrt\nv2\nO0", "\nv2\nv0\nn2.125\nO0"))
    problem = PolynomialProblem.read(path)
    for point in itertools.product((1.0, 1.5, 2.0), (0.0,), (1.25, 1.5, 3.5)):
        assert (problem.violations(point)[1] < 1e-12) == (which(point[2], point[0], 2.125) == 1.5)


def test_nl_files_that_are_cut_off_or_changed_are_refused_or_read(tmp_path):
    text, path = NL.format(integers=0, code=39), tmp_path / "model.nl"
    rng = np.random.default_rng(0)
    for k in range(150):
        changed = text[: rng.integers(len(text))] if k % 2 else list(text)
        if not k % 2:
            changed[rng.integers(len(text))] = "0123456789obnvCJ \n"[rng.integers(18)]
        path.write_text("".join(changed))
        try:
            PolynomialProblem.read(path)
        except InputError as error:
            assert "model.nl" in str(error)


def test_a_search_goes_on_from_its_checkpoint(tmp_path):
    problem = PolynomialProblem("x^3*y - y^3*x + x*y", ["x*x*y <= 3"], {"x": (-2, 2), "y": (-2, 2)})
    path = tmp_path / "state"
    stopped = gopfast.solve(problem, rel_tol=1e-7, max_nodes=5, checkpoint=path, log=False, n_threads=1)
    assert stopped.status is gopfast.Status.NODE_LIMIT
    result = gopfast.resume(path, problem, log=False, n_threads=1)
    assert result.status is gopfast.Status.OPTIMAL and result.solution.names == ("x", "y")
    assert result.objective == pytest.approx(gopfast.solve(problem, rel_tol=1e-7, log=False).objective, rel=1e-6)
    with pytest.raises(gopfast.CheckpointError, match="PolynomialProblem"):
        gopfast.resume(path, problem.lifted)
