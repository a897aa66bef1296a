"""Delimited text in blocks: one pass tells numbers from words, every other one reads.

A column is one of numbers only if all of its cells are, and what a comma means in them is
decided by all of them, too. So blocks are not what their rows look like by themselves: put
together they are the table that :func:`ecselm.study.read_table` reads.
"""

from __future__ import annotations

import gzip
import zlib
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from ecselm._typing import AnyArray
from ecselm.streaming.numerals import NumberTally, plain_numbers
from ecselm.streaming.passes import Passes
from ecselm.study.cells import DECIMAL, GROUPING, PLAIN, read_names, read_styled
from ecselm.study.delimited import (
    DELIMITERS,
    check_text,
    check_width,
    encodings_of,
    find_delimiter,
    read_header,
    rows_of,
)
from ecselm.study.tables import column_names, comma_notes

SCAN = "telling numbers from words"
N_HEAD = 1024  # bytes by which the kind of a file is told
PIECE_ROWS = 4096  # words of so many rows are held at a time, numbers of a whole block


@dataclass(frozen=True, slots=True)
class Column:
    """How the cells of a column are read."""

    name: str
    style: str | None  # of numbers, None where they are words
    percent: bool = False
    whole: bool = False

    def read(self, words: AnyArray) -> Any:
        """Return cells (N,) as numbers, or as words with gaps as gaps."""
        if self.style is None:
            return pd.Series(words, dtype=str).mask(read_names(pd.Series(words)) == "")
        if self.style == PLAIN:
            values = plain_numbers(words)
        else:
            values = read_styled(words, self.style, percent=self.percent).values
        return values.astype(np.int64) if self.whole else values


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of delimited text, of which all is known but the rows."""

    path: Path
    encoding: str
    delimiter: str
    columns: tuple[Column, ...]
    n_rows: int
    notes: tuple[str, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self.columns]

    def frames(self, names: Sequence[str], block_rows: int) -> Generator[Any, None, None]:
        """Yield the columns of these names, at most ``block_rows`` rows at a time."""
        places = {column.name: i for i, column in enumerate(self.columns)}
        chosen = [places[name] for name in names]
        rows = _body(_rows(self.path, self.encoding, self.delimiter), self.path.name)
        while pieces := list(self._pieces(rows, chosen, block_rows)):
            columns = zip(names, zip(*pieces, strict=True), strict=True)
            yield pd.DataFrame({name: _joined(parts) for name, parts in columns})

    def _pieces(
        self, rows: Iterator[list[str]], chosen: list[int], n_rows: int
    ) -> Iterator[list[Any]]:
        """Yield some columns of the next rows, a few thousand at a time."""
        for start in range(0, n_rows, PIECE_ROWS):
            piece = list(islice(rows, min(PIECE_ROWS, n_rows - start)))
            if not piece:
                return
            cells = _columns(piece)
            yield [self.columns[place].read(cells[place]) for place in chosen]


def scan_text(path: Path, passes: Passes) -> TextFile:
    """Read a file once to tell its encoding, its delimiter and the kinds of its columns."""
    head = _begin(path)
    if not head.strip():
        raise ValueError(f"{path.name} must hold a table, got nothing")
    for encoding in encodings_of(head, path.name):
        try:
            return _scanned(path, encoding, passes)
        except UnicodeDecodeError:
            continue
    raise AssertionError("every byte is a character of latin-1")


def _scanned(path: Path, encoding: str, passes: Passes) -> TextFile:
    file = path.name
    delimiter = find_delimiter(lambda: _lines(path, encoding), file)
    _, header = read_header(_rows(path, encoding, delimiter), file)
    names, said = column_names(header, file)
    order = (DECIMAL, GROUPING) if delimiter in {";", "\t"} else (GROUPING, DECIMAL)
    tallies = [NumberTally(order) for _ in names]
    n_rows = 0
    body = _body(_rows(path, encoding, delimiter), file)
    pieces = iter(lambda: list(islice(body, PIECE_ROWS)), [])
    for piece in passes.over(pieces, SCAN, len):
        n_rows += len(piece)
        for tally, words in zip(tallies, _columns(piece), strict=True):
            tally.add(words)
    if n_rows == 0:
        raise ValueError(f"{file} must hold rows, got the names of columns only")
    columns = [Column(name, *tally.verdict) for name, tally in zip(names, tallies, strict=True)]
    styles = defaultdict(list)
    for column, tally in zip(columns, tallies, strict=True):
        if column.style is not None and tally.has_commas:
            styles[column.style].append(column.name)
    notes = (*_guesses(encoding, delimiter), *said, *comma_notes(styles))
    return TextFile(path, encoding, delimiter, tuple(columns), n_rows, notes)


def _guesses(encoding: str, delimiter: str) -> list[str]:
    notes = [] if encoding.startswith("utf") else [f"The text is not UTF-8; read as {encoding}."]
    if delimiter != ",":
        notes.append(f"Fields are separated by {DELIMITERS[delimiter]}.")
    return notes


def _begin(path: Path) -> bytes:
    packed = path.suffix.lower() == ".gz"
    with _whole(path.name), gzip.open(path) if packed else path.open("rb") as stream:
        return stream.read(N_HEAD)


def _lines(path: Path, encoding: str) -> Iterator[str]:
    """Yield the lines of a text as they are, and refuse what is no text."""
    packed, start = path.suffix.lower() == ".gz", 0
    opened: Callable[..., IO[str]] = gzip.open if packed else open
    with _whole(path.name), opened(path, "rt", encoding=encoding, newline="") as stream:
        for line in stream:
            text = line if line.endswith(("\n", "\r")) else line.rstrip("\x1a")
            check_text(text, path.name, start)
            start += len(line)
            yield text


@contextmanager
def _whole(file: str) -> Iterator[None]:
    """Say in one sentence that a packed file is damaged."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{file} is damaged or truncated: {error}") from error


def _rows(path: Path, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    return rows_of(_lines(path, encoding), delimiter, path.name)


def _body(rows: Iterator[tuple[int, list[str]]], file: str) -> Iterator[list[str]]:
    """Yield the rows after the names of the columns, all of as many fields."""
    first, header = read_header(rows, file)
    for line, row in rows:
        check_width(row, header, line, first, file)
        yield row


def _columns(rows: Sequence[list[str]]) -> list[AnyArray]:
    """Return the words of every column, without spaces around them."""
    return [
        np.array([word.strip() for word in cells], dtype=object)
        for cells in zip(*rows, strict=True)
    ]


def _joined(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return pd.concat(parts, ignore_index=True)
