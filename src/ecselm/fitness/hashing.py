"""Content hashes of rows: equal rows have one, so random choices depend on values, not on order."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import pairwise
from numbers import Real

import numpy as np
from scipy import sparse

from ecselm._threads import row_blocks
from ecselm._typing import AnyArray, IntArray, Matrix

KEY = np.dtype("S16")
ENTRY = np.dtype([("column", "i8"), ("value", "f4")])
N_LISTED = 1 << 14  # distinct rows that are told apart one by one; of more, keys alone decide


def row_keys(X: Matrix) -> AnyArray:
    """Return a key of 16 bytes for every row, the same for rows that are equal.

    Dense and sparse rows, and those in float32 and float64, have one key: rows that
    differ by less than float32 can tell are taken as equal. Keys are as good as drawn at
    random: the least of them belong to a random sample of the distinct rows.
    """
    if not sparse.issparse(X) and np.asarray(X).dtype.kind not in "biuf":  # words, dates
        return _digests(_in_words(row).encode() for row in np.asarray(X))
    keys = [_numeric_keys(X[rows]) for rows in row_blocks(X.shape[0], X.shape[1])]
    return np.concatenate([np.empty(0, KEY), *keys])


def _in_words(row: AnyArray) -> str:
    return repr([float(v) if isinstance(v, Real) else v for v in row.tolist()])


def _numeric_keys(X: Matrix) -> AnyArray:
    """Hash columns and values of what is not 0, -0 or what float32 takes for 0."""
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        X.sum_duplicates()
    with np.errstate(over="ignore"):  # only equality matters
        X = X.astype(np.float32)
    if not sparse.issparse(X) and X.all():
        entries = np.empty(X.shape, dtype=ENTRY)
        entries["column"], entries["value"] = np.arange(X.shape[1]), X
        ends = np.arange(X.shape[0] + 1) * X.shape[1]
    else:
        rows = sparse.csr_array(X)
        rows.eliminate_zeros()
        entries = np.empty(rows.nnz, dtype=ENTRY)
        entries["column"], entries["value"] = rows.indices, rows.data
        ends = rows.indptr.astype(np.int64)
    content = entries.reshape(-1).view(np.uint8).data
    cuts = pairwise((ends * ENTRY.itemsize).tolist())
    return _digests(content[start:end] for start, end in cuts)


def _digests(contents: Iterable[bytes | memoryview]) -> AnyArray:
    return np.frombuffer(
        b"".join([blake2b(content, digest_size=KEY.itemsize).digest() for content in contents]), KEY
    )


def key_numbers(keys: AnyArray) -> AnyArray:
    """Return 64 of the bits (N,) of every key, as a number.

    Examples
    --------
    >>> key_numbers(np.array([bytes(range(16))])).tolist() == [0x08090A0B0C0D0E0F]
    True
    """
    return keys.astype(KEY).view(">u8")[1::2].astype(np.uint64)


def mixed(numbers: AnyArray, salt: int) -> AnyArray:
    """Return unsigned numbers (N,) that look drawn at random, the same for the same number.

    They are those of the generator SplitMix64 (Steele, Lea & Flood, 2014) at these places.

    Examples
    --------
    >>> bool(np.diff(np.sort(mixed(np.arange(1000), 1))).min() > 0)
    True
    """
    x = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def drawn_salt(rng: np.random.Generator) -> int:
    """Draw what makes one mixture differ from another."""
    return int(rng.integers(1 << 63))


def first_places(keys: AnyArray) -> IntArray:
    """Return the first place of every distinct row, in the order of their keys."""
    return np.unique(keys, return_index=True)[1]
