/* empty where the processor is another */
#if defined(__x86_64__)
#define NAME(f) f##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#include "pass_kernel.h"
#include "price_kernel.h"
#endif
