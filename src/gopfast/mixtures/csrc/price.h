/* The pass of the pricing bound: what one component can save at given prices of the samples. */
#ifndef GOPFAST_PRICE_H
#define GOPFAST_PRICE_H
#include "pass.h"

typedef enum { PRICE_VALUE = 0, PRICE_MOMENTS = 1, PRICE_HESSIAN = 2 } price_level;

/* OUT: with t_i = price_i - c_i rounded up, u_i = exp(t_i), tau_i = min(1, s u_i), phi the statistics about the
   center. "Inner" samples are those with s u_i < 1. Everything is 0 where no column pays (sum_i w_i u_i <= W). */
typedef struct {
    double value;        /* at least the maximum over tau in [0, 1]^N of sum_i w_i tau_i (t_i - log tau_i)
                            + S log(S / W) */
    double scale;        /* s; on entry what to start from, 0: nothing known */
    double mass;         /* S = sum_i w_i tau_i */
    double saturated;    /* sum of w_i over the samples with tau_i = 1 */
    double *first;       /* (F,) sum_i w_i tau_i phi, from PRICE_MOMENTS on */
    double inner;        /* sums over the inner samples: w_i tau_i, */
    double *inner_first; /* (F,) w_i tau_i phi, from PRICE_MOMENTS on, */
    double *second;      /* (F, F) w_i tau_i phi phi', upper triangle, of PRICE_HESSIAN */
} price_sums;

/* Number of doubles of scratch. */
static inline size_t price_scratch_size(ptrdiff_t n_padded, int n_statistics)
{
    return 2 * (size_t)n_padded + (size_t)(2 + 2 * n_statistics) * PASS_BLOCK
           + (size_t)n_statistics * (n_statistics + 2) * PASS_PAD;
}

/* One component's pass. `rounding` bounds the error of t: its coefficients are nonnegative, about |z| and z^2, and
   already in absolute terms; `prices` (n_padded,) are exact. */
void price_run(const pass_data *data, double total_weight, const double *prices, const pass_costs *costs,
               const pass_costs *rounding, price_level level, double *scratch, price_sums *out);

/* The moments of the last pass, of which the scratch and the sums are as it has left them: they only say where to go
   next. */
void price_moments(const pass_data *data, const pass_costs *costs, price_level level, double *scratch, price_sums *out);

/* OUT costs (n_padded,) = above + |slopes| - sign slopes, and *value, at least what a component of these costs saves: by
   the tangent at the scale exp(log_s), log_s <= 0, whatever it is (P3). */
void price_side(ptrdiff_t n_padded, double total_weight, const double *weights, const double *prices,
                const double *above, const double *slopes, double sign, double log_s, double *costs, double *value);
#endif
