"""Gaussian mixtures of data that need not fit into memory: one column, known variance."""

import math

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import FloatArray, ParameterLike
from gopfast.errors import InputError
from gopfast.mixtures.problems.base import log_sum_exp, log_zero
from gopfast.mixtures.problems.gaussian import GaussianMixture
from gopfast.roundoff import ROUND

# Rounding error of the objective, in units of the magnitude of its terms: a cost has less than 20 operations, sums are
# pairwise.
EVALUATION = 64 * ROUND


class LargeGaussianMixture(GaussianMixture):
    """
    A Gaussian mixture of known variance whose data are read chunk by chunk.

    What `gopfast.GaussianMixture` is with the same data; of one column, without weights and without a prior. `X` is
    empty: nothing here holds the data, nor is anything read before `gopfast.solve`, which makes three passes.

    Parameters
    ----------
    X : array_like, memory map, dask.array or Chunks
        One column, of any type of real numbers; a memory-mapped file of float32 is not copied as a whole. Chunks are
        those of `gopfast.data.chunks`.
    n_components : int
        Number of components K.
    noise_variance : float, default 1
        The known variance.

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.
    """

    def __init__(self, X: ArrayLike, n_components: int, *, noise_variance: float = 1.0) -> None:
        # Here and not above: a problem loads nothing that reads data.
        from gopfast.mixtures.data import chunks

        source = chunks.of(X)
        if source.n_columns != 1:
            raise InputError(f"X must have one column; got {source.n_columns}")
        variance = checks.positive_number("noise_variance", noise_variance)
        number = checks.whole_number("n_components", n_components, 1)
        # checks what the model shares
        super().__init__(np.zeros(number), number, noise_variance=variance)
        self.__setstate__(
            {"source": source, "X": np.empty((0, 1)), "sample_weight": np.empty(0), "n_samples": 0, "total_weight": 0.0}
        )

    def counted(self, n_samples: int) -> None:
        """Take the number of samples, which the first pass tells."""
        self.__setstate__({"n_samples": n_samples, "total_weight": float(n_samples)})

    def evaluated(self, weights: FloatArray, means: FloatArray) -> tuple[float, float]:
        """
        Evaluate the objective in one pass over the data.

        Returns
        -------
        value, error : float
            In nats, and a bound of the rounding error.
        """
        values, sizes, logs = [], [], log_zero(weights)
        for chunk in self.source:
            squares = np.square(chunk - means.T) * (0.5 / self.noise_variance[0])
            cost = -log_sum_exp(logs - squares)
            values.append(float(cost.sum()))
            sizes.append(float(squares.max(axis=1).sum()) + len(chunk))
        return math.fsum(values), EVALUATION * (math.fsum(values) + math.fsum(sizes))

    def objective(
        self,
        weights: ArrayLike,
        *values: ParameterLike,
        responsibilities: ArrayLike | None = None,
        **parameters: ParameterLike,
    ) -> float:
        """Evaluate the objective in one pass over the data; as `GaussianMixture.objective`, which see."""
        if responsibilities is not None:
            raise InputError("responsibilities must be None: there is one for each sample and component")
        means = self.check_parameters(*values, **parameters)["means"]
        return self.evaluated(self._check_weights(weights), means)[0]
