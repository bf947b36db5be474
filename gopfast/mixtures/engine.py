"""Builds what the compiled core runs on from a problem object."""

import weakref

import numpy as np

from gopfast import checks
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.data import summary
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families import columns
from gopfast.mixtures.families.full import FullFamily, LineFamily, component_axes
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.families.matrices import MatrixFamily
from gopfast.mixtures.families.matrix import MOST_COLUMNS
from gopfast.mixtures.families.normal import NormalFamily
from gopfast.mixtures.families.tied import TiedFamily, canonical_axes
from gopfast.mixtures.problems import (
    BernoulliMixture,
    CategoricalMixture,
    ExponentialMixture,
    GaussianMixture,
    PoissonMixture,
)
from gopfast.mixtures.problems.gaussian import MATRICES

# The columns as the kernel wants them, once per problem; an entry goes with its problem.
_families = weakref.WeakKeyDictionary()


def family(problem):
    """Return the core's copy of a mixture problem (a Family with its samples), made on first use."""
    for model, make in _MAKERS.items():
        if isinstance(problem, model):
            if problem not in _families:
                _families[problem] = make(problem)
            return _families[problem]
    names = ", ".join(model.__name__ for model in _MAKERS)
    raise InputTypeError(f"problem must be one of {names}; got {type(problem).__name__}")


def _gaussian(problem):
    X, weight, K = problem.X, problem.sample_weight, problem.n_components
    if problem.covariance in MATRICES and problem.n_features > MOST_COLUMNS:
        raise InputError(
            f"covariance={problem.covariance!r} is solved for at most {MOST_COLUMNS} columns of X; "
            f"got {problem.n_features}: use 'diag'"
        )
    if problem.covariance == "full":
        return _full(problem)
    if problem.covariance == "tied" and problem.n_features > 1:
        return _tied(problem)
    if problem.covariance != "known":
        floor = np.broadcast_to(problem.variance_floor, problem.n_features)
        kind = "tied_spherical" if problem.covariance == "tied" else problem.covariance
        return NormalFamily(_summarised(Samples(X, weight, np.sqrt(floor), squares=True)), K, kind)
    low, high = problem.prior_variance_bounds if problem.prior == "empirical" else (problem.prior,) * 2
    precision = None if problem.prior is None else (1.0 / high, 1.0 / low)
    data = _summarised(Samples(X, weight, np.sqrt(problem.noise_variance)))
    return GaussianFamily(data, K, precision, problem.posterior == "gaussian")


def _tied(problem):
    X, weight, K, floor = problem.X, problem.sample_weight, problem.n_components, problem.variance_floor
    found = TiedFamily(X, weight, K, floor, canonical_axes(X, weight, K, floor))
    _summarised(found.data)
    return found


def _full(problem):
    X, weight, K, floor = problem.X, problem.sample_weight, problem.n_components, problem.variance_floor
    if problem.n_features == 1:
        return LineFamily(_summarised(Samples(X, weight, np.sqrt(floor), squares=True)), K, "diag")
    kind = FullFamily if problem.n_features == 2 else MatrixFamily
    return kind(X, weight, K, floor, component_axes(kind, X, weight, K, floor))


def _summarised(data):
    """Attach the summaries of many samples."""
    for level in summary.levels(*data.arrays()):
        data.add_level(*level)
    return data


# What makes the core's copy of each kind of problem.
_MAKERS = {
    GaussianMixture: _gaussian,
    BernoulliMixture: columns.bernoulli,
    PoissonMixture: columns.poisson,
    ExponentialMixture: columns.exponential,
    CategoricalMixture: columns.categorical,
}


def start_parameters(problem, start):
    """Validate a start (first parameters, or anything with a solution); return the core's parameters, or None."""
    if start is None:
        return None
    start = getattr(start, "solution", start)
    names = problem.parameter_names
    if hasattr(start, "parameters"):
        given = {name: getattr(start, name, None) for name in names}
        given = {name: value for name, value in given.items() if value is not None}
        if names[0] not in given:
            raise InputError(f"start must be a solution with {names[0]}; this one has none")
    else:
        given = {names[0]: start}
    if not isinstance(problem, GaussianMixture):
        try:
            return family(problem).pack(**problem.check_parameters(given[names[0]]))
        except InputError as error:
            raise type(error)(f"start must hold {names[0]}; {error}") from None
    first = checks.real_array("start", given[names[0]])
    if problem.n_features == 1 and first.ndim == 1:
        first = first[:, None]
    shape = (problem.n_components, problem.n_features)
    if first.shape != shape:
        raise InputError(f"start must hold {names[0]} of shape {shape}; got {first.shape}")
    return family(problem).pack(**{**given, names[0]: first})
