/* exp of a vector, to about one unit in the last place; 0 below -708. */
#ifndef ECSELM_EXPONENTIAL_H
#define ECSELM_EXPONENTIAL_H

#include "lanes.h"

typedef int64_t ivec __attribute__((vector_size(8 * LANES)));

INLINE vec chosen(ivec mask, vec yes, vec no) {
    return (vec)(((ivec)yes & mask) | ((ivec)no & ~mask));
}

INLINE vec exponential(vec x) {
    const double shifter = 6755399441055744.0;  /* 1.5 * 2^52: adding it rounds to integers */
    ivec tiny = x < -708.0, huge = x > 709.0;
    x = chosen(huge, all(709), chosen(tiny, all(-708), x));
    vec t = x * 1.4426950408889634 + shifter, k = t - shifter;
    vec r = x - k * 0.693147180369123816490 - k * 1.90821492927058770002e-10;
    vec p = all(1.0 / 6227020800.0);
    p = p * r + 1.0 / 479001600.0, p = p * r + 1.0 / 39916800.0, p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0, p = p * r + 1.0 / 40320.0, p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0, p = p * r + 1.0 / 120.0, p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0, p = p * r + 0.5, p = p * r + 1.0, p = p * r + 1.0;
    vec power = (vec)(((ivec)t + 1023) << 52);
    return chosen(tiny, all(0), p * power);
}

INLINE vec loaded(const double *x) {
    vec v;
    __builtin_memcpy(&v, x, sizeof v);
    return v;
}

INLINE void stored(vec v, double *x) { __builtin_memcpy(x, &v, sizeof v); }

#endif
