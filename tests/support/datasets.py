"""The data sets of bench/datasets.py, loaded by path because bench is not importable from the tests."""

import importlib.util
from pathlib import Path

_PATH = Path(__file__).resolve().parents[2] / "bench" / "datasets.py"
_spec = importlib.util.spec_from_file_location("bench_datasets", _PATH)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)

minimal = _module.minimal
galaxies = _module.galaxies
acidity = _module.acidity
enzyme = _module.enzyme
faithful = _module.faithful
