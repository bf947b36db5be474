"""Constants of a room lie in its tuning files, those of rounding in its margins files, and each is accounted for."""

import ast
import functools
import math
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from support import theory

ROOT = Path(__file__).resolve().parents[2]
TREES = (ROOT / "gopfast", ROOT / "src" / "gopfast")
# Numbers that nobody tunes, by module: what they are, and their names.
EXCEPTIONS = {
    "cli": ("codes", "EXIT_PROVED EXIT_LIMIT EXIT_WRONG EXIT_BEATEN EXIT_INTERRUPTED EXIT_UNREAD"),
    "options": ("the core's integers", "LARGEST_SEED MOST_NODES"),
    "roundoff": ("the unit roundoff, of which margins are made", "ROUND"),
    "biconvex/alternating": ("file format: the largest number", "MOST_TURNS"),
    "biconvex/bilinear_rounds": ("numbers of stages", "RELAXED LIFTED CUT BOUNDED"),
    "biconvex/bilinear_rows": ("codes of HiGHS", "AT_LOWER BASIC LAST_STATUS"),
    "biconvex/convex_programs": ("codes, and how many there are", "FREE N_PROGRAM_KINDS NO_BASIS"),
    "biconvex/fingerprints": ("what a hash function is made of", "_ODD _SHIFT"),
    "biconvex/learnt_rows": ("file format: the largest number", "LARGEST_ENTRY"),
    "biconvex/formulas": ("bounds that signs of comparison mean", "SENSES"),
    "biconvex/nl": (
        "codes of AMPL, and what solvers of such files take for infinite",
        "PLUS MINUS TIMES OVER POWER ABSOLUTE NEGATIVE ROOT SUM CONSTANT_EXPONENT SQUARE CONSTANT_BASE LOG_10 LOG "
        "EXP LEAST GREATEST N_ARGUMENTS INFINITE",
    ),
    "biconvex/problem": (
        "the numbers that a problem may have: their products are doubles", "LARGEST_NUMBER SMALLEST_NUMBER"
    ),
    "biconvex/program": ("a code of HiGHS", "BASIC"),
    "biconvex/proof": ("empty arrays", "NOTHING"),
    "biconvex/tangents": ("statuses of 3 bits in one float", "PACKED"),
    "checker/biconvex": ("codes, and file format: the largest number", "LEAF CUT RANGES CASES LARGEST"),
    "checker/covariance": ("mathematics", "LOG_2_PI"),
    "checker/entries": ("file format: the largest number", "LARGEST"),
    "checker/objective": ("mathematics", "LOG_2_PI"),
    "checker/priors": ("mathematics", "LOG_2_PI"),
    "checker/rounding": ("the unit roundoff, and what functions and underflow err by", "UNIT ULPS TINY"),
    "checker/tree": ("codes", "ROOT NONE"),
    "clustering/checkpoint": ("file format: the largest number", "MOST_SECONDS"),
    "clustering/line": ("size of an array in C", "DEPTH"),
    "clustering/pricing": ("size of an array in C, and the unit roundoff", "MOST_DEPTH UNIT"),
    "clustering/problem": ("the largest number that a problem may have: its square is finite", "LARGEST"),
    "clustering/proof": ("file format: a leaf", "LEAF"),
    "clusterwise/pricing": ("sizes of arrays in C", "MOST_DEPTH MOST_COEFFICIENTS"),
    "clusterwise/problem": ("the largest number that a problem may have: its square is finite", "LARGEST"),
    "mixtures/solve": ("passes that a closed form makes", "N_CLOSED_FORM_PASSES"),
    "lp/lp": (
        "codes of HiGHS, and what it takes for infinite",
        "SIMPLEX_INTERRUPT ROW_WISE TRIANGULAR MINIMISE DUAL_SIMPLEX PRIMAL_SIMPLEX NO_SCALING STATUS_EMPTY "
        "STATUS_OPTIMAL STATUS_INFEASIBLE STATUS_UNBOUNDED STATUS_OBJECTIVE_BOUND STATUS_TIME_LIMIT STATUS_INTERRUPT "
        "HIGHS_INFINITY",
    ),
    "lp/milp": ("codes of HiGHS", "MIP_INTERRUPT ROW_WISE MINIMISE SOLUTION_FEASIBLE"),
    "mixtures/data/grid": ("size of an array in C", "MOST_COLUMNS"),
    "mixtures/data/passes": ("parts of a pass, in whose order sums are made: csrc/pass.h", "N_PARTS"),
    "mixtures/families/chain": ("sizes of arrays in C", "MOST_COLUMNS MOST_PLACES"),
    "mixtures/families/design": ("size of an array in C", "MOST_COEFFICIENTS"),
    "mixtures/pricing/hull_distances": ("size of an array in C", "N_SHIFTS"),
    "mixtures/families/regression": ("size of an array in C", "MOST_COEFFICIENTS"),
    "mixtures/families/full": (
        "places of variables, statistics and facets",
        "MEAN VARIANCE SLOPE RESIDUAL N_CELL N_COLUMNS OF_MASS OF_X OF_Y OF_XY OF_XX OF_YY OF_XY_SQUARED N_STATISTICS "
        "MEAN_BOX VARIANCE_MOST VARIANCE_LEAST SLOPE_LEAST SLOPE_MOST RESIDUAL_MOST RESIDUAL_LEAST N_FACETS",
    ),
    "biconvex/start_kinds": (
        "codes and their number", "GIVEN RELAXED MIDDLE DRAWS NEAR_ZERO BEST NODES N_KINDS"
    ),
    "mixtures/primal/start_kinds": (
        "codes and their number", "GIVEN SUGGESTED TRIAL DRAWS CLUSTERS TIES MOVES CROSSINGS NODES N_KINDS"
    ),
    "mixtures/families/gaussian": ("mathematics", "CURVATURE"),
    "mixtures/families/matrix": (
        "sizes of arrays in C, and of facets", "MOST_SPLIT MOST_VERTICES MOST_COLUMNS MOST_ENTRIES N_PLANES"
    ),
    "mixtures/families/partial": ("names of columns", "ENTRY PRESENCE"),
    "mixtures/families/gamma": (
        "places of facets", "OMEGA_MOST SECOND_MINORANT LOWER_TANGENT UPPER_TANGENT SPREAD_FACETS"
    ),
    "mixtures/families/normal": (
        "places of facets", "OMEGA_MOST SECOND_MINORANT LOWER_TANGENT UPPER_TANGENT VARIANCE_FACETS"
    ),
    "mixtures/families/stretches": ("size of an array in C", "MOST_BINS"),
    "mixtures/incumbent/matrix_charts": ("mathematics", "SQRT2"),
    "mixtures/pricing/hull_cells": (
        "size of a block in C, and places of moments",
        "LANES MASS MEAN PRECISION SQUARE TOP SKEW VARIANCE_OF_SQUARE WITH_Z WITH_SQUARE VARIANCE N_MOMENTS",
    ),
    "mixtures/pricing/sample_groups": ("size of a C kernel: csrc/groups.h", "MOST_COLUMNS"),
    "mixtures/primal/em": (
        "codes, and the largest number that a checkpoint may say", "SEARCHING MOVING PERTURBING MOST_TURNS"
    ),
    "mixtures/local/_quasi_newton": ("codes of SciPy", "OUT_OF_STEPS NO_LOWER_POINT"),
    "outlook": ("mathematics", "DECADE"),
    "mixtures/problems/regression_starts": ("a seed", "SEED"),
    "mixtures/problems/categorical": ("a code", "MISSING"),
    "mixtures/problems/covariance": ("mathematics", "LOG_2_PI"),
    "mixtures/problems/local_fits": ("mathematics (Sheppard's correction), and a seed", "ROUNDING SEED"),
    "mixtures/problems/log_gamma": ("mathematics", "LOG_2_PI SERIES"),
    "mixtures/problems/row_sample": ("those of SplitMix64", "GOLDEN MIX LAST_SHIFT"),
    "mixtures/relaxations/corners": ("a code", "CORNERS"),
    "mixtures/relaxations/entropic": ("a code", "SUMMARISED"),
    "mixtures/relaxations/linear_rows": ("the largest int, an index in HiGHS", "MOST_ENTRIES"),
    "mixtures/relaxations/refinement": ("codes", "DIVIDED DIVIDED_AGAIN"),
    "mixtures/shared/cells": ("size of arrays in C", "MOST_ROWS_OF_BASIS"),
    "mixtures/shared/factor_cells": ("sizes of arrays in C", "MOST_COLUMNS MOST_ENTRIES MOST_CORNERS"),
    "mixtures/shared/pair_cells": ("sizes of arrays in C", "MOST_COLUMNS MOST_CORNERS"),
    "mixtures/shared/slices": ("mathematics", "LOG_2_PI"),
    "mixtures/shares/share_boxes": ("sizes of arrays in C", "MOST_LABELS MOST_NODES MOST_DIRECTIONS"),
    "search/arena": ("a pattern of bits, and what an allocation may be", "GUARD LARGEST"),
    "search/checkpoint": ("file format", "VERSION"),
    "search/session": ("stands for no limit", "UNLIMITED"),
    "search/endings": ("codes and their number", "CONVERGED OUT_OF_STEPS GIVEN_UP OUT_OF_TIME FAILED N_ENDINGS"),
    "search/entries": ("file format: the largest count", "LARGEST"),
    "search/learning_log": ("file format: the largest number", "MOST_STEPS"),
    "search/ledger": ("a code", "NOWHERE"),
    "search/relaxation": ("size of an array in C", "N_STAGES"),
    "search/rounding": ("the unit roundoff, of which margins are made", "ROUND"),
    "search/snapshot": ("file format: the largest numbers", "NEVER MOST_WORK MOST_FINITE MOST_SECONDS"),
    "search/tree": (
        "of the allocator; rounding in an inline function of all rooms", "BLOCK_HEAD BLOCK_STEP NARROWEST"
    ),
}  # fmt: skip
NAME = r"_?[A-Z][A-Z0-9_]+"
ROUND = 2.0**-53
FIELDS = {"tuning": 4, "margins": 3}

if not all(tree.is_dir() for tree in TREES):
    pytest.skip("no source tree beside the tests", allow_module_level=True)


class Entry(NamedTuple):
    """A constant with what its comment says: of which modules, what it is, and so on."""

    room: str
    file: str  # "tuning" or "margins"
    is_compiled: bool
    modules: tuple
    name: str
    type: str  # in C, or "enum"
    text: str  # of the value
    fields: tuple

    @property
    def value(self):
        """The number, or numbers, that it is."""
        return evaluated(self.text)


def evaluated(text):
    """The value of an expression of C or Python: numbers, operators and the unit roundoff."""
    text = re.sub(r"(?<=\d)L\b", "", text.replace("GOPFAST_ROUND", "ROUND"))
    return eval(text, {"__builtins__": {}, "ROUND": ROUND, "EPS": 2 * ROUND, "math": math, "float": float})


def rooms():
    """Paths of the rooms below the trees."""
    return sorted(path.parent.relative_to(TREES[0]).as_posix() for path in TREES[0].rglob("__init__.py"))


def entry_of(line, is_compiled):
    """Name, type and text of the value on a line, None where there is none."""
    if not is_compiled:
        found = re.fullmatch(rf"({NAME})(?:: [\w\[\], .]+)? = (.+)", line)
        return (found[1], "", found[2]) if found else None
    found = re.fullmatch(rf'    ([\w ]+) ({NAME}) "(.+)"', line)
    if found:
        return found[2], found[1], found[3]
    found = re.fullmatch(rf"    ({NAME}) = (.+)", line)
    return (found[1], "enum", found[2]) if found else None


def files_of(room, file):
    """Paths of a room's tuning or margins files, of both trees."""
    return [path for path in (TREES[0] / room / f"{file}.py", TREES[1] / room / f"{file}.pxd") if path.is_file()]


def entries_of(room, file):
    """The entries of a room's tuning or margins files, of both trees."""
    found = []
    for path in files_of(room, file):
        comment, modules = [], ()
        for line in path.read_text(encoding="utf-8").splitlines():
            stripped, is_compiled = line.strip(), path.suffix == ".pxd"
            if stripped.startswith("#"):
                comment.append(stripped[1:].strip())
            elif not stripped:
                heading = re.match(r"\[([a-z_][\w, ]*)\] ", " ".join(comment))
                modules = tuple(heading[1].split(", ")) if heading else modules
                comment = []
            elif entry := entry_of(line, is_compiled):
                fields = tuple(part.strip() for part in " ".join(comment).split(" | "))
                found.append(Entry(room, file, is_compiled, modules, *entry, fields))
                comment = []
    return found


ROOMS = rooms()
ENTRIES = [entry for room in ROOMS for file in FIELDS for entry in entries_of(room, file)]
TUNED = [entry for entry in ENTRIES if entry.file == "tuning"]
MARGINS = [entry for entry in ENTRIES if entry.file == "margins"]


def name_of(entry):
    """How tests name an entry."""
    return f"{entry.room}:{entry.name}"


def modules_of(room):
    """Paths of the modules of a room by name, tuning and margins files apart."""
    found = {}
    for tree in TREES:
        for path in sorted((tree / room).glob("*.p*")):
            if path.suffix in (".py", ".pyx", ".pxd") and path.stem not in FIELDS:
                found.setdefault(path.stem, []).append(path)
    return found


def is_numeric(node):
    """Whether an expression has a number in it, and nothing but numbers, names, operators and functions of `math`."""
    if any(isinstance(part, ast.Constant) and isinstance(part.value, str | bytes) for part in ast.walk(node)):
        return False
    calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    if any(not (isinstance(call, ast.Attribute) or getattr(call, "id", "") in ("float", "dict")) for call in calls):
        return False
    numbers = [part for part in ast.walk(node) if isinstance(part, ast.Constant) and type(part.value) in (int, float)]
    return bool(numbers)


def constants_of_python(text):
    """Names of a Python module's constants that are numbers."""
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_numeric(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            found += [name for name in names if re.fullmatch(NAME, name)]
    return found


def constants_of_cython(text):
    """Names of a Cython module's constants that are numbers; those of enumerations with a name are codes."""
    found = re.findall(rf"^cdef [\w ]+ ({NAME}) *=", text, re.M)
    found += re.findall(rf"^({NAME})(?: *, *{NAME})* *= *[-(]?[\d.]", text, re.M)
    found += re.findall(rf"^ *#define GOPFAST_({NAME}) ", text, re.M)
    for block in re.findall(r"^cp?def enum:\n((?:    .*\n|\n)+)", text, re.M):
        found += re.findall(rf"^    ({NAME})", block, re.M)
    return found


def strays(room):
    """(module, name) of each constant of a room that lies in a module."""
    found = set()
    for stem, paths in modules_of(room).items():
        for path in paths:
            text = path.read_text(encoding="utf-8")
            names = constants_of_python(text) if path.suffix == ".py" else constants_of_cython(text)
            found |= {(stem, name) for name in names}
    return found


def imports_of(text, room, file, is_compiled):
    """{name in a module: name in the tuning or margins file of one tree} of what a module takes from there."""
    place = "gopfast." + "".join(f"{part}." for part in room.split("/") if part != ".") + file
    verb = "cimport" if is_compiled else "import"
    found = {}
    # the checker, which takes nothing from the package, says no name of it
    for match in re.finditer(rf"^from (?:{re.escape(place)}|\.{file}) {verb} (\([^)]*\)|.*)$", text, re.M):
        for name, alias in re.findall(rf"({NAME})(?:\s+as\s+({NAME}))?", match[1]):
            found[alias or name] = name
    return found


@functools.cache
def importers_of(room, file, is_compiled):
    """What each module of a room takes from one of its files, as {name in the file: {module: name in it}}."""
    found = {}
    for stem, paths in modules_of(room).items():
        for path in paths:
            for alias, name in imports_of(path.read_text(encoding="utf-8"), room, file, is_compiled).items():
                found.setdefault(name, {})[stem] = alias
    return found


def importers(entry):
    """The modules of an entry's room that take it from its file, as {module: name in it}."""
    return importers_of(entry.room, entry.file, entry.is_compiled).get(entry.name, {})


@functools.cache
def texts_without_imports(room, module):
    """The texts of a module's files, without their imports."""
    imported = re.compile(r"^from \S+ c?import (\([^)]*\)|.*)$", re.M)
    return [imported.sub("", path.read_text(encoding="utf-8")) for path in modules_of(room)[module]]


def by_room(entries):
    """One case for each room: a test for each of thousands of entries takes longer to collect than to run."""
    rooms = {}
    for entry in entries:
        rooms.setdefault(entry.room, []).append(entry)
    return [pytest.param(own, id=room) for room, own in rooms.items()]


def contains(interval, value):
    """Whether an interval such as "(0, 1]" holds a number, or all of a tuple or dictionary."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple):
        return all(contains(interval, part) for part in value)
    found = re.fullmatch(r"([\[(])(.+), (.+)([\])])", interval)
    low, high = (float(evaluated(part)) if part not in ("inf", "-inf") else float(part) for part in found.group(2, 3))
    above = value >= low if found[1] == "[" else value > low
    below = value <= high if found[4] == "]" else value < high
    return low < high and above and below


def test_every_file_of_a_room_has_entries():
    found = {(room, file, path.suffix) for room in ROOMS for file in FIELDS for path in files_of(room, file)}
    assert found == {(entry.room, entry.file, ".pxd" if entry.is_compiled else ".py") for entry in ENTRIES}
    assert len(ENTRIES) > 900


@pytest.mark.parametrize("room", ROOMS)
def test_no_constant_lies_in_a_module(room):
    found = {(f"{room}/{module}".removeprefix("./"), name) for module, name in strays(room)}
    excepted = {
        (module, name)
        for module, (_, names) in EXCEPTIONS.items()
        for name in names.split()
        if (module.rpartition("/")[0] or ".") == room
    }
    assert sorted(found - excepted) == []
    assert sorted(excepted - found) == []


def test_names_of_a_room_are_unique_or_one_number_for_both_trees():
    for room in ROOMS:
        by_name = {}
        for entry in ENTRIES:
            if entry.room == room:
                by_name.setdefault(entry.name, []).append(entry)
        for name, same in by_name.items():
            assert len({entry.is_compiled for entry in same}) == len(same), name
            assert len({entry.value for entry in same if len(same) > 1}) <= 1, name


@pytest.mark.parametrize("entries", by_room(ENTRIES))
def test_an_entry_has_its_fields(entries):
    for entry in entries:
        assert entry.modules, "no heading"
        assert len(entry.fields) == FIELDS[entry.file], entry.fields
        assert all(entry.fields)


@pytest.mark.parametrize("entries", by_room(TUNED))
def test_the_range_holds_the_value(entries):
    for entry in entries:
        assert contains(entry.fields[2], entry.value)


@pytest.mark.parametrize("entries", by_room(TUNED))
def test_what_chose_the_value_exists(entries):
    for entry in entries:
        chosen = entry.fields[3]
        if chosen != "not measured" and not chosen.startswith("argument: "):
            assert re.fullmatch(r"(bench|docs)/\S+(, (bench|docs)/\S+)*", chosen), chosen
            assert [path for path in chosen.split(", ") if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("entries", by_room(MARGINS))
def test_a_margin_names_the_statement_that_argues_for_it(entries):
    for entry in entries:
        labels = theory.LABEL.findall(entry.fields[2])
        every = {one.label for chapter in theory.chapters() for one in theory.statements(chapter)}
        assert labels
        assert set(labels) <= every


@pytest.mark.parametrize("entries", by_room(ENTRIES))
def test_an_entry_is_used_by_the_modules_of_its_heading(entries):
    for entry in entries:
        found = importers(entry)
        assert found
        assert set(found) <= set(entry.modules)
        for module, name in found.items():
            texts = texts_without_imports(entry.room, module)
            assert any(re.search(rf"\b{name}\b", text) for text in texts), (module, name)


@pytest.mark.parametrize("room", ROOMS)
def test_modules_of_headings_exist_and_take_something(room):
    named = {module for entry in ENTRIES if entry.room == room for module in entry.modules}
    taking = {module for entry in ENTRIES if entry.room == room for module in importers(entry)}
    assert sorted(named - taking) == []


@pytest.mark.parametrize("entries", by_room([entry for entry in ENTRIES if entry.type not in ("", "enum")]))
def test_a_compiled_constant_has_the_type_that_its_text_has_in_c(entries):
    for entry in entries:
        # the text stands in C as it is: 1 / 3 would be 0 there, and an int times an int may overflow
        if entry.type == "real":
            assert re.search(r"\.|e-?\d|GOPFAST_ROUND", entry.text)
        elif entry.type in ("index", "long long"):
            assert re.search(r"\dL\b", entry.text)
        else:
            assert entry.type == "int"
            assert re.fullmatch(r"-?\d+", entry.text)
        assert re.fullmatch(r"-?[\d.]+(e-?\d+)?L?|\(.*\)", entry.text), "an expression needs brackets"


def test_the_parser_finds_constants_of_both_languages():
    assert constants_of_python("A_B = 3\nC: float = 2.0 * 4\nX, YY = 1, (2, 3)\nTEXT = 'a'\nMAP = {'a': 1}\n") == [
        "A_B", "YY"
    ]  # fmt: skip
    assert constants_of_cython(
        "cdef real ONE = 1.0\ncdef int TWO = 2\nTHREE = 3\ncdef enum:\n    FOUR = 4\ncdef enum Kind:\n    FIVE = 5\n"
    ) == ["ONE", "TWO", "THREE", "FOUR"]


def test_intervals():
    assert contains("[0, 1)", 0)
    assert not contains("[0, 1)", 1)
    assert contains("(0, inf)", (1, 2))
    assert not contains("(0, inf)", {1: 0})
    assert contains("(0, 2**20]", 2**20)
