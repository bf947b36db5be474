/* See strips.h. No operation is fused. */
#include "clones.h"
#include "strips.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

#define UNIT 0x1p-53
#define PI 3.14159265358979323846
#define LANES 8

static inline double larger(double a, double b) { return a > b ? a : b; }

static inline double largest(const double *parts)
{
    double most = 0;
    for (int lane = 0; lane < LANES; lane++) most = larger(most, parts[lane]);
    return most;
}

CLONES
void strip_rows(int n, int q, ptrdiff_t stride, const double *response, const double *regressors, const double *center,
                const double *half, double *restrict residual, double *restrict reach)
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

CLONES
double strip_squares(int n, const double *residual, const double *reach, double moved, double *restrict square)
{
    double most[LANES] = {0};
    int i = 0;
    for (int k = 0; k < n; k++) {
        const double outside = fabs(residual[k]) - reach[k] - moved;
        const double away = outside > 0 ? outside : 0; /* of no number, too: costs are bounded from below */
        square[k] = away * (away * (1 - 4 * UNIT));
    }
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) most[lane] = larger(most[lane], reach[i + lane]);
    for (; i < n; i++) most[0] = larger(most[0], reach[i]);
    return largest(most);
}

CLONES
void strip_costs(int n, const double *square, double least, double most, double low_log, double high_log,
                 double *restrict costs)
{
    for (int i = 0; i < n; i++) {
        const double low = low_log + 0.5 * square[i] / least, high = high_log + 0.5 * square[i] / most;
        costs[i] = square[i] <= least ? low : high;
    }
    for (int i = 0; i < n; i++)
        if (square[i] > least && square[i] < most) costs[i] = 0.5 * (log(2 * PI * square[i]) + 1);
    for (int i = 0; i < n; i++) costs[i] -= 32 * UNIT * (1 + fabs(costs[i]));
}

CLONES
double strip_farthest(int m, int q, const double *sizes, const double *half)
{
    double most[STRIP_ROWS] = {0}, farthest = 0;
    for (int first = 0; first < m; first += STRIP_ROWS) {
        const int n = m - first < STRIP_ROWS ? m - first : STRIP_ROWS;
        double x[STRIP_ROWS] = {0};
        for (int j = 0; j < q; j++) {
            const double *size = sizes + (ptrdiff_t)j * m + first, h = half[j];
            for (int i = 0; i < n; i++) x[i] += h * size[i];
        }
        for (int i = 0; i < n; i++) most[i] = larger(most[i], x[i]);
    }
    for (int i = 0; i < STRIP_ROWS; i++) farthest = larger(farthest, most[i]);
    return farthest;
}

/* About log(1 + x), x >= 0, within 8 %: a parabola between powers of 2. */
static inline float logarithm(float x)
{
    const float v = 1.0f + (x < 1e30f ? x : 1e30f);
    int32_t bits, mantissa;
    float m;
    memcpy(&bits, &v, sizeof bits);
    mantissa = (bits & 0x7fffff) | 0x3f800000;
    memcpy(&m, &mantissa, sizeof m);
    return 0.6931472f * ((float)((bits >> 23) - 127) + (2.0f - m * (1.0f / 3.0f)) * m - (5.0f / 3.0f));
}

CLONES
double strip_saturated(int n, const double *z, const double *near, const double *shares, double factor)
{
    float lost[STRIP_ROWS];
    double total[LANES] = {0}, sum = 0;
    int i = 0;
    for (int k = 0; k < n; k++) lost[k] = (float)(factor * fabs(z[k]) * near[k]);
    for (int k = 0; k < n; k++) lost[k] = logarithm(lost[k]);
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) total[lane] += shares[i + lane] * lost[i + lane];
    for (; i < n; i++) total[0] += shares[i] * lost[i];
    for (int lane = 0; lane < LANES; lane++) sum += total[lane];
    return sum;
}
