/* The kernel of each instruction set, for pass.c to choose from. */
#ifndef GOPFAST_PASS_VARIANTS_H
#define GOPFAST_PASS_VARIANTS_H
#include "pass.h"
#include "price.h"

/* seen by the objects of one module, not outside it */
#if defined(__GNUC__)
#define PASS_HIDDEN __attribute__((visibility("hidden")))
#else
#define PASS_HIDDEN
#endif

#define PASS_VARIANT(name)                                                                                           \
    PASS_HIDDEN void pass_run_##name(const pass_data *data, ptrdiff_t begin, ptrdiff_t end, int n_components,        \
                                     const pass_costs *costs, const double *weights, pass_level level,               \
                                     double *scratch, pass_sums *out);                                               \
    PASS_HIDDEN void price_run_##name(const pass_data *data, double total_weight, const double *prices,              \
                                      const pass_costs *costs, const pass_costs *rounding, price_level level,        \
                                      double *scratch, price_sums *out);                                             \
    PASS_HIDDEN void price_moments_##name(const pass_data *data, const pass_costs *costs, price_level level,         \
                                          double *scratch, price_sums *out);                                         \
    PASS_HIDDEN void price_side_##name(ptrdiff_t n_padded, double total_weight, const double *weights,               \
                                       const double *prices, const double *above, const double *slopes, double sign, \
                                       double log_s, double *costs, double *value);                                  \
    PASS_HIDDEN void pass_exp_##name(ptrdiff_t n, const double *x, double *y);                                       \
    PASS_HIDDEN void pass_log_##name(ptrdiff_t n, const double *x, double *y);

PASS_VARIANT(portable)
#if defined(__x86_64__)
PASS_VARIANT(avx2)
PASS_VARIANT(avx512)
#endif
#endif
