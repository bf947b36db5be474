/* empty where the processor is another */
#if defined(__x86_64__)
#define NAME(f) f##_avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx2,fma")))
#define LANES 8
#include "pass_kernel.h"
#include "price_kernel.h"
#endif
