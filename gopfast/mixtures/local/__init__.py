"""Local methods of mixtures; `gopfast.local` is what users call."""

from gopfast.mixtures.local import starts as starts
from gopfast.mixtures.local._anneal import anneal as anneal
from gopfast.mixtures.local._cavi import cavi as cavi
from gopfast.mixtures.local._conjugate_gradient import conjugate_gradient as conjugate_gradient
from gopfast.mixtures.local._em import em as em
from gopfast.mixtures.local._kmeans import kmeans as kmeans
from gopfast.mixtures.local._quasi_newton import quasi_newton as quasi_newton
from gopfast.mixtures.local._result import LocalResult as LocalResult
from gopfast.mixtures.local.starts import start as start
