/* Groups of samples by their moments and ranges: what is known of y = price - cost over each of eight groups. */
#ifndef GOPFAST_GROUPS_H
#define GOPFAST_GROUPS_H
#include "pass.h"

enum { GROUPS_LANES = 8 };

/* Rows of a block, GROUPS_LANES doubles each. With xi = x - c, c a point of the group, prices are
   alpha + sum_j (gamma_j xi_j + delta_j xi_j^2) + e. Of statistics (xi, xi^2, e): D = 2 d + 1. */
enum {
    GROUPS_WEIGHT = 0, /* sum of the samples' weights; 0: nobody is in it */
    GROUPS_KAPPA,      /* relative rounding error of its means and covariances */
    GROUPS_ALPHA,
    GROUPS_MEAN_E,
    GROUPS_LOW_E,
    GROUPS_HIGH_E,
    GROUPS_SIZE, /* largest magnitude of the terms that a price was taken apart into */
    GROUPS_CENTER
    /* d rows each: center, mean of xi, mean of xi^2, gamma, delta, least and largest xi; then the lower triangle of
       the covariance matrix of (xi, xi^2, e), row by row. If the third column is the product of the first two, its xi is
       the product of theirs, its center that of their centers, and costs have no square of it. */
};

static inline int groups_n_rows(int d)
{
    return GROUPS_CENTER + 7 * d + (2 * d + 1) * (2 * d + 2) / 2;
}

/* OUT (GROUPS_LANES,) each: mean, variance, least and largest y of each group, rounding included: every sample's y,
   at the costs moved by no more than `rounding` says, is at most what these are the moments and the range of. */
void groups_block(const double *rows, int d, int product, const pass_costs *costs, const pass_costs *rounding,
                  double *mean, double *variance, double *low, double *high);
#endif
