"""Tangents of the entropy that the linear programs of all nodes share, see `linear`.

Theory: (G7) of docs/theory/gop.md.
"""

import numpy as np

from libc.math cimport INFINITY, log

from gopfast.mixtures.relaxations.tuning cimport GREATEST_RATIO, LEAST_RATIO
from gopfast.search.types cimport clip, index, real


cdef real touching_ratio(real tau, real weight) noexcept nogil:
    """tau / pi where the tangent touches, within the limits that keep its coefficients finite."""
    return clip(tau / weight if weight > 0 else GREATEST_RATIO, LEAST_RATIO, GREATEST_RATIO)


cdef real tangent_value(int K, const real *tau, const real *weights, bint joint) noexcept nogil:
    """Entropy of a sample, sum_k tau log(tau / pi), as the tangent that touches there (or at the limit) sees it."""
    cdef int k
    cdef real total = 0, weight, ratio
    for k in range(K):
        weight = weights[k] if joint else 1
        ratio = touching_ratio(tau[k], weight)
        total += tau[k] * (log(ratio) + 1) - ratio * weight
    return total


cdef class CutPool:
    """Tangents of the entropy, valid on every node. Workers read it; it changes only between batches.

    Parameters
    ----------
    n_samples, n_components : int
    room : int
        Tangents kept per sample; the oldest makes place for a new one.
    joint : bool
        Weights are variables of the linear program (joint partition).
    """

    def __init__(self, int n_samples, int n_components, int room, bint joint):
        self.n_samples, self.n_components, self.room, self.joint = n_samples, n_components, room, joint
        self.n_added = np.zeros(n_samples, dtype=np.intp)
        self.ratios = np.zeros(n_samples * room * n_components)

    cdef int size(self, int i) noexcept nogil:
        """Number of tangents of sample i."""
        return <int> min(self.n_added[i], <index> self.room)

    cdef const real *at(self, int i, int slot) noexcept nogil:
        """The ratios tau_k / pi_k (K,) at which tangent `slot` of sample i touches."""
        return &self.ratios[(<index> i * self.room + slot) * self.n_components]

    cdef real value(self, int i, const real *tau, const real *weights) noexcept nogil:
        """What the pool knows about the entropy of sample i at a point."""
        cdef real best = 0 if self.joint else -INFINITY
        cdef real tangent
        cdef const real *ratio
        cdef int slot, k
        for slot in range(self.size(i)):
            ratio = self.at(i, slot)
            tangent = 0
            for k in range(self.n_components):
                tangent += tau[k] * (log(ratio[k]) + 1) - ratio[k] * (weights[k] if self.joint else 1)
            best = max(best, tangent)
        return best

    cdef void add(self, int i, const real *tau, const real *weights) noexcept nogil:
        """Takes the tangent of sample i that touches at a point, in place of the oldest where there is no room."""
        cdef int k
        cdef real *ratio = &self.ratios[(<index> i * self.room + self.n_added[i] % self.room) * self.n_components]
        for k in range(self.n_components):
            ratio[k] = touching_ratio(tau[k], weights[k] if self.joint else 1)
        self.n_added[i] += 1
