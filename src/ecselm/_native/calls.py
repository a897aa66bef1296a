"""The functions of the library, with arrays for pointers.

Shapes are the caller's duty; types and memory order are seen to here. Rows and columns
of matrices are padded to multiples of ``TILE``, as in ``cholesky.c``.
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
SWITCH = "ECSELM_COMPILED"

_off = [os.environ.get(SWITCH, "1") == "0"]


@cache
def _loaded() -> tuple[str, ctypes.CDLL] | None:
    """Return the fastest library that this processor can run, with its name."""
    plain = _open("plain")
    if plain is None:
        return None
    fast = _open("avx2") if plain.ecselm_has_avx2() else None
    return ("plain", plain) if fast is None else ("avx2", fast)


def _open(name: str) -> ctypes.CDLL | None:
    try:
        opened = ctypes.CDLL(str(FOLDER / f"{name}.so"))
    except OSError:  # not built, or for another machine
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


def path_name() -> str:
    """Return what solves: "compiled, avx2", "compiled, plain" or "LAPACK".

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
PANEL = 128
EDGE = 64  # more than a strip of products.c is wide

_own = threading.local()


def padded(n: int) -> int:
    """Return ``n`` rounded up to whole tiles."""
    return -(-n // TILE) * TILE


def tiled(matrices: FloatArray, right_sides: FloatArray) -> FloatArray:
    """Lay out symmetric matrices (g, n, n) over right sides (g, m, n) for ``solve_groups``.

    Returns (n_tiles, g, 9): of every tile the parts of all groups side by side.
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
        The order (n,) in which rows lie in the tiles, class by class, and for every tile
        of right sides the column before which it is 0. Right sides are one-hot then, and
        X is for targets of -1 and 1, its columns in the order of ``shift``.

    Returns
    -------
    X : array of shape (P, m, n)
    pivots : array of shape (P, 2)
        The least and the greatest pivot; the least is NaN or negative where the matrix is
        not positive definite, and X means nothing then.
    """
    n, m = shape
    P, g = costs.shape
    X, pivots = np.empty((P, m, n)), np.empty((P, 2))
    width = padded(n)
    room = _room(LANES * (width * (width + padded(m)) + g + width))
    _call(
        "ecselm_solve_groups",
        *(tiles, g, n, m, P, _plain(costs), _plain(shift), shift.ndim - 1),
        *((None, None) if classes is None else classes),
        *(room, X, pivots),
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
    room = _room(LANES * (width * height + height))
    _call(
        "ecselm_solve_matrices",
        *(matrices, n, m, P, _plain(shift), rows, change, room, X, pivots),
    )
    return X, pivots


def add_products(X: FloatArray, d: FloatArray, sums: FloatArray) -> None:
    """Add ``X'diag(d_p)X`` to the lower triangles of ``sums`` (P, height, width)."""
    P, height, width = sums.shape
    room = _room(PANEL * (height + width + EDGE))
    _call("ecselm_add_products", X, len(X), height, width, P, _plain(d), room, sums)


def add_rows(X: FloatArray, rows: IntArray, d: FloatArray, sums: FloatArray) -> None:
    """Add ``d_p`` times the outer product of the row ``rows[p]`` of X to ``sums`` (P, ...)."""
    P, height, width = sums.shape
    _call("ecselm_add_rows", X, height, width, P, rows.astype(np.int64), _plain(d), sums)


def compare(
    costs: FloatArray, kept: FloatArray, tried: FloatArray
) -> tuple[BoolArray, IntArray, IntArray]:
    """Tell of costs (P, N) if ``tried`` is nearer than ``kept``.

    Returns that, how many costs differ from the nearer one, and a row in which they do.
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
    _call("ecselm_count", Z, P, m, n, y, weight, k, _room(2 * n), counts)


def count_checked(
    Z: FloatArray,
    y: IntArray,
    weight: FloatArray | None,
    k: int,
    exact: tuple[FloatArray, FloatArray],
    reach: tuple[FloatArray, FloatArray],
    counts: FloatArray,
) -> int:
    """Add what float64 would count, from scores (P, m, n) in float32.

    Rows i whose best scores are nearer to each other than ``reach[0][i] * reach[1][p]``
    are scored again from ``exact``, H (n, L) and beta (P, m, L). Returns their number.
    """
    P, m, n = Z.shape
    H, beta = exact
    return int(
        _call(
            "ecselm_count_checked",
            *(Z, P, m, n, y, weight, k, _plain(H), _plain(beta), H.shape[1]),
            *(reach[0], reach[1], _room(2 * n), counts),
        )
    )


def smooth(Z: FloatArray, y: IntArray, weight: FloatArray | None, k: int) -> FloatArray:
    """Return the smoothed confusion matrices (P, k, k) of scores ``Z`` (P, m, n)."""
    P, m, n = Z.shape
    w = np.ones(n) if weight is None else weight
    rows, heavy, ends = by_class(y, w, k)
    masses = np.bincount(y, weights=w, minlength=k)
    smoothed = np.empty((P, k, k))
    room = _room((m + 2) * int(np.diff(ends, prepend=0).max()) + 2 * m * LANES)
    _call("ecselm_smooth", Z, P, m, n, rows, heavy, ends, masses, k, room, smoothed)
    return smoothed


def by_class(y: IntArray, weight: FloatArray, k: int) -> tuple[IntArray, FloatArray, IntArray]:
    """Return rows class by class, each class in whole vectors; weights; where classes end.

    What fills a class up is its first row, at no weight.

    Examples
    --------
    >>> by_class(np.array([1, 0, 1]), np.ones(3), 2)[::2]
    (array([1, 1, 1, 1, 0, 2, 0, 0], dtype=int32), array([4, 8]))
    """
    sizes = np.bincount(y, minlength=k)
    room = -(-sizes // LANES) * LANES
    ends, firsts = np.cumsum(room), np.cumsum(sizes) - sizes
    order = np.argsort(y, kind="stable")
    places = np.arange(len(y)) + np.repeat(ends - room - firsts, sizes)
    fillers = order[np.minimum(firsts, len(y) - 1)]
    rows, heavy = np.repeat(fillers, room).astype(np.int32), np.zeros(ends[-1])
    rows[places], heavy[places] = order, weight[order]
    return rows, heavy, ends.astype(np.int64)


def radbas(A: FloatArray) -> None:
    """Overwrite contiguous float64 ``A`` by ``exp(-a^2)``."""
    _call("ecselm_radbas", A, A.size)


def _plain(values: FloatArray) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)


def _call(name: str, *arguments: Any) -> Any:
    """Call the library, which lets other threads run meanwhile."""
    return getattr(library(), name)(*map(_converted, arguments))


def _converted(value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p(None)
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_size_t(value)


def _room(n: int) -> FloatArray:
    """Return a place for ``n`` numbers, on a boundary that vectors need, kept by the thread."""
    room: FloatArray | None = getattr(_own, "room", None)
    if room is None or len(room) < n:
        raw = np.empty(n + 8)
        start = (-raw.ctypes.data // 8) % 8
        room = _own.room = raw[start : start + n]
    return room
