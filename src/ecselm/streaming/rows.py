"""Blocks of rows with their targets, the passes over them, and samples of them."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ecselm._sklearn import safe_indexing
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm._wording import brief, did_you_mean
from ecselm.fitness.sampling import fair_quotas
from ecselm.streaming.blocks import Blocks, open_blocks, read_ahead

SLACK = 1.25  # of the sample, up to which rows are held before some are thrown away


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Some rows: inputs, targets and, if there are any, weights and groups."""

    X: Any  # array, sparse matrix or dataframe
    y: AnyArray
    weight: FloatArray | None = None
    groups: AnyArray | None = None  # labels of what rows belong to

    def __len__(self) -> int:
        return len(self.y)

    def taken(self, positions: IntArray) -> RowBlock:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[positions]
        groups = None if self.groups is None else self.groups[positions]
        return RowBlock(safe_indexing(self.X, positions), self.y[positions], weight, groups)

    @property
    def parts(self) -> tuple[Any, AnyArray, FloatArray | None]:
        """Return inputs, targets and weights."""
        return self.X, self.y, self.weight


@dataclass(frozen=True, slots=True)
class RowSource:
    """Blocks that can be read again and again."""

    source: Any
    target: str | None

    @classmethod
    def of(cls, source: Any, target: str | None) -> RowSource:
        """Return the source, or refuse what can be read only once."""
        if isinstance(source, str | os.PathLike):
            source = open_blocks(source)
        if not callable(source) and (not isinstance(source, Iterable) or iter(source) is source):
            raise ValueError(
                "source must be blocks that can be read again: a file, a list, open_blocks(...), "
                f"or a function that returns blocks, got {type(source).__name__}"
            )
        return cls(source, target)

    @property
    def n_rows(self) -> int | None:
        """Return the number of rows, if that is known."""
        known = getattr(self.source, "n_rows", None)
        return known if isinstance(known, int) else None

    def __iter__(self) -> Iterator[RowBlock]:
        """Yield blocks of at least a row, checked."""
        # Somebody else's source may not be used by another thread.
        return read_ahead(self._checked()) if isinstance(self.source, Blocks) else self._checked()

    def _checked(self) -> Generator[RowBlock, None, None]:
        start, width = 0, None
        for number, given in enumerate(self.source() if callable(self.source) else self.source, 1):
            block = _block(given, self.target, f"block {number}")
            width = _checked(block, f"block {number}", start, width)
            start += len(block)
            if len(block):
                yield block


@contextmanager
def placed(number: int, start: int, n_rows: int) -> Iterator[None]:
    """Say in which block something was wrong, and which rows are its first and its last.

    Examples
    --------
    >>> with placed(3, 200, 100):
    ...     raise ValueError("age must be a number")
    Traceback (most recent call last):
        ...
    ValueError: block 3, which is rows 201 to 300: age must be a number
    """
    try:
        yield
    except ValueError as error:
        last = start + n_rows
        raise ValueError(f"block {number}, which is rows {start + 1} to {last}: {error}") from error


def _block(given: Any, target: str | None, place: str) -> RowBlock:
    """Return a frame with a target, or a pair or triple, as a block."""
    if isinstance(given, pd.DataFrame):
        if target not in given.columns:
            raise ValueError(
                f"target must be a column of {place}, got {target!r}"
                f"{did_you_mean(str(target), map(str, given.columns))}"
            )
        X = _by_row(given.drop(columns=target))
        return RowBlock(X, given[target].infer_objects().to_numpy())
    if not isinstance(given, tuple) or len(given) not in {2, 3}:
        raise ValueError(
            f"{place} must be a dataframe, or inputs and targets (X, y), or with weights "
            f"(X, y, weights), got {type(given).__name__}"
        )
    X, y, *weights = given
    weight = np.asarray(weights[0], dtype=np.float64) if weights else None
    if sparse.issparse(X):
        X = X.tocsr()
    elif not isinstance(X, pd.DataFrame):
        X = np.asarray(X)
    return RowBlock(X, np.asarray(y), weight)


def _by_row(X: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of numbers that is stored row by row, as products want it."""
    values = X.to_numpy()
    if values.dtype not in (np.float32, np.float64):
        return X
    return pd.DataFrame(np.ascontiguousarray(values), columns=X.columns, copy=False)


def _checked(block: RowBlock, place: str, start: int, width: int | None) -> int:
    """Return the number of columns, or refuse the first bad value by its place."""
    X, n = block.X, len(block)
    if X.ndim != 2 or X.shape[0] != n:
        raise ValueError(f"{place} must have as many rows of X as targets, got {X.shape} and {n}")
    if width is not None and X.shape[1] != width:
        raise ValueError(f"{place} must have {width} columns as those before, got {X.shape[1]}")
    if block.weight is not None and block.weight.shape != (n,):
        raise ValueError(f"{place} must have {n} weights, got the shape {block.weight.shape}")
    if sparse.issparse(X):
        _check_values(X.data, "X", place, start, X.indptr)
    elif isinstance(X, pd.DataFrame) and not _is_finite(X.to_numpy()):
        for name in X.columns:
            _check_values(X[name].to_numpy(), f"column {name!r}", place, start)
    elif not isinstance(X, pd.DataFrame):
        _check_values(X, "X", place, start)
    _check_targets(block.y, place, start)
    return int(X.shape[1])


def _is_finite(values: AnyArray) -> bool:
    """Tell of numbers whether they are finite; of anything else it is not known."""
    # What is not finite makes the sum so, and a sum takes no memory.
    return values.dtype.kind in "biu" or (
        values.dtype.kind == "f" and bool(np.isfinite(values.sum()))
    )


def _check_values(
    values: AnyArray, what: str, place: str, start: int, indptr: IntArray | None = None
) -> None:
    """Refuse the first value that is no finite number; ``indptr`` tells the rows of sparse ones."""
    if _is_finite(values):
        return
    finite = np.isfinite(values) if values.dtype.kind == "f" else _are_numbers(values)
    if finite.all():
        return
    first = np.argwhere(~finite)[0]
    row = int(first[0])
    if indptr is not None:
        row = int(np.searchsorted(indptr, row, side="right")) - 1
    raise ValueError(
        f"{what} must hold finite numbers, got {brief(str(values[tuple(first)]))} in {place}, "
        f"row {row + 1} (row {start + row + 1} of all)"
    )


def _are_numbers(values: AnyArray) -> AnyArray:
    """Tell which of any objects are finite numbers; what is written as words is not."""
    flat = [
        isinstance(value, int | float | np.number) and bool(np.isfinite(value))
        for value in values.ravel().tolist()
    ]
    return np.array(flat, dtype=bool).reshape(values.shape)


def _check_targets(y: AnyArray, place: str, start: int) -> None:
    missing = np.argwhere(np.asarray(pd.isna(y)))
    if len(missing):
        row = int(missing[0][0])
        raise ValueError(
            f"y must hold a target in every row, got none in {place}, row {row + 1} "
            f"(row {start + row + 1} of all)"
        )


class ClassSample:
    """At most so many rows, as even over the classes as there are rows.

    Parameters
    ----------
    n_rows : int
        The most rows.
    rng : numpy.random.Generator

    Examples
    --------
    >>> sample = ClassSample(4, np.random.default_rng(0))
    >>> y = np.array(["ill", *["well"] * 9])
    >>> sample.add(RowBlock(np.arange(10.0)[:, np.newaxis], y), y)
    >>> sample.block.y.tolist(), sample.counts
    (['ill', 'well', 'well', 'well'], {'ill': 1, 'well': 9})
    >>> sample.factors.round(2).tolist()
    [0.4, 1.2, 1.2, 1.2]
    """

    def __init__(self, n_rows: int, rng: np.random.Generator) -> None:
        self._n_rows, self._rng = n_rows, rng
        self._blocks: list[RowBlock] = []
        self._keys, self._strata = np.empty(0), np.empty(0, dtype=np.intp)
        self._codes: dict[Any, int] = {}
        self._counts, self._masses = np.empty(0, dtype=np.int64), np.empty(0)
        self._n_seen = 0

    @property
    def counts(self) -> dict[Any, int]:
        """Return how many rows of every class there were."""
        return dict(zip(self._codes, self._counts.tolist(), strict=True))

    @property
    def is_complete(self) -> bool:
        """Tell whether the sample holds all rows."""
        return len(self._keys) == self._n_seen

    @property
    def block(self) -> RowBlock:
        """Return the rows in the order in which they came."""
        self._thin()
        return self._blocks[0]

    @property
    def factors(self) -> FloatArray:
        """Return by how much the rows of each class stand for more rows than others (n,).

        With these as weights classes have the shares that they have among all rows, and the
        weights are those of the sample on the whole.
        """
        block = self.block
        weight = np.ones(len(block)) if block.weight is None else block.weight
        held = np.bincount(self._strata, weight, minlength=len(self._masses))
        share = self._masses / np.where(held > 0, held, 1.0)
        return share[self._strata] * (held.sum() / self._masses.sum())

    def add(self, block: RowBlock, strata: AnyArray) -> None:
        """Take more rows into account, of the classes ``strata`` (N,)."""
        if not len(block):
            return
        codes = self._coded(strata)
        keys = self._rng.random(len(block))
        self._counts += np.bincount(codes, minlength=len(self._counts))
        self._masses += np.bincount(codes, block.weight, minlength=len(self._masses))
        self._n_seen += len(block)
        chance = np.flatnonzero(keys <= self._limits()[codes])
        self._blocks.append(block.taken(chance))
        self._keys = np.concatenate([self._keys, keys[chance]])
        self._strata = np.concatenate([self._strata, codes[chance]])
        if len(self._keys) > SLACK * self._n_rows:
            self._thin()

    def _coded(self, strata: AnyArray) -> IntArray:
        labels, places = np.unique(strata, return_inverse=True)
        known = [self._codes.setdefault(label, len(self._codes)) for label in labels.tolist()]
        if len(self._codes) > self._n_rows:
            raise ValueError(
                f"sample must have a row for every class, got {self._n_rows} rows and at least "
                f"{len(self._codes)} classes"
            )
        lacking = len(self._codes) - len(self._counts)
        self._counts = np.append(self._counts, np.zeros(lacking, dtype=np.int64))
        self._masses = np.append(self._masses, np.zeros(lacking))
        return np.array(known, dtype=np.intp)[places]

    def _limits(self) -> FloatArray:
        """Return the key of every class beyond which no row can stay."""
        quotas, limits = fair_quotas(self._counts, self._n_rows), np.ones(len(self._counts))
        for c in np.flatnonzero(quotas < self._counts):
            mine = np.sort(self._keys[self._strata == c])
            if len(mine) >= quotas[c]:
                limits[c] = mine[quotas[c] - 1]
        return limits

    def _thin(self) -> None:
        """Throw away what has no place, and put the rest together."""
        quotas = fair_quotas(self._counts, self._n_rows)
        order = np.lexsort((self._keys, self._strata))
        strata = self._strata[order]
        rank = np.arange(len(order)) - np.searchsorted(strata, strata)
        kept = np.sort(order[rank < quotas[strata]])
        self._blocks = [joined(self._blocks).taken(kept)]
        self._keys, self._strata = self._keys[kept], self._strata[kept]


def check_sample(n_rows: int) -> None:
    """Refuse a sample of no rows."""
    if n_rows < 1:
        raise ValueError(f"sample must be at least 1 row, got {n_rows}")


def joined(blocks: Sequence[RowBlock]) -> RowBlock:
    """Return the rows of all blocks."""
    if len(blocks) == 1:
        return blocks[0]
    no_weights = all(block.weight is None for block in blocks)
    weights = [np.ones(len(one)) if one.weight is None else one.weight for one in blocks]
    groups = [block.groups for block in blocks if block.groups is not None]
    return RowBlock(
        _stacked([block.X for block in blocks]),
        np.concatenate([block.y for block in blocks]),
        None if no_weights else np.concatenate(weights),
        np.concatenate(groups) if groups else None,
    )


def _stacked(parts: list[Any]) -> Any:
    if isinstance(parts[0], pd.DataFrame):
        return pd.concat(parts, ignore_index=True)
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.vstack(parts)
