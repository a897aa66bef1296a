"""Random samples of rows that come in blocks: of each class the rows of the smallest keys."""

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


def smallest(keys: AnyArray, codes: IntArray, quotas: IntArray) -> IntArray:
    """Return the positions of the smallest keys of every class, in ascending order.

    Parameters
    ----------
    keys : array of shape (N,)
    codes : array of shape (N,)
        Class of every row.
    quotas : array of shape (k,)
        Number of rows to take of every class.

    Examples
    --------
    >>> smallest(np.array([0.4, 0.1, 0.3, 0.2]), np.array([0, 0, 1, 0]), np.array([2, 1]))
    array([1, 2, 3])
    """
    order = np.lexsort((keys, codes))
    ranks = np.arange(len(order)) - np.searchsorted(codes[order], codes[order])
    return np.sort(order[ranks < quotas[codes[order]]])


@dataclass(frozen=True, slots=True)
class RowSample:
    """At most so many rows, as even over the classes as there are rows.

    Every row has a key that looks drawn at random; of each class the rows of the smallest
    keys stay. Samples of blocks add up to the sample of all rows, however these are cut.

    Examples
    --------
    >>> from ecselm.outofcore import RowBlock
    >>> y = np.array(["ill", *["well"] * 9])
    >>> rows = RowBlock(np.arange(10.0)[:, np.newaxis], y)
    >>> sample = RowSample.of(rows, np.random.default_rng(0).random(10), 4, y)
    >>> sample.rows.y.tolist(), sample.class_counts
    (['ill', 'well', 'well', 'well'], {'ill': 1, 'well': 9})
    >>> sample.factors.tolist()
    [1.0, 3.0, 3.0, 3.0]
    """

    most: int
    blocks: tuple[Any, ...]  # Rows, not yet joined
    keys: AnyArray  # (n,) of these rows
    codes: IntArray  # (n,)
    classes: AnyArray  # (k,) in ascending order
    counts: IntArray  # (k,) rows of every class among all rows
    masses: FloatArray  # (k,) sums of their weights

    @classmethod
    def of(
        cls,
        rows: Samplable,
        keys: AnyArray,
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
        keys : array of shape (N,)
        most : int
            Number of rows in the sample.
        labels : array of shape (N,) or None, default=None
            Classes of the rows; None for one class.
        weight : array of shape (N,) or None, default=None
        eligible : array of shape (N,) or None, default=None
            Rows that can be in the sample, if that is known; the others are only counted.
        """
        labels = np.zeros(len(keys), dtype=np.intp) if labels is None else labels
        classes, codes = np.unique(labels, return_inverse=True)
        counts = np.bincount(codes, minlength=len(classes))
        masses = np.bincount(codes, weight, len(classes)).astype(np.float64)
        _check_classes(len(classes), most)
        able = np.arange(len(keys)) if eligible is None else np.flatnonzero(eligible)
        kept = able[smallest(keys[able], codes[able], fair_quotas(counts, most))]
        return cls(most, (rows.taken(kept),), keys[kept], codes[kept], classes, counts, masses)

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
            np.concatenate([self.keys, other.keys]),
            np.concatenate([own[self.codes], new[other.codes]]),
            classes,
            counts,
            masses,
        )
        # Joined once in a while: copying the sample for every block would take longer.
        return added.thinned() if len(added.keys) > SLACK * self.most else added

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

    @property
    def factors(self) -> FloatArray:
        """Return how many rows each row of the sample stands for (n,).

        With these as weights, or as factors of the weights, classes weigh as much as they do
        among all rows.
        """
        kept = self.thinned()
        weight = getattr(kept.blocks[0], "weight", None)
        held = np.bincount(kept.codes, weight, minlength=len(self.masses))
        return (self.masses / np.where(held > 0, held, 1.0))[kept.codes]

    def thinned(self) -> RowSample:
        """Return the sample without rows that are in excess of it, joined to one block."""
        kept = smallest(self.keys, self.codes, fair_quotas(self.counts, self.most))
        if len(kept) == len(self.keys) and len(self.blocks) == 1:
            return self
        joined = self._joined()
        whole = len(kept) == len(self.keys)
        return replace(self, blocks=(joined,)) if whole else self._taken(joined, kept)

    def _held(self) -> IntArray:
        return np.bincount(self.codes, minlength=len(self.classes))

    def _limits(self, classes: AnyArray) -> list[Any]:
        """Return the key of each of some classes beyond which no row can stay, or None."""
        quotas, held = fair_quotas(self.counts, self.most), self._held()
        limits: list[Any] = []
        for label in classes:
            c = int(np.searchsorted(self.classes, label))
            known = c < len(self.classes) and self.classes[c] == label
            full = known and quotas[c] < self.counts[c] and held[c] >= quotas[c]
            own = self.keys[self.codes == c] if full else None
            limits.append(None if own is None else np.partition(own, quotas[c] - 1)[quotas[c] - 1])
        return limits

    def _below(self, limits: list[Any]) -> RowSample:
        """Return the sample without rows whose keys are beyond the limits of their classes."""
        inside = np.ones(len(self.keys), dtype=bool)
        for c, limit in enumerate(limits):
            if limit is not None:
                inside &= (self.codes != c) | (self.keys <= limit)
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
            keys=self.keys[positions],
            codes=self.codes[positions],
        )


def _check_classes(n_classes: int, most: int) -> None:
    if n_classes > most:
        raise ValueError(
            f"the sample must have a row for every class, got {most} rows and at least "
            f"{n_classes} classes"
        )
