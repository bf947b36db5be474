"""
A mixture's weights and parameters as a vector in a box, with the gradient of the objective.

The responsibilities are eliminated, ``f(theta) = min over tau of objective``, so that the gradient is that of the
objective at the optimal responsibilities (the expected gradient of the complete data); an estimated prior variance
is eliminated likewise. Coordinates:

- weights, and the probabilities of labels: softmax of as many numbers as there are entries;
- means: in standard deviations (of the noise where it is known) from the samples' mean;
- variances and rates: logarithms, variances bounded by their floor; probabilities of binary data: logits;
- covariance matrices: ``C_k = D (I + L_k L_k') D`` with D^2 the floor and L_k lower triangular.

What the map cannot reach is moved by a little when a state is packed: weights and probabilities of 0 to 1e-12,
rates to 1e-12 of the samples' own, and of covariance matrices the eigenvalues on the floor to 1e-4 above it, in units
of the floor, because the gradient in L vanishes there.
"""

import sys

import numpy as np
from scipy.special import expit, logit

from gopfast.mixtures.local.tuning import BEYOND, LEAST, LEAST_EXCESS, SOFTMAX_RANGE
from gopfast.mixtures.problems.base import log_sum_exp, log_zero


class Coordinates:
    """
    Coordinates of the states of a problem.

    Parameters
    ----------
    problem : MixtureProblem

    Attributes
    ----------
    low, high : ndarray, shape (n_coordinates,)
        The box.
    """

    def __init__(self, problem):
        self.problem = problem
        self.blocks = {"weights": Simplex(problem.n_components), **problem._coordinates(sys.modules[__name__])}
        self.low = np.concatenate([block.low for block in self.blocks.values()])
        self.high = np.concatenate([block.high for block in self.blocks.values()])
        self.ends = np.cumsum([block.size for block in self.blocks.values()])[:-1]

    def pack(self, state):
        """Return the vector of a state; the box grows to hold it."""
        vector = np.concatenate([block.pack(state[name]) for name, block in self.blocks.items()])
        self.low, self.high = np.minimum(self.low, vector), np.maximum(self.high, vector)
        return vector

    def unpack(self, vector):
        """Return the state of a vector, a dict."""
        parts = np.split(vector, self.ends)
        state = {name: block.unpack(part) for (name, block), part in zip(self.blocks.items(), parts, strict=True)}
        if "prior_variance" in self.problem.parameter_names:
            variances = state.get("posterior_variances")
            state["prior_variance"] = self.problem.best_prior_variance(state["means"], variances)
        return state

    def evaluate(self, vector):
        """Return the objective and its gradient, shape (n_coordinates,)."""
        # The problem's own methods would check the state at every trial step, and find the densities twice.
        problem, state = self.problem, self.unpack(vector)
        scores = log_zero(state["weights"]) + problem._log_kernel(state)
        total = log_sum_exp(scores)
        value = problem._penalty(state) - float(problem.sample_weight @ total)
        mass = problem.sample_weight[:, np.newaxis] * softmax(scores)
        parts = np.split(vector, self.ends)
        slopes = [block.slope(part, state, mass) for block, part in zip(self.blocks.values(), parts, strict=True)]
        return value, np.concatenate(slopes)


class Simplex:
    """Mixture weights."""

    def __init__(self, size):
        self.size = size
        self.low, self.high = np.full(size, -SOFTMAX_RANGE), np.full(size, SOFTMAX_RANGE)

    def pack(self, weights):
        return np.log(np.maximum(weights, LEAST))

    def unpack(self, part):
        return softmax(part)

    def slope(self, part, state, mass):
        size = mass.sum(axis=0)
        return size.sum() * state["weights"] - size


class Labels:
    """Probabilities of labels: one simplex for each component and column."""

    def __init__(self, problem):
        self.problem = problem
        self.sizes = [problem.n_components * n_labels for n_labels in problem.n_categories]
        self.size = sum(self.sizes)
        self.low, self.high = np.full(self.size, -SOFTMAX_RANGE), np.full(self.size, SOFTMAX_RANGE)

    def pack(self, probabilities):
        return np.concatenate([np.log(np.maximum(p, LEAST)).ravel() for p in probabilities])

    def unpack(self, part):
        parts = np.split(part, np.cumsum(self.sizes)[:-1])
        return tuple(softmax(values.reshape(self.problem.n_components, -1)) for values in parts)

    def slope(self, part, state, mass):
        pairs = zip(state["probabilities"], self.problem._label_statistics(mass), strict=True)
        return np.concatenate([(counts.sum(axis=1, keepdims=True) * p - counts).ravel() for p, counts in pairs])


class Shares(Labels):
    """The same of one variable whose probabilities are an array."""

    def pack(self, probabilities):
        return super().pack((probabilities,))

    def unpack(self, part):
        return super().unpack(part)[0]

    def slope(self, part, state, mass):
        return super().slope(part, {"probabilities": (state["probabilities"],)}, mass)


class Rows:
    """A parameter of shape (K, d), or (K,), through a function of each entry."""

    def __init__(self, problem, low, high, shape=None):
        self.problem = problem
        self.shape = shape or (problem.n_components, problem.n_features)
        self.low, self.high = (np.broadcast_to(bound, self.shape).astype(float).ravel() for bound in (low, high))
        self.size = self.low.size


class Probabilities(Rows):
    """Probabilities of ones, by their logits."""

    def __init__(self, problem):
        end = float(-logit(LEAST))
        super().__init__(problem, -end, end)

    def pack(self, probabilities):
        return logit(np.clip(probabilities, LEAST, 1.0 - LEAST)).ravel()

    def unpack(self, part):
        return expit(part.reshape(self.shape))

    def slope(self, part, state, mass):
        p, (ones, zeros) = state["probabilities"], self.problem._binary_statistics(mass)
        return (zeros * p - ones * (1.0 - p)).ravel()


class Rates(Rows):
    """Rates of counts or of waiting times, by their logarithms."""

    def __init__(self, problem, natural):
        super().__init__(problem, natural + np.log(LEAST), natural - np.log(LEAST) + BEYOND)

    def pack(self, rates):
        least = np.exp(self.low.reshape(self.shape))
        return np.log(np.maximum(rates, least)).ravel()

    def unpack(self, part):
        return np.exp(part.reshape(self.shape))

    def slope(self, part, state, mass):
        events, exposure = self.problem._rate_statistics(mass)
        return (exposure * state["rates"] - events).ravel()


class Means(Rows):
    """Means of a Gaussian mixture."""

    def __init__(self, problem):
        share = problem.sample_weight / problem.total_weight
        self.center = share @ problem.X
        variance = problem.noise_variance
        if variance is None:
            variance = np.maximum(share @ np.square(problem.X - self.center), problem.variance_floor)
        self.scale = np.sqrt(variance)
        # A prior draws the means towards 0.
        ends = np.stack([problem.X.min(axis=0), problem.X.max(axis=0), np.zeros(problem.n_features)])
        ends = (ends[: 2 if problem.prior is None else 3] - self.center) / self.scale
        super().__init__(problem, ends.min(axis=0) - BEYOND, ends.max(axis=0) + BEYOND)

    def pack(self, means):
        return ((means - self.center) / self.scale).ravel()

    def unpack(self, part):
        return self.center + self.scale * part.reshape(self.shape)

    def slope(self, part, state, mass):
        problem, means = self.problem, state["means"]
        # Around the means: no cancellation for data far from zero.
        pull = np.stack([m @ (problem.X - mean) for m, mean in zip(mass.T, means, strict=True)])
        slope = -problem.kind.solve(state.get("covariances"), pull)
        if problem.prior is not None:
            slope += means / state["prior_variance"]
        return (self.scale * slope).ravel()


class PosteriorVariances(Rows):
    """Variances of the Gaussian posterior of the means, by their logarithms."""

    def __init__(self, problem):
        highest = problem.prior_variance_range()[1]
        lowest = 1.0 / (problem.total_weight / problem.noise_variance + 1.0 / highest)
        super().__init__(problem, np.log(0.5 * np.minimum(lowest, highest)) - BEYOND, np.log(highest) + 1.0)

    def pack(self, variances):
        return np.log(variances).ravel()

    def unpack(self, part):
        return np.exp(part.reshape(self.shape))

    def slope(self, part, state, mass):
        precision = mass.sum(axis=0)[:, np.newaxis] / self.problem.noise_variance + 1.0 / state["prior_variance"]
        return (0.5 * (precision * state["posterior_variances"] - 1.0)).ravel()


class Variances(Rows):
    """Free variances, by their logarithms."""

    def __init__(self, problem):
        self.kind, self.floor = problem.kind, problem.variance_floor
        ranges = np.ptp(problem.X, axis=0)
        most = np.square(ranges if self.kind.floor_per_column else ranges.max())
        high = np.log(np.maximum(most, self.floor)) + BEYOND
        super().__init__(problem, np.log(self.floor), high, self.kind.free_shape)

    def pack(self, covariances):
        # A given variance may lie below the floor by rounding.
        return np.log(np.maximum(self.kind.free(covariances), self.floor)).ravel()

    def unpack(self, part):
        return self.kind.from_free(np.maximum(np.exp(part.reshape(self.shape)), self.floor))

    def slope(self, part, state, mass):
        squares = scatter_diagonals(self.problem.X, state["means"], mass)
        size = mass.sum(axis=0)[:, np.newaxis]
        slope = 0.5 * (size - squares / self.kind.variances(state["covariances"]))
        return self.kind.pooled(slope).ravel()


class Matrices:
    """Covariance matrices, one or one per component, by the factor L of what they exceed the floor by."""

    def __init__(self, problem):
        d = problem.n_features
        self.problem, self.scale = problem, np.sqrt(problem.variance_floor)
        self.lower = np.tril_indices(d)
        self.shared = problem.kind.shared
        self.size = (1 if self.shared else problem.n_components) * len(self.lower[0])
        end = max(1.0, (np.ptp(problem.X, axis=0) / self.scale).max())
        self.low, self.high = np.full(self.size, -end), np.full(self.size, end)

    def pack(self, covariances):
        excess = covariances / np.outer(self.scale, self.scale) - np.eye(len(self.scale))
        excess = excess.reshape(-1, *excess.shape[-2:])
        values, vectors = np.linalg.eigh(0.5 * (excess + excess.transpose(0, 2, 1)))
        values = np.maximum(values, LEAST_EXCESS)
        factors = np.linalg.cholesky((vectors * values[:, np.newaxis, :]) @ vectors.transpose(0, 2, 1))
        return factors[(slice(None), *self.lower)].ravel()

    def unpack(self, part):
        L = self.factors(part)
        found = (np.eye(len(self.scale)) + L @ L.transpose(0, 2, 1)) * np.outer(self.scale, self.scale)
        return found[0] if self.shared else found

    def factors(self, part):
        d, entries = self.problem.n_features, part.reshape(-1, len(self.lower[0]))
        L = np.zeros((len(entries), d, d))
        L[(slice(None), *self.lower)] = entries
        return L

    def slope(self, part, state, mass):
        slopes, factors = [], self.factors(part)
        if self.shared:
            factors = np.broadcast_to(factors, (self.problem.n_components, *factors.shape[1:]))
        for m, mean, L in zip(mass.T, state["means"], factors, strict=True):
            difference = (self.problem.X - mean) / self.scale
            inverse = np.linalg.inv(np.eye(len(L)) + L @ L.T)
            cost = m.sum() * inverse - inverse @ ((m * difference.T) @ difference) @ inverse
            slopes.append((cost @ L)[self.lower])
        return np.sum(slopes, axis=0) if self.shared else np.concatenate(slopes)


def softmax(values):
    """Positive numbers along the last axis that sum to 1."""
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def scatter_diagonals(X, means, mass):
    """``sum_i mass_ik (x_ij - m_kj)^2``, shape (K, d)."""
    return np.stack([m @ np.square(X - mean) for m, mean in zip(mass.T, means, strict=True)])
