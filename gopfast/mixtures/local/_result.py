"""The result of a local method."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gopfast.annotations import FloatArray, State
from gopfast.mixtures.problems import MixtureProblem
from gopfast.mixtures.solution import MixtureSolution


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalResult:
    """
    Result of a local method.

    Attributes
    ----------
    solution : MixtureSolution
        Parameters at the end.
    objective : float
        Objective at `solution`, in nats, without the constant that the paper drops.
    elbo : float
        ``problem.elbo_constant - objective``; without a prior the log-likelihood.
    trace : ndarray, shape (n_iter + 1,)
        ELBO before the first step and after each step; of `kmeans` the first and the last only, shape (2,).
    converged : bool
        Whether the method's own test of convergence ended it, and not `max_iter`.
    n_iter : int
        Steps taken.
    """

    solution: MixtureSolution
    objective: float
    elbo: float
    trace: FloatArray
    converged: bool
    n_iter: int

    @property
    def log_likelihood(self) -> float | None:
        """The log-likelihood, in nats; None where the model has a prior."""
        return self.elbo if self.solution.problem.prior is None else None

    @classmethod
    def from_state(
        cls,
        problem: MixtureProblem,
        state: State,
        objectives: ArrayLike,
        converged: bool,
        n_iter: int | None = None,
    ) -> "LocalResult":
        """
        Make the result of a method that ended at a state.

        Parameters
        ----------
        problem : MixtureProblem
        state : dict
            "weights" and one value for each of ``problem.parameter_names``.
        objectives : array_like
            The objective before the first step and after each step.
        converged : bool
        n_iter : int, optional
            By default one less than the objectives.

        Returns
        -------
        LocalResult
        """
        objectives = np.asarray(objectives, dtype=float)
        objective = float(objectives[-1])
        return cls(
            solution=MixtureSolution.canonical(problem, **state),
            objective=objective,
            elbo=problem.elbo_constant - objective,
            trace=problem.elbo_constant - objectives,
            converged=bool(converged),
            n_iter=len(objectives) - 1 if n_iter is None else n_iter,
        )
