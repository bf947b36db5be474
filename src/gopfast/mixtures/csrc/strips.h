/* Strips that the regressions of a cell run through, of up to STRIP_ROWS rows at a time: loops that become vectors, in
   which each row's sums keep their order. */
#ifndef GOPFAST_STRIPS_H
#define GOPFAST_STRIPS_H
#include <stddef.h>

#define STRIP_ROWS 64 /* what is kept of them stays in the L1 cache */

/* OUT (n,): residuals y - z'c at the middle c, and half widths of the strips, sum_j h_j |z_j|, of n rows.
   regressors (q, stride): from the first of these rows on. */
void strip_rows(int n, int q, ptrdiff_t stride, const double *response, const double *regressors, const double *center,
                const double *half, double *residual, double *reach);

/* OUT (n,): squares of the residuals of the regressions of a cell that is `moved` wider, from below: relative 4 u below.
   Returns the widest strip. */
double strip_squares(int n, const double *residual, const double *reach, double moved, double *square);

/* OUT (n,): the least of log(2 pi v) / 2 + square / (2 v) for v between two ends, whose first term is given, from below. */
void strip_costs(int n, const double *square, double least, double most, double low_log, double high_log, double *costs);

/* The most that sum_j h_j sizes_ji is over m rows; sizes (q, m). */
double strip_farthest(int m, int q, const double *sizes, const double *half);

/* Sum over n rows of share_i log(1 + factor |z_i| near_i), about: it bounds nothing, but weighs sides. */
double strip_saturated(int n, const double *z, const double *near, const double *shares, double factor);
#endif
