"""
Lower bounds of the objective that need no search.

No sample's density exceeds the largest that its model allows, and no row's probability its share. This is what a
result has to show when a limit comes before the first node is bounded.

Theory: (F9) of docs/theory/families.md.
"""

import math

import numpy as np

from gopfast.mixtures.closed_form.margins import ENTROPY_ROUNDING, ROUNDING


def least_objective(problem):
    """
    Return a lower bound of a mixture's objective.

    Parameters
    ----------
    problem : MixtureProblem

    Returns
    -------
    float
        In nats; -inf where nothing is known.
    """
    return _rounded_down(*problem._ceiling())


def saturated_bound(problem, family):
    """
    Bound the objective of discrete data: no model gives rows better probabilities than their shares.

    Parameters
    ----------
    problem : MixtureProblem
    family : Family
        The core's copy of it.

    Returns
    -------
    float
        Entropy of the rows, which mixtures attain where their columns are too few to identify them, and with a prior
        what its densities at their modes add; -inf for other families. Of rows with missing entries only those that
        lack the same ones exclude each other, so that every such pattern has an entropy of its own.
    """
    if not family.discrete:
        return -math.inf
    _, weights = family.data.arrays()
    total, patterns = math.fsum(weights), family.missing_patterns()
    of_pattern = total
    if patterns is not None:
        of_pattern = np.array([math.fsum(weights[patterns == p]) for p in range(patterns.max() + 1)])[patterns]
    entropy = math.fsum(-weights * np.log(weights / of_pattern))
    entropy -= ENTROPY_ROUNDING * total * (1 + np.log(len(weights)))
    # Their probabilities are at most 1, so that what bounds the objective of any samples bounds the prior's part.
    terms, size = problem._ceiling()
    return _rounded_down([*terms, entropy], size)


def _rounded_down(terms, size):
    """Sum of terms, whose magnitudes and those of what has cancelled within them count with ROUNDING."""
    value = math.fsum(terms) - ROUNDING * (math.fsum(map(abs, terms)) + size)
    return value if math.isfinite(value) else -math.inf
