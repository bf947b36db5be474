"""Formulas with exponentials, logarithms and powers: what is made of them, what is refused, files and other readers."""

import json
import math
import pickle

import numpy as np
import pytest

import gopfast
from gopfast import InputError, PolynomialProblem
from gopfast.biconvex import atoms
from gopfast.biconvex.reduction import Reduction

BOX = {"x": (0.5, 3), "y": (0.25, 2), "z": (-1, 1)}


def names_of(problem):
    return [name.rstrip("0123456789") for name in problem._model.names[problem.n_variables :]]


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("exp(x*z) - y", lambda x, y, z: math.exp(x * z) - y),
        ("z*log(x*y^2/3)", lambda x, y, z: z * math.log(x * y**2 / 3)),
        ("x*log(x/y)*2 - log(x + y)", lambda x, y, z: 2 * x * math.log(x / y) - math.log(x + y)),
        ("x^1.37 - 2*y^(-0.41)", lambda x, y, z: x**1.37 - 2 * y**-0.41),
        ("x**z + 2**z", lambda x, y, z: x**z + 2**z),
        ("(x + y)*log(x + y)*z", lambda x, y, z: (x + y) * math.log(x + y) * z),
        ("exp(2*log(x)) + exp(log(y)/3) + log(exp(z))", lambda x, y, z: x * x + y ** (1 / 3) + z),
        ("x^(13/5) + x^77", lambda x, y, z: x**2.6 + x**77),
        ("exp(1)*log(2) + 2^0.1 + x", lambda x, y, z: math.e * math.log(2) + 2**0.1 + x),
    ],
)
def test_values_are_those_of_the_formula(text, function):
    problem, alone = PolynomialProblem(text, [f"{text} <= 1.5"], BOX), PolynomialProblem(text, [], BOX)
    rng = np.random.default_rng(1)
    for _ in range(20):
        point = np.array([rng.uniform(*BOX[name]) for name in BOX])
        value = function(*point.tolist())
        assert problem.objective(point) == pytest.approx(value, rel=1e-12, abs=1e-12)
        assert (problem.violations(point)[0] > 0) == (value > 1.5)
        made = alone.completed(point)
        assert (alone.lifted.lower <= made).all() and (made <= alone.lifted.upper).all()
        assert alone.lifted.violations(made).max() <= 1e-14


def test_a_variable_times_its_logarithm_is_one_function_however_it_is_written():
    for text in (
        "x*log(x)", "-2*log(x)*x + y", "x*y*log(x)", "y*(log(x)*x)", "x*(log(x) + log(y))", "(x + y)*log(x + y)",
        "z*(x + y + 1)*log(x + y + 1)", "log(3*x)*x",
    ):  # fmt: skip
        problem = PolynomialProblem(text, [], BOX)
        assert "entropy" in names_of(problem), text
    assert "log" not in names_of(PolynomialProblem("y*log(x)*x", [], BOX))
    # nothing is left that the objective does not need
    assert names_of(PolynomialProblem("x*log(x)", [], BOX)) == ["entropy"]


def test_a_sum_of_logarithms_of_shares_has_the_sum_times_its_logarithm():
    """sum x_i log(x_i / s) is sum x_i log(x_i) - s log(s): nothing bilinear is left."""
    problem = PolynomialProblem("x*log(x/(x + y)) + y*log(y/(x + y))", [], {"x": (0, 1), "y": (0.1, 1)})
    assert problem._model.is_quadratic is False and not problem.lifted.Q.nnz
    assert sorted(set(names_of(problem))) == ["entropy", "factor"]
    result = gopfast.solve(problem)
    assert result.success and result.objective == pytest.approx(-1.3862943611, abs=2e-6)


def test_entropy_is_0_at_0():
    problem = PolynomialProblem("x*log(x) + y", [], {"x": (0, 0.2), "y": (0, 1)})
    assert problem.objective([0.0, 0.5]) == 0.5
    assert gopfast.solve(problem).objective == pytest.approx(0.2 * math.log(0.2), abs=1e-6)


def test_what_is_not_defined_violates():
    problem = PolynomialProblem("log(x) + y^0.3", [], {"x": (-1, 1), "y": (-1, 1)})
    assert problem.n_rows == 2
    assert not np.isfinite(problem.objective([-0.5, 0.5])) and problem.violations([-0.5, 0.5]).max() > 0
    assert problem.violations([0.5, -0.5]).max() > 0 and problem.violations([0.5, 0.5]).max() == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sin(x)", r"sin\(x\) is no formula"),
        ("log(-x)", "a logarithm of what is not positive"),
        ("log(0)", "a logarithm of what is not positive"),
        ("(-1 - x)^0.37", "negative within the bounds"),
        ("x^20000", "exponents must be of magnitudes up to"),
        ("z^65", "degrees may be up to"),
        ("(-2)^0.37", "not defined"),
        ("exp(1000)", "not finite"),
        ("exp(x, y)", "is no formula"),
        ("max()", "is no formula"),
        ("max(x, key=y)", "is no formula"),
    ],
)
def test_what_is_outside_is_refused_by_name(text, message):
    with pytest.raises(InputError, match=message):
        PolynomialProblem(text, [], BOX)


def test_a_file_has_the_functions(tmp_path):
    problem = PolynomialProblem("x*log(x) + exp(-y)*z", ["y^0.37 + log(x + y) <= 1.5"], BOX)
    problem.to_json(tmp_path / "problem.json")
    read = PolynomialProblem.read(tmp_path / "problem.json")
    results = [gopfast.solve(each) for each in (problem, read)]
    assert results[0].success and results[1].success
    assert results[0].objective == pytest.approx(results[1].objective, abs=3e-6)
    # its points have values of what formulas made, which may be off
    z = problem.stated(results[0].solution.z)
    assert read.violations(z).max() <= 1e-12
    z[-1] += 0.1
    assert read.violations(z).max() > 1e-2


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (["exp", "x"], r"functions\[0\] must be \[name"),
        (["sin", "x", "y", 0.0], r"functions\[0\]\[0\]"),
        (["exp", "w", "y", 0.0], "'w' is no variable"),
        (["power", "x", "y", 1.0], r"functions\[0\]\[3\] must be a number"),
        (["entropy", "z", "y", 0.0], r"functions\[0\]\[1\] must have a lower bound"),
    ],
)
def test_a_bad_entry_of_a_file_is_named(tmp_path, entry, message):
    record = json.loads(PolynomialProblem("x*y*z", [], BOX).to_json()) | {"functions": [entry]}
    (tmp_path / "problem.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match=message):
        PolynomialProblem.read(tmp_path / "problem.json")


def test_there_are_proofs_with_functions(tmp_path):
    problem = PolynomialProblem("exp(x) - y", [], BOX)
    result = gopfast.solve(problem, proof=tmp_path / "proof.npz")
    found = gopfast.check(tmp_path / "proof.npz", problem)
    assert result.success and found.gap <= 2e-6
    assert found.objective == pytest.approx(math.exp(0.5) - 2) and not result.notes


def test_slopes_in_the_users_variables_agree_with_differences():
    problem = PolynomialProblem(
        "x*log(x/(x + y))*z + exp(y*z)/x", ["sqrt(x)*y^0.37 + abs(z - y)^3 <= 2", "x**y == 1.2"], BOX
    )
    low, high = (np.array(ends, float) for ends in zip(*BOX.values(), strict=True))
    reduced = Reduction(problem.model, low, high, None)
    point, step = np.array([1.1, 0.7, 0.3]), 1e-6
    values, slopes = reduced.evaluated(point)
    assert values[0] == pytest.approx(problem.objective(point), rel=1e-13)
    for j in range(3):
        moved = [reduced.evaluated(point + s * step * np.eye(3)[j])[0] for s in (-1, 1)]
        np.testing.assert_allclose(slopes[:, j], (moved[1] - moved[0]) / (2 * step), rtol=1e-7, atol=1e-8)


def test_a_checkpoint_goes_on(tmp_path):
    problem = PolynomialProblem(
        "x*log(x) + exp(-y)*x + y^0.37", ["x + y >= 1", "log(x + y) <= 2"], {"x": (0, 3), "y": (0, 3)}
    )
    whole = gopfast.solve(problem, rel_tol=1e-9, epsilon=1e-9)
    assert whole.n_nodes > 4
    gopfast.solve(problem, rel_tol=1e-9, epsilon=1e-9, max_nodes=2, checkpoint=tmp_path / "state.npz")
    resumed = gopfast.resume(tmp_path / "state.npz", problem)
    assert resumed.success and resumed.objective == pytest.approx(whole.objective, abs=3e-9)


def test_every_number_of_threads_and_workers_finds_the_same():
    problem = PolynomialProblem("x*log(x)*z + y^1.3*exp(-x*z) - y*z^3", ["x + y >= 1"], BOX)
    results = [gopfast.solve(problem, rel_tol=1e-8, n_threads=n) for n in (1, 2)]
    assert results[0].success and results[0].n_nodes == results[1].n_nodes
    assert results[0].objective == results[1].objective and results[0].bound == results[1].bound
    # workers get the problem as it is
    again = pickle.loads(pickle.dumps(problem.lifted))
    assert again.atoms == problem.lifted.atoms and len(again.atoms) == 3


def test_no_ray_moves_what_is_a_function():
    """exp(x) - 2 y with y <= exp(x): unbounded rows alone would have a ray."""
    problem = PolynomialProblem("exp(x) - 2*y", ["y <= exp(x)"], {"x": (-5, 2), "y": (None, None)})
    result = gopfast.solve(problem)
    assert result.success and result.objective == pytest.approx(-math.exp(2), rel=1e-6)


def test_atoms_are_convex_or_concave_as_they_say():
    assert [atoms.convex(2, a) for a in (-1.0, 0.5, 1.5)] == [True, False, True]
