"""Rows to be answered, in blocks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ecselm.streaming.blocks import BLOCK_ROWS, Blocks, scanned_blocks
from ecselm.streaming.passes import Passes, Told
from ecselm.streaming.rows import placed
from ecselm.study.card import ColumnNote
from ecselm.study.rows import new_rows
from ecselm.study.tables import DELIMITED, ending_of

ANSWER = "answering"


def new_blocks(
    path: str | os.PathLike[str],
    columns: Iterable[ColumnNote],
    *,
    block_rows: int = BLOCK_ROWS,
    progress: Told = None,
) -> Iterator[Any]:
    r"""Return the rows of a file as a model takes them, block by block.

    Parameters
    ----------
    path : path
        As in :func:`open_blocks`.
    columns : iterable of ColumnNote
        Of the card that came with the model, as in :func:`ecselm.study.new_rows`.
    block_rows : int, default=65536
        The most rows of a block.
    progress : callable or None, default=None
        Called with a :class:`StreamProgress` after every block.

    Returns
    -------
    iterator of DataFrame
        What is wrong in a block is told with its rows.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> age = ColumnNote("age", "numbers", 0, 2, "as it is")
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.csv"
    ...     _ = file.write_text("sex,age\nf,12\nm,7\nf,9\n")
    ...     [rows["age"].tolist() for rows in new_blocks(file, [age], block_rows=2)]
    [[12.0, 7.0], [9.0]]
    """
    file = Path(path)
    passes = Passes(1 + int(ending_of(file) in DELIMITED), progress)
    return _read(scanned_blocks(file, None, block_rows, passes), tuple(columns), passes)


def _read(blocks: Blocks, columns: tuple[ColumnNote, ...], passes: Passes) -> Iterator[Any]:
    start = 0
    for number, frame in enumerate(passes.over(blocks, ANSWER, len), 1):
        with placed(number, start, len(frame)):
            rows = new_rows(frame, columns)
        yield rows
        start += len(frame)
