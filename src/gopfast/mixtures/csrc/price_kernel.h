/* The pricing pass, included after pass_kernel.h by the file of each instruction set.
 * Theory: (P2) and (P3) of docs/theory/prices.md. */

/* Relative rounding of a sum of nonnegative terms: 64 u of the sum (u = 2^-53) and 8 u of its terms, rounded up. */
#define SUM_ROUNDING 0x1p-46
/* Newton steps to the root: at most so many, or until one moves it by no more than this part of it. Any s gives a
   bound. */
#define MOST_ROOT_STEPS 50
#define ROOT_TOLERANCE 1e-13
/* A root is sought where no exponential was capped, and taken where it is far from underflow; else s = 1. */
#define LARGEST_ROOT_EXPONENT 690
#define LEAST_ROOT 1e-290
/* Exponentials below that of this are raised to it, which a bound may: far samples' products would be subnormal numbers,
   that processors take a hundred times as long for. It adds 1e-87 of the samples' weight, which rounding takes in. */
#define LEAST_EXPONENT (-200.0)
/* Moments leave out blocks of samples of less than this part of the mass: they only say where to go next. */
#define TOO_LITTLE 1e-14

/* OUT t (n_padded,), rounded up, and u = exp(t) (n_padded,); returns the largest t.
   OUT sum_wu, sum_positive: sums of w u and of w max(0, t); about, at a scale s, those of w where s u >= 1, and of w u
   elsewhere. */
INLINE double NAME(price_exponentials)(const pass_data *data, const int d, const double *prices,
                                       const pass_costs *costs, const pass_costs *rounding, double *t_out,
                                       double *u_out, double *sum_wu, double *sum_positive, double s,
                                       double *saturated, double *inner)
{
    compensated total = {0, 0}, positive = {0, 0};
    NAME(vec) most = NAME(set)(-INFINITY), ends = {0}, rest = {0};
    for (ptrdiff_t start = 0; start < data->n_padded; start += PASS_BLOCK) {
        const ptrdiff_t n = data->n_padded - start < PASS_BLOCK ? data->n_padded - start : PASS_BLOCK;
        NAME(vec) sum = {0}, sum_t = {0};
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            NAME(vec) c = NAME(set)(-costs->offsets[0]), e = NAME(set)(rounding->offsets[0]);
            for (int j = 0; j < d; j++) {
                NAME(vec) z = NAME(load)(data->columns + j * data->n_padded + start + i) - costs->centers[j];
                NAME(vec) size = NAME(abs)(z);
                c += z * (costs->linear[j] + costs->quadratic[j] * z);
                e += size * (rounding->linear[j] + rounding->quadratic[j] * size);
            }
            if (costs->each) c += NAME(load)(costs->each + start + i);
            NAME(vec) price = NAME(load)(prices + start + i), w = NAME(load)(data->weights + start + i);
            NAME(vec) t = (price - c) + (e + NAME(abs)(price) * 0x1p-50);
            NAME(vec) exponent = NAME(select)(t < PASS_LARGEST_EXPONENT, t, NAME(set)(PASS_LARGEST_EXPONENT));
            NAME(vec) u = NAME(exp8)(NAME(select)(exponent > LEAST_EXPONENT, exponent, NAME(set)(LEAST_EXPONENT)));
            NAME(store)(t_out + start + i, t);
            NAME(store)(u_out + start + i, u);
            NAME(vec) wu = w * u;
            NAME(ivec) full = s * u >= 1.0;
            sum += wu;
            ends += NAME(select)(full, w, NAME(set)(0.0));
            rest += NAME(select)(full, NAME(set)(0.0), wu);
            sum_t += NAME(select)(t > 0.0, w * t, NAME(set)(0.0));
            most = NAME(select)(t > most, t, most);
        }
        add(&total, NAME(total)(sum));
        add(&positive, NAME(total)(sum_t));
    }
    *sum_wu = total.sum + total.lost;
    *sum_positive = positive.sum + positive.lost;
    *saturated = NAME(total)(ends), *inner = NAME(total)(rest);
    double lanes[LANES], largest = -INFINITY;
    memcpy(lanes, &most, sizeof most);
    for (int i = 0; i < LANES; i++) largest = lanes[i] > largest ? lanes[i] : largest;
    return largest;
}

/* The root s in (0, 1] of sum_i w_i min(1, s u_i) = W s by Newton's method, which descends to it from above: the
   function is concave and piecewise linear. Needs sum_i w_i u_i > W; `a` and `inner` are the sums at the first s. */
INLINE double NAME(price_root)(ptrdiff_t n, double W, const double *w, const double *u, double s, double a,
                               double inner)
{
    for (int turn = 0; turn < MOST_ROOT_STEPS; turn++) {
        if (turn > 0) {
            NAME(vec) saturated = {0}, sum = {0};
            for (ptrdiff_t i = 0; i < n; i += LANES) {
                NAME(vec) wi = NAME(load)(w + i), ui = NAME(load)(u + i), zero = NAME(set)(0.0);
                NAME(ivec) full = s * ui >= 1.0;
                saturated += NAME(select)(full, wi, zero);
                sum += NAME(select)(full, zero, wi * ui);
            }
            a = NAME(total)(saturated), inner = NAME(total)(sum);
        }
        const double rest = W - inner;
        if (!(rest > 0)) { /* left of the peak: from above again */
            if (s >= 1) return 1;
            s = 1;
            continue;
        }
        const double next = a / rest < 1 ? a / rest : 1;
        if (fabs(next - s) <= ROOT_TOLERANCE * s) return next > s ? next : s;
        if (!(next > 0)) return s;
        s = next;
    }
    return s;
}

INLINE void NAME(price_body)(const pass_data *data, double W, const int d, const double *prices,
                             const pass_costs *costs, const pass_costs *rounding, double *scratch, price_sums *out)
{
    const ptrdiff_t n_padded = data->n_padded;
    double *t = scratch, *u = t + n_padded;
    const double begin = out->scale > 0 && out->scale < 1 ? out->scale : 1;
    double sum_wu, positive, s = 1, most, at_first, inner_first;
    compensated value = {0, 0}, mass = {0, 0}, saturated = {0, 0}, inner = {0, 0};

    most = NAME(price_exponentials)(data, d, prices, costs, rounding, t, u, &sum_wu, &positive, begin,
                                   &at_first, &inner_first);
    out->value = out->mass = out->saturated = out->inner = 0;
    if (sum_wu * (1 + SUM_ROUNDING) <= W) { /* no column pays */
        out->scale = 0;
        return;
    }
    if (most < LARGEST_ROOT_EXPONENT) s = NAME(price_root)(n_padded, W, data->weights, u, begin, at_first, inner_first);
    if (!(s > LEAST_ROOT)) s = 1; /* above every root */
    double log_s = log(s);
    log_s += 0x1p-51 * fabs(log_s);

    for (ptrdiff_t start = 0; start < n_padded; start += PASS_BLOCK) {
        const ptrdiff_t n = n_padded - start < PASS_BLOCK ? n_padded - start : PASS_BLOCK;
        NAME(vec) sum_value = {0}, sum_full = {0}, sum_in = {0}, sum_mass = {0}, zero = {0};
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            NAME(vec) w = NAME(load)(data->weights + start + i), su = s * NAME(load)(u + start + i);
            NAME(vec) gain = NAME(load)(t + start + i) + log_s;
            NAME(ivec) full = su >= 1.0;
            NAME(vec) wt = NAME(select)(full, w, w * su), wi = NAME(select)(full, zero, w * su);
            sum_value += NAME(select)(gain > 0.0, w * gain, zero);
            sum_full += NAME(select)(full, w, zero);
            sum_mass += wt;
            sum_in += wi;
        }
        add(&value, NAME(total)(sum_value));
        add(&saturated, NAME(total)(sum_full));
        add(&mass, NAME(total)(sum_mass));
        add(&inner, NAME(total)(sum_in));
    }
    out->scale = s;
    out->mass = mass.sum + mass.lost;
    out->saturated = saturated.sum + saturated.lost;
    out->inner = inner.sum + inner.lost;
    /* Terms are nonnegative: relative errors of sums below 64 u = 2^-47, of tau (exponential, product) 8 u more.
       The total weight's own rounding, relative, is below that too: S log W moves by no more than W times it.
       Where s is below the root of the exact values, tau gives S / W in its place: W log(S / (W s)) more. */
    out->value = (value.sum + value.lost) * (1 + SUM_ROUNDING);
    const double ratio = out->mass * (1 + 0x1p-45) / (W * s);
    if (ratio > 1) out->value += W * (log(ratio) * (1 + 0x1p-40));
    out->value += W * SUM_ROUNDING;
    positive *= 1 + SUM_ROUNDING; /* the value at s = 1, which is above every root */
    if (positive < out->value) out->value = positive;
}

/* Adds a' b of n samples in each lane, a of some rows and b of others, to sums (rows, others), for rows after the others
   or, if these are the same, up to each row: constants. */
INLINE void NAME(price_tile)(const double *a, const int rows, const double *b, const int others, const int same,
                             ptrdiff_t n, double *sums, const ptrdiff_t stride)
{
    NAME(vec) part[4][4];
    for (int f = 0; f < rows; f++)
        for (int l = 0; l < (same ? f + 1 : others); l++) part[f][l] = NAME(load)(sums + (f * stride + l) * LANES);
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        NAME(vec) right[4];
        for (int l = 0; l < others; l++) right[l] = NAME(load)(b + l * PASS_BLOCK + i);
        for (int f = 0; f < rows; f++) {
            const NAME(vec) left = NAME(load)(a + f * PASS_BLOCK + i);
            for (int l = 0; l < (same ? f + 1 : others); l++) part[f][l] += left * right[l];
        }
    }
    for (int f = 0; f < rows; f++)
        for (int l = 0; l < (same ? f + 1 : others); l++) NAME(store)(sums + (f * stride + l) * LANES, part[f][l]);
}

/* The same of four rows or what is left of them, with all up to these. */
INLINE void NAME(price_tiles)(const double *a, const double *b, const int f, const int rows, ptrdiff_t n, double *sums,
                              const ptrdiff_t F)
{
    const double *own = a + (size_t)f * PASS_BLOCK;
    for (int l = 0; l < f; l += 4)
        NAME(price_tile)(own, rows, b + (size_t)l * PASS_BLOCK, 4, 0, n, sums + (f * F + l) * LANES, F);
    NAME(price_tile)(own, rows, b + (size_t)f * PASS_BLOCK, rows, 1, n, sums + (f * F + f) * LANES, F);
}

TARGET void NAME(price_moments)(const pass_data *data, const pass_costs *costs, price_level level, double *scratch,
                                price_sums *out)
{
    const int d = data->n_columns, F = pass_n_statistics(data);
    const ptrdiff_t n_padded = data->n_padded;
    const double *u = scratch + n_padded, s = out->scale;
    double *tau = scratch + 2 * n_padded, *in = tau + PASS_BLOCK, *phis = in + PASS_BLOCK;
    double *weighted = phis + (size_t)F * PASS_BLOCK, *first = weighted + (size_t)F * PASS_BLOCK;
    double *inner = first + F * LANES, *second = inner + F * LANES; /* in each lane */

    memset(first, 0, (size_t)(F + 2) * F * LANES * sizeof(double));
    for (ptrdiff_t start = 0; s > 0 && start < n_padded; start += PASS_BLOCK) {
        const ptrdiff_t n = n_padded - start < PASS_BLOCK ? n_padded - start : PASS_BLOCK;
        NAME(vec) all = {0}, part = {0}, zero = {0};
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            NAME(vec) w = NAME(load)(data->weights + start + i), su = s * NAME(load)(u + start + i);
            NAME(ivec) full = su >= 1.0;
            NAME(vec) wt = NAME(select)(full, w, w * su), wi = NAME(select)(full, zero, w * su);
            all += wt;
            part += wi;
            NAME(store)(tau + i, wt);
            NAME(store)(in + i, wi);
        }
        if (!(NAME(total)(all) > TOO_LITTLE * out->mass)) continue;
        for (int f = 0; f < F; f++) {
            const int j = f < d ? f : f - d;
            const double *x = data->columns + j * n_padded + start;
            const double center = costs->centers[j];
            double *row = phis + (size_t)f * PASS_BLOCK, *other = weighted + (size_t)f * PASS_BLOCK;
            NAME(vec) sum = NAME(load)(first + f * LANES), sum_in = NAME(load)(inner + f * LANES);
            for (ptrdiff_t i = 0; i < n; i += LANES) {
                NAME(vec) phi = NAME(load)(x + i) - center;
                if (f >= d) phi = phi * phi;
                NAME(vec) share = NAME(load)(in + i) * phi;
                sum += NAME(load)(tau + i) * phi;
                sum_in += share;
                NAME(store)(row + i, phi);
                NAME(store)(other + i, share);
            }
            NAME(store)(first + f * LANES, sum);
            NAME(store)(inner + f * LANES, sum_in);
        }
        if (level < PRICE_HESSIAN || !(NAME(total)(part) > TOO_LITTLE * out->mass)) continue;
        int f = 0;
        for (; f + 3 < F; f += 4) NAME(price_tiles)(weighted, phis, f, 4, n, second, F);
        if (F - f == 3) NAME(price_tiles)(weighted, phis, f, 3, n, second, F);
        else if (F - f == 2) NAME(price_tiles)(weighted, phis, f, 2, n, second, F);
        else if (F - f == 1) NAME(price_tiles)(weighted, phis, f, 1, n, second, F);
    }
    for (int f = 0; f < F; f++) {
        out->first[f] = NAME(total)(NAME(load)(first + f * LANES));
        out->inner_first[f] = NAME(total)(NAME(load)(inner + f * LANES));
    }
    if (level < PRICE_HESSIAN) return;
    memset(out->second, 0, (size_t)F * F * sizeof(double));
    for (int f = 0; f < F; f++)
        for (int l = 0; l <= f; l++) out->second[l * F + f] = NAME(total)(NAME(load)(second + (f * F + l) * LANES));
}

/* A constant d lets the compiler unroll the loops over coordinates. */
TARGET void NAME(price_run)(const pass_data *data, double W, const double *prices, const pass_costs *costs,
                               const pass_costs *rounding, price_level level, double *scratch, price_sums *out)
{
    const int d = data->n_columns;
    if (d == 1) NAME(price_body)(data, W, 1, prices, costs, rounding, scratch, out);
    else if (d == 2) NAME(price_body)(data, W, 2, prices, costs, rounding, scratch, out);
    else if (d == 3) NAME(price_body)(data, W, 3, prices, costs, rounding, scratch, out);
    else if (d == 4) NAME(price_body)(data, W, 4, prices, costs, rounding, scratch, out);
    else if (d == 5) NAME(price_body)(data, W, 5, prices, costs, rounding, scratch, out);
    else NAME(price_body)(data, W, d, prices, costs, rounding, scratch, out);
    if (level >= PRICE_MOMENTS) NAME(price_moments)(data, costs, level, scratch, out);
}

TARGET void NAME(price_side)(ptrdiff_t n_padded, double W, const double *weights, const double *prices,
                             const double *above, const double *slopes, double sign, double log_s, double *costs,
                             double *value)
{
    const NAME(vec) zero = {0}, least = NAME(set)(LEAST_EXPONENT), lower = NAME(set)(log_s);
    const double size = fabs(log_s);
    compensated gained = {0, 0}, mass = {0, 0};
    for (ptrdiff_t start = 0; start < n_padded; start += PASS_BLOCK) {
        const ptrdiff_t end = n_padded - start < PASS_BLOCK ? n_padded : start + PASS_BLOCK;
        NAME(vec) sum_gain = {0}, sum_mass = {0};
        for (ptrdiff_t i = start; i < end; i += LANES) {
            NAME(vec) g = NAME(load)(slopes + i), w = NAME(load)(weights + i), price = NAME(load)(prices + i);
            NAME(vec) c = NAME(load)(above + i) + (NAME(abs)(g) - g * sign);
            NAME(store)(costs + i, c);
            NAME(vec) t = ((price - c) + lower) + (NAME(abs)(price) + NAME(abs)(c) + size) * 0x1p-50;
            NAME(vec) below = NAME(select)(t < 0.0, t, zero);
            sum_gain += w * (t - below);
            sum_mass += w * NAME(exp8)(NAME(select)(below > least, below, least));
        }
        add(&gained, NAME(total)(sum_gain));
        add(&mass, NAME(total)(sum_mass));
    }
    /* as of price_body: sums of nonnegative terms */
    const double more = log((mass.sum + mass.lost) * (1 + SUM_ROUNDING) / W) - log_s;
    *value = (gained.sum + gained.lost) * (1 + SUM_ROUNDING) + W * SUM_ROUNDING;
    if (more + size * 0x1p-50 > -0x1p-45) *value += W * ((more + size * 0x1p-50) * (1 + 0x1p-40) + 0x1p-44);
}
