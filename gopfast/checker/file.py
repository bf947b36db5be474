"""The file of a proof: a NumPy archive without pickles, of the header and the arrays of its kind and nothing else.

An array ``name`` may be in parts, ``name/0``, ``name/1`` and so on, one after the other.

``header``: JSON text, with ``format`` ("gopfast-proof"), ``version`` (7), ``kind``, ``digest`` (SHA-256 of the
problem's data), ``claim`` (what is proved, and the solution) and

- ``mixture``: ``problem``, see `problem`; ``claim`` has ``lower_bound``, ``objective`` and ``solution`` (weights,
  means, and what else `objective` takes); ``order``: the variable that the components are ordered by; ``reference``:
  what samples are taken relative to (d,); ``axes``: null, of covariance matrices the coordinates (d, d),
  see `matrices`, or of regressions the places (q, d), see `regressions`. ``splits`` (M, 4) and ``points``
  (M,): the tree, see `tree`. ``leaves`` (L,): labels of leaves, with
  ``slopes`` (L, K, number that the family has) and ``log_weights`` (L, K, with noise K + 1), see `Bounds.of`.
  ``prices`` (N,) of the different samples, in the order of `Problem.merged`, or (0,); ``cells`` (M', 4) and
  ``cell_points`` (M',): the tree of one component's cells; ``cell_leaves`` (C,), with
  ``cell_slopes`` (C, that number) and ``cell_scales`` (C,), see `prices`. ``blocks`` (B, d): how often every
  column counts in a block, 0 or a power of 2, with ``block_weights`` (B,),
  ``block_sizes`` (B, 2), the numbers of its splits and of its entries, and ``block_prices`` (B, N); of all blocks, one
  after the other, ``block_cells`` (, 4), ``block_points``, ``block_leaves``, ``block_slopes`` (, that number; 0 for
  other columns) and ``block_scales``, see `blocks`. ``hull_prices`` (S, N), ``hull_means`` (S, J, d),
  ``hull_precisions`` (S, J) and ``hull_limits`` (S,): see `hull`;
- ``biconvex``, ``clustering``, ``clusterwise``, ``shared_coefficients``: see the modules of these names.

Theory: (V1) of docs/theory/proofs.md.
"""

import hashlib
import io
import json
import zipfile
from os import PathLike

import numpy as np

from .errors import ProofError
from .tuning import MOST_BYTES

FORMAT, VERSION = "gopfast-proof", 7
INTEGERS, REALS, BYTES = "int32", "float64", "uint8"
# Kind -> keys of the header, and of every array its type and number of dimensions.
KEYS = {
    "mixture": {"problem", "order", "reference", "axes"}, "biconvex": set(), "clustering": {"problem"},
    "clusterwise": {"problem", "axes", "unit"}, "shared_coefficients": {"problem", "direction"},
}  # fmt: skip
ARRAYS = {
    "mixture": {
        "splits": (INTEGERS, 2), "points": (REALS, 1),
        "leaves": (INTEGERS, 1), "slopes": (REALS, 3), "log_weights": (REALS, 2),
        "prices": (REALS, 1), "cells": (INTEGERS, 2), "cell_points": (REALS, 1),
        "cell_leaves": (INTEGERS, 1), "cell_slopes": (REALS, 2), "cell_scales": (REALS, 1),
        "blocks": (INTEGERS, 2), "block_weights": (REALS, 1), "block_sizes": (INTEGERS, 2), "block_prices": (REALS, 2),
        "block_cells": (INTEGERS, 2), "block_points": (REALS, 1),
        "block_leaves": (INTEGERS, 1), "block_slopes": (REALS, 2), "block_scales": (REALS, 1),
        "hull_prices": (REALS, 2), "hull_means": (REALS, 3), "hull_precisions": (REALS, 2), "hull_limits": (REALS, 1),
    },
    "biconvex": {
        "splits": (INTEGERS, 1), "points": (REALS, 1),
        "starts": (INTEGERS, 1), "first": (INTEGERS, 1), "second": (INTEGERS, 1), "multipliers": (REALS, 1),
        "cuts": (INTEGERS, 1), "variables": (INTEGERS, 1), "slopes": (REALS, 1), "ends": (REALS, 1),
        "vectors": (REALS, 2), "hyperbolas": (INTEGERS, 1), "tangents": (REALS, 2), "directions": (REALS, 2),
        "lines": (INTEGERS, 1), "line_slopes": (REALS, 1),
    },
    "clustering": {"pairs": (INTEGERS, 2), "prices": (REALS, 2)},
    "clusterwise": {
        "splits": (INTEGERS, 2), "points": (REALS, 1), "prices": (REALS, 2), "limits": (REALS, 1),
    },
    "shared_coefficients": {
        "values": (REALS, 1), "slopes": (REALS, 1), "sizes": (INTEGERS, 1), "proofs": (BYTES, 1),
        "blocks": (INTEGERS, 2),
    },
}  # fmt: skip


def digest(X, weights):
    """SHA-256 of samples (N, d) and weights (N,), as little-endian doubles after their shape."""
    text = hashlib.sha256(np.array(X.shape, dtype="<i8").tobytes())
    for array in (X, weights):
        text.update(np.ascontiguousarray(array + 0.0, dtype="<f8").tobytes())  # -0.0 is 0.0
    return text.hexdigest()


class Writer:
    """
    A proof that is written as it is found.

    Parameters
    ----------
    target : str, path-like or binary file
    kind : str
    """

    def __init__(self, target, kind):
        # as numpy.savez_compressed, with the compression that takes the least time
        self.archive, self.kind = zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1), kind
        self.n_parts = dict.fromkeys(ARRAYS[kind], 0)

    def add(self, name, array):
        """Write the next part of an array."""
        self._put(f"{name}/{self.n_parts[name]}", np.asarray(array, ARRAYS[self.kind][name][0]))
        self.n_parts[name] += 1

    def finish(self, header):
        """Write the header, and the end of the archive."""
        text = json.dumps({"format": FORMAT, "version": VERSION, "kind": self.kind, **header}, allow_nan=False)
        self._put("header", np.array(text))
        self.archive.close()

    def abandon(self):
        """End the archive as it is, so that nothing is written later on."""
        self.archive.close()

    def _put(self, name, array):
        with self.archive.open(f"{name}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, array, allow_pickle=False)


def pack(kind, header, arrays):
    """Return a proof as bytes."""
    target = io.BytesIO()
    writer = Writer(target, kind)
    for name in ARRAYS[kind]:
        writer.add(name, arrays[name])
    writer.finish(header)
    return target.getvalue()


def _joined(archive):
    """Return the arrays of an archive, put together of their parts."""
    parts = {}
    if sum(member.file_size for member in archive.zip.infolist()) > MOST_BYTES:
        raise ProofError("file", f"must hold at most {MOST_BYTES:,} bytes")
    if len(set(archive.files)) < len(archive.files):
        raise ProofError("file", "must hold its entries each once")
    for name in archive.files:
        whole, _, number = name.partition("/")
        parts.setdefault(whole, {})[number] = own = archive[name]
        if not isinstance(own, np.ndarray):
            raise TypeError(f"{name} is no array")
    for name, own in parts.items():
        if "" in own and len(own) > 1 or "" not in own and set(own) != set(map(str, range(len(own)))):
            raise ProofError(name, "its parts are not all there, each once")
    arrays = {}
    for name, own in parts.items():
        own = [own[number] for number in sorted(own, key=lambda text: int(text or 0))]
        arrays[name] = own[0] if len(own) == 1 else np.concatenate(own)
    return arrays


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
            arrays = _joined(archive)
            names = sorted(arrays)
            header = json.loads(str(arrays.pop("header")))
    except ProofError:
        raise
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
