/* One call of a hot loop of the C library on fixed data, for counting its instructions.
 *
 * The first argument names the loop; see instructions.py.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ecselm_add_gram64(const double *, const double *, const double *, size_t, size_t, size_t,
                       double *, double *, double *);
void ecselm_add_gram32(const float *, const float *, const float *, size_t, size_t, size_t,
                       float *, double *, double *);
void ecselm_project64(const double *, size_t, size_t, const double *, const double *, size_t,
                      const double *, size_t, double *, double *);
void ecselm_project32(const float *, size_t, size_t, const float *, const float *, size_t,
                      const float *, size_t, float *, float *);
void ecselm_add_products(const double *, size_t, size_t, size_t, size_t, const double *,
                         double *, double *);
void ecselm_solve_matrices(const double *, size_t, size_t, size_t, const double *,
                           const double *, const double *, double *, double *, double *);
void ecselm_count(const double *, size_t, size_t, size_t, const int32_t *, const double *,
                  size_t, double *, double *);
void ecselm_smooth(const double *, size_t, size_t, size_t, const int32_t *, const double *,
                   const int64_t *, const double *, size_t, double *, double *);

enum { ROWS = 512, INPUTS = 50, UNITS = 99, TARGETS = 3, SIZE = 1 << 18 };

static uint64_t state = 1;

static double drawn(void) { /* a linear congruential generator: the same everywhere */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static double *doubles(void) {
    double *x = aligned_alloc(64, SIZE * sizeof *x);
    for (size_t i = 0; i < SIZE; i++) x[i] = drawn();
    return x;
}

static float *floats(void) {
    float *x = aligned_alloc(64, SIZE * sizeof *x);
    for (size_t i = 0; i < SIZE; i++) x[i] = (float)drawn();
    return x;
}

int main(int n, char **names) {
    const char *name = n > 1 ? names[1] : "";
    double *X = doubles(), *W = doubles(), *w = doubles(), *room = doubles(), *out = doubles();
    double *more = doubles();
    float *x32 = floats(), *w32 = floats(), *room32 = floats(), *out32 = floats();
    if (!strcmp(name, "add_gram64"))
        ecselm_add_gram64(X, W, w, ROWS, UNITS, TARGETS, room, out, more);
    else if (!strcmp(name, "add_gram32"))
        ecselm_add_gram32(x32, w32, w32, ROWS, UNITS, TARGETS, room32, out, more);
    else if (!strcmp(name, "project64"))
        ecselm_project64(X, ROWS, INPUTS, W, w, UNITS, NULL, 1, room, out);
    else if (!strcmp(name, "project32"))
        ecselm_project32(x32, ROWS, INPUTS, w32, w32, UNITS, NULL, 1, room32, out32);
    else if (!strcmp(name, "add_products")) {
        for (size_t i = 0; i < 4 * ROWS; i++) w[i] = w[i] < 0.5 ? 0 : w[i] - 0.75;
        ecselm_add_products(X, ROWS, UNITS + TARGETS, UNITS, 4, w, room, out);
    } else if (!strcmp(name, "solve_matrices")) {
        double shift[4] = {UNITS, UNITS, UNITS, UNITS};
        ecselm_solve_matrices(X, UNITS, TARGETS, 4, shift, NULL, NULL, room, out, more);
    } else if (!strcmp(name, "count") || !strcmp(name, "smooth")) {
        int32_t *y = malloc(ROWS * sizeof *y), *rows = malloc(ROWS * sizeof *rows);
        int64_t ends[4] = {128, 256, 384, 512};
        double masses[4] = {128, 128, 128, 128};
        for (int32_t i = 0; i < ROWS; i++) y[i] = i / 128, rows[i] = i, w[i] = 1;
        if (*name == 'c') ecselm_count(X, 16, 4, ROWS, y, NULL, 4, room, out);
        else ecselm_smooth(X, 16, 4, ROWS, rows, w, ends, masses, 4, room, out);
    } else {
        fprintf(stderr, "no loop is called %s\n", name);
        return 1;
    }
    return 0;
}
