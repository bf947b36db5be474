"""Every Python block of the documents runs and prints what they show; every public name is in the reference."""

from pathlib import Path

import pytest
from support import doc_blocks

import gopfast

ROOT = Path(__file__).resolve().parents[2]


def pages():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        if doc_blocks.blocks(text):
            yield pytest.param(name, text, id=name)


@pytest.mark.parametrize("name, text", list(pages()))
def test_every_python_block_runs_and_prints_what_is_shown(name, text, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert doc_blocks.run(text, name) >= 1


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


def test_a_missing_or_additional_line_fails():
    with pytest.raises(AssertionError, match="2 lines shown, 1 printed"):
        doc_blocks.run(PAGE.replace("after 19 nodes", "after 19 nodes\nOPTIMAL"), "page")


def test_a_block_that_raises_fails_and_names_its_line():
    with pytest.raises(NameError) as raised:
        doc_blocks.run(PAGE.replace("x = 1", "x = y"), "page")
    assert raised.traceback[-1].lineno + 1 == 1 + PAGE[: PAGE.index("x = 1")].count("\n")


def test_every_public_name_has_a_docstring_for_the_reference():
    assert [name for name in gopfast.__all__ if not getattr(gopfast, name).__doc__] == []
