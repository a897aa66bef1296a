/* Confusion matrices from scores Z (P, m, n); one column of scores serves two classes.
 *
 * `reach` bounds the errors of scores in float32: rows whose prediction could change within
 * it are scored again in float64, so that the counts are those of float64.
 */
#include "lanes.h"

#define TABLES 4      /* in turn, so that equal classes do not wait for each other */
#define MAX_CELLS 4096
#define BLOCK 64      /* rows whose near ties are checked together */

typedef struct {
    const double *H;       /* (n, L) */
    const double *beta;    /* (m, L) of the candidate */
    size_t L;
    const float *reach;    /* (n), times `scale` the bound */
    float scale;
} Check;

INLINE double product(const double *a, const double *b, size_t L) {
    vec s0 = all(0), s1 = all(0), x, y;
    size_t i = 0;
    for (; i + 2 * LANES <= L; i += 2 * LANES) {
        __builtin_memcpy(&x, a + i, sizeof x), __builtin_memcpy(&y, b + i, sizeof y), s0 += x * y;
        __builtin_memcpy(&x, a + i + LANES, sizeof x);
        __builtin_memcpy(&y, b + i + LANES, sizeof y), s1 += x * y;
    }
    s0 += s1;
    double sum = (s0[0] + s0[1]) + (s0[2] + s0[3]);
    for (; i < L; i++) sum += a[i] * b[i];
    return sum;
}

static int32_t decide(const Check *check, size_t row, size_t m) {
    const double *h = check->H + row * check->L;
    double best = product(h, check->beta, check->L);
    if (m == 1) return best > 0;
    int32_t winner = 0;
    for (size_t j = 1; j < m; j++) {
        double z = product(h, check->beta + j * check->L, check->L);
        if (z > best) best = z, winner = (int32_t)j;
    }
    return winner;
}

/* The class of the largest score of every row; the first of equals, as in NumPy. */
static void winners64(const double *restrict Z, size_t m, size_t n, double *restrict best,
                      int32_t *restrict winner) {
    if (m == 1) {
        for (size_t i = 0; i < n; i++) winner[i] = Z[i] > 0;
        return;
    }
    for (size_t i = 0; i < n; i++) best[i] = Z[i], winner[i] = 0;
    for (size_t j = 1; j < m; j++) {
        const double *z = Z + j * n;
        for (size_t i = 0; i < n; i++) {
            winner[i] = z[i] > best[i] ? (int32_t)j : winner[i];
            best[i] = z[i] > best[i] ? z[i] : best[i];
        }
    }
}

/* Compare the scores of class j with the two best so far. */
static void challenge(const float *restrict z, size_t n, int32_t j, float *restrict best,
                      float *restrict second, int32_t *restrict winner) {
    for (size_t i = 0; i < n; i++) {
        float x = z[i], b = best[i], s = second[i];
        int32_t wins = x > b;
        float lower = wins ? b : x;
        second[i] = lower > s ? lower : s;
        best[i] = wins ? x : b;
        winner[i] = wins ? j : winner[i];
    }
}

/* The same, with the lead of the best score over the second. */
static void winners32(const float *restrict Z, size_t m, size_t n, float *restrict lead,
                      float *restrict second, int32_t *restrict winner) {
    if (m == 1) {
        for (size_t i = 0; i < n; i++) lead[i] = fabsf(Z[i]), winner[i] = Z[i] > 0;
        return;
    }
    for (size_t i = 0; i < n; i++) lead[i] = Z[i], second[i] = -INFINITY, winner[i] = 0;
    for (size_t j = 1; j < m; j++) challenge(Z + j * n, n, (int32_t)j, lead, second, winner);
    for (size_t i = 0; i < n; i++) lead[i] -= second[i];
}

/* Predict rows near a tie again; most blocks contain none. */
static size_t recheck(const Check *check, size_t m, size_t n, const float *lead,
                      int32_t *winner) {
    size_t checked = 0;
    for (size_t start = 0; start < n; start += BLOCK) {
        size_t end = start + BLOCK < n ? start + BLOCK : n;
        int32_t unsure = 0;
        for (size_t i = start; i < end; i++)
            unsure |= !(lead[i] > check->scale * check->reach[i]);
        for (size_t i = start; unsure && i < end; i++)
            if (!(lead[i] > check->scale * check->reach[i])) {
                winner[i] = decide(check, i, m);
                checked++;
            }
    }
    return checked;
}

static void tally(const int32_t *winner, const int32_t *y, const double *weight, size_t k,
                  size_t n, double *counts) {
    if (weight || k * k * TABLES > MAX_CELLS) {
        for (size_t i = 0; i < n; i++) counts[y[i] * k + winner[i]] += weight ? weight[i] : 1;
        return;
    }
    if (k == 2) {  /* sums that the compiler vectorises */
        int32_t seconds = 0, both = 0, truly = 0;
        for (size_t i = 0; i < n; i++) {
            seconds += winner[i], truly += y[i], both += winner[i] & y[i];
        }
        counts[0] += (double)n - seconds - truly + both, counts[1] += seconds - both;
        counts[2] += truly - both, counts[3] += both;
        return;
    }
    int32_t tables[MAX_CELLS] = {0};
    size_t cells = k * k;
    for (size_t i = 0; i < n; i++) tables[(i % TABLES) * cells + y[i] * k + winner[i]]++;
    for (size_t c = 0; c < cells; c++)
        counts[c] += tables[c] + tables[cells + c] + tables[2 * cells + c] + tables[3 * cells + c];
}

/* Add to `counts` (P, k, k); `room` holds 2 n numbers of 8 bytes. */
API void ecselm_count(const double *Z, size_t P, size_t m, size_t n, const int32_t *y,
                      const double *weight, size_t k, double *room, double *counts) {
    int32_t *winner = (int32_t *)(room + n);
    for (size_t p = 0; p < P; p++) {
        winners64(Z + p * m * n, m, n, room, winner);
        tally(winner, y, weight, k, n, counts + p * k * k);
    }
}

/* The same from scores in float32; return the number of rows scored again. */
API size_t ecselm_count_checked(const float *Z, size_t P, size_t m, size_t n, const int32_t *y,
                                const double *weight, size_t k, const double *H,
                                const double *beta, size_t L, const float *reach,
                                const float *scale, double *room, double *counts) {
    float *lead = (float *)room, *second = lead + n;
    int32_t *winner = (int32_t *)(room + n);
    size_t checked = 0;
    for (size_t p = 0; p < P; p++) {
        Check check = {H, beta + p * m * L, L, reach, scale[p]};
        winners32(Z + p * m * n, m, n, lead, second, winner);
        checked += recheck(&check, m, n, lead, winner);
        tally(winner, y, weight, k, n, counts + p * k * k);
    }
    return checked;
}
