"""Small random problems of every kind, and random states of them."""

import numpy as np

import gopfast

COVARIANCES = ("spherical", "diag", "tied", "tied_diag", "tied_spherical", "full")


def _gaussian(**options):
    def make(rng, n, K, d, **given):
        X = rng.normal(size=(n, d)) * np.linspace(1.0, 3.0, d) + 4.0 * rng.integers(2, size=(n, 1))
        return gopfast.GaussianMixture(X, K, **{"covariance": "known", **options, **given})

    return make


def _bernoulli(prior=None):
    def make(rng, n, K, d, **given):
        return gopfast.BernoulliMixture(rng.random((n, d)) < rng.random((n, 1)), K, prior=prior, **given)

    return make


def _poisson(prior=None):
    def make(rng, n, K, d, **given):
        return gopfast.PoissonMixture(rng.poisson(rng.choice([1.0, 9.0], (n, 1)), (n, d)), K, prior=prior, **given)

    return make


def _exponential(prior=None):
    def make(rng, n, K, d, **given):
        X = rng.exponential(rng.choice([0.3, 5.0], (n, 1)), (n, d))
        return gopfast.ExponentialMixture(X, K, prior=prior, **given)

    return make


def _categorical(prior=None):
    def make(rng, n, K, d, **given):
        X = np.stack([rng.choice(2 + j, n, p=rng.dirichlet(np.ones(2 + j))) for j in range(d)], axis=1)
        names = [list(range(2 + j)) for j in range(d)]
        return gopfast.CategoricalMixture(X, K, categories=names, prior=prior, **given)

    return make


def _missing(prior=None):
    def make(rng, n, K, d, **given):
        whole = _categorical()(rng, n, K, d)
        X = np.where(rng.random((n, d)) < 0.3, -1, whole.X)
        for column, codes in zip(X.T, whole.X.T, strict=True):  # every label stays
            first = np.unique(codes, return_index=True)[1]
            column[first] = codes[first]
        return gopfast.LatentClass(X, K, missing=-1, categories=whole.categories, prior=prior, **given)

    return make


def _multinomial(prior=None):
    """Rows of two or more counts, some of a single one, some of none."""

    def make(rng, n, K, d, **given):
        shares = rng.dirichlet(np.ones(max(2, d)), 2)[rng.integers(2, size=n)]
        X = rng.multinomial(rng.choice([0, 1, 6, 40], n), shares)
        X[0, 0] += 1
        return gopfast.MultinomialMixture(X, K, prior=prior, **given)

    return make


KINDS = {
    "known": _gaussian(noise_variance=0.7),
    "known, fixed prior": _gaussian(noise_variance=0.7, prior=2.5),
    "known, empirical prior": _gaussian(prior="empirical"),
    "known, Gaussian posterior": _gaussian(noise_variance=0.7, prior=2.5, posterior="gaussian"),
    "known, Gaussian posterior, empirical prior": _gaussian(prior="empirical", posterior="gaussian"),
    **{name: _gaussian(covariance=name) for name in COVARIANCES},
    "Bernoulli": _bernoulli(),
    "Bernoulli, prior": _bernoulli((2.0, 1.5)),
    "Bernoulli, flat prior": _bernoulli((1.0, 1.0)),
    "Poisson": _poisson(),
    "Poisson, prior": _poisson((1.5, 0.5)),
    "exponential": _exponential(),
    "exponential, prior": _exponential((1.5, 0.5)),
    "exponential, flat shape": _exponential((1.0, 0.5)),
    "categorical": _categorical(),
    "categorical, prior": _categorical(1.7),
    "categorical, missing": _missing(),
    "categorical, missing, prior": _missing(1.7),
    "multinomial": _multinomial(),
    "multinomial, prior": _multinomial(1.7),
}


def make(kind, seed=0, n=12, K=2, d=2, **given):
    """A random problem of a kind of `KINDS`; equal arguments give equal data."""
    return KINDS[kind](np.random.default_rng(seed), n, K, d, **given)


def rows(value):
    """A parameter as an array with a row for each component: those of a categorical mixture side by side."""
    return np.hstack(value) if isinstance(value, tuple) else np.atleast_1d(value)


def random_state(problem, rng):
    """Weights and parameters that random responsibilities lead to."""
    tau = rng.dirichlet(0.5 * np.ones(problem.n_components), problem.n_samples)
    return problem.maximize(tau)


def objectives_on_the_way(problem, rng, n_starts, n_steps):
    """Yield the objectives that EM passes through from random states."""
    for _ in range(n_starts):
        state = random_state(problem, rng)
        for _ in range(n_steps):
            yield problem.objective(**state)
            state = problem.maximize(problem.responsibilities(**state), **state)



def nudged(problem, state, rng, size):
    """A state of the model near a given one: every parameter moves by about `size`, and stays allowed."""
    move = {
        "weights": lambda x: _nudged_rows(x, rng, size),
        "means": lambda x: x + size * rng.normal(size=x.shape),
        "rates": lambda x: x * np.exp(size * rng.normal(size=x.shape)),
        "posterior_variances": lambda x: x * np.exp(size * rng.normal(size=x.shape)),
        "prior_variance": lambda x: x,
        "probabilities": lambda x: (
            tuple(_nudged_rows(array, rng, size) for array in x)
            if isinstance(x, tuple)
            else _nudged_rows(x, rng, size)
            if isinstance(problem, gopfast.MultinomialMixture)
            else np.clip(x + size * rng.normal(size=x.shape), 0.0, 1.0)
        ),
        "covariances": lambda x: _nudged_covariances(problem, x, rng, size),
    }
    return {name: move[name](value) for name, value in state.items()}


def _nudged_rows(rows, rng, size):
    share = min(1.0, size) * rng.random()
    return (1.0 - share) * rows + share * rng.dirichlet(np.ones(rows.shape[-1]), rows.shape[:-1])


def _nudged_covariances(problem, x, rng, size):
    floor = problem.variance_floor
    if problem.covariance == "tied_spherical":
        return max(floor, x[0, 0] * np.exp(size * rng.normal())) * np.eye(len(x))
    if problem.covariance == "tied_diag":
        return np.diag(np.maximum(floor, np.diagonal(x) * np.exp(size * rng.normal(size=len(x)))))
    if problem.covariance not in ("tied", "full"):
        return np.maximum(floor, x * np.exp(size * rng.normal(size=x.shape)))
    scale = np.sqrt(np.outer(floor, floor))
    noise = size * rng.normal(size=x.shape)
    values, vectors = np.linalg.eigh(x / scale + noise + np.swapaxes(noise, -1, -2))
    return scale * ((vectors * np.maximum(values, 1.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2))
