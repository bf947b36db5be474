"""Cost of a data pass beside numpy.exp, for every instruction set; writes bench/results/kernel.md.

Run: python bench/kernel_report.py     (about 20 seconds; needs the C compiler that built the package)

The package takes the best instruction set of the machine. For the others, csrc/pass.c is compiled once more with the
package's flags and each version called by itself; that build is checked against the package's own pass.
"""

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

import machine
import numpy as np
from test_bench_kernels import N_COMPONENTS, best_time, mixture

from gopfast import _passes

SOURCE = Path(__file__).resolve().parents[1] / "src" / "gopfast" / "csrc"
FLAGS = ["-O3", "-std=gnu11", "-Wno-psabi", "-fPIC", "-shared"]  # those of setup.py
NAMES = ("portable", "avx2", "avx512")
LEVELS = ("value", "moments", "Hessian")
SIZES = (1_000, 10_000, 100_000, 1_000_000)
WRAPPER = """
#include "pass.c"
int best(void) { return isa(); }
size_t scratch_size(int K, int d) { return pass_scratch_size(K, d); }
typedef void run(const pass_data *, ptrdiff_t, ptrdiff_t, int, const double *, const double *, const double *,
                 pass_level, double *, pass_sums *);
void run_with(int which, int repeats, const pass_data *data, int K, const double *centers, const double *offsets,
              const double *weights, int level, double *scratch, pass_sums *out)
{
    run *chosen = run_portable;
#if defined(__x86_64__)
    if (which == 1) chosen = run_avx2;
    if (which == 2) chosen = run_avx512;
#endif
    for (int i = 0; i < repeats; i++)
        chosen(data, 0, data->n_padded, K, centers, offsets, weights, level, scratch, out);
}
"""


class Data(ctypes.Structure):
    _fields_ = [
        ("n_padded", ctypes.c_ssize_t), ("n_features", ctypes.c_int), ("columns", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
    ]  # fmt: skip


class Sums(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double), ("magnitude", ctypes.c_double)] + [
        (name, ctypes.c_void_p) for name in ("density", "first", "second", "gram")
    ]


def library():
    """The kernel with every instruction set callable."""
    folder = Path(tempfile.mkdtemp())
    source, target = folder / "kernels.c", folder / "kernels.so"
    source.write_text(WRAPPER)
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, *FLAGS, "-I", str(SOURCE), str(source), "-o", str(target), "-lm"], check=True)
    kernels = ctypes.CDLL(str(target))
    kernels.scratch_size.restype = ctypes.c_size_t
    return kernels


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


class Pass:
    """One data pass with a given instruction set, its buffers made beforehand."""

    def __init__(self, kernels, which, level, columns, weights, centers, offsets, proportions):
        K, d = centers.shape
        self.arrays = [columns, weights, centers, offsets, proportions]
        self.outputs = [np.zeros(K), np.zeros((K, d)), np.zeros((K, d, d)), np.zeros((K * (1 + d),) * 2)]
        self.scratch = np.empty(kernels.scratch_size(K, d))
        self.data = Data(columns.shape[1], d, columns.ctypes.data, weights.ctypes.data)
        self.sums = Sums(0, 0, *(array.ctypes.data for array in self.outputs))
        self.call = lambda repeats=1: kernels.run_with(
            which, repeats, ctypes.byref(self.data), K, address(centers), address(offsets), address(proportions), level,
            address(self.scratch), ctypes.byref(self.sums),
        )  # fmt: skip

    def check(self, expected):
        """Compare with the package's pass."""
        self.call()
        names = ("density", "first", "second", "gram")
        np.testing.assert_allclose(self.sums.value, expected["value"], rtol=1e-12)
        for name, found in zip(names, self.outputs, strict=True):
            scale = np.abs(expected[name]).max()
            np.testing.assert_allclose(found, expected[name], rtol=1e-9, atol=1e-9 * scale, err_msg=name)


def plane(n):
    """The mixture of the benchmarks in two dimensions."""
    columns, weights, centers, offsets, proportions = mixture(n)
    rng = np.random.default_rng(1)
    columns = np.concatenate([columns, rng.standard_normal((1, n))])
    return columns, weights, np.column_stack([centers[:, 0], np.zeros(len(centers))]), offsets, proportions


def numpy_exp(columns, centers):
    """Seconds of numpy.exp on the array that the pass takes exponentials of."""
    cost = 0.5 * ((columns.T[:, None, :] - centers) ** 2).sum(axis=2)
    argument = np.ascontiguousarray(cost.min(axis=1, keepdims=True) - cost)
    return best_time(np.exp, argument, np.empty_like(argument))


def main():
    kernels = library()
    available = range(kernels.best() + 1)
    lines = []
    for d, make in ((1, mixture), (2, plane)):
        for n in SIZES:
            arguments = make(n)
            pairs = n * N_COMPONENTS
            row = [str(d), f"{n:,}", f"{1e9 * numpy_exp(arguments[0], arguments[2]) / pairs:.2f}"]
            for which in available:
                for level in range(3):
                    one = Pass(kernels, which, level, *arguments)
                    one.check(_passes.sums(*arguments, level=level))
                    repeats = max(1, 100_000 // n)  # in C: a call from Python costs a few microseconds
                    row.append(f"{1e9 * best_time(one.call, repeats) / (pairs * repeats):.2f}")
            lines.append(row)
            print(row, flush=True)
    header = ["d", "N", "numpy.exp"] + [f"{NAMES[which]}, {level}" for which in available for level in LEVELS]
    missing = [name for name in NAMES if name not in [NAMES[which] for which in available]]
    absent = f" Not on this machine: {', '.join(missing)}." if missing else ""
    text = machine.heading("Data passes") + f"""
Nanoseconds per (sample, component), K = {N_COMPONENTS}, one thread, best of 20. *value*: squared distances,
exponentials, log-sum-exp, densities; *moments*: and first and second moments of each component; *Hessian*: and the Gram
matrix of (r, r z), which the Newton step needs. `numpy.exp`: only the exponentials, on the same array of N K arguments,
output given. The package uses {_passes.instruction_set()} here.{absent}

| {" | ".join(header)} |
|{" --- |" * len(header)}
""" + "\n".join("| " + " | ".join(row) + " |" for row in lines) + "\n"
    machine.write("kernel.md", text)


if __name__ == "__main__":
    main()
