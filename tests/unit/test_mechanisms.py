"""Mechanisms one by one: declared, switched off, counted."""

import copy
import pickle
from unittest import mock

import numpy as np
import pytest
from support import theory
from support.histories import first_incumbent
from support.plans import plan_of

import gopfast
from gopfast.errors import InputError
from gopfast.mechanisms import MECHANISMS, SWITCHES
from gopfast.mixtures import mechanisms
from gopfast.profile import Activity, Profile
from gopfast.search.mechanism import HANDED_OVER, Mechanism
from gopfast.switches import switched_off

EPSILON = 0.01
# those of mixtures; of biconvex problems each has a test of its own
OFF = pytest.mark.parametrize("name", [one.name for one in mechanisms.MECHANISMS if one.optional])


def clusters(seed, n, K, gap, d=1):
    rng = np.random.default_rng(seed)
    centers = gap * np.stack([np.arange(K), *rng.uniform(-0.5, 0.5, (d - 1, K))], axis=1)
    return centers[rng.integers(K, size=n)] + rng.standard_normal((n, d))


def items(seed, n, levels, n_items):
    rng = np.random.default_rng(seed)
    own = rng.integers(2, size=n)
    return (rng.random((n, n_items)) * levels * np.where(own, 1.0, 0.6)[:, None]).astype(int)


def galaxies():
    return gopfast.datasets.load("galaxies") / 1000


# Small problems of several families, on which every mechanism is at work somewhere, and their options.
PROBLEMS = {
    "one component": (lambda: gopfast.GaussianMixture(galaxies(), 1, covariance="known"), {}),
    "known variance": (lambda: gopfast.GaussianMixture(galaxies(), 4, covariance="known"), {}),
    "many nodes": (lambda: gopfast.GaussianMixture(clusters(2, 120, 5, 2.0), 5, covariance="known"), {}),
    "prior": (lambda: gopfast.GaussianMixture(clusters(0, 60, 3, 4.0), 3, covariance="known", prior="empirical"), {}),
    "many samples": (lambda: gopfast.GaussianMixture(clusters(4, 25_000, 2, 4.0), 2, covariance="known"), {}),
    "diag": (lambda: gopfast.GaussianMixture(galaxies(), 3, covariance="diag", variance_floor=0.2), {}),
    "priced": (
        lambda: gopfast.GaussianMixture(clusters(3, 40, 3, 4.0), 3, covariance="diag", variance_floor=0.3),
        {"relaxation": "pricing"},
    ),
    "tied": (
        lambda: gopfast.GaussianMixture(clusters(2, 30, 2, 4.0, 2), 2, covariance="tied", variance_floor=0.2),
        {"relaxation": "pricing"},
    ),
    "confined": (
        lambda: gopfast.GaussianMixture(clusters(2, 80, 3, 3.0, 2), 3, covariance="spherical", variance_floor=0.3),
        {"relaxation": "pricing"},
    ),
    "spherical of one variance": (
        lambda: gopfast.GaussianMixture(clusters(5, 40, 2, 4.0, 2), 2, covariance="tied_spherical", variance_floor=0.2),
        {},
    ),
    "counts": (lambda: gopfast.PoissonMixture(np.repeat([[2], [9], [10], [30]], 15, axis=0), 3), {}),
    "zeros and ones": (lambda: gopfast.BernoulliMixture(items(6, 50, 2, 4), 2), {}),
    "labels": (lambda: gopfast.LatentClass(items(7, 14, 3, 3), 2), {}),
    "a table": (lambda: gopfast.LatentClass(items(8, 40, 4, 2), 2), {}),
}  # fmt: skip
# What is proved of these takes long: their bounds must agree where they stop.
HARD = {
    "groups": (
        lambda: gopfast.GaussianMixture(clusters(4, 5_000, 2, 6.0, 2), 2, covariance="spherical"), {"max_nodes": 50},
    ),
    "hull": (
        lambda: gopfast.GaussianMixture(clusters(4, 5_000, 2, 9.0, 6), 2, covariance="spherical"), {"max_nodes": 50},
    ),
    "cover": (
        lambda: gopfast.GaussianMixture(clusters(4, 5_000, 2, 9.0, 5), 2, covariance="diag"),
        {"max_nodes": 30, "time_limit": 10},
    ),
    "raised": (
        lambda: gopfast.GaussianMixture(clusters(4, 1_100, 2, 8.0, 2), 2, covariance="full"), {"max_nodes": 30},
    ),
    "atoms": (
        lambda: gopfast.GaussianMixture(galaxies(), 4, covariance="diag", variance_floor=0.09),
        {"relaxation": "pricing", "max_nodes": 1000},
    ),
    "simplices": (
        lambda: gopfast.GaussianMixture(clusters(2, 30, 3, 5.0, 2), 3, covariance="tied", variance_floor=0.2),
        {"relaxation": "pricing", "max_nodes": 300},
    ),
    "factors": (
        lambda: gopfast.GaussianMixture(clusters(2, 60, 3, 8.0, 3), 3, covariance="tied", variance_floor=0.2),
        {"max_nodes": 300},
    ),
    "gathered": (
        lambda: gopfast.GaussianMixture(clusters(2, 6_000, 3, 8.0, 3), 3, covariance="tied"),
        {"max_nodes": 60, "time_limit": 10},
    ),
    "gathered_known": (
        lambda: gopfast.GaussianMixture(clusters(2, 200_000, 2, 9.0, 5), 2, covariance="known"),
        {"max_nodes": 30, "time_limit": 10},
    ),
    "noise": (
        lambda: gopfast.GaussianMixture(clusters(2, 50_000, 3, 8.0, 3), 3, covariance="tied"),
        {"max_nodes": 60, "time_limit": 10},
    ),
    "shares": (
        lambda: gopfast.GaussianMixture(clusters(2, 3_000, 2, 9.0, 3), 2, covariance="full"),
        {"max_nodes": 60, "time_limit": 10},
    ),
    "blocks": (
        lambda: gopfast.GaussianMixture(clusters(1, 30, 2, 5.0, 9), 2, covariance="spherical", variance_floor=0.2),
        {"relaxation": "pricing", "max_nodes": 100},
    ),
    "marginal": (
        lambda: gopfast.GaussianMixture(clusters(1, 20, 2, 5.0, 3), 2, covariance="full", variance_floor=0.2),
        {"max_nodes": 100},
    ),
    "prices of summaries": (
        lambda: gopfast.GaussianMixture(clusters(4, 21_000, 3, 1.5), 3, covariance="known", prior=4.0),
        {"relaxation": "pricing", "max_nodes": 60},
    ),
}  # fmt: skip
_ALL_ON = {}


def solved(name, **options):
    make, others = (PROBLEMS | HARD)[name]
    with mock.patch.object(mechanisms, "batches_of", lambda plan, terms: 0):  # what waits for the tree is at once
        return gopfast.solve(make(), EPSILON, log=False, **{"n_threads": 1, **others, **options})


def all_on(name):
    if name not in _ALL_ON:
        _ALL_ON[name] = solved(name)
    return _ALL_ON[name]


def counts_of(result):
    return {name: at[:4] for name, at in result.profile.items()}


def test_every_mechanism_says_what_it_is():
    names = [mechanism.name for mechanism in MECHANISMS]
    assert len(set(names)) == len(names)
    labels = {f"({statement.label})" for chapter in theory.chapters() for statement in theory.statements(chapter)}
    for mechanism in MECHANISMS:
        assert issubclass(mechanism, Mechanism)
        assert mechanism.name.isidentifier() and mechanism.what and mechanism.back_off
        assert mechanism.hands_over and set(mechanism.hands_over) <= set(HANDED_OVER)
        assert mechanism.theory in labels, mechanism.name
        assert mechanism.inside is None or mechanism.inside in MECHANISMS


@OFF
def test_without_a_mechanism_the_optimum_is_the_same_and_nothing_of_it_is_counted(name):
    """On every problem on which it is at work."""
    for problem in PROBLEMS:
        usual = all_on(problem)
        assert usual.success, problem
        if usual.profile[name] == Activity():
            continue
        with gopfast.settings(**{name: False}):
            found = solved(problem, time_limit=20)
        assert found.profile[name] == Activity()
        assert found.lower_bound <= usual.objective + 1e-9 and usual.lower_bound <= found.objective + 1e-9
        assert found.objective == pytest.approx(usual.objective, abs=EPSILON) or not found.success


@OFF
def test_without_a_mechanism_bounds_of_hard_problems_agree(name):
    for problem in HARD:
        usual = all_on(problem)
        if usual.profile[name] == Activity():
            continue
        with gopfast.settings(**{name: False}):
            found = solved(problem)
        assert found.profile[name] == Activity()
        assert found.lower_bound <= usual.objective + 1e-9 and usual.lower_bound <= found.objective + 1e-9


@pytest.mark.parametrize("name", mechanisms.NAMES)
def test_every_mechanism_is_at_work_on_some_problem(name):
    assert any(all_on(problem).profile[name].calls for problem in PROBLEMS | HARD), name


def test_a_search_without_any_of_them_is_proved_too():
    with gopfast.settings(**dict.fromkeys(SWITCHES, False)):
        found = solved("known variance")
    assert found.success and found.objective == pytest.approx(all_on("known variance").objective, abs=EPSILON)
    assert {name for name, at in found.profile.items() if at.calls} == {"relaxed_dual", "local_search"}


def test_unknown_names_are_answered_with_all_that_there_are():
    with pytest.raises(InputError, match="no mechanism 'confinment'") as error, gopfast.settings(confinment=False):
        pass
    assert all(name in str(error.value) for name in SWITCHES)
    with pytest.raises(InputError, match="relaxed_dual"), gopfast.settings(relaxed_dual=False):
        pass
    with pytest.raises(InputError, match="pricing must be True or False"), gopfast.settings(pricing=0):
        pass


def test_settings_nest_and_end_with_their_statement():
    with gopfast.settings(pricing=False):
        with gopfast.settings(pricing=True, corners=False):
            assert switched_off() == {"corners"}
        assert switched_off() == {"pricing"}
        assert solved("priced").relaxation == "entropic"  # although prices were asked for
    assert switched_off() == frozenset()


@pytest.mark.parametrize("problem", ["diag", "many nodes", "zeros and ones", "priced"])
def test_counts_do_not_depend_on_the_number_of_threads(problem):
    assert counts_of(solved(problem, n_threads=3)) == counts_of(all_on(problem))


def test_nodes_and_gap_are_those_of_the_search():
    for problem in ("diag", "known variance", "counts", "labels"):
        result = all_on(problem)
        profile = result.profile
        assert profile["relaxed_dual"].calls == result.n_subproblems
        assert 0 < sum(at.nodes_closed for at in profile.values()) <= result.n_nodes
        assert all(min(at) >= 0 for at in profile.values())
        first = first_incumbent(result.history)
        raised = result.lower_bound - first[2] + first[3] - result.objective
        assert sum(at.gap_closed for at in profile.values()) == pytest.approx(raised, rel=1e-6, abs=2 * EPSILON)


def test_terms_are_samples_times_components_of_passes():
    X = galaxies()
    result = gopfast.solve(gopfast.GaussianMixture(X, 3, covariance="known"), n_threads=1, log=False, max_nodes=1)
    profile, n = result.profile, 3 * len(X)
    assert profile["relaxed_dual"].terms % n == 0 and profile["local_search"].terms % n == 0
    # and one pass more, for what the solution attains
    assert profile["relaxed_dual"].terms + profile["local_search"].terms == (result.n_passes + 1) * n
    assert profile.n_terms == sum(at.terms for at in profile.values())


def test_a_resumed_search_counts_all_runs_and_keeps_its_switches(tmp_path):
    path = tmp_path / "search.checkpoint"
    problem = PROBLEMS["diag"][0]()
    with gopfast.settings(divided_again=False):
        whole = gopfast.solve(problem, EPSILON, n_threads=1, log=False)
        # not by max_nodes, at which the last batch is smaller
        gopfast.solve(
            problem, EPSILON, n_threads=1, log=False, checkpoint=path,
            callback=lambda state: state.n_nodes >= whole.n_nodes // 2,
        )  # fmt: skip
    found = gopfast.resume(path, problem.X, n_threads=1, log=False)
    for name, at in counts_of(whole).items():
        calls, terms, closed, _ = counts_of(found)[name]  # what the stopped batch gained of the gap is not kept
        if name == "local_search":  # the incumbent is evaluated once more as it is read
            terms -= problem.n_samples * problem.n_components
        assert (calls, terms, closed) == at[:3], name
    assert found.profile["divided_again"] == Activity() and found.profile["divided_cells"].calls > 0


def test_a_profile_prints_and_is_kept():
    result = all_on("diag")
    profile = result.profile
    lines = str(profile).splitlines()
    assert lines[0].split() == "mechanism calls terms nodes closed gap closed seconds".split()
    assert len(lines) == 1 + sum(at != Activity() for at in profile.values()) and len(set(map(len, lines))) == 1
    assert repr(profile).startswith("Profile(n_terms=")
    for other in (pickle.loads(pickle.dumps(profile)), copy.deepcopy(profile), Profile.from_dict(profile.to_dict())):
        assert other == profile and list(other) == list(profile)
    assert gopfast.Result.from_json(result.to_json(), result.solution.problem).profile == profile
    with pytest.raises(KeyError):
        profile["nothing"]


def test_the_guide_lists_the_switches():
    guide = (theory.ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    rows = [f"| `{mechanism.name}` | {mechanism.what} |" for mechanism in MECHANISMS if mechanism.optional]
    assert "\n".join(rows) in guide


@pytest.mark.parametrize("problem", ["known variance", "diag", "confined", "many samples", "zeros and ones"])
def test_what_proofs_have_no_entry_for_is_not_at_work_in_them(problem):
    make, options = PROBLEMS[problem]
    result = gopfast.solve(make(), **{"max_nodes": 400, "time_limit": 60.0, **options}, proof=True, log=False)
    at_work = {name for name, row in result.profile.items() if row.calls}
    assert {"local_search", "relaxed_dual"} <= at_work
    assert at_work <= {mechanism.name for mechanism in MECHANISMS if mechanism.in_proofs}
    free = gopfast.solve(make(), **{"max_nodes": 400, "time_limit": 60.0, **options}, log=False)
    # there is something that the proof has done without
    assert at_work < {name for name, row in free.profile.items() if row.calls}


def test_prices_wait_where_the_tree_closes_most_problems():
    """Two means of known variance have several times the work of prices for the tree, and no hull."""
    x = np.random.default_rng(0).standard_normal((12_000, 4))
    work, hull = {}, {}
    for K, d in ((2, 3), (3, 2), (2, 4), (3, 3), (3, 4)):
        plan = plan_of(gopfast.GaussianMixture(x[:, :d], K, covariance="known"))
        work[K, d] = mechanisms.Pricing.begin(plan) * mechanisms.terms_of_a_node(plan)
        hull[K, d] = plan.has(mechanisms.Hull)
    assert min(work[2, 3], work[3, 2], work[2, 4]) > 10 * work[3, 3]
    assert hull[3, 4] and not hull[2, 4]
