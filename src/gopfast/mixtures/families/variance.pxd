"""One variance, or one entry of a covariance matrix: its cost, its largest value, where its range is split.

Theory: (F3) and (F6) of docs/theory/families.md.
"""

from libc.math cimport M_PI, log, sqrt

from gopfast.mixtures.families.tuning cimport SPLIT_INSIDE, SPLIT_PULL, SPLIT_PULL_MOST, SPLIT_WIDE
from gopfast.search.types cimport clip, real

# Cost in nats per unit of mass of a variance with a floor: least of 1/2 log(2 pi s) + v / (2 s) over s >= floor. Linear
# in v below the floor.
cdef inline real line_cost(real v, real floor) noexcept nogil:
    cdef real top = max(v, floor)
    return 0.5 * (log(2 * M_PI * top) + v / top)


# Largest variance of numbers in [first, last] whose mean lies in [low, high]: (m - first)(last - m), the bound of
# Bhatia and Davis, concave in m. In the unit of the numbers, squared; rounded to nearest.
cdef inline real bhatia_davis(real first, real last, real low, real high) noexcept nogil:
    cdef real m = clip(0.5 * (first + last), low, high)
    return (m - first) * (last - m)


# Where to split a variance's range: near the variance found, a little towards the geometric mean of the range; not
# below the floor.
cdef inline real split_factor(real v, real low, real high, real floor) noexcept nogil:
    cdef real middle = sqrt(max(low, floor) * max(high, floor))
    return sqrt(max(v, floor) * sqrt(max(v, floor) * middle))


# Where to split the range of a mean or an entry: near the x found, a little towards the middle. `unit` is the standard
# deviation that the range is compared with.
cdef inline real split_inside(real x, real low, real high, real unit) noexcept nogil:
    if high - low < SPLIT_WIDE * unit:
        x += clip(SPLIT_PULL * (0.5 * (low + high) - x), -SPLIT_PULL_MOST * unit, SPLIT_PULL_MOST * unit)
    return x


# Facets are loose in wide cells: what they let out of the cell, or to its faces, is no reason not to split.
cdef inline real within(real x, real low, real high) noexcept nogil:
    cdef real margin = SPLIT_INSIDE * (high - low)
    return clip(x, low + margin, high - margin)
