"""Memory of open nodes and of a solve with ten million samples; writes bench/results/memory.md.

Run: python bench/memory.py      (about 30 seconds; each measurement in a process of its own)
     python bench/memory.py open-nodes N_COMPONENTS N_FEATURES MAX_NODES     (one line of JSON, also used by the tests)
     python bench/memory.py solve N_SAMPLES THREADS
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

GIB = 1e9  # the goals count in powers of ten


def resident():
    """Memory in use now, in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def peak():
    """Most memory that was in use, in bytes (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def open_nodes(n_components, n_features, max_nodes):
    """Growth of memory in a search that leaves nearly all its nodes open: its bounds are left far from solved."""
    import numpy as np
    from gopfast.mixtures.primal.em import MixturePrimal
    from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
    from gopfast.search.search import Search
    from gopfast.search.tree import Tree

    import gopfast
    from gopfast.mixtures import engine

    rng = np.random.default_rng(0)
    X = 20.0 * rng.standard_normal((2 * n_components, n_features))
    family = engine.family(gopfast.GaussianMixture(X, n_components, covariance="known"))

    def search(limit):
        relaxation = EntropicRelaxation(family, max_passes=1)
        run = Search(relaxation, MixturePrimal(family), 1e-9, max_nodes=limit)
        return relaxation, run

    search(1000)[1].run()  # workspaces and library code come into memory
    relaxation, run = search(max_nodes)
    before = resident()
    run.run()
    after = resident()
    return {
        "n_connected": relaxation.n_connected,
        "node_bytes": Tree(relaxation.n_connected, relaxation.n_warm).node_bytes,
        "n_open": int(run.summary()[0]["history"][-1, 4]),
        "growth": after - before,
    }


def solve(n_samples, threads):
    """Peaks of memory after each stage of a whole call: data of one dimension, K = 3, gap 4."""
    from speed_table import line

    import gopfast

    peaks = {"imports": peak()}
    data = line(n_samples, 3, 4)
    peaks["data drawn"] = peak()
    peaks["data held"] = resident()
    problem = gopfast.GaussianMixture(data, 3, covariance="known")
    peaks["problem"] = peak()
    result = gopfast.solve(problem, n_threads=threads, time_limit=60)
    peaks["solve"] = peak()
    peaks["after"] = resident()
    return {"peaks": peaks, "status": result.status.name, "seconds": result.time, "nodes": result.n_nodes}


def child(*arguments):
    """Run one measurement in a process of its own."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    import machine

    lines = [
        "| K | d | connected variables | open nodes | bytes a node, computed | measured | a million nodes, MB |",
        "|" + " --- |" * 7,
    ]
    for n_components, n_features, max_nodes in ((3, 1, 400_000), (8, 1, 400_000), (5, 2, 400_000), (10, 3, 100_000)):
        found = child("open-nodes", n_components, n_features, max_nodes)
        measured = found["growth"] / found["n_open"]
        lines.append(
            f"| {n_components} | {n_features} | {found['n_connected']} | {found['n_open']:,} | {found['node_bytes']} "
            f"| {measured:.0f} | {measured:.0f} |"
        )
    stages = [
        "| N | threads | data held | peak while drawn | peak with problem | peak with solve | after | status | s |",
        "|" + " --- |" * 9,
    ]
    for n_samples in (10**6, 10**7):
        found = child("solve", n_samples, 2)
        p = found["peaks"]
        figures = [p["data held"], p["data drawn"], p["problem"], p["solve"], p["after"]]
        stages.append(
            f"| {n_samples:,} | 2 | " + " | ".join(f"{value / GIB:.2f}" for value in figures)
            + f" | {found['status']} | {found['seconds']:.3g} |"
        )  # fmt: skip
    table, second = "\n".join(lines), "\n".join(stages)
    text = machine.heading("Memory") + f"""
## Open nodes

Goal: a million in 1 GB. *Computed*: `Tree.node_bytes`, the node and its place in the heap. *Measured*: growth of
resident memory over the open nodes at the end of a search with `max_nodes`, allocator included.

{table}

## A whole call

Resident memory in GB (10^9 bytes), everything included: interpreter, NumPy, the caller's own array (8 bytes a sample)
and what drawing it took. K = 3, gap 4, absolute gap 0.01. Goal: 1 GB for N = 10,000,000. *After*: memory in use when
`solve` has returned and the problem is still held.

{second}
"""
    machine.write("memory.md", text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps({"open-nodes": open_nodes, "solve": solve}[sys.argv[1]](*map(int, sys.argv[2:]))))
    else:
        main()
