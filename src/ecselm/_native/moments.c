/* Weighted sums of columns: the moments of inputs, in one pass each.
 *
 * Products are summed in float64 whatever the rows are. Four rows are added at a time, so that
 * the sums are read and written once for them.
 */
#include "lanes.h"

#define SUMS(KIND, REAL)                                                                       \
    INLINE void sums_##KIND(const REAL *restrict X, size_t N, size_t n,                        \
                            const double *share, const double *restrict origin,                \
                            const int squared, double *restrict sums) {                        \
        size_t i = 0;                                                                          \
        for (; i + 4 <= N; i += 4, X += 4 * n, share += 4) {                                   \
            double a = share[0], b = share[1], c = share[2], d = share[3];                     \
            for (size_t j = 0; j < n; j++) {                                                   \
                double x = X[j] - origin[j], y = X[n + j] - origin[j];                         \
                double z = X[2 * n + j] - origin[j], t = X[3 * n + j] - origin[j];             \
                if (squared) x *= x, y *= y, z *= z, t *= t;                                   \
                sums[j] += (a * x + b * y) + (c * z + d * t);                                  \
            }                                                                                  \
        }                                                                                      \
        for (; i < N; i++, X += n, share++)                                                    \
            for (size_t j = 0; j < n; j++) {                                                   \
                double x = X[j] - origin[j];                                                   \
                sums[j] += *share * (squared ? x * x : x);                                     \
            }                                                                                  \
    }                                                                                          \
    /* Add to `sums` (n) those of share_i (x_i - origin), or of their squares, over X (N, n). */ \
    API void ecselm_moments##KIND(const REAL *X, size_t N, size_t n, const double *share,      \
                                  const double *origin, size_t squared, double *sums) {        \
        if (squared) sums_##KIND(X, N, n, share, origin, 1, sums);                             \
        else sums_##KIND(X, N, n, share, origin, 0, sums);                                     \
    }

SUMS(64, double)
SUMS(32, float)
