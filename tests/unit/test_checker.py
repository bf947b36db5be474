"""The checker by itself: its rules against exact arithmetic, and what it makes of files that are no proofs."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import mpmath
import numpy as np
import pytest

import gopfast
from gopfast import checker
from gopfast.checker import ProofError, check, leaf, objective, priors, tree
from gopfast.checker.families import FAMILIES
from gopfast.checker.problem import Problem
from gopfast.checker.rounding import Interval
from gopfast.checker.verify import Bounds
from tests.support import proofs

X = np.array([[-10.0], [-10.0], [5.0], [25.0]])
COUNTS = np.array([[0.0, 2.0], [1.0, 0.0], [7.0, 3.0], [2.0, 2.0]])
RECORDS = {
    "known": {"noise_variance": [0.3], "prior": None},
    "known with prior": {"family": "known", "noise_variance": [0.3], "prior": [0.5, 7.0]},
    "diag": {"variance_floor": [0.25]},
    "spherical": {"variance_floor": [0.25]},
    "bernoulli": {"prior": [2.0, 1.5]},
    "poisson": {"prior": None},
    "poisson with prior": {"family": "poisson", "prior": [2.5, 0.7]},
    "exponential": {"prior": [1.0, 0.7]},
    "labels": {"labels": [["a", "b", "c"]], "prior": 1.5},
}


def problem_of(name, K=2):
    record = {"family": name.partition(" ")[0], "n_components": K, **RECORDS[name]}
    data = {"bernoulli": X > 0, "poisson": COUNTS, "exponential": X + 11, "labels": [["a"], ["b"], ["c"], ["a"]]}
    return Problem(record, np.array(data.get(record["family"], X), dtype=object if name == "labels" else float), None)


def rules_of(problem):
    columns, weights = problem.merged()
    return FAMILIES[problem.family](problem, columns.T, weights)


@pytest.fixture(scope="module")
def proof(tmp_path_factory):
    path = tmp_path_factory.mktemp("proof") / "proof.npz"
    gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=4.0), proof=path, log=False)
    return path


def test_the_folder_runs_by_itself(tmp_path, proof):
    shutil.copytree(Path(checker.__file__).parent, tmp_path / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "gopfast.py").write_text("raise ImportError('the checker must not need it')")
    np.savetxt(tmp_path / "data.csv", X)
    command = [sys.executable, "-m", "checker", str(proof), "data.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("checked: no mixture is below ")
    np.savetxt(tmp_path / "data.csv", X + 1)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "digest: the proof is of other data\n")


# Rounding


@pytest.mark.parametrize("seed", range(3))
def test_intervals_hold_the_exact_results(seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.normal(size=40) * 10.0 ** rng.integers(-200, 100, 40) for _ in range(2))
    with np.errstate(all="ignore"):
        cases = [
            (Interval(a) + b, [mpmath.mpf(x) + mpmath.mpf(y) for x, y in zip(a, b, strict=True)]),
            (Interval(a) - b, [mpmath.mpf(x) - mpmath.mpf(y) for x, y in zip(a, b, strict=True)]),
            (Interval(a) * b, [mpmath.mpf(x) * mpmath.mpf(y) for x, y in zip(a, b, strict=True)]),
            (Interval(a).over(np.abs(b)), [mpmath.mpf(x) / abs(mpmath.mpf(y)) for x, y in zip(a, b, strict=True)]),
            (Interval(np.abs(a)).log(), [mpmath.log(abs(mpmath.mpf(x))) for x in a]),
        ]
    for got, exact in cases:
        assert all(lo <= x <= hi for lo, x, hi in zip(got.low, exact, got.high, strict=True))


def test_no_number_stays_none():
    with np.errstate(all="ignore"):
        assert np.isnan(((Interval(np.inf) - np.inf) * 3.0).low)
        assert (Interval(0.0) * np.inf).low == pytest.approx(0.0)


# Families


def exact_cost(problem, kind, j, m, v):
    """h_j(m, v) in exact arithmetic, m in the user's units."""
    m, v = mpmath.mpf(m), mpmath.mpf(v)
    if problem.family in ("diag", "spherical"):
        floored = max(v, mpmath.mpf(problem.floor[j]))
        return mpmath.log(2 * mpmath.pi * floored) / 2 + v / (2 * floored)
    log = mpmath.log(m) if m > 0 else mpmath.mpf(0)
    return {
        "bernoulli": lambda: -m * log - ((1 - m) * mpmath.log(1 - m) if m < 1 else 0),
        "label": lambda: -m * log, "poisson": lambda: m - m * log, "exponential": lambda: 1 + log,
    }[kind]()  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("seed", range(4))
def test_affine_functions_lie_below_the_costs_and_touch_them(name, seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(name)
    rules, d = rules_of(problem), problem.columns.shape[1]
    root = np.stack([rules.low, np.where(np.isinf(rules.high), rules.low + 30.0, rules.high)])
    ends = np.sort(root[0] + rng.random((2, rules.n_cell)) * (root[1] - root[0]), axis=0)
    ends[0] = np.where(rng.random(rules.n_cell) < 0.2, root[0], ends[0])
    low, high = rules.tightened(ends[:1, np.newaxis], ends[1:, np.newaxis])
    slopes = rng.normal(size=(1, 1, d * (1 + rules.has_squares))) * rng.choice([0.1, 3.0])
    reference = rng.normal(size=d)
    a = rules.intercepts(low, high, slopes, reference)[0, 0]
    for j, kind in enumerate(problem.kinds):
        b, q = slopes[0, 0, j], slopes[0, 0, d + j] if rules.has_squares else 0.0
        v0, v1 = (side[0, 0, d + j] if rules.has_squares else 0.0 for side in (low, high))
        left = []
        # the ends, points between, and where a parabola has its least value
        places = [*np.linspace(low[0, 0, j], high[0, 0, j], 21)]
        if q < 0:
            places.append(np.clip(reference[j] - b / (2 * q), low[0, 0, j], high[0, 0, j]))
        for m in places:
            for v in np.linspace(v0, v1, 5):
                y = mpmath.mpf(m) - mpmath.mpf(reference[j])
                if problem.family == "known":
                    h = -y * y / (2 * mpmath.mpf(problem.noise_variance[j]))
                else:
                    h = exact_cost(problem, kind, j, m, v)
                left.append(h - mpmath.mpf(b) * y - mpmath.mpf(q) * (mpmath.mpf(v) + y * y) - mpmath.mpf(a[j]))
        assert min(left) >= 0
        assert min(left) < 1e-9 * (1 + abs(a[j]))


def test_variances_are_bounded_by_what_samples_of_a_mean_can_have():
    problem = problem_of("diag", K=1)
    rules = rules_of(problem)
    low, high = rules.tightened(np.array([[[-10.0, 0.0]]]), np.array([[[-5.0, 1e9]]]))
    assert 5 * 30 <= high[0, 0, 1] <= 5 * 30 * (1 + 1e-9)
    low, high = rules.tightened(np.array([[[-10.0, 0.0]]]), np.array([[[25.0, 1e9]]]))
    assert 17.5**2 <= high[0, 0, 1] <= 17.5**2 * (1 + 1e-9)


def test_the_middle_of_a_range_far_from_zero_is_found():
    # between the floats 1e16 and 1e16 + 2 there is no other: half of 1e16 + 1e16 + 14 is off by more than the rest
    far = 1e16 + np.array([[0.0], [6.0], [14.0]])
    problem = Problem({"family": "diag", "n_components": 1, "variance_floor": [0.25]}, far, None)
    rules = rules_of(problem)
    low, high = rules.tightened(np.array([[[far.min(), 0.0]]]), np.array([[[far.max(), 1e9]]]))
    assert high[0, 0, 1] >= 49.0


@pytest.mark.parametrize("name", ["bernoulli", "poisson with prior", "labels"])
def test_the_root_holds_the_means_of_all_responsibilities(name):
    problem = problem_of(name)
    rules, rng = rules_of(problem), np.random.default_rng(0)
    columns, weights = problem.merged()
    nu, chi = (part.low for part in priors.pseudo_observations(problem))
    for share in (1e-9, 1e-3, 0.5, 1.0):
        for _ in range(50):
            mass = weights * rng.random(len(weights)) ** 5 * share
            m = (mass @ columns + chi) / (mass.sum() + nu)
            assert (rules.low <= m).all() and (m <= rules.high).all()


def test_an_endless_cell_needs_a_slope_that_is_not_positive():
    problem = problem_of("exponential")
    rules = rules_of(problem)
    assert rules.high[0] == np.inf
    low, high = rules.low[np.newaxis, np.newaxis], rules.high[np.newaxis, np.newaxis]
    values = [rules.intercepts(low, high, np.array([[[b]]]), np.zeros(1))[0, 0, 0] for b in (-0.3, 0.0, 1e-9)]
    assert np.isfinite(values[:2]).all() and values[2] == -np.inf


# Leaves, priors, objective


@pytest.mark.parametrize("seed", range(6))
def test_a_leaf_bounds_all_mixtures_of_its_costs(seed):
    rng = np.random.default_rng(seed)
    N, K, d = 7, 3, 2
    y, w = rng.normal(size=(N, d)) * 4, rng.random(N) + 0.1
    a, b, q = rng.normal(size=(1, K)), rng.normal(size=(1, K, d)), rng.normal(size=(1, K, d)) * 0.1 * (seed % 2)
    logs = rng.normal(size=(1, K)) * rng.choice([0.1, 5.0])
    bound = leaf.bounds(y, w, a, b, q, logs)[0]
    z, exact = [[mpmath.mpf(x) for x in row] for row in y], np.vectorize(mpmath.mpf)
    A, B, Q = exact(a), exact(b), exact(q)
    costs = [
        [A[0, k] + sum(B[0, k, j] * z[i][j] + Q[0, k, j] * z[i][j] ** 2 for j in range(d)) for k in range(K)]
        for i in range(N)
    ]

    def value(r):
        return -sum(w[i] * mpmath.log(sum(r[k] * mpmath.exp(-costs[i][k]) for k in range(K))) for i in range(N))

    best, r = [], [mpmath.mpf(1) / K] * K
    for share in rng.dirichlet(np.full(K, 0.5), 20):
        best.append(value([mpmath.mpf(x) / sum(map(mpmath.mpf, share)) for x in share]))
    for _ in range(300):  # EM for the weights
        tau = [[r[k] * mpmath.exp(-costs[i][k]) for k in range(K)] for i in range(N)]
        r = [sum(w[i] * tau[i][k] / sum(tau[i]) for i in range(N)) / mpmath.fsum(w) for k in range(K)]
    assert bound <= min([*best, value(r)])
    # with the best weights nothing is lost
    found = leaf.bounds(y, w, a, b, q, np.log(np.maximum(np.array(r, dtype=float), 1e-40))[np.newaxis])[0]
    assert value(r) - mpmath.mpf("1e-3") <= found <= value(r)


def test_costs_that_are_too_large_prove_nothing():
    y, w = np.array([[1.0], [2.0]]), np.ones(2)
    zeros = np.zeros((1, 2))
    with np.errstate(all="ignore"):
        slopes = [np.full((1, 2, 1), b) for b in (1e18, 1e308)]
        huge = [leaf.bounds(y, w, zeros, b, zeros[..., np.newaxis], zeros)[0] for b in slopes]
    assert huge == [-np.inf, -np.inf]


@pytest.mark.parametrize("name", ["bernoulli", "poisson with prior", "exponential", "known with prior", "labels"])
def test_a_prior_costs_at_least_what_its_pseudo_observations_say(name):
    """Terms of a leaf against the prior's density at parameters of the cell, the samples' part left out."""
    problem = problem_of(name)
    rules, rng = rules_of(problem), np.random.default_rng(1)
    problem.n_components = 1  # of the cells of two, which are all that there can be
    d = problem.columns.shape[1]
    high = np.where(np.isinf(rules.high), 50.0, rules.high)
    low, high = rules.low[np.newaxis, np.newaxis] + 0.01, high[np.newaxis, np.newaxis] - 0.01
    slopes, reference = -rng.random((1, 1, d)), rng.normal(size=d)
    a = rules.intercepts(low, high, slopes, reference)
    lower = priors.leaf_terms(problem, a, slopes, reference)[0]
    values = []
    for _ in range(200):
        m = (low + rng.random(low.shape) * (high - low))[0]
        if name == "labels":
            m /= m.sum()
            if not ((low <= m).all() and (m <= high).all()):
                continue
        gamma = {"prior_variance": rng.uniform(0.5, 7.0)}
        values.append(priors.attained(problem, np.ones(1), m, gamma))
    assert values and lower <= min(values)


@pytest.mark.parametrize("family", proofs.FAMILIES)
def test_the_objective_is_that_of_the_model(tmp_path, family):
    problem = proofs.random_problem(np.random.default_rng(5), family)
    result = gopfast.solve(problem, 0.1, proof=tmp_path / "p.npz", n_threads=1, log=False, max_nodes=500)
    found = check(tmp_path / "p.npz", *proofs.arguments(problem))
    own = problem.objective(result.solution.weights, **result.solution.parameters)
    assert own - 1e-9 * (1 + abs(own)) <= found.objective <= own + 1e-8 * (1 + abs(own))


@pytest.mark.parametrize(
    ("name", "means"),
    [("bernoulli", [[1.5], [0.5]]), ("poisson", [[-1.0, 2.0], [3.0, 1.0]]), ("labels", [[-0.1, 0.6, 0.5]] * 2)],
)
def test_parameters_out_of_range_attain_nothing(name, means):
    problem = problem_of(name)
    solution = {"weights": [0.5, 0.5], "means": means}
    with pytest.raises(ProofError, match="solution: has means out of range"):
        objective.attained(problem, problem.columns, problem.weights, solution)


def test_labels_are_divided_by_their_sum():
    problem = problem_of("labels")
    values = [objective.attained(problem, problem.columns, problem.weights,
                                 {"weights": [1.0, 1.0], "means": [[0.4 * c, 0.3 * c, 0.3 * c]] * 2})
              for c in (1.0, 2.0)]  # fmt: skip
    assert values[0] == pytest.approx(values[1])


def test_variances_below_the_floor_attain_nothing():
    problem = problem_of("diag")
    solution = {"weights": [0.5, 0.5], "means": [[-10.0], [15.0]], "variances": [[0.2], [100.0]]}
    with pytest.raises(ProofError, match="below the floor"):
        objective.attained(problem, problem.columns, problem.weights, solution)


# The tree


def test_halves_cover_their_parent_and_components_are_in_order():
    rules = rules_of(problem_of("known"))
    splits = np.array([[2, 1, 3, 4], [0, 0, 1, 2]])  # in any order
    labels, low, high, empty = tree.leaves(splits, np.array([0.0, 5.0]), rules, 2, 0)
    assert labels.tolist() == [1, 3, 4]
    assert low[..., 0].tolist() == [[-10, -10], [5, 5], [5, 5]]
    assert high[..., 0].tolist() == [[5, 25], [0, 0], [25, 25]]
    assert empty.tolist() == [False, True, False]


def test_a_node_split_below_all_boxes_is_its_own_upper_part():
    """A node that was bounded again: the lower part holds nothing, and needs no label of its own."""
    rules = rules_of(problem_of("known"))
    labels, low, high, empty = tree.leaves(np.array([[0, 0, -1, 3]]), np.array([-1e300]), rules, 2, 0)
    assert labels[~empty].tolist() == [3]
    assert (low[~empty][0] == rules.low).all() and (high[~empty][0] == rules.high).all()


@pytest.mark.parametrize(("splits", "message"), [
    ([[0, 7, 1, 2]], "no variable 7"), ([[0, -2, 1, 2]], "no variable -2"), ([[0, 0, 0, 1]], "lies below itself"),
    ([[0, 0, 1, 2], [1, 0, 3, 0]], "lies below itself"), ([[0, 0, 1, 2], [0, 1, 3, 4]], "node 0: is split twice"),
    ([[0, 0, 1]], "must be four numbers"),
])  # fmt: skip
def test_what_is_no_tree_is_refused(splits, message):
    with pytest.raises(ProofError, match=message):
        tree.leaves(np.array(splits, dtype=int), np.zeros(len(splits)), rules_of(problem_of("known")), 2, 0)


def test_a_leaf_has_one_entry_or_none():
    assert tree.entries(np.array([7, 3]), np.array([3, 4, 7]), "leaf").tolist() == [1, tree.NONE, 0]
    with pytest.raises(ProofError, match="leaf 3: has two entries"):
        tree.entries(np.array([3, 1, 3]), np.array([3]), "leaf")


# Files


def set_in(path):
    """A change of one entry of the header."""

    def change(header, value):
        *above, last = path
        for name in above:
            header = header[name]
        if value is KeyError:
            del header[last]
        else:
            header[last] = value

    return change  # fmt: skip


WRONG = [None, "x", -1, 1.5, [], {}, [[]], ["a"], [None], True, 1e300, float("nan"), float("inf"), 10**400, KeyError]
ENTRIES = [
    ("problem",), ("claim",), ("digest",), ("order",), ("reference",), ("version",), ("format",), ("problem", "family"),
    ("problem", "n_components"), ("problem", "variance_floor"), ("claim", "lower_bound"), ("claim", "objective"),
    ("claim", "solution"), ("claim", "solution", "weights"), ("claim", "solution", "means"),
    ("claim", "solution", "variances"),
]  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES, ids=".".join)
def test_a_malformed_header_is_refused_by_name(proof, tmp_path, entry):
    for value in WRONG:
        header, arrays = proofs.parts(proof)
        if entry == ("claim", "lower_bound") and value in (-1, 1.5):
            continue  # true, but weaker
        if entry == ("claim", "objective") and value == 1e300:
            value = float("nan")
        set_in(entry)(header, value)
        proofs.put(tmp_path / "bad.npz", header, arrays)
        with pytest.raises(ProofError):
            check(tmp_path / "bad.npz", X)


@pytest.mark.parametrize("name", ["splits", "points", "slopes", "log_weights"])
def test_malformed_arrays_are_refused_by_name(proof, tmp_path, name):
    wrong = [
        lambda array: array[:-1], lambda array: array.astype(complex), lambda array: array.astype(str), lambda _: 1.0,
        lambda array: array[np.newaxis], lambda array: array * np.nan, lambda array: array.astype("float32"),
        lambda array: np.concatenate([array, array]), lambda array: array[:0],
    ]  # fmt: skip
    for change in wrong:
        header, arrays = proofs.parts(proof)
        arrays[name] = np.asarray(change(arrays[name]))
        proofs.put(tmp_path / "bad.npz", header, arrays)
        with pytest.raises(ProofError):
            check(tmp_path / "bad.npz", X)


def test_what_is_no_archive_is_refused(proof, tmp_path):
    path = tmp_path / "bad.npz"
    whole = proof.read_bytes()
    texts = [b"", b"PK", b"not a proof", whole[: len(whole) // 2], whole[:100] + b"\0" * 50 + whole[150:]]
    for text in texts:
        path.write_bytes(text)
        with pytest.raises(ProofError, match="file: is no proof"):
            check(path, X)
    with open(path, "wb") as target:
        np.save(target, np.zeros(3))
    with pytest.raises(ProofError, match="file: is no proof"):
        check(path, X)
    header, arrays = proofs.parts(proof)
    with open(path, "wb") as target:
        np.savez(target, header=np.array("[" * 100_000), **arrays)
    with pytest.raises(ProofError, match="file: is no proof"):
        check(path, X)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", "x")
    with pytest.raises(ProofError, match="file: is no proof"):
        check(path, X)
    with pytest.raises(FileNotFoundError):
        check(tmp_path / "absent.npz", X)


def test_an_archive_of_more_or_less_than_a_proof_is_refused(proof, tmp_path):
    header, arrays = proofs.parts(proof)
    path = tmp_path / "bad.npz"
    for changed in (arrays | {"more": np.zeros(1)}, {name: arrays[name] for name in list(arrays)[1:]}):
        proofs.put(path, header, changed)
        with pytest.raises(ProofError, match="file: must hold the header and"):
            check(path, X)
    for change in ({"more": 1}, {"kind": "biconvex"}, {"kind": "other"}, {"kind": None}, {"kind": []}):
        proofs.put(path, header | change, arrays)
        with pytest.raises(ProofError, match="header: |file: must hold"):
            check(path, X)
    # a name twice, of which readers may take either
    shutil.copy(proof, path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("points/0.npy", zipfile.ZipFile(proof).read("points/0.npy"))
    with pytest.raises(ProofError, match="each once"):
        check(path, X)
    # parts of an array
    for name in ("points/7", "points"):
        shutil.copy(proof, path)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(f"{name}.npy", zipfile.ZipFile(proof).read("points/0.npy"))
        with pytest.raises(ProofError, match="points: its parts are not all there"):
            check(path, X)
    proofs.put(path, header, arrays | {"slopes": np.array([[["x"]]], dtype=object)})
    with pytest.raises(ProofError, match="file: is no proof"):
        check(path, X)


def test_a_problem_that_proofs_have_no_entry_for_is_none_of_theirs(proof):
    with pytest.raises(ProofError, match="problem: proofs have no entry"):
        check(proof, X, problem=gopfast.CategoricalMixture(["a"] * 4, 2))


@pytest.mark.parametrize("data", [
    X[:3], X + 1, np.hstack([X, X]), X * np.nan, X * np.inf, np.array(["a"] * 4), None, np.zeros((4, 1, 1)), [], [[]],
    X + 1j, [[1], [2, 3]],
])  # fmt: skip
def test_other_data_are_refused(proof, data):
    with pytest.raises(ProofError):
        check(proof, data)


@pytest.mark.parametrize(
    "weights", [[1, 1, 1, 2], [1, 1, 1], [0, 0, 0, 0], [-1, 1, 1, 1], [np.nan] * 4, "x", [np.inf] * 4]
)
def test_other_weights_are_refused(proof, weights):
    with pytest.raises(ProofError):
        check(proof, X, weights)


def test_the_problem_is_what_the_user_says(proof):
    found = check(proof, X)
    assert found.problem == {"family": "diag", "n_components": 2, "variance_floor": [4.0]}
    assert check(proof, X, problem=found.problem) == found
    assert check(proof, X, problem=gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=4.0)) == found
    for other, message in [(gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=3.0), "variance_floor"),
                           (gopfast.GaussianMixture(X, 3, covariance="diag", variance_floor=4.0), "n_components"),
                           (gopfast.GaussianMixture(X, 2, covariance="known"), "family")]:  # fmt: skip
        with pytest.raises(ProofError, match=f"problem: {message} is"):
            check(proof, X, problem=other)


def test_one_floor_for_all_columns_of_a_spherical_component():
    record = {"family": "spherical", "n_components": 1, "variance_floor": [1.0, 2.0]}
    with pytest.raises(ProofError, match="one variance_floor"):
        Problem(record, COUNTS, None)


@pytest.mark.parametrize(
    "labels", [[["a", "a", "b", "c"]], [["a", "b"]], [[]], [["a"], ["b"]], "abc", [["a", 1.5, "b", "c"]]]
)
def test_lists_of_labels_must_be_those_of_the_data(labels):
    record = {"family": "labels", "n_components": 1, "prior": None, "labels": labels}
    with pytest.raises(ProofError, match="problem"):
        Problem(record, np.array([["a"], ["b"], ["c"]], dtype=object), None)


def test_entries_that_are_missing_cost_nothing():
    """A variable with missing entries has a column for each label, of two too, and its affine function none of 1."""
    record = {"family": "labels", "n_components": 1, "prior": None, "labels": [["a", "b"], [0, 1, 2]]}
    data = np.array([["a", 0], ["b", 1], [None, 2], ["a", float("nan")]], dtype=object)
    problem = Problem(record, data, None)
    assert problem.kinds == ["label"] * 5 and [own.tolist() for own in problem.partial] == [[0, 1], [2, 3, 4]]
    assert problem.columns.sum(axis=1).tolist() == [2.0, 2.0, 1.0, 1.0]
    whole = Problem(record, data, [1.0, 1.0, 0.0, 0.0])  # of the samples that count none is missing
    assert whole.kinds == ["bernoulli"] + ["label"] * 3 and not whole.partial
    bounds = Bounds(problem)
    b = np.random.default_rng(0).normal(size=(1, 1, 5))
    a = bounds.intercepts(bounds.rules.low[None, None], bounds.rules.high[None, None], b, np.zeros(5))
    total, tilted = bounds.folded(a, b)
    assert abs(total[0, 0]) < 1e-12
    for own in problem.partial:
        assert tilted[0, 0, own] == pytest.approx(b[0, 0, own] + a[0, 0, own].sum(), abs=1e-12)
        assert (tilted[0, 0, own] <= b[0, 0, own] + a[0, 0, own].sum()).all()
    with pytest.raises(ProofError, match="reference"):
        bounds.of(bounds.rules.low[None, None], bounds.rules.high[None, None], b, np.zeros((1, 1)), np.ones(5))
    with pytest.raises(ProofError, match="all entries of column 0 are missing"):
        Problem(record, np.array([[None, 0], [None, 1]], dtype=object), None)


def test_means_of_labels_add_up_to_one():
    problem = Problem({"family": "labels", "n_components": 1, "prior": None, "labels": [["a", "b", "c"]]},
                      np.array([["a"], ["b"], ["c"]], dtype=object), None)  # fmt: skip
    rules = rules_of(problem)
    low, high = rules.tightened(np.array([[[0.2, 0.3, 0.0]]]), np.array([[[1.0, 1.0, 0.1]]]))
    assert low[0, 0] == pytest.approx([0.2, 0.3, 0.0], abs=1e-9)
    assert high[0, 0] == pytest.approx([0.7, 0.8, 0.1], abs=1e-9)
    low, high = rules.tightened(np.array([[[0.0, 0.0, 0.0]]]), np.array([[[0.3, 0.3, 0.3]]]))
    assert (low > high).any()
    rng = np.random.default_rng(0)
    for m in rng.dirichlet(np.ones(3), 200):
        ends = [np.array([[m * (1 - share * rng.random(3))]]) for share in (1.0, -1.0)]
        low, high = rules.tightened(ends[0], ends[1])
        assert (low <= m).all() and (m <= high).all()


def test_equal_samples_are_one_of_their_weights():
    columns, weights = problem_of("known").merged()
    assert (columns.ravel().tolist(), weights.tolist()) == ([-10.0, 5.0, 25.0], [2.0, 1.0, 1.0])


def test_the_header_is_text_that_anyone_can_read(proof):
    with np.load(proof) as archive:
        header = json.loads(str(archive["header"]))
    assert (header["format"], header["version"], header["problem"]["family"]) == ("gopfast-proof", 7, "diag")


@pytest.mark.parametrize("family", ["tied_spherical", "tied_diag", "tied", "posterior", "regression shared"])
def test_prices_of_components_that_share_parameters_are_refused(tmp_path, family):
    """A component of less scatter than the shared variance says costs less than the rule of one component has it."""
    problem = proofs.random_problem(np.random.default_rng(7), family)
    gopfast.solve(problem, 0.1, proof=tmp_path / "p", n_threads=1, log=False, max_nodes=40)
    header, arrays = proofs.parts(tmp_path / "p")
    header["claim"]["lower_bound"] = header["claim"]["objective"]
    n = len(Problem(header["problem"], *proofs.arguments(problem)).merged()[0])
    arrays["prices"], arrays["leaves"] = np.full(n, 1e3), arrays["leaves"][:0]
    arrays["slopes"], arrays["log_weights"] = arrays["slopes"][:0], arrays["log_weights"][:0]
    proofs.put(tmp_path / "p", header, arrays)
    with pytest.raises(ProofError, match="prices: are of components that share no parameters"):
        check(tmp_path / "p", *proofs.arguments(problem))
