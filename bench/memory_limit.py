"""A search of more than ten million nodes within 300 MB; writes bench/results/memory_limit.md.

Run: python bench/memory_limit.py [--nodes 10000001] [--limit 300MB]
     Depth first within the limit, then with a folder for nodes; each in a process of its own.
"""

import argparse
import json
import subprocess
import sys
import tempfile

import numpy as np


def problem():
    """Return a problem without structure, whose tree is large: noise, in three columns."""
    import gopfast

    return gopfast.GaussianMixture(2.0 * np.random.default_rng(2).normal(size=(30, 3)), 6, covariance="known")


def run(nodes, limit, folder):
    """Search, and look at the resident memory between batches."""
    import time

    import gopfast
    from gopfast.search.memory import resident

    peak = opened = turns = 0

    def watch(state):
        nonlocal peak, opened, turns
        turns += 1
        opened = max(opened, state.n_open)
        if turns % 64 == 0:
            peak = max(peak, resident())

    started = time.process_time()
    result = gopfast.solve(
        problem(), 1e-9, memory_limit=limit, spill=folder or None, max_nodes=nodes, n_threads=1, log=False,
        callback=watch,
    )  # fmt: skip
    return {
        "status": result.status.name, "nodes": result.n_nodes, "open": opened, "peak": peak, "gap": result.gap,
        "seconds": time.process_time() - started, "notes": list(result.notes),
    }  # fmt: skip


def main():
    import machine

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000_001)
    parser.add_argument("--limit", default="300MB")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as disk:
        for name, folder in (("depth first", ""), ("on disk", disk)):
            command = [sys.executable, __file__, "run", str(options.nodes), options.limit, folder]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr)
            found = json.loads(done.stdout)
            print(name, found, flush=True)
            rows.append(
                f"| {name} | {found['status']} | {found['nodes']:,} | {found['open']:,} | {found['peak'] / 1e6:.0f} "
                f"| {found['gap']:.3g} | {found['seconds']:.0f} |"
            )
    text = machine.heading("A limit of memory") + f"""
`{problem()!r}`, known variance, a gap of 1e-9 asked for and `memory_limit="{options.limit}"`. *Memory*: most resident
memory of the process in MB, everything included.

| nodes that do not fit | status | nodes | most open | memory | gap | processor s |
| --- | --- | --- | --- | --- | --- | --- |
""" + "\n".join(rows) + "\n"
    machine.write("memory_limit.md", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        print(json.dumps(run(int(sys.argv[2]), sys.argv[3], sys.argv[4])))
    else:
        main()
