/* Strips that the regressions of a cell run through, of some rows at a time: loops that become vectors, in which each
   row's sums keep their order. */
#ifndef GOPFAST_STRIPS_H
#define GOPFAST_STRIPS_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STRIP_ROWS 64 /* at a time: what is kept of them stays in the L1 cache */

/* OUT (n,): residuals y - z'c at the middle c, and half widths of the strips, sum_j h_j |z_j|, of n rows.
   regressors (q, stride): from the first of these rows on. */
static inline void strip_rows(int n, int q, ptrdiff_t stride, const double *response, const double *regressors,
                              const double *center, const double *half, double *restrict residual,
                              double *restrict reach)
{
    for (int i = 0; i < n; i++) {
        residual[i] = response[i];
        reach[i] = 0;
    }
    for (int j = 0; j < q; j++) {
        const double *z = regressors + j * stride, c = center[j], h = half[j];
        for (int i = 0; i < n; i++) {
            residual[i] -= c * z[i];
            reach[i] += h * fabs(z[i]);
        }
    }
}

/* About log(1 + x), x >= 0, within 8 %: a chord of parabolas between powers of 2. It bounds nothing: it weighs sides. */
static inline float strip_logarithm(float x)
{
    float v = x < 1e30f ? 1.0f + x : 1e30f, m;
    int32_t bits, whole;
    memcpy(&bits, &v, sizeof bits);
    whole = (bits >> 23) - 127;
    bits = (bits & 0x7fffff) | 0x3f800000;
    memcpy(&m, &bits, sizeof m);
    return 0.6931472f * ((float)whole + (2.0f - m * (1.0f / 3.0f)) * m - (5.0f / 3.0f));
}

/* Sum over n rows of share_i log(1 + factor |z_i| near_i), about. */
static inline double strip_saturated(int n, const double *z, const double *near, const double *shares, double factor)
{
    float lost[STRIP_ROWS];
    double total[4] = {0, 0, 0, 0};
    int i;
    for (i = 0; i < n; i++) lost[i] = strip_logarithm((float)(factor * fabs(z[i]) * near[i]));
    for (i = 0; i + 4 <= n; i += 4)
        for (int lane = 0; lane < 4; lane++) total[lane] += shares[i + lane] * lost[i + lane];
    for (; i < n; i++) total[0] += shares[i] * lost[i];
    return (total[0] + total[1]) + (total[2] + total[3]);
}
#endif
