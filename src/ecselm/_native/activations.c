/* Hidden layers: projections of rows, with the activation functions that NumPy does not
 * vectorise without AVX-512; norms of projected rows. */
#define REAL double
#define KIND f64
#include "tiles.h"
#include "exp64.h"
#include "layer.h"
#include "undefine.h"

#define REAL float
#define KIND f32
#include "tiles.h"
#include "exp32.h"
#include "layer.h"
#include "undefine.h"

/* Each activation gets loops of its own. */
#define EACH(call, kind)                                                             \
    if (activation == RADBAS_##kind) call(RADBAS_##kind);                            \
    else if (activation == SIGMOID_##kind) call(SIGMOID_##kind);                     \
    else call(LINEAR_##kind)

/* Overwrite a (n) by exp(-a^2) for `activation` 1, by 1 / (1 + exp(-a)) for 2. */
API void ecselm_activate64(double *a, size_t n, size_t activation) {
#define CALL(which) activate_f64(a, n, which)
    EACH(CALL, f64);
#undef CALL
}

API void ecselm_activate32(float *a, size_t n, size_t activation) {
#define CALL(which) activate_f32(a, n, which)
    EACH(CALL, f32);
#undef CALL
}

/* Fill H (N, L) with g((X - center) W + b), for X (N, n), W (n, L), and center (n) or NULL;
 * `activation` is as above, 0 for none. `room` holds (n + 1) (L + 64) + 32 n numbers. */
API void ecselm_project64(const double *X, size_t N, size_t n, const double *W,
                          const double *b, size_t L, const double *center, size_t activation,
                          double *room, double *H) {
#define CALL(which) project_f64(X, N, n, W, b, L, center, which, room, H)
    EACH(CALL, f64);
#undef CALL
}

API void ecselm_project32(const float *X, size_t N, size_t n, const float *W, const float *b,
                          size_t L, const float *center, size_t activation, float *room,
                          float *H) {
#define CALL(which) project_f32(X, N, n, W, b, L, center, which, room, H)
    EACH(CALL, f32);
#undef CALL
}

/* Fill norms (N) with those of the rows of F R, squared, for F (N, L) and an upper triangle R
 * (L, L). `room` holds (L + 1) (L + 64) + 32 L numbers. */
API void ecselm_norms(const double *F, size_t N, size_t L, const double *R, double *room,
                      double *norms) {
    norms_f64(F, N, L, R, room, norms);
}
