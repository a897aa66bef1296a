/* Candidates in lanes: entry l of a vec belongs to the l-th of LANES candidates.
 *
 * The vector type is GCC's and Clang's own; the compiler maps it to the registers of the processor.
 */
#ifndef ECSELM_LANES_H
#define ECSELM_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define LANES 4
#define TILE 3    /* a TILE x TILE tile of accumulators and its factors fill 16 registers */
#define STRIP 36  /* rows that are eliminated together */
#define DEPTH 96  /* columns of a strip that stay in the L1 cache */
#define COLUMN 48 /* rows of a column of tiles that stay there, each on its own page */

typedef double vec __attribute__((vector_size(8 * LANES)));

#define API __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))

INLINE vec all(double x) { return (vec){x, x, x, x}; }

INLINE vec root(vec x) {
    vec y = x;
    for (int l = 0; l < LANES; l++) y[l] = sqrt(x[l]);
    return y;
}

#endif
