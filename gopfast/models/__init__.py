"""Problem objects: what is minimised, on which data."""

from gopfast.biconvex.problem import BiconvexProblem
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.bernoulli import BernoulliMixture
from gopfast.mixtures.problems.categorical import CategoricalMixture
from gopfast.mixtures.problems.count_regression import CountRegressionMixture
from gopfast.mixtures.problems.exponential import ExponentialMixture
from gopfast.mixtures.problems.gamma import GammaMixture
from gopfast.mixtures.problems.gaussian import GaussianMixture
from gopfast.mixtures.problems.latent_class import LatentClass
from gopfast.mixtures.problems.latent_class_fit import LatentClassFit
from gopfast.mixtures.problems.mixed import MixedMixture
from gopfast.mixtures.problems.multinomial import MultinomialMixture
from gopfast.mixtures.problems.poisson import PoissonMixture
from gopfast.mixtures.problems.regression import RegressionMixture

__all__ = [
    "BernoulliMixture",
    "BiconvexProblem",
    "CategoricalMixture",
    "CountRegressionMixture",
    "ExponentialMixture",
    "GammaMixture",
    "GaussianMixture",
    "LatentClass",
    "LatentClassFit",
    "MixedMixture",
    "MixtureProblem",
    "MultinomialMixture",
    "PoissonMixture",
    "RegressionMixture",
]
