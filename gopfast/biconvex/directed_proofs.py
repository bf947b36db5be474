"""
Proofs of problems with few concave directions: a tree in the sums along them, each node a convex quadratic program.

With f = z'Hz + c'z - sum mu_d s_d^2, H semidefinite and s_d = w_d'z, a box of s has the convex function

    f + sum mu_d (s_d - l_d) (u_d - s_d)  <=  f,

and at its least point x0 over the rows, with their multipliers, the certificate is the sum of these products, of the
rows, of squares |V (z - x0)|^2 with V'V = H and of the equations s_d - w_d'z = 0 times what takes s away. The checker
adds the variables s_d, and has a rule for all else.

Theory: (VL3) of docs/theory/convex_proofs.md.
"""

import numpy as np

from gopfast.biconvex.concave_directions import directions
from gopfast.biconvex.convex_points import Region, least_over
from gopfast.biconvex.interruption import check
from gopfast.biconvex.margins import PROOF_MARGIN as MARGIN
from gopfast.biconvex.tuning import LEAST_CURVATURE, MIDDLE
from gopfast.lp.lp import Lp


class Directed:
    """
    A problem in the sums along its concave directions.

    Parameters
    ----------
    given : gopfast.checker.biconvex.BiconvexProblem
    found : list of (ndarray, float)
        Directions (n,) and factors mu of their squares.
    Q : ndarray, shape (n, n)
        The objective's matrix.
    bound : float
        To be proved.
    rule : type
        `gopfast.checker.certificate.Certificates`.
    stop : StopSignal

    Attributes
    ----------
    problem : gopfast.checker.biconvex.BiconvexProblem
        With a variable for each sum, behind its own.
    vectors : ndarray, shape (D, n + 1)
        These sums.
    squares : list of ndarray
        Vectors (n + D + 1,) of the certificates so far.
    """

    def __init__(self, given, found, Q, bound, rule, stop):
        # their constants are 0
        self.vectors = np.column_stack([np.zeros(len(found)), [w for w, _ in found]])
        self.problem, self.bound, self.rule, self.stop = given.with_sums(self.vectors), bound, rule, stop
        self.squares = []
        self.n, self.W, self.mu = given.n, np.array([w for w, _ in found]), np.array([mu for _, mu in found])
        self.margin = MARGIN * (1 + abs(bound))
        self.H = Q + (self.W.T * self.mu) @ self.W
        self.c = np.zeros(self.n)
        for (i, j), a in given.polynomials[-1].items():
            if i == 0 < j:
                self.c[j - 1] = float(a)
        self.low, self.high, self.m = given.low, given.high, len(given.is_equation)
        self.is_equation, self.constants, self.A = given.is_equation, given.affine[:, 0], given.affine[:, 1:]
        values, axes = np.linalg.eigh(self.H)
        kept = values > LEAST_CURVATURE * values[-1]
        self.V = np.sqrt(values[kept])[:, np.newaxis] * axes.T[kept]

    def close(self, low, high):
        """
        Return a certificate that closes a box of the sums, or where to divide it: a direction and a point.

        Parameters
        ----------
        low, high : ndarray, shape (D,)
        """
        least = self._least(low, high)
        if least is None:
            rows, sides = self._contradiction(low, high)
            certificate = None if rows is None else self._certificate(low, high, rows, sides, None)
            middle = 0.5 * (low + high)
        else:
            certificate = self._certificate(low, high, *self._multipliers(least), least.x)
            middle = np.clip(self.W @ least.x, low, high)
        if certificate is not None:
            vectors, terms = certificate
            if self._holds(vectors, terms, low, high, least is not None):
                return self._entered(vectors, terms), None
        d = int(np.argmax(self.mu * (middle - low) * (high - middle)))
        room = MIDDLE * (high[d] - low[d])
        return None, (d, float(min(max(middle[d], low[d] + room), high[d] - room)))

    def _least(self, low, high):
        """Return the least point of the convex function of a box, with multipliers."""
        equal, A = self.is_equation, self.A
        region = Region(self.low, self.high, np.vstack([-A[~equal], -self.W, self.W]),
                        np.concatenate([self.constants[~equal], -low, high]), A[equal], -self.constants[equal])
        return least_over(2.0 * self.H, self.c - self.W.T @ (self.mu * (low + high)), region)

    def _multipliers(self, least):
        """Return those of the rows (m,), and of the sums' lower and upper ends (2, D)."""
        of_region = least.z[len(least.z) - 2 * len(self.mu) - (~self.is_equation).sum() :]
        rows = np.zeros(self.m)
        rows[self.is_equation] = -least.y
        n_rows = int((~self.is_equation).sum())
        rows[~self.is_equation] = of_region[:n_rows]
        return rows, of_region[n_rows:].reshape(2, -1)

    def _contradiction(self, low, high):
        """Return such multipliers that show that a box of the sums has no point; None where there are none."""
        matrix = np.vstack([self.A, self.W])
        rows, columns = np.nonzero(matrix)
        start = np.searchsorted(rows, np.arange(len(matrix)))
        upper = np.append(np.where(self.is_equation, -self.constants, np.inf), high)
        with Lp(np.zeros(self.n), start, columns, matrix[rows, columns], np.append(-self.constants, low), upper,
                self.low, self.high) as program:  # fmt: skip
            if program.solve() != "infeasible":
                return None, None
            y = program.ray
        y = y / max(np.abs(y).max(initial=0.0), 1e-300)
        of_sums = y[self.m :]
        return (np.where(self.is_equation, y[: self.m], np.maximum(y[: self.m], 0.0)),
                np.array([np.maximum(of_sums, 0.0), np.maximum(-of_sums, 0.0)]))  # fmt: skip

    def _certificate(self, low, high, rows, sides, x0):
        """Return vectors (S, n + D + 1), and factors and multipliers that have these as the first S vectors."""
        n, D = self.n, len(self.mu)
        whole = n + D
        mu = self.mu if x0 is not None else np.zeros(D)
        first, second, multipliers = [], [], []

        def add(a, b, value):
            a, b, value = np.broadcast_arrays(a, b, value)
            first.append(a.ravel())
            second.append(b.ravel())
            multipliers.append(value.ravel())

        first_row, own = 2 * whole + 1, 1 + n + np.arange(D)
        cutoff = first_row + self.m + D
        equations = first_row + self.m + np.arange(D)
        add(first_row + np.arange(self.m), 0, rows)
        add(own, 0, sides[0])
        add(own + whole, 0, sides[1])
        # what is left of s_d in a linear term, and s_d^2 less (w_d'z)^2
        add(equations, 0, sides[1] - sides[0] - mu * (low + high) + mu * (low + self.W @ self.low))
        vectors = np.zeros((0, whole + 1))
        if x0 is not None:
            add(cutoff, 0, 1.0)
            add(own, own + whole, mu)
            add(equations, own, mu)
            add(equations[:, np.newaxis], 1 + np.arange(n), mu[:, np.newaxis] * self.W)
            vectors = np.zeros((len(self.V), whole + 1))
            vectors[:, 0], vectors[:, 1 : 1 + n] = -self.V @ x0, self.V
            of_squares = cutoff + 1 + np.arange(len(vectors))
            add(of_squares, of_squares, 1.0)
        terms = [np.concatenate(part) for part in (first, second, multipliers)]
        used = terms[2] != 0
        return vectors, tuple(part[used] for part in terms)

    def _holds(self, vectors, terms, low, high, has_cutoff):
        """Whether the checker takes a certificate."""
        rule = self.rule(self.problem, vectors, self.bound)
        try:
            least, _ = rule.least(*terms, np.append(self.low, low), np.append(self.high, high))
        except ValueError:
            return False
        return least >= (self.margin if has_cutoff else MARGIN)

    def _entered(self, vectors, terms):
        """Return factors and multipliers, with vectors that are behind those of other certificates."""
        behind, first_vector = len(self.squares), 2 * self.problem.n + len(self.problem.is_equation) + 2
        self.squares += list(vectors)
        return (*(np.where(part >= first_vector, part + behind, part) for part in terms[:2]), terms[2])


def directed(given, bound, rule, stop):
    """
    Return a problem in the sums along its concave directions, or None where it is not of that kind.

    Parameters
    ----------
    given : gopfast.checker.biconvex.BiconvexProblem
    bound : float or None
    rule, stop
        As of `Directed`.
    """
    has_box = np.isfinite(given.low).all() and np.isfinite(given.high).all() and (given.low <= given.high).all()
    if bound is None or given.functions or not (given.is_affine.all() and has_box):
        return None
    Q = np.zeros((given.n, given.n))
    for (i, j), a in given.polynomials[-1].items():
        if i > 0:
            Q[i - 1, j - 1] += 0.5 * float(a)
            Q[j - 1, i - 1] += 0.5 * float(a)
    found = directions(Q) if Q.any() else None
    if not found:
        return None
    return Directed(given, found, Q, bound, rule, stop)


def search(program, entries, most_nodes):
    """
    Enter the tree of a problem in its sums; return whether it is proved.

    Parameters
    ----------
    program : Directed
    entries : object
        That takes splits and leaves, as of a proof's search.
    most_nodes : int

    Raises
    ------
    Stopped
    """
    n = program.n
    stack = [(program.problem.low[n:], program.problem.high[n:])]
    for _ in range(most_nodes):
        check(program.stop)
        low, high = stack.pop()
        certificate, where = program.close(low, high)
        if certificate is not None:
            entries.leaf(certificate)
            if not stack:
                return True
            continue
        d, point = where
        if not low[d] < point < high[d]:
            return False
        entries.split(n + d, point)
        first, last = high.copy(), low.copy()
        first[d] = last[d] = point
        stack += [(last, high), (low, first)]
    return False
