/* Sums of outer products of rows, X'diag(d)X, where few or many rows have d != 0.
 *
 * X (N, height) holds the hidden units of every row and then its targets, each padded as
 * in cholesky.c, which factorises the sums (height, width). Only the lower triangle is
 * updated. BLAS has no such product with weights, least of all of both signs.
 */
#define REAL double
#define KIND f64
#include "panels.h"
#include "undefine.h"

#define REAL float
#define KIND f32
#include "panels.h"
#include "undefine.h"

/* Add to `sums` (P, height, width) for `d` (P, N). Rows of negative d are collected apart.
 * `room` holds 2 * 129 (height + 64) numbers. */
API void ecselm_add_products(const double *X, size_t N, size_t height, size_t width, size_t P,
                             const double *d, double *room, double *sums) {
    for (size_t p = 0; p < P; p++, d += N, sums += height * width) {
        Panel_f64 plus = {room, height, width, 0, 1};
        Panel_f64 minus = {room + panel_size_f64(height), height, width, 0, -1};
        for (size_t i = 0; i < N; i++)
            if (d[i] != 0)
                take_f64(d[i] < 0 ? &minus : &plus, X + i * height, height, NULL, 0,
                         sqrt(fabs(d[i])), sums);
        add_panel_f64(&plus, sums), add_panel_f64(&minus, sums);
    }
}

/* Add [H T]'diag(w)H to the lower part of `sums` (L + m, L): H (N, L), T (N, m), and w (N),
 * or NULL for ones; and diag(T'diag(w)T) to `squares` (m). `room` holds 129 (L + m + 64)
 * numbers of 8 bytes. */
API void ecselm_add_gram64(const double *H, const double *T, const double *w, size_t N,
                           size_t L, size_t m, double *room, double *sums,
                           double *squares) {
    Panel_f64 panel = {room, L + m, L, 0, 1};
    for (size_t i = 0; i < N; i++) {
        const double *t = T + i * m, weight = w ? w[i] : 1;
        take_f64(&panel, H + i * L, L, t, m, sqrt(weight), sums);
        for (size_t j = 0; j < m; j++) squares[j] += weight * t[j] * t[j];
    }
    add_panel_f64(&panel, sums);
}

/* The same in float32: a panel is summed in float32, and panels in float64. */
API void ecselm_add_gram32(const float *H, const float *T, const float *w, size_t N, size_t L,
                           size_t m, float *room, double *sums, double *squares) {
    Panel_f32 panel = {room, L + m, L, 0, 1};
    for (size_t i = 0; i < N; i++) {
        const float *t = T + i * m, weight = w ? w[i] : 1;
        take_f32(&panel, H + i * L, L, t, m, sqrtf(weight), sums);
        for (size_t j = 0; j < m; j++) squares[j] += (double)weight * t[j] * t[j];
    }
    add_panel_f32(&panel, sums);
}

/* Compare costs (P, N) with those of `kept` and of `tried`. For each candidate: 1 if fewer
 * differ from `tried`, the number that differs from the nearer one, and the first such row. */
API void ecselm_compare(const double *costs, const double *kept, const double *tried, size_t P,
                        size_t N, int64_t *facts) {
    for (size_t p = 0; p < P; p++, costs += N, kept += N, tried += N, facts += 3) {
        int64_t by_kept = 0, by_tried = 0;
        for (size_t i = 0; i < N; i++) {
            by_kept += costs[i] != kept[i], by_tried += costs[i] != tried[i];
        }
        const double *base = by_tried < by_kept ? tried : kept;
        facts[0] = by_tried < by_kept, facts[1] = by_tried < by_kept ? by_tried : by_kept;
        facts[2] = 0;
        for (size_t i = 0; facts[1] && i < N; i++)
            if (costs[i] != base[i]) {
                facts[2] = (int64_t)i;
                break;
            }
    }
}

/* Add d (P) times the outer product of the row `rows` (P) of X to the sums of each candidate. */
API void ecselm_add_rows(const double *X, size_t height, size_t width, size_t P,
                         const int64_t *rows, const double *d, double *sums) {
    for (size_t p = 0; p < P; p++, sums += height * width) {
        const double *x = X + rows[p] * height;
        for (size_t i = 0; d[p] != 0 && i < height; i++) {
            double *out = sums + i * width, scaled = d[p] * x[i];
            size_t reach = i < width ? i + 1 : width;
            for (size_t j = 0; j < reach; j++) out[j] += scaled * x[j];
        }
    }
}
