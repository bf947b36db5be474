"""Statements of docs/theory are numbered, name modules and tests that there are, and are cited from these modules."""

import ast
import re
import tokenize

import pytest
from support import theory

MOST_LINES = 200
CHAPTERS = theory.chapters()
STATEMENTS = {chapter: theory.statements(chapter) for chapter in CHAPTERS}
LABELS = {one.label: chapter for chapter, found in STATEMENTS.items() for one in found}
NAMED = [pytest.param(one, id=one.label) for found in STATEMENTS.values() for one in found]
PAGES = [*theory.CHAPTERS.glob("*.md"), *(theory.ROOT / "docs" / "notebook").glob("*.md")]


def text_of(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_is_short_and_numbers_its_statements_with_letters_of_its_own(chapter):
    assert len(text_of(theory.CHAPTERS / chapter).splitlines()) <= MOST_LINES
    labels = [one.label for one in STATEMENTS[chapter]]
    letters = labels[0].rstrip("0123456789")
    assert labels == [f"{letters}{i + 1}" for i in range(len(labels))]


def test_every_chapter_is_in_the_index_and_no_letter_is_used_twice():
    assert {*CHAPTERS, "index.md"} == {path.name for path in theory.CHAPTERS.glob("*.md")}
    assert len(LABELS) == sum(map(len, STATEMENTS.values()))


def test_the_index_lists_every_statement():
    listed = text_of(theory.INDEX).split(theory.BEGIN)[1].split(theory.END)[0]
    assert listed.strip() == theory.index().strip(), "run python -m tests.support.theory"


@pytest.mark.parametrize("one", NAMED)
def test_a_statement_names_modules_and_functions_that_there_are(one):
    assert one.code
    for module, names in one.code:
        files = theory.source_of(module)
        assert files, f"{module} is no module"
        source = "\n".join(map(text_of, files))
        assert [name for name in names if not theory.defines(source, name)] == []


@pytest.mark.parametrize("one", NAMED)
def test_a_statement_names_tests_that_there_are(one):
    assert one.tests
    for file, names in one.tests:
        assert names and theory.source_of(file), f"{file} is no file"
        source = text_of(theory.ROOT / file)
        assert [name for name in names if f"def {name}(" not in source] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_statements_that_pages_refer_to_exist(page):
    assert [label for label in theory.LABEL.findall(text_of(page)) if label not in LABELS] == []


def test_statements_that_code_cites_are_in_the_chapter_named():
    found = theory.citations()
    wrong = [(file, label, chapter) for file, labels, chapter in found for label in labels
             if LABELS.get(label) != chapter]  # fmt: skip
    assert wrong == []
    old = "docs/" + "theory.md"
    assert [path for path in theory.sources() if old in text_of(path)] == []


def test_labels_without_a_chapter_exist_too():
    product = [path for path in theory.sources() if "gopfast" in path.relative_to(theory.ROOT).parts]
    wrong = [(path.name, label) for path in product for label in theory.LABEL.findall(text_of(path))
             if label not in LABELS]  # fmt: skip
    assert wrong == []


@pytest.mark.parametrize("one", NAMED)
def test_a_statement_is_cited_by_the_modules_that_it_names(one):
    cited = {}
    for file, labels, _ in theory.citations():
        cited.setdefault(file, set()).update(labels)
    for module, _ in one.code:
        files = [file.relative_to(theory.ROOT).as_posix() for file in theory.source_of(module)]
        assert any(one.label in cited.get(file, ()) for file in files), f"{module} does not cite ({one.label})"


def test_citations_are_found_over_the_ends_of_lines(tmp_path):
    text = "# bounded, (P1),\n# (P3) and\n# (P5) of docs/theory/prices.md; more"
    assert theory.cited_in(text) == [(["P1", "P3", "P5"], "prices.md")]
    assert theory.cited_in(" * Theory: (E8) of\n * docs/theory/entropic.md. */") == [(["E8"], "entropic.md")]


def test_what_a_module_defines_is_told_from_what_it_mentions():
    source = "cdef class Tree:\n    cdef int bisect(self, Node *node) noexcept nogil:\n        x = a.split\nMOST = 3\n"
    assert theory.defines(source, "Tree.bisect") and theory.defines(source, "MOST") and theory.defines(source, "Tree")
    assert not theory.defines(source, "Tree.split") and not theory.defines(source, "Batch.bisect")


def code_lines(path):
    """Return the number of lines without docstrings, comments and blank ones."""
    source = text_of(path)
    documented = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            documented.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(iter(source.splitlines(keepends=True)).__next__)
    lines = {line for one in tokens if one.type not in ignored for line in range(one.start[0], one.end[0] + 1)}
    return len(lines - documented)


def test_the_readme_says_how_long_the_checker_is():
    said = re.search(r"([\d,]+)\s+lines of NumPy code", text_of(theory.ROOT / "README.md"))
    counted = sum(code_lines(path) for path in (theory.ROOT / "gopfast" / "checker").glob("*.py"))
    assert int(said[1].replace(",", "")) == pytest.approx(counted, rel=0.05)
