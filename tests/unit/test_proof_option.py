"""`solve(proof=)` and the commands that write and check proofs."""

import tracemalloc

import numpy as np
import pytest

import gopfast
from gopfast import cli
from tests.support import proofs

X = np.array([-10.0, -10.0, 5.0, 25.0])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a proof"  # no suffix is added


def test_the_result_names_the_file_and_claims_what_is_in_it(path):
    result = gopfast.solve(gopfast.GaussianMixture(X, 2, prior="empirical"), proof=path, log=False)
    found = gopfast.check(path, X)
    assert result.success and result.proof == str(path)
    assert result.to_dict()["proof"] == str(path)
    assert result.lower_bound <= found.lower_bound <= found.objective
    assert found.gap <= 0.01
    assert any("did without what has no entry in proofs" in note for note in result.notes)
    assert gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="known"), log=False).proof is None


@pytest.mark.parametrize("limit", [{"time_limit": 0.0}, {"max_nodes": 7}, {"callback": lambda state: True}])
def test_what_a_limit_leaves_is_proved(path, limit):
    galaxies = gopfast.datasets.load("galaxies") / 1000
    problem = gopfast.GaussianMixture(galaxies, 3, covariance="diag", variance_floor=0.09)
    result = gopfast.solve(problem, proof=path, log=False, n_threads=1, **limit)
    found = gopfast.check(path, galaxies, problem=problem)
    assert not result.success
    assert np.isfinite(found.lower_bound) and result.lower_bound <= found.lower_bound < 203.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"proof": 3}, "proof must be a path, True or None; got int"),
        ({"proof": "/absent/p.npz"}, "proof: '/absent/p.npz' cannot be written"),
        ({"proof": "p", "relaxation": "linear"}, "proof must be None with relaxation='linear'"),
        ({"proof": "p", "branching": "orthant"}, "proof must be None with branching='orthant'"),
        ({"proof": "p", "relaxation": "linear", "subproblem": "milp"}, "proof must be None with relaxation='linear'"),
    ],
)
def test_what_no_proof_can_be_written_of_is_refused_before_any_work(options, message):
    with pytest.raises(gopfast.InputError, match=message):
        gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="known"), **options)


def test_prices_that_have_no_entry_are_refused_before_any_work(path):
    problem = gopfast.GaussianMixture(X, 2, prior="empirical")
    with pytest.raises(gopfast.InputError, match="proof must be None with relaxation='pricing': prices of at most"):
        gopfast.solve(problem, relaxation="pricing", proof=path)
    assert not path.exists()


def test_memory_does_not_grow_with_the_nodes_that_are_closed(path):
    """What closed nodes leave behind goes to the file: four times as many nodes take no more of Python's memory."""
    problem = gopfast.GaussianMixture(gopfast.datasets.load("galaxies") / 1000, 7, covariance="known")
    peaks = []
    for nodes in (5_000, 20_000):
        tracemalloc.start()
        gopfast.solve(problem, proof=path, relaxation="entropic", max_nodes=nodes, n_threads=1, log=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_a_search_that_fails_leaves_no_file(tmp_path):
    def fail(state):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="known"), proof=tmp_path / "p", callback=fail, log=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "problem",
    [
        gopfast.CategoricalMixture(["a", "a"], 1), gopfast.CategoricalMixture(["a", "a"], 2),
    ],
    ids=lambda problem: getattr(problem, "covariance", type(problem).__name__),
)  # fmt: skip
def test_families_without_an_entry_are_refused_before_any_work(problem, tmp_path):
    with pytest.raises(gopfast.InputError, match="proof must be None: proofs have no entry yet"):
        gopfast.solve(problem, proof=tmp_path / "p")
    assert not (tmp_path / "p").exists()


def test_a_proof_in_memory_is_what_its_file_would_hold(path):
    problem = gopfast.GaussianMixture(X, 2, prior="empirical")
    result = gopfast.solve(problem, proof=True, log=False)
    assert isinstance(result.proof, gopfast.Proof) and result.proof.size == len(result.proof.data)
    assert repr(result.proof) == f"<Proof of {result.proof.size:,} bytes>" and result.to_dict()["proof"] is None
    result.proof.save(path)
    found = gopfast.check(path, X)
    assert found == gopfast.check(result.proof, X) == gopfast.check(result.proof.data, X)
    assert gopfast.solve(problem, proof=False, log=False).proof is None


def test_a_proof_that_cannot_be_accurate_is_not_written(path):
    far = 1e30 + 1e15 * X
    result = gopfast.solve(gopfast.GaussianMixture(far, 2, covariance="known"), proof=path, log=False)
    if result.proof is None:
        assert any("no proof was written" in note for note in result.notes) and not path.exists()
    else:
        assert gopfast.check(path, far).lower_bound >= result.lower_bound


def test_a_wrong_bound_of_the_search_is_not_in_the_proof(path):
    """A search that believes a node to be closed too early claims more than its leaves prove."""
    problem = gopfast.GaussianMixture(gopfast.datasets.load("galaxies") / 1000, 3, covariance="known")
    # half of the nodes: what is open counts with its own bound, not with that of the incumbent
    result = gopfast.solve(problem, proof=path, log=False, n_threads=1, max_nodes=40)
    header, arrays = proofs.parts(path)
    header["claim"]["lower_bound"] = result.objective - 0.01
    proofs.put(path, header, arrays)
    with pytest.raises(gopfast.ProofError, match="leaf .*: its bound is .*, the proof claims 210"):
        gopfast.check(path, problem.X)


def test_a_problem_without_an_objective_and_rows_has_a_proof():
    """Its linear program has no entries."""
    problem = gopfast.BiconvexProblem([0.0, 0.0], lower=0.0, upper=1.0)
    result = gopfast.solve(problem, proof=True, log=False)
    assert result.success and gopfast.check(result.proof.data, problem).bound <= 0.0


def test_the_commands_write_and_check_a_proof_of_a_problem(tmp_path, capsys):
    problem, other, proof = tmp_path / "problem.json", tmp_path / "other.json", tmp_path / "proof.npz"
    gopfast.datasets.load_problem("st_e23").to_json(problem)
    gopfast.datasets.load_problem("st_bpv1").to_json(other)
    assert cli.main(["solve", str(problem), "--proof", str(proof), "-q"]) == 0
    assert cli.main(["check", str(proof), str(problem)]) == 0
    text = capsys.readouterr().out
    assert "checked: no feasible point is below -1.08333" in text and "BiconvexProblem('st_e23'" in text
    assert cli.main(["check", str(proof), str(other)]) == 3
    assert "the proof does not hold; digest: the proof is of another problem" in capsys.readouterr().out
    assert cli.main(["solve", str(problem), "--proof", str(problem), "-q"]) == 2
    assert "the result would overwrite the problem" in capsys.readouterr().err


def test_the_commands_write_and_check_a_proof(tmp_path, capsys):
    data, proof = tmp_path / "data.csv", tmp_path / "proof.npz"
    data.write_text("x\n" + "\n".join(map(str, X)))
    assert cli.main(["fit", str(data), "-k", "2", "--proof", str(proof), "-q"]) == 0
    assert cli.main(["check", str(proof), str(data)]) == 0
    text = capsys.readouterr().out
    assert "proof of: family diag, n_components 2, variance_floor" in text and "checked: no mixture is below" in text
    data.write_text("x\n1\n2\n3\n4\n")
    assert cli.main(["check", str(proof), str(data)]) == 3
    assert "the proof does not hold; digest: the proof is of other data" in capsys.readouterr().out
    assert cli.main(["check", str(tmp_path / "absent"), str(data)]) == 2
    assert cli.main(["fit", str(data), "-k", "2", "--proof", str(data), "-q"]) == 2
    assert "the result would overwrite the data" in capsys.readouterr().err


def test_proofs_that_do_not_hold_are_errors_of_the_package():
    with pytest.raises(gopfast.GopfastError) as caught:
        gopfast.check(b"", [1.0])
    assert type(caught.value) is gopfast.ProofError is gopfast.checker.ProofError
    for name in dir(gopfast):
        kind = getattr(gopfast, name)
        if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, Warning):
            assert issubclass(kind, gopfast.GopfastError), name
