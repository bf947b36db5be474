"""Cuts the lines of a CSV file into rows of fields, by a separator that fits every line."""

import csv
import re
from collections import Counter
from typing import NamedTuple

from gopfast.errors import InputError
from gopfast.reading.numbers import has_text, is_numeric

WHITESPACE = " "  # any run of blanks and tabs
SEPARATORS = (",", ";", "\t", "|", WHITESPACE)
NONE = "\x1f"  # no text file has it: a file of one column
BLANKS = " \t"
WORD = re.compile(r'"((?:[^"]|"")*)"|([^" \t\n][^ \t\n]*)')
QUOTED = re.compile(rf"[ \t]*(?:(?:{WORD.pattern})[ \t\n]+)*")
ERROR = re.compile(r"#(N/?A|DIV/0!|NULL!|NUM!|REF!|VALUE!|NAME\?)(?=[\s,;|]|$)", re.IGNORECASE)  # Excel's
EMPTY = re.compile(r"^\t|\t[ \t]*\t|\t$")  # a field between tabs
NAMES = {
    ",": "commas", ";": "semicolons", "\t": "tabs", "|": "|", WHITESPACE: "blanks", NONE: "nothing"
}  # fmt: skip


class Rows(NamedTuple):
    """Fields of each row, the line that it begins on, and the blank lines between rows, all counted from 1."""

    separator: str
    fields: list[list[str]]
    lines: list[int]
    blank: list[int]

    @property
    def width(self) -> int:
        """Fields of a row of data: of the second row, as the first may be a header without a name for row names."""
        return len(self.fields[1 if len(self.fields) > 1 else 0])

    @property
    def body(self) -> list[list[str]]:
        """What is data whether or not there is a header; of a single row, that row."""
        return self.fields[1:] or self.fields


class SplitError(Exception):
    """A line cannot be cut into fields; says the line and why."""


def rows(lines, separator=None, decimal=".") -> Rows:
    """
    Cut lines into rows.

    Parameters
    ----------
    lines : list of str
        With something else than blank lines and comments.
    separator : str, optional
        One of SEPARATORS or another character; found from all lines by default.
    decimal : {".", ","}

    Returns
    -------
    Rows
        All of one width, but the first may have one field less. Lines that begin with # are comments.

    Raises
    ------
    InputError
        If the rows are of different widths, or several separators fit; the message names the line.
    """
    if all(line.strip(BLANKS)[:1] in ("", "#") and not ERROR.match(line) for line in lines):
        raise InputError("the file is empty" if not any(lines) else "there is no data, only comments or blanks")
    if separator is None:
        return _sniffed(lines, decimal)
    try:
        found = _split(lines, separator)
    except SplitError as error:
        raise InputError(str(error)) from None
    if not _is_consistent(found):
        raise InputError(_widths(found))
    return found


def _sniffed(lines, decimal):
    """Return the rows by the one separator that fits all lines and gives numbers."""
    fitting, others, broken = [], [], []
    for separator in SEPARATORS:
        # A comma cannot both mark decimals and separate; quoted fields need it named.
        if separator == decimal or not _may_separate(separator, lines):
            continue
        try:
            found = _split(lines, separator)
        except SplitError as error:
            broken.append(str(error))
            continue
        if not _is_consistent(found) or found.width < 2:
            others.append(found)
        elif separator != WHITESPACE and len(found.fields[0]) == found.width and _is_all_numbers(found, decimal):
            return found  # its fields have no other separator but blanks around numbers
        elif all(found.fields != other.fields for other in fitting):  # a tab is a blank, too
            fitting.append(found)
    if fitting:
        return _best(fitting, ".," if decimal == "." else decimal)
    try:
        single = _split(lines, NONE)
        # A name may have blanks.
        names = [found for found in others if found.separator != WHITESPACE and len(found.fields[0]) > 1]
        if _is_all_numbers(single, decimal) and not names:
            return single
    except SplitError as error:
        broken.append(str(error))
    if broken:
        raise InputError(broken[0])
    widest = max(others, key=lambda found: sum(len(row) > 1 for row in found.fields), default=single)
    if _is_consistent(widest):
        return widest if widest is not single and widest.width > 1 else single
    raise InputError(_widths(widest))


def _may_separate(separator, lines):
    """Whether a separator occurs; blanks do not where an empty field between two tabs would vanish."""
    if separator == WHITESPACE:
        return any(" " in line or "\t" in line for line in lines) and not any(map(EMPTY.search, lines))
    return any(separator in line for line in lines)


def _best(fitting, decimals):
    """Return the rows of the only separator that gives a column of numbers."""
    numeric = [found for found in fitting if _has_numbers(found, decimals)]
    # Names with blanks, as in "group 1,5" under "group,x", would else be names of rows.
    numeric = [found for found in numeric if len(found.fields[0]) == found.width] or numeric
    if len(numeric) > 1:
        names = " or ".join(NAMES[found.separator] for found in numeric)
        raise InputError(
            f"line {numeric[0].lines[-1]}: fields may be separated by {names}; say which with --separator, and "
            "--decimal , if commas mark decimals"
        )
    return (numeric or fitting)[0]


def _columns(found):
    """Columns of what is data whether or not there is a header, without names of rows."""
    named = found.width > 1 and (len(found.fields[0]) < found.width or not found.fields[0][0])
    return list(zip(*found.body, strict=True))[named:]


def _is_all_numbers(found, decimal):
    if not _is_consistent(found):
        return False
    return not any(has_text(column, decimal) for column in _columns(found))


def _has_numbers(found, decimals):
    return any(is_numeric(column, decimals) for column in _columns(found))


def _is_consistent(found):
    width = found.width
    return all(len(row) == width for row in found.fields[1:]) and len(found.fields[0]) in (width, width - 1)


def _widths(found):
    """Say which line has another number of fields than most."""
    widths = [len(row) for row in found.fields]
    counts = Counter(widths[1:] or widths)
    usual = max(counts, key=lambda width: (counts[width], width == widths[0]))
    wrong = next(i for i, width in enumerate(widths) if width != usual and not (i == 0 and width == usual - 1))
    right = next(i for i, width in enumerate(widths) if width == usual)
    count = f"{widths[wrong]} field{'s' if widths[wrong] != 1 else ''}"
    return (
        f"line {found.lines[wrong]}: {count} where line {found.lines[right]} has {usual}, separated by "
        f"{NAMES.get(found.separator, found.separator)}"
    )


def _split(lines, separator):
    """Cut lines into rows; raises SplitError."""
    found, begin, padded = Rows(separator, [], [], []), None, False
    blanks = " " if separator == "\t" else BLANKS

    def texts():
        nonlocal begin, padded
        for number, line in enumerate(lines, 1):
            # Within a quoted field, a line is neither blank nor a comment.
            if begin is None:
                bare = line.strip(blanks)
                if not bare:
                    found.blank.append(number)
                    continue
                if bare[0] == "#" and not _is_field(bare, separator, not found.fields):
                    continue
                begin, padded = number, False
            padded = padded or " " in line or "\t" in line
            yield line + "\n"

    if separator == WHITESPACE:
        records = map(_words, texts())
    else:
        records = csv.reader(texts(), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for record in records:
            found.fields.append([field.strip(BLANKS) for field in record] if padded else record)
            found.lines.append(begin)
            begin = None
    except (csv.Error, SplitError) as error:
        what = "a quote is not closed" if "unexpected end" in str(error) else error
        if separator == NONE and "expected after" in str(error):
            what = "more than one quoted field; say what is between them with --separator"
        raise SplitError(f"line {begin}: {what}") from None
    between = [number for number in found.blank if found.lines[0] < number < found.lines[-1]]
    return _without_trailing(found._replace(blank=between))


def _is_field(bare, separator, is_first):
    """Whether # begins no comment but a value, ``#N/A,5``, or is the first name, ``#,length,width``."""
    return bool(ERROR.match(bare)) or (is_first and separator != WHITESPACE and bare[1:2] == separator)


def _words(line):
    """Words of a line; those in quotes may have blanks."""
    if '"' not in line:
        return [word for word in line.strip("\n").replace("\t", " ").split(" ") if word]
    if QUOTED.fullmatch(line) is None:
        raise SplitError("a quote is not closed, or within a field")
    return [quoted.replace('""', '"') or plain for quoted, plain in WORD.findall(line)]


def _without_trailing(found):
    """Leave out a last column without name and values: each line ends with a separator."""
    if found.width > 1 and all(len(row) == found.width and not row[-1] for row in found.fields):
        return found._replace(fields=[row[:-1] for row in found.fields])
    return found
