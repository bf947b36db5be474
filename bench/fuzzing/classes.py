"""Attacks on clusterwise least squares: what a class can save in a box, nodes, results, searches told too much, proofs.

References are sums of squares in rational numbers, at classes that descents from random ones end in.
"""

from fractions import Fraction
from operator import mul

import numpy as np
from gopfast.clusterwise.pricing import FitSearch
from gopfast.search.stop import StopSignal

import gopfast
from gopfast.checker import file
from gopfast.clusterwise.margins import EXACT
from gopfast.clusterwise.node import Node
from gopfast.clusterwise.solve import Search
from gopfast.options import Options
from gopfast.result import CLOSED_FORM, Status

from .definitions import least_squares
from .failure import Failure
from .surroundings import random_box

N_DESCENTS, N_STEPS = 6, 10
N_BOXES, N_LABELLINGS, DEPTH, N_CHANGES = 24, 4, 4, 4
MOST_NODES = (1, 20, 200)
SECONDS = 4.0
# Of sums of squares, by rounded coefficients; of the responses' squares, by samples that count a little
# (`least_squares`).
ROUNDING, LITTLE = Fraction(1, 10**9), Fraction(1, 2**100)
# A search that must prove this part of the sum of squares more than is true.
EXCESS = -1e-2


class Rows:
    """Rows of regressors and response (n, q + 1) in rational numbers, with weights."""

    def __init__(self, table, weights, K):
        self.exact, self.K = [[Fraction(x) for x in row] for row in table.tolist()], K
        self.mass, self.weights = weights, [Fraction(w) for w in weights.tolist()]

    def residuals(self, b):
        return [row[-1] - sum(map(mul, b, row[:-1])) for row in self.exact]

    def fits(self, labels):
        """Exact coefficients of every class, those of all rows where it is empty, and each class's sum of squares."""
        found = []
        for k in range(self.K):
            own = self.mass * (labels == k)
            b = least_squares(self.exact, own if own.any() else self.mass)[0]
            found.append((b, self.squares(labels == k, b)))
        return found

    def squares(self, own, b):
        return sum((w * e * e for w, e, is_own in zip(self.weights, self.residuals(b), own, strict=True) if is_own),
                   Fraction(0))  # fmt: skip

    def value(self, coefficients):
        """The objective, and the labels of the least residuals."""
        away = [[abs(e) for e in self.residuals([Fraction(x) for x in b])] for b in coefficients]
        labels = np.array([min(range(self.K), key=lambda k, i=i: away[k][i]) for i in range(len(self.exact))])
        return sum(w * away[k][i] ** 2 for i, (w, k) in enumerate(zip(self.weights, labels, strict=True))), labels

    def descend(self, labels):
        """The objective where fits and classes in turn end, and its labels."""
        best = None
        for _ in range(N_STEPS):
            value, labels = self.value([b for b, _ in self.fits(labels)])
            if best is not None and value >= best[0]:
                break
            best = value, labels
        return best


def rows_of(problem):
    """The samples with weight, and which these are."""
    used = problem.sample_weight > 0.0
    constant = np.ones((problem.n_samples, int(problem.fit_intercept)))
    table = np.hstack([problem.X, constant, problem.y[:, np.newaxis]])[used]
    return Rows(table, problem.sample_weight[used], problem.n_clusters)


def best_of_descents(rng, rows):
    """The least objective that descents from random classes attain."""
    return min(rows.descend(rng.integers(0, rows.K, len(rows.exact)))[0] for _ in range(N_DESCENTS))


def solved(problem, rng, **options):
    """A result, its options and what they say of it."""
    options = {
        "rel_tol": float(10.0 ** rng.uniform(-7, -1)), "max_nodes": int(rng.choice(MOST_NODES)), "time_limit": SECONDS,
        "n_threads": 1, "log": False, "random_state": int(rng.integers(2**31)), **options,
    }  # fmt: skip
    result = gopfast.solve(problem, **options)
    said = dict(status=result.status.name, lower=result.lower_bound, objective=result.objective,
                n_nodes=result.n_nodes, options=str(options))  # fmt: skip
    return result, options, said


def check_bound(what, bound, attained, said):
    """Without any room: both are exact."""
    if Fraction(bound) > attained:
        raise Failure(what, said | {"bound": bound, "attained": float(attained)})


def attack_solve(problem, rng):
    """Solve a problem and check the result; returns (solves, status)."""
    rows, used = rows_of(problem), problem.sample_weight > 0.0
    size = sum(w * row[-1] ** 2 for w, row in zip(rows.weights, rows.exact, strict=True))
    return check_solve(problem, rng, rows, size, lambda found: sum(own for _, own in rows.fits(found.labels[used])))


def check_solve(problem, rng, rows, size, value_of):
    """
    Solve a problem, again from the result, and check both; returns (solves, status).

    Parameters
    ----------
    problem : ClusterwiseRegression or KMeans
    rng : Generator
    rows : Rows
    size : Fraction
        Sum of squares of what is fitted.
    value_of : callable
        The exact objective of a result.
    """
    result, options, said = solved(problem, rng)
    own = value_of(result)
    size = ROUNDING * own + LITTLE * size
    if abs(Fraction(result.objective) - own) > size:
        raise Failure("objective is not that of the solution", said | {"own": float(own)})
    if not result.lower_bound <= result.objective:
        raise Failure("bounds crossed", said)
    best = best_of_descents(rng, rows)
    check_bound("lower bound above its own solution", result.lower_bound, own, said)
    check_bound("lower bound above an attained objective", result.lower_bound, best, said)
    tolerance = options["rel_tol"] * result.objective
    if result.status is Status.OPTIMAL and Fraction(result.objective - tolerance) > best + size:
        raise Failure("OPTIMAL but not", said | {"best": float(best)})
    if result.status is Status.OPTIMAL and result.gap > tolerance * (1.0 + 1e-12):
        raise Failure("status and gap disagree", said)
    again, _, said_again = solved(problem, rng, **options, start=result)
    check_bound("second lower bound above an attained objective", again.lower_bound, min(best, own), said_again)
    if again.objective > result.objective:
        raise Failure("a start is lost", said | {"again": again.objective})
    return 2, result.status.name


def attack_negative(problem, rng, max_nodes=None):
    """A search that must prove a part more than is true; returns (nodes, status)."""
    return prove_too_much(Search, problem, rng, rows_of(problem), max_nodes)


def prove_too_much(search_of, problem, rng, rows, max_nodes=None):
    """Run a search of a class that must prove more than is true, beside what is attained; (nodes, status)."""
    options = Options.from_arguments(
        rel_tol=1e-6, max_nodes=max_nodes or int(rng.choice(MOST_NODES)), time_limit=SECONDS, log=False, n_threads=1,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    search = search_of(problem, options)
    search.rel_tol, search.epsilon = EXCESS, -np.inf
    attained = best_of_descents(rng, rows)
    result = search.run()
    said = dict(status=result.status.name, lower=search.lower, objective=result.objective, n_nodes=result.n_nodes)
    if result.status in (Status.OPTIMAL, Status.CUTOFF) and result.objective > 0.0 and result.relaxation != CLOSED_FORM:
        raise Failure("proved what is false", said)
    check_bound("lower bound above an attained objective", search.lower, attained, said)
    return max(result.n_nodes, 1), result.status.name


def attack_boxes(problem, rng):
    """Attack what single classes save in boxes, and nodes; returns how many were tried."""
    search = Search(problem, Options.from_arguments(log=False, n_threads=1, random_state=int(rng.integers(2**31))))
    if search.closed_form or search.fits_all:
        return 0
    search.pool.fill(lambda: False)
    rows = Rows(np.column_stack([search.Z, search.y]), search.weights, problem.n_clusters)
    tried = 0
    # classes that fit all but for rounding leave 0 as the bound, without a node
    has_nodes = search.pool.inertia > search.weights.sum() * np.square(EXACT * np.abs(search.y).max())
    for _ in range(N_LABELLINGS):
        labels = rng.integers(0, rows.K, len(rows.exact))
        labels = rows.descend(labels)[1] if rng.random() < 0.6 else labels
        fits = [(k, *fit) for k, fit in enumerate(rows.fits(labels))]
        for _ in range(N_BOXES // N_LABELLINGS):
            tried += attack_class(search, rows, labels, fits[rng.integers(rows.K)], rng)
        tried += attack_node(search, [fit[1:] for fit in fits], rng) if has_nodes else 0
    return tried


def box_around(search, points, rng):
    """A box within the root that holds exact coefficients; None where one of them is not in it."""
    low, high = search.box
    b = np.array([[float(x) for x in point] for point in points])
    if (b < low).any() or (b > high).any():
        return None
    error = 2.0**-52 * np.abs(b).max(axis=0)
    least, most = zip(*(random_box(rng, point, error, low, high) for point in b), strict=True)
    return np.ascontiguousarray(np.min(least, axis=0)), np.ascontiguousarray(np.max(most, axis=0))


def attack_class(search, rows, labels, fit, rng):
    """A class whose fit is in a box saves no more than its supremum, and the hull holds it if it saves; 0: no box."""
    k, b, squares = fit
    box = box_around(search, [b], rng)
    if box is None:
        return 0
    scale = float(np.quantile(np.square(search.y), rng.random())) * 10.0 ** rng.uniform(-2, 1)
    prices, most_cells = scale * rng.exponential(size=len(search.y)), int(rng.choice([1, 30, 1000]))
    pricing = FitSearch(search.Z, search.y, search.weights, StopSignal(np.inf))
    sup, _, hull = pricing.search(prices, *box, 0.0, 0.0, most_cells)
    saved = sum((w * Fraction(price) for w, price, label in zip(rows.weights, prices.tolist(), labels, strict=True)
                 if label == k), Fraction(0)) - squares  # fmt: skip
    said = dict(sup=sup, saved=float(saved), low=box[0], high=box[1], prices=prices, own=labels == k)
    if saved > Fraction(sup):
        raise Failure("a class saves more than its box", said)
    if saved > 0 and (hull is None or not holds((*hull, 1), b)):
        raise Failure("a hull loses a class", said | {"hull": str(hull)})
    return 1


def holds(box, b):
    """Whether a box has coefficients, but for what samples that count a little move these by."""
    low, high, _ = box
    return all(Fraction(a) - size <= x <= Fraction(c) + size
               for a, x, c in zip(low.tolist(), b, high.tolist(), strict=True)
               for size in [abs(x) / 2**100 + Fraction(1, 2**200)])  # fmt: skip


def fits_in(node, points):
    """Whether the boxes take the points, as many each as it says."""
    if not points:
        return True
    for b, (low, high, count) in enumerate(node.boxes):
        if count and holds((low, high, count), points[0]):
            left = Node([*node.boxes[:b], (low, high, count - 1), *node.boxes[b + 1 :]])
            if fits_in(left, points[1:]):
                return True
    return False


def attack_node(search, fits, rng):
    """Bounds of nodes that hold the fits of classes do not exceed their squares, and one child holds them."""
    points, total = [b for b, _ in fits], sum(squares for _, squares in fits)
    box = box_around(search, points, rng)
    if box is None or not total > 0:
        return 0
    node, target = Node([(*box, len(fits))]), float(total) * float(rng.choice([0.9, 1.0 + 1e-9, 1.05, 2.0]))
    for depth in range(DEPTH):
        found = node.bound(search.pool, target, 0.01 * target, StopSignal(SECONDS), lambda: SECONDS, 2000)
        said = dict(target=target, total=float(total), depth=depth, boxes=str(node.boxes))
        check_bound("a node's bound is above the squares of classes it holds", node.lower, max(total, 0), said)
        if not found or Fraction(target) <= total:
            break
        if not fits_in(node, points):
            raise Failure("a node loses classes below its target", said)
        held = [child for child in node.children() if fits_in(child, points)]
        if not held:
            raise Failure("children lose classes", said)
        node = held[rng.integers(len(held))]
    return depth + 1


def attack_proof(problem, rng, changes):
    """Write a proof, check it, and change it; returns (checks, status)."""
    rows, data = rows_of(problem), (problem._data_of_proof(), problem.sample_weight)

    def value_of(result):
        return rows.value(np.column_stack([result.coefficients, *[result.intercepts] * problem.fit_intercept]))[0]

    return check_proof("clusterwise", problem, rng, changes, data, rows, value_of)


def check_proof(kind, problem, rng, changes, data, rows, value_of):
    """
    Write a proof, check it, and change it; returns (checks, status).

    Parameters
    ----------
    kind : str
        Of the proof.
    problem : ClusterwiseRegression or KMeans
    rng : Generator
    changes : dict
        Functions of header and arrays, by name.
    data : tuple
        That the proof is of: samples and weights.
    rows : Rows
    value_of : callable
        The exact objective of a result.
    """
    result, _, said = solved(problem, rng, proof=True)
    if result.proof is None:
        if not any("no proof" in note for note in result.notes):
            raise Failure("no proof and no word of it", said)
        return 0, result.status.name
    try:
        found = gopfast.check(result.proof, *data, problem)
    except gopfast.ProofError as error:
        raise Failure("a proof is refused", said | {"error": str(error)}) from error
    own = value_of(result)
    least = min(own, best_of_descents(rng, rows))
    check_bound("proved bound above an attained objective", found.lower_bound, least, said)
    check_bound("the result claims more than its proof", result.lower_bound, Fraction(found.lower_bound), said)
    if Fraction(found.objective) < own * (1 - ROUNDING):
        raise Failure("an objective that is not attained", said)
    for name in rng.choice(list(changes), N_CHANGES, replace=False):
        header, arrays = file.read(result.proof.data)
        header = {key: value for key, value in header.items() if key not in ("format", "version", "kind")}
        try:
            changes[str(name)](header, arrays)
            other = gopfast.check(file.pack(kind, header, arrays), *data, problem)
        except (gopfast.ProofError, IndexError, ValueError):  # refused, or a proof without what is changed
            continue
        check_bound("a changed proof says what is false", other.lower_bound, least, said | {"change": str(name)})
    return 1 + N_CHANGES, result.status.name
