"""The command on .npy and .parquet files: as on text, and in chunks where they are large."""

import importlib
import json
import pickle

import numpy as np
import pytest

from gopfast import binary, cli
from gopfast.mixtures.problems.large import LargeGaussianMixture

X = 4.0 * np.random.default_rng(0).integers(0, 3, 3000) + np.random.default_rng(1).normal(size=3000)
MODEL = ["-k", "3", "--covariance", "known", "--noise-variance", "1", "-q", "--threads", "1"]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "big.npy"
    np.save(path, np.c_[X, -X].astype(np.float32))
    return str(path)


def run(capsys, *arguments):
    code = cli.main(list(arguments))
    return code, capsys.readouterr()


def test_small_arrays_are_fitted_in_memory_and_large_ones_in_chunks(file, tmp_path, capsys, monkeypatch):
    record = str(tmp_path / "fit.json")
    code, whole = run(capsys, "fit", file, *MODEL, "--columns", "x1", "--json", record)
    assert code == 0 and "3,000 samples, columns x1" in whole.out
    small = json.loads((tmp_path / "fit.json").read_text())
    monkeypatch.setattr(binary, "MOST_IN_MEMORY", 1000)
    others = ("--json", record, "--summary", "--memory-limit", "2GB")
    code, chunked = run(capsys, "fit", file, *MODEL, "--columns", "2", *others)
    assert code == 0 and "LargeGaussianMixture(n_samples=3000" in chunked.out
    large = json.loads((tmp_path / "fit.json").read_text())
    assert large["n_samples"] == 3000
    assert large["objective"] == pytest.approx(small["objective"], abs=0.01)
    np.testing.assert_allclose(large["solution"]["means"], small["solution"]["means"], atol=1e-3)
    code, failed = run(capsys, "fit", file, *MODEL, "--labels", str(tmp_path / "labels.csv"))
    assert code == 2 and "is read in chunks" in failed.err


@pytest.mark.parametrize("most", [1000, 10_000])
def test_a_stopped_fit_of_an_array_goes_on(most, file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(binary, "MOST_IN_MEMORY", most)
    path = str(tmp_path / "c")
    whole = run(capsys, "fit", file, *MODEL)[1].out
    from gopfast.mixtures import solve

    run_once = solve.MixtureSearch.run
    monkeypatch.setattr(solve.MixtureSearch, "run", lambda self, limit, nodes: run_once(self, limit, 50))
    assert run(capsys, "fit", file, *MODEL, "--checkpoint", path)[0] == 1
    monkeypatch.setattr(solve.MixtureSearch, "run", run_once)
    code, resumed = run(capsys, "resume", path, file, "-q", "--threads", "1")
    assert code == 0
    objective = [line for line in whole.splitlines() if "objective" in line]
    assert objective[0] in resumed.out


def test_workers_fit_an_array_in_chunks(file, capsys, monkeypatch):
    monkeypatch.setattr(binary, "MOST_IN_MEMORY", 1000)
    made = []
    prepare = LargeGaussianMixture.summarised
    monkeypatch.setattr(
        LargeGaussianMixture, "summarised", lambda self, *given: made.append(prepare(self, *given)) or made[-1]
    )
    for columns in ("x0", "x1", "x1,x0", "x0,x1"):
        code, printed = run(capsys, "fit", file, *MODEL, "--workers", "2", "--columns", columns, "--epsilon", "1")
        assert code == 0 and "executor" not in printed.out  # workers open the file
        array = np.load(file)[:, [int(name[1]) for name in columns.split(",")]]
        np.testing.assert_array_equal(np.concatenate([part.copy() for part in made[-1].source]), array)
        assert made[-1].parts.pool.executor is not None
    assert len(made) == 4


def test_columns_at_unequal_steps_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(binary, "MOST_IN_MEMORY", 100)
    array = np.random.default_rng(0).normal(size=(500, 6))
    np.save(tmp_path / "x.npy", array)
    for places in ((1, 2, 6), (6, 3, 1), (1, 3, 5), (5, 3, 1), (4,), (2, 2), (3, 1)):
        table = binary.read_binary(str(tmp_path / "x.npy"), [str(place) for place in places], in_chunks=True)
        found = np.concatenate([part.copy() for part in table.data])
        np.testing.assert_array_equal(found, array[:, np.array(places) - 1])
        if table.data.rows is not None:  # as another process opens it
            opened = pickle.loads(pickle.dumps(table.data.rows))
            np.testing.assert_array_equal(np.concatenate(list(opened.read(7, 450))).reshape(443, -1), found[7:450])


def test_parquet_files_are_fitted(tmp_path, capsys, monkeypatch):
    arrow = pytest.importorskip("pyarrow")
    path = str(tmp_path / "data.parquet")
    importlib.import_module("pyarrow.parquet").write_table(arrow.table({"name": ["a"] * 3000, "x": X}), path)
    code, whole = run(capsys, "fit", path, *MODEL, "--columns", "x")
    assert code == 0 and "columns x" in whole.out
    monkeypatch.setattr(binary, "MOST_IN_MEMORY", 1000)
    code, chunked = run(capsys, "fit", path, *MODEL, "--columns", "2")
    assert code == 0 and "LargeGaussianMixture" in chunked.out
    code, failed = run(capsys, "fit", path, *MODEL)
    assert code == 2 and "column 'name' holds no numbers" in failed.err


def test_bad_files_are_named(tmp_path, capsys):
    path = tmp_path / "x.npy"
    for content, wanted in (
        (np.array(["a"]), "real numbers"), (np.zeros((2, 2, 2)), "shape"), (np.empty((0, 1)), "no rows"),
        (np.array([0.0, np.nan]), "column 'x' has what is no number"),
    ):  # fmt: skip
        np.save(path, content)
        code, failed = run(capsys, "fit", str(path), "-k", "2", "-q")
        assert code == 2 and wanted in failed.err and "x.npy" in failed.err
    path.write_text("1\n2\n")
    assert "no array of NumPy" in run(capsys, "fit", str(path), "-k", "2", "-q")[1].err
    assert "No such file" in run(capsys, "fit", str(tmp_path / "y.npy"), "-k", "2", "-q")[1].err
    np.save(path, X)
    assert "there is no column 'z'" in run(capsys, "fit", str(path), "-k", "2", "-q", "--columns", "z")[1].err
