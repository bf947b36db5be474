"""The master problem of the pricing bound against SciPy, and where it is degenerate."""

import numpy as np
import pytest
from gopfast.mixtures.pricing.master import Master
from gopfast.mixtures.pricing.pricing import ComponentPricing
from scipy.optimize import minimize

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.pricing.pricing_root import single

KINDS = ["known", "diag", "full"]
CASES = ["one", "equal", "many", "unused", "empty", "cap", "below", "light", "heavy", "uneven"]


def model(kind, n_samples=40, weights=None, seed=0, threads=1, **options):
    """Prices' family of a mixture of two clusters with a few ties, and atoms drawn around samples."""
    rng = np.random.default_rng(seed)
    d = 1 if kind == "known" else 2
    x = np.concatenate([rng.normal(0, 1, (n_samples // 2, d)), rng.normal(2.5, 0.7, (n_samples - n_samples // 2, d))])
    x[1] = x[0]
    problem = gopfast.GaussianMixture(x, 2, covariance=kind, sample_weight=weights, **options)
    pricing = ComponentPricing(single(problem, engine.family(problem)), n_threads=threads)
    return pricing, pricing.seeded(rng, 12)


def value(pricing, weights, prices, points, groups, counts):
    """Sum w lambda - sum_g n_g max over group g of G."""
    G = pricing.values(prices, points)
    return weights @ prices - sum(n * G[groups == g].max() for g, n in enumerate(counts) if (groups == g).any())


def reference(pricing, weights, start, points, groups, counts):
    """Its maximum by SciPy, smooth: over prices and levels, every G a constraint."""
    N = len(weights)

    def gaps(v):
        return v[N + groups] - pricing.values(np.ascontiguousarray(v[:N]), points)

    def slopes(v):
        mass = pricing.columns(np.ascontiguousarray(v[:N]), points)[0]
        out = np.zeros((len(points), len(v)))
        out[:, :N], out[np.arange(len(points)), N + groups] = -mass, 1.0
        return out

    gain = np.concatenate([weights, -np.asarray(counts)])
    levels = [pricing.values(start, points)[groups == g].max() + 0.1 for g in range(len(counts))]
    found = minimize(
        lambda v: -gain @ v, np.concatenate([start, levels]), jac=lambda v: -gain, method="SLSQP",
        constraints={"type": "ineq", "fun": gaps, "jac": slopes}, options={"maxiter": 500, "ftol": 1e-10},
    )  # fmt: skip
    return value(pricing, weights, found.x[:N], points, groups, counts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_prices_are_as_good_as_those_of_scipy(kind, seed):
    pricing, points = model(kind, seed=seed)
    weights = pricing.family.data.arrays()[1]
    groups, counts = np.arange(12) % 2, np.array([1.0, 2.0])
    start = np.min([pricing.costs_at(point)[0] for point in points], axis=0) + 2.0
    prices, sigma, z = Master(weights, start, pricing).solve(start, points, groups, counts, 1e-4)
    attained = value(pricing, weights, prices, points, groups, counts)
    # the barrier leaves one of its weights for each atom
    assert attained >= reference(pricing, weights, start, points, groups, counts) - 20 * 1e-4 - 1e-3
    # components that save nothing have no atom
    assert all(z[groups == g].sum() <= counts[g] * (1 + 1e-9) for g in range(2))
    assert sigma == pytest.approx([pricing.values(prices, points)[groups == g].max() for g in range(2)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_degenerate_problems_end_with_finite_prices(kind, case):
    rng = np.random.default_rng(3)
    uneven = 10.0 ** rng.uniform(-6, 6, 40)
    weights = {"light": np.full(40, 1e-6), "heavy": np.full(40, 1e6), "uneven": uneven}.get(case)
    pricing, points = model(kind, weights=weights)
    weights = pricing.family.data.arrays()[1]
    groups, counts = np.zeros(12, dtype=int), np.array([2.0])
    if case == "one":
        points, groups = points[:1], groups[:1]
    elif case == "equal":
        points = np.repeat(points[:1], 12, axis=0)
    elif case == "many":
        counts = np.array([1000.0])
    elif case == "unused":
        groups, counts = np.arange(12) % 3, np.array([2.0, 0.0, 0.0])
    elif case == "empty":
        groups, counts = np.full(12, 1), np.array([2.0, 2.0])
    center = np.min([pricing.costs_at(point)[0] for point in points], axis=0) + 2.0
    start = center + {"cap": 1e4, "below": -1e4}.get(case, 0.0)
    master = Master(weights, center, pricing)
    for last, first in ((1e-4, 1.0), (1e-12, 1e-12), (1e-3, 1e6)):
        prices, sigma, z = master.solve(start, points, groups, counts, last, first)
        assert np.isfinite(prices).all()
        assert (z >= 0).all() and np.isfinite(z).all()
        assert np.isfinite(sigma[np.unique(groups)]).all()
    prices, sigma, z = master.solve(start, points[:0], groups[:0], counts, 1e-3)
    assert (prices == start).all() and (sigma == -np.inf).all() and len(z) == 0


def test_a_passed_deadline_leaves_prices():
    pricing, points = model("diag")
    start = np.full(40, 3.0)
    prices, _, z = Master(np.ones(40), start, pricing).solve(
        start, points, np.zeros(12, dtype=int), np.array([2.0]), 1e-6, deadline=0.0
    )
    assert np.isfinite(prices).all() and np.isfinite(z).all()


def test_prices_do_not_depend_on_threads_or_on_earlier_calls():
    answers = []
    for threads in (1, 2, 4):
        pricing, points = model("diag", n_samples=6000, threads=threads)
        start = np.min([pricing.costs_at(point)[0] for point in points], axis=0) + 2.0
        master = Master(np.ones(6000), start, pricing)
        given = start, points, np.arange(12) % 2, np.array([1.0, 1.0]), 1e-2
        first = master.solve(*given)
        master.solve(start + 1.0, points[::-1], np.arange(12) % 3, np.array([1.0, 1.0, 1.0]), 1e-2)
        answers += [first, master.solve(*given)]
    for answer in answers[1:]:
        for one, other in zip(answers[0], answer, strict=True):
            assert np.array_equal(one, other)


def test_what_does_not_fit_is_refused():
    pricing, points = model("known")
    master, start, groups = Master(np.ones(40), np.zeros(40), pricing), np.zeros(40), np.zeros(12, dtype=int)
    for change, message in (
        ({"prices": start[1:]}, "one entry per sample"), ({"points": points[:, :0]}, "one entry per sample"),
        ({"groups": groups + 1}, "groups must lie"), ({"groups": groups - 1}, "groups must lie"),
        ({"last": 0.0}, "positive"), ({"groups": groups[1:]}, "one entry per sample"),
    ):  # fmt: skip
        given = {"prices": start, "points": points, "groups": groups, "counts": np.ones(1), "last": 1e-3} | change
        with pytest.raises(ValueError, match=message):
            master.solve(**given)
    with pytest.raises(ValueError, match="entries"):
        Master(np.ones(39), np.zeros(39), pricing)
