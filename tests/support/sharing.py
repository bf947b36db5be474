"""Mixtures of regressions whose components share a coefficient, proved by files that the checker takes."""

import pytest

import gopfast
from gopfast.checker import check, file
from gopfast.checker.shared_coefficients import Problem
from support import shared_coefficients as cases
from support.proofs import arguments
from support.shared_proofs import without_format


def proved(case, **options):
    return gopfast.solve(case, proof=True, n_threads=1, log=False, **options)


def parts(result):
    return without_format(file.read(result.proof.data))


def stated(case):
    return Problem(case._record_of_proof(), *arguments(case))


def refute(family, grouped, seed, **limits):
    """Prove a small problem as far as limits allow: no mixture that EM finds is below, and the checker agrees."""
    case, rng = cases.drawn(
        family, [seed, 3], n=int(7 + seed % 3), p=1 + seed % 2, K=2 - (seed == 5), grouped=grouped
    )
    result = proved(case, epsilon=0.1, **limits)
    found = check(result.proof, *arguments(case), case)
    best = min(result.objective, cases.best_of_em(case, rng))
    slack = 1e-9 * (1 + abs(best))
    assert found.lower_bound == result.lower_bound <= best + slack
    assert found.objective == pytest.approx(result.objective, rel=1e-9, abs=1e-9)
    if result.success:
        assert found.gap <= 0.1 + slack


def stopped(case, **limit):
    """Return what the checker says of what a limit leaves: the bound of a search that has not ended."""
    result = proved(case, epsilon=1e-6, **limit)
    found = check(result.proof, *arguments(case), case)
    assert not result.success and found.lower_bound == result.lower_bound
    return found
