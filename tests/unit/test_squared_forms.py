"""Squares of linear forms: which are found, that the problem stays what it is, and what the tree makes of them."""

from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import squared_forms
from gopfast.biconvex.squared_forms import Expression, SquaredProblem
from gopfast.profile import Activity


def terms(v, c=1):
    """c (v'z)^2 as a form."""
    used = [i for i, a in enumerate(v) if a]
    return {(i, j): Fraction(c) * v[i] * v[j] * (1 if i == j else 2) for i in used for j in used if i <= j}


def matrix(v, c=1.0):
    return c * np.outer(v, v)


def packing(n, order):
    """The least squared distance between n points of the unit square, maximised; variables in any order."""
    place = np.argsort(order)
    rows, total = [], 2 * n + 1
    for i in range(n):
        for j in range(i):
            Q, a = np.zeros((total, total)), np.zeros(total)
            for k in (0, n):
                v = np.zeros(total)
                v[place[[i + k, j + k]]] = 1.0, -1.0
                Q -= np.outer(v, v)
            a[place[-1]] = 1.0
            rows.append((Q, a, None, 0.0))
    A, c = np.zeros((n - 1, total)), np.zeros(total)
    for i in range(n - 1):
        A[i, place[[i, i + 1]]] = 1.0, -1.0
    c[place[-1]] = 1.0
    upper = np.ones(total)
    upper[place[-1]] = 2.0
    return BiconvexProblem(c, A=A, row_upper=np.zeros(n - 1), quadratic_rows=rows, lower=np.zeros(total), upper=upper,
                           sense="max")  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_squares_are_found_exactly_and_nothing_else_is_one(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    v = [int(a) for a in rng.integers(1, 6, n) * rng.choice([-1, 1], n)]
    c = Fraction(int(rng.integers(1, 9)), 4) * int(rng.choice([-1, 1]))
    form, factor = squared_forms.squared(terms(v, c))
    assert terms(list(map(Fraction, form.values())), Fraction(factor)) == terms(v, c)
    assert np.gcd.reduce([int(a) for a in form.values()]) == 1 and form[0] > 0
    broken = terms(v, c)
    pair = list(broken)[int(rng.integers(len(broken)))]
    broken[pair] += Fraction(1, 2**40)
    assert squared_forms.squared(broken) is None
    del broken[pair]
    assert squared_forms.squared(broken) is None


def test_only_what_is_not_convex_from_the_side_that_matters_has_a_variable():
    low, high = np.zeros(4), np.ones(4)
    difference = terms([1, -1])
    for falls, rises, n in ((True, False, 0), (False, True, 1), (True, True, 1)):
        assert len(squared_forms.find([Expression(difference, falls, rises)], low, high)[0]) == n
        negative = {pair: -a for pair, a in difference.items()}
        assert len(squared_forms.find([Expression(negative, rises, falls)], low, high)[0]) == n
    above = Expression(difference, False, True)
    # the same form has one variable, with its factor in every place
    forms, places = squared_forms.find([above, Expression(terms([2, -2], 3), True, True)], low, high)
    assert forms == [{0: 1.0, 1: -1.0}] and [tuple(place) for place in places] == [(0, 0, 1.0), (1, 0, 12.0)]
    # not where its variables are in other products, or have no bounds
    others = Expression({(1, 2): Fraction(1)}, True, False)
    chained = Expression(terms([0, 0, 1, -1]), False, True)
    assert squared_forms.find([above, others, chained], low, high) == ([], [])
    assert squared_forms.find([above], low, np.array([np.inf, 1, 1, 1])) == ([], [])


@pytest.mark.parametrize("seed", range(20))
def test_values_rows_and_bounds_are_those_of_the_problem(seed):
    rng = np.random.default_rng(seed)
    n = 4
    low = rng.integers(-3, 1, n).astype(float)
    high = low + rng.integers(1, 4, n)
    v, w = (rng.choice([-2.0, -1.0, 1.0, 3.0], n) for _ in range(2))
    one = BiconvexProblem(
        rng.integers(-4, 5, n).astype(float), Q=matrix(v, -0.5), constant=3.0, lower=low, upper=high,
        A=rng.integers(-2, 3, (2, n)).astype(float), row_upper=[2.0, 3.0],
        quadratic_rows=[(matrix(w), rng.integers(-2, 3, n).astype(float), 1.0, None)],
    )  # fmt: skip
    found = SquaredProblem.of(one)
    assert found.n_variables == n + len(found.forms) and found.names[:n] == one.names
    for _ in range(20):
        z = low + (high - low) * rng.integers(0, 9, n) / 8
        whole = found.completed(z)
        (value, feasible), (other, whole_feasible) = one.exact(z), found.exact(whole)
        assert (value, feasible) == (other, whole_feasible)


def test_ranges_are_rounded_outward():
    rng = np.random.default_rng(0)
    low, high = -rng.random((40, 3)) * 0.3, rng.random((40, 3)) / 3
    for a, b in zip(low, high, strict=True):
        form = {0: 1.0, 1: -3.0, 2: 7.0}
        (least,), (most,) = squared_forms.ranges([form], a, b)
        exact = [sum(Fraction(v) * Fraction(float((x if (v > 0) == up else y)[i])) for i, v in form.items())
                 for x, y, up in ((a, b, True), (b, a, True))]  # fmt: skip
        assert Fraction(least) <= exact[0] and exact[1] <= Fraction(most)


@pytest.mark.parametrize("seed", range(12))
def test_no_feasible_point_is_below_the_bound_and_the_optimum_is_the_same(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 5))
    rows = []
    for i in range(n):
        for j in range(i):
            v = np.zeros(n)
            v[[i, j]] = 1.0, rng.choice([-1.0, -1.0, 2.0])
            rows.append((matrix(v), None, float(rng.integers(1, 4)), None if rng.random() < 0.8 else 30.0))
    one = BiconvexProblem(rng.integers(-3, 4, n).astype(float), quadratic_rows=rows, lower=np.full(n, -4.0),
                          upper=np.full(n, 4.0), sense=str(rng.choice(["min", "max"])))  # fmt: skip
    sign = 1.0 if one.sense == "min" else -1.0
    found = gopfast.solve(one, log=False, n_threads=1)
    assert found.success and found.profile["squared_forms"].calls == 1
    assert found.solution.z.shape == (n,)
    with gopfast.settings(squared_forms=False):
        plain = gopfast.solve(one, log=False, n_threads=1)
    assert plain.profile["squared_forms"] == Activity()
    assert found.objective == pytest.approx(plain.objective, rel=1e-5, abs=1e-5)
    assert sign * found.bound <= sign * plain.objective + 1e-9 and sign * plain.bound <= sign * found.objective + 1e-9
    points = rng.integers(-16, 17, (4000, n)) / 4
    values = sign * (points @ one.c)  # exact, as whole numbers of quarters are
    below = values < sign * found.bound - 1e-12
    assert not any(one.exact(z)[1] for z in points[below])
    assert all(one.exact(z)[0] == value for z, value in zip(points[:20], values[:20], strict=True))


def test_groups_of_the_users_own_stay():
    v = np.array([1.0, -1.0])
    arguments = {"Q": matrix(v, -1.0), "lower": [0.0, 0.0], "upper": [1.0, 1.0]}
    assert gopfast.solve(BiconvexProblem([0.0, 0.5], **arguments), log=False).profile["squared_forms"].calls == 1
    own = BiconvexProblem([0.0, 0.5], x=["z0"], **arguments)
    assert gopfast.solve(own, log=False).profile["squared_forms"] == Activity()


def test_a_start_is_a_point_of_the_users_variables():
    one = packing(3, np.arange(7))
    start = np.array([0.0, 0.5, 1.0, 0.0, 1.0, 0.0, 1.0])
    found = gopfast.solve(one, start=start, max_nodes=1, log=False)
    assert found.objective >= one.objective(start) - 1e-12 and found.solution.z.shape == (7,)


@pytest.mark.parametrize("seed", range(4))
def test_points_are_packed_in_any_order_of_the_variables(seed):
    """Weights by multipliers alone take up to 15,000 nodes: they divide what holds the solution for now."""
    order = np.random.default_rng(seed).permutation(11)
    found = gopfast.solve(packing(5, order), log=False, n_threads=1, epsilon=1e-6, rel_tol=1e-6, max_nodes=1000)
    assert found.success and found.objective == pytest.approx(0.5, abs=1e-5)
