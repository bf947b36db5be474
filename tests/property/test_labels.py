"""The bound of one covariance matrix by labels and samples with noise: against definitions, and attacked."""

import math

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.mixtures.shared.sample_cells import entropy_of, smooth, spread_of
from gopfast.search.search import Search
from support.tied_bounds import in_lines, told

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.shared.labels import LabelBound, Noisy, Units, least_sum, narrow
from gopfast.mixtures.shared.spectra import Spectra


def clusters_of(rng, n, d, K, apart=6.0):
    """Clusters of one covariance, and their labels."""
    labels = rng.integers(0, K, n)
    labels[:K] = range(K)
    means = rng.standard_normal((K, d))
    distance = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(K, 1)].min()
    return (means * apart / distance)[labels] + rng.standard_normal((n, d)), labels


def units_of(rng, n, d, K, apart=6.0, weight=1.0, shift=0.0):
    """Units of clusters with labels that are those of the clusters, mostly."""
    X, labels = clusters_of(rng, n, d, K, apart)
    weights = weight * rng.uniform(0.5, 2.0, n)
    problem = gopfast.GaussianMixture(X + shift, K, covariance="tied", sample_weight=weights)
    slices = engine.family(problem).slices()
    some = rng.random(n) < rng.choice([0.0, 0.1, 0.5])
    labels[some] = rng.integers(0, K, some.sum())
    z = slices.columns
    shares = (labels == np.arange(K)[:, None]) * slices.weights
    means = shares @ z.T / shares.sum(axis=1)[:, None]
    off = z - means[labels].T
    within = (slices.weights * off) @ off.T / slices.total
    values, vectors = np.linalg.eigh(within)
    return Units(slices, labels, means, (vectors / np.sqrt(values)).T)


def responsibilities_of(rng, x, K):
    """Responsibilities (K, n): of a mixture in the samples, some of them in slabs across all."""
    means = x[:, rng.choice(x.shape[1], K)]
    scale = rng.choice([0.1, 0.5, 1.0, 4.0])
    slab = rng.standard_normal(len(x)) if rng.random() < 0.5 else None
    if slab is not None:
        x, means, scale = (slab @ x)[None], (slab @ means)[None], scale * np.linalg.norm(slab)
    costs = np.square(x[:, None] - means[:, :, None]).sum(axis=0) / (scale * scale)
    r = np.exp(0.5 * (costs.min(axis=0) - costs))
    return r / r.sum(axis=0)


def parts_of(r, x, weights):
    """Mutual information of samples and components, and the covariance within components, per unit of weight."""
    rest, scatter, w = 0.0, 0.0, weights / weights.sum()
    for one in r:
        share = one @ w
        off = x - (x @ (one * w) / share)[:, None]
        scatter = scatter + (one * w * off) @ off.T
        some = one > 0.0
        rest += (w * one)[some] @ np.log(one[some] / share)
    return rest, scatter


@pytest.mark.parametrize("seed", range(24))
def test_noise_and_labels_say_less_than_responsibilities_attain(seed):
    rng = np.random.default_rng(seed)
    d, K = 2 + seed % 3, 3 + seed % 2
    units = units_of(rng, int(rng.choice([200, 2000])), d, K, rng.choice([2.0, 6.0]), rng.choice([1e-3, 1.0, 1e9]))
    noises = [made for made in (units.noise(v, 1) for v in (0.1, 0.5)) if made is not None]
    assert noises
    for _ in range(12):
        rest, scatter = parts_of(responsibilities_of(rng, units.x, K), units.x, units.weights)
        values = np.linalg.eigvalsh(scatter)
        for noise in noises:
            for variance in (noise.proxy, 1.0, 3.0):
                wide = noise.least + max(0.0, variance - noise.proxy)
                v = rng.uniform(noise.least, wide, d) if rng.random() < 0.5 else np.where(values < 1, noise.least, wide)
                said = 0.5 * np.log((1.0 + v) / (values + v)).sum() + units.entropy - noise.lack
                assert said - units.unclear_by(variance) <= rest + 1e-12


@pytest.mark.parametrize("seed", range(16))
def test_components_tell_no_more_of_labels_than_they_may(seed):
    rng = np.random.default_rng(seed)
    d, K = 2 + seed % 3, 3
    units = units_of(rng, 1000, d, K)
    noise = units.noise(0.2, 1)
    unclear, before = units.unclear_by(1.0), units.narrowest()
    for label in range(K if seed % 3 == 0 else 0):
        units.look(label, math.inf)
    assert units.narrowest() > before or seed % 3
    for _ in range(12):
        _, scatter = parts_of(responsibilities_of(rng, units.x, K), units.x, units.weights)
        values = np.linalg.eigvalsh(scatter)
        a = np.log((values + noise.least) / (1.0 + noise.least))
        assert 0.5 * np.cumsum(a).min() >= -math.log(K) - noise.lack
        assert 0.5 * a.sum() >= units.entropy - unclear - noise.lack - math.log(K)
        assert values[0] >= max(narrow(noise, math.log(K)), units.narrowest())
        assert (values[K - 1 :] >= units.others - 1e-9).all()


@pytest.mark.parametrize("seed", range(40))
def test_no_eigenvalues_that_may_be_have_a_lower_sum(seed):
    rng = np.random.default_rng(seed)
    least, d = rng.choice([0.02, 0.1, 0.5]), int(rng.integers(2, 6))
    wide, narrowest = least + rng.choice([0.0, 0.5, 4.0]), rng.choice([0.0, 0.01, 0.1, 0.9, 1.5])
    spare, most, rank = rng.choice([0.0, 0.1, 1.0, 9.0]), rng.choice([0.5, 2.0, 9.0]), int(rng.integers(1, d + 1))
    others = np.sort(rng.uniform(0.8, 1.2, d - rank))
    found, n_valid = least_sum(least, wide, narrowest, spare, most, rank, others), 0
    for _ in range(4000):
        scale = rng.choice([0.1, 1.0, 3.0])
        s = np.exp(scale * rng.standard_normal(d))
        kept = rng.random(d) < 0.4
        s[kept] = rng.choice([1.0, max(narrowest, 1e-6)])
        s = np.maximum(np.sort(s), narrowest)
        s[rank:] = np.maximum(s[rank:], others)
        a = np.log((s + least) / (1.0 + least))
        free = a[:rank][a[:rank] < 0.0]
        if a.sum() < -spare or free.sum() < -most:
            continue
        n_valid += 1
        v = np.where(s < 1.0, least, wide)
        assert 0.5 * np.log(s * (1.0 + v) / (s + v)).sum() >= found
    assert n_valid


@pytest.mark.parametrize("seed", range(40))
def test_no_eigenvalues_that_may_be_are_below_what_boxes_say(seed):
    rng = np.random.default_rng([seed, 1])
    d = int(rng.integers(1, 6))
    low = np.sort(rng.choice([0.02, 0.2, 1.0], d))
    spectra = Spectra(low, low * rng.choice([1.0, 3.0, 30.0], d).cumprod())
    noises = [(v, v + rng.choice([0.0, 0.5, 4.0]), rng.normal()) for v in rng.choice([0.02, 0.1, 0.5], 3)]
    sums = [(v, -rng.choice([0.0, 0.1, 1.0, 9.0]), -rng.choice([0.5, 2.0, 9.0])) for v in rng.choice([0.02, 0.5], 2)]
    for noise in noises:
        spectra.add_noise(*noise)
    for one in sums:
        spectra.add_sums(*one)
    limit = rng.choice([0.0, math.inf])
    found, n_boxes = spectra.least(limit, int(rng.choice([1, 300, 20_000])))
    assert n_boxes >= 1
    lowest = math.inf
    for _ in range(4000):
        s = np.sort(np.exp(rng.uniform(np.log(spectra.low), np.log(spectra.high))))
        if rng.random() < 0.5:
            s = np.clip(1.0, np.maximum(s, spectra.low), spectra.high)
        logs = [(np.log((s + least) / (1.0 + least)), of_all, of_any) for least, of_all, of_any in sums]
        if any(a.sum() < of_all or np.minimum(a, 0.0).sum() < of_any for a, of_all, of_any in logs):
            continue
        told_of = []
        for least, wide, value in noises:
            v = np.where(s < 1.0, least, wide)
            told_of.append(value + 0.5 * np.log(s * (1.0 + v) / (s + v)).sum())
        lowest = min(lowest, max(told_of))
    assert found <= max(lowest, limit)
    assert found <= lowest or found >= limit


def test_boxes_find_the_least_of_two_noises():
    """Of one eigenvalue: narrow noise says more of a wide one, wide noise of a narrow one, and they meet."""
    spectra = Spectra([0.1], [10.0])
    for noise in ((0.1, 0.1, -0.02), (0.5, 4.0, -0.1)):
        spectra.add_noise(*noise)
    at = np.geomspace(0.1, 10.0, 100_001)
    values = []
    for least, wide, value in ((0.1, 0.1, -0.02), (0.5, 4.0, -0.1)):
        v = np.where(at < 1.0, least, wide)
        values.append(value + 0.5 * np.log(at * (1.0 + v) / (at + v)))
    found, _ = spectra.least(math.inf, 20_000)
    assert found == pytest.approx(np.max(values, axis=0).min(), abs=1e-3)
    assert found > np.min(values, axis=1).max() - 1e-3


@pytest.mark.parametrize("seed", range(16))
def test_what_noises_say_together_is_less_than_responsibilities_attain(seed):
    rng = np.random.default_rng([seed, 2])
    d, K = 2 + seed % 3, 2 + seed % 3
    units = units_of(rng, 2000, d, K, rng.choice([4.0, 8.0]))
    noises = [made for made in (units.noise(v, 1) for v in (0.1, 0.2, 0.5)) if made is not None]
    (together, n_terms), alone = units.together(noises, math.inf), units.bound(noises)
    assert n_terms > 0
    attained_by = [np.equal.outer(np.arange(K), units.labels).astype(float)]
    attained_by += [responsibilities_of(rng, units.x, K) for _ in range(12)]
    for r in attained_by:
        rest, scatter = parts_of(r, units.x, units.weights)
        value = units.height - units.entropy + rest + 0.5 * np.linalg.slogdet(scatter)[1]
        assert together <= units.total * (value + 1e-12)
    assert together >= alone - 0.05 * units.total


@pytest.mark.parametrize("seed", range(10))
def test_the_least_sum_is_attained(seed):
    """By one eigenvalue that is as narrow as may be, another that is nearly so, and one that is wide."""
    rng = np.random.default_rng(seed)
    least, wide, narrowest, spare = 0.1, rng.uniform(0.1, 3.0), rng.uniform(0.05, 0.5), rng.uniform(0.0, 1.0)
    found = least_sum(least, wide, narrowest, spare, 50.0, 2, np.ones(1))
    lowest = 0.0
    far = math.log((1.0 + least) / (narrowest + least))
    for b in np.linspace(0.0, 2.0 * far, 4001):
        a = np.array([-min(b, far), -max(0.0, b - far), max(0.0, b - spare)])
        s = (1.0 + least) * np.exp(a) - least
        v = np.where(s < 1.0, least, wide)
        lowest = min(lowest, 0.5 * np.log(s * (1.0 + v) / (s + v)).sum())
    assert found == pytest.approx(lowest, abs=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_entropies_are_those_of_definitions(seed):
    rng = np.random.default_rng(seed)
    d, n = 1 + seed % 4, int(rng.integers(1, 60))
    y, w = 2.0 * rng.standard_normal((d, n)), rng.uniform(0.1, 2.0, n)
    low = y.min(axis=1) - 2.0
    sizes = (y.max(axis=1) - low).astype(np.intp) + 4
    mass, variances = spread_of(y, w, low, sizes)
    whole = mass.reshape(sizes).copy()
    for axis in range(d):
        whole = np.apply_along_axis(lambda line: np.convolve(line, [0.25, 0.5, 0.25], "same"), axis, whole)
    smooth(mass, sizes)
    assert mass == pytest.approx(whole.ravel(), abs=1e-15)
    assert mass.sum() == pytest.approx(w.sum())
    p = mass[mass > 0.0] / w.sum()
    found, size, squares, _ = entropy_of(y, w, low, sizes, 1, w.sum())
    assert (found, size) == pytest.approx((-(p @ np.log(p)), np.abs(p * np.log(p)).sum()))
    assert squares == pytest.approx(variances)
    low, sizes = low - 1.0, sizes + 2
    mass, _ = spread_of(y, w, low, sizes)
    smooth(mass, sizes)
    smooth(mass, sizes)
    p = mass[mass > 0.0] / w.sum()
    assert entropy_of(y, w, low, sizes, 2, w.sum())[0] == pytest.approx(-(p @ np.log(p)))
    smooth(np.empty(0), np.zeros(2, dtype=np.intp))


@pytest.mark.parametrize("seed", range(6))
def test_labels_are_hidden_no_more_than_is_said(seed):
    """By normal noise, whose posterior is that of the mixture of all samples with it."""
    rng = np.random.default_rng(seed)
    units = units_of(rng, 60, 2, 3, rng.choice([2.0, 5.0]))
    variance = rng.choice([0.1, 1.0, 4.0])
    w = units.weights / units.weights.sum()
    draws = rng.choice(60, 3000, p=w)
    y = units.x[:, draws] + math.sqrt(variance) * rng.standard_normal((2, 3000))
    density = w * np.exp(-0.5 * np.square(y[:, :, None] - units.x[:, None]).sum(axis=0) / variance)
    of_labels = np.array([density[:, units.labels == label].sum(axis=1) for label in range(3)])
    hidden = -np.log(of_labels[units.labels[draws], range(3000)] / of_labels.sum(axis=0)).mean()
    assert hidden <= units.unclear_by(variance) + 0.05
    assert units.unclear_by(variance) <= units.unclear_by(2.0 * variance) + 1e-9


@pytest.mark.parametrize("shift", [0.0, 1e3, 2.0**30])
@pytest.mark.parametrize("weight", [1.0, 1e9])
def test_offsets_and_weights_are_within_the_margin(shift, weight):
    found = []
    for more in (0.0, shift):
        units = units_of(np.random.default_rng(3), 5000, 3, 3, 8.0, weight, more)
        noise = units.noise(0.1, 1)
        found.append((units.bound([noise]) - math.fsum(units.slices.fixed)) / units.total)
        assert noise.least == pytest.approx(0.1, rel=1e-2) and 0.0 < noise.lack < 0.5
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def attained(problem, seed):
    """The best objective known, and its solution."""
    primal = MixturePrimal(engine.family(problem), 20, seed=seed)
    search = Search(EntropicRelaxation(engine.family(problem)), primal, 1e-9, max_nodes=2)
    search.run()
    fields, vector = search.summary()
    return fields["objective"], vector


@pytest.mark.parametrize("seed", range(36))
def test_no_bound_by_labels_exceeds_an_objective_attained(seed):
    """It is told to prove more than is true; of clusters it comes near that."""
    rng = np.random.default_rng(seed)
    d, K, n = 2 + seed % 3, 2 + seed // 3 % 3, 3000
    if seed % 4:
        problem = gopfast.GaussianMixture(clusters_of(rng, n, d, K)[0], K, covariance="tied")
    else:
        problem = in_lines(rng, n, d, K, seed % 6)
    best, vector = attained(problem, seed)
    for solution in (vector, None):
        if solution is None:  # of any labels
            solution = vector.copy()
            solution[K : K + K * d] = solution[K : K + K * d][rng.permutation(K * d)]
        bound = LabelBound(engine.family(problem).slices(), solution, best + 0.1 * problem.total_weight)
        found = told(bound, 40)
        assert max(found) <= best + 1e-12 * abs(best)
        if solution is vector and seed % 4 and d == 2 and K == 3:
            assert max(found) >= best - 0.3 * problem.total_weight
        assert bound.n_terms > 0 and bound.n_passes > 0
        assert bound.has_spectra or max(found) < best - 0.2 * problem.total_weight or not bound.known


def test_samples_of_a_label_in_a_plane_have_no_units():
    X = np.random.default_rng(0).standard_normal((6000, 3))
    X[:, 1] = X[:, 0]
    problem = gopfast.GaussianMixture(X, 3, covariance="tied")
    best, vector = attained(problem, 0)
    bound = LabelBound(engine.family(problem).slices(), vector, best)
    assert not bound.step(math.inf) and bound.lower == -math.inf


def test_a_narrow_eigenvalue_is_ruled_out_by_narrow_noise():
    assert narrow(Noisy(0.01, 0.0, 0.01), math.log(3)) == pytest.approx(1.01 / 9.0 - 0.01)
    assert least_sum(0.1, 1.0, 0.0, 9.0, 9.0, 2, np.ones(2)) == -math.inf
    assert least_sum(0.1, 1.0, 2.0, 0.0, 9.0, 2, np.ones(2)) == pytest.approx(0.0, abs=1e-12)
