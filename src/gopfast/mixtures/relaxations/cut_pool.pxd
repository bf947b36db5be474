"""Tangents of the entropy that the linear programs of all nodes share."""

from gopfast.search.types cimport index, real


cdef real touching_ratio(real tau, real weight) noexcept nogil
cdef real tangent_value(int K, const real *tau, const real *weights, bint joint) noexcept nogil


cdef class CutPool:
    """Tangents of the entropy, valid on every node. Workers read it; it changes only between batches."""

    cdef readonly int n_samples, n_components, room
    cdef bint joint
    cdef index[::1] n_added             # (N,) the newest `room` of them are kept
    cdef real[::1] ratios               # (N, room, K) tau / pi where the tangent touches (paper's partition: tau)
    cdef int size(self, int i) noexcept nogil
    cdef const real *at(self, int i, int slot) noexcept nogil
    cdef real value(self, int i, const real *tau, const real *weights) noexcept nogil
    cdef void add(self, int i, const real *tau, const real *weights) noexcept nogil
