/* The kernel. Each instruction set has a file of its own that defines NAME(), TARGET and LANES and includes this once,
   so that they compile side by side. As many lanes as its vectors have: gcc takes comparisons of wider ones apart into
   scalars. Two would need a wider rounding margin: a block's value is a sum of PASS_BLOCK / LANES terms in each lane,
   then of the lanes. */
#include "pass_variants.h"

#include <math.h>
#include <string.h>

#define SIGN ((long long)0x8000000000000000LL)

/* Neumaier summation: block sums of a long data set are added without loss. */
typedef struct { double sum, lost; } compensated;
static inline void add(compensated *c, double x)
{
    double t = c->sum + x;
    c->lost += fabs(c->sum) >= fabs(x) ? (c->sum - t) + x : (x - t) + c->sum;
    c->sum = t;
}

typedef double NAME(vec) __attribute__((vector_size(8 * LANES)));
typedef long long NAME(ivec) __attribute__((vector_size(8 * LANES)));
typedef unsigned long long NAME(uvec) __attribute__((vector_size(8 * LANES)));

#define INLINE static inline __attribute__((always_inline)) TARGET

INLINE NAME(vec) NAME(load)(const double *p) { NAME(vec) v; memcpy(&v, p, sizeof v); return v; }
INLINE void NAME(store)(double *p, NAME(vec) v) { memcpy(p, &v, sizeof v); }
INLINE NAME(vec) NAME(set)(double s) { return (NAME(vec)){0} + s; }
INLINE NAME(vec) NAME(select)(NAME(ivec) mask, NAME(vec) a, NAME(vec) b)
{
    return (NAME(vec))((mask & (NAME(ivec))a) | (~mask & (NAME(ivec))b));
}
INLINE NAME(vec) NAME(abs)(NAME(vec) a) { return (NAME(vec))((NAME(ivec))a & ~SIGN); }
INLINE double NAME(total)(NAME(vec) a)
{
    double sum[LANES];
    memcpy(sum, &a, sizeof a);
    for (int i = 0; i < LANES / 2; i++) sum[i] += sum[i + LANES / 2];
    for (int n = LANES / 4; n > 0; n /= 2)
        for (int i = 0; i < n; i++) sum[i] = sum[2 * i] + sum[2 * i + 1];
    return sum[0];
}

/* exp(x) for x <= PASS_LARGEST_EXPONENT; below PASS_LEAST_EXPONENT that of it, which only ever loosens a bound.
   x = n log 2 + r, |r| <= 0.3466; Taylor to r^13 (remainder 4e-18). */
INLINE NAME(vec) NAME(exp8)(NAME(vec) x)
{
    const NAME(vec) shift = NAME(set)(0x1.8p52);
    x = NAME(select)(x > PASS_LEAST_EXPONENT, x, NAME(set)(PASS_LEAST_EXPONENT));
    NAME(vec) t = x * 0x1.71547652b82fep0 + shift;
    NAME(vec) n = t - shift;
    NAME(vec) r = x - n * 0x1.62e42fefa0000p-1;
    r = r - n * 0x1.cf79abc9e3b3ap-40;
    /* even and odd powers apart: two short chains instead of one long one */
    NAME(vec) y = r * r;
    NAME(vec) odd = NAME(set)(1.0 / 6227020800.0);
    odd = odd * y + 1.0 / 39916800.0;
    odd = odd * y + 1.0 / 362880.0;
    odd = odd * y + 1.0 / 5040.0;
    odd = odd * y + 1.0 / 120.0;
    odd = odd * y + 1.0 / 6.0;
    NAME(vec) even = NAME(set)(1.0 / 479001600.0);
    even = even * y + 1.0 / 3628800.0;
    even = even * y + 1.0 / 40320.0;
    even = even * y + 1.0 / 720.0;
    even = even * y + 1.0 / 24.0;
    even = even * y + 0.5;
    NAME(vec) p = 1.0 + (r + y * (even + r * odd));
    return (NAME(vec))((NAME(ivec))p + ((NAME(ivec))t << 52));
}

/* log(x) for normal x > 0: x = 2^e m, m in [sqrt(1/2), sqrt 2), log m = 2 artanh((m - 1)/(m + 1)). */
INLINE NAME(vec) NAME(log8)(NAME(vec) x)
{
    const NAME(uvec) half = (NAME(uvec))NAME(set)(0x1.6a09e667f3bcdp-1);
    const NAME(uvec) bias = (NAME(uvec))NAME(set)(1.0);
    NAME(uvec) e = ((NAME(uvec))x - half + bias) >> 52;
    NAME(vec) m = (NAME(vec))((NAME(uvec))x - ((e - 1023) << 52));
    NAME(vec) exponent = (NAME(vec))(e | (NAME(uvec))NAME(set)(0x1p52)) - (0x1p52 + 1023.0);
    NAME(vec) f = m - 1.0;
    NAME(vec) s = f / (m + 1.0);
    NAME(vec) z = s * s;
    NAME(vec) y = z * z;
    NAME(vec) odd = NAME(set)(2.0 / 23.0), even = NAME(set)(2.0 / 21.0);
    odd = odd * y + 2.0 / 19.0;
    even = even * y + 2.0 / 17.0;
    odd = odd * y + 2.0 / 15.0;
    even = even * y + 2.0 / 13.0;
    odd = odd * y + 2.0 / 11.0;
    even = even * y + 2.0 / 9.0;
    odd = odd * y + 2.0 / 7.0;
    even = even * y + 2.0 / 5.0;
    odd = odd * y + 2.0 / 3.0;
    NAME(vec) q = odd + z * even;
    NAME(vec) low = exponent * 0x1.cf79abc9e3b3ap-40;
    return exponent * 0x1.62e42fefa0000p-1 + ((2.0 * s + s * (z * q)) + low);
}

TARGET void NAME(pass_exp)(ptrdiff_t n, const double *x, double *y)
{
    for (ptrdiff_t i = 0; i < n; i += LANES) NAME(store)(y + i, NAME(exp8)(NAME(load)(x + i)));
}

TARGET void NAME(pass_log)(ptrdiff_t n, const double *x, double *y)
{
    for (ptrdiff_t i = 0; i < n; i += LANES) NAME(store)(y + i, NAME(log8)(NAME(load)(x + i)));
}

/* Upper triangle of sum_i w_i a_i a_i' over one block; rows 2 at a time halve the loads. */
INLINE void NAME(gram)(int m, ptrdiff_t n, const double *a, const double *wa, double *out)
{
    for (int p = 0; p < m; p += 2) {
        const double *wp = wa + p * PASS_BLOCK;
        const double *wq = p + 1 < m ? wp + PASS_BLOCK : wp;
        for (int q = p; q < m; q += 2) {
            const double *aq = a + q * PASS_BLOCK;
            const double *ar = q + 1 < m ? aq + PASS_BLOCK : aq;
            NAME(vec) s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0};
            for (ptrdiff_t i = 0; i < n; i += LANES) {
                NAME(vec) x0 = NAME(load)(wp + i), x1 = NAME(load)(wq + i);
                NAME(vec) y0 = NAME(load)(aq + i), y1 = NAME(load)(ar + i);
                s00 += x0 * y0;
                s01 += x0 * y1;
                s10 += x1 * y0;
                s11 += x1 * y1;
            }
            out[p * m + q] += NAME(total)(s00);
            if (q + 1 < m) out[p * m + q + 1] += NAME(total)(s01);
            if (p + 1 < m && q > p) out[(p + 1) * m + q] += NAME(total)(s10);
            if (p + 1 < m && q + 1 < m) out[(p + 1) * m + q + 1] += NAME(total)(s11);
        }
    }
}

/* Moments of one component over a block, and its rows of a and wa for the Gram matrix.
   Statistic f is z_f, or for f >= d the square of z_(f-d). */
INLINE void NAME(moments)(const pass_data *data, ptrdiff_t start, ptrdiff_t n, const int d, const int F, int gram,
                          const double *center, double weight, const double *e, const double *over,
                          double *a, double *wa, double *first, double *second)
{
    const double *w = data->weights + start;
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        NAME(vec) r = weight * NAME(load)(e + i) * NAME(load)(over + i);
        NAME(store)(a + i, r);
        NAME(store)(wa + i, NAME(load)(w + i) * r);
    }
    for (int f = 0; f < F; f++) {
        const int j = f < d ? f : f - d;
        const double *x = data->columns + j * data->n_padded + start;
        double *row = a + (1 + f) * PASS_BLOCK, *wrow = wa + (1 + f) * PASS_BLOCK;
        NAME(vec) s1 = {0}, s2 = {0};
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            NAME(vec) phi = NAME(load)(x + i) - center[j];
            if (f >= d) phi = phi * phi;
            NAME(vec) wrphi = NAME(load)(wa + i) * phi;
            s1 += wrphi;
            s2 += wrphi * phi;
            if (gram) {
                NAME(store)(wrow + i, wrphi);
                NAME(store)(row + i, NAME(load)(a + i) * phi);
            }
        }
        first[f] += NAME(total)(s1);
        second[f * F + f] += NAME(total)(s2);
        for (int l = 0; gram && l < f; l++) {
            const double *wrl = wa + (1 + l) * PASS_BLOCK;
            NAME(vec) s = {0};
            for (ptrdiff_t i = 0; i < n; i += LANES) {
                NAME(vec) phi = NAME(load)(x + i) - center[j];
                if (f >= d) phi = phi * phi;
                s += NAME(load)(wrl + i) * phi;
            }
            second[l * F + f] += NAME(total)(s);
        }
    }
}

INLINE void NAME(body)(const pass_data *data, ptrdiff_t begin, ptrdiff_t end, const int d, const int F, int K,
                       const pass_costs *costs, const double *weights, pass_level asked, double *scratch,
                       pass_sums *out)
{
    const int f = 1 + F, m = K * f, again = asked & PASS_AGAIN, keep = asked & (PASS_KEEP | PASS_AGAIN);
    const pass_level level = (pass_level)(asked & ~(PASS_KEEP | PASS_AGAIN));
    double *kept = scratch + pass_scratch_size(K, F); /* (blocks, K + 1, BLOCK): what cost and leasts hold */
    const double *centers = costs->centers, *linear = costs->linear, *quadratic = costs->quadratic;
    const double *offsets = costs->offsets, *each = costs->each;
    double *cost = scratch;                     /* (K, BLOCK): c_ik, then exp(c_min - c_ik) */
    double *a = cost + (size_t)K * PASS_BLOCK;  /* (m, BLOCK): r_k, r_k phi_k */
    double *wa = a + (size_t)m * PASS_BLOCK;    /* (m, BLOCK): the same times w */
    double *over = wa + (size_t)m * PASS_BLOCK; /* (BLOCK,): 1 / s_i */
    double *leasts = over + PASS_BLOCK;         /* (BLOCK,): least cost of the sample */
    double *lost = leasts + PASS_BLOCK;         /* (K,): compensation of density */
    compensated value = {0, 0}, magnitude = {0, 0};
    double least_term = keep ? PASS_LEAST_EXPONENT : PASS_LEAST_TERM; /* what is kept may meet other weights */
    for (int k = 0; k < K; k++)
        if (weights[k] > 0 && weights[k] < PASS_LEAST_WEIGHT) least_term = PASS_LEAST_EXPONENT;

    memset(out->density, 0, K * sizeof(double));
    memset(lost, 0, K * sizeof(double));
    const int moments = level == PASS_MOMENTS || level == PASS_HESSIAN;
    if (moments) {
        memset(out->first, 0, (size_t)K * F * sizeof(double));
        memset(out->second, 0, (size_t)K * F * F * sizeof(double));
    }
    if (level == PASS_HESSIAN) memset(out->gram, 0, (size_t)m * m * sizeof(double));
    if (level == PASS_WEIGHTS) memset(out->gram, 0, (size_t)K * K * sizeof(double));

    for (ptrdiff_t start = begin; start < end; start += PASS_BLOCK) {
        const ptrdiff_t n = end - start < PASS_BLOCK ? end - start : PASS_BLOCK;
        const double *w = data->weights + start;
        NAME(vec) sum_value = {0}, sum_magnitude = {0};

        if (keep) {
            cost = kept;
            leasts = cost + (size_t)K * PASS_BLOCK;
            kept = leasts + PASS_BLOCK;
        }
        for (ptrdiff_t i = 0; again && i < n; i += LANES) {
            NAME(vec) s = {0};
            for (int k = 0; k < K; k++) s += weights[k] * NAME(load)(cost + k * PASS_BLOCK + i);
            NAME(store)(over + i, s);
        }
        for (ptrdiff_t i = 0; !again && i < n; i += LANES) {
            NAME(vec) least = NAME(set)(INFINITY);
            for (int k = 0; k < K; k++) {
                NAME(vec) c = NAME(set)(-offsets[k]);
                for (int j = 0; j < d; j++) {
                    NAME(vec) z = NAME(load)(data->columns + j * data->n_padded + start + i) - centers[k * d + j];
                    c += z * (linear[k * d + j] + quadratic[k * d + j] * z);
                }
                if (each) c += NAME(load)(each + k * data->n_padded + start + i);
                NAME(store)(cost + k * PASS_BLOCK + i, c);
                if (weights[k] > 0) least = NAME(select)(c < least, c, least);
            }
            NAME(vec) s = {0};
            for (int k = 0; k < K; k++) {
                /* a component of weight 0 may lie below the least cost: cap its exponential */
                NAME(vec) t = least - NAME(load)(cost + k * PASS_BLOCK + i);
                t = NAME(select)(t < PASS_LARGEST_EXPONENT, t, NAME(set)(PASS_LARGEST_EXPONENT));
                NAME(vec) e = NAME(exp8)(NAME(select)(t > least_term, t, NAME(set)(least_term)));
                NAME(store)(cost + k * PASS_BLOCK + i, e);
                s += weights[k] * e;
            }
            NAME(store)(over + i, s);
            NAME(store)(leasts + i, least);
        }
        /* apart from the exponentials, so that the long chains of neighbours overlap */
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            NAME(vec) wi = NAME(load)(w + i), s = NAME(load)(over + i), least = NAME(load)(leasts + i);
            NAME(vec) logs = NAME(log8)(s);
            sum_value += wi * (least - logs);
            sum_magnitude += wi * (NAME(abs)(least) + NAME(abs)(logs));
            NAME(store)(over + i, 1.0 / s);
        }
        add(&value, NAME(total)(sum_value));
        add(&magnitude, NAME(total)(sum_magnitude));

        for (int k = 0; k < K; k++) {
            const double *e = cost + k * PASS_BLOCK;
            NAME(vec) sum = {0};
            if (level == PASS_WEIGHTS) {
                double *row = a + (size_t)k * PASS_BLOCK, *wrow = wa + (size_t)k * PASS_BLOCK;
                for (ptrdiff_t i = 0; i < n; i += LANES) {
                    NAME(vec) ratio = NAME(load)(e + i) * NAME(load)(over + i), weighted = NAME(load)(w + i) * ratio;
                    NAME(store)(row + i, ratio);
                    NAME(store)(wrow + i, weighted);
                    sum += weighted;
                }
            } else {
                for (ptrdiff_t i = 0; i < n; i += LANES)
                    sum += NAME(load)(w + i) * (NAME(load)(e + i) * NAME(load)(over + i));
            }
            compensated density = {out->density[k], lost[k]};
            add(&density, NAME(total)(sum));
            out->density[k] = density.sum;
            lost[k] = density.lost;
            if (moments)
                NAME(moments)(data, start, n, d, F, level == PASS_HESSIAN, centers + k * d, weights[k], e, over,
                              a + (size_t)k * f * PASS_BLOCK, wa + (size_t)k * f * PASS_BLOCK,
                              out->first + k * F, out->second + k * F * F);
        }
        if (level == PASS_HESSIAN) NAME(gram)(m, n, a, wa, out->gram);
        if (level == PASS_WEIGHTS) NAME(gram)(K, n, a, wa, out->gram);
    }
    for (int k = 0; k < K; k++) out->density[k] += lost[k];
    out->value = value.sum + value.lost;
    out->magnitude = magnitude.sum + magnitude.lost;
}

/* Constant d and F let the compiler unroll the loops over coordinates and statistics. */
TARGET void NAME(pass_run)(const pass_data *data, ptrdiff_t begin, ptrdiff_t end, int K, const pass_costs *costs,
                           const double *weights, pass_level level, double *scratch, pass_sums *out)
{
    const int d = data->n_columns, F = pass_n_statistics(data);
    if (d == 1 && F == 1) NAME(body)(data, begin, end, 1, 1, K, costs, weights, level, scratch, out);
    else if (d == 1) NAME(body)(data, begin, end, 1, 2, K, costs, weights, level, scratch, out);
    else if (d == 2 && F == 2) NAME(body)(data, begin, end, 2, 2, K, costs, weights, level, scratch, out);
    else if (d == 2) NAME(body)(data, begin, end, 2, 4, K, costs, weights, level, scratch, out);
    else NAME(body)(data, begin, end, d, F, K, costs, weights, level, scratch, out);
}
