"""Random responsibilities against boxes that hold what they lead to, in exact arithmetic, on awkward data.

For responsibilities with dyadic entries the statistics of the core's columns are rational, and so is the point in the
space of connected variables that belongs to them. A box that holds the point must keep it when it is tightened, and its
bound must not exceed the objective of the responsibilities, which is computed from the user's data by its definition.
"""

from fractions import Fraction

import mpmath
import numpy as np
from gopfast.mixtures.families.full import FullFamily
from gopfast.mixtures.families.tied import TiedFamily
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import probe, root_box

import gopfast
from gopfast.mixtures import engine

DIGITS = 60
GRAIN = 2**40  # responsibilities are multiples of its inverse
DATA = (
    "plain", "constant", "sum", "affine", "near 1e-8", "near 1e-12", "offset", "scales", "lattice", "copies", "few",
)  # fmt: skip


def awkward(kind, rng, n, d):
    """Data (n, d) of a kind of `DATA`: what real tables have and random ones do not."""
    X = rng.normal(size=(n, d)) * rng.choice([0.3, 1.0, 3.0], d) + 4.0 * rng.integers(2, size=(n, 1))
    one, other = rng.permutation(d)[:2] if d > 1 else (0, 0)
    if kind == "constant":
        X[:, one] = rng.choice([0.0, 5.1, -1e6 / 7])
    elif kind == "sum" and d > 1:
        X[:, one] = 100.0 - X[:, other]
    elif kind == "affine" and d > 1:
        X[:, one] = 2.0 * X[:, other] + 1.0
    elif kind.startswith("near") and d > 1:
        X[:, one] = 3.0 * X[:, other] + float(kind.split()[1]) * rng.normal(size=n)
    elif kind == "offset":
        X += rng.choice([2.0**20, 2.0**40], d)
    elif kind == "scales":
        X *= 10.0 ** rng.integers(-6, 7, d)
    elif kind == "lattice":
        X = np.rint(X)
    elif kind == "copies":
        X = X[rng.integers(n // 3 + 1, size=n)]
    elif kind == "few":
        X = X[rng.integers(2, size=n)]
    return X


def problem(kind, covariance, rng, n, K, d):
    """A mixture on such data, with floors from next to nothing to more than the spread."""
    X = awkward(kind, rng, n, d)
    spread = X.std(axis=0)
    share = rng.choice([1e-5, 1e-3, 0.05, 0.5, 2.0], d) if rng.random() < 0.3 else rng.choice([1e-4, 0.05, 0.3])
    floor = np.where(spread > 1e-9 * np.abs(X).max(axis=0), share * spread, rng.choice([1e-3, 1.0])) ** 2
    weights = 10.0 ** rng.uniform(-2.0, 2.0, n) if rng.random() < 0.3 else rng.choice([0.5, 1.0, 3.0], n)
    return gopfast.GaussianMixture(X, K, covariance=covariance, variance_floor=floor, sample_weight=weights)


def responsibilities(problem, rng):
    """Rows (n, K) of integers that add up to GRAIN: soft, hard, near hard, or with a component next to empty.

    Or those of parameters: they have the most entropy for their statistics, so that bounds of small boxes come near.
    """
    n, K = problem.n_samples, problem.n_components
    kind = rng.integers(10)
    tau = rng.dirichlet(np.ones(K), n)
    if kind == 1:
        tau = np.eye(K)[rng.integers(K, size=n)]
    elif kind == 2:
        tau = np.eye(K)[rng.integers(K, size=n)] * (1 - 1e-9) + 1e-9 * tau
    elif kind == 3:
        tau = rng.dirichlet(np.full(K, 0.05), n)
    elif kind == 4:
        tau = np.full((n, K), 1e-9)
        tau[:, rng.integers(K)] = 1.0
        tau[rng.integers(n)] = rng.dirichlet(np.ones(K))
    if kind > 4:
        tau = 0.99 * tau + 0.01 / K
        for _ in range(rng.choice([1, 3, 30])):
            tau = problem.responsibilities(**problem.maximize(tau))
    counts = np.floor(tau / tau.sum(axis=1, keepdims=True) * GRAIN).astype(np.int64)
    counts[np.arange(n), counts.argmax(axis=1)] += GRAIN - counts.sum(axis=1)
    return counts


def exact(array):
    """An array of Fractions."""
    return np.array([Fraction(x) for x in np.ravel(array).tolist()], dtype=object).reshape(np.shape(array))


def moments(columns, mass):
    """Mean (d,) and covariance (d, d) of exact samples (d, n) with masses (n,), exact."""
    total = mass.sum()
    mean = (columns * mass).sum(axis=1) / total
    z = columns - mean[:, None]
    return mean, (z * mass) @ z.T / total


def matrix_cost(C, floor):
    """The least 1/2 log det(2 pi S) + 1/2 tr(S^-1 C) over S >= diag(floor), in mpmath, for exact C."""
    d = len(C)
    unit = [mpmath.sqrt(_number(f)) for f in floor]
    values = mpmath.eigsy(
        mpmath.matrix([[_number(C[a][b]) / (unit[a] * unit[b]) for b in range(d)] for a in range(d)]), eigvals_only=True
    )
    total = mpmath.mpf(0)
    for value, f in zip(values, floor, strict=True):
        top = max(value, mpmath.mpf(1))
        total += (mpmath.log(2 * mpmath.pi * top) + value / top + mpmath.log(_number(f))) / 2
    return total


def _number(x):
    return mpmath.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpmath.mpf(x)


def objective(problem, counts):
    """The mixture's objective at responsibilities, with the best parameters for them, in mpmath from the definition."""
    X, w, floor = exact(problem.X), exact(problem.sample_weight), exact(problem.variance_floor)
    mass = w[:, None] * exact(counts) / GRAIN
    total, value = w.sum(), mpmath.mpf(0)
    for i, k in zip(*np.nonzero(counts), strict=True):
        value += _number(mass[i, k]) * mpmath.log(_number(Fraction(int(counts[i, k]), GRAIN)))
    within = 0
    for part in mass.T:
        size = part.sum()
        if size == 0:
            continue
        value -= _number(size) * mpmath.log(_number(size / total))
        C = moments(X.T, part)[1]
        within = within + size * C
        if problem.covariance == "full":
            value += _number(size) * matrix_cost(C, floor)
    if problem.covariance == "tied":
        value += _number(total) * matrix_cost(within / total, floor)
    return value


def connected(family, counts):
    """The exact connected variables (n_connected,) of responsibilities, components in the tree's order."""
    columns, w = family.data.arrays()
    d = len(family.axes)
    columns, w = exact(columns[:d]), exact(w)
    upper = np.triu_indices(d)
    cells, within = [], 0
    for part in (w * exact(counts.T)) / GRAIN:
        mean, C = moments(columns, part)
        within = within + part.sum() * C
        if isinstance(family, TiedFamily):
            cells.append(list(mean))
        elif isinstance(family, FullFamily):
            denominator = C[0, 0] + Fraction(family.ridge)
            slope = C[0, 1] / denominator
            cells.append([*mean, C[0, 0], slope, C[1, 1] - slope * C[0, 1]])
        else:
            cells.append([*mean, *C[upper]])
    cells.sort(key=lambda cell: cell[0])
    shared = list((within / w.sum())[upper]) if isinstance(family, TiedFamily) else []
    return [x for cell in cells for x in cell] + shared


def outward(x, sign):
    """The nearest float at or beyond an exact number, downwards for sign -1."""
    found = float(x)
    while (Fraction(found) - x) * sign < 0:
        found = float(np.nextafter(found, sign * np.inf))
    return found


def boxes(rng, point, low, high, n_boxes):
    """Boxes within [low, high] around an exact point: of all widths, with the point inside and on faces."""
    least, most = (np.array([outward(x, sign) for x in point]) for sign in (-1, 1))
    width = high - low
    for _ in range(n_boxes):
        size = 10.0 ** rng.uniform(-rng.choice([2.0, 6.0, 14.0]), 0.0, 1 if rng.random() < 0.7 else len(low))
        sides = []
        for end, sign in ((least, -1), (most, 1)):
            share = rng.choice([0.0, 1.0, rng.random(), 1e9], len(low), p=[0.2, 0.3, 0.4, 0.1])
            sides.append(np.clip(end + sign * share * size * width, np.minimum(low, least), np.maximum(high, most)))
        yield sides[0], sides[1]


def holds(low, high, point):
    """The first connected variable of an exact point outside a box, or -1."""
    for j, x in enumerate(point):
        if not Fraction(float(low[j])) <= x <= Fraction(float(high[j])):
            return j
    return -1


def attack(kind, covariance, seed, n=10, K=2, d=2, n_points=3, n_boxes=8):
    """Yield a line for every failure on one problem; returns the number of boxes."""
    rng = np.random.default_rng(seed)
    tried = 0
    case = problem(kind, covariance, rng, n, K, d)
    family = engine.family(case)
    relaxation = EntropicRelaxation(family)
    root = root_box(relaxation)
    where = f"{kind}, {covariance}, seed {seed}, n={n}, K={K}, d={d}"
    with mpmath.workdps(DIGITS):
        for number in range(n_points):
            counts = responsibilities(case, rng)
            if not counts.any(axis=0).all():
                continue
            point, value = connected(family, counts), objective(case, counts)
            out = holds(*root, point)
            if out >= 0:
                yield f"{where}, point {number}: the root lacks variable {out}"
            for low, high in boxes(rng, point, *root, n_boxes):
                tried += 1
                # a limit just above: with none, a bound is left as soon as it cannot fathom
                limit = rng.choice([np.inf, float(value + 1e-9 * (1 + abs(value)))])
                left = probe(relaxation, low, high, limit)
                if left is None:
                    yield f"{where}, point {number}: a box around it is emptied"
                    continue
                if (out := holds(*left[:2], point)) >= 0:
                    yield f"{where}, point {number}: variable {out} is cut off"
                if (bound := left[2]) > value:
                    yield f"{where}, point {number}: bound {bound!r} exceeds by {mpmath.nstr(bound - value, 4)}"
    return tried


def attacked(kind, covariance, seed, **sizes):
    """All failures on one problem, and the number of boxes."""
    found, run = [], attack(kind, covariance, seed, **sizes)
    while True:
        try:
            found.append(next(run))
        except StopIteration as end:
            return found, end.value
