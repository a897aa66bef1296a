"""Tables read in blocks of rows, as often as needed, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ecselm._wording import did_you_mean
from ecselm.tables.arrow import ArrowFile, open_arrow
from ecselm.tables.delimited import TextFile, TextScan
from ecselm.tables.read import ARROW, DELIMITED, check_there, ending_of

BLOCK_ROWS = 1 << 16
SCAN = "finding the types of columns"
_NO_MORE = object()


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How far a pass over the rows is."""

    number: int  # of the pass, from 1 on
    n_passes: int  # that are planned
    purpose: str  # a word or two, such as "sums"
    n_rows: int  # read so far in this pass
    n_total: int | None  # if that is known


ProgressCallback = Callable[[StreamProgress], Any] | None


class Passes:
    """Count passes over the rows and report every block.

    Parameters
    ----------
    n_planned : int
    progress : callable or None, default=None
        Called with a :class:`StreamProgress` at the beginning of a pass and after every block.
    n_rows : int or None, default=None
        How many rows there are, if that is known. It is after the first pass.

    Examples
    --------
    >>> passes = Passes(1, lambda now: print(now.purpose, now.n_rows, now.n_total))
    >>> for block in passes.over([[1, 2], [3]], "sums", len):
    ...     pass
    sums 0 None
    sums 2 None
    sums 3 None
    >>> passes.number, passes.n_rows
    (1, 3)
    """

    def __init__(
        self, n_planned: int, progress: ProgressCallback = None, n_rows: int | None = None
    ) -> None:
        self.number = 0
        self.n_rows = n_rows
        self._n_planned, self._progress = n_planned, progress

    def over(
        self, blocks: Iterable[Any], purpose: str, size: Callable[[Any], int]
    ) -> Iterator[Any]:
        """Yield all blocks in one more pass; rows must be as many as in any pass before."""
        self.number += 1
        n_rows = 0
        self._report(purpose, n_rows)
        for block in blocks:
            yield block
            n_rows += size(block)
            self._report(purpose, n_rows)
        if self.n_rows is not None and n_rows != self.n_rows:
            raise ValueError(
                f"the rows must be the same in every pass, got {self.n_rows} of them and then "
                f"{n_rows}"
            )
        self.n_rows = n_rows

    def _report(self, purpose: str, n_rows: int) -> None:
        if self._progress is not None:
            self._progress(
                StreamProgress(self.number, self._n_planned, purpose, n_rows, self.n_rows)
            )


def read_ahead(blocks: Generator[Any, None, None]) -> Iterator[Any]:
    """Yield blocks; while one is used, the next is read by another thread.

    Examples
    --------
    >>> list(read_ahead(block for block in "abc"))
    ['a', 'b', 'c']
    """
    with closing(blocks), ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, blocks, _NO_MORE)
        while (block := coming.result()) is not _NO_MORE:
            coming = reader.submit(next, blocks, _NO_MORE)
            yield block


class BlockFile(Protocol):
    """A file whose rows are read in blocks."""

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""

    @property
    def n_rows(self) -> int | None:
        """Return the number of rows, if it is known."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was guessed, a sentence each."""

    def frames(self, names: Sequence[str], block_rows: int) -> Generator[Any, None, None]:
        """Yield the columns of these names, at most ``block_rows`` rows at a time."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """A table in blocks; iterating over it reads the file, every time from its beginning."""

    file: BlockFile
    columns: tuple[str, ...]
    block_rows: int

    @property
    def n_rows(self) -> int | None:
        """Return the number of rows, if it is known."""
        return self.file.n_rows

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was guessed, a sentence each."""
        return self.file.notes

    def __iter__(self) -> Iterator[Any]:
        """Yield frames of at most ``block_rows`` rows."""
        return read_ahead(self.file.frames(self.columns, self.block_rows))


def open_blocks(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    block_rows: int = BLOCK_ROWS,
) -> Blocks:
    r"""Open a table to be read in blocks of rows.

    The blocks put together are what ``ecselm.tables.read.read_table`` reads.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv`` or ``.txt``, which may be packed, as ``.csv.gz``; ``.parquet``;
        ``.arrow`` or ``.feather``. Text is read once to begin with: whether a column holds
        numbers, and what commas mean in them, depends on all of its cells.
    columns : sequence of str or None, default=None
        The columns to be read, all by default.
    block_rows : int, default=65536
        The most rows of a block.

    Returns
    -------
    Blocks
        Iterating over it yields pandas frames; ``n_rows`` and ``notes`` describe the table.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.csv"
    ...     _ = file.write_text("size;sex\n1,5;f\n;m\n2,5;f\n")
    ...     blocks = open_blocks(file, block_rows=2)
    ...     [block["size"].tolist() for block in blocks], blocks.n_rows
    ([[1.5, nan], [2.5]], 3)
    """
    return scanned_blocks(Path(path), columns, block_rows, Passes(1))


def scanned_blocks(
    path: Path, columns: Sequence[str] | None, block_rows: int, passes: Passes
) -> Blocks:
    """Open a table as :func:`open_blocks` does, and count the pass that text takes."""
    table = open_table(path, block_rows)
    while isinstance(table, TextScan):
        for _ in passes.over(table.scan(), SCAN, int):
            pass
        table, passes.n_rows = table.again, None
    passes.n_rows = table.n_rows
    chosen = tuple(table.names if columns is None else columns)
    for name in chosen:
        if name not in table.names:
            raise ValueError(
                f"columns must be among those of {path.name}, got {name!r}"
                f"{did_you_mean(name, table.names)}"
            )
    return Blocks(table, chosen, block_rows)


def open_table(path: Path, block_rows: int) -> ArrowFile | TextFile | TextScan:
    """Return a file that can be read in blocks; text is to be scanned first."""
    if block_rows < 1:
        raise ValueError(f"block_rows must be at least 1, got {block_rows}")
    check_there(path)
    ending = ending_of(path)
    if ending in DELIMITED:
        return TextScan.of(path)
    if ending in ARROW:
        return open_arrow(path, ending)
    endings = ", ".join([*DELIMITED, *ARROW])
    raise ValueError(f"{path.name} must end in {endings} to be read in blocks")


def can_open_blocks(path: str | os.PathLike[str]) -> bool:
    """Tell whether a table with the ending of this file can be read in blocks.

    Examples
    --------
    >>> can_open_blocks("a.csv.gz"), can_open_blocks("a.arff")
    (True, False)
    """
    return ending_of(Path(path)) in {*DELIMITED, *ARROW}
