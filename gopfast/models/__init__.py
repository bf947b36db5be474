"""Problem objects: what is minimised, on which data."""

from typing import TYPE_CHECKING

from gopfast import _moved
from gopfast.biconvex.problem import BiconvexProblem
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.bernoulli import BernoulliMixture
from gopfast.mixtures.problems.categorical import CategoricalMixture
from gopfast.mixtures.problems.exponential import ExponentialMixture
from gopfast.mixtures.problems.gaussian import GaussianMixture
from gopfast.mixtures.problems.latent_class import LatentClass
from gopfast.mixtures.problems.latent_class_fit import LatentClassFit
from gopfast.mixtures.problems.poisson import PoissonMixture

__all__ = [
    "BernoulliMixture",
    "BiconvexProblem",
    "CategoricalMixture",
    "ExponentialMixture",
    "GaussianMixture",
    "LatentClass",
    "LatentClassFit",
    "MixtureProblem",
    "PoissonMixture",
]


if not TYPE_CHECKING:  # else every misspelt name would pass as Any

    def __getattr__(name):
        """Return a module by the name that it had."""
        return _moved.attribute(__name__, name)
