"""The lines that head every report: machine, versions, commit, command."""

import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path

from gopfast.mixtures.data import passes

RESULTS = Path(__file__).resolve().parent / "results"


def processor():
    """Model name and number of processors that this process may use."""
    name = platform.processor() or platform.machine()
    try:
        for text in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if text.startswith("model name"):
                name = text.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{name}, {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} processors"


def commit():
    """Short commit of the source tree; a star if the engine or the benchmarks differ from it."""
    root = RESULTS.parents[1]

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "gopfast", "src", "bench/*.py")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("*" if changed else "")


def versions(*modules):
    """Names and versions of installed packages; those absent are named as absent."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for name in modules:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} absent")
    return ", ".join(found)


def heading(title, *modules):
    """Title and a paragraph on where the figures come from."""
    script = Path(sys.argv[0]).name
    command = shlex.join(["python", f"bench/{script}", *sys.argv[1:]])
    try:
        busy = os.getloadavg()[0]
        load = f", load before {busy:.1f}" + (" (shared: times are to be repeated)" if busy > 1.5 else "")
    except OSError:
        load = ""
    return (
        f"# {title}\n\nMade by `{command}`, commit {commit()}.\n"
        f"{processor()}, kernel {passes.instruction_set()}{load}. Python {platform.python_version()}, "
        f"{versions('numpy', *modules)}.\n"
    )


def table(header, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def write(name, text):
    """Write one report below results/, unless its name is None, and print it."""
    if name is not None:
        RESULTS.joinpath(name).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    print(text)
