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
    ctypedef struct pass_data:
        Py_ssize_t n_padded
        int n_features
        const double *columns
        const double *weights
    ctypedef struct pass_sums:
        double value
        double magnitude
        double *density
        double *first
        double *second
        double *gram
    size_t pass_scratch_size(int n_components, int n_features)

# Calls go through this module, the only one that links the kernel.
cdef void run_pass(
    const pass_data *data,      # IN
    int n_components,           # IN
    const double *centers,      # IN (K, d)
    const double *offsets,      # IN (K,)
    const double *weights,      # IN (K,)
    pass_level level,           # IN
    double *scratch,            # pass_scratch_size(K, d) doubles
    pass_sums *out,             # OUT
) noexcept nogil
