/* Activation functions that NumPy does not vectorise without AVX-512. */
#include "exponential.h"

/* exp(-a^2) in place */
API void ecselm_radbas(double *a, size_t n) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec x = loaded(a + i);
        stored(exponential(-x * x), a + i);
    }
    for (; i < n; i++) {
        vec x = exponential(all(-a[i] * a[i]));
        a[i] = x[0];
    }
}
