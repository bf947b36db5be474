"""Mixtures of columns of different kinds with missing entries: data, formulas, and what is asked of their fits."""

import math

import numpy as np
import pytest
from scipy import stats

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures.record import rebuild, record
from tests.support import proofs

KINDS = {"age": "normal", "smokes": "binary", "job": "categorical", "visits": "poisson", "wait": "exponential"}


def table(seed=0, n=40, share=0.1):
    """Two classes in all columns, of whose entries a share is missing; every column has one."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n)
    data = {
        "age": rng.normal(40.0 + 20.0 * z, 5.0),
        "smokes": np.where(rng.random(n) < 0.2 + 0.6 * z, "yes", "no"),
        "job": rng.choice(["clerk", "cook", "judge"], n),
        "visits": rng.poisson(2.0 + 7.0 * z),
        "wait": rng.exponential(1.0 + 4.0 * z),
    }
    return {name: [None if i and rng.random() < share else x for i, x in enumerate(column.tolist())]
            for name, column in data.items()}  # fmt: skip


@pytest.fixture(scope="module")
def fitted():
    problem = gopfast.MixedMixture(KINDS, table(n=24), 2)
    return gopfast.solve(problem)


def test_densities_are_those_of_scipy_without_missing_entries():
    data, rng = table(), np.random.default_rng(1)
    problem = gopfast.MixedMixture(KINDS, data, 3)
    state = problem.maximize(rng.dirichlet(np.ones(3), 40))
    found = problem.log_densities(**{name: state[name] for name in problem.parameter_names})
    for k in range(3):
        mean, deviation = state["means"][k, 0], math.sqrt(state["covariances"][k, 0])
        rate, pace = state["rates"][k]
        labels = [dict(zip(own, p[k], strict=True))
                  for own, p in zip(problem.categories, state["probabilities"], strict=True)]  # fmt: skip
        logs = {
            "age": lambda x, m=mean, s=deviation: stats.norm.logpdf(x, m, s),
            "smokes": lambda x, own=labels[0]: math.log(own[x]), "job": lambda x, own=labels[1]: math.log(own[x]),
            "visits": lambda x, rate=rate: stats.poisson.logpmf(x, rate),
            "wait": lambda x, pace=pace: stats.expon.logpdf(x, scale=1.0 / pace),
        }  # fmt: skip
        for i in range(40):
            expected = math.fsum(logs[name](data[name][i]) for name in KINDS if data[name][i] is not None)
            assert found[i, k] == pytest.approx(expected, rel=1e-12)


def test_the_m_step_is_best_for_its_responsibilities():
    problem, rng = gopfast.MixedMixture(KINDS, table(2, share=0.3), 2), np.random.default_rng(3)
    for _ in range(5):
        tau = rng.dirichlet([0.3, 0.3], 40)
        best = problem.maximize(tau)
        value = problem.objective(**best, responsibilities=tau)
        for _ in range(20):
            other = problem.maximize(0.97 * tau + 0.03 * rng.dirichlet([1.0, 1.0], 40))
            assert value <= problem.objective(**{**other, "weights": best["weights"]}, responsibilities=tau) + 1e-9


def test_columns_of_one_family_are_that_familys_mixture():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 2)) + 4.0 * (np.arange(30)[:, None] % 2)
    counts, times = rng.poisson(3.0 + 5.0 * (np.arange(30) % 2)), rng.exponential(size=30) + 0.01
    pairs = [
        (gopfast.MixedMixture("normal", X, 2), gopfast.GaussianMixture(X, 2, covariance="diag")),
        (gopfast.MixedMixture(["poisson"], counts, 2), gopfast.PoissonMixture(counts, 2)),
        (gopfast.MixedMixture("exponential", times, 2), gopfast.ExponentialMixture(times, 2)),
    ]
    for mixed, plain in pairs:
        ours, theirs = gopfast.solve(mixed), gopfast.solve(plain)
        assert (ours.objective, ours.n_nodes, mixed.n_parameters) == (
            pytest.approx(theirs.objective, abs=1e-9), theirs.n_nodes, plain.n_parameters
        )  # fmt: skip


def test_labels_with_missing_entries_are_a_latent_class_model():
    data = table(5, share=0.2)
    kinds = {name: KINDS[name] for name in ("smokes", "job")}
    rows = np.array([data[name] for name in kinds], dtype=object).T
    mixed, plain = gopfast.MixedMixture(kinds, data, 2), gopfast.LatentClass(rows, 2)
    ours, theirs = (gopfast.solve(problem, 0.1) for problem in (mixed, plain))
    assert ours.objective == pytest.approx(theirs.objective, abs=0.2)
    state = {name: theirs.solution.parameters[name] for name in ("probabilities",)}
    expected = plain.objective(theirs.solution.weights, **state)
    assert mixed.objective(theirs.solution.weights, **state) == pytest.approx(expected, rel=1e-12)


def test_a_missing_entry_leaves_its_factor_out():
    """A column that nobody has but one sample, on its mean, adds that sample's factor and no more."""
    x = np.random.default_rng(6).normal(size=20)
    alone = gopfast.solve(gopfast.MixedMixture("normal", x, 2, variance_floor=0.5))
    beside = np.column_stack([x, np.full(20, np.nan)])
    beside[3, 1] = 7.0
    both = gopfast.solve(gopfast.MixedMixture("normal", beside, 2, variance_floor=[0.5, 2.0]))
    assert both.success
    assert both.objective - alone.objective == pytest.approx(0.5 * math.log(2.0 * math.pi * 2.0), abs=0.02)


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_bounds_hold_far_from_zero(shift):
    """Shifted data round in the core's units; the bound stays below what the returned parameters attain."""
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(24, 2)), 2) + shift
    X[::5, 1] = np.nan
    problem = gopfast.MixedMixture("normal", X, 2, variance_floor=0.3)
    result = gopfast.solve(problem, 0.1, max_nodes=3000)
    attained = problem.objective(result.solution.weights, **result.solution.parameters)
    assert result.lower_bound <= attained <= result.objective + 1e-9 * (1.0 + abs(attained))


def test_one_component_has_a_closed_form():
    problem = gopfast.MixedMixture(KINDS, table(8), 1)
    result = gopfast.solve(problem)
    assert result.success and result.gap < 1e-6
    assert problem.objective([1.0], **result.solution.parameters) == pytest.approx(result.objective, abs=1e-7)
    state = problem.maximize(np.ones((40, 1)))
    assert problem.objective(**state) == pytest.approx(result.objective, abs=1e-7)


def test_what_is_asked_of_a_fit(fitted):
    problem, solution = fitted.solution.problem, fitted.solution
    assert fitted.success and problem.parameter_names == ("means", "covariances", "rates", "probabilities")
    assert np.array_equal(fitted.predict(), fitted.predict(table(n=24)))
    one = {"age": [70.0], "smokes": [None], "job": ["judge"], "visits": [None], "wait": [9.0]}
    assert fitted.predict(one).tolist() == [int(solution.means[1, 0] > solution.means[0, 0])]
    drawn, _ = fitted.sample(5, 0)
    assert fitted.score_samples(drawn).shape == (5,)
    named = [(one.parameter, one.place) for one in fitted.summary().estimates if one.component == 0]
    assert ("mean", "age") in named and ("rate", "wait") in named and ("probability", "job = judge") in named
    frame = pytest.importorskip("pandas") and fitted.to_frame()
    assert [None if x != x else x for x in frame["job"]] == table(n=24)["job"]
    assert frame["age"].isna().tolist() == [x is None for x in table(n=24)["age"]]
    assert gopfast.certify(problem, solution).verdict.name == "PROVED"
    assert gopfast.local.em(problem, random_state=0).objective >= fitted.lower_bound
    again = rebuild(record(problem), table(n=24))
    assert again.objective(solution.weights, **solution.parameters) == problem.objective(
        solution.weights, **solution.parameters
    )
    boot = gopfast.bootstrap(fitted, 2)
    assert boot.standard_errors["rates"].shape == (2, 2)


def test_numbers_of_components_are_compared():
    kinds = {name: KINDS[name] for name in ("age", "smokes", "visits")}
    choice = gopfast.select(table(9), [1, 2], model=lambda X, K: gopfast.MixedMixture(kinds, X, K))
    assert (choice.status, choice.n_components) == ("PROVED", 2)


@pytest.mark.parametrize(
    ("kinds", "data", "options", "message"),
    [
        ("normal", [["a"], ["b"]], {}, r"data\[:, 0\] must"),
        ("gamma", [1.0, 2.0], {}, r"kinds\[0\] must be one of 'normal'"),
        (["normal"], [[1.0, 2.0]], {}, "kinds must have one entry for each of the 2 columns"),
        ({"a": "normal"}, [[1.0]], {}, "kinds must be a sequence"),
        ({"b": "normal"}, {"a": [1.0]}, {}, "kinds must name columns of the data; there is no 'b'"),
        ({}, {"a": [1.0]}, {}, "kinds must name a column"),
        ("normal", [None, math.nan], {}, r"data\[:, 0\] must have an entry"),
        ("binary", ["a", "b", "c"], {}, r"data\[:, 0\] must hold two labels"),
        ("poisson", [1.5, None], {}, r"data\[:, 0\] must hold counts"),
        ("exponential", [-1.0, 2.0], {}, r"data\[:, 0\] must be at least"),
        ("normal", [1.0, 2.0], {"variance_floor": -1.0}, "variance_floor must"),
        ("normal", [1.0, 2.0], {"variance_floor": [1.0, 2.0]}, "variance_floor must have shape"),
        ("poisson", [1.0, 2.0], {"variance_floor": 1.0}, "variance_floor must be None: no column is 'normal'"),
        ("binary", ["a", "b"], {"categories": [["a"]]}, "categories must have every label"),
        ("normal", [1.0, None], {"sample_weight": [0.0, 1.0]}, "data must have an entry of positive weight"),
    ],
)
def test_bad_input_is_named(kinds, data, options, message):
    with pytest.raises(InputError, match=f"^{message}"):
        gopfast.MixedMixture(kinds, data, 1, **options)


def test_kinds_are_chosen_by_type_and_told():
    data = {"a": [1.0, 2, None, 7.0], "b": [True, False, True, None], "c": ["x", "y", "x", "x"], "d": list("pqrs")}
    problem = gopfast.MixedMixture(None, data, 1)
    assert problem.kinds == ("normal", "binary", "binary", "categorical")
    told = gopfast.solve(problem).notes
    assert any("a normal, b binary, c binary, d categorical" in note for note in told)
    given = gopfast.MixedMixture(dict(zip(data, problem.kinds, strict=True)), data, 1)
    assert not any("types" in note for note in gopfast.solve(given).notes)


def test_the_estimator_solves_the_problem():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table(12))
    model = gopfast.GlobalMixedMixture(2, kinds=dict(reversed(KINDS.items())), epsilon=0.1).fit(frame)
    expected = gopfast.solve(gopfast.MixedMixture(KINDS, table(12), 2), 0.1)
    assert model.kinds_ == tuple(KINDS.values()) and model.converged_
    assert model.result_.objective == pytest.approx(expected.objective, abs=1e-6)
    assert np.array_equal(model.predict(frame), expected.predict())
    assert model.means_.shape == (2, 1) and len(model.probabilities_) == 2
    with pytest.raises(InputError, match="^kinds must name the columns of X, which are 'age'"):
        gopfast.GlobalMixedMixture(2, kinds={"age": "normal"}).fit(frame)


@pytest.mark.parametrize("kinds", ["poisson", ["normal", "poisson"], {"b": "poisson", "a": "normal"}])
def test_the_estimator_names_a_column_at_fault(kinds):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 4.0], "b": [0, 1, 5]})
    model = gopfast.GlobalMixedMixture(1, kinds=kinds).fit(frame)
    assert model.result_.solution.problem.columns == ("a", "b")
    with pytest.raises(InputError, match=r"^data\['b'\] must hold counts to be 'poisson'"):
        gopfast.GlobalMixedMixture(1, kinds=kinds).fit(frame.assign(b=[0.5, 1.0, 5.0]))
    with pytest.raises(InputError, match=r"^data\['b'\] must hold counts to be 'poisson'"):
        model.predict(frame.assign(b=[0.5, 1.0, 5.0]))
    with pytest.raises(InputError, match="kinds must have one entry for each of the 2 columns"):
        gopfast.GlobalMixedMixture(1, kinds=["normal"]).fit(frame)


def test_a_proof_reads_the_users_table_by_names_and_kinds(tmp_path):
    path, data = tmp_path / "mixed.npz", table(5, 16, 0.3)
    kinds = {name: KINDS[name] for name in ("visits", "age", "smokes")}
    problem = gopfast.MixedMixture(kinds, data, 2)
    result = gopfast.solve(problem, 0.1, proof=path, max_nodes=300)
    found = gopfast.check(path, data, problem=problem)  # of which two columns are of no part
    assert result.lower_bound <= found.lower_bound <= found.objective
    assert found.objective == pytest.approx(result.objective, rel=1e-9)
    columns = [[math.nan if x is None else x for x in data[name]] for name in kinds]
    for given in (list(zip(*columns, strict=True)), dict(zip(kinds, columns, strict=True))):
        assert gopfast.check(path, given) == found
    wrong = {**data, "age": [x if x is None else x + 1.0 for x in data["age"]]}
    filled = {**data, "visits": [0 if x is None else x for x in data["visits"]]}
    for given in (wrong, filled):
        with pytest.raises(gopfast.ProofError, match="digest: the proof is of other data"):
            gopfast.check(path, given)
    with pytest.raises(gopfast.ProofError, match="X: must have the columns visits, age, smokes"):
        gopfast.check(path, {name: data[name] for name in ("visits", "age")})
    for value, message in ((["no"], "column 0 .*has a label"), (["no", "no"], "different texts"), ("no", "list")):
        header, arrays = proofs.parts(path)
        header["problem"]["labels"] = [value]
        proofs.put(tmp_path / "bad.npz", header, arrays)
        with pytest.raises(gopfast.ProofError, match=message):
            gopfast.check(tmp_path / "bad.npz", data)


@pytest.mark.parametrize("entry", ["kinds", "labels", "columns", "variance_floor"])
def test_a_malformed_header_of_columns_is_refused(tmp_path, entry):
    data = {"a": [1.0, 2.0, None, 4.0], "b": ["x", "y", "x", "y"]}
    gopfast.solve(gopfast.MixedMixture({"a": "normal", "b": "binary"}, data, 1), proof=tmp_path / "p")
    for value in (None, "x", -1, 1.5, [], {}, [[]], ["a"], [None], True, [1e300], [["x"]], ["normal", "normal"]):
        header, arrays = proofs.parts(tmp_path / "p")
        if entry == "columns" and value == []:
            continue  # all of the table, in its order
        header["problem"][entry] = value
        proofs.put(tmp_path / "bad", header, arrays)
        with pytest.raises(gopfast.ProofError):
            gopfast.check(tmp_path / "bad", data)


@pytest.mark.parametrize("kinds", ["normal", "poisson", "categorical"])
def test_whole_columns_of_one_family_have_its_proof(tmp_path, kinds):
    data = {"a": [1, 2, 2, 1, 7, 8], "b": [0, 1, 0, 0, 9, 9]}
    problem = gopfast.MixedMixture(kinds, np.array([*data.values()]).T, 2)
    gopfast.solve(problem, 0.1, proof=tmp_path / "p", max_nodes=500)
    found = gopfast.check(tmp_path / "p", data, problem=problem)
    assert found.problem["family"] == {"normal": "diag", "poisson": "poisson", "categorical": "labels"}[kinds]
