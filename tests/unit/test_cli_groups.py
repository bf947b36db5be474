"""The commands for clusters and latent classes: what they read, print, write and return."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import gopfast
from gopfast import cli
from gopfast.errors import InputError
from gopfast.reading.labels import read_labels

DATA = Path(gopfast.__file__).resolve().parent / "datasets"
FAITHFUL, CARCINOMA = str(DATA / "faithful.csv"), str(DATA / "labels" / "carcinoma.csv")


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "data.csv"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return written


def test_kmeans_prints_and_writes_what_solve_returns(capsys, tmp_path):
    record, labels = tmp_path / "clusters.json", tmp_path / "clusters.csv"
    assert cli.main(["kmeans", FAITHFUL, "-k", "3", "-q", "--json", str(record), "--labels", str(labels)]) == 0
    out, err = capsys.readouterr()
    result = gopfast.solve(gopfast.KMeans(gopfast.datasets.load_faithful(), 3))
    assert f"{result.inertia:.8g}" in out and "OPTIMAL" in out and err == ""
    assert json.loads(record.read_text())["objective"] == pytest.approx(result.inertia, rel=1e-9)
    assert json.loads(record.read_text())["model"] == {"n_clusters": 3}
    with open(labels, encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["cluster"] and [int(row[0]) for row in rows[1:]] == result.labels.tolist()


def test_a_limit_of_kmeans_is_told_in_its_own_units(capsys, tmp_path):
    path = tmp_path / "hard.csv"
    np.savetxt(path, np.random.default_rng(0).standard_normal((400, 6)), delimiter=",")
    assert cli.main(["kmeans", str(path), "-k", "8", "--time-limit", "0.05", "-q"]) == 1
    err = capsys.readouterr().err
    assert "the inertia is proved to be at most" in err and "nats" not in err and "fewer clusters" in err


def test_classes_print_and_write_what_solve_returns(capsys, tmp_path):
    record, labels = tmp_path / "classes.json", tmp_path / "classes.csv"
    options = ["-q", "--summary", "--json", str(record), "--labels", str(labels)]
    assert cli.main(["classes", CARCINOMA, "-k", "2", *options]) == 0
    out = capsys.readouterr().out
    assert "columns A, B, C, D, E, F, G" in out and "G^2" in out and "BIC" in out
    result = gopfast.solve(gopfast.LatentClass(gopfast.datasets.load_carcinoma(), 2))
    written = json.loads(record.read_text())
    assert written["objective"] == pytest.approx(result.objective, abs=0.02)
    assert written["categories"][0] == [1.0, 2.0] and written["model"] == {"n_classes": 2, "prior": None}
    with open(labels, encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 119


def test_missing_entries_stay_and_codes_of_missing_ones_are_taken(write, capsys):
    path = write("a,b,c\nyes,no,1\nno,,2\nyes,yes,9\nno,no,1\n")
    assert cli.main(["classes", path, "-k", "1", "-q", "--missing", "9,no"]) == 0
    assert "n_categories=(1, 1, 2)" in capsys.readouterr().out
    assert cli.main(["classes", path, "-k", "1", "-q", "--na", "drop"]) == 0
    assert "3 samples" in capsys.readouterr().out


def test_labels_are_text_or_whole_numbers(write):
    table = read_labels(write("x,y,z\n10,1.5,NA\n2,2,b\n,3,a\n"))
    assert table.columns == ("x", "y", "z")
    assert table.data.tolist() == [[10.0, "1.5", None], [2.0, "2", "b"], [None, "3", "a"]]
    assert read_labels(write("x,y\n1,\n2,3\n"), na="drop").data.tolist() == [[2.0, 3.0]]
    assert read_labels(write("a,b\nc,d\n"), header=False).data.tolist() == [["a", "b"], ["c", "d"]]
    assert read_labels(write("x,y\n1,2\n3,4\n"), ["y"]).data.tolist() == [[2.0], [4.0]]


def test_what_cannot_be_read_is_named(write):
    path = write("x,y\n1,\n2,\n")
    with pytest.raises(InputError, match=r"data\.csv: no row has all its values"):
        read_labels(path, na="drop")
    with pytest.raises(InputError, match="there is no column 'w'"):
        read_labels(path, ["w"])
    assert cli.main(["classes", path, "-k", "9", "-q"]) == 2


CUSTOMERS = "age,smokes,visits\n" + "".join(
    f"{age},{smokes},{visits}\n"
    for age, smokes, visits in zip(
        [31.5, 33.0, "", 30.25, 62.0, 60.5, 64.0, 63.5], ["no", "no", "no", "", "yes", "yes", "yes", "yes"],
        [0, 1, 0, 2, 9, 11, 8, 10], strict=True,
    )  # fmt: skip
)


def test_mixed_columns_have_the_kinds_that_are_named(capsys, tmp_path, write):
    path, record, labels = write(CUSTOMERS), tmp_path / "fit.json", tmp_path / "segments.csv"
    options = ["-q", "--variance-floor", "1", "--summary", "--json", str(record), "--labels", str(labels)]
    columns = "visits = poisson,smokes,age=normal"
    assert cli.main(["mixed", path, "-k", "2", "--columns", columns, *options]) == 0
    out = capsys.readouterr().out
    assert "columns visits, smokes, age" in out and "BIC" in out
    data = {
        "visits": [0, 1, 0, 2, 9, 11, 8, 10], "smokes": ["no"] * 3 + [None] + ["yes"] * 4,
        "age": [31.5, 33.0, None, 30.25, 62.0, 60.5, 64.0, 63.5],
    }  # fmt: skip
    kinds = {"visits": "poisson", "smokes": "binary", "age": "normal"}
    result = gopfast.solve(gopfast.MixedMixture(kinds, data, 2, variance_floor=1.0))
    written = json.loads(record.read_text())
    assert written["objective"] == pytest.approx(result.objective, abs=1e-9)
    assert written["model"] == {"n_components": 2, "kinds": kinds, "variance_floor": [1.0]}
    assert written["categories"] == [["no", "yes"]]
    with open(labels, encoding="utf-8") as file:
        assert [int(row[0]) for row in list(csv.reader(file))[1:]] == result.predict().tolist()


def test_mixed_columns_without_kinds_have_them_by_their_entries(capsys, tmp_path, write):
    record = tmp_path / "fit.json"
    assert cli.main(["mixed", write(CUSTOMERS), "-k", "1", "-q", "--json", str(record)]) == 0
    kinds = {"age": "normal", "smokes": "binary", "visits": "normal"}
    assert json.loads(record.read_text())["model"]["kinds"] == kinds
    assert "age normal, smokes binary, visits normal" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("age=poisson", r"data\['age'\] must hold counts"), ("smokes=normal", r"data\['smokes'\]"),
        ("age=gauss", "--columns: the kind of 'age' must be one of normal, poisson"), ("weight=normal", "'weight'"),
    ],
)  # fmt: skip
def test_mixed_columns_are_named_where_they_are_at_fault(capsys, write, columns, message):
    assert cli.main(["mixed", write(CUSTOMERS), "-k", "2", "-q", "--columns", columns]) == 2
    err = capsys.readouterr().err
    assert re.search(message, err) and err.count("\n") == 1


@pytest.mark.parametrize("command", ["kmeans", "classes", "mixed"])
def test_groups_take_no_response(capsys, write, command):
    assert cli.main([command, write(CUSTOMERS), "-k", "2", "--response", "age"]) == 2
    assert "--response" in capsys.readouterr().err


def test_numbers_that_are_no_codes_are_numbers_where_they_may_be(write):
    path = write("a,b\n1.5,1\n2,x\n,\n")
    assert read_labels(path, whole=False).data.tolist() == [[1.5, "1"], [2.0, "x"], [None, None]]
    assert read_labels(path).data.tolist() == [["1.5", "1"], ["2", "x"], [None, None]]


def checked(capsys, proof, path, *more):
    """Exit code of `gopfast check`, and what it prints."""
    code = cli.main(["check", str(proof), path, *more])
    return code, capsys.readouterr().out


def written_names(columns):
    """Names of columns without their kinds."""
    return [name.split("=")[0].strip() for name in columns.split(",")]


@pytest.mark.parametrize("columns", ["visits = poisson,smokes,age=normal", "age,visits=poisson", "smokes"])
def test_a_proof_of_mixed_columns_is_written_and_checked(capsys, tmp_path, write, columns):
    path, proof, record = write(CUSTOMERS), tmp_path / "proof.npz", tmp_path / "fit.json"
    options = ["--columns", columns, "-q", "--proof", str(proof), "--json", str(record)]
    floor = ["--variance-floor", "1"] if "age" in columns else []
    assert cli.main(["mixed", path, "-k", "2", *options, *floor]) == 0
    capsys.readouterr()
    names = ["--columns", columns] if columns == "smokes" else []  # of labels alone a proof has no names
    code, out = checked(capsys, proof, path, *names)
    assert code == 0 and "columns " + ", ".join(written_names(columns)) in out
    table, written = read_labels(path, written_names(columns), whole=False), json.loads(record.read_text())
    found = gopfast.check(proof, dict(zip(table.columns, table.data.T, strict=True)))
    assert f"no mixture is below {found.lower_bound:.8g}" in out
    assert found.objective == pytest.approx(written["objective"], rel=1e-9)
    assert written["objective"] - 0.011 <= found.lower_bound <= written["lower_bound"]
    write(CUSTOMERS.replace("9\n", "9.5\n").replace("no", "yes", 1))
    code, out = checked(capsys, proof, path, *names)
    assert code == 3 and "the proof does not hold" in out
    assert cli.main(["check", str(proof), path, "--response", "age"]) == 2
    assert "--response must not be given" in capsys.readouterr().err
    assert cli.main(["mixed", path, "-k", "2", "-q", "--proof", path]) == 2
    assert "the result would overwrite the data" in capsys.readouterr().err


def test_a_proof_of_classes_has_the_missing_entries_that_are_named(capsys, tmp_path, write):
    path, proof = write("a,b\n1,yes\n2,no\n9,no\n1,\n2,no\n1,yes\n1,yes\n"), tmp_path / "proof.npz"
    options = ["--missing", "9", "-q", "--proof", str(proof)]
    assert cli.main(["classes", path, "-k", "2", *options]) == 0
    capsys.readouterr()
    code, out = checked(capsys, proof, path, "--missing", "9")
    assert code == 0 and "proof of: family labels, n_components 2" in out
    code, out = checked(capsys, proof, path)
    assert code == 3 and "has a label that the proof does not know" in out


def test_a_proof_of_clusters_is_written_and_checked(capsys, tmp_path):
    proof = tmp_path / "proof.npz"
    options = ["--columns", "1", "-q", "--proof", str(proof)]
    assert cli.main(["kmeans", FAITHFUL, "-k", "2", *options]) == 0
    capsys.readouterr()
    code, out = checked(capsys, proof, FAITHFUL, "--columns", "1")
    assert code == 0 and "proof of: n_clusters 2" in out and "no clustering is below" in out
    assert checked(capsys, proof, FAITHFUL, "--columns", "2")[0] == 3
    assert cli.main(["check", str(proof), FAITHFUL, "--missing", "9"]) == 2
    assert "--missing must not be given with a proof that is not of latent classes" in capsys.readouterr().err
