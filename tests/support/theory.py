"""The numbered statements of docs/theory, what they name, and where code cites them.

``python -m tests.support.theory`` writes the list of docs/theory/index.md anew.
"""

import functools
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ROOT / "docs" / "theory"
INDEX = CHAPTERS / "index.md"
BEGIN, END = "<!-- statements -->\n", "<!-- end of statements -->\n"
HEADING = re.compile(r"^###? \(([A-Z]{1,2}\d+)\) (.+)$", re.MULTILINE)
LABEL = re.compile(r"\(([A-Z]{1,2}\d+)\)")
# "(P1), (P3) and (P5) of docs/theory/prices.md", over the ends of lines too
CITATION = re.compile(r"((?:\([A-Z]{1,2}\d+\)(?:,|,? and| to)? )+)of docs/theory/(\w+\.md)")
MOST_NAMES = 2  # of a statement's functions in the index
SOURCES = (".py", ".pyx", ".pxd", ".c", ".h")


class Statement(NamedTuple):
    """A statement: its label, title, chapter, text, and the modules with their names, and test files with theirs."""

    label: str
    title: str
    chapter: str
    text: str
    code: list
    tests: list

    @property
    def anchor(self):
        """Where its heading is: the slug that Sphinx and the forges make of it."""
        heading = f"({self.label}) {self.title}".lower()
        return self.chapter + "#" + re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def chapters():
    """Return the names of the chapters in the order of the index."""
    listed = re.search(r":::\{toctree\}\n(.*?)\n:::", INDEX.read_text(encoding="utf-8"), re.DOTALL).group(1)
    return [f"{line.strip()}.md" for line in listed.splitlines() if line.strip() and not line.startswith(":")]


def title_of(chapter):
    """Return the title of a chapter."""
    return (CHAPTERS / chapter).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def statements(chapter):
    """Return the Statements of a chapter."""
    text = (CHAPTERS / chapter).read_text(encoding="utf-8")
    found = list(HEADING.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    made = []
    for match, end in zip(found, ends, strict=True):
        own = text[match.end() : end]
        code, tests = _named(own, "Code", ("gopfast.", "src/")), _named(own, "Test", ("tests/",))
        made.append(Statement(match[1], match[2], chapter, own, code, tests))
    return made


def _named(text, what, prefixes):
    """Return [(module or file, [names])] of a statement's line of code or tests."""
    line = re.search(rf"^- \*{what}:\* (.*?)(?=^- \*|^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    found = []
    for token in re.findall(r"`([^`]+)`", line.group(1) if line else ""):
        if token.startswith(prefixes):
            found.append((token, []))
        elif found:
            found[-1][1].append(token)
    return found


def source_of(module):
    """Return the files of a module by its dotted name, or of a path; none: there is no such module."""
    if "/" in module:
        return [ROOT / module] if (ROOT / module).is_file() else []
    path = module.replace(".", "/")
    tried = [ROOT / folder / f"{path}{ending}" for folder in ("", "src") for ending in (".py", ".pyx", ".pxd")]
    return [file for file in tried if file.is_file()]


def defines(source, name):
    """Whether a source defines a name: a class with a method, a function, or a constant; other words must occur."""
    *owner, last = name.split(".")
    if owner and not re.search(rf"\bclass {owner[0]}\b", source):
        return False
    if owner or last.lower() != last:
        return bool(re.search(rf"(?:\b(?:def|class|cdef|cpdef)\b[^\n]*\b|^){last}\b", source, re.MULTILINE))
    return bool(re.search(rf"\b{last}\b", source))


def index():
    """Return the list of all statements as the index has it."""
    lines = []
    for chapter in chapters():
        lines += [f"### [{title_of(chapter)}]({chapter})", "", "| | statement | code |", "| --- | --- | --- |"]
        for one in statements(chapter):
            module, names = one.code[0]
            where = ", ".join(f"`{name}`" for name in [module, *names[:MOST_NAMES]])
            lines.append(f"| ({one.label}) | [{one.title}]({one.anchor}) | {where} |")
        lines.append("")
    return "\n".join(lines)


def sources():
    """Return the files of the project that may cite statements."""
    for folder in ("gopfast", "src", "tests", "bench", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            # what Cython has written lies beside its sources
            written = path.suffix == ".c" and "csrc" not in path.parts
            if path.suffix in SOURCES and not written and path != Path(__file__).resolve():
                yield path


def cited_in(text):
    """Return (labels, chapter) of every citation in a text."""
    text = re.sub(r"\s*\n\s*(?:# ?|\* )?", " ", text)
    return [(LABEL.findall(match[1]), match[2]) for match in CITATION.finditer(text)]


@functools.cache
def citations():
    """Return (file, labels, chapter) of every citation in the sources."""
    return [
        (path.relative_to(ROOT).as_posix(), labels, chapter)
        for path in sources() for labels, chapter in cited_in(path.read_text(encoding="utf-8"))
    ]  # fmt: skip


def write_index():
    """Write the list into the index."""
    text = INDEX.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    INDEX.write_text(head + BEGIN + "\n" + index() + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    write_index()
