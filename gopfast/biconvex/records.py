"""Problems as the objects of JSON files: their entries, checked, with messages that name the place."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from gopfast import checks
from gopfast.errors import InputError, InputTypeError


class Row(NamedTuple):
    """A constraint ``lower <= polynomial <= upper``, a dict from sorted tuples of variables to coefficients."""

    polynomial: dict
    lower: float
    upper: float


def load(path, what):
    """Return what a JSON file holds; `what` it should be, for messages."""
    try:
        # integers as floats: of too many digits they are infinite, and refused by name
        return json.loads(Path(path).read_text(encoding="utf-8"), parse_int=float)
    except RecursionError:
        raise InputError(f"{path} is no {what}: it is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{path} is no {what}: {error}") from None


def variables(record):
    """Names, and bounds [(lower, upper)], null for infinite."""
    found = _object("variables", entry(record, "variables"))
    return list(found), [_interval(f"variables[{name!r}]", value) for name, value in found.items()]


def objective(record, index, most=2):
    """Objective as a polynomial; `most` factors of a term."""
    return _polynomial("objective", entry(record, "objective"), index, most)


def rows(record, index, most=2):
    """Constraints as rows, bounds of what is without its constant; `most` factors of a term."""
    found = []
    for number, constraint in enumerate(as_list("constraints", record.get("constraints"))):
        place = f"constraints[{number}]"
        polynomial = _polynomial(place, constraint, index, most)
        rhs = checks.real_number(f"{place}.rhs", entry(constraint, "rhs", place))
        found.append(Row(polynomial, *_limits(constraint, place, rhs - polynomial.pop((), 0.0))))
    return found


def check_keys(record, known):
    """Check that a file is an object, and has no entries but these."""
    unknown = set(_object("the file", record)) - known
    if unknown:
        raise InputError(f"unknown key {min(unknown)!r}")


def partition(record):
    """Names of the groups x and y, where they are given."""
    found = _object("partition", record.get("partition") or {})
    return {side: None if group is None else as_list(f"partition.{side}", group) for side, group in found.items()}


def as_list(place, value):
    """Return a list of a file; what is missing is an empty one."""
    if value is not None and not isinstance(value, list):
        raise InputTypeError(f"{place} must be a list; got {checks._shown(value)}")
    return value or []


def entry(record, key, place="the file"):
    """Return an entry that must be there."""
    if key not in record:
        raise InputError(f"{place} has no {key!r}")
    return record[key]


def _object(place, value):
    if not isinstance(value, dict):
        raise InputTypeError(f"{place} must be an object; got {checks._shown(value)}")
    return value


def _interval(place, value):
    low, high = checks.pair(place, value, "[lower, upper]")
    low = -math.inf if low is None else checks.real_number(f"{place}[0]", low)
    return low, math.inf if high is None else checks.real_number(f"{place}[1]", high)


def _polynomial(place, record, index, most):
    """Polynomial of an expression {const, lin, quad, terms}."""
    found = Counter()
    for name, value in _object(f"{place}.lin", _object(place, record).get("lin") or {}).items():
        found[(variable(name, index),)] += checks.real_number(f"{place}.lin[{name!r}]", value)
    found[()] += checks.real_number(f"{place}.const", record.get("const", 0.0))
    for number, term in enumerate(as_list(f"{place}.quad", record.get("quad"))):
        if not isinstance(term, list) or len(term) != 3:
            shown = checks._shown(term)
            raise InputTypeError(f"{place}.quad[{number}] must be [name, name, coefficient]; got {shown}")
        pair = tuple(sorted(variable(name, index) for name in term[:2]))
        found[pair] += checks.real_number(f"{place}.quad[{number}][2]", term[2])
    for number, term in enumerate(as_list(f"{place}.terms", record.get("terms"))):
        here = f"{place}.terms[{number}]"
        if most == 2:
            raise InputError(f"{here} is a product of more than two: gopfast.PolynomialProblem.read reads this file")
        names, value = checks.pair(here, term, "[names, coefficient]")
        names = as_list(f"{here}[0]", names)
        if len(names) > most:
            raise InputError(f"{here} must have at most {most} factors; got {len(names)}")
        monomial = tuple(sorted(variable(name, index) for name in names))
        found[monomial] += checks.real_number(f"{here}[1]", value)
    return {monomial: value for monomial, value in found.items() if value != 0.0}


def variable(name, index):
    """Return the number of a variable by its name."""
    if not isinstance(name, str) or name not in index:
        raise InputError(f"{checks._shown(name)} is no variable of the problem")
    return index[name]


def _limits(constraint, place, rhs):
    sense = entry(constraint, "sense", place)
    if sense not in ("<=", ">=", "=="):
        raise InputError(f"{place}: sense must be '<=', '>=' or '=='; got {checks._shown(sense)}")
    if math.isinf(rhs) and (sense == "==" or (rhs > 0) == (sense == ">=")):
        raise InputError(f"{place}.rhs: no point has a value {sense} {rhs:g}")
    return (-math.inf if sense == "<=" else rhs), (math.inf if sense == ">=" else rhs)
