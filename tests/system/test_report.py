"""The report's sources: what docs/report/report.md names is there."""

import importlib.util
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "report"


@pytest.fixture(scope="module")
def build():
    if not FOLDER.is_dir():
        pytest.skip("not a clone")
    spec = importlib.util.spec_from_file_location("report_build", FOLDER / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_statement_and_table_that_it_names_is_there(build):
    named = (FOLDER / "report.md").read_text()
    text = build.expanded(named)
    numbers = [number for line in re.findall(r"^@statements \S+ (.*)$", named, re.MULTILINE) for number in line.split()]
    assert len(numbers) > 30
    assert all(f"### ({number}) " in text for number in numbers)
    assert text.count("`bench/results/") == named.count("@table ")
    assert not re.search(r"^@|\*Code:\*|\*Test:\*", text, re.MULTILINE)
    for path in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text):
        assert Path(path).is_file(), path


def test_a_table_has_the_columns_asked_for_in_their_order(build):
    first, dashes, row, *_ = build.table("biconvex.md", "instance", "SCIP ms ; instance", "3").splitlines()
    assert build.cells(first) == ["SCIP ms", "instance"]
    assert len(build.cells(dashes)) == 2
    assert build.cells(row)[1] == "bimatrix_battle_of_sexes"
    with pytest.raises(ValueError, match="has no table"):
        build.table("biconvex.md", "instance", "no such column")
    with pytest.raises(ValueError, match="no statement"):
        build.statements("gop", "G99")


def test_letters_are_set_as_symbols_but_for_code_formulas_and_words(build):
    text = build.plain("tau <= 1, `tau <= pi`, $\\tau$ pitch non-pi, over\n$$ pi <= 2 $$\nof nu")
    assert text == "$\\tau$ $\\le$ 1, `tau <= pi`, $\\tau$ pitch non-pi, over\n$$ pi <= 2 $$\nof $\\nu$"
