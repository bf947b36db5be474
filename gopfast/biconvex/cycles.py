"""
Cycles of products: inequalities of products z_i z_j, z_j z_k, ..., z_h z_i over a box.

With every variable mapped to s in [-1, 1] a product of two vertices' values is 1 or -1, and along a cycle these
multiply to 1: an odd set D of the cycle's products cannot be all -1 while the others are all 1, so that

    sum over D of (1 + s_i s_j) + sum over the others of (1 - s_i s_j) >= 2.

The left side is linear in each variable, so that it is least at a vertex, and the inequality holds in the whole box.
McCormick's rows are those of the triangles with the constant 1 as third factor; of the others none follows from them.

Barahona & Mahjoub 1986 (the cut polytope, separation by shortest paths); Burer & Letchford 2009 (over boxes).

Theory: (X5) of docs/theory/biconvex.md.
"""

import numpy as np
from scipy.sparse import csr_array

from gopfast.biconvex.tuning import CYCLE_VIOLATION as LEAST_VIOLATION, LEAST_HALF_WIDTH, LONGEST, MOST_SOURCES


def has_any(pairs):
    """Whether the graph with an edge for each product (i, j) of two variables has a cycle."""
    parent = {}

    def root(i):
        while parent.setdefault(i, i) != i:
            parent[i] = i = parent[parent[i]]
        return i

    for i, j in pairs:
        if i != j:
            if root(i) == root(j):
                return True
            parent[root(i)] = root(j)
    return False


def violated(first, second, low, high, z, w, known):
    """
    Find cycles whose inequalities a point violates.

    Parameters
    ----------
    first, second : ndarray of int, shape (P,)
        Factors of each product.
    low, high, z : ndarray, shape (n,)
        Box, and values of the variables in it.
    w : ndarray, shape (P,)
        Values of the products.
    known : set
        Of cycles found before; those found are added.

    Returns
    -------
    list of (tuple of int, tuple of int)
        Products of each cycle, and their signs: 1 for those of D, -1 for the others.
    """
    with np.errstate(invalid="ignore"):  # of variables without ends, which are in no cycle
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
    wide = np.isfinite(half) & (half > LEAST_HALF_WIDTH * np.maximum(1.0, np.abs(middle)))
    edges = np.flatnonzero((first != second) & wide[first] & wide[second] & np.isfinite(w))
    if not len(edges):
        return []
    i, j = first[edges], second[edges]
    scaled = w[edges] - middle[i] * z[j] - middle[j] * z[i] + middle[i] * middle[j]
    p = np.clip(scaled / (half[i] * half[j]), -1.0, 1.0)
    n = len(low)
    # two copies of every variable: an edge of D leads from one to the other, so that odd ones end in the other
    tiny = 1e-9  # an edge of length 0 would be none
    stay, cross = np.maximum(1.0 - p, tiny), np.maximum(1.0 + p, tiny)
    row = np.concatenate([i, j, i + n, j + n, i, j, i + n, j + n])
    column = np.concatenate([j, i, j + n, i + n, j + n, i + n, j, i])
    graph = csr_array((np.concatenate([stay] * 4 + [cross] * 4), (row, column)), shape=(2 * n, 2 * n))
    missed = np.abs(w[edges] - z[i] * z[j])
    score = np.bincount(i, missed, n) + np.bincount(j, missed, n)
    sources = np.argsort(-score, kind="stable")[: min(MOST_SOURCES, int((score > 0).sum()))]
    if not len(sources):
        return []
    # Here and not above: it imports scipy.linalg, more than half of what a first solve imports, and few roots need it.
    from scipy.sparse.csgraph import dijkstra

    distance, before = dijkstra(graph, indices=sources, return_predecessors=True, limit=2.0)
    number = {}
    for k, a, b in zip(edges.tolist(), i.tolist(), j.tolist(), strict=True):
        number[a, b] = number[b, a] = k
    found = []
    lengths = distance[np.arange(len(sources)), sources + n]
    for place in np.argsort(lengths, kind="stable").tolist():
        if not lengths[place] < 2.0 - LEAST_VIOLATION:
            break
        cycle = _cycle(int(sources[place]), before[place], n, number)
        if cycle is not None and cycle not in known:
            known.add(cycle)
            found.append(cycle)
    return found


def _cycle(source, before, n, number):
    """Products, in order, and signs along the shortest path to the source's other copy; None: it is no cycle."""
    walk = [source + n]
    while walk[-1] != source:
        walk.append(int(before[walk[-1]]))
    if len({at % n for at in walk[1:]}) < len(walk) - 1 or len(walk) - 1 > LONGEST:
        return None
    parts = [(number[a % n, b % n], 1 if (a < n) != (b < n) else -1)
             for a, b in zip(walk, walk[1:], strict=False)]  # fmt: skip
    products, signs = zip(*sorted(parts), strict=True)
    return (products, signs) if len(set(products)) == len(products) else None
