/* Whether this processor can run the AVX2 library; called in the plain one. */
#include "lanes.h"

API int ecselm_has_avx2(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}
