"""Random small problems of every family that proofs have, and changes of proofs."""

import json

import numpy as np

import gopfast
from gopfast.checker import ProofError, check, file, matrices, regressions
from gopfast.checker.problem import COUNTS, Problem
from gopfast.checker.verify import Bounds

FAMILIES = (
    "known", "known fixed prior", "known empirical prior", "diag", "spherical", "full", "bernoulli", "bernoulli prior",
    "poisson", "poisson prior", "exponential", "exponential prior", "endless", "labels", "labels prior",
    "missing", "missing prior", "tied_spherical", "tied", "matrices", "three columns", "posterior",
    "posterior empirical", "tied_diag", "regression", "regression known", "regression parabola", "multinomial",
    "multinomial prior", "known noise", "diag noise", "spherical noise",
    "mixed", "mixed missing", "regression shared", "gamma", "counts poisson", "counts binomial", "counts groups",
    "regression groups", "regression known groups", "regression shared groups",
)  # fmt: skip
# Columns of Gaussian mixtures; None: one or two.
COLUMNS = {
    "known": None, "diag": None, "spherical": None, "full": 1, "tied_spherical": None, "tied": None, "matrices": 2,
    "tied_diag": None, "three": 3, "posterior": None,
}  # fmt: skip


def random_problem(rng, family):
    """A problem of a few samples; ties, weights of 0, offsets and constant columns among them."""
    n, d, K = rng.integers(2, 9), rng.integers(1, 3), rng.integers(1, 4)
    K, weights = min(K, n), None
    if rng.random() < 0.4:
        weights = rng.choice([0.0, 0.5, 1.0, 3.7], n)
        weights[0] = 1.0
    options = {"sample_weight": weights}
    kind, _, prior = family.partition(" ")
    if prior == "noise":
        options["noise"] = rng.choice([0.01, 0.1, 1.0])
    if kind in COLUMNS:
        X = np.round(rng.normal(size=(n, COLUMNS[kind] or d)) * rng.choice([0.5, 3.0]), rng.integers(0, 3))
        X += rng.choice([0.0, 50.0])
        if kind == "posterior":
            options |= {"posterior": "gaussian", "prior": prior or rng.choice([0.5, 40.0])}
            options["noise_variance"] = rng.choice([0.3, 1.0, 2.5], X.shape[1])
        elif kind == "known":
            options["noise_variance"] = rng.choice([0.3, 1.0, 2.5])
            given = {"fixed prior": rng.choice([0.5, 40.0]), "empirical prior": "empirical"}
            options["prior"] = given.get(prior)
        else:
            kind = {"matrices": "full", "three": "full"}.get(kind, kind)
            options |= {"covariance": kind, "variance_floor": rng.choice([0.1, 0.5])}
        return gopfast.GaussianMixture(X, K, **options)
    pair = {"prior": (rng.choice([1.0, 2.0, 1.5]), rng.choice([1.0, 3.0])) if prior else None}
    if kind == "mixed":
        return random_columns(rng, n, K, prior == "missing", options)
    if kind == "regression":
        return random_regressions(rng, prior, K)
    if kind == "counts":
        return random_counts(rng, prior, K)
    if kind == "bernoulli":
        return gopfast.BernoulliMixture(rng.integers(0, 2, (n, d)), K, **pair, **options)
    if kind == "poisson":
        return gopfast.PoissonMixture(rng.poisson(rng.choice([1.0, 7.0]), (n, d)), K, **pair, **options)
    if kind in ("exponential", "endless"):
        pair["prior"] = (1.0, 0.7) if kind == "endless" else pair["prior"]
        return gopfast.ExponentialMixture(rng.exponential(2.0, (n, 1)) + 0.01, K, **pair, **options)
    if kind == "gamma":
        X = np.round(rng.gamma(rng.choice([0.5, 2.0, 9.0]), rng.choice([0.3, 40.0]), (n, d)), rng.integers(1, 4)) + 0.01
        return gopfast.GammaMixture(X, K, cv_floor=rng.choice([0.05, 0.3]), **options)
    if kind == "multinomial":
        X = rng.multinomial(rng.choice([0, 1, 4, 9], n), rng.dirichlet(np.ones(d + 1)))
        X[0, 0] += 2
        return gopfast.MultinomialMixture(X, K, prior=rng.choice([1.0, 1.7]) if prior else None, **options)
    X = np.array([["red", "green", "blue"][i] for i in rng.integers(0, 3, n)], dtype=object)
    X[:2] = ["red", "green"]
    X = np.stack([X, rng.integers(0, 2, n)], axis=1) if d == 2 else X[:, np.newaxis]
    if kind == "missing":
        X[rng.random(X.shape) < 0.3] = None
        X[0], X[1] = ["red", 0][: X.shape[1]], ["green", 1][: X.shape[1]]
        return gopfast.LatentClass(X, K, prior=rng.choice([1.0, 1.7]) if prior else None, **options)
    return gopfast.CategoricalMixture(X, K, prior=rng.choice([1.0, 1.7]) if prior else None, **options)


ABOUT_THE_FLOOR = ("known", "diag", "spherical", "line", "matrices")


def about_the_floor(rng, kind):
    """Rounded samples, many of them equal, of columns whose variances are below the floor, at it or a little above."""
    n, d, K = int(rng.integers(12, 60)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
    d = {"line": 1, "matrices": 2}.get(kind, d)
    X = np.round(rng.normal(size=(n, d)) * rng.choice([1.0, 2.0]), int(rng.choice([0, 0, 1])))
    if d > 1 and rng.random() < 0.5:
        X[:, -1] = rng.integers(0, 2, n)
    weights = rng.choice([0.0, 0.5, 1.0, 3.7], n) if rng.random() < 0.3 else None
    least = np.average(np.square(X - np.average(X, 0, weights)), 0, weights) * rng.choice([0.9, 1.0, 1.001, 1.25, 2.0])
    least += 1e-3 * (least == 0)
    if kind == "known":
        return gopfast.GaussianMixture(X, K, noise_variance=least, sample_weight=weights)
    covariance = {"line": "full", "matrices": "full"}.get(kind, kind)
    floor = float(least.max()) if covariance == "spherical" else least
    return gopfast.GaussianMixture(X, K, covariance=covariance, variance_floor=floor, sample_weight=weights)


def random_columns(rng, n, K, missing, options):
    """One to three columns of different families, of which most lack entries if any may."""
    n = max(n, 3)
    makers = {
        "normal": lambda: np.round(rng.normal(size=n) * 3.0, 1) + rng.choice([0.0, 50.0]),
        "poisson": lambda: rng.poisson(rng.choice([1.0, 7.0]), n),
        "exponential": lambda: rng.exponential(2.0, n) + 0.01,
        "binary": lambda: np.array(["no", "yes"])[rng.permutation(n) % 2],
        "categorical": lambda: np.array(["a", "b", "c"])[rng.permutation(n) % 3],
    }  # fmt: skip
    kinds = rng.choice(list(makers), rng.integers(1 if missing else 2, 4)).tolist()
    kinds[0] = rng.choice(["normal", "poisson", "exponential"])
    table = np.empty((n, len(kinds)), dtype=object)
    for j, kind in enumerate(kinds):
        table[:, j] = makers[kind]()
        if missing and (j == 0 or rng.random() < 0.6):
            table[1 + rng.permutation(n - 1)[: rng.integers(1, n - 1)], j] = None
    floor = rng.choice([0.1, 0.5]) if "normal" in kinds else None
    weights = options["sample_weight"]
    if weights is not None:
        weights = np.concatenate([weights, np.ones(n)])[:n]
    return gopfast.MixedMixture(kinds, table, min(K, n), variance_floor=floor, sample_weight=weights)


def random_regressions(rng, name, K):
    """Regressions on a column or two of a few samples, some of whose regressors are tied."""
    n, p = rng.integers(4, 9), 2 if name == "parabola" else rng.integers(1, 3)
    X = np.round(rng.normal(size=(n, p)) * rng.choice([0.5, 3.0]), rng.integers(1, 3))
    X[:4, 0] = rng.permutation(4)  # coefficients are determined
    if name == "parabola":
        X[:, 1] = X[:, 0] ** 2
    elif p == 2:
        X[:4, 1] = rng.permutation([0.0, 1.0, 1.0, 3.0])
    y = np.round(X @ rng.normal(size=p) * rng.choice([-1.0, 1.0], n) + rng.normal(size=n), 2) + rng.choice([0.0, 50.0])
    name, grouped = (name or "").removesuffix("groups").strip(), (name or "").endswith("groups")
    level = {"noise_variance" if name == "known" else "variance_floor": rng.choice([0.1, 0.5])}
    if name == "shared":
        K, level["variance"] = max(K, 2), "shared"
    weights = rng.choice([0.5, 1.0, 3.7], n) if rng.random() < 0.4 else None
    if grouped:
        level["groups"] = rng.permutation(np.arange(n) % 4)
        weights, K = None if weights is None else weights[level["groups"]], min(K, 4)
    intercept = bool(p > 1 or rng.random() < 0.8)
    try:
        return gopfast.RegressionMixture(X, y, K, sample_weight=weights, fit_intercept=intercept, **level)
    except gopfast.InputError:  # of dependent columns
        return gopfast.RegressionMixture(X[:, 0], y, K, sample_weight=weights, **level)


def random_counts(rng, name, K):
    """Regressions of counts of a few rows, with offsets or trials, some of which belong together."""
    n = int(rng.integers(4, 9))
    X = np.round(rng.normal(size=n) * rng.choice([0.5, 3.0]), rng.integers(1, 3))
    X[:3] = rng.permutation(3)
    eta = rng.choice([-1.0, 1.0, 3.0]) + np.clip(X * rng.normal(), -2.0, 2.0) * rng.choice([-1.0, 1.0], n)
    weights, given = rng.choice([0.5, 1.0, 3.7], n) if rng.random() < 0.4 else np.ones(n), {}
    if name == "groups":
        given["groups"] = rng.permutation(np.arange(n) % 4)
        weights, K = weights[given["groups"]], min(K, 3)
    if rng.random() < 0.4:
        given["offset"] = np.round(rng.normal(size=n), 1)
    if name == "binomial":
        given["n_trials"] = rng.integers(1, 12, n)
        y = rng.binomial(given["n_trials"], 1.0 / (1.0 + np.exp(-eta)))
    else:
        y = rng.poisson(np.exp(eta))
    family, intercept = "binomial" if name == "binomial" else "poisson", bool(rng.random() < 0.8)
    return gopfast.RegressionMixture(X, y, K, family=family, sample_weight=weights, fit_intercept=intercept, **given)


def bounds_of(problem, rng):
    """The checker's bounds of a problem, about a reference and, of matrices, along random axes; and the reference."""
    stated = Problem(problem._record_of_proof(), *arguments(problem))
    reference = np.median(stated.columns, axis=0)
    reference[stated.centered_at_zero()] = 0.0
    d = len(reference)
    if stated.family in (*regressions.FAMILIES, *COUNTS):
        return Bounds(stated, reference, random_places(stated, rng)), reference
    axes = np.eye(d) + rng.normal(size=(d, d)) * rng.choice([0.0, 0.5]) if stated.family in matrices.FAMILIES else None
    return Bounds(stated, reference, axes), reference


def random_places(stated, rng):
    """Places (q, p + 1) of regressions that are independent: any will do."""
    shape = stated.axes_shape()
    axes = np.zeros(shape)
    axes[:, : shape[1] - 1] = np.eye(*shape)[:, : shape[1] - 1] + 0.2 * rng.normal(size=(shape[0], shape[1] - 1))
    typical = np.log1p(stated.columns[:, -1].mean()) if stated.family in COUNTS else stated.columns[:, -1].mean()
    axes[:, -1] = rng.normal(size=len(axes)) + typical
    return axes


def arguments(problem):
    """Data and weights of a problem, as the checker takes them."""
    return problem._data_of_proof(), getattr(problem, "_weights_of_proof", lambda: problem.sample_weight)()


def parts(path):
    """Header and arrays of a proof."""
    return file.read(path)


def packed(header, arrays):
    """The bytes of a proof of a mixture with a header as it was read, and arrays."""
    header = {name: value for name, value in header.items() if name not in ("format", "version", "kind")}
    return gopfast.checker.file.pack("mixture", header, arrays)


def refused_changes(case, result):
    """Return how many of 60 changed proofs that claim more are refused; the others prove no more than is attained."""
    rng, refused = np.random.default_rng(0), 0
    for _ in range(60):
        header, arrays = parts(result.proof.data)
        name = rng.choice(["slopes", "log_weights", "points", "cell_slopes", "cell_scales", "prices", "cell_points"])
        entries = arrays[name].reshape(-1)
        if not entries.size:
            continue
        some = rng.integers(entries.size, size=1 + entries.size // 4)
        entries[some] += rng.choice([-1.0, 1.0]) * rng.choice([0.1, 1.0, 30.0])
        header["claim"]["lower_bound"] = header["claim"]["objective"] - 0.9 * result.gap
        try:
            found = gopfast.check(packed(header, arrays), *arguments(case), case)
        except gopfast.ProofError:
            refused += 1
            continue
        assert found.lower_bound <= found.objective
    return refused


def put(path, header, arrays):
    """Write what need not be a proof."""
    with open(path, "wb") as target:
        np.savez(target, header=np.array(json.dumps(header)), **arrays)


# Changes that make a claim false, or a proof one of something else: of header and arrays in place, data returned.


def raise_bound(rng, header, arrays, X, weights):
    """Claim more than any mixture allows."""
    header["claim"]["lower_bound"] = header["claim"]["objective"] + rng.choice([1e-3, 1.0, 100.0])
    return X, weights


def raise_bound_a_little(rng, header, arrays, X, weights):
    """Claim all of the gap, which the leaves do not prove."""
    header["claim"]["lower_bound"] = header["claim"]["objective"]
    return X, weights


def lower_objective(rng, header, arrays, X, weights):
    """Claim an objective that the solution does not attain."""
    header["claim"]["objective"] -= rng.choice([1e-3, 1.0])
    return X, weights


def other_data(rng, header, arrays, X, weights):
    """Exchange two samples that differ, or repeat the first."""
    X = X.copy()
    X[rng.integers(len(X))] = X[rng.integers(len(X))]
    return X, weights


def other_weights(rng, header, arrays, X, weights):
    """Weigh one sample more."""
    weights = weights.copy()
    weights[rng.integers(len(weights))] += 1.0
    return X, weights


def missing_leaf(rng, header, arrays, X, weights):
    """Leave out the entry of one leaf."""
    for name in ("leaves", "slopes", "log_weights"):
        arrays[name] = arrays[name][1:]
    return X, weights


def missing_slopes(rng, header, arrays, X, weights):
    """Leave out the slopes of one leaf."""
    arrays["slopes"] = arrays["slopes"][1:]
    return X, weights


def missing_subtree(rng, header, arrays, X, weights):
    """Leave out one node of the tree."""
    arrays["splits"], arrays["points"] = arrays["splits"][:-1], arrays["points"][:-1]
    return X, weights


def other_sign(rng, header, arrays, X, weights):
    """Turn all slopes round."""
    arrays["slopes"] *= -1.0
    return X, weights


def other_slopes(rng, header, arrays, X, weights):
    """Make the slopes of one leaf useless."""
    arrays["slopes"][rng.integers(len(arrays["slopes"]))] = 1e3
    return X, weights


def other_log_weights(rng, header, arrays, X, weights):
    """Give all weight of one leaf to a component."""
    logs = arrays["log_weights"]
    logs[rng.integers(len(logs))] = [-500.0, *[0.0] * (logs.shape[1] - 1)]
    return X, weights


def moved_splits(rng, header, arrays, X, weights):
    """Move all split points by the same amount, whose leaves' slopes do not fit any more."""
    arrays["points"] += rng.choice([-1.0, 1.0]) * rng.choice([0.5, 10.0])
    return X, weights


def other_variable(rng, header, arrays, X, weights):
    """Split the first node elsewhere."""
    arrays["splits"][:1, 1] = 10**6
    return X, weights


def leaf_for_a_node(rng, header, arrays, X, weights):
    """Say that a leaf's entry is of its parent, which is not split."""
    if len(arrays["splits"]):
        arrays["leaves"][0] = arrays["splits"][-1, 0]
        arrays["splits"], arrays["points"] = arrays["splits"][:-1], arrays["points"][:-1]
    return X, weights


def other_prices(rng, header, arrays, X, weights):
    """Pay more for one sample."""
    arrays["prices"][rng.integers(max(1, len(arrays["prices"]))) :][:1] += rng.choice([0.3, 5.0])
    return X, weights


def higher_prices(rng, header, arrays, X, weights):
    """Pay more for all samples."""
    arrays["prices"] += rng.choice([0.3, 5.0, 1e6])
    return X, weights


def other_scales(rng, header, arrays, X, weights):
    """Take columns of another size for tangents."""
    arrays["cell_scales"] += rng.choice([-3.0, 3.0])
    return X, weights


def other_cell_slopes(rng, header, arrays, X, weights):
    """Make the slopes of one cell useless."""
    if len(arrays["cell_slopes"]):
        arrays["cell_slopes"][rng.integers(len(arrays["cell_slopes"]))] = 1e3
    return X, weights


def missing_cell(rng, header, arrays, X, weights):
    """Leave out what one cell saves."""
    for name in ("cell_leaves", "cell_slopes", "cell_scales"):
        arrays[name] = arrays[name][1:]
    return X, weights


def missing_cells(rng, header, arrays, X, weights):
    """Leave out one division of cells, whose parts have entries."""
    arrays["cells"], arrays["cell_points"] = arrays["cells"][:-1], arrays["cell_points"][:-1]
    return X, weights


def moved_cells(rng, header, arrays, X, weights):
    """Move all divisions of cells."""
    arrays["cell_points"] += rng.choice([-1.0, 1.0]) * rng.choice([0.5, 10.0])
    return X, weights


def no_prices(rng, header, arrays, X, weights):
    """Leave the prices out, that close leaves without an entry."""
    arrays["prices"] = np.zeros(0)
    return X, weights


def other_axes(rng, header, arrays, X, weights):
    """Take the samples in other coordinates than the slopes, or about another reference."""
    if header["axes"] is None or rng.random() < 0.3:
        header["reference"] = [x + rng.choice([-1.0, 1.0]) for x in header["reference"]]
    else:
        header["axes"] = (np.array(header["axes"]) + 0.5 * rng.normal(size=np.shape(header["axes"]))).tolist()
    return X, weights


def unshared_slopes(rng, header, arrays, X, weights):
    """Give every component slopes of its own, also of what all share."""
    arrays["slopes"][:, 0] *= 0.5
    return X, weights


def other_k(rng, header, arrays, X, weights):
    """Say that there is one component more."""
    header["problem"]["n_components"] += 1
    return X, weights


def other_parameter(rng, header, arrays, X, weights):
    """Another floor, noise variance or prior, in which a smaller objective can be had."""
    for name, value in list(header["problem"].items()):
        if name == "noise":
            header["problem"][name] = value * 100.0
        elif name == "kinds":
            header["problem"][name] = ["exponential" if kind == "poisson" else kind for kind in value]
        elif name == "least_count":
            header["problem"][name] = 0.4
        elif name == "largest_shape":
            header["problem"][name] = value * 100.0
        elif name in ("variance_floor", "noise_variance"):
            header["problem"][name] = [x * (0.01 if name == "variance_floor" else 100.0) for x in value]
        elif name == "prior" and value is not None and header["problem"]["family"] != "known":
            header["problem"][name] = [x + 3.0 for x in value] if isinstance(value, list) else value + 3.0
    return X, weights


def other_noise(rng, header, arrays, X, weights):
    """Of a component of constant density say that it is not there, or that it is."""
    if header["problem"].pop("noise", None) is None:
        header["problem"]["noise"] = 0.5
        return X, weights
    if rng.random() < 0.5:  # the last of the weights is of no component then
        arrays["log_weights"] = arrays["log_weights"][:, :-1]
        header["claim"]["solution"]["weights"].pop()
    return X, weights


CHANGES = {
    change.__name__: change
    for change in (
        raise_bound, raise_bound_a_little, lower_objective, other_data, other_weights, missing_leaf, missing_subtree,
        other_sign, other_slopes, other_log_weights, moved_splits, other_variable, other_k, other_parameter,
        missing_slopes, leaf_for_a_node, other_prices, higher_prices, other_scales, other_cell_slopes, missing_cell,
        missing_cells, moved_cells, no_prices, other_axes, unshared_slopes, other_noise,
    )
}  # fmt: skip
WITHOUT_PRICES = (
    "known empirical prior", "k-means", "biconvex", "tied_spherical", "tied",
    "three columns", "posterior", "posterior empirical", "tied_diag",
    "known noise", "diag noise", "spherical noise", "regression shared", "regression shared groups",
)  # fmt: skip
OF_PRICES = ("other_prices", "higher_prices", "other_scales", "other_cell_slopes", "missing_cell", "missing_cells",
             "moved_cells", "no_prices")  # fmt: skip


def options(family, change=None):
    """Options of a solve whose proof has what is changed: prices, where a family has any."""
    prices = change in OF_PRICES and family not in WITHOUT_PRICES
    return {"relaxation": "pricing"} if prices else {}


def verdict(path, problem, X, weights, objective):
    """Check what was changed: "refused", "true" if it is accepted and says nothing false, or what is wrong."""
    try:
        found = check(path, X, weights)
    except ProofError:
        return "refused"
    own_X, own_weights = arguments(problem)
    if not (np.array_equal(X, own_X) and np.array_equal(weights, own_weights)):
        # a missing entry of a column that has but one label tells nothing
        columns = [getattr(Problem(found.problem, data, weights), "columns", None) for data in (X, own_X)]
        if not (np.array_equal(*columns) and np.array_equal(weights, own_weights)):
            return "false: other data"
    if found.lower_bound > found.objective + 1e-9:
        return "false: bound above the objective"
    if found.problem == problem._record_of_proof():
        return "true" if found.lower_bound <= objective + 1e-9 else "false: bound above an objective attained"
    # of another problem than the user's, which whoever names it is told
    try:
        check(path, X, weights, problem)
    except ProofError:
        return "true"
    return "false: other problem"
