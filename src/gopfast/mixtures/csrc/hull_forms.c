/* See hull_forms.h; theory: (Y2) and (Y4) of docs/theory/hull.md. As in hull.c: plain loops, no fused operations,
   sums of a fixed number of parts. */
#include "clones.h"
#include "hull_forms.h"
#include <math.h>

#define LANES HULL_BLOCK
#define EACH for (int l = 0; l < LANES; l++)
#define UNIT 0x1p-53
/* exponents below it are taken for it, which only ever adds to a mass */
#define LEAST (-36.0)
/* of an exponential: 64 (2 * 9 + 2) of its power series and 65 of powers and quotient at most */
#define EXPONENTIAL (2048 * UNIT)

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

/* The sum of a block. */
static inline double sum_of(const double *x)
{
    double part[HULL_LANES] = {0}, sum = 0;
    for (int i = 0; i < LANES; i += HULL_LANES)
        for (int l = 0; l < HULL_LANES; l++) part[l] += x[i + l];
    for (int l = 0; l < HULL_LANES; l++) sum += part[l];
    return sum;
}

/* At least exp(t) for t <= 0, as (e^(-t / 64))^64 is at least that of its power series to order 9. */
static inline double exponential(double t)
{
    const double x = (1.0 / 64) * smaller(-t, -LEAST);
    double p = 1.0 + x * (1.0 / 9);
    p = 1.0 + x * (1.0 / 8) * p;
    p = 1.0 + x * (1.0 / 7) * p;
    p = 1.0 + x * (1.0 / 6) * p;
    p = 1.0 + x * (1.0 / 5) * p;
    p = 1.0 + x * (1.0 / 4) * p;
    p = 1.0 + x * (1.0 / 3) * p;
    p = 1.0 + x * (1.0 / 2) * p;
    p = 1.0 + x * p;
    p *= p, p *= p, p *= p, p *= p, p *= p, p *= p;
    return 1.0 / p * (1 + EXPONENTIAL);
}

CLONES
void hull_gains(const double *tops, const double *slopes, const double *weights, int p, hull_quadratics *out,
                hull_gain *sums)
{
    const double share = 1.0 / p;
    double plain[LANES], size[LANES];
    EACH
    {
        const double t = larger(tops[l] * (1 + 8 * UNIT), 0.0), slope = slopes[l], middle = t - slope;
        const double w = t > 0 ? weights[l] : 0.0;
        const double e = larger(__builtin_sqrt(middle * middle + slope * slope * share), 1e-300), x = 0.25 / e;
        /* the line where it is nowhere negative; else the best of random directions; else what touches the line at
           c = 1 and is 0 at c = -1 / p */
        const double third = t / ((1 + share) * (1 + share));
        const double constant = middle >= slope ? middle : e <= t ? (middle + e) * (middle + e) * x : third * share * share;
        const double linear = middle >= slope ? slope : e <= t ? 2 * (middle + e) * slope * x : 2 * third * share;
        const double square = middle >= slope ? 0.0 : e <= t ? slope * slope * x : third;
        plain[l] = w * t;
        out->constant[l] = w * constant;
        out->linear[l] = w * linear;
        out->square[l] = w * square;
        size[l] = w * (t + slope + fabs(constant) + fabs(linear) + square);
    }
    sums->plain = sum_of(plain);
    sums->value = sum_of(out->constant);
    sums->size = sum_of(size);
}

/* The second differences of phi(y) = max(0, y) + min(1, exp(y)), a convex function of slope min(1, exp(y)), from A on:
   what is over s^2 c^2 at least phi(A + s c) - phi(A) - phi'(A) s c for |c| <= 1. Where A > 0 > A - s it is
   e^y - 1 - y of y = A + s c < 0, at most y^2 / 2 and -y, of which y^2 / (A - y)^2 is largest at the end and
   -y / (A - y)^2 at most 1 / 4 A. Where A < 0 < A + s it is largest at t = s c = s, or at t = 2 (e^A - 1 - A) / (1 - e^A)
   >= -A if s is more. Nowhere more than 1/2, the largest second derivative's half. */
CLONES
void hull_shell(const double *lengths, const double *prices, const double *weights, const hull_radii *radii,
                double log_scale, double shift, double *restrict linear, double *restrict square,
                double *restrict of_mass, hull_shell_sums *sums)
{
    const double R = radii->most, half = 0.5 * radii->least * radii->least, further = radii->further;
    const double least = shift + further;
    double surely[LANES], value[LANES], size[LANES], mass[LANES], more[LANES], less[LANES];
    EACH
    {
        const double w = weights[l], s = R * lengths[l] * (1 + 8 * UNIT);
        const double A = prices[l] + (log_scale - half - 0.5 * lengths[l] * lengths[l]), end = A + s;
        const double e = exponential(smaller(A, 0.0)), below = e * (1 - 2 * EXPONENTIAL);
        const double bent = larger(below - 1 - A, 1e-5), rise = 1 - below;
        /* 1 or 0, as numbers, so that the compiler sees no branch: A + s <= 0; A > 0; surely in */
        const double is_out = end <= 0 ? 1.0 : 0.0, is_above = A > 0 ? 1.0 : 0.0, in = A - s >= least ? 1.0 : 0.0;
        const double is_close = A > -0.01 ? 1.0 : 0.0, is_short = s * rise <= 2 * bent ? 1.0 : 0.0;
        const double outside = larger(exponential(smaller(end, 0.0)) - below * (1 + s), 0.0);
        const double at_end = end + 1 - below * (1 + s), at_most = rise * rise * s * s / (4 * bent) * (1 + 1e-6);
        const double between = is_short * larger(at_end, 0.0) + (1 - is_short) * at_most, half_square = 0.5 * s * s;
        const double across = is_close * half_square + (1 - is_close) * smaller(between, half_square);
        const double over = larger(s - A, 0.0), inside = smaller(0.5 * over * over, s * s / (4 * larger(A, 1e-3)));
        const double curve = is_out * outside + (1 - is_out) * ((1 - is_above) * across + is_above * inside);
        const double out = w * (1 - in), far = is_out * out, near = out - far, error = 65536 * UNIT * e * (1 + s);
        surely[l] = in * w;
        value[l] = in * (w * A) + out * (e + larger(A, 0.0) + error);
        linear[l] = w * s * e;
        square[l] = out * (curve * (1 + 8 * UNIT) + error);
        size[l] = w * (fabs(prices[l]) + fabs(log_scale) + half + 0.5 * lengths[l] * lengths[l] + 2 * s + 2);
        mass[l] = out * e;
        of_mass[l] = far * e * s;
        more[l] = far * outside + near * (1 - below);
        less[l] = far * e * further + near * e * smaller(larger(s + further - larger(A, 0.0), 0.0), 1.0);
    }
    sums->surely = sum_of(surely);
    sums->value = sum_of(value);
    sums->size = sum_of(size);
    sums->mass = sum_of(mass);
    sums->more = sum_of(more);
    sums->less = sum_of(less);
}

CLONES
void hull_add_forms(const double *unit, int p, const double *linear, const double *square, double *forms)
{
    for (int i = 0; i < p; i++, forms += HULL_LANES) {
        const double *x = unit + i * LANES;
        for (int k = 0; k < LANES; k += HULL_LANES)
            for (int l = 0; l < HULL_LANES; l++) forms[l] += linear[k + l] * x[k + l];
    }
    if (!square) return;
    for (int i = 0; i < p; i++) {
        double y[LANES];
        EACH y[l] = square[l] * unit[i * LANES + l];
        for (int j = 0; j <= i; j++, forms += HULL_LANES) {
            const double *x = unit + j * LANES;
            double sum[HULL_LANES];
            for (int l = 0; l < HULL_LANES; l++) sum[l] = forms[l];
            for (int k = 0; k < LANES; k += HULL_LANES)
                for (int l = 0; l < HULL_LANES; l++) sum[l] += y[k + l] * x[k + l];
            for (int l = 0; l < HULL_LANES; l++) forms[l] = sum[l];
        }
    }
}

CLONES
void hull_add_bin(const double *b, const double *M, int p, double linear, double square, double *restrict forms)
{
    if (linear > 0)
        for (int i = 0; i < p; i++) forms[i] += linear * b[i];
    if (square > 0)
        for (int i = 0; i < p * (p + 1) / 2; i++) forms[p + i] += square * M[i];
}

void hull_collect(double *forms, ptrdiff_t n, double *out)
{
    for (ptrdiff_t i = 0; i < n; i++, forms += HULL_LANES)
        for (int l = 0; l < HULL_LANES; l++) out[i] += forms[l], forms[l] = 0;
}
