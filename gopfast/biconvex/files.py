"""Biconvex problems from the files of other software, read by SCIP; needs PySCIPOpt (``pip install gopfast[files]``).

SCIP's readers give a nonlinear objective a variable and a row of its own; here it becomes the objective again.
"""

import math
import re
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from gopfast.biconvex.problem import BiconvexProblem
from gopfast.errors import InputError

# Read by SCIP; what compression it knows depends on how it was built, so that files must be unpacked.
SUFFIXES = (".lp", ".mps", ".nl")
# What SCIP's readers call the variable that stands for a nonlinear objective.
OBJECTIVE_VARIABLES = ("quadobjvar", "nlobjvar")
# Some programs write the blank, which SCIP's reader of LP files does not take.
SPACED_SQUARE = re.compile(r"\^\s+2")


def read(path) -> BiconvexProblem:
    """Read an LP, MPS (also with QCMATRIX sections) or AMPL (.nl) file; see `BiconvexProblem.read`."""
    path = Path(path)
    with path.open("rb"):  # a missing file is the system's error, not SCIP's
        pass
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        known = ", ".join((".json", ".qplib", *SUFFIXES))
        raise InputError(f"{path}: problems are read from {known} files; got {suffix or 'none'!r}")
    with tempfile.TemporaryDirectory() as folder:
        source = path
        if suffix == ".lp":
            source = Path(folder, "problem.lp")
            source.write_text(SPACED_SQUARE.sub("^2", path.read_text(encoding="utf-8", errors="replace")), "utf-8")
        model = _read(source, path)
        if suffix == ".nl":
            # Its rows are expressions, of which SCIP tells the terms only once it has written and read them as an LP.
            copy = str(Path(folder, "copy.lp"))
            model.writeProblem(copy, verbose=False)
            model = _read(copy, path)
        try:
            return _Translation(model).problem(path.stem)
        except InputError as error:
            raise type(error)(f"{path}: {error}") from None


def _read(source, path):
    """Return SCIP's model of a file; `path` is what the user called it."""
    try:
        from pyscipopt import Model
    except ImportError as error:
        raise ImportError("files of other software are read by PySCIPOpt: pip install gopfast[files]") from error
    model = Model()
    model.hideOutput()
    try:
        model.readProblem(str(source))
    except Exception as error:  # PySCIPOpt raises OSError and Exception itself
        raise InputError(f"{path}: SCIP cannot read this file ({error}), see its message on standard error") from None
    return model


class _Translation:
    """The terms of a SCIP model, by number of variable."""

    def __init__(self, model):
        self.model, self.infinity = model, model.infinity()
        self.variables = model.getVars()
        if not self.variables:
            raise InputError("the model has no variables")
        self.index = {variable.name: i for i, variable in enumerate(self.variables)}
        for variable in self.variables:
            if variable.vtype() != "CONTINUOUS":
                raise InputError(f"variable {variable.name!r} is {variable.vtype().lower()}; all must be continuous")
        self.sense = "min" if model.getObjectiveSense() == "minimize" else "max"
        self.c = {i: variable.getObj() for i, variable in enumerate(self.variables) if variable.getObj()}
        self.constant, self.objective_form = model.getObjoffset(), {}
        self.rows = [self._row(constraint) for constraint in model.getConss()]

    def _limit(self, value):
        return math.copysign(math.inf, value) if abs(value) >= self.infinity else value

    def _row(self, constraint):
        """Return a row: linear coefficients, products with i <= j, lower and upper bound."""
        kind, linear, form = constraint.getConshdlrName(), {}, {}
        if kind == "linear":
            for name, value in self.model.getValsLinear(constraint).items():
                _add(linear, self.index[name], value)
        elif kind == "nonlinear" and self.model.checkQuadraticNonlinear(constraint):
            products, squares, terms = self.model.getTermsQuadratic(constraint)
            for first, second, value in products:
                _add(form, tuple(sorted((self.index[first.name], self.index[second.name]))), value)
            for variable, square, value in squares:
                _add(form, (self.index[variable.name],) * 2, square)
                _add(linear, self.index[variable.name], value)
            for variable, value in terms:
                _add(linear, self.index[variable.name], value)
        else:
            raise InputError(f"constraint {constraint.name!r} is neither linear nor quadratic ({kind})")
        return linear, form, self._limit(self.model.getLhs(constraint)), self._limit(self.model.getRhs(constraint))

    def _fold_objective(self):
        """Put the row of the variable that stands for a nonlinear objective back in its place."""
        for name in OBJECTIVE_VARIABLES:
            t = self.index.get(name)
            using = [row for row in self.rows if t in row[0] or any(t in pair for pair in row[1])]
            if t is None or t not in self.c or len(using) != 1:
                continue
            linear, form, lower, upper = row = using[0]
            slope = linear.get(t, 0.0)
            pressed_up = slope and (self.c[t] > 0) == (self.sense == "min")  # the row bounds t from below
            bound = None if not slope else (upper if (slope < 0) == pressed_up else lower)
            other = lower if bound is upper else upper
            if bound is None or not math.isfinite(bound) or math.isfinite(other) or any(t in pair for pair in form):
                continue
            # t = (bound - rest) / slope at the optimum
            share = self.c.pop(t) / slope
            self.constant += share * bound
            for i, value in linear.items():
                if i != t:
                    _add(self.c, i, -share * value)
            for pair, value in form.items():
                _add(self.objective_form, pair, -share * value)
            self.rows.remove(row)
            self._leave_out(t)

    def _leave_out(self, t):
        """Drop a variable that nothing holds any more."""
        place = {i: i - (i > t) for i in range(len(self.variables)) if i != t}
        del self.variables[t]
        self.index = {variable.name: i for i, variable in enumerate(self.variables)}
        self.c = {place[i]: value for i, value in self.c.items()}
        self.objective_form = {(place[i], place[j]): v for (i, j), v in self.objective_form.items()}
        self.rows = [
            ({place[i]: v for i, v in a.items()}, {(place[i], place[j]): v for (i, j), v in q.items()}, *limits)
            for a, q, *limits in self.rows
        ]

    def problem(self, name):
        """Return the `BiconvexProblem`."""
        self._fold_objective()
        n = len(self.variables)
        linear = [row for row in self.rows if not row[1]]
        quadratic = [row for row in self.rows if row[1]]
        A = sparse.dok_array((len(linear), n))
        for r, (a, *_) in enumerate(linear):
            for i, value in a.items():
                A[r, i] = value
        bounded = {"A": A.tocsr(), "row_lower": [row[2] for row in linear], "row_upper": [row[3] for row in linear]}
        return BiconvexProblem(
            _dense(self.c, n),
            Q=_form(self.objective_form, n) if self.objective_form else None,
            **(bounded if linear else {}),
            quadratic_rows=[(_form(q, n), _dense(a, n), lower, upper) for a, q, lower, upper in quadratic],
            lower=[self._limit(variable.getLbOriginal()) for variable in self.variables],
            upper=[self._limit(variable.getUbOriginal()) for variable in self.variables],
            sense=self.sense,
            constant=self.constant,
            names=[variable.name for variable in self.variables],
            name=name,
        )


def _add(terms, key, value):
    terms[key] = terms.get(key, 0.0) + value


def _dense(terms, n):
    values = np.zeros(n)
    for i, value in terms.items():
        values[i] = value
    return values


def _form(terms, n):
    form = sparse.dok_array((n, n))
    for (i, j), value in terms.items():
        form[i, j] = value
    return form.tocsr()
