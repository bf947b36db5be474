"""What a search by counts has left, told to the nodes of a tree of boxes of all components.

A leaf of that search says how many components lie in which group of cells, and has prices of its own
(`gopfast.mixtures.pricing.counts`). A box of all components may hold a solution of it where its components can be
assigned to the groups so that the largest bounds of G over what they meet add up to more than the prices less the
limit. Boxes in which that is so of no leaf are closed, others are cut down to what they meet of those of which it is.

Theory: (N4) of docs/theory/counts.md.
"""

import numpy as np

from gopfast.search import entries

from libc.math cimport INFINITY, fabs
from libc.stdlib cimport free, malloc

cdef real SUMMING = 1e-13        # rounding error of a sum of suprema, relative to its terms: far above K u
# Boxes of a group's tree, at most about.
cdef index MOST_BOXES = 500


# All assignments of components to groups. G groups.
cdef struct Assignment:
    int K
    int G
    const real *sups    # (K, G) largest bounds of what a component's box meets of a group, -INFINITY: nothing
    real *best          # (K, G) largest sum of an assignment that has the pair
    int *left           # (G,) components that groups still have to take
    int *choice         # (K,)


cdef real assign(Assignment *all, int k, real total) noexcept nogil:
    """The largest sum of the assignments that go on from those of the first k components."""
    cdef int g, j, K = all.K, G = all.G
    cdef real top = -INFINITY
    if k == K:
        for j in range(K):
            all.best[j * G + all.choice[j]] = max(all.best[j * G + all.choice[j]], total)
        return total
    for g in range(G):
        if all.left[g] > 0 and all.sups[k * G + g] > -INFINITY:
            all.left[g] -= 1
            all.choice[k] = g
            top = max(top, assign(all, k + 1, total + all.sups[k * G + g]))
            all.left[g] += 1
    return top


cdef class CountCuts:
    """Leaves of a search by counts.

    Parameters
    ----------
    n_components, n_cell : int
    leaves : list of (total, groups)
        Groups are tuples (low (m, n), high (m, n), upper (m,), count), of counts that add up to K.
    """

    def __init__(self, int n_components, int n_cell, leaves):
        groups = [group for _, groups in leaves for group in groups]
        trees = [CellTree(low, high, upper, MOST_BOXES).state() for low, high, upper, _ in groups]
        roots = np.cumsum([0] + [len(tree["upper"]) for tree in trees])
        self.restore({
            **{name: np.concatenate([tree[name] for tree in trees]) if trees else np.zeros(shape)
               for name, shape in (("low", (0, n_cell)), ("high", (0, n_cell)), ("upper", 0))},
            "left": np.concatenate([np.zeros(0, dtype=np.intc)] + [
                np.where(tree["left"] < 0, -1, tree["left"] + root) for tree, root in zip(trees, roots)]),
            "roots": roots[:-1], "counts": [group[3] for group in groups],
            "first": np.cumsum([0] + [len(groups) for _, groups in leaves]), "totals": [total for total, _ in leaves],
        }, n_components, n_cell)

    def state(self):
        """The leaves, as arrays by name."""
        return {**self.forest.state(), "roots": np.array(self.roots), "counts": np.array(self.counts),
                "first": np.array(self.first), "totals": np.array(self.totals)}

    def restore(self, state, int n_components, int n_cell):
        """Take what `state` returned, of a problem of so many components and coordinates of one."""
        self.n_components = n_components
        self.roots, self.counts, self.first = (
            np.array(entries.array(state, name, (None,), "i", 0, 1 << 30), dtype=np.intc)
            for name in ("roots", "counts", "first"))
        self.totals = np.array(entries.array(state, "totals", (None,)))
        self.n_leaves = <int> self.totals.shape[0]
        self.forest = CellTree.__new__(CellTree)
        self.forest.restore(state)
        first, counts, roots = np.asarray(self.first), np.asarray(self.counts), np.asarray(self.roots)
        alike = len(first) == self.n_leaves + 1 and first[0] == 0 and (np.diff(first) > 0).all() and (
            len(roots) == len(counts) == first[-1] and (counts > 0).all())
        if not alike or self.forest.n_cell != n_cell or not ((roots >= 0) & (roots < self.forest.n_boxes)).all() or (
                (np.add.reduceat(counts, first[:-1]) != n_components).any() if self.n_leaves else False):
            raise ValueError("counts of another problem")

    cdef int fit(self, real *low, real *high, real limit, real *rest) noexcept nogil:
        cdef index n = self.forest.n_cell, size = self.n_components * n, a
        cdef int leaf, K = self.n_components
        cdef bint covered = False
        cdef real value
        # what leaves leave, of one leaf and together; pairs' largest bounds and sums; groups' counts and choices
        cdef real *hull = <real *> malloc((4 * size + 2 * n + 3 * K * K + 2 * K) * sizeof(real))
        cdef real *both
        if hull == NULL:
            return 1
        both = hull + 2 * size
        rest[0] = INFINITY
        for a in range(size):
            both[a], both[size + a] = INFINITY, -INFINITY
        for leaf in range(self.n_leaves):
            value = self.meet(leaf, low, high, limit, both + 2 * size, hull)
            if value == INFINITY:
                continue
            rest[0] = min(rest[0], value)
            covered = True
            for a in range(size):
                both[a], both[size + a] = min(both[a], hull[a]), max(both[size + a], hull[size + a])
                covered = covered and both[a] <= low[a] and both[size + a] >= high[a]
            if covered:
                break
        if rest[0] < INFINITY and covered:
            rest[0] = -INFINITY  # of the other leaves nothing is known
        elif rest[0] < INFINITY:
            for a in range(size):
                low[a], high[a] = max(low[a], both[a]), min(high[a], both[size + a])
        free(hull)
        # solutions that were cut off cost at least the limit
        if rest[0] == INFINITY:
            return 0
        rest[0] = min(rest[0], limit)
        return 1

    cdef real meet(self, int leaf, const real *low, const real *high, real limit, real *memory,
                   real *hull) noexcept nogil:
        cdef int first = self.first[leaf], G = self.first[leaf + 1] - first, K = self.n_components, k, g
        cdef index n = self.forest.n_cell, size = K * n, j
        cdef real top, lost = 0, excess
        cdef real *sups = memory
        cdef real *best = sups + K * K
        cdef real *cell = best + K * K
        cdef Assignment all
        cdef bint found
        all.K, all.G, all.sups, all.best = K, G, sups, best
        all.left = <int *> (cell + 2 * n)
        all.choice = all.left + K
        for k in range(K):
            found = False
            for g in range(G):
                sups[k * G + g] = self.forest.largest(low + k * n, high + k * n, self.roots[first + g])
                best[k * G + g] = -INFINITY
                found |= sups[k * G + g] > -INFINITY
                if sups[k * G + g] > -INFINITY:
                    lost = max(lost, fabs(sups[k * G + g]))
            if not found:
                return INFINITY
        for g in range(G):
            all.left[g] = self.counts[first + g]
        lost = SUMMING * (fabs(self.totals[leaf]) + fabs(limit) + K * lost)
        excess = self.totals[leaf] - limit
        top = assign(&all, 0, 0)
        # the box's bound is total - sum of G, at least the limit
        if not top + lost > excess:
            return INFINITY
        for k in range(K):
            for j in range(n):
                hull[k * n + j], hull[size + k * n + j] = INFINITY, -INFINITY
            found = False
            for g in range(G):
                if not best[k * G + g] + lost > excess:
                    continue
                if self.forest.meet(low + k * n, high + k * n, excess - (best[k * G + g] - sups[k * G + g]) - lost,
                                    cell, cell + n, self.roots[first + g]) == -INFINITY:
                    continue
                found = True
                for j in range(n):
                    hull[k * n + j] = min(hull[k * n + j], cell[j])
                    hull[size + k * n + j] = max(hull[size + k * n + j], cell[n + j])
            if not found:
                return INFINITY
        return self.totals[leaf] - top - lost

    def cut(self, low, high, real limit):
        """For tests: what is left of a box below the limit and the bound of that, or None."""
        cdef real[::1] least = np.array(low, dtype=np.float64), most = np.array(high, dtype=np.float64)
        cdef real rest
        if not self.fit(&least[0], &most[0], limit, &rest):
            return None
        return np.asarray(least), np.asarray(most), rest
