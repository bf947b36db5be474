"""Sequential quadratic programming: it ends where SciPy's does, and evaluates nothing outside of the bounds."""

import numpy as np
import pytest
from scipy.optimize import Bounds, minimize as by_scipy

from gopfast.biconvex.sequential_quadratic import minimize, one_sided


def program(seed):
    """Quadratic functions of both signs: values, slopes, a start, the bounds and how many rows are equations."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    n_equal = int(rng.integers(0, min(n, 3)))
    m = n_equal + int(rng.integers(0, 5))
    Q, c = rng.normal(size=(1 + m, n, n)), rng.normal(size=(1 + m, n))
    Q, point = Q + Q.transpose(0, 2, 1), rng.uniform(-1, 1, n)
    constant = np.append(0.0, -(0.5 * np.einsum("kij,i,j->k", Q[1:], point, point) + c[1:] @ point))
    constant[1 + n_equal :] += rng.random(m - n_equal)

    def values(x):
        assert (np.abs(x) <= 1.0).all()
        return 0.5 * np.einsum("kij,i,j->k", Q, x, x) + c @ x + constant

    return values, lambda x: Q @ x + c, rng.uniform(-1, 1, n), n_equal


def missed(values, n_equal):
    return np.abs(values[1 : 1 + n_equal]).sum() + np.maximum(-values[1 + n_equal :], 0.0).sum()


def end_of_scipy(values, slopes, start, n_equal):
    rows = [
        {"type": "eq", "fun": lambda z: values(z)[1 : 1 + n_equal], "jac": lambda z: slopes(z)[1 : 1 + n_equal]},
        {"type": "ineq", "fun": lambda z: values(z)[1 + n_equal :], "jac": lambda z: slopes(z)[1 + n_equal :]},
    ]
    return by_scipy(
        lambda z: values(z)[0], start, jac=lambda z: slopes(z)[0], method="SLSQP", bounds=Bounds(-1, 1),
        constraints=[row for row in rows if len(row["fun"](start))], options={"maxiter": 200, "ftol": 1e-9},
    ).x  # fmt: skip


def test_it_ends_where_scipys_does():
    """But where rows contradict each other along the way, which the two take back in other steps."""
    n_same = n_better = n_worse = 0
    for seed in range(60):
        values, slopes, start, n_equal = program(seed)
        n = len(start)
        x = minimize(values, slopes, start, -np.ones(n), np.ones(n), n_equal, 200, 1e-9)
        other = end_of_scipy(values, slopes, start, n_equal)
        off, other_off = missed(values(x), n_equal), missed(values(other), n_equal)
        n_same += (off < 1e-6) == (other_off < 1e-6) and abs(values(x)[0] - values(other)[0]) < 1e-6
        n_better += off < 1e-6 <= other_off
        n_worse += other_off < 1e-6 <= off
    assert n_same >= 54 and n_worse <= n_better


def test_an_end_is_a_stationary_point():
    for seed in range(20):
        values, slopes, start, n_equal = program(seed)
        n = len(start)
        x = minimize(values, slopes, start, -np.ones(n), np.ones(n), n_equal, 200, 1e-9)
        if missed(values(x), n_equal) > 1e-6:
            continue
        now, slope = values(x), slopes(x)
        held = [k for k in range(1, len(now)) if k <= n_equal or now[k] < 1e-5]
        free = np.abs(x) < 1.0 - 1e-6
        multipliers = np.linalg.lstsq(slope[held][:, free].T, slope[0, free], rcond=None)[0]
        left = slope[0, free] - multipliers @ slope[held][:, free]
        assert np.abs(left).max(initial=0.0) < 1e-2


def test_rows_that_contradict_each_other_at_the_start_are_met_at_the_end():
    """x^2 + y^2 = 1 and x y = 1/2 from a point where both have one slope."""

    def values(z):
        return np.array([z[0], z @ z - 1.0, z[0] * z[1] - 0.5])

    def slopes(z):
        return np.array([[1.0, 0.0], 2.0 * z, z[::-1]])

    x = minimize(values, slopes, np.array([2.0, 2.0]), np.full(2, -5.0), np.full(2, 5.0), 2, 200, 1e-9)
    np.testing.assert_allclose(x, 0.5**0.5, atol=1e-4)


def test_where_nothing_descends_the_point_stays():
    start, low, high = np.array([3.0, 0.5]), np.zeros(2), np.ones(2)
    x = minimize(lambda z: np.zeros(1), lambda z: np.zeros((1, 2)), start, low, high, 0, 9, 1e-9)
    np.testing.assert_array_equal(x, [1.0, 0.5])


@pytest.mark.parametrize("seed", range(3))
def test_rows_with_two_ends_become_rows_with_one(seed):
    rng = np.random.default_rng(seed)
    lower = np.where(rng.random(9) < 0.3, -np.inf, rng.integers(-3, 1, 9).astype(float))
    upper = np.where(rng.random(9) < 0.3, np.inf, rng.integers(0, 3, 9).astype(float))
    lower[0] = upper[0] = 2.0
    rows, signs, ends, n_equal = one_sided(lower, upper)
    for value in rng.integers(-4, 5, (50, 9)):
        own = signs * (value[rows] - ends)
        holds = (own[:n_equal] == 0).all() and (own[n_equal:] >= 0).all()
        assert holds == ((lower <= value) & (value <= upper)).all()


@pytest.mark.parametrize("size", [1e8, 1e200])
def test_without_rows_a_search_that_runs_off_ends(size):
    free = np.full(2, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        found = minimize(lambda x: np.array([-size * x[0] * x[1]]), lambda x: -size * x[np.newaxis, ::-1],
                         np.array([1.0, 2.0]), -free, free, 0, 100, 1e-9)  # fmt: skip
    assert found.shape == (2,) and not np.isnan(found).any()
