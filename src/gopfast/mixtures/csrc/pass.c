/* Which instruction set a pass runs on. */
#include "pass_variants.h"

#if defined(__x86_64__)
static int most = 2; /* what may be used of what the machine has: less only in tests and counts */

static int isa(void)
{
    static int cached = -1; /* a race writes the same value twice */
    if (cached < 0) {
        __builtin_cpu_init();
        cached = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") ? 2
               : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
    }
    return cached < most ? cached : most;
}
#define DISPATCH(f, ...)                             \
    do {                                             \
        int which = isa();                           \
        if (which == 2) f##_avx512(__VA_ARGS__);     \
        else if (which == 1) f##_avx2(__VA_ARGS__);  \
        else f##_portable(__VA_ARGS__);              \
    } while (0)
#else
static int most = 0;
#define DISPATCH(f, ...) f##_portable(__VA_ARGS__)
#endif

void pass_run(const pass_data *data, ptrdiff_t begin, ptrdiff_t end, int n_components, const pass_costs *costs,
              const double *weights, pass_level level, double *scratch, pass_sums *out)
{
    DISPATCH(pass_run, data, begin, end, n_components, costs, weights, level, scratch, out);
}

void price_run(const pass_data *data, double total_weight, const double *lambda, const pass_costs *costs,
               const pass_costs *rounding, price_level level, double *scratch, price_sums *out)
{
    DISPATCH(price_run, data, total_weight, lambda, costs, rounding, level, scratch, out);
}

void pass_exp(ptrdiff_t n, const double *x, double *y) { DISPATCH(pass_exp, n, x, y); }
void pass_log(ptrdiff_t n, const double *x, double *y) { DISPATCH(pass_log, n, x, y); }
void pass_limit_isa(int which) { most = which; }
const char *pass_isa(void)
{
    static const char *const names[] = {"portable", "avx2", "avx512"};
    return names[isa()];
}
