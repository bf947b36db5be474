"""Proofs of biconvex problems with numbers as large and as small as files can hold: refused, and refused in time."""

import io
import zipfile
from fractions import Fraction

import numpy as np
import pytest

from gopfast.checker import ProofError, biconvex, certificate as certificate_rule, check, file, hyperbolas, squares
from gopfast.checker.biconvex import BiconvexProblem
from gopfast.checker.certificate import Certificates

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


def number(rng, most):
    """A number of a magnitude up to a power of ten, now and then one that is special."""
    if rng.random() < 0.1:
        return float(rng.choice([0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.0**-1022]))
    return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-most, most))


def within(rng, low, high):
    """A number of an interval, near its ends or of any magnitude, as a fraction."""
    ends = [Fraction(end) for end in (low, high) if np.isfinite(end)]
    if ends and rng.random() < 0.5:
        return ends[rng.integers(len(ends))]
    x = Fraction(int(rng.choice([-1, 1]))) * Fraction(10) ** int(rng.integers(-400, 401))
    x += ends[0] if ends and rng.random() < 0.5 else 0
    x = max(x, Fraction(low)) if np.isfinite(low) else x
    return min(x, Fraction(high)) if np.isfinite(high) else x


def drawn(rng):
    """A rule of a random problem whose numbers are of all magnitudes, its problem and its vectors."""
    most, n = int(rng.choice([20, 100])), int(rng.integers(1, 4))
    names, variables = [f"x{i}" for i in range(n)], {}
    for name in names:
        low, high = sorted([number(rng, most), number(rng, most)])
        variables[name] = [None if rng.random() < 0.3 else low, None if rng.random() < 0.3 else high]

    def expression():
        pairs = {tuple(sorted(rng.integers(0, n, 2).tolist())) for _ in range(rng.integers(0, 3))}
        return {
            "const": number(rng, most), "lin": {name: number(rng, most) for name in names if rng.random() < 0.7},
            "quad": [[names[i], names[j], number(rng, most)] for i, j in sorted(pairs)],
        }  # fmt: skip

    rows = [{"sense": str(rng.choice(["<=", ">=", "=="])), "rhs": 0.0, **expression()} for _ in range(2)]
    own = BiconvexProblem({"variables": variables, "objective": expression(), "constraints": rows})
    vectors = np.array([[number(rng, 300) for _ in range(own.n + 1)]])
    return own, vectors, Certificates(own, vectors, number(rng, most))


def certificate(rng, rule):
    """Multipliers of all magnitudes."""
    affine, terms = np.flatnonzero(rule.is_affine), []
    for _ in range(rng.integers(1, 5)):
        kind = rng.random()
        if kind < 0.6:
            first, second = rng.integers(2 * rule.n + 1, rule.cutoff + 1), 0
        elif kind < 0.75:
            first = second = rule.first_vector
        else:
            first, second = rng.choice(affine[1:]), rng.choice(affine)
        is_free = rule.is_equation[first] or rule.is_equation[second]
        multiplier = number(rng, 300)
        terms.append((first, second, multiplier if is_free else abs(multiplier)))
    return [np.array(part) for part in zip(*terms, strict=True)]


def values(own, vectors, rule, box, z):
    """Exact values of all factors at a point."""
    point, pairs = [Fraction(1), *z], list(zip(*(side.tolist() for side in own.monomials), strict=True))
    forms = [sum(Fraction(a) * point[i] * point[j] for (i, j), a in zip(pairs, row, strict=True) if a)
             for row in own.forms.tolist()]  # fmt: skip
    low, high = ([Fraction(x) if np.isfinite(x) else None for x in side.tolist()] for side in box)
    below = [None if end is None else x - end for x, end in zip(z, low, strict=True)]
    above = [None if end is None else end - x for x, end in zip(z, high, strict=True)]
    squared = [sum(Fraction(a) * x for a, x in zip(vector, point, strict=True)) for vector in vectors.tolist()]
    return [Fraction(1), *below, *above, *forms[:-1], Fraction(rule.bound) - forms[-1], *squared]


def test_nothing_is_proved_of_numbers_of_any_magnitude_that_a_point_of_the_box_contradicts():
    n_proved = 0
    for seed in range(1500):
        rng = np.random.default_rng([seed, 4])
        own, vectors, rule = drawn(rng)
        terms, box = certificate(rng, rule), (own.low, own.high)
        target = (int(rng.integers(own.n)), number(rng, 300) or 1.0, number(rng, 100)) if seed % 2 else None
        try:
            with np.errstate(all="ignore"):
                least, _ = rule.least(*terms, *box, target)
        except ValueError:
            continue
        if not least > -np.inf:
            continue
        n_proved += least >= 0
        for _ in range(15):
            z = [within(rng, *ends) for ends in zip(*(side.tolist() for side in box), strict=True)]
            factors = values(own, vectors, rule, box, z)
            total = Fraction(target[1]) * (z[target[0]] - Fraction(target[2])) if target else Fraction(0)
            total -= sum(Fraction(m) * factors[a] * factors[b] for a, b, m in zip(*map(np.ndarray.tolist, terms),
                                                                                  strict=True))  # fmt: skip
            assert Fraction(least) <= total, f"seed {seed}: {least}"
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


def test_an_objective_of_a_high_degree_is_rounded_up():
    """Its products are rounded once more with each square: by more than one term."""
    own = BiconvexProblem(problem({"x": [0.0, 2.0]}, objective={"terms": [[["x"] * 64, 1.0]]}))
    for x in 1.0 + np.random.default_rng(1).random(200) / 8:
        assert Fraction(own.objective(np.array([x]))) >= Fraction(x) ** 64


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
