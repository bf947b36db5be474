"""Kills a search at random times, resumes it from its checkpoint, and compares what it ends with; writes kills.md.

Run: python bench/kills.py [--kills 100] [--chain 10] [--every 2] [--epsilon 1e-3]
     A chain is one search: killed, resumed, killed again, and at last left to end; with --chain 1 killed once. Each run
     is a process of its own, killed with SIGKILL, at a time drawn evenly from what it has left to do.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COUNTS = ("status", "n_nodes", "n_passes", "objective", "lower_bound")
CHILD = """
import json, os, sys
import gopfast
sys.path.insert(0, sys.argv[1])
import kills
path, every, epsilon = sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
problem = kills.problem()
options = {"log": False, "n_threads": 1, "checkpoint_every": every}
if os.path.exists(path):
    result = gopfast.resume(path, problem.X, **options)
else:
    result = gopfast.solve(problem, epsilon, checkpoint=path, **options)
print(json.dumps([str(result.status), *[getattr(result, name) for name in kills.COUNTS[1:]], result.time]))
"""


def problem():
    """Return the problem of all runs."""
    import gopfast

    return gopfast.BernoulliMixture(np.random.default_rng(2).integers(0, 2, (22, 9)), 2)


def start(path, every, epsilon):
    """Start a run, from its checkpoint if there is one."""
    command = [sys.executable, "-c", CHILD, str(Path(__file__).parent), path, str(every), str(epsilon)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def ended(child):
    """Return what a run ended with, and its seconds."""
    *found, seconds = json.loads(child.communicate()[0])
    return found, seconds


def chain(n_kills, every, epsilon, seconds, rng):
    """Kill a search so many times; return what it ended with, and how many kills left a file in the making."""
    half_written = killed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "search.checkpoint")
        while killed < n_kills:
            child = start(path, every, epsilon)
            # by the processor's clock, which other load does not stop
            left = rng.random() * 2.0 * seconds / (n_kills + 1)
            while child.poll() is None and spent(child.pid) < left:
                time.sleep(0.01)
            if child.poll() is not None:
                break  # it has ended before
            os.kill(child.pid, signal.SIGKILL)
            child.communicate()
            killed += 1
            half_written += os.path.exists(f"{path}.new")
        return ended(start(path, every, epsilon))[0], killed, half_written


def spent(pid):
    """Return the processor seconds of a process, as far as it still is there."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return np.inf


def main():
    import machine

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--chain", type=int, default=10)
    parser.add_argument("--every", type=float, default=2.0)
    parser.add_argument("--epsilon", type=float, default=1e-3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        first = start(os.path.join(folder, "whole"), 1e9, options.epsilon)
        while (used := spent(first.pid)) < np.inf and first.poll() is None:
            seconds = used
            time.sleep(0.05)
        whole, _ = ended(first)
    print(whole, f"{seconds:.3g} processor seconds", flush=True)
    kills = same = chains = torn = 0
    while kills < options.kills:
        found, killed, half = chain(options.chain, options.every, options.epsilon, seconds, rng)
        kills, same, chains, torn = kills + killed, same + (found == whole), chains + 1, torn + half
        print(kills, found == whole, found, flush=True)
    text = machine.heading("Searches that are killed") + f"""
One search ({whole[1]:,} nodes, {seconds:.0f} processor seconds, one thread; `{problem()!r}`, gap {options.epsilon:g}),
killed with SIGKILL at random times up to {options.chain} times, resumed each time, and left to end; a checkpoint every
{options.every:g} s.
*Same*: status, nodes, data passes, objective and lower bound as without a kill, to the last digit.

| searches | kills | in the midst of writing | same |
| --- | --- | --- | --- |
| {chains} | {kills} | {torn} | {same} |
"""
    machine.write("kills.md", text)


if __name__ == "__main__":
    main()
