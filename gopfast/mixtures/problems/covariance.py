"""
Kinds of covariance of a Gaussian mixture, one class each.

A kind knows everything that depends on it: the shape of the user's `covariances`, what the components share, which
floor it takes, how many parameters it has, the densities and the M step, and which family of the core it is solved by.
Users name it by a string, which `KINDS` reads; beside the checker nothing else compares that string. Free variances
have scikit-learn's names and shapes.

Theory: (A6) of docs/theory/problem.md.
"""

import math

import numpy as np

from gopfast import checks
from gopfast.errors import InputError
from gopfast.mixtures.problems.base import average
from gopfast.mixtures.problems.margins import ENTRY_TOL
from gopfast.mixtures.problems.tuning import FLOOR_TOL, MOST_COLUMNS_OF_MATRICES, MOST_FLOORS, NEAR_FLOOR, ON_FLOOR

LOG_2_PI = math.log(2.0 * math.pi)


class CovarianceKind:
    """
    One kind of covariance, of K components in d columns.

    Parameters
    ----------
    n_components, n_features : int
        K and d.
    least : float or ndarray of shape (d,)
        The floor of free variances, or the known variances; in squared units of the data.

    Attributes
    ----------
    name : str
        What users call the kind.
    estimated : bool
        Whether there is anything to estimate: "covariances" is a parameter then.
    shared : bool
        Whether all components have the same.
    matrix_shaped : bool
        Whether `covariances` holds matrices (d, d).
    free_form : bool
        Whether those are of any shape above the floor, not multiples of the unit matrix.
    floor_per_column : bool
        Whether the floor is one number for each column.
    form : str
        "spherical", "diag" or "full": what one component's covariance may look like.
    least_name : str
        The argument that `least` comes from.
    """

    name: str
    form: str
    estimated = True
    shared = matrix_shaped = free_form = False
    name_in_proofs = None  # the rule of `gopfast.checker`, where it has one
    floor_per_column = True
    least_name = "variance_floor"

    def __init__(self, n_components, n_features, least):
        self.n_components, self.n_features, self.least = n_components, n_features, least

    @classmethod
    def of_columns(cls, n_components, floors, ranges=0.0):
        """
        Make the kind from a floor for each column, (d,), and the ranges of the data, in which it must be usable.

        Kinds that pool the columns take the least floor.
        """
        return cls(n_components, len(floors), floors if cls.floor_per_column else float(np.min(floors)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of `covariances`."""
        raise NotImplementedError

    @property
    def n_parameters(self) -> int:
        """Number of free variances and covariances."""
        return math.prod(self.shape)

    def coincides(self, other) -> bool:
        """Whether another kind, of as many components and columns, is the same model."""
        if not (self.estimated and other.estimated):
            return self.estimated == other.estimated
        same_form = self.n_features == 1 or self.form == other.form
        return same_form and (self.n_components == 1 or self.shared == other.shared)

    # Reading and writing the user's covariances

    def checked(self, value):
        """Return given covariances as an array; `InputError` unless they are of this kind, at or above the floor."""
        array = checks.of_shape("covariances", checks.real_array("covariances", value), self.shape)
        tolerance = FLOOR_TOL + self._check_form(array)
        least = self.floors(array).min()
        if least < 1.0 - tolerance:
            raise InputError(
                f"covariances must not fall below variance_floor={self.least}: "
                f"the least variance is {least:.6g} times the floor"
            )
        return array

    def _check_form(self, array):
        """Raise for covariances that are not of this kind; return how far below the floor rounding may put them."""
        return 0.0

    def raised(self, covariances):
        """Return covariances with what is below the floor raised to it; `InputError` unless they are of this kind."""
        raise NotImplementedError

    def matrices(self, covariances):
        """Return the covariance matrices of the components, (K, d, d)."""
        return self.variances(covariances)[..., np.newaxis] * np.eye(self.n_features)

    def from_matrices(self, matrices):
        """Return covariance matrices (K, d, d), which must be of this kind, in the shape of `covariances`."""
        raise NotImplementedError

    def variances(self, covariances):
        """Return the variances of each component and column, (K, d)."""
        raise NotImplementedError

    def as_fitted(self, covariances):
        """Return what an estimator shows as ``covariances_``."""
        return covariances

    # The model

    def floors(self, covariances, columns=slice(None)):
        """
        Return the least variance of each component in any direction, in units of the floor, (K,) or ().

        `columns`: indices of those whose directions count, by default all.
        """
        raise NotImplementedError

    def narrow_columns(self, covariances, k):
        """Return the indices of the columns in which component k, which is on its floor, is as narrow as it may be."""
        raise NotImplementedError

    def log_densities(self, X, means, covariances):
        """Return the log densities (n, K), of known variances without their constant."""
        log_variances = LOG_2_PI + np.log(self.variances(covariances))
        scales = np.sqrt(self.variances(covariances))
        parts = zip(means, scales, log_variances, strict=True)
        return np.stack([-0.5 * (np.square((X - m) / s) + logs).sum(axis=1) for m, s, logs in parts], axis=1)

    def solve(self, covariances, values):
        """Return ``C_k^-1 values_k`` for values of shape (K, d)."""
        return values / self.variances(covariances)

    def best(self, X, mass, weights, means):
        """Return the covariances at or above the floor that are best for given masses (n, K) and means (K, d)."""
        raise NotImplementedError

    def check_range(self, X):
        """Raise where the range of the data is too large for the floor."""

    # The core

    def family(self, problem):
        """
        Make the family that solves mixtures of this kind; imported inside, as problems load nothing compiled.

        Parameters
        ----------
        problem : GaussianMixture

        Returns
        -------
        Family
        """
        raise NotImplementedError


class Known(CovarianceKind):
    """The same known variances for all components; nothing is estimated."""

    name = name_in_proofs = form = "known"
    estimated = False
    least_name = "noise_variance"

    @property
    def shape(self):
        """Shape of the variances."""
        return (self.n_features,)

    @property
    def n_parameters(self) -> int:
        """None."""
        return 0

    def variances(self, covariances=None):
        """Return the known variances, (K, d)."""
        return np.broadcast_to(self.least, (self.n_components, self.n_features))

    def as_fitted(self, covariances):
        """Return the known variances for each component."""
        return np.tile(self.least, (self.n_components, 1))

    def log_densities(self, X, means, covariances=None):
        """Return the log densities (n, K) without ``-1/2 sum_j log(2 pi v_j)``."""
        # Differences first, squares second: expanding the square loses all digits for data far from zero.
        # In units of the noise, where squares do not underflow.
        scale = np.sqrt(self.least)
        return np.stack([-0.5 * np.square((X - mean) / scale).sum(axis=1) for mean in means], axis=1)

    def family(self, problem):
        """Make a GaussianFamily, with the range of 1 / Gamma as its prior."""
        from gopfast.mixtures.families.gaussian import GaussianFamily

        low, high = problem.prior_variance_range()
        precision = None if problem.prior is None else (1.0 / high, 1.0 / low)
        data = problem._samples(np.sqrt(self.least))
        return GaussianFamily(data, self.n_components, precision, problem.posterior == "gaussian")


class Diagonal(CovarianceKind):
    """One variance for each component and column, and what the kinds with fewer variances have in common with it."""

    name = name_in_proofs = form = "diag"

    @property
    def shape(self):
        """Shape of `covariances`."""
        return (self.n_components, self.n_features)

    @property
    def free_shape(self) -> tuple[int, ...]:
        """Shape of the variances that are free."""
        return self.shape

    @property
    def n_parameters(self) -> int:
        """Number of free variances."""
        return math.prod(self.free_shape)

    def free(self, covariances):
        """Return the variances that are free, of `free_shape`."""
        return covariances

    def from_free(self, variances):
        """Return the covariances of variances that are free."""
        return variances

    def pooled(self, values):
        """Return the sums of values (K, d) over the columns and components with one variance, of `free_shape`."""
        return values

    def from_matrices(self, matrices):
        """Return the diagonals."""
        return np.diagonal(matrices, axis1=1, axis2=2)

    def variances(self, covariances):
        """Return the variances of each component and column, (K, d)."""
        return np.broadcast_to(covariances, (self.n_components, self.n_features))

    def floors(self, covariances, columns=slice(None)):
        """Return the least ratio of each component."""
        return (covariances / self.least)[..., columns].min(axis=-1)

    def raised(self, covariances):
        """Return the variances, at least the floor."""
        return np.maximum(covariances, self.least)

    def narrow_columns(self, covariances, k):
        """Return the columns whose variance is on its floor."""
        return np.flatnonzero(covariances[k] <= (1.0 + ON_FLOOR) * self.least)

    def best(self, X, mass, weights, means):
        """Return the weighted squares about the means, raised to the floor."""
        return np.maximum(self._scatter(X, mass, means), self.least)

    def _scatter(self, X, mass, means):
        """Return ``sum_i mass_ik (x_ij - m_kj)^2 / sum_i mass_ik``, (K, d)."""
        return np.stack([average(mass[:, [k]], np.square(X - mean))[0] for k, mean in enumerate(means)])

    def family(self, problem):
        """Make a NormalFamily."""
        from gopfast.mixtures.families.normal import NormalFamily

        return NormalFamily(
            _columns_with_squares(problem, self), self.n_components, self.floor_per_column, self.shared
        )


class Spherical(Diagonal):
    """One variance for each component."""

    name = name_in_proofs = form = "spherical"
    floor_per_column = False

    @property
    def shape(self):
        """Shape of `covariances`."""
        return (self.n_components,)

    def pooled(self, values):
        """Return the sums over the columns."""
        return values.sum(axis=1)

    def from_matrices(self, matrices):
        """Return the first variance of each."""
        return np.diagonal(matrices, axis1=1, axis2=2)[:, 0]

    def variances(self, covariances):
        """Return the variances of each component and column, (K, d)."""
        return super().variances(covariances[:, np.newaxis])

    def floors(self, covariances, columns=slice(None)):
        """Return the ratio of each component."""
        return covariances / self.least

    def narrow_columns(self, covariances, k):
        """Return all columns."""
        return np.arange(self.n_features)

    def best(self, X, mass, weights, means):
        """Return the average over the columns, raised to the floor."""
        return np.maximum(self._scatter(X, mass, means).mean(axis=1), self.least)


class TiedDiagonal(Diagonal):
    """One variance for each column, the same for all components; shown as a diagonal matrix."""

    name = name_in_proofs = "tied_diag"
    form_in_words = "a diagonal matrix"
    shared = matrix_shaped = True

    @property
    def shape(self):
        """Shape of `covariances`."""
        return (self.n_features, self.n_features)

    @property
    def free_shape(self):
        """Shape of the variances of the columns."""
        return (self.n_features,)

    def free(self, covariances):
        """Return the diagonal."""
        return np.diagonal(covariances)

    def from_free(self, variances):
        """Return the diagonal matrix."""
        return variances * np.eye(self.n_features)

    def pooled(self, values):
        """Return the sums over the components."""
        return values.sum(axis=0)

    def _check_form(self, array):
        variances = self.from_free(self.free(array))
        if not np.allclose(array, variances, rtol=FLOOR_TOL, atol=0.0):
            raise InputError(f"covariances must be {self.form_in_words} with covariance={self.name!r}")
        return 0.0

    def from_matrices(self, matrices):
        """Return the first one, of this form."""
        return self.from_free(self.free(matrices[0]))

    def variances(self, covariances):
        """Return the variances of each component and column, (K, d)."""
        return super().variances(np.diagonal(covariances))

    def floors(self, covariances, columns=slice(None)):
        """Return the least ratio."""
        return super().floors(np.diagonal(covariances), columns)

    def raised(self, covariances):
        """Return the variances, at least the floor, as a diagonal matrix."""
        self._check_form(covariances)
        return self.from_free(np.maximum(self.free(covariances), self.least))

    def narrow_columns(self, covariances, k):
        """Return the columns near the floor."""
        return np.flatnonzero(np.diagonal(covariances) <= (1.0 + NEAR_FLOOR) * self.least)

    def best(self, X, mass, weights, means):
        """Return the average over the components, raised to the floor."""
        return self.from_free(np.maximum(self.average(weights @ self._scatter(X, mass, means)), self.least))

    def average(self, variances):
        """Return the free variances of those of the columns, (d,)."""
        return variances


class TiedSpherical(TiedDiagonal):
    """One variance for all; shown as a multiple of the unit matrix."""

    name = name_in_proofs = "tied_spherical"
    form = "spherical"
    form_in_words = "v I with one variance v"
    floor_per_column = False

    @property
    def free_shape(self):
        """Shape of the one variance."""
        return (1,)

    def free(self, covariances):
        """Return the one variance."""
        return covariances[0, :1]

    def pooled(self, values):
        """Return the sum over all."""
        return values.sum(axis=(0, 1)).reshape(1)

    def average(self, variances):
        """Return the average over the columns."""
        return variances.mean(keepdims=True)


class Full(CovarianceKind):
    """One matrix for each component, and what a shared one has in common with it."""

    name = form = "full"
    matrix_shaped = free_form = True

    @classmethod
    def of_columns(cls, n_components, floors, ranges=0.0):
        """Make the kind from a floor for each column, raised where the range of variances would be too wide."""
        with np.errstate(over="ignore"):  # data that are too large are refused later
            usable = np.square(ranges / (MOST_FLOORS * (1.0 - ENTRY_TOL)))
        return super().of_columns(n_components, np.maximum(floors, usable))

    @property
    def name_in_proofs(self):
        """Matrices of one column are variances."""
        return Diagonal.name if self.n_features == 1 else self.name

    @property
    def shape(self):
        """Shape of `covariances`."""
        return (self.n_components, self.n_features, self.n_features)

    @property
    def n_parameters(self) -> int:
        """Number of entries on and above the diagonals."""
        return math.prod(self.shape[:-2]) * (self.n_features * (self.n_features + 1) // 2)

    def scaled(self, covariances):
        """Return the matrices in units of the floor."""
        scale = np.sqrt(self.least)
        return covariances / np.outer(scale, scale)

    def _check_form(self, array):
        scaled = self.scaled(array)
        if not np.allclose(scaled, np.swapaxes(scaled, -1, -2), rtol=FLOOR_TOL, atol=FLOOR_TOL):
            raise InputError("covariances must be symmetric")
        return ENTRY_TOL * self.n_features * np.abs(scaled).max()

    def matrices(self, covariances):
        """Return the covariance matrices of the components, (K, d, d)."""
        return np.broadcast_to(covariances, (self.n_components, self.n_features, self.n_features))

    def from_matrices(self, matrices):
        """Return the matrices as they are."""
        return matrices

    def variances(self, covariances):
        """Return the diagonals, (K, d)."""
        return np.diagonal(self.matrices(covariances), axis1=1, axis2=2)

    def floors(self, covariances, columns=slice(None)):
        """Return the least eigenvalues in units of the floor."""
        return np.linalg.eigvalsh(self.scaled(covariances)[..., columns, :][..., columns]).min(axis=-1)

    def raised(self, covariances):
        """Return the matrices with eigenvalues of at least 1 in units of the floor, those above it as they are."""
        self._check_form(covariances)
        values, vectors = np.linalg.eigh(self.scaled(covariances))
        raised = (vectors * np.maximum(values, 1.0)[..., np.newaxis, :]) @ np.swapaxes(vectors, -1, -2)
        scale = np.sqrt(self.least)
        raised = 0.5 * (raised + np.swapaxes(raised, -1, -2)) * np.outer(scale, scale)
        return np.where((values.min(axis=-1) < 1.0)[..., np.newaxis, np.newaxis], raised, covariances)

    def narrow_columns(self, covariances, k):
        """Return the columns near the floor."""
        return np.flatnonzero(self.variances(covariances)[k] <= (1.0 + NEAR_FLOOR) * self.least)

    def log_densities(self, X, means, covariances):
        """Return the log densities (n, K)."""
        pairs = zip(means, self.matrices(covariances), strict=True)
        return np.stack([_log_normal(X - mean, C) for mean, C in pairs], axis=1)

    def solve(self, covariances, values):
        """Return ``C_k^-1 values_k`` for values of shape (K, d)."""
        return np.linalg.solve(covariances, values[:, :, np.newaxis])[:, :, 0]

    def best(self, X, mass, weights, means):
        """Return the weighted squares about each mean, eigenvalues raised to the floor."""
        scale = np.sqrt(self.least)
        return np.stack([_floored(X - mean, mass[:, k], scale) for k, mean in enumerate(means)])

    def check_range(self, X):
        """Raise where a Cholesky factor may not exist in floats."""
        ratio = (np.ptp(X, axis=0) / np.sqrt(self.least)).max()
        if ratio > MOST_FLOORS:
            raise InputError(
                f"variance_floor must be at least (range / {MOST_FLOORS:g})^2 of every column with "
                f"covariance={self.name!r}, for matrices of a usable condition; one range is {ratio:.3g} "
                "times the root"
            )

    def family(self, problem):
        """Make the family of matrices for as many columns as there are."""
        from gopfast.mixtures.core_axes import component_axes
        from gopfast.mixtures.families.full import FullFamily, LineFamily
        from gopfast.mixtures.families.matrices import MatrixFamily
        from gopfast.mixtures.families.matrix import MOST_COLUMNS

        if self.n_features == 1:
            return LineFamily(_columns_with_squares(problem, self), self.n_components, True)
        self._check_columns(MOST_COLUMNS)
        kind = FullFamily if self.n_features == 2 else MatrixFamily
        X, weight, K = problem.X, problem.sample_weight, self.n_components
        axes, fit = component_axes(kind, X, weight, K, self.least)
        return kind(X, weight, K, self.least, axes).suggest(**fit)

    def _check_columns(self, most):
        if self.n_features > most:
            raise InputError(
                f"covariance={self.name!r} is solved for at most {most} columns of X; got {self.n_features}: use "
                f"{Diagonal.name!r}"
            )


class Tied(Full):
    """One matrix for all components."""

    name = "tied"
    shared = True

    @property
    def name_in_proofs(self):
        """One matrix of one column is a variance."""
        return TiedSpherical.name if self.n_features == 1 else self.name

    @property
    def shape(self):
        """Shape of `covariances`."""
        return (self.n_features, self.n_features)

    def from_matrices(self, matrices):
        """Return the first one."""
        return matrices[0]

    def best(self, X, mass, weights, means):
        """Return the weighted squares about all means, eigenvalues raised to the floor."""
        shares = (weights * mass / mass.sum(axis=0)).T.ravel()
        return _floored(np.concatenate([X - mean for mean in means]), shares, np.sqrt(self.least))

    def family(self, problem):
        """Make a TiedFamily; in one column a NormalFamily."""
        from gopfast.mixtures.core_axes import canonical_axes
        from gopfast.mixtures.data.summary import summarised
        from gopfast.mixtures.families.matrix import MOST_COLUMNS
        from gopfast.mixtures.families.normal import NormalFamily
        from gopfast.mixtures.families.tied import TiedFamily

        if self.n_features == 1:
            return NormalFamily(_columns_with_squares(problem, self), self.n_components, shared=True)
        self._check_columns(MOST_COLUMNS)
        X, weight, K = problem.X, problem.sample_weight, self.n_components
        axes, fit = canonical_axes(TiedFamily, X, weight, K, self.least)
        found = TiedFamily(X, weight, K, self.least, axes).suggest(**fit)
        summarised(found.data)
        return found


# By name, in the order in which users are told of them.
KINDS = {kind.name: kind for kind in (Known, Spherical, Diagonal, Tied, TiedDiagonal, TiedSpherical, Full)}


def default_kind(prior=None, posterior=None, noise_variance=None) -> type[CovarianceKind]:
    """
    Return the kind of covariance of a model that names none: the package's one convention.

    Who says nothing of variances gets them estimated, one for each component and column ("diag"). A prior, a posterior
    or a `noise_variance` is of the source's model, whose variances are known.
    """
    return Diagonal if prior is None and posterior in (None, "point") and noise_variance is None else Known


def compared(n_columns) -> tuple[str, ...]:
    """Return the kinds among which a choice is made by default: those that differ in so many columns."""
    if n_columns == 1:
        return Diagonal.name, Tied.name
    matrices = (Tied.name, Full.name) if n_columns <= MOST_COLUMNS_OF_MATRICES else ()
    return TiedSpherical.name, Spherical.name, TiedDiagonal.name, Diagonal.name, *matrices


def _columns_with_squares(problem, kind):
    """Return samples in units of the floor, with squares as statistics."""
    scale = np.sqrt(np.broadcast_to(kind.least, kind.n_features))
    return problem._samples(scale, squares=True)


def _log_normal(difference, covariance):
    """Log density of N(0, C) at each row."""
    factor = np.linalg.cholesky(covariance)
    squares = np.square(np.linalg.solve(factor, difference.T)).sum(axis=0)
    return -0.5 * (squares + len(factor) * LOG_2_PI) - np.log(np.diagonal(factor)).sum()


def _floored(difference, mass, scale):
    """
    Minimise ``log det C + tr(C^-1 M)`` over ``C >= diag(scale^2)``, M the weighted average of the rows' squares.

    In units of the floor the optimum is M with its eigenvalues raised to 1 where they are below.
    """
    scaled = difference / scale
    values, vectors = np.linalg.eigh((mass * scaled.T) @ scaled / mass.sum())
    C = (vectors * np.maximum(values, 1.0)) @ vectors.T
    return 0.5 * (C + C.T) * np.outer(scale, scale)
