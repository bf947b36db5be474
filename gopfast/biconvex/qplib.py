"""Biconvex problems from QPLIB's files, read by pyqplib (``pip install gopfast[qplib]``).

Its matrices are taken and not its values: `pyqplib.Problem.obj_val` (0.1.8) leaves out one of both triangles.
"""

from pathlib import Path

import numpy as np
from scipy import sparse

from gopfast.biconvex.problem import BiconvexProblem, QuadraticRow
from gopfast.errors import InputError


def read(path) -> BiconvexProblem:
    """Read a .qplib file; see `BiconvexProblem.read`. Variables are x1, x2, ... as QPLIB numbers them."""
    try:
        import pyqplib
    except ImportError as error:
        raise ImportError("files of QPLIB are read by pyqplib: pip install gopfast[qplib]") from error
    path = Path(path)
    with path.open("rb"):  # a missing file is the system's error
        pass
    try:
        source = pyqplib.read_problem(str(path))
    except Exception as error:  # it states what it expects by assertions
        shown = str(error) or type(error).__name__
        raise InputError(f"{path}: pyqplib cannot read this file ({shown})") from None
    for number, kind in enumerate(source.var_types, 1):
        if kind is not pyqplib.VarType.CONTINUOUS:
            raise InputError(f"{path}: variable 'x{number}' is {kind.name.lower()}; all must be continuous")
    try:
        return _problem(pyqplib, source, path.stem)
    except InputError as error:
        raise type(error)(f"{path}: {error}") from None


def _problem(pyqplib, source, name):
    linear, quadratic = {}, []
    if source.num_cons:
        rows = sparse.csr_array(source.constraints.mat)
        forms = getattr(source.constraints, "hess_mats", [None] * source.num_cons)
        curved = np.array([bool(form) for form in forms])
        for r in np.flatnonzero(curved):
            row = rows[[r]].toarray().ravel()
            quadratic.append(QuadraticRow(_half(forms[r]), row, source.cons_lb[r], source.cons_ub[r]))
        if not curved.all():
            linear = {
                "A": rows[np.flatnonzero(~curved)],
                "row_lower": source.cons_lb[~curved], "row_upper": source.cons_ub[~curved],
            }  # fmt: skip
    objective = source.obj
    return BiconvexProblem(
        objective.lin,
        Q=_half(objective.mat) if hasattr(objective, "mat") else None,
        **linear,
        quadratic_rows=quadratic,
        lower=source.var_lb,
        upper=source.var_ub,
        sense="max" if objective.sense is pyqplib.Sense.MAXIMIZE else "min",
        constant=objective.offset,
        names=[f"x{number}" for number in range(1, source.num_vars + 1)],
        name=source.name or name,
    )


def _half(matrix):
    """Return Q / 2 of a lower triangle: QPLIB's forms are x'Qx / 2."""
    return sparse.csr_array(0.5 * matrix.full())
