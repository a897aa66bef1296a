"""Read a table from a file, and note what had to be guessed."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecselm._wording import did_you_mean
from ecselm.tables.arrow import read_arrow
from ecselm.tables.delimited import read_delimited
from ecselm.tables.excel import ENDINGS as EXCEL
from ecselm.tables.excel import read_excel
from ecselm.tables.files import unpacking
from ecselm.tables.formats import read_arff, read_libsvm
from ecselm.tables.text import MOST_BYTES, column_names, decoded, encoding_notes

DELIMITED = (".csv", ".tsv", ".txt")
ARROW = (".parquet", ".arrow", ".feather")
TEXT: dict[str, Callable[[str, str], Any]] = {
    ".arff": read_arff,
    ".libsvm": read_libsvm,
    ".svm": read_libsvm,
    ".svmlight": read_libsvm,
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it was read."""

    frame: Any  # a pandas.DataFrame with names of columns that are texts
    notes: tuple[str, ...] = ()  # what was guessed, a sentence each
    absent: float | None = None  # what a column holds that is not in the file, if that is known


def read_table(path: str | os.PathLike[str]) -> Table:
    r"""Read a table by the ending of its file.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv`` or ``.txt`` with commas, semicolons, tabs or bars between fields and
        the names of the columns in the first line, or below a line such as ``sep=;`` and rows
        of titles; ``.xlsx`` or ``.xlsm``, of which the first sheet with cells is read;
        ``.parquet``, ``.arrow`` or ``.feather``; ``.arff``; ``.libsvm``, ``.svm`` or
        ``.svmlight``. Text may be packed: ``.csv.gz``.

    Returns
    -------
    Table
        Its ``frame`` has numbers where every cell of a column is one or holds nothing, also
        if they are written as 1,5 or 12 %. Its ``notes`` say what was guessed.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be read.
    ValueError
        If it does not hold a table.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.csv"
    ...     _ = file.write_text("size;sex\n1,5;f\n;m\n")
    ...     table = read_table(file)
    >>> table.frame
       size sex
    0   1.5   f
    1   NaN   m
    >>> table.notes
    ('Fields are separated by semicolons.', "Commas in numbers are decimal: 'size'.")
    """
    file = Path(path)
    check_there(file)
    ending = ending_of(file)
    if ending in ARROW:
        return Table(*read_arrow(file, ending))
    if ending in EXCEL:
        return Table(*read_excel(file))
    if ending in DELIMITED:
        return Table(*read_delimited(file, MOST_BYTES))
    text, encoding = decoded(_bytes(file), file.name)
    frame = TEXT[ending](text, file.name)
    if not frame.shape[1] or not len(frame):
        raise ValueError(
            f"{file.name} must hold columns and rows, got {frame.shape[1]} columns and "
            f"{len(frame)} rows"
        )
    names, notes = column_names(frame.columns, file.name)
    absent = 0.0 if TEXT[ending] is read_libsvm else None
    return Table(frame.set_axis(names, axis=1), (*encoding_notes(encoding), *notes), absent)


def check_there(file: Path) -> None:
    """Refuse a file that is not there, with the nearest name of one that is."""
    if "\0" in str(file):
        raise ValueError(f"a path must not hold the character NUL, got {str(file)!r}")
    if file.is_dir():
        raise IsADirectoryError(f"{file} must be a file, it is a folder")
    if not file.exists():
        folder = file.parent
        there = [one.name for one in folder.iterdir()] if folder.is_dir() else []
        raise FileNotFoundError(f"{file} is not there{did_you_mean(file.name, there)}")


def ending_of(file: Path) -> str:
    """Return the ending that says what a file holds."""
    packed = file.suffix.lower() == ".gz"
    ending = Path(file.stem).suffix.lower() if packed else file.suffix.lower()
    known = [*DELIMITED, *TEXT] if packed else [*DELIMITED, *EXCEL, *TEXT, *ARROW]
    if ending not in known:
        advice = "; save the sheet as .xlsx or .csv" if ending in {".xls", ".ods"} else ""
        raise ValueError(
            f"{file.name} must end in {', '.join(known)}{' before .gz' if packed else ''}{advice}"
        )
    return ending


def _bytes(file: Path) -> bytes:
    """Return what is in a file, unpacked."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise type(error)(f"{file} cannot be read: {error.strerror}") from error
    if file.suffix.lower() == ".gz":
        with unpacking(file.name), gzip.open(io.BytesIO(data)) as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError(f"{file.name} must hold at most {MOST_BYTES} bytes once unpacked")
    if not data.strip():
        raise ValueError(f"{file.name} must hold a table, got nothing")
    return data
