"""Cost of a data pass beside numpy.exp, for every instruction set; writes bench/results/kernel.md.

Run: python bench/kernel_report.py     (about 20 seconds)
"""

from functools import partial

import machine
import numpy as np
from test_bench_kernels import N_COMPONENTS, best_time, mixture

from gopfast.mixtures.data import passes

LEVELS = ("value", "moments", "Hessian")
SIZES = (1_000, 10_000, 100_000, 1_000_000)


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
    available = list(reversed(passes.instruction_sets()))
    lines = []
    for d, make in ((1, mixture), (2, plane)):
        for n in SIZES:
            arguments = make(n)
            pairs = n * N_COMPONENTS
            row = [str(d), f"{n:,}", f"{1e9 * numpy_exp(arguments[0], arguments[2]) / pairs:.2f}"]
            repeats = max(1, 100_000 // n)  # a call from Python costs a few microseconds
            for name in available:
                passes.use_instruction_set(name)
                for level in range(len(LEVELS)):
                    seconds = best_time(partial(passes.sums, *arguments, level=level, repeats=repeats))
                    row.append(f"{1e9 * seconds / (pairs * repeats):.2f}")
            passes.use_instruction_set()
            lines.append(row)
            print(row, flush=True)
    header = ["d", "N", "numpy.exp"] + [f"{name}, {level}" for name in available for level in LEVELS]
    text = machine.heading("Data passes") + f"""
Nanoseconds per (sample, component), K = {N_COMPONENTS}, one thread, best of 20. *value*: squared distances,
exponentials, log-sum-exp, densities; *moments*: and first and second moments of each component; *Hessian*: and the Gram
matrix of (r, r z), which the Newton step needs. `numpy.exp`: only the exponentials, on the same array of N K arguments,
output given. The package uses {passes.instruction_set()} here.

| {" | ".join(header)} |
|{" --- |" * len(header)}
""" + "\n".join("| " + " | ".join(row) + " |" for row in lines) + "\n"
    machine.write("kernel.md", text)


if __name__ == "__main__":
    main()
