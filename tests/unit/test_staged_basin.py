"""A wider box around an incumbent of known variance, where a search takes many nodes."""

import numpy as np
import pytest
from gopfast.mixtures.incumbent.basin import MixtureBasin
from gopfast.mixtures.incumbent.neighbourhood import Neighbourhood
from gopfast.mixtures.incumbent.staged import StagedBasin
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.plan import MixturePlan
from gopfast.options import Options
from gopfast.search import snapshot
from tests.support.audit import in_label_order


def box_of(family, primal):
    """The box of a plan of the family: nothing else of a problem counts for it."""
    plan = MixturePlan(None, family, Options.from_arguments())
    plan.primal = primal
    return plan.box()


def overlapping(seed, n=150, K=3, d=1, gap=3.0):
    rng = np.random.default_rng(seed)
    centers = gap * np.stack([np.arange(K), *rng.uniform(-0.5, 0.5, (d - 1, K))], axis=1)
    X = centers[rng.integers(K, size=n)] + rng.standard_normal((n, d))
    return gopfast.GaussianMixture(X, K, covariance="known", sample_weight=rng.uniform(0.5, 2, n))


def solved(problem):
    family = engine.family(problem)
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 1e-4, max_nodes=200)
    search.run()
    return family, search.summary()[1]


def width(basin):
    report = basin.report()
    return (report["high"] - report["low"]).sum()


@pytest.mark.parametrize(("K", "d"), [(2, 1), (4, 1), (3, 2)])
def test_the_wider_box_is_held_in_place_of_the_quick_one(K, d):
    family, vector = solved(overlapping(K + d, K=K, d=d))
    primal = MixturePrimal(family)
    basin = box_of(family, primal)
    assert isinstance(basin, StagedBasin)
    assert basin.find(vector, 0.01)
    quick = width(basin)
    assert quick == width_of(MixtureBasin(family, primal), vector)
    assert basin.find(vector, 0.01, wide=True)
    assert width(basin) > 1.2 * quick
    assert basin.report()["lower"] == lower_of(Neighbourhood(primal, family.chart()), vector)


def width_of(basin, vector):
    assert basin.find(vector, 0.01)
    return width(basin)


def lower_of(basin, vector):
    assert basin.find(vector, 0.01)
    return basin.report()["lower"]


def test_a_box_that_is_given_is_held_by_whichever_reaches_so_far():
    family, vector = solved(overlapping(1, K=3))
    primal = MixturePrimal(family)
    wide = Neighbourhood(primal, family.chart())
    assert wide.find(vector, 0.01)
    report = wide.report()
    middle, half = 0.5 * (report["low"] + report["high"]), 0.45 * (report["high"] - report["low"])
    quick, basin = MixtureBasin(family, primal), box_of(family, primal)
    assert not quick.covers(vector, 0.01, middle - half, middle + half)
    assert basin.covers(vector, 0.01, middle - half, middle + half)
    assert basin.report()["low"] == pytest.approx(middle - half)
    assert basin.report()["lower"] > -np.inf
    assert basin.covers(vector, 0.01, middle - 0.1 * half, middle + 0.1 * half)
    assert width(basin) == pytest.approx(0.2 * half.sum(), rel=1e-3)
    assert not basin.covers(vector, 0.01, middle - 10 * half, middle + 10 * half)


def test_priors_of_estimated_variance_and_many_samples_have_the_quick_box_alone():
    X = np.random.default_rng(0).standard_normal((60, 1))
    family = engine.family(gopfast.GaussianMixture(X, 2, covariance="known", prior="empirical"))
    assert isinstance(box_of(family, MixturePrimal(family)), MixtureBasin)
    assert family.chart() is None
    # nodes are bounded on summaries
    X = np.random.default_rng(0).standard_normal((400, 1))
    family = engine.family(gopfast.GaussianMixture(X, 2, covariance="known"))
    assert family.data.levels
    assert isinstance(box_of(family, MixturePrimal(family)), MixtureBasin)
    X = np.random.default_rng(0).standard_normal((30_000, 1))
    family = engine.family(gopfast.GaussianMixture(X, 2, covariance="known"))
    assert isinstance(box_of(family, MixturePrimal(family)), MixtureBasin)


def searched(problem, n_threads=1, max_nodes=1 << 40, known=None):
    family = engine.family(problem)
    primal = MixturePrimal(family)
    basin = box_of(family, primal)
    search = Search(
        EntropicRelaxation(family), primal, 1e-3, n_threads=n_threads, basin=basin, known=known, max_nodes=max_nodes
    )
    search.run()
    return search, basin, family


def test_a_search_of_many_nodes_widens_the_box_and_ends_at_the_same_optimum():
    problem = overlapping(0, n=120, K=4, gap=2.0)
    first, _, family = searched(problem)
    fields, vector = first.summary()
    assert fields["n_nodes"] > 2000
    known = in_label_order(family, vector), fields["objective"] + 1e-9
    ends = []
    for n_threads in (1, 2):
        search, basin, _ = searched(problem, n_threads, known=known)
        assert search.n_audit_failures == 0
        found, _ = search.summary()
        ends.append((found["n_nodes"], found["lower_bound"], width(basin)))
    assert ends[0] == ends[1]
    _, early, _ = searched(problem, max_nodes=500)
    assert ends[0][2] > 1.2 * width(early)


@pytest.mark.parametrize("stop", [500, 1500])
def test_a_search_that_goes_on_elsewhere_has_the_same_box_at_the_same_node(stop):
    problem = overlapping(0, n=120, K=4, gap=2.0)
    whole, _, _ = searched(problem)
    begun, _, _ = searched(problem, max_nodes=stop)
    other, _, _ = searched(problem, max_nodes=0)
    snapshot.restore(other, snapshot.state(begun), list(snapshot.slabs(begun)))
    other.resume(np.inf, 1 << 40)
    ends = [search.summary()[0] for search in (whole, other)]
    assert ends[0]["n_nodes"] == ends[1]["n_nodes"]
    assert ends[0]["lower_bound"] == ends[1]["lower_bound"]
