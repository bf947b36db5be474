"""Prices of components in the hull of the means."""

import numpy as np
import pytest

from gopfast.mixtures.pricing import hull_atoms
from gopfast.mixtures.pricing.hull_atoms import Atoms

MASSES = (300, 200, 80)


def priced(seed, merged, free, monkeypatch):
    """Return components of three clusters 6 standard deviations apart in six columns, at the prices that are chosen."""
    monkeypatch.setattr(hull_atoms, "MERGED", merged)
    rng = np.random.default_rng(seed)
    places = np.zeros((3, 6))
    places[1, 0] = places[2, 1] = 6.0
    label = np.repeat(np.arange(3), MASSES)
    X = places[label] + rng.standard_normal((len(label), 6))
    scale = 0.5 if free else 1.0  # precisions are at most 1
    means = np.array([X[label == k].mean(axis=0) for k in range(3)])
    weights = np.ones(len(label))
    atoms = Atoms(X.T / scale, weights, np.array(MASSES) / len(label), means / scale, np.full(3, scale**2), free)
    for _ in atoms.price_well(0.002):
        pass
    return atoms


def merged_part(atoms):
    """Return what the best of the merged components saves, of what the solution's save at most."""
    steps = atoms.merged()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value / atoms.values.max()


@pytest.mark.parametrize("seed", range(4))
def test_known_variances_have_prices_at_which_merging_saves_little(seed, monkeypatch):
    highest, chosen = (priced(seed, merged, False, monkeypatch) for merged in (np.inf, hull_atoms.MERGED))
    assert merged_part(highest) > hull_atoms.MERGED >= merged_part(chosen)
    assert chosen.values.max() < highest.values.max()
    assert chosen.lost <= 0.002 * chosen.values.max() + hull_atoms.LOSS * sum(MASSES)


@pytest.mark.parametrize("seed", range(4))
def test_prices_are_the_highest_that_lose_little_where_none_let_merging_save_so_little(seed, monkeypatch):
    highest, chosen = (priced(seed, merged, False, monkeypatch) for merged in (np.inf, -1.0))
    assert np.array_equal(chosen.prices, highest.prices)


def test_free_variances_have_the_highest_prices_that_lose_little(monkeypatch):
    highest, chosen = (priced(0, merged, True, monkeypatch) for merged in (np.inf, -1.0))
    assert np.array_equal(chosen.prices, highest.prices)


def test_what_a_merged_component_saves_is_that_of_its_mean(monkeypatch):
    atoms = priced(1, np.inf, False, monkeypatch)
    found = 0.0
    for i, j in ((0, 1), (0, 2), (1, 2)):
        mean = np.average(atoms.means[[i, j]], axis=0, weights=atoms.masses[[i, j]])
        gains = atoms.prices - 0.5 * np.square(atoms.samples - mean[:, None]).sum(axis=0)
        found = max(found, hull_atoms.saved(atoms.weights, gains)[0])
    assert merged_part(atoms) * atoms.values.max() == pytest.approx(found, rel=1e-9)
