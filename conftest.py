"""
``pytest --benchmark`` runs the benches alone; pytest-benchmark does the measuring.

The run is compared with the last one that was saved on this machine, if there is one, and then saved in
``.benchmarks/``. Slower times are shown and fail nothing: what fails is a bench whose counts grew (see
``bench/compare_counts.py``), because counts are exact. ``--benchmark-only`` does the same.
"""

import math
import os
from pathlib import Path

import pytest
from pytest_benchmark.utils import get_machine_id

BENCHES = "bench"
# Slower than the saved run by more than this is marked in the table: repeated runs differ by less on a quiet machine.
MARKED = 0.10


@pytest.fixture(autouse=True)
def no_ctrl_c_before():
    """Forget the Ctrl-C of the test before: one that comes soon after another is raised."""
    from gopfast.search import interrupts

    interrupts.last = -math.inf


def pytest_addoption(parser):
    """Add the switch; pytest-benchmark's own options hold beside it."""
    parser.getgroup("benchmark").addoption(
        "--benchmark", action="store_true", help="Run the benches only, beside the last run saved on this machine."
    )


@pytest.hookimpl(tryfirst=True)  # before pytest-benchmark reads its options
def pytest_configure(config):
    """Choose the benches, what they are compared with and where they are saved, unless the command line says."""
    if "PYTHONPATH" in os.environ:  # tests start processes in other folders
        folders = os.environ["PYTHONPATH"].split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(os.path.abspath(folder) for folder in folders)
    option = config.option
    if not (getattr(option, "benchmark", False) or getattr(option, "benchmark_only", False)):
        return
    option.benchmark_only, option.benchmark_skip = True, False
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args[:] = [str(config.rootpath / BENCHES)]
    if option.benchmark_storage == "file://./.benchmarks":
        option.benchmark_storage = f"file://{config.rootpath / '.benchmarks'}"
    scheme, _, folder = option.benchmark_storage.partition("://")
    saved = scheme == "file" and any(Path(folder, get_machine_id()).glob("*.json"))
    if saved and not option.benchmark_compare:
        option.benchmark_compare = True
    if not (option.benchmark_save or option.benchmark_autosave):
        option.benchmark_save = "run"


def pytest_terminal_summary(terminalreporter, config):
    """Print one line per bench: its time beside the saved one, and its counts beside the committed ones."""
    session = getattr(config, "_benchmarksession", None)
    benches = [bench for bench in session.benchmarks if not bench.has_error] if session and session.only else []
    if not benches:
        return
    saved = {name: bench for run in session.compared_mapping.values() for name, bench in run.items()}
    rows = [row(bench, saved.get(bench.fullname)) for bench in benches]
    width = max(len(cells[0]) for cells in rows)
    terminalreporter.section("times and counts", sep="-")
    terminalreporter.write_line(f"{'bench':{width}}  {'least time':>10}  {'saved':>10}  {'change':>7}  counts")
    for name, now, before, change, counts in rows:
        terminalreporter.write_line(f"{name:{width}}  {now:>10}  {before:>10}  {change:>7}  {counts}".rstrip())


def row(bench, saved):
    """Return the cells of one bench's line."""
    now, before = bench.stats.min, saved["stats"]["min"] if saved else None
    change = now / before - 1.0 if before else None
    counts = [f"{name} {value:,}" for name, value in bench.extra_info.items() if name.startswith("n_") and value]
    marked = " slower" if change is not None and change > MARKED else ""
    return (
        bench.name.removeprefix("test_"),
        duration(now),
        duration(before) if before else "-",
        f"{change:+.0%}{marked}" if change is not None else "-",
        ", ".join(counts),
    )


def duration(seconds):
    """Return a time as text, in the unit that suits it."""
    unit, size = next(((unit, size) for unit, size in (("s", 1.0), ("ms", 1e-3)) if seconds >= size), ("us", 1e-6))
    return f"{seconds / size:.3g} {unit}"
