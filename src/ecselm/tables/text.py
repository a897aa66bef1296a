"""Delimited text: its encoding and dialect, and its rows in chunks that pandas can parse."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from ecselm._typing import AnyArray, BoolArray, IntArray
from ecselm._wording import brief, quoted

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
N_SNIFFED = 100  # rows by which the delimiter is found
MOST_TITLES = 10  # rows above the names of the columns
SNIFFED_BYTES = 1 << 13  # of text at a time, until there are so many rows
N_HEAD = 1024  # bytes by which the kind of a file is found
CHUNK_BYTES = 1 << 22  # of text that is parsed at a time
SLICE_BYTES = 1 << 17  # of a chunk, looked at at a time: the processor's cache holds them
MOST_BYTES = 2**32  # of a whole table, once unpacked; a file of gzip can claim any size
MOST_LINE_BYTES = 2**28  # a file without ends of lines must not be held as a whole
REWRITTEN_ROWS = 4096  # at a time, of text that pandas would not read by our rules

_BINARY = re.compile(r"[\x00-\x08\x0e-\x1f]")
_BINARY_BYTES = bytes([*range(9), *range(14, 32)])
_SEPARATOR = re.compile(r'"?sep=(.)"?[,;\t|]*', re.IGNORECASE)  # a hint for spreadsheets
_LINE_ENDS = re.compile(rb"\r\n|\n|\r")
_BLANK_LINES = re.compile(rb"^[ \t]*\r?\n", re.MULTILINE)
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_KINDS = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"FEA1": "a Feather file",
    b"PK\x03\x04": "a zip archive or an Excel sheet",
    b"\xd0\xcf\x11\xe0": "an Excel sheet",
    b"\x1f\x8b": "a file packed by gzip",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
}
_QUOTE, _RETURN, _LINE_END, _SPACE, _POINT, _ZERO = b'"\r\n .0'
_IS_SIGN = np.isin(np.arange(256), list(b"+-"))
_IS_PREFIX = np.isin(np.arange(256), list(b'" \t'))  # may stand before the text of a cell
_IS_BLANK = np.isin(np.arange(256), list(b'" \t\r\n'))  # may begin a row that holds nothing


def decoded(data: bytes, file: str) -> tuple[str, str]:
    """Return the text of a file and the name of its encoding; refuse what is no text.

    Examples
    --------
    >>> decoded("größe".encode("cp1252"), "a.csv")
    ('größe', 'cp1252')
    """
    for encoding in encodings_of(data, file):
        try:
            text = data.decode(encoding).rstrip("\x1a")
        except UnicodeDecodeError:
            continue
        _check_text(text, file)
        return text, encoding
    raise AssertionError("every byte is a character of latin-1")


def encodings_of(head: bytes, file: str) -> tuple[str, ...]:
    """Return the encodings to try one after the other, by how a file begins.

    Examples
    --------
    >>> encodings_of(b"size;sex", "a.csv")
    ('utf-8-sig', 'cp1252', 'latin-1')
    """
    for mark, kind in _KINDS.items():
        if head.startswith(mark):
            raise ValueError(f"{file} must be text, by its content it is {kind}")
    return (_MARKS.get(head[:2], "utf-8-sig"), "cp1252", "latin-1")


def encoding_notes(encoding: str) -> list[str]:
    """Return a note on an encoding that had to be guessed."""
    return [] if encoding.startswith("utf") else [f"The text is not UTF-8; read as {encoding}."]


def _check_text(text: str, file: str, start: int = 0) -> None:
    """Refuse characters that no text has; ``start`` of them came before."""
    odd = _BINARY.search(text)
    if odd is not None:
        raise ValueError(f"{file} must be text, character {start + odd.start()} is {odd.group()!r}")


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a file, unpacked; say in one sentence that it is damaged or cannot be read."""
    packed = path.suffix.lower() == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb") as stream:
            yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path.name} is damaged or truncated: {error}") from error
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror}") from error


def read_head(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked; refuse one that holds nothing."""
    with _opened(path) as stream:
        head = stream.read(N_HEAD)
        if not head.strip():
            raise ValueError(f"{path.name} must hold a table, got nothing")
        return head


def _pieces(
    path: Path, encoding: str, size: int, most_bytes: int | None = None
) -> Generator[bytes, None, None]:
    """Yield the text of a file in UTF-8, cut anywhere between two characters."""
    is_utf8 = encoding == "utf-8-sig"
    decoder = codecs.getincrementaldecoder("utf-8" if is_utf8 else encoding)()
    n_characters = n_bytes = 0
    with _opened(path) as stream:
        coming = stream.read(size)
        if is_utf8:
            coming = coming.removeprefix(codecs.BOM_UTF8)
        while coming:
            data, coming = coming, stream.read(size)
            n_bytes += len(data)
            if most_bytes is not None and n_bytes > most_bytes:
                raise ValueError(f"{path.name} must hold at most {most_bytes} bytes once unpacked")
            n_more = len(data)
            if not (is_utf8 and data.isascii() and not decoder.getstate()[0]):
                text = decoder.decode(data, final=not coming)
                data, n_more = text.encode(), len(text)
            if not coming:
                data = data.rstrip(b"\x1a")  # by which some systems end a file
            array = np.frombuffer(data, dtype=np.uint8)
            n_control = np.count_nonzero(array < _SPACE) - np.count_nonzero(array == _LINE_END)
            if n_control and len(data.translate(None, _BINARY_BYTES)) < len(data):
                _check_text(data.decode(), path.name, n_characters)
            n_characters += n_more
            yield data


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield lines with their ends, as the module csv wants them."""
    rest = ""
    for piece in pieces:
        lines = list(io.StringIO(rest + piece.decode(), newline=""))
        # The end of a piece may part a line, or the two characters that end one.
        rest = "" if lines and lines[-1].endswith("\n") else (lines.pop() if lines else "")
        yield from lines
    if rest:
        yield from io.StringIO(rest, newline="")


def rows_of(
    lines: Iterable[str], delimiter: str, file: str, n_before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of fields with the line in which each ends, and no empty lines.

    Parameters
    ----------
    lines : iterable of str
    delimiter, file : str
    n_before : int, default=0
        Number of lines before these.
    """
    last = ""

    def watched() -> Iterator[str]:
        nonlocal last
        for line in lines:
            last = line
            yield line

    reader = csv.reader(watched(), delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            if any(row) or len(row) > 1 or '"' in last:  # an empty cell in quotes is a row
                yield n_before + reader.line_num, row
    except csv.Error as error:
        line = n_before + reader.line_num
        raise ValueError(f"{file}, line {line}: {brief(str(error))}") from error


def find_layout(
    lines: Callable[[], Iterable[str]], file: str, delimiters: Iterable[str] = DELIMITERS
) -> tuple[str, int]:
    """Return the delimiter, and the number of title rows above the names of the columns.

    By the delimiter most rows have as many fields as the names, two at least.
    """
    best, found = (0.0, 1), (next(iter(delimiters)), 0)
    for delimiter in delimiters:
        try:
            rows = [row for _, row in islice(rows_of(lines(), delimiter, file), N_SNIFFED)]
        except ValueError:  # a line of other delimiters can be too long for a field
            continue
        n_titles = count_titles(rows)
        sniffed = [len(row) for row in rows[n_titles:]]
        if sniffed and sniffed[0] > 1:
            agreeing = sniffed.count(sniffed[0]) / len(rows)
            if (agreeing, sniffed[0]) > best:
                best, found = (agreeing, sniffed[0]), (delimiter, n_titles)
    return found


def count_titles(rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first rows are titles above the names of the columns.

    Titles have fewer fields than the table, or a single one that holds anything. Names are no
    numbers, and a name without digits stands above a column of them, such as numbers, dates or
    amounts: without that, no row is taken for a title.

    Examples
    --------
    >>> count_titles([["Report"], ["size", "sex"], ["1", "f"], ["2", "m"]])
    1
    >>> count_titles([["size", "sex"], ["1", "f"], ["2", "m"]])
    0
    """
    widths = Counter(len(row) for row in rows)
    width = max(widths, key=lambda n: (widths[n], n), default=0)
    n_titles = 0
    for row in rows[:MOST_TITLES]:
        n_filled = sum(bool(cell.strip()) for cell in row)
        if len(row) > width or n_filled == width:
            break
        if len(row) == width and not (width > 2 and row[0].strip() and n_filled == 1):
            break
        n_titles += 1
    header, below = rows[n_titles : n_titles + 1], rows[n_titles + 1 :]
    if not n_titles or not below or len(header[0]) != width:
        return 0
    regular = [row for row in below if len(row) == width]
    is_header = not any(_is_number(cell) for cell in header[0])
    has_values = any(
        not _has_digit(name) and _are_values(cells)
        for name, *cells in zip(header[0], *regular, strict=True)
    )
    return n_titles if is_header and has_values and len(regular) > 0.9 * len(below) else 0


def _are_values(cells: Iterable[str]) -> bool:
    """Tell whether nearly all cells that hold anything hold digits."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and sum(map(_has_digit, filled)) >= 0.9 * len(filled)


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def column_names(
    given: Iterable[Any], file: str, *, renames: bool = False
) -> tuple[list[str], list[str]]:
    """Return unique names of columns, and notes on those that had none.

    Names that occur again are refused, or with ``renames`` numbered as pandas does.

    Examples
    --------
    >>> column_names(["size ", ""], "a.csv")
    (['size', 'column 2'], ["A column without a name is called 'column 2'."])
    >>> column_names(["size", "size"], "a.csv", renames=True)
    (['size', 'size.1'], ["Another column named 'size' is called 'size.1'."])
    """
    names, notes = [str(name).strip() for name in given], []
    twice = [name for name, n in Counter(names).items() if n > 1 and name]
    if twice and not renames:
        raise ValueError(f"{file} must name every column once, got {', '.join(map(repr, twice))}")
    if all(_is_number(name) for name in names):
        notes.append("The first line holds numbers only; taken as the names of the columns.")
    if twice:
        notes += _number_names(names)
    unnamed = [i for i, name in enumerate(names) if not name]
    for i in unnamed:
        names[i] = _free_name(f"column {i + 1}", names)
        notes.append(f"A column without a name is called {names[i]!r}.")
    return names, notes


def _number_names(names: list[str]) -> Iterator[str]:
    """Give names that occur again a number, in place, and yield a note on each."""
    used, seen = set(names), Counter[str]()
    for i, name in enumerate(names):
        if name and seen[name]:
            number = seen[name]
            while f"{name}.{number}" in used:
                number += 1
            names[i] = f"{name}.{number}"
            used.add(names[i])
            yield f"Another column named {brief(name)!r} is called {brief(names[i])!r}."
        seen[name] += 1


def _is_number(name: str) -> bool:
    try:
        float(name.replace(",", "."))
    except ValueError:
        return False
    return True


def _free_name(name: str, names: list[str]) -> str:
    while name in names:
        name += "'"
    return name


@dataclass(frozen=True, slots=True)
class Dialect:
    """Encoding, delimiter and header of a text."""

    path: Path
    encoding: str
    delimiter: str
    names: tuple[str, ...]
    header_line: int  # in which the names of the columns end
    notes: tuple[str, ...]  # on what was guessed, a sentence each
    head: tuple[tuple[str, ...], ...] = field(repr=False)  # the first rows
    n_skipped: int = 0  # lines above the names of the columns


def sniff(path: Path, encoding: str) -> Dialect:
    """Find delimiter and header by the first rows of a text."""
    file = path.name

    def lines() -> Iterator[str]:
        return islice(_lines(_pieces(path, encoding, SNIFFED_BYTES)), n_skipped, None)

    n_skipped = 0
    hint = _SEPARATOR.fullmatch(next(lines(), "").rstrip("\r\n"))
    n_skipped = 0 if hint is None else 1
    wanted = DELIMITERS if hint is None else [hint.group(1)]
    if hint is not None and hint.group(1) not in DELIMITERS:
        raise ValueError(
            f"{file}, line 1: fields must be separated by {', '.join(DELIMITERS.values())}, got "
            f"{hint.group()!r}"
        )
    delimiter, n_titles = find_layout(lines, file, wanted)
    rows = list(islice(rows_of(lines(), delimiter, file, n_skipped), n_titles + 1 + N_SNIFFED))
    if not rows:
        raise ValueError(f"{file} must hold a table, got nothing")
    titles, (header_line, header), head = rows[:n_titles], rows[n_titles], rows[n_titles + 1 :]
    names, name_notes = column_names(header, file, renames=True)
    notes = encoding_notes(encoding)
    if delimiter != ",":
        notes.append(f"Fields are separated by {DELIMITERS[delimiter]}.")
    if titles:
        notes.append(title_note([row for _, row in titles]))
        n_skipped = titles[-1][0]
    words = tuple(tuple(row) for _, row in head if len(row) == len(header))
    notes += name_notes
    return Dialect(
        *(path, encoding, delimiter, tuple(names), header_line, tuple(notes)),
        head=words,
        n_skipped=n_skipped,
    )


def title_note(titles: Sequence[Sequence[str]]) -> str:
    """Return a note on rows above the names of the columns."""
    words = [" ".join(cell.strip() for cell in row if cell.strip()) for row in titles]
    rows = "row" if len(titles) == 1 else "rows"
    return f"{len(titles)} {rows} above the names of the columns left out: {quoted(words, 2)}."


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of text in UTF-8 that all have the same number of fields.

    Attributes
    ----------
    data : bytes
    ends : array of shape (n_rows, n_columns)
        Positions of the delimiter, or the end of the line, after every cell.
    """

    data: bytes
    ends: IntArray

    def __len__(self) -> int:
        return len(self.ends)

    def starts(self, column: int) -> IntArray:
        """Return the position of the first byte of every cell of a column."""
        if column > 0:
            return self.ends[:, column - 1] + 1
        return np.concatenate([[0], self.ends[:-1, -1] + 1])

    def codes(self) -> BoolArray:
        """Return which columns have a cell that begins as 007 does: digits, but no number."""
        data = np.frombuffer(b"\n" + self.data, dtype=np.uint8)
        zeros = np.concatenate(
            [
                _leading_zeros(data[start : start + SLICE_BYTES + 2]) + start
                for start in range(0, len(data), SLICE_BYTES)
            ]
        )
        # Few places are such zeros; some of them begin a cell.
        ends = self.ends.ravel() + 1
        cells = np.searchsorted(ends, zeros)
        starts = np.where(cells > 0, ends[cells - 1] + 1, 1)
        before = zeros - 1 - _IS_SIGN[data[zeros - 1]]
        moved = np.flatnonzero((before >= starts) & _IS_PREFIX[data[before]])
        while len(moved):
            before[moved] -= 1
            moved = moved[(before >= starts)[moved] & _IS_PREFIX[data[before[moved]]]]
        found = np.zeros(self.ends.shape[1], dtype=bool)
        found[cells[before < starts] % len(found)] = True
        return found

    def has_spaces(self, delimiter: str) -> bool:
        """Tell whether a cell may begin with a space."""
        data = np.frombuffer(self.data, dtype=np.uint8)
        before = data[np.flatnonzero(data == _SPACE) - 1] if b" " in self.data else data[:0]
        return bool(((before == ord(delimiter)) | (before == _LINE_END)).any())

    def has(self, column: int, character: str) -> bool:
        """Tell whether an ASCII character stands anywhere in the cells of a column."""
        if character.encode() not in self.data:
            return False
        data = np.frombuffer(self.data, dtype=np.uint8)
        places = np.append(np.flatnonzero(data == ord(character)), len(data))
        following = places[np.searchsorted(places, self.starts(column))]
        return bool((following < self.ends[:, column]).any())

    def cells(self, column: int, rows: IntArray) -> AnyArray:
        """Return the words of some cells of a column."""
        starts, ends = self.starts(column)[rows].tolist(), self.ends[rows, column].tolist()
        words = [self.data[i:j].decode().strip() for i, j in zip(starts, ends, strict=True)]
        return np.array([word.strip('"').strip() for word in words], dtype=object)

    @classmethod
    def of(
        cls, data: bytes, delimiter: str, width: int, *, rewritten: bool = False
    ) -> tuple[Chunk, bytes] | None:
        """Return the whole rows in a text and what is left of it, None if it is irregular.

        Irregular are rows of another number of fields, quotes in the midst of a field, empty
        lines, and ends of lines without a line feed, unless all was ``rewritten`` before.
        """
        array = np.frombuffer(data, dtype=np.uint8)
        is_end = array == _LINE_END
        is_separator = is_end | (array == ord(delimiter))
        n_bytes = data.rfind(b"\n") + 1
        if b'"' in data:
            outside = np.cumsum(array == _QUOTE, dtype=np.uint8) & 1 == 0
            is_separator &= outside
            is_end &= outside
            n_bytes = len(data) - int(np.argmax(is_end[::-1])) if is_end.any() else 0
        if not n_bytes:
            return None if len(data) > CHUNK_BYTES else (cls(b"", _no_rows(width)), data)
        whole, rest = data[:n_bytes], data[n_bytes:]
        places = np.flatnonzero(is_separator[:n_bytes])
        ends = places[width - 1 :: width]
        if len(places) != len(ends) * width or np.count_nonzero(is_end) != len(ends):
            return None
        if not is_end[ends].all():
            return None
        chunk = cls(whole, places.reshape(-1, width))
        return (chunk, rest) if rewritten or chunk._is_regular(delimiter) else None

    def _is_regular(self, delimiter: str) -> bool:
        data = self.data
        if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
            return False
        array = np.frombuffer(data, dtype=np.uint8)
        if np.diff(self.ends.ravel(), prepend=-1).max() > csv.field_size_limit():
            return False
        if self.ends.shape[1] == 1 and _IS_BLANK[array[self.starts(0)]].any():
            return False
        return b'"' not in data or _has_regular_quotes(array, ord(delimiter))

    def after(self, n_rows: int) -> Chunk:
        """Return the chunk without its first rows."""
        n_bytes = int(self.ends[n_rows - 1, -1]) + 1
        return Chunk(self.data[n_bytes:], self.ends[n_rows:] - n_bytes)


def _leading_zeros(data: AnyArray) -> IntArray:
    """Return positions of zeros that stand before a digit, and not behind a digit or a point."""
    is_digit = data - _ZERO < 10
    goes_on = is_digit | (data == _POINT)
    return np.flatnonzero((data[1:-1] == _ZERO) & is_digit[2:] & ~goes_on[:-2]) + 1


def _no_rows(width: int) -> IntArray:
    return np.empty((0, width), dtype=np.intp)


def _has_regular_quotes(data: AnyArray, delimiter: int) -> bool:
    """Tell whether quotes stand around whole fields, and twice within these."""
    places = np.flatnonzero(data == _QUOTE)
    opening, closing = places[::2], places[1::2]
    separators = [delimiter, _LINE_END]
    before = data[opening - 1]
    # One space may stand between a delimiter and a quote.
    before = np.where(before == _SPACE, data[opening - 2], before)
    begins = np.isin(before, separators) | (opening == 0)
    doubled = np.isin(opening - 1, closing, assume_unique=True)
    behind = data[np.minimum(closing + 1, len(data) - 1)]
    ends = np.isin(behind, [*separators, _QUOTE, _RETURN])
    return bool((begins | doubled).all() and ends.all())


def chunks_of(dialect: Dialect, most_bytes: int | None = None) -> Iterator[Chunk]:
    """Yield all rows after the header, in chunks of at least a row; refuse uneven rows."""
    file, width = dialect.path.name, len(dialect.names)
    pieces = _pieces(dialect.path, dialect.encoding, CHUNK_BYTES, most_bytes)
    rest, n_lines, below_header = b"", dialect.n_skipped, False
    pieces = _below(pieces, dialect.n_skipped) if n_lines else pieces
    for piece, is_last in chain(((piece, False) for piece in pieces), [(b"\n", True)]):
        text = rest + piece  # to which the last line's end is added, if it has none
        found = Chunk.of(text, dialect.delimiter, width)
        if found is None and b'"' not in text:
            found = Chunk.of(_BLANK_LINES.sub(b"", text), dialect.delimiter, width)
        if found is None or (is_last and found[1]):
            # pandas would read these rows in another way, or would not refuse them.
            lines = _lines(_bounded(chain([text], pieces), file))
            rows = rows_of(lines, dialect.delimiter, file, n_lines)
            yield from _rewritten(rows if below_header else islice(rows, 1, None), dialect)
            return
        chunk, rest = found
        n_lines += int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == _LINE_END))
        n_lines -= rest.count(b"\n")
        if len(chunk) and not below_header:
            chunk, below_header = chunk.after(1), True
        if len(chunk):
            yield chunk


def _below(pieces: Iterable[bytes], n_lines: int) -> Generator[bytes, None, None]:
    """Yield text without its first lines."""
    text = b""
    for piece in pieces:
        if not n_lines:
            yield piece
            continue
        text += piece
        while n_lines and (end := _LINE_ENDS.search(text)):
            if end.group() == b"\r" and end.end() == len(text):
                break  # a line feed may come with the next piece
            text, n_lines = text[end.end() :], n_lines - 1
        if not n_lines and text:
            yield text


def _bounded(pieces: Iterable[bytes], file: str) -> Iterator[bytes]:
    """Refuse a line that does not end, before all of it is in memory."""
    n_bytes = 0
    for piece in pieces:
        last = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
        n_bytes = n_bytes + len(piece) if last < 0 else len(piece) - last
        if n_bytes > MOST_LINE_BYTES:
            raise ValueError(f"{file} must have lines of at most {MOST_LINE_BYTES} bytes")
        yield piece


def _rewritten(rows: Iterator[tuple[int, list[str]]], dialect: Dialect) -> Iterator[Chunk]:
    """Yield rows as chunks with quotes around every field; refuse those of another width."""
    file, width = dialect.path.name, len(dialect.names)
    while some := list(islice(rows, REWRITTEN_ROWS)):
        for line, row in some:
            if len(row) != width:
                raise ValueError(
                    f"{file}, line {line}: must have {width} fields as line "
                    f"{dialect.header_line} has, got {len(row)}"
                )
        text = io.StringIO(newline="")
        writer = csv.writer(
            text, delimiter=dialect.delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n"
        )
        writer.writerows(row for _, row in some)
        found = Chunk.of(text.getvalue().encode(), dialect.delimiter, width, rewritten=True)
        if found is None:
            raise AssertionError("fields in quotes are regular")
        yield found[0]
