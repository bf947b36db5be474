"""
No node is lost: not on disk, in dives, in checkpoints, nor with workers that fail.

With a tolerance below 0 the node that holds the optimum is never fathomed, so that the bound which is not clipped to
the incumbent stays below the optimum as long as that node is somewhere, and rises above it soon after it is lost.
"""

from concurrent.futures import Executor, Future

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from gopfast.search.tree import Tree

import gopfast
from gopfast.mixtures import engine
from gopfast.search import checkpoint, distributed, snapshot
from gopfast.search.files import Spill

BELOW = -0.5  # nats: what a search is told to prove more than there is
NODES = 12_000
SEEDS = range(3)
HEADER = {"gopfast": gopfast.__version__, "problem": {"class": "BernoulliMixture"}, "options": {}, "digest": ""}


def problem(seed):
    return gopfast.BernoulliMixture(np.random.default_rng(seed).integers(0, 2, (30, 4)), 2)


def search(seed, epsilon=BELOW, **options):
    family = engine.family(problem(seed))
    return Search(EntropicRelaxation(family), MixturePrimal(family), epsilon, **options)


def optimum(seed):
    run = search(seed, 1e-4)
    run.run()
    fields, _ = run.summary()
    return fields["objective"], fields["n_nodes"]


def holds(run, best, within=5.0):
    """Whether the bound is one, and so near that a lost node would show."""
    assert run.least_bound <= best + 1e-9
    assert run.least_bound > best - within
    return True


class Little:
    """Memory for so many nodes."""

    unasked = 0

    def __init__(self, n_nodes):
        relaxation = EntropicRelaxation(engine.family(problem(0)))
        self.bytes = n_nodes * Tree(relaxation.n_connected, relaxation.n_warm).node_bytes

    def room(self, taken):
        return self.bytes


class Failing(Executor):
    """Loses the outcome of every third part."""

    _max_workers = 3

    def __init__(self):
        self.n = 0

    def submit(self, function, /, *arguments, **named):
        self.n += 1
        future = Future()
        if self.n % 3 == 0:
            future.set_exception(OSError("the worker is gone"))
        else:
            future.set_result(function(*arguments, **named))
        return future


def made(seed):
    """The search of a worker."""
    return search(seed), "alike"


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_hold_with_failing_workers(seed, monkeypatch):
    monkeypatch.setattr(distributed, "ALONE", 0.0)
    monkeypatch.setattr(distributed, "PART", 0.02)
    monkeypatch.setattr(distributed, "SHORT_PART", 0.01)
    best, _ = optimum(seed)
    run, executor, notes = search(seed), Failing(), []
    distributed._here.key = None
    key, making = f"key {seed}", (made, (seed,), "alike")
    reason = distributed.DistributedSearch(run, executor, key, making, None, notes.append).run(60.0, NODES)
    assert (reason, notes) == (3, [])
    assert executor.n > 20
    assert holds(run, best)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("on_disk", [False, True])
def test_bounds_hold_in_little_memory(seed, on_disk, tmp_path):
    best, _ = optimum(seed)
    spill = Spill(str(tmp_path)) if on_disk else None
    run = search(seed, max_nodes=NODES, memory=Little(600), spill=spill)
    run.run()
    assert run.n_blocks if on_disk else run.n_dives
    assert holds(run, best, 5.0 if on_disk else 10.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_hold_after_each_of_many_stops(seed, tmp_path):
    best, _ = optimum(seed)
    path, run = str(tmp_path / "c"), search(seed)
    for n in range(1, 12):
        run.resume(max_nodes=n * NODES // 12)
        before = run.least_bound, run.n_nodes, snapshot.n_open(run)
        keeper = checkpoint.Checkpoint(path, 60.0, HEADER, print)
        keeper.write(run)
        assert keeper.failure is None
        run = search(seed)
        checkpoint.Stored(path).restore(run)
        assert (run.least_bound, run.n_nodes, snapshot.n_open(run)) == before
    run.resume(max_nodes=NODES)
    assert holds(run, best)
