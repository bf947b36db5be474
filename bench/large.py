"""Data larger than memory: float32 in a memory-mapped file, K = 3, gap 4; writes bench/results/large.md.

Run: python bench/large.py [10000000 100000000 10000000x2 ...]      (4 bytes a number, in files of a temporary folder)
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
        "status": result.status.name, "gap": result.gap, "nodes": result.n_nodes,
        "points": len(result.solution.problem.X),
        "loss": 0.5 * float(result.solution.problem.summary.curvature_loss.sum()),
        "seconds": time.perf_counter() - started, "processor": time.process_time() - used, "peak": peak[0],
    }  # fmt: skip


def main():
    import machine

    sizes = sys.argv[1:] or ["10000000", "100000000", "10000000x2"]
    rows = []
    for size in sizes:
        n, d = (int(number) for number in (*size.split("x"), "1")[:2])
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "samples.npy"))
            write(path, n, d)
            done = subprocess.run(
                [sys.executable, __file__, "solve", path, "1"], capture_output=True, text=True, check=True
            )
        found = json.loads(done.stdout)
        print(found, flush=True)
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
    else:
        main()
