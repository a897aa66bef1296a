/* exp of a wide vector of floats, to about two units in the last place; 0 below -87,
 * infinite above 88. */
typedef int32_t wide_i32 __attribute__((vector_size(WIDTH)));

INLINE wide_f32 either_f32(wide_i32 mask, wide_f32 yes, wide_f32 no) {
    return (wide_f32)(((wide_i32)yes & mask) | ((wide_i32)no & ~mask));
}

INLINE wide_f32 exp_f32(wide_f32 x) {
    const float shifter = 12582912.0f; /* 1.5 * 2^23: adding it rounds to integers */
    wide_i32 tiny = x < -87.0f, huge = x > 88.0f;
    wide_f32 t = x * 1.44269504f + shifter, k = t - shifter;
    wide_f32 r = x - k * 0.693145752f - k * 1.42860677e-6f;
    wide_f32 r2 = r * r; /* in pairs of terms, as in float64 */
    wide_f32 p = r * (1.0f / 5040.0f) + 1.0f / 720.0f;
    p = r2 * p + (r * (1.0f / 120.0f) + 1.0f / 24.0f);
    p = r2 * p + (r * (1.0f / 6.0f) + 0.5f);
    p = r2 * p + r + 1.0f;
    wide_f32 power = (wide_f32)(((wide_i32)t + 127) << 23);
    return either_f32(huge, (wide_f32){0} + INFINITY, either_f32(~tiny, p * power, (wide_f32){0}));
}
