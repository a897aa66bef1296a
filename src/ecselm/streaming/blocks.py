"""Tables that need not fit in memory: files read in blocks of rows, as often as needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ecselm.streaming.ahead import read_ahead
from ecselm.streaming.arrow import arrow_table, parquet_table
from ecselm.streaming.passes import Passes
from ecselm.streaming.text import scan_text
from ecselm.study.tables import DELIMITED, check_there, ending_of
from ecselm.study.wording import did_you_mean

BLOCK_ROWS = 1 << 16


class BlockFile(Protocol):
    """A file of which all is known but the rows."""

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was guessed, a sentence each."""

    def frames(self, names: Sequence[str], block_rows: int) -> Generator[Any, None, None]:
        """Yield the columns of these names, at most ``block_rows`` rows at a time."""


_READERS: dict[str, Callable[[Path, Passes], BlockFile]] = {
    **dict.fromkeys(DELIMITED, scan_text),
    ".parquet": parquet_table,
    ".arrow": arrow_table,
    ".feather": arrow_table,
}


@dataclass(frozen=True, slots=True)
class Blocks:
    """A table in blocks; iterating over it reads the file, every time from its beginning."""

    file: BlockFile
    columns: tuple[str, ...]
    block_rows: int

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
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

    The blocks put together are what :func:`ecselm.study.read_table` reads.

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
        Iterating over it yields pandas frames; ``n_rows`` and ``notes`` tell of the table.

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
    file: Path, columns: Sequence[str] | None, block_rows: int, passes: Passes
) -> Blocks:
    """Do the same, and count the pass that text takes among others."""
    if block_rows < 1:
        raise ValueError(f"block_rows must be at least 1, got {block_rows}")
    check_there(file)
    if not can_open_blocks(file):
        raise ValueError(f"{file.name} must end in {', '.join(_READERS)} to be read in blocks")
    table = _READERS[ending_of(file)](file, passes)
    passes.n_rows = table.n_rows
    chosen = tuple(table.names if columns is None else columns)
    for name in chosen:
        if name not in table.names:
            raise ValueError(
                f"columns must be among those of {file.name}, got {name!r}"
                f"{did_you_mean(name, table.names)}"
            )
    return Blocks(table, chosen, block_rows)


def can_open_blocks(path: str | os.PathLike[str]) -> bool:
    """Tell whether a table with the ending of this file can be read in blocks.

    Examples
    --------
    >>> can_open_blocks("a.csv.gz"), can_open_blocks("a.arff")
    (True, False)
    """
    return ending_of(Path(path)) in _READERS
