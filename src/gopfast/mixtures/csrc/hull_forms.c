/* See hull_forms.h; theory: (Y2), (Y4) and (Y8) of docs/theory/hull.md. As in hull.c: plain loops, no fused operations,
   sums of a fixed number of parts. */
#include "clones.h"
#include "hull_forms.h"
#include <math.h>

#define LANES HULL_BLOCK
#define EACH for (int l = 0; l < LANES; l++)
#define UNIT 0x1p-53
/* exponents below it are taken for it, which only ever adds to a mass; above the largest nothing is exponentiated */
#define LEAST (-36.0)
#define LARGEST 2.0
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

/* At least exp(t) for t <= 2: (e^(|t| / 64))^64 by the power series to order 9, which is below it; above 0 by no
   more than a relative 64 (1 / 32)^10 / 10!, which is below the rounding that is added. */
static inline double exponential(double t)
{
    const double x = (1.0 / 64) * smaller(fabs(t), -LEAST);
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
    return (t > 0 ? p : 1.0 / p) * (1 + EXPONENTIAL);
}

CLONES
void hull_centers(const double *lengths, const double *prices, double more, const hull_lines *lines, double *out)
{
    const hull_lines own = *lines;
    EACH
    {
        const double square = lengths[l] * lengths[l] + more;
        double found = own.constant[0] + own.slope[0] * square;
        for (int i = 1; i < HULL_LINES; i++) found = larger(found, own.constant[i] + own.slope[i] * square);
        out[l] = prices[l] + found;
    }
}

/* With exp(slope c) <= 1 + slope c + (exp(slope) - 1 - slope) c^2 for |c| <= 1. Where exp(-slope) is too large by e,
   the quadratic is less by at most e (1 - c) (-1 - (1 + slope) c) <= 5 e c^2, which is added: hence 2^15 units. */
CLONES
void hull_masses(const double *tops, const double *slopes, const double *weights, int plain, hull_quadratics *out,
                 hull_mass *sums)
{
    double least[LANES], curved[LANES], part[LANES], size[LANES];
    EACH
    {
        const double t = tops[l], slope = slopes[l], w = weights[l];
        const double most = w * exponential(smaller(t, LARGEST)), mass = t > 0 ? w : smaller(w, most);
        /* what the largest y says alone, or a quadratic of c */
        const int alone = plain | (t - slope >= 0) | (slope > LARGEST) | (slope < 1e-12);
        const double constant = most * exponential(-smaller(slope, LARGEST)), linear = constant * slope;
        const double square = larger(most - constant - linear, 0.0) + 32768 * UNIT * most;
        least[l] = mass;
        out->constant[l] = alone ? mass : constant;
        out->linear[l] = alone ? 0.0 : linear;
        out->square[l] = alone ? 0.0 : square;
        curved[l] = alone ? 0.0 : constant;
        part[l] = alone & (t <= 0) ? mass : 0.0;
        size[l] = out->constant[l] + out->linear[l] + out->square[l];
    }
    sums->plain = sum_of(least);
    sums->value = sum_of(out->constant);
    sums->curved = sum_of(curved);
    sums->part = sum_of(part);
    sums->size = sum_of(size);
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

CLONES
void hull_divide(const double *tops, const double *slopes, const double *weights, const double *centers,
                 const double *reaches, const double *sizes, double shift, const hull_quadratics *all,
                 hull_quadratics *restrict within, double *restrict of_v, hull_sides *sums)
{
    double surely[LANES], nearly[LANES], value[LANES], size[LANES];
    EACH
    {
        const double t = tops[l], w = weights[l], center = centers[l], reach = reaches[l];
        const double constant = all->constant[l], linear = all->linear[l], square = all->square[l];
        const double of_in = center + reach + sizes[l], of_out = w * larger(t + slopes[l], 0.0);
        /* 1 or 0: as numbers, so that the compiler sees no branch */
        const double some = t > 0 ? 1.0 : 0.0, enough = center >= reach + shift ? 1.0 : 0.0;
        const double near = t > -shift ? 1.0 : 0.0, in = some * enough, out = 1.0 - in;
        surely[l] = in * w;
        nearly[l] = near * out * w;
        value[l] = in * (w * center) + out * constant;
        size[l] = in * (w * of_in) + out * (of_out + fabs(constant) + fabs(linear) + square);
        of_v[l] = in * (w * reach);
        within->constant[l] = out * constant;
        within->linear[l] = out * linear;
        within->square[l] = out * square;
    }
    sums->surely = sum_of(surely);
    sums->nearly = sum_of(nearly);
    sums->value = sum_of(value);
    sums->size = sum_of(size);
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

void hull_collect(double *forms, ptrdiff_t n, double *out, double *also)
{
    for (ptrdiff_t i = 0; i < n; i++, forms += HULL_LANES) {
        double sum = 0;
        for (int l = 0; l < HULL_LANES; l++) sum += forms[l], forms[l] = 0;
        out[i] += sum;
        if (also) also[i] += sum;
    }
}
