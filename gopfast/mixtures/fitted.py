"""What can be asked of a fitted mixture: classes of samples, densities, new samples."""

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import Fit, FloatArray, IntArray, Seed
from gopfast.mixtures.problems.base import log_sum_exp, log_zero


class Fitted:
    """
    Methods of everything that has the parameters of a mixture, of any family.

    `X` of these methods is data as the problem took them, (m, d) or of one column (m,); None stands for the data of the
    fit.
    """

    @property
    def _fit(self) -> Fit:
        raise NotImplementedError

    def predict(self, X: ArrayLike | None = None) -> IntArray:
        """Return the most probable component of each sample, shape (m,); of equals the first."""
        return self._scores(X).argmax(axis=1)

    def predict_proba(self, X: ArrayLike | None = None) -> FloatArray:
        """
        Return the probability of each component for each sample, shape (m, K).

        A sample that no component can produce gets the weights.
        """
        scores = self._scores(X)
        total = log_sum_exp(scores)
        impossible = np.isneginf(total)
        scores[impossible], total[impossible] = log_zero(self._fit.weights), 0.0
        tau = np.exp(scores - total[:, np.newaxis])
        return tau / tau.sum(axis=1, keepdims=True)

    def score_samples(self, X: ArrayLike | None = None) -> FloatArray:
        """Return the log density of each sample, shape (m,), in nats; of counts and labels the log probability."""
        return log_sum_exp(self._scores(X))

    def score(self, X: ArrayLike | None = None) -> float:
        """Return the average of `score_samples`; of the data of the fit weighted by their weights."""
        scores = self.score_samples(X)
        if X is not None:
            return float(scores.mean())
        problem = self._fit.problem
        used = problem.sample_weight > 0.0
        return float(problem.sample_weight[used] @ scores[used] / problem.total_weight)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[FloatArray, IntArray]:
        """
        Draw samples.

        Parameters
        ----------
        n_samples : int, default 1
        random_state : None, int, Generator or RandomState
            None for fresh entropy.

        Returns
        -------
        X : ndarray, shape (n_samples, d)
            In the user's form: numbers, or labels; independent of each other.
        components : ndarray of int, shape (n_samples,)
            The component of each.

        Raises
        ------
        InputError
            If an argument is invalid, or the fit has a component of infinite spread.
        """
        n_samples = checks.whole_number("n_samples", n_samples, 1)
        rng, fit = _generator(random_state), self._fit
        components = rng.choice(len(fit.weights), n_samples, p=fit.weights / fit.weights.sum())
        return fit.problem._draw(rng, components, fit.parameters), components

    def _scores(self, X):
        """Return log of weight times density, (m, K)."""
        fit = self._fit
        rows = fit.problem.X if X is None else fit.problem._rows_like(X)
        return fit.problem._log_densities_of(rows, **fit.parameters) + log_zero(fit.weights)


def _generator(random_state):
    """Return a numpy Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, dtype=np.uint64))
    if random_state is None:
        return np.random.default_rng()
    return np.random.default_rng(checks.whole_number("random_state", random_state, 0))
