"""Solutions crossed with each other: components of one beside components of another.

Local optima of many components are each right in some places and wrong in others. A crossing matches the components of
two of them by their means and takes of every pair one at random; EM from there often keeps what is right in either:
Gribel & Vidal, "HG-means: a scalable hybrid genetic algorithm for minimum sum-of-squares clustering" (2019).

Theory: (S8) of docs/theory/search.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs

from gopfast.mixtures.primal.moves cimport Moves, next_random, uniform
from gopfast.mixtures.primal.tuning cimport MOST_KEPT
from gopfast.search.types cimport real


cdef class Crossing:
    """Solutions of a family, by their components' masses and moments.

    Parameters
    ----------
    moves : Moves
        On the samples at hand.
    """

    def __init__(self, Moves moves):
        cdef int K = moves.family.n_components
        self.moves, self.n_kept = moves, 0
        self.kept = np.zeros((MOST_KEPT, K, 1 + moves.family.n_statistics))
        self.values, self.mate = np.full(MOST_KEPT, np.inf), np.zeros(K, dtype=np.intc)

    cdef void keep(self, const real *solution, real value, real tolerance) noexcept nogil:
        """A solution, in place of the worst if there are enough; none whose value is there already."""
        cdef int s, worst = 0
        if not value < INFINITY:
            return
        for s in range(self.n_kept):
            if fabs(self.values[s] - value) <= tolerance:
                return
            if self.values[s] > self.values[worst]:
                worst = s
        if self.n_kept < MOST_KEPT:
            worst = self.n_kept
            self.n_kept += 1
        elif not value < self.values[worst]:
            return
        self.moves.gather(solution)
        self.kept[worst, :, :] = self.moves.raw
        self.values[worst] = value

    cdef void match(self, int a, int b) noexcept nogil:
        """OUT mate: of every component of solution a one of b, nearest pairs first, those without weight last."""
        cdef int K = self.mate.shape[0], j, k, c, _turn, best_j, best_k
        cdef real nearest, distance, z
        cdef unsigned long long taken = 0
        for j in range(K):
            self.mate[j] = -1
        for _turn in range(K):
            nearest, best_j, best_k = INFINITY, -1, -1
            for j in range(K):
                if self.mate[j] >= 0:
                    continue
                for k in range(K):
                    if (taken >> k) & 1:
                        continue
                    distance = 0
                    if self.kept[a, j, 0] > 0 and self.kept[b, k, 0] > 0:
                        for c in range(self.moves.family.n_columns):
                            z = (self.kept[a, j, 1 + c] / self.kept[a, j, 0]
                                 - self.kept[b, k, 1 + c] / self.kept[b, k, 0])
                            distance += self.moves.metric[c] * z * z
                    else:
                        distance = 1e300
                    if distance < nearest:
                        nearest, best_j, best_k = distance, j, k
            self.mate[best_j] = best_k
            taken |= (<unsigned long long> 1) << best_k

    cdef bint cross(self, const real *solution, unsigned long long *seed, real *out) noexcept nogil:
        """OUT out: two solutions drawn, crossed; `solution` is where to start from. False: there are too few."""
        cdef int K = self.mate.shape[0], a, b, j, s
        cdef real total = 0, e
        if self.n_kept < 2 or K > 64:
            return False
        a = <int> (uniform(seed) * self.n_kept)
        b = <int> (uniform(seed) * (self.n_kept - 1))
        b += b >= a
        self.match(a, b)
        for j in range(K):
            if next_random(seed) >> 63:
                self.moves.raw[j, :] = self.kept[a, j, :]
            else:
                self.moves.raw[j, :] = self.kept[b, self.mate[j], :]
            total += self.moves.raw[j, 0]
        if not total > 0:
            return False
        self.moves.mix()
        e = solution[K + self.moves.family.n_connected]
        self.moves.restore(solution)
        self.moves.m_step(e)
        for j in range(K):
            out[j] = self.moves.raw[j, 0] / total
        for s in range(self.moves.family.n_connected):
            out[K + s] = self.moves.point[s]
        out[K + self.moves.family.n_connected] = e
        return True
