"""Text with a line per row and a sign between fields, from bytes to a frame of words."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pandas as pd

from ecselm.datasets.words import brief

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
N_SNIFFED = 100  # rows by which the delimiter is told

_BINARY = re.compile(r"[\x00-\x08\x0e-\x1f]")
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


@dataclass(frozen=True, slots=True)
class Words:
    """A frame of words, and the sign that stood between them."""

    frame: Any
    delimiter: str


def decoded(data: bytes, file: str) -> tuple[str, str]:
    """Return the text of a file and the name of its encoding; what is no text is refused.

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
        check_text(text, file)
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


def check_text(text: str, file: str, start: int = 0) -> None:
    """Refuse characters that no text has; ``start`` of them came before."""
    odd = _BINARY.search(text)
    if odd is not None:
        raise ValueError(f"{file} must be text, character {start + odd.start()} is {odd.group()!r}")


def split_words(text: str, file: str) -> Words:
    r"""Return the words between delimiters, which are found by what fits most rows.

    The first line holds the names of the columns. Quotes keep delimiters and ends of lines
    together; empty lines are passed over.

    Examples
    --------
    >>> words = split_words("size;sex\n1,5;f\n", "a.csv")
    >>> words.delimiter, words.frame["size"].tolist()
    (';', ['1,5'])
    """
    delimiter = find_delimiter(lambda: io.StringIO(text, newline=""), file)
    header, n_rows = _checked_shape(rows_of(io.StringIO(text, newline=""), delimiter, file), file)
    if n_rows == 0:
        raise ValueError(f"{file} must hold rows, got the names of columns only")
    frame = pd.read_csv(
        io.StringIO(text, newline=""),
        sep=delimiter,
        dtype=str,
        na_filter=False,
        index_col=False,
        skipinitialspace=True,
        low_memory=False,
    )
    frame.columns = [name.strip() for name in header]
    return Words(frame, delimiter)


def rows_of(lines: Iterable[str], delimiter: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of fields with the line in which each ends; empty lines are passed over."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            if any(row) or len(row) > 1:
                yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{file}, line {reader.line_num}: {brief(str(error))}") from error


def _checked_shape(rows: Iterator[tuple[int, list[str]]], file: str) -> tuple[list[str], int]:
    """Return the names of the columns and the number of rows, all of as many fields."""
    first, header = read_header(rows, file)
    n_rows = 0
    for line, row in rows:
        check_width(row, header, line, first, file)
        n_rows += 1
    return header, n_rows


def read_header(rows: Iterator[tuple[int, list[str]]], file: str) -> tuple[int, list[str]]:
    """Take the names of the columns off the rows, with the line in which they end."""
    first, header = next(rows, (0, []))
    if not header:
        raise ValueError(f"{file} must hold a table, got nothing")
    return first, header


def check_width(row: list[str], header: list[str], line: int, first: int, file: str) -> None:
    """Refuse a row that does not have as many fields as the names of the columns."""
    if len(row) != len(header):
        raise ValueError(
            f"{file}, line {line}: must have {len(header)} fields as line {first} has, got "
            f"{len(row)}"
        )


def find_delimiter(lines: Callable[[], Iterable[str]], file: str) -> str:
    """Return the delimiter by which most rows have as many fields as the first, two at least."""
    best, found = (0.0, 1), ","
    for delimiter in DELIMITERS:
        sniffed = [len(row) for _, row in islice(rows_of(lines(), delimiter, file), N_SNIFFED)]
        if sniffed and sniffed[0] > 1:
            agreeing = sniffed.count(sniffed[0]) / len(sniffed)
            if (agreeing, sniffed[0]) > best:
                best, found = (agreeing, sniffed[0]), delimiter
    return found
