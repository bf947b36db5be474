"""The pricing bound against its own definition, in extended precision and by other formulas."""

import functools
import math
import time

import numpy as np
import pytest
from gopfast.mixtures.pricing.cell_tree import CellTree
from gopfast.mixtures.pricing.master import Master
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.pricing_cuts import PricingReduction
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from sklearn.datasets import load_iris
from support.audit import known_best
from support.columns import statistics
from support.exhaustive import brute_force_optimum
from support.problems import make, random_state

import gopfast
from gopfast.datasets import load
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.data import passes
from gopfast.mixtures.pricing import pricing_root
from gopfast.mixtures.pricing.pricing_root import PricingBound, single
from gopfast.mixtures.shared.shared import SharedBound
from gopfast.search import snapshot

PRICED = [
    "known", "known, fixed prior", "spherical", "diag", "full", "Bernoulli", "Bernoulli, prior", "Poisson",
    "Poisson, prior", "exponential", "exponential, prior", "categorical", "categorical, prior",
    "categorical, missing", "categorical, missing, prior",
]  # fmt: skip
long = np.longdouble


def saving(prices, costs, weights):
    """G of one component, without its prior, by bisection in extended precision."""
    w, a = weights.astype(long), (prices - costs).astype(long)
    W = w.sum()
    u = np.exp(a)
    if w @ u <= W:
        return long(0.0)
    low, high = long(0.0), long(1.0)  # sum w min(1, s u) - W s is positive below the root
    for _ in range(120):
        s = (low + high) / 2
        if w @ np.minimum(1, s * u) > W * s:
            low = s
        else:
            high = s
    return w @ np.maximum(0, np.log(high) + a)


def column_value(prices, costs, weights, tau):
    """What a column saves: sum w tau (lambda - c - log tau) + S log(S / W)."""
    w, tau = weights.astype(long), tau.astype(long)
    S = w @ tau
    logs = np.log(np.where(tau > 0, tau, 1))
    return w @ (tau * (prices - costs - logs)) + S * np.log(S / w.sum())


def component_costs(problem, state):
    """Costs (n, K) of the components at a state, priors apart."""
    values = [state[name] for name in problem.parameter_names]
    return -problem.log_densities(*values)


def prices_of(problem, rng):
    """Prices of every size: about those of a fit, or anything."""
    costs = component_costs(problem, random_state(problem, rng)).min(axis=1)
    return np.clip(costs, -50, 50) + rng.normal(size=len(costs)) * 10.0 ** rng.uniform(-2, 1) + rng.uniform(-1, 4)


@pytest.mark.parametrize("kind", PRICED)
@pytest.mark.parametrize("seed", range(4))
def test_every_mixture_costs_at_least_the_prices_less_what_its_components_save(kind, seed):
    rng = np.random.default_rng(seed)
    problem = make(kind, seed, 15, 2 + seed % 2, 1 + seed // 2, sample_weight=rng.choice([0.5, 1.0, 3.0], 15))
    w = problem.sample_weight
    for _ in range(20):
        state = random_state(problem, rng)
        costs = component_costs(problem, state)
        with np.errstate(divide="ignore"):
            joint = (np.log(state["weights"]) - costs).astype(long)
        top = joint.max(axis=1)
        objective = -w @ (top + np.log(np.exp(joint - top[:, None]).sum(axis=1)))
        prices = prices_of(problem, rng)
        bound = w @ prices - sum(saving(prices, c, w) for c in costs.T)
        assert bound <= objective + 1e-12 * (1 + abs(objective) + np.abs(w * prices).sum())


def test_the_closed_form_is_the_largest_column():
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, w = np.sort(rng.uniform(-3, 3, 12)), rng.choice([0.5, 1.0, 2.0], 12)
        problem = gopfast.GaussianMixture(x, 2, prior=None, sample_weight=w, covariance="known")
        pricing = ComponentPricing(single(problem, engine.family(problem)))
        prices, point = rng.uniform(0, 4, 12), rng.uniform(-1, 1, 1)
        costs, _ = pricing.costs_at(point)
        best = saving(prices, costs, w)
        mass, inner, value, saturated = pricing.columns(prices, point[None])
        assert value[0] == pytest.approx(float(best), abs=1e-10)
        assert pricing.values(prices, point[None]) == pytest.approx(value, abs=1e-12)
        assert saturated + inner.sum() == pytest.approx(mass.sum())
        if best > 0:
            assert column_value(prices, costs, w, mass[0] / w) == pytest.approx(float(best), abs=1e-9)
        for _ in range(50):
            tau = np.clip(mass[0] / w + rng.normal(size=12) * 10.0 ** rng.uniform(-4, 0), 0, 1)
            if tau.any():
                assert column_value(prices, costs, w, tau) <= best + 1e-12


def cell_around(pricing, core, rng):
    """A random cell with a point in it, as narrow as rounding leaves or as wide as the root, at times at a corner."""
    low, high = pricing.root()
    low, high = np.minimum(low, core), np.maximum(high, core)
    size = 10.0 ** rng.uniform(-6, 0.3, len(core)) * (high - low)
    part = rng.choice([0.0, 1.0, 0.5], len(core)) if rng.random() < 0.3 else rng.random(len(core))
    return np.maximum(low, core - part * size), np.minimum(high, core + (1 - part) * size)


def best_component(problem, one, tau):
    """Core parameters of the best component for a column; covariances as they are, below the floor too."""
    alone = type(problem).__new__(type(problem))
    weight = problem.sample_weight * tau
    alone.__setstate__({**problem.__dict__, "n_components": 1, "sample_weight": weight,
                        "total_weight": float(weight.sum())})  # fmt: skip
    state = alone.maximize(np.ones((len(tau), 1)))
    del state["weights"]
    if "covariances" in state:
        z = problem.X - state["means"]
        C = np.einsum("i,ij,ik->jk", weight, z, z) / weight.sum()
        shape = problem.covariance
        state["covariances"] = C[None] if shape == "full" else np.array(
            [np.diag(C)] if shape == "diag" else [np.trace(C) / len(C)])  # fmt: skip
    return np.asarray(one.pack(**state))


def core_rows(problem, family):
    """For every sample of the core a row of the problem that it stands for."""
    if isinstance(problem, gopfast.GaussianMixture):
        return np.arange(len(problem.X))
    columns, _, _ = statistics(problem)
    rows, first = np.unique(columns, axis=0, return_index=True)
    return np.arange(len(columns)) if len(rows) == len(columns) else first


@pytest.mark.parametrize("kind", PRICED)
def test_costs_of_a_component_add_up_to_the_objective(kind):
    problem = make(kind, 3, 14, 1, 2)
    family = engine.family(problem)
    pricing = ComponentPricing(single(problem, family))
    state = problem.maximize(np.ones((14, 1)))
    del state["weights"]
    costs, prior = pricing.costs_at(family.pack(**state))
    w = family.data.arrays()[1]
    assert w @ costs + prior + family.constant == pytest.approx(problem.objective(np.ones(1), **state), rel=1e-11)


@pytest.mark.parametrize("kind", PRICED)
@pytest.mark.parametrize("seed", range(3))
def test_no_column_of_a_cell_saves_more_than_its_bound(kind, seed):
    """Columns whose best parameters lie in the cell: any multipliers, and any number of passes."""
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.5, 1.0], 14)
    problem = make(kind, seed, 14, 2, 1 + seed % 3 if kind != "full" else 2, sample_weight=weights)
    family = engine.family(problem)
    one = single(problem, family)
    pricing = ComponentPricing(one)
    rows, w = core_rows(problem, family), one.data.arrays()[1]
    for _ in range(40):
        tau = rng.random(len(rows)) ** rng.choice([0.2, 1, 5])
        if rng.random() < 0.5:
            tau = np.maximum(1e-9, rng.random(len(rows)) < 0.4)
        spread = np.zeros(14)  # the same mass on one row of each kind
        spread[rows] = tau * w / weights[rows]
        core = best_component(problem, one, spread)
        costs, prior = pricing.costs_at(core)
        prices = np.clip(costs, -50, 50) + rng.normal(size=len(rows)) * 10.0 ** rng.uniform(-2, 1) + rng.uniform(-1, 4)
        low, high = cell_around(pricing, core, rng)
        pricing.set_prices(prices)
        value = column_value(prices, costs, w, tau) - prior
        tiny = 1e-9 * (1 + abs(value) + abs(prior))
        for n_passes in (1, 2, 3, 20):
            assert value <= pricing.bound_cell(low, high, n_passes=n_passes) + tiny
        q = 10.0 ** rng.uniform(-6, 2, one.n_facets) * (rng.random(one.n_facets) < 0.7)
        assert value <= pricing.bound_cell(low, high, multipliers=q) + tiny
        # the best column of these very parameters, where it has them as its best: a cell of that point alone
        assert saving(prices, costs, w) - prior >= value - tiny


@pytest.mark.parametrize("kind", PRICED)
@pytest.mark.parametrize("seed", range(2))
def test_the_proved_bound_lies_below_a_brute_force_optimum(kind, seed):
    problem = make(kind, seed, 6, 2, 1 + seed if kind != "full" else 2)
    reference = brute_force_optimum(problem)
    family = engine.family(problem)
    tau = np.random.default_rng(seed).dirichlet([0.5, 0.5], 6)
    state = problem.maximize(tau)
    for _ in range(50):
        state = problem.maximize(problem.responsibilities(**state), **state)
    weights = state.pop("weights")
    solution = np.concatenate([weights, np.ravel(family.pack(**state)), [1.0]])
    # a limit above the optimum: nothing of the optimum may be dropped
    bound = PricingBound(family, single(problem, family), solution, reference + 1.0)
    bound.improve_prices(0.01)
    bound.prove(0.01, max_cells=20_000)
    assert bound.lower <= reference + 1e-9 * (1 + abs(reference))


@pytest.mark.parametrize("shift", [-1.0, 0.0, 0.3, 2.0, 6.0])
def test_the_master_problem_is_solved_from_any_level(shift):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 30), rng.normal(3, 1, 30)])
    problem = gopfast.GaussianMixture(x, 2, prior=None, covariance="known")
    family = engine.family(problem)
    pricing = ComponentPricing(single(problem, family))
    points = family.data.from_user(np.linspace(-1, 4, 11)[:, None])
    start = np.min([pricing.costs_at(point)[0] for point in points], axis=0) + shift
    master = Master(np.ones(60), start + 1.0, pricing)
    prices, sigma, z = master.solve(start, points, np.zeros(11, int), np.array([2.0]), 1e-5)
    mass, _, values, _ = pricing.columns(prices, points)
    # the multipliers make a cover of the samples by two columns
    assert z.sum() == pytest.approx(2.0, abs=1e-3)
    assert z @ mass == pytest.approx(np.ones(60), abs=2e-2)
    assert sigma[0] == pytest.approx(values.max())


@pytest.mark.parametrize("kind", ["known", "diag"])
@pytest.mark.parametrize("isa", passes.instruction_sets())
def test_a_cell_of_one_point_is_priced_exactly_and_from_above(kind, isa):
    passes.use_instruction_set(isa)
    try:
        rng = np.random.default_rng(5)
        problem = make(kind, 1, 203, 2, 2)
        family = engine.family(problem)
        pricing = ComponentPricing(single(problem, family))
        low, high = pricing.root()
        w = family.data.arrays()[1]
        for _ in range(30):
            point = low + (0.1 + 0.5 * rng.random(len(low))) * (high - low)
            costs, _ = pricing.costs_at(point)
            prices = costs + rng.normal(size=len(costs)) * 10.0 ** rng.uniform(-6, 1.5)
            pricing.set_prices(prices)
            wanted, found = saving(prices, costs, w), pricing.bound_cell(point, point, n_passes=3)
            assert found >= wanted * (1 - 1e-15)
            assert found <= wanted + 1e-10 * (1 + abs(wanted) + np.abs(w * costs).sum())
    finally:
        passes.use_instruction_set()


@functools.cache
def fitted(kind):
    """A problem, its best run of EM (value), and the core parameters of the responsibilities, in label order."""
    problem = make(kind, 2, 25, 2, 2)
    family = engine.family(problem)
    runs = [MixturePrimal(family).em(np.full(2, 0.5), family.seeded(np.random.default_rng(s)), 1e-12, 3000)
            for s in range(20)]  # fmt: skip
    vector = min(runs, key=lambda run: run[1][-1])[0]
    state = {"weights": vector[:2] / vector[:2].sum(), **family.parameters(vector)}
    state = {name: state[name] for name in ("weights", *problem.parameter_names) if name in state}
    value = problem.objective(**state)
    tau = problem.responsibilities(**state)
    one = single(problem, engine.family(problem))
    rows = [best_component(problem, one, tau[:, k] + 1e-300) for k in range(problem.n_components)]
    return problem, value, np.array(sorted(map(list, rows)))


def as_solution(problem, state):
    state = dict(state)
    weights = state.pop("weights")
    return np.concatenate([weights, np.ravel(engine.family(problem).pack(**state)), [1.0]])


CUT = ["known", "known, fixed prior", "spherical", "diag", "full", "Bernoulli", "Poisson, prior", "exponential"]


@pytest.mark.parametrize("kind", CUT)
@pytest.mark.parametrize("excess", [1e-4, 0.5, 4.0])
def test_cuts_leave_every_solution_below_the_limit(kind, excess, monkeypatch):
    """The limit lies above the optimum: the optimum must survive, and no bound may exceed its value."""
    problem, value, known = fitted(kind)
    family = engine.family(problem)
    # prices from a worse solution
    worse = as_solution(problem, random_state(problem, np.random.default_rng(1)))
    monkeypatch.setattr(pricing_root, "MOST_OPEN_BYTES", 1_000_000)
    reduction = PricingReduction(family, lambda s, limit: PricingBound(family, single(problem, family), s, limit))
    reduction.learn_all(worse, value + excess)
    assert reduction.floor <= value + 1e-9 * (1 + abs(value))
    rng = np.random.default_rng(3)
    low, high = (np.tile(side, 2) for side in ComponentPricing(single(problem, family)).root())
    n_cut = 0
    for _ in range(60):
        size = 10.0 ** rng.uniform(-4, 0.3, known.size) * (high - low)
        part = rng.random(known.size)
        box = np.maximum(np.minimum(low, known.ravel()), known.ravel() - part * size)
        top = np.minimum(np.maximum(high, known.ravel()), known.ravel() + (1 - part) * size)
        left = reduction.cut(box, top)
        assert left is not None
        slack = 1e-9 * (1 + np.abs(known.ravel()))
        assert (left[0] <= known.ravel() + slack).all() and (left[1] >= known.ravel() - slack).all()
        assert left[2] <= value + 1e-9 * (1 + abs(value))
        n_cut += (left[0] > box + slack).any() or (left[1] < top - slack).any()
    assert n_cut > 0 or excess > 1  # it does cut


@pytest.mark.parametrize("kind", ["known", "diag", "Bernoulli", "Poisson"])
def test_searches_with_and_without_cuts_agree(kind):
    problem = make(kind, 4, 30, 2, 2)
    family = engine.family(problem)
    found = []
    for make_one in (None, lambda s, limit: PricingBound(family, single(problem, family), s, limit)):
        reduction = None if make_one is None else PricingReduction(family, make_one)
        search = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=20), 1e-3, reduction=reduction,
                        reduce_from=0, max_nodes=30_000)  # fmt: skip
        search.run()
        found.append(search.summary()[0])
    plain, cut = found
    assert cut["objective"] == pytest.approx(plain["objective"], abs=2e-3)
    assert cut["lower_bound"] <= plain["objective"] + 1e-9
    assert plain["lower_bound"] <= cut["objective"] + 1e-9
    # where the nodes do not suffice without the cuts, they are at least no worse
    assert cut["objective"] - cut["lower_bound"] <= max(plain["objective"] - plain["lower_bound"], 1e-3) + 1e-9


@pytest.mark.parametrize("most", [1, 7, 60, 4000])
def test_boxes_of_cells_are_met_as_their_cells_would_be(most):
    """With as many leaves as cells exactly; with fewer, no cell that is met is missed."""
    rng = np.random.default_rng(most)
    low = np.round(4 * rng.random((120, 3)), 1)
    high, upper = low + np.round(rng.random((120, 3)), 1), rng.normal(size=120)
    tree = CellTree(low, high, upper, most)
    assert tree.n_boxes <= 4 * most + 1
    for _ in range(200):
        at = 5 * rng.random(3)
        box, threshold = (at - rng.random(3), at + rng.random(3)), rng.choice([-np.inf, 0.0, 1.0])
        held = (low <= box[1]).all(axis=1) & (high >= box[0]).all(axis=1) & (upper >= threshold)
        sup, least, largest = tree.meets(*box, threshold)
        most_met = tree.meets(*box, -np.inf)[0]
        assert tree.largest_of(*box) == most_met
        assert sup == (most_met if most_met >= threshold else -np.inf)
        if not held.any():
            assert sup == -np.inf or most < 120
            continue
        cut = np.maximum(low[held], box[0]), np.minimum(high[held], box[1])
        wanted = upper[held].max(), cut[0].min(axis=0), cut[1].max(axis=0)
        assert sup >= wanted[0] and (least <= wanted[1]).all() and (largest >= wanted[2]).all()
        if most >= 120:
            assert sup == wanted[0] and (least == wanted[1]).all() and (largest == wanted[2]).all()
    assert CellTree(low[:0], high[:0], upper[:0]).meets(low[0], high[0], -np.inf)[0] == -np.inf


@pytest.mark.parametrize("below", [0.0, 1.0])
def test_cuts_by_prices_are_the_same_on_every_number_of_threads(below):
    """So are the failures that an audit counts, of a solution that is said to be better than it is."""
    problem = gopfast.BernoulliMixture(np.random.default_rng(2).integers(0, 2, (22, 7)), 2)
    family = engine.family(problem)
    point, value = known_best(family, 500)
    found = []
    for n_threads in (1, 2, 4):
        reduction = PricingReduction(family, lambda s, limit: PricingBound(family, single(problem, family), s, limit))
        search = Search(EntropicRelaxation(family), MixturePrimal(family), 1e-3, n_threads=n_threads, max_nodes=4000,
                        reduction=reduction, reduce_from=50, known=(point, value - below), trace=(trace := []))
        search.run()
        assert reduction.tree is not None
        found.append((search.n_nodes, search.n_audit_failures, search.least_bound, [node[:3] for node in trace]))
    assert found[0] == found[1] == found[2]
    assert (found[0][1] > 0) == (below > 0)


@pytest.mark.parametrize(("problem", "pays"), [
    (gopfast.BernoulliMixture(np.random.default_rng(2).integers(0, 2, (22, 7)), 2), False),
    (gopfast.GaussianMixture(np.arange(60)[:, None] % 3 + np.random.default_rng(0).normal(size=(60, 2)), 2), True),
])
def test_nodes_are_looked_up_among_the_cells_while_that_pays(problem, pays):
    family = engine.family(problem)
    reduction = PricingReduction(family, lambda s, limit: PricingBound(family, single(problem, family), s, limit))
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 1e-3, max_nodes=4000, reduction=reduction,
                    reduce_from=50)
    search.run()
    n_looked, n_gained, pause, paused = snapshot.knowledge(search, True)["domain.looks"]
    assert reduction.tree is not None and n_gained <= n_looked and paused <= pause
    assert (pause == 0) == pays


@pytest.mark.parametrize("options", [{"prior": "empirical", "posterior": "gaussian"}, {"covariance": "full"}])
def test_what_cannot_be_priced_is_refused(options):
    problem = gopfast.GaussianMixture(np.random.default_rng(0).normal(size=(20, 3)), 2, **options)
    with pytest.raises(InputError, match="needs at most 20,000 samples"):
        gopfast.solve(problem, relaxation="pricing")


@pytest.mark.parametrize("kind", [kind for kind in PRICED if "prior" in kind])
def test_a_component_without_samples_still_pays_its_prior(kind):
    """At prices that no sample pays, what a component saves is minus the least that its prior can cost."""
    problem = make(kind, 1, 12, 2, 2)
    pricing = ComponentPricing(single(problem, engine.family(problem)))
    low, high = pricing.root()
    pricing.set_prices(np.full(len(pricing.family.data.arrays()[1]), -1e4))
    pricing.climb(low + np.random.default_rng(0).random((20, len(low))) * (high - low), 200)
    pricing.open_boxes(low[None], high[None])
    pricing.search(np.inf, -np.inf, 2, 1e-6, max_cells=20_000)
    least = min(pricing.costs_at(point)[1] for point in (pricing.best(), *pricing.cells()[3]))
    assert -least <= pricing.supremum <= -least + 1e-3
    assert pricing.attained == pytest.approx(-least, abs=1e-6)


@pytest.mark.parametrize("kind", ["diag", "spherical", "full"])
def test_a_search_says_that_its_largest_cell_cannot_be_divided(kind):
    """Else whoever asks for more cells would ask for ever."""
    problem = make(kind, 1, 12, 2, 2)
    pricing = ComponentPricing(single(problem, engine.family(problem)))
    low, high = pricing.root()
    point = (0.5 * (low + high))[None]
    pricing.set_prices(np.full(len(pricing.family.data.arrays()[1]), 3.0))
    pricing.open_boxes(point, point)
    before = pricing.n_cells
    assert pricing.search(0.0, 1e9, 2, -np.inf, max_cells=100) == "stuck" and pricing.n_cells == before
    pricing.open_boxes(low[None], high[None])
    assert pricing.search(0.0, 1e9, 2, -np.inf, max_cells=100) == "cells" and pricing.n_cells > before


def test_bounds_of_cells_are_never_read_at_other_prices():
    problem = make("diag", 1, 12, 2, 1)
    pricing = ComponentPricing(single(problem, engine.family(problem)))
    low, high = pricing.root()
    pricing.set_prices(np.full(12, 3.0))
    assert pricing.supremum == np.inf
    pricing.open_boxes(low[None], high[None])
    assert np.isfinite(pricing.supremum)
    pricing.values(np.full(12, 3.0), low[None] + 0.5 * (high - low))
    assert np.isfinite(pricing.supremum)
    pricing.values(np.full(12, 4.0), low[None] + 0.5 * (high - low))
    assert pricing.supremum == np.inf
    for use in (lambda: pricing.search(0.0, 1.0, 2, 0.1), lambda: pricing.shave(0.0, 1.0, 2, 0.1), pricing.cells):
        with pytest.raises(ValueError, match="no cells were taken"):
            use()


def test_cells_that_gain_nothing_from_their_parents_multipliers_begin_without_them():
    """In eight dimensions inherited multipliers led nowhere in thousands of cells, which kept their parent's bound."""
    X = load_iris().data
    problem = gopfast.GaussianMixture(2 * (X - X.mean(axis=0)) / X.std(axis=0), 2, covariance="diag",
                                      variance_floor=0.04)  # fmt: skip
    family = engine.family(problem)
    setosa = (np.arange(150) < 50).astype(float)
    state = problem.maximize(np.array([setosa, 1 - setosa]).T)
    bound = PricingBound(family, single(problem, family), as_solution(problem, state), problem.objective(**state))
    bound.improve_prices(0.05)
    assert bound.prove(0.05, max_cells=50_000) == "tight"
    low, high, upper, _ = bound.pricing.cells()
    afresh = [bound.pricing.bound_cell(*box, n_passes=1) for box in zip(low[:200], high[:200], strict=True)]
    assert np.mean(upper[:200] <= np.array(afresh) + 1e-9) > 0.9


def test_pricing_begins_by_itself_where_the_tree_does_not_close(capsys):
    problem = gopfast.GaussianMixture(load("galaxies") / 1000, 4, covariance="diag", variance_floor=0.09)
    found = {
        relaxation: gopfast.solve(problem, relaxation=relaxation, n_threads=1, log=relaxation is None)
        for relaxation in (None, "entropic", "pricing")
    }
    assert [found[r].relaxation for r in (None, "entropic", "pricing")] == ["pricing", "entropic", "pricing"]
    assert found["pricing"].n_nodes < found[None].n_nodes < found["entropic"].n_nodes
    assert all(result.success for result in found.values())
    assert np.ptp([result.objective for result in found.values()]) < 1e-4
    assert "priced beside the tree" in capsys.readouterr().out


def test_small_problems_are_done_before_prices_begin():
    problem = gopfast.GaussianMixture(load("galaxies") / 1000, 2, covariance="diag", variance_floor=0.09)
    assert gopfast.solve(problem).relaxation == "entropic"
    known = gopfast.GaussianMixture(load("galaxies") / 1000, 3, prior=None, covariance="known")
    assert gopfast.solve(known).relaxation == "entropic"


@pytest.mark.parametrize("kind", ["diag", "known, fixed prior", "full"])
def test_pricing_gives_the_same_result_for_every_thread_count(kind):
    problem = make(kind, 6, 40, 3 if kind != "full" else 2, 2)
    one, two, four = (gopfast.solve(problem, relaxation="pricing", n_threads=n, max_nodes=2000) for n in (1, 2, 4))
    assert (one.n_nodes, one.n_passes, one.lower_bound) == (two.n_nodes, two.n_passes, two.lower_bound)
    assert (one.n_nodes, one.n_passes, one.lower_bound) == (four.n_nodes, four.n_passes, four.lower_bound)


def test_a_short_time_limit_leaves_the_bound_that_pricing_has_reached():
    X = load_iris().data
    problem = gopfast.GaussianMixture(2 * (X - X.mean(axis=0)) / X.std(axis=0), 2, covariance="diag",
                                      variance_floor=0.04)  # fmt: skip
    family = engine.family(problem)
    state = problem.maximize(np.array([np.arange(150) < 50, np.arange(150) >= 50], dtype=float).T)
    bound = PricingBound(family, single(problem, family), as_solution(problem, state), problem.objective(**state))
    past = time.monotonic() - 1.0
    bound.step(past)
    assert np.isfinite(bound.prices).all()
    bound.step(past)
    assert np.isfinite(bound.lower) and bound.lower <= problem.objective(**state)


@pytest.mark.parametrize("columns", [1, 2])
def test_prices_alone_prove_clusters_that_are_apart(columns):
    """What prices and suprema lose of the bound is small beside what is missing, where that decides."""
    rng = np.random.default_rng(1)
    centers = 6.0 * np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]) if columns == 2 else 6 * np.arange(6.0)
    X = np.repeat(centers.reshape(6, -1), 40, axis=0) + rng.standard_normal((240, columns))
    problem = gopfast.GaussianMixture(X, 6, covariance="known")
    family = engine.family(problem)
    state = problem.maximize(np.repeat(np.eye(6), 40, axis=0))
    for _ in range(200):
        state = problem.maximize(problem.responsibilities(**state), **state)
    value = problem.objective(**state)
    for limit in (value - 0.01, value + 0.01):  # of solutions below it: there are none, and there is one
        bound = PricingBound(family, single(problem, family), as_solution(problem, state), limit)
        while bound.step(np.inf):
            pass
        assert value - 0.02 <= bound.lower <= value + 1e-9
        assert (bound.lower == limit) == (limit < value)


@pytest.mark.parametrize("kind", ["known", "diag", "full", "Bernoulli", "categorical", "Poisson, prior", "exponential"])
def test_cells_are_the_same_for_every_thread_count(kind, monkeypatch):
    problem, value, known = fitted(kind)
    family = engine.family(problem)
    start = as_solution(problem, random_state(problem, np.random.default_rng(1)))
    monkeypatch.setattr(pricing_root, "MORE_CELLS", 2000)
    monkeypatch.setattr(pricing_root, "MOST_SHAVED", 1000)
    found = []
    for threads in (1, 2, 4):
        bound = PricingBound(family, single(problem, family), start, value + 0.5, threads=threads)
        for _ in range(4):
            bound.step(np.inf)
        pricing = bound.pricing
        found.append((bound.prices, *pricing.cells(), np.array([pricing.n_cells, pricing.n_passes, pricing.attained])))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert np.array_equal(one, same)
    assert found[0][-1][0] > 64 or kind == "known"  # more than a batch


@pytest.mark.parametrize("kind", ["diag", "tied"])
def test_an_interrupt_while_prices_are_made_ends_the_search(kind, monkeypatch):
    """It was lost: the solve went on as if nothing had been pressed."""
    def step(self, deadline):
        raise KeyboardInterrupt

    for bound in (PricingBound, SharedBound):
        monkeypatch.setattr(bound, "step", step)
    problem = make(kind, 4, 40, 3, 2)
    result = gopfast.solve(problem, relaxation="pricing", n_threads=1)
    assert result.status == gopfast.Status.INTERRUPTED
    assert np.isfinite(result.objective)


@pytest.mark.parametrize("kind", ["diag", "tied"])
def test_errors_while_prices_are_made_are_raised(kind, monkeypatch):
    def step(self, deadline):
        raise ArithmeticError("of the master problem")

    for bound in (PricingBound, SharedBound):
        monkeypatch.setattr(bound, "step", step)
    with pytest.raises(ArithmeticError, match="of the master problem"):
        gopfast.solve(make(kind, 4, 40, 3, 2), relaxation="pricing", n_threads=1)


@pytest.mark.parametrize("isa", passes.instruction_sets())
def test_costs_far_above_what_they_save_are_rounded_up(isa):
    """Prices and costs of 1e12 nats cancel: what their difference rounds is 1e-4 of a sample's part."""
    passes.use_instruction_set(isa)
    try:
        rng = np.random.default_rng(8)
        problem = gopfast.GaussianMixture(rng.normal(size=40) * 1e6, 2, covariance="known")
        pricing = ComponentPricing(single(problem, engine.family(problem)))
        (z,), w = pricing.family.data.arrays()
        for _ in range(200):
            point = rng.normal(size=1) * 1e6
            costs = (z.astype(long) - long(point[0])) ** 2 / 2
            prices = (costs + 3 * rng.random(40)).astype(float)
            pricing.set_prices(prices)
            assert pricing.bound_cell(point, point, n_passes=1) >= saving(prices.astype(long), costs, w)
    finally:
        passes.use_instruction_set()


@pytest.mark.parametrize("below", [0.5, 20.0])
def test_what_is_proved_of_solutions_below_a_limit_is_at_most_the_limit(below):
    """Cells are dropped that hold no solution below it: of others nothing is said."""
    problem, value, _ = fitted("diag")
    family = engine.family(problem)
    worse = as_solution(problem, random_state(problem, np.random.default_rng(1)))
    bound = PricingBound(family, single(problem, family), worse, value - below)
    while bound.step(math.inf):
        pass
    assert bound.lower <= value - below


@pytest.mark.parametrize("variance", [0.04, 1.0, 30.0])
def test_a_fixed_prior_counts_with_its_normalisation(variance):
    """In a cell of one point, by its definition: of a precision above 1 too, whose logarithm has the other sign."""
    rng = np.random.default_rng(2)
    problem = make("known, fixed prior", 1, 20, 2, 2, prior=variance)
    pricing = ComponentPricing(single(problem, engine.family(problem)))
    w = pricing.family.data.arrays()[1]
    for _ in range(20):
        mean = problem.X[rng.integers(20)] * rng.uniform(0.5, 1.0)
        (point,) = pricing.family.data.from_user(mean[None])
        costs = 0.5 * (np.square(problem.X - mean) / problem.noise_variance).sum(axis=1)
        prior = 0.5 * mean @ mean / variance + 0.5 * len(mean) * math.log(variance)
        prices = costs + rng.uniform(-1, 4, 20)
        pricing.set_prices(prices)
        wanted = float(saving(prices, costs, w)) - prior
        assert pricing.bound_cell(point, point, n_passes=3) == pytest.approx(wanted, abs=1e-8 * (1 + costs.sum()))


@pytest.mark.parametrize("kind", ["Bernoulli", "categorical", "categorical, missing"])
@pytest.mark.parametrize("seed", range(4))
def test_cells_need_not_be_divided_in_the_variable_whose_probabilities_are_free(kind, seed):
    """A cell that is narrow in the others bounds its best component tightly, wherever it is in that variable."""
    rng = np.random.default_rng(seed)
    problem = make(kind, seed + 10, 40, 2, 3, sample_weight=rng.choice([0.5, 1.0, 4.0], 40))
    one = single(problem, engine.family(problem))
    pricing, (columns, w) = ComponentPricing(one), one.data.arrays()
    found = one.free_variable()
    if found is None:
        assert kind == "categorical, missing"
        pytest.skip("an entry of every variable is missing")
    free, levels = found
    pricing.take_levels(found)  # those of two levels are not left free by themselves
    assert not free.all() and pricing.n_levels == levels.max() + 1 > 1
    assert np.unique(np.vstack([columns[free], levels]), axis=1).shape[1] == pricing.n_levels
    for _ in range(5):
        pricing.set_prices(rng.uniform(1, 5) + rng.normal(size=len(w)) * 10.0 ** rng.uniform(-2, 0))
        values, points = pricing.climb(pricing.seeded(rng, 6), 1000)
        for value, point in zip(values, points, strict=True):
            elsewhere = rng.random(len(point))
            low = np.where(free, elsewhere, np.maximum(point - 1e-5, 0.0))
            high = np.where(free, elsewhere, np.minimum(point + 1e-5, 1.0))
            bound = pricing.bound_cell(low, high, n_passes=40)
            assert value - 1e-9 * (1 + abs(value)) <= bound
            if value > max(1.0, values.max() - 1e-9):  # others may have ended where they are not the best
                assert bound <= value + 0.01


def test_no_variable_is_free_with_a_prior_with_missing_entries_or_alone():
    labels = [["a", 0], ["b", 1], ["c", 1], ["a", 0], [None, 1]]
    cases = {
        "most labels": (gopfast.LatentClass(labels[:4], 2), 3),
        "two levels": (gopfast.LatentClass(labels, 2), 1),
        "none is missing": (gopfast.LatentClass([*labels, ["a", 2]], 2), 3),
        "prior": (gopfast.LatentClass(labels[:4], 2, prior=1.5), 1),
        "one variable": (gopfast.LatentClass([row[:1] for row in labels[:4]], 2), 1),
        "counts": (gopfast.PoissonMixture([[0, 1], [3, 4]], 2), 1),
        "normal": (gopfast.GaussianMixture([[0.0], [1.0]], 2), 1),
    }
    for name, (problem, n_levels) in cases.items():
        assert ComponentPricing(single(problem, engine.family(problem))).n_levels == n_levels, name


@pytest.mark.parametrize("seed", range(3))
def test_bounds_and_cells_agree_whether_or_not_a_variable_is_free(seed):
    """Both hold a known better solution, and neither bound exceeds it."""
    problem = make("categorical", seed, 30, 2, 3)
    family = engine.family(problem)
    one, state = single(problem, family), problem.maximize(np.random.default_rng(seed).dirichlet([0.5, 0.5], 30))
    for _ in range(300):
        tau = problem.responsibilities(**state)
        state = problem.maximize(tau)
    value = problem.objective(**state)
    for taken in (None, one.free_variable()):
        bound = PricingBound(family, one, as_solution(problem, state), value + 0.5)
        bound.pricing.take_levels(taken)
        while bound.step(math.inf):
            pass
        assert bound.lower <= value + 1e-9
        low, high, _ = bound.cells
        for point in family.pack(**{k: v for k, v in state.items() if k != "weights"}).reshape(2, -1):
            assert ((low <= point + 1e-9) & (point - 1e-9 <= high)).all(axis=1).any()


@pytest.mark.parametrize("kind", ["known", "Bernoulli", "Poisson"])
def test_ascents_that_end_early_find_the_best_for_fewer_terms(kind):
    """No value is above what a whole ascent reaches from there, and the largest is as near to it as was asked."""
    rng = np.random.default_rng(4)
    problem = make(kind, 3, 120, 2, 3)
    one = single(problem, engine.family(problem))
    pricing = ComponentPricing(one)
    points = pricing.seeded(rng, 4)
    prices = np.min([pricing.costs_at(point)[0] for point in points], axis=0) + 2.0
    pricing.set_prices(prices)
    starts = pricing.seeded(rng, 30)
    before = pricing.n_terms
    whole, _ = pricing.climb(starts, 1000)
    after = pricing.n_terms
    least = whole.max() - 1e-3
    early, points = pricing.climb(starts, 1000, near=1e-4, least=least)
    assert pricing.n_terms - after < after - before
    assert early.max() == pytest.approx(whole.max(), abs=1e-3)
    assert (early <= whole + 1e-9 * (1 + np.abs(whole))).all()
    assert pricing.values(prices, points) == pytest.approx(early, rel=1e-9)


def test_steps_that_are_cut_short_go_on_where_they_stopped(monkeypatch):
    """Steps end after a millisecond, in the middle of what they do; what is proved in the end is about the same."""
    X = np.random.default_rng(5).standard_normal((400, 1)) + np.repeat([0.0, 3.0], 200)[:, None]
    problem = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=0.1)
    family = engine.family(problem)
    vector, trace, _ = MixturePrimal(family).em([0.5, 0.5], family.seeded(np.random.default_rng(0)), 1e-10, 2000)
    lower = []
    for cut in (False, True):
        if cut:
            monkeypatch.setattr(pricing_root, "end_of_step", lambda deadline: time.monotonic() + 1e-3)
        bound = pricing_root.PricingBound(family, family.one_component(problem), vector, trace[-1] + 1e-3)
        n_steps = 1
        while bound.step(time.monotonic() + 1e6 if cut else np.inf):
            n_steps += 1
        assert bound.has_cells
        lower.append((bound.lower, n_steps))
    assert lower[1][1] > lower[0][1]
    assert lower[0][0] - 0.1 <= lower[1][0] <= trace[-1] + 1e-9


@pytest.mark.parametrize("kind", ["diag", "full"])
@pytest.mark.parametrize("excess", [0.0, 40.0])
def test_a_step_without_any_time_leaves_a_bound_of_many_samples(kind, excess):
    """Prices are cut short in the middle of the first master problem; the limit may lie above a known value."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((1_000, 2)) + 5.0 * rng.integers(3, size=(1_000, 1))
    problem = gopfast.GaussianMixture(X, 3, covariance=kind)
    family = engine.family(problem)
    solution, trace, _ = MixturePrimal(family).em(np.full(3, 1 / 3), family.seeded(rng), 1e-9, 500)
    value = trace[-1]
    bound = PricingBound(family, single(problem, family), solution, value + excess)
    more, lower = True, []
    while more and len(lower) < 6:
        more = bound.step(time.monotonic())
        lower.append(bound.lower)
    assert sorted(lower) == lower
    assert -np.inf < lower[0] <= lower[-1] <= value + 1e-9 * abs(value)
