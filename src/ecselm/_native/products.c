/* Sums of outer products of rows, X'diag(d)X, where few or many rows have d != 0.
 *
 * X (N, height) holds the hidden units of every row and then its targets, each padded as
 * in cholesky.c, which factorises the sums (height, width). Only the lower triangle is
 * updated. Rows are copied into panels that the innermost loop reads in order, as in BLAS;
 * BLAS itself does not support weights of both signs.
 */
#include "lanes.h"

#define TALL 6            /* rows and columns of a tile: 12 accumulators */
#define WIDE (2 * LANES)
#define PANEL 128         /* rows of X taken together */

typedef struct {
    double *left, *right;  /* (strips, PANEL, TALL) times d, and (strips, PANEL, WIDE) */
    size_t height, width, depth;
} Panels;

INLINE void copy_strips(const double *row, size_t n, size_t step, size_t at, double scale,
                        double *panel) {
    double *to = panel + at * step;
    size_t s = 0;
    for (; s + step <= n; s += step, to += PANEL * step)
        for (size_t c = 0; c < step; c++) to[c] = scale * row[s + c];
    for (size_t c = 0; s < n && c < step; c++) to[c] = s + c < n ? scale * row[s + c] : 0;
}

/* acc = left' right over the depth of the panels */
INLINE void multiply(const double *left, const double *right, size_t depth,
                     vec acc[TALL][2]) {
    vec a0 = all(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0;
    vec b0 = a0, b1 = a0, b2 = a0, b3 = a0, b4 = a0, b5 = a0;
    for (size_t k = 0; k < depth; k++, left += TALL, right += WIDE) {
        vec x, y;
        __builtin_memcpy(&x, right, sizeof x), __builtin_memcpy(&y, right + LANES, sizeof y);
        a0 += left[0] * x, b0 += left[0] * y, a1 += left[1] * x, b1 += left[1] * y;
        a2 += left[2] * x, b2 += left[2] * y, a3 += left[3] * x, b3 += left[3] * y;
        a4 += left[4] * x, b4 += left[4] * y, a5 += left[5] * x, b5 += left[5] * y;
    }
    acc[0][0] = a0, acc[1][0] = a1, acc[2][0] = a2, acc[3][0] = a3, acc[4][0] = a4;
    acc[5][0] = a5, acc[0][1] = b0, acc[1][1] = b1, acc[2][1] = b2, acc[3][1] = b3;
    acc[4][1] = b4, acc[5][1] = b5;
}

static void add_tile(const Panels *panels, size_t i, size_t j, double *sums) {
    vec acc[TALL][2];
    multiply(panels->left + i * PANEL, panels->right + j * PANEL, panels->depth, acc);
    for (size_t r = 0; r < TALL && i + r < panels->height; r++) {
        double *out = sums + (i + r) * panels->width + j, *tile = (double *)acc[r];
        if (j + WIDE <= panels->width)
            for (size_t c = 0; c < WIDE; c++) out[c] += tile[c];
        else
            for (size_t c = 0; j + c < panels->width; c++) out[c] += tile[c];
    }
}

static void add_panels(const Panels *panels, double *sums) {
    for (size_t j = 0; j < panels->width; j += WIDE)
        for (size_t i = j / TALL * TALL; i < panels->height; i += TALL)
            add_tile(panels, i, j, sums);
}

/* Add to `sums` (P, height, width) for `d` (P, N); `room` holds
 * PANEL * (height + TALL + width + WIDE) numbers. */
API void ecselm_add_products(const double *X, size_t N, size_t height, size_t width, size_t P,
                             const double *d, double *room, double *sums) {
    size_t strips = (height + TALL - 1) / TALL;
    for (size_t p = 0; p < P; p++, d += N, sums += height * width) {
        Panels panels = {room, room + strips * TALL * PANEL, height, width, 0};
        for (size_t i = 0; i < N; i++) {
            if (d[i] == 0) continue;
            const double *row = X + i * height;
            copy_strips(row, height, TALL, panels.depth, d[i], panels.left);
            copy_strips(row, width, WIDE, panels.depth, 1, panels.right);
            if (++panels.depth == PANEL) add_panels(&panels, sums), panels.depth = 0;
        }
        if (panels.depth) add_panels(&panels, sums);
    }
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
