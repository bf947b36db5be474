"""Builds the Cython core. Everything else is declared in pyproject.toml."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

SOURCE = Path("src/gopfast")
DENSE = ["csrc/dense.c"]
C_SOURCES = {"_passes": ["csrc/pass.c"], "_entropic": DENSE, "_basin": DENSE, "_weights": DENSE}
DEBUG = bool(os.environ.get("GOPFAST_DEBUG"))


def openmp_flags():
    """Compiler and linker flags for OpenMP, or none where the compiler has no OpenMP."""
    flags = ["-fopenmp"]
    compiler = os.environ.get("CC", "cc").split()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "probe.c")
        program.write_text("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
        command = [*compiler, *flags, str(program), "-o", str(Path(folder, "probe"))]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            print("gopfast: no OpenMP in this compiler; building single-threaded", file=sys.stderr)
            return []
    return flags


def extensions():
    """One extension per .pyx file, named after it."""
    openmp = openmp_flags()
    optimise = ["-O1", "-g"] if DEBUG else ["-O3"]
    for source in sorted(SOURCE.glob("*.pyx")):
        yield Extension(
            f"gopfast.{source.stem}",
            [str(source), *(str(SOURCE / name) for name in C_SOURCES.get(source.stem, []))],
            include_dirs=[numpy.get_include(), str(SOURCE / "csrc")],
            depends=[str(path) for path in SOURCE.glob("csrc/*")],
            define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
            # only the kernel may fuse multiplications and additions: elsewhere the same expression must round the
            # same way wherever it stands
            extra_compile_args=[*optimise, "-std=gnu11", "-Wno-psabi", *openmp]
            + (["-ffp-contract=off"] if source.stem != "_passes" else []),
            extra_link_args=openmp,
        )


setup(
    ext_modules=cythonize(
        list(extensions()),
        include_path=["src"],
        nthreads=0,
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "cdivision": True,
            "initializedcheck": DEBUG,
            "embedsignature": True,
        },
    ),
)
