"""Hitting sets: every mixture below the limit has a mean in each, and nodes lose nothing that is below it."""

import itertools

import numpy as np
import pytest
from gopfast.mixtures.incumbent.basin import MixtureBasin
from gopfast.mixtures.mixing.hitting import HittingSets
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from support.audit import known_best
from support.datasets import galaxies
from support.settings import EVERY

import gopfast
from gopfast.mixtures import engine


def line(seed, n, K, gap, weighted=False):
    rng = np.random.default_rng(seed)
    x = gap * rng.integers(K, size=n) + rng.standard_normal(n)
    return x, rng.uniform(0.5, 2, n) if weighted else None


def core(family):
    columns, weights = family.data.arrays()
    return columns[0], weights


def climb(x, w, share, means, n_steps):
    for _ in range(n_steps):
        r = share * np.exp(-0.5 * np.square(x[:, None] - means))
        r *= (w / r.sum(axis=1))[:, None]
        share, means = r.sum(axis=0) / w.sum(), (r.T @ x) / np.maximum(r.sum(axis=0), 1e-300)
    return share, means


def good_mixtures(rng, problem, family, best, limit):
    """Mixtures below the limit: from EM at any stage, from the best one moved about, and with means to spare."""
    (x, w), K = core(family), problem.n_components
    pool = []
    for _ in range(30):
        share, means = climb(x, w, np.full(K, 1 / K), rng.choice(x, K, replace=False), int(rng.integers(1, 200)))
        pool.append((share, means))
    for _ in range(400):
        step = 10.0 ** rng.uniform(-2, 0.5)
        share = np.maximum(best[0] + 0.3 * step * rng.normal(size=K) * rng.integers(2, size=K), 1e-4)
        pool.append((share / share.sum(), best[1] + step * rng.normal(size=K) * (rng.random(K) < 0.4)))
    for share, means in pool[:60]:
        k = int(rng.integers(K))
        moved = means.copy()
        moved[k] = rng.uniform(x.min(), x.max())
        light = np.where(np.arange(K) == k, 1e-9, share)
        pool.append((light / light.sum(), moved))
    _, low, high = HittingSets(family).report()
    below = []
    for share, means in pool:
        means = np.clip(means, low, high)
        if problem.objective(share, family.data.to_user(means[:, None])) < limit:
            below.append(np.sort(means))
    return np.array(below)


SLACKS, PRIORS = [0.02, 1.0, 6.0], [None, "empirical", 4.0]
CASES = [(0, 200, 3, 5), (1, 300, 4, 4), (2, 60, 2, 3), (3, 150, 5, 6), (4, 400, 3, 2), (5, 100, 6, 8)]


def combinations():
    """Every pair of a case, a slack and a prior, or all three with each other."""
    for case, (i, slack), (j, prior) in itertools.product(CASES, enumerate(SLACKS), enumerate(PRIORS)):
        if (case[0] + i + j) % EVERY == 0:
            yield case, slack, prior


@pytest.mark.parametrize(("case", "slack", "prior"), list(combinations()), ids=str)
def test_every_mixture_below_the_limit_hits_every_set(case, slack, prior):
    """With a limit above the optimum, so that there are such mixtures."""
    x, w = line(*case, weighted=case[0] % 2 == 1)
    K = case[2]
    problem = gopfast.GaussianMixture(
        x, K, prior=prior, sample_weight=w, prior_variance_bounds=(0.1, 1e4), covariance="known"
    )
    family = engine.family(problem)
    search = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=20), 0.01, max_nodes=1)
    search.run()
    fields, solution = search.summary()
    sets = HittingSets(family)
    limit = fields["objective"] + slack
    sets.learn(solution, limit, 20_000)
    known, low, high = sets.report()
    assert known or prior == 4.0
    rng = np.random.default_rng(case[0])
    means = good_mixtures(rng, problem, family, (solution[:K], solution[K : 2 * K]), limit)
    assert len(means) > 10
    assert (low - 1e-12 <= means).all() and (means <= high + 1e-12).all()
    for parts in known:
        hit = (parts[:, 0] - 1e-12 <= means[:, :, None]) & (means[:, :, None] <= parts[:, 1] + 1e-12)
        assert hit.any(axis=(1, 2)).all()
    for point in means[:50]:
        wide = rng.uniform(0, 3, (2, K))
        box = np.maximum.accumulate(point - wide[0]), np.minimum.accumulate((point + wide[1])[::-1])[::-1]
        left = sets.cut(*box)
        assert left is not None
        assert (left[0] - 1e-12 <= point).all() and (point <= left[1] + 1e-12).all()


def test_well_separated_clusters_leave_a_small_box():
    x, _ = line(0, 300, 7, 5)
    family = engine.family(gopfast.GaussianMixture(x, 7, covariance="known"))
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 0.01, max_nodes=1)
    search.run()
    fields, solution = search.summary()
    sets = HittingSets(family)
    sets.learn(solution, fields["objective"] - 0.01, 10**9)
    known, low, high = sets.report()
    assert (high - low).max() < 1.0


def test_fitting_a_box_loses_no_point_that_hits_all_sets():
    """Against all points of a grid, for any sets; a box without such a point is found empty in most cases."""
    rng = np.random.default_rng(5)
    x = np.arange(12.0)
    emptied = empty = 0
    for _ in range(300):
        K = int(rng.integers(1, 4))
        family = engine.family(gopfast.GaussianMixture(x, K, covariance="known"))
        sets = HittingSets(family)
        places = np.linspace(-5.5, 5.5, 12)  # the core's coordinates are centred
        known = []
        for _ in range(int(rng.integers(1, 5))):
            ends = np.sort(rng.choice(places, 2 * int(rng.integers(1, 3)), replace=False)).reshape(-1, 2)
            known.append([tuple(part) for part in ends])
        sets.know(known)
        low = np.sort(rng.choice(places, K))
        high = np.maximum.accumulate(low + rng.choice([0.0, 1.0, 3.0, 8.0], K))
        points = np.array([p for p in itertools.product(places, repeat=K) if list(p) == sorted(p)])
        keep = ((low <= points) & (points <= high)).all(axis=1)
        for parts in known:
            keep &= np.any([[(a <= p).__and__(p <= b).any() for p in points] for a, b in parts], axis=0)
        points = points[keep]
        left = sets.cut(low, high)
        if len(points):
            assert left is not None
            assert (left[0] <= points).all() and (points <= left[1]).all()
            assert (left[0] >= low).all() and (left[1] <= high).all()
        else:
            empty += 1
            emptied += left is None
    assert empty > 20
    assert emptied > 0.5 * empty


def test_disjoint_sets_are_hit_in_their_order():
    sets = HittingSets(engine.family(gopfast.GaussianMixture(np.arange(12.0), 4, covariance="known")))
    sets.know([[(-4.0, -3.0)], [(0.0, 1.0)], [(3.5, 4.5), (5.0, 5.2)]])
    low, high = sets.cut([-5.5] * 4, [5.5] * 4)
    assert low.tolist() == [-5.5, -4.0, 0.0, 3.5]
    assert high.tolist() == [-3.0, 1.0, 5.2, 5.5]
    assert sets.cut([-5.5, 2.0, 2.0, 2.0], [5.5] * 4) is None  # the first component is left for two of the sets
    assert sets.cut([-5.5, -2.0, 2.0, 2.0], [5.5] * 4) is not None
    assert sets.cut([-1.0] * 4, [5.5] * 4) is None


def run(problem, reduce_from=8, **arguments):
    family = engine.family(problem)
    primal = MixturePrimal(family)
    search = Search(
        EntropicRelaxation(family), primal, arguments.pop("epsilon", 0.01), basin=MixtureBasin(family, primal),
        reduction=HittingSets(family), reduce_from=reduce_from, **arguments,
    )  # fmt: skip
    return search, search.run()


PROBLEMS = [
    gopfast.GaussianMixture(galaxies(), 5, covariance="known"),
    gopfast.GaussianMixture(galaxies(), 7, covariance="known"),
    gopfast.GaussianMixture(line(1, 150, 4, 4)[0], 4, covariance="known"),
    gopfast.GaussianMixture(line(2, 300, 6, 5)[0], 6, sample_weight=line(2, 300, 6, 5, True)[1], covariance="known"),
    gopfast.GaussianMixture(line(3, 20_000, 4, 4)[0], 4, covariance="known"),
    gopfast.GaussianMixture(line(4, 80, 4, 2)[0], 4, covariance="known"),
    gopfast.GaussianMixture(line(5, 200, 6, 5)[0], 6, prior="empirical"),
    gopfast.GaussianMixture(line(6, 150, 5, 5)[0], 5, prior=50.0),
]


@pytest.mark.parametrize("number", range(len(PROBLEMS)))
def test_searches_agree_with_and_without_it_and_for_any_threads(number):
    problem = PROBLEMS[number]
    family = engine.family(problem)
    plain = Search(EntropicRelaxation(family), MixturePrimal(family), 0.01, max_nodes=20_000)
    plain.run()
    without, _ = plain.summary()
    counts = set()
    for threads in (1, 2, 4):
        search, status = run(problem, n_threads=threads)
        fields, _ = search.summary()
        assert status == gopfast.result.Status.OPTIMAL
        assert fields["objective"] - 0.01 - 1e-9 <= fields["lower_bound"] <= fields["objective"]
        assert without["lower_bound"] <= fields["objective"]
        assert fields["lower_bound"] <= without["objective"]
        counts.add((fields["n_nodes"], fields["n_passes"], fields["objective"], fields["lower_bound"]))
    assert len(counts) == 1
    assert fields["n_nodes"] <= without["n_nodes"] + 64


@pytest.mark.parametrize("number", range(len(PROBLEMS)))
@pytest.mark.parametrize("epsilon", [0.3, 0.01, 1e-5])
def test_no_node_loses_a_solution_that_is_known(number, epsilon):
    problem = PROBLEMS[number]
    family = engine.family(problem)
    known = known_best(family, 500)
    search, _ = run(problem, epsilon=epsilon, known=known, max_nodes=3000)
    assert search.n_audit_failures == 0


class TestLimits:
    def test_it_goes_on_after_a_stop(self):
        problem = gopfast.GaussianMixture(line(2, 300, 6, 5)[0], 6, covariance="known")
        search, status = run(problem, max_nodes=40)
        assert status == gopfast.result.Status.NODE_LIMIT
        first, _ = search.summary()
        assert search.resume() == gopfast.result.Status.OPTIMAL
        last, _ = search.summary()
        assert first["lower_bound"] <= last["lower_bound"] <= last["objective"] <= first["objective"]

    @pytest.mark.parametrize("limit", [0.0, 1e-3, 5e-3, 2e-2])
    def test_a_time_limit_leaves_valid_bounds(self, limit):
        problem = gopfast.GaussianMixture(line(1, 500, 8, 5)[0], 8, covariance="known")
        result = gopfast.solve(problem, time_limit=limit)
        full = gopfast.solve(problem)
        assert full.success
        assert result.lower_bound <= full.objective
        assert result.objective >= full.lower_bound

    def test_a_cutoff_from_outside(self):
        problem = gopfast.GaussianMixture(line(2, 300, 6, 5)[0], 6, covariance="known")
        full, _ = run(problem)
        objective = full.summary()[0]["objective"]
        family = engine.family(problem)
        search = Search(
            EntropicRelaxation(family), MixturePrimal(family), 0.01, reduction=HittingSets(family), reduce_from=8
        )
        status = search.resume(cutoff=objective - 5.0)
        fields, _ = search.summary()
        assert status in (gopfast.result.Status.CUTOFF, gopfast.result.Status.OPTIMAL)
        assert objective - 5.0 <= fields["lower_bound"] <= objective + 1e-9
        assert search.resume() == gopfast.result.Status.OPTIMAL or fields["lower_bound"] >= objective - 5.0


@pytest.mark.parametrize(
    "problem",
    [
        gopfast.GaussianMixture(galaxies(), 3, prior=10.0, posterior="gaussian"),
        gopfast.GaussianMixture(np.stack([galaxies().ravel()] * 2, axis=1), 3, covariance="known"),
        gopfast.GaussianMixture(np.linspace(0, 1000, 50), 3, covariance="known"),
        gopfast.GaussianMixture(np.arange(20.0), 2, sample_weight=np.append(np.ones(19), 1e-200), covariance="known"),
    ],
)
def test_models_that_it_is_not_for(problem):
    family = engine.family(problem)
    assert not HittingSets.applies(family)
    with pytest.raises(ValueError, match="one column"):
        HittingSets(family)
