"""Bounds of random small problems against an independent brute force."""

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from support import brute_force
from support.settings import examples

import gopfast
from gopfast.mixtures import engine

EPSILON = 0.01
# A reference is a value that a point attains, so that only its rounding error may lie below a proved bound.
ROUNDING = 1e-12
# How far the polished reference may lie above the true optimum.
POLISH = 1e-7


def scale_of(value):
    return 1.0 + abs(value)


@st.composite
def problems(draw, max_samples=8, max_components=3, max_features=2):
    """Small mixtures: near and far clusters, duplicates, weights of 0, every kind of prior and noise."""
    n = draw(st.integers(2, max_samples))
    d = draw(st.integers(1, max_features))
    unit = draw(st.sampled_from([0.1, 0.5, 2.0]))
    X = unit * np.array(draw(st.lists(st.integers(-20, 20), min_size=n * d, max_size=n * d)), dtype=float)
    X = X.reshape(n, d)
    copies = draw(st.integers(0, n - 1))
    X[:copies] = X[copies]
    X += draw(st.sampled_from([0.0, 0.0, 0.0, -15.0, 1000.0]))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    if weights is not None and max(weights) == 0.0:
        weights[0] = 1.0
    noise = draw(
        st.sampled_from([1.0, 0.25, 4.0]) | st.lists(st.sampled_from([0.5, 3.0]), min_size=d, max_size=d)
    )
    return gopfast.GaussianMixture(
        X,
        draw(st.integers(1, min(n, max_components))),
        prior=draw(st.sampled_from([None, "empirical", 0.2, 50.0])),
        noise_variance=noise,
        sample_weight=weights,
        prior_variance_bounds=draw(st.sampled_from([(1e-3, 1e6), (0.5, 50.0)])), covariance="known",
    )


def hull_of(problem, data):
    """Points whose bounding box holds every optimal mean, in core units."""
    hull = data.from_user(problem.X[problem.sample_weight > 0.0])
    if problem.prior is None:
        return hull
    return np.concatenate([hull, data.from_user(np.zeros((1, problem.n_features)))])


def traced_search(problem, epsilon=EPSILON, max_nodes=3000, known=None, orthant=False):
    family, trace = engine.family(problem), []
    search = Search(
        EntropicRelaxation(family), MixturePrimal(family, seed=1), epsilon,
        max_nodes=max_nodes, known=known, trace=trace, orthant=orthant,
    )  # fmt: skip
    search.run()
    return search, trace, family.data


def check_against(reference, result, epsilon):
    tiny = scale_of(reference.value)
    assert result.lower_bound <= reference.value + ROUNDING * tiny
    assert result.objective >= reference.value - POLISH * tiny
    assert result.lower_bound <= result.objective
    assert result.success, result
    assert result.gap <= epsilon


@examples(60)
@given(problem=problems())
def test_entropic_bounds_enclose_the_brute_force_optimum(problem):
    result = gopfast.solve(problem, EPSILON, max_nodes=4000)
    check_against(brute_force.global_optimum(problem), result, EPSILON)


@examples(40)
@given(problem=problems(max_features=1), epsilon=st.sampled_from([1.0, 0.1, 1e-4]))
def test_one_dimensional_problems_are_proved_to_every_tolerance(problem, epsilon):
    result = gopfast.solve(problem, epsilon, max_nodes=4000)
    check_against(brute_force.global_optimum(problem), result, epsilon)


@examples(60)
@given(problem=problems())
def test_the_objective_is_attained_by_the_solution(problem):
    result = gopfast.solve(problem, EPSILON, max_nodes=200)
    solution = result.solution
    attained = problem.objective(solution.weights, solution.means, solution.prior_variance)
    # Without a prior_variance the model takes the best one, so that brute force must agree too.
    assert result.objective == pytest.approx(attained, rel=1e-11, abs=1e-11)
    [other] = brute_force.objective(problem, solution.weights[None], solution.means[None])
    assert other <= attained + 1e-11 * scale_of(attained)


@pytest.mark.parametrize("partition", ["joint", "paper"])
@pytest.mark.parametrize(
    "options", [{}, {"branching": "orthant"}, {"subproblem": "milp"}], ids=["bisect", "orthant", "milp"]
)
def test_linear_and_entropic_bounds_agree(partition, options):
    pytest.importorskip("gopfast.mixtures.relaxations.linear")

    @examples(8)
    @given(problem=problems(max_samples=4, max_components=2, max_features=1))
    def check(problem):
        epsilon = 0.1
        reference = brute_force.global_optimum(problem)
        linear = gopfast.solve(
            problem, epsilon, relaxation="linear", partition=partition, max_nodes=3000, **options
        )
        entropic = gopfast.solve(problem, epsilon, max_nodes=3000)
        tiny = ROUNDING * scale_of(reference.value)
        for result in (linear, entropic):
            assert result.lower_bound <= reference.value + tiny
            assert result.objective >= reference.value - POLISH * scale_of(reference.value)
        # Two intervals that both hold the optimum intersect, whether or not the node limit came first.
        assert linear.lower_bound <= entropic.objective + tiny
        assert entropic.lower_bound <= linear.objective + tiny
        if linear.success and entropic.success:
            assert abs(linear.objective - entropic.objective) <= epsilon

    check()


@examples(40)
@given(problem=problems())
def test_no_bound_cuts_off_a_known_optimum(problem):
    reference = brute_force.global_optimum(problem)
    data = engine.family(problem).data
    point = data.from_user(reference.means)
    order = np.argsort(point[:, 0], kind="stable")
    # The polish may leave the hull of the data, which holds an optimum, by a rounding error or without cost.
    hull = hull_of(problem, data)
    point = np.clip(point[order], hull.min(axis=0), hull.max(axis=0))
    [value] = brute_force.objective(problem, reference.weights[order][None], data.to_user(point)[None])
    assert value <= reference.value + 1e-6 * scale_of(reference.value)
    value += ROUNDING * scale_of(value)
    search, trace, _ = traced_search(problem, 1e-3, known=(point, value), max_nodes=1000)
    holding = [
        node for node in trace if (node[3] <= point.ravel()).all() and (point.ravel() <= node[4]).all()
    ]
    assert holding, "the optimum lies in no box: nothing was audited"
    assert search.n_audit_failures == 0


def test_the_audit_notices_a_bound_above_a_known_solution():
    problem = gopfast.GaussianMixture([-10.0, -10, 5, 25], 2, covariance="known")
    data = engine.family(problem).data
    point = data.from_user(np.array([[-5.0], [25.0]]))
    search, *_ = traced_search(problem, known=(point, 60.0))
    assert search.n_audit_failures > 0


def test_the_audit_notices_a_solution_that_tightening_cuts_off():
    """Of two components in the wrong order; equal first coordinates have none."""
    problem = gopfast.GaussianMixture([-10.0, -10, 5, 25], 2, covariance="known")
    data = engine.family(problem).data
    right = np.sort(data.from_user(np.array([[-5.0], [25.0]])), axis=0)
    assert traced_search(problem, known=(right, 1e9))[0].n_audit_failures == 0
    assert traced_search(problem, known=(right[::-1], 1e9))[0].n_audit_failures > 0
    problem = gopfast.GaussianMixture([[0.0, 0.0], [0.0, 5.0], [9.0, 1.0], [9.0, 4.0]], 2, covariance="known")
    data = engine.family(problem).data
    for order in ([0, 1], [1, 0]):
        known = data.from_user(np.array([[4.5, 0.5], [4.5, 4.5]])[order])
        order = np.argsort(known[:, 0], kind="stable")
        assert traced_search(problem, known=(known[order], 1e9))[0].n_audit_failures == 0


@examples(30)
@given(problem=problems(max_samples=6), seed=st.integers(0, 2**32 - 1))
def test_node_bounds_hold_for_every_point_of_the_node(problem, seed):
    """The points of a node are the (tau, pi, e) whose optimal means lie in its box ((G4) of docs/theory/gop.md).

    Not every mean in the box is the optimal one of some tau that belongs to the node, so that the objective
    minimised over the means alone may lie below the node's bound.
    """
    rng = np.random.default_rng(seed)
    _, trace, data = traced_search(problem, 1e-3, max_nodes=300)
    core = CoreProblem(problem, data)
    for i in rng.choice(len(trace), min(6, len(trace)), replace=False):
        _, _, lower, low, high = trace[i]
        value = core.least_in_box(low, high, rng)
        if value is not None:
            assert lower <= value + 1e-11 * scale_of(value)


class CoreProblem:
    """The objective of responsibilities and prior precision, all else optimal, in core units."""

    def __init__(self, problem, data):
        self.K, (self.n, self.d) = problem.n_components, problem.X.shape
        self.x = data.from_user(problem.X)
        self.w = problem.sample_weight
        self.origin = data.from_user(np.zeros((1, self.d)))[0]
        self.v = problem.noise_variance[np.asarray(data.order)]
        self.has_prior = problem.prior is not None
        self.e_range = (0.0, 0.0)
        if self.has_prior:
            low, high = (
                problem.prior_variance_bounds if problem.prior == "empirical" else (problem.prior,) * 2
            )
            self.e_range = (1.0 / high, 1.0 / low)

    def unpack(self, z):
        logits = z[:-1].reshape(self.n, self.K)
        tau = np.exp(logits - logits.max(axis=1, keepdims=True))
        e = np.clip(np.exp(z[-1]), *self.e_range) if self.has_prior else 0.0
        return tau / tau.sum(axis=1, keepdims=True), e

    def means(self, z):
        tau, e = self.unpack(z)
        mass = self.w[:, None] * tau
        pull = e * self.v
        total = mass.sum(axis=0)[:, None] + pull
        return self.origin + (mass.T @ (self.x - self.origin)) / np.maximum(total, 1e-300)

    def value(self, z):
        tau, e = self.unpack(z)
        nu, mass = self.means(z), self.w[:, None] * tau
        share = mass.sum(axis=0) / self.w.sum()
        squares = ((self.x[:, None, :] - nu) ** 2).sum(axis=2)
        safe = np.where(tau > 0.0, tau, 1.0)
        entropy = mass * (np.log(safe) - np.log(np.maximum(share, 1e-300)))
        f = 0.5 * (mass * squares).sum() + entropy.sum()
        if self.has_prior:
            f += 0.5 * e * (self.v * (nu - self.origin) ** 2).sum() - 0.5 * self.K * self.d * np.log(e)
        return f

    def least_in_box(self, low, high, rng, n_starts=3):
        """Least value found whose means lie in the box, exactly; None if none was found."""
        margin = 1e-7 * (high - low)
        best = None

        def keep(z):
            nonlocal best
            nu = self.means(z).ravel()
            if (low <= nu).all() and (nu <= high).all():
                f = self.value(z)
                best = f if best is None else min(best, f)

        for _ in range(n_starts):
            nu = (low + rng.random(low.size) * (high - low)).reshape(self.K, self.d)
            logits = -0.5 * ((self.x[:, None, :] - nu) ** 2).sum(axis=2)
            logits = np.maximum(logits - logits.max(axis=1, keepdims=True), -30.0)
            e = rng.uniform(*np.log(self.e_range)) if self.has_prior else 0.0
            start = np.append(logits, e)
            keep(start)
            inside = [
                {"type": "ineq", "fun": lambda z: self.means(z).ravel() - low - margin},
                {"type": "ineq", "fun": lambda z: high - margin - self.means(z).ravel()},
            ]
            bounds = [(-40.0, 40.0)] * logits.size
            bounds += [tuple(np.log(self.e_range)) if self.has_prior else (0.0, 0.0)]
            found = minimize(
                self.value, np.clip(start, *np.transpose(bounds)), constraints=inside, bounds=bounds,
                method="SLSQP", options={"maxiter": 40},
            )  # fmt: skip
            if np.isfinite(found.x).all():
                keep(found.x)
        return best


def test_the_node_check_reaches_the_optimum_of_the_root():
    """Otherwise the test above could not fail."""
    for prior in (None, "empirical"):
        problem = gopfast.GaussianMixture([-10.0, -10, 5, 25], 2, prior=prior, covariance="known")
        _, trace, data = traced_search(problem)
        core = CoreProblem(problem, data)
        value = core.least_in_box(trace[0][3], trace[0][4], np.random.default_rng(0), n_starts=20)
        assert value == pytest.approx(84.03016 if prior else 77.24934, abs=1e-4)


def family(trace):
    children = {}
    for node in trace:
        children.setdefault(node[1], []).append(node)
    return {node[0]: node for node in trace}, children


@pytest.mark.parametrize("orthant", [False, True])
@examples(25)
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_children_cover_their_parent_and_never_fall_below_it(orthant, problem, seed):
    rng = np.random.default_rng(seed)
    K, d = problem.n_components, problem.n_features
    _, trace, data = traced_search(problem, 1e-3, max_nodes=400, orthant=orthant)
    nodes, children = family(trace)
    [root] = children.pop(-1)
    hull = hull_of(problem, data)
    assert (root[3].reshape(K, d) <= hull.min(axis=0)).all()
    assert (root[4].reshape(K, d) >= hull.max(axis=0)).all()
    for parent, brood in children.items():
        _, _, bound, low, high = nodes[parent]
        assert min(child[2] for child in brood) >= bound
        points = low + rng.random((40, K * d)) * (high - low)
        points[:2] = low, high
        # Boxes keep their corners in label order, so that sorted draws stay in the box.
        points[:, ::d] = np.clip(np.sort(points[:, ::d], axis=1), low[::d], high[::d])
        lows, highs = np.array([child[3] for child in brood]), np.array([child[4] for child in brood])
        inside = (lows <= points[:, None]) & (points[:, None] <= highs)
        assert inside.all(axis=2).any(axis=1).all()


@examples(25)
@given(problem=problems())
def test_the_lower_bound_is_the_least_over_the_leaves(problem):
    search, trace, _ = traced_search(problem, max_nodes=1000)
    _, children = family(trace)
    leaves = [node for node in trace if node[0] not in children]
    fields, _ = search.summary()
    assert fields["lower_bound"] == min(min(leaf[2] for leaf in leaves), fields["objective"])
    assert fields["n_nodes"] == len(trace)


@examples(40)
@given(problem=problems())
def test_the_history_closes_monotonically(problem):
    result = gopfast.solve(problem, 1e-3, max_nodes=2000)
    time, nodes, lower, upper, n_open = result.history.T
    assert (np.diff(time) >= 0.0).all()
    assert (np.diff(nodes) >= 0.0).all()
    assert (lower[1:] >= lower[:-1]).all()
    assert (upper[1:] <= upper[:-1]).all()
    assert (lower <= upper).all()
    assert (n_open >= 0.0).all()
    assert (lower[-1], upper[-1]) == (result.lower_bound, result.objective)
