/* Data passes over the samples of a mixture: exponentials, log-sum-exp, moments.
 * Theory: (E8) of docs/theory/entropic.md. */
#ifndef GOPFAST_PASS_H
#define GOPFAST_PASS_H
#include <stddef.h>

#define PASS_BLOCK 128 /* samples per block: the block's arrays stay in the L1 cache */
#define PASS_PAD 8     /* columns are padded to a multiple of this, with weight 0 */

/* Range of the vector exponential: that of the least is a normal number, 10^4 times that of the largest is finite. */
#define PASS_LEAST_EXPONENT (-708.0)
/* Where all weights but 0 are at least PASS_LEAST_WEIGHT, components that cost a sample more than this above its best one
   are taken to cost this: relative to its density less than 1e-160. Products of smaller exponentials would be subnormal
   numbers, that processors take a hundred times as long for. */
#define PASS_LEAST_TERM (-600.0)
#define PASS_LEAST_WEIGHT 1e-100
#define PASS_LARGEST_EXPONENT 700.0

/* Relative error bound of the vector exponential on [-708, 0], in units of 2^-53. */
#define PASS_EXP_ULPS 4.0
/* Relative error bound of the vector logarithm on [2^-1021, 2^1023]. */
#define PASS_LOG_ULPS 6.0

typedef enum { PASS_VALUE = 0, PASS_MOMENTS = 1, PASS_HESSIAN = 2, PASS_WEIGHTS = 3 } pass_level;
/* Added to a level, of all samples at once: the exponentials are kept behind the scratch, or those kept by the last such
   pass, of the same costs, are taken. Weights may differ, if all are positive. */
#define PASS_KEEP 8
#define PASS_AGAIN 16

/* IN: the samples, one padded column per coordinate, and their weights.
   The statistics phi of a sample are its coordinates z and, with `squares`, also their squares. */
typedef struct {
    ptrdiff_t n_padded;
    int n_columns;
    int squares;
    const double *columns; /* n_columns columns of n_padded values */
    const double *weights; /* n_padded values, 0 for the padding */
} pass_data;

/* Costs of the components: c_ik = each_ik + sum_j z_j (linear_kj + quadratic_kj z_j) - offset_k, z = x_i - center_k. */
typedef struct {
    double *centers;   /* (K, n_columns) */
    double *linear;    /* (K, n_columns) */
    double *quadratic; /* (K, n_columns) */
    double *offsets;   /* (K,) */
    double *each;      /* (K, n_padded) what each sample costs by itself; NULL: nothing */
} pass_costs;

/* OUT: sums over the samples, with phi about center_k, F statistics, r = responsibilities. */
typedef struct {
    double value;     /* - sum_i w_i log p_i */
    double magnitude; /* sum_i w_i (|c_min,i| + |log s_i|): scale of the rounding error of value */
    double *density;  /* (K,) D_k = sum_i w_i exp(-c_ik) / p_i */
    double *first;    /* (K, F) sum_i w_i r_ik phi */
    double *second;   /* (K, F, F) sum_i w_i r_ik phi phi', upper triangle; the diagonal only below PASS_HESSIAN */
    double *gram;     /* (m, m), m = K(1+F): sum_i w_i a_i a_i', a = (r_k, r_k phi), upper triangle; for PASS_WEIGHTS,
                         which has no moments, (K, K), a = exp(-c_ik) / p_i: the Hessian of the weights */
} pass_sums;

static inline int pass_n_statistics(const pass_data *data) { return data->n_columns * (1 + (data->squares != 0)); }

/* Number of doubles of scratch that a pass with K components and F statistics needs. */
static inline size_t pass_scratch_size(int n_components, int n_statistics)
{
    size_t rows = (size_t)n_components * (1 + 2 * (1 + n_statistics));
    return (rows + 2) * PASS_BLOCK + n_components;
}

/* Number of doubles behind the scratch for the exponentials of all samples. */
static inline size_t pass_kept_size(ptrdiff_t n_padded, int n_components)
{
    return ((size_t)n_padded + PASS_BLOCK - 1) / PASS_BLOCK * PASS_BLOCK * ((size_t)n_components + 1);
}

/* Adds nothing: OUT is overwritten. p_i = sum_k weight_k exp(-c_ik). At least one weight must be positive. */
void pass_run(const pass_data *data, ptrdiff_t begin, ptrdiff_t end, int n_components, const pass_costs *costs,
              const double *weights, pass_level level, double *scratch, pass_sums *out);

/* Vector exponential and logarithm on arrays, for tests and benchmarks. n is a multiple of 8. */
void pass_exp(ptrdiff_t n, const double *x, double *y);
void pass_log(ptrdiff_t n, const double *x, double *y);

/* Instruction sets, from the narrowest vectors to the widest. */
typedef enum { PASS_PORTABLE = 0, PASS_AVX2 = 1, PASS_AVX512 = 2 } pass_isa_kind;
/* Name of the one that runs: "avx512", "avx2" or "portable". */
const char *pass_isa(void);
/* Runs none wider than this one. Not while a pass runs. */
void pass_limit_isa(int at_most);
#endif
