"""
Proved global optima of mixture models and other biconvex problems, by the GOP method.

>>> import gopfast
>>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
>>> result = gopfast.solve(problem, epsilon=0.01)
>>> result.success
True
"""

import importlib
import os
from typing import TYPE_CHECKING

# libgomp's threads spin between batches unless told otherwise, and starve a busy machine. It reads its setting once,
# when the core loads it; the environment is left as it was found.
_policy = os.environ.get("OMP_WAIT_POLICY")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
try:
    from gopfast.search import search as _core  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"gopfast's compiled core cannot be loaded from {os.path.dirname(__file__)} ({error}). In a source folder "
        "where it is not built, run `pip install -e .`; what `pip install .` installs is imported in any other folder."
    ) from error
finally:
    if _policy is None:
        del os.environ["OMP_WAIT_POLICY"]

from gopfast import data, datasets, local, models as models
from gopfast.biconvex.polynomial import PolynomialProblem
from gopfast.biconvex.problem import BiconvexProblem
from gopfast.biconvex.result import BiconvexResult, BiconvexSolution
from gopfast.certificate import Certificate, Verdict, certify
from gopfast.checker import Checked, CheckedBiconvex, ProofError, check
from gopfast.clustering.problem import KMeans
from gopfast.clustering.result import Clustering, ClusteringResult
from gopfast.clusterwise.problem import ClusterwiseRegression
from gopfast.clusterwise.result import ClusterwiseFit, ClusterwiseResult
from gopfast.errors import CheckpointError, GopfastError, InputError, InputTypeError, NotProvedWarning
from gopfast.inference.candidates import Selection
from gopfast.inference.certificates import certify_all
from gopfast.inference.landscape import LocalOptimum, Optima, optima
from gopfast.inference.likelihood_ratio import LikelihoodRatio, lrt
from gopfast.inference.resampling import Bootstrap, bootstrap
from gopfast.inference.selection import select
from gopfast.mechanisms import settings
from gopfast.mixtures.problems import (
    BernoulliMixture,
    CategoricalMixture,
    ExponentialMixture,
    GammaMixture,
    GaussianMixture,
    LatentClass,
    LatentClassFit,
    MixedMixture,
    MultinomialMixture,
    PoissonMixture,
    RegressionMixture,
)
from gopfast.mixtures.result import Result
from gopfast.mixtures.solution import MixtureSolution
from gopfast.proof import Proof
from gopfast.result import Status
from gopfast.resuming import resume
from gopfast.solver import solve
from gopfast.version import VERSION

__version__ = VERSION
__all__ = [
    "BernoulliMixture",
    "BiconvexProblem",
    "BiconvexResult",
    "BiconvexSolution",
    "Bootstrap",
    "CategoricalMixture",
    "Certificate",
    "CheckpointError",
    "Checked",
    "CheckedBiconvex",
    "Clustering",
    "ClusteringResult",
    "ClusterwiseFit",
    "ClusterwiseRegression",
    "ClusterwiseResult",
    "ExponentialMixture",
    "GammaMixture",
    "GaussianMixture",
    "GlobalBernoulliMixture",
    "GlobalCategoricalMixture",
    "GlobalClusterwiseRegression",
    "GlobalExponentialMixture",
    "GlobalGammaMixture",
    "GlobalGaussianMixture",
    "GlobalKMeans",
    "GlobalLatentClass",
    "GlobalMixedMixture",
    "GlobalMultinomialMixture",
    "GlobalPoissonMixture",
    "GlobalRegressionMixture",
    "GopfastError",
    "InputError",
    "InputTypeError",
    "KMeans",
    "LatentClass",
    "LatentClassFit",
    "LikelihoodRatio",
    "LocalOptimum",
    "MixedMixture",
    "MixtureSolution",
    "MultinomialMixture",
    "NotProvedWarning",
    "Optima",
    "PoissonMixture",
    "PolynomialProblem",
    "RegressionMixture",
    "Proof",
    "ProofError",
    "Result",
    "Selection",
    "Status",
    "Verdict",
    "bootstrap",
    "certify",
    "certify_all",
    "check",
    "data",
    "datasets",
    "local",
    "lrt",
    "optima",
    "resume",
    "select",
    "settings",
    "solve",
]


# Estimators and their modules, which need scikit-learn and are loaded on first use.
_ESTIMATORS = {
    "GlobalBernoulliMixture": "counts_and_labels", "GlobalCategoricalMixture": "counts_and_labels",
    "GlobalClusterwiseRegression": "clusterwise",
    "GlobalExponentialMixture": "counts_and_labels", "GlobalGaussianMixture": "gaussian",
    "GlobalKMeans": "kmeans", "GlobalLatentClass": "counts_and_labels",
    "GlobalGammaMixture": "counts_and_labels", "GlobalMixedMixture": "mixed",
    "GlobalMultinomialMixture": "counts_and_labels",
    "GlobalPoissonMixture": "counts_and_labels", "GlobalRegressionMixture": "regression",
}  # fmt: skip

if TYPE_CHECKING:
    from gopfast import plot as plot
    from gopfast.estimators.clusterwise import GlobalClusterwiseRegression
    from gopfast.estimators.counts_and_labels import (
        GlobalBernoulliMixture,
        GlobalCategoricalMixture,
        GlobalExponentialMixture,
        GlobalGammaMixture,
        GlobalLatentClass,
        GlobalMultinomialMixture,
        GlobalPoissonMixture,
    )
    from gopfast.estimators.gaussian import GlobalGaussianMixture
    from gopfast.estimators.kmeans import GlobalKMeans
    from gopfast.estimators.mixed import GlobalMixedMixture
    from gopfast.estimators.regression import GlobalRegressionMixture
else:  # hidden from type checkers: every misspelt name would pass as Any

    def __getattr__(name):
        """Load an estimator on first use, which needs scikit-learn, or the module of the figures."""
        if name == "plot":
            return importlib.import_module("gopfast.plot")
        if name in _ESTIMATORS:
            return getattr(importlib.import_module(f"gopfast.estimators.{_ESTIMATORS[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, those that are loaded on first use among them."""
    return sorted({*globals(), *__all__})
