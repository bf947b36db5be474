/* See hull.h; theory: (Y8) of docs/theory/hull.md. Plain loops, which the compiler makes vectors of; no operation is
   fused, and sums have a fixed number of parts, so that all instruction sets round alike. */
#include "clones.h"
#include "hull.h"
#include <math.h>

#define EACH for (int l = 0; l < HULL_LANES; l++)
#define UNIT 0x1p-53
/* exponents below it are taken for it: that only ever adds to a mass */
#define LEAST (-36.0)
/* squares that are taken of a matrix: of its 8th power the largest eigenvalue is far above the others */
#define N_SQUARES 3

static inline double largest(double a, double b) { return a > b ? a : b; }

/* The largest line at a squared distance. */
static inline double on_lines(const hull_lines *lines, double square)
{
    double found = lines->constant[0] + lines->slope[0] * square;
    for (int i = 1; i < HULL_LINES; i++) found = largest(found, lines->constant[i] + lines->slope[i] * square);
    return found;
}

CLONES
void hull_ranges(const double *low, const double *high, int n_rows, const double *least, const double *most,
                 const double *prices, ptrdiff_t n, const hull_lines *lines, double *out)
{
    const hull_lines own = *lines;
    for (ptrdiff_t i = 0; i < n; i += HULL_LANES) {
        double square[HULL_LANES] = {0};
        for (int j = 0; j < n_rows; j++) {
            const double a = low[j], b = high[j], *x = least + j * n + i, *y = most + j * n + i;
            EACH
            {
                const double away = largest(0.0, largest(a - y[l], x[l] - b));
                square[l] += away * away;
            }
        }
        EACH out[i + l] = prices[i + l] + on_lines(&own, square[l]);
    }
}

CLONES
void hull_tops(const double *low, const double *high, int n_rows, const double *coordinates, const double *prices,
               const hull_lines *lines, double *out)
{
    const hull_lines own = *lines;
    double square[HULL_BLOCK] = {0};
    for (int j = 0; j < n_rows; j++) {
        const double a = low[j], b = high[j], *x = coordinates + j * HULL_BLOCK;
        for (int l = 0; l < HULL_BLOCK; l++) {
            const double away = largest(0.0, largest(a - x[l], x[l] - b));
            square[l] += away * away;
        }
    }
    for (int l = 0; l < HULL_BLOCK; l++) out[l] = prices[l] + on_lines(&own, square[l]);
}

/* exp(-x) <= 1 / p^16, p the power series of exp(x / 16) cut off, as p <= exp(x / 16) for x >= 0. */
CLONES
void hull_sums(const double *tops, const double *weights, ptrdiff_t n, double shift, double *above, double *mass)
{
    double a[HULL_LANES] = {0}, m[HULL_LANES] = {0};
    for (ptrdiff_t i = 0; i < n; i += HULL_LANES)
        EACH
        {
            const double t = tops[i + l] + shift, w = weights[i + l];
            const double y = largest(0.0, -t), x = (1.0 / 16) * (y > -LEAST ? -LEAST : y);
            double p = 1 + x * (1 + x * (1.0 / 2 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120)))));
            p *= p, p *= p, p *= p, p *= p;
            a[l] += w * largest(0.0, t);
            m[l] += w / p;
        }
    *above = *mass = 0;
    EACH *above += a[l], *mass += m[l];
    /* p, its power and the quotient: 16 (2 * 6 + 1) + 5 roundings at most; sums of n terms are the caller's */
    *above *= 1 + 16 * UNIT;
    *mass *= 1 + 1024 * UNIT;
}

void hull_draw(int d, double s_low, double s_high, double log_low, double log_high, hull_lines *lines)
{
    for (int i = 0; i < HULL_LINES; i++) {
        lines->constant[i] = d ? log_high : 0.0;
        lines->slope[i] = -0.5 * s_high;
    }
    if (d == 0) return;
    lines->constant[3] = log_low;
    lines->slope[3] = -0.5 * s_low;
    double x = d / s_high, before = log_high - 0.5 * d;
    const double end = d / s_low, at = sqrt(x * end);
    if (end < x * (1 + 1e-6)) {
        /* no further below the chord than d / 16 times the square of the relative width */
        for (int i = 0; i < HULL_LINES; i++) lines->constant[i] += 1e-12 * d;
        return;
    }
    for (int i = 0; i < 2; i++) {
        const double y = i ? end : at, value = i ? log_low - 0.5 * d : 0.5 * d * (log(d / y) - 1);
        lines->slope[1 + i] = (value - before) / (y - x);
        lines->constant[1 + i] = before - lines->slope[1 + i] * x + 16 * UNIT * (fabs(before) + fabs(value) + d);
        x = y;
        before = value;
    }
}

double hull_length(const double *b, int p)
{
    double square = 0;
    for (int i = 0; i < p; i++) square += b[i] * b[i];
    return sqrt(square) * (1 + 16 * UNIT * (p + 4));
}

double hull_top(const double *M, int p)
{
    double trace = 0, squares = 0;
    for (int i = 0; i < p; i++) {
        for (int j = 0; j < i; j++, M++) squares += 2 * *M * *M;
        trace += *M;
        squares += *M * *M;
        M++;
    }
    const double mean = trace / p;
    /* of a symmetric matrix no eigenvalue is above this (Wolkowicz and Styan) */
    squares = fmax(0.0, squares - trace * mean) + 64 * UNIT * p * p * squares;
    return (mean + sqrt(squares * (p - 1) / p)) * (1 + 16 * UNIT * (p + 4));
}

double hull_top_closely(const double *M, int p)
{
    double trace = 0, found = hull_top(M, p), power = 1;
    for (int i = 0, at = 0; i < p; i++, at++) trace += M[at += i];
    if (!(trace > 0 && trace < INFINITY) || p > HULL_MOST_ACROSS) return found;
    double a[HULL_MOST_ACROSS * (HULL_MOST_ACROSS + 1) / 2], full[HULL_MOST_ACROSS][HULL_MOST_ACROSS];
    const int n = p * (p + 1) / 2;
    for (int i = 0; i < n; i++) a[i] = M[i] / trace;
    for (int turn = 0; turn < N_SQUARES; turn++) {
        for (int i = 0, at = 0; i < p; i++)
            for (int j = 0; j <= i; j++, at++) full[i][j] = full[j][i] = a[at];
        for (int i = 0, at = 0; i < p; i++)
            for (int j = 0; j <= i; j++, at++) {
                double sum = 0;
                for (int k = 0; k < p; k++) sum += full[i][k] * full[j][k];
                a[at] = sum;
            }
        power *= 0.5;
    }
    /* the square of a sum of p products is off by p of its roundings, of an eigenvalue by p times that */
    return fmin(found, trace * pow(hull_top(a, p), power) * (1 + 256 * UNIT * p * (p + 8)));
}

double hull_largest(const double *b, const double *M, int p) { return hull_length(b, p) + hull_top(M, p); }
