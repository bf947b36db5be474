"""Builds the Cython core. Everything else is declared in pyproject.toml."""

import gc
import os
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path("src/gopfast")
CSRC = SOURCE / "mixtures/csrc"
# C sources of a module beside its own; each is compiled once, all at the same time.
KERNEL = ["pass", "pass_portable", "pass_avx2", "pass_avx512"]
DENSE = (
    "families.counts", "incumbent.basin", "incumbent.center", "incumbent.neighbourhood", "mixing.weights",
    "pricing.master", "pricing.price_cell", "relaxations.corners", "relaxations.entropic",
)  # fmt: skip
C_SOURCES = {"gopfast.mixtures.data.passes": KERNEL, "gopfast.mixtures.pricing.sample_groups": ["groups"],
             "gopfast.mixtures.pricing.group_pricing": ["groups_sums"],
             "gopfast.mixtures.families.regression": ["strips"],
             "gopfast.mixtures.pricing.hull_cells": ["hull", "hull_forms"],
             "gopfast.mixtures.pricing.hull_distances": ["hull", "hull_forms"],
             "gopfast.mixtures.pricing.hull_shells": ["hull", "hull_forms"]} | {
    f"gopfast.mixtures.{name}": ["dense"] for name in DENSE
}
# Modules that compile at -O3; others at -O1, in half the time: what they do between two calls of HiGHS, or of the C
# kernels, is little (docs/notebook/first_hour.md). Results do not depend on it: no flag lets the compiler change a sum.
HOT = (
    "clustering.line", "clustering.lloyd", "clustering.pricing", "clusterwise.pricing", "mixtures.families.counts",
    "mixtures.families.exponential", "mixtures.families.full", "mixtures.families.gamma", "mixtures.families.matrix",
    "mixtures.families.regression", "mixtures.pricing.hull_distances", "mixtures.pricing.master",
    "mixtures.pricing.price_cell",
    "mixtures.pricing.sample_blocks", "mixtures.shared.factor_cells",
    "mixtures.relaxations.corners", "mixtures.relaxations.entropic", "mixtures.relaxations.refinement",
    "mixtures.shares.share_boxes", "mixtures.shares.slabs",
)  # fmt: skip
# Rooms that do little beside calling others, HiGHS among them, and compile at -Og, in two thirds of the time of -O1.
COLD = ("biconvex", "lp", "search")
# Cython's ways around the interpreter's calls, each a copy of much code: no loop that is hot handles Python's objects.
SMALLER = ("CYTHON_USE_PYLONG_INTERNALS", "CYTHON_FAST_THREAD_STATE", "CYTHON_UNPACK_METHODS")
# What every module would otherwise carry a copy of: Cython's memoryviews.
SHARED = "_cyutility"
DEBUG = bool(os.environ.get("GOPFAST_DEBUG"))
# `make coverage`: every line of Cython reports that it runs, also where the GIL is released (it is taken for that). By
# `sys.monitoring`, Python's new way, coverage.py would not hear of it.
COVERAGE = bool(os.environ.get("GOPFAST_COVERAGE"))
TRACE = {"CYTHON_TRACE": "1", "CYTHON_TRACE_NOGIL": "1", "CYTHON_USE_SYS_MONITORING": "0"} if COVERAGE else {}


WINDOWS = (
    "gopfast needs GCC (mingw-w64) or clang on Windows, as `gcc` or named by CC: Microsoft's compiler has no vector "
    "extensions. Or install it in the Windows Subsystem for Linux."
)


def n_processors():
    """Processors that this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def accepted(flags):
    """Whether the C compiler makes a program with these flags, and with omp.h if they ask for OpenMP."""
    compiler = os.environ.get("CC", "gcc" if sys.platform == "win32" else "cc").split()
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
    if os.environ.get("GOPFAST_NO_OPENMP"):
        return [], []
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


def c_flags(name=None, module=None):
    """Compiler flags of this module of Cython, or of the C source of this name."""
    level = "-O3"
    if module and module not in HOT:
        level = "-Og" if module.split(".")[0] in COLD else "-O1"
    if module and COVERAGE:
        level = "-O0"
    optimised = [level, "-g0"]
    flags = ["-O1", "-g"] if DEBUG else optimised
    # Python's own flags ask for warnings, of which some take an analysis of the flow.
    flags += ["-std=gnu11", "-Wno-all", "-Wno-psabi"]
    # Only the kernel may fuse multiplications and additions: elsewhere the same expression must round the same way
    # wherever it stands.
    if name not in KERNEL:
        flags.append("-ffp-contract=off")
    if name:
        # Nobody asks for errno or for traps, which keep loops with a root or a choice from becoming vectors.
        flags += ["-fno-math-errno", "-fno-trapping-math"]
    if module:
        flags += [f"-D{macro}=0" for macro in SMALLER]
    if name == "pass_portable" and not DEBUG:
        # Its vectors are wider than the registers: unrolled without limit it compiles for half a minute.
        unrolling = ["--param", "max-completely-peeled-insns=100"]
        if platform.machine() in ("x86_64", "AMD64"):
            flags.append("-O2")  # only processors from before 2013 run it, a tenth slower so
        elif accepted([*unrolling, "-Werror"]):
            flags += unrolling
    return flags


def extensions():
    """One extension per .pyx file, named after its path, and the one of what they share; the longest first."""
    openmp, link = openmp_flags()
    # symbols that only a debugger reads
    strip = ["-Wl,-s"] if not DEBUG and sys.platform != "darwin" and accepted(["-Wl,-s"]) else []
    yield Extension(f"gopfast.{SHARED}", [str(SOURCE / f"{SHARED}.c")], extra_compile_args=["-O1", "-g0"],
                    extra_link_args=strip)  # fmt: skip
    for source in sorted(SOURCE.rglob("*.pyx"), key=lambda path: -path.stat().st_size):
        module = ".".join(source.relative_to(SOURCE).with_suffix("").parts)
        yield Extension(
            f"gopfast.{module}",
            [str(source)],
            include_dirs=[numpy.get_include(), str(CSRC)],
            depends=[str(path) for path in CSRC.glob("*.h")],
            define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"), *TRACE.items()],
            extra_compile_args=[*c_flags(module=module), *openmp],
            extra_link_args=[*link, *strip],
        )


def directives_changed():
    """Whether this file, which has the compiler directives, is newer than C that Cython made."""
    made = [source.with_suffix(".c") for source in SOURCE.rglob("*.pyx")]
    return any(c.exists() and c.stat().st_mtime < Path(__file__).stat().st_mtime for c in made)


def cythonized(modules):
    """Return the extensions with C sources, which Cython writes where they are older than what they are made of."""
    return cythonize(
        modules,
        include_path=["src"],
        nthreads=n_processors(),
        force=directives_changed(),
        shared_utility_qualified_name=f"gopfast.{SHARED}",
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "cdivision": True,
            "initializedcheck": DEBUG,
            "wraparound": False,
            "embedsignature": True,
            "linetrace": COVERAGE,
        },
    )


class ParallelBuild(build_ext):
    """Compiles as many modules at a time as there are processors."""

    def initialize_options(self):
        """Set the defaults; ``--parallel`` and ``--compiler`` override them."""
        super().initialize_options()
        self.parallel = n_processors()
        if sys.platform == "win32":
            self.compiler = "mingw32"

    def run(self):
        """Have Cython write what is to be compiled: here, as pip also runs this file for metadata alone."""
        # Cython's trees are circles of objects: to look every 700 for some to free takes a third of its time. Seldom
        # looking makes one process that does all take 460 MB at most.
        thresholds = gc.get_threshold()
        gc.set_threshold(100_000, 20, 100)
        written = {extension.name: extension.sources for extension in cythonized(self.extensions)}
        gc.set_threshold(*thresholds)
        for extension in self.extensions:
            extension.sources = written[extension.name]
        super().run()

    def build_extensions(self):
        """Compile the C sources, each into one object, beside the modules; the longest of them last."""
        names = sorted({name for names in C_SOURCES.values() for name in names})
        with ThreadPoolExecutor(max_workers=1) as pool:
            self.objects = {name: pool.submit(self.compile_c, name) for name in names}
            super().build_extensions()

    def build_extension(self, ext):
        """Compile a module, and link it to the objects that it needs."""
        needed = [self.objects[name].result() for name in C_SOURCES.get(ext.name, [])]
        ext.extra_objects = needed
        ext.depends = [*ext.depends, *needed]
        super().build_extension(ext)

    def compile_c(self, name):
        """Return the object of a C source, compiled unless it is newer than the sources and this file."""
        source, target = CSRC / f"{name}.c", Path(self.build_temp, CSRC, f"{name}.o")
        newest = max(path.stat().st_mtime for path in [source, *CSRC.glob("*.h"), Path(__file__)])
        if self.force or not target.exists() or target.stat().st_mtime <= newest:
            self.compiler.compile([str(source)], output_dir=self.build_temp, extra_postargs=c_flags(name))
        return str(target)


# The guard is for the processes that cythonize starts, where they import this file.
if __name__ == "__main__":
    if sys.platform == "win32" and not accepted([]):
        sys.exit(WINDOWS)
    setup(cmdclass={"build_ext": ParallelBuild}, ext_modules=list(extensions()))
