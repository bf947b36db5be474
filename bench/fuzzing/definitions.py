"""Mixtures by the formulas of their docstrings in extended precision, sharing no code with the package.

A `Definition` of a problem gives the best parameters of given responsibilities (a *state*), objectives with all
constants that the model's docstring names, and the *point*: the connected variables of the core at a state. Means of
Gaussian components are kept relative to `origin`, so that data far from 0 lose no digits.

Besides each value stands its *size*: the magnitude of the terms of its own sum, for the rounding of this module.
"""

import copy
import dataclasses
from fractions import Fraction
from operator import mul

import numpy as np

from . import count_fits
from .count_fits import long

LONG = np.longdouble
ROUND = np.finfo(LONG).eps
PI = LONG("3.14159265358979323846264338327950288")
LOG_2_PI = np.log(2 * PI)


def log_zero(x):
    with np.errstate(divide="ignore"):
        return np.log(x)


def x_log(x, y):
    """x log y with 0 log 0 = 0."""
    x, y = np.broadcast_arrays(x, y)
    return np.where(x == 0, 0, x * log_zero(np.where(x == 0, 1, y)))


def stirling_error(x):
    """log Gamma(x + 1) - (x + 1/2) log x + x - 1/2 log(2 pi), for x > 0."""
    x = np.asarray(x, dtype=LONG)
    shift, product = np.maximum(0, 32 - np.floor(np.minimum(x, 32))).astype(int), np.zeros_like(x)
    far = x + shift
    for i in range(1, int(shift.max(initial=0)) + 1):
        product += np.where(i <= shift, np.log(x + np.minimum(i, shift)), 0)
    inverse = 1 / far
    square = inverse * inverse
    series = inverse * (
        LONG(1) / 12 - square * (LONG(1) / 360 - square * (LONG(1) / 1260 - square * (LONG(1) / 1680 - square / 1188)))
    )
    # log Gamma(x + 1) = log Gamma(far + 1) - log((x + 1) ... far)
    near = shift > 0
    moved = series + (far + LONG(0.5)) * np.log(far) - far - product - (x + LONG(0.5)) * np.log(x) + x
    return np.where(near, moved, series)


def log_gamma(x):
    """log Gamma(x) for x > 0."""
    x = np.asarray(x, dtype=LONG)
    return stirling_error(x) + (x - LONG(0.5)) * np.log(x) - x + LOG_2_PI / 2


def excess(x, mean):
    """x log(x / mean) - x + mean, also where both are large and near; mean for x = 0."""
    x, mean = np.broadcast_arrays(np.asarray(x, dtype=LONG), mean)
    some = np.where(x > 0, x, 1)
    t = (np.where(x > 0, mean, 1) - some) / some
    near = np.abs(t) < 0.5
    log = np.where(near, np.log1p(np.where(near, t, 0)), log_zero(np.where(x > 0, mean, 1)) - np.log(some))
    return np.where(x > 0, some * (t - log), mean)


def eigen(C):
    """Eigenvalues (K, d) and vectors (K, d, d) of symmetric matrices, by Jacobi's method in extended precision."""
    A, d = np.array(C, dtype=LONG), C.shape[-1]
    V = np.broadcast_to(np.eye(d, dtype=LONG), A.shape).copy()
    for _ in range(12 if d > 2 else 2):
        for p in range(d - 1):
            for q in range(p + 1, d):
                off = A[:, p, q]
                zero = off == 0
                theta = (A[:, q, q] - A[:, p, p]) / (2 * np.where(zero, 1, off))
                t = np.where(zero, 0, np.where(theta < 0, -1, 1) / (np.abs(theta) + np.hypot(theta, 1)))
                c = 1 / np.sqrt(t * t + 1)
                G = np.broadcast_to(np.eye(d, dtype=LONG), A.shape).copy()
                G[:, p, p] = G[:, q, q] = c
                G[:, p, q], G[:, q, p] = t * c, -t * c
                A = np.swapaxes(G, 1, 2) @ A @ G
                V = V @ G
        if all(np.abs(A[:, p, q]).max() == 0 for p in range(d) for q in range(p)):
            break
    return np.diagonal(A, axis1=1, axis2=2), V


class Definition:
    """What all models share: weights, entropy, EM.

    Parameters
    ----------
    problem : MixtureProblem
    dtype : type
        `LONG` for values that are compared, float for EM.
    """

    def __init__(self, problem, dtype=LONG):
        used = problem.sample_weight > 0
        self.problem, self.dtype = problem, dtype
        self.log_2_pi = LOG_2_PI if dtype is LONG else float(LOG_2_PI)
        self.X, self.w = problem.X[used], problem.sample_weight[used].astype(dtype)
        self.n, self.d, self.K = len(self.X), problem.n_features, problem.n_components
        self.W = self.w.sum()
        self.prepare()

    def prepare(self):
        """Set what the samples alone determine."""

    def best(self, tau, former=None):
        """The state that is best for responsibilities (n, K) of the samples with weight."""
        tau = np.asarray(tau, dtype=self.dtype)
        mass = self.w[:, None] * tau
        S = mass.sum(axis=0)
        state = {"weights": S / S.sum(), "S": S, "mass": mass}
        state.update(self.parameters(mass, S, former))
        return state

    def value(self, state, tau=None):
        """Objective at a state and its size; responsibilities (n, K) are the best ones unless given."""
        logs = self.log_densities(state)
        score = log_zero(state["weights"]) + logs
        penalty, penalty_size = self.penalty(state)
        if tau is None:
            top = score.max(axis=1)
            top = np.where(np.isneginf(top), 0, top)
            cost = -(top + log_zero(np.exp(score - top[:, None]).sum(axis=1)))
            size = self.w @ (1 + np.abs(top) + self.sample_size(state))
        else:
            tau = np.asarray(tau, dtype=self.dtype)
            with np.errstate(invalid="ignore"):
                terms = np.where(tau > 0, tau * (log_zero(np.where(tau > 0, tau, 1)) - score), 0)
            cost = terms.sum(axis=1)
            size = self.w @ (1 + np.abs(terms).sum(axis=1) + self.sample_size(state))
        return self.w @ cost + penalty, size + penalty_size

    def sample_size(self, state):
        return 0

    def order(self, cells):
        """The order of components by their cells (K, n_cell)."""
        return np.argsort(cells[:, 0], kind="stable")

    def penalty(self, state):
        return self.dtype(0), self.dtype(0)

    def e_step(self, state):
        score = log_zero(state["weights"]) + self.log_densities(state)
        score -= score.max(axis=1, keepdims=True)
        tau = np.exp(score)
        return tau / tau.sum(axis=1, keepdims=True)

    def em(self, tau, n_steps, tol=1e-10):
        """EM from responsibilities; the last responsibilities."""
        state, last = None, np.inf
        for _ in range(n_steps):
            state = self.best(tau, state)
            score = log_zero(state["weights"]) + self.log_densities(state)
            top = score.max(axis=1)
            if not np.isfinite(top).all():
                break
            p = np.exp(score - top[:, None])
            total = p.sum(axis=1)
            tau = p / total[:, None]
            now = -float(self.w @ (top + np.log(total)))
            if abs(last - now) < tol * (1 + abs(now)):
                break
            last = now
        return tau


def averages(mass, S, values):
    """Means (K, d) of components with mass; NaN for the others."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return (mass.T @ values) / S[:, None]


class Gaussian(Definition):
    """Known variance, or free: `covariance` of the problem."""

    def prepare(self):
        self.origin = self.X[0].astype(LONG)
        self.Z = (self.X.astype(LONG) - self.origin).astype(self.dtype)
        if self.problem.covariance == "known":
            self.v = self.problem.noise_variance.astype(self.dtype)
        else:
            self.floor = np.broadcast_to(self.problem.variance_floor, self.d).astype(self.dtype)

    def relative(self, means):
        """Means in the user's coordinates relative to the origin."""
        return (np.asarray(means).astype(LONG) - self.origin).astype(self.dtype)

    def parameters(self, mass, S, former):
        if self.problem.covariance == "known":
            return self.known(mass, S, former)
        means = averages(mass, S, self.Z)
        empty = ~(S > 0)
        means[empty] = self.Z[0] if former is None else former["means"][empty]
        if self.problem.covariance in ("tied", "full"):
            scatter = np.zeros((self.K, self.d, self.d), dtype=self.dtype)
            for k in np.flatnonzero(~empty):
                z = self.Z - means[k]
                scatter[k] = (mass[:, k] * z.T) @ z / S[k]
            if self.problem.covariance == "tied":
                scatter = np.tensordot(S / S.sum(), scatter, 1)
        else:
            scatter = np.zeros((self.K, self.d), dtype=self.dtype)
            for k in np.flatnonzero(~empty):
                scatter[k] = mass[:, k] @ np.square(self.Z - means[k]) / S[k]
            if self.problem.covariance == "spherical":
                scatter = scatter.mean(axis=1)
            elif self.problem.covariance == "tied_spherical":
                scatter = S / S.sum() @ scatter.mean(axis=1)
            elif self.problem.covariance == "tied_diag":
                scatter = S / S.sum() @ scatter
        return {"means": means, "scatter": scatter, "covariances": self.raised(scatter)}

    def raised(self, scatter):
        """The best covariances at or above the floor."""
        if self.problem.covariance in ("diag", "tied_diag"):
            return np.maximum(scatter, self.floor)
        if self.problem.covariance in ("spherical", "tied_spherical"):
            return np.maximum(scatter, self.floor[0])
        root = np.sqrt(self.floor)
        scaled = np.reshape(scatter, (-1, self.d, self.d)) / np.outer(root, root)
        if self.dtype is LONG:
            values, vectors = eigen(scaled)
        else:
            values, vectors = np.linalg.eigh(scaled)
        raised = (vectors * np.maximum(values, 1)[:, None, :]) @ np.swapaxes(vectors, 1, 2) * np.outer(root, root)
        return np.reshape(raised, np.shape(scatter))

    def log_densities(self, state):
        means, kind = state["means"], self.problem.covariance
        if kind == "known":
            logs = np.stack([-(np.square(self.Z - m) / self.v).sum(axis=1) / 2 for m in means], axis=1)
            if "posterior_variances" in state:
                logs -= (state["posterior_variances"] / self.v).sum(axis=1) / 2
            return logs
        C = state["covariances"]
        if kind in ("tied", "full"):
            matrices = np.broadcast_to(C, (self.K, self.d, self.d))
            return np.stack([self.log_normal(self.Z - m, S) for m, S in zip(means, matrices, strict=True)], axis=1)
        v = C[:, None] if kind == "spherical" else C
        v = np.broadcast_to(v, (self.K, self.d))
        terms = [np.square(self.Z - m) / s + np.log(s) + self.log_2_pi for m, s in zip(means, v, strict=True)]
        return np.stack([-term.sum(axis=1) / 2 for term in terms], axis=1)

    def log_normal(self, z, C):
        """By elimination, column by column, in units of the floor."""
        root = np.sqrt(self.floor)
        C, z, d = C / np.outer(root, root), (z / root).copy(), self.d
        total = -(d * self.log_2_pi + np.log(self.floor).sum()) / 2
        C = C.copy()
        for j in range(d):
            total = total - np.log(C[j, j]) / 2 - np.square(z[:, j]) / (2 * C[j, j])
            for i in range(j + 1, d):
                ratio = C[i, j] / C[j, j]
                z[:, i] -= ratio * z[:, j]
                C[i, j + 1 :] -= ratio * C[j, j + 1 :]
        return total

    def sample_size(self, state):
        if self.problem.covariance in ("tied", "full"):
            # the smallest eigenvalue has lost the digits by which the largest exceeds it
            root = np.sqrt(self.floor)
            trace = np.trace(state["covariances"] / np.outer(root, root), axis1=-2, axis2=-1)
            return 64 * np.max(trace) * np.ones(self.n)
        return 0

    def known(self, mass, S, former):
        """The prior variance is the best one of all, found from everywhere; in EM that for the state before."""
        prior, gaussian = self.problem.prior, self.problem.posterior == "gaussian"
        averages_ = averages(mass, S, self.Z)
        empty = ~(S > 0)
        if prior is None:
            averages_[empty] = self.Z[0]
            return {"means": averages_}
        mu = np.where(empty[:, None], 0, averages_ + self.origin.astype(self.dtype))
        a = S[:, None] / self.v  # (K, d)
        if prior == "empirical" and former is not None:
            squares = np.square(former["means"] + self.origin.astype(self.dtype)).sum()
            squares += former["posterior_variances"].sum() if gaussian else 0
            low, high = self.problem.prior_variance_bounds
            e = 1 / min(max(squares / a.size, low), high)
        elif prior == "empirical":
            e = self.best_precision(a, mu, gaussian)
        else:
            e = 1 / self.dtype(prior)
        # a (mu - m) + e (0 - m) = 0; relative to the origin
        pulled = np.where(empty[:, None], 0, averages_) - e * mu / (a + e)
        pulled[empty] = -self.origin.astype(self.dtype)
        found = {"means": pulled, "precision": e}
        if gaussian:
            found["posterior_variances"] = 1 / (a + e)
        return found

    def best_precision(self, a, mu, gaussian):
        low, high = (1 / self.dtype(bound) for bound in self.problem.prior_variance_bounds[::-1])
        half, q = self.dtype(a.size) / 2, np.square(mu)

        def cost(e):
            value = (a * e / (a + e) * q).sum() / 2 - half * np.log(e)
            return value + np.log(a + e).sum() / 2 if gaussian else value

        def slope(e):
            value = (np.square(a / (a + e)) * q).sum() / 2 - half / e
            return value + (1 / (a + e)).sum() / 2 if gaussian else value

        grid = np.exp(np.linspace(np.log(low), np.log(high), 200))
        grid[0], grid[-1] = low, high
        i = int(np.argmin([cost(e) for e in grid]))
        left, right = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        if not slope(left) < 0:
            return left
        if not slope(right) > 0:
            return right
        for _ in range(80 if self.dtype is LONG else 55):
            middle = np.sqrt(left * right)
            left, right = (middle, right) if slope(middle) < 0 else (left, middle)
        return left

    def penalty(self, state):
        if self.problem.prior is None or self.problem.covariance != "known":
            return self.dtype(0), self.dtype(0)
        m, e = state["means"] + self.origin.astype(self.dtype), state["precision"]
        terms = [e * np.square(m).sum() / 2, -m.size * np.log(e) / 2]
        if "posterior_variances" in state:
            s = state["posterior_variances"]
            terms += [(e * s).sum() / 2, -np.log(s).sum() / 2, -s.size * (LOG_2_PI + 1) / 2]
        return sum(terms), sum(abs(term) for term in terms)

    def read(self, solution):
        """The state of a `MixtureSolution`."""
        state = {"weights": solution.weights.astype(self.dtype), "means": self.relative(solution.means)}
        if self.problem.covariance != "known":
            C = np.asarray(solution.covariances, dtype=self.dtype)
            shared = {"tied_spherical": lambda: C[0, 0], "tied_diag": lambda: np.diagonal(C)}
            state["covariances"] = shared.get(self.problem.covariance, lambda: C)()
        elif self.problem.prior is not None:
            state["precision"] = 1 / self.dtype(solution.prior_variance)
            if self.problem.posterior == "gaussian":
                state["posterior_variances"] = solution.posterior_variances.astype(self.dtype)
        return state

    # The core's coordinates

    def point(self, state, family):
        """Connected variables (K, n_cell) and shared ones, and bounds of their rounding errors."""
        if self.problem.covariance in ("tied", "full") and self.d > 1:
            return self.matrix_point(state, family)
        data = family.data
        scale, order = data.scale.astype(LONG), data.order
        shift = self.origin - data.center.astype(LONG)
        means = ((state["means"] + shift) / scale)[:, order]
        reach = (np.abs(self.Z).max(axis=0) + np.abs(shift)) / scale
        if self.problem.prior is not None:
            reach = reach + np.abs(data.center) / scale
        error = np.broadcast_to(8 * 2.0**-53 * reach[order], means.shape)
        cells, errors, shared, shared_error = [means], [error], [], []
        if "posterior_variances" in state:
            precisions = (np.square(scale) / state["posterior_variances"])[:, order][:, : family.n_cell - self.d]
            cells.append(precisions)
            errors.append(1e-13 * precisions)
        if "scatter" in state:
            v = state["scatter"]
            square = np.square(scale)
            if self.problem.covariance == "tied_spherical" or (self.d == 1 and self.problem.covariance == "tied"):
                shared = [np.ravel(v)[0] / square[0]]
                shared_error = [2.0**-48 * np.square(reach).mean()]
            elif self.problem.covariance == "tied_diag":
                shared, shared_error = (v / square)[order], 2.0**-48 * np.square(reach)[order]
            else:
                v = v[:, None] / square[0] if v.ndim == 1 else (np.reshape(v, (self.K, -1)) / square)[:, order]
                cells.append(v)
                errors.append(np.broadcast_to(2.0**-48 * (np.square(reach)[order] if v.shape[1] == self.d else
                                                          np.square(reach).mean()), v.shape))
        return np.hstack(cells), np.hstack(errors), np.array(shared, LONG), np.array(shared_error, LONG)

    def matrix_point(self, state, family):
        axes = family.axes.astype(LONG)
        shift = self.origin - np.asarray(family.center).astype(LONG)
        Z = (self.Z + shift) @ axes.T
        means = (state["means"] + shift) @ axes.T
        # of the core's columns, whose products cancel where axes are ill-conditioned
        size = np.abs(axes) @ (np.abs(self.Z).max(axis=0) + np.abs(shift))
        error = np.broadcast_to(16 * 2.0**-53 * size, means.shape)
        # not axes @ scatter @ axes.T, which cancels
        C = np.zeros((self.K, self.d, self.d), LONG)
        for k in np.flatnonzero(state["S"] > 0):
            z = Z - means[k]
            C[k] = (state["mass"][:, k] * z.T) @ z / state["S"][k]
        if self.problem.covariance == "tied":
            C = np.tensordot(state["weights"], C, 1)
        reach = np.abs(Z).max(axis=0) + 2.0**-47 * size
        loose = 64 * 2.0**-53 * (np.outer(size, reach) + np.outer(reach, size))
        rows = np.triu_indices(self.d)
        if self.problem.covariance == "tied":
            return means, error, C[rows], loose[rows]
        if self.d > 2:
            packed = C[:, rows[0], rows[1]]
            return np.hstack([means, packed]), np.hstack([error, np.broadcast_to(loose[rows], packed.shape)]), *EMPTY
        ridge = LONG(0.1) * (np.square(axes[0]) * self.floor).sum()
        v, b = C[:, 0, 0], C[:, 0, 1] / (C[:, 0, 0] + ridge)
        u = np.maximum(0, C[:, 1, 1] - b * C[:, 0, 1])
        off = (loose[0, 1] + np.abs(b) * loose[0, 0]) / (v + ridge)
        residual = loose[1, 1] + 2 * np.abs(b) * loose[0, 1] + b * b * loose[0, 0]
        errors = np.stack([np.broadcast_to(loose[0, 0], v.shape), off, residual], axis=1)
        return np.hstack([means, np.stack([v, b, u], axis=1)]), np.hstack([error, errors]), *EMPTY


EMPTY = np.zeros(0, LONG), np.zeros(0, LONG)


class Noisy(Gaussian):
    """The same with noise, which is the last component: a normal one that is never asked for its density."""

    def prepare(self):
        super().prepare()
        self.K += 1

    def log_densities(self, state):
        logs = super().log_densities(state)
        logs[:, -1] = np.log(LONG(self.problem.noise))
        if self.problem.covariance == "known":  # whose densities have no constant
            logs[:, -1] += (np.log(2 * PI * self.v.astype(LONG)) / 2).sum()
        return logs

    def order(self, cells):
        return np.append(super().order(cells[:-1]), self.K - 1)

    def point(self, state, family):
        cells, errors, *shared = super().point(state, family)
        cells, errors = np.array(cells), np.array(errors)
        cells[-1] = errors[-1] = 0
        return cells, errors, *shared

    def read(self, solution):
        state = super().read(solution)
        more = {name: np.concatenate([value, value[:1]]) for name, value in state.items() if name != "weights"}
        return {**state, **more}


class Separable(Definition):
    """Exponential families: means (T + chi) / (S + nu) of statistics."""

    def core(self, means, family):
        """Means (K, c) in the user's order in the core's coordinates."""
        return (means / family.data.scale.astype(LONG))[:, family.data.order]

    def point(self, state, family):
        cells = self.core(self.statistics(state), family)
        return cells, 16 * 2.0**-53 * np.abs(cells), *EMPTY


class Bernoulli(Separable):
    def parameters(self, mass, S, former):
        a, b = self.problem.prior or (1.0, 1.0)
        ones, zeros = mass.T @ self.X + (a - 1.0), mass.T @ (1 - self.X) + (b - 1.0)
        total = ones + zeros
        with np.errstate(invalid="ignore"):
            p = np.where(total > 0, ones / np.where(total > 0, total, 1), 0.5)
            q = np.where(total > 0, zeros / np.where(total > 0, total, 1), 0.5)
        return {"probabilities": p, "others": q}

    def log_densities(self, state):
        pairs = zip(state["probabilities"], state["others"], strict=True)
        return np.stack([(x_log(self.X, p) + x_log(1 - self.X, q)).sum(axis=1) for p, q in pairs], axis=1)

    def penalty(self, state):
        if self.problem.prior is None:
            return self.dtype(0), self.dtype(0)
        a, b = (LONG(x) for x in self.problem.prior)
        terms = [-x_log(a - 1, state["probabilities"]).sum(), -x_log(b - 1, state["others"]).sum()]
        constants = [state["probabilities"].size * x for x in (log_gamma(a), log_gamma(b), -log_gamma(a + b))]
        return sum(terms) + sum(constants), sum(abs(x) for x in terms + constants)

    def statistics(self, state):
        return state["probabilities"]

    def read(self, solution):
        p = solution.probabilities.astype(self.dtype)
        return {"weights": solution.weights.astype(self.dtype), "probabilities": p, "others": 1 - p}


class Rates(Separable):
    """Poisson and exponential: a rate in each column, with a Gamma prior."""

    def penalty(self, state):
        if self.problem.prior is None:
            return self.dtype(0), self.dtype(0)
        shape, rate = (LONG(x) for x in self.problem.prior)
        r = state["rates"]
        terms = [(rate * r).sum(), -x_log(shape - 1, r).sum()]
        terms += [r.size * log_gamma(shape), -r.size * shape * np.log(rate)]
        return sum(terms), sum(abs(term) for term in terms)

    def read(self, solution):
        return {"weights": solution.weights.astype(self.dtype), "rates": solution.rates.astype(self.dtype)}


class Poisson(Rates):
    def prepare(self):
        x = self.X.astype(LONG)
        some = np.where(x > 0, x, 1)
        self.base = np.where(x > 0, (np.log(2 * PI * some)) / 2 + stirling_error(some), 0).astype(self.dtype)
        self.peak = (x_log(x, some) - x + self.base).astype(self.dtype)

    def parameters(self, mass, S, former):
        shape, rate = (self.dtype(x) for x in (self.problem.prior or (1.0, 0.0)))
        total = mass.T @ self.X + (shape - 1)
        size = S[:, None] + rate
        return {"rates": np.where(size > 0, total / np.where(size > 0, size, 1), self.X[0])}

    def log_densities(self, state):
        if self.dtype is LONG:
            return np.stack([-(excess(self.X, r) + self.base).sum(axis=1) for r in state["rates"]], axis=1)
        return np.stack([(x_log(self.X, r) - r - self.peak).sum(axis=1) for r in state["rates"]], axis=1)

    def sample_size(self, state):
        # what the rates' own rounding moves
        return np.sqrt(self.X.astype(LONG)).sum(axis=1)

    def statistics(self, state):
        return state["rates"]


class Exponential(Rates):
    def parameters(self, mass, S, former):
        shape, rate = (self.dtype(x) for x in (self.problem.prior or (1.0, 0.0)))
        total = mass.T @ self.X + rate
        size = S[:, None] + (shape - 1)
        rates = np.where(total > 0, size / np.where(total > 0, total, 1), 1 / np.where(self.X[0] > 0, self.X[0], 1))
        return {"rates": rates}

    def log_densities(self, state):
        r = state["rates"]
        return log_zero(r).sum(axis=1) - self.X @ r.T

    def point(self, state, family):
        with np.errstate(divide="ignore"):
            means = 1 / (state["rates"] * family.data.scale.astype(LONG))[:, family.data.order]
        cells = np.log(means)
        return cells, 16 * 2.0**-53 * (1 + np.abs(cells)), *EMPTY


class Categorical(Separable):
    def parameters(self, mass, S, former):
        more = (self.dtype(self.problem.prior) if self.problem.prior else self.dtype(1)) - 1
        arrays = []
        for codes, n in zip(self.X.T, self.problem.n_categories, strict=True):
            counts = np.stack([mass[codes == label].sum(axis=0) for label in range(n)], axis=1) + more
            total = counts.sum(axis=1, keepdims=True)
            found = np.where(total > 0, counts / np.where(total > 0, total, 1), self.dtype(1) / n)
            if (codes < 0).any() and total.max() > 0:
                # what has no entry may be anything: the same as another component
                found[total[:, 0] <= 0] = found[np.argmax(total)]
            arrays.append(found)
        return {"probabilities": tuple(arrays)}

    def log_densities(self, state):
        pairs = zip(state["probabilities"], self.X.T, strict=True)
        return sum(np.where(codes[:, None] < 0, 0, log_zero(p).T[codes]) for p, codes in pairs)

    def penalty(self, state):
        if self.problem.prior is None:
            return self.dtype(0), self.dtype(0)
        alpha = LONG(self.problem.prior)
        terms = []
        for p in state["probabilities"]:
            K, n = p.shape
            terms += [K * n * log_gamma(alpha), -K * log_gamma(n * alpha), -x_log(alpha - 1, p).sum()]
        return sum(terms), sum(abs(term) for term in terms)

    def statistics(self, state):
        # labels that have a column: all, the second of two where no entry is missing, none of one or of no entry
        parts = []
        for codes, p in zip(self.X.T, state["probabilities"], strict=True):
            n, missing = p.shape[1], codes < 0
            first = n if missing.all() or n == 1 else 1 if n == 2 and not missing.any() else 0
            parts.append(p[:, first:])
        columns = np.hstack(parts)
        return columns if columns.shape[1] else np.zeros((self.K, 1), LONG)

    def read(self, solution):
        return {
            "weights": solution.weights.astype(self.dtype),
            "probabilities": tuple(p.astype(self.dtype) for p in solution.probabilities),
        }


def digamma(x):
    """The derivative of log Gamma, for x > 0."""
    x = np.asarray(x, dtype=LONG)
    shift = np.maximum(0, 32 - np.floor(np.minimum(x, 32))).astype(int)
    far, moved = x + shift, np.zeros_like(x)
    for i in range(int(shift.max(initial=0))):
        moved += np.where(i < shift, 1 / (x + i), 0)
    square = 1 / (far * far)
    series = square * (LONG(1) / 12 - square * (LONG(1) / 120 - square * (LONG(1) / 252 - square / 240)))
    return np.log(far) - 1 / (2 * far) - series - moved


class Gamma(Definition):
    """A shape and a rate in each column, shapes up to the largest."""

    def prepare(self):
        self.logs = np.log(self.X.astype(LONG)).astype(self.dtype)

    def parameters(self, mass, S, former):
        means = np.where(S[:, None] > 0, averages(mass, S, self.X), self.X[0])
        spreads = np.zeros_like(means)
        for k in np.flatnonzero(S > 0):
            spreads[k] = np.maximum(0, -(mass[:, k] @ np.log(self.X.astype(self.dtype) / means[k])) / S[k])
        return {"means": means, "spreads": spreads, "shapes": self.shapes(spreads)}

    def shapes(self, spreads):
        """By bisection of logarithms, between 1 / (2 v) and 1 / v."""
        most = LONG(self.problem.largest_shape)
        v = np.maximum(spreads.astype(LONG), 1 / (2 * most))
        low, high = np.log(1 / (2 * v)), np.log(1 / v)
        for _ in range(70 if self.dtype is LONG else 40):
            middle = (low + high) / 2
            above = middle - digamma(np.exp(middle)) > v
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.minimum(np.exp(low), most).astype(self.dtype)

    def log_densities(self, state):
        a, r = (state["shapes"].astype(LONG), state["shapes"].astype(LONG) / state["means"].astype(LONG))
        if "rates" in state:
            r = state["rates"].astype(LONG)
        terms = [
            (s * np.log(q) - log_gamma(s) + (s - 1) * self.logs - q * self.X).sum(axis=1)
            for s, q in zip(a, r, strict=True)
        ]
        return np.stack(terms, axis=1).astype(self.dtype)

    def sample_size(self, state):
        most = state["shapes"].max()
        return ((1 + most) * (1 + np.abs(self.logs))).sum(axis=1) * (1 + np.log1p(most))

    def read(self, solution):
        shapes, rates = solution.shapes.astype(self.dtype), solution.rates.astype(self.dtype)
        weights = solution.weights.astype(self.dtype)
        return {"weights": weights, "shapes": shapes, "rates": rates, "means": shapes / rates}

    def point(self, state, family):
        order, scale = np.asarray(family.data.order)[: self.d], np.asarray(family.data.scale)[: self.d].astype(LONG)
        means = np.log(state["means"].astype(LONG) / scale)[:, order]
        cells = np.hstack([means, state["spreads"].astype(LONG)[:, order]])
        # the core's logarithms are rounded
        size = 1 + np.abs(self.logs).max() + np.abs(np.log(scale)).max()
        return cells, 64 * 2.0**-53 * size * np.ones_like(cells), *EMPTY


class Multinomial(Separable):
    """Rows of counts given their totals."""

    def prepare(self):
        x = self.X.astype(LONG)
        totals = x.sum(axis=1)
        self.ways = (log_gamma(totals + 1) - log_gamma(x + 1).sum(axis=1)).astype(self.dtype)

    def parameters(self, mass, S, former):
        counts = mass.T @ self.X + ((self.dtype(self.problem.prior) if self.problem.prior else self.dtype(1)) - 1)
        total = counts.sum(axis=1, keepdims=True)
        found = np.where(total > 0, counts / np.where(total > 0, total, 1), self.dtype(1) / self.d)
        # a component without counts may be anything: the same as another one
        found[total[:, 0] <= 0] = found[np.argmax(total)]
        return {"probabilities": found}

    def log_densities(self, state):
        return self.ways[:, None] + np.stack([x_log(self.X, p).sum(axis=1) for p in state["probabilities"]], axis=1)

    def sample_size(self, state):
        return np.abs(self.ways) + self.X.sum(axis=1)

    def penalty(self, state):
        if self.problem.prior is None:
            return self.dtype(0), self.dtype(0)
        alpha, p = LONG(self.problem.prior), state["probabilities"]
        terms = [p.size * log_gamma(alpha), -self.K * log_gamma(self.d * alpha), -x_log(alpha - 1, p).sum()]
        return sum(terms), sum(abs(term) for term in terms)

    def statistics(self, state):
        return state["probabilities"]

    def read(self, solution):
        return {
            "weights": solution.weights.astype(self.dtype),
            "probabilities": solution.probabilities.astype(self.dtype),
        }


def least_squares(exact, mass):
    """The exact coefficients (q,) of rows of regressors and response, their sum of squares; all rows count a little."""
    shares = [Fraction(float(m)) + Fraction(float(mass.max())) / 2**200 for m in mass]
    q = len(exact[0]) - 1
    sums = [[sum(m * row[i] * row[j] for m, row in zip(shares, exact, strict=True)) for j in range(q + 1)]
            for i in range(q + 1)]  # fmt: skip
    rows = [row[:] for row in sums[:q]]
    for i in range(q):
        at = next(j for j in range(i, q) if rows[j][i])
        rows[i], rows[at] = rows[at], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(q):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    b = [row[-1] for row in rows]
    return b, sums[q][q] - sum(x * sums[i][q] for i, x in enumerate(b)), sum(shares)


class Regression(Definition):
    """Normal errors, of known variance or free above a floor; fits by normal equations in fractions."""

    def prepare(self):
        self.row_weights, X = self.w, self.X[:, : self.problem.regressors.shape[1]]
        columns = [X, np.ones((self.n, 1))] if self.problem.fit_intercept else [X]
        self.Z, self.y = np.hstack(columns).astype(self.dtype), self.X[:, -1].astype(self.dtype)
        self.is_tied = bool(self.problem.shared_names) and self.K > 1
        self.known = self.problem.noise_variance
        self.exact = [[Fraction(x) for x in row] for row in np.column_stack([*columns, self.X[:, -1]]).tolist()]

    def parameters(self, mass, S, former):
        exact, least = [], self.problem.variance_floor if self.known is None else self.known
        if self.dtype is not LONG:
            state = {"coefficients": np.zeros((self.K, self.Z.shape[1])), "variances": np.full(self.K, least)}
            for k in range(self.K):
                root = np.sqrt(mass[:, k] + 1e-12 * max(mass[:, k].max(), 1e-300))
                scale = np.abs(self.Z).max(axis=0)
                b = np.linalg.lstsq(root[:, None] * self.Z / scale, root * self.y, rcond=None)[0] / scale
                state["coefficients"][k] = b
                if self.known is None:
                    square = np.square(root * (self.y - self.Z @ b)).sum() / np.square(root).sum()
                    state["variances"][k] = max(least, square)
            if self.is_tied:
                state["variances"][:] = S @ state["variances"] / S.sum()
            return state
        variances, coefficients, residuals = [], [], []
        fits = [least_squares(self.exact, mass[:, k] if S[k] > 0 else self.row_weights) for k in range(self.K)]
        used = [fit for fit, s in zip(fits, S, strict=True) if s > 0]
        one = sum(squares for _, squares, _ in used) / sum(total for *_, total in used)
        for b, squares, total in fits:
            v = one if self.is_tied else squares / total
            exact.append((b, v))
            variances.append(max(long(v), LONG(least))
                             if self.known is None else LONG(least))
            coefficients.append([long(x) for x in b])
            residuals.append([long(row[-1] - sum(map(mul, b, row[:-1]))) for row in self.exact])
        return {
            "coefficients": np.array(coefficients), "variances": np.array(variances), "exact": exact,
            "residuals": np.array(residuals).T,
        }  # fmt: skip

    def log_densities(self, state):
        v, residuals = state["variances"], state.get("residuals")
        if residuals is None:
            residuals = self.y[:, None] - self.Z @ state["coefficients"].T
        return -(self.log_2_pi + np.log(v) + np.square(residuals) / v) / 2

    def sample_size(self, state):
        if "residuals" in state:
            return 0
        reach = np.abs(self.y)[:, None] + np.abs(self.Z) @ np.abs(state["coefficients"]).T
        return (reach * (reach + 1) / state["variances"]).max(axis=1)

    def read(self, solution):
        b = solution.coefficients
        if self.problem.fit_intercept:
            b = np.column_stack([b, solution.intercepts])
        one = solution.variance if self.known is None else self.known
        v = solution.variances if one is None else np.full(self.K, one)
        return {
            "weights": solution.weights.astype(self.dtype), "coefficients": b.astype(self.dtype),
            "variances": v.astype(self.dtype),
        }  # fmt: skip

    def point(self, state, family):
        design = family.design
        unit, cells = Fraction(design.unit), []
        for b, v in state["exact"]:
            values = zip(design.places, design.values, strict=True)
            cell = [long((sum(map(mul, place, b)) - value) / unit) for place, value in values]
            cells.append(cell + [long(v / unit**2)] * (self.known is None and not self.is_tied))
        cells, shared = np.array(cells), np.array([long(v / unit**2)] * self.is_tied, LONG)
        return cells, 2.0**-50 * np.abs(cells), shared, 2.0**-50 * shared


class Mixed(Definition):
    """Columns of different kinds, each of the samples that have an entry in it."""

    def prepare(self):
        self.seen = ~np.isnan(self.X)
        self.columns, floors = [], iter(self.problem.variance_floor.tolist())
        sizes = iter([len(labels) for labels in self.problem.categories])
        for j, kind in enumerate(self.problem.kinds):
            x = self.X[self.seen[:, j], j]
            origin = LONG(x[0]) if kind == "normal" else LONG(0)
            more = next(floors) if kind == "normal" else next(sizes) if kind in ("binary", "categorical") else None
            self.columns.append((kind, (x.astype(LONG) - origin).astype(self.dtype), origin, more))

    def parameters(self, mass, S, former):
        found = []
        for j, (kind, x, _, more) in enumerate(self.columns):
            m = mass[self.seen[:, j]]
            s = m.sum(axis=0)
            empty = ~(s > 0)
            m = np.where(empty, self.w[self.seen[:, j], None], m)  # may be anything: those of all samples
            s = m.sum(axis=0)
            mean = (m * x[:, None]).sum(axis=0) / s
            if kind == "normal":
                variance = (m * np.square(x[:, None] - mean)).sum(axis=0) / s
                found.append((mean, np.maximum(variance, self.dtype(more)), variance))
            elif kind in ("binary", "categorical"):
                found.append(np.stack([(m * (x == label)[:, None]).sum(axis=0) / s for label in range(more)], axis=1))
            else:
                found.append(mean)
        return {"columns": found}

    def log_densities(self, state):
        out = np.zeros((self.n, self.K), dtype=self.dtype)
        for j, ((kind, x, _, _), own) in enumerate(zip(self.columns, state["columns"], strict=True)):
            x = x[:, None]
            if kind == "normal":
                logs = -(np.square(x - own[0]) / own[1] + np.log(own[1]) + self.log_2_pi) / 2
            elif kind == "poisson":
                some = np.where(x > 0, x, 1).astype(LONG)
                base = np.where(x > 0, np.log(2 * PI * some) / 2 + stirling_error(some), 0)
                logs = -(excess(x, own) + base)
            elif kind == "exponential":
                logs = -log_zero(own) - x / own
            else:
                logs = log_zero(own).T[x[:, 0].astype(int)]
            out[self.seen[:, j]] += logs.astype(self.dtype)
        return out

    def sample_size(self, state):
        counts = [j for j, kind in enumerate(self.problem.kinds) if kind == "poisson"]
        return np.sqrt(np.where(self.seen, self.X, 0)[:, counts].astype(LONG)).sum(axis=1) + self.d

    def read(self, solution):
        found, normal, rates, labels = [], 0, 0, 0
        for kind, _, origin, _ in self.columns:
            if kind == "normal":
                v = solution.covariances[:, normal].astype(self.dtype)
                found.append(((solution.means[:, normal].astype(LONG) - origin).astype(self.dtype), v, v))
                normal += 1
            elif kind in ("binary", "categorical"):
                found.append(solution.probabilities[labels].astype(self.dtype))
                labels += 1
            else:
                rate = solution.rates[:, rates].astype(self.dtype)
                found.append(rate if kind == "poisson" else 1 / rate)
                rates += 1
        return {"weights": solution.weights.astype(self.dtype), "columns": found}

    def point(self, state, family):
        cells, errors = [], []
        for part, own in zip(self.problem.parts, factors_of(family), strict=True):
            data, found = own.data, [state["columns"][j] for j in part.columns]
            scale, order = data.scale.astype(LONG), data.order
            kind = self.columns[part.columns[0]][0]
            if kind == "normal":
                shift = np.array([self.columns[j][2] for j in part.columns]) - data.center.astype(LONG)
                reach = np.array([np.abs(self.columns[j][1]).max() for j in part.columns]) + np.abs(shift)
                m, v = (np.stack([column[i] for column in found], axis=1) for i in (0, 2))
                m, v, reach = ((m + shift) / scale)[:, order], (v / np.square(scale))[:, order], (reach / scale)[order]
                cells += [m, v]
                errors += [np.broadcast_to(8 * 2.0**-53 * reach, m.shape),
                           np.broadcast_to(2.0**-48 * np.square(reach), v.shape)]  # fmt: skip
                continue
            if kind in ("binary", "categorical"):
                whole = [self.seen[:, j].all() for j in part.columns]
                starts = [p.shape[1] if p.shape[1] == 1 else 1 if p.shape[1] == 2 and is_whole else 0
                          for p, is_whole in zip(found, whole, strict=True)]  # fmt: skip
                found = np.hstack([p[:, start:] for p, start in zip(found, starts, strict=True)])
                found = found if found.shape[1] else np.zeros((self.K, 1), LONG)
            else:
                found = np.stack(found, axis=1)
            found = (found / scale)[:, order]
            cells.append(np.log(found) if kind == "exponential" else found)
            errors.append(16 * 2.0**-53 * ((kind == "exponential") + np.abs(cells[-1])))
        return np.hstack(cells), np.hstack(errors), *EMPTY


def factors_of(family):
    """The families that a product of families is made of, those of partial columns without what is missing."""
    if hasattr(family, "second"):
        return [*factors_of(family.first), *factors_of(family.second)]
    return [getattr(family, "inner", family)]


class CountRegression(Definition):
    """Poisson and binomial responses; fits by Newton's method, of which `count_fits` says how exact they are."""

    def prepare(self):
        problem, used, self.row_weights = self.problem, self.problem.sample_weight > 0, self.w
        p, ones = problem.regressors.shape[1], np.ones((self.n, 1))
        self.Z = np.hstack([self.X[:, :p], ones] if problem.fit_intercept else [self.X[:, :p]]).astype(self.dtype)
        self.y, self.trials = self.X[:, -1].astype(self.dtype), problem.trials[used].astype(self.dtype)
        self.o, least = problem.offsets[used].astype(self.dtype), self.dtype(problem.least_count)
        self.is_poisson = problem.family == "poisson"
        self.counts = np.maximum(self.y, least)
        y, n = self.y.astype(LONG), self.trials.astype(LONG)
        norm = log_gamma(y + 1)
        if not self.is_poisson:
            self.counts = np.minimum(self.counts, self.trials - least)
            norm = norm + log_gamma(n - y + 1) - log_gamma(n + 1)
        self.norm = norm.astype(self.dtype)

    def mean(self, eta):
        with np.errstate(over="ignore"):
            return np.exp(eta) if self.is_poisson else self.trials / (1 + np.exp(-eta))

    def loss(self, mass, eta):
        with np.errstate(over="ignore"):
            A = np.exp(eta) if self.is_poisson else self.trials * np.logaddexp(0, eta)
        return (mass * (A - self.counts * eta)).sum()

    def fit(self, mass):
        """A component's best fit."""
        trials = [None] * len(self.y) if self.is_poisson else map(count_fits.exact, self.trials)
        least = count_fits.exact(self.problem.least_count)
        samples = []
        for z, o, y, n, w in zip(self.Z.tolist(), self.o, self.y, trials, self.row_weights, strict=True):
            count = max(count_fits.exact(y), least)
            count = count if n is None else min(count, n - least)
            samples.append((tuple(map(count_fits.exact, z)), count_fits.exact(o), count, n, count_fits.exact(w)))
        return count_fits.Best(samples, [count_fits.exact(m) for m in mass])

    def descend(self, mass, former):
        """Coefficients (q,) by Newton's method."""
        b = np.zeros(self.Z.shape[1], dtype=self.dtype) if former is None else former.copy()
        exactly = self.dtype is LONG
        for _ in range(60 if exactly or former is None else 3):
            eta = self.Z @ b + self.o
            mean = self.mean(eta)
            gradient = self.Z.T @ (mass * (mean - self.counts))
            spread = mean if self.is_poisson else mean * (1 - mean / self.trials)
            hessian = ((self.Z.T * (mass * spread)) @ self.Z).astype(float)
            if not np.isfinite(hessian).all():
                return np.zeros_like(b)
            scale = np.sqrt(np.maximum(np.diag(hessian), 1e-300))
            scaled = hessian / np.outer(scale, scale)
            step = -(np.linalg.lstsq(scaled, (gradient / scale).astype(float), rcond=None)[0] / scale)
            value, length = self.loss(mass, eta), self.dtype(1)
            while not self.loss(mass, self.Z @ (b + length * step) + self.o) <= value and length > 1e-9:
                length /= 2
            b = b + length * step
            if np.abs(step).max() <= (1e-17 if exactly else 1e-6) * (1 + np.abs(b).max()):
                break
        return b

    def parameters(self, mass, S, former):
        masses = [mass[:, k] if S[k] > 0 else self.row_weights for k in range(self.K)]
        if self.dtype is not LONG:
            starts = [None] * self.K if former is None else former["coefficients"]
            return {"coefficients": np.array([self.descend(*pair) for pair in zip(masses, starts, strict=True)])}
        fits, identity = [self.fit(m) for m in masses], np.eye(self.Z.shape[1], dtype=int).tolist()
        found = [fit.values([(row, 0) for row in identity]) for fit in fits]
        b = [self.descend(m, None) if pair is None else pair[0] for m, pair in zip(masses, found, strict=True)]
        return {"coefficients": np.array(b), "fits": fits}

    def log_densities(self, state):
        eta = self.Z @ state["coefficients"].T + self.o[:, None]
        with np.errstate(over="ignore"):
            A = np.exp(eta) if self.is_poisson else self.trials[:, None] * np.logaddexp(0, eta)
        return self.counts[:, None] * eta - A - self.norm[:, None]

    def sample_size(self, state):
        eta = np.abs(self.Z @ state["coefficients"].T + self.o[:, None])
        return (np.minimum(self.counts[:, None] * (1 + eta), 1e6) + np.abs(self.norm)[:, None]).max(axis=1)

    def read(self, solution):
        b = solution.coefficients
        if self.problem.fit_intercept:
            b = np.column_stack([b, solution.intercepts])
        return {"weights": solution.weights.astype(self.dtype), "coefficients": b.astype(self.dtype)}

    def point(self, state, family):
        design = family.design
        places, cells, errors = list(zip(design.places, design.values, strict=True)), [], []
        for b, fit in zip(state["coefficients"], state["fits"], strict=True):
            found = fit.values(places)
            if found is None:
                # the best ones of such a component are somewhere in the root
                cell = [sum(map(mul, map(long, place), b)) - long(value) for place, value in places]
                found = np.clip(np.array(cell), design.low, design.high), np.full(len(cell), np.inf)
            cells.append(found[0])
            errors.append(found[1] + 2.0**-50 * np.abs(found[0]))
        cells, errors = np.array(cells), np.array(errors)
        if np.isinf(errors).any():
            errors[:, 0] = np.inf  # where they are in the order nobody knows
        return cells, errors, *EMPTY


def stacked(Z, at, K):
    """Regressors of all components side by side (K n, m + K (q - m)): those whose coefficients are shared first."""
    Z = Z.astype(float)
    return np.column_stack([np.tile(Z[:, at], (K, 1)), np.kron(np.eye(K), np.delete(Z, at, axis=1))])


def unstacked(found, at, K):
    """Coefficients (K, q) of those of the stacked regressors."""
    own = found[len(at) :].reshape(K, -1)
    rows = np.empty((K, len(at) + own.shape[1]), dtype=found.dtype)
    rows[:, at], rows[:, np.delete(np.arange(rows.shape[1]), at)] = found[: len(at)], own
    return rows


class SharedRegression(Regression):
    """The same where components share coefficients: least squares of all at once, which need not be exact."""

    def parameters(self, mass, S, former):
        at, least = self.problem._all_shared, self.problem.variance_floor if self.known is None else self.known
        v = np.full(self.K, least, dtype=float) if former is None else former["variances"].astype(float)
        Z, y = stacked(self.Z, at, self.K), np.tile(self.y.astype(float), self.K)
        size = np.abs(Z).max(axis=0)
        root = np.sqrt((mass.astype(float) / v + 1e-12 * mass.max().astype(float) / v).T.ravel())
        found = np.linalg.lstsq(root[:, None] * Z / size, root * y, rcond=None)[0] / size
        b = unstacked(found, at, self.K).astype(self.dtype)
        squares = (mass * np.square(self.y[:, None] - self.Z @ b.T)).sum(axis=0)
        if self.known is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                v = np.full(self.K, squares.sum() / S.sum()) if self.problem.shared_names else squares / S
            v = np.maximum(np.where(S > 0, v, 0), self.dtype(least))
        return {"coefficients": b, "variances": v.astype(self.dtype)}

    def read(self, solution):
        if solution.variance is None:
            return super().read(solution)
        return super().read(dataclasses.replace(solution, variances=np.full(self.K, solution.variance)))


class SharedCountRegression(CountRegression):
    """The same where components share coefficients: Newton's method for all at once."""

    def parameters(self, mass, S, former):
        at, every = self.problem._all_shared, copy.copy(self)
        every.Z = stacked(self.Z, at, self.K).astype(self.dtype)
        every.o, every.counts, every.trials = (np.tile(part, self.K) for part in (self.o, self.counts, self.trials))
        start = None
        if former is not None:
            b = former["coefficients"]
            start = np.concatenate([b[0, at], np.delete(b, at, axis=1).ravel()])
        found = every.descend((mass + 1e-12 * self.row_weights[:, None]).T.ravel(), start)
        return {"coefficients": unstacked(found, at, self.K)}


class Grouped:
    """Regressions of which all rows of a group are of one component: samples are the groups, of which X has one row."""

    def prepare(self):
        super().prepare()
        labels, weights = self.X[:, int(self.problem.groups) - 1], self.problem.group_weight
        _, first, self.owner = np.unique(labels, return_index=True, return_inverse=True)
        self.row_weights = weights[self.problem.sample_weight > 0].astype(self.dtype)
        self.X, self.w, self.n = self.X[first], self.row_weights[first], len(first)
        self.W = self.w.sum()

    def over_rows(self, values):
        """Sums over each group's rows."""
        total = np.zeros((self.n, *values.shape[1:]), values.dtype)
        np.add.at(total, self.owner, values)
        return total

    def parameters(self, mass, S, former):
        mass = mass[self.owner]
        return super().parameters(mass, mass.sum(axis=0), former)

    def log_densities(self, state):
        return self.over_rows(super().log_densities(state))

    def sample_size(self, state):
        return self.over_rows(np.broadcast_to(super().sample_size(state), len(self.owner)).astype(LONG))


MODELS = {
    "GaussianMixture": Gaussian, "BernoulliMixture": Bernoulli, "PoissonMixture": Poisson,
    "ExponentialMixture": Exponential, "CategoricalMixture": Categorical,
    "LatentClass": Categorical, "GammaMixture": Gamma, "MultinomialMixture": Multinomial,
    "RegressionMixture": Regression, "CountRegressionMixture": CountRegression, "MixedMixture": Mixed,
}  # fmt: skip


def define(problem, dtype=LONG):
    """The Definition of a problem."""
    if getattr(problem, "noise", None) is not None:
        return Noisy(problem, dtype)
    model = MODELS[type(problem).__name__]
    if getattr(problem, "_shared_at", None) is not None:
        model = {Regression: SharedRegression, CountRegression: SharedCountRegression}[model]
    if getattr(problem, "groups", None) is not None:
        model = type(f"Grouped{model.__name__}", (Grouped, model), {})
    return model(problem, dtype)
