"""Data passes: the only module that links the C kernel (csrc/pass.h), and its functions for tests and benchmarks."""

import numpy as np

from cython.parallel cimport prange
from libc.string cimport memset

cdef extern from "pass.h" nogil:
    void pass_run(const pass_data *data, Py_ssize_t begin, Py_ssize_t end, int n_components, const pass_costs *costs,
                  const double *weights, pass_level level, double *scratch, pass_sums *out)
    void pass_exp(Py_ssize_t n, const double *x, double *y)
    void pass_log(Py_ssize_t n, const double *x, double *y)
    const char *pass_isa()
    void pass_limit_isa(int at_most)

cdef extern from "price.h" nogil:
    void price_run(const pass_data *data, double total_weight, const double *prices, const pass_costs *costs,
                   const pass_costs *rounding, price_level level, double *scratch, price_sums *out)
    void price_moments(const pass_data *data, const pass_costs *costs, price_level level, double *scratch,
                       price_sums *out)
    void price_side(Py_ssize_t n_padded, double total_weight, const double *weights, const double *prices,
                    const double *above, const double *slopes, double sign, double log_s, double *costs, double *value)

# Stated error bounds of `exp` and `log`, relative, in units of 2^-53.
EXP_ULPS = PASS_EXP_ULPS
LOG_ULPS = PASS_LOG_ULPS
# By the numbers of csrc/pass.h, from the narrowest vectors to the widest.
_ISA_NAMES = ("portable", "avx2", "avx512")


cdef void run_pass(const pass_data *data, int n_components, const pass_costs *costs, const double *weights,
                   pass_level level, double *scratch, pass_sums *out) noexcept nogil:
    pass_run(data, 0, data.n_padded, n_components, costs, weights, level, scratch, out)


cdef void run_pass_in_parts(const pass_data *data, int n_components, const pass_costs *costs, const double *weights,
                            pass_level level, double **scratch, pass_sums *parts, int n_threads,
                            pass_sums *out) noexcept nogil:
    cdef Py_ssize_t blocks = (data.n_padded + PASS_BLOCK - 1) // PASS_BLOCK, i
    cdef Py_ssize_t size = (blocks + N_PARTS - 1) // N_PARTS * PASS_BLOCK
    cdef int part, F = pass_n_statistics(data)
    for part in prange(N_PARTS, schedule="dynamic", chunksize=1, num_threads=n_threads):
        pass_run(data, min(part * size, data.n_padded), min((part + 1) * size, data.n_padded), n_components, costs,
                 weights, level, scratch[part], &parts[part])
    out.value = out.magnitude = 0
    for i in range(n_components):
        out.density[i] = 0
    if level >= PASS_MOMENTS:
        memset(out.first, 0, n_components * F * sizeof(double))
        memset(out.second, 0, n_components * F * F * sizeof(double))
    for part in range(N_PARTS):
        out.value += parts[part].value
        out.magnitude += parts[part].magnitude
        for i in range(n_components):
            out.density[i] += parts[part].density[i]
        if level >= PASS_MOMENTS:
            for i in range(n_components * F):
                out.first[i] += parts[part].first[i]
            for i in range(n_components * F * F):
                out.second[i] += parts[part].second[i]


cdef void run_price(const pass_data *data, double total_weight, const double *prices, const pass_costs *costs,
                    const pass_costs *rounding, price_level level, double *scratch, price_sums *out) noexcept nogil:
    price_run(data, total_weight, prices, costs, rounding, level, scratch, out)


cdef void run_price_moments(const pass_data *data, const pass_costs *costs, price_level level, double *scratch,
                            price_sums *out) noexcept nogil:
    price_moments(data, costs, level, scratch, out)


cdef double run_price_side(Py_ssize_t n_padded, double total_weight, const double *weights, const double *prices,
                           const double *above, const double *slopes, double sign, double log_s,
                           double *costs) noexcept nogil:
    cdef double value
    price_side(n_padded, total_weight, weights, prices, above, slopes, sign, log_s, costs, &value)
    return value


def instruction_set():
    """Name of the instruction set that the data passes use on this machine."""
    return pass_isa().decode()


def instruction_sets():
    """Names of all that this machine can use, the widest first."""
    names = []
    for widest in reversed(range(len(_ISA_NAMES))):
        pass_limit_isa(widest)
        if instruction_set() not in names:
            names.append(instruction_set())
    pass_limit_isa(len(_ISA_NAMES) - 1)
    return names


def use_instruction_set(name=None):
    """Choose one of `instruction_sets`, for tests and counts; None: the widest. Not while a solve runs."""
    if name is not None and name not in instruction_sets():
        raise ValueError(f"this machine does not have {name}, only {', '.join(instruction_sets())}")
    pass_limit_isa(len(_ISA_NAMES) - 1 if name is None else _ISA_NAMES.index(name))


def _apply(bint logarithm, x):
    """exp or log of an array of any shape, padded for the kernel with ones."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    padded = np.ones(-(-max(x.size, 1) // PASS_PAD) * PASS_PAD)
    padded[:x.size] = x.ravel()
    out = np.empty_like(padded)
    cdef double[::1] source = padded, target = out
    if logarithm:
        pass_log(source.shape[0], &source[0], &target[0])
    else:
        pass_exp(source.shape[0], &source[0], &target[0])
    return out[:x.size].reshape(x.shape)


def exp(x):
    """The kernel's exponential of an array of values <= 700; below -708 it returns exp(-708)."""
    return _apply(False, x)


def log(x):
    """The kernel's logarithm of an array of normal positive values."""
    return _apply(True, x)


def sums(columns, weights, centers, offsets, proportions, int level=2, linear=None, quadratic=None,
         bint squares=False, int repeats=1, kept_from=None):
    """One data pass, for tests against NumPy and for benchmarks.

    Parameters
    ----------
    columns : ndarray, shape (d, n_padded), n_padded a multiple of 8
    weights : ndarray, shape (n_padded,)
    centers : ndarray, shape (K, d)
    offsets, proportions : ndarray, shape (K,)
    level : 0 (value and densities), 1 (and moments), 2 (and the Gram matrix), 3 (densities and their Gram matrix)
    linear, quadratic : ndarray, shape (K, d), default 0 and 1/2
    squares : bool
        Whether the squares of the coordinates are statistics too.
    repeats : int
        Number of times that the pass is done, for timing.
    kept_from : ndarray, shape (K,), optional
        Other positive proportions, in whose pass exponentials are kept for this one.

    Returns
    -------
    dict with value, magnitude, density, first, second, gram (see csrc/pass.h).
    """
    cdef double[:, ::1] x = np.ascontiguousarray(columns, dtype=np.float64)
    cdef double[::1] w = np.ascontiguousarray(weights, dtype=np.float64)
    cdef double[:, ::1] c = np.ascontiguousarray(centers, dtype=np.float64)
    cdef double[::1] off = np.ascontiguousarray(offsets, dtype=np.float64)
    cdef double[::1] p = np.ascontiguousarray(proportions, dtype=np.float64)
    cdef int n_components = c.shape[0], d = c.shape[1], F = d * (2 if squares else 1), m = n_components * (1 + F)
    shape = (n_components, d)
    cdef double[:, ::1] b = np.zeros(shape) if linear is None else np.array(linear, dtype=np.float64)
    cdef double[:, ::1] a = np.full(shape, 0.5) if quadratic is None else np.array(quadratic, dtype=np.float64)
    if x.shape[1] % PASS_PAD or x.shape[1] == 0 or w.shape[0] != x.shape[1] or x.shape[0] != d:
        raise ValueError("columns must be (d, n) and weights (n,), n a positive multiple of 8")
    density, first = np.zeros(n_components), np.zeros((n_components, F))
    second, gram = np.zeros((n_components, F, F)), np.zeros((m, m))
    scratch = np.empty(pass_scratch_size(n_components, F) + pass_kept_size(x.shape[1], n_components))
    cdef double[::1] density_ = density, scratch_ = scratch
    cdef double[:, ::1] first_ = first, gram_ = gram
    cdef double[:, :, ::1] second_ = second
    cdef pass_data data = pass_data(x.shape[1], d, squares, &x[0, 0], &w[0])
    cdef pass_costs costs = pass_costs(&c[0, 0], &b[0, 0], &a[0, 0], &off[0], NULL)
    cdef pass_sums out
    out.density, out.first, out.second, out.gram = &density_[0], &first_[0, 0], &second_[0, 0, 0], &gram_[0, 0]
    cdef int _turn, flag = 0
    cdef double[::1] before
    if kept_from is not None:
        before, flag = np.ascontiguousarray(kept_from, dtype=np.float64), PASS_AGAIN
        run_pass(&data, n_components, &costs, &before[0], <pass_level>(level | PASS_KEEP), &scratch_[0], &out)
    with nogil:
        for _turn in range(repeats):
            run_pass(&data, n_components, &costs, &p[0], <pass_level>(level | flag), &scratch_[0], &out)
    return dict(value=out.value, magnitude=out.magnitude, density=density, first=first, second=second, gram=gram)
