"""The command on mixtures of regressions: `--response`."""

import json
from pathlib import Path

import numpy as np
import pytest

import gopfast
from gopfast.cli import main


@pytest.fixture
def data(tmp_path):
    gnp, co2 = gopfast.datasets.load_co2data().T
    path = tmp_path / "co2.csv"
    np.savetxt(path, np.column_stack([co2, gnp]), delimiter=",", header="CO2,GNP", comments="")
    return path


def test_a_fit_is_written_certified_and_its_proof_checked(data, tmp_path, capsys):
    fit, proof = tmp_path / "fit.json", tmp_path / "proof.npz"
    assert main(["fit", str(data), "-k", "2", "--response", "CO2", "-q", "--summary", "--json", str(fit),
                 "--proof", str(proof)]) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert "columns GNP, CO2" in out and "coefficient  GNP" in out and "variance_floor" in out
    record = json.loads(fit.read_text())
    assert record["model"]["response"] == "CO2"
    assert record["objective"] == pytest.approx(66.93977, abs=1e-4)
    assert main(["certify", str(data), str(fit), "-q"]) == 0
    assert "PROVED" in capsys.readouterr().out.upper()
    record["solution"]["intercepts"][0] += 1.0
    fit.write_text(json.dumps(record))
    assert main(["certify", str(data), str(fit), "-q"]) == 3
    assert main(["check", str(proof), str(data), "--response", "1"]) == 0
    assert main(["check", str(proof), str(data)]) == 3  # the columns are others


@pytest.mark.parametrize(
    "more, name",
    [(["--variance", "shared"], "variance"), (["--noise-variance", "4", "--no-intercept"], "coefficients")],
)
def test_models_are_those_of_the_problem(data, tmp_path, more, name):
    fit = tmp_path / "fit.json"
    main(["fit", str(data), "-k", "2", "--response", "CO2", "-q", "--epsilon", "5", "--json", str(fit), *more])
    record = json.loads(fit.read_text())
    assert name in record["solution"]
    assert ("intercepts" in record["solution"]) == ("--no-intercept" not in more)


def test_the_number_of_components_is_selected(data, capsys):
    assert main(["select", str(data), "--response", "CO2", "-k", "1-2", "-q"]) == 0
    assert "2 components" in capsys.readouterr().out


def test_a_search_goes_on_with_its_response(data, tmp_path, capsys):
    checkpoint = tmp_path / "c"
    begun = ["fit", str(data), "-k", "2", "--response", "CO2", "-q", "--checkpoint", str(checkpoint)]
    assert main([*begun, "--time-limit", "0"]) == 1
    assert main(["resume", str(checkpoint), "-q"]) == 0
    assert "66.9397" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--response", "H2O"], "--response: there is no column 'H2O'; there are CO2, GNP"),
        (["--response", "3"], "--response: there is no column '3'"),
        (["--response", "CO2", "--covariance", "diag"], "--covariance must not be given with --response"),
        (["--variance", "shared"], "--variance must not be given without --response"),
        (["--no-intercept"], "--no-intercept must not be given without --response"),
    ],
)
def test_wrong_arguments_are_named(data, capsys, arguments, message):
    assert main(["fit", str(data), "-k", "2", "-q", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_regress_is_a_fit_with_a_response(data, tmp_path, capsys):
    records = []
    for command in ("fit", "regress"):
        path = tmp_path / f"{command}.json"
        assert main([command, str(data), "-k", "2", "--response", "CO2", "-q", "--json", str(path)]) == 0
        records.append(json.loads(path.read_text()))
    assert records[0]["objective"] == records[1]["objective"] and records[0]["model"] == records[1]["model"]
    capsys.readouterr()
    assert main(["regress", str(data), "-k", "2"]) == 2
    assert "--response" in capsys.readouterr().err
    assert main(["regress", str(data), "-k", "2", "--response", "CO2", "--covariance", "full"]) == 2
    assert "--covariance" in capsys.readouterr().err


@pytest.fixture
def beetles(tmp_path):
    remaining, total, _, species = gopfast.datasets.load_tribolium().T
    path = tmp_path / "beetles.csv"
    columns = [remaining, species == 2, species == 3, total, np.arange(27) // 3]
    np.savetxt(path, np.column_stack(columns), "%g", ",", header="Remaining,Confusum,Madens,Total,Batch", comments="")
    return path


def test_proportions_are_fitted_and_certified(beetles, tmp_path, capsys):
    fit = tmp_path / "fit.json"
    model = ["--response", "Remaining", "--family", "binomial", "--trials", "Total"]
    columns = ["--columns", "Remaining,Confusum,Madens,Total"]
    assert main(["fit", str(beetles), "-k", "2", "-q", *model, *columns, "--epsilon", "0.5", "--json", str(fit)]) == 0
    record = json.loads(fit.read_text())
    assert record["columns"] == ["Confusum", "Madens", "Total", "Remaining"]
    assert (record["model"]["family"], record["model"]["n_trials"]) == ("binomial", "3")
    assert record["objective"] == pytest.approx(80.56751, abs=1e-4)
    assert main(["certify", str(beetles), str(fit), "-q", "--epsilon", "0.5"]) == 0
    capsys.readouterr()
    assert main(["fit", str(beetles), "-k", "2", "-q", *model, "--groups", "Batch", "--epsilon", "0.5"]) == 0
    assert "columns Confusum, Madens, Total, Batch, Remaining" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--family", "poisson"], "--family must not be given without --response"),
        (["--response", "1", "--family", "binomial"], "n_trials must be given with family='binomial'"),
        (["--response", "1", "--family", "binomial", "--trials", "1"], "must be columns of their own"),
        (["--response", "1", "--family", "poisson", "--offset", "Hours"], "--offset: there is no column 'Hours'"),
        (["--response", "1", "--trials", "Total"], "n_trials must be None with family='normal'"),
    ],
)
def test_wrong_arguments_of_counts_are_named(beetles, capsys, arguments, message):
    assert main(["fit", str(beetles), "-k", "2", "-q", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_clusterwise_prints_and_writes_what_solve_returns(data, tmp_path, capsys):
    record, labels, picture = tmp_path / "classes.json", tmp_path / "classes.csv", tmp_path / "bounds.png"
    command = ["clusterwise", str(data), "-k", "2", "--response", "CO2", "-q"]
    assert main([*command, "--json", str(record), "--labels", str(labels)]) == 0
    out, err = capsys.readouterr()
    gnp, co2 = gopfast.datasets.load_co2data().T
    result = gopfast.solve(gopfast.ClusterwiseRegression(gnp, co2, 2))
    assert f"{result.objective:.8g}" in out and "columns GNP, CO2" in out and "OPTIMAL" in out and err == ""
    written = json.loads(record.read_text())
    assert written["model"] == {"n_clusters": 2, "fit_intercept": True, "response": "CO2"}
    assert written["objective"] == pytest.approx(result.objective, rel=1e-12)
    rows = labels.read_text().split()
    assert rows[0] == "class" and [int(row) for row in rows[1:]] == result.labels.tolist()
    pytest.importorskip("matplotlib")
    assert main([*command, "--no-intercept", "--json", str(record), "--plot", str(picture)]) == 0
    written = json.loads(record.read_text())
    without = gopfast.solve(gopfast.ClusterwiseRegression(gnp, co2, 2, fit_intercept=False))
    assert not written["model"]["fit_intercept"] and written["solution"]["intercepts"] == [0.0, 0.0]
    assert written["objective"] == pytest.approx(without.objective, rel=1e-12)
    assert picture.stat().st_size > 1000


def test_a_limit_of_clusterwise_is_told_in_its_own_units(data, capsys):
    assert main(["clusterwise", str(data), "-k", "3", "--response", "CO2", "-q", "--time-limit", "0"]) == 1
    err = capsys.readouterr().err
    assert "the sum of squares is proved to be at most" in err and "nats" not in err and "fewer classes" in err


@pytest.mark.parametrize(
    "more, message",
    [
        (["--response", "GDP"], "--response: there is no column 'GDP'; there are CO2, GNP"),
        (["--response", "CO2", "--columns", "CO2"], "must have another column, that of a regressor"),
        (["--response", "CO2", "-k", "29"], "n_clusters must be"),
        (["--response", "CO2", "--rel-tol", "-1"], "rel_tol"),
        (["--response", "CO2", "--family", "poisson"], "unrecognized arguments: --family"),
        ([], "--response"),
    ],
)
def test_one_line_says_what_clusterwise_cannot_do(data, capsys, more, message):
    assert main(["clusterwise", str(data), "-k", "2", "-q", *more]) == 2
    err = capsys.readouterr().err
    assert message in err and err.splitlines()[-1].startswith("gopfast")


def test_regressors_that_depend_on_each_other_are_refused_in_the_command(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text("a,b,y\n1,2,3\n2,4,1\n3,6,2\n4,8,7\n")
    assert main(["clusterwise", str(path), "-k", "2", "--response", "y", "-q"]) == 2
    assert "regressors depend on each other" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more", [["--variance", "shared", "--time-limit", "2"], ["--noise-variance", "4", "--no-intercept"]]
)
def test_regress_writes_a_proof_that_is_checked(data, tmp_path, capsys, more):
    proof = tmp_path / "proof.npz"
    main(["regress", str(data), "-k", "2", "--response", "CO2", "-q", "--epsilon", "5", "--proof", str(proof), *more])
    capsys.readouterr()
    assert main(["check", str(proof), str(data), "--response", "CO2"]) == 0
    family = "shared_regression" if "shared" in more else "known_regression"
    assert f"proof of: family {family}, n_components 2" in capsys.readouterr().out


def test_a_proof_of_a_shared_coefficient_is_written_and_checked(data, tmp_path, capsys):
    proof, record = tmp_path / "proof.npz", tmp_path / "fit.json"
    options = ["--shared-coefficient", "GNP", "--noise-variance", "4", "--proof", str(proof), "--json", str(record)]
    assert main(["regress", str(data), "-k", "2", "--response", "CO2", "-q", "--epsilon", "0.5", *options]) == 0
    capsys.readouterr()
    assert main(["check", str(proof), str(data), "--response", "CO2"]) == 0
    out, written = capsys.readouterr().out, json.loads(record.read_text())
    assert "shared_coefficient 0" in out and f"no mixture is below {written['lower_bound']:.8g}" in out
    assert written["objective"] - written["lower_bound"] <= 0.5
    assert main(["check", str(proof), str(data)]) == 3


def test_proofs_of_counts_are_written_and_checked_with_their_columns(tmp_path, capsys):
    deaths, total, centers, treated = gopfast.datasets.load_betablocker().T
    proof, data = tmp_path / "proof.npz", tmp_path / "trials.csv"
    np.savetxt(data, np.column_stack([deaths, total, centers, treated]), delimiter=",", header="deaths,total,center,"
               "treated", comments="")  # fmt: skip
    columns = ["--response", "deaths", "--trials", "total", "--groups", "center"]
    assert main(["regress", str(data), "-k", "3", "--family", "binomial", *columns, "-q", "--proof", str(proof)]) == 0
    capsys.readouterr()
    assert main(["check", str(proof), str(data), *columns]) == 0
    out = capsys.readouterr().out
    assert "proof of: family binomial_regression, n_components 3" in out and "the solution attains 158.3094" in out
    assert main(["check", str(proof), str(data), *columns[:4]]) == 3  # the columns are others
    assert main(["check", str(proof), str(data), "--trials", "2"]) == 2
    assert "--trials must not be given without --response" in capsys.readouterr().err


def test_a_proof_of_counts_that_share_a_coefficient_is_written_and_checked(tmp_path, capsys):
    path, proof = Path(gopfast.__file__).parent / "datasets" / "betablocker.csv", tmp_path / "proof.npz"
    columns = ["--response", "Deaths", "--trials", "Total", "--groups", "Center"]
    options = ["--family", "binomial", "--shared-coefficient", "Treatment", "-q", "--proof", str(proof)]
    assert main(["regress", str(path), "-k", "3", *columns, *options]) == 0
    capsys.readouterr()
    assert main(["check", str(proof), str(path), *columns]) == 0
    out = capsys.readouterr().out
    assert "proof of: family binomial_regression, n_components 3" in out and "shared_coefficient 0" in out
    assert "the solution attains 159.36" in out
    assert main(["check", str(proof), str(path), *columns[:4]]) == 3  # the columns are others


def test_clusterwise_writes_a_proof_that_is_checked(data, tmp_path, capsys):
    proof, record = tmp_path / "proof.npz", tmp_path / "classes.json"
    command = ["clusterwise", str(data), "-k", "2", "--response", "CO2", "-q"]
    assert main([*command, "--proof", str(proof), "--json", str(record)]) == 0
    capsys.readouterr()
    assert main(["check", str(proof), str(data), "--response", "CO2"]) == 0
    out = capsys.readouterr().out
    gnp, co2 = gopfast.datasets.load_co2data().T
    found = gopfast.check(proof, np.column_stack([gnp, co2]))
    assert "proof of: n_clusters 2, fit_intercept True" in out and f"is below {found.lower_bound:.8g}" in out
    assert json.loads(record.read_text())["objective"] == pytest.approx(found.objective, rel=1e-9)
    assert main(["check", str(proof), str(data)]) == 3  # the response is another column
    assert "the proof does not hold; digest: the proof is of other data" in capsys.readouterr().out
    assert main([*command, "--proof", str(data)]) == 2
    assert "the result would overwrite the data" in capsys.readouterr().err
