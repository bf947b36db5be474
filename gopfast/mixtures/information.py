"""
Observed information of a mixture's fit, and the standard errors that follow.

The negative second derivative of the log-likelihood (with a prior of the log posterior density), by Louis' formula:
with a_ik the log of weight times density, g and H its derivatives, and tau the responsibilities,

    I = sum_i w_i [ gbar_i gbar_i' - sum_k tau_ik (H_ik + g_ik g_ik') ],   gbar_i = sum_k tau_ik g_ik

The derivatives of one component's log density are differences; those of the weights are exact.

References
----------
Louis, "Finding the observed information matrix when using the EM algorithm", Journal of the Royal Statistical Society B
44 (1982).

Theory: (A7) of docs/theory/problem.md.
"""

from dataclasses import dataclass, field

import numpy as np

from gopfast.mixtures.coordinates import coordinates
from gopfast.mixtures.problems.base import log_sum_exp, log_zero
from gopfast.mixtures.tuning import MOST_COORDINATES, NO_WEIGHT, SINGULAR


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """One number of a fit: `component` is None for what components share; `error` NaN where there is none."""

    component: int | None
    parameter: str
    place: str
    value: float
    error: float
    on_bound: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Information:
    """
    Standard errors of a fit.

    Attributes
    ----------
    estimates : tuple of Estimate
        Weights first, then component by component.
    notes : tuple of str
        Why some or all have no standard errors.
    """

    estimates: tuple[Estimate, ...]
    notes: tuple[str, ...] = field(default=())


def information(solution) -> Information:
    """Return the estimates of a MixtureSolution with standard errors from the observed information."""
    problem = solution.problem
    parameters = problem.check_parameters(**solution.parameters)
    every = coordinates(problem, parameters)
    layout = _Layout(problem, solution.weights, every)
    covariance, notes = None, []
    if problem.posterior != "point":
        notes.append("no standard errors: the spread of the means is that of their posterior")
    elif len(every) > MOST_COORDINATES:
        notes.append(
            f"no standard errors: more than {MOST_COORDINATES} parameters of a component; use gopfast.bootstrap"
        )
    elif not layout.used.all():
        notes.append("no standard errors: a component has no weight")
    else:
        matrix = _matrix(problem, solution.weights, parameters, layout)
        covariance = _inverse(matrix)
        if covariance is None:
            notes.append(
                "no standard errors: the observed information is not positive definite, so that the data do not "
                "determine every parameter"
            )
    if any(one.on_bound.any() for one in every):
        notes.append("numbers marked b are on a bound and have no standard error; those of others hold them fixed")
    return Information(estimates=tuple(layout.estimates(parameters, covariance)), notes=tuple(notes))


class _Layout:
    """Which row of the information each number is."""

    def __init__(self, problem, weights, every):
        self.problem, self.weights, self.every = problem, weights, every
        K = len(weights)
        self.used = weights > NO_WEIGHT
        # The largest weight is the rest.
        self.rest = int(np.argmax(weights))
        self.weight_rows = np.full(K, -1)
        self.weight_rows[[k for k in range(K) if k != self.rest]] = np.arange(K - 1)
        self.size, self.rows = K - 1, []
        for one in every:
            rows = np.full(len(one.steps), -1)
            free = one.steps > 0.0
            rows[free] = self.size + np.arange(free.sum())
            self.size += int(free.sum())
            self.rows.append(rows)

    def row(self, c, k):
        """Row of coordinate c for component k, or -1; noise has none."""
        own, at = self.rows[c], 0 if self.every[c].shared else k
        return own[at] if at < len(own) else -1

    def estimates(self, parameters, covariance):
        """Yield all numbers with their errors."""
        K = len(self.weights)
        weight_map = np.zeros((K, self.size))
        for k, row in enumerate(self.weight_rows):
            if row >= 0:
                weight_map[k, row], weight_map[self.rest, row] = 1.0, -1.0
        for k in range(K):
            yield self._estimate(k, "weight", "", self.weights[k], weight_map[k], covariance, not self.used[k])
        for k in range(self.problem.n_components):
            for c, one in enumerate(self.every):
                if not one.shared:
                    yield self._number(parameters, covariance, c, one, k)
        for c, one in enumerate(self.every):
            if one.shared:
                yield self._number(parameters, covariance, c, one, None)

    def _number(self, parameters, covariance, c, one, k):
        """Return one number; of probabilities the rest has the error of the sum of the others."""
        value = parameters[one.name]
        value = np.asarray(value if one.array is None else value[one.array])
        index = one.places[0] if k is None else (k, *one.places[0])
        line = np.zeros(self.size)
        if one.rest is not None and one.rest[k] == one.places[0][0]:
            for other, rows in zip(self.every, self.rows, strict=True):
                if (other.name, other.array) == (one.name, one.array) and rows[k] >= 0:
                    line[rows[k]] = -1.0
        elif self.row(c, k or 0) >= 0:
            line[self.row(c, k or 0)] = 1.0
        bound = bool(one.on_bound[0 if one.shared else k])
        name = _SINGULAR_NAMES[one.name]
        if name == "variance" and len(set(one.places[0])) > 1:
            name = "covariance"
        return self._estimate(k, name, self._label(one), value[index], line, covariance, bound)

    def _label(self, one):
        """Name the column, the pair of columns or the label of a number."""
        names = self.problem.column_names
        names = [names[j] for j in self.problem._columns_of(one.name)]
        if one.array is not None:
            return f"{names[one.array]} = {self.problem.categories[one.array][one.places[0][0]]}"
        if one.column is not None:
            return names[one.column]
        alone = len(one.places[0]) == 0 or one.name == "intercepts"
        if alone or (one.shared and len(one.places) > 1 and one.places[0][0] == one.places[0][1]):
            return ""
        return ", ".join(dict.fromkeys(names[j] for j in one.places[0]))

    def _estimate(self, k, name, place, value, line, covariance, on_bound):
        error = np.nan
        if covariance is not None and not on_bound and line.any():
            error = float(np.sqrt(max(0.0, line @ covariance @ line)))
        return Estimate(component=k, parameter=name, place=place, value=float(value), error=error, on_bound=on_bound)


_SINGULAR_NAMES = {
    "means": "mean", "covariances": "variance", "rates": "rate", "shapes": "shape", "probabilities": "probability",
    "prior_variance": "prior variance", "coefficients": "coefficient", "intercepts": "intercept",
    "variances": "variance", "variance": "variance",
}  # fmt: skip


def _matrix(problem, weights, parameters, layout):
    """Return the observed information in the coordinates of a layout."""
    every, K = layout.every, len(weights)
    base = problem._log_kernel(parameters)
    scores = log_zero(weights) + base
    used = (problem.sample_weight > 0.0) & np.isfinite(log_sum_exp(scores))
    scores, base, w = scores[used], base[used], problem.sample_weight[used]
    tau = np.exp(scores - log_sum_exp(scores)[:, np.newaxis])
    tau /= tau.sum(axis=1, keepdims=True)
    mass = w[:, np.newaxis] * tau

    # What a component cannot produce it cannot produce nearby either: bounds do not move.
    possible = np.isfinite(base)
    base = np.where(possible, base, 0.0)

    def kernel(*moves):
        at = parameters
        for c, times in moves:
            at = every[c].moved(at, times)
        return np.where(possible, problem._log_kernel(at)[used], 0.0)

    matrix = np.zeros((layout.size, layout.size))
    gradients = np.zeros((K, len(w), layout.size))
    for k, row in enumerate(layout.weight_rows):
        if row >= 0:
            gradients[k, :, row] += 1.0 / weights[k]
            gradients[layout.rest, :, row] -= 1.0 / weights[layout.rest]
            matrix[row, row] += mass[:, k].sum() / weights[k] ** 2
    rest = mass[:, layout.rest].sum() / weights[layout.rest] ** 2
    matrix[: K - 1, : K - 1] += rest
    ahead = [kernel((c, 1.0)) for c in range(len(every))]
    behind = [kernel((c, -1.0)) for c in range(len(every))]
    for c in range(len(every)):
        for k in range(K):
            row = layout.row(c, k)
            if row < 0:
                continue
            step = _step(every[c], k)
            gradients[k, :, row] = (ahead[c][:, k] - behind[c][:, k]) / (2.0 * step)
            second = ahead[c][:, k] - 2.0 * base[:, k] + behind[c][:, k]
            matrix[row, row] -= mass[:, k] @ second / step**2
        for b in range(c):
            if every[b].array is not None and every[b].array != every[c].array:
                continue  # columns of labels are independent of each other within a component
            mixed = kernel((c, 1.0), (b, 1.0)) - kernel((c, 1.0), (b, -1.0))
            mixed -= kernel((c, -1.0), (b, 1.0)) - kernel((c, -1.0), (b, -1.0))
            for k in range(K):
                i, j = layout.row(c, k), layout.row(b, k)
                if i >= 0 and j >= 0:
                    value = mass[:, k] @ mixed[:, k] / (4.0 * _step(every[c], k) * _step(every[b], k))
                    matrix[i, j] -= value
                    matrix[j, i] -= value
    average = np.einsum("ik,kir->ir", tau, gradients)
    matrix += average.T @ (w[:, np.newaxis] * average)
    for k in range(K):
        matrix -= gradients[k].T @ (mass[:, k, np.newaxis] * gradients[k])
    return matrix + _of_prior(problem, parameters, layout)


def _step(one, k):
    return one.steps[0 if one.shared else k]


def _of_prior(problem, parameters, layout):
    """Return the second derivatives of the negative log density of the prior."""
    matrix = np.zeros((layout.size, layout.size))
    if problem.prior is None:
        return matrix
    singles = [
        (row, c, k) for c, rows in enumerate(layout.rows) for k, row in enumerate(rows) if row >= 0
    ]  # fmt: skip

    def penalty(*moves):
        at = parameters
        for c, k, times in moves:
            one = layout.every[c]
            alone = np.where(np.arange(len(one.steps)) == k, one.steps, 0.0)
            at = type(one)(**{**vars(one), "steps": alone}).moved(at, times)
        if "prior_variance" in at:
            at = {**at, "prior_variance": None if at["prior_variance"] is None else float(at["prior_variance"])}
        return problem._penalty(at)

    middle = penalty()
    for i, c, k in singles:
        h = layout.every[c].steps[k]
        matrix[i, i] = (penalty((c, k, 1.0)) - 2.0 * middle + penalty((c, k, -1.0))) / h**2
    # Only an estimated prior variance, and probabilities that sum to 1, depend on others.
    for i, c, k in singles:
        for j, b, m in singles:
            one, other = layout.every[c], layout.every[b]
            related = "prior_variance" in (one.name, other.name) or (one.rest is not None and one.array == other.array)
            if j >= i or not related:
                continue
            mixed = sum(
                s * t * penalty((c, k, s), (b, m, t)) for s in (1.0, -1.0) for t in (1.0, -1.0)
            ) / (4.0 * one.steps[k] * other.steps[m])  # fmt: skip
            matrix[i, j] = matrix[j, i] = mixed
    return matrix


def _inverse(matrix):
    """Return the inverse of a symmetric matrix that is well positive definite, or None."""
    scale = np.sqrt(np.abs(np.diagonal(matrix)))
    if len(matrix) == 0:
        return matrix
    if not np.isfinite(matrix).all() or (scale == 0.0).any():
        return None
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    if values[0] <= SINGULAR:
        return None
    return (vectors / values) @ vectors.T / np.outer(scale, scale)
