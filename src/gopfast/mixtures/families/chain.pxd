"""Components that are chains of normal regressions, of some columns on those before them."""

from gopfast.mixtures.families.family cimport Family
from gopfast.search.types cimport index, real

cdef enum:
    MOST_COLUMNS = 8    # m, regressors and responses
    MOST_PLACES = 24    # parameters of a component


cdef class ChainFamily(Family):
    cdef readonly int n_given, n_responses, n_used      # p, q, and m = p + q
    cdef readonly real copies, largest_scale            # c, and the largest L
    # Of parameter a: the response that its regression is of, and whether it is the reciprocal standard deviation.
    cdef int row_of[MOST_PLACES]
    cdef bint is_scale[MOST_PLACES]
    cdef int first[MOST_COLUMNS]                        # of response j, its parameters' first: L, then the intercept
    cdef int pair[MOST_COLUMNS][MOST_COLUMNS]           # column of u_a u_b
    cdef real[::1] reach                                # (q,) R: no |y| exceeds it
    cdef real[:, ::1] norms                             # (q, m) of slopes as long as 1, the largest in each coordinate
    cdef real[:, :, ::1] axes, inverse                  # (q, m, m) T of z = T (u - middle), and its inverse
    cdef real[::1] middle                               # (m,)
    cdef real[:, ::1] design                            # (D, n_padded) what parameters are multiplied with
    cdef real[::1] largest, error                       # (D,) of its rows: magnitudes, and what rounding moved them by
    cdef real[::1] pooled                               # (F,) mean of the columns over all samples
    cdef object base, data_weights
    # OUT rho (1 + m,): coefficients of 1 and the columns in the residual of response j.
    cdef void residual_of(self, int j, const real *point, real *rho) noexcept nogil
    # OUT point: of a component with these means (m,) and second moments about them.
    cdef void fit(self, const real *mean, const real[MOST_COLUMNS][MOST_COLUMNS] C, real *point) noexcept nogil
    # Bounds of |L b|^2 over a cell of response j: at most that, OUT at least; cells begin at its own parameters.
    cdef real slopes_within(self, int j, const real *low, const real *high, real *most) noexcept nogil
    # Whether all of a cell has variances of response j above the least that its slopes allow.
    cdef bint is_above_floor(self, int j, const real *low, const real *high) noexcept nogil
