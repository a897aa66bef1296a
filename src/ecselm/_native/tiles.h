/* Tiles of products, for one type of number: included with REAL and KIND defined.
 *
 * Right factors are packed in strips of WIDE columns, which are read in order, as in BLAS.
 */
#include "wide.h"

#define OF(name) SUFFIXED(name, KIND)
#define VEC OF(wide)
#define LENGTH (WIDTH / sizeof(REAL)) /* numbers of a vector */
#define WIDE (VECTORS * LENGTH)

typedef REAL VEC __attribute__((vector_size(WIDTH)));

INLINE VEC OF(get)(const REAL *x) {
    VEC v;
    __builtin_memcpy(&v, x, sizeof v);
    return v;
}

INLINE void OF(put)(VEC v, REAL *x) { __builtin_memcpy(x, &v, sizeof v); }

/* acc = left' right over `depth`; left's entry (r, k) is at r * row + k * column. Of the WIDE
 * columns of right, the first `vectors` vectors count. */
INLINE void OF(multiply)(const REAL *left, size_t row, size_t column, const REAL *right,
                         size_t depth, const int vectors, VEC acc[TALL][VECTORS]) {
    VEC a[TALL][VECTORS] = {{{0}}};
#pragma GCC unroll 2
    for (size_t k = 0; k < depth; k++, left += column, right += WIDE) {
        VEC x[VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) x[v] = OF(get)(right + v * LENGTH);
#pragma GCC unroll 8
        for (int r = 0; r < TALL; r++) {
            REAL s = left[r * row];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) a[r][v] += s * x[v];
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < TALL; r++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) acc[r][v] = a[r][v];
}
