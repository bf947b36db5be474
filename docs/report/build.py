"""Typesets docs/report/report.md with the statements of docs/theory and the tables of bench/results: `make report`.

Run: python docs/report/build.py [build/report.pdf]     needs pypandoc_binary and typst, both from PyPI

A line of report.md that begins with @ stands for what it names:

@statements CHAPTER NUMBER ...    statements of docs/theory/CHAPTER.md, without their lists of code and tests
@table FILE | FIRST | COLUMN ; ... | ROWS
                                  the table of bench/results/FILE with this first column and these; none named: all;
                                  no more than so many rows
@figure FILE | CAPTION | WIDTH    a picture, its path from the root
@references                       the list of docs/theory/index.md
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STATEMENT = re.compile(r"^#{2,3} (\([A-Z]{1,2}\d+\) .*)$", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
LISTED = re.compile(r"^- \*(?:Code|Test):\*.*?(?=^- |^\S|^\s*$|\Z)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]+)\]\((?!http)[^)]*\)")
KEPT = re.compile(r"(\$\$.*?\$\$|\$[^$\n]+\$|```.*?```|`[^`]*`)", re.DOTALL)  # formulas and code
SYMBOL = re.compile(
    r"(?<![\w-])(tau|pi|nu|phi|theta|lambda|mu|sigma|kappa|zeta|xi|epsilon)(?![\w-])|(?<= )([<>]=)(?= )"
)
NORM = re.compile(r"\\\|([^|\n]+)\\\|")  # pandoc's absolute values, whose bars Typst would space as operators
EXTRA = ["--wrap=none", "--columns=10000"]  # a table with longer lines has columns of fixed widths
READ = "markdown-auto_identifiers-citations+tex_math_dollars+pipe_tables-smart-tex_math_single_backslash"


def statements(chapter, *numbers):
    """Return the text of statements of a chapter, each below a heading."""
    text = (ROOT / "docs" / "theory" / f"{chapter}.md").read_text()
    return "\n\n".join(statement(text, number) for number in numbers)


def statement(text, number):
    for found in STATEMENT.finditer(text):
        if found[1].startswith(f"({number})"):
            rest = text[found.end() :]
            end = HEADING.search(rest)
            return f"### {plain(found[1])}\n{plain(rest[: end.start()] if end else rest)}"
    raise ValueError(f"docs/theory has no statement ({number})")


def plain(text):
    """Return Markdown without what only the pages have: links into them, lists of code and tests, letters spelt out."""
    parts = KEPT.split(LINK.sub(r"\1", LISTED.sub("", text)).strip())
    return "".join(part if i % 2 else SYMBOL.sub(symbol, part) for i, part in enumerate(parts))


def symbol(found):
    if found[2]:
        return {"<=": r"$\le$", ">=": r"$\ge$"}[found[2]]
    return f"$\\{found[1]}$"


def table(file, first, columns="", most=""):
    """Return a table of bench/results, with the columns named and no more rows than `most`, and where it comes from."""
    lines = (ROOT / "bench" / "results" / file).read_text().splitlines()
    chosen = [name.strip() for name in columns.split(";") if name.strip()]
    headers = [cells(line) for line in lines]
    at = next((i for i, header in enumerate(headers) if header[:1] == [first] and set(chosen) <= set(header)), None)
    if at is None:
        raise ValueError(f"bench/results/{file} has no table that begins with {first} and has {chosen}")
    end = next((i for i in range(at, len(lines)) if not lines[i].startswith("|")), len(lines))
    header, *rows = [cells(line) for i, line in enumerate(lines[at:end]) if i != 1]
    left_out = f" The first {most} of {len(rows)} rows." if most and int(most) < len(rows) else ""
    rows = rows[: int(most)] if most else rows
    places = [header.index(name) for name in chosen or header]
    shown = [[row[place] for place in places] for row in [header, *rows]]
    dashes = [":---"] * len(places)
    made = next((line for line in lines if line.startswith(("Made by", "Commit"))), "").rstrip(".")
    body = plain("\n".join(f"| {' | '.join(row)} |" for row in [shown[0], dashes, *shown[1:]]))
    return f"{body}\n\n: `bench/results/{file}`. {plain(made)}.{left_out}\n"


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []


def figure(path, caption, width="100%"):
    return f"![{caption}]({ROOT / path}){{width={width}}}"


def references():
    text = (ROOT / "docs" / "theory" / "index.md").read_text()
    listed = plain(text[text.index("## References") + len("## References") :])
    return re.sub(r"\n +", " ", listed)  # a year that begins a line would be an item


def expanded(text):
    """Return the report in Markdown, every line that begins with @ replaced by what it names."""
    made = []
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name == "@statements":
            line = statements(*rest.split())
        elif name == "@table":
            line = table(*(part.strip() for part in rest.split("|")))
        elif name == "@figure":
            line = figure(*(part.strip() for part in rest.split("|")))
        elif name == "@references":
            line = references()
        elif name.startswith("@"):
            raise ValueError(f"report.md: {line}")
        made.append(line)
    return "\n".join(made)


def main(target=ROOT / "build" / "report.pdf"):
    import pypandoc  # here, so that a test can read the rest without them
    import typst

    body = pypandoc.convert_text(expanded((HERE / "report.md").read_text()), "typst", format=READ, extra_args=EXTRA)
    source = Path(target).with_suffix(".typ")
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text((HERE / "style.typ").read_text() + NORM.sub(r"abs(\1)", body))
    typst.compile(str(source), output=str(target), root="/")
    print(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
