"""The default floor of free variances: spread and resolution of each column, and how narrow sound local fits are.

Theory: (A6) of docs/theory/problem.md.
"""

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures.problems.local_fits import below_fits
from gopfast.mixtures.problems.margins import DOUBLE_NOISE, SINGLE_NOISE
from gopfast.mixtures.problems.row_sample import RowSample
from gopfast.mixtures.problems.tuning import (
    ABOVE_FLOOR,
    CONSTANT_FLOOR,
    FEWEST_VALUES,
    FLOOR_SHARE,
    LEAST_STEP,
    LEAST_STEP_SHARE,
    OFF_STEP,
    SAMPLE,
)


def default_floors(X, weight, make_kind):
    """
    Compute the floor of every column that nobody has chosen.

    The square of 0.05 standard deviations or, where components of sound local fits are narrower than twice that, this
    divided by a power of 2, so that it is a quarter to an eighth of their least variances; but at least the square of
    half the resolution: components narrower than the steps of rounded data are spikes on single values. Of matrices
    this holds in every direction, and steps count less where local fits are narrower between the columns. Of a constant
    column, to which any floor gives the same fit, the least floor of the others.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    weight : ndarray, shape (n,)
        At least 0, not all 0.
    make_kind : callable (least) -> CovarianceKind
        Makes the kind of covariance, of so many components, with a floor of shape (d,).

    Returns
    -------
    ndarray, shape (d,)
        In squared units of X.

    Raises
    ------
    InputError
        If the variance of a column underflows.
    """
    used = X if weight.min() > 0.0 else X[weight > 0.0]
    share = weight / weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        variances = share @ np.square(X - share @ X)
    sample = RowSample(X.shape[1]).add(X, weight)
    return floors_of(variances, used.min(axis=0), used.max(axis=0), used.T, sample, make_kind)


def floors_of(variances, low, high, values, sample, make_kind):
    """
    Compute the same from variances and ends of the columns (d,), values that show their resolution, and some rows.

    Parameters
    ----------
    variances, low, high : ndarray, shape (d,)
    values : sequence of ndarray
        All of a column or, sorted, the distinct ones of them; empty: it has no resolution.
    sample : RowSample
        Of the data, for local fits.
    make_kind : callable (least) -> CovarianceKind
    """
    with np.errstate(over="ignore"):
        ranges = high - low
    constant = _constant(low, high)
    varying = np.flatnonzero(~constant)
    if not (variances[varying] > 0.0).all():
        raise InputError("variance_floor must be given: the variance of a column of X underflows")
    shares, resolved = FLOOR_SHARE**2 * variances, np.zeros(len(variances))
    for j in varying:
        if len(values[j]):
            resolved[j] = (0.5 * resolution(values[j], LEAST_STEP_SHARE * np.sqrt(variances[j]))) ** 2
    floors = np.maximum(shares, resolved)
    if varying.size and np.isfinite(shares).all():  # infinite variances are refused with the data
        rows, weight, kind = sample.rows[:, varying], sample.weight, make_kind(shares)
        if kind.free_form or (shares > resolved)[varying].any():
            floors[varying] = below_fits(rows, weight, make_kind, shares[varying], resolved[varying])
        if not kind.floor_per_column:  # variances that are pooled over constant columns, too
            floors *= min(1.0, 0.5 * ABOVE_FLOOR * varying.size / floors.size)
    # The noise of a column that is constant but for rounding stays below its floor.
    least = floors[varying].min() if varying.size else CONSTANT_FLOOR
    floors[constant] = np.maximum(least, np.square(ranges[constant]))
    return floors


def constant_columns(X, weight):
    """Whether each column has one value only, but for rounding, in the samples of positive weight; shape (d,)."""
    used = X if weight.min() > 0.0 else X[weight > 0.0]
    return _constant(used.min(axis=0), used.max(axis=0))


def _constant(low, high):
    with np.errstate(over="ignore"):
        return high - low <= DOUBLE_NOISE * np.maximum(np.abs(low), np.abs(high))


def resolution(values, least=0.0):
    """
    Find the step of numbers that were rounded or counted: the least distance between distinct ones.

    Parameters
    ----------
    values : ndarray, shape (n,)
    least : float
        Steps up to this do not matter.

    Returns
    -------
    float
        0 where the distances are not all multiples of the least, as in continuous data, where there are fewer than
        four values, or where the step is not above `least`.
    """
    size = float(np.abs(values).max())
    for noise in (DOUBLE_NOISE * size, SINGLE_NOISE * size):
        # The step of a part is no smaller than that of all.
        if len(values) > SAMPLE and not _gaps(values[:SAMPLE], noise).min(initial=np.inf) > least:
            continue
        gaps = _gaps(values, noise)
        step = gaps.min(initial=np.inf)
        if len(gaps) < FEWEST_VALUES - 1 or not (step > least and step >= LEAST_STEP * noise):
            continue
        times = np.rint(gaps / step)
        if (np.abs(gaps - times * step) <= np.minimum(4.0 * noise * (1.0 + times), OFF_STEP * step)).all():
            return float(step)
    return 0.0


def _gaps(values, noise):
    """Distances between neighbouring values, those of equal ones left out."""
    with np.errstate(over="ignore"):
        gaps = np.diff(np.unique(values))
    return gaps[gaps > noise]
