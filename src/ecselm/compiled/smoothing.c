/* Smoothed confusion matrices from scores Z (P, m, n), as objectives/confusion.py has them:
 * every row counts a little as the classes near it, over a width that its class has. */
#include "exponential.h"

#define ROWS 64  /* rows smoothed together: a block of all classes stays in the cache */

typedef struct {
    const int32_t *y;      /* (n) */
    const double *weight;  /* (n), or NULL */
    size_t n, m, k;
} Rows;

INLINE double weight_of(const Rows *rows, size_t i) { return rows->weight ? rows->weight[i] : 1; }

/* z for one column; else half the lead of the true class over the best other one. */
static void margins(const double *Z, const Rows *rows, double *top, double *margin) {
    size_t n = rows->n;
    if (rows->m == 1) {
        for (size_t i = 0; i < n; i++) margin[i] = Z[i];
        return;
    }
    double *other = margin;
    for (size_t i = 0; i < n; i++) {
        top[i] = Z[i];
        other[i] = rows->y[i] == 0 ? -INFINITY : Z[i];
    }
    for (size_t j = 1; j < rows->m; j++) {
        const double *z = Z + j * n;
        for (size_t i = 0; i < n; i++) {
            double rival = rows->y[i] == (int32_t)j ? -INFINITY : z[i];
            top[i] = z[i] > top[i] ? z[i] : top[i];
            other[i] = rival > other[i] ? rival : other[i];
        }
    }
    for (size_t i = 0; i < n; i++) margin[i] = (Z[rows->y[i] * n + i] - other[i]) / 2;
}

/* Silverman's width of every class's margins, times `factor`, as a reciprocal. */
static void narrowness(const double *margin, const Rows *rows, double factor, double *sums,
                       double *inverse) {
    size_t k = rows->k;
    double *mass = sums, *mean = mass + k, *spread = mean + k, *scale = spread + k;
    for (size_t c = 0; c < 4 * k; c++) sums[c] = 0;
    for (size_t i = 0; i < rows->n; i++) {
        int32_t c = rows->y[i];
        double w = weight_of(rows, i), size = fabs(margin[i]);
        mass[c] += w, mean[c] += w * margin[i];
        scale[c] = size > scale[c] ? size : scale[c];
    }
    for (size_t c = 0; c < k; c++) mean[c] /= mass[c];
    for (size_t i = 0; i < rows->n; i++) {
        int32_t c = rows->y[i];
        double gap = margin[i] - mean[c];
        spread[c] += weight_of(rows, i) * gap * gap;
    }
    for (size_t c = 0; c < k; c++) {
        double width = 1.06 * sqrt(spread[c] / mass[c]) * pow(mass[c], -0.2);
        double least = fmax(1e-9 * scale[c], 1e-300);
        inverse[c] = 1 / (factor * fmax(width, least));
    }
}

/* Shares of `many` rows from `start` on, as columns (m, ROWS); their sums by row. */
static void shares(const double *Z, const Rows *rows, size_t start, size_t many,
                   const double *top, const double *inverse, double *part, double *total) {
    double slope[ROWS], lead[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        size_t row = start + (i < many ? i : 0);
        slope[i] = inverse[rows->y[row]], lead[i] = rows->m == 1 ? 0 : top[row], total[i] = 0;
    }
    for (size_t j = 0; j < rows->m; j++) {
        const double *z = Z + j * rows->n + start;
        double column[ROWS];
        for (size_t i = 0; i < ROWS; i++) column[i] = i < many ? z[i] : z[0];
        for (size_t i = 0; i < ROWS; i += LANES) {
            vec e = exponential((loaded(column + i) - loaded(lead + i)) * loaded(slope + i));
            stored(e, part + j * ROWS + i);
            stored(loaded(total + i) + e, total + i);
        }
    }
}

static void smooth(const double *Z, const Rows *rows, double *room, double *smoothed) {
    size_t n = rows->n, k = rows->k;
    double *top = room, *margin = top + n, *sums = margin + n, *inverse = sums + 4 * k;
    double *part = inverse + k, total[ROWS];
    margins(Z, rows, top, margin);
    narrowness(margin, rows, rows->m == 1 ? 1 / 1.702 : 1.175, sums, inverse);
    for (size_t start = 0; start < n; start += ROWS) {
        size_t many = n - start < ROWS ? n - start : ROWS;
        shares(Z, rows, start, many, top, inverse, part, total);
        for (size_t i = 0; i < many; i++) {
            double *to = smoothed + rows->y[start + i] * k, w = weight_of(rows, start + i);
            if (rows->m == 1) {  /* e = exp(slope z): the share of the second class */
                double second = 1 - 1 / (1 + part[i]);
                to[0] += w * (1 - second), to[1] += w * second;
            } else {
                double scale = w / total[i];
                for (size_t j = 0; j < k; j++) to[j] += scale * part[j * ROWS + i];
            }
        }
    }
}

/* Fills `smoothed` (P, k, k); `room` holds 2 n + 5 k + ROWS m numbers. */
API void ecselm_smooth(const double *Z, size_t P, size_t m, size_t n, const int32_t *y,
                       const double *weight, size_t k, double *room, double *smoothed) {
    Rows rows = {y, weight, n, m, k};
    for (size_t c = 0; c < P * k * k; c++) smoothed[c] = 0;
    for (size_t p = 0; p < P; p++) smooth(Z + p * m * n, &rows, room, smoothed + p * k * k);
}
