"""Proofs by convex Lagrangians: of forms over balls and of convex problems, with bounds of variables and without."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast.biconvex import proof
from gopfast.checker import ProofError, check
from gopfast.checker.biconvex import BiconvexProblem
from tests.support import proofs
from tests.support.settings import some

RADIUS = 5.0


def ball(rng, n, n_balls, width):
    """An indefinite form over balls of integer centers near 0, the first of which is 0, as bench/biconvex_forms.py."""
    form = np.triu(rng.integers(-50, 51, (n, n))).astype(float)
    centers = [rng.integers(-1, 2, n) * (k > 0) * (rng.random(n) < 0.3) for k in range(n_balls)]
    rows = [(np.eye(n), -2.0 * p, -np.inf, RADIUS**2 - float(p @ p)) for p in centers]
    problem = gopfast.BiconvexProblem(
        rng.integers(-50, 51, n), Q=form, quadratic_rows=rows, lower=-width, upper=width,
        sense=rng.choice(["min", "max"]),
    )  # fmt: skip
    return problem, centers


def solved(problem):
    return gopfast.solve(problem, proof=True, n_threads=1, log=False, max_nodes=300)


def exact(problem, z):
    """Objective, minimised, at a point that is feasible in rational numbers; None elsewhere."""
    value, is_feasible = problem.exact(z)
    return value if is_feasible else None


@pytest.mark.parametrize("width", [RADIUS, math.inf])
@pytest.mark.parametrize(("n", "n_balls"), [(5, 1), (10, 1), (10, 2), (20, 2), (40, 1)])
def test_forms_over_balls_have_proofs_of_one_leaf(n, n_balls, width):
    problem, _ = ball(np.random.default_rng([n, n_balls]), n, n_balls, width)
    result = solved(problem)
    assert result.success and result.n_nodes == 1 and result.proof is not None, result.notes
    found = check(result.proof, problem)
    assert found.n_leaves == 1 and found.gap <= 2e-6 * (1 + abs(found.objective))


@pytest.mark.parametrize("n", [4, 12, 30])
def test_convex_problems_over_all_of_space_have_proofs(n):
    rng = np.random.default_rng(n)

    def form():
        root = rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < 0.3)
        Q = root.T @ root + np.eye(n)
        return np.triu(Q) + np.triu(Q, 1)

    rows = [(form(), rng.integers(-9, 10, n), -np.inf, float(rng.integers(5, 50))) for _ in range(2)]
    problem = gopfast.BiconvexProblem(
        rng.integers(-9, 10, n), Q=form(), quadratic_rows=rows, A=rng.integers(-9, 10, (1, n)), row_lower=0,
        row_upper=0, lower=-np.inf, upper=np.inf,
    )  # fmt: skip
    result = solved(problem)
    assert result.success and result.proof is not None, result.notes
    assert check(result.proof, problem).gap <= 2e-6 * (1 + abs(result.objective))


@pytest.mark.parametrize("seed", some(range(60)))
def test_no_feasible_point_is_better_than_what_is_proved(seed):
    """Points of the balls, those on the first one's boundary among them, and around the solution."""
    rng = np.random.default_rng([seed, 3])
    n, n_balls, width = int(rng.integers(1, 7)), int(rng.integers(1, 4)), rng.choice([2.0, RADIUS, math.inf])
    problem, centers = ball(rng, n, n_balls, width)
    result = solved(problem)
    if result.proof is None:
        return
    bound, sign = Fraction(check(result.proof, problem).bound), 1 if problem.sense == "min" else -1
    trials = [RADIUS * z / np.linalg.norm(z) for z in rng.normal(size=(100, n))]
    trials += [result.solution.z + rng.normal(size=n) * 10.0 ** rng.integers(-6, 0) for _ in range(50)]
    for z in trials:
        # into all balls from the origin, which is in most of them, and a little further
        share = min(1.0, *(RADIUS / max(np.linalg.norm(z - p), 1e-9) for p in centers)) * (1 - 1e-12)
        value = exact(problem, np.clip(z * share, problem.lower, problem.upper))
        assert value is None or value >= sign * bound


@pytest.mark.parametrize("seed", some(range(12)))
def test_what_is_false_is_not_proved(seed):
    """A search for a proof that is told to prove a little more than is true."""
    rng = np.random.default_rng([seed, 6])
    problem, _ = ball(rng, int(rng.integers(1, 9)), int(rng.integers(1, 3)), rng.choice([RADIUS, math.inf]))
    z = gopfast.solve(problem, n_threads=1, log=False, max_nodes=300).solution.z
    own = BiconvexProblem(json.loads(problem.to_json()))
    value = own.objective(z)
    with pytest.raises(proof.Unproved):
        proof.prove(own, value + 1e-6 * (1 + abs(value)), 10, 1.0, z)


def first_row(header):
    return 2 * len(header["claim"]["solution"]) + 1


def of_rows(header, arrays, n_rows):
    first = first_row(header)
    return (arrays["second"] == 0) & (arrays["first"] >= first) & (arrays["first"] < first + n_rows)


def claim_more(rng, header, arrays, record):
    """As much more as the tolerance of the search."""
    claim = header["claim"]
    claim["bound"] = claim["objective"] + 1e-6 * abs(claim["objective"])


def other_multipliers(rng, header, arrays, record):
    """Of the rows, by a factor."""
    arrays["multipliers"][of_rows(header, arrays, len(record["constraints"]))] *= rng.choice([0.0, 0.5, 0.9, 1.1, 2.0])


def negative_multipliers(rng, header, arrays, record):
    """Of the rows, of the wrong sign."""
    arrays["multipliers"][of_rows(header, arrays, len(record["constraints"]))] *= -1.0


def other_squares(rng, header, arrays, record):
    """More of one square than the Lagrangian has."""
    arrays["vectors"][rng.integers(len(arrays["vectors"]))] *= rng.choice([1.01, 2.0])


def fewer_squares(rng, header, arrays, record):
    """One square less."""
    arrays["vectors"][rng.integers(len(arrays["vectors"]))] = 0.0


def larger_balls(rng, header, arrays, record):
    """Rows that allow more, and so better points."""
    for row in record["constraints"]:
        row["rhs"] += 0.5


def without_rows(rng, header, arrays, record):
    """A problem without the rows, and what there was of them in the certificate."""
    own, n_rows = of_rows(header, arrays, len(record["constraints"])), len(record["constraints"])
    record["constraints"] = []
    for name in ("first", "second", "multipliers"):
        arrays[name] = arrays[name][~own]
    for name in ("first", "second"):
        arrays[name] = np.where(arrays[name] >= first_row(header) + n_rows, arrays[name] - n_rows, arrays[name])
    arrays["starts"][-1] = len(arrays["first"])


def other_form(rng, header, arrays, record):
    """A form that is a little smaller where the solution is."""
    z = dict(zip(record["variables"], header["claim"]["solution"], strict=True))
    sign = 1.0 if record["sense"] == "min" else -1.0
    part = max(record["objective"]["quad"], key=lambda term: abs(z[term[0]] * z[term[1]]))
    part[2] -= sign * math.copysign(1.0, z[part[0]] * z[part[1]])


FORGERIES = (claim_more, other_multipliers, negative_multipliers, other_squares, fewer_squares, larger_balls,
             without_rows, other_form)  # fmt: skip


@pytest.mark.parametrize("width", [RADIUS, math.inf])
@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forged_proofs_are_refused(tmp_path, forge, width):
    """The digest is that of the problem as it was changed, so that the certificate alone decides."""
    n_refused = 0
    for seed in some(range(12)):
        rng, data = np.random.default_rng([seed, 5]), tmp_path / "p.npz"
        problem, _ = ball(rng, int(rng.integers(3, 9)), 1, width)
        result = solved(problem)
        assert result.success and result.proof is not None, result.notes
        result.proof.save(data)
        header, arrays = proofs.parts(data)
        assert len(arrays["splits"]) == 1
        if np.linalg.norm(header["claim"]["solution"]) < 0.999 * RADIUS:
            continue  # the ball has no multiplier
        n_refused += 1
        record = json.loads(problem.to_json())
        forge(rng, header, arrays, record)
        header["digest"] = BiconvexProblem(record).digest()
        # what a smaller objective or larger set says of the solution is no fault of the bound
        if forge in (larger_balls, without_rows, other_form):
            header["claim"] |= {"solution": None}
        proofs.put(data, header, arrays)
        with pytest.raises(ProofError, match="no contradiction|negative"):
            check(data, record)
    assert n_refused >= len(some(range(12))) // 2


def test_a_certificate_of_the_root_is_dropped_where_it_proves_nothing():
    """A Lagrangian of one of two rows does not close the root: squares and leaf are those of the tree."""
    rng = np.random.default_rng(4)
    form = np.triu(rng.integers(-9, 10, (3, 3))).astype(float)
    rows = [(np.eye(3), np.zeros(3), -np.inf, 4.0), (np.diag([1.0, 1.0, 0.0]), np.array([2.0, 0, 0]), 1.0, np.inf)]
    problem = gopfast.BiconvexProblem(rng.integers(-9, 10, 3), Q=form, quadratic_rows=rows, lower=-2, upper=2)
    result = solved(problem)
    found = check(result.proof, problem)
    assert found.n_leaves > 1 and found.gap <= 2e-6 * (1 + abs(found.objective))
