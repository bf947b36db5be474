"""Seconds of the processor that each C file of Cython takes to compile, at several levels of optimisation.

python bench/compile_costs.py -O3,-O1 src/gopfast/search/*.c      after python setup.py build_ext --inplace
"""

import os
import resource
import subprocess
import sys
import sysconfig

import numpy

COMMON = (
    "-fPIC", "-g0", "-std=gnu11", "-w", "-fopenmp", "-ffp-contract=off", "-DNDEBUG",
    "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION", "-Isrc/gopfast/mixtures/csrc", f"-I{numpy.get_include()}",
    f"-I{sysconfig.get_paths()['include']}",
)  # fmt: skip


def cost(path, level):
    """Return the seconds of the compiler's processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([os.environ.get("CC", "cc"), *COMMON, level, "-c", path, "-o", os.devnull], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(levels, *paths):
    levels = levels.split(",")
    total = numpy.zeros(len(levels))
    print(f"{'file':<60}" + "".join(f"{level:>8}" for level in levels))
    for path in paths:
        row = [cost(path, level) for level in levels]
        total += row
        print(f"{path:<60}" + "".join(f"{seconds:8.2f}" for seconds in row), flush=True)
    print(f"{f'sum of {len(paths)}':<60}" + "".join(f"{seconds:8.2f}" for seconds in total))


if __name__ == "__main__":
    main(*sys.argv[1:])
