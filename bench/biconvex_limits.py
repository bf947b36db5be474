"""By how much solves of biconvex problems exceed their time limit, and what they print; writes a table.

Run: python bench/biconvex_limits.py [--seconds 0.5 2] [--only WORD] [--random 300] [--over 0.1] [--no-file]

Random problems, the families of bench/biconvex_heldin.py and larger ones, in which one linear program, one local search
or the building of the core takes longer than the limit. Each is solved with each limit. Overrun: processor time of the
thread that solves, in seconds, from the limit on; a second process reads it off then, so that others on the machine,
Python's lock and imports in this process do not count. Printed: bytes that anything in the process, libraries of C and
Fortran among it, has written to the standard output and error meanwhile. Linux only. With OPENBLAS_NUM_THREADS=1:
several threads wait for each other by spinning where the machine is shared.

Writes bench/results/biconvex_limits.md: every solve that exceeded its limit by more than `--over` or printed anything,
and the largest overrun of each family. The exit code is 1 if there was one.
"""

import argparse
import json
import math
import multiprocessing
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import biconvex_heldin
import fuzz_biconvex
import machine
import numpy as np
import scipy.optimize  # noqa: F401  its import is part of no solve here
from biconvex_heldin import box, circles, concave, factorisation, mpec, packing, pooling
from biconvex_networks import free, power_flow, unit_box, wastewater
from biconvex_random import bimatrix, disjoint

import gopfast
from gopfast import BiconvexProblem

LARGE = {
    "box": lambda: [box(0, 70, 0.5), box(1, 125, 0.25), box(2, 100, 1.0)],
    "concave": lambda: [concave(0, 60, 60), concave(1, 120, 100)],
    "pooling": lambda: [pooling(0, 15, 6, 10, 4), pooling(1, 25, 8, 20, 6)],
    "bimatrix": lambda: [bimatrix(0, 20), bimatrix(1, 40)],
    "disjoint": lambda: [disjoint(0, 40), disjoint(1, 100, 0.2), disjoint(2, 200, 0.02)],
    "factorisation": lambda: [factorisation(0, 12, 12, 2), factorisation(1, 25, 20, 3)],
    "packing": lambda: [packing(10), packing(20)],
    "circles": lambda: [circles(0, 8), circles(1, 15)],
    "mpec": lambda: [mpec(0, 15, 15), mpec(1, 40, 40)],
    "wastewater": lambda: [wastewater(0, 9, 9, 6), wastewater(1, 15, 12, 10)],
    "power flow": lambda: [power_flow(0, 30), power_flow(1, 60)],
    "unit box": lambda: [unit_box(0, 40, 40), unit_box(1, 60, 20), unit_box(2, 100, 5)],
    "free": lambda: [free(0, 150, 5, 10), free(1, 300, 1, 0)],
}


def problems(n_random):
    """(family, name, problem) of every problem, the small ones first."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.json"
        for before, families in (("", biconvex_heldin.FAMILIES), ("large ", LARGE)):
            for family, make in families.items():
                for one in make():
                    path.write_text(json.dumps(one))
                    yield before + family, one["name"], BiconvexProblem.from_json(path)
    for seed in range(n_random):
        instance = fuzz_biconvex.draw(np.random.default_rng(seed))
        yield "random", f"{instance.kind} {seed}", instance.problem()


@contextmanager
def written():
    """A list, to which the number of bytes is appended that the process has written to descriptors 1 and 2."""
    found = []
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield found
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            os.close(kept[0])
            os.close(kept[1])
            found.append(file.seek(0, os.SEEK_END))


def processor_time(process):
    """Seconds that the first thread of a process has run."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) * 1e-9


def read_off(pipe, process):
    """Answer each end of a limit with the processor time of a process then, or inf where the solve is done before."""
    while (end := pipe.recv()) is not None:
        is_done = pipe.poll(max(0.0, end - time.monotonic()))
        pipe.send(math.inf if is_done else processor_time(process))
        pipe.recv()


def measure(problem, limit, pipe):
    """Processor time beyond the limit in seconds, the status and the bytes printed."""
    with written() as printed:
        pipe.send(time.monotonic() + limit)
        result = gopfast.solve(problem, epsilon=1e-6, rel_tol=1e-6, n_threads=1, time_limit=limit, log=False)
        used = processor_time(os.getpid())
        pipe.send("done")
    return max(0.0, used - pipe.recv()), result.status.name, printed[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.5, 2.0], help="limits")
    parser.add_argument("--only", default="", help="names that contain this alone")
    parser.add_argument("--random", type=int, default=300, help="random problems of bench/fuzz_biconvex.py")
    parser.add_argument("--over", type=float, default=0.1, help="seconds beyond the limit that are shown")
    parser.add_argument("--no-file", action="store_true", help="print, but write no file")
    arguments = parser.parse_args()
    worst, shown, n_solves = {}, [], 0
    pipe, other = multiprocessing.Pipe()
    reader = multiprocessing.Process(target=read_off, args=(other, os.getpid()))
    reader.start()
    for family, name, problem in problems(arguments.random):
        if arguments.only not in f"{family}: {name}":
            continue
        for limit in arguments.seconds:
            over, status, n_bytes = measure(problem, limit, pipe)
            n_solves += 1
            worst[family] = max(worst.get(family, 0.0), over)
            if over > arguments.over or n_bytes:
                shown.append(f"| {family}: {name} | {limit:g} | {over:.3f} | {status} | {n_bytes} |")
                print(shown[-1], flush=True)
    pipe.send(None)
    reader.join()
    families = [f"| {family} | {over:.3f} |" for family, over in worst.items()]
    text = [
        f"{n_solves} solves, limits {', '.join(f'{limit:g}' for limit in arguments.seconds)} s.", "",
        f"Beyond the limit by more than {arguments.over:g} s, or with bytes printed:", "",
        "| problem | limit, s | overrun, s | status | bytes |", "| --- | --- | --- | --- | --- |", *shown, "",
        "| family | largest overrun, s |", "| --- | --- |", *families, "",
    ]  # fmt: skip
    print("\n".join(text))
    if not arguments.no_file and not arguments.only:
        machine.write("biconvex_limits.md", "\n".join([machine.heading("Time limits of biconvex problems"), *text]))
    return 1 if shown else 0


if __name__ == "__main__":
    sys.exit(main())
