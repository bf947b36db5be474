"""Problem objects: what is minimised, on which data."""

from gopfast.models.biconvex import BiconvexProblem
from gopfast.models.gaussian import GaussianMixture

__all__ = ["BiconvexProblem", "GaussianMixture"]
