"""Bounds of products of families and of columns with missing entries."""

import numpy as np
import pytest
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import root_box
from hypothesis import given, strategies as st
from support.settings import examples

import gopfast
from gopfast.mixtures import engine

KINDS = ("normal", "poisson", "exponential", "binary", "categorical")


def random_problem(rng, n, K, first=()):
    """One to three columns of any kinds beside the first ones, with missing entries in most."""
    kinds = [*first, *rng.choice(KINDS, int(rng.integers(1, 4))).tolist()]
    makers = {
        "normal": lambda: rng.normal(size=n) + 3.0 * rng.integers(2, size=n), "poisson": lambda: rng.poisson(4.0, n),
        "exponential": lambda: rng.exponential(size=n) + 0.01, "binary": lambda: rng.integers(0, 2, n),
        "categorical": lambda: rng.integers(0, 3, n),
    }  # fmt: skip
    X = np.stack([makers[kind]() for kind in kinds], axis=1).astype(float)
    missing = rng.random(X.shape) < rng.choice([0.0, 0.2, 0.6])
    missing[0] = False
    floor = 0.1 if "normal" in kinds else None
    return gopfast.MixedMixture(kinds, np.where(missing, np.nan, X), K, variance_floor=floor)


def core_columns(family):
    """A family's columns and their squares (F, n), and the weights."""
    columns, weights = family.data.arrays()
    squares = [np.square(columns)] if family.n_statistics > family.n_columns else []
    return np.concatenate([columns, *squares]), columns, weights


def test_minorant_and_facets_hold_for_all_statistics_of_a_cell():
    tried = set()

    @examples(120)
    @given(seed=st.integers(0, 2**32 - 1))
    def check(seed):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(1, 4))
        problem = random_problem(rng, 12, K, ["normal"])  # a product, which does not merge equal rows
        family = engine.family(problem)
        tau = rng.dirichlet(np.full(K, 10.0 ** rng.uniform(-1, 1)), 12) + 1e-9
        tau /= tau.sum(axis=1, keepdims=True)
        best = problem.maximize(tau)
        at = family.pack(**{name: best[name] for name in problem.parameter_names}).ravel()
        # a variance below the floor is one of the cell's: the packed one is raised to it
        reach = 10.0 ** rng.uniform(-6, 1, (2, len(at))) * rng.integers(0, 2, (2, len(at)))
        low, high = at - reach[0] - 1e-9 * (1 + np.abs(at)), at + reach[1] + 1e-9 * (1 + np.abs(at))
        low = np.where(is_floored(family, at), 0.0, low)
        low, high = inside(family, low, high)
        sub = family.subproblem(low, high)
        statistics, columns, weights = core_columns(family)
        mass = weights * tau.T
        d, centers = family.n_columns, sub["centers"]
        about = columns[np.newaxis] - centers[:, :, np.newaxis]
        parts = [about, np.square(about)] if len(statistics) > d else [about]
        moments = np.einsum("kn,ksn->ks", mass, np.concatenate(parts, axis=1))
        both = np.hstack([mass.sum(axis=1)[:, np.newaxis], moments])
        values = sub["facets"] @ both.ravel() + sub["facet_rest"][:, 1]
        size = np.abs(sub["facets"]) @ np.abs(both).ravel() + np.abs(sub["facet_rest"][:, 1]) + 1.0
        capped = np.isfinite(sub["caps"])
        assert (values[~capped] >= -1e-10 * size[~capped]).all()
        entropy = (tau * np.log(tau / best["weights"])).sum()
        cost = problem.objective(**best, responsibilities=tau) - entropy
        terms = sub["minorant"][:, : both.shape[1]] * both
        minorant = terms.sum() + family.constant
        tiny = 1e-9 * (1 + abs(cost) + np.abs(terms).sum())
        for share in (0.0, 1.0):
            q = np.where(capped, share * np.where(capped, sub["caps"], 0.0), rng.exponential(size=len(values)))
            assert minorant - q @ values <= cost + tiny + 1e-9 * (q @ size)
        tried.add(np.isnan(problem.X).any())

    check()
    assert tried == {False, True}


def leaves(family):
    """The families that a product is made of."""
    return [*leaves(family.first), *leaves(family.second)] if hasattr(family, "second") else [family]


def is_floored(family, at):
    """Which connected variables are variances, (n_connected,)."""
    row = np.concatenate([
        np.arange(one.n_cell) >= getattr(one, "inner", one).n_columns for one in leaves(family)
    ])  # fmt: skip
    return np.tile(row, family.n_components)


def inside(family, low, high):
    """A box within the root's, which parameters lie in but for rounding."""
    least, most = root_box(EntropicRelaxation(family))
    return np.clip(low, least, most), np.clip(high, least, most)


@pytest.mark.parametrize("seed", range(4))
def test_no_start_ends_below_what_is_proved(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 14, 2)
    result = gopfast.solve(problem, 0.05, max_nodes=4000)
    least = min(gopfast.local.em(problem, random_state=start).objective for start in range(6))
    assert result.lower_bound <= least + 1e-9
    assert result.objective <= least + 0.05


def test_threads_change_nothing():
    problem = random_problem(np.random.default_rng(11), 20, 2)
    one, two = (gopfast.solve(problem, 0.05, n_threads=n, max_nodes=500) for n in (1, 2))
    assert (one.n_nodes, one.objective, one.lower_bound) == (two.n_nodes, two.objective, two.lower_bound)
