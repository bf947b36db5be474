"""Random mixtures of regressions of counts on awkward data, and what responsibilities lead to, in many digits."""

from fractions import Fraction

import mpmath
import numpy as np

import gopfast
from support.attack import GRAIN, exact
from support.regressions import boxes_attacked, number

DIGITS = 34
DATA = ("plain", "ties", "near ties", "zeros", "ends", "large", "offset")


def problem(kind, rng, n=10, K=2, p=1, family="poisson", fit_intercept=True, grouped=False, **given):
    """A mixture on data of a kind of `DATA`; grouped: of rows that belong together, in no order."""
    X = rng.normal(size=(n, p))
    if kind == "ties":
        X = X[rng.integers(n // 2 + 1, size=n)]
    elif kind == "near ties":
        X = X[rng.integers(n // 2 + 1, size=n)] + 10.0 ** rng.uniform(-6, -2) * rng.normal(size=(n, p))
    eta = 1.0 + X @ rng.normal(size=p) * rng.choice([-1.0, 1.0], n)
    if kind == "zeros":
        eta -= 3.0
    elif kind == "large":
        eta += rng.choice([4.0, 9.0])
    if kind == "offset":
        given["offset"] = rng.choice([0.0, 1.0, 6.0]) * rng.normal(size=n)
    weights = 10.0 ** rng.uniform(-2.0, 2.0, n) if rng.random() < 0.3 else rng.choice([0.5, 1.0, 3.0], n)
    if grouped:
        given["groups"] = rng.permutation(np.arange(n) % (K + 1 + n // 3))
        weights = weights[given["groups"]]
    if family == "poisson":
        y = rng.poisson(np.exp(np.clip(eta + given.get("offset", 0.0), -20, 12)))
    else:
        given["n_trials"] = rng.integers(1, 4 if kind == "ends" else 40, n)
        y = rng.binomial(given["n_trials"], 1.0 / (1.0 + np.exp(-eta)))
    return gopfast.RegressionMixture(
        X, y, K, family=family, sample_weight=weights, fit_intercept=fit_intercept, **given
    )


def rows(case):
    """Regressors with the constant (n, q), counts, trials and offsets (n,), in mpmath."""
    columns = [case.regressors, np.ones((len(case.regressors), 1))] if case.fit_intercept else [case.regressors]
    least = mpmath.mpf(case.least_count)
    counts, trials = [mpmath.mpf(y) for y in case.response], [mpmath.mpf(n) for n in case.trials]
    counts = [max(y, least) for y in counts]
    if case.family == "binomial":
        counts = [min(y, n - least) for y, n in zip(counts, trials, strict=True)]
    Z = [[mpmath.mpf(x) for x in row] for row in np.hstack(columns)]
    return Z, counts, trials, [mpmath.mpf(o) for o in case.offsets]


def cost(case, i, eta, counts):
    """Minus the logarithm of the probability of row i at a linear predictor, from the definition."""
    y, n = mpmath.mpf(case.response[i]), mpmath.mpf(case.trials[i])
    if case.family == "poisson":
        return mpmath.exp(eta) - counts[i] * eta + mpmath.loggamma(y + 1)
    return n * mpmath.log1p(mpmath.exp(eta)) - counts[i] * eta - mpmath.log(mpmath.binomial(n, y))


def fit(case, mass):
    """Coefficients (q,) of the least cost of rows with masses (n,), to DIGITS digits; None: not determined."""
    Z, y, n, offset = rows(case)
    q, mass = len(Z[0]), [mpmath.mpf(m.numerator) / m.denominator for m in mass]
    shares = np.array([float(m) for m in mass])
    start = case._rows.fit(shares, np.zeros(len(shares)))
    b, total = mpmath.matrix([mpmath.mpf(float(x)) for x in start]), sum(mass)
    for _ in range(100):
        gradient, hessian = mpmath.zeros(q, 1), mpmath.zeros(q)
        for row, count, trials, o, m in zip(Z, y, n, offset, mass, strict=True):
            eta = o + sum(x * c for x, c in zip(row, b, strict=True))
            mean = mpmath.exp(eta) if case.family == "poisson" else trials / (1 + mpmath.exp(-eta))
            spread = mean if case.family == "poisson" else mean * (1 - mean / trials)
            for j in range(q):
                gradient[j] += m * (mean - count) * row[j]
                for other in range(q):
                    hessian[j, other] += m * spread * row[j] * row[other]
        try:
            step = mpmath.lu_solve(hessian, -gradient)
        except ZeroDivisionError:
            return None
        size = max(abs(x) for x in step)
        b += step if size < 1 else step / size
        if size < mpmath.mpf(10) ** (10 - DIGITS) * (1 + max(abs(x) for x in b)):
            return list(b) if total else None
    return None


def fraction(x):
    """A number of mpmath as a Fraction."""
    sign, man, exponent, _ = x._mpf_
    return Fraction(-1 if sign else 1) * int(man) * Fraction(2) ** exponent


def at_places(family, b):
    """The core's coefficients of a fit, as Fractions."""
    return [
        sum(x * fraction(c) for x, c in zip(place, b, strict=True)) - shift
        for place, shift in zip(family.design.places, family.design.values, strict=True)
    ]


def targets(case, family, counts):
    """Connected variables of responsibilities, components in the tree's order, and the objective; or None."""
    w = exact(case.sample_weight)
    mass, value, cells = w[:, None] * exact(counts) / GRAIN, mpmath.mpf(0), []
    total, (Z, y, _, offset) = w.sum(), rows(case)
    for i, k in zip(*np.nonzero(counts), strict=True):
        value += number(mass[i, k]) * mpmath.log(number(Fraction(int(counts[i, k]), GRAIN)))
    number_of_rows = case._rows_of_group.tolist()  # that the weight of each group is divided among
    for part in mass.T:
        size = part.sum()
        part = part * number_of_rows
        b = fit(case, part) if size else None
        if b is None:
            return None
        value -= number(size) * mpmath.log(number(size / total))
        for i in np.flatnonzero(part):
            eta = offset[i] + sum(x * c for x, c in zip(Z[i], b, strict=True))
            value += number(part[i]) * cost(case, i, eta, y)
        cells.append(at_places(family, b))
    cells.sort(key=lambda cell: cell[0])
    return [x for cell in cells for x in cell], value


def near(root, point):
    """A part of the root around a point that is some nats wide, where the second bound of a cell is the better one."""
    at = np.array([float(x) for x in point])
    return np.maximum(root[0], at - 2.0), np.minimum(root[1], at + 2.0)


def attacked(kind, seed, n_points=3, n_boxes=8, **model):
    """Failures of random boxes around what random responsibilities lead to, as text, and the number of boxes."""
    rng = np.random.default_rng(seed)
    case = problem(kind, rng, **model)
    return boxes_attacked(case, rng, targets, f"{kind}, seed {seed}", n_points, n_boxes, near, DIGITS)
