"""Builds the Cython core. Everything else is declared in pyproject.toml."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path("src/gopfast")
DENSE = ["csrc/dense.c"]
C_SOURCES = {"_passes": ["csrc/pass.c"], "_entropic": DENSE, "_basin": DENSE, "_weights": DENSE}
# What every module would otherwise carry a copy of: Cython's memoryviews.
SHARED = "_cyutility"
DEBUG = bool(os.environ.get("GOPFAST_DEBUG"))


def n_processors():
    """Processors that this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def accepted(flags):
    """Whether the C compiler makes a program with these flags, and with omp.h if they ask for OpenMP."""
    compiler = os.environ.get("CC", "cc").split()
    openmp = any("openmp" in flag for flag in flags)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "probe.c")
        program.write_text(
            "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
            if openmp
            else "int main(void) { return 0; }\n"
        )
        command = [*compiler, *flags, str(program), "-o", str(Path(folder, "probe"))]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return False
    return True


def openmp_flags():
    """Compiler and linker flags for OpenMP, or two empty lists where the compiler has no OpenMP."""
    if accepted(["-fopenmp"]):
        return ["-fopenmp"], ["-fopenmp"]
    if sys.platform == "darwin":
        # Apple's clang knows OpenMP but brings no runtime; Homebrew's libomp is not on its search path.
        for prefix in (os.environ.get("LIBOMP_PREFIX"), "/opt/homebrew/opt/libomp", "/usr/local/opt/libomp"):
            if prefix and Path(prefix).is_dir():
                compile_flags = ["-Xpreprocessor", "-fopenmp", f"-I{prefix}/include"]
                link_flags = [f"-L{prefix}/lib", "-lomp"]
                if accepted([*compile_flags, *link_flags]):
                    return compile_flags, link_flags
    print("gopfast: no OpenMP in this compiler; building single-threaded", file=sys.stderr)
    return [], []


def extensions():
    """One extension per .pyx file, named after it, and the one that holds what they share."""
    openmp, link = openmp_flags()
    optimise = ["-O1", "-g"] if DEBUG else ["-O3", "-g0"]
    # symbols that only a debugger reads
    strip = ["-Wl,-s"] if not DEBUG and accepted(["-Wl,-s"]) else []
    yield Extension(f"gopfast.{SHARED}", [str(SOURCE / f"{SHARED}.c")], extra_compile_args=["-O2", "-g0"],
                    extra_link_args=strip)  # fmt: skip
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
            extra_link_args=[*link, *strip],
        )


class ParallelBuild(build_ext):
    """Compiles as many modules at a time as there are processors."""

    def initialize_options(self):
        """Set the default; ``--parallel`` overrides it."""
        super().initialize_options()
        self.parallel = n_processors()


# The guard is for the processes that cythonize starts, where they import this file.
if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": ParallelBuild},
        ext_modules=cythonize(
            list(extensions()),
            include_path=["src"],
            nthreads=n_processors(),
            shared_utility_qualified_name=f"gopfast.{SHARED}",
            compiler_directives={
                "language_level": 3,
                "boundscheck": DEBUG,
                "cdivision": True,
                "initializedcheck": DEBUG,
                "embedsignature": True,
            },
        ),
    )
