"""Biconvex problems: linear, bilinear and convex quadratic terms, continuous variables.

Theory: (A1) of docs/theory/problem.md.
"""

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from gopfast import annotations, checks
from gopfast.annotations import CsrArray, FloatArray, MatrixLike, QuadraticRowLike, Sense
from gopfast.biconvex import atoms, records
from gopfast.biconvex.atoms import Atom
from gopfast.biconvex.margins import BLUR
from gopfast.biconvex.terms import Terms
from gopfast.errors import InputError, InputTypeError

# Beyond these magnitudes products of coefficients and bounds are no doubles
LARGEST_NUMBER, SMALLEST_NUMBER = 1e100, 1e-100
FILE_KEYS = {"name", "sense", "variables", "partition", "objective", "constraints", "optimum"}


class QuadraticRow(NamedTuple):
    """
    A constraint ``lower <= a'z + z'Qz <= upper``.

    Attributes
    ----------
    Q : ndarray or sparse array, shape (n, n)
        Coefficients; only ``Q + Q'`` matters, so that a triangular matrix will do.
    a : array_like, shape (n,)
        Linear coefficients.
    lower, upper : float
        Either may be infinite.
    """

    Q: MatrixLike
    a: ArrayLike | None
    lower: float
    upper: float


class BiconvexProblem:
    """
    Minimise or maximise a function with linear, bilinear and convex quadratic terms under such constraints.

    ::

        min or max  constant + c'z + z'Qz
        subject to  row_lower <= A z <= row_upper
                    lower_r <= a_r'z + z'Q_r z <= upper_r      for every quadratic row r
                    lower <= z <= upper

    A product of two variables is a bilinear term; the variables of the bilinear terms fall into two groups x and y,
    so that every product has one factor of each (given as `x` and `y`, or found). A quadratic form that is convex
    where the problem is (in a minimised objective, in a row with an upper bound alone, the reverse for the others)
    is kept as it is; one that is so in x alone and in y alone keeps these two parts and leaves products of x and y.
    What fits neither, squares of the wrong sign and odd cycles of products, is made bilinear with
    a copy of a variable, z_i = z_i'; the result's notes say so.

    Parameters
    ----------
    c : array_like, shape (n,)
        Linear objective.
    Q : array_like or sparse array, shape (n, n), optional
        Quadratic objective z'Qz (no factor 1/2); only ``Q + Q'`` matters.
    A : array_like or sparse array, shape (m, n), optional
        Linear rows.
    row_lower, row_upper : float or array_like, shape (m,), optional
        Their bounds; -inf and inf by default. Equal bounds make an equality.
    quadratic_rows : sequence of (Q, a, lower, upper)
        See `QuadraticRow`. `a` may be None for zeros.
    lower, upper : float or array_like, shape (n,), optional
        Bounds of the variables, -inf and inf by default (unlike in LP software, where variables start at 0).
        Missing bounds of bilinear variables are derived from the constraints and from the objective of the best point
        found. Where both leave some, `solve` looks for a ray along which the problem is unbounded; without one it
        searches large values only, and says in the notes up to which, and whether the bound is of all values.
    sense : {"min", "max"}
    constant : float
        Added to the objective.
    x, y : sequence of int or str, optional
        Indices or names of the variables of the two groups. Variables in no product may be left out.
    names : sequence of str, optional
        Names of the variables; z0, z1, ... by default.
    name : str
        Name of the problem.

    Attributes
    ----------
    n_variables, n_rows : int
        Number of variables, and of rows: the linear ones first, then the quadratic ones.
    c, Q, A, row_lower, row_upper, quadratic_rows, lower, upper, sense, constant, x, y, names, name
        As given, arrays of float64, matrices as `scipy.sparse.csr_array`, Q symmetric.
    atoms : tuple
        Variables that are exponentials, logarithms or powers of others, of what `PolynomialProblem.lifted` is; else
        empty.

    Raises
    ------
    InputError
        If an argument has a bad value, or is of a wrong kind (`InputTypeError`); the message names it.

    References
    ----------
    Floudas & Visweswaran, "A global optimization algorithm (GOP) for certain classes of nonconvex NLPs", 1990;
    Hansen, Jaumard & Xiong, "Decomposition and interval arithmetic applied to the global minimization of polynomial
    and rational functions", 1993 (copies).

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.BiconvexProblem([-1, -1], Q=[[0, 1], [0, 0]], A=[[-6, 8], [3, -1]], row_upper=3,
    ...                                   lower=0, upper=5)
    >>> round(gopfast.solve(problem).objective, 6)
    -1.083333
    """

    n_variables: int
    n_rows: int
    c: FloatArray
    Q: CsrArray
    A: CsrArray
    row_lower: FloatArray
    row_upper: FloatArray
    quadratic_rows: tuple[QuadraticRow, ...]
    lower: FloatArray
    upper: FloatArray
    sense: Sense
    constant: float
    x: tuple[int, ...] | None
    y: tuple[int, ...] | None
    names: tuple[str, ...]
    name: str
    atoms: tuple[Atom, ...]

    def __init__(
        self,
        c: MatrixLike,
        *,
        Q: MatrixLike | None = None,
        A: MatrixLike | None = None,
        row_lower: ArrayLike | None = None,
        row_upper: ArrayLike | None = None,
        quadratic_rows: Sequence[QuadraticRowLike] = (),
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        sense: Sense = "min",
        constant: float = 0.0,
        x: Sequence[int | str] | None = None,
        y: Sequence[int | str] | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
    ) -> None:
        self.c = _in_range("c", checks.real_array("c", c.toarray() if sparse.issparse(c) else c))
        if self.c.ndim != 1 or self.c.size == 0:
            raise InputError(f"c must have shape (n,) with n of at least 1; got {self.c.shape}")
        n = self.n_variables = len(self.c)
        self.Q = _symmetric("Q", Q, n)
        self.A = _matrix("A", A, n)
        m = self.A.shape[0]
        if A is None and not (row_lower is None and row_upper is None):
            raise InputError("row_lower and row_upper bound the rows of A, which is not given")
        self.row_lower = _bounds("row_lower", row_lower, m, -math.inf)
        self.row_upper = _bounds("row_upper", row_upper, m, math.inf)
        self.quadratic_rows = _quadratic_rows(quadratic_rows, n)
        self.n_rows = m + len(self.quadratic_rows)
        self.lower = _bounds("lower", lower, n, -math.inf)
        self.upper = _bounds("upper", upper, n, math.inf)
        self.sense = checks.choice("sense", sense, ("min", "max"))
        self.constant = checks.real_number("constant", constant, wanted="a finite number")
        if not math.isfinite(self.constant):
            raise InputError(f"constant must be a finite number; got {self.constant}")
        _in_range("constant", np.array([self.constant]))
        self.atoms = ()
        self.names = _names(names, n)
        self.name = str(name)
        self.x, self.y = self._group("x", x), self._group("y", y)
        both = set(self.x or ()) & set(self.y or ())
        if both:
            raise InputError(f"x and y must not share variables; both have {self.names[min(both)]!r}")

    def __repr__(self) -> str:
        """Return the sizes."""
        return (
            f"BiconvexProblem({self.name!r}, n_variables={self.n_variables}, n_rows={self.n_rows}, "
            f"sense={self.sense!r})"
        )

    def objective(self, point: ArrayLike) -> float:
        """
        Evaluate the objective in the user's own units and sense.

        Parameters
        ----------
        point : array_like, shape (n,)

        Returns
        -------
        float
        """
        z = self._point(point)
        return float(self.constant + self.c @ z + z @ (self.Q @ z))

    def row_values(self, point: ArrayLike) -> FloatArray:
        """Return the value of every row at a point, linear rows first: shape (n_rows,)."""
        return self._terms_of_rows().values(self._point(point))

    @property
    def row_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of all rows, linear rows first: two arrays of shape (n_rows,)."""
        lower = np.concatenate([self.row_lower, [row.lower for row in self.quadratic_rows]])
        return lower, np.concatenate([self.row_upper, [row.upper for row in self.quadratic_rows]])

    def violations(self, point: ArrayLike) -> FloatArray:
        """
        Return by how much a point violates each row and each variable's bounds, 0 where it does not.

        Parameters
        ----------
        point : array_like, shape (n,)

        Returns
        -------
        ndarray, shape (n_rows + n + number of atoms,)
            Of a row, in its own units, divided by the greatest magnitude of one of its terms (``a_i z_i`` or
            ``q_ij z_i z_j``) at the point, but at least by f, the least of 1, its greatest coefficient and the greatest
            magnitude that a term has within the variables' bounds, and at most by what the row's data say: the greatest
            of f, the bound violated, a term where variables are 1 or as near to it as their bounds let them be, and a
            term where they are as near to 0 as that. Of a variable divided by max(1, |bound violated|);
            of an atom relative to its value, or to 1 where it can be as large.

        Notes
        -----
        Solutions of `solve` lie within the variables' bounds and violate no row by more than 1e-8 in this measure:
        by 1e-8 of the row's terms at the point, or by 1e-8. Bounds, however wide, do not loosen it, and neither does
        a point's distance: ``x - y <= -1`` and ``y - x <= 0`` almost hold, relative to their terms, wherever
        x = y is large enough. Where rounding errors of terms would show, rows are evaluated in rationals.
        """
        z = self._point(point)
        terms, (lower, upper) = self._terms_of_rows(), self.row_bounds
        with np.errstate(over="ignore", invalid="ignore"):
            values, at_point = terms.values(z), np.abs(z)
            least, most = self._sizes(terms)
            # of either bound, what a violation of it is relative to
            sizes = [
                np.minimum(np.maximum(terms.greatest(at_point), least), np.maximum(most, _finite_size(bound)))
                for bound in (lower, upper)
            ]
            blurred = terms.rounding(at_point) > BLUR * np.minimum(*sizes)
        excesses = [np.maximum(lower - values, 0.0), np.maximum(values - upper, 0.0)]
        for row in np.flatnonzero(blurred | ~np.isfinite(values)).tolist():
            for side, excess in enumerate(self._exact_excesses(row, z)):
                excesses[side][row] = excess
        with np.errstate(over="ignore"):
            rows = np.maximum(excesses[0] / sizes[0], excesses[1] / sizes[1])
        largest = np.where(z < self.lower, np.abs(self.lower), np.where(z > self.upper, np.abs(self.upper), 1.0))
        bounds = _excess(z, self.lower, self.upper) / np.maximum(1.0, largest)
        return np.concatenate([rows, bounds, self._off_atoms(z)])

    def exact(self, point: ArrayLike) -> tuple[Fraction, bool]:
        """
        Evaluate a point in rational arithmetic.

        Parameters
        ----------
        point : array_like, shape (n,)

        Returns
        -------
        Fraction, bool
            Objective, minimised (its negative where the sense is "max"), and whether every constraint holds; of atoms
            that is not known in rationals, so that it counts as no.
        """
        point = self._point(point).tolist()
        z = _dyadic(point)
        value = Fraction(self.constant) + _exact_value(enumerate(self.c.tolist()), self.Q, z)
        bounds = zip(point, self.lower, self.upper, strict=True)
        feasible = not self.atoms and all(_within(*one) for one in bounds)
        for i, bounds in enumerate(zip(self.row_lower, self.row_upper, strict=True)):
            part = slice(*self.A.indptr[i : i + 2])
            terms = zip(self.A.indices[part].tolist(), self.A.data[part].tolist(), strict=True)
            feasible = feasible and _within(_exact_value(terms, None, z), *bounds)
        for row in self.quadratic_rows:
            feasible = feasible and _within(_exact_value(enumerate(row.a.tolist()), row.Q, z), row.lower, row.upper)
        return (-value if self.sense == "max" else value), feasible

    def _off_atoms(self, z):
        """Return how far each variable that is a function of another is from that, relative to its size."""
        found = np.zeros(len(self.atoms))
        for k, (function, exponent, argument, value) in enumerate(self.atoms):
            largest = max(abs(self.lower[value]), abs(self.upper[value]))
            size = max(abs(z[value]), min(1.0, largest) if largest > 0.0 else 1.0)
            found[k] = abs(z[value] - atoms.value(function, exponent, z[argument])) / size
        return np.where(np.isnan(found), np.inf, found)

    def _terms_of_rows(self):
        forms = [(row.a, terms_of(row.Q)) for row in self.quadratic_rows]
        return Terms(self.A, forms)

    def _sizes(self, terms):
        """Return what violations of rows are relative to at least, tiny and not 0, and at most, but for the bound."""
        nearest, largest = self._reach()
        least = np.minimum(terms.greatest(np.ones(self.n_variables)), terms.greatest(largest))
        least = np.maximum(np.minimum(least, 1.0), np.finfo(float).tiny)
        most = np.maximum(terms.greatest(np.minimum(largest, 1.0)), terms.greatest(nearest))
        return least, np.maximum(least, most)

    def _reach(self):
        """Return the least and the greatest magnitude that the bounds let each variable have."""
        nearest = np.maximum(0.0, np.maximum(self.lower, -self.upper))
        return nearest, np.maximum(np.abs(self.lower), np.abs(self.upper))

    def _exact_excesses(self, row, z):
        """Return by how much a point is below a row's lower bound and above its upper one, from rationals."""
        z = _dyadic(z.tolist())
        m = self.A.shape[0]
        if row < m:
            part = slice(*self.A.indptr[row : row + 2])
            linear = zip(self.A.indices[part].tolist(), self.A.data[part].tolist(), strict=True)
            value, lower, upper = _exact_value(linear, None, z), self.row_lower[row], self.row_upper[row]
        else:
            Q, a, lower, upper = self.quadratic_rows[row - m]
            value = _exact_value(enumerate(a.tolist()), Q, z)
        under = 0.0 if lower == -math.inf else _to_float(max(Fraction(0), Fraction(float(lower)) - value))
        return under, 0.0 if upper == math.inf else _to_float(max(Fraction(0), value - Fraction(float(upper))))

    def _point(self, point):
        z = checks.real_array("point", point)
        if z.shape != (self.n_variables,):
            raise InputError(f"point must have shape ({self.n_variables},); got {z.shape}")
        return z

    def _group(self, name, group):
        if group is None:
            return None
        index = {variable: i for i, variable in enumerate(self.names)}
        members = []
        for item in group:
            if isinstance(item, str):
                if item not in index:
                    raise InputError(f"{name} has {item!r}, which is no variable")
                members.append(index[item])
            else:
                members.append(checks.whole_number(f"{name}[{len(members)}]", item, 0, self.n_variables - 1))
        return tuple(members)

    @classmethod
    def read(cls, path: annotations.Path) -> "BiconvexProblem":
        """
        Read a problem from a file: JSON, or what other software writes.

        Parameters
        ----------
        path : str or path-like
            ``.json``: see `from_json`; AMPL's ``.nl`` in its text form. ``.lp``, ``.mps`` (quadratic sections too) and
            the binary ``.nl`` are read by SCIP, which ``pip install gopfast[files]`` brings. In .lp and .mps files
            variables without bounds start at 0. Quadratic rows come after the linear ones. SCIP runs in a process of
            its own, for a minute at most and longer only for files of megabytes. ``.qplib`` is read by pyqplib, which
            ``pip install gopfast[qplib]`` brings.

        Returns
        -------
        BiconvexProblem

        Raises
        ------
        InputError
            If the file cannot be read, or has integer variables or terms other than linear and quadratic ones; the
            message names the file.
        ImportError
            For the other formats without PySCIPOpt, or pyqplib.
        OSError
            If the file cannot be opened.
        """
        suffix = Path(path).suffix.lower()
        if suffix == ".json":
            return cls.from_json(path)
        # Here and not above: what reads them is an optional extra.
        if suffix == ".qplib":
            from gopfast.biconvex.qplib import read
        else:
            from gopfast.biconvex.files import read
        return read(path)

    @classmethod
    def from_json(cls, path: annotations.Path) -> "BiconvexProblem":
        """
        Read a problem from a JSON file.

        Parameters
        ----------
        path : str or path-like
            An object with ``variables`` (name -> [lower, upper], null for unbounded), ``objective`` and
            ``constraints`` as ``{const, lin: {name: coefficient}, quad: [[name, name, coefficient]]}``, each
            constraint also with ``sense`` (<=, >= or ==) and ``rhs``; optional are ``sense`` of the problem,
            ``partition`` ({x: names, y: names}) and ``name``.

        Returns
        -------
        BiconvexProblem

        Raises
        ------
        InputError, OSError
            As of `read`; the message names the file and the place.
        """
        record = records.load(path, "biconvex problem")
        try:
            return cls._from_record(record)
        except InputError as error:
            raise type(error)(f"{path}: {error}") from None

    @classmethod
    def _from_record(cls, record):
        records.check_keys(record, FILE_KEYS)
        names, bounds = records.variables(record)
        index = {name: i for i, name in enumerate(names)}
        groups = records.partition(record)
        return cls.of_polynomials(
            records.objective(record, index), records.rows(record, index), names, bounds,
            sense=record.get("sense", "min"), x=groups.get("x"), y=groups.get("y"), name=record.get("name", ""),
        )  # fmt: skip

    @classmethod
    def of_polynomials(
        cls,
        objective: Mapping[tuple[int, ...], float],
        rows: Sequence[tuple[Mapping[tuple[int, ...], float], float, float]],
        names: Sequence[str],
        bounds: Sequence[tuple[float, float]],
        sense: Sense = "min",
        x: Sequence[int | str] | None = None,
        y: Sequence[int | str] | None = None,
        name: str = "",
        functions: Sequence[Atom] = (),
    ) -> "BiconvexProblem":
        """
        Make a problem of polynomials of degree two.

        Parameters
        ----------
        objective : mapping
            From sorted tuples of up to two variables to coefficients.
        rows : sequence of (mapping, float, float)
            Without constants, lower and upper bounds.
        names, bounds : sequence of str, sequence of (float, float)
            Of the variables.
        sense, x, y, name
            As of the class.
        functions : sequence of Atom
            Variables that are functions of others: `PolynomialProblem` makes them of exponentials and the like.
        """
        n = len(names)
        linear = [row for row in rows if not _has_products(row[0])]
        bounded = {
            "A": _matrix_of([row[0] for row in linear], n),
            "row_lower": [row[1] for row in linear], "row_upper": [row[2] for row in linear],
        }  # fmt: skip
        made = cls(
            _line(objective, n),
            Q=_form(objective, n),
            **(bounded if linear else {}),
            quadratic_rows=[
                QuadraticRow(_form(p, n), _line(p, n), *limits) for p, *limits in rows if _has_products(p)
            ],
            lower=[low for low, _ in bounds],
            upper=[high for _, high in bounds],
            constant=objective.get((), 0.0),
            names=names,
            sense=sense,
            x=x,
            y=y,
            name=name,
        )
        made.atoms = tuple(functions)
        return made

    def to_json(self, path: annotations.Path | None = None) -> str:
        """
        Convert to JSON text that `from_json` reads; numbers are kept exactly. Linear rows come first.

        Parameters
        ----------
        path : str or path-like, optional
            File to write the text to; an `OSError` says that it cannot be written.

        Returns
        -------
        str
        """
        constraints = []
        dense = self.A.toarray()
        rows = [(None, a, low, high) for a, low, high in zip(dense, self.row_lower, self.row_upper, strict=True)]
        for number, (Q, a, low, high) in enumerate([*rows, *self.quadratic_rows]):
            sides = [("==", low)] if low == high else [("<=", high), (">=", low)]
            for sense, rhs in sides:
                if math.isfinite(rhs):
                    head = {"name": f"e{number}", "sense": sense, "rhs": float(rhs)}
                    constraints.append(head | self._terms(a, Q, 0.0))
        record = {
            "name": self.name,
            "sense": self.sense,
            "variables": {
                name: [float(bound) if math.isfinite(bound) else None for bound in (low, high)]
                for name, low, high in zip(self.names, self.lower, self.upper, strict=True)
            },
        }
        if self.x is not None or self.y is not None:
            record["partition"] = {
                "x": [self.names[i] for i in self.x or ()], "y": [self.names[i] for i in self.y or ()]
            }
        record["objective"] = self._terms(self.c, self.Q, self.constant)
        text = json.dumps(record | {"constraints": constraints}, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def _terms(self, a, Q, constant):
        quad = []
        if Q is not None:
            for i, j, value in zip(*(part.tolist() for part in terms_of(Q)), strict=True):
                quad.append([self.names[i], self.names[j], value])
        lin = {self.names[i]: float(a[i]) for i in np.flatnonzero(a)}
        return {"const": constant, "lin": lin, "quad": quad}


def _has_products(polynomial):
    return any(len(monomial) == 2 for monomial in polynomial)


def _line(polynomial, n):
    """Linear coefficients (n,) of a polynomial of degree two."""
    return _matrix_of([polynomial], n).toarray().ravel()


def _matrix_of(polynomials, n):
    """Linear coefficients (m, n) of polynomials."""
    entries = [(r, *key, value) for r, p in enumerate(polynomials) for key, value in p.items() if len(key) == 1]
    row, column, values = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.csr_array((np.array(values, float), (row, column)), shape=(len(polynomials), n))


def _form(polynomial, n):
    """Matrix of the products of a polynomial of degree two, None where it has none."""
    pairs = [monomial for monomial in polynomial if len(monomial) == 2]
    if not pairs:
        return None
    values = [polynomial[pair] for pair in pairs]
    return sparse.coo_array((values, tuple(zip(*pairs, strict=True))), shape=(n, n))


def _in_range(name, numbers):
    """Return an array whose entries are 0 or of a magnitude that can be computed with; `InputError` otherwise."""
    size = np.abs(numbers[numbers != 0.0])
    bad = size[(size > LARGEST_NUMBER) | (size < SMALLEST_NUMBER)]
    if bad.size:
        raise InputError(
            f"{name} must have entries of 0 or of magnitudes from {SMALLEST_NUMBER:g} to {LARGEST_NUMBER:g}; "
            f"got {bad[0]:g}"
        )
    return numbers


def _matrix(name, value, n):
    """Return a CSR array with n columns; None gives one without rows."""
    if value is None:
        return sparse.csr_array((0, n))
    if sparse.issparse(value):
        array = sparse.csr_array(value, dtype=np.float64, copy=True)
        if not np.isfinite(array.data).all():
            raise InputError(f"{name} must be finite")
    else:
        array = sparse.csr_array(np.atleast_2d(checks.real_array(name, value)))
    if array.ndim != 2 or array.shape[1] != n:
        raise InputError(f"{name} must have {n} columns; got shape {array.shape}")
    array.sum_duplicates()
    array.eliminate_zeros()
    _in_range(name, array.data)
    return array


def _symmetric(name, value, n):
    array = _matrix(name, value, n) if value is not None else sparse.csr_array((n, n))
    if array.shape[0] != n:
        raise InputError(f"{name} must have shape ({n}, {n}); got {array.shape}")
    if array.nnz == 0:
        return array
    array = sparse.csr_array(0.5 * (array + array.T))
    array.eliminate_zeros()
    return array


def terms_of(Q):
    """
    Return the terms of z'Qz.

    Parameters
    ----------
    Q : csr_array, shape (n, n)
        Symmetric.

    Returns
    -------
    i, j, coefficient : ndarray
        Of ``coefficient z_i z_j``, i <= j.
    """
    i, j = np.repeat(np.arange(Q.shape[0]), np.diff(Q.indptr)), Q.indices
    upper = i <= j
    i, j, value = i[upper], j[upper], Q.data[upper]
    return i, j, np.where(i == j, value, 2.0 * value)


def _quadratic_rows(rows, n):
    checked = []
    for number, row in enumerate(rows):
        name = f"quadratic_rows[{number}]"
        try:
            Q, a, lower, upper = row
        except (TypeError, ValueError):
            raise InputTypeError(f"{name} must be (Q, a, lower, upper)") from None
        a = np.zeros(n) if a is None else _in_range(f"{name}.a", checks.real_array(f"{name}.a", a))
        if a.shape != (n,):
            raise InputError(f"{name}.a must have shape ({n},); got {a.shape}")
        lower, upper = (-math.inf if lower is None else lower), (math.inf if upper is None else upper)
        lower = float(_bounds(f"{name}.lower", checks.real_number(f"{name}.lower", lower), 1, -math.inf)[0])
        upper = float(_bounds(f"{name}.upper", checks.real_number(f"{name}.upper", upper), 1, math.inf)[0])
        checked.append(QuadraticRow(_symmetric(f"{name}.Q", Q, n), a, lower, upper))
    return tuple(checked)


def _bounds(name, value, n, default):
    """Return bounds as an array; infinities pass on the side of the default, which is none, NaN does not."""
    if value is None:
        return np.full(n, default)
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise InputTypeError(f"{name} must be real numbers; got dtype {array.dtype}")
    if array.ndim > 0 and array.shape != (n,):
        raise InputError(f"{name} must be a number or have shape ({n},); got {array.shape}")
    array = np.array(np.broadcast_to(array, (n,)), dtype=np.float64)
    if np.isnan(array).any():
        raise InputError(f"{name} must not have NaN entries")
    if (array == -default).any():
        raise InputError(f"{name} must not be {-default:g}: no point meets that")
    finite = array[np.isfinite(array)]
    if (abs(finite) > LARGEST_NUMBER).any():
        raise InputError(
            f"{name} must be infinite or of a magnitude up to {LARGEST_NUMBER:g}; got {abs(finite).max():g}"
        )
    return array


def _names(names, n):
    if names is None:
        return tuple(f"z{i}" for i in range(n))
    names = tuple(str(name) for name in names)
    if len(names) != n or len(set(names)) != n:
        raise InputError(f"names must be {n} different names")
    return names


def _dyadic(values):
    """Return floats as pairs (p, k) of integers: p / 2**k."""
    return [(p, q.bit_length() - 1) for p, q in map(float.as_integer_ratio, values)]


def _exact_value(linear, Q, z):
    """Return a'z + z'Qz as a Fraction: a as pairs (i, a_i), z as of `_dyadic`."""
    totals = defaultdict(int)  # of each power of two that divides
    for i, a in linear:
        if a:
            (p, k), (x, e) = *_dyadic([a]), z[i]
            totals[k + e] += p * x
    if Q is not None:
        entries = Q.tocoo()
        factors = zip(entries.row.tolist(), entries.col.tolist(), _dyadic(entries.data.tolist()), strict=True)
        for i, j, (p, k) in factors:
            (x, e), (y, f) = z[i], z[j]
            totals[k + e + f] += p * x * y
    most = max(totals, default=0)
    return Fraction(sum(total << (most - k) for k, total in totals.items()), 1 << most)


def _within(value, lower, upper):
    # a Fraction, or a float, compares with a float exactly, infinities included
    return bool(float(lower) <= value <= float(upper))


def _to_float(number):
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _finite_size(bound):
    return np.where(np.isfinite(bound), np.abs(bound), 0.0)


def _excess(values, lower, upper):
    return np.maximum(0.0, np.maximum(lower - values, values - upper))
