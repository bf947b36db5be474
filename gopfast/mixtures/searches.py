"""Which search a mixture has: of all parameters at once, or by fixing a coefficient that components share."""

import time

from gopfast.mixtures import solve as of_all
from gopfast.mixtures.problems import RegressionMixture


def search_of(problem, options, start=None):
    """
    Return the search of a mixture, which can go on where it stopped.

    Parameters
    ----------
    problem : MixtureProblem
    options : Options
    start : array_like, Result, MixtureSolution, LocalResult or None

    Returns
    -------
    MixtureSearch or SharedCoefficientSearch
    """
    if not shares_a_coefficient(problem):
        return of_all.MixtureSearch(problem, options, start)
    # Here and not above: few ask for it.
    from gopfast.mixtures.shared_coefficients import SharedCoefficientSearch

    return SharedCoefficientSearch(problem, options, start)


def shares_a_coefficient(problem):
    """Whether components share a coefficient."""
    return isinstance(problem, RegressionMixture) and problem._shared_at is not None


def solve(problem, options, start=None, proof=None):
    """Solve a mixture; arguments and result as of `gopfast.mixtures.solve.solve`."""
    if not shares_a_coefficient(problem):
        return of_all.solve(problem, options, start, proof)
    started = time.perf_counter()
    search = search_of(problem, options, start)
    if proof is None:
        return of_all.run_once(search, options, started)
    # Here and not above: few ask for it.
    from gopfast.mixtures import shared_proof

    return shared_proof.solve(search, options, proof, started)
