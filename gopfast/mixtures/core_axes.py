"""
Axes of the core's coordinates of mixtures with covariance matrices, from a local optimum.

Bounds hold for any axes (`gopfast.mixtures.families.affine`); these make them good. The optimum is the best of a few
short runs of EM, and a start of the first local search.
"""

import numpy as np

from gopfast.mixtures.families.axes import safest
from gopfast.mixtures.primal.em import short_runs


def canonical_axes(kind, X, sample_weight, n_components, floor):
    """
    Compute canonical variates of a good local optimum with one covariance for all.

    The covariance is the unit matrix there, and so uncorrelated are the means; the coordinate that tells the components
    apart most comes first. Principal axes of the covariance instead, where rounding costs too much in those.

    Parameters
    ----------
    kind : type
        The family: TiedFamily.
    X : ndarray, shape (n, d)
    sample_weight : ndarray, shape (n,)
    n_components : int
    floor : ndarray, shape (d,)
        Least variances, in squared units of X.

    Returns
    -------
    axes : ndarray, shape (d, d)
    fit : dict
        The optimum: weights, means and covariances in units of X.
    """
    # bounds of the covariance are not asked of the family of a few runs of EM
    family, vector = _local_optimum(kind, X, sample_weight, n_components, floor, False)
    K, d = n_components, X.shape[1]
    means = vector[K : K + K * d].reshape(K, d)
    covariance = family.covariances(vector)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance))
    between = (vector[:K, None] * means).T @ means
    canonical = np.linalg.eigh(whiten @ between @ whiten.T)[1].T[::-1] @ whiten
    values, vectors = np.linalg.eigh(covariance)
    principal = (vectors / np.sqrt(values)).T
    principal = principal[np.argsort(-np.sum(principal @ between * principal, axis=1), kind="stable")]
    candidates = [np.ascontiguousarray(axes @ family.axes) for axes in (canonical, principal, np.eye(d))]
    return safest(candidates, X, sample_weight, family.center, floor), _fit(family, vector)


def component_axes(kind, X, sample_weight, n_components, floor):
    """
    Compute axes along which the components of a good local optimum have about diagonal covariances.

    Their average is the unit matrix there, and that of the component that differs most from it is diagonal; with two
    components both are. The coordinate in which the data are widest comes first. Principal axes of the average instead,
    where rounding costs too much in those.

    Parameters
    ----------
    kind : type
        The family: FullFamily or MatrixFamily.
    X, sample_weight, n_components, floor
        As of `canonical_axes`.

    Returns
    -------
    axes, fit
        As of `canonical_axes`.
    """
    family, vector = _local_optimum(kind, X, sample_weight, n_components, floor)
    weights, covariances = vector[:n_components], family.covariances(vector)
    average = np.tensordot(weights, covariances, 1)
    whiten = np.linalg.inv(np.linalg.cholesky(average))
    covariances = whiten @ covariances @ whiten.T
    odd = np.argmax(weights * np.square(covariances - np.eye(len(floor))).sum(axis=(1, 2)))
    values, vectors = np.linalg.eigh(average)
    candidates = []
    for axes in (np.linalg.eigh(covariances[odd])[1].T @ whiten, (vectors / np.sqrt(values)).T, np.eye(len(floor))):
        axes = axes @ family.axes
        candidates.append(axes[np.argsort(-np.ptp(axes @ (X - family.center).T, axis=1), kind="stable")])
    return safest(candidates, X, sample_weight, family.center, floor), _fit(family, vector)


def _local_optimum(kind, X, sample_weight, n_components, floor, *options):
    """Return the family in units of the floor on some of the samples, and its best solution at hand."""
    axes = np.diag(1.0 / np.sqrt(floor))
    return short_runs(lambda X, weight: kind(X, weight, n_components, floor, axes, *options), X, sample_weight)


def _fit(family, vector):
    """Return a solution of the core as weights, means and covariances in the user's units."""
    return {"weights": vector[: family.n_components], **family.parameters(vector)}
