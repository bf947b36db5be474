"""Makes CSV files of many dialects whose truth is known: one file for each seed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blanks": " "}
MARKERS = ("NA", "NaN", "", ".", "?", "null", "N/A", "#N/A")
NAMES = ("length", "width", "caf\u00e9", "x1", "Na", "petal.length", "E", "wei\u00df")
FAULTS = {
    "short row": None, "long row": None, "thousands": "1,234,567.5", "text": "about 3", "hexadecimal": "0x1F",
    "underscore": "1_000", "infinite": "inf", "too large": "1e400", "fraction": "1/2", "percent": "5%",
    "exponent by D": "1D3", "huge field": "9" * 200_000, "control character": "1\x002", "open quote": '"1',
}  # fmt: skip


@dataclass
class File:
    """
    A CSV file and its truth.

    Attributes
    ----------
    dialect : str
        What is special, for reports.
    content : bytes
    data : ndarray (n, d) or None
        What pandas and R read with the right arguments; None if the file has a fault, and must be refused.
    columns : list of str or None
        What is asked for.
    options : dict
        Those of ``gopfast.reading.table.read``: only what a user says.
    must_be_read : bool
        Whether nothing in the file is ambiguous with these options.
    pandas : dict
        The right arguments of ``pandas.read_csv``.
    """

    dialect: str
    content: bytes
    data: Any
    columns: Any
    options: dict
    must_be_read: bool
    pandas: dict


class _Writer:
    """The choices of one dialect, and the text that they give."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.separator = str(rng.choice(list(SEPARATORS)))
        self.mark = SEPARATORS[self.separator]
        self.decimal = "," if rng.random() < 0.15 else "."
        self.names = str(rng.choice(["names", "none", "numbers"], p=[0.8, 0.12, 0.08]))
        self.rows = str(rng.choice(["none", "R short", "R unnamed", "pandas"], p=[0.7, 0.12, 0.1, 0.08]))
        self.quotes = str(rng.choice(["none", "names", "all"]))
        self.end = str(rng.choice(["\n", "\r\n", "\r"]))
        self.encoding = str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-32"]))
        self.kind = str(rng.choice(["floats", "whole", "mixed", "large and small"]))
        self.missing = str(rng.choice(["none", "drop", "refuse"], p=[0.75, 0.17, 0.08]))
        self.label = bool(rng.random() < 0.25)
        self.comments = bool(rng.random() < 0.25)
        self.trailing = bool(rng.random() < 0.15) and self.separator != "blanks" and self.rows != "R short"
        self.padding = bool(rng.random() < 0.2) and self.separator not in ("tab", "blanks")
        self.n_blank = int(rng.integers(0, 4))
        self.n, self.d = int(rng.integers(2, 13)), int(rng.integers(1, 5))
        if self.names != "names" and self.rows == "R short":
            self.rows = "none"
        if self.names == "none":
            self.rows = "none"
        if self.separator == "blanks":
            # An empty field cannot be told from a longer gap, unless quoted.
            self.rows = "R short" if self.rows in ("R unnamed", "pandas") and self.names == "names" else "none"
        self.marker = str(rng.choice([marker for marker in MARKERS if marker or self.separator != "blanks"]))

    def values(self):
        """Numbers (n, d) and how they are written."""
        rng, shape = self.rng, (self.n, self.d)
        if self.kind == "whole":
            data = rng.integers(-50, 1000, shape).astype(float)
        elif self.kind == "large and small":
            data = rng.standard_normal(shape) * 10.0 ** rng.integers(-30, 30, shape)
        else:
            data = np.round(rng.normal(5.0, 20.0, shape), 2 if self.kind == "mixed" else 6)
        fields = [[self.written(value) for value in row] for row in data.tolist()]
        return data, fields

    def written(self, value):
        """Return a number as R writes it, whole ones without a point, or as pandas does."""
        whole = self.kind in ("whole", "mixed") and value == int(value)
        return (str(int(value)) if whole else repr(value)).replace(".", self.decimal)

    def with_gaps(self, fields):
        """Put markers of missing values in; returns whether a row is complete."""
        complete = np.ones(self.n, dtype=bool)
        if self.missing != "none":
            complete[self.rng.choice(self.n, max(1, self.n // 4), replace=False)] = False
        for i in np.flatnonzero(~complete):
            fields[i][self.rng.integers(self.d)] = self.marker
        return complete

    def text(self, header, rows):
        """Return the lines of a file, without their ends."""
        lines = []
        if self.comments:
            lines += ["# measured by hand", "# in cm"]
        all_rows = ([] if header is None else [header]) + rows
        for number, row in enumerate(all_rows):
            quoted = self.quotes == "all" or (self.quotes == "names" and number == 0 and header is not None)
            parts = [self.field(part, quoted) for part in row]
            joint = self.mark + (" " if self.padding else "")
            if self.separator == "blanks":
                joint = " " * int(self.rng.integers(1, 4))
            lines.append(joint.join(parts) + (self.mark if self.trailing else ""))
            if self.comments and number == 1:
                lines.append("# a remark; one, two")
        return lines + [""] * self.n_blank

    def field(self, part, quoted):
        needed = any(mark in part for mark in (self.mark, '"', "\n")) or (part == "" and self.separator == "blanks")
        return '"' + part.replace('"', '""') + '"' if quoted or needed else part

    def encoded(self, lines):
        return (self.end.join(lines) + self.end).encode(self.encoding)


def make(seed) -> File:
    """Make one file; every fourth has a fault and must be refused."""
    writer = _Writer(seed)
    rng = writer.rng
    data, fields = writer.values()
    if writer.d == 1 and writer.marker == "" and not writer.label:
        writer.marker = "NA"  # pandas skips an empty line, R reads it
    complete = writer.with_gaps(fields)
    fault = str(rng.choice(list(FAULTS))) if seed % 4 == 3 else None
    if fault:
        _break(writer, fields, fault)
    names = [str(name) for name in rng.permutation(NAMES)[: writer.d]]
    if writer.names == "numbers":
        names = [str(number) for number in range(writer.d)]
    chosen, header = None, list(names)
    if writer.label:
        labels = ["setosa", f"iris{writer.mark}wild", 'the "blue" one', "virginica, late"]
        fields = [[str(rng.choice(labels)), *row] for row in fields]
        header, chosen = ["species", *header], names
    row_names = writer.rows != "none"
    if row_names:
        first = 1 if writer.rows.startswith("R") else 0
        fields = [[str(first + number), *row] for number, row in enumerate(fields)]
        header = header if writer.rows == "R short" else ["", *header]
    if writer.names == "none":
        header, chosen = None, [str(place + 2) for place in range(writer.d)] if writer.label else None
    lines = writer.text(header, fields)
    content = writer.encoded(lines)
    told = bool(rng.random() < 0.6)
    options = _options(writer, told)
    refused = fault or (writer.missing == "refuse")
    return File(
        dialect=f"fault: {fault}" if fault else _dialect(writer),
        content=content,
        data=None if refused else data[complete],
        columns=chosen,
        options=options,
        must_be_read=told and not refused,
        pandas=_pandas(writer),
    )


def _break(writer, fields, fault):
    """Put a fault in, in a row that is not the first."""
    i = int(writer.rng.integers(1, writer.n))
    if fault == "short row":
        # A short row of one column is a blank one.
        fields[i] = fields[i][:-1] if writer.d > 1 else [*fields[i], "7"]
    elif fault == "long row":
        fields[i] = [*fields[i], "7"]
    else:
        fields[i][int(writer.rng.integers(writer.d))] = FAULTS[fault]
    if fault == "open quote":
        writer.field = lambda part, quoted: part  # as a program would that knows no quotes


def _dialect(writer):
    """Name a dialect by what is least usual in it."""
    if writer.decimal == ",":
        return "decimal commas"
    if writer.rows != "none":
        return f"names of rows: {writer.rows}"
    if writer.names != "names":
        return "no header" if writer.names == "none" else "columns named by numbers"
    if writer.missing == "drop":
        return "missing values, dropped"
    if writer.missing == "refuse":
        return "missing values, refused"
    if writer.encoding not in ("utf-8", "utf-8-sig"):
        return writer.encoding
    if writer.label:
        return "a column of labels"
    return f"separated by {writer.separator}"


def _options(writer, told):
    """What a user says; nothing but how missing values are meant, if not told."""
    options = {"na": "drop"} if writer.missing == "drop" else {}
    if told:
        options |= {"decimal": writer.decimal, "separator": writer.mark, "header": writer.names != "none"}
    return options


def _pandas(writer):
    """Return the right arguments of `pandas.read_csv`."""
    return {
        "sep": r"\s+" if writer.separator == "blanks" else writer.mark,
        "decimal": writer.decimal,
        "header": None if writer.names == "none" else 0,
        "index_col": 0 if writer.rows in ("R unnamed", "pandas") else None,
        "comment": "#",
        "na_values": ["?", "."],
        "encoding": writer.encoding,
        "skipinitialspace": True,
        # After a separator at the end of each line pandas has one column more.
        "usecols": range(writer.d + writer.label + (writer.rows != "none")) if writer.trailing else None,
    }
