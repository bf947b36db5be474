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

/* What is known of y over each of eight groups, rounding included: every sample's y, at the costs moved by no more than
   `rounding` says, is at most what these are the moments and the range of. */
typedef struct {
    double mean[GROUPS_LANES], variance[GROUPS_LANES], low[GROUPS_LANES], high[GROUPS_LANES];
    double most[GROUPS_LANES];  /* the mean of exp(y) is at most this, */
    double least[GROUPS_LANES]; /* and at least this */
} groups_known;

/* Exponents are taken for these where they are beyond them, which only ever adds to `most` where that is below what the
   least scale of a column makes 1 of; a mean of exp(y) up to `near` above the mean of y is bounded by the variance. */
typedef struct { double least_exponent, largest_exponent, near; } groups_limits;

/* What is known over the groups of a cell's cut: (capacity,) each, GROUPS_LANES more than there are groups; and of samples
   that are in the place of groups, in blocks of GROUPS_LANES neighbours, of which the last ones may count nothing. */
typedef struct {
    ptrdiff_t n; /* groups */
    ptrdiff_t *node;
    double *weight, *mean, *variance, *low, *high, *most, *least;
    double *lost; /* scratch: by each, of `groups_sum` */
    ptrdiff_t n_blocks, *start; /* first sample of each block */
    double *sample_weight, *sample_y, *sample_u; /* (n_blocks, GROUPS_LANES), y and exp(y), rounded up */
} groups_cut;

typedef struct { double value, mass, lost; } groups_sums;

/* Samples in the order of the groups: columns have `stride` doubles each, and all have GROUPS_LANES more than there are
   samples. */
typedef struct { const double *columns, *weights, *prices; ptrdiff_t stride; } groups_samples;

void groups_block(const double *rows, int d, int product, const pass_costs *costs, const pass_costs *rounding,
                  const groups_limits *limits, groups_known *out);

/* Adds samples from the first up to the last to a cut, of which nothing is lost: y is rounded as csrc/price_kernel.h does. */
void groups_add_samples(const groups_samples *samples, ptrdiff_t first, ptrdiff_t last, int d, const pass_costs *costs,
                        const pass_costs *rounding, const groups_limits *limits, groups_cut *cut);

/* What a price e = price - slopes[0] - sum_j (slopes[1 + j] xi_j + slopes[1 + d + j] xi_j^2) is over samples, xi being what
   they differ from a center (d,) by: its least and largest, and the largest magnitude of its terms. */
typedef struct { double low, high, size; } groups_range;

/* OUT sums: of w, of w f_a for f = (xi, xi^2, e), and of w f_a f_b, b <= a, row by row, over samples from the first up to
   the last. */
void groups_measure(const groups_samples *samples, ptrdiff_t first, ptrdiff_t last, int d, int product,
                    const double *center, const double *slopes, double *sums, groups_range *range);

/* No groups, whose sums are nothing, behind those of the cut: what follows goes by blocks of GROUPS_LANES. */
void groups_pad(groups_cut *cut);
/* Sum of w min(most, 1e300). */
double groups_total(const groups_cut *cut);
/* Of groups with s most >= 1 the sum of w, of the others that of w most. */
void groups_shares(const groups_cut *cut, double s, double *full, double *inner);
/* Sums over the groups of w times the bounds of max(0, y + log s) and min(1, s exp(y)), (U1) and (U2), and what they
   lose. Rounding of a group's bound is in it, that of the sums is not. */
void groups_sum(groups_cut *cut, double s, double log_s, groups_sums *out);
/* Moments at the groups' means, in columns that count min(1, s most): statistics are x, and x^2 where F > d. OUT: parts'
   masses, first (F,), inner_first (F,) and second (F, F), of which the upper triangle is filled. */
void groups_moments(const groups_cut *cut, const double *rows, const groups_samples *samples, int d, int F,
                    const double *centers, double s, double *mass, double *saturated, double *inner, double *first,
                    double *inner_first, double *second);
#endif
