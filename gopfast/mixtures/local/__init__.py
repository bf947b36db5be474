"""Local methods of mixtures; `gopfast.local` is what users call."""

from gopfast.mixtures.local import starts
from gopfast.mixtures.local._anneal import anneal
from gopfast.mixtures.local._cavi import cavi
from gopfast.mixtures.local._conjugate_gradient import conjugate_gradient
from gopfast.mixtures.local._em import em
from gopfast.mixtures.local._kmeans import kmeans
from gopfast.mixtures.local._quasi_newton import quasi_newton
from gopfast.mixtures.local._result import LocalResult
from gopfast.mixtures.local.starts import start

__all__ = [
    "LocalResult",
    "anneal",
    "cavi",
    "conjugate_gradient",
    "em",
    "kmeans",
    "quasi_newton",
    "start",
    "starts",
]
