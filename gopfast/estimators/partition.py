"""What the estimators of clusters and of classes share: how each solves its problem and what it tells of the fit."""

import numpy as np

from gopfast.annotations import IntArray, Seed
from gopfast.clustering.result import PartitionResult
from gopfast.result import Status
from gopfast.solver import solve

try:
    from sklearn.utils import check_random_state

    from gopfast.estimators.telling import NotProvedWarning, log_of, warn_once
except ImportError as error:
    raise ImportError("gopfast's estimators need scikit-learn 1.6 or later: pip install 'gopfast[sklearn]'") from error


class ProvedPartition:
    """
    How an estimator solves a problem that gives every sample to one cluster or class.

    A subclass has `rel_tol`, `time_limit`, `random_state` and `verbose`, and sets attributes of its own by
    ``_set_fitted``.
    """

    labels_: IntArray
    converged_: bool
    n_iter_: int

    rel_tol: float
    time_limit: float | None
    random_state: Seed
    verbose: bool | int | str | None

    def _solve(self, problem, start=None):
        """Solve the problem and set the fitted attributes; to be called by `fit` itself, whose caller is warned."""
        result = solve(
            problem,
            start=start,
            rel_tol=self.rel_tol,
            time_limit=self.time_limit,
            log=log_of(self.verbose),
            random_state=check_random_state(self.random_state),
        )
        self.result_, self.labels_ = result, result.labels.astype(np.int32)
        self.converged_, self.n_iter_ = bool(result.success), max(1, result.n_nodes)
        self._set_fitted(problem, result)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if not result.success:
            warn_once(_advice(type(self).__name__, result), NotProvedWarning, stacklevel=3)

    def _set_fitted(self, problem, result):
        """Set the attributes that the model has beside the labels."""
        raise NotImplementedError


def _advice(name: str, result: PartitionResult) -> str:
    """Say what a fit that is not proved is worth, and what to do."""
    return (
        f"{name} is not proved optimal: {result.message}. The {result._objective_label} is at most "
        f"{result.rel_gap:.3g} of itself above the least. To close the gap raise time_limit or rel_tol."
    )
