"""CVXPY problems as biconvex problems; needs cvxpy, which ``pip install gopfast[cvxpy]`` brings.

Expressions become arrays of quadratic polynomials by CVXPY's own evaluation of its atoms, on polynomials instead of
numbers. What would be of higher degree gets a variable of its own: a square of an expression is r^2 with r equal to
the inside, a quotient p / q is t with t q = p, a root is t >= 0 with t^2 = p, and of a product that is multiplied the
variable is an upper bound where more of it is worse, as of a convex term times a nonnegative variable, and equal to it
elsewhere. So is the greatest of several; elsewhere it is the first and the positive parts of the others less it.

Theory: (XP1) of docs/theory/polynomials.md.
"""

import math
import sys

import numpy as np
from scipy import sparse

from gopfast.biconvex import intervals
from gopfast.biconvex.problem import BiconvexProblem, QuadraticRow
from gopfast.biconvex.solve import solve as solve_biconvex
from gopfast.biconvex.tuning import MOST_DEGREE
from gopfast.errors import InputError, InputTypeError
from gopfast.result import Status


def is_problem(problem) -> bool:
    """Whether this is a `cvxpy.Problem`; CVXPY is not imported for that."""
    cvxpy = sys.modules.get("cvxpy")
    return cvxpy is not None and isinstance(problem, cvxpy.Problem)


def solve(problem, options, start=None):
    """
    Solve a `cvxpy.Problem` and set its value, its status, the values of its variables and its `solver_stats`.

    Dual values are None: what proves a global optimum is the tree of bounds, and no multipliers of the constraints.

    Parameters
    ----------
    problem : cvxpy.Problem
    options, start
        As `gopfast.biconvex.solve.solve`.

    Returns
    -------
    BiconvexResult
        Variables in the order of ``problem.variables()``, column by column, then those added.

    Raises
    ------
    InputTypeError
        For an expression or constraint outside the class; the message shows it.
    """
    translation = Translation(problem)
    result = solve_biconvex(translation.problem(), options, start)
    translation.store(result)
    return result


class Polynomial:
    """``constant + sum lin_i z_i + sum quad_ij z_i z_j`` (i <= j), immutable by convention."""

    def __init__(self, owner, constant=0.0, lin=None, quad=None):
        self.owner, self.constant, self.lin, self.quad = owner, constant, lin or {}, quad or {}

    @property
    def degree(self):
        """0, 1 or 2."""
        return 2 if self.quad else 1 if self.lin else 0

    def __add__(self, other):
        """Add a number or polynomial."""
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy does it entry by entry
        if not isinstance(other, Polynomial):
            return Polynomial(self.owner, self.constant + float(other), self.lin, self.quad)
        return Polynomial(
            self.owner, self.constant + other.constant, _sum(self.lin, other.lin), _sum(self.quad, other.quad)
        )

    def __neg__(self):
        """Change the sign."""
        return self * -1.0

    def __sub__(self, other):
        """Subtract a number or polynomial."""
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self + (-other)

    def __rsub__(self, other):
        """Subtract from a number."""
        return (-self) + other

    def __mul__(self, other):
        """Multiply by a number or polynomial; a product of higher degree gets a variable."""
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Polynomial):
            if other.degree == 0:
                return self * other.constant
            return other * self.constant if self.degree == 0 else self.owner.product(self, other)
        factor = float(other)
        return Polynomial(
            self.owner,
            self.constant * factor,
            {i: a * factor for i, a in self.lin.items()},
            {pair: a * factor for pair, a in self.quad.items()},
        )

    def __truediv__(self, other):
        """Divide by a number or polynomial; a quotient whose divisor varies gets a variable."""
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Polynomial):
            if other.degree > 0:
                return self.owner.quotient(self, other)
            other = other.constant
        return self * (1.0 / float(other))

    def __rtruediv__(self, other):
        """Divide a number by it."""
        return Polynomial(self.owner, float(other)) / self

    __radd__, __rmul__ = __add__, __mul__


class Translation:
    """
    The polynomials of a CVXPY problem.

    Parameters
    ----------
    problem : cvxpy.Problem
    """

    def __init__(self, problem):
        self.cvxpy, self.source = sys.modules["cvxpy"], problem
        self.lower, self.upper, self.names = [], [], []
        self.first = {}  # variable id -> first index
        self.rows = []  # (polynomial, lower, upper)
        self.epigraphs = set()  # added variables that only bound terms
        self.equal = {}  # what a polynomial is made of -> the added variable that is equal to it
        self.own_rows = set()  # (row, index) of the rows that make such a variable a bound
        for variable in problem.variables():
            self._add_variable(variable)
        self.n_users = len(self.names)
        minimise = isinstance(problem.objective, self.cvxpy.Minimize)
        self.sense = "min" if minimise else "max"
        self.objective = self._flat(problem.objective.args[0])[0]
        for constraint in problem.constraints:
            self._add_constraint(constraint)
        self._check_epigraphs(minimise)

    def problem(self):
        """Return the `BiconvexProblem`."""
        n = len(self.names)
        linear = [row for row in self.rows if not row[0].quad]
        a, c = np.zeros((len(linear), n)), np.zeros(n)
        for k, (polynomial, *_) in enumerate(linear):
            for i, value in polynomial.lin.items():
                a[k, i] = value
        quadratic = []
        for polynomial, low, high in self.rows:
            if polynomial.quad:
                coefficients = np.zeros(n)
                coefficients[list(polynomial.lin)] = list(polynomial.lin.values())
                shift = polynomial.constant
                bounds = _less(low, shift), _less(high, shift)
                quadratic.append(QuadraticRow(_matrix(polynomial.quad, n), coefficients, *bounds))
        c[list(self.objective.lin)] = list(self.objective.lin.values())
        return BiconvexProblem(
            c,
            Q=_matrix(self.objective.quad, n) if self.objective.quad else None,
            A=a if linear else None,
            row_lower=[_less(low, polynomial.constant) for polynomial, low, _ in linear] if linear else None,
            row_upper=[_less(high, polynomial.constant) for polynomial, _, high in linear] if linear else None,
            quadratic_rows=quadratic,
            lower=self.lower,
            upper=self.upper,
            sense=self.sense,
            constant=self.objective.constant,
            names=self.names,
        )

    def store(self, result):
        """Set the values of the variables, the problem's value, status and statistics; clear the dual values."""
        settings = self.cvxpy.settings
        for variable in self.source.variables():
            first = self.first[variable.id]
            value = None
            if result.solution is not None:
                value = result.solution.z[first : first + variable.size].reshape(variable.shape, order="F")
            variable.save_value(value)
        status = {
            Status.OPTIMAL: settings.OPTIMAL,
            Status.INFEASIBLE: settings.INFEASIBLE,
            Status.UNBOUNDED: settings.UNBOUNDED,
            Status.NUMERICAL: settings.OPTIMAL_INACCURATE if result.solution is not None else settings.SOLVER_ERROR,
        }.get(result.status, settings.USER_LIMIT)
        # A global optimum has no multipliers that prove it; those of an earlier solver would pass for ours.
        for constraint in self.source.constraints:
            for dual in constraint.dual_variables:
                dual.save_value(None)
        # CVXPY offers no public way in for a solver from outside.
        self.source._value, self.source._status = result.objective, status
        self.source._solution = None
        self.source._solver_stats = self.cvxpy.problems.problem.SolverStats(
            solver_name="gopfast",
            solve_time=result.time,
            num_iters=result.n_nodes,
            extra_stats={"bound": result.bound, "gap": result.gap, "n_lps": result.n_lps},
        )

    def _add_variable(self, variable):
        refused = [name for name in ("boolean", "integer", "complex", "imag", "hermitian", "PSD", "NSD", "symmetric",
                                     "diag", "sparsity") if _truthy(variable.attributes.get(name))]
        if refused:
            raise InputTypeError(f"variable {variable.name()} is {refused[0]}, which gopfast does not take")
        low, high = np.full(variable.shape, -math.inf), np.full(variable.shape, math.inf)
        if variable.attributes.get("nonneg") or variable.attributes.get("pos"):
            low = np.maximum(low, 0.0)
        if variable.attributes.get("nonpos") or variable.attributes.get("neg"):
            high = np.minimum(high, 0.0)
        bounds = variable.attributes.get("bounds")
        if bounds is not None:
            low = np.maximum(low, -math.inf if bounds[0] is None else bounds[0])
            high = np.minimum(high, math.inf if bounds[1] is None else bounds[1])
        self.first[variable.id] = len(self.names)
        for k, index in enumerate(np.ndindex(variable.shape[::-1])):
            where = "" if variable.ndim == 0 else str(list(index[::-1]))
            self.names.append(f"{variable.name()}{where}")
            self.lower.append(float(np.broadcast_to(low, variable.shape).flatten(order="F")[k]))
            self.upper.append(float(np.broadcast_to(high, variable.shape).flatten(order="F")[k]))

    def _add_constraint(self, constraint):
        cp = self.cvxpy.constraints
        if isinstance(constraint, (cp.Equality, cp.Zero)):
            low, high = 0.0, 0.0
        elif isinstance(constraint, (cp.Inequality, cp.NonPos)):
            low, high = -math.inf, 0.0
        elif isinstance(constraint, cp.NonNeg):
            low, high = 0.0, math.inf
        else:
            raise InputTypeError(
                f"constraint {constraint} is a {type(constraint).__name__}; gopfast takes <=, >= and == only"
            )
        expression = constraint.expr if hasattr(constraint, "expr") else constraint.args[0]
        for polynomial in self._flat(expression):
            self.rows.append((polynomial, low, high))

    def _new_variable(self, name, low=-math.inf, high=math.inf):
        self.names.append(f"{name}#{len(self.names)}")
        self.lower.append(low)
        self.upper.append(high)
        return len(self.names) - 1

    # Expressions

    def _flat(self, expression):
        """Polynomials of an expression, column by column."""
        return list(np.asarray(self._array(expression), dtype=object).flatten(order="F"))

    def _array(self, expression):
        """Object array of polynomials in the shape of the expression."""
        cp = self.cvxpy
        if isinstance(expression, cp.Variable):
            first = self.first[expression.id]
            entries = np.empty(expression.size, dtype=object)
            for k in range(expression.size):
                entries[k] = Polynomial(self, 0.0, {first + k: 1.0})
            return entries.reshape(expression.shape, order="F")
        if expression.is_constant():
            value = expression.value
            if value is None:
                raise InputError(f"parameter without a value in {expression}")
            value = np.asarray(value.toarray() if sparse.issparse(value) else value, dtype=float)
            return np.vectorize(lambda number: Polynomial(self, float(number)), otypes=[object])(value)
        values = [self._array(argument) for argument in expression.args]
        translate = _ATOMS.get(type(expression).__name__)
        try:
            if translate is not None:
                array = translate(self, expression, values)
            elif isinstance(expression, cp.atoms.affine.affine_atom.AffAtom):
                array = self._affine(expression, values)
            else:
                raise TypeError("no bilinear or convex quadratic form")
        except InputError:
            raise
        except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
            raise InputTypeError(
                f"gopfast cannot take the expression {expression} ({type(expression).__name__}): {error}"
            ) from None
        return np.asarray(array, dtype=object).reshape(expression.shape, order="F")

    def _affine(self, expression, values):
        """Evaluate an affine atom: by its own arithmetic if it can do polynomials, else from its matrix."""
        varying = [k for k, argument in enumerate(expression.args) if not argument.is_constant()]
        name = type(expression).__name__
        if name in _ARITHMETIC:
            return expression.numeric(values)
        if len(varying) > 1 and name not in _STACKS:
            raise TypeError("more than one argument that varies")
        numbers = [np.vectorize(lambda p: p.constant, otypes=[float])(array) for array in values]
        for k in varying:
            numbers[k] = np.zeros(values[k].shape)
        offset = np.asarray(expression.numeric(list(numbers)))
        result = np.vectorize(lambda number: Polynomial(self, float(number)), otypes=[object])(offset).ravel()
        for k in varying:
            for entry in range(values[k].size):
                unit = np.zeros(values[k].shape)
                unit.flat[entry] = 1.0
                moved = expression.numeric([*numbers[:k], unit, *numbers[k + 1 :]])
                column = np.asarray(moved - offset).ravel()
                for row in np.flatnonzero(column):
                    result[row] = result[row] + values[k].flat[entry] * column[row]
        return result.reshape(expression.shape)

    def product(self, p, q):
        """Multiply two polynomials; a factor of degree 2 is replaced by a variable of its own."""
        if p.degree == 2 and q.degree == 2:
            p, q = self._equal("factor", p), self._equal("factor", q)
        if p.degree == 2:
            p, q = q, p
        if q.degree == 2:
            q = self._upper_bound(q)
        quad, lin = {}, {}
        for i, a in p.lin.items():
            for j, b in q.lin.items():
                pair = (i, j) if i <= j else (j, i)
                quad[pair] = quad.get(pair, 0.0) + a * b
        for i, a in p.lin.items():
            lin[i] = lin.get(i, 0.0) + a * q.constant
        for j, b in q.lin.items():
            lin[j] = lin.get(j, 0.0) + b * p.constant
        return Polynomial(
            self, p.constant * q.constant, _sum(lin, {}), {pair: value for pair, value in quad.items() if value}
        )

    def square(self, p):
        """Square; of more than a multiple of a variable it is r^2 with r a variable of its own."""
        if p.degree == 0:
            return Polynomial(self, p.constant**2)
        if p.degree == 2 or len(p.lin) > 1 or p.constant != 0.0:
            ((r, _),) = self._equal("residual", p).lin.items()
            return Polynomial(self, 0.0, {}, {(r, r): 1.0})
        ((i, a),) = p.lin.items()
        return Polynomial(self, 0.0, {}, {(i, i): a * a})

    def quotient(self, p, q):
        """Quotient of two polynomials: t with t q = p, where the bounds keep q away from 0."""
        ends = self.range(q)
        if ends[0] <= 0.0 <= ends[1]:
            raise TypeError("division by a variable that the bounds do not keep away from 0")
        t = self._new_variable("quotient", *intervals.over(self.range(p), ends))
        if q.degree == 2:
            q = self._equal("divisor", q)
        self.rows.append((self.product(Polynomial(self, 0.0, {t: 1.0}), q) - p, 0.0, 0.0))
        return Polynomial(self, 0.0, {t: 1.0})

    def root(self, p):
        """Square root: t >= 0 with t t = p, which says p >= 0."""
        if p.degree == 0 and p.constant >= 0.0:
            return Polynomial(self, math.sqrt(p.constant))
        ends = self.range(p)
        if ends[1] < 0.0:
            raise TypeError("a root of what is negative within the bounds")
        t = self._new_variable("root", *intervals.root(ends, 2))
        self.rows.append((Polynomial(self, 0.0, {}, {(t, t): 1.0}) - p, 0.0, 0.0))
        return Polynomial(self, 0.0, {t: 1.0})

    def power(self, p, exponent):
        """Power; of what CVXPY's atom has for nonnegative arguments only they must be known to be that."""
        if exponent == 0.5:
            return self.root(p)
        if exponent != round(exponent) or not 1 <= abs(exponent) <= MOST_DEGREE:
            raise TypeError(f"a power of {exponent:g}: there are 1/2 and whole numbers up to {MOST_DEGREE}")
        whole = abs(int(exponent))
        if (exponent < 0 or whole & (whole - 1)) and self.range(p)[0] < 0.0:
            raise TypeError("a power that CVXPY has for nonnegative arguments only, of one that may be negative")
        raised = self._whole_power(p, whole)
        return 1.0 / raised if exponent < 0 else raised

    def _whole_power(self, p, exponent):
        """Power by squares: p^7 is p times the square of p times p^2."""
        if exponent == 1:
            return p
        half = self.square(self._whole_power(p, exponent // 2))
        return half * p if exponent % 2 else half

    def _equal(self, name, p):
        """Return a variable that is equal to a polynomial; equal ones have the same."""
        key = p.constant, frozenset(p.lin.items()), frozenset(p.quad.items())
        if key not in self.equal:
            r = self.equal[key] = self._new_variable(name, *self.range(p))
            self.rows.append((p + Polynomial(self, 0.0, {r: -1.0}), 0.0, 0.0))
        return Polynomial(self, 0.0, {self.equal[key]: 1.0})

    def _upper_bound(self, *terms):
        """Return a variable that is at least each of the terms; where it must not be more is checked at the end."""
        # At an optimum it need not exceed what the terms can be.
        ranges = [self.range(term) for term in terms]
        t = self._new_variable("bound", max(low for low, _ in ranges), max(high for _, high in ranges))
        self.epigraphs.add(t)
        for term in terms:
            self.own_rows.add((len(self.rows), t))
            self.rows.append((term + Polynomial(self, 0.0, {t: -1.0}), -math.inf, 0.0))
        return Polynomial(self, 0.0, {t: 1.0})

    def range(self, p):
        """Interval that holds the values of a polynomial, from the bounds of its variables; rounded outward."""
        total = (p.constant, p.constant)
        for i, a in p.lin.items():
            total = intervals.plus(total, intervals.times((a, a), self._bounds(i)))
        for (i, j), a in p.quad.items():
            values = intervals.square(self._bounds(i)) if i == j else intervals.times(self._bounds(i), self._bounds(j))
            total = intervals.plus(total, intervals.times((a, a), values))
        return total

    def _bounds(self, i):
        return self.lower[i], self.upper[i]

    def maximum(self, terms):
        """Return the greatest of some polynomials."""
        return self._upper_bound(*terms)

    def _check_epigraphs(self, minimise):
        """Upper bounds stand for their terms where more of them is worse; elsewhere, of one term, they equal it."""
        while self.epigraphs:
            wrong = next(self._misused(minimise), None)
            if wrong is None:
                return
            own = sorted(number for number, t in self.own_rows if t == wrong)
            if len(own) > 1:
                self._add_greatest(wrong, own)
            else:
                # the term then is bounded from below, too, and what it is made of is looked at again
                term, _, high = self.rows[own[0]]
                self.rows[own[0]] = term, 0.0, high
            self.epigraphs.remove(wrong)

    def _add_greatest(self, t, rows):
        """Make an upper bound the greatest of its terms: the first, and what the next ones have above it (XP1)."""
        bound = Polynomial(self, 0.0, {t: 1.0})
        first, *others = (self.rows[row][0] + bound for row in rows)
        for term in others:
            above = self._positive_part(term - first)
            first = first + above
        self.rows.append((first - bound, 0.0, 0.0))

    def _positive_part(self, p):
        """Return a where p = a - b, a b = 0, 0 <= a and 0 <= b."""
        low, high = self.range(p)
        ends = {"above": max(high, 0.0), "below": max(-low, 0.0)}
        above, below = (Polynomial(self, 0.0, {self._new_variable(name, 0.0, end): 1.0}) for name, end in ends.items())
        self.rows.append((p - above + below, 0.0, 0.0))
        self.rows.append((above * below, 0.0, 0.0))
        return above

    def _misused(self, minimise):
        """Variables that are upper bounds where more of them is not worse."""
        forms = [(None, self.objective, minimise, not minimise)]
        forms += [(k, row, math.isfinite(high), math.isfinite(low)) for k, (row, low, high) in enumerate(self.rows)]
        for number, form, bounded_above, bounded_below in forms:
            for i, a in form.lin.items():
                if i in self.epigraphs and (number, i) not in self.own_rows:
                    if not (bounded_above and not bounded_below if a > 0 else bounded_below and not bounded_above):
                        yield i
            for (i, j), a in form.quad.items():
                for t, other in ((i, j), (j, i)):
                    grows = (a > 0 and self.lower[other] >= 0) or (a < 0 and self.upper[other] <= 0)
                    falls = (a > 0 and self.upper[other] <= 0) or (a < 0 and self.lower[other] >= 0)
                    worse = (grows and not bounded_below) if bounded_above else (falls and bounded_below)
                    if t in self.epigraphs and not worse:
                        yield t


def _absolute(translation, expression, values):
    return _each(values[0], lambda p: translation.maximum([p, -p]))


def _maximum(translation, expression, values):
    arrays = np.broadcast_arrays(*values)
    return _each(np.arange(arrays[0].size).reshape(arrays[0].shape), lambda k: translation.maximum(
        [array.flat[k] for array in arrays]))


def _minimum(translation, expression, values):
    return -_maximum(translation, expression, [-array for array in values])


def _greatest(translation, expression, values):
    if expression.axis is not None:
        raise TypeError("max or min along an axis")
    return translation.maximum(list(values[0].flat))


def _least(translation, expression, values):
    return -_greatest(translation, expression, [-values[0]])


def _power(translation, expression, values):
    exponent = float(np.asarray(getattr(expression.p, "value", expression.p)))
    return _each(values[0], lambda p: translation.power(p, exponent))


def _quad_over_lin(translation, expression, values):
    divisor = values[1].flat[0]
    if getattr(expression, "axis", None) is not None:
        raise TypeError("squares along an axis")
    if divisor.degree > 0 and translation.range(divisor)[0] <= 0.0:
        raise TypeError("squares over what may be 0 or negative")
    return sum((translation.square(p) for p in values[0].flat), Polynomial(translation)) / divisor


def _quad_form(translation, expression, values):
    x, P = values[0].ravel(), np.array([[p.constant for p in row] for row in np.atleast_2d(values[1])])
    if any(p.degree > 0 for p in values[1].flat) or any(p.degree > 1 for p in x):
        raise TypeError("a quadratic form of products")
    terms = (x[i] * x[j] * P[i, j] for i in range(len(x)) for j in range(len(x)) if P[i, j])
    return sum(terms, Polynomial(translation))


def _norm1(translation, expression, values):
    return sum(_each(values[0], lambda p: translation.maximum([p, -p])).flat, Polynomial(translation))


def _norm_inf(translation, expression, values):
    return translation.maximum([q for p in values[0].flat for q in (p, -p)])


# Atoms whose evaluation does arithmetic and nothing else
_ARITHMETIC = {"AddExpression", "NegExpression", "MulExpression", "multiply", "DivExpression", "index", "special_index"}

_STACKS = {"Hstack", "Vstack", "Concatenate"}

_ATOMS = {
    "abs": _absolute,
    "maximum": _maximum,
    "max": _greatest,
    "minimum": _minimum,
    "min": _least,
    "Power": _power,
    "PowerApprox": _power,
    "power": _power,
    "quad_over_lin": _quad_over_lin,
    "QuadForm": _quad_form,
    "norm1": _norm1,
    "norm_inf": _norm_inf,
}


def _each(array, function):
    result = np.empty(array.shape, dtype=object)
    for k in range(array.size):
        result.flat[k] = function(array.flat[k])
    return result


def _less(bound, constant):
    """Bound less a constant; what is infinite stays so, whatever the constant."""
    return bound if math.isinf(bound) else bound - constant


def _sum(first, second):
    """Sum of two sparse vectors without zeros."""
    total = dict(first)
    for key, value in second.items():
        total[key] = total.get(key, 0.0) + value
    return {key: value for key, value in total.items() if value != 0.0}


def _matrix(quad, n):
    rows, columns = zip(*quad, strict=True)
    return sparse.coo_array((list(quad.values()), (rows, columns)), shape=(n, n))


def _truthy(attribute):
    return attribute is not None and attribute is not False and bool(np.size(attribute))
