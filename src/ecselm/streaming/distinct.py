"""How many distinct values there are, in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from pandas.util import hash_array

from ecselm._typing import AnyArray

KEPT = 8192  # of the smallest hashes, by which more values are counted to about one per cent


class DistinctCount:
    """Counts distinct values, exactly up to ``KEPT`` of them.

    Values are hashed evenly over an interval. Where the smallest hashes lie tells how many
    there are altogether, and does not depend on the order of the values.

    Examples
    --------
    >>> count = DistinctCount()
    >>> count.add(np.array([1.0, 2.0, 2.0]))
    >>> count.add(np.array([2.0, 3.0]))
    >>> count.number
    3
    """

    def __init__(self) -> None:
        self._hashes: Any = np.empty(0, dtype=np.uint64)

    @property
    def number(self) -> int:
        """Return how many distinct values there were."""
        if len(self._hashes) < KEPT:
            return len(self._hashes)
        return round((KEPT - 1) / (float(self._hashes[-1]) / 2.0**64))

    @property
    def tolerance(self) -> float:
        """Return the relative error that the number may well have."""
        return 0.0 if len(self._hashes) < KEPT else 5.0 / np.sqrt(KEPT)

    def add(self, values: AnyArray) -> None:
        """Take more values (N,) into account."""
        if values.dtype.kind == "f":
            values = values + 0.0  # there are two zeros
        hashes = hash_array(values, categorize=False)
        if len(self._hashes) == KEPT:
            hashes = hashes[hashes < self._hashes[-1]]
        self._hashes = np.unique(np.concatenate([self._hashes, hashes]))[:KEPT]
