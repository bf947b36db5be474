"""Compiles all C of the package for Windows with zig's clang: a check that nothing of it needs another system.

Usage: python bench/windows_check.py FOLDER [--jobs 1]

In FOLDER, which is made, NumPy's wheel for Windows is downloaded for its headers, and Python's are copied with a
`pyconfig.h` for 64-bit Windows. Needs `pip install ziglang`, and the C that Cython has written (`pip install -e .`).
Objects are made for x86_64-windows-gnu (mingw-w64's headers); nothing is linked or run, and OpenMP is left out: zig
brings no runtime of it.
"""

import argparse
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "x86_64-windows-gnu"
# What the headers ask of a compiler of 64-bit Windows; PC/pyconfig.h of CPython has it for Microsoft's.
PYCONFIG = """
#define MS_WIN64 1
#define MS_WINDOWS 1
#define NT_THREADS 1
#define WITH_THREAD 1
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_DOUBLE 8
#define SIZEOF_FLOAT 4
#define SIZEOF_FPOS_T 8
#define SIZEOF_HKEY 8
#define SIZEOF_PID_T 4
#define ALIGNOF_SIZE_T 8
#define ALIGNOF_MAX_ALIGN_T 8
#define PLATLIBDIR "lib"
#define PY_LLVM_PROFDATA 0
#define HAVE_STDINT_H 1
#define HAVE_STDDEF_H 1
#define HAVE_WCHAR_H 1
#define HAVE_ERRNO_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1
#define STDC_HEADERS 1
#define DOUBLE_IS_LITTLE_ENDIAN_IEEE754 1
"""


def headers(folder):
    """Return folders of headers of Python and NumPy for Windows."""
    python, numpy = folder / "python", folder / "numpy"
    if not python.is_dir():
        shutil.copytree(sysconfig.get_path("include"), python)
        (python / "pyconfig.h").write_text(PYCONFIG, encoding="utf-8")
    if not numpy.is_dir():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--platform",
             "win_amd64", "--python-version", version, "-d", str(folder), "numpy>=2"],
            check=True,
        )  # fmt: skip
        with zipfile.ZipFile(next(folder.glob("numpy-*.whl"))) as wheel:
            wheel.extractall(numpy)
    return python, numpy / "numpy/_core/include"


def compiled(source, included, folder):
    """Return the compiler's errors, none if it made an object."""
    flags = ["-std=gnu11", "-O1", "-w", "-ffp-contract=off", "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION"]
    command = [
        sys.executable, "-m", "ziglang", "cc", "-target", TARGET, "-c", *flags, *(f"-I{path}" for path in included),
        str(source), "-o", str(folder / f"{source.stem}.o"),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True).stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    included = [*headers(folder), ROOT / "src/gopfast/mixtures/csrc"]
    sources = sorted((ROOT / "src").rglob("*.c"))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        found = dict(zip(sources, pool.map(lambda source: compiled(source, included, folder), sources), strict=True))
    for source, errors in found.items():
        if errors:
            print(f"{source.relative_to(ROOT)}:\n{errors}")
    n_failed = sum(1 for errors in found.values() if errors)
    print(f"{len(sources) - n_failed} of {len(sources)} C files compile for {TARGET}")
    raise SystemExit(n_failed > 0)


if __name__ == "__main__":
    main()
