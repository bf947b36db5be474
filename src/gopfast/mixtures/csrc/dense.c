#include "clones.h"
#include "dense.h"

#include <math.h>
#include <string.h>

/* A pivot below this part of the diagonal entry that it is left of is rounding: the matrix is singular there. */
#define PIVOT_ROUNDING 1e-14
/* It is replaced by this: a step in its direction, divided by it, vanishes. */
#define HUGE_PIVOT 1e128

static inline __attribute__((always_inline))
void axpy(int n, double scale, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) y[i] += scale * x[i];
}

/* Four partial sums, one per lane: a fixed order on every machine. */
typedef double v4 __attribute__((vector_size(32)));
static inline __attribute__((always_inline)) double dot(int n, const double *x, const double *y)
{
    v4 sum = {0}, a, b;
    double rest = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        memcpy(&a, x + i, sizeof a);
        memcpy(&b, y + i, sizeof b);
        sum += a * b;
    }
    for (; i < n; i++) rest += x[i] * y[i];
    return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + rest;
}

CLONES int dense_factor(int n, double *a)
{
    int replaced = 0;
    for (int k = 0; k < n; k++) {
        double *row = a + (long)k * n;
        /* what of the diagonal is left after k steps; its start is the sum of squares above it and itself */
        double pivot = row[k], start = pivot;
        for (int i = 0; i < k; i++) start += a[(long)i * n + k] * a[(long)i * n + k];
        if (!(pivot > PIVOT_ROUNDING * start)) {
            pivot = HUGE_PIVOT;
            replaced++;
        }
        pivot = sqrt(pivot);
        row[k] = pivot;
        const double inverse = 1 / pivot;
        for (int j = k + 1; j < n; j++) row[j] *= inverse;
        for (int i = k + 1; i < n; i++) axpy(n - i, -row[i], row + i, a + (long)i * n + i);
    }
    return replaced;
}

CLONES void dense_forward(int n, const double *factor, int q, double *b)
{
    for (int k = 0; k < n; k++) {
        const double *row = factor + (long)k * n;
        double *y = b + (long)k * q;
        const double inverse = 1 / row[k];
        for (int j = 0; j < q; j++) y[j] *= inverse;
        if (q == 1) axpy(n - k - 1, -y[0], row + k + 1, y + 1);
        else for (int i = k + 1; i < n; i++) axpy(q, -row[i], y, b + (long)i * q);
    }
}

CLONES void dense_backward(int n, const double *factor, double *b)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *row = factor + (long)i * n;
        b[i] = (b[i] - dot(n - 1 - i, row + i + 1, b + i + 1)) / row[i];
    }
}

/* y (n) += sum over four rows of b (4, q) of their first entry times the row; vectors, as compilers see none here. */
typedef double v8 __attribute__((vector_size(64)));
static inline __attribute__((always_inline)) void axpy4(int n, int q, const double *b, double *y)
{
    const double *rows[4] = {b, b + q, b + 2L * q, b + 3L * q};
    int j = 0;
    for (; j + 8 <= n; j += 8) {
        v8 sum, row;
        memcpy(&sum, y + j, sizeof sum);
        for (int k = 0; k < 4; k++) {
            memcpy(&row, rows[k] + j, sizeof row);
            sum += rows[k][0] * row;
        }
        memcpy(y + j, &sum, sizeof sum);
    }
    for (; j < n; j++)
        for (int k = 0; k < 4; k++) y[j] += rows[k][0] * rows[k][j];
}

/* Four rows at a time, so that C is read and written a quarter as often; every entry's sum is in the order of rows. */
CLONES void dense_gram(int n, int q, const double *b, double *c)
{
    int k = 0;
    for (; k + 4 <= n; k += 4)
        for (int i = 0; i < q; i++) axpy4(q - i, q, b + (long)k * q + i, c + (long)i * q + i);
    for (; k < n; k++) {
        const double *row = b + (long)k * q;
        for (int i = 0; i < q; i++) axpy(q - i, row[i], row + i, c + (long)i * q + i);
    }
}

CLONES void dense_transposed_times(int n, int q, const double *b, double scale, const double *x, double *y)
{
    for (int k = 0; k < n; k++) axpy(q, scale * x[k], b + (long)k * q, y);
}

CLONES void dense_times(int n, int q, const double *b, const double *x, double *y)
{
    for (int k = 0; k < n; k++) y[k] += dot(q, b + (long)k * q, x);
}
