"""Passes over data in chunks on the workers of an executor: the same numbers, whoever reads the data."""

import functools
import multiprocessing
import os
import pickle
import signal
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import gopfast
from gopfast import InputError
from gopfast.data import LargeGaussianMixture, chunks
from gopfast.mixtures.data import chunks as sources, parts

HERE = "the data were read in the search's own process"
RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(4.0 * k, 1.0, 12_000) for k in range(3)]).astype(np.float32)
RNG.shuffle(X)
WEIGHT = np.exp(RNG.normal(size=len(X))) * (RNG.random(len(X)) > 0.1)
WEIGHT[3000:9000] = 0.0  # blocks that have no sample left


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Many parts of these data: of a few blocks, of few rows."""
    monkeypatch.setattr(sources, "ROWS", 1000)
    monkeypatch.setattr(parts, "ROWS", 1000)
    monkeypatch.setattr(parts, "BLOCKS", 3)


def a_list(path):
    return np.array_split(np.load(path, mmap_mode="r"), 7)


def one_by_one(path):
    yield from np.array_split(np.load(path, mmap_mode="r"), 11)


def noted(path, folder):
    """As `a_list`; leaves the number of the process that reads."""
    (folder / str(os.getpid())).touch()
    return a_list(path)


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    return path


class Inline(Executor):
    """Runs a task where it is asked for, as another process would: of what was pickled."""

    _max_workers = 3

    def __init__(self, change=lambda function, arguments: None):
        self.change, self.calls = change, []

    def submit(self, function, /, *arguments, **named):
        self.calls.append(function)
        future = Future()
        try:
            function, arguments = pickle.loads(pickle.dumps((function, arguments)))
            if function is parts.work:
                arguments = self.change(function, arguments) or arguments
            future.set_result(function(*arguments, **named))
        except BaseException as error:
            future.set_exception(error)
        return future

    @property
    def n_parts(self):
        return self.calls.count(parts.work)


def solve(source, executor=None, **options):
    model = {"covariance": "known"} | {name: options.pop(name) for name in ("sample_weight", "covariance")
                                       if name in options}  # fmt: skip
    problem = LargeGaussianMixture(source, 3, **model)
    return gopfast.solve(problem, 0.01, log=False, n_threads=1, executor=executor, **options)


def passes(found):
    """What all passes have found, to the last bit."""
    summary = found.solution.problem.summary
    return [found.objective, found.solution.means.tobytes(), found.solution.weights.tobytes(), summary.moved,
            summary.total_weight, summary.n_samples, summary.weights.tobytes(), summary.columns.tobytes(),
            summary.curvature_loss.tobytes()]  # fmt: skip


def of_file(path, folder):
    array = np.load(path, mmap_mode="r")
    yield array
    fortran = np.lib.format.open_memmap(folder / "f.npy", "w+", np.float32, (len(X), 2), fortran_order=True)
    fortran[:, 0], fortran[:, 1] = -1.0, X
    yield fortran[:, 1]
    yield np.memmap(folder / "f.npy", np.float32, "r+", fortran.offset + X.nbytes, X.shape)
    yield chunks(functools.partial(a_list, path))
    yield chunks(functools.partial(one_by_one, path))


def test_workers_read_what_this_process_would(stored, tmp_path):
    exact = gopfast.solve(gopfast.GaussianMixture(X, 3, covariance="known"), 0.01, log=False)
    alone = solve(X)
    assert alone.objective == pytest.approx(exact.objective, abs=0.01)
    for source in of_file(stored, tmp_path):
        executor = Inline()
        found = solve(source, executor)
        assert passes(found) == passes(alone) and found.notes == alone.notes
        assert found.success and found.lower_bound <= exact.objective <= found.objective + 0.01
        # all passes; of a factory, whose rows somebody must count, all but the first
        assert executor.n_parts > 40 or (executor.n_parts >= 3 * 3 and isinstance(source, sources.Chunks))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("count", [1, 2])
def test_any_number_of_processes_finds_the_same(method, count, stored, tmp_path):
    alone = solve(X)
    # processes that are not forked have parts of the usual size
    reading = tmp_path / "who"
    reading.mkdir()
    source = chunks(functools.partial(noted, stored, reading)) if method == "fork" else np.load(stored, mmap_mode="r")
    if method == "spawn":
        parts.BLOCKS, parts.ROWS = 16, 65_536
        sources.ROWS = 65_536
        alone = solve(X)
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context(method)) as executor:
        found = solve(source, executor)
    assert passes(found) == passes(alone) and found.notes == alone.notes
    if method == "fork":
        assert {int(path.name) for path in reading.iterdir()} > {os.getpid()}


@pytest.mark.parametrize("kind", ["diag", "known"])
def test_weights_and_variances_are_of_all_parts(kind, stored, tmp_path):
    np.save(tmp_path / "w.npy", WEIGHT)
    mapped = np.load(stored, mmap_mode="r"), np.load(tmp_path / "w.npy", mmap_mode="r")
    options = {"covariance": kind, "max_nodes": 20}
    alone, executor = solve(X, sample_weight=WEIGHT, **options), Inline()
    found = solve(mapped[0], executor, sample_weight=mapped[1], **options)
    assert passes(found) == passes(alone) and executor.n_parts > 40
    whole = gopfast.GaussianMixture(X, 3, covariance=kind, sample_weight=WEIGHT)
    if kind == "diag":
        np.testing.assert_allclose(found.solution.problem.variance_floor, whole.variance_floor, rtol=1e-12)
    objective = whole.objective(found.solution.weights, **found.solution.parameters)
    assert objective == pytest.approx(found.objective, rel=1e-9)
    with pytest.raises(InputError, match="sample_weight must have one entry for each row of X"):
        solve(mapped[0], Inline(), sample_weight=mapped[1][:-1])
    with pytest.raises(InputError, match="sample_weight must have one entry for each row of X"):
        solve(mapped[0][:9000], sample_weight=WEIGHT[:12_000])  # at the end of a part


def test_rows_that_came_since_the_last_solve_are_read(tmp_path):
    n = [6000]

    def some():
        return [X[: n[0]]]

    problem = LargeGaussianMixture(chunks(some), 3, covariance="known")
    with ThreadPoolExecutor(2) as executor:
        for _ in range(2):
            found = gopfast.solve(problem, 0.01, log=False, n_threads=1, executor=executor)
            assert passes(found) == passes(solve(X[: n[0]]))
            n[0] += 5000


def test_threads_read_arrays_in_memory():
    with ThreadPoolExecutor(2) as executor:
        found = solve(chunks(lambda: (part for part in np.array_split(X, 5))), executor)
        assert passes(found) == passes(solve(X)) and not found.notes
        assert passes(solve(X, executor)) == passes(found)


def _opened(lock):
    return [X]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (X, "X is in memory"),
        (chunks(functools.partial(_opened, threading.Lock())), "cannot be pickled"),
        (chunks(functools.partial(np.array_split, np.tile(X, 10), 50)), "holds data itself"),
    ],
)
def test_what_workers_cannot_open_is_read_here_and_said(source, reason):
    executor = Inline()
    found = solve(source, executor)
    assert found.success and executor.n_parts == 0
    assert any(reason in note and HERE in note for note in found.notes)


def test_parts_that_do_not_come_back_are_read_here(stored):
    alone = solve(X)
    calls = []

    def lose(function, arguments):
        calls.append(1)
        if len(calls) % 3 == 0:
            raise OSError("the worker is gone")

    found = solve(np.load(stored, mmap_mode="r"), Inline(lose))
    assert passes(found) == passes(alone) and found.notes == alone.notes

    def always(function, arguments):
        raise OSError("no worker is of use")

    found = solve(np.load(stored, mmap_mode="r"), Inline(always))
    assert passes(found) == passes(alone)
    assert any("no worker is of use" in note and HERE in note for note in found.notes)


def test_another_file_of_that_name_is_not_taken(stored):
    """A folder that is each machine's own; here, a file that was replaced after it was opened."""
    mapped, alone = np.load(stored, mmap_mode="r"), solve(X)
    os.replace(stored, f"{stored}.old")
    np.save(stored, X + 1.0)
    found = solve(mapped, Inline())
    assert passes(found) == passes(alone)
    assert any("holds other data" in note for note in found.notes)
    os.unlink(stored)
    assert any("No such file" in note for note in solve(mapped, Inline()).notes)


def test_a_worker_that_is_killed_loses_nothing(stored, tmp_path):
    class Killed(ProcessPoolExecutor):
        n = 0

        def submit(self, function, /, *arguments, **named):
            self.n += 1
            if self.n == 5:
                os.kill(next(iter(self._processes)), signal.SIGKILL)
            return super().submit(function, *arguments, **named)

    with Killed(2, mp_context=multiprocessing.get_context("fork")) as executor:
        found = solve(np.load(stored, mmap_mode="r"), executor)
    assert passes(found) == passes(solve(X)) and found.success
    assert any(HERE in note for note in found.notes)


@pytest.mark.parametrize("passes_before", [2, 3, 4])
@pytest.mark.parametrize("again", [True, False])
def test_ctrl_c_ends_a_pass_and_leaves_bounds(passes_before, again, stored):
    """Also at a second one, in the last pass: no number is lost for it."""
    class Interrupted(Inline):
        raised = False

        def submit(self, function, /, *arguments, **named):
            if function is parts.work and self.n_parts == 12 * passes_before + 5 and (again or not self.raised):
                self.raised = True
                raise KeyboardInterrupt
            return super().submit(function, *arguments, **named)

    found = solve(np.load(stored, mmap_mode="r"), Interrupted())
    assert found.status == "INTERRUPTED"
    assert -np.inf < found.lower_bound <= solve(X).objective <= found.objective


def test_bad_rows_are_named_whoever_reads_them(tmp_path):
    bad = X.copy()
    bad[20_000] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    with pytest.raises(InputError, match="X must be finite"):
        solve(np.load(tmp_path / "bad.npy", mmap_mode="r"), Inline())


def test_a_search_of_workers_goes_on_alone(stored, tmp_path):
    """What tells the data of a checkpoint does not depend on who read them."""
    path = tmp_path / "search.checkpoint"
    stopped = solve(np.load(stored, mmap_mode="r"), Inline(), checkpoint=path, max_nodes=20)
    assert stopped.status == "NODE_LIMIT"
    whole, resumed = solve(X), gopfast.resume(path, X, log=False, n_threads=1)
    assert resumed.success and passes(resumed) == passes(whole) and resumed.lower_bound == whole.lower_bound


@pytest.mark.parametrize("processes", [True, False])
def test_dask_workers_compute_their_own_blocks(processes, stored, monkeypatch):
    distributed, array = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    delayed = pytest.importorskip("dask").delayed
    for module in (sources, parts):
        monkeypatch.setattr(module, "ROWS", 65_536)
    monkeypatch.setattr(parts, "BLOCKS", 16)
    blocks = [
        array.from_delayed(delayed(_slice)(stored, first), (6000,), np.float32) for first in range(0, len(X), 6000)
    ]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        found = solve(array.concatenate(blocks), client.get_executor())
    assert passes(found) == passes(solve(X)) and not found.notes


def _slice(path, first):
    return np.load(path, mmap_mode="r")[first : first + 6000]


def test_loky_takes_factories_that_only_cloudpickle_does(stored):
    loky = pytest.importorskip("loky")
    with loky.ProcessPoolExecutor(2) as executor:
        found = solve(chunks(lambda: np.array_split(np.load(stored, mmap_mode="r"), 5)), executor)
    assert found.success and not found.notes


def test_parquet_files_are_divided_by_rows(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    parquet.write_table(arrow.table({"x": X}), path, row_group_size=2500)
    source, executor = gopfast.data.parquet(path), Inline()
    for first, last in ((0, 1), (2499, 2501), (100, 9000), (len(X) - 1, len(X)), (0, len(X))):
        read = np.concatenate(list(source.rows.read(first, last)))
        np.testing.assert_array_equal(read[:, 0], X[first:last])
    found = solve(source, executor)
    assert passes(found) == passes(solve(X)) and executor.n_parts > 40
    parquet.write_table(arrow.table({"x": X[:0]}), path)
    with pytest.raises(InputError, match="at least one row"):
        solve(gopfast.data.parquet(path))


def test_csv_files_are_read_here(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.csv"
    np.savetxt(path, X, header="x", comments="")
    found = solve(gopfast.data.csv(path), Inline())
    assert any("a CSV file" in note and HERE in note for note in found.notes)
