"""Tables read in blocks of rows, as often as needed, in bounded memory."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import pandas as pd

from ecselm._typing import AnyArray, FloatArray
from ecselm._wording import did_you_mean
from ecselm.tables.cells import CODE, DECIMAL, GROUPING, PLAIN, Reading, read_names, read_styled
from ecselm.tables.files import unpacking
from ecselm.tables.read import (
    DELIMITED,
    DELIMITERS,
    check_text,
    check_there,
    check_width,
    column_names,
    comma_notes,
    encodings_of,
    ending_of,
    find_delimiter,
    read_header,
    rows_of,
    whole_numbers,
)

_NO_MORE = object()
PAGE_BYTES = 1 << 20  # of a column of a Parquet file, read at a time
_NO_NAME = re.compile(r"__index_level_\d+__")  # of an index that pandas has stored
_CODE = re.compile(f"^{CODE.pattern}", re.MULTILINE)
Style = tuple[str, bool]  # what commas mean, and whether all words end in a per cent sign
SCAN = "telling numbers from words"
N_HEAD = 1024  # bytes by which the kind of a file is told
PIECE_ROWS = 4096  # words of so many rows are held at a time, numbers of a whole block
BLOCK_ROWS = 1 << 16


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


@dataclass(frozen=True, slots=True)
class ArrowTable:
    """A file of record batches, of which all is known but the rows."""

    path: Path
    stored: tuple[str, ...]  # names of the columns in the file
    names: list[str]
    n_rows: int
    notes: tuple[str, ...]
    batches: Callable[[Path, list[str], int], Iterator[Any]]

    def frames(self, names: Sequence[str], block_rows: int) -> Generator[Any, None, None]:
        """Yield the columns of these names, at most ``block_rows`` rows at a time."""
        places = dict(zip(self.names, self.stored, strict=True))
        chosen = [places[name] for name in names]
        for batch in self.batches(self.path, chosen, block_rows):
            frame = batch.select(chosen).to_pandas(ignore_metadata=True, use_threads=False)
            yield frame.set_axis(list(names), axis=1)


def parquet_table(path: Path, _: Passes) -> ArrowTable:
    """Return what a Parquet file says of itself."""
    _check_begin(path, b"PAR1")
    _pyarrow(path.name)
    with unpacking(path.name), _parquet(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    return _described(path, schema, n_rows, _parquet_batches)


def arrow_table(path: Path, _: Passes) -> ArrowTable:
    """Return what an Arrow file, which Feather is another name of, says of itself."""
    _check_begin(path, b"ARROW1")
    _pyarrow(path.name)
    with unpacking(path.name), _arrow(path) as file:
        schema = file.schema
        n_rows = sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
    return _described(path, schema, n_rows, _arrow_batches)


def _parquet_batches(path: Path, names: list[str], block_rows: int) -> Iterator[Any]:
    with unpacking(path.name), _parquet(path) as file:
        # Blocks are read ahead by one thread, which leaves the others to the products.
        yield from file.iter_batches(batch_size=block_rows, columns=names, use_threads=False)


def _arrow_batches(path: Path, names: list[str], block_rows: int) -> Iterator[Any]:
    with unpacking(path.name), _arrow(path) as file:
        for i in range(file.num_record_batches):
            batch = file.get_batch(i).select(names)
            for start in range(0, batch.num_rows, block_rows):
                yield batch.slice(start, block_rows)


def _parquet(path: Path) -> AbstractContextManager[Any]:
    parquet = import_module("pyarrow.parquet")
    # Without these a whole group of rows, which may be the whole file, would be read at once.
    file: AbstractContextManager[Any] = parquet.ParquetFile(
        path, buffer_size=PAGE_BYTES, pre_buffer=False
    )
    return file


def _arrow(path: Path) -> AbstractContextManager[Any]:
    pyarrow = import_module("pyarrow")
    file: AbstractContextManager[Any] = pyarrow.ipc.open_file(pyarrow.memory_map(str(path)))
    return file


def _pyarrow(file: str) -> None:
    try:
        import_module("pyarrow")
    except ImportError as error:
        raise ImportError(f'reading {file} needs pyarrow: pip install "ecselm[parquet]"') from error


def _check_begin(path: Path, mark: bytes) -> None:
    with path.open("rb") as stream:
        head = stream.read(6)
    if not head:
        raise ValueError(f"{path.name} must hold a table, got nothing")
    if head.startswith(b"FEA1"):
        raise ValueError(f"{path.name} must be of Feather's second version to be read in blocks")
    if not head.startswith(mark):
        raise ValueError(f"{path.name} must begin as a file of its ending does, got {head!r}")


def _described(
    path: Path, schema: Any, n_rows: int, batches: Callable[..., Iterator[Any]]
) -> ArrowTable:
    # What pandas has for an index is a column if it has a name, and the first one.
    index = [
        one
        for one in (schema.pandas_metadata or {}).get("index_columns", ())
        if one in schema.names
    ]
    others = [name for name in schema.names if name not in index]
    stored = (*(name for name in index if not _NO_NAME.fullmatch(name)), *others)
    if not stored or not n_rows:
        raise ValueError(
            f"{path.name} must hold columns and rows, got {len(stored)} columns and {n_rows} rows"
        )
    names, notes = column_names(stored, path.name)
    return ArrowTable(path, stored, names, n_rows, tuple(notes), batches)


class NumberTally:
    """The styles in which all words so far are numbers.

    :func:`ecselm.tables.cells.read_numbers` tries the styles on a whole column. Here a style
    is given up with the first word that is not of it, so that any cut of the words into
    blocks leaves the same ones.

    Parameters
    ----------
    order : pair of str
        Which of decimal and grouping commas is meant where both are possible.

    Examples
    --------
    >>> from ecselm.tables.cells import GROUPING
    >>> tally = NumberTally((GROUPING, DECIMAL))
    >>> tally.add(np.array(["1,500", ""], object))
    >>> tally.verdict
    ('grouping', False, False)
    >>> tally.add(np.array(["2,5"], object))
    >>> tally.verdict
    ('decimal', False, False)
    """

    def __init__(self, order: tuple[str, str]) -> None:
        styles = [(PLAIN, False), *((style, sign) for style in order for sign in (False, True))]
        self._whole: dict[Style, bool] = dict.fromkeys(styles, True)  # of styles still possible
        self._has_values: dict[Style, bool] = dict.fromkeys(styles, False)
        self.has_commas = False

    @property
    def verdict(self) -> tuple[str | None, bool, bool]:
        """Return style, whether there are per cent signs, and whether all are whole.

        The style is None where words are no numbers, or all of them hold nothing.
        """
        for style, whole in self._whole.items():
            if self._has_values[style]:
                return (*style, whole)
        return None, False, False

    def add(self, words: AnyArray) -> None:
        """Take more words (N,) without spaces around them into account."""
        if not self._whole:
            return
        text = "\n".join(words)
        self.has_commas = self.has_commas or "," in text
        plain = _plain(words, text)
        for style in list(self._whole):
            reading = self._read(words, text, style, plain)
            if reading is None or reading.bad.any():
                del self._whole[style]
                continue
            self._has_values[style] |= not np.isnan(reading.values).all()
            self._whole[style] &= whole_numbers(reading.values).dtype.kind == "i"

    def _read(
        self, words: AnyArray, text: str, style: Style, plain: Reading | None
    ) -> Reading | None:
        """Return the words as numbers of a style, None where they are known to be none.

        Plain numbers are of the grouping style as well, and of the decimal one unless there
        is a point in them: most columns need no second look.
        """
        commas, percent = style
        if commas == PLAIN:
            return plain
        if plain is None or percent:
            return read_styled(words, commas, percent=percent)
        if commas == DECIMAL and "." in text:
            return read_styled(words, commas)
        return plain


def plain_numbers(words: AnyArray) -> FloatArray:
    """Return plain numbers (N,), NaN where a word is none."""
    numbers = pd.to_numeric(pd.Series(words), errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isinf(values), np.nan, values)


def _plain(words: AnyArray, text: str) -> Reading | None:
    """Return plain numbers, None where some words are others, with a look at all in one."""
    values = plain_numbers(words)
    if not np.isnan(values).any() and _CODE.search(text) is None:
        return Reading(values, np.zeros(len(words), bool))
    reading = read_styled(words, PLAIN)
    return None if reading.bad.any() else reading


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
