"""Where local searches ended is counted as it was, told as evidence and kept; and it changes nothing that is proved."""

import json
import math
import pickle

import numpy as np
import pytest
from gopfast.clustering.lloyd import descend, draw
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.search.endings import ENDINGS

import gopfast
from gopfast.mixtures.primal.start_kinds import KINDS
from gopfast.starts import ENDED, INDEPENDENT, Starts

GALAXIES = gopfast.datasets.load_galaxies() / 1000


def wide(K=4):
    return gopfast.GaussianMixture(GALAXIES, K, covariance="diag", variance_floor=0.09)


def starts(above, kinds=None, endings=None, tolerance=0.01):
    """Starts with these ends."""
    kinds, endings = kinds or ["draws"] * len(above), endings or ["converged"] * len(above)
    counts = {kind: {how: 0 for how in ENDINGS} for kind in KINDS}
    for kind, how in zip(kinds, endings, strict=True):
        counts[kind][how] += 1
    return Starts(counts, kinds, endings, above, tolerance)


def posterior_mean(N, w):
    """Chance of a new optimum by summing over the number of optima."""
    k = np.arange(w, 400_000, dtype=float)
    gamma = np.vectorize(math.lgamma)
    log = gamma(k + 1) + gamma(k) - gamma(k - w + 1) - gamma(N + k)
    weights = np.exp(log - log.max())
    return float(weights @ ((k - w) / (N + k)) / weights.sum())


@pytest.mark.parametrize("N, w", [(10, 1), (10, 3), (20, 5), (42, 7), (12, 7)])
def test_the_chance_of_a_new_optimum_is_the_posterior_mean(N, w):
    found = starts([float(min(i, w - 1)) for i in range(N)])
    assert (found.n_independent, found.n_optima) == (N, w)
    assert found.chance_of_new == pytest.approx(posterior_mean(N, w), rel=1e-3)


def test_few_starts_promise_nothing():
    assert math.isnan(starts([]).chance_of_new) and math.isnan(starts([]).coverage)
    assert math.isnan(starts([0.0]).chance_of_new)
    assert starts([0.0, 1.0]).chance_of_new == 1.0 and starts([0.0, 1.0]).coverage == 0.0
    assert "none of which began independently" in starts([0.0], ["given"]).evidence
    assert starts([0.0]).evidence == "best of 1 local search, which 1 independent start met"


def test_ends_within_the_tolerance_are_one_optimum():
    found = starts([0.0, 0.009, 1.0, 1.005, 1.02, 3.0])
    assert found.optima == ((0.0, 2), (1.0, 2), (1.02, 1), (3.0, 1))
    assert (found.n_best, found.n_optima, found.coverage) == (2, 4, pytest.approx(1.0 - 2 / 6))
    assert found.evidence == (
        "best of 6 local searches; 2 of 6 independent starts met it, the others ended in 3 other optima; chance that "
        "another one ends in a new optimum: about 67%"
    )


def test_only_independent_starts_that_ended_are_counted():
    found = starts(
        [0.0, 0.0, 2.0, 0.5, 5.0], ["moves", "nodes", "draws", "clusters", "draws"],
        ["converged", "converged", "out of steps", "converged", "out of time"],
    )  # fmt: skip
    assert found.n_searches == 5
    assert found.independent.tolist() == [0.5, 2.0]
    assert found.evidence == (
        "best of 5 local searches; none of 2 independent starts met it, the nearest ended 0.5 above"
    )


def test_names_of_kinds_and_endings_are_those_of_the_core():
    assert set(INDEPENDENT) <= set(KINDS) and set(ENDED) <= set(ENDINGS)


def test_a_search_counts_its_local_searches():
    found = gopfast.solve(wide(), max_nodes=20, log=False).starts
    assert {"trials", "draws", "clusters", "moves", "crossings"} <= found.keys()
    assert found.n_searches == sum(sum(row.values()) for row in found.values()) > 50
    assert found.n_independent > 20 and found.n_best >= 1 and found.n_optima > 1
    assert found.above.min() == 0.0 and len(found.above) == len(found.kinds) == len(found.endings)
    assert "trials" in str(found) and found.evidence in str(found)


def test_optima_that_were_met_often_are_those_that_em_ends_in():
    problem = wide()
    result = gopfast.solve(problem, log=False)
    assert result.success and result.evidence == ""
    plain = np.array([
        gopfast.local.em(problem, start=gopfast.local.start(problem, random_state=seed)).objective for seed in range(40)
    ])
    often = [above for above, times in result.starts.optima if times > 3]
    assert len(often) == 3
    assert all(np.abs(plain - result.objective - above).min() < 0.01 for above in often)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_it_is_the_same_on_any_number_of_threads(n_threads):
    one, other = (gopfast.solve(wide(), max_nodes=200, n_threads=n, log=False).starts for n in (1, n_threads))
    assert dict(one) == dict(other) and np.array_equal(one.above, other.above) and one.kinds == other.kinds


def test_it_survives_a_checkpoint(tmp_path):
    path = tmp_path / "search.checkpoint"
    whole = gopfast.solve(wide(), max_nodes=600, log=False).starts
    stopped = gopfast.solve(wide(), max_nodes=600, log=False, checkpoint=path, callback=lambda at: at.n_nodes >= 200)
    assert stopped.status == "INTERRUPTED" and stopped.starts.n_searches < whole.n_searches
    resumed = gopfast.resume(path, GALAXIES, max_nodes=600, log=False).starts
    assert dict(resumed) == dict(whole) and resumed.kinds == whole.kinds
    assert np.allclose(resumed.above, whole.above, rtol=0, atol=1e-9)


def test_it_survives_pickle_and_json():
    result = gopfast.solve(wide(), max_nodes=20, log=False)
    for copy in (pickle.loads(pickle.dumps(result)), gopfast.Result.from_json(result.to_json(), wide())):
        assert dict(copy.starts) == dict(result.starts) and copy.starts.evidence == result.starts.evidence
        assert np.array_equal(copy.starts.above, result.starts.above)
    record = json.loads(result.to_json())
    assert record["evidence"] == result.evidence != ""
    assert record["starts"]["n_best"] == result.starts.n_best
    with pytest.raises(gopfast.InputError, match="starts must be what to_dict returned"):
        Starts.from_dict({"counts": {}})


def test_no_more_ends_are_kept_than_there_is_room_for():
    primal = MixturePrimal(gopfast.mixtures.engine.family(wide(2)))
    state = primal.state()
    room = 2000
    primal.restore({**state, "ends_of": np.zeros(room, np.int8), "ends_by": np.zeros(room, np.int8),
                    "ends_at": np.zeros(room)})  # fmt: skip
    assert len(primal.searches(np.inf)[1]) == room
    many = np.zeros(room + 1, np.int8)
    with pytest.raises(ValueError, match="ends_of must have at most"):
        primal.restore({**state, "ends_of": many, "ends_by": many, "ends_at": many.astype(float)})


def test_what_is_not_proved_says_its_evidence_beside_the_bound():
    result = gopfast.solve(wide(), max_nodes=20, log=False)
    assert f"  evidence       {result.evidence}" in str(result).splitlines()
    assert result.evidence in result.summary().notes


def test_descents_of_k_means_are_counted_in_the_users_units():
    X = np.random.default_rng(0).standard_normal((60, 2))
    problem = gopfast.KMeans(1000.0 * X, 5, sample_weight=np.full(60, 3.0))
    found = gopfast.solve(problem, max_nodes=1, log=False)
    starts = found.starts
    assert starts["draws"]["converged"] == 10 and starts["moves"]["converged"] >= 60
    assert starts.n_independent == 10 and 1 <= starts.n_best <= 10 and starts.n_searches == len(starts.above)
    # the nearest other optimum of the draws is one: Lloyd's method does not leave it
    other = starts.optima[-1][0]
    assert other > 0.0
    ends = {problem.objective(draws(problem, seed)) - found.inertia for seed in range(200)}
    assert min(abs(end - other) for end in ends) < 1e-6 * found.inertia
    copy = pickle.loads(pickle.dumps(found))
    assert copy.starts.evidence == starts.evidence and found.to_dict()["starts"]["n_searches"] == starts.n_searches


def draws(problem, seed):
    """Centers that one descent of k-means ends in, from a draw of k-means++ of its own."""
    rng = np.random.default_rng(seed)
    return descend(problem.X, problem.sample_weight, draw(problem.X, problem.sample_weight, problem.n_clusters, rng))[1]


def test_evidence_is_printed_where_k_means_is_not_proved():
    X = np.random.default_rng(0).standard_normal((80, 4))
    found = gopfast.solve(gopfast.KMeans(X, 8), max_nodes=1, log=False)
    assert found.status == "NODE_LIMIT" and found.evidence.startswith(f"best of {found.starts.n_searches} local")
    assert f"evidence       {found.evidence}" in str(found)


def test_what_needs_no_search_has_no_starts():
    assert gopfast.solve(gopfast.KMeans([0.0, 1.0, 9.0, 10.0], 2), log=False).starts is None
