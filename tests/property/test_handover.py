"""Hitting sets, and prices once they have no more to tell."""

import numpy as np
import pytest
from gopfast.mixtures.learning.handover import HandoverReduction
from gopfast.mixtures.mixing.hitting import HittingSets
from gopfast.mixtures.pricing.pricing_cuts import PricingReduction
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.mixtures.shared.shared_cuts import SharedReduction
from gopfast.search.meter import Meter
from gopfast.search.search import Search
from support.audit import known_best

import gopfast
from gopfast.mixtures import engine, mechanisms
from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.pricing.pricing_root import PricingBound, single


def problem_of(seed, K=4, n=150, gap=2.2):
    rng = np.random.default_rng(seed)
    x = gap * rng.integers(K, size=n) + rng.standard_normal(n)
    return gopfast.GaussianMixture(x, K, covariance="known", sample_weight=rng.choice([0.5, 1.0, 2.0], n))


def both(problem, family, wait):
    prices = PricingReduction(family, lambda s, limit: PricingBound(family, single(problem, family), s, limit))
    return HandoverReduction([HittingSets(family), prices], wait)


@pytest.mark.parametrize("seed", [0, 1, 3])
@pytest.mark.parametrize("wait", [0, 5])
def test_no_node_around_the_best_solution_is_lost(seed, wait):
    """Limits far below what is attained, too: only then could a bound exceed the optimum."""
    problem = problem_of(seed)
    family = engine.family(problem)
    known = known_best(family, 400)
    for epsilon in (1e-3, -0.5):
        reduction = both(problem, family, wait)
        search = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=5), epsilon, known=known,
                        reduction=reduction, reduce_from=0, max_nodes=3000)  # fmt: skip
        search.run()
        assert search.n_audit_failures == 0
        assert search.summary()[0]["lower_bound"] <= known[1]
        assert reduction.second.bound is not None


def test_prices_wait_for_hitting_sets_and_what_both_know_is_kept():
    problem = problem_of(0)
    family = engine.family(problem)
    reduction, other = both(problem, family, 2), both(problem, family, 2)
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 1e-3, reduction=reduction, reduce_from=0,
                    max_nodes=800)  # fmt: skip
    search.run()
    assert reduction.second.bound is not None
    state = reduction.state(False)
    other.restore(state)
    assert other.waited == reduction.waited
    again = other.state(False)
    assert set(again) == set(state)
    for name, value in state.items():
        np.testing.assert_array_equal(again[name], value)
    assert other.lower == reduction.lower and other.floor == reduction.floor


class Steps(Learner):
    """Known bounds, one in each step; every step writes the learner's name down."""

    def __init__(self, name, bounds, written):
        self.name, self.bounds, self.written = name, list(bounds), written

    def step(self, deadline):
        self.written.append(self.name)
        self.lower = self.bounds.pop(0)
        return len(self.bounds) > 0


@pytest.mark.parametrize("closer", [None, "b", "c"])
def test_each_of_several_begins_where_the_one_before_has_no_more_to_learn(closer):
    """The largest floor counts, whoever proves the limit closes the nodes, and a state is what all know."""
    problem = problem_of(0, n=60)
    family = engine.family(problem)
    value, written = known_best(family, 50)[1], []
    bounds = {"a": [-np.inf, value - 900.0, value - 800.0], "b": [value - 850.0, value - 700.0], "c": [value - 750.0]}
    if closer is not None:
        bounds[closer][-1] = value - 0.05

    def chain():
        made = [SharedReduction(family, lambda _s, _limit, name=name: Steps(name, bounds[name], written))
                for name in bounds]  # fmt: skip
        for one in made:
            one.meter = one.cutter = Meter("one")
        return HandoverReduction(made), made

    reduction, made = chain()
    assert reduction.learnt is None
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 0.1, reduction=reduction,
                    reduce_from=0, max_nodes=300)  # fmt: skip
    search.run()
    assert "".join(written) == "aaabbc"[: {None: 6, "b": 5, "c": 6}[closer]]
    assert reduction.floor == (value - 700.0 if closer is None else value - 0.05)
    assert [one.cutter.row()[2] > 0 for one in made] == [closer == name for name in bounds]
    assert reduction.learnt is None
    state = reduction.state()
    again, _ = chain()
    again.restore(state)
    assert again.floor == reduction.floor and again.lower == reduction.lower
    assert set(again.state()) == set(state)


def test_equal_for_every_number_of_threads_and_no_worse_than_hitting_sets_alone(monkeypatch):
    monkeypatch.setattr(mechanisms, "REDUCED_FROM", 16)
    monkeypatch.setattr(mechanisms, "MOST_BEFORE_PRICES", 0)
    monkeypatch.setattr(mechanisms, "MOST_BEFORE_PRICES", 0)
    problem = problem_of(0, K=5, gap=2.0)
    found = [gopfast.solve(problem, 0.01, max_nodes=1500, n_threads=n) for n in (1, 2, 4)]
    assert {one.relaxation for one in found} == {"pricing"}
    assert len({(one.lower_bound, one.objective, one.n_nodes, one.n_passes) for one in found}) == 1
    alone = gopfast.solve(problem, 0.01, max_nodes=1500, relaxation="entropic")
    assert found[0].lower_bound >= alone.lower_bound - 0.01
    assert found[0].lower_bound <= alone.objective + 1e-9
