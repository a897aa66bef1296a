/* Panels of rows whose outer products are summed, for one type of number.
 *
 * Rows are collected until a panel is full, each times the root of its weight, so that one
 * copy serves as both factors. Then the products are added to the lower part of sums
 * (height, width) in float64, or subtracted.
 */
#include "tiles.h"

#define PANEL (1024 / sizeof(REAL)) /* rows: a strip of them stays in the L1 cache */
#define STRIDE (PANEL + 1) /* of strips: powers of two would share few sets of the cache */

typedef struct {
    REAL *rows; /* (strips, STRIDE, WIDE) */
    size_t height, width, depth;
    REAL sign;
} OF(Panel);

/* Numbers of a panel of so many columns. */
INLINE size_t OF(panel_size)(size_t height) {
    return (height + WIDE - 1) / WIDE * WIDE * STRIDE;
}

/* Copy n numbers to the columns from `first` of the next row; the strip they end in is filled
 * with 0. */
INLINE void OF(copy)(const REAL *x, size_t n, size_t first, REAL scale, OF(Panel) *panel) {
    size_t c = 0, within = first % WIDE;
    REAL *to = panel->rows + first / WIDE * WIDE * STRIDE + panel->depth * WIDE;
    if (within == 0)
        for (; c + WIDE <= n; c += WIDE, to += STRIDE * WIDE)
            for (size_t s = 0; s < WIDE; s += LENGTH)
                OF(put)(scale * OF(get)(x + c + s), to + s);
    for (; within % LENGTH == 0 && c + LENGTH <= n && within + LENGTH < WIDE; c += LENGTH) {
        OF(put)(scale * OF(get)(x + c), to + within);
        within += LENGTH;
    }
    for (; c < n; c++) {
        to[within] = scale * x[c];
        if (++within == WIDE) within = 0, to += STRIDE * WIDE;
    }
    for (; within && within < WIDE; within++) to[within] = 0;
}

typedef REAL OF(part) __attribute__((vector_size(WIDTH / 8 * sizeof(REAL))));
typedef double OF(sums) __attribute__((vector_size(WIDTH)));

/* Add a vector to sums in float64. */
INLINE void OF(accumulate)(VEC v, double *sums) {
    for (size_t c = 0; c < LENGTH; c += WIDTH / 8, sums += WIDTH / 8) {
        OF(part) part;
        OF(sums) total;
        __builtin_memcpy(&part, (const REAL *)&v + c, sizeof part);
        __builtin_memcpy(&total, sums, sizeof total);
        total += __builtin_convertvector(part, OF(sums));
        __builtin_memcpy(sums, &total, sizeof total);
    }
}

INLINE void OF(add_tile)(const OF(Panel) *panel, size_t i, size_t j, const int vectors,
                         double *sums) {
    VEC acc[TALL][VECTORS];
    const REAL *left = panel->rows + i / WIDE * WIDE * STRIDE + i % WIDE;
    OF(multiply)(left, 1, WIDE, panel->rows + j * STRIDE, panel->depth, vectors, acc);
    for (size_t r = 0; r < TALL && i + r < panel->height; r++) {
        double *out = sums + (i + r) * panel->width + j;
        int v = 0;
        for (; v < vectors && j + (v + 1) * LENGTH <= panel->width; v++)
            OF(accumulate)(panel->sign * acc[r][v], out + v * LENGTH);
        const REAL *tile = (const REAL *)acc[r];
        for (size_t c = v * LENGTH; c < vectors * LENGTH && j + c < panel->width; c++)
            out[c] += panel->sign * tile[c];
    }
}

/* Vectors above the diagonal, or beyond the last column, are not computed. */
static void OF(add_panel)(OF(Panel) *panel, double *sums) {
    for (size_t j = 0; panel->depth && j < panel->width; j += WIDE)
        for (size_t i = j; i < panel->height; i += TALL) {
            size_t columns = panel->width - j < i - j + TALL ? panel->width - j : i - j + TALL;
            if (columns > WIDE - LENGTH) OF(add_tile)(panel, i, j, VECTORS, sums);
            else if (columns > WIDE - 2 * LENGTH) OF(add_tile)(panel, i, j, VECTORS - 1, sums);
            else OF(add_tile)(panel, i, j, 1, sums);
        }
    panel->depth = 0;
}

/* Collect the row [x y] with the root of its weight; add the panel once it is full. */
INLINE void OF(take)(OF(Panel) *panel, const REAL *x, size_t n, const REAL *y, size_t m,
                     REAL root, double *sums) {
    OF(copy)(x, n, 0, root, panel);
    if (m) OF(copy)(y, m, n, root, panel);
    if (++panel->depth == PANEL) OF(add_panel)(panel, sums);
}
