"""Lagrange cuts of a node follow from its rows and McCormick's: (X6) of docs/theory/biconvex.md."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog


def relaxed_dual(rng, n_x, n_y, n_rows):
    """A node's program over (x, y, w): costs, rows (A, b) of A(x, y, w) <= b, McCormick's rows, bounds of x and y."""
    n = n_x + n_y + n_x * n_y
    low = -rng.uniform(0, 2, n_x + n_y)
    high = low + rng.uniform(0.5, 3, n_x + n_y)
    rows = np.round(rng.normal(size=(n_rows, n)), 2)
    z = low + (high - low) * rng.random(n_x + n_y)
    full = np.concatenate([z, np.outer(z[:n_x], z[n_x:]).ravel()])
    rhs = rows @ full + rng.uniform(0, 0.3, n_rows)
    envelope, right = [], []
    for i, j in itertools.product(range(n_x), range(n_y)):
        k = n_x + n_y + i * n_y + j
        for a, b, sign in (
            (low[i], low[n_x + j], -1), (high[i], high[n_x + j], -1),
            (low[i], high[n_x + j], 1), (high[i], low[n_x + j], 1),
        ):  # fmt: skip
            # sign (w - a y - b x + a b) <= 0
            row = np.zeros(n)
            row[k], row[n_x + j], row[i] = sign, -sign * a, -sign * b
            envelope.append(row)
            right.append(-sign * a * b)
    return np.round(rng.normal(size=n), 2), rows, rhs, np.array(envelope), np.array(right), low, high


def lagrange_cut(costs, rows, rhs, multipliers, low, high, n_x, n_y):
    """t >= L(x, y, multipliers) with every x_i at the bound that its coefficient asks for all over the box.

    The coefficient h_i(y) = a_i + sum_j b_ij y_j of a connected variable has one sign on the box, or the least of
    l_i h_i and u_i h_i, which is concave, is replaced by its envelope's value at the box's middle line: a constant.
    Returns the coefficients of y and the constant.
    """
    lagrangian = costs + multipliers @ rows
    constant = -multipliers @ rhs
    of_y = lagrangian[n_x : n_x + n_y].copy()
    products = lagrangian[n_x + n_y :].reshape(n_x, n_y)
    for i in range(n_x):
        reach = [(products[i, j] * low[n_x + j], products[i, j] * high[n_x + j]) for j in range(n_y)]
        least = lagrangian[i] + sum(min(pair) for pair in reach)
        most = lagrangian[i] + sum(max(pair) for pair in reach)
        if least >= 0 or most <= 0:
            bound = low[i] if least >= 0 else high[i]
            of_y += bound * products[i]
            constant += bound * lagrangian[i]
        else:
            constant += min(low[i] * least, low[i] * most, high[i] * least, high[i] * most)
    return of_y, constant


@pytest.mark.parametrize("seed", range(20))
def test_a_lagrange_cut_at_any_multipliers_does_not_raise_the_bound(seed):
    rng = np.random.default_rng(seed)
    n_x, n_y, n_rows = 2 + seed % 2, 3, 3
    costs, rows, rhs, envelope, right, low, high = relaxed_dual(rng, n_x, n_y, n_rows)
    len(costs)
    bounds = [*zip(low, high, strict=True), *[(None, None)] * (n_x * n_y)]
    A, b = np.vstack([rows, envelope]), np.concatenate([rhs, right])
    base = linprog(costs, A, b, bounds=bounds)
    assert base.status == 0
    # multipliers of the primal with x fixed, of this program, and random ones
    fixed = [(v, v) for v in base.x[:n_x]] + bounds[n_x:]
    primal = linprog(costs, A, b, bounds=fixed)
    cuts = []
    for multipliers in (-base.ineqlin.marginals[:n_rows], -primal.ineqlin.marginals[:n_rows], rng.random(n_rows)):
        of_y, constant = lagrange_cut(costs, rows, rhs, np.maximum(multipliers, 0), low, high, n_x, n_y)
        # costs'z >= of_y'y + constant
        cut = -costs.copy()
        cut[n_x : n_x + n_y] += of_y
        cuts.append((cut, -constant))
        # it is a cut: no point of the box that keeps the rows violates it
        for _ in range(200):
            z = low + (high - low) * rng.random(n_x + n_y)
            full = np.concatenate([z, np.outer(z[:n_x], z[n_x:]).ravel()])
            if (rows @ full <= rhs).all():
                assert cut @ full <= -constant + 1e-9
    more = linprog(
        costs, np.vstack([A, *(cut for cut, _ in cuts)]), np.concatenate([b, [side for _, side in cuts]]),
        bounds=bounds,
    )  # fmt: skip
    assert more.status == 0 and more.fun == pytest.approx(base.fun, rel=1e-8, abs=1e-8)
