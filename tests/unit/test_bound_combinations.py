"""Bound combinations selected by a mixed-integer program: the best one, and a partition that loses nothing."""

import functools
import itertools

import numpy as np
import pytest
from gopfast.biconvex.alternating import AlternatingPrimal
from gopfast.biconvex.bilinear import BilinearRelaxation
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.linear import LinearRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex.lifting import Lifting

MARGIN = 0.1  # split points keep this share of an interval from its ends


def halves(low, high, point, choice):
    """The orthant of a bound combination, +-(j + 1) for the upper or lower half of variable j."""
    low, high = np.array(low), np.array(high)
    width = high - low
    at = np.clip(point, low + MARGIN * width, high - MARGIN * width)
    for signed in choice:
        j = abs(signed) - 1
        (low if signed > 0 else high)[j] = at[j]
    return low, high


def combinations(chosen):
    """Every bound combination of the variables of one."""
    variables = [abs(signed) for signed in chosen]
    for signs in itertools.product((-1, 1), repeat=len(variables)):
        yield [sign * j for sign, j in zip(signs, variables, strict=True)]


def mixture(seed, K, d, prior):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, d)) + 4.0 * rng.integers(2, size=(6, 1))
    return GaussianFamily(Samples(X, rng.uniform(0.5, 2.0, 6), np.ones(d)), K, prior)


@pytest.mark.parametrize("paper_partition", [False, True], ids=["joint", "paper"])
@pytest.mark.parametrize("prior", [None, (0.3, 0.3)], ids=["none", "fixed"])
@pytest.mark.parametrize("K, d", [(2, 1), (3, 1), (2, 2), (3, 2)])
def test_the_combination_selected_has_the_least_linear_program(K, d, prior, paper_partition):
    # One round: what tangents a node's own rounds would add is not in its mixed-integer program.
    data = mixture(K + d, K, d, prior)
    make = functools.partial(LinearRelaxation, data, paper_partition=paper_partition, max_rounds=1)
    selecting, plain = make(milp=True), make()
    rng = np.random.default_rng(K)
    n_means, n_split, below = K * d, 0, 0
    for _ in range(6):
        low, high = np.full(n_means, -4.0), np.full(n_means, 4.0)
        low += 3 * rng.random(n_means)
        high -= 3 * rng.random(n_means)
        if paper_partition:
            low, high = np.append(low, 0.3 * rng.random(K)), np.append(high, 1 - 0.5 * rng.random(K))
        node, point, _ = selecting.bound_box(low, high, np.inf)
        if not selecting.choice:  # no program was solved: nothing is in the box
            assert node == np.inf
            continue
        n_split += 1
        # Orthants in which no components are in order are cut off by the search.
        bounds = {}
        for choice in combinations(selecting.choice):
            a, b = halves(low, high, point, choice)
            first = slice(0, n_means, d)
            if (np.maximum.accumulate(a[first]) <= np.minimum.accumulate(b[first][::-1])[::-1]).all():
                bounds[tuple(choice)] = plain.bound_box(a, b, np.inf)[0]
        chosen = bounds[tuple(selecting.choice)]
        assert chosen <= min(bounds.values()) + 1e-4 * (1 + abs(chosen))
        assert chosen >= node - 1e-9 * (1 + abs(node))
        below += min(bounds.values()) < max(bounds.values()) - 1e-2
    assert n_split >= 3 and below >= 1  # some boxes have worse combinations


def bilinear(seed, n_x=3, n_y=4):
    """A random bilinear function on a box, which no row tightens."""
    rng = np.random.default_rng(seed)
    n = n_x + n_y
    Q = np.zeros((n, n))
    Q[:n_x, n_x:] = rng.normal(size=(n_x, n_y))
    return BiconvexProblem(rng.normal(size=n), Q=Q, lower=-1 - rng.random(n), upper=1 + rng.random(n))


@pytest.mark.parametrize("seed", range(6))
def test_the_combination_selected_has_the_least_linear_program_of_a_bilinear_problem(seed):
    n_x = 3
    problem = bilinear(seed, n_x)
    lifting = Lifting(problem)
    data, _, _ = lifting.data(lifting.low, lifting.high, one_side=True)
    selecting, plain = BilinearRelaxation(data, milp=True), BilinearRelaxation(data)
    low, high = data.box
    node, low, high, point, _ = selecting.bound_box(low, high)
    assert len(selecting.choice) == n_x
    bounds = {tuple(choice): plain.bound_box(*halves(low, high, point, choice))[0]
              for choice in combinations(selecting.choice)}  # fmt: skip
    chosen = bounds[tuple(selecting.choice)]
    assert node - 1e-9 <= chosen <= min(bounds.values()) + 1e-6 * (1 + abs(chosen))
    assert min(bounds.values()) < max(bounds.values()) - 1e-2


@pytest.mark.parametrize("seed", [3, 8, 11, 13])  # of problems that take several nodes
def test_bounds_of_a_bilinear_problem_hold_at_its_optimum(seed):
    problem = bilinear(seed, 5, 5)
    reference = gopfast.solve(problem, rel_tol=1e-9)
    assert reference.success
    lifting = Lifting(problem)
    data, scale, objective_scale = lifting.data(lifting.low, lifting.high, one_side=True)
    point = (reference.solution.z / scale)[lifting.order]
    # from a start of its own, so that the first cutoffs are far from the optimum
    primal = AlternatingPrimal(data, np.array([data.box[0]]))
    relaxation = BilinearRelaxation(data, milp=True, root_sweeps=0)
    known = point, (reference.objective + 1e-7 * (1 + abs(reference.objective))) / objective_scale
    search = Search(relaxation, primal, 1e-6, orthant=True, known=known, max_nodes=2000)
    try:
        assert search.run() == gopfast.Status.OPTIMAL
    finally:
        primal.close()
    out, _ = search.summary()
    assert search.n_audit_failures == 0
    assert out["n_milps"] > 0
    assert out["lower_bound"] * objective_scale <= reference.objective + 1e-7 * (1 + abs(reference.objective))
    assert out["objective"] * objective_scale == pytest.approx(reference.objective, rel=1e-5)


def test_children_share_faces_and_cover_their_parent():
    # One component: nothing is cut off for its order, and the linear relaxed dual tightens no box.
    data = mixture(0, 1, 3, (0.01, 10.0))
    trace = []
    search = Search(LinearRelaxation(data, milp=True), MixturePrimal(data), 1e-4, orthant=True, trace=trace)
    search.run()
    boxes = {serial: (parent, lower, low, high) for serial, parent, lower, low, high in trace}
    families = {}
    for serial, (parent, *_) in boxes.items():
        families.setdefault(parent, []).append(serial)
    assert len(families) > 3
    sizes = []
    for parent, children in families.items():
        if parent < 0:
            continue
        _, bound, low, high = boxes[parent]
        sizes.append(len(children))
        lows = np.array([boxes[child][2] for child in children])
        highs = np.array([boxes[child][3] for child in children])
        assert (lows >= low).all() and (highs <= high).all()
        assert all(boxes[child][1] >= bound for child in children)
        assert np.prod(highs - lows, axis=1).sum() == pytest.approx(np.prod(high - low), rel=1e-12)
        for a, b in itertools.combinations(range(len(children)), 2):
            assert (np.minimum(highs[a], highs[b]) <= np.maximum(lows[a], lows[b])).any()
    assert max(sizes) == 4  # the orthant and one box for each of three means
