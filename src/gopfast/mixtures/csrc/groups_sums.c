/* See groups.h: sums over the groups of a cut, in GROUPS_LANES parts. No operation is fused. */
#include "clones.h"
#include "groups.h"
#include <math.h>
#include <string.h>

#define EACH for (int l = 0; l < GROUPS_LANES; l++)
#define MOST_STATISTICS 32
#define UNIT 0x1p-53
/* a group whose share is less than this part of the mass says nothing of where to go */
#define LITTLE 1e-12

static inline double largest(double a, double b) { return a > b ? a : b; }
static inline double smallest(double a, double b) { return a < b ? a : b; }

static inline double sum_of(const double *part)
{
    return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
}

void groups_pad(groups_cut *cut)
{
    for (ptrdiff_t i = cut->n; i % GROUPS_LANES; i++) {
        cut->weight[i] = cut->variance[i] = cut->most[i] = cut->least[i] = 0.0;
        cut->mean[i] = cut->low[i] = cut->high[i] = -1.0;
    }
}

CLONES
double groups_total(const groups_cut *cut)
{
    double part[GROUPS_LANES] = {0};
    for (ptrdiff_t i = 0; i < cut->n; i += GROUPS_LANES)
        EACH part[l] += cut->weight[i + l] * smallest(cut->most[i + l], 1e300);
    for (ptrdiff_t i = 0; i < cut->n_blocks * GROUPS_LANES; i += GROUPS_LANES)
        EACH part[l] += cut->sample_weight[i + l] * cut->sample_u[i + l];
    return sum_of(part);
}

CLONES
void groups_shares(const groups_cut *cut, double s, double *full, double *inner)
{
    double ends[GROUPS_LANES] = {0}, rest[GROUPS_LANES] = {0};
    for (ptrdiff_t i = 0; i < cut->n; i += GROUPS_LANES) {
        const double *weight = cut->weight + i, *most = cut->most + i;
        EACH
        {
            const double w = weight[l], at = s * most[l], plain = w * most[l];
            ends[l] += at >= 1 ? w : 0.0;
            rest[l] += at >= 1 ? 0.0 : plain;
        }
    }
    for (ptrdiff_t i = 0; i < cut->n_blocks * GROUPS_LANES; i += GROUPS_LANES) {
        const double *weight = cut->sample_weight + i, *u = cut->sample_u + i;
        EACH
        {
            const double w = weight[l], at = s * u[l], plain = w * u[l];
            ends[l] += at >= 1 ? w : 0.0;
            rest[l] += at >= 1 ? 0.0 : plain;
        }
    }
    *full = sum_of(ends), *inner = sum_of(rest);
}

CLONES
void groups_sum(groups_cut *cut, double s, double log_s, groups_sums *out)
{
    double value[GROUPS_LANES] = {0}, mass[GROUPS_LANES] = {0}, all[GROUPS_LANES] = {0};
    for (ptrdiff_t i = 0; i < cut->n; i += GROUPS_LANES) {
        const double *weight = cut->weight + i, *mean = cut->mean + i, *variance = cut->variance + i;
        const double *lows = cut->low + i, *highs = cut->high + i, *most = cut->most + i, *least = cut->least + i;
        double *lost = cut->lost + i;
        EACH
        {
            const double w = weight[l], V = variance[l];
            const double y = mean[l] + log_s, low = lows[l] + log_s, high = highs[l] + log_s;
            const double positive = largest(y, 0.0), width = high > low ? high - low : 1.0;
            const double root = 0.5 * (y + __builtin_sqrt(y * y + V)), chord = (y - low) * high / width;
            const double across = smallest(root, chord) + 16 * UNIT * (fabs(y) + fabs(low) + high);
            const double bound = low >= 0 ? y : high > 0 ? across : 0.0;
            /* of exponentials below 1 the mean is at least this: (exp(z) - 1 - z) / z^2 lies above 1 / 2 + z / 6 */
            const double more = 1 + V * largest(0.0, 0.5 + (low - y) * (1.0 / 6)), plain = s * least[l];
            const double below = high <= 0 ? plain * more : plain;
            const double share = smallest(1.0, s * most[l]);
            const double of_value = low < 0 && high > 0 ? bound - positive : 0.0;
            const double both = w * (of_value + (share - smallest(1.0, below)));
            value[l] += w * bound;
            mass[l] += w * share;
            lost[l] = both;
            all[l] += both;
        }
    }
    for (ptrdiff_t i = 0; i < cut->n_blocks * GROUPS_LANES; i += GROUPS_LANES) {
        const double *weight = cut->sample_weight + i, *gain = cut->sample_y + i, *u = cut->sample_u + i;
        EACH
        {
            value[l] += weight[l] * largest(0.0, gain[l] + log_s);
            mass[l] += weight[l] * smallest(1.0, s * u[l]);
        }
    }
    out->value = sum_of(value), out->mass = sum_of(mass), out->lost = sum_of(all);
}

typedef struct { double mass[GROUPS_LANES], inner[GROUPS_LANES], phi[MOST_STATISTICS][GROUPS_LANES]; } some;

static inline __attribute__((always_inline))
void add_moments(const some *at, int F, double (*first)[GROUPS_LANES], double (*inner)[GROUPS_LANES],
                        double (*second)[GROUPS_LANES])
{
    for (int f = 0; f < F; f++) {
        double part[GROUPS_LANES];
        EACH
        {
            first[f][l] += at->mass[l] * at->phi[f][l];
            part[l] = at->inner[l] * at->phi[f][l];
            inner[f][l] += part[l];
        }
        for (int j = 0; j <= f; j++, second++)
            EACH (*second)[l] += part[l] * at->phi[j][l];
    }
}

CLONES
void groups_moments(const groups_cut *cut, const double *rows, const groups_samples *samples, int d, int F,
                    const double *centers, double s, double *mass, double *saturated, double *inner, double *first,
                    double *inner_first, double *second)
{
    const int n_rows = groups_n_rows(d), n_second = F * (F + 1) / 2, L = GROUPS_LANES;
    double firsts[MOST_STATISTICS][GROUPS_LANES], inners[MOST_STATISTICS][GROUPS_LANES];
    double seconds[MOST_STATISTICS * (MOST_STATISTICS + 1) / 2][GROUPS_LANES];
    double all = 0, ends = 0, rest = 0;
    some at;
    int lane = 0;
    memset(firsts, 0, sizeof(double) * F * L);
    memset(inners, 0, sizeof(double) * F * L);
    memset(seconds, 0, sizeof(double) * n_second * L);
    memset(&at, 0, sizeof at);
    for (ptrdiff_t i = 0; i < cut->n; i++) {
        const double tau = s * cut->most[i], share = cut->weight[i] * smallest(1.0, tau);
        const ptrdiff_t node = cut->node[i];
        const double *row = rows + (node - node % L) * n_rows + node % L + GROUPS_CENTER * L;
        if (!(share > 0) || share < LITTLE * all) continue;
        all += share;
        ends += tau >= 1 ? cut->weight[i] : 0.0;
        at.mass[lane] = share, at.inner[lane] = tau >= 1 ? 0.0 : share;
        rest += at.inner[lane];
        for (int j = 0; j < d; j++) {
            const double x = row[j * L] - centers[j], mean_xi = row[(d + j) * L];
            at.phi[j][lane] = x + mean_xi;
            if (F > d) at.phi[d + j][lane] = x * (x + 2 * mean_xi) + row[(2 * d + j) * L];
        }
        if (++lane == L) {
            add_moments(&at, F, firsts, inners, seconds);
            memset(at.mass, 0, sizeof at.mass);
            memset(at.inner, 0, sizeof at.inner);
            lane = 0;
        }
    }
    if (lane) add_moments(&at, F, firsts, inners, seconds);
    for (ptrdiff_t b = 0; b < cut->n_blocks; b++) {
        const double *weight = cut->sample_weight + b * L, *u = cut->sample_u + b * L;
        const double *columns = samples->columns + cut->start[b];
        double full[GROUPS_LANES], share;
        EACH
        {
            const double w = weight[l], tau = s * u[l];
            at.mass[l] = w * smallest(1.0, tau);
            at.inner[l] = tau >= 1 ? 0.0 : w * tau;
            full[l] = tau >= 1 ? w : 0.0;
        }
        share = sum_of(at.mass);
        if (!(share > 0) || share < LITTLE * all) continue;
        all += share, ends += sum_of(full), rest += sum_of(at.inner);
        for (int j = 0; j < d; j++) {
            const double *x = columns + j * samples->stride, center = centers[j];
            EACH at.phi[j][l] = x[l] - center;
            if (F > d) EACH at.phi[d + j][l] = at.phi[j][l] * at.phi[j][l];
        }
        add_moments(&at, F, firsts, inners, seconds);
    }
    *mass = all, *saturated = ends, *inner = rest;
    memset(second, 0, sizeof(double) * F * F);
    const double (*next)[GROUPS_LANES] = (const double (*)[GROUPS_LANES])seconds;
    for (int f = 0; f < F; f++) {
        first[f] = sum_of(firsts[f]), inner_first[f] = sum_of(inners[f]);
        for (int j = 0; j <= f; j++) second[j * F + f] = sum_of(*next++);
    }
}
