"""Small problems, this checkout beside other copies of the package, in turns; writes bench/results/small.md.

Run: python bench/small.py [--other PATH ...] [--seconds 3] [--write] [row ...]     (about 3 minutes with one other)

A row is a whole call: the problem, its solve and its result. Each copy and number of threads runs in a process of its
own; they take turns, a few calls each, so that what else the machine does falls on all alike. Told is the least of all
turns: milliseconds of the wall clock (with one thread, and with one per processor) and of the processor (one thread).
PATH is a folder that holds a built `gopfast`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
TURN = 0.05  # seconds of a turn at least
TIME_LIMIT = 20.0


KNOWN, FREE = {"covariance": "known"}, {"covariance": "diag", "variance_floor": 0.09}
# name: name and arguments of what makes the data, K, what else the model has, aim in milliseconds
ROWS = {
    "minimal, empirical prior": ("minimal", (), 2, {**KNOWN, "prior": "empirical"}, 0.25),
    "galaxies, K=3": ("galaxies", (), 3, KNOWN, 0.4),
    "galaxies, K=4": ("galaxies", (), 4, KNOWN, 1),
    "galaxies, K=6": ("galaxies", (), 6, KNOWN, 3),
    "galaxies, K=8": ("galaxies", (), 8, KNOWN, 4),
    "N=1,000, gap 4, K=5": ("line", (1000, 5, 4), 5, KNOWN, 12),
    "N=1,000, gap 4, K=8": ("line", (1000, 8, 4), 8, KNOWN, 40),
    "N=500, gap 6, K=10": ("line", (500, 10, 6), 10, KNOWN, 40),
    "N=1e5, gap 4, K=3": ("line", (10**5, 3, 4), 3, KNOWN, 20),
    "N=1e6, gap 4, K=3": ("line", (10**6, 3, 4), 3, KNOWN, 50),
    "two columns, N=1,000, gap 4, K=4": ("plane", (1000, 4, 4), 4, KNOWN, 60),
    "iris, known variance, K=3": ("iris", (), 3, KNOWN, 150),
    "galaxies, diag, K=4": ("galaxies", (), 4, FREE, 120),
    "galaxies, diag, K=6": ("galaxies", (), 6, FREE, 150),
}


def samples(maker, arguments):
    """The data of a row."""
    # Here and not above: other copies of the package need not have what they import.
    import datasets
    from components import plane
    from speed_table import iris, line

    makers = {"minimal": datasets.minimal, "galaxies": datasets.galaxies, "line": line, "plane": plane, "iris": iris}
    return np.asarray(makers[maker](*arguments), dtype=float)


def serve(threads):
    """Answer each row told on standard input, its name and data, with the least of a turn's calls."""
    import gopfast

    known = {}
    for told in map(json.loads, sys.stdin):
        *_, n_components, model, _ = ROWS[told["row"]]
        if told["data"] not in known:
            known = {told["data"]: np.load(told["data"])}  # of one row at a time
        X = known[told["data"]]
        wall = processor = np.inf
        began = time.perf_counter()
        while wall == np.inf or time.perf_counter() - began < TURN:
            before, spent = time.perf_counter(), time.process_time()
            problem = gopfast.GaussianMixture(X, n_components, **model)
            result = gopfast.solve(problem, 0.01, n_threads=threads, time_limit=TIME_LIMIT, log=False)
            wall = min(wall, time.perf_counter() - before)
            processor = min(processor, time.process_time() - spent)
        row = {"wall": wall, "processor": processor, "status": result.status.name, "nodes": result.n_nodes}
        print(json.dumps(row), flush=True)


class Copy:
    """A copy of the package in a process of its own, with so many threads; None: one per processor."""

    def __init__(self, path, threads):
        environment = os.environ | {"PYTHONPATH": str(path), "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "small.py"), "--serve", str(threads)],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def turn(self, name, data):
        """The least seconds of a turn, with status and nodes; `data`: the file of the samples."""
        print(json.dumps({"row": name, "data": data}), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def measure(name, copies, seconds, folder):
    """For each copy the least over its turns, at least two."""
    best, turns = {}, 0
    maker, arguments, *_ = ROWS[name]
    data = str(Path(folder, f"{list(ROWS).index(name)}.npy"))
    np.save(data, samples(maker, arguments))
    began = time.perf_counter()
    while turns < 2 or time.perf_counter() - began < seconds:
        for key, copy in copies.items():
            found = copy.turn(name, data)
            before = best.setdefault(key, found)
            for what in ("wall", "processor"):
                found[what] = min(found[what], before[what])
            best[key] = found
        turns += 1
    return best


def main():
    """Measure the rows and print, or write, a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", action="append", default=[], help="folder of another copy, perhaps NAME=PATH")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each row, for all copies together")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("rows", nargs="*")
    arguments = parser.parse_args()
    if arguments.serve is not None:
        serve(None if arguments.serve == "None" else int(arguments.serve))
        return
    import machine

    others = [(text.rpartition("=")[0] or Path(text).name, text.rpartition("=")[2]) for text in arguments.other]
    paths = dict([*others, ("here", HERE.parent)])
    copies = {(name, threads): Copy(path, threads) for name, path in paths.items() for threads in (1, None)}
    header = ["row"]
    for name in paths:
        header += [f"{name}: ms, one thread", "default", "CPU", "nodes"]
    rows = []
    for name in arguments.rows or ROWS:
        with tempfile.TemporaryDirectory() as folder:
            best, cells = measure(name, copies, arguments.seconds, folder), [name]
        for copy in paths:
            one, all_threads = best[copy, 1], best[copy, None]
            cells += [f"{1000 * one['wall']:.3g}", f"{1000 * all_threads['wall']:.3g}",
                      f"{1000 * one['processor']:.3g}", f"{one['nodes']:,}"]  # fmt: skip
            if one["status"] != "OPTIMAL":
                cells[-1] += f" {one['status']}"
        rows.append([*cells, f"{ROWS[name][-1]:g}"])
        print(" | ".join(rows[-1]), flush=True)
    if arguments.write:
        heading = machine.heading("Small problems", "numpy")
        machine.write("small.md", f"{heading}\n{machine.table((*header, 'aim'), rows)}")


if __name__ == "__main__":
    main()
