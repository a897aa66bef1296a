/* exp of a wide vector of doubles, to about one unit in the last place; 0 below -708,
 * infinite above 709. */
#if defined(__AVX512F__)
#include <immintrin.h>

/* 2^(i/16): a table in two registers leaves a short polynomial. */
static const double SIXTEENTHS[16] = {
    1.0, 1.0442737824274138403, 1.0905077326652576592, 1.1387886347566916537,
    1.1892071150027210667, 1.2418578120734840486, 1.2968395546510096659, 1.3542555469368927283,
    1.4142135623730950488, 1.4768261459394993114, 1.5422108254079408236, 1.6104903319492543082,
    1.6817928305074290861, 1.7562521603732994831, 1.8340080864093424635, 1.9152065613971472939};

INLINE wide_f64 exp_f64(wide_f64 v) {
    const __m512d shifter = _mm512_set1_pd(6755399441055744.0); /* rounds to integers */
    __m512d x = (__m512d)v;
    __mmask8 tiny = _mm512_cmp_pd_mask(x, _mm512_set1_pd(-708.0), _CMP_LT_OQ);
    __mmask8 huge = _mm512_cmp_pd_mask(x, _mm512_set1_pd(709.0), _CMP_GT_OQ);
    __m512d t = _mm512_fmadd_pd(x, _mm512_set1_pd(23.083120654223414), shifter);
    __m512d k = _mm512_sub_pd(t, shifter);
    __m512d r = _mm512_fnmadd_pd(k, _mm512_set1_pd(0.693147180369123816490 / 16), x);
    r = _mm512_fnmadd_pd(k, _mm512_set1_pd(1.90821492927058770002e-10 / 16), r);
    /* In pairs of terms: a chain of all would take twice as long as its instructions. */
    __m512d r2 = _mm512_mul_pd(r, r);
    __m512d p = _mm512_fmadd_pd(r, _mm512_set1_pd(1.0 / 720.0), _mm512_set1_pd(1.0 / 120.0));
    __m512d q = _mm512_fmadd_pd(r, _mm512_set1_pd(1.0 / 24.0), _mm512_set1_pd(1.0 / 6.0));
    p = _mm512_fmadd_pd(r2, _mm512_set1_pd(1.0 / 5040.0), p);
    q = _mm512_fmadd_pd(r2, p, q);
    p = _mm512_fmadd_pd(r, _mm512_set1_pd(0.5), _mm512_set1_pd(1.0));
    p = _mm512_fmadd_pd(r2, q, p);
    __m512i bits = _mm512_castpd_si512(t);
    __m512d root = _mm512_permutex2var_pd(_mm512_loadu_pd(SIXTEENTHS), bits,
                                          _mm512_loadu_pd(SIXTEENTHS + 8));
    p = _mm512_fmadd_pd(_mm512_mul_pd(p, r), root, root);
    /* The bits above the sixteenths are the power of two. */
    __m512i power = _mm512_add_epi64(_mm512_srai_epi64(bits, 4), _mm512_set1_epi64(1023));
    __m512d scale = _mm512_castsi512_pd(_mm512_slli_epi64(power, 52));
    p = _mm512_maskz_mul_pd((__mmask8)~tiny, p, scale);
    return (wide_f64)_mm512_mask_mov_pd(p, huge, _mm512_set1_pd(INFINITY));
}
#else
typedef int64_t wide_i64 __attribute__((vector_size(WIDTH)));

INLINE wide_f64 either_f64(wide_i64 mask, wide_f64 yes, wide_f64 no) {
    return (wide_f64)(((wide_i64)yes & mask) | ((wide_i64)no & ~mask));
}

INLINE wide_f64 exp_f64(wide_f64 x) {
    const double shifter = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to integers */
    wide_i64 tiny = x < -708.0, huge = x > 709.0;
    wide_f64 t = x * 1.4426950408889634 + shifter, k = t - shifter;
    wide_f64 r = x - k * 0.693147180369123816490 - k * 1.90821492927058770002e-10;
    /* In pairs of terms: a chain of all would take twice as long as its instructions. */
    wide_f64 r2 = r * r, r4 = r2 * r2;
    wide_f64 p = r * (1.0 / 6.0) + 0.5 + r2 * (r * (1.0 / 120.0) + 1.0 / 24.0);
    wide_f64 q = r * (1.0 / 5040.0) + 1.0 / 720.0 + r2 * (r * (1.0 / 362880.0) + 1.0 / 40320.0);
    wide_f64 s = r * (1.0 / 39916800.0) + 1.0 / 3628800.0 +
                 r2 * (r * (1.0 / 6227020800.0) + 1.0 / 479001600.0);
    p = (p + r4 * (q + r4 * s)) * r2 + r + 1.0;
    wide_f64 power = (wide_f64)(((wide_i64)t + 1023) << 52);
    return either_f64(huge, (wide_f64){0} + INFINITY, either_f64(~tiny, p * power, (wide_f64){0}));
}
#endif
