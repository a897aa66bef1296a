"""Which rows a candidate is trained on, and which it is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from numbers import Real

import numpy as np
from scipy import sparse

from ecselm._threads import row_blocks
from ecselm._typing import AnyArray, BoolArray, IntArray, Matrix


@dataclass(frozen=True, slots=True)
class Split:
    """Positions of the rows to train on and of the rows to judge by."""

    train: IntArray
    test: IntArray


def is_every_row(positions: IntArray, n_rows: int) -> bool:
    """Tell whether positions are all of ``n_rows`` rows in their order: nothing need be taken.

    Examples
    --------
    >>> is_every_row(np.array([0, 1, 2]), 3), is_every_row(np.array([0, 1, 1]), 3)
    (True, False)
    """
    return len(positions) == n_rows and bool((np.diff(positions) == 1).all())


def deal(
    X: Matrix,
    y: IntArray,
    n_parts: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> IntArray:
    """Deal the rows out into parts, class by class, and return the part of every row.

    Rows that are equal and of one class share a part, so that no row is judged by its
    own copy. The parts depend on the set of distinct rows alone, neither on their order
    nor on how often they occur: a row of weight 2 and the same row twice are one thing.
    Where rows belong to ``groups`` (N,), these are dealt out instead, each as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [3.0], [1.0]])
    >>> parts = deal(X, np.zeros(4, dtype=int), 3, np.random.default_rng(0))
    >>> bool(parts[0] == parts[3]), sorted(parts[:3].tolist())
    (True, [0, 1, 2])
    """
    keys = row_keys(X) if groups is None else groups
    return deal_keys(keys, _homes(y, groups), n_parts, rng)


def deal_keys(keys: AnyArray, y: IntArray, n_parts: int, rng: np.random.Generator) -> IntArray:
    """Deal rows out as :func:`deal` does, by keys (N,) that are the same for equal rows.

    Any keys of the same order give the same parts.
    """
    parts, start = np.empty(len(y), dtype=np.intp), 0
    for code in np.unique(y):
        mine = np.flatnonzero(y == code)
        distinct, places = np.unique(keys[mine], return_inverse=True)
        # Each class goes on where the one before has ended: the parts get equal sizes.
        parts[mine] = (start + rng.permutation(len(distinct))[places]) % n_parts
        start += len(distinct)
    return parts


def _homes(y: IntArray, groups: IntArray | None) -> IntArray:
    """Return the class (N,) that every row is dealt out with.

    That of a group is the one among its own which the fewest groups have: rare classes are
    spread over the parts first. It does not matter how many rows a group has of it.
    """
    if groups is None:
        return y
    codes, places = np.unique(groups, return_inverse=True)
    has = np.zeros((len(codes), int(y.max()) + 1), dtype=bool)
    has[places, y] = True
    rarity = np.where(has, has.sum(axis=0), len(codes) + 1)
    return rarity.argmin(axis=1)[places]


def row_keys(X: Matrix) -> AnyArray:
    """Return a key for every row, the same for rows that are equal.

    Dense and sparse rows, and those in float32 and float64, have one key: rows that
    differ by less than float32 can tell are taken as equal.
    """
    if not sparse.issparse(X) and np.asarray(X).dtype.kind not in "biuf":  # words, dates
        return np.array([_digest(_in_words(row).encode()) for row in np.asarray(X)])
    keys = [_numeric_keys(X[rows]) for rows in row_blocks(X.shape[0], X.shape[1])]
    return np.concatenate(keys)


def _in_words(row: AnyArray) -> str:
    return repr([float(v) if isinstance(v, Real) else v for v in row.tolist()])


def _numeric_keys(X: Matrix) -> AnyArray:
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        X.sum_duplicates()
    with np.errstate(over="ignore"):  # only equality matters
        rows = sparse.csr_array(X.astype(np.float32))
    rows.eliminate_zeros()  # 0, -0, what is not stored and what float32 takes for 0 are one
    entries = np.empty(rows.nnz, dtype=[("column", "i8"), ("value", "f4")])
    entries["column"], entries["value"] = rows.indices, rows.data
    ends = pairwise(rows.indptr.tolist())
    return np.array([_digest(entries[start:end].tobytes()) for start, end in ends])


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def every_row(n_rows: int) -> list[Split]:
    """Judge by the training rows themselves, as (21) is printed."""
    rows = np.arange(n_rows)
    return [Split(rows, rows)]


def folds(
    X: Matrix,
    y: IntArray,
    n_folds: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> list[Split]:
    """Judge every row by a machine trained without its fold, and so without its group."""
    parts = deal(X, y, n_folds, rng, groups)
    return _splits([parts == part for part in range(n_folds)])


def holdout(
    X: Matrix,
    y: IntArray,
    fraction: float,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> list[Split]:
    """Judge by a share of the distinct rows or groups of each class, which nobody trains on.

    A class with two of them or more gives at least one, and keeps at least one.
    """
    places = deal(X, y, len(y), rng, groups)  # no two distinct rows or groups share a part
    return _splits([set_aside(places, _homes(y, groups), fraction)])


def set_aside(places: IntArray, y: IntArray, fraction: float) -> BoolArray:
    """Return which rows (N,) are judged by, for places (N,) that distinct rows do not share."""
    test = np.zeros(len(y), dtype=bool)
    for code in np.unique(y):
        mine = np.unique(places[y == code])
        n_test = min(max(1, round(fraction * len(mine))), len(mine) - 1)
        test |= (y == code) & np.isin(places, mine[:n_test])
    return test


def _splits(tests: list[np.ndarray]) -> list[Split]:
    """Return splits by masks, without those that leave nothing to train on or to judge by."""
    splits = [Split(np.flatnonzero(~test), np.flatnonzero(test)) for test in tests]
    usable = [split for split in splits if len(split.train) and len(split.test)]
    if not usable:
        raise ValueError(
            "some rows must be left to train on and others to judge by, got too few distinct rows "
            f"or groups of a class for that: n_samples={len(tests[0])}"
        )
    return usable
