"""Gaussian components with covariance matrices: core coordinates, their samples, the means' average, the user's units.

The core sees z = axes (x - center), and with `families.axes` what its rounding may cost. A mean m and a covariance C in
its coordinates are center + axes^-1 m and axes^-1 C axes^-T in the user's.

Theory: (R5) of docs/theory/rounding.md.
"""

import numpy as np

from gopfast.mixtures.families.axes import coordinates
from gopfast.mixtures.data.samples cimport Samples
from gopfast.mixtures.families.balance cimport Balance
from gopfast.mixtures.families.margins cimport DERIVED_SLACK, SUM_ROUNDING
from gopfast.mixtures.families.variance cimport bhatia_davis


cdef class AffineFamily(Family):
    """Components with covariance matrices, at least the floor in the Loewner order.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    sample_weight : ndarray, shape (n,)
    n_components : int
    floor : ndarray, shape (d,)
        Least variances, in squared units of X.
    axes : ndarray, shape (d, d)
        Core coordinates are ``axes @ (x - center)``. The bounds hold for any; they are best where covariances are about
        diagonal (where all share one, the unit matrix) and the first coordinate tells the components apart.
    """

    @property
    def frame(self):
        """Axes along which covariances are about diagonal."""
        return self.axes

    cdef object set_up(self, X, sample_weight, int n_components, floor, axes, bint about_average):
        used = sample_weight > 0
        X, weights = X[used], np.ascontiguousarray(sample_weight[used])
        self.axes, self.d = np.ascontiguousarray(axes, dtype=np.float64), <int> len(axes)
        self.center = 0.5 * X.min(axis=0) + 0.5 * X.max(axis=0)
        if about_average:  # a constant column is 0 everywhere
            self.center = np.clip(np.average(X, axis=0, weights=weights), X.min(axis=0), X.max(axis=0))
        found = coordinates(X, weights, self.center, self.axes, floor)
        self.n_components, self.has_prior, self.e_power = n_components, False, 0.0
        self.set_constant(found.constant, found.error)
        self.low, self.high = found.columns.min(axis=1), found.columns.max(axis=1)
        self.balance, self.suggestion = Balance(n_components), None
        return found, weights

    cdef object fill(self, columns, weights, bint squares):
        cdef Samples data = Samples.__new__(Samples)
        n_columns = <int> len(columns)
        data.fill(columns, weights, squares, np.zeros(n_columns), 0.0)
        self.data, self.n_columns, self.n_statistics = data, n_columns, n_columns * (2 if squares else 1)
        own = columns[:self.d]
        self.average = (weights * own).sum(axis=1) / data.total_weight
        self.average_error = SUM_ROUNDING * (weights * np.abs(own)).sum(axis=1) / data.total_weight

    cdef real largest_variance(self, int j, real low, real high) noexcept nogil:
        return bhatia_davis(self.low[j], self.high[j], low, high) * (1 + DERIVED_SLACK)

    cdef bint balance_means(self, int j, real *low, real *high) noexcept nogil:
        """Widened by its error, the boxes hold means that average to the computed average."""
        cdef int k, a
        cdef real error = self.average_error[j]
        for k in range(self.n_components):
            a = k * self.n_cell + j
            self.balance.mean_low[k], self.balance.mean_high[k] = low[a] - error, high[a] + error
        if not self.balance.tighten(self.data.core.total_weight, 0, self.average[j]):
            return 0
        for k in range(self.n_components):
            a = k * self.n_cell + j
            low[a] = max(low[a], self.balance.mean_low[k] - 2 * error)
            high[a] = min(high[a], self.balance.mean_high[k] + 2 * error)
            if low[a] > high[a]:
                return 0
        return 1

    def metric(self):
        """Weights (n_columns,) of the columns in the squared distance that starts are drawn by; 0 for products."""
        weights = Family.metric(self)
        weights[self.d:] = 0.0
        return weights

    def places(self, columns, weights, bint as_given=False):
        """The user's columns in units of their spread: along the axes noise is as wide as what tells clusters apart.

        Or as given, where some may matter more than others.
        """
        places = np.linalg.solve(self.axes, columns[:self.d])
        if as_given:
            return places
        spread = np.average(np.square(places - np.average(places, axis=1, weights=weights)[:, np.newaxis]), axis=1,
                            weights=weights)
        return places / np.sqrt(np.where(spread > 0, spread, 1.0))[:, np.newaxis]

    def suggest(self, weights, means, covariances):
        """Take a fit in the user's units that local searches may start from; returns the family."""
        self.suggestion = np.concatenate([weights, self.pack(means, covariances)])
        return self

    def suggested(self):
        """Weights (K,) and parameters (n_connected,) of a fit that is known, in one array, or None."""
        return self.suggestion

    # The user's coordinates

    def covariances(self, vector):
        """Covariances (K, d, d) of a solution, or the shared (d, d), at or above the floor, in core coordinates."""
        raise NotImplementedError

    def pack_covariances(self, covariances, point):
        """Write covariances (K, d, d), or the shared (d, d), in core coordinates into parameters (n_connected,)."""
        raise NotImplementedError

    def parameters(self, vector):
        """Means (K, d) and covariances in the user's units: (K, d, d), or the shared (d, d)."""
        K = self.n_components
        means = np.asarray(vector)[K:K + K * self.n_cell].reshape(K, self.n_cell)[:, :self.d]
        inverse = np.linalg.inv(self.axes)
        covariances = inverse @ self.covariances(vector) @ inverse.T
        transposed = np.swapaxes(covariances, covariances.ndim - 2, covariances.ndim - 1)
        return {"means": means @ inverse.T + self.center, "covariances": 0.5 * (covariances + transposed)}

    def pack(self, means, covariances=None):
        """Connected variables (n_connected,) of the user's means and covariances."""
        cdef real[::1] centers, point = np.empty(self.n_connected)
        columns = np.zeros((self.n_components, self.n_columns))
        columns[:, :self.d] = (np.asarray(means, dtype=np.float64) - self.center) @ self.axes.T
        centers = columns.ravel()
        self.seed(&centers[0], &point[0])
        if covariances is not None:
            self.pack_covariances(self.axes @ np.asarray(covariances, dtype=np.float64) @ self.axes.T, point)
        return np.asarray(point)
