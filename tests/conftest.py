"""Makes `support` and the fuzzer importable, but not the repository's root: that would shadow the installed package."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS))
sys.path.append(str(TESTS.parent / "bench"))

from support.settings import left_out  # noqa: E402


def pytest_collection_modifyitems(config, items):
    """Leave out seeds; a test that is named on the command line is run."""
    named = [argument for argument in config.args if "::" in argument]
    dropped = [] if named else left_out(items)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        gone = {id(item) for item in dropped}
        items[:] = [item for item in items if id(item) not in gone]
