"""
Covariates of classes: a multinomial logit of the class, estimated in a third step that adjusts for errors.

Theory: (A8) of docs/theory/problem.md.
"""

from dataclasses import dataclass, field

import numpy as np

from gopfast import checks
from gopfast.annotations import FloatArray
from gopfast.errors import InputError
from gopfast.mixtures.third_step import Assignment, sandwich
from gopfast.mixtures.tuning import GRADIENT_STEP, THIRD_SLOPE


@dataclass(frozen=True, eq=False, kw_only=True)
class Covariates:
    """
    A multinomial logit of the classes, of a three-step analysis; prints as a table.

    ``log P(class t | z) / P(class 0 | z) = coefficients[t] . (1, z)``; class 0 is the reference.

    Attributes
    ----------
    method, assignment : str
        How errors of classification are adjusted for.
    names : tuple of str
        "intercept" and the covariates.
    coefficients : ndarray, shape (K, 1 + q)
        Of class 0 they are 0.
    errors : ndarray, shape (K, 1 + q)
        Standard errors (sandwich), which take the classes as known; NaN of class 0.
    p_values : ndarray, shape (K, 1 + q)
        Of coefficients being 0, by the normal distribution.
    classification : ndarray, shape (K, K)
        Probability of being put into class s (column) of samples of class t (row).
    notes : tuple of str
        What is proved and what is not.
    """

    method: str
    assignment: str
    names: tuple[str, ...]
    coefficients: FloatArray
    errors: FloatArray
    p_values: FloatArray = field(repr=False)
    classification: FloatArray = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        """One row for each class but the first, and covariate."""
        lines = [f"logit of the class, three steps ({self.method}, {self.assignment}); reference: class 0"]
        lines.append("  class  covariate    coefficient  std. error  p")
        for k in range(1, len(self.coefficients)):
            for j, name in enumerate(self.names):
                value, error, p = (table[k, j] for table in (self.coefficients, self.errors, self.p_values))
                lines.append(f"  {k:<5}  {name:<11}  {value:>11.5g}  {error:>10.4g}  {p:.3g}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def covariates(result, Z, *, method="bch", assignment="proportional") -> Covariates:
    """Estimate a logit of the class; arguments as of `Result.covariates`."""
    # Here and not above: importing gopfast would take half as long again.
    from scipy.optimize import minimize
    from scipy.stats import norm

    of = Assignment(result, method, assignment)
    names = checks.column_names(Z)
    if result.solution.problem.n_components == 1:
        raise InputError("the fit must have two classes or more")
    table = checks.data_matrix("Z", Z)
    if len(table) != len(of.shares):
        raise InputError(f"Z must have one row for each of the {len(of.shares)} samples of the fit; got {len(table)}")
    center, spread = table.mean(axis=0), table.std(axis=0)
    if not (spread > 0.0).all():
        raise InputError(f"Z must have no constant column; column {int(np.argmin(spread))} is")
    scaled = np.column_stack([np.ones(len(table)), (table - center) / spread])
    if np.linalg.matrix_rank(scaled) < scaled.shape[1]:
        raise InputError("Z must have independent columns; one is a combination of others")
    K, q, w = of.shares.shape[1], scaled.shape[1], of.frequencies
    aims = of.weights

    def parts(at):
        """Log-likelihood, log probabilities and what stands for the indicators of the classes, (n, K)."""
        logits = scaled @ np.vstack([np.zeros(q), at.reshape(K - 1, q)]).T
        top = logits.max(axis=1, keepdims=True)
        logs = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
        if method == "bch":
            return float(w @ (aims * logs).sum(axis=1)), logs, aims
        each, tau = of.log_likelihoods(logs)
        return float(w @ each), logs, tau

    def loss(at):
        value, logs, tau = parts(at)
        return -value / w.sum(), -((tau - np.exp(logs))[:, 1:].T @ (w[:, np.newaxis] * scaled)).ravel() / w.sum()

    found = minimize(loss, np.zeros((K - 1) * q), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    at = found.x
    _, logs, tau = parts(at)
    scores = ((tau - np.exp(logs))[:, 1:, np.newaxis] * scaled[:, np.newaxis]).reshape(len(table), -1)
    covariance = sandwich(scores, w, _bread(loss, at, w.sum()))
    # from scaled covariates to the user's
    back = np.eye(q)
    back[np.arange(1, q), np.arange(1, q)] = 1.0 / spread
    back[0, 1:] = -center / spread
    whole = np.kron(np.eye(K - 1), back)
    values = np.vstack([np.zeros(q), (whole @ at).reshape(K - 1, q)])
    errors = np.sqrt(np.maximum(np.diagonal(whole @ covariance @ whole.T), 0.0)).reshape(K - 1, q)
    errors = np.vstack([np.full(q, np.nan), errors])
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2.0 * norm.sf(np.abs(values) / errors)
    notes = [of.note(result)]
    if np.abs(loss(at)[1]).max() > THIRD_SLOPE:
        notes.append("not converged: a covariate may separate classes, whose coefficients have no end")
    return Covariates(
        method=method, assignment=assignment,
        names=("intercept", *(names or (f"z{j}" for j in range(q - 1)))), coefficients=values, errors=errors,
        p_values=p_values, classification=of.errors, notes=tuple(notes),
    )  # fmt: skip


def _bread(loss, at, total):
    """Return derivatives (p, p) of the sum of the scores, negative, by differences."""
    step = GRADIENT_STEP * (1.0 + np.abs(at))
    columns = [(loss(at + m)[1] - loss(at - m)[1]) / (2.0 * h) for m, h in zip(np.diag(step), step, strict=True)]
    matrix = total * np.stack(columns, axis=1)
    return 0.5 * (matrix + matrix.T)
