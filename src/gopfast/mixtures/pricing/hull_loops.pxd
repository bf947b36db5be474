# The loops of csrc/hull.h and csrc/hull_forms.h, for the modules of the hull.

cdef extern from "hull.h" nogil:
    enum:
        HULL_BLOCK
        HULL_LANES
        HULL_LINES
    ctypedef struct hull_lines:
        double constant[HULL_LINES]
        double slope[HULL_LINES]
    void hull_draw(int d, double s_low, double s_high, double log_low, double log_high, hull_lines *lines)
    double hull_length(const double *b, int p)
    double hull_top(const double *M, int p)
    double hull_top_closely(const double *M, int p)
    double hull_largest(const double *b, const double *M, int p)
    void hull_ranges(const double *low, const double *high, int n_rows, const double *least, const double *most,
                     const double *prices, ptrdiff_t n, const hull_lines *lines, double *out)
    void hull_tops(const double *low, const double *high, int n_rows, const double *coordinates, const double *prices,
                   const hull_lines *lines, double *out)
    void hull_sums(const double *tops, const double *weights, ptrdiff_t n, double shift, double *above, double *mass)

cdef extern from "hull_forms.h" nogil:
    ctypedef struct hull_quadratics:
        double constant[HULL_BLOCK]
        double linear[HULL_BLOCK]
        double square[HULL_BLOCK]
    ctypedef struct hull_gain:
        double plain, value, size
    ctypedef struct hull_mass:
        double value, size
    ctypedef struct hull_radii:
        double root, least, most, further
    ctypedef struct hull_shell_sums:
        double surely, value, size, bent, mass, amount, more, less, well, often, seldom
    ctypedef struct hull_shell_forms:
        double linear[HULL_BLOCK]
        double square[HULL_BLOCK]
        double rise[HULL_BLOCK]
        double fall[HULL_BLOCK]
        double bend[HULL_BLOCK]
        double sag[HULL_BLOCK]
        double missed[HULL_BLOCK]
        double missed_square[HULL_BLOCK]
        double bent
        double sunk
    void hull_gains(const double *tops, const double *slopes, const double *weights, int p, hull_quadratics *out,
                    hull_gain *sums)
    void hull_masses(const double *tops, const double *slopes, const double *weights, int p, hull_quadratics *out,
                     hull_mass *sums)
    void hull_shell(const double *lengths, const double *prices, const double *weights, int p, const hull_radii *radii,
                    double log_scale, double shift, hull_shell_forms *out, hull_shell_sums *sums)
    void hull_add_forms(const double *unit, int p, const double *linear, const double *square, double *forms)
    void hull_add_bin(const double *b, const double *M, int p, double linear, double square, double *forms)
    void hull_collect(double *forms, ptrdiff_t n, double *out)
