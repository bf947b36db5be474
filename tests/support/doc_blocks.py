"""Code blocks of Markdown files, and the comparison of what they print with what the files show."""

import contextlib
import importlib.util
import io
import math
import re
import textwrap
from typing import NamedTuple

FENCE = re.compile(r"^ *```(\w*)[ \t]*\n(.*?)^ *```[ \t]*$", re.DOTALL | re.MULTILINE)
REQUIRES = re.compile(r"<!-- requires: ([\w, ]+) -->\s*\Z")
# What depends on the clock, or on the order of the search and so on the instruction set.
VARYING = [
    re.compile(r"(?<=in )[\d.e+-]+(?= s$)", re.MULTILINE),
    re.compile(r"\d[\d,]*(?= (?:nodes|LPs|data passes))"),
    re.compile(r"(?<=gap )[\d.e+-]+"),
    re.compile(r"(?<=lower bound )-?[\d.e+]+"),
    re.compile(r"(?<=\(at most )-?[\d.e+]+"),
    re.compile(r"\d\.\de[+-]\d\d  \d+$", re.MULTILINE),  # gap and nodes at the end of a table's row
]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
REL_TOL = 1e-4  # local fits end within about this, and not at the same place on every machine


class Block(NamedTuple):
    """A Python block, the line it starts at, the output shown after it (or None) and the modules that it needs."""

    code: str
    line: int
    output: str | None
    requires: tuple


def blocks(text):
    """Python blocks of a Markdown text in order; the output of one is a plain block with only blanks between."""
    found = []
    fences = list(FENCE.finditer(text))
    for i, fence in enumerate(fences):
        if fence[1] != "python":
            continue
        after = fences[i + 1] if i + 1 < len(fences) else None
        shows = after is not None and not after[1] and not text[fence.end() : after.start()].strip()
        requires = REQUIRES.search(text[: fence.start()])
        found.append(
            Block(
                textwrap.dedent(fence[2]),
                text.count("\n", 0, fence.start()) + 2,
                after[2] if shows else None,
                tuple(re.findall(r"\w+", requires[1])) if requires else (),
            )
        )
    return found


def run(text, name):
    """Run the blocks of a file in one namespace; return how many ran. Fails where one raises or prints otherwise."""
    namespace, n_run = {"__name__": "__main__"}, 0
    for block in blocks(text):
        if any(importlib.util.find_spec(module) is None for module in block.requires):
            continue
        # Blank lines before the code, so that a traceback names the line of the file.
        code = compile("\n" * (block.line - 1) + block.code, name, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, namespace)
        n_run += 1
        if block.output is not None:
            difference = first_difference(block.output, printed.getvalue())
            assert difference is None, f"{name}, block at line {block.line}: {difference}"
    return n_run


def first_difference(shown, printed):
    """Return what differs first, as a sentence, or None; numbers are equal within rounding, varying ones always."""
    shown, printed = (_lines(text) for text in (shown, printed))
    if len(shown) != len(printed):
        return f"{len(shown)} lines shown, {len(printed)} printed:\n" + "\n".join(printed)
    for expected, got in zip(shown, printed, strict=True):
        if NUMBER.sub("#", expected) != NUMBER.sub("#", got) or not all(
            map(_same, NUMBER.findall(expected), NUMBER.findall(got))
        ):
            return f"shown {expected!r}, printed {got!r}"
    return None


def _lines(text):
    for pattern in VARYING:
        text = pattern.sub("~", text)
    # Columns are as wide as what stands in them.
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def _same(expected, got):
    """Whether two numbers agree, to one unit of the last digit shown at least."""
    digits = len(expected.partition("e")[0].partition(".")[2])
    unit = 10.0 ** (int(expected.partition("e")[2] or 0) - digits) if "." in expected else 0.0
    return math.isclose(float(expected), float(got), rel_tol=REL_TOL, abs_tol=1.001 * unit)
