"""
The terms of a problem in a file that SCIP reads, as JSON: a script of its own, run by `files` in a process of its own.

SCIP's readers are C, and crash, hang or run out of memory on some files: what happens here ends this process alone. Run
with the file, a folder for copies and the file to write to; it imports nothing of the package, so that it starts fast.
"""

import json
import math
import sys
from pathlib import Path

# What SCIP's readers call the variable that stands for a nonlinear objective.
OBJECTIVE_VARIABLES = ("quadobjvar", "nlobjvar")


class Unreadable(Exception):
    """What is wrong with a file."""


def main(source, folder, target):
    """Write the terms of a file, or what is wrong with it."""
    try:
        model = _read(source)
        if source.endswith(".nl"):
            # Its rows are expressions, of which SCIP tells the terms only once it has written and read them as an LP.
            copy = str(Path(folder, "copy.lp"))
            model.writeProblem(copy, verbose=False)
            model = _read(copy)
        record = _Translation(model).record()
    except Unreadable as error:
        record = {"error": str(error)}
    Path(target).write_text(json.dumps(record), encoding="utf-8")


def _read(source):
    from pyscipopt import Model

    model = Model()
    model.hideOutput()
    try:
        model.readProblem(source)
    except Exception as error:  # PySCIPOpt raises OSError and Exception itself
        raise Unreadable(f"SCIP cannot read this file ({error}), see its message on standard error") from None
    return model


class _Translation:
    """The terms of a SCIP model, by number of variable."""

    def __init__(self, model):
        self.model, self.infinity = model, model.infinity()
        self.variables = model.getVars()
        if not self.variables:
            raise Unreadable("the model has no variables")
        self.index = {variable.name: i for i, variable in enumerate(self.variables)}
        for variable in self.variables:
            if variable.vtype() != "CONTINUOUS":
                raise Unreadable(f"variable {variable.name!r} is {variable.vtype().lower()}; all must be continuous")
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
            raise Unreadable(f"constraint {constraint.name!r} is neither linear nor quadratic ({kind})")
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

    def record(self):
        """Return all terms, in JSON types; infinite bounds are infinite."""
        self._fold_objective()
        return {
            "names": [variable.name for variable in self.variables],
            "lower": [self._limit(variable.getLbOriginal()) for variable in self.variables],
            "upper": [self._limit(variable.getUbOriginal()) for variable in self.variables],
            "sense": self.sense,
            "constant": self.constant,
            "objective": [list(self.c.items()), _triples(self.objective_form)],
            "rows": [[list(a.items()), _triples(form), *limits] for a, form, *limits in self.rows],
        }


def _triples(form):
    return [[i, j, value] for (i, j), value in form.items()]


def _add(terms, key, value):
    terms[key] = terms.get(key, 0.0) + value


if __name__ == "__main__":
    main(*sys.argv[1:])
