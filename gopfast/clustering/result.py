"""The result of a k-means problem, and what it shares with those of other partitions of the samples."""

from dataclasses import dataclass

import numpy as np

from gopfast.annotations import FloatArray, IntArray, Json
from gopfast.result import SearchResult, to_json_types


@dataclass(frozen=True, eq=False)
class Clustering:
    """
    Centers of clusters and the samples' labels.

    Attributes
    ----------
    centers : ndarray, shape (K, d)
        By first coordinate, then the next.
    labels : ndarray of int, shape (n,)
        Index of every sample's nearest center.
    inertia : float
        Weighted sum of squared distances to the nearest centers.
    """

    centers: FloatArray
    labels: IntArray
    inertia: float

    def to_dict(self, responsibilities: bool = False) -> dict[str, Json]:
        """Convert to JSON types; `responsibilities` says whether to include the n labels."""
        record = {"centers": to_json_types(self.centers), "inertia": self.inertia}
        return record | ({"labels": to_json_types(self.labels)} if responsibilities else {})

    def __str__(self) -> str:
        """Return the centers and the sizes of their clusters."""
        sizes = np.bincount(self.labels, minlength=len(self.centers))
        rows = (f"  {size:>8}  {np.array2string(center, precision=6)}" for size, center in
                zip(sizes, self.centers, strict=True))  # fmt: skip
        return "\n".join(["  samples   center", *rows])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PartitionResult(SearchResult):
    """
    What results of problems share whose solution gives every sample to one cluster or class.

    ``lower_bound <= least objective <= objective`` is proved. Beside the attributes of `gopfast.result.SearchResult`:

    Attributes
    ----------
    rel_gap : float
        ``gap / objective``, 0 where the objective is 0.
    """

    # what results of mixtures have
    elbo = elbo_bound = elbo_constant = log_likelihood = log_likelihood_bound = None

    @property
    def labels(self) -> IntArray:
        """Cluster or class of every sample, shape (n,)."""
        return self.solution.labels

    @property
    def gap(self) -> float:
        """``objective - lower_bound``: the solution is at most this far from the best."""
        return self.objective - self.lower_bound

    @property
    def rel_gap(self) -> float:
        """The gap in units of the objective."""
        return self.gap / self.objective if self.objective > 0.0 else 0.0

    def __repr__(self) -> str:
        """Return status and bounds on one line."""
        return (
            f"{type(self).__name__}(status={self.status.name}, objective={self.objective:.8g}, "
            f"lower_bound={self.lower_bound:.8g}, gap={self.gap:.3g}, n_nodes={self.n_nodes}, time={self.time:.3g})"
        )

    def to_dict(self, responsibilities: bool = False) -> dict[str, Json]:
        """
        Convert to JSON types; see `gopfast.result.SearchResult.to_dict`.

        Parameters
        ----------
        responsibilities : bool
            Whether to include the labels of the samples.
        """
        record = super().to_dict(responsibilities)
        return {name: value for name, value in record.items() if not hasattr(type(self), name) or value is not None}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClusteringResult(PartitionResult):
    """
    What `gopfast.solve` returns for a `gopfast.KMeans`; ``lower_bound <= least inertia <= inertia`` is proved.

    Beside the attributes of `gopfast.result.SearchResult`:

    Attributes
    ----------
    solution : Clustering
        The best clustering found.
    rel_gap : float
        ``gap / inertia``, 0 where the inertia is 0.
    """

    _objective_label = "inertia"

    @property
    def centers(self) -> FloatArray:
        """Centers, shape (K, d)."""
        return self.solution.centers

    @property
    def inertia(self) -> float:
        """Sum of squared distances to the nearest centers: the objective."""
        return self.objective
