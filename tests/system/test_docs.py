"""Every Python block of the documents runs and prints what they show; every public name is in the reference."""

from pathlib import Path

import pytest
from support import doc_blocks
from support.settings import EVERY

import gopfast
from gopfast.mixtures.data import passes

ROOT = Path(__file__).resolve().parents[2]


def pages():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        if doc_blocks.blocks(text):
            yield pytest.param(name, text, id=name)


def pages_and_instructions():
    """Every page with this machine's kernels, the first with all of them: tests/unit/test_passes compares these."""
    for turn, page in enumerate(pages()):
        for kernels in passes.instruction_sets() if turn == 0 or EVERY == 1 else [passes.instruction_set()]:
            yield pytest.param(*page.values, kernels, id=f"{page.id}-{kernels}")


@pytest.mark.parametrize("name, text, instructions", list(pages_and_instructions()))
def test_every_python_block_runs_and_prints_what_is_shown(name, text, instructions, monkeypatch):
    monkeypatch.chdir(ROOT)
    passes.use_instruction_set(instructions)
    try:
        assert doc_blocks.run(text, name) >= 1
    finally:
        passes.use_instruction_set()


def test_the_readme_and_the_guides_are_among_the_pages():
    assert {"README.md", "docs/guide.md", "docs/families.md", "docs/fits.md"} <= {page.values[0] for page in pages()}


PAGE = """
```python
import math
```
Text.
<!-- requires: math -->
```python
print(f"objective {math.pi:.5f}  (lower bound 3.14, gap 0.0016) after 17 nodes")
```
```
objective 3.14159  (lower bound 3.10, gap 0.041) after 19 nodes
```
```sh
false
```
```python
x = 1
```
Not the output of the block above:
```
2
```
"""


def test_blocks_share_a_namespace_and_are_compared():
    assert [block.output is not None for block in doc_blocks.blocks(PAGE)] == [False, True, False]
    assert doc_blocks.run(PAGE, "page") == 3


def test_a_block_that_needs_a_missing_module_is_left_out():
    assert doc_blocks.run(PAGE.replace("requires: math", "requires: no_such_module"), "page") == 2


@pytest.mark.parametrize("old, new", [("3.14159", "3.14259"), ("objective 3", "bound 3"), ("after 19 nodes", "")])
def test_a_wrong_output_fails(old, new):
    with pytest.raises(AssertionError, match="page, block at line 8"):
        doc_blocks.run(PAGE.replace(old, new), "page")


@pytest.mark.parametrize("count", ["23 nodes", "13 nodes", "1,019 nodes"])
def test_a_count_beyond_the_gate_fails(count):
    with pytest.raises(AssertionError, match=r"shown '.* after §\d+ nodes', printed '.* after §17 nodes'"):
        doc_blocks.run(PAGE.replace("19 nodes", count), "page")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("work 1,005 nodes, 3,548 data passes in 0.01 s", "work 1,090 nodes, 3,500 data passes in 9 s", True),
        ("work 1,005 nodes, 3,548 data passes in 0.01 s", "work 1,197 nodes, 3,548 data passes in 0.01 s", False),
        ("work 1,005 nodes, 3,548 data passes in 0.01 s", "work 1,005 nodes, 4,548 data passes in 0.01 s", False),
        ("5  OPTIMAL  129.5894  1.0e-02  981", "5  OPTIMAL  129.5894  9.1e-03  981", True),
        ("5  OPTIMAL  129.5894  1.0e-02  981", "5  OPTIMAL  129.5894  1.0e-02  1197", False),
        ("1,197 LPs", "1,297 LPs", True),
        ("1,197 LPs", "1,397 LPs", False),
    ],
)
def test_counts_are_compared_and_times_are_not(shown, printed, same):
    assert (doc_blocks.first_difference(shown, printed) is None) is same


LOG = """\
      nodes      open           lower           upper        gap      time
*         1         1               0       129.58944        130     0.00s
         73        14               0       129.58944        130     0.00s
        319        67       93.763356       129.58944       35.8     0.01s
        981         0       129.57946       129.58944    0.00998     0.01s
981 nodes in 0.01 s: 129.57946 <= global optimum <= 129.58944, gap 0.00998
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("0.01s", "7.31s", True),
        ("93.763356", "94.1", True),
        ("319        67", "330        66", True),
        ("319        67", "391        67", False),
        ("*         1", "          1", False),
        ("       981         0", "      1197         0", False),
        ("\n981 nodes", "\n1197 nodes", False),
        ("129.58944    0.00998", "129.98944    0.00998", False),
        ("         73        14               0       129.58944        130     0.00s\n", "", True),  # by the clock
    ],
)
def test_progress_tables_are_compared_but_for_times_and_what_is_not_proved_yet(old, new, same):
    assert old in LOG
    assert (doc_blocks.first_difference(LOG.replace(old, new), LOG, is_log=True) is None) is same


def test_the_tables_of_the_documents_are_compared():
    tables = [block for page in pages() for block in doc_blocks.blocks(page.values[1]) if block.is_log]
    tables = [table for table in tables if "log=True" in table.code]
    assert len(tables) == 1 and "nodes" in tables[0].output


def test_updating_writes_what_is_printed_and_leaves_alone_what_only_the_clock_changes():
    page = """
1. An item.

   ```python
   print("3 nodes in 0.5 s")
   ```
   ```
   3 nodes in 0.7 s
   ```

   ```python
   print("5 nodes\\nsecond line")
   ```
   ```
   4 nodes
   ```
"""
    wanted = page.replace("   4 nodes\n", "   5 nodes\n   second line\n")
    assert doc_blocks.updated(page, "page") == wanted
    assert doc_blocks.updated(wanted, "page") == wanted
    assert doc_blocks.run(wanted, "page") == 2


def test_a_missing_or_additional_line_fails():
    with pytest.raises(AssertionError, match="2 lines shown, 1 printed"):
        doc_blocks.run(PAGE.replace("after 19 nodes", "after 19 nodes\nOPTIMAL"), "page")


def test_a_block_that_raises_fails_and_names_its_line():
    with pytest.raises(NameError) as raised:
        doc_blocks.run(PAGE.replace("x = 1", "x = y"), "page")
    assert raised.traceback[-1].lineno + 1 == 1 + PAGE[: PAGE.index("x = 1")].count("\n")


def test_every_public_name_has_a_docstring_for_the_reference():
    assert [name for name in gopfast.__all__ if not getattr(gopfast, name).__doc__] == []


def test_the_misses_in_the_readme_are_those_of_the_bench():
    """The README's columns are a choice of those that bench/sklearn_misses.py writes."""
    table = ROOT / "bench" / "results" / "sklearn_misses.md"
    if not table.exists():
        pytest.skip("bench is not part of this tree")
    cells = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for path in (table, ROOT / "README.md")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and ", K=" in line and len(line.split("|")) in (8, 10)
    ]
    bench = {name: [optimum, *(cell.split()[0] for cell in misses)] for name, optimum, _, *misses, _ in
             (row for row in cells if len(row) == 8)}
    readme = {name: numbers for name, *numbers in (row for row in cells if len(row) == 6)}
    assert len(readme) > 5
    assert {name: bench[name] for name in readme} == readme


def test_what_is_in_reach_in_the_readme_is_what_the_bench_found():
    """The README's rows are a choice of those that bench/in_reach.py writes."""
    table = ROOT / "bench" / "results" / "in_reach.md"
    if not table.exists():
        pytest.skip("bench is not part of this tree")
    kinds = ("| covariance ", "| known ", "| spherical ", "| diag ", "| tied ", "| full ")
    bench, readme = (
        [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith(kinds)]
        for path in (table, ROOT / "README.md")
    )
    assert len(readme) > 5
    assert set(readme) <= set(bench)
