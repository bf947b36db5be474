"""
Local methods: fast, and without any guarantee.

Every method is called as ``method(problem, start=None, *, tol, max_iter, random_state, ...)`` and returns a
`LocalResult`. A start is the first parameter of the model (the means of a Gaussian mixture), a state by name, or
anything with a solution; `gopfast.local.start` makes one by a strategy of `gopfast.local.starts`.
"""

from gopfast._restart import RestartResult, restart_until_certified
from gopfast.local import starts
from gopfast.local._anneal import anneal
from gopfast.local._cavi import cavi
from gopfast.local._conjugate_gradient import conjugate_gradient
from gopfast.local._em import em
from gopfast.local._kmeans import kmeans
from gopfast.local._quasi_newton import quasi_newton
from gopfast.local._result import LocalResult
from gopfast.local.starts import start

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
