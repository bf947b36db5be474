#define NAME(f) f##_portable
#define TARGET
#define LANES 8
#include "pass_kernel.h"
#include "price_kernel.h"
