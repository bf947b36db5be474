"""The types of public arguments and results, by name; nothing here runs."""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor as Executor
from os import PathLike
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gopfast.report import Heartbeat, Progress, Stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from pandas import DataFrame as DataFrame

FloatArray: TypeAlias = NDArray[np.float64]
StrArray: TypeAlias = NDArray[np.str_]
IntArray: TypeAlias = NDArray[np.intp]
Path: TypeAlias = str | PathLike[str]
# What `json` reads and writes.
Json: TypeAlias = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

Relaxation: TypeAlias = Literal["entropic", "linear", "pricing"] | None
Partition: TypeAlias = Literal["joint", "paper"]
Branching: TypeAlias = Literal["bisect", "orthant"] | None
Subproblem: TypeAlias = Literal["enumerate", "milp"]
Covariance: TypeAlias = Literal["known", "spherical", "diag", "tied", "tied_diag", "tied_spherical", "full"]
Posterior: TypeAlias = Literal["point", "gaussian"]
GaussianPrior: TypeAlias = Literal["empirical"] | float | None
PairPrior: TypeAlias = tuple[float, float] | None  # of a Beta or a Gamma density
Prior: TypeAlias = str | float | tuple[float, float] | None  # of any mixture
Criterion: TypeAlias = Literal["bic", "aic", "icl"]
Sense: TypeAlias = Literal["min", "max"]

Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None
Log: TypeAlias = bool | Stream | Heartbeat | logging.Logger | Literal["bar"] | None
MemorySize: TypeAlias = int | float | str | None  # bytes, or text such as "4GB"
# Returning True stops the search.
Callback: TypeAlias = Callable[[Progress], object]

# A parameter of a mixture, as the package takes it.
ParameterLike: TypeAlias = ArrayLike | None


class Parameters(TypedDict, total=False):
    """Parameters of a mixture beside the weights, as the package returns them; a model has some of them."""

    means: FloatArray
    covariances: FloatArray
    probabilities: FloatArray | tuple[FloatArray, ...]
    rates: FloatArray
    posterior_variances: FloatArray
    prior_variance: float | None


class State(Parameters):
    """Weights and parameters of a mixture."""

    weights: FloatArray


class Fit(Protocol):
    """A fit of a mixture, such as a `MixtureSolution`."""

    @property
    def weights(self) -> FloatArray:
        """Weights, shape (K,)."""

    @property
    def parameters(self) -> Parameters:
        """The other parameters, by name."""


class HasSolution(Protocol):
    """The result of a solve or of a local method."""

    @property
    def solution(self) -> Fit:
        """The fit."""


class HasHistory(Protocol):
    """The result of a search: its bounds, and how they went."""

    @property
    def history(self) -> FloatArray:
        """One row for each report: seconds, nodes, lower and upper bound, open nodes."""

    @property
    def time(self) -> float:
        """Seconds."""

    @property
    def lower_bound(self) -> float:
        """No point has a smaller objective."""

    @property
    def objective(self) -> float:
        """The objective at the solution."""


class FittedMixture(Protocol):
    """A fitted mixture of scikit-learn."""

    weights_: ArrayLike
    means_: ArrayLike


class SparseMatrix(Protocol):
    """A sparse array or matrix of SciPy, which has no types of its own."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def toarray(self) -> NDArray[np.float64]:
        """Return it dense."""


class CsrArray(SparseMatrix, Protocol):
    """A ``scipy.sparse.csr_array``."""

    data: FloatArray
    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]

    @property
    def nnz(self) -> int:
        """Number of stored entries."""

    def __matmul__(self, other: FloatArray, /) -> FloatArray:
        """Multiply by a vector or a dense matrix."""


class CvxpyProblem(Protocol):
    """What tells a ``cvxpy.Problem``, which need not be installed."""

    def variables(self) -> Sequence[object]:
        """Return the variables of the problem."""

    def is_dcp(self) -> bool:
        """Whether it follows CVXPY's rules."""


MatrixLike: TypeAlias = ArrayLike | SparseMatrix
# (Q, a, lower, upper): lower <= a'z + z'Qz <= upper
QuadraticRowLike: TypeAlias = tuple[MatrixLike, ArrayLike | None, float | None, float | None]
StartLike: TypeAlias = ArrayLike | Fit | HasSolution | Mapping[str, object] | None
FitLike: TypeAlias = Fit | HasSolution | FittedMixture | Mapping[str, object] | Sequence[ParameterLike]


class SearchOptions(TypedDict, total=False):
    """Options of `gopfast.solve` that all who call it pass on."""

    relaxation: Relaxation
    partition: Partition
    branching: Branching
    subproblem: Subproblem
    n_threads: int | None
    max_nodes: int | None
    log: Log


class CertifyOptions(SearchOptions, total=False):
    """Options of `gopfast.certify` beside its own."""

    random_state: Seed


class CompareOptions(SearchOptions, total=False):
    """Options of `gopfast.comparison.compare` beside its own."""

    rel_tol: float | None
    time_limit: float | None
    start: StartLike
    callback: Callback | None


class SolveOptions(CompareOptions, total=False):
    """Options of `gopfast.solve` beside epsilon."""

    random_state: Seed
    proof: Path | bool | None
    memory_limit: MemorySize
    spill: Path | None
    checkpoint: Path | None
    checkpoint_every: float
    executor: Executor | None


class PlotOptions(TypedDict, total=False):
    """Options of the figures that `Result.plot` draws."""

    elbo: bool
    columns: int | Sequence[int] | None
    bins: int | None
