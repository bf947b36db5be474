"""Every room has a README.md that names its modules and no others; ARCHITECTURE.md is one page that leads to all."""

import io
import re
import tokenize
from pathlib import Path

import pytest
from support import theory

ROOT = Path(__file__).resolve().parents[2]
TREES = (ROOT / "gopfast", ROOT / "src" / "gopfast")
PAGE = ROOT / "ARCHITECTURE.md"
FEW = 2  # modules; a room of no more needs no README.md
MOST_LINES = 130
# The README says how long the checker is: true but for this part.
NEARLY = 0.02

if not all(tree.is_dir() for tree in TREES):
    pytest.skip("no source tree beside the tests", allow_module_level=True)


def modules_of(room):
    """Names of the modules of a room (a path below the trees), in both trees."""
    found = [path for tree in TREES for path in (tree / room).glob("*.p*") if path.suffix in (".py", ".pyx", ".pxd")]
    return {path.stem for path in found} - {"__init__", "__main__"}


def rooms():
    """Paths of the rooms below the trees, the top first."""
    found = sorted(path.parent.relative_to(TREES[0]).as_posix() for path in TREES[0].rglob("__init__.py"))
    return [room for room in found if len(modules_of(room)) > FEW or (TREES[0] / room / "README.md").is_file()]


ROOMS = rooms()
WITH_MODULES = [room for room in ROOMS if len(modules_of(room)) > FEW]
DOCUMENTS = [PAGE, *(TREES[0] / room / "README.md" for room in ROOMS)]


def text_of(path):
    return path.read_text(encoding="utf-8")


LABELS = {one.label for chapter in theory.chapters() for one in theory.statements(chapter)}
SOURCES = [path for tree in TREES for path in tree.rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".h")]
# All that sources say, and their names.
WORDS = {
    word
    for path in [*SOURCES, ROOT / "setup.py", ROOT / "bench" / "compare_counts.py"]
    for word in [*re.findall(r"\w+", text_of(path)), path.stem, path.suffix[1:]]
} | {"", "README", "md"}


def named_in(text):
    """The names that stand in backticks in the first column of the tables whose heading is "file"."""
    rows = [
        part
        for table in re.findall(r"^\| file \|.*\n\|[- |]+\n((?:\|.*\n)+)", text, re.M)
        for part in table.split("\n")
    ]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1] if row else "")]


def slug(heading):
    """The anchor that forges make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def is_there(name, document):
    """Whether a path that a document names in backticks, from the checkout, the package or the room, exists."""
    wanted = name.removesuffix("/")
    for place in (ROOT, *TREES, document.parent, TREES[0] / "mixtures", TREES[1] / "mixtures"):
        if (
            (place / wanted).exists()
            or list(place.glob(f"{wanted}.p*"))
            or ("*" in wanted and list(place.glob(wanted)))
        ):
            return True
    return False


def test_there_are_rooms():
    assert {"search", "mixtures", "mixtures/pricing", "checker"} <= set(WITH_MODULES)


@pytest.mark.parametrize("room", WITH_MODULES)
def test_a_room_names_each_of_its_modules_once_and_no_other(room):
    path = TREES[0] / room / "README.md"
    assert path.is_file(), "has no README.md"
    assert sorted(named_in(text_of(path))) == sorted(modules_of(room))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_that_a_document_names_exist(document):
    names = re.findall(r"`((?:[a-z_.]+/)+[a-z_*.]*)`", text_of(document))
    assert [name for name in names if not is_there(name, document)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_of_a_document_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(document)):
        file, _, anchor = target.partition("#")
        path = (document.parent / file).resolve() if file else document
        assert path.is_file(), target
        if anchor:
            assert anchor in map(slug, re.findall(r"^#+ (.+)$", text_of(path), re.M)), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_statements_and_names_of_a_document_exist(document):
    text = text_of(document)
    assert [label for label in theory.LABEL.findall(text) if label not in LABELS] == []
    names = re.findall(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)", text)
    assert [name for name in names if not WORDS.issuperset(name.split("."))] == []


def test_every_mechanism_is_in_the_table_of_its_room():
    text = text_of(TREES[0] / "mixtures" / "README.md")
    declared = re.findall(r'name, theory = "(\w+)", "(\(\w+\))"', text_of(TREES[0] / "mixtures" / "mechanisms.py"))
    table = text.split("| mechanism |")[1].split("\n\n")[0]
    rows = [row.split("|")[1:3] for row in table.splitlines()[2:]]
    named = [
        pair
        for names, labels in rows
        for pair in zip(*(re.findall(r"[(\w)]+", x) for x in (names, labels)), strict=True)
    ]
    assert sorted(named) == sorted(declared)


def test_the_page_is_short_and_leads_to_every_room():
    text = text_of(PAGE)
    assert len(text.splitlines()) <= MOST_LINES
    links = {f"gopfast/{room}/README.md".replace("/./", "/") for room in WITH_MODULES}
    assert sorted(links - set(re.findall(r"\]\(([^)#\s]+)\)", text))) == []


def test_the_page_names_the_ground_that_imports_are_held_to():
    layers = text_of(ROOT / "tests" / "unit" / "test_layers.py")
    held = re.findall(r'"(\w+)"', re.search(r"^GROUND = \{(.*?)\}", layers, re.M | re.S)[1])
    said = re.search(r"from the \*ground\*.*?:\n(.*?)\.\s", text_of(PAGE), re.S)[1]
    assert sorted(re.findall(r"`(\w+)`", said)) == sorted(held)


def lines_of_code(path):
    """How many lines of a file hold code: no comment, no string that stands by itself, not blank."""
    lines, first = set(), True
    for token in tokenize.generate_tokens(io.StringIO(text_of(path)).readline):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            first = True
        elif token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER):
            if not (first and token.type == tokenize.STRING):
                lines |= {*range(token.start[0], token.end[0] + 1)}
            first = False
    return len(lines)


def test_the_readme_says_how_long_the_checker_is():
    said = re.search(r"([\d,]+)\s+lines of NumPy code", text_of(ROOT / "README.md"))
    found = sum(map(lines_of_code, (TREES[0] / "checker").glob("*.py")))
    assert abs(int(said[1].replace(",", "")) - found) <= NEARLY * found
