"""
Where convex forms of the objective are least over a node's linear rows: the one tangent there is worth all others.

Tangents at solutions of linear programs (Kelley) come near a convex form of fifty variables in dozens of programs. At
the least point of the forms themselves, with the node's other rows, one tangent makes the program's bound theirs. The
point is found by a primal-dual interior point (Mehrotra 1992); a tangent is valid wherever it touches.

Theory: (X3) of docs/theory/biconvex.md.
"""

from typing import NamedTuple

import numpy as np

from gopfast.biconvex.tuning import (
    FIRST_SLACK,
    LEAST_POINT_STEP,
    MOST_POINT_STEPS,
    NARROW_ROW,
    POINT_BOUNDARY,
    POINT_GAP,
    POINT_SLOPE,
)


class ConvexPoints:
    """
    Least points of a problem's objective with its convex forms, in the core's columns.

    Parameters
    ----------
    cost : ndarray, shape (n_cols,)
    blocks : list of (int, list of (int, int, float))
        Of each form its column and its matrix, both triangles.
    """

    def __init__(self, cost, blocks):
        self.columns = np.array([column for column, _ in blocks], int)
        self.kept = np.setdiff1d(np.arange(len(cost)), self.columns)
        place = np.full(len(cost), -1)
        place[self.kept] = np.arange(len(self.kept))
        self.H = np.zeros((len(self.kept), len(self.kept)))
        for column, entries in blocks:
            for i, j, a in entries:
                self.H[place[i], place[j]] += 2.0 * cost[column] * a
        self.cost, self.n_cols = cost[self.kept], len(cost)

    def least(self, start, index, value, lower, upper, low, high):
        """
        Return the least point (n_cols,), its forms' columns 0, and the value; None where none is found.

        Parameters
        ----------
        start, index, value, lower, upper : ndarray
            Rows; those that have forms' columns do not count.
        low, high : ndarray, shape (n_cols,)
        """
        A = np.zeros((len(lower), self.n_cols))
        A[np.repeat(np.arange(len(lower)), np.diff(start)), index] = value
        rows = ~(A[:, self.columns] != 0).any(axis=1)
        A, lower, upper, low, high = A[rows][:, self.kept], lower[rows], upper[rows], low[self.kept], high[self.kept]
        equal = np.isfinite(lower) & (upper - lower <= NARROW_ROW * (1 + np.abs(lower)))
        below, above = ~equal & np.isfinite(lower), ~equal & np.isfinite(upper)
        region = Region(low, high, np.vstack([A[above], -A[below]]), np.append(upper[above], -lower[below]),
                        A[equal], 0.5 * (lower[equal] + upper[equal]))  # fmt: skip
        found = least_over(self.H, self.cost, region)
        if found is None:
            return None
        x = found.x
        point = np.zeros(self.n_cols)
        point[self.kept] = np.clip(x, low, high)
        return point, float(0.5 * x @ self.H @ x + self.cost @ x)


class Least(NamedTuple):
    """
    A least point, and the multipliers that show it: H x + c + G'z + E'y = 0, z >= 0.

    Attributes
    ----------
    x, z, y : ndarray
    """

    x: np.ndarray
    z: np.ndarray
    y: np.ndarray


class Region:
    """The points with x <= high, x >= low, A x <= b and E x = f: inequalities G x <= h in this order."""

    def __init__(self, low, high, A, b, E, f):
        self.above, self.below = np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))
        self.A, self.E, self.f = A, E, f
        self.h = np.concatenate([high[self.above], -low[self.below], b])
        self.parts = len(self.above), len(self.above) + len(self.below)
        self.start = np.where(np.isfinite(high - low), 0.5 * (low + high), np.clip(0.0, low, high))

    def rows(self, x):
        """G x."""
        return np.concatenate([x[self.above], -x[self.below], self.A @ x])

    def columns(self, v):
        """G'v."""
        first, second = self.parts
        out = v[second:] @ self.A
        out[self.above] += v[:first]
        out[self.below] -= v[first:second]
        return out

    def add_normal(self, d, out):
        """Add G' diag(d) G to a matrix."""
        first, second = self.parts
        out += (self.A.T * d[second:]) @ self.A
        out[self.above, self.above] += d[:first]
        out[self.below, self.below] += d[first:second]


@np.errstate(all="ignore")
def least_over(H, c, region):
    """
    Minimise x'Hx / 2 + c'x over a region.

    Parameters
    ----------
    H : ndarray, shape (n, n)
        Semidefinite.
    c : ndarray, shape (n,)
    region : Region

    Returns
    -------
    Least or None
        None where that does not come near.
    """
    n, x, h, E = len(c), region.start, region.h, region.E
    s = np.maximum(h - region.rows(x), FIRST_SLACK * (1 + np.abs(h)))
    size = 1.0 + np.abs(c).max(initial=0.0)
    z, y = np.full(len(h), size), np.zeros(len(E))
    K = np.zeros((n + len(E), n + len(E)))
    K[n:, :n], K[:n, n:] = E, E.T
    for _ in range(MOST_POINT_STEPS):
        bent = H @ x
        r_dual, r_row, r_equation = bent + c + region.columns(z) + E.T @ y, region.rows(x) + s - h, E @ x - region.f
        gap = s @ z
        if (gap <= POINT_GAP * (1 + abs(0.5 * x @ bent + c @ x)) and np.abs(r_dual).max() <= POINT_SLOPE * size
                and np.abs(r_row).max(initial=0.0) <= POINT_GAP * (1 + np.abs(h).max(initial=0.0))):  # fmt: skip
            return Least(x, z, y)
        K[:n, :n] = H
        region.add_normal(z / s, K[:n, :n])
        r_s = s * z
        for corrects in (False, True):
            right = np.concatenate([region.columns((r_s - z * r_row) / s) - r_dual, -r_equation])
            try:
                step = np.linalg.solve(K, right)
            except np.linalg.LinAlgError:
                return None
            ds = -r_row - region.rows(step[:n])
            dz = -(r_s + z * ds) / s
            length = min(_most(s, ds), _most(z, dz))
            if not corrects:
                # Mehrotra's corrector: as much of the barrier as the step alone would leave, and what it bends
                r_s = r_s + ds * dz - gap / len(h) * ((s + length * ds) @ (z + length * dz) / gap) ** 3
        length = min(1.0, POINT_BOUNDARY * length)
        x, y, s, z = x + length * step[:n], y + length * step[n:], s + length * ds, z + length * dz
        if not (np.isfinite(x).all() and length > LEAST_POINT_STEP):
            return None
    return None


def _most(values, steps):
    """Longest share of a step, up to 1, that leaves no value negative."""
    return 1.0 / max(1.0, (-steps / values).max(initial=0.0))
