"""
Rays along which a biconvex problem is unbounded, for problems whose bilinear variables nothing bounds.

From a feasible point z along d the objective and every row are quadratic in the step t,

    g(z + t d) = g(z) + g1 t + g2 t^2,    g1 = (a + 2 Q z)'d,    g2 = d'Q d.

Where no row and no variable moves towards a bound of its own, and the objective has g2 < 0, or g2 = 0 and g1 < 0, there
is no optimum. Point and ray together are a solution of negative value of another biconvex problem, in boxes around
both, which a few nodes of the same search mostly find. What it finds is rounded and then checked in rationals: nothing
rests on its tolerances but the feasibility of the point, as of every solution.

Theory: (X11) of docs/theory/biconvex.md.
"""

import dataclasses
import math
import time
from fractions import Fraction

import numpy as np
from scipy import sparse

from gopfast.biconvex.interruption import check
from gopfast.biconvex.problem import BiconvexProblem, QuadraticRow
from gopfast.biconvex.tuning import (
    DENOMINATORS,
    LEAST_FALL,
    MOST_NODES,
    MOST_SECONDS,
    RAY_FEASIBLE as FEASIBLE,
    RAY_REACHES as REACHES,
    SMALL,
)
from gopfast.result import Status


def find(problem, solve, options, stop=None):
    """
    Look for a ray that proves that a problem is unbounded.

    Parameters
    ----------
    problem : BiconvexProblem
    solve : callable
        ``solve(problem, options)``, of problems whose variables all have bounds.
    options : Options
        Of the solve that asks; its seed and threads are kept.
    stop : StopSignal, optional
        Of the solve that asks: how much time there is.

    Returns
    -------
    (ndarray, list of Fraction) or None
        A feasible point and a ray from it, each of shape (n,); None where none was found.

    Raises
    ------
    Stopped
    """
    end = time.perf_counter() + (MOST_SECONDS if stop is None else min(stop.seconds_left, MOST_SECONDS))
    options = dataclasses.replace(
        options, epsilon=None, rel_tol=None, partition="joint", branching=None, subproblem="enumerate",
        max_nodes=MOST_NODES, callback=_is_negative, log=False,
    )  # fmt: skip
    known = [problem.row_lower, problem.row_upper, problem.lower, problem.upper, *[row[2:] for row in _rows(problem)]]
    known = np.abs(np.concatenate(known))
    size = max(1.0, known[np.isfinite(known)].max(initial=0.0))
    for number, reach in enumerate(REACHES):
        check(stop)
        seconds = max(0.0, end - time.perf_counter()) / (len(REACHES) - number)
        options = dataclasses.replace(options, time_limit=seconds)
        result = solve(_search_problem(problem, reach * size), options)
        if result.status is Status.INTERRUPTED and not result.objective < -LEAST_FALL:
            raise KeyboardInterrupt  # there are no bounds to return
        if result.objective < -LEAST_FALL:
            found = proved(problem, *np.split(result.solution.z, 2), stop)
            if found is not None:
                return found
    return None


def _is_negative(state):
    """Stop a search at the first ray."""
    return bool(state.upper < -LEAST_FALL)


def _rows(problem):
    """All rows as quadratic ones."""
    none = sparse.csr_array((problem.n_variables,) * 2)
    bounds = zip(problem.A.toarray(), problem.row_lower, problem.row_upper, strict=True)
    return [QuadraticRow(none, a, low, high) for a, low, high in bounds] + list(problem.quadratic_rows)


def _search_problem(problem, reach):
    """Return the problem in point and ray."""
    n, sign = problem.n_variables, -1.0 if problem.sense == "max" else 1.0
    zeros, none = np.zeros(n), sparse.csr_array((n, n))
    quadratic, linear = [], []

    def add(zz, zd, dd, a_z, a_d, low, high):
        """Add low <= z'zz z + 2 z'zd d + d'dd d + a_z'z + a_d'd <= high."""
        if low == -math.inf and high == math.inf:
            return
        a = np.concatenate([a_z, a_d])
        if zz.nnz or zd.nnz or dd.nnz:
            quadratic.append(QuadraticRow(sparse.block_array([[zz, zd], [zd, dd]], format="csr"), a, low, high))
        elif a.any():
            linear.append((a, low, high))

    for Q, a, low, high in _rows(problem):
        add(Q, none, none, a, zeros, low, high)
        falls = -math.inf if low == -math.inf else 0.0, math.inf if high == math.inf else 0.0
        add(none, Q, none, zeros, a, *falls)
        add(none, none, Q, zeros, zeros, *falls)
    Q = sign * problem.Q
    add(none, none, Q, zeros, zeros, -math.inf, 0.0)
    lower, upper = np.maximum(problem.lower, -reach), np.minimum(problem.upper, reach)
    return BiconvexProblem(
        np.concatenate([zeros, sign * problem.c]),
        Q=sparse.block_array([[none, Q], [Q, Q]], format="csr"),
        A=np.array([a for a, *_ in linear]) if linear else None,
        row_lower=[low for _, low, _ in linear] if linear else None,
        row_upper=[high for *_, high in linear] if linear else None,
        quadratic_rows=quadratic,
        lower=np.concatenate([lower, np.where(np.isfinite(problem.lower), 0.0, -1.0)]),
        upper=np.concatenate([upper, np.where(np.isfinite(problem.upper), 0.0, 1.0)]),
    )


def proved(problem, z, d, stop=None):
    """
    Return a point and a ray, rounded to simple numbers, if they prove that a problem is unbounded; None otherwise.

    Parameters
    ----------
    problem : BiconvexProblem
    z, d : ndarray, shape (n,)
    stop : StopSignal, optional

    Returns
    -------
    (ndarray, list of Fraction) or None

    Raises
    ------
    Stopped
    """
    if not np.isfinite(d).all() or not d.any():
        return None
    d = d / np.abs(d).max()
    points = [np.array([float(_near(x, most)) for x in z]) for most in DENOMINATORS] + [z]
    points = [np.clip(point, problem.lower, problem.upper) for point in points]
    points = [point for point in points if problem.violations(point).max(initial=0.0) <= FEASIBLE]
    for most in DENOMINATORS:
        rounded = [Fraction(0) if abs(x) < SMALL else _near(x, most) for x in d]
        for ray in (rounded, _onto_rows(problem, rounded)):
            for point in points:
                if ray is not None and is_proof(problem, point, ray, stop):
                    return point, ray
    return None


def _near(x, most):
    return Fraction(x).limit_denominator(most)


def _onto_rows(problem, d):
    """Move a ray onto the linear rows that it almost keeps, exactly: elimination in rationals; None if it vanishes."""
    conditions = []
    for a, low, high in zip(problem.A.toarray(), problem.row_lower, problem.row_upper, strict=True):
        row = {i: Fraction(a[i]) for i in np.flatnonzero(a).tolist()}
        slope = float(sum(value * d[i] for i, value in row.items()))
        # To the 1,000 units of a coarsely rounded ray; what is moved too far fails the proof.
        if (math.isfinite(low) or math.isfinite(high)) and abs(slope) <= 1e-2 * np.abs(a).max():
            conditions.append(row)
    d, pivots = list(d), []
    for row in conditions:
        for pivot, other in pivots:
            factor = row.pop(pivot, 0)
            for i, value in other.items():
                row[i] = row.get(i, 0) - factor * value
        # Variables that stand still may be held by their bounds; of the others the one that is moved least.
        free = [i for i, value in row.items() if value and d[i]]
        if free:
            pivot = max(free, key=lambda i: abs(row[i]))
            scale = row.pop(pivot)
            pivots.append((pivot, {i: value / scale for i, value in row.items() if value}))
    for pivot, row in reversed(pivots):
        d[pivot] = -sum((value * d[i] for i, value in row.items()), Fraction(0))
    return d if any(d) else None


def is_proof(problem, point, ray, stop=None):
    """
    Whether a ray from a feasible point proves that the problem is unbounded, in exact arithmetic.

    Parameters
    ----------
    problem : BiconvexProblem
    point : ndarray, shape (n,)
        A feasible point.
    ray : sequence of Fraction, length n
    stop : StopSignal, optional

    Returns
    -------
    bool

    Raises
    ------
    Stopped
    """
    if any(ray[i] != 0 for atom in problem.atoms for i in (atom.argument, atom.value)):
        return False
    z = [Fraction(x) for x in point.tolist()]
    for d, low, high in zip(ray, problem.lower, problem.upper, strict=True):
        if (d < 0 and low > -math.inf) or (d > 0 and high < math.inf):
            return False
    for Q, a, low, high in _rows(problem):
        check(stop)
        slopes = _slopes(Q, a, z, ray)
        if (max(slopes) > 0 and high < math.inf) or (min(slopes) < 0 and low > -math.inf):
            return False
    first, second = _slopes(problem.Q, problem.c, z, ray)
    sign = -1 if problem.sense == "max" else 1
    return sign * second < 0 or (second == 0 and sign * first < 0)


def _slopes(Q, a, z, d):
    """g1 and g2, exactly."""
    entries = Q.tocoo()
    moved = [Fraction(0)] * len(d)
    for i, j, value in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
        moved[i] += Fraction(value) * d[j]
    first = sum((Fraction(float(a[i])) * d[i] + 2 * z[i] * moved[i] for i in range(len(d))), Fraction(0))
    return first, sum((d[i] * moved[i] for i in range(len(d))), Fraction(0))
