"""Components that regress counts or proportions on some columns."""

from gopfast.mixtures.families.family cimport Family
from gopfast.mixtures.families.regression cimport MOST_COEFFICIENTS
from gopfast.search.types cimport index, real

cdef enum Link:
    LOG = 0         # Poisson counts
    LOGIT = 1       # binomial ones

# A cell's box. All in core units; q coefficients.
cdef struct CountCell:
    real center[MOST_COEFFICIENTS]
    real half[MOST_COEFFICIENTS]
    real moved          # delta: what rounding may move a linear predictor by

# A row's deviance at a linear predictor, nats, and what goes with it.
cdef struct Deviance:
    real value
    real slope          # of the cumulant: the mean
    real curvature      # and its own slope
    real size           # sum of the magnitudes of the value's terms


cdef class CountFamily(Family):
    cdef readonly object design, offsets
    cdef readonly int n_coefficients                # q
    cdef Link link
    cdef int pair[MOST_COEFFICIENTS][MOST_COEFFICIENTS]     # column of kappa z_j z_l
    cdef real[::1] low, high                        # (q,) box of all fits
    cdef real[::1] largest                          # (q,) of |z_j|
    cdef real farthest                              # of |linear predictor| at coefficients 0, and what it is made of
    # Of each row: sample that it belongs to, regressors z, linear predictor at coefficients 0, count, trials, best
    # linear predictor, and the cost there.
    cdef index[::1] owner
    cdef real[:, ::1] regressors
    cdef real[::1] base, count, trials, best, least
    cdef real[::1] row_weight
    cdef readonly bint grouped                      # whether samples are of several rows
    cdef real[::1] pooled                           # (F,) mean of the columns over all samples
    cdef object suggestion
    cdef Deviance deviance(self, index i, real eta) noexcept nogil
    cdef void open_cell(self, const real *low, const real *high, CountCell *cell) noexcept nogil
    # OUT: linear predictor of row i at the cell's middle, and how far it reaches to either side.
    cdef void strip(self, index i, const CountCell *cell, real *eta, real *reach) noexcept nogil
    # OUT out (n_samples,), or NULL: what samples cost at least, each by itself or by the tangents; returns the sum of
    # the weights times exp(-cost).
    cdef real bound_samples(self, const CountCell *cell, bint tangents, real *out) noexcept nogil
    cdef real least_of_row(self, index i, const CountCell *cell, real *size) noexcept nogil
    cdef real tangent_of_row(self, index i, const CountCell *cell, real *size) noexcept nogil
    # OUT b: the weighted least squares of a component's moments (F,).
    cdef void least_squares(self, real mass, const real *moments, real *b) noexcept nogil
    # Deviance of shares of the samples' weights at b; OUT gradient (q,), hessian (q, q).
    cdef real total(self, const real *shares, const real *b, real *gradient, real *hessian) noexcept nogil
    # IN OUT b: to the least deviance.
    cdef void fit(self, const real *shares, real *b) noexcept nogil
    cdef void pad(self, real *each) noexcept nogil
