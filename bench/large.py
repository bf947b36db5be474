"""Data larger than memory: float32 in a memory-mapped file, K = 3, gap 4; writes bench/results/large.md.

Run: python bench/large.py [10000000 100000000 10000000x2 ...]      (4 bytes a number, in files of a temporary folder)
     python bench/large.py workers [30000000]             (as many samples; writes bench/results/large_workers.md)
     python bench/large.py solve FILE WORKERS             (one line of JSON; 0: without an executor)
"""

import contextlib
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROWS = 1_000_000
CENTERS = ((0.0, 0.0), (4.0, 2.0), (8.0, -1.0))  # the first column is that of one column


def write(path, n, d):
    """Write n samples of three components at least 4 deviations apart, some at a time."""
    import numpy as np

    rng = np.random.default_rng(0)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
    centers = np.array(CENTERS)[:, :d]
    for first in range(0, n, ROWS):
        size = min(ROWS, n - first)
        out[first : first + size] = centers[rng.integers(0, 3, size)] + rng.standard_normal((size, d))
    out.flush()


def anonymous():
    """Resident memory in bytes beside pages of files."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    raise OSError("the system does not tell")


def load(_):
    """What a worker loads, before the clock runs."""
    import gopfast.mixtures.data.parts  # noqa: F401

    time.sleep(0.2)


def solve(path, n_workers):
    """Solve, and look at the memory all the time."""
    import numpy as np

    import gopfast
    from gopfast.mixtures.data.parts import Parts

    peak, over, n_workers = [0], threading.Event(), int(n_workers)

    def watch():
        while not over.wait(0.02):
            peak[0] = max(peak[0], anonymous())

    threading.Thread(target=watch, daemon=True).start()
    reading, outcomes = [0.0], Parts.outcomes

    def timed(self, *arguments):
        began = time.perf_counter()
        for found in outcomes(self, *arguments):
            reading[0] += time.perf_counter() - began
            yield found
            began = time.perf_counter()
        reading[0] += time.perf_counter() - began

    Parts.outcomes = timed
    with contextlib.ExitStack() as stack:
        executor = None
        if n_workers:
            executor = stack.enter_context(ProcessPoolExecutor(n_workers, multiprocessing.get_context("spawn")))
            list(executor.map(load, range(2 * n_workers)))
        started, used = time.perf_counter(), time.process_time()
        problem = gopfast.data.LargeGaussianMixture(np.load(path, mmap_mode="r"), 3, covariance="known")
        result = gopfast.solve(problem, 0.01, n_threads=1, log=False, executor=executor)
        seconds, own = time.perf_counter() - started, time.process_time() - used
    over.set()
    return {
        "status": result.status.name, "gap": result.gap, "nodes": result.n_nodes, "notes": list(result.notes),
        "objective": result.objective, "points": len(result.solution.problem.X),
        "loss": 0.5 * float(result.solution.problem.summary.curvature_loss.sum()),
        "seconds": seconds, "processor": own, "reading": reading[0], "peak": peak[0],
        "workers": sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]),
        "worker_peak": 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
    }  # fmt: skip


def solved(path, n_workers):
    """`solve` in a process of its own."""
    command = [sys.executable, __file__, "solve", path, str(n_workers)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(found, flush=True)
    return found


def workers(n):
    """The table of processes that read for themselves."""
    import machine

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "samples.npy"))
        write(path, n, 1)
        for count in (0, 1, 2):
            found = solved(path, count)
            assert not found["notes"], found
            rows.append((
                count, found["status"], f"{found['objective']:.6f}", f"{found['gap']:.2g}", found["nodes"],
                f"{found['reading']:.1f}", f"{found['seconds']:.1f}", f"{found['processor']:.1f}",
                f"{found['workers']:.1f}", f"{found['peak'] / 1e6:.0f}",
            ))  # fmt: skip
    head = ("workers", "status", "objective", "gap", "nodes", "passes s", "s", "processor s", "of workers", "memory")
    text = f"""
{n:,} samples of one column, as in large.md (float32, memory-mapped, K = 3, gap 0.01), searched on a
`ProcessPoolExecutor` that was started before: each worker opens the file and sums parts of a million rows. 0: without
an executor. *Passes*: seconds of the clock of all data passes together; *processor s*: of the search's own process;
*memory*: most resident memory in MB of the search's own process beside pages of files.

"""
    machine.write("large_workers.md", machine.heading("Data passes on workers") + text + machine.table(head, rows))


def main():
    import machine

    sizes = sys.argv[1:] or ["10000000", "100000000", "10000000x2"]
    rows = []
    for size in sizes:
        n, d = (int(number) for number in (*size.split("x"), "1")[:2])
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "samples.npy"))
            write(path, n, d)
            found = solved(path, 0)
        rows.append(
            f"| {n:,} | {d} | {found['status']} | {found['gap']:.2g} | {found['nodes']:,} | {found['peak'] / 1e6:.0f} "
            f"| {found['processor']:.1f} | {found['seconds']:.1f} | {found['points']:,} | {found['loss']:.2g} |"
        )
    text = machine.heading("Data larger than memory") + """
Float32 in a memory-mapped `.npy` file, K = 3 components of known variance at least 4 deviations apart, gap 0.01 nats,
one thread. *Memory*: most resident memory in MB beside pages of files (RssAnon, looked at every 20 ms), the interpreter
and NumPy included. Goal: 100,000,000 samples of one column within 512 MB, in at most twelve times the time of
10,000,000. *Points*: of the summary; *loss*: what it loses of every bound, in nats, but for that of the box around the
incumbent.

| samples | columns | status | gap | nodes | memory | processor s | s | points | loss |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
""" + "\n".join(rows) + "\n"
    machine.write("large.md", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["solve"]:
        print(json.dumps(solve(*sys.argv[2:])))
    elif sys.argv[1:2] == ["workers"]:
        workers(int((*sys.argv[2:], "30000000")[0]))
    else:
        main()
