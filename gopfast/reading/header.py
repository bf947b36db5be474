"""Tells names from numbers: the header of a CSV file, and the names of its rows."""

import re
from typing import NamedTuple

from gopfast.errors import InputError
from gopfast.reading.numbers import INTEGER, is_missing, is_text
from gopfast.reading.rows import WHITESPACE

PAIR = re.compile(r"[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
OTHERWISE = re.compile(r"[,;|\t ]+")
SAY = "say which with --header yes or --header no"


class Header(NamedTuple):
    """Names of the columns; whether line 1 has them; whether each row begins with a name, which is no column."""

    names: list[str]
    is_first_row: bool
    has_row_names: bool


def header(rows, lines, given=None, decimal=".", told=False) -> Header:
    """
    Find the header of a CSV file.

    Parameters
    ----------
    rows : Rows
    lines : list of str
        Lines of the file, as quotes tell names from numbers.
    given : bool, optional
        Whether the first row is a header; found from the fields by default.
    decimal : {".", ","}
    told : bool
        Whether the separator is given, not found.

    Returns
    -------
    Header

    Raises
    ------
    InputError
        If it may or may not be a header, or may or may not lack a name; the message names the line.
    """
    first, width = rows.fields[0], rows.width
    where = f"line {rows.lines[0]}"
    if given is None:
        given = _is_header(rows, lines, decimal, where)
    if not given:
        if len(first) != width:
            raise InputError(f"{where}: {len(first)} fields where line {rows.lines[1]} has {width}")
        if not told:
            _check_pairs(rows.fields, rows.lines, lines, rows.separator)
        return Header([str(place) for place in range(1, width + 1)], False, False)
    if len(rows.fields) == 1:
        raise InputError("there is a header and no data")
    named = len(first) < width
    if named:
        _check_row_names(rows, lines, told)
    elif width > 1 and not first[0]:
        named, first = True, first[1:]  # as R and pandas write the names of rows
    return Header([" ".join(name.split()) or str(place) for place, name in enumerate(first, 1)], True, named)


def _is_header(rows, lines, decimal, where):
    """Whether the first row is a header, by its fields and how they differ from those below."""
    first, body = rows.fields[0], rows.fields[1:]
    text = [field for field in first if is_text(field, decimal)]
    known = [field for field in first if not is_missing(field)]
    if not text or len(text) < len(known):
        if text:
            number = next(field for field in known if field not in text)
            raise InputError(f"{where}: {text[0]!r} may be a name and {number!r} a value; {SAY}")
        return _is_numbered(rows, lines, decimal, where)
    # A label and a missing value, as in "setosa,NA", make no header if the label comes again.
    if any(is_missing(field) and field for field in first):
        if any(field in text and field == name for row in body for field, name in zip(row, first, strict=False)):
            raise InputError(f"{where}: {text[0]!r} may be a name or a value; {SAY}")
    return True


def _is_numbered(rows, lines, decimal, where):
    """Whether numbers in the first row are names of columns; False unless they look different from those below."""
    first, body = rows.fields[0], rows.fields[1:]
    if not body:
        return False
    if not first[0] and first[1:] and first[1:] == [str(number) for number in range(len(first) - 1)]:
        return True  # as pandas writes columns and rows without names
    counted = first == [str(number) for number in range(len(first))]
    # Not by pandas: numbers below are never written without a point, or names are quoted and numbers are not.
    whole = all(map(INTEGER.fullmatch, first)) and not any(
        INTEGER.fullmatch(field.lstrip("+-")) or is_text(field, decimal)
        for row in body for field in row
    )  # fmt: skip
    quoted = '"' in lines[rows.lines[0] - 1] and '"' not in lines[rows.lines[1] - 1]
    if counted or whole or quoted or not first[0] and len(first) > 1:
        shown = ", ".join(first[:3]) + (", ..." if len(first) > 3 else "")
        raise InputError(f"{where}: {shown} may be names of columns or values; {SAY}")
    return False


def _check_row_names(rows, lines, told):
    """Refuse a header that lacks a name for another reason than names of rows, as R writes them."""
    fields, numbers = rows.fields[1:], rows.lines[1:]
    where = f"line {rows.lines[0]}: the header has one name less than line {numbers[0]} has fields"
    top = lines[rows.lines[0] - 1]
    if '"' not in top and len([name for name in OTHERWISE.split(top.strip()) if name]) == rows.width:
        raise InputError(f"{where}: it seems to be separated otherwise than the lines below")
    if all(not row[-1] for row in fields):
        raise InputError(f"{where}, and every line ends with a separator; remove it")
    if not told:
        _check_pairs(fields, numbers, lines, rows.separator)
    seen = set()
    for row, line in zip(fields, numbers, strict=True):
        if row[0] in seen or not (INTEGER.fullmatch(row[0]) or is_text(row[0])):
            again = " again" if row[0] in seen else ""
            raise InputError(f"{where}, but {row[0]!r} in line {line}{again} is no name of a row; name every column")
        seen.add(row[0])


def _check_pairs(fields, numbers, lines, separator):
    """Refuse rows of two fields that may be numbers cut in two: 1,4 or 1 250."""
    if len(fields[0]) != 2 or separator not in (",", WHITESPACE) or '"' in lines[numbers[0] - 1]:
        return
    pairs = [(head.lstrip("+-"), tail) for head, tail in fields]
    if separator == ",":
        cut, advice = all(map(PAIR.fullmatch, map(",".join, pairs))), "or --decimal , if commas mark decimals"
    else:
        cut = all(len(head) < 4 and len(tail) == 3 and (head + tail).isdecimal() for head, tail in pairs)
        advice = "or join them if blanks separate thousands"
    if cut:
        head, tail = fields[0]
        name = "," if separator == "," else "blank"
        raise InputError(
            f"line {numbers[0]}: {head + separator + tail!r} may be two fields or one number; say --separator {name} "
            f"for two, {advice}"
        )
