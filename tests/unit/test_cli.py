"""The command line as a new user would try it: answers, files, exit codes, errors."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gopfast
from gopfast import cli, comparison
from gopfast.report import Progress

DATA = Path(__file__).resolve().parents[2] / "bench" / "data"
MINIMAL, FAITHFUL = str(DATA / "minimal.csv"), str(DATA / "faithful.csv")
BAYES = ["-k", "2", "--prior", "empirical"]


@pytest.fixture
def hard(tmp_path):
    """A file whose proof takes far longer than any test."""
    path = tmp_path / "hard.csv"
    np.savetxt(path, np.random.default_rng(0).standard_normal((200, 5)), delimiter=",")
    return str(path)


@pytest.fixture
def em_only(monkeypatch):
    monkeypatch.setattr(comparison, "methods", lambda: {"em": gopfast.local.em})
    monkeypatch.setattr(comparison, "starts", lambda: {"samples": gopfast.local.start})


def test_fit_prints_the_result_and_returns_proved(capsys):
    assert cli.main(["fit", MINIMAL, *BAYES]) == 0
    out, err = capsys.readouterr()
    assert "OPTIMAL" in out and "84.030159" in out and "columns y" in out
    assert "<= global optimum <=" in err  # the plain log


def test_quiet_prints_no_progress(capsys):
    cli.main(["fit", MINIMAL, *BAYES, "--quiet"])
    assert capsys.readouterr().err == ""


def test_variances_are_estimated_unless_the_model_needs_them_known(capsys):
    cli.main(["fit", MINIMAL, "-k", "2", "-q"])
    assert "covariance='diag'" in capsys.readouterr().out
    cli.main(["fit", MINIMAL, "-k", "2", "-q", "--noise-variance", "4"])
    assert "covariance=" not in capsys.readouterr().out


def test_a_limit_is_exit_code_1(capsys, hard):
    assert cli.main(["fit", hard, "-k", "4", "--time-limit", "0.1"]) == 1
    assert "TIME_LIMIT" in capsys.readouterr().out


@pytest.mark.parametrize(
    "model",
    [["--prior", "empirical"], ["--prior", "50"], ["--prior", "50", "--posterior", "gaussian"],
     ["--noise-variance", "4"], ["--variance-floor", "2"], ["--covariance", "tied"]],
    ids=" ".join,
)  # fmt: skip
def test_fit_and_certify_go_round(tmp_path, capsys, model):
    path = str(tmp_path / "fit.json")
    assert cli.main(["fit", MINIMAL, "-k", "2", *model, "--json", path]) == 0
    record = json.loads(Path(path).read_text())
    assert record["columns"] == ["y"]
    assert record["model"]["n_components"] == 2
    assert cli.main(["certify", MINIMAL, path]) == 0
    assert "PROVED" in capsys.readouterr().out
    record["solution"]["means"] = [[0.0], [1.0]]
    record["solution"].pop("prior_variance", None)
    Path(path).write_text(json.dumps(record))
    assert cli.main(["certify", MINIMAL, path]) == 3
    assert "BEATEN" in capsys.readouterr().out


def test_certify_takes_a_fit_made_elsewhere(tmp_path, capsys):
    path = tmp_path / "other.json"
    path.write_text('{"weights": [0.5, 0.5], "means": [-10, 15]}')
    assert cli.main(["certify", MINIMAL, str(path), "-q"]) == 3
    assert cli.main(["certify", MINIMAL, str(path), "-q", "--prior", "empirical"]) == 3
    out = capsys.readouterr().out
    assert "posterior" not in out and "prior variance" in out
    path.write_text('{"weights": [0.5, 0.5], "means": [-10, 15], "covariances": [[1], [1]]}')
    assert cli.main(["certify", MINIMAL, str(path), "-q", "--variance-floor", "1"]) == 3


def test_certify_without_time_is_undecided(tmp_path, capsys, hard):
    path = str(tmp_path / "fit.json")
    cli.main(["fit", hard, "-k", "3", "--time-limit", "0.2", "--json", path])
    assert cli.main(["certify", hard, path, "--time-limit", "0"]) == 1
    assert "UNDECIDED" in capsys.readouterr().out


def test_columns_by_name_are_kept_for_certify(tmp_path, capsys):
    path = str(tmp_path / "fit.json")
    model = ["--columns", "waiting_min", "--noise-variance", "36", "-k", "2", "-q"]
    assert cli.main(["fit", FAITHFUL, *model, "--json", path]) == 0
    assert cli.main(["certify", FAITHFUL, path, "-q"]) == 0


def test_pictures_are_written(tmp_path, capsys, em_only):
    pytest.importorskip("matplotlib")
    for command, name in (("fit", "bounds.png"), ("compare", "optima.svg")):
        extra = ["--starts", "3"] if command == "compare" else []
        assert cli.main([command, MINIMAL, *BAYES, *extra, "-q", "--plot", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 1000


def test_compare_tells_how_often_each_method_misses(tmp_path, capsys, em_only):
    path = tmp_path / "comparison.json"
    assert cli.main(["compare", MINIMAL, *BAYES, "--starts", "40", "-q", "--json", str(path)]) == 0
    assert "proved optimum 84.030159" in capsys.readouterr().out
    rows = json.loads(path.read_text())["rows"]
    assert [(row["method"], row["start"], len(row["objectives"])) for row in rows] == [("em", "samples", 40)]
    assert 0 < rows[0]["n_missed"] < 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.csv", "-k", "2"], "none.csv: No such file"),
        (["fit", str(DATA), "-k", "2"], "directory"),
        (["fit", FAITHFUL, "-k", "2", "--columns", "x"], "no column 'x'; its columns are eruption_min, waiting_min"),
        (["fit", MINIMAL, "-k", "9"], "n_components must be an integer from 1 to 4"),
        (["fit", MINIMAL, "-k", "2", "--epsilon", "0"], "epsilon"),
        (["fit", MINIMAL, "-k", "2", "--prior", "-1"], "prior"),
        (["fit", MINIMAL, "-k", "2", "--prior", "1", "--covariance", "diag"], "prior"),
        (["fit", MINIMAL, "-k", "2", "--variance-floor", "1,2"], "variance_floor"),
        (["fit", MINIMAL, "-k", "2", "--json", "nowhere/fit.json"], "nowhere/fit.json: cannot be written"),
        (["fit", MINIMAL, "-k", "2", "--plot", "bounds.xyz"], "--plot must end with one of"),
        (["certify", MINIMAL, "none.json"], "none.json: No such file"),
        (["certify", MINIMAL, MINIMAL], "not JSON"),
    ],
    ids=str,
)
def test_wrong_input_is_exit_code_2_and_one_line(capsys, arguments, message):
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gopfast: error: ") and err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize("text", ["[1]", "{}", '{"weights": 3}', '{"weights": [1.0], "model": {"k": 1}}'])
def test_what_is_no_record_of_a_fit_is_refused(tmp_path, capsys, text):
    path = tmp_path / "fit.json"
    path.write_text(text)
    assert cli.main(["certify", MINIMAL, str(path)]) == 2
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [[], ["guess"], ["fit", MINIMAL], ["fit", MINIMAL, "-k", "two"], ["fit", MINIMAL, "-k", "2", "--prior", "flat"],
     ["fit", MINIMAL, "-k", "2", "--covariance", "round"], ["fit", MINIMAL, "-k", "2", "--noise-variance", "1,x"]],
    ids=str,
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(capsys, arguments):
    assert cli.main(arguments) == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["fit"], ["certify"], ["compare"]], ids=str)
def test_help_has_exit_codes_and_examples(capsys, command):
    assert cli.main([*command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "exit codes:" in text and "130" in text
    assert not command or "examples:" in text


def test_a_terminal_gets_one_line_that_is_rewritten_and_then_cleared(monkeypatch, capsys, hard):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "120")
    cli.main(["fit", hard, "-k", "3", "--time-limit", "0.5"])
    text = stream.getvalue()
    first, *others = text.split("\r\x1b[K")[1:-1]
    assert first == "local search ..."
    assert others
    assert all(len(part) < 120 and "/s)" in part for part in others)
    assert "\n" not in text
    assert text.endswith("\r\x1b[K")


def test_the_live_line_has_bounds_gap_open_nodes_and_speed():
    line = cli.live_line(Progress(2.0, 5000, 120, 83.5, 84.25, 0.75, False))
    for part in ("bounds 83.5 .. 84.25", "gap 0.75", "120 open", "5,000 nodes (2,500/s)", "2.0 s"):
        assert part in line


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("command", ["fit", "compare"])
def test_ctrl_c_prints_the_result_so_far_and_is_exit_code_130(hard, command):
    package = Path(gopfast.__file__).resolve().parents[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "gopfast.cli", command, hard, "-k", "4"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=package,  # not where the source tree would be found
    )  # fmt: skip
    # The search runs as soon as its first row is logged.
    for _ in range(2):
        process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert ("INTERRUPTED" if command == "fit" else "best known (not proved)") in out


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX pipes")
def test_output_that_nobody_reads_is_exit_code_141_and_files_are_written(tmp_path):
    package = Path(gopfast.__file__).resolve().parents[1]
    reader, writer = os.pipe()
    os.close(reader)
    record = tmp_path / "fit.json"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gopfast.cli", "fit", MINIMAL, *BAYES, "-q", "--json", str(record)],
            stdout=writer, stderr=subprocess.PIPE, text=True, cwd=package, env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
    assert json.loads(record.read_text())["status"] == "OPTIMAL"


def test_a_decimal_comma_is_told(tmp_path, capsys):
    path = tmp_path / "comma.csv"
    path.write_text("x;y\n1,5;2\n")
    assert cli.main(["fit", str(path), "-k", "1"]) == 2
    assert "line 2, column 'x': '1,5' is not a number; for decimal commas: --decimal ," in capsys.readouterr().err
