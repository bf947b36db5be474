"""Reading the entries of a proof: of the right kind and shape, or a `ProofError` that names them."""

import math

import numpy as np

from .errors import ProofError

LARGEST = 1e100  # what is beyond has squares and products that overflow


def item(record, name, entry):
    """Return an entry of an object."""
    if not isinstance(record, dict) or name not in record:
        raise ProofError(entry, f"has no {name}")
    return record[name]


def whole(record, name, entry, least, most):
    """Return a whole number between bounds."""
    value = item(record, name, entry)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ProofError(entry, f"{name} must be a whole number from {least} to {most}")
    return value


def number(record, name, entry):
    """Return a number."""
    value = item(record, name, entry)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LARGEST:
        raise ProofError(entry, f"{name} must be a number of at most {LARGEST:g}")
    return float(value)


def numbers(record, name, entry, shape, least=-math.inf):
    """Numbers of at least `least`, of a shape."""
    array = reals(item(record, name, entry), f"{entry}: {name}")
    if array.shape != shape or not (array >= least).all():
        raise ProofError(entry, f"{name} must be numbers of at least {least:g}, of shape {shape}")
    return array


def weights_of(sample_weight, n):
    """Weights of samples (n,), of at least 0 and not all 0; None: all are 1."""
    weights = reals(np.ones(n) if sample_weight is None else sample_weight, "sample_weight")
    if weights.shape != (n,) or not (weights >= 0).all() or not weights.sum() > 0:
        raise ProofError("sample_weight", "must be one number of at least 0 per sample, not all 0")
    return weights


def reals(value, entry):
    """Numbers as an array of floats, not too large."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "OSU":
            array = np.array([[float(x) for x in row] if isinstance(row, (list, tuple, np.ndarray)) else float(row)
                              for row in value])  # fmt: skip
        array = np.array(array, dtype=float) if array.dtype.kind in "biuf" else np.array([np.nan])
    except (TypeError, ValueError, OverflowError):
        raise ProofError(entry, "must be numbers") from None
    if not (np.abs(array) <= LARGEST).all():
        raise ProofError(entry, f"must be numbers of at most {LARGEST:g}")
    return array
