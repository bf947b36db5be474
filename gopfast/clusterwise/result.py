"""The result of a problem of clusterwise least squares."""

from dataclasses import dataclass

import numpy as np

from gopfast.annotations import FloatArray, IntArray, Json
from gopfast.clustering.result import PartitionResult
from gopfast.result import to_json_types


@dataclass(frozen=True, eq=False)
class ClusterwiseFit:
    """
    Classes of samples and their regressions.

    Attributes
    ----------
    coefficients : ndarray, shape (K, p)
        Classes by their intercepts, then coefficients.
    intercepts : ndarray, shape (K,)
        0 without an intercept.
    labels : ndarray of int, shape (n,)
        Class of every sample.
    sum_of_squares : float
        Weighted sum of squared residuals of these classes about their fits, of which `coefficients` and `intercepts`
        are rounded.
    """

    coefficients: FloatArray
    intercepts: FloatArray
    labels: IntArray
    sum_of_squares: float

    def to_dict(self, responsibilities: bool = False) -> dict[str, Json]:
        """Convert to JSON types; `responsibilities` says whether to include the n labels."""
        record = {
            "coefficients": to_json_types(self.coefficients), "intercepts": to_json_types(self.intercepts),
            "sum_of_squares": self.sum_of_squares,
        }  # fmt: skip
        return record | ({"labels": to_json_types(self.labels)} if responsibilities else {})

    def __str__(self) -> str:
        """Return the sizes of the classes and their regressions."""
        sizes = np.bincount(self.labels, minlength=len(self.coefficients))
        rows = (
            f"  {size:>8}  {intercept:>12.6g}  {np.array2string(own, precision=6)}"
            for size, intercept, own in zip(sizes, self.intercepts, self.coefficients, strict=True)
        )
        return "\n".join(["   samples     intercept  coefficients", *rows])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClusterwiseResult(PartitionResult):
    """
    What `gopfast.solve` returns for a `gopfast.ClusterwiseRegression`.

    ``lower_bound <= least sum of squares <= objective`` is proved. Beside the attributes of
    `gopfast.result.SearchResult`:

    Attributes
    ----------
    solution : ClusterwiseFit
        The best classes found.
    rel_gap : float
        ``gap / objective``, 0 where the objective is 0.
    """

    _objective_label = "sum of squares"

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients of the classes, shape (K, p)."""
        return self.solution.coefficients

    @property
    def intercepts(self) -> FloatArray:
        """Intercepts of the classes, shape (K,)."""
        return self.solution.intercepts
