"""Problem objects: what is minimised, on which data."""

from gopfast.models._base import MixtureProblem
from gopfast.models.bernoulli import BernoulliMixture
from gopfast.models.biconvex import BiconvexProblem
from gopfast.models.categorical import CategoricalMixture
from gopfast.models.exponential import ExponentialMixture
from gopfast.models.gaussian import GaussianMixture
from gopfast.models.poisson import PoissonMixture

__all__ = [
    "BernoulliMixture",
    "BiconvexProblem",
    "CategoricalMixture",
    "ExponentialMixture",
    "GaussianMixture",
    "MixtureProblem",
    "PoissonMixture",
]
