"""Data in chunks: the bounds are those of the samples, whatever chunks they come in."""

import importlib
import importlib.util
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from gopfast.mixtures.data.grid import spread

import gopfast
from gopfast import CheckpointError, InputError, InputTypeError
from gopfast.data import LargeGaussianMixture, chunks
from gopfast.mixtures import large
from gopfast.mixtures.data import chunks as sources
from gopfast.mixtures.solve import MixtureSearch, summarised
from gopfast.options import Options

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(4.0 * k, 1.0, 20_000) for k in range(3)]).astype(np.float32)
RNG.shuffle(X)


@pytest.fixture(scope="module")
def reference():
    return gopfast.solve(gopfast.GaussianMixture(X, 3, covariance="known"), 0.01, log=False)


def kinds(folder):
    np.save(folder / "x.npy", X)
    yield X
    yield np.load(folder / "x.npy", mmap_mode="r")
    yield X.astype(np.float64)[:, None]
    yield chunks(lambda: np.array_split(X, 7))
    yield chunks(lambda: (part[:, None] for part in np.array_split(X, 13)), 1)
    if importlib.util.find_spec("dask"):
        import dask.array

        yield dask.array.from_array(X, chunks=7000)


def test_all_sources_give_the_proved_optimum(tmp_path, reference):
    for source in kinds(tmp_path):
        problem = LargeGaussianMixture(source, 3, covariance="known")
        found = gopfast.solve(problem, 0.01, log=False)
        assert found.status == "OPTIMAL"
        assert found.gap <= 0.01
        # bounds of the same number, each by its own way
        assert found.lower_bound <= reference.objective and reference.lower_bound <= found.objective
        assert found.objective == pytest.approx(reference.objective, abs=0.01)
        np.testing.assert_allclose(found.solution.means, reference.solution.means, atol=1e-3)
        assert found.log_likelihood == pytest.approx(reference.log_likelihood, abs=0.01)
        assert problem.objective(found.solution.weights, found.solution.means) <= found.objective
        assert problem.n_samples == len(X)


def coarse(monkeypatch, cells):
    """Grids of about so many cells."""
    monkeypatch.setattr(large, "MOST_CELLS", dict.fromkeys((1, 2, 3), cells))
    monkeypatch.setattr(large, "FEWEST_CELLS", dict.fromkeys((1, 2, 3), 1))


def clusters(rng, n, d, gap=4.0, K=3):
    return gap * rng.permuted(np.tile(np.arange(K), (d, 1)), axis=1).T[rng.integers(0, K, n)] + rng.normal(size=(n, d))


def prepared(problem, epsilon=0.01):
    options = Options.from_arguments(epsilon, log=False, n_threads=1)
    return summarised(problem, options), options


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("covariance", ["known", "diag", "spherical"])
@pytest.mark.parametrize("cells", [20, 5000])
def test_a_summary_less_its_loss_bounds_any_mixture_from_below(d, covariance, cells, monkeypatch):
    coarse(monkeypatch, cells)
    rng = np.random.default_rng(cells + d)
    X, w = clusters(rng, 2000, d) + 1e3, np.exp(3.0 * rng.normal(size=2000))
    floor = {} if covariance == "known" else {"variance_floor": 0.2}
    problem, _ = prepared(LargeGaussianMixture(X, 3, covariance=covariance, sample_weight=w, **floor))
    found, floor = problem.summary, dict(floor, covariance=covariance)
    assert problem.sample_weight.sum() == pytest.approx(w.sum(), rel=1e-12)
    np.testing.assert_allclose(problem.sample_weight @ problem.X, w @ X, rtol=1e-10)
    whole = gopfast.GaussianMixture(X, 3, sample_weight=w, **floor)
    points = gopfast.GaussianMixture(problem.X, 3, sample_weight=problem.sample_weight, **floor)
    for _ in range(10):
        state = [rng.dirichlet(np.ones(3)), rng.uniform(X.min(), X.max(), (3, d))]
        least = np.ones(d)
        if covariance != "known":
            state.append(rng.uniform(0.2, 4.0, (3, d) if covariance == "diag" else 3))
            least = np.min(state[2], axis=0) * np.ones(d)
        loss = (found.curvature_loss * (0.5 * np.square(found.scale) / least)[found.order]).sum()
        exact = whole.objective(*state)
        assert points.objective(*state) - loss <= exact * (1.0 + 1e-12)
        assert problem.objective(*state) == pytest.approx(exact, rel=1e-12)
    assert cells > 20 or loss > 10.0


def test_sums_on_the_grid_are_exact_however_many_samples_a_corner_takes():
    rng = np.random.default_rng(0)
    ends, cells = (np.array([0.0]), np.array([1.0])), np.array([1])
    x, w = rng.integers(0, 2, 200_000).astype(float), np.exp(8.0 * rng.normal(size=200_000))
    total, carry = np.zeros(2), np.zeros(2)
    for part in np.array_split(np.arange(len(x)), 7):
        spread(np.ascontiguousarray(x[None, part]), w[part], *ends, cells, total, carry)
    exact = [math.fsum(w[x == end]) for end in (0.0, 1.0)]
    assert (np.abs(total + carry - exact) <= 4 * 2.0**-53 * np.array(exact)).all()
    assert (total != exact).any()  # what is carried matters


def test_grids_of_parts_are_added_without_loss():
    rng = np.random.default_rng(0)
    grids = np.exp(8.0 * rng.normal(size=(large.MOST_GRIDS, 5000)))
    total, carry = np.zeros(5000), np.zeros(5000)
    for grid in grids:
        large.add(total, carry, grid)
    exact = np.array([math.fsum(column) for column in grids.T])
    assert (np.abs(total + carry - exact) <= 2 * 2.0**-53 * exact).all()
    assert (np.abs(total - exact) > 2 * 2.0**-53 * exact).any()  # what is carried matters


CASES = [
    (seed, kind) for seed in range(3)
    for kind in ("known", "prior", "empirical", "gaussian", "diag", "spherical", "tied_spherical")
]  # fmt: skip


@pytest.mark.parametrize(("seed", "kind"), CASES)
def test_bounds_that_are_not_clipped_stay_below_the_optimum(seed, kind, monkeypatch):
    """Of coarse summaries, offsets, ties and weights of all sizes, against the solve in memory."""
    rng = np.random.default_rng([seed, len(kind)])
    d = 1 + seed
    coarse(monkeypatch, (30, 300, 3000)[seed])
    X = clusters(rng, 120, d, gap=5.0, K=2) + (0.0, 1e3, -1e5)[seed]
    X = np.round(X) if seed == 0 else X
    w = np.exp(rng.normal(size=120) * (1.0, 6.0, 0.0)[seed]) * (rng.random(120) > 0.1)
    model = {
        "known": {"covariance": "known"}, "prior": {"prior": 1e10}, "empirical": {"prior": "empirical"},
        "gaussian": {"prior": 4.0, "posterior": "gaussian"},
    }.get(kind, {"covariance": kind, "variance_floor": 0.3})  # fmt: skip
    exact = gopfast.solve(
        gopfast.GaussianMixture(X, 2, sample_weight=w, **model), 0.01, log=False, n_threads=1, max_nodes=3000
    )
    rows = chunks(lambda: np.array_split(X, 3), d)
    problem, options = prepared(LargeGaussianMixture(rows, 2, sample_weight=w, **model))
    rounding = 1e-9 * (1.0 + abs(exact.objective))
    found = MixtureSearch(problem, options).run(max_nodes=300)
    assert found.lower_bound <= exact.objective + rounding
    assert exact.lower_bound <= found.objective + rounding
    # a search that wants more than there is: what it proves is not cut off at the incumbent
    beyond = MixtureSearch(problem, replace(options, epsilon=-1.0))
    beyond.run(max_nodes=300)
    assert beyond.search.least_bound <= exact.objective + rounding


@pytest.mark.parametrize("d", [1, 2])
def test_chunks_of_any_size_give_the_same(d):
    rng = np.random.default_rng(d)
    X, w = clusters(rng, 997, d).astype(np.float32), rng.uniform(0.1, 3.0, 997)
    outcomes = set()
    for size, other in ((1, 997), (2, 500), (100, 7), (997, 1), (1000, 1000)):
        rows = chunks(lambda size=size: (X[i : i + size] for i in range(0, 997, size)), d)
        weights = chunks(lambda other=other: (w[i : i + other] for i in range(0, 997, other)))
        problem = LargeGaussianMixture(rows, 3, covariance="known", sample_weight=weights)
        found = gopfast.solve(problem, 0.01, log=False)
        outcomes.add((found.status, found.objective, found.lower_bound, found.n_nodes, found.solution.means.tobytes()))
    assert len(outcomes) == 1
    exact = gopfast.solve(gopfast.GaussianMixture(X, 3, covariance="known", sample_weight=w), 0.01, log=False)
    assert found.success and found.objective == pytest.approx(exact.objective, abs=1e-3)


@pytest.mark.parametrize("d", [2, 3])
def test_what_a_coarse_summary_loses_costs_nothing_around_the_optimum(d, monkeypatch):
    """The box around the incumbent is of the samples; beyond it the objective has risen by more than the loss."""
    coarse(monkeypatch, {2: 10_000, 3: 100_000}[d])
    K = 5 - d
    X = clusters(np.random.default_rng(4), 30_000, d, gap=6.0, K=K)
    found = gopfast.solve(LargeGaussianMixture(X, K, covariance="known"), 0.01, log=False)
    exact = gopfast.solve(gopfast.GaussianMixture(X, K, covariance="known"), 0.01, log=False)
    assert found.success and found.gap <= 0.01
    assert found.solution.problem.summary.curvature_loss.sum() / 2 > 5.0  # nats
    assert found.objective == pytest.approx(exact.objective, abs=1e-4)
    assert abs(found.lower_bound - exact.objective) <= 0.01


def test_a_coarse_summary_leaves_a_gap(monkeypatch):
    coarse(monkeypatch, 10)
    found = gopfast.solve(LargeGaussianMixture(X[:3000], 3, covariance="known"), 0.01, log=False, max_nodes=200)
    exact = gopfast.solve(gopfast.GaussianMixture(X[:3000], 3, covariance="known"), 0.01, log=False)
    assert found.status == "NODE_LIMIT"
    assert found.lower_bound <= exact.objective <= found.objective + 0.01


def test_free_variances_have_the_floors_of_the_same_data_in_memory():
    rng = np.random.default_rng(0)
    for data in (rng.normal(size=(300, 2)), np.round(clusters(rng, 300, 2)), np.c_[rng.normal(size=300), np.ones(300)]):
        for kind in ("diag", "spherical", "tied_spherical"):
            problem, _ = prepared(LargeGaussianMixture(data, 2, covariance=kind))
            whole = gopfast.GaussianMixture(data, 2, covariance=kind)
            np.testing.assert_allclose(problem.variance_floor, whole.variance_floor, rtol=1e-12)
    assert LargeGaussianMixture(X, 2).covariance == "diag"  # as of GaussianMixture


def test_free_variances_are_proved():
    data = clusters(np.random.default_rng(1), 500, 1, gap=8.0, K=2)
    found = gopfast.solve(LargeGaussianMixture(data, 2), 0.05, log=False)
    exact = gopfast.solve(gopfast.GaussianMixture(data, 2), 0.05, log=False)
    assert found.success
    np.testing.assert_allclose(found.solution.covariances, exact.solution.covariances, rtol=1e-3)


def test_limits_leave_bounds(reference):
    found = gopfast.solve(LargeGaussianMixture(X, 3, covariance="known"), 0.01, log=False, max_nodes=5)
    assert found.status == "NODE_LIMIT"
    assert found.lower_bound <= reference.objective <= found.objective + 1e-6


def test_nothing_is_read_before_the_solve_and_each_pass_is_told(capsys):
    read = []

    def factory():
        read.append(1)
        yield X

    problem = LargeGaussianMixture(chunks(factory), 2, covariance="known")
    assert not read
    found = gopfast.solve(problem, 1.0, log=True)
    told = [line.split(" over ")[0].strip() for line in capsys.readouterr().out.splitlines() if " over the " in line
            or " over 60,000" in line]  # fmt: skip
    assert told == [f"pass {number}" for number in range(1, len(read) + 1)]
    assert len(read) <= 8
    assert "60,000 samples" in str(found.summary())


def test_data_are_in_memory_in_blocks(monkeypatch):
    monkeypatch.setattr(sources, "ROWS", 1000)
    parts = [len(part) for part in sources.of(X)]
    assert set(parts) == {1000} and sum(parts) == len(X)
    assert {part.dtype for part in sources.of(X)} == {np.dtype(float)}


def test_equal_samples_and_few_samples_are_solved():
    found = gopfast.solve(LargeGaussianMixture(np.full(1000, 3.5), 2, covariance="known"), 0.01, log=False)
    assert found.objective == pytest.approx(0.0, abs=0.01)
    found = gopfast.solve(LargeGaussianMixture([0.0, 1.0, 9.0], 2, covariance="known"), 0.01, log=False)
    exact = gopfast.solve(gopfast.GaussianMixture([0.0, 1.0, 9.0], 2, covariance="known"), 0.01, log=False)
    assert found.lower_bound <= exact.objective <= found.objective + 0.01


# Checkpoints and workers

def outcome(result):
    return result.status, result.objective, result.lower_bound, result.n_nodes, result.solution.means.tolist()


def test_a_stopped_search_goes_on_to_the_same(tmp_path):
    path = tmp_path / "search.checkpoint"
    data = clusters(np.random.default_rng(3), 3000, 2)
    problem = LargeGaussianMixture(data, 3, covariance="known")
    whole = gopfast.solve(problem, 0.01, log=False, n_threads=1)
    stopped = gopfast.solve(problem, 0.01, log=False, n_threads=1, checkpoint=path, max_nodes=whole.n_nodes // 2)
    assert stopped.status == "NODE_LIMIT"
    with pytest.raises(CheckpointError, match="other data"):
        gopfast.resume(path, data[:-1], log=False)
    assert outcome(gopfast.resume(path, chunks(lambda: np.array_split(data, 9), 2), log=False, n_threads=1)) == outcome(
        whole
    )


def test_workers_bound_nodes_without_the_data(monkeypatch):
    monkeypatch.setattr("gopfast.search.distributed.ALONE", 0.0)
    monkeypatch.setattr("gopfast.search.distributed.PART", 0.02)
    data = clusters(np.random.default_rng(5), 3000, 2)
    problem = LargeGaussianMixture(chunks(lambda: [data], 2), 3, covariance="known")  # which no pickle can hold
    alone = gopfast.solve(problem, 0.01, log=False, n_threads=1)
    with ThreadPoolExecutor(2) as executor:
        found = gopfast.solve(problem, 0.01, log=False, n_threads=1, executor=executor)
    assert found.success and not any("executor" in note for note in found.notes)
    assert found.objective == pytest.approx(alone.objective, abs=1e-6)
    assert alone.objective - 0.01 <= found.lower_bound + 1e-9


def test_what_reading_raises_is_raised():
    read = []

    def factory():
        read.append(1)
        yield X[:3000]
        if len(read) == 4:
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        solved(factory)
    read.clear()

    def interrupted():
        read.append(1)
        yield X[:3000]
        if len(read) == 4:
            raise KeyboardInterrupt

    found = solved(interrupted)
    assert found.status == "INTERRUPTED"
    assert -np.inf < found.lower_bound <= found.objective < np.inf


def test_what_needs_the_data_in_memory_says_so():
    problem = LargeGaussianMixture(X[:3000], 3, covariance="known")
    found = gopfast.solve(problem, log=False)
    for ask in (
        lambda: problem.X, lambda: gopfast.local.em(problem), lambda: gopfast.optima(problem),
        lambda: problem.responsibilities([0.3, 0.3, 0.4], [0.0, 4.0, 8.0]), lambda: gopfast.bootstrap(found, 2),
        lambda: gopfast.lrt(problem, 2), lambda: gopfast.select(X, [1, 2], model=LargeGaussianMixture),
    ):  # fmt: skip
        with pytest.raises(InputError, match="in chunks"):
            ask()
    assert len(found.predict(X[:5])) == 5
    assert gopfast.certify(problem, found, log=False).verdict == "PROVED"
    far = gopfast.certify(problem, {"weights": [0.3, 0.3, 0.4], "means": [[0.0], [4.0], [7.0]]}, log=False)
    assert far.verdict == "BEATEN"


def test_a_result_is_pickled_without_the_data():
    found = gopfast.solve(LargeGaussianMixture(chunks(lambda: [X[:3000]]), 3, covariance="known"), log=False)
    copied = pickle.loads(pickle.dumps(found))
    assert (copied.objective, len(copied.solution.problem.X)) == (found.objective, len(found.solution.problem.X))
    with pytest.raises(InputError, match="the data stay where they were opened"):
        gopfast.solve(copied.solution.problem, log=False)
    with pytest.raises(InputError, match="the data stay where they were opened"):
        copied.solution.problem.objective(copied.solution.weights, copied.solution.means)


def test_data_that_change_are_noticed():
    read = []

    def factory():
        read.append(1)
        yield X[: 3000 - len(read)]

    with pytest.raises(InputError, match="X must have the same rows each time; it had 2,999 and then 2,998"):
        solved(factory)


# Files

@pytest.fixture
def table():
    rng = np.random.default_rng(2)
    return {"name": list("ab") * 500, "x": rng.normal(size=1000), "y": rng.integers(0, 9, 1000)}


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_are_read_by_pyarrow(kind, table, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / f"data.{kind}"
    writer, name = {"parquet": ("pyarrow.parquet", "write_table"), "csv": ("pyarrow.csv", "write_csv")}[kind]
    write = getattr(importlib.import_module(writer), name)
    write(arrow.table(table), path)
    read = getattr(gopfast.data, kind)
    rows = read(path, ["y", "x"])
    np.testing.assert_allclose(np.concatenate([part.copy() for part in rows]), np.c_[table["y"], table["x"]])
    assert LargeGaussianMixture(rows, 2).column_names == ["y", "x"]
    with pytest.raises(InputError, match="columns must be of 'name', 'x', 'y'; got 'z'"):
        read(path, ["z"])
    with pytest.raises(InputError, match="column 'name' holds no numbers|conversion error"):
        list(read(path))
    with pytest.raises(InputError, match="absent"):
        read(tmp_path / "absent", ["x"])
    table["x"] = [None, *table["x"][1:]]
    write(arrow.table(table), path)
    with pytest.raises(InputError, match="X must be finite"):
        gopfast.solve(LargeGaussianMixture(read(path, ["x"]), 2), log=False)


@pytest.mark.parametrize(
    ("make", "error", "wanted"),
    [
        (lambda: LargeGaussianMixture(np.zeros((5, 4)), 2), InputError, "X must have 1 to 3 columns.*; got 4"),
        (lambda: LargeGaussianMixture(X, 2, covariance="full"), InputError, "covariance must be one of 'known'"),
        (lambda: LargeGaussianMixture(X, 2, sample_weight=np.ones((9, 2))), InputError, "sample_weight must have one"),
        (lambda: solved([X], sample_weight=np.ones(9)), InputError, "sample_weight must have one entry for each row"),
        (lambda: solved([X[:9]], sample_weight=-np.ones(9)), InputError, "sample_weight must be finite and at least 0"),
        (lambda: solved([X[:9]], sample_weight=np.zeros(9)), InputError, "X must have at least one row"),
        (lambda: solved([np.ma.array([1.0, 2.0], mask=[0, 1])]), InputError, "masked"),
        (lambda: LargeGaussianMixture(np.zeros((5, 2, 2)), 2), InputError, "X must have shape"),
        (lambda: LargeGaussianMixture(["a", "b"], 2), InputTypeError, "X must be an array of real numbers"),
        (lambda: LargeGaussianMixture(X, 0), InputError, "n_components must be"),
        (lambda: LargeGaussianMixture(X, 2, noise_variance=-1.0), InputError, "noise_variance must be"),
        (lambda: chunks([X]), InputTypeError, "factory must be callable; got list"),
        (lambda: chunks(lambda: [X], 0), InputError, "n_columns must be"),
        (lambda: solved([np.array([1.0, np.nan])]), InputError, "X must be finite"),
        (lambda: solved([np.array([1.0, np.inf])]), InputError, "X must be finite"),
        (lambda: solved([np.array(["a"])]), InputTypeError, "a chunk has dtype"),
        (lambda: solved([np.zeros((3, 2))]), InputError, r"X must have chunks of shape \(m, 1\)"),
        (lambda: solved([np.zeros(2)]), InputError, "n_components must be at most the number of samples, 2"),
        (lambda: solved([X], relaxation="linear"), InputError, "relaxation must be None or 'entropic'"),
        (lambda: solved([X], proof="x"), InputError, "proof must be None for data in chunks"),
    ],
)
def test_bad_input_is_named(make, error, wanted):
    with pytest.raises(error, match=wanted):
        make()


def solved(parts, sample_weight=None, **options):
    factory = parts if callable(parts) else lambda: parts
    problem = LargeGaussianMixture(chunks(factory), 3, covariance="known", sample_weight=sample_weight)
    return gopfast.solve(problem, log=False, **options)
