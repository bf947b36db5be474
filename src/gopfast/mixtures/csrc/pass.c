/* Which instruction set a pass runs on. */
#include "pass_variants.h"

/* GCC for Windows keeps the stack aligned to 16 bytes only, where vectors of AVX want 32 (its bug 54412). */
#if defined(__x86_64__) && (!defined(_WIN32) || defined(__clang__))
static int widest = PASS_AVX512; /* that may be used of those the machine has: less only in tests and counts */

static int isa(void)
{
    static int cached = -1; /* a race writes the same value twice */
    if (cached < 0) {
        __builtin_cpu_init();
        cached = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") ? PASS_AVX512
               : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? PASS_AVX2 : PASS_PORTABLE;
    }
    return cached < widest ? cached : widest;
}
#define DISPATCH(f, ...)                                      \
    do {                                                      \
        int which = isa();                                    \
        if (which == PASS_AVX512) f##_avx512(__VA_ARGS__);    \
        else if (which == PASS_AVX2) f##_avx2(__VA_ARGS__);   \
        else f##_portable(__VA_ARGS__);                       \
    } while (0)
#else
static int widest = PASS_PORTABLE;

static int isa(void) { return widest < PASS_PORTABLE ? widest : PASS_PORTABLE; }
#define DISPATCH(f, ...) f##_portable(__VA_ARGS__)
#endif

void pass_run(const pass_data *data, ptrdiff_t begin, ptrdiff_t end, int n_components, const pass_costs *costs,
              const double *weights, pass_level level, double *scratch, pass_sums *out)
{
    DISPATCH(pass_run, data, begin, end, n_components, costs, weights, level, scratch, out);
}

void price_run(const pass_data *data, double total_weight, const double *prices, const pass_costs *costs,
               const pass_costs *rounding, price_level level, double *scratch, price_sums *out)
{
    DISPATCH(price_run, data, total_weight, prices, costs, rounding, level, scratch, out);
}

void price_moments(const pass_data *data, const pass_costs *costs, price_level level, double *scratch, price_sums *out)
{
    DISPATCH(price_moments, data, costs, level, scratch, out);
}

void price_side(ptrdiff_t n_padded, double total_weight, const double *weights, const double *prices,
                const double *above, const double *slopes, double sign, double log_s, double *costs, double *value)
{
    DISPATCH(price_side, n_padded, total_weight, weights, prices, above, slopes, sign, log_s, costs, value);
}

void pass_exp(ptrdiff_t n, const double *x, double *y) { DISPATCH(pass_exp, n, x, y); }
void pass_log(ptrdiff_t n, const double *x, double *y) { DISPATCH(pass_log, n, x, y); }
void pass_limit_isa(int at_most) { widest = at_most; }
const char *pass_isa(void)
{
    static const char *const names[] = {"portable", "avx2", "avx512"};
    return names[isa()];
}
