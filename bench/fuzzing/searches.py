"""Attacks on whole searches: what `gopfast.solve` says of nasty problems; searches that are told to prove too much."""

import dataclasses

import numpy as np
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.crossed import CrossedRelaxation, is_spanned
from gopfast.search.probe import root_box
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.plan import MixturePlan
from gopfast.mixtures.pricing import pricing_root
from gopfast.mixtures.searches import shares_a_coefficient
from gopfast.mixtures.shared_coefficients import SharedCoefficientSearch
from gopfast.options import Options
from gopfast.result import Status

from . import boxes, classes, clusters, generator
from .definitions import define
from .failure import Failure, slack

N_STARTS = 12
MOST_NODES = (50, 400, 2000)
# More where a search is one of many small ones.
MANY_SMALL = 20
SECONDS = 4.0
# Objectives say what the returned point has, to this part of it, and to this part of the magnitude of their terms.
STATED = dict(part=1e-9, rounding=1024 * 2.0**-53)
# What OPTIMAL objectives may have been rounded up by for samples that the core shifts and scales, as a part of epsilon.
ROUNDED_UP = 0.5
# How often single components are priced beside the tree, where they can be.
PRICED = 0.4
# A search that must prove this much more than is true, in nats.
EXCESS = -1.0
# max(EXCESS, SMALL_PART * |UBD|) is EXCESS.
SMALL_PART = -1e300


def priced(problem):
    """Whether single components can be priced, or a shared parameter be fixed."""
    if problem.n_components == 1:
        return False
    family = engine.family(problem)
    return pricing_root.single(problem, family) is not None or family.slices() is not None


def best_of_starts(rng, definition, fast, n_starts=N_STARTS):
    """The best objective of EM from random responsibilities, by the definition; its size and responsibilities."""
    found = None
    for _ in range(n_starts):
        tau = rng.dirichlet(np.full(definition.K, 10.0 ** rng.uniform(-1, 1)), definition.n)
        if rng.random() < 0.3:
            tau = 0.97 * boxes.responsibilities(rng, definition, fast).astype(float) + 0.03 * tau
        tau = fast.em(tau, 300)
        if not np.isfinite(tau).all():
            continue
        value, size = definition.value(definition.best(tau))
        if np.isfinite(value) and (found is None or value < found[0]):
            found = value, size, tau
    return found


def attack_solve(name, problem, rng):
    """Solve a problem and check the result against the definition; returns (solves, status)."""
    definition, fast = define(problem), define(problem, float)
    epsilon, W = float(10.0 ** rng.uniform(-4, -0.5)), float(definition.W)
    options = dict(
        n_threads=1, max_nodes=int(rng.choice(MOST_NODES)), time_limit=SECONDS, random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    if name in generator.LINEAR:
        options.update(relaxation="linear", partition="paper" if name == "paper" else "joint", max_nodes=60)
    elif shares_a_coefficient(problem):
        options["max_nodes"] *= MANY_SMALL
    elif engine.family(problem).n_connected <= 6 and rng.random() < 0.15:
        options.update(branching="orthant")
    elif priced(problem) and rng.random() < PRICED:
        options.update(relaxation="pricing")
    result = gopfast.solve(problem, epsilon, **options)
    value, size = definition.value(definition.read(result.solution))
    said = dict(status=result.status.name, lower=result.lower_bound, objective=result.objective, value=float(value),
                n_nodes=result.n_nodes, epsilon=epsilon, options=str(options))  # fmt: skip
    if not result.lower_bound <= result.objective:
        raise Failure("bounds crossed", said)
    if result.lower_bound > value + slack(value, size, W):
        raise Failure("lower bound above its own solution", said)
    # Rounded up for the user's units by less than matters; where nothing is proved it may be by more.
    above = slack(value, size, W, **STATED) + ROUNDED_UP * epsilon if result.status is Status.OPTIMAL else np.inf
    if not -slack(value, size, W, **STATED) <= result.objective - value <= above:
        raise Failure("objective is not that of the solution", said)
    found = best_of_starts(rng, definition, fast)
    if found is not None:
        best, best_size, _ = found
        said["best"] = float(best)
        if result.lower_bound > best + slack(best, best_size, W):
            raise Failure("lower bound above an attained objective", said)
        if result.status == Status.OPTIMAL and result.objective > best + epsilon + slack(best, best_size, W):
            raise Failure("OPTIMAL but not", said)
    rounding = 4 * float(np.spacing(abs(result.objective)))
    if result.gap > epsilon + rounding if result.status == Status.OPTIMAL else result.gap < epsilon - rounding:
        raise Failure("status and gap disagree", said)
    if result.status in (Status.OPTIMAL, Status.NUMERICAL):
        again = gopfast.solve(problem, epsilon, **options, start=result)
        said.update(again=again.status.name, again_lower=again.lower_bound, again_objective=again.objective,
                    again_nodes=again.n_nodes)  # fmt: skip
        if again.lower_bound > value + slack(value, size, W):
            raise Failure("second lower bound above the first solution", said)
        if again.status != result.status and again.status not in (Status.NODE_LIMIT, Status.TIME_LIMIT):
            raise Failure(f"{result.status.name} then {again.status.name}", said)
        earned = result.gap <= 8.0 * result.rounding_margin or any("rounding" in note for note in result.notes)
        if result.status == Status.NUMERICAL and not earned and result.gap > 1e-7 * (1 + abs(value) + W):
            raise Failure("NUMERICAL with a wide gap", said)
    return 2, result.status.name


def attack_sharing(problem, rng):
    """The same of components that share a coefficient, whose search has no nodes to audit."""
    definition, fast = define(problem), define(problem, float)
    found, W = best_of_starts(rng, definition, fast, 6), float(definition.W)
    options = Options.from_arguments(1.0, random_state=int(rng.integers(2**31)), log=False, n_threads=1)
    search = SharedCoefficientSearch(problem, dataclasses.replace(options, epsilon=EXCESS))
    result = search.run(SECONDS, int(rng.choice(MOST_NODES)) * MANY_SMALL)
    value, size = definition.value(definition.read(result.solution))
    said = dict(status=result.status.name, lower=search.lower, objective=result.objective, value=float(value))
    if result.status in (Status.OPTIMAL, Status.CUTOFF):
        raise Failure("proved what is false", said)
    known = [(value, size)] if found is None else [(value, size), found[:2]]
    for attained, magnitude in known:
        if search.lower > attained + slack(attained, magnitude, W):
            raise Failure("lower bound above an attained objective", said | {"attained": float(attained)})
    return len(search.values), result.status.name


def attack_negative(name, problem, rng, max_nodes=300):
    """A search that must prove one nat more than is true, its nodes audited against a known solution."""
    if shares_a_coefficient(problem):
        return attack_sharing(problem, rng)
    definition, fast = define(problem), define(problem, float)
    family = engine.family(problem)
    relaxation = {"linear": "linear", "paper": "linear"}.get(name)
    orthant = relaxation is None and family.n_connected <= 4 and rng.random() < 0.2
    options = dataclasses.replace(
        Options.from_arguments(
            1.0, relaxation=relaxation, partition="paper" if name == "paper" else "joint",
            branching="orthant" if orthant else None, random_state=int(rng.integers(2**31)),
        ),
        epsilon=EXCESS, rel_tol=SMALL_PART,
    )  # fmt: skip
    pricing = "pricing" if priced(problem) and rng.random() < PRICED else None
    found, W = best_of_starts(rng, definition, fast, 6), float(definition.W)
    options = dataclasses.replace(options, relaxation=relaxation or pricing)
    plan = MixturePlan(problem, family, options)
    relaxed = plan.relaxed()
    crossed = isinstance(relaxed, CrossedRelaxation)
    primal = plan.take_primal(
        lambda **others: MixturePrimal(family, **others), n_starts=int(rng.integers(1, 7)), seed=options.seed
    )
    least = max(ceiling.least_objective(problem), ceiling.saturated_bound(problem, family))
    said = dict(epsilon=EXCESS, pricing=str(pricing), least=float(least))
    known, trace = None, []
    if found is not None:
        value, size, tau = found
        target = boxes.Target(definition, family, tau.astype(np.longdouble), rng)
        limit = float(min(value, target.value)) + slack(value, size, W)
        said.update(value=float(value))
        if least > limit:
            raise Failure("ceiling", said)
        # The point is that of these responsibilities, so that the objective is too. Tables of two variables lose points
        # for others as good, of which one probability is 0.
        if name != "paper" and not (crossed and is_spanned(family)):
            point = boxes.within_root(problem, target.point, target.error, *root_box(relaxed))
            known = point, target.limit(W)
    reduction, _ = plan.reduction() if relaxation is None else (None, 0)
    search = Search(
        relaxed, primal, EXCESS, rel_tol=SMALL_PART, orthant=options.branching == "orthant", known=known, trace=trace,
        basin=plan.box() if relaxation is None else None,
        reduction=reduction,
        reduce_from=int(rng.choice([2, 32, 256])), least=least, max_nodes=40 if relaxation else max_nodes,
        time_limit=SECONDS,
    )  # fmt: skip
    reason = Status(search.run())
    fields, _ = search.summary()
    said.update(
        status=reason.name, lower=fields["lower_bound"], objective=fields["objective"], n_nodes=fields["n_nodes"],
    )  # fmt: skip
    # an objective of exactly 0 leaves the tolerance at 0
    if reason in (Status.OPTIMAL, Status.CUTOFF) and fields["objective"] != 0.0:
        raise Failure("proved what is false", said)
    if known is not None and trace:
        audit(known, target.error, trace, said)
    if found is not None and fields["lower_bound"] > limit:
        raise Failure("lower bound above an attained objective", said)
    # what is learnt beside the tree cuts off solutions above its limit
    if known is not None and (reduction is None or known[1] < reduction.lower):
        check_cover(known[0], target.error, trace, said)
    return len(trace), reason.name


def audit(known, error, trace, said):
    """No node that holds the known point is bounded above its objective.

    The search's own audit does not know the point's rounding: on a face, the true one may lie on the other side.
    """
    point, objective = known
    loose = 4 * error + 2.0**-48 * np.abs(point)
    root_low, root_high = trace[0][3], trace[0][4]
    for _, _, lower, low, high in trace:
        above, below = (low + loose < point) | (low == root_low), (point < high - loose) | (high == root_high)
        if lower > objective and (above & below & (low <= point) & (point <= high)).all():
            box = {"bound": lower, "low": low, "high": high}
            raise Failure("a node's bound is above the known objective", said | box)


def check_cover(point, error, trace, said):
    """Wherever a node holds the known point, one of its children does (bounded or not)."""
    loose = 4 * error + 2.0**-48 * np.abs(point)
    children = {}
    for node in trace:
        children.setdefault(node[1], []).append(node)

    def holds(node):
        return (node[3] - loose <= point).all() and (point <= node[4] + loose).all()

    if trace and not holds(trace[0]):
        raise Failure("root loses a known solution", said)
    inner = [node for node in trace if (node[3] + loose < point).all() and (point < node[4] - loose).all()]
    for node in inner:
        if node[0] in children and not any(holds(child) for child in children[node[0]]):
            raise Failure("children lose a known solution", said)


def run(kind, name, seed, **options):
    """One case: (number tried, status), problem; raises Failure, or whatever the package raises."""
    rng = generator.stream(kind, name, seed)
    problem = generator.drawn(kind, name, seed, rng)
    if name in generator.CLASSES:
        attacks = clusters if name == "kmeans" else classes
        attack = attacks.attack_solve if kind == "searches" else attacks.attack_negative
        return attack(problem, rng, **options), problem
    attack = attack_solve if kind == "searches" else attack_negative
    return attack(name, problem, rng, **options), problem
