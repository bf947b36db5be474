"""The command `gopfast solve`: answers, exit codes, files, errors."""

import json

import pytest

from gopfast import cli

OBJECTIVE = {"const": 0, "lin": {"x": -1, "y": -1}, "quad": [["x", "y", 1]]}
LP = """Minimize
 obj: - x - y + [ 2 x * y ] / 2
Subject To
 a: 8 y - 6 x <= 3
 b: 3 x - y <= 3
Bounds
 x <= 5
 y <= 5
End
"""


@pytest.fixture
def write(tmp_path):
    """A problem as a JSON file: x and y from 0 to 5 unless said otherwise."""

    def write(rows=(), variables=None, objective=None, name="problem.json"):
        record = {"variables": variables or {"x": [0, 5], "y": [0, 5]}, "objective": objective or OBJECTIVE}
        record["constraints"] = [
            {"const": 0, "lin": lin, "quad": quad, "sense": sense, "rhs": rhs} for lin, quad, sense, rhs in rows
        ]
        (tmp_path / name).write_text(json.dumps(record))
        return str(tmp_path / name)

    return write


ROWS = [({"y": 8, "x": -6}, [], "<=", 3), ({"x": 3, "y": -1}, [], "<=", 3)]


def test_a_proved_optimum_is_exit_code_0(capsys, write):
    assert cli.main(["solve", write(ROWS)]) == 0
    out, err = capsys.readouterr()
    assert "OPTIMAL" in out and "-1.08333" in out and "problem.json" in out
    assert "<= global optimum <=" in err  # the plain log
    assert cli.main(["solve", write(ROWS), "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_files_of_other_software_are_read(capsys, tmp_path):
    pytest.importorskip("pyscipopt")
    path = tmp_path / "model.lp"
    path.write_text(LP)
    assert cli.main(["solve", str(path), "-q"]) == 0
    assert "-1.08333" in capsys.readouterr().out


def test_the_result_is_written_as_json(capsys, write, tmp_path):
    target = tmp_path / "result.json"
    assert cli.main(["solve", write(ROWS), "-q", "--json", str(target)]) == 0
    record = json.loads(target.read_text())
    assert record["status"] == "OPTIMAL" and record["objective"] == pytest.approx(-13 / 12, abs=1e-6)
    capsys.readouterr()
    assert cli.main(["solve", write(ROWS), "-q", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["lower_bound"] <= -13 / 12


def test_tolerances_reach_the_search(capsys, write, tmp_path):
    objective = {"const": 0, "lin": {"x": -1, "y": -0.7}, "quad": [["x", "y", -1], ["x", "x", 1]]}
    rows = [({"x": 1}, [["x", "y", 1]], ">=", 2.3), ({"x": 1, "y": 2}, [], "<=", 7)]  # the root alone does not prove it
    path, target = write(rows, objective=objective), tmp_path / "result.json"
    counts = []
    for options in ([], ["--epsilon", "1e6"], ["--rel-tol", "1e6"]):
        assert cli.main(["solve", path, "-q", "--json", str(target), *options]) == 0
        counts.append(json.loads(target.read_text())["n_lps"])
    assert counts[1] < counts[0] and counts[2] < counts[0]


def test_infeasible_and_unbounded_are_proofs(capsys, write):
    assert cli.main(["solve", write([({"x": 1, "y": 1}, [], ">=", 11)]), "-q"]) == 0
    assert "INFEASIBLE" in capsys.readouterr().out
    free = {"x": [0, None], "y": [0, None]}
    objective = {"const": 0, "lin": {}, "quad": [["x", "y", -1]]}
    assert cli.main(["solve", write([], free, objective), "-q"]) == 0
    assert "UNBOUNDED" in capsys.readouterr().out


def test_a_limit_is_exit_code_1_and_says_what_to_do(capsys, write):
    names = [f"x{i}" for i in range(40)]
    quad = [[a, b, float((7 * i + 3 * j) % 11 - 5)] for i, a in enumerate(names) for j, b in enumerate(names[:i])]
    path = write([], {name: [0, 1] for name in names}, {"const": 0, "lin": {}, "quad": quad})
    assert cli.main(["solve", path, "-q", "--time-limit", "0.05"]) == 1
    out, err = capsys.readouterr()
    assert "TIME_LIMIT" in out and "not proved" in err and "--time-limit 600" in err


@pytest.mark.parametrize("content", ["{", '{"variables": {}}', None])
def test_bad_files_are_one_line_and_exit_code_2(capsys, tmp_path, content):
    path = tmp_path / "bad.json"
    if content is not None:
        path.write_text(content)
    assert cli.main(["solve", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("gopfast: error: ") and "bad.json" in err and err.count("\n") == 1


def test_the_problem_is_not_overwritten(capsys, write):
    path = write(ROWS)
    assert cli.main(["solve", path, "--json", path]) == 2
    assert "overwrite the problem" in capsys.readouterr().err


def test_other_suffixes_are_refused_by_name(capsys, tmp_path):
    path = tmp_path / "model.gms"
    path.write_text("x")
    assert cli.main(["solve", str(path)]) == 2
    assert ".gms" in capsys.readouterr().err
