"""The shape of a Gamma component: its cost and its spread, with error bounds.

From a shape of 16 on both are Stirling's series, whose remainder is below the first term left out; smaller shapes are
moved there by log Gamma(a) = log Gamma(a + n) - sum log(a + i), psi(a) = psi(a + n) - sum 1 / (a + i).

Theory: (O2) and (O3) of docs/theory/gamma.md.
"""

from libc.math cimport M_PI, fabs, log, log1p, sqrt

from gopfast.mixtures.families.margins cimport SHAPE_ROUNDING, UNKNOWN
from gopfast.mixtures.families.tuning cimport FROM_STIRLING, NEWTON_STEPS
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport clip


cdef real shape_cost(real shape, real *error) noexcept nogil:
    cdef real a = shape, y, z, series, value, size, logs = 0
    while a < FROM_STIRLING:
        logs += log(a)
        a += 1
    y = 1 / a
    z = y * y
    # B_2m / (2 m (2 m - 1) a^(2 m - 1)); the next one is below 1e-15 of the first
    series = y * (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188)))))
    value = 0.5 * log(2 * M_PI / a) + series
    size = fabs(value) + 1
    if a > shape:
        # log Gamma(a) is value + a log a - a
        value += a * log(a) - a - logs - shape * log(shape) + shape
        size += a * log(a) + a + 64 + fabs(shape * log(shape)) + fabs(log(shape))
    error[0] = SHAPE_ROUNDING * size
    return value


cdef real spread_of(real shape, real *error) noexcept nogil:
    cdef real a = shape, y, z, value, inverses = 0, moved
    while a < FROM_STIRLING:
        inverses += 1 / a
        a += 1
    y = 1 / a
    z = y * y
    # log a - psi(a) = 1 / (2 a) + B_2m / (2 m a^(2 m))
    value = y * 0.5 + z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132)))))
    error[0] = SHAPE_ROUNDING * value
    if a > shape:
        moved = log1p((a - shape) / shape)
        value += inverses - moved
        error[0] += SHAPE_ROUNDING * (inverses + moved)
    return value


cdef real shape_of(real spread, real most) noexcept nogil:
    """Newton's method in the shape, from the approximation of Minka, within 1 / (2 a) < spread < 1 / a."""
    cdef real a, error, slope, change
    cdef int _step
    if not spread * most > 0.5:
        return most
    a = clip((3 - spread + sqrt((spread - 3) * (spread - 3) + 24 * spread)) / (12 * spread), 0.5 / spread, 1 / spread)
    for _step in range(NEWTON_STEPS):
        # psi'(a) - 1 / a, of the same two ways
        slope = trigamma_excess(a)
        change = (spread_of(a, &error) - spread) / slope
        a = clip(a + change, 0.5 / spread, 1 / spread)
        if fabs(change) <= 4 * ROUND * a:
            break
    return min(a, most)


cdef real trigamma_excess(real shape) noexcept nogil:
    """psi'(a) - 1 / a."""
    cdef real a = shape, y, z, total = 0
    while a < FROM_STIRLING:
        total += 1 / (a * a)
        a += 1
    y = 1 / a
    z = y * y
    total += z * (0.5 + y * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42))))
    return total + (1 / a - 1 / shape)


cdef real spread_cost(real spread, real most) noexcept nogil:
    cdef real a = shape_of(spread, most), error, cost_error, slope, value
    slope = spread - spread_of(a, &error)  # of what is minimised, at a
    value = shape_cost(a, &cost_error) + a * spread
    cost_error += 4 * ROUND * fabs(a * spread)
    error += ROUND * fabs(slope)
    if a >= most and slope <= error:
        slope = 0  # the least is at the end, or so near
    slope = fabs(slope) + error
    # convex, of curvature 1 / (2 a^2) or more: what is lost next to the least
    if slope * a > 0.125:
        return 2 * UNKNOWN
    return value - cost_error - 3 * slope * slope * a * a


def shape_values(spreads, real most):
    """Shapes, costs, and of the shapes costs and spreads with error bounds: rows of 6, for tests."""
    cdef real one, other, a, cost, spread
    found = []
    for value in spreads:
        a = shape_of(value, most)
        cost, spread = shape_cost(a, &one), spread_of(a, &other)
        found.append((a, spread_cost(value, most), cost, one, spread, other))
    return found
