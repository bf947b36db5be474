"""A fixed part of bench/fuzz_biconvex.py: random problems against exact arithmetic, audited searches among them."""

import importlib.util
from collections import Counter
from pathlib import Path

import pytest
from support.settings import fewer, some

from gopfast.checker import biconvex

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "fuzz_biconvex.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="bench is not part of this tree")


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_biconvex", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("first", range(0, 20 * fewer(6), 20))
def test_random_problems_claim_nothing_wrong(fuzz, first):
    for seed in range(first, first + 20):
        kind, status, wrong = fuzz.one(seed, scip_share=0.0, scip_seconds=0.0, audit_share=0.5, time_limit=2.0)
        assert wrong == [], f"seed {seed}, {kind}, {status}"


def test_the_check_finds_what_is_wrong(fuzz):
    import dataclasses

    import numpy as np

    import gopfast

    Q = np.array([[0.0, 1.0], [0.0, 0.0]])
    instance = fuzz.Instance("plain", np.ones(2), 0 * Q, [(Q, np.zeros(2), 1.0, np.inf)], np.zeros(2), np.full(2, 4.0),
                             "min", 0.0, np.ones(2))  # fmt: skip
    points = [(2, np.ones(2))]
    result = gopfast.solve(instance.problem(), n_threads=1)
    assert fuzz.check(instance, result, points) == []
    solution = dataclasses.replace(result.solution, z=np.array([1.0, 0.9]))
    for wrong in ({"objective": 1.9}, {"bound": 2.1}, {"solution": solution}, {"solution": None}):
        assert fuzz.check(instance, dataclasses.replace(result, **wrong), points) != []


@pytest.mark.parametrize("first", range(0, 20 * fewer(6), 20))
def test_statuses_that_are_known_are_right(fuzz, first):
    for seed in range(first, first + 20):
        kind, status, wrong = fuzz.one_status(seed, scip_seconds=0.0, time_limit=1.0)
        assert wrong == [], f"seed {seed}, {kind}, {status}"


@pytest.mark.parametrize("first", range(0, 20 * fewer(6), 20))
def test_solutions_at_ends_of_domains_meet_the_rows_in_forty_digits(fuzz, first):
    for seed in range(first, first + 20):
        kind, status, wrong = fuzz.one_with_functions(seed, 0.0, time_limit=1.0, end_share=1.0)
        assert kind == "ends"
        assert wrong == [], f"seed {seed}, {status}"


def test_the_check_of_statuses_finds_what_is_wrong(fuzz):
    import numpy as np

    import gopfast

    statuses = fuzz.known_statuses
    seen = set()
    for seed in range(60):
        known = statuses.draw(np.random.default_rng(seed))
        wrongly = {"infeasible": "OPTIMAL", "unbounded": "INFEASIBLE", "optimal": "INFEASIBLE"}.get(known.truth)
        if wrongly is None or known.truth in seen:
            continue
        seen.add(known.truth)
        result = gopfast.solve(gopfast.BiconvexProblem([1.0], lower=0, upper=1), n_threads=1)
        result = type("Told", (), {"objective": 0.0, "bound": -np.inf, "status": gopfast.Status[wrongly],
                                   "solution": result.solution})  # fmt: skip
        assert statuses.wrong_status(known, result, 1e-6)
    assert seen == {"infeasible", "unbounded", "optimal"}


@pytest.mark.parametrize("first", range(0, 20 * fewer(6), 20))
def test_problems_with_functions_claim_nothing_wrong(fuzz, first):
    for seed in range(first, first + 20):
        kind, status, wrong = fuzz.one_with_functions(seed, audit_share=1.0, time_limit=2.0)
        assert wrong == [], f"seed {seed}, {kind}, {status}"


def test_proofs_of_problems_with_functions_are_checked_and_forged(fuzz):
    for seed in range(1, 4):
        kind, status, wrong = fuzz.one_with_functions(seed, audit_share=0.0, time_limit=60.0, proof_share=1.0)
        assert wrong == [] and ", checked" in status, f"seed {seed}, {kind}, {status}"


def test_the_check_of_their_proofs_finds_what_is_wrong(fuzz):
    """Told that a point far below the bound is feasible, it reports the proof."""
    import numpy as np

    instance = fuzz.with_functions.draw(np.random.default_rng((1, 2)))
    problem = instance.problem()
    result = fuzz.function_proofs.solved(problem, 0, 100, 60.0)
    value, point = fuzz.with_functions.feasible_points(instance, np.random.default_rng(0))[0]
    has_proof, wrong = fuzz.function_proofs.checked(
        instance, problem, result, [(value - 10.0, point)], np.random.default_rng(0)
    )
    assert has_proof and any(text.startswith("proved ") for text in wrong)
    assert any(text.startswith("a forged proof ") for text in wrong)


def test_the_check_of_functions_finds_what_is_wrong(fuzz):
    import dataclasses

    import numpy as np

    import gopfast

    functions = fuzz.with_functions
    rng = np.random.default_rng((4, 2))
    instance = functions.draw(rng)
    points = functions.feasible_points(instance, rng)
    result = gopfast.solve(instance.problem(), n_threads=1)
    assert result.success and functions.wrong(instance, result, points) == []
    sign = -1.0 if instance.sense == "max" else 1.0
    least = float(points[0][0])
    for changed in ({"bound": sign * (least + 1e-9)}, {"objective": result.objective + 1e-6}, {"solution": None},
                    {"status": gopfast.Status.INFEASIBLE}):  # fmt: skip
        assert functions.wrong(instance, dataclasses.replace(result, **changed), points) != []


@pytest.mark.parametrize("first", some([0, 15]))
def test_scip_agrees_on_problems_with_functions(fuzz, first):
    import numpy as np

    import gopfast

    pytest.importorskip("pyscipopt")
    functions = fuzz.with_functions
    for seed in range(first, first + 15):
        instance = functions.draw(np.random.default_rng((seed, 7)))
        sign = -1.0 if instance.sense == "max" else 1.0
        result = gopfast.solve(instance.problem(), n_threads=1, time_limit=5.0)
        answer = fuzz.in_child(functions.scip_bounds, instance, 5.0)
        if answer is None:
            continue  # it has died
        value, bound, _ = answer
        assert (result.status is gopfast.Status.INFEASIBLE) <= (value == np.inf), f"seed {seed}"
        if value < np.inf:
            # SCIP's points may violate rows by 1e-6, and so may what its bounds are of
            size = 1e-5 * max(1.0, abs(value))
            assert sign * result.bound <= value + size, f"seed {seed}"
            assert result.solution is None or bound <= sign * result.objective + size, f"seed {seed}"


def test_a_proof_whose_numbers_overflow_is_refused(fuzz):
    """Squares of 1e300 times a variable that a leaf fixes at 0: sums were not a number, and nothing was below 0."""
    kind, status, wrong = fuzz.one_with_functions(140004003, audit_share=0.3, time_limit=60.0, proof_share=0.3)
    assert wrong == [], f"{kind}, {status}"


@pytest.mark.parametrize("first", range(0, 8 * fewer(4), 8))
def test_forged_proofs_are_refused(fuzz, first):
    counts = Counter()
    for seed in range(first, first + 8):
        kind, status, wrong = fuzz.one_forged(seed, 2.0, counts)
        assert wrong == [], f"seed {seed}, {kind}, {status}"
    assert sum(n for (_, verdict), n in counts.items() if verdict == "refused") > 100


def test_the_forger_finds_a_checker_that_looks_at_no_tree(fuzz, monkeypatch):
    monkeypatch.setattr(biconvex, "check_tree", lambda *_: 1)
    assert any(fuzz.one_forged(seed, 2.0, Counter())[2] for seed in range(4))
