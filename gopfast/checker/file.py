"""The file of a proof: a NumPy archive without pickles.

``header``: JSON text, with

- ``format`` ("gopfast-proof"), ``version`` (1);
- ``digest``: SHA-256 of the problem's data, see `digest`;
- ``problem``: ``family`` ("known", "diag", "spherical" or "exponential_family"), ``n_components``, and
  ``noise_variance``, ``covariance`` and ``variance_floor``, or ``kinds`` (of every column) and ``labels``;
- ``claim``: ``lower_bound``, ``objective`` and ``solution`` (weights, means, variances);
- ``order``: the column that the components are ordered by; ``reference``: what samples are taken relative to (d,).

``splits`` (M,) and ``points`` (M,): the tree, see `gopfast.checker.tree`. ``slopes`` (L, K, d or 2 d) and
``log_weights`` (L, K): of the leaves that are not empty, in the tree's order.
"""

import hashlib
import json
import zipfile

import numpy as np

from .errors import ProofError

FORMAT, VERSION = "gopfast-proof", 1
ARRAYS = {"splits": np.int32, "points": np.float64, "slopes": np.float64, "log_weights": np.float64}


def digest(X, weights):
    """SHA-256 of samples (N, d) and weights (N,), as little-endian doubles after their shape."""
    text = hashlib.sha256(np.array(X.shape, dtype="<i8").tobytes())
    for array in (X, weights):
        text.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return text.hexdigest()


def write(path, header, arrays):
    """Write a proof."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **header}, allow_nan=False)
    np.savez_compressed(path, header=np.array(text), **{name: np.asarray(arrays[name], kind)
                                                        for name, kind in ARRAYS.items()})  # fmt: skip


def read(path):
    """
    Read a proof.

    Returns
    -------
    header : dict
    arrays : dict

    Raises
    ------
    ProofError
        If the file is none.
    OSError
        If it cannot be opened.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            arrays = {name: np.asarray(archive[name], dtype=kind) for name, kind in ARRAYS.items()}
    except OSError:
        raise
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise ProofError("file", f"is no proof ({error})") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ProofError("header", "is not that of a proof")
    if header.get("version") != VERSION:
        raise ProofError("header", f"version {header.get('version')}; this program knows version {VERSION}")
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array[array == array]).all():
            raise ProofError(name, "has infinite numbers")
        if name != "points" and array.dtype.kind == "f" and np.isnan(array).any():
            raise ProofError(name, "has entries that are no numbers")
    return header, arrays
