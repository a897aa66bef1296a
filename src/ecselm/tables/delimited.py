"""Tables of delimited text: how every column is read, and the first pass that finds out.

pandas parses the text and converts most numbers. The rules that a parser does not know are
here: what a comma means in a number, which digits are codes, and what is missing. They hold
for all cells of a column, so that a first pass over the rows has to find them. It reads every
chunk as far as the rules are known by then. That is right for nearly all files; where a later
chunk shows that it was not, ``holds`` is false and the rows must be read again.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm._wording import quoted
from ecselm.tables.cells import (
    DECIMAL,
    GROUPING,
    MISSING,
    MISSING_NUMBER,
    PLAIN,
    read_styled,
)
from ecselm.tables.text import Chunk, Dialect, chunks_of, encodings_of, read_head, sniff

N_PROBED = 32  # cells by which a style is ruled out before all cells are looked at
LARGEST_WHOLE = 2**53  # beyond which a float misses whole numbers

_COMMA_NOTES = {
    DECIMAL: "Commas in numbers are decimal",
    GROUPING: "Commas in numbers part thousands",
}
_NO_NUMBERS = [  # pandas knows them as they are written
    "".join(letters)
    for word in sorted(MISSING_NUMBER)
    for letters in product(*({letter.lower(), letter.upper()} for letter in word))
]

Style = tuple[str, bool]  # what commas mean, and whether all words end in a per cent sign
_PLAIN: Style = (PLAIN, False)
_DECIMAL: Style = (DECIMAL, False)
_GROUPING: Style = (GROUPING, False)


def are_whole(values: FloatArray) -> bool:
    """Tell whether all values are whole numbers that a float holds exactly."""
    return all(
        np.isfinite(some).all()
        and (some == np.round(some)).all()
        and (np.abs(some) < LARGEST_WHOLE).all()
        for some in (values[:N_PROBED], values)  # the first ones are often enough
    )


@dataclass(frozen=True, slots=True)
class Words:
    """Cells of a column as text: positions (N,) among words without spaces around them."""

    codes: IntArray
    distinct: AnyArray

    def as_array(self) -> Any:
        """Return the words (N,) as pandas holds them, with gaps where there is nothing."""
        known = np.array([word.casefold() not in MISSING for word in self.distinct], bool)
        words = pd.Series(self.distinct, dtype=str).where(known)
        return words.array.take(self.codes)


Cells = AnyArray | Words  # numbers, which are integers if no cell is empty or has a fraction


@dataclass(frozen=True, slots=True)
class Column:
    """How the cells of a column are read."""

    name: str
    style: Style | None = None  # None where they are words
    whole: bool = False  # whether all numbers are whole
    has_points: bool = True  # whether a number may have a decimal point
    has_marks: bool = True  # whether words may stand for missing numbers, as NA

    def read(self, cells: Cells) -> Any:
        """Return cells (N,) as numbers, or as words with gaps where there is nothing."""
        if self.style is None:
            return cells.as_array() if isinstance(cells, Words) else cells
        values = numbers_of(cells, self.style)
        return values.astype(np.int64) if self.whole else values


def decimals_of(columns: Sequence[Column]) -> list[str | None]:
    """Return the decimal sign by which pandas can read each column, None if it cannot.

    Text is split anew for every sign, so that numbers without a point go with any other.
    """
    either = "," if any(column.style == _DECIMAL for column in columns) else "."
    signs = {_DECIMAL: ",", _PLAIN: "."}
    return [
        either
        if column.style == _PLAIN and not column.has_points
        else None
        if column.style is None
        else signs.get(column.style)
        for column in columns
    ]


def numbers_of(cells: Cells, style: Style) -> FloatArray:
    """Return numbers (N,), which may be infinite, NaN where a word is not one of this style."""
    if not isinstance(cells, Words):
        return cells.astype(np.float64, copy=False)
    commas, percent = style
    return read_styled(cells.distinct, commas, percent=percent).values[cells.codes]


def parse(
    chunk: Chunk,
    delimiter: str,
    signs: Mapping[int, str | None],
    columns: Sequence[Column],
) -> dict[int, Cells]:
    """Return columns of a chunk by their positions.

    Parameters
    ----------
    chunk : Chunk
    delimiter : str
    signs : mapping of int to str or None
        The decimal sign of a column of numbers, None where words are wanted. A column that
        holds anything but numbers is returned as words in any case.
    columns : sequence of Column
        All columns of the table.
    """
    cells: dict[int, Cells] = {}
    words = [column for column, sign in signs.items() if sign is None]
    for decimal in (",", "."):
        # To look for all marks of missing numbers takes time, and most columns have none.
        numbers = {
            column: _NO_NUMBERS if columns[column].has_marks else [""]
            for column, sign in signs.items()
            if sign == decimal
        }
        if not numbers:
            continue
        frame = _parsed(chunk, delimiter, numbers, words, decimal)
        cells |= _distinct_words(chunk, delimiter, frame, words)
        are_numbers = {column: frame[column].dtype.kind in "iuf" for column in numbers}
        cells |= {column: frame[column].to_numpy() for column in numbers if are_numbers[column]}
        words = [column for column in numbers if not are_numbers[column]]
    if words:
        frame = _parsed(chunk, delimiter, {}, words, ".")
        cells |= _distinct_words(chunk, delimiter, frame, words)
    return cells


def _parsed(
    chunk: Chunk,
    delimiter: str,
    numbers: Mapping[int, list[str]],
    words: Sequence[int],
    decimal: str,
    kind: Any = "category",  # pandas then makes a text of every distinct word, not of every cell
) -> Any:
    frame = pd.read_csv(
        io.BytesIO(chunk.data),
        sep=delimiter,
        decimal=decimal,
        header=None,
        names=range(chunk.ends.shape[1]),
        usecols=sorted([*numbers, *words]),
        dtype=dict.fromkeys(words, kind),
        na_values=dict(numbers),
        keep_default_na=False,
        na_filter=bool(numbers),
        index_col=False,
        skipinitialspace=chunk.has_spaces(delimiter),  # which takes half as long again
        low_memory=False,
    )
    if len(frame) != len(chunk):
        raise AssertionError(f"pandas read {len(frame)} of {len(chunk)} rows")
    return frame


def _distinct_words(
    chunk: Chunk, delimiter: str, frame: Any, columns: Sequence[int]
) -> dict[int, Words]:
    """Return columns that were parsed as categories."""
    coded = {column: (frame[column].cat.codes, frame[column].cat.categories) for column in columns}
    # Categories that are all numbers come as such, without their zeros in front.
    lossy = [i for i, (_, kinds) in coded.items() if not pd.api.types.is_string_dtype(kinds)]
    if lossy:
        again = _parsed(chunk, delimiter, {}, lossy, ".", object)
        coded |= {column: pd.factorize(again[column]) for column in lossy}
    return {
        column: Words(
            np.asarray(codes), np.array([str(word).strip() for word in kinds], dtype=object)
        )
        for column, (codes, kinds) in coded.items()
    }


class ColumnReader:
    """The styles in which all cells of a column so far are numbers.

    A style is given up with the first cell that is not of it, so that any cut of the rows into
    chunks leaves the same ones.

    Parameters
    ----------
    order : pair of str
        Which of decimal and grouping commas is meant where both are possible.

    Examples
    --------
    >>> reader = ColumnReader((GROUPING, DECIMAL))
    >>> reader.add_words(np.array(["1,500", ""], object))
    >>> reader.column("size").style
    ('grouping', False)
    >>> reader.add_words(np.array(["2,5"], object))
    >>> reader.column("size").style
    ('decimal', False)
    """

    def __init__(self, order: tuple[str, str]) -> None:
        styles = [_PLAIN, *((style, sign) for style in order for sign in (False, True))]
        self._whole: dict[Style, bool] = dict.fromkeys(styles, True)  # of styles still possible
        self._has_values: dict[Style, bool] = dict.fromkeys(styles, False)
        self._unsure: set[Style] = set()  # of which not all cells were looked at
        self._has_points = self.has_commas = self._has_marks = False
        # What was returned so far: words, and numbers that are right in these styles.
        self._returned_words = False
        self._returned_styles: set[Style] | None = None

    def column(self, name: str) -> Column:
        """Return how the cells so far are read."""
        for style, whole in self._whole.items():
            if self._has_values[style]:
                return Column(name, style, whole, self._has_points, self._has_marks)
        return Column(name)

    @property
    def is_sure(self) -> bool:
        """Tell whether all cells were seen to be of the style in which they are read."""
        return self.column("").style not in self._unsure

    @property
    def holds(self) -> bool:
        """Tell whether all cells were returned as they are read now."""
        style = self.column("").style
        if style is None:
            return self._returned_styles is None
        fits = self._returned_styles is None or style in self._returned_styles
        return fits and not self._returned_words

    def read(self, chunk: Chunk, place: int, cells: Cells, sign: str | None) -> Cells | None:
        """Take the cells of a chunk into account and return them as all so far are read.

        Parameters
        ----------
        chunk : Chunk
        place : int
            Of the column.
        cells : array or Words
        sign : str or None
            The decimal sign by which numbers were read.

        Returns
        -------
        array, Words or None
            None if the cells are needed as words: the numbers alone do not show their style.
        """
        if isinstance(cells, Words):
            self.add_words(cells.distinct)
        elif not self._add_numbers(chunk, place, cells, sign):
            return None
        style = self.column("").style
        if style is None:
            return self._without_style(cells)
        fitting = {style}
        if style == _PLAIN:
            fitting |= {_GROUPING} if self._has_points else {_GROUPING, _DECIMAL}
        known = self._returned_styles
        self._returned_styles = fitting if known is None else known & fitting
        return numbers_of(cells, style)

    def add_words(self, words: AnyArray) -> None:
        """Take more words (N,) without spaces around them into account."""
        if not self._whole:
            return
        text = "\n".join(words)
        self.has_commas = self.has_commas or "," in text
        self._has_points = self._has_points or "." in text
        self._has_marks = self._has_marks or any(
            word and word.casefold() in MISSING_NUMBER for word in words
        )
        for style in list(self._whole):
            commas, percent = style
            reading = read_styled(words, commas, percent=percent)
            if reading.bad.any():
                del self._whole[style]
                continue
            known = reading.values[~np.isnan(reading.values)]
            missing = len(known) < len(words)
            self._has_values[style] |= len(known) > 0
            self._whole[style] &= not missing and are_whole(known)

    def _add_numbers(self, chunk: Chunk, place: int, cells: AnyArray, sign: str | None) -> bool:
        """Take numbers that pandas has read into account, if they show which styles are left."""
        values = numbers_of(cells, _PLAIN)
        if np.isnan(values).all():
            return False
        if cells.dtype.kind == "f":  # integers have no sign, and fit all styles
            if sign == "," and (_PLAIN in self._whole or not self.has_commas):
                self.has_commas = self.has_commas or chunk.has(place, ",")
                if self.has_commas:
                    self._whole.pop(_PLAIN, None)
            if sign == "." and _DECIMAL in self._whole:
                self._has_points = self._has_points or chunk.has(place, ".")
            signs = self.has_commas if sign == "," else self._has_points
            other = _GROUPING if sign == "," else _DECIMAL
            if signs and other in self._whole:
                # A few cells rule most styles out, most likely some that have a fraction.
                known = ~np.isnan(values)
                rows = np.flatnonzero(known & (values != np.round(values)))[:N_PROBED]
                rows = rows if len(rows) else np.flatnonzero(known)[:N_PROBED]
                if read_styled(chunk.cells(place, rows), other[0]).bad.any():
                    del self._whole[other]
                else:
                    self._unsure.add(other)
        whole = any(self._whole.values()) and are_whole(values)
        for style in list(self._whole):
            if style[1]:  # but there is no per cent sign
                del self._whole[style]
                continue
            self._has_values[style] = True
            self._whole[style] &= whole
        return True

    def _without_style(self, cells: Cells) -> Cells:
        is_empty = isinstance(cells, Words) and all(
            word.casefold() in MISSING for word in cells.distinct
        )
        self._returned_words = self._returned_words or not is_empty
        return cells


@dataclass(frozen=True, slots=True)
class TextFile:
    """A table of delimited text, of which all is known but the rows."""

    dialect: Dialect
    columns: tuple[Column, ...]
    n_rows: int
    notes: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.dialect.names)

    def frames(self, names: Sequence[str], block_rows: int) -> Generator[Any, None, None]:
        """Yield the columns of these names, ``block_rows`` rows at a time."""
        return in_blocks(self.chunks(names), names, block_rows)

    def chunks(self, names: Sequence[str]) -> Iterator[list[Any]]:
        """Yield the columns of these names, some rows at a time."""
        places = [self.names.index(name) for name in names]
        decimals = decimals_of(self.columns)
        signs = {place: decimals[place] for place in places}
        for chunk in chunks_of(self.dialect):
            cells = parse(chunk, self.dialect.delimiter, signs, self.columns)
            yield [self.columns[place].read(cells[place]) for place in places]


class TextScan:
    """The first pass over a table of delimited text, which finds out how columns are read.

    Parameters
    ----------
    path : Path
    encodings : sequence of str
        To be tried one after the other.
    most_bytes : int or None, default=None
        Refuse more than that, once unpacked.
    words : sequence of int, default=()
        Positions of columns whose cells have to be looked at one by one.

    Attributes
    ----------
    holds : bool
        Whether the pass has read the rows as the whole table must be read.
    again : TextFile or TextScan
        What reads the table again: a file once all is known of it, else another scan.
    """

    n_rows: int | None = None
    notes: tuple[str, ...] = ()

    def __init__(
        self,
        path: Path,
        encodings: Sequence[str],
        most_bytes: int | None = None,
        words: Sequence[int] = (),
    ) -> None:
        self._path, self._most_bytes, self._words = path, most_bytes, words
        for i, encoding in enumerate(encodings):
            try:
                self._dialect = sniff(path, encoding)
            except UnicodeDecodeError:
                continue
            self._encodings = encodings[i:]
            break
        self.holds = False
        self.again: TextFile | TextScan = self

    @classmethod
    def of(cls, path: Path, most_bytes: int | None = None) -> TextScan:
        """Return the scan of a file, whose first rows are read to find its dialect."""
        head = read_head(path)
        return cls(path, encodings_of(head, path.name), most_bytes)

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._dialect.names)

    def frames(self, names: Sequence[str], block_rows: int) -> Generator[Any, None, None]:
        """Yield the columns of these names, ``block_rows`` rows at a time."""
        return in_blocks(self.chunks(names), names, block_rows)

    def chunks(self, names: Sequence[str]) -> Iterator[list[Any]]:
        """Yield the columns of these names, some rows at a time."""
        places = [self.names.index(name) for name in names]
        for cells in self._cells():
            yield [_as_column(cells[place]) for place in places]

    def scan(self) -> Iterator[int]:
        """Yield the numbers of rows of chunks, after having taken these into account."""
        for first, *_ in self._cells():
            yield len(first.codes if isinstance(first, Words) else first)

    def _cells(self) -> Iterator[list[Cells]]:
        """Yield all columns, some rows at a time, and find out how they are read."""
        dialect = self._dialect
        order = (DECIMAL, GROUPING) if dialect.delimiter in {";", "\t"} else (GROUPING, DECIMAL)
        readers = [ColumnReader(order) for _ in dialect.names]
        for reader, words in zip(readers, zip(*dialect.head, strict=True), strict=False):
            reader.add_words(np.array([word.strip() for word in words], dtype=object))
        n_rows = 0
        try:
            for chunk in chunks_of(dialect, self._most_bytes):
                n_rows += len(chunk)
                yield self._read(chunk, readers)
        except UnicodeDecodeError:
            self.again = TextScan(self._path, self._encodings[1:], self._most_bytes)
            return
        if n_rows == 0:
            raise ValueError(f"{self._path.name} must hold rows, got the names of columns only")
        unsure = [i for i, reader in enumerate(readers) if not reader.is_sure]
        if unsure:
            self.again = TextScan(self._path, self._encodings, self._most_bytes, unsure)
            return
        self.n_rows = n_rows
        self.holds = all(reader.holds for reader in readers)
        self.again = self._settled(readers)
        self.notes = self.again.notes

    def _read(self, chunk: Chunk, readers: Sequence[ColumnReader]) -> list[Cells]:
        """Return all columns of a chunk as they are read so far."""
        delimiter = self._dialect.delimiter
        columns = [reader.column("") for reader in readers]
        signs = decimals_of(columns)
        for place in (*np.flatnonzero(chunk.codes()).tolist(), *self._words):
            signs[place] = None
        parsed = parse(chunk, delimiter, dict(enumerate(signs)), columns)
        read = {i: one.read(chunk, i, parsed[i], signs[i]) for i, one in enumerate(readers)}
        unclear = [i for i, cells in read.items() if cells is None]
        for i, words in parse(chunk, delimiter, dict.fromkeys(unclear), columns).items():
            read[i] = readers[i].read(chunk, i, words, None)
        return [cells for cells in read.values() if cells is not None]

    def _settled(self, readers: Sequence[ColumnReader]) -> TextFile:
        """Return the table as it is read now that all rows are known."""
        dialect = self._dialect
        columns = [reader.column(name) for reader, name in zip(readers, dialect.names, strict=True)]
        with_commas = defaultdict(list)
        for reader, column in zip(readers, columns, strict=True):
            if column.style is not None and reader.has_commas:
                with_commas[column.style[0]].append(column.name)
        notes = [
            f"{meaning}: {quoted(with_commas[style])}."
            for style, meaning in _COMMA_NOTES.items()
            if style in with_commas
        ]
        return TextFile(dialect, tuple(columns), self.n_rows or 0, (*dialect.notes, *notes))


def _as_column(cells: Cells) -> Any:
    return cells.as_array() if isinstance(cells, Words) else cells


def in_blocks(
    chunks: Iterable[Sequence[Any]], names: Sequence[str], block_rows: int
) -> Generator[Any, None, None]:
    """Yield frames of ``block_rows`` rows, but for the last one, from columns cut anywhere."""
    waiting: list[Any] = []
    n_waiting = 0
    for columns in chunks:
        frame = as_frame(columns, names)
        start = 0
        while n_waiting + len(frame) - start >= block_rows:
            stop = start + block_rows - n_waiting
            yield joined([*waiting, frame.iloc[start:stop]])
            waiting, n_waiting, start = [], 0, stop
        if start < len(frame):
            waiting.append(frame.iloc[start:])
            n_waiting += len(frame) - start
    if waiting:
        yield joined(waiting)


def as_frame(columns: Sequence[Any], names: Sequence[str]) -> Any:
    """Return columns as a frame that does not copy them."""
    return pd.DataFrame(dict(zip(names, columns, strict=True)), copy=False)


def joined(frames: Sequence[Any]) -> Any:
    """Return frames of the same columns below each other."""
    if len(frames) == 1:
        return frames[0].reset_index(drop=True)
    return pd.concat(frames, ignore_index=True)


def read_delimited(path: Path, most_bytes: int) -> tuple[Any, tuple[str, ...]]:
    """Return a table of delimited text as a whole, and notes on what was guessed."""
    scan = TextScan.of(path, most_bytes)
    while True:
        parts = list(scan.chunks(scan.names))
        if isinstance(scan.again, TextFile):
            break
        scan = scan.again
    table = scan.again
    if not scan.holds:
        parts = list(table.chunks(table.names))
    columns = [_concatenated(column) for column in zip(*parts, strict=True)]
    whole = [
        column.astype(np.int64) if one.whole else column
        for one, column in zip(table.columns, columns, strict=True)
    ]
    return as_frame(whole, table.names), table.notes


def _concatenated(parts: Sequence[Any]) -> Any:
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return pd.concat([pd.Series(part) for part in parts], ignore_index=True).array
