"""Proofs of biconvex problems: linear, bilinear and quadratic terms, functions of one variable, continuous variables.

The problem is an object as `gopfast.BiconvexProblem.from_json` or `gopfast.PolynomialProblem.read` reads it, minimised
here whatever its sense. Products of three and more variables are taken apart here (`products`): the tree and its
certificates are of the variables of the object and then of those that this adds. ``header``:

- ``digest``: SHA-256 of the problem, see `BiconvexProblem.digest`;
- ``claim``: ``bound``, which no feasible point is below, minimised; null: no point is feasible. ``objective`` and
  ``solution`` (n,), or null; ``violation``: the greatest of the solution's, see `BiconvexProblem.violation`.

``splits`` and ``points`` (M,): nodes, each before all below it. A number from 0: the variable that is split at the
point, the lower part first. -1: a leaf, which has no feasible point better than the bound, or is empty. -2: a box that
is cut, with one node below it. -3: a box that the ranges of the problem's functions narrow, with one node below it
(`gopfast.checker.functions`). -4: the two cases of the row whose number is the point, which says that the product of
two variables is 0: first that the one with the smaller number is 0, then the other. Leaves and cuts have a certificate
(`gopfast.checker.certificate`) each, in the tree's order: ``first``, ``second`` and ``multipliers``, of the C-th those
from ``starts[C]`` to ``starts[C + 1]``. A cut also has the rows from ``cuts[c]`` to ``cuts[c + 1]`` of ``variables``,
``slopes`` and ``ends``: j, s and v. ``vectors`` are
(S, n + 1). ``tangents`` (T, n + 1) are affine functions that are not negative where the rows ``hyperbolas`` (T,) hold
(`gopfast.checker.hyperbolas`): in the tree and its certificates they are rows, after the problem's own. ``directions``
(D, n + 1) are affine functions of the n variables before: each is a variable of its own behind these, n + D in all,
with an equation behind the problem's rows and before the tangents. ``lines`` (L,)
and ``line_slopes`` (L,): functions, by number from 0, and slopes of lines beside them.

Theory: (V9), (V11) of docs/theory/proofs.md; (VL3) of docs/theory/convex_proofs.md; (XF3) of
docs/theory/functions.md.
"""

import hashlib
import json
import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from . import functions
from .certificate import Certificates
from .entries import item, number, numbers
from .errors import ProofError
from .hyperbolas import with_tangents
from .margins import BLUR
from .products import common_factor, range_of, range_of_sum, rounded, taken_apart
from .rounding import UNIT, up
from .tuning import BICONVEX_DEPTH as MOST_DEPTH, MOST_VIOLATION, TABLE_NUMBERS as MOST_NUMBERS

LEAF, CUT, RANGES, CASES = -1, -2, -3, -4
LARGEST = 1e100


class BiconvexProblem:
    """
    A problem as the checker holds it.

    Parameters
    ----------
    record : dict

    Attributes
    ----------
    n_given, n : int
        Number of variables of the object, and with those for products of three and more.
    low, high : ndarray, shape (n,)
    is_equation, is_affine : ndarray of bool, shape (m,)
        Of the rows, whose slacks are not negative, or 0.
    monomials : (ndarray, ndarray)
        Pairs i <= j of places in (1, z), the first of them (0, 0).
    forms : ndarray, shape (m + 1, U)
        Coefficients of the rows' slacks in these monomials, and last of the objective, minimised.
    affine : ndarray, shape (m, n + 1)
        The slacks that are affine; zeros for the others.
    polynomials : list of dict
        What `forms` has, exactly: pairs -> Fraction.
    functions : list of gopfast.checker.functions.Function
        Of variables that are functions of others.
    """

    def __init__(self, record):
        variables = item(record, "variables", "problem")
        if not isinstance(variables, dict) or not variables:
            raise ProofError("problem", "variables must be an object")
        self.names, self.n = list(variables), len(variables)
        self.sense = record.get("sense", "min")
        if self.sense not in ("min", "max"):
            raise ProofError("problem", "sense must be min or max")
        bounds = [value if isinstance(value, list) and len(value) == 2 else [0, "x"] for value in variables.values()]
        self.low = np.array([-math.inf if low is None else _number(low) for low, _ in bounds])
        self.high = np.array([math.inf if high is None else _number(high) for _, high in bounds])
        place = {name: i + 1 for i, name in enumerate(self.names)}
        self.functions = functions.read(record.get("functions") or [], place, self.low)
        rows = record.get("constraints") or []
        if not isinstance(rows, list):
            raise ProofError("problem", "constraints must be a list")
        senses = [item(row, "sense", f"constraint {k}") for k, row in enumerate(rows)]
        if not all(sense in ("<=", ">=", "==") for sense in senses):
            raise ProofError("problem", "a constraint's sense must be <=, >= or ==")
        polynomials = [_polynomial(row, place, f"constraint {k}") for k, row in enumerate(rows)]
        polynomials.append(_polynomial(item(record, "objective", "problem"), place, "objective"))
        for row, sense, terms in zip(rows, senses, polynomials, strict=False):
            terms[0, 0] -= Fraction(_number(item(row, "rhs", "constraint")))
            if sense == "<=":
                terms.update({pair: -a for pair, a in terms.items()})
        if self.sense == "max":
            polynomials[-1] = {pair: -a for pair, a in polynomials[-1].items()}
        is_equation = [sense == "==" for sense in senses]
        self._add_products(polynomials, is_equation)
        self._take(polynomials, np.array(is_equation, bool))

    def _add_products(self, polynomials, is_equation):
        """Take terms of three and more factors apart: variables for products of two, and an equation for each."""
        self.n_given = self.n
        self.pairs, short = taken_apart([key for terms in polynomials for key in terms], self.n)
        for k, terms in enumerate(polynomials):
            polynomials[k] = Counter()
            for key, a in terms.items():
                polynomials[k][short.get(key, key)] += a
        equations = []
        for a, b in self.pairs:
            ranges = [(float(self.low[i - 1]), float(self.high[i - 1])) for i in (a, b)]
            least, most = range_of(*ranges, a == b)
            self.low, self.high = np.append(self.low, least), np.append(self.high, most)
            self.n += 1
            equations.append({(0, 0): Fraction(0), (0, self.n): Fraction(1), (a, b): Fraction(-1)})
        self.n_rows_given, self.sums = len(is_equation), []
        for k in range(self.n_rows_given):
            found = common_factor(polynomials[k]) if is_equation[k] else None
            if found is not None:
                equations += self._add_sum(*found)
        polynomials[-1:-1] = equations
        is_equation += [True] * len(equations)

    def _add_sum(self, factor, affine):
        """Add the variable of a sum, which times another is 0: the two equations that say so."""
        return [self._name_sum(affine), {(0, 0): Fraction(0), (factor, self.n): Fraction(1)}]

    def _name_sum(self, affine):
        """Add the variable of a sum: the equation that says so."""
        bounds = [(1.0, 1.0), *zip(self.low.tolist(), self.high.tolist(), strict=True)]
        least, most = range_of_sum((bounds[i], a) for i, a in affine.items())
        self.low, self.high = np.append(self.low, least), np.append(self.high, most)
        self.n += 1
        self.sums.append(affine)
        return {(0, 0): Fraction(0), (0, self.n): Fraction(1)} | {(0, i): -a for i, a in affine.items()}

    def with_sums(self, vectors):
        """
        Return the problem with a variable for each of some sums of its own, and the equations that say so.

        Parameters
        ----------
        vectors : ndarray, shape (D, n + 1)
            Constants and coefficients.

        Raises
        ------
        ProofError
            If they are of another number of variables, or too many: more than these are sums of each other.
        """
        if vectors.shape[1:] != (self.n + 1,):
            raise ProofError("directions", f"must have {self.n + 1} columns")
        if len(vectors) > self.n:
            raise ProofError("directions", "are more than the variables")
        if (len(self.forms) + len(vectors)) * (len(self.monomials[0]) + self.n + len(vectors) + 1) > MOST_NUMBERS:
            raise ProofError("directions", "are too many")
        if not len(vectors):
            return self
        found = object.__new__(BiconvexProblem)
        vars(found).update(vars(self))
        found.sums = list(self.sums)
        equations = [found._name_sum({i: Fraction(a) for i, a in enumerate(vector.tolist()) if a})
                     for vector in vectors]  # fmt: skip
        found._take([*self.polynomials[:-1], *equations, self.polynomials[-1]],
                    np.append(self.is_equation, np.ones(len(equations), bool)))  # fmt: skip
        return found

    def extended(self, polynomials):
        """Return the problem with more rows, whose slacks are not negative, before its objective."""
        found = object.__new__(BiconvexProblem)
        vars(found).update(vars(self))
        found._take([*self.polynomials[:-1], *polynomials, self.polynomials[-1]],
                    np.append(self.is_equation, np.zeros(len(polynomials), bool)))  # fmt: skip
        return found

    def _take(self, polynomials, is_equation):
        """Take these rows, and the objective after them."""
        self.polynomials, self.is_equation = polynomials, is_equation
        pairs = sorted({(0, 0), *(pair for terms in polynomials for pair in terms)})
        places = {pair: u for u, pair in enumerate(pairs)}
        self.monomials = tuple(np.array([pair[side] for pair in pairs]) for side in range(2))
        self.forms = np.zeros((len(polynomials), len(pairs)))
        for k, terms in enumerate(polynomials):
            for pair, a in terms.items():
                near = float(a)
                self.forms[k, places[pair]] = near
                # slacks may be a little larger than they are, and an objective smaller: by their constant alone
                if pair == (0, 0) and not (k < len(is_equation) and is_equation[k]):
                    if k < len(is_equation) and near < a:
                        self.forms[k, 0] = up(near)
                    elif k == len(is_equation) and near > a:
                        self.forms[k, 0] = -up(-near)
                elif Fraction(near) != a:
                    raise ProofError("problem", "numbers of an expression that are added must have a double as sum")
        is_linear = self.monomials[0] == 0
        own = self.forms[:-1]
        self.is_affine = ~(own[:, ~is_linear] != 0).any(axis=1)
        self.affine = np.zeros((len(own), self.n + 1))
        self.affine[:, self.monomials[1][is_linear]] = own[:, is_linear] * self.is_affine[:, np.newaxis]

    def digest(self):
        """SHA-256 of the names and the numbers, as little-endian doubles."""
        text = hashlib.sha256(json.dumps([self.names, self.sense, self.is_equation.tolist()]).encode())
        for array in (self.low, self.high, *self.monomials, self.forms):
            text.update(np.ascontiguousarray(array + 0.0, dtype="<f8").tobytes())
        if self.functions:
            text.update(json.dumps([[*own[:1], own.exponent.hex(), *own[2:]] for own in self.functions]).encode())
        return text.hexdigest()

    def objective(self, z):
        """Evaluate the objective at a point, minimised and rounded up."""
        return rounded(_value_at(self.polynomials[-1], self._exactly(z)), math.inf)

    @np.errstate(all="ignore")  # where bounds are infinite
    def violation(self, z):
        """
        Bound the violations of a point from above.

        That of a row is divided by its greatest term at the point, but at least by f, the least of 1, its greatest
        coefficient and the greatest that a term can be, and at most by the greatest of f, its constant, and the
        greatest terms where variables are 1, and 0, or as near to it as they can be; that of a variable's bound by the
        bound or 1; of a function's value relative to itself, or to 1 where it can be as large.
        """
        z = self.completed(z)
        rows = slice(self.n_rows_given)  # not what was added, which holds but for rounding
        terms = self._terms(z)[rows]
        largest, nearest = np.maximum(np.abs(self.low), np.abs(self.high)), np.maximum(self.low, -self.high)
        greatest, coefficient, most, unit, least = (np.abs(own[:, 1:]).max(axis=1, initial=0.0) for own in (
            terms, self.forms[rows], self._terms(largest)[rows], self._terms(np.minimum(largest, 1.0))[rows],
            self._terms(np.maximum(nearest, 0.0))[rows]))  # fmt: skip
        floor = np.minimum(np.minimum(coefficient, most), 1.0)
        data = np.maximum(np.maximum(unit, least), np.maximum(floor, np.abs(self.forms[rows, 0])))
        size = np.maximum(np.minimum(np.maximum(greatest, floor), data), 1e-300)
        size[np.isinf(size)] = np.nan  # nothing is small beside it
        slacks = np.array([_sum(own) for own in terms])
        rounding = 8 * UNIT * np.abs(terms).sum(axis=1)
        inexact = np.flatnonzero(~(rounding <= BLUR * size)).tolist()
        point = self._exactly(z) if inexact else None
        for row in inexact:
            slacks[row], rounding[row] = _nearest_and_error(_value_at(self.polynomials[row], point))
        excess = np.where(self.is_equation[rows], np.abs(slacks), -slacks) + rounding
        violations = np.maximum(excess, 0.0) / size
        out = np.maximum(np.maximum(self.low - z, z - self.high), 0.0)
        out /= np.maximum(1.0, np.where(z < self.low, np.abs(self.low), np.abs(self.high)))
        off = max((self._off_function(own, z) for own in self.functions), default=0.0)
        return float(np.max([violations.max(initial=0.0), out.max(initial=0.0), off])) * (1 + 1e-12)

    def _off_function(self, own, z):
        """Bound how far a variable is from the function that it is of another one, from above."""
        argument, value = float(z[own.argument]), float(z[own.value])
        if own.name != "exp" and argument < 0:
            return math.inf
        largest = float(max(-self.low[own.value], self.high[own.value]))
        size = max(abs(value), min(1.0, largest) if largest > 0 else 1.0)
        return own.off(argument, value) / size * (1 + 1e-12)

    def _exactly(self, z):
        """Return 1 and the values of the object's variables and of their products at a point, as fractions."""
        values = [Fraction(1), *map(Fraction, z[: self.n_given].tolist())]
        for a, b in self.pairs:
            values.append(values[a] * values[b])
        return values

    def completed(self, z):
        """Return a point (n,) of one (n_given,) of the object's variables, or of all."""
        values = [1.0, *z.tolist()]
        if len(z) < self.n:
            values += [0.0] * (self.n - len(z))
            for k, (a, b) in enumerate(self.pairs, len(z) + 1):
                values[k] = values[a] * values[b]
            for k, affine in enumerate(self.sums, self.n - len(self.sums) + 1):
                values[k] = _sum([float(a) * values[i] for i, a in affine.items()])
        return np.array(values[1:])

    def _terms(self, z):
        """Terms (m + 1, U) at a point."""
        z = np.append(1.0, self.completed(z))
        first, second = (z[side] for side in self.monomials)
        values = np.where((first == 0) | (second == 0), 0.0, first * second)
        return np.where(self.forms == 0, 0.0, self.forms * values)


def _sum(terms):
    """Add floats, correctly rounded; not a number where they are too large."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return math.nan


def _value_at(polynomial, point):
    return sum((a * point[i] * point[j] for (i, j), a in polynomial.items() if a), Fraction(0))


def _nearest_and_error(number):
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf, 0.0
    return near, 2 * UNIT * abs(near)


@dataclass(frozen=True)
class CheckedBiconvex:
    """
    What a proof of a biconvex problem shows.

    Attributes
    ----------
    bound : float
        No feasible point has a better objective: a smaller one where it is minimised, else a greater one.
    objective : float
        The solution's; where none is known the worst there is.
    violation : float
        The greatest relative violation of a row at the solution.
    n_leaves : int
    sense : str
    solution : dict
        Values of the variables by name.
    """

    bound: float
    objective: float
    violation: float
    n_leaves: int
    sense: str
    solution: dict[str, float] = field(repr=False)

    @property
    def gap(self) -> float:
        """How far the solution is from the optimum at most."""
        sign = 1.0 if self.sense == "min" else -1.0
        return 0.0 if self.objective == self.bound else max(0.0, sign * (self.objective - self.bound))

    def __str__(self) -> str:
        """One line."""
        if not self.solution and math.isinf(self.bound):
            return f"checked: no point meets the constraints ({self.n_leaves:,} leaves)"
        better = "below" if self.sense == "min" else "above"
        attained = f"the solution attains {self.objective:.8g}" if self.solution else "no solution is known"
        return (f"checked: no feasible point is {better} {self.bound:.8g}, {attained} (gap {self.gap:.3g}, violation "
                f"{self.violation:.1e}; {self.n_leaves:,} leaves)")  # fmt: skip


def check(header, arrays, record):
    """Check a proof of a problem in the form of `gopfast.BiconvexProblem.from_json`."""
    problem, claim = BiconvexProblem(record), item(header, "claim", "header")
    if item(header, "digest", "header") != problem.digest():
        raise ProofError("digest", "the proof is of another problem")
    bound = None if item(claim, "bound", "claim") is None else number(claim, "bound", "claim")
    stated = with_tangents(problem.with_sums(arrays["directions"]), arrays["hyperbolas"], arrays["tangents"])
    lines = [arrays[name].tolist() for name in ("lines", "line_slopes")]
    n_leaves = check_tree(stated, arrays, Certificates(stated, arrays["vectors"], bound, lines))
    sign = 1.0 if problem.sense == "min" else -1.0
    proved = math.inf if bound is None else bound
    if item(claim, "solution", "claim") is None:
        return CheckedBiconvex(sign * proved, sign * math.inf, 0.0, n_leaves, problem.sense, {})
    z = numbers(claim, "solution", "claim", (problem.n_given,))
    value, violation = problem.objective(z), problem.violation(z)
    if not value <= number(claim, "objective", "claim"):
        raise ProofError("solution", f"its objective is {value:.12g}, the proof claims {claim['objective']:.12g}")
    if not violation <= min(number(claim, "violation", "claim"), MOST_VIOLATION):
        raise ProofError("solution", f"its violation is {violation:.3g}, the proof claims {claim['violation']:.3g}")
    values = dict(zip(problem.names, z.tolist(), strict=True))
    return CheckedBiconvex(sign * proved, sign * value, violation, n_leaves, problem.sense, values)


def check_tree(problem, arrays, rule):
    """Check that every node of a tree holds what it says; return the number of leaves."""
    splits, points = (arrays[name].tolist() for name in ("splits", "points"))
    if len(splits) != len(points):
        raise ProofError("points", "must be as many as splits")
    kinds = arrays["splits"]
    starts = _starts(arrays, "starts", int(np.isin(kinds, (LEAF, CUT)).sum()), ("first", "second", "multipliers"))
    cuts = _starts(arrays, "cuts", int((kinds == CUT).sum()), ("variables", "slopes", "ends"))
    stack, n_leaves, n_certificates, n_cuts = [(problem.low, problem.high)], 0, 0, 0
    most_depth = min(MOST_DEPTH, MOST_NUMBERS // problem.n)
    for node, (kind, point) in enumerate(zip(splits, points, strict=True)):
        if not stack:
            raise ProofError(f"node {node}", "the tree has ended before")
        low, high = stack.pop()
        if 0 <= kind < problem.n:
            first, last = high.copy(), low.copy()
            first[kind], last[kind] = min(high[kind], point), max(low[kind], point)
            stack += [(last, high), (low, first)]
            if len(stack) >= most_depth:
                raise ProofError(f"node {node}", "the tree is too deep")
            continue
        if kind == RANGES:
            stack.append((low, high) if (low > high).any() else functions.narrowed(problem.functions, low, high))
            continue
        if kind == CASES:
            pair = factors(problem, point, low, high)
            if pair is None:
                raise ProofError(f"node {node}", f"row {point:g} does not say that a product is 0")
            stack += [at_zero(j, low, high) for j in reversed(pair)]
            if len(stack) >= most_depth:
                raise ProofError(f"node {node}", "the tree is too deep")
            continue
        if kind not in (LEAF, CUT):
            raise ProofError(f"node {node}", f"there is no variable {kind}")
        own = slice(starts[n_certificates], starts[n_certificates + 1])
        certificate = [arrays[name][own] for name in ("first", "second", "multipliers")]
        n_certificates += 1
        try:
            if kind == LEAF:
                n_leaves += 1
                if not (low > high).any():
                    _leaf(rule, certificate, low, high)
            else:
                own = slice(cuts[n_cuts], cuts[n_cuts + 1])
                moves = zip(*(arrays[name][own].tolist() for name in ("variables", "slopes", "ends")), strict=True)
                stack.append(_cut(rule, certificate, list(moves), low, high))
                n_cuts += 1
        except ValueError as error:
            raise ProofError(f"node {node}", str(error)) from None
    if stack:
        raise ProofError("tree", f"{len(stack)} of its parts are missing")
    return n_leaves


def factors(problem, row, low, high):
    """
    Return the two variables of which one is 0 at every feasible point in a box, by a row; None if it does not say so.

    Parameters
    ----------
    problem : BiconvexProblem
    row : float
        Its number.
    low, high : ndarray, shape (n,)

    Returns
    -------
    (int, int) or None
    """
    if not (0 <= row < len(problem.is_equation) and row == int(row)):
        return None
    terms = {pair: a for pair, a in problem.polynomials[int(row)].items() if a != 0}
    if len(terms) != 1:
        return None
    ((i, j), a), = terms.items()
    if i == 0 or i == j:
        return None
    signs = [1 if low[k - 1] >= 0 else -1 if high[k - 1] <= 0 else 0 for k in (i, j)]
    # the slack a z_i z_j is not negative, and the box says that it is not positive
    return (i - 1, j - 1) if problem.is_equation[int(row)] or a * signs[0] * signs[1] < 0 else None


def at_zero(j, low, high):
    """Return the part of a box, perhaps none, in which a variable is 0."""
    low, high = low.copy(), high.copy()
    low[j], high[j] = max(low[j], 0.0), min(high[j], 0.0)
    return low, high


def _leaf(rule, certificate, low, high):
    least, of_cutoff = rule.least(*certificate, low, high)
    if not (least > 0 or (least >= 0 and of_cutoff > 0)):
        raise ValueError(f"its multipliers prove {least:.3g}, which is no contradiction")


def _cut(rule, certificate, moves, low, high):
    """Return the box that is left; all cuts are of the box as it was."""
    new_low, new_high = low.copy(), high.copy()
    if (low > high).any():
        return new_low, new_high
    rest = rule.rest(*certificate, low, high)
    for j, s, v in moves:
        if not (0 <= j < rule.n and s != 0):
            raise ValueError(f"there is no cut of variable {j} with slope {s}")
        if not rest.least((j, s, v)) >= 0:
            raise ValueError(f"variable {j} is not {'at least' if s > 0 else 'at most'} {v:.12g}")
        if s > 0:
            new_low[j] = max(new_low[j], v)
        else:
            new_high[j] = min(new_high[j], v)
    return new_low, new_high


def _starts(arrays, name, count, parts):
    """Check where the parts of `count` entries begin."""
    starts, size = arrays[name], len(arrays[parts[0]])
    if any(len(arrays[part]) != size for part in parts):
        raise ProofError(parts[0], f"must be as many as {' and '.join(parts[1:])}")
    if len(starts) != count + 1 or starts[0] != 0 or starts[-1] != size or (starts[1:] < starts[:-1]).any():
        raise ProofError(name, f"must be {count + 1} numbers that rise from 0 to {size}")
    return starts.tolist()


def _polynomial(record, place, entry):
    """Terms of an expression: places in (1, z), two in order or as many as it has factors -> exact coefficient."""
    terms = {(0, 0): Fraction(_number(record.get("const", 0.0) if isinstance(record, dict) else None))}
    linear, quadratic, others = record.get("lin") or {}, record.get("quad") or [], record.get("terms") or []
    if not isinstance(linear, dict) or not isinstance(quadratic, list) or not isinstance(others, list):
        raise ProofError(entry, "lin must be an object, quad and terms lists")
    found = [((name,), a) for name, a in linear.items()]
    for row in quadratic:
        if not isinstance(row, list) or len(row) != 3:
            raise ProofError(entry, "quad must be a list of two names and a number each")
        found.append((tuple(row[:2]), row[2]))
    for row in others:
        if not isinstance(row, list) or len(row) != 2 or not isinstance(row[0], list):
            raise ProofError(entry, "terms must be a list of names and a number each")
        found.append((tuple(row[0]), row[1]))
    for names, a in found:
        if not all(isinstance(name, str) and name in place for name in names):
            raise ProofError(entry, f"has a variable that is none: {names}")
        pair = (0,) * (2 - len(names)) + tuple(sorted(place[name] for name in names))
        terms[pair] = terms.get(pair, Fraction(0)) + Fraction(_number(a))
    return terms


def _number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LARGEST:
        raise ProofError("problem", f"{value!r} is no number of at most {LARGEST:g}")
    return float(value)
