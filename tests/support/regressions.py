"""Random mixtures of regressions on awkward data, and what responsibilities lead to in exact arithmetic."""

import itertools
import operator
from fractions import Fraction

import mpmath
import numpy as np
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import probe, root_box

import gopfast
from gopfast.checker import regressions
from gopfast.mixtures import engine
from gopfast.mixtures.families.axes import eliminated
from support.attack import DIGITS, GRAIN, boxes, exact, holds, responsibilities

DATA = ("plain", "ties", "near ties", "lattice", "offset", "scales", "curve", "exact lines")


def awkward(kind, rng, n, p):
    """Regressors (n, p) and responses (n,) of a kind of `DATA`."""
    X = rng.normal(size=(n, p)) * rng.choice([0.3, 1.0, 3.0], p)
    y = X @ rng.normal(size=p) * rng.choice([-1.0, 1.0], n) + 0.3 * rng.normal(size=n)
    if kind == "ties":
        X = X[rng.integers(n // 2 + 1, size=n)]
    elif kind == "near ties":
        X = X[rng.integers(n // 2 + 1, size=n)] + 10.0 ** rng.uniform(-9, -3) * rng.normal(size=(n, p))
    elif kind == "lattice":
        X, y = np.rint(2 * X), np.rint(2 * y)
    elif kind == "offset":
        X, y = X + rng.choice([0.0, 2.0**10, 2.0**20], p), y + rng.choice([0.0, 2.0**20])
    elif kind == "scales":
        X, y = X * 10.0 ** rng.integers(-6, 7, p), y * 10.0 ** rng.integers(-6, 7)
    elif kind == "curve" and p > 1:
        X[:, 1] = X[:, 0] ** 2
    elif kind == "exact lines":
        y = X.sum(axis=1) * rng.choice([-1.0, 2.0], n)
    return X, y


def problem(kind, rng, n=10, K=2, p=1, known=False, fit_intercept=True, shared=False, grouped=False):
    """A mixture on such data, with floors from next to nothing to more than the spread; grouped: of rows in groups."""
    X, y = awkward(kind, rng, n, p)
    spread = float(y.std()) or 1.0
    variance = float((rng.choice([1e-3, 0.05, 0.3, 1.0]) * spread) ** 2)
    weights = 10.0 ** rng.uniform(-2.0, 2.0, n) if rng.random() < 0.3 else rng.choice([0.5, 1.0, 3.0], n)
    given = {"noise_variance": variance} if known else {"variance_floor": variance}
    given |= {"variance": "shared"} if shared else {}
    if grouped:
        given["groups"] = rng.permutation(np.arange(n) % (K + 1 + n // 3))
        weights = weights[given["groups"]]
    return gopfast.RegressionMixture(X, y, K, sample_weight=weights, fit_intercept=fit_intercept, **given)


def design(case):
    """Regressors with the constant, and responses, exact."""
    columns = [case.regressors, np.ones((case.n_samples, 1))] if case.fit_intercept else [case.regressors]
    return exact(np.hstack(columns)), exact(case.response)


def fit(Z, y, mass):
    """Exact weighted least squares: coefficients (q,) and the mean square; None where they are not determined."""
    M = (Z * mass[:, None]).T @ Z
    try:
        _, inverse = eliminated([list(row) for row in M])
    except ZeroDivisionError:
        return None
    b = np.array(inverse, dtype=object) @ ((Z * mass[:, None]).T @ y)
    residuals = y - Z @ b
    return b, (mass * residuals * residuals).sum() / mass.sum()


def targets(case, family, counts):
    """Exact connected variables of responsibilities, components in the tree's order, and the objective; or None."""
    (Z, y), w = design(case), exact(case.sample_weight)
    mass, unit = w[:, None] * exact(counts) / GRAIN, Fraction(family.design.unit)
    total, value, cells, variances, masses = w.sum(), mpmath.mpf(0), [], [], []
    for i, k in zip(*np.nonzero(counts), strict=True):
        value += number(mass[i, k]) * mpmath.log(number(Fraction(int(counts[i, k]), GRAIN)))
    number_of_rows = case._rows_of_group.tolist()  # that the weight of each group is divided among
    for part in mass.T:
        size, part = part.sum(), part * number_of_rows
        found = fit(Z, y, part) if size else None
        if found is None:
            return None
        b, v = found
        value -= number(size) * mpmath.log(number(size / total))
        variances.append(v)
        masses.append(part.sum())
        cells.append([
            (sum(x * c for x, c in zip(place, b, strict=True)) - shift) / unit
            for place, shift in zip(family.design.places, family.design.values, strict=True)
        ] + [v / unit**2] * (case.noise_variance is None and not case.shared_names))  # fmt: skip
    if case.shared_names:
        variances = [sum(map(operator.mul, variances, masses)) / sum(masses)] * len(masses)
    for v, size in zip(variances, masses, strict=True):
        if case.noise_variance is None:
            top = max(v, Fraction(case.variance_floor))
        else:
            top = Fraction(case.noise_variance)
        value += number(size) * (mpmath.log(2 * mpmath.pi * number(top)) + number(v / top)) / 2
    cells.sort(key=lambda cell: cell[0])
    return [x for cell in cells for x in cell] + [variances[0] / unit**2] * len(case.shared_names), value


def number(x):
    """A Fraction in mpmath."""
    return mpmath.mpf(x.numerator) / x.denominator


def attacked(kind, seed, n_points=3, n_boxes=8, **model):
    """Failures of random boxes around what random responsibilities lead to, as text, and the number of boxes."""
    rng = np.random.default_rng(seed)
    return boxes_attacked(problem(kind, rng, **model), rng, targets, f"{kind}, seed {seed}", n_points, n_boxes)


def boxes_attacked(case, rng, targets, where, n_points, n_boxes, near=lambda root, point: root, digits=DIGITS):
    """The same of a problem: `targets` as above, `near` the part of the root around a point to draw boxes in."""
    found, tried = [], 0
    family = engine.family(case)
    relaxation = EntropicRelaxation(family)
    root = root_box(relaxation)
    with mpmath.workdps(digits):
        for _ in range(n_points):
            shares = responsibilities(case, rng)
            shares = shares[np.unique(case._group_of, return_index=True)[1]][case._group_of]
            target = targets(case, family, shares)
            if target is None:
                continue
            point, value = target
            if (out := holds(*root, point)) >= 0:
                found.append(f"{where}: the root lacks variable {out}")
                continue
            for low, high in boxes(rng, point, *near(root, point), n_boxes):
                tried += 1
                limit = rng.choice([np.inf, float(value + 1e-9 * (1 + abs(value)))])
                left = probe(relaxation, low, high, limit)
                if left is None:
                    found.append(f"{where}: a box around a fit is emptied")
                elif (out := holds(*left[:2], point)) >= 0:
                    found.append(f"{where}: variable {out} is cut off")
                elif left[2] > value:
                    found.append(f"{where}: bound {left[2]!r} exceeds by {mpmath.nstr(left[2] - value, 4)}")
    return found, tried


def lines(rng, n):
    """Rows of two Fractions, among them some of one direction and some of one coordinate 0, and ranges of responses."""
    rows = [[int(x) for x in row] for row in rng.integers(-3, 4, (n, 2))]
    rows += [[3 * x, 3 * y] for x, y in rows[:2]] + [[1, 0], [0, 2], [1, 1]]
    rows = [list(map(Fraction, row)) for row in dict.fromkeys(map(tuple, rows)) if any(row)]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    low = [Fraction(int(x), 8) for x in rng.integers(-40, 40, len(rows))]
    return rows, low, [x + Fraction(int(wide), 8) for x, wide in zip(low, rng.integers(0, 9, len(rows)), strict=True)]


def assert_extremes(box, rows, low, high):
    """Assert that a box is that of the fits through any two rows of different directions, but for rounding."""
    fits = []
    for i, j in itertools.combinations(range(len(rows)), 2):
        (a, b), (c, d) = rows[i], rows[j]
        if det := a * d - b * c:
            for y, z in itertools.product((low[i], high[i]), (low[j], high[j])):
                fits.append(((y * d - z * b) / det, (z * a - y * c) / det))
    for found, end, side in zip(box, (min, max), (1, -1), strict=True):
        for x, column in zip(found.tolist(), zip(*fits, strict=True), strict=True):
            assert 0 <= side * (end(column) - Fraction(x)) <= Fraction(1, 10**9) * max(1, abs(end(column)))


def exact_cell(bounds, places, fit, mass):
    """Exact coordinates (p,) of a fit in the cells of the checker's bounds at places, and its cost in mpmath."""
    (b, v), rules = fit, bounds.rules
    unit, floor = Fraction(np.sqrt(bounds.problem.least_variance)), Fraction(bounds.problem.least_variance)
    rows = regressions.designs(bounds.problem, places.T)
    cell = [
        (sum(x * c for x, c in zip(row, b, strict=True)) - Fraction(value)) / unit
        for row, value in zip(rows, places[:, -1].tolist(), strict=True)
    ] + [v / unit**2] * rules.free  # fmt: skip
    top, S = max(v, floor) if rules.free else floor, number(mass.sum())
    return cell, S * (mpmath.log(2 * mpmath.pi * number(top)) + number(v / top)) / 2
