"""The shape of a Gamma component: its cost and its spread, with error bounds.

Theory: (O2) and (O3) of docs/theory/gamma.md.
"""

from gopfast.search.types cimport real

# OUT error: absolute error bounds. `shape` is positive.
# log Gamma(a) - a log a + a, decreasing and convex in the shape a: what a component costs beside a times its spread.
cdef real shape_cost(real shape, real *error) noexcept nogil
# log a - psi(a), decreasing from infinity to 0: the spread log E x - E log x of a Gamma distribution.
cdef real spread_of(real shape, real *error) noexcept nogil
# The shape of a spread, at most `most`.
cdef real shape_of(real spread, real most) noexcept nogil
# min over 0 < a <= most of shape_cost(a) + a * spread, concave and increasing, linear for small spreads; rounded down.
cdef real spread_cost(real spread, real most) noexcept nogil
