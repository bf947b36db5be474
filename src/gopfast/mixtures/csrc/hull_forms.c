/* See hull_forms.h; theory: (Y2) and (Y4) of docs/theory/hull.md, (YN4) and (YN6) of docs/theory/near.md. As in hull.c:
   plain loops, no fused operations, sums of a fixed number of parts. */
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
/* below this exponent the series is short of more than that: of exp(t) by 64 (t / 64)^10 / 10! of it, at LEAST 6e-8 */
#define FAR (-8.0)
#define SHORT_OF 1e-7
/* exponents so short are not told from their squares */
#define SHORT 0.05

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

/* At most exp(t), of e = exponential(t), t <= 0. */
static inline double at_most_exp(double e, double t)
{
    const double part = t > FAR ? 1 - 2 * EXPONENTIAL : t > LEAST ? 1 - SHORT_OF : 0.0;
    return e * part;
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

/* With f = exp(A), A <= 0, and t = slope c, min(1, exp(A + t)) is at most f (1 + t) + g c^2: g. What it is above the line
   is, over t^2, largest at m = min(slope, -A), as (e^t - 1 - t) / t^2 increases, and from the kink on the mass is constant;
   and it is at most half the mass at m, as (e^m - 1 - m) / m^2 <= e^m / 2. `most`: at least the mass at c = 1; `below`: at
   most f; `amount`: what magnitudes come to. */
static inline double curve_of(double A, double slope, double most, double below, double amount)
{
    const double m = smaller(slope, -A), half = 0.5 * most * slope * slope, ratio = slope / larger(m, SHORT);
    const double over = larger((most - below * (1 + m)) * (1 + 8 * UNIT) + 8 * UNIT * (amount + larger(m, 0.0)), 0.0);
    return m < SHORT ? half : smaller(over * ratio * ratio, half);
}

/* The best of random directions of the line and its curve (`curve_of`), and of the largest mass. */
CLONES
void hull_masses(const double *tops, const double *slopes, const double *weights, int p, hull_quadratics *out,
                 hull_mass *sums)
{
    const double share = 1.0 / p;
    double size[LANES];
    EACH
    {
        const double w = weights[l], slope = slopes[l], A = tops[l] - slope;
        const double most = exponential(smaller(tops[l], 0.0)), f = exponential(smaller(A, 0.0));
        const double below = at_most_exp(f, smaller(A, 0.0)), amount = 1 + fabs(tops[l]) + slope;
        const double curve = curve_of(A, slope, most, below, amount);
        const double error = (f - below) * (1 + slope);
        const double is_bent = A <= 0 && A > LEAST && f + error + curve * share < most ? 1.0 : 0.0;
        out->constant[l] = w * (is_bent * (f + error) + (1 - is_bent) * most);
        out->linear[l] = w * is_bent * f * slope;
        out->square[l] = w * is_bent * curve * (1 + 8 * UNIT);
        size[l] = w * amount * (most + is_bent * (f * (1 + slope) + curve));
    }
    sums->value = sum_of(out->constant);
    sums->size = sum_of(size);
}

/* What phi(y) = max(0, y) + min(1, exp(y)) is over its line at A, in second differences. Where A < 0 < A + s: over
   s^2 c^2 it is largest at t = s c = s, or at t = 2 (e^A - 1 - A) / (1 - e^A) >= -A if s is more, and nowhere more than
   1/2, the largest second derivative's half. Where A > 0 > A - s it is e^-x - 1 + x of x = -y > 0, at most
   3 x^2 / 2 (3 + x), and that over (b + x)^2 is largest where x^2 = b x + 6 b, or at the end; b = A + s / p is the best
   of random directions if the end is touched. */
/* Masses u = min(1, exp(y)), y = A + t, t = s c less at most `further`. Above: the line and
   `curve_of` where A <= 0; 1 where A > 0. Below: where A > 0, 1 less at most `lack` (x + e)^2 of x = -y; else
   f (1 + min(t, k)), f = exp(A) and k = exp(-A) - 1 where the kink is, with min(t, k) at least k - (e + k - t)^2 / 4 e;
   e^2 = k^2 + s^2 / p, -A for k above 0, is the best of random directions. */
CLONES
void hull_shell(const double *lengths, const double *prices, const double *weights, int p, const hull_radii *radii,
                double log_scale, double shift, hull_shell_forms *restrict out, hull_shell_sums *sums)
{
    const double R = radii->most, half = 0.5 * radii->least * radii->least, further = radii->further;
    const double least = shift + further, share = 1.0 / p, root = radii->root;
    double surely[LANES], value[LANES], size[LANES], bent[LANES], mass[LANES], amount[LANES], more[LANES], less[LANES];
    double well[LANES], often[LANES], seldom[LANES];
    EACH
    {
        const double w = weights[l], length = root * lengths[l], s = R * length * (1 + 8 * UNIT);
        const double A = prices[l] + (log_scale - half - 0.5 * length * length), end = A + s;
        const double e = exponential(smaller(A, 0.0)), below = at_most_exp(e, smaller(A, 0.0));
        const double over_line = larger(below - 1 - A, 1e-5), rise = 1 - below, half_square = 0.5 * s * s;
        /* 1 or 0, as numbers, so that the compiler sees no branch: A + s <= 0; A > 0; y >= 0 all over the shell */
        const double is_out = end <= 0 ? 1.0 : 0.0, is_above = A > 0 ? 1.0 : 0.0, in = A - s >= further ? 1.0 : 0.0;
        const double is_close = A > -0.01 ? 1.0 : 0.0, is_short = s * rise <= 2 * over_line ? 1.0 : 0.0;
        const double at_most_one = exponential(smaller(end, 0.0));
        const double outside = larger(at_most_one - below * (1 + s), 0.0);
        const double at_end = end + 1 - below * (1 + s), at_most = rise * rise * s * s / (4 * over_line) * (1 + 1e-6);
        const double between = is_short * larger(at_end, 0.0) + (1 - is_short) * at_most;
        const double across = is_close * half_square + (1 - is_close) * smaller(between, half_square);
        /* A > 0: what is over the line, at most 3 x^2 / 2 (3 + x) at y = -x, is below `inside` (share - c)^2 */
        const double from = A > 0 ? A + s * share : 1.0, top = 0.5 * (from + __builtin_sqrt(from * from + 24 * from));
        const double over = smaller(larger(s - A, 0.0), top), part = s * over / (from + over);
        const double inside = 1.5 * part * part / (3 + over) * (1 + 64 * UNIT);
        const double curve = is_out * outside + (1 - is_out) * ((1 - is_above) * across + is_above * inside);
        const double out_weight = w * (1 - in), far = is_out * out_weight, near = out_weight - far;
        const double error = 65536 * UNIT * e * (1 + s);
        /* gains have at least the slope at the least y */
        const double lowest = smaller(A - s - further, 0.0), slope = lowest > LEAST ? exponential(lowest) : 0.0;
        const double above = is_above * A, has_kink = A < s ? 1.0 : 0.0, kink = near * has_kink;
        const double k = is_above * -A + (1 - is_above) * (1.0 / e - 1);
        const double width = larger(__builtin_sqrt(k * k + s * s * share), 1e-300), shy = width + k;
        /* A > 0: 1 - u is at most 2 x / (2 + x) at y = -x, below `lack` (shy - t)^2, its least where x^2 + x = width */
        const double there = 0.5 * (__builtin_sqrt(1 + 4 * width) - 1), x = smaller(there, larger(s - A, 0.0));
        const double least_lack = is_above * 2 * x / ((2 + x) * (width + x) * (width + x));
        const double lack = (least_lack + (1 - is_above) * 0.25 / width) * (1 + 64 * UNIT);
        surely[l] = in * w;
        const double moved = out_weight * is_above * inside * share;
        value[l] = in * (w * A) + out_weight * (e + larger(A, 0.0) + error) + moved * share;
        out->linear[l] = w * s * e - 2 * moved;
        out->square[l] = out_weight * (curve * (1 + 8 * UNIT) + error);
        size[l] = w * (fabs(prices[l]) + fabs(log_scale) + half + 0.5 * length * length + 2 * s + 2);
        bent[l] = out_weight * slope * (1 - 2 * EXPONENTIAL);
        mass[l] = out_weight * e;
        amount[l] = out_weight * e * (1 + s) + near * (1 + s + half_square + above);
        /* what e is more than exp(A), times 1 + t */
        const double loose_mass = out_weight * (e - below) * (1 + s);
        more[l] = loose_mass;
        less[l] = loose_mass + out_weight * further * at_most_one - kink * e * ((1 - is_above) * k - lack * shy * shy);
        out->rise[l] = out_weight * (1 - is_above) * e * s;
        out->fall[l] = (out_weight - kink) * (1 - is_above) * e * s + kink * e * s * 2 * lack * shy;
        const double curved = curve_of(A, s, at_most_one, below, 1 + fabs(A) + s);
        out->bend[l] = out_weight * (1 - is_above) * curved * (1 + 16 * UNIT);
        out->sag[l] = kink * e * lack * s * s * (1 + 16 * UNIT);
        /* y >= shift where c >= -room, which is in units of s: else ((b - c) / (b + room))^2 is at least 1, b >= 0;
           the best b of random directions (Cantelli) */
        const double loose = 64 * UNIT * (fabs(prices[l]) + fabs(log_scale) + half + length * length + least + 1);
        const double room = (A - least - loose) / larger(s, 1e-300), at = smaller(larger(room, 1e-3), 1.0);
        const double b = share / at;
        const double is_well = A - s >= least ? 1.0 : 0.0, is_often = room > 1e-3 ? 1 - is_well : 0.0;
        const double scale = 1 / ((b + at) * (b + at));
        well[l] = w * is_well;
        often[l] = w * is_often;
        seldom[l] = often[l] * b * b * scale;
        out->missed[l] = 2 * often[l] * b * scale;
        out->missed_square[l] = often[l] * scale;
    }
    sums->surely = sum_of(surely);
    sums->value = sum_of(value);
    sums->size = sum_of(size);
    sums->bent = sum_of(bent);
    sums->mass = sum_of(mass);
    sums->amount = sum_of(amount);
    sums->more = sum_of(more);
    sums->less = sum_of(less);
    sums->well = sum_of(well);
    sums->often = sum_of(often);
    sums->seldom = sum_of(seldom);
    out->bent = sum_of(out->bend);
    out->sunk = sum_of(out->sag);
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
