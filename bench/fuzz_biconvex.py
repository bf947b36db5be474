"""Random biconvex problems: what results claim against formulas and optima that share no code with the solver.

Objective and violations are computed in rational arithmetic from the arrays that a problem is made from. Optima are
bounded from above by points: a point planted where all rows hold, samples of the box, and SCIP's solution (PySCIPOpt)
moved to where the rows hold exactly, or left out. A failure is

- a bound above the objective of a point that is exactly feasible, or INFEASIBLE where there is one;
- OPTIMAL without a point, with a violation beyond the documented 1e-8, or with a gap beyond the tolerance;
- an objective that is not the value at the solution; an exception; bounds of a node, in a search told to prove more
  than is true, above a feasible point, or boxes that lose it.

Half of the problems are those of `fuzzing/statuses`, within wide, infinite and badly scaled bounds, whose status is
known by construction, in rationals, or from SCIP: a wrong one is a failure, as is a solution of an infeasible problem.
A fifth have exponentials, logarithms and powers, `fuzzing/functions`, and are evaluated by mpmath; a third of these
with proofs that are checked, forged, and searched for where there is none (`fuzzing/function_proofs`). Of the others a
share has proofs that are checked and forged, with numbers of any magnitude (`fuzzing/forged_proofs`).

Prints each failure with its seed, and a table of kinds, counts and failures, and one of forgeries; the exit code is 1
if there was a failure.

Run: python bench/fuzz_biconvex.py [--seed 1] [--seconds 60] [--number N] [--only SEED] [--statuses SHARE]
     [--functions SHARE] [--proofs SHARE] [--ends SHARE] [--forge SHARE]
"""

import argparse
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

import gopfast
from gopfast import BiconvexProblem, Status

sys.path.insert(0, str(Path(__file__).resolve().parent))
from fuzzing import ends, forged_proofs, function_proofs, functions as with_functions, statuses as known_statuses

FEASIBLE = Fraction(1, 10**8)  # documented
ROUNDING = 1e-12  # of an objective's terms
UNDERFLOW = Fraction(1, 10**300)  # the square of a variable at 1e-300 is no double
REL_TOL = 1e-6
KINDS = ("plain", "free", "wide", "scaled", "fixed", "equations", "degenerate", "forms", "lattice", "chain", "curved",
         "switched", "distances", "copies", "few concave")


class Instance:
    """
    A problem as arrays, minimised or maximised, and a point that is exactly feasible, or None.

    Rows are (Q, a, lower, upper); Q is upper triangular, each product once.
    """

    def __init__(self, kind, c, Q, rows, lower, upper, sense, constant, point):
        self.kind, self.c, self.Q, self.rows = kind, c, Q, rows
        self.lower, self.upper, self.sense, self.constant, self.point = lower, upper, sense, constant, point
        self.n = len(c)

    def problem(self):
        linear = [row for row in self.rows if not row[0].any()]
        quadratic = [row for row in self.rows if row[0].any()]
        return BiconvexProblem(
            self.c, Q=self.Q, A=[row[1] for row in linear] or None,
            row_lower=[row[2] for row in linear] or None, row_upper=[row[3] for row in linear] or None,
            quadratic_rows=quadratic, lower=self.lower, upper=self.upper, sense=self.sense, constant=self.constant,
        )  # fmt: skip

    def value(self, z):
        """Exact objective, minimised, and the greatest magnitude of its terms."""
        terms = [Fraction(self.constant), *exact_terms(self.Q, self.c, z)]
        return sum(terms) * (-1 if self.sense == "max" else 1), max(map(abs, terms))

    def violation(self, z):
        """
        Exact greatest violation of a row; inf outside the bounds.

        Relative to max(1, greatest term at z), but at most to the row's data: 1, its bound, its coefficients and terms
        that could not be smaller.
        """
        if any(not low <= x <= high for x, low, high in zip(z, self.lower.tolist(), self.upper.tolist(), strict=True)):
            return float("inf")
        worst = Fraction(0)
        for Q, a, lower, upper in self.rows:
            terms = exact_terms(Q, a, z)
            total, at_point, data = sum(terms), max([Fraction(1), *map(abs, terms)]), self.size_of_data(Q, a)
            if upper < np.inf:
                worst = max(worst, (total - Fraction(upper)) / min(at_point, max(data, abs(Fraction(upper)))))
            if lower > -np.inf:
                worst = max(worst, (Fraction(lower) - total) / min(at_point, max(data, abs(Fraction(lower)))))
        return worst

    def size_of_data(self, Q, a):
        """Greatest of 1, the terms where variables are 1, and where they are as near to 0 as they can be."""
        near = np.maximum(0.0, np.maximum(self.lower, -self.upper))
        terms = [term for point in (np.ones(self.n), near) for term in exact_terms(Q, a, fractions(point))]
        return max([Fraction(1), *map(abs, terms)])


def exact_terms(Q, a, z):
    i, j = np.nonzero(Q)
    terms = [Fraction(q) * z[p] * z[r] for q, p, r in zip(Q[i, j].tolist(), i.tolist(), j.tolist(), strict=True)]
    return terms + [Fraction(value) * x for value, x in zip(np.asarray(a, float).tolist(), z, strict=True) if value]


def fractions(z):
    return [Fraction(x) for x in np.asarray(z, float).tolist()]


def draw(rng):
    """Integer data with every kind of row; a planted point of small dyadic numbers makes most of them feasible."""
    kind = str(rng.choice(KINDS))
    n = int(rng.integers(1, 6)) if kind != "chain" else int(rng.integers(2, 5))
    if kind == "copies":
        n = int(rng.integers(1, 3))
    if kind == "distances":
        n_points = int(rng.integers(2, 4))
        n = n_points * int(rng.integers(1, 3))
    if kind == "few concave":
        n = int(rng.integers(3, 9))
    square = kind in ("forms", "lattice") or rng.random() < 0.25
    density = rng.choice([0.3, 0.6, 1.0])

    def form():
        Q = np.triu(rng.integers(-4, 5, (n, n)) * (rng.random((n, n)) < density), 0 if square else 1).astype(float)
        return Q

    lower = -rng.integers(0, 4, n).astype(float)
    upper = lower + rng.integers(1, 6, n)
    if kind == "wide":
        reach = 10.0 ** rng.integers(1, 8, n)
        lower, upper = np.where(rng.random(n) < 0.5, 0.0, -reach), reach
    if kind == "fixed" or rng.random() < 0.1:
        which = rng.random(n) < 0.4
        upper = np.where(which, lower, upper)
        zero = which & (rng.random(n) < 0.5)
        lower, upper = np.where(zero, 0.0, lower), np.where(zero, 0.0, upper)
    near = np.clip(0.0, lower, upper)
    planted = np.clip(near + rng.integers(-8, 9, n) / 4, lower, upper)
    rows = []
    m = int(rng.integers(0, 4))
    for _ in range(m):
        Q = form() if rng.random() < 0.5 else np.zeros((n, n))
        rows.append((Q, rng.integers(-4, 5, n).astype(float)))
    if kind == "forms":
        G = rng.integers(-2, 3, (n, n)).astype(float)
        P = G @ G.T
        rows.append((np.triu(P) + np.triu(P, 1), rng.integers(-2, 3, n).astype(float)))
    if kind == "chain":
        for i in range(n - 1):
            Q = np.zeros((n, n))
            Q[i, i + 1] = 1.0
            rows.append((Q, np.zeros(n)))
        lower, upper = np.zeros(n), np.full(n, 10.0 ** rng.integers(1, 8))
        planted = 2.0 ** rng.integers(-2, 3, n)
        planted = np.clip(planted, lower, upper)
    if kind == "distances":
        # of points that may all have the same box: squares of differences, of other forms now and then
        if rng.random() < 0.6:
            lower, upper = np.full(n, lower[0]), np.full(n, upper[0])
            planted = np.clip(planted, lower, upper)
        rows = rows if rng.random() < 0.2 else [row for row in rows if not row[0].any()]
        for i in range(n_points):
            for j in range(i):
                Q = np.zeros((n, n))
                for k in range(0, n, n_points):
                    v = np.zeros(n)
                    v[[i + k, j + k]] = (1.0, -1.0) if rng.random() < 0.8 else rng.integers(1, 4, 2)
                    P = np.outer(v, v) * rng.choice([1.0, 1.0, -1.0, 2.0])
                    Q += np.triu(P) + np.triu(P, 1)
                rows.append((Q, rng.integers(-2, 3, n) * (rng.random() < 0.4)))
    if kind == "few concave":
        # a third of the eigenvalues is negative at most, and some are 0; entries that are no short numbers
        rows = [row for row in rows if not row[0].any()]
        if rng.random() < 0.4:
            rows.append((few_concave(rng, n), rng.integers(-2, 3, n).astype(float)))
    if kind == "degenerate" and rows:
        Q, a = rows[int(rng.integers(len(rows)))]
        rows += [(2 * Q, 2 * a), (Q.copy(), a.copy())]
    z = fractions(planted)
    bounded = []
    for Q, a in rows:
        value = float(sum(exact_terms(Q, a, z)))
        tight = 0.0 if kind in ("degenerate", "lattice") or rng.random() < 0.3 else float(rng.integers(0, 8)) / 2
        what = rng.random()
        if kind == "equations" or (kind == "degenerate" and what < 0.3) or what < 0.1:
            bounded.append((Q, a, value, value))
        elif kind == "chain" or what < 0.5:
            bounded.append((Q, a, value - tight, np.inf))
        elif what < 0.9:
            bounded.append((Q, a, -np.inf, value + tight))
        else:
            bounded.append((Q, a, value - tight, value + float(rng.integers(0, 3))))
    c, Q = rng.integers(-5, 6, n).astype(float), form()
    if kind == "distances":
        v = rng.integers(-2, 3, n).astype(float)
        Q = -(np.triu(np.outer(v, v)) + np.triu(np.outer(v, v), 1)) * (rng.random() < 0.4)
        c *= rng.random() < 0.7
    if kind == "few concave":
        Q = few_concave(rng, n)
    if kind == "chain":
        c, Q = rng.integers(0, 4, n).astype(float), np.zeros((n, n))
    point = planted
    if rng.random() < 0.08 and bounded:  # probably infeasible
        k = int(rng.integers(len(bounded)))
        P, a, low, high = bounded[k]
        shift = float(rng.integers(5, 60))
        bounded[k] = (P, a, low + shift, high + shift)
        point = planted if all(within(row, z) for row in bounded) else None
    if kind == "free" or rng.random() < 0.1:
        # a disc or rows bound what has no bounds; the rest is for the solver to refuse or to find out
        which = rng.random(n) < 0.6
        lower, upper = np.where(which & (rng.random(n) < 0.7), -np.inf, lower), np.where(which, np.inf, upper)
        if rng.random() < 0.7:
            size = float(rng.integers(1, 20)) + float(sum(x * x for x in z))
            bounded.append((np.eye(n), np.zeros(n), -np.inf, size))
    if kind == "curved":
        # the objective or rows must bound what has no bounds: semidefinite forms and equations of some of the variables
        which = rng.random(n) < 0.8
        lower, upper = np.where(which & (rng.random(n) < 0.8), -np.inf, lower), np.where(which, np.inf, upper)
        G = rng.integers(-2, 3, (int(rng.integers(1, n + 1)), n)).astype(float)
        P = G.T @ G
        P = np.triu(P) + np.triu(P, 1)
        if rng.random() < 0.5:
            Q = P + np.triu(form() * (rng.random() < 0.3), 1) / 4
        else:
            bounded.append((P, c / 2, -np.inf, float(sum(exact_terms(P, c / 2, z))) + float(rng.integers(0, 9))))
        for _ in range(int(rng.integers(0, 3))):
            a = rng.integers(-3, 4, n).astype(float)
            bounded.append((np.zeros((n, n)), a, *[float(a @ planted)] * 2))
    if kind == "switched":
        # z_k (a'z + b) = 0, or z_k z_i <= 0, met by the planted point; some variables without bounds
        planted = np.where(rng.random(n) < 0.5, np.clip(0.0, lower, upper), planted)
        z = fractions(planted)
        bounded = [row for row in bounded if within(row, z)]
        for k in range(n):
            a = rng.integers(-2, 3, n) * (rng.random(n) < 0.6).astype(float)
            P = np.zeros((n, n))
            for i in range(n):
                P[min(i, k), max(i, k)] = a[i]
            if rng.random() < 0.3:
                continue
            linear = np.zeros(n)
            linear[k] = float(rng.integers(-2, 3)) if planted[k] == 0 else -float(a @ planted)
            bounded.append((P, linear, 0.0, 0.0))
        which = rng.random(n) < 0.6
        lower, upper = np.where(which & (rng.random(n) < 0.3), -np.inf, lower), np.where(which, np.inf, upper)
        point = planted
    if kind == "copies":
        # the same problem several times, now and then a copy reflected, with rows that exchange nothing else
        n_copies = int(rng.integers(2, 4))
        whole, mirrored = n * n_copies, rng.random(n_copies) < 0.3
        signs = np.repeat(np.where(mirrored, -1.0, 1.0), n)

        def copied(P, a, k):
            Q, line, own = np.zeros((whole, whole)), np.zeros(whole), slice(k * n, (k + 1) * n)
            Q[own, own], line[own] = P, a * (-1.0 if mirrored[k] else 1.0)
            return Q, line

        bounded = [(*copied(P, a, k), low, high) for k in range(n_copies) for P, a, low, high in bounded]
        Q, c = (sum(parts) for parts in zip(*(copied(Q, c, k) for k in range(n_copies)), strict=True))
        lower, upper = np.tile(lower, n_copies), np.tile(upper, n_copies)
        lower, upper = np.where(signs < 0, -upper, lower), np.where(signs < 0, -lower, upper)
        planted = np.tile(planted, n_copies) * signs
        point = None if point is None else planted
        a = np.zeros(whole)
        a[::n] = signs[::n]
        bounded.append((np.zeros((whole, whole)), a, -np.inf, float(a @ planted) + float(rng.integers(0, 3))))
        if n_copies == 2 or rng.random() < 0.5:
            P = np.outer(a, a)
            P = np.triu(P, 1) * rng.choice([-1.0, 1.0])
            value = float(sum(exact_terms(P, 0 * a, fractions(planted))))
            bounded.append((P, 0 * a, -np.inf, value + float(rng.integers(0, 3))))
        n = whole
    sense = str(rng.choice(["min", "max"]))
    constant = float(rng.choice([0.0, 0.0, rng.integers(-9, 10), 1000.0]))
    if kind == "scaled" or rng.random() < 0.1:
        # powers of two: the planted point stays exact
        unit = 2.0 ** rng.integers(-20, 21, n)
        size = 2.0 ** rng.integers(-20, 21, len(bounded))
        factor = 2.0 ** rng.integers(-20, 21)
        bounded = [
            (P / np.outer(unit, unit) * s, a / unit * s, low * s, high * s)
            for (P, a, low, high), s in zip(bounded, size, strict=True)
        ]
        Q, c, constant = Q / np.outer(unit, unit) * factor, c / unit * factor, constant * factor
        lower, upper = lower * unit, upper * unit
        point = None if point is None else point * unit
    if sense == "max":
        Q, c = -Q, -c
    return Instance(kind, c, Q, bounded, lower, upper, sense, constant, point)


def few_concave(rng, n):
    """A form with few negative eigenvalues, as an upper triangle."""
    k = int(rng.integers(1, n // 3 + 1))
    negative, positive = rng.integers(-3, 4, (k, n)), rng.integers(-3, 4, (int(rng.integers(0, n)), n))
    P = (positive.T @ positive - negative.T @ negative) * float(rng.choice([0.5, 1 / 3, 0.1, 1e3, 1e-6]))
    return np.triu(P) + np.triu(P, 1)


def within(row, z):
    Q, a, lower, upper = row
    return lower <= sum(exact_terms(Q, a, z), Fraction(0)) <= upper


def known_points(instance, rng, scip_seconds):
    """Points that are exactly feasible."""
    points = [] if instance.point is None else [instance.point]
    low = np.where(np.isfinite(instance.lower), instance.lower, -4.0)
    high = np.where(np.isfinite(instance.upper), instance.upper, 4.0)
    points += list(low + (high - low) * rng.integers(0, 9, (30, instance.n)) / 8)
    if scip_seconds > 0:
        points += in_child(scip_points, instance, scip_seconds) or []
    found = []
    for point in points:
        z = fractions(point)
        if instance.violation(z) <= 0:
            found.append((instance.value(z)[0], point))
    return sorted(found, key=lambda entry: entry[0])


def in_child(function, *arguments):
    """The function's value, computed in a process of its own: None where that dies, as SCIP at times does."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: there.send(function(*arguments)))
    child.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return None
    finally:
        here.close()
        child.join()


def scip_points(instance, seconds):
    """SCIP's solution, and points between it and the planted one, which are interior where rows are convex."""
    from pyscipopt import Model

    model = Model()
    model.hideOutput()
    for name, value in (("limits/time", seconds), ("parallel/maxnthreads", 1)):
        model.setParam(name, value)
    finite = [(low if np.isfinite(low) else None, high if np.isfinite(high) else None)
              for low, high in zip(instance.lower.tolist(), instance.upper.tolist(), strict=True)]
    z = [model.addVar(f"z{i}", lb=low, ub=high) for i, (low, high) in enumerate(finite)]

    def expression(Q, a):
        i, j = np.nonzero(Q)
        total = sum(float(Q[p, r]) * z[p] * z[r] for p, r in zip(i.tolist(), j.tolist(), strict=True))
        return total + sum(float(value) * x for value, x in zip(a, z, strict=True) if value)

    for Q, a, lower, upper in instance.rows:
        left = expression(Q, a)
        if isinstance(left, (int, float)):
            continue
        if upper < np.inf:
            model.addCons(left <= upper)
        if lower > -np.inf:
            model.addCons(left >= lower)
    t = model.addVar("t", lb=None)
    objective = expression(instance.Q, instance.c)
    model.addCons(objective - t <= 0 if instance.sense == "min" else t - objective <= 0)
    model.setObjective(t, "minimize" if instance.sense == "min" else "maximize")
    try:
        model.optimize()
    except Exception:  # SCIP's own, such as "error in LP solver"
        return []
    if model.getNSols() == 0:
        return []
    best = np.clip([model.getVal(x) for x in z], instance.lower, instance.upper)
    rounded = [np.clip(np.round(best * s) / s, instance.lower, instance.upper) for s in (1.0, 4.0, 2.0**20)]
    points = [best, *rounded]
    if instance.point is not None:
        points += [best + share * (instance.point - best) for share in (1e-9, 1e-8, 1e-6, 1e-4)]
    return points


def check(instance, result, points):
    """Return what is wrong with a result, as texts."""
    wrong = []
    sign = Fraction(-1 if instance.sense == "max" else 1)
    bound = float(sign) * result.bound
    least = points[0][0] if points else None
    if result.status is Status.UNBOUNDED:
        return ["UNBOUNDED of a bounded box"] if np.isfinite([*instance.lower, *instance.upper]).all() else []
    if least is not None and bound > least:
        wrong.append(f"bound {bound} above the feasible {float(least)} by {bound - float(least):.3g}")
    if result.status is Status.INFEASIBLE and points:
        wrong.append("INFEASIBLE with a feasible point")
    if result.status is Status.OPTIMAL and result.solution is None:
        wrong.append("OPTIMAL without a solution")
    if result.solution is None:
        if np.isfinite(result.objective):
            wrong.append("an objective without a solution")
        return wrong
    z = fractions(result.solution.z)
    violation = instance.violation(z)
    if violation > FEASIBLE:
        wrong.append(f"{result.status.name} with violation {float(violation):.3g}")
    value, size = instance.value(z)
    if abs(sign * value - Fraction(result.objective)) > Fraction(ROUNDING) * size + UNDERFLOW:
        wrong.append(f"objective {result.objective} where the solution has {float(sign * value)}")
    if not result.lower_bound <= result.objective <= result.upper_bound:
        wrong.append(f"bounds in disorder: {result.lower_bound}, {result.objective}, {result.upper_bound}")
    if result.status is Status.OPTIMAL and least is not None and not any("unbounded" in note for note in result.notes):
        tolerance = REL_TOL * abs(float(value)) + 1e-6 * float(size)
        if float(value) > float(least) + tolerance + epsilon_of(instance, result.solution.z):
            wrong.append(f"OPTIMAL {float(value)} where {float(least)} is feasible")
    return wrong


def epsilon_of(instance, z):
    """The most that the default absolute tolerance can be."""
    return 1.01 * max(1e-8 * known_statuses.unit_of(instance), 1e-14 * known_statuses.terms_at(instance, z))


def one_status(seed, scip_seconds, time_limit):
    """Draw a problem whose status is known, solve and check it: kind, status and what is wrong."""
    rng = np.random.default_rng((seed, 1))
    known = known_statuses.draw(rng)
    sign = 1.0 if rng.random() < 0.5 else -1.0
    instance = Instance(known.kind, sign * known.c, sign * known.Q, known.rows, known.lower, known.upper,
                        "min" if sign > 0 else "max", sign * known.constant, None)  # fmt: skip
    rel_tol = float(rng.choice([1e-6, 1e-6, 1e-3, 1e-8]))
    options = {} if rel_tol == 1e-6 else {"rel_tol": rel_tol}
    try:
        result = gopfast.solve(instance.problem(), n_threads=1, random_state=seed, time_limit=time_limit,
                               max_nodes=int(rng.choice([20, 300])), **options)  # fmt: skip
    except Exception:
        return known.kind, "raised", [traceback.format_exc()]
    minimised = Minimised(result, sign)
    wrong = known_statuses.wrong_status(known, minimised, rel_tol)
    if result.solution is not None:
        violation = instance.violation(fractions(result.solution.z))
        if violation > FEASIBLE:
            wrong.append(f"{result.status.name} with violation {float(violation):.3g}")
    if known.truth == "unknown" and scip_seconds > 0:
        points = known_points(instance, rng, scip_seconds)
        wrong += [text for text in check(instance, result, points) if text not in wrong]
    return known.kind, result.status.name, wrong


class Minimised:
    """A result as one of a problem that is minimised."""

    def __init__(self, result, sign):
        self.objective, self.bound = sign * result.objective, sign * result.bound
        self.status, self.solution = result.status, result.solution


def audit(instance, points, rng):
    """Search told to prove more than is true: no node that holds a feasible point may be bounded above it."""
    if not points or not (instance.kind == "switched" or np.isfinite([*instance.lower, *instance.upper]).all()):
        return []
    value, best = points[0]
    return audited(instance.problem(), float(value), best, 4e-16, rng)


def audited(problem, value, best, rounding, rng):
    """
    Search a BiconvexProblem, told to prove more than is true, with a known point; return what is wrong.

    `rounding` is what the objective's value at the point may be off, relatively.
    """
    from gopfast.biconvex.alternating import AlternatingPrimal
    from gopfast.biconvex.bilinear import BilinearRelaxation
    from gopfast.search.meter import Meter
    from gopfast.search.search import Search

    from gopfast.biconvex.concave_directions import divided
    from gopfast.biconvex.lifting import Lifting
    from gopfast.biconvex.squared_forms import SquaredProblem

    if problem.atoms and not ((problem.lower <= best) & (best <= problem.upper)).all():
        # where a function is steep, bounds of exact numbers leave out what doubles make of the point
        return []
    squared, ordering, slack = None, [], 1e-12 if problem.atoms else 0.0
    if not problem.atoms:
        is_bounded = np.isfinite([*problem.lower, *problem.upper]).all()
        if is_bounded and rng.random() < 0.7:
            best, ordering = kept_image(problem, best)
        squared = SquaredProblem.of(problem)
        if squared is None and is_bounded:
            squared = divided(problem)
            if squared is not None:
                # values of directions are rounded at the point, and so is what is made of them
                slack, rounding = 1e-12, rounding + 1e3 * squared.loss / max(abs(value), 1e-300)
    if squared is not None:
        problem, best = squared, squared.completed(best)
    lifting = Lifting(problem)
    lifting.ordering = ordering
    data, scale, objective_scale = lifting.data(lifting.low, lifting.high)
    core = lifting.to_core(best, scale)
    limit = value / objective_scale
    limit += rounding * abs(limit)
    primal = AlternatingPrimal(data, [core], core, budget=Meter())
    trace, excess = [], 10.0 ** rng.integers(-6, 1) * (1e-3 + abs(limit))
    search = Search(
        BilinearRelaxation(data), primal, -excess, rel_tol=-1e9, max_nodes=int(rng.integers(10, 120)),
        known=(core, limit), time_limit=5.0, trace=trace,
    )  # fmt: skip
    reason = Status(search.run())
    # The tolerance is the smaller of both: a much better point, also a past one, may throw the known one away
    if any(upper + min(excess, 1e9 * abs(upper)) <= limit for upper in search.summary()[0]["history"][:, 3]):
        return []
    wrong = [] if search.n_audit_failures == 0 else [f"{search.n_audit_failures} nodes bounded above a feasible point"]
    if search.least_bound > limit:
        wrong.append(f"the tree's bound {search.least_bound} exceeds the feasible {limit} (core's units)")
    primal.close()
    if reason is not Status.TIME_LIMIT:
        # what is computed of others in doubles is no exact point
        wrong += lost(trace, core, slack)
    return wrong


def kept_image(problem, point):
    """The image of a point that meets the rows of the problem's symmetries, and these; none where it is no doubles."""
    from gopfast.biconvex.symmetry import Centred

    centred = Centred(problem)
    levels = centred.levels()
    rows, generators = centred.rows(levels), [images for _, own in levels for images in own]
    seen, new = set(), [tuple(fractions(point))]
    while new:
        z = new.pop()
        if all(sum(Fraction(a) * z[i] for i, a in row.items()) >= bound for row, bound in rows):
            image = np.array(z, float)
            return (image, rows) if fractions(image) == list(z) else (point, [])
        for images in generators:
            rest = [z[images[2 * i] // 2] - centred.middles[images[2 * i] // 2] for i in range(centred.n)]
            signs = [-1 if images[2 * i] % 2 else 1 for i in range(centred.n)]
            other = tuple(m + s * t for m, s, t in zip(centred.middles, signs, rest, strict=True))
            if other not in seen:
                seen.add(other)
                new.append(other)
    raise AssertionError("no image of a point meets the rows of the symmetries")


def lost(trace, point, slack=0.0):
    """
    Whether tightening has thrown a point away: a node that holds it must have a child that does, if it has any.

    `slack` is what the point's coordinates may be off, relative to 1 or their magnitudes.
    """
    off = slack * (1.0 + np.abs(point))
    # a box may end beside the point: it loses nothing if it does not hold it, and its halves are not asked for it
    holds = {serial: (low <= point).all() and (point <= high).all() for serial, _, _, low, high in trace}
    keeps = {
        serial: (low <= point + off).all() and (point - off <= high).all() for serial, _, _, low, high in trace
    }
    children = {}
    for serial, parent, *_ in trace:
        children.setdefault(parent, []).append(serial)
    parents = [serial for serial in children if holds.get(serial, True)]
    return [f"node {serial} lost a feasible point" for serial in parents
            if not any(keeps[child] for child in children[serial])]


def one(seed, scip_share, scip_seconds, audit_share, time_limit):
    """Draw, solve and check a problem: kind, status and what is wrong."""
    rng = np.random.default_rng(seed)
    instance = draw(rng)
    points = known_points(instance, rng, scip_seconds if rng.random() < scip_share else 0.0)
    options = {"max_nodes": int(rng.choice([1, 20, 300, 1000])), "time_limit": time_limit}
    try:
        result = gopfast.solve(instance.problem(), n_threads=1, random_state=seed, **options)
    except gopfast.InputError as error:
        return instance.kind, "refused", [] if "unbounded" in str(error) else [str(error)]
    except Exception:
        return instance.kind, "raised", [traceback.format_exc()]
    wrong = check(instance, result, points)
    if rng.random() < audit_share:
        try:
            wrong += audit(instance, points, rng)
        except Exception:
            wrong.append(traceback.format_exc())
    return instance.kind, result.status.name, wrong


def one_forged(seed, time_limit, counts):
    """Draw a problem, prove it, check the proof and forge it: kind, status and what is wrong."""
    rng = np.random.default_rng((seed, 7))
    instance = draw(rng)
    points = known_points(instance, rng, 0.0)
    problem = instance.problem()
    try:
        result = function_proofs.solved(problem, seed, 100, time_limit)
    except gopfast.InputError as error:
        return instance.kind, "refused", [] if "unbounded" in str(error) else [str(error)]
    except Exception:
        return instance.kind, "raised", [traceback.format_exc()]
    wrong, status = check(instance, result, points), result.status.name
    if result.proof is None:
        return instance.kind, f"{status}, not checked", wrong
    try:
        gopfast.check(result.proof, problem)
    except gopfast.ProofError as error:
        wrong.append(f"its own proof is refused: {error}")
    if points:
        wrong += forged_proofs.attack(problem, result.proof.data, fractions(points[0][1]), counts, rng)
    return instance.kind, f"{status}, checked", wrong


def one_with_functions(seed, audit_share, time_limit, proof_share=0.0, end_share=0.0):
    """
    Draw a problem with exponentials, logarithms and powers, solve and check it: kind, status and what is wrong.

    A share has its optimum at the end of a domain.
    """
    rng = np.random.default_rng((seed, 2))
    if np.random.default_rng((seed, 5)).random() < end_share:
        instance, points = ends.draw(rng), []
    else:
        instance = with_functions.draw(rng)
        points = with_functions.feasible_points(instance, rng)
    try:
        problem = instance.problem()
        result = gopfast.solve(problem, n_threads=1, random_state=seed, time_limit=time_limit,
                               max_nodes=int(rng.choice([1, 20, 300])))  # fmt: skip
    except Exception:
        return instance.kind, "raised", [traceback.format_exc()]
    wrong, status = with_functions.wrong(instance, result, points), result.status.name
    if np.random.default_rng((seed, 4)).random() < proof_share:
        try:
            result = function_proofs.solved(problem, seed, 300, time_limit)
            has_proof, more = function_proofs.checked(instance, problem, result, points, rng)
        except Exception:
            has_proof, more = False, [traceback.format_exc()]
        status, wrong = f"{result.status.name}, {'' if has_proof else 'not '}checked", wrong + more
    if points and rng.random() < audit_share and np.isfinite([problem.lifted.lower, problem.lifted.upper]).all():
        value, best = points[0]
        with with_functions.precisely():
            rounding = 1e-13 + 1e-14 * float(instance.value(best)[1] / max(abs(value), 1e-300))
            slacks = [float(slack) for slack in instance.slacks(best)]
        try:
            wrong += audited(problem.lifted, float(value), problem.completed([*best, *slacks]), rounding, rng)
        except Exception:
            wrong.append(traceback.format_exc())
    return instance.kind, status, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="first seed")
    parser.add_argument("--seconds", type=float, default=None, help="60 unless --number is given")
    parser.add_argument("--number", type=int, default=None, help="problems at most")
    parser.add_argument("--only", type=int, default=None, help="one seed alone")
    parser.add_argument("--scip", type=float, default=0.3, help="share of problems that SCIP solves too")
    parser.add_argument("--scip-limit", type=float, default=0.5, help="seconds of SCIP's; most take 0.05")
    parser.add_argument("--statuses", type=float, default=0.5, help="share of problems whose status is known")
    parser.add_argument("--functions", type=float, default=0.2, help="share of problems with exponentials and the like")
    parser.add_argument("--proofs", type=float, default=0.3, help="share of these that are proved and checked")
    parser.add_argument("--ends", type=float, default=0.2, help="share of these that end where a power begins")
    parser.add_argument("--forge", type=float, default=0.1, help="share of the others whose proofs are forged")
    parser.add_argument("--audits", type=float, default=0.5, help="share of problems with an audited search")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds of a solve")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.only is None else arguments.only
    number = 1 if arguments.only is not None else arguments.number
    counts, statuses, failed, forgeries = Counter(), Counter(), Counter(), Counter()
    seconds = arguments.seconds if arguments.seconds is not None else 60.0 if number is None else np.inf
    end = time.monotonic() + seconds
    while time.monotonic() < end and (number is None or counts.total() < number):
        share = np.random.default_rng((seed, 3)).random()
        if share < arguments.functions:
            kind, status, wrong = one_with_functions(
                seed, arguments.audits, arguments.limit, arguments.proofs, arguments.ends
            )
        elif np.random.default_rng((seed, 6)).random() < arguments.forge:
            kind, status, wrong = one_forged(seed, arguments.limit, forgeries)
        elif np.random.default_rng((seed, 0)).random() < arguments.statuses:
            kind, status, wrong = one_status(seed, arguments.scip_limit if arguments.scip else 0.0, arguments.limit)
        else:
            kind, status, wrong = one(seed, arguments.scip, arguments.scip_limit, arguments.audits, arguments.limit)
        counts[kind] += 1
        statuses[kind, status] += 1
        if wrong:
            failed[kind] += 1
            print(f"seed {seed}, {kind}, {status}: " + "; ".join(wrong), flush=True)
        seed += 1
    names = sorted({status for _, status in statuses})
    print(f"seeds {arguments.seed if arguments.only is None else seed - 1} to {seed - 1}")
    print("| kind | problems | failures | " + " | ".join(names) + " |")
    print("| --- " * (3 + len(names)) + "|")
    kinds = [kind for kind in (*KINDS, *known_statuses.KINDS, *with_functions.KINDS, *ends.KINDS) if counts[kind]]
    for kind in [*kinds, "all"]:
        row = [counts[kind], failed[kind], *(statuses[kind, name] for name in names)]
        if kind == "all":
            row = [counts.total(), failed.total(), *(sum(statuses[k, name] for k in kinds) for name in names)]
        print(f"| {kind} | " + " | ".join(map(str, row)) + " |")
    if forgeries:
        print("\n| change of a proof that claims too much | " + " | ".join(forged_proofs.VERDICTS) + " |")
        print("| --- " * (1 + len(forged_proofs.VERDICTS)) + "|")
        for kind in (*forged_proofs.KINDS, "certificates"):
            row = [forgeries[kind, verdict] for verdict in forged_proofs.VERDICTS]
            print(f"| {kind} | " + " | ".join(map(str, row)) + " |")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
