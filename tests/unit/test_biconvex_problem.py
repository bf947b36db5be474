import json
import math

import numpy as np
import pytest
from scipy import sparse

from gopfast import BiconvexProblem, InputError, InputTypeError


def small(**changes):
    """min z0 - z1 + z0 z1 with a linear, a bilinear and a convex quadratic row."""
    arguments = {
        "c": [1.0, -1.0, 0.0], "Q": [[0, 1, 0], [0, 0, 0], [0, 0, 0]], "A": [[1, 2, 0]], "row_upper": [3],
        "quadratic_rows": [([[0, 0, 0], [0, 0, 2], [0, 0, 0]], None, 1, None),
                           (np.diag([1.0, 0, 0]), [0, 0, 1], None, 4)],
        "lower": [0, -1, 0], "upper": 5, "constant": 7, "names": ["a", "b", "c"],
    }  # fmt: skip
    return BiconvexProblem(**arguments | changes)


def test_values_are_those_of_the_formulas():
    problem = small()
    z = np.array([1.0, 2.0, 3.0])
    assert problem.objective(z) == 7 + 1 - 2 + 1 * 2
    np.testing.assert_allclose(problem.row_values(z), [1 + 4, 2 * 2 * 3, 3 + 1])


def test_violations_are_relative_and_zero_inside():
    problem = small()
    inside = problem.violations([1.0, 0.5, 2.0])
    assert inside.shape == (3 + 3,) and not inside.any()
    outside = problem.violations([6.0, 0.5, 2.0])
    # a + 2 b = 7 > 3, which is less than its greatest term; a^2 + c = 38 > 4, likewise; a > 5
    np.testing.assert_allclose(outside, [4 / 3, 0, 34 / 4, 1 / 5, 0, 0])


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, np.asarray, list])
def test_matrices_of_every_kind_are_equal(kind):
    matrix = np.array([[0.0, 1.0], [2.0, 0.0]])
    problem = BiconvexProblem([0, 0], Q=kind(matrix), A=kind(matrix), lower=0, upper=1)
    np.testing.assert_array_equal(problem.Q.toarray(), [[0, 1.5], [1.5, 0]])
    np.testing.assert_array_equal(problem.A.toarray(), matrix)


def test_an_integer_sparse_matrix_of_a_triangle_counts_each_product_once():
    problem = BiconvexProblem([0, 0], Q=sparse.coo_array(([3], ([0], [1])), shape=(2, 2)))
    assert problem.objective([2.0, 5.0]) == 30.0


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("c", [], InputError),
        ("c", [[1.0]], InputError),
        ("c", [1.0, math.nan, 0.0], InputError),
        ("c", "abc", InputTypeError),
        ("Q", np.zeros((2, 2)), InputError),
        ("A", [[1.0, 2.0]], InputError),
        ("A", [[1.0, math.inf, 0.0]], InputError),
        ("row_upper", [1.0, 2.0], InputError),
        ("row_upper", "x", InputTypeError),
        ("lower", [0.0, math.nan, 0.0], InputError),
        ("upper", [1.0], InputError),
        ("sense", "minimise", InputError),
        ("constant", math.inf, InputError),
        ("names", ["a", "a", "b"], InputError),
        ("x", ["nobody"], InputError),
        ("x", [3], InputError),
        ("quadratic_rows", [(None, None, 1)], InputTypeError),
        ("quadratic_rows", [(np.zeros((2, 2)), None, 0, 1)], InputError),
    ],
)
def test_bad_arguments_are_named(name, value, error):
    with pytest.raises(error, match=name):
        small(**{name: value})


def test_row_bounds_without_rows_and_shared_groups_are_refused():
    with pytest.raises(InputError, match="row_lower and row_upper"):
        BiconvexProblem([1.0], row_upper=1)
    with pytest.raises(InputError, match="x and y must not share"):
        small(x=["a"], y=["a", "b"])


def test_json_round_trip_keeps_every_number(tmp_path):
    rng = np.random.default_rng(3)
    problem = small(
        c=rng.standard_normal(3), A=rng.standard_normal((2, 3)), row_lower=[-math.inf, 0.1], row_upper=[1 / 3, 0.1],
        sense="max", x=["a"], y=["b"], name="trip",
    )  # fmt: skip
    path = tmp_path / "problem.json"
    text = problem.to_json(path)
    again = BiconvexProblem.from_json(path)
    assert json.loads(text) == json.loads(path.read_text())
    for name in ("c", "lower", "upper", "row_lower", "row_upper"):
        np.testing.assert_array_equal(getattr(again, name), getattr(problem, name))
    np.testing.assert_array_equal(again.A.toarray(), problem.A.toarray())
    np.testing.assert_array_equal(again.Q.toarray(), problem.Q.toarray())
    assert (again.sense, again.constant, again.names, again.name) == ("max", 7.0, ("a", "b", "c"), "trip")
    assert (again.x, again.y) == ((0,), (1,))
    z = rng.standard_normal(3)
    np.testing.assert_array_equal(again.row_values(z), problem.row_values(z))


def test_ranged_rows_become_two_constraints_of_the_file():
    problem = BiconvexProblem([1.0], A=[[2.0]], row_lower=-1, row_upper=4)
    assert [(e["sense"], e["rhs"]) for e in json.loads(problem.to_json())["constraints"]] == [("<=", 4), (">=", -1)]


@pytest.mark.parametrize(
    "text",
    [
        "no json", "[]", "{}", '{"variables": {"x": [0, 1]}, "objective": {"lin": {"y": 1}}}',
        '{"variables": {"x": [0, 1]}, "objective": {"lin": {"x": 1}}, "extra": 1}',
        '{"variables": {"x": [0, 1]}, "objective": {}, "constraints": [{"sense": "<", "rhs": 0}]}',
        '{"variables": {"x": [0, 1]}, "objective": {}, "constraints": [{"sense": "<="}]}',
        '{"variables": {"x": [0]}, "objective": {}}',
        '{"variables": {"x": [0, 1]}, "objective": {"quad": [["x", "x"]]}}',
    ],
)  # fmt: skip
def test_bad_files_are_named(text, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError, match="bad.json"):
        BiconvexProblem.from_json(path)


@pytest.mark.parametrize(
    "field, text",
    [
        ("variables", '{"objective": {"lin": {"x": 1}}}'),
        ("objective", '{"variables": {"x": [0, 1]}}'),
        ("rhs", '{"variables": {"x": [0, 1]}, "objective": {}, "constraints": [{"sense": "<="}]}'),
        ("sense", '{"variables": {"x": [0, 1]}, "objective": {}, "constraints": [{"rhs": 1}]}'),
    ],
)
def test_a_missing_field_of_a_file_is_named(field, text, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError, match=f"bad.json: .* has no '{field}'"):
        BiconvexProblem.from_json(path)


def problem_text(**changes):
    record = {
        "variables": {"x": [0, 1], "y": [0, None]},
        "objective": {"lin": {"x": 1}, "quad": [["x", "y", 1]]},
        "constraints": [{"sense": "<=", "rhs": 1, "lin": {"x": 1}}],
    }
    return json.dumps(record | changes)


DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[" * DEEP + "]" * DEEP, "nested"),
        ('{"variables": ' + '{"x":' * DEEP + "1" + "}" * DEEP + "}", "nested"),
        (problem_text(variables=["x", "y"]), "variables"),
        (problem_text(variables=[[0, 1]]), "variables"),
        (problem_text(variables={"x": 3, "y": [0, 1]}), r"variables\['x'\]"),
        (problem_text(variables={"x": ["a", 1], "y": [0, 1]}), r"variables\['x'\]\[0\]"),
        (problem_text(variables={"x": [0, 1, 2], "y": [0, 1]}), r"variables\['x'\]"),
        (problem_text(objective={"const": 7}).replace("7", "9" * 6000), "constant"),
        (problem_text(objective={"lin": {"x": 7}}).replace("7", "9" * 6000), "c must be finite"),
        (problem_text(objective={"lin": {"x": 7}}).replace("7", "9" * 400), "c must be finite"),
        (problem_text(objective={"lin": {"x": 1e308}}), "^.*c must have entries"),
        (problem_text(objective={"lin": {"x": True}}), r"objective.lin\['x'\]"),
        (problem_text(objective={"lin": ["x"]}), "objective.lin"),
        (problem_text(objective=[1]), "objective"),
        (problem_text(objective={"quad": [[["x"], "y", 1]]}), "no variable"),
        (problem_text(objective={"quad": [["x", "y", "1"]]}), r"objective.quad\[0\]\[2\]"),
        (problem_text(constraints=[{"sense": "<=", "rhs": 7}]).replace("7", "-Infinity"), r"constraints\[0\].rhs"),
        (problem_text(constraints=[{"sense": "==", "rhs": 7}]).replace("7", "Infinity"), r"constraints\[0\].rhs"),
        (problem_text(constraints=[{"sense": ">=", "rhs": 7}]).replace("7", "1e999"), r"constraints\[0\].rhs"),
        (problem_text(constraints=[{"sense": ">=", "rhs": 7}]).replace("7", "NaN"), r"constraints\[0\].rhs"),
        (problem_text(constraints={"sense": ">=", "rhs": 7}), "constraints must be a list"),
        (problem_text(constraints=[7]), r"constraints\[0\]"),
        (problem_text(partition=["x"]), "partition"),
        (problem_text(partition={"x": "x"}), "partition.x"),
        (problem_text(sense=["min"]), "sense"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text, named, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError, match=f"bad.json.*{named}" if not named.startswith("^") else named):
        BiconvexProblem.from_json(path)


def test_an_infinite_right_side_on_the_open_side_is_no_constraint(tmp_path):
    path = tmp_path / "open.json"
    path.write_text(problem_text(constraints=[{"sense": "<=", "rhs": 7, "lin": {"x": 1}}]).replace("7", "Infinity"))
    assert BiconvexProblem.from_json(path).row_upper.tolist() == [math.inf]


@pytest.mark.parametrize("value", [1e308, -1e308, 1e101, 1e-101, 5e-324])
@pytest.mark.parametrize("name", ["c", "Q", "A", "constant", "quadratic_rows"])
def test_coefficients_that_cannot_be_computed_with_are_named(name, value):
    matrix = [[0, value, 0], [0, 0, 0], [0, 0, 0]]
    wrong = {
        "c": [value, 0, 0], "Q": matrix, "A": [[0, value, 0]], "constant": value,
        "quadratic_rows": [(matrix, None, None, 1)],
    }  # fmt: skip
    with pytest.raises(InputError, match=rf"^{name}.* must have entries"):
        small(**{name: wrong[name]})
    if name == "quadratic_rows":
        with pytest.raises(InputError, match=r"quadratic_rows\[0\].a must have entries"):
            small(quadratic_rows=[(None or [[0.0] * 3] * 3, [0, value, 0], None, 1)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"lower": math.inf}, {"upper": -math.inf}, {"upper": [5, 5, -math.inf]}, {"row_lower": math.inf},
        {"row_upper": -math.inf}, {"lower": -1e200}, {"upper": 1e300}, {"row_upper": 1e200}, {"upper": math.nan},
    ],
)  # fmt: skip
def test_bounds_that_no_point_meets_or_that_are_huge_are_named(wrong):
    (name,) = wrong
    with pytest.raises(InputError, match=f"^{name} must"):
        small(**wrong)


@pytest.mark.parametrize(("lower", "upper", "name"), [(math.inf, None, "lower"), (None, -math.inf, "upper"),
                                                      (math.nan, 1, "lower"), (0, 1e150, "upper")])
def test_bounds_of_quadratic_rows_are_named(lower, upper, name):
    with pytest.raises(InputError, match=rf"^quadratic_rows\[0\].{name} must"):
        small(quadratic_rows=[([[0.0, 1, 0], [0, 0, 0], [0, 0, 0]], None, lower, upper)])
