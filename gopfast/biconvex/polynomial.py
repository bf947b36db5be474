"""Polynomial problems: products of any number of variables, powers, quotients and roots; exponentials and logarithms.

They are solved as biconvex problems (`products`), of which their results say nothing.

Theory: (XP1) of docs/theory/polynomials.md; (XF2) of docs/theory/functions.md.
"""

import json
import keyword
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from gopfast import annotations, checks
from gopfast.annotations import FloatArray, Sense
from gopfast.biconvex import atoms, nl, records
from gopfast.biconvex.atoms import Atom
from gopfast.biconvex.composition import Applied, Composition, Model, Row, degree, evaluated
from gopfast.biconvex.domain_ends import DomainEnds, applied
from gopfast.biconvex.formulas import Formulas
from gopfast.biconvex.problem import FILE_KEYS, BiconvexProblem
from gopfast.biconvex.products import lifted
from gopfast.biconvex.tuning import MOST_DEGREE, MOST_EXPONENT
from gopfast.errors import InputError, InputTypeError

# What only the JSON of such problems has
TERMS = '"terms"'

class PolynomialProblem:
    """
    Minimise or maximise a formula under constraints that are formulas, continuous variables.

    Formulas have sums, products of any number of variables, quotients, powers, ``sqrt``, ``abs``, ``max``, ``min``,
    ``exp`` and ``log``. They become a biconvex problem, `lifted`, by variables for products of two, for factors that
    are sums, for quotients, roots, exponentials, logarithms and other powers; `solve` returns a `BiconvexResult` of
    the variables here. A product ``u*log(u)`` is 0 where u is.

    Parameters
    ----------
    objective : str
        Such as ``"x*y*z - x**2/(1 + y)"``; ``^`` is a power, too.
    constraints : sequence of str
        Such as ``"x*y <= 4"``, ``"x/y == z"`` or ``"1 <= x*y*z <= 4"``.
    variables : mapping of str to (lower, upper)
        Names and bounds of the variables, in their order; None is infinite.
    sense : {"min", "max"}
    name : str
        Name of the problem.

    Attributes
    ----------
    n_variables, n_rows : int
        Number of variables, and of rows: of `constraints`, and one for each root, logarithm or power of what might be
        negative.
    names : tuple of str
    lower, upper : ndarray, shape (n,)
    sense, name
        As given.
    lifted : BiconvexProblem
        What is solved: the variables here, then those that were made.

    Raises
    ------
    InputError
        If an argument has a bad value or a formula is outside (trigonometric functions; quotients whose
        numerator and denominator may both be 0), the message names it, or is of a wrong kind
        (`InputTypeError`).

    See Also
    --------
    read : from AMPL's .nl files.

    References
    ----------
    McCormick, "Computability of global solutions to factorable nonconvex programs", 1976; Ryoo & Sahinidis, "Analysis
    of bounds for multilinear functions", 2001 (products of three and more, two by two).

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.PolynomialProblem("x*y*z - x/z", ["x + y + z == 4"], {"x": (0, 3), "y": (0, 3), "z": (1, 3)})
    >>> round(gopfast.solve(problem).objective, 6)
    -3.0
    """

    n_variables: int
    n_rows: int
    names: tuple[str, ...]
    lower: FloatArray
    upper: FloatArray
    sense: Sense
    name: str
    lifted: BiconvexProblem

    def __init__(
        self,
        objective: str,
        constraints: Sequence[str],
        variables: Mapping[str, Sequence[float | None]],
        *,
        sense: Sense = "min",
        name: str = "",
    ) -> None:
        names, low, high = _variables(variables)
        if isinstance(constraints, str):
            raise InputTypeError(f"constraints must be a sequence of formulas; got the text {constraints!r}")
        formulas = Formulas(Composition(names, low, high))
        goal = formulas.polynomial("objective", objective)
        rows = [row for k, text in enumerate(constraints) for row in formulas.constraints(f"constraints[{k}]", text)]
        sense = checks.choice("sense", sense, ("min", "max"))
        self._take(formulas.composition.model(goal, rows, sense, str(name)))

    @classmethod
    def of_model(cls, model: Model) -> "PolynomialProblem":
        """Return the problem of a `gopfast.biconvex.composition.Model`."""
        problem = cls.__new__(cls)
        problem._take(model)
        return problem

    @classmethod
    def read(cls, path: annotations.Path) -> "PolynomialProblem":
        """
        Read a problem from AMPL's .nl file, or from the JSON that `to_json` writes.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        PolynomialProblem

        Raises
        ------
        InputError
            If the file cannot be read, or has integer variables or other functions; the message names the file.
        OSError
            If the file cannot be opened.
        """
        if Path(path).suffix.lower() == ".json":
            return cls.of_model(_from_json(path))
        return cls.of_model(nl.read(path))

    def _take(self, model):
        self._model, self._ends = model, DomainEnds(model)
        self.n_variables = n = model.n_own
        self.names, self.sense, self.name = tuple(model.names[:n]), model.sense, model.name
        self.lifted, self._pairs, places = lifted(model)
        self.lower, self.upper = self.lifted.lower[:n], self.lifted.upper[:n]
        # what is told of a point: the rows that are no definitions, functions of the user's variables, and the bounds
        m = self.lifted.n_rows
        own = [place for place, row in zip(places.tolist(), model.rows, strict=True) if not row.is_definition]
        own += [m + self.lifted.n_variables + k for k, atom in enumerate(model.atoms)
                if max(atom.argument, atom.value) < n]
        self._own, self.n_rows = np.array([*own, *range(m, m + n)], int), len(own)

    def __repr__(self) -> str:
        """Return the sizes."""
        return (
            f"PolynomialProblem({self.name!r}, n_variables={self.n_variables}, n_rows={self.n_rows}, "
            f"sense={self.sense!r})"
        )

    @property
    def is_quadratic(self) -> bool:
        """Whether `lifted` is the problem itself: no formula has more than products of two."""
        return self._model.is_quadratic

    def objective(self, point: ArrayLike) -> float:
        """
        Evaluate the objective at a point (n,), as `BiconvexProblem.objective`; NaN where it is not defined.

        Arguments of functions are evaluated in rational arithmetic, as far as they are made of no other functions.
        """
        z = self._precisely(point)
        return self.lifted.objective(z) if np.isfinite(z).all() else math.nan

    def violations(self, point: ArrayLike) -> FloatArray:
        """
        Return by how much a point violates each row and each variable's bounds, as `BiconvexProblem.violations`.

        Parameters
        ----------
        point : array_like, shape (n,)

        Returns
        -------
        ndarray, shape (n_rows + n,)
            Infinite where formulas are not defined. Arguments of functions are evaluated as by `objective`; where they
            are made of other functions' values, the greatest violation counts that their rounding may bring.
        """
        found = [self._violations(self._precisely(point))]
        if np.isfinite(found[0]).all() and self._ends.has_unknown:
            found += [self._violations(self._precisely(point, shift)) for shift in (-1, 1)]
        return np.maximum.reduce(found)

    def _violations(self, z):
        return self.lifted.violations(z)[self._own] if np.isfinite(z).all() else np.full(len(self._own), math.inf)

    def near_ends(self, point: ArrayLike) -> Iterator[FloatArray]:
        """Return points near one, at which arguments of functions are exactly 0 that nearly are there."""
        return self._ends.near(self._point(point))

    def exact(self, point: ArrayLike) -> tuple[Fraction, bool]:
        """
        Evaluate a point (n,) in rational arithmetic, as `BiconvexProblem.exact`.

        Where variables of `lifted` would be no doubles the point does not count as one that meets the constraints.
        """
        z = self.completed(point)
        values = _completed([Fraction(value) for value in z[: self.n_variables].tolist()], self._model, self._pairs)
        # a Fraction compares with a float exactly
        if values is None or not np.isfinite(z).all() or values != z.tolist():
            return Fraction(0), False
        return self.lifted.exact(z)

    def completed(self, point: ArrayLike) -> FloatArray:
        """
        Return the point of `lifted` that belongs to values of the variables.

        Parameters
        ----------
        point : array_like, shape (n,)

        Returns
        -------
        ndarray, shape (lifted.n_variables,)
            NaN or infinite where a quotient is not defined; 0 for the root of a negative number, whose row tells of it.
        """
        with np.errstate(all="ignore"):
            return np.array(_completed(list(self._point(point)), self._model, self._pairs))

    def _point(self, point):
        z = checks.real_array("point", point)
        if z.shape != (self.n_variables,):
            raise InputError(f"point must have shape ({self.n_variables},); got {z.shape}")
        return z

    def _precisely(self, point, shift=0):
        """Return the completed point, with arguments of functions in rational arithmetic where that is defined."""
        z = self._point(point)
        values = self._ends.values(z, shift) if self._ends.matters else None
        if values is None:
            return self.completed(z)
        with np.errstate(all="ignore"):
            return np.array(_with_products(values, self._pairs))

    @property
    def is_steep(self) -> bool:
        """Whether there are roots, or powers below 1, which are steep at 0."""
        return bool(self._ends.arguments(steep=True))

    def is_inside(self, point: ArrayLike) -> bool:
        """Return whether powers and roots are defined at a point, not only to the tolerance."""
        return self._ends.is_inside(self._point(point))

    @property
    def model(self) -> Model:
        """The formulas, of which local searches are in the variables that these name."""
        return self._model

    @property
    def has_atoms(self) -> bool:
        """Whether there are exponentials, logarithms or powers that are no roots of powers."""
        return bool(self._model.atoms)

    def stated(self, point: ArrayLike) -> FloatArray:
        """Return the values of the variables of `to_json`: those here, and those that formulas made, within bounds."""
        values = self._precisely(point)[: len(self._model.names)]
        made = slice(self.n_variables, len(values))
        values[made] = np.clip(values[made], self.lifted.lower[made], self.lifted.upper[made])
        return values

    def to_json(self, path: annotations.Path | None = None) -> str:
        """
        Convert to JSON text, which `read` and the checker of proofs read.

        As that of `BiconvexProblem.to_json`; terms of three factors and more lie under ``terms``, [names,
        coefficient]. What formulas made of quotients, roots and sums are variables there like the others, with rows
        that say what they are; exponentials and the like lie under ``functions``, [name, argument, value, exponent] of
        ``exp``, ``entropy`` (u log u) and ``power``, of which alone the exponent counts.

        Parameters
        ----------
        path : str or path-like, optional
            File to write the text to; an `OSError` says that it cannot be written.

        Returns
        -------
        str
        """
        model = self._model
        constraints = []
        for number, row in enumerate(model.rows):
            sides = [("==", row.lower)] if row.lower == row.upper else [("<=", row.upper), (">=", row.lower)]
            for sense, rhs in sides:
                if math.isfinite(rhs):
                    head = {"name": f"e{number}", "sense": sense, "rhs": float(rhs)}
                    constraints.append(head | self._terms(row.polynomial))
        record = {
            "name": self.name,
            "sense": self.sense,
            "variables": {
                name: [float(bound) if math.isfinite(bound) else None for bound in bounds]
                for name, *bounds in zip(model.names, self.lifted.lower, self.lifted.upper, strict=False)
            },
            "objective": self._terms(model.objective),
            "constraints": constraints,
        }
        if model.atoms:
            record["functions"] = [
                [atoms.NAMES[atom.function], model.names[atom.argument], model.names[atom.value], atom.exponent]
                for atom in model.atoms
            ]
        text = json.dumps(record, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def _terms(self, p):
        names = self._model.names
        by_degree = [[(key, value) for key, value in p.items() if len(key) == d] for d in range(degree(p) + 1)]
        by_degree += [[] for _ in range(3 - len(by_degree))]
        return {
            "const": p.get((), 0.0),
            "lin": {names[i]: value for (i,), value in by_degree[1]},
            "quad": [[names[i], names[j], value] for (i, j), value in by_degree[2]],
            "terms": [[[names[i] for i in key], value] for own in by_degree[3:] for key, value in own],
        }


def read(path: annotations.Path) -> BiconvexProblem | PolynomialProblem:
    """Read a problem from a file: a `BiconvexProblem` if it is one, a `PolynomialProblem` otherwise."""
    suffix = Path(path).suffix.lower()
    if suffix == ".json" and TERMS in Path(path).read_text(encoding="utf-8", errors="replace"):
        return PolynomialProblem.read(path)
    if suffix != ".nl":
        return BiconvexProblem.read(path)
    model = nl.read(path)
    return lifted(model).problem if model.is_quadratic else PolynomialProblem.of_model(model)


def _atom(place, entry, index, low):
    """Return the atom of an entry of a file."""
    if not isinstance(entry, list) or len(entry) != 4:
        raise InputTypeError(f"{place} must be [name, argument, value, exponent]; got {checks._shown(entry)}")
    function = atoms.NAMES.index(checks.choice(f"{place}[0]", entry[0], atoms.NAMES))
    argument, value = (records.variable(name, index) for name in entry[1:3])
    exponent = checks.real_number(f"{place}[3]", entry[3])
    if atoms.NAMES[function] == "power" and (exponent in (0.0, 1.0) or not abs(exponent) <= MOST_EXPONENT):
        raise InputError(f"{place}[3] must be a number of a magnitude up to {MOST_EXPONENT:g}, not 0 and not 1; "
                         f"got {exponent:g}")  # fmt: skip
    if atoms.NAMES[function] != "exp" and not low[argument] >= 0.0:
        raise InputError(f"{place}[1] must have a lower bound of at least 0; got {low[argument]:g}")
    return Atom(function, exponent, argument, value)


def _completed(values, model, pairs):
    """Values of all variables of a lifted problem from the user's; of Fractions, None if they do not have them."""
    for made in model.definitions:
        if isinstance(made, Applied):
            if values and isinstance(values[0], Fraction):
                return None
            values.append(np.float64(applied(made, float(values[made.argument]))))
            continue
        above, below, order = made
        numerator, denominator = evaluated(above, values), evaluated(below, values)
        if isinstance(numerator, Fraction) and (denominator == 0 or order > 1):
            return None
        value = numerator / denominator
        values.append(value if order == 1 else max(value, 0.0) ** (1.0 / order))
    return _with_products(values, pairs)


def _with_products(values, pairs):
    for a, b in pairs:
        values.append(values[a] * values[b])
    return values


def _variables(variables):
    """Names and bounds."""
    if not isinstance(variables, Mapping) or not variables:
        raise InputTypeError("variables must be a mapping from names to (lower, upper), with at least one")
    names, low, high = list(variables), [], []
    for name in names:
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise InputError(f"variables: {name!r} is no name that a formula can have")
        ends = checks.pair(f"variables[{name!r}]", variables[name], "(lower, upper)")
        for side, end, none in zip((low, high), ends, (-math.inf, math.inf), strict=True):
            side.append(none if end is None else checks.real_number(f"variables[{name!r}]", end))
    return names, low, high


def _from_json(path):
    """Return the model in a JSON file, whose variables all are the user's."""
    record = records.load(path, "polynomial problem")
    try:
        records.check_keys(record, FILE_KEYS | {"functions"})
        names, bounds = records.variables(record)
        index = {name: i for i, name in enumerate(names)}
        rows = [Row(*row) for row in records.rows(record, index, MOST_DEGREE)]
        low, high = ([ends[side] for ends in bounds] for side in range(2))
        sense = checks.choice("sense", record.get("sense", "min"), ("min", "max"))
        goal = records.objective(record, index, MOST_DEGREE)
        own = [_atom(f"functions[{k}]", entry, index, low)
               for k, entry in enumerate(records.as_list("functions", record.get("functions")))]
        return Model(names, low, high, goal, rows, [], own, sense, str(record.get("name", "")))
    except InputError as error:
        raise type(error)(f"{path}: {error}") from None
