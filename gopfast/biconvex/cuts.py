"""Bounds of variables that single rows imply, with the certificates that show them.

Of a row with products its affine bounds: each product is replaced by one that McCormick's factors give, or by the most
that it can be in the box.

Theory: (V9) of docs/theory/proofs.md.
"""

import numpy as np

from gopfast.biconvex.margins import CUT_MARGIN as MARGIN
from gopfast.biconvex.tuning import WORTH_BY_PRODUCTS


class Cuts:
    """
    Cuts by the rows of a problem, and by the bound.

    Parameters
    ----------
    problem : gopfast.checker.biconvex.BiconvexProblem
    bound : float or None
        What is to be proved; None: that no point is feasible.
    """

    def __init__(self, problem, bound):
        self.problem, self.n = problem, problem.n
        rows = np.flatnonzero((problem.forms[:-1, 1:] != 0).any(axis=1))
        equations = rows[problem.is_equation[rows]]
        # slacks, and of an equation also their negatives
        self.rows = np.concatenate([rows, equations])
        self.signs = np.concatenate([np.ones(len(rows)), -np.ones(len(equations))])
        forms = problem.forms[self.rows] * self.signs[:, np.newaxis]
        if bound is not None:
            # what is better than the bound: L - f
            self.rows, self.signs = np.append(self.rows, len(problem.is_equation)), np.append(self.signs, 1.0)
            forms = np.vstack([forms, -problem.forms[-1]])
            forms[-1, 0] += bound
        first, second = problem.monomials
        is_linear = first == 0
        self.slacks = np.zeros((len(self.rows), self.n + 1))
        self.slacks[:, second[is_linear]] = forms[:, is_linear]
        # products: rows, places, coefficients
        self.at, term = np.nonzero(forms[:, ~is_linear])
        self.coefficients = forms[:, ~is_linear][self.at, term]
        self.i, self.j = first[~is_linear][term] - 1, second[~is_linear][term] - 1
        self.is_affine = np.bincount(self.at, minlength=len(self.rows)) == 0
        # rows with products take time, and are of most use where formulas made variables or bounds are missing
        is_bounded = np.isfinite(problem.low).all() and np.isfinite(problem.high).all()
        self.takes_products = not self.is_affine.all() and (bool(problem.functions) or not is_bounded)

    def by_rows(self, low, high, worth):
        """
        Return certificates with their cuts (j, s, v) of a box.

        Parameters
        ----------
        low, high : ndarray, shape (n,)
        worth : float
            The share of an interval that a cut must leave at most.
        """
        # of a variable's side the best, by the row and the version that show it
        best = {}
        for version in range(3 if self.takes_products else 1):
            slacks, sizes, known = self._affine(version, low, high)
            known &= self.is_affine | self.takes_products
            least = np.where(self.is_affine, worth, WORTH_BY_PRODUCTS)
            for r, moves in _moves(slacks, sizes, low, high, least[:, np.newaxis]):
                for move in moves if known[r] else []:
                    j, s, v = move
                    side = j, s > 0
                    if side not in best or (v > best[side][1][2] if s > 0 else v < best[side][1][2]):
                        best[side] = (r, version), move
        found = {}
        for place, move in best.values():
            found.setdefault(place, []).append(move)
        return [(self._certificate(*place), moves) for place, moves in found.items()]

    def _affine(self, version, low, high):
        """Affine functions (R, n + 1) that slacks are at most, sizes of their constants, and which there are."""
        slacks, sizes, at, c = self.slacks.copy(), np.abs(self.slacks[:, 0]), self.at, self.coefficients
        if version == 0:
            corners = [_product(a[self.i], b[self.j]) for a in (low, high) for b in (low, high)]
            # of a square the least is 0 where the box has it
            has_0 = (self.i == self.j) & (low[self.i] <= 0) & (high[self.i] >= 0)
            least = np.where(has_0, 0.0, np.minimum.reduce(corners))
            most = np.where(c > 0, c * np.maximum.reduce(corners), c * least)
            np.add.at(slacks[:, 0], at, most)
            np.add.at(sizes, at, np.abs(most))
        else:
            side_i, side_j = self._sides(version)
            a, b = np.where(side_i, high[self.i], low[self.i]), np.where(side_j, high[self.j], low[self.j])
            np.add.at(slacks, (at, 1 + self.i), c * b)
            np.add.at(slacks, (at, 1 + self.j), c * a)
            np.add.at(slacks[:, 0], at, -c * a * b)
            np.add.at(sizes, at, np.abs(c * a * b))
        known = np.isfinite(slacks).all(axis=1) & ((version == 0) | ~self.is_affine)
        return np.where(known[:, np.newaxis], slacks, 0.0), np.where(known, sizes, 0.0), known

    def _sides(self, version):
        """Which bounds of both factors a product is replaced at: the same for one that is subtracted."""
        side = np.full(len(self.at), version == 2)
        return side, np.where(self.coefficients > 0, ~side, side)

    def _certificate(self, r, version):
        first, second, multipliers = [2 * self.n + 1 + self.rows[r]], [0], [self.signs[r]]
        if version > 0:
            own = np.flatnonzero(self.at == r)
            side_i, side_j = (side[own] for side in self._sides(version))
            first += (1 + self.i[own] + self.n * side_i).tolist()
            second += (1 + self.j[own] + self.n * side_j).tolist()
            multipliers += np.abs(self.coefficients[own]).tolist()
        return np.array(first), np.array(second), np.array(multipliers)


def _moves(slacks, sizes, low, high, worth):
    """Yield rows (place) with the cuts that affine functions of at least 0 imply."""
    a = slacks[:, 1:]
    most = np.where(a == 0, 0.0, np.where(a > 0, a * high, a * low))
    endless = np.isinf(most)
    total = slacks[:, 0] + np.where(endless, 0.0, most).sum(axis=1)
    size = sizes + np.where(endless, 0.0, np.abs(most)).sum(axis=1)
    n_endless = endless.sum(axis=1)[:, np.newaxis]
    # what the others leave: a_j z_j >= -others
    others = total[:, np.newaxis] - np.where(endless, 0.0, most)
    known = (a != 0) & ((n_endless == 0) | ((n_endless == 1) & endless))
    end = -(others + MARGIN * size[:, np.newaxis]) / np.where(known, a, 1.0)
    width = high - low
    gained = np.where(a > 0, end - low, high - end)
    good = known & ((gained > (1 - worth) * width) | (np.isinf(gained) & np.isfinite(end)))
    for r in np.flatnonzero(good.any(axis=1)):
        yield r, [(int(j), float(a[r, j]), float(end[r, j])) for j in np.flatnonzero(good[r])]


def _product(a, b):
    return np.where((a == 0) | (b == 0), 0.0, a * b)
