"""The same search on threads, process pools, loky, Dask and MPI, and what 1,024 workers would do; writes executors.md.

Run: python bench/executors.py [--columns 10]      (needs loky, distributed, mpi4py and an mpiexec for their rows)
     A search of 38 seconds of a processor: seven minutes in all on two idle processors; with fewer columns in less.
     Wall times mean something on an idle machine only; processor seconds of all processes together are given beside.
     The table of 1,024 workers is a simulation: parts take the times recorded here and bring back the nodes recorded
     here, and the process that hands them out takes what was measured here for each.
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

EPSILON = 1e-3  # nats
HOURS = 10.0  # of work in the simulated search
WORKERS = (1, 2, 4, 16, 64, 256, 1024)


def problem(n_columns):
    """Return the problem of all runs."""
    import gopfast

    return gopfast.BernoulliMixture(np.random.default_rng(2).integers(0, 2, (16, n_columns)), 2)


def search(n_columns, executor=None, n_threads=1):
    """Solve; return what is compared, and the times of parts."""
    import gopfast
    from gopfast.search import distributed

    kept = {}
    run = distributed.DistributedSearch.run

    def recorded(self, *limits):
        try:
            return run(self, *limits)
        finally:
            kept.update(parts=self.records, busy=self.busy, sent=self.n_sent)

    distributed.DistributedSearch.run = recorded
    if executor is not None:  # workers are at work already, as threads are
        list(executor.map(warm, range(8 * distributed.n_workers(executor))))
    started, used = time.perf_counter(), time.process_time()
    result = gopfast.solve(problem(n_columns), EPSILON, n_threads=n_threads, log=False, executor=executor)
    distributed.DistributedSearch.run = run
    return {
        "status": result.status.name, "objective": result.objective, "lower": result.lower_bound,
        "nodes": result.n_nodes, "seconds": time.perf_counter() - started, "notes": list(result.notes),
        "own": time.process_time() - used, **kept,
    }  # fmt: skip


def warm(_):
    """Load what a part needs, and let the other workers have theirs."""
    import gopfast.mixtures.solve  # noqa: F401

    time.sleep(0.02)


def round_trip(executor, n=50):
    """Return the seconds that a part without work takes there and back."""
    taken = []
    for _ in range(n):
        started = time.perf_counter()
        executor.submit(os.getpid).result()
        taken.append(time.perf_counter() - started)
    return float(np.median(taken))


def processor():
    """Processor seconds of this process and of those that have ended below it."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def run(kind, count, n_columns):
    """One row."""
    if kind == "threads":
        return search(n_columns, n_threads=count)

    def spread(executor):
        return {**search(n_columns, executor), "latency": round_trip(executor)}

    if kind == "loky":
        import loky

        with loky.ProcessPoolExecutor(count) as executor:
            return spread(executor)
    if kind == "processes":
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as executor:
            return spread(executor)
    if kind == "dask":
        import distributed

        with distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address=None
        ) as cluster, distributed.Client(cluster) as client:
            return spread(client.get_executor())
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as executor:
        return spread(executor)


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


def simulate(n_workers, records, service, latency, work):
    """
    Play a search on so many workers, by an event simulation of what `gopfast.search.distributed` does.

    Parameters
    ----------
    n_workers : int
    records : ndarray, shape (n, 4)
        Of recorded parts that did not end early: seconds, nodes bounded, handed out and brought back.
    service : float
        Seconds that the process which hands out parts takes for each, one after another.
    latency : float
        Seconds that a part takes there and back.
    work : float
        Seconds of all parts together.

    Returns
    -------
    seconds, ramp : float
        Of the search, and until all workers were at work for the first time.
    """
    from gopfast.search import distributed

    rng = np.random.default_rng(0)
    wanted, left = distributed.PARTS * n_workers, work - distributed.ALONE
    n_open, done, free = min(wanted, distributed.FIRST), [], [distributed.ALONE] * n_workers
    now, hands_free, ramp, out = distributed.ALONE, distributed.ALONE, np.inf, 0
    while left > 0.0 or done:
        while out < wanted and n_open >= 1 and left > 0.0:
            size = int(np.clip(n_open // wanted, 1, distributed.NODES))
            full = distributed.part_seconds(n_workers, service) if n_open >= wanted else distributed.SHORT_PART
            _, _, _, returned = records[rng.integers(len(records))]
            seconds, n_open = min(left, full), n_open - size
            left -= seconds
            hands_free = max(hands_free, now) + service
            begun = max(heapq.heappop(free), hands_free + 0.5 * latency)
            heapq.heappush(free, begun + seconds)
            heapq.heappush(done, (begun + seconds + 0.5 * latency, int(returned)))
            out += 1
            if ramp == np.inf and free[0] > distributed.ALONE:  # each has its first part
                ramp = begun
        if not done:
            break
        now, returned = heapq.heappop(done)
        out, n_open = out - 1, n_open + (returned if left > 0.0 else 0)
    return max(now, hands_free), ramp


def kinds():
    """Return the rows: engine and workers."""
    found = [("threads", 1), ("threads", 2), ("processes", 1), ("processes", 2), ("processes", 4)]
    if importlib.util.find_spec("loky"):
        found += [("loky", 2), ("loky", 4)]
    if importlib.util.find_spec("distributed"):
        found += [("dask", 1), ("dask", 2), ("dask", 4)]
    if importlib.util.find_spec("mpi4py"):
        found += [("mpi", 2)]
    return found


def row(kind, count, found, rows_before):
    """Return a row of the first table."""
    alone, threads = rows_before.get(("threads", 1), found), rows_before.get(("threads", 2), found)
    wall = f"{threads['seconds'] / found['seconds']:.2f}" if count == 2 else ""
    return (
        f"| {kind} | {count} | {found['objective']:.6f} | {found['lower']:.6f} | {found['nodes']:,} "
        f"| {found.get('sent', '')} | {found['processor']:.1f} | {alone['processor'] / found['processor']:.2f} "
        f"| {found['seconds']:.1f} | {wall} |"
    )


def main():
    import machine

    from gopfast.search import distributed

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=10)
    options = parser.parse_args()
    rows, parts, service, latency, before = [], [], [], [], {}
    for kind, count in kinds():
        before[kind, count] = found = child(kind, count, options.columns)
        alone = before["threads", 1]
        assert found["status"] == "OPTIMAL" and abs(found["objective"] - alone["objective"]) < 1e-6, found
        assert not found["notes"], found
        print(kind, count, {name: value for name, value in found.items() if name != "parts"}, flush=True)
        if "parts" in found:
            parts += found["parts"]
            service.append(found["busy"] / found["sent"])
            latency.append(found["latency"])
        rows.append(row(kind, count, found, before))
    recorded = np.array([part for part in parts if part[3] > 0])  # those that their time ended
    mean, delay, work = float(np.median(service)), max(latency), HOURS * 3600.0
    simulated = []
    for count in WORKERS:
        seconds, ramp = simulate(count, recorded, mean, delay, work)
        simulated.append(
            f"| {count:,} | {distributed.part_seconds(count, mean):.3g} | {ramp:.1f} | {seconds:,.0f} "
            f"| {work / seconds / count:.3f} |"
        )
    text = machine.heading("A search on executors", "loky", "distributed", "mpi4py", "mpich") + f"""
`{problem(options.columns)!r}`, gap {EPSILON:g}. *Parts*: handed out. *Processor s*: of all processes together, with the
start of the interpreters (about one each); *useful*: those of one thread over these. *s*: of the search, workers having
been started; *against threads*: of as many threads, over these (means something on an idle machine only).

| engine | workers | UBD | LBD | nodes | parts | processor s | useful | s | against threads |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
""" + "\n".join(rows) + f"""

## Simulated

Strong scaling of a search of {HOURS:g} hours of a processor, replayed by an event simulation of the rules of
`gopfast.search.distributed`: {len(recorded)} recorded parts, which bring back {np.median(recorded[:, 3]):.0f} open
nodes (median); {1e3 * mean:.2f} ms of the process that hands out, for each (median of the engines above);
{1e3 * delay:.1f} ms there and back (the slowest of them). Nothing of this ran on more workers than are in the table
above. What is lost: half a second in which one process makes the first open nodes, the time until all work, and the
last part of each.

| workers | seconds of a part | all work after s | s | efficiency |
| --- | --- | --- | --- | --- |
""" + "\n".join(simulated) + "\n"
    machine.write("executors.md", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        print(json.dumps(run(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
    else:
        main()
