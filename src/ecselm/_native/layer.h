/* A block of a hidden layer, for one type of number: the activation is applied to a tile of
 * products while it is in registers. */

#define ROWS (4 * TALL) /* that share a strip of weights */

enum { OF(LINEAR), OF(RADBAS), OF(SIGMOID) };

INLINE VEC OF(activated)(VEC a, const size_t activation) {
    if (activation == OF(RADBAS)) return OF(exp)(-a * a);
    if (activation == OF(SIGMOID)) return 1 / (1 + OF(exp)(-a));
    return a;
}

/* Activate a[0..n) in place. */
INLINE void OF(activate)(REAL *a, size_t n, const size_t activation) {
    size_t i = 0;
    for (; i + LENGTH <= n; i += LENGTH)
        OF(put)(OF(activated)(OF(get)(a + i), activation), a + i);
    if (i < n) {
        REAL last[LENGTH] = {0};
        for (size_t c = 0; i + c < n; c++) last[c] = a[i + c];
        OF(put)(OF(activated)(OF(get)(last), activation), last);
        for (size_t c = 0; i + c < n; c++) a[i + c] = last[c];
    }
}

/* Write `rows` rows of a tile, `columns` wide, that begins at `out`. */
INLINE void OF(tile)(const REAL *X, size_t n, const REAL *strip, const REAL *b,
                     const int vectors, const size_t activation, size_t rows, size_t columns,
                     size_t L, REAL *out) {
    VEC acc[TALL][VECTORS];
    OF(multiply)(X, n, 1, strip, n, vectors, acc);
#pragma GCC unroll 8
    for (size_t r = 0; r < TALL; r++) {
        if (r >= rows) break;
        REAL last[LENGTH];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            VEC a = OF(activated)(acc[r][v] + OF(get)(b + v * LENGTH), activation);
            if ((v + 1) * LENGTH <= columns) {
                OF(put)(a, out + r * L + v * LENGTH);
                continue;
            }
            OF(put)(a, last);
            for (size_t c = 0; c < LENGTH && v * LENGTH + c < columns; c++)
                out[r * L + v * LENGTH + c] = last[c];
        }
    }
}

/* Copy W (n, L) into strips, and b, if any, after them, with zeros up to whole strips. */
INLINE void OF(pack)(const REAL *W, size_t n, const REAL *b, size_t L, REAL *strips) {
    size_t n_strips = (L + WIDE - 1) / WIDE;
    REAL *biases = strips + n_strips * n * WIDE;
    for (size_t j = 0; j < n_strips * WIDE; j++) {
        REAL *to = strips + j / WIDE * n * WIDE + j % WIDE;
        for (size_t k = 0; k < n; k++, to += WIDE) *to = j < L ? W[k * L + j] : 0;
        biases[j] = b && j < L ? b[j] : 0;
    }
}

INLINE void OF(project)(const REAL *X, size_t N, size_t n, const REAL *W, const REAL *b,
                        size_t L, const REAL *center, const size_t activation, REAL *room,
                        REAL *H) {
    size_t n_strips = (L + WIDE - 1) / WIDE;
    REAL *biases = room + n_strips * n * WIDE, *copy = biases + n_strips * WIDE;
    OF(pack)(W, n, b, L, room);
    for (size_t first = 0; first < N; first += ROWS) {
        size_t rows = N - first < ROWS ? N - first : ROWS;
        const REAL *x = X + first * n;
        if (center || rows < ROWS) { /* whole tiles are read: the rows missing are 0 */
            for (size_t i = 0; i < ROWS; i++)
                for (size_t k = 0; k < n; k++)
                    copy[i * n + k] = i >= rows ? 0 : x[i * n + k] - (center ? center[k] : 0);
            x = copy;
        }
        for (size_t j = 0; j < L; j += WIDE) {
            const REAL *strip = room + j * n, *bias = biases + j;
            size_t columns = L - j < WIDE ? L - j : WIDE;
            for (size_t i = 0; i < rows; i += TALL) {
                size_t some = rows - i < TALL ? rows - i : TALL;
                REAL *out = H + (first + i) * L + j;
                if (columns > WIDE - LENGTH)
                    OF(tile)(x + i * n, n, strip, bias, VECTORS, activation, some, columns, L, out);
                else if (columns > WIDE - 2 * LENGTH)
                    OF(tile)(x + i * n, n, strip, bias, VECTORS - 1, activation, some, columns, L,
                             out);
                else
                    OF(tile)(x + i * n, n, strip, bias, 1, activation, some, columns, L, out);
            }
        }
    }
}

/* Fill norms (N) with those of the rows of F R, squared: F (N, L), and R (L, L), which is 0
 * below its diagonal, so that a strip of it ends with the diagonal. */
INLINE void OF(norms)(const REAL *F, size_t N, size_t L, const REAL *R, REAL *room, REAL *norms) {
    REAL *copy = room + (L + WIDE - 1) / WIDE * WIDE * (L + 1);
    OF(pack)(R, L, NULL, L, room);
    for (size_t first = 0; first < N; first += TALL) {
        size_t rows = N - first < TALL ? N - first : TALL;
        const REAL *f = F + first * L;
        if (rows < TALL) { /* as above */
            for (size_t i = 0; i < TALL * L; i++) copy[i] = i < rows * L ? f[i] : 0;
            f = copy;
        }
        VEC total[TALL] = {{0}};
        for (size_t j = 0; j < L; j += WIDE) {
            VEC acc[TALL][VECTORS];
            OF(multiply)(f, L, 1, room + j * L, L - j < WIDE ? L : j + WIDE, VECTORS, acc);
            for (size_t r = 0; r < TALL; r++)
                for (size_t v = 0; v < VECTORS; v++) total[r] += acc[r][v] * acc[r][v];
        }
        for (size_t r = 0; r < rows; r++) {
            REAL sum = 0;
            for (size_t l = 0; l < LENGTH; l++) sum += total[r][l];
            norms[first + r] = sum;
        }
    }
}

#undef ROWS
