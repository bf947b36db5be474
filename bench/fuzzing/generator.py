"""Problems as nasty as real data: ties, lattices, dependent columns, offsets, scales, extreme weights and priors."""

from pathlib import Path

import numpy as np

import gopfast

ROOT = Path(__file__).resolve().parents[2]

COUNTS = (0.3, 3.0, 30.0, 1e3, 1e6, 1e9, 1e12, 1e14)
# At and around 1, where priors stop to pull, and far out. A family refuses what it must.
PRIORS = (1.0, 1.0 + 1e-9, 1.0 + 1e-15, 1.5, 2.0, 1e8)
SCALES = (1e-8, 1e-3, 0.5, 1.0, 2.0, 1e8)


def size(rng, small):
    """Samples, columns, components."""
    if small:
        # 300 have summaries
        shares = (0.08, 0.1, 0.13, 0.14, 0.14, 0.14, 0.13, 0.1, 0.03, 0.01)
        n = int(rng.choice([2, 3, 4, 5, 6, 8, 12, 20, 40, 300], p=shares))
    else:
        n = int(rng.choice([4, 8, 15, 30, 60, 150, 300, 400]))
    d = int(rng.choice([1, 2, 3, 4], p=[0.45, 0.35, 0.15, 0.05]))
    K = int(min(n, rng.choice([1, 2, 3, 4, 5], p=[0.06, 0.5, 0.27, 0.1, 0.07])))
    return n, d, K


def weights(rng, n):
    kind = rng.integers(6)
    if kind < 3:
        return None
    if kind == 3:
        w = rng.uniform(0.5, 2.0, n)
    elif kind == 4:
        w = 10.0 ** rng.uniform(-6, 6, n)
    else:
        w = rng.integers(0, 4, n).astype(float)
    w[rng.random(n) < 0.1] = 0.0
    w[rng.integers(n)] = 10.0 ** rng.integers(-3, 4)
    return w


def repeated(rng, X):
    """Rows of which some are equal: sometimes fewer different ones than components."""
    kind = rng.integers(5)
    if kind == 0:
        X = X[rng.integers(0, max(1, len(X) // 2), len(X))]
    elif kind == 1:
        X = X[rng.integers(0, min(len(X), int(rng.integers(1, 4))), len(X))]
    return X


def column(rng, n):
    kind = rng.integers(9)
    if kind == 0:
        return rng.integers(1, 6, n).astype(float)
    if kind == 1:
        return rng.poisson(3, n).astype(float)
    if kind == 2:
        return np.round(rng.standard_normal(n) * 2, 1)
    if kind == 3:
        return rng.integers(0, 2, n).astype(float)
    if kind == 4:
        return np.arange(n, dtype=float)
    if kind == 5:
        return rng.standard_cauchy(n)
    groups = rng.integers(int(rng.integers(1, 5)), size=n)
    return groups * rng.uniform(1, 8) + rng.standard_normal(n)


def reals(rng, n, d):
    """Columns of numbers; some constant, dependent, far from 0 or of other units."""
    X = np.stack([column(rng, n) for _ in range(d)], axis=1)
    for j in range(1, d):
        kind = rng.integers(8)
        if kind == 0:
            X[:, j] = rng.choice([0.0, 0.1, 7.0])
        elif kind == 1:
            X[:, j] = 2.0 * X[:, 0] + 1.0
        elif kind == 2:
            X[:, j] = 100.0 - X[:, j - 1]
    if rng.random() < 0.05:
        X[:, 0] = 3.0
    X = repeated(rng, X)
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.uniform(-6, 6, 1 if rng.random() < 0.5 else d)
    if rng.random() < 0.3:
        X = X + rng.choice([-1.0, 1.0]) * 2.0 ** rng.integers(0, 41)
    return X


def spread(X):
    """Squared unit of each column; 1 where it is constant, whatever its rounded variance says."""
    return np.where(np.ptp(X, axis=0) > 0, X.var(axis=0), 1.0)


def gaussian_known(rng, n, d, K, small, prior=None, posterior="point"):
    X = reals(rng, n, d)
    unit = spread(X) if rng.random() < 0.7 else np.full(d, spread(X).mean())
    noise = unit * 10.0 ** (rng.uniform(-3, 2) if small else rng.uniform(-1.5, 0.5))
    if rng.random() < 0.3:
        noise = np.full(d, noise.max())
    options = {}
    if prior == "fixed":
        prior = float(rng.choice(SCALES) * unit.max() if rng.random() < 0.7 else rng.choice(SCALES))
    elif prior == "empirical" and rng.random() < 0.7:
        options["prior_variance_bounds"] = tuple(unit.max() * 10.0 ** rng.uniform((-8, 0), (0, 8)))
    return gopfast.GaussianMixture(
        X, K, noise_variance=noise, prior=prior, posterior=posterior, sample_weight=weights(rng, n), **options
    )


def gaussian_free(rng, n, d, K, small, covariance):
    X = reals(rng, n, d)
    kind = rng.integers(4)
    unit = spread(X)
    if kind == 0 and (np.ptp(X, axis=0) > 0).all():
        floor = None
    elif covariance in ("spherical", "tied_spherical"):
        floor = float(unit.min() * 10.0 ** rng.uniform(-4, 1))
    else:
        floor = unit * 10.0 ** rng.uniform(-4, 1, 1 if rng.random() < 0.7 else d)
    return gopfast.GaussianMixture(X, K, covariance=covariance, variance_floor=floor, sample_weight=weights(rng, n))


def bernoulli(rng, n, d, K, small, prior=False):
    d = int(rng.integers(1, 6)) if rng.random() < 0.5 else d
    share = rng.choice([0.0, 0.02, 0.5, 1.0], d, p=[0.1, 0.2, 0.6, 0.1])
    X = (rng.random((n, d)) < np.where(rng.random((n, 1)) < 0.5, share, rng.random(d))).astype(float)
    if d > 1 and rng.random() < 0.3:
        X[:, 1] = rng.choice([X[:, 0], 1.0 - X[:, 0]])
    given = tuple(float(x) for x in rng.choice(PRIORS, 2)) if prior else None
    return gopfast.BernoulliMixture(repeated(rng, X), K, prior=given, sample_weight=weights(rng, n))


def poisson(rng, n, d, K, small, prior=False):
    rate = rng.choice(COUNTS[:4] if rng.random() < 0.7 else COUNTS, (1, d)) * rng.choice([1.0, 1.0, 0.01, 3.0], (n, d))
    X = np.where(rate > 1e15, 0.0, np.round(rng.normal(rate, np.sqrt(rate))).clip(0.0))
    if rng.random() < 0.1:
        X[:, 0] = rng.choice([0.0, 1.0, X[0, 0]])
    given = None
    if prior:
        given = float(rng.choice(PRIORS)), float(rng.choice([1e-8, 0.5, 1.0 - 1e-9, 1.0, 2.0, 1e8]))
    return gopfast.PoissonMixture(repeated(rng, X), K, prior=given, sample_weight=weights(rng, n))


def exponential(rng, n, d, K, small, prior=False):
    X = rng.exponential(rng.choice([1e-6, 0.1, 1.0, 10.0, 1e6], (n, d) if rng.random() < 0.4 else (1, d)), (n, d))
    if rng.random() < 0.3:
        X = np.ceil(X * 10) / 10
    if rng.random() < 0.1:
        X[:, 0] = X[0, 0]
    given = None
    if prior:
        given = float(rng.choice(PRIORS)), float(rng.choice([1e-8, 0.5, 1.0, 2.0, 1e8]))
        if rng.random() < 0.2:
            X[rng.integers(n)] = 0.0
    return gopfast.ExponentialMixture(repeated(rng, X), K, prior=given, sample_weight=weights(rng, n))


def categorical(rng, n, d, K, small, prior=False):
    sizes = rng.integers(1, 6, d)
    X = np.stack([rng.choice(C, n, p=rng.dirichlet(np.full(C, rng.choice([0.2, 2.0])))) for C in sizes], axis=1)
    if d > 1 and rng.random() < 0.3:
        X[:, 1] = X[:, 0]
        sizes[1] = sizes[0]
    X = repeated(rng, X)
    categories = [list(range(C)) for C in sizes] if rng.random() < 0.5 else None
    given = float(rng.choice(PRIORS)) if prior else None
    return gopfast.CategoricalMixture(X, K, categories=categories, prior=given, sample_weight=weights(rng, n))


def latent_class(rng, n, d, K, small, prior=False):
    """Categorical tables with missing entries; sometimes whole columns, rows or items of one component."""
    problem = categorical(rng, n, d, K, small, prior)
    X = np.where(rng.random(problem.X.shape) < rng.choice([0.03, 0.3, 0.8]), -1, problem.X)
    kind = rng.integers(6)
    if kind == 0:
        X[:, -1] = -1
    elif kind == 1:
        X[rng.integers(n)] = -1
    elif kind == 2:
        X[problem.X[:, 0] == problem.X[0, 0], -1] = -1
    categories = [list(range(C)) for C in problem.n_categories]
    return gopfast.LatentClass(
        X, K, missing=-1, categories=categories, prior=problem.prior, sample_weight=problem.sample_weight
    )


def multinomial(rng, n, d, K, small, prior=False):
    """Rows of two to four counts of very different totals; some empty, some of one category alone."""
    d = 2 if d < 3 else d
    shares = rng.dirichlet(np.full(d, rng.choice([0.2, 2.0])), K)[rng.integers(K, size=n)]
    totals = rng.poisson(rng.choice([0.5, 3.0, 30.0, 1e3, 1e6], n if rng.random() < 0.4 else 1), n)
    X = rng.multinomial(totals, shares).astype(float)
    if rng.random() < 0.2:
        X[:, 0] = 0.0
    X = repeated(rng, X)
    X[0, -1] += 1.0
    given = float(rng.choice(PRIORS)) if prior else None
    w = weights(rng, n)
    if w is not None and not w[X.any(axis=1)].any():
        w[0] = 1.0
    return gopfast.MultinomialMixture(X, K, prior=given, sample_weight=w)


def gamma(rng, n, d, K, small):
    """Positive amounts, some equal, of shapes far apart; units and floors of the coefficient of variation far apart."""
    n, d = min(n, 60), min(d, 3)
    shape = rng.choice([0.1, 1.0, 5.0, 200.0], (K, d))[rng.integers(K, size=n)]
    X = np.maximum(rng.gamma(shape, rng.choice([0.3, 1.0, 4.0], (n, 1))), 1e-6)
    if rng.random() < 0.3:
        X = np.ceil(X * 4) / 4
    if rng.random() < 0.1:
        X[:, 0] = X[0, 0]
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.uniform(-8, 8, d)
    floor = float(rng.choice([0.01, 0.05, 0.05, 0.3, 1.0, 5.0]))
    return gopfast.GammaMixture(repeated(rng, X), min(n, K), cv_floor=floor, sample_weight=weights(rng, n))


def regression(rng, n, d, K, small, known=False, shared=False, tied=False, groups=False):
    """A response on one or two regressors, often on lines that cross; of few samples, whose fits are exact."""
    n, p = min(n, 40), 1 + (rng.random() < 0.25)
    X = reals(rng, n, p)
    unit = np.sqrt(spread(X))
    Z = (X - X.mean(axis=0)) / unit
    y = (Z * rng.normal(size=(n, p)).round(rng.integers(3))).sum(axis=1) if rng.random() < 0.2 else column(rng, n)
    if rng.random() < 0.6:
        y = (Z * rng.normal(size=(K, p))[rng.integers(K, size=n)]).sum(axis=1) + rng.choice([0.0, 0.1]) * y
    if rng.random() < 0.3:
        y = y * 10.0 ** rng.uniform(-6, 6) + rng.choice([0.0, 0.0, 2.0**20])
    variance = float(spread(y[:, None])[0] * 10.0 ** rng.uniform(-4, 0.5))
    given = {"noise_variance": variance} if known else {"variance_floor": variance}
    if not known and rng.random() < 0.3:
        given = {}
    intercept, w = bool(rng.random() < 0.8), weights(rng, n)
    given |= shared_coefficient(rng, p, intercept or p == 1) if shared else {}
    if shared and rng.random() < 0.3 and not known:
        given["variance"] = "shared"
    intercept |= shared and p == 1
    if tied:
        given["variance"] = "shared"
    if groups:
        w, K = grouped(rng, n, K, w, given)
    return gopfast.RegressionMixture(X, y, min(n, K), fit_intercept=intercept, sample_weight=w, **given)


def shared_coefficient(rng, p, intercept):
    """Which coefficient all components share, or which two, if each is to have one of its own."""
    names, n = [*range(p), *["intercept"] * intercept], 1 + (p == 2 and rng.random() < 0.5)
    return {"shared_coefficients": [names[i] for i in rng.permutation(len(names))[:n]]}


def grouped(rng, n, K, w, given):
    """Give rows groups, of about one row, of a few, or of many; weights of the rows, and no more components."""
    drawn = rng.integers(0, max(1, int(n * rng.choice([0.2, 0.5, 1.0]))), n)
    labels, of = np.unique(drawn, return_inverse=True)
    given["groups"] = of
    return w[of] if w is not None and w[of].any() else None, min(K, len(labels))


def noisy(rng, n, d, K, small):
    """Gaussian components and noise, often of the data's box, sometimes of any density."""
    kind = rng.choice(["known", "diag", "spherical"])
    plain = gaussian_known(rng, n, d, K, small) if kind == "known" else gaussian_free(rng, n, d, K, small, kind)
    least = {"noise_variance": plain.noise_variance} if kind == "known" else {"variance_floor": plain.variance_floor}
    density = rng.random() < 0.6 or float(10.0 ** rng.uniform(-4, 2) / np.sqrt(np.prod(spread(plain.X))))
    return gopfast.GaussianMixture(
        plain.X, K, covariance=kind, noise=density, sample_weight=plain.sample_weight, **least
    )


def mixed(rng, n, d, K, small):
    """Columns of the generators above, most with missing entries."""
    makers = {
        "normal": gaussian_free, "poisson": poisson, "exponential": exponential, "binary": bernoulli,
        "categorical": categorical,
    }
    kinds = tuple(rng.choice(list(makers), int(rng.integers(1, 4))).tolist())
    columns = []
    for kind in kinds:
        more = {"covariance": "diag"} if kind == "normal" else {}
        column = makers[kind](rng, n, 1, 1, small, **more).X[:, 0].astype(float)
        if rng.random() < 0.7:
            column = np.where(rng.random(n) < rng.choice([0.05, 0.3, 0.8]), np.nan, column)
        columns.append(column)
    X, m = np.stack(columns, axis=1), kinds.count("normal")
    unit = np.array([np.nanvar(column) for column, kind in zip(columns, kinds, strict=True) if kind == "normal"])
    floor = np.where(unit > 0, unit, 1.0) * 10.0 ** rng.uniform(-4, 1, m) if rng.random() < 0.8 and m else None
    return gopfast.MixedMixture(kinds, X, K, variance_floor=floor, sample_weight=weights(rng, n))


def count_regression(rng, n, d, K, small, family="poisson", shared=False, groups=False):
    """Counts on one or two regressors, some tied, often on curves that cross, many of them 0 or all trials."""
    n, p = min(n, 30), 1 + (rng.random() < 0.25)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-2, 1, p)
    if rng.random() < 0.5:
        X = X[rng.integers(n // 2 + 1, size=n)] + rng.choice([0.0, 1e-3]) * rng.normal(size=(n, p))
    Z = (X - X.mean(axis=0)) / np.sqrt(spread(X))
    eta = rng.uniform(-3, 4) + (Z * rng.normal(size=(K, p))[rng.integers(K, size=n)]).sum(axis=1)
    given = {"offset": rng.normal(size=n)} if rng.random() < 0.3 else {}
    if family == "poisson":
        y = rng.poisson(np.exp(np.clip(eta + given.get("offset", 0.0), -20.0, 9.0)))
    else:
        given["n_trials"] = rng.integers(1, rng.choice([2, 5, 60]) + 1, n)
        y = rng.binomial(given["n_trials"], 1.0 / (1.0 + np.exp(-eta)))
    intercept, w = bool(rng.random() < 0.8), weights(rng, n)
    given["least_count"] = float(rng.choice([1e-9, 1e-6, 0.1]))
    if shared:
        intercept |= p == 1 or family == "poisson"
        given |= shared_coefficient(rng, p, intercept and family == "binomial")
    if groups:
        w, K = grouped(rng, n, K, w, given)
    return gopfast.RegressionMixture(
        X, y, min(n, K), family=family, fit_intercept=intercept, sample_weight=w, **given
    )


def classes(rng, n, d, K, small):
    """Clusterwise least squares of few samples, on lines that cross as those of `regression`."""
    plain = regression(rng, min(n, 20), d, K, small, known=True)
    return gopfast.ClusterwiseRegression(
        plain.regressors, plain.response, plain.n_components, plain.fit_intercept, plain.sample_weight
    )


def clusters(rng, n, d, K, small):
    """K-means of few samples: columns as those of mixtures, ties and weights of 0 among them."""
    n = min(n, 12 if small else 30)
    return gopfast.KMeans(reals(rng, n, d), min(n, K), weights(rng, n))


def _with_columns(make, least, most):
    """Of `least` to `most` columns."""
    return lambda rng, n, d, K, small: make(rng, n, int(rng.integers(least, most + 1)), K, small)


def _with_components(make, least):
    """Of `least` components or more, as far as samples go."""
    return lambda rng, n, d, K, small: make(rng, n, d, min(n, max(K, least)), small)


def _of(make, **options):
    return lambda rng, n, d, K, small: make(rng, n, d, K, small, **options)


FAMILIES = {
    "known": _of(gaussian_known),
    "known_fixed": _of(gaussian_known, prior="fixed"),
    "known_empirical": _of(gaussian_known, prior="empirical"),
    "posterior_fixed": _of(gaussian_known, prior="fixed", posterior="gaussian"),
    "posterior_empirical": _of(gaussian_known, prior="empirical", posterior="gaussian"),
    "spherical": _of(gaussian_free, covariance="spherical"),
    "diag": _of(gaussian_free, covariance="diag"),
    "tied_spherical": _of(gaussian_free, covariance="tied_spherical"),
    "tied": _of(gaussian_free, covariance="tied"),
    "full_1": _with_columns(_of(gaussian_free, covariance="full"), 1, 1),
    "full_2": _with_columns(_of(gaussian_free, covariance="full"), 2, 2),
    "full_3": _with_columns(_of(gaussian_free, covariance="full"), 3, 4),
    "bernoulli": _of(bernoulli),
    "bernoulli_prior": _of(bernoulli, prior=True),
    "poisson": _of(poisson),
    "poisson_prior": _of(poisson, prior=True),
    "exponential": _of(exponential),
    "exponential_prior": _of(exponential, prior=True),
    "categorical": _of(categorical),
    "categorical_prior": _of(categorical, prior=True),
}  # fmt: skip
# The paper's relaxation has families of its own here: same problems, other bounds.
LINEAR = {"linear": ("known", "known_fixed", "known_empirical"), "paper": ("known", "known_fixed", "known_empirical")}
# Missing entries; behind all others, because a case's random numbers depend on its family's place.
MISSING = {"categorical_missing": _of(latent_class), "categorical_missing_prior": _of(latent_class, prior=True)}
# Bounds by blocks of columns, and by simplices of one matrix, are of these alone.
MANY = {
    "spherical_many": _with_columns(_of(gaussian_free, covariance="spherical"), 8, 13),
    "diag_many": _with_columns(_of(gaussian_free, covariance="diag"), 5, 9),
    "tied_three": _with_components(_with_columns(_of(gaussian_free, covariance="tied"), 2, 2), 3),
}
# Behind the others, as above.
LATER = {
    "tied_diag": _of(gaussian_free, covariance="tied_diag"), "mixed": mixed, "noise": noisy, "gamma": _of(gamma),
}  # fmt: skip
REGRESSIONS = {
    "regression": _of(regression), "regression_known": _of(regression, known=True),
    "count_regression": _of(count_regression), "proportion_regression": _of(count_regression, family="binomial"),
}  # fmt: skip
COUNTED = {"multinomial": _of(multinomial), "multinomial_prior": _of(multinomial, prior=True)}
# Bounds by cells of a matrix's factor, of few samples.
FACTORED = {"tied_cube": _with_components(_with_columns(_of(gaussian_free, covariance="tied"), 3, 3), 3)}
# Searches by fixing a coefficient, which have no boxes.
SHARING = {
    "regression_sharing": _of(regression, shared=True),
    "regression_known_sharing": _of(regression, known=True, shared=True),
    "count_regression_sharing": _of(count_regression, shared=True),
    "proportion_regression_sharing": _of(count_regression, family="binomial", shared=True),
}
# Whose rows belong together.
GROUPED = {
    "regression_groups": _of(regression, groups=True),
    "regression_known_groups": _of(regression, known=True, groups=True),
    "count_regression_groups": _of(count_regression, groups=True),
    "proportion_regression_groups": _of(count_regression, family="binomial", groups=True),
    "regression_sharing_groups": _of(regression, shared=True, groups=True),
    "count_regression_sharing_groups": _of(count_regression, shared=True, groups=True),
}
# One variance of all components.
TIED = {
    "regression_tied": _of(regression, tied=True),
    "regression_tied_groups": _of(regression, tied=True, groups=True),
}
# No mixtures: attacks of their own, `classes` and `clusters`.
CLASSES = {"clusterwise": classes, "kmeans": clusters}
DRAWN = {
    **FAMILIES, **MISSING, **MANY, **REGRESSIONS, **LATER, **COUNTED, **FACTORED, **SHARING, **GROUPED, **TIED,
    **CLASSES,
}  # fmt: skip
NAMES = (
    *FAMILIES, *LINEAR, *MISSING, *MANY, *REGRESSIONS, *LATER, *COUNTED, *FACTORED, *SHARING, *GROUPED, *TIED, *CLASSES,
)  # fmt: skip


def problem(family, rng, small=True):
    """A random problem of a family of `NAMES`; InputError where the package refuses it."""
    if family in LINEAR:
        family = str(rng.choice(LINEAR[family]))
        n, d, K = int(rng.integers(2, 9)), int(rng.integers(1, 3)), int(rng.integers(1, 4))
        K = min(n, K)
    else:
        n, d, K = size(rng, small)
    return DRAWN[family](rng, n, d, K, small)


STREAMS = {"boxes": 11, "searches": 12, "negative": 13, "proofs": 14}


def stream(kind, family, seed):
    """The random numbers of a case."""
    return np.random.default_rng([STREAMS[kind], NAMES.index(family), seed])


def drawn(kind, family, seed, rng=None):
    """The problem of a case."""
    rng = stream(kind, family, seed) if rng is None else rng
    return problem(family, rng, kind == "boxes" or rng.random() < 0.6)
