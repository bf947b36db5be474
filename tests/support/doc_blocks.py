"""
Code blocks of Markdown files, and the comparison of what they print with what the files show.

python tests/support/doc_blocks.py            say where README.md and docs/*.md show something else than is printed
python tests/support/doc_blocks.py --update   write what is printed into them, but for times alone
"""

import argparse
import contextlib
import importlib.util
import io
import math
import os
import re
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)```(\w*)[ \t]*\n(.*?)^ *```[ \t]*$", re.DOTALL | re.MULTILINE)
REQUIRES = re.compile(r"<!-- requires: ([\w, ]+) -->\s*\Z")
TIMES = [
    re.compile(r"(?<=in )[\d.e+-]+(?= s\b)", re.MULTILINE),
    re.compile(r"(?<= )\d+\.\d\ds$", re.MULTILINE),  # at the end of a log's row
]
# What depends on the order of the search, and so on the machine. Log rows: lower bound and gap.
VARYING = [
    re.compile(r"(?<=gap )[\d.e+-]+"),
    re.compile(r"(?<=lower bound )-?[\d.e+]+"),
    re.compile(r"(?<=\(at most )-?[\d.e+]+"),
    re.compile(r"(?<=>=)-?[\d.]+"),  # bounds of models that lose
    re.compile(r"(?<=at most \(proved\))\s+-?[\d.e+]+"),
    re.compile(r"(?<=\(proved: )[\d.]+ to [\d.]+"),
    re.compile(r"\d\.\de[+-]\d\d(?=  \d+$)", re.MULTILINE),  # gap before the nodes that end a table's row
    re.compile(r"-?[\d.e+-]+(?= <= global optimum)"),
]
# The same to within the gate of bench/compare_counts.py on every machine.
COUNTS = [
    re.compile(r"\d[\d,]*(?= (?:nodes|LPs|data passes)\b)"),
    re.compile(r"(?<=~  )\d+$", re.MULTILINE),
]
LOG_ROW = re.compile(r"^([* ]) +(\d+) +(\d+) +\S+ +(\S+) +\S+ +~$", re.MULTILINE)
MOST_GROWTH, SLACK = 0.1, 2
NUMBER = re.compile(r"(§?)(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")  # a count after §
REL_TOL = 1e-4  # local fits end within about this, and not at the same place on every machine


class Block(NamedTuple):
    """
    A Python block.

    `line`: where it starts. `output`: what is shown after it, or None; `span`: where that is in the text, `indent`: of
    its fence. `is_log`: whether it is a progress table. `requires`: modules that it needs.
    """

    code: str
    line: int
    output: str | None
    span: tuple
    indent: str
    is_log: bool
    requires: tuple


def blocks(text):
    """Python blocks of a Markdown text in order; the output of one is a plain block with only blanks between."""
    found = []
    fences = list(FENCE.finditer(text))
    for i, fence in enumerate(fences):
        if fence[2] != "python":
            continue
        after = fences[i + 1] if i + 1 < len(fences) else None
        shows = after is not None and after[2] in ("", "text") and not text[fence.end() : after.start()].strip()
        requires = REQUIRES.search(text[: fence.start()])
        found.append(
            Block(
                textwrap.dedent(fence[3]),
                text.count("\n", 0, fence.start()) + 2,
                after[3] if shows else None,
                after.span(3) if shows else (),
                after[1] if shows else "",
                shows and after[2] == "text",
                tuple(re.findall(r"\w+", requires[1])) if requires else (),
            )
        )
    return found


def printed(text, name):
    """Run the blocks of a file in one namespace; yield those that can run, each with what it prints."""
    namespace = {"__name__": "__main__"}
    for block in blocks(text):
        if any(importlib.util.find_spec(module) is None for module in block.requires):
            continue
        # Blank lines before the code, so that a traceback names the line of the file.
        code = compile("\n" * (block.line - 1) + block.code, name, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, namespace)
        yield block, out.getvalue()


def differences(text, name):
    """Run the blocks of a file; return how many ran, and a sentence for each that prints something else than shown."""
    n_run, found = 0, []
    for block, output in printed(text, name):
        n_run += 1
        if block.output is not None:
            difference = first_difference(block.output, output, block.is_log)
            if difference is not None:
                found.append(f"{name}, block at line {block.line}: {difference}")
    return n_run, found


def run(text, name):
    """Run the blocks of a file; return how many ran. Fails where one raises or prints otherwise."""
    n_run, found = differences(text, name)
    assert not found, found[0]
    return n_run


def updated(text, name):
    """Return the text with what its blocks print in the place of what it shows, unless only times differ."""
    for block, output in reversed(list(printed(text, name))):
        if block.output is not None and _without_times(block.output) != _without_times(output):
            new = textwrap.indent(output.rstrip("\n") + "\n", block.indent)
            text = text[: block.span[0]] + new + text[block.span[1] :]
    return text


def first_difference(shown, output, is_log=False):
    """
    Return what differs first, as a sentence, or None.

    Numbers are equal within rounding, counts within 10 %; times and what else varies are not compared. Of a log with
    another number of rows, which are printed by the clock too, only the first two and the last two.
    """
    shown, output = (_lines(text) for text in (shown, output))
    if is_log and len(shown) != len(output) and min(len(shown), len(output)) >= 4:
        shown, output = shown[:2] + shown[-2:], output[:2] + output[-2:]
    if len(shown) != len(output):
        return f"{len(shown)} lines shown, {len(output)} printed:\n" + "\n".join(output)
    for expected, got in zip(shown, output, strict=True):
        if NUMBER.sub(r"\1#", expected) != NUMBER.sub(r"\1#", got) or not all(
            map(_same, NUMBER.findall(expected), NUMBER.findall(got))
        ):
            return f"shown {expected!r}, printed {got!r}"
    return None


def _without_times(text):
    for pattern in TIMES:
        text = pattern.sub("~", text)
    # A log's times are flush right.
    return [re.sub(r" +~$", " ~", line.rstrip()) for line in textwrap.dedent(text).strip("\n").splitlines()]


def _lines(text):
    for pattern in (*TIMES, *VARYING):
        text = pattern.sub("~", text)
    for pattern in COUNTS:
        text = pattern.sub(lambda count: "§" + count[0].replace(",", ""), text)
    text = LOG_ROW.sub(r"\1 §\2 §\3 ~ \4 ~ ~", text)
    # Columns are as wide as what stands in them.
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def _same(expected, got):
    """Whether two numbers agree: counts to the gate, others to one unit of the last digit shown at least."""
    (is_count, expected), (_, got) = expected, got
    if is_count:
        return abs(float(expected) - float(got)) <= MOST_GROWTH * float(expected) + SLACK
    digits = len(expected.partition("e")[0].partition(".")[2])
    unit = 10.0 ** (int(expected.partition("e")[2] or 0) - digits) if "." in expected else 0.0
    return math.isclose(float(expected), float(got), rel_tol=REL_TOL, abs_tol=1.001 * unit)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write what is printed into the files")
    update = parser.parse_args(arguments).update
    os.chdir(ROOT)
    found = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        if update:
            new = updated(text, name)
            if new != text:
                path.write_text(new, encoding="utf-8")
                print(f"{name}: updated")
        else:
            found += differences(text, name)[1]
    print("\n".join(found), end="\n" * bool(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
