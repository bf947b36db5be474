"""Components that regress a response on some columns."""

from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.families.family cimport Facet, Family
from gopfast.search.types cimport index, real

cdef enum:
    MOST_COEFFICIENTS = 8

cdef extern from "strips.h" nogil:
    enum:
        STRIP_ROWS
    void strip_rows(int n, int q, index stride, const real *response, const real *regressors, const real *center,
                    const real *half, real *residual, real *reach)
    real strip_squares(int n, const real *residual, const real *reach, real moved, real *square)
    void strip_costs(int n, const real *square, real least, real most, real low_log, real high_log, real *costs)
    real strip_farthest(int m, int q, const real *sizes, const real *half)
    real strip_saturated(int n, const real *z, const real *near, const real *shares, real factor)

# A cell's boxes and minorant. All in core units; q coefficients.
cdef struct RegressionCell:
    real center[MOST_COEFFICIENTS]
    real half[MOST_COEFFICIENTS]
    real size           # E: no |y| + sum_j |z_j b_j| of a sample exceeds it for coefficients b in the box
    real reach          # the square of the most that sum_j h_j |z_j| is, about
    real moved          # delta: what rounding may move a residual by
    real part           # eta: relative part of a square that makes up for that
    real rest           # delta^2 / eta, the rest
    real rounding       # of a square that is computed from the columns
    real least, most    # of the variance
    real value          # cost at the least variance, nats per unit of mass
    real full           # largest slope of a minorant in the variance,
    real slope          # and that of the one in use


cdef class RegressionFamily(Family):
    cdef readonly object design
    cdef readonly bint free_variance
    cdef readonly int n_coefficients                # q
    cdef readonly bint is_one_variance              # of one component that is said to share it
    cdef int pair[MOST_COEFFICIENTS][MOST_COEFFICIENTS]     # column of z_j z_l
    cdef int size[MOST_COEFFICIENTS][MOST_COEFFICIENTS]     # column of |z_j z_l|, and its sign there
    cdef real sign[MOST_COEFFICIENTS][MOST_COEFFICIENTS]
    cdef real[::1] low, high                        # (q,) box of all fits
    cdef real[::1] largest                          # (q,) of |z_j|
    cdef real[::1] response                         # (n,) y
    cdef real[:, ::1] regressors                    # (q, n) z
    cdef index[::1] begins                          # (n + 1,) of the rows of each sample
    cdef int place_of_mass                          # 1 + column of their number; 0: each sample is one row
    cdef real mass_of_rows                          # sum of the weights of all rows
    cdef real[:, ::1] sizes                         # (q, m) |z_j| of the distinct regressors
    cdef real largest_response                      # of |y|
    cdef real most_lost                             # what a minorant may lie below the cost of the least variance
    cdef real ceiling                               # of variances
    cdef real[::1] pooled                           # (F,) mean of the columns over all samples
    cdef object suggestion
    cdef real farthest(self, const real *half) noexcept nogil
    cdef int place_of_variance(self, int k) noexcept nogil
    cdef void charge_rows(self, pass_costs *costs, int k) noexcept nogil
    cdef real rows_of(self, real mass, const real *moments) noexcept nogil
    # OUT (STRIP_ROWS,), as `strip_rows` says, of rows from the first on, before the end.
    cdef int strips(self, index first, index end, const RegressionCell *cell, real *residual,
                    real *reach) noexcept nogil
    # OUT cell: of component k, of a box of all; its reach, and a slope that takes it into account, by `flatten`.
    cdef void open_cell(self, int k, const real *low, const real *high, RegressionCell *cell) noexcept nogil
    cdef void flatten(self, RegressionCell *cell) noexcept nogil
    # OUT to (1 + F,), added: `times` the squares about the coefficients b.
    cdef void add_squares(self, real times, const real *b, real *to) noexcept nogil
    # The same of `times` (sum_j h_j |z_j|)^2.
    cdef void add_reach(self, real times, const real *half, real *to) noexcept nogil
    # OUT b: the fit of a component's moments (F,) about 0.
    cdef void least_squares(self, real mass, const real *moments, real *b) noexcept nogil
    # Squares about b per unit of mass.
    cdef real squares(self, real mass, const real *moments, const real *b) noexcept nogil
    # Of products z_j z_l in the direction h, entry j: sum_l moment_jl h_l.
    cdef real row(self, const real *moments, int j, const real *h, bint sizes) noexcept nogil
    cdef Facet *bound_coefficients(self, Facet *facet, int k, const RegressionCell *cell, real mass) noexcept nogil
    cdef real least_slope(self, const real *low, const real *high) noexcept nogil
    cdef Facet *bound_variance(self, Facet *facet, int first, int n, const real *low, const real *high, real slope,
                               real mass) noexcept nogil
    # OUT point, error at a variance v; room: the part of what is lost that the second minorant leaves, unit: about the
    # standard deviation.
    cdef void split_variance(self, int at, real v, real mass, real lost, const real *low, const real *high, real *point,
                             real *error, real *room, real *unit) noexcept nogil
    # IN OUT point: the fit, then where to split; error: of the squares, then in nats.
    cdef void split_coefficients(self, const RegressionCell *cell, int k, real mass, real room, real unit, real *point,
                                 real *error) noexcept nogil
