"""Nodes a second that pybnb and gopfast hand out on the same problem; writes bench/results/pybnb_rate.md.

Run: python bench/pybnb_rate.py [--nodes 60000]      (needs pybnb, mpi4py and an mpiexec; a minute of two processors)
     pybnb (https://pybnb.readthedocs.io) is a dispatcher of branch and bound in Python on MPI. It searches the same
     mixture with the same bound of the compiled core, one box at a time (flat) or in subtrees of a second (nested), and
     a tree whose bound takes no time, as its own measurements do. One process hands out and two work in every row.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

EPSILON = 0.3  # nats
WORKERS = 2


def mixture():
    """Return the problem that both solve."""
    import gopfast

    return gopfast.BernoulliMixture(np.random.default_rng(2).integers(0, 2, (22, 7)), 2)


class Boxes:
    """The mixture for pybnb: a state is a box of the parameters of both components, which the core bounds."""

    def __init__(self, best):
        from gopfast.mixtures.relaxations.entropic import EntropicRelaxation

        from gopfast.mixtures import engine
        from gopfast.search import probe

        self.best, self.probe = best, probe.probe
        self.relaxation = EntropicRelaxation(engine.family(mixture()))
        self.box = probe.root_box(self.relaxation)

    def bound(self):
        """Bound the box, after tightening it."""
        found = self.probe(self.relaxation, *self.box, self.best)
        if found is None:
            return np.inf
        *self.box, lower = found
        return lower

    def halves(self):
        """Bisect the widest side."""
        low, high = self.box
        widest = np.argmax(high - low)
        middle = 0.5 * (low[widest] + high[widest])
        left, right = np.array(high), np.array(low)
        left[widest] = right[widest] = middle
        return (low, left), (right, high)


class Trivial:
    """A binary tree without end whose bound is 0."""

    best, box = 1.0, 0

    def bound(self):
        """Bound nothing."""
        return 0.0

    def halves(self):
        """Number the children."""
        return 2 * self.box + 1, 2 * self.box + 2


def pybnb_problem(tree):
    """Return pybnb's view of a tree."""
    import pybnb

    class Problem(pybnb.Problem):
        def sense(self):
            return pybnb.minimize

        def objective(self):
            return tree.best

        def bound(self):
            return tree.bound()

        def save_state(self, node):
            node.state = tree.box

        def load_state(self, node):
            tree.box = node.state

        def branch(self):
            for half in tree.halves():
                child = pybnb.Node()
                child.state = half
                yield child

    return Problem()


def run_pybnb(kind, nested, nodes, best):
    """Search in pybnb; return its nodes, bound and seconds (on the process that hands out: others get None)."""
    import pybnb
    from mpi4py import MPI

    problem = pybnb_problem(Boxes(best) if kind == "mixture" else Trivial())
    if nested:
        problem = pybnb.futures.NestedSolver(problem, time_limit=1.0, queue_strategy="bound")
    solver = pybnb.Solver()
    MPI.COMM_WORLD.Barrier()
    used = time.process_time()
    found = solver.solve(
        problem, best_objective=best, absolute_gap=EPSILON, node_limit=nodes, queue_strategy="bound", log=None,
        disable_objective_call=True,
    )  # fmt: skip
    if not solver.is_dispatcher:
        return None
    return {
        "nodes": found.nodes, "lower": found.bound, "seconds": found.wall_time, "busy": time.process_time() - used,
        "status": str(found.termination_condition),
    }  # fmt: skip


def run_gopfast():
    """Search on MPI's executor; return nodes, bound, seconds, and processor seconds of handing out."""
    from mpi4py.futures import MPIPoolExecutor

    import gopfast
    from gopfast.search import distributed

    kept, run = {}, distributed.DistributedSearch.run

    def recorded(self, *limits):
        try:
            return run(self, *limits)
        finally:
            kept.update(busy=self.busy, sent=self.n_sent, handed=sum(record[1] for record in self.records))

    distributed.DistributedSearch.run = recorded
    with MPIPoolExecutor() as executor:
        executor.bootup(wait=True)
        result = gopfast.solve(mixture(), EPSILON, n_threads=1, log=False, executor=executor, relaxation="entropic")
    return {
        "nodes": result.n_nodes, "lower": result.lower_bound, "seconds": result.time, "status": result.status.name,
        **kept,
    }  # fmt: skip


def child(*arguments):
    """Run a row under mpiexec; return what the process that hands out has printed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    mpiexec = shutil.which("mpiexec", path=path)
    through = ["-m", "mpi4py.futures"] if arguments[0] == "gopfast" else []
    command = [mpiexec, "-n", str(WORKERS + 1), sys.executable, *through, __file__, "run", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


def main():
    import machine

    import gopfast

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=60_000, help="most in each search of pybnb")
    options = parser.parse_args()
    best = gopfast.solve(mixture(), EPSILON, n_threads=1, log=False).objective
    rows = []
    for name, *arguments in (
        ("pybnb, flat, no bound", "trivial", 0, 4 * options.nodes, 1.0),
        ("pybnb, nested, no bound", "trivial", 1, 20 * options.nodes, 1.0),
        ("pybnb, flat, mixture", "mixture", 0, options.nodes, best),
        ("pybnb, nested, mixture", "mixture", 1, options.nodes, best),
        ("gopfast, mixture", "gopfast"),
    ):
        found = child(*arguments)
        print(name, found, flush=True)
        handed = found.get("handed", found["nodes"])
        rows.append(
            f"| {name} | {found['status']} | {found['nodes']:,} | {found['lower']:.4f} | {found['seconds']:.2f} "
            f"| {found['nodes'] / found['seconds']:,.0f} | {found['busy']:.2f} | {handed / found['busy']:,.0f} |"
        )
    text = machine.heading("Handing out nodes: pybnb and gopfast", "pybnb", "mpi4py", "mpich") + f"""
`mpiexec -n {WORKERS + 1}`: one process hands out, {WORKERS} work. *Mixture*: `{mixture()!r}`, gap {EPSILON:g},
objective {best:.4f}; pybnb bounds the same boxes by the same compiled relaxation, without what a child takes from its
parent. *No bound*: a tree that costs nothing, so that handing out is all. *Busy*: processor seconds of the process that
hands out; of gopfast those spent on handing out and taking back, the first half second of search apart; pybnb's waits
for messages in a loop, which counts.

| search | status | nodes | LBD | s | nodes a second | busy s | nodes per busy second |
| --- | --- | --- | --- | --- | --- | --- | --- |
""" + "\n".join(rows) + "\n"
    machine.write("pybnb_rate.md", text)


if __name__ == "__main__":
    if sys.argv[1:3] == ["run", "gopfast"]:
        print(json.dumps(run_gopfast()))
    elif sys.argv[1:2] == ["run"]:
        outcome = run_pybnb(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
        if outcome is not None:
            print(json.dumps(outcome))
    else:
        main()
