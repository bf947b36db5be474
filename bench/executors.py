"""The same search on threads, process pools, Dask and MPI, and what 1,024 workers would do; writes executors.md.

Run: python bench/executors.py [--columns 8]      (needs distributed, mpi4py and an mpiexec for their rows)
     A search of 20 seconds of a processor; of 3 with 7 columns. Wall times mean something on an idle machine only;
     processor seconds of all processes together are given beside. The table of 1,024 workers is a simulation: parts
     take the times recorded here, and the process that hands them out takes what was measured here for each.
"""

import argparse
import heapq
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

EPSILON = 0.3  # nats
HOURS = 10.0  # of work in the simulated search
WORKERS = (1, 2, 4, 16, 64, 256, 1024)


def problem(n_columns):
    """Return the problem of all runs."""
    import gopfast

    return gopfast.BernoulliMixture(np.random.default_rng(2).integers(0, 2, (22, n_columns)), 2)


def search(n_columns, executor=None, n_threads=1):
    """Solve; return what is compared, and the times of parts."""
    import gopfast
    from gopfast.search import spread

    kept = {}
    run = spread.Spread.run

    def recorded(self, *limits):
        try:
            return run(self, *limits)
        finally:
            kept.update(parts=[seconds for seconds, _ in self.records], busy=self.busy, sent=self.n_sent)

    spread.Spread.run = recorded
    started = time.perf_counter()
    result = gopfast.solve(problem(n_columns), EPSILON, n_threads=n_threads, log=False, executor=executor)
    spread.Spread.run = run
    return {
        "status": result.status.name, "objective": result.objective, "lower": result.lower_bound,
        "nodes": result.n_nodes, "seconds": time.perf_counter() - started, "notes": list(result.notes), **kept,
    }  # fmt: skip


def processor():
    """Processor seconds of this process and of those that have ended below it."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def run(kind, count, n_columns):
    """One row."""
    if kind == "threads":
        return search(n_columns, n_threads=count)
    if kind == "processes":
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as executor:
            return search(n_columns, executor)
    if kind == "dask":
        import distributed

        with distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address=None
        ) as cluster, distributed.Client(cluster) as client:
            return search(n_columns, client.get_executor())
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as executor:
        return search(n_columns, executor)


def child(kind, count, n_columns):
    """Run a row in processes of its own; return it with the processor seconds of all."""
    command = [sys.executable, __file__, "run", kind, str(count), str(n_columns)]
    if kind == "mpi":
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        mpiexec = shutil.which("mpiexec", path=path)
        command = [mpiexec, "-n", str(count + 1), sys.executable, "-m", "mpi4py.futures", *command[1:]]
    before = processor()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return {**found, "processor": processor() - before}


def simulate(n_workers, parts, service, work):
    """
    Seconds that a search takes on so many workers, by an event simulation.

    Parameters
    ----------
    n_workers : int
    parts : ndarray
        Recorded seconds of parts, drawn from in turn.
    service : float
        Seconds that the process which hands out parts takes for each, one after another.
    work : float
        Seconds of all parts together.
    """
    from gopfast.search import spread

    rng = np.random.default_rng(0)
    scale = spread.part_seconds(n_workers) / spread.PART
    now, left, done, busy_until = 0.0, work, [], 0.0
    ready = 1.0  # parts that the open nodes make: at first one, and each that comes back leaves two
    idle = n_workers
    while left > 0.0 or done:
        while idle and ready >= 1.0 and left > 0.0:
            seconds = min(left, scale * rng.choice(parts))
            busy_until = max(busy_until, now) + service
            heapq.heappush(done, busy_until + seconds)
            ready, idle, left = ready - 1.0, idle - 1, left - seconds
        now = heapq.heappop(done)
        ready, idle = min(ready + 2.0, spread.PARTS * n_workers), idle + 1
    return now


def main():
    import machine

    from gopfast.search import spread

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=8)
    options = parser.parse_args()
    kinds = [("threads", 1), ("threads", 2), ("processes", 1), ("processes", 2), ("processes", 4)]
    if importlib.util.find_spec("distributed"):
        kinds += [("dask", 1), ("dask", 2)]
    if importlib.util.find_spec("mpi4py"):
        kinds += [("mpi", 2)]
    rows, parts, service, alone = [], [], [], None
    for kind, count in kinds:
        found = child(kind, count, options.columns)
        alone = alone or found
        assert found["status"] == "OPTIMAL" and abs(found["objective"] - alone["objective"]) < 1e-4, found
        assert not found["notes"], found
        print(kind, count, {name: value for name, value in found.items() if name != "parts"}, flush=True)
        if "parts" in found:
            parts += found["parts"]
            service.append(found["busy"] / found["sent"])
        rows.append(
            f"| {kind} | {count} | {found['objective']:.6f} | {found['lower']:.6f} | {found['nodes']:,} "
            f"| {found.get('sent', '')} | {found['processor']:.1f} | {found['seconds']:.1f} |"
        )
    mean = float(np.mean(service))
    work = HOURS * 3600.0
    simulated = []
    for count in WORKERS:
        seconds = simulate(count, np.array(parts), mean, work)
        simulated.append(
            f"| {count:,} | {spread.part_seconds(count):.3g} | {seconds:,.0f} | {work / seconds / count:.3f} |"
        )
    text = machine.heading("A search on executors", "distributed", "mpi4py", "mpich") + f"""
`{problem(options.columns)!r}`, gap {EPSILON:g}. *Processor s*: of all processes together, with the start of the
interpreters (about one each). *Parts*: handed out.

| engine | workers | UBD | LBD | nodes | parts | processor s | s |
| --- | --- | --- | --- | --- | --- | --- | --- |
""" + "\n".join(rows) + f"""

## Simulated

Strong scaling of a search of {HOURS:g} hours of a processor, replayed by an event simulation: {len(parts)} recorded
times of parts (mean {np.mean(parts):.2f} s), and {1e3 * mean:.2f} ms for each of the process that hands them out,
measured above. The tree begins as one part, and each that comes back leaves two. Nothing of this ran on more workers
than are in the table above.

| workers | seconds of a part | s | efficiency |
| --- | --- | --- | --- |
""" + "\n".join(simulated) + "\n"
    machine.write("executors.md", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        print(json.dumps(run(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
    else:
        main()
