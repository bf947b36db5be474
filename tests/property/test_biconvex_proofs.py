"""Proofs of random biconvex problems: accepted, with bounds that no point on a grid is below; changed ones are not."""

import itertools
import json

import numpy as np
import pytest
import scipy.optimize

import gopfast
from gopfast.biconvex import proof
from gopfast.biconvex.program import Program
from gopfast.checker import ProofError, biconvex, check, file
from gopfast.datasets import load_problem
from tests.support import proofs
from tests.support.settings import some
from tests.unit import test_complementarity

# of the first, 4 is left out: rows that touch in a point, which tolerances of linear programs do not tell from none
CASES = 0  # seed of a proof that has them
SEEDS = [seed for seed in some(range(25)) if seed != 4]


def random_problem(rng):
    """Two to four variables: products, squares of both signs, equations, quadratic rows; some without a point."""
    n = int(rng.integers(2, 5))
    low = rng.integers(-3, 2, n).astype(float)
    Q = np.triu(rng.integers(-4, 5, (n, n)) * (rng.random((n, n)) < 0.6)).astype(float)
    rows, bounds, quadratic = [], [], []
    for _ in range(rng.integers(0, 3)):
        rows.append(rng.integers(-5, 6, n).astype(float))
        bounds.append(float(rng.integers(-6, 12)))
    for _ in range(rng.integers(0, 2)):
        form = np.triu(rng.integers(-3, 4, (n, n))).astype(float)
        quadratic.append((form, rng.integers(-3, 4, n).astype(float), -np.inf, float(rng.integers(-4, 20))))
    return gopfast.BiconvexProblem(
        rng.integers(-5, 6, n).astype(float), Q=Q, A=np.array(rows) if rows else None,
        row_upper=bounds if rows else None, quadratic_rows=quadratic, lower=low, upper=low + rng.integers(1, 5, n),
        sense=rng.choice(["min", "max"]), constant=float(rng.integers(-3, 4)),
    )  # fmt: skip


def grid(problem, n_each=9):
    """Feasible points of a grid."""
    axes = [np.linspace(a, b, n_each) for a, b in zip(problem.lower, problem.upper, strict=True)]
    for z in np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, problem.n_variables)[:: 1 + problem.n_variables // 4]:
        if problem.exact(z)[1]:
            yield z


def proved(problem):
    return gopfast.solve(problem, proof=True, n_threads=1, log=False, max_nodes=3000)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_point_is_better_than_what_is_proved(seed):
    problem = random_problem(np.random.default_rng(seed))
    result = proved(problem)
    assert result.proof is not None, result.notes
    found = check(result.proof, problem)
    assert check(result.proof, json.loads(problem.to_json())) == found
    sign = 1.0 if problem.sense == "min" else -1.0
    assert found.bound == pytest.approx(result.bound, rel=1e-12, abs=1e-12) or sign * found.bound > sign * result.bound
    for z in grid(problem):
        assert sign * problem.objective(z) >= sign * found.bound - 1e-9
    if result.solution is not None:
        assert found.objective == pytest.approx(result.objective, rel=1e-9, abs=1e-12) and found.violation < 1e-8
    if result.success:
        assert found.gap == pytest.approx(result.gap, rel=1e-6, abs=1e-12)
    elif result.status is gopfast.Status.INFEASIBLE:
        assert found.bound == sign * np.inf and "no point meets the constraints" in str(found)


def with_cases(seed, n=3, m=3):
    """
    A bilevel linear program by the conditions of its lower level, and the pairs of which one is 0.

    min c'x + d'y over x and the y that are least for b'y over s = r - A x - B y >= 0, y >= 0: multipliers mu, nu
    without bounds, mu_k s_k = 0 as equations, nu_j y_j <= 0 and >= 0 by turns.
    """
    rng = np.random.default_rng([11, seed])
    A, B = rng.integers(-5, 6, (m, n)).astype(float), rng.integers(1, 7, (m, n)).astype(float)
    r, b = rng.integers(20, 60, m).astype(float), rng.integers(-6, 3, n).astype(float)
    # x, y, s, mu, nu
    size, eye = 3 * n + 2 * m, np.eye
    rows = np.zeros((m + n, size))
    rows[:m, : 2 * n + m] = np.hstack([A, B, eye(m)])
    rows[m:, 2 * n + m :] = np.hstack([B.T, -eye(n)])
    pairs = [(2 * n + k, 2 * n + m + k) for k in range(m)] + [(n + j, 2 * n + 2 * m + j) for j in range(n)]
    quadratic = []
    for number, pair in enumerate(pairs):
        Q = np.zeros((size, size))
        Q[pair] = (1.0, -2.0)[number % 2]
        quadratic.append((Q, None, *((0.0, 0.0) if number < m else (-np.inf, 0.0) if Q[pair] > 0 else (0.0, np.inf))))
    Q = np.zeros((size, size))
    Q[0, 1] = 1.0
    quadratic.append((Q, None, -np.inf, 60.0))  # x0 x1 <= 60 says nothing of the kind
    right = np.append(r, -b)
    problem = gopfast.BiconvexProblem(
        np.append(rng.integers(-8, 9, 2 * n), np.zeros(size - 2 * n)).astype(float), A=rows, row_lower=right,
        row_upper=right, quadratic_rows=quadratic, lower=np.zeros(size), upper=[10.0] * n + [np.inf] * (size - n),
    )  # fmt: skip
    return problem, pairs


@pytest.mark.parametrize("seed", some(range(12)))
def test_cases_of_products_that_are_zero_prove_what_is_least_over_all_of_them(seed):
    problem, pairs = with_cases(seed)
    result = proved(problem)
    assert result.success and result.proof is not None, result.notes
    found, values = check(result.proof, problem), []
    for zeros in itertools.product(*pairs):
        upper = problem.upper.copy()
        upper[list(zeros)] = 0.0
        bounds = [(0.0, None if np.isinf(end) else end) for end in upper]
        solved = scipy.optimize.linprog(problem.c, A_eq=problem.A.toarray(), b_eq=problem.row_upper, bounds=bounds)
        if solved.status == 0 and solved.x[0] * solved.x[1] <= 60:
            values.append(solved.fun)
    assert found.bound <= min(values) + 1e-6
    assert found.objective >= min(values) - 1e-4


@pytest.mark.parametrize("seed", some(range(12)))
def test_a_sum_that_is_a_factor_of_zero_has_cases_too(seed, n=3, m=3):
    problem, pairs = with_cases(seed)
    # without s: mu_k (r - A x - B y)_k = 0
    left = np.delete(np.arange(problem.n_variables), np.arange(2 * n, 2 * n + m))
    A, r = problem.A.toarray(), problem.row_upper
    forms = [(row.Q.toarray()[np.ix_(left, left)], row) for row in problem.quadratic_rows[m:]]
    quadratic = [(Q, None, row.lower, row.upper) for Q, row in forms]
    for k in range(m):
        Q, slopes = np.zeros((len(left), len(left))), np.zeros(len(left))
        Q[: 2 * n, 2 * n + k], slopes[2 * n + k] = -A[k, : 2 * n], r[k]
        quadratic.append((Q, slopes, 0.0, 0.0))
    without = gopfast.BiconvexProblem(
        problem.c[left], A=A[:, left], row_lower=np.append(np.full(m, -np.inf), r[m:]), row_upper=r,
        quadratic_rows=quadratic, lower=problem.lower[left], upper=problem.upper[left],
    )  # fmt: skip
    result = proved(without)
    assert result.success and result.proof is not None, result.notes
    found, known = check(result.proof, without), proved(problem)
    assert found.bound <= known.objective + 1e-6
    assert found.objective == pytest.approx(known.objective, rel=1e-5, abs=1e-5)
    stated = biconvex.BiconvexProblem(json.loads(without.to_json()))
    assert len(stated.sums) == m and stated.n == stated.n_given + m
    rng = np.random.default_rng(seed)
    for _ in range(20):
        z = rng.uniform(0, 9, len(left))
        own = stated.completed(z)
        sums = r[:m] - A[:m, : 2 * n] @ z[: 2 * n]
        assert sorted(np.abs(own[len(left) :])) == pytest.approx(sorted(np.abs(sums)), rel=1e-12, abs=1e-9)


def test_a_row_that_does_not_say_that_a_product_is_zero_has_no_cases(tmp_path):
    problem, pairs = with_cases(CASES)
    data = tmp_path / "proof"
    proved(problem).proof.save(data)
    header, arrays = proofs.parts(data)
    cases = np.flatnonzero(arrays["splits"] == biconvex.CASES)
    assert len(cases)
    stated = biconvex.BiconvexProblem(json.loads(problem.to_json()))
    says = [row for row in range(len(stated.is_equation)) if biconvex.factors(stated, row, stated.low, stated.high)]
    assert len(says) == len(pairs)
    for row in [row for row in range(-2, len(stated.is_equation) + 2) if row not in says] + [says[0] + 0.5, np.nan]:
        changed = {name: array.copy() for name, array in arrays.items()}
        changed["points"][cases[0]] = row
        proofs.put(data, header, changed)
        with pytest.raises(ProofError):
            check(data, problem)


def test_a_product_has_cases_where_its_signs_say_so_alone():
    problem = biconvex.BiconvexProblem(json.loads(with_cases(0)[0].to_json()))
    row, (i, j) = next((row, pair) for row in range(len(problem.is_equation)) if not problem.is_equation[row]
                       and (pair := biconvex.factors(problem, row, problem.low, problem.high)))  # fmt: skip
    low, high = problem.low.copy(), problem.high.copy()
    low[i] = -1.0
    assert biconvex.factors(problem, row, low, high) is None
    low[i], high[i] = -2.0, -1.0
    assert biconvex.factors(problem, row, low, high) is None  # the product is negative, and may be
    first, last = biconvex.at_zero(i, problem.low, problem.high)
    assert first[i] == last[i] == 0.0 and (first[j], last[j]) == (problem.low[j], problem.high[j])
    first, last = biconvex.at_zero(i, low, high)
    assert first[i] > last[i]  # an empty box


def claim_more(rng, header, arrays):
    """A bound that the solution beats."""
    claim = header["claim"]
    claim["bound"] = claim["objective"] + rng.choice([1e-3, 1.0, 1e3])


def claim_infeasible(rng, header, arrays):
    """That no point is feasible."""
    header["claim"]["bound"] = None


def claim_a_better_solution(rng, header, arrays):
    """An objective that the solution does not have."""
    header["claim"]["objective"] -= rng.choice([1e-6, 1.0])


def move_the_solution(rng, header, arrays):
    """A point that violates what it is said to meet."""
    header["claim"]["solution"] = [x + 10.0 for x in header["claim"]["solution"]]


def claim_a_violation(rng, header, arrays):
    """A point that is said to violate what it does."""
    move_the_solution(rng, header, arrays)
    header["claim"] |= {"violation": 1e9, "objective": 1e9}


def drop_a_certificate(rng, header, arrays):
    """A leaf without multipliers."""
    for name in ("first", "second", "multipliers"):
        arrays[name] = arrays[name][:0]
    arrays["starts"][:] = 0


def cut_more(rng, header, arrays):
    """Cuts that leave nothing of the box."""
    arrays["ends"] = arrays["ends"] + 100.0 * np.sign(arrays["slopes"])


def turn_signs(rng, header, arrays):
    """Multipliers of the other sign."""
    arrays["multipliers"] *= -1.0


def shift_factors(rng, header, arrays):
    """Multipliers of other factors."""
    arrays["first"] += 1


def one_leaf(rng, header, arrays):
    """The tree cut off at its root."""
    last = len(arrays["starts"]) - 1
    own = slice(arrays["starts"][last - 1], arrays["starts"][last])
    for name in ("first", "second", "multipliers"):
        arrays[name] = arrays[name][own]
    arrays["splits"], arrays["points"] = np.int32([-1]), np.zeros(1)
    arrays["starts"], arrays["cuts"] = np.int32([0, len(arrays["first"])]), np.int32([0])
    for name in ("variables", "slopes", "ends"):
        arrays[name] = arrays[name][:0]


FORGERIES = (claim_more, claim_infeasible, claim_a_better_solution, move_the_solution, claim_a_violation,
             drop_a_certificate, cut_more, turn_signs, shift_factors, one_leaf)  # fmt: skip


def forged(forge, seed, data):
    """A problem, and its proof changed so that it claims something false; None where no solution is known."""
    problem = random_problem(np.random.default_rng([7, seed]))
    result = proved(problem)
    if result.solution is None or result.proof is None:
        return None
    result.proof.save(data)
    header, arrays = proofs.parts(data)
    forge(np.random.default_rng(seed), header, arrays)
    # whatever it is that such a change leaves: what is claimed is better than what is known
    if forge not in (claim_infeasible, claim_a_violation):
        header["claim"]["bound"] = max(header["claim"]["bound"], header["claim"]["objective"] + 1e-6)
    proofs.put(data, header, arrays)
    return problem


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forged_proofs_are_refused(tmp_path, forge):
    n_refused, seeds = 0, some(range(10))
    for seed in seeds:
        problem = forged(forge, seed, tmp_path / "p.npz")
        if problem is not None:
            with pytest.raises(ProofError):
                check(tmp_path / "p.npz", problem)
            n_refused += 1
    assert n_refused >= len(seeds) // 2


def test_the_proof_of_another_problem_is_refused():
    problem = gopfast.BiconvexProblem([-1, -1], Q=[[0, 1], [0, 0]], A=[[-6, 8], [3, -1]], row_upper=3, lower=0, upper=5)
    own = proved(problem).proof
    record = json.loads(problem.to_json())
    assert check(own, record).n_leaves >= 1
    changes = [
        ("sense", "max"), ("variables", {"z0": [0.0, 5.0], "z1": [0.0, 5.0 + 1e-15]}),
        ("variables", {"z0": [0.0, 5.0], "z1": [0.0, None]}), ("constraints", record["constraints"][:1]),
        ("objective", record["objective"] | {"const": 1e-300}),
    ]  # fmt: skip
    for name, value in changes:
        with pytest.raises(ProofError, match="digest: the proof is of another problem"):
            check(own, record | {name: value})
    with pytest.raises(ProofError, match="must be given in place of data"):
        check(own, [1.0, 2.0])
    with pytest.raises(ProofError, match="digest|problem"):
        check(own, gopfast.BiconvexProblem([1.0], lower=0, upper=1))


def test_every_number_of_a_proof_matters_or_does_not_change_what_is_true():
    """Single numbers changed at random: what is still accepted claims no more than before."""
    problem = gopfast.BiconvexProblem([-1, -1], Q=[[0, 1], [0, 0]], A=[[-6, 8], [3, -1]], row_upper=3, lower=0, upper=5)
    result = proved(problem)
    header, arrays = file.read(result.proof.data)
    header = {name: value for name, value in header.items() if name not in ("format", "version", "kind")}
    rng = np.random.default_rng(0)
    for _ in range(300):
        changed = {name: array.copy() for name, array in arrays.items()}
        name = rng.choice([name for name, array in arrays.items() if array.size])
        place = tuple(rng.integers(size) for size in changed[name].shape)
        value = changed[name][place]
        if changed[name].dtype.kind == "i":
            changed[name][place] = rng.choice([-3, -2, -1, 0, 1, value + 1, 2**31 - 1])
        else:
            changed[name][place] = rng.choice([0.0, -value, 2 * value, value + 1e-6, 1e300, -1e300, 5e-324])
        claim = header | {"claim": header["claim"] | {"bound": header["claim"]["objective"] + 1e-9}}
        with pytest.raises(ProofError):
            check(file.pack("biconvex", claim, changed), problem)


@pytest.mark.parametrize("name", ["st_e23", "ex5_2_2_case1", "ex9_1_1", "st_bpaf1a", "st_glmp_ss1", "st_jcbpaf2"])
def test_published_problems_have_proofs(name):
    problem = load_problem(name)
    result = gopfast.solve(problem, proof=True, n_threads=1, log=False)
    found = check(result.proof, problem)
    assert result.success and found.gap <= 2e-6 * (1 + abs(found.objective))


def test_a_limit_or_an_interrupt_leaves_the_result_without_a_proof(monkeypatch):
    problem = load_problem("ex5_2_2_case2")
    result = gopfast.solve(problem, proof=True, n_threads=1, log=False, time_limit=0.0)
    assert result.proof is None and "no proof was written: " in result.notes[-1]

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(proof, "prove", interrupt)
    result = gopfast.solve(load_problem("st_e23"), proof=True, n_threads=1, log=False)
    assert result.success and result.notes[-1] == "no proof was written: interrupted"


def test_a_search_for_a_proof_ends_after_so_many_nodes(monkeypatch):
    monkeypatch.setattr(proof, "MOST_NODES", 3)
    monkeypatch.setattr(proof, "MOST_NODES_EACH", 0)
    result = gopfast.solve(load_problem("ex5_2_2_case2"), proof=True, n_threads=1, log=False)
    assert result.proof is None and result.notes[-1] == "no proof was written: it takes more than 3 nodes"


def test_what_has_no_proof_says_why():
    problem = gopfast.BiconvexProblem([1.0, 0.0], Q=[[0, 1], [0, 0]], lower=[-1, 0], upper=[1, np.inf])
    result = proved(problem)
    assert result.proof is None and any("no proof was written: there is no bound" in note for note in result.notes)


@pytest.mark.parametrize("kind", ["factors", "sum", "negative sum", "bounded"])
@pytest.mark.parametrize("seed", range(2))
def test_problems_whose_rows_say_that_a_factor_vanishes_are_proved_or_refused_clearly(kind, seed):
    """The search branches on which of two terms is 0; the proof's own search knows nothing of that."""
    problem, _ = test_complementarity.draw(seed, kind)
    result = gopfast.solve(problem, proof=True, n_threads=1, log=False, max_nodes=3000)
    if result.proof is None:
        assert result.notes[-1].startswith("no proof was written: ")
    else:
        assert gopfast.check(result.proof, problem).bound <= result.objective + 1e-6 * (1 + abs(result.objective))


def test_a_stop_is_heard_between_the_programs_of_the_root(monkeypatch):
    """Of a dense program of twenty variables these alone took minutes, whatever the limit was."""
    rng = np.random.default_rng(1)  # three negative eigenvalues: too many for a tree in their directions
    Q = np.triu(rng.integers(-9, 10, (6, 6))).astype(float)
    problem = gopfast.BiconvexProblem(np.zeros(6), Q=Q, lower=-1, upper=1)
    own, solve, calls = proof.biconvex.BiconvexProblem(json.loads(problem.to_json())), Program.solve, []

    def interrupted(self, *arguments, **options):
        calls.append(options.get("cost"))
        if calls[-1] is not None and calls[-2] is not None:
            self.stop.caught(KeyboardInterrupt())
        return solve(self, *arguments, **options)

    monkeypatch.setattr(Program, "solve", interrupted)
    value = gopfast.solve(problem, log=False).objective
    with pytest.raises(proof.Unproved, match="interrupted"):
        proof.prove(own, value - 1e-6, 10)
    assert sum(cost is not None for cost in calls) == 2
