"""Proofs of biconvex problems, for `gopfast.checker`: a search of its own, whose every step is a certificate.

The search that found the solution tightens boxes in ways that nothing was kept of. This one knows what is to be proved,
so that its order does not matter: depth first, each node one linear program of what a certificate may add up (rows,
McCormick's rows, rows times bounds, squares), whose duals are the certificate. What it holds are the open nodes alone.
Rows that are hyperbolas have tangents at the best point, which the checker takes for rows.

Theory: (V9), (V11) of docs/theory/proofs.md; (VL1), (VL3) of docs/theory/convex_proofs.md.
"""

import dataclasses
import json
import math

import numpy as np

from gopfast.biconvex import convex_certificates, directed_proofs, hyperbolas
from gopfast.biconvex.cuts import Cuts
from gopfast.biconvex.interruption import Stopped, check
from gopfast.biconvex.lines import Lines
from gopfast.biconvex.margins import GIVEN_AWAY as ROUNDING, PROOF_MARGIN as MARGIN
from gopfast.biconvex.program import Program
from gopfast.biconvex.tuning import (
    GRIDS,
    LEAST_TOLERANCE,
    MIDDLE,
    MOST_NODES_BESIDE as MOST_NODES,
    MOST_NODES_EACH,
    MOST_ROOT_ROUNDS,
    NARROW,
    NEARLY_A_CASE,
    PROOF_ROUNDS as MOST_ROUNDS,
    SHARE,
    SWEEPS,
    WORTH_A_CUT,
    WORTH_A_PROGRAM,
)
from gopfast.checker import ProofError, biconvex, file, functions
from gopfast.checker.certificate import Certificates
from gopfast.checker.hyperbolas import hyperbola, with_tangents
from gopfast.proof import keep
from gopfast.result import Status
from gopfast.search.stop import StopSignal


class Unproved(Exception):
    """The search for a proof ended without one."""


def with_proof(problem, result, tolerance, where, seconds=math.inf):
    """
    Return a result with a proof of its bound, or with a note that says why there is none.

    Parameters
    ----------
    problem : BiconvexProblem or PolynomialProblem
    result : BiconvexResult
    tolerance : float
        The gap that OPTIMAL allows.
    where : str or True
        File, or that the proof is kept in memory.
    seconds : float
        Time limit.
    """
    sign = -1.0 if problem.sense == "max" else 1.0
    value, bound = sign * result.objective, sign * result.bound
    notes = list(result.notes)
    try:
        own = biconvex.BiconvexProblem(json.loads(problem.to_json()))
        claimed = _claimed(result, value, bound, tolerance)
        # of polynomial problems, what formulas made of quotients, roots and sums is part of what is proved
        stated = getattr(problem, "stated", np.asarray)
        z = None if result.solution is None else stated(result.solution.z)
        if z is not None and not math.isfinite(own.violation(z)):
            raise Unproved("the solution is outside the domain of a function")
        if z is not None and not math.isfinite(own.objective(z)):
            raise Unproved("the solution's objective is too large for a double")
        arrays = prove(own, claimed, result.n_nodes, seconds, z)
    except (Unproved, ProofError, KeyboardInterrupt) as error:
        reason = "interrupted" if isinstance(error, KeyboardInterrupt) else error
        return dataclasses.replace(result, notes=[*notes, f"no proof was written: {reason}"])
    claim = {"bound": claimed, "objective": None, "solution": None, "violation": 0.0}
    if z is not None:
        claim |= {"objective": own.objective(z), "solution": z.tolist(), "violation": own.violation(z)}
    data = file.pack("biconvex", {"digest": own.digest(), "claim": claim}, arrays)
    fields = {"proof": keep(data, where)}
    if claimed is not None:
        fields["bound"] = sign * claimed
        if problem.sense == "min":
            fields["lower_bound"] = claimed
    return dataclasses.replace(result, notes=notes, **fields)


def _claimed(result, value, bound, tolerance):
    """Return the bound to prove, minimised; None: that no point is feasible."""
    if result.status is Status.INFEASIBLE:
        return None
    if not math.isfinite(bound):
        raise Unproved("there is no bound")
    # tolerances below what certificates need to hold have no proof: an optimum of 0, mostly
    if result.status is Status.OPTIMAL and tolerance > LEAST_TOLERANCE * MARGIN * (1 + abs(value)):
        return value - (1 - SHARE) * tolerance
    gap = value - bound if math.isfinite(value) else 0.0
    return bound - max(ROUNDING * (1 + abs(bound)), SHARE * gap)


def prove(problem, bound, n_nodes, seconds=math.inf, point=None):
    """
    Prove that no feasible point has an objective below a bound.

    Parameters
    ----------
    problem : gopfast.checker.biconvex.BiconvexProblem
    bound : float or None
        Minimised; None: that no point is feasible.
    n_nodes : int
        That the search took.
    seconds : float
        Time limit.
    point : ndarray, shape (n_given,), optional
        The best that is known, at which rows may have tangents.

    Returns
    -------
    dict
        Arrays of a proof.

    Raises
    ------
    Unproved
    """
    with np.errstate(all="ignore"):
        stop, most_nodes, no_directions = StopSignal(seconds), MOST_NODES + MOST_NODES_EACH * n_nodes, problem.n + 1
        found = _in_directions(problem, bound, most_nodes, stop)
        if found is not None:
            return found
        rows, tangents = _tangents(problem, point)
        problem = with_tangents(problem, rows, tangents)
        prover = _Prover(problem, bound, most_nodes, stop)
        try:
            if point is None or bound is None or not prover.by_convexity(problem.completed(point)):
                prover.run()
        except Stopped:
            raise _ended(stop) from None
        finally:
            prover.program.close()
        found = prover.entries.arrays(prover.program.vectors(), prover.program.lines)
        return found | {"hyperbolas": rows, "tangents": tangents, "directions": np.zeros((0, no_directions))}


def _ended(stop):
    """Return what a search for a proof ends with that was stopped."""
    stop.reraise()
    return Unproved("interrupted" if stop.stopped == Status.INTERRUPTED else "the time limit came first")


def _in_directions(problem, bound, most_nodes, stop):
    """Return the arrays of a proof whose tree is in the sums along few concave directions; None where there is none."""
    program, entries = directed_proofs.directed(problem, bound, Certificates, stop), _Entries()
    if program is None:
        return None
    try:
        if not directed_proofs.search(program, entries, most_nodes):
            return None
    except Stopped:
        raise _ended(stop) from None
    whole = program.problem.n
    return entries.arrays(np.array(program.squares).reshape(-1, whole + 1), Lines([])) | {
        "hyperbolas": np.zeros(0, int), "tangents": np.zeros((0, whole + 1)), "directions": program.vectors,
    }  # fmt: skip


def _tangents(problem, point):
    """Rows (T,) that have tangents at a point, and these (T, n + 1): constants and coefficients."""
    rows, found = [], []
    z = None if point is None else problem.completed(point)
    for row in range(len(problem.is_equation) if z is not None else 0):
        known = hyperbola(problem, row)
        for slopes, bound in [] if known is None else hyperbolas.tangents([hyperbolas.Hyperbola(*known)], z):
            rows.append(row)
            found.append(np.zeros(problem.n + 1))
            found[-1][[0, *(1 + i for i in slopes)]] = [-bound, *slopes.values()]
    return np.array(rows, int), np.array(found).reshape(-1, problem.n + 1)


class _Entries:
    """The arrays of a proof, as far as they are."""

    def __init__(self):
        self.splits, self.points, self.starts, self.cuts = [], [], [0], [0]
        self.terms, self.moves = [], []

    def split(self, variable, point):
        self.splits.append(variable)
        self.points.append(point)

    def ranges(self):
        self.split(biconvex.RANGES, 0.0)

    def leaf(self, certificate):
        self.splits.append(biconvex.LEAF)
        self._add(certificate)

    def cut(self, certificate, moves):
        self.splits.append(biconvex.CUT)
        self._add(certificate)
        self.moves += moves
        self.cuts.append(len(self.moves))

    def _add(self, certificate):
        self.points.append(0.0)
        self.terms.append(certificate)
        self.starts.append(self.starts[-1] + len(certificate[0]))

    def arrays(self, vectors, lines):
        """Return all arrays; of the lines those that are used."""
        columns = [np.concatenate([term[side] for term in self.terms]) for side in range(3)]
        own = columns[0] < 0
        used, places = np.unique((-1 - columns[0][own]) // 2, return_inverse=True)
        columns[0][own] = -1 - 2 * places - (-1 - columns[0][own]) % 2
        moves = list(zip(*self.moves, strict=True)) or [[], [], []]
        return {
            "splits": self.splits, "points": self.points, "starts": self.starts, "first": columns[0],
            "second": columns[1], "multipliers": columns[2], "cuts": self.cuts, "variables": moves[0],
            "slopes": moves[1], "ends": moves[2], "vectors": vectors,
            "lines": np.array(lines.numbers, int)[used], "line_slopes": np.array(lines.slopes)[used],
        }  # fmt: skip


NOTHING = (np.zeros(0, int), np.zeros(0, int), np.zeros(0))


class _Prover:
    def __init__(self, problem, bound, most_nodes, stop):
        self.problem, self.bound, self.most_nodes = problem, bound, most_nodes
        self.entries = _Entries()
        self.program = Program(problem, bound, stop)
        self.rule = None
        self.cuts = Cuts(problem, bound)
        self.margin = MARGIN * (1 + abs(bound or 0.0))
        # rows that may say that a product of two variables is 0
        self.of_one_product = [
            row for row, terms in enumerate(problem.polynomials[:-1])
            if not problem.is_affine[row] and sum(a != 0 for a in terms.values()) == 1
        ]  # fmt: skip

    def least(self, certificate, low, high, target=None):
        """Return what the checker makes of a certificate."""
        rest = self.rest(certificate, low, high)
        return -math.inf if rest is None else rest.least(target)

    def rest(self, certificate, low, high):
        """Return the checker's remainder of a certificate; None where it takes none."""
        vectors = self.program.vectors()
        if self.rule is None or len(vectors) != self.n_vectors:
            lines = self.program.lines.numbers, self.program.lines.slopes
            self.rule, self.n_vectors = Certificates(self.problem, vectors, self.bound, lines), len(vectors)
        try:
            return self.rule.rest(*certificate, low, high)
        except ValueError:
            return None

    def by_convexity(self, point):
        """Close the root by a convex Lagrangian, if one does."""
        first_row, squares = 2 * self.problem.n + 1, self.program.squares
        cutoff = first_row + len(self.problem.is_equation)
        for rows, multipliers, vectors in convex_certificates.certificates(self.problem, point, self.program.stop):
            squares[:], self.rule = vectors, None
            of_squares = cutoff + 1 + np.arange(len(vectors))
            certificate = (
                np.concatenate([first_row + rows, [cutoff], of_squares]),
                np.concatenate([np.zeros(len(rows) + 1, int), of_squares]),
                np.concatenate([multipliers, np.ones(1 + len(vectors))]),
            )
            if self.least(certificate, self.problem.low, self.problem.high) >= self.margin:
                self.entries.leaf(certificate)
                return True
        squares[:], self.rule = [], None
        return False

    def run(self):
        """Search until all is proved."""
        stack, n = [(self.problem.low, self.problem.high, None)], 0
        while stack:
            n += 1
            if n > self.most_nodes:
                raise Unproved(f"it takes more than {self.most_nodes:,} nodes")
            check(self.program.stop)
            children = self.node(*stack.pop(), is_root=n == 1)
            stack += reversed(children)

    def node(self, low, high, basis, is_root):
        """Close a node, or return its halves."""
        for attempt in range(MOST_ROUNDS):
            low, high = self.propagate(low, high)
            if (low > high).any():
                self.entries.leaf(NOTHING)
                return []
            solved = self.bound_box(low, high, basis, MOST_ROOT_ROUNDS if is_root else MOST_ROUNDS)
            if solved is None:
                return []
            basis = solved.basis
            before = high - low
            low, high = self.by_costs(solved, low, high)
            if is_root and attempt == 0:
                low, high = self.by_programs(low, high, basis)
            left = (high - low)[self.program.in_products] / np.maximum(before[self.program.in_products], 1e-300)
            if not (left.min(initial=1.0) < WORTH_A_PROGRAM):
                break
        if (low > high).any():
            self.entries.leaf(NOTHING)
            return []
        row = self.either(solved, low, high)
        if row is not None:
            self.entries.split(biconvex.CASES, float(row))
            return [(*biconvex.at_zero(j, low, high), basis) for j in biconvex.factors(self.problem, row, low, high)]
        j, point = self.where(solved, low, high)
        self.entries.split(j, point)
        first, last = high.copy(), low.copy()
        first[j] = last[j] = point
        return [(low, first, basis), (last, high, basis)]

    def propagate(self, low, high):
        """Cut a box by single rows."""
        for _ in range(SWEEPS):
            found = self.cuts.by_rows(low, high, WORTH_A_CUT)
            before = low, high
            for certificate, moves in found:
                low, high = self.enter_cuts(certificate, moves, low, high)
            low, high = self.by_ranges(low, high)
            if (low > high).any() or (low is before[0] and high is before[1]):
                break
        return low, high

    def by_ranges(self, low, high):
        """Cut a box by the ranges of functions."""
        if not self.problem.functions or (low > high).any():
            return low, high
        first, last = functions.narrowed(self.problem.functions, low, high)
        gained = (last - first) < WORTH_A_CUT * (high - low)
        gained |= np.isfinite(first) & ~np.isfinite(low) | np.isfinite(last) & ~np.isfinite(high)
        if not (gained.any() or (first > last).any()):
            return low, high
        self.entries.ranges()
        return first, last

    def enter_cuts(self, certificate, moves, low, high):
        """Enter the cuts that the checker accepts; return the box that is left."""
        rest = self.rest(certificate, low, high)
        kept = [] if rest is None else [move for move in moves if rest.least(move) >= 0]
        if not kept:
            return low, high
        self.entries.cut(certificate, kept)
        low, high = low.copy(), high.copy()
        for j, s, v in kept:
            if s > 0:
                low[j] = max(low[j], v)
            else:
                high[j] = min(high[j], v)
        return low, high

    def bound_box(self, low, high, basis, n_rounds):
        """Enter a leaf and return None, or return the program's solution."""
        solved = None
        for _ in range(n_rounds):
            solved = self.program.solve(low, high, basis, objective=self.bound is not None)
            certificate = solved.certificate
            if certificate is not None:
                for own in self.versions(certificate):
                    if self.least(own, low, high) >= (self.margin if solved.cutoff else MARGIN):
                        self.entries.leaf(own)
                        return None
            basis = solved.basis
            if not solved.optimal:
                break
            # squares take more time than they save where functions must be divided in any case
            if self.problem.functions:
                lacks = math.inf if certificate is None else max(-self.least(certificate, low, high), 0.0)
                is_new = self.program.add_tangents(solved, low, high, lacks)
            else:
                is_new = self.program.add_squares(solved.x)
            if not is_new:
                break
        return solved

    def versions(self, certificate):
        """Yield a certificate, and with multipliers that cancel exactly, which unbounded variables need."""
        yield certificate
        if not (np.isfinite(self.problem.low).all() and np.isfinite(self.problem.high).all()):
            for grid in GRIDS:
                yield (*certificate[:2], np.round(certificate[2] * grid) / grid)

    def by_costs(self, solved, low, high):
        """Cut a box by reduced costs."""
        if not (solved.optimal and solved.cutoff):
            return low, high
        lacks = -self.least(solved.certificate, low, high)
        d, moves = solved.reduced, []
        for j in np.flatnonzero(np.abs(d) * (high - low) * WORTH_A_CUT > lacks):
            step = lacks / abs(d[j]) * (1 + 1e-9) + MARGIN * (abs(low[j]) + abs(high[j]))
            moves.append((int(j), -float(d[j]), float(low[j] + step if d[j] > 0 else high[j] - step)))
        return self.enter_cuts(solved.certificate, moves, low, high)

    def by_programs(self, low, high, basis):
        """Cut a box by a linear program for each bound."""
        for _ in range(SWEEPS):
            before = high - low
            for j in self.program.in_products:
                for s in (1.0, -1.0):
                    if not high[j] - low[j] > NARROW * max(1.0, abs(low[j])):
                        continue
                    solved = self.program.solve(low, high, basis, cost=(j, s))
                    if solved.certificate is None:
                        continue
                    basis = solved.basis
                    if not solved.optimal:
                        if self.least(solved.certificate, low, high) >= MARGIN:
                            beyond = float(np.nextafter(high[j], math.inf))
                            low, high = self.enter_cuts(solved.certificate, [(j, 1.0, beyond)], low, high)
                        return low, high
                    # what the certificate shows of s z_j, less a little
                    end = self.least(solved.certificate, low, high, (j, s, 0.0))
                    end -= MARGIN * (abs(end) + abs(low[j]) + abs(high[j]))
                    gained = end - low[j] if s > 0 else high[j] + end
                    if gained > (1 - WORTH_A_CUT) * (high[j] - low[j]):
                        low, high = self.enter_cuts(solved.certificate, [(j, s, s * end)], low, high)
                        if (low > high).any():
                            return low, high
            left = (high - low)[self.program.in_products] / np.maximum(before[self.program.in_products], 1e-300)
            if not (left.min(initial=1.0) < WORTH_A_PROGRAM):
                break
        return low, high

    def either(self, solved, low, high):
        """Return the row, if any, of whose two cases the program's solution is in neither, or of what has no bounds."""
        x, is_finite = solved.x[: self.problem.n], np.isfinite(solved.x).all()
        found, most = None, NEARLY_A_CASE
        for row in self.of_one_product:
            pair = biconvex.factors(self.problem, row, low, high)
            if pair is None or any(low[j] == high[j] == 0.0 for j in pair):
                continue
            off = min(abs(x[j]) / self.program.whole_scale[j] for j in pair) if is_finite else 0.0
            if not np.isfinite([high[j] - low[j] for j in pair]).all():
                off = max(off, 2 * NEARLY_A_CASE)
            if off > most:
                found, most = row, off
        return found

    def where(self, solved, low, high):
        """Variable and point of a split: where products are furthest off, weighed with what they cost."""
        score, x = self.program.scores(solved, low, high)
        wide = high - low > NARROW * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
        score = np.where(wide, score, -1.0)
        if not (score > 0).any():
            inside = np.zeros(len(low), bool)
            inside[self.program.in_products] = True
            score = np.where(wide & inside, high - low, -1.0)
        j = int(np.argmax(score))
        if not score[j] > 0 or not np.isfinite(high[j] - low[j]):
            names = self.problem.names
            endless = [i for i in self.program.in_products if not np.isfinite(high[i] - low[i])]
            raise Unproved("a box is too small to split" if not endless else "nothing in a proof bounds "
                           + (names[endless[0]] if endless[0] < len(names) else "a product"))  # fmt: skip
        width = high[j] - low[j]
        at = x[j] if np.isfinite(x[j]) else 0.5 * (low[j] + high[j])
        return j, float(min(max(at, low[j] + MIDDLE * width), high[j] - MIDDLE * width))
