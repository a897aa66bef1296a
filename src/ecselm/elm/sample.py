"""A sample of the rows seen so far that does not depend on how they came."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from ecselm._typing import FloatArray
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
