"""
Local methods: fast, and without any guarantee.

Every method is called as ``method(problem, start=None, *, tol, max_iter, random_state, ...)`` and returns a
`LocalResult`. A start is the first parameter of the model (the means of a Gaussian mixture), a state by name, or
anything with a solution; `gopfast.local.start` makes one by a strategy of `gopfast.local.starts`.
"""

from gopfast.mixtures.local import (
    LocalResult,
    anneal,
    cavi,
    conjugate_gradient,
    em,
    kmeans,
    quasi_newton,
    start,
    starts,
)
from gopfast.restart import RestartResult, restart_until_certified

__all__ = [
    "LocalResult",
    "RestartResult",
    "anneal",
    "cavi",
    "conjugate_gradient",
    "em",
    "kmeans",
    "quasi_newton",
    "restart_until_certified",
    "start",
    "starts",
]
