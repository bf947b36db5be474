"""Checking a proof against the user's own data.

Theory: (V6) of docs/theory/proofs.md, (VF1) and (VF5) of docs/theory/proof_families.md.
"""

import json
from dataclasses import dataclass, field
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from . import (
    biconvex,
    blocks,
    clustering,
    clusterwise,
    counts,
    file,
    gamma,
    hull,
    leaf,
    matrices,
    mixed,
    objective,
    prices,
    priors,
    regressions,
    shared_coefficients,
    tree,
)
from .entries import item, number, numbers, whole
from .errors import ProofError
from .families import FAMILIES, cost_of_noise
from .problem import COUNTS, Problem
from .rounding import UNIT, down
from .tuning import LEAST_LOG_WEIGHT, MOST_LEAVES

# Kinds of files whose problems are no mixtures with one tree.
KINDS = {"clustering": clustering, "clusterwise": clusterwise, "shared_coefficients": shared_coefficients}


@dataclass(frozen=True)
class Checked:
    """
    What a proof shows.

    Attributes
    ----------
    lower_bound : float
        No mixture, or clustering, of this problem has a smaller objective.
    objective : float
        The solution's, rounded up.
    n_leaves : int
        Leaves whose bounds were verified, or cells of blocks of columns, or of the hull of means, that bound all
        mixtures.
    problem : dict
        The problem that it is of: family, number of components, floor or known variance, prior.
    solution : dict
        Weights, means and so on that attain the objective.
    """

    lower_bound: float
    objective: float
    n_leaves: int
    problem: dict[str, object] = field(repr=False)
    solution: dict[str, object] = field(repr=False)

    @property
    def gap(self) -> float:
        """How far the solution is from the optimum at most."""
        return max(0.0, self.objective - self.lower_bound)

    def __str__(self) -> str:
        """One line."""
        what = "clustering" if "n_clusters" in self.problem else "mixture"
        return (f"checked: no {what} is below {self.lower_bound:.8g}, the solution attains {self.objective:.8g} "
                f"(gap {self.gap:.3g}; {self.n_leaves:,} leaves)")  # fmt: skip


def check(
    proof: str | PathLike[str] | bytes,
    X: ArrayLike | object,
    sample_weight: ArrayLike | None = None,
    problem: object = None,
) -> Checked | biconvex.CheckedBiconvex:
    """
    Check a proof that `gopfast.solve` has written, without any of the code that made it.

    Parameters
    ----------
    proof : str, path-like, bytes or gopfast.Proof
        The file, or what is in it.
    X : array_like, shape (N,) or (N, d), data frame, mapping of str to columns, or biconvex problem
        The data that the proof is said to be of. Of a biconvex problem the problem itself: a
        `gopfast.BiconvexProblem`, or the object that its JSON file holds.
    sample_weight : array_like, shape (N,), optional
        Weights; 1 by default.
    problem : dict or mixture problem, optional
        What the proof is said to be of, as `Checked.problem` has it, or an object of `gopfast.models`; by default it is
        not compared: see `Checked.problem`.

    Returns
    -------
    Checked or CheckedBiconvex

    Raises
    ------
    ProofError
        If the proof does not hold; the message names the entry.
    OSError
        If the file cannot be opened.
    """
    header, arrays = file.read(getattr(proof, "data", proof) if not isinstance(proof, bytes) else proof)
    with np.errstate(all="ignore"):  # what overflows proves nothing, and is refused as such
        if header["kind"] == "biconvex":
            return biconvex.check(header, arrays, _biconvex_record(X))
        if header["kind"] in ("clustering", "clusterwise"):
            return _check_of_kind(header, arrays, X, sample_weight, problem)
        if header["kind"] == "shared_coefficients":
            return _check_of_kind(header, arrays, X, sample_weight, problem, _check)
        return _check(header, arrays, X, sample_weight, problem)


def _biconvex_record(problem):
    """Return the problem as its JSON file has it."""
    if isinstance(problem, dict):
        return problem
    if not hasattr(problem, "to_json"):
        raise ProofError("problem", "the proof is of a biconvex problem, which must be given in place of data")
    return json.loads(problem.to_json())


def _check_of_kind(header, arrays, X, sample_weight, wanted, *more):
    record, kind = header["problem"], KINDS[header["kind"]]
    problem = kind.Problem(record, X, sample_weight)
    _compare(record, wanted)
    if header["digest"] != file.digest(problem.columns, problem.weights):
        raise ProofError("digest", "the proof is of other data")
    lower, value, n_leaves, solution = kind.verify(header, arrays, problem, *more)
    return Checked(lower, value, n_leaves, record, solution)


def _check(header, arrays, X, sample_weight, wanted):
    record, claim = item(header, "problem", "header"), item(header, "claim", "header")
    problem = Problem(record, X, sample_weight)
    _compare(record, wanted)
    if item(header, "digest", "header") != file.digest(problem.columns, problem.weights):
        raise ProofError("digest", "the proof is of other data")
    d = problem.columns.shape[1]
    reference = numbers(header, "reference", "header", (d,))
    axes = numbers(header, "axes", "header", problem.axes_shape()) if header["axes"] is not None else None
    bounds = Bounds(problem, reference, axes)
    order = whole(header, "order", "header", 0, min(d, bounds.rules.n_cell) - 1)
    lower = number(claim, "lower_bound", "claim")
    n_leaves = _check_leaves(bounds, arrays, reference, order, lower)
    solution = item(claim, "solution", "claim")
    value = bounds.attained(solution)
    if not value <= number(claim, "objective", "claim"):
        raise ProofError("solution", f"its objective is {value:.12g}, the proof claims {claim['objective']:.12g}")
    return Checked(lower, value, n_leaves, record, solution)


def _check_leaves(bounds, arrays, reference, order, lower):
    """
    Check that all mixtures reach a bound, and return how many leaves or cells show it.

    Blocks of columns do, or the hull of some means, or every leaf: by its own entry, or else by prices and by what
    these leave of it.
    """
    floor, n_cells = blocks.bound(bounds, arrays, reference)
    if not floor >= lower:
        floor, n_cells = hull.bound(bounds.problem, bounds.columns, bounds.weights, arrays, reference)
    if floor >= lower:
        return n_cells
    labels, low, high, empty = tree.leaves(
        arrays["splits"], arrays["points"], bounds.rules, bounds.problem.n_components, order
    )
    labels, low, high = labels[~empty], low[~empty], high[~empty]
    entry = tree.entries(arrays["leaves"], labels, "leaf")
    if len(arrays["log_weights"]) != len(arrays["leaves"]) or len(arrays["slopes"]) != len(arrays["leaves"]):
        raise ProofError("leaves", "there must be slopes and weights for each of them")

    def found_of(own):
        parts = (arrays[name][entry[own]] for name in ("slopes", "log_weights"))
        return bounds.of(low[own], high[own], *parts, reference)

    found = np.full(len(labels), -np.inf)
    own = np.flatnonzero(entry != tree.NONE)
    found[own] = found_of(own)
    short = np.flatnonzero(~(found >= lower))
    if len(short) and arrays["prices"].size:
        priced = prices.Prices(bounds, arrays, reference, order, lower)
        low[short], high[short], closed = priced.cut(low[short], high[short])
        short = short[~closed]
        own = short[entry[short] != tree.NONE]
        found[own] = found_of(own)
        short = short[~(found[short] >= lower)]
    if len(short):
        i = short[0]
        why = f"its bound is {found[i]:.12g}" if entry[i] != tree.NONE else "it has no entry"
        raise ProofError(f"leaf {labels[i]}", f"{why}, the proof claims {lower:.12g}")
    return len(labels)


class Bounds:
    """
    The bounds of a problem's leaves, and the value of a solution.

    Parameters
    ----------
    problem : Problem
    reference : ndarray, shape (d,), optional
        What samples are taken relative to, and
    axes : ndarray, shape (d, d), optional
        their coordinates, of covariance matrices, or the places of regressions; no others have any.
    samples : (ndarray, ndarray), optional
        Samples (M, d) and weights (M,); by default the problem's, merged.

    Attributes
    ----------
    rules : Rules
    constant : Interval
        What objectives have beside the sums over samples and components.
    of_leaves : Interval
        What bounds of leaves, which may be in other coordinates, have.
    """

    def __init__(self, problem, reference=None, axes=None, samples=None):
        self.problem, self.constant = problem, problem.constant()
        self.columns, self.weights = samples or problem.merged()
        if (axes is not None) != (problem.family in (*matrices.FAMILIES, *regressions.FAMILIES, *COUNTS)):
            raise ProofError("axes", "must be given of covariance matrices and regressions, and of nothing else")
        if problem.family in regressions.FAMILIES:
            self.rules = regressions.Regressions(problem, self.columns.T, self.weights, axes)
        elif problem.family in COUNTS:
            self.rules = counts.CountRegressions(problem, self.columns.T, self.weights, axes)
        elif axes is not None:
            self.rules = matrices.rules(problem, self.columns.T, self.weights, axes, reference)
        else:
            rules = {**FAMILIES, "mixed": mixed.Mixed, "gamma": gamma.Gammas}[problem.family]
            self.rules = rules(problem, self.columns.T, self.weights)
        if not (self.rules.low <= self.rules.high).all():  # an empty box would prove anything
            raise ProofError("X", "has a box of all parameters that is empty")
        self.n_slopes, self.of_leaves = self.rules.n_slopes, self.constant + self.rules.constant

    def part(self, own):
        """Return the bounds of some columns (of `blocks.FAMILIES`), for the same samples and weights."""
        return Bounds(self.problem.part(own), samples=(self.columns[:, own], self.weights))

    def of(self, low, high, slopes, log_weights, reference):
        """
        Bound leaves (L, K, p) from below, (L,), by slopes (L, K, n_slopes) and log_weights (L, n_weights).

        These are of p_k exp(-a_k), so that in smaller cells, whose a_k are larger, p_k and the bound are larger too.
        """
        K, rules = self.problem.n_components, self.rules
        if slopes.shape != (len(low), K, self.n_slopes) or log_weights.shape != (len(low), self.problem.n_weights):
            raise ProofError("leaves", f"there must be slopes and weights for {len(low)} leaves of {K} components")
        if (reference[self.problem.centered_at_zero()] != 0).any():
            raise ProofError("reference", "of a variable with missing entries must be 0")
        if rules.has_sample_costs:
            logs = np.clip(log_weights, LEAST_LOG_WEIGHT, -LEAST_LOG_WEIGHT)
            found = leaf.bounds_of_costs(rules.costs(low, high, slopes), self.weights, logs)
            return down(found + self.of_leaves.low) - UNIT * np.abs(found)
        (y, reach), parts = rules.features(self.columns, reference), [np.zeros(0)]
        for i in range(0, len(low), MOST_LEAVES):
            here = slice(i, i + MOST_LEAVES)
            a, own = self.intercepts(low[here], high[here], slopes[here], reference), slopes[here]
            b = own[..., : rules.n_features]
            total, tilted = self.folded(a, b)
            total, tilted, quadratic = self.with_noise(total, tilted, rules.quadratic(own))
            log_p = np.clip(log_weights[here] + total, LEAST_LOG_WEIGHT, -LEAST_LOG_WEIGHT)
            found = leaf.bounds(y, self.weights, total, tilted, quadratic, log_p, reach)
            more, within = rules.posterior_terms(low[here], high[here], own)
            terms = down(found + priors.leaf_terms(self.problem, a, b, reference, within)) + more
            parts.append(down(down(terms) + self.of_leaves.low) - UNIT * np.abs(found))
        return np.concatenate(parts)

    def folded(self, a, b):
        """
        Sum constants over the columns, rounded down: (L, K), and put those of partial variables into the slopes.

        Samples without a label cost nothing there: the variable's constants count once for the one label of the others,
        whose column is 1, so that they can be added to the slopes of all of its labels. Of a column of numbers they are
        the slope of the column that says which samples have an entry.
        """
        if self.problem.partial or self.problem.parts:
            a, b = a.copy(), b.copy()
            for part in self.problem.parts:
                if part.presence is not None:
                    b[..., part.presence] = a[..., part.columns[0]]
                    a[..., part.columns] = 0.0
            for own in self.problem.partial:
                part = a[..., own]
                total = part.sum(axis=2, keepdims=True) - 4 * len(own) * UNIT * np.abs(part).sum(axis=2, keepdims=True)
                a[..., own], b[..., own] = 0.0, down(b[..., own] + total)
        return a.sum(axis=2) - 4 * self.rules.n_columns * UNIT * np.abs(a).sum(axis=2), b

    def with_noise(self, total, *slopes):
        """Add the component of constant density to constants (L, K) and slopes (L, K, F): it costs a constant."""
        if self.problem.noise is None:
            return total, *slopes
        cost = np.full((len(total), 1), cost_of_noise(self.problem).low)
        parts = (np.concatenate([part, np.zeros_like(part[:, :1])], axis=1) for part in slopes)
        return np.concatenate([total, cost], axis=1), *parts

    def intercepts(self, low, high, slopes, reference):
        """Constants of the affine functions (L, K, d)."""
        return self.rules.intercepts(low, high, slopes, reference)

    def attained(self, solution):
        """Evaluate the objective at a solution, rounded up."""
        value = objective.attained(self.problem, self.columns, self.weights, solution) + float(self.constant.high)
        return value + 2 * UNIT * abs(value)


def _compare(record, wanted):
    """Raise where the proof is of another problem than the user's."""
    if wanted is None:
        return
    wanted = wanted if isinstance(wanted, dict) else wanted._record_of_proof()
    if wanted is None:
        raise ProofError("problem", "proofs have no entry for a problem as the one given")
    for name in sorted(record.keys() | wanted.keys()):
        if record.get(name) != wanted.get(name):
            raise ProofError("problem", f"{name} is {record.get(name)!r}, not {wanted.get(name)!r}")
