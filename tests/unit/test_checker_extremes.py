"""Proofs of biconvex problems with numbers as large and as small as files can hold: refused, and refused in time."""

import io
import zipfile
from fractions import Fraction

import numpy as np
import pytest
from support import certificates

from gopfast.checker import ProofError, biconvex, certificate as certificate_rule, check, file, hyperbolas, squares
from gopfast.checker.biconvex import BiconvexProblem

LEAF = [(-1, 0.0)]


def problem(variables, rows=(), objective=None, **more):
    """A problem as its JSON file has it; rows are (sense, rhs, lin, quad)."""
    constraints = [{"sense": sense, "rhs": rhs, "lin": lin, "quad": quad} for sense, rhs, lin, quad in rows]
    objective = objective or {"lin": {next(iter(variables)): 1.0}}
    return {"variables": variables, "objective": objective, "constraints": constraints, **more}


def proof(record, bound, nodes, certificates, claim=(), **more):
    """The bytes of a proof: nodes (split, point), and certificates of (first, second, multiplier)."""
    own, terms = BiconvexProblem(record), [term for one in certificates for term in one]
    first, second, multipliers = zip(*terms, strict=True) if terms else ((), (), ())
    arrays = {name: np.zeros((0,) * n_dimensions) for name, (_, n_dimensions) in file.ARRAYS["biconvex"].items()}
    arrays |= {name: np.zeros((0, own.n + 1)) for name in ("vectors", "tangents", "directions")}
    arrays |= {
        "splits": [split for split, _ in nodes], "points": [point for _, point in nodes],
        "starts": np.cumsum([0, *map(len, certificates)]), "cuts": [0],
        "first": first, "second": second, "multipliers": multipliers, **more,
    }  # fmt: skip
    claim = {"bound": bound, "objective": None, "solution": None, "violation": 0.0} | dict(claim)
    return file.pack("biconvex", {"digest": own.digest(), "claim": claim}, arrays)


# Each has feasible points; what is proved of the first where nothing is dropped is that there are none.
FALSE = {
    # x >= 1e80: the product of 1e-30 and the multiplier is no double
    "of a variable without ends": (problem({"x": [None, None]}, [(">=", 1e50, {"x": 1e-30}, [])]), (3, 0, 1e-300)),
    # x <= -1e80, whose coefficient is a fraction
    "of a variable with one end": (
        problem({"x": [-1e100, None], "y": [0.0, 1.0]}, [("<=", -1e50, {"x": 1e-30}, [])]), (5, 0, 1e-300),
    ),
    # y >= 1e210 x: the margins of a range as small as that of x were 0
    "of a small variable": (
        problem({"x": [1e-200, 2e-200], "y": [0.0, 1e100]}, [("<=", 0.0, {"x": 1e80, "y": -1e-130}, [])]),
        (5, 0, 1e-200),
    ),
    # feasible at z = -5e-149: four times the square that is left is infinite
    "of a square that is too large": (
        problem({"z": [None, None]}, [("<=", -1e-208, {"z": 1e-48}, [["z", "z", 1e100]])]), (3, 0, 9e207),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_a_false_proof_is_refused(name):
    record, term = FALSE[name]
    with pytest.raises(ProofError, match="no contradiction"):
        check(proof(record, None, LEAF, [[term]]), record)


def test_what_four_times_a_square_hides_is_lost():
    for left in (4e307, 5e307, 1.7e308):
        for linear in (1e155, 1e160, 1e200):
            found = squares.least(np.array([left]), np.array([linear]), np.zeros((1, 1)))
            assert found == -np.inf or Fraction(found) <= -Fraction(linear) ** 2 / (4 * Fraction(left))


def test_nothing_is_proved_of_numbers_of_any_magnitude_that_a_point_of_the_box_contradicts():
    n_proved = 0
    for seed in range(1500):
        found = certificates.least_and_value(seed)
        if found is None:
            continue
        least, value = found
        n_proved += least >= 0
        assert Fraction(least) <= value, f"seed {seed}: {least}"
    assert n_proved > 50


def test_multipliers_of_a_row_whose_sum_is_infinite_are_refused():
    record = problem({"x": [None, None]}, [("==", 1.0, {"x": 1.0}, [])])
    with pytest.raises(ProofError, match="too large to add up"):
        check(proof(record, None, LEAF, [[(3, 0, 1e308), (3, 0, 1e308)]]), record)


POWERS = problem({"x": [0.0, 1e100], "y": [0.0, 1e100]}) | {
    "constraints": [{"sense": "<=", "rhs": 1.0, "terms": [[["x"] * 4, 1.0], [["y"] * 4, -1.0]]}]
}


@pytest.mark.parametrize(("z", "is_feasible"), [((9e99, 9e99), True), ((9e99, 8e99), False)])
def test_powers_of_a_solution_that_are_too_large_are_compared_as_fractions(z, is_feasible):
    """The difference of the row's terms was none of floats, and an exception."""
    n, m = BiconvexProblem(POWERS).n, len(BiconvexProblem(POWERS).is_equation)
    claim = {"solution": list(z), "objective": 1e100, "violation": 1e-300}
    data = proof(POWERS, -1e99, LEAF, [[(2 * n + m + 1, 0, 1.0)]], claim)
    if is_feasible:
        assert 9e99 <= check(data, POWERS).objective <= 9.1e99
    else:
        with pytest.raises(ProofError, match="violation"):
            check(data, POWERS)


@pytest.mark.parametrize(("degree", "size"), [(64, 1.0), (2, 1e-300), (3, 1e-200)])
def test_an_objective_is_rounded_up(degree, size):
    """Each product is rounded once more with each square, and of small numbers it is 0."""
    own = BiconvexProblem(problem({"x": [0.0, 2.0]}, objective={"terms": [[["x"] * degree, 1.0]]}))
    for x in size * (1.0 + np.random.default_rng(1).random(200) / 8):
        assert Fraction(own.objective(np.array([x]))) >= Fraction(x) ** degree


def test_an_objective_that_is_too_large_is_not_attained():
    record = problem({"x": [0.0, 1e100]}, objective={"terms": [[["x"] * 4, 1.0]]})
    n, m = BiconvexProblem(record).n, len(BiconvexProblem(record).is_equation)
    claim = {"solution": [1e100], "objective": 1e100, "violation": 0.0}
    with pytest.raises(ProofError, match="its objective is inf"):
        check(proof(record, -1.0, LEAF, [[(2 * n + m + 1, 0, 1.0)]], claim), record)


def test_an_exponent_of_many_digits_is_no_number():
    with pytest.raises(ProofError, match="exponent"):
        BiconvexProblem(problem({"x": [0.0, 1.0], "y": [0.0, 1.0]}, functions=[["power", "x", "y", 10**400]]))


@pytest.mark.parametrize("terms", [[[[0, 0, "x"], 1.0]], [[[False, "x"], 1.0]]])
def test_numbers_are_no_variables(terms):
    with pytest.raises(ProofError, match="none"):
        BiconvexProblem(problem({"x": [0.0, 1.0]}, objective={"terms": terms}))


RECORD = problem({"x": [0.0, 1.0], "y": [0.0, 1.0]}, [(">=", 1.0, {}, [["x", "y", 1.0]])])
ONE = [[(5, 0, 1.0)]]


def test_an_entry_of_the_archive_that_is_no_array_is_refused():
    source, target = zipfile.ZipFile(io.BytesIO(proof(RECORD, 0.0, LEAF, ONE))), io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            archive.writestr(name, b"text" if name.startswith("cuts") else source.read(name))
    with pytest.raises(ProofError, match="no array"):
        check(target.getvalue(), RECORD)


def test_an_archive_that_is_too_large_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(file, "MOST_BYTES", 10_000)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("splits.npy", bytes(20_000))
    assert len(target.getvalue()) < 1000
    with pytest.raises(ProofError, match="at most 10,000 bytes"):
        check(target.getvalue(), RECORD)


def test_starts_whose_differences_are_too_large_for_their_type_do_not_rise():
    """Each leaf would have all of the multipliers."""
    starts = [0, 2**31 - 1, -2, 2**31 - 3, -4, 1]
    nodes = [(0, 0.5), (-1, 0.0)] * 4 + LEAF
    with pytest.raises(ProofError, match="rise"):
        check(proof(RECORD, 0.0, nodes, ONE, starts=starts), RECORD)


def test_sums_are_no_more_than_the_variables():
    """Of more each is a sum of the others, and their table has the square of their number."""
    for n_sums, message in ((2, "no contradiction"), (3, "more than the variables")):
        empty = np.zeros((0, 3 + n_sums))
        with pytest.raises(ProofError, match=message):
            check(proof(RECORD, 0.0, LEAF, [[(1, 0, 1.0)]], directions=[[0.0, 1.0, 1.0]] * n_sums, vectors=empty,
                        tangents=empty), RECORD)  # fmt: skip


def test_tangents_multipliers_and_boxes_that_wait_are_limited(monkeypatch):
    data = proof(RECORD, 0.0, LEAF, ONE, hyperbolas=[0, 0], tangents=[[-2.0, 1.0, 1.0]] * 2)
    deep = proof(RECORD, 0.0, [(0, 0.5)] * 9, [])
    cases = ((hyperbolas, "MOST_TANGENTS", 1, data), (biconvex, "MOST_NUMBERS", 15, deep),
             (certificate_rule, "CERTIFICATE_NUMBERS", 2, proof(RECORD, 0.0, LEAF, ONE)))  # fmt: skip
    for module, name, value, given in cases:
        with pytest.raises(ProofError) as before:
            check(given, RECORD)
        assert not any(word in str(before.value) for word in ("too many", "too deep"))
        monkeypatch.setattr(module, name, value)
        with pytest.raises(ProofError, match="too many|too deep"):
            check(given, RECORD)
