"""Random problems with exponentials, logarithms, x log(x) and powers, evaluated by mpmath from their own terms.

A term is a coefficient times factors, each a function of an affine expression that keeps within its domain on the box.
Rows have a planted point well inside, so that no rounding decides whether it is feasible. Equations have a variable of
their own, which no other row and not the objective has, so that every point has exactly one value of it. Some problems
have two rows that contradict each other.
"""

import contextlib
import time
from typing import NamedTuple

import mpmath
import numpy as np

import gopfast

DIGITS = 40
ROUNDING = 1e-15  # of arguments of the solver's points, relative to their terms
# Positive bounds; of both signs; from 0 on; of many magnitudes
KINDS = ("positive functions", "mixed functions", "touching functions", "wide functions")


def precisely():
    """Context in which points are evaluated."""
    return mpmath.workdps(DIGITS)


class OutsideError(Exception):
    """A point at which a formula is not defined; rounding of samples makes some."""


class Factor(NamedTuple):
    """A function of constant + slopes'z: "affine", "exp", "log", "entropy" (u log u), "power" or "over" (1 / u)."""

    kind: str
    constant: float
    slopes: tuple
    exponent: float


class Instance:
    """
    A problem in terms (coefficient, factors), minimised or maximised.

    Rows are (terms, upper bound); `point` meets all, but where it is None: then they contradict each other. Equations
    are (terms, value, low, high): terms + s == value with low <= s <= high, their variables coming behind the others.
    Of a solution arguments may be below 0 by `rounding` of their terms.
    """

    rounding = ROUNDING

    def __init__(self, kind, objective, rows, equations, low, high, sense, point):
        self.kind, self.objective, self.rows, self.equations = kind, objective, rows, equations
        self.low, self.high, self.sense, self.point = low, high, sense, point

    def problem(self):
        names = {f"z{i}": pair for i, pair in enumerate(zip(self.low.tolist(), self.high.tolist(), strict=True))}
        rows = [f"{text_of(terms)} <= {bound!r}" for terms, bound in self.rows]
        for k, (terms, value, low, high) in enumerate(self.equations):
            rows.append(f"{text_of(terms)} + s{k} == {value!r}")
            names[f"s{k}"] = (low, high)
        return gopfast.PolynomialProblem(text_of(self.objective), rows, names, sense=self.sense)

    def value(self, z, rounding=0.0):
        """Objective, minimised, and the greatest magnitude of its terms, of mpmath's numbers."""
        z = z[: len(self.low)]
        found = [value_of(term, z, rounding) for term in self.objective]
        return sum(found) * (-1 if self.sense == "max" else 1), max(abs(x) for x in found)

    def sensitivity(self, z):
        """What rounding may change of the objective, of its terms and by their arguments, which matter near 0."""
        z, total = z[: len(self.low)], 0.0
        for term in self.objective:
            ends = [value_of(term, z, self.rounding, side * ROUNDING) for side in (-1, 0, 1)]
            total += max(abs(end - ends[1]) for end in ends) + 1e-12 * (1 + abs(ends[1]))
        return total

    def slacks(self, z):
        """Values of the equations' variables at a point of the others."""
        return [value - sum(value_of(term, z) for term in terms) for terms, value, *_ in self.equations]

    def violation(self, z, rounding=0.0):
        """
        Greatest violation of a row relative to max(1, its greatest term).

        At a point without the equations' variables inf where one would be outside its bounds.
        """
        n, worst = len(self.low), mpmath.mpf(0)
        z, own = z[:n], z[n:]
        for k, (terms, value, low, high) in enumerate(self.equations):
            if not own:
                if not low <= value - sum(value_of(term, z) for term in terms) <= high:
                    return mpmath.inf
                continue
            found = [*(value_of(term, z, rounding) for term in terms), mpmath.mpf(own[k])]
            worst = max(worst, abs(sum(found) - value) / max(1, *(abs(x) for x in found)))
        for terms, bound in self.rows:
            found = [value_of(term, z, rounding) for term in terms]
            worst = max(worst, (sum(found) - bound) / max(1, *(abs(x) for x in found)))
        return worst


def text_of(terms):
    return " + ".join("*".join([f"({a!r})", *(factor_text(factor) for factor in factors)]) for a, factors in terms)


def factor_text(factor):
    parts = [f"({a!r})*z{i}" if a != 1.0 else f"z{i}" for i, a in enumerate(factor.slopes) if a]
    u = " + ".join([*parts, *([f"({factor.constant!r})"] if factor.constant else [])])
    return {
        "affine": f"({u})", "exp": f"exp({u})", "log": f"log({u})", "entropy": f"({u})*log({u})",
        "power": f"({u})^({factor.exponent!r})", "over": f"1/({u})",
    }[factor.kind]  # fmt: skip


def value_of(term, z, rounding=0.0, shift=0.0):
    """
    Value of a term.

    Arguments below 0 by no more than `rounding` of their terms are 0, others outside; they are shifted by a share. If
    it is the tolerance of rows, and not what floats round, terms count as 1 at least.
    """
    a, factors = term
    total = mpmath.mpf(a)
    for factor in factors:
        u = factor.constant + sum(mpmath.mpf(slope) * x for slope, x in zip(factor.slopes, z, strict=True))
        size = abs(factor.constant) + sum(abs(slope * x) for slope, x in zip(factor.slopes, z, strict=True))
        u += shift * size
        if 0 > u >= -(rounding + abs(shift)) * (max(size, 1) if rounding > 1e-12 else size):
            u = mpmath.mpf(0)
        if u < 0 and factor.kind in ("log", "entropy", "power"):
            raise OutsideError
        if factor.kind == "exp":
            u = mpmath.exp(u)
        elif factor.kind == "log":
            u = mpmath.log(u)
        elif factor.kind == "entropy":
            u = u * mpmath.log(u) if u else mpmath.mpf(0)
        elif factor.kind == "power":
            u = u ** mpmath.mpf(factor.exponent)
        elif factor.kind == "over":
            u = 1 / u
        total *= u
    return total


def draw(rng):
    """A random instance of one to three variables."""
    n = int(rng.integers(1, 4))
    kind = str(rng.choice(KINDS))
    low = {
        KINDS[0]: rng.integers(1, 9, n) / 8, KINDS[1]: -rng.integers(1, 4, n).astype(float), KINDS[2]: np.zeros(n),
        KINDS[3]: 10.0 ** -rng.integers(1, 7, n),
    }[kind]  # fmt: skip
    high = low + rng.integers(1, 17, n) / 4
    if kind == KINDS[3]:
        high = 10.0 ** rng.integers(0, 4, n)

    def factor():
        slopes = rng.integers(-2, 3, n) / 2 if rng.random() < 0.4 else np.eye(n)[rng.integers(n)]
        if not slopes.any():
            slopes = np.eye(n)[rng.integers(n)]
        what = str(rng.choice(["affine", "exp", "log", "entropy", "power", "over"]))
        exponent = float(rng.choice([0.37, 1.3, 2.6, -0.7, -1.9, 0.91]))
        if what == "exp":
            slopes = slopes / max(1.0, np.abs(slopes) @ np.maximum(np.abs(low), np.abs(high)) / 4)
        least = np.minimum(slopes * low, slopes * high).sum()
        shift = 0.0
        if what not in ("affine", "exp"):
            closed = what == "entropy" or (what == "power" and exponent > 0)
            margin = 0.0 if closed or least > 0 else float(rng.choice([0.125, 1.0]))
            shift = max(0.0, margin - least)
        return Factor(what, float(shift), tuple(slopes.tolist()), exponent)

    def terms():
        return [
            (float(rng.integers(1, 9)) / 4 * (1 if rng.random() < 0.5 else -1),
             [factor() for _ in range(int(rng.choice([1, 1, 2])))])
            for _ in range(int(rng.integers(1, 4)))
        ]  # fmt: skip

    point = low + (high - low) * rng.integers(1, 8, n) / 8
    rows = []
    with precisely():
        for _ in range(int(rng.integers(0, 3))):
            own = terms()
            value = float(sum(value_of(term, point.tolist()) for term in own))
            rows.append((own, value + 1e-6 * (1.0 + abs(value)) + float(rng.integers(0, 3)) / 2))
        equations = []
        if rng.random() < 0.3:
            own = terms()
            value = float(sum(value_of(term, point.tolist()) for term in own))
            width = float(rng.integers(1, 9)) / 4 * (1.0 + abs(value))
            equations.append((own, value, -width, width / 2))
        if rng.random() < 0.1:
            # by more than the feasibility tolerance of any point
            own = terms()
            value = float(sum(value_of(term, point.tolist()) for term in own))
            least = 1e-3 * (1.0 + sum(abs(a) for a, _ in own) + abs(value)) * float(rng.choice([1.0, 100.0]))
            rows += [(own, value), ([(-a, factors) for a, factors in own], -value - least)]
            point = None
    return Instance(kind, terms(), rows, equations, low, high, str(rng.choice(["min", "max"])), point)


def feasible_points(instance, rng, count=60):
    """Points that meet all rows, and their objectives, minimised: the planted one and samples; best first."""
    found = []
    shape = (count, len(instance.low))
    shares = np.where(rng.random(shape) < 0.3, rng.integers(0, 2, shape), rng.random(shape))
    if instance.point is None:
        return []
    points = np.vstack([instance.point, instance.low + (instance.high - instance.low) * shares])
    with precisely():
        for z in np.clip(points, instance.low, instance.high).tolist():
            with contextlib.suppress(OutsideError):
                if instance.violation(z) <= 0:
                    found.append((instance.value(z)[0], z))
    return sorted(found, key=lambda entry: entry[0])


def scip_bounds(instance, seconds):
    """SCIP's objective and dual bound, minimised, and its processor seconds."""
    import pyscipopt
    from pyscipopt import Model

    model = Model()
    model.hideOutput()
    for name, value in (("limits/time", seconds), ("parallel/maxnthreads", 1), ("limits/gap", 1e-6)):
        model.setParam(name, value)
    z = [model.addVar(f"z{i}", lb=low, ub=high)
         for i, (low, high) in enumerate(zip(instance.low.tolist(), instance.high.tolist(), strict=True))]

    def expression(terms):
        total = 0.0
        for a, factors in terms:
            product = a
            for factor in factors:
                u = factor.constant + sum(slope * x for slope, x in zip(factor.slopes, z, strict=True) if slope)
                product = product * {
                    "affine": lambda u=u: u, "exp": lambda u=u: pyscipopt.exp(u), "log": lambda u=u: pyscipopt.log(u),
                    "entropy": lambda u=u: u * pyscipopt.log(u), "over": lambda u=u: 1 / u,
                    "power": lambda u=u, e=factor.exponent: u**e,
                }[factor.kind]()  # fmt: skip
            total = total + product
        return total

    for terms, bound in instance.rows:
        model.addCons(expression(terms) <= bound)
    for k, (terms, value, low, high) in enumerate(instance.equations):
        model.addCons(expression(terms) + model.addVar(f"s{k}", lb=low, ub=high) == value)
    t = model.addVar("t", lb=None)
    sign = -1.0 if instance.sense == "max" else 1.0
    model.addCons(sign * expression(instance.objective) <= t)
    model.setObjective(t, "minimize")
    started = time.process_time()
    model.optimize()
    value = model.getObjVal() if model.getNSols() else np.inf
    return value, model.getDualbound(), time.process_time() - started


def wrong(instance, result, points, rel_tol=1e-6):
    """Return what is wrong with a result, as texts."""
    sign = -1 if instance.sense == "max" else 1
    bound, found = sign * mpmath.mpf(result.bound), []
    if points and bound > points[0][0] + 10.0 ** (5 - DIGITS):  # of an optimum of 0 digits are noise
        found.append(f"bound {float(bound)!r} above the feasible {float(points[0][0])!r}")
    if result.status.name == "UNBOUNDED" or (result.status.name == "INFEASIBLE" and points):
        found.append(f"{result.status.name} with a feasible point in a box")
    if result.solution is None:
        return [*found, "OPTIMAL without a solution"] if result.status.name == "OPTIMAL" else found
    with precisely():
        z = result.solution.z.tolist()
        try:
            violation = instance.violation(z, instance.rounding)
        except OutsideError:
            return [*found, f"{result.status.name} with a solution at which a function is not defined"]
        if violation > 1.01e-8:
            found.append(f"{result.status.name} with violation {float(violation):.3g}")
        value, size = instance.value(z, instance.rounding)
        if abs(sign * value - mpmath.mpf(result.objective)) > instance.sensitivity(z):
            found.append(f"objective {result.objective} where the solution has {float(sign * value)}")
        least = points[0][0] if points else value
        if result.status.name == "OPTIMAL" and value - least > rel_tol * abs(value) + 1e-6 * max(1, size):
            found.append(f"OPTIMAL {float(value)} where {float(least)} is feasible")
    return found
