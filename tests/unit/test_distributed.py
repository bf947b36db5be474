"""A search on the workers of an executor: bounds and solution as in one process, whatever becomes of the workers."""

import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.killing import LosesWorker

import gopfast
from gopfast import InputTypeError
from gopfast.mixtures.solve import MixtureSearch, worker_search
from gopfast.options import Options
from gopfast.result import Status
from gopfast.search import distributed, snapshot

EPSILON = 0.05
PROBLEM = gopfast.BernoulliMixture(np.random.default_rng(5).integers(0, 2, (25, 6)), 2)
AT_ONCE = 20.0
"""How many times the nodes of one process several that are at work at once may bound: what one finds, the others hear
of later, on a busy machine much later."""
TREE = {"relaxation": "entropic"}  # prices would begin sooner or later, and the numbers of nodes not be comparable


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Hand out short parts, and at once: the problems of tests take a second."""
    monkeypatch.setattr(distributed, "ALONE", 0.0)
    monkeypatch.setattr(distributed, "PART", 0.02)


@pytest.fixture(scope="module")
def alone():
    return gopfast.solve(PROBLEM, EPSILON, log=False, n_threads=1, **TREE)


def solve(executor, problem=PROBLEM, **options):
    options = TREE | options if problem is PROBLEM else options
    return gopfast.solve(problem, EPSILON, log=False, n_threads=1, executor=executor, **options)


def same(result, alone, work=2.0):
    """Whether it proves what one process does, which took `alone`, in about as many nodes: up to `work` times those."""
    assert result.status == "OPTIMAL"
    assert result.objective == pytest.approx(alone.objective, abs=1e-6)
    assert alone.objective - EPSILON <= result.lower_bound + 1e-9 <= alone.objective + 1e-9
    np.testing.assert_allclose(result.solution.weights, alone.solution.weights, atol=1e-3)
    assert 0.5 * alone.n_nodes < result.n_nodes < work * alone.n_nodes
    return True


class Inline(Executor):
    """Runs a part where it is asked for; what `change` makes of the outcome comes back."""

    _max_workers = 2

    def __init__(self, change=lambda outcome: outcome):
        self.change, self.calls = change, []

    def submit(self, function, /, *arguments, **named):
        self.calls.append(arguments)
        future = Future()
        try:
            future.set_result(self.change(function(*arguments, **named)))
        except BaseException as error:  # Ctrl-C in a worker comes back, too
            future.set_exception(error)
        return future


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_prove_the_same(method, alone):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as executor:
        assert same(solve(executor), alone, AT_ONCE)


def test_worker_threads_prove_the_same(alone):
    with ThreadPoolExecutor(2) as executor:
        assert same(solve(executor), alone, AT_ONCE)


@pytest.mark.parametrize(
    "problem",
    [
        gopfast.GaussianMixture(gopfast.datasets.load("galaxies"), 5, covariance="known"),
        gopfast.GaussianMixture(gopfast.datasets.load("galaxies"), 4, prior="empirical"),
        gopfast.GaussianMixture(gopfast.datasets.load("faithful"), 2, covariance="diag"),
        gopfast.GaussianMixture(gopfast.datasets.load("faithful")[:40], 2, covariance="full"),
        # many samples, told apart: EM on one cloud would leave 1e-5 nats
        gopfast.GaussianMixture(
            np.random.default_rng(0).normal(size=(3000, 1)) + np.repeat([[0.0], [3.0], [6.0]], 1000, axis=0), 3,
            covariance="known",
        ),
    ],
)
def test_models_prove_the_same(problem):
    executor = Inline()
    found, reference = solve(executor, problem), gopfast.solve(problem, EPSILON, log=False, n_threads=1)
    assert found.status == reference.status == "OPTIMAL"
    assert found.objective == pytest.approx(reference.objective, abs=1e-6)
    assert reference.objective - EPSILON <= found.lower_bound + 1e-9
    assert executor.calls


def test_the_data_travel_once_for_each_worker(alone):
    executor = Inline()
    assert same(solve(executor), alone)
    sent = [arguments[1] is not None for arguments in executor.calls]
    assert len(sent) > 4
    assert sum(sent) == 2


def test_a_worker_that_joins_late_is_sent_what_it_lacks(alone):
    executor, n = Inline(), []

    def join(outcome):
        n.append(outcome)
        if len(n) in (5, 9):
            distributed._here.key = None  # of this thread: as if it were another process
        return outcome

    executor.change = join
    assert same(solve(executor), alone)
    assert "setup" in n


def test_parts_without_an_outcome_are_handed_out_again(alone):
    n = []

    def lose(outcome):
        n.append(outcome)
        if len(n) % 3 == 0:
            raise OSError("the worker is gone")
        return outcome

    result = solve(Inline(lose))
    assert same(result, alone)
    assert result.notes == ()


def test_workers_that_all_fail_leave_the_search_to_its_process(alone):
    def lose(outcome):
        raise OSError("no worker is of use")

    result = solve(Inline(lose))
    assert same(result, alone)
    assert result.notes == ("executor: no worker is of use; the search went on in its own process",)


def test_workers_whose_arithmetic_differs_are_of_no_use(alone):
    result = solve(Inline(lambda outcome: "coordinates"))
    assert same(result, alone)
    assert "other coordinates" in result.notes[0]


def test_a_worker_checks_its_coordinates():
    setup = pickle.dumps((worker_search, (PROBLEM, Options.from_arguments(EPSILON)), "others"))
    distributed._here.key = None
    assert distributed.work("key", setup, "version", None, {}, {}, 1000, 1.0, 1) == "coordinates"
    assert distributed.work("key", None, "version", None, {}, {}, 1000, 1.0, 1) == "setup"


class Killed(LosesWorker, ProcessPoolExecutor):
    pass


def test_a_killed_worker_loses_nothing(alone):
    with Killed(2) as executor:
        result = solve(executor)
    assert executor.n_parts >= 5
    assert same(result, alone, AT_ONCE)


def test_limits_stop_all_and_leave_bounds(alone):
    for limit, status in (({"max_nodes": 3000}, "NODE_LIMIT"), ({"time_limit": 0.05}, "TIME_LIMIT")):
        result = solve(Inline(), **limit)
        assert result.status == status
        assert -np.inf < result.lower_bound <= alone.objective <= result.objective + 1e-9
        assert status == "TIME_LIMIT" or result.n_nodes < 6000


def test_interrupts_and_callbacks_stop_all(alone):
    class Interrupted(Inline):
        def submit(self, function, /, *arguments, **named):
            if len(self.calls) == 5:
                raise KeyboardInterrupt
            return super().submit(function, *arguments, **named)

    for options, executor in (({}, Interrupted()), ({"callback": lambda state: state.n_nodes > 2000}, Inline())):
        result = solve(executor, **options)
        assert result.status == "INTERRUPTED"
        assert result.lower_bound <= alone.objective


def test_an_interrupt_while_a_part_is_handed_out_loses_no_node():
    least = []

    class Interrupted(Inline):
        def submit(self, function, /, *arguments, **named):
            if arguments[5]["lower"].min() > 86.0:  # above what is known without a tree
                least.append(arguments[5]["lower"].min())
                raise KeyboardInterrupt
            return super().submit(function, *arguments, **named)

    result = solve(Interrupted())
    assert result.status == "INTERRUPTED"
    assert result.lower_bound <= least[0]


def test_an_interrupt_in_a_worker_is_a_part_without_an_outcome(alone):
    n = []

    def interrupt(outcome):
        n.append(outcome)
        if len(n) in (3, 7):
            raise KeyboardInterrupt
        return outcome

    assert same(solve(Inline(interrupt)), alone)
    assert len(n) > 7


class Idle(Executor):
    """Workers that bring back every other part as it was handed out, and never the others."""

    _max_workers = 2
    n_parts = 0

    def submit(self, function, /, *arguments, **named):
        future = Future()
        self.n_parts += 1
        if self.n_parts % 2:
            future.set_result({
                "closed": np.inf, "rounding": 0.0, "n_nodes": 0, "effort": (0, 0, 0, 0), "work": [], "upper": np.inf,
                "solution": np.zeros(len(arguments[4]["incumbent.solution"])), "nodes": [arguments[5]], "seconds": 0.0,
            })  # fmt: skip
        return future


def boxes(search):
    """Return the boxes of the open nodes."""
    return {row.tobytes() for arrays in snapshot.slabs(search) for row in arrays["box"]}


@pytest.mark.skipif(sys.gettrace() is not None, reason="another tracer runs")
def test_ctrl_c_between_any_two_steps_loses_no_node(monkeypatch):
    """Raised before every so many byte codes of the module while parts go out and come back."""
    monkeypatch.setattr(distributed.DistributedSearch, "_alone", lambda self, *_: setattr(self, "count", 2))
    monkeypatch.setattr(distributed, "POLL", 0.0)
    interrupted = steps = 0
    for wanted in range(40, 4000, 61):
        mixture = MixtureSearch(PROBLEM, Options.from_arguments(EPSILON, n_threads=1, **TREE))
        search = mixture.search
        search.resume(max_nodes=300)
        before, steps = boxes(search), 0

        def trace(frame, event, _, wanted=wanted):
            nonlocal steps
            if frame.f_code.co_filename != distributed.__file__:
                return None
            frame.f_trace_opcodes = True
            steps += event == "opcode"
            if steps == wanted:
                steps += 1
                raise KeyboardInterrupt
            return trace

        run = distributed.DistributedSearch(search, Idle(), "key", (worker_search, (), ""), None, print)
        sys.settrace(trace)
        try:
            reason = run.run(60.0, 1 << 40)
        except KeyboardInterrupt:
            continue  # before the first part went out
        finally:
            sys.settrace(None)
        interrupted += 1
        assert reason == Status.INTERRUPTED
        assert before <= boxes(search)
        assert snapshot.n_open(search) == sum(len(arrays["lower"]) for arrays in snapshot.slabs(search))
    assert interrupted > 50


FORKED = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import numpy as np
import gopfast
from gopfast.search import distributed
from support.killing import LosesWorker

distributed.ALONE, distributed.PART = 0.0, 0.02

class Killed(LosesWorker, ProcessPoolExecutor):
    pass

problem = gopfast.BernoulliMixture(np.random.default_rng(5).integers(0, 2, (25, 6)), 2)
with Killed(2, mp_context=multiprocessing.get_context("fork")) as executor:
    result = gopfast.solve(
        problem, 0.05, log=False, n_threads=1, executor=executor, checkpoint=sys.argv[1], relaxation="entropic"
    )
print(result.status, result.n_nodes, *result.notes)
"""


def test_workers_forked_during_a_search_with_a_checkpoint_can_be_ended(tmp_path, alone):
    """The pool ends them by SIGTERM, which the search has taken for itself."""
    command = [sys.executable, "-c", FORKED, str(tmp_path / "search.checkpoint")]
    paths = [str(Path(gopfast.__file__).parents[1]), str(Path(__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("OPTIMAL")
    assert "the search went on in its own process" in done.stdout


def test_bounds_rise_and_count_what_workers_have(alone):
    rows = []
    solve(Inline(), callback=lambda state: rows.append(state))
    lowers = np.array([state.lower for state in rows])
    assert (np.diff(lowers) >= 0.0).all()
    assert lowers.max() <= alone.objective


def test_a_checkpoint_holds_what_workers_have(tmp_path, alone):
    path, executor = tmp_path / "search.checkpoint", Inline()
    options = {"checkpoint": path, "checkpoint_every": 0.0}
    stopped = solve(executor, callback=lambda state: state.n_nodes > 4000, **options)
    assert stopped.status == "INTERRUPTED"
    copied = path.read_bytes()
    assert same(gopfast.resume(path, PROBLEM.X, n_threads=1, log=False), alone)
    path.write_bytes(copied)
    assert same(gopfast.resume(path, PROBLEM.X, n_threads=1, log=False, executor=Inline()), alone)


def test_a_kill_between_parts_loses_none(tmp_path, alone, monkeypatch):
    """A checkpoint written while workers have nodes."""
    path, kept = tmp_path / "search.checkpoint", []
    collect = distributed.DistributedSearch._collect

    def keep(self):
        if self.keeper is not None and self.away and self.search.n_nodes > 4000 and not kept:
            self.keeper.write(self.search)
            kept.append(path.read_bytes())
        return collect(self)

    monkeypatch.setattr(distributed.DistributedSearch, "_collect", keep)
    assert same(solve(Inline(), checkpoint=path), alone)
    path.write_bytes(kept[0])
    assert same(gopfast.resume(path, PROBLEM.X, n_threads=1, log=False), alone)


def test_memory_limits_hold_for_what_comes_back(monkeypatch, alone):
    monkeypatch.setattr("gopfast.search.memory.Memory.room", lambda self, taken: 400_000)
    monkeypatch.setattr("gopfast.search.memory.UNASKED", 0)
    rows = []
    result = solve(Inline(), callback=lambda state: rows.append(state.n_open))
    assert same(result, alone)
    assert max(rows) < 400_000 / 300 < 2000  # bytes a node; without a limit it has twice as many


def test_parts_are_of_the_open_nodes():
    """What is handed out and not brought back is open again, and counts."""
    search = MixtureSearch(PROBLEM, Options.from_arguments(EPSILON, n_threads=1)).search
    search.resume(max_nodes=500)
    before, least = snapshot.n_open(search), search.least_bound
    away = {}
    assert snapshot.hand_out(search, 7, away, "first")
    nodes, lower = away["first"]
    assert (len(nodes["lower"]), lower) == (7, nodes["lower"].min())
    assert snapshot.n_open(search) == before - 7
    snapshot.away(search, 7, lower)
    assert search.least_bound == least
    snapshot.take_back(search, nodes)
    snapshot.away(search, 0, np.inf)
    assert (snapshot.n_open(search), search.least_bound) == (before, least)


def test_what_is_no_executor_is_refused():
    with pytest.raises(InputTypeError, match="^executor must be a concurrent.futures.Executor or None; got int"):
        gopfast.solve(PROBLEM, executor=2)


def test_nodes_that_could_not_be_handed_out_are_open_again():
    made = MixtureSearch(PROBLEM, Options.from_arguments(EPSILON, log=False, n_threads=1, **TREE))
    made.run(max_nodes=200)
    before, least, away = snapshot.n_open(made.search), made.search.least_bound, {}
    with pytest.raises(TypeError):  # as MemoryError, at the last step
        snapshot.hand_out(made.search, 20, away, [])
    assert (snapshot.n_open(made.search), made.search.least_bound, away) == (before, least, {})
    assert snapshot.hand_out(made.search, 20, away, 0) and snapshot.n_open(made.search) == before - 20


def test_no_memory_for_a_part_ends_the_search_with_its_bounds(monkeypatch, alone):
    n, hand_out = [], snapshot.hand_out

    def full(*arguments):
        n.append(1)
        if len(n) == 7:
            raise MemoryError
        return hand_out(*arguments)

    monkeypatch.setattr(snapshot, "hand_out", full)
    found = solve(Inline())
    assert found.status == "MEMORY_LIMIT"
    assert -np.inf < found.lower_bound <= alone.objective <= found.objective + 1e-9
