"""The linear programs of a proof: in a box, what a certificate of `gopfast.checker` may add up.

Columns are the variables z and the products w of two of them, rows the products of two factors that are not negative in
the box, in these columns, and lines beside functions. Their duals are the multipliers of a certificate.

Theory: (V9) of docs/theory/proofs.md; (XF3) of docs/theory/functions.md.
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from gopfast.biconvex.interruption import check
from gopfast.biconvex.lines import Lines
from gopfast.biconvex.tuning import (
    ADDED_IN_PROOFS as MOST_ADDED_PRODUCTS,
    IN_MOMENTS_OF_PROOFS as MOST_IN_MOMENTS,
    LEAST_TOUCH,
    MOST_LIFTED,
    MOST_SQUARES,
    PROGRAM_TOLERANCE as TOLERANCE,
    SQUARE_VIOLATION as LEAST_VIOLATION,
    SQUARES_A_ROUND,
    TOO_SMALL,
    WORTH_A_TOUCH,
)
from gopfast.lp.lp import Lp

BASIC = 1  # HiGHS's status


class Solved(NamedTuple):
    """
    What a program says.

    ``certificate`` is None where there are no duals; ``cutoff`` whether it has the multiplier 1 of L - f.
    """

    optimal: bool
    certificate: tuple | None
    cutoff: bool
    x: np.ndarray
    reduced: np.ndarray | None
    basis: np.ndarray | None
    weights: np.ndarray | None


class Program:
    """
    Linear programs of one problem.

    Parameters
    ----------
    problem : gopfast.checker.biconvex.BiconvexProblem
    bound : float or None
        What is to be proved; None: that no point is feasible.
    stop : StopSignal
        Ends a program in the middle, with `Stopped`.
    """

    def __init__(self, problem, bound, stop):
        self.problem, self.bound, self.stop, n = problem, bound, stop, problem.n
        self.n, self.lp, self.loaded = n, None, None
        first, second = problem.monomials
        pairs = [(i - 1, j - 1) for i, j in zip(first.tolist(), second.tolist(), strict=True) if i > 0]
        self.products = {pair: k for k, pair in enumerate(pairs)}
        self.n_own = len(pairs)
        self.lifted = self._lifts()
        self._add_moments()
        arguments = {own.argument for own in problem.functions}
        self.in_products = sorted({i for pair in self.products for i in pair} | arguments)
        pairs = np.array(list(self.products), int).reshape(-1, 2)
        self.pair_i, self.pair_j = pairs.T
        self.squares, self.square_rows = [], []  # vectors; rows of the program: lists of places in `squares`
        self.in_squares = np.zeros(0, int), np.zeros(0, int), np.zeros(0), np.zeros(0)
        self.lines = Lines(problem.functions)
        self._fixed_rows()
        self._templates()
        self._scale(problem.low, problem.high)
        self.whole_scale = self.scale

    def close(self):
        """Free the solver."""
        if self.lp is not None:
            self.lp.close()

    def vectors(self):
        """Vectors (S, n + 1) whose squares are used."""
        return np.array(self.squares).reshape(-1, self.n + 1)

    # What there is to add up

    def _lifts(self):
        """Products of affine rows with distances from bounds: (row, variable), equations first."""
        p, partners = self.problem, defaultdict(set)
        for i, j in self.products:
            partners[i].add(j)
            partners[j].add(i)
        bounded = np.isfinite(p.low) & np.isfinite(p.high)
        found = []
        for row in np.flatnonzero(p.is_affine):
            support = set(np.flatnonzero(p.affine[row, 1:]).tolist())
            for j in sorted(set().union(*(partners[i] for i in support))):
                if bounded[j] and bounded[list(support)].all():
                    found.append((not p.is_equation[row], len(support - partners[j]), int(row), j))
        kept, count = [], 0
        for inequality, _, row, j in sorted(found):
            new = {_ordered(i, j) for i in np.flatnonzero(p.affine[row, 1:]).tolist()} - self.products.keys()
            if len(self.products) + len(new) > 3 * self.n_own + MOST_ADDED_PRODUCTS:
                continue
            if inequality:
                count += 2
                if count > MOST_LIFTED:
                    continue
            for pair in sorted(new):
                self.products[pair] = len(self.products)
            kept.append((row, j, 0))
            if inequality:
                kept.append((row, j, 1))
        return kept

    def _add_moments(self):
        """Find sets of variables for semidefinite cuts, those of square terms; all their products have columns."""
        self.moments = []
        squares = {i for i, j in self.products if i == j}
        linked = defaultdict(set)
        for i, j in list(self.products)[: self.n_own]:
            if i in squares and j in squares:
                linked[i].add(j)
                linked[j].add(i)
        seen = set()
        for start in sorted(linked):
            if start in seen:
                continue
            members, stack = set(), [start]
            while stack:
                i = stack.pop()
                if i not in members:
                    members.add(i)
                    stack += linked[i]
            seen |= members
            members = sorted(members)
            if len(members) > MOST_IN_MOMENTS:
                self.moments += [[i] for i in members]
                continue
            for a, i in enumerate(members):
                for j in members[a:]:
                    self.products.setdefault((i, j), len(self.products))
            self.moments.append(members)

    def _fixed_rows(self):
        """Write the problem's rows, and last the objective, in the columns: dense, and their constants."""
        first, second = self.problem.monomials
        columns = [self.n + self.products[i - 1, j - 1] if i > 0 else j - 1
                   for i, j in zip(first.tolist(), second.tolist(), strict=True)][1:]  # fmt: skip
        self.dense = np.zeros((len(self.problem.forms), self.n + len(self.products)))
        self.dense[:, columns] = self.problem.forms[:, 1:]
        self.constants = self.problem.forms[:, 0]
        self.cost = self.dense[-1]

    def _templates(self):
        """Rows of the program: columns, and values that are base + slope times a bound; factors of every row."""
        n, p = self.n, self.problem
        rows, cols, base, slope, bound = [], [], [], [], []
        first, second, const = [], [], []  # const: (value, factor of one bound, that bound, factor of two, both)

        def entry(column, value, factor=0.0, which=0):
            rows.append(len(first))
            cols.append(column)
            base.append(value)
            slope.append(factor)
            bound.append(which)

        def end(one, two, value, factor=0.0, which=0, square=0.0, both=(0, 0)):
            first.append(one)
            second.append(two)
            const.append((value, factor, which, square, *both))

        m = len(p.is_equation)
        for row in range(m + 1):
            sign = 1.0 if row < m else -1.0
            for column in np.flatnonzero(self.dense[row]):
                entry(column, sign * self.dense[row, column])
            end(2 * n + 1 + row, 0, sign * self.constants[row])
        self.cutoff_row = m
        for (i, j), k in self.products.items():
            w = n + k
            for side_i, side_j in ((0, 0), (1, 1), (0, 1), (1, 0)):
                if i == j and (side_i, side_j) == (1, 0):
                    continue
                # (z_i - a)(z_j - b), or with the other sign
                sign = 1.0 if side_i == side_j else -1.0
                a, b = i + n * side_i, j + n * side_j
                entry(w, sign)
                if i == j and a == b:
                    entry(i, 0.0, -2.0 * sign, a)
                elif i == j:
                    entry(i, 0.0, -sign, a)
                    entry(i, 0.0, -sign, b)
                else:
                    entry(i, 0.0, -sign, b)
                    entry(j, 0.0, -sign, a)
                end(1 + a, 1 + b, 0.0, 0.0, 0, sign, (a, b))
        for row, j, side in self.lifted:
            sign, own = 1.0 - 2.0 * side, p.affine[row]
            at = j + n * side
            for i in np.flatnonzero(own[1:]):
                entry(n + self.products[_ordered(int(i), j)], sign * own[1 + i])
                if i != j:
                    entry(int(i), 0.0, -sign * own[1 + i], at)
            entry(j, sign * own[0], -sign * own[1 + j], at)
            end(2 * n + 1 + row, 1 + at, 0.0, -sign * own[0], at)
        self.first, self.second = np.array(first, int), np.array(second, int)
        self.is_equation = np.isin(self.first - 2 * n - 1, np.flatnonzero(p.is_equation)) & (self.first > 2 * n)
        self.const = np.array(const).reshape(-1, 6)
        self.rows, self.cols = np.array(rows, int), np.array(cols, int)
        self.base, self.slope, self.bound_of = np.array(base), np.array(slope), np.array(bound, int)

    # A box

    def _scale(self, low, high):
        """Scale columns and costs by what they can be in a box."""
        self.scale = _power(np.maximum(_finite(np.abs(low)), _finite(np.abs(high))))
        self.col_scale = np.append(self.scale, self.scale[self.pair_i] * self.scale[self.pair_j])
        self.cost_scale = float(_power(np.abs(self.cost * self.col_scale).max(initial=0.0)))

    def _load(self, low, high):
        """Load the program of a box."""
        self._scale(low, high)
        bounds = np.append(low, high)
        finite = np.where(np.isfinite(bounds), bounds, 0.0)
        values = (self.base + self.slope * finite[self.bound_of]) * self.col_scale[self.cols]
        c = self.const
        one, a, b = (c[:, k].astype(int) for k in (2, 4, 5))
        constant = c[:, 0] + c[:, 1] * finite[one] + c[:, 3] * finite[a] * finite[b]
        unknown = ((c[:, 1] != 0) & ~np.isfinite(bounds[one])) | (
            (c[:, 3] != 0) & ~(np.isfinite(bounds[a]) & np.isfinite(bounds[b])))  # fmt: skip
        unknown |= np.bincount(self.rows, (self.slope != 0) & ~np.isfinite(bounds[self.bound_of]), len(constant)) > 0
        n_own = len(constant)
        n_base = n_own + self.lines.n_rows
        n_rows = n_base + len(self.square_rows)
        rows, cols = self.rows, self.cols
        if self.lines.n_rows:
            own_rows, own_cols, own_values, own_constant = self.lines.load(low, high)
            rows, cols = np.append(rows, n_own + own_rows), np.append(cols, own_cols)
            values = np.append(values, own_values * self.col_scale[own_cols])
            constant, unknown = np.append(constant, own_constant), np.append(unknown, ~np.isfinite(own_constant))
        if self.square_rows:
            own_rows, own_cols, own_values, own_constant = self._of_squares()
            rows, cols = np.append(rows, n_base + own_rows), np.append(cols, own_cols)
            values = np.append(values, own_values * self.col_scale[own_cols])
            constant = np.append(constant, own_constant)
            unknown = np.append(unknown, np.zeros(len(own_constant), bool))
        # one place for what a row has twice of a column
        key, inverse = np.unique(rows * (self.n + len(self.products)) + cols, return_inverse=True)
        values = np.bincount(inverse.reshape(-1), values, len(key))
        rows, cols = np.divmod(key, self.n + len(self.products))
        largest = np.zeros(n_rows)
        np.maximum.at(largest, rows, np.abs(values))
        self.row_scale = 1.0 / _power(largest)
        values = values * self.row_scale[rows]  # not in place: counts of nothing are integers
        lower = -constant * self.row_scale
        equal = np.append(self.is_equation, np.zeros(n_rows - n_own, bool))
        upper = np.where(equal, lower, np.inf)
        lower, upper = np.where(unknown, -np.inf, lower), np.where(unknown, np.inf, upper)
        self.cutoff_lower = lower[self.cutoff_row] - (self.bound or 0.0) * self.row_scale[self.cutoff_row]
        lower[self.cutoff_row] = -np.inf
        start = np.searchsorted(rows, np.arange(n_rows + 1))
        corners = [_product(x[self.pair_i], y[self.pair_j]) for x in (low, high) for y in (low, high)]
        least, most = np.minimum.reduce(corners), np.maximum.reduce(corners)
        same = self.pair_i == self.pair_j
        holds_0 = same & (low[self.pair_i] <= 0) & (high[self.pair_i] >= 0)
        least = np.where(holds_0, 0.0, least)
        col_lower, col_upper = (np.append(x, y) / self.col_scale for x, y in ((low, least), (high, most)))
        arguments = start, cols, values, lower, upper, col_lower, col_upper
        if self.lp is None:
            self.lp = Lp(np.zeros(len(self.col_scale)), *arguments)
            self.lp.set_tolerance(TOLERANCE)
            self.lp.watch(self.stop)
        else:
            self.lp.load(np.zeros(len(self.col_scale)), *arguments)
        self.n_rows, self.loaded = n_rows, (low, high, len(self.square_rows))

    def _of_squares(self):
        """Rows, columns and values of all sums of squares, and their constants."""
        if len(self.square_rows) != len(self.in_squares[-1]):
            parts = [self._square_row(own) for own in self.square_rows]
            self.in_squares = (
                np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts]),
                *(np.concatenate([part[side] for part in parts]) for side in range(2)),
                np.array([part[2] for part in parts]),
            )  # fmt: skip
        return self.in_squares

    def _square_row(self, own):
        """Columns, values and constant of a sum of squares."""
        v = np.array([self.squares[s] for s in own])
        matrix = v.T @ v
        i, j = np.nonzero(np.triu(matrix[1:, 1:]))
        inner = matrix[1:, 1:]
        cols = [self.n + self.products[pair] for pair in zip(i.tolist(), j.tolist(), strict=True)]
        linear = np.flatnonzero(matrix[0, 1:])
        values = np.where(i == j, 1.0, 2.0) * inner[i, j]
        return np.append(linear, cols).astype(int), np.append(2.0 * matrix[0, 1 + linear], values), matrix[0, 0]

    def solve(self, low, high, basis, objective=False, cost=None):
        """
        Solve the program of a box.

        Parameters
        ----------
        low, high : ndarray, shape (n,)
        basis : ndarray or None
        objective : bool
            Whether the objective is minimised; otherwise there is none, but what `cost` says.
        cost : (int, float), optional
            j and s of s z_j, minimised over the points better than the bound.

        Returns
        -------
        Solved

        Raises
        ------
        Stopped
        """
        if not (objective is False and cost is not None and self.loaded is not None
                and self.loaded[0] is low and self.loaded[1] is high and self.loaded[2] == len(self.square_rows)):
            self._load(low, high)
            if basis is not None:
                self._start(basis)
        scale, costs = 1.0, np.zeros(len(self.col_scale))
        if objective:
            scale, costs = self.cost_scale, self.cost * self.col_scale / self.cost_scale
        elif cost is not None:
            costs[cost[0]] = cost[1]
            scale = self.scale[cost[0]]
            if self.bound is not None:
                self.lp.set_row_bounds(self.cutoff_row, self.cutoff_lower, np.inf)
        self.lp.set_costs(costs)
        status = self.lp.solve()
        if status not in ("optimal", "infeasible"):
            check(self.stop)
            self.lp.forget_basis()
            status = self.lp.solve()
        check(self.stop)
        x = self.lp.x * self.col_scale
        if status not in ("optimal", "infeasible"):
            return Solved(False, None, False, x, None, None, None)
        duals = self.lp.row_dual if status == "optimal" else self.lp.ray
        if status == "infeasible":
            duals = duals / max(np.abs(duals).max(initial=0.0), 1e-300)
            scale = 1.0
        cutoff = objective and status == "optimal"
        certificate, y = self._certificate(duals, scale)
        if cutoff:
            certificate = tuple(np.append(part, own) for part, own in zip(
                certificate, (2 * self.n + 1 + self.cutoff_row, 0, 1.0), strict=True))  # fmt: skip
        reduced = weights = None
        if cutoff:
            reduced, weights = self._reduced(y, low, high)
        return Solved(status == "optimal", certificate, cutoff, x, reduced, self.lp.basis, weights)

    def _start(self, basis):
        n_cols = len(self.col_scale)
        missing = n_cols + self.n_rows - len(basis)
        if missing >= 0:
            self.lp.set_basis(np.append(basis, np.full(missing, BASIC)).astype(np.intc))

    def _certificate(self, duals, scale):
        """Factors and multipliers of row duals."""
        free = np.append(self.is_equation, np.zeros(len(duals) - len(self.is_equation), bool))
        duals = np.where(free, duals, np.maximum(duals, 0.0))
        used = np.flatnonzero(np.abs(duals) > TOO_SMALL)
        y = np.zeros(len(duals))
        y[used] = duals[used] * self.row_scale[used] * scale
        base = used[used < len(self.first)]
        first, second, multipliers = [self.first[base]], [self.second[base]], [y[base]]
        first_square, n_base = 2 * self.n + 2 + len(self.problem.is_equation), len(self.first) + self.lines.n_rows
        lines = used[(used >= len(self.first)) & (used < n_base)]
        first.append(self.lines.codes(lines - len(self.first)))
        second.append(np.zeros(len(lines), int))
        multipliers.append(y[lines])
        for t in used[used >= n_base]:
            own = np.array(self.square_rows[t - n_base])
            first.append(first_square + own)
            second.append(first_square + own)
            multipliers.append(np.full(len(own), y[t]))
        return tuple(np.concatenate(part) for part in (first, second, multipliers)), y

    def _reduced(self, y, low, high):
        """Reduced costs of the variables, and what a product's error costs."""
        bounds = np.append(low, high)
        finite = np.where(np.isfinite(bounds), bounds, 0.0)
        values = self.base + self.slope * finite[self.bound_of]
        own = y[: len(self.first)]
        total = self.cost - np.bincount(self.cols, values * own[self.rows], len(self.cost))
        weights = self.cost - own[: self.cutoff_row] @ self.dense[:-1]
        n_base = len(self.first) + self.lines.n_rows
        of_lines = y[len(self.first) : n_base]
        rows, cols, values, _ = self.lines.loaded
        total -= np.bincount(cols, values * of_lines[rows], len(total))
        rows, cols, values, _ = self._of_squares()
        total -= np.bincount(cols, values * y[n_base:][rows], len(total))
        return total[: self.n], np.append(weights[self.n :], self.lines.totals(of_lines))

    def scores(self, solved, low, high):
        """How far products and functions of each variable (n,) are off at a solution, and the solution (n,)."""
        x = np.clip(solved.x[: self.n], low, high)
        if not np.isfinite(solved.x).all():
            return np.zeros(self.n), 0.5 * (low + high)
        off = np.abs(solved.x[self.n :] - x[self.pair_i] * x[self.pair_j])
        off, n_products = np.append(off, self.lines.off(solved.x, x)), len(off)
        weights = np.ones(len(off)) if solved.weights is None else np.abs(solved.weights)
        # an argument without bounds is not divided: its value is
        places = [v if np.isinf(high[u] - low[u]) else u for u, v in self.lines.places]
        for cost in (off * weights, off / np.append(self.col_scale[self.n :], self.scale[self.lines.values])):
            cost[self.n_own : n_products] = 0.0
            of_products, of_functions = cost[:n_products], cost[n_products:]
            score = np.zeros(self.n)
            np.add.at(score, self.pair_i, of_products)
            np.add.at(score, self.pair_j, of_products)
            np.add.at(score, places, of_functions)
            score *= (high - low) / self.whole_scale
            if score.max(initial=0.0) > 1e-9 * self.cost_scale:
                break
        return score, x

    def add_tangents(self, solved, low, high, lacks):
        """Add tangents of functions that a solution violates, by what may count of what a bound lacks; whether any."""
        least = LEAST_TOUCH * self.scale[self.lines.values]
        if solved.weights is not None and len(least):
            prices = np.abs(solved.weights[-len(least) :]) + np.abs(solved.reduced[self.lines.values])
            least = np.maximum(least, WORTH_A_TOUCH * lacks / np.maximum(prices, 1e-300))
        found = np.isfinite(solved.x).all() and self.lines.touch(solved.x, low, high, least)
        if found:
            self.loaded = None
        return found

    def add_squares(self, x):
        """Add squares that a solution violates, for moments of variables; whether there are any."""
        if not np.isfinite(x).all() or len(self.square_rows) >= MOST_SQUARES:
            return False
        found = []
        for members in self.moments:
            k = len(members)
            matrix, scale = np.ones((k + 1, k + 1)), np.append(1.0, self.scale[members])
            matrix[0, 1:] = matrix[1:, 0] = x[members]
            matrix[1:, 1:] = [[x[self.n + self.products[_ordered(i, j)]] for j in members] for i in members]
            values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
            for value, v in list(zip(values, vectors.T, strict=True))[:SQUARES_A_ROUND]:
                if value < -LEAST_VIOLATION:
                    vector = np.zeros(self.n + 1)
                    vector[[0, *(1 + np.array(members))]] = v / scale
                    found.append((value, vector))
        for _, vector in sorted(found, key=lambda part: part[0])[:SQUARES_A_ROUND]:
            self.square_rows.append([len(self.squares)])
            self.squares.append(vector)
        return bool(found)


def _ordered(i, j):
    return (i, j) if i <= j else (j, i)


def _finite(values):
    return np.where(np.isfinite(values), values, 0.0)


def _power(values):
    """Power of two near positive numbers; 1 of 0."""
    return 2.0 ** np.round(np.log2(np.where(np.asarray(values) > 0, values, 1.0)))


def _product(a, b):
    return np.where((a == 0) | (b == 0), 0.0, a * b)
