"""Gaussian mixtures: known component variance with or without a prior on the means, free variances, and noise.

Theory: (A3) of docs/theory/problem.md; (Z4) of docs/theory/products.md.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import Covariance, FloatArray, GaussianPrior, Posterior
from gopfast.errors import InputError
from gopfast.mixtures import floor_components
from gopfast.mixtures.data.squares import weighted_squares
from gopfast.mixtures.problems import gaussian_notes
from gopfast.mixtures.problems.base import MixtureProblem, average, log_zero
from gopfast.mixtures.problems.covariance import KINDS, LOG_2_PI, CovarianceKind, default_kind
from gopfast.mixtures.problems.covariance_names import named
from gopfast.mixtures.problems.floors import constant_columns, default_floors
from gopfast.mixtures.problems.gaussian_closed_form import free_variance, known_variance
from gopfast.mixtures.problems.tuning import LEAST_VARIANCE

IF_MISSING = "; gopfast.MixedMixture('normal', X, n_components) takes missing entries"

class GaussianMixture(MixtureProblem):
    """
    Gaussian mixture with known or with free component variances.

    Variances are estimated, one for each component and column ("diag"), unless `covariance` says otherwise, or a
    `prior`, a Gaussian posterior or a `noise_variance` names the model of the source, whose variances are known.

    *Known variance* (``covariance="known"``, the model of the source). A solver minimises the negative evidence
    lower bound (ELBO) without its constant, over the mixture weights pi, the means m_k, the responsibilities tau
    and, with ``prior="empirical"``, the prior variance Gamma = 1/e::

        f = 1/2 sum_i w_i sum_k tau_ik sum_j (x_ij - m_kj)^2 / v_j + sum_i w_i sum_k tau_ik log(tau_ik / pi_k)
            [ + e/2 sum_kj m_kj^2 - (K d / 2) log e ]        with a prior m_k ~ N(0, Gamma I)

    These are equations (24) and (28) and appendix A of the source, for d coordinates and weighted samples. With
    ``posterior="gaussian"`` (section 4 of the source) the mean of component k has the posterior
    ``N(m_k, diag(s_k))`` instead of a point mass, and f grows by::

        1/2 sum_kj (N_k / v_j + e) s_kj - 1/2 sum_kj log(2 pi_ e s_kj)      N_k = sum_i w_i tau_ik

    where the last ``e`` and ``pi_`` are the numbers. ``elbo_constant - f`` is the ELBO.

    *Free variances* (the other values of `covariance`). f is the negative log-likelihood with all its constants,
    over pi, m_k and the covariances C_k, which `variance_floor` bounds from below: without a floor a component
    on one sample has an unbounded likelihood.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, d)
        Data, finite real numbers; missing entries are for `gopfast.MixedMixture`.
    n_components : int
        Number of components K, from 1 to n.
    prior : None, "empirical" or float
        None: no prior (maximum likelihood). "empirical": Gamma is estimated within `prior_variance_bounds`.
        A positive number: Gamma itself, in squared units of X. Free variances take None only.
    posterior : {"point", "gaussian"}
        Form of the posterior of the means; "gaussian" needs a prior, and known variances.
    covariance : {"known", "spherical", "diag", "tied", "tied_diag", "tied_spherical", "full"}, optional
        "diag" by default; "known" with a prior, a Gaussian posterior or a `noise_variance`. "known": the latter. Free,
        with scikit-learn's names: one variance per component ("spherical"), one per component and coordinate ("diag"),
        one matrix that all components share ("tied"), or one matrix per component ("full"). "tied_diag": one variance
        per coordinate, shared by all components (a latent profile model); "tied_spherical": one variance shared by all
        components and coordinates. In one column "tied", "tied_diag" and "tied_spherical" coincide, and so do
        "spherical", "diag" and "full". `solve` takes "tied" and "full" for at most 32 columns; with more than two,
        bounds of "full" seldom close, and of "tied" only with two components. mclust's names
        are taken too: "EII" ("tied_spherical"), "VII" ("spherical"), "EEI" ("tied_diag"), "VVI" ("diag"), "EEE"
        ("tied"), "VVV" ("full"); in one column "E" ("tied") and "V" ("diag").
    noise_variance : float or array_like of shape (d,), optional
        Known variance v of every component, per coordinate, in squared units of X; 1 by default. Only for
        ``covariance="known"``.
    variance_floor : float or array_like of shape (d,), optional
        Lower bound of the free variances, in squared units of X; a number for "spherical" and "tied_spherical".
        "tied" and "full" have ``C - diag(floor)`` positive semidefinite. By default, per column, the square of 0.05
        standard deviations or, where components of local fits come near it, this divided by a power of 2, so that it
        is a quarter to an eighth of their least variance (of matrices in any direction); components of a few distinct
        rows or values, spikes, do not count. If that is larger it is the square of half the resolution: the least
        distance between distinct values, where all distances are multiples of it, as of counts and rounded data. A
        constant column, whose floor does not change the fit, takes the least floor of the others (1e-6 if there are
        none); "spherical" and "tied_spherical" take the least of the columns. It depends on `n_components`;
        `gopfast.select` and `gopfast.lrt` give all that they compare the least. Where a component sits on it, the
        result says so first, with what a smaller floor would give.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default.
    prior_variance_bounds : (float, float)
        Bounds of Gamma, in squared units of X; used by ``prior="empirical"`` only. The objective is unbounded
        as Gamma goes to 0 with all means 0, so that the lower bound is part of the model.
    covariance_type : str, optional
        Scikit-learn's name of `covariance`; give one of the two.
    noise : bool or float, optional
        True or a density: one more component, the last, of this constant density, for outliers; True stands for 1 over
        the volume of the smallest box that holds the data, as in mclust (where that may be a rotated box). Its weight
        is estimated. For covariance="known" without a prior, "diag" and "spherical".

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Read-only copy of the data.
    sample_weight : ndarray, shape (n,)
        Read-only.
    noise_variance : ndarray of shape (d,), or None
        Read-only; None for free variances.
    variance_floor : float, ndarray of shape (d,), or None
        The floor in use: a number for "spherical" and "tied_spherical", an array for "diag", "tied",
        "tied_diag" and "full"; None for "known".
    n_samples, n_features, n_components : int
        n, d and K.
    prior : None, "empirical" or float
    posterior, covariance : str
    prior_variance_bounds : (float, float)
    noise : float or None
        Density of the noise component in use, in units of 1 over those of X, multiplied over the columns.
    total_weight : float
        W, the sum of the sample weights.
    parameter_names : tuple of str
        Known variance: "means" (K, d), with a Gaussian posterior "posterior_variances" (K, d), and
        "prior_variance" (a float, None without a prior). Free: "means" and "covariances", the latter in the
        shapes of scikit-learn: "spherical" (K,), "diag" (K, d), "tied", "tied_diag" and "tied_spherical" (d, d),
        "full" (K, d, d).

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value; `InputTypeError` if it is of a wrong kind.

    References
    ----------
    Saddiki, Trapp & Flaherty, "A Deterministic Global Optimization Method for Variational Inference".

    Examples
    --------
    >>> from gopfast.models import GaussianMixture
    >>> GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    GaussianMixture(n_samples=4, n_features=1, n_components=2, prior='empirical', posterior='point')
    >>> GaussianMixture([-10, -10, 5, 25], 2, covariance="diag", variance_floor=0.5)
    GaussianMixture(n_samples=4, n_features=1, n_components=2, covariance='diag', variance_floor=array([0.5]))
    """

    noise_variance: FloatArray | None
    variance_floor: FloatArray | float | None
    prior: GaussianPrior
    covariance: Covariance
    prior_variance_bounds: tuple[float, float]
    noise: float | None = None
    _default_floor = False

    def __init__(
        self,
        X: ArrayLike,
        n_components: int,
        *,
        prior: GaussianPrior = None,
        posterior: Posterior = "point",
        covariance: Covariance | None = None,
        noise_variance: ArrayLike | None = None,
        variance_floor: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        prior_variance_bounds: tuple[float, float] = (1e-3, 1e6),
        covariance_type: Covariance | None = None,
        noise: bool | float | None = None,
    ) -> None:
        columns, X = checks.column_names(X), checks.data_matrix("X", X, if_missing=IF_MISSING)
        prior = _check_prior(prior)
        posterior = checks.choice("posterior", posterior, ("point", "gaussian"))
        if covariance_type is not None:
            if covariance is not None:
                refuse_two_names(covariance, covariance_type)
            covariance = named("covariance_type", covariance_type, X.shape[1])
        if covariance is None:
            covariance = default_kind(prior, posterior, noise_variance).name
        covariance = named("covariance", covariance, X.shape[1])
        kind = KINDS[covariance]
        if kind.estimated:
            _refuse_with_free_variances(covariance, prior, posterior, noise_variance)
        else:
            noise_variance = _per_column("noise_variance", 1.0 if noise_variance is None else noise_variance, X)
            if variance_floor is not None:
                raise InputError(
                    f"variance_floor must be None with covariance={covariance!r}: no variance is estimated"
                )
            if posterior == "gaussian" and prior is None:
                raise InputError("prior must be given with posterior='gaussian': it makes the means random variables")
        self._store(
            X,
            n_components,
            sample_weight,
            columns=columns,
            noise_variance=noise_variance,
            prior=prior,
            posterior=posterior,
            covariance=covariance,
            prior_variance_bounds=checks.positive_bounds("prior_variance_bounds", prior_variance_bounds),
            noise=None,
        )
        if noise is not None and noise is not False:
            self.__setstate__({"noise": self._noise_density(noise)})
        floor = self._check_floor(variance_floor, kind) if kind.estimated else None
        default = kind.estimated and variance_floor is None
        self.__setstate__({"variance_floor": floor, "_default_floor": default})
        self._check_magnitude()

    def _noise_density(self, noise):
        """Return the density of a noise component that is asked for."""
        if self.prior is not None or KINDS[self.covariance].shared or KINDS[self.covariance].free_form:
            allowed = ", ".join(repr(name) for name, kind in KINDS.items() if not (kind.shared or kind.free_form))
            raise InputError(
                f"noise must be None with a prior or covariance={self.covariance!r}: it is offered for components that "
                f"share no parameters, covariance={allowed}"
            )
        if noise is not True:
            return checks.positive_number("noise", noise)
        X = self.X[self.sample_weight > 0.0]
        with np.errstate(over="ignore"):
            volume = float(np.prod(np.ptp(X, axis=0)))
        if not 0.0 < volume < math.inf:
            raise InputError(
                "noise must be a density, a number: the smallest box that holds the data has no usable volume, as "
                "where a column is constant"
            )
        return 1.0 / volume

    def _enlarged(self, n_components):
        """Return the same model with more components, whose default floor may be lower."""
        larger = self._with(n_components=n_components)
        if not self._default_floor:
            return larger
        floor = larger._check_floor(None, KINDS[self.covariance])
        return with_least_floor([self, larger._with(variance_floor=floor)])[1]

    @property
    def kind(self) -> CovarianceKind:
        """What `covariance` means: shapes, floors, densities, families; for the package itself."""
        kind = KINDS[self.covariance]
        least = self.variance_floor if kind.estimated else self.noise_variance
        return kind(self.n_components, self.n_features, least)

    def _model_names(self):
        names = ("covariance", "variance_floor") if KINDS[self.covariance].estimated else ("prior", "posterior")
        return names if self.noise is None else (*names, "noise")

    @property
    def n_weights(self) -> int:
        """Number of mixture weights: K, or with a noise component one more, the last."""
        return self.n_components + (self.noise is not None)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters beside the weights."""
        if KINDS[self.covariance].estimated:
            return ("means", "covariances")
        return ("means", *["posterior_variances"] * (self.posterior == "gaussian"), "prior_variance")

    @property
    def shared_names(self) -> tuple[str, ...]:
        """Names of the parameters that belong to all components together."""
        return ("prior_variance", *["covariances"] * KINDS[self.covariance].shared)

    @property
    def n_parameters(self) -> int:
        """
        Number of free parameters: K - 1 weights, K d means, the free variances, and Gamma if it is estimated.

        The variances of a Gaussian posterior are no parameters of the model and do not count.
        """
        K, d = self.n_components, self.n_features
        return self.n_weights - 1 + K * d + self.kind.n_parameters + (self.prior == "empirical")

    @property
    def elbo_constant(self) -> float:
        """
        The additive constant that the source drops: ``elbo = elbo_constant - objective``.

        It is ``-(W/2) sum_j log(2 pi v_j)``, and with a prior also ``-(K d / 2) log(2 pi)``; 0 for free variances.
        """
        constant = self.total_weight * self._log_constant
        if self.prior is not None:
            constant -= 0.5 * self.n_components * self.n_features * LOG_2_PI
        return constant

    def best_prior_variance(
        self, means: ArrayLike, posterior_variances: ArrayLike | None = None
    ) -> float | None:
        """
        Compute the prior variance that is best for given means.

        Parameters
        ----------
        means : array_like, shape (K, d)
            Component means in units of X.
        posterior_variances : array_like, shape (K, d), optional
            Variances s of the posterior of the means, for ``posterior="gaussian"``.

        Returns
        -------
        float or None
            ``sum_kj (m_kj^2 + s_kj) / (K d)`` cut to `prior_variance_bounds`; the fixed Gamma; None without a
            prior.
        """
        if self.prior != "empirical":
            return self.prior
        squares = np.square(self._check_rows("means", means))
        if posterior_variances is not None:
            squares = squares + self._check_rows("posterior_variances", posterior_variances)
        return float(np.clip(squares.mean(), *self.prior_variance_bounds))

    def prior_variance_range(self) -> tuple[float, float]:
        """Return the range of Gamma: `prior_variance_bounds`, or twice the fixed Gamma."""
        return self.prior_variance_bounds if self.prior == "empirical" else (self.prior,) * 2

    # What the solver asks

    def _family(self):
        """Make the family of the kind of covariance, with noise a component more."""
        if self.noise is None:
            return self.kind.family(self)
        from gopfast.mixtures.families.noisy import NoisyFamily  # compiled, as problems are not

        return NoisyFamily(self.kind.family(self), self._log_noise)

    @property
    def _log_noise(self):
        """Logarithm of the noise's density, without the constant that the objective leaves out."""
        return math.log(self.noise) - self._log_constant

    def _samples(self, scale, squares=False):
        """
        Make the core's copy of the samples, with summaries where they are many.

        Parameters
        ----------
        scale : ndarray, shape (d,)
            Unit of each column, such as the standard deviation of a component.
        squares : bool
            Whether the squares of the coordinates are statistics too.
        """
        from gopfast.mixtures.data.samples import Samples  # compiled, as problems are not
        from gopfast.mixtures.data.summary import summarised

        return summarised(Samples(self.X, self.sample_weight, scale, squares=squares))

    def _record_of_proof(self):
        """Name the kind of covariance, with its known variances and prior or its floor, and the noise."""
        family = "posterior" if self.posterior == "gaussian" else self.kind.name_in_proofs
        record = {"family": family, "n_components": self.n_components}
        if self.noise is not None:
            record["noise"] = self.noise
        if self.kind.estimated:
            return {**record, "variance_floor": np.broadcast_to(self.variance_floor, self.n_features).tolist()}
        prior = None if self.prior is None else list(self.prior_variance_range())
        return {**record, "noise_variance": self.noise_variance.tolist(), "prior": prior}

    def _closed_form(self, X, w):
        """Match mean and variances, above the floor; with noise there is none."""
        if self.noise is not None:
            return None
        return (free_variance if self.kind.estimated else known_variance)(self, X, w)

    def _ceiling(self):
        """Take the density at the mean of a component on the floor; with known variance, squares and entropies of 0."""
        number = self.n_components * self.n_features
        if self.noise is not None:
            least = 0.0
            if self.kind.estimated:
                floor = np.broadcast_to(self.variance_floor, self.n_features)
                least = 0.5 * math.fsum(LOG_2_PI + math.log(value) for value in floor)
            return [self.total_weight * min(least, -self._log_noise)], self.total_weight * abs(least)
        if self.kind.estimated:
            floor = np.broadcast_to(self.variance_floor, self.n_features)
            return [0.5 * self.total_weight * (LOG_2_PI + math.log(value)) for value in floor], 0.0
        if self.prior is None:
            return [0.0], 0.0
        if self.posterior == "gaussian":
            # log(N / v + e) - log e >= 0 of each precision
            return [-0.5 * number * LOG_2_PI], 0.0
        return [0.5 * number * math.log(self.prior_variance_range()[0])], 0.0

    def _notes(self, solution, proved):
        """Tell of estimates on their bounds and of constant columns."""
        return gaussian_notes.notes(self, solution, proved)

    def _caution(self, solution):
        """Tell of components that are spikes on few distinct values."""
        return floor_components.caution(self, solution) if self.kind.estimated else ""

    def _checked_start(self, **given):
        """Check shapes; means are enough, and covariances below the floor are raised to it."""
        found = {name: self._check_rows(name, value) for name, value in given.items() if name != "covariances"}
        if "covariances" in given:
            array = checks.real_array("covariances", given["covariances"])
            found["covariances"] = self.kind.raised(checks.of_shape("covariances", array, self.kind.shape))
        return found

    def _coordinates(self, blocks):
        """Take means in deviations, and variances or matrices above their floor; the prior variance is eliminated."""
        if self.noise is not None:
            raise InputError("problem must have noise=None for a gradient method; EM takes it")
        found = {"means": blocks.Means(self)}
        if self.posterior == "gaussian":
            found["posterior_variances"] = blocks.PosteriorVariances(self)
        if self.kind.estimated:
            found["covariances"] = (blocks.Matrices if self.kind.free_form else blocks.Variances)(self)
        return found

    def _pseudo_samples(self):
        """Count the precision of a prior as so many samples at 0."""
        if self.prior is None:
            return super()._pseudo_samples()
        weights = self.n_components * self.noise_variance[np.newaxis] / self.prior_variance_range()[0]
        return np.zeros((1, self.n_features)), weights

    def _point_variances(self, share, centred):
        return super()._point_variances(share, centred) if self.kind.estimated else self.noise_variance

    _most_columns_drawn = 2

    def _column_log_densities(self, column, values, means, covariances=None, **others):
        mean, variance = means[:, column, np.newaxis], self.kind.variances(covariances)[:, column, np.newaxis]
        logs = -0.5 * (np.square(values - mean) / variance + np.log(2.0 * np.pi * variance))
        if self.noise is None:
            return logs
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        others = np.delete(high - low, column)  # noise is drawn in the data's box
        level = math.log(self.noise) + float(log_zero(others).sum())
        return np.vstack([logs, np.where((values >= low[column]) & (values <= high[column]), level, -np.inf)])

    @property
    def _can_sit_on_ties(self):
        return self.kind.estimated and not self.kind.shared

    # Parameters

    def _check_values(self, means, *others):
        means = self._check_rows("means", means)
        if self.kind.estimated:
            return means, self.kind.checked(*others)
        *variances, prior_variance = others
        variances = [
            checks.positive_array("posterior_variances", self._check_rows("posterior_variances", value))
            for value in variances
        ]
        return means, *variances, self._check_prior_variance(prior_variance, means, *variances)

    def _check_prior_variance(self, value, means, *variances):
        if value is None:
            return self.best_prior_variance(means, *variances)
        value = checks.positive_number("prior_variance", value)
        # Not tested for equality: a solver that works with 1 / Gamma gives back a rounded Gamma.
        if self.prior != "empirical" and not (self.prior and math.isclose(value, self.prior)):
            raise InputError(f"prior_variance must be None or agree with prior={self.prior!r}; got {value:g}")
        return value

    def _constant_columns(self):
        """Return the indices of the columns without spread in the samples of positive weight."""
        return np.flatnonzero(constant_columns(self.X, self.sample_weight))

    # Likelihood

    @property
    def _log_constant(self):
        """What every log density has and the objective leaves out."""
        return 0.0 if self.noise_variance is None else -0.5 * float(np.log(2.0 * np.pi * self.noise_variance).sum())

    def _log_kernel(self, parameters):
        kernel = self.kind.log_densities(self.X, parameters["means"], parameters.get("covariances"))
        if self.posterior == "gaussian":
            kernel -= 0.5 * (parameters["posterior_variances"] / self.noise_variance).sum(axis=1)
        if self.noise is not None:
            kernel = np.column_stack([kernel, np.full(len(kernel), self._log_noise)])
        return kernel

    def _penalty(self, parameters):
        """Return ``e/2 sum (m^2 + s) - (K d / 2) log e - 1/2 sum log(2 pi_ e s)``, or 0 without a prior."""
        if self.prior is None:
            return 0.0
        means, precision = parameters["means"], 1.0 / parameters["prior_variance"]
        cost = 0.5 * precision * float(np.square(means).sum()) - 0.5 * means.size * math.log(precision)
        if self.posterior == "gaussian":
            s = parameters["posterior_variances"]
            cost += 0.5 * float((precision * s - np.log(s) - LOG_2_PI - 1.0).sum())
        return cost

    def _rows_like(self, X):
        """Check numbers."""
        return checks.of_columns("X", checks.data_matrix("X", X, if_missing=IF_MISSING), self.n_features)

    def _draw(self, rng, components, parameters):
        normal = rng.standard_normal((len(components), self.n_features))
        factors = np.linalg.cholesky(self.kind.matrices(parameters.get("covariances")))
        own = np.minimum(components, self.n_components - 1)
        drawn = parameters["means"][own] + np.einsum("iab,ib->ia", factors[own], normal)
        if self.noise is None:
            return drawn
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        anywhere = rng.uniform(low, high, drawn.shape)
        return np.where((components == self.n_components)[:, np.newaxis], anywhere, drawn)

    # M step

    def _m_step(self, mass, weights, former):
        if not self.kind.estimated:
            return self._m_step_known(mass, former)
        means = average(mass, self.X)
        return {"means": means, "covariances": self.kind.best(self.X, mass, weights, means)}

    def _m_step_known(self, mass, former):
        """One step in (means, posterior variances) at the former Gamma, then one in Gamma."""
        size, total = mass.sum(axis=0)[:, np.newaxis], mass.T @ self.X
        prior_variance = former["prior_variance"] if former else self.prior
        if prior_variance == "empirical":
            used = np.divide(total, size, out=np.zeros_like(total), where=size > 0.0)
            prior_variance = self.best_prior_variance(used)
        precision = size / self.noise_variance + (0.0 if prior_variance is None else 1.0 / prior_variance)
        found = {"means": total / self.noise_variance / precision}
        if self.posterior == "gaussian":
            found["posterior_variances"] = 1.0 / precision
        return {**found, "prior_variance": self.best_prior_variance(*found.values())}

    # Checks of the constructor's arguments

    def _check_floor(self, value, kind):
        if value is None:
            make_kind = partial(kind.of_columns, self.n_components)
            return make_kind(default_floors(self.X, self.sample_weight, make_kind), np.ptp(self.X, axis=0)).least
        if kind.floor_per_column:
            return _per_column("variance_floor", value, self.X)
        return checks.positive_number("variance_floor", value)

    def _check_magnitude(self):
        """Reject data whose variances underflow or whose weighted sum of squares overflows: nothing can be computed."""
        kind = self.kind
        name, least = kind.least_name, np.min(kind.least)
        if least < LEAST_VARIANCE:
            raise InputError(f"{name} must be at least {LEAST_VARIANCE:g}; it is {least:g}: give X in a smaller unit")
        with np.errstate(over="ignore", invalid="ignore"):
            squares = weighted_squares(self.X, self.sample_weight, variance=kind.least)
            total = self.total_weight + float(squares.sum())
        # 0 * inf is NaN, hence the test for finite rather than for infinite.
        if not np.isfinite(total):
            raise InputError(f"X is too large: the sum of sample_weight * X^2 / {name} overflows")
        kind.check_range(self.X)


def with_least_floor(problems) -> list[GaussianMixture]:
    """Return mixtures that are compared with one floor, the least of all, where each has the default one of its own."""
    if not all(problem._default_floor and problem.variance_floor is not None for problem in problems):
        return list(problems)  # the floor of data in chunks is not known before they are read
    least = np.minimum.reduce([problem.variance_floor for problem in problems])
    floor = least if least.ndim else float(least)
    return [problem._with(variance_floor=floor) for problem in problems]


def refuse_two_names(covariance, covariance_type):
    """Raise for an argument given twice."""
    raise InputError(
        f"covariance and covariance_type are two names of one argument: give one; got {covariance!r} and "
        f"{covariance_type!r}"
    )


def _per_column(name, value, X):
    """Check a positive number or one for each column; return an array of shape (d,)."""
    array = checks.real_array(name, value)
    if array.ndim == 0:
        array = np.full(X.shape[1], float(array))
    if array.shape != (X.shape[1],):
        raise InputError(f"{name} must be a number or have shape ({X.shape[1]},); got shape {array.shape}")
    return checks.positive_array(name, array)


def _check_prior(prior):
    if prior is None:
        return None
    if isinstance(prior, str):
        if prior != "empirical":
            raise InputError(f"prior must be None, 'empirical' or a positive variance; got {prior!r}")
        return prior
    return checks.positive_number("prior", prior)


def _refuse_with_free_variances(covariance, prior, posterior, noise_variance):
    """Raise for arguments that only make sense with known variances."""
    model = f"covariance={covariance!r}"
    if noise_variance is not None:
        raise InputError(
            f"noise_variance must be None with {model}: the variances are estimated; see variance_floor"
        )
    if prior is not None:
        raise InputError(f"prior must be None with {model}: a prior on the means is offered for known variances only")
    if posterior != "point":
        raise InputError(f"posterior must be 'point' with {model}: a Gaussian posterior needs a prior on the means")
