"""Reads a text file in the encoding that it shows, and cuts it into lines."""

import codecs
import contextlib
import re
import sys
from pathlib import Path

from gopfast.errors import InputError

STANDARD_INPUT = "-"
# UTF-32 before UTF-16, whose little-endian mark begins it.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
# What a data file is often packed in, by its first bytes.
PACKED = (
    (b"\x1f\x8b", "packed by gzip; unpack it first: gunzip -c FILE | gopfast ... -"),
    (b"BZh", "packed by bzip2; unpack it first: bunzip2 -c FILE | gopfast ... -"),
    (b"\xfd7zXZ", "packed by xz; unpack it first: xz -dc FILE | gopfast ... -"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook; save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook; save it as CSV"),
    (b"PAR1", "a Parquet file; save it as CSV"),
    (b"\x93NUMPY", "a NumPy file; save it by numpy.savetxt"),
)
# No text has these; tab, line ends and form feed are left out.
CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


def shown(path) -> str:
    """Return what messages call a file."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


@contextlib.contextmanager
def naming(path):
    """Put the name of a file before errors of what it says, which may begin with a line's number."""
    try:
        yield
    except InputError as error:
        joint = ", " if str(error).startswith("line ") else ": "
        raise InputError(f"{shown(path)}{joint}{error}") from None


def read_lines(path) -> list[str]:
    """
    Read a text file as lines without their ends.

    Parameters
    ----------
    path : str or path-like
        ``-`` stands for the standard input.

    Returns
    -------
    list of str
        They end at a line feed, a carriage return or both, and nowhere else.

    Raises
    ------
    InputError
        If the file cannot be read, or is not text.
    """
    text = _decoded(path, _bytes(path))
    # No other kind of line end, unlike str.splitlines: a form feed is no end of a line of CSV.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if CONTROL.search(text):
        number, found = next((n, hit) for n, line in enumerate(lines, 1) if (hit := CONTROL.search(line)))
        raise InputError(f"{shown(path)}, line {number}: not a text file; it has the character {found.group()!r}")
    return lines


def _bytes(path):
    try:
        if str(path) != STANDARD_INPUT:
            return Path(path).read_bytes()
        if sys.stdin is None:
            raise InputError("standard input is closed")
        return sys.stdin.buffer.read()
    except OSError as error:
        raise InputError(f"{shown(path)}: {error.strerror}") from None


def _decoded(path, data):
    for start, what in PACKED:
        if data.startswith(start):
            raise InputError(f"{shown(path)}: {what}")
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise InputError(f"{shown(path)}: not a text file in {encoding.upper()}, as it says it is") from None
    # Numbers are the same in all of these; names may differ. Latin-1 has a character for every byte.
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")
