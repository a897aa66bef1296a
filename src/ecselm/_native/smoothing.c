/* Smoothed confusion matrices from scores Z (P, m, n), as in fitness/confusion.py: every
 * row counts partly for the classes near it, over a width that depends on its class.
 *
 * Rows are processed class by class, in whole vectors: the last vector of a class is padded
 * with a row of the class at weight 0.
 */
#include "exponential.h"

typedef struct {
    const double *Z;        /* (m, n), of one candidate */
    const int32_t *rows;    /* (size), positions of the rows of one class */
    const double *weight;   /* (size) */
    size_t n, m, size, c;
    double mass;            /* sum of the weights */
} Class;

INLINE double total_of(vec v) { return (v[0] + v[1]) + (v[2] + v[3]); }

INLINE vec greater(vec a, vec b) { return chosen(a > b, a, b); }

/* z for one column; else half the lead of the class over the best other one. Also gather
 * the scores (m, size) and the best score of every row. */
static void margins(const Class *class, double *scores, double *top, double *margin) {
    for (size_t j = 0; j < class->m; j++) {
        const double *z = class->Z + j * class->n;
        double *to = scores + j * class->size;
        for (size_t i = 0; i < class->size; i++) to[i] = z[class->rows[i]];
    }
    for (size_t i = 0; i < class->size; i += LANES) {
        vec other = all(-INFINITY), own = loaded(scores + i);
        if (class->m == 1) {
            stored(own, margin + i), stored(all(0), top + i);
            continue;
        }
        own = loaded(scores + class->c * class->size + i);
        for (size_t j = 0; j < class->m; j++)
            if (j != class->c) other = greater(loaded(scores + j * class->size + i), other);
        stored(greater(own, other), top + i);
        stored((own - other) / 2, margin + i);
    }
}

/* Silverman's width of the margins. */
static double width_of(const Class *class, const double *margin) {
    vec sum = all(0), squares = all(0), largest = all(0);
    for (size_t i = 0; i < class->size; i += LANES) {
        vec x = loaded(margin + i);
        sum += loaded(class->weight + i) * x;
        largest = greater(greater(x, -x), largest);
    }
    vec mean = all(total_of(sum) / class->mass);
    for (size_t i = 0; i < class->size; i += LANES) {
        vec gap = loaded(margin + i) - mean;
        squares += loaded(class->weight + i) * gap * gap;
    }
    double scale = fmax(fmax(largest[0], largest[1]), fmax(largest[2], largest[3]));
    double width = 1.06 * sqrt(total_of(squares) / class->mass) * pow(class->mass, -0.2);
    return fmax(width, fmax(1e-9 * scale, 1e-300));
}

/* Shares by softmax over the classes; `sums` and `shares` have room for m vectors each. */
static void share_out(const Class *class, const double *scores, const double *top,
                      double slope, vec *sums, vec *shares) {
    for (size_t j = 0; j < class->m; j++) sums[j] = all(0);
    for (size_t i = 0; i < class->size; i += LANES) {
        vec total = all(0), lead = loaded(top + i);
        for (size_t j = 0; j < class->m; j++) {
            shares[j] = exponential((loaded(scores + j * class->size + i) - lead) * slope);
            total += shares[j];
        }
        vec scale = loaded(class->weight + i) / total;
        for (size_t j = 0; j < class->m; j++) sums[j] += scale * shares[j];
    }
}

static vec second_share(const Class *class, const double *scores, double slope) {
    vec sum = all(0);
    for (size_t i = 0; i < class->size; i += LANES) {
        vec e = exponential(loaded(scores + i) * -slope);
        sum += loaded(class->weight + i) / (1 + e);
    }
    return sum;
}

static void smooth(const Class *class, double *room, double *row) {
    vec *sums = (vec *)room, *shares = sums + class->m;
    double *scores = (double *)(shares + class->m), *top = scores + class->m * class->size;
    double *margin = top + class->size;
    margins(class, scores, top, margin);
    double width = width_of(class, margin);
    if (class->m == 1) {
        row[1] = total_of(second_share(class, scores, 1.702 / width));
        row[0] = class->mass - row[1];
        return;
    }
    share_out(class, scores, top, 1 / (1.175 * width), sums, shares);
    for (size_t j = 0; j < class->m; j++) row[j] = total_of(sums[j]);
}

/* Fill `smoothed` (P, k, k). `rows` and `weight` (ends[k - 1]) hold the rows class by class,
 * each class in whole vectors up to its end; `room` holds (m + 2) columns of the largest
 * class and 2 m vectors. */
API void ecselm_smooth(const double *Z, size_t P, size_t m, size_t n, const int32_t *rows,
                       const double *weight, const int64_t *ends, const double *masses,
                       size_t k, double *room, double *smoothed) {
    for (size_t p = 0; p < P; p++)
        for (size_t c = 0; c < k; c++) {
            size_t start = c ? (size_t)ends[c - 1] : 0, size = (size_t)ends[c] - start;
            Class class = {Z + p * m * n, rows + start, weight + start, n, m, size, c, masses[c]};
            double *row = smoothed + (p * k + c) * k;
            for (size_t j = 0; j < k; j++) row[j] = 0;
            if (size) smooth(&class, room, row);
        }
}
