"""Files of QPLIB: the problem read is the one that the format defines."""

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem
from gopfast.errors import InputError

pytest.importorskip("pyqplib")

FILE = """SAMPLE
QCQ
{sense}
3 # variables
3 # constraints
3 # nonzeros in the lower triangle of the objective's Q
1 1 4.0
2 1 1.0
3 3 -2.0
0.0 # default of the linear objective
2
1 -1.0
2 -1.0
7.5 # constant
2 # nonzeros of the constraints' Q, in their lower triangles
2 3 2 2.0
2 2 2 -6.0
4 # nonzeros of the linear terms
1 1 -6.0
1 2 8.0
2 1 1.0
3 3 1.0
1.0E+30 # infinity
-1.0E+30 # default left side
1
2 -10.0
3.0 # default right side
1
2 1.0E+30
0.0 # default lower bound
1
2 -4.0
5.0 # default upper bound
1
3 1.0E+30
{kinds}0.0 # start, default
0
0.0
0
0.0
0
0 # names of variables
0 # names of constraints
"""


def write(folder, text=None, sense="minimize", kinds=""):
    path = folder / "QPLIB_0001.qplib"
    path.write_text((FILE if text is None else text).format(sense=sense, kinds=kinds))
    return path


@pytest.mark.parametrize("sense", ["minimize", "maximize"])
def test_values_are_those_of_the_format(tmp_path, sense):
    problem = BiconvexProblem.read(write(tmp_path, sense=sense))
    assert problem.sense == sense[:3] and problem.name == "SAMPLE" and problem.names == ("x1", "x2", "x3")
    assert np.array_equal(problem.lower, [0, -4, 0]) and np.array_equal(problem.upper, [5, 5, np.inf])
    # linear rows first: the first and the third of the file, then the second
    lower, upper = problem.row_bounds
    assert np.array_equal(lower, [-np.inf, -np.inf, -10]) and np.array_equal(upper, [3, 3, np.inf])
    for x, y, z in np.random.default_rng(3).standard_normal((20, 3)):
        # x'Qx / 2 of the symmetric matrices whose lower triangles the file has
        assert problem.objective([x, y, z]) == pytest.approx(2 * x * x + x * y - z * z - x - y + 7.5)
        assert problem.row_values([x, y, z]) == pytest.approx([-6 * x + 8 * y, z, 2 * y * z - 3 * y * y + x])


def test_a_file_is_solved_by_the_command_too(tmp_path, capsys):
    from gopfast.cli import main

    path = write(tmp_path, sense="minimize")
    problem = BiconvexProblem.read(path)
    bounded = BiconvexProblem(
        [-1, -1, 0], Q=[[2, 1, 0], [0, 0, 0], [0, 0, -1]], A=[[-6, 8, 0], [0, 0, 1]], row_upper=3, constant=7.5,
        quadratic_rows=[([[0, 0, 0], [0, -3, 2], [0, 0, 0]], [1, 0, 0], -10, None)], lower=[0, -4, 0], upper=[5, 5, 3],
    )  # fmt: skip
    assert gopfast.solve(problem).objective == pytest.approx(gopfast.solve(bounded).objective, abs=1e-5)
    assert main(["solve", str(path)]) == 0
    assert "OPTIMAL" in capsys.readouterr().out


def test_what_cannot_be_solved_or_read_is_named(tmp_path):
    integer = FILE.replace("QCQ", "QGQ")
    path = write(tmp_path, integer, kinds="0\n1\n3 1\n")
    with pytest.raises(InputError, match=r"QPLIB_0001.qplib: variable 'x3' is integer"):
        BiconvexProblem.read(path)
    with pytest.raises(InputError, match=r"QPLIB_0001.qplib: pyqplib cannot read this file"):
        BiconvexProblem.read(write(tmp_path, "nonsense\n"))
    with pytest.raises(FileNotFoundError):
        BiconvexProblem.read(tmp_path / "none.qplib")
