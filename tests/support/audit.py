"""Searches audited against a solution that is known."""

import numpy as np
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search

from gopfast.mixtures import engine

ROUNDING = 1e-9  # of an objective, relative


def in_label_order(family, vector):
    """The core's connected variables of a solution, components ordered as the tree orders them."""
    K = family.n_components
    cells = vector[K : K + K * family.n_cell].reshape(K, family.n_cell)
    shared = vector[K + K * family.n_cell : -1]
    return np.concatenate([cells[np.argsort(cells[:, 0], kind="stable")].ravel(), shared])


def known_best(family, max_nodes):
    """The best solution of many starts and a short search: its connected variables, and its objective rounded up."""
    search = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=40, seed=3), 0.01, max_nodes=max_nodes)
    search.run()
    fields, vector = search.summary()
    return in_label_order(family, vector), fields["objective"] + ROUNDING * (1 + abs(fields["objective"]))


def assert_some_leaf_holds(point, trace):
    """What tightening cuts off holds no solution: wherever a node holds it, one of its children does."""
    slack = 1e-7 * (1.0 + np.abs(point))
    children = {}
    for node in trace:
        children.setdefault(node[1], []).append(node)

    def holds(node):
        return (node[3] - slack <= point).all() and (point <= node[4] + slack).all()

    assert holds(trace[0])
    for node in trace:
        if holds(node) and node[0] in children:
            assert any(holds(child) for child in children[node[0]])
    return children


def assert_audited(problem, first_nodes, nodes):
    """No node around the best solution has a bound above it, and no node loses it."""
    family = engine.family(problem)
    known, trace = known_best(family, first_nodes), []
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 1e-4, known=known, trace=trace, max_nodes=nodes)
    search.run()
    assert search.n_audit_failures == 0
    assert_some_leaf_holds(known[0], trace)


def assert_cells_around_a_local_optimum_are_audited(problem, seed, nodes):
    """Boxes around parameters of EM, with faces through them."""
    family = engine.family(problem)
    primal = MixturePrimal(family)
    K = family.n_components
    vector, trace, _ = primal.em(np.full(K, 1.0 / K), family.seeded(np.random.default_rng(seed)), 1e-12, 2000)
    known = in_label_order(family, vector), trace[-1] + ROUNDING * (1 + abs(trace[-1]))
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 1e-4, known=known, max_nodes=nodes)
    search.run()
    assert search.n_audit_failures == 0


def root_of(family):
    """The root box, by the search's own first node."""
    trace = []
    Search(EntropicRelaxation(family), MixturePrimal(family), 1.0, max_nodes=1, trace=trace).run()
    return np.array(trace[0][3]), np.array(trace[0][4])
