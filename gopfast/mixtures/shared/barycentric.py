"""Where -log det of a matrix plus a linear function is least in simplices of matrices: about, for many at once.

Theory: (T7) of docs/theory/shared.md.
"""

import numpy as np

from gopfast.mixtures.shared.margins import SINGULAR
from gopfast.mixtures.shared.tuning import (
    BOUNDARY,
    DECREASE,
    ENOUGH,
    FIRST,
    HALVING,
    LAST,
    N_HALVINGS,
    N_STEPS,
    ROUNDED,
    SHRINK,
    STARTS,
)


def least_shares(vertices, linear):
    """
    Minimise -log det A / 2 + a linear function over simplices, by a barrier method.

    Parameters
    ----------
    vertices : ndarray, shape (m, n, d, d)
        Symmetric matrices.
    linear : ndarray, shape (m, n)
        The linear function's values there.

    Returns
    -------
    shares : ndarray, shape (m, n)
        Barycentric coordinates.
    usable : ndarray of bool, shape (m,)
        Whether a positive definite matrix was found in the simplex.
    """
    shares, usable = _starts(vertices)
    if usable.any():
        shares[usable] = _Barrier(vertices[usable], linear[usable]).minimise(shares[usable])
    return shares, usable


def combined(shares, vertices):
    """Return the matrices (m, d, d) of barycentric coordinates (m, n)."""
    return np.einsum("mv,mvij->mij", shares, vertices)


def _margins(eigenvalues):
    """Return by how much the least eigenvalues of matrices exceed what rounding makes of a singular one's, (...,)."""
    return eigenvalues[..., 0] - SINGULAR * np.abs(eigenvalues).max(axis=-1)


def _starts(vertices):
    """Return coordinates of the middles, or where these are not positive definite of what is so most."""
    m, n = vertices.shape[:2]
    middle = np.full((1, n), 1.0 / n)
    trials = np.concatenate([middle, *(e * middle + (1.0 - e) * np.eye(n) for e in STARTS[1:])])
    least = _margins(np.linalg.eigvalsh(np.einsum("tv,mvij->mtij", trials, vertices)))
    chosen = np.where(least[:, 0] > 0.0, 0, least.argmax(axis=1))
    return trials[chosen], least[np.arange(m), chosen] > 0.0


class _Barrier:
    """Newton's method for many simplices, each with a weight of its own for the barrier at its faces."""

    def __init__(self, vertices, linear):
        self.vertices, self.linear = vertices, linear

    def minimise(self, x):
        """Return the coordinates of the least points, from those of a start."""
        weight = np.full(len(x), FIRST)
        here = self._value(x, weight)
        for _ in range(N_STEPS):
            step, decrement = self._step(x, weight)
            x, moved = self._search(x, step, decrement, here, weight)
            done = (decrement < ENOUGH * weight) | ~moved
            if (done & (weight <= LAST)).all():
                break
            weight = np.where(done, np.maximum(LAST, SHRINK * weight), weight)
            here = self._value(x, weight)
        return x

    def _value(self, x, weight):
        """Return the function with its barrier, inf where a matrix is not positive definite."""
        values = np.linalg.eigvalsh(combined(x, self.vertices))
        inside = (_margins(values) > 0.0) & (x > 0.0).all(axis=1)
        out = np.full(len(x), np.inf)
        x, linear = x[inside], self.linear[inside]
        out[inside] = (x * linear).sum(axis=1) - 0.5 * np.log(values[inside]).sum(axis=1)
        out[inside] -= weight[inside] * np.log(x).sum(axis=1)
        return out

    def _step(self, x, weight):
        """Return Newton's step, along which the sum stays 1, and the decrease that it promises."""
        m, n = x.shape
        slopes = np.einsum("mij,mvjk->mvik", np.linalg.inv(combined(x, self.vertices)), self.vertices)
        gradient = self.linear - 0.5 * np.einsum("mvii->mv", slopes) - weight[:, None] / x
        system = np.zeros((m, n + 1, n + 1))
        # in units of x, whose sizes differ by many orders
        system[:, :n, :n] = 0.5 * np.einsum("muij,mvji->muv", slopes, slopes) * x[:, :, None] * x[:, None, :]
        system[:, range(n), range(n)] += weight[:, None]
        system[:, n, :n] = system[:, :n, n] = x
        right = np.concatenate([-gradient * x, np.zeros((m, 1))], axis=1)
        step = np.linalg.solve(system, right[..., None])[:, :n, 0] * x
        return step, -(gradient * step).sum(axis=1)

    def _search(self, x, step, decrement, here, weight):
        """Return what backtracking leads to, and where it moved."""
        reach = np.min(-x / np.minimum(step, -1e-300), axis=1)
        length = np.minimum(1.0, BOUNDARY * reach)
        for _ in range(N_HALVINGS):
            trial = x + length[:, None] * step
            moved = self._value(trial, weight) <= here - DECREASE * length * decrement + ROUNDED
            if moved.all():
                break
            length = np.where(moved, length, HALVING * length)
        x = np.where(moved[:, None], trial, x)
        return x / x.sum(axis=1, keepdims=True), moved
