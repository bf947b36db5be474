"""Univariate functions, convex or concave on all of their domain: values, slopes, ranges, tangents and secants."""

from gopfast.search.types cimport real

cdef enum Function:
    EXPONENTIAL = 0                     # exp(u)
    ENTROPY = 1                         # u log(u), 0 at 0; u >= 0
    POWER = 2                           # u^a, a neither 0 nor 1; u >= 0, u > 0 where a < 0

cdef bint is_convex(int function, real exponent) noexcept nogil
cdef real value_at(int function, real exponent, real u) noexcept nogil
cdef real slope_at(int function, real exponent, real u) noexcept nogil
cdef real curvature_at(int function, real exponent, real u) noexcept nogil
cdef void range_over(int function, real exponent, real low, real high, real *least, real *most) noexcept nogil
cdef int arguments_of(int function, real exponent, real least, real most, real *low, real *high) noexcept nogil
cdef bint tangent_at(int function, real exponent, real u, real *slope, real *constant, real *slope_error,
                     real *error) noexcept nogil
cdef bint secant_over(int function, real exponent, real low, real high, real *slope, real *constant,
                      real *error) noexcept nogil
