"""Data larger than memory: one column of float32 in a memory-mapped file, K = 3, gap 4; writes bench/results/large.md.

Run: python bench/large.py [10000000 100000000 ...]      (files of 4 bytes a sample in a temporary folder)
     python bench/large.py solve FILE THREADS             (one line of JSON)
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROWS = 1_000_000


def write(path, n):
    """Write n samples of three components 4 deviations apart, some at a time."""
    import numpy as np

    rng = np.random.default_rng(0)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n,))
    for first in range(0, n, ROWS):
        size = min(ROWS, n - first)
        out[first : first + size] = 4.0 * rng.integers(0, 3, size) + rng.standard_normal(size)
    out.flush()


def anonymous():
    """Resident memory in bytes beside pages of files."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    raise OSError("the system does not tell")


def solve(path, threads):
    """Solve, and look at the memory all the time."""
    import numpy as np

    import gopfast

    peak, over = [0], threading.Event()

    def watch():
        while not over.wait(0.02):
            peak[0] = max(peak[0], anonymous())

    threading.Thread(target=watch, daemon=True).start()
    started, used = time.perf_counter(), time.process_time()
    problem = gopfast.data.LargeGaussianMixture(np.load(path, mmap_mode="r"), 3, covariance="known")
    result = gopfast.solve(problem, 0.01, n_threads=int(threads), log=False)
    over.set()
    return {
        "status": result.status.name, "gap": result.gap, "nodes": result.n_nodes, "note": result.notes[-1],
        "seconds": time.perf_counter() - started, "processor": time.process_time() - used, "peak": peak[0],
    }  # fmt: skip


def main():
    import machine

    sizes = [int(size) for size in sys.argv[1:]] or [10**7, 10**8]
    rows = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "samples.npy"))
            write(path, n)
            done = subprocess.run(
                [sys.executable, __file__, "solve", path, "1"], capture_output=True, text=True, check=True
            )
        found = json.loads(done.stdout)
        print(found, flush=True)
        rows.append(
            f"| {n:,} | {found['status']} | {found['gap']:.2g} | {found['nodes']} | {found['peak'] / 1e6:.0f} "
            f"| {found['processor']:.1f} | {found['seconds']:.1f} | {found['note']} |"
        )
    text = machine.heading("Data larger than memory") + """
One column of float32 in a memory-mapped `.npy` file, K = 3 components of known variance 4 deviations apart, gap 0.01
nats, one thread. *Memory*: most resident memory in MB beside pages of files (RssAnon, looked at every 20 ms), the
interpreter and NumPy included. Goal: 100,000,000 samples within 512 MB, in at most twelve times the time of 10,000,000.

| samples | status | gap | nodes | memory | processor s | s | summary |
| --- | --- | --- | --- | --- | --- | --- | --- |
""" + "\n".join(rows) + "\n"
    machine.write("large.md", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["solve"]:
        print(json.dumps(solve(*sys.argv[2:])))
    else:
        main()
