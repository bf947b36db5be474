"""Formulas as text, such as ``x*y*z - x^2/(1 + y)`` and ``x*y <= 4``, as polynomials; nothing of them is run.

Python's parser reads them; ``^`` is a power, too, and binds like ``**``.
"""

import ast
import math

from gopfast.biconvex.composition import constant, plus, scaled, variable
from gopfast.errors import InputError, InputTypeError

SENSES = {ast.LtE: (-math.inf, 0.0), ast.GtE: (0.0, math.inf), ast.Eq: (0.0, 0.0)}


class Formulas:
    """
    A reader of formulas.

    Parameters
    ----------
    composition : Composition
        Takes the operations, and has the variables.
    """

    def __init__(self, composition):
        self.composition = composition
        self.index = {name: i for i, name in enumerate(composition.names)}

    def polynomial(self, place, text):
        """Polynomial of an expression; `place` says to whom it belongs, for messages."""
        tree = _parsed(place, text)
        return self._guarded(place, text, lambda: self._value(tree))

    def constraints(self, place, text):
        """Rows (polynomial, lower, upper) of a comparison, or of a chain of them such as ``1 <= x*y <= 4``."""
        tree = _parsed(place, text)
        if not isinstance(tree, ast.Compare) or not all(type(sense) in SENSES for sense in tree.ops):
            raise InputError(f"{place} must compare expressions by <=, >= or ==; got {text!r}")
        sides = [tree.left, *tree.comparators]

        def rows():
            values = [self._value(side) for side in sides]
            return [
                (plus(left, scaled(right, -1.0)), *SENSES[type(sense)])
                for left, sense, right in zip(values, tree.ops, values[1:], strict=False)
            ]

        return self._guarded(place, text, rows)

    def _guarded(self, place, text, read):
        try:
            return read()
        except InputError as error:
            raise type(error)(f"{place}: {error}, in {text!r}") from None
        except RecursionError:
            raise InputError(f"{place} is nested too deeply") from None

    def _value(self, node):
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self._value(node.operand)
            return scaled(value, -1.0) if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.Name):
            if node.id not in self.index:
                raise InputError(f"{node.id!r} is no variable of the problem")
            return variable(self.index[node.id])
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return constant(_number(node))
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords
        name = node.func.id if is_call else None
        if name in ("max", "min") and node.args:
            sign = 1.0 if name == "max" else -1.0
            values = [scaled(self._value(argument), sign) for argument in node.args]
            return scaled(self.composition.greatest(*values), sign)
        if name is not None and len(node.args) == 1:
            if name == "sqrt":
                return self.composition.power(self._value(node.args[0]), 0.5)
            if name == "abs":
                return self.composition.size(self._value(node.args[0]))
            if name == "exp":
                return self.composition.exp(self._value(node.args[0]))
            if name == "log":
                return self.composition.log(self._value(node.args[0]))
        raise InputError(
            f"{ast.unparse(node)} is no formula: there are +, -, *, /, powers, sqrt, abs, max, min, exp and log. Other "
            "functions may be replaced by such formulas that lie below and above them"
        )

    def _operation(self, node):
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return self._sum(node)
        left = self._value(node.left)
        if isinstance(node.op, ast.Pow):
            return self.composition.raised(left, self._value(node.right))
        right = self._value(node.right)
        if isinstance(node.op, ast.Mult):
            return self.composition.times(left, right)
        if isinstance(node.op, ast.Div):
            return self.composition.over(left, right)
        raise InputError(f"{ast.unparse(node)} is no formula: its operation is none of +, -, *, / and powers")

    def _sum(self, node):
        """Sum of many terms, in a loop: Python nests them to the left."""
        parts = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            parts.append(scaled(self._value(node.right), 1.0 if isinstance(node.op, ast.Add) else -1.0))
            node = node.left
        return plus(self._value(node), *reversed(parts))


def _number(node):
    try:
        return float(node.value)
    except OverflowError:
        return math.inf


def _parsed(place, text):
    if not isinstance(text, str):
        raise InputTypeError(f"{place} must be text; got {type(text).__name__}")
    try:
        return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{place} must be a formula ({error}); got {text[:200]!r}") from None
