"""AMPL's .nl files, in their text form, as polynomial models (Gay, "Writing .nl files", 2005).

A file has ten lines of counts, then segments: expressions in prefix form (C constraints, O objectives, V defined
variables), linear terms (J, G), bounds (r, b), and what no solver needs (k, d, x, S). What follows a # is a remark.
Variables are x0, x1, ..., unless a .col file beside it has their names.
"""

import math
from pathlib import Path

from gopfast.biconvex.composition import Composition, constant, plus, scaled, variable
from gopfast.biconvex.tuning import MOST_IN_FILE
from gopfast.errors import InputError

# Sums and the like, which say how many arguments they have
PLUS, MINUS, TIMES, OVER, POWER, ABSOLUTE, NEGATIVE, ROOT, SUM = 0, 1, 2, 3, 5, 15, 16, 39, 54
CONSTANT_EXPONENT, SQUARE, CONSTANT_BASE, LOG_10, LOG, EXP, LEAST, GREATEST = 76, 77, 78, 42, 43, 44, 11, 12
N_ARGUMENTS = {PLUS: 2, MINUS: 2, TIMES: 2, OVER: 2, POWER: 2, ABSOLUTE: 1, NEGATIVE: 1, ROOT: 1, SUM: None,
               CONSTANT_EXPONENT: 2, SQUARE: 1, CONSTANT_BASE: 2, LOG_10: 1, LOG: 1, EXP: 1, LEAST: None,
               GREATEST: None}  # fmt: skip
NAMES = {
    4: "mod", 13: "floor", 14: "ceil", 35: "if", 37: "tanh", 38: "tan", 40: "sinh", 41: "sin",
    45: "cosh", 46: "cos", 47: "atanh", 48: "atan2", 49: "atan", 50: "asinh",
    51: "asin", 52: "acosh", 53: "acos",
}  # fmt: skip
# Numbers from which on bounds are infinite, as solvers of such files have them
INFINITE = 1e20


def is_binary(path):
    """Whether a .nl file is in the binary form, which is not read here."""
    with Path(path).open("rb") as source:
        return source.read(1) == b"b"


def read(path):
    """
    Read a file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    gopfast.biconvex.composition.Model

    Raises
    ------
    InputError
        If it is none, or has other functions; the message names the file and the row.
    OSError
        If it cannot be opened.
    """
    path = Path(path)
    if path.suffix.lower() != ".nl":
        raise InputError(f"{path}: polynomial problems are read from .json and .nl files")
    if is_binary(path):
        raise InputError(f"{path}: .nl files are read in their text form; AMPL writes it with the option -og")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    names = path.with_suffix(".col")
    try:
        given = names.read_text(encoding="utf-8", errors="replace").splitlines() if names.is_file() else []
        return _File(lines, given, path.stem).model()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, IndexError, OverflowError) as error:
        raise InputError(f"{path} is no .nl file: {error}") from None


class _File:
    """The lines of a file, and what was read of them."""

    def __init__(self, lines, names, name):
        self.lines, self.at, self.name = [line.partition("#")[0].split() for line in lines], 0, name
        if not lines or not lines[0].startswith("g"):
            raise InputError("is no .nl file: it does not begin with g")
        counts = [[int(entry) for entry in line] for line in self.lines[1:10]]
        if len(counts) < 9 or len(counts[0]) < 3 or len(counts[5]) < 5:
            raise InputError("is no .nl file: its head is too short")
        self.at = 10
        self.n, self.m, self.n_objectives = counts[0][:3]
        if not 0 < self.n <= MOST_IN_FILE or not 0 <= self.m <= MOST_IN_FILE:
            raise InputError(f"has {self.n} variables and {self.m} rows; there must be 1 to {MOST_IN_FILE} variables")
        if len(lines) < self.n:
            raise InputError("is no .nl file: it ends before its bounds")
        if any(counts[5][:5]):
            raise InputError("has integer variables; all must be continuous")
        if self.n_objectives > 1:
            raise InputError(f"has {self.n_objectives} objectives; one is solved for")
        if len(counts[0]) > 5 and counts[0][5]:
            raise InputError("has logical constraints")
        given = len(names) >= self.n and len(set(names[: self.n])) == self.n
        self.names = names[: self.n] if given else [f"x{i}" for i in range(self.n)]
        self.rows, self.defined = {}, {}
        self.linear = [{} for _ in range(self.m)]
        self.goal, self.slopes, self.sense = {}, {}, "min"
        self.limits = [(-math.inf, math.inf)] * self.m

    def model(self):
        """Read all: bounds first, of which expressions need the ranges."""
        start = self.at
        self.bounds = [(-math.inf, math.inf)] * self.n
        self.composition = None
        self._segments({"b": self._bounds})
        low, high = ([ends[side] for ends in self.bounds] for side in range(2))
        self.composition = Composition(self.names, low, high)
        self.at = start
        self._segments({
            "C": self._constraint, "O": self._objective, "V": self._defined, "r": self._limits,
            "J": self._row_terms, "G": self._objective_terms,
        })  # fmt: skip
        rows = [
            (plus(self.rows.get(i, {}), self.linear[i]), *self.limits[i]) for i in range(self.m)
        ]  # fmt: skip
        return self.composition.model(plus(self.goal, self.slopes), rows, self.sense, self.name)

    def _segments(self, readers):
        """Read the segments of some kinds, and pass by the others."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line:
                self.at += 1
                continue
            kind = line[0][0]
            if kind in readers:
                self.at += 1
                readers[kind]([line[0][1:], *line[1:]])
            elif kind in "FL":
                raise InputError("has imported functions" if kind == "F" else "has logical constraints")
            else:
                self._pass_by(kind, [line[0][1:], *line[1:]])

    def _pass_by(self, kind, head):
        self.at += 1
        if kind in "dxkJGS":
            self.at += int(head[0]) if kind in "dxk" else int(head[1])
        elif kind in "rb":
            self.at += self.m if kind == "r" else self.n
        elif kind in "COV":
            self.at += int(head[1]) if kind == "V" else 0
            # no line of an expression begins as a segment does
            while self.at < len(self.lines) and not self._is_segment(self.lines[self.at]):
                self.at += 1
        else:
            raise InputError(f"is no .nl file: line {self.at} begins with {kind!r}")

    @staticmethod
    def _is_segment(line):
        return bool(line) and line[0][0] in "COVLFdxkJGSrb"

    def _next(self):
        line = self.lines[self.at]
        self.at += 1
        return line

    def _number(self, text):
        value = float(text)
        if not math.isfinite(value):
            raise InputError(f"has the number {text}")
        return value

    def _bounds(self, head):
        self.bounds = [self._interval(self._next()) for _ in range(self.n)]

    def _limits(self, head):
        self.limits = [self._interval(self._next()) for _ in range(self.m)]

    def _interval(self, line):
        kind, values = line[0], [float(entry) for entry in line[1:]]
        if kind == "5":
            raise InputError("has complementarity conditions")
        low, high = {
            "0": lambda: values[:2], "1": lambda: (-math.inf, values[0]), "2": lambda: (values[0], math.inf),
            "3": lambda: (-math.inf, math.inf), "4": lambda: (values[0], values[0]),
        }.get(kind, lambda: (math.nan, math.nan))()  # fmt: skip
        if low != low or high != high:
            raise InputError(f"is no .nl file: {' '.join(line)!r} is no pair of bounds")
        return (-math.inf if low <= -INFINITE else low), (math.inf if high >= INFINITE else high)

    def _constraint(self, head):
        number = self._place(head[0], self.m)
        self.rows[number] = self._expression(f"row {number}")

    def _objective(self, head):
        self.sense = "max" if head[1] == "1" else "min"
        self.goal = self._expression("the objective")

    def _defined(self, head):
        number = int(head[0])
        linear = self._terms(int(head[1]))
        self.defined[number] = plus(linear, self._expression(f"defined variable {number}"))

    def _row_terms(self, head):
        self.linear[self._place(head[0], self.m)] = self._terms(int(head[1]))

    def _objective_terms(self, head):
        self.slopes = self._terms(int(head[1]))

    def _terms(self, count):
        lines = [self._next() for _ in range(count)]
        return plus(*(scaled(self._variable(int(line[0])), self._number(line[1])) for line in lines))

    def _place(self, text, count):
        number = int(text)
        if not 0 <= number < count:
            raise InputError(f"is no .nl file: there is no row {number}")
        return number

    def _variable(self, number):
        if number in self.defined:
            return self.defined[number]
        if not 0 <= number < self.n:
            raise InputError(f"is no .nl file: there is no variable {number}")
        return variable(number)

    def _expression(self, place):
        """Polynomial of an expression in prefix form: `waiting` has the operations whose arguments are not all read."""
        waiting = []
        while True:
            line = self._next()
            kind, text = line[0][0], line[0][1:]
            if kind == "o":
                code = int(text)
                if code not in N_ARGUMENTS:
                    what = NAMES.get(code, f"operation {code}")
                    raise InputError(
                        f"{place} has {what}, which is outside: there are sums, products, quotients, powers, roots, "
                        "magnitudes, max, min, exp and log; it may be replaced by such expressions that lie below and "
                        "above it"
                    )
                count = int(self._next()[0]) if N_ARGUMENTS[code] is None else N_ARGUMENTS[code]
                if count < 1:
                    raise InputError(f"is no .nl file: {place} has a sum of nothing, or the greatest of it")
                waiting.append((code, count, []))
                continue
            if kind == "v":
                value = self._variable(int(text))
            elif kind in "nsl":
                value = constant(self._number(text))
            else:
                what = "a function" if kind == "f" else repr(line[0])
                raise InputError(f"{place} has {what}, which is outside")
            while waiting:
                waiting[-1][2].append(value)
                code, count, arguments = waiting[-1]
                if len(arguments) < count:
                    break
                waiting.pop()
                try:
                    value = self._operation(code, arguments)
                except InputError as error:
                    raise InputError(f"{place} has {error}") from None
            else:
                return value

    def _operation(self, code, arguments):
        composition = self.composition
        if code in (PLUS, SUM):
            return plus(*arguments)
        if code == MINUS:
            return plus(arguments[0], scaled(arguments[1], -1.0))
        if code == NEGATIVE:
            return scaled(arguments[0], -1.0)
        if code == TIMES:
            return composition.times(*arguments)
        if code == OVER:
            return composition.over(*arguments)
        if code == SQUARE:
            return composition.power(arguments[0], 2)
        if code == ABSOLUTE:
            return composition.size(arguments[0])
        if code in (LEAST, GREATEST):
            sign = 1.0 if code == GREATEST else -1.0
            return scaled(composition.greatest(*(scaled(p, sign) for p in arguments)), sign)
        if code == ROOT:
            return composition.power(arguments[0], 0.5)
        if code == EXP:
            return composition.exp(arguments[0])
        if code in (LOG, LOG_10):
            return scaled(composition.log(arguments[0]), 1.0 if code == LOG else 1.0 / math.log(10.0))
        return composition.raised(*arguments)
