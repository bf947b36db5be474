"""Makes `support` and the fuzzer importable, but not the repository's root: that would shadow the installed package."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS))
sys.path.append(str(TESTS.parent / "bench"))
