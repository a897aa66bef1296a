"""The functions of the library, with arrays for pointers.

Callers are responsible for shapes; types and memory order are converted here. Rows and
columns of matrices are padded to multiples of ``TILE``, as in ``cholesky.c``.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._typing import BoolArray, FloatArray, IntArray

FOLDER = Path(__file__).parent
SWITCH = "ECSELM_COMPILED"  # "0" for none, or the name of the widest library allowed
VARIANTS = ("plain", "avx2", "avx512")  # from the narrowest to the widest

_setting = os.environ.get(SWITCH, "1")
if _setting not in ("0", "1", *VARIANTS):
    raise ValueError(f"{SWITCH} must be 0, 1 or one of {', '.join(VARIANTS)}, got {_setting!r}")
_off = [_setting == "0"]


@cache
def _loaded() -> tuple[str, ctypes.CDLL] | None:
    """Return the widest allowed library that this processor can run, with its name."""
    allowed = VARIANTS[: VARIANTS.index(_setting) + 1] if _setting in VARIANTS else VARIANTS
    for name in reversed(allowed):
        opened = _open(name) if runs(name) else None
        if opened is not None:
            return name, opened
    return None


def runs(name: str) -> bool:
    """Tell whether this processor has the instructions of a library."""
    plain = _open("plain")  # its functions can be called on any processor
    if plain is None or name == "plain":
        return plain is not None
    return bool(getattr(plain, f"ecselm_has_{name}")())


def _open(name: str) -> ctypes.CDLL | None:
    try:
        opened = ctypes.CDLL(str(FOLDER / f"{name}.so"))
    except OSError:  # not built, or for another machine
        return None
    if not hasattr(opened, "ecselm_moments64"):  # built from other sources
        return None
    opened.ecselm_count_checked.restype = ctypes.c_size_t
    return opened


def library() -> ctypes.CDLL:
    """Return the library; ask :func:`is_available` first."""
    loaded = _loaded()
    if loaded is None:
        raise RuntimeError("ecselm must be installed with a C compiler for this, got none")
    return loaded[1]


def is_available() -> bool:
    """Tell whether the compiled path is there and switched on."""
    return not _off[-1] and _loaded() is not None


def is_wide() -> bool:
    """Tell whether vectors are wider than those every processor has: then products beat BLAS."""
    loaded = _loaded()
    return is_available() and loaded is not None and loaded[0] != "plain"


def path_name() -> str:
    """Return what solves: "compiled, avx512", "..., avx2", "..., plain" or "LAPACK".

    Examples
    --------
    >>> with disabled():
    ...     path_name()
    'LAPACK'
    """
    loaded = _loaded()
    return f"compiled, {loaded[0]}" if loaded and is_available() else "LAPACK"


@contextmanager
def disabled() -> Iterator[None]:
    """Make engines that are built meanwhile solve through LAPACK."""
    _off.append(True)
    try:
        yield
    finally:
        _off.pop()


LANES = 4
TILE = 3
PANEL = 128  # rows of float64 that products.c collects
STRIDE = PANEL + 1
EDGE = 64  # more than a strip or a tile of the library is wide
ACTIVATIONS = {"linear": 0, "radbas": 1, "sigmoid": 2}

_own = threading.local()


def padded(n: int) -> int:
    """Return ``n`` rounded up to whole tiles."""
    return -(-n // TILE) * TILE


def tiled(matrices: FloatArray, right_sides: FloatArray) -> FloatArray:
    """Lay out symmetric matrices (g, n, n) over right sides (g, m, n) for ``solve_groups``.

    Returns (n_tiles, g, 9): for every tile the entries of all groups side by side.
    """
    g, m, n = right_sides.shape
    width = padded(n)
    full = np.zeros((g, width + padded(m), width))
    full[:, :n, :n] = matrices
    full[:, width : width + m, :n] = right_sides
    tiles = full.reshape(g, -1, TILE, width // TILE, TILE).transpose(1, 3, 0, 2, 4)
    tiles = tiles.reshape(len(tiles), width // TILE, g, TILE * TILE)
    order = width // TILE
    below = tiles[order:].reshape(-1, g, TILE * TILE)
    return np.ascontiguousarray(np.concatenate([tiles[np.tril_indices(order)], below]))


def solve_groups(
    tiles: FloatArray,
    shape: tuple[int, int],
    costs: FloatArray,
    shift: FloatArray,
    classes: tuple[IntArray, IntArray] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Solve ``(sum_q b_q A_q + diag(shift)) X = sum_q b_q Y_q`` for every candidate.

    Parameters
    ----------
    tiles : array from :func:`tiled`
    shape : (n, m)
    costs : array of shape (P, g)
    shift : array of shape (P,) or (P, n)
    classes : pair of arrays, default=None
        The order (n,) of the rows in the tiles, class by class, and for every tile of
        right sides its first non-zero column. Right sides are then one-hot, and X is for
        targets of -1 and 1, its columns in the order of ``shift``.

    Returns
    -------
    X : array of shape (P, m, n)
    pivots : array of shape (P, 2)
        The least and the greatest pivot; the least is NaN or negative where the matrix is
        not positive definite, and X is then undefined.
    """
    n, m = shape
    P, g = costs.shape
    X, pivots = np.empty((P, m, n)), np.empty((P, 2))
    width = padded(n)
    buffer = _buffer(LANES * (width * (width + padded(m)) + g + width))
    _call(
        "ecselm_solve_groups",
        *(tiles, g, n, m, P, _plain(costs), _plain(shift), shift.ndim - 1),
        *((None, None) if classes is None else classes),
        *(buffer, X, pivots),
    )
    return X, pivots


def solve_matrices(
    matrices: FloatArray,
    shape: tuple[int, int],
    shift: FloatArray,
    rows: FloatArray | None = None,
    change: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Solve ``(A_p + shift_p) X = Y_p`` for matrices over right sides, (P, height, width).

    Only lower triangles are read. P must be a multiple of ``LANES``. If there are ``rows``
    (P, height), ``change`` (P,) times the outer product of its row is added to each matrix.
    """
    n, m = shape
    P, height, width = matrices.shape
    X, pivots = np.empty((P, m, n)), np.empty((P, 2))
    buffer = _buffer(LANES * (width * height + height))
    _call(
        "ecselm_solve_matrices",
        *(matrices, n, m, P, _plain(shift), rows, change, buffer, X, pivots),
    )
    return X, pivots


def add_products(X: FloatArray, d: FloatArray, sums: FloatArray) -> None:
    """Add ``X'diag(d_p)X`` to the lower triangles of ``sums`` (P, height, width)."""
    P, height, width = sums.shape
    buffer = _buffer(2 * STRIDE * (height + EDGE))
    _call("ecselm_add_products", X, len(X), height, width, P, _plain(d), buffer, sums)


def add_gram(
    rows: tuple[FloatArray, FloatArray],
    w: FloatArray | None,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Add ``[H T]'diag(w)H`` to the lower part of ``sums`` (L + m, L), for w >= 0.

    The diagonal of ``T'diag(w)T`` is added to ``squares`` (m,); both are float64. ``rows``,
    H (N, L) and T (N, m), and w (N,) are contiguous and all float64, or all float32: then
    256 rows are summed in float32, and those sums in float64.
    """
    H, T = rows
    (N, L), m = H.shape, T.shape[1]
    buffer = _buffer(STRIDE * (L + m + EDGE))
    _call(f"ecselm_add_gram{8 * H.itemsize}", H, T, w, N, L, m, buffer, sums, squares)


def add_rows(X: FloatArray, rows: IntArray, d: FloatArray, sums: FloatArray) -> None:
    """Add ``d_p`` times the outer product of the row ``rows[p]`` of X to ``sums`` (P, ...)."""
    P, height, width = sums.shape
    _call("ecselm_add_rows", X, height, width, P, rows.astype(np.int64), _plain(d), sums)


def compare(
    costs: FloatArray, kept: FloatArray, tried: FloatArray
) -> tuple[BoolArray, IntArray, IntArray]:
    """Return for costs (P, N) whether ``tried`` shares more of them than ``kept``.

    Also returned are the number of costs that differ from the nearer one, and the first
    row that differs.
    """
    facts = np.empty((len(costs), 3), dtype=np.int64)
    _call("ecselm_compare", _plain(costs), kept, tried, *costs.shape, facts)
    return facts[:, 0] > 0, facts[:, 1], facts[:, 2]


def count(
    Z: FloatArray, y: IntArray, weight: FloatArray | None, k: int, counts: FloatArray
) -> None:
    """Add the confusion matrices of scores ``Z`` (P, m, n) to ``counts`` (P, k, k).

    ``y`` are int32 and ``weight`` float64, both (n,).
    """
    P, m, n = Z.shape
    _call("ecselm_count", Z, P, m, n, y, weight, k, _buffer(2 * n), counts)


def count_checked(
    Z: FloatArray,
    y: IntArray,
    weight: FloatArray | None,
    k: int,
    exact: tuple[FloatArray, FloatArray],
    reach: tuple[FloatArray, FloatArray],
    counts: FloatArray,
) -> int:
    """Add the confusion matrices of float64, from scores (P, m, n) in float32.

    Rows i whose best scores are nearer to each other than ``reach[0][i] * reach[1][p]``
    are scored again from ``exact``, H (n, L) and beta (P, m, L). Returns their number.
    """
    P, m, n = Z.shape
    H, beta = exact
    return int(
        _call(
            "ecselm_count_checked",
            *(Z, P, m, n, y, weight, k, _plain(H), _plain(beta), H.shape[1]),
            *(reach[0], reach[1], _buffer(2 * n), counts),
        )
    )


def smooth(Z: FloatArray, y: IntArray, weight: FloatArray | None, k: int) -> FloatArray:
    """Return the smoothed confusion matrices (P, k, k) of scores ``Z`` (P, m, n)."""
    P, m, n = Z.shape
    w = np.ones(n) if weight is None else weight
    rows, weights, ends = by_class(y, w, k)
    masses = np.bincount(y, weights=w, minlength=k)
    smoothed = np.empty((P, k, k))
    buffer = _buffer((m + 2) * int(np.diff(ends, prepend=0).max()) + 2 * m * LANES)
    _call("ecselm_smooth", Z, P, m, n, rows, weights, ends, masses, k, buffer, smoothed)
    return smoothed


def by_class(y: IntArray, weight: FloatArray, k: int) -> tuple[IntArray, FloatArray, IntArray]:
    """Return rows by class, each class in whole vectors; their weights; the ends of classes.

    Classes are padded with their first row at weight 0.

    Examples
    --------
    >>> by_class(np.array([1, 0, 1]), np.ones(3), 2)[::2]
    (array([1, 1, 1, 1, 0, 2, 0, 0], dtype=int32), array([4, 8]))
    """
    sizes = np.bincount(y, minlength=k)
    lengths = -(-sizes // LANES) * LANES
    ends, firsts = np.cumsum(lengths), np.cumsum(sizes) - sizes
    order = np.argsort(y, kind="stable")
    positions = np.arange(len(y)) + np.repeat(ends - lengths - firsts, sizes)
    padding = order[np.minimum(firsts, len(y) - 1)]
    rows, weights = np.repeat(padding, lengths).astype(np.int32), np.zeros(ends[-1])
    rows[positions], weights[positions] = order, weight[order]
    return rows, weights, ends.astype(np.int64)


def activate(A: FloatArray, activation: str) -> None:
    """Overwrite contiguous ``A``, float64 or float32, by ``"radbas"`` or ``"sigmoid"`` of it."""
    _call(f"ecselm_activate{8 * A.itemsize}", A, A.size, ACTIVATIONS[activation])


def project(
    X: FloatArray,
    weights: tuple[FloatArray, FloatArray],
    center: FloatArray | None,
    activation: str,
    out: FloatArray,
) -> None:
    """Fill ``out`` (N, L) with ``g((X - center) W + b)``; ``"linear"`` stands for no g.

    All arrays are contiguous and of one type, float64 or float32.
    """
    W, b = weights
    (N, n), L = X.shape, len(b)
    buffer = _buffer((n + 1) * (L + EDGE) + EDGE * n)
    name, code = f"ecselm_project{8 * out.itemsize}", ACTIVATIONS[activation]
    _call(name, X, N, n, W, b, L, center, code, buffer, out)


def squared_norms(F: FloatArray, R: FloatArray) -> FloatArray:
    """Return the squared norms (N,) of the rows of ``F R``, for an upper triangle R (L, L).

    Only float64; all of R is read, with zeros below the diagonal.
    """
    (N, L), norms = F.shape, np.empty(len(F))
    _call("ecselm_norms", _plain(F), N, L, _plain(R), _buffer((L + 1) * (L + EDGE) + 32 * L), norms)
    return norms


def add_moments(
    X: FloatArray, share: FloatArray, origin: FloatArray, sums: FloatArray, *, squared: bool
) -> None:
    """Add ``sum_i share_i (x_i - origin)`` to ``sums`` (n,), or the sum of squares.

    X (N, n) is contiguous, float64 or float32; all others are float64.
    """
    name = f"ecselm_moments{8 * X.itemsize}"
    _call(name, X, *X.shape, _plain(share), _plain(origin), int(squared), sums)


def _plain(values: FloatArray) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)


def _call(name: str, *arguments: Any) -> Any:
    """Call the library, which lets other threads run meanwhile."""
    return getattr(library(), name)(*map(_converted, arguments))


def _converted(value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p(None)
    if isinstance(value, np.ndarray):
        try:  # a view of the buffer takes a third of the time of value.ctypes
            return ctypes.byref(ctypes.c_char.from_buffer(value))  # type: ignore[arg-type]
        except (TypeError, ValueError, BufferError):  # read-only, or empty
            return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_size_t(value)


def _buffer(n: int) -> FloatArray:
    """Return an aligned buffer for ``n`` numbers of either type, reused by the calling thread."""
    buffer: FloatArray | None = getattr(_own, "buffer", None)
    if buffer is None or len(buffer) < n:
        raw = np.empty(n + 8)
        start = (-raw.ctypes.data // 8) % 8
        buffer = _own.buffer = raw[start : start + n]
    return buffer
