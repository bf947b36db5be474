"""`gopfast fit --checkpoint` and `gopfast resume`, in the terminal."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gopfast
from gopfast import cli

DATA = Path(gopfast.__file__).resolve().parent / "datasets"
GALAXIES, FAITHFUL = str(DATA / "galaxies.csv"), str(DATA / "faithful.csv")


@pytest.fixture
def stopped(tmp_path):
    path = str(tmp_path / "search.checkpoint")
    assert cli.main(["fit", GALAXIES, "-k", "4", "-q", "--time-limit", "0.02", "--checkpoint", path]) == 1
    return path


def test_a_fit_goes_on(stopped, tmp_path, capsys):
    capsys.readouterr()
    found = str(tmp_path / "fit.json")
    assert cli.main(["resume", stopped, GALAXIES, "-q", "--json", found]) == 0
    out, _ = capsys.readouterr()
    assert "OPTIMAL" in out and "covariance='diag'" in out and "columns velocity_km_s" in out
    record = json.loads(Path(found).read_text())
    assert cli.main(["fit", GALAXIES, "-k", "4", "-q", "--json", found]) == 0
    whole = json.loads(Path(found).read_text())
    assert record["model"] == whole["model"]
    # a limit of time is also one of the first local search: another solution, no worse than the bounds allow
    assert max(record["lower_bound"], whole["lower_bound"]) <= min(record["objective"], whole["objective"]) + 1e-9
    assert abs(record["objective"] - whole["objective"]) <= 0.01

    # a limit of nodes changes nothing
    path, problem = str(tmp_path / "nodes.checkpoint"), gopfast.GaussianMixture(gopfast.datasets.load_galaxies(), 4)
    assert gopfast.solve(problem, max_nodes=500, checkpoint=path, log=False).status == "NODE_LIMIT"
    assert cli.main(["resume", path, GALAXIES, "-q", "--json", found]) == 0
    assert json.loads(Path(found).read_text())["objective"] == pytest.approx(whole["objective"], abs=1e-9)


def test_the_data_are_read_from_where_they_were(tmp_path, monkeypatch, capsys):
    """And as they were: by the same columns, whatever the folder that is worked in."""
    data, path = tmp_path / "data.txt", str(tmp_path / "search.checkpoint")
    rows = [f"{i};{x / 1000:.4f}".replace(".", ",") for i, x in enumerate(gopfast.datasets.load_galaxies().ravel())]
    data.write_text("number;x\n" + "\n".join(rows))
    monkeypatch.chdir(tmp_path)
    given = ["data.txt", "--columns", "x", "--separator", ";", "--decimal", ","]
    assert cli.main(["fit", *given, "-k", "4", "-q", "--time-limit", "0.02", "--checkpoint", path]) == 1
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    capsys.readouterr()
    assert cli.main(["resume", path, "-q"]) == 0
    alone = capsys.readouterr().out
    assert "OPTIMAL" in alone and "columns x" in alone
    X = gopfast.datasets.load_galaxies() / 1000
    assert gopfast.resume(path, np.round(X, 4), log=False).success  # what tells the data does not say where they are
    data.unlink()
    assert cli.main(["resume", path, "-q"]) == 2
    assert "data.txt: No such file" in capsys.readouterr().err
    gopfast.solve(gopfast.GaussianMixture(X, 3), checkpoint=path, max_nodes=5, log=False)
    assert cli.main(["resume", path, "-q"]) == 2
    assert "does not say where its data are: give their file" in capsys.readouterr().err


def test_a_limit_of_a_resumed_search_names_no_gap_that_nobody_asked_for(stopped, capsys):
    assert cli.main(["resume", stopped, GALAXIES, "-q", "--time-limit", "0.01"]) == 1
    assert "above the optimum. Give more time" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["resume", "{stopped}", FAITHFUL], "a search of other data than those given: variance_floor"),
        (["resume", "{absent}", GALAXIES], "No such file"),
        (["resume", FAITHFUL, GALAXIES], "damaged, or no checkpoint of gopfast"),
        (["resume", GALAXIES, GALAXIES], "would overwrite the data"),
        (["fit", GALAXIES, "-k", "3", "--checkpoint", GALAXIES], "would overwrite the data"),
        (["fit", GALAXIES, "-k", "3", "--memory-limit", "3PB"], "memory_limit must be bytes or text"),
        (["fit", GALAXIES, "-k", "3", "--workers", "0"], "--workers must be an integer of at least 1"),
        (["fit", GALAXIES, "-k", "3", "--spill", GALAXIES], "spill: .* is no folder"),
    ],
)
def test_what_cannot_be_is_one_line(arguments, wanted, stopped, tmp_path, capsys):
    capsys.readouterr()
    given = [one.format(stopped=stopped, absent=tmp_path / "absent") for one in arguments]
    assert cli.main([*given, "-q"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(wanted, error)


def test_workers_prove_the_same(capsys):
    assert cli.main(["fit", FAITHFUL, "-k", "2", "-q", "--workers", "2", "--memory-limit", "4GB"]) == 0
    assert "OPTIMAL" in capsys.readouterr().out


def test_sigterm_ends_with_the_bounds_and_a_checkpoint(tmp_path):
    path = str(tmp_path / "search.checkpoint")
    environment = {**os.environ, "PYTHONPATH": str(DATA.parents[1])}
    command = [sys.executable, "-m", "gopfast", "fit", FAITHFUL, "-k", "4", "--time-limit", "none", "--epsilon", "1e-9",
               "--threads", "1", "--checkpoint", path, "--checkpoint-every", "0.05"]  # fmt: skip
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    )
    while not os.path.exists(path):
        assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "INTERRUPTED" in out and "lower bound" in out
    assert cli.main(["resume", path, FAITHFUL, "-q", "--time-limit", "0.1"]) == 1
