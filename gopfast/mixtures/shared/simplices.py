"""
A bound of mixtures of one covariance matrix, over simplices of its inverse.

With the notation of `gopfast.mixtures.shared.shared`, alpha and s being symmetric matrices A and S: for
responsibilities r let S be the sums of squares and products within components, R the mutual information, W the samples'
weight. Then

    f = min over A of  g(A) + H(A),     H(A) = min over r of R + <A, S> / 2,     g(A) = -W/2 log det A + W/2 <N, A> + c,

H the optimum of a mixture of known covariance: concave, since it is a minimum of linear functions. With bounds beta_v
<= H(A_v) at the vertices of a simplex it is at least their interpolation there, and g is convex, so that any symmetric
B bounds f over the simplex:

    W/2 min over A of [<B, A> - log det A]  +  min over v of [beta_v - W/2 <B - N, A_v>]  +  c.

Simplices are split at their edges until all bounds reach the limit, or the search behind a vertex goes
on.

Theory: (T6) and (T7) of docs/theory/shared.md.
"""

import itertools
import math

import numpy as np

from gopfast.mixtures.shared.barycentric import combined, least_shares
from gopfast.mixtures.shared.known_covariances import KnownCovariances
from gopfast.mixtures.shared.margins import SIMPLICES_SLACK as SLACK, SUM
from gopfast.mixtures.shared.tuning import MIDDLE, NODES_OF_A_SPLIT, RING, WITHIN
from gopfast.roundoff import ROUND


class Cell:
    """A simplex: indices of its vertices, a bound of f there, and the barycentric coordinates of the least point."""

    def __init__(self, corners, bound=-math.inf):
        self.corners, self.bound, self.shares = corners, bound, None


class SimplexBound(KnownCovariances):
    """Lower bound of a mixture of one covariance matrix of two columns; parameters as of `KnownCovariances`."""

    def __init__(self, slices, solution, limit, epsilon, plan):
        slices.begin()
        super().__init__(slices, solution, limit, epsilon, plan)
        self.low, self.high = slices.precisions()
        self.cells, self.around = {}, {}
        self.serial = itertools.count()
        self._begin(slices.precision_of(solution))

    def step(self, deadline):
        """Do one thing more, until `deadline` of the monotonic clock; whether there is more to do."""
        if self.waiting:
            self._go_on(self.waiting[0], deadline)
        else:
            self._improve(deadline)
        if not self.waiting:
            self.lower = max(self.lower, self._least().bound)
        return self.lower < self.limit and not self.is_full

    def _raised(self, index):
        """Cells of this vertex have another bound."""
        for cell in self.cells.values():
            if index in cell.corners:
                cell.shares = None

    def _begin(self, center):
        """Cover the matrices between low I and high I."""
        low, high = self.low, self.high * (1.0 + SLACK)
        middle, radius = 0.5 * (low + high), 0.5 * (high - low) / math.cos(math.pi / RING) * (1.0 + SLACK)
        angles = 2.0 * math.pi * np.arange(RING) / RING
        ring = [
            self._add(np.array([[middle + radius * c, radius * s], [radius * s, middle - radius * c]]), 0.0)
            for c, s in zip(np.cos(angles), np.sin(angles), strict=True)
        ]
        ends = [self._add(end * np.eye(2), 0.0) for end in (low * (1.0 - SLACK), high)]
        found = [(*ends, ring[i - 1], ring[i]) for i in range(RING)]
        self._divide_at(found, center)

    def _divide_at(self, found, center):
        """Take the simplices, of which the one around `center` has it as a vertex."""
        for simplex in found:
            corners = np.stack([packed(self.vertices[v].A) for v in simplex])
            shares = np.linalg.solve(np.vstack([corners.T, np.ones(len(simplex))]), np.append(packed(center), 1.0))
            if shares.min() > WITHIN:
                new = self._add(center, 0.0)
                found = [other for other in found if other is not simplex]
                found += [(*simplex[:i], new, *simplex[i + 1 :]) for i in range(len(simplex))]
                break
        self._add_cells([Cell(simplex) for simplex in found])

    def _add_cells(self, found):
        """Take simplices, but those outside the domain."""
        for cell in found:
            if self._is_outside(cell.corners):
                continue
            serial = next(self.serial)
            self.cells[serial] = cell
            for edge in itertools.combinations(sorted(cell.corners), 2):
                self.around.setdefault(edge, set()).add(serial)

    def _is_outside(self, simplex):
        """Whether a direction shows that no matrix of the simplex lies between low I and high I."""
        corners = [self.vertices[v] for v in simplex]
        stack = np.stack([v.A for v in corners])
        slip = max(len(v.A) * v.error + SLACK * np.abs(v.A).sum() for v in corners)
        for A in (*stack, stack.mean(axis=0)):
            _, vectors = np.linalg.eigh(A)
            for u, sign, end in ((vectors[:, 0], 1.0, self.low), (vectors[:, -1], -1.0, -self.high)):
                if (sign * np.einsum("vij,i,j->v", stack, u, u) + slip < end * (u @ u) - SLACK * abs(end)).all():
                    return True
        return False

    def _least(self):
        """Return the simplex of the least bound."""
        stale = [cell for cell in self.cells.values() if cell.shares is None]
        if stale:
            bounds, shares = self._bounds([cell.corners for cell in stale])
            for cell, bound, share in zip(stale, bounds, shares, strict=True):
                cell.bound, cell.shares = max(cell.bound, float(bound)), share
        return min(self.cells.values(), key=lambda cell: cell.bound)

    def _improve(self, deadline):
        """Split the simplex of the least bound, or let a search go on."""
        cell = self._least()
        lacks = self.limit - cell.bound
        if not lacks > 0.0:
            return
        corners = [self.vertices[v] for v in cell.corners]
        told = sum(share * vertex.missing for vertex, share in zip(corners, cell.shares, strict=True))
        gains = [share * vertex.promise() for vertex, share in zip(corners, cell.shares, strict=True)]
        best = int(np.argmax(gains))
        if math.isfinite(lacks) and gains[best] > max(0.0, lacks - told) / NODES_OF_A_SPLIT:
            self._go_on(cell.corners[best], deadline)
        else:
            self._split(cell)

    def _split(self, cell):
        """Split an edge, and all simplices around it."""
        a, b, part = self._edge(cell)
        u, v = self.vertices[a], self.vertices[b]
        error = part * u.error + (1.0 - part) * v.error
        error += 8 * ROUND * float((part * np.abs(u.A) + (1.0 - part) * np.abs(v.A)).max())
        # H is concave
        beta = part * u.beta + (1.0 - part) * v.beta - 8 * ROUND * (abs(u.beta) + abs(v.beta))
        new = self._add(part * u.A + (1.0 - part) * v.A, error, beta)
        self.vertices[new].means = (u if part > 0.5 else v).means
        children = []
        for serial in sorted(self.around[a, b]):
            old = self.cells.pop(serial)
            for edge in itertools.combinations(sorted(old.corners), 2):
                self.around[edge].discard(serial)
            children += [Cell(tuple(new if w == end else w for w in old.corners), old.bound) for end in (a, b)]
        self._add_cells(children)

    def _edge(self, cell):
        """Return the ends of the edge to split and the first one's part: where the bound's matrix lies between them.

        What the interpolation loses there is of second order in the edge's length, in units of that matrix.
        """
        stack, shares = np.stack([self.vertices[v].A for v in cell.corners]), cell.shares
        pairs = list(itertools.combinations(range(len(stack)), 2))
        if math.isfinite(cell.bound):
            inverse = np.linalg.pinv(combined(shares[None], stack[None])[0])
            scaled = [inverse @ (stack[i] - stack[j]) for i, j in pairs]
            sizes = [shares[i] * shares[j] * (E * E.T).sum() for (i, j), E in zip(pairs, scaled, strict=True)]
        else:
            sizes, shares = [np.abs(stack[i] - stack[j]).sum() for i, j in pairs], np.ones(len(stack))
        i, j = sorted(pairs[int(np.argmax(sizes))], key=lambda i: cell.corners[i])
        part = float(np.clip(shares[i] / (shares[i] + shares[j]), MIDDLE, 1.0 - MIDDLE))
        return cell.corners[i], cell.corners[j], part

    def _bounds(self, found):
        """Return bounds (m,) of f over simplices, and the barycentric coordinates (m, n) that they were found at."""
        W, N = self.slices.total, np.diag(self.slices.added)
        corners = [[self.vertices[v] for v in simplex] for simplex in found]
        stack = np.array([[v.A for v in row] for row in corners])
        betas, errors = (np.array([[getattr(v, name) for v in row] for row in corners]) for name in ("beta", "error"))
        shares, usable = least_shares(stack, betas / W + 0.5 * np.einsum("mvij,ij->mv", stack, N))
        A = np.where(usable[:, None, None], combined(shares, stack), np.eye(len(N)))
        # from here on any symmetric B will do, and what is computed from it is rounded down
        B = np.linalg.pinv(A)
        B = 0.5 * (B + B.transpose(0, 2, 1))
        values, size = np.linalg.eigvalsh(B), np.abs(B).sum(axis=(1, 2))
        best = np.clip(1.0 / np.maximum(values, 1e-300), self.low, self.high)
        first = (best * values - np.log(best) - SUM * (best * size[:, None] + np.abs(np.log(best)))).sum(axis=1)
        inner = np.einsum("mij,mvij->mv", B - N, stack)
        lost = np.abs(B - N).sum(axis=(1, 2))[:, None] * (errors + SUM * np.abs(stack).max(axis=(2, 3)))
        second = betas - 0.5 * W * (inner + lost) - SUM * (np.abs(betas) + 0.5 * W * np.abs(inner))
        terms = np.stack([0.5 * W * first, second.min(axis=1)])
        constant, magnitude = math.fsum(self.slices.fixed), math.fsum(map(abs, self.slices.fixed))
        bounds = terms.sum(axis=0) + constant - SUM * (np.abs(terms).sum(axis=0) + magnitude)
        return np.where(usable & np.isfinite(bounds), bounds, -math.inf), shares


def packed(A):
    """Return the entries of a symmetric matrix on and above the diagonal."""
    return A[np.triu_indices(len(A))]
