"""Gaussian mixtures of data that need not fit into memory."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from gopfast.annotations import Covariance, Executor, FloatArray, GaussianPrior, ParameterLike, Posterior
from gopfast.errors import InputError
from gopfast.mixtures.problems.base import log_sum_exp, log_zero
from gopfast.mixtures.problems.covariance import KINDS, Diagonal, Known, Spherical, TiedSpherical
from gopfast.mixtures.problems.gaussian import GaussianMixture
from gopfast.mixtures.problems.tuning import MOST_GRID_COLUMNS as MOST_COLUMNS

DATA = ("X", "sample_weight")
ELSEWHERE = "the data stay where they were opened: a problem that was sent or stored has none of them"
KINDS_IN_CHUNKS = (Known.name, Diagonal.name, Spherical.name, TiedSpherical.name)


class LargeGaussianMixture(GaussianMixture):
    """
    A Gaussian mixture whose data are read chunk by chunk.

    What `gopfast.GaussianMixture` is with the same data, of at most three columns and without covariance matrices.
    Nothing is read before `gopfast.solve`, which makes about six passes: two for a summary of the data, the others for
    the objective and its gradient at solutions. The problem of the result, ``result.solution.problem``, has the
    summary's weighted points as its `X` and `sample_weight`: what is asked of a fit without other data is of these.
    `objective` is that of the data.

    Parameters
    ----------
    X : array_like, memory map, dask.array or Chunks
        One to three columns, of any type of real numbers; a memory-mapped file of float32 is not copied as a whole.
        Chunks are those of `gopfast.data.chunks`, `gopfast.data.parquet` and `gopfast.data.csv`.
    n_components : int
        Number of components K.
    prior, posterior, noise_variance, variance_floor, prior_variance_bounds, covariance_type
        As of `gopfast.GaussianMixture`.
    covariance : {"known", "spherical", "diag", "tied_spherical"}, optional
        As of `gopfast.GaussianMixture`.
    sample_weight : array_like, memory map, dask.array or Chunks, optional
        Weights of the samples: as many as `X` has rows, in chunks of any size.

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.
    """

    source = weights = summary = parts = None

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
    ) -> None:
        # Here and not above: a problem loads nothing that reads data.
        from gopfast.mixtures.data import chunks

        source = chunks.of(X)
        weights = None if sample_weight is None else chunks.of(sample_weight, "sample_weight")
        if not 1 <= source.n_columns <= MOST_COLUMNS:
            raise InputError(
                f"X must have 1 to {MOST_COLUMNS} columns, of which a grid summarises it; got {source.n_columns}. Data "
                "in memory may have more: gopfast.GaussianMixture"
            )
        if weights is not None and weights.n_columns != 1:
            raise InputError(f"sample_weight must have one column; got {weights.n_columns}")
        stand_in = np.zeros((max(1, n_components) if isinstance(n_components, int) else 1, source.n_columns))
        super().__init__(  # checks what the model shares
            stand_in, n_components, prior=prior, posterior=posterior, covariance=covariance,
            noise_variance=noise_variance, variance_floor=variance_floor, prior_variance_bounds=prior_variance_bounds,
            covariance_type=covariance_type,
        )  # fmt: skip
        if self.covariance not in KINDS_IN_CHUNKS:
            raise InputError(
                f"covariance must be one of {', '.join(map(repr, KINDS_IN_CHUNKS))} for data in chunks; got "
                f"{self.covariance!r}"
            )
        state = {
            "source": source, "weights": weights, "n_samples": 0, "total_weight": 0.0, "columns": source.names,
        }  # fmt: skip
        for name in DATA:
            del self.__dict__[name]  # of the stand-in
        if self._default_floor:
            state["variance_floor"] = None  # the data tell
        self.__setstate__(state)

    def __getattr__(self, name: str) -> object:
        """Refuse to give the data as arrays, before there is a summary of them."""
        if name in DATA:
            raise InputError(f"{name} is in chunks, which gopfast.solve, gopfast.certify and `objective` read")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, object]:
        """Return all but the data."""
        return {**self.__dict__, "source": None, "weights": None, "parts": None}

    def _with(self, **changed):
        """Refuse: other data would be in memory."""
        raise InputError("fit must be of data in memory (gopfast.GaussianMixture): of data in chunks nothing is drawn")

    def summarised(
        self, tolerance: float, note: Callable[[str], None], executor: Executor | None = None
    ) -> "LargeGaussianMixture":
        """
        Read the data twice, and return the problem with a summary of them, which a search can be made of.

        Parameters
        ----------
        tolerance : float
            That the search is to reach, nats.
        note : callable
            Takes a line of text for each pass.
        executor : concurrent.futures.Executor, optional
            Whose workers read the data, as far as they can.

        Returns
        -------
        LargeGaussianMixture
        """
        from gopfast.mixtures import large  # reads data
        from gopfast.mixtures.data.parts import Parts

        if self.source is None:
            raise InputError(f"X: {ELSEWHERE}")
        kind, d = KINDS[self.covariance], self.n_features
        note("pass 1 over the data: their range")
        parts = Parts(self.source, self.weights, executor, note)
        seen = large.see(parts, self.n_components, kind.estimated)
        counted = {"n_samples": seen.n_samples, "total_weight": seen.total_weight}
        self.__setstate__(counted)
        floor = self.variance_floor
        if kind.estimated and floor is None:
            floor = large.floor_of(seen, partial(kind.of_columns, self.n_components))
        least = np.broadcast_to(floor if kind.estimated else self.noise_variance, d)
        unit = scale = np.sqrt(least)
        if kind.estimated:
            unit = large.typical_widths(seen, scale, self.n_components)
        self._check_range(seen, least)
        note(f"pass 2 over {seen.n_samples:,} samples: a summary")
        found = large.summarise(parts, seen, scale, unit, tolerance)
        other = object.__new__(type(self))
        other.__setstate__({
            **self.__dict__, "variance_floor": floor, "summary": found, "X": found.in_users(),
            "sample_weight": np.array(found.weights), "parts": parts,
        })  # fmt: skip
        return other

    def _check_range(self, seen, least):
        """Reject data whose weighted sum of squares overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = (np.square(np.maximum(np.abs(seen.low), np.abs(seen.high))) / least).sum()
            if not np.isfinite(seen.total_weight * (1.0 + squares)):
                raise InputError("X is too large: the sum of sample_weight * X^2 / variance overflows")

    # What the solver asks

    def _family(self):
        if self.summary is None:
            raise InputError("X is in chunks, which gopfast.solve, gopfast.certify and `objective` read")
        return self.kind.family(self)

    def _samples(self, scale, squares=False):
        return self.summary.samples(squares)

    def _primal(self, family, note, **options):
        from gopfast.mixtures.primal.chunked import ChunkedPrimal  # compiled, as problems are not

        frame = self.summary.frame
        return ChunkedPrimal(family, self.parts and self.parts.outcomes, frame, note, **options)

    def _notes(self, solution, proved):
        return [*super()._notes(solution, proved), *(self.parts.notes if self.parts is not None else ())]

    def _moved(self, distance):
        return math.sqrt(self.summary.moved) * (1.0 + 1e-9)

    _can_sit_on_ties = False  # its points are no samples

    def _caution(self, solution):
        return ""

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
        if self.source is None:
            raise InputError(f"X: {ELSEWHERE}")
        from gopfast.mixtures.data import chunks

        weights, checked = self._check_weights(weights), self.check_parameters(*values, **parameters)
        logs, found = log_zero(weights), []
        for rows, weight in chunks.weighted(self.source, self.weights):
            found.append(float(weight @ -log_sum_exp(logs + self._kernel_of(rows, checked))))
        return math.fsum(found) + self._penalty(checked)

    def _kernel_of(self, rows: FloatArray, parameters):
        """Compute `_log_kernel` of other samples."""
        other = object.__new__(type(self))
        other.__setstate__({**self.__dict__, "X": rows.view()})
        return other._log_kernel(parameters)
