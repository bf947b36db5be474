"""Declarations of the C data passes (csrc/pass.h)."""

cdef extern from "pass.h" nogil:
    int PASS_BLOCK
    int PASS_PAD
    double PASS_EXP_ULPS
    double PASS_LOG_ULPS
    ctypedef enum pass_level:
        PASS_VALUE
        PASS_MOMENTS
        PASS_HESSIAN
        PASS_WEIGHTS
    ctypedef struct pass_data:
        Py_ssize_t n_padded
        int n_columns
        int squares
        const double *columns
        const double *weights
    ctypedef struct pass_costs:
        double *centers
        double *linear
        double *quadratic
        double *offsets
        double *each
    ctypedef struct pass_sums:
        double value
        double magnitude
        double *density
        double *first
        double *second
        double *gram
    int pass_n_statistics(const pass_data *data)
    # Added to a level, see pass.h.
    int PASS_KEEP
    int PASS_AGAIN
    size_t pass_scratch_size(int n_components, int n_statistics)
    size_t pass_kept_size(Py_ssize_t n_padded, int n_components)

cdef extern from "price.h" nogil:
    ctypedef enum price_level:
        PRICE_VALUE
        PRICE_MOMENTS
        PRICE_HESSIAN
    ctypedef struct price_sums:
        double value
        double scale
        double mass
        double saturated
        double *first
        double inner
        double *inner_first
        double *second
    size_t price_scratch_size(Py_ssize_t n_padded, int n_statistics)

# Calls go through this module, the only one that links the kernel.
cdef void run_pass(
    const pass_data *data,      # IN
    int n_components,           # IN
    const pass_costs *costs,    # IN
    const double *weights,      # IN (K,)
    pass_level level,           # IN
    double *scratch,            # pass_scratch_size(K, F) doubles
    pass_sums *out,             # OUT
) noexcept nogil

# The samples in N_PARTS parts, whatever the number of threads; `parts` and `scratch` hold one entry per part.
# Not for PASS_HESSIAN and PASS_WEIGHTS.
cdef enum:
    N_PARTS = 16
cdef void run_pass_in_parts(
    const pass_data *data, int n_components, const pass_costs *costs, const double *weights, pass_level level,
    double **scratch, pass_sums *parts,  # N_PARTS each
    int n_threads,
    pass_sums *out,
) noexcept nogil

# The pass of the pricing bound, one component (csrc/price.h).
cdef void run_price(
    const pass_data *data, double total_weight,
    const double *prices,           # IN (n_padded,)
    const pass_costs *costs, const pass_costs *rounding,
    price_level level,
    double *scratch,                # price_scratch_size(n_padded, F) doubles
    price_sums *out,
) noexcept nogil

# The moments of the pass before, at its costs; scratch and sums are as it has left them.
cdef void run_price_moments(
    const pass_data *data, const pass_costs *costs, price_level level, double *scratch, price_sums *out,
) noexcept nogil

# What a component saves at costs above + |slopes| - sign slopes (n_padded,), by the tangent at a scale.
cdef double run_price_side(
    Py_ssize_t n_padded, double total_weight, const double *weights, const double *prices,
    const double *above, const double *slopes, double sign,
    double log_s,                   # <= 0
    double *costs,                  # OUT (n_padded,)
) noexcept nogil
