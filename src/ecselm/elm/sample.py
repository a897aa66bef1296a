"""A sample of the rows seen so far that does not depend on how they came."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray, IntArray
from ecselm.elm.rows import Rows

SAMPLE_ROWS = 4096


@dataclass(frozen=True, slots=True)
class RowSample:
    """All rows up to ``SAMPLE_ROWS``, then a uniform sample of that many.

    Every row draws a key; the rows with the smallest keys stay. The keys are one
    stream, so any cut of the rows into chunks keeps the same ones.
    """

    rows: Rows
    keys: FloatArray  # (S,)
    rng: np.random.Generator

    @classmethod
    def from_rows(cls, rows: Rows, rng: np.random.Generator) -> RowSample:
        """Begin a sample; ``rng`` is not advanced."""
        rng = deepcopy(rng)
        return cls(rows.owned(), rng.random(len(rows)), rng)._thinned()

    def extended(self, rows: Rows) -> RowSample:
        """Return the sample after more rows."""
        rng = deepcopy(self.rng)
        keys = np.concatenate([self.keys, rng.random(len(rows))])
        return RowSample(self.rows.joined(rows), keys, rng)._thinned()

    def _thinned(self) -> RowSample:
        if len(self.keys) <= SAMPLE_ROWS:
            return self
        kept = np.sort(np.argpartition(self.keys, SAMPLE_ROWS)[:SAMPLE_ROWS])
        return RowSample(self.rows.taken(kept), self.keys[kept], self.rng)


def fair_quotas(counts: IntArray, most: int) -> IntArray:
    """Return how many rows of each class to take: all of the small ones, of others as many.

    As counts grow, the quota of a class that is not taken whole never does: a sample can be
    drawn while rows come in.

    Parameters
    ----------
    counts : array of shape (k,)
    most : int
        Rows in all, of which every class has one at least.

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
