"""Somebody's table, from a file to a frame, and what had to be guessed on the way."""

from __future__ import annotations

import gzip
import io
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ecselm._typing import AnyArray, FloatArray
from ecselm.datasets.readers import unpacking
from ecselm.study.cells import DECIMAL, GROUPING, read_names, read_numbers
from ecselm.study.delimited import DELIMITERS, decoded, split_words
from ecselm.study.formats import read_arff, read_feather, read_libsvm, read_parquet
from ecselm.study.wording import did_you_mean, quoted

MOST_BYTES = 2**32  # once unpacked; a file of gzip can claim any size
LARGEST_WHOLE = 2**53  # beyond which a float misses whole numbers

DELIMITED = (".csv", ".tsv", ".txt")
BINARY: dict[str, Callable[[bytes, str], Any]] = {
    ".parquet": read_parquet,
    ".arrow": read_feather,
    ".feather": read_feather,
}
TEXT: dict[str, Callable[[str, str], Any]] = {
    ".arff": read_arff,
    ".libsvm": read_libsvm,
    ".svm": read_libsvm,
    ".svmlight": read_libsvm,
}
COMMAS = {
    DECIMAL: "Commas in numbers are decimal",
    GROUPING: "Commas in numbers part thousands",
}
SPARSE = {ending for ending, read in TEXT.items() if read is read_libsvm}


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
        the names of the columns in the first line; ``.parquet``, ``.arrow`` or ``.feather``;
        ``.arff``; ``.libsvm``, ``.svm`` or ``.svmlight``. Text may be packed: ``.csv.gz``.

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
    ending, data = ending_of(file), _bytes(file)
    if ending in BINARY:
        return _checked(BINARY[ending](data, file.name), file.name, [])
    text, encoding = decoded(data, file.name)
    notes = [] if encoding.startswith("utf") else [f"The text is not UTF-8; read as {encoding}."]
    if ending in TEXT:
        absent = 0.0 if ending in SPARSE else None
        return _checked(TEXT[ending](text, file.name), file.name, notes, absent)
    words = split_words(text, file.name)
    if words.delimiter != ",":
        notes.append(f"Fields are separated by {DELIMITERS[words.delimiter]}.")
    table = _checked(words.frame, file.name, notes)
    return _typed(table, decimal_comma=words.delimiter in {";", "\t"})


def check_there(file: Path) -> None:
    """Refuse a file that is not there, with the nearest name of one that is."""
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
    known = [*DELIMITED, *TEXT] if packed else [*DELIMITED, *TEXT, *BINARY]
    if ending not in known:
        raise ValueError(
            f"{file.name} must end in {', '.join(known)}{' before .gz' if packed else ''}; save "
            "a sheet of a spreadsheet as .csv"
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


def _checked(frame: Any, file: str, notes: list[str], absent: float | None = None) -> Table:
    """Return a table with columns that can be told apart, and at least a row."""
    if not frame.shape[1] or not len(frame):
        raise ValueError(
            f"{file} must hold columns and rows, got {frame.shape[1]} columns and {len(frame)} rows"
        )
    names, said = column_names(frame.columns, file)
    return Table(frame.set_axis(names, axis=1), (*notes, *said), absent)


def column_names(given: Iterable[Any], file: str) -> tuple[list[str], list[str]]:
    """Return names of columns that can be told apart, and what is to be said of them.

    Examples
    --------
    >>> column_names(["size ", ""], "a.csv")
    (['size', 'column 2'], ["A column without a name is called 'column 2'."])
    """
    names, notes = [str(name).strip() for name in given], []
    twice = [name for name, n in Counter(names).items() if n > 1 and name]
    if twice:
        raise ValueError(f"{file} must name every column once, got {', '.join(map(repr, twice))}")
    if all(_is_number(name) for name in names):
        notes.append("The first line holds numbers only; taken as the names of the columns.")
    unnamed = [i for i, name in enumerate(names) if not name]
    for i in unnamed:
        names[i] = _free_name(f"column {i + 1}", names)
        notes.append(f"A column without a name is called {names[i]!r}.")
    return names, notes


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _free_name(name: str, names: list[str]) -> str:
    while name in names:
        name += "'"
    return name


def _typed(table: Table, *, decimal_comma: bool) -> Table:
    """Return a table of words with numbers where all cells of a column are, and gaps as gaps."""
    columns, styles = {}, defaultdict(list)
    for name in table.frame.columns:
        words = table.frame[name]
        reading = read_numbers(words, decimal_comma=decimal_comma)
        if not reading.is_clean:
            columns[name] = words.str.strip().mask(read_names(words) == "")
            continue
        columns[name] = whole_numbers(reading.values)
        if words.str.contains(",", regex=False).any():
            styles[reading.style].append(name)
    return Table(pd.DataFrame(columns), (*table.notes, *comma_notes(styles)), table.absent)


def comma_notes(columns: Mapping[str, list[str]]) -> list[str]:
    """Say what commas mean in numbers, for columns by their style."""
    return [
        f"{meaning}: {quoted(columns[style])}."
        for style, meaning in COMMAS.items()
        if columns.get(style)
    ]


def whole_numbers(values: FloatArray) -> AnyArray:
    """Return whole numbers as such."""
    whole = np.isfinite(values) & (values == np.round(values)) & (np.abs(values) < LARGEST_WHOLE)
    return values.astype(np.int64) if whole.all() else values
