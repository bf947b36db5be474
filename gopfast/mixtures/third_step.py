"""
What the third step of a three-step analysis knows of the first two: classes, and how often samples are put into others.

Of each sample t is the class it belongs to and s the one it is put into; with tau_it the probabilities of the fit

    P(s | t) = sum_i w_i tau_it a_is / sum_i w_i tau_it

a_is is tau_is (proportional) or 1 of the most probable class and 0 of others (modal). What is asked of the samples of a
class is answered by *weights* sum_s a_is P^-1(t | s), some of which are negative (BCH), or by the likelihood of s (ML).

References
----------
Bolck, Croon & Hagenaars, "Estimating latent structure models with categorical variables", Political Analysis 12 (2004).
Vermunt, "Latent class modeling with covariates: two improved three-step approaches", Political Analysis 18 (2010).
Bakk, Tekle & Vermunt, "Estimating the association between latent class membership and external variables using
bias-adjusted three-step approaches", Sociological Methodology 43 (2013).

Theory: (A8) of docs/theory/problem.md.
"""

import numpy as np

from gopfast import checks
from gopfast.errors import InputError
from gopfast.mixtures.tuning import DEPENDENT, LEAST_APART, THIRD_STEP

METHODS = ("bch", "ml")
ASSIGNMENTS = ("proportional", "modal")


class Assignment:
    """
    Samples put into classes, and how often into others than their own.

    Parameters
    ----------
    result : Result
    method, assignment : str
        As users give them.

    Attributes
    ----------
    shares : ndarray, shape (n, K)
        a_is.
    errors : ndarray, shape (K, K)
        P(s | t), a row for each class t.
    frequencies : ndarray, shape (n,)
        The sample weights.
    """

    def __init__(self, result, method, assignment):
        checks.choice("method", method, METHODS)
        checks.choice("assignment", assignment, ASSIGNMENTS)
        problem, self.method, self.assignment = result.solution.problem, method, assignment
        tau, self.frequencies = result.predict_proba(), problem.sample_weight
        self.sizes = self.frequencies @ tau
        if not self.sizes.min() > 0.0:
            raise InputError("the fit must have no class without samples: fit fewer classes")
        self.posterior = tau
        self.shares = tau if assignment == "proportional" else np.eye(tau.shape[1])[tau.argmax(axis=1)]
        self.errors = tau.T @ (self.frequencies[:, np.newaxis] * self.shares) / self.sizes[:, np.newaxis]
        least = np.linalg.svd(self.errors, compute_uv=False)[-1]
        if not least > LEAST_APART:
            raise InputError(
                f"the fit must tell its classes apart: the least singular value of its {len(self.errors)} x "
                f"{len(self.errors)} table of classification errors is {least:.2g}, so that nothing is known of a "
                "class alone"
            )

    @property
    def weights(self):
        """How often each sample counts in each class, (n, K); rows add up to 1, some entries are negative."""
        return self.shares @ np.linalg.inv(self.errors)

    def log_likelihoods(self, log_joint):
        """
        Return each sample's log-likelihood (n,), and probabilities of its class (n, K), given where it is put.

        log_joint : ndarray, shape (n, K)
            Log of the probability of a class times the density of what else is known of a sample there.
        """
        value, tau = np.zeros(len(log_joint)), np.zeros(log_joint.shape)
        with np.errstate(divide="ignore"):
            logs = np.log(self.errors)
        for s in range(log_joint.shape[1]):
            scores = log_joint + logs[:, s]
            top = scores.max(axis=1, keepdims=True)
            top = np.where(np.isneginf(top), 0.0, top)
            powers = np.exp(scores - top)
            total = powers.sum(axis=1, keepdims=True)
            total = np.where(total > 0.0, total, 1.0)  # impossible, and then without a share
            value += self.shares[:, s] * (top + np.log(total))[:, 0]
            tau += self.shares[:, s, np.newaxis] * powers / total
        return value, tau

    def part(self, kept):
        """Return the same of some of the samples (n,), whose outcome is known; classes keep their errors."""
        other = object.__new__(Assignment)
        other.__dict__.update(self.__dict__)
        other.shares, other.posterior = self.shares[kept], self.posterior[kept]
        other.frequencies = self.frequencies[kept]
        return other

    def note(self, result):
        """Say what is proved, and what is not."""
        return (
            f"classes of the first step: {result.status.name}, proved within {result.gap:.3g} nats; the third step is "
            "an estimate given them, of which nothing is proved, and its standard errors take them as known"
        )


def sandwich(scores, frequencies, bread):
    """Covariance (p, p) of estimates: of scores (n, p) of each sample and the sum of their derivatives (p, p)."""
    inverse = np.linalg.pinv(bread)
    return inverse @ (scores.T @ (frequencies[:, np.newaxis] * scores)) @ inverse.T


def numerical_sandwich(log_likelihoods, at, frequencies):
    """Return the same of a function that returns each sample's log-likelihood (n,) at parameters (p,)."""
    step = THIRD_STEP * (1.0 + np.abs(at))
    moves = np.diag(step)
    scores = np.stack([(log_likelihoods(at + m) - log_likelihoods(at - m)) / (2.0 * h)
                       for m, h in zip(moves, step, strict=True)], axis=1)  # fmt: skip

    def slope(where):
        return np.array([frequencies @ (log_likelihoods(where + m) - log_likelihoods(where - m)) / (2.0 * h)
                         for m, h in zip(moves, step, strict=True)])  # fmt: skip

    bread = np.stack([(slope(at + m) - slope(at - m)) / (2.0 * h) for m, h in zip(moves, step, strict=True)], axis=1)
    return sandwich(scores, frequencies, -0.5 * (bread + bread.T))


def wald(values, covariance):
    """Wald's statistic of values (m,) being 0, and its degrees of freedom."""
    root = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    if not (np.isfinite(covariance).all() and (root > 0.0).all()):
        return np.nan, len(values)
    correlation, z = covariance / np.outer(root, root), values / root
    inverse = np.linalg.pinv(correlation, hermitian=True, rcond=DEPENDENT)
    return float(z @ inverse @ z), int(np.linalg.matrix_rank(correlation, hermitian=True, tol=DEPENDENT))
