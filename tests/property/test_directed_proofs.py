"""Proofs in sums along few concave directions: accepted, true at random points, and refused where they were changed."""

import json
from fractions import Fraction

import numpy as np
import pytest
from gopfast.search.stop import StopSignal

import gopfast
from gopfast.biconvex import directed_proofs, proof
from gopfast.checker import ProofError, check
from gopfast.checker.biconvex import BiconvexProblem
from gopfast.checker.certificate import Certificates
from tests.support import proofs
from tests.support.settings import some


def few_concave(rng, n, k, m, n_equations=0):
    """A form with k negative eigenvalues over rows that a point of a box meets; entries that are no short numbers."""
    V, _ = np.linalg.qr(rng.standard_normal((n, n)))
    values = np.concatenate([-rng.uniform(20, 100, k), rng.uniform(0, 100, n - k) * (rng.random(n - k) < 0.8)])
    Q = (V * values) @ V.T * float(rng.choice([1.0, 1e-3, 1e3]))
    low = -rng.integers(0, 3, n).astype(float)
    high = low + rng.integers(0 if rng.random() < 0.2 else 1, 4, n)
    inside = low + (high - low) * rng.integers(0, 9, n) / 8
    A = rng.integers(-3, 8, (m + n_equations, n)).astype(float)
    values = A @ inside
    lower = np.where(rng.random(m + n_equations) < 0.5, -np.inf, values - rng.integers(0, 3, m + n_equations))
    upper = np.where(np.isinf(lower), values + rng.integers(0, 4, m + n_equations), np.inf)
    lower[m:] = upper[m:] = values[m:]
    sense = str(rng.choice(["min", "max"]))
    sign = 1.0 if sense == "min" else -1.0
    problem = gopfast.BiconvexProblem(
        rng.integers(-50, 51, n), Q=sign * (np.triu(Q) + np.triu(Q, 1)), A=A, row_lower=lower, row_upper=upper,
        lower=low, upper=high, sense=sense, constant=float(rng.integers(-9, 10)),
    )  # fmt: skip
    return problem, inside


def drawn(seed):
    rng = np.random.default_rng([seed, 8])
    n = int(rng.integers(3, 13))
    return rng, *few_concave(rng, n, int(rng.integers(1, n // 3 + 1)), int(rng.integers(0, 5)), int(rng.random() < 0.3))


def solved(problem):
    return gopfast.solve(problem, proof=True, n_threads=1, log=False, max_nodes=2000)


@pytest.mark.parametrize(("n", "k"), [(3, 1), (12, 2), (20, 3), (30, 2)])
def test_forms_with_few_concave_directions_have_proofs_in_these(tmp_path, n, k):
    problem, _ = few_concave(np.random.default_rng([n, k]), n, k, n // 3)
    result = solved(problem)
    assert result.success and result.proof is not None, result.notes
    result.proof.save(tmp_path / "p.npz")
    assert proofs.parts(tmp_path / "p.npz")[1]["directions"].shape == (k, n + 1)
    assert check(result.proof, problem).gap <= 2e-6 * (1 + abs(result.objective))


@pytest.mark.parametrize("seed", some(range(80)))
def test_no_feasible_point_is_better_than_what_is_proved(seed):
    rng, problem, inside = drawn(seed)
    result = solved(problem)
    if result.proof is None:
        return
    bound, sign = Fraction(check(result.proof, problem).bound), 1 if problem.sense == "min" else -1
    low, high = problem.lower, problem.upper
    trials = [inside, *(low + (high - low) * rng.integers(0, 9, (60, len(low))) / 8)]
    trials += [np.clip(result.solution.z + rng.normal(size=len(low)) * 10.0 ** rng.integers(-9, 0), low, high)
               for _ in range(60)]  # fmt: skip
    n_feasible = 0
    for z in [*trials, *(inside + t * (z - inside) for z in trials for t in (0.5, 1 - 1e-9))]:
        value, is_feasible = problem.exact(np.clip(z, low, high))
        n_feasible += is_feasible
        assert not is_feasible or value >= sign * bound
    assert n_feasible > 0


@pytest.mark.parametrize("seed", some(range(30)))
def test_what_is_false_is_not_proved(seed):
    """A tree that is told to prove more than is true ends without a proof, and closes no box that holds the point."""
    rng, problem, inside = drawn(seed)
    solution = gopfast.solve(problem, n_threads=1, log=False, max_nodes=2000).solution.z
    own = BiconvexProblem(json.loads(problem.to_json()))
    feasible = [z for z in (solution, inside) if problem.exact(z)[1]]
    value = min(float(problem.exact(z)[0]) for z in feasible)
    for more in (1e-9, 1e-3, 10.0):
        bound = value + more * (1 + abs(value))
        with pytest.raises(proof.Unproved):
            proof.prove(own, bound, 10, 0.5, solution)
        program = directed_proofs.directed(own, bound, Certificates, StopSignal())
        if program is None:
            continue
        best = min(feasible, key=lambda z: problem.exact(z)[0])
        sums = program.W @ best
        for width in (0.0, 1e-9, 1e-3, 1.0):
            low = np.maximum(program.problem.low[program.n :], sums - width - 1e-13 * (1 + abs(sums)))
            high = np.minimum(program.problem.high[program.n :], sums + width + 1e-13 * (1 + abs(sums)))
            assert program.close(low, high)[0] is None


def test_a_limit_is_heard_and_nodes_are_limited():
    problem, _ = few_concave(np.random.default_rng(5), 12, 3, 4)
    own = BiconvexProblem(json.loads(problem.to_json()))
    value = own.objective(solved(problem).solution.z)
    with pytest.raises(proof.Unproved, match="time limit"):
        proof.prove(own, value - 1e-4 * (1 + abs(value)), 10, 0.0)
    program = directed_proofs.directed(own, value - 1e-4 * (1 + abs(value)), Certificates, StopSignal())
    assert not directed_proofs.search(program, proof._Entries(), 2)


@pytest.mark.parametrize("seed", some(range(9)))
def test_other_problems_are_left_to_the_search_in_their_variables(seed):
    """A row with products, a variable without an end, and too many directions."""
    rng = np.random.default_rng(seed)
    problem, inside = few_concave(rng, 6, 1, 2)
    square = (np.eye(6), np.zeros(6), -np.inf, float(inside @ inside) + 1.0)
    changed = [
        gopfast.BiconvexProblem(problem.c, Q=problem.Q, quadratic_rows=[square], lower=problem.lower,
                                upper=problem.upper, sense=problem.sense),
        gopfast.BiconvexProblem(problem.c, Q=problem.Q, lower=problem.lower, upper=np.inf, sense=problem.sense),
        few_concave(rng, 6, 3, 2)[0],
    ]  # fmt: skip
    for one in (problem, *changed):
        own = BiconvexProblem(json.loads(one.to_json()))
        assert (directed_proofs.directed(own, 0.0, Certificates, StopSignal()) is None) == (one is not problem)


def claim_more(rng, header, arrays, record):
    """As much more as the tolerance of the search."""
    claim = header["claim"]
    claim["bound"] = claim["objective"] + 1e-6 * (1 + abs(claim["objective"]))


def other_direction(rng, header, arrays, record):
    """A sum that is none of the tree's."""
    arrays["directions"][0, 1 + int(np.argmax(np.abs(arrays["directions"][0, 1:])))] *= 1.5


def shifted_direction(rng, header, arrays, record):
    """A sum with a constant."""
    arrays["directions"][0, 0] += 3.0 * np.abs(arrays["directions"][0]).sum()


def no_directions(rng, header, arrays, record):
    arrays["directions"] = arrays["directions"][:0]


def too_few_columns(rng, header, arrays, record):
    arrays["directions"] = arrays["directions"][:, 1:]


def other_points(rng, header, arrays, record):
    """Splits further up: the lower parts are larger."""
    arrays["points"] = np.where(arrays["splits"] >= 0, arrays["points"] + 1e6, arrays["points"])


def a_leaf_less(rng, header, arrays, record):
    arrays["splits"], arrays["points"] = arrays["splits"][:-1], arrays["points"][:-1]
    n = len(arrays["starts"]) - 1
    for name in ("first", "second", "multipliers"):
        arrays[name] = arrays[name][: arrays["starts"][n - 1]]
    arrays["starts"] = arrays["starts"][:-1]


def other_multipliers(rng, header, arrays, record):
    arrays["multipliers"] *= rng.choice([0.5, 0.9, 1.1, 2.0], len(arrays["multipliers"]))


def more_of_squares(rng, header, arrays, record):
    arrays["vectors"] *= 1.5


def other_form(rng, header, arrays, record):
    """A square that falls faster, where the box leaves it room."""
    sign = 1.0 if record["sense"] == "min" else -1.0
    part = next(term for term in record["objective"]["quad"] if term[0] == term[1])
    part[2] -= sign * 1e6
    header["claim"] |= {"solution": None, "objective": None}


FORGERIES = (claim_more, other_direction, shifted_direction, no_directions, too_few_columns, other_points, a_leaf_less,
             other_multipliers, more_of_squares, other_form)  # fmt: skip


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forged_proofs_are_refused(tmp_path, forge):
    """The digest is that of the problem as it was changed, so that the rest decides."""
    n_refused = 0
    for seed in some(range(8)):
        rng, data = np.random.default_rng([seed, 9]), tmp_path / "p.npz"
        problem, _ = few_concave(rng, 9, 2, 3)
        result = solved(problem)
        if result.proof is None:
            continue
        result.proof.save(data)
        header, arrays = proofs.parts(data)
        if len(arrays["splits"]) < 3:
            continue
        record = json.loads(problem.to_json())
        forge(rng, header, arrays, record)
        header["digest"] = BiconvexProblem(record).digest()
        proofs.put(data, header, arrays)
        with pytest.raises(ProofError):
            check(data, record)
        n_refused += 1
    assert n_refused >= 2
