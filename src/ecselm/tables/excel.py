"""Sheets of Excel, read by openpyxl in a budget of memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import pandas as pd

from ecselm._wording import brief, quoted
from ecselm.tables.cells import MISSING
from ecselm.tables.delimited import are_whole, as_frame
from ecselm.tables.files import unpacking
from ecselm.tables.text import N_SNIFFED, column_names, count_titles, title_note

ENDINGS = (".xlsx", ".xlsm")
FREE_BYTES = 200 * 10**6  # that a file of any size may take once unpacked,
MOST_RATIO = 20  # and for every byte of the file
STRING_RATIO = 8  # memory of shared texts, which are held as a whole, by their bytes
CELL_BYTES = 8
CHUNK_ROWS = 4096
_LONGEST = 10**300  # a number of more digits is a text
_PROLOG_BYTES = 1 << 16  # within which the first element of a member begins


def check_openpyxl(doing: str) -> None:
    """Raise ImportError naming the extra, unless openpyxl is installed."""
    try:
        import_module("openpyxl")
    except ImportError as error:
        raise ImportError(f'{doing} needs openpyxl: install the extra "excel"') from error


def read_excel(path: Path) -> tuple[Any, tuple[str, ...]]:
    """Return the first sheet that holds anything as a frame, and notes on what was guessed.

    Of formulas the values that were stored with them count; macros are not run.
    """
    check_openpyxl(f"reading {path.name}")
    budget = check_unpacked(path)
    with unpacking(path.name):
        book = import_module("openpyxl").load_workbook(
            path, read_only=True, data_only=True, keep_links=False
        )
    try:
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        for sheet in sheets:
            rows = _rows(sheet, path.name)
            head = list(islice(rows, N_SNIFFED))
            if head:
                frame, notes = _table(path.name, head, rows, budget // CELL_BYTES)
                others = [one.title for one in sheets if one is not sheet]
                if others:
                    notes = (
                        f"The sheet {brief(sheet.title)!r} is read, and not {quoted(others)}.",
                        *notes,
                    )
                return frame, notes
    finally:
        book.close()
    raise ValueError(f"{path.name} must hold a table, got sheets without any cell")


def check_unpacked(path: Path) -> int:
    """Return the memory that reading a file may take; refuse one that would take more.

    A zip file can claim any size: the sizes of its members are added before any is unpacked.
    Members that define entities are refused, as these can grow to any size later.
    """
    n_bytes = path.stat().st_size
    budget = FREE_BYTES + MOST_RATIO * n_bytes
    with unpacking(path.name), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        texts = sum(one.file_size for one in members if one.filename.endswith("sharedStrings.xml"))
        n_unpacked = sum(one.file_size for one in members) + STRING_RATIO * texts
        has_types = [
            one.filename
            for one in members
            if n_unpacked <= budget and one.filename.endswith((".xml", ".rels"))
            if _declares_types(archive, one)
        ]
    if n_unpacked > budget:
        raise ValueError(
            f"{path.name} must take at most {budget} bytes once unpacked, {MOST_RATIO} times its "
            f"size and {FREE_BYTES // 10**6} MB, got {n_unpacked}"
        )
    if has_types:
        raise ValueError(
            f"{path.name} must not declare a document type, got one in {brief(has_types[0])}"
        )
    return budget


def _declares_types(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    """Tell whether a member declares a document type before its first element, or has none."""
    parser, seen = expat.ParserCreate(), []
    parser.StartDoctypeDeclHandler = lambda *_: seen.append("type")
    parser.StartElementHandler = lambda *_: seen.append("element")
    with archive.open(member) as stream:
        try:
            parser.Parse(stream.read(_PROLOG_BYTES))
        except expat.ExpatError:
            return not seen or seen[0] == "type"
    return not seen or seen[0] == "type"


def _rows(sheet: Any, file: str) -> Iterator[list[Any]]:
    """Yield the rows that hold anything, without the empty cells at their ends."""
    # What a sheet says of its own size may be wrong, and rows would be filled up to it.
    sheet.reset_dimensions()
    rows = sheet.iter_rows(values_only=True)
    while True:
        with unpacking(file):
            row = next(rows, None)
        if row is None:
            return
        width = next((i for i in range(len(row), 0, -1) if not _is_empty(row[i - 1])), 0)
        if width:
            yield list(row[:width])


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _table(
    file: str, head: list[list[Any]], rows: Iterator[list[Any]], most_cells: int
) -> tuple[Any, tuple[str, ...]]:
    """Return the table whose first rows are known, and notes."""
    widest = max(len(row) for row in head)
    padded = [[*map(_word, row), *[""] * (widest - len(row))] for row in head]
    n_titles = count_titles(padded)
    header, below = padded[n_titles], head[n_titles + 1 :]
    width = len(header) if n_titles else max(widest, len(head[0]))
    names, notes = column_names(header[:width], file, renames=True)
    if n_titles:
        notes.insert(0, title_note(padded[:n_titles]))
    chunks: list[list[Any]] = []
    coming, n_rows, known = chain(below, rows), 0, dict[str, str]()
    while some := list(islice(coming, CHUNK_ROWS)):
        for number, row in enumerate(some, n_rows + 1):
            if len(row) > width:
                raise ValueError(
                    f"{file}, row {number} below the names: must have at most {width} cells as "
                    f"the names have, got {len(row)}"
                )
        n_rows += len(some)
        if n_rows * width > most_cells:
            raise ValueError(
                f"{file} must have at most {most_cells} cells for its size, got more than "
                f"{n_rows - len(some)} rows of {width} columns"
            )
        full = ([*row, *[None] * (width - len(row))] for row in some)
        chunks.append([_column(cells, known) for cells in zip(*full, strict=True)])
    if not n_rows:
        raise ValueError(f"{file} must hold rows, got the names of columns only")
    columns = [_joined(list(parts)) for parts in zip(*chunks, strict=True)]
    return as_frame(columns, names), tuple(notes)


def _column(cells: tuple[Any, ...], known: dict[str, str]) -> Any:
    """Return cells as numbers or dates if all are, else as they are; texts are held once."""
    kinds = {type(cell) for cell in cells if not _is_missing(cell)}
    is_long = any(type(cell) is int and abs(cell) > _LONGEST for cell in cells)
    if kinds <= {int, float} and not is_long:
        return np.array([np.nan if _is_missing(cell) else cell for cell in cells], np.float64)
    if kinds <= {datetime, date}:
        return pd.Series(
            [None if _is_missing(cell) else np.datetime64(cell, "us") for cell in cells],
            dtype="datetime64[us]",
        ).array
    held = [
        None if _is_empty(cell) else known.setdefault(cell, cell) if type(cell) is str else cell
        for cell in cells
    ]
    return np.array([*held, None], dtype=object)[:-1]


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().casefold() in MISSING)


def _joined(parts: list[Any]) -> Any:
    """Return a column of several chunks: numbers, dates, flags or words."""
    kinds = {str(part.dtype) for part in parts if not pd.isna(part).all()} or {"float64"}
    if kinds == {"float64"}:
        # A chunk without any value is of no kind of its own.
        values = np.concatenate([_floats(part) for part in parts])
        return values.astype(np.int64) if are_whole(values) else values
    if kinds == {"datetime64[us]"}:
        return pd.concat([pd.Series(part).astype("datetime64[us]") for part in parts]).array
    cells = np.concatenate([np.asarray(part, dtype=object) for part in parts])
    present = [cell for cell in cells if not pd.isna(cell)]
    if all(isinstance(cell, bool) for cell in present):
        return pd.Series(cells, dtype="boolean").array
    words = [None if pd.isna(cell) else _word(cell) for cell in cells]
    return pd.Series(words, dtype=str).array


def _floats(part: Any) -> Any:
    return part if part.dtype.kind == "f" else np.full(len(part), np.nan)


def _word(cell: Any) -> str:
    """Return a cell as the word that a person sees."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and (cell.hour, cell.minute, cell.second) == (0, 0, 0):
        return cell.date().isoformat()
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return str(cell).strip()
