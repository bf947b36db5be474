"""Gaussian mixtures whose component variance is known."""

import math
from dataclasses import dataclass

import numpy as np

from gopfast import _checks
from gopfast.errors import InputError

# Weights on the simplex are sums of n rounded terms; anything further off is a mistake of the caller.
SIMPLEX_TOL = 1e-8


@dataclass(frozen=True, init=False, repr=False, eq=False)
class GaussianMixture:
    """
    Gaussian mixture with known component variance, with or without a prior on the means.

    A solver minimises the negative evidence lower bound (ELBO) without its constant, over the mixture
    weights pi, the means m_k, the responsibilities tau and, with ``prior="empirical"``, the prior variance
    Gamma = 1/e::

        f = 1/2 sum_i w_i sum_k tau_ik sum_j (x_ij - m_kj)^2 / v_j + sum_i w_i sum_k tau_ik log(tau_ik / pi_k)
            [ + e/2 sum_kj m_kj^2 - (K d / 2) log e ]        with a prior m_k ~ N(0, Gamma I)

    These are equations (24) and (28) and appendix A of the source, for d coordinates and weighted samples.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, d)
        Data, finite real numbers.
    n_components : int
        Number of components K, from 1 to n.
    prior : None, "empirical" or float
        None: no prior (maximum likelihood). "empirical": Gamma is estimated within `prior_variance_bounds`.
        A positive number: Gamma itself, in squared units of X.
    posterior : {"point", "gaussian"}
        Form of the posterior of the means; "gaussian" is not implemented yet.
    noise_variance : float or array_like of shape (d,)
        Known variance v of every component, per coordinate, in squared units of X.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default.
    prior_variance_bounds : (float, float)
        Bounds of Gamma, in squared units of X; used by ``prior="empirical"`` only. The objective is unbounded
        as Gamma goes to 0 with all means 0, so that the lower bound is part of the model.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Read-only copy of the data.
    sample_weight : ndarray, shape (n,)
        Read-only.
    noise_variance : ndarray, shape (d,)
        Read-only.
    n_samples, n_features, n_components : int
        n, d and K.
    prior : None, "empirical" or float
    posterior : str
    prior_variance_bounds : (float, float)
    total_weight : float
        W, the sum of the sample weights.

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value; `InputTypeError` if it is of a wrong kind.
    NotImplementedError
        For ``posterior="gaussian"``.

    References
    ----------
    Saddiki, Trapp & Flaherty, "A Deterministic Global Optimization Method for Variational Inference".

    Examples
    --------
    >>> from gopfast.models import GaussianMixture
    >>> GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    GaussianMixture(n_samples=4, n_features=1, n_components=2, prior='empirical', posterior='point')
    """

    X: np.ndarray
    sample_weight: np.ndarray
    noise_variance: np.ndarray
    n_samples: int
    n_features: int
    n_components: int
    prior: str | float | None
    posterior: str
    prior_variance_bounds: tuple[float, float]
    total_weight: float

    def __init__(
        self,
        X,
        n_components,
        *,
        prior=None,
        posterior="point",
        noise_variance=1.0,
        sample_weight=None,
        prior_variance_bounds=(1e-3, 1e6),
    ):
        data = _check_data(X)
        n_samples, n_features = data.shape
        weight = _check_sample_weight(sample_weight, n_samples)
        variance = _check_noise_variance(noise_variance, n_features)
        _check_magnitude(data, weight, variance)
        checked = {
            "X": data,
            "sample_weight": weight,
            "noise_variance": variance,
            "n_samples": n_samples,
            "n_features": n_features,
            "n_components": _checks.whole_number("n_components", n_components, 1, n_samples),
            "prior": _check_prior(prior),
            "posterior": _check_posterior(posterior),
            "prior_variance_bounds": _checks.positive_bounds("prior_variance_bounds", prior_variance_bounds),
            "total_weight": float(weight.sum()),
        }
        self.__setstate__(checked)

    def __setstate__(self, state):
        """Set every attribute; arrays become read-only, which pickling forgets."""
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)

    def __repr__(self):
        """Return the sizes and the model, not the data."""
        return (
            f"GaussianMixture(n_samples={self.n_samples}, n_features={self.n_features}, "
            f"n_components={self.n_components}, prior={self.prior!r}, posterior={self.posterior!r})"
        )

    @property
    def elbo_constant(self) -> float:
        """
        The additive constant that the paper drops: ``elbo = elbo_constant - objective``.

        It is ``-(W/2) sum_j log(2 pi v_j)``, and with a prior also ``-(K d / 2) log(2 pi)``.
        """
        constant = -0.5 * self.total_weight * float(np.log(2.0 * np.pi * self.noise_variance).sum())
        if self.prior is not None:
            constant -= 0.5 * self.n_components * self.n_features * math.log(2.0 * math.pi)
        return constant

    def objective(self, weights, means, prior_variance=None, responsibilities=None) -> float:
        """
        Evaluate the objective f, in plain NumPy and independently of the solver.

        Parameters
        ----------
        weights : array_like, shape (K,)
            Mixture weights pi, at least 0, summing to 1.
        means : array_like, shape (K, d)
            Component means in units of X; shape (K,) is taken too if d is 1.
        prior_variance : float, optional
            Gamma. By default the fixed one, or with ``prior="empirical"`` the best one within its bounds.
        responsibilities : array_like, shape (n, K), optional
            Rows on the simplex. By default the optimal ones, with which
            ``f = -sum_i w_i log sum_k pi_k exp(-sum_j (x_ij - m_kj)^2 / (2 v_j))`` plus the prior's terms.

        Returns
        -------
        float
            f, in nats; infinite if a responsibility is positive where the weight is 0.

        Raises
        ------
        InputError
            If an argument has a wrong shape or is off its simplex, or `prior_variance` contradicts the model.
        """
        weights = self._check_weights(weights)
        means = self._check_means(means)
        half_squares = half_squared_distances(self.X, means, self.noise_variance)
        if responsibilities is None:
            cost = -log_sum_exp(log_zero(weights) - half_squares)
        else:
            tau = self._check_responsibilities(responsibilities)
            cost = (tau * half_squares + relative_entropy(tau, weights)).sum(axis=1)
        return float(self.sample_weight @ cost) + self._prior_cost(means, prior_variance)

    def elbo(self, weights, means, prior_variance=None, responsibilities=None) -> float:
        """
        Evaluate the ELBO with all its constants, ``elbo_constant - objective``; arguments as `objective`.

        Without a prior and with the optimal responsibilities it is the log-likelihood.
        """
        return self.elbo_constant - self.objective(weights, means, prior_variance, responsibilities)

    def responsibilities(self, weights, means) -> np.ndarray:
        """
        Compute the optimal responsibilities (the E-step).

        Parameters
        ----------
        weights : array_like, shape (K,)
            Mixture weights, at least 0, summing to 1.
        means : array_like, shape (K, d)
            Component means in units of X.

        Returns
        -------
        ndarray, shape (n, K)
            ``tau_ik`` proportional to ``pi_k exp(-sum_j (x_ij - m_kj)^2 / (2 v_j))``, rows summing to 1.

        Raises
        ------
        InputError
            If an argument has a wrong shape or `weights` is off the simplex.
        """
        return e_step(self.X, self._check_weights(weights), self._check_means(means), self.noise_variance)

    def best_prior_variance(self, means) -> float | None:
        """
        Compute the prior variance that is best for given means.

        Parameters
        ----------
        means : array_like, shape (K, d)
            Component means in units of X.

        Returns
        -------
        float or None
            ``sum_kj m_kj^2 / (K d)`` cut to `prior_variance_bounds`; the fixed Gamma; None without a prior.
        """
        if self.prior != "empirical":
            return self.prior
        means = self._check_means(means)
        return float(np.clip(np.square(means).mean(), *self.prior_variance_bounds))

    def _prior_cost(self, means, prior_variance):
        """Return ``e/2 sum m^2 - (K d / 2) log e`` with ``e = 1 / Gamma``, or 0 without a prior."""
        if prior_variance is not None:
            prior_variance = _checks.positive_number("prior_variance", prior_variance)
            # Not tested for equality: a solver that works with 1 / Gamma gives back a rounded Gamma.
            agrees = self.prior == "empirical" or (self.prior and math.isclose(prior_variance, self.prior))
            if not agrees:
                raise InputError(
                    f"prior_variance must be None or agree with prior={self.prior!r}; got {prior_variance:g}"
                )
        if self.prior is None:
            return 0.0
        if prior_variance is None:
            prior_variance = self.best_prior_variance(means)
        precision = 1.0 / prior_variance
        return 0.5 * precision * float(np.square(means).sum()) - 0.5 * means.size * math.log(precision)

    def _check_weights(self, weights):
        weights = _checks.real_array("weights", weights)
        _check_shape("weights", weights, (self.n_components,))
        _check_simplex("weights", weights)
        return weights

    def _check_means(self, means):
        means = _checks.real_array("means", means)
        if self.n_features == 1 and means.ndim == 1:
            means = means[:, np.newaxis]
        _check_shape("means", means, (self.n_components, self.n_features))
        return means

    def _check_responsibilities(self, responsibilities):
        tau = _checks.real_array("responsibilities", responsibilities)
        _check_shape("responsibilities", tau, (self.n_samples, self.n_components))
        _check_simplex("responsibilities", tau)
        return tau


def half_squared_distances(X, means, noise_variance):
    """
    Compute ``sum_j (x_ij - m_kj)^2 / (2 v_j)`` for every sample and component.

    Parameters
    ----------
    X : ndarray, shape (n, d)
        Data.
    means : ndarray, shape (K, d)
        Component means.
    noise_variance : ndarray, shape (d,)
        Variances v.

    Returns
    -------
    ndarray, shape (n, K)
    """
    # Differences first, squares second: expanding the square loses all digits for data far from zero.
    return np.stack([0.5 * (np.square(X - mean) / noise_variance).sum(axis=1) for mean in means], axis=1)


def e_step(X, weights, means, noise_variance):
    """
    Compute the optimal responsibilities of a Gaussian mixture; arguments as `half_squared_distances`.

    Returns
    -------
    ndarray, shape (n, K)
        Rows sum to 1; columns of components without weight are 0.
    """
    scores = log_zero(weights) - half_squared_distances(X, means, noise_variance)
    return np.exp(scores - log_sum_exp(scores)[:, np.newaxis])


def log_sum_exp(scores):
    """Compute ``log sum_k exp(scores_ik)`` for scores of shape (n, K), one finite score per row at least."""
    largest = scores.max(axis=1)
    return largest + np.log(np.exp(scores - largest[:, np.newaxis]).sum(axis=1))


def relative_entropy(tau, weights):
    """Compute ``tau_ik log(tau_ik / pi_k)`` with ``0 log 0 = 0``; infinite where only pi_k is 0."""
    with np.errstate(divide="ignore"):
        ratio = np.divide(tau, weights, out=np.ones_like(tau), where=tau > 0.0)
    return tau * np.log(ratio)


def log_zero(values):
    """Logarithm with ``log 0 = -inf`` and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def _check_data(X):
    data = _checks.real_array("X", X)
    if data.ndim == 1:
        data = data[:, np.newaxis]
    if data.ndim != 2:
        raise InputError(f"X must have shape (n,) or (n, d); got {data.ndim} dimensions")
    if data.shape[0] == 0 or data.shape[1] == 0:
        raise InputError(f"X must have at least one row and one column; got shape {data.shape}")
    return data


def _check_sample_weight(sample_weight, n_samples):
    if sample_weight is None:
        return np.ones(n_samples)
    weight = _checks.real_array("sample_weight", sample_weight)
    _check_shape("sample_weight", weight, (n_samples,))
    if weight.min() < 0.0:
        raise InputError(f"sample_weight must be at least 0; its least entry is {weight.min():g}")
    if weight.max() == 0.0:
        raise InputError("sample_weight must have a positive entry; all are 0")
    return weight


def _check_noise_variance(noise_variance, n_features):
    variance = _checks.real_array("noise_variance", noise_variance)
    if variance.ndim == 0:
        variance = np.full(n_features, float(variance))
    if variance.shape != (n_features,):
        raise InputError(
            f"noise_variance must be a number or have shape ({n_features},); got shape {variance.shape}"
        )
    if variance.min() <= 0.0:
        raise InputError(f"noise_variance must be positive; its least entry is {variance.min():g}")
    return variance


def _check_magnitude(data, weight, variance):
    """Reject data whose weighted sum of squares overflows: no bound could be computed from it."""
    with np.errstate(over="ignore"):
        total = weight.sum() + weight @ (np.square(data) / variance).sum(axis=1)
    # 0 * inf is NaN, hence the test for finite rather than for infinite.
    if not np.isfinite(total):
        raise InputError("X is too large: the sum of sample_weight * X^2 / noise_variance overflows")


def _check_prior(prior):
    if prior is None:
        return None
    if isinstance(prior, str):
        if prior != "empirical":
            raise InputError(f"prior must be None, 'empirical' or a positive variance; got {prior!r}")
        return prior
    return _checks.positive_number("prior", prior)


def _check_posterior(posterior):
    _checks.choice("posterior", posterior, ("point", "gaussian"))
    if posterior == "gaussian":
        raise NotImplementedError("posterior='gaussian' is not implemented yet; use posterior='point'")
    return posterior


def _check_shape(name, array, shape):
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}; got {array.shape}")


def _check_simplex(name, array):
    if array.min() < 0.0:
        raise InputError(f"{name} must be at least 0; the least entry is {array.min():g}")
    error = np.abs(array.sum(axis=-1) - 1.0).max()
    if error > SIMPLEX_TOL:
        raise InputError(f"{name} must sum to 1; off by {error:.3g}")
