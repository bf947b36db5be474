"""
The free parameters of a mixture beside its weights, one by one: where each stands, and whether it is on a bound.

A coordinate is one number that may vary on its own: a mean, a variance, an entry of a symmetric matrix, a rate, a
probability. Of probabilities that sum to 1 the largest is the rest, and no coordinate.
"""

from dataclasses import dataclass

import numpy as np

from gopfast.mixtures import floor_components
from gopfast.mixtures.problems.covariance import ON_FLOOR
from gopfast.mixtures.tuning import NEAR_BOUND, STEP


@dataclass(frozen=True, eq=False, kw_only=True)
class Coordinate:
    """
    One free number of every component, or one that all share.

    Attributes
    ----------
    name : str
        The parameter.
    places : tuple of tuple
        Index of the number within the parameter, without that of the component; symmetric entries have two.
    array : int or None
        Which array of a parameter that is a tuple of arrays.
    shared : bool
        Whether it belongs to all components.
    steps : ndarray, shape (K,) or (1,)
        Of differences; 0 where the number is on a bound, or is the rest of others.
    rest : ndarray of int, shape (K,), or None
        Of probabilities of labels the label whose probability takes up the change.
    on_bound : ndarray of bool, shape (K,) or (1,)
    column : int or None
        Of a number that all components share and each has: the column of the data that it belongs to.
    """

    name: str
    places: tuple[tuple[int, ...], ...]
    steps: np.ndarray
    on_bound: np.ndarray
    array: int | None = None
    shared: bool = False
    rest: np.ndarray | None = None
    column: int | None = None

    def moved(self, parameters, times):
        """Return the parameters with this number of every component moved by so many steps."""
        old = parameters[self.name]
        value = old if self.array is None else old[self.array]
        value = np.array(value, dtype=float)
        for place in self.places:
            if self.shared:
                value[place] += times * self.steps[0]
            else:
                value[(slice(None), *place)] += times * self.steps
        if self.rest is not None:
            value[np.arange(len(value)), self.rest] -= times * self.steps
        if self.array is not None:
            value = tuple(value if j == self.array else array for j, array in enumerate(old))
        return {**parameters, self.name: value}


def coordinates(problem, parameters):
    """
    List the coordinates of a fit.

    Parameters
    ----------
    problem : MixtureProblem
    parameters : dict
        Checked ones.

    Returns
    -------
    list of Coordinate
        In the order of the parameters.
    """
    found = []
    for name in problem.parameter_names:
        found += _MAKERS[name](problem, parameters)
    return found


def _means(problem, parameters):
    means = parameters["means"]
    X = problem.X[:, problem._columns_of("means")]
    spread = (np.nanmax(X, axis=0) - np.nanmin(X, axis=0)) / 4.0
    free = np.zeros(len(means), dtype=bool)
    for j, scale in enumerate(np.where(spread > 0.0, spread, 1.0)):
        yield Coordinate(name="means", places=((j,),), steps=np.full(len(means), STEP * scale), on_bound=free)


def _covariances(problem, parameters):
    value, kind = parameters["covariances"], problem.kind
    if not kind.matrix_shaped:
        floor = np.broadcast_to(problem.variance_floor, value.shape[1:])
        for place in np.ndindex(value.shape[1:]):
            numbers = value[(slice(None), *place)]
            bound = numbers <= (1.0 + ON_FLOOR) * floor[place]
            steps = np.where(bound, 0.0, STEP * numbers)
            yield Coordinate(name="covariances", places=(place,), steps=steps, on_bound=bound)
        return
    d = problem.n_features
    bound = np.atleast_1d(floor_components.floors(problem, value) <= 1.0 + ON_FLOOR)
    if not kind.free_form:  # a diagonal, of columns that may share a variance
        free = kind.free(value)
        floors, size = np.broadcast_to(problem.variance_floor, len(free)), d // len(free)
        for g, (variance, floor) in enumerate(zip(free, floors, strict=True)):
            own = tuple((j, j) for j in range(g * size, (g + 1) * size))
            bound = np.array([variance <= (1.0 + ON_FLOOR) * floor])
            steps = np.where(bound, 0.0, STEP * variance)
            yield Coordinate(name="covariances", places=own, steps=steps, on_bound=bound, shared=True)
        return
    # Steps within the cone of positive definite matrices: relative to the least eigenvalue in units of the diagonal.
    matrices = value if value.ndim == 3 else value[np.newaxis]
    scale = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    least = np.linalg.eigvalsh(matrices / (scale[:, :, np.newaxis] * scale[:, np.newaxis]))[:, 0]
    for a in range(d):
        for b in range(a, d):
            steps = np.where(bound, 0.0, STEP * least * scale[:, a] * scale[:, b])
            yield Coordinate(
                name="covariances", places=((a, b),) if a == b else ((a, b), (b, a)), steps=steps, on_bound=bound,
                shared=kind.shared,
            )  # fmt: skip


def _rates(problem, parameters):
    rates = parameters["rates"]
    for j in range(rates.shape[1]):
        bound = rates[:, j] <= NEAR_BOUND * np.max(rates[:, j], initial=0.0)
        yield Coordinate(name="rates", places=((j,),), steps=STEP * np.where(bound, 0.0, rates[:, j]), on_bound=bound)


def _shapes(problem, parameters):
    shapes = parameters["shapes"]
    for j in range(problem.n_features):
        bound = shapes[:, j] >= (1.0 - ON_FLOOR) * problem.largest_shape
        yield Coordinate(name="shapes", places=((j,),), steps=STEP * np.where(bound, 0.0, shapes[:, j]), on_bound=bound)


def _probabilities(problem, parameters):
    value = parameters["probabilities"]
    if not isinstance(value, tuple) and not problem._on_simplex:
        for j in range(problem.n_features):
            p = value[:, j]
            bound = np.minimum(p, 1.0 - p) <= NEAR_BOUND
            steps = np.where(bound, 0.0, STEP * np.minimum(p, 1.0 - p))
            yield Coordinate(name="probabilities", places=((j,),), steps=steps, on_bound=bound)
        return
    for j, table in enumerate(value) if isinstance(value, tuple) else [(None, value)]:
        rest = table.argmax(axis=1)
        for c in range(table.shape[1]):
            p = table[:, c]
            bound = p <= NEAR_BOUND
            steps = np.where(bound | (rest == c), 0.0, STEP * np.minimum(p, table.max(axis=1)))
            yield Coordinate(name="probabilities", places=((c,),), steps=steps, on_bound=bound, array=j, rest=rest)


def _prior_variance(problem, parameters):
    if problem.prior != "empirical":
        return
    value = parameters["prior_variance"]
    bound = np.array([bool(np.isclose(value, problem.prior_variance_bounds, rtol=1e-9, atol=0.0).any())])
    steps = np.where(bound, 0.0, STEP * value)
    yield Coordinate(name="prior_variance", places=((),), steps=steps, on_bound=bound, shared=True)


def _coefficients(problem, parameters):
    value = parameters["coefficients"]
    spread, free = np.ptp(problem.X, axis=0) / 4.0, np.zeros(len(value), dtype=bool)
    for j in range(value.shape[1]):
        step = STEP * problem._response_spread / (spread[j] if spread[j] > 0.0 else np.abs(problem.X[:, j]).max())
        if j in problem._all_shared:
            every = tuple((k, j) for k in range(len(value)))
            yield Coordinate(
                name="coefficients", places=every, steps=np.array([step]), on_bound=free[:1], shared=True, column=j
            )
        else:
            yield Coordinate(name="coefficients", places=((j,),), steps=np.full(len(value), step), on_bound=free)


def _intercepts(problem, parameters):
    value = parameters["intercepts"]
    steps, free = np.full(len(value), STEP * problem._response_spread), np.zeros(len(value), dtype=bool)
    if problem._n_regressors in problem._all_shared:
        every = tuple((k,) for k in range(len(value)))
        yield Coordinate(name="intercepts", places=every, steps=steps[:1], on_bound=free[:1], shared=True)
    else:
        yield Coordinate(name="intercepts", places=((),), steps=steps, on_bound=free)


def _variances(problem, parameters):
    value = parameters["variances"]
    bound = value <= (1.0 + ON_FLOOR) * problem.variance_floor
    yield Coordinate(name="variances", places=((),), steps=np.where(bound, 0.0, STEP * value), on_bound=bound)


def _variance(problem, parameters):
    value = parameters["variance"]
    bound = np.array([value <= (1.0 + ON_FLOOR) * problem.variance_floor])
    yield Coordinate(
        name="variance", places=((),), steps=np.where(bound, 0.0, STEP * value), on_bound=bound, shared=True
    )


_MAKERS = {
    "means": _means, "covariances": _covariances, "rates": _rates, "shapes": _shapes, "probabilities": _probabilities,
    "coefficients": _coefficients, "intercepts": _intercepts, "variances": _variances,
    "variance": _variance,
    "prior_variance": _prior_variance, "posterior_variances": lambda problem, parameters: (),
}  # fmt: skip
