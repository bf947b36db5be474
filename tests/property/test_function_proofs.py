"""Proofs of random problems with functions of one variable: accepted, true, and refused once they are changed."""

import itertools
import json

import numpy as np
import pytest

import gopfast
from gopfast.biconvex import proof
from gopfast.checker import ProofError, check, file
from gopfast.checker.biconvex import BiconvexProblem as Stated
from tests.property import test_biconvex_proofs as others
from tests.support import proofs

BOX = {"x": (0.0, 2.0), "y": (0.25, 3.0), "z": (-1.0, 1.0)}
ROWS = ("x + y >= 1", "y^0.37 + log(x + y) <= 1.5", "exp(z) + x*y <= 4", "log(y) + z >= -1.5")


def random_problem(rng):
    """Two or three terms, each a product of one or two functions, and at most one row."""
    def term():
        parts = ["exp({}*z)", "x*log(x)", "log(y)", "y*log(y)*{}", "y^{}", "x^{}", "y^(-{})", "x*{}", "z", "exp(-x)*{}"]
        which = rng.integers(0, len(parts), rng.integers(1, 3))
        factors = [parts[k].format(rng.choice([0.37, 1.6, 2.6])) for k in which]
        return f"({rng.integers(-8, 9) / 4})*" + "*".join(factors)

    rows = [str(rng.choice(ROWS))] if rng.random() < 0.5 else []
    text = " + ".join(term() for _ in range(rng.integers(2, 4)))
    return gopfast.PolynomialProblem(text, rows, BOX, sense=str(rng.choice(["min", "max"])))


def proved(problem):
    return gopfast.solve(problem, proof=True, n_threads=1, log=False, max_nodes=200, rel_tol=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_no_point_is_better_than_what_is_proved(seed):
    problem = random_problem(np.random.default_rng(seed))
    result = proved(problem)
    assert result.proof is not None, result.notes
    found = check(result.proof, problem)
    assert check(result.proof, json.loads(problem.to_json())) == found
    sign = 1.0 if problem.sense == "min" else -1.0
    assert found.gap == pytest.approx(result.gap, rel=1e-6, abs=1e-12) and found.violation < 1e-8
    for z in itertools.product(*(np.linspace(*ends, 6) for ends in BOX.values())):
        if problem.violations(z).max() == 0.0:
            assert sign * problem.objective(z) >= sign * found.bound - 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_what_is_false_is_not_proved(seed):
    """The search for a proof is told a bound that the best point beats, by little."""
    problem = random_problem(np.random.default_rng([3, seed]))
    result = gopfast.solve(problem, n_threads=1, log=False, max_nodes=200, rel_tol=1e-4)
    stated = Stated(json.loads(problem.to_json()))
    value = stated.objective(problem.stated(result.solution.z))
    with pytest.raises(proof.Unproved):
        proof.prove(stated, value + 1e-7 * (1 + abs(value)), -150)


def wrong_side(rng, header, arrays):
    """Lines below functions that were above them, and the reverse."""
    own = arrays["first"] < 0
    arrays["first"][own] = -1 - ((-1 - arrays["first"][own]) ^ 1)


def other_slopes(rng, header, arrays):
    """Lines with other slopes."""
    arrays["line_slopes"] = arrays["line_slopes"] * 1.5 + rng.choice([-0.25, 0.25])


def other_functions(rng, header, arrays):
    """Lines of functions of which there are none."""
    arrays["lines"] = arrays["lines"] + 1000


def no_lines(rng, header, arrays):
    """Lines left out."""
    arrays["lines"], arrays["line_slopes"] = arrays["lines"][:0], arrays["line_slopes"][:0]


FORGERIES = (*others.FORGERIES, wrong_side, other_slopes, other_functions, no_lines)


@pytest.fixture(scope="module")
def proofs_of_three():
    problems = [random_problem(np.random.default_rng(seed)) for seed in (6, 8, 9)]
    return [(problem, proved(problem).proof) for problem in problems]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forged_proofs_are_refused(tmp_path, forge, proofs_of_three):
    for seed, (problem, own) in enumerate(proofs_of_three):
        own.save(tmp_path / "p.npz")
        header, arrays = proofs.parts(tmp_path / "p.npz")
        assert len(arrays["lines"]) > 0
        forge(np.random.default_rng(seed), header, arrays)
        if forge not in (others.claim_infeasible, others.claim_a_violation):
            least = header["claim"]["objective"] + 1e-6
            header["claim"]["bound"] = max(header["claim"]["bound"], least)
        proofs.put(tmp_path / "p.npz", header, arrays)
        with pytest.raises(ProofError):
            check(tmp_path / "p.npz", problem)


def pieces(problem):
    """The header and the arrays of a proof, as `file.pack` takes them."""
    header, arrays = file.read(proved(problem).proof.data)
    return {name: value for name, value in header.items() if name not in ("format", "version", "kind")}, arrays


def test_the_proof_of_another_function_is_refused():
    """Also where its digest is changed with it: the bound is false of the other function."""
    problem = gopfast.PolynomialProblem("y^1.3 - 0.7*y", [], {"y": (0, 2)})
    header, arrays = pieces(problem)
    record = json.loads(problem.to_json())
    assert check(file.pack("biconvex", header, arrays), record).n_leaves >= 1
    ((_, argument, value, _),) = record["functions"]
    for name, exponent in (("power", 1.5), ("power", 2.6), ("entropy", 0.0)):
        changed = record | {"functions": [[name, argument, value, exponent]]}
        with pytest.raises(ProofError, match="digest: the proof is of another problem"):
            check(file.pack("biconvex", header, arrays), changed)
        # with the other problem's digest, and no solution
        claim = header["claim"] | {"solution": None, "objective": None, "violation": 0.0}
        forged = header | {"digest": Stated(changed).digest(), "claim": claim}
        with pytest.raises(ProofError, match="node"):
            check(file.pack("biconvex", forged, arrays), changed)


def test_the_values_of_functions_must_be_theirs():
    problem = gopfast.PolynomialProblem("exp(x) - y*x", [], {"x": (0, 2), "y": (0, 2)})
    header, arrays = pieces(problem)
    names = list(json.loads(problem.to_json())["variables"])
    place = names.index("exp0")
    claim = header["claim"] | {"solution": list(header["claim"]["solution"])}
    claim["solution"][place] -= 1e-4
    claim["objective"] -= 1e-4
    for violation in (claim["violation"], 1.0):
        changed = file.pack("biconvex", header | {"claim": claim | {"violation": violation}}, arrays)
        with pytest.raises(ProofError, match="solution: its violation is"):
            check(changed, problem)


def test_a_bound_a_little_too_large_is_refused():
    """One above the optimum by a millionth, with the certificates of one below it."""
    problem = gopfast.PolynomialProblem("x*log(x) + exp(-x)*y", [], {"x": (0, 2), "y": (0.5, 2)})
    header, arrays = pieces(problem)
    claim = header["claim"] | {"bound": header["claim"]["objective"] + 1e-6}
    with pytest.raises(ProofError, match="node"):
        check(file.pack("biconvex", header | {"claim": claim}, arrays), problem)


def test_every_number_of_a_proof_matters_or_does_not_change_what_is_true():
    """Single numbers changed at random: what is still accepted claims no more than before."""
    problem = random_problem(np.random.default_rng(6))
    header, arrays = pieces(problem)
    rng = np.random.default_rng(0)
    claim = header | {"claim": header["claim"] | {"bound": header["claim"]["objective"] + 1e-9}}
    for _ in range(80):
        changed = {name: array.copy() for name, array in arrays.items()}
        name = rng.choice([name for name, array in arrays.items() if array.size])
        place = tuple(rng.integers(size) for size in changed[name].shape)
        value = changed[name][place]
        if changed[name].dtype.kind == "i":
            changed[name][place] = rng.choice([-4, -3, -2, -1, 0, 1, value + 1, -value, 2**31 - 1])
        else:
            changed[name][place] = rng.choice([0.0, -value, 2 * value, value + 1e-6, 1e300, -1e300, 5e-324])
        with pytest.raises(ProofError):
            check(file.pack("biconvex", claim, changed), problem)


def test_powers_of_any_fraction_have_proofs():
    """Those with numerators above 6 are functions of their own."""
    problem = gopfast.PolynomialProblem("x^(13/5) - 3*x^(7/5)*y", ["x^(8/3) + y <= 9"], {"x": (0, 4), "y": (-1, 2)})
    found = check(proved(problem).proof, problem)
    grid = (problem.objective([x, y]) for x in np.linspace(0, 4, 41) for y in np.linspace(-1, 2, 31)
            if problem.violations([x, y]).max() == 0)  # fmt: skip
    assert found.bound <= min(grid) <= found.objective + 0.3


def test_a_logarithm_without_bounds_has_a_proof():
    """Its argument's range is that of its value: log(x) at least."""
    problem = gopfast.PolynomialProblem("x*y - log(x)", ["x*y >= 0.5"], {"x": (0, 4), "y": (0.5, 2)})
    result = proved(problem)
    assert result.success and check(result.proof, problem).gap <= 2e-4
