"""A search of more than ten million nodes within 300 MB, and a hard one of iris; writes bench/results/memory_limit.md.

Run: python bench/memory_limit.py [--nodes 10000001] [--limit 300MB] [--iris-nodes 60000] [--iris-limit 135MB]
     Depth first within the limit, then with a folder for nodes; each in a process of its own. Ten minutes of
     a processor.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def problem(name):
    """Return noise in two columns, a problem without structure whose nodes are cheap; or iris, whose are not."""
    import gopfast

    if name == "iris":
        # scikit-learn's file, without its modules, whose memory would count
        path = Path(importlib.util.find_spec("sklearn").origin).parent / "datasets/data/iris.csv"
        X = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(4))
        return gopfast.GaussianMixture(X, 3, covariance="diag")
    return gopfast.GaussianMixture(2.0 * np.random.default_rng(2).normal(size=(12, 2)), 6, covariance="known")


def run(name, nodes, limit, folder):
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
        problem(name), 1e-4, memory_limit=limit, spill=folder or None, max_nodes=nodes, n_threads=1, log=False,
        callback=watch,
    )  # fmt: skip
    return {
        "status": result.status.name, "nodes": result.n_nodes, "open": opened, "peak": peak, "gap": result.gap,
        "seconds": time.process_time() - started, "notes": list(result.notes),
    }  # fmt: skip


def child(name, nodes, limit, on_disk):
    """Run a search in a process of its own; return what it told."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "run", name, str(nodes), limit, folder if on_disk else ""]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def main():
    import machine

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000_001)
    parser.add_argument("--limit", default="300MB")
    parser.add_argument("--iris-nodes", type=int, default=60_000)
    parser.add_argument("--iris-limit", default="135MB")
    options = parser.parse_args()
    rows = []
    given = {"noise": (options.nodes, options.limit), "iris": (options.iris_nodes, options.iris_limit)}
    head = machine.heading("A limit of memory")
    for way, on_disk in (("depth first", False), ("on disk", True)):
        for name, (nodes, limit) in given.items():
            found = child(name, nodes, limit, on_disk)
            print(name, way, found, flush=True)
            rows.append(
                f"| {name} | {limit} | {way} | {found['status']} | {found['nodes']:,} | {found['open']:,} "
                f"| {found['peak'] / 1e6:.0f} | {found['gap']:.3g} | {found['seconds']:.0f} |"
            )
            machine.write("memory_limit.md", table(head, rows))


def table(head, rows):
    """Return the report."""
    return head + f"""
*noise*: `{problem("noise")!r}`, known variance; *iris*: `{problem("iris")!r}`, diagonal
covariances. A gap of 1e-4 is asked for, so that the limit of nodes ends the search. *Memory*: most resident memory of
the process in MB, everything included, looked at every 64 batches of nodes.

| data | limit | nodes that do not fit | status | nodes | most open | memory | gap | processor s |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
""" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        print(json.dumps(run(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])))
    else:
        main()
