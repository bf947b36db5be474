"""
Data larger than memory.

>>> import numpy as np, gopfast
>>> X = np.concatenate([np.random.default_rng(0).normal(m, 1.0, 20_000) for m in (0.0, 4.0)]).astype(np.float32)
>>> problem = gopfast.data.LargeGaussianMixture(gopfast.data.chunks(lambda: np.array_split(X, 7), 1), 2)
>>> gopfast.solve(problem, log=False).success
True
"""

from collections.abc import Callable, Iterable

from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.errors import InputTypeError
from gopfast.mixtures.data.chunks import Chunks
from gopfast.mixtures.problems.large import LargeGaussianMixture

__all__ = ["Chunks", "LargeGaussianMixture", "chunks"]


def chunks(factory: Callable[[], Iterable[ArrayLike]], n_columns: int = 1) -> Chunks:
    """
    Tell where rows come from that need not fit into memory.

    Parameters
    ----------
    factory : callable
        Returns an iterable of arrays of shape (m, n_columns), or (m,) where there is one column. It is called for each
        pass over the data, of which a solve makes three, and must give the same rows in the same order.
    n_columns : int

    Returns
    -------
    Chunks

    Raises
    ------
    InputTypeError
        If `factory` is not callable.

    Examples
    --------
    Of a Parquet file, by pyarrow: ``gopfast.data.chunks(lambda: (batch.column(0).to_numpy() for batch in
    pyarrow.parquet.ParquetFile("big.parquet").iter_batches(columns=["x"])))``.
    """
    if not callable(factory):
        raise InputTypeError(f"factory must be callable; got {type(factory).__name__}")
    return Chunks(factory, checks.whole_number("n_columns", n_columns, 1))
