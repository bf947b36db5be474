"""
Distal outcomes of classes: what follows from belonging to one, estimated in a third step that adjusts for errors.

Theory: (A8) of docs/theory/problem.md.
"""

import numbers
from dataclasses import dataclass, field

import numpy as np

from gopfast import checks
from gopfast.annotations import FloatArray
from gopfast.errors import InputError
from gopfast.mixtures.third_step import Assignment, numerical_sandwich, sandwich, wald
from gopfast.mixtures.tuning import LEAST_SHARE, MOST_THIRD_STEPS, THIRD_TOL

KINDS = ("continuous", "categorical")


@dataclass(frozen=True, eq=False, kw_only=True)
class Distal:
    """
    A distal outcome in each class, of a three-step analysis; prints as a table.

    Attributes
    ----------
    kind : str
        "continuous" or "categorical".
    method, assignment : str
        How errors of classification are adjusted for.
    categories : tuple
        Labels of a categorical outcome.
    estimates : ndarray, shape (K,) or (K, C)
        Means, in units of the outcome, or probabilities of the labels, of each class.
    errors : ndarray, shape of `estimates`
        Standard errors (sandwich), which take the classes as known; NaN of a probability at 0 or 1.
    unadjusted : ndarray, shape of `estimates`
        Averages weighted by the probabilities of the classes, which the errors of classification draw together.
    classification : ndarray, shape (K, K)
        Probability of being put into class s (column) of samples of class t (row).
    statistic, p_value : float
        Wald's test of all classes having the same outcome; `df` its degrees of freedom.
    df : int
    n_samples : float
        Weight of the samples whose outcome is known.
    notes : tuple of str
        What is proved and what is not, and what to mind.
    """

    kind: str
    method: str
    assignment: str
    categories: tuple
    estimates: FloatArray
    errors: FloatArray
    unadjusted: FloatArray
    classification: FloatArray = field(repr=False)
    statistic: float
    df: int
    p_value: float
    n_samples: float
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        """One row for each class and label."""
        names = ["mean"] if self.kind == "continuous" else [str(label) for label in self.categories]
        how, K = f"three steps ({self.method}, {self.assignment})", len(self.estimates)
        lines = [f"{self.kind} distal outcome, {how}, {self.n_samples:g} samples"]
        lines.append("  class  outcome     estimate  std. error  unadjusted")
        tables = [np.reshape(part, (K, -1)) for part in (self.estimates, self.errors, self.unadjusted)]
        for k in range(K):
            for c, name in enumerate(names):
                value, error, raw = (table[k, c] for table in tables)
                lines.append(f"  {k:<5}  {name:<9} {value:>10.5g}  {error:>10.4g}  {raw:>10.5g}")
        lines.append(f"  equal in all classes: Wald {self.statistic:.4g} of {self.df} df, p = {self.p_value:.3g}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def distal(result, y, *, kind=None, method="bch", assignment="proportional") -> Distal:
    """Estimate a distal outcome; arguments as of `Result.distal`."""
    from scipy.stats import chi2  # here and not above: importing gopfast would take half as long again

    whole = Assignment(result, method, assignment)
    if kind is not None:
        checks.choice("kind", kind, KINDS)
    columns, kept, labels = _outcome(y, len(whole.shares), kind)
    kept &= whole.frequencies > 0.0
    if not kept.any():
        raise InputError("y must have an entry that is not missing")
    of, columns = whole.part(kept), columns[kept]
    estimate = _by_weights if method == "bch" else _by_likelihood
    values, covariance, notes = estimate(of, columns, labels is not None)
    mass = of.frequencies[:, np.newaxis] * of.posterior
    raw = mass.T @ columns / mass.sum(axis=0)[:, np.newaxis]
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0)).reshape(values.shape)
    if labels is not None:
        errors = np.where((values > LEAST_SHARE) & (values < 1.0 - LEAST_SHARE), errors, np.nan)
    K, C = values.shape
    # of labels the last one follows from the others
    free = [k * C + c for k in range(K) for c in range(C if labels is None else C - 1)]
    covariance = covariance[np.ix_(free, free)]
    m = len(free) // K
    contrasts = np.hstack([-np.ones((K - 1, 1)), np.eye(K - 1)])
    contrasts = np.kron(contrasts, np.eye(m))
    statistic, df = (0.0, 0) if K == 1 or m == 0 else wald(
        contrasts @ values.ravel()[free], contrasts @ covariance @ contrasts.T
    )  # fmt: skip
    shape = (K,) if labels is None else (K, C)
    return Distal(
        kind="continuous" if labels is None else "categorical", method=method, assignment=assignment,
        categories=() if labels is None else labels, estimates=values.reshape(shape), errors=errors.reshape(shape),
        unadjusted=raw.reshape(shape), classification=whole.errors, statistic=statistic, df=df,
        p_value=float(chi2.sf(statistic, df)) if df else 1.0, n_samples=float(of.frequencies.sum()),
        notes=(whole.note(result), *notes),
    )  # fmt: skip


def _outcome(y, n, kind):
    """Return columns (n, C) whose averages are asked for, which entries are known, and labels or None."""
    table = np.asarray(y)
    if table.ndim != 1 or len(table) != n:
        raise InputError(f"y must have one entry for each of the {n} samples of the fit; got shape {table.shape}")
    if table.dtype.kind == "O" and all(entry is None or isinstance(entry, numbers.Real) for entry in table.tolist()):
        table = table.astype(float)
    if table.dtype.kind in "biuf" and kind != "categorical":
        values = table.astype(float)
        kept = ~np.isnan(values)
        if np.isinf(values).any():
            raise InputError("y must be finite; NaN is missing")
        return np.where(kept, values, 0.0)[:, np.newaxis], kept, None
    if kind == "continuous":
        raise InputError(f"y must be numbers where kind is 'continuous'; got dtype {table.dtype}")
    kept = np.array([entry is not None and entry == entry for entry in table.tolist()])
    if len({type(entry) for entry in table[kept].tolist()}) > 1:
        raise InputError("y must hold labels of one kind")
    labels, codes = np.unique(table[kept].astype(str if table.dtype.kind == "O" else table.dtype), return_inverse=True)
    columns = np.zeros((n, len(labels)))
    columns[np.flatnonzero(kept), codes] = 1.0
    return columns, kept, tuple(labels.tolist())


def _by_weights(of, columns, is_categorical):
    """BCH: averages with weights that undo the errors."""
    weights = of.weights
    mass = of.frequencies @ weights
    if not mass.min() > 0.0:
        raise InputError("y must be known of more samples: a class has no weight among those whose outcome is known")
    values = weights.T @ (of.frequencies[:, np.newaxis] * columns) / mass[:, np.newaxis]
    scores = weights[:, :, np.newaxis] * (columns[:, np.newaxis] - values)
    covariance = sandwich(scores.reshape(len(columns), -1), of.frequencies, np.diag(np.repeat(mass, columns.shape[1])))
    notes = []
    if is_categorical and ((values < 0.0) | (values > 1.0)).any():
        notes.append("a probability lies outside [0, 1], as BCH allows where classes are small; method='ml' does not")
    return values, covariance, notes


def _by_likelihood(of, columns, is_categorical):
    """ML: EM for sizes and outcomes of classes; continuous outcomes are normal, of one variance."""
    K, C, w = of.shares.shape[1], columns.shape[1], of.frequencies
    total = w.sum()
    mass = w[:, np.newaxis] * of.posterior
    sizes = mass.sum(axis=0) / total
    values = mass.T @ columns / mass.sum(axis=0)[:, np.newaxis]
    variance = float(w @ np.square(columns[:, 0] - w @ columns[:, 0] / total) / total)
    if not is_categorical and not variance > 0.0:
        return values, np.zeros((K, K)), ["the outcome is constant"]

    def log_joint(sizes, values, variance):
        with np.errstate(divide="ignore"):
            if is_categorical:
                return np.log(sizes) + np.log(values)[:, columns.argmax(axis=1)].T
            return np.log(sizes) - 0.5 * (np.square(columns - values.T) / variance + np.log(2.0 * np.pi * variance))

    last = -np.inf
    for _step in range(MOST_THIRD_STEPS):
        each, tau = of.log_likelihoods(log_joint(sizes, values, variance))
        mass = w[:, np.newaxis] * tau
        sizes = mass.sum(axis=0) / total
        values = mass.T @ columns / np.maximum(mass.sum(axis=0), 1e-300)[:, np.newaxis]
        if not is_categorical:
            variance = float((mass * np.square(columns - values.T)).sum() / total)
        now = float(w @ each)
        if now - last <= THIRD_TOL * (1.0 + abs(now)):
            break
        last = now
    notes = [] if is_categorical else ["method='ml' takes the outcome as normal in each class, of one variance"]

    # parameters without bounds: logits of sizes, means and log variance, or logits of labels
    def unpack(at):
        sizes = _softmax(np.append(at[: K - 1], 0.0))
        rest = at[K - 1 :]
        if is_categorical:
            logits = np.hstack([rest.reshape(K, C - 1), np.zeros((K, 1))])
            return sizes, np.exp(logits - logits.max(axis=1, keepdims=True)), 1.0
        return sizes, rest[:K, np.newaxis], np.exp(rest[K])

    def each_of(at):
        sizes, values, variance = unpack(at)
        values = values / values.sum(axis=1, keepdims=True) if is_categorical else values
        return of.log_likelihoods(log_joint(sizes, values, variance))[0]

    safe = np.maximum(sizes, 1e-12)
    start = np.log(safe[:-1] / safe[-1])
    if is_categorical:
        p = np.maximum(values, LEAST_SHARE)
        start = np.concatenate([start, np.log(p[:, :-1] / p[:, -1:]).ravel()])
        covariance = numerical_sandwich(each_of, start, w)[K - 1 :, K - 1 :] if C > 1 else np.zeros((0, 0))
        # from logits to probabilities
        slopes = np.zeros((K * C, K * (C - 1)))
        for k in range(K):
            block = np.diag(values[k]) - np.outer(values[k], values[k])
            slopes[k * C : (k + 1) * C, k * (C - 1) : (k + 1) * (C - 1)] = block[:, :-1]
        return values, slopes @ covariance @ slopes.T, notes
    start = np.concatenate([start, values[:, 0], [np.log(variance)]])
    return values, numerical_sandwich(each_of, start, w)[K - 1 : 2 * K - 1, K - 1 : 2 * K - 1], notes


def _softmax(logits):
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()
