/* Cholesky and both substitutions for LANES candidates at once.
 *
 * For every candidate the matrix (n + m, n) holds A on top and its m right sides, as rows,
 * below: eliminating the rows below is the forward substitution. Both parts are padded to
 * multiples of TILE. `width` is the padded n, `height` the padded n plus the padded m.
 *
 * Rows are eliminated strip by strip, each against DEPTH finished columns at a time, so
 * that the innermost loop reads from the L1 cache. The diagonal holds the reciprocals of
 * the factor's.
 */
#include "lanes.h"

typedef struct {
    const double *tiles;  /* (n_tiles, groups, TILE * TILE), or NULL: the matrix is in place */
    size_t groups;
    const vec *costs;     /* (groups), the cost of each group in each lane */
    const vec *shift;     /* (width), added to the diagonal */
    const int64_t *starts; /* first non-zero column of each tile of right sides, or NULL */
} Source;

INLINE size_t padded(size_t n) { return (n + TILE - 1) / TILE * TILE; }

INLINE void load(const vec *w, size_t width, vec c[TILE][TILE]) {
    for (int r = 0; r < TILE; r++)
        for (int s = 0; s < TILE; s++) c[r][s] = w[r * width + s];
}

INLINE void store(vec *w, size_t width, vec c[TILE][TILE]) {
    for (int r = 0; r < TILE; r++)
        for (int s = 0; s < TILE; s++) w[r * width + s] = c[r][s];
}

/* c -= a b' for `depth` columns; b's rows are `row` apart and its columns `column`. */
INLINE void subtract(const vec *a, size_t width, const vec *b, size_t row, size_t column,
                     size_t depth, vec c[TILE][TILE]) {
    vec c00 = c[0][0], c01 = c[0][1], c02 = c[0][2];
    vec c10 = c[1][0], c11 = c[1][1], c12 = c[1][2];
    vec c20 = c[2][0], c21 = c[2][1], c22 = c[2][2];
    const vec *a1 = a + width, *a2 = a1 + width;
    for (size_t k = 0; k < depth; k++, b += column) {
        vec x0 = a[k], x1 = a1[k], x2 = a2[k], y = b[0];
        c00 -= x0 * y, c10 -= x1 * y, c20 -= x2 * y;
        y = b[row];
        c01 -= x0 * y, c11 -= x1 * y, c21 -= x2 * y;
        y = b[2 * row];
        c02 -= x0 * y, c12 -= x1 * y, c22 -= x2 * y;
    }
    c[0][0] = c00, c[0][1] = c01, c[0][2] = c02;
    c[1][0] = c10, c[1][1] = c11, c[1][2] = c12;
    c[2][0] = c20, c[2][1] = c21, c[2][2] = c22;
}

/* Sum the groups' tile, each times its cost: H'diag(B)H without a loop over rows. */
INLINE void weigh(const double *tile, const vec *costs, size_t groups, vec c[TILE][TILE]) {
    vec c0 = all(0), c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0, c6 = c0, c7 = c0, c8 = c0;
    for (size_t q = 0; q < groups; q++, tile += TILE * TILE) {
        vec b = costs[q];
        c0 += b * tile[0], c1 += b * tile[1], c2 += b * tile[2];
        c3 += b * tile[3], c4 += b * tile[4], c5 += b * tile[5];
        c6 += b * tile[6], c7 += b * tile[7], c8 += b * tile[8];
    }
    c[0][0] = c0, c[0][1] = c1, c[0][2] = c2;
    c[1][0] = c3, c[1][1] = c4, c[1][2] = c5;
    c[2][0] = c6, c[2][1] = c7, c[2][2] = c8;
}

/* Tiles are ordered by rows: the lower triangle, then the right sides. */
INLINE size_t position(size_t i, size_t j, size_t width) {
    size_t row = i / TILE, column = j / TILE, order = width / TILE;
    if (row < order) return row * (row + 1) / 2 + column;
    return order * (order + 1) / 2 + (row - order) * order + column;
}

INLINE void assemble(const Source *source, size_t i, size_t j, size_t width,
                     vec c[TILE][TILE]) {
    size_t at = position(i, j, width) * source->groups * TILE * TILE;
    weigh(source->tiles + at, source->costs, source->groups, c);
    if (i == j)
        for (int r = 0; r < TILE; r++) c[r][r] += source->shift[i + r];
}

/* Solve a tile against the factor's tile on the diagonal, from the right. */
INLINE void eliminate(const vec *d, size_t width, vec c[TILE][TILE]) {
    vec l10 = d[width], l20 = d[2 * width], l21 = d[2 * width + 1];
    for (int r = 0; r < TILE; r++) {
        vec x = c[r][0] * d[0], y = (c[r][1] - x * l10) * d[width + 1];
        c[r][0] = x, c[r][1] = y;
        c[r][2] = (c[r][2] - x * l20 - y * l21) * d[2 * width + 2];
    }
}

/* The same against the transposed factor. */
INLINE void eliminate_back(const vec *d, size_t width, vec c[TILE][TILE]) {
    vec l10 = d[width], l20 = d[2 * width], l21 = d[2 * width + 1];
    for (int r = 0; r < TILE; r++) {
        vec z = c[r][2] * d[2 * width + 2], y = (c[r][1] - z * l21) * d[width + 1];
        c[r][2] = z, c[r][1] = y, c[r][0] = (c[r][0] - y * l10 - z * l20) * d[0];
    }
}

INLINE void factor_tile(vec c[TILE][TILE], size_t n_real, vec pivots[2]) {
    for (int s = 0; s < TILE; s++) {
        vec d = c[s][s];
        for (int t = 0; t < s; t++) d -= c[s][t] * c[s][t];
        for (int l = 0; l < LANES && (size_t)s < n_real; l++) {
            if (!(d[l] >= pivots[0][l])) pivots[0][l] = d[l];  /* NaN counts as the least */
            if (d[l] > pivots[1][l]) pivots[1][l] = d[l];
        }
        d = all(1) / root(d);
        c[s][s] = d;
        for (int r = s + 1; r < TILE; r++) {
            vec x = c[r][s];
            for (int t = 0; t < s; t++) x -= c[r][t] * c[s][t];
            c[r][s] = x * d;
        }
    }
}

INLINE size_t begin_of(const Source *source, size_t i, size_t width) {
    return source->starts && i >= width ? (size_t)source->starts[(i - width) / TILE] : 0;
}

/* Subtract the contribution of columns from..end of the factor to a tile; it is 0 before
 * `begin`. */
INLINE void subtract_columns(const vec *W, size_t i, size_t j, size_t width, size_t from,
                             size_t end, size_t begin, vec c[TILE][TILE]) {
    if (begin > from) from = begin;
    if (end > from)
        subtract(W + i * width + from, width, W + j * width + from, width, 1, end - from, c);
}

/* Update the rows first..last with columns done..end, and finish those columns. */
INLINE void advance(const Source *source, size_t width, size_t first, size_t last,
                    size_t done, size_t end, vec *W) {
    size_t reach = last < width ? last : width;
    for (size_t j = done; j < reach; j += TILE) {
        for (size_t i = j > first ? j : first; i < last; i += TILE) {
            vec c[TILE][TILE], *w = W + i * width + j;
            size_t begin = begin_of(source, i, width);
            if (done == 0 && source->tiles) assemble(source, i, j, width, c);
            else load(w, width, c);
            subtract_columns(W, i, j, width, done, j < end ? j : end, begin, c);
            if (j < end) eliminate(W + j * width + j, width, c);
            store(w, width, c);
        }
    }
}

INLINE void factor_strip(const Source *source, size_t n, size_t width, size_t first,
                         size_t last, vec *W, vec pivots[2]) {
    size_t reach = last < width ? last : width;
    for (size_t j = first; j < reach; j += TILE)
        for (size_t i = j; i < last; i += TILE) {
            vec c[TILE][TILE], *w = W + i * width + j;
            load(w, width, c);
            subtract_columns(W, i, j, width, first, j, begin_of(source, i, width), c);
            if (i == j) factor_tile(c, n > i ? n - i : 0, pivots);
            else eliminate(W + j * width + j, width, c);
            store(w, width, c);
        }
}

static void factor(const Source *source, size_t n, size_t width, size_t height, vec *W,
                   vec pivots[2]) {
    size_t n_strips = (height + STRIP - 1) / STRIP;
    size_t strip = padded((height + n_strips - 1) / n_strips);  /* of about equal size */
    pivots[0] = all(INFINITY), pivots[1] = all(0);
    for (size_t first = 0; first < height; first += strip) {
        size_t last = first + strip < height ? first + strip : height;
        size_t before = first < width ? first : width, done = 0;
        do {
            size_t end = done + DEPTH < before ? done + DEPTH : before;
            advance(source, width, first, last, done, end, W);
            done += DEPTH;
        } while (done < before);
        factor_strip(source, n, width, first, last, W, pivots);
    }
}

/* Solve the rows below A against the transposed factor, from the last column to the first. */
static void substitute_back(size_t width, size_t height, vec *W) {
    for (size_t i = width; i > 0;) {
        i -= TILE;
        const vec *d = W + i * width + i;
        size_t k = i + TILE;
        do {
            size_t end = k + COLUMN < width ? k + COLUMN : width;
            for (size_t o = width; o < height; o += TILE) {
                vec c[TILE][TILE], *w = W + o * width;
                load(w + i, width, c);
                subtract(w + k, width, W + k * width + i, 1, width, end - k, c);
                if (end == width) eliminate_back(d, width, c);
                store(w + i, width, c);
            }
            k = end;
        } while (k < width);
    }
}

/* Lanes beyond the last candidate repeat it. */
INLINE vec gathered(const double *values, size_t stride, size_t n_lanes) {
    vec x = all(0);
    for (size_t l = 0; l < LANES; l++) x[l] = values[(l < n_lanes ? l : n_lanes - 1) * stride];
    return x;
}

/* Turn solutions for one-hot targets E into those for 2 E - 1: their sum is that for 1. */
static void recode(size_t n, size_t m, size_t width, vec *W) {
    for (size_t i = 0; i < n; i++) {
        vec sum = all(0), *x = W + width * width + i;
        for (size_t o = 0; o < m; o++) sum += x[o * width];
        for (size_t o = 0; o < m; o++) x[o * width] = 2 * x[o * width] - sum;
    }
}

static void solve_lanes(const Source *source, size_t n, size_t m, size_t n_lanes,
                        const int64_t *order, vec *W, double *beta, double *pivots) {
    size_t width = padded(n), height = width + padded(m);
    vec extremes[2];
    factor(source, n, width, height, W, extremes);
    substitute_back(width, height, W);
    if (order) recode(n, m, width, W);
    for (size_t l = 0; l < n_lanes; l++) {
        pivots[2 * l] = extremes[0][l], pivots[2 * l + 1] = extremes[1][l];
        for (size_t o = 0; o < m; o++)
            for (size_t i = 0; i < n; i++)
                beta[(l * m + o) * n + (order ? order[i] : (int64_t)i)] =
                    W[(width + o) * width + i][l];
    }
}

/* Sizes: `shift` (P, n) with step 1, or (P) with step 0; `room` holds a matrix in lanes,
 * then LANES * (groups + width) numbers; `beta` (P, m, n), `pivots` (P, 2). Unless NULL,
 * `order` (n) is the order of the rows of the tiles, class by class, and right sides are
 * one column for each class, 0 before `starts`: a third of the forward substitution
 * remains. Solutions are then for targets of -1 and 1, in the order of `shift`. */
API void ecselm_solve_groups(const double *tiles, size_t groups, size_t n, size_t m, size_t P,
                             const double *costs, const double *shift, size_t step,
                             const int64_t *order, const int64_t *starts, double *room,
                             double *beta, double *pivots) {
    size_t width = padded(n), height = width + padded(m);
    vec *W = (vec *)room, *b = W + width * height, *d = b + groups;
    for (size_t p = 0; p < P; p += LANES) {
        size_t n_lanes = P - p < LANES ? P - p : LANES;
        for (size_t q = 0; q < groups; q++) b[q] = gathered(costs + p * groups + q, groups, n_lanes);
        for (size_t i = 0; i < width; i++) {
            size_t at = step ? p * n + (order && i < n ? (size_t)order[i] : i) : p;
            d[i] = i < n ? gathered(shift + at, step ? n : 1, n_lanes) : all(1);
        }
        Source source = {tiles, groups, b, d, starts};
        solve_lanes(&source, n, m, n_lanes, order, W, beta + p * m * n, pivots + 2 * p);
    }
}

/* Interleave the lower triangles of LANES matrices (height, width), with padding and shift
 * on their diagonals; add `change` times the outer product of `row`, if any. */
static void interleave(const double *matrices, size_t n, size_t width, size_t height,
                       vec shift, const vec *row, vec change, vec *W) {
    size_t stride = height * width;
    for (size_t i = 0; i < height; i++) {
        const double *x = matrices + i * width;
        size_t reach = i < width ? i / TILE * TILE + TILE : width;
        vec *w = W + i * width, scaled = row ? change * row[i] : all(0);
        for (size_t j = 0; j < reach; j++)
            w[j] = (vec){x[j], x[stride + j], x[2 * stride + j], x[3 * stride + j]};
        for (size_t j = 0; row && j < reach; j++) w[j] += scaled * row[j];
        if (i < width) w[i] += i < n ? shift : all(1);
    }
}

/* As above, with one matrix (P, height, width) for each candidate, P a multiple of LANES.
 * Unless `rows` (P, height) is NULL, `change` (P) times the outer product of its row is
 * added to each. */
API void ecselm_solve_matrices(const double *matrices, size_t n, size_t m, size_t P,
                               const double *shift, const double *rows, const double *change,
                               double *room, double *beta, double *pivots) {
    size_t width = padded(n), height = width + padded(m);
    vec *W = (vec *)room, *row = W + width * height;
    const Source in_place = {NULL, 0, NULL, NULL, NULL};
    for (size_t p = 0; p < P; p += LANES) {
        for (size_t i = 0; rows && i < height; i++)
            row[i] = gathered(rows + p * height + i, height, LANES);
        interleave(matrices + p * height * width, n, width, height,
                   gathered(shift + p, 1, LANES), rows ? row : NULL,
                   rows ? gathered(change + p, 1, LANES) : all(0), W);
        solve_lanes(&in_place, n, m, LANES, NULL, W, beta + p * m * n, pivots + 2 * p);
    }
}
