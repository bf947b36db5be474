"""Proofs of random problems with functions: written, checked, told to prove more than is true, and forged.

What is known are points that are exactly feasible, evaluated by mpmath.
"""

import json

import numpy as np

import gopfast
from gopfast.biconvex import proof
from gopfast.checker import ProofError, check, file
from gopfast.checker.biconvex import BiconvexProblem

MOST_NODES = 100  # of a search for what is false
N_FORGERIES = 10


def checked(instance, problem, result, points, rng):
    """Whether a result has a proof, and what is wrong with it, as texts."""
    found = [] if rng.random() < 0.5 else of_what_is_false(instance, problem, points, rng)
    if result.proof is None:
        return False, found
    sign = -1.0 if instance.sense == "max" else 1.0
    try:
        own = check(result.proof, problem)
    except ProofError as error:
        return True, [*found, f"its own proof is refused: {error}"]
    if points and sign * own.bound > points[0][0]:
        found.append(f"proved {own.bound!r}, feasible {float(sign * points[0][0])!r}")
    if result.solution is not None and not abs(own.objective - result.objective) <= 1e-9 * (1 + abs(own.objective)):
        found.append(f"the proof's solution has {own.objective!r}, the result's {result.objective!r}")
    return True, found + forged(instance, problem, result, points, rng)


def excess(points, rng):
    """By how much more than is true is claimed: above what rounding makes of the problem's numbers."""
    return float(10.0 ** rng.integers(-7, 1)) * (1 + abs(float(points[0][0])))


def of_what_is_false(instance, problem, points, rng):
    """Search for the proof of a bound that a feasible point beats."""
    if not points:
        return []
    stated = BiconvexProblem(json.loads(problem.to_json()))
    bound = None if rng.random() < 0.1 else float(points[0][0]) + excess(points, rng)
    n_nodes = (MOST_NODES - proof.MOST_NODES) // proof.MOST_NODES_EACH
    try:
        proof.prove(stated, bound, n_nodes, 2.0, problem.stated(problem_point(instance, points)))
    except proof.Unproved:
        return []
    return [f"proved {bound}, minimised, where {float(points[0][0])} is feasible"]


def problem_point(instance, points):
    """The best point, with the equations' variables."""
    return np.array([*points[0][1], *(float(slack) for slack in instance.slacks(points[0][1]))])


def forged(instance, problem, result, points, rng):
    """Proofs that claim more than is true, with a number changed here and there: all must be refused."""
    if not points:
        return []
    header, arrays = file.read(result.proof.data)
    header = {name: value for name, value in header.items() if name not in ("format", "version", "kind")}
    claim = header["claim"] | {"bound": float(points[0][0]) + excess(points, rng)}
    found = []
    for attempt in range(N_FORGERIES):
        changed = {name: array.copy() for name, array in arrays.items()}
        names = [name for name, array in arrays.items() if array.size]
        what = []
        for _ in range(min(attempt, 3)):
            name = str(rng.choice(names))
            place = tuple(rng.integers(size) for size in changed[name].shape)
            value = changed[name][place]
            if changed[name].dtype.kind == "i":
                new = rng.choice([-5, -4, -3, -2, -1, 0, 1, -1 - (int(-1 - value) ^ 1), int(value) + 1])
            else:
                new = rng.choice([0.0, -value, 2 * value, value + 1e-6, value + 1.0, 1e300, -1e300, 5e-324])
            changed[name][place] = new
            what.append(f"{name}{place}: {value} -> {new}")
        try:
            check(file.pack("biconvex", header | {"claim": claim}, changed), problem)
        except ProofError:
            continue
        found.append(f"a forged proof of {claim['bound']} holds, {what}")
    return found


def solved(problem, seed, max_nodes, time_limit):
    """The result with a proof."""
    limits = {"time_limit": time_limit, "max_nodes": max_nodes}
    return gopfast.solve(problem, n_threads=1, random_state=seed, proof=True, **limits)
