"""Tangents of convex forms in the relaxed dual: kept for children, and of forms that are convex but for rounding."""

import numpy as np
from gopfast.biconvex.alternating import AlternatingPrimal
from gopfast.biconvex.bilinear import BilinearRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex.lifting import Lifting


def rank_one(seed, n=3):
    """Least squared distance of a matrix from u v', each entry of u v' a variable."""
    M = np.random.default_rng(seed).integers(-9, 10, (n, n)) / 4.0
    N = 2 * n + n * n
    quadratic = []
    for i in range(n):
        for j in range(n):
            Q, a = np.zeros((N, N)), np.zeros(N)
            Q[i, n + j], a[2 * n + n * i + j] = -1.0, 1.0
            quadratic.append((Q, a, 0.0, 0.0))
    squares = np.diag([0.0] * 2 * n + [1.0] * n * n)
    c = np.concatenate([np.zeros(2 * n), -2 * M.ravel()])
    bound = np.array([2.0] * 2 * n + [4.0] * n * n)
    problem = BiconvexProblem(c, Q=squares, constant=float((M**2).sum()), quadratic_rows=quadratic, lower=-bound,
                              upper=bound)  # fmt: skip
    return problem, M


def test_children_begin_with_the_tangents_of_their_parent():
    problem, _ = rank_one(1)
    root = gopfast.solve(problem, n_threads=1, max_nodes=1, random_state=0)
    result = gopfast.solve(problem, n_threads=1, max_nodes=401, random_state=0)
    # a node whose forms began without tangents took 15 programs
    assert (result.n_lps - root.n_lps) / (result.n_nodes - root.n_nodes) < 6


def test_no_node_with_kept_tangents_is_bounded_above_the_best_factors():
    for seed in range(4):
        problem, M = rank_one(seed, 2)
        left, values, right = np.linalg.svd(M)
        u, v = left[:, 0] * np.sqrt(values[0]), right[0] * np.sqrt(values[0])
        assert max(abs(u).max(), abs(v).max()) < 2
        z = np.concatenate([u, v, np.outer(u, v).ravel()])
        lifting = Lifting(problem)
        data, scale, unit = lifting.data(lifting.low, lifting.high)
        core, limit = lifting.to_core(z, scale), values[1] ** 2 / unit
        limit += 1e-9 * (1 + limit)
        search = Search(
            BilinearRelaxation(data), AlternatingPrimal(data, [core], core), -0.05 * (1 + limit), rel_tol=-1e9,
            max_nodes=300, known=(core, limit),
        )  # fmt: skip
        search.run()
        assert search.n_nodes > 50 and search.n_audit_failures == 0 and search.least_bound <= limit


def test_a_form_that_is_convex_but_for_rounding_is_bounded_by_what_it_is():
    n, reach = 14, 1e6
    # |1'z|^2 - 5e-13 |z|^2: taken for convex, and -7 where the entries are +-1e6
    Q = np.ones((n, n)) - 5e-13 * np.eye(n)
    problem = BiconvexProblem(np.zeros(n), Q=Q, lower=-reach, upper=reach)
    lifting = Lifting(problem)
    assert not lifting.products
    data, _, unit = lifting.data(lifting.low, lifting.high)
    z = reach * np.where(np.arange(n) < n // 2, 1.0, -1.0)
    value = float(problem.exact(z)[0])
    assert value < -6.9
    for cutoff in (np.inf, 1.0):
        assert BilinearRelaxation(data).bound_box(*data.box, cutoff)[0] * unit <= value
