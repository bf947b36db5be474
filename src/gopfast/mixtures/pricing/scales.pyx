"""The scale of a component's column, about: for prices that are chosen by what components save.

Theory: (P2) of docs/theory/prices.md.
"""

import numpy as np

from libc.math cimport exp, fabs

from gopfast.mixtures.pricing.tuning cimport SCALES_CLOSE as CLOSE, SCALES_LARGEST as LARGEST, SCALES_STEPS as STEPS
from gopfast.search.types cimport index, real


def scale_of(weights, gains):
    """
    Return s in [0, 1] of sum w min(1, s exp(gain)) = W s, about; 0 where nothing pays.

    Parameters
    ----------
    weights, gains : ndarray, shape (n,)
        What a sample gains is its price less its cost, in nats.
    """
    cdef const real[::1] w = np.ascontiguousarray(weights, dtype=np.float64)
    cdef const real[::1] y = np.ascontiguousarray(gains, dtype=np.float64)
    cdef real[::1] u = np.empty(w.shape[0])
    cdef index i
    cdef real total = 0, paid = 0, s = 1, full, inner, following
    cdef int _turn
    with nogil:
        for i in range(w.shape[0]):
            u[i] = exp(min(y[i], LARGEST))
            total += w[i]
            paid += w[i] * u[i]
        for _turn in range(STEPS if paid > total else 0):
            full = inner = 0
            for i in range(w.shape[0]):
                if s * u[i] >= 1:
                    full += w[i]
                else:
                    inner += w[i] * u[i]
            if not total - inner > 0:
                break
            following = min(1.0, full / (total - inner))
            if fabs(following - s) <= CLOSE * s or following <= 0:
                break
            s = following
    return s if paid > total else 0.0
