"""The search by counts: its nodes against solutions that are known, and what the labelled tree takes of it."""

import contextlib
import itertools

import numpy as np
import pytest
from gopfast.mixtures.pricing.count_cuts import CountCuts
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.pricing_cuts import PricingReduction
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from support.audit import in_label_order, known_best
from support.problems import make

import gopfast
from gopfast.mixtures import engine, mechanisms
from gopfast.mixtures.pricing import counts
from gopfast.mixtures.pricing.counts import CountsBound, CountSearch
from gopfast.mixtures.pricing.pricing_root import PricingBound, single

KINDS = ["known", "known, fixed prior", "spherical", "diag", "full", "Bernoulli", "Poisson, prior", "exponential"]
ROUNDING = 1e-9


def solutions_of(problem, K, n_runs):
    """Ends of EM: values (n_runs,) and parameters (n_runs, K, n), components in label order."""
    family = engine.family(problem)
    values, points = [], []
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        vector, objectives = MixturePrimal(family).em(np.full(K, 1 / K), family.seeded(rng), 1e-12, 3000)[:2]
        values.append(objectives[-1] + ROUNDING * (1 + abs(objectives[-1])))
        points.append(in_label_order(family, vector).reshape(K, -1))
    return np.array(values), np.array(points)


def priced(problem, limit_over, **options):
    """The root's prices of a problem, from its best run of EM, and its runs."""
    K = problem.n_components
    family = engine.family(problem)
    values, points = solutions_of(problem, K, 12)
    best = MixturePrimal(family, n_starts=20, seed=1)
    search = Search(EntropicRelaxation(family), best, 1e-2, max_nodes=50)
    search.run()
    fields, vector = search.summary()
    bound = PricingBound(family, single(problem, family), vector, fields["objective"] + limit_over, **options)
    while bound.step(np.inf):
        pass
    return (
        bound,
        np.append(values, fields["objective"] + ROUNDING * (1 + abs(fields["objective"]))),
        np.concatenate([points, in_label_order(family, vector).reshape(1, K, -1)]),
    )


def holds(low, high, point):
    """Whether some of the cells (m, n), (m, n) holds a component."""
    slack = 1e-7 * (1 + np.abs(point))
    return bool(((low - slack <= point) & (point <= high + slack)).all(axis=1).any())


def can_be(groups, numbers, point):
    """Whether the components (K, n) can be assigned to the groups of cells, so many to each."""
    slots = [g for g, n in enumerate(numbers) for _ in range(int(n))]
    fits = [[holds(low, high, component) for low, high in groups] for component in point]
    return any(all(fits[k][g] for k, g in enumerate(order)) for order in set(itertools.permutations(slots)))


@pytest.mark.parametrize("kind", KINDS)
def test_no_node_excludes_a_solution_or_bounds_it_from_above(kind, monkeypatch):
    """The limit lies above the optimum: known solutions below it have a place, and a bound of at most their value."""
    monkeypatch.setattr(counts, "MOST_OPEN", 500)
    monkeypatch.setattr(counts, "GAIN", -np.inf)
    problem = make(kind, 5, 24, 3 if kind != "full" else 2, 1 if kind != "full" else 2)
    bound, values, points = priced(problem, 2.0)
    if bound.cells is None or not len(bound.cells[0]):
        pytest.fail("the root leaves no cells below a limit above the optimum")
    seen, inner = [], CountSearch._bound

    def watched(self, node, deadline=np.inf):
        groups = [(self.low[cells], self.high[cells]) for cells in node.groups]
        left = inner(self, node, deadline)
        seen.append((groups, np.array(node.counts), node.lower, left))
        if left:
            seen[-1] += ([(self.low[cells], self.high[cells]) for cells in node.groups],)
        return left

    monkeypatch.setattr(CountSearch, "_bound", watched)
    search = CountSearch(bound)
    below = np.flatnonzero(values < bound.limit)
    assert len(below) > 0
    for _ in range(12 if kind != "full" else 2):
        if not search.step():
            break
        assert search.lower <= values.min()
    cuts = CountCuts(problem.n_components, bound.one.n_cell, search.leaves())
    n_met = 0
    for i in below:
        for groups, numbers, lower, left, *rest in seen:
            if can_be(groups, numbers, points[i]):
                n_met += 1
                assert left and lower <= values[i]
                assert can_be(rest[0], numbers, points[i])
        found = cuts.cut(points[i].ravel() - 1e-7, points[i].ravel() + 1e-7, bound.limit)
        assert found is not None and found[2] <= values[i]
    assert n_met >= len(below)


def random_leaves(rng, K, n):
    """Leaves of cells with bounds of any sign."""
    leaves = []
    for _ in range(4):
        numbers = rng.multinomial(K, np.full(2, 0.5)) if K > 1 else np.array([1, 0])
        groups = []
        for count in numbers[numbers > 0]:
            low = rng.uniform(-2, 2, (30, n))
            groups.append((low, low + rng.uniform(0, 0.7, (30, n)), rng.normal(1, 1, 30), int(count)))
        leaves.append((rng.uniform(8, 10), groups))
    return leaves


@pytest.mark.parametrize("seed", range(6))
def test_boxes_are_cut_as_all_assignments_of_cells_would_cut_them(seed):
    rng = np.random.default_rng(seed)
    K, n, limit = 1 + seed % 3, 1 + seed // 3, 6.0
    leaves = random_leaves(rng, K, n)
    cuts = CountCuts(K, n, leaves)
    again = CountCuts.__new__(CountCuts)
    again.restore(cuts.state(), K, n)
    n_closed = n_cut = 0
    for _ in range(80):
        low = rng.uniform(-2.2, 2, (K, n))
        high = low + rng.uniform(0, 1.5, (K, n))
        hull = [np.full((K, n), np.inf), np.full((K, n), -np.inf)]
        least, any_left = np.inf, False
        for total, groups in leaves:
            slots = [g for g, group in enumerate(groups) for _ in range(group[3])]
            for order in set(itertools.permutations(slots)):
                met = []
                for k, g in enumerate(order):
                    cell_low, cell_high, upper, _ = groups[g]
                    meets = ((cell_low <= high[k]) & (cell_high >= low[k])).all(axis=1)
                    met.append((meets, groups[g]))
                if not all(meets.any() for meets, _ in met):
                    continue
                sups = [group[2][meets].max() for meets, group in met]
                if not sum(sups) > total - limit:
                    continue
                any_left, least = True, min(least, total - sum(sups))
                for k, (meets, group) in enumerate(met):
                    chosen = meets & (group[2] + sum(sups) - sups[k] > total - limit)
                    hull[0][k] = np.minimum(hull[0][k], np.maximum(group[0][chosen], low[k]).min(axis=0))
                    hull[1][k] = np.maximum(hull[1][k], np.minimum(group[1][chosen], high[k]).max(axis=0))
        found, same = cuts.cut(low.ravel(), high.ravel(), limit), again.cut(low.ravel(), high.ravel(), limit)
        assert (found is None) == (not any_left) == (same is None)
        if found is None:
            n_closed += 1
            continue
        # never less than the cells that count, and no bound above theirs
        assert (found[0] <= hull[0].ravel() + 1e-12).all() and (found[1] >= hull[1].ravel() - 1e-12).all()
        assert found[2] <= least + 1e-12
        assert all(np.array_equal(one, other) for one, other in zip(found, same, strict=True))
        n_cut += (found[0] > low.ravel()).any() or (found[1] < high.ravel()).any()
    assert n_closed > 0 and n_cut > 0


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_cells_hold_and_are_the_same_for_every_thread_count(kind):
    problem = make(kind, 3, 40, 2, 2)
    one = single(problem, engine.family(problem))
    rng = np.random.default_rng(0)
    pricing = ComponentPricing(one)
    low, high = pricing.root()
    prices = priced(problem, 1.0)[0].prices + rng.normal(0.0, 0.1, len(one.data.arrays()[1]))
    part = np.sort(rng.random((2, 200, len(low))), axis=0)
    cells = low + part[0] * (high - low), low + part[1] * (high - low)
    warm = np.zeros((200, pricing.n_warm), dtype=np.float32)
    found = []
    for threads in (1, 2, 4):
        many = ComponentPricing(one, n_threads=threads)
        found.append(many.bounds_of(prices, *cells, np.full(200, -5.0), warm))
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))
    # the multipliers of other prices are as good a start as any: what an ascent ends at is a component that counts
    upper = pricing.bounds_of(prices, *cells, np.full(200, -5.0), found[0][-1] * rng.uniform(0, 2))[2]
    _, points = pricing.climb(pricing.seeded(rng, 100), 2000)
    again = pricing.climb(points, 3)[1]
    settled = (np.abs(again - points) <= 1e-9 * (1 + np.abs(points))).all(axis=1)
    settled &= pricing.columns(prices, points)[0].sum(axis=1) > 0  # the best for their columns
    points, values = points[settled], pricing.values(prices, points[settled])
    assert len(points) > 10 or kind == "Bernoulli"
    for bounds in (found[0][2], upper):
        for value, point in zip(values, points, strict=True):
            inside = ((cells[0] <= point) & (point <= cells[1])).all(axis=1)
            assert (bounds[inside] >= value - ROUNDING * (1 + abs(value))).all()


def counted(problem, family, epsilon, n_threads=1, **options):
    """A search with counts from the first nodes on."""
    reduction = PricingReduction(
        family, lambda s, limit: CountsBound(PricingBound(family, single(problem, family), s, limit, threads=n_threads))
    )
    return reduction, Search(
        EntropicRelaxation(family),
        MixturePrimal(family, n_starts=20),
        epsilon,
        n_threads=n_threads,
        reduction=reduction,
        reduce_from=0,
        **options,
    )


OVERLAPPING = {"known": 0, "spherical": 1, "diag": 2, "Bernoulli": 3}


@pytest.mark.parametrize("kind", ["known", "diag"])
def test_no_search_with_counts_loses_the_best_solution(kind):
    """Of a negative tolerance: the limit lies above what is known, which no bound may exceed and no cut may drop."""
    problem = make(kind, OVERLAPPING[kind], 40, 3, 1)
    family = engine.family(problem)
    known = known_best(family, 3000)
    reduction, search = counted(problem, family, -0.3, known=known, max_nodes=3000)
    search.run()
    assert reduction.counts is not None and reduction.counts.n_leaves > 0
    assert search.n_audit_failures == 0
    assert search.least_bound <= known[1]


@pytest.mark.parametrize("kind", OVERLAPPING)
def test_counts_and_labelled_tree_agree(kind):
    problem = make(kind, OVERLAPPING[kind], 30, 3, 1 if kind != "Bernoulli" else 4)
    family = engine.family(problem)
    plain = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=20), 1e-2, max_nodes=20_000)
    plain.run()
    _, search = counted(problem, family, 1e-2, max_nodes=20_000)
    search.run()
    one, other = plain.summary()[0], search.summary()[0]
    assert one["lower_bound"] <= other["objective"] + 1e-9 and other["lower_bound"] <= one["objective"] + 1e-9
    assert other["n_nodes"] <= one["n_nodes"]


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_searches_with_counts_are_the_same_on_every_number_of_threads_and_go_on_from_a_state(kind):
    problem = make(kind, 3, 40, 3, 1)  # not closed before counts are searched
    family = engine.family(problem)
    found = []
    for n_threads in (1, 2, 4):
        reduction, search = counted(problem, family, 1e-3, n_threads=n_threads, max_nodes=1500)
        search.run()
        assert reduction.counts is not None
        found.append((search.n_nodes, search.least_bound, search.summary()[0]["n_passes"], reduction.counts.n_leaves))
    assert found[0] == found[1] == found[2]
    state = reduction.state()
    again, _ = counted(problem, family, 1e-3)
    again.restore(state)
    boxes = np.random.default_rng(0).random((2, 50, 3 * family.n_cell))
    low, high = (np.tile(side, 3) for side in ComponentPricing(single(problem, family)).root())
    for a, b in zip(boxes.min(axis=0), boxes.max(axis=0), strict=True):
        one, other = (r.cut(low + a * (high - low), low + b * (high - low)) for r in (reduction, again))
        assert (one is None) == (other is None)
        assert one is None or all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def test_counts_are_searched_where_prices_are_asked_for_and_the_log_says_so(monkeypatch, capsys):
    monkeypatch.setattr(mechanisms, "TERMS_BEFORE_COUNTS", 1)
    problem = make("diag", 2, 60, 3, 1)
    result = gopfast.solve(problem, relaxation="pricing", n_threads=1, max_nodes=3000, log=True)
    assert "numbers of components in groups of cells are searched" in capsys.readouterr().out
    plain = gopfast.solve(problem, relaxation="entropic", n_threads=1, max_nodes=3000)
    assert plain.lower_bound <= result.objective + 1e-9 and result.lower_bound <= plain.objective + 1e-9


class Interrupting:
    """Pricing that raises an error in one of its calls."""

    def __init__(self, pricing, stop_at, error):
        self.pricing, self.left, self.error = pricing, stop_at, error

    def __getattr__(self, name):
        return getattr(self.pricing, name)

    def bounds_of(self, *arguments):
        self.left -= 1
        if self.left < 0:
            raise self.error
        return self.pricing.bounds_of(*arguments)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ArithmeticError])
def test_nothing_is_lost_where_a_step_is_interrupted(error, monkeypatch):
    problem = make("diag", 2, 40, 3, 1)
    bound, values, _ = priced(problem, 1.0)
    search = CountSearch(bound)
    for stop_at in range(1, 40, 3):
        search.pricing = Interrupting(bound.pricing, stop_at, error)
        with contextlib.suppress(error):
            for _ in range(2):
                search.step()
        assert len(search.low) == len(search.high) == len(search.points) == len(search.branch)
        assert search.lower <= values.min()
        assert any(node.lower <= values.min() for node in search.open + search.stuck)
