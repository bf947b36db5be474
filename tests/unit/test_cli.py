"""The command line as a new user would try it: answers, files, exit codes, errors."""

import io
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
from gopfast import cli, comparison
from gopfast.arguments import parser as parser_of
from gopfast.report import Progress

DATA = Path(gopfast.__file__).resolve().parent / "datasets"
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
    assert cli.main(["fit", hard, "-k", "4", "--time-limit", "0.1", "-q"]) == 1
    out, err = capsys.readouterr()
    assert "TIME_LIMIT" in out
    gap = re.search(r"gap ([^)]+)\)", out).group(1)
    assert err.startswith("gopfast: warning: not proved: the time limit of 0.1 s came first; ") and err.count("\n") == 1
    assert f"at most {gap} nats above the optimum" in err and "--time-limit 600, or none" in err


def test_certify_and_compare_say_that_time_ran_out(tmp_path, capsys, hard, em_only):
    path = str(tmp_path / "fit.json")
    cli.main(["fit", hard, "-k", "3", "--time-limit", "3", "--json", path, "-q"])  # one that is hard to beat
    capsys.readouterr()
    for command in (["certify", hard, path, "--epsilon", "5"], ["compare", hard, "-k", "3", "--starts", "1"]):
        assert cli.main([*command, "--time-limit", "0.1", "-q"]) == 1
        assert "warning: not proved: the time limit of 0.1 s came first" in capsys.readouterr().err


COMMANDS = ("fit", "resume", "certify", "compare", "select", "solve", "check", "kmeans", "classes", "mixed",
            "regress", "clusterwise")  # fmt: skip
LIMITED = [
    "fit x -k 2", "resume y x", "certify x y", "compare x -k 2", "kmeans x -k 2", "classes x -k 2", "mixed x -k 2",
    "select x", "regress x -k 2 --response y", "clusterwise x -k 2 --response y",
]  # fmt: skip


@pytest.mark.parametrize("command", LIMITED)
def test_the_time_limit_is_finite_unless_lifted(command):
    parser = parser_of(*(getattr(cli, name) for name in COMMANDS))
    assert parser.parse_args(command.split()).time_limit == 60.0
    assert parser.parse_args([*command.split(), "--time-limit", "none"]).time_limit is None
    assert parser.parse_args([*command.split(), "--time-limit", "5"]).time_limit == 5.0


def test_select_chooses_and_writes(capsys, tmp_path):
    out, galaxies = tmp_path / "choice.json", str(DATA / "galaxies.csv")
    options = ["--variance-floor", "90000", "--threads", "1", "-q", "--json", str(out)]
    assert cli.main(["select", galaxies, "-k", "2-4", *options]) == 0
    printed, err = capsys.readouterr()
    assert "PROVED: diag, 3 components by BIC" in printed and "weight" in printed and err == ""
    record = json.loads(out.read_text())
    assert (record["covariance"], record["n_components"], record["columns"]) == ("diag", 3, ["velocity_km_s"])
    assert len(record["candidates"]) == 6 and len(record["result"]["solution"]["weights"]) == 3
    assert cli.main(["select", galaxies, "-k", "3,2", "--covariance", "diag", "--criterion", "aic", *options]) == 0
    assert "by AIC" in capsys.readouterr().out
    assert cli.main(["select", galaxies, "-k", "2-3", "--time-limit", "0", *options]) == 1
    assert "UNDECIDED" in capsys.readouterr().out
    for bad in ["0-3"], ["3-x"], ["3-1"], ["1-3", "--covariance", "round"], ["1-3", "--jobs", "0"]:
        assert cli.main(["select", galaxies, "-k", *bad]) == 2
        assert "error" in capsys.readouterr().err


def test_labels_and_the_summary_are_written(capsys, tmp_path):
    path = tmp_path / "labels.csv"
    assert cli.main(["fit", FAITHFUL, "-k", "2", "-q", "--labels", str(path), "--summary"]) == 0
    assert "BIC" in (printed := capsys.readouterr().out) and "std. error" in printed
    lines = path.read_text().splitlines()
    assert lines[0] == "component,p0,p1" and len(lines) == 273
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    np.testing.assert_allclose(rows[:, 1:].sum(axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(rows[:, 0], rows[:, 1:].argmax(axis=1))
    assert cli.main(["fit", FAITHFUL, "-k", "2", "-q", "--labels", str(tmp_path)]) == 2
    choice = ["select", FAITHFUL, "-k", "2", "--covariance", "tied", "-q", "--labels", str(path)]
    assert cli.main(choice) == 0 and len(path.read_text().splitlines()) == 273


def test_the_default_time_limit_is_finite(capsys, monkeypatch):
    asked = []

    def solve(problem, **options):
        asked.append((options["time_limit"], options["log"]))
        return real(problem, **options)

    real = gopfast.solve
    monkeypatch.setattr(gopfast, "solve", solve)
    cli.main(["fit", MINIMAL, *BAYES, "-q"])
    cli.main(["fit", MINIMAL, *BAYES, "-q", "--time-limit", "inf"])
    cli.main(["fit", MINIMAL, "-k", "2", "-q", "--covariance-type", "tied"])
    assert asked == [(60.0, False), (float("inf"), False), (60.0, False)]
    assert "covariance='tied'" in capsys.readouterr().out


@pytest.mark.parametrize(
    "model",
    [["--prior", "empirical"], ["--prior", "50"], ["--prior", "50", "--posterior", "gaussian"],
     ["--noise-variance", "4"], ["--variance-floor", "2"], ["--covariance", "tied"], ["--covariance-type", "tied"]],
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
        (["certify", "-", "-"], "cannot both come from standard input"),
        (["fit", sys.executable, "-k", "2"], "not a text file"),
        (["fit", MINIMAL, "-k", "2", "--json", MINIMAL], "would overwrite the data"),
        (["fit", MINIMAL, "-k", "2", "--time-limit", "-1"], "time_limit"),
        (["fit", MINIMAL, "-k", "2", "--epsilon", "nan"], "epsilon"),
        (["fit", MINIMAL, "-k", "2", "--separator", ";", "--columns", "z"], "no column 'z'"),
    ],
    ids=str,
)
def test_wrong_input_is_exit_code_2_and_one_line(capsys, arguments, message):
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gopfast: error: ") and err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n", "no data"),
        ("a,b\n1,2\n", "n_components must be an integer from 1 to 1"),
        ("a,b\n1,1e400\n3,4\n", "line 2, column 'b': '1e400' is too large"),
        ("a,b\n1,2\n3,setosa\n", "line 3, column 'b': 'setosa' is not a number; correct it, or choose columns of"),
        ("a,b\n1,2\n3,NA\n", "--na drop"),
        ("petal\n1,4\n1,5\n", "--decimal ,"),
        ('"a\nb",c\n1,2\n3,x\n', "column 'c'"),
        (b"a\0b", "not a text file"),
    ],
    ids=repr,
)
def test_bad_data_are_exit_code_2_and_one_line(tmp_path, capsys, text, message):
    path = tmp_path / "data.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert cli.main(["fit", str(path), "-k", "2"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"gopfast: error: {path}" if "n_comp" not in message else "gopfast: error: ")
    assert message in err and err.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text("1\n2\n")
    path.chmod(0)
    assert cli.main(["fit", str(path), "-k", "1"]) == 2
    assert "Permission denied" in capsys.readouterr().err
    path.chmod(0o400)
    assert cli.main(["fit", MINIMAL, "-k", "1", "--json", str(path)]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "[1]", "{}", '{"weights": 3}', '{"weights": [1.0], "model": {"k": 1}}', "[" * 100_000,
        f'{{"weights": [{"9" * 6000}]}}', '{"weights": [1.0], "columns": 3}', '{"weights": [1.0], "columns": [1]}',
    ],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_what_is_no_record_of_a_fit_is_refused(tmp_path, capsys, text):
    path = tmp_path / "fit.json"
    path.write_text(text)
    assert cli.main(["certify", MINIMAL, str(path)]) == 2
    err = capsys.readouterr().err
    assert str(path) in err and err.count("\n") == 1


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
    text, warning = stream.getvalue().split("gopfast: warning: ")
    assert warning.endswith("\n")
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


def test_the_ways_to_read_a_file_are_options(tmp_path, capsys):
    path = tmp_path / "messwerte.csv"
    path.write_text("art;x;y\nA;1,5;0\nB;NA;1\nC;2,5;0\nD;4,5;0\n", encoding="utf-16")
    options = ["--decimal", ",", "--separator", "semicolon", "--header", "yes", "--na", "drop", "--columns", "x"]
    assert cli.main(["fit", str(path), "-k", "1", "-q", *options]) == 0
    out = capsys.readouterr().out
    assert "3 samples, columns x (separated by semicolons, decimal commas, 1 line with missing values left out)" in out
    assert re.search(r"1\.0000 +2\.83333", out)


def test_names_with_commas_are_quoted_in_columns(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text('"length, cm",kind\n1,a\n2,b\n')
    assert cli.main(["fit", str(path), "-k", "1", "-q", "--columns", '"length, cm"']) == 0
    assert "columns length, cm" in capsys.readouterr().out


@pytest.mark.parametrize("separator", ["", "ab", "1", ".", '"'])
def test_a_wrong_separator_is_wrong_usage(capsys, separator):
    assert cli.main(["fit", MINIMAL, "-k", "2", "--separator", separator]) == 2
    assert "--separator" in capsys.readouterr().err


def test_data_from_standard_input_and_json_to_standard_output(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(MINIMAL).read_bytes())))
    assert cli.main(["fit", "-", *BAYES, "-q", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    record = json.loads(out)
    assert (record["status"], record["n_samples"], record["n_dropped"]) == ("OPTIMAL", 4, 0)
    assert err.startswith("standard input: 4 samples, columns y\n") and "OPTIMAL" in err


def test_a_column_that_counts_the_lines_is_warned_of(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text("id,x\n1,5\n2,6\n3,7\n4,9\n5,1\n")
    assert cli.main(["fit", str(path), "-k", "1", "-q"]) == 0
    assert capsys.readouterr().err.startswith("gopfast: warning: column 'id' only counts the lines")
    cli.main(["fit", str(path), "-k", "1", "-q", "--columns", "x"])
    assert capsys.readouterr().err == ""


def run(*arguments, **options):
    """Run the command in a process of its own, where the installed package is found."""
    return subprocess.run(
        [sys.executable, "-m", "gopfast", *arguments], text=True, stderr=subprocess.PIPE,
        cwd=Path(gopfast.__file__).resolve().parents[1], **options,
    )  # fmt: skip


def test_python_m_gopfast():
    done = run("--version", stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, f"gopfast {gopfast.__version__}\n")


def test_names_that_the_terminal_cannot_show_are_escaped(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("caf\u00e9\n1\n2\n4\n", encoding="utf-8")
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = run("fit", str(path), "-k", "1", "-q", stdout=subprocess.PIPE, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert "columns caf\\xe9" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_disk_is_told_in_one_line_and_the_result_printed():
    done = run("fit", MINIMAL, *BAYES, "-q", "--json", "/dev/full", stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, "gopfast: error: /dev/full: No space left on device\n")
    assert "84.030159" in done.stdout
    with open("/dev/full", "w") as full:
        done = run("fit", MINIMAL, *BAYES, "-q", stdout=full)
    assert (done.returncode, done.stderr) == (2, "gopfast: error: standard output: No space left on device\n")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-"])
def test_closed_streams(closed):
    command = f'exec "{sys.executable}" -m gopfast fit {"-" if closed[0] == "<" else MINIMAL} -k 2 {closed}'
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, cwd=Path(gopfast.__file__).resolve().parents[1]
    )
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == (2 if closed[0] == "<" else 0)


def test_a_summary_names_the_columns_of_the_header(tmp_path, capsys):
    path = tmp_path / "sizes.csv"
    path.write_text("length,width\n" + "".join(f"{a},{b}\n" for a, b in [(1, 2), (2, 1), (8, 9), (9, 8), (1.5, 1.5)]))
    assert cli.main(["fit", str(path), "-k", "2", "--summary"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[2] for row in rows if row[1:2] == ["mean"] and len(row) == 5] == ["length", "width"] * 2
