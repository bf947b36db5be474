"""Costs of covariance matrices at or above a floor."""

from gopfast.search.types cimport real

cpdef enum:
    MOST_COLUMNS = 6
    MOST_ENTRIES = 21       # of a symmetric matrix
    N_PLANES = 4            # facets per entry

cdef real line_cost(real v, real floor) noexcept nogil
cdef real split_factor(real v, real low, real high, real floor) noexcept nogil
cdef real split_inside(real x, real low, real high, real unit) noexcept nogil
cdef real within(real x, real low, real high) noexcept nogil

# IN/OUT: ranges of the entries of a positive semidefinite [x z; z y]; 0: there is none.
cdef bint fit_minor(real *x0, real *x1, real *y0, real *y1, real *z0, real *z1) noexcept nogil

# OUT: the plane number `which` of N_PLANES over |z_a| <= a, |z_b| <= b: t + t_a z_a + t_b z_b is at least z_a z_b
# where 1 is returned, at most z_a z_b where -1 is.
cdef int entry_plane(bint diagonal, int which, real a, real b, real *t, real *t_a, real *t_b) noexcept nogil

# Symmetric matrices are packed: the entries on and above the diagonal, row by row.
cdef class FlooredCost:
    cdef readonly int d, n
    cdef int row[MOST_ENTRIES]
    cdef int column[MOST_ENTRIES]
    cdef real whiten[MOST_COLUMNS * MOST_COLUMNS]       # to units of the floor
    cdef real unwhiten[MOST_COLUMNS * MOST_COLUMNS]
    cdef real span[MOST_COLUMNS]                        # column sums of |whiten|
    cdef real floor[MOST_ENTRIES]
    cdef real log_floor
    cdef real eigen(self, const real *C, real *values, real *vectors) noexcept nogil
    cdef real value(self, const real *C, real *size) noexcept nogil
    cdef real log_det(self, const real *C) noexcept nogil
    cdef real slopes(self, const real *C, real *P) noexcept nogil
    cdef void floored(self, const real *C, real *out) noexcept nogil
    cdef real product(self, const real *P, const real *C, real *size) noexcept nogil
    cdef real bend(self, const real *P, const real *half) noexcept nogil
    cdef real curvature_loss(self, const real *center, const real *half) noexcept nogil
    cdef int entry(self, int a, int b) noexcept nogil
    cdef void split(self, const real *low, const real *high, real mass, real *C, real *P, real *Q, real *point,
                    real *error) noexcept nogil
    cdef void split_mean(self, const real *low, const real *high, real mass, const real *P, const real *Q, real *point,
                         real *error) noexcept nogil
    cdef real minorant(self, const real *low, const real *high, real *P) noexcept nogil
