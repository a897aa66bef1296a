"""Passes over the rows, and how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How far a pass over the rows is."""

    number: int  # of the pass, from 1 on
    n_passes: int  # that are planned
    purpose: str  # a word or two, such as "sums"
    n_rows: int  # read so far in this pass
    n_total: int | None  # if that is known


Told = Callable[[StreamProgress], Any] | None


class Passes:
    """Counts passes over the rows, and tells somebody of every block.

    Parameters
    ----------
    n_planned : int
    told : callable or None, default=None
        Called with a :class:`StreamProgress` at the beginning of a pass and after every block.
    n_rows : int or None, default=None
        How many rows there are, if that is known. It is after the first pass.

    Examples
    --------
    >>> passes = Passes(1, lambda told: print(told.purpose, told.n_rows, told.n_total))
    >>> for block in passes.over([[1, 2], [3]], "sums", len):
    ...     pass
    sums 0 None
    sums 2 None
    sums 3 None
    >>> passes.number, passes.n_rows
    (1, 3)
    """

    def __init__(self, n_planned: int, told: Told = None, n_rows: int | None = None) -> None:
        self.number = 0
        self.n_rows = n_rows
        self._n_planned, self._told = n_planned, told

    def over(
        self, blocks: Iterable[Any], purpose: str, size: Callable[[Any], int]
    ) -> Iterator[Any]:
        """Yield all blocks in one more pass; rows must be as many as in any pass before."""
        self.number += 1
        n_rows = 0
        self._tell(purpose, n_rows)
        for block in blocks:
            yield block
            n_rows += size(block)
            self._tell(purpose, n_rows)
        if self.n_rows is not None and n_rows != self.n_rows:
            raise ValueError(
                f"the rows must be the same in every pass, got {self.n_rows} of them and then "
                f"{n_rows}"
            )
        self.n_rows = n_rows

    def _tell(self, purpose: str, n_rows: int) -> None:
        if self._told is not None:
            self._told(StreamProgress(self.number, self._n_planned, purpose, n_rows, self.n_rows))
