"""Bounds of variables that single rows imply, with the certificates that show them."""

import numpy as np

from gopfast.biconvex.margins import CUT_MARGIN as MARGIN


class Cuts:
    """
    Cuts by the rows of a problem, and by the bound where the objective is affine.

    Parameters
    ----------
    problem : gopfast.checker.biconvex.BiconvexProblem
    bound : float or None
        What is to be proved; None: that no point is feasible.
    """

    def __init__(self, problem, bound):
        self.problem, self.n = problem, problem.n
        rows = np.flatnonzero(problem.is_affine & (problem.affine[:, 1:] != 0).any(axis=1))
        equations = rows[problem.is_equation[rows]]
        # slacks, and of an equation also their negatives
        self.rows = np.concatenate([rows, equations])
        self.signs = np.concatenate([np.ones(len(rows)), -np.ones(len(equations))])
        self.slacks = problem.affine[self.rows] * self.signs[:, np.newaxis]
        objective = problem.forms[-1]
        is_linear = problem.monomials[0] == 0
        if bound is not None and not objective[~is_linear].any():
            # what is better than the bound: L - f
            slack = np.zeros(self.n + 1)
            slack[problem.monomials[1][is_linear]] = -objective[is_linear]
            slack[0] += bound
            self.rows, self.signs = np.append(self.rows, len(problem.is_equation)), np.append(self.signs, 1.0)
            self.slacks = np.vstack([self.slacks, slack])

    def by_rows(self, low, high, worth):
        """
        Return certificates with their cuts (j, s, v) of a box.

        Parameters
        ----------
        low, high : ndarray, shape (n,)
        worth : float
            The share of an interval that a cut must leave at most.
        """
        a = self.slacks[:, 1:]
        most = np.where(a == 0, 0.0, np.where(a > 0, a * high, a * low))
        endless = np.isinf(most)
        total = self.slacks[:, 0] + np.where(endless, 0.0, most).sum(axis=1)
        size = np.abs(self.slacks[:, 0]) + np.where(endless, 0.0, np.abs(most)).sum(axis=1)
        n_endless = endless.sum(axis=1)[:, np.newaxis]
        # what the others leave: a_j z_j >= -others
        others = total[:, np.newaxis] - np.where(endless, 0.0, most)
        known = (a != 0) & ((n_endless == 0) | ((n_endless == 1) & endless))
        end = -(others + MARGIN * size[:, np.newaxis]) / np.where(known, a, 1.0)
        width = high - low
        gained = np.where(a > 0, end - low, high - end)
        good = known & ((gained > (1 - worth) * width) | (np.isinf(gained) & np.isfinite(end)))
        found = []
        for r in np.flatnonzero(good.any(axis=1)):
            moves = [(int(j), float(a[r, j]), float(end[r, j])) for j in np.flatnonzero(good[r])]
            first = np.array([2 * self.n + 1 + self.rows[r]])
            found.append(((first, np.zeros(1, int), self.signs[[r]]), moves))
        return found
