"""Costs of covariance matrices at or above a floor."""

from gopfast.search.types cimport real

cpdef enum:
    MOST_COLUMNS = 32
    MOST_ENTRIES = 528      # of a symmetric matrix: MOST_COLUMNS (MOST_COLUMNS + 1) / 2
    N_PLANES = 4            # facets per entry

# IN/OUT: ranges of the entries of a positive semidefinite [x z; z y]; 0: there is none.
cdef bint fit_minor(real *x0, real *x1, real *y0, real *y1, real *z0, real *z1) noexcept nogil

# OUT: the plane number `which` of N_PLANES over |z_a| <= a, |z_b| <= b: t + t_a z_a + t_b z_b is at least z_a z_b
# where 1 is returned, at most z_a z_b where -1 is.
cdef int entry_plane(bint diagonal, int which, real a, real b, real *t, real *t_a, real *t_b) noexcept nogil

# Typical multiplier of the facets of an entry of half width `half`, of slopes P_aa and P_bb of its diagonal entries.
cdef real entry_multiplier(real half, real P_aa, real P_bb) noexcept nogil

# IN/OUT A (d, d), symmetric: eigenvalues on its diagonal. OUT V (d, d): eigenvectors in its columns.
# Returns what is left beside the diagonal, the root of the sum of squares.
cdef real jacobi(int d, real *A, real *V) noexcept nogil

# Symmetric matrices are packed, n = d (d + 1) / 2 numbers: the entries on and above the diagonal, row by row. A product
# <P, C> is of the whole matrices. Covariances C, floors and boxes (low, high) of entries are in squared units of the
# coordinates, slopes P in nats per these and per unit of mass, costs and minorants in nats per unit of mass.
cdef class FlooredCost:
    cdef readonly int d, n
    cdef int row[MOST_ENTRIES]                          # of the entry e of n
    cdef int column[MOST_ENTRIES]
    cdef real whiten[MOST_COLUMNS * MOST_COLUMNS]       # to units of the floor, (d, d)
    cdef real unwhiten[MOST_COLUMNS * MOST_COLUMNS]
    cdef real whiten_sum[MOST_COLUMNS]                  # column sums of |whiten|
    cdef real floor[MOST_ENTRIES]
    cdef real log_floor                                 # log det of the floor
    # OUT: eigenvalues (d,) and -vectors (d, d), columns, of C in units of the floor; returns the scale of their
    # rounding errors.
    cdef real eigen(self, const real *C, real *values, real *vectors) noexcept nogil
    # G(C). OUT size: the scale of its rounding error, which is at most EIGEN_ROUNDING u of it.
    cdef real value(self, const real *C, real *size) noexcept nogil
    # log det(2 pi Sigma) of the best Sigma.
    cdef real log_det(self, const real *C) noexcept nogil
    # OUT: the gradient 1/2 Sigma^-1 of G. Returns the scale of its errors in units of the floor.
    cdef real slopes(self, const real *C, real *P) noexcept nogil
    # OUT: the best Sigma for C.
    cdef void floored(self, const real *C, real *out) noexcept nogil
    # <P, C>. OUT size: the sum of its terms' magnitudes.
    cdef real product(self, const real *P, const real *C, real *size) noexcept nogil
    # At least z'Pz over the box |z| <= half (d,).
    cdef real bend(self, const real *P, const real *half) noexcept nogil
    # What the tangent of G at the center may exceed G by, over the box of half widths (n,) around it.
    cdef real curvature_loss(self, const real *center, const real *half) noexcept nogil
    # Place of the entry (a, b).
    cdef int entry(self, int a, int b) noexcept nogil
    # Where to split the entries (n,) of a box, and what the minorant loses by each in nats, at a component's mass.
    # IN/OUT C: the covariance of the solution, drawn into the box. OUT: the minorant's slopes P, the gradient Q at C.
    cdef void split(self, const real *low, const real *high, real mass, real *C, real *P, real *Q, real *point,
                    real *error) noexcept nogil
    # The same for a mean's box (d,), IN/OUT point: the mean of the solution, then where to split.
    cdef void split_mean(self, const real *low, const real *high, real mass, const real *P, const real *Q, real *point,
                         real *error) noexcept nogil
    # The constant of the best minorant at hand of G over a box of entries. OUT: its slopes.
    cdef real minorant(self, const real *low, const real *high, real *P) noexcept nogil
