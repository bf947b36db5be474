"""What the samples' average says of the components' masses and means.

Masses M_l = S_l + nu add up to the total, and M_l (mean_l - average) to 0. So component k balances the others,

    M_k x + (total - M_k) y = 0,

x its deviation from the average and y some number between the least and the largest of the others': bounds of M_k,
then of x.

Theory: (F10) and (F12) of docs/theory/families.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs

from gopfast.mixtures.families.margins cimport DERIVED_SLACK, TOTAL_SLACK


cdef class Balance:
    """Bounds of the masses and of the means of one statistic.

    Parameters
    ----------
    n_components : int
    """

    def __init__(self, int n_components):
        self.n_components = n_components
        self.mass_low, self.mass_high = np.empty(n_components), np.empty(n_components)
        self.mean_low, self.mean_high = np.empty(n_components), np.empty(n_components)

    cdef void free_masses(self, real weight) noexcept nogil:
        cdef int k
        for k in range(self.n_components):
            self.mass_low[k], self.mass_high[k] = 0, weight * (1 + TOTAL_SLACK)

    cdef void take_part(self, Balance whole, real weight, real part, real most) noexcept nogil:
        """Masses of samples that count up to `most` times: what they miss of that is at most what all samples miss."""
        cdef int k
        cdef real rest = most * weight * (1 + DERIVED_SLACK) - part
        for k in range(self.n_components):
            self.mass_low[k] = max(0.0, most * whole.mass_low[k] - rest)
            self.mass_high[k] = min(most * whole.mass_high[k], part * (1 + TOTAL_SLACK))

    cdef bint tighten(self, real total, real nu, real average) noexcept nogil:
        cdef int k, l, K = self.n_components
        cdef real *low = &self.mean_low[0]
        cdef real *high = &self.mean_high[0]
        cdef real *mass_low = &self.mass_low[0]
        cdef real *mass_high = &self.mass_high[0]
        cdef real p, q, x, y, a, b, sum_low = 0, sum_high = 0, free = total - K * nu
        # what adding nu to a mass, or taking it off, may round away: 8 u of the total
        cdef real lost = 2.0 ** -50 * total
        if K == 1:
            mass_low[0] = max(mass_low[0], free * (1 - DERIVED_SLACK) - lost)
        for k in range(K):
            sum_low += mass_low[k]
            sum_high += mass_high[k]
        for k in range(K):
            a, b = free - (sum_high - mass_high[k]), free - (sum_low - mass_low[k])
            mass_low[k] = max(mass_low[k], a - DERIVED_SLACK * (free + sum_high))
            mass_high[k] = min(mass_high[k], b + DERIVED_SLACK * (free + sum_low))
        for k in range(K):
            if not mass_high[k] + nu > 0:
                continue
            p, q = INFINITY, -INFINITY
            if K == 1:
                p = q = 0
            for l in range(K):
                if l != k:
                    p = min(p, low[l] - average - DERIVED_SLACK * (fabs(low[l]) + fabs(average)))
                    q = max(q, high[l] - average + DERIVED_SLACK * (fabs(high[l]) + fabs(average)))
            x = low[k] - average - DERIVED_SLACK * (fabs(low[k]) + fabs(average))
            y = high[k] - average + DERIVED_SLACK * (fabs(high[k]) + fabs(average))
            if (p > 0 and x > 0) or (q < 0 and y < 0):
                return 0
            # M y + (total - M) q >= 0 and M x + (total - M) p <= 0
            a, b = mass_low[k] + nu - lost, mass_high[k] + nu + lost
            if q < 0:
                a = max(a, total * q / (q - y) * (1 - DERIVED_SLACK))
            elif y < 0:
                b = min(b, total * q / (q - y) * (1 + DERIVED_SLACK))
            if p > 0:
                a = max(a, total * p / (p - x) * (1 - DERIVED_SLACK))
            elif x > 0:
                b = min(b, total * p / (p - x) * (1 + DERIVED_SLACK))
            if a > b or not b > 0:
                return 0
            mass_low[k], mass_high[k] = max(mass_low[k], a - nu - lost), min(mass_high[k], b - nu + lost)
            # x = -(total - M) / M y
            a = max(0.0, total / a * (1 + DERIVED_SLACK) - 1) if a > 0 else INFINITY
            b = max(0.0, total / b * (1 - DERIVED_SLACK) - 1)
            if p >= 0 or a < INFINITY:
                y = min(y, -p * (a if p < 0 else b))
            if q <= 0 or a < INFINITY:
                x = max(x, -q * (a if q > 0 else b))
            low[k] = max(low[k], average + x - DERIVED_SLACK * (fabs(x) + fabs(average)))
            high[k] = min(high[k], average + y + DERIVED_SLACK * (fabs(y) + fabs(average)))
            if low[k] > high[k]:
                return 0
        return 1
