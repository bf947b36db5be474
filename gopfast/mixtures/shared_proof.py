"""
Proofs of mixtures of regressions whose components share a coefficient, for `gopfast.checker`.

Once the search has proved a bound, the fewest values of the coefficient that prove it are sought among those that it
has looked at, and for each of them a search for a proof goes as far as is needed there.

Theory: (VF4) of docs/theory/proof_families.md, (VC1) of docs/theory/proof_counts.md.
"""

import contextlib
import dataclasses
import math
import time
from fractions import Fraction

import numpy as np

from gopfast.checker import ProofError, file
from gopfast.checker.shared_coefficients import Problem, ranges_of
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.problems import shared_coefficients as sharing
from gopfast.mixtures.shared.coefficients import left_of, rounding_loss, weights_of_loss
from gopfast.mixtures.solve import MixtureSearch
from gopfast.mixtures.tuning import (
    COEFFICIENT_PROOF_LACK as LACK,
    COEFFICIENT_PROOF_REACH as REACH,
    COEFFICIENT_PROOF_RESERVE as RESERVE,
    COEFFICIENT_PROOF_SHARE as SHARE,
    COEFFICIENT_PROOF_TURNS as TURNS,
)
from gopfast.proof import keep
from gopfast.result import Status
from gopfast.search import interrupts

WITHOUT = "the proof is of searches of known coefficients, which did without what has no entry in proofs"


def solve(search, options, proof, started):
    """
    Run a search, and write a proof of what it has reached.

    Parameters
    ----------
    search : SharedCoefficientSearch
    options : Options
    proof : str or True
    started : float
        When, in seconds.

    Returns
    -------
    Result
    """
    problem = search.problem
    record = problem._record_of_proof()
    if record is None:
        raise InputError(f"proof must be None: proofs have no entry yet for several shared coefficients: {problem!r}")
    try:
        own = Problem(record, problem._data_of_proof(), problem._weights_of_proof())
        direction, blocks = _direction(problem), _blocks(search)
        ranges = ranges_of(own, direction, blocks)
    except ProofError as error:
        raise InputError(f"proof must be None: the checker does not take the problem; {error}") from None
    search.kept = 1.0 - RESERVE
    finish = math.inf if options.time_limit is None else started + options.time_limit
    left = finish - time.perf_counter()
    with contextlib.closing(search):
        result = search.run(max(0.0, SHARE * left) if left < math.inf else None, options.max_nodes)
    found, reason = None, "its arithmetic is not accurate enough for these data"
    try:
        with interrupts.raised(), np.errstate(all="ignore"):
            found = _Writer(search, own, ranges, direction, blocks, finish).write(result)
    except KeyboardInterrupt:  # what the search has found is kept
        reason = "Ctrl-C ended it"
    if found is None:
        return dataclasses.replace(result, notes=[*result.notes, f"no proof was written: {reason}"])
    lower, data = found
    fields = {"lower_bound": lower, "proof": keep(data, proof)}
    fields["notes"] = [*result.notes, WITHOUT]
    tolerance = max(search.epsilon, search.rel_tol * abs(result.objective))
    if result.status is Status.OPTIMAL and result.objective - fields["lower_bound"] > tolerance:
        fields["status"] = Status.TIME_LIMIT if time.perf_counter() >= finish else Status.NUMERICAL
        fields["rounding_margin"] = result.objective - fields["lower_bound"]
    return dataclasses.replace(result, **fields)


def _direction(problem):
    """Return a combination (q,) of the other regressors that is near the shared one."""
    Z, at = problem._design(), problem._shared_at
    used = problem.sample_weight > 0.0
    x, own = Z[used, at], np.delete(Z[used], at, axis=1)
    left = left_of(x, own, weights_of_loss(problem)[used])[0]
    return np.linalg.lstsq(own, x - left, rcond=None)[0]


def _blocks(search):
    """Return blocks of samples (B, size), by their places among those of positive weight."""
    if not search.far.blocks:
        return np.zeros((0, 0), dtype=int)
    place = np.cumsum(search.problem.sample_weight > 0.0) - 1
    return place[np.array(search.far.blocks)]


class _Writer:
    """Finds values of the coefficient, and proofs for them."""

    def __init__(self, search, own, ranges, direction, blocks, finish):
        self.search, self.problem, self.own, self.ranges, self.finish = search, search.problem, own, ranges, finish
        self.direction, self.blocks = direction, blocks

    def write(self, result):
        """Return the lower bound that is claimed and the proof as bytes, or None."""
        solution = self._solution(result.solution)
        try:
            upper = self.own.attained(solution)
            values = self._with_ends(self._values(result.lower_bound))
            needed = self._needed(values, result.lower_bound)
            proofs, lowers = self._proofs(values, needed)
            slopes = self._slopes(values, lowers)
            lower = self._claimed(values, lowers, slopes)
        except (ProofError, OverflowError):
            return None
        lower = float(min(lower, upper, result.lower_bound))
        if not (math.isfinite(lower) and math.isfinite(upper)):
            return None
        header = {
            "digest": file.digest(self.own.columns, self.own.weights), "problem": self.own.record,
            "direction": self.direction.tolist(),
            "claim": {"lower_bound": lower, "objective": upper, "solution": solution},
        }  # fmt: skip
        arrays = {
            "values": values, "slopes": slopes, "sizes": [len(proof) for proof in proofs],
            "proofs": np.frombuffer(b"".join(proofs), dtype=np.uint8), "blocks": self.blocks,
        }  # fmt: skip
        return lower, file.pack("shared_coefficients", header, arrays)

    def _solution(self, solution):
        """Weights, coefficients, intercepts and variances."""
        found = {name: value.tolist() for name, value in solution.parameters.items() if name != "variance"}
        if solution.variance is not None:
            found["variances"] = [solution.variance] * self.problem.n_components
        return {"weights": solution.weights.tolist(), **found}

    def _values(self, wanted):
        """Return the fewest of the values looked at between which the bound is proved, or what is nearest to it."""
        search = self.search
        every = sorted({end for _, *ends in search.heap for end in ends if math.isfinite(end)})
        if len(every) < 2:
            return every
        n = len(every)
        edges = {(i, j): search._between(every[i], every[j]) for j in range(n) for i in range(max(0, j - REACH), j)}
        best = [math.inf, *[-math.inf] * (n - 1)]  # the largest bound of all between the first value and this one
        for i, j in edges:
            best[j] = max(best[j], min(best[i], edges[i, j]))
        enough = min(wanted, best[-1])
        steps, former = [0, *[n] * (n - 1)], [0] * n
        for (i, j), bound in edges.items():
            if bound >= enough and steps[i] + 1 < steps[j]:
                steps[j], former[j] = steps[i] + 1, i
        path = [n - 1]
        while path[-1]:
            path.append(former[path[-1]])
        return [every[i] for i in reversed(path)]

    def _with_ends(self, values):
        """Move the first and the last value to where the checker finds the last fits, if it is by these."""
        if len(values) < 2 or self.search.ends is None:
            return values
        ends = self.ranges.ends()
        first = min(values[0], ends[0]) if values[0] == self.search.ends[0] else values[0]
        last = max(values[-1], ends[1]) if values[-1] == self.search.ends[1] else values[-1]
        return [first, *values[1:-1], last]

    def _needed(self, values, wanted):
        """Return what is to be proved at each value: its search's bound, or None where none of its ranges needs it."""
        needed = [None] * len(values)
        for i, (a, b) in enumerate(zip(values, values[1:], strict=False)):
            if not self.ranges.far(a, b) >= wanted:
                needed[i], needed[i + 1] = True, True
        known = self.search.values
        for i, at in enumerate(values):
            if needed[i]:
                near = min(known, key=lambda other: abs(other - at))
                needed[i] = known[near]
        return needed

    def _proofs(self, values, needed):
        """Return proofs as bytes, and what they prove as Fractions or None."""
        found, going = [None] * len(values), [i for i, at in enumerate(needed) if at is not None]
        for _ in range(TURNS):  # the later ones have what the others have left of the time
            for n_done, i in enumerate(going):
                left = max(0.0, self.finish - time.perf_counter()) / (len(going) - n_done)
                new = self._proof(values[i], needed[i], left)
                if found[i] is None or _shown(new) >= _shown(found[i]):
                    found[i] = new
            going = [i for i in going if found[i] is not None and found[i].status is Status.TIME_LIMIT]
        found = [None if _shown(one) == -math.inf else one for one in found]
        proofs = [b"" if one is None else one.proof.data for one in found]
        lowers = [None if one is None else Fraction(one.lower_bound) - self.ranges.lost(value, one.lower_bound)
                  for value, one in zip(values, found, strict=True)]  # fmt: skip
        return proofs, lowers

    def _proof(self, value, at, seconds):
        """
        Prove what a known coefficient's search has proved but for a part of the tolerance.

        Returns
        -------
        Result or None
            With a proof, if it is accurate enough and there was time for a first bound. None where there can be none.
        """
        search = self.search
        wanted = at.lower + rounding_loss(self.problem, value, at.lower) - LACK * search.tolerance
        fixed = sharing.fixed(self.problem, value)
        try:
            engine.family(fixed, at.state)
        except InputError:  # so far away that its data have no digits left
            return None
        if not wanted < math.inf:  # nor have its offsets
            return None
        with contextlib.closing(MixtureSearch(fixed, search.inner, proof=True)) as own:
            found = own.run(seconds, None, wanted)
        interrupts.check()  # of what was left unfinished the proof would claim little
        return found

    def _slopes(self, values, lowers):
        """Return slopes of the loss's tangents, 1 where none is used."""
        slopes = []
        for i, (a, b) in enumerate(zip(values, values[1:], strict=False)):
            ends = [-math.inf if x is None else float(x) for x in lowers[i : i + 2]]
            slope = self.search.loss.between(a, b, *ends).slope
            slopes.append(slope if 0.0 < slope < math.inf else 1.0)
        return slopes

    def _claimed(self, values, lowers, slopes):
        """Return what the checker finds, rounded down."""
        bounds = self.ranges.bounds(values, lowers, slopes)
        inner, outer = bounds[: max(0, len(values) - 1)], bounds[max(0, len(values) - 1) :]
        if inner and min(outer) < min(inner):
            try:
                ends = self.ranges.ends()
            except ProofError:  # too many sets of samples
                ends = (-math.inf, math.inf)
            beyond = values[0] <= ends[0], values[-1] >= ends[1]
            outer = [bound for bound, nothing in zip(outer, beyond, strict=True) if not nothing]
        return float(np.nextafter(float(min([*inner, *outer])), -np.inf))


def _shown(result):
    """Return what the proof of a result shows, -inf without one."""
    return -math.inf if result is None or result.proof is None else result.lower_bound
