"""Facets of the components' means: what every family says of a cell, in exact numbers."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from gopfast.mixtures.families.exponential import ExponentialFamily
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import root_box

import gopfast.models as models
from gopfast.mixtures import engine

K = 2
ULP = Fraction(1, 2**53)


def gaussian(covariance, d):
    def make(rng):
        X = rng.normal(size=(30, d)) * 10.0 ** rng.uniform(-3.0, 3.0) + 10.0 ** rng.uniform(-2.0, 5.0)
        options = {"noise_variance": np.var(X) / 9} if covariance == "known" else {"covariance": covariance}
        return models.GaussianMixture(X, K, **options)

    return make


CASES = {
    "known": gaussian("known", 2),
    "spherical": gaussian("spherical", 2),
    "diag": gaussian("diag", 2),
    "tied_spherical": gaussian("tied_spherical", 2),
    "tied": gaussian("tied", 3),
    "full, 2 columns": gaussian("full", 2),
    "full, 3 columns": gaussian("full", 3),
    "binary": lambda rng: models.BernoulliMixture(rng.random((30, 3)) < 0.4, K),
    "counts": lambda rng: models.PoissonMixture(rng.poisson(10.0 ** rng.uniform(0.0, 6.0), (30, 2)), K),
    "times": lambda rng: models.ExponentialMixture(rng.exponential(10.0 ** rng.uniform(-9.0, 9.0), (30, 2)) + 1e-12, K),
    "labels": lambda rng: models.CategoricalMixture(rng.integers(0, 4, (30, 2)), K),
}


def coordinates(family):
    """Coordinates of a mean: the columns, without products of others."""
    return getattr(family, "d", family.n_columns)


def boxes(rng, low, high):
    """Boxes of all widths in the root box, down to a few ulps."""
    for _ in range(12):
        width = (high - low) * 10.0 ** rng.uniform(-rng.choice([1.0, 8.0, 13.0]), 0.0)
        at = low + rng.random(len(low)) * (high - low)
        yield np.maximum(low, at - width * rng.random(len(low))), np.minimum(high, at + width * rng.random(len(low)))


def mean_facets(family, low, high):
    """Yield component, coordinate, center, and the coefficients of S and T of the active facets of the means."""
    found, m = family.subproblem(low, high), 1 + family.n_statistics
    for row in found["facets"]:
        used = np.flatnonzero(row[1:]) + 1
        k, j = divmod(used[0], m)
        if len(used) == 1 and row[0] == 0:
            continue
        if len(used) <= 2 and 1 <= (used[-1] % m) <= coordinates(family) and used[-1] // m == used[0] // m:
            k, j = divmod(used[-1], m)
            yield k, j - 1, found["centers"][k, j - 1], row[k * m], row[k * m + j]


def ends(family, low, high, k, j):
    """The exact ends of the interval of a mean; of times the cell has their logarithms."""
    cell = [box[k * family.n_cell + j] for box in (low, high)]
    if isinstance(family, ExponentialFamily) and not family.discrete:
        with mpmath.workdps(50):
            values = [mpmath.exp(mpmath.mpf(float(x))) for x in cell]
            return [Fraction(int(mpmath.nint(x * mpmath.mpf(2) ** 400)), 2**400) for x in values]
    return [Fraction(float(x)) for x in cell]


def cells(name):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        family = engine.family(CASES[name](rng))
        for low, high in boxes(rng, *root_box(EntropicRelaxation(family))):
            for k, j, center, mass, slope in mean_facets(family, low, high):
                yield family, low, high, k, j, Fraction(float(center)), Fraction(float(mass)), Fraction(float(slope))


@pytest.mark.parametrize("name", CASES)
def test_the_facets_of_a_mean_hold_for_every_mean_in_the_cell(name):
    """They are half S + T >= 0 and half S - T >= 0, T about the center: so both ends are within half of it."""
    n = 0
    for family, low, high, k, j, center, mass, slope in cells(name):
        assert abs(slope) == 1
        assert min(mass + slope * (end - center) for end in ends(family, low, high, k, j)) >= 0
        n += 1
    assert n > 100


@pytest.mark.parametrize("name", CASES)
def test_the_facets_of_a_mean_have_the_same_rounding_term_in_every_family(name):
    """An ulp of the center beside the width's own rounding."""
    for family, low, high, k, j, center, mass, _ in cells(name):
        width = max(abs(end - center) for end in ends(family, low, high, k, j))
        assert mass >= width + ULP * abs(center) * (1 - 8 * ULP)
