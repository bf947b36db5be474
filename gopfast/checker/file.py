"""The file of a proof: a NumPy archive without pickles.

``header``: JSON text, with

- ``format`` ("gopfast-proof"), ``version`` (1);
- ``digest``: SHA-256 of the problem's data, see `digest`;
- ``problem``: see `problem`;
- ``claim``: ``lower_bound``, ``objective`` and ``solution`` (weights, means, and what else `objective` takes);
- ``order``: the variable that the components are ordered by; ``reference``: what samples are taken relative to (d,).

``splits`` (M,) and ``points`` (M,): the tree, see `tree`. ``slopes`` (L, K, d or 2 d) and ``log_weights`` (L, K): of
the leaves that are not empty, in the tree's order.
"""

import hashlib
import json

import numpy as np

from .errors import ProofError

FORMAT, VERSION = "gopfast-proof", 1
# Kind and number of dimensions.
ARRAYS = {"splits": ("int32", 1), "points": ("float64", 1), "slopes": ("float64", 3), "log_weights": ("float64", 2)}


def digest(X, weights):
    """SHA-256 of samples (N, d) and weights (N,), as little-endian doubles after their shape."""
    text = hashlib.sha256(np.array(X.shape, dtype="<i8").tobytes())
    for array in (X, weights):
        text.update(np.ascontiguousarray(array + 0.0, dtype="<f8").tobytes())  # -0.0 is 0.0
    return text.hexdigest()


def write(path, header, arrays):
    """Write a proof."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **header}, allow_nan=False)
    kinds = {name: np.asarray(arrays[name], kind) for name, (kind, _) in ARRAYS.items()}
    with open(path, "wb") as target:
        np.savez_compressed(target, header=np.array(text), **kinds)


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
    with open(path, "rb") as source:
        try:
            with np.load(source, allow_pickle=False) as archive:
                header = json.loads(str(archive["header"]))
                arrays = {name: archive[name] for name in ARRAYS}
        except Exception as error:  # whatever reading an archive that is none may raise
            raise ProofError("file", f"is no proof ({type(error).__name__}: {error})") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ProofError("header", "is not that of a proof")
    if type(header.get("version")) is not int or header["version"] != VERSION:
        raise ProofError("header", f"version {header.get('version')!r}; this program knows version {VERSION}")
    for name, (kind, n_dimensions) in ARRAYS.items():
        array = arrays[name]
        if array.dtype != np.dtype(kind) or array.ndim != n_dimensions:
            raise ProofError(name, f"must be {kind} of {n_dimensions} dimensions")
        if not np.isfinite(array).all():
            raise ProofError(name, "has entries that are no numbers")
    return header, arrays
