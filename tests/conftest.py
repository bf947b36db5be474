"""Makes `support` importable, but not the repository's root: that would shadow the installed package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
