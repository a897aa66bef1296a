"""Random samples of rows that come in blocks: the smallest draws of every class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray

SLACK = 1.25  # of the sample, up to which rows are held before some are discarded


class Samplable(Protocol):
    """Rows of any kind."""

    def taken(self, positions: IntArray) -> Self:
        """Return copies of some of the rows."""

    def joined(self, *others: Self) -> Self:
        """Return these rows and those of others, in this order."""


def fair_quotas(counts: IntArray, most: int) -> IntArray:
    """Return how many rows of each class to take: all of a small class, else equally many.

    As counts grow, the quota of a class that is not taken whole never does: a sample can be
    drawn while rows come in.

    Parameters
    ----------
    counts : array of shape (k,)
    most : int
        Number of rows in all, of which every class has one at least.

    Examples
    --------
    >>> fair_quotas(np.array([1000, 3, 500]), 100)
    array([48,  3, 48])
    """
    left, ascending = most, np.sort(counts)
    for i, count in enumerate(ascending.tolist()):
        share = left // (len(counts) - i)
        if count > share:
            return np.minimum(counts, max(1, share))
        left -= count
    return counts.copy()


def smallest(draws: AnyArray, codes: IntArray, quotas: IntArray) -> IntArray:
    """Return the positions of the smallest draws of every class, in ascending order.

    Parameters
    ----------
    draws : array of shape (N,)
    codes : array of shape (N,)
        Class of every row.
    quotas : array of shape (k,)
        Number of rows to take of every class.

    Examples
    --------
    >>> smallest(np.array([0.4, 0.1, 0.3, 0.2]), np.array([0, 0, 1, 0]), np.array([2, 1]))
    array([1, 2, 3])
    """
    # Only as much order as is needed: classes apart, and of each its quota apart.
    narrow = codes.astype(np.uint16) if len(quotas) < 1 << 16 else codes
    order = np.argsort(narrow, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(quotas)))
    parts = np.split(order, ends[:-1]) if len(ends) else []
    kept = [
        members if len(members) <= quota else members[_lowest(draws[members], int(quota))]
        for members, quota in zip(parts, quotas, strict=True)
    ]
    return np.sort(np.concatenate(kept)) if kept else order


def _lowest(draws: AnyArray, n: int) -> BoolArray:
    """Mark the n smallest draws; of equal ones the first."""
    if n == 0:
        return np.zeros(len(draws), dtype=bool)
    bound = np.partition(draws, n - 1)[n - 1]
    marked = np.asarray(draws < bound)
    marked[np.flatnonzero(draws == bound)[: n - int(marked.sum())]] = True
    return marked


@dataclass(frozen=True, slots=True)
class RowSample:
    """At most so many rows, as even over the classes as there are rows.

    Every row has a number drawn at random, its draw; of each class the rows of the smallest
    draws stay. Samples of blocks add up to the sample of all rows, however these are cut.

    Examples
    --------
    >>> from ecselm.outofcore import RowBlock
    >>> y = np.array(["ill", *["well"] * 9])
    >>> rows = RowBlock(np.arange(10.0)[:, np.newaxis], y)
    >>> sample = RowSample.of(rows, np.random.default_rng(0).random(10), 4, y)
    >>> sample.rows.y.tolist(), sample.class_counts
    (['ill', 'well', 'well', 'well'], {'ill': 1, 'well': 9})
    """

    most: int
    blocks: tuple[Any, ...]  # rows, not joined yet
    draws: AnyArray  # (n,) of these rows
    codes: IntArray  # (n,)
    classes: AnyArray  # (k,) in ascending order
    counts: IntArray  # (k,) rows of every class among all rows
    masses: FloatArray  # (k,) sums of their weights

    @classmethod
    def of(
        cls,
        rows: Samplable,
        draws: AnyArray,
        most: int,
        labels: AnyArray | None = None,
        weight: FloatArray | None = None,
        eligible: BoolArray | None = None,
    ) -> RowSample:
        """Sample the rows of one block.

        Parameters
        ----------
        rows : Samplable
            What the sample keeps of them is copied.
        draws : array of shape (N,)
        most : int
            Number of rows in the sample.
        labels : array of shape (N,) or None, default=None
            Classes of the rows; None for one class.
        weight : array of shape (N,) or None, default=None
        eligible : array of shape (N,) or None, default=None
            Rows that can be in the sample, if that is known; the others are only counted.
        """
        return cls._of_codes(rows, draws, most, *_coded(labels, len(draws)), weight, eligible)

    @classmethod
    def _of_codes(
        cls,
        rows: Samplable,
        draws: AnyArray,
        most: int,
        classes: AnyArray,
        codes: IntArray,
        weight: FloatArray | None,
        eligible: BoolArray | None,
    ) -> RowSample:
        _check_classes(len(classes), most)
        counts = np.bincount(codes, minlength=len(classes))
        masses = np.bincount(codes, weight, len(classes)).astype(np.float64)
        able = np.arange(len(draws)) if eligible is None else np.flatnonzero(eligible)
        kept = able[smallest(draws[able], codes[able], fair_quotas(counts, most))]
        return cls(most, (rows.taken(kept),), draws[kept], codes[kept], classes, counts, masses)

    def extended(
        self,
        rows: Samplable,
        draws: AnyArray,
        labels: AnyArray | None = None,
        weight: FloatArray | None = None,
    ) -> RowSample:
        """Return the sample after one more block; only rows that may stay are copied."""
        classes, codes = _coded(labels, len(draws))
        eligible = _within(draws, codes, self._limits(classes))
        return self + self._of_codes(rows, draws, self.most, classes, codes, weight, eligible)

    def __len__(self) -> int:
        return int(np.minimum(fair_quotas(self.counts, self.most), self._held()).sum())

    def __add__(self, other: RowSample) -> RowSample:
        """Return the sample of the rows of both, these first."""
        other = other._below(self._limits(other.classes))
        classes = np.union1d(self.classes, other.classes)
        _check_classes(len(classes), self.most)
        own, new = np.searchsorted(classes, self.classes), np.searchsorted(classes, other.classes)
        counts, masses = np.zeros(len(classes), dtype=np.intp), np.zeros(len(classes))
        counts[own] += self.counts
        counts[new] += other.counts
        masses[own] += self.masses
        masses[new] += other.masses
        added = RowSample(
            self.most,
            (*self.blocks, *other.blocks),
            np.concatenate([self.draws, other.draws]),
            np.concatenate([own[self.codes], new[other.codes]]),
            classes,
            counts,
            masses,
        )
        # Joined once in a while: copying the sample for every block would take longer.
        return added.thinned() if len(added.draws) > SLACK * self.most else added

    @property
    def rows(self) -> Any:
        """Return the rows in the order in which they came."""
        return self.thinned().blocks[0]

    @property
    def is_complete(self) -> bool:
        """Tell whether the sample holds all rows."""
        return len(self) == int(self.counts.sum())

    @property
    def class_counts(self) -> dict[Any, int]:
        """Return how many rows of every class there are among all rows."""
        return dict(zip(self.classes.tolist(), self.counts.tolist(), strict=True))

    def thinned(self) -> RowSample:
        """Return the sample without rows that are in excess of it, joined to one block."""
        kept = smallest(self.draws, self.codes, fair_quotas(self.counts, self.most))
        if len(kept) == len(self.draws) and len(self.blocks) == 1:
            return self
        joined = self._joined()
        whole = len(kept) == len(self.draws)
        return replace(self, blocks=(joined,)) if whole else self._taken(joined, kept)

    def _held(self) -> IntArray:
        return np.bincount(self.codes, minlength=len(self.classes))

    def _limits(self, classes: AnyArray) -> list[Any]:
        """Return the draw of each of some classes beyond which no row can stay, or None."""
        quotas, held = fair_quotas(self.counts, self.most), self._held()
        limits: list[Any] = []
        for label in classes:
            c = int(np.searchsorted(self.classes, label))
            known = c < len(self.classes) and self.classes[c] == label
            full = known and quotas[c] < self.counts[c] and held[c] >= quotas[c]
            own = self.draws[self.codes == c] if full else None
            limits.append(None if own is None else np.partition(own, quotas[c] - 1)[quotas[c] - 1])
        return limits

    def _below(self, limits: list[Any]) -> RowSample:
        """Return the sample without rows whose draws are beyond the limits of their classes."""
        inside = _within(self.draws, self.codes, limits)
        if inside.all():
            return self
        return self._taken(self._joined(), np.flatnonzero(inside))

    def _joined(self) -> Any:
        first, *others = self.blocks
        return first.joined(*others) if others else first

    def _taken(self, rows: Any, positions: IntArray) -> RowSample:
        return replace(
            self,
            blocks=(rows.taken(positions),),
            draws=self.draws[positions],
            codes=self.codes[positions],
        )


def _check_classes(n_classes: int, most: int) -> None:
    if n_classes > most:
        raise ValueError(
            f"sample must have a row for every class, got {most} rows and at least "
            f"{n_classes} classes"
        )


def _coded(labels: AnyArray | None, n_rows: int) -> tuple[AnyArray, IntArray]:
    """Return the classes of a block in ascending order, and the class (N,) of every row."""
    labels = np.zeros(n_rows, dtype=np.intp) if labels is None else labels
    return np.unique(labels, return_inverse=True)


def _within(draws: AnyArray, codes: IntArray, limits: list[Any]) -> BoolArray:
    """Tell of every row whether its draw is within the limit of its class, where there is one."""
    inside = np.ones(len(draws), dtype=bool)
    for c, limit in enumerate(limits):
        if limit is not None:
            inside &= (codes != c) | (draws <= limit)
    return inside
