"""Proofs of nasty problems: all are accepted, none says what is false, and what is changed is refused or still true."""

import io
import json
import sys

import numpy as np

import gopfast
from gopfast.checker import file

from . import classes, clusters, generator
from .definitions import define
from .failure import Failure, slack
from .searches import SECONDS, best_of_starts

sys.path.insert(0, str(generator.ROOT))
from tests.support import clustering_proofs, clusterwise_proofs, proofs, shared_proofs

N_CHANGES = 3
MOST_NODES = (20, 200, 1000)


def attack_proof(name, problem, rng):
    """Write a proof, check it, and change it; (checks, status of the search). InputError: there is none of such."""
    definition, fast = define(problem), define(problem, float)
    epsilon, W = float(10.0 ** rng.uniform(-3, 0)), float(definition.W)
    result = gopfast.solve(
        problem, epsilon, proof=True, n_threads=1, max_nodes=int(rng.choice(MOST_NODES)), time_limit=SECONDS,
        random_state=int(rng.integers(2**31)), log=False,
    )  # fmt: skip
    said = dict(status=result.status.name, lower=result.lower_bound, objective=result.objective, epsilon=epsilon)
    if result.proof is None:
        if not any("no proof" in note for note in result.notes):
            raise Failure("no proof and no word of it", said)
        return 0, result.status.name
    own = proofs.arguments(problem)
    try:
        found = gopfast.check(result.proof, *own, problem)
    except gopfast.ProofError as error:
        raise Failure("a proof is refused", said | {"error": str(error)}) from error
    said |= {"proved": found.lower_bound, "attained": found.objective}
    value, size = definition.value(definition.read(result.solution))
    known = [(value, size)]
    best = best_of_starts(rng, definition, fast, 4)
    known += [] if best is None else [best[:2]]
    for attained, magnitude in known:
        if found.lower_bound > attained + slack(attained, magnitude, W):
            raise Failure("proved bound above an attained objective", said | {"best": float(attained)})
    if found.objective < value - slack(value, size, W):
        raise Failure("an objective that is not attained", said | {"value": float(value)})
    if result.lower_bound > found.lower_bound + slack(value, size, W):
        raise Failure("the result claims more than its proof", said)
    least = min(float(attained) for attained, _ in known)
    return 1 + changed(result, problem, own, rng, least, said), result.status.name


def changed(result, problem, own, rng, attained, said):
    """Change a proof some times; how often."""
    changes = proofs.CHANGES
    if file.read(result.proof.data)[0]["kind"] == "shared_coefficients":
        changes = {"raise_bound": proofs.raise_bound, **shared_proofs.ON_DATA}
    for name in ("raise_bound", *rng.choice(list(changes), N_CHANGES - 1)):
        header, arrays = file.read(result.proof.data)
        try:
            X, weights = changes[str(name)](rng, header, arrays, *own)
        except (ValueError, IndexError, ZeroDivisionError, gopfast.ProofError):  # a proof without what is changed
            continue
        target = io.BytesIO()
        np.savez(target, header=np.array(json.dumps(header)), **arrays)
        verdict = proofs.verdict(target.getvalue(), problem, X, weights, attained + 1e-9 * abs(attained))
        if verdict not in ("refused", "true"):
            raise Failure("a changed proof passes", said | {"change": str(name), "verdict": verdict})
    return N_CHANGES


def run(name, seed):
    """Run one case of a family; ((checks, status), problem)."""
    rng = generator.stream("proofs", name, seed)
    problem = generator.drawn("proofs", name, seed, rng)
    if name == "kmeans":
        return clusters.attack_proof(problem, rng, clustering_proofs.CHANGES), problem
    if name in generator.CLASSES:
        return classes.attack_proof(problem, rng, clusterwise_proofs.CHANGES), problem
    return attack_proof(name, problem, rng), problem
