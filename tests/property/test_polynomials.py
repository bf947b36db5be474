"""Polynomial problems against rational arithmetic: ranges, liftings, searches and proofs."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast import PolynomialProblem
from gopfast.biconvex import intervals
from gopfast.checker.biconvex import BiconvexProblem as Checked
from gopfast.checker.products import range_of

INFINITE = math.inf


def random_terms(rng, n, n_terms, most=5):
    """Terms (coefficient, exponents) of a polynomial."""
    return [
        (float(rng.integers(-9, 10)) / 4, np.bincount(rng.integers(n, size=rng.integers(1, most + 1)), minlength=n))
        for _ in range(n_terms)
    ]


def text_of(terms):
    def factor(i, e):
        return f"z{i}" if e == 1 else f"z{i}^{e}"

    return " + ".join(
        "*".join([f"({a})", *(factor(i, e) for i, e in enumerate(exponents) if e)]) for a, exponents in terms
    )


def value_of(terms, z):
    return sum(
        (Fraction(a) * math.prod(x ** int(e) for x, e in zip(z, exponents, strict=True)) for a, exponents in terms),
        Fraction(0),
    )


def random_problem(seed, n=3):
    """A problem without quotients and roots, its terms (objective, rows) and its box."""
    rng = np.random.default_rng(seed)
    all_terms = [random_terms(rng, n, 4) for _ in range(3)]
    low = rng.integers(-4, 2, n) / 2
    high = low + rng.integers(1, 6, n) / 2
    bounds = rng.integers(-4, 12, 2)
    problem = PolynomialProblem(
        text_of(all_terms[0]),
        [f"{text_of(terms)} <= {bound}" for terms, bound in zip(all_terms[1:], bounds, strict=True)],
        {f"z{i}": pair for i, pair in enumerate(zip(low.tolist(), high.tolist(), strict=True))},
    )
    return problem, all_terms, bounds, low, high


def exact_points(rng, low, high, count):
    steps = rng.integers(0, 9, (count, len(low)))
    return [[Fraction(float(a)) + Fraction(int(k), 8) * Fraction(float(b - a)) for a, b, k in zip(low, high, row,
                                                                                                   strict=True)]
            for row in steps]  # fmt: skip


ENDS = [-INFINITE, -3.0, -0.1, 0.0, 5e-324, 0.1, 0.3, 2.0, 1e200, INFINITE]


@pytest.mark.parametrize("operation", ["plus", "times", "over", "square", "power", "root"])
def test_no_point_is_outside_the_ranges(operation):
    boxes = [(a, b) for a, b in itertools.combinations_with_replacement(ENDS, 2) if -INFINITE < b and a < INFINITE]

    def inside(box):
        low, high = max(box[0], -1e250), min(box[1], 1e250)
        return [Fraction(low), Fraction(high), *([Fraction(1, 7)] if low <= 1 / 7 <= high else [])]

    def holds(found, value):
        return found[0] <= value <= found[1]

    if operation in ("square", "power", "root"):
        for box in boxes:
            for x in inside(box):
                if operation == "square":
                    assert holds(intervals.square(box), x * x)
                elif operation == "power":
                    assert all(holds(intervals.power(box, k), x**k) for k in (1, 2, 3, 4, 7))
                elif x >= 0:
                    low, high = intervals.root(box, 3)
                    assert low >= 0 and Fraction(low) ** 3 <= x and (high == INFINITE or x <= Fraction(high) ** 3)
        return
    for first, second in itertools.product(boxes, repeat=2):
        if operation == "over" and second == (0.0, 0.0):
            continue
        found = getattr(intervals, operation)(first, second)
        for x, y in itertools.product(inside(first), inside(second)):
            if operation == "plus":
                assert holds(found, x + y)
            elif operation == "times":
                assert holds(found, x * y) and holds(range_of(first, second, False), x * y)
            elif y:
                assert holds(found, x / y)


@pytest.mark.parametrize("seed", range(12))
def test_lifted_rows_have_the_values_of_the_formulas(seed):
    problem, (goal, *rows), bounds, low, high = random_problem(seed)
    lifted, n = problem.lifted, problem.n_variables
    rng = np.random.default_rng(seed)
    for z in exact_points(rng, low, high, 5):
        # exact: the coefficients and the points are short dyadic numbers
        point = problem.completed([float(x) for x in z])
        assert lifted.objective(point) == pytest.approx(float(value_of(goal, z)), rel=1e-12, abs=1e-12)
        assert (lifted.lower <= point).all() and (point <= lifted.upper).all()
        violated = problem.violations(point[:n])
        for terms, bound, own in zip(rows, bounds, violated, strict=False):
            assert (own > 0) == (value_of(terms, z) > int(bound))


@pytest.mark.parametrize("seed", range(6))
def test_the_checkers_lifting_has_the_values_of_the_terms(seed):
    problem, (goal, *rows), bounds, low, high = random_problem(100 + seed)
    own = Checked(json.loads(problem.to_json()))
    rng = np.random.default_rng(seed)
    for z in exact_points(rng, low, high, 5):
        values = [Fraction(1), *z]
        for a, b in own.pairs:
            values.append(values[a] * values[b])
        assert all(a <= x <= b for a, x, b in zip(own.low, values[1:], own.high, strict=True))
        products = [values[i] * values[j] for i, j in zip(*(side.tolist() for side in own.monomials), strict=True)]
        found = [sum(Fraction(a) * x for a, x in zip(form, products, strict=True)) for form in own.forms.tolist()]
        expected = [int(bound) - value_of(terms, z) for terms, bound in zip(rows, bounds, strict=True)]
        assert found[: len(rows)] == expected and found[-1] == value_of(goal, z)
        assert not any(found[len(rows) : -1])  # what says what the products are


@pytest.mark.parametrize("seed", range(8))
def test_no_bound_is_above_the_points_of_a_grid(seed):
    """No bound lies above a feasible point, and infeasible is what has none."""
    problem, (goal, *rows), bounds, low, high = random_problem(200 + seed)
    result = gopfast.solve(problem, epsilon=1e-7, rel_tol=0.0, max_nodes=300, n_threads=1, log=False)
    axes = [np.linspace(a, b, 9) for a, b in zip(low, high, strict=True)]
    feasible = []
    for z in itertools.product(*([Fraction(x) for x in axis.tolist()] for axis in axes)):
        if all(value_of(terms, z) <= int(bound) for terms, bound in zip(rows, bounds, strict=True)):
            feasible.append(value_of(goal, z))
    if feasible:
        assert result.bound <= min(feasible)
    if result.solution is not None:
        assert result.solution.max_violation <= 1e-8
        exact = [Fraction(x) for x in result.solution.z.tolist()]
        assert float(value_of(goal, exact)) == pytest.approx(result.objective, rel=1e-12, abs=1e-12)
    else:
        assert not feasible or result.status is gopfast.Status.NODE_LIMIT


@pytest.mark.parametrize("seed", [0, 3])
def test_proofs_are_accepted_and_forged_ones_refused(seed):
    problem, (goal, *_), *_ = random_problem(300 + seed)
    result = gopfast.solve(problem, rel_tol=1e-3, proof=True, n_threads=1, log=False, max_nodes=2000)
    assert result.proof is not None, result.notes
    found = gopfast.check(result.proof, problem)
    assert found.bound == result.bound and found.objective >= result.objective
    record = json.loads(problem.to_json())
    assert gopfast.check(result.proof, record).bound == result.bound
    own = next(row for row in [record["objective"], *record["constraints"]] if row["terms"])
    own["terms"][0][0] = own["terms"][0][0][::-1]  # the same
    assert gopfast.check(result.proof, record).bound == result.bound
    own["terms"][0][0][0] = next(name for name in problem.names if name != own["terms"][0][0][0])
    with pytest.raises(gopfast.ProofError, match="another problem"):
        gopfast.check(result.proof, record)
