"""Proofs of mixtures of regressions whose components share a coefficient: one proof for each of some of its values.

``problem`` in the header is that of a mixture of regressions, see `problem`, with ``shared_coefficient``, the place of
what is shared among the regressors and the constant after them. ``direction`` (q,): of the q others a combination that
is near the shared regressor x. ``claim`` has ``lower_bound``, ``objective`` and ``solution``, as of regressions.

``values`` (n,) of the coefficient, ascending. ``sizes`` (n,) in bytes of what ``proofs`` has for each of them, one
after the other: a proof of the mixture in which the coefficient is known, that of the response y - x u on the others,
or of counts with the offset o + x u, as floats; or nothing, 0. ``slopes`` (n - 1,) of the loss between two values.
``blocks`` (B, K q + 1) of different samples, by their places among those of positive weight; or (B, K + 1) of such as
have the same regressors, x left aside. What holds between the values, and beyond: `shared_ranges`.

Theory: (VF4) of docs/theory/proof_families.md, (VC1) of docs/theory/proof_counts.md.
"""

from fractions import Fraction

import numpy as np

from . import file, objective, problem as mixtures
from .entries import item, number, numbers, whole
from .errors import ProofError
from .rounding import up
from .shared_counts import CountRanges
from .shared_ranges import NormalRanges


class Problem:
    """
    A mixture of regressions whose components share a coefficient, and its data.

    Attributes
    ----------
    mixture : gopfast.checker.problem.Problem
        The same where nothing is shared.
    place : int
        Of the shared coefficient.
    """

    def __init__(self, record, X, sample_weight):
        if not isinstance(record, dict) or record.get("family") not in (*mixtures.LEVELS, *mixtures.COUNTS):
            raise ProofError("problem", "must be a mixture of regressions")
        self.record, own = record, {name: x for name, x in record.items() if name != "shared_coefficient"}
        self.mixture = mixture = mixtures.Problem(own, X, sample_weight)
        self.columns, self.weights, self.n_regressors = mixture.columns, mixture.weights, mixture.n_regressors
        self.n_own = self.n_regressors + mixture.fit_intercept - 1
        self.place = whole(record, "shared_coefficient", "problem", 0, self.n_own)
        if self.n_own < 1:
            raise ProofError("problem", "components have no coefficient of their own")
        if mixture.family == "poisson_regression" and not (mixture.fit_intercept and self.place < self.n_regressors):
            raise ProofError("problem", "components of Poisson counts need intercepts of their own")

    def fixed(self, value):
        """Return the record and the data (N, p) of the mixture in which the coefficient has a value."""
        is_slope, mixture = self.place < self.n_regressors, self.mixture
        columns = list(np.delete(self.columns, [self.place] * is_slope, axis=1).T)
        record = {**mixture.record, "fit_intercept": mixture.fit_intercept and is_slope}
        for name in mixtures.OTHERS:
            if record.get(name) is not None:
                record[name] -= is_slope
        part = value * self.shared_regressor()
        if mixture.family not in mixtures.COUNTS:
            columns[-1] = columns[-1] - part
        elif record["offset"] is None:
            record["offset"] = len(columns) - 1
            columns.insert(len(columns) - 1, part)
        else:
            columns[record["offset"]] = columns[record["offset"]] + part
        return record, np.column_stack(columns)

    def shared_regressor(self):
        """Return x (N,)."""
        return self.columns[:, self.place] if self.place < self.n_regressors else np.ones(len(self.columns))

    def attained(self, solution):
        """Return the objective at a solution, rounded up."""
        name = "coefficients" if self.place < self.n_regressors else "intercepts"
        shape = (self.mixture.n_components, self.n_regressors)[: 2 if self.place < self.n_regressors else 1]
        found = numbers(solution, name, "solution", shape)
        found = found[:, self.place] if found.ndim == 2 else found
        if (found != found[0]).any():
            raise ProofError("solution", "all components have the same shared coefficient")
        value = objective.attained(self.mixture, *self.mixture.merged(), solution) + float(self.mixture.constant().high)
        return float(up(value + 2.0**-50 * abs(value)))


def ranges_of(problem, direction, blocks):
    """Return what is proved over ranges of the coefficient, see `shared_ranges`."""
    kind = CountRanges if problem.mixture.family in mixtures.COUNTS else NormalRanges
    return kind(problem, direction, blocks)


def verify(header, arrays, problem, check):
    """
    Check a proof.

    Parameters
    ----------
    header, arrays : dict
    problem : Problem
    check : callable
        Checks a proof of a mixture: of header, arrays, data, weights and problem.

    Returns
    -------
    lower : float
        The lower bound,
    value : float
        the objective,
    n_leaves : int
        leaves of all proofs and ranges of the coefficient,
    solution : dict
    """
    claim = item(header, "claim", "header")
    lower, solution = number(claim, "lower_bound", "claim"), item(claim, "solution", "claim")
    value = problem.attained(solution)
    if not value <= number(claim, "objective", "claim"):
        raise ProofError("solution", f"its objective is {value:.12g}, the proof claims {claim['objective']:.12g}")
    ranges = ranges_of(problem, numbers(header, "direction", "header", (problem.n_own,)), arrays["blocks"])
    values, sizes, slopes = arrays["values"], arrays["sizes"], arrays["slopes"]
    if not (np.diff(values) > 0).all():
        raise ProofError("values", "must ascend")
    if len(sizes) != len(values) or (sizes < 0).any() or sizes.sum(dtype=np.int64) != len(arrays["proofs"]):
        raise ProofError("sizes", "must be those of the proofs, one of each value")
    if len(slopes) != max(0, len(values) - 1) or not (slopes > 0).all():
        raise ProofError("slopes", "must be above 0, one between each two values")
    lowers, n_leaves, begin = [], 0, 0
    for at, size in zip(values.tolist(), sizes.tolist(), strict=True):
        data, begin = arrays["proofs"][begin : begin + size].tobytes(), begin + size
        found = _proved(problem, at, data, check) if size else None
        lowers.append(None if found is None else Fraction(found.lower_bound) - ranges.lost(at, found.lower_bound))
        n_leaves += 0 if found is None else found.n_leaves
    bounds = ranges.bounds(values.tolist(), lowers, slopes.tolist())
    short = [i for i, bound in enumerate(bounds) if not bound >= Fraction(lower)]
    outer = max(0, len(values) - 1)
    if len(values) and any(i >= outer for i in short):
        ends = ranges.ends()
        beyond = (values[0] <= ends[0], values[-1] >= ends[1])
        short = [i for i in short if i < outer or not beyond[i - outer]]
    if short:
        found = float(bounds[short[0]])
        raise ProofError(f"range {short[0]}", f"its bound is {found:.12g}, the proof claims {lower:.12g}")
    return lower, value, n_leaves + len(bounds), solution


def _proved(problem, value, data, check):
    """Check the proof of a known coefficient."""
    record, X = problem.fixed(value)
    header, arrays = file.read(data)
    if header["kind"] != "mixture":
        raise ProofError("proofs", "must be of mixtures")
    try:
        return check(header, arrays, X, problem.weights, record)
    except ProofError as error:
        raise ProofError(f"proof of {value:g}", str(error)) from None
