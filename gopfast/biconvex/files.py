"""Biconvex problems from the files of other software, read by SCIP; needs PySCIPOpt (``pip install gopfast[files]``).

SCIP's readers give a nonlinear objective a variable and a row of its own; here it becomes the objective again. They run
in a process of their own (`scip`), for a file may crash them or keep them for ever.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from gopfast.biconvex import nl
from gopfast.biconvex.problem import BiconvexProblem
from gopfast.biconvex.products import lifted
from gopfast.biconvex.tuning import LIMIT, LIMIT_EACH
from gopfast.errors import InputError

# Read by SCIP; what compression it knows depends on how it was built, so that files must be unpacked.
SUFFIXES = (".lp", ".mps", ".nl")
# Some programs write the blank, which SCIP's reader of LP files does not take.
SPACED_SQUARE = re.compile(r"\^\s+2")
READER = Path(__file__).with_name("scip.py")
# Runs a script without its folder in the path, whose modules could be taken for others
RUN = "import runpy, sys; sys.argv[:1] = []; runpy.run_path(sys.argv[0], run_name='__main__')"


def read(path) -> BiconvexProblem:
    """Read an LP, MPS (also with QCMATRIX sections) or AMPL (.nl) file; see `BiconvexProblem.read`."""
    path = Path(path)
    with path.open("rb"):  # a missing file is the system's error, not SCIP's
        pass
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        known = ", ".join((".json", ".qplib", *SUFFIXES))
        raise InputError(f"{path}: problems are read from {known} files; got {suffix or 'none'!r}")
    if suffix == ".nl" and not nl.is_binary(path):
        model = nl.read(path)
        if not model.is_quadratic:
            raise InputError(f"{path}: has more than products of two: gopfast.PolynomialProblem.read reads this file")
        return lifted(model).problem
    if importlib.util.find_spec("pyscipopt") is None:
        raise ImportError("files of other software are read by PySCIPOpt: pip install gopfast[files]")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "problem" + suffix)
        if suffix == ".lp":
            source.write_text(SPACED_SQUARE.sub("^2", path.read_text(encoding="utf-8", errors="replace")), "utf-8")
        else:
            source.write_bytes(path.read_bytes())
        record = _read(source, path, folder)
        try:
            return _problem(record, path.stem)
        except InputError as error:
            raise type(error)(f"{path}: {error}") from None


def _read(source, path, folder):
    """Return the record of `scip`, made in a process of its own; `path` is what the user called the file."""
    target = Path(folder, "terms.json")
    arguments = [sys.executable, "-c", RUN, str(READER), str(source), folder, str(target)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    limit = LIMIT + LIMIT_EACH * source.stat().st_size
    try:
        done = subprocess.run(
            arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=limit,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"{path}: SCIP's reader did not come to an end within {limit:.0f} s") from None
    try:
        record = json.loads(target.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        code = done.returncode
        raise InputError(f"{path}: SCIP cannot read this file, its reader broke down (code {code})") from None
    if "error" in record:
        raise InputError(f"{path}: {record['error']}")
    return record


def _problem(record, name):
    n = len(record["names"])
    linear = [row for row in record["rows"] if not row[1]]
    quadratic = [row for row in record["rows"] if row[1]]
    A = sparse.dok_array((len(linear), n))
    for r, (a, *_) in enumerate(linear):
        for i, value in a:
            A[r, i] = value
    bounded = {"A": A.tocsr(), "row_lower": [row[2] for row in linear], "row_upper": [row[3] for row in linear]}
    c, objective_form = record["objective"]
    return BiconvexProblem(
        _dense(c, n),
        Q=_form(objective_form, n) if objective_form else None,
        **(bounded if linear else {}),
        quadratic_rows=[(_form(q, n), _dense(a, n), lower, upper) for a, q, lower, upper in quadratic],
        lower=record["lower"],
        upper=record["upper"],
        sense=record["sense"],
        constant=record["constant"],
        names=record["names"],
        name=name,
    )


def _dense(terms, n):
    values = np.zeros(n)
    for i, value in terms:
        values[i] = value
    return values


def _form(terms, n):
    form = sparse.dok_array((n, n))
    for i, j, value in terms:
        form[i, j] = value
    return form.tocsr()
