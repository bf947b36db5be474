"""Forged checkpoints: each entry in turn removed, of another kind or shape, huge, NaN, negative, or another's."""

import json
import os
import tempfile
import zipfile

import numpy as np

import gopfast
from gopfast.search import files

from .failure import Failure

FORGERIES = ("removed", "floats", "integers", "flat", "longer", "shorter", "empty", "huge", "nan", "infinite",
             "negative", "one more", "shuffled", "another")  # fmt: skip
OF_HEADERS = (None, [], {}, "text", -1, 1e308, True, [[1.0, 2, 3, "../x"]], {"class": []}, [[1e400, 1, 1, "a"]])
MOST_DRAWS = 50  # of problems, until a search leaves open nodes
LIMITS = {"log": False, "n_threads": 1, "time_limit": 2.0, "max_nodes": 200}


def forged(kind, arrays, name, rng):
    """The arrays of a file, with one forged."""
    arrays, value = dict(arrays), arrays[name]
    others = sorted(set(arrays) - {name})
    with np.errstate(all="ignore"):
        if kind == "removed":
            del arrays[name]
            return arrays
        number = np.asarray(value)
        arrays[name] = {
            "floats": lambda: number.astype(float) + 0.5,
            "integers": lambda: np.nan_to_num(number.astype(float), posinf=9.0, neginf=-9.0).clip(-9, 9).astype(int),
            "flat": lambda: number.reshape(-1) if number.ndim != 1 else number[None],
            "longer": lambda: np.concatenate([np.atleast_1d(number)] * 2),
            "shorter": lambda: np.atleast_1d(number)[:-1],
            "empty": lambda: np.zeros(0, dtype=number.dtype),
            "huge": lambda: np.full_like(number, 1e300 if number.dtype.kind == "f" else np.iinfo(np.int64).max // 2
                                         if number.dtype.itemsize == 8 else 100),
            "nan": lambda: np.full(number.shape, np.nan),
            "infinite": lambda: np.full(number.shape, np.inf),
            "negative": lambda: -np.abs(number.astype(float if number.dtype.kind == "f" else np.int64)) - 7,
            "one more": lambda: number + np.ones((), dtype=number.dtype),
            "shuffled": lambda: rng.permutation(number.reshape(-1)).reshape(number.shape),
            "another": lambda: arrays[others[rng.integers(len(others))]],
        }[kind]()  # fmt: skip
    return arrays


def read(path):
    """The header and the arrays of a file."""
    reader = files.Reader(path)
    names = [name for name in reader.archive.namelist() if name.endswith(".npy")]
    found = reader.header, {name[:-4]: reader._array(name) for name in names}
    reader.close()
    return found


def attempts(header, arrays, rng, share=1.0):
    """Yield (what, header, arrays) of each forgery."""
    for name in sorted(arrays):
        for kind in FORGERIES:
            if rng.random() < share:
                yield f"{name} {kind}", header, forged(kind, arrays, name, rng)
    for name in sorted(header):
        for value in OF_HEADERS:
            if rng.random() < share:
                yield f"header {name} {value!r}", {**header, name: value}, arrays
        yield f"header {name} removed", {key: value for key, value in header.items() if key != name}, arrays
    yield "no nodes", header, {name: value for name, value in arrays.items() if not name.startswith("nodes")}
    dives = {name: value for name, value in arrays.items() if not name.startswith("nodes")}
    yield "dives", header, {**dives, "state.search.dives": np.array(True)}


def attack(path, problem, rng, share=1.0, tell=None):
    """Resume from forgeries of a checkpoint: one `CheckpointError`, or a result; their number, and the errors'."""
    header, arrays = read(path)
    tried = refused = 0
    for what, other, changed in attempts(header, arrays, rng, share):
        if tell is not None:
            tell(what)
        files.write(path, other, [("", changed)], sync=False)
        tried += 1
        try:
            result = gopfast.resume(path, problem, **LIMITS)
        except gopfast.CheckpointError as error:
            refused += 1
            if str(path) not in str(error):
                raise Failure("an error that names no file", {"what": what, "error": str(error)}) from error
        except Exception as error:
            raise Failure("uncaught", {"what": what, "error": repr(error)}) from error
        else:
            if not result.lower_bound <= result.objective:
                raise Failure("bounds crossed", {"what": what})
    refused += attack_archive(path, header, arrays, problem)
    files.write(path, header, [("", arrays)], sync=False)
    return tried, refused


def attack_archive(path, header, arrays, problem):
    """Entries that say to be far larger than the file, and compressed ones."""
    name = sorted(arrays)[0]
    huge = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + (
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }".ljust(117) + "\n").encode()
    for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(path, "w", how) as archive:
            archive.writestr(files.HEADER, json.dumps(header))
            archive.writestr(f"{name}.npy", huge if how == zipfile.ZIP_STORED else bytes(10**7))
        try:
            gopfast.resume(path, problem, **LIMITS)
        except gopfast.CheckpointError:
            continue
        raise Failure("an archive of another kind passes", {"how": how})
    return 2


def problems(rng):
    """Problems of each kind, with a search that is stopped after some nodes, while others are open."""
    X, grid = rng.normal(size=(30, 2)), np.stack(np.meshgrid(np.arange(5.0), np.arange(7.0)), -1).reshape(-1, 2)
    n = 6  # products in a cycle, a convex form, and rows to lift: all that a node's basis covers
    Q, i = np.zeros((2 * n, 2 * n)), np.arange(n)
    Q[i, i + n], Q[i[:-1], i[:-1] + n + 1] = 3.0 * rng.normal(size=n), 3.0 * rng.normal(size=n - 1)
    Q[n - 1, n], Q[np.arange(2 * n), np.arange(2 * n)] = 3.0, 0.3
    biconvex = gopfast.BiconvexProblem(
        c=rng.normal(size=2 * n), Q=Q, A=rng.uniform(-1.0, 1.0, (4, 2 * n)), row_lower=np.zeros(4),
        row_upper=np.ones(4), lower=-np.ones(2 * n), upper=np.ones(2 * n),
    )  # fmt: skip
    return {
        "known": (gopfast.GaussianMixture(X[:, 0], 4, covariance="known"), {"max_nodes": 60}),
        "diag": (gopfast.GaussianMixture(X, 2, covariance="diag"), {"max_nodes": 60}),
        "pricing": (gopfast.GaussianMixture(X[:, 0], 2, covariance="diag"),
                    {"max_nodes": 150, "relaxation": "pricing", "epsilon": 1e-3}),
        "categorical": (gopfast.CategoricalMixture(rng.integers(0, 3, (25, 3)), 2), {"max_nodes": 60}),
        "biconvex": (biconvex, {"max_nodes": 3, "rel_tol": 1e-9}),
        "k-means": (gopfast.KMeans(grid[rng.permutation(35)] * rng.uniform(0.1, 9.0), 5), {"max_nodes": 2}),
    }  # fmt: skip


def run(name, seed, share=0.2, tell=None):
    """One case of the fuzzer: forgeries of a checkpoint of one kind of problem; how many, and how many were refused."""
    rng = np.random.default_rng([seed, 10])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "search.checkpoint")
        for _ in range(MOST_DRAWS):
            problem, options = problems(rng)[name]
            gopfast.solve(problem, checkpoint=path, log=False, n_threads=1, **options)
            if n_open(path):
                return attack(path, problem, rng, share, tell)
    raise Failure("no problem leaves open nodes", {"name": name, "seed": seed})


def n_open(path):
    """How many open nodes a file has."""
    if not os.path.exists(path):
        return 0
    _, arrays = read(path)
    return sum(len(value) for name, value in arrays.items() if name.startswith("nodes") or name == "state.node.lower")
