"""The file of a proof: a NumPy archive without pickles, of the header and the arrays of its kind and nothing else.

``header``: JSON text, with ``format`` ("gopfast-proof"), ``version`` (2), ``kind``, ``digest`` (SHA-256 of the
problem's data), ``claim`` (what is proved, and the solution) and

- ``mixture``: ``problem``, see `problem`; ``claim`` has ``lower_bound``, ``objective`` and ``solution`` (weights,
  means, and what else `objective` takes); ``order``: the variable that the components are ordered by; ``reference``:
  what samples are taken relative to (d,). ``splits`` (M,) and ``points`` (M,): the tree, see `tree`. ``slopes`` (L, K,
  d or 2 d) and ``log_weights`` (L, K): of the leaves that are not empty, in the tree's order;
- ``biconvex``, ``clustering``: see the modules of these names.
"""

import hashlib
import io
import json
import zipfile
from os import PathLike

import numpy as np

from .errors import ProofError

FORMAT, VERSION = "gopfast-proof", 2
INTEGERS, REALS = "int32", "float64"
# Kind -> keys of the header, and of every array its type and number of dimensions.
KEYS = {"mixture": {"problem", "order", "reference"}, "biconvex": set(), "clustering": {"problem"}}
ARRAYS = {
    "mixture": {"splits": (INTEGERS, 1), "points": (REALS, 1), "slopes": (REALS, 3), "log_weights": (REALS, 2)},
    "biconvex": {
        "splits": (INTEGERS, 1), "points": (REALS, 1),
        "starts": (INTEGERS, 1), "first": (INTEGERS, 1), "second": (INTEGERS, 1), "multipliers": (REALS, 1),
        "cuts": (INTEGERS, 1), "variables": (INTEGERS, 1), "slopes": (REALS, 1), "ends": (REALS, 1),
        "vectors": (REALS, 2),
    },
    "clustering": {"pairs": (INTEGERS, 2), "prices": (REALS, 2)},
}  # fmt: skip


def digest(X, weights):
    """SHA-256 of samples (N, d) and weights (N,), as little-endian doubles after their shape."""
    text = hashlib.sha256(np.array(X.shape, dtype="<i8").tobytes())
    for array in (X, weights):
        text.update(np.ascontiguousarray(array + 0.0, dtype="<f8").tobytes())  # -0.0 is 0.0
    return text.hexdigest()


def pack(kind, header, arrays):
    """Return a proof as bytes."""
    text = json.dumps({"format": FORMAT, "version": VERSION, "kind": kind, **header}, allow_nan=False)
    found = {"header": np.array(text)}
    found |= {name: np.asarray(arrays[name], dtype) for name, (dtype, _) in ARRAYS[kind].items()}
    target = io.BytesIO()
    # as numpy.savez_compressed, with the compression that takes the least time
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in found.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return target.getvalue()


def read(proof):
    """
    Read a proof.

    Parameters
    ----------
    proof : str, path-like or bytes

    Returns
    -------
    header : dict
    arrays : dict

    Raises
    ------
    ProofError
        If it is none.
    OSError
        If the file cannot be opened.
    """
    if isinstance(proof, (str, PathLike)):
        with open(proof, "rb") as source:
            proof = source.read()
    try:
        with np.load(io.BytesIO(proof), allow_pickle=False) as archive:
            names = sorted(archive.files)
            header = json.loads(str(archive["header"]))
            arrays = {name: archive[name] for name in names if name != "header"}
    except Exception as error:  # whatever reading an archive that is none may raise
        raise ProofError("file", f"is no proof ({type(error).__name__}: {error})") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ProofError("header", "is not that of a proof")
    if type(header.get("version")) is not int or header["version"] != VERSION:
        raise ProofError("header", f"version {header.get('version')!r}; this program knows version {VERSION}")
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in ARRAYS:
        raise ProofError("header", f"kind {kind!r} is unknown; there are {', '.join(ARRAYS)}")
    if names != sorted([*ARRAYS[kind], "header"]):
        raise ProofError("file", f"must hold the header and {', '.join(ARRAYS[kind])}, each once; it has {names}")
    wanted = {"format", "version", "kind", "digest", "claim", *KEYS[kind]}
    if header.keys() != wanted:
        raise ProofError("header", f"must have {', '.join(sorted(wanted))}")
    for name, (dtype, n_dimensions) in ARRAYS[kind].items():
        array = arrays[name]
        if array.dtype != np.dtype(dtype) or array.ndim != n_dimensions:
            raise ProofError(name, f"must be {dtype} of {n_dimensions} dimensions")
        if not np.isfinite(array).all():
            raise ProofError(name, "has entries that are no numbers")
    return header, arrays
