"""The command on mixtures of regressions: `--response`."""

import json

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
