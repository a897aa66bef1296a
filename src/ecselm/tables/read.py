"""Read a table from a file, and note what had to be guessed."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

from ecselm._typing import AnyArray, FloatArray
from ecselm._wording import brief, did_you_mean, quoted
from ecselm.tables.cells import DECIMAL, GROUPING, read_names, read_numbers
from ecselm.tables.files import unpacking

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
MOST_CELLS = 5 * 10**7  # of a libsvm file; 400 MB once zeros are written out
TARGET = "target"  # the column of a libsvm file that has no number

_FOREIGN = re.compile(r"[^\x00-\x7f]")
_ESCAPED = re.compile(r"~u([0-9a-f]+)~")
_QUOTED = re.compile(r"""(?<![^\s,{])(["'])((?:(?!\1)[^\\]|\\.)*)\1(?=[\s,}]|$)""")
_SPECIAL = re.compile(r"[^\w.+:-]", re.ASCII)
_BACKSLASH = re.compile(r"\\(.)")
_DATE = re.compile(r"\s*@attribute\s.*\sdate\b", re.IGNORECASE)


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


def check_pyarrow(doing: str) -> None:
    """Say what is to be installed for what is to be done, if it is not."""
    try:
        import pyarrow  # noqa: F401, PLC0415  an extra
    except ImportError as error:
        raise ImportError(f'{doing} needs pyarrow: pip install "ecselm[parquet]"') from error


def read_parquet(data: bytes, file: str) -> Any:
    """Return the frame in a Parquet file."""
    return _read_arrow(data, file, b"PAR1", pd.read_parquet)


def read_feather(data: bytes, file: str) -> Any:
    """Return the frame in an Arrow or Feather file."""
    return _read_arrow(data, file, (b"ARROW1", b"FEA1"), pd.read_feather)


def read_arff(text: str, file: str) -> Any:
    r"""Return the frame in an ARFF file; SciPy knows neither texts nor sparse rows.

    Examples
    --------
    >>> header = "@relation r\n@attribute size real\n@attribute sex {f,m}\n"
    >>> read_arff(header + "@data\n1,m", "a.arff")
       size sex
    0   1.0   m
    """
    # SciPy tells quotes by the first row and keeps names as bytes in ASCII.
    plain = "\n".join(_FOREIGN.sub(_escaped, _unquoted(line)) for line in text.splitlines())
    longest = csv.field_size_limit()
    try:
        rows, _ = arff.loadarff(io.StringIO(plain))
    except Exception as error:  # of any class, as the header is read by patterns
        reason = brief(_unescaped(str(error))) or "no line says @data"
        raise ValueError(
            f"{file} must be an ARFF file of numbers, names and dates that SciPy can read: {reason}"
        ) from error
    finally:
        csv.field_size_limit(longest)  # which SciPy raises for everybody
    return pd.DataFrame({_unescaped(name): _column(rows[name]) for name in rows.dtype.names})


def read_libsvm(text: str, file: str) -> Any:
    r"""Return the frame in a libsvm file: ``target``, and ``f1`` for what has the number 1.

    Examples
    --------
    >>> read_libsvm("1 1:0.5 3:2\n-1 2:1", "a.svm")
       target   f1   f2   f3
    0       1  0.5  0.0  2.0
    1      -1  0.0  1.0  0.0
    """
    try:
        # Columns are named by the numbers in the file: whether those begin with 0 or 1 could
        # be told from one file and not from the next.
        X, y = load_svmlight_file(io.BytesIO(text.encode()), zero_based=True)
    except Exception as error:
        raise ValueError(
            f"{file} must have lines such as '1 3:0.5 7:2', a target and then the numbers of "
            f"columns with their values: {brief(str(error))}"
        ) from error
    if X.shape[0] * X.shape[1] > MOST_CELLS:
        raise ValueError(
            f"{file} must have at most {MOST_CELLS} cells once zeros are written out, got "
            f"{X.shape[0]} rows of {X.shape[1]} columns"
        )
    first = 0 if X[:, :1].nnz else 1
    names = [f"f{i}" for i in range(first, X.shape[1])]
    frame = pd.DataFrame(X[:, first:].toarray(), columns=names)
    whole = bool((y == np.round(y)).all())
    frame.insert(0, TARGET, y.astype(np.int64) if whole else y)
    return frame


def _read_arrow(
    data: bytes, file: str, marks: bytes | tuple[bytes, ...], read: Callable[..., Any]
) -> Any:
    check_pyarrow(f"reading {file}")
    if not data.startswith(marks):
        raise ValueError(f"{file} must begin as a file of its ending does, got {data[:6]!r}")
    with unpacking(file):
        frame = read(io.BytesIO(data))
    return frame if frame.index.name is None else frame.reset_index()


def _column(values: Any) -> Any:
    if values.dtype.kind != "S":
        return values
    return np.array([_unescaped(value.decode("ascii")) for value in values], dtype=object)


def _unquoted(line: str) -> str:
    """Return a line of ARFF with escapes in the place of quotes, but for formats of dates."""
    if _DATE.match(line):
        return line
    return _QUOTED.sub(
        lambda found: _SPECIAL.sub(_escaped, _BACKSLASH.sub(r"\1", found.group(2))), line
    )


def _escaped(found: re.Match[str]) -> str:
    return f"~u{ord(found.group()):x}~"


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), text)


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
