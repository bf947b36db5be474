/* See groups.h. Plain loops over eight lanes, which the compiler makes vectors of; no operation is fused, so that all
   instruction sets round alike. */
#include "clones.h"
#include "groups.h"
#include <math.h>
#include <string.h>

#define EACH for (int l = 0; l < GROUPS_LANES; l++)
#define MOST_COLUMNS 16
#define UNIT 0x1p-53

static inline double largest(double a, double b) { return a > b ? a : b; }
static inline double smallest(double a, double b) { return a < b ? a : b; }

/* Where a loop over the lanes is taken for one over something else. */
typedef double lanes __attribute__((vector_size(8 * GROUPS_LANES)));
static inline lanes load(const double *p) { lanes v; memcpy(&v, p, sizeof v); return v; }

/* exp(x), |x| <= 700, to 8 units in the last place. x = n log 2 + r, |r| <= 0.3466; Taylor to r^13, remainder 4e-18. */
static inline double exponential(double x)
{
    const double t = x * 0x1.71547652b82fep0 + 0x1.8p52, n = t - 0x1.8p52;
    const double r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40, y = r * r;
    double odd = 1.0 / 6227020800.0, even = 1.0 / 479001600.0, p;
    long long bits, power;
    odd = odd * y + 1.0 / 39916800.0;
    odd = odd * y + 1.0 / 362880.0;
    odd = odd * y + 1.0 / 5040.0;
    odd = odd * y + 1.0 / 120.0;
    odd = odd * y + 1.0 / 6.0;
    even = even * y + 1.0 / 3628800.0;
    even = even * y + 1.0 / 40320.0;
    even = even * y + 1.0 / 720.0;
    even = even * y + 1.0 / 24.0;
    even = even * y + 0.5;
    p = 1.0 + (r + y * (even + r * odd));
    memcpy(&bits, &p, sizeof p);
    memcpy(&power, &t, sizeof t);
    bits = (long long)((unsigned long long)bits + ((unsigned long long)power << 52));
    memcpy(&p, &bits, sizeof p);
    return p;
}

/* E exp(y) <= exp(mean) (1 + V / (2 (1 - above / 3))) where no y is further above, by Bernstein's series. */
static inline __attribute__((always_inline))
void exponentials(const groups_limits *limits, groups_known *known)
{
    const double first = limits->least_exponent, last = limits->largest_exponent;
    EACH
    {
        const double mean = known->mean[l], high = known->high[l], above = largest(0.0, high - mean);
        const double least = exponential(smallest(last, largest(first, mean)));
        const double end = exponential(smallest(last, largest(first, high))) * (1 + 64 * UNIT);
        const double part = above < limits->near ? 2 - above * (2.0 / 3) : 1.0;
        const double middle = least * (1 + known->variance[l] / part) * (1 + 64 * UNIT);
        known->least[l] = least;
        known->most[l] = above < limits->near ? smallest(middle, end) : end;
    }
}

static inline __attribute__((always_inline))
void block(const double *rows, const int d, const int product, const pass_costs *costs, const pass_costs *rounding,
           const groups_limits *limits, groups_known *out)
{
    const int D = 2 * d + 1, nothing = 2 * d - 1; /* a product's square, whose slope is 0 */
    const double *center = rows + GROUPS_CENTER * GROUPS_LANES, *mean_xi = center + d * GROUPS_LANES;
    const double *mean_square = mean_xi + d * GROUPS_LANES, *gamma = mean_square + d * GROUPS_LANES;
    const double *delta = gamma + d * GROUPS_LANES, *least = delta + d * GROUPS_LANES;
    const double *most = least + d * GROUPS_LANES, *cov = most + d * GROUPS_LANES;
    const double *alpha = rows + GROUPS_ALPHA * GROUPS_LANES, *mean_e = rows + GROUPS_MEAN_E * GROUPS_LANES;
    const double *low_e = rows + GROUPS_LOW_E * GROUPS_LANES, *high_e = rows + GROUPS_HIGH_E * GROUPS_LANES;
    const double *kappa = rows + GROUPS_KAPPA * GROUPS_LANES, *sizes = rows + GROUPS_SIZE * GROUPS_LANES;
    double slope[2 * MOST_COLUMNS + 1][GROUPS_LANES]; /* of y by xi, xi^2 and e */
    double base[GROUPS_LANES], size[GROUPS_LANES], reach[GROUPS_LANES], moved[GROUPS_LANES];
    double lo[GROUPS_LANES], hi[GROUPS_LANES], mid[GROUPS_LANES], V[GROUPS_LANES];
    lanes all = {0};
    /* what a product adds to the costs' slopes by its factors, and to how far it is from its center */
    double tilt[MOST_COLUMNS][GROUPS_LANES], farther[MOST_COLUMNS][GROUPS_LANES];
    const double by_product = product ? costs->linear[2] : 0.0;

    EACH
    {
        const double e = largest(fabs(low_e[l]), fabs(high_e[l]));
        base[l] = alpha[l] + costs->offsets[0];
        size[l] = sizes[l] + fabs(alpha[l]) + fabs(costs->offsets[0]) + e;
        reach[l] = e;
        moved[l] = rounding->offsets[0];
        lo[l] = low_e[l], hi[l] = high_e[l], mid[l] = mean_e[l];
        slope[2 * d][l] = 1.0;
    }
    for (int j = 0; j < d; j++) EACH tilt[j][l] = farther[j][l] = 0.0;
    if (product) {
        EACH
        {
            const double x = center[l], y = center[GROUPS_LANES + l];
            const double far = (fabs(x) + largest(fabs(least[l]), fabs(most[l])))
                               * (fabs(y) + largest(fabs(least[GROUPS_LANES + l]), fabs(most[GROUPS_LANES + l])));
            tilt[0][l] = by_product * y;
            tilt[1][l] = by_product * x;
            farther[2][l] = far;
            /* x y - c = xi_x xi_y + x_g xi_y + y_g xi_x + (x_g y_g - c), but for the rounding of the column */
            size[l] += 4.0 * fabs(by_product) * far;
        }
    }
    for (int j = 0; j < d; j++) {
        const double c0 = costs->centers[j], linear = costs->linear[j], quadratic = costs->quadratic[j];
        const double e1 = rounding->linear[j], e2 = rounding->quadratic[j];
        const int r = j * GROUPS_LANES;
        EACH
        {
            const double a = center[r + l] - c0, x0 = least[r + l], x1 = most[r + l];
            const double widest = largest(fabs(x0), fabs(x1)), z = fabs(a) + widest + farther[j][l];
            const double b = gamma[r + l] - (linear + 2.0 * quadratic * a) - tilt[j][l], q = delta[r + l] - quadratic;
            const double divisor = q == 0.0 ? 1.0 : q;
            const double vertex = smallest(x1, largest(x0, -0.5 * b / divisor));
            const double at0 = x0 * (b + q * x0), at1 = x1 * (b + q * x1), at2 = vertex * (b + q * vertex);
            const double terms = (fabs(gamma[r + l]) + fabs(linear) + 2.0 * fabs(quadratic * a)
                                  + (fabs(delta[r + l]) + fabs(quadratic)) * widest) * widest;
            slope[j][l] = b;
            slope[d + j][l] = q;
            base[l] -= a * (linear + quadratic * a);
            size[l] += terms + z * (fabs(linear) + fabs(quadratic) * z);
            reach[l] += (fabs(b) + fabs(q) * widest) * widest;
            moved[l] += z * (e1 + e2 * z);
            mid[l] += b * mean_xi[r + l] + q * mean_square[r + l];
            lo[l] += smallest(smallest(at0, at1), at2);
            hi[l] += largest(largest(at0, at1), at2);
        }
    }
#pragma GCC unroll 8
    for (int a = 0; a < D; a++) {
        const double *line = cov + a * (a + 1) / 2 * GROUPS_LANES;
        if (product && a == nothing) continue;
        lanes sum = {0};
        const lanes own = load(slope[a]);
#pragma GCC unroll 8
        for (int b = 0; b < a; b++)
            if (!product || b != nothing) sum += load(line + b * GROUPS_LANES) * load(slope[b]);
        all += own * (2.0 * sum + load(line + a * GROUPS_LANES) * own);
    }
    memcpy(V, &all, sizeof all);
    EACH
    {
        const double error = moved[l] * (1.0 + 0x1p-40) + 128.0 * UNIT * size[l] + kappa[l] * reach[l];
        /* 3: samples moved up by what the mean may be too large by are no further up than this */
        const double top = base[l] + hi[l] + 3.0 * error, least_y = base[l] + lo[l] - error;
        const double m = smallest(top, largest(least_y, base[l] + mid[l] + error));
        out->variance[l] = largest(V[l], 0.0) * (1.0 + 0x1p-45) + kappa[l] * reach[l] * reach[l];
        out->mean[l] = m, out->low[l] = least_y, out->high[l] = top;
    }
    exponentials(limits, out);
}

/* Constant numbers of columns let the compiler unroll the loops over them. */
CLONES
void groups_block(const double *rows, int d, int product, const pass_costs *costs, const pass_costs *rounding,
                  const groups_limits *limits, groups_known *out)
{
    if (product) block(rows, 3, 1, costs, rounding, limits, out);
    else if (d == 2) block(rows, 2, 0, costs, rounding, limits, out);
    else if (d == 3) block(rows, 3, 0, costs, rounding, limits, out);
    else if (d == 4) block(rows, 4, 0, costs, rounding, limits, out);
    else if (d == 5) block(rows, 5, 0, costs, rounding, limits, out);
    else block(rows, d, 0, costs, rounding, limits, out);
}

CLONES
void groups_add_samples(const groups_samples *samples, ptrdiff_t first, ptrdiff_t last, int d, const pass_costs *costs,
                        const pass_costs *rounding, const groups_limits *limits, groups_cut *cut)
{
    const double least = limits->least_exponent, largest_exponent = limits->largest_exponent;
    for (ptrdiff_t start = first; start < last; start += GROUPS_LANES) {
        const double *price = samples->prices + start, *weight = samples->weights + start;
        double cost[GROUPS_LANES], error[GROUPS_LANES];
        double *y = cut->sample_y + cut->n_blocks * GROUPS_LANES, *u = cut->sample_u + cut->n_blocks * GROUPS_LANES;
        double *w = cut->sample_weight + cut->n_blocks * GROUPS_LANES;
        EACH cost[l] = -costs->offsets[0], error[l] = rounding->offsets[0];
        for (int j = 0; j < d; j++) {
            const double *x = samples->columns + j * samples->stride + start;
            const double center = costs->centers[j], linear = costs->linear[j], quadratic = costs->quadratic[j];
            const double e1 = rounding->linear[j], e2 = rounding->quadratic[j];
            EACH
            {
                const double z = x[l] - center, size = fabs(z);
                cost[l] += z * (linear + quadratic * z);
                error[l] += size * (e1 + e2 * size);
            }
        }
        EACH
        {
            y[l] = (price[l] - cost[l]) + (error[l] + fabs(price[l]) * 0x1p-50);
            u[l] = exponential(smallest(largest_exponent, largest(least, y[l]))) * (1 + 64 * UNIT);
            w[l] = weight[l];
        }
        for (ptrdiff_t l = last - start; l < GROUPS_LANES; l++) y[l] = -INFINITY, u[l] = w[l] = 0.0;
        cut->start[cut->n_blocks++] = start;
    }
}

static inline __attribute__((always_inline))
void measure(const groups_samples *samples, ptrdiff_t first, ptrdiff_t last, const int d, const int product,
             const double *center, const double *slopes, double *sums, groups_range *range)
{
    const int D = 2 * d + 1, M = 1 + D + D * (D + 1) / 2;
    lanes all[1 + 2 * MOST_COLUMNS + 1 + (2 * MOST_COLUMNS + 1) * (MOST_COLUMNS + 1)], f[2 * MOST_COLUMNS + 1];
    double low[GROUPS_LANES], high[GROUPS_LANES], size[GROUPS_LANES];
    memset(all, 0, sizeof(lanes) * M);
    EACH low[l] = INFINITY, high[l] = -INFINITY, size[l] = 0.0;
    for (ptrdiff_t start = first; start < last; start += GROUPS_LANES) {
        double x[MOST_COLUMNS][GROUPS_LANES], price[GROUPS_LANES], w[GROUPS_LANES], terms[GROUPS_LANES], e[GROUPS_LANES];
        ptrdiff_t at[GROUPS_LANES];
        const int is_whole = start + GROUPS_LANES <= last;
        /* the last sample again, of no weight, behind the last */
        EACH at[l] = start + l < last ? start + l : last - 1;
        if (is_whole) {
            EACH w[l] = samples->weights[start + l], price[l] = samples->prices[start + l];
            for (int j = 0; j < d; j++) EACH x[j][l] = samples->columns[j * samples->stride + start + l] - center[j];
        } else {
            EACH w[l] = start + l < last ? samples->weights[at[l]] : 0.0, price[l] = samples->prices[at[l]];
            for (int j = 0; j < d; j++) EACH x[j][l] = samples->columns[j * samples->stride + at[l]] - center[j];
        }
        if (product) EACH x[2][l] = x[0][l] * x[1][l];
        EACH e[l] = price[l] - slopes[0], terms[l] = fabs(price[l]);
        for (int j = 0; j < d; j++) {
            const double by = slopes[1 + j], square = slopes[1 + d + j];
            EACH
            {
                const double z = x[j][l];
                e[l] -= by * z + square * z * z;
                terms[l] = largest(terms[l], fabs(by * z) + fabs(square) * z * z);
            }
            f[j] = load(x[j]), f[d + j] = f[j] * f[j];
        }
        f[D - 1] = load(e);
        EACH
        {
            low[l] = smallest(low[l], e[l]), high[l] = largest(high[l], e[l]), size[l] = largest(size[l], terms[l]);
        }
        const lanes weight = load(w);
        lanes *square = all + 1 + D;
        all[0] += weight;
#pragma GCC unroll 8
        for (int a = 0; a < D; a++) {
            const lanes own = weight * f[a];
            all[1 + a] += own;
#pragma GCC unroll 8
            for (int b = 0; b <= a; b++) *square++ += own * f[b];
        }
    }
    for (int m = 0; m < M; m++) {
        double part[GROUPS_LANES];
        memcpy(part, &all[m], sizeof part);
        sums[m] = ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
    }
    range->low = INFINITY, range->high = -INFINITY, range->size = 0.0;
    EACH
    {
        range->low = smallest(range->low, low[l]), range->high = largest(range->high, high[l]);
        range->size = largest(range->size, size[l]);
    }
}

CLONES
void groups_measure(const groups_samples *samples, ptrdiff_t first, ptrdiff_t last, int d, int product,
                    const double *center, const double *slopes, double *sums, groups_range *range)
{
    if (product) measure(samples, first, last, 3, 1, center, slopes, sums, range);
    else if (d == 2) measure(samples, first, last, 2, 0, center, slopes, sums, range);
    else if (d == 3) measure(samples, first, last, 3, 0, center, slopes, sums, range);
    else measure(samples, first, last, d, 0, center, slopes, sums, range);
}
