"""The parameters of a fitted mixture."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gopfast.annotations import FloatArray, Json, ParameterLike, Parameters
from gopfast.mixtures.fitted import Fitted
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.tuning import MAX_COORDINATES_SHOWN, MAX_ROWS_SHOWN, ZERO_CORRELATION
from gopfast.result import to_json_types


@dataclass(frozen=True, eq=False, kw_only=True)
class MixtureSolution(Fitted):
    """
    Parameters of a mixture; those that its model does not have are None.

    Attributes
    ----------
    problem : MixtureProblem
        The problem solved, for `responsibilities`.
    weights : ndarray, shape (K,)
        Mixture weights, summing to 1; with a noise component (K + 1,), that of the noise last.
    means : ndarray, shape (K, d)
        Component means of a Gaussian mixture, in units of the data.
    covariances : ndarray
        Estimated covariances, in scikit-learn's shapes: (K,), (K, d), (d, d) or (K, d, d) for "spherical",
        "diag", "tied", "tied_diag" and "tied_spherical", or "full".
    probabilities : ndarray, shape (K, d), or tuple of d ndarrays of shape (K, C_j)
        Of a Bernoulli, a multinomial or a categorical mixture.
    rates : ndarray, shape (K, d)
        Of a Poisson, an exponential or a Gamma mixture.
    shapes : ndarray, shape (K, d)
        Of a Gamma mixture.
    posterior_variances : ndarray, shape (K, d)
        Variances of the Gaussian posterior of the means.
    prior_variance : float
        Gamma, in squared units of the data.
    coefficients : ndarray, shape (K, p)
        Of a mixture of regressions, in units of the response over those of the regressors.
    intercepts, variances : ndarray, shape (K,)
        Of a mixture of regressions.
    variance : float
        Of a mixture of regressions with one variance for all components.
    """

    problem: MixtureProblem = field(repr=False)
    weights: FloatArray
    means: FloatArray | None = None
    covariances: FloatArray | None = None
    probabilities: FloatArray | tuple[FloatArray, ...] | None = None
    rates: FloatArray | None = None
    shapes: FloatArray | None = None
    posterior_variances: FloatArray | None = None
    prior_variance: float | None = None
    coefficients: FloatArray | None = None
    intercepts: FloatArray | None = None
    variances: FloatArray | None = None
    variance: float | None = None

    @classmethod
    def canonical(
        cls, problem: MixtureProblem, weights: ArrayLike, *values: ParameterLike, **parameters: ParameterLike
    ) -> "MixtureSolution":
        """
        Make a solution whose components are in canonical order: by mean or first parameter, first coordinate first.

        Parameters
        ----------
        problem : MixtureProblem
            The problem solved.
        weights : array_like, shape (K,)
            Mixture weights.
        *values, **parameters
            One value for each of ``problem.parameter_names``, by position or by name.

        Returns
        -------
        MixtureSolution
        """
        return cls(problem=problem, **problem.canonical_state(weights, *values, **parameters))

    @property
    def _fit(self):
        return self

    @property
    def parameters(self) -> Parameters:
        """The parameters beside the weights, by name: ``problem.objective(solution.weights, **parameters)``."""
        return {name: getattr(self, name) for name in self.problem.parameter_names}

    @cached_property
    def responsibilities(self) -> FloatArray:
        """Probabilities of the components for each sample, shape (n, K); computed on first access."""
        return self.problem.responsibilities(self.weights, **self.parameters)

    def to_dict(self, responsibilities: bool = False) -> dict[str, Json]:
        """
        Convert to JSON types; the data are left out.

        Parameters
        ----------
        responsibilities : bool
            Whether to include the n K responsibilities.
        """
        names = ["weights", *self.problem.parameter_names] + ["responsibilities"] * responsibilities
        return {name: to_json_types(getattr(self, name)) for name in names}

    def __str__(self) -> str:
        """One row per component; then covariance matrices, and what components share."""
        shared = [name for name in self.problem.shared_names if self.parameters.get(name) is not None]
        matrices = self._matrices()
        own = [name for name in self.parameters if name not in self.problem.shared_names]
        own = [name for name in own if not (matrices and name == "covariances")]
        K = self.problem.n_components
        columns = [["weight", *(f"{weight:.4f}" for weight in self.weights[: min(K, MAX_ROWS_SHOWN)])]]
        columns += [
            [_LABELS[name], *(_row_text(row, max(2, MAX_COORDINATES_SHOWN + 2 - 2 * len(own))) for row in _rows(value))]
            for name, value in ((name, getattr(self, name)) for name in own)
        ]
        widths = [max(map(len, column)) for column in columns]
        lines = ["    " + "    ".join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns, strict=True)]
        if K > MAX_ROWS_SHOWN:
            lines.append(f"  ... {K - MAX_ROWS_SHOWN} more components")
        lines += [f"    {weight:.4f}    noise" for weight in self.weights[K:]]
        for title, matrix in matrices.items():
            lines += [f"  {title}", *_matrix_lines(matrix)]
        lines += [
            f"  {_LABELS[name]} {_shared_text(getattr(self, name), self.problem)}"
            for name in shared
            if not (matrices and name == "covariances")
        ]
        return "\n".join(lines)

    def _matrices(self):
        """Return the covariance matrices to be shown whole, by title."""
        C = self.covariances
        if C is None or not 1 < C.shape[-1] <= MAX_COORDINATES_SHOWN or not self.problem.kind.free_form:
            return {}
        if C.ndim == 2:
            return {"covariance of every component": C}
        return {f"covariance of component {k}": matrix for k, matrix in enumerate(C[:MAX_ROWS_SHOWN])}


_LABELS = {
    "means": "mean",
    "covariances": "variance",
    "rates": "rate",
    "shapes": "shape",
    "probabilities": "probability",
    "posterior_variances": "posterior variance",
    "prior_variance": "prior variance",
    "coefficients": "coefficients",
    "intercepts": "intercept",
    "variances": "variance",
    "variance": "variance of every component",
}


def _rows(value):
    """Rows of a parameter, as many as are shown; each a tuple of arrays, one per column of a categorical mixture."""
    arrays = value if isinstance(value, tuple) else (value,)
    # Of a matrix too large to be shown the diagonal, of a single number a row.
    arrays = [np.diagonal(array, axis1=1, axis2=2) if array.ndim == 3 else array for array in arrays]
    return zip(*(np.reshape(array, (len(array), -1))[:MAX_ROWS_SHOWN] for array in arrays), strict=True)


def _shared_text(value, problem):
    """Print a number; of a matrix too large to be shown, or of no more than its diagonal, what is free of that."""
    if np.ndim(value) < 2:
        numbers = np.ravel(value)[:1]
    else:
        numbers = np.diagonal(value) if problem.kind.free_form else problem.kind.free(value)
    return _row_text([numbers], MAX_COORDINATES_SHOWN)


def _matrix_lines(matrix):
    """Lines of a matrix, in columns of one width."""
    scale = np.sqrt(np.diagonal(matrix))
    # What only rounding keeps from 0 reads as 0.
    matrix = np.where(np.abs(matrix) < ZERO_CORRELATION * np.outer(scale, scale), 0.0, matrix)
    rows = [[f"{number:.6g}" for number in row] for row in matrix]
    width = max(len(number) for row in rows for number in row)
    return ["    " + "  ".join(number.rjust(width) for number in row) for row in rows]


def _row_text(groups, most):
    """Numbers of a row, the groups apart by a bar; what exceeds `most` numbers is left out."""
    parts, left = [], most
    for group in groups:
        parts.append("  ".join(f"{number:.6g}" for number in group[:left]))
        left -= len(parts[-1].split())
        if left == 0:
            break
    return " | ".join(parts) + "  ..." * (sum(map(len, groups)) > most)
