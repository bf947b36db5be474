"""Seconds of the processor that a build takes, by module: Cython, and the C compiler with the flags of setup.py.

python bench/compile_time.py [FOLDER ...]     none: all, and bench/results/compile_time.md is written; else printed

Of the processor, as they tell the same on a busy machine; a build on two idle cores takes about half of their sum.
"""

import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from setup import CSRC, SHARED, SMALLER, SOURCE, c_flags  # noqa: E402

OUT = ROOT / "bench" / "results" / "compile_time.md"
INCLUDE = (f"-I{CSRC}", f"-I{numpy.get_include()}", f"-I{sysconfig.get_paths()['include']}")
COMMON = ("-fPIC", "-w", "-DNDEBUG", "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION", *INCLUDE)
SMALL = [f"-D{name}=0" for name in SMALLER]
DIRECTIVES = (
    "language_level=3,boundscheck=False,cdivision=True,initializedcheck=False,wraparound=False,embedsignature=True"
)


def seconds(*command):
    """Return the processor's seconds of a command and of what it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compiled(path, flags):
    """Seconds that the C compiler takes for a file."""
    return seconds(*os.environ.get("CC", "gcc").split(), *COMMON, *flags, "-c", path, "-o", os.devnull)


def module(source, folder):
    """Seconds of a module of Cython: to write its C file, and to compile that."""
    written = Path(folder, "module.c")
    shared = f"--shared=gopfast.{SHARED}"
    cython = seconds(sys.executable, "-m", "cython", "-X", DIRECTIVES, shared, "-I", "src", source, "-o", written)
    name = ".".join(source.relative_to(SOURCE).with_suffix("").parts)
    return cython, compiled(written, [*c_flags(module=name), *SMALL, "-fopenmp"]), len(written.read_text().splitlines())


def main(*folders):
    os.chdir(ROOT)
    sources = sorted(path for folder in folders or [SOURCE] for path in Path(folder).rglob("*.pyx"))
    with tempfile.TemporaryDirectory() as folder:
        rows = [(str(path.relative_to(SOURCE)), *module(path, folder)) for path in sources]
    kernels = sorted(CSRC.glob("*.c")) if not folders else []
    rows += [(str(path.relative_to(SOURCE)), 0.0, compiled(path, c_flags(path.stem)), 0) for path in kernels]
    rows.sort(key=lambda row: -row[1] - row[2])
    cython, c = sum(row[1] for row in rows), sum(row[2] for row in rows)
    compiler = subprocess.run([*os.environ.get("CC", "gcc").split(), "--version"], capture_output=True, text=True)
    text = "\n".join([
        "# What a build costs", "",
        f"`python bench/compile_time.py`, {compiler.stdout.splitlines()[0]}. Seconds of the processor: "
        f"{cython:.0f} of Cython (one process for each module here, half of it start), {c:.0f} of the compiler.", "",
        "| file | Cython | C | lines of C |", "| --- | --- | --- | --- |",
        *[f"| {name} | {a:.2f} | {b:.2f} | {lines:,} |" for name, a, b, lines in rows], "",
    ])  # fmt: skip
    print(text)
    if not folders:
        OUT.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
